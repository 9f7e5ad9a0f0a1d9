//! Numbers with derivatives in up to a few parameters, for formulas that are differentiated by running them.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A value and its `N` partial derivatives; with `N` = 0 just the value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jet<const N: usize> {
    pub v: f64,
    pub d: [f64; N],
}

impl<const N: usize> Jet<N> {
    /// A constant.
    #[inline(always)]
    pub fn new(v: f64) -> Self {
        Jet { v, d: [0.0; N] }
    }

    /// The parameter with number `i` (a constant if there is no derivative in it).
    #[inline(always)]
    pub fn parameter(v: f64, i: usize) -> Self {
        Jet { v, d: std::array::from_fn(|k| f64::from(k == i)) }
    }

    /// A function of this number, from its value and slope there.
    #[inline(always)]
    pub fn lift(self, value: f64, slope: f64) -> Self {
        Jet { v: value, d: self.d.map(|d| if d == 0.0 { 0.0 } else { slope * d }) }
    }

    /// As [`lift`](Self::lift), where the slope costs something and no derivative may be wanted.
    #[inline(always)]
    pub fn lift_with(self, value: f64, slope: impl FnOnce() -> f64) -> Self {
        if N == 0 { Jet::new(value) } else { self.lift(value, slope()) }
    }

    #[inline(always)]
    pub fn ln(self) -> Self {
        self.lift(self.v.ln(), 1.0 / self.v)
    }

    #[inline(always)]
    pub fn exp(self) -> Self {
        self.lift(self.v.exp(), self.v.exp())
    }

    #[inline(always)]
    pub fn scale(self, c: f64) -> Self {
        Jet { v: self.v * c, d: self.d.map(|d| d * c) }
    }

    #[inline(always)]
    pub fn shift(self, c: f64) -> Self {
        Jet { v: self.v + c, d: self.d }
    }

    /// log(1 - e^self) for a negative number.
    pub fn log1m_exp(self) -> Self {
        let value = super::log1m_exp(self.v);
        self.lift(value, -(self.v - value).exp())
    }

    /// Whether every part is below `tolerance` times the same part of `other`, at least in the scale of its
    /// value.
    #[inline(always)]
    pub fn negligible(self, other: Self, tolerance: f64) -> bool {
        let small = |x: f64, y: f64| x.abs() <= tolerance * y.abs();
        small(self.v, other.v) && (0..N).all(|k| small(self.d[k], other.d[k]) || self.d[k].abs() < 1e-300)
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, |$a:ident, $b:ident, $k:ident| $value:expr, $slope:expr) => {
        impl<const N: usize> $trait for Jet<N> {
            type Output = Self;
            #[allow(
                clippy::suspicious_arithmetic_impl,
                reason = "the rules of differentiation mix the operators"
            )]
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                Jet { v: $value, d: std::array::from_fn(|$k| $slope) }
            }
        }
    };
}
operator!(Add, add, |a, b, k| a.v + b.v, a.d[k] + b.d[k]);
operator!(Sub, sub, |a, b, k| a.v - b.v, a.d[k] - b.d[k]);
operator!(Mul, mul, |a, b, k| a.v * b.v, a.d[k] * b.v + a.v * b.d[k]);
operator!(Div, div, |a, b, k| a.v / b.v, (a.d[k] - a.v / b.v * b.d[k]) / b.v);

impl<const N: usize> Neg for Jet<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.scale(-1.0)
    }
}

/// 1 / (b_0 + a_1 / (b_1 + a_2 / (b_2 + …))) by the modified Lentz method, where `term(n)` gives (a_n, b_n)
/// and a_0 is not used. Stops when value and derivatives have settled.
pub(super) fn continued_fraction<const N: usize>(term: impl Fn(f64) -> (Jet<N>, Jet<N>)) -> Jet<N> {
    const MOST: usize = 500_000;
    let away = |x: Jet<N>| if x.v.abs() < 1e-290 { Jet { v: 1e-290, d: x.d } } else { x };
    let (_, b) = term(0.0);
    let mut value = away(b);
    let mut c = value;
    let mut d = Jet::new(0.0);
    for n in 1..MOST {
        let (a, b) = term(n as f64);
        d = Jet::new(1.0) / away(b + a * d);
        c = away(b + a / c);
        let factor = c * d;
        value = value * factor;
        let settled = (factor.v - 1.0).abs() <= 1e-16
            && (0..N).all(|k| (value.v * factor.d[k]).abs() <= 1e-16 * value.d[k].abs().max(1e-300));
        if settled || !value.v.is_finite() {
            break;
        }
    }
    Jet::new(1.0) / value
}
