//! Eight or sixteen draws in the registers of each instruction set, as [`Real`] scalars.

use super::lanes::{F8, F16, by_formula};
use super::real::{Fn3, Packed, Real, Registers, zero_and_one};
use super::vector::{Pair, Vector};
use super::{elementary as el, gamma, gaussian as ga, quantile, special as sf};
use std::ops::{AddAssign, SubAssign};

#[cfg(target_arch = "x86_64")]
mod types {
    use super::Pair;
    pub use crate::num::vector::Wide8 as On512;
    use crate::num::vector::{Wide2, Wide4};
    pub type On256 = Pair<Wide4>;
    pub type Plain = Pair<Pair<Wide2>>;
}

#[cfg(not(target_arch = "x86_64"))]
mod types {
    use super::Pair;
    pub type Plain = Pair<Pair<Pair<f64>>>;
    pub type On512 = Plain;
    pub type On256 = Plain;
}

use types::{On256, On512, Plain};

macro_rules! registers {
    ($($t:ty: $avx512:ty, $avx2:ty, $baseline:ty;)*) => {$(
        // SAFETY: all hold one f64, or all hold as many in the order of their lanes.
        unsafe impl Registers for $t {
            type Avx512 = $avx512;
            type Avx2 = $avx2;
            type Baseline = $baseline;
        }
    )*};
}
registers! {
    f64: f64, f64, f64;
    F8: On512, On256, Plain;
    F16: Pair<On512>, Pair<On256>, Pair<Plain>;
}

/// Functions that are written for registers: part of the kernel around them (`always`), or compiled once
/// (`never`).
macro_rules! in_registers {
    ($inline:ident: $($name:ident $f:path),*) => {$(
        #[inline($inline)]
        fn $name(self) -> Self {
            $f(self)
        }
    )*};
}

/// Functions that are computed lane by lane, by ordinary calls.
macro_rules! by_lane {
    ($($name:ident $f:path),*) => {$(
        #[inline(always)]
        fn $name(self) -> Self {
            Self::from_lanes(each(self.to_lanes(), $f))
        }
    )*};
}

/// A call for each lane, in a function of its own: it keeps the kernels around it small.
#[inline(never)]
fn each<const N: usize>(mut x: [f64; N], f: fn(f64) -> f64) -> [f64; N] {
    for x in &mut x {
        *x = f(*x);
    }
    x
}

