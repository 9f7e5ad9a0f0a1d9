//! The forward pass that gives every node its affine form.

use super::Structure;
use super::affine::{Affine, MOST_ENTRIES};
use super::logs::Logs;
use crate::facts::{Interval, common_dims};
use crate::graph::{Graph, Node, NodeId, Op};
use crate::ops::array::{Concat, CumSum, Forward, MatMul, OpRef, Solve, Sum, Take, TriangularSolve};
use crate::ops::operand::{Arg, Broadcast, Lane};
use crate::ops::scalar::{self, ScalarRow};
use std::sync::Arc;

/// Most coefficients of all forms together.
const MOST_TOTAL: usize = 150_000_000;

/// Gives every node that the roots need its form; those that are not wanted lose it after their last use.
pub(super) fn find<'g>(
    graph: &'g Graph,
    roots: &[NodeId],
    dimension: usize,
    wanted: impl Fn(NodeId) -> bool,
) -> Structure<'g> {
    let needed = graph.needed(roots);
    let last_use = last_uses(graph, &needed);
    let none = || vec![None; graph.len()];
    let mut pass =
        Pass { graph, forms: none(), logs: none(), owners: Vec::new(), variables: dimension, entries: 0 };
    for (id, node) in graph.iter().filter(|(id, _)| needed[id.0 as usize]) {
        // What is not finite says nothing of the coordinates, so it is left to those who read the node
        // itself.
        let fits = |form: &Affine| pass.entries + form.entries() <= MOST_TOTAL && form.is_finite();
        let form = pass.form(node).filter(fits);
        let form = form.unwrap_or_else(|| pass.own(id, node));
        pass.entries += form.entries();
        pass.forms[id.0 as usize] = Some(Arc::new(form));
        let log = pass.known_logs().of_node(node);
        pass.logs[id.0 as usize] =
            log.filter(|form| pass.entries + form.entries() <= MOST_TOTAL && form.is_finite());
        for &arg in node.args.iter().filter(|&&arg| last_use[arg.0 as usize] == Some(id) && !wanted(arg)) {
            (pass.forms[arg.0 as usize], pass.logs[arg.0 as usize]) = (None, None);
        }
    }
    Structure { graph, dimension, forms: pass.forms, logs: pass.logs, owners: pass.owners }
}

/// For each node the last of those needed that has it as an argument.
fn last_uses(graph: &Graph, needed: &[bool]) -> Vec<Option<NodeId>> {
    let mut last = vec![None; graph.len()];
    for (id, node) in graph.iter().filter(|(id, _)| needed[id.0 as usize]) {
        node.args.iter().for_each(|arg| last[arg.0 as usize] = Some(id));
    }
    last
}

struct Pass<'g> {
    graph: &'g Graph,
    forms: Vec<Option<Arc<Affine>>>,
    logs: Vec<Option<Arc<Affine>>>,
    owners: Vec<(u32, NodeId)>,
    variables: usize,
    entries: usize,
}

