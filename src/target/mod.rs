//! The one interface that inference sees: a log density on unconstrained coordinates, for batches of draws.

mod curvature;
mod given;
mod grouped;
mod model;
mod predict;
mod simulate;
mod threads;
mod trouble;

#[doc(hidden)]
pub use curvature::{Curvature, CurvatureEvaluator, Varying};
#[doc(hidden)]
pub use given::{Given, GivenEvaluator};
pub(crate) use grouped::{DRAWS, Grouped, GroupedEvaluator};
pub use model::{ModelTarget, PlanEvaluator, Split};
pub use trouble::Trouble;

use crate::structure::Separable;
use nalgebra::DVector;

/// A log density `log p(z, x)` on `R^d`, with the data `x` already inside.
///
/// Batches hold draws as the fastest axis: coordinate `i` of draw `b` of a batch of `n` stands at `i * n +
/// b`. Those who write one need [`Target::dimension`] and [`Target::evaluator`]; what else a compiled model
/// knows of itself is hidden here.
pub trait Target: Send + Sync {
    /// Number of unconstrained coordinates `d`.
    fn dimension(&self) -> usize;

    /// An evaluator with buffers of its own, for one thread.
    fn evaluator(&self) -> Box<dyn Evaluator + '_>;

    /// The log density as a sum of functions of one affine form each, if it is known to be one.
    #[doc(hidden)]
    fn separable(&self) -> Option<Separable> {
        None
    }

    /// Its curvature in these coordinates, ascending, given all others, if it is known to be a sum of
    /// functions of one affine form each then.
    #[doc(hidden)]
    fn curvature(&self, _inner: &[usize]) -> Option<Curvature> {
        None
    }

    /// Elements of the graph that the former is read from.
    #[doc(hidden)]
    fn elements(&self) -> usize {
        0
    }

    /// Whether it is proved to be quadratic everywhere, so that the posterior is Gaussian.
    fn is_gaussian(&self) -> bool {
        false
    }

    /// Log densities of its parts, where it says that it is a mixture of some: each may have a mode of its
    /// own.
    fn branches(&self) -> Vec<Box<dyn Target + '_>> {
        Vec::new()
    }

    /// What is not a number at a point, if that is known.
    #[doc(hidden)]
    fn trouble(&self, _z: &[f64]) -> Option<Trouble> {
        None
    }

    /// Whether it solves differential equations: far from where these are tame, one evaluation may cost as
    /// much as thousands elsewhere.
    #[doc(hidden)]
    fn solves_equations(&self) -> bool {
        false
    }

    /// Whether each evaluation takes a search, which far from the posterior takes many steps.
    #[doc(hidden)]
    fn searches(&self) -> bool {
        false
    }

    /// About how many additions and multiplications a gradient takes; zero where nobody has counted.
    #[doc(hidden)]
    fn operations(&self) -> usize {
        0
    }

    /// The log density without what data say, if that is known.
    #[doc(hidden)]
    fn prior(&self) -> Option<Box<dyn Target + '_>> {
        None
    }

    /// Coordinates that a posterior has limits in which its log density says nothing of: it is that of a
    /// model without bounds, and draws beyond them have no weight.
    fn limits(&self) -> &[(usize, [f64; 2])] {
        &[]
    }

    /// The unconstrained coordinates at which parameters that may change their sign are zero.
    fn zeros(&self) -> Vec<f64> {
        vec![0.0; self.dimension()]
    }

    /// A name for each unconstrained coordinate.
    fn coordinate_names(&self) -> Vec<String> {
        (1..=self.dimension()).map(|i| format!("z[{i}]")).collect()
    }

    /// A name for each scalar that [`Target::constrain`] gives.
    fn output_names(&self) -> Vec<String> {
        self.coordinate_names()
    }

    /// The reported quantities (constrained parameters, then derived ones, then a draw of predicted ones) at
    /// one point.
    fn constrain(&self, z: &[f64]) -> Vec<f64> {
        z.to_vec()
    }

    /// How many of the last outputs are no parameters: derived, or drawn anew at each point. They say nothing
    /// of the quality of a fit.
    #[doc(hidden)]
    fn beside(&self) -> usize {
        0
    }

    /// The same for a batch of draws: output `j` of draw `b` at `j * draws + b`.
    fn constrain_batch(&self, z: &[f64], draws: usize) -> Vec<f64> {
        let d = self.dimension();
        let mut out = vec![f64::NAN; self.output_names().len() * draws];
        for b in 0..draws {
            let point: Vec<f64> = (0..d).map(|i| z[i * draws + b]).collect();
            for (j, x) in self.constrain(&point).into_iter().enumerate() {
                if let Some(place) = out.get_mut(j * draws + b) {
                    *place = x;
                }
            }
        }
        out
    }
}

