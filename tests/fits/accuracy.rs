//! The default fit against reference posteriors: right where it says that it is, flagged where it does not.
//! Skipped where the references are not. The whole set:
//! `cargo test --release --test fits accuracy -- --ignored`.
//!
//! The reference of the scales in pilots is a sum over a grid: that of effects has a kurtosis of two
//! thousand, so that the standard deviation of the eight thousand effective draws of posteriordb's is known
//! to 25 %.

use serde_json::Value;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use stickler::data::Dataset;
use stickler::infer::{self, Fit, KHAT_LIMIT, Options};
use stickler::target::ModelTarget;

/// Small enough for every run of the tests: linear, logistic, Poisson, time series, mixtures, hierarchies.
const SMALL: [&str; 17] = [
    "GLMM_Poisson_data-GLMM_Poisson_model",
    "GLM_Binomial_data-GLM_Binomial_model",
    "GLM_Poisson_Data-GLM_Poisson_model",
    "Rate_2_data-Rate_2_model",
    "arK-arK",
    "dogs-dogs",
    "earnings-logearn_height",
    "eight_schools-eight_schools_centered",
    "eight_schools-eight_schools_noncentered",
    "kidiq-kidscore_interaction",
    "mesquite-logmesquite_logvolume",
    "nes2000-nes",
    "pilots-pilots",
    "radon_mn-radon_variable_intercept_slope_centered",
    "rats_data-rats_model",
    "seeds_data-seeds_stanified_model",
    "wells_data-wells_dist100ars_model",
];

/// Linear and logistic regressions, which are held to closer limits.
const REGRESSIONS: [&str; 6] = ["earnings", "kidiq", "kilpisjarvi", "mesquite", "nes", "wells"];

fn folder() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/posteriordb");
    path.is_dir().then_some(path)
}

fn fit(folder: &Path, name: &str) -> Fit {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/posteriordb");
    let source = std::fs::read_to_string(models.join(format!("{name}.ppl"))).unwrap();
    let data = Dataset::read(&[folder.join(name).join("data.json")]).unwrap();
    let program = stickler::syntax::parse(&source).unwrap();
    let target = ModelTarget::new(&source, &data).unwrap();
    let model = infer::Model { program: &program, source: &source, data: &data };
    infer::fit_model(&model, &target, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Errors beyond the limits: of the mean in standard deviations and of the logarithm of the standard
/// deviation, less three times the reference's own Monte Carlo error.
fn complaints(name: &str, fit: &Fit, reference: &Value) -> Vec<String> {
    let regression = REGRESSIONS.iter().any(|r| name.starts_with(r));
    let (mean_limit, sd_limit) = match fit.khat {
        _ if regression => (0.03, 0.03),
        k if k < 0.5 => (0.05, 0.05),
        _ => (0.05, 0.10),
    };
    let mut out = Vec::new();
    for (parameter, r) in reference["parameters"].as_object().unwrap() {
        let Some(found) = fit.outputs.iter().find(|o| o.name == *parameter) else {
            out.push(format!("{name}: {parameter} is not reported"));
            continue;
        };
        let number = |key: &str| r[key].as_f64().unwrap_or(0.0);
        let (mean, sd) = (number("mean"), number("sd"));
        let slack = 3.0 * number("mcse_mean") / sd;
        let (off, stretch) = ((found.mean - mean).abs() / sd, (found.sd / sd).ln().abs());
        // The relative error of a standard deviation is about 1/√2 of that of a mean.
        if !(off <= mean_limit + slack) || !(stretch <= sd_limit + 0.75 * slack) {
            out.push(format!(
                "{name} (k-hat {:.2}): {parameter} is off by {off:.3} in mean, {stretch:.3} in log sd",
                fit.khat
            ));
        }
    }
    out
}

/// Puts the scales of pilots as they follow from a sum in the place of those that were sampled.
///
/// Five groups by eight scenarios, each pair once, with effects normal(10 mu, sigma) and mu ~ normal(0, 1):
/// the covariance of the outcomes is a number on each of four subspaces, the grand mean, contrasts of groups,
/// contrasts of scenarios, and the rest.
fn know_exactly(reference: &mut Value, folder: &Path) {
    const GROUPS: f64 = 5.0;
    const SCENARIOS: f64 = 8.0;
    let data: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("data.json")).unwrap()).unwrap();
    let numbers = |key: &str| -> Vec<f64> {
        data[key].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    };
    let y = numbers("y");
    let total: f64 = y.iter().sum();
    let mean_square = total * total / (GROUPS * SCENARIOS);
    let between = |key: &str, each: f64| {
        let mut sums = [0.0; 9];
        numbers(key).iter().zip(&y).for_each(|(k, y)| sums[*k as usize] += y);
        sums.iter().map(|s| s * s).sum::<f64>() / each - mean_square
    };
    let (groups, scenarios) = (between("group_id", SCENARIOS), between("scenario_id", GROUPS));
    let rest = y.iter().map(|y| y * y).sum::<f64>() - mean_square - groups - scenarios;
    let grid = |from: f64, n: i32, step: f64| (0..n).map(move |i| (from + step * f64::from(i)).exp());
    let (mut mass, mut sums) = (0.0, [[0.0; 2]; 3]);
    // Up to 100, where the priors end.
    for a in grid(-9.195, 460, 0.03) {
        for b in grid(-2.995, 190, 0.04) {
            for s in grid(-2.2, 50, 0.04) {
                let (v, of_a, of_b) = (s * s, SCENARIOS * a * a, GROUPS * b * b);
                let part = |squares: f64, variance: f64, dimension: f64| {
                    -0.5 * (dimension * variance.ln() + squares / variance)
                };
                let wide = v + of_a + of_b + 2.0 * 100.0 * GROUPS * SCENARIOS;
                let log = part(mean_square, wide, 1.0)
                    + part(groups, v + of_a, GROUPS - 1.0)
                    + part(scenarios, v + of_b, SCENARIOS - 1.0)
                    + part(rest, v, (GROUPS - 1.0) * (SCENARIOS - 1.0));
                // Steps are even in logarithms.
                let weight = log.exp() * a * b * s;
                mass += weight;
                for (sum, x) in sums.iter_mut().zip([a, b, s]) {
                    (sum[0], sum[1]) = (sum[0] + weight * x, sum[1] + weight * x * x);
                }
            }
        }
    }
    for (name, [first, second]) in ["sigma_a", "sigma_b", "sigma_y"].iter().zip(sums) {
        let mean = first / mass;
        reference["parameters"][name] =
            serde_json::json!({ "mean": mean, "sd": (second / mass - mean * mean).sqrt() });
    }
}

