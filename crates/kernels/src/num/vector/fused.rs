//! One number on processors with fused multiply-add: the lane that goes with the registers of AVX2 and
//! AVX-512.

use super::Vector;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// One number whose products and sums are rounded once, as in the wide registers. For code that `dispatch`
/// compiles with that instruction: elsewhere each is a call.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Fused(pub f64);

macro_rules! operators {
    ($($trait:ident $method:ident),*) => {$(
        impl $trait for Fused {
            type Output = Fused;
            #[inline(always)]
            fn $method(self, o: Fused) -> Fused {
                Fused($trait::$method(self.0, o.0))
            }
        }
    )*};
}
operators!(Add add, Sub sub, Mul mul, Div div);

impl Neg for Fused {
    type Output = Fused;
    #[inline(always)]
    fn neg(self) -> Fused {
        Fused(-self.0)
    }
}

impl Vector for Fused {
    #[inline(always)]
    fn splat(x: f64) -> Fused {
        Fused(x)
    }
    #[inline(always)]
    fn sqrt(self) -> Fused {
        Fused(self.0.sqrt())
    }
    #[inline(always)]
    fn abs(self) -> Fused {
        Fused(self.0.abs())
    }
    #[inline(always)]
    fn copysign(self, sign: Fused) -> Fused {
        Fused(self.0.copysign(sign.0))
    }
    #[inline(always)]
    fn if_less(self, b: Fused, yes: Fused, no: Fused) -> Fused {
        Fused(self.0.if_less(b.0, yes.0, no.0))
    }
    #[inline(always)]
    fn if_equal(self, b: Fused, yes: Fused, no: Fused) -> Fused {
        Fused(self.0.if_equal(b.0, yes.0, no.0))
    }
    #[inline(always)]
    fn mul_add(self, a: Fused, b: Fused) -> Fused {
        Fused(f64::mul_add(self.0, a.0, b.0))
    }
    #[inline(always)]
    fn less_product(self, a: Fused, b: Fused) -> Fused {
        Fused(f64::mul_add(-a.0, b.0, self.0))
    }
    #[inline(always)]
    fn two_to(shifted: Fused) -> Fused {
        Fused(f64::two_to(shifted.0))
    }
    #[inline(always)]
    fn split(self) -> (Fused, Fused, Fused) {
        let (m, k, inverse) = self.0.split();
        (Fused(m), Fused(k), Fused(inverse))
    }
    #[inline(always)]
    fn all_ordinary(self) -> bool {
        self.0.all_ordinary()
    }
    #[inline(always)]
    fn if_odd(shifted: Fused, yes: Fused, no: Fused) -> Fused {
        Fused(f64::if_odd(shifted.0, yes.0, no.0))
    }
}
