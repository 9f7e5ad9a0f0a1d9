//! The exponentially modified normal distribution: a normal number plus an exponential one.

use super::jets;
use super::numeric::{integrate, root};
use super::row::{ArgSpec, Density, Distribution, Part, Probe, Sampler, Support};
use super::shared::{SHAPE_LOG, excess};
use crate::facts::{Jet, known};
use crate::num::real::{Real, SQRT_2PI};
use crate::num::special as sf;
use crate::ops::scalar::{Facts, scalar_row};
use rand_distr::{Distribution as _, Exp1, StandardNormal};
use std::f64::consts::{FRAC_1_SQRT_2, LN_2};

// Throughout z = (x - mu) / sigma, k = lambda sigma and u = z - k.

scalar_row! {
    JOINT = "exp_mod_normal"(x, mu, sigma, lambda), "(u² - z²) / 2 + log Φ(u) for z = (x - mu) / sigma and u = z - lambda sigma";
    value tilted((x - mu) / sigma, lambda * sigma);
    slopes(_y) {
        let (z, k) = ((x - mu) / sigma, lambda * sigma);
        let u = z - k;
        let over = excess(u);
        let in_z = u.if_less(T::zero(), over - z, u.phi_ratio() - k);
        outwards(in_z, -over, z, sigma, lambda)
    };
    probes [&[0.3, 1.0, 2.0, 0.5], &[-9.0, 1.0, 0.5, 2.0], &[30.0, 0.0, 2.0, 0.3], &[0.0, 1.0, 1.0, 30.0]];
    // (u² - z²)/2 = lambda sigma (lambda sigma / 2 - z) is linear in z.
    facts Facts::difference((0, 1), |a, k| {
        let shift = a[2].lo * a[3].lo;
        let known = a[3].is_point() && a[3].lo > 0.0 && a[2].is_point() && shift.is_finite();
        jets::location(a, k, [0, 1, 2], |z| {
            let bend = known::log_phi(z.shift(-shift))?;
            known.then(|| Jet::linear(z, -shift, 0.5 * shift * shift) + bend)
        })
    })
}

scalar_row! {
    LCDF = "exp_mod_normal_lcdf"(x, mu, sigma, lambda), "log(Φ(z) - exp((u² - z²) / 2) Φ(u)) for z = (x - mu) / sigma and u = z - lambda sigma";
    value log_cdf((x - mu) / sigma, lambda * sigma);
    slopes(y) {
        let (z, k) = ((x - mu) / sigma, lambda * sigma);
        let share = (tilted(z, k) - y).exp();
        outwards(k * share, share * excess(z - k), z, sigma, lambda)
    };
    probes [&[0.3, 1.0, 2.0, 0.5], &[-9.0, 1.0, 0.9, 2.0], &[30.0, 0.0, 2.0, 0.3], &[3.0, 1.0, 1.0, 1e-3]];
    // The density is log-concave, so both tails are.
    facts Facts::difference((0, 1), |a, k| {
        let known = a[3].is_point() && a[3].lo > 0.0;
        jets::location(a, k, [0, 1, 2], |_| known.then(|| jets::concave_probability(true)))
    })
}

scalar_row! {
    LCCDF = "exp_mod_normal_lccdf"(x, mu, sigma, lambda), "log(Φ(-z) + exp((u² - z²) / 2) Φ(u)) for z = (x - mu) / sigma and u = z - lambda sigma";
    value log_ccdf((x - mu) / sigma, lambda * sigma);
    slopes(y) {
        let (z, k) = ((x - mu) / sigma, lambda * sigma);
        let share = -(tilted(z, k) - y).exp();
        outwards(k * share, share * excess(z - k), z, sigma, lambda)
    };
    probes [&[0.3, 1.0, 2.0, 0.5], &[-2.0, 1.0, 0.9, 2.0], &[90.0, 0.0, 2.0, 0.3], &[0.0, 1.0, 1.0, 30.0]];
    facts Facts::difference((0, 1), |a, k| {
        let known = a[3].is_point() && a[3].lo > 0.0;
        jets::location(a, k, [0, 1, 2], |_| known.then(|| jets::concave_probability(false)))
    })
}

/// (u² - z²) / 2 + log Φ(u): for u < 0 the two parts cancel, and -z²/2 + log(Φ(u) e^{u²/2}) is used instead.
#[inline(always)]
fn tilted<T: Real>(z: T, k: T) -> T {
    let u = z - k;
    let scaled = u.lift1(log_scaled_phi, |u| u + sf::phi_ratio(u)) - z.square().scale(0.5);
    u.if_less(T::zero(), scaled, k * (k.scale(0.5) - z) + u.log_phi())
}

/// log(Φ(u) e^{u²/2}), for u < 0.
fn log_scaled_phi(u: f64) -> f64 {
    (0.5 * sf::erfcx(-u * FRAC_1_SQRT_2)).ln()
}

