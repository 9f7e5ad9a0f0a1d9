//! Log weights that are sums over groups, each part known from a few candidates: smoothed over the draws.
//!
//! The candidates of a group estimate a factor c_j(θ) of the weight of a draw, where θ are the coordinates of
//! the Gaussian. Its mean is right, but the noise of hundreds of groups multiplies. As c_j is a smooth
//! function of θ, its logarithm is taken for a polynomial of the second degree, fitted to all draws; what is
//! reported of a group keeps that group's own factor as it is, so that its candidates count as their weights
//! say. A polynomial misses little: what is left of log c_j is orthogonal to constants, straight lines and
//! squares under the Gaussian, so to first order it moves no mean and no variance of θ.
//!
//! The noise of the fit moves what is reported of θ. Along orthonormal features a coefficient of the sum of
//! all groups has the variance V / n, where V adds up the variances of the factors, and a quantity of unit
//! variance has coefficients whose squares sum to no more than one: its mean is off by √(V / n) standard
//! deviations at most, and the logarithm of its standard deviation by less.

use crate::num::linalg::{cholesky, solve_cholesky};
use crate::num::special::log_sum_exp;
use rayon::prelude::*;

/// The logarithm of a factor is taken for no more than this above its polynomial.
const MOST: f64 = 3.0;
/// Draws that each coefficient needs.
const DRAWS_EACH: usize = 12;
/// Beyond so many standard deviations a polynomial is not believed, and factors count as they are.
const FAR: f64 = 4.0;
/// Most weight of a draw in the fit.
const HEAVIEST: f64 = 4.0;
/// Steps of the fit, and the change of a coefficient that ends it.
const STEPS: usize = 60;
const SETTLED: f64 = 1e-5;
/// What is left of all groups together may vary so much more than independent noise of each would: by this
/// factor and by this much, in squared nats.
const TOGETHER: f64 = 2.0;
const MISSED: f64 = 0.05;

/// What each group adds to the log weights of draws.
#[derive(Clone, Debug, Default)]
pub(in crate::infer) struct Local {
    /// Standardised coordinates of the Gaussian, draw by draw.
    places: Vec<f64>,
    /// The density of the Gaussian at each draw, by that of the proposal.
    shares: Vec<f64>,
    /// For each group its part of every draw.
    gains: Vec<Vec<f64>>,
}

/// Log weights with all groups smoothed.
#[derive(Clone, Debug)]
pub(in crate::infer) struct Apart {
    /// Of every draw.
    pub(in crate::infer) log_weights: Vec<f64>,
    /// For each group what to add, so that its own part is as it was.
    pub(in crate::infer) own: Vec<Vec<f64>>,
    /// The standard error that the noise of all groups leaves in what follows from no group alone, in
    /// standard deviations.
    pub(in crate::infer) noise: f64,
}

impl Local {
    /// Adds draws: their standardised places one after another, log q - log proposal, and the parts of groups
    /// (group `g` of draw `b` of `n` at `g * n + b`).
    pub(in crate::infer) fn add(&mut self, places: &[f64], log_shares: &[f64], gains: &[f64]) {
        let n = log_shares.len();
        self.places.extend_from_slice(places);
        self.shares.extend(log_shares.iter().map(|l| l.exp().min(HEAVIEST)));
        self.gains.resize(gains.len() / n.max(1), Vec::new());
        self.gains.iter_mut().zip(gains.chunks_exact(n)).for_each(|(to, from)| to.extend_from_slice(from));
    }

