//! Runs of small arithmetic steps as one list of instructions, so that a step costs its arithmetic and little
//! more.

mod ahead;
mod back;
mod squares;

pub(super) use ahead::{Run, apply};
pub(super) use back::{Back, hand_on, pull, settle};

use crate::num::dispatch::best_lanes;
use crate::num::real::Packed;
use crate::num::stack::with_room;
use crate::ops::operand::Lane;
use crate::ops::scalar::{self, ScalarRow};
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
    /// Σ -b a² / 2, one number
    Squares,
    /// Σ -c (a - b)² / 2, one number
    Quadratic,
    /// Σ -e (a - (b · c + d))² / 2, one number
    Affine,
    /// Any other function of a few numbers; its slopes stand after its value.
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
            Primitive::Squares | Primitive::Quadratic | Primitive::Affine => 1,
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

    /// Whether it is a sum: one number, whatever the number of elements.
    #[inline(always)]
    pub(super) fn is_sum(self) -> bool {
        matches!(self, Primitive::Squares | Primitive::Quadratic | Primitive::Affine)
    }

    /// Whether its slopes can be handed on as soon as its value is known, where its own adjoint is one.
    pub(super) fn can_be_term(self) -> bool {
        self.is_sum() || matches!(self, Primitive::Call(_))
    }

    /// Number of arguments.
    pub(super) fn arity(self) -> usize {
        match self {
            Primitive::Call(row) => row.args.len(),
            Primitive::Add | Primitive::Sub | Primitive::Mul | Primitive::Div | Primitive::Squares => 2,
            Primitive::MulAdd | Primitive::Quadratic => 3,
            Primitive::SquareAdd => 4,
            Primitive::Affine => 5,
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
    /// Whether nothing has been added to its adjoint before, which is then set: nobody clears it.
    pub(super) fresh: bool,
}

/// Most arguments of an instruction.
pub(super) const MOST_READ: usize = 5;

/// `out[i] = op(args at i)` for `n` elements, or one sum over them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub(super) op: Primitive,
    pub(super) n: usize,
    pub(super) out: usize,
    pub(super) args: [Source; MOST_READ],
    /// Whether it is a term of the sum that is differentiated, and nothing else reads it: the forward sweep
    /// hands its slopes on.
    pub(super) term: bool,
    /// The shape of its arguments; [`ANY`] where nobody has looked.
    pub(super) shape: u16,
    /// The first place behind all that it reads and writes; [`UNKNOWN`] where nobody has looked.
    pub(super) end: usize,
}

/// Stands for a place that was not looked for.
pub(super) const UNKNOWN: usize = usize::MAX;

impl Instruction {
    /// Looks at its arguments once, when their places are known, so that nobody must when it runs.
    pub(super) fn look(&mut self) {
        let each = |a: &Source| a.step != 0;
        let kinds = self.args.map(|a| Kind { each: each(&a), varies: a.varies, fresh: a.fresh && each(&a) });
        let args = &self.args[..self.op.arity()];
        self.shape = shape(&kinds[..args.len()]);
        if let Some(last) = self.n.checked_sub(1) {
            let read = args.iter().map(|a| a.at + last * a.step + 1).max().unwrap_or(0);
            self.end = read.max(self.out + self.op.written(self.n));
        }
    }
}

/// Stands for every shape.
pub(super) const ANY: u16 = u16::MAX;

/// What loops that run often are compiled for, so that they do without a branch.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    /// Whether the argument has an element for each of the result's.
    each: bool,
    varies: bool,
    /// Whether the adjoints of these elements are set, not added to.
    fresh: bool,
}

/// One number for all elements, known or varying, and a number for each.
pub(super) const ONE_KNOWN: Kind = Kind { each: false, varies: false, fresh: false };
pub(super) const ONE: Kind = Kind { varies: true, ..ONE_KNOWN };
pub(super) const EACH_KNOWN: Kind = Kind { each: true, ..ONE_KNOWN };
pub(super) const EACH: Kind = Kind { varies: true, ..EACH_KNOWN };

/// The kinds of all arguments, three bits for each.
pub(super) const fn shape(args: &[Kind]) -> u16 {
    let (mut bits, mut j) = (0, 0);
    while j < args.len() {
        let Kind { each, varies, fresh } = args[j];
        bits |= (each as u16 | (varies as u16) << 1 | (fresh as u16) << 2) << (3 * j);
        j += 1;
    }
    bits
}

/// Whether argument `j` has an element for each of the result's.
#[inline(always)]
fn is_each<const SHAPE: u16>(i: &Instruction, j: usize) -> bool {
    if SHAPE == ANY { i.args[j].step != 0 } else { (SHAPE >> (3 * j)) & 1 != 0 }
}

/// Whether argument `j` varies.
#[inline(always)]
fn is_varying<const SHAPE: u16>(i: &Instruction, j: usize) -> bool {
    if SHAPE == ANY { i.args[j].varies } else { (SHAPE >> (3 * j)) & 2 != 0 }
}

