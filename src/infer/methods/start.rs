//! Where the methods that move a Gaussian begin: at the best mode, with the curvature there, as the default fit does.

use super::super::gaussian::Gaussian;
use super::super::{Error as NoFit, mode, whiten};
use super::{Error, Job};

impl Job<'_> {
    /// The Gaussian that was given, or the one at the mode with the largest mass by Laplace's formula; and the gradients it
    /// took. With a full factor if `dense`.
    pub(super) fn start(&self, dense: bool) -> Result<(Gaussian, usize), Error> {
        if let Some(given) = &self.settings.start {
            return Ok((given.clone(), 0));
        }
        let mut evaluator = self.target.evaluator();
        let found = mode::find(&mut *evaluator, self.d, self.options.seed, dense).ok_or(NoFit::NoStart)?;
        let gradients = found.gradients + found.modes.len();
        let mut best: Option<(Gaussian, f64)> = None;
        for mode in found.modes {
            let mut value = [0.0];
            evaluator.log_density(&mode.point, 1, &mut value);
            let q = match dense {
                true => whiten::dense(mode.point, mode.curvature),
                false => whiten::diagonal(&mut *evaluator, mode.point),
            };
            let mass = value[0] + q.factor.log_det(self.d);
            if best.as_ref().is_none_or(|b| mass > b.1) {
                best = Some((q, mass));
            }
        }
        best.map(|b| (b.0, gradients)).ok_or(Error::NoMode)
    }
}
