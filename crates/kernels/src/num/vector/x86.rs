//! The registers of SSE2, AVX2 and AVX-512.
//!
//! The methods may only run where `dispatch` has found the instruction set; everything is inlined into
//! functions that are compiled for it.

use super::{ONE_BITS, SQRT_HALF_BITS, TWO_52, Vector};
use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Two lanes of SSE2, which every x86-64 processor has.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Wide2(pub __m128d);

/// Four lanes of AVX2.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Wide4(pub __m256d);

/// Eight lanes of AVX-512.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Wide8(pub __m512d);

/// Runs instructions on registers. All that they ask for is a processor that has them.
macro_rules! intrinsic {
    ($call:expr) => {{
        // SAFETY: every x86-64 processor has SSE2; registers of AVX2 and AVX-512 are made only in work that
        // `dispatch` runs on them, after it has found the features of that level.
        unsafe { $call }
    }};
}

/// One register type, from the names of its instructions.
macro_rules! register {
    (
        $t:ident, add: $add:ident, sub: $sub:ident, mul: $mul:ident, div: $div:ident, sqrt: $sqrt:ident,
        min: $min:ident, max: $max:ident, set: $set:ident, and: $and:ident, andnot: $andnot:ident,
        or: $or:ident, xor: $xor:ident,
        to_bits: $to_bits:ident, from_bits: $from_bits:ident, set_bits: $set_bits:ident,
        add_bits: $add_bits:ident, sub_bits: $sub_bits:ident, or_bits: $or_bits:ident,
        shift_left: $left:ident, shift_right: $right:ident,
        $(mul_add: $mul_add:ident, less_product: $less_product:ident,)?
        $(times_two_to: $times_two_to:ident,)?
        less: $less:expr, equal: $equal:expr, odd: $odd:expr, ordinary: $ordinary:expr
    ) => {
        register!(@operator $t, Add, add, $add);
        register!(@operator $t, Sub, sub, $sub);
        register!(@operator $t, Mul, mul, $mul);
        register!(@operator $t, Div, div, $div);

        impl Neg for $t {
            type Output = $t;
            #[inline(always)]
            fn neg(self) -> $t {
                $t(intrinsic!($xor(self.0, $set(-0.0))))
            }
        }

        impl Vector for $t {
            #[inline(always)]
            fn splat(x: f64) -> $t {
                $t(intrinsic!($set(x)))
            }
            #[inline(always)]
            fn sqrt(self) -> $t {
                $t(intrinsic!($sqrt(self.0)))
            }
            #[inline(always)]
            fn abs(self) -> $t {
                $t(intrinsic!($andnot($set(-0.0), self.0)))
            }
            #[inline(always)]
            fn copysign(self, sign: $t) -> $t {
                $t(intrinsic!({
                    let mask = $set(-0.0);
                    $or($andnot(mask, self.0), $and(mask, sign.0))
                }))
            }
            #[inline(always)]
            fn if_less(self, b: $t, yes: $t, no: $t) -> $t {
                $t(intrinsic!($less(self.0, b.0, yes.0, no.0)))
            }
            #[inline(always)]
            fn if_equal(self, b: $t, yes: $t, no: $t) -> $t {
                $t(intrinsic!($equal(self.0, b.0, yes.0, no.0)))
            }
            $(
                #[inline(always)]
                fn mul_add(self, a: $t, b: $t) -> $t {
                    $t(intrinsic!($mul_add(self.0, a.0, b.0)))
                }
                #[inline(always)]
                fn less_product(self, a: $t, b: $t) -> $t {
                    $t(intrinsic!($less_product(a.0, b.0, self.0)))
                }
            )?
            // Both instructions give their second argument where either is NaN, or both are zero.
            #[inline(always)]
            fn at_least(self, low: $t) -> $t {
                $t(intrinsic!($max(low.0, self.0)))
            }
            #[inline(always)]
            fn at_most(self, high: $t) -> $t {
                $t(intrinsic!($min(high.0, self.0)))
            }
            $(
                #[inline(always)]
                fn times_two_to(self, k: $t) -> $t {
                    $t(intrinsic!($times_two_to(self.0, k.0)))
                }
            )?
            #[inline(always)]
            fn two_to(shifted: $t) -> $t {
                $t(intrinsic!({
                    let bits = $left::<52>($to_bits(shifted.0));
                    $from_bits($add_bits(bits, $set_bits(ONE_BITS as i64)))
                }))
            }
            #[inline(always)]
            fn split(self) -> ($t, $t, $t) {
                intrinsic!({
                    let bits = $to_bits(self.0);
                    // Exponent field of self / √½ as an integer: 1023 + k.
                    let raised = $add_bits(bits, $set_bits((ONE_BITS - SQRT_HALF_BITS) as i64));
                    let biased = $right::<52>(raised);
                    let k = $from_bits($or_bits(biased, $set_bits(TWO_52.to_bits() as i64)));
                    let k = $sub(k, $set(TWO_52 + 1023.0));
                    let scaled = $sub_bits(bits, $left::<52>(biased));
                    let m = $from_bits($add_bits(scaled, $set_bits(ONE_BITS as i64)));
                    let inverse = $from_bits($left::<52>($sub_bits($set_bits(2046), biased)));
                    ($t(m), $t(k), $t(inverse))
                })
            }
            #[inline(always)]
            fn all_ordinary(self) -> bool {
                intrinsic!($ordinary(self.0))
            }
            #[inline(always)]
            fn if_odd(shifted: $t, yes: $t, no: $t) -> $t {
                $t(intrinsic!($odd($to_bits(shifted.0), yes.0, no.0)))
            }
        }
    };
    (@operator $t:ident, $trait:ident, $method:ident, $f:ident) => {
        impl $trait for $t {
            type Output = $t;
            #[inline(always)]
            fn $method(self, o: $t) -> $t {
                $t(intrinsic!($f(self.0, o.0)))
            }
        }
    };
}

