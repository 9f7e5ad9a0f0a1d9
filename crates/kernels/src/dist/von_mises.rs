//! The von Mises distribution on the circle, by mean direction and concentration.

use super::draw::uniform;
use super::numeric::{integrate, root, slope};
use super::row::{ArgSpec, Density, Distribution, Part, Probe, Sampler, Support};
use crate::facts::{Jet, known};
use crate::num::real::Real;
use crate::num::special as sf;
use crate::ops::scalar::{Facts, scalar_row};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::{LN_2, PI, TAU};

scalar_row! {
    JOINT = "von_mises"(x, mu, kappa), "kappa (cos(x - mu) - 1)";
    value { let s = (x - mu).scale(0.5).sin(); (kappa * s.square()).scale(-2.0) };
    slopes(_y) {
        let s = (x - mu).scale(0.5).sin();
        let g = -(kappa * (x - mu).sin());
        [g, -g, s.square().scale(-2.0)]
    };
    probes [&[0.3, 1.0, 2.0], &[-3.0, 1.0, 50.0], &[2.0, 0.5, 1e-3]];
    // A multiple of a cosine in x and in mu; linear in kappa.
    facts Facts::difference((0, 1), |a, k| {
        if k == 2 {
            let c: [f64; 3] = known::fixed(a, k)?;
            return Some(Jet::linear(a[2], (c[0] - c[1]).cos() - 1.0, 0.0));
        }
        let kappa = a[2].is_point().then_some(a[2].lo)?;
        Some(known::wave(a[k])?.shifted(-1.0).scaled(kappa))
    })
}

scalar_row! {
    NORM = "von_mises.norm"(kappa), "kappa - log(2π I₀(kappa))";
    value kappa.lift1(|k| -(TAU * sf::bessel_i0_scaled(k)).ln(), |k| 1.0 - sf::bessel_ratio(k));
    slopes(_y) [kappa.lift1(|k| 1.0 - sf::bessel_ratio(k), |k| -sf::bessel_ratio_slope(k))];
    probes [&[0.3], &[2.0], &[400.0]];
    facts Facts::of(|a, _| {
        let bend = known::log_bessel_i0(a[0])?;
        // It rises, because the slope of log I₀ is at most 1.
        let value = |k: f64| if k == f64::INFINITY { k } else { -(TAU * sf::bessel_i0_scaled(k)).ln() };
        Some(Jet { value: a[0].rising(value), ..Jet::identity(a[0]) + -bend })
    })
}

scalar_row! {
    LCDF = "von_mises_lcdf"(x, mu, kappa), "log P(-π < X ≤ x)";
    value x.lift3(mu, kappa, log_side::<0>, [in_x::<0>, in_mu::<0>, in_kappa::<0>]);
    slopes(y, need) slopes::<0, T>(x, mu, kappa, y, need);
    probes [&[0.3, 1.0, 2.0], &[-2.0, 0.5, 20.0], &[2.0, 0.5, 0.3], &[0.2, -2.5, 3.0]]
}

scalar_row! {
    LCCDF = "von_mises_lccdf"(x, mu, kappa), "log P(x < X < π)";
    value x.lift3(mu, kappa, log_side::<1>, [in_x::<1>, in_mu::<1>, in_kappa::<1>]);
    slopes(y, need) slopes::<1, T>(x, mu, kappa, y, need);
    probes [&[0.3, 1.0, 2.0], &[2.0, -0.5, 20.0], &[2.0, 0.5, 0.3], &[0.2, 2.5, 3.0]]
}

/// exp(kappa cos(x - mu)) / (2π I₀(kappa)) over a probability whose log is y.
#[inline(always)]
fn density_over<T: Real>(x: T, mu: T, kappa: T, y: T) -> T {
    let s = (x - mu).scale(0.5).sin();
    let norm = kappa.lift1(|k| -(TAU * sf::bessel_i0_scaled(k)).ln(), |k| 1.0 - sf::bessel_ratio(k));
    (norm - (kappa * s.square()).scale(2.0) - y).exp()
}

#[inline(always)]
fn slopes<const SIDE: usize, T: Real>(x: T, mu: T, kappa: T, y: T, need: &[bool; 3]) -> [T; 3] {
    let here = density_over(x, mu, kappa, y).scale(sign::<SIDE>());
    let cut = density_over(T::splat(PI), mu, kappa, y).scale(sign::<SIDE>());
    let in_kappa = || {
        let second: [fn(f64, f64, f64) -> f64; 3] =
            [kappa_and_x::<SIDE>, kappa_and_mu::<SIDE>, |x, mu, k| slope(k, |k| in_kappa::<SIDE>(x, mu, k))];
        x.lift3(mu, kappa, in_kappa::<SIDE>, second)
    };
    [here, cut - here, if need[2] { in_kappa() } else { T::zero() }]
}

