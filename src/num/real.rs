//! The scalar that every kernel is written for: one number, eight draws side by side, or eight draws with a tangent.
//!
//! Kernels are generic in [`Real`]. On `f64` they evaluate one point; on [`F8`] the same code evaluates eight draws in
//! SIMD lanes; on [`Dual`] it carries a directional derivative along, so the value sweep becomes forward-mode
//! differentiation and the reverse sweep becomes a Hessian-vector product.

use super::{elementary as el, special as sf};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// Number of draws in an [`F8`].
pub const LANES: usize = 8;

/// Eight draws of one quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct F8(pub [f64; LANES]);

/// Eight draws of one quantity, each with a tangent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual {
    /// Value.
    pub v: F8,
    /// Directional derivative.
    pub d: F8,
}

/// Arithmetic and functions that a kernel may use.
pub trait Real:
    Copy
    + Send
    + Sync
    + 'static
    + std::fmt::Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
    /// Number of draws held.
    const WIDTH: usize;

    /// The same number in every lane.
    fn splat(x: f64) -> Self;
    /// The value in one lane.
    fn lane(self, i: usize) -> f64;
    /// Replaces the value in one lane (its tangent, if any, becomes zero).
    fn set_lane(&mut self, i: usize, x: f64);

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
    /// x^y for x ≥ 0, or any x with y an integer constant.
    fn pow(self, y: Self) -> Self;

    /// 0
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }
    /// 1
    #[inline(always)]
    fn one() -> Self {
        Self::splat(1.0)
    }
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

/// A function of three numbers.
pub type Fn3 = fn(f64, f64, f64) -> f64;

macro_rules! f8_operator {
    ($trait:ident, $method:ident, $op:tt) => {
        impl $trait for F8 {
            type Output = F8;
            #[inline(always)]
            fn $method(mut self, other: F8) -> F8 {
                for i in 0..LANES {
                    self.0[i] = self.0[i] $op other.0[i];
                }
                self
            }
        }
    };
}
f8_operator!(Add, add, +);
f8_operator!(Sub, sub, -);
f8_operator!(Mul, mul, *);
f8_operator!(Div, div, /);

impl Neg for F8 {
    type Output = F8;
    #[inline(always)]
    fn neg(mut self) -> F8 {
        for i in 0..LANES {
            self.0[i] = -self.0[i];
        }
        self
    }
}

impl F8 {
    #[inline(always)]
    fn map(mut self, f: impl Fn(f64) -> f64) -> F8 {
        for i in 0..LANES {
            self.0[i] = f(self.0[i]);
        }
        self
    }
}

macro_rules! assign_operators {
    ($($t:ty),*) => {$(
        impl AddAssign for $t {
            #[inline(always)]
            fn add_assign(&mut self, other: $t) {
                *self = *self + other;
            }
        }
        impl SubAssign for $t {
            #[inline(always)]
            fn sub_assign(&mut self, other: $t) {
                *self = *self - other;
            }
        }
    )*};
}
assign_operators!(F8, Dual);

impl Add for Dual {
    type Output = Dual;
    #[inline(always)]
    fn add(self, o: Dual) -> Dual {
        Dual { v: self.v + o.v, d: self.d + o.d }
    }
}
impl Sub for Dual {
    type Output = Dual;
    #[inline(always)]
    fn sub(self, o: Dual) -> Dual {
        Dual { v: self.v - o.v, d: self.d - o.d }
    }
}
impl Mul for Dual {
    type Output = Dual;
    #[inline(always)]
    fn mul(self, o: Dual) -> Dual {
        Dual { v: self.v * o.v, d: self.d * o.v + self.v * o.d }
    }
}
impl Div for Dual {
    type Output = Dual;
    #[inline(always)]
    fn div(self, o: Dual) -> Dual {
        let v = self.v / o.v;
        Dual { v, d: (self.d - v * o.d) / o.v }
    }
}
impl Neg for Dual {
    type Output = Dual;
    #[inline(always)]
    fn neg(self) -> Dual {
        Dual { v: -self.v, d: -self.d }
    }
}

