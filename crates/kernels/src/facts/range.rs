//! Between which numbers a value lies: interval arithmetic with open and closed ends.

/// An end of a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Where it is.
    pub at: f64,
    /// Whether the number itself can be taken. Infinite ends are never.
    pub closed: bool,
}

impl Edge {
    const fn open(at: f64) -> Edge {
        Edge { at, closed: false }
    }

    const fn closed(at: f64) -> Edge {
        Edge { at, closed: at.is_finite() }
    }

    fn plus(self, other: Edge) -> Edge {
        Edge { at: self.at + other.at, closed: self.closed && other.closed }
    }

    /// A product of ends; nothing times an infinite end is nothing.
    fn times(self, other: Edge) -> Edge {
        if self.at == 0.0 || other.at == 0.0 {
            let taken = (self.at == 0.0 && self.closed) || (other.at == 0.0 && other.closed);
            return Edge { at: 0.0, closed: taken };
        }
        Edge { at: self.at * other.at, closed: self.closed && other.closed }
    }

    fn lower(self, other: Edge) -> Edge {
        if self.at < other.at || (self.at == other.at && self.closed) { self } else { other }
    }

    fn upper(self, other: Edge) -> Edge {
        if self.at > other.at || (self.at == other.at && self.closed) { self } else { other }
    }
}

/// Every number that a value can be lies between two ends, rounding aside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lower end.
    pub low: Edge,
    /// The upper end.
    pub high: Edge,
}

impl Range {
    /// All real numbers.
    pub const REAL: Range = Range::between(f64::NEG_INFINITY, f64::INFINITY);
    /// Numbers above zero.
    pub const POSITIVE: Range = Range::between(0.0, f64::INFINITY);
    /// Zero and above.
    pub const NON_NEGATIVE: Range = Range { low: Edge::closed(0.0), high: Edge::open(f64::INFINITY) };
    /// From zero to one, both included.
    pub const UNIT: Range = Range { low: Edge::closed(0.0), high: Edge::closed(1.0) };

    /// Between two numbers, neither included.
    pub const fn between(low: f64, high: f64) -> Range {
        Range { low: Edge::open(low), high: Edge::open(high) }
    }

    /// From one number to another, both included.
    pub const fn from_to(low: f64, high: f64) -> Range {
        Range { low: Edge::closed(low), high: Edge::closed(high) }
    }

    /// The least range that holds these numbers; all reals if one of them is not a number.
    pub fn of(numbers: &[f64]) -> Range {
        let Some(&first) = numbers.first() else { return Range::REAL };
        let start = (first, first);
        let (low, high) = numbers.iter().fold(start, |(a, b), &x| (a.min(x), b.max(x)));
        if numbers.iter().any(|x| x.is_nan()) { Range::REAL } else { Range::from_to(low, high) }
    }

    /// Whether every number of this range lies in `other`.
    pub fn within(self, other: Range) -> bool {
        let low = self.low.at > other.low.at
            || (self.low.at == other.low.at && (other.low.closed || !self.low.closed));
        let high = self.high.at < other.high.at
            || (self.high.at == other.high.at && (other.high.closed || !self.high.closed));
        low && high
    }

    /// The least range that holds both.
    pub fn or(self, other: Range) -> Range {
        Range { low: self.low.lower(other.low), high: self.high.upper(other.high) }
    }

    /// x + y
    pub fn plus(self, other: Range) -> Range {
        Range { low: self.low.plus(other.low), high: self.high.plus(other.high) }
    }

    /// -x
    pub fn negated(self) -> Range {
        let flip = |e: Edge| Edge { at: -e.at, ..e };
        Range { low: flip(self.high), high: flip(self.low) }
    }

    /// x · y
    pub fn times(self, other: Range) -> Range {
        let ends = [
            self.low.times(other.low),
            self.low.times(other.high),
            self.high.times(other.low),
            self.high.times(other.high),
        ];
        let fold = |f: fn(Edge, Edge) -> Edge| ends[1..].iter().fold(ends[0], |a, &b| f(a, b));
        Range { low: fold(Edge::lower), high: fold(Edge::upper) }
    }

    /// |x|
    pub fn magnitude(self) -> Range {
        if self.low.at >= 0.0 {
            return self;
        }
        if self.high.at <= 0.0 {
            return self.negated();
        }
        Range { low: Edge::closed(0.0), high: self.high.upper(self.negated().high) }
    }