/// Whether argument `j` is data with an element for each of the result's.
#[inline(always)]
pub(super) fn is_data<const SHAPE: u16>(i: &Instruction, j: usize) -> bool {
    is_each::<SHAPE>(i, j) && !is_varying::<SHAPE>(i, j)
}

/// Whether the adjoint of argument `j` is set, not added to.
#[inline(always)]
fn is_fresh<const SHAPE: u16>(i: &Instruction, j: usize) -> bool {
    if SHAPE == ANY { i.args[j].fresh } else { (SHAPE >> (3 * j)) & 4 != 0 }
}

/// How far the places of an instruction lie from where it says, as they do in the steps of a loop.
pub(super) trait Shift: Copy {
    /// For an argument.
    fn arg(self, k: usize) -> usize;
    /// For the result.
    fn out(self) -> usize;
    /// Whether all are where it says.
    const STILL: bool = false;
}

/// Where it says.
#[derive(Clone, Copy)]
pub(super) struct Still;

impl Shift for Still {
    #[inline(always)]
    fn arg(self, _: usize) -> usize {
        0
    }

    #[inline(always)]
    fn out(self) -> usize {
        0
    }

    const STILL: bool = true;
}

/// a (b - c)² + d
#[inline(always)]
pub(super) fn square_add<U: Packed>([a, b, c, d]: [U; 4]) -> U {
    a * (b - c).square() + d
}

/// The slopes of [`square_add`], times its adjoint.
#[inline(always)]
pub(super) fn square_add_slopes<U: Packed>([a, b, c, _]: [U; 4], up: U) -> [U; 4] {
    let difference = b - c;
    let slope = up * a * (difference + difference);
    [up * difference.square(), slope, -slope, up]
}

/// a · b + c
#[inline(always)]
pub(super) fn mul_add<U: Packed>([a, b, c]: [U; 3]) -> U {
    a * b + c
}

/// The slopes of [`mul_add`], times its adjoint.
#[inline(always)]
pub(super) fn mul_add_slopes<U: Packed>([a, b, _]: [U; 3], up: U) -> [U; 3] {
    [up * b, up * a, up]
}

/// Computes the values of all instructions in order; with `slopes`, also what the reverse sweep needs, and
/// the adjoints of what terms of the sum read.
pub(super) fn forward<T: Lane>(code: &[Instruction], values: &mut [T], adjoints: &mut [T], slopes: bool) {
    let values = Cell::from_mut(values).as_slice_of_cells();
    let adjoints = Cell::from_mut(adjoints).as_slice_of_cells();
    with_room(|| best_lanes(Run { code, values, adjoints, slopes }));
}

/// Adds to the adjoints of the arguments, from the last instruction to the first.
pub(super) fn reverse<T: Packed>(code: &[Instruction], values: &mut [T], adjoints: &mut [T]) {
    let values = Cell::from_mut(values).as_slice_of_cells();
    let adjoints = Cell::from_mut(adjoints).as_slice_of_cells();
    with_room(|| best_lanes(Back { code, values, adjoints }));
}

/// Whether all that an instruction reads and writes lies in a buffer of so many numbers: looked at once, not
/// for each element.
#[inline(always)]
pub(super) fn fits<const N: usize, S: Shift>(i: &Instruction, shift: S, len: usize) -> bool {
    if S::STILL && i.end != UNKNOWN {
        return i.end <= len;
    }
    let last = i.n.wrapping_sub(1);
    let mut most = i.out + shift.out() + if i.op.is_sum() { 0 } else { last };
    let mut j = 0;
    while j < N {
        most = most.max(i.args[j].at + shift.arg(j) + last * i.args[j].step);
        j += 1;
    }
    i.n > 0 && most < len
}

/// Reads the first element of all arguments: for those that are one number, it serves all elements.
///
/// SAFETY: the instruction fits the buffer.
#[inline(always)]
pub(super) unsafe fn read_first<U: Packed, const N: usize>(
    i: &Instruction,
    shift: impl Shift,
    values: &[Cell<U>],
) -> [U; N] {
    let (mut x, mut j) = ([U::zero(); N], 0);
    while j < N {
        // SAFETY: the caller promises that the buffer holds all arguments, so the first element of each.
        x[j] = unsafe { values.get_unchecked(i.args[j].at + shift.arg(j)) }.get();
        j += 1;
    }
    x
}

/// Reads element `k` of the arguments over the element before it, where there is one for each. Written so
/// that all of them stay in registers.
///
/// SAFETY: the instruction fits the buffer, k < n, and its shape is `SHAPE`.
#[inline(always)]
pub(super) unsafe fn read<U: Packed, const N: usize, const SHAPE: u16>(
    i: &Instruction,
    shift: impl Shift,
    values: &[Cell<U>],
    k: usize,
    x: &mut [U; N],
) {
    let mut j = 0;
    while j < N {
        if is_each::<SHAPE>(i, j) {
            // SAFETY: the caller promises that the buffer holds all arguments, and this has n > k elements.
            x[j] = unsafe { values.get_unchecked(i.args[j].at + shift.arg(j) + k) }.get();
        }
        j += 1;
    }
}
