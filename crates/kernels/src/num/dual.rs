//! Numbers that carry a tangent: forward-mode differentiation along one direction.

use super::real::{Fn3, One, Packed, Real, Registers, SQRT_2PI, Zero};
use super::rising;
use super::special as sf;
use std::f64::consts::FRAC_2_SQRT_PI;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A value with its derivative along one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct DualOf<V> {
    /// Value.
    pub v: V,
    /// Directional derivative.
    pub d: V,
}

/// One number with a tangent.
pub type Dual = DualOf<f64>;

// SAFETY: two of what stands in for V, in the same order (`repr(C)`).
unsafe impl<V: Packed> Registers for DualOf<V> {
    type Avx512 = DualOf<V::Avx512>;
    type Avx2 = DualOf<V::Avx2>;
    type Baseline = DualOf<V::Baseline>;
}

impl<V: Real> Add for DualOf<V> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self { v: self.v + o.v, d: self.d + o.d }
    }
}
impl<V: Real> Sub for DualOf<V> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self { v: self.v - o.v, d: self.d - o.d }
    }
}
impl<V: Real> Mul for DualOf<V> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Self { v: self.v * o.v, d: self.d * o.v + self.v * o.d }
    }
}
impl<V: Real> Div for DualOf<V> {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        let v = self.v / o.v;
        Self { v, d: (self.d - v * o.d) / o.v }
    }
}
impl<V: Real> Neg for DualOf<V> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { v: -self.v, d: -self.d }
    }
}
impl<V: Real> AddAssign for DualOf<V> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
impl<V: Real> SubAssign for DualOf<V> {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

impl<V: Real> Zero for DualOf<V> {
    #[inline(always)]
    fn zero() -> Self {
        Self { v: V::zero(), d: V::zero() }
    }
    #[inline(always)]
    fn is_zero(&self) -> bool {
        self.v.is_zero() && self.d.is_zero()
    }
}
impl<V: Real> One for DualOf<V> {
    #[inline(always)]
    fn one() -> Self {
        Self { v: V::one(), d: V::zero() }
    }
}

/// slope · tangent, where a zero tangent wins over an infinite or undefined slope.
#[inline(always)]
fn tangent<V: Real>(slope: V, d: V) -> V {
    d.if_equal(V::zero(), V::zero(), slope * d)
}

/// The functions of one number: the derivative in terms of argument `x` and value `y`.
macro_rules! functions {
    ($($name:ident |$x:ident, $y:ident| $slope:expr;)*) => {$(
        #[inline(always)]
        fn $name(self) -> Self {
            let $x = self.v;
            let $y = $x.$name();
            Self { v: $y, d: tangent($slope, self.d) }
        }
    )*};
}

impl<V: Packed> Packed for DualOf<V> {
    const WIDTH: usize = V::WIDTH;
    const TANGENT: bool = true;

