//! The chi-square distribution, by degrees of freedom.

use super::gamma::draw;
use super::incomplete::{gamma_ratio, log_gamma_p, log_gamma_p_da, log_gamma_q, log_gamma_q_da};
use super::jets;
use super::row::{ArgSpec, Density, Distribution, LOG_X, Part, Probe, Sampler, Support};
use crate::facts::{Jet, known};
use crate::num::special as sf;
use crate::ops::scalar::{Facts, scalar_row};
use std::f64::consts::LN_2;

scalar_row! {
    POWER = "chi_square"(log_x, nu), "(nu / 2 - 1) log x";
    value nu.scale(0.5).shift(-1.0) * log_x;
    slopes(_y) [nu.scale(0.5).shift(-1.0), log_x.scale(0.5)];
    probes [&[0.3, 2.5], &[-300.0, 0.5], &[5.0, 40.0]];
    facts Facts::of(|a, k| {
        let c: [f64; 2] = known::fixed(a, k)?;
        Some(if k == 0 {
            Jet::linear(a[0], 0.5 * c[1] - 1.0, 0.0)
        } else {
            Jet::linear(a[1].scale(0.5).shift(-1.0), c[0], 0.0).stretched(0.5)
        })
    })
}

scalar_row! {
    HALF = "chi_square.half"(x), "-x / 2";
    value x.scale(-0.5);
    slopes(_y) [T::splat(-0.5)];
    probes [&[0.3], &[40.0]];
    facts Facts::with_log(
        |a, _| Some(Jet::linear(a[0], -0.5, 0.0)),
        |t, _| Some(known::exp(t[0])?.scaled(-0.5)),
    )
}

scalar_row! {
    SHAPE = "chi_square.shape"(nu), "-nu / 2 · log 2 - log Γ(nu / 2)";
    value { let h = nu.scale(0.5); -(h.scale(LN_2) + h.lgamma()) };
    slopes(_y) [nu.scale(0.5).digamma().shift(LN_2).scale(-0.5)];
    probes [&[0.3], &[1e-3], &[400.0]];
    facts Facts::of(|a, _| {
        Some(Jet::linear(a[0], -0.5 * LN_2, 0.0) + -known::lgamma(a[0].scale(0.5))?.stretched(0.5))
    })
}

scalar_row! {
    LCDF = "chi_square_lcdf"(x, nu), "log P(nu / 2, x / 2), the lower incomplete gamma function";
    value log_gamma_p(nu.scale(0.5), x.scale(0.5));
    slopes(y, need) {
        let (a, v) = (nu.scale(0.5), x.scale(0.5));
        let in_nu = if need[1] { log_gamma_p_da(a, v).scale(0.5) } else { T::zero() };
        [gamma_ratio(a, v, y).scale(0.5), in_nu]
    };
    probes [&[0.3, 2.0], &[1e-4, 0.7], &[9.0, 30.0], &[90.0, 30.0]];
    // log X has the density nu t / 2 - e^t / 2, concave.
    facts Facts::with_log(
        |a, k| jets::rising_probability(a, k, &[0]),
        |a, k| jets::log_probability(a, k, &[(0, true)]),
    )
}

scalar_row! {
    LCCDF = "chi_square_lccdf"(x, nu), "log Q(nu / 2, x / 2), the upper incomplete gamma function";
    value log_gamma_q(nu.scale(0.5), x.scale(0.5));
    slopes(y, need) {
        let (a, v) = (nu.scale(0.5), x.scale(0.5));
        let in_nu = if need[1] { log_gamma_q_da(a, v).scale(0.5) } else { T::zero() };
        [gamma_ratio(a, v, y).scale(-0.5), in_nu]
    };
    probes [&[0.3, 2.0], &[1e-2, 0.7], &[19.0, 30.0], &[90.0, 30.0]];
    facts Facts::with_log(|_, _| None, |a, k| jets::log_probability(a, k, &[(0, false)]))
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "chi_square",
    doc: "chi-square with nu degrees of freedom",
    formula: "(0.5 * nu - 1) * log(x) - 0.5 * x - 0.5 * nu * log(2) - lgamma(0.5 * nu)",
    args: &[ArgSpec::positive("nu")],
    support: Support::ABOVE_ZERO,
    discrete: false,
    event: 0,
    density: Density::Parts(&[
        Part { row: &POWER, of: &[LOG_X, 1] },
        Part { row: &HALF, of: &[0] },
        Part { row: &SHAPE, of: &[1] },
    ]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| 2.0 * sf::inv_gamma_p(0.5 * a[0], p)),
    sample: Sampler::Number(|rng, a| 2.0 * draw(rng, 0.5 * a[0])),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[0.3], args: &[&[2.5]] },
        Probe { x: &[1e-4], args: &[&[0.7]] },
        Probe { x: &[90.0], args: &[&[30.0]] },
    ],
};
