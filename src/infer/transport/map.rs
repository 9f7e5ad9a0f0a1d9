//! Bent coordinates in which a posterior is closer to Gaussian: a triangular map, one layer after another.
//!
//! A layer orders the coordinates so that a few leaders come first, and takes standard coordinates w to `z =
//! m + C y`, `y_p = S_p(w_p) exp(a_p·(t, He₂(t)) - …) + b_p·He₂(t)` with `t = w / √(1 + w²/16)` of the
//! leaders: the spread of each coordinate follows the leaders (as the effects of groups follow their scale),
//! its centre is a curve in them, and S_p skews its margin and gives it the exponential tail that logarithms
//! of scales have. Far out t no longer changes, so that nothing explodes. Everything is triangular, so the
//! log determinant is a sum.

use crate::infer::gaussian::Gaussian;
use crate::infer::proposal::placement::{Placed, Placement};
use crate::infer::transport::lanes::{Coordinate, Known, Led};
use crate::num::linalg::{
    add_product, add_transposed_product, log_det_cholesky, lower_product, lower_transposed_product,
};
use crate::target::{Evaluator, Target};

/// One layer.
#[derive(Clone, Debug)]
pub(in crate::infer) struct Warp {
    mean: Vec<f64>,
    /// Lower triangular, in the order of the layer, and the logarithm of its determinant.
    factor: Vec<f64>,
    log_det: f64,
    /// The coordinate at each place of the layer's order.
    order: Vec<usize>,
    leaders: usize,
    bends: Bends,
    /// What the logarithm of the spread of each coordinate begins with, so that spreads are 1 on average.
    constants: Vec<f64>,
}

/// How the coordinates of a layer follow its leaders, in its order: only leaders that come before a
/// coordinate act on it, and the coefficients of the others are 0.
#[derive(Clone, Debug)]
pub(in crate::infer) struct Bends {
    /// a: `d × (leaders + pairs)`.
    pub(in crate::infer) spread: Vec<f64>,
    /// b: `d × pairs`, pairs as [`pairs`] lists them.
    pub(in crate::infer) bend: Vec<f64>,
    /// c: below zero for a tail to the left, above for one to the right.
    pub(in crate::infer) skew: Vec<f64>,
}

/// Leaders that bend in pairs; the others bend by their squares alone.
const PAIRED: usize = 6;

/// The pairs of leaders h ≤ k that bend, ordered by k.
pub(in crate::infer) fn pairs(leaders: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..leaders).flat_map(move |k| (if k < PAIRED { 0 } else { k }..=k).map(move |h| (h, k)))
}

/// How many pairs there are.
pub(in crate::infer) fn pair_count(leaders: usize) -> usize {
    let paired = leaders.min(PAIRED);
    paired * (paired + 1) / 2 + leaders - paired
}

/// t(w), which levels off.
fn levelled(w: f64) -> f64 {
    w / (1.0 + w * w / 16.0).sqrt()
}

/// What a forward pass leaves for the way back, each `d × n` or, of the leaders, fewer rows.
#[derive(Default)]
struct Trace {
    w: Vec<f64>,
    /// t(w) of the leaders, then the products of pairs.
    features: Vec<f64>,
    /// S(w), S'(w) and the slope of log S'(w).
    value: Vec<f64>,
    slope: Vec<f64>,
    curve: Vec<f64>,
    /// The factor that the leaders put on the spread.
    swell: Vec<f64>,
}

impl Trace {
    /// Room for so many coordinates of all draws, as if nothing were bent.
    fn begin(&mut self, size: usize) {
        for (room, usual) in
            [(&mut self.value, 0.0), (&mut self.slope, 1.0), (&mut self.curve, 0.0), (&mut self.swell, 1.0)]
        {
            room.clear();
            room.resize(size, usual);
        }
    }
}

impl Warp {
    /// The layer `mean + factor y` of coordinates in an order that begins with so many leaders.
    pub(in crate::infer) fn new(
        mean: Vec<f64>,
        factor: Vec<f64>,
        order: Vec<usize>,
        leaders: usize,
        bends: Bends,
    ) -> Warp {
        let norms = norms(leaders);
        let constant = |row: &[f64]| -row.iter().zip(&norms).map(|(a, norm)| norm * a * a).sum::<f64>();
        let constants = bends.spread.chunks_exact(norms.len().max(1)).map(constant).collect();
        let log_det = 0.5 * log_det_cholesky(&factor, mean.len());
        Warp { mean, factor, log_det, order, leaders, bends, constants }
    }

    /// The layer of a Gaussian: in its coordinates the Gaussian is standard.
    pub(in crate::infer) fn plain(q: &Gaussian) -> Warp {
        let d = q.mean.len();
        let bends = Bends { spread: Vec::new(), bend: Vec::new(), skew: vec![0.0; d] };
        Warp::new(q.mean.clone(), q.factor.dense(d), (0..d).collect(), 0, bends)
    }

    /// The same layer with its bends scaled by a share.
    pub(in crate::infer) fn damped(&self, share: f64) -> Warp {
        let scaled = |x: &[f64]| x.iter().map(|x| share * x).collect();
        let Bends { spread, bend, skew } = &self.bends;
        let bends = Bends { spread: scaled(spread), bend: scaled(bend), skew: scaled(skew) };
        Warp::new(self.mean.clone(), self.factor.clone(), self.order.clone(), self.leaders, bends)
    }

    /// How many leaders there are.
    pub(in crate::infer) fn leaders(&self) -> usize {
        self.leaders
    }

