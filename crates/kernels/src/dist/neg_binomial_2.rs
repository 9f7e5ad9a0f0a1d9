//! The negative binomial distribution, by mean and precision; Poisson as phi grows.

use super::count::{LOG_FACTORIAL, RISE};
use super::neg_binomial_2_log;
use super::row::{ArgSpec, Density, Distribution, Domain, Link, Part, Probe, Sampler, Support};
use super::tails::{self, Counts};
use super::{count, draw};
use crate::facts::known;
use crate::num::real::Real;
use crate::ops::scalar::{EXP, Facts, scalar_row};

scalar_row! {
    JOINT = "neg_binomial_2"(x, mu, phi), "x log mu - (x + phi) log(1 + mu / phi)";
    value log_joint(x, mu, phi);
    slopes(_y, need) [
        if need[0] { mu.ln() - (mu / phi).log1p() } else { T::zero() },
        in_mu(x, mu, phi),
        if need[2] { in_phi(x, mu, phi) } else { T::zero() }
    ];
    probes [&[2.0, 0.3, 0.7], &[0.0, 5.0, 1e-3], &[40.0, 30.0, 1e5]];
    facts Facts::with_log(
        |a, k| {
            let [x, _, phi]: [f64; 3] = known::fixed(a, k)?;
            if k != 1 || !(x >= 0.0 && phi > 0.0) {
                return None;
            }
            let rate = phi.recip();
            Some(
                known::log(a[1])?.scaled(x)
                    + known::log1p(a[1].scale(rate))?.stretched(rate).scaled(-(x + phi)),
            )
        },
        |a, k| {
            let [x, _, phi]: [f64; 3] = known::fixed(a, k)?;
            if k == 1 { neg_binomial_2_log::log_mean(a[1], x, phi) } else { None }
        }
    )
}

scalar_row! {
    LCDF = "neg_binomial_2_lcdf"(x, mu, phi), "log P(X ≤ x)";
    opaque(at) tails::lcdf_with_slopes::<Sum, T, 2, 3>(at);
    probes [&[2.0, 1.3, 0.7], &[0.0, 25.0, 5.0], &[80.0, 10.0, 30.0]];
    facts Facts::with_log(|_, _| None, |a, k| neg_binomial_2_log::tail(a, k, false))
}

scalar_row! {
    LCCDF = "neg_binomial_2_lccdf"(x, mu, phi), "log P(X > x)";
    opaque(at) tails::lccdf_with_slopes::<Sum, T, 2, 3>(at);
    probes [&[2.0, 1.3, 0.7], &[0.0, 25.0, 5.0], &[80.0, 10.0, 30.0]];
    facts Facts::with_log(|_, _| None, |a, k| neg_binomial_2_log::tail(a, k, true))
}

/// log P(X = x) less the rising factorial of phi and x!; it tends to x log mu - mu as phi grows.
#[inline(always)]
fn log_joint<T: Real>(x: T, mu: T, phi: T) -> T {
    x.xlogy(mu) - (x + phi) * (mu / phi).log1p()
}

#[inline(always)]
fn in_mu<T: Real>(x: T, mu: T, phi: T) -> T {
    x.if_equal(T::zero(), T::zero(), x / mu) - (x / phi).shift(1.0) / (mu / phi).shift(1.0)
}

#[inline(always)]
fn in_phi<T: Real>(x: T, mu: T, phi: T) -> T {
    let u = mu / phi;
    (x / phi).shift(1.0) * u / u.shift(1.0) - u.log1p()
}

/// The sums behind the cumulative probabilities.
struct Sum;

impl Counts<2> for Sum {
    fn log_pmf<T: Real>(k: T, [mu, phi]: [T; 2]) -> T {
        k.lrise(phi) + log_joint(k, mu, phi) - count::lfactorial(k)
    }
    fn ratio<T: Real>(k: T, [mu, phi]: [T; 2]) -> (T, T) {
        ((k / phi).shift(1.0) * mu, k.shift(1.0) * (mu / phi).shift(1.0))
    }
    fn score<T: Real>(k: T, [mu, phi]: [T; 2]) -> [T; 2] {
        [in_mu(k, mu, phi), in_phi(k, mu, phi) + k.lrise_a(phi)]
    }
    fn score_step<T: Real>(k: T, [mu, phi]: [T; 2]) -> [T; 2] {
        let both = (mu / phi).shift(1.0);
        [(mu * both).recip(), mu / (phi.square() * both) - k / (phi * (phi + k))]
    }
    fn mean([mu, _]: [f64; 2]) -> f64 {
        mu
    }
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "neg_binomial_2",
    doc: "counts with mean mu and variance mu + mu^2 / phi",
    formula: "lgamma(x + phi) - lgamma(phi) - lfactorial(x) + multiply_log(x, mu / (mu + phi)) - phi * log1p(mu / phi)",
    args: &[
        ArgSpec { name: "mu", domain: Domain::NonNegative, rank: 0, default: None },
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
    quantile: Some(|p, a| tails::quantile(p, a[0], a, &LCDF, &LCCDF)),
    sample: Sampler::Number(|rng, a| {
        let rate = draw::log_gamma(rng, a[1]).exp() / a[1] * a[0];
        draw::poisson(rng, rate)
    }),
    noncentered: None,
    links: &[Link { arg: 0, of: &EXP, to: &neg_binomial_2_log::ROW }],
    probes: &[
        Probe { x: &[2.0], args: &[&[0.3], &[0.7]] },
        Probe { x: &[0.0], args: &[&[5.0], &[1e-3]] },
        Probe { x: &[60.0], args: &[&[4.0], &[3.0]] },
        Probe { x: &[40.0], args: &[&[30.0], &[1e4]] },
    ],
};
