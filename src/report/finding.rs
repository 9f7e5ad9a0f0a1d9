//! Findings of a fit in words: what was found, what follows, and what may be done.

use crate::infer::{EFFECTIVE, Finding, Inner, KHAT_LIMIT, RHAT, first_few};
use crate::target::Trouble;
use std::fmt::{Display, Formatter, Result};

/// Gaps above this, in nats, are told by their power of ten.
const HUGE_GAP: f64 = 1e3;
/// Masses below this are told by their power of ten.
const SMALL_MASS: f64 = 0.01;

impl Display for Finding {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&words(self))
    }
}

fn words(finding: &Finding) -> String {
    match finding {
        Finding::HeavyWeights { khat, moved } => heavy_weights(*khat, moved),
        Finding::Runaway { names } => format!(
            "the posterior of {} reaches beyond 1e100: it has no mean that can be told, and may have no finite mass; a prior that is a \
             distribution would hold it",
            first_few(names)
        ),
        Finding::DrawsUsedUp { worst, of, endless } => {
            let of = of.as_ref().map_or(String::new(), |name| format!(", for {name}"));
            let endless = match endless {
                true => "; tails are so long that there may be no standard deviation: go by the quantiles",
                false => "",
            };
            format!(
                "the importance draws were used up with standard errors of up to {worst:.3} standard deviations{of}{endless}"
            )
        }
        Finding::FewDraws { worst, of } => {
            let of = of.as_ref().map_or(String::new(), |name| format!(", for {name}"));
            format!(
                "the importance draws were used up with standard errors of up to {worst:.3} standard deviations{of}: more than \
                 is aimed at, and too little to matter"
            )
        }
        Finding::GapLeft { gradients, gap, asked } => format!(
            "the fit used up its {gradients} gradients with an estimated gap of {}; {asked} was asked for",
            nats(*gap)
        ),
        Finding::GapCorrected { gap } => format!(
            "the Gaussian was left with an estimated gap of {}, which the weights of draws make up for",
            nats(*gap)
        ),
        Finding::Stopped { gap: Some(gap) } => {
            format!("the fit was stopped at an estimated gap of {}", nats(*gap))
        }
        Finding::Stopped { gap: None } => "the fit was stopped before it was done".into(),
        Finding::MethodStopped { method } => format!("`{method}` was stopped before it was done"),
        Finding::StepsStopped { taken, planned } => format!("stopped after {taken} of {planned} steps"),
        Finding::StepsTooFew { needed, taken, epsilon } => format!(
            "{needed} steps are needed for an error of {epsilon}; after {taken} the bound is the one printed (give --steps to change it)"
        ),
        Finding::MoreSteps { gap, error } => {
            format!("by fresh draws the ELBO could be {gap:.2} ± {error:.2} nats higher: give more --steps")
        }
        Finding::NotANumber { trouble } => not_a_number(trouble),
        Finding::NotFiniteAtDraws {} => "the log density is not finite at draws of the approximation".into(),
        Finding::FixedDraws { draws, gap } => format!(
            "the ELBO on its {draws} fixed draws may be {gap:.2} nats above the truth; with more draws it could be raised"
        ),
        Finding::OtherModes { count, mass } => format!(
            "the posterior has {count} other mode(s) found from other starting points, the largest with a mass of about {} \
             of the one that was fitted; the answer describes one mode alone",
            if *mass < SMALL_MASS { format!("{mass:.0e}") } else { format!("{mass:.2}") }
        ),
        Finding::OtherModeOf { name, mass } => format!(
            "given the others {name} has another mode, with about {mass:.1e} of the mass, which the answer may leave out; \
             --fallback nuts samples all of them"
        ),
        Finding::SeveralModes { count } => format!(
            "the posterior has {count} modes, found from several starting points; the answer is of all of them, with the mass that each has"
        ),
        Finding::Edges { names } => format!(
            "within four standard deviations of {} the log density is not finite: it ends where a distribution or a function has no \
             value; declare these bounds, for example `param {} : real > 0`, or `real > max(y)` where no y may be larger",
            first_few(names),
            names.first().map_or("", String::as_str)
        ),
        Finding::Endless { names } => format!(
            "the posterior has no end along a direction of {}: far out the log density is no lower than here, so there is \
             no mean to estimate; give what the data do not tell a prior that is a distribution",
            first_few(names)
        ),
        Finding::EndlessMargin { names } => format!(
            "the posterior of {} has no end: with the other parameters wherever they fit best, its density falls no \
             faster than one over the distance, so there is no mass to share out and nothing to be fitted; give what the data do not \
             hold a prior that is a distribution",
            first_few(names)
        ),
        Finding::NoVariance { names, power } => slow(
            names,
            *power,
            "it has no variance, and what is reported as one depends on how far draws reach",
        ),
        Finding::SlowTails { names, power } => slow(
            names,
            *power,
            "a few draws far away decide its standard deviation, which is known less well than it says; its quantiles are not affected",
        ),
        Finding::LongTails { names } | Finding::LongTailsDerived { names } => format!(
            "the tails of {} are so long that a few draws make the mean and the standard deviation, and there may be none: go by the quantiles",
            first_few(names)
        ),
        Finding::FlatPriors { names } => format!(
            "flat priors ({}) are no distributions: where the data do not hold what they leave open (the scale of few groups, or of few \
             rows) there is no posterior, and nothing to be fitted; give them priors that are, such as `half_normal` for a scale",
            first_few(names)
        ),
        Finding::Images { exchanged, mirrored, ordered } => images(exchanged, mirrored, ordered.as_ref()),
        Finding::LabelsAveraged { exchanged, ordered } => format!(
            "the log density is the same if the first two places of {} are exchanged: each is summarised over all labels, so that components cannot be \
             told apart; {}",
            exchanged.join(", "),
            in_order(ordered.as_ref())
        ),
        Finding::PriorConflict { names, posterior: [mean, sd], prior: [middle, width] } => format!(
            "the prior of {} hardly reaches where the data put it: {} is {} ± {}, and its prior {} ± {}; look at the units of \
             the data, or give a prior that allows such values",
            first_few(names),
            names.first().map_or("", String::as_str),
            number(*mean),
            number(*sd),
            number(*middle),
            number(*width)
        ),
        Finding::PriorKept { names } => {
            format!("the posterior of {} is its prior: the data say nothing of it", first_few(names))
        }
        Finding::LostInRounding { log_density } => format!(
            "the log density is about {log_density:.0e} where the posterior is, and the differences that make the answer are lost in its \
             rounding errors; bring data and priors to the same scale"
        ),
        Finding::Vanished { names } => format!(
            "next to nothing is left of {}: where data are matched exactly the density grows without end as their scale goes to 0, and there \
             is no posterior; look for an outcome among its own predictors, for values that are all the same, and for more \
             coefficients than rows",
            first_few(names)
        ),
        Finding::NotFinite { names } => format!(
            "{}: not a number, or infinite, at some draws, and so are the summaries; look at what is computed there \
             (`log` of a negative number, a division by zero, an overflow)",
            first_few(names)
        ),
        Finding::Coding { text } => text.clone(),
        done => what_was_done(done),
    }
}