    /// The log weights with every group smoothed; None if there are no groups, too few draws, or a polynomial
    /// does not do.
    pub(in crate::infer) fn smoothed(&self, log_weights: &[f64]) -> Option<Apart> {
        let n = self.shares.len();
        if self.gains.len() < 2 || n != log_weights.len() || n == 0 {
            return None;
        }
        let d = self.places.len() / n;
        let features = Features::new(d, n)?;
        let known = |b: usize| {
            let near = self.places[b * d..(b + 1) * d].iter().all(|u| u.abs() < FAR);
            let counts = near && log_weights[b].is_finite() && self.gains.iter().all(|g| g[b].is_finite());
            if counts { self.shares[b] } else { 0.0 }
        };
        let weights: Vec<f64> = (0..n).map(known).collect();
        let rows: Vec<f64> = self.places.chunks_exact(d).flat_map(|u| features.at(u)).collect();
        let design = Design::new(rows, features.count, weights)?;
        let fits: Option<Vec<Vec<f64>>> = self.gains.par_iter().map(|g| design.fit(g)).collect();
        let own: Vec<Vec<f64>> = fits?
            .iter()
            .zip(&self.gains)
            .map(|(fit, gain)| fit.iter().zip(gain).map(|(f, g)| g - f).collect())
            .collect();
        let mut log_weights = log_weights.to_vec();
        let mut left = vec![0.0; n];
        for own in &own {
            left.iter_mut().zip(own).for_each(|(l, o)| *l += o);
        }
        let alone: f64 = own.iter().map(|o| design.variance(o)).sum();
        if !(design.variance(&left) < TOGETHER * alone + MISSED) {
            return None;
        }
        log_weights.iter_mut().zip(&left).for_each(|(w, l)| *w -= l);
        let factors = |own: &Vec<f64>| own.iter().map(|o| o.min(MOST).exp()).collect::<Vec<_>>();
        let variance: f64 = own.par_iter().map(|own| design.variance(&factors(own))).sum();
        Some(Apart { log_weights, own, noise: (variance / design.effective()).sqrt() })
    }
}

/// Polynomials of the second degree, with products of coordinates where draws suffice.
struct Features {
    count: usize,
    products: bool,
}

impl Features {
    fn new(d: usize, draws: usize) -> Option<Features> {
        let most = draws / DRAWS_EACH;
        let (all, few) = (1 + d + d * (d + 1) / 2, 1 + 2 * d);
        match (all <= most, few <= most) {
            (true, _) => Some(Features { count: all, products: true }),
            (false, true) => Some(Features { count: few, products: false }),
            (false, false) => None,
        }
    }

    fn at(&self, u: &[f64]) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.count);
        out.push(1.0);
        out.extend_from_slice(u);
        for (i, x) in u.iter().enumerate() {
            let others = if self.products { &u[i..] } else { &u[i..=i] };
            out.extend(others.iter().map(|y| x * y));
        }
        out
    }
}

/// Features of all draws with their weights, and the factor of their weighted products.
struct Design {
    rows: Vec<f64>,
    count: usize,
    weights: Vec<f64>,
    factor: Vec<f64>,
}

impl Design {
    fn new(rows: Vec<f64>, count: usize, weights: Vec<f64>) -> Option<Design> {
        let mut factor = vec![0.0; count * count];
        for (row, w) in rows.chunks_exact(count).zip(&weights).filter(|(_, w)| **w > 0.0) {
            for i in 0..count {
                let x = w * row[i];
                (0..=i).for_each(|j| factor[i * count + j] += x * row[j]);
            }
        }
        for i in 0..count {
            (0..i).for_each(|j| factor[j * count + i] = factor[i * count + j]);
        }
        cholesky(&mut factor, count).ok()?;
        Some(Design { rows, count, weights, factor })
    }

    fn value(&self, b: usize, coefficients: &[f64]) -> f64 {
        let row = &self.rows[b * self.count..(b + 1) * self.count];
        row.iter().zip(coefficients).map(|(x, c)| x * c).sum()
    }

