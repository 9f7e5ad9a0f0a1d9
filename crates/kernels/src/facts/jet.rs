//! Bounds on a function of one number and on its first two derivatives.

use super::interval::Interval;

/// Where value, slope and second derivative of a function of one number lie, for every argument that it may
/// get.
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

    /// `slope` x + `constant` for x in `range`.
    pub fn linear(range: Interval, slope: f64, constant: f64) -> Self {
        Self::identity(range).scaled(slope).shifted(constant)
    }

    /// A number, whatever the argument.
    pub fn constant(c: f64) -> Self {
        Self { value: Interval::point(c), slope: Interval::ZERO, curvature: Interval::ZERO }
    }

    /// The function times `c`.
    pub fn scaled(self, c: f64) -> Self {
        if !c.is_finite() {
            return Self::UNKNOWN;
        }
        Self { value: self.value.scale(c), slope: self.slope.scale(c), curvature: self.curvature.scale(c) }
    }

    /// The function plus `c`.
    pub fn shifted(self, c: f64) -> Self {
        Self { value: self.value.shift(c), ..self }
    }

    /// x ↦ f(c x + b), when `self` bounds f on every c x + b.
    pub fn stretched(self, c: f64) -> Self {
        let square = c * c;
        // A square that over- or underflowed says nothing about the product with an unbounded curvature.
        if !square.is_finite() || (square == 0.0 && c != 0.0) {
            return Self { value: self.value, ..Self::UNKNOWN };
        }
        Self { value: self.value, slope: self.slope.scale(c), curvature: self.curvature.scale(square) }
    }

    /// `self` after `inner`: (f ∘ g)'' = f''(g) g'² + f'(g) g''. The bounds of `self` must hold on the values
    /// of `inner`.
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

    /// Two sets of bounds on the same function as one.
    pub fn meet(self, other: Jet) -> Self {
        Self {
            value: self.value.meet(other.value),
            slope: self.slope.meet(other.slope),
            curvature: self.curvature.meet(other.curvature),
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

impl std::ops::Add for Jet {
    type Output = Jet;
    fn add(self, other: Jet) -> Jet {
        Jet {
            value: self.value + other.value,
            slope: self.slope + other.slope,
            curvature: self.curvature + other.curvature,
        }
    }
}

impl std::ops::Neg for Jet {
    type Output = Jet;
    fn neg(self) -> Jet {
        Jet { value: -self.value, slope: -self.slope, curvature: -self.curvature }
    }
}
