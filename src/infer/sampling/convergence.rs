//! How well chains agree, and how many independent draws theirs are worth.

/// R-hat of split chains and the effective number of draws, for the values of one quantity, chain by chain.
pub(in crate::infer) fn convergence(chains: &[Vec<f64>]) -> (f64, f64) {
    let halves: Vec<&[f64]> = chains.iter().flat_map(|c| c.chunks_exact(c.len() / 2)).collect();
    let (m, n) = (halves.len() as f64, halves.first().map_or(0, |h| h.len()));
    let count = n as f64;
    let means: Vec<f64> = halves.iter().map(|h| h.iter().sum::<f64>() / count).collect();
    let lagged = |lag: usize| -> f64 {
        let one = |(h, mean): (&&[f64], &f64)| {
            h[lag..].iter().zip(h.iter()).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / count
        };
        halves.iter().zip(&means).map(one).sum::<f64>() / m
    };
    let grand = means.iter().sum::<f64>() / m;
    let within = lagged(0) * count / (count - 1.0);
    let between = means.iter().map(|x| (x - grand).powi(2)).sum::<f64>() / (m - 1.0);
    let whole = within * (count - 1.0) / count + between;
    let rhat = (whole / within).sqrt();
    // Geyer's initial monotone sequence of sums of neighbouring autocorrelations.
    let correlation = |lag: usize| 1.0 - (within - lagged(lag)) / whole;
    let (mut sum, mut last, mut lag) = (0.0, f64::INFINITY, 0);
    while lag + 1 < n {
        let pair = if lag == 0 { 1.0 + correlation(1) } else { correlation(lag) + correlation(lag + 1) };
        if !(pair > 0.0) {
            break;
        }
        last = pair.min(last);
        sum += last;
        lag += 2;
    }
    let time = (2.0 * sum - 1.0).max(1.0 / (m * count).log10());
    (rhat, m * count / time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stream::Stream;

    #[test]
    fn independent_draws_count_in_full() {
        let mut stream = Stream::new(4, 4, 4);
        let chains: Vec<Vec<f64>> = (0..4).map(|_| (0..1000).map(|_| stream.normal()).collect()).collect();
        let (rhat, size) = convergence(&chains);
        assert!((rhat - 1.0).abs() < 0.01 && size > 2500.0, "{rhat} {size}");
    }
}
