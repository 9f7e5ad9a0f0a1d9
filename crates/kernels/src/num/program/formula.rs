//! A recorded formula, and its tangents.

use super::primitive::{Binary, Id, Node};
use super::record::{Traced, record};
use crate::num::real::{DualOf, Real};

/// Some numbers as primitives of others.
#[derive(Clone, Debug)]
pub struct Formula {
    /// The number of arguments.
    pub(super) inputs: usize,
    /// Every number, operands before those who use them.
    pub(super) nodes: Vec<Node>,
    /// The results.
    pub(super) outputs: Vec<Id>,
}

impl Formula {
    /// Records what a function does with its arguments, which it gives the results of.
    pub fn record(inputs: usize, mut f: impl FnMut(&[Traced], &mut Vec<Traced>)) -> Formula {
        record(inputs, &mut f)
    }

    /// The results for arguments of any kind.
    pub fn eval<T: Real>(&self, inputs: &[T]) -> Vec<T> {
        // What has several results is remembered by all of them; every other number by the first.
        let mut all: Vec<[T; 3]> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let at = |id: Id| all[usize::from(id)][0];
            let one = match *node {
                Node::Input(k) => inputs[usize::from(k)],
                Node::Constant(c) => T::splat(c),
                Node::Unary(f, a) => f.of(at(a)),
                Node::Binary(f, [a, b]) => self.binary(f, [a, b], at),
                Node::MulAdd([a, b, c]) => at(a).mul_add(at(b), at(c)),
                Node::IfLess([a, b, yes, no]) => at(a).if_less(at(b), at(yes), at(no)),
                Node::IfEqual([a, b, yes, no]) => at(a).if_equal(at(b), at(yes), at(no)),
                Node::Several(f, a) => {
                    all.push(f.of(at(a)));
                    continue;
                }
                Node::Part(of, k) => all[usize::from(of)][usize::from(k)],
                Node::Call1([f, d], a) => at(a).lift1(f, d),
                Node::Call2([f, da, db], [a, b]) => at(a).lift2(at(b), f, da, db),
                Node::Call3([f, d @ ..], [a, b, c]) => at(a).lift3(at(b), at(c), f, d),
            };
            all.push([one; 3]);
        }
        self.outputs.iter().map(|&id| all[usize::from(id)][0]).collect()
    }

    /// A function of two numbers, of which a constant has no tangent to multiply by.
    fn binary<T: Real>(&self, f: Binary, [a, b]: [Id; 2], at: impl Fn(Id) -> T) -> T {
        match (f, &self.nodes[usize::from(a)], &self.nodes[usize::from(b)]) {
            (Binary::Mul, Node::Constant(c), _) => at(b).scale(*c),
            (Binary::Mul, _, Node::Constant(c)) => at(a).scale(*c),
            (Binary::Add, _, Node::Constant(c)) => at(a).shift(*c),
            _ => f.of(at(a), at(b)),
        }
    }

    /// The formula with a tangent beside each number: argument `k` is at `2k` and its tangent at `2k + 1`,
    /// and so for the results.
    pub fn tangents(&self) -> Formula {
        Formula::record(2 * self.inputs, |x, results| {
            let inputs: Vec<_> = x.chunks_exact(2).map(|x| DualOf { v: x[0], d: x[1] }).collect();
            self.eval(&inputs).into_iter().for_each(|y| results.extend([y.v, y.d]));
        })
    }
}
