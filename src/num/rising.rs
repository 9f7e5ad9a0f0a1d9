//! The rising factorial relative to a power, a^(x) / a^x = Γ(a + x) / (Γ(a) a^x), and its slopes, for any size of a.
//!
//! As a grows these tend to 1 and 0. The differences of log Γ that define them would lose everything there, so from
//! a = 10 on Stirling's series is subtracted term by term.

use super::special as sf;

/// Below this, plain differences are accurate; above it the asymptotic series are.
const LARGE: f64 = 10.0;

/// log(1 + u) - u for u > -1, to full relative accuracy also near 0.
pub fn log1pmx(u: f64) -> f64 {
    if u.abs() > 0.3 {
        return u.ln_1p() - u;
    }
    // With s = u / (2 + u): log(1 + u) = 2 artanh s, and u = 2s + s u, so the difference is -s u + 2 (s³/3 + s⁵/5 + …).
    let s = u / (2.0 + u);
    let z = s * s;
    let series = (1..16).rev().fold(0.0, |sum, k| sum * z + 1.0 / f64::from(2 * k + 1));
    2.0 * s * z * series - s * u
}

/// A polynomial in z⁻², lowest coefficient first.
fn series<const N: usize>(coefficients: [f64; N], z: f64) -> f64 {
    let r = 1.0 / (z * z);
    coefficients.iter().rev().fold(0.0, |sum, c| sum * r + c)
}

/// What Stirling's formula for log Γ(z) leaves, z ≥ 10.
fn rest(z: f64) -> f64 {
    let c = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
        -3617.0 / 122_400.0,
    ];
    series(c, z) / z
}

/// log z - 1/(2z) - ψ(z), z ≥ 10.
fn rest1(z: f64) -> f64 {
    let c = [
        1.0 / 12.0,
        -1.0 / 120.0,
        1.0 / 252.0,
        -1.0 / 240.0,
        1.0 / 132.0,
        -691.0 / 32_760.0,
        1.0 / 12.0,
        -3617.0 / 8160.0,
    ];
    series(c, z) / (z * z)
}

/// ψ′(z) - 1/z - 1/(2z²), z ≥ 10.
fn rest2(z: f64) -> f64 {
    let c = [
        1.0 / 6.0,
        -1.0 / 30.0,
        1.0 / 42.0,
        -1.0 / 30.0,
        5.0 / 66.0,
        -691.0 / 2730.0,
        7.0 / 6.0,
        -3617.0 / 510.0,
        43_867.0 / 798.0,
    ];
    series(c, z) / (z * z * z)
}

/// log Γ(a + x) - log Γ(a) - x log a for x ≥ 0 and a > 0; it tends to 0 like x (x - 1) / (2a) as a grows.
pub fn lrise(x: f64, a: f64) -> f64 {
    if x == 0.0 {
        return 0.0;
    }
    if a < LARGE {
        return sf::lgamma(a + x) - sf::lgamma(a) - x * a.ln();
    }
    let u = x / a;
    a * log1pmx(u) + (x - 0.5) * u.ln_1p() + (rest(a + x) - rest(a))
}

/// The derivative of [`lrise`] in x: ψ(a + x) - log a.
pub fn lrise_x(x: f64, a: f64) -> f64 {
    sf::digamma(a + x) - a.ln()
}

/// The derivative of [`lrise`] in a: ψ(a + x) - ψ(a) - x / a.
pub fn lrise_a(x: f64, a: f64) -> f64 {
    if x == 0.0 {
        return 0.0;
    }
    if a < LARGE {
        return sf::digamma(a + x) - sf::digamma(a) - x / a;
    }
    log1pmx(x / a) + 0.5 * x / (a * (a + x)) - (rest1(a + x) - rest1(a))
}

/// The second derivative of [`lrise`] in a: ψ′(a + x) - ψ′(a) + x / a².
pub fn lrise_aa(x: f64, a: f64) -> f64 {
    if x == 0.0 {
        return 0.0;
    }
    if a < LARGE {
        return sf::trigamma(a + x) - sf::trigamma(a) + x / (a * a);
    }
    let (u, b) = (x / a, a + x);
    u * u / b - 0.5 * u * (2.0 * a + x) / (a * b * b) + (rest2(b) - rest2(a))
}

/// The derivative of [`lrise`] in x and a: ψ′(a + x) - 1 / a.
pub fn lrise_xa(x: f64, a: f64) -> f64 {
    sf::trigamma(a + x) - 1.0 / a
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ_{i<x} log(1 + i/a) and its derivatives, term by term: no cancellation for integer x.
    fn sums(x: u32, a: f64) -> [f64; 3] {
        let mut s = [0.0; 3];
        for i in (0..x).map(f64::from) {
            s[0] += (i / a).ln_1p();
            s[1] -= i / (a * (a + i));
            s[2] += i * (2.0 * a + i) / (a * (a + i)).powi(2);
        }
        s
    }

    #[test]
    fn rising_factorial_agrees_with_the_product() {
        for x in [1, 2, 3, 7, 40, 1000] {
            for a in [0.3, 2.0, 9.9, 10.1, 55.0, 1e3, 1e6, 1e10, 1e14] {
                let want = sums(x, a);
                let x = f64::from(x);
                let got = [lrise(x, a), lrise_a(x, a), lrise_aa(x, a)];
                // Relative to the natural size of each, x²/a, x²/a², x²/a³; for small a to the terms that are subtracted.
                let terms = if a < LARGE { sf::lgamma(a + x).abs() + 1.0 + x } else { 0.0 };
                for (k, (got, want)) in got.iter().zip(want).enumerate() {
                    let scale = want.abs() + x * x / a.powi(k as i32 + 1) + terms;
                    assert!(
                        (got - want).abs() < 4e-15 * scale,
                        "x {x} a {a} order {k}: {got} against {want}"
                    );
                }
            }
        }
    }

    #[test]
    fn log1pmx_agrees_with_its_series_and_definition() {
        for u in [1e-8f64, -1e-5, 1e-4] {
            let taylor = -u * u / 2.0 + u.powi(3) / 3.0 - u.powi(4) / 4.0 + u.powi(5) / 5.0;
            assert!((log1pmx(u) / taylor - 1.0).abs() < 1e-14);
        }
        for u in [0.29f64, 0.31, -0.29, -0.31, 5.0] {
            assert!((log1pmx(u) - (u.ln_1p() - u)).abs() < 1e-15 * (1.0 + u.abs()));
        }
    }
}
