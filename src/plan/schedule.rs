//! Decides once what is computed in which order and where every number lives.

use super::ode::OdeCode;
use super::program::{Instruction, Primitive, Source};
use crate::facts::common_dims;
use crate::graph::{Graph, Node, NodeId, Ode, Op};
use crate::ops::array::{Concat, Design, OpRef, Operator, Take};
use crate::ops::operand::{Arg, Broadcast, Operand};
use crate::ops::scalar::{QUADRATIC, ScalarRow};
use crate::source::Span;
use std::fmt::Write;
use std::sync::Arc;

/// Most arguments that an operation other than `concat` takes.
pub(super) const MOST_ARGS: usize = 8;

/// Most elements of an arithmetic step that becomes an instruction; longer ones have steps of their own.
const MOST_ELEMENTS: usize = 256;

/// Most elements of a constant that is spread over all lanes for an instruction.
const MOST_SPREAD: usize = 64;

/// Where an argument's numbers are.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// Known beforehand.
    Const(Arc<[f64]>),
    /// In the buffer of values.
    Var { at: usize, len: usize },
}

impl Slot {
    pub(super) fn len(&self) -> usize {
        match self {
            Slot::Const(c) => c.len(),
            Slot::Var { len, .. } => *len,
        }
    }
}

/// What a step runs.
#[derive(Clone, Debug)]
pub(super) enum Code {
    Map {
        row: &'static ScalarRow,
        index: Vec<Broadcast>,
    },
    MapSum {
        row: &'static ScalarRow,
        index: Vec<Broadcast>,
        weights: Option<Arc<[f64]>>,
        count: usize,
    },
    /// As `MapSum`, where argument `which` is a linear predictor; its slot is that of the coefficients.
    Predicted {
        row: &'static ScalarRow,
        index: Vec<Broadcast>,
        weights: Option<Arc<[f64]>>,
        which: usize,
        operator: Arc<Operator>,
    },
    Concat,
    Array {
        op: OpRef,
        dims: Vec<Vec<usize>>,
    },
    Ode {
        code: Arc<OdeCode>,
        room: usize,
    },
    Program(Vec<Instruction>),
}

impl Code {
    /// What it does, for dumps and profiles.
    pub(super) fn name(&self) -> String {
        match self {
            Code::Map { row, .. } => row.name.to_string(),
            Code::MapSum { row, count, .. } => format!("sum.{} over {count}", row.name),
            Code::Predicted { row, operator, .. } => format!(
                "sum.{} over {} rows of {} coefficients",
                row.name, operator.rows, operator.coefficients
            ),
            Code::Concat => "concat".to_string(),
            Code::Array { op, .. } => op.0.name().to_string(),
            Code::Ode { code, .. } => format!("ode with {} states", code.states()),
            Code::Program(code) => format!("{} instructions", code.len()),
        }
    }
}

/// One operation with its buffers. The instructions of a program say themselves where they read and write.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) code: Code,
    pub(super) args: Vec<Slot>,
    pub(super) at: usize,
    pub(super) len: usize,
    pub(super) saved_at: usize,
    pub(super) saved_len: usize,
    /// The part of the model it came from first.
    pub(super) span: Option<Span>,
}

/// A schedule for a set of roots. The first `inputs` values are the unconstrained coordinates themselves.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) inputs: usize,
    pub(super) steps: Vec<Step>,
    /// Numbers that are computed; constants for instructions stand after them.
    pub(super) values: usize,
    /// Numbers in the buffer of values.
    pub(super) buffer: usize,
    pub(super) saved: usize,
    /// Numbers that stand in the buffer of values from the beginning, with their places.
    pub(super) fixed: Vec<(usize, f64)>,
    pub(super) roots: Vec<Slot>,
    pub(super) odes: Vec<Arc<OdeCode>>,
}

