//! Elementary functions without branches, for one number or a register of them.
//!
//! Each is made of additions, multiplications, divisions, bit operations and selects: no table, no call. The same bits come
//! out for one number and for eight lanes. Processors without fused multiply-add round a product before it is added, so theirs may
//! differ in the last bit. Errors are given in units in the last place (ulp) against the exact value, as measured by the tests.

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

/// A plain number and a factor from √½ to √2 whose logarithm is to be added: together log x for x ≥ 0. A sum of many such needs one
/// logarithm, of a product.
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

/// The same as max(x, 0) and 1 + e^-|x|, a factor whose logarithm is to be added; and the slope: a sum of many such needs one logarithm, of
/// a product.
#[inline(always)]
pub fn log1p_exp_by_factor<V: Vector>(x: V) -> [V; 3] {
    let e = exp_of_negative(-x.abs());
    [x.at_least(V::splat(0.0)), V::splat(1.0) + e, slope_of_log1p(x, e)]
}

/// log(1 + e^x), given e = e^-|x|. This is what a logistic regression computes for every row and draw, so it does without what only the last half ulp
/// needs: the exponential is not corrected for the rounding of its argument, and log(1 + e) is not split at √2.
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
mod tests {
    use super::*;
    use crate::num::dispatch::{LaneWork, Level, View, lanes_at};
    use crate::num::gaussian;
    use crate::num::real::{F8, Real};
    use crate::num::stream::Stream;

    type Scalar = fn(f64) -> f64;

    /// Name, our function, the standard one, and how far apart they may be.
    const FUNCTIONS: [(&str, Scalar, Scalar, u64); 10] = [
        ("exp", exp, f64::exp, 2),
        ("expm1", expm1, f64::exp_m1, 2),
        ("ln", ln, f64::ln, 2),
        ("log1p", log1p, f64::ln_1p, 2),
        ("tanh", tanh, f64::tanh, 3),
        ("exp of a lane", Real::exp, f64::exp, 2),
        ("expm1 of a lane", Real::expm1, f64::exp_m1, 2),
        ("ln of a lane", Real::ln, f64::ln, 2),
        ("log1p of a lane", Real::log1p, f64::ln_1p, 2),
        ("tanh of a lane", Real::tanh, f64::tanh, 3),
    ];

    /// Distance in representable numbers.
    fn ulps(a: f64, b: f64) -> u64 {
        if a == b || (a.is_nan() && b.is_nan()) {
            return 0;
        }
        let order =
            |x: f64| if x < 0.0 { -((x.to_bits() & (u64::MAX >> 1)) as i64) } else { x.to_bits() as i64 };
        order(a).abs_diff(order(b))
    }

    /// The standard library is within 1 ulp of the truth, so we are within 1 more than what is asserted here; the exact
    /// errors are held by `tests/special.rs`.
    #[test]
    fn close_to_the_standard_library_on_dense_grids() {
        let mut stream = Stream::new(7, 0, 0);
        for (name, ours, theirs, apart) in FUNCTIONS {
            for _ in 0..200_000 {
                let u = stream.uniform();
                let (wide, near, bits) = (2000.0 * u - 1000.0, 4.0 * u - 2.0, f64::from_bits(stream.bits()));
                for x in [wide, near, wide.abs().sqrt(), bits, near * 1e-8] {
                    let (got, expected) = (ours(x), theirs(x));
                    assert!(ulps(got, expected) <= apart, "{name}({x:e}) = {got:e} against {expected:e}");
                }
            }
        }
    }

    #[test]
    fn special_values() {
        let inf = f64::INFINITY;
        let tiny = f64::from_bits(3);
        for (name, ours, theirs, _) in FUNCTIONS {
            for x in [
                0.0,
                -0.0,
                1.0,
                -1.0,
                inf,
                -inf,
                f64::NAN,
                tiny,
                -tiny,
                f64::MAX,
                f64::MIN,
                f64::MIN_POSITIVE,
            ] {
                let (got, expected) = (ours(x), theirs(x));
                assert!(ulps(got, expected) <= 1, "{name}({x:e}) = {got:e} against {expected:e}");
                assert!(
                    expected != 0.0 || got.is_sign_negative() == expected.is_sign_negative(),
                    "{name}({x:e})"
                );
            }
        }
        assert_eq!(exp(-745.2), 0.0);
        assert!(exp(-745.1) > 0.0 && exp(709.78).is_finite() && exp(709.79) == inf);
        assert_eq!((inv_logit(inf), inv_logit(-inf), inv_logit(0.0)), (1.0, 0.0, 0.5));
        assert_eq!((log1p_exp(inf), log1p_exp(-inf), log1p_exp(1e300)), (inf, 0.0, 1e300));
        assert!(log1p_exp(f64::NAN).is_nan() && inv_logit(f64::NAN).is_nan());
    }

    #[test]
    fn value_and_slope_together_are_those_by_themselves() {
        let mut stream = Stream::new(9, 0, 0);
        for round in 0..200_000 {
            let x = stream.normal() * [0.001, 1.0, 10.0, 300.0][round % 4];
            let (value, slope) = log1p_exp_and_slope(x);
            assert!(ulps(value, log1p_exp(x)) <= 3, "log1p_exp({x:e})");
            assert!(ulps(slope, inv_logit(x)) <= 3, "inv_logit({x:e})");
        }
        let inf = f64::INFINITY;
        for (x, expected) in [(inf, (inf, 1.0)), (-inf, (0.0, 0.0)), (0.0, (std::f64::consts::LN_2, 0.5))] {
            assert_eq!(log1p_exp_and_slope(x), expected);
        }
        let (value, slope) = log1p_exp_and_slope(f64::NAN);
        assert!(value.is_nan() && slope.is_nan());
    }

