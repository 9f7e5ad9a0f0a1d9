//! Runs of small arithmetic steps as one list of instructions, so that a step costs its arithmetic and little more.

use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::real::Real;
use crate::ops::operand::{Arg, Index, Lane, Operand};
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

struct Run<'a, T> {
    code: &'a [Instruction],
    values: &'a [Cell<T>],
    slopes: bool,
}

impl<T: Lane> LaneWork<T> for Run<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Real>(self, view: View<T, U>) {
        let values = view.cells(self.values);
        for i in self.code {
            match i.op {
                Primitive::Call(row) => call(row, i, self.values, self.slopes),
                _ => apply(i, Still, values),
            }
        }
    }
}

/// A function that is no instruction of its own, by the kernel that whole arrays use.
fn call<T: Lane>(row: &'static ScalarRow, i: &Instruction, values: &[Cell<T>], slopes: bool) {
    let n = i.op.arity();
    let written = &values[i.out..i.out + 1 + n];
    let mut args = [Operand::empty(); MOST_READ];
    for (operand, source) in args.iter_mut().zip(&i.args[..n]) {
        assert!(source.at < i.out || source.at > i.out + n);
        // SAFETY: nobody else has the cells, and what is written lies apart from what is read.
        let number = unsafe { &*values[source.at].as_ptr() };
        *operand = Operand { arg: Arg::Var(std::slice::from_ref(number)), index: Index::One };
    }
    // SAFETY: as above; a cell is laid out as what it holds.
    let written = unsafe { std::slice::from_raw_parts_mut(written[0].as_ptr(), 1 + n) };
    let (value, slope) = written.split_at_mut(1);
    match slopes {
        true => T::scalar(row.kernel).both(&args[..n], &i.args.map(|a| a.varies), value, slope),
        false => T::scalar(row.kernel).values(&args[..n], value),
    }
}

/// Computes the value of an instruction.
#[inline(always)]
pub(super) fn apply<U: Real>(i: &Instruction, shift: impl Shift, values: &[Cell<U>]) {
    match i.op {
        Primitive::Add => each(
            i,
            shift,
            values,
            #[inline(always)]
            |[a, b]| a + b,
        ),
        Primitive::Sub => each(
            i,
            shift,
            values,
            #[inline(always)]
            |[a, b]| a - b,
        ),
        Primitive::Mul => each(
            i,
            shift,
            values,
            #[inline(always)]
            |[a, b]| a * b,
        ),
        Primitive::Div => each(
            i,
            shift,
            values,
            #[inline(always)]
            |[a, b]| a / b,
        ),
        Primitive::Neg => each(
            i,
            shift,
            values,
            #[inline(always)]
            |[a]| -a,
        ),
        Primitive::Square => each(
            i,
            shift,
            values,
            #[inline(always)]
            |[a]| a.square(),
        ),
        Primitive::Inv => each(
            i,
            shift,
            values,
            #[inline(always)]
            |[a]| a.recip(),
        ),
        Primitive::Sqrt => each(
            i,
            shift,
            values,
            #[inline(always)]
            |[a]| a.sqrt(),
        ),
        Primitive::Exp => each(
            i,
            shift,
            values,
            #[inline(always)]
            |[a]| a.exp(),
        ),
        Primitive::Log => each(
            i,
            shift,
            values,
            #[inline(always)]
            |[a]| a.ln(),
        ),
        Primitive::MulAdd => each(
            i,
            shift,
            values,
            #[inline(always)]
            |[a, b, c]| a * b + c,
        ),
        Primitive::SquareAdd => each(
            i,
            shift,
            values,
            #[inline(always)]
            |[a, b, c, d]| a * (b - c).square() + d,
        ),
        Primitive::Quadratic => quadratic(i, shift, values),
        // A loop has none of these.
        Primitive::Call(_) => {}
    }
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

/// Element `k` of the arguments. Written so that all of them stay in registers.
///
/// SAFETY: the instruction fits the buffer, and k < n.
#[inline(always)]
unsafe fn read<U: Real, const N: usize>(
    i: &Instruction,
    shift: impl Shift,
    values: &[Cell<U>],
    k: usize,
) -> [U; N] {
    let mut x = [U::zero(); N];
    let mut j = 0;
    while j < N {
        let at = i.args[j].at + shift.arg(j) + k * i.args[j].step;
        x[j] = unsafe { values.get_unchecked(at) }.get();
        j += 1;
    }
    x
}

#[inline(always)]
fn each<U: Real, const N: usize>(
    i: &Instruction,
    shift: impl Shift,
    values: &[Cell<U>],
    f: impl Fn([U; N]) -> U,
) {
    assert!(fits::<N>(i, shift, values.len()));
    let out = i.out + shift.out();
    for k in 0..i.n {
        // SAFETY: just looked at.
        unsafe { values.get_unchecked(out + k).set(f(read(i, shift, values, k))) };
    }
}

#[inline(always)]
fn quadratic<U: Real>(i: &Instruction, shift: impl Shift, values: &[Cell<U>]) {
    assert!(fits::<3>(i, shift, values.len()));
    let mut sum = U::zero();
    for k in 0..i.n {
        // SAFETY: just looked at.
        let [x, mu, w]: [U; 3] = unsafe { read(i, shift, values, k) };
        let d = x - mu;
        sum += d * w * d;
    }
    values[i.out + shift.out()].set(sum.scale(-0.5));
}

struct Back<'a, T> {
    code: &'a [Instruction],
    values: &'a [Cell<T>],
    adjoints: &'a [Cell<T>],
}

