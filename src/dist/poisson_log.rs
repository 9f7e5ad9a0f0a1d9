//! The Poisson distribution, by log rate: the likelihood of a log-linear model.

use super::count::LOG_FACTORIAL;
use super::row::{ArgSpec, Density, Distribution, Domain, Part, Probe, Sampler, Support};
use super::tails::{self, Counts};
use super::{count, draw};
use crate::num::real::Real;
use crate::ops::scalar::scalar_row;

scalar_row! {
    JOINT = "poisson_log"(x, alpha), "x alpha - exp(alpha)";
    value x * alpha - alpha.exp();
    slopes(_y) [alpha, x - alpha.exp()];
    probes [&[2.0, 0.3], &[0.0, -40.0], &[1e4, 9.2]]
}

scalar_row! {
    LCDF = "poisson_log_lcdf"(x, alpha), "log P(X ≤ x)";
    value tails::lcdf::<Sum, T, 1>(x, [alpha]).0;
    slopes(_y) [T::zero(), tails::lcdf::<Sum, T, 1>(x, [alpha]).1[0]];
    probes [&[2.0, -1.0], &[0.0, 3.7], &[100.0, 3.7]]
}

scalar_row! {
    LCCDF = "poisson_log_lccdf"(x, alpha), "log P(X > x)";
    value tails::lccdf::<Sum, T, 1>(x, [alpha]).0;
    slopes(_y) [T::zero(), tails::lccdf::<Sum, T, 1>(x, [alpha]).1[0]];
    probes [&[2.0, -1.0], &[0.0, 3.7], &[100.0, 3.7]]
}

/// The sums behind the cumulative probabilities.
struct Sum;

impl Counts<1> for Sum {
    fn log_pmf<T: Real>(k: T, [alpha]: [T; 1]) -> T {
        k * alpha - alpha.exp() - count::lfactorial(k)
    }
    fn ratio<T: Real>(k: T, [alpha]: [T; 1]) -> (T, T) {
        (alpha.exp(), k.shift(1.0))
    }
    fn score<T: Real>(k: T, [alpha]: [T; 1]) -> [T; 1] {
        [k - alpha.exp()]
    }
    fn score_step<T: Real>(_: T, _: [T; 1]) -> [T; 1] {
        [T::one()]
    }
    fn mean([alpha]: [f64; 1]) -> f64 {
        alpha.exp()
    }
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "poisson_log",
    doc: "counts with mean exp(alpha)",
    formula: "x * alpha - exp(alpha) - lfactorial(x)",
    args: &[ArgSpec { name: "alpha", domain: Domain::Real, rank: 0, default: None }],
    support: Support::COUNT,
    discrete: true,
    event: 0,
    density: Density::Parts(&[Part { row: &JOINT, of: &[0, 1] }, Part { row: &LOG_FACTORIAL, of: &[0] }]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| tails::quantile(p, a[0].exp(), a, &LCDF, &LCCDF)),
    sample: Sampler::Number(|rng, a| draw::poisson(rng, a[0].exp())),
    noncentered: None,
    probes: &[
        Probe { x: &[2.0], args: &[&[0.3]] },
        Probe { x: &[0.0], args: &[&[-40.0]] },
        Probe { x: &[60.0], args: &[&[1.0]] },
        Probe { x: &[1e4], args: &[&[9.2]] },
    ],
};
