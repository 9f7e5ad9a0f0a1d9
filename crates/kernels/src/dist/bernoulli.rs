//! The Bernoulli distribution, by probability.

use super::draw;
use super::row::{ArgSpec, Density, Distribution, Domain, Link, Part, Probe, Sampler, Support};
use super::{bernoulli_logit, bernoulli_probit};
use crate::facts::known;
use crate::ops::scalar::{Facts, INV_LOGIT, PHI, scalar_row};

scalar_row! {
    JOINT = "bernoulli"(x, theta), "log theta where x is 1, log(1 - theta) where it is 0";
    value x.if_equal(T::zero(), (-theta).log1p(), theta.ln());
    slopes(_y, need) [
        if need[0] { theta.ln() - (-theta).log1p() } else { T::zero() },
        x.if_equal(T::zero(), theta.shift(-1.0), theta).recip()
    ];
    probes [&[0.0, 0.3], &[1.0, 1e-9], &[0.0, 1e-9]];
    facts Facts::with_odds(
        |a, k| {
            let c: [f64; 2] = known::fixed(a, k)?;
            if k == 1 && c[0] == 0.0 {
                known::log1m(a[1])
            } else if k == 1 && c[0] == 1.0 {
                known::log(a[1])
            } else {
                None
            }
        },
        |a, k| {
            let x = a[0].is_point().then_some(a[0].lo)?;
            (k == 1 && (x == 0.0 || x == 1.0)).then_some([x, 1.0 - x])
        }
    )
}

scalar_row! {
    LCDF = "bernoulli_lcdf"(x, theta), "log P(X ≤ x)";
    value x.if_less(T::one(), x.if_less(T::zero(), T::splat(f64::NEG_INFINITY), (-theta).log1p()), T::zero());
    slopes(_y) [
        T::zero(),
        x.if_less(T::one(), x.if_less(T::zero(), T::zero(), (theta.shift(-1.0)).recip()), T::zero())
    ];
    probes [&[0.0, 0.3], &[1.0, 0.9], &[-1.0, 0.2]];
    facts Facts::of(|a, k| {
        let c: [f64; 2] = known::fixed(a, k)?;
        if k == 1 && c[0] == 0.0 { known::log1m(a[1]) } else { None }
    })
}

scalar_row! {
    LCCDF = "bernoulli_lccdf"(x, theta), "log P(X > x)";
    value x.if_less(T::one(), x.if_less(T::zero(), T::zero(), theta.ln()), T::splat(f64::NEG_INFINITY));
    slopes(_y) [
        T::zero(),
        x.if_less(T::one(), x.if_less(T::zero(), T::zero(), theta.recip()), T::zero())
    ];
    probes [&[0.0, 0.3], &[-1.0, 0.2]];
    facts Facts::of(|a, k| {
        let c: [f64; 2] = known::fixed(a, k)?;
        if k == 1 && c[0] == 0.0 { known::log(a[1]) } else { None }
    })
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "bernoulli",
    doc: "1 with probability theta, else 0",
    formula: "where(x == 1, log(theta), log1m(theta))",
    args: &[ArgSpec { name: "theta", domain: Domain::Unit, rank: 0, default: None }],
    support: Support::BINARY,
    discrete: true,
    event: 0,
    density: Density::Parts(&[Part { row: &JOINT, of: &[0, 1] }]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    // The slack keeps the probability of 0 itself at 0, whatever the rounding.
    quantile: Some(|p, a| f64::from(u8::from(p > (1.0 - a[0]) * (1.0 + 1e-13)))),
    sample: Sampler::Number(|rng, a| f64::from(u8::from(draw::uniform(rng) < a[0]))),
    noncentered: None,
    links: &[
        Link { arg: 0, of: &INV_LOGIT, to: &bernoulli_logit::ROW },
        Link { arg: 0, of: &PHI, to: &bernoulli_probit::LINKED },
    ],
    probes: &[
        Probe { x: &[1.0], args: &[&[0.3]] },
        Probe { x: &[0.0], args: &[&[0.3]] },
        Probe { x: &[1.0], args: &[&[1e-9]] },
        Probe { x: &[0.0], args: &[&[1e-9]] },
    ],
};
