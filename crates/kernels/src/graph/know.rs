//! What is known of a node before it is computed: the range of its entries, and how they hang together.

use super::arena::{Node, NodeId, Op};
use super::build::Builder;
use crate::facts::{Range, Structure};
use crate::ops::array::OpRef;
use crate::ops::scalar::{self, ScalarRow};
use std::collections::HashMap;

/// What is known of the entries of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// They lie in this range.
    pub range: Range,
    /// Whether some values of the parameters bring an entry as near to either end as one likes.
    pub reached: bool,
}

impl Known {
    const NOTHING: Known = Known { range: Range::REAL, reached: false };
}

/// Facts about the nodes of a graph under construction.
#[derive(Default)]
pub(super) struct Knowledge {
    known: Vec<Known>,
    /// Coordinates that a node depends on, from each first to before each last one; None once there are too
    /// many to tell.
    blocks: Vec<Option<Vec<[usize; 2]>>>,
    structures: HashMap<NodeId, Structure>,
    /// For a loop the ranges of its sequences.
    sequences: HashMap<NodeId, Vec<Range>>,
}

/// Most blocks of coordinates that are told apart.
const MOST_BLOCKS: usize = 12;

impl Builder {
    /// What is known of the entries of a node.
    pub fn known(&mut self, id: NodeId) -> Known {
        let at = id.0 as usize;
        while self.knowledge.known.len() <= at {
            let next = self.knowledge.known.len();
            let blocks = self.blocks_of(NodeId(next as u32));
            self.knowledge.blocks.push(blocks);
            if let Op::Recursion(r) = &self.graph().node(NodeId(next as u32)).op {
                let (r, args) = (r.clone(), self.graph().node(NodeId(next as u32)).args.clone());
                let ranges = self.sequence_ranges(&r, &args);
                self.knowledge.sequences.insert(NodeId(next as u32), ranges);
            }
            let known = self.derive(NodeId(next as u32));
            self.knowledge.known.push(known);
        }
        self.knowledge.known[at]
    }

    /// The range of the entries of a node.
    pub fn range(&mut self, id: NodeId) -> Range {
        self.known(id).range
    }

    /// Records that the entries of a node lie in a range, and come near its ends.
    pub fn assert_range(&mut self, id: NodeId, range: Range) {
        self.known(id);
        self.knowledge.known[id.0 as usize] = Known { range, reached: true };
    }

    /// Records that a node has a structure that its construction gives it.
    pub fn assert_structure(&mut self, id: NodeId, structure: Structure) {
        self.knowledge.structures.insert(id, structure);
        if structure == Structure::Simplex {
            self.assert_range(id, Range::between(0.0, 1.0));
        }
    }

    /// Whether a node is known to have a structure.
    pub fn has_structure(&self, id: NodeId, wanted: Structure) -> bool {
        if let Some(found) = self.knowledge.structures.get(&id) {
            return found.implies(wanted);
        }
        let node = self.graph().node(id);
        let Some(take) = node.as_take() else { return false };
        let base = node.args[0];
        let axes = wanted.axes();
        let event = |dims: &[usize]| dims.len().checked_sub(axes).map(|k| dims[k..].to_vec());
        let (Some(own), Some(whole)) = (event(&node.dims), event(&self.graph().node(base).dims)) else {
            return false;
        };
        let size: usize = own.iter().product();
        // Whole vectors or matrices, each taken as it stands.
        let aligned = |chunk: &[u32]| {
            (chunk[0] as usize).is_multiple_of(size) && chunk.windows(2).all(|w| w[1] == w[0] + 1)
        };
        own == whole && size > 0 && take.table.chunks(size).all(aligned) && self.has_structure(base, wanted)
    }

    /// The node whose entries these are, in whatever order and shape.
    pub fn base_of(&self, id: NodeId) -> NodeId {
        let node = self.graph().node(id);
        if node.as_take().is_some() { self.base_of(node.args[0]) } else { id }
    }

