//! The Pareto distribution of type 2 (Lomax, shifted), by location, scale and shape.

use super::draw::uniform;
use super::jets;
use super::row::{ArgSpec, BaseArg, Density, Distribution, End, Noncentered, Part, Probe, Sampler, Support};
use super::shared::{MINUS_LOG, SHAPE_LOG, exponential_quantile, log1m_exp_slope, shifted};
use crate::facts::{Interval, Jet, known};
use crate::num::real::Real;
use crate::ops::scalar::{Facts, scalar_row};

scalar_row! {
    JOINT = "pareto_type_2"(x, mu, lambda, alpha), "-(alpha + 1) log(1 + (x - mu) / lambda), -∞ for x < mu";
    value {
        let inside = -(alpha.shift(1.0) * ((x - mu) / lambda).log1p());
        x.if_less(mu, T::splat(f64::NEG_INFINITY), inside)
    };
    slopes(_y) {
        let z = x.if_less(mu, T::zero(), (x - mu) / lambda);
        let g = -(alpha.shift(1.0) / (lambda * z.shift(1.0)));
        [g, -g, -(g * z), -z.log1p()]
    };
    probes [&[3.0, 2.0, 0.5, 1.5], &[1e6, -0.5, 2.0, 2.5], &[1.05, 1.0, 1.0, 3.0]];
    // Convex in x ≥ mu; linear in alpha; in log lambda a multiple of log(1 + e^(log r - t)).
    facts Facts::difference_with_log((0, 1), |a, k| tail(a, k, 1.0), |a, k| tail_in_log_scale(a, k, 1.0))
}

scalar_row! {
    LCDF = "pareto_type_2_lcdf"(x, mu, lambda, alpha), "log(1 - (1 + (x - mu) / lambda)^-alpha)";
    value (-(alpha * log_rise(x, mu, lambda))).log1m_exp();
    slopes(y) {
        let g = log1m_exp_slope(alpha * log_rise(x, mu, lambda), y);
        rise(x, mu, lambda, alpha).map(|s| g * s)
    };
    probes [&[3.0, 2.0, 0.5, 1.5], &[1e6, -0.5, 2.0, 2.5], &[1.05, 1.0, 1.0, 3.0]]
}

scalar_row! {
    LCCDF = "pareto_type_2_lccdf"(x, mu, lambda, alpha), "-alpha log(1 + (x - mu) / lambda)";
    value -(alpha * log_rise(x, mu, lambda));
    slopes(_y) rise(x, mu, lambda, alpha).map(|s| x.if_less(mu, T::zero(), -s));
    probes [&[3.0, 2.0, 0.5, 1.5], &[1e6, -0.5, 2.0, 2.5], &[1.05, 1.0, 1.0, 3.0]];
    facts Facts::difference_with_log((0, 1), |a, k| tail(a, k, 0.0), |a, k| tail_in_log_scale(a, k, 0.0))
}

/// log(1 + (x - mu) / lambda), or 0 where x is below mu.
#[inline(always)]
fn log_rise<T: Real>(x: T, mu: T, lambda: T) -> T {
    x.if_less(mu, T::zero(), ((x - mu) / lambda).log1p())
}

/// Slopes of alpha log(1 + (x - mu) / lambda) in (x, mu, lambda, alpha).
#[inline(always)]
fn rise<T: Real>(x: T, mu: T, lambda: T, alpha: T) -> [T; 4] {
    let z = (x - mu) / lambda;
    let g = alpha / (lambda * z.shift(1.0));
    [g, -g, -(g * z), z.log1p()]
}

/// The quantile with location 0 and scale 1, of a standard exponential's quantile.
fn standard(e: f64, alpha: f64) -> f64 {
    (e / alpha).exp_m1()
}

/// -(alpha + more) log(1 + (x - mu) / lambda) where x ≥ mu, in x, mu and alpha.
fn tail(a: &[Interval], k: usize, more: f64) -> Option<Jet> {
    if !(a[0].lo >= a[1].hi) {
        return None;
    }
    if k == 3 {
        let [x, mu, lambda, _]: [f64; 4] = known::fixed(a, k)?;
        return (lambda > 0.0).then(|| Jet::linear(a[3].shift(more), -log_rise(x, mu, lambda), 0.0));
    }
    let power = a[3].is_point().then_some(a[3].lo + more)?;
    // The difference is rounded; it is not below 0.
    let inside = |z: Interval| Interval::new(z.lo.max(0.0), z.hi);
    jets::location(a, k, [0, 1, 2], |z| Some(known::log1p(inside(z))?.scaled(-power)))
}

/// The same as a function of t where lambda = e^t.
fn tail_in_log_scale(a: &[Interval], k: usize, more: f64) -> Option<Jet> {
    let [x, mu, _, alpha]: [f64; 4] = known::fixed(a, k)?;
    if k != 2 || x <= mu {
        return None;
    }
    Some(known::log1p_exp((-a[2]).shift((x - mu).ln()))?.stretched(-1.0).scaled(-(alpha + more)))
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "pareto_type_2",
    doc: "Pareto of type 2 (Lomax) above mu, with scale lambda and shape alpha",
    formula: "log(alpha) - log(lambda) - (alpha + 1) * log1p((x - mu) / lambda)",
    args: &[ArgSpec::real("mu"), ArgSpec::positive("lambda"), ArgSpec::positive("alpha")],
    support: Support::Interval(End::Arg(0), End::At(f64::INFINITY)),
    discrete: false,
    event: 0,
    density: Density::Parts(&[
        Part { row: &JOINT, of: &[0, 1, 2, 3] },
        Part { row: &MINUS_LOG, of: &[2] },
        Part { row: &SHAPE_LOG, of: &[3] },
    ]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| a[0] + a[1] * standard(exponential_quantile(p), a[2])),
    sample: Sampler::Number(|rng, a| a[0] + a[1] * standard(-uniform(rng).ln(), a[2])),
    noncentered: Some(Noncentered {
        base: &ROW,
        base_args: &[BaseArg::Number(0.0), BaseArg::Number(1.0), BaseArg::Arg(2)],
        build: |b, z, a| shifted(b, z, a[0], a[1]),
    }),
    links: &[],
    probes: &[
        Probe { x: &[3.0], args: &[&[2.0], &[0.5], &[1.5]] },
        Probe { x: &[1e6], args: &[&[-0.5], &[2.0], &[2.5]] },
        Probe { x: &[1.05], args: &[&[1.0], &[1.0], &[3.0]] },
    ],
};
