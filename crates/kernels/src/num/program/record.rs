//! Numbers that leave a record of what is done with them.

use super::formula::Formula;
use super::primitive::{Binary, Id, Node, Several, Unary, binary, unary};
use crate::num::real::{Fn3, One, Real, Zero};
use std::cell::RefCell;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A number of the formula that this thread is recording.
#[derive(Clone, Copy, Debug)]
pub struct Traced(Id);

thread_local! {
    /// What has been recorded of the formula at hand.
    static NODES: RefCell<Vec<Node>> = const { RefCell::new(Vec::new()) };
}

/// Records what a function does with its arguments, which gives its results. Recordings do not nest.
pub(super) fn record(inputs: usize, f: &mut dyn FnMut(&[Traced], &mut Vec<Traced>)) -> Formula {
    NODES.with_borrow_mut(Vec::clear);
    let arguments: Vec<Traced> = (0..inputs).map(|k| push(Node::Input(k as Id))).collect();
    let mut results = Vec::new();
    f(&arguments, &mut results);
    let outputs = results.into_iter().map(|y| y.0).collect();
    Formula { inputs, nodes: NODES.with_borrow_mut(std::mem::take), outputs }
}

/// The number that a node stands for, which may have been recorded before.
#[inline(never)]
fn push(node: Node) -> Traced {
    NODES.with_borrow_mut(|nodes| {
        let place = nodes.iter().position(|n| n.is_same(&node)).unwrap_or_else(|| {
            nodes.push(node);
            nodes.len() - 1
        });
        Traced(place as Id)
    })
}

/// The value of a number that is the same everywhere.
fn constant(x: Traced) -> Option<f64> {
    NODES.with_borrow(|nodes| if let Node::Constant(c) = nodes[usize::from(x.0)] { Some(c) } else { None })
}

/// The numbers whose product a number is; a constant comes second.
fn factors(x: Traced) -> Option<[Id; 2]> {
    NODES.with_borrow(|nodes| match nodes[usize::from(x.0)] {
        Node::Binary(Binary::Mul, [a, b]) => {
            Some(if matches!(nodes[usize::from(a)], Node::Constant(_)) { [b, a] } else { [a, b] })
        }
        Node::Unary(Unary::Square, a) => Some([a, a]),
        _ => None,
    })
}

/// A function of one number; of a constant it is one.
#[inline(never)]
fn one(f: Unary, x: Traced) -> Traced {
    match constant(x) {
        Some(c) => Traced::splat(f.of(c)),
        None => push(Node::Unary(f, x.0)),
    }
}

/// A function of two numbers; of constants it is one. Adding 0 is left out: tangents of constants do it
/// often. A product that something is added to is one step with the sum, wherever it is: a formula gives the
/// same bits whatever results are asked for.
#[inline(never)]
fn two(f: Binary, a: Traced, b: Traced) -> Traced {
    match (f, constant(a), constant(b)) {
        (_, Some(a), Some(b)) => Traced::splat(f.of(a, b)),
        (Binary::Add, Some(0.0), None) => b,
        (Binary::Add | Binary::Sub, None, Some(0.0)) => a,
        (Binary::Add, _, _) => match (factors(a), factors(b)) {
            (Some([x, y]), _) => push(Node::MulAdd([x, y, b.0])),
            (None, Some([x, y])) => push(Node::MulAdd([x, y, a.0])),
            (None, None) => push(Node::Binary(f, [a.0, b.0])),
        },
        _ => push(Node::Binary(f, [a.0, b.0])),
    }
}

/// All results of a function of one number.
#[inline(never)]
fn several<const N: usize>(f: Several, x: Traced) -> [Traced; N] {
    let of = push(Node::Several(f, x.0));
    std::array::from_fn(|k| push(Node::Part(of.0, k as u8)))
}

macro_rules! operators {
    ($($variant:ident $trait:ident $method:ident),*) => {$(
        impl $trait for Traced {
            type Output = Traced;
            fn $method(self, other: Traced) -> Traced {
                two(Binary::$variant, self, other)
            }
        }
    )*};
}
operators!(Add Add add, Sub Sub sub, Mul Mul mul, Div Div div);

impl Neg for Traced {
    type Output = Traced;
    fn neg(self) -> Traced {
        one(Unary::Neg, self)
    }
}

impl AddAssign for Traced {
    fn add_assign(&mut self, other: Traced) {
        *self = *self + other;
    }
}

impl SubAssign for Traced {
    fn sub_assign(&mut self, other: Traced) {
        *self = *self - other;
    }
}

impl Zero for Traced {
    fn zero() -> Traced {
        Traced::splat(0.0)
    }
    fn is_zero(&self) -> bool {
        constant(*self) == Some(0.0)
    }
}

impl One for Traced {
    fn one() -> Traced {
        Traced::splat(1.0)
    }
}

macro_rules! unary_methods {
    (Neg neg, $($variant:ident $method:ident),*) => {$(
        fn $method(self) -> Traced {
            one(Unary::$variant, self)
        }
    )*};
}

macro_rules! binary_methods {
    (Add add, Sub sub, Mul mul, Div div, $($variant:ident $method:ident),*) => {$(
        fn $method(self, other: Traced) -> Traced {
            two(Binary::$variant, self, other)
        }
    )*};
}

impl Real for Traced {
    fn splat(x: f64) -> Traced {
        push(Node::Constant(x))
    }
    fn lift1(self, f: fn(f64) -> f64, df: fn(f64) -> f64) -> Traced {
        push(Node::Call1([f, df], self.0))
    }
    fn lift2(
        self,
        b: Traced,
        f: fn(f64, f64) -> f64,
        da: fn(f64, f64) -> f64,
        db: fn(f64, f64) -> f64,
    ) -> Traced {
        push(Node::Call2([f, da, db], [self.0, b.0]))
    }
    fn lift3(self, b: Traced, c: Traced, f: Fn3, df: [Fn3; 3]) -> Traced {
        push(Node::Call3([f, df[0], df[1], df[2]], [self.0, b.0, c.0]))
    }
    fn if_less(self, b: Traced, yes: Traced, no: Traced) -> Traced {
        push(Node::IfLess([self.0, b.0, yes.0, no.0]))
    }
    fn if_equal(self, b: Traced, yes: Traced, no: Traced) -> Traced {
        match (constant(self), constant(b)) {
            (Some(a), Some(b)) => {
                if a == b {
                    yes
                } else {
                    no
                }
            }
            _ => push(Node::IfEqual([self.0, b.0, yes.0, no.0])),
        }
    }
    fn mul_add(self, a: Traced, b: Traced) -> Traced {
        push(Node::MulAdd([self.0, a.0, b.0]))
    }
    fn log1p_exp_and_slope(self) -> (Traced, Traced) {
        let [y, slope] = several(Several::Log1pExpAndSlope, self);
        (y, slope)
    }
    fn log1p_exp_by_factor(self) -> [Traced; 3] {
        several(Several::Log1pExpByFactor, self)
    }
    fn ln_by_factor(self) -> [Traced; 2] {
        several(Several::LnByFactor, self)
    }
    fn ln_and_recip(self) -> (Traced, Traced) {
        let [log, recip] = several(Several::LnAndRecip, self);
        (log, recip)
    }
    fn log1p_and_recip(self) -> (Traced, Traced) {
        let [log, recip] = several(Several::Log1pAndRecip, self);
        (log, recip)
    }
    fn log1p_square(self) -> (Traced, Traced) {
        let [log, slope] = several(Several::Log1pSquare, self);
        (log, slope)
    }
    unary!(unary_methods);
    binary!(binary_methods);
}
