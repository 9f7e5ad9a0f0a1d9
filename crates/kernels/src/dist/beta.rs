//! The beta distribution, by two shapes.

use super::gamma;
use super::incomplete::{beta_ratio, log_beta_inc, log_beta_inc_da, log_beta_inc_db};
use super::jets;
use super::row::{ArgSpec, Density, Distribution, LOG_X, LOG1M_X, Part, Probe, Sampler, Support};
use crate::facts::{Interval, known};
use crate::num::real::Real;
use crate::num::special as sf;
use crate::ops::scalar::{Facts, scalar_row};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Beta, Distribution as _};

scalar_row! {
    NORM = "beta.norm"(alpha, beta), "-log B(alpha, beta)";
    value norm(alpha, beta);
    slopes(_y, need) {
        let both = (alpha + beta).digamma();
        let one = |shape: T, need: bool| if need { both - shape.digamma() } else { T::zero() };
        [one(alpha, need[0]), one(beta, need[1])]
    };
    probes [&[0.5, 2.0], &[30.0, 0.1], &[200.0, 300.0]];
    facts Facts::of(|a, k| { let c: [f64; 2] = known::fixed(a, k)?; Some(-known::lbeta(a[k], c[1 - k])?) })
}

scalar_row! {
    LCDF = "beta_lcdf"(x, alpha, beta), "log I_x(alpha, beta), the incomplete beta function";
    value log_beta_inc::<0, T>(alpha, beta, x);
    slopes(y, need) [
        beta_ratio(alpha, beta, x, y),
        if need[1] { log_beta_inc_da::<0, T>(alpha, beta, x) } else { T::zero() },
        if need[2] { log_beta_inc_db::<0, T>(alpha, beta, x) } else { T::zero() }
    ];
    probes [&[0.3, 2.0, 1.5], &[1e-3, 0.5, 2.0], &[0.9, 2.5, 3.0], &[0.5, 40.0, 20.0]];
    facts Facts::of(|a, k| if log_concave(a, k) { Some(jets::concave_probability(true)) } else { None })
}

scalar_row! {
    LCCDF = "beta_lccdf"(x, alpha, beta), "log(1 - I_x(alpha, beta)), the incomplete beta function";
    value log_beta_inc::<1, T>(alpha, beta, x);
    slopes(y, need) [
        -beta_ratio(alpha, beta, x, y),
        if need[1] { log_beta_inc_da::<1, T>(alpha, beta, x) } else { T::zero() },
        if need[2] { log_beta_inc_db::<1, T>(alpha, beta, x) } else { T::zero() }
    ];
    probes [&[0.3, 2.0, 1.5], &[1e-3, 0.5, 2.0], &[0.9, 2.5, 3.0], &[0.8, 40.0, 20.0]];
    facts Facts::of(|a, k| if log_concave(a, k) { Some(jets::concave_probability(false)) } else { None })
}

/// Concentrations from which on the parts of a density, of the size of these, cancel to nothing but rounding
/// errors of a tenth of a nat and more.
pub(super) const KNOWN: f64 = 1e14;

/// -log B(alpha, beta); minus infinity where the density is not known, lest its noise be taken for a peak.
/// `beta_proportion` uses it too.
#[inline(always)]
pub(super) fn norm<T: Real>(alpha: T, beta: T) -> T {
    T::splat(KNOWN).if_less(alpha + beta, T::splat(f64::NEG_INFINITY), -alpha.lbeta(beta))
}

/// A draw, which `beta_proportion` uses too.
pub(super) fn draw(rng: &mut ChaCha8Rng, alpha: f64, beta: f64) -> f64 {
    Beta::new(alpha, beta).map_or(f64::NAN, |b| b.sample(rng))
}

/// Whether argument k is x, within the support, and both shapes are at least 1: the density is then
/// log-concave, and so are both tails.
fn log_concave(a: &[Interval], k: usize) -> bool {
    let shapes = |[_, alpha, beta]: [f64; 3]| alpha >= 1.0 && beta >= 1.0;
    k == 0 && a[0].is_nonnegative() && a[0].hi <= 1.0 && known::fixed(a, k).is_some_and(shapes)
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "beta",
    doc: "beta with shapes alpha and beta (mean alpha / (alpha + beta))",
    formula: "(alpha - 1) * log(x) + (beta - 1) * log1m(x) - lbeta(alpha, beta)",
    args: &[ArgSpec::positive("alpha"), ArgSpec::positive("beta")],
    support: Support::INSIDE_UNIT,
    discrete: false,
    event: 0,
    density: Density::Parts(&[
        Part { row: &gamma::POWER, of: &[LOG_X, 1] },
        Part { row: &gamma::POWER, of: &[LOG1M_X, 2] },
        Part { row: &NORM, of: &[1, 2] },
    ]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| sf::inv_beta_inc(a[0], a[1], p)),
    sample: Sampler::Number(|rng, a| draw(rng, a[0], a[1])),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[0.3], args: &[&[2.0], &[1.5]] },
        Probe { x: &[1e-4], args: &[&[0.5], &[2.0]] },
        Probe { x: &[0.9], args: &[&[40.0], &[20.0]] },
    ],
};
