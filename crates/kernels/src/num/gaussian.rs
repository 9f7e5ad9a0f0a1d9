//! The error function and the normal cdf without branches, for one number or a register of them.
//!
//! Everything rests on erfcx(z) = e^{z²} erfc(z), which is smooth and of one size on z ≥ 0; the exponentials
//! are taken of squares that carry their rounding along, so the tails keep their relative accuracy.

use super::elementary::{exp, log_sum};
use super::real::SQRT_2PI;
use super::vector::Vector;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

/// (1 + 2z) erfcx(z) on z ≥ 0 as a polynomial in t = (z - K) / (z + K), with relative error below 6e-17.
const ERFCX: [f64; 24] = [
    1.2375126308378275,
    -0.14024059858554702,
    0.003585415485479575,
    0.08227673849014977,
    -0.10880393014246645,
    0.09230432116025894,
    -0.05869339857631061,
    0.028362277420377335,
    -0.00974657968596217,
    0.001755625843431864,
    0.000293714390578856,
    -0.00029015404203352704,
    5.164649341002877e-05,
    2.2384138525656757e-05,
    -1.1437980374495534e-05,
    -9.733875167494142e-07,
    1.7419011945194367e-06,
    -5.741076073013916e-08,
    -2.4851108650210706e-07,
    2.3398534313040898e-08,
    3.195398612057818e-08,
    -3.798189797736207e-09,
    -2.618520156503145e-09,
    3.2052623379289157e-10,
];
const K: f64 = 3.75;

/// erf(x) / x on |x| ≤ 1 as a polynomial in x², with relative error below 1e-17.
const ERF: [f64; 12] = [
    FRAC_2_SQRT_PI,
    -0.3761263890318352,
    0.112837916709442,
    -0.026866170643113415,
    0.005223977606130842,
    -0.0008548325929766244,
    0.0001205529358693695,
    -1.4924712439534814e-05,
    1.6447132699786621e-06,
    -1.6206318752969208e-07,
    1.3710988704190523e-08,
    -7.779462971761597e-10,
];

/// A polynomial whose length is a multiple of four, lowest coefficient first, as four interleaved Horner
/// chains.
#[inline(always)]
fn polynomial<V: Vector, const N: usize>(c: &[f64; N], x: V) -> V {
    let x2 = x * x;
    let x4 = x2 * x2;
    let mut chains = [V::splat(c[N - 4]), V::splat(c[N - 3]), V::splat(c[N - 2]), V::splat(c[N - 1])];
    let mut start = N - 4;
    while start > 0 {
        start -= 4;
        for r in 0..4 {
            chains[r] = chains[r].mul_add(x4, V::splat(c[start + r]));
        }
    }
    x.mul_add(x2.mul_add(chains[3], chains[1]), x2.mul_add(chains[2], chains[0]))
}

/// e^{z²} erfc(z) for z ≥ 0, to 1e-15 relative.
#[inline(always)]
pub(super) fn erfcx_positive<V: Vector>(z: V) -> V {
    // Beyond 1e100 it is 1 / (z √π) to the last bit; the quotient must not become ∞/∞.
    let far = V::splat(1e100);
    let near = far.if_less(z, far, z);
    let t = (near - V::splat(K)) / (near + V::splat(K));
    let two_z = z + z;
    let scale = V::splat(1.0) + two_z;
    polynomial(&ERFCX, t) / scale
}

/// e^{-c x²} for 0 < c ≤ 1 a power of two, with the rounding of x² made good.
#[inline(always)]
pub(super) fn exp_minus_square<V: Vector>(c: f64, x: V) -> V {
    // Beyond 60 it is 0; the clamp keeps the splitting (Dekker's) from overflowing.
    let (a, far) = (x.abs(), V::splat(60.0));
    let a = far.if_less(a, far, a);
    let t = V::splat(134_217_729.0) * a;
    let high = t - (t - a);
    let low = a - high;
    let square = a * a;
    let lost = ((high * high - square) + V::splat(2.0) * high * low) + low * low;
    let e = exp(V::splat(-c) * square);
    e.less_product(e, V::splat(c) * lost)
}

/// erfc(x), to 1e-15 relative down to its underflow.
#[inline(always)]
pub fn erfc<V: Vector>(x: V) -> V {
    let tail = erfcx_positive(x.abs()) * exp_minus_square(1.0, x);
    let far = x.if_less(V::splat(0.0), V::splat(2.0) - tail, tail);
    // Near 0 the complement is more accurate.
    let near = V::splat(1.0).less_product(x, polynomial(&ERF, x * x));
    x.abs().if_less(V::splat(0.4), near, far)
}

/// erf(x), to 5e-16 relative.
#[inline(always)]
pub fn erf<V: Vector>(x: V) -> V {
    let near = x * polynomial(&ERF, x * x);
    let tail = erfcx_positive(x.abs()) * exp_minus_square(1.0, x);
    let far = (V::splat(1.0) - tail).copysign(x);
    x.abs().if_less(V::splat(1.0), near, far)
}

/// Φ(-|x|) and its scaled form ½ erfcx(|x| / √2).
#[inline(always)]
fn tail<V: Vector>(x: V) -> (V, V) {
    let scaled = V::splat(0.5) * erfcx_positive(x.abs() * V::splat(FRAC_1_SQRT_2));
    (scaled * exp_minus_square(0.5, x), scaled)
}

/// The standard normal cdf, to 1e-15 relative in both tails.
#[inline(always)]
pub fn phi<V: Vector>(x: V) -> V {
    let (tail, _) = tail(x);
    V::splat(0.0).if_less(x, V::splat(1.0) - tail, tail)
}

/// The log of the standard normal cdf, to 1e-15 relative on the whole line.
#[inline(always)]
pub fn log_phi<V: Vector>(x: V) -> V {
    let (zero, one) = (V::splat(0.0), V::splat(1.0));
    let (tail, scaled) = tail(x);
    // Below 0: log(scaled) - x²/2. Above: log(1 - tail), with 1 - tail = ½ (1 + (1 - 2 tail)) where tail is
    // large.
    let (m, k, _) = scaled.split();
    let large = V::splat(0.29);
    let f_above = tail.if_less(large, -tail, one - (tail + tail));
    let k_above = tail.if_less(large, zero, -one);
    let f = zero.if_less(x, f_above, m - one);
    let k = zero.if_less(x, k_above, k);
    let log = log_sum(f, k);
    let y = zero.if_less(x, log, log - V::splat(0.5) * x * x);
    // NaN has not survived the bit operations.
    x.if_equal(x, y, x)
}

/// φ(x) / Φ(x), the derivative of [`log_phi`], to 1e-15 relative.
#[inline(always)]
pub fn phi_ratio<V: Vector>(x: V) -> V {
    let zero = V::splat(0.0);
    let (tail, scaled) = tail(x);
    let density = exp_minus_square(0.5, x) / V::splat(SQRT_2PI);
    let below = V::splat(1.0 / SQRT_2PI) / scaled;
    zero.if_less(x, density / (V::splat(1.0) - tail), below)
}