    fn blocks_of(&self, id: NodeId) -> Option<Vec<[usize; 2]>> {
        let node = self.graph().node(id);
        if let Op::Input { offset } = node.op {
            return Some(vec![[offset, offset + node.len()]]);
        }
        // Elements of coordinates are these coordinates, if they are not too many to tell.
        if let Some(take) = node.as_take()
            && let Some(offset) = self.coordinates_behind(node.args[0])
        {
            let each = take.table.iter().map(|&p| [offset + p as usize, offset + p as usize + 1]);
            let some = joined(each.collect());
            if some.len() <= MOST_BLOCKS {
                return Some(some);
            }
        }
        let mut all: Vec<[usize; 2]> = Vec::new();
        for arg in &node.args {
            all.extend(self.knowledge.blocks[arg.0 as usize].as_ref()?);
        }
        let all = joined(all);
        (all.len() <= MOST_BLOCKS).then_some(all)
    }

    /// The first of the coordinates that an array is made of one by one.
    fn coordinates_behind(&self, mut id: NodeId) -> Option<usize> {
        loop {
            let node = self.graph().node(id);
            if let Op::Input { offset } = node.op {
                return Some(offset);
            }
            let mut varying = node.args.iter().filter(|a| self.graph().node(**a).constant().is_none());
            let (Op::Map(_), Some(&only), None) = (&node.op, varying.next(), varying.next()) else {
                return None;
            };
            if self.graph().node(only).dims != node.dims {
                return None;
            }
            id = only;
        }
    }

    /// Whether the arguments depend on different coordinates, so that each can be moved by itself.
    fn independent(&self, args: &[NodeId]) -> bool {
        let mut seen: Vec<[usize; 2]> = Vec::new();
        for arg in args {
            let Some(blocks) = &self.knowledge.blocks[arg.0 as usize] else { return false };
            if blocks.iter().any(|b| seen.iter().any(|s| b[0] < s[1] && s[0] < b[1])) {
                return false;
            }
            seen.extend(blocks);
        }
        true
    }

    /// Which of some coordinates none of these nodes depends on; none where they cannot be told apart.
    pub fn untouched(&mut self, nodes: &[NodeId], mut coordinates: Vec<usize>) -> Vec<usize> {
        let Some(last) = nodes.iter().max() else { return coordinates };
        self.known(*last);
        for node in nodes {
            let Some(blocks) = &self.knowledge.blocks[node.0 as usize] else { return Vec::new() };
            coordinates.retain(|i| !blocks.iter().any(|block| (block[0]..block[1]).contains(i)));
        }
        coordinates
    }

    /// Whether a node varies with coordinates that none of the others depends on.
    pub fn varies_alone(&mut self, id: NodeId, others: &[NodeId]) -> bool {
        // What is known is known up to some node: asking for the last one makes all of them known.
        let last = others.iter().copied().fold(id, NodeId::max);
        self.known(last);
        let blocks = self.knowledge.blocks[id.0 as usize].as_ref();
        let varies = blocks.is_some_and(|blocks| !blocks.is_empty()) && self.known(id).reached;
        varies && others.iter().all(|other| self.independent(&[id, *other]))
    }

    fn derive(&self, id: NodeId) -> Known {
        let node = self.graph().node(id);
        let of = |k: usize| node.args.get(k).map_or(Known::NOTHING, |a| self.knowledge.known[a.0 as usize]);
        let all_reached = || (0..node.args.len()).all(|k| of(k).reached);
        match &node.op {
            Op::Constant(values) => Known { range: Range::of(values), reached: true },
            Op::Input { .. } => Known { range: Range::REAL, reached: true },
            Op::Map(row) => {
                let same = node.args.len() == 2 && node.args[0] == node.args[1];
                match elementwise(row, &|k| of(k).range, same) {
                    Some(range) => Known { range, reached: all_reached() && self.independent(&node.args) },
                    None => Known::NOTHING,
                }
            }
            Op::MapSum { .. } | Op::Ode(_) => Known::NOTHING,
            Op::Recursion(_) => self.of_sequences(id, 0, node.len()),
            Op::Array(op) => self.of_array(op, node, &of),
        }
    }

