//! What several distributions share: pieces of tail probabilities, and the slopes of location and scale.

use super::jets;
use crate::facts::{Jet, known};
use crate::graph::{BuildError, Builder, NodeId};
use crate::num::elementary as el;
use crate::num::real::Real;
use crate::num::special as sf;
use crate::ops::scalar::{Facts, scalar_row};

/// log π
pub(super) const LN_PI: f64 = 1.144_729_885_849_400_2;
/// log √(2/π)
pub(super) const LN_SQRT_2_OVER_PI: f64 = -0.225_791_352_644_727_44;

scalar_row! {
    MINUS_LOG = "minus_log"(sigma), "-log sigma";
    value -sigma.ln();
    slopes(_y) [-sigma.recip()];
    probes [&[0.3], &[1e-6], &[1e6]];
    facts Facts::with_log(|a, _| jets::minus_log(a[0], 0.0), |t, _| jets::minus_log_of_exp(t[0], 0.0))
}

scalar_row! {
    SHAPE_LOG = "shape_log"(alpha), "log alpha";
    value alpha.ln();
    slopes(_y) [alpha.recip()];
    probes [&[0.3], &[1e-6], &[1e6]];
    facts Facts::with_log(|a, _| known::log(a[0]), |t, _| Some(Jet::identity(t[0])))
}

/// Slopes in (x, mu, sigma) of a function of z = (x - mu) / sigma alone, whose slope in z is `dz`.
#[inline(always)]
pub(super) fn location_scale<T: Real>(dz: T, z: T, sigma: T) -> [T; 3] {
    let g = dz / sigma;
    [g, -g, -(g * z)]
}

/// Slopes in (x, sigma) of a function of z = x / sigma alone, whose slope in z is `dz`.
#[inline(always)]
pub(super) fn scale_only<T: Real>(dz: T, z: T, sigma: T) -> [T; 2] {
    let g = dz / sigma;
    [g, -(g * z)]
}

/// z + φ(z) / Φ(z), the slope of log Φ(z) + z²/2.
#[inline(always)]
pub(super) fn excess<T: Real>(z: T) -> T {
    z.lift1(sf::mills_excess, |z| 1.0 - sf::phi_ratio(z) * sf::mills_excess(z))
}

/// log(1 - exp(-e^t)), accurate for every t.
#[inline(always)]
pub(super) fn log1m_exp_exp<T: Real>(t: T) -> T {
    let e = t.exp();
    // log((1 - exp(-e)) / e) = -e/2 + e²/24 - e⁴/2880 ...
    let low = t + e * (e.scale(1.0 / 24.0).shift(-0.5));
    t.if_less(T::splat(-12.0), low, (-e).log1m_exp())
}

/// The slope of [`log1m_exp_exp`]: e / (exp(e) - 1) with e = e^t.
#[inline(always)]
pub(super) fn log1m_exp_exp_slope<T: Real>(t: T) -> T {
    // Beyond e^6 = 403 the slope is below 1e-170; the bound keeps its own slope finite.
    let t = t.min(T::splat(6.0));
    let e = t.exp();
    let low = e * (e.scale(1.0 / 12.0).shift(-0.5)) + T::one();
    t.if_less(T::splat(-12.0), low, e / e.expm1())
}

/// log(1 - e^-v) for v > 0 written for its slope: d/dv = exp(-v - y).
#[inline(always)]
pub(super) fn log1m_exp_slope<T: Real>(v: T, y: T) -> T {
    (-(v + y)).exp()
}

/// location + scale · z
pub(super) fn shifted(
    b: &mut Builder,
    z: NodeId,
    location: NodeId,
    scale: NodeId,
) -> Result<NodeId, BuildError> {
    let spread = b.mul(scale, z)?;
    b.add2(location, spread)
}

/// log(p / (1 - p)).
pub(super) fn logit(p: f64) -> f64 {
    sf::logit(p)
}

/// -log(1 - p), the quantile of the standard exponential.
pub(super) fn exponential_quantile(p: f64) -> f64 {
    -el::log1p(-p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_that_are_no_numbers_have_logarithms() {
        for (z, tolerance) in
            [(0.5_f64, 1e-15), (1e100, 1e-15), (1e153, 1e-15), (1e200, 1e-15), (-3e290, 1e-15)]
        {
            let (log, slope) = z.log1p_square();
            let truth = if z.abs() < 1e8 { (z * z).ln_1p() } else { 2.0 * z.abs().ln() };
            assert!((log - truth).abs() <= tolerance * truth.max(1.0), "{z}: {log}");
            let truth = if z.abs() < 1e8 { 2.0 * z / (1.0 + z * z) } else { 2.0 / z };
            assert!((slope - truth).abs() <= tolerance * truth.abs(), "{z}: {slope}");
        }
    }
}
