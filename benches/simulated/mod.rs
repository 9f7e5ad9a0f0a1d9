//! The simulated tables of the benches, from fixed seeds.

use stickler::num::stream::Stream;

/// A regression.
pub struct Table {
    /// Outcomes.
    pub y: Vec<f64>,
    /// Columns, row by row.
    pub x: Vec<f64>,
    /// Lists of the group that each row is in, counted from one.
    pub groups: Vec<(&'static str, Vec<usize>)>,
}

impl Table {
    /// The data file, JSON.
    pub fn text(&self) -> String {
        let n = self.y.len();
        let mut lists = vec![numbers("y", &self.y), rows(&self.x, self.x.len() / n)];
        let of_groups = |(name, of): &(&str, Vec<usize>)| list(name, of.iter().map(usize::to_string));
        lists.extend(self.groups.iter().map(of_groups));
        format!("{{{}}}", lists.join(", "))
    }
}

/// Rows of a group in [`hierarchical`].
pub const GROUP: usize = 50;

/// 200 groups of 50 rows, five coefficients each.
pub fn hierarchical() -> Table {
    let (groups, k) = (200, 5);
    let mut stream = Stream::new(2, 0, 0);
    let theta: Vec<f64> = (0..k).map(|_| stream.normal()).collect();
    let z: Vec<f64> = (0..groups * k).map(|i| theta[i % k] + stream.normal()).collect();
    let mut x = vec![0.0; groups * GROUP * k];
    stream.fill_normal(&mut x);
    let eta = |i: usize| (0..k).map(|c| x[i * k + c] * z[i / GROUP * k + c]).sum();
    let y = outcomes(&mut stream, (0..groups * GROUP).map(eta));
    let group = (0..groups * GROUP).map(|i| i / GROUP + 1).collect();
    Table { y, x, groups: vec![("group", group)] }
}

/// An intercept of zero and `k` standard normal columns.
pub fn logistic(n: usize, k: usize) -> Table {
    let mut stream = Stream::new(3, 0, 0);
    let beta: Vec<f64> = (0..k).map(|_| 0.2 * stream.normal()).collect();
    let mut x = vec![0.0; n * k];
    stream.fill_normal(&mut x);
    let y = outcomes(&mut stream, x.chunks_exact(k).map(|r| r.iter().zip(&beta).map(|(a, b)| a * b).sum()));
    Table { y, x, groups: Vec::new() }
}

/// Ones with these log odds, and zeros.
pub fn outcomes(stream: &mut Stream, eta: impl Iterator<Item = f64>) -> Vec<f64> {
    eta.map(|e| f64::from(stream.uniform() < 1.0 / (1.0 + (-e).exp()))).collect()
}

fn list(name: &str, items: impl Iterator<Item = String>) -> String {
    format!("\"{name}\": [{}]", items.collect::<Vec<_>>().join(","))
}

fn numbers(name: &str, x: &[f64]) -> String {
    list(name, x.iter().map(f64::to_string))
}

fn rows(x: &[f64], k: usize) -> String {
    let row = |r: &[f64]| format!("[{}]", r.iter().map(f64::to_string).collect::<Vec<_>>().join(","));
    list("x", x.chunks_exact(k).map(row))
}
