//! Affine coordinates `z = c + L z'` in which a target is fitted, and the way back.
//!
//! Everything that the theorems say holds in any such coordinates, with the constants of the target seen from
//! there. In coordinates that whiten the curvature at the mode these are near 1, however the model was
//! scaled.

use super::noise::Constants;
use super::run::Run;
use super::scale::Scale;
use super::subsample::{Subsample, SubsetEvaluator};
use crate::num::linalg::{solve_lower, symmetric_eigen};
use crate::target::{Evaluator, Target};

/// Coordinates `z = c + L z'` with a lower triangular `L`.
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinates {
    centre: Vec<f64>,
    scale: Scale,
    /// log |det L|.
    log_det: f64,
}

impl Coordinates {
    /// Coordinates with this centre and this `L`, of which the lower triangle is read; None if `L` has no
    /// inverse or the sizes do not agree.
    pub fn new(centre: Vec<f64>, mut scale: Scale) -> Option<Coordinates> {
        let d = centre.len();
        match &mut scale {
            Scale::Diagonal(s) if s.len() == d => {}
            Scale::Dense(all) if all.len() == d * d => {
                (0..d).for_each(|i| all[i * d + i + 1..(i + 1) * d].fill(0.0));
            }
            Scale::Diagonal(_) | Scale::Dense(_) => return None,
        }
        let log_det = scale.log_det(d);
        log_det.is_finite().then_some(Coordinates { centre, scale, log_det })
    }

    /// The place `z'` of a point `z`.
    pub fn place(&self, z: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = z.iter().zip(&self.centre).map(|(z, c)| z - c).collect();
        match &self.scale {
            Scale::Diagonal(s) => x.iter_mut().zip(s).for_each(|(x, s)| *x /= s),
            Scale::Dense(l) => solve_lower(l, x.len(), &mut x),
        }
        x
    }

    /// The centre `c`.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// The target as it looks from here: a density on `z'`, so the ELBO of an approximation is what it was.
    /// If its observations can be taken apart, so can those of the view.
    pub fn view<'a, T: Target + ?Sized>(&'a self, target: &'a T) -> Moved<'a, T> {
        Moved { target, coordinates: self }
    }

    /// `M` and `μ` of the target as seen from here, given matrices between which minus its Hessian lies
    /// everywhere: the extreme eigenvalues of `Lᵀ H L`, with a margin for rounding.
    pub fn constants(&self, least: &[f64], most: &[f64]) -> Option<Constants> {
        let d = self.centre.len();
        let extremes = |h: &[f64]| {
            let half = Scale::Dense(h.to_vec()).times(&self.scale, d).dense(d);
            let mut all = vec![0.0; d * d];
            self.scale.apply_transposed(&half, [d, d], &mut all);
            let values = symmetric_eigen(&all, d)?.values;
            let (low, high) = (*values.first()?, *values.last()?);
            let margin = 16.0 * (d as f64 + 8.0) * f64::EPSILON * low.abs().max(high.abs());
            Some((low - margin, high + margin))
        };
        let ((low, _), (_, high)) = (extremes(least)?, extremes(most)?);
        Some(Constants { smoothness: high.max(-low), strong_concavity: low })
    }

    /// A run in these coordinates, with its mean and scale in those of the target. Its iterates stay as they
    /// are.
    pub fn restore(&self, mut run: Run) -> Run {
        let d = self.centre.len();
        let mut mean = vec![0.0; d];
        self.scale.apply(&run.mean, [d, 1], &mut mean);
        mean.iter_mut().zip(&self.centre).for_each(|(m, c)| *m += c);
        run.scale = self.scale.times(&run.scale, d);
        run.mean = mean;
        run
    }

    /// Writes `c + L z'` for each draw.
    fn points(&self, z: &[f64], draws: usize, points: &mut Vec<f64>) {
        points.resize(z.len(), 0.0);
        self.scale.apply(z, [self.centre.len(), draws], points);
        for (row, c) in points.chunks_exact_mut(draws).zip(&self.centre) {
            row.iter_mut().for_each(|x| *x += c);
        }
    }

    /// Log densities and gradients of the target, as seen from here.
    fn pull_back(&self, draws: usize, log_density: &mut [f64], slopes: &[f64], gradient: &mut [f64]) {
        log_density.iter_mut().for_each(|x| *x += self.log_det);
        self.scale.apply_transposed(slopes, [self.centre.len(), draws], gradient);
    }
}

/// A target in other coordinates.
pub struct Moved<'a, T: ?Sized> {
    target: &'a T,
    coordinates: &'a Coordinates,
}

