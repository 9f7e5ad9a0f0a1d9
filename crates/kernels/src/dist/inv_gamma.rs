//! The inverse gamma distribution, by shape and scale.

use super::gamma::{self, draw};
use super::incomplete::{gamma_ratio, log_gamma_p, log_gamma_p_da, log_gamma_q, log_gamma_q_da};
use super::jets;
use super::pareto;
use super::row::{
    ArgSpec, BaseArg, Density, Distribution, LOG_X, Noncentered, Part, Probe, Sampler, Support,
};
use crate::facts::{Jet, known};
use crate::num::special as sf;
use crate::ops::scalar::{Facts, scalar_row};

scalar_row! {
    JOINT = "inv_gamma"(x, beta), "-beta / x";
    value -(beta / x);
    slopes(y) [-(y / x), -x.recip()];
    probes [&[0.3, 2.0], &[300.0, 0.5], &[1e-2, 4.0]];
    facts Facts::with_log(
        |a, k| {
            let c: [f64; 2] = known::fixed(a, k)?;
            if k == 0 {
                Some(known::inverse(a[0])?.scaled(-c[1]))
            } else {
                (c[0] != 0.0).then(|| Jet::linear(a[1], -c[0].recip(), 0.0))
            }
        },
        |a, k| {
            let c: [f64; 2] = known::fixed(a, k)?;
            if k == 0 {
                return Some(known::exp(-a[0])?.stretched(-1.0).scaled(-c[1]));
            }
            let up = known::exp(a[1])?;
            (c[0] != 0.0).then(|| up.scaled(-c[0].recip()))
        }
    )
}

scalar_row! {
    LCDF = "inv_gamma_lcdf"(x, alpha, beta), "log Q(alpha, beta / x), the upper incomplete gamma function";
    value log_gamma_q(alpha, beta / x);
    slopes(y, need) {
        let v = beta / x;
        let r = -gamma_ratio(alpha, v, y);
        [-(r * v / x), if need[1] { log_gamma_q_da(alpha, v) } else { T::zero() }, r / x]
    };
    probes [&[3.0, 2.0, 1.5], &[1e2, 0.5, 2.0], &[0.2, 2.5, 3.0], &[0.3, 40.0, 10.0]];
    // -log(X / beta) has the density alpha t - e^t, concave.
    facts Facts::with_log(
        |a, k| jets::rising_probability(a, k, &[0]),
        |a, k| jets::log_probability(a, k, &[(0, true), (2, false)])
    )
}

scalar_row! {
    LCCDF = "inv_gamma_lccdf"(x, alpha, beta), "log P(alpha, beta / x), the lower incomplete gamma function";
    value log_gamma_p(alpha, beta / x);
    slopes(y, need) {
        let v = beta / x;
        let r = gamma_ratio(alpha, v, y);
        [-(r * v / x), if need[1] { log_gamma_p_da(alpha, v) } else { T::zero() }, r / x]
    };
    probes [&[3.0, 2.0, 1.5], &[1e4, 0.5, 2.0], &[0.2, 2.5, 3.0], &[0.4, 40.0, 10.0]];
    facts Facts::with_log(
        |a, k| jets::rising_probability(a, k, &[2]),
        |a, k| jets::log_probability(a, k, &[(0, false), (2, true)])
    )
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "inv_gamma",
    doc: "inverse gamma with shape alpha and scale beta",
    formula: "alpha * log(beta) - lgamma(alpha) - (alpha + 1) * log(x) - beta / x",
    args: &[ArgSpec::positive("alpha"), ArgSpec::positive("beta")],
    support: Support::ABOVE_ZERO,
    discrete: false,
    event: 0,
    density: Density::Parts(&[
        Part { row: &pareto::POWER, of: &[LOG_X, 1] },
        Part { row: &JOINT, of: &[0, 2] },
        Part { row: &gamma::RATE, of: &[1, 2] },
        Part { row: &gamma::SHAPE, of: &[1] },
    ]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| a[1] / sf::inv_gamma_q(a[0], p)),
    sample: Sampler::Number(|rng, a| a[1] / draw(rng, a[0])),
    noncentered: Some(Noncentered {
        base: &ROW,
        base_args: &[BaseArg::Arg(0), BaseArg::Number(1.0)],
        build: |b, z, a| b.mul(a[1], z),
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.9], args: &[&[2.0], &[1.5]] },
        Probe { x: &[1e4], args: &[&[0.5], &[2.0]] },
        Probe { x: &[0.15], args: &[&[40.0], &[10.0]] },
    ],
};
