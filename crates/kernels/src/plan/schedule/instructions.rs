//! Small arithmetic as instructions: which nodes become one, where it reads, and where it writes.

use super::super::code::{Code, Slot};
use super::super::program::{ANY, Instruction, MOST_READ, Primitive, Source, UNKNOWN};
use super::super::recursion::{Feed, RecursionCode};
use super::Scheduler;
use crate::facts::common_dims;
use crate::graph::{Node, NodeId, Op};
use crate::ops::array::Concat;
use crate::ops::scalar::{QUADRATIC, ScalarRow};

/// Most elements of an arithmetic step that becomes an instruction; longer ones have steps of their own.
pub(super) const MOST_ELEMENTS: usize = 256;

impl Scheduler<'_> {
    /// Finds the arrays put together of elements that instructions compute: these write to where the array
    /// stands.
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

    /// Finds what is computed together with the only node that uses it: a product with the sum that it is
    /// part of, also where it is a multiple of the square of a difference; such a sum with the sum of squares
    /// whose mean it is, or with the loop that reads an element of it in each step, however many these are.
    pub(super) fn fuse(&mut self) {
        for k in 0..self.wanted.len() {
            let id = self.wanted[k];
            let parts = match self.primitive(id) {
                Some(Primitive::Add) => self.parts_of_sum(id, MOST_ELEMENTS),
                Some(Primitive::Quadratic) => {
                    self.affine_side(id).into_iter().map(|side| self.side(id, side)).collect()
                }
                Some(_) => Vec::new(),
                None => self.fed(id),
            };
            parts.into_iter().for_each(|part| self.fused[part.0 as usize] = true);
        }
    }

    /// Whether a node does this arithmetic on `n` elements, `most` at most, for one other node alone.
    fn alone(&self, id: NodeId, op: Primitive, n: usize, most: usize) -> bool {
        let at = id.0 as usize;
        self.arithmetic(id, most) == Some(op)
            && self.uses[at] == 1
            && self.places[at].is_none()
            && self.graph.node(id).len() == n
    }

    /// The product within a sum, and within that the square of a difference, of at most so many elements.
    fn parts_of_sum(&self, id: NodeId, most: usize) -> Vec<NodeId> {
        let (node, n) = (self.graph.node(id), self.graph.node(id).len());
        let Some(&product) = node.args.iter().find(|&&a| self.alone(a, Primitive::Mul, n, most)) else {
            return Vec::new();
        };
        let factors = &self.graph.node(product).args;
        let square = factors.iter().copied().find(|&a| self.alone(a, Primitive::Square, n, most));
        let difference =
            square.map(|s| self.graph.node(s).args[0]).filter(|&d| self.alone(d, Primitive::Sub, n, most));
        match (square, difference) {
            (Some(square), Some(difference)) => vec![product, square, difference],
            _ => vec![product],
        }
    }

    fn side(&self, id: NodeId, side: usize) -> NodeId {
        self.graph.node(id).args[side]
    }

    /// The side of a sum of squares, its first or second argument, that is a · b + c and read by nothing
    /// else.
    fn affine_side(&self, id: NodeId) -> Option<usize> {
        let n = self.elements(self.graph.node(id));
        [1, 0].into_iter().find(|&side| {
            let a = self.side(id, side);
            self.alone(a, Primitive::Add, n, MOST_ELEMENTS)
                && self.operation(a, Primitive::Add).0 == Primitive::MulAdd
        })
    }

    /// The argument of a loop h ← a · h + b that has b for all steps, and its parts, if one instruction can
    /// give it and nothing else reads it.
    fn fed(&self, id: NodeId) -> Vec<NodeId> {
        let Some(feed) = self.feeding(id) else { return Vec::new() };
        let mut parts = self.parts_of_sum(feed, usize::MAX);
        // A sum without a product is no instruction that a loop computes.
        if parts.is_empty() {
            return parts;
        }
        parts.push(feed);
        let mut reads = parts.iter().flat_map(|&part| &self.graph.node(part).args);
        if reads.any(|&a| self.is_set_before(a)) { Vec::new() } else { parts }
    }

    /// Whether a node is data that are set before a sweep.
    fn is_set_before(&self, id: NodeId) -> bool {
        matches!(self.graph.node(id).op, Op::Input { offset } if offset >= self.plan.inputs)
    }

    /// The sum that a loop h ← a · h + b alone reads, an element in each step, as b.
    fn feeding(&self, id: NodeId) -> Option<NodeId> {
        let node = self.graph.node(id);
        let Op::Recursion(recursion) = &node.op else { return None };
        if node.args.iter().any(|&a| self.is_set_before(a)) {
            return None;
        }
        let feed = node.args[RecursionCode::new(recursion).linear_feed()?];
        self.alone(feed, Primitive::Add, recursion.steps, usize::MAX).then_some(feed)
    }

    /// The instruction that gives a loop what a step adds.
    pub(super) fn feed(&mut self, id: NodeId) -> Feed {
        let (op, reads) = self.operation(id, Primitive::Add);
        let n = self.graph.node(id).len();
        let (mut args, mut data) = ([Source::default(); MOST_READ], Vec::with_capacity(reads.len()));
        for (source, &a) in args.iter_mut().zip(&reads) {
            let known = self.graph.node(a).constant().filter(|c| c.len() == n);
            *source = match known {
                Some(_) => Source { at: 0, step: 1, varies: false, fresh: false },
                None => self.source(a, n),
            };
            data.push(known.cloned());
        }
        Feed::new(Instruction { op, n, out: 0, args, term: false, shape: ANY, end: UNKNOWN }, data)
    }

    /// The instruction of a node and what it reads, with what is fused to it.
    pub(super) fn operation(&self, id: NodeId, op: Primitive) -> (Primitive, Vec<NodeId>) {
        let args = &self.graph.node(id).args;
        let is_fused = |a: &NodeId| self.fused[a.0 as usize];
        match (op, args.iter().position(is_fused)) {
            (Primitive::Add, Some(k)) => self.sum_of_parts(args[k], args[1 - k]),
            (Primitive::Quadratic, Some(side)) => {
                let (_, mut parts) = self.operation(args[side], Primitive::Add);
                // One number for all elements comes first.
                parts[..2].sort_by_key(|&factor| self.graph.node(factor).len());
                (Primitive::Affine, vec![args[1 - side], parts[0], parts[1], parts[2], args[2]])
            }
            (Primitive::Quadratic, None) if self.is_zero(args[1]) => {
                (Primitive::Squares, vec![args[0], args[2]])
            }
            _ => (op, args.clone()),
        }
    }

    /// A fused product and what is added to it.
    fn sum_of_parts(&self, product: NodeId, other: NodeId) -> (Primitive, Vec<NodeId>) {
        let factors = &self.graph.node(product).args;
        match factors.iter().position(|a| self.fused[a.0 as usize]) {
            Some(square) => {
                let difference = &self.graph.node(self.graph.node(factors[square]).args[0]).args;
                (Primitive::SquareAdd, vec![factors[1 - square], difference[0], difference[1], other])
            }
            None => (Primitive::MulAdd, vec![factors[0], factors[1], other]),
        }
    }

    fn is_zero(&self, id: NodeId) -> bool {
        self.graph.node(id).constant().is_some_and(|c| c.iter().all(|&x| x == 0.0))
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
        self.arithmetic(id, MOST_ELEMENTS)
    }

    /// The arithmetic of an elementwise step of at most so many elements; a sum of squares, which stores
    /// none, may have more, if these are not data.
    fn arithmetic(&self, id: NodeId, most: usize) -> Option<Primitive> {
        let node = self.graph.node(id);
        if self.tiled[id.0 as usize].is_some() {
            return None;
        }
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
            let computed = arg.constant().is_none() && !self.is_set_before(a);
            let short = arg.len() <= most || (op.is_sum() && computed);
            short && (arg.len() == 1 || arg.len() == n) && self.predictor(a).is_none()
        };
        ((n <= most || op.is_sum()) && node.args.iter().all(fits)).then_some(op)
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
        let args = self.sources(&reads, n);
        let out = match self.places[id.0 as usize] {
            Some((array, offset)) => self.joined_at(array) + offset,
            None => {
                let written = op.written(len);
                self.plan.values += written;
                self.plan.values - written
            }
        };
        let term = self.terms[id.0 as usize];
        (Instruction { op, n, out, args, term, shape: ANY, end: UNKNOWN }, Slot::Var { at: out, len })
    }

    /// Where an instruction on `n` elements reads.
    fn sources(&mut self, reads: &[NodeId], n: usize) -> [Source; MOST_READ] {
        let mut args = [Source::default(); MOST_READ];
        args.iter_mut().zip(reads).for_each(|(source, &a)| *source = self.source(a, n));
        args
    }

    /// Where it reads an argument.
    fn source(&mut self, id: NodeId, n: usize) -> Source {
        let step = usize::from(self.graph.node(id).len() == n && n > 1);
        match self.slot(id) {
            Some(Slot::Var { at, .. }) => Source { at: *at, step, varies: true, fresh: false },
            Some(Slot::Const(_) | Slot::Data { .. }) | None => {
                Source { at: self.spread(id), step, varies: false, fresh: false }
            }
        }
    }

    /// The place of a constant, or of data, among those that instructions read.
    pub(super) fn spread(&mut self, id: NodeId) -> usize {
        if let Some(&at) = self.spread.get(&id) {
            return at;
        }
        let at = self.spread_length;
        self.spread_length += self.graph.node(id).len();
        self.spread.insert(id, at);
        at
    }

    /// Puts the constants and data that instructions read after everything that is computed, where no adjoint
    /// is needed.
    pub(super) fn place_constants(&mut self) {
        let start = self.plan.values;
        for (id, at) in &self.spread {
            let to = start + at;
            match self.slot(*id) {
                Some(Slot::Const(c)) => {
                    self.plan.fixed.extend(c.clone().iter().enumerate().map(|(i, &x)| (to + i, x)));
                }
                Some(&Slot::Data { at, len }) => self.plan.spread.push((at..at + len, to)),
                Some(Slot::Var { .. }) | None => {}
            }
        }
        self.plan.buffer = start + self.spread_length;
        for step in &mut self.plan.steps {
            let code: &mut [Instruction] = match &mut step.code {
                Code::Program(code) => code,
                Code::Loop(code) => {
                    code.constants_from(start);
                    &mut []
                }
                Code::Map { .. }
                | Code::MapSum { .. }
                | Code::Predicted { .. }
                | Code::Concat
                | Code::Array { .. }
                | Code::Ode { .. }
                | Code::Recursion { .. }
                | Code::Tiled { .. } => &mut [],
            };
            let read = code.iter_mut().flat_map(|i| &mut i.args[..i.op.arity()]);
            read.filter(|source| !source.varies).for_each(|source| source.at += start);
        }
    }
}
