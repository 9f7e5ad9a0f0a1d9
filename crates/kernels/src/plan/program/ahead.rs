//! The values of instructions.

use super::squares::{Buffers, affine, quadratic, squares};
use super::{
    ANY, Instruction, MOST_READ, Primitive, Shift, Still, fits, mul_add, pull, read, read_first, square_add,
};
use crate::num::dispatch::{LaneWork, View};
use crate::num::real::Packed;
use crate::ops::operand::{Arg, Index, Lane, Operand};
use crate::ops::scalar::ScalarRow;
use std::cell::Cell;

/// Runs all instructions in order.
pub(in crate::plan) struct Run<'a, T> {
    pub(in crate::plan) code: &'a [Instruction],
    pub(in crate::plan) values: &'a [Cell<T>],
    pub(in crate::plan) adjoints: &'a [Cell<T>],
    /// Whether what the reverse sweep needs is computed too.
    pub(in crate::plan) slopes: bool,
}

impl<T: Lane> LaneWork<T> for Run<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let (values, adjoints) = (view.cells(self.values), view.cells(self.adjoints));
        for i in self.code {
            if let Primitive::Call(row) = i.op {
                call(row, i, self.values, self.slopes);
                if i.term && self.slopes {
                    pull(i, Still, values, adjoints, U::one());
                }
            } else if i.term && self.slopes {
                let (buffers, one) = (Buffers { values, adjoints }, U::one());
                let sum = match i.op {
                    Primitive::Squares => squares::<U, _, true>(i, Still, buffers, one),
                    Primitive::Affine => affine::<U, _, true>(i, Still, buffers, one),
                    _ => quadratic::<U, true>(i, Still, buffers, one),
                };
                values[i.out].set(sum);
            } else {
                apply(i, Still, values);
            }
        }
    }
}

/// A function that is no instruction of its own, by the kernel that whole arrays use.
#[inline(always)]
fn call<T: Lane>(row: &'static ScalarRow, i: &Instruction, values: &[Cell<T>], slopes: bool) {
    match row.args.len() {
        1 => call_on::<T, 1>(row, i, values, slopes),
        2 => call_on::<T, 2>(row, i, values, slopes),
        3 => call_on::<T, 3>(row, i, values, slopes),
        4 => call_on::<T, 4>(row, i, values, slopes),
        _ => call_on::<T, MOST_READ>(row, i, values, slopes),
    }
}

/// The same for a function of `N` numbers: putting more arguments together than there are would cost as much
/// as the call.
fn call_on<T: Lane, const N: usize>(
    row: &'static ScalarRow,
    i: &Instruction,
    values: &[Cell<T>],
    slopes: bool,
) {
    let written = &values[i.out..i.out + 1 + N];
    let kernel = T::scalar(row.kernel);
    if slopes {
        let (mut at, mut need) = ([0; N], 0);
        for k in 0..N {
            at[k] = i.args[k].at;
            need |= u32::from(i.args[k].varies) << k;
        }
        if kernel.one(values, &at, need, i.out) {
            return;
        }
    }
    let mut args = [Operand::empty(); N];
    for (operand, source) in args.iter_mut().zip(&i.args) {
        assert!(source.at < i.out || source.at > i.out + N);
        // SAFETY: nobody else has the cells, and what is written lies apart from what is read.
        let number = unsafe { &*values[source.at].as_ptr() };
        *operand = Operand { arg: Arg::Var(std::slice::from_ref(number)), index: Index::One };
    }
    // SAFETY: nobody else has the cells, and no argument lies among these, as was looked at for each; a cell
    // is laid out as what it holds.
    let written = unsafe { std::slice::from_raw_parts_mut(written.as_ptr().cast_mut().cast(), 1 + N) };
    let (value, slope) = written.split_at_mut(1);
    match slopes {
        true => kernel.both(&args, &i.args.map(|a| a.varies), value, slope),
        false => kernel.values(&args, value),
    }
}

/// Computes the value of an instruction.
#[inline(always)]
pub(in crate::plan) fn apply<U: Packed>(i: &Instruction, shift: impl Shift, values: &[Cell<U>]) {
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
            |x| mul_add(x),
        ),
        Primitive::SquareAdd => each(
            i,
            shift,
            values,
            #[inline(always)]
            |x| square_add(x),
        ),
        Primitive::Squares => values[i.out + shift.out()].set(squares::<U, _, false>(
            i,
            shift,
            Buffers { values, adjoints: &[] },
            U::one(),
        )),
        Primitive::Quadratic => values[i.out + shift.out()].set(quadratic::<U, false>(
            i,
            shift,
            Buffers { values, adjoints: &[] },
            U::one(),
        )),
        Primitive::Affine => values[i.out + shift.out()].set(affine::<U, _, false>(
            i,
            shift,
            Buffers { values, adjoints: &[] },
            U::one(),
        )),
        // A loop has none of these.
        Primitive::Call(_) => {}
    }
}

#[inline(always)]
fn each<U: Packed, const N: usize>(
    i: &Instruction,
    shift: impl Shift,
    values: &[Cell<U>],
    f: impl Fn([U; N]) -> U,
) {
    assert!(fits::<N, _>(i, shift, values.len()));
    // SAFETY: `fits` has seen that the buffer holds all that the instruction reads.
    let (out, mut x) = (i.out + shift.out(), unsafe { read_first(i, shift, values) });
    for k in 0..i.n {
        // SAFETY: k < n, and `fits` has seen that the buffer holds what each element reads and writes.
        unsafe {
            read::<U, N, ANY>(i, shift, values, k, &mut x);
            values.get_unchecked(out + k).set(f(x));
        }
    }
}
