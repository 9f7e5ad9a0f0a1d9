//! Averages of the iterates, kept running: one extra copy of `w`, never the iterates themselves.

mod last;
mod polynomial;
mod suffix;
mod theta_weighted;

use super::table::{Parameter, Row};

/// A running average at work: `w̄ ← w̄ + ρ (w - w̄)` for each iterate it takes.
pub trait Weights: Send {
    /// ρ for the `k`-th iterate taken, from 1; the first one always replaces what was there.
    fn weight(&mut self, k: usize) -> f64;
}

/// Which iterate an average takes at step t.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// w^t, from which the step starts: the average after T steps is over w⁰ … w^{T-1}.
    Before,
    /// w^{t+1}, where it ends: the average is over w¹ … w^T.
    After,
}

/// What an average may be made from.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// The value of the row's parameter.
    pub value: f64,
    /// Number of steps to come.
    pub steps: usize,
    /// `a` of the estimator; NaN if not known.
    pub noise: f64,
    /// The constant step; NaN if the step is not constant.
    pub gamma: f64,
}

/// A row of the table of averages.
#[derive(Debug)]
pub struct Average {
    /// Name.
    pub name: &'static str,
    /// One line of explanation.
    pub doc: &'static str,
    /// Its parameter, if it has one.
    pub parameter: Option<Parameter>,
    /// Which iterates it takes.
    pub takes: Takes,
    /// The operator of the theorem that it is the average of, if it is that of one: it needs `a` and a
    /// constant step.
    pub theorem: Option<&'static str>,
    /// The weights at the start of a fit.
    pub make: fn(&Setup) -> Box<dyn Weights>,
}

impl Row for Average {
    const KIND: &'static str = "average";

    fn table() -> &'static [Average] {
        static TABLE: [Average; 5] =
            [polynomial::ROW, suffix::ROW, last::ROW, theta_weighted::PROX, theta_weighted::PROJ];
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

    /// The running average of 1, x, x², … against the weighted sum written out.
    fn check(row: &Average, setup: Setup, weights: &[f64]) {
        let mut running = (row.make)(&setup);
        let (mut average, mut numerator, mut total) = (f64::NAN, 0.0, 0.0);
        for (k, weight) in weights.iter().enumerate() {
            let w = 1.7_f64.powi(k as i32);
            let rho = running.weight(k + 1);
            average = if rho == 1.0 { w } else { average + rho * (w - average) };
            (numerator, total) = (numerator + weight * w, total + weight);
            if total > 0.0 {
                let expected = numerator / total;
                assert!((average - expected).abs() < 1e-12 * expected, "{}: {average} {expected}", row.name);
            }
        }
    }

    #[test]
    fn running_averages_equal_the_weighted_sums() {
        let setup = Setup { value: 3.0, steps: 20, noise: 50.0, gamma: 0.01 };
        let theta: f64 = 1.0 / (1.0 + 2.0 * 50.0 * 1e-4);
        check(&theta_weighted::PROX, setup, &(1..=20).map(|t| theta.powi(t)).collect::<Vec<_>>());
        let theta: f64 = 1.0 / (1.0 + 50.0 * 1e-4);
        check(&theta_weighted::PROJ, setup, &(0..20).map(|t| theta.powi(t + 1)).collect::<Vec<_>>());
        // Polynomial weights with η = 3 are proportional to t(t+1)(t+2).
        check(
            &polynomial::ROW,
            setup,
            &(1..=20).map(|t| f64::from(t * (t + 1) * (t + 2))).collect::<Vec<_>>(),
        );
        let half = Setup { value: 0.5, ..setup };
        check(&suffix::ROW, half, &(1..=20).map(|t| f64::from(u8::from(t > 10))).collect::<Vec<_>>());
    }
}
