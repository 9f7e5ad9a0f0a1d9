//! The default fit against reference posteriors: right where it says that it is, flagged where it does not. Skipped where
//! the references are not. The whole set: `cargo test --release --test accuracy -- --ignored`.

use serde_json::Value;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use stickler::data::Dataset;
use stickler::infer::{self, Fit, KHAT_LIMIT, Options};
use stickler::target::ModelTarget;

/// Small enough for every run of the tests: linear, logistic, Poisson, time series, mixtures, hierarchies.
const SMALL: [&str; 16] = [
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

/// Errors beyond the limits: of the mean in standard deviations and of the logarithm of the standard deviation, less three
/// times the reference's own Monte Carlo error.
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

/// All complaints about fits that do not warn of their own accord, and the number of those that do.
fn judge(names: &[String]) -> Option<(Vec<String>, usize)> {
    let Some(folder) = folder() else {
        println!("skipped: ../shared/posteriordb is not there");
        return None;
    };
    let (mut all, mut poor) = (Vec::new(), 0);
    for name in names {
        let text = std::fs::read_to_string(folder.join(name).join("reference.json")).unwrap();
        let reference: Value = serde_json::from_str(&text).unwrap();
        let fit = fit(&folder, name);
        if fit.khat < KHAT_LIMIT {
            all.extend(complaints(name, &fit, &reference));
        } else {
            assert!(!fit.flags.is_empty(), "{name}: k-hat is {} and nothing is flagged", fit.khat);
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
