//! Laws of every elementwise function, over the table: a row is tested the moment it is listed.

mod common;

use common::{check_row, value};
use serde::Deserialize;
use std::collections::BTreeSet;
use stickler::ops::scalar::{ScalarRow, TABLE, find};

fn rows() -> impl Iterator<Item = &'static ScalarRow> {
    TABLE.iter().copied().flatten().copied()
}

#[test]
fn names_are_unique_and_every_row_has_probes() {
    let mut seen = BTreeSet::new();
    for row in rows() {
        assert!(seen.insert(row.name), "{} is listed twice", row.name);
        assert!(!row.probes.is_empty(), "{} has no probes", row.name);
        assert!(std::ptr::eq(find(row.name).unwrap(), row));
    }
}

#[test]
fn slopes_are_derivatives() {
    for row in rows() {
        for probe in row.probes {
            check_row(row, probe, &[], "functions");
        }
    }
}

/// A function at a point, computed elsewhere.
#[derive(Deserialize)]
struct Reference {
    function: String,
    args: Vec<f64>,
    value: f64,
}

/// To 2e-15 relative, plus 4 units of rounding in each argument (the value's conditioning).
#[test]
fn values_match_mpmath() {
    let text = std::fs::read_to_string("tests/reference/functions.json").unwrap();
    let references: Vec<Reference> = serde_json::from_str(&text).unwrap();
    let mut wrong = Vec::new();
    for r in &references {
        let row = find(&r.function).unwrap_or_else(|| panic!("no function {}", r.function));
        let got = value(row, &r.args);
        let slopes = common::slopes(row, &r.args);
        let moved: f64 =
            r.args.iter().zip(&slopes).map(|(x, s)| (x * s).abs()).filter(|m| m.is_finite()).sum();
        if !((got - r.value).abs() <= 2e-15 * r.value.abs() + 4.0 * f64::EPSILON * moved) {
            wrong.push(format!("{}{:?} is {got}, not {}", r.function, r.args, r.value));
        }
    }
    assert!(wrong.is_empty(), "{} of {} values:\n{}", wrong.len(), references.len(), wrong.join("\n"));
    let covered: BTreeSet<&str> = references.iter().map(|r| r.function.as_str()).collect();
    for row in rows() {
        assert!(covered.contains(row.name), "{} has no reference values", row.name);
    }
}
