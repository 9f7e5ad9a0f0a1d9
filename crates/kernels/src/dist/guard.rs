//! Keeps a density honest where a computed value or argument can leave its domain: minus infinity there,
//! never a finite number or a NaN. What is known to stay inside costs nothing.

use super::event;
use super::row::{Distribution, Domain, End, Support};
use crate::facts::{Jet, Range, Structure};
use crate::graph::{BuildError, Builder, NodeId};
use crate::ops::scalar::{Facts, GT, LT, WHERE, scalar_row};
use std::f64::consts::LN_2;

scalar_row! {
    WITHIN = "within"(x, low, high), "0 where low <= x <= high, minus infinity elsewhere";
    value {
        let outside = T::splat(f64::NEG_INFINITY);
        x.if_less(low, outside, high.if_less(x, outside, T::zero()))
    };
    slopes(_y) [T::zero(), T::zero(), T::zero()];
    probes [&[0.5, 0.0, 1.0]]
}

scalar_row! {
    KEPT = "kept"(x, low, high, instead), "x where low <= x <= high, something harmless elsewhere";
    value x.if_less(low, instead, high.if_less(x, instead, x));
    slopes(_y) {
        let inside = x.if_less(low, T::zero(), high.if_less(x, T::zero(), T::one()));
        [inside, T::zero(), T::zero(), T::zero()]
    };
    probes [&[0.5, 0.0, 1.0, 0.25], &[1.5, 0.0, 1.0, 0.25]]
}

scalar_row! {
    OR_NEVER = "or_never"(x), "x, or minus infinity where x is not a number";
    value x.if_equal(x, x, T::splat(f64::NEG_INFINITY));
    slopes(_y) [x.if_equal(x, T::one(), T::zero())];
    probes [&[0.5], &[-3.0]];
    // Bounds speak of numbers only, and every number is left alone.
    facts Facts::of(|a, _| Some(Jet::identity(a[0])))
}

scalar_row! {
    BETWEEN = "log_between"(up_to, below, from, above), "log of the mass between two limits, by that up to the upper and below the lower one, and from the lower and above the upper one on";
    value {
        // Beyond the median what lies below is nearly all, and differences of that are rounding.
        let beyond = |yes: T, no: T| T::splat(-LN_2).if_less(below, yes, no);
        let (all, less) = (beyond(from, up_to), beyond(above, below));
        all + (less - all).log1m_exp()
    };
    slopes(_y) {
        let beyond = |yes: T, no: T| T::splat(-LN_2).if_less(below, yes, no);
        let gap = beyond(above - from, below - up_to);
        let (all, less) = (-(gap.expm1().recip()), -((-gap).expm1().recip()));
        let zero = T::zero();
        [beyond(zero, all), beyond(zero, less), beyond(all, zero), beyond(less, zero)]
    };
    probes [&[-0.5, -1.5, -0.3, -1.0], &[-0.1, -0.3, -1.2, -2.5]]
}

/// How far from 1 a sum may be that should be 1, as in Stan.
pub const SUM_WITHIN: f64 = 1e-8;

/// Something that must lie between two ends.
pub(super) struct Check {
    /// The value and its ends.
    pub(super) of: [NodeId; 3],
    /// How many of its last axes belong to one event.
    pub(super) rank: usize,
}

/// A value and arguments that are safe to compute with, and what must hold of the originals.
pub(super) struct Guarded {
    /// The value.
    pub(super) x: NodeId,
    /// The arguments.
    pub(super) args: Vec<NodeId>,
    /// What must hold.
    pub(super) checks: Vec<Check>,
    /// Whether the density may still be no number: outside a set that only the density itself can tell.
    pub(super) never: bool,
}

impl Guarded {
    /// Replaces what lies outside by something harmless, unless nothing can.
    pub(super) fn new(
        b: &mut Builder,
        dist: &Distribution,
        x: NodeId,
        args: &[NodeId],
    ) -> Result<Guarded, BuildError> {
        let mut guarded = Guarded { x, args: args.to_vec(), checks: Vec::new(), never: false };
        guarded.x = guarded.value(b, dist.support, dist.event, x)?;
        for (k, spec) in dist.args.iter().enumerate() {
            // A default may lie outside the domain, and then stands for something else.
            if spec.default.is_none() || spec.default != b.scalar_of(args[k]) {
                guarded.args[k] = guarded.argument(b, spec.domain, spec.rank, args[k])?;
            }
        }
        Ok(guarded)
    }

    fn value(
        &mut self,
        b: &mut Builder,
        support: Support,
        event: usize,
        x: NodeId,
    ) -> Result<NodeId, BuildError> {
        match support {
            // A category picks an entry, and is refused where there is none.
            Support::Integers(_, End::Length(_)) => Ok(x),
            Support::Interval(low, high) | Support::Integers(low, high) => {
                let (low, high) = (self.end(b, low), self.end(b, high));
                self.between(b, x, low, high, event)
            }
            Support::Counts => {
                let ends = ends(Range::NON_NEGATIVE);
                self.between(b, x, Limit::Number(ends.0), Limit::Number(ends.1), event)
            }
            Support::Simplex => self.simplex(b, x),
            Support::CovMatrix => self.matrix(b, x, Structure::Covariance),
            Support::CorrMatrix => self.matrix(b, x, Structure::Correlation),
            Support::CholeskyCorr => self.matrix(b, x, Structure::CholeskyCorrelation),
            Support::Circle | Support::Anywhere => Ok(x),
        }
    }

