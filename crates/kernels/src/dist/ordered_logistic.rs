//! Ordered categories with a logistic scale: proportional odds.

use super::row::{ArgSpec, Density, Distribution, Domain, End, Probe, Sampler, Support};
use super::{draw, ordered};
use crate::facts::{Interval, Jet, known};
use crate::num::real::Real;
use crate::num::special::{log1m_exp, log1p_exp};
use crate::ops::scalar::{Facts, scalar_row};

scalar_row! {
    /// σ(a) - σ(b) = (1 - e^(b-a)) σ(a) σ(-b): no difference of nearly equal numbers, however far out.
    BETWEEN = "ordered_logistic"(eta, lower, upper), "log(inv_logit(eta - lower) - inv_logit(eta - upper))";
    value (lower - upper).log1m_exp() - (lower - eta).log1p_exp() - (eta - upper).log1p_exp();
    slopes(_y) {
        let width = width(lower - upper);
        let (below, above) = ((lower - eta).inv_logit(), (eta - upper).inv_logit());
        [below - above, -(width + below), width + above]
    };
    both(at, _need) {
        let [eta, lower, upper] = at;
        let gap = lower - upper;
        let (of_gap, without) = (gap.exp(), -gap.expm1());
        let near = T::splat(-std::f64::consts::LN_2).if_less(gap, without.ln(), (-of_gap).log1p());
        let (lower_value, below) = (lower - eta).log1p_exp_and_slope();
        let (upper_value, above) = (eta - upper).log1p_exp_and_slope();
        let width = of_gap / without;
        (near - lower_value - upper_value, [below - above, -(width + below), width + above])
    };
    probes [&[0.3, -1.0, 1.0], &[40.0, -1.0, 1.0], &[-40.0, 1.0, 1.001], &[0.3, -1e100, 0.2]];
    // Concave in each argument: log(1 - e^x) of a gap and -log(1 + e^x) twice.
    facts Facts::shifting(|a, k| {
        let c: [f64; 3] = known::fixed(a, k)?;
        let [below, above] = [a[1] - a[0], a[0] - a[2]];
        if a[1].hi > a[2].lo || (k == 0 && c[1] == c[2]) {
            return None;
        }
        Some(match k {
            0 => {
                let both = -(known::log1p_exp(below)?.stretched(-1.0) + known::log1p_exp(above)?);
                let bend = Interval::new(-known::most_of_two_variances(c[2] - c[1]), 0.0);
                Jet { curvature: both.curvature.meet(bend), ..both.shifted(log1m_exp(c[1] - c[2])) }
            }
            1 => (known::log1m_exp(a[1] - a[2])? + -known::log1p_exp(below)?).shifted(-log1p_exp(above.lo)),
            _ => (known::log1m_exp(a[1] - a[2])? + -known::log1p_exp(above)?)
                .stretched(-1.0)
                .shifted(-log1p_exp(below.lo)),
        })
    })
}

scalar_row! {
    /// The part of it that a pair of cut-points has: plans ask it once for each category.
    GAP = "ordered_logistic.gap"(lower, upper), "log(1 - exp(lower - upper))";
    value (lower - upper).log1m_exp();
    slopes(_y) { let width = width(lower - upper); [-width, width] };
    probes [&[-1.0, 1.0], &[1.0, 1.001], &[-1e100, 0.2], &[-3.0, 40.0]]
}

scalar_row! {
    /// The rest of it.
    AROUND = "ordered_logistic.around"(eta, lower, upper), "-log(1 + exp(lower - eta)) - log(1 + exp(eta - upper))";
    value -(lower - eta).log1p_exp() - (eta - upper).log1p_exp();
    slopes(_y) {
        let (below, above) = ((lower - eta).log1p_exp_and_slope().1, (eta - upper).log1p_exp_and_slope().1);
        [below - above, -below, above]
    };
    both(at, _need) {
        let [eta, lower, upper] = at;
        let (lower_value, below) = (lower - eta).log1p_exp_and_slope();
        let (upper_value, above) = (eta - upper).log1p_exp_and_slope();
        (-lower_value - upper_value, [below - above, -below, above])
    };
    factored 1.0 (at, _need) {
        let [eta, lower, upper] = at;
        let [lower_value, lower_factor, below] = (lower - eta).log1p_exp_by_factor();
        let [upper_value, upper_factor, above] = (eta - upper).log1p_exp_by_factor();
        (-lower_value - upper_value, lower_factor * upper_factor, [below - above, -below, above])
    };
    probes [&[0.3, -1.0, 1.0], &[40.0, -1.0, 1.0], &[-40.0, 1.0, 1.001], &[0.3, -1e100, 0.2]]
}

/// The slope of log(1 - e^x) in -x.
#[inline(always)]
fn width<T: Real>(x: T) -> T {
    x.exp() / -(x.expm1())
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "ordered_logistic",
    doc: "category 1, ..., K: the interval between cut-points c in which eta plus logistic noise falls",
    formula: "log(inv_logit(eta - concat(-inf, c)[x]) - inv_logit(eta - concat(c, inf)[x]))",
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
        for o in out {
            let u = draw::uniform(rng);
            *o = ordered::category(eta + u.ln() - (-u).ln_1p(), a[1]);
        }
    }),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[1.0], args: &[&[0.3], &[-1.0, 0.5, 2.0]] },
        Probe { x: &[3.0], args: &[&[0.3], &[-1.0, 0.5, 2.0]] },
        Probe { x: &[4.0], args: &[&[0.3], &[-1.0, 0.5, 2.0]] },
    ],
};
