//! Intervals of real numbers, possibly unbounded, with the arithmetic that bounds need.

use std::ops::{Add, Mul, Neg, Sub};

/// The numbers from `lo` to `hi`. An end may be infinite; the interval then holds every finite number on that
/// side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub lo: f64,
    /// The upper end.
    pub hi: f64,
}

impl Interval {
    /// Every number.
    pub const REAL: Interval = Interval { lo: f64::NEG_INFINITY, hi: f64::INFINITY };
    /// Zero and above.
    pub const NONNEGATIVE: Interval = Interval { lo: 0.0, hi: f64::INFINITY };
    /// Zero and below.
    pub const NONPOSITIVE: Interval = Interval { lo: f64::NEG_INFINITY, hi: 0.0 };
    /// Zero alone.
    pub const ZERO: Interval = Interval { lo: 0.0, hi: 0.0 };

    /// The numbers from `lo` to `hi`; every number if an end is not a number or they are the wrong way round.
    pub fn new(lo: f64, hi: f64) -> Self {
        // Adding 0 turns -0 into 0, whose reciprocal has the sign that a bound needs.
        if lo <= hi { Self { lo: lo + 0.0, hi: hi + 0.0 } } else { Self::REAL }
    }

    /// One number.
    pub fn point(x: f64) -> Self {
        Self::new(x, x)
    }

    /// The smallest interval that holds both.
    pub fn hull(self, other: Self) -> Self {
        Self::new(self.lo.min(other.lo), self.hi.max(other.hi))
    }

    /// What lies in both, when both are known to hold the same number; all of both where rounding keeps them
    /// apart.
    pub fn meet(self, other: Self) -> Self {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        if lo <= hi { Self::new(lo, hi) } else { self.hull(other) }
    }

    /// Whether it holds one finite number only.
    pub fn is_point(self) -> bool {
        self.lo == self.hi && self.lo.is_finite()
    }

    /// Whether it holds a number.
    pub fn contains(self, x: f64) -> bool {
        self.lo <= x && x <= self.hi
    }

    /// Whether it has no number below zero.
    pub fn is_nonnegative(self) -> bool {
        self.lo >= 0.0
    }

    /// Whether it has no number above zero.
    pub fn is_nonpositive(self) -> bool {
        self.hi <= 0.0
    }

    /// Every number of it times `c`.
    pub fn scale(self, c: f64) -> Self {
        self * Self::point(c)
    }

    /// Every number of it plus `c`.
    pub fn shift(self, c: f64) -> Self {
        self + Self::point(c)
    }

    /// The absolute values of its numbers.
    pub fn abs(self) -> Self {
        let (a, b) = (self.lo.abs(), self.hi.abs());
        if self.contains(0.0) { Self::new(0.0, a.max(b)) } else { Self::new(a.min(b), a.max(b)) }
    }

    /// The image under a function that is monotone on it, either way.
    pub fn monotone(self, f: impl Fn(f64) -> f64) -> Self {
        let (a, b) = (f(self.lo), f(self.hi));
        if a <= b { Self::new(a, b) } else { Self::new(b, a) }
    }

    /// The squares of its numbers.
    pub fn square(self) -> Self {
        let (a, b) = (self.lo * self.lo, self.hi * self.hi);
        if self.contains(0.0) { Self::new(0.0, a.max(b)) } else { Self::new(a.min(b), a.max(b)) }
    }

    /// The image under a non-decreasing function; infinite ends are passed to it as they are.
    pub fn rising(self, f: impl Fn(f64) -> f64) -> Self {
        Self::new(f(self.lo), f(self.hi))
    }

    /// The image under a non-increasing function.
    pub fn falling(self, f: impl Fn(f64) -> f64) -> Self {
        Self::new(f(self.hi), f(self.lo))
    }
}

impl Add for Interval {
    type Output = Interval;
    fn add(self, other: Self) -> Self {
        Self::new(self.lo + other.lo, self.hi + other.hi)
    }
}

impl Neg for Interval {
    type Output = Interval;
    fn neg(self) -> Self {
        Self { lo: 0.0 - self.hi, hi: 0.0 - self.lo }
    }
}

impl Sub for Interval {
    type Output = Interval;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

/// A product of ends. Zero times an unbounded end is zero: the end itself is never attained.
fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

impl Mul for Interval {
    type Output = Interval;
    fn mul(self, other: Self) -> Self {
        let all = [
            times(self.lo, other.lo),
            times(self.lo, other.hi),
            times(self.hi, other.lo),
            times(self.hi, other.hi),
        ];
        let lo = all.iter().copied().fold(f64::INFINITY, f64::min);
        let hi = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self::new(lo, hi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_holds_every_result() {
        let ends = [f64::NEG_INFINITY, -3.0, -0.5, 0.0, 0.25, 2.0, f64::INFINITY];
        let inside = |i: Interval| -> Vec<f64> {
            [-1e9, -3.0, -1.0, -0.5, 0.0, 0.1, 0.25, 1.0, 2.0, 1e9]
                .into_iter()
                .filter(|&x| i.contains(x))
                .collect()
        };
        let all: Vec<Interval> = ends
            .iter()
            .flat_map(|&lo| ends.iter().filter(move |&&hi| lo <= hi).map(move |&hi| Interval::new(lo, hi)))
            .filter(|i| !(i.lo.is_infinite() && i.lo == i.hi))
            .collect();
        for &a in &all {
            for x in inside(a) {
                assert!(a.square().contains(x * x) && (-a).contains(-x) && a.scale(-2.0).contains(-2.0 * x));
                for &b in &all {
                    for y in inside(b) {
                        assert!(
                            (a + b).contains(x + y) && (a - b).contains(x - y) && (a * b).contains(x * y)
                        );
                        assert!(a.hull(b).contains(x) && a.hull(b).contains(y));
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_not_a_number_could_be_any() {
        assert_eq!(Interval::new(f64::NAN, 1.0), Interval::REAL);
        assert_eq!(Interval::REAL + Interval::point(1.0), Interval::REAL);
    }
}
