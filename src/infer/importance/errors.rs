//! Standard errors of means, standard deviations and quantiles of weighted draws.

use crate::infer::proposal::BLOCK;
use crate::num::dispatch::best;
use crate::num::real::LANES;
use std::borrow::Cow;
use std::ops::Range;

/// What a sample is worth for one quantity: standard errors of its mean, of the logarithm of its standard
/// deviation and of its outer quantiles, all in standard deviations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::infer) struct Errors {
    /// Of the weighted sample.
    pub(in crate::infer) weighted: [f64; 3],
    /// Of the difference that the weights make.
    pub(in crate::infer) difference: [f64; 3],
    /// Of the sample without its weights.
    pub(in crate::infer) even: [f64; 3],
}

impl Errors {
    /// Where the difference is added to the statistics of `times` as many draws without weights.
    pub(in crate::infer) fn shifted(&self, times: f64) -> [f64; 3] {
        std::array::from_fn(|k| self.difference[k].hypot(self.even[k] / times.sqrt()))
    }
}

/// How the points of a sample hang together.
#[derive(Clone, Copy, Debug)]
pub(in crate::infer) struct Layout {
    /// Neighbours that are copies of one draw.
    pub(in crate::infer) copies: usize,
    /// Sequences of draws, independent of each other, that take turns block by block.
    pub(in crate::infer) replicates: usize,
}

impl Layout {
    /// All points are independent.
    pub(in crate::infer) const INDEPENDENT: Layout = Layout { copies: 1, replicates: 1 };
}

/// The 95 % quantile of a standard normal number and the density there: an error of a probability there,
/// divided by the latter, is about that of a quantile.
pub(in crate::infer) const OUTER: f64 = 1.644_853_626_951_472_2;
const DENSITY: f64 = 0.103_135_640_375_374_6;
/// Errors by replicates are taken for so many times as large: they are known to one part in five.
const CAUTION: f64 = 1.2;

/// The errors of values under weights that sum to one; with `compared`, also of the difference that the
/// weights make. That is unknown where copies differ: draws without weights are those of the first
/// coordinates alone.
pub(in crate::infer) fn errors(values: &[f64], weights: &[f64], layout: Layout, compared: bool) -> Errors {
    let values = &tamed(values, weights)[..];
    let about = Centre::new(values, weights);
    let weighted = about.errors(values, Weights { of: weights, less: 0.0 }, layout);
    let varies = || values.chunks_exact(layout.copies).any(|x| x.iter().any(|y| *y != x[0]));
    if !compared || varies() {
        return Errors { weighted, difference: [f64::INFINITY; 3], even: [f64::INFINITY; 3] };
    }
    let even = 1.0 / values.len() as f64;
    Errors {
        weighted,
        difference: about.errors(values, Weights { of: weights, less: even }, layout),
        even: about.errors(values, Weights { of: &vec![even; values.len()], less: 0.0 }, layout),
    }
}

/// The standard error of the mean of values without weights.
pub(in crate::infer) fn error_of_mean(values: &[f64], layout: Layout) -> f64 {
    let even = vec![1.0 / values.len() as f64; values.len()];
    let about = Centre::new(values, &even);
    // In standard deviations, of which there is none where nothing varies.
    let error = about.errors(values, Weights { of: &even, less: 0.0 }, layout)[0];
    if about.variance > 0.0 { error * about.variance.sqrt() } else { 0.0 }
}

/// Where values lie under their weights.
struct Centre {
    mean: f64,
    variance: f64,
    /// Beyond these values are the outer parts.
    reach: [f64; 2],
    /// How much is there.
    outside: [f64; 2],
}

impl Centre {
    fn new(values: &[f64], weights: &[f64]) -> Centre {
        let (mean, variance) = moments(values, weights);
        let reach = [mean - OUTER * variance.sqrt(), mean + OUTER * variance.sqrt()];
        let below = weighted(
            values,
            weights,
            #[inline(always)]
            |x| f64::from(x < reach[0]),
        );
        let above = weighted(
            values,
            weights,
            #[inline(always)]
            |x| f64::from(x > reach[1]),
        );
        Centre { mean, variance, reach, outside: [below, above] }
    }

    /// Standard errors of the mean, of the log standard deviation and of an outer quantile with these weights
    /// of the points. Draws of one replicate fill space more evenly than chance would, so that replicates
    /// differ less than independent draws would have them differ, and the smaller of the two counts.
    fn errors(&self, values: &[f64], weights: Weights, layout: Layout) -> [f64; 3] {
        let Layout { copies, replicates } = layout;
        let draws = values.len() / copies;
        let (mut independent, mut by_replicate) = ([0.0; 4], vec![[0.0; 4]; replicates]);
        for first in (0..draws).step_by(BLOCK) {
            let some = first * copies..draws.min(first + BLOCK) * copies;
            let (values, weights) = (&values[some.clone()], weights.some(some));
            let [squares, sums] = best(
                #[inline(always)]
                || self.block(values, weights, copies),
            );
            for k in 0..4 {
                independent[k] += squares[k];
                by_replicate[first / BLOCK % replicates][k] += sums[k];
            }
        }
        let few = draws < BLOCK * replicates || replicates == 1;
        let count = replicates as f64;
        let together: [f64; 4] = std::array::from_fn(|k| {
            let mean = by_replicate.iter().map(|r| r[k]).sum::<f64>() / count;
            let sum: f64 = by_replicate.iter().map(|r| (r[k] - mean).powi(2)).sum();
            let apart = CAUTION * (sum * count / (count - 1.0)).sqrt();
            if few { independent[k].sqrt() } else { independent[k].sqrt().min(apart) }
        });
        let quantile = together[2].max(together[3]) / DENSITY;
        [together[0] / self.variance.sqrt(), 0.5 * together[1] / self.variance, quantile]
    }
}

