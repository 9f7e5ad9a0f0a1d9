//! The scalar that every kernel is written for: one number, sixteen draws side by side, or one number with a
//! tangent.
//!
//! Kernels are generic in [`Real`]. On `f64` they evaluate one point; on [`F16`] the same code evaluates
//! sixteen draws in SIMD lanes; on [`Dual`] it carries a directional derivative along, so the value sweep
//! becomes forward-mode differentiation and the reverse sweep becomes a Hessian-vector product.

pub use super::dual::{Dual, DualOf};
pub use super::lanes::{F8, F16, Part};
pub use num_traits::{One, Zero};
use std::ops::{AddAssign, Div, Neg, Sub, SubAssign};

/// Number of lanes in an [`F8`].
pub const LANES: usize = 8;

/// The register types that stand in for a scalar type, one for each level of [`dispatch`](super::dispatch).
///
/// # Safety
/// Each must hold the same numbers in the same order and size as the type itself.
pub unsafe trait Registers {
    /// On AVX-512.
    type Avx512: Packed;
    /// On AVX2.
    type Avx2: Packed;
    /// On any processor of the target.
    type Baseline: Packed;
}

/// A [`Real`] that holds numbers, rather than the record of a formula.
pub trait Packed: Real + Registers + Send + Sync {
    /// Number of draws held.
    const WIDTH: usize;
    /// Whether it carries tangents.
    const TANGENT: bool = false;

    /// The value in one lane.
    fn lane(self, i: usize) -> f64;
    /// Replaces the value in one lane (its tangent, if any, becomes zero).
    fn set_lane(&mut self, i: usize, x: f64);

    /// The tangent in one lane; zero where none is carried.
    #[inline(always)]
    fn tangent(self, _lane: usize) -> f64 {
        0.0
    }
    /// Replaces the tangent in one lane, where one is carried.
    #[inline(always)]
    fn set_tangent(&mut self, _lane: usize, _d: f64) {}
}

