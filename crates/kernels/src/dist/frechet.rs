//! The Fréchet distribution, by shape and scale.

use super::draw::uniform;
use super::exponential;
use super::jets;
use super::row::{
    ArgSpec, BaseArg, Density, Distribution, LOG_X, Noncentered, Part, Probe, Sampler, Support,
};
use super::shared::{SHAPE_LOG, log1m_exp_exp, log1m_exp_exp_slope};
use crate::facts::known;
use crate::ops::scalar::{Facts, INV, NEG, POW, scalar_row};

scalar_row! {
    JOINT = "frechet"(log_x, alpha, sigma), "t - e^t for t = -alpha (log x - log sigma)";
    value { let t = alpha * (sigma.ln() - log_x); t - t.exp() };
    slopes(_y) {
        let d = sigma.ln() - log_x;
        let g = -(alpha * d).exp().shift(-1.0);
        [-(g * alpha), g * d, g * alpha / sigma]
    };
    probes [&[0.3, 1.5, 2.0], &[30.0, 1.0, 0.5], &[-1.0, 2.0, 0.9]];
    // t - e^t at t = -alpha (log x - log sigma), linear in log x, in log sigma and in alpha.
    facts Facts::with_log(
        |a, k| if k == 2 { None } else { jets::log_power(a, k, [0, 1, 2], -1.0, known::minus_exp) },
        |a, k| if k == 2 { jets::log_power(a, k, [0, 1, 2], -1.0, known::minus_exp) } else { None }
    )
}

scalar_row! {
    LCDF = "frechet_lcdf"(x, alpha, sigma), "-(x / sigma)^-alpha";
    value -(alpha * (sigma / x).ln()).exp();
    slopes(y) [-(y * alpha / x), y * (sigma / x).ln(), y * alpha / sigma];
    probes [&[0.3, 1.5, 2.0], &[1e10, 1.0, 0.5], &[0.1, 2.0, 1.0]];
    facts Facts::with_log(
        |a, k| match k {
            0 => jets::rising_probability(a, k, &[0]),
            1 => jets::log_power(&jets::in_log_x(a)?, k, [0, 1, 2], -1.0, jets::minus_exp_alone),
            _ => jets::power_of_scale(a, 1.0),
        },
        |a, k| match k {
            0 => jets::log_power(a, k, [0, 1, 2], -1.0, jets::minus_exp_alone),
            2 => jets::log_power(&jets::in_log_x(a)?, k, [0, 1, 2], -1.0, jets::minus_exp_alone),
            _ => None,
        }
    )
}

scalar_row! {
    LCCDF = "frechet_lccdf"(x, alpha, sigma), "log(1 - exp(-(x / sigma)^-alpha))";
    value log1m_exp_exp(alpha * (sigma / x).ln());
    slopes(_y) {
        let d = (sigma / x).ln();
        let g = log1m_exp_exp_slope(alpha * d);
        [-(g * alpha / x), g * d, g * alpha / sigma]
    };
    probes [&[0.3, 1.5, 2.0], &[1e10, 1.0, 0.5], &[0.3, 2.0, 1.0]];
    facts Facts::with_log(
        |a, k| {
            if k == 1 {
                jets::log_power(&jets::in_log_x(a)?, k, [0, 1, 2], -1.0, known::log1m_exp_exp)
            } else {
                jets::rising_probability(a, k, &[2])
            }
        },
        |a, k| match k {
            0 => jets::log_power(a, k, [0, 1, 2], -1.0, known::log1m_exp_exp),
            2 => jets::log_power(&jets::in_log_x(a)?, k, [0, 1, 2], -1.0, known::log1m_exp_exp),
            _ => None,
        }
    )
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "frechet",
    doc: "Fréchet with shape alpha and scale sigma",
    formula: "log(alpha) - log(x) - alpha * log(x / sigma) - (x / sigma)^(-alpha)",
    args: &[ArgSpec::positive("alpha"), ArgSpec::positive("sigma")],
    support: Support::ABOVE_ZERO,
    discrete: false,
    event: 0,
    density: Density::Parts(&[
        Part { row: &JOINT, of: &[LOG_X, 1, 2] },
        Part { row: &NEG, of: &[LOG_X] },
        Part { row: &SHAPE_LOG, of: &[1] },
    ]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| a[1] * (0.0 - p.ln()).powf(-1.0 / a[0])),
    sample: Sampler::Number(|rng, a| a[1] * (-uniform(rng).ln()).powf(-1.0 / a[0])),
    noncentered: Some(Noncentered {
        base: &exponential::ROW,
        base_args: &[BaseArg::Number(1.0)],
        build: |b, z, a| {
            let minus = b.unary(&NEG, a[0]);
            let power = b.unary(&INV, minus);
            let ratio = b.map(&POW, &[z, power])?;
            b.mul(a[1], ratio)
        },
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.8], args: &[&[1.5], &[2.0]] },
        Probe { x: &[1e6], args: &[&[0.7], &[1.5]] },
        Probe { x: &[0.3], args: &[&[2.0], &[0.9]] },
    ],
};
