//! Elementary functions without branches, so that a loop over eight lanes becomes vector instructions.
//!
//! Each is a plain `fn(f64) -> f64` made of additions, multiplications, divisions, bit operations and selects: no table,
//! no call, no fused multiply-add. The same bits come out for one number and for eight lanes, on every processor.
//! Errors are given in units in the last place (ulp) against the exact value, as measured by the tests.

use std::f64::consts::LOG2_E;

/// log 2 rounded down to 42 bits, so that its product with any exponent is exact.
const LN2_HI: f64 = 0.693_147_180_559_890_3;
/// log 2 - LN2_HI
const LN2_LO: f64 = 5.497_923_018_708_371e-14;
/// 1.5 · 2^52: adding it rounds to an integer, which then stands in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// 2^52
const TWO_52: f64 = 4_503_599_627_370_496.0;
/// 2^54, the factor that lifts subnormal numbers into the normal range.
const TWO_54: f64 = 18_014_398_509_481_984.0;
const ONE_BITS: u64 = 1023 << 52;

/// (e^r - 1 - r) / r² on |r| ≤ ½ log 2: minimax, |error · r²| < 2^-57.9.
const EXP: [f64; 10] = [
    0.500_000_000_000_001_3,
    0.166_666_666_666_667,
    0.041_666_666_666_514_44,
    0.008_333_333_333_306_743,
    0.001_388_888_894_730_927,
    0.000_198_412_699_182_665_78,
    2.480_148_960_591_171_7e-5,
    2.755_721_559_750_979e-6,
    2.763_141_030_208_822e-7,
    2.511_806_294_069_112_7e-8,
];

/// (2 artanh(s) - 2s) / s³ as a polynomial in s² on |s| ≤ 3 - 2√2: minimax, |error · s³| < 2^-61.8.
const LOG: [f64; 7] = [
    0.666_666_666_666_681,
    0.399_999_999_990_141_8,
    0.285_714_288_185_220_4,
    0.222_221_916_421_390_64,
    0.181_838_915_074_146_87,
    0.153_063_234_338_381_18,
    0.148_681_620_247_605,
];

/// A polynomial, lowest coefficient first, as two interleaved Horner chains.
#[inline(always)]
fn polynomial<const N: usize>(c: &[f64; N], x: f64) -> f64 {
    let x2 = x * x;
    let (mut even, mut odd) = (0.0, 0.0);
    let mut i = N;
    while i > 0 {
        i -= 1;
        if i % 2 == 0 {
            even = even * x2 + c[i];
        } else {
            odd = odd * x2 + c[i];
        }
    }
    even + x * odd
}

/// 2^k for an integer-valued |k| ≤ 1022.
#[inline(always)]
fn two_to(k: f64) -> f64 {
    f64::from_bits(((k + ROUND).to_bits() << 52).wrapping_add(ONE_BITS))
}

/// x · 2^k for an integer-valued |k| ≤ 2044, rounded once even where the result is subnormal.
#[inline(always)]
fn times_two_to(x: f64, k: f64) -> f64 {
    let half = (k * 0.5 + ROUND) - ROUND;
    x * two_to(half) * two_to(k - half)
}

/// Writes x = k log 2 + r with |r| ≤ ½ log 2 and gives k and e^r - 1.
#[inline(always)]
fn reduced_expm1(x: f64) -> (f64, f64) {
    let k = (x * LOG2_E + ROUND) - ROUND;
    let high = x - k * LN2_HI;
    let low = k * LN2_LO;
    let r = high - low;
    let lost = (high - r) - low;
    (k, r + (r * r * polynomial(&EXP, r) + (lost + lost * r)))
}

/// e^x. At most 1 ulp; overflows to infinity above 709.78, underflows gradually to 0 below -745.13.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let x = if x > 710.0 { 710.0 } else { x };
    let x = if x < -746.0 { -746.0 } else { x };
    let (k, p) = reduced_expm1(x);
    times_two_to(1.0 + p, k)
}

