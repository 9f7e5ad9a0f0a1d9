//! Log densities and gradients of the 58 posteriors, against an independent implementation. Skipped where the
//! data are not.

use serde_json::Value;
use std::path::{Path, PathBuf};
use stickler::data::Dataset;
use stickler::target::{ModelTarget, Target};

/// Allowed relative error. The reference solves differential equations to 1e-11 by another method.
fn tolerance(name: &str) -> f64 {
    match name {
        "hudson_lynx_hare-lotka_volterra" | "sir-sir" => 1e-6,
        _ => 1e-8,
    }
}

/// What the reference's gradient has that the derivative has not. Stan Math 4.9 takes for the slope of
/// bernoulli_logit in its argument η, where y = 1 and η > 20, -exp(-η), and not the exp(-η) that it is.
/// irt_2pl gets there at one point.
fn slip(name: &str, data: &Path, z: &[f64]) -> Vec<f64> {
    let mut slip = vec![0.0; z.len()];
    if name != "irt_2pl-irt_2pl" {
        return slip;
    }
    let data: Value = serde_json::from_str(&std::fs::read_to_string(data).unwrap()).unwrap();
    let y: Vec<Vec<f64>> = data["y"].as_array().unwrap().iter().map(numbers).collect();
    let (items, persons) = (y.len(), y[0].len());
    // Coordinates: sigma_theta, theta, sigma_a, log a, mu_b, sigma_b, b.
    let (theta, log_a, b) = (1, 2 + persons, 4 + persons + items);
    for i in 0..items {
        let a = z[log_a + i].exp();
        for j in 0..persons {
            let eta = a * (z[theta + j] - z[b + i]);
            if y[i][j] == 1.0 && eta > 20.0 {
                let more = -2.0 * (-eta).exp();
                slip[theta + j] += more * a;
                slip[log_a + i] += more * eta;
                slip[b + i] -= more * a;
            }
        }
    }
    slip
}

fn folder() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/posteriordb");
    path.is_dir().then_some(path)
}

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// The largest relative error of gradients and, up to one constant, of log densities.
fn worst(model: &ModelTarget, points: &[Value], slip: impl Fn(&[f64]) -> Vec<f64>) -> f64 {
    let mut evaluator = model.evaluator();
    let mut worst: f64 = 0.0;
    let mut values = Vec::new();
    for point in points {
        let z = numbers(&point["unconstrained"]);
        let (mut value, mut gradient) = ([0.0], vec![0.0; z.len()]);
        evaluator.evaluate(&z, 1, &mut value, &mut gradient);
        let reference: Vec<f64> =
            numbers(&point["gradient"]).iter().zip(slip(&z)).map(|(g, s)| g - s).collect();
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
                let slip = |z: &[f64]| slip(&name, &path.join("data.json"), z);
                let error = worst(&model, reference["points"].as_array().unwrap(), slip);
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
