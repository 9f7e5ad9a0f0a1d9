//! Posterior draws as a table: a row for each draw, a column for each quantity.

use crate::infer::Fit;
use std::fmt::Write;

/// The draws that the fit has kept, with the names of the quantities as the first line.
pub fn csv(fit: &Fit) -> String {
    let names: Vec<String> = fit.outputs.iter().map(|o| quoted(&o.name)).collect();
    let mut out = names.join(",");
    out.push('\n');
    let draws = fit.kept.first().map_or(0, Vec::len);
    for i in 0..draws {
        for (j, column) in fit.kept.iter().enumerate() {
            let comma = if j == 0 { "" } else { "," };
            let x = column[i];
            // All digits either way; no rows of zeros.
            let short = x.is_finite() && x != 0.0 && !(1e-5..1e16).contains(&x.abs());
            let _ = if short { write!(out, "{comma}{x:e}") } else { write!(out, "{comma}{x}") };
        }
        out.push('\n');
    }
    out
}

/// A name in quotes if it holds a comma or a quote.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.into() }
}
