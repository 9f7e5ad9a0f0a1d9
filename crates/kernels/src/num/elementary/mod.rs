//! Elementary functions without branches, for one number or a register of them.
//!
//! Each is made of additions, multiplications, divisions, bit operations and selects: no table, no call. The
//! same bits come out for one number and for eight lanes. Processors without fused multiply-add round a
//! product before it is added, so theirs may differ in the last bit. Errors are given in units in the last
//! place (ulp) against the exact value, as measured by the tests.

use super::vector::Vector;
use std::f64::consts::LOG2_E;

/// log 2 rounded down to 42 bits, so that its product with any exponent is exact.
const LN2_HI: f64 = 0.693_147_180_559_890_3;
/// log 2 - LN2_HI
const LN2_LO: f64 = 5.497_923_018_708_371e-14;
/// 1.5 · 2^52: adding it rounds to an integer, which then stands in the low bits.
pub(crate) const ROUND: f64 = 6_755_399_441_055_744.0;
/// 2^54, the factor that lifts subnormal numbers into the normal range.
const TWO_54: f64 = 18_014_398_509_481_984.0;

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

/// The same on |s| ≤ 1/3, where 1 + f goes up to 2: |error · s²| < 2^-53.1, against a value of 2.
const LOG_TO_TWO: [f64; 9] = [
    0.666_666_666_666_778_8,
    0.399_999_999_959_977_04,
    0.285_714_290_631_760_07,
    0.222_221_926_551_727_48,
    0.181_828_207_221_739_5,
    0.153_641_922_344_006_64,
    0.135_872_449_636_592_45,
    0.098_983_120_508_742_93,
    0.177_488_421_198_269_63,
];

/// A polynomial, lowest coefficient first, as two interleaved Horner chains.
#[inline(always)]
fn polynomial<V: Vector, const N: usize>(c: &[f64; N], x: V) -> V {
    let x2 = x * x;
    let last = N - 1;
    let (mut even, mut odd) = match last % 2 {
        0 => (V::splat(c[last]), V::splat(c[last - 1])),
        _ => (V::splat(c[last - 1]), V::splat(c[last])),
    };
    let mut i = last - 1;
    while i > 0 {
        i -= 1;
        if i.is_multiple_of(2) {
            even = even.mul_add(x2, V::splat(c[i]));
        } else {
            odd = odd.mul_add(x2, V::splat(c[i]));
        }
    }
    x.mul_add(odd, even)
}

/// Writes x = k log 2 + r with |r| ≤ ½ log 2 and gives k and e^r - 1.
#[inline(always)]
fn reduced_expm1<V: Vector>(x: V) -> (V, V) {
    let round = V::splat(ROUND);
    let k = x.mul_add(V::splat(LOG2_E), round) - round;
    let high = x.less_product(k, V::splat(LN2_HI));
    let r = high.less_product(k, V::splat(LN2_LO));
    let lost = (high - r).less_product(k, V::splat(LN2_LO));
    (k, r + (r * r).mul_add(polynomial(&EXP, r), lost))
}

/// The argument cut off at `low` and `high`; NaN passes.
#[inline(always)]
fn clamp<V: Vector>(x: V, low: f64, high: f64) -> V {
    x.at_most(V::splat(high)).at_least(V::splat(low))
}

/// e^x. At most 1 ulp; overflows to infinity above 709.78, underflows gradually to 0 below -745.13.
#[inline(always)]
pub fn exp<V: Vector>(x: V) -> V {
    let (k, p) = reduced_expm1(clamp(x, -746.0, 710.0));
    (V::splat(1.0) + p).times_two_to(k)
}

/// e^x - 1. At most 2 ulp, also near 0.
#[inline(always)]
pub fn expm1<V: Vector>(x: V) -> V {
    let (k, p) = reduced_expm1(clamp(x, -40.0, 710.0));
    // 2^k (p + 1 - 2^-k); for k > 60 the last term does not count, and 60 keeps its exponent in range.
    let limit = V::splat(60.0);
    let small = V::two_to(V::splat(ROUND) - k.at_most(limit));
    let y = ((V::splat(1.0) - small) + p).times_two_to(k);
    keep_tiny(x, y)
}