register! {
    Wide2, add: _mm_add_pd, sub: _mm_sub_pd, mul: _mm_mul_pd, div: _mm_div_pd, sqrt: _mm_sqrt_pd,
    min: _mm_min_pd, max: _mm_max_pd, set: _mm_set1_pd, and: _mm_and_pd, andnot: _mm_andnot_pd, or: _mm_or_pd,
    xor: _mm_xor_pd,
    to_bits: _mm_castpd_si128, from_bits: _mm_castsi128_pd, set_bits: _mm_set1_epi64x,
    add_bits: _mm_add_epi64, sub_bits: _mm_sub_epi64, or_bits: _mm_or_si128,
    shift_left: _mm_slli_epi64, shift_right: _mm_srli_epi64,
    less: less_128, equal: equal_128, odd: odd_128, ordinary: ordinary_128
}

register! {
    Wide4, add: _mm256_add_pd, sub: _mm256_sub_pd, mul: _mm256_mul_pd, div: _mm256_div_pd,
    sqrt: _mm256_sqrt_pd,
    min: _mm256_min_pd, max: _mm256_max_pd, set: _mm256_set1_pd, and: _mm256_and_pd, andnot: _mm256_andnot_pd,
    or: _mm256_or_pd, xor: _mm256_xor_pd,
    to_bits: _mm256_castpd_si256, from_bits: _mm256_castsi256_pd, set_bits: _mm256_set1_epi64x,
    add_bits: _mm256_add_epi64, sub_bits: _mm256_sub_epi64, or_bits: _mm256_or_si256,
    shift_left: _mm256_slli_epi64, shift_right: _mm256_srli_epi64, mul_add: _mm256_fmadd_pd,
    less_product: _mm256_fnmadd_pd,
    less: less_256, equal: equal_256, odd: odd_256, ordinary: ordinary_256
}

register! {
    Wide8, add: _mm512_add_pd, sub: _mm512_sub_pd, mul: _mm512_mul_pd, div: _mm512_div_pd,
    sqrt: _mm512_sqrt_pd,
    min: _mm512_min_pd, max: _mm512_max_pd, set: _mm512_set1_pd, and: _mm512_and_pd, andnot: _mm512_andnot_pd,
    or: _mm512_or_pd, xor: _mm512_xor_pd,
    to_bits: _mm512_castpd_si512, from_bits: _mm512_castsi512_pd, set_bits: _mm512_set1_epi64,
    add_bits: _mm512_add_epi64, sub_bits: _mm512_sub_epi64, or_bits: _mm512_or_si512,
    shift_left: _mm512_slli_epi64, shift_right: _mm512_srli_epi64, mul_add: _mm512_fmadd_pd,
    less_product: _mm512_fnmadd_pd,
    times_two_to: _mm512_scalef_pd,
    less: less_512, equal: equal_512, odd: odd_512, ordinary: ordinary_512
}

