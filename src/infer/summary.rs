//! Means, standard deviations and quantiles of weighted draws.

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

/// What a weighted sample is worth for one quantity: standard errors of its mean and of the logarithm of its standard
/// deviation, both in standard deviations.
pub(super) fn errors(values: &[f64], weights: &[f64]) -> [f64; 2] {
    let mean: f64 = values.iter().zip(weights).map(|(x, w)| w * x).sum();
    let square = |x: f64| (x - mean) * (x - mean);
    let variance: f64 = values.iter().zip(weights).map(|(x, w)| w * square(*x)).sum();
    let (mut first, mut second) = (0.0, 0.0);
    for (x, w) in values.iter().zip(weights) {
        let s = square(*x);
        first += w * w * s;
        second += w * w * (s - variance) * (s - variance);
    }
    [(first / variance).sqrt(), 0.5 * second.sqrt() / variance]
}

/// Summarises values under weights that sum to one; `inflation` multiplies the standard error.
pub(super) fn summarise(name: &str, values: &[f64], weights: &[f64], inflation: f64) -> Output {
    let mean: f64 = values.iter().zip(weights).map(|(x, w)| w * x).sum();
    let square = |x: f64| (x - mean) * (x - mean);
    let variance: f64 = values.iter().zip(weights).map(|(x, w)| w * square(*x)).sum();
    let error: f64 = values.iter().zip(weights).map(|(x, w)| w * w * square(*x)).sum();
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]).then(a.cmp(&b)));
    let [q5, q50, q95] = quantiles(values, weights, &order, [0.05, 0.5, 0.95]);
    Output { name: name.to_string(), mean, sd: variance.sqrt(), mcse: inflation * error.sqrt(), q5, q50, q95 }
}

/// Quantiles by linear interpolation between the midpoints of the steps of the weighted distribution function.
fn quantiles<const N: usize>(values: &[f64], weights: &[f64], order: &[u32], at: [f64; N]) -> [f64; N] {
    let mut out = [f64::NAN; N];
    let mut next = 0;
    let (mut below, mut before) = (0.0, None::<(f64, f64)>);
    for i in order.iter().map(|&i| i as usize) {
        let middle = below + 0.5 * weights[i];
        below += weights[i];
        while next < N && middle >= at[next] {
            out[next] = match before {
                Some((p, x)) if middle > p => x + (values[i] - x) * (at[next] - p) / (middle - p),
                _ => values[i],
            };
            next += 1;
        }
        before = Some((middle, values[i]));
    }
    out[next..].fill(order.last().map_or(f64::NAN, |&i| values[i as usize]));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_weights_give_the_plain_statistics() {
        let values: Vec<f64> = (0..1001).map(|i| f64::from((i * 387) % 1001)).collect();
        let weights = vec![1.0 / 1001.0; 1001];
        let out = summarise("x", &values, &weights, 1.0);
        assert!((out.mean - 500.0).abs() < 1e-9 && (out.q50 - 500.0).abs() < 1e-6);
        assert!((out.q5 - 49.55).abs() < 0.01 && (out.q95 - 950.45).abs() < 0.01);
        assert!((out.sd - (1001.0_f64.powi(2) / 12.0).sqrt()).abs() < 0.01);
    }

    #[test]
    fn a_weight_counts_like_repeated_draws() {
        let out = summarise("x", &[1.0, 2.0, 5.0], &[0.25, 0.5, 0.25], 1.0);
        assert!((out.mean - 2.5).abs() < 1e-12 && (out.sd - 2.25_f64.sqrt()).abs() < 1e-12);
        assert_eq!(out.q50, 2.0);
    }
}
