//! A target in bent coordinates, as something to fit and as something to draw.

use crate::infer::proposal::placement::{Placed, Placement};
use crate::infer::transport::map::{Trace, Warp};
use crate::target::{Evaluator, Target};

/// A target in bent coordinates: the first layer is next to the target.
pub(in crate::infer) struct Warped<'t> {
    pub(in crate::infer) inner: &'t dyn Target,
    pub(in crate::infer) layers: Vec<Warp>,
}

impl Warped<'_> {
    /// A target in its own coordinates.
    pub(in crate::infer) fn flat(inner: &dyn Target) -> Warped<'_> {
        Warped { inner, layers: Vec::new() }
    }
}

impl Placement for Warped<'_> {
    fn model(&self) -> &dyn Target {
        self.inner
    }

    /// The leaders of the last layer: its first coordinates.
    fn places_cheaply(&self) -> bool {
        true
    }

    fn leaders(&self) -> usize {
        self.layers.last().map_or(0, Warp::leaders)
    }

    fn is_identity(&self) -> bool {
        self.layers.is_empty()
    }

    fn place(&self, w: Vec<f64>, n: usize, evaluator: &mut dyn Evaluator) -> Placed {
        let (points, log_det) = self.forward(w, n);
        let mut log_density = vec![0.0; n];
        evaluator.log_density(&points, n, &mut log_density);
        log_density.iter_mut().zip(&log_det).for_each(|(l, d)| *l += d);
        Placed { points, log_density, gains: Vec::new() }
    }

    fn alone(&self, w: Vec<f64>, n: usize) -> Vec<f64> {
        self.place(w, n, &mut *self.model().evaluator()).log_density
    }

    fn glance(&self, w: Vec<f64>, n: usize) -> Vec<f64> {
        self.forward(w, n).0
    }
}

impl Warped<'_> {
    /// The points of draws in the coordinates of the target, and the log determinants there.
    pub(in crate::infer) fn forward(&self, w: Vec<f64>, n: usize) -> (Vec<f64>, Vec<f64>) {
        let (mut log_det, mut trace) = (vec![0.0; n], Trace::default());
        let forward = |w: Vec<f64>, layer: &Warp| layer.forward(&w, n, &mut log_det, &mut trace);
        let z = self.layers.iter().rev().fold(w, forward);
        (z, log_det)
    }
}

impl Target for Warped<'_> {
    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        let traces = self.layers.iter().map(|_| Trace::default()).collect();
        Box::new(WarpedEvaluator { inner: self.inner.evaluator(), layers: &self.layers, traces })
    }

    fn output_names(&self) -> Vec<String> {
        self.inner.output_names()
    }

    fn beside(&self) -> usize {
        self.inner.beside()
    }

    fn constrain(&self, z: &[f64]) -> Vec<f64> {
        self.inner.constrain(&self.forward(z.to_vec(), 1).0)
    }

    fn constrain_batch(&self, z: &[f64], draws: usize) -> Vec<f64> {
        self.inner.constrain_batch(&self.forward(z.to_vec(), draws).0, draws)
    }
}

struct WarpedEvaluator<'t> {
    inner: Box<dyn Evaluator + 't>,
    layers: &'t [Warp],
    traces: Vec<Trace>,
}

impl WarpedEvaluator<'_> {
    fn forward(&mut self, w: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
        let mut log_det = vec![0.0; n];
        let mut at = w.to_vec();
        for (layer, trace) in self.layers.iter().zip(&mut self.traces).rev() {
            at = layer.forward(&at, n, &mut log_det, trace);
        }
        (at, log_det)
    }
}