impl Plan {
    /// Schedules what the roots need. `inputs` is the number of unconstrained coordinates.
    pub fn new(graph: &Graph, roots: &[NodeId], inputs: usize) -> Plan {
        let plan = Plan {
            inputs,
            steps: Vec::new(),
            values: inputs,
            buffer: 0,
            saved: 0,
            fixed: Vec::new(),
            roots: Vec::new(),
            odes: Vec::new(),
        };
        let needed = graph.needed(roots);
        let wanted = graph.iter().filter(|(id, _)| needed[id.0 as usize]).map(|(id, _)| id).collect();
        let mut scheduler = Scheduler {
            graph,
            plan,
            wanted,
            slots: vec![None; graph.len()],
            places: vec![None; graph.len()],
            joined: vec![None; graph.len()],
            uses: vec![0; graph.len()],
            fused: vec![false; graph.len()],
            spread: Vec::new(),
            spread_length: 0,
        };
        scheduler.count_uses(roots);
        scheduler.join();
        scheduler.fuse();
        scheduler.run();
        scheduler.place_constants();
        let mut plan = scheduler.plan;
        plan.roots = roots.iter().filter_map(|r| scheduler.slots[r.0 as usize].clone()).collect();
        plan
    }

    /// Number of unconstrained coordinates.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of roots.
    pub fn roots(&self) -> usize {
        self.roots.len()
    }

    /// Number of elements of each root.
    pub fn root_sizes(&self) -> Vec<usize> {
        self.roots.iter().map(Slot::len).collect()
    }
}

/// A plan in the making.
struct Scheduler<'g> {
    graph: &'g Graph,
    plan: Plan,
    /// Nodes that some root needs, operands first.
    wanted: Vec<NodeId>,
    /// Where the numbers of a node are, once it is scheduled.
    slots: Vec<Option<Slot>>,
    /// For an element that is computed in its place within an array: the array, and how far in.
    places: Vec<Option<(NodeId, usize)>>,
    /// For an array whose elements are computed in place: where it stands, once that is decided.
    joined: Vec<Option<Option<usize>>>,
    /// How often a node is an argument or a root.
    uses: Vec<usize>,
    /// Products that are computed together with the sum that uses them.
    fused: Vec<bool>,
    /// Constants that instructions read, with their places among each other.
    spread: Vec<(NodeId, usize)>,
    /// Numbers in all of these.
    spread_length: usize,
}

