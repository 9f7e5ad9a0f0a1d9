//! The loop: draw, differentiate, step, prox or project, average.

use super::Error;
use super::batch::Problem;
use super::method::Config;
use super::run::{Progress, Run};
use super::state::State;
use super::subsample::{Shuffle, Subsample};
use crate::target::Target;
use std::ops::ControlFlow;

/// Called after each step; `Break` ends the fit, which then answers with what it has.
pub type Watch<'a> = dyn FnMut(&Progress<'_>) -> ControlFlow<()> + 'a;

/// Fits a target.
pub fn fit(target: &dyn Target, config: &Config, watch: &mut Watch<'_>) -> Result<Run, Error> {
    run(Problem::Whole(target), None, config, watch)
}

/// Fits a target from `size` of its observations a step. The ELBO at the end is over all of them.
///
/// The noise bounds grow by a factor between 1 and N that depends on the data, and the one for STL is not
/// known to carry over, so step rules of theorems have no guarantee here.
pub fn fit_subsampled(
    target: &dyn Subsample,
    size: usize,
    config: &Config,
    watch: &mut Watch<'_>,
) -> Result<Run, Error> {
    let observations = target.observations();
    if size == 0 || size > observations {
        let expected = format!("between 1 and the number of observations, {observations}");
        return Err(Error::Configuration {
            field: "the size of the sub-sample",
            expected,
            found: size.to_string(),
        });
    }
    let shuffle = Shuffle::new(config.seed, observations, size);
    run(Problem::Part(target), Some(shuffle), config, watch)
}

fn run(
    problem: Problem<'_>,
    mut shuffle: Option<Shuffle>,
    config: &Config,
    watch: &mut Watch<'_>,
) -> Result<Run, Error> {
    let mut state = State::new(problem, config)?;
    state.widen(shuffle.as_mut().map_or(&[][..], |s| s.rows(0)));
    let mut stopped = false;
    for t in 0..config.steps {
        let rows = shuffle.as_mut().map_or(&[][..], |s| s.rows(t));
        state.step(t, rows)?;
        state.record(t + 1);
        if watch(&state.progress(t + 1)).is_break() {
            stopped = t + 1 < config.steps;
            break;
        }
    }
    state.finish(problem, stopped)
}