impl Pass<'_> {
    /// Variables of its own for a node that is not affine in its arguments.
    fn own(&mut self, id: NodeId, node: &Node) -> Affine {
        let base = self.variables as u32;
        self.owners.push((base, id));
        self.variables += node.len();
        Affine::variables(base, node.len())
    }

    fn form(&self, node: &Node) -> Option<Affine> {
        match &node.op {
            Op::Constant(values) => Some(Affine::constants(values.clone())),
            Op::Input { offset } => Some(Affine::variables(*offset as u32, node.len())),
            Op::Map(row) => self.map(row, &node.args, &node.dims),
            Op::MapSum { row, weighted } => self.map_sum(row, *weighted, &node.args),
            Op::Array(op) => self.array(op, node),
            Op::Ode(_) | Op::Recursion(_) => None,
        }
    }

    fn of(&self, id: NodeId) -> Option<&Affine> {
        self.forms[id.0 as usize].as_deref()
    }

    fn known_logs(&self) -> Logs<'_> {
        Logs { graph: self.graph, forms: &self.forms, logs: &self.logs }
    }

    fn constant(&self, id: NodeId) -> Option<&Arc<[f64]>> {
        self.graph.node(id).constant()
    }

    /// An argument as it meets the elements of a result of these sizes.
    fn spread(&self, id: NodeId, dims: &[usize]) -> Option<Affine> {
        let form = self.of(id)?;
        let (n, index) = (dims.iter().product(), Broadcast::between(&self.graph.node(id).dims, dims));
        if n * form.entries() / form.len().max(1) > MOST_ENTRIES {
            return None;
        }
        Some(if index == Broadcast::Each { form.clone() } else { form.gather(n, |i| index.at(i)) })
    }

    /// Element `i` of a constant argument as it meets a result of these sizes.
    fn number<'a>(&'a self, id: NodeId, dims: &[usize]) -> Option<impl Fn(usize) -> f64 + use<'a>> {
        let values = self.constant(id)?;
        let index = Broadcast::between(&self.graph.node(id).dims, dims);
        Some(move |i: usize| values[index.at(i)])
    }

    fn map(&self, row: &'static ScalarRow, args: &[NodeId], dims: &[usize]) -> Option<Affine> {
        if let Some(settled) = self.settled(row, args, dims) {
            return Some(settled);
        }
        if *row == scalar::ADD || *row == scalar::SUB {
            let sign = if *row == scalar::ADD { 1.0 } else { -1.0 };
            if let Some(c) = self.number(args[1], dims) {
                return Some(self.spread(args[0], dims)?.shifted(1.0, |i| sign * c(i)));
            }
            if let Some(c) = self.number(args[0], dims) {
                return Some(self.spread(args[1], dims)?.shifted(sign, c));
            }
            return Some(self.spread(args[0], dims)?.plus(&self.spread(args[1], dims)?, sign));
        }
        if *row == scalar::FMA {
            let product = self.map(&scalar::MUL, &args[..2], dims)?;
            return Some(product.plus(&self.spread(args[2], dims)?, 1.0));
        }
        if *row == scalar::WHERE {
            let (c, a, b) =
                (self.number(args[0], dims)?, self.spread(args[1], dims)?, self.spread(args[2], dims)?);
            let n = a.len();
            let both = Affine::concat([&a, &b].into_iter());
            return Some(both.gather(n, |i| if c(i) != 0.0 { i } else { n + i }));
        }
        if let (true, Some(log)) = (*row == scalar::LOG, self.logs[args[0].0 as usize].as_deref()) {
            return Some(log.clone());
        }
        self.linear_row(row, args, dims)
    }

    /// A function of arguments that are numbers though they are written with variables: of (c + 1) - c.
    fn settled(&self, row: &'static ScalarRow, args: &[NodeId], dims: &[usize]) -> Option<Affine> {
        // An infinite end has no form, but it is a number.
        let numbers = |&a: &NodeId| match self.constant(a) {
            Some(values) => Some(&values[..]),
            None => self.of(a).filter(|form| form.is_constant()).map(|form| &form.constant[..]),
        };
        let numbers: Vec<&[f64]> = args.iter().map(numbers).collect::<Option<_>>()?;
        let at: Vec<Broadcast> =
            args.iter().map(|&a| Broadcast::between(&self.graph.node(a).dims, dims)).collect();
        let value = |i: usize| {
            let point: Vec<f64> = numbers.iter().zip(&at).map(|(n, at)| n[at.at(i)]).collect();
            row.at(&point)
        };
        let values: Vec<f64> = (0..dims.iter().product()).map(value).collect();
        Some(Affine::constants(values.into())).filter(Affine::is_finite)
    }

    /// A weighted sum of elements that are affine each.
    fn map_sum(&self, row: &'static ScalarRow, weighted: bool, args: &[NodeId]) -> Option<Affine> {
        let (args, weight) = args.split_at(args.len() - usize::from(weighted));
        let all = args.iter().chain(weight).map(|&a| self.graph.node(a).dims.as_slice());
        let dims = common_dims(all);
        let each = self.map(row, args, &dims)?;
        let weight = weight.first().map(|&w| self.number(w, &dims));
        let weight = match weight {
            Some(known) => Some(known?),
            None => None,
        };
        each.sums(1, self.variables, |_, add| {
            (0..each.len()).for_each(|i| add(i, weight.as_ref().map_or(1.0, |w| w(i))));
        })
    }

    /// A function that is linear in the one argument that is not constant, by its own declared facts.
    fn linear_row(&self, row: &'static ScalarRow, args: &[NodeId], dims: &[usize]) -> Option<Affine> {
        let facts = row.facts.as_ref()?;
        let mut varying = (0..args.len()).filter(|&k| self.constant(args[k]).is_none());
        let (k, None) = (varying.next()?, varying.next()) else { return None };
        let n: usize = dims.iter().product();
        let indices: Vec<Broadcast> =
            args.iter().map(|&a| Broadcast::between(&self.graph.node(a).dims, dims)).collect();
        let numbers: Vec<Option<&Arc<[f64]>>> = args.iter().map(|&a| self.constant(a)).collect();
        let (mut slope, mut at_zero) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let mut point = vec![0.0; args.len()];
        let mut intervals = vec![Interval::REAL; args.len()];
        for i in 0..n {
            for (j, values) in numbers.iter().enumerate() {
                let Some(values) = values else { continue };
                point[j] = values[indices[j].at(i)];
                intervals[j] = Interval::point(point[j]);
            }
            let jet = (facts.jet)(&intervals, k)?;
            if jet.curvature != Interval::ZERO || !jet.slope.is_point() {
                return None;
            }
            slope.push(jet.slope.lo);
            at_zero.push(row.at(&point));
        }
        Some(self.spread(args[k], dims)?.scaled(|i| slope[i], |i| at_zero[i]))
    }

    fn array(&self, op: &OpRef, node: &Node) -> Option<Affine> {
        let arg = |k: usize| self.of(node.args[k]);
        if let Some(take) = op.downcast::<Take>() {
            return Some(arg(0)?.gather(node.len(), |i| take.table[i] as usize));
        }
        if op.downcast::<Concat>().is_some() {
            let parts: Vec<&Affine> = node.args.iter().map(|&a| self.of(a)).collect::<Option<_>>()?;
            return Some(Affine::concat(parts.into_iter()));
        }
        if let Some(sum) = op.downcast::<Sum>() {
            return self.sum(node, sum.axis);
        }
        if op.downcast::<CumSum>().is_some() {
            let period = node.dims.last().copied().unwrap_or(1).max(1);
            return arg(0)?.running_sums(period, self.variables);
        }
        if op.downcast::<MatMul>().is_some() {
            return self.product(node);
        }
        if let Some(solve) = op.downcast::<TriangularSolve>() {
            let by_columns = OpRef::from(TriangularSolve { rows: false, ..*solve });
            return self.solve(&by_columns, node, solve.rows);
        }
        if op.downcast::<Solve>().is_some() {
            return self.solve(op, node, false);
        }
        None
    }

    fn sum(&self, node: &Node, axis: Option<usize>) -> Option<Affine> {
        let source = self.graph.node(node.args[0]);
        let (outer, count, inner) = match axis {
            None => (1, source.len(), 1),
            Some(k) => {
                (source.dims[..k].iter().product(), source.dims[k], source.dims[k + 1..].iter().product())
            }
        };
        let form = self.of(node.args[0])?;
        form.sums(outer * inner, self.variables, |i, add| {
            let start = (i / inner) * count * inner + i % inner;
            (0..count).for_each(|j| add(start + j * inner, 1.0));
        })
    }

    fn product(&self, node: &Node) -> Option<Affine> {
        let (left, right) = (node.args[0], node.args[1]);
        let (a, b) = (self.graph.node(left), self.graph.node(right));
        let (n, k, m) = match (a.dims.as_slice(), b.dims.as_slice()) {
            ([n, k], [_, m]) => (*n, *k, *m),
            ([n, k], _) => (*n, *k, 1),
            (_, right) => (1, a.len(), right.last().copied().unwrap_or(1)),
        };
        if let (Some(matrix), 1) = (self.constant(left), m) {
            return self.of(right)?.product(matrix, n, self.variables);
        }
        if let Some(x) = self.constant(left) {
            return self.of(right)?.sums(n * m, self.variables, |o, add| {
                (0..k).for_each(|l| add(l * m + o % m, x[(o / m) * k + l]));
            });
        }
        let x = self.constant(right)?;
        self.of(left)?.sums(n * m, self.variables, |o, add| {
            (0..k).for_each(|l| add((o / m) * k + l, x[l * m + o % m]));
        })
    }

    /// A⁻¹ b for a constant A, from A⁻¹ applied to the columns of the identity. Many right sides are columns,
    /// or rows.
    fn solve(&self, op: &OpRef, node: &Node, rows: bool) -> Option<Affine> {
        let matrix = self.constant(node.args[0])?;
        let d = *self.graph.node(node.args[0]).dims.first()?;
        let right = self.of(node.args[1])?;
        let columns = right.len() / d.max(1);
        let inverse = inverse(op, matrix, d)?;
        if columns == 1 {
            return right.product(&inverse.into(), d, self.variables);
        }
        right.sums(node.len(), self.variables, |o, add| {
            (0..d).for_each(|l| match rows {
                true => add((o / d) * d + l, inverse[(o % d) * d + l]),
                false => add(l * columns + o % columns, inverse[(o / columns) * d + l]),
            });
        })
    }
}

/// What solving with a constant matrix multiplies by; None if that is not finite.
fn inverse(op: &OpRef, matrix: &[f64], d: usize) -> Option<Vec<f64>> {
    let mut identity = vec![0.0; d * d];
    (0..d).for_each(|i| identity[i * d + i] = 1.0);
    let dims: [&[usize]; 2] = [&[d, d], &[d, d]];
    let mut inverse = vec![0.0; d * d];
    let mut saved = vec![0.0; op.0.saved(&dims)];
    let args = [Arg::Const(matrix), Arg::Const(&identity)];
    let mut cx = Forward { args: &args, dims: &dims, out: &mut inverse, saved: &mut saved };
    <f64 as Lane>::array(op.0.as_ref()).forward(&mut cx);
    inverse.iter().all(|x| x.is_finite()).then_some(inverse)
}
