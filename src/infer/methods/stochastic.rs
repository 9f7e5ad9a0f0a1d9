//! Methods of stochastic gradients as a user meets them: started at the mode, in coordinates that whiten the
//! curvature there, where the steps of the theorems and those found on the way fit every model alike.
//!
//! The iterations are exactly those of [`crate::vi`], on the target as seen from these coordinates. A
//! diagonal factor means something in the model's own axes alone, so these are then only scaled, not mixed.

use crate::certify::{Certificate, Tier};
use crate::infer::approximate::measure::gap;
use crate::infer::assess::assess_gaussian;
use crate::infer::finding::Finding;
use crate::infer::fit::{Fit, Origin};
use crate::infer::gaussian::Gaussian;
use crate::infer::methods::job::{Error, Job, Settings};
use crate::infer::options::Options;
use crate::infer::progress::{Ending, Error as NoFit};
use crate::infer::search::whiten;
use crate::num::stream::child;
use crate::target::Target;
use crate::vi::subsample::Subsample;
use crate::vi::{self, Choice, Constants, Coordinates, Run, Scale, Start};
use nalgebra::DVector;

/// A gap above this, in nats and beyond noise, is one to close.
const WIDE: f64 = 0.05;
/// Standard errors that are noise, and those on top for an upper estimate.
const NOISE: f64 = 2.5;
/// Fresh draws by which the gap is estimated.
const DRAWS: usize = 4096;
/// What the seed of each further run has in addition.
const ROUND: u64 = 0x726f_756e_6400;
/// Most times that a run which is not done goes on in the coordinates it has come to.
const ROUNDS: usize = 8;

/// What to run, and from where.
pub struct Descent<'a> {
    /// The parts of the method. Its start is replaced, unless the coordinates are raw; so are its constants,
    /// where a certificate gives them.
    pub config: vi::Config,
    /// Whether to stay in the model's own coordinates.
    pub raw: bool,
    /// Most times that a run goes on from where it ended, in the coordinates of the Gaussian there, while
    /// fresh draws say that there is more to gain; 1 for a run of exactly the steps that the configuration
    /// says. One run is enough where the curvature at the mode is that of the posterior.
    pub rounds: usize,
    /// The mean to start from, in the model's own coordinates; by default the mode, or in raw coordinates
    /// what the configuration says.
    pub init: Option<Vec<f64>>,
    /// The target with its observations apart, and how many of them to use in a step; by default all.
    pub subsample: Option<(&'a dyn Subsample, usize)>,
    /// What is certain of the target's curvature: the step rules of the theorems need it, and the projection
    /// has its floor from it.
    pub certificate: Option<&'a Certificate>,
}

impl Descent<'_> {
    /// A method by name with its defaults for a target of this many coordinates.
    pub fn named(method: &str, dimension: usize) -> Result<Self, vi::Error> {
        let config = vi::Config::suited(method, dimension)?;
        Ok(Descent { config, raw: false, rounds: ROUNDS, init: None, subsample: None, certificate: None })
    }
}

/// Where a descent ended.
#[derive(Clone, Debug)]
pub struct Descended {
    /// The run, with mean and scale in the model's own coordinates.
    pub run: Run,
    /// The Gaussian with that mean and covariance.
    pub gaussian: Gaussian,
    /// Gradients evaluated, those of the search for the mode included.
    pub gradients: usize,
    /// What is left to gain in nats by fresh draws, two and a half standard errors included; infinite where
    /// that cannot be told.
    pub gap: f64,
    /// What was done, and what makes the answer doubtful.
    pub findings: Vec<Finding>,
}

