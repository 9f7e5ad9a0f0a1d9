//! The inverse Gaussian (Wald) distribution, by mean and shape: how long Brownian motion with drift takes to
//! get somewhere.

use super::draw::uniform;
use super::numeric::{integrate, root};
use super::row::{ArgSpec, Density, Distribution, LOG_X, Part, Probe, Sampler, Support};
use super::shared::excess;
use crate::num::real::Real;
use crate::num::special as sf;
use crate::ops::scalar::scalar_row;
use rand_distr::{Distribution as _, StandardNormal};
use std::f64::consts::{FRAC_1_SQRT_2, LN_2, TAU};

scalar_row! {
    JOINT = "inv_gaussian"(x, mu, lambda), "-lambda (x - mu)² / (2 mu² x)";
    value { let d = (x - mu) / mu; (lambda * d.square() / x).scale(-0.5) };
    slopes(_y) {
        let (d, near, far) = ((x - mu) / mu, mu.recip(), x.recip());
        [
            (lambda * d * far * (near + far)).scale(-0.5),
            lambda * d * near.square(),
            (d.square() * far).scale(-0.5),
        ]
    };
    probes [&[0.3, 1.0, 2.0], &[9.0, 1.0, 0.5], &[1e-3, 2.0, 0.9], &[3.0, 2.9, 400.0]]
}

scalar_row! {
    POWER = "inv_gaussian.power"(log_x), "-(3/2) log x";
    value log_x.scale(-1.5);
    slopes(_y) [T::splat(-1.5)];
    probes [&[0.3], &[-30.0], &[30.0]]
}

scalar_row! {
    NORM = "inv_gaussian.norm"(lambda), "log(lambda / 2π) / 2";
    value lambda.scale(1.0 / TAU).ln().scale(0.5);
    slopes(_y) [lambda.recip().scale(0.5)];
    probes [&[0.3], &[1e-6], &[1e6]]
}

scalar_row! {
    LCDF = "inv_gaussian_lcdf"(x, mu, lambda), "log(Φ(a) + exp(2 s) Φ(-b)) for w = x / mu, s = lambda / mu, a = √(s w) - √(s / w), b = √(s w) + √(s / w)";
    value (x / mu).lift2(
        lambda / mu,
        log_cdf,
        |w, s| in_w(w, s, log_cdf(w, s)),
        |w, s| in_s(w, s, log_cdf(w, s)),
    );
    slopes(y) outwards(in_w(x / mu, lambda / mu, y), in_s(x / mu, lambda / mu, y), x / mu, mu, lambda);
    probes [&[0.3, 1.0, 2.0], &[9.0, 1.0, 0.5], &[0.05, 2.0, 0.9], &[3.0, 2.9, 400.0], &[40.0, 2.0, 0.02]]
}

scalar_row! {
    LCCDF = "inv_gaussian_lccdf"(x, mu, lambda), "log(Φ(-a) - exp(2 s) Φ(-b)) for w = x / mu, s = lambda / mu, a = √(s w) - √(s / w), b = √(s w) + √(s / w)";
    value (x / mu).lift2(
        lambda / mu,
        log_ccdf,
        |w, s| -in_w(w, s, log_ccdf(w, s)),
        |w, s| -in_s(w, s, log_ccdf(w, s)),
    );
    slopes(y) outwards(-in_w(x / mu, lambda / mu, y), -in_s(x / mu, lambda / mu, y), x / mu, mu, lambda);
    probes [&[0.3, 1.0, 2.0], &[9.0, 1.0, 0.5], &[0.05, 2.0, 0.9], &[3.0, 2.9, 400.0], &[40.0, 2.0, 0.02]]
}

// Below w = x / mu, s = lambda / mu, u = √(s w), v = √(s / w), a = u - v and b = u + v. As b² - a² = 4 s,
// exp(2 s) φ(b) = φ(a).

/// The density of w over a probability whose log is y: √(s / w³) φ(a) / e^y.
#[inline(always)]
fn in_w<T: Real>(w: T, s: T, y: T) -> T {
    let a = (s * w).sqrt() - (s / w).sqrt();
    (s / w).sqrt() / w * over(a, y)
}

/// The slope in s of the probability below w, over a probability whose log is y: φ(a) (2 R(b) - 1 / u) / e^y
/// for R = Φ(-b) / φ(b). With c = 1 / R(b) - b, which tends to 1 / b, the bracket is (a - c) / (u / R(b)),
/// where nothing cancels.
#[inline(always)]
fn in_s<T: Real>(w: T, s: T, y: T) -> T {
    let (u, v) = ((s * w).sqrt(), (s / w).sqrt());
    (u - v - excess(-(u + v))) / (u * (-(u + v)).phi_ratio()) * over(u - v, y)
}

