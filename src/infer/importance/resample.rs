//! Draws without weights from draws with weights.

use crate::num::stream::Stream;

/// Who draws: the order of what was taken.
const PURPOSE: u64 = 0x6d69_7865;

/// Positions of `count` draws, each as often as its share of the weight says, to within one: systematic
/// resampling. The order is mixed, so that any part of the result is as good as any other.
pub(in crate::infer) fn systematic(weights: &[f64], count: usize) -> Vec<usize> {
    let total: f64 = weights.iter().sum();
    let mut chosen = Vec::with_capacity(count);
    let (mut sum, mut next) = (0.0, 0);
    for (i, w) in weights.iter().enumerate() {
        sum += w / total;
        while next < count && (next as f64 + 0.5) / (count as f64) < sum {
            chosen.push(i);
            next += 1;
        }
    }
    Stream::new(0, PURPOSE, count as u64).shuffle(&mut chosen);
    chosen
}

#[cfg(test)]
mod tests {
    use crate::infer::importance::resample::systematic;

    #[test]
    fn each_draw_comes_as_often_as_its_weight_says() {
        let weights = [0.1, 0.0, 0.55, 0.35];
        let chosen = systematic(&weights, 100);
        for (i, w) in weights.iter().enumerate() {
            let times = chosen.iter().filter(|&&c| c == i).count() as f64;
            assert!((times - 100.0 * w).abs() <= 1.0, "{i}: {times}");
        }
    }
}
