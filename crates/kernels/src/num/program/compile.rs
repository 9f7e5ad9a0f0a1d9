//! From a formula to the steps that compute some of its results: what nobody asks for is left out, and
//! numbers that are no longer needed make room for others.

use super::alone::Alone;
use super::formula::Formula;
use super::primitive::{Binary, Id, Node, Several, Unary};
use crate::num::real::{Fn3, LANES};

/// What a step does.
#[derive(Clone, Copy, Debug)]
pub enum Code {
    /// The number itself.
    Copy,
    /// A function of one number.
    Unary(Unary),
    /// A function of two.
    Binary(Binary),
    /// a · b + c
    MulAdd,
    /// The third where the first is less than the second, the fourth elsewhere.
    IfLess,
    /// The third where the first equals the second, the fourth elsewhere.
    IfEqual,
    /// A function of one number with several results.
    Several(Several),
    /// A function of one number, number by number.
    Call1(fn(f64) -> f64),
    /// A function of two numbers, number by number.
    Call2(fn(f64, f64) -> f64),
    /// A function of three numbers, number by number.
    Call3(Fn3),
}

/// Where a number of a program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Among the constants.
    Constant(u16),
    /// An argument.
    Input(u16),
    /// A result.
    Output(u16),
    /// A place that is used for one number after another.
    Register(u16),
}

/// One primitive.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// What it does.
    pub code: Code,
    /// With what; the rest are the first again.
    pub args: [Place; 4],
    /// Where the results go; the rest are the last again.
    pub out: [Place; 3],
}

/// Steps that compute some results of a formula.
#[derive(Debug)]
pub struct Program {
    /// One after another.
    pub(super) steps: Box<[Step]>,
    /// The numbers that are the same everywhere, each for eight lanes.
    pub(super) constants: Box<[[f64; LANES]]>,
    /// Places that are needed on the way.
    pub(super) registers: usize,
    /// The number of arguments.
    pub(super) inputs: usize,
    /// The number of results.
    pub(super) outputs: usize,
    /// The same for one element.
    pub(super) alone: Alone,
}

// What runs a program trusts it: nobody outside may put one together or change it.
impl Program {
    /// The number of arguments.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The number of results.
    pub fn outputs(&self) -> usize {
        self.outputs
    }
}

/// A number that no step has put anywhere yet.
const NOWHERE: Place = Place::Register(u16::MAX);

impl Formula {
    /// The steps that compute the results for which `wanted` says so, in their order.
    pub fn compile(&self, wanted: impl Fn(usize) -> bool) -> Program {
        let outputs: Vec<Id> =
            (0..self.outputs.len()).filter(|&k| wanted(k)).map(|k| self.outputs[k]).collect();
        let outputs: Vec<Id> = outputs.into_iter().map(|id| self.origin(id)).collect();
        let mut compiler = Compiler {
            formula: self,
            last_use: self.last_uses(&outputs),
            place: vec![NOWHERE; self.nodes.len()],
            free: Vec::new(),
            registers: 0,
            constants: Vec::new(),
            steps: Vec::new(),
        };
        for id in 0..self.nodes.len() {
            compiler.node(id, &outputs);
        }
        compiler.copies(&outputs);
        let Compiler { steps, constants, registers, .. } = compiler;
        Program {
            alone: Alone::new(&steps, &constants, registers, [self.inputs, outputs.len()]),
            steps: steps.into(),
            constants: constants.into_iter().map(|c| [c; LANES]).collect(),
            registers,
            inputs: self.inputs,
            outputs: outputs.len(),
        }
    }

    /// The number that a number without a tangent is.
    fn origin(&self, mut id: Id) -> Id {
        while let Node::Unary(Unary::Detach, a) = self.nodes[usize::from(id)] {
            id = a;
        }
        id
    }

    /// For each number the last one that reads it, the end where it is a result; None where no result depends
    /// on it.
    fn last_uses(&self, outputs: &[Id]) -> Vec<Option<usize>> {
        let mut last = vec![None; self.nodes.len()];
        for &id in outputs {
            last[usize::from(id)] = Some(self.nodes.len());
        }
        for (id, node) in self.nodes.iter().enumerate().rev() {
            let Some(until) = last[id] else { continue };
            let (operands, count) = node.operands();
            for &a in &operands[..count] {
                let a = usize::from(self.origin(a));
                // A part is its whole: what reads it reads that.
                let reader = if matches!(node, Node::Part(..)) { until } else { id };
                last[a] = Some(last[a].map_or(reader, |l: usize| l.max(reader)));
            }
        }
        last
    }
}

