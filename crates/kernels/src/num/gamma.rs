//! log Γ and its derivative without branches on x > 0, for one number or a register of them.
//!
//! Below 8 the argument is raised by 8. With w = x² + 7x the eight factors between pair off, x (x+1) … (x+7)
//! = w (w + 6) (w + 10) (w + 12), and the sum of their inverses is (2x + 7) times a quotient of polynomials
//! in w. From 8 on Stirling's series hold.

use super::elementary::ln;
use super::real::HALF_LN_2PI;
use super::vector::Vector;

/// B_{2k} / (2k (2k - 1)): the rest of Stirling's formula for log Γ, in 1/z · powers of 1/z².
const STIRLING: [f64; 9] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360360.0,
    1.0 / 156.0,
    -3617.0 / 122400.0,
    43867.0 / 244188.0,
];

/// B_{2k} / (2k): the same for ψ, in powers of 1/z².
const DIGAMMA: [f64; 9] = [
    1.0 / 12.0,
    -1.0 / 120.0,
    1.0 / 252.0,
    -1.0 / 240.0,
    1.0 / 132.0,
    -691.0 / 32760.0,
    1.0 / 12.0,
    -3617.0 / 8160.0,
    43867.0 / 14364.0,
];

const RAISE: f64 = 8.0;

#[inline(always)]
fn horner<V: Vector>(c: &[f64; 9], x: V) -> V {
    let mut sum = V::splat(c[8]);
    for k in (0..8).rev() {
        sum = sum.mul_add(x, V::splat(c[k]));
    }
    sum
}

/// The argument raised where it is below 8, and w = x² + 7x.
#[inline(always)]
fn raised<V: Vector>(x: V) -> (V, V) {
    let low = V::splat(RAISE);
    (x.if_less(low, x + low, x), x * (x + V::splat(7.0)))
}

/// log Γ(x) for x > 0, to 2e-15 of the larger of |log Γ| and 1; NaN or meaningless for x ≤ 0.
#[inline(always)]
pub fn lgamma<V: Vector>(x: V) -> V {
    let low = V::splat(RAISE);
    let (z, w) = raised(x);
    let inverse = V::splat(1.0) / z;
    let rest = inverse * horner(&STIRLING, inverse * inverse);
    // log(z⁸ / (x … (x+7))), of moderate size, instead of the difference of two large logs.
    let (z2, w6) = (z * z, w + V::splat(6.0));
    let z4 = z2 * z2;
    let ratio = (z4 * z4) / (w * w6 * (w + V::splat(10.0)) * (w + V::splat(12.0)));
    // So near 0 that log Γ(x) = -log x.
    let tiny = V::splat(1e-290);
    let log = ln(x.if_less(tiny, x, ratio));
    let offset = x.if_less(low, log - V::splat(RAISE - HALF_LN_2PI), V::splat(HALF_LN_2PI));
    let y = (x - V::splat(0.5)).mul_add(ln(z), -x) + (offset + rest);
    let y = x.if_less(tiny, -log, y);
    let infinite = V::splat(f64::INFINITY);
    x.if_equal(infinite, infinite, y)
}

/// ψ(x) for x > 0, to 1e-15 of the larger of |ψ| and 1; NaN or meaningless for x ≤ 0.
#[inline(always)]
pub fn digamma<V: Vector>(x: V) -> V {
    let (z, w) = raised(x);
    let inverse = V::splat(1.0) / z;
    let square = inverse * inverse;
    // Σ 1/(w + c) over c = 0, 6, 10, 12, as the pairs 0, 12 and 6, 10.
    let (w6, w10, w12) = (w + V::splat(6.0), w + V::splat(10.0), w + V::splat(12.0));
    let (outer, inner) = (w * w12, w6 * w10);
    let numerator = (w + w12).mul_add(inner, (w6 + w10) * outer);
    let below = (x + x + V::splat(7.0)) * (numerator / (outer * inner));
    let below = x.if_less(V::splat(RAISE), below, V::splat(0.0));
    let near = ln(z).less_product(V::splat(0.5), inverse);
    let y = near.less_product(square, horner(&DIGAMMA, square)) - below;
    // So near 0 that ψ(x) = -1/x.
    x.if_less(V::splat(1e-100), V::splat(-1.0) / x, y)
}