    /// 1 / x, for a range on one side of zero; all reals otherwise.
    pub fn inverse(self) -> Range {
        let one_side = self.low.at >= 0.0 && !(self.low.at == 0.0 && self.low.closed)
            || self.high.at <= 0.0 && !(self.high.at == 0.0 && self.high.closed);
        if !one_side {
            return Range::REAL;
        }
        let sign = if self.low.at >= 0.0 { 1.0 } else { -1.0 };
        let flip = |e: Edge| match e.at {
            0.0 => Edge::open(sign * f64::INFINITY),
            at => Edge { at: 1.0 / at, ..e },
        };
        Range { low: flip(self.high), high: flip(self.low) }
    }

    /// f(x) for an increasing f; ends where f has no value become infinite.
    pub fn increasing(self, f: impl Fn(f64) -> f64) -> Range {
        let map = |e: Edge, none: f64| match f(e.at) {
            y if y.is_nan() => Edge::open(none),
            y => Edge { at: y, closed: e.closed && y.is_finite() },
        };
        Range { low: map(self.low, f64::NEG_INFINITY), high: map(self.high, f64::INFINITY) }
    }

    /// The larger of x and y.
    pub fn larger(self, other: Range) -> Range {
        let low = if other.low.at > self.low.at { other.low } else { self.low };
        Range { low, high: self.high.upper(other.high) }
    }

    /// The smaller of x and y.
    pub fn smaller(self, other: Range) -> Range {
        self.negated().larger(other.negated()).negated()
    }

    /// What lies in both.
    pub fn and(self, other: Range) -> Range {
        let tighter = |a: Edge, b: Edge, first: bool| match (a.at == b.at, first) {
            (true, _) => Edge { at: a.at, closed: a.closed && b.closed },
            (false, true) => a,
            (false, false) => b,
        };
        Range {
            low: tighter(self.low, other.low, self.low.at > other.low.at),
            high: tighter(self.high, other.high, self.high.at < other.high.at),
        }
    }

    /// The sum of `n` such values.
    pub fn sum_of(self, n: usize) -> Range {
        let scaled = |e: Edge| Edge { at: if n == 0 { 0.0 } else { e.at * n as f64 }, ..e };
        Range { low: scaled(self.low), high: scaled(self.high) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLES: [Range; 7] = [
        Range::REAL,
        Range::POSITIVE,
        Range::NON_NEGATIVE,
        Range::UNIT,
        Range::between(-2.0, 3.0),
        Range::from_to(-3.0, -1.0),
        Range::between(0.0, 1.0),
    ];

    fn members(r: Range) -> Vec<f64> {
        [-1e9, -3.0, -2.5, -1.0, -0.1, 0.0, 1e-9, 0.5, 1.0, 2.0, 1e9]
            .into_iter()
            .filter(|&x| Range::from_to(x, x).within(r))
            .collect()
    }

    #[test]
    fn the_range_of_a_result_holds_every_result() {
        for a in SAMPLES {
            for x in members(a) {
                let holds = |r: Range, y: f64| assert!(Range::of(&[y]).within(r), "{y} of {x} in {r:?}");
                holds(a.negated(), -x);
                holds(a.magnitude(), x.abs());
                holds(a.increasing(f64::atan), x.atan());
                if x != 0.0 {
                    holds(a.inverse(), 1.0 / x);
                }
                for b in SAMPLES {
                    for y in members(b) {
                        holds(a.plus(b), x + y);
                        holds(a.times(b), x * y);
                        holds(a.larger(b), x.max(y));
                        holds(a.smaller(b), x.min(y));
                        holds(a.or(b), x);
                    }
                }
            }
        }
    }

    #[test]
    fn zero_is_excluded_only_where_it_cannot_be_reached() {
        assert_eq!(Range::POSITIVE.times(Range::POSITIVE), Range::POSITIVE);
        assert_eq!(Range::POSITIVE.times(Range::NON_NEGATIVE), Range::NON_NEGATIVE);
        assert_eq!(Range::REAL.magnitude(), Range::NON_NEGATIVE);
        assert_eq!(Range::REAL.increasing(f64::exp), Range::POSITIVE);
        assert!(Range::between(0.0, 1.0).within(Range::UNIT));
        assert!(!Range::NON_NEGATIVE.within(Range::POSITIVE));
        assert_eq!(Range::POSITIVE.inverse(), Range::POSITIVE);
    }
}
