//! How well weighted draws tell what is inferred, and how many more it would take.

use crate::infer::importance::errors::Errors;
use crate::infer::importance::psis::{khat_error, smooth};
use crate::infer::importance::sample::Sample;
use crate::infer::importance::weights::Weighed;
use crate::infer::policy::Policy;
use crate::num::slices::ln;
use crate::num::special::erfc;
use rayon::prelude::*;
use std::borrow::Cow;
use std::f64::consts::SQRT_2;

/// The difference that weights make is added to draws without weights where that is so much better.
const BETTER: f64 = 0.6;

/// Outputs from which on errors are those aimed at for many.
const MANY_OUTPUTS: usize = 40;
/// A quantile may be off by so many times what a mean may.
const QUANTILE: f64 = 3.0;
/// Of all outputs so many, on average, may be further off.
const FEW: f64 = 0.1;

/// How many times as large all of these standard errors could be: below one where they should be smaller.
/// More is allowed where each draw takes a search, or solves an equation.
pub(in crate::infer) fn margin(errors: impl Iterator<Item = f64>, costly: bool, policy: &Policy) -> f64 {
    let errors: Vec<f64> = errors.filter(|e| *e > 0.0).collect();
    let many = costly || errors.len() > MANY_OUTPUTS;
    let off = if many { policy.error_many } else { policy.error_few };
    let further = |times: f64| errors.iter().map(|e| erfc(off / (times * e * SQRT_2))).sum::<f64>();
    // Between 1e-6 and 1e6, by halving the logarithm.
    let (mut low, mut high) = (1e-6_f64, 1e6_f64);
    for _ in 0..40 {
        let middle = (low * high).sqrt();
        (low, high) = if further(middle) < FEW { (middle, high) } else { (low, middle) };
    }
    low
}

/// The weights of all points for output `j`, where those of what belongs to no group are known.
pub(super) fn weights_of<'w>(
    sample: &Sample,
    weighed: &Weighed,
    weights: &'w [f64],
    j: usize,
) -> Cow<'w, [f64]> {
    let own = sample.group_of(j).and_then(|group| weighed.of_group(group));
    own.map_or(Cow::Borrowed(weights), |own| Cow::Owned(sample.spread(own)))
}

/// How well an output is known.
pub(super) struct Known {
    /// The largest of the standard errors of its mean, of the logarithm of its standard deviation and of a
    /// quantile, the latter for less, in standard deviations.
    pub(super) error: f64,
    /// That of its mean alone.
    pub(super) of_mean: f64,
    /// Whether that is by the difference that weights make to so many more draws without weights.
    pub(super) shifted: bool,
}

impl Known {
    pub(super) fn new(errors: &Errors, times: f64, inflation: f64, noise: f64) -> Known {
        let weighted = worst(errors.weighted);
        let by_difference = errors.shifted(times);
        let shifted = times > 1.0 && worst(by_difference) < BETTER * weighted && by_difference[0].is_finite();
        let (error, of_mean) = match shifted {
            true => (worst(by_difference), by_difference[0]),
            false => (weighted, errors.weighted[0]),
        };
        // What does not vary has no error.
        let noise = if error > 0.0 { noise } else { 0.0 };
        Known {
            error: (inflation * error).hypot(noise),
            of_mean: (inflation * of_mean).hypot(noise),
            shifted,
        }
    }
}

/// The largest of standard errors of a mean, a log standard deviation and a quantile; zero for what does not
/// vary.
pub(in crate::infer) fn worst([mean, sd, quantile]: [f64; 3]) -> f64 {
    let largest = mean.max(sd).max(quantile / QUANTILE);
    if mean.is_finite() && sd.is_finite() { largest } else { 0.0 }
}

/// Which output has the largest error, and how large it is.
pub(super) fn largest(errors: &[Known]) -> (usize, f64) {
    let one = |m: (usize, f64), (j, e): (usize, &Known)| if e.error > m.1 { (j, e.error) } else { m };
    errors.iter().enumerate().fold((0, 0.0), one)
}

/// The tail shape of the weights times the squared deviation of one output: what its standard deviation is
/// estimated from.
pub(super) fn spread_khat(sample: &Sample, weighed: &Weighed, weights: &[f64], output: usize) -> f64 {
    let values = sample.column(output);
    let weights = weights_of(sample, weighed, weights, output);
    let mean: f64 = values.iter().zip(&*weights).map(|(x, w)| x * w).sum();
    let square = |(x, s): (&f64, &f64)| s * (x - mean).powi(2);
    let points = values.chunks_exact(sample.copies).zip(sample.shares().chunks_exact(sample.copies));
    let spread = points.map(|(x, shares)| x.iter().zip(shares).map(square).sum::<f64>());
    let mut logs: Vec<f64> = spread.collect();
    ln(&mut logs);
    logs.iter_mut().zip(&*weighed.logs(sample.group_of(output))).for_each(|(log, weight)| *log += weight);
    let khat = smooth(&logs).khat;
    if khat.is_finite() { khat } else { f64::NEG_INFINITY }
}

/// The tail shape of the weighted squares of each output, where outputs are few: among many some would look
/// long by chance.
pub(super) fn shapes_of_squares(errors: &[Known], spread: &(impl Fn(usize) -> f64 + Sync)) -> Vec<f64> {
    let few = errors.len() <= MANY_OUTPUTS;
    let one = |j: usize| if few && errors[j].error > 0.0 { spread(j) } else { f64::NEG_INFINITY };
    (0..errors.len()).into_par_iter().map(one).collect()
}

/// How many times as large all standard errors could be if each missed what the tail of its squares hides.
pub(super) fn wary(errors: &[Known], shapes: &[f64], costly: bool, policy: &Policy) -> f64 {
    margin(errors.iter().zip(shapes).map(|(e, shape)| e.error * inflation(*shape)), costly, policy)
}

/// The upper end of what a k̂ from so many draws may be.
pub(super) fn upper(khat: f64, draws: usize) -> f64 {
    khat + khat_error(khat, draws)
}

/// Standard errors from the weights of a sample miss what its tail hides; the factor is from the mean of a
/// generalised Pareto tail beyond the sample.
pub(super) fn inflation(khat: f64) -> f64 {
    1.0 + (2.0 * (khat - 0.3)).max(0.0)
}
