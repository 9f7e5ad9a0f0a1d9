//! The Poisson distribution, by rate.

use super::count::LOG_FACTORIAL;
use super::poisson_log;
use super::row::{ArgSpec, Density, Distribution, Domain, Link, Part, Probe, Sampler, Support};
use super::tails::{self, Counts};
use super::{count, draw};
use crate::facts::{Jet, known};
use crate::num::real::Real;
use crate::ops::scalar::{EXP, Facts, scalar_row};

scalar_row! {
    JOINT = "poisson"(x, lambda), "x log lambda - lambda";
    value x.xlogy(lambda) - lambda;
    slopes(_y, need) [
        if need[0] { lambda.ln() } else { T::zero() },
        x.if_equal(T::zero(), T::zero(), x / lambda).shift(-1.0)
    ];
    probes [&[2.0, 0.3], &[0.0, 1e-9], &[1e4, 9.9e3]];
    facts Facts::with_log_and_rate(
        |a, k| {
            let [x, _]: [f64; 2] = known::fixed(a, k)?;
            if k == 1 && x >= 0.0 { Some(known::log(a[1])?.scaled(x) + -Jet::identity(a[1])) } else { None }
        },
        |a, k| {
            let [x, _]: [f64; 2] = known::fixed(a, k)?;
            if k == 1 { poisson_log::log_mean(a[1], x) } else { None }
        },
        |a, k| { let [x, _]: [f64; 2] = known::fixed(a, k)?; (k == 1).then_some([x, -1.0]) }
    )
}

scalar_row! {
    LCDF = "poisson_lcdf"(x, lambda), "log P(X ≤ x)";
    opaque(at) tails::lcdf_with_slopes::<Sum, T, 1, 2>(at);
    probes [&[2.0, 0.3], &[0.0, 40.0], &[100.0, 40.0]];
    // P(X ≤ x) = P(G > lambda) for G with the gamma distribution of shape x + 1, whose density is
    // log-concave, in log G too.
    facts Facts::with_log(
        |a, k| if k == 1 && a[1].is_nonnegative() { poisson_log::tail(a, k, false) } else { None },
        |a, k| poisson_log::tail(a, k, false)
    )
}

scalar_row! {
    LCCDF = "poisson_lccdf"(x, lambda), "log P(X > x)";
    opaque(at) tails::lccdf_with_slopes::<Sum, T, 1, 2>(at);
    probes [&[2.0, 0.3], &[0.0, 40.0], &[100.0, 40.0]];
    facts Facts::with_log(
        |a, k| if k == 1 && a[1].is_nonnegative() { poisson_log::tail(a, k, true) } else { None },
        |a, k| poisson_log::tail(a, k, true)
    )
}

/// The sums behind the cumulative probabilities.
struct Sum;

impl Counts<1> for Sum {
    fn log_pmf<T: Real>(k: T, [lambda]: [T; 1]) -> T {
        k.xlogy(lambda) - lambda - count::lfactorial(k)
    }
    fn ratio<T: Real>(k: T, [lambda]: [T; 1]) -> (T, T) {
        (lambda, k.shift(1.0))
    }
    fn score<T: Real>(k: T, [lambda]: [T; 1]) -> [T; 1] {
        [k.if_equal(T::zero(), T::zero(), k / lambda).shift(-1.0)]
    }
    fn score_step<T: Real>(_: T, [lambda]: [T; 1]) -> [T; 1] {
        [lambda.recip()]
    }
    fn mean([lambda]: [f64; 1]) -> f64 {
        lambda
    }
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "poisson",
    doc: "counts with mean lambda",
    formula: "multiply_log(x, lambda) - lambda - lfactorial(x)",
    args: &[ArgSpec { name: "lambda", domain: Domain::NonNegative, rank: 0, default: None }],
    support: Support::COUNT,
    discrete: true,
    event: 0,
    density: Density::Parts(&[Part { row: &JOINT, of: &[0, 1] }, Part { row: &LOG_FACTORIAL, of: &[0] }]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| tails::quantile(p, a[0], a, &LCDF, &LCCDF)),
    sample: Sampler::Number(|rng, a| draw::poisson(rng, a[0])),
    noncentered: None,
    links: &[Link { arg: 0, of: &EXP, to: &poisson_log::ROW }],
    probes: &[
        Probe { x: &[2.0], args: &[&[0.3]] },
        Probe { x: &[0.0], args: &[&[1e-9]] },
        Probe { x: &[60.0], args: &[&[3.0]] },
        Probe { x: &[1e4], args: &[&[9.9e3]] },
    ],
};
