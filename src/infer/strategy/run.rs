//! Makes the attempts of a plan, one after another, until the best answer is good enough.

use crate::infer::attempt::Attempt;
use crate::infer::choose::preferred;
use crate::infer::diagnose::doubt::doubt;
use crate::infer::diagnose::level::level;
use crate::infer::diagnose::overlooked::overlooked;
use crate::infer::finding::Finding;
use crate::infer::fit::{Fit, Path};
use crate::infer::model::Model;
use crate::infer::nested;
use crate::infer::nested::Ways;
use crate::infer::options::{Nuts, Options};
use crate::infer::policy::Policy;
use crate::infer::progress::{Ending, Error, Watch};
use crate::infer::strategy::plan::{Facts, MAX_DIMENSION_AS_A_WHOLE_FIRST, Planned, plan};
use crate::infer::strategy::unbounded::WithoutBounds;
use crate::infer::trace::{Outcome, Preference, Tried};
use crate::infer::whole::additive::without_sampling;
use crate::infer::whole::approach::Approach;
use crate::infer::whole::complete::complete;
use crate::infer::whole::coordinates::as_a_whole;
use crate::lower::{Coordinates, in_states, without_bounds};
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

/// Fits a model, `declared` in the coordinates of its text, in the coordinates that suit it best.
pub fn fit_model(
    model: &Model,
    declared: &ModelTarget,
    options: &Options,
    watch: Watch,
) -> Result<Fit, Error> {
    let clock = Instant::now();
    if let Some(names) = level(declared) {
        return Err(Error::Level(names));
    }
    let fit = best_attempt(model, declared, options, watch)?;
    let cut_short = options.stop.obeyed() && fit.status != Ending::Stopped;
    let fit = fit.noting(cut_short.then_some(Finding::Stopped { gap: None }));
    let fit = doubt(model, declared, fit, &options.stop);
    Ok(Fit { seconds: clock.elapsed().as_secs_f64(), ..fit })
}

/// Makes the attempts of the plan until the best answer is good enough; the trace is in it.
fn best_attempt(
    model: &Model,
    declared: &ModelTarget,
    options: &Options,
    watch: Watch,
) -> Result<Fit, Error> {
    let mut runner = Runner::new(model, declared, options);
    let (mut best, mut trace): (Option<Fit>, Vec<Tried>) = (None, Vec::new());
    let mut error = Error::NoStart;
    let planned = plan(&runner.facts()).into_iter();
    for Planned { attempt, why, enough } in planned.filter(|of| !options.without.contains(&of.attempt)) {
        let clock = Instant::now();
        let found = runner.attempt(attempt, &mut *watch).unwrap_or_else(|e| {
            error = e;
            None
        });
        let outcome = found.as_ref().map(|fit| outcome(fit, best.as_ref(), &options.policy));
        let preferred = outcome.as_ref().is_some_and(|outcome| outcome.preferred);
        trace.push(Tried { attempt, why, seconds: clock.elapsed().as_secs_f64(), outcome });
        if preferred {
            best = found;
        }
        let done = |best: &Fit| {
            enough.is_met(best, declared.dimension(), &options.policy) || options.stop.requested()
        };
        if best.as_ref().is_some_and(done) {
            break;
        }
    }
    let all = trace.iter().filter_map(|tried| Some(tried.outcome.as_ref()?.gradients)).sum();
    best.map(|fit| Fit { trace, gradients: all, ..fit }).ok_or(error)
}

/// How an answer stands beside the best before it.
fn outcome(fit: &Fit, best: Option<&Fit>, policy: &Policy) -> Outcome {
    let (preferred, because) = best.map_or((true, Preference::Only), |best| preferred(fit, best, policy));
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
    /// The model without bounds on latents.
    unbounded: Option<WithoutBounds>,
    /// Whether ways to integrate coordinates out are left that have not been tried.
    others: bool,
}

impl<'a> Runner<'a> {
    fn new(model: &'a Model, declared: &'a ModelTarget, options: &'a Options) -> Self {
        let additive = without_sampling(declared, options);
        let nested = additive.is_none() || declared.dimension() > MAX_DIMENSION_AS_A_WHOLE_FIRST;
        let states = || in_states(model.program, model.source, model.data, declared.lowered());
        let in_states = nested.then(states).flatten().map(ModelTarget::from_lowered);
        let open = || without_bounds(model.program, model.source, model.data, declared.lowered());
        let unbounded = (nested && in_states.is_none()).then(open).flatten().map(WithoutBounds::new);
        Runner { model, declared, options, additive, in_states, unbounded, others: false }
    }

    fn facts(&self) -> Facts {
        Facts {
            dimension: self.declared.dimension(),
            additive: self.additive.is_some(),
            gaussian: self.additive.as_ref().is_some_and(|found| found.path == Path::Gaussian),
            effects: self.declared.is_hierarchical(),
            states: self.in_states.is_some(),
            coordinates_asked_for: self.model.program.in_any_coordinates().is_some(),
            nuts: self.options.nuts == Nuts::Always,
        }
    }

    fn attempt(&mut self, attempt: Attempt, watch: Watch) -> Result<Option<Fit>, Error> {
        match attempt {
            Attempt::Quadrature => {
                let found = self.additive.take();
                Ok(found.map(|found| complete(self.declared, &found, self.options)))
            }
            Attempt::Variational => as_a_whole(self.model, self.declared, self.options, watch).map(Some),
            Attempt::Nested => Ok(self.nested(Ways::Promising, watch)),
            Attempt::OtherNested if self.others => Ok(self.nested(Ways::Others, watch)),
            Attempt::OtherNested => Ok(None),
            Attempt::FreeCoordinates => Ok(self.in_free_coordinates(watch)),
        }
    }

    fn nested(&mut self, ways: Ways, watch: Watch) -> Option<Fit> {
        if let Some(open) = self.unbounded.take()
            && let Some(fit) = open.fit(self.options, &mut *watch)
        {
            return Some(fit);
        }
        let parted = self.in_states.as_ref().unwrap_or(self.declared);
        let tried = nested::fit(parted, ways, self.options, watch);
        self.others = tried.others;
        let told = self.in_states.as_ref().map(|moved| states_told(self.declared, moved));
        let fit = tried.fit?.noting(told);
        let overlooked = overlooked(self.declared, &fit, self.options);
        Some(fit.noting(overlooked))
    }

    /// The best attempt of a plan of its own, in coordinates that the model does not leave open.
    fn in_free_coordinates(&self, watch: Watch) -> Option<Fit> {
        let program = self.model.program.in_any_coordinates()?;
        let model = Model { program: &program, ..*self.model };
        let open = model.compile(Coordinates::Declared).ok()?;
        let fit = best_attempt(&model, &open, self.options, watch).ok()?;
        Some(Fit { as_declared: false, ..fit }.noting([Finding::OtherCoordinates {}]))
    }
}

/// What is said of innovations whose coordinates are the states that they lead to.
fn states_told(declared: &ModelTarget, in_states: &ModelTarget) -> Finding {
    let pairs = declared.lowered().parameters.iter().zip(&in_states.lowered().parameters);
    let moved = pairs.filter(|(own, p)| p.form.is_noncentered() && !own.form.is_noncentered());
    Finding::StatesTaken { names: moved.map(|(_, p)| p.named.name.clone()).collect() }
}
