//! One number, and eight or sixteen numbers in memory, as [`Real`] scalars.

use super::dispatch::{LaneWork, View, best_lanes, like_a_lane};
use super::real::{Fn3, LANES, Packed, Real, zero_and_one};
use super::vector::Fused;
use super::{elementary as el, gamma, gaussian as ga, quantile, special as sf};
use std::cell::Cell;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// Eight numbers: what the linear algebra packs its matrices into.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct F8(pub [f64; LANES]);

/// Sixteen draws of one quantity: two registers of AVX-512, so that two chains of arithmetic run side by
/// side.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct F16(pub [f64; 16]);

impl F16 {
    /// The numbers of all, one after another.
    pub fn flat(x: &[F16]) -> &[f64] {
        // SAFETY: an F16 is sixteen f64 in a row and nothing else.
        unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), 16 * x.len()) }
    }

    /// The same, to write.
    pub fn flat_mut(x: &mut [F16]) -> &mut [f64] {
        // SAFETY: an F16 is sixteen f64 in a row and nothing else; the new slice borrows as the old one did.
        unsafe { std::slice::from_raw_parts_mut(x.as_mut_ptr().cast(), 16 * x.len()) }
    }
}

/// What sixteen draws are handled in: all at once, or eight and eight.
pub trait Part: Packed {
    /// Parts of sixteen draws.
    const PARTS: usize;
    /// Sixteens as their parts, one after another.
    fn parts(x: &[F16]) -> &[Self];
    /// The same, to write.
    fn parts_mut(x: &mut [F16]) -> &mut [Self];
    /// The same in cells.
    fn cells(x: &[Cell<F16>]) -> &[Cell<Self>];
}

impl Part for F16 {
    const PARTS: usize = 1;
    #[inline(always)]
    fn parts(x: &[F16]) -> &[F16] {
        x
    }
    #[inline(always)]
    fn parts_mut(x: &mut [F16]) -> &mut [F16] {
        x
    }
    #[inline(always)]
    fn cells(x: &[Cell<F16>]) -> &[Cell<F16>] {
        x
    }
}

impl Part for F8 {
    const PARTS: usize = 2;
    #[inline(always)]
    fn parts(x: &[F16]) -> &[F8] {
        // SAFETY: an F16 is two F8 in a row, of the same alignment.
        unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), 2 * x.len()) }
    }
    #[inline(always)]
    fn parts_mut(x: &mut [F16]) -> &mut [F8] {
        // SAFETY: an F16 is two F8 in a row, of the same alignment; the new slice borrows as the old one did.
        unsafe { std::slice::from_raw_parts_mut(x.as_mut_ptr().cast(), 2 * x.len()) }
    }
    #[inline(always)]
    fn cells(x: &[Cell<F16>]) -> &[Cell<F8>] {
        // SAFETY: an F16 is two F8 in a row, of the same alignment; a cell is laid out as what it holds.
        unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), 2 * x.len()) }
    }
}

macro_rules! operators {
    ($t:ident: $($trait:ident $method:ident $op:tt),*) => {
        $(
            impl $trait for $t {
                type Output = $t;
                #[inline(always)]
                fn $method(mut self, other: $t) -> $t {
                    for i in 0..$t::WIDTH {
                        self.0[i] $op other.0[i];
                    }
                    self
                }
            }
        )*

        impl Neg for $t {
            type Output = $t;
            #[inline(always)]
            fn neg(mut self) -> $t {
                for x in &mut self.0 {
                    *x = -*x;
                }
                self
            }
        }

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
    };
}
operators!(F8: Add add +=, Sub sub -=, Mul mul *=, Div div /=);
operators!(F16: Add add +=, Sub sub -=, Mul mul *=, Div div /=);

/// Functions of several numbers that are written for any kind of them.
macro_rules! by_formula {
    () => {
        #[inline(always)]
        fn lrise(self, a: Self) -> Self {
            crate::num::rising::lrise(self, a)
        }
        #[inline(always)]
        fn lrise_a(self, a: Self) -> Self {
            crate::num::rising::lrise_a(self, a)
        }
        #[inline(always)]
        fn lbeta(self, b: Self) -> Self {
            crate::num::rising::lbeta(self, b)
        }
    };
}
pub(super) use by_formula;

