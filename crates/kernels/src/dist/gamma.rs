//! The gamma distribution, by shape and rate.

use super::exponential;
use super::incomplete::{gamma_ratio, log_gamma_p, log_gamma_p_da, log_gamma_q, log_gamma_q_da};
use super::jets;
use super::row::{
    ArgSpec, BaseArg, Density, Distribution, LOG_X, Noncentered, Part, Probe, Sampler, Support,
};
use crate::facts::{Jet, known};
use crate::num::special as sf;
use crate::ops::scalar::{Facts, scalar_row};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, Gamma};

scalar_row! {
    POWER = "gamma"(log_x, alpha), "(alpha - 1) log x";
    value alpha.shift(-1.0) * log_x;
    slopes(_y) [alpha.shift(-1.0), log_x];
    probes [&[0.3, 2.0], &[-300.0, 0.5], &[5.0, 40.0]];
    facts Facts::of(|a, k| {
        let c: [f64; 2] = known::fixed(a, k)?;
        Some(if k == 0 {
            Jet::linear(a[0], c[1] - 1.0, 0.0)
        } else {
            Jet::linear(a[1].shift(-1.0), c[0], 0.0)
        })
    })
}

scalar_row! {
    RATE = "gamma.rate"(alpha, beta), "alpha log beta";
    value alpha * beta.ln();
    slopes(_y) [beta.ln(), alpha / beta];
    probes [&[0.3, 2.0], &[30.0, 1e-3], &[5.0, 40.0]];
    facts Facts::with_log(
        |a, k| {
            let c: [f64; 2] = known::fixed(a, k)?;
            if k == 1 {
                Some(known::log(a[1])?.scaled(c[0]))
            } else {
                (c[1] > 0.0).then(|| Jet::linear(a[0], c[1].ln(), 0.0))
            }
        },
        |a, k| { let c: [f64; 2] = known::fixed(a, k)?; (k == 1).then(|| Jet::linear(a[1], c[0], 0.0)) }
    )
}

scalar_row! {
    SHAPE = "gamma.shape"(alpha), "-log Γ(alpha)";
    value -alpha.lgamma();
    slopes(_y) [-alpha.digamma()];
    probes [&[0.3], &[1e-3], &[400.0]];
    facts Facts::of(|a, _| Some(-known::lgamma(a[0])?))
}

scalar_row! {
    LCDF = "gamma_lcdf"(x, alpha, beta), "log P(alpha, beta x), the lower incomplete gamma function";
    value log_gamma_p(alpha, beta * x);
    slopes(y, need) {
        let v = beta * x;
        let r = gamma_ratio(alpha, v, y);
        [r * beta, if need[1] { log_gamma_p_da(alpha, v) } else { T::zero() }, r * x]
    };
    probes [&[0.3, 2.0, 1.5], &[1e-5, 0.5, 2.0], &[9.0, 2.5, 3.0], &[2.0, 40.0, 10.0], &[5.0, 40.0, 10.0]];
    // log(beta X) has the density alpha t - e^t, concave.
    facts Facts::with_log(
        |a, k| jets::rising_probability(a, k, &[0, 2]),
        |a, k| jets::log_probability(a, k, &[(0, true), (2, true)])
    )
}

scalar_row! {
    LCCDF = "gamma_lccdf"(x, alpha, beta), "log Q(alpha, beta x), the upper incomplete gamma function";
    value log_gamma_q(alpha, beta * x);
    slopes(y, need) {
        let v = beta * x;
        let r = -gamma_ratio(alpha, v, y);
        [r * beta, if need[1] { log_gamma_q_da(alpha, v) } else { T::zero() }, r * x]
    };
    probes [&[0.3, 2.0, 1.5], &[1e-2, 0.5, 2.0], &[9.0, 2.5, 3.0], &[3.5, 40.0, 10.0], &[9.0, 40.0, 10.0]];
    // In x and beta themselves where the density is log-concave, for alpha ≥ 1.
    facts Facts::with_log(
        |a, k| {
            let scale: [f64; 3] = known::fixed(a, k)?;
            let known = k != 1 && scale[1] >= 1.0 && scale[2 - k] > 0.0 && a[k].is_nonnegative();
            known.then(|| jets::concave_probability(false))
        },
        |a, k| jets::log_probability(a, k, &[(0, false), (2, false)])
    )
}

/// A draw with scale 1, which the other distributions of this family use too.
pub(super) fn draw(rng: &mut ChaCha8Rng, shape: f64) -> f64 {
    Gamma::new(shape, 1.0).map_or(f64::NAN, |g| g.sample(rng))
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "gamma",
    doc: "gamma with shape alpha and rate beta (mean alpha / beta)",
    formula: "alpha * log(beta) - lgamma(alpha) + (alpha - 1) * log(x) - beta * x",
    args: &[ArgSpec::positive("alpha"), ArgSpec::positive("beta")],
    support: Support::ABOVE_ZERO,
    discrete: false,
    event: 0,
    density: Density::Parts(&[
        Part { row: &POWER, of: &[LOG_X, 1] },
        Part { row: &exponential::JOINT, of: &[0, 2] },
        Part { row: &RATE, of: &[1, 2] },
        Part { row: &SHAPE, of: &[1] },
    ]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| sf::inv_gamma_p(a[0], p) / a[1]),
    sample: Sampler::Number(|rng, a| draw(rng, a[0]) / a[1]),
    noncentered: Some(Noncentered {
        base: &ROW,
        base_args: &[BaseArg::Arg(0), BaseArg::Number(1.0)],
        build: |b, z, a| b.div(z, a[1]),
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.3], args: &[&[2.0], &[1.5]] },
        Probe { x: &[1e-4], args: &[&[0.5], &[2.0]] },
        Probe { x: &[9.0], args: &[&[40.0], &[10.0]] },
    ],
};
