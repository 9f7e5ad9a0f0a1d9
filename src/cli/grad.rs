//! `stickler grad`: layout, log density and gradient at given points.

use super::args::GradArgs;
use super::{Failure, Outcome, load};
use crate::num::stream::Stream;
use crate::report::number;
use crate::target::{ModelTarget, Split, Target};
use serde_json::{Value, json};
use std::process::ExitCode;

/// How many points a seed gives.
const SEEDED_POINTS: usize = 3;

/// What is known at one point.
struct Point {
    split: Split,
    gradient: Vec<f64>,
}

pub(super) fn run(args: &GradArgs) -> Outcome {
    let (_, target) = load::target(&args.model)?;
    let points = points("--at", &args.at, target.dimension())?;
    let results: Vec<Point> = points.iter().map(|z| evaluate(&target, z)).collect();
    if args.json {
        outln!("{}", json(&target, &results));
    } else {
        out!("{}", text(&target, &results));
    }
    Ok(ExitCode::SUCCESS)
}

/// The points that an option names: `zeros`, those of a seed, or those in a file.
pub(super) fn points(option: &str, at: &str, dimension: usize) -> Result<Vec<Vec<f64>>, Failure> {
    if at == "zeros" {
        return Ok(vec![vec![0.0; dimension]]);
    }
    if let Ok(seed) = at.parse::<u64>() {
        let point = |k: usize| {
            let mut z = vec![0.0; dimension];
            Stream::new(seed, 0, k as u64).fill_normal(&mut z);
            z
        };
        return Ok((0..SEEDED_POINTS).map(point).collect());
    }
    let wrong = |why: String| Failure::Usage(format!("{option} {at}: {why}"));
    let text = std::fs::read_to_string(at)
        .map_err(|_| wrong("this is neither `zeros`, nor a seed, nor a file that can be read".into()))?;
    let file: Value = serde_json::from_str(&text).map_err(|e| wrong(format!("not JSON: {e}")))?;
    let list = file
        .get("points")
        .and_then(Value::as_array)
        .ok_or_else(|| wrong("it needs {\"points\": [[...], ...]}".into()))?;
    if list.is_empty() {
        return Err(wrong("it has no points".into()));
    }
    list.iter()
        .enumerate()
        .map(|(i, p)| {
            let z: Option<Vec<f64>> = p.as_array().and_then(|a| a.iter().map(Value::as_f64).collect());
            let z = z.ok_or_else(|| wrong(format!("point {} is not an array of numbers", i + 1)))?;
            if z.len() == dimension {
                Ok(z)
            } else {
                Err(wrong(format!(
                    "point {} has {} coordinates, and the model has {dimension}",
                    i + 1,
                    z.len()
                )))
            }
        })
        .collect()
}

fn evaluate(target: &ModelTarget, z: &[f64]) -> Point {
    let (mut value, mut gradient) = ([0.0], vec![0.0; z.len()]);
    target.evaluator().evaluate(z, 1, &mut value, &mut gradient);
    Point { split: target.split(z), gradient }
}

fn json(target: &ModelTarget, points: &[Point]) -> Value {
    let lowered = target.lowered();
    let parameters: Vec<Value> = lowered
        .parameters
        .iter()
        .map(|p| {
            json!({
                "name": p.named.name,
                "shape": lowered.graph.node(p.named.node).dims,
                "support": p.support,
                "offset": p.offset,
                "size": p.size,
            })
        })
        .collect();
    let points: Vec<Value> = points
        .iter()
        .map(|p| {
            json!({
                "log_density": number(p.split.total()),
                "log_prior": number(p.split.prior),
                "log_likelihood": number(p.split.likelihood),
                "log_jacobian": number(p.split.jacobian),
                "gradient": p.gradient.iter().map(|&g| number(g)).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({ "dimension": lowered.dimension, "parameters": parameters, "points": points })
}

fn text(target: &ModelTarget, points: &[Point]) -> String {
    use std::fmt::Write;
    let lowered = target.lowered();
    let mut out = format!("{} unconstrained coordinates\n\n", lowered.dimension);
    let _ = writeln!(out, "{:<24} {:<14} {:<22} coordinates", "parameter", "shape", "support");
    for p in &lowered.parameters {
        let dims = &lowered.graph.node(p.named.node).dims;
        let shape = if dims.is_empty() { "scalar".to_string() } else { format!("{dims:?}") };
        let range = match p.size {
            0 => "none".to_string(),
            1 => (p.offset + 1).to_string(),
            n => format!("{}..{}", p.offset + 1, p.offset + n),
        };
        let _ = writeln!(out, "{:<24} {shape:<14} {:<22} {range}", p.named.name, p.support);
    }
    let names = target.coordinate_names();
    for (i, point) in points.iter().enumerate() {
        let s = &point.split;
        let _ = writeln!(out, "\npoint {}", i + 1);
        for (name, value) in [
            ("log density", s.total()),
            ("log prior", s.prior),
            ("log likelihood", s.likelihood),
            ("log Jacobian", s.jacobian),
        ] {
            let _ = writeln!(out, "  {name:<22} {value:>22.12}");
        }
        for (name, g) in names.iter().zip(&point.gradient) {
            let _ = writeln!(out, "  d/d {name:<18} {g:>22.12}");
        }
    }
    out
}