impl Evaluator for WarpedEvaluator<'_> {
    fn evaluate(&mut self, w: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]) {
        let (z, log_det) = self.forward(w, draws);
        self.inner.evaluate(&z, draws, log_density, gradient);
        log_density.iter_mut().zip(&log_det).for_each(|(l, d)| *l += d);
        let mut slope = gradient.to_vec();
        for (layer, trace) in self.layers.iter().zip(&self.traces) {
            slope = layer.back(&slope, draws, trace);
        }
        gradient.copy_from_slice(&slope);
    }

    fn log_density(&mut self, w: &[f64], draws: usize, log_density: &mut [f64]) {
        let (z, log_det) = self.forward(w, draws);
        self.inner.log_density(&z, draws, log_density);
        log_density.iter_mut().zip(&log_det).for_each(|(l, d)| *l += d);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::transport::map::{Bends, pair_count, pairs};
    use crate::num::stream::Stream;
    use crate::target::from_fn;

    fn layer(d: usize, leaders: usize) -> Warp {
        let mut stream = Stream::new(5, 1, 0);
        let mut some = |n: usize, size: f64| (0..n).map(|_| size * stream.normal()).collect::<Vec<f64>>();
        let mut factor = some(d * d, 0.3);
        for i in 0..d {
            factor[i * d + i] = 1.0 + factor[i * d + i].abs();
            factor[i * d + i + 1..(i + 1) * d].fill(0.0);
        }
        let width = leaders + pair_count(leaders);
        let mut features = some(d * width, 0.1);
        // Only leaders that come before a coordinate may act on it.
        for p in 0..leaders {
            let acts = (0..leaders).map(|h| h < p).chain(pairs(leaders).map(|(_, k)| k < p));
            acts.enumerate().filter(|(_, acts)| !acts).for_each(|(f, _)| features[p * width + f] = 0.0);
        }
        let mut bend = some(d * pair_count(leaders), 0.2);
        for p in 0..leaders {
            let acts = pairs(leaders).map(|(_, k)| k < p).enumerate();
            acts.filter(|(_, acts)| !acts).for_each(|(f, _)| bend[p * pair_count(leaders) + f] = 0.0);
        }
        let bends = Bends { spread: features, bend, skew: some(d, 0.3) };
        Warp::new(some(d, 1.0), factor, (0..d).rev().collect(), leaders, bends)
    }

    /// The integral of the pulled-back density does not change, and its gradient is the derivative of its
    /// value.
    #[test]
    fn the_gradient_is_that_of_the_value() {
        let d = 4;
        let inner = from_fn(d, |z: &[f64], g: &mut [f64]| {
            (0..4).for_each(|i| g[i] = -z[i].powi(3) + 0.5 * z[(i + 1) % 4]);
            (0..4).for_each(|i| g[(i + 1) % 4] += 0.5 * z[i]);
            (0..4).map(|i| -0.25 * z[i].powi(4) + 0.5 * z[i] * z[(i + 1) % 4]).sum()
        });
        let warped = Warped { inner: &inner, layers: vec![layer(d, 2), layer(d, 1)] };
        let mut evaluator = warped.evaluator();
        let (mut value, mut gradient) = ([0.0; 2], vec![0.0; 2 * d]);
        let w = [0.3, -0.2, 0.5, 0.9, -0.7, 0.1, 0.2, -0.4];
        evaluator.evaluate(&w, 2, &mut value, &mut gradient);
        for i in 0..2 * d {
            let h = 1e-6;
            let (mut up, mut down) = (w, w);
            up[i] += h;
            down[i] -= h;
            let (mut a, mut b) = ([0.0; 2], [0.0; 2]);
            evaluator.log_density(&up, 2, &mut a);
            evaluator.log_density(&down, 2, &mut b);
            let slope = (a[i % 2] - b[i % 2]) / (2.0 * h);
            assert!((slope - gradient[i]).abs() < 1e-6 * (1.0 + slope.abs()), "{i}: {slope} {}", gradient[i]);
        }
    }

    #[test]
    fn a_density_keeps_its_mass() {
        let normal = from_fn(2, |z: &[f64], g: &mut [f64]| {
            (0..2).for_each(|i| g[i] = -z[i]);
            -0.5 * (z[0] * z[0] + z[1] * z[1]) - 1.837_877_066_409_345_5
        });
        let warped = Warped { inner: &normal, layers: vec![layer(2, 1)] };
        let mut evaluator = warped.evaluator();
        let step = 0.02;
        let mut total = 0.0;
        let mut value = [0.0];
        for a in -400..400 {
            for b in -400..400 {
                evaluator.log_density(&[step * f64::from(a), step * f64::from(b)], 1, &mut value);
                total += value[0].exp() * step * step;
            }
        }
        assert!((total - 1.0).abs() < 1e-3, "{total}");
    }
}
