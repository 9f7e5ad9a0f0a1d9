//! One model gives the same numbers whatever the processor: bit for bit on all instruction sets with fused
//! multiply-add, and to rounding without.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};
use stickler::num::dispatch::{Level, hold_to};

/// Models whose fits are compared: exact, by draws, with discrete parts, hierarchies, recursions, processes.
const FITS: [&str; 10] = [
    "eight_schools",
    "linear",
    "logistic",
    "garch",
    "gp",
    "poisson",
    "mixture",
    "negative_binomial",
    "hmm",
    "hierarchical_noncentered",
];

fn run(command: &str, name: &str, options: &[&str], level: Level) -> Output {
    let file = |end: &str| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("models/{name}.{end}"));
    Command::new(env!("CARGO_BIN_EXE_stickler"))
        .args([command.as_ref(), file("ppl").as_os_str(), file("csv").as_os_str()])
        .args(options)
        .env("STICKLER_ISA", level.name())
        .output()
        .expect("the program runs")
}

/// Whether this processor has several instruction sets with the same bits; says so where it has not.
fn has_two() -> bool {
    let best = hold_to(Level::Avx512);
    if best < Level::Avx512 {
        println!("skipped: this processor has no instruction set beyond {}", best.name());
    }
    best == Level::Avx512
}

/// The answer but for how long it took.
fn untimed(mut json: Value) -> Value {
    match &mut json {
        Value::Object(entries) => {
            entries.retain(|name, _| !name.contains("seconds"));
            entries.values_mut().for_each(|entry| *entry = untimed(entry.take()));
        }
        Value::Array(entries) => entries.iter_mut().for_each(|entry| *entry = untimed(entry.take())),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    json
}

#[test]
fn fits_have_the_same_bits_on_every_instruction_set_with_fused_multiply_add() {
    if !has_two() {
        return;
    }
    for name in FITS {
        let [one, other] = [Level::Avx2, Level::Avx512].map(|level| {
            let output = run("fit", name, &["--json"], level);
            let json = serde_json::from_slice(&output.stdout);
            untimed(json.unwrap_or_else(|_| panic!("{name}: {}", String::from_utf8_lossy(&output.stderr))))
        });
        assert_eq!(one, other, "{name}");
    }
}

#[test]
fn gradients_have_the_same_bits_on_every_instruction_set_with_fused_multiply_add() {
    let two = has_two();
    let models = std::fs::read_dir(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("models")).expect("models");
    for entry in models {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if path.extension().is_none_or(|end| end != "ppl") || !path.with_extension("csv").exists() {
            continue;
        }
        if two {
            let [one, other] =
                [Level::Avx2, Level::Avx512].map(|level| run("grad", &name, &[], level).stdout);
            assert!(!one.is_empty() && one == other, "{name}");
        }
        let plain = run("grad", &name, &["--json"], Level::Baseline);
        let best = run("grad", &name, &["--json"], hold_to(Level::Avx512));
        let [plain, best] = [plain, best].map(|o| numbers(&serde_json::from_slice(&o.stdout).expect("JSON")));
        assert_eq!(plain.len(), best.len(), "{name}");
        let size = best.iter().fold(1.0_f64, |size, x| size.max(x.abs()));
        for (a, b) in plain.iter().zip(&best) {
            assert!((a - b).abs() <= 1e-11 * size, "{name}: {a} without fused multiply-add, {b} with it");
        }
    }
}

/// All numbers, in order.
fn numbers(json: &Value) -> Vec<f64> {
    match json {
        Value::Number(x) => x.as_f64().into_iter().collect(),
        Value::Array(entries) => entries.iter().flat_map(numbers).collect(),
        Value::Object(entries) => entries.values().flat_map(numbers).collect(),
        Value::Null | Value::Bool(_) | Value::String(_) => Vec::new(),
    }
}

#[test]
fn an_instruction_set_that_is_not_there_is_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_stickler"))
        .arg("methods")
        .env("STICKLER_ISA", "sse9")
        .output()
        .expect("the program runs");
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("STICKLER_ISA") && text.contains("portable, avx2, avx512"), "{text}");
}
