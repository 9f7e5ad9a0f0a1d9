//! The Weibull distribution, by shape and scale.

use super::draw::uniform;
use super::exponential;
use super::jets;
use super::row::{
    ArgSpec, BaseArg, Density, Distribution, LOG_X, Noncentered, Part, Probe, Sampler, Support,
};
use super::shared::{SHAPE_LOG, exponential_quantile, log1m_exp_exp, log1m_exp_exp_slope};
use crate::facts::known;
use crate::ops::scalar::{Facts, INV, NEG, POW, scalar_row};

scalar_row! {
    JOINT = "weibull"(log_x, alpha, sigma), "t - e^t for t = alpha (log x - log sigma)";
    value { let t = alpha * (log_x - sigma.ln()); t - t.exp() };
    slopes(_y) {
        let d = log_x - sigma.ln();
        let g = -(alpha * d).exp().shift(-1.0);
        [g * alpha, g * d, -(g * alpha / sigma)]
    };
    probes [&[0.3, 1.5, 2.0], &[-30.0, 1.0, 0.5], &[1.0, 2.0, 0.9]];
    // t - e^t at t = alpha (log x - log sigma), linear in log x, in log sigma and in alpha.
    facts Facts::with_log(
        |a, k| if k == 2 { None } else { jets::log_power(a, k, [0, 1, 2], 1.0, known::minus_exp) },
        |a, k| if k == 2 { jets::log_power(a, k, [0, 1, 2], 1.0, known::minus_exp) } else { None }
    )
}

scalar_row! {
    LCDF = "weibull_lcdf"(x, alpha, sigma), "log(1 - exp(-(x / sigma)^alpha))";
    value log1m_exp_exp(alpha * (x / sigma).ln());
    slopes(_y) {
        let d = (x / sigma).ln();
        let g = log1m_exp_exp_slope(alpha * d);
        [g * alpha / x, g * d, -(g * alpha / sigma)]
    };
    probes [&[0.3, 1.5, 2.0], &[1e-10, 1.0, 0.5], &[4.0, 2.0, 1.0]];
    facts Facts::with_log(
        |a, k| {
            if k == 1 {
                jets::log_power(&jets::in_log_x(a)?, k, [0, 1, 2], 1.0, known::log1m_exp_exp)
            } else {
                jets::rising_probability(a, k, &[0])
            }
        },
        |a, k| match k {
            0 => jets::log_power(a, k, [0, 1, 2], 1.0, known::log1m_exp_exp),
            2 => jets::log_power(&jets::in_log_x(a)?, k, [0, 1, 2], 1.0, known::log1m_exp_exp),
            _ => None,
        }
    )
}

scalar_row! {
    LCCDF = "weibull_lccdf"(x, alpha, sigma), "-(x / sigma)^alpha";
    value -(alpha * (x / sigma).ln()).exp();
    slopes(y) [y * alpha / x, y * (x / sigma).ln(), -(y * alpha / sigma)];
    probes [&[0.3, 1.5, 2.0], &[1e-10, 1.0, 0.5], &[40.0, 2.0, 1.0]];
    facts Facts::with_log(
        |a, k| match k {
            1 => jets::log_power(&jets::in_log_x(a)?, k, [0, 1, 2], 1.0, jets::minus_exp_alone),
            2 => jets::power_of_scale(a, -1.0),
            _ => None,
        },
        |a, k| match k {
            0 => jets::log_power(a, k, [0, 1, 2], 1.0, jets::minus_exp_alone),
            2 => jets::log_power(&jets::in_log_x(a)?, k, [0, 1, 2], 1.0, jets::minus_exp_alone),
            _ => None,
        }
    )
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "weibull",
    doc: "Weibull with shape alpha and scale sigma",
    formula: "log(alpha) - log(x) + alpha * log(x / sigma) - (x / sigma)^alpha",
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
    quantile: Some(|p, a| a[1] * exponential_quantile(p).powf(1.0 / a[0])),
    sample: Sampler::Number(|rng, a| a[1] * (-uniform(rng).ln()).powf(1.0 / a[0])),
    noncentered: Some(Noncentered {
        base: &exponential::ROW,
        base_args: &[BaseArg::Number(1.0)],
        build: |b, z, a| {
            let power = b.unary(&INV, a[0]);
            let ratio = b.map(&POW, &[z, power])?;
            b.mul(a[1], ratio)
        },
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.3], args: &[&[1.5], &[2.0]] },
        Probe { x: &[1e-6], args: &[&[0.7], &[1.5]] },
        Probe { x: &[4.0], args: &[&[2.0], &[0.9]] },
    ],
};