/// A program in the making.
struct Compiler<'a> {
    formula: &'a Formula,
    last_use: Vec<Option<usize>>,
    place: Vec<Place>,
    free: Vec<u16>,
    registers: usize,
    constants: Vec<f64>,
    steps: Vec<Step>,
}

impl Compiler<'_> {
    /// Adds the step of one number, if somebody needs it.
    fn node(&mut self, id: usize, outputs: &[Id]) {
        if self.last_use[id].is_none() {
            return;
        }
        let node = self.formula.nodes[id];
        match node {
            Node::Input(k) => self.place[id] = Place::Input(k),
            Node::Constant(c) => {
                self.place[id] = Place::Constant(self.constants.len() as u16);
                self.constants.push(c);
            }
            // Its numbers have places since the step that computes them.
            Node::Part(..) | Node::Unary(Unary::Detach, _) => {}
            Node::Several(f, _) => {
                let args = self.args(&node);
                self.release(id);
                let parts = self.parts(id);
                let mut out = [NOWHERE; 3];
                for k in 0..f.count() {
                    out[k] = match parts[k] {
                        Some(part) => self.fresh(part, outputs),
                        None => self.register(),
                    };
                }
                // Results that nobody reads are overwritten at once.
                for k in 0..f.count() {
                    match (parts[k], out[k]) {
                        (Some(part), place) => self.place[part] = place,
                        (None, Place::Register(r)) => self.free.push(r),
                        (None, Place::Constant(_) | Place::Input(_) | Place::Output(_)) => {}
                    }
                }
                let last = out[f.count() - 1];
                out[f.count()..].fill(last);
                self.steps.push(Step { code: Code::Several(f), args, out });
            }
            Node::Unary(..)
            | Node::Binary(..)
            | Node::MulAdd(_)
            | Node::IfLess(_)
            | Node::IfEqual(_)
            | Node::Call1(..)
            | Node::Call2(..)
            | Node::Call3(..) => {
                let args = self.args(&node);
                self.release(id);
                let out = self.fresh(id, outputs);
                self.place[id] = out;
                self.steps.push(Step { code: code(&node), args, out: [out; 3] });
            }
        }
    }

    /// Where the operands of a node are.
    fn args(&self, node: &Node) -> [Place; 4] {
        let (operands, count) = node.operands();
        let mut args = [self.place[usize::from(self.formula.origin(operands[0]))]; 4];
        for k in 1..count {
            args[k] = self.place[usize::from(self.formula.origin(operands[k]))];
        }
        args
    }

    /// Makes room of the registers that number `id` is the last to read.
    fn release(&mut self, id: usize) {
        for a in 0..id {
            if self.last_use[a] == Some(id)
                && self.place[a] != NOWHERE
                && let Place::Register(r) = self.place[a]
            {
                self.free.push(r);
            }
        }
    }

    /// The numbers that read the results of a node with several.
    fn parts(&self, whole: usize) -> [Option<usize>; 3] {
        let mut parts = [None; 3];
        for (id, node) in self.formula.nodes.iter().enumerate() {
            if let Node::Part(of, k) = node
                && usize::from(*of) == whole
                && self.last_use[id].is_some()
            {
                parts[usize::from(*k)] = Some(id);
            }
        }
        parts
    }

    /// A place for a new number: that of the first result that it is, else a register.
    fn fresh(&mut self, id: usize, outputs: &[Id]) -> Place {
        match outputs.iter().position(|&o| usize::from(o) == id) {
            Some(k) => Place::Output(k as u16),
            None => self.register(),
        }
    }

    fn register(&mut self) -> Place {
        Place::Register(self.free.pop().unwrap_or_else(|| {
            self.registers += 1;
            (self.registers - 1) as u16
        }))
    }

    /// Results that are arguments, constants or other results are copied.
    fn copies(&mut self, outputs: &[Id]) {
        for (k, &id) in outputs.iter().enumerate() {
            let (from, to) = (self.place[usize::from(id)], Place::Output(k as u16));
            if from != to {
                self.steps.push(Step { code: Code::Copy, args: [from; 4], out: [to; 3] });
            }
        }
    }
}

/// What computes a number.
fn code(node: &Node) -> Code {
    match *node {
        Node::Unary(f, _) => Code::Unary(f),
        Node::Binary(f, _) => Code::Binary(f),
        Node::MulAdd(_) => Code::MulAdd,
        Node::IfLess(_) => Code::IfLess,
        Node::IfEqual(_) => Code::IfEqual,
        Node::Several(f, _) => Code::Several(f),
        Node::Call1(f, _) => Code::Call1(f[0]),
        Node::Call2(f, _) => Code::Call2(f[0]),
        Node::Call3(f, _) => Code::Call3(f[0]),
        Node::Input(_) | Node::Constant(_) | Node::Part(..) => Code::Copy,
    }
}