/// All complaints about fits that do not warn of their own accord, and the number of those that do.
fn judge(names: &[String]) -> Option<(Vec<String>, usize)> {
    let Some(folder) = folder() else {
        println!("skipped: ../shared/posteriordb is not there");
        return None;
    };
    let (mut all, mut poor) = (Vec::new(), 0);
    for name in names {
        let text = std::fs::read_to_string(folder.join(name).join("reference.json")).unwrap();
        let mut reference: Value = serde_json::from_str(&text).unwrap();
        if name == "pilots-pilots" {
            know_exactly(&mut reference, &folder.join(name));
        }
        let fit = fit(&folder, name);
        if fit.khat < KHAT_LIMIT {
            all.extend(complaints(name, &fit, &reference));
        } else {
            assert!(fit.is_doubtful(), "{name}: k-hat is {} and nothing is flagged", fit.khat);
            poor += 1;
        }
    }
    Some((all, poor))
}

#[test]
fn small_posteriors_agree_with_their_references() {
    let names: Vec<String> = SMALL.iter().map(|n| n.to_string()).collect();
    let Some((complaints, poor)) = judge(&names) else { return };
    assert!(complaints.is_empty(), "{complaints:#?}");
    assert_eq!(poor, 0);
}

#[test]
#[ignore = "takes minutes; see the top of the file"]
fn all_posteriors_agree_with_their_references() {
    let Some(folder) = folder() else { return };
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|e| e.ok()?.file_name().into_string().ok())
        .filter(|n| folder.join(n).join("reference.json").exists())
        .collect();
    names.sort();
    let Some((complaints, poor)) = judge(&names) else { return };
    assert!(complaints.is_empty(), "{complaints:#?}");
    assert!(10 * poor <= names.len(), "{poor} of {} posteriors have a k-hat of 0.7 or more", names.len());
}
