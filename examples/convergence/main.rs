//! The theory, measured: `cargo run --release --example convergence -- docs/figures` writes figures and tables there.
//!
//! Measured errors against the theorems' bounds for every algorithm and schedule on the paper's three models, the noise of
//! the estimators along a path, practical runs without constants, and the cost of a step against the dimension.

mod plot;
#[path = "../../tests/vi_support/mod.rs"]
mod support;

use plot::{Line, figure};
use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;
use stickler::num::stream::Stream;
use stickler::target::from_fn;
use stickler::vi::estimator::Estimator;
use stickler::vi::{Choice, Config, Estimate, Row, Start, fit};
use support::experiment::{Experiment, mean, powers};
use support::*;

const SEEDS: u64 = 16;

fn main() -> io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "convergence".into()));
    fs::create_dir_all(&folder)?;
    let models =
        [LinearModel::linear(12, 2, 1.0), LinearModel::logistic(16, 2), LinearModel::hierarchical(2, 6, 1)];
    let mut table = Table::new(&folder, "bounds.csv", "model,method,step,steps,error,standard_error,bound")?;
    for model in &models {
        distances(model, &folder, &mut table)?;
        gaps(model, &folder, &mut table)?;
    }
    noise_along_a_path(&folder)?;
    practical(&folder)?;
    cost(&folder)?;
    eprintln!("done: figures and tables are in {}", folder.display());
    Ok(())
}

/// A CSV file.
struct Table(fs::File);

impl Table {
    fn new(folder: &Path, name: &str, header: &str) -> io::Result<Table> {
        let mut file = fs::File::create(folder.join(name))?;
        writeln!(file, "{header}")?;
        Ok(Table(file))
    }
}

/// Runs, writes the rows of the table, and gives the two lines of the figure.
fn lines(
    experiment: &mut Experiment,
    label: &str,
    colour: usize,
    points: &[usize],
    table: &mut Table,
) -> io::Result<Vec<Line>> {
    let step = experiment.config.step.expect("a step rule");
    let guarantee = step.row.guarantee.expect("a rule of a theorem");
    let name = experiment.model.name;
    eprintln!("{name}: {label}, {step}");
    let errors = experiment.errors(points, SEEDS, guarantee.measure);
    let (mut measured, mut bounds) = (Vec::new(), Vec::new());
    for (k, steps) in points.iter().enumerate() {
        let (mean, error) = mean(&errors, k);
        let bound = (guarantee.bound)(&experiment.bound, step.value, *steps).unwrap_or(f64::NAN);
        writeln!(table.0, "{name},{label},{},{steps},{mean:.6e},{error:.2e},{bound:.6e}", step.row.name)?;
        measured.push((*steps as f64, mean));
        bounds.push((*steps as f64, bound));
    }
    let line = |label: String, points, dashed| Line { label, points, colour, dashed };
    Ok(vec![line(label.into(), measured, false), line(format!("{label}, bound"), bounds, true)])
}

/// Strongly concave theorems: E‖wᵀ - w*‖².
fn distances(model: &LinearModel, folder: &Path, table: &mut Table) -> io::Result<()> {
    let mut all = Vec::new();
    let checkpoints = powers(2, 17, 1);
    let rows = [("prox-energy", "prox_decay"), ("proj-entropy", "proj_decay"), ("proj-stl", "proj_decay")];
    for (colour, (method, step)) in rows.into_iter().enumerate() {
        all.extend(lines(&mut Experiment::new(model, method, step), method, colour, &checkpoints, table)?);
    }
    if model.name == "linear" {
        let mut experiment = Experiment::new(model, "proj-stl", "stl_gaussian");
        let even: Vec<usize> = (1..=30).map(|k| 1500 * k).collect();
        all.extend(lines(&mut experiment, "proj-stl-constant", 3, &even, table)?);
    }
    let title = format!("{}: squared distance from the optimum", model.name);
    write(folder, &format!("distance-{}.svg", model.name), &figure(&title, "steps", "E‖w - w*‖²", &all))
}

/// Concave theorems: E f(w̄ᵀ) - inf f.
fn gaps(model: &LinearModel, folder: &Path, table: &mut Table) -> io::Result<()> {
    let mut all = Vec::new();
    let lengths = powers(4, 16, 2);
    let rows =
        [("prox-energy", "prox_concave"), ("proj-entropy", "proj_concave"), ("proj-stl", "proj_concave")];
    for (colour, (method, step)) in rows.into_iter().enumerate() {
        all.extend(lines(&mut Experiment::new(model, method, step), method, colour, &lengths, table)?);
    }
    let title = format!("{}: gap of the weighted average", model.name);
    write(folder, &format!("gap-{}.svg", model.name), &figure(&title, "steps", "E f(w̄) - inf f, nats", &all))
}

/// Variance (trace) of one draw of each estimator along a run of Prox-SGD with STL.
fn noise_along_a_path(folder: &Path) -> io::Result<()> {
    eprintln!("noise along a path");
    let mut table = Table::new(folder, "noise.csv", "model,estimator,step,variance")?;
    let mut lines = Vec::new();
    for (shade, model) in [LinearModel::linear(60, 5, 1.0), LinearModel::logistic(60, 5)].iter().enumerate() {
        let mut config = Config::named("prox-stl").expect("a method of the table");
        (config.steps, config.start) = (1024, Start::Standard);
        let mut path = Vec::new();
        fit(model, &config, &mut |p| {
            if p.step.is_power_of_two() {
                path.push((p.step, p.iterate.to_vec()));
            }
            ControlFlow::Continue(())
        })
        .expect("a smooth target");
        for (colour, estimator) in Estimator::table().iter().take(3).enumerate() {
            let variance = |w: &[f64]| variance(model, &config, estimator, w);
            let points: Vec<(f64, f64)> = path.iter().map(|(step, w)| (*step as f64, variance(w))).collect();
            for (step, v) in &points {
                writeln!(table.0, "{},{},{step},{v:.6e}", model.name, estimator.name)?;
            }
            let label = format!("{}, {}", estimator.name, model.name);
            lines.push(Line { label, points, colour, dashed: shade == 1 });
        }
    }
    write(
        folder,
        "noise.svg",
        &figure("variance of one draw along a run", "step", "trace of the covariance", &lines),
    )
}

