//! The log-logistic distribution, by scale and shape.

use super::draw::uniform;
use super::jets;
use super::logistic;
use super::row::{
    ArgSpec, BaseArg, Density, Distribution, LOG_X, Noncentered, Part, Probe, Sampler, Support,
};
use super::shared::{SHAPE_LOG, logit};
use crate::facts::{Interval, Jet, known};
use crate::num::real::Real;
use crate::ops::scalar::{EXP, Facts, NEG, scalar_row};

scalar_row! {
    JOINT = "loglogistic"(log_x, alpha, beta), "t - 2 log(1 + e^t) for t = beta (log x - log alpha)";
    value { let a = (beta * (log_x - alpha.ln())).abs(); -(a + (-a).exp().log1p().scale(2.0)) };
    slopes(_y) {
        let d = log_x - alpha.ln();
        let g = -(beta * d).scale(0.5).tanh();
        [g * beta, -(g * beta / alpha), g * d]
    };
    probes [&[0.3, 1.5, 2.0], &[-30.0, 1.0, 0.5], &[9.0, 0.3, 2.0]];
    // The logistic form at t = beta (log x - log alpha), linear in log x, in log alpha and in beta.
    facts Facts::with_log(
        |a, k| if k == 1 { None } else { through_log(a, k, known::logistic) },
        |a, k| if k == 1 { through_log(a, k, known::logistic) } else { None }
    )
}

scalar_row! {
    LCDF = "loglogistic_lcdf"(x, alpha, beta), "-log(1 + (x / alpha)^-beta)";
    value -(-(beta * (x / alpha).ln())).log1p_exp();
    slopes(_y) { let d = (x / alpha).ln(); through(-(beta * d), d, x, alpha, beta) };
    probes [&[0.3, 1.5, 2.0], &[1e-10, 1.0, 0.5], &[1e4, 0.3, 2.0]];
    facts Facts::with_log(
        |a, k| {
            if k == 2 {
                through_log(&jets::in_log_x(a)?, k, known::log_inv_logit)
            } else {
                jets::rising_probability(a, k, &[0])
            }
        },
        |a, k| match k {
            0 => through_log(a, k, known::log_inv_logit),
            1 => through_log(&jets::in_log_x(a)?, k, known::log_inv_logit),
            _ => None,
        }
    )
}

scalar_row! {
    LCCDF = "loglogistic_lccdf"(x, alpha, beta), "-log(1 + (x / alpha)^beta)";
    value -(beta * (x / alpha).ln()).log1p_exp();
    slopes(_y) { let d = (x / alpha).ln(); through(beta * d, d, x, alpha, beta).map(|g| -g) };
    probes [&[0.3, 1.5, 2.0], &[1e-10, 1.0, 0.5], &[1e4, 0.3, 2.0]];
    facts Facts::with_log(
        |a, k| if k == 2 { through_log(&jets::in_log_x(a)?, k, known::log1m_inv_logit) } else { None },
        |a, k| match k {
            0 => through_log(a, k, known::log1m_inv_logit),
            1 => through_log(&jets::in_log_x(a)?, k, known::log1m_inv_logit),
            _ => None,
        }
    )
}

/// 1 / (1 + e^-s) times the slopes of beta log(x / alpha) in (x, alpha, beta).
#[inline(always)]
fn through<T: Real>(s: T, d: T, x: T, alpha: T, beta: T) -> [T; 3] {
    let g = s.inv_logit();
    [g * beta / x, -(g * beta / alpha), g * d]
}

/// f(t) for t = beta (log x - log alpha), from (log x, alpha, beta): as a function of log x, of s with alpha
/// = e^s, or of beta.
fn through_log(a: &[Interval], k: usize, f: fn(Interval) -> Option<Jet>) -> Option<Jet> {
    jets::log_power(a, k, [0, 2, 1], 1.0, f)
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "loglogistic",
    doc: "log-logistic with scale alpha and shape beta",
    formula: "log(beta) - log(x) + beta * log(x / alpha) - 2 * log1p_exp(beta * log(x / alpha))",
    args: &[ArgSpec::positive("alpha"), ArgSpec::positive("beta")],
    support: Support::ABOVE_ZERO,
    discrete: false,
    event: 0,
    density: Density::Parts(&[
        Part { row: &JOINT, of: &[LOG_X, 1, 2] },
        Part { row: &NEG, of: &[LOG_X] },
        Part { row: &SHAPE_LOG, of: &[2] },
    ]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| a[0] * (logit(p) / a[1]).exp()),
    sample: Sampler::Number(|rng, a| a[0] * (logit(uniform(rng)) / a[1]).exp()),
    noncentered: Some(Noncentered {
        base: &logistic::ROW,
        base_args: &[BaseArg::Number(0.0), BaseArg::Number(1.0)],
        build: |b, z, a| {
            let power = b.div(z, a[1])?;
            let ratio = b.unary(&EXP, power);
            b.mul(a[0], ratio)
        },
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.3], args: &[&[1.5], &[2.0]] },
        Probe { x: &[1e-6], args: &[&[1.0], &[1.5]] },
        Probe { x: &[1e5], args: &[&[0.5], &[1.2]] },
    ],
};
