//! Location-scale families: `z = m + C u` with independent coordinates of `u` from a symmetric base of unit
//! variance.
//!
//! Because every base has mean 0 and variance 1, `C Cᵀ` is the covariance in every family, the free energy
//! keeps the smoothness and convexity of the target, and the noise bounds hold with `d + 3` replaced by `d +
//! κ`, where `κ = E u⁴` (Domke 2019, theorem 3, is stated for such bases). `κ` must be finite, or the
//! estimators have no variance.

mod laplace;
mod normal;
mod student_t;

use super::table::{Parameter, Row};
use crate::num::stream::Stream;

/// A base distribution of one coordinate. The number that each function takes first is the row's parameter.
#[derive(Debug)]
pub struct Family {
    /// Name.
    pub name: &'static str,
    /// One line of explanation.
    pub doc: &'static str,
    /// The parameter of the base, if it has one.
    pub parameter: Option<Parameter>,
    /// Independent draws.
    pub fill: fn(f64, &mut Stream, &mut [f64]),
    /// The point below which a draw lies with the given probability.
    pub quantile: fn(f64, f64) -> f64,
    /// Log density.
    pub log_density: fn(f64, f64) -> f64,
    /// Derivative of the log density.
    pub score: fn(f64, f64) -> f64,
    /// Differential entropy.
    pub entropy: fn(f64) -> f64,
    /// Fourth moment.
    pub kurtosis: fn(f64) -> f64,
}

impl Row for Family {
    const KIND: &'static str = "family";

    fn table() -> &'static [Family] {
        static TABLE: [Family; 3] = [normal::ROW, student_t::ROW, laplace::ROW];
        &TABLE
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn parameter(&self) -> Option<Parameter> {
        self.parameter
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vi::table::Choice;

    fn bases() -> Vec<Choice<Family>> {
        ["normal", "student_t=6", "student_t=12.5", "laplace"].iter().map(|s| s.parse().unwrap()).collect()
    }

    /// Nodes of the midpoint rule in the probability, which needs nothing but the quantile.
    fn midpoints(base: &Choice<Family>) -> Vec<f64> {
        let n = 100_000;
        (0..n).map(|k| (base.row.quantile)(base.value, (k as f64 + 0.5) / n as f64)).collect()
    }

    #[test]
    fn every_base_has_the_moments_entropy_and_score_it_claims() {
        for b in bases() {
            let (log_density, score, nodes) = (b.row.log_density, b.row.score, midpoints(&b));
            let expect =
                |f: &dyn Fn(f64) -> f64| nodes.iter().map(|u| f(*u)).sum::<f64>() / nodes.len() as f64;
            assert!(expect(&|u| u).abs() < 1e-9, "{b} is not centred");
            assert!((expect(&|u| u * u) - 1.0).abs() < 2e-3, "{b} has not unit variance");
            let kurtosis = expect(&|u| u.powi(4));
            let claimed = (b.row.kurtosis)(b.value);
            // The heaviest tail tried (six degrees of freedom) converges slowly under the midpoint rule.
            assert!(
                (kurtosis - claimed).abs() < 0.05 * claimed,
                "{b}: kurtosis {kurtosis}, claimed {claimed}"
            );
            let entropy = -expect(&|u| log_density(b.value, u));
            assert!((entropy - (b.row.entropy)(b.value)).abs() < 1e-4, "{b}: entropy {entropy}");
            assert!((expect(&|u| u * score(b.value, u)) + 1.0).abs() < 1e-3, "{b}: E u score(u) must be -1");
            for u in [-3.0, -0.4, 0.9, 5.0] {
                let slope = (log_density(b.value, u + 1e-6) - log_density(b.value, u - 1e-6)) / 2e-6;
                assert!((slope - score(b.value, u)).abs() < 1e-6, "{b}: score at {u}");
            }
        }
    }

    #[test]
    fn draws_follow_the_quantiles() {
        for b in bases() {
            let mut stream = Stream::new(3, 0, 0);
            let mut u = vec![0.0; 40_000];
            (b.row.fill)(b.value, &mut stream, &mut u);
            for p in [0.01, 0.2, 0.5, 0.9] {
                let q = (b.row.quantile)(b.value, p);
                let below = u.iter().filter(|x| **x < q).count() as f64 / u.len() as f64;
                let sd = (p * (1.0 - p) / u.len() as f64).sqrt();
                assert!((below - p).abs() < 4.5 * sd, "{b}: {below} of the draws below the {p} quantile");
            }
        }
    }
}