const fn sign<const SIDE: usize>() -> f64 {
    if SIDE == 0 { 1.0 } else { -1.0 }
}

fn in_x<const SIDE: usize>(x: f64, mu: f64, kappa: f64) -> f64 {
    sign::<SIDE>() * density_over(x, mu, kappa, log_side::<SIDE>(x, mu, kappa))
}

/// Turning the whole by dmu takes in what lies at the cut and loses what lies at x.
fn in_mu<const SIDE: usize>(x: f64, mu: f64, kappa: f64) -> f64 {
    let y = log_side::<SIDE>(x, mu, kappa);
    sign::<SIDE>() * (density_over(PI, mu, kappa, y) - density_over(x, mu, kappa, y))
}

/// The score in kappa at a point: cos(x - mu) - I₁/I₀.
fn score(x: f64, mu: f64, kappa: f64) -> f64 {
    (x - mu).cos() - sf::bessel_ratio(kappa)
}

fn kappa_and_x<const SIDE: usize>(x: f64, mu: f64, kappa: f64) -> f64 {
    in_x::<SIDE>(x, mu, kappa) * (score(x, mu, kappa) - in_kappa::<SIDE>(x, mu, kappa))
}

fn kappa_and_mu<const SIDE: usize>(x: f64, mu: f64, kappa: f64) -> f64 {
    let (y, own) = (log_side::<SIDE>(x, mu, kappa), in_kappa::<SIDE>(x, mu, kappa));
    let at = |x: f64| density_over(x, mu, kappa, y) * (score(x, mu, kappa) - own);
    sign::<SIDE>() * (at(PI) - at(x))
}

/// log P(-π < X ≤ x) for `SIDE` 0, log P(x < X < π) for 1: whichever is smaller is integrated.
fn log_side<const SIDE: usize>(x: f64, mu: f64, kappa: f64) -> f64 {
    let (smaller, log_mass, _) = smaller_side(x, mu, kappa);
    if smaller == SIDE { log_mass } else { sf::log1m_exp(log_mass) }
}

/// d/dkappa of [`log_side`]: the mean score on that side.
fn in_kappa<const SIDE: usize>(x: f64, mu: f64, kappa: f64) -> f64 {
    let (smaller, log_mass, mean_score) = smaller_side(x, mu, kappa);
    if smaller == SIDE { mean_score } else { -mean_score * (log_mass - sf::log1m_exp(log_mass)).exp() }
}

/// The side of x with the smaller probability, the log of that, and the mean of the score in kappa there.
fn smaller_side(x: f64, mu: f64, kappa: f64) -> (usize, f64, f64) {
    let side = |from: f64, to: f64| {
        let (log_mass, fall) = arc(from - mu, to - mu, kappa);
        (log_mass - (TAU * sf::bessel_i0_scaled(kappa)).ln(), (1.0 - sf::bessel_ratio(kappa)) - fall)
    };
    let (low, low_score) = side(-PI, x);
    if low < -LN_2 {
        return (0, low, low_score);
    }
    let (high, high_score) = side(x, PI);
    (1, high, high_score)
}

/// log ∫ exp(κ (cos t - 1)) dt over [a, b] and the mean of 1 - cos t there: by pieces that hold one rise or
/// fall each way.
fn arc(a: f64, b: f64, kappa: f64) -> (f64, f64) {
    let first = ((a - PI) / TAU).ceil();
    let cuts = (0..4).map(|k| PI + TAU * (first + f64::from(k))).filter(|&c| a < c && c < b);
    let mut ends = vec![a];
    ends.extend(cuts);
    ends.push(b);
    let pieces: Vec<(f64, f64)> = ends.windows(2).map(|w| single_peak(w[0], w[1], kappa)).collect();
    let logs: Vec<f64> = pieces.iter().map(|p| p.0).collect();
    let total = sf::log_sum_exp(&logs);
    let mean = pieces.iter().map(|&(log, fall)| (log - total).exp() * fall).sum();
    (total, mean)
}

