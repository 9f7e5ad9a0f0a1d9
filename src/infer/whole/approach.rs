//! The best Gaussian for all coordinates together, and other modes that matter.

use crate::infer::approximate::gaussian;
use crate::infer::attempt::Rule;
use crate::infer::fit::Path;
use crate::infer::gaussian::{Fitted, Gaussian};
use crate::infer::options::Options;
use crate::infer::policy::Policy;
use crate::infer::progress::{Ending, Error, Watch};
use crate::infer::search::rivals::Rival;
use crate::infer::search::{modes as search_modes, whiten};
use crate::infer::whole::polish::polished;
use crate::num::real::LN_2PI;
use crate::target::Target;
use std::ops::ControlFlow;
use std::time::Instant;

/// Gradients of a fit that decides between starts.
const SHORT: usize = 2000;

/// A fitted Gaussian with what was seen on the way.
#[derive(Clone)]
pub(in crate::infer) struct Approach {
    pub(in crate::infer) fitted: Fitted,
    pub(in crate::infer) path: Path,
    pub(in crate::infer) gradients: usize,
    /// Other modes that matter.
    pub(in crate::infer) rivals: Vec<Rival>,
    /// When the search for it began.
    pub(in crate::infer) clock: Instant,
}

/// The best Gaussian by modes, whitening and the Gaussian fit from the best: where the structure of the log
/// density does not help.
pub(in crate::infer) fn by_sampling(
    target: &dyn Target,
    options: &Options,
    watch: Watch,
) -> Result<Approach, Error> {
    if target.dimension() == 0 {
        return Err(Error::NoParameters);
    }
    let clock = Instant::now();
    let found = from_modes(target, modes(target, search_modes::others(target), options)?, options, watch)?;
    let gradients = found.gradients - found.fitted.gradients;
    let fitted = polished(target, found.fitted, options);
    Ok(Approach { gradients: gradients + fitted.gradients, fitted, clock, ..found })
}

/// Where searches for a mode end, from the origin and from so many random points.
pub(in crate::infer) fn modes(
    target: &dyn Target,
    others: u64,
    options: &Options,
) -> Result<search_modes::Modes, Error> {
    let others = if options.follows(Rule::OtherModes) { others } else { 0 };
    search_modes::find(target, options, target.dimension() <= options.dense, others).ok_or(Error::NoStart)
}

/// Whitening at each mode and the Gaussian fit from the best.
pub(in crate::infer) fn from_modes(
    target: &dyn Target,
    found: search_modes::Modes,
    options: &Options,
    watch: Watch,
) -> Result<Approach, Error> {
    let clock = Instant::now();
    let dense = target.dimension() <= options.dense;
    let mut evaluator = target.evaluator();
    let mut gradients = found.gradients;
    let mut starts: Vec<Gaussian> = Vec::new();
    for mode in found.modes {
        starts.push(if dense {
            whiten::dense(mode.point, mode.curvature)
        } else {
            whiten::diagonal(&mut *evaluator, mode.point)
        });
    }
    let (start, batch, mut rivals) =
        best_start(target, starts, !found.parts.is_empty(), options, &mut gradients)?;
    rivals.extend(of_parts(target, &start, found.parts, &rivals, &options.policy));
    // Of more than a mixture can hold those are left out that matter least; that there are so many is told.
    rivals.sort_by(|a, b| b.importance.total_cmp(&a.importance));
    let fitted = refine(target, start.0, batch, options, watch)?;
    gradients += fitted.gradients;
    Ok(Approach { fitted, path: Path::Variational, gradients, rivals, clock })
}

/// The parts of a mixture that matter beside what was found, without those that were: by their own curvature,
/// for a part may have mass where the sum has no mode.
fn of_parts(
    target: &dyn Target,
    start: &(Gaussian, f64),
    parts: Vec<search_modes::Part>,
    known: &[Rival],
    policy: &Policy,
) -> Vec<Rival> {
    let constant = 0.5 * start.0.mean.len() as f64 * LN_2PI;
    let mut new: Vec<Rival> = Vec::new();
    for part in parts {
        let q = whiten::dense(part.mode.point, part.mode.curvature);
        let behind = (start.1 - part.log_mass - constant).max(0.0);
        if let Some(rival) = Rival::of_part(target, &start.0, q, behind, policy)
            && known.iter().chain(&new).all(|other| rival.differs(other))
        {
            new.push(rival);
        }
    }
    new
}

/// Of several starts the one that a short fit takes furthest, with its ELBO, and the others that ended
/// elsewhere and matter. A single one is not fitted, if nothing is to be compared with it.
fn best_start(
    target: &dyn Target,
    mut starts: Vec<Gaussian>,
    compared: bool,
    options: &Options,
    gradients: &mut usize,
) -> Result<((Gaussian, f64), usize, Vec<Rival>), Error> {
    if starts.len() == 1
        && !compared
        && let Some(only) = starts.pop()
    {
        return Ok(((only, f64::NAN), gaussian::FIRST, Vec::new()));
    }
    let short = Options { tolerance: 0.5, gradients: Some(SHORT), ..options.clone() };
    let mut tried: Vec<Fitted> = Vec::new();
    for start in starts {
        if options.stop.requested() && !tried.is_empty() {
            break;
        }
        if let Ok(fitted) = refine(target, start, gaussian::FIRST, &short, &mut |_| ControlFlow::Continue(()))
        {
            *gradients += fitted.gradients;
            tried.push(fitted);
        }
    }
    tried.sort_by(|a, b| b.elbo.total_cmp(&a.elbo));
    let mut tried = tried.into_iter();
    let best = tried.next().ok_or(Error::NoNeighbourhood)?;
    let rivals = tried.filter_map(|other| Rival::new(target, &best, other, &options.policy)).collect();
    Ok(((best.q, best.elbo), best.batch, rivals))
}

/// The Gaussian fit from a start, with batches of this size.
pub(in crate::infer) fn refine(
    target: &dyn Target,
    start: Gaussian,
    batch: usize,
    options: &Options,
    watch: Watch,
) -> Result<Fitted, Error> {
    let limits = gaussian::Limits {
        seed: options.seed,
        tolerance: options.tolerance,
        gradients: options.gradients.unwrap_or((400 * start.mean.len()).clamp(20_000, 100_000)),
        batch,
        stop: options.stop.clone(),
    };
    let fitted = gaussian::fit(target, start, &limits, watch).ok_or(Error::NoNeighbourhood)?;
    // A density may be Gaussian wherever draws come, and have another mode elsewhere: only the graph proves
    // that it is Gaussian.
    let unproved = fitted.ending == Ending::Exact && !target.is_gaussian();
    Ok(if unproved { Fitted { ending: Ending::Converged, ..fitted } } else { fitted })
}