    /// The polynomial f for which `exp(gain - f)` has mean one, and no correlation with any feature: unbiased
    /// whatever the noise of the factors, which their logarithms are not. Its values at all draws; the gains
    /// themselves where they do not count.
    fn fit(&self, gain: &[f64]) -> Option<Vec<f64>> {
        let counting = || (0..gain.len()).filter(|&b| self.weights[b] > 0.0);
        let total: f64 = self.weights.iter().sum();
        let logs: Vec<f64> = counting().map(|b| gain[b] + self.weights[b].ln()).collect();
        let mut coefficients = vec![0.0; self.count];
        coefficients[0] = log_sum_exp(&logs) - total.ln();
        let mut settled = false;
        for _ in 0..STEPS {
            let mut step = vec![0.0; self.count];
            for b in counting() {
                let over = self.weights[b] * ((gain[b] - self.value(b, &coefficients)).min(MOST).exp() - 1.0);
                let row = &self.rows[b * self.count..(b + 1) * self.count];
                step.iter_mut().zip(row).for_each(|(s, x)| *s += over * x);
            }
            solve_cholesky(&self.factor, self.count, &mut step);
            coefficients.iter_mut().zip(&step).for_each(|(c, s)| *c += s);
            settled = step.iter().all(|s| s.abs() < SETTLED);
            if settled {
                break;
            }
        }
        let at = |b: usize| if self.weights[b] > 0.0 { self.value(b, &coefficients) } else { gain[b] };
        settled.then(|| (0..gain.len()).map(at).collect())
    }

    /// The effective number of draws.
    fn effective(&self) -> f64 {
        self.weights.iter().sum::<f64>().powi(2) / self.weights.iter().map(|w| w * w).sum::<f64>()
    }

    /// The variance of numbers, one for each draw.
    fn variance(&self, values: &[f64]) -> f64 {
        let counting = || values.iter().zip(&self.weights).filter(|(_, w)| **w > 0.0);
        let total: f64 = counting().map(|(_, w)| w).sum();
        let mean = counting().map(|(x, w)| w * x).sum::<f64>() / total;
        counting().map(|(x, w)| w * (x - mean) * (x - mean)).sum::<f64>() / total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stream::Stream;

    /// Forty groups whose factors have means exp(a_j u + b_j u²), and noise that makes their product useless:
    /// smoothed, the log weights are the sum of the polynomials, but for a constant.
    #[test]
    fn noise_is_smoothed_away() {
        let (mut stream, mut local, n, groups) = (Stream::new(1, 2, 3), Local::default(), 4096, 40);
        let u: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
        let slope = |g: usize| 0.01 * (g as f64 - 10.0) / 10.0;
        let truth = |g: usize, u: f64| slope(g) * u + 0.002 * u * u;
        let noise = |stream: &mut Stream| 0.3 * stream.normal() - 0.045;
        let gains: Vec<f64> = (0..groups)
            .flat_map(|g| u.iter().map(|u| truth(g, *u) + noise(&mut stream)).collect::<Vec<_>>())
            .collect();
        local.add(&u, &vec![0.0; n], &gains);
        let raw: Vec<f64> = (0..n).map(|b| (0..groups).map(|g| gains[g * n + b]).sum()).collect();
        let apart = local.smoothed(&raw).unwrap();
        let all = |u: f64| (0..groups).map(|g| truth(g, u)).sum::<f64>();
        let off: Vec<f64> =
            (0..n).filter(|&b| u[b].abs() < 2.0).map(|b| apart.log_weights[b] - all(u[b])).collect();
        let mean = off.iter().sum::<f64>() / off.len() as f64;
        // The noise of all groups, 0.3 √40, over the root of the number of draws.
        assert!(off.iter().all(|o| (o - mean).abs() < 0.25), "{off:?}");
        let own = &apart.own[3];
        assert!(
            (0..n).all(|b| u[b].abs() > 2.0 || (own[b] - gains[3 * n + b] + truth(3, u[b])).abs() < 0.05)
        );
    }

    /// Factors that all share what no polynomial of the second degree has are left as they are.
    #[test]
    fn what_is_no_polynomial_is_left() {
        let (mut stream, mut local, n) = (Stream::new(4, 2, 3), Local::default(), 2048);
        let u: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
        let gains: Vec<f64> = (0..40).flat_map(|_| u.iter().map(|u| 0.1 * (3.0 * u).sin())).collect();
        local.add(&u, &vec![0.0; n], &gains);
        assert!(local.smoothed(&vec![0.0; n]).is_none());
    }
}
