//! The uniform distribution between two ends.

use super::draw::uniform;
use super::row::{ArgSpec, BaseArg, Density, Distribution, End, Noncentered, Part, Probe, Sampler, Support};
use super::shared::shifted;
use crate::facts::{Jet, known};
use crate::num::real::Real;
use crate::ops::scalar::{Facts, scalar_row};

scalar_row! {
    INSIDE = "uniform.inside"(x, a, b), "0 where a ≤ x ≤ b, -∞ elsewhere";
    value {
        let outside = T::splat(f64::NEG_INFINITY);
        x.if_less(a, outside, b.if_less(x, outside, T::zero()))
    };
    slopes(_y) [T::zero(), T::zero(), T::zero()];
    probes [&[0.3, -1.0, 2.0], &[30.0, 2.0, 31.0]];
    facts Facts::of(|a, _| (a[0].lo >= a[1].hi && a[0].hi <= a[2].lo).then(|| Jet::constant(0.0)))
}

scalar_row! {
    WIDTH = "uniform.width"(a, b), "-log(b - a)";
    value -(b - a).ln();
    slopes(_y) { let r = (b - a).recip(); [r, -r] };
    probes [&[-1.0, 2.0], &[2.0, 31.0]];
    facts Facts::difference((1, 0), |a, k| {
        Some(-known::log(a[1] - a[0])?.stretched(if k == 1 { 1.0 } else { -1.0 }))
    })
}

scalar_row! {
    LCDF = "uniform_lcdf"(x, a, b), "log((x - a) / (b - a))";
    value log_share(x - a, b - x, b - a);
    slopes(_y) log_share_slopes(x - a, b - x, b - a);
    probes [&[0.3, -1.0, 2.0], &[30.0, 2.0, 31.0], &[-0.9, -1.0, 2.0]];
    // In x within the support, where the density is constant.
    facts Facts::of(|a, k| {
        let c: [f64; 3] = known::fixed(a, k)?;
        let inside = k == 0 && a[0].lo >= c[1] && a[0].hi <= c[2] && c[1] < c[2];
        inside.then(|| known::log(a[0].shift(-c[1])).map(|j| j.shifted(-(c[2] - c[1]).ln())))?
    })
}

scalar_row! {
    LCCDF = "uniform_lccdf"(x, a, b), "log((b - x) / (b - a))";
    value log_share(b - x, x - a, b - a);
    slopes(_y) { let [near, high, low] = log_share_slopes(b - x, x - a, b - a); [-near, -low, -high] };
    probes [&[0.3, -1.0, 2.0], &[30.0, 2.0, 31.0], &[-0.9, -1.0, 2.0]];
    facts Facts::of(|a, k| {
        let c: [f64; 3] = known::fixed(a, k)?;
        let inside = k == 0 && a[0].lo >= c[1] && a[0].hi <= c[2] && c[1] < c[2];
        inside.then(|| {
            known::log((-a[0]).shift(c[2])).map(|j| j.stretched(-1.0).shifted(-(c[2] - c[1]).ln()))
        })?
    })
}

/// log(part / width) where part + rest = width: from the smaller of the two; -∞ below the support, 0 above.
#[inline(always)]
fn log_share<T: Real>(part: T, rest: T, width: T) -> T {
    let part = part.max(T::zero());
    let rest = rest.max(T::zero());
    part.if_less(rest, (part / width).ln(), (-(rest / width)).log1p())
}

/// Slopes of log(x - a) - log(b - a) in (x, a, b); zero where `rest` = b - x is not positive.
#[inline(always)]
fn log_share_slopes<T: Real>(part: T, rest: T, width: T) -> [T; 3] {
    let (p, w) = (part.recip(), width.recip());
    // 1/part - 1/width = rest / (part width), without the cancellation.
    [p, -(rest * p * w), -w].map(|slope| T::zero().if_less(rest, slope, T::zero()))
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "uniform",
    doc: "uniform between a and b",
    formula: "-log(b - a)",
    args: &[ArgSpec::real("a"), ArgSpec::real("b")],
    support: Support::Interval(End::Arg(0), End::Arg(1)),
    discrete: false,
    event: 0,
    density: Density::Parts(&[Part { row: &INSIDE, of: &[0, 1, 2] }, Part { row: &WIDTH, of: &[1, 2] }]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| a[0] + p * (a[1] - a[0])),
    sample: Sampler::Number(|rng, a| a[0] + uniform(rng) * (a[1] - a[0])),
    noncentered: Some(Noncentered {
        base: &ROW,
        base_args: &[BaseArg::Number(0.0), BaseArg::Number(1.0)],
        build: |b, z, a| {
            let width = b.sub(a[1], a[0])?;
            shifted(b, z, a[0], width)
        },
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.3], args: &[&[-1.0], &[2.0]] },
        Probe { x: &[1.9], args: &[&[-1.0], &[2.0]] },
        Probe { x: &[5.2], args: &[&[5.0], &[2e3]] },
    ],
};