/// Evaluates a [`Target`] without allocating; made by [`Target::evaluator`].
pub trait Evaluator: Send {
    /// Writes `log_density[b]` and `gradient[i * draws + b]` for each draw `b`. Outside the support the log
    /// density is minus infinity or not a number and the gradient means nothing.
    ///
    /// # Panics
    /// Where a slice is too short for so many draws.
    fn evaluate(&mut self, z: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]);

    /// The log density alone.
    fn log_density(&mut self, z: &[f64], draws: usize, log_density: &mut [f64]) {
        let mut gradient = vec![0.0; z.len()];
        self.evaluate(z, draws, log_density, &mut gradient);
    }

    /// Products of the Hessian of the log density at the one point `z` with `count` vectors:
    /// `v[i * count + k]` in, `out[i * count + k]` out.
    ///
    /// The default takes central differences of the gradient; a compiled model is exact.
    fn hessian_vectors(&mut self, z: &[f64], v: &[f64], count: usize, out: &mut [f64]) {
        let d = z.len();
        let mut point = vec![0.0; d];
        let (mut plus, mut minus, mut value) = (vec![0.0; d], vec![0.0; d], [0.0]);
        let scale = 1.0 + z.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for k in 0..count {
            let norm = (0..d).map(|i| v[i * count + k].powi(2)).sum::<f64>().sqrt();
            let h = f64::EPSILON.cbrt() * scale / norm.max(f64::MIN_POSITIVE);
            for (sign, gradient) in [(h, &mut plus), (-h, &mut minus)] {
                (0..d).for_each(|i| point[i] = z[i] + sign * v[i * count + k]);
                self.evaluate(&point, 1, &mut value, gradient);
            }
            (0..d).for_each(|i| out[i * count + k] = (plus[i] - minus[i]) / (2.0 * h));
        }
    }
}

/// A target from a function of one point that writes the gradient and returns the log density.
pub struct FromFn<F> {
    dimension: usize,
    function: F,
}

/// Makes a [`Target`] from a plain function.
///
/// ```
/// use stickler::target::{from_fn, Target};
/// let standard_normal = from_fn(2, |z: &[f64], g: &mut [f64]| {
///     (0..2).for_each(|i| g[i] = -z[i]);
///     -0.5 * (z[0] * z[0] + z[1] * z[1])
/// });
/// let (mut lp, mut g) = ([0.0], [0.0; 2]);
/// standard_normal.evaluator().evaluate(&[1.0, 2.0], 1, &mut lp, &mut g);
/// assert_eq!((lp[0], g), (-2.5, [-1.0, -2.0]));
/// ```
pub fn from_fn<F: Fn(&[f64], &mut [f64]) -> f64 + Send + Sync>(dimension: usize, function: F) -> FromFn<F> {
    FromFn { dimension, function }
}

/// Makes a [`Target`] from a function that gives the log density and its gradient in nalgebra's types.
///
/// ```
/// use stickler::nalgebra::{DMatrix, DVector};
/// use stickler::{infer, target::from_dvector};
/// let centre = DVector::from_vec(vec![3.0, -1.0]);
/// let precision = DMatrix::from_row_slice(2, 2, &[2.0, 0.5, 0.5, 1.0]);
/// let target = from_dvector(2, |z: &DVector<f64>| {
///     let away = z - &centre;
///     let slope = -&precision * &away;
///     (0.5 * away.dot(&slope), slope)
/// });
/// let watch = &mut |_: &_| std::ops::ControlFlow::Continue(());
/// let fit = infer::fit(&target, &infer::Options::default(), watch)?;
/// assert!((fit.mean() - &centre).norm() < 0.01);
/// # Ok::<(), infer::Error>(())
/// ```
///
/// # Panics
/// An evaluation panics where the gradient has another length than the point.
pub fn from_dvector<F>(dimension: usize, function: F) -> impl Target
where
    F: Fn(&DVector<f64>) -> (f64, DVector<f64>) + Send + Sync,
{
    from_fn(dimension, move |z: &[f64], gradient: &mut [f64]| {
        let (log_density, slope) = function(&DVector::from_column_slice(z));
        assert_eq!(slope.len(), dimension, "the gradient has one entry for each coordinate of the point");
        gradient.copy_from_slice(slope.as_slice());
        log_density
    })
}

impl<F: Fn(&[f64], &mut [f64]) -> f64 + Send + Sync> Target for FromFn<F> {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        Box::new(FromFnEvaluator {
            function: &self.function,
            point: vec![0.0; self.dimension],
            slope: vec![0.0; self.dimension],
        })
    }
}

struct FromFnEvaluator<'a, F> {
    function: &'a F,
    point: Vec<f64>,
    slope: Vec<f64>,
}

impl<F: Fn(&[f64], &mut [f64]) -> f64 + Send + Sync> Evaluator for FromFnEvaluator<'_, F> {
    fn evaluate(&mut self, z: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]) {
        for b in 0..draws {
            for (i, p) in self.point.iter_mut().enumerate() {
                *p = z[i * draws + b];
            }
            log_density[b] = (self.function)(&self.point, &mut self.slope);
            for (i, s) in self.slope.iter().enumerate() {
                gradient[i * draws + b] = *s;
            }
        }
    }
}
