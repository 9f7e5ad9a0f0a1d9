//! Counts whose log probability is linear in a natural parameter but for a term that does not depend on the
//! count.
//!
//! log P(X = x) = x η - s A(η) + const(x), with A(η) = e^η or log(1 + e^η). So log P(X in a set) + s A(η) is
//! a log of a sum of e^(x η + const) over the set: convex in η, its second derivative the variance of X given
//! that it lies there, which is no more than a quarter of the square of the set's width (Popoviciu).

use super::{binomial, binomial_logit, poisson, poisson_log};
use crate::ops::scalar::{EXP, INV_LOGIT, ScalarRow};

/// A(η).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Partition {
    /// e^η.
    Exponential,
    /// log(1 + e^η), as many times as there are trials.
    Softplus,
}

/// Such a distribution.
pub struct Natural {
    /// The log probability of x, its first argument.
    pub joint: &'static ScalarRow,
    /// log P(X ≤ x), of the same arguments.
    pub lcdf: &'static ScalarRow,
    /// log P(X > x).
    pub lccdf: &'static ScalarRow,
    /// Which argument is η, or a function of it.
    pub parameter: usize,
    /// That function; None for η itself.
    pub link: Option<&'static ScalarRow>,
    /// A.
    pub partition: Partition,
    /// The argument that is the number of trials, which is s and the largest x; without it s is 1 and there
    /// is no largest x.
    pub trials: Option<usize>,
}

/// All of them.
pub static NATURAL: &[Natural] = &[
    Natural {
        joint: &poisson_log::JOINT,
        lcdf: &poisson_log::LCDF,
        lccdf: &poisson_log::LCCDF,
        parameter: 1,
        link: None,
        partition: Partition::Exponential,
        trials: None,
    },
    Natural {
        joint: &poisson::JOINT,
        lcdf: &poisson::LCDF,
        lccdf: &poisson::LCCDF,
        parameter: 1,
        link: Some(&EXP),
        partition: Partition::Exponential,
        trials: None,
    },
    Natural {
        joint: &binomial_logit::JOINT,
        lcdf: &binomial_logit::LCDF,
        lccdf: &binomial_logit::LCCDF,
        parameter: 2,
        link: None,
        partition: Partition::Softplus,
        trials: Some(1),
    },
    Natural {
        joint: &binomial::JOINT,
        lcdf: &binomial::LCDF,
        lccdf: &binomial::LCCDF,
        parameter: 2,
        link: Some(&INV_LOGIT),
        partition: Partition::Softplus,
        trials: Some(1),
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::special::{inv_logit, log1p_exp};

    /// Arguments for a count, a number of trials and a natural parameter.
    fn args(row: &Natural, x: f64, trials: f64, eta: f64) -> Vec<f64> {
        let parameter = match row.link {
            None => eta,
            Some(link) if *link == EXP => eta.exp(),
            Some(_) => inv_logit(eta),
        };
        let mut args = vec![x; row.joint.args.len()];
        args[row.parameter] = parameter;
        row.trials.iter().for_each(|&k| args[k] = trials);
        args
    }

    fn partition(row: &Natural, trials: f64, eta: f64) -> f64 {
        match row.partition {
            Partition::Exponential => eta.exp(),
            Partition::Softplus => trials * log1p_exp(eta),
        }
    }

    #[test]
    fn log_probabilities_are_linear_but_for_the_partition() {
        for row in NATURAL {
            for (x, n) in [(0.0, 7.0), (3.0, 7.0), (7.0, 7.0)] {
                let rest = |eta: f64| row.joint.at(&args(row, x, n, eta)) - x * eta + partition(row, n, eta);
                for eta in [-3.0, -0.5, 0.1, 2.0] {
                    let off = (rest(eta) - rest(0.0)).abs();
                    assert!(off < 1e-11, "{} at {x}, {eta}: off by {off}", row.joint.name);
                }
            }
        }
    }

    #[test]
    fn tails_and_the_partition_together_have_the_curvature_of_a_variance() {
        for row in NATURAL {
            for (x, n) in [(0.0, 7.0), (2.0, 7.0), (5.0, 9.0)] {
                for (tail, width) in [(row.lcdf, x), (row.lccdf, n - x - 1.0)] {
                    let sum = |eta: f64| tail.at(&args(row, x, n, eta)) + partition(row, n, eta);
                    for k in -30..=20 {
                        let (eta, h) = (0.1 * f64::from(k), 1e-3);
                        let bend = (sum(eta + h) - 2.0 * sum(eta) + sum(eta - h)) / (h * h);
                        let endless = row.trials.is_none() && *tail == *row.lccdf;
                        let most = if endless { f64::INFINITY } else { 0.25 * width * width };
                        assert!(
                            bend > -1e-6 && bend < most + 1e-6,
                            "{} at {x} of {n}, {eta}: {bend}, not within 0 and {most}",
                            tail.name
                        );
                    }
                }
            }
        }
    }
}
