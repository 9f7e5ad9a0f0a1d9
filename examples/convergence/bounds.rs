//! Measured errors against the theorems' right-hand sides: every algorithm, schedule and model.

use super::plot::{Line, figure};
use super::support::LinearModel;
use super::support::experiment::{Errors, Experiment, mean, powers, slope};
use super::{Table, write};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use stickler::vi::bound::{Bound, Measure};
use stickler::vi::{Choice, Row, step::Rule};

const SEEDS: u64 = 16;
/// Where figures of distances end, and where what is left of them is rounding.
const LOWEST: f64 = 1e-8;
const ROUNDING: f64 = 1e-30;
/// The last checkpoints, over which slopes are taken.
const TAIL: usize = 6;

/// A row of the experiment: a method under a step rule.
struct Schedule {
    method: &'static str,
    step: &'static str,
    /// The number of the step rule, if it takes one.
    value: fn(&Bound) -> Option<f64>,
    /// The right-hand side after so many steps, given that number.
    bound: fn(&Bound, f64, usize) -> Option<f64>,
    measure: Measure,
    /// Whether the step depends on the length of the run, so that each length is a run of its own.
    by_length: bool,
}

/// A schedule whose bound the step rule knows.
fn of_rule(method: &'static str, step: &'static str, value: fn(&Bound) -> Option<f64>) -> Schedule {
    let rule = Rule::table().iter().find(|r| r.name == step).expect("a step rule of the table");
    let guarantee = rule.guarantee.expect("a rule of a theorem");
    let by_length = guarantee.measure == Measure::Gap || step == "log_t_over_t";
    Schedule { method, step, value, bound: guarantee.bound, measure: guarantee.measure, by_length }
}

/// A constant step under the strongly concave theorems: the longest that both allow.
fn constant(method: &'static str, bound: fn(&Bound, f64, usize) -> Option<f64>) -> Schedule {
    let longest = |b: &Bound| Some(0.5 * b.strong_concavity / b.noise.a);
    Schedule { method, step: "constant", value: longest, bound, measure: Measure::Distance, by_length: false }
}

fn distances() -> Vec<Schedule> {
    vec![
        of_rule("prox-energy", "prox_decay", |_| None),
        of_rule("proj-entropy", "proj_decay", |_| None),
        of_rule("proj-stl", "proj_decay", |_| None),
        constant("prox-energy", |b, gamma, t| Some(b.prox_constant(gamma, t))),
        constant("proj-entropy", |b, gamma, t| Some(b.proj_constant(gamma, t))),
        of_rule("prox-energy", "log_t_over_t", |b| Some(1.0 / b.strong_concavity)),
    ]
}

fn gaps() -> Vec<Schedule> {
    vec![
        of_rule("prox-energy", "prox_concave", |_| None),
        of_rule("proj-entropy", "proj_concave", |_| None),
        of_rule("proj-stl", "proj_concave", |_| None),
    ]
}

/// All of it: `bounds.csv` with every checkpoint, `bounds.md` with the last ones and slopes, and a figure for
/// each model and measure.
pub fn against_the_theorems(folder: &Path) -> io::Result<()> {
    let mut table = Table::new(folder, "bounds.csv", "model,method,step,steps,error,standard_error,bound")?;
    let mut summary = fs::File::create(folder.join("bounds.md"))?;
    writeln!(
        summary,
        "| model | method | step | bounded | steps | measured | bound | bound / measured | slope |\n|{}",
        "---|".repeat(9)
    )?;
    for model in
        [LinearModel::linear(12, 2, 1.0), LinearModel::logistic(16, 2), LinearModel::hierarchical(2, 6, 1)]
    {
        let mut all = Vec::new();
        for (colour, schedule) in distances().into_iter().enumerate() {
            let points = if schedule.by_length { powers(9, 17, 2) } else { powers(2, 19, 1) };
            all.extend(lines(&model, &schedule, colour, &points, &mut table, &mut summary)?);
        }
        if model.name == "linear" {
            let schedule = of_rule("proj-stl", "stl_gaussian", |_| None);
            let even: Vec<usize> = (1..=30).map(|k| 1500 * k).collect();
            let exponential = lines(&model, &schedule, 6, &even, &mut table, &mut summary)?;
            let decaying = all[4..6].iter().cloned();
            let both: Vec<Line> =
                exponential.into_iter().chain(decaying).map(|l| l.above(ROUNDING)).collect();
            let title = "linear: STL on a Gaussian posterior (dashed: bound)";
            write(folder, "exponential.svg", &figure(title, "steps", "E‖w - w*‖²", &both))?;
        }
        let all: Vec<Line> = all.into_iter().map(|l| l.above(LOWEST)).collect();
        let title = format!("{}: squared distance from the optimum (dashed: bound)", model.name);
        let name = format!("distance-{}.svg", model.name);
        write(folder, &name, &figure(&title, "steps", "E‖w - w*‖²", &all))?;
        let mut all = Vec::new();
        for (colour, schedule) in gaps().into_iter().enumerate() {
            all.extend(lines(&model, &schedule, colour, &powers(4, 18, 2), &mut table, &mut summary)?);
        }
        let title = format!("{}: gap of the weighted average (dashed: bound)", model.name);
        let name = format!("gap-{}.svg", model.name);
        write(folder, &name, &figure(&title, "steps", "E f(w̄) - inf f, nats", &all))?;
    }
    Ok(())
}

