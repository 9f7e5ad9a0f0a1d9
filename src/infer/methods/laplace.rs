//! The Laplace approximation: the mode and the inverse of minus the Hessian there, on the unconstrained
//! scale.

use crate::infer::gaussian::Gaussian;
use crate::infer::methods::job::{Approximation, Error, Found, Job, Method};
use crate::infer::progress::Ending;
use crate::infer::progress::Error as NoFit;
use crate::infer::progress::Watch;
use crate::infer::search::{modes, whiten};
use crate::num::linalg::{dot, lower_transposed_product};
use crate::vi::Scale;

/// The row.
pub static ROW: Method = Method {
    name: "laplace",
    doc: "the mode, and the inverse of minus the Hessian there",
    tunable: false,
    run,
};

/// A point from which a Newton step gains less, in nats, is a mode.
const LITTLE: f64 = 1e-6;
/// A slope below this is level.
const LEVEL: f64 = 1e-4;

fn run(job: &Job, _: Watch) -> Result<Found, Error> {
    job.holds_a_matrix()?;
    let d = job.d;
    let mut evaluator = job.target.evaluator();
    let searched =
        modes::find(job.target, job.options, true, modes::others(job.target)).ok_or(NoFit::NoStart)?;
    let gradients = searched.gradients + searched.modes.len();
    let mut why = Error::NoMode;
    let mut best: Option<(Gaussian, f64)> = None;
    for mode in searched.modes {
        let (mut value, mut slope, mut local) = ([0.0], vec![0.0; d], vec![0.0; d]);
        evaluator.evaluate(&mode.point, 1, &mut value, &mut slope);
        let Some(c) = mode.curvature.and_then(|h| whiten::inverse_root(&h, d, f64::MIN_POSITIVE)) else {
            why = if dot(&slope, &slope).sqrt() < LEVEL { Error::Flat } else { why };
            continue;
        };
        lower_transposed_product(&c, &slope, [d, 1], &mut local);
        if !(0.5 * dot(&local, &local) < LITTLE) {
            continue;
        }
        let q = Gaussian { mean: mode.point, factor: Scale::Dense(c) };
        let mass = value[0] + q.factor.log_det(d);
        if best.as_ref().is_none_or(|b| mass > b.1) {
            best = Some((q, mass));
        }
    }
    let (q, _) = best.ok_or(why)?;
    Ok(Found::new(Approximation::Gaussian(q), gradients, Ending::Converged))
}