/// Slopes in (x, mu, sigma, lambda) from those in z and k.
#[inline(always)]
fn outwards<T: Real>(in_z: T, in_k: T, z: T, sigma: T, lambda: T) -> [T; 4] {
    let g = in_z / sigma;
    [g, -g, in_k * lambda - g * z, in_k * sigma]
}

#[inline(always)]
fn log_ccdf<T: Real>(z: T, k: T) -> T {
    z.lift2(
        k,
        standard_log_ccdf,
        |z, k| -k * (tilted(z, k) - standard_log_ccdf(z, k)).exp(),
        |z, k| -(tilted(z, k) - standard_log_ccdf(z, k)).exp() * excess(z - k),
    )
}

#[inline(always)]
fn log_cdf<T: Real>(z: T, k: T) -> T {
    z.lift2(
        k,
        standard_log_cdf,
        |z, k| k * (tilted(z, k) - standard_log_cdf(z, k)).exp(),
        |z, k| (tilted(z, k) - standard_log_cdf(z, k)).exp() * excess(z - k),
    )
}

/// log P(Z > z), from log P(Z ≤ z) where that is the smaller.
fn standard_log_ccdf(z: f64, k: f64) -> f64 {
    let beyond = sum_beyond(z, k);
    if beyond < -0.7 * LN_2 { beyond } else { sf::log1m_exp(log_below(z, k)) }
}

/// log P(Z ≤ z), from log P(Z > z) where that is the smaller.
fn standard_log_cdf(z: f64, k: f64) -> f64 {
    let beyond = sum_beyond(z, k);
    if beyond < -0.7 * LN_2 { sf::log1m_exp(beyond) } else { log_below(z, k) }
}

/// log(Φ(-z) + exp((u² - z²) / 2) Φ(u)), accurate in the upper tail.
fn sum_beyond(z: f64, k: f64) -> f64 {
    sf::log_sum_exp(&[sf::log_phi(-z), tilted(z, k)])
}

/// log P(Z ≤ z) in the lower tail, as ∫ (1 - e^{-ks}) φ(z - s) ds over s > 0, a sum of positive terms.
fn log_below(z: f64, k: f64) -> f64 {
    // Where the difference does not cancel: the second term is at most half of the first.
    let (whole, taken) = (sf::log_phi(z), tilted(z, k));
    if taken < whole - LN_2 {
        return whole + sf::log1m_exp(taken - whole);
    }
    // φ(z - s) = φ(z) exp(zs - s²/2): for z < 0 nothing is left beyond -zs + s²/2 = 40, for z > 0 nothing 9
    // away from z.
    if z < 0.0 {
        let end = 80.0 / ((z * z + 80.0).sqrt() - z);
        let rise = |s: f64| -(-k * s).exp_m1() * (s * (z - 0.5 * s)).exp();
        return (integrate(0.0, end, 8, rise) / SQRT_2PI).ln() - 0.5 * z * z;
    }
    let rise = |s: f64| -(-k * s).exp_m1() * (-0.5 * (z - s) * (z - s)).exp();
    (integrate((z - 9.0).max(0.0), z + 9.0, 12, rise) / SQRT_2PI).ln()
}

fn standard_quantile(p: f64, k: f64) -> f64 {
    let start = sf::inv_phi(p).clamp(-40.0, 40.0) - (-p).ln_1p().max(-700.0) / k;
    root(f64::NEG_INFINITY, f64::INFINITY, start, 0.5 + 0.1 / k, |z| {
        if p < 0.5 { standard_log_cdf(z, k) - p.ln() } else { (-p).ln_1p() - standard_log_ccdf(z, k) }
    })
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "exp_mod_normal",
    doc: "sum of a normal with mean mu and standard deviation sigma and an exponential with rate lambda",
    formula: "log(lambda) + lambda * (mu - x + 0.5 * lambda * sigma^2) + log_Phi((x - mu) / sigma - lambda * sigma)",
    args: &[ArgSpec::real("mu"), ArgSpec::positive("sigma"), ArgSpec::positive("lambda")],
    support: Support::REAL,
    discrete: false,
    event: 0,
    density: Density::Parts(&[Part { row: &JOINT, of: &[0, 1, 2, 3] }, Part { row: &SHAPE_LOG, of: &[3] }]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| match p {
        0.0 => f64::NEG_INFINITY,
        1.0 => f64::INFINITY,
        _ => a[0] + a[1] * standard_quantile(p, a[1] * a[2]),
    }),
    sample: Sampler::Number(|rng, a| {
        let (z, e): (f64, f64) = (StandardNormal.sample(rng), Exp1.sample(rng));
        a[0] + a[1] * z + e / a[2]
    }),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[0.3], args: &[&[1.0], &[2.0], &[0.5]] },
        Probe { x: &[-6.0], args: &[&[1.0], &[0.8], &[2.0]] },
        Probe { x: &[40.0], args: &[&[1.0], &[2.0], &[0.3]] },
    ],
};