/// e^x - 1. At most 2 ulp, also near 0.
#[inline(always)]
pub fn expm1(x: f64) -> f64 {
    let t = if x > 710.0 { 710.0 } else { x };
    let t = if t < -40.0 { -40.0 } else { t };
    let (k, p) = reduced_expm1(t);
    // 2^k (p + 1 - 2^-k); for k > 60 the last term does not count, and -60 keeps its exponent in range.
    let small = two_to(-(if k > 60.0 { 60.0 } else { k }));
    let y = times_two_to((1.0 - small) + p, k);
    // Keeps the sign of zero and subnormal arguments.
    if x.abs() < 1e-300 { x } else { y }
}

/// Splits positive normal u into m · 2^k with m in [√½, √2): gives (m, k, 2^-k).
#[inline(always)]
fn split(u: f64) -> (f64, f64, f64) {
    const SQRT_HALF_BITS: u64 = 0x3fe6_a09e_667f_3bcd;
    // Exponent field of u / √½ as an integer: 1023 + k.
    let biased = u.to_bits().wrapping_add(ONE_BITS - SQRT_HALF_BITS) >> 52;
    let k = f64::from_bits(biased | TWO_52.to_bits()) - (TWO_52 + 1023.0);
    let m = f64::from_bits(u.to_bits().wrapping_sub(biased << 52).wrapping_add(ONE_BITS));
    let inverse = f64::from_bits(2046_u64.wrapping_sub(biased) << 52);
    (m, k, inverse)
}

/// log(1 + f) + k log 2 for f in [√½ - 1, √2 - 1].
#[inline(always)]
fn log_sum(f: f64, k: f64) -> f64 {
    let s = f / (2.0 + f);
    let z = s * s;
    let rest = z * polynomial(&LOG, z);
    // log(1 + f) = f - s (f - rest) would lose a bit where f is large: the form with ½f² keeps it.
    let half_square = 0.5 * f * f;
    k * LN2_HI - ((half_square - (s * (half_square + rest) + k * LN2_LO)) - f)
}

/// Natural logarithm. At most 1 ulp, subnormal arguments included; ln 0 = -∞, NaN below.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    let tiny = x < f64::MIN_POSITIVE;
    let u = if tiny { x * TWO_54 } else { x };
    let (m, k, _) = split(u);
    let k = if tiny { k - 54.0 } else { k };
    let y = log_sum(m - 1.0, k);
    // NaN and +∞ pass through; the comparisons are false for NaN.
    let y = if x < f64::INFINITY { y } else { x };
    let y = if x == 0.0 { f64::NEG_INFINITY } else { y };
    if x < 0.0 { f64::NAN } else { y }
}

/// log(1 + x). At most 1 ulp, also near 0; -∞ at -1, NaN below.
#[inline(always)]
pub fn log1p(x: f64) -> f64 {
    let u = 1.0 + x;
    let back = u - 1.0;
    let lost = (1.0 - (u - back)) + (x - back);
    let (m, k, inverse) = split(u);
    // Beyond 2^54 the lost part does not count, and near the top of the range 2^-k is not a number.
    let lost = if u < TWO_54 { lost * inverse } else { 0.0 };
    let y = log_sum((m - 1.0) + lost, k);
    let y = if x < f64::INFINITY { y } else { x };
    let y = if x.abs() < 1e-300 { x } else { y };
    let y = if x == -1.0 { f64::NEG_INFINITY } else { y };
    if x < -1.0 { f64::NAN } else { y }
}

/// log(1 + e^x) without overflow. At most 2 ulp.
#[inline(always)]
pub fn log1p_exp(x: f64) -> f64 {
    let positive = if x < 0.0 { 0.0 } else { x };
    positive + log1p(exp(-x.abs()))
}

/// 1 / (1 + e^-x) without overflow. At most 2 ulp in both tails (the lower one down to e^-745).
#[inline(always)]
pub fn inv_logit(x: f64) -> f64 {
    let e = exp(-x.abs());
    let top = if x < 0.0 { e } else { 1.0 };
    top / (1.0 + e)
}

/// Hyperbolic tangent. At most 2 ulp.
#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    let a = x.abs();
    let a = if a > 22.0 { 22.0 } else { a };
    let t = expm1(2.0 * a);
    (t / (t + 2.0)).copysign(x)
}
