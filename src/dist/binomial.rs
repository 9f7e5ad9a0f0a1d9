//! The binomial distribution, by probability.

use super::count::CHOOSE;
use super::row::{ArgSpec, Density, Distribution, Domain, End, Part, Probe, Sampler, Support};
use super::tails::{self, Counts};
use super::{count, draw};
use crate::num::real::Real;
use crate::ops::scalar::scalar_row;

scalar_row! {
    JOINT = "binomial"(x, n, theta), "x log theta + (n - x) log(1 - theta)";
    value log_joint(x, n, theta);
    slopes(_y, need) [
        if need[0] { theta.ln() - (-theta).log1p() } else { T::zero() },
        if need[1] { (-theta).log1p() } else { T::zero() },
        share(x, theta) - share(n - x, T::one() - theta)
    ];
    probes [&[2.0, 5.0, 0.3], &[0.0, 5.0, 1e-9], &[5.0, 5.0, 0.2]]
}

scalar_row! {
    LCDF = "binomial_lcdf"(x, n, theta), "log P(X ≤ x)";
    value tails::lcdf::<Sum, T, 2>(x, [n, theta]).0;
    slopes(_y) { let [n, theta] = tails::lcdf::<Sum, T, 2>(x, [n, theta]).1; [T::zero(), n, theta] };
    probes [&[2.0, 9.0, 0.3], &[0.0, 50.0, 0.4], &[80.0, 100.0, 0.4]]
}

scalar_row! {
    LCCDF = "binomial_lccdf"(x, n, theta), "log P(X > x)";
    value tails::lccdf::<Sum, T, 2>(x, [n, theta]).0;
    slopes(_y) { let [n, theta] = tails::lccdf::<Sum, T, 2>(x, [n, theta]).1; [T::zero(), n, theta] };
    probes [&[2.0, 9.0, 0.3], &[0.0, 50.0, 0.4], &[80.0, 100.0, 0.4]]
}

#[inline(always)]
fn log_joint<T: Real>(x: T, n: T, theta: T) -> T {
    let rest = n - x;
    x.xlogy(theta) + rest.if_equal(T::zero(), T::zero(), rest * (-theta).log1p())
}

/// a / b, and 0 where a is.
#[inline(always)]
fn share<T: Real>(a: T, b: T) -> T {
    a.if_equal(T::zero(), T::zero(), a / b)
}

/// The sums behind the cumulative probabilities. The number of trials is data: it has no slope.
struct Sum;

impl Counts<2> for Sum {
    fn log_pmf<T: Real>(k: T, [n, theta]: [T; 2]) -> T {
        count::lchoose(n, k) + log_joint(k, n, theta)
    }
    fn ratio<T: Real>(k: T, [n, theta]: [T; 2]) -> (T, T) {
        ((n - k) * theta, k.shift(1.0) * (T::one() - theta))
    }
    fn score<T: Real>(k: T, [n, theta]: [T; 2]) -> [T; 2] {
        [T::zero(), share(k, theta) - share(n - k, T::one() - theta)]
    }
    fn score_step<T: Real>(_: T, [_, theta]: [T; 2]) -> [T; 2] {
        [T::zero(), (theta * (T::one() - theta)).recip()]
    }
    fn mean([n, theta]: [f64; 2]) -> f64 {
        n * theta
    }
    fn last([n, _]: [f64; 2]) -> f64 {
        n
    }
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "binomial",
    doc: "number of successes in N trials, each with probability theta",
    formula: "lchoose(N, x) + multiply_log(x, theta) + multiply_log(N - x, 1 - theta)",
    args: &[
        ArgSpec { name: "N", domain: Domain::Count, rank: 0, default: None },
        ArgSpec { name: "theta", domain: Domain::Unit, rank: 0, default: None },
    ],
    support: Support::Integers(End::At(0.0), End::Arg(0)),
    discrete: true,
    event: 0,
    density: Density::Parts(&[Part { row: &JOINT, of: &[0, 1, 2] }, Part { row: &CHOOSE, of: &[0, 1] }]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| tails::quantile(p, a[0] * a[1], a, &LCDF, &LCCDF)),
    sample: Sampler::Number(|rng, a| draw::binomial(rng, a[0], a[1])),
    noncentered: None,
    probes: &[
        Probe { x: &[2.0], args: &[&[5.0], &[0.3]] },
        Probe { x: &[0.0], args: &[&[20.0], &[1e-6]] },
        Probe { x: &[20.0], args: &[&[20.0], &[0.2]] },
        Probe { x: &[400.0], args: &[&[1000.0], &[0.7]] },
    ],
};
