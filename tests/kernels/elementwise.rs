//! Laws of every elementwise function, over the table: a row is tested the moment it is listed.

use crate::common;

use common::{check_row, value};
use serde::Deserialize;
use std::collections::BTreeSet;
use stickler::dist::{BETWEEN_LIMITS, LOG_BETWEEN, NORMAL_VARIANCE, ORDERED_AROUND, ORDERED_GAP};
use stickler::ops::operand::{Arg, Index, Lane, Operand};
use stickler::ops::scalar::{LOGIT_INV_CLOGLOG, LOGIT_PHI, ScalarRow, TABLE, find};

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

/// Functions that no model can name: those that plans compute in place of others, and the mass between
/// limits.
#[test]
fn slopes_in_plans_are_derivatives() {
    let alone =
        [&NORMAL_VARIANCE, &ORDERED_GAP, &ORDERED_AROUND, &LOG_BETWEEN, &LOGIT_PHI, &LOGIT_INV_CLOGLOG];
    for row in alone.iter().chain(BETWEEN_LIMITS) {
        // Counts, limits and numbers of trials are data.
        let is_data =
            |k: &usize| BETWEEN_LIMITS.contains(row) && ["x", "low", "high", "n"].contains(&row.args[*k]);
        let skip: Vec<usize> = (0..row.args.len()).filter(is_data).collect();
        for probe in row.probes {
            check_row(row, probe, &skip, "plans");
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
        let allowed = 2e-15 * r.value.abs() + 4.0 * f64::EPSILON * moved;
        let error = (got - r.value).abs();
        if error.is_nan() || error > allowed {
            wrong.push(format!("{}{:?} is {got}, not {}", r.function, r.args, r.value));
        }
    }
    assert!(wrong.is_empty(), "{} of {} values:\n{}", wrong.len(), references.len(), wrong.join("\n"));
    let covered: BTreeSet<&str> = references.iter().map(|r| r.function.as_str()).collect();
    for row in rows() {
        assert!(covered.contains(row.name), "{} has no reference values", row.name);
    }
}

/// Many elements of one draw may run side by side in registers: they have the bits that each has by itself.
#[test]
fn many_elements_have_the_bits_of_one() {
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    for row in rows() {
        let (kernel, n, k) = (<f64 as Lane>::scalar(row.kernel), 23, row.args.len());
        let columns: Vec<Vec<f64>> = (0..k)
            .map(|k| (0..n).map(|i| row.probes[i % row.probes.len()][k] * (1.0 + 1e-3 * i as f64)).collect())
            .collect();
        let operands: Vec<Operand<f64>> =
            columns.iter().map(|c| Operand { arg: Arg::Var(c), index: Index::Each }).collect();
        let (need, mut values, mut slopes) = (vec![true; k], vec![0.0; n], vec![0.0; n * k]);
        let mut alone = vec![0.0; n];
        kernel.both(&operands, &need, &mut values, &mut slopes);
        kernel.values(&operands, &mut alone);
        for i in 0..n {
            let one: Vec<Operand<f64>> =
                columns.iter().map(|c| Operand { arg: Arg::Var(&c[i..i + 1]), index: Index::One }).collect();
            let (mut value, mut slope, mut plain) = ([0.0], vec![0.0; k], [0.0]);
            kernel.both(&one, &need, &mut value, &mut slope);
            kernel.values(&one, &mut plain);
            assert!(same(values[i], value[0]) && same(alone[i], plain[0]), "{}", row.name);
            assert!((0..k).all(|k| same(slopes[k * n + i], slope[k])), "slopes of {}", row.name);
        }
    }
}
