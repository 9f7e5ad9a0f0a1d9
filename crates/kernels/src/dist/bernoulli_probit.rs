//! The Bernoulli distribution with probability Φ(alpha): what a probit regression is linked to. It has no
//! name in the language.

use super::draw;
use super::row::{ArgSpec, Density, Distribution, Domain, Part, Probe, Sampler, Support};
use crate::facts::known;
use crate::num::special as sf;
use crate::ops::scalar::{Facts, scalar_row};

scalar_row! {
    JOINT = "bernoulli_probit"(x, alpha), "log Φ(±alpha), plus where x is 1";
    value (alpha * x.scale(2.0).shift(-1.0)).log_phi();
    slopes(_y) {
        let sign = x.scale(2.0).shift(-1.0);
        let ratio = (alpha * sign).phi_ratio();
        [(alpha * ratio).scale(2.0), sign * ratio]
    };
    probes [&[1.0, 0.3], &[0.0, 9.0], &[1.0, 9.0], &[1.0, -30.0]];
    facts Facts::of(|a, k| {
        let c: [f64; 2] = known::fixed(a, k)?;
        let sign = 2.0 * c[0] - 1.0;
        if k == 1 && sign.abs() == 1.0 {
            Some(known::log_phi(a[1].scale(sign))?.stretched(sign))
        } else {
            None
        }
    })
}

/// The row, which the table does not list: `bernoulli` is linked to it.
pub(super) static LINKED: Distribution = Distribution {
    name: "bernoulli_probit",
    doc: "1 with probability Phi(alpha), else 0",
    formula: "log_Phi(where(x == 1, alpha, -alpha))",
    args: &[ArgSpec { name: "alpha", domain: Domain::Real, rank: 0, default: None }],
    support: Support::BINARY,
    discrete: true,
    event: 0,
    density: Density::Parts(&[Part { row: &JOINT, of: &[0, 1] }]),
    lcdf: None,
    lccdf: None,
    quantile: None,
    sample: Sampler::Number(|rng, a| f64::from(u8::from(draw::uniform(rng) < sf::phi(a[0])))),
    noncentered: None,
    links: &[],
    probes: &[Probe { x: &[1.0], args: &[&[0.3]] }, Probe { x: &[0.0], args: &[&[9.0]] }],
};
