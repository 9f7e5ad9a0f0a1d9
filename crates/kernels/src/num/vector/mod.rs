//! Vector registers: what the elementary functions are written for, so that one formula serves one number,
//! two lanes of SSE2, four of AVX2 and eight of AVX-512. All registers of one processor give the same bits.

mod fused;
mod pair;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use fused::Fused;
pub use pair::Pair;
#[cfg(target_arch = "x86_64")]
pub use x86::{Wide2, Wide4, Wide8};

use super::elementary::ROUND;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A register of numbers and the operations that formulas without branches need.
pub trait Vector:
    Copy
    + std::fmt::Debug
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The same number in every lane.
    fn splat(x: f64) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// |x|
    fn abs(self) -> Self;
    /// The magnitude of `self` with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;
    /// Lane by lane: `yes` where `self < b`, `no` elsewhere (also where either is NaN).
    fn if_less(self, b: Self, yes: Self, no: Self) -> Self;
    /// Lane by lane: `yes` where `self == b`, `no` elsewhere.
    fn if_equal(self, b: Self, yes: Self, no: Self) -> Self;
    /// 2^k, from k + [`ROUND`](super::elementary::ROUND) for an integer-valued |k| ≤ 1022.
    fn two_to(shifted: Self) -> Self;
    /// Splits a positive normal number into m · 2^k with m in [√½, √2): gives m, k and 2^-k.
    fn split(self) -> (Self, Self, Self);
    /// Whether every lane holds a positive number that is neither subnormal nor infinite.
    fn all_ordinary(self) -> bool;
    /// self · a + b, in one instruction where the registers have it.
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        self * a + b
    }
    /// self - a · b, in one instruction where the registers have it.
    #[inline(always)]
    fn less_product(self, a: Self, b: Self) -> Self {
        self - a * b
    }
    /// The larger of the two, and `self` where that is NaN.
    #[inline(always)]
    fn at_least(self, low: Self) -> Self {
        self.if_less(low, low, self)
    }
    /// The smaller of the two, and `self` where that is NaN.
    #[inline(always)]
    fn at_most(self, high: Self) -> Self {
        high.if_less(self, high, self)
    }
    /// self · 2^k for an integer-valued |k| ≤ 2044, rounded once even where the result is subnormal.
    #[inline(always)]
    fn times_two_to(self, k: Self) -> Self {
        let round = Self::splat(ROUND);
        let shifted = k * Self::splat(0.5) + round;
        let rest = k - (shifted - round);
        self * Self::two_to(shifted) * Self::two_to(rest + round)
    }
    /// Where the integer n in n + [`ROUND`](super::elementary::ROUND) is odd: `yes`; elsewhere `no`.
    fn if_odd(shifted: Self, yes: Self, no: Self) -> Self;
}

/// The bits of √½.
const SQRT_HALF_BITS: u64 = 0x3fe6_a09e_667f_3bcd;
/// The bits of 1.
const ONE_BITS: u64 = 1023 << 52;
/// 2^52
const TWO_52: f64 = 4_503_599_627_370_496.0;