/// x itself where it is so small that f(x) = x: keeps subnormal numbers and the sign of zero.
#[inline(always)]
fn keep_tiny<V: Vector>(x: V, y: V) -> V {
    x.abs().if_less(V::splat(1e-300), x, y)
}

/// log(1 + f) + k log 2 for f in [√½ - 1, √2 - 1].
#[inline(always)]
pub(super) fn log_sum<V: Vector>(f: V, k: V) -> V {
    log_sum_by(f, f / (V::splat(2.0) + f), k)
}

/// The same for m = 1 + f, and 2^-k / m, with one division for both.
#[inline(always)]
fn log_sum_and_recip<V: Vector>(m: V, f: V, k: V) -> (V, V) {
    let two = V::splat(2.0) + f;
    let inverse = V::splat(1.0) / (m * two);
    (log_sum_by(f, f * (m * inverse), k), (two * inverse).times_two_to(-k))
}

/// log(1 + f) + k log 2, where s = f / (2 + f) is at hand; its error counts for a sixteenth.
#[inline(always)]
fn log_sum_by<V: Vector>(f: V, s: V, k: V) -> V {
    let z = s * s;
    let rest = z * polynomial(&LOG, z);
    // log(1 + f) = f - s (f - rest) would lose a bit where f is large: the form with ½f² keeps it.
    let half_square = V::splat(0.5) * f * f;
    let gap = half_square - s.mul_add(half_square + rest, k * V::splat(LN2_LO));
    k.mul_add(V::splat(LN2_HI), f - gap)
}

/// Natural logarithm. At most 1 ulp, subnormal arguments included; ln 0 = -∞, NaN below.
#[inline(always)]
pub fn ln<V: Vector>(x: V) -> V {
    let smallest = V::splat(f64::MIN_POSITIVE);
    let u = x.if_less(smallest, x * V::splat(TWO_54), x);
    let (m, k, _) = u.split();
    let k = x.if_less(smallest, k - V::splat(54.0), k);
    // NaN and +∞ pass through: the comparison is false for NaN.
    let y = x.if_less(V::splat(f64::INFINITY), log_sum(m - V::splat(1.0), k), x);
    let y = x.if_equal(V::splat(0.0), V::splat(f64::NEG_INFINITY), y);
    x.if_less(V::splat(0.0), V::splat(f64::NAN), y)
}

/// Most |b log a| and |b| for which [`pow`] is computed here: beyond the one it may overflow, beyond the
/// other the error of the logarithm, which is about 1e-18, counts.
const MOST_POWER: f64 = 700.0;
const MOST_EXPONENT: f64 = 64.0;

/// a^b, for a positive normal number, |b| up to 64 and a result from e^-700 to e^700; elsewhere it means
/// nothing, and where that is, the second result is false. At most 2 ulp, for the logarithm has more bits
/// than a number holds.
#[inline(always)]
pub fn pow<V: Vector>(a: V, b: V) -> (V, bool) {
    let one = V::splat(1.0);
    let (m, k, _) = a.split();
    // log m = 2 s + s³ P(s²) with s = f / (2 + f), which is s + lost exactly enough.
    let f = m - one;
    let two = V::splat(2.0) + f;
    let s = f / two;
    let (product, error) = exact_product(s, two);
    let lost = (((f - product) - error) - s * (f - (two - V::splat(2.0)))) / two;
    let z = s * s;
    // k log 2 is a number, and at least as large as 2 s where it is not 0: the sum leaves a known error.
    let (whole, part) = (k * V::splat(LN2_HI), s + s);
    let (sum, error) = ordered_sum(whole, part);
    let small = lost + lost + s * z * polynomial(&LOG, z) + k * V::splat(LN2_LO);
    let (high, low) = ordered_sum(sum, error + small);
    let (power, error) = exact_product(b, high);
    let rest = error + b * low;
    let room = (V::splat(MOST_POWER) - power.abs()).at_most(V::splat(MOST_EXPONENT) - b.abs());
    let value = exp(power);
    (value.mul_add(rest, value), room.all_ordinary() && a.all_ordinary())
}

