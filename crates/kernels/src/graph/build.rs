//! Adds nodes to a graph: checks shapes, folds constants, and gives equal expressions one node.

use super::arena::{Graph, Node, NodeId, Op};
use super::fold::fold;
use super::know::Knowledge;
use super::ode::Ode;
use crate::facts::{Shape, Size, broadcast, show};
use crate::ops::array::{Concat, CumSum, LogSumExp, MatMul, OpRef, Sum, Take};
use crate::ops::scalar::{self, ScalarRow};
use crate::source::Span;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Why a node cannot be made; a phrase that says which shapes do not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BuildError(pub String);

/// A graph under construction.
#[derive(Default)]
pub struct Builder {
    graph: Graph,
    interned: HashMap<u64, Vec<NodeId>>,
    span: Option<Span>,
    pub(super) knowledge: Knowledge,
}

/// The shape that all arguments broadcast to.
pub(super) fn common_dims(args: &[&Node]) -> Option<Vec<usize>> {
    let mut shape: Shape = Vec::new();
    for arg in args {
        shape = broadcast(&shape, &sizes(&arg.dims))?;
    }
    concrete(&shape)
}

/// Whether an array of this shape has no elements.
fn is_empty(dims: &[usize]) -> bool {
    dims.contains(&0)
}

fn sizes(dims: &[usize]) -> Shape {
    dims.iter().map(|&n| Size::known(n)).collect()
}

fn concrete(shape: &Shape) -> Option<Vec<usize>> {
    shape.iter().map(|s| s.as_integer().and_then(|n| usize::try_from(n).ok())).collect()
}

impl Builder {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// A finished graph, to add more nodes to.
    pub fn from_graph(graph: Graph) -> Self {
        Self { graph, ..Self::default() }
    }

    /// The graph built so far.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The finished graph.
    pub fn finish(self) -> Graph {
        self.graph
    }

    /// Nodes made from now on come from this part of the model.
    pub fn set_span(&mut self, span: Option<Span>) {
        self.span = span;
    }

    /// Sizes of a node.
    pub fn dims(&self, id: NodeId) -> &[usize] {
        &self.graph.node(id).dims
    }

    /// Numbers of a node, if they are known.
    pub fn constant_of(&self, id: NodeId) -> Option<&Arc<[f64]>> {
        self.graph.node(id).constant()
    }

    /// The one number of a constant scalar.
    pub fn scalar_of(&self, id: NodeId) -> Option<f64> {
        let values = self.constant_of(id)?;
        (values.len() == 1).then(|| values[0])
    }

    /// A constant array.
    pub fn constant(&mut self, values: impl Into<Arc<[f64]>>, dims: Vec<usize>) -> NodeId {
        self.intern(Op::Constant(values.into()), Vec::new(), dims)
    }

    /// A constant scalar.
    pub fn number(&mut self, x: f64) -> NodeId {
        self.constant(vec![x], Vec::new())
    }

    /// A block of unconstrained coordinates.
    pub fn input(&mut self, offset: usize, dims: Vec<usize>) -> NodeId {
        if is_empty(&dims) {
            return self.constant(Vec::new(), dims);
        }
        self.intern(Op::Input { offset }, Vec::new(), dims)
    }

    /// An elementwise function of broadcast arguments.
    pub fn map(&mut self, row: &'static ScalarRow, args: &[NodeId]) -> Result<NodeId, BuildError> {
        let dims = self.common(args)?;
        Ok(self.simplified(row, args, &dims).unwrap_or_else(|| self.add(Op::Map(row), args.to_vec(), dims)))
    }

    /// The sum over elements of an elementwise function, each element weighted by a constant if one is given.
    pub fn map_sum(
        &mut self,
        row: &'static ScalarRow,
        args: &[NodeId],
        weight: Option<NodeId>,
    ) -> Result<NodeId, BuildError> {
        let mut all = args.to_vec();
        all.extend(weight);
        if is_empty(&self.common(&all)?) {
            return Ok(self.number(0.0));
        }
        if let Some(simpler) = self.simplified_sum(row, args, weight)? {
            return Ok(simpler);
        }
        Ok(self.add(Op::MapSum { row, weighted: weight.is_some() }, all, Vec::new()))
    }

