//! A small table of data, and matrices made up term by term, for models whose constants are known in closed
//! form.

use super::certified;
use stickler::certify::{Certificate, Tier};
use stickler::num::stream::Stream;

/// A symmetric matrix, made up term by term, independently of the code under test.
pub struct Matrix {
    pub d: usize,
    /// By rows.
    pub a: Vec<f64>,
}

impl Matrix {
    pub fn new(d: usize) -> Self {
        Self { d, a: vec![0.0; d * d] }
    }

    /// Adds θ a aᵀ for a given by its entries.
    pub fn add(&mut self, theta: f64, entries: &[(usize, f64)]) -> &mut Self {
        for &(i, x) in entries {
            for &(j, y) in entries {
                self.a[i * self.d + j] += theta * x * y;
            }
        }
        self
    }

    pub fn add_identity(&mut self, theta: f64) -> &mut Self {
        (0..self.d).for_each(|i| self.a[i * self.d + i] += theta);
        self
    }

    /// Smallest and largest eigenvalue, by Jacobi's rotations.
    pub fn extremes(&self) -> (f64, f64) {
        let (d, mut a) = (self.d, self.a.clone());
        for _ in 0..60 {
            for p in 0..d {
                for q in p + 1..d {
                    let off = a[p * d + q];
                    if off == 0.0 {
                        continue;
                    }
                    let theta = (a[q * d + q] - a[p * d + p]) / (2.0 * off);
                    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                    let t = if theta == 0.0 { 1.0 } else { t };
                    let c = (t * t + 1.0).sqrt().recip();
                    let s = t * c;
                    for k in 0..d {
                        let (x, y) = (a[k * d + p], a[k * d + q]);
                        (a[k * d + p], a[k * d + q]) = (c * x - s * y, s * x + c * y);
                    }
                    for k in 0..d {
                        let (x, y) = (a[p * d + k], a[q * d + k]);
                        (a[p * d + k], a[q * d + k]) = (c * x - s * y, s * x + c * y);
                    }
                }
            }
        }
        let diagonal: Vec<f64> = (0..d).map(|i| a[i * d + i]).collect();
        (diagonal.iter().copied().fold(f64::INFINITY, f64::min), diagonal.iter().copied().fold(0.0, f64::max))
    }
}

#[track_caller]
pub fn close(got: Option<f64>, truth: f64) {
    let got = got.expect("a constant");
    assert!((got - truth).abs() <= 1e-10 * truth.abs().max(1.0), "{got} is not {truth}");
}

#[track_caller]
pub fn is(c: &Certificate, tier: Tier, most: f64, least: f64) {
    assert_eq!(c.tier, tier, "{:?}", c.obstacles);
    close(c.most, most);
    close(c.least, least);
}

/// A table with predictors x1..x3, outcomes of all kinds, and two groupings.
pub struct Table {
    pub csv: String,
    pub x: Vec<[f64; 3]>,
    pub count: Vec<f64>,
    pub clinic: Vec<usize>,
}

pub const ROWS: usize = 12;

pub fn table() -> Table {
    let mut rng = Stream::new(5, 0, 0);
    let mut t =
        Table { csv: "x1,x2,x3,y,b,k,p,clinic,level,w\n".into(), x: vec![], count: vec![], clinic: vec![] };
    for i in 0..ROWS {
        let x = [rng.normal(), 2.0 * rng.normal(), 1.0 + rng.normal()];
        let (y, k, p) = (rng.normal(), rng.below(9) as f64, 0.1 + rng.uniform());
        let (clinic, level) = (i % 3, i % 4);
        t.csv += &format!(
            "{},{},{},{y},{},{k},{p},c{clinic},{},{}\n",
            x[0],
            x[1],
            x[2],
            i % 2,
            level + 1,
            0.5 + 0.25 * (i % 3) as f64
        );
        t.x.push(x);
        t.count.push(k);
        t.clinic.push(clinic);
    }
    t
}

pub const DATA: &str = "data {
  x : real[N, D] = columns(\"x*\")
  y : real[N]
  b : binary[N]
  k : count[N]
  p : real[N] > 0
  w : real[N]
  clinic : category[N] of J
  level : int[N]
}
param beta[D] ~ normal(0, 1)
";

/// I + Σ θ_i x_i x_iᵀ.
pub fn regression(t: &Table, theta: impl Fn(usize) -> f64) -> (f64, f64) {
    let mut m = Matrix::new(3);
    m.add_identity(1.0);
    for (i, x) in t.x.iter().enumerate() {
        m.add(theta(i), &[(0, x[0]), (1, x[1]), (2, x[2])]);
    }
    m.extremes()
}

pub fn of(statements: &str) -> Certificate {
    certified(&format!("{DATA}{statements}"), &table().csv)
}

/// One parameter, no data.
pub fn alone(source: &str) -> Certificate {
    certified(source, "")
}
