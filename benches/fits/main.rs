//! `cargo bench --bench fits`: the default fit of each model of docs/fit.md as a user runs it, from process
//! start to summary.
//!
//! Names as arguments restrict the table. Models of posteriordb need its data beside the repository and are
//! left out where they are not.

mod crossed;
#[path = "../simulated/mod.rs"]
mod simulated;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Runs of each fit; the fastest counts.
const RUNS: usize = 3;

/// A row of the table: a model, its data, and the seconds to stay below.
struct Row {
    name: &'static str,
    model: &'static str,
    data: Data,
    limit: f64,
}

#[derive(Clone, Copy)]
enum Data {
    /// A folder of posteriordb, with its reference.
    Posterior(&'static str),
    /// The data of a folder, for another model than the reference is for.
    Folder(&'static str),
    Hierarchical,
    Wide,
    /// Ratings, or whether they are high.
    Crossed(bool),
}

#[rustfmt::skip]
const TABLE: &[Row] = &[
    Row { name: "eight schools", model: "models/posteriordb/eight_schools-eight_schools_noncentered.ppl", data: Data::Posterior("eight_schools-eight_schools_noncentered"), limit: 0.05 },
    Row { name: "kidiq", model: "models/posteriordb/kidiq-kidscore_interaction.ppl", data: Data::Posterior("kidiq-kidscore_interaction"), limit: 0.05 },
    Row { name: "nes2000", model: "models/posteriordb/nes2000-nes.ppl", data: Data::Posterior("nes2000-nes"), limit: 0.05 },
    Row { name: "wells", model: "models/posteriordb/wells_data-wells_dae_inter_model.ppl", data: Data::Posterior("wells_data-wells_dae_inter_model"), limit: 0.15 },
    Row { name: "diamonds", model: "models/posteriordb/diamonds-diamonds.ppl", data: Data::Posterior("diamonds-diamonds"), limit: 0.15 },
    Row { name: "arK", model: "models/posteriordb/arK-arK.ppl", data: Data::Posterior("arK-arK"), limit: 0.05 },
    Row { name: "garch11", model: "models/posteriordb/garch-garch11.ppl", data: Data::Posterior("garch-garch11"), limit: 0.05 },
    Row { name: "gp_pois_regr", model: "models/posteriordb/gp_pois_regr-gp_pois_regr.ppl", data: Data::Posterior("gp_pois_regr-gp_pois_regr"), limit: 0.15 },
    Row { name: "radon, Minnesota", model: "models/posteriordb/radon_mn-radon_variable_intercept_slope_centered.ppl", data: Data::Posterior("radon_mn-radon_variable_intercept_slope_centered"), limit: 0.35 },
    Row { name: "radon, all states", model: "benches/models/radon_noncentered.ppl", data: Data::Folder("radon_all-radon_variable_intercept_noncentered"), limit: 15.0 },
    Row { name: "hierarchical logistic", model: "benches/models/hierarchical_logistic.ppl", data: Data::Hierarchical, limit: 5.0 },
    Row { name: "logistic 100000 x 100", model: "benches/models/logistic_wide.ppl", data: Data::Wide, limit: 5.0 },
    Row { name: "crossed effects", model: "benches/models/crossed.ppl", data: Data::Crossed(false), limit: 20.0 },
    Row { name: "crossed, logistic", model: "benches/models/crossed_logistic.ppl", data: Data::Crossed(true), limit: 60.0 },
];

fn main() {
    let names: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|n| name.contains(n.as_str()));
    println!(
        "{:<24} {:>9} {:>9} {:>9} {:>10} {:>10} {:>7}  path",
        "model", "process s", "fit s", "limit s", "mean error", "sd error", "k-hat"
    );
    for row in TABLE.iter().filter(|row| wanted(row.name)) {
        if let Some((data, reference)) = data_of(row.data) {
            report(row, &data, reference.as_ref());
        }
    }
}

/// Where the data are, and what the posterior is known to be.
fn data_of(data: Data) -> Option<(PathBuf, Option<Value>)> {
    let database = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/posteriordb");
    let written = |name: &str, table: simulated::Table| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, table.text()).ok()?;
        Some((path, None))
    };
    let stored = |name: &str| Some(database.join(name).join("data.json")).filter(|path| path.exists());
    match data {
        Data::Posterior(name) => {
            let text = std::fs::read_to_string(database.join(name).join("reference.json")).ok();
            Some((stored(name)?, text.and_then(|t| serde_json::from_str(&t).ok())))
        }
        Data::Folder(name) => Some((stored(name)?, None)),
        Data::Hierarchical => written("hierarchical.json", simulated::hierarchical()),
        Data::Wide => written("wide.json", simulated::logistic(100_000, 100)),
        Data::Crossed(binary) => written("crossed.json", crossed::ratings(binary)),
    }
}

fn report(row: &Row, data: &Path, reference: Option<&Value>) {
    let runs: Vec<(f64, Value)> = (0..RUNS).filter_map(|_| run(row.model, data)).collect();
    let Some((seconds, fit)) = runs.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else {
        return println!("{:<24} gave no answer", row.name);
    };
    let [mean, sd] = errors(fit, reference).map(|e| e.map_or("-".to_string(), |e| format!("{e:.3}")));
    println!(
        "{:<24} {seconds:>9.3} {:>9.3} {:>9.2} {mean:>10} {sd:>10} {:>7.2}  {}{}",
        row.name,
        fit["seconds"].as_f64().unwrap_or(f64::NAN),
        row.limit,
        fit["khat"].as_f64().unwrap_or(f64::NAN),
        fit["path"].as_str().unwrap_or("?"),
        if fit["flags"].as_array().is_some_and(|f| !f.is_empty()) { ", flagged" } else { "" }
    );
}

/// Seconds of a run as a process of its own, and what it printed.
fn run(model: &str, data: &Path) -> Option<(f64, Value)> {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join(model);
    let start = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_stickler"));
    let out = command.arg("fit").args([&model, data]).arg("--json").stderr(Stdio::null()).output().ok()?;
    let seconds = start.elapsed().as_secs_f64();
    Some((seconds, serde_json::from_slice(&out.stdout).ok()?))
}

/// The largest error of a mean, in standard deviations, and of the logarithm of a standard deviation.
fn errors(fit: &Value, reference: Option<&Value>) -> [Option<f64>; 2] {
    let mut worst = [None, None];
    let known = reference.and_then(|r| r["parameters"].as_object()).into_iter().flatten();
    for (name, truth) in known {
        let number = |of: &Value, key: &str| of[key].as_f64();
        let found = &fit["parameters"][name];
        let all = (number(found, "mean"), number(found, "sd"), number(truth, "mean"), number(truth, "sd"));
        let (Some(mean), Some(sd), Some(true_mean), Some(true_sd)) = all else { continue };
        for (worst, error) in
            worst.iter_mut().zip([(mean - true_mean).abs() / true_sd, (sd / true_sd).ln().abs()])
        {
            *worst = Some(worst.map_or(error, |w: f64| w.max(error)));
        }
    }
    worst
}
