//! The Poisson distribution, by log rate: the likelihood of a log-linear model.

use super::count::LOG_FACTORIAL;
use super::jets;
use super::row::{ArgSpec, Density, Distribution, Domain, Part, Probe, Sampler, Support};
use super::tails::{self, Counts};
use super::{count, draw};
use crate::facts::{Interval, Jet, known};
use crate::num::real::Real;
use crate::ops::scalar::{Facts, scalar_row};

scalar_row! {
    JOINT = "poisson_log"(x, alpha), "x alpha - exp(alpha)";
    value x * alpha - alpha.exp();
    slopes(_y) [alpha, x - alpha.exp()];
    probes [&[2.0, 0.3], &[0.0, -40.0], &[1e4, 9.2]];
    facts Facts::of(|a, k| {
        let [x, _]: [f64; 2] = known::fixed(a, k)?;
        if k == 1 { log_mean(a[1], x) } else { None }
    })
}

scalar_row! {
    LCDF = "poisson_log_lcdf"(x, alpha), "log P(X ≤ x)";
    opaque(at) tails::lcdf_with_slopes::<Sum, T, 1, 2>(at);
    probes [&[2.0, -1.0], &[0.0, 3.7], &[100.0, 3.7]];
    // P(X ≤ x) = P(log G > alpha) for G with the gamma distribution of shape x + 1; log G has a log-concave
    // density.
    facts Facts::of(|a, k| tail(a, k, false))
}

scalar_row! {
    LCCDF = "poisson_log_lccdf"(x, alpha), "log P(X > x)";
    opaque(at) tails::lccdf_with_slopes::<Sum, T, 1, 2>(at);
    probes [&[2.0, -1.0], &[0.0, 3.7], &[100.0, 3.7]];
    facts Facts::of(|a, k| tail(a, k, true))
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

/// x t - e^t.
pub(super) fn log_mean(t: Interval, x: f64) -> Option<Jet> {
    Some(Jet::linear(t, x, 0.0) + -known::exp(t)?)
}

/// A tail in argument 1, for a count x.
pub(super) fn tail(a: &[Interval], k: usize, rises: bool) -> Option<Jet> {
    let [x, _]: [f64; 2] = known::fixed(a, k)?;
    (k == 1 && x >= 0.0 && x.fract() == 0.0).then(|| jets::concave_probability(rises))
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
    links: &[],
    probes: &[
        Probe { x: &[2.0], args: &[&[0.3]] },
        Probe { x: &[0.0], args: &[&[-40.0]] },
        Probe { x: &[60.0], args: &[&[1.0]] },
        Probe { x: &[1e4], args: &[&[9.2]] },
    ],
};
