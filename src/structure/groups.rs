//! Which group of coordinates each element of a node follows from, where coordinates are in groups or in
//! none.

use crate::facts::common_dims;
use crate::graph::{Graph, Node, NodeId, Op};
use crate::ops::array::{
    Concat, Design, LogSumExp, MatMul, OpRef, Operator, Solve, Sum, Take, TriangularSolve,
};
use crate::ops::operand::Broadcast;

/// What an element follows from, beside coordinates of no group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// No group.
    None,
    /// One group.
    One(u32),
    /// Several, or it is not known which.
    Several,
}

impl Group {
    fn and(self, other: Group) -> Group {
        match (self, other) {
            (Group::None, x) | (x, Group::None) => x,
            (Group::One(a), Group::One(b)) if a == b => self,
            (Group::One(_) | Group::Several, Group::One(_) | Group::Several) => Group::Several,
        }
    }

    fn of_all(all: impl IntoIterator<Item = Group>) -> Group {
        all.into_iter().fold(Group::None, Group::and)
    }
}

/// For every node that the roots need the group of each element, from those of the coordinates.
pub fn groups(graph: &Graph, roots: &[NodeId], coordinates: &[Group]) -> Vec<Vec<Group>> {
    let needed = graph.needed(roots);
    let mut finder = Finder { graph, known: vec![Vec::new(); graph.len()] };
    for (id, node) in graph.iter().filter(|(id, _)| needed[id.0 as usize]) {
        finder.known[id.0 as usize] = finder.node(node, coordinates);
    }
    finder.known
}

struct Finder<'g> {
    graph: &'g Graph,
    known: Vec<Vec<Group>>,
}

impl Finder<'_> {
    fn node(&self, node: &Node, coordinates: &[Group]) -> Vec<Group> {
        match &node.op {
            Op::Constant(_) => vec![Group::None; node.len()],
            Op::Input { offset } => coordinates[*offset..offset + node.len()].to_vec(),
            Op::Map(_) => self.elements(&node.args, &node.dims),
            Op::MapSum { .. } => {
                let dims = common_dims(node.args.iter().map(|&a| self.graph.node(a).dims.as_slice()));
                vec![Group::of_all(self.elements(&node.args, &dims))]
            }
            Op::Array(op) => self.array(op, node).unwrap_or_else(|| self.together(node)),
            Op::Ode(_) | Op::Recursion(_) => self.together(node),
        }
    }

    fn of(&self, id: NodeId) -> &[Group] {
        &self.known[id.0 as usize]
    }

    /// Every element from all elements of all arguments.
    fn together(&self, node: &Node) -> Vec<Group> {
        let all = node.args.iter().flat_map(|&a| self.of(a).iter().copied());
        vec![Group::of_all(all); node.len()]
    }

    fn elements(&self, args: &[NodeId], dims: &[usize]) -> Vec<Group> {
        let mut out = vec![Group::None; dims.iter().product()];
        for &arg in args {
            let (of, index) = (self.of(arg), Broadcast::between(&self.graph.node(arg).dims, dims));
            out.iter_mut().enumerate().for_each(|(i, g)| *g = g.and(of[index.at(i)]));
        }
        out
    }

    /// Operations whose elements follow from some elements alone; None for others.
    fn array(&self, op: &OpRef, node: &Node) -> Option<Vec<Group>> {
        if let Some(take) = op.downcast::<Take>() {
            let of = self.of(node.args[0]);
            return Some(take.table.iter().map(|&p| of[p as usize]).collect());
        }
        if op.downcast::<Concat>().is_some() {
            return Some(node.args.iter().flat_map(|&a| self.of(a).iter().copied()).collect());
        }
        if let Some(Sum { axis: Some(axis) }) = op.downcast::<Sum>() {
            return Some(self.reduced(node, *axis));
        }
        if let Some(LogSumExp { axis: Some(axis) }) = op.downcast::<LogSumExp>() {
            return Some(self.reduced(node, *axis));
        }
        if let Some(Design(operator)) = op.downcast::<Design>() {
            return Some(self.design(operator, node.args[0]));
        }
        if op.downcast::<MatMul>().is_some() {
            return Some(self.product(node));
        }
        if let Some(solve) = op.downcast::<TriangularSolve>() {
            return Some(self.solved(node, solve.rows));
        }
        op.downcast::<Solve>().map(|_| self.solved(node, false))
    }

    fn reduced(&self, node: &Node, axis: usize) -> Vec<Group> {
        let (of, dims) = (self.of(node.args[0]), &self.graph.node(node.args[0]).dims);
        let (count, inner) = (dims[axis], dims[axis + 1..].iter().product::<usize>());
        let line = |i: usize| {
            let start = (i / inner) * count * inner + i % inner;
            Group::of_all((0..count).map(|j| of[start + j * inner]))
        };
        (0..node.len()).map(line).collect()
    }

    fn design(&self, x: &Operator, coefficients: NodeId) -> Vec<Group> {
        let of = self.of(coefficients);
        let everywhere = Group::of_all(x.everywhere.iter().filter(|(_, by)| *by != 0.0).map(|(c, _)| of[*c]));
        let row = |i: usize| {
            let dense = x.dense.iter().flat_map(|m| &m[i * x.columns..(i + 1) * x.columns]).zip(of);
            let sparse = x.sparse.factors_of(i).iter().zip(x.sparse.places_of(i));
            let sparse = sparse.map(|(by, p)| (by, &of[*p as usize]));
            let counting = dense.chain(sparse).filter(|(by, _)| **by != 0.0).map(|(_, g)| *g);
            everywhere.and(Group::of_all(counting))
        };
        (0..x.rows).map(row).collect()
    }

    /// A product of matrices: rows of the one by columns of the other, but for constant zeros.
    fn product(&self, node: &Node) -> Vec<Group> {
        let (left, right) = (self.graph.node(node.args[0]), self.graph.node(node.args[1]));
        let inner = left.dims.last().copied().unwrap_or(1);
        let columns = if right.dims.len() == 2 { right.dims[1] } else { 1 };
        let (a, b) = (self.of(node.args[0]), self.of(node.args[1]));
        let zero = |of: &Node, p: usize| of.constant().is_some_and(|x| x[p] == 0.0);
        let element = |i: usize| {
            let pairs = (0..inner).map(|l| ((i / columns) * inner + l, l * columns + i % columns));
            let counting = pairs.filter(|&(p, q)| !zero(left, p) && !zero(right, q));
            Group::of_all(counting.map(|(p, q)| a[p].and(b[q])))
        };
        (0..node.len()).map(element).collect()
    }

    /// A⁻¹ b: each right side by itself. Many of these are columns, or rows.
    fn solved(&self, node: &Node, rows: bool) -> Vec<Group> {
        let matrix = Group::of_all(self.of(node.args[0]).iter().copied());
        let b = self.of(node.args[1]);
        let size = self.graph.node(node.args[0]).dims.first().copied().unwrap_or(1);
        let sides = b.len() / size.max(1);
        let place = |side: usize, l: usize| if rows { side * size + l } else { l * sides + side };
        let side = |s: usize| matrix.and(Group::of_all((0..size).map(|l| b[place(s, l)])));
        let of_side: Vec<Group> = (0..sides).map(side).collect();
        (0..node.len()).map(|i| of_side[if rows { i / size } else { i % sides }]).collect()
    }
}