/// As [`arc`], where [a, b] lies between two neighbouring minima of the cosine.
fn single_peak(a: f64, b: f64, kappa: f64) -> (f64, f64) {
    let peak = (TAU * (0.5 * (a + b) / TAU).round()).clamp(a, b);
    let relative = |t: f64| (-2.0 * kappa * (0.5 * (t + peak)).sin() * (0.5 * (t - peak)).sin()).exp();
    let fall = |t: f64| 2.0 * (0.5 * t).sin() * (0.5 * t).sin();
    // Panels no wider than the peak's own width, nor than five lengths of the exponential fall beside it.
    let width = (1.0 / kappa.sqrt()).min(5.0 / (kappa * peak.sin().abs())).min(0.5);
    let (mut mass, mut falls) = (0.0, 0.0);
    for (end, step) in [(a, -width), (b, width)] {
        let mut from = peak;
        while from != end {
            let to = if (end - from).abs() <= width { end } else { from + step };
            let (low, high) = (from.min(to), from.max(to));
            let part = integrate(low, high, 1, relative);
            mass += part;
            falls += integrate(low, high, 1, |t| relative(t) * fall(t));
            if part <= 1e-18 * mass {
                break;
            }
            from = to;
        }
    }
    (mass.ln() - kappa * fall(peak), falls / mass)
}

/// A draw on (-π, π).
fn draw(rng: &mut ChaCha8Rng, mu: f64, kappa: f64) -> f64 {
    if !(kappa > 0.0 && mu.is_finite()) {
        return f64::NAN;
    }
    let angle = mu + if kappa < 0.5 { flat_draw(rng, kappa) } else { centred_draw(rng, kappa) };
    angle - TAU * (angle / TAU).round()
}

/// About 0, by rejection from the uniform: for small kappa.
fn flat_draw(rng: &mut ChaCha8Rng, kappa: f64) -> f64 {
    loop {
        let angle = TAU * (uniform(rng) - 0.5);
        if uniform(rng) < (kappa * (angle.cos() - 1.0)).exp() {
            return angle;
        }
    }
}

/// About 0, by Best and Fisher's rejection from a wrapped Cauchy.
fn centred_draw(rng: &mut ChaCha8Rng, kappa: f64) -> f64 {
    let tau = 1.0 + (1.0 + 4.0 * kappa * kappa).sqrt();
    let rho = (tau - (2.0 * tau).sqrt()) / (2.0 * kappa);
    // (1 + ρ²) / (2ρ), less 1: written so that a large kappa does not cancel.
    let above = (1.0 - rho) * (1.0 - rho) / (2.0 * rho);
    loop {
        let z = (PI * uniform(rng)).cos();
        // 1 - f for f = (1 + r z) / (r + z) with r = 1 + above.
        let gap = above * (1.0 - z) / (1.0 + above + z);
        let c = kappa * (above + gap);
        let u = uniform(rng);
        if c * (2.0 - c) - u > 0.0 || (c / u).ln() + 1.0 - c >= 0.0 {
            let angle = 2.0 * (0.5 * gap).sqrt().min(1.0).asin();
            return if uniform(rng) < 0.5 { -angle } else { angle };
        }
    }
}

fn quantile(p: f64, mu: f64, kappa: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return if p == 0.0 {
            -PI
        } else if p == 1.0 {
            PI
        } else {
            f64::NAN
        };
    }
    let start = (mu - TAU * (mu / TAU).round()).clamp(-3.0, 3.0);
    root(-PI, PI, start, (1.0 / kappa.sqrt()).min(1.0), |x| {
        if p < 0.5 {
            log_side::<0>(x, mu, kappa) - p.ln()
        } else {
            (-p).ln_1p() - log_side::<1>(x, mu, kappa)
        }
    })
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "von_mises",
    doc: "von Mises on the circle, as angles in (-π, π), with mean direction mu and concentration kappa",
    formula: "kappa * cos(x - mu) - log(2 * pi()) - log_bessel_i0(kappa)",
    args: &[ArgSpec::real("mu"), ArgSpec::positive("kappa")],
    support: Support::Circle,
    discrete: false,
    event: 0,
    density: Density::Parts(&[Part { row: &JOINT, of: &[0, 1, 2] }, Part { row: &NORM, of: &[2] }]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| quantile(p, a[0], a[1])),
    sample: Sampler::Number(|rng, a| draw(rng, a[0], a[1])),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[0.3], args: &[&[1.0], &[2.0]] },
        Probe { x: &[-1.0], args: &[&[0.5], &[30.0]] },
        Probe { x: &[3.0], args: &[&[-2.0], &[0.01]] },
    ],
};