/// φ(a) / e^y
#[inline(always)]
fn over<T: Real>(a: T, y: T) -> T {
    (a.square().scale(-0.5) - y).exp().scale(1.0 / TAU.sqrt())
}

/// Slopes in (x, mu, lambda) from those in w and s.
#[inline(always)]
fn outwards<T: Real>(in_w: T, in_s: T, w: T, mu: T, lambda: T) -> [T; 3] {
    [in_w / mu, -(in_w * w + in_s * (lambda / mu)) / mu, in_s / mu]
}

/// log P(W ≤ w), from log P(W > w) where that is the smaller.
fn log_cdf(w: f64, s: f64) -> f64 {
    let below = log_below(w, s);
    if below < -0.7 * LN_2 { below } else { sf::log1m_exp(log_above(w, s)) }
}

/// log P(W > w), from log P(W ≤ w) where that is the smaller.
fn log_ccdf(w: f64, s: f64) -> f64 {
    let below = log_below(w, s);
    if below < -0.7 * LN_2 { sf::log1m_exp(below) } else { log_above(w, s) }
}

/// log(Φ(a) + φ(a) R(b)), a sum of positive terms.
fn log_below(w: f64, s: f64) -> f64 {
    let (u, v) = ((s * w).sqrt(), (s / w).sqrt());
    let a = u - v;
    let second = (0.5 * sf::erfcx((u + v) * FRAC_1_SQRT_2)).ln() - 0.5 * a * a;
    sf::log_sum_exp(&[sf::log_phi(a), second])
}

/// log(φ(a) (R(a) - R(b))) for a not far below 0. Where a and b are near each other, as an integral of -R' =
/// 1 - t R.
fn log_above(w: f64, s: f64) -> f64 {
    let (u, v) = ((s * w).sqrt(), (s / w).sqrt());
    let a = u - v;
    let difference = match 2.0 * v < 0.5 {
        true => integrate(a, u + v, 1, |t| excess(-t) / sf::phi_ratio(-t)),
        false => 1.0 / sf::phi_ratio(-a) - 1.0 / sf::phi_ratio(-(u + v)),
    };
    difference.ln() - 0.5 * a * a - 0.5 * TAU.ln()
}

/// The quantile with mean 1, found on the log scale from that of a lognormal with the same mean and variance.
fn standard_quantile(p: f64, s: f64) -> f64 {
    let spread = s.recip().ln_1p().sqrt();
    let start = spread * (sf::inv_phi(p).clamp(-40.0, 40.0) - 0.5 * spread);
    root(f64::NEG_INFINITY, f64::INFINITY, start, 0.1 * spread, |t| {
        if p < 0.5 { log_cdf(t.exp(), s) - p.ln() } else { (-p).ln_1p() - log_ccdf(t.exp(), s) }
    })
    .exp()
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "inv_gaussian",
    doc: "inverse Gaussian (Wald) with mean mu and shape lambda (variance mu^3 / lambda)",
    formula: "0.5 * log(lambda / (2 * pi())) - 1.5 * log(x) - lambda * (x - mu)^2 / (2 * mu^2 * x)",
    args: &[ArgSpec::positive("mu"), ArgSpec::positive("lambda")],
    support: Support::ABOVE_ZERO,
    discrete: false,
    event: 0,
    density: Density::Parts(&[
        Part { row: &JOINT, of: &[0, 1, 2] },
        Part { row: &POWER, of: &[LOG_X] },
        Part { row: &NORM, of: &[2] },
    ]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| match p {
        0.0 => 0.0,
        1.0 => f64::INFINITY,
        _ => a[0] * standard_quantile(p, a[1] / a[0]),
    }),
    // Michael, Schucany and Haas (1976): (w - 1)² / w is chi-square over s; of its two roots, w and 1 / w,
    // the smaller is taken with probability 1 / (1 + w).
    sample: Sampler::Number(|rng, a| {
        let z: f64 = StandardNormal.sample(rng);
        let c = z * z * a[0] / a[1];
        let w = 1.0 / (1.0 + 0.5 * c + (c + 0.25 * c * c).sqrt());
        a[0] * if uniform(rng) * (1.0 + w) < 1.0 { w } else { 1.0 / w }
    }),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[0.8], args: &[&[1.5], &[2.0]] },
        Probe { x: &[30.0], args: &[&[2.0], &[0.9]] },
        Probe { x: &[0.05], args: &[&[1.0], &[0.7]] },
        Probe { x: &[5.2], args: &[&[5.0], &[900.0]] },
    ],
};