/// Elementary functions: the scalar function, and its derivative in terms of argument `x` and value `y`, once for all
/// three scalars.
macro_rules! functions {
    ($($name:ident = $f:expr, |$x:ident, $y:ident| $slope:expr;)*) => {
        impl Real for f64 {
            const WIDTH: usize = 1;
            #[inline(always)]
            fn splat(x: f64) -> f64 { x }
            #[inline(always)]
            fn lane(self, _: usize) -> f64 { self }
            #[inline(always)]
            fn set_lane(&mut self, _: usize, x: f64) { *self = x; }
            #[inline(always)]
            fn lift1(self, f: fn(f64) -> f64, _: fn(f64) -> f64) -> f64 { f(self) }
            #[inline(always)]
            fn lift2(self, b: f64, f: fn(f64, f64) -> f64, _: fn(f64, f64) -> f64, _: fn(f64, f64) -> f64) -> f64 { f(self, b) }
            #[inline(always)]
            fn lift3(self, b: f64, c: f64, f: Fn3, _: [Fn3; 3]) -> f64 { f(self, b, c) }
            #[inline(always)]
            fn if_less(self, b: f64, yes: f64, no: f64) -> f64 { if self < b { yes } else { no } }
            #[inline(always)]
            fn if_equal(self, b: f64, yes: f64, no: f64) -> f64 { if self == b { yes } else { no } }
            #[inline(always)]
            fn detach(self) -> f64 { self }
            #[inline(always)]
            fn pow(self, y: f64) -> f64 { self.powf(y) }
            $(#[inline(always)]
            fn $name(self) -> f64 { ($f)(self) })*
        }

        impl Real for F8 {
            const WIDTH: usize = LANES;
            #[inline(always)]
            fn splat(x: f64) -> F8 { F8([x; LANES]) }
            #[inline(always)]
            fn lane(self, i: usize) -> f64 { self.0[i] }
            #[inline(always)]
            fn set_lane(&mut self, i: usize, x: f64) { self.0[i] = x; }
            #[inline(always)]
            fn lift1(self, f: fn(f64) -> f64, _: fn(f64) -> f64) -> F8 { self.map(f) }
            #[inline(always)]
            fn lift2(self, b: F8, f: fn(f64, f64) -> f64, _: fn(f64, f64) -> f64, _: fn(f64, f64) -> f64) -> F8 {
                F8(std::array::from_fn(|i| f(self.0[i], b.0[i])))
            }
            #[inline(always)]
            fn lift3(self, b: F8, c: F8, f: Fn3, _: [Fn3; 3]) -> F8 {
                F8(std::array::from_fn(|i| f(self.0[i], b.0[i], c.0[i])))
            }
            #[inline(always)]
            fn if_less(self, b: F8, yes: F8, no: F8) -> F8 {
                F8(std::array::from_fn(|i| if self.0[i] < b.0[i] { yes.0[i] } else { no.0[i] }))
            }
            #[inline(always)]
            fn if_equal(self, b: F8, yes: F8, no: F8) -> F8 {
                F8(std::array::from_fn(|i| if self.0[i] == b.0[i] { yes.0[i] } else { no.0[i] }))
            }
            #[inline(always)]
            fn detach(self) -> F8 { self }
            #[inline(always)]
            fn pow(self, y: F8) -> F8 { F8(std::array::from_fn(|i| self.0[i].powf(y.0[i]))) }
            $(#[inline(always)]
            fn $name(self) -> F8 { self.map($f) })*
        }

        impl Real for Dual {
            const WIDTH: usize = LANES;
            #[inline(always)]
            fn splat(x: f64) -> Dual { Dual { v: F8::splat(x), d: F8::zero() } }
            #[inline(always)]
            fn lane(self, i: usize) -> f64 { self.v.0[i] }
            #[inline(always)]
            fn set_lane(&mut self, i: usize, x: f64) { self.v.0[i] = x; self.d.0[i] = 0.0; }
            fn lift1(self, f: fn(f64) -> f64, df: fn(f64) -> f64) -> Dual {
                Dual { v: self.v.map(f), d: self.v.map(df) * self.d }
            }
            fn lift2(self, b: Dual, f: fn(f64, f64) -> f64, da: fn(f64, f64) -> f64, db: fn(f64, f64) -> f64) -> Dual {
                let at = |g: fn(f64, f64) -> f64| self.v.lift2(b.v, g, g, g);
                Dual { v: at(f), d: tangent(at(da), self.d) + tangent(at(db), b.d) }
            }
            fn lift3(self, b: Dual, c: Dual, f: Fn3, df: [Fn3; 3]) -> Dual {
                let at = |g: Fn3| self.v.lift3(b.v, c.v, g, df);
                let d = tangent(at(df[0]), self.d) + tangent(at(df[1]), b.d) + tangent(at(df[2]), c.d);
                Dual { v: at(f), d }
            }
            #[inline(always)]
            fn if_less(self, b: Dual, yes: Dual, no: Dual) -> Dual {
                Dual { v: self.v.if_less(b.v, yes.v, no.v), d: self.v.if_less(b.v, yes.d, no.d) }
            }
            #[inline(always)]
            fn if_equal(self, b: Dual, yes: Dual, no: Dual) -> Dual {
                Dual { v: self.v.if_equal(b.v, yes.v, no.v), d: self.v.if_equal(b.v, yes.d, no.d) }
            }
            #[inline(always)]
            fn detach(self) -> Dual { Dual { v: self.v, d: F8::zero() } }
            fn pow(self, y: Dual) -> Dual {
                let v = self.v.pow(y.v);
                let in_x = y.v * self.v.pow(y.v.shift(-1.0));
                let in_y = v * self.v.ln();
                Dual { v, d: tangent(in_x, self.d) + tangent(in_y, y.d) }
            }
            $(#[inline(always)]
            fn $name(self) -> Dual {
                let $x = self.v;
                let $y = $x.$name();
                Dual { v: $y, d: $slope * self.d }
            })*
        }
    };
}

