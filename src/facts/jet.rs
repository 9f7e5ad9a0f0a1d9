//! Bounds on a function of one number and on its first two derivatives.

use super::interval::Interval;

/// Where value, slope and second derivative of a function of one number lie, for every argument that it may get.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet {
    /// The value.
    pub value: Interval,
    /// The first derivative.
    pub slope: Interval,
    /// The second derivative.
    pub curvature: Interval,
}

impl Jet {
    /// The function that returns its argument, which may be any of `range`.
    pub fn identity(range: Interval) -> Self {
        Self { value: range, slope: Interval::point(1.0), curvature: Interval::ZERO }
    }

    /// A function of which nothing is known but that it has two derivatives.
    pub const UNKNOWN: Jet = Jet { value: Interval::REAL, slope: Interval::REAL, curvature: Interval::REAL };

    /// From bounds on value, slope and second derivative.
    pub fn new(value: Interval, slope: Interval, curvature: Interval) -> Self {
        Self { value, slope, curvature }
    }

    /// `self` after `inner`: (f ∘ g)'' = f''(g) g'² + f'(g) g''. The bounds of `self` must hold on the values of `inner`.
    pub fn after(self, inner: Jet) -> Self {
        Self {
            value: self.value,
            slope: self.slope * inner.slope,
            curvature: self.curvature * inner.slope.square() + self.slope * inner.curvature,
        }
    }

    /// The product of two functions of the same number.
    pub fn times(self, other: Jet) -> Self {
        Self {
            value: self.value * other.value,
            slope: self.slope * other.value + self.value * other.slope,
            curvature: self.curvature * other.value
                + (self.slope * other.slope).scale(2.0)
                + self.value * other.curvature,
        }
    }

    /// The smallest bounds that hold for both.
    pub fn hull(self, other: Jet) -> Self {
        Self {
            value: self.value.hull(other.value),
            slope: self.slope.hull(other.slope),
            curvature: self.curvature.hull(other.curvature),
        }
    }
}
