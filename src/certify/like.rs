//! Like terms: functions of one family of the same affine form, whose weights add before they are bounded.
//!
//! A prior and the change of variables often bend opposite ways where their sum does not: beta(½, ½) on the
//! logit scale is ½ log(1 + e^u) from the density and -2 log(1 + e^u) from the Jacobian, up to linear terms.

use super::ridge::Ridges;
use crate::facts::Interval;
use crate::graph::NodeId;
use crate::ops::scalar::{self, ScalarRow};
use crate::structure::Affine;
use crate::transform::INTERVAL_JACOBIAN;
use std::collections::HashMap;
use std::sync::Arc;

/// A convex function that stands for others, which differ from a multiple of it by something linear.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Family {
    /// log(1 + e^v), which differs from its mirror image by v: the sign of v does not matter.
    Softplus,
    /// e^v.
    Exponential,
}

impl Family {
    /// The family of a row of one varying argument, the first, and its multiple.
    pub(super) fn of(row: &'static ScalarRow) -> Option<(Family, f64)> {
        let softplus = [
            (&scalar::LOG1P_EXP, 1.0),
            // v - log(1 + e^v)
            (&scalar::LOG_INV_LOGIT, -1.0),
            (&scalar::LOG1M_INV_LOGIT, -1.0),
            // log width + v - 2 log(1 + e^v)
            (&INTERVAL_JACOBIAN, -2.0),
        ];
        if *row == scalar::EXP {
            return Some((Family::Exponential, 1.0));
        }
        softplus.into_iter().find(|(r, _)| *r == row).map(|(_, by)| (Family::Softplus, by))
    }

    /// Its second derivative.
    fn curvature(self) -> Interval {
        match self {
            Family::Softplus => Interval::new(0.0, 0.25),
            Family::Exponential => Interval::NONNEGATIVE,
        }
    }
}

/// Weighted members of a family that one atom consists of.
pub(super) struct Like {
    pub(super) family: Family,
    pub(super) term: usize,
    pub(super) node: NodeId,
    pub(super) affine: Arc<Affine>,
    /// Rows of `affine` and weights in the log density.
    pub(super) members: Vec<(usize, f64)>,
}

/// The weight of one function, with what rounding may have done to it.
#[derive(Default)]
struct Weight {
    sum: f64,
    size: f64,
    count: usize,
    rounded: bool,
}

impl Weight {
    fn add(&mut self, w: f64) {
        let sum = self.sum + w;
        // What the addition lost, exactly (Knuth).
        let taken = sum - self.sum;
        let lost = (self.sum - (sum - taken)) + (w - taken);
        self.rounded |= lost != 0.0;
        self.sum = sum;
        self.size += w.abs();
        self.count += 1;
    }

    /// Where the exact sum lies. A sum of two is rounded but once, which cannot change its sign.
    fn interval(&self) -> Interval {
        if !self.rounded {
            return Interval::point(self.sum);
        }
        let error = self.count.saturating_sub(2) as f64 * f64::EPSILON * self.size;
        Interval::new(self.sum - error, self.sum + error)
    }
}

/// Bounds for all like terms. Where no weight bends the wrong way there is nothing to gain from adding them
/// up.
pub(super) fn settle(all: &[Like]) -> Vec<Ridges> {
    let wrong = all.iter().any(|like| like.members.iter().any(|(_, w)| !(*w <= 0.0)));
    let mut sums: HashMap<(Family, Vec<u64>), (Weight, Option<usize>)> = HashMap::new();
    let mut keys = Vec::new();
    if wrong {
        for (at, like) in all.iter().enumerate() {
            for &(r, w) in &like.members {
                let key = (like.family, signature(like, r));
                let (weight, first) = sums.entry(key.clone()).or_default();
                weight.add(w);
                first.get_or_insert(at);
                keys.push(key);
            }
        }
    }
    let mut keys = keys.into_iter();
    let mut taken = std::collections::HashSet::new();
    let ridges = all.iter().map(|like| {
        let bound = |w: Interval| like.family.curvature() * -w;
        let mut rows = Vec::with_capacity(like.members.len());
        for &(r, w) in &like.members {
            let Some(key) = keys.next() else {
                rows.push((r, bound(Interval::point(w))));
                continue;
            };
            let sum = sums.get(&key).map_or(Interval::REAL, |(weight, _)| weight.interval());
            // The sum stands where the first of its terms stood.
            if taken.insert(key) && sum != Interval::ZERO {
                rows.push((r, bound(sum)));
            }
        }
        Ridges { term: like.term, node: like.node, affine: like.affine.clone(), rows }
    });
    ridges.collect()
}

/// The affine form as bits: constant, variables, coefficients; for an even family with the first coefficient
/// positive.
fn signature(like: &Like, r: usize) -> Vec<u64> {
    let (columns, values) = like.affine.row(r);
    let filled = || columns.iter().zip(values).filter(|(_, v)| **v != 0.0);
    let flip = like.family == Family::Softplus && filled().next().is_some_and(|(_, v)| *v < 0.0);
    let sign = if flip { -1.0 } else { 1.0 };
    let mut key = vec![(sign * like.affine.constant[r] + 0.0).to_bits()];
    filled().for_each(|(c, v)| key.extend([u64::from(*c), (sign * v).to_bits()]));
    key
}