/// A sum and what rounding took from it, where the first is the larger or nothing.
#[inline(always)]
fn ordered_sum<V: Vector>(a: V, b: V) -> (V, V) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// A product and what rounding took from it, with fused multiply-add or without.
#[inline(always)]
fn exact_product<V: Vector>(a: V, b: V) -> (V, V) {
    let product = a * b;
    let ((a, a_low), (b, b_low)) = (halves(a), halves(b));
    (product, ((a * b - product) + a * b_low + a_low * b) + a_low * b_low)
}

/// A number as a sum of two with half the bits each, whose products are exact.
#[inline(always)]
fn halves<V: Vector>(x: V) -> (V, V) {
    let lifted = x * V::splat(134_217_729.0);
    let high = lifted - (lifted - x);
    (high, x - high)
}

/// log(1 + x). At most 1 ulp, also near 0; -∞ at -1, NaN below.
#[inline(always)]
pub fn log1p<V: Vector>(x: V) -> V {
    let one = V::splat(1.0);
    let (f, k) = split_one_plus(x);
    let y = x.if_less(V::splat(f64::INFINITY), log_sum(f, k), x);
    let y = x.if_equal(-one, V::splat(f64::NEG_INFINITY), keep_tiny(x, y));
    x.if_less(-one, V::splat(f64::NAN), y)
}

/// f and k with 1 + x = 2^k (1 + f), where f has what rounding loses of the sum.
#[inline(always)]
fn split_one_plus<V: Vector>(x: V) -> (V, V) {
    let one = V::splat(1.0);
    let u = one + x;
    let back = u - one;
    let lost = (one - (u - back)) + (x - back);
    let (m, k, inverse) = u.split();
    // Beyond 2^54 the lost part does not count, and near the top of the range 2^-k is not a number.
    let lost = u.if_less(V::splat(TWO_54), lost * inverse, V::splat(0.0));
    ((m - one) + lost, k)
}

/// log x and 1 / x for x ≥ 0, which share a division. At most 2 ulp each.
#[inline(always)]
pub fn ln_and_recip<V: Vector>(x: V) -> (V, V) {
    let one = V::splat(1.0);
    if x.all_ordinary() {
        let (m, k, _) = x.split();
        return log_sum_and_recip(m, m - one, k);
    }
    let (zero, infinity) = (V::splat(0.0), V::splat(f64::INFINITY));
    let smallest = V::splat(f64::MIN_POSITIVE);
    let u = x.if_less(smallest, x * V::splat(TWO_54), x);
    let (m, k, _) = u.split();
    let k = x.if_less(smallest, k - V::splat(54.0), k);
    let (log, recip) = log_sum_and_recip(m, m - one, k);
    ends(x, x.if_equal(zero, -infinity, log), x.if_equal(zero, infinity, recip))
}

/// A plain number and a factor from √½ to √2 whose logarithm is to be added: together log x for x ≥ 0. A sum
/// of many such needs one logarithm, of a product.
#[inline(always)]
pub fn ln_by_factor<V: Vector>(x: V) -> [V; 2] {
    let (m, k, _) = x.split();
    let plain = k * V::splat(std::f64::consts::LN_2);
    if x.all_ordinary() {
        return [plain, m];
    }
    // What is not ordinary has a logarithm of its own, and no factor.
    let (smallest, infinity) = (V::splat(f64::MIN_POSITIVE), V::splat(f64::INFINITY));
    let ordinary = |yes: V, no: V| x.if_less(smallest, no, x.if_less(infinity, yes, no));
    [ordinary(plain, ln(x)), ordinary(m, V::splat(1.0))]
}

/// log(1 + x) and 1 / (1 + x) for x ≥ 0, which share a division. At most 2 ulp each.
#[inline(always)]
pub fn log1p_and_recip<V: Vector>(x: V) -> (V, V) {
    let (f, k) = split_one_plus(x);
    let (log, recip) = log_sum_and_recip(V::splat(1.0) + f, f, k);
    if x.all_ordinary() { (log, recip) } else { ends(x, keep_tiny(x, log), recip) }
}