impl<T: Real> LaneWork<T> for Back<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Real>(self, view: View<T, U>) {
        let (values, adjoints) = (view.cells(self.values), view.cells(self.adjoints));
        for i in self.code.iter().rev() {
            pull(i, Still, values, adjoints);
        }
    }
}

/// Adds to the adjoints of an instruction's arguments. Each function has the arguments, the value of the result and its
/// adjoint, and gives the slopes.
#[inline(always)]
pub(super) fn pull<U: Real>(i: &Instruction, shift: impl Shift, v: &[Cell<U>], d: &[Cell<U>]) {
    let one = U::one();
    match i.op {
        Primitive::Add => back(
            i,
            shift,
            v,
            d,
            #[inline(always)]
            |_, _, u| [u, u],
        ),
        Primitive::Sub => back(
            i,
            shift,
            v,
            d,
            #[inline(always)]
            |_, _, u| [u, -u],
        ),
        Primitive::Mul => back(
            i,
            shift,
            v,
            d,
            #[inline(always)]
            |[a, b], _, u| [u * b, u * a],
        ),
        Primitive::Div => back(
            i,
            shift,
            v,
            d,
            #[inline(always)]
            |[_, b], y, u| {
                let slope = u * (one / b);
                [slope, -(slope * y)]
            },
        ),
        Primitive::Neg => back(
            i,
            shift,
            v,
            d,
            #[inline(always)]
            |_, _, u| [-u],
        ),
        Primitive::Square => back(
            i,
            shift,
            v,
            d,
            #[inline(always)]
            |[a], _, u| [u * (a + a)],
        ),
        Primitive::Inv => back(
            i,
            shift,
            v,
            d,
            #[inline(always)]
            |[_], y, u| [-(u * y * y)],
        ),
        Primitive::Sqrt => back(
            i,
            shift,
            v,
            d,
            #[inline(always)]
            |[_], y, u| [u.scale(0.5) / y],
        ),
        Primitive::Exp => back(
            i,
            shift,
            v,
            d,
            #[inline(always)]
            |[_], y, u| [u * y],
        ),
        Primitive::Log => back(
            i,
            shift,
            v,
            d,
            #[inline(always)]
            |[a], _, u| [u / a],
        ),
        Primitive::MulAdd => back(
            i,
            shift,
            v,
            d,
            #[inline(always)]
            |[a, b, _], _, u| [u * b, u * a, u],
        ),
        Primitive::SquareAdd => back(
            i,
            shift,
            v,
            d,
            #[inline(always)]
            |[a, b, c, _], _, u| {
                let difference = b - c;
                let slope = u * a * (difference + difference);
                [u * difference.square(), slope, -slope, u]
            },
        ),
        // The result and its adjoint are one number for all elements.
        Primitive::Quadratic => back(
            i,
            shift,
            v,
            d,
            #[inline(always)]
            |[a, b, c], _, u| {
                let difference = a - b;
                let slope = u * (difference * c);
                [-slope, slope, u * difference.square().scale(-0.5)]
            },
        ),
        Primitive::Call(_) => {
            let (out, up) = (i.out + shift.out(), d[i.out + shift.out()].get());
            for (k, arg) in i.args[..i.op.arity()].iter().enumerate().filter(|(_, arg)| arg.varies) {
                let cell = &d[arg.at + shift.arg(k)];
                cell.set(cell.get() + up * v[out + 1 + k].get());
            }
        }
    }
}

#[inline(always)]
fn back<U: Real, const N: usize>(
    i: &Instruction,
    shift: impl Shift,
    values: &[Cell<U>],
    adjoints: &[Cell<U>],
    f: impl Fn([U; N], U, U) -> [U; N],
) {
    assert!(fits::<N>(i, shift, values.len()));
    let mut sums = [U::zero(); N];
    let first = i.out + shift.out();
    for k in 0..i.n {
        let out = if i.op == Primitive::Quadratic { first } else { first + k };
        // SAFETY: just looked at.
        let (x, y) = unsafe { (read(i, shift, values, k), values.get_unchecked(out).get()) };
        let slopes = f(x, y, adjoints[out].get());
        let mut j = 0;
        while j < N {
            let arg = &i.args[j];
            if arg.varies && arg.step == 0 {
                sums[j] += slopes[j];
            } else if arg.varies {
                let cell = &adjoints[arg.at + shift.arg(j) + k];
                cell.set(cell.get() + slopes[j]);
            }
            j += 1;
        }
    }
    let mut j = 0;
    while j < N {
        let arg = &i.args[j];
        if arg.varies && arg.step == 0 {
            let cell = &adjoints[arg.at + shift.arg(j)];
            cell.set(cell.get() + sums[j]);
        }
        j += 1;
    }
}
