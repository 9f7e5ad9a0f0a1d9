//! The loop of methods that move a Gaussian by what a batch of its draws says: a step that does harm is taken
//! back.

use crate::infer::gaussian::Gaussian;
use crate::infer::importance::elbo::Elbo;
use crate::infer::methods::job::Error;
use crate::infer::progress::Ending;
use crate::infer::progress::Progress;
use crate::infer::progress::Watch;

/// Failures in a row that end a method.
const TRIES: usize = 40;
/// The share of a step that is tried after one that did harm.
const LESS: f64 = 0.25;
/// How fast the share grows back.
const MORE: f64 = 1.5;

/// A method that moves a Gaussian.
pub(super) trait Steps {
    /// What it keeps of the Gaussian.
    type State;
    /// What a batch says.
    type Look;

    /// Draws batch `index`; None if anything is not finite.
    fn look(&self, state: &Self::State, index: u64) -> Option<Self::Look>;

    /// The ELBO by that batch, and its standard error.
    fn elbo(&self, look: &Self::Look) -> Elbo;

    /// The step at a time, or a share of it; None if it leads nowhere.
    fn step(&self, state: &Self::State, look: &Self::Look, time: Time, share: f64) -> Option<Self::State>;

    /// The state with half the standard deviations.
    fn narrower(&self, state: &Self::State) -> Self::State;

    /// The Gaussian of a state.
    fn gaussian(&self, state: &Self::State) -> Option<Gaussian>;

    /// Gradients of a batch.
    fn cost(&self) -> usize;
}

/// When a step is taken.
#[derive(Clone, Copy, Default)]
pub(super) struct Time {
    /// Steps taken before.
    pub(super) taken: usize,
    /// Of these, steps after which the ELBO was no higher than ever before, beyond its noise.
    pub(super) settled: usize,
}

struct Last<M: Steps> {
    state: M::State,
    look: M::Look,
    time: Time,
    share: f64,
}

/// Takes `steps` steps from a state.
pub(super) fn drive<M: Steps>(
    method: &M,
    start: M::State,
    steps: usize,
    watch: Watch,
) -> Result<(Gaussian, usize, Ending), Error> {
    let mut state = start;
    let mut last: Option<Last<M>> = None;
    let (mut time, mut index, mut gradients, mut failures, mut largest) = (Time::default(), 0, 0, 0, 1.0);
    let mut highest = f64::NEG_INFINITY;
    let mut ending = Ending::Budget;
    while time.taken < steps {
        let found = method.look(&state, index);
        index += 1;
        gradients += method.cost();
        let harmless =
            |new: &M::Look| last.as_ref().is_none_or(|old| !worse(method.elbo(new), method.elbo(&old.look)));
        let good = found.filter(harmless);
        let Some(look) = good else {
            failures += 1;
            match &mut last {
                Some(old) if failures < TRIES => {
                    old.share *= LESS;
                    largest = old.share;
                    let again = method.step(&old.state, &old.look, old.time, old.share);
                    state = again.unwrap_or_else(|| method.narrower(&old.state));
                }
                None if failures < TRIES => state = method.narrower(&state),
                // What could not be improved upon is the answer; before the first step there is none.
                Some(_) => break,
                None => return Err(Error::NotFinite),
            }
            continue;
        };
        failures = 0;
        let Elbo { mean: elbo, error: elbo_se, .. } = method.elbo(&look);
        let progress =
            Progress { iteration: time.taken as u64, gradients, elbo, elbo_se, gap_nats: f64::NAN };
        let stop = watch(&progress).is_break();
        let mut share: f64 = largest;
        let next = loop {
            match method.step(&state, &look, time, share) {
                Some(next) => break Some(next),
                None if share > 1e-6 => share *= LESS,
                None => break None,
            }
        };
        largest = (MORE * share).min(1.0);
        let Some(next) = next else { break };
        last = Some(Last { state: std::mem::replace(&mut state, next), look, time, share });
        time.taken += 1;
        time.settled += usize::from(elbo <= highest + 2.0 * elbo_se);
        highest = highest.max(elbo);
        if stop {
            ending = Ending::Stopped;
            break;
        }
    }
    // The last step has not been looked at.
    if method.look(&state, index).is_none()
        && let Some(old) = last
    {
        state = old.state;
    }
    gradients += method.cost();
    let q = method.gaussian(&state).ok_or(Error::NotFinite)?;
    Ok((q, gradients, ending))
}

/// Whether an ELBO is lower than another beyond noise.
fn worse(new: Elbo, old: Elbo) -> bool {
    new.mean < old.mean - 4.0 * new.error.hypot(old.error) - 1e-9 * (1.0 + old.mean.abs())
}
