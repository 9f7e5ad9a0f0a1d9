//! `stickler certify`: what is certain about a model before it is fitted.

use super::answer::Answer;
use super::args::CertifyArgs;
use super::{Failure, Outcome, load};
use crate::infer::certified::plans;
use crate::report::certificate::Context;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) fn run(args: &CertifyArgs) -> Outcome {
    match &args.verify {
        Some(file) => verify(args, file),
        None => {
            let from = args.model.iter().chain(&args.data);
            let out = args.out.as_deref().map(|path| Answer::open(path, from)).transpose()?;
            let (text, value) = derive(args)?;
            if let Some(out) = out {
                out.write(&format!("{value:#}\n"))?;
            }
            if args.json {
                outln!("{value}")
            } else {
                out!("{text}")
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The certificate as text and as JSON.
fn derive(args: &CertifyArgs) -> Result<(String, Value), Failure> {
    if !(args.epsilon > 0.0) {
        return Err(Failure::Usage("--epsilon must be positive".into()));
    }
    let model = args.model()?;
    let (source, target) = load::target(&model)?;
    let certificate = target.certificate();
    let plans = plans(&target, certificate, args.epsilon);
    let context = Context { source: &source.text, certificate, plans: &plans, epsilon: args.epsilon };
    let mut value = context.json();
    value["model"] = hashed(&model.model)?;
    value["data"] = Value::Array(model.data.iter().map(|p| hashed(p)).collect::<Result<_, _>>()?);
    value["set"] = json!(model.set);
    Ok((context.text(), value))
}

fn hashed(path: &Path) -> Result<Value, Failure> {
    let bytes =
        std::fs::read(path).map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?;
    let hash: String = Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect();
    Ok(json!({ "path": path.display().to_string(), "sha256": hash }))
}

/// Derives the certificate again and compares every field with the file.
fn verify(args: &CertifyArgs, file: &Path) -> Outcome {
    let name = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|e| Failure::Usage(format!("cannot read {name}: {}", load::plain(&e))))?;
    let claimed: Value = serde_json::from_str(&text)
        .map_err(|e| Failure::Wrong(format!("error[certificate]: {name} is not JSON: {e}\n")))?;
    let paths = |value: &Value| -> Vec<PathBuf> {
        let all = value.as_array().into_iter().flatten();
        all.filter_map(|d| Some(PathBuf::from(d["path"].as_str()?))).collect()
    };
    let mut again = args.clone();
    again.model = args.model.clone().or_else(|| claimed["model"]["path"].as_str().map(PathBuf::from));
    if args.data.is_empty() {
        again.data = paths(&claimed["data"]);
    }
    if let (true, Some(set)) = (args.set.is_empty(), claimed["set"].as_array()) {
        again.set = set.iter().filter_map(|s| Some(s.as_str()?.to_string())).collect();
    }
    again.epsilon = claimed["epsilon"].as_f64().unwrap_or(args.epsilon);
    let (_, derived) = derive(&again)?;
    let mut differences = Vec::new();
    compare("", &claimed, &derived, &mut differences);
    if differences.is_empty() {
        outln!("verified: every number of {name} follows from the model and the data");
        return Ok(ExitCode::SUCCESS);
    }
    let list: String = differences.iter().take(10).map(|d| format!("  {d}\n")).collect();
    Err(Failure::Wrong(format!(
        "error[certificate]: {name} does not follow from the model and the data\n{list}"
    )))
}

/// Numbers may differ by rounding; everything else must be the same. Where the files lie does not matter.
fn compare(at: &str, claimed: &Value, derived: &Value, differences: &mut Vec<String>) {
    match (claimed, derived) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|k| !a.contains_key(*k)));
            for key in keys.filter(|k| *k != "path") {
                let missing = Value::Null;
                let place = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                compare(&place, a.get(key).unwrap_or(&missing), b.get(key).unwrap_or(&missing), differences);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter()
                .zip(b)
                .enumerate()
                .for_each(|(i, (a, b))| compare(&format!("{at}[{i}]"), a, b, differences));
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            if !((a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-300)) {
                differences.push(format!("{at}: the file says {a}, it is {b}"));
            }
        }
        (a, b) => {
            if a != b {
                differences.push(format!("{at}: the file says {a}, it is {b}"));
            }
        }
    }
}