    fn of_array(&self, op: &OpRef, node: &Node, of: &dyn Fn(usize) -> Known) -> Known {
        let bounded = |range: Range| Known { range, reached: false };
        let count = |k: usize| node.args.get(k).map_or(0, |&a| self.graph().node(a).len());
        let merged = if node.is_empty() { 0 } else { count(0) / node.len() };
        match op.0.name() {
            "take" if matches!(self.graph().node(node.args[0]).op, Op::Recursion(_)) => {
                let table = node.as_take().map(|take| &take.table[..]).unwrap_or_default();
                let (first, last) = (table.iter().min().copied(), table.iter().max().copied());
                self.of_sequences(node.args[0], first.unwrap_or(0) as usize, last.unwrap_or(0) as usize + 1)
            }
            "take" | "max" | "min" => of(0),
            "concat" => (1..node.args.len()).fold(of(0), |a, k| Known {
                range: a.range.or(of(k).range),
                reached: a.reached && of(k).reached,
            }),
            "sum" => bounded(of(0).range.sum_of(merged)),
            "cumsum" => {
                let n = node.dims.last().copied().unwrap_or(1);
                bounded(of(0).range.or(of(0).range.sum_of(n)))
            }
            "prod" | "cumprod" if of(0).range.within(Range::POSITIVE) => bounded(Range::POSITIVE),
            "prod" | "cumprod" if of(0).range.within(Range::NON_NEGATIVE) => bounded(Range::NON_NEGATIVE),
            "log_sum_exp" => {
                let more = (merged.max(1) as f64).ln();
                bounded(of(0).range.or(of(0).range.plus(Range::from_to(more, more))))
            }
            "matmul" => {
                let dims = &self.graph().node(node.args[0]).dims;
                let inner = dims.last().copied().unwrap_or(1);
                let range = of(0).range.times(of(1).range).sum_of(inner);
                // The coordinates themselves move one by one; what is made of them may not.
                let free = |k: usize, l: usize| {
                    matches!(self.graph().node(node.args[k]).op, Op::Input { .. })
                        && self.graph().node(node.args[l]).constant().is_some()
                };
                Known { range, reached: free(0, 1) || free(1, 0) }
            }
            _ => Known::NOTHING,
        }
    }

    /// What is known of the numbers of a loop's sequences from one place to before another.
    fn of_sequences(&self, id: NodeId, first: usize, end: usize) -> Known {
        let Op::Recursion(r) = &self.graph().node(id).op else { return Known::NOTHING };
        let ranges = self.knowledge.sequences.get(&id).map(Vec::as_slice).unwrap_or_default();
        let met = ranges.iter().enumerate().filter(|(k, _)| r.start(*k) < end && first < r.start(k + 1));
        let range = met.map(|(_, range)| *range).reduce(Range::or);
        Known { range: range.unwrap_or(Range::REAL), reached: false }
    }
}

/// The same coordinates, in order and those that meet as one.
fn joined(mut blocks: Vec<[usize; 2]>) -> Vec<[usize; 2]> {
    blocks.sort_unstable();
    let mut out: Vec<[usize; 2]> = Vec::new();
    for block in blocks {
        match out.last_mut() {
            Some(last) if block[0] <= last[1] => last[1] = last[1].max(block[1]),
            _ => out.push(block),
        }
    }
    out
}

/// The range of an elementwise function of values in these ranges, if something is known of it. `same`: its
/// two arguments are one value.
pub fn range_of(row: &ScalarRow, args: &[Range], same: bool) -> Option<Range> {
    elementwise(row, &|k| args.get(k).copied().unwrap_or(Range::REAL), same)
}