    #[test]
    fn logarithm_and_reciprocal_together_are_those_by_themselves() {
        let mut stream = Stream::new(10, 0, 0);
        for _ in 0..200_000 {
            let (bits, near) = (f64::from_bits(stream.bits() >> 1), 3.0 * stream.uniform());
            for x in [bits, near, 1.0 + 1e-3 * stream.normal(), near * 1e-9] {
                let (log, recip) = ln_and_recip(x);
                assert!(ulps(log, ln(x)) <= 2, "ln({x:e}) = {log:e} against {:e}", ln(x));
                assert!(ulps(recip, 1.0 / x) <= 2, "1 / {x:e} = {recip:e} against {:e}", 1.0 / x);
                let (log, recip) = log1p_and_recip(x);
                assert!(ulps(log, log1p(x)) <= 2, "log1p({x:e}) = {log:e} against {:e}", log1p(x));
                assert!(ulps(recip, 1.0 / (1.0 + x)) <= 2, "1 / (1 + {x:e}) = {recip:e}");
            }
        }
        let inf = f64::INFINITY;
        assert_eq!((ln_and_recip(0.0), ln_and_recip(inf)), ((-inf, inf), (inf, 0.0)));
        assert_eq!((log1p_and_recip(0.0), log1p_and_recip(inf)), ((0.0, 1.0), (inf, 0.0)));
        for x in [-1.0, f64::NAN] {
            assert!(ln_and_recip(x).0.is_nan() && ln_and_recip(x).1.is_nan());
            assert!(log1p_and_recip(x).0.is_nan() && log1p_and_recip(x).1.is_nan());
        }
    }

    struct All(F8);

    impl LaneWork<F8> for All {
        type Out = [F8; 23];
        #[inline(always)]
        fn run<U: Real>(self, view: View<F8, U>) -> [F8; 23] {
            let x = view.value(self.0);
            let both = x.log1p_exp_and_slope();
            let (logs, shifted) = (x.ln_and_recip(), x.log1p_and_recip());
            [
                view.back(x.exp()),
                view.back(x.expm1()),
                view.back(x.ln()),
                view.back(x.log1p()),
                view.back(x.tanh()),
                view.back(x.inv_logit()),
                view.back(x.log1p_exp()),
                view.back(x.log1m_exp()),
                view.back(x.sin()),
                view.back(x.cos()),
                view.back(x.lgamma()),
                view.back(x.digamma()),
                view.back(x.erf()),
                view.back(x.erfc()),
                view.back(x.phi()),
                view.back(x.log_phi()),
                view.back(x.phi_ratio()),
                view.back(both.0),
                view.back(both.1),
                view.back(logs.0),
                view.back(logs.1),
                view.back(shifted.0),
                view.back(shifted.1),
            ]
        }
    }

    /// The formulas for one number without fused multiply-add, and where they stand in what [`All`] gives.
    const PLAIN: [(Scalar, usize); 14] = [
        (exp, 0),
        (expm1, 1),
        (ln, 2),
        (log1p, 3),
        (tanh, 4),
        (inv_logit, 5),
        (log1p_exp, 6),
        (gaussian::erf, 12),
        (gaussian::phi, 14),
        (gaussian::log_phi, 15),
        (|x| log1p_exp_and_slope(x).0, 17),
        (|x| log1p_exp_and_slope(x).1, 18),
        (|x| ln_and_recip(x).0, 19),
        (|x| log1p_and_recip(x).1, 22),
    ];

    fn assert_same_bits(f: Scalar, x: F8, got: F8, level: Level) {
        for (x, got) in x.0.into_iter().zip(got.0) {
            let one = f(x);
            let same = one.to_bits() == got.to_bits() || (one.is_nan() && got.is_nan());
            assert!(same, "{level:?}, x = {x:e}: {one:e} against {got:e}");
        }
    }

    #[test]
    fn every_instruction_set_gives_the_bits_of_one_number() {
        let scalars: [Scalar; 23] = [
            Real::exp,
            Real::expm1,
            Real::ln,
            Real::log1p,
            Real::tanh,
            Real::inv_logit,
            Real::log1p_exp,
            Real::log1m_exp,
            Real::sin,
            Real::cos,
            Real::lgamma,
            Real::digamma,
            Real::erf,
            Real::erfc,
            Real::phi,
            Real::log_phi,
            Real::phi_ratio,
            |x| x.log1p_exp_and_slope().0,
            |x| x.log1p_exp_and_slope().1,
            |x| x.ln_and_recip().0,
            |x| x.ln_and_recip().1,
            |x| x.log1p_and_recip().0,
            |x| x.log1p_and_recip().1,
        ];
        let mut stream = Stream::new(8, 0, 0);
        for round in 0..5000 {
            let x = F8(std::array::from_fn(|_| match round % 4 {
                0 => stream.normal() * 300.0,
                1 => stream.normal(),
                2 => stream.exponential() * 8.0,
                _ => f64::from_bits(stream.bits()),
            }));
            for level in [Level::Avx2, Level::Avx512] {
                let found = lanes_at(level, All(x));
                scalars.iter().zip(found).for_each(|(f, got)| assert_same_bits(*f, x, got, level));
            }
            // Registers without fused multiply-add, which this processor may have as well: as the plain formula for one number.
            let found = lanes_at(Level::Baseline, All(x));
            for (f, k) in PLAIN {
                assert_same_bits(f, x, found[k], Level::Baseline);
            }
        }
    }
}
