//! The negative binomial distribution, by log mean and precision; Poisson as phi grows.

use super::count::{LOG_FACTORIAL, RISE};
use super::jets;
use super::row::{ArgSpec, Density, Distribution, Domain, Part, Probe, Sampler, Support};
use super::tails::{self, Counts};
use super::{count, draw};
use crate::facts::{Interval, Jet, known};
use crate::num::real::Real;
use crate::ops::scalar::{Facts, scalar_row};

scalar_row! {
    JOINT = "neg_binomial_2_log"(x, eta, phi), "x eta - (x + phi) log(1 + exp(eta) / phi)";
    value log_joint(x, eta, phi);
    slopes(_y) {
        let t = eta - phi.ln();
        [eta - t.log1p_exp(), x - (x + phi) * t.inv_logit(), in_phi(x, eta, phi)]
    };
    probes [&[2.0, -1.2, 0.7], &[0.0, 1.6, 1e-3], &[40.0, 3.4, 1e5], &[3.0, 300.0, 2.0]];
    facts Facts::of(|a, k| {
        let [x, _, phi]: [f64; 3] = known::fixed(a, k)?;
        if k == 1 { log_mean(a[1], x, phi) } else { None }
    })
}

scalar_row! {
    LCDF = "neg_binomial_2_log_lcdf"(x, eta, phi), "log P(X ≤ x)";
    opaque(at) tails::lcdf_with_slopes::<Sum, T, 2, 3>(at);
    probes [&[2.0, 0.3, 0.7], &[0.0, 3.2, 5.0], &[80.0, 2.3, 30.0]];
    // P(X ≤ x) = P(logit B > eta - log phi) for B with the beta distribution of shapes x + 1 and phi.
    facts Facts::of(|a, k| tail(a, k, false))
}

scalar_row! {
    LCCDF = "neg_binomial_2_log_lccdf"(x, eta, phi), "log P(X > x)";
    opaque(at) tails::lccdf_with_slopes::<Sum, T, 2, 3>(at);
    probes [&[2.0, 0.3, 0.7], &[0.0, 3.2, 5.0], &[80.0, 2.3, 30.0]];
    facts Facts::of(|a, k| tail(a, k, true))
}

/// log P(X = x) less the rising factorial of phi and x!; it tends to x eta - exp(eta) as phi grows.
#[inline(always)]
fn log_joint<T: Real>(x: T, eta: T, phi: T) -> T {
    x * eta - (x + phi) * (eta - phi.ln()).log1p_exp()
}

#[inline(always)]
fn in_phi<T: Real>(x: T, eta: T, phi: T) -> T {
    let t = eta - phi.ln();
    (x / phi).shift(1.0) * t.inv_logit() - t.log1p_exp()
}

/// The sums behind the cumulative probabilities.
struct Sum;

impl Counts<2> for Sum {
    fn log_pmf<T: Real>(k: T, [eta, phi]: [T; 2]) -> T {
        k.lrise(phi) + log_joint(k, eta, phi) - count::lfactorial(k)
    }
    fn ratio<T: Real>(k: T, [eta, phi]: [T; 2]) -> (T, T) {
        ((k + phi) * (eta - phi.ln()).inv_logit(), k.shift(1.0))
    }
    fn score<T: Real>(k: T, [eta, phi]: [T; 2]) -> [T; 2] {
        let share = (eta - phi.ln()).inv_logit();
        [k - (k + phi) * share, in_phi(k, eta, phi) + k.lrise_a(phi)]
    }
    fn score_step<T: Real>(k: T, [eta, phi]: [T; 2]) -> [T; 2] {
        let t = eta - phi.ln();
        [(-t).inv_logit(), t.inv_logit() / phi - k / (phi * (phi + k))]
    }
    fn mean([eta, _]: [f64; 2]) -> f64 {
        eta.exp()
    }
}

/// x t - (x + phi) log(1 + e^(t - log phi)): the second derivative lies between -(x + phi)/4 and 0.
pub(super) fn log_mean(t: Interval, x: f64, phi: f64) -> Option<Jet> {
    let bend = known::log1p_exp(t.shift(-phi.ln()))?.scaled(-(x + phi));
    (x >= 0.0 && phi > 0.0).then(|| Jet::linear(t, x, 0.0) + bend)
}

/// A tail in argument 1, for a count x.
pub(super) fn tail(a: &[Interval], k: usize, rises: bool) -> Option<Jet> {
    let [x, _, phi]: [f64; 3] = known::fixed(a, k)?;
    (k == 1 && x >= 0.0 && x.fract() == 0.0 && phi > 0.0).then(|| jets::concave_probability(rises))
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "neg_binomial_2_log",
    doc: "counts with mean exp(eta) and variance exp(eta) + exp(eta)^2 / phi",
    formula: "lgamma(x + phi) - lgamma(phi) - lfactorial(x) + x * (eta - log(phi)) - (x + phi) * log1p_exp(eta - log(phi))",
    args: &[
        ArgSpec { name: "eta", domain: Domain::Real, rank: 0, default: None },
        ArgSpec { name: "phi", domain: Domain::Positive, rank: 0, default: None },
    ],
    support: Support::COUNT,
    discrete: true,
    event: 0,
    density: Density::Parts(&[
        Part { row: &JOINT, of: &[0, 1, 2] },
        Part { row: &RISE, of: &[0, 2] },
        Part { row: &LOG_FACTORIAL, of: &[0] },
    ]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| tails::quantile(p, a[0].exp(), a, &LCDF, &LCCDF)),
    sample: Sampler::Number(|rng, a| {
        let rate = (draw::log_gamma(rng, a[1]) + a[0]).exp() / a[1];
        draw::poisson(rng, rate)
    }),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[2.0], args: &[&[-1.2], &[0.7]] },
        Probe { x: &[0.0], args: &[&[1.6], &[1e-3]] },
        Probe { x: &[60.0], args: &[&[1.4], &[3.0]] },
        Probe { x: &[40.0], args: &[&[3.4], &[1e4]] },
    ],
};
