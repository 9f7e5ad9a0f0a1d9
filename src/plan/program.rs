//! Runs of small arithmetic steps as one list of instructions, so that a step costs its arithmetic and little more.

use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::real::Real;
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
    /// Σ -c (a - b)² / 2, one number
    Quadratic,
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

/// `out[i] = op(args at i)` for `n` elements, or one sum over them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub(super) op: Primitive,
    pub(super) n: usize,
    pub(super) out: usize,
    pub(super) args: [Source; 3],
}

/// Computes the values of all instructions in order.
pub(super) fn forward<T: Real>(code: &[Instruction], values: &mut [T]) {
    best_lanes(Run { code, values: Cell::from_mut(values).as_slice_of_cells() });
}

/// Adds to the adjoints of the arguments, from the last instruction to the first.
pub(super) fn reverse<T: Real>(code: &[Instruction], values: &[T], adjoints: &mut [T]) {
    best_lanes(Back { code, values, adjoints: Cell::from_mut(adjoints).as_slice_of_cells() });
}

struct Run<'a, T> {
    code: &'a [Instruction],
    values: &'a [Cell<T>],
}

impl<T: Real> LaneWork<T> for Run<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Real>(self, view: View<T, U>) {
        let values = view.cells(self.values);
        for i in self.code {
            match i.op {
                Primitive::Add => each(
                    i,
                    values,
                    #[inline(always)]
                    |[a, b, _]| a + b,
                    2,
                ),
                Primitive::Sub => each(
                    i,
                    values,
                    #[inline(always)]
                    |[a, b, _]| a - b,
                    2,
                ),
                Primitive::Mul => each(
                    i,
                    values,
                    #[inline(always)]
                    |[a, b, _]| a * b,
                    2,
                ),
                Primitive::Div => each(
                    i,
                    values,
                    #[inline(always)]
                    |[a, b, _]| a / b,
                    2,
                ),
                Primitive::Neg => each(
                    i,
                    values,
                    #[inline(always)]
                    |[a, _, _]| -a,
                    1,
                ),
                Primitive::Square => each(
                    i,
                    values,
                    #[inline(always)]
                    |[a, _, _]| a.square(),
                    1,
                ),
                Primitive::Inv => each(
                    i,
                    values,
                    #[inline(always)]
                    |[a, _, _]| a.recip(),
                    1,
                ),
                Primitive::Sqrt => each(
                    i,
                    values,
                    #[inline(always)]
                    |[a, _, _]| a.sqrt(),
                    1,
                ),
                Primitive::Exp => each(
                    i,
                    values,
                    #[inline(always)]
                    |[a, _, _]| a.exp(),
                    1,
                ),
                Primitive::Log => each(
                    i,
                    values,
                    #[inline(always)]
                    |[a, _, _]| a.ln(),
                    1,
                ),
                Primitive::MulAdd => each(
                    i,
                    values,
                    #[inline(always)]
                    |[a, b, c]| a * b + c,
                    3,
                ),
                Primitive::Quadratic => quadratic(i, values),
            }
        }
    }
}

#[inline(always)]
fn each<U: Real>(i: &Instruction, values: &[Cell<U>], f: impl Fn([U; 3]) -> U, count: usize) {
    for k in 0..i.n {
        let mut x = [U::zero(); 3];
        for (x, arg) in x.iter_mut().zip(&i.args).take(count) {
            *x = values[arg.at + k * arg.step].get();
        }
        values[i.out + k].set(f(x));
    }
}

#[inline(always)]
fn quadratic<U: Real>(i: &Instruction, values: &[Cell<U>]) {
    let [x, mu, w] = i.args;
    let mut sum = U::zero();
    for k in 0..i.n {
        let d = values[x.at + k * x.step].get() - values[mu.at + k * mu.step].get();
        sum += d * values[w.at + k * w.step].get() * d;
    }
    values[i.out].set(sum.scale(-0.5));
}

struct Back<'a, T> {
    code: &'a [Instruction],
    values: &'a [T],
    adjoints: &'a [Cell<T>],
}