    fn argument(
        &mut self,
        b: &mut Builder,
        domain: Domain,
        rank: usize,
        a: NodeId,
    ) -> Result<NodeId, BuildError> {
        match domain {
            Domain::Real | Domain::Count | Domain::Data => Ok(a),
            Domain::Positive | Domain::NonNegative | Domain::Unit => {
                let (low, high) = domain.range().map_or((f64::NEG_INFINITY, f64::INFINITY), ends);
                self.between(b, a, Limit::Number(low), Limit::Number(high), rank)
            }
            Domain::Simplex => self.simplex(b, a),
            Domain::Ordered => {
                if !b.has_structure(a, Structure::Ordered) {
                    self.never = true;
                    self.increasing(b, a)?;
                }
                Ok(a)
            }
            Domain::Covariance => self.matrix(b, a, Structure::Covariance),
            Domain::CholeskyFactor => self.matrix(b, a, Structure::CholeskyFactor),
        }
    }

    fn end(&self, b: &mut Builder, end: End) -> Limit {
        match end {
            End::At(x) => Limit::Number(x),
            End::Past(x) => Limit::Number(x.next_up()),
            End::Arg(k) => Limit::Node(self.args[k]),
            End::Length(k) => Limit::Number(b.dims(self.args[k]).last().map_or(0.0, |&n| n as f64)),
        }
    }

    /// Values between two ends, with a check unless they can be nowhere else.
    fn between(
        &mut self,
        b: &mut Builder,
        x: NodeId,
        low: Limit,
        high: Limit,
        rank: usize,
    ) -> Result<NodeId, BuildError> {
        let found = b.range(x);
        let above = match low {
            Limit::Number(low) => found.low.at >= low || (!found.low.closed && found.low.at.next_up() >= low),
            Limit::Node(low) => found.low.at >= b.range(low).high.at,
        };
        let below = match high {
            Limit::Number(high) => found.high.at <= high,
            Limit::Node(high) => found.high.at <= b.range(high).low.at,
        };
        if above && below {
            return Ok(x);
        }
        let (finite_low, finite_high) = (low.is_finite(), high.is_finite());
        let (low, high) = (low.node(b), high.node(b));
        let inside = b.map(&WITHIN, &[x, low, high])?;
        if b.constant_of(inside).is_some_and(|c| c.iter().all(|&c| c == 0.0)) {
            return Ok(x);
        }
        self.checks.push(Check { of: [x, low, high], rank });
        let instead = harmless(b, finite_low.then_some(low), finite_high.then_some(high))?;
        b.map(&KEPT, &[x, low, high, instead])
    }

    fn simplex(&mut self, b: &mut Builder, x: NodeId) -> Result<NodeId, BuildError> {
        if b.has_structure(x, Structure::Simplex) || b.dims(x).is_empty() {
            return Ok(x);
        }
        let kept = self.between(b, x, Limit::Number(0.0), Limit::Number(f64::INFINITY), 1)?;
        let sum = event::sum_last(b, x)?;
        let (low, high) = (Limit::Number(1.0 - SUM_WITHIN), Limit::Number(1.0 + SUM_WITHIN));
        self.between(b, sum, low, high, 0)?;
        Ok(kept)
    }

    fn increasing(&mut self, b: &mut Builder, a: NodeId) -> Result<(), BuildError> {
        let dims = b.dims(a).to_vec();
        let Some((&n, batch)) = dims.split_last() else { return Ok(()) };
        if n < 2 {
            return Ok(());
        }
        let mut shape = batch.to_vec();
        shape.push(n - 1);
        let events: usize = batch.iter().product();
        let part =
            |from: usize| (0..events).flat_map(move |e| (0..n - 1).map(move |i| (e * n + i + from) as u32));
        let (before, after) =
            (b.take(a, part(0).collect(), shape.clone()), b.take(a, part(1).collect(), shape));
        let gaps = b.sub(after, before)?;
        let (low, high) = ends(Range::POSITIVE);
        self.between(b, gaps, Limit::Number(low), Limit::Number(high), 1).map(|_| ())
    }

