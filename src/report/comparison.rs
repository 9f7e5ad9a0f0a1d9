//! A comparison of methods, as a table and as JSON.

use super::json::status;
use crate::infer::compare::{Compared, Comparison};
use serde_json::{Value, json as object};
use std::fmt::Write;

/// The comparison as text: a row for each method, notes below.
pub fn comparison_text(comparison: &Comparison) -> String {
    let width = comparison.rows.iter().map(|r| r.method.len()).max().unwrap_or(0);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{:<width$} {:>14} {:>9} {:>10} {:>9} {:>6}",
        "method", "ELBO", "± se", "gradients", "seconds", "k-hat"
    );
    for Compared { method, outcome } in &comparison.rows {
        let _ = match outcome {
            Ok(n) => writeln!(
                out,
                "{method:<width$} {:>14} {:>9} {:>10} {:>9.3} {:>6}",
                places(n.elbo, 3),
                places(n.elbo_se, 3),
                n.gradients,
                n.seconds,
                places(n.khat, 2)
            ),
            Err(reason) => writeln!(out, "{method:<width$}   failed: {reason}"),
        };
    }
    let _ = writeln!(
        out,
        "\nELBO and k-hat of each approximation itself, on the same {} fresh draws; higher ELBO is better",
        comparison.draws
    );
    for Compared { method, outcome } in &comparison.rows {
        if let Ok(numbers) = outcome
            && let Some(note) = &numbers.note
        {
            let _ = writeln!(out, "{method}: {note}");
        }
    }
    out
}

fn places(x: f64, places: usize) -> String {
    let shown = if x.abs() < 1e9 || !x.is_finite() { format!("{x:.places$}") } else { format!("{x:.3e}") };
    if x.is_nan() { "-".into() } else { shown }
}

/// The comparison as JSON; numbers that are not finite are null.
pub fn comparison_json(comparison: &Comparison) -> Value {
    let row = |r: &Compared| match &r.outcome {
        Ok(n) => object!({
            "method": r.method, "status": status(n.ending), "elbo": n.elbo, "elbo_se": n.elbo_se,
            "gradients": n.gradients, "seconds": n.seconds, "khat": n.khat, "note": n.note,
        }),
        Err(reason) => object!({ "method": r.method, "error": reason }),
    };
    object!({ "draws": comparison.draws, "methods": comparison.rows.iter().map(row).collect::<Vec<_>>() })
}
