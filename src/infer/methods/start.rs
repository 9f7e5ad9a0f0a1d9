//! Where the methods that move a Gaussian begin: at the best mode, with the curvature there, as the default
//! fit does.

use crate::infer::gaussian::Gaussian;
use crate::infer::methods::batch::at_draws;
use crate::infer::methods::job::{Error, Job};
use crate::infer::methods::pathfinder::path;
use crate::infer::progress::Error as NoFit;
use crate::infer::search::{modes, whiten};
use crate::num::real::LN_2PI;
use crate::num::stream::Stream;
use crate::vi::Scale;
use std::ops::ControlFlow;

/// Who draws: looks at a start.
const PURPOSE: u64 = 0x7374_6172;
/// Draws of a look.
const LOOK: usize = 32;
/// A start whose ELBO is further below Laplace's formula, in nats and in nats for each coordinate, is a poor
/// one.
const BROKEN: [f64; 2] = [5.0, 0.5];

impl Job<'_> {
    /// The Gaussian that was given, or the one at the mode with the largest mass by Laplace's formula; where
    /// that formula promises what draws do not hold (a slope that runs off has no mode), the best along a
    /// Pathfinder path if that is better. And the gradients it took. With a full factor if `dense`.
    pub(super) fn start(&self, dense: bool) -> Result<(Gaussian, usize), Error> {
        if let Some(given) = &self.settings.start {
            return Ok((given.clone(), 0));
        }
        let d = self.d;
        let mut evaluator = self.target.evaluator();
        let found = modes::find(self.target, self.options, dense, modes::others(self.target))
            .ok_or(NoFit::NoStart)?;
        let mut gradients = found.gradients + found.modes.len() + LOOK;
        let mut best: Option<(Gaussian, f64)> = None;
        for mode in found.modes {
            let mut value = [0.0];
            evaluator.log_density(&mode.point, 1, &mut value);
            let q = match dense {
                true => whiten::dense(mode.point, mode.curvature),
                false => whiten::diagonal(&mut *evaluator, mode.point),
            };
            let mass = value[0] + q.factor.log_det(d) + 0.5 * d as f64 * LN_2PI;
            if best.as_ref().is_none_or(|b| mass > b.1) {
                best = Some((q, mass));
            }
        }
        let (q, promised) = best.ok_or(Error::NoMode)?;
        let held = self.look(&q);
        if held >= promised - BROKEN[0] - BROKEN[1] * d as f64 {
            return Ok((q, gradients));
        }
        let Ok(other) = path(self, 0, &mut |_| ControlFlow::Continue(())) else { return Ok((q, gradients)) };
        gradients += other.gradients + LOOK;
        let full = if dense { other.q.dense() } else { None };
        let other = full.unwrap_or_else(|| Gaussian {
            factor: Scale::Diagonal(other.q.deviations()),
            mean: other.q.mean.clone(),
        });
        Ok((if self.look(&other) > held { other } else { q }, gradients))
    }

    /// The ELBO of a Gaussian by a few draws.
    fn look(&self, q: &Gaussian) -> f64 {
        let stream = Stream::new(self.options.seed, PURPOSE, 0);
        at_draws(self.target, q, stream, LOOK).map_or(f64::NEG_INFINITY, |b| b.elbo.mean)
    }
}
