//! What a fit keeps between steps, and one step of it.
//!
//! # When a value is not finite
//!
//! A batch in which any log density or gradient is not finite is never averaged over what is left. The
//! iterate goes half the way back to the last one whose batch was finite (all sets involved are convex, so it
//! stays inside; before the first finite batch `C` is halved instead), every later step is halved, and the
//! batch is drawn afresh. A step after which `w` is not finite or `C` not positive definite is taken back and
//! halved too. After [`PATIENCE`] finite batches the halving is undone once. [`TRIES`] failures in a row end
//! the fit with an error.

use super::Error;
use super::average::{Setup as AverageSetup, Takes, Weights};
use super::batch::{Job, Joined, Part, Problem};
use super::check::Resolved;
use super::draws::{Key, Purpose, Source};
use super::estimator::REACH;
use super::factor::Factor;
use super::method::{Config, Start};
use super::run::{Progress, Record, Tally};
use super::start::{GLANCE, starting_point};
use super::step::{Setup, Sizes, StepRule};
use rayon::prelude::*;

/// Failures in a row that end a fit.
const TRIES: usize = 40;
/// Finite batches after which one halving of the step is undone.
const PATIENCE: usize = 50;
/// Share of the estimated 1/√M that serves as floor when M is not known: low enough not to bias the fit.
const CAUTIOUS_FLOOR: f64 = 0.1;

/// Everything that a fit keeps between steps; all of it is made before the first one.
pub(super) struct State<'a> {
    pub(super) config: &'a Config,
    pub(super) resolved: Resolved,
    pub(super) d: usize,
    pub(super) parts: Vec<Part<'a>>,
    joined: Joined,
    pub(super) pool: Option<rayon::ThreadPool>,
    pub(super) factor: Box<dyn Factor>,
    source: Box<dyn Source>,
    rule: Box<dyn StepRule>,
    weights: Box<dyn Weights>,
    pub(super) w: Vec<f64>,
    /// The last iterate whose batch was finite, once a step has been taken from it.
    good: Vec<f64>,
    /// Whether there is one.
    begun: bool,
    pub(super) average: Vec<f64>,
    gradient: Vec<f64>,
    /// The vector of the largest curvature met so far.
    steepest: Vec<f64>,
    /// M if it is known, else the curvature met last.
    curvature: f64,
    /// The operator keeps the eigenvalues of C at least this.
    floor: f64,
    shrink: f64,
    clean: usize,
    failures: usize,
    pub(super) rejected: usize,
    pub(super) taken: usize,
    pub(super) gradients: usize,
    step_size: f64,
    tally: Tally,
    previous: Tally,
    pub(super) trace: Vec<Record>,
    names: Vec<String>,
}

impl<'a> State<'a> {
    pub(super) fn new(problem: Problem<'a>, config: &'a Config) -> Result<Self, Error> {
        let d = problem.dimension();
        let resolved = config.resolve(d)?;
        let mut factor = (config.factor.make)(d);
        let known = config.constants.filter(|_| has_floor(config));
        let floor = known.map_or(0.0, |c| 1.0 / c.smoothness.sqrt());
        let w = starting_point(config, d, &mut *factor, floor)?;
        let rule = make_rule(config, &resolved, d, &w);
        let weights = (resolved.average.row.make)(&AverageSetup {
            value: resolved.average.value,
            steps: config.steps,
            noise: resolved.noise.map_or(f64::NAN, |q| q.a),
            gamma: rule.fixed().unwrap_or(f64::NAN),
        });
        let parts = Part::split(problem, config.batch);
        let n = w.len();
        Ok(State {
            joined: Joined::new(&parts),
            pool: thread_pool(config.threads.min(parts.len())),
            source: (config.draws.make)(d, config.batch)?,
            good: vec![0.0; n],
            begun: false,
            average: w.clone(),
            gradient: vec![0.0; n],
            steepest: (0..d).map(|i| 1.0 + (i as f64 * 0.7).sin()).collect(),
            curvature: config.constants.map_or(f64::INFINITY, |c| c.smoothness),
            floor,
            shrink: 1.0,
            clean: 0,
            failures: 0,
            rejected: 0,
            taken: 0,
            gradients: 0,
            step_size: f64::NAN,
            tally: Tally::default(),
            previous: Tally::default(),
            trace: Vec::with_capacity(config.trace + 1),
            names: problem.coordinate_names(),
            config,
            resolved,
            d,
            parts,
            factor,
            rule,
            weights,
            w,
        })
    }

