//! Two registers side by side as one of twice the lanes.

use super::Vector;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Two registers.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Pair<V>(pub V, pub V);

macro_rules! operators {
    ($($trait:ident $method:ident),*) => {$(
        impl<V: Vector> $trait for Pair<V> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                Pair($trait::$method(self.0, o.0), $trait::$method(self.1, o.1))
            }
        }
    )*};
}
operators!(Add add, Sub sub, Mul mul, Div div);

impl<V: Vector> Neg for Pair<V> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Pair(-self.0, -self.1)
    }
}

impl<V: Vector> Vector for Pair<V> {
    #[inline(always)]
    fn splat(x: f64) -> Self {
        Pair(V::splat(x), V::splat(x))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Pair(self.0.sqrt(), self.1.sqrt())
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Pair(self.0.abs(), self.1.abs())
    }
    #[inline(always)]
    fn copysign(self, sign: Self) -> Self {
        Pair(self.0.copysign(sign.0), self.1.copysign(sign.1))
    }
    #[inline(always)]
    fn if_less(self, b: Self, yes: Self, no: Self) -> Self {
        Pair(self.0.if_less(b.0, yes.0, no.0), self.1.if_less(b.1, yes.1, no.1))
    }
    #[inline(always)]
    fn if_equal(self, b: Self, yes: Self, no: Self) -> Self {
        Pair(self.0.if_equal(b.0, yes.0, no.0), self.1.if_equal(b.1, yes.1, no.1))
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Pair(self.0.mul_add(a.0, b.0), self.1.mul_add(a.1, b.1))
    }
    #[inline(always)]
    fn less_product(self, a: Self, b: Self) -> Self {
        Pair(self.0.less_product(a.0, b.0), self.1.less_product(a.1, b.1))
    }
    #[inline(always)]
    fn at_least(self, low: Self) -> Self {
        Pair(self.0.at_least(low.0), self.1.at_least(low.1))
    }
    #[inline(always)]
    fn at_most(self, high: Self) -> Self {
        Pair(self.0.at_most(high.0), self.1.at_most(high.1))
    }
    #[inline(always)]
    fn times_two_to(self, k: Self) -> Self {
        Pair(self.0.times_two_to(k.0), self.1.times_two_to(k.1))
    }
    #[inline(always)]
    fn two_to(shifted: Self) -> Self {
        Pair(V::two_to(shifted.0), V::two_to(shifted.1))
    }
    #[inline(always)]
    fn split(self) -> (Self, Self, Self) {
        let ((m0, k0, i0), (m1, k1, i1)) = (self.0.split(), self.1.split());
        (Pair(m0, m1), Pair(k0, k1), Pair(i0, i1))
    }
    #[inline(always)]
    fn all_ordinary(self) -> bool {
        self.0.all_ordinary() && self.1.all_ordinary()
    }
    #[inline(always)]
    fn if_odd(shifted: Self, yes: Self, no: Self) -> Self {
        Pair(V::if_odd(shifted.0, yes.0, no.0), V::if_odd(shifted.1, yes.1, no.1))
    }
}