    /// An operation on whole arrays.
    pub fn array(&mut self, op: impl Into<OpRef>, args: &[NodeId]) -> Result<NodeId, BuildError> {
        self.operation(op.into(), args)
    }

    fn operation(&mut self, op: OpRef, args: &[NodeId]) -> Result<NodeId, BuildError> {
        let shapes: Vec<Shape> = args.iter().map(|&a| sizes(self.dims(a))).collect();
        let shape = op.0.shape(&shapes).map_err(|e| BuildError(e.to_string()))?;
        let dims = concrete(&shape).ok_or_else(|| BuildError(format!("{} is not a size", show(&shape))))?;
        Ok(self.add(Op::Array(op), args.to_vec(), dims))
    }

    /// The states [times, states] of a differential equation, from the initial state and what the equation
    /// depends on.
    pub fn ode(&mut self, ode: Ode, initial: NodeId, theta: NodeId) -> Result<NodeId, BuildError> {
        if self.dims(initial) != [ode.states] || self.dims(theta) != [ode.parameters] {
            return Err(BuildError(format!(
                "the equation has {} states, but the initial state is {}",
                ode.states,
                show(&sizes(self.dims(initial)))
            )));
        }
        if let Some(fault) = ode.fault() {
            return Err(BuildError(fault));
        }
        let dims = vec![ode.times.len(), ode.states];
        Ok(self.add(Op::Ode(Arc::new(ode)), vec![initial, theta], dims))
    }

    /// The shape that these broadcast to.
    pub fn common(&self, args: &[NodeId]) -> Result<Vec<usize>, BuildError> {
        let nodes: Vec<&Node> = args.iter().map(|&a| self.graph.node(a)).collect();
        common_dims(&nodes).ok_or_else(|| {
            let shapes: Vec<String> =
                nodes.iter().filter(|n| !n.dims.is_empty()).map(|n| show(&sizes(&n.dims))).collect();
            BuildError(format!("the shapes {} do not fit together", shapes.join(" and ")))
        })
    }

