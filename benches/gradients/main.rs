//! `cargo bench --bench gradients`: seconds per gradient of the models in docs/performance.md, beside
//! gradients by hand.
//!
//! Names as arguments restrict the table: `cargo bench --bench gradients -- eight garch`, and `--isa avx2`
//! (or portable, avx512) holds the work to an instruction set. Models of posteriordb need its data beside the
//! repository and are left out where they are not.

mod kernels;
#[path = "../simulated/mod.rs"]
mod simulated;

use kernels::{ByHand, Garch, Groups, Logistic, Process, Schools, call};
use serde_json::Value;
use simulated::Table;
use std::path::{Path, PathBuf};
use std::time::Instant;
use stickler::data::Dataset;
use stickler::num::dispatch::{Level, hold_to};
use stickler::num::pages::LargePages;
use stickler::num::real::{F16, Packed, Zero};
use stickler::num::stream::Stream;
use stickler::plan::Peak;
use stickler::target::{ModelTarget, Target};

#[global_allocator]
static ALLOCATOR: LargePages = LargePages;

/// Draws of a batch.
const BATCH: usize = 16;

/// A row of the table: microseconds of the best peer and of Stan's compiled C++ for one gradient.
struct Row {
    name: &'static str,
    model: &'static str,
    data: Data,
    best_peer: f64,
    stan: f64,
}

