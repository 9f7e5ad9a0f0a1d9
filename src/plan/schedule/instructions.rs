//! Small arithmetic as instructions: which nodes become one, where it reads, and where it writes.

use super::super::code::{Code, Slot};
use super::super::program::{Instruction, MOST_READ, Primitive, Source};
use super::Scheduler;
use crate::facts::common_dims;
use crate::graph::{Node, NodeId, Op};
use crate::ops::array::Concat;
use crate::ops::scalar::{QUADRATIC, ScalarRow};

/// Most elements of an arithmetic step that becomes an instruction; longer ones have steps of their own.
const MOST_ELEMENTS: usize = 256;

/// Most elements of a constant that is spread over all lanes for an instruction.
const MOST_SPREAD: usize = 256;

impl Scheduler<'_> {
    /// Finds the arrays put together of elements that instructions compute: these write to where the array stands.
    pub(super) fn join(&mut self) {
        for &id in &self.wanted {
            let node = self.graph.node(id);
            let Op::Array(op) = &node.op else { continue };
            if op.downcast::<Concat>().is_none() {
                continue;
            }
            let free = |a: &NodeId| {
                let arg = self.graph.node(*a);
                arg.constant().is_some()
                    || (self.primitive(*a).is_some_and(|op| op.written(arg.len()) == arg.len())
                        && self.places[a.0 as usize].is_none())
            };
            let mut parts = node.args.clone();
            parts.retain(|&a| self.graph.node(a).constant().is_none());
            parts.sort_unstable();
            if !node.args.iter().all(free) || parts.windows(2).any(|w| w[0] == w[1]) {
                continue;
            }
            let mut at = 0;
            for a in &node.args {
                if self.graph.node(*a).constant().is_none() {
                    self.places[a.0 as usize] = Some((id, at));
                }
                at += self.graph.node(*a).len();
            }
            self.joined[id.0 as usize] = Some(None);
        }
    }

    /// Finds the products that only a sum uses: both are one instruction. So are a difference, its square, a multiple of it and
    /// the sum that uses that.
    pub(super) fn fuse(&mut self) {
        for &id in &self.wanted {
            let node = self.graph.node(id);
            if self.primitive(id) != Some(Primitive::Add) {
                continue;
            }
            let alone = |a: NodeId, op: Primitive| {
                let at = a.0 as usize;
                self.primitive(a) == Some(op)
                    && self.uses[at] == 1
                    && self.places[at].is_none()
                    && self.graph.node(a).len() == node.len()
            };
            let Some(&product) = node.args.iter().find(|&&a| alone(a, Primitive::Mul)) else { continue };
            let factors = &self.graph.node(product).args;
            let square = factors.iter().copied().find(|&a| alone(a, Primitive::Square));
            let difference = square.map(|s| self.graph.node(s).args[0]).filter(|&d| alone(d, Primitive::Sub));
            self.fused[product.0 as usize] = true;
            if let (Some(square), Some(difference)) = (square, difference) {
                self.fused[square.0 as usize] = true;
                self.fused[difference.0 as usize] = true;
            }
        }
    }

    /// The instruction of a node and what it reads: for a sum with a fused product, the factors and the other summand.
    pub(super) fn operation(&self, id: NodeId, op: Primitive) -> (Primitive, Vec<NodeId>) {
        let args = &self.graph.node(id).args;
        let is_fused = |a: &NodeId| self.fused[a.0 as usize];
        let (Primitive::Add, Some(k)) = (op, args.iter().position(is_fused)) else {
            return (op, args.clone());
        };
        let factors = &self.graph.node(args[k]).args;
        match factors.iter().position(is_fused) {
            Some(square) => {
                let difference = &self.graph.node(self.graph.node(factors[square]).args[0]).args;
                let reads = vec![factors[1 - square], difference[0], difference[1], args[1 - k]];
                (Primitive::SquareAdd, reads)
            }
            None => (Primitive::MulAdd, vec![factors[0], factors[1], args[1 - k]]),
        }
    }

    /// Where an array whose elements are computed in place stands; decided when the first element is.
    pub(super) fn joined_at(&mut self, id: NodeId) -> usize {
        if let Some(Some(at)) = self.joined[id.0 as usize] {
            return at;
        }
        let node = self.graph.node(id);
        let start = self.plan.values;
        let mut at = start;
        for &a in &node.args {
            let arg = self.graph.node(a);
            if let Some(values) = arg.constant() {
                self.plan.fixed.extend(values.iter().enumerate().map(|(i, &x)| (at + i, x)));
            }
            at += arg.len();
        }
        self.plan.values = at;
        self.joined[id.0 as usize] = Some(Some(start));
        start
    }

    /// The arithmetic of a small elementwise step.
    pub(super) fn primitive(&self, id: NodeId) -> Option<Primitive> {
        let node = self.graph.node(id);
        let n = self.elements(node);
        let alone = |row: &ScalarRow| n == 1 && row.args.len() <= MOST_READ;
        let op = match &node.op {
            Op::MapSum { row, weighted: false } if **row == QUADRATIC => Primitive::Quadratic,
            Op::Map(row) => match Primitive::of(row) {
                Some(op) => op,
                None if alone(row) => Primitive::Call(row),
                None => return None,
            },
            Op::MapSum { row, weighted: false } if alone(row) => Primitive::Call(row),
            Op::MapSum { .. }
            | Op::Constant(_)
            | Op::Input { .. }
            | Op::Array(_)
            | Op::Ode(_)
            | Op::Recursion(_) => return None,
        };
        let fits = |&a: &NodeId| {
            let arg = self.graph.node(a);
            let most = if arg.constant().is_some() { MOST_SPREAD } else { MOST_ELEMENTS };
            let data = matches!(arg.op, Op::Input { offset } if offset >= self.plan.inputs);
            let plain = !data && self.predictor(a).is_none();
            arg.len() <= most && (arg.len() == 1 || arg.len() == n) && plain
        };
        (n <= MOST_ELEMENTS && node.args.iter().all(fits)).then_some(op)
    }

    /// How many elements an elementwise node goes through.
    pub(super) fn elements(&self, node: &Node) -> usize {
        let nodes: Vec<&Node> = node.args.iter().map(|&a| self.graph.node(a)).collect();
        common_dims(nodes.iter().map(|n| n.dims.as_slice())).iter().product()
    }

    pub(super) fn instruction(&mut self, id: NodeId, op: Primitive) -> (Instruction, Slot) {
        let node = self.graph.node(id);
        let (n, len) = (self.elements(node), node.len());
        let (op, reads) = self.operation(id, op);
        let mut args = [Source::default(); MOST_READ];
        for (source, &a) in args.iter_mut().zip(&reads) {
            let len = self.graph.node(a).len();
            let step = usize::from(len == n && n > 1);
            *source = match self.slot(a) {
                Some(Slot::Var { at, .. }) => Source { at: *at, step, varies: true },
                Some(Slot::Const(_) | Slot::Data { .. }) | None => {
                    Source { at: self.spread(a), step, varies: false }
                }
            };
        }
        let out = match self.places[id.0 as usize] {
            Some((array, offset)) => self.joined_at(array) + offset,
            None => {
                let written = op.written(len);
                self.plan.values += written;
                self.plan.values - written
            }
        };
        (Instruction { op, n, out, args }, Slot::Var { at: out, len })
    }

    /// The place of a constant among those that instructions read.
    pub(super) fn spread(&mut self, id: NodeId) -> usize {
        if let Some(&at) = self.spread.get(&id) {
            return at;
        }
        let at = self.spread_length;
        self.spread_length += self.graph.node(id).len();
        self.spread.insert(id, at);
        at
    }

    /// Puts the constants that instructions read after everything that is computed, where no adjoint is needed.
    pub(super) fn place_constants(&mut self) {
        let start = self.plan.values;
        for (id, at) in &self.spread {
            let values = self.graph.node(*id).constant().into_iter().flat_map(|c| c.iter());
            self.plan.fixed.extend(values.enumerate().map(|(i, &x)| (start + at + i, x)));
        }
        self.plan.buffer = start + self.spread_length;
        for step in &mut self.plan.steps {
            let Code::Program(code) = &mut step.code else { continue };
            let read = code.iter_mut().flat_map(|i| &mut i.args[..i.op.arity()]);
            read.filter(|source| !source.varies).for_each(|source| source.at += start);
        }
    }
}