impl<T: Target + ?Sized> Target for Moved<'_, T> {
    fn dimension(&self) -> usize {
        self.target.dimension()
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        Box::new(MovedEvaluator::new(self.target.evaluator(), self.coordinates))
    }

    fn coordinate_names(&self) -> Vec<String> {
        (1..=self.dimension()).map(|i| format!("whitened coordinate {i}")).collect()
    }
}

impl<T: Subsample + ?Sized> Subsample for Moved<'_, T> {
    fn observations(&self) -> usize {
        self.target.observations()
    }

    fn subset_evaluator(&self) -> Box<dyn SubsetEvaluator + '_> {
        Box::new(MovedEvaluator::new(self.target.subset_evaluator(), self.coordinates))
    }
}

struct MovedEvaluator<'a, E> {
    inner: E,
    coordinates: &'a Coordinates,
    points: Vec<f64>,
    slopes: Vec<f64>,
}

impl<'a, E> MovedEvaluator<'a, E> {
    fn new(inner: E, coordinates: &'a Coordinates) -> Self {
        MovedEvaluator { inner, coordinates, points: Vec::new(), slopes: Vec::new() }
    }
}

impl Evaluator for MovedEvaluator<'_, Box<dyn Evaluator + '_>> {
    fn evaluate(&mut self, z: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]) {
        self.coordinates.points(z, draws, &mut self.points);
        self.slopes.resize(z.len(), 0.0);
        self.inner.evaluate(&self.points, draws, log_density, &mut self.slopes);
        self.coordinates.pull_back(draws, log_density, &self.slopes, gradient);
    }
}

impl SubsetEvaluator for MovedEvaluator<'_, Box<dyn SubsetEvaluator + '_>> {
    fn evaluate_subset(
        &mut self,
        rows: &[usize],
        z: &[f64],
        draws: usize,
        log_density: &mut [f64],
        gradient: &mut [f64],
    ) {
        self.coordinates.points(z, draws, &mut self.points);
        self.slopes.resize(z.len(), 0.0);
        self.inner.evaluate_subset(rows, &self.points, draws, log_density, &mut self.slopes);
        self.coordinates.pull_back(draws, log_density, &self.slopes, gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::from_fn;

    fn oblique() -> Coordinates {
        Coordinates::new(vec![1.0, -2.0], Scale::Dense(vec![2.0, 0.0, -1.0, 0.5])).unwrap()
    }

    #[test]
    fn a_moved_target_is_the_density_of_the_moved_point() {
        let target = from_fn(2, |z: &[f64], g: &mut [f64]| {
            (g[0], g[1]) = (-z[0] - z[1], -3.0 * z[1] - z[0]);
            0.5 * (g[0] * z[0] + g[1] * z[1])
        });
        let coordinates = oblique();
        let at = |x: [f64; 2]| {
            let (mut value, mut slope) = ([0.0], [0.0; 2]);
            coordinates.view(&target).evaluator().evaluate(&x, 1, &mut value, &mut slope);
            (value[0], slope)
        };
        let (value, slope) = at([0.3, 0.7]);
        // z = (1.6, -1.95), and det L = 1.
        assert!((value + 0.5 * (1.6_f64.powi(2) - 2.0 * 1.6 * 1.95 + 3.0 * 1.95 * 1.95)).abs() < 1e-12);
        for i in 0..2 {
            let mut x = [[0.3, 0.7]; 2];
            (x[0][i], x[1][i]) = (x[0][i] + 1e-5, x[1][i] - 1e-5);
            assert!(((at(x[0]).0 - at(x[1]).0) / 2e-5 - slope[i]).abs() < 1e-8);
        }
        let back = coordinates.place(&[1.6, -1.95]);
        assert!((back[0] - 0.3).abs() < 1e-12 && (back[1] - 0.7).abs() < 1e-12);
    }

    #[test]
    fn constants_are_those_of_the_congruent_matrices() {
        // Lᵀ H L with H = diag(2, 8) is [[16, -4], [-4, 2]], with eigenvalues 9 ± √65.
        let constants = oblique().constants(&[2.0, 0.0, 0.0, 8.0], &[2.0, 0.0, 0.0, 8.0]).unwrap();
        assert!((constants.smoothness - 9.0 - 65_f64.sqrt()).abs() < 1e-12);
        assert!((constants.strong_concavity - 9.0 + 65_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_scale_without_an_inverse_makes_no_coordinates() {
        assert!(Coordinates::new(vec![0.0; 2], Scale::Dense(vec![1.0, 0.0, 2.0, 0.0])).is_none());
        assert!(Coordinates::new(vec![0.0; 2], Scale::Diagonal(vec![1.0])).is_none());
    }
}
