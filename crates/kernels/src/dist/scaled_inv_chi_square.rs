//! The scaled inverse chi-square distribution, by degrees of freedom and scale.

use super::gamma::draw;
use super::incomplete::{gamma_ratio, log_gamma_p, log_gamma_p_da, log_gamma_q, log_gamma_q_da};
use super::inv_chi_square;
use super::jets;
use super::row::{
    ArgSpec, BaseArg, Density, Distribution, LOG_X, Noncentered, Part, Probe, Sampler, Support,
};
use crate::facts::{Jet, known};
use crate::num::real::Real;
use crate::num::special as sf;
use crate::ops::scalar::{Facts, SQUARE, scalar_row};

scalar_row! {
    JOINT = "scaled_inv_chi_square"(x, nu, sigma), "-nu sigma² / (2 x)";
    value -rate(x, nu, sigma);
    slopes(y) [-(y / x), y / nu, y.scale(2.0) / sigma];
    probes [&[0.3, 2.5, 1.5], &[30.0, 0.5, 0.1], &[5.0, 40.0, 3.0]];
    facts Facts::with_log(
        |a, k| {
            let c: [f64; 3] = known::fixed(a, k)?;
            if c[0] <= 0.0 {
                return None;
            }
            match k {
                0 => Some(known::inverse(a[0])?.scaled(-0.5 * c[1] * c[2] * c[2])),
                1 => Some(Jet::linear(a[1], -0.5 * c[2] * c[2] / c[0], 0.0)),
                _ => Some(known::power(a[2], 2.0)?.scaled(-0.5 * c[1] / c[0])),
            }
        },
        |a, k| {
            let c: [f64; 3] = known::fixed(a, k)?;
            if c[0] <= 0.0 {
                return None;
            }
            match k {
                0 => Some(known::exp(-a[0])?.stretched(-1.0).scaled(-0.5 * c[1] * c[2] * c[2])),
                1 => Some(known::exp(a[1])?.scaled(-0.5 * c[2] * c[2] / c[0])),
                _ => Some(known::exp(a[2].scale(2.0))?.stretched(2.0).scaled(-0.5 * c[1] / c[0])),
            }
        }
    )
}

scalar_row! {
    SCALE = "scaled_inv_chi_square.scale"(nu, sigma), "nu log sigma";
    value nu * sigma.ln();
    slopes(_y) [sigma.ln(), nu / sigma];
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
    SHAPE = "scaled_inv_chi_square.shape"(nu), "nu / 2 · log(nu / 2) - log Γ(nu / 2)";
    value { let h = nu.scale(0.5); h * h.ln() - h.lgamma() };
    slopes(_y) { let h = nu.scale(0.5); [(h.ln().shift(1.0) - h.digamma()).scale(0.5)] };
    probes [&[0.3], &[1e-3], &[400.0]]
}

scalar_row! {
    LCDF = "scaled_inv_chi_square_lcdf"(x, nu, sigma), "log Q(nu / 2, nu sigma² / (2 x)), the upper incomplete gamma function";
    value log_gamma_q(nu.scale(0.5), rate(x, nu, sigma));
    slopes(y, need) {
        let (a, v) = (nu.scale(0.5), rate(x, nu, sigma));
        let r = -(gamma_ratio(a, v, y) * v);
        let in_nu = if need[1] { log_gamma_q_da(a, v).scale(0.5) + r / nu } else { T::zero() };
        [-(r / x), in_nu, r.scale(2.0) / sigma]
    };
    probes [&[3.0, 2.0, 1.5], &[1e2, 0.7, 0.2], &[0.8, 30.0, 1.0], &[0.3, 30.0, 1.0]];
    // -log(X / sigma²) has the density nu (t - e^t) / 2, concave.
    facts Facts::with_log(
        |a, k| jets::rising_probability(a, k, &[0]),
        |a, k| jets::log_probability(a, k, &[(0, true), (2, false)])
    )
}

scalar_row! {
    LCCDF = "scaled_inv_chi_square_lccdf"(x, nu, sigma), "log P(nu / 2, nu sigma² / (2 x)), the lower incomplete gamma function";
    value log_gamma_p(nu.scale(0.5), rate(x, nu, sigma));
    slopes(y, need) {
        let (a, v) = (nu.scale(0.5), rate(x, nu, sigma));
        let r = gamma_ratio(a, v, y) * v;
        let in_nu = if need[1] { log_gamma_p_da(a, v).scale(0.5) + r / nu } else { T::zero() };
        [-(r / x), in_nu, r.scale(2.0) / sigma]
    };
    probes [&[3.0, 2.0, 1.5], &[1e2, 0.7, 0.2], &[0.8, 30.0, 1.0], &[3.0, 30.0, 1.0]];
    facts Facts::with_log(
        |a, k| jets::rising_probability(a, k, &[2]),
        |a, k| jets::log_probability(a, k, &[(0, false), (2, true)])
    )
}

/// nu sigma² / (2 x)
#[inline(always)]
fn rate<T: Real>(x: T, nu: T, sigma: T) -> T {
    (nu * sigma.square() / x).scale(0.5)
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "scaled_inv_chi_square",
    doc: "inverse chi-square with nu degrees of freedom, scaled by nu sigma²",
    formula: "0.5 * nu * log(0.5 * nu) - lgamma(0.5 * nu) + nu * log(sigma) - (0.5 * nu + 1) * log(x) - 0.5 * nu * sigma^2 / x",
    args: &[ArgSpec::positive("nu"), ArgSpec::positive("sigma")],
    support: Support::ABOVE_ZERO,
    discrete: false,
    event: 0,
    density: Density::Parts(&[
        Part { row: &JOINT, of: &[0, 1, 2] },
        Part { row: &inv_chi_square::POWER, of: &[LOG_X, 1] },
        Part { row: &SCALE, of: &[1, 2] },
        Part { row: &SHAPE, of: &[1] },
    ]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| 0.5 * a[0] * a[1] * a[1] / sf::inv_gamma_q(0.5 * a[0], p)),
    sample: Sampler::Number(|rng, a| 0.5 * a[0] * a[1] * a[1] / draw(rng, 0.5 * a[0])),
    noncentered: Some(Noncentered {
        base: &ROW,
        base_args: &[BaseArg::Arg(0), BaseArg::Number(1.0)],
        build: |b, z, a| {
            let square = b.unary(&SQUARE, a[1]);
            b.mul(square, z)
        },
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.9], args: &[&[2.5], &[1.5]] },
        Probe { x: &[1e4], args: &[&[0.7], &[0.2]] },
        Probe { x: &[0.4], args: &[&[30.0], &[1.0]] },
    ],
};
