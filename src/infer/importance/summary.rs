//! Means, standard deviations and quantiles of weighted draws.

use crate::infer::importance::errors::{Layout, errors, moments, tamed};

/// One reported quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
    /// Monte Carlo standard error of the mean.
    pub mcse: f64,
    /// 5 % quantile.
    pub q5: f64,
    /// Median.
    pub q50: f64,
    /// 95 % quantile.
    pub q95: f64,
}

/// What the weights change in a sample, added to the statistics of many more draws without weights; `error`
/// is that of the mean, in standard deviations. Where weights differ little, the sum is known far better than
/// the weighted sample itself.
pub(in crate::infer) fn shift(
    name: &str,
    values: &[f64],
    weights: &[f64],
    many: &[f64],
    error: f64,
) -> Output {
    let even = |n: usize| vec![1.0 / n as f64; n];
    let weighted = summarise(name, values, weights, error);
    let plain = summarise(name, values, &even(values.len()), error);
    let base = summarise(name, many, &even(many.len()), error);
    let usable = plain.sd > 0.0 && [plain.mean, plain.sd, base.mean, base.sd].iter().all(|x| x.is_finite());
    if !usable {
        return weighted;
    }
    let (least, most) =
        many.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |m, x| (m.0.min(*x), m.1.max(*x)));
    let moved = |of: fn(&Output) -> f64| (of(&weighted) + of(&base) - of(&plain)).clamp(least, most);
    let sd = weighted.sd * base.sd / plain.sd;
    Output {
        mean: moved(|o| o.mean),
        sd,
        mcse: error * sd,
        q5: moved(|o| o.q5),
        q50: moved(|o| o.q50),
        q95: moved(|o| o.q95),
        name: weighted.name,
    }
}

/// Summarises weighted draws.
pub(in crate::infer) fn of_draws(name: &str, values: &[f64], weights: &[f64], layout: Layout) -> Output {
    summarise(name, values, weights, errors(values, weights, layout, false).weighted[0])
}

/// Summarises values under weights that sum to one; `error` is that of the mean, in standard deviations.
pub(in crate::infer) fn summarise(name: &str, values: &[f64], weights: &[f64], error: f64) -> Output {
    let values = &tamed(values, weights)[..];
    if let Some(&x) = values.first().filter(|x| x.is_finite() && values.iter().all(|y| y == *x)) {
        // Weights sum to one but for rounding, which is no spread.
        return Output { name: name.to_string(), mean: x, sd: 0.0, mcse: 0.0, q5: x, q50: x, q95: x };
    }
    let (mean, variance) = moments(values, weights);
    let sd = variance.sqrt();
    let [q5, q50, q95] = quantiles(values, weights, [mean, sd], [0.05, 0.5, 0.95]);
    Output { name: name.to_string(), mean, sd, mcse: error * sd, q5, q50, q95 }
}

/// Bins that the values are thrown into, and how many standard deviations they cover on each side of the
/// mean.
const BINS: usize = 1024;
const REACH: f64 = 6.0;

/// Quantiles by linear interpolation between the midpoints of the steps of the weighted distribution
/// function. Values are thrown into bins first, so that only those near a quantile are sorted.
fn quantiles<const N: usize>(
    values: &[f64],
    weights: &[f64],
    [mean, sd]: [f64; 2],
    at: [f64; N],
) -> [f64; N] {
    if sd == 0.0 {
        return [mean; N];
    }
    if !sd.is_finite() || !mean.is_finite() {
        // Infinite values have their place in the order; what is no number has none.
        if values.iter().any(|x| x.is_nan()) {
            return [f64::NAN; N];
        }
        let mut all: Vec<(f64, f64)> = values.iter().copied().zip(weights.iter().copied()).collect();
        all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        return at.map(|p| quantile(&all, 0.0, p));
    }
    let (scale, centre) = (0.5 * BINS as f64 / (REACH * sd), 0.5 * BINS as f64);
    let bin = |x: &f64| ((x - mean) * scale + centre).clamp(0.0, (BINS - 1) as f64) as u16;
    let bins: Vec<u16> = values.iter().map(bin).collect();
    let (mut mass, mut count) = (vec![0.0; BINS], vec![0_usize; BINS]);
    for (k, w) in bins.iter().zip(weights) {
        mass[usize::from(*k)] += w;
        count[usize::from(*k)] += 1;
    }
    // For each quantile the bins that take part, with one value on each side, and the mass below them.
    let ranges = at.map(|p| {
        let (mut below, mut k) = (0.0, 0);
        while k + 1 < BINS && below + mass[k] < p {
            below += mass[k];
            k += 1;
        }
        let first = (0..k).rev().find(|&j| count[j] > 0).unwrap_or(k);
        let last = (k + 1..BINS).find(|&j| count[j] > 0).unwrap_or(k);
        (first, last, below - mass[first..k].iter().sum::<f64>())
    });
    let wanted: Vec<bool> = (0..BINS).map(|k| ranges.iter().any(|r| (r.0..=r.1).contains(&k))).collect();
    let mut near: [Vec<(f64, f64)>; N] = std::array::from_fn(|_| Vec::new());
    for (place, k) in bins.iter().enumerate().filter(|(_, k)| wanted[usize::from(**k)]) {
        for (near, (first, last, _)) in near.iter_mut().zip(&ranges) {
            if (*first..=*last).contains(&usize::from(*k)) {
                near.push((values[place], weights[place]));
            }
        }
    }
    std::array::from_fn(|i| {
        near[i].sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        quantile(&near[i], ranges[i].2, at[i])
    })
}

