//! Multi-path Pathfinder: several paths from different starts; their draws together, weighted and smoothed.

use crate::infer::finding::Finding;
use crate::infer::methods::job::{Approximation, Error, Found, Job, Method};
use crate::infer::methods::pathfinder::path;
use crate::infer::progress::Ending;
use crate::infer::progress::Watch;
use crate::infer::progress::{Error as NoFit, Progress};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// The row.
pub static ROW: Method = Method {
    name: "multi-pathfinder",
    doc: "eight Pathfinder paths from different starts, a mixture of their Gaussians, importance-weighted",
    tunable: false,
    run,
};

/// Paths.
const PATHS: u64 = 8;
/// Paths that are followed before the watcher is asked again.
const TOGETHER: u64 = 4;

fn run(job: &Job, watch: Watch) -> Result<Found, Error> {
    let (mut parts, mut gradients, mut ending) = (Vec::new(), 0, Ending::Converged);
    let mut why = Error::Start(NoFit::NoStart);
    for first in (0..PATHS).step_by(TOGETHER as usize) {
        let alone = |index: u64| path(job, index, &mut |_| ControlFlow::Continue(()));
        let paths: Vec<_> = (first..first + TOGETHER).into_par_iter().map(alone).collect();
        for path in paths {
            match path {
                Ok(path) => {
                    gradients += path.gradients;
                    parts.push(path.q);
                }
                Err(error) => why = error,
            }
        }
        let progress =
            Progress { iteration: first, gradients, elbo: f64::NAN, elbo_se: f64::NAN, gap_nats: f64::NAN };
        if watch(&progress).is_break() && first + TOGETHER < PATHS {
            ending = Ending::Stopped;
            break;
        }
    }
    if parts.is_empty() {
        return Err(why);
    }
    let lost = if ending == Ending::Stopped { 0 } else { PATHS as usize - parts.len() };
    let mut found = Found::new(Approximation::Mixture(parts), gradients, ending);
    if lost > 0 {
        found.findings.push(Finding::LostPaths { lost, of: PATHS as usize });
    }
    Ok(found)
}