/// Runs a descent, without checks on its answer.
///
/// ```
/// use stickler::{infer::{Options, methods::{Descent, descend}}, target::from_fn};
/// // Standard deviations of 1000 and 0.001.
/// let target = from_fn(2, |z: &[f64], g: &mut [f64]| {
///     (g[0], g[1]) = ((3.0 - z[0]) * 1e-6, (5.0 - z[1]) * 1e6);
///     -0.5 * ((3.0 - z[0]).powi(2) * 1e-6 + (5.0 - z[1]).powi(2) * 1e6)
/// });
/// let descent = Descent::named("prox-energy", 2)?;
/// let go_on = &mut |_: &stickler::vi::Progress| std::ops::ControlFlow::Continue(());
/// let found = descend(&target, &descent, &Options::default(), go_on)?;
/// let sd = found.run.sd();
/// assert!((sd[0] / 1000.0 - 1.0).abs() < 0.05 && (sd[1] / 0.001 - 1.0).abs() < 0.05);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn descend(
    target: &dyn Target,
    descent: &Descent,
    options: &Options,
    watch: &mut vi::Watch<'_>,
) -> Result<Descended, Error> {
    let d = target.dimension();
    if d == 0 {
        return Err(NoFit::NoParameters.into());
    }
    let mut config = descent.config.clone();
    config.step = Some(default_step(&config, descent.raw)?);
    check_gaussian(&config, descent.certificate)?;
    let (run, before) = match descent.raw {
        true => (raw(target, descent, &mut config, watch)?, 0),
        false => whitened(target, descent, &mut config, options, watch)?,
    };
    let gaussian = gaussian(&run).ok_or(Error::NotFinite)?;
    let gap = gap(target, &gaussian, DRAWS, options.seed);
    let mut findings = steps(descent, &config, &run);
    findings.extend(doubts(&config, &run, gap));
    let gradients = before + run.gradients + DRAWS;
    let gap = gap.map_or(f64::INFINITY, |[gap, se]| gap + NOISE * se);
    Ok(Descended { gaussian, gradients, gap, findings, run })
}

/// Runs a descent, with the checks, corrections and summaries of the default fit.
pub fn fit_by_descent(
    target: &dyn Target,
    descent: &Descent,
    options: &Options,
    watch: &mut vi::Watch<'_>,
) -> Result<Fit, Error> {
    let clock = std::time::Instant::now();
    let found = descend(target, descent, options, watch)?;
    let ending = if found.run.stopped { Ending::Stopped } else { Ending::Budget };
    let origin =
        Origin { findings: found.findings, ..Origin::new(ending, found.gap, found.gradients, clock) };
    let fit = assess_gaussian(target, &found.gaussian, origin, options);
    Ok(match found.run.family.row.name {
        "normal" => fit,
        _ => Fit { elbo: found.run.elbo, elbo_se: found.run.elbo_se, ..fit }
            .noting([Finding::OtherFamily { family: found.run.family.to_string() }]),
    })
}

/// A run in the model's own coordinates.
fn raw(
    target: &dyn Target,
    descent: &Descent,
    config: &mut vi::Config,
    watch: &mut vi::Watch<'_>,
) -> Result<Run, vi::Error> {
    config.constants = config.constants.or_else(|| raw_constants(descent.certificate?));
    if let Some(init) = &descent.init {
        config.start = Start::NarrowAt(init.clone());
    }
    match descent.subsample {
        None => vi::fit(target, config, watch),
        Some((parts, size)) => vi::fit_subsampled(parts, size, config, watch),
    }
}

/// Runs in whitened coordinates, and the gradients besides those of the one that is the answer: the last,
/// unless it lost what the one before had.
fn whitened(
    target: &dyn Target,
    descent: &Descent,
    config: &mut vi::Config,
    options: &Options,
    watch: &mut vi::Watch<'_>,
) -> Result<(Run, usize), Error> {
    config.check_parts()?;
    let (mut coordinates, mut before) = at_mode(target, config.factor.full_rank, options)?;
    let mut init = descent.init.as_deref();
    let mut last: Option<Run> = None;
    for round in 1.. {
        config.constants = descent
            .certificate
            .and_then(|c| coordinates.constants(c.least_matrix.as_ref()?, c.most_matrix.as_ref()?));
        let mean = init.map_or_else(|| vec![0.0; target.dimension()], |z| coordinates.place(z));
        config.start = Start::Scaled { mean, scale: 1.0 };
        let run = match descent.subsample {
            None => vi::fit(&coordinates.view(target), config, watch),
            Some((parts, size)) => vi::fit_subsampled(&coordinates.view(parts), size, config, watch),
        };
        let run = match (run, last.take()) {
            (Ok(run), Some(last)) if !(run.elbo >= last.elbo) => return Ok((last, before + run.gradients)),
            (Err(_), Some(last)) => return Ok((last, before)),
            (run, last) => {
                before += last.map_or(0, |r| r.gradients);
                coordinates.restore(run?)
            }
        };
        let reached = gaussian(&run).filter(|_| round < descent.rounds && !run.stopped);
        let next = reached.filter(|q| {
            before += DRAWS;
            wide(gap(target, q, DRAWS, config.seed))
        });
        let Some(next) = next.and_then(at_gaussian) else { return Ok((run, before)) };
        (coordinates, init, last) = (next, None, Some(run));
        config.seed = child(config.seed, ROUND, 0);
    }
    Err(Error::NotFinite)
}