impl Scheduler<'_> {
    fn slot(&self, id: NodeId) -> Option<&Slot> {
        self.slots[id.0 as usize].as_ref()
    }

    fn ready(&self, id: NodeId) -> bool {
        self.graph.node(id).args.iter().all(|&a| self.slot(a).is_some())
    }

    fn count_uses(&mut self, roots: &[NodeId]) {
        let args = self.wanted.iter().flat_map(|&id| &self.graph.node(id).args);
        for id in args.chain(roots) {
            self.uses[id.0 as usize] += 1;
        }
    }

    /// The operator of a linear predictor that only one sum uses, and that sum can compute by itself.
    fn predictor(&self, id: NodeId) -> Option<&Arc<Operator>> {
        let Op::Array(op) = &self.graph.node(id).op else { return None };
        (self.uses[id.0 as usize] == 1).then_some(&op.downcast::<Design>()?.0)
    }

    /// Finds the arrays put together of elements that instructions compute: these write to where the array stands.
    fn join(&mut self) {
        for &id in &self.wanted {
            let node = self.graph.node(id);
            let Op::Array(op) = &node.op else { continue };
            if op.downcast::<Concat>().is_none() {
                continue;
            }
            let free = |a: &NodeId| {
                let arg = self.graph.node(*a);
                arg.constant().is_some()
                    || (self.primitive(*a).is_some() && self.places[a.0 as usize].is_none())
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

    /// Finds the products that only a sum uses: both are one instruction.
    fn fuse(&mut self) {
        for &id in &self.wanted {
            let node = self.graph.node(id);
            if self.primitive(id) != Some(Primitive::Add) {
                continue;
            }
            let alone = |a: NodeId| {
                let at = a.0 as usize;
                self.primitive(a) == Some(Primitive::Mul)
                    && self.uses[at] == 1
                    && self.places[at].is_none()
                    && self.graph.node(a).len() == node.len()
            };
            if let Some(&product) = node.args.iter().find(|&&a| alone(a)) {
                self.fused[product.0 as usize] = true;
            }
        }
    }

    /// The instruction of a node and what it reads: for a sum with a fused product, the factors and the other summand.
    fn operation(&self, id: NodeId, op: Primitive) -> (Primitive, Vec<NodeId>) {
        let args = &self.graph.node(id).args;
        let fused = args.iter().position(|a| self.fused[a.0 as usize]);
        match (op, fused) {
            (Primitive::Add, Some(k)) => {
                let factors = &self.graph.node(args[k]).args;
                (Primitive::MulAdd, vec![factors[0], factors[1], args[1 - k]])
            }
            _ => (op, args.clone()),
        }
    }

    /// Takes turns: all arithmetic that is ready becomes one program, then everything else that is ready has its step.
    fn run(&mut self) {
        let mut left = self.wanted.clone();
        while !left.is_empty() {
            let before = left.len();
            let mut code = Vec::new();
            left.retain(|&id| !self.take_turn(id, &mut Some(&mut code)));
            if !code.is_empty() {
                let span = code[0].1;
                let code = code.into_iter().map(|(i, _)| i).collect();
                self.push(Code::Program(code), Vec::new(), 0, 0, span);
            }
            left.retain(|&id| !self.take_turn(id, &mut None));
            if left.len() == before {
                break;
            }
        }
    }

    /// Schedules a node if its turn has come: arithmetic where there is a program to add to, other steps where not.
    fn take_turn(&mut self, id: NodeId, program: &mut Option<&mut Vec<(Instruction, Option<Span>)>>) -> bool {
        if !self.ready(id) {
            return false;
        }
        let node = self.graph.node(id);
        let slot = match (&node.op, program) {
            (Op::Constant(values), _) => Some(Slot::Const(values.clone())),
            (Op::Input { offset }, _) => Some(Slot::Var { at: *offset, len: node.len() }),
            (Op::Map(_) | Op::MapSum { .. } | Op::Array(_) | Op::Ode(_), program) => {
                match (self.alias(id), self.primitive(id), program) {
                    (Some(slot), _, _) => Some(slot),
                    (None, Some(op), Some(program)) => {
                        let (instruction, slot) = self.instruction(id, op);
                        program.push((instruction, node.span));
                        Some(slot)
                    }
                    (None, None, None) => Some(self.step(node)),
                    (None, None, Some(_)) | (None, Some(_), None) => None,
                }
            }
        };
        self.slots[id.0 as usize] = slot;
        self.slot(id).is_some()
    }

    /// Where the numbers of a node already stand, if nothing must be done for it.
    fn alias(&mut self, id: NodeId) -> Option<Slot> {
        let node = self.graph.node(id);
        if self.joined[id.0 as usize].is_some() {
            let at = self.joined_at(id);
            return Some(Slot::Var { at, len: node.len() });
        }
        if self.fused[id.0 as usize] {
            return Some(Slot::Var { at: 0, len: 0 });
        }
        if self.absorbed(id) {
            return self.slot(node.args[0]).cloned();
        }
        let Op::Array(op) = &node.op else { return None };
        let first = op.downcast::<Take>()?.consecutive()?;
        match self.slot(node.args[0])? {
            Slot::Var { at, .. } => Some(Slot::Var { at: at + first, len: node.len() }),
            Slot::Const(_) => None,
        }
    }

    /// Whether a linear predictor is computed by the sum that uses it.
    fn absorbed(&self, id: NodeId) -> bool {
        self.predictor(id).is_some()
            && self
                .wanted
                .iter()
                .any(|&user| self.predicted(self.graph.node(user)).is_some_and(|(a, _)| a == id))
    }

    /// The argument of a sum that is a linear predictor of its own, and which one it is.
    fn predicted(&self, node: &Node) -> Option<(NodeId, usize)> {
        let Op::MapSum { weighted, .. } = &node.op else { return None };
        let nodes: Vec<&Node> = node.args.iter().map(|&a| self.graph.node(a)).collect();
        let count: usize = common_dims(nodes.iter().map(|n| n.dims.as_slice())).iter().product();
        let functions = node.args.len() - usize::from(*weighted);
        (0..functions)
            .map(|k| (node.args[k], k))
            .find(|&(a, _)| self.predictor(a).is_some_and(|operator| operator.rows == count))
    }

    /// Where an array whose elements are computed in place stands; decided when the first element is.
    fn joined_at(&mut self, id: NodeId) -> usize {
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
    fn primitive(&self, id: NodeId) -> Option<Primitive> {
        let node = self.graph.node(id);
        let op = match &node.op {
            Op::Map(row) => Primitive::of(row)?,
            Op::MapSum { row, weighted: false } if **row == QUADRATIC => Primitive::Quadratic,
            Op::MapSum { .. } | Op::Constant(_) | Op::Input { .. } | Op::Array(_) | Op::Ode(_) => {
                return None;
            }
        };
        let n = self.elements(node);
        let fits = |&a: &NodeId| {
            let arg = self.graph.node(a);
            let most = if arg.constant().is_some() { MOST_SPREAD } else { MOST_ELEMENTS };
            arg.len() <= most && (arg.len() == 1 || arg.len() == n) && self.predictor(a).is_none()
        };
        (n <= MOST_ELEMENTS && node.args.iter().all(fits)).then_some(op)
    }

    /// How many elements an elementwise node goes through.
    fn elements(&self, node: &Node) -> usize {
        let nodes: Vec<&Node> = node.args.iter().map(|&a| self.graph.node(a)).collect();
        common_dims(nodes.iter().map(|n| n.dims.as_slice())).iter().product()
    }

    fn instruction(&mut self, id: NodeId, op: Primitive) -> (Instruction, Slot) {
        let node = self.graph.node(id);
        let (n, len) = (self.elements(node), node.len());
        let (op, reads) = self.operation(id, op);
        let mut args = [Source::default(); 3];
        for (source, &a) in args.iter_mut().zip(&reads) {
            let len = self.graph.node(a).len();
            let step = usize::from(len == n && n > 1);
            *source = match self.slot(a) {
                Some(Slot::Var { at, .. }) => Source { at: *at, step, varies: true },
                Some(Slot::Const(_)) | None => Source { at: self.spread(a), step, varies: false },
            };
        }
        let out = match self.places[id.0 as usize] {
            Some((array, offset)) => self.joined_at(array) + offset,
            None => {
                self.plan.values += len;
                self.plan.values - len
            }
        };
        (Instruction { op, n, out, args }, Slot::Var { at: out, len })
    }

    /// The place of a constant among those that instructions read.
    fn spread(&mut self, id: NodeId) -> usize {
        if let Some((_, at)) = self.spread.iter().find(|(c, _)| *c == id) {
            return *at;
        }
        let at = self.spread_length;
        self.spread_length += self.graph.node(id).len();
        self.spread.push((id, at));
        at
    }

    /// Puts the constants that instructions read after everything that is computed, where no adjoint is needed.
    fn place_constants(&mut self) {
        let start = self.plan.values;
        for (id, at) in &self.spread {
            let values = self.graph.node(*id).constant().into_iter().flat_map(|c| c.iter());
            self.plan.fixed.extend(values.enumerate().map(|(i, &x)| (start + at + i, x)));
        }
        self.plan.buffer = start + self.spread_length;
        for step in &mut self.plan.steps {
            let Code::Program(code) = &mut step.code else { continue };
            for source in code.iter_mut().flat_map(|i| &mut i.args).filter(|s| !s.varies) {
                source.at += start;
            }
        }
    }

    fn step(&mut self, node: &Node) -> Slot {
        if let Op::Ode(ode) = &node.op {
            return self.ode(ode, node);
        }
        let nodes: Vec<&Node> = node.args.iter().map(|&a| self.graph.node(a)).collect();
        let mut args: Vec<Slot> = node.args.iter().filter_map(|&a| self.slot(a).cloned()).collect();
        let mut code = code(node, &nodes, &mut args);
        if let Some((predictor, which)) = self.predicted(node)
            && let Some(operator) = self.predictor(predictor).cloned()
            && let Code::MapSum { row, index, weights, .. } = code
        {
            code = Code::Predicted { row, index, weights, which, operator };
        }
        let saved_len = match &code {
            Code::MapSum { .. } => variables(&args),
            Code::Predicted { operator, .. } if operator.blocks() > 1 => {
                variables(&args) * (1 + operator.blocks())
            }
            Code::Predicted { .. } => variables(&args),
            Code::Array { op, dims } => op.0.saved(&dims.iter().map(Vec::as_slice).collect::<Vec<_>>()),
            Code::Map { .. } | Code::Concat | Code::Ode { .. } | Code::Program(_) => 0,
        };
        self.push(code, args, node.len(), saved_len, node.span)
    }

    /// An equation; solved at once if it depends on nothing.
    fn ode(&mut self, ode: &Arc<Ode>, node: &Node) -> Slot {
        let args: Vec<Slot> = node.args.iter().filter_map(|&a| self.slot(a).cloned()).collect();
        let wanted = |i: usize| matches!(args.get(i), Some(Slot::Var { .. }));
        let code = Arc::new(OdeCode::new(ode, [wanted(0), wanted(1)]));
        if let [Slot::Const(initial), Slot::Const(theta)] = args.as_slice() {
            return Slot::Const(code.constant(initial, theta).into());
        }
        let (saved, room) = (code.saved(), self.plan.odes.len());
        self.plan.odes.push(code.clone());
        self.push(Code::Ode { code, room }, args, node.len(), saved, node.span)
    }

    fn push(
        &mut self,
        code: Code,
        args: Vec<Slot>,
        len: usize,
        saved_len: usize,
        span: Option<Span>,
    ) -> Slot {
        let at = self.plan.values;
        self.plan.steps.push(Step { code, args, at, len, saved_at: self.plan.saved, saved_len, span });
        self.plan.values += len;
        self.plan.saved += saved_len;
        Slot::Var { at, len }
    }
}

/// Number of elements that vary.
fn variables(args: &[Slot]) -> usize {
    args.iter().map(|s| if matches!(s, Slot::Var { .. }) { s.len() } else { 0 }).sum()
}

fn code(node: &Node, nodes: &[&Node], args: &mut Vec<Slot>) -> Code {
    match &node.op {
        Op::Map(row) => {
            let index = nodes.iter().map(|a| Broadcast::between(&a.dims, &node.dims)).collect();
            Code::Map { row, index }
        }
        Op::MapSum { row, weighted } => {
            let dims = common_dims(nodes.iter().map(|n| n.dims.as_slice()));
            let count = dims.iter().product();
            let mut index: Vec<Broadcast> =
                nodes.iter().map(|a| Broadcast::between(&a.dims, &dims)).collect();
            let mut weights = None;
            if *weighted && let (Some(Slot::Const(w)), Some(at)) = (args.pop(), index.pop()) {
                let operand: Operand<f64> = Operand::new(Arg::Const(&w), &at);
                weights = Some((0..count).map(|i| operand.at(i)).collect());
            }
            Code::MapSum { row, index, weights, count }
        }
        Op::Array(op) if op.downcast::<Concat>().is_some() => Code::Concat,
        Op::Array(op) => Code::Array { op: op.clone(), dims: nodes.iter().map(|a| a.dims.clone()).collect() },
        Op::Constant(_) | Op::Input { .. } | Op::Ode(_) => Code::Concat,
    }
}

/// One line a step: where it writes, what it runs, what it keeps.
pub fn dump(plan: &Plan) -> String {
    let mut out = format!(
        "{} coordinates, {} steps, {} values, {} kept for the reverse sweep\n",
        plan.inputs,
        plan.steps.len(),
        plan.values,
        plan.saved
    );
    for step in &plan.steps {
        if let Code::Program(code) = &step.code {
            for i in code {
                let end = i.out + if i.op == Primitive::Quadratic { 1 } else { i.n };
                let _ = writeln!(out, "{}..{end} = {}", i.out, instruction(i));
            }
            continue;
        }
        let args: Vec<String> = step
            .args
            .iter()
            .map(|slot| match slot {
                Slot::Const(c) => format!("const[{}]", c.len()),
                Slot::Var { at, len } => format!("{at}..{}", at + len),
            })
            .collect();
        let name = step.code.name();
        let _ = writeln!(out, "{}..{} = {name}({})", step.at, step.at + step.len, args.join(", "));
    }
    out
}

fn instruction(i: &Instruction) -> String {
    let count = match i.op {
        Primitive::Add | Primitive::Sub | Primitive::Mul | Primitive::Div => 2,
        Primitive::MulAdd | Primitive::Quadratic => 3,
        Primitive::Neg
        | Primitive::Square
        | Primitive::Inv
        | Primitive::Sqrt
        | Primitive::Exp
        | Primitive::Log => 1,
    };
    let args: Vec<String> = i.args[..count]
        .iter()
        .map(|a| if a.step == 0 { a.at.to_string() } else { format!("{}..{}", a.at, a.at + i.n) })
        .collect();
    format!("{}({})", format!("{:?}", i.op).to_lowercase(), args.join(", "))
}
