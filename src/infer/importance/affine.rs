//! Quantities that are affine in the coordinates: under a Gaussian their means, standard deviations and
//! quantiles are known without draws.

use crate::infer::gaussian::Gaussian;
use crate::infer::importance::errors::OUTER;
use crate::infer::importance::summary::Output;
use crate::num::linalg::dot;
use crate::num::stream::Stream;
use crate::target::Target;

/// Who draws: points at which it is seen what is affine.
const PURPOSE: u64 = 0x6166_6669;
/// How many, and how much further out than draws they lie: what bends, bends there.
const CHECKS: usize = 4;
const WIDER: f64 = 4.0;
/// A difference below this share of what it is the difference of is rounding.
const ROUNDING: f64 = 1e-9;
/// Most numbers computed for this.
const MOST: usize = 4_000_000;

/// For each output its summary under a Gaussian, if it is affine in the coordinates.
pub(in crate::infer) fn summaries(
    target: &dyn Target,
    q: &Gaussian,
    names: &[String],
    seed: u64,
) -> Vec<Option<Output>> {
    let d = q.mean.len();
    let count = 1 + d + CHECKS;
    if count * names.len().max(d) > MOST {
        return vec![None; names.len()];
    }
    // The mean, a step along each column of the factor, and then a few random points.
    let mut stream = Stream::new(seed, PURPOSE, 0);
    let checks: Vec<Vec<f64>> =
        (0..CHECKS).map(|_| (0..d).map(|_| WIDER * stream.normal()).collect()).collect();
    let factor = q.factor.dense(d);
    let mut points = vec![0.0; d * count];
    for (i, row) in points.chunks_exact_mut(count).enumerate() {
        let factors = &factor[i * d..(i + 1) * d];
        row.fill(q.mean[i]);
        row[1..=d].iter_mut().zip(factors).for_each(|(x, c)| *x += c);
        row[d + 1..].iter_mut().zip(&checks).for_each(|(x, w)| *x += dot(factors, w));
    }
    let values = target.constrain_batch(&points, count);
    let of = |(values, name): (&[f64], &String)| {
        let steps: Vec<f64> = values[1..=d].iter().map(|x| x - values[0]).collect();
        let is_affine = checks.iter().zip(&values[d + 1..]).all(|(w, value)| {
            let size: f64 = values[0].abs() + steps.iter().zip(w).map(|(s, w)| (s * w).abs()).sum::<f64>();
            (values[0] + dot(&steps, w) - value).abs() <= ROUNDING * size
        });
        is_affine.then(|| normal(name, values[0], dot(&steps, &steps).sqrt()))
    };
    values.chunks_exact(count).zip(names).map(of).collect()
}

/// A quantity with a normal distribution.
fn normal(name: &str, mean: f64, sd: f64) -> Output {
    let [q5, q95] = [mean - OUTER * sd, mean + OUTER * sd];
    Output { name: name.into(), mean, sd, mcse: 0.0, q5, q50: mean, q95 }
}

#[cfg(test)]
mod tests {
    use crate::data::Dataset;
    use crate::infer::{Options, Path, fit};
    use crate::target::ModelTarget;
    use std::ops::ControlFlow;

    /// The mean of seven numbers: normal with a precision of 1 + 7. What is affine in it has no Monte Carlo
    /// error, and all else has.
    #[test]
    fn a_gaussian_posterior_is_told_without_errors() {
        let data = Dataset::from_texts(&[("data.csv", "y\n1\n2\n4\n0\n-1\n3\n5\n")]).unwrap();
        let text = "data { y : real[N] }\nparam a ~ normal(0, 1)\nderive b = 1 - 3 * a\nderive c = a^2\ny ~ normal(a, 1)";
        let target = ModelTarget::new(text, &data).unwrap();
        let fit = fit(&target, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(fit.path, Path::Gaussian);
        let (mean, sd) = (14.0 / 8.0, 8.0_f64.sqrt().recip());
        for outputs in [&fit.outputs, &fit.gaussian] {
            for (output, [mean, sd]) in outputs.iter().zip([[mean, sd], [1.0 - 3.0 * mean, 3.0 * sd]]) {
                let far = [output.mean - mean, output.sd - sd, output.q95 - mean - 1.644_853_626_951 * sd];
                assert!(far.iter().all(|x| x.abs() < 1e-11) && output.mcse == 0.0, "{output:?}");
            }
        }
        let square = &fit.outputs[2];
        assert!(
            square.mcse > 0.0 && (square.mean - mean * mean - sd * sd).abs() < 0.01 * square.sd,
            "{square:?}"
        );
        assert!(
            (square.sd / (sd * (4.0 * mean * mean + 2.0 * sd * sd).sqrt())).ln().abs() < 0.01,
            "{square:?}"
        );
    }
}
