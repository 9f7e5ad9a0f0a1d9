//! Owen's T function, for the cdf of the skew normal distribution and for bivariate normal probabilities.

use super::normal::phi;
use super::quadrature::gauss_legendre;
use std::f64::consts::PI;

/// T(h, a) = 1/(2π) ∫₀ᵃ e^{-h²(1+x²)/2} / (1 + x²) dx, to 1e-14 relative (down to its underflow).
pub fn owens_t(h: f64, a: f64) -> f64 {
    if h.is_nan() || a.is_nan() {
        return f64::NAN;
    }
    let (h, size) = (h.abs(), a.abs());
    let value = if size <= 1.0 {
        inner(h, size)
    } else if size.is_infinite() {
        0.5 * phi(-h)
    } else {
        // T(h, a) + T(ah, 1/a) = (Φ(-h) + Φ(-ah)) / 2 - Φ(-h) Φ(-ah).
        let (p, q) = (phi(-h), phi(-size * h));
        0.5 * (p + q) - p * q - inner(size * h, 1.0 / size)
    };
    if a < 0.0 { -value } else { value }
}

/// T for h ≥ 0 and 0 ≤ a ≤ 1, by Gauss and Legendre's rule over the part that counts.
fn inner(h: f64, a: f64) -> f64 {
    let scale = (-0.5 * h * h).exp() / (2.0 * PI);
    if scale == 0.0 {
        return 0.0;
    }
    let end = if a * h > 9.0 { 9.0 / h } else { a };
    let panels = if end * h > 1.5 { 4 } else { 1 };
    let size = end / f64::from(panels);
    let integrand = |x: f64| (-0.5 * (h * x) * (h * x)).exp() / (1.0 + x * x);
    let sum: f64 =
        (0..panels).map(|k| gauss_legendre(f64::from(k) * size, f64::from(k + 1) * size, integrand)).sum();
    scale * sum
}
