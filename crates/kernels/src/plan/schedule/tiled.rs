//! Finds the chains over many rows that are computed a few rows at a time.

use super::super::code::{Code, Plan, Slot};
use super::super::tiled::{Layout, Leaf, Reading, TiledCode};
use super::Scheduler;
use super::instructions::MOST_ELEMENTS;
use crate::facts::common_dims;
use crate::graph::{Builder, Node, NodeId, Op};
use crate::ops::array::{Design, Sum, Take};
use crate::ops::operand::Broadcast;
use std::collections::HashMap;
use std::sync::Arc;

/// Chains over the same rows: what is computed for a row, up to sums or arrays.
#[derive(Default)]
pub(super) struct Group {
    rows: usize,
    /// Whether arrays are at the ends, and not sums.
    arrays: bool,
    /// Operands first, ends among them.
    nodes: Vec<NodeId>,
    /// The ends, in the order of the step's results.
    ends: Vec<NodeId>,
    /// How many of the ends have not had their turn.
    waiting: usize,
}

/// What rows read from outside their group.
#[derive(Default)]
struct Reads {
    leaves: Vec<Leaf>,
    /// The arrays behind the leaves, each once.
    args: Vec<(NodeId, Slot)>,
    /// Which leaf a node of the group reads as its argument.
    of: HashMap<(NodeId, usize), usize>,
}