    /// Sets the width of a narrow start from the curvature there.
    pub(super) fn widen(&mut self, rows: &[usize]) {
        let narrow = matches!(self.config.start, Start::Narrow | Start::NarrowAt(_));
        if !narrow || self.config.constants.is_some() {
            return;
        }
        if let Some(curvature) = self.look(0, 1, rows) {
            let scale = 1.0 / (GLANCE * curvature.sqrt());
            self.w[self.d..].iter_mut().for_each(|c| *c *= scale);
            self.factor.load(&self.w[self.d..]);
            self.average.copy_from_slice(&self.w);
            self.rule.start_at(&self.w);
        }
    }

    pub(super) fn step(&mut self, t: usize, rows: &[usize]) -> Result<(), Error> {
        self.look_around(t, rows);
        if self.resolved.average.row.takes == Takes::Before {
            self.take_average();
        }
        self.differentiate(t, rows)?;
        self.advance(t)?;
        if self.resolved.average.row.takes == Takes::After {
            self.take_average();
        }
        Ok(())
    }

    /// Estimates the curvature when the step rule asks for it, or when a floor is needed that nobody gave.
    fn look_around(&mut self, t: usize, rows: &[usize]) {
        let doubling = t == 0 || (t >= 8 && t.is_power_of_two());
        let for_floor = doubling && has_floor(self.config) && self.config.constants.is_none();
        if !for_floor && !self.rule.wants_curvature(t) {
            return;
        }
        let Some(curvature) = self.look(t, 0, rows) else { return };
        self.rule.set_curvature(curvature);
        if self.config.constants.is_none() {
            self.curvature = curvature;
        }
        if for_floor {
            let floor = CAUTIOUS_FLOOR / curvature.sqrt();
            self.floor = if t == 0 { floor } else { self.floor.min(floor) };
        }
    }

    /// The curvature around the iterate, if it can be told.
    fn look(&mut self, t: usize, attempt: u64, rows: &[usize]) -> Option<f64> {
        let rounds = if t == 0 { 12 } else { 4 };
        let key = Key { seed: self.config.seed, purpose: Purpose::Curvature, step: t as u64, attempt };
        let job = job(self.config, &self.w, &*self.factor, &*self.source, key, rows);
        let part = &mut self.parts[0];
        self.gradients += (2 * rounds + 1) * part.draws();
        part.curvature(&job, &mut self.steepest, rounds).filter(|c| *c > 0.0)
    }

    /// Whether the path term is used in this batch (see [`super::estimator`]).
    fn sticks(&mut self, t: usize) -> bool {
        let config = self.config;
        if !config.estimator.sticks || config.operator.floors {
            return config.estimator.sticks;
        }
        let key = Key { seed: config.seed, purpose: Purpose::Reach, step: t as u64, attempt: 0 };
        let job = job(config, &self.w, &*self.factor, super::draws::independent(), key, &[]);
        let (size, plain) = self.parts[0].path_term(&job);
        size <= REACH * plain * self.curvature
    }

    /// Fills `gradient` at an iterate whose batch is finite, moving back to find one if need be.
    fn differentiate(&mut self, t: usize, rows: &[usize]) -> Result<(), Error> {
        let mut sticks = false;
        for attempt in 0.. {
            sticks = self.sticks(t);
            let key = Key { seed: self.config.seed, purpose: Purpose::Gradient, step: t as u64, attempt };
            let job = job(self.config, &self.w, &*self.factor, &*self.source, key, rows);
            each(&self.pool, &mut self.parts, |part| part.gradient(&job, sticks));
            self.gradients += self.config.batch;
            let Some(fault) = self.parts.iter().find_map(|p| p.fault) else { break };
            self.fail(t, self.place(fault))?;
            self.retreat();
        }
        self.succeed();
        let factor = &mut *self.factor;
        self.joined.gather(&self.parts, factor, self.config.estimator, sticks, &self.w, &mut self.gradient);
        self.parts.iter().flat_map(|p| &p.log_ratio).for_each(|x| self.tally.add(*x));
        Ok(())
    }

    fn place(&self, fault: usize) -> String {
        match self.names.get(fault) {
            Some(name) => format!("the gradient with respect to '{name}'"),
            None => "the log density".into(),
        }
    }

    fn fail(&mut self, step: usize, place: String) -> Result<(), Error> {
        self.failures += 1;
        self.rejected += 1;
        self.clean = 0;
        self.shrink *= 0.5;
        if self.failures >= TRIES { Err(Error::NonFinite { step, tries: TRIES, place }) } else { Ok(()) }
    }

    /// A batch was finite.
    fn succeed(&mut self) {
        self.failures = 0;
        self.clean += 1;
        if self.clean.is_multiple_of(PATIENCE) && self.shrink < 1.0 {
            self.shrink *= 2.0;
        }
    }

