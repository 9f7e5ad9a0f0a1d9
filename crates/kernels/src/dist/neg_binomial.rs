//! The negative binomial distribution, by shape and inverse scale: a Poisson whose rate is gamma(alpha,
//! beta).

use super::count::{LOG_FACTORIAL, RISE};
use super::row::{ArgSpec, Density, Distribution, Domain, Part, Probe, Sampler, Support};
use super::tails::{self, Counts};
use super::{count, draw};
use crate::facts::{Jet, known};
use crate::num::real::Real;
use crate::ops::scalar::{Facts, scalar_row};

scalar_row! {
    JOINT = "neg_binomial"(x, alpha, beta), "x log(alpha / (1 + beta)) - alpha log(1 + 1 / beta)";
    value log_joint(x, alpha, beta);
    slopes(_y, need) [
        if need[0] { alpha.ln() - beta.log1p() } else { T::zero() },
        if need[1] { x / alpha - beta.recip().log1p() } else { T::zero() },
        (alpha / beta - x) / beta.shift(1.0)
    ];
    probes [&[2.0, 0.3, 0.7], &[0.0, 5.0, 1e-3], &[40.0, 1e8, 3e6]];
    // In alpha x log alpha and a linear term; in log beta -x log(1 + e^t) - alpha log(1 + e^-t).
    facts Facts::with_log(
        |a, k| {
            let [x, _, beta]: [f64; 3] = known::fixed(a, k)?;
            if k != 1 || !(x >= 0.0 && beta > 0.0) {
                return None;
            }
            Some(
                known::log(a[1])?.shifted(-beta.ln_1p()).scaled(x)
                    + Jet::linear(a[1], -beta.recip().ln_1p(), 0.0),
            )
        },
        |a, k| {
            let [x, alpha, _]: [f64; 3] = known::fixed(a, k)?;
            if k != 2 || !(x >= 0.0 && alpha > 0.0) {
                return None;
            }
            let share = known::log1m_inv_logit(a[2])?.shifted(alpha.ln()).scaled(x);
            Some(share + known::log_inv_logit(a[2])?.scaled(alpha))
        }
    )
}

scalar_row! {
    LCDF = "neg_binomial_lcdf"(x, alpha, beta), "log P(X ≤ x)";
    opaque(at) tails::lcdf_with_slopes::<Sum, T, 2, 3>(at);
    probes [&[2.0, 1.3, 0.7], &[0.0, 5.0, 0.2], &[80.0, 30.0, 3.0]]
}

scalar_row! {
    LCCDF = "neg_binomial_lccdf"(x, alpha, beta), "log P(X > x)";
    opaque(at) tails::lccdf_with_slopes::<Sum, T, 2, 3>(at);
    probes [&[2.0, 1.3, 0.7], &[0.0, 5.0, 0.2], &[80.0, 30.0, 3.0]]
}

/// log P(X = x) less the rising factorial of alpha and x!; for large alpha and beta, x log μ - μ with μ =
/// alpha / beta.
#[inline(always)]
fn log_joint<T: Real>(x: T, alpha: T, beta: T) -> T {
    x * (alpha.ln() - beta.log1p()) - alpha * beta.recip().log1p()
}

/// The sums behind the cumulative probabilities.
struct Sum;

impl Counts<2> for Sum {
    fn log_pmf<T: Real>(k: T, [alpha, beta]: [T; 2]) -> T {
        k.lrise(alpha) + log_joint(k, alpha, beta) - count::lfactorial(k)
    }
    fn ratio<T: Real>(k: T, [alpha, beta]: [T; 2]) -> (T, T) {
        (k + alpha, k.shift(1.0) * beta.shift(1.0))
    }
    fn score<T: Real>(k: T, [alpha, beta]: [T; 2]) -> [T; 2] {
        let in_alpha = k.lrise_a(alpha) + k / alpha - beta.recip().log1p();
        [in_alpha, (alpha / beta - k) / beta.shift(1.0)]
    }
    fn score_step<T: Real>(k: T, [alpha, beta]: [T; 2]) -> [T; 2] {
        [(alpha + k).recip(), -(beta.shift(1.0).recip())]
    }
    fn mean([alpha, beta]: [f64; 2]) -> f64 {
        alpha / beta
    }
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "neg_binomial",
    doc: "counts with mean alpha / beta and variance alpha / beta^2 * (1 + beta)",
    formula: "lgamma(x + alpha) - lgamma(alpha) - lfactorial(x) - alpha * log1p(1 / beta) - x * log1p(beta)",
    args: &[
        ArgSpec { name: "alpha", domain: Domain::Positive, rank: 0, default: None },
        ArgSpec { name: "beta", domain: Domain::Positive, rank: 0, default: None },
    ],
    support: Support::COUNT,
    discrete: true,
    event: 0,
    density: Density::Parts(&[
        Part { row: &JOINT, of: &[0, 1, 2] },
        Part { row: &RISE, of: &[0, 1] },
        Part { row: &LOG_FACTORIAL, of: &[0] },
    ]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| tails::quantile(p, a[0] / a[1], a, &LCDF, &LCCDF)),
    sample: Sampler::Number(|rng, a| {
        let rate = draw::log_gamma(rng, a[0]).exp() / a[1];
        draw::poisson(rng, rate)
    }),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[2.0], args: &[&[0.3], &[0.7]] },
        Probe { x: &[0.0], args: &[&[5.0], &[1e-3]] },
        Probe { x: &[60.0], args: &[&[4.0], &[3.0]] },
        Probe { x: &[40.0], args: &[&[1e4], &[3e2]] },
    ],
};
