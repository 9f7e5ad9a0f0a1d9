//! One number as a register of one lane.

use super::{ONE_BITS, SQRT_HALF_BITS, TWO_52, Vector};

impl Vector for f64 {
    #[inline(always)]
    fn splat(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> f64 {
        f64::abs(self)
    }
    #[inline(always)]
    fn copysign(self, sign: f64) -> f64 {
        f64::copysign(self, sign)
    }
    #[inline(always)]
    fn if_less(self, b: f64, yes: f64, no: f64) -> f64 {
        if self < b { yes } else { no }
    }
    #[inline(always)]
    fn if_equal(self, b: f64, yes: f64, no: f64) -> f64 {
        if self == b { yes } else { no }
    }
    #[inline(always)]
    fn two_to(shifted: f64) -> f64 {
        f64::from_bits((shifted.to_bits() << 52).wrapping_add(ONE_BITS))
    }
    #[inline(always)]
    fn split(self) -> (f64, f64, f64) {
        // Exponent field of self / √½ as an integer: 1023 + k.
        let biased = self.to_bits().wrapping_add(ONE_BITS - SQRT_HALF_BITS) >> 52;
        let k = f64::from_bits(biased | TWO_52.to_bits()) - (TWO_52 + 1023.0);
        let m = f64::from_bits(self.to_bits().wrapping_sub(biased << 52).wrapping_add(ONE_BITS));
        let inverse = f64::from_bits(2046_u64.wrapping_sub(biased) << 52);
        (m, k, inverse)
    }
    #[inline(always)]
    fn all_ordinary(self) -> bool {
        (f64::MIN_POSITIVE..f64::INFINITY).contains(&self)
    }
    #[inline(always)]
    fn if_odd(shifted: f64, yes: f64, no: f64) -> f64 {
        if shifted.to_bits() & 1 == 1 { yes } else { no }
    }
}