    /// Half the way back to the last good iterate; before there is one, half the width.
    fn retreat(&mut self) {
        if !self.begun {
            self.w[self.d..].iter_mut().for_each(|c| *c *= 0.5);
        } else {
            self.w.iter_mut().zip(&self.good).for_each(|(w, g)| *w = 0.5 * (*w + g));
        }
        self.factor.load(&self.w[self.d..]);
    }

    /// The step and the operator; what they spoil is taken back. The iterate from which the step is taken had
    /// a finite batch, and is kept.
    fn advance(&mut self, t: usize) -> Result<(), Error> {
        let sizes = self.rule.sizes(t, &self.w, &mut self.gradient, self.shrink);
        self.step_size = sizes.typical();
        let moved = self.good.iter_mut().zip(&self.w).zip(&self.gradient);
        let mut finite = true;
        match sizes {
            Sizes::One(gamma) => moved.for_each(|((to, w), g)| {
                *to = w - gamma * g;
                finite &= to.is_finite();
            }),
            Sizes::Each(gammas) => moved.zip(gammas).for_each(|(((to, w), g), s)| {
                *to = w - s * g;
                finite &= to.is_finite();
            }),
        }
        std::mem::swap(&mut self.w, &mut self.good);
        self.begun = true;
        let c = &mut self.w[self.d..];
        if finite && (self.config.operator.apply)(&mut *self.factor, c, sizes.from(self.d), self.floor) {
            return Ok(());
        }
        self.w.copy_from_slice(&self.good);
        self.factor.load(&self.w[self.d..]);
        self.fail(t, "the step itself".into())
    }

    fn take_average(&mut self) {
        self.taken += 1;
        let rho = self.weights.weight(self.taken);
        if rho == 1.0 {
            self.average.copy_from_slice(&self.w);
        } else {
            self.average.iter_mut().zip(&self.w).for_each(|(a, w)| *a += rho * (w - *a));
        }
    }

    pub(super) fn record(&mut self, done: usize) {
        let steps = self.config.steps;
        let every = steps.div_ceil(self.config.trace.max(1));
        if !done.is_multiple_of(every) && done != steps {
            return;
        }
        self.trace.push(Record {
            step: done,
            elbo: self.tally.mean(),
            elbo_se: self.tally.standard_error(),
            step_size: self.step_size,
            gradient_norm: self.gradient.iter().map(|g| g * g).sum::<f64>().sqrt(),
        });
        (self.previous, self.tally) = (self.tally, Tally::default());
    }

    pub(super) fn progress(&self, done: usize) -> Progress<'_> {
        let recent = self.previous.merge(self.tally);
        Progress {
            step: done,
            steps: self.config.steps,
            elbo: recent.mean(),
            elbo_se: recent.standard_error(),
            step_size: self.step_size,
            gradients: self.gradients,
            rejected: self.rejected,
            iterate: &self.w,
            average: &self.average,
        }
    }
}

pub(super) fn job<'a>(
    config: &'a Config,
    w: &'a [f64],
    factor: &'a dyn Factor,
    source: &'a dyn Source,
    key: Key,
    rows: &'a [usize],
) -> Job<'a> {
    Job { w, factor, family: &config.family, source, key, rows }
}

/// Whether the iterates keep away from singular C: under the projection, and wherever the estimator divides
/// by C.
fn has_floor(config: &Config) -> bool {
    config.operator.floors || config.estimator.sticks
}

/// The same work on every part, by one thread or several.
pub(super) fn each<'a>(
    pool: &Option<rayon::ThreadPool>,
    parts: &mut [Part<'a>],
    work: impl Fn(&mut Part<'a>) + Sync,
) {
    match pool {
        None => parts.iter_mut().for_each(work),
        Some(pool) => pool.install(|| parts.par_iter_mut().for_each(&work)),
    }
}

/// A pool, if more than one thread is of use; where none can be had, one thread does the work.
fn thread_pool(threads: usize) -> Option<rayon::ThreadPool> {
    if threads < 2 {
        return None;
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()
}

fn make_rule(config: &Config, resolved: &Resolved, d: usize, start: &[f64]) -> Box<dyn StepRule> {
    (resolved.step.row.make)(&Setup {
        value: resolved.step.value,
        steps: config.steps,
        dimension: d,
        batch: config.batch,
        start,
        noise: resolved.noise.map_or(f64::NAN, |q| q.a),
        smoothness: config.constants.map_or(f64::NAN, |c| c.smoothness),
        strong_concavity: config.constants.map_or(f64::NAN, |c| c.strong_concavity),
    })
}
