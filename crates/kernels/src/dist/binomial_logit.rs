//! The binomial distribution, by log odds.

use super::count::CHOOSE;
use super::jets;
use super::row::{ArgSpec, Density, Distribution, Domain, End, Part, Probe, Sampler, Support};
use super::tails::{self, Counts};
use super::{count, draw};
use crate::facts::{Interval, known};
use crate::num::real::Real;
use crate::num::special::inv_logit;
use crate::ops::scalar::{Facts, scalar_row};

scalar_row! {
    JOINT = "binomial_logit"(x, n, alpha), "x log p + (n - x) log(1 - p), p = inv_logit(alpha)";
    value log_joint(x, n, alpha);
    slopes(_y) [alpha, -(alpha.log1p_exp()), x * (-alpha).inv_logit() - (n - x) * alpha.inv_logit()];
    probes [&[2.0, 5.0, 0.3], &[0.0, 5.0, -40.0], &[5.0, 5.0, 40.0], &[2.0, 5.0, 700.0]];
    facts Facts::of(|a, k| {
        let [x, n, _]: [f64; 3] = known::fixed(a, k)?;
        let inside = k == 2 && x >= 0.0 && n >= x;
        if inside {
            Some(known::log_inv_logit(a[2])?.scaled(x) + known::log1m_inv_logit(a[2])?.scaled(n - x))
        } else {
            None
        }
    })
}

scalar_row! {
    LCDF = "binomial_logit_lcdf"(x, n, alpha), "log P(X ≤ x)";
    opaque(at) tails::lcdf_with_slopes::<Sum, T, 2, 3>(at);
    probes [&[2.0, 9.0, 0.3], &[0.0, 50.0, -0.4], &[80.0, 100.0, -0.4]];
    // P(X ≤ x) = P(logit B > alpha) for B with the beta distribution of shapes x + 1 and n - x; logit B has a
    // log-concave density, so both tails are log-concave.
    facts Facts::of(|a, k| if inside(a, k) { Some(jets::concave_probability(false)) } else { None })
}

scalar_row! {
    LCCDF = "binomial_logit_lccdf"(x, n, alpha), "log P(X > x)";
    opaque(at) tails::lccdf_with_slopes::<Sum, T, 2, 3>(at);
    probes [&[2.0, 9.0, 0.3], &[0.0, 50.0, -0.4], &[80.0, 100.0, -0.4]];
    facts Facts::of(|a, k| if inside(a, k) { Some(jets::concave_probability(true)) } else { None })
}

/// With L = log(1 + e^-|α|), log p = -L - max(-α, 0) and log(1 - p) = -L - max(α, 0): one exp and one log for
/// both.
#[inline(always)]
fn log_joint<T: Real>(x: T, n: T, alpha: T) -> T {
    let positive = alpha.max(T::zero());
    let both = (-alpha.abs()).exp().log1p();
    -(n * both + x * (positive - alpha) + (n - x) * positive)
}

/// The sums behind the cumulative probabilities. The number of trials is data: it has no slope.
struct Sum;

impl Counts<2> for Sum {
    fn log_pmf<T: Real>(k: T, [n, alpha]: [T; 2]) -> T {
        count::lchoose(n, k) + log_joint(k, n, alpha)
    }
    fn ratio<T: Real>(k: T, [n, alpha]: [T; 2]) -> (T, T) {
        ((n - k) * alpha.inv_logit(), k.shift(1.0) * (-alpha).inv_logit())
    }
    fn score<T: Real>(k: T, [n, alpha]: [T; 2]) -> [T; 2] {
        [T::zero(), k * (-alpha).inv_logit() - (n - k) * alpha.inv_logit()]
    }
    fn score_step<T: Real>(_: T, _: [T; 2]) -> [T; 2] {
        [T::zero(), T::one()]
    }
    fn mean([n, alpha]: [f64; 2]) -> f64 {
        n * inv_logit(alpha)
    }
    fn last([n, _]: [f64; 2]) -> f64 {
        n
    }
}

/// Whether argument k is the log odds, and x a count below n.
fn inside(a: &[Interval], k: usize) -> bool {
    let inside = |[x, n, _]: [f64; 3]| x.fract() == 0.0 && n.fract() == 0.0 && x >= 0.0 && x < n;
    k == 2 && known::fixed(a, k).is_some_and(inside)
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "binomial_logit",
    doc: "number of successes in N trials, each with probability inv_logit(alpha)",
    formula: "lchoose(N, x) - x * log1p_exp(-alpha) - (N - x) * log1p_exp(alpha)",
    args: &[
        ArgSpec { name: "N", domain: Domain::Count, rank: 0, default: None },
        ArgSpec { name: "alpha", domain: Domain::Real, rank: 0, default: None },
    ],
    support: Support::Integers(End::At(0.0), End::Arg(0)),
    discrete: true,
    event: 0,
    density: Density::Parts(&[Part { row: &JOINT, of: &[0, 1, 2] }, Part { row: &CHOOSE, of: &[0, 1] }]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| tails::quantile(p, a[0] * inv_logit(a[1]), a, &LCDF, &LCCDF)),
    sample: Sampler::Number(|rng, a| draw::binomial(rng, a[0], inv_logit(a[1]))),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[2.0], args: &[&[5.0], &[0.3]] },
        Probe { x: &[0.0], args: &[&[20.0], &[-30.0]] },
        Probe { x: &[20.0], args: &[&[20.0], &[-2.0]] },
        Probe { x: &[400.0], args: &[&[1000.0], &[0.7]] },
    ],
};