/// Arithmetic and functions that a formula may use.
pub trait Real:
    Copy
    + 'static
    + std::fmt::Debug
    + Zero
    + One
    + Sub<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
    /// The same number in every lane.
    fn splat(x: f64) -> Self;

    /// `f` applied to every lane, with its derivative `df` for the tangent.
    fn lift1(self, f: fn(f64) -> f64, df: fn(f64) -> f64) -> Self;
    /// `f(self, b)` in every lane, with its two partial derivatives for the tangent.
    fn lift2(self, b: Self, f: fn(f64, f64) -> f64, da: fn(f64, f64) -> f64, db: fn(f64, f64) -> f64)
    -> Self;
    /// `f(self, b, c)` in every lane, with its three partial derivatives for the tangent.
    fn lift3(self, b: Self, c: Self, f: Fn3, df: [Fn3; 3]) -> Self;
    /// Lane by lane: `yes` where `self < b`, `no` elsewhere.
    fn if_less(self, b: Self, yes: Self, no: Self) -> Self;
    /// Lane by lane: `yes` where `self == b`, `no` elsewhere.
    fn if_equal(self, b: Self, yes: Self, no: Self) -> Self;
    /// The value without its tangent: a quantity that is constant as far as derivatives go.
    fn detach(self) -> Self;

    /// e^x
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// log(1 + x)
    fn log1p(self) -> Self;
    /// e^x - 1
    fn expm1(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Sine.
    fn sin(self) -> Self;
    /// Cosine.
    fn cos(self) -> Self;
    /// Tangent.
    fn tan(self) -> Self;
    /// Inverse sine.
    fn asin(self) -> Self;
    /// Inverse cosine.
    fn acos(self) -> Self;
    /// Inverse tangent.
    fn atan(self) -> Self;
    /// Hyperbolic sine.
    fn sinh(self) -> Self;
    /// Hyperbolic cosine.
    fn cosh(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// log Γ(x)
    fn lgamma(self) -> Self;
    /// ψ(x), the derivative of log Γ.
    fn digamma(self) -> Self;
    /// ψ′(x)
    fn trigamma(self) -> Self;
    /// Error function.
    fn erf(self) -> Self;
    /// 1 - erf(x)
    fn erfc(self) -> Self;
    /// Standard normal cdf.
    fn phi(self) -> Self;
    /// Inverse of the standard normal cdf.
    fn inv_phi(self) -> Self;
    /// Log of the standard normal cdf.
    fn log_phi(self) -> Self;
    /// Density over cdf of the standard normal, the derivative of [`Real::log_phi`].
    fn phi_ratio(self) -> Self;
    /// x^y for x ≥ 0, or any x with y an integer constant.
    fn pow(self, y: Self) -> Self;
    /// [`rising::lrise`](super::rising::lrise), the log of a rising factorial relative to a power.
    fn lrise(self, a: Self) -> Self;
    /// [`rising::lrise_a`](super::rising::lrise_a), its slope in a.
    fn lrise_a(self, a: Self) -> Self;
    /// [`rising::lbeta`](super::rising::lbeta), the log of the beta function.
    fn lbeta(self, b: Self) -> Self;

    /// self · c
    #[inline(always)]
    fn scale(self, c: f64) -> Self {
        self * Self::splat(c)
    }
    /// self + c
    #[inline(always)]
    fn shift(self, c: f64) -> Self {
        self + Self::splat(c)
    }
    /// self · a + b, rounded once where the registers can do that in one instruction, twice elsewhere: for
    /// long sums of products, where the order of rounding means nothing.
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        self * a + b
    }
    /// self + c · x, rounded as by [`Real::mul_add`].
    #[inline(always)]
    fn add_scaled(self, c: f64, x: Self) -> Self {
        Self::splat(c).mul_add(x, self)
    }
    /// x²
    #[inline(always)]
    fn square(self) -> Self {
        self * self
    }
    /// 1 / x
    #[inline(always)]
    fn recip(self) -> Self {
        Self::one() / self
    }
    /// |x|
    #[inline(always)]
    fn abs(self) -> Self {
        self.if_less(Self::zero(), -self, self)
    }
    /// The larger.
    #[inline(always)]
    fn max(self, b: Self) -> Self {
        self.if_less(b, b, self)
    }
    /// The smaller.
    #[inline(always)]
    fn min(self, b: Self) -> Self {
        b.if_less(self, b, self)
    }
    /// 1 / (1 + e^-x), without overflow.
    #[inline(always)]
    fn inv_logit(self) -> Self {
        let e = (-self.abs()).exp();
        let small = e / e.shift(1.0);
        self.if_less(Self::zero(), small, Self::one() / e.shift(1.0))
    }
    /// log(1 + e^x), without overflow.
    #[inline(always)]
    fn log1p_exp(self) -> Self {
        self.max(Self::zero()) + (-self.abs()).exp().log1p()
    }
    /// log(1 + e^x) and its slope 1 / (1 + e^-x), which share most of their work.
    #[inline(always)]
    fn log1p_exp_and_slope(self) -> (Self, Self) {
        (self.log1p_exp(), self.inv_logit())
    }
    /// max(x, 0), a factor from 1 to 2, and the slope 1 / (1 + e^-x): the first and the logarithm of the
    /// second add up to log(1 + e^x).
    #[inline(always)]
    fn log1p_exp_by_factor(self) -> [Self; 3] {
        [self.max(Self::zero()), (-self.abs()).exp().shift(1.0), self.inv_logit()]
    }
    /// A plain number and a factor near 1 whose logarithm is to be added: together log x.
    #[inline(always)]
    fn ln_by_factor(self) -> [Self; 2] {
        [self.ln(), Self::one()]
    }
    /// log x and 1 / x for x ≥ 0, which share a division where that pays.
    #[inline(always)]
    fn ln_and_recip(self) -> (Self, Self) {
        (self.ln(), self.recip())
    }
    /// log(1 + x) and 1 / (1 + x) for x ≥ 0, which share a division where that pays.
    #[inline(always)]
    fn log1p_and_recip(self) -> (Self, Self) {
        (self.log1p(), self.shift(1.0).recip())
    }
    /// log(1 + x²) and its slope 2x / (1 + x²), which share a division; for |x| up to 4e298.
    #[inline(always)]
    fn log1p_square(self) -> (Self, Self) {
        let far = Self::splat(FAR);
        let beyond = self.abs();
        let scale = far.if_less(beyond, Self::splat(NEARER), Self::one());
        let near = self * scale;
        let (log, inverse) = near.square().log1p_and_recip();
        let added = far.if_less(beyond, Self::splat(-2.0 * LN_NEARER), Self::zero());
        (log + added, near.scale(2.0) * inverse * scale)
    }
    /// log(1 - e^x) for x < 0, accurate at both ends.
    #[inline(always)]
    fn log1m_exp(self) -> Self {
        let near_zero = (-self.expm1()).ln();
        let far = (-self.exp()).log1p();
        Self::splat(-std::f64::consts::LN_2).if_less(self, near_zero, far)
    }
    /// x log y with 0 log 0 = 0.
    #[inline(always)]
    fn xlogy(self, y: Self) -> Self {
        self.if_equal(Self::zero(), Self::zero(), self * y.ln())
    }
}

/// [`Zero`] and [`One`] of a [`Packed`] without tangents: the same number in every lane.
macro_rules! zero_and_one {
    ($t:ty) => {
        impl $crate::num::real::Zero for $t {
            #[inline(always)]
            fn zero() -> $t {
                $crate::num::real::Real::splat(0.0)
            }
            #[inline(always)]
            fn is_zero(&self) -> bool {
                (0..<$t as Packed>::WIDTH).all(|i| Packed::lane(*self, i) == 0.0)
            }
        }

        impl $crate::num::real::One for $t {
            #[inline(always)]
            fn one() -> $t {
                $crate::num::real::Real::splat(1.0)
            }
        }
    };
}
pub(super) use zero_and_one;

/// A function of three numbers.
pub type Fn3 = fn(f64, f64, f64) -> f64;

/// √(2π)
pub const SQRT_2PI: f64 = 2.506_628_274_631_000_5;
/// log 2π
pub const LN_2PI: f64 = 1.837_877_066_409_345_5;
/// ½ log 2π
pub const HALF_LN_2PI: f64 = 0.918_938_533_204_672_8;

/// Beyond 2^507 what is added to z² is below its rounding; up to 2^992 z · 2^-480 has a square, larger than
/// 2^54.
const FAR: f64 = f64::from_bits((1023 + 507) << 52);
/// 2^-480
const NEARER: f64 = f64::from_bits((1023 - 480) << 52);
/// log 2^-480
const LN_NEARER: f64 = -480.0 * std::f64::consts::LN_2;
