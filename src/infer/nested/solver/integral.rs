//! The log density of outer points with small groups of inner coordinates integrated out by a rule, and its
//! gradient.
//!
//! With θ the outer coordinates and x the inner ones, ∇ log ∫ p(θ, x) dx is the mean of ∇θ log p(θ, x) over x
//! given θ. Groups are independent given θ, so each has weights of its own at the points of the rule, and one
//! reverse sweep for each point serves all groups.

use crate::infer::nested::blocks::known;
use crate::infer::nested::lanes::{LANES, Lanes};
use crate::infer::nested::solver::Solver;
use std::sync::atomic::Ordering;

/// A point of the rule, the mode first, and the outer point that it belongs to.
type Pair = (usize, usize);

impl Solver<'_> {
    /// Adds to the log density of the outer points what Laplace's approximation misses of each group, after a
    /// solution; returns how much each point of the rule counts for each group.
    pub(in super::super::super) fn correct(&mut self, outer: &[Lanes]) -> Vec<Vec<Lanes>> {
        let this = self.conditional;
        let (Some(rule), Some(grouped)) = (&this.groups.rule, &this.groups.apart) else { return Vec::new() };
        let groups = this.group_count();
        let away = self.away_by_rule();
        let mut values = vec![vec![[f64::NEG_INFINITY; LANES]; groups]; away.len()];
        for pairs in pairs(away.len(), self.width) {
            let places = self.places_of(outer, &away, &pairs);
            let found = self.grouped.get_or_insert_with(|| grouped.evaluator()).evaluate(&places);
            for (g, found) in found.as_chunks::<LANES>().0.iter().enumerate() {
                pairs.iter().zip(found).for_each(|(&(k, b), value)| values[k][g][b] = *value);
            }
        }
        let here = values[0].clone();
        for (point, there) in values.iter_mut().enumerate() {
            for (g, (there, here)) in there.iter_mut().zip(&here).enumerate() {
                let counts = rule.counts(point, g);
                (0..self.width).for_each(|b| there[b] = counts + known(there[b] - here[b]));
            }
        }
        for g in 0..groups {
            (0..self.width).for_each(|b| self.log_marginal[b] += normalise(&mut values, g, b));
        }
        values
    }

    /// The gradient of the log density in the outer coordinates, with what was returned.
    pub(in super::super::super) fn mean_slope(
        &mut self,
        outer: &[Lanes],
        mut weights: Vec<Vec<Lanes>>,
    ) -> Vec<Lanes> {
        let this = self.conditional;
        let Some(grouped) = &this.groups.apart else { return Vec::new() };
        // What no group has a part in, and what groups have at the mode, less the latter.
        self.measure(outer, None);
        let mut out = self.partial(outer);
        weights[0].iter_mut().flatten().for_each(|weight| *weight -= 1.0);
        let away = self.away_by_rule();
        let mut times = vec![[0.0; LANES]; this.group_count()];
        for pairs in pairs(away.len(), self.width) {
            for (g, times) in times.iter_mut().enumerate() {
                pairs.iter().zip(times).for_each(|(&(k, b), time)| *time = weights[k][g][b]);
            }
            let places = self.places_of(outer, &away, &pairs);
            let slopes = self.grouped.get_or_insert_with(|| grouped.evaluator()).gradient(&places, &times);
            for (&i, out) in this.parts.outer.iter().zip(&mut out) {
                pairs.iter().zip(&slopes[i * LANES..]).for_each(|(&(_, b), slope)| out[b] += slope);
            }
        }
        this.gradients.fetch_add(away.len() * self.width, Ordering::Relaxed);
        out
    }

    /// How far from the mode each point of the rule is, the mode itself first.
    fn away_by_rule(&self) -> Vec<Vec<Lanes>> {
        let rule = self.conditional.groups.rule.iter();
        rule.flat_map(|rule| (0..rule.len()).map(|point| self.away(rule.numbers(point)))).collect()
    }

    /// All coordinates at such points; those beyond repeat the last.
    fn places_of(&self, outer: &[Lanes], away: &[Vec<Lanes>], pairs: &[Pair]) -> Vec<f64> {
        let pair = |lane: usize| pairs[lane.min(pairs.len() - 1)];
        self.places(outer, |lane| pair(lane).1, |at, lane| away[pair(lane).0][at][pair(lane).1])
    }
}

/// So many points at each of the outer points, sixteen at a time.
fn pairs(points: usize, width: usize) -> Vec<Vec<Pair>> {
    let all: Vec<Pair> = (0..points).flat_map(|k| (0..width).map(move |b| (k, b))).collect();
    all.chunks(LANES).map(<[Pair]>::to_vec).collect()
}

/// The logarithm of the sum of weights that a group has in a lane, given by their logarithms, by which these
/// are divided.
fn normalise(weights: &mut [Vec<Lanes>], g: usize, b: usize) -> f64 {
    let top = weights.iter().fold(f64::NEG_INFINITY, |top, w| top.max(w[g][b]));
    let sum: f64 = weights.iter().map(|w| (w[g][b] - top).exp()).sum();
    let total = top + sum.ln();
    weights.iter_mut().for_each(|w| w[g][b] = (w[g][b] - total).exp());
    total
}
