//! The modified Bessel functions I₀ and I₁, scaled, and the von Mises distribution that needs them.

use super::quadrature::gauss_legendre;
use std::f64::consts::PI;

/// From here on the asymptotic series is exact to the last bit.
const FAR: f64 = 30.0;

/// Σ (x²/4)^k / (k! (k + order)!) - its first term, times order! : the power series of I_order without its
/// first term.
fn series_rest(x: f64, order: f64) -> f64 {
    let q = 0.25 * x * x;
    let (mut term, mut sum) = (1.0, 0.0);
    for k in 1..200 {
        let k = f64::from(k);
        term *= q / (k * (k + order));
        sum += term;
        if term <= 1e-17 * sum {
            break;
        }
    }
    sum
}

/// √(2πx) e^-x I_order(x) for x ≥ 30: Σ (-1)^k Π_{j ≤ k} (4 order² - (2j-1)²) / (8 j x).
fn asymptotic(x: f64, order: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..40 {
        let k = f64::from(k);
        term *= -(4.0 * order * order - (2.0 * k - 1.0).powi(2)) / (8.0 * k * x);
        sum += term;
        if term.abs() <= 1e-18 {
            break;
        }
    }
    sum
}

/// e^-|x| I₀(x), to 1e-15 relative.
pub fn bessel_i0_scaled(x: f64) -> f64 {
    let x = x.abs();
    if x < FAR {
        (1.0 + series_rest(x, 0.0)) * (-x).exp()
    } else {
        asymptotic(x, 0.0) / (2.0 * PI * x).sqrt()
    }
}

/// e^-|x| I₁(x), to 1e-15 relative.
pub fn bessel_i1_scaled(x: f64) -> f64 {
    let a = x.abs();
    let value = if a < FAR {
        0.5 * a * (1.0 + series_rest(a, 1.0)) * (-a).exp()
    } else {
        asymptotic(a, 1.0) / (2.0 * PI * a).sqrt()
    };
    if x < 0.0 { -value } else { value }
}

/// log I₀(x), to 1e-15 relative, also near 0 where it is x²/4.
pub fn log_bessel_i0(x: f64) -> f64 {
    let x = x.abs();
    if x < FAR {
        series_rest(x, 0.0).ln_1p()
    } else {
        x + asymptotic(x, 0.0).ln() - 0.5 * (2.0 * PI * x).ln()
    }
}

/// log I₁(x) for x ≥ 0, to 1e-15 of the larger of its value and 1.
pub fn log_bessel_i1(x: f64) -> f64 {
    if x < 0.0 {
        return f64::NAN;
    }
    if x < FAR {
        (0.5 * x).ln() + series_rest(x, 1.0).ln_1p()
    } else {
        x + asymptotic(x, 1.0).ln() - 0.5 * (2.0 * PI * x).ln()
    }
}

/// I₁(x) / I₀(x), the derivative of [`log_bessel_i0`] and the mean resultant length of the von Mises law.
pub fn bessel_ratio(x: f64) -> f64 {
    let a = x.abs();
    let value = if a < FAR {
        0.5 * a * (1.0 + series_rest(a, 1.0)) / (1.0 + series_rest(a, 0.0))
    } else if a.is_infinite() {
        1.0
    } else {
        asymptotic(a, 1.0) / asymptotic(a, 0.0)
    };
    if x < 0.0 { -value } else { value }
}

/// The derivative of [`bessel_ratio`], 1 - A(x)/x - A(x)², to 1e-13 relative up to x = 30 and absolutely
/// beyond.
pub fn bessel_ratio_slope(x: f64) -> f64 {
    let a = x.abs();
    if a < 1e-3 {
        // A(x) = x/2 - x³/16 + x⁵/96 - …
        return 0.5 - a * a * (3.0 / 16.0 - a * a * 5.0 / 96.0);
    }
    let ratio = bessel_ratio(a);
    1.0 - ratio / a - ratio * ratio
}

/// P(Θ ≤ θ) for the von Mises law on (-π, π) with mean 0 and concentration κ ≥ 0, to 1e-13 relative in the
/// lower tail.
///
/// Gauss and Legendre's rule on the density over panels a fraction of its width, from -π or as far down as it
/// counts.
pub fn von_mises_cdf(theta: f64, kappa: f64) -> f64 {
    if theta.is_nan() || kappa.is_nan() || kappa < 0.0 {
        return f64::NAN;
    }
    if theta <= -PI {
        return 0.0;
    }
    if theta >= PI {
        return 1.0;
    }
    if theta > 0.0 {
        return 1.0 - von_mises_cdf(-theta, kappa);
    }
    if kappa.is_infinite() {
        return if theta < 0.0 { 0.0 } else { 0.5 };
    }
    // e^{κ cos t - κ cos θ}: written by the half angles so that nothing cancels.
    let relative = |t: f64| (2.0 * kappa * (0.5 * (theta - t)).sin() * (0.5 * (theta + t)).sin()).exp();
    let width = 1.0 / kappa.max(1.0).sqrt();
    let mut low = -PI;
    if 12.0 * width < theta + PI {
        low = theta - 12.0 * width;
    }
    let panels = ((theta - low) / width).ceil().max(1.0);
    let size = (theta - low) / panels;
    let mut sum = 0.0;
    for k in 0..panels as usize {
        let right = theta - k as f64 * size;
        let part = gauss_legendre(right - size, right, relative);
        sum += part;
        if part <= 1e-17 * sum {
            break;
        }
    }
    let half = (0.5 * theta).sin();
    sum * (-2.0 * kappa * half * half).exp() / (2.0 * PI * bessel_i0_scaled(kappa))
}
