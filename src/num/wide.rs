//! Eight draws in the registers of each instruction set, as [`Real`] scalars.

use super::lanes::F8;
use super::real::{Fn3, LANES, Real, Registers};
use super::vector::{Pair, Vector};
use super::{elementary as el, gamma, gaussian as ga, special as sf};
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
        // SAFETY: all hold one f64, or all hold eight in the order of their lanes.
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
}

/// Functions that are written for registers: part of the kernel around them (`always`), or compiled once (`never`).
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

/// Eight calls, in a function of its own: it keeps the kernels around it small.
#[inline(never)]
fn each(mut x: [f64; LANES], f: fn(f64) -> f64) -> [f64; LANES] {
    for x in &mut x {
        *x = f(*x);
    }
    x
}

macro_rules! eight_lanes {
    ($inline:ident: $($t:ty),*) => {$(
        registers!($t: $t, $t, $t;);

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
            fn to_lanes(self) -> [f64; LANES] {
                // SAFETY: the registers hold eight f64 and nothing else.
                unsafe { std::mem::transmute(self) }
            }
            #[inline(always)]
            fn all_positive(self) -> bool {
                let (zero, one) = (Vector::splat(0.0), Vector::splat(1.0));
                let flags: $t = Vector::if_less(zero, self, zero, one);
                flags.to_lanes() == [0.0; LANES]
            }
            #[inline(always)]
            fn from_lanes(x: [f64; LANES]) -> $t {
                // SAFETY: as above; every bit pattern is a number.
                unsafe { std::mem::transmute(x) }
            }
        }

        impl Real for $t {
            const WIDTH: usize = LANES;
            #[inline(always)]
            fn splat(x: f64) -> $t {
                Vector::splat(x)
            }
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
                for i in 0..LANES {
                    x[i] = f(x[i], b[i]);
                }
                Self::from_lanes(x)
            }
            #[inline(always)]
            fn lift3(self, b: $t, c: $t, f: Fn3, _: [Fn3; 3]) -> $t {
                let (mut x, b, c) = (self.to_lanes(), b.to_lanes(), c.to_lanes());
                for i in 0..LANES {
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
            fn pow(self, y: $t) -> $t {
                self.lift2(y, f64::powf, f64::powf, f64::powf)
            }
            #[inline($inline)]
            fn lgamma(self) -> $t {
                if self.all_positive() { gamma::lgamma(self) } else { self.lift1(Real::lgamma, Real::digamma) }
            }
            #[inline($inline)]
            fn digamma(self) -> $t {
                if self.all_positive() { gamma::digamma(self) } else { self.lift1(Real::digamma, Real::trigamma) }
            }
            in_registers! {
                $inline: exp el::exp, ln el::ln, log1p el::log1p, expm1 el::expm1, tanh el::tanh,
                inv_logit el::inv_logit, log1p_exp el::log1p_exp,
                erf ga::erf, erfc ga::erfc, phi ga::phi, log_phi ga::log_phi, phi_ratio ga::phi_ratio
            }
            by_lane! {
                sin f64::sin, cos f64::cos, tan f64::tan, asin f64::asin, acos f64::acos, atan f64::atan,
                sinh f64::sinh, cosh f64::cosh,
                trigamma sf::trigamma, inv_phi sf::inv_phi
            }
        }
    )*};
}
eight_lanes!(never: Plain);
#[cfg(target_arch = "x86_64")]
eight_lanes!(always: On512, On256);