impl Centre {
    /// Sums of squares, and sums, of what the draws of a block contribute.
    #[inline(always)]
    fn block(&self, values: &[f64], weights: Weights, copies: usize) -> [[f64; 4]; 2] {
        let mut out = [[0.0; 4]; 2];
        let whole = values.len() / (LANES * copies) * LANES * copies;
        for first in (0..whole).step_by(LANES * copies) {
            let some = first..first + LANES * copies;
            add(&mut out, self.contributed::<LANES>(&values[some.clone()], weights.some(some), copies));
        }
        for first in (whole..values.len()).step_by(copies) {
            let one = first..first + copies;
            add(&mut out, self.contributed::<1>(&values[one.clone()], weights.some(one), copies));
        }
        out
    }

    /// What each of `W` draws contributes to the errors of a mean, a variance and the outer quantiles.
    #[inline(always)]
    fn contributed<const W: usize>(&self, values: &[f64], weights: Weights, copies: usize) -> [[f64; W]; 4] {
        let mut sums = [[0.0; W]; 4];
        let (values, of, less) = (&values[..W * copies], &weights.of[..W * copies], weights.less);
        for c in 0..copies {
            for lane in 0..W {
                let (x, w) = (values[lane * copies + c], of[lane * copies + c] - less);
                let away = x - self.mean;
                let [below, above] = [f64::from(x < self.reach[0]), f64::from(x > self.reach[1])];
                sums[0][lane] += w * away;
                sums[1][lane] += w * (away * away - self.variance);
                sums[2][lane] += w * (below - self.outside[0]);
                sums[3][lane] += w * (above - self.outside[1]);
            }
        }
        sums
    }
}

/// Adds the squares of contributions, and the contributions.
#[inline(always)]
fn add<const W: usize>([squares, sums]: &mut [[f64; 4]; 2], draws: [[f64; W]; 4]) {
    for k in 0..4 {
        for lane in 0..W {
            squares[k] += draws[k][lane] * draws[k][lane];
            sums[k] += draws[k][lane];
        }
    }
}

/// Weights of points, each less a number.
#[derive(Clone, Copy)]
struct Weights<'w> {
    of: &'w [f64],
    less: f64,
}

impl Weights<'_> {
    #[inline(always)]
    fn some(&self, points: Range<usize>) -> Self {
        Weights { of: &self.of[points], less: self.less }
    }
}

/// A weight below this adds nothing, whatever its value.
const NEGLIGIBLE: f64 = 1e-14;

/// Values with zero where one, or its square, is not a number or infinite but its weight is negligible: far
/// out in the tails of a proposal a scale or a derived quantity may overflow, where the posterior has no
/// mass.
pub(super) fn tamed<'v>(values: &'v [f64], weights: &[f64]) -> Cow<'v, [f64]> {
    let fine = |x: &f64| (x * x).is_finite();
    if values.iter().all(fine) {
        return Cow::Borrowed(values);
    }
    let tame = |(x, w): (&f64, &f64)| if fine(x) || *w > NEGLIGIBLE { *x } else { 0.0 };
    Cow::Owned(values.iter().zip(weights).map(tame).collect())
}

/// Mean and variance under weights that sum to one.
pub(super) fn moments(values: &[f64], weights: &[f64]) -> (f64, f64) {
    let mean = weighted(
        values,
        weights,
        #[inline(always)]
        |x| x,
    );
    let variance = weighted(
        values,
        weights,
        #[inline(always)]
        |x| (x - mean) * (x - mean),
    );
    (mean, variance)
}

/// The weighted sum of a function of values, a register of them at a time; mark the function
/// `#[inline(always)]`.
pub(super) fn weighted(values: &[f64], weights: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    best(
        #[inline(always)]
        || {
            let ((values, last), (weights, last_weights)) =
                (values.as_chunks::<LANES>(), weights.as_chunks::<LANES>());
            let mut sums = [0.0; LANES];
            for (x, w) in values.iter().zip(weights) {
                for lane in 0..LANES {
                    sums[lane] += w[lane] * of(x[lane]);
                }
            }
            let whole: f64 = sums.iter().sum();
            last.iter().zip(last_weights).fold(whole, |sum, (x, w)| sum + w * of(*x))
        },
    )
}