enum Data {
    Posterior(&'static str),
    HierarchicalLogistic,
    Logistic,
}

#[rustfmt::skip]
const TABLE: &[Row] = &[
    Row { name: "eight schools", model: "models/posteriordb/eight_schools-eight_schools_noncentered.ppl", data: Data::Posterior("eight_schools-eight_schools_noncentered"), best_peer: 0.044, stan: 0.32 },
    Row { name: "kidiq", model: "models/posteriordb/kidiq-kidscore_interaction.ppl", data: Data::Posterior("kidiq-kidscore_interaction"), best_peer: 0.72, stan: 0.72 },
    Row { name: "nes2000", model: "models/posteriordb/nes2000-nes.ppl", data: Data::Posterior("nes2000-nes"), best_peer: 0.99, stan: 0.99 },
    Row { name: "diamonds", model: "models/posteriordb/diamonds-diamonds.ppl", data: Data::Posterior("diamonds-diamonds"), best_peer: 24.0, stan: 24.0 },
    Row { name: "wells", model: "models/posteriordb/wells_data-wells_dae_inter_model.ppl", data: Data::Posterior("wells_data-wells_dae_inter_model"), best_peer: 37.0, stan: 48.0 },
    Row { name: "arK", model: "models/posteriordb/arK-arK.ppl", data: Data::Posterior("arK-arK"), best_peer: 0.59, stan: 0.59 },
    Row { name: "garch11", model: "models/posteriordb/garch-garch11.ppl", data: Data::Posterior("garch-garch11"), best_peer: 5.9, stan: 8.9 },
    Row { name: "gp_pois_regr", model: "models/posteriordb/gp_pois_regr-gp_pois_regr.ppl", data: Data::Posterior("gp_pois_regr-gp_pois_regr"), best_peer: 3.5, stan: 3.5 },
    Row { name: "radon, Minnesota", model: "benches/models/radon_noncentered.ppl", data: Data::Posterior("radon_mn-radon_variable_intercept_slope_centered"), best_peer: 8.3, stan: 8.3 },
    Row { name: "radon, all states", model: "benches/models/radon_noncentered.ppl", data: Data::Posterior("radon_all-radon_variable_intercept_noncentered"), best_peer: 115.0, stan: 115.0 },
    Row { name: "hierarchical logistic", model: "benches/models/hierarchical_logistic.ppl", data: Data::HierarchicalLogistic, best_peer: 242.0, stan: 287.0 },
    Row { name: "logistic 100000 x 100", model: "benches/models/logistic_wide.ppl", data: Data::Logistic, best_peer: 3650.0, stan: 8950.0 },
];

fn main() {
    let mut names: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let Some(at) = names.iter().position(|a| a == "--isa") {
        let name: String = names.drain(at..(at + 2).min(names.len())).collect::<Vec<_>>().concat();
        let level = Level::ALL.into_iter().find(|level| format!("--isa{}", level.name()) == name);
        let held = level.map(hold_to);
        assert!(
            held.is_some() && held == level,
            "--isa takes portable, avx2 or avx512, if the processor has it"
        );
    }
    let wanted = |name: &str| names.is_empty() || names.iter().any(|n| name.contains(n.as_str()));
    println!(
        "{:<24} {:>9} {:>9} {:>9} {:>10} {:>9} {:>9} {:>8}",
        "µs per gradient", "one draw", "in batch", "median", "best peer", "faster by", "by hand", "ratio"
    );
    let mut logs = Vec::new();
    for row in TABLE.iter().filter(|row| wanted(row.name)) {
        let Some((target, kernel)) = prepare(row) else { continue };
        let (one, _) = time(&target, 1);
        let (batched, median) = time(&target, BATCH);
        let hand = kernel.map(|k| k(&target));
        let shown = hand.map_or(String::new(), |h| format!("{:>9.3} {:>8.2}", 1e6 * h, batched / h));
        println!(
            "{:<24} {:>9.3} {:>9.3} {:>9.3} {:>10.3} {:>9.2} {shown}",
            row.name,
            1e6 * one,
            1e6 * batched,
            1e6 * median,
            row.best_peer,
            row.best_peer / (1e6 * batched)
        );
        logs.push((row.stan / (1e6 * batched)).ln());
    }
    if !logs.is_empty() {
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        println!(
            "\n{:.1} times faster than Stan's compiled C++, as the geometric mean of these rows",
            mean.exp()
        );
    }
    println!("{:.1} GFlop/s at most in products of matrices, one thread", Peak::measure().operations / 1e9);
    if names.is_empty() {
        growth();
    }
}

type Kernel = Box<dyn Fn(&ModelTarget) -> f64>;

/// The compiled model, and its gradient by hand where there is one.
fn prepare(row: &Row) -> Option<(ModelTarget, Option<Kernel>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(root.join(row.model)).ok()?;
    let (data, kernel) = match row.data {
        Data::Posterior(name) => {
            let path: PathBuf = root.join("../shared/posteriordb").join(name).join("data.json");
            let text = std::fs::read_to_string(&path).ok()?;
            let kernel = posterior_kernel(row.name, &serde_json::from_str(&text).ok()?);
            (Dataset::read(&[path]).ok()?, kernel)
        }
        Data::HierarchicalLogistic => {
            let table = simulated::hierarchical();
            let data = dataset(&table)?;
            (data, Some(hand(Groups { y: table.y, x: table.x, size: simulated::GROUP })))
        }
        Data::Logistic => {
            let table = simulated::logistic(100_000, 100);
            let data = dataset(&table)?;
            (data, Some(hand(Logistic { y: table.y, x: table.x, columns: 100 })))
        }
    };
    Some((ModelTarget::new(&source, &data).ok()?, kernel))
}

fn dataset(table: &Table) -> Option<Dataset> {
    Dataset::from_texts(&[("data.json", &table.text())]).ok()
}

fn numbers(data: &Value, name: &str) -> Vec<f64> {
    let list = data[name].as_array().map(Vec::as_slice).unwrap_or(&[]);
    list.iter().filter_map(Value::as_f64).collect()
}

fn posterior_kernel(name: &str, data: &Value) -> Option<Kernel> {
    match name {
        "eight schools" => Some(hand(Schools { y: numbers(data, "y"), sigma: numbers(data, "sigma") })),
        "garch11" => Some(hand(Garch { y: numbers(data, "y"), first: data["sigma1"].as_f64()? })),
        "gp_pois_regr" => Some(hand(Process { x: numbers(data, "x"), k: numbers(data, "k") })),
        _ => None,
    }
}

/// Times a kernel for a batch, after making sure that it computes the gradient of the model.
fn hand(kernel: impl ByHand + 'static) -> Kernel {
    Box::new(move |target| {
        let d = target.dimension();
        let z = points(d);
        let (mut value, mut expected) = (vec![0.0; BATCH], vec![0.0; d * BATCH]);
        target.evaluator().evaluate(&z, BATCH, &mut value, &mut expected);
        let lanes: Vec<F16> = z.chunks_exact(BATCH).map(|c| F16(std::array::from_fn(|b| c[b]))).collect();
        let mut gradient = vec![F16::zero(); d];
        call(&kernel, &lanes, &mut gradient);
        let size = expected.iter().fold(1.0_f64, |m, g| m.max(g.abs()));
        for (i, (g, e)) in gradient.iter().zip(expected.chunks_exact(BATCH)).enumerate() {
            let off = (0..BATCH).map(|b| (g.lane(b) - e[b]).abs()).fold(0.0, f64::max);
            assert!(off <= 1e-8 * size, "coordinate {i}: {} by hand and {} by plan", g.lane(0), e[0]);
        }
        best(|| {
            std::hint::black_box(call(&kernel, std::hint::black_box(&lanes), &mut gradient));
        })
        .0 / BATCH as f64
    })
}

fn points(d: usize) -> Vec<f64> {
    let mut z = vec![0.0; d * BATCH];
    Stream::new(1, 0, 0).fill_normal(&mut z);
    z.iter().map(|x| 0.1 * x).collect()
}

/// Seconds per draw, best and median.
fn time(target: &ModelTarget, draws: usize) -> (f64, f64) {
    let z: Vec<f64> = points(target.dimension())[..target.dimension() * draws].to_vec();
    let (mut value, mut gradient) = (vec![0.0; draws], vec![0.0; z.len()]);
    let mut evaluator = target.evaluator();
    let (least, median) = best(|| {
        evaluator.evaluate(std::hint::black_box(&z), draws, &mut value, &mut gradient);
        std::hint::black_box(&gradient);
    });
    (least / draws as f64, median / draws as f64)
}

/// Seconds of a piece of work, the best and the median of runs of about a millisecond.
fn best(mut work: impl FnMut()) -> (f64, f64) {
    let mut run = |times: usize| {
        let start = Instant::now();
        (0..times).for_each(|_| work());
        start.elapsed().as_secs_f64() / times as f64
    };
    run(1);
    let once = run(1).max(1e-9);
    let times = (1e-3 / once).clamp(1.0, 1e6) as usize;
    let mut all: Vec<f64> =
        (0..(0.5 / (once * times as f64)).clamp(10.0, 400.0) as usize).map(|_| run(times)).collect();
    all.sort_by(f64::total_cmp);
    (all[0], all[all.len() / 2])
}

/// How the cost grows with rows, columns and draws: slopes of log seconds.
fn growth() {
    let source = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/models/logistic_wide.ppl"),
    );
    let Ok(source) = source else { return };
    let cost = |n: usize, k: usize, draws: usize| {
        let data = dataset(&simulated::logistic(n, k)).expect("the data are read");
        let target = ModelTarget::new(&source, &data).expect("the model compiles");
        let z: Vec<f64> = (0..draws).flat_map(|_| points(k + 1)[..k + 1].to_vec()).collect();
        let (mut value, mut gradient) = (vec![0.0; draws], vec![0.0; z.len()]);
        let mut evaluator = target.evaluator();
        best(|| evaluator.evaluate(&z, draws, &mut value, &mut gradient)).0
    };
    let slope = |a: f64, b: f64, factor: f64| (b / a).ln() / factor.ln();
    println!("\nlogistic regression, slope of log seconds against the log of");
    println!(
        "  rows    (2000 to 8000, 20 columns, 16 draws) {:.2}",
        slope(cost(2000, 20, 16), cost(8000, 20, 16), 4.0)
    );
    println!(
        "  columns (20 to 80, 2000 rows, 16 draws)      {:.2}",
        slope(cost(2000, 20, 16), cost(2000, 80, 16), 4.0)
    );
    println!(
        "  draws   (16 to 64, 2000 rows, 20 columns)    {:.2}",
        slope(cost(2000, 20, 16), cost(2000, 20, 64), 4.0)
    );
}