    #[inline(always)]
    fn lane(self, i: usize) -> f64 {
        self.v.lane(i)
    }
    #[inline(always)]
    fn set_lane(&mut self, i: usize, x: f64) {
        self.v.set_lane(i, x);
        self.d.set_lane(i, 0.0);
    }
    #[inline(always)]
    fn tangent(self, i: usize) -> f64 {
        self.d.lane(i)
    }
    #[inline(always)]
    fn set_tangent(&mut self, i: usize, d: f64) {
        self.d.set_lane(i, d);
    }
}

impl<V: Real> Real for DualOf<V> {
    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self { v: V::splat(x), d: V::zero() }
    }
    #[inline(always)]
    fn lift1(self, f: fn(f64) -> f64, df: fn(f64) -> f64) -> Self {
        Self { v: self.v.lift1(f, df), d: tangent(self.v.lift1(df, df), self.d) }
    }
    #[inline(always)]
    fn lift2(
        self,
        b: Self,
        f: fn(f64, f64) -> f64,
        da: fn(f64, f64) -> f64,
        db: fn(f64, f64) -> f64,
    ) -> Self {
        let in_a = self.v.lift2(b.v, da, da, da);
        let in_b = self.v.lift2(b.v, db, db, db);
        Self { v: self.v.lift2(b.v, f, da, db), d: tangent(in_a, self.d) + tangent(in_b, b.d) }
    }
    #[inline(always)]
    fn lift3(self, b: Self, c: Self, f: Fn3, df: [Fn3; 3]) -> Self {
        let tangents = [self.d, b.d, c.d];
        let mut d = V::zero();
        for k in 0..3 {
            d += tangent(self.v.lift3(b.v, c.v, df[k], df), tangents[k]);
        }
        Self { v: self.v.lift3(b.v, c.v, f, df), d }
    }
    #[inline(always)]
    fn if_less(self, b: Self, yes: Self, no: Self) -> Self {
        Self { v: self.v.if_less(b.v, yes.v, no.v), d: self.v.if_less(b.v, yes.d, no.d) }
    }
    #[inline(always)]
    fn if_equal(self, b: Self, yes: Self, no: Self) -> Self {
        Self { v: self.v.if_equal(b.v, yes.v, no.v), d: self.v.if_equal(b.v, yes.d, no.d) }
    }
    #[inline(always)]
    fn detach(self) -> Self {
        Self { v: self.v, d: V::zero() }
    }
    #[inline(always)]
    fn pow(self, y: Self) -> Self {
        let v = self.v.pow(y.v);
        let in_x = y.v * self.v.pow(y.v.shift(-1.0));
        let in_y = v * self.v.ln();
        Self { v, d: tangent(in_x, self.d) + tangent(in_y, y.d) }
    }

    #[inline(always)]
    fn lrise(self, a: Self) -> Self {
        let in_x = (a.v + self.v).digamma() - a.v.ln();
        let d = tangent(in_x, self.d) + tangent(self.v.lrise_a(a.v), a.d);
        Self { v: self.v.lrise(a.v), d }
    }
    #[inline(always)]
    fn lrise_a(self, a: Self) -> Self {
        let (xa, aa) = (rising::lrise_xa, rising::lrise_aa);
        let d = tangent(self.v.lift2(a.v, xa, xa, xa), self.d) + tangent(self.v.lift2(a.v, aa, aa, aa), a.d);
        Self { v: self.v.lrise_a(a.v), d }
    }
    #[inline(always)]
    fn lbeta(self, b: Self) -> Self {
        let both = (self.v + b.v).digamma();
        let (in_a, in_b) = (self.v.digamma() - both, b.v.digamma() - both);
        Self { v: self.v.lbeta(b.v), d: tangent(in_a, self.d) + tangent(in_b, b.d) }
    }

    // A constant has no tangent to multiply by.
    #[inline(always)]
    fn scale(self, c: f64) -> Self {
        Self { v: self.v.scale(c), d: self.d.scale(c) }
    }
    #[inline(always)]
    fn shift(self, c: f64) -> Self {
        Self { v: self.v.shift(c), d: self.d }
    }
    #[inline(always)]
    fn add_scaled(self, c: f64, x: Self) -> Self {
        Self { v: self.v.add_scaled(c, x.v), d: self.d.add_scaled(c, x.d) }
    }
    #[inline(always)]
    fn log1p_exp_and_slope(self) -> (Self, Self) {
        let (y, s) = self.v.log1p_exp_and_slope();
        let bend = s * (-self.v).inv_logit();
        (Self { v: y, d: tangent(s, self.d) }, Self { v: s, d: tangent(bend, self.d) })
    }

    #[inline(always)]
    fn ln_and_recip(self) -> (Self, Self) {
        let (y, r) = self.v.ln_and_recip();
        (Self { v: y, d: tangent(r, self.d) }, Self { v: r, d: tangent(-r.square(), self.d) })
    }
    #[inline(always)]
    fn log1p_and_recip(self) -> (Self, Self) {
        let (y, r) = self.v.log1p_and_recip();
        (Self { v: y, d: tangent(r, self.d) }, Self { v: r, d: tangent(-r.square(), self.d) })
    }

