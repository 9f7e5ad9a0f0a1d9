//! Draws of predicted quantities: from the distribution as written, at the values that its arguments have at
//! one draw.

use crate::dist::{ArgSpec, Distribution, End, Sampler};
use crate::facts::Range;
use crate::graph::{Graph, NodeId};
use crate::lower::{Dist, Predicted};
use crate::ops::operand::Broadcast;
use crate::ops::scalar::ScalarRow;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution as _, Open01};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Draws that are refused before a truncated distribution is given up.
const MOST_REFUSED: usize = 100_000;

/// A generator that depends on the point alone: the same point gives the same prediction, on any thread.
pub(super) fn generator(z: impl Iterator<Item = f64>) -> ChaCha8Rng {
    let mut h = DefaultHasher::new();
    z.for_each(|x| x.to_bits().hash(&mut h));
    ChaCha8Rng::seed_from_u64(h.finish())
}

/// A draw of one number, from the arguments of its distribution.
type Draw = fn(&mut ChaCha8Rng, &[f64]) -> f64;

/// Values of nodes at one draw.
pub(super) struct Values<'a> {
    pub(super) graph: &'a Graph,
    /// Of the nodes that are not constant.
    pub(super) at: HashMap<NodeId, Vec<f64>>,
}

impl Values<'_> {
    /// The numbers of a node.
    pub(super) fn of(&self, id: NodeId) -> &[f64] {
        match self.graph.node(id).constant() {
            Some(values) => values,
            None => self.at.get(&id).map_or(&[], Vec::as_slice),
        }
    }

    /// Element `i` of an array that broadcasts to `dims`.
    fn element(&self, id: NodeId, dims: &[usize], i: usize) -> f64 {
        let index = Broadcast::between(&self.graph.node(id).dims, dims);
        self.of(id).get(index.at(i)).copied().unwrap_or(f64::NAN)
    }

    /// One draw of a predicted quantity.
    pub(super) fn draw(&self, predicted: &Predicted, rng: &mut ChaCha8Rng) -> Vec<f64> {
        self.from(&predicted.dist, &predicted.dims, rng)
    }

    fn from(&self, dist: &Dist, dims: &[usize], rng: &mut ChaCha8Rng) -> Vec<f64> {
        let count: usize = dims.iter().product();
        match dist {
            Dist::Row { row, args, .. } => self.draw_row(row, args, dims, rng),
            Dist::Mixture(parts) => {
                let all: Vec<Vec<f64>> = parts.iter().map(|(_, part)| self.from(part, dims, rng)).collect();
                let pick = |i: usize| {
                    let weights = parts.iter().map(|(w, _)| self.element(*w, dims, i));
                    let total: f64 = weights.clone().sum();
                    if !weights.clone().all(|w| w >= 0.0) {
                        return f64::NAN;
                    }
                    let mut left = total * uniform(rng);
                    let chosen = weights.take_while(|w| {
                        left -= w;
                        left > 0.0
                    });
                    all[chosen.count().min(all.len() - 1)][i]
                };
                if all.is_empty() { vec![f64::NAN; count] } else { (0..count).map(pick).collect() }
            }
            Dist::Truncated { inner, lower, upper } => (0..count)
                .map(|i| {
                    let end = |e: &Option<NodeId>, none: f64| e.map_or(none, |e| self.element(e, dims, i));
                    let ends = (end(lower, f64::NEG_INFINITY), end(upper, f64::INFINITY));
                    self.between(inner, dims, i, ends, rng)
                })
                .collect(),
            Dist::Censored { inner, lower, upper, .. } => {
                let mut all = self.from(inner, dims, rng);
                for (i, x) in all.iter_mut().enumerate() {
                    *x = upper.map_or(*x, |u| x.min(self.element(u, dims, i)));
                    *x = lower.map_or(*x, |l| x.max(self.element(l, dims, i)));
                }
                all
            }
            Dist::ZeroInflated { probability, inner } => {
                let mut all = self.from(inner, dims, rng);
                for (i, x) in all.iter_mut().enumerate() {
                    let probability = self.element(*probability, dims, i);
                    if !(0.0..=1.0).contains(&probability) {
                        *x = f64::NAN;
                    } else if uniform(rng) < probability {
                        *x = 0.0;
                    }
                }
                all
            }
        }
    }

    fn draw_row(
        &self,
        row: &Distribution,
        args: &[NodeId],
        dims: &[usize],
        rng: &mut ChaCha8Rng,
    ) -> Vec<f64> {
        let count: usize = dims.iter().product();
        match row.sample {
            Sampler::None => vec![f64::NAN; count],
            Sampler::Number(draw) => {
                let at = |i: usize| -> Vec<f64> { args.iter().map(|&a| self.element(a, dims, i)).collect() };
                (0..count).map(|i| allowed_draw(row, draw, &at(i), rng)).collect()
            }
            Sampler::Event(draw) => {
                let (batch, event) = dims.split_at(dims.len().saturating_sub(row.event));
                let size: usize = event.iter().product();
                let mut out = vec![f64::NAN; count];
                for (k, one) in out.chunks_mut(size.max(1)).enumerate() {
                    let blocks: Vec<&[f64]> = args
                        .iter()
                        .zip(row.args)
                        .map(|(&a, spec)| self.block(a, spec.rank, batch, k))
                        .collect();
                    let single =
                        |(block, spec): (&&[f64], &ArgSpec)| spec.rank > 0 || is_allowed(spec, block);
                    if blocks.iter().zip(row.args).all(single) {
                        draw(rng, &blocks, one);
                    }
                }
                out
            }
        }
    }

    /// The part of an argument that belongs to event `k`: its last `rank` axes.
    fn block(&self, id: NodeId, rank: usize, batch: &[usize], k: usize) -> &[f64] {
        let dims = &self.graph.node(id).dims;
        let (outer, inner) = dims.split_at(dims.len().saturating_sub(rank));
        let size: usize = inner.iter().product();
        let start = Broadcast::between(outer, batch).at(k) * size;
        self.of(id).get(start..start + size).unwrap_or(&[])
    }

    /// A draw of element `i` between two ends: by solving for the share of probability below it where tail
    /// probabilities are known, by refusing others if not.
    fn between(&self, dist: &Dist, dims: &[usize], i: usize, ends: (f64, f64), rng: &mut ChaCha8Rng) -> f64 {
        if let Dist::Row { row, args, .. } = dist
            && let (Some(lcdf), Some(lccdf), false) = (row.lcdf, row.lccdf, row.discrete)
        {
            let at: Vec<f64> = args.iter().map(|&a| self.element(a, dims, i)).collect();
            if !are_allowed(row, &at) {
                return f64::NAN;
            }
            let below = |x: f64| if x.is_infinite() { end(x, false) } else { value(lcdf, x, &at) };
            let above = |x: f64| if x.is_infinite() { end(x, true) } else { value(lccdf, x, &at) };
            // In the tail on the side of the ends probabilities keep their digits.
            let low_side = below(ends.1) < above(ends.0);
            let share = uniform(rng);
            return if low_side {
                -solve(|x| below(-x), (-ends.1, -ends.0), share)
            } else {
                solve(above, ends, share)
            };
        }
        for _ in 0..MOST_REFUSED {
            let x = self.one(dist, dims, i, rng);
            if x >= ends.0 && x <= ends.1 {
                return x;
            }
        }
        f64::NAN
    }

    /// A draw of element `i` alone.
    fn one(&self, dist: &Dist, dims: &[usize], i: usize, rng: &mut ChaCha8Rng) -> f64 {
        match dist {
            Dist::Row { row, args, .. } => match row.sample {
                Sampler::Number(draw) => {
                    let at: Vec<f64> = args.iter().map(|&a| self.element(a, dims, i)).collect();
                    allowed_draw(row, draw, &at, rng)
                }
                Sampler::Event(_) | Sampler::None => f64::NAN,
            },
            Dist::Mixture(_) | Dist::Truncated { .. } | Dist::Censored { .. } | Dist::ZeroInflated { .. } => {
                self.from(dist, dims, rng).get(i).copied().unwrap_or(f64::NAN)
            }
        }
    }
}

