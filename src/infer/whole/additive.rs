//! The best Gaussian by quadrature, where the log density is a sum of functions of affine forms.

use crate::infer::approximate::{gaussian, quadrature};
use crate::infer::fit::Path;
use crate::infer::gaussian::{Fitted, Gaussian};
use crate::infer::options::Options;
use crate::infer::progress::Ending;
use crate::infer::progress::{Error, Watch};
use crate::infer::search::modes as search_modes;
use crate::infer::whole::approach::{Approach, by_sampling, modes};
use crate::num::linalg::{dot, solve_lower};
use crate::target::Target;
use std::time::Instant;

/// A mode further from the mean, in standard deviations beside what the dimension makes usual, is another.
const ELSEWHERE: f64 = 3.0;

/// The best Gaussian: by quadrature where that is possible, or else modes, whitening and the Gaussian fit
/// from the best.
pub(in crate::infer) fn approach(
    target: &dyn Target,
    options: &Options,
    watch: Watch,
) -> Result<Approach, Error> {
    match without_sampling(target, options) {
        Some(found) => Ok(found),
        None => by_sampling(target, options, watch),
    }
}

/// The best Gaussian by quadrature, where the structure of the log density allows it.
pub(in crate::infer) fn without_sampling(target: &dyn Target, options: &Options) -> Option<Approach> {
    let (d, clock) = (target.dimension(), Instant::now());
    if d == 0 || d > options.dense {
        return None;
    }
    let solution = quadrature::solve(&target.separable()?, d)?;
    // Under a narrow Gaussian any function looks quadratic, and so concave: the graph alone proves that it
    // is.
    let proved = solution.quadratic && target.is_gaussian();
    let concave = proved || solution.concave && !solution.quadratic;
    if !concave && d <= search_modes::SEVERAL && has_other_modes(target, &solution.q, options) {
        return None;
    }
    let (path, ending) = if proved {
        (Path::Gaussian, Ending::Exact)
    } else if solution.gap <= options.tolerance {
        (Path::Quadrature, Ending::Converged)
    } else {
        (Path::Quadrature, Ending::Budget)
    };
    let fitted = Fitted {
        q: solution.q,
        gap: solution.gap,
        elbo: solution.elbo,
        elbo_se: 0.0,
        draws: usize::MAX,
        gradients: solution.evaluations,
        noise: 0.0,
        batch: gaussian::FIRST,
        ending,
    };
    Some(Approach { gradients: fitted.gradients, fitted, path, rivals: Vec::new(), clock })
}

/// Whether searches end at places that a Gaussian does not know of.
fn has_other_modes(target: &dyn Target, q: &Gaussian, options: &Options) -> bool {
    let d = q.mean.len();
    let factor = q.factor.dense(d);
    let is_other = |mode: &search_modes::Mode| {
        let mut away: Vec<f64> = mode.point.iter().zip(&q.mean).map(|(z, m)| z - m).collect();
        solve_lower(&factor, d, &mut away);
        dot(&away, &away).sqrt() > ELSEWHERE + (d as f64).sqrt()
    };
    modes(target, search_modes::others(target), options).is_ok_and(|found| {
        let apart =
            |a: &search_modes::Mode, b: &search_modes::Mode| a.distance(b).is_some_and(|far| far > ELSEWHERE);
        // A Gaussian over several modes is near each, and a good one for none.
        let several =
            found.modes.iter().enumerate().any(|(k, a)| found.modes[..k].iter().any(|b| apart(a, b)));
        several || found.modes.iter().any(is_other) || found.parts.iter().any(|part| is_other(&part.mode))
    })
}