    #[inline(always)]
    fn log1p_square(self) -> (Self, Self) {
        let (y, slope) = self.v.log1p_square();
        // The slope of 2x / (1 + x²) is 2 (1 - x²) / (1 + x²)² = 2 r - slope², with r = 1 / (1 + x²).
        let bend = self.v.square().shift(1.0).recip().scale(2.0) - slope.square();
        (Self { v: y, d: tangent(slope, self.d) }, Self { v: slope, d: tangent(bend, self.d) })
    }

    functions! {
        exp |_x, y| y;
        ln |x, _y| x.recip();
        log1p |x, _y| x.shift(1.0).recip();
        expm1 |_x, y| y.shift(1.0);
        sqrt |_x, y| y.recip().scale(0.5);
        sin |x, _y| x.cos();
        cos |x, _y| -x.sin();
        tan |_x, y| y.square().shift(1.0);
        asin |x, _y| (V::one() - x.square()).sqrt().recip();
        acos |x, _y| -(V::one() - x.square()).sqrt().recip();
        atan |x, _y| x.square().shift(1.0).recip();
        sinh |x, _y| x.cosh();
        cosh |x, _y| x.sinh();
        tanh |_x, y| V::one() - y.square();
        inv_logit |x, y| y * (-x).inv_logit();
        log1p_exp |x, _y| x.inv_logit();
        lgamma |x, _y| x.digamma();
        digamma |x, _y| x.trigamma();
        trigamma |x, _y| x.lift1(sf::tetragamma, sf::pentagamma);
        erf |x, _y| (-x.square()).exp().scale(FRAC_2_SQRT_PI);
        erfc |x, _y| (-x.square()).exp().scale(-FRAC_2_SQRT_PI);
        phi |x, _y| x.square().scale(-0.5).exp().scale(1.0 / SQRT_2PI);
        log_phi |x, _y| x.phi_ratio();
        phi_ratio |x, y| -(y * x.lift1(sf::mills_excess, |x| 1.0 - sf::phi_ratio(x) * sf::mills_excess(x)));
        inv_phi |_x, y| y.square().scale(0.5).exp().scale(SQRT_2PI);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tangents_match_finite_differences() {
        type Case = (fn(Dual) -> Dual, f64);
        let cases: &[Case] = &[
            (Dual::exp, 0.7),
            (Dual::tanh, 0.4),
            (Dual::erfc, 0.9),
            (Dual::log_phi, -1.7),
            (Dual::phi_ratio, 0.6),
            (Dual::ln, 0.7),
            (Dual::inv_logit, -1.3),
            (Dual::log1p_exp, 2.1),
            (Dual::log1m_exp, -0.3),
            (Dual::trigamma, 1.7),
            (Dual::inv_phi, 0.2),
            (|x| x.pow(Dual::splat(2.5)), 1.4),
            (|x| x.recip().abs(), -0.6),
            (|x| x.ln_and_recip().0, 0.6),
            (|x| x.ln_and_recip().1, 0.6),
            (|x| x.log1p_and_recip().0, 0.6),
            (|x| x.log1p_and_recip().1, 0.6),
            (|x| x.log1p_square().0, -1.6),
            (|x| x.log1p_square().1, 1.6),
            (|x| x.lrise(Dual::splat(2.5)), 3.0),
            (|x| Dual::splat(3.0).lrise_a(x), 2.5),
            (|x| x.lbeta(Dual::splat(2.5)), 3.0),
        ];
        for (i, (f, x)) in cases.iter().enumerate() {
            let h = 1e-6;
            let at = |x: f64| f(Dual { v: x, d: 1.0 });
            let expected = (at(x + h).lane(0) - at(x - h).lane(0)) / (2.0 * h);
            let got = at(*x).d;
            assert!(
                (got - expected).abs() < 1e-7 * (1.0 + expected.abs()),
                "case {i}: {got} against {expected}"
            );
        }
    }
}
