//! `cargo bench --bench steps`: what a step of each method costs beyond the gradient, from 10 to 2000
//! coordinates.
//!
//! The cheap model is a standard normal, where nearly all of the time is spent outside; the costly one is a
//! compiled logistic regression of 2000 rows. Time inside the model is taken at the calls of its evaluator.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use stickler::data::Dataset;
use stickler::num::stream::Stream;
use stickler::target::{Evaluator, ModelTarget, Target};
use stickler::vi::{Choice, Config, Constants, Start, fit};

/// The methods of the table: a row for each factor, and for each way to use it.
const METHODS: [&str; 6] =
    ["mean-field", "prox-energy", "prox-stl", "proj-stl", "proj-entropy", "prox-energy-symmetric"];
const SIZES: [usize; 6] = [10, 30, 100, 300, 1000, 2000];
/// Rows of the costly model.
const ROWS: usize = 2000;

fn main() {
    println!("microseconds of a step of 16 draws, one thread; standard normal target\n");
    header(&SIZES);
    for method in METHODS {
        let costs: Vec<Cost> = SIZES.iter().map(|&d| cost(&Normal(d), method, None)).collect();
        row(method, &costs, |c| format!("{:.0}", 1e6 * c.step));
        println!("{:<24} slope of the last three {:.2}", "", slope(&costs));
    }
    println!("\nthe same at the floor, where the projection clips something in every step\n");
    header(&SIZES);
    // The optimum C = I is on the edge of σ_min(C) ≥ 1/√M.
    let edge = Some(Constants { smoothness: 1.0, strong_concavity: 1.0 });
    for method in METHODS.into_iter().filter(|m| m.starts_with("proj")) {
        let costs: Vec<Cost> = SIZES.iter().map(|&d| cost(&Normal(d), method, edge)).collect();
        row(method, &costs, |c| format!("{:.0}", 1e6 * c.step));
    }
    println!("\nshare of a step spent outside the model, percent; logistic regression of {ROWS} rows\n");
    let models: Vec<ModelTarget> = SIZES.iter().map(|d| logistic(d - 1)).collect();
    header(&SIZES);
    for method in METHODS {
        let costs: Vec<Cost> = models.iter().map(|m| cost(m, method, None)).collect();
        row(method, &costs, |c| format!("{:.1}", 100.0 * c.outside / c.step));
    }
}

fn header(sizes: &[usize]) {
    let columns: String = sizes.iter().map(|d| format!("{:>10}", format!("d = {d}"))).collect();
    println!("{:<24}{columns}", "method");
}

fn row(method: &str, costs: &[Cost], show: impl Fn(&Cost) -> String) {
    let columns: String = costs.iter().map(|c| format!("{:>10}", show(c))).collect();
    println!("{method:<24}{columns}");
}

/// Log-log slope between the first and the last of the largest three sizes.
fn slope(costs: &[Cost]) -> f64 {
    let [.., first, _, last] = costs else { return f64::NAN };
    (last.step / first.step).ln() / (last.d as f64 / first.d as f64).ln()
}

/// Seconds of a step, and of its part outside the model.
struct Cost {
    d: usize,
    step: f64,
    outside: f64,
}

/// The best of several stretches of steps, after a warm-up.
fn cost(target: &dyn Target, method: &str, constants: Option<Constants>) -> Cost {
    let d = target.dimension();
    let timed = Timed { target, inside: AtomicU64::new(0) };
    let mut config = Config::named(method).expect("a method of the table");
    config.step = Some(Choice::with("constant", 1e-4).expect("a step rule of the table"));
    config.start = Start::Scaled { mean: vec![0.0; d], scale: if constants.is_some() { 1.0 } else { 0.5 } };
    config.constants = constants;
    (config.elbo_draws, config.trace) = (2, 1);
    let stretch = match d {
        0..=100 => 100,
        101..=1000 => 4,
        _ => 1,
    };
    config.steps = 2 + 8 * stretch;
    let (mut begin, mut inside) = (Instant::now(), 0);
    let mut best = Cost { d, step: f64::INFINITY, outside: f64::INFINITY };
    fit(&timed, &config, &mut |p| {
        if p.step >= 2 && (p.step - 2) % stretch == 0 {
            let (now, seen) = (Instant::now(), timed.inside.load(Ordering::Relaxed));
            let step = (now - begin).as_secs_f64() / stretch as f64;
            let within = (seen - inside) as f64 * 1e-9 / stretch as f64;
            if p.step > 2 && step < best.step {
                best = Cost { d, step, outside: step - within };
            }
            (begin, inside) = (Instant::now(), seen);
        }
        ControlFlow::Continue(())
    })
    .expect("a smooth target");
    best
}

/// A target that counts the nanoseconds spent in it.
struct Timed<'a> {
    target: &'a dyn Target,
    inside: AtomicU64,
}

impl Target for Timed<'_> {
    fn dimension(&self) -> usize {
        self.target.dimension()
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        Box::new(TimedEvaluator { evaluator: self.target.evaluator(), inside: &self.inside })
    }
}

struct TimedEvaluator<'a> {
    evaluator: Box<dyn Evaluator + 'a>,
    inside: &'a AtomicU64,
}

impl Evaluator for TimedEvaluator<'_> {
    fn evaluate(&mut self, z: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]) {
        let begin = Instant::now();
        self.evaluator.evaluate(z, draws, log_density, gradient);
        self.inside.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }
}

/// The standard normal.
struct Normal(usize);

impl Target for Normal {
    fn dimension(&self) -> usize {
        self.0
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        Box::new(NormalEvaluator)
    }
}

struct NormalEvaluator;

impl Evaluator for NormalEvaluator {
    fn evaluate(&mut self, z: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]) {
        log_density.fill(0.0);
        for (z, g) in z.chunks_exact(draws).zip(gradient.chunks_exact_mut(draws)) {
            for ((z, g), l) in z.iter().zip(g).zip(&mut *log_density) {
                *g = -z;
                *l -= 0.5 * z * z;
            }
        }
    }
}

/// The compiled logistic regression with an intercept and `k` columns.
fn logistic(k: usize) -> ModelTarget {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/models/logistic_wide.ppl");
    let source = std::fs::read_to_string(path).expect("the model beside this bench");
    let mut stream = Stream::new(3, 0, 0);
    let (mut x, mut y) = (String::new(), String::new());
    for n in 0..ROWS {
        let comma = if n == 0 { "" } else { "," };
        let row: Vec<String> = (0..k).map(|_| format!("{:.4}", stream.normal())).collect();
        let _ = write!(x, "{comma}[{}]", row.join(","));
        let _ = write!(y, "{comma}{}", stream.below(2));
    }
    let data = format!("{{\"y\": [{y}], \"x\": [{x}]}}");
    let data = Dataset::from_texts(&[("data.json", &data)]).expect("data");
    ModelTarget::new(&source, &data).expect("the model compiles")
}