    /// a + b
    pub fn add2(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, BuildError> {
        self.map(&scalar::ADD, &[a, b])
    }

    /// a - b
    pub fn sub(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, BuildError> {
        self.map(&scalar::SUB, &[a, b])
    }

    /// a · b, element by element
    pub fn mul(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, BuildError> {
        self.map(&scalar::MUL, &[a, b])
    }

    /// a / b, element by element
    pub fn div(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, BuildError> {
        self.map(&scalar::DIV, &[a, b])
    }

    /// A function of one argument.
    pub fn unary(&mut self, row: &'static ScalarRow, a: NodeId) -> NodeId {
        let dims = self.dims(a).to_vec();
        self.simplified(row, &[a], &dims).unwrap_or_else(|| self.add(Op::Map(row), vec![a], dims))
    }

    /// Sum over an axis, or over everything.
    pub fn sum(&mut self, a: NodeId, axis: Option<usize>) -> Result<NodeId, BuildError> {
        if axis.is_none() && self.dims(a).is_empty() {
            return Ok(a);
        }
        self.array(Sum { axis }, &[a])
    }

    /// log Σ exp over an axis, or over everything.
    pub fn log_sum_exp(&mut self, a: NodeId, axis: Option<usize>) -> Result<NodeId, BuildError> {
        self.array(LogSumExp { axis }, &[a])
    }

    /// Running sum along the last axis.
    pub fn cumsum(&mut self, a: NodeId) -> Result<NodeId, BuildError> {
        self.array(CumSum, &[a])
    }

    /// Matrix product.
    pub fn matmul(&mut self, a: NodeId, b: NodeId) -> Result<NodeId, BuildError> {
        self.array(MatMul, &[a, b])
    }

    /// Listed elements of `a`, as an array of shape `dims`. Every position must lie within `a`.
    pub fn take(&mut self, a: NodeId, table: Vec<u32>, dims: Vec<usize>) -> NodeId {
        let take = Take { table: table.into(), dims: dims.clone() };
        let size = self.graph.node(a).len();
        if dims == self.dims(a) && take.is_reshape(size) {
            return a;
        }
        // An index into an index is one index.
        if let Op::Array(inner) = &self.graph.node(a).op
            && let Some(inner) = inner.downcast::<Take>()
        {
            let table: Vec<u32> = take.table.iter().map(|&p| inner.table[p as usize]).collect();
            let base = self.graph.node(a).args[0];
            return self.take(base, table, dims);
        }
        if let Some((base, table)) = self.past_repeats(a, &take.table) {
            return self.take(base, table, dims);
        }
        self.add(Op::Array(take.into()), vec![a], dims)
    }

    /// An index into parts put together, of which some list elements more than once, as an index into what
    /// these list: cut-points of each row's group are those of the groups.
    fn past_repeats(&mut self, a: NodeId, table: &[u32]) -> Option<(NodeId, Vec<u32>)> {
        let node = self.graph.node(a);
        let Op::Array(op) = &node.op else { return None };
        op.downcast::<Concat>()?;
        let repeats = |&part: &NodeId| {
            let part = self.graph.node(part);
            let base = self.graph.node(*part.args.first()?);
            part.as_take().filter(|_| base.len() < part.len()).map(|take| take.table.clone())
        };
        let inner: Vec<Option<Arc<[u32]>>> = node.args.iter().map(repeats).collect();
        if inner.iter().all(Option::is_none) {
            return None;
        }
        let mut places = Vec::with_capacity(node.len());
        let mut parts = Vec::with_capacity(node.args.len());
        let mut start = 0;
        for (&part, inner) in node.args.iter().zip(&inner) {
            let listed = self.graph.node(part);
            match inner {
                Some(inner) => places.extend(inner.iter().map(|p| start + p)),
                None => places.extend(start..start + listed.len() as u32),
            }
            let base = if inner.is_some() { listed.args[0] } else { part };
            start += self.graph.node(base).len() as u32;
            parts.push(base);
        }
        let all = self.concat(&parts, vec![start as usize]);
        Some((all, table.iter().map(|&p| places[p as usize]).collect()))
    }

    /// The same elements in another shape.
    pub fn reshape(&mut self, a: NodeId, dims: Vec<usize>) -> NodeId {
        let n = self.graph.node(a).len() as u32;
        self.take(a, (0..n).collect(), dims)
    }

    /// Element `i` of the first axis.
    pub fn row(&mut self, a: NodeId, i: usize) -> NodeId {
        let rest = self.dims(a)[1..].to_vec();
        let n = rest.iter().product::<usize>();
        self.take(a, ((i * n) as u32..((i + 1) * n) as u32).collect(), rest)
    }

    /// The transpose of a matrix; a vector becomes one row.
    pub fn transpose(&mut self, a: NodeId) -> NodeId {
        let dims = self.dims(a).to_vec();
        match dims.as_slice() {
            [n, m] => {
                let table = (0..m * n).map(|f| ((f % n) * m + f / n) as u32).collect();
                self.take(a, table, vec![*m, *n])
            }
            [n] => self.reshape(a, vec![1, *n]),
            _ => a,
        }
    }

    /// The elements of all arguments in order, as an array of shape `dims`.
    pub fn concat(&mut self, args: &[NodeId], dims: Vec<usize>) -> NodeId {
        let parts: Vec<NodeId> = args.iter().copied().filter(|&a| !is_empty(self.dims(a))).collect();
        if let [only] = parts[..] {
            return self.reshape(only, dims);
        }
        self.add(Op::Array(Concat { dims: dims.clone() }.into()), parts, dims)
    }

    /// Equal-shaped values stacked along a new first axis.
    pub fn stack(&mut self, args: &[NodeId]) -> NodeId {
        let mut dims = vec![args.len()];
        dims.extend(args.first().map(|&a| self.dims(a).to_vec()).unwrap_or_default());
        self.concat(args, dims)
    }

    /// The array repeated to a larger shape that it broadcasts to.
    pub fn broadcast_to(&mut self, a: NodeId, dims: &[usize]) -> NodeId {
        if self.dims(a) == dims {
            return a;
        }
        let index = crate::ops::operand::Broadcast::between(self.dims(a), dims);
        let n: usize = dims.iter().product();
        self.take(a, (0..n).map(|i| index.at(i) as u32).collect(), dims.to_vec())
    }

    /// The operation of a node of another graph, on other arguments, with a result of this shape.
    pub fn like(&mut self, op: &Op, args: Vec<NodeId>, dims: Vec<usize>) -> NodeId {
        self.add(op.clone(), args, dims)
    }

    /// What has no elements is known, so that no plan has an array without any.
    fn add(&mut self, op: Op, args: Vec<NodeId>, dims: Vec<usize>) -> NodeId {
        if is_empty(&dims) {
            return self.constant(Vec::new(), dims);
        }
        let nodes: Vec<&Node> = args.iter().map(|&a| self.graph.node(a)).collect();
        match fold(&op, &nodes, &dims) {
            Some(values) => self.constant(values, dims),
            None => self.intern(op, args, dims),
        }
    }

    fn intern(&mut self, op: Op, args: Vec<NodeId>, dims: Vec<usize>) -> NodeId {
        let key = key(&op, &args, &dims);
        let found = self.interned.get(&key).and_then(|ids| {
            ids.iter().copied().find(|&id| {
                let node = self.graph.node(id);
                node.args == args && node.dims == dims && same(&node.op, &op)
            })
        });
        if let Some(id) = found {
            return id;
        }
        let id = NodeId(self.graph.nodes.len() as u32);
        self.graph.nodes.push(Node { op, args, dims, span: self.span });
        self.interned.entry(key).or_default().push(id);
        id
    }
}

fn key(op: &Op, args: &[NodeId], dims: &[usize]) -> u64 {
    let mut h = DefaultHasher::new();
    std::mem::discriminant(op).hash(&mut h);
    args.hash(&mut h);
    dims.hash(&mut h);
    match op {
        Op::Constant(values) => values.iter().for_each(|x| x.to_bits().hash(&mut h)),
        Op::Input { offset } => offset.hash(&mut h),
        Op::Map(row) | Op::MapSum { row, .. } => std::ptr::from_ref(*row).hash(&mut h),
        Op::Array(op) => op.hash(&mut h),
        Op::Ode(ode) => Arc::as_ptr(ode).hash(&mut h),
        Op::Recursion(r) => Arc::as_ptr(r).hash(&mut h),
    }
    h.finish()
}

/// Whether two operations are the same; bit for bit for constants, so that a NaN equals itself.
fn same(a: &Op, b: &Op) -> bool {
    match (a, b) {
        (Op::Constant(x), Op::Constant(y)) => {
            x.len() == y.len() && x.iter().zip(y.iter()).all(|(x, y)| x.to_bits() == y.to_bits())
        }
        (Op::Input { offset: x }, Op::Input { offset: y }) => x == y,
        (Op::Map(x), Op::Map(y)) => x == y,
        (Op::MapSum { row: x, weighted: v }, Op::MapSum { row: y, weighted: w }) => x == y && v == w,
        (Op::Array(x), Op::Array(y)) => x == y,
        (Op::Ode(x), Op::Ode(y)) => Arc::ptr_eq(x, y),
        (Op::Recursion(x), Op::Recursion(y)) => Arc::ptr_eq(x, y),
        (
            Op::Constant(_)
            | Op::Input { .. }
            | Op::Map(_)
            | Op::MapSum { .. }
            | Op::Array(_)
            | Op::Ode(_)
            | Op::Recursion(_),
            _,
        ) => false,
    }
}
