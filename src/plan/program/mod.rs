//! Runs of small arithmetic steps as one list of instructions, so that a step costs its arithmetic and little more.

mod ahead;
mod back;

pub(super) use ahead::apply;
pub(super) use back::pull;

use crate::num::dispatch::best_lanes;
use crate::num::real::Real;
use crate::ops::operand::Lane;
use crate::ops::scalar::{self, ScalarRow};
use ahead::Run;
use back::Back;
use std::cell::Cell;

/// The arithmetic that instructions do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Primitive {
    /// a + b
    Add,
    /// a - b
    Sub,
    /// a · b
    Mul,
    /// a / b
    Div,
    /// -a
    Neg,
    /// a²
    Square,
    /// 1 / a
    Inv,
    /// √a
    Sqrt,
    /// e^a
    Exp,
    /// log a
    Log,
    /// a · b + c
    MulAdd,
    /// a (b - c)² + d
    SquareAdd,
    /// Σ -c (a - b)² / 2, one number
    Quadratic,
    /// Any other function of at most four numbers; its slopes stand after its value.
    Call(&'static ScalarRow),
}

impl Primitive {
    /// The arithmetic of an elementwise function, if it is one of these.
    pub(super) fn of(row: &'static ScalarRow) -> Option<Primitive> {
        let table: [(&'static ScalarRow, Primitive); 11] = [
            (&scalar::ADD, Primitive::Add),
            (&scalar::SUB, Primitive::Sub),
            (&scalar::MUL, Primitive::Mul),
            (&scalar::DIV, Primitive::Div),
            (&scalar::NEG, Primitive::Neg),
            (&scalar::SQUARE, Primitive::Square),
            (&scalar::INV, Primitive::Inv),
            (&scalar::SQRT, Primitive::Sqrt),
            (&scalar::EXP, Primitive::Exp),
            (&scalar::LOG, Primitive::Log),
            (&scalar::FMA, Primitive::MulAdd),
        ];
        table.into_iter().find(|(r, _)| *r == row).map(|(_, p)| p)
    }

    /// How many numbers it writes for `n` elements.
    pub(super) fn written(self, n: usize) -> usize {
        match self {
            Primitive::Quadratic => 1,
            Primitive::Call(row) => 1 + row.args.len(),
            Primitive::Add
            | Primitive::Sub
            | Primitive::Mul
            | Primitive::Div
            | Primitive::Neg
            | Primitive::Square
            | Primitive::Inv
            | Primitive::Sqrt
            | Primitive::Exp
            | Primitive::Log
            | Primitive::MulAdd
            | Primitive::SquareAdd => n,
        }
    }

    /// Number of arguments.
    pub(super) fn arity(self) -> usize {
        match self {
            Primitive::Call(row) => row.args.len(),
            Primitive::Add | Primitive::Sub | Primitive::Mul | Primitive::Div => 2,
            Primitive::MulAdd | Primitive::Quadratic => 3,
            Primitive::SquareAdd => 4,
            Primitive::Neg
            | Primitive::Square
            | Primitive::Inv
            | Primitive::Sqrt
            | Primitive::Exp
            | Primitive::Log => 1,
        }
    }
}

/// An argument of an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Source {
    /// Its first element in the buffer of values.
    pub(super) at: usize,
    /// 1 where it has an element for each of the result's, 0 where one serves all.
    pub(super) step: usize,
    /// Whether it depends on the parameters.
    pub(super) varies: bool,
}

/// Most arguments of an instruction.
pub(super) const MOST_READ: usize = 4;

/// `out[i] = op(args at i)` for `n` elements, or one sum over them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub(super) op: Primitive,
    pub(super) n: usize,
    pub(super) out: usize,
    pub(super) args: [Source; MOST_READ],
}

/// How far the places of an instruction lie from where it says, as they do in the steps of a loop.
pub(super) trait Shift: Copy {
    /// For an argument.
    fn arg(self, k: usize) -> usize;
    /// For the result.
    fn out(self) -> usize;
}

/// Where it says.
#[derive(Clone, Copy)]
struct Still;

impl Shift for Still {
    #[inline(always)]
    fn arg(self, _: usize) -> usize {
        0
    }

    #[inline(always)]
    fn out(self) -> usize {
        0
    }
}

/// Computes the values of all instructions in order; with `slopes`, also what the reverse sweep needs.
pub(super) fn forward<T: Lane>(code: &[Instruction], values: &mut [T], slopes: bool) {
    best_lanes(Run { code, values: Cell::from_mut(values).as_slice_of_cells(), slopes });
}

/// Adds to the adjoints of the arguments, from the last instruction to the first.
pub(super) fn reverse<T: Real>(code: &[Instruction], values: &mut [T], adjoints: &mut [T]) {
    let values = Cell::from_mut(values).as_slice_of_cells();
    best_lanes(Back { code, values, adjoints: Cell::from_mut(adjoints).as_slice_of_cells() });
}

/// Whether all that an instruction reads and writes lies in a buffer of so many numbers: looked at once, not for each
/// element.
#[inline(always)]
fn fits<const N: usize>(i: &Instruction, shift: impl Shift, len: usize) -> bool {
    let last = i.n.wrapping_sub(1);
    let mut most = i.out + shift.out() + if i.op == Primitive::Quadratic { 0 } else { last };
    let mut j = 0;
    while j < N {
        most = most.max(i.args[j].at + shift.arg(j) + last * i.args[j].step);
        j += 1;
    }
    i.n > 0 && most < len
}

/// Reads element `k` of the arguments over the element before it: one number that serves all is read once. Written so that all
/// of them stay in registers.
///
/// SAFETY: the instruction fits the buffer, and k < n.
#[inline(always)]
unsafe fn read<U: Real, const N: usize>(
    i: &Instruction,
    shift: impl Shift,
    values: &[Cell<U>],
    k: usize,
    x: &mut [U; N],
) {
    let mut j = 0;
    while j < N {
        if k == 0 || i.args[j].step != 0 {
            let at = i.args[j].at + shift.arg(j) + k * i.args[j].step;
            x[j] = unsafe { values.get_unchecked(at) }.get();
        }
        j += 1;
    }
}
