//! The Bernoulli distribution, by log odds: the likelihood of a logistic regression.

use super::draw;
use super::row::{ArgSpec, Density, Distribution, Domain, Part, Probe, Sampler, Support};
use crate::facts::known;
use crate::num::real::Real;
use crate::num::special::inv_logit;
use crate::ops::scalar::{Facts, scalar_row};

scalar_row! {
    JOINT = "bernoulli_logit"(x, alpha), "-log(1 + exp(±alpha)), minus where x is 1";
    value -((away(x) * alpha).log1p_exp());
    slopes(_y) {
        let miss = (away(x) * alpha).log1p_exp_and_slope().1;
        [(alpha * miss).scale(2.0), -(away(x) * miss)]
    };
    both(at, need) {
        let [x, alpha] = at;
        let (minus_value, miss) = (away(x) * alpha).log1p_exp_and_slope();
        let in_x = if need[0] { (alpha * miss).scale(2.0) } else { T::zero() };
        (-minus_value, [in_x, -(away(x) * miss)])
    };
    factored 1.0 (at, need) {
        let [x, alpha] = at;
        let [minus_value, factor, miss] = (away(x) * alpha).log1p_exp_by_factor();
        let in_x = if need[0] { (alpha * miss).scale(2.0) } else { T::zero() };
        let in_alpha = if need[1] { -(away(x) * miss) } else { T::zero() };
        (-minus_value, factor, [in_x, in_alpha])
    };
    probes [&[1.0, 0.3], &[0.0, 40.0], &[1.0, 40.0], &[1.0, -700.0]];
    // For x in {0, 1}, log inv_logit(±alpha): the second derivative is minus the variance p(1 - p) of the
    // outcome.
    facts Facts::of(|a, k| {
        let c: [f64; 2] = known::fixed(a, k)?;
        if k == 1 && c[0] == 0.0 {
            known::log1m_inv_logit(a[1])
        } else if k == 1 && c[0] == 1.0 {
            known::log_inv_logit(a[1])
        } else {
            None
        }
    })
}

scalar_row! {
    LCDF = "bernoulli_logit_lcdf"(x, alpha), "log P(X ≤ x)";
    value x.if_less(
        T::one(),
        x.if_less(T::zero(), T::splat(f64::NEG_INFINITY), -(alpha.log1p_exp())),
        T::zero(),
    );
    slopes(_y) [
        T::zero(),
        x.if_less(T::one(), x.if_less(T::zero(), T::zero(), -alpha.inv_logit()), T::zero())
    ];
    probes [&[0.0, 0.3], &[1.0, 0.9], &[-1.0, 0.2]];
    facts Facts::of(|a, k| {
        let c: [f64; 2] = known::fixed(a, k)?;
        if k == 1 && c[0] == 0.0 { known::log1m_inv_logit(a[1]) } else { None }
    })
}

scalar_row! {
    LCCDF = "bernoulli_logit_lccdf"(x, alpha), "log P(X > x)";
    value x.if_less(
        T::one(),
        x.if_less(T::zero(), T::zero(), -((-alpha).log1p_exp())),
        T::splat(f64::NEG_INFINITY),
    );
    slopes(_y) [
        T::zero(),
        x.if_less(T::one(), x.if_less(T::zero(), T::zero(), (-alpha).inv_logit()), T::zero())
    ];
    probes [&[0.0, 0.3], &[-1.0, 0.2]];
    facts Facts::of(|a, k| {
        let c: [f64; 2] = known::fixed(a, k)?;
        if k == 1 && c[0] == 0.0 { known::log_inv_logit(a[1]) } else { None }
    })
}

/// -1 for a 1, 1 for a 0.
#[inline(always)]
fn away<T: Real>(x: T) -> T {
    x.scale(-2.0).shift(1.0)
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "bernoulli_logit",
    doc: "1 with probability inv_logit(alpha), else 0",
    formula: "-log1p_exp((1 - 2 * x) * alpha)",
    args: &[ArgSpec { name: "alpha", domain: Domain::Real, rank: 0, default: None }],
    support: Support::BINARY,
    discrete: true,
    event: 0,
    density: Density::Parts(&[Part { row: &JOINT, of: &[0, 1] }]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    // The slack keeps the probability of 0 itself at 0, whatever the rounding.
    quantile: Some(|p, a| f64::from(u8::from(p > inv_logit(-a[0]) * (1.0 + 1e-13)))),
    sample: Sampler::Number(|rng, a| f64::from(u8::from(draw::uniform(rng) < inv_logit(a[0])))),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[1.0], args: &[&[0.3]] },
        Probe { x: &[0.0], args: &[&[40.0]] },
        Probe { x: &[1.0], args: &[&[40.0]] },
        Probe { x: &[1.0], args: &[&[-700.0]] },
    ],
};
