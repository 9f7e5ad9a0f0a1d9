//! The Pareto distribution, by smallest value and shape.

use super::draw::uniform;
use super::exponential;
use super::row::{
    ArgSpec, BaseArg, Density, Distribution, End, LOG_X, Noncentered, Part, Probe, Sampler, Support,
};
use super::shared::{SHAPE_LOG, exponential_quantile, log1m_exp_slope};
use crate::facts::{Jet, known};
use crate::num::real::Real;
use crate::ops::scalar::{EXP, Facts, scalar_row};

scalar_row! {
    INSIDE = "pareto.inside"(x, y_min), "0 where x ≥ y_min, -∞ below";
    value x.if_less(y_min, T::splat(f64::NEG_INFINITY), T::zero());
    slopes(_y) [T::zero(), T::zero()];
    probes [&[3.0, 2.0], &[300.0, 0.5]];
    facts Facts::of(|a, _| (a[0].lo >= a[1].hi).then(|| Jet::constant(0.0)))
}

scalar_row! {
    POWER = "pareto"(log_x, alpha), "-(alpha + 1) log x";
    value -(alpha.shift(1.0) * log_x);
    slopes(_y) [-alpha.shift(1.0), -log_x];
    probes [&[0.3, 2.0], &[30.0, 0.5], &[-3.0, 5.0]];
    facts Facts::of(|a, k| {
        let c: [f64; 2] = known::fixed(a, k)?;
        Some(if k == 0 {
            Jet::linear(a[0], -c[1] - 1.0, 0.0)
        } else {
            Jet::linear(a[1].shift(1.0), -c[0], 0.0)
        })
    })
}

scalar_row! {
    START = "pareto.start"(y_min, alpha), "alpha log y_min";
    value alpha * y_min.ln();
    slopes(_y) [alpha / y_min, y_min.ln()];
    probes [&[0.3, 2.0], &[30.0, 0.5], &[1e-3, 5.0]];
    facts Facts::with_log(
        |a, k| {
            let c: [f64; 2] = known::fixed(a, k)?;
            if k == 0 {
                Some(known::log(a[0])?.scaled(c[1]))
            } else {
                (c[0] > 0.0).then(|| Jet::linear(a[1], c[0].ln(), 0.0))
            }
        },
        |a, k| { let c: [f64; 2] = known::fixed(a, k)?; (k == 0).then(|| Jet::linear(a[0], c[1], 0.0)) }
    )
}

scalar_row! {
    LCDF = "pareto_lcdf"(x, y_min, alpha), "log(1 - (y_min / x)^alpha)";
    value (-(alpha * log_ratio(x, y_min))).log1m_exp();
    slopes(y) {
        let d = log_ratio(x, y_min);
        let g = log1m_exp_slope(alpha * d, y);
        [g * alpha / x, -(g * alpha / y_min), g * d]
    };
    probes [&[3.0, 2.0, 1.5], &[1e6, 0.5, 2.5], &[1.05, 1.0, 3.0]];
    // In alpha: log(1 - e^(-alpha d)) for d = log(x / y_min).
    facts Facts::of(|a, k| {
        let c: [f64; 3] = known::fixed(a, k)?;
        let d = log_ratio(c[0], c[1]);
        if k != 2 || !(d > 0.0 && c[1] > 0.0) {
            return None;
        }
        Some(known::log1m_exp(a[2].scale(-d))?.stretched(-d))
    })
}

scalar_row! {
    LCCDF = "pareto_lccdf"(x, y_min, alpha), "alpha log(y_min / x)";
    value -(alpha * log_ratio(x, y_min));
    slopes(_y) {
        let outside = |slope: T| x.if_less(y_min, T::zero(), slope);
        [outside(-(alpha / x)), outside(alpha / y_min), -log_ratio(x, y_min)]
    };
    probes [&[3.0, 2.0, 1.5], &[1e6, 0.5, 2.5], &[1.05, 1.0, 3.0]];
    facts Facts::of(|a, k| {
        let c: [f64; 3] = known::fixed(a, k)?;
        (k == 2 && c[1] > 0.0).then(|| Jet::linear(a[2], -log_ratio(c[0], c[1]), 0.0))
    })
}

/// log(x / y_min), or 0 where x is below y_min.
#[inline(always)]
fn log_ratio<T: Real>(x: T, y_min: T) -> T {
    x.if_less(y_min, T::zero(), ((x - y_min) / y_min).log1p())
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "pareto",
    doc: "Pareto of numbers above y_min, with shape alpha",
    formula: "log(alpha) + alpha * log(y_min) - (alpha + 1) * log(x)",
    args: &[ArgSpec::positive("y_min"), ArgSpec::positive("alpha")],
    support: Support::Interval(End::Arg(0), End::At(f64::INFINITY)),
    discrete: false,
    event: 0,
    density: Density::Parts(&[
        Part { row: &INSIDE, of: &[0, 1] },
        Part { row: &POWER, of: &[LOG_X, 2] },
        Part { row: &START, of: &[1, 2] },
        Part { row: &SHAPE_LOG, of: &[2] },
    ]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| a[0] * (exponential_quantile(p) / a[1]).exp()),
    sample: Sampler::Number(|rng, a| a[0] * (-uniform(rng).ln() / a[1]).exp()),
    noncentered: Some(Noncentered {
        base: &exponential::ROW,
        base_args: &[BaseArg::Number(1.0)],
        build: |b, z, a| {
            let power = b.div(z, a[1])?;
            let ratio = b.unary(&EXP, power);
            b.mul(a[0], ratio)
        },
    }),
    links: &[],
    probes: &[
        Probe { x: &[3.0], args: &[&[2.0], &[1.5]] },
        Probe { x: &[1e6], args: &[&[0.5], &[2.5]] },
        Probe { x: &[1.05], args: &[&[1.0], &[3.0]] },
    ],
};