impl<T: Real> LaneWork<T> for Back<'_, T> {
    type Out = ();

    /// Each function has the arguments and the value of the result, and gives the slopes.
    #[inline(always)]
    fn run<U: Real>(self, view: View<T, U>) {
        let (v, d) = (view.slice(self.values), view.cells(self.adjoints));
        let (one, zero) = (U::one(), U::zero());
        for i in self.code.iter().rev() {
            match i.op {
                Primitive::Add => back(
                    i,
                    v,
                    d,
                    #[inline(always)]
                    |_, _, u| [u, u, zero],
                    2,
                ),
                Primitive::Sub => back(
                    i,
                    v,
                    d,
                    #[inline(always)]
                    |_, _, u| [u, -u, zero],
                    2,
                ),
                Primitive::Mul => back(
                    i,
                    v,
                    d,
                    #[inline(always)]
                    |[a, b, _], _, u| [u * b, u * a, zero],
                    2,
                ),
                Primitive::Div => back(
                    i,
                    v,
                    d,
                    #[inline(always)]
                    |[_, b, _], y, u| {
                        let slope = u * (one / b);
                        [slope, -(slope * y), zero]
                    },
                    2,
                ),
                Primitive::Neg => back(
                    i,
                    v,
                    d,
                    #[inline(always)]
                    |_, _, u| [-u, zero, zero],
                    1,
                ),
                Primitive::Square => {
                    back(
                        i,
                        v,
                        d,
                        #[inline(always)]
                        |[a, _, _], _, u| [u * (a + a), zero, zero],
                        1,
                    );
                }
                Primitive::Inv => back(
                    i,
                    v,
                    d,
                    #[inline(always)]
                    |_, y, u| [-(u * y * y), zero, zero],
                    1,
                ),
                Primitive::Sqrt => {
                    back(
                        i,
                        v,
                        d,
                        #[inline(always)]
                        |_, y, u| [u.scale(0.5) / y, zero, zero],
                        1,
                    );
                }
                Primitive::Exp => back(
                    i,
                    v,
                    d,
                    #[inline(always)]
                    |_, y, u| [u * y, zero, zero],
                    1,
                ),
                Primitive::Log => back(
                    i,
                    v,
                    d,
                    #[inline(always)]
                    |[a, _, _], _, u| [u / a, zero, zero],
                    1,
                ),
                Primitive::MulAdd => {
                    back(
                        i,
                        v,
                        d,
                        #[inline(always)]
                        |[a, b, _], _, u| [u * b, u * a, u],
                        3,
                    );
                }
                // The result and its adjoint are one number for all elements.
                Primitive::Quadratic => back(
                    i,
                    v,
                    d,
                    #[inline(always)]
                    |[a, b, c], _, u| {
                        let difference = a - b;
                        let slope = u * (difference * c);
                        [-slope, slope, u * difference.square().scale(-0.5)]
                    },
                    3,
                ),
            }
        }
    }
}

#[inline(always)]
fn back<U: Real>(
    i: &Instruction,
    values: &[U],
    adjoints: &[Cell<U>],
    f: impl Fn([U; 3], U, U) -> [U; 3],
    count: usize,
) {
    let mut sums = [U::zero(); 3];
    for k in 0..i.n {
        let mut x = [U::zero(); 3];
        for (x, arg) in x.iter_mut().zip(&i.args).take(count) {
            *x = values[arg.at + k * arg.step];
        }
        let out = if i.op == Primitive::Quadratic { i.out } else { i.out + k };
        let slopes = f(x, values[out], adjoints[out].get());
        for ((arg, s), sum) in i.args.iter().zip(slopes).zip(&mut sums).take(count) {
            if !arg.varies {
                continue;
            }
            if arg.step == 0 {
                *sum += s;
            } else {
                let cell = &adjoints[arg.at + k];
                cell.set(cell.get() + s);
            }
        }
    }
    for (arg, sum) in i.args.iter().zip(sums).take(count) {
        if arg.varies && arg.step == 0 {
            let cell = &adjoints[arg.at];
            cell.set(cell.get() + sum);
        }
    }
}