/// slope · tangent, where a zero tangent wins over an infinite or undefined slope.
#[inline(always)]
fn tangent(slope: F8, d: F8) -> F8 {
    d.if_equal(F8::zero(), F8::zero(), slope * d)
}

const TWO_OVER_SQRT_PI: f64 = std::f64::consts::FRAC_2_SQRT_PI;
/// √(2π)
pub const SQRT_2PI: f64 = 2.506_628_274_631_000_5;
/// ½ log 2π
pub const HALF_LN_2PI: f64 = 0.918_938_533_204_672_8;

functions! {
    exp = el::exp, |x, y| { let _ = x; y };
    ln = el::ln, |x, y| { let _ = y; x.recip() };
    log1p = el::log1p, |x, y| { let _ = y; x.shift(1.0).recip() };
    expm1 = el::expm1, |x, y| { let _ = x; y.shift(1.0) };
    sqrt = f64::sqrt, |x, y| { let _ = x; y.recip().scale(0.5) };
    sin = f64::sin, |x, y| { let _ = y; x.cos() };
    cos = f64::cos, |x, y| { let _ = y; -x.sin() };
    tan = f64::tan, |x, y| { let _ = x; y.square().shift(1.0) };
    asin = f64::asin, |x, y| { let _ = y; (F8::one() - x.square()).sqrt().recip() };
    acos = f64::acos, |x, y| { let _ = y; -(F8::one() - x.square()).sqrt().recip() };
    atan = f64::atan, |x, y| { let _ = y; x.square().shift(1.0).recip() };
    sinh = f64::sinh, |x, y| { let _ = y; x.cosh() };
    cosh = f64::cosh, |x, y| { let _ = y; x.sinh() };
    tanh = el::tanh, |x, y| { let _ = x; F8::one() - y.square() };
    lgamma = sf::lgamma, |x, y| { let _ = y; x.digamma() };
    digamma = sf::digamma, |x, y| { let _ = y; x.trigamma() };
    trigamma = sf::trigamma, |x, y| { let _ = y; x.map(sf::tetragamma) };
    erf = sf::erf, |x, y| { let _ = y; (-x.square()).exp().scale(TWO_OVER_SQRT_PI) };
    erfc = sf::erfc, |x, y| { let _ = y; (-x.square()).exp().scale(-TWO_OVER_SQRT_PI) };
    phi = sf::phi, |x, y| { let _ = y; x.square().scale(-0.5).exp().scale(1.0 / SQRT_2PI) };
    inv_phi = sf::inv_phi, |x, y| { let _ = x; y.square().scale(0.5).exp().scale(SQRT_2PI) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tangents_match_finite_differences() {
        let cases: &[(fn(Dual) -> Dual, f64)] = &[
            (Dual::exp, 0.7),
            (Dual::ln, 0.7),
            (Dual::inv_logit, -1.3),
            (Dual::log1p_exp, 2.1),
            (Dual::log1m_exp, -0.3),
            (Dual::trigamma, 1.7),
            (Dual::inv_phi, 0.2),
            (|x| x.pow(Dual::splat(2.5)), 1.4),
            (|x| x.recip().abs(), -0.6),
        ];
        for (i, (f, x)) in cases.iter().enumerate() {
            let h = 1e-6;
            let at = |x: f64| f(Dual { v: F8::splat(x), d: F8::one() });
            let expected = (at(x + h).lane(0) - at(x - h).lane(0)) / (2.0 * h);
            let got = at(*x).d.0[3];
            assert!(
                (got - expected).abs() < 1e-7 * (1.0 + expected.abs()),
                "case {i}: {got} against {expected}"
            );
        }
    }
}
