//! The default fit and every named method on one model, judged by the same number of fresh draws.

use crate::infer::finding::{Finding, Severity};
use crate::infer::fit::{Fit, Path};
use crate::infer::methods;
use crate::infer::methods::{Approximation, Descent, Named, Settings, descend, judge};
use crate::infer::model::Model;
use crate::infer::options::Options;
use crate::infer::progress::{Ending, Progress};
use crate::infer::strategy::fit_model;
use crate::num::stream::child;
use crate::target::{ModelTarget, Target};
use crate::vi;
use std::ops::ControlFlow;
use std::time::Instant;

/// Fresh draws behind each ELBO, and from so many coordinates on, fewer.
const DRAWS: [usize; 2] = [16_384, 4096];
const MANY: usize = 300;
/// What the seed of the fresh draws has in addition: no method has seen them.
const FRESH: u64 = 0x6672_6573;
/// What the default fit is called among the methods.
pub const DEFAULT: &str = "default";

/// What a method came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The method.
    pub method: &'static str,
    /// Its numbers, or the reason why there are none.
    pub outcome: Result<Numbers, String>,
}

/// The numbers of a method.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// The ELBO on fresh draws.
    pub elbo: f64,
    /// Its standard error.
    pub elbo_se: f64,
    /// Tail shape of the importance weights of the approximation itself, before any correction.
    pub khat: f64,
    /// Gradients used.
    pub gradients: usize,
    /// Seconds until the approximation was found; for the default fit, until its answer was checked and
    /// corrected.
    pub seconds: f64,
    /// How the method ended.
    pub ending: Ending,
    /// What a reader of the table should know.
    pub note: Option<String>,
}

/// A comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Fresh draws behind each ELBO.
    pub draws: usize,
    /// The methods, the default fit first.
    pub rows: Vec<Compared>,
}

/// Called with the name of the method that runs; `Break` ends the comparison with the rows there are.
pub type Watch<'a> = &'a mut dyn FnMut(&str, &Progress) -> ControlFlow<()>;

/// Runs every method on a model, `declared` in the coordinates of its text.
pub fn compare(model: &Model, declared: &ModelTarget, options: &Options, watch: Watch) -> Comparison {
    let draws = DRAWS[usize::from(declared.dimension() > MANY)];
    let mut stopped = false;
    let mut rows = Vec::new();
    {
        let mut seen = |p: &Progress| note_stop(watch(DEFAULT, p), &mut stopped);
        let outcome = by_default(model, declared, options, draws, &mut seen);
        rows.push(Compared { method: DEFAULT, outcome });
    }
    for method in methods::all() {
        if stopped {
            break;
        }
        let mut seen = |p: &Progress| note_stop(watch(method.name(), p), &mut stopped);
        let outcome = named(declared, method, options, draws, &mut seen);
        rows.push(Compared { method: method.name(), outcome });
    }
    Comparison { draws, rows }
}

fn note_stop(said: ControlFlow<()>, stopped: &mut bool) -> ControlFlow<()> {
    *stopped |= said.is_break();
    said
}

/// The default fit. In coordinates of its own it is judged by the draws of its own last batch.
fn by_default(
    model: &Model,
    declared: &ModelTarget,
    options: &Options,
    draws: usize,
    watch: methods::Watch,
) -> Result<Numbers, String> {
    let fit = fit_model(model, declared, options, watch).map_err(|e| e.to_string())?;
    let (approximation, path) = (fit.approximation(), fit.path);
    let Fit { elbo, elbo_se, khat, gradients, seconds, status, .. } = fit;
    let mut numbers = Numbers { elbo, elbo_se, khat, gradients, seconds, ending: status, note: None };
    if let Some(q) = approximation.map(Approximation::Gaussian) {
        let judged = judge(declared, &q, draws, child(options.seed, FRESH, 0));
        (numbers.elbo, numbers.elbo_se, numbers.khat) = (judged.elbo, judged.elbo_se, judged.khat);
        numbers.note = (khat < judged.khat - 0.05)
            .then(|| format!("k-hat {khat:.2} after the corrections that its answer comes with"));
    } else {
        let how = match path {
            Path::Nested => "some parameters integrated out given the others",
            Path::Gaussian | Path::Quadrature | Path::Variational | Path::Nuts => {
                "in coordinates of its own choice"
            }
        };
        numbers.note = Some(format!("{how}, another family of approximations; k-hat after corrections"));
    }
    Ok(numbers)
}

/// A named method.
fn named(
    target: &ModelTarget,
    method: Named,
    options: &Options,
    draws: usize,
    watch: methods::Watch,
) -> Result<Numbers, String> {
    let clock = Instant::now();
    let (approximation, gradients, ending, note) = match method {
        Named::Direct(method) => {
            let found = methods::approximate(target, method, &Settings::default(), options, watch)
                .map_err(|e| e.to_string())?;
            (found.approximation, found.gradients, found.ending, doubt(found.findings))
        }
        Named::Stochastic(method) => stochastic(target, method, options, watch)?,
    };
    let seconds = clock.elapsed().as_secs_f64();
    let judged = judge(target, &approximation, draws, child(options.seed, FRESH, 0));
    Ok(Numbers {
        elbo: judged.elbo,
        elbo_se: judged.elbo_se,
        khat: judged.khat,
        gradients,
        seconds,
        ending,
        note,
    })
}

/// The first of the findings that a reader should know.
fn doubt(findings: Vec<Finding>) -> Option<String> {
    findings
        .into_iter()
        .find(|finding| finding.severity() > Severity::Note)
        .map(|finding| finding.to_string())
}

/// A method of stochastic gradients.
fn stochastic(
    target: &ModelTarget,
    method: &vi::Method,
    options: &Options,
    watch: methods::Watch,
) -> Result<(Approximation, usize, Ending, Option<String>), String> {
    let d = target.dimension();
    let mut descent = Descent::named(method.name, d).map_err(|e| e.to_string())?;
    if descent.config.factor.full_rank && d > options.dense {
        return Err(methods::Error::TooMany { found: d, most: options.dense }.to_string());
    }
    descent.config.seed = options.seed;
    let mut seen = |p: &vi::Progress| {
        watch(&Progress {
            iteration: p.step as u64,
            gradients: p.gradients,
            elbo: p.elbo,
            elbo_se: p.elbo_se,
            gap_nats: f64::NAN,
        })
    };
    let found = descend(target, &descent, options, &mut seen).map_err(|e| e.to_string())?;
    let ending = if found.run.stopped { Ending::Stopped } else { Ending::Budget };
    Ok((Approximation::Gaussian(found.gaussian), found.gradients, ending, doubt(found.findings)))
}
