//! The binomial distribution, by probability.

use super::binomial_logit;
use super::count::CHOOSE;
use super::jets;
use super::row::{ArgSpec, Density, Distribution, Domain, End, Link, Part, Probe, Sampler, Support};
use super::tails::{self, Counts};
use super::{count, draw};
use crate::facts::{Interval, known};
use crate::num::real::Real;
use crate::ops::scalar::{Facts, INV_LOGIT, scalar_row};

scalar_row! {
    JOINT = "binomial"(x, n, theta), "x log theta + (n - x) log(1 - theta)";
    value log_joint(x, n, theta);
    slopes(_y, need) [
        if need[0] { theta.ln() - (-theta).log1p() } else { T::zero() },
        if need[1] { (-theta).log1p() } else { T::zero() },
        share(x, theta) - share(n - x, T::one() - theta)
    ];
    probes [&[2.0, 5.0, 0.3], &[0.0, 5.0, 1e-9], &[5.0, 5.0, 0.2]];
    facts Facts::with_odds(
        |a, k| {
            let [x, n, _]: [f64; 3] = known::fixed(a, k)?;
            let inside = k == 2 && a[2].is_nonnegative() && a[2].hi <= 1.0 && x >= 0.0 && n >= x;
            if inside { Some(known::log(a[2])?.scaled(x) + known::log1m(a[2])?.scaled(n - x)) } else { None }
        },
        |a, k| {
            let [x, n, _]: [f64; 3] = known::fixed(a, k)?;
            (k == 2 && x >= 0.0 && n >= x).then_some([x, n - x])
        }
    )
}

scalar_row! {
    LCDF = "binomial_lcdf"(x, n, theta), "log P(X ≤ x)";
    opaque(at) tails::lcdf_with_slopes::<Sum, T, 2, 3>(at);
    probes [&[2.0, 9.0, 0.3], &[0.0, 50.0, 0.4], &[80.0, 100.0, 0.4]];
    // P(X ≤ x) = P(B > theta) for B with the beta distribution of shapes x + 1 and n - x, both at least 1:
    // log-concave.
    facts Facts::of(|a, k| if count_below(a, k) { Some(jets::concave_probability(false)) } else { None })
}

scalar_row! {
    LCCDF = "binomial_lccdf"(x, n, theta), "log P(X > x)";
    opaque(at) tails::lccdf_with_slopes::<Sum, T, 2, 3>(at);
    probes [&[2.0, 9.0, 0.3], &[0.0, 50.0, 0.4], &[80.0, 100.0, 0.4]];
    facts Facts::of(|a, k| if count_below(a, k) { Some(jets::concave_probability(true)) } else { None })
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

/// Whether argument k is the probability, and x a count below n.
fn count_below(a: &[Interval], k: usize) -> bool {
    let inside = |[x, n, _]: [f64; 3]| x.fract() == 0.0 && n.fract() == 0.0 && x >= 0.0 && x < n;
    k == 2 && a[2].is_nonnegative() && a[2].hi <= 1.0 && known::fixed(a, k).is_some_and(inside)
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
    links: &[Link { arg: 1, of: &INV_LOGIT, to: &binomial_logit::ROW }],
    probes: &[
        Probe { x: &[2.0], args: &[&[5.0], &[0.3]] },
        Probe { x: &[0.0], args: &[&[20.0], &[1e-6]] },
        Probe { x: &[20.0], args: &[&[20.0], &[0.2]] },
        Probe { x: &[400.0], args: &[&[1000.0], &[0.7]] },
    ],
};
