//! A nested fit of a model without its bounds on latents: what lies beyond them gets no weight.

use crate::infer::finding::Finding;
use crate::infer::fit::Fit;
use crate::infer::nested;
use crate::infer::nested::Ways;
use crate::infer::options::Options;
use crate::infer::policy::KHAT_LIMIT;
use crate::infer::progress::Watch;
use crate::lower::Unbounded;
use crate::target::ModelTarget;

/// The model as it is then, and the parameters that it is about.
pub(super) struct WithoutBounds {
    target: ModelTarget,
    names: Vec<String>,
}

impl WithoutBounds {
    /// From a model lowered without bounds.
    pub(super) fn new(unbounded: Unbounded) -> WithoutBounds {
        let Unbounded { lowered, limits, names } = unbounded;
        WithoutBounds { target: ModelTarget::from_lowered(lowered).within(limits), names }
    }

    /// The nested fit, if it can be relied on.
    pub(super) fn fit(self, options: &Options, watch: Watch) -> Option<Fit> {
        let fit = nested::fit(&self.target, Ways::Promising, options, watch).fit?;
        let serves = fit.khat < KHAT_LIMIT && !fit.is_doubtful();
        serves.then(|| fit.noting([Finding::BoundsLeftOut { names: self.names }]))
    }
}

#[cfg(test)]
mod tests {
    use crate::data::Dataset;
    use crate::infer::{Model, Options, fit_model};
    use crate::num::special::phi;
    use crate::target::ModelTarget;
    use std::ops::ControlFlow;

    const Y: [f64; 9] = [0.9, -0.4, 0.2, -1.1, 0.6, 0.1, -0.7, 1.3, -0.2];
    const ENDS: [f64; 2] = [-1.2, 1.5];

    /// What follows from the scale s alone: its density, and the mean of the first latent given it.
    fn given_scale(s: f64) -> [f64; 2] {
        let (noise, mut log, mut first) = (0.25, -0.5 * s * s, f64::NAN);
        for (i, y) in Y.iter().enumerate() {
            let both = s * s + noise;
            let (mean, sd) = (y * s * s / both, s * (noise / both).sqrt());
            let [low, high] = ENDS.map(|end| (end - mean) / sd);
            let inside = phi(high) - phi(low);
            log += inside.ln() - 0.5 * (y * y / both + both.ln());
            if i == 0 {
                let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
                first = mean + sd * (density(low) - density(high)) / inside;
            }
        }
        [log.exp(), first]
    }

    /// Latents between ends that a part of the Gaussian lies beyond, against a sum over the scale: given it,
    /// they are truncated normals.
    #[test]
    fn what_lies_beyond_bounds_has_no_weight() {
        let text = "data { y : real[T] }\nparam s ~ half_normal(1)\n\
                    param mu[T] : real in (-1.2, 1.5) ~ normal(0, s)\ny ~ normal(mu, 0.5)";
        let rows: String = Y.iter().map(|y| format!("{y}\n")).collect();
        let data = Dataset::from_texts(&[("data.csv", &format!("y\n{rows}"))]).unwrap();
        let program = crate::syntax::parse(text).unwrap();
        let model = Model { program: &program, source: text, data: &data };
        let declared = ModelTarget::new(text, &data).unwrap();
        let fit =
            fit_model(&model, &declared, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(fit.has("bounds-left-out") && !fit.is_doubtful(), "{:?}", fit.findings);
        assert!(fit.elbo < fit.log_evidence + 3.0 * fit.elbo_se, "{} {}", fit.elbo, fit.log_evidence);
        let mut sums = [0.0; 4];
        for k in 0..4000 {
            let s = 0.001 * (f64::from(k) + 0.5);
            let [density, first] = given_scale(s);
            for (sum, x) in sums.iter_mut().zip([1.0, s, s * s, first]) {
                *sum += density * x;
            }
        }
        let (mean, first) = (sums[1] / sums[0], sums[3] / sums[0]);
        let sd = (sums[2] / sums[0] - mean * mean).sqrt();
        let (s, mu) = (&fit.outputs[0], &fit.outputs[1]);
        assert!((s.mean - mean).abs() < 0.03 * sd && (s.sd / sd).ln().abs() < 0.03, "{s:?}: {mean} {sd}");
        assert!((mu.mean - first).abs() < 0.03 * mu.sd, "{mu:?}: {first}");
    }
}
