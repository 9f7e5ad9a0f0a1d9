//! Ordered categories with a normal scale.

use super::row::{ArgSpec, Density, Distribution, Domain, End, Probe, Sampler, Support};
use super::{draw, ordered};
use crate::facts::{Interval, Jet, known};
use crate::num::real::{HALF_LN_2PI, Real};
use crate::ops::scalar::{Facts, scalar_row};

scalar_row! {
    BETWEEN = "ordered_probit"(eta, lower, upper), "log(Phi(eta - lower) - Phi(eta - upper))";
    value log_between(eta - lower, eta - upper);
    slopes(y) {
        let (below, above) = (edge(eta - lower, y), edge(eta - upper, y));
        [below - above, -below, above]
    };
    probes [&[0.3, -1.0, 1.0], &[20.0, -1.0, 1.0], &[-20.0, 1.0, 1.5], &[0.3, -1e100, 0.2]];
    // The log probability that a normal variable lies between two bounds. In eta its second derivative is the
    // variance of that variable given that it does, less 1: between -1 and 0. In the bounds it is concave
    // (Prékopa).
    facts Facts::shifting(|a, k| {
        let _: [f64; 3] = known::fixed(a, k)?;
        let bend = Interval::new(if k == 0 { -1.0 } else { f64::NEG_INFINITY }, 0.0);
        let slope = [Interval::REAL, Interval::NONPOSITIVE, Interval::NONNEGATIVE][k];
        (a[1].hi <= a[2].lo).then(|| Jet::new(Interval::NONPOSITIVE, slope, bend))
    })
}

/// log(Φ(a) - Φ(b)) for a > b, on the side of the origin where both are small.
#[inline(always)]
fn log_between<T: Real>(a: T, b: T) -> T {
    let flip = (a + b).detach();
    let high = T::zero().if_less(flip, -b, a);
    let low = T::zero().if_less(flip, -a, b);
    let top = high.log_phi();
    top + (low.log_phi() - top).log1m_exp()
}

/// φ(z) / P, from log P.
#[inline(always)]
fn edge<T: Real>(z: T, log_p: T) -> T {
    (z.square().scale(-0.5).shift(-HALF_LN_2PI) - log_p).exp()
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "ordered_probit",
    doc: "category 1, ..., K: the interval between cut-points c in which eta plus standard normal noise falls",
    formula: "log(Phi(eta - concat(-inf, c)[x]) - Phi(eta - concat(c, inf)[x]))",
    args: &[
        ArgSpec { name: "eta", domain: Domain::Real, rank: 0, default: None },
        ArgSpec { name: "c", domain: Domain::Ordered, rank: 1, default: None },
    ],
    // The last category is one more than there are cut-points; the density refuses what lies beyond.
    support: Support::Integers(End::At(1.0), End::At(f64::INFINITY)),
    discrete: true,
    event: 0,
    density: Density::Events(|b, x, a| ordered::density(b, &BETWEEN, x, a[0], a[1])),
    lcdf: None,
    lccdf: None,
    quantile: None,
    sample: Sampler::Event(|rng, a, out| {
        let eta = a[0].first().copied().unwrap_or(f64::NAN);
        out.iter_mut().for_each(|o| *o = ordered::category(eta + draw::normal(rng), a[1]));
    }),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[1.0], args: &[&[0.3], &[-1.0, 0.5, 2.0]] },
        Probe { x: &[3.0], args: &[&[0.3], &[-1.0, 0.5, 2.0]] },
        Probe { x: &[4.0], args: &[&[0.3], &[-1.0, 0.5, 2.0]] },
    ],
};
