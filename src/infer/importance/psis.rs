//! Pareto-smoothed importance sampling (Vehtari, Simpson, Gelman, Yao, Gabry, 2024): weights and the
//! diagnostic k̂.

use crate::num::real::Real;
use crate::num::slices::{Function, exp, sum};

/// log(1 - b x).
#[derive(Clone, Copy)]
struct LogOneMinus(f64);

impl Function for LogOneMinus {
    #[inline(always)]
    fn of<U: Real>(self, x: U) -> U {
        x.scale(-self.0).log1p()
    }
}

/// Smoothed weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Smoothed {
    /// Weights that sum to one.
    pub weights: Vec<f64>,
    /// Shape of the generalised Pareto tail of the raw weights; infinite if there is no finite weight.
    pub khat: f64,
}

/// Smooths the weights whose logarithms are given; a log weight of minus infinity or NaN is a weight of zero.
pub fn smooth(log_weights: &[f64]) -> Smoothed {
    let n = log_weights.len();
    let top = log_weights.iter().copied().filter(|x| !x.is_nan()).fold(f64::NEG_INFINITY, f64::max);
    if !top.is_finite() {
        return Smoothed { weights: vec![1.0 / n.max(1) as f64; n], khat: f64::INFINITY };
    }
    let mut weights: Vec<f64> =
        log_weights.iter().map(|x| if x.is_nan() { f64::NEG_INFINITY } else { x - top }).collect();
    exp(&mut weights);
    let tail = tail(n).ceil() as usize;
    let mut khat = f64::INFINITY;
    if tail >= 5 && tail < n {
        let (cutoff, order) = largest(&weights, tail);
        let excess: Vec<f64> = order.iter().map(|&i| weights[i] - cutoff).collect();
        let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
        // Weights that are all alike have no tail to fit.
        if 1.0 - least < 1e-9 || excess[tail - 1] <= 1e-12 {
            khat = 0.0;
        } else if let Some((k, sigma)) = pareto_fit(&excess) {
            khat = k;
            for (j, &i) in order.iter().enumerate() {
                let p = (j as f64 + 0.5) / tail as f64;
                weights[i] = (cutoff + pareto_quantile(p, k, sigma)).min(1.0);
            }
        }
    }
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= total);
    Smoothed { weights, khat }
}

/// Where so many of the largest weights stand, in ascending order, and the next one below them.
fn largest(weights: &[f64], count: usize) -> (f64, Vec<usize>) {
    let ascending = |a: &usize, b: &usize| weights[*a].total_cmp(&weights[*b]).then(a.cmp(b));
    let mut order: Vec<usize> = (0..weights.len()).collect();
    let (_, below, above) = order.select_nth_unstable_by(weights.len() - count - 1, ascending);
    above.sort_unstable_by(ascending);
    (weights[*below], above.to_vec())
}

/// How many of so many weights make the tail.
fn tail(draws: usize) -> f64 {
    (0.2 * draws as f64).min(3.0 * (draws as f64).sqrt())
}

/// The standard error of k̂ from so many draws: (1 + k) / √M for the M that are in the tail.
pub(in crate::infer) fn khat_error(khat: f64, draws: usize) -> f64 {
    (1.0 + khat) / tail(draws).sqrt()
}

fn pareto_quantile(p: f64, k: f64, sigma: f64) -> f64 {
    let t = -(-p).ln_1p();
    if k.abs() < 1e-12 { sigma * t } else { sigma * (k * t).exp_m1() / k }
}

/// Shape and scale of a generalised Pareto distribution from ascending positive values (Zhang and Stephens,
/// 2009), the shape drawn towards 0.5 as by ten observations.
fn pareto_fit(x: &[f64]) -> Option<(f64, f64)> {
    let n = x.len();
    let count = n as f64;
    let largest = *x.last()?;
    let quarter = x[((count / 4.0 + 0.5).floor() as usize).clamp(1, n) - 1].max(1e-300);
    let grid = 30 + count.sqrt().floor() as usize;
    let shape = |b: f64| sum(x, LogOneMinus(b)) / count;
    let candidates: Vec<(f64, f64)> = (1..=grid)
        .map(|j| {
            let b = 1.0 / largest + (1.0 - (grid as f64 / (j as f64 - 0.5)).sqrt()) / (3.0 * quarter);
            let k = shape(b);
            (b, count * ((-b / k).ln() - k - 1.0))
        })
        .filter(|(b, l)| b.is_finite() && l.is_finite())
        .collect();
    let top = candidates.iter().fold(f64::NEG_INFINITY, |t, c| t.max(c.1));
    let total: f64 = candidates.iter().map(|c| (c.1 - top).exp()).sum();
    let b = candidates.iter().map(|c| c.0 * (c.1 - top).exp()).sum::<f64>() / total;
    let raw = shape(b);
    let k = (count * raw + 5.0) / (count + 10.0);
    let sigma = -raw / b;
    (k.is_finite() && sigma.is_finite() && sigma > 0.0).then_some((k, sigma))
}

/// The effective number of draws with weights that sum to one.
pub(in crate::infer) fn effective(weights: &[f64]) -> f64 {
    weights.iter().map(|w| w * w).sum::<f64>().recip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stream::Stream;

    #[test]
    fn pareto_tails_give_back_their_shape() {
        for k in [0.2, 0.5, 0.9] {
            let mut stream = Stream::new(1, 1, 0);
            let logs: Vec<f64> = (0..40_000).map(|_| -k * stream.uniform().ln()).collect();
            let found = smooth(&logs).khat;
            assert!((found - k).abs() < 0.12, "{k} {found}");
        }
    }

    #[test]
    fn weights_sum_to_one_and_bad_draws_get_none() {
        let mut stream = Stream::new(2, 1, 0);
        let mut logs: Vec<f64> = (0..1000).map(|_| stream.normal()).collect();
        logs[3] = f64::NAN;
        logs[4] = f64::NEG_INFINITY;
        let out = smooth(&logs);
        assert!((out.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!((out.weights[3], out.weights[4]), (0.0, 0.0));
    }

    #[test]
    fn equal_weights_have_no_tail() {
        assert_eq!(smooth(&vec![-3.5; 500]).khat, 0.0);
    }
}