#[inline(always)]
unsafe fn blend_128(mask: __m128d, yes: __m128d, no: __m128d) -> __m128d {
    intrinsic!(_mm_or_pd(_mm_and_pd(mask, yes), _mm_andnot_pd(mask, no)))
}
#[inline(always)]
unsafe fn less_128(a: __m128d, b: __m128d, yes: __m128d, no: __m128d) -> __m128d {
    intrinsic!(blend_128(_mm_cmplt_pd(a, b), yes, no))
}
#[inline(always)]
unsafe fn equal_128(a: __m128d, b: __m128d, yes: __m128d, no: __m128d) -> __m128d {
    intrinsic!(blend_128(_mm_cmpeq_pd(a, b), yes, no))
}
#[inline(always)]
unsafe fn odd_128(bits: __m128i, yes: __m128d, no: __m128d) -> __m128d {
    intrinsic!({
        // 0 - (the lowest bit) is all ones where it is set.
        let odd = _mm_sub_epi64(_mm_setzero_si128(), _mm_and_si128(bits, _mm_set1_epi64x(1)));
        blend_128(_mm_castsi128_pd(odd), yes, no)
    })
}

#[inline(always)]
unsafe fn less_256(a: __m256d, b: __m256d, yes: __m256d, no: __m256d) -> __m256d {
    intrinsic!(_mm256_blendv_pd(no, yes, _mm256_cmp_pd::<_CMP_LT_OQ>(a, b)))
}
#[inline(always)]
unsafe fn equal_256(a: __m256d, b: __m256d, yes: __m256d, no: __m256d) -> __m256d {
    intrinsic!(_mm256_blendv_pd(no, yes, _mm256_cmp_pd::<_CMP_EQ_OQ>(a, b)))
}
#[inline(always)]
unsafe fn odd_256(bits: __m256i, yes: __m256d, no: __m256d) -> __m256d {
    // The blend looks at the top bit alone.
    intrinsic!(_mm256_blendv_pd(no, yes, _mm256_castsi256_pd(_mm256_slli_epi64::<63>(bits))))
}

#[inline(always)]
unsafe fn less_512(a: __m512d, b: __m512d, yes: __m512d, no: __m512d) -> __m512d {
    intrinsic!(_mm512_mask_blend_pd(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b), no, yes))
}
#[inline(always)]
unsafe fn equal_512(a: __m512d, b: __m512d, yes: __m512d, no: __m512d) -> __m512d {
    intrinsic!(_mm512_mask_blend_pd(_mm512_cmp_pd_mask::<_CMP_EQ_OQ>(a, b), no, yes))
}
#[inline(always)]
unsafe fn odd_512(bits: __m512i, yes: __m512d, no: __m512d) -> __m512d {
    intrinsic!(_mm512_mask_blend_pd(_mm512_test_epi64_mask(bits, _mm512_set1_epi64(1)), no, yes))
}

#[inline(always)]
unsafe fn ordinary_128(x: __m128d) -> bool {
    intrinsic!({
        let (low, high) = (_mm_set1_pd(f64::MIN_POSITIVE), _mm_set1_pd(f64::INFINITY));
        _mm_movemask_pd(_mm_and_pd(_mm_cmple_pd(low, x), _mm_cmplt_pd(x, high))) == 3
    })
}
#[inline(always)]
unsafe fn ordinary_256(x: __m256d) -> bool {
    intrinsic!({
        let (low, high) = (_mm256_set1_pd(f64::MIN_POSITIVE), _mm256_set1_pd(f64::INFINITY));
        let (above, below) = (_mm256_cmp_pd::<_CMP_LE_OQ>(low, x), _mm256_cmp_pd::<_CMP_LT_OQ>(x, high));
        _mm256_movemask_pd(_mm256_and_pd(above, below)) == 15
    })
}
#[inline(always)]
unsafe fn ordinary_512(x: __m512d) -> bool {
    intrinsic!({
        let (low, high) = (_mm512_set1_pd(f64::MIN_POSITIVE), _mm512_set1_pd(f64::INFINITY));
        let above = _mm512_cmp_pd_mask::<_CMP_LE_OQ>(low, x);
        _mm512_mask_cmp_pd_mask::<_CMP_LT_OQ>(above, x, high) == 255
    })
}
