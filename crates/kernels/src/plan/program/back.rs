//! The adjoints of instructions' arguments.

use super::squares::{Buffers, affine, quadratic, squares};
use super::{
    ANY, Instruction, Primitive, Shift, Still, fits, is_each, is_fresh, is_varying, mul_add_slopes, read,
    read_first, square_add_slopes,
};
use crate::num::dispatch::{LaneWork, View};
use crate::num::real::Packed;
use std::cell::Cell;

/// Goes through all instructions from the last to the first.
pub(in crate::plan) struct Back<'a, T> {
    pub(in crate::plan) code: &'a [Instruction],
    pub(in crate::plan) values: &'a [Cell<T>],
    pub(in crate::plan) adjoints: &'a [Cell<T>],
}

impl<T: Packed> LaneWork<T> for Back<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let (values, adjoints) = (view.cells(self.values), view.cells(self.adjoints));
        for i in self.code.iter().rev().filter(|i| !i.term) {
            pull(i, Still, values, adjoints, adjoints[i.out].get());
        }
    }
}

/// Adds to the adjoints of an instruction's arguments, where that of its first result is `up`. Each function
/// has the arguments, the value of the result and its adjoint, and gives the slopes.
#[inline(always)]
pub(in crate::plan) fn pull<U: Packed>(
    i: &Instruction,
    shift: impl Shift,
    v: &[Cell<U>],
    d: &[Cell<U>],
    up: U,
) {
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
            |x, _, u| mul_add_slopes(x, u),
        ),
        Primitive::SquareAdd => back(
            i,
            shift,
            v,
            d,
            #[inline(always)]
            |x, _, u| square_add_slopes(x, u),
        ),
        Primitive::Squares => {
            squares::<U, _, true>(i, shift, Buffers { values: v, adjoints: d }, up);
        }
        Primitive::Quadratic => {
            quadratic::<U, true>(i, shift, Buffers { values: v, adjoints: d }, up);
        }
        Primitive::Affine => {
            affine::<U, _, true>(i, shift, Buffers { values: v, adjoints: d }, up);
        }
        Primitive::Call(_) => {
            let out = i.out + shift.out();
            for (k, arg) in i.args[..i.op.arity()].iter().enumerate().filter(|(_, arg)| arg.varies) {
                add(&d[arg.at + shift.arg(k)], Slope::Plain(up * v[out + 1 + k].get()), arg.fresh);
            }
        }
    }
}

#[inline(always)]
fn back<U: Packed, const N: usize>(
    i: &Instruction,
    shift: impl Shift,
    values: &[Cell<U>],
    adjoints: &[Cell<U>],
    f: impl Fn([U; N], U, U) -> [U; N],
) {
    assert!(fits::<N, _>(i, shift, values.len()));
    // SAFETY: `fits` has seen that the buffer holds all that the instruction reads.
    let (mut sums, mut x) = ([U::zero(); N], unsafe { read_first(i, shift, values) });
    let first = i.out + shift.out();
    for k in 0..i.n {
        let out = first + k;
        // SAFETY: k < n, and `fits` has seen that the buffer holds what each element reads and writes.
        let y = unsafe {
            read::<U, N, ANY>(i, shift, values, k, &mut x);
            values.get_unchecked(out).get()
        };
        let slopes = f(x, y, adjoints[out].get());
        let mut j = 0;
        while j < N {
            hand_on::<U, N, ANY>(i, shift, j, k, slopes[j], &mut sums, adjoints);
            j += 1;
        }
    }
    settle(i, shift, &sums, adjoints);
}

/// A slope as it is added: one instruction for a product too, where registers have it.
#[derive(Clone, Copy)]
pub(super) enum Slope<U> {
    Plain(U),
    Minus(U),
    Product(U, U),
}

impl<U: Packed> Slope<U> {
    #[inline(always)]
    fn added_to(self, before: U) -> U {
        match self {
            Slope::Plain(slope) => before + slope,
            Slope::Minus(slope) => before - slope,
            Slope::Product(a, b) => a.mul_add(b, before),
        }
    }
}

/// Adds to an adjoint; to zero, whatever stands there, if it is fresh.
#[inline(always)]
fn add<U: Packed>(cell: &Cell<U>, slope: Slope<U>, fresh: bool) {
    let before = if fresh { U::zero() } else { cell.get() };
    cell.set(slope.added_to(before));
}

/// Adds a slope to the adjoint of element `k` of an argument, or to the sum for an argument that is one
/// number.
#[inline(always)]
pub(in crate::plan) fn hand_on<U: Packed, const N: usize, const SHAPE: u16>(
    i: &Instruction,
    shift: impl Shift,
    j: usize,
    k: usize,
    slope: U,
    sums: &mut [U; N],
    adjoints: &[Cell<U>],
) {
    hand_on_slope::<U, N, SHAPE>(i, shift, (j, k), Slope::Plain(slope), sums, adjoints);
}

/// The same for element `k` of argument `j`.
#[inline(always)]
pub(super) fn hand_on_slope<U: Packed, const N: usize, const SHAPE: u16>(
    i: &Instruction,
    shift: impl Shift,
    (j, k): (usize, usize),
    slope: Slope<U>,
    sums: &mut [U; N],
    adjoints: &[Cell<U>],
) {
    if !is_varying::<SHAPE>(i, j) {
        return;
    }
    if is_each::<SHAPE>(i, j) {
        let cell = &adjoints[i.args[j].at + shift.arg(j) + k];
        add(cell, slope, is_fresh::<SHAPE>(i, j));
    } else {
        sums[j] = slope.added_to(sums[j]);
    }
}

/// Adds the sums to the adjoints of arguments that are one number.
#[inline(always)]
pub(in crate::plan) fn settle<U: Packed, const N: usize>(
    i: &Instruction,
    shift: impl Shift,
    sums: &[U; N],
    adjoints: &[Cell<U>],
) {
    let mut j = 0;
    while j < N {
        let arg = &i.args[j];
        if arg.varies && arg.step == 0 {
            add(&adjoints[arg.at + shift.arg(j)], Slope::Plain(sums[j]), arg.fresh);
        }
        j += 1;
    }
}