/// The findings of named methods, of chains, and of coordinates.
fn what_was_done(finding: &Finding) -> String {
    match finding {
        Finding::NotMixed { rhat, effective } => format!(
            "the NUTS chains have not mixed: R-hat is {rhat:.3} (at most {RHAT} is wanted) and {effective:.0} draws are effective (at least {EFFECTIVE})"
        ),
        Finding::Divergent { count, of } => format!(
            "{count} of the {of} NUTS transitions diverged: the sampler may miss a narrow part of the posterior"
        ),
        Finding::Sampled { count, length, rhat, effective, divergent } => format!(
            "sampled with NUTS: {count} chains of {length} draws, largest R-hat {rhat:.3}, smallest effective number {effective:.0}, \
             {divergent} divergent transitions"
        ),
        Finding::LostPaths { lost, of } => {
            format!("{lost} of {of} paths found no Gaussian with a finite ELBO")
        }
        Finding::OtherCoordinates {} => {
            "in the coordinates that `centered` or `noncentered` asks for k-hat was not below 0.7: \
                                         fitted in others"
                .into()
        }
        Finding::StatesTaken { names } => format!(
            "took {} by the states that they lead to; the quantities reported are those of the model as written",
            names.join(", ")
        ),
        Finding::BoundsLeftOut { names } => format!(
            "fitted {} without bounds, and gave draws beyond those of the model as written no weight",
            names.join(", ")
        ),
        Finding::FittedIn { names, coordinates } => format!(
            "fitted {} {coordinates}; the quantities reported are those of the model as written",
            names.join(", ")
        ),
        Finding::TakenApart { outer, inner, how } => {
            let (outer, inner) = (outer.join(", "), inner.join(", "));
            match how {
                Inner::Exactly => format!("fitted {outer}, and took {inner} given these, exactly"),
                Inner::Laplace => format!(
                    "fitted {outer}, and took {inner} given these, by Laplace's approximation, corrected by weights"
                ),
            }
        }
        Finding::OwnKhat { khat, own, method } => format!(
            "k-hat {khat:.2} is that of the draws that correct the answer; the Gaussian of `{method}` by itself has {own:.2}"
        ),
        Finding::Steps { steps, batch, coordinates, parts } => {
            format!("{steps} steps of {batch} draws {coordinates}; {}", parts.join(", "))
        }
        Finding::Constants { smoothness, strong_concavity } => {
            format!("certified there: M = {}, mu = {}", number(*smoothness), number(*strong_concavity))
        }
        Finding::Subsample { size, of, bound_lost } => {
            let bound = match bound_lost {
                true => {
                    ": the noise is larger than the theorem of the step rule assumes, and its bound does not hold"
                }
                false => "",
            };
            format!("{size} of {of} observations a step, reshuffled at each pass{bound}")
        }
        Finding::OtherFamily { family } => format!(
            "the ELBO is that of the family {family}; checks, corrections and summaries start from the Gaussian with its mean \
             and covariance"
        ),
        other => other.kind().meaning.into(),
    }
}