/// Functions of one number by an ordinary call, rounded like those of a register.
macro_rules! as_in_registers {
    ($($name:ident $f:path),*) => {$(
        #[inline(always)]
        fn $name(self) -> f64 {
            like_a_lane(#[inline(always)] move || $f(Fused(self)).0, #[inline(always)] move || $f(self))
        }
    )*};
}

/// The same for functions of which registers know the positive half.
macro_rules! where_positive {
    ($($name:ident),*) => {$(
        #[inline(always)]
        fn $name(self) -> f64 {
            if self > 0.0 {
                like_a_lane(
                    #[inline(always)]
                    move || gamma::$name(Fused(self)).0,
                    #[inline(always)]
                    move || gamma::$name(self),
                )
            } else {
                sf::$name(self)
            }
        }
    )*};
}

/// The same for functions that give two numbers.
macro_rules! pairs_as_in_registers {
    ($($name:ident $f:path),*) => {$(
        #[inline(always)]
        fn $name(self) -> (f64, f64) {
            like_a_lane(
                #[inline(always)]
                move || {
                    let (a, b) = $f(Fused(self));
                    (a.0, b.0)
                },
                #[inline(always)]
                move || $f(self),
            )
        }
    )*};
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

impl Packed for f64 {
    const WIDTH: usize = 1;
    #[inline(always)]
    fn lane(self, _: usize) -> f64 {
        self
    }
    #[inline(always)]
    fn set_lane(&mut self, _: usize, x: f64) {
        *self = x;
    }
}

impl Real for f64 {
    by_formula!();
    #[inline(always)]
    fn splat(x: f64) -> f64 {
        x
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
        let (value, inside) = like_a_lane(
            #[inline(always)]
            move || {
                let (value, inside) = el::pow(Fused(self), Fused(y));
                (value.0, inside)
            },
            #[inline(always)]
            move || el::pow(self, y),
        );
        if inside { value } else { self.powf(y) }
    }
    where_positive! { lgamma, digamma }
    as_in_registers! {
        exp el::exp, ln el::ln, log1p el::log1p, expm1 el::expm1, tanh el::tanh,
        inv_logit el::inv_logit, log1p_exp el::log1p_exp,
        erf ga::erf, erfc ga::erfc, phi ga::phi, log_phi ga::log_phi, phi_ratio ga::phi_ratio,
        inv_phi quantile::inv_phi
    }
    pairs_as_in_registers! {
        log1p_exp_and_slope el::log1p_exp_and_slope, ln_and_recip el::ln_and_recip,
        log1p_and_recip el::log1p_and_recip
    }
    calls! {
        sqrt f64::sqrt, sin f64::sin, cos f64::cos, tan f64::tan, asin f64::asin, acos f64::acos,
        atan f64::atan,
        sinh f64::sinh, cosh f64::cosh,
        trigamma sf::trigamma
    }
}

/// Functions of a draw in each lane, in the registers of this processor; each compiled once, as they are
/// long.
macro_rules! in_registers {
    ($t:ident: $($name:ident),*) => {$(
        #[inline(never)]
        fn $name(self) -> $t {
            struct Apply($t);
            impl LaneWork<$t> for Apply {
                type Out = $t;
                #[inline(always)]
                fn run<U: Real>(self, view: View<$t, U>) -> $t {
                    view.back(view.value(self.0).$name())
                }
            }
            best_lanes(Apply(self))
        }
    )*};
}

/// Functions of each lane by an ordinary call.
macro_rules! by_lane {
    ($t:ident: $($name:ident),*) => {$(
        fn $name(mut self) -> $t {
            for x in &mut self.0 {
                *x = Real::$name(*x);
            }
            self
        }
    )*};
}

macro_rules! in_memory {
    ($t:ident, $width:expr, $functions:ident) => {
        zero_and_one!($t);

        impl Packed for $t {
            const WIDTH: usize = $width;
            #[inline(always)]
            fn lane(self, i: usize) -> f64 {
                self.0[i]
            }
            #[inline(always)]
            fn set_lane(&mut self, i: usize, x: f64) {
                self.0[i] = x;
            }
        }

        impl Real for $t {
            by_formula!();
            #[inline(always)]
            fn splat(x: f64) -> $t {
                $t([x; $width])
            }
            #[inline(always)]
            fn lift1(mut self, f: fn(f64) -> f64, _: fn(f64) -> f64) -> $t {
                for x in &mut self.0 {
                    *x = f(*x);
                }
                self
            }
            #[inline(always)]
            fn lift2(
                self,
                b: $t,
                f: fn(f64, f64) -> f64,
                _: fn(f64, f64) -> f64,
                _: fn(f64, f64) -> f64,
            ) -> $t {
                $t(std::array::from_fn(|i| f(self.0[i], b.0[i])))
            }
            #[inline(always)]
            fn lift3(self, b: $t, c: $t, f: Fn3, _: [Fn3; 3]) -> $t {
                $t(std::array::from_fn(|i| f(self.0[i], b.0[i], c.0[i])))
            }
            #[inline(always)]
            fn if_less(self, b: $t, yes: $t, no: $t) -> $t {
                $t(std::array::from_fn(|i| if self.0[i] < b.0[i] { yes.0[i] } else { no.0[i] }))
            }
            #[inline(always)]
            fn if_equal(self, b: $t, yes: $t, no: $t) -> $t {
                $t(std::array::from_fn(|i| if self.0[i] == b.0[i] { yes.0[i] } else { no.0[i] }))
            }
            #[inline(always)]
            fn detach(self) -> $t {
                self
            }
            #[inline(always)]
            fn pow(self, y: $t) -> $t {
                self.lift2(y, Real::pow, Real::pow, Real::pow)
            }
            $functions! {
                $t: exp, ln, log1p, expm1, sqrt, inv_logit, log1p_exp, tanh,
                erf, erfc, phi, log_phi, phi_ratio,
                sin, cos, tan, asin, acos, atan, sinh, cosh,
                lgamma, digamma, trigamma, inv_phi
            }
        }
    };
}
in_memory!(F8, LANES, by_lane);
in_memory!(F16, 16, in_registers);
