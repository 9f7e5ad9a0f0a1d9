//! Choices between two branches, of which the one that is not taken cannot spoil the gradient.

use super::{BuildError, Builder, NodeId, Op};
use crate::ops::scalar::{
    ABS, ADD, AND, EQ, FMA, GE, GT, LE, LT, MUL, NE, NEG, NOT, OR, SQUARE, SUB, ScalarRow, WHERE,
};
use std::collections::{BTreeSet, HashMap, VecDeque};

/// Most functions of a branch that are looked at.
const MOST: usize = 64;

/// Functions that are finite wherever their arguments are, and so are their slopes.
static FINITE: [&ScalarRow; 17] =
    [&ADD, &SUB, &MUL, &NEG, &SQUARE, &FMA, &ABS, &LT, &LE, &GT, &GE, &EQ, &NE, &AND, &OR, &NOT, &WHERE];

impl Builder {
    /// `a` where `c` is true, `b` elsewhere.
    ///
    /// The adjoint of an element that is not taken is zero, and zero times a slope that is infinite or no
    /// number (√x at 0, log x below it) is no number. For such elements the functions within a branch read a
    /// point at which they are known to be smooth instead.
    pub fn choose(&mut self, c: NodeId, a: NodeId, b: NodeId) -> Result<NodeId, BuildError> {
        let a = self.guarded(a, c, true)?;
        let b = self.guarded(b, c, false)?;
        self.map(&WHERE, &[c, a, b])
    }

    /// A branch, taken where the truth of `c` is `taken`.
    fn guarded(&mut self, branch: NodeId, c: NodeId, taken: bool) -> Result<NodeId, BuildError> {
        let mut now: HashMap<NodeId, NodeId> = HashMap::new();
        let within = self.within(branch, c);
        if within.iter().all(|&(id, row)| self.is_harmless(id, row)) {
            return Ok(branch);
        }
        for (id, row) in within {
            let mut args = self.graph().node(id).args.clone();
            args.iter_mut().for_each(|a| *a = now.get(a).copied().unwrap_or(*a));
            for (arg, &x) in args.iter_mut().zip(row.probes.first().copied().unwrap_or_default()) {
                // What is one number for all elements is so whichever branch these take.
                if self.meets(*arg, c) && (!FINITE.contains(&row) || !self.is_finite(*arg)) {
                    let x = self.number(x);
                    *arg = self.map(&WHERE, &if taken { [c, *arg, x] } else { [c, x, *arg] })?;
                }
            }
            now.insert(id, self.map(row, &args)?);
        }
        Ok(now.get(&branch).copied().unwrap_or(branch))
    }

    /// Whether a function cannot have a slope that is no number, as far as is known of what it reads.
    fn is_harmless(&self, id: NodeId, row: &'static ScalarRow) -> bool {
        FINITE.contains(&row) && self.graph().node(id).args.iter().all(|&a| self.is_finite(a))
    }

    /// Whether nothing known of a node is infinite or no number.
    fn is_finite(&self, id: NodeId) -> bool {
        self.constant_of(id).is_none_or(|c| c.iter().all(|x| x.is_finite()))
    }

    /// Whether each element has a condition of its own, or one condition serves all there is.
    fn meets(&self, id: NodeId, c: NodeId) -> bool {
        self.dims(c).is_empty() || self.dims(id) == self.dims(c)
    }

    /// The functions element by element that a branch is made of, arguments first: those nearest to it, for a
    /// branch may be made of all that a loop has done before.
    fn within(&self, branch: NodeId, c: NodeId) -> Vec<(NodeId, &'static ScalarRow)> {
        let (mut open, mut found) = (VecDeque::from([branch]), BTreeSet::new());
        while let Some(id) = open.pop_front().filter(|_| found.len() < MOST) {
            if matches!(self.graph().node(id).op, Op::Map(_)) && self.meets(id, c) && found.insert(id) {
                open.extend(&self.graph().node(id).args);
            }
        }
        let row = |id: NodeId| match self.graph().node(id).op {
            Op::Map(row) => Some((id, row)),
            _ => None,
        };
        found.into_iter().filter_map(row).collect()
    }
}