fn elementwise(row: &ScalarRow, of: &dyn Fn(usize) -> Range, same: bool) -> Option<Range> {
    let x = of(0);
    let is = |other: &ScalarRow| row == other;
    let positive_part = |r: Range| r.and(Range::NON_NEGATIVE);
    if is(&scalar::MUL) && same {
        return Some(x.magnitude().times(x.magnitude()));
    }
    if is(&scalar::ADD) {
        return Some(x.plus(of(1)));
    }
    if is(&scalar::SUB) {
        return Some(x.plus(of(1).negated()));
    }
    if is(&scalar::MUL) {
        return Some(x.times(of(1)));
    }
    if is(&scalar::DIV) {
        return Some(x.times(of(1).inverse()));
    }
    if is(&scalar::FMA) {
        return Some(x.times(of(1)).plus(of(2)));
    }
    if is(&scalar::POW) {
        return power(x, of(1));
    }
    if is(&scalar::WHERE) {
        return Some(of(1).or(of(2)));
    }
    if is(&scalar::FMAX) {
        return Some(x.larger(of(1)));
    }
    if is(&scalar::FMIN) {
        return Some(x.smaller(of(1)));
    }
    Some(match row.name {
        "neg" => x.negated(),
        "abs" => x.magnitude(),
        "square" => x.magnitude().times(x.magnitude()),
        "inv" => x.inverse(),
        "sqrt" => positive_part(x).increasing(f64::sqrt),
        "inv_sqrt" => positive_part(x).increasing(f64::sqrt).and(Range::POSITIVE).inverse(),
        "exp" => x.increasing(f64::exp),
        "exp2" => x.increasing(f64::exp2),
        "expm1" => x.increasing(f64::exp_m1),
        "log" => positive_part(x).increasing(f64::ln),
        "log2" => positive_part(x).increasing(f64::log2),
        "log10" => positive_part(x).increasing(f64::log10),
        "log1p" => x.and(Range::between(-1.0, f64::INFINITY)).increasing(f64::ln_1p),
        "log1p_exp" => x.increasing(|x| if x > 30.0 { x } else { x.exp().ln_1p() }),
        "inv_logit" => x.increasing(|x| 1.0 / (1.0 + (-x).exp())),
        "log_inv_logit" | "log1m_inv_logit" | "log1m_exp" => Range::between(f64::NEG_INFINITY, 0.0),
        "inv_cloglog" | "Phi" => Range::between(0.0, 1.0),
        "tanh" | "erf" => Range::between(-1.0, 1.0),
        "erfc" => Range::between(0.0, 2.0),
        "sin" | "cos" => Range::from_to(-1.0, 1.0),
        "cosh" => Range::from_to(1.0, f64::INFINITY),
        "tgamma" => Range::POSITIVE,
        "hypot" | "distance" => Range::NON_NEGATIVE,
        "gp_exp_quad" | "gp_matern32" | "gp_matern52" | "gp_exponential" | "gp_periodic" => {
            Range::NON_NEGATIVE
        }
        "lt" | "le" | "gt" | "ge" | "eq" | "ne" | "and" | "or" | "not" => Range::UNIT,
        "cbrt" => x.increasing(f64::cbrt),
        "asinh" => x.increasing(f64::asinh),
        "sinh" => x.increasing(f64::sinh),
        "atan" => x.increasing(f64::atan),
        "logit" => x.increasing(|p| (p / (1.0 - p)).ln()),
        _ => return None,
    })
}

/// The range of a power of what is not negative, e^(y log x), or of any number where the power is even.
fn power(base: Range, exponent: Range) -> Option<Range> {
    let even = exponent.low == exponent.high && exponent.low.at % 2.0 == 0.0 && exponent.low.at > 0.0;
    let base = if even { base.magnitude() } else { base };
    if !base.within(Range::NON_NEGATIVE) {
        return None;
    }
    let of_positive = base.and(Range::POSITIVE).increasing(f64::ln).times(exponent).increasing(f64::exp);
    let zero = base.low.at == 0.0 && base.low.closed;
    Some(if zero { of_positive.or(Range::of(&[0.0])) } else { of_positive })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_of_a_power_holds_every_power_and_no_more_than_it_must() {
        let unit = Range::between(0.0, 1.0);
        let bases = [unit, Range::UNIT, Range::POSITIVE, Range::NON_NEGATIVE, Range::from_to(2.0, 3.0)];
        let exponents =
            [Range::POSITIVE, Range::REAL, Range::from_to(2.0, 2.0), Range::from_to(-3.0, -0.5), Range::UNIT];
        let numbers = [-2.0, -0.5, 0.0, 0.3, 0.5, 1.0, 2.0, 2.5];
        let members = |r: Range| numbers.into_iter().filter(move |x| Range::of(&[*x]).within(r));
        for base in bases {
            for exponent in exponents {
                let range = power(base, exponent).unwrap();
                for (x, y) in members(base).flat_map(|x| members(exponent).map(move |y| (x, y))) {
                    let value = x.powf(y);
                    assert!(value.is_infinite() || Range::of(&[value]).within(range), "{x}^{y} in {range:?}");
                }
            }
        }
        assert_eq!(power(unit, Range::POSITIVE), Some(unit));
        assert_eq!(power(Range::REAL, Range::from_to(2.0, 2.0)), Some(Range::NON_NEGATIVE));
        assert_eq!(power(Range::REAL, Range::POSITIVE), None);
    }
}