/// The step that was chosen, or the one that needs no constant: provable steps are for those who ask for
/// them.
fn default_step(config: &vi::Config, raw: bool) -> Result<Choice<vi::step::Rule>, vi::Error> {
    config.step.map_or_else(|| Choice::named(if raw { "curvature" } else { "whitened" }), Ok)
}

/// Refuses the step for Gaussian posteriors where the posterior is known to be none: with K > 0 it is longer
/// than any theorem allows.
fn check_gaussian(config: &vi::Config, certificate: Option<&Certificate>) -> Result<(), vi::Error> {
    let gaussian = |rule: &Choice<vi::step::Rule>| rule.row.name == "stl_gaussian";
    if !config.step.as_ref().is_some_and(gaussian) || certificate.is_none_or(|c| c.tier == Tier::Exact) {
        return Ok(());
    }
    Err(vi::Error::Combination {
        problem: "the step rule 'stl_gaussian' is that of a theorem about Gaussian posteriors, and this one is not known to \
                  be Gaussian (`stickler certify` says why)"
            .into(),
        instead: match config.operator.name {
            "projection" => "use 'proj_decay', or a step rule that needs no constants".into(),
            "prox" => "use 'prox_decay', or a step rule that needs no constants".into(),
            _ => "use a step rule that needs no constants, such as 'whitened' or 'curvature'".into(),
        },
    })
}

fn raw_constants(certificate: &Certificate) -> Option<Constants> {
    let (smoothness, strong_concavity) = (certificate.smoothness()?, certificate.strong_concavity()?);
    Some(Constants { smoothness, strong_concavity })
}

/// The coordinates in which the Gaussian at the mode is standard normal, and the gradients it took to find
/// it.
fn at_mode(target: &dyn Target, full: bool, options: &Options) -> Result<(Coordinates, usize), Error> {
    let d = target.dimension();
    let settings = Settings::default();
    let job = Job { target, d, options, settings: &settings };
    let (mut q, gradients) = job.start(d <= options.dense)?;
    if !full && matches!(q.factor, Scale::Dense(_)) {
        q = whiten::diagonal(&mut *target.evaluator(), q.mean);
    }
    Ok((at_gaussian(q).ok_or(Error::Flat)?, gradients))
}

/// The coordinates in which a Gaussian is standard normal.
fn at_gaussian(q: Gaussian) -> Option<Coordinates> {
    Coordinates::new(q.mean, q.factor)
}

/// The Gaussian with the mean and covariance of a run.
fn gaussian(run: &Run) -> Option<Gaussian> {
    match &run.scale {
        Scale::Diagonal(s) => Some(Gaussian { mean: run.mean.clone(), factor: Scale::Diagonal(s.clone()) }),
        Scale::Dense(_) => {
            Gaussian::from_moments(&DVector::from_column_slice(&run.mean), &run.covariance()).ok()
        }
    }
}

/// What was run.
fn steps(descent: &Descent, config: &vi::Config, run: &Run) -> Vec<Finding> {
    let coordinates = match (descent.raw, config.factor.full_rank) {
        (true, _) => "in the model's own coordinates",
        (false, true) => "in whitened coordinates (the mode, and the curvature there)",
        (false, false) => "in coordinates scaled by the curvature at the mode",
    };
    let parts = vec![
        format!("{} factor", config.factor.name),
        format!("estimator {}", config.estimator.name),
        format!("operator {}", config.operator.name),
        format!("step rule {}", run.step),
        format!("average {}", run.average),
    ];
    let mut findings = vec![Finding::Steps { steps: run.steps, batch: config.batch, coordinates, parts }];
    findings.extend(
        config
            .constants
            .map(|c| Finding::Constants { smoothness: c.smoothness, strong_concavity: c.strong_concavity }),
    );
    findings.extend(descent.subsample.map(|(parts, size)| Finding::Subsample {
        size,
        of: parts.observations(),
        bound_lost: run.step.row.guarantee.is_some(),
    }));
    findings
}

/// Whether there is more to gain beyond noise.
fn wide(gap: Option<[f64; 2]>) -> bool {
    gap.is_none_or(|[gap, se]| gap - NOISE * se > WIDE)
}

/// Says when a run was stopped, or is not done.
fn doubts(config: &vi::Config, run: &Run, gap: Option<[f64; 2]>) -> Vec<Finding> {
    let mut doubts = Vec::new();
    if run.stopped {
        doubts.push(Finding::StepsStopped { taken: run.steps, planned: config.steps });
    }
    match gap {
        None => doubts.push(Finding::NotFiniteAtDraws {}),
        Some([gap, error]) if wide(Some([gap, error])) => doubts.push(Finding::MoreSteps { gap, error }),
        Some(_) => {}
    }
    doubts
}