/// A logarithm and a reciprocal with what they are where x is infinite, negative or no number.
#[inline(always)]
fn ends<V: Vector>(x: V, log: V, recip: V) -> (V, V) {
    let (zero, infinity, never) = (V::splat(0.0), V::splat(f64::INFINITY), V::splat(f64::NAN));
    let beyond = x.if_equal(infinity, zero, never);
    let (log, recip) = (x.if_less(infinity, log, x), x.if_less(infinity, recip, beyond));
    (x.if_less(zero, never, log), x.if_less(zero, never, recip))
}

/// log(1 + e^x) and its slope 1 / (1 + e^-x), which share the exponential. At most 3 ulp each (2.3 seen).
#[inline(always)]
pub fn log1p_exp_and_slope<V: Vector>(x: V) -> (V, V) {
    let e = exp_of_negative(-x.abs());
    (log1p_of_exp(x, e), slope_of_log1p(x, e))
}

/// log(1 + e^x) without overflow. At most 3 ulp (2.3 seen).
#[inline(always)]
pub fn log1p_exp<V: Vector>(x: V) -> V {
    log1p_of_exp(x, exp_of_negative(-x.abs()))
}

/// The same as max(x, 0) and 1 + e^-|x|, a factor whose logarithm is to be added; and the slope: a sum of
/// many such needs one logarithm, of a product.
#[inline(always)]
pub fn log1p_exp_by_factor<V: Vector>(x: V) -> [V; 3] {
    let e = exp_of_negative(-x.abs());
    [x.at_least(V::splat(0.0)), V::splat(1.0) + e, slope_of_log1p(x, e)]
}

/// log(1 + e^x), given e = e^-|x|. This is what a logistic regression computes for every row and draw, so it
/// does without what only the last half ulp needs: the exponential is not corrected for the rounding of its
/// argument, and log(1 + e) is not split at √2.
#[inline(always)]
fn log1p_of_exp<V: Vector>(x: V, e: V) -> V {
    // log(1 + e) = 2 artanh(s) = e - s (e - (2 artanh(s) - 2s) / s)
    let s = e / (V::splat(2.0) + e);
    let z = s * s;
    x.at_least(V::splat(0.0)) + e.less_product(s, e.less_product(z, polynomial(&LOG_TO_TWO, z)))
}

/// 1 / (1 + e^-x), given e = e^-|x|.
#[inline(always)]
fn slope_of_log1p<V: Vector>(x: V, e: V) -> V {
    let one = V::splat(1.0);
    x.if_less(V::splat(0.0), e, one) / (one + e)
}

/// e^x for x ≤ 0. At most 1.3 ulp.
#[inline(always)]
fn exp_of_negative<V: Vector>(x: V) -> V {
    let (round, x) = (V::splat(ROUND), x.at_least(V::splat(-746.0)));
    let k = x.mul_add(V::splat(LOG2_E), round) - round;
    let r = x.less_product(k, V::splat(LN2_HI)).less_product(k, V::splat(LN2_LO));
    (V::splat(1.0) + (r * r).mul_add(polynomial(&EXP, r), r)).times_two_to(k)
}

/// 1 / (1 + e^-x) without overflow. At most 2 ulp in both tails (the lower one down to e^-745).
#[inline(always)]
pub fn inv_logit<V: Vector>(x: V) -> V {
    let one = V::splat(1.0);
    let e = exp(-x.abs());
    x.if_less(V::splat(0.0), e, one) / (one + e)
}

/// Hyperbolic tangent. At most 3 ulp.
#[inline(always)]
pub fn tanh<V: Vector>(x: V) -> V {
    let t = expm1(V::splat(2.0) * clamp(x.abs(), 0.0, 22.0));
    (t / (t + V::splat(2.0))).copysign(x)
}

#[cfg(test)]
mod tests;