/// The quantile among sorted values with their weights, where `below` is the weight of all that are not
/// listed below them.
fn quantile(near: &[(f64, f64)], mut below: f64, p: f64) -> f64 {
    let mut before = None::<(f64, f64)>;
    for &(x, w) in near {
        let middle = below + 0.5 * w;
        below += w;
        if middle >= p {
            return match before {
                Some((q, y)) if middle > q && x != y => y + (x - y) * (p - q) / (middle - q),
                _ => x,
            };
        }
        before = Some((middle, x));
    }
    near.last().map_or(f64::NAN, |v| v.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_weight_may_be_anything() {
        let values = [1.0, 3.0, f64::NAN, f64::INFINITY, 1e200];
        let out = summarise("x", &values, &[0.5, 0.5, 0.0, 1e-30, 0.0], 1.0);
        assert_eq!((out.mean, out.sd), (2.0, 1.0));
        let weighty = summarise("x", &values, &[0.2; 5], 1.0);
        assert!(weighty.mean.is_nan());
    }

    #[test]
    fn equal_weights_give_the_plain_statistics() {
        let values: Vec<f64> = (0..1001).map(|i| f64::from((i * 387) % 1001)).collect();
        let weights = vec![1.0 / 1001.0; 1001];
        let out = summarise("x", &values, &weights, 1.0);
        assert!((out.mean - 500.0).abs() < 1e-9 && (out.q50 - 500.0).abs() < 1e-6);
        assert!((out.q5 - 49.55).abs() < 0.01 && (out.q95 - 950.45).abs() < 0.01);
        assert!((out.sd - (1001.0_f64.powi(2) / 12.0).sqrt()).abs() < 0.01);
    }

    /// Draws of a standard normal with weights that make them those of a normal with mean 0.1: the statistics
    /// are within the errors stated, and those are a small part of what the weighted draws alone would have.
    #[test]
    fn a_small_difference_is_known_well() {
        let mut stream = crate::num::stream::Stream::new(3, 1, 1);
        let many: Vec<f64> = (0..65_536).map(|_| crate::num::special::inv_phi(stream.uniform())).collect();
        let values = &many[..1024];
        let raw: Vec<f64> = values.iter().map(|x| (0.1 * x - 0.005).exp()).collect();
        let total: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.iter().map(|w| w / total).collect();
        let errors = errors(values, &weights, Layout::INDEPENDENT, true);
        let [mean, log_sd, _] = errors.shifted(64.0);
        assert!(mean < 0.3 * errors.weighted[0] && log_sd < 0.3 * errors.weighted[1]);
        let out = shift("x", values, &weights, &many, mean);
        assert!((out.mean - 0.1).abs() < 3.0 * mean && out.sd.ln().abs() < 3.0 * log_sd, "{out:?}");
        for (found, q) in [(out.q5, -1.544_85), (out.q50, 0.1), (out.q95, 1.744_85)] {
            assert!((found - q).abs() < 0.05, "{found} {q}");
        }
    }

    #[test]
    fn what_does_not_vary_has_no_spread() {
        let out = summarise("x", &[0.3; 49], &[1.0 / 49.0; 49], 1.0);
        assert_eq!((out.mean, out.sd, out.mcse, out.q5, out.q95), (0.3, 0.0, 0.0, 0.3, 0.3));
    }

    #[test]
    fn a_weight_counts_like_repeated_draws() {
        let out = summarise("x", &[1.0, 2.0, 5.0], &[0.25, 0.5, 0.25], 1.0);
        assert!((out.mean - 2.5).abs() < 1e-12 && (out.sd - 2.25_f64.sqrt()).abs() < 1e-12);
        assert_eq!(out.q50, 2.0);
    }
}
