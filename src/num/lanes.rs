//! One number, and eight draws in memory, as [`Real`] scalars.

use super::dispatch::{LaneWork, View, best_lanes};
use super::real::{Fn3, LANES, Real};
use super::{elementary as el, gamma, gaussian as ga, special as sf};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// Eight draws of one quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct F8(pub [f64; LANES]);

macro_rules! operators {
    ($($trait:ident $method:ident $op:tt),*) => {$(
        impl $trait for F8 {
            type Output = F8;
            #[inline(always)]
            fn $method(mut self, other: F8) -> F8 {
                for i in 0..LANES {
                    self.0[i] $op other.0[i];
                }
                self
            }
        }
    )*};
}
operators!(Add add +=, Sub sub -=, Mul mul *=, Div div /=);

impl Neg for F8 {
    type Output = F8;
    #[inline(always)]
    fn neg(mut self) -> F8 {
        for x in &mut self.0 {
            *x = -*x;
        }
        self
    }
}

impl AddAssign for F8 {
    #[inline(always)]
    fn add_assign(&mut self, other: F8) {
        *self = *self + other;
    }
}

impl SubAssign for F8 {
    #[inline(always)]
    fn sub_assign(&mut self, other: F8) {
        *self = *self - other;
    }
}

/// Functions of one number by an ordinary call.
macro_rules! calls {
    ($($name:ident $f:path),*) => {$(
        #[inline(always)]
        fn $name(self) -> f64 {
            $f(self)
        }
    )*};
}

impl Real for f64 {
    const WIDTH: usize = 1;
    #[inline(always)]
    fn splat(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn lane(self, _: usize) -> f64 {
        self
    }
    #[inline(always)]
    fn set_lane(&mut self, _: usize, x: f64) {
        *self = x;
    }
    #[inline(always)]
    fn lift1(self, f: fn(f64) -> f64, _: fn(f64) -> f64) -> f64 {
        f(self)
    }
    #[inline(always)]
    fn lift2(self, b: f64, f: fn(f64, f64) -> f64, _: fn(f64, f64) -> f64, _: fn(f64, f64) -> f64) -> f64 {
        f(self, b)
    }
    #[inline(always)]
    fn lift3(self, b: f64, c: f64, f: Fn3, _: [Fn3; 3]) -> f64 {
        f(self, b, c)
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
    fn detach(self) -> f64 {
        self
    }
    #[inline(always)]
    fn pow(self, y: f64) -> f64 {
        self.powf(y)
    }
    #[inline(always)]
    fn lgamma(self) -> f64 {
        if self > 0.0 { gamma::lgamma(self) } else { sf::lgamma(self) }
    }
    #[inline(always)]
    fn digamma(self) -> f64 {
        if self > 0.0 { gamma::digamma(self) } else { sf::digamma(self) }
    }
    calls! {
        exp el::exp, ln el::ln, log1p el::log1p, expm1 el::expm1, tanh el::tanh, sqrt f64::sqrt,
        inv_logit el::inv_logit, log1p_exp el::log1p_exp,
        erf ga::erf, erfc ga::erfc, phi ga::phi, log_phi ga::log_phi, phi_ratio ga::phi_ratio,
        sin f64::sin, cos f64::cos, tan f64::tan, asin f64::asin, acos f64::acos, atan f64::atan,
        sinh f64::sinh, cosh f64::cosh,
        trigamma sf::trigamma, inv_phi sf::inv_phi
    }
}

/// Functions of eight draws, in the registers of this processor; each compiled once, as they are long.
macro_rules! in_registers {
    ($($name:ident),*) => {$(
        #[inline(never)]
        fn $name(self) -> F8 {
            struct Apply(F8);
            impl LaneWork<F8> for Apply {
                type Out = F8;
                #[inline(always)]
                fn run<U: Real>(self, view: View<F8, U>) -> F8 {
                    view.back(view.value(self.0).$name())
                }
            }
            best_lanes(Apply(self))
        }
    )*};
}

impl Real for F8 {
    const WIDTH: usize = LANES;
    #[inline(always)]
    fn splat(x: f64) -> F8 {
        F8([x; LANES])
    }
    #[inline(always)]
    fn lane(self, i: usize) -> f64 {
        self.0[i]
    }
    #[inline(always)]
    fn set_lane(&mut self, i: usize, x: f64) {
        self.0[i] = x;
    }
    #[inline(always)]
    fn lift1(self, f: fn(f64) -> f64, _: fn(f64) -> f64) -> F8 {
        F8(self.0.map(f))
    }
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
    fn detach(self) -> F8 {
        self
    }
    #[inline(always)]
    fn pow(self, y: F8) -> F8 {
        self.lift2(y, f64::powf, f64::powf, f64::powf)
    }
    in_registers! {
        exp, ln, log1p, expm1, tanh, sqrt, inv_logit, log1p_exp,
        erf, erfc, phi, log_phi, phi_ratio,
        sin, cos, tan, asin, acos, atan, sinh, cosh,
        lgamma, digamma, trigamma, inv_phi
    }
}
