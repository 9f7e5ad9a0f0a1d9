//! The geometric distribution: the number of failures before the first success.

use super::draw;
use super::row::{ArgSpec, Density, Distribution, Domain, Part, Probe, Sampler, Support};
use crate::facts::known;
use crate::num::real::Real;
use crate::ops::scalar::{Facts, scalar_row};

scalar_row! {
    JOINT = "geometric"(x, theta), "log theta + x log(1 - theta)";
    value theta.ln() + x.if_equal(T::zero(), T::zero(), x * (-theta).log1p());
    slopes(_y, need) [
        if need[0] { (-theta).log1p() } else { T::zero() },
        theta.recip() - x.if_equal(T::zero(), T::zero(), x / (T::one() - theta))
    ];
    probes [&[2.0, 0.3], &[0.0, 0.9], &[1e5, 1e-6]];
    facts Facts::with_odds(
        |a, k| {
            let [x, _]: [f64; 2] = known::fixed(a, k)?;
            let inside = k == 1 && a[1].is_nonnegative() && a[1].hi <= 1.0 && x >= 0.0;
            if inside { Some(known::log(a[1])? + known::log1m(a[1])?.scaled(x)) } else { None }
        },
        |a, k| {
            let [x, _]: [f64; 2] = known::fixed(a, k)?;
            (k == 1 && x >= 0.0).then_some([1.0, x])
        }
    )
}

scalar_row! {
    LCDF = "geometric_lcdf"(x, theta), "log P(X ≤ x)";
    value {
        let upper = log_upper(x, theta);
        x.if_less(T::zero(), T::splat(f64::NEG_INFINITY), upper.log1m_exp())
    };
    slopes(y) {
        let odds = (log_upper(x, theta) - y).exp();
        [T::zero(), x.if_less(T::zero(), T::zero(), odds * trials(x) / (T::one() - theta))]
    };
    probes [&[2.0, 0.3], &[0.0, 0.01], &[1e5, 1e-6]]
}

scalar_row! {
    LCCDF = "geometric_lccdf"(x, theta), "log P(X > x)";
    value log_upper(x, theta);
    slopes(_y) [T::zero(), x.if_less(T::zero(), T::zero(), -(trials(x) / (T::one() - theta)))];
    probes [&[2.0, 0.3], &[0.0, 0.01], &[1e5, 1e-6]];
    facts Facts::with_odds(
        |a, k| {
            let [x, _]: [f64; 2] = known::fixed(a, k)?;
            if k == 1 && x >= 0.0 { Some(known::log1m(a[1])?.scaled(trials(x))) } else { None }
        },
        |a, k| {
            let [x, _]: [f64; 2] = known::fixed(a, k)?;
            (k == 1 && x >= 0.0).then(|| [0.0, trials(x)])
        }
    )
}

/// The number of trials that must fail for X > x.
#[inline(always)]
fn trials<T: Real>(x: T) -> T {
    x.lift1(f64::floor, |_| 0.0).shift(1.0)
}

#[inline(always)]
fn log_upper<T: Real>(x: T, theta: T) -> T {
    x.if_less(T::zero(), T::zero(), trials(x) * (-theta).log1p())
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "geometric",
    doc: "number of failures before the first success, each trial succeeding with probability theta",
    formula: "log(theta) + multiply_log(x, 1 - theta)",
    args: &[ArgSpec { name: "theta", domain: Domain::Unit, rank: 0, default: None }],
    support: Support::COUNT,
    discrete: true,
    event: 0,
    density: Density::Parts(&[Part { row: &JOINT, of: &[0, 1] }]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| {
        // P(X > x) = (1 - theta)^(x + 1) ≤ 1 - p; the slack keeps exact probabilities where they belong.
        let x = (-p).ln_1p() / (-a[0]).ln_1p();
        (x * (1.0 - 1e-13) - 1.0).ceil().max(0.0)
    }),
    sample: Sampler::Number(|rng, a| {
        if a[0] == 1.0 { 0.0 } else { (draw::uniform(rng).ln() / (-a[0]).ln_1p()).floor() }
    }),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[2.0], args: &[&[0.3]] },
        Probe { x: &[0.0], args: &[&[0.9]] },
        Probe { x: &[1e4], args: &[&[1e-3]] },
    ],
};