/// A draw, not a number where there is no such distribution.
fn allowed_draw(row: &Distribution, draw: Draw, at: &[f64], rng: &mut ChaCha8Rng) -> f64 {
    if are_allowed(row, at) { draw(rng, at) } else { f64::NAN }
}

/// Whether a distribution has such arguments.
fn are_allowed(row: &Distribution, at: &[f64]) -> bool {
    let empty = match row.support.interval() {
        Some((End::Arg(low), End::Arg(high))) => !(at[low] < at[high]),
        _ => false,
    };
    !empty && row.args.iter().zip(at).all(|(spec, x)| is_allowed(spec, &[*x]))
}

fn is_allowed(spec: &ArgSpec, numbers: &[f64]) -> bool {
    let inside = |x: &f64| spec.domain.range().is_none_or(|range| Range::of(&[*x]).within(range));
    numbers.iter().all(|x| !x.is_nan() && inside(x))
}

/// log P(X ≤ x), or log P(X > x) if `above`, at an infinite x.
fn end(x: f64, above: bool) -> f64 {
    if (x > 0.0) == above { f64::NEG_INFINITY } else { 0.0 }
}

/// The x between two ends at which exp(g) has come down, from the first end on, by a share of the way to the
/// second; g is a decreasing log probability.
fn solve(g: impl Fn(f64) -> f64, ends: (f64, f64), share: f64) -> f64 {
    let (start, stop) = (g(ends.0), g(ends.1));
    let target = start + (-share * -(stop - start).exp_m1()).ln_1p();
    let (mut low, mut high) = ends;
    // Finite ends first: steps that double, away from a finite end or from 0.
    let mut step = 1.0;
    if low.is_infinite() {
        low = if high.is_finite() { high } else { 0.0 };
        while g(low) < target && step < 1e300 {
            low -= step;
            step *= 2.0;
        }
    }
    step = 1.0;
    if high.is_infinite() {
        high = low;
        while g(high) > target && step < 1e300 {
            high += step;
            step *= 2.0;
        }
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if g(middle) > target { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    Open01.sample(rng)
}

/// A function of a value and arguments.
fn value(row: &ScalarRow, x: f64, args: &[f64]) -> f64 {
    let all: Vec<f64> = std::iter::once(x).chain(args.iter().copied()).collect();
    row.at(&all)
}