fn not_a_number(trouble: &Trouble) -> String {
    let Trouble { line, statement, row, operation, place } = trouble;
    let row = row.map_or(String::new(), |row| format!(", row {row}"));
    let listed = |numbers: &[f64]| numbers.iter().map(|x| number(*x)).collect::<Vec<_>>().join(", ");
    let what = match operation {
        Some((name, from)) => format!("{name}({}) is no number", listed(from)),
        None => "the gradient is no number".into(),
    };
    let place: Vec<String> = place.iter().map(|(name, x)| format!("{name} = {}", number(*x))).collect();
    format!(
        "within a few standard deviations of the answer the log density or its gradient is no number: line {line}{row}, `{statement}`, where {}: \
         {what}; such points are not zero density, and the answer leaves them out",
        place.join(", ")
    )
}

fn heavy_weights(khat: f64, moved: &[String]) -> String {
    format!(
        "k-hat is {khat:.2}, not below {KHAT_LIMIT}: the Gaussian may be a poor approximation, most of all for {}, and \
         its summaries are not corrected; sample with `--fallback nuts`, or say with priors what is known of these",
        moved.join(", ")
    )
}

fn slow(names: &[String], power: f64, so: &str) -> String {
    format!(
        "the posterior of {} falls only like a power of the distance (about {power:.1}), as a heavy-tailed prior does where data say \
         little: {so}; a prior with lighter tails, such as `normal`, would hold it",
        first_few(names)
    )
}

/// How labels are told apart.
fn in_order(ordered: Option<&(String, usize, bool)>) -> String {
    match ordered {
        Some((name, size, positive)) => format!(
            "put labels in order, for example `param {name} : {}ordered[{size}]`",
            if *positive { "positive_" } else { "" }
        ),
        None => "tell the labels apart by their priors".into(),
    }
}

fn images(exchanged: &[String], mirrored: &[String], ordered: Option<&(String, usize, bool)>) -> String {
    let labels = format!("the first two places of {} are exchanged", exchanged.join(", "));
    let signs = format!("the coordinates of {} change sign", mirrored.join(", "));
    let in_order = in_order(ordered);
    let (what, remedy) = match (exchanged.is_empty(), mirrored.is_empty()) {
        (true, _) => (signs, "fix a sign, for example with `real > 0` for one of them".into()),
        (false, true) => (labels, in_order),
        (false, false) => (format!("{labels} and {signs}"), in_order),
    };
    format!(
        "the log density is the same if {what}: the posterior has images of what is reported, which it leaves out; {remedy}"
    )
}

/// A gap as it is written: where it is huge its digits mean nothing.
fn nats(gap: f64) -> String {
    if gap < HUGE_GAP { format!("{gap:.3} nats") } else { format!("{gap:.0e} nats") }
}

/// Four decimals, or four digits of a number that has none there.
fn number(x: f64) -> String {
    if x == 0.0 || (1e-2..1e6).contains(&x.abs()) { format!("{x:.4}") } else { format!("{x:.3e}") }
}
