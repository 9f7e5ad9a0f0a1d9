//! Log densities and gradients of the 58 posteriors, against an independent implementation. Skipped where the data are not.

use serde_json::Value;
use std::path::{Path, PathBuf};
use stickler::data::Dataset;
use stickler::target::{ModelTarget, Target};

/// Allowed relative error. The reference solves differential equations to 1e-11 by another method; and its
/// bernoulli_logit drops terms of size exp(-20) beyond |logit| = 20, which irt_2pl reaches at one point.
fn tolerance(name: &str) -> f64 {
    match name {
        "hudson_lynx_hare-lotka_volterra" | "sir-sir" => 1e-6,
        "irt_2pl-irt_2pl" => 2e-7,
        _ => 1e-8,
    }
}

fn folder() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/posteriordb");
    path.is_dir().then_some(path)
}

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// The largest relative error of gradients and, up to one constant, of log densities.
fn worst(model: &ModelTarget, points: &[Value]) -> f64 {
    let mut evaluator = model.evaluator();
    let mut worst: f64 = 0.0;
    let mut values = Vec::new();
    for point in points {
        let z = numbers(&point["unconstrained"]);
        let (mut value, mut gradient) = ([0.0], vec![0.0; z.len()]);
        evaluator.evaluate(&z, 1, &mut value, &mut gradient);
        let reference = numbers(&point["gradient"]);
        assert_eq!(reference.len(), gradient.len());
        let size = reference.iter().fold(0.0_f64, |m, g| m.max(g.abs()));
        let floor = (1e-6 * size).max(1.0);
        for (g, r) in gradient.iter().zip(&reference) {
            let error = (g - r).abs() / r.abs().max(floor);
            worst = if error <= worst { worst } else { error };
        }
        values.push((value[0], point["log_density"].as_f64().unwrap()));
    }
    let constant = values.iter().min_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).map_or(0.0, |(v, r)| v - r);
    for (value, reference) in values {
        let error = (value - constant - reference).abs() / reference.abs().max(1.0);
        worst = if error <= worst { worst } else { error };
    }
    worst
}

#[test]
fn log_densities_and_gradients_agree() {
    let Some(folder) = folder() else {
        println!("skipped: ../shared/posteriordb is not there");
        return;
    };
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/posteriordb");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.join("gradient.json").exists() {
            continue;
        }
        count += 1;
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        let source = std::fs::read_to_string(models.join(format!("{name}.ppl"))).unwrap_or_default();
        let data = Dataset::read(&[path.join("data.json")]).unwrap();
        let reference: Value =
            serde_json::from_str(&std::fs::read_to_string(path.join("gradient.json")).unwrap()).unwrap();
        match ModelTarget::new(&source, &data) {
            Ok(model) => {
                let error = worst(&model, reference["points"].as_array().unwrap());
                if error.is_nan() || error > tolerance(&name) {
                    wrong.push(format!("{name}: {error:.2e}"));
                }
            }
            Err(e) => wrong.push(format!("{name}: {}", e[0])),
        }
    }
    assert_eq!(count, 58);
    assert!(wrong.is_empty(), "{} of {count} disagree:\n{}", wrong.len(), wrong.join("\n"));
}
