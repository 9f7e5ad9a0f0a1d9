//! The rising factorial relative to a power, a^(x) / a^x = Γ(a + x) / (Γ(a) a^x), its slopes for any size of
//! a, and the beta function, which it gives; for one number or a register of them.
//!
//! As a grows these tend to 1 and 0. The differences of log Γ that define them would lose everything there,
//! so from a = 10 on Stirling's series is subtracted term by term.

use super::real::{HALF_LN_2PI, Packed, Real};
use super::special as sf;

/// Below this, plain differences are accurate; above it the asymptotic series are.
const LARGE: f64 = 10.0;

/// Whether there are lanes with a below [`LARGE`], and others: what nobody has is not computed. Lanes where
/// nothing rises are neither.
#[inline(always)]
fn sides<T: Packed>(x: T, a: T) -> (bool, bool) {
    // Loops, here and below: what iterators and closures call is not compiled for the registers at hand.
    let (mut below, mut above, mut i) = (false, false, 0);
    while i < T::WIDTH {
        let (rises, small) = (x.lane(i) != 0.0, a.lane(i) < LARGE);
        below |= rises && small;
        above |= rises && !small;
        i += 1;
    }
    (below, above)
}

/// log(1 + u) - u for u > -1, to full relative accuracy also near 0.
#[inline(always)]
pub fn log1pmx<T: Real>(u: T) -> T {
    // With s = u / (2 + u): log(1 + u) = 2 artanh s, and u = 2s + s u, so the difference is -s u + 2 (s³/3 +
    // s⁵/5 + …).
    let s = u / u.shift(2.0);
    let z = s.square();
    let series = polynomial(const { &odd_inverses() }, z);
    T::splat(0.3).if_less(u.abs(), u.log1p() - u, (s * z * series).scale(2.0) - s * u)
}

/// 1/3, 1/5, …, 1/31.
const fn odd_inverses() -> [f64; 15] {
    let (mut c, mut k) = ([0.0; 15], 0);
    while k < 15 {
        c[k] = 1.0 / (2 * k + 3) as f64;
        k += 1;
    }
    c
}

/// A polynomial, lowest coefficient first.
#[inline(always)]
fn polynomial<T: Real, const N: usize>(coefficients: &[f64; N], x: T) -> T {
    let (mut sum, mut k) = (T::splat(coefficients[N - 1]), N - 1);
    while k > 0 {
        k -= 1;
        sum = (sum * x).shift(coefficients[k]);
    }
    sum
}

/// A polynomial in z⁻², lowest coefficient first.
#[inline(always)]
fn series<T: Real, const N: usize>(coefficients: &[f64; N], z: T) -> T {
    polynomial(coefficients, z.square().recip())
}

/// What Stirling's formula for log Γ(z) leaves, z ≥ 10.
#[inline(always)]
fn rest<T: Real>(z: T) -> T {
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
    series(&c, z) / z
}

/// log z - 1/(2z) - ψ(z), z ≥ 10.
#[inline(always)]
fn rest1<T: Real>(z: T) -> T {
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
    series(&c, z) / z.square()
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
    series(&c, z) / (z * z * z)
}

/// log Γ(a + x) - log Γ(a) - x log a for x ≥ 0 and a > 0; it tends to 0 like x (x - 1) / (2a) as a grows.
#[inline(always)]
pub fn lrise<T: Packed>(x: T, a: T) -> T {
    let (below, above) = sides(x, a);
    let (mut y, sum) = (T::zero(), a + x);
    if below {
        y = sum.lgamma() - a.lgamma() - x * a.ln();
    }
    if above {
        let u = x / a;
        let series = a * log1pmx(u) + x.shift(-0.5) * u.log1p() + (rest(sum) - rest(a));
        y = a.if_less(T::splat(LARGE), y, series);
    }
    x.if_equal(T::zero(), T::zero(), y)
}

/// The derivative of [`Real::lrise`] in x: ψ(a + x) - log a.
#[inline(always)]
pub fn lrise_x<T: Real>(x: T, a: T) -> T {
    (a + x).digamma() - a.ln()
}

/// The derivative of [`lrise`] in a: ψ(a + x) - ψ(a) - x / a.
#[inline(always)]
pub fn lrise_a<T: Packed>(x: T, a: T) -> T {
    let (below, above) = sides(x, a);
    let (mut y, sum) = (T::zero(), a + x);
    if below {
        y = sum.digamma() - a.digamma() - x / a;
    }
    if above {
        let series = log1pmx(x / a) + (x / (a * sum)).scale(0.5) - (rest1(sum) - rest1(a));
        y = a.if_less(T::splat(LARGE), y, series);
    }
    x.if_equal(T::zero(), T::zero(), y)
}

/// The second derivative of [`lrise`] in a: ψ′(a + x) - ψ′(a) + x / a².
pub(super) fn lrise_aa(x: f64, a: f64) -> f64 {
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
pub(super) fn lrise_xa(x: f64, a: f64) -> f64 {
    sf::trigamma(a + x) - 1.0 / a
}

/// log B(a, b) for a, b > 0, to 1e-14 of the larger of |log B| and 1; exactly 0 at a = b = 1.
#[inline(always)]
pub fn lbeta<T: Packed>(a: T, b: T) -> T {
    let (small, large) = (a.min(b), a.max(b));
    let sum = a + b;
    let (below, above) = sides(T::one(), small);
    let mut y = T::zero();
    if below {
        let log = large.ln();
        y = small.if_equal(T::one(), -log, small.lgamma() - lrise(small, large) - small * log);
    }
    if above {
        // Stirling on all three: the large parts combine into logs of ratios.
        let share = small / sum;
        let rest = rest(small) + (rest(large) - rest(sum));
        let logs = small.shift(-0.5) * share.ln() + large * (-share).log1p();
        y = small.if_less(T::splat(LARGE), y, (rest - large.ln().scale(0.5)).shift(HALF_LN_2PI) + logs);
    }
    y
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
                // Relative to the natural size of each, x²/a, x²/a², x²/a³; for small a to the terms that are
                // subtracted.
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
    fn the_beta_function_agrees_with_the_one_for_single_numbers() {
        for a in [1e-3, 0.4, 1.0, 2.0, 9.99, 10.0, 55.0, 1e4, 1e9] {
            for b in [1e-3, 0.7, 1.0, 3.5, 10.5, 300.0, 1e7] {
                let (got, want) = (lbeta(a, b), sf::lbeta(a, b));
                assert!(
                    (got - want).abs() < 1e-14 * want.abs().max(1.0),
                    "a {a} b {b}: {got} against {want}"
                );
            }
        }
        assert_eq!(lbeta(1.0, 1.0), 0.0);
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
