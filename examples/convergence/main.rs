//! The theory, measured: `cargo run --release --example convergence -- docs/figures` writes figures and
//! tables there.
//!
//! Measured errors against the theorems' bounds for every algorithm and schedule on the paper's three models,
//! the noise of the estimators along a path, practical runs without constants, and the cost of a step against
//! the dimension.

mod bounds;
mod cost;
mod plot;
#[path = "../../tests/vi/vi_support/mod.rs"]
mod support;

use plot::{Line, figure};
use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use stickler::num::stream::Stream;
use stickler::vi::estimator::Estimator;
use stickler::vi::{Choice, Config, Estimate, Row, Start, fit};
use support::experiment::{mean, powers};
use support::*;

fn main() -> io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "convergence".into()));
    fs::create_dir_all(&folder)?;
    bounds::against_the_theorems(&folder)?;
    noise_along_a_path(&folder)?;
    practical(&folder)?;
    cost::of_a_step(&folder)?;
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

fn write(folder: &Path, name: &str, svg: &str) -> io::Result<()> {
    fs::write(folder.join(name), svg)
}