macro_rules! lanes_of {
    ($inline:ident $lanes:literal: $($t:ty),*) => {$(
        registers!($t: $t, $t, $t;);
        zero_and_one!($t);

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

        impl $t {
            #[inline(always)]
            fn to_lanes(self) -> [f64; $lanes] {
                // SAFETY: the registers hold that many f64 and nothing else.
                unsafe { std::mem::transmute(self) }
            }
            #[inline(always)]
            fn all_positive(self) -> bool {
                let (zero, one) = (Vector::splat(0.0), Vector::splat(1.0));
                let flags: $t = Vector::if_less(zero, self, zero, one);
                flags.to_lanes() == [0.0; $lanes]
            }
            #[inline(always)]
            fn from_lanes(x: [f64; $lanes]) -> $t {
                // SAFETY: as above; every bit pattern is a number.
                unsafe { std::mem::transmute(x) }
            }
        }

        impl Packed for $t {
            const WIDTH: usize = $lanes;
            #[inline(always)]
            fn lane(self, i: usize) -> f64 {
                self.to_lanes()[i]
            }
            #[inline(always)]
            fn set_lane(&mut self, i: usize, x: f64) {
                let mut lanes = self.to_lanes();
                lanes[i] = x;
                *self = Self::from_lanes(lanes);
            }
        }

        impl Real for $t {
            by_formula!();
            #[inline(always)]
            fn splat(x: f64) -> $t {
                Vector::splat(x)
            }
            #[inline(always)]
            fn lift1(self, f: fn(f64) -> f64, _: fn(f64) -> f64) -> $t {
                Self::from_lanes(each(self.to_lanes(), f))
            }
            #[inline(always)]
            fn lift2(
                self,
                b: $t,
                f: fn(f64, f64) -> f64,
                _: fn(f64, f64) -> f64,
                _: fn(f64, f64) -> f64,
            ) -> $t {
                let (mut x, b) = (self.to_lanes(), b.to_lanes());
                for i in 0..$lanes {
                    x[i] = f(x[i], b[i]);
                }
                Self::from_lanes(x)
            }
            #[inline(always)]
            fn lift3(self, b: $t, c: $t, f: Fn3, _: [Fn3; 3]) -> $t {
                let (mut x, b, c) = (self.to_lanes(), b.to_lanes(), c.to_lanes());
                for i in 0..$lanes {
                    x[i] = f(x[i], b[i], c[i]);
                }
                Self::from_lanes(x)
            }
            #[inline(always)]
            fn if_less(self, b: $t, yes: $t, no: $t) -> $t {
                Vector::if_less(self, b, yes, no)
            }
            #[inline(always)]
            fn if_equal(self, b: $t, yes: $t, no: $t) -> $t {
                Vector::if_equal(self, b, yes, no)
            }
            #[inline(always)]
            fn detach(self) -> $t {
                self
            }
            #[inline(always)]
            fn sqrt(self) -> $t {
                Vector::sqrt(self)
            }
            #[inline(always)]
            fn mul_add(self, a: $t, b: $t) -> $t {
                Vector::mul_add(self, a, b)
            }
            #[inline($inline)]
            fn pow(self, y: $t) -> $t {
                // Each lane is what it is alone, whatever stands beside it.
                match el::pow(self, y) {
                    (value, true) => value,
                    (_, false) => self.lift2(y, Real::pow, Real::pow, Real::pow),
                }
            }
            #[inline($inline)]
            fn log1p_exp_and_slope(self) -> ($t, $t) {
                el::log1p_exp_and_slope(self)
            }
            #[inline($inline)]
            fn log1p_exp_by_factor(self) -> [$t; 3] {
                el::log1p_exp_by_factor(self)
            }
            #[inline($inline)]
            fn ln_by_factor(self) -> [$t; 2] {
                el::ln_by_factor(self)
            }
            #[inline($inline)]
            fn ln_and_recip(self) -> ($t, $t) {
                el::ln_and_recip(self)
            }
            #[inline($inline)]
            fn log1p_and_recip(self) -> ($t, $t) {
                el::log1p_and_recip(self)
            }
            #[inline($inline)]
            fn lgamma(self) -> $t {
                if self.all_positive() {
                    gamma::lgamma(self)
                } else {
                    self.lift1(Real::lgamma, Real::digamma)
                }
            }
            #[inline($inline)]
            fn digamma(self) -> $t {
                if self.all_positive() {
                    gamma::digamma(self)
                } else {
                    self.lift1(Real::digamma, Real::trigamma)
                }
            }
            in_registers! {
                $inline: exp el::exp, ln el::ln, log1p el::log1p, expm1 el::expm1, tanh el::tanh,
                inv_logit el::inv_logit, log1p_exp el::log1p_exp,
                erf ga::erf, erfc ga::erfc, phi ga::phi, log_phi ga::log_phi, phi_ratio ga::phi_ratio,
                inv_phi quantile::inv_phi
            }
            by_lane! {
                sin f64::sin, cos f64::cos, tan f64::tan, asin f64::asin, acos f64::acos, atan f64::atan,
                sinh f64::sinh, cosh f64::cosh,
                trigamma sf::trigamma
            }
        }
    )*};
}
lanes_of!(never 8: Plain);
lanes_of!(never 16: Pair<Plain>);
#[cfg(target_arch = "x86_64")]
lanes_of!(always 8: On512, On256);
#[cfg(target_arch = "x86_64")]
lanes_of!(always 16: Pair<On512>, Pair<On256>);