    fn matrix(&mut self, b: &mut Builder, a: NodeId, structure: Structure) -> Result<NodeId, BuildError> {
        let dims = b.dims(a).to_vec();
        let [batch @ .., n, m] = dims.as_slice() else { return Ok(a) };
        if b.has_structure(a, structure) || n != m {
            return Ok(a);
        }
        self.never = true;
        let events: usize = batch.iter().product();
        let entries = |b: &mut Builder, keep: fn(usize, usize) -> bool| {
            let of_one: Vec<usize> = (0..n * n).filter(|p| keep(p / n, p % n)).collect();
            let table = (0..events).flat_map(|e| of_one.iter().map(move |p| (e * n * n + p) as u32));
            let mut shape = batch.to_vec();
            shape.push(of_one.len());
            let table = table.collect();
            b.take(a, table, shape)
        };
        let near = |x: f64| (Limit::Number(x - SUM_WITHIN), Limit::Number(x + SUM_WITHIN));
        match structure {
            Structure::Correlation => {
                let diagonal = entries(b, |i, j| i == j);
                let (low, high) = near(1.0);
                self.between(b, diagonal, low, high, 1)?;
            }
            Structure::CholeskyCorrelation => {
                let squares = b.unary(&crate::ops::scalar::SQUARE, a);
                let lengths = event::sum_last(b, squares)?;
                let (low, high) = near(1.0);
                self.between(b, lengths, low, high, 1)?;
                let above = entries(b, |i, j| i < j);
                let (low, high) = near(0.0);
                self.between(b, above, low, high, 1)?;
            }
            Structure::Covariance | Structure::CholeskyFactor | Structure::Simplex | Structure::Ordered => {}
        }
        Ok(a)
    }
}

/// An end of what is allowed, as a number or a node.
#[derive(Clone, Copy)]
enum Limit {
    Number(f64),
    Node(NodeId),
}

/// A number well inside two ends.
fn harmless(b: &mut Builder, low: Option<NodeId>, high: Option<NodeId>) -> Result<NodeId, BuildError> {
    let one = b.number(1.0);
    match (low, high) {
        (Some(low), Some(high)) => {
            let (sum, half) = (b.add2(low, high)?, b.number(0.5));
            b.mul(half, sum)
        }
        (Some(low), None) => b.add2(low, one),
        (None, Some(high)) => b.sub(high, one),
        (None, None) => Ok(one),
    }
}

impl Limit {
    fn is_finite(self) -> bool {
        match self {
            Limit::Number(x) => x.is_finite(),
            Limit::Node(_) => true,
        }
    }

    fn node(self, b: &mut Builder) -> NodeId {
        match self {
            Limit::Number(x) => b.number(x),
            Limit::Node(id) => id,
        }
    }
}

/// The least and the largest number of a range; an open end gives its neighbour.
fn ends(range: Range) -> (f64, f64) {
    let low =
        if range.low.closed || range.low.at.is_infinite() { range.low.at } else { range.low.at.next_up() };
    let high = if range.high.closed || range.high.at.is_infinite() {
        range.high.at
    } else {
        range.high.at.next_down()
    };
    (low, high)
}

/// x between two limits that are nodes: what a truncation keeps. Gives the check, an array like `x`; None if
/// x can be nowhere else.
pub fn within(
    b: &mut Builder,
    x: NodeId,
    low: Option<NodeId>,
    high: Option<NodeId>,
) -> Result<Option<NodeId>, BuildError> {
    let found = b.range(x);
    let above = low.is_none_or(|l| found.low.at >= b.range(l).high.at);
    let below = high.is_none_or(|h| found.high.at <= b.range(h).low.at);
    if above && below {
        return Ok(None);
    }
    let low = low.unwrap_or_else(|| b.number(f64::NEG_INFINITY));
    let high = high.unwrap_or_else(|| b.number(f64::INFINITY));
    let check = b.map(&WITHIN, &[x, low, high])?;
    let holds = b.constant_of(check).is_some_and(|c| c.iter().all(|&c| c == 0.0));
    Ok((!holds).then_some(check))
}

/// log P(X ≤ x), or log P(X > x) if `above`, element by element; None if the distribution has no such
/// function.
pub fn log_tail(
    b: &mut Builder,
    dist: &Distribution,
    above: bool,
    x: NodeId,
    args: &[NodeId],
) -> Result<Option<NodeId>, BuildError> {
    let Some(row) = (if above { dist.lccdf } else { dist.lcdf }) else { return Ok(None) };
    let mut guarded = Guarded { x, args: args.to_vec(), checks: Vec::new(), never: false };
    let support = dist.support.interval().map_or(dist.support, |(low, high)| Support::Interval(low, high));
    let inner = guarded.value(b, support, 0, x)?;
    let beyond = guarded.checks.pop();
    for (k, spec) in dist.args.iter().enumerate() {
        guarded.args[k] = guarded.argument(b, spec.domain, spec.rank, args[k])?;
    }
    let mut all = vec![inner];
    all.extend(&guarded.args);
    let mut value = b.map(row, &all)?;
    if let Some(Check { of: [x, low, high], .. }) = beyond {
        let (nothing, all) = (b.number(f64::NEG_INFINITY), b.number(0.0));
        let (before, after) = if above { (all, nothing) } else { (nothing, all) };
        let is_before = b.map(&LT, &[x, low])?;
        let is_after = b.map(&GT, &[x, high])?;
        value = b.map(&WHERE, &[is_before, before, value])?;
        value = b.map(&WHERE, &[is_after, after, value])?;
    }
    for check in guarded.checks {
        let penalty = b.map(&WITHIN, &check.of)?;
        value = b.add2(value, penalty)?;
    }
    Ok(Some(value))
}