fn variance(model: &LinearModel, config: &Config, estimator: &'static Estimator, w: &[f64]) -> f64 {
    let (draws, mut stream) = (1000, Stream::new(5, 5, 5));
    let mut estimate = Estimate::new(model, config.family, config.factor, estimator, 1);
    let (mut sum, mut squares, mut g) = (vec![0.0; w.len()], 0.0, vec![0.0; w.len()]);
    for _ in 0..draws {
        let u: Vec<f64> = (0..model.d).map(|_| stream.normal()).collect();
        estimate.at(w, &u, &mut g).expect("a smooth target");
        sum.iter_mut().zip(&g).for_each(|(s, g)| *s += g);
        squares += dot(&g, &g);
    }
    let n = f64::from(draws);
    squares / n - dot(&sum, &sum) / (n * n)
}

/// Runs without constants, in the model's own coordinates: gap against gradients.
fn practical(folder: &Path) -> io::Result<()> {
    eprintln!("practical runs");
    let mut table = Table::new(folder, "practical.csv", "model,method,step,gradients,gap,standard_error")?;
    let model = LinearModel::logistic(200, 10);
    let mut lines = Vec::new();
    let rows = [
        ("prox-energy", "curvature"),
        ("proj-entropy", "curvature"),
        ("proj-stl", "curvature"),
        ("prox-stl", "curvature"),
        ("prox-energy", "dowg"),
        ("adam-entropy", "adam=0.01"),
    ];
    for (colour, (method, step)) in rows.into_iter().enumerate() {
        let mut config = Config::named(method).expect("a method of the table");
        config.step = Some(step.parse::<Choice<_>>().expect("a step rule of the table"));
        let (best, dense) = model.best(config.factor);
        let lowest = model.objective(&best[..model.d], &dense);
        let mut points = Vec::new();
        for steps in powers(5, 12, 1) {
            config.steps = steps;
            let mut gradients = 0;
            let mut one = |seed| {
                config.seed = seed;
                let run = fit(&model, &config, &mut keep_going).expect("a smooth target");
                gradients = run.gradients;
                vec![model.objective(&run.mean, &run.factor()) - lowest]
            };
            let gaps: Vec<Vec<f64>> = (1..=4).map(&mut one).collect();
            let (gap, error) = mean(&gaps, 0);
            writeln!(table.0, "{},{method},{step},{gradients},{gap:.6e},{error:.2e}", model.name)?;
            points.push((gradients as f64, gap));
        }
        lines.push(Line { label: format!("{method}, {step}"), points, colour, dashed: false });
    }
    let title = "logistic regression, d = 10, no constants";
    write(folder, "practical.svg", &figure(title, "gradients", "gap, nats", &lines))
}

/// Time of a step outside the model: a standard normal target, 16 draws.
fn cost(folder: &Path) -> io::Result<()> {
    let mut table = Table::new(folder, "cost.csv", "method,dimension,microseconds_per_step")?;
    let mut lines = Vec::new();
    for (colour, method) in
        ["mean-field", "prox-energy", "prox-stl", "proj-stl", "proj-entropy"].iter().enumerate()
    {
        let mut points = Vec::new();
        for d in [10, 30, 100, 300, 1000, 2000] {
            if d > 1000 && method.starts_with("proj") {
                continue;
            }
            eprintln!("cost of a step: {method}, d = {d}");
            let micros = 1e6 * seconds_per_step(method, d);
            writeln!(table.0, "{method},{d},{micros:.2}")?;
            points.push((f64::from(d as u32), micros));
        }
        lines.push(Line { label: (*method).into(), points, colour, dashed: false });
    }
    write(folder, "cost.svg", &figure("cost of a step of 16 draws", "dimension", "microseconds", &lines))
}

fn seconds_per_step(method: &str, d: usize) -> f64 {
    let target = from_fn(d, move |z: &[f64], g: &mut [f64]| {
        g.iter_mut().zip(z).for_each(|(g, z)| *g = -z);
        -0.5 * dot(z, z)
    });
    let mut config = Config::named(method).expect("a method of the table");
    config.step = Some(Choice::with("constant", 1e-3).expect("a step rule of the table"));
    config.start = Start::Standard;
    config.elbo_draws = 2;
    // The first steps hold the allocation and the look at the curvature; the time is that of the steps after them.
    (config.steps, config.trace) = (if d <= 100 { 400 } else { 24 }, 1);
    let (skip, mut begin) = (config.steps / 4, Instant::now());
    let mut elapsed = 0.0;
    fit(&target, &config, &mut |p| {
        if p.step == skip {
            begin = Instant::now();
        }
        elapsed = begin.elapsed().as_secs_f64();
        ControlFlow::Continue(())
    })
    .expect("a smooth target");
    elapsed / (config.steps - skip) as f64
}

fn write(folder: &Path, name: &str, svg: &str) -> io::Result<()> {
    fs::write(folder.join(name), svg)
}
