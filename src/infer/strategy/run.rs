//! Makes the attempts of a plan, one after another, until the best answer is good enough.

use crate::infer::diagnose::level::level;
use crate::infer::diagnose::overlooked::overlooked;
use crate::infer::model::{Model, Watch, as_a_whole, states_told};
use crate::infer::nested;
use crate::infer::nested::Ways;
use crate::infer::strategy::choose::preferred;
use crate::infer::strategy::plan::{Attempt, Facts, MAX_DIMENSION_AS_A_WHOLE_FIRST, Planned, plan};
use crate::infer::strategy::trace::{Outcome, Preference, Tried};
use crate::infer::{Approach, Error, Fit, Nuts, Options, Path, complete, without_sampling};
use crate::lower::in_states;
use crate::target::{ModelTarget, Target};
use std::time::Instant;

/// What is known of a model, and the attempts that this calls for.
#[derive(Clone, Debug, PartialEq)]
pub struct Strategy {
    /// What is known.
    pub facts: Facts,
    /// What would be tried.
    pub attempts: Vec<Planned>,
}

/// The strategy for a model, `declared` in the coordinates of its text. Nothing is sampled.
pub fn strategy(model: &Model, declared: &ModelTarget, options: &Options) -> Result<Strategy, Error> {
    if declared.dimension() == 0 {
        return Err(Error::NoParameters);
    }
    if let Some(names) = level(declared) {
        return Err(Error::Level(names));
    }
    let facts = Runner::new(model, declared, options).facts();
    Ok(Strategy { facts, attempts: plan(&facts) })
}

/// Fits a model in the coordinates that it leaves open; the trace is in the fit.
pub(in super::super) fn in_suitable_coordinates(
    model: &Model,
    declared: &ModelTarget,
    options: &Options,
    watch: Watch,
) -> Result<Fit, Error> {
    let mut runner = Runner::new(model, declared, options);
    let (mut best, mut trace): (Option<Fit>, Vec<Tried>) = (None, Vec::new());
    let mut error = Error::NoStart;
    for Planned { attempt, why, enough } in plan(&runner.facts()) {
        let clock = Instant::now();
        let found = runner.attempt(attempt, &mut *watch).unwrap_or_else(|e| {
            error = e;
            None
        });
        let tried = |outcome| Tried { attempt, why, seconds: clock.elapsed().as_secs_f64(), outcome };
        let Some(fit) = found else {
            trace.push(tried(None));
            continue;
        };
        trace.push(tried(Some(outcome(&fit, best.as_ref()))));
        if trace.last().and_then(|t| t.outcome.as_ref()).is_some_and(|o| o.preferred) {
            best = Some(fit);
        }
        let done = |best: &Fit| enough.is_met(best, declared.dimension()) || options.stop.requested();
        if best.as_ref().is_some_and(done) {
            break;
        }
    }
    best.map(|fit| Fit { trace, ..fit }).ok_or(error)
}

/// How an answer stands beside the best before it.
pub(in super::super) fn outcome(fit: &Fit, best: Option<&Fit>) -> Outcome {
    let (preferred, because) = best.map_or((true, Preference::Only), |best| preferred(fit, best));
    Outcome {
        gradients: fit.gradients,
        khat: fit.khat,
        log_evidence: fit.log_evidence,
        doubts: fit.doubts().into_iter().map(|finding| finding.code()).collect(),
        preferred,
        because,
    }
}

/// A model with what its attempts share.
struct Runner<'a> {
    model: &'a Model<'a>,
    declared: &'a ModelTarget,
    options: &'a Options,
    /// The best Gaussian by quadrature, where the log density has the structure for it.
    additive: Option<Approach>,
    /// The model with innovations taken by the states that they lead to.
    in_states: Option<ModelTarget>,
    /// Whether ways to integrate coordinates out are left that have not been tried.
    others: bool,
}

impl<'a> Runner<'a> {
    fn new(model: &'a Model, declared: &'a ModelTarget, options: &'a Options) -> Self {
        let additive = without_sampling(declared, options);
        let nested = additive.is_none() || declared.dimension() > MAX_DIMENSION_AS_A_WHOLE_FIRST;
        let states = || in_states(model.program, model.source, model.data, declared.lowered());
        let in_states = nested.then(states).flatten().map(ModelTarget::from_lowered);
        Runner { model, declared, options, additive, in_states, others: false }
    }

    fn facts(&self) -> Facts {
        Facts {
            dimension: self.declared.dimension(),
            additive: self.additive.is_some(),
            gaussian: self.additive.as_ref().is_some_and(|found| found.path == Path::Gaussian),
            effects: self.declared.is_hierarchical(),
            states: self.in_states.is_some(),
            nuts: self.options.nuts == Nuts::Always,
        }
    }

    fn attempt(&mut self, attempt: Attempt, watch: Watch) -> Result<Option<Fit>, Error> {
        match attempt {
            Attempt::Groups => {
                let found = self.additive.as_ref();
                Ok(found.and_then(|found| nested::by_groups(self.declared, found, self.options)))
            }
            Attempt::Quadrature => {
                let found = self.additive.take();
                Ok(found.map(|found| complete(self.declared, found, self.options)))
            }
            Attempt::Variational => as_a_whole(self.model, self.declared, self.options, watch).map(Some),
            Attempt::Nested => Ok(self.nested(Ways::Promising, watch)),
            Attempt::OtherNested if self.others => Ok(self.nested(Ways::Others, watch)),
            Attempt::OtherNested | Attempt::FreeCoordinates => Ok(None),
        }
    }

    fn nested(&mut self, ways: Ways, watch: Watch) -> Option<Fit> {
        let parted = self.in_states.as_ref().unwrap_or(self.declared);
        let tried = nested::fit(parted, ways, self.options, watch);
        self.others = tried.others;
        let mut fit = tried.fit?;
        fit.findings.extend(self.in_states.as_ref().map(|moved| states_told(self.declared, moved)));
        fit.findings.extend(overlooked(self.declared, &fit, self.options));
        Some(fit)
    }
}