    /// The logarithms of what the leaders put on the spreads, and what they add, each `d × n`; nothing
    /// without leaders.
    fn led(&self, features: &[f64], n: usize) -> [Vec<f64>; 2] {
        if self.leaders == 0 {
            return [Vec::new(), Vec::new()];
        }
        let (d, pairs) = (self.mean.len(), pair_count(self.leaders));
        let mut logs: Vec<f64> = self.constants.iter().flat_map(|c| std::iter::repeat_n(*c, n)).collect();
        add_product(1.0, &self.bends.spread, features, [d, self.leaders + pairs, n], &mut logs);
        let mut added = vec![0.0; d * n];
        add_product(1.0, &self.bends.bend, &features[self.leaders * n..], [d, pairs, n], &mut added);
        [logs, added]
    }

    /// z from w for `n` draws; adds the log determinant.
    fn forward(&self, w: &[f64], n: usize, log_det: &mut [f64], trace: &mut Trace) -> Vec<f64> {
        let d = self.mean.len();
        trace.begin(d * n);
        trace.w = w.to_vec();
        trace.features = w[..self.leaders * n].iter().map(|w| levelled(*w)).collect();
        trace.features.extend(products(&trace.features, self.leaders, n));
        let [logs, added] = self.led(&trace.features, n);
        let mut y = vec![0.0; d * n];
        for p in 0..d {
            let row = p * n..(p + 1) * n;
            let led = (self.leaders > 0).then(|| Led { log: &logs[row.clone()], added: &added[row.clone()] });
            let coordinate = Coordinate { w: &w[row.clone()], skew: self.bends.skew[p], led };
            coordinate.bend(&mut Known {
                value: &mut trace.value[row.clone()],
                slope: &mut trace.slope[row.clone()],
                curve: &mut trace.curve[row.clone()],
                swell: &mut trace.swell[row.clone()],
                y: &mut y[row],
                log_det,
            });
        }
        let mut placed = vec![0.0; d * n];
        lower_product(&self.factor, &y, [d, n], &mut placed);
        let mut z = vec![0.0; d * n];
        for (p, &i) in self.order.iter().enumerate() {
            let out = &mut z[i * n..(i + 1) * n];
            out.iter_mut().zip(&placed[p * n..(p + 1) * n]).for_each(|(z, x)| *z = self.mean[i] + x);
        }
        log_det.iter_mut().for_each(|l| *l += self.log_det);
        z
    }

    /// The gradient in w of the log density with its log determinant, from that in z.
    fn back(&self, gradient: &[f64], n: usize, trace: &Trace) -> Vec<f64> {
        let d = self.mean.len();
        let mut placed = vec![0.0; d * n];
        for (p, &i) in self.order.iter().enumerate() {
            placed[p * n..(p + 1) * n].copy_from_slice(&gradient[i * n..(i + 1) * n]);
        }
        let mut slope = vec![0.0; d * n];
        lower_transposed_product(&self.factor, &placed, [d, n], &mut slope);
        let mut out = vec![0.0; d * n];
        for (at, o) in out.iter_mut().enumerate() {
            *o = slope[at] * trace.swell[at] * trace.slope[at] + trace.curve[at];
        }
        for ((o, l), w) in out.iter_mut().zip(self.of_leaders(&slope, n, trace)).zip(&trace.w) {
            let square = 1.0 + w * w / 16.0;
            *o += l / (square * square.sqrt());
        }
        out
    }

    /// The gradient in t of the leaders that what follows them gives, from that in y.
    fn of_leaders(&self, slope: &[f64], n: usize, trace: &Trace) -> Vec<f64> {
        if self.leaders == 0 {
            return Vec::new();
        }
        let (d, count) = (self.mean.len(), pair_count(self.leaders));
        let through: Vec<f64> =
            slope.iter().zip(&trace.value).zip(&trace.swell).map(|((g, v), s)| 1.0 + g * v * s).collect();
        let mut adjoint = vec![0.0; (self.leaders + count) * n];
        add_transposed_product(1.0, &self.bends.spread, &through, [self.leaders + count, d, n], &mut adjoint);
        let (leaders, of_pairs) = adjoint.split_at_mut(self.leaders * n);
        add_transposed_product(1.0, &self.bends.bend, slope, [count, d, n], of_pairs);
        for ((h, k), adjoint) in pairs(self.leaders).zip(of_pairs.chunks_exact(n)) {
            for b in 0..n {
                leaders[h * n + b] += adjoint[b] * trace.features[k * n + b];
                leaders[k * n + b] += adjoint[b] * trace.features[h * n + b];
            }
        }
        adjoint.truncate(self.leaders * n);
        adjoint
    }
}

/// The variance of each feature under a standard normal: of the leaders, then of their pairs.
pub(in crate::infer) fn norms(leaders: usize) -> Vec<f64> {
    let pairs = pairs(leaders).map(|(h, k)| 1.0 + f64::from(h == k));
    std::iter::repeat_n(1.0, leaders).chain(pairs).collect()
}

/// The second Hermite polynomials of the leaders, pair by pair.
pub(in crate::infer) fn products(w: &[f64], leaders: usize, n: usize) -> Vec<f64> {
    let mut out = Vec::with_capacity(pair_count(leaders) * n);
    for (h, k) in pairs(leaders) {
        let minus = f64::from(h == k);
        out.extend((0..n).map(|b| w[h * n + b] * w[k * n + b] - minus));
    }
    out
}

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