impl Scheduler<'_> {
    /// Finds the groups. Terms of the sum that is differentiated are read by nothing, nor are arrays that are
    /// roots alone: all of them over as many rows can be one step. Any other sum is a group of its own.
    pub(super) fn tile(&mut self, roots: &[NodeId]) {
        let mut shared: HashMap<usize, usize> = HashMap::new();
        let mut groups: Vec<Group> = Vec::new();
        let mut of: Vec<Option<usize>> = vec![None; self.graph.len()];
        for &id in &self.wanted {
            let last = self.uses[id.0 as usize] == 1 && roots.contains(&id);
            let (rows, arrays) = match (self.long_sum(id), self.long_array(id)) {
                (Some(rows), _) => (rows, false),
                (None, Some(rows)) if last && !self.plan.summed => (rows, true),
                _ => continue,
            };
            let fresh = groups.len();
            let together = last && (self.plan.summed || arrays);
            let group = if together { *shared.entry(rows).or_insert(fresh) } else { fresh };
            if group == fresh {
                groups.push(Group { rows, arrays, ..Group::default() });
            }
            groups[group].ends.push(id);
            of[id.0 as usize] = Some(group);
        }
        self.gather_nodes(&mut groups, &mut of);
        for group in &mut groups {
            // Without a chain, a sum goes through its arguments a few rows at a time anyway, if no more than
            // one is a predictor.
            let inner = |id: &NodeId| group.nodes.contains(id) && !group.ends.contains(id);
            let chain = |id: &NodeId| inner(id) && (group.arrays || self.predictor(*id).is_none());
            let several = |end: &NodeId| self.graph.node(*end).args.iter().filter(|a| inner(a)).count() > 1;
            if !group.nodes.iter().any(chain) && !group.ends.iter().any(several) {
                group.nodes.drain(..).for_each(|id| of[id.0 as usize] = None);
            }
            group.nodes.reverse();
            group.waiting = group.ends.len();
        }
        (self.groups, self.tiled) = (groups, of);
    }

    /// Whether a node is computed row by row on the way to the ends of a group.
    pub(super) fn within_tiles(&self, id: NodeId) -> bool {
        self.tiled[id.0 as usize].is_some_and(|group| !self.groups[group].ends.contains(&id))
    }

    /// Adds to each group what nothing else reads.
    fn gather_nodes(&self, groups: &mut [Group], of: &mut [Option<usize>]) {
        // How often a node is read by a group, row by row.
        let mut reads: HashMap<(NodeId, usize), usize> = HashMap::new();
        for &id in self.wanted.iter().rev() {
            let only = |g: &usize| {
                self.by_row(id, groups[*g].rows) && reads.get(&(id, *g)) == Some(&self.uses[id.0 as usize])
            };
            let group = of[id.0 as usize].or_else(|| (0..groups.len()).find(only));
            let Some(group) = group else { continue };
            of[id.0 as usize] = Some(group);
            groups[group].nodes.push(id);
            let node = self.graph.node(id);
            if reading(node).is_none() {
                node.args.iter().for_each(|&a| *reads.entry((a, group)).or_default() += 1);
            }
        }
    }

    /// The rows of a sum over many, if something is computed for each of them that is no linear predictor.
    fn long_sum(&self, id: NodeId) -> Option<usize> {
        let node = self.graph.node(id);
        let sum = match &node.op {
            Op::MapSum { .. } => true,
            Op::Array(op) => op.downcast::<Sum>().is_some_and(|sum| sum.axis.is_none()),
            Op::Constant(_) | Op::Input { .. } | Op::Map(_) | Op::Ode(_) | Op::Recursion(_) => false,
        };
        let rows = if sum { self.elements(node) } else { 0 };
        let within = || node.args.iter().filter(|a| self.by_row(**a, rows));
        let chain = within().count() > 1 || within().any(|a| self.predictor(*a).is_none());
        (rows > MOST_ELEMENTS && chain).then_some(rows)
    }

    /// The rows of a long array, if it is computed from others that are.
    fn long_array(&self, id: NodeId) -> Option<usize> {
        let (node, rows) = (self.graph.node(id), self.graph.node(id).len());
        let chain = matches!(node.op, Op::Map(_)) && node.args.iter().any(|&a| self.by_row(a, rows));
        (rows > MOST_ELEMENTS && chain).then_some(rows)
    }

    /// Whether a node has an element for each row, computed from its own row or read from somewhere.
    fn by_row(&self, id: NodeId, rows: usize) -> bool {
        let node = self.graph.node(id);
        // Of the others some may turn out to be known.
        let varies = |a: NodeId| match self.graph.node(a).op {
            Op::Input { offset } => offset < self.plan.inputs,
            Op::Map(_) | Op::MapSum { .. } | Op::Array(_) => true,
            Op::Constant(_) | Op::Ode(_) | Op::Recursion(_) => false,
        };
        let fits = match &node.op {
            Op::Map(_) => true,
            Op::Array(op) => match (op.downcast::<Take>(), self.design(id)) {
                // Consecutive elements are a place, unless they are rows in another shape.
                (Some(take), _) if take.consecutive().is_some() => {
                    take.is_reshape(rows) && self.by_row(node.args[0], rows)
                }
                (Some(_), _) => varies(node.args[0]),
                (None, Some(operator)) => operator.blocks() == 1 && varies(node.args[0]),
                (None, None) => false,
            },
            Op::Constant(_) | Op::Input { .. } | Op::MapSum { .. } | Op::Ode(_) | Op::Recursion(_) => false,
        };
        fits && node.len() == rows
    }

    /// The end of a chain whose turn has come: the step of its group, if it is the last of them. Gives
    /// nothing for nodes of no group.
    pub(super) fn tiled_step(&mut self, id: NodeId) -> Option<Slot> {
        let index = self.tiled[id.0 as usize]?;
        self.groups[index].waiting -= 1;
        if self.groups[index].waiting > 0 {
            return Some(Slot::Var { at: 0, len: 0 });
        }
        let group = std::mem::take(&mut self.groups[index]);
        let reads = self.reads(&group);
        let args: Vec<Slot> = reads.args.iter().map(|(_, slot)| slot.clone()).collect();
        let plan = |rows: usize, layout: &Layout| self.body(&group, &reads, rows, layout);
        let code = Arc::new(TiledCode::new((group.rows, group.arrays), reads.leaves.clone(), &args, plan));
        let term = self.terms[id.0 as usize];
        let saved = if term || group.arrays { 0 } else { super::steps::variables(&args) };
        let room = self.plan.tiles.len();
        self.plan.tiles.push(code.clone());
        let span = self.graph.node(group.ends[0]).span;
        let (at, len) = (self.plan.values, if group.arrays { group.rows } else { 1 });
        self.push(Code::Tiled { code, room }, args, len * group.ends.len(), saved, (span, term));
        for (k, end) in group.ends.iter().enumerate() {
            self.slots[end.0 as usize] = Some(Slot::Var { at: at + k * len, len });
        }
        self.slot(id).cloned()
    }

    /// What the rows of a group read, all of it scheduled by now.
    fn reads(&self, group: &Group) -> Reads {
        let mut reads = Reads::default();
        for &id in &group.nodes {
            let node = self.graph.node(id);
            if let Some(reading) = reading(node) {
                let leaf = self.leaf(&mut reads, node.args[0], reading);
                reads.of.insert((id, 0), leaf);
                continue;
            }
            let dims = self.dims(node);
            for (k, &a) in node.args.iter().enumerate() {
                let arg = self.graph.node(a);
                let number = arg.constant().is_some() && arg.len() == 1;
                if self.tiled[a.0 as usize].is_none() && !number {
                    let reading = Reading::Elements(Broadcast::between(&arg.dims, &dims));
                    let leaf = self.leaf(&mut reads, a, reading);
                    reads.of.insert((id, k), leaf);
                }
            }
        }
        reads
    }

    /// The shape that the arguments of an elementwise node broadcast to.
    fn dims(&self, node: &Node) -> Vec<usize> {
        common_dims(node.args.iter().map(|&a| self.graph.node(a).dims.as_slice()))
    }

    /// The leaf that reads an array in this way; an array read twice in the same way is one.
    fn leaf(&self, reads: &mut Reads, array: NodeId, reading: Reading) -> usize {
        let slot = self.slot(array).cloned().unwrap_or(Slot::Var { at: 0, len: 0 });
        let arg = reads.args.iter().position(|(a, _)| *a == array).unwrap_or(reads.args.len());
        let same = |leaf: &Leaf| match (&leaf.reading, &reading) {
            (Reading::Elements(a), Reading::Elements(b)) => leaf.arg == arg && a == b,
            _ => false,
        };
        if let Some(found) = reads.leaves.iter().position(same) {
            return found;
        }
        let varies = matches!(slot, Slot::Var { .. });
        if arg == reads.args.len() {
            reads.args.push((array, slot));
        }
        reads.leaves.push(Leaf { arg, reading, varies });
        reads.leaves.len() - 1
    }

    /// What is computed for so many rows of a group.
    fn body(&self, group: &Group, reads: &Reads, rows: usize, layout: &Layout) -> Plan {
        let mut b = Builder::new();
        let dims = |one: bool| if one { Vec::new() } else { vec![rows] };
        let leaves: Vec<NodeId> = reads
            .leaves
            .iter()
            .zip(&layout.offsets)
            .map(|(leaf, &offset)| b.input(offset, dims(leaf.is_one())))
            .collect();
        let mut copies: HashMap<NodeId, NodeId> = HashMap::new();
        for &id in &group.nodes {
            let node = self.graph.node(id);
            b.set_span(node.span);
            let mut arg =
                |(k, a): (usize, &NodeId)| match (reads.of.get(&(id, k)), self.graph.node(*a).constant()) {
                    (Some(&leaf), _) => leaves[leaf],
                    (None, Some(number)) => b.number(number[0]),
                    (None, None) => copies[a],
                };
            let args: Vec<NodeId> = node.args.iter().enumerate().map(&mut arg).collect();
            let copy = match &node.op {
                Op::Array(op) if op.downcast::<Sum>().is_none() => args[0],
                Op::Array(op) => {
                    let summed = b.graph().node(args[0]).clone();
                    match (summed.op, self.uses[node.args[0].0 as usize]) {
                        // The function and its sum together.
                        (Op::Map(row), 1) => {
                            b.like(&Op::MapSum { row, weighted: false }, summed.args, Vec::new())
                        }
                        _ => b.like(&Op::Array(op.clone()), args, Vec::new()),
                    }
                }
                op => b.like(op, args, dims(node.len() == 1)),
            };
            copies.insert(id, copy);
        }
        let ends: Vec<NodeId> = group.ends.iter().map(|end| copies[end]).collect();
        match group.arrays {
            true => Plan::new(&b.finish(), &ends, layout.coordinates),
            false => Plan::of_sum(&b.finish(), &ends, layout.coordinates),
        }
    }
}

/// How an index or a linear predictor reads its argument, which has no row for each of its own.
fn reading(node: &Node) -> Option<Reading> {
    let Op::Array(op) = &node.op else { return None };
    match (op.downcast::<Take>(), op.downcast::<Design>()) {
        (Some(take), _) => {
            let index = Broadcast::Table(take.table.clone());
            take.consecutive().is_none().then_some(Reading::Elements(index))
        }
        (None, Some(design)) => Some(Reading::Predictor(design.0.clone())),
        (None, None) => None,
    }
}