/// Runs, writes the rows of the tables, and gives the two lines of the figure.
fn lines(
    model: &LinearModel,
    schedule: &Schedule,
    colour: usize,
    points: &[usize],
    table: &mut Table,
    summary: &mut fs::File,
) -> io::Result<Vec<Line>> {
    let Schedule { method, step, measure, .. } = schedule;
    eprintln!("{}: {method}, {step}", model.name);
    let mut experiment = Experiment::new(model, method, "constant");
    let value = (schedule.value)(&experiment.bound);
    let choice = value.map_or_else(|| Choice::named(step), |v| Choice::with(step, v));
    experiment.config.step = Some(choice.expect("a step rule of the table"));
    let errors = match schedule.by_length {
        true if *measure == Measure::Distance => experiment.last_distances(points, SEEDS),
        _ => experiment.errors(points, SEEDS, *measure),
    };
    let (mut measured, mut bounds) = (Vec::new(), Vec::new());
    for (k, steps) in points.iter().enumerate() {
        let (mean, error) = mean(&errors, k);
        let bound = (schedule.bound)(&experiment.bound, value.unwrap_or(f64::NAN), *steps);
        let bound = bound.unwrap_or(f64::NAN);
        writeln!(table.0, "{},{method},{step},{steps},{mean:.6e},{error:.2e},{bound:.6e}", model.name)?;
        measured.push((*steps as f64, mean));
        bounds.push((*steps as f64, bound));
    }
    summarise(model, schedule, points, &errors, &bounds, summary)?;
    let label = format!("{method}, {step}");
    let line = |label: String, points, dashed| Line { label, points, colour, dashed };
    Ok(vec![line(label, measured, false), line(String::new(), bounds, true)])
}

/// The row of a schedule in the table of the page.
fn summarise(
    model: &LinearModel,
    schedule: &Schedule,
    points: &[usize],
    errors: &Errors,
    bounds: &[(f64, f64)],
    summary: &mut fs::File,
) -> io::Result<()> {
    let last = points.len() - 1;
    // Where noise has gone the error falls to rounding and stays there: the row is that of the first
    // checkpoint below 1e-20.
    let at = (0..last).find(|k| mean(errors, *k).0 < 1e-20).unwrap_or(last);
    let (measured, bound) = (mean(errors, at).0, bounds[at].1);
    let slope = match schedule.step {
        "constant" | "stl_gaussian" => "-".into(),
        _ => {
            let (slope, error) = slope(errors, points, points.len().saturating_sub(TAIL));
            format!("{slope:.2} ± {error:.2}")
        }
    };
    let (bound, ratio) = match bound.is_finite() {
        true if bound < 1e5 * measured => (format!("{bound:.1e}"), format!("{:.0}", bound / measured)),
        true => (format!("{bound:.1e}"), format!("{:.0e}", bound / measured)),
        false => ("-".into(), "-".into()),
    };
    let what = match schedule.measure {
        Measure::Distance => "distance²",
        Measure::Gap => "gap",
    };
    let Schedule { method, step, .. } = schedule;
    let steps = points[at];
    writeln!(
        summary,
        "| {} | {method} | {step} | {what} | {steps} | {measured:.1e} | {bound} | {ratio} | {slope} |",
        model.name
    )
}
