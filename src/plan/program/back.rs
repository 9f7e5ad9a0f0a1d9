//! The adjoints of instructions' arguments.

use super::{Instruction, Primitive, Shift, Still, fits, read};
use crate::num::dispatch::{LaneWork, View};
use crate::num::real::Real;
use std::cell::Cell;

/// Goes through all instructions from the last to the first.
pub(super) struct Back<'a, T> {
    pub(super) code: &'a [Instruction],
    pub(super) values: &'a [Cell<T>],
    pub(super) adjoints: &'a [Cell<T>],
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
pub(in crate::plan) fn pull<U: Real>(i: &Instruction, shift: impl Shift, v: &[Cell<U>], d: &[Cell<U>]) {
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
        Primitive::Quadratic => pull_quadratic(i, shift, v, d),
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
    let (mut sums, mut x) = ([U::zero(); N], [U::zero(); N]);
    let first = i.out + shift.out();
    for k in 0..i.n {
        let out = first + k;
        // SAFETY: just looked at.
        let y = unsafe {
            read(i, shift, values, k, &mut x);
            values.get_unchecked(out).get()
        };
        let slopes = f(x, y, adjoints[out].get());
        let mut j = 0;
        while j < N {
            hand_on(i, shift, j, k, slopes[j], &mut sums, adjoints);
            j += 1;
        }
    }
    settle(i, shift, &sums, adjoints);
}

/// Adds to the adjoints of a sum of squares, whose own adjoint is one number for all elements.
#[inline(always)]
fn pull_quadratic<U: Real>(i: &Instruction, shift: impl Shift, values: &[Cell<U>], adjoints: &[Cell<U>]) {
    assert!(fits::<3>(i, shift, values.len()));
    let up = adjoints[i.out + shift.out()].get();
    let (mut sums, mut args) = ([U::zero(); 3], [U::zero(); 3]);
    for k in 0..i.n {
        // SAFETY: just looked at.
        unsafe { read(i, shift, values, k, &mut args) };
        let [x, mu, w] = args;
        let difference = x - mu;
        let slope = up * (difference * w);
        hand_on(i, shift, 0, k, -slope, &mut sums, adjoints);
        hand_on(i, shift, 1, k, slope, &mut sums, adjoints);
        if i.args[2].varies {
            hand_on(i, shift, 2, k, up * difference.square().scale(-0.5), &mut sums, adjoints);
        }
    }
    settle(i, shift, &sums, adjoints);
}

/// Adds a slope to the adjoint of element `k` of an argument, or to the sum for an argument that is one number.
#[inline(always)]
fn hand_on<U: Real, const N: usize>(
    i: &Instruction,
    shift: impl Shift,
    j: usize,
    k: usize,
    slope: U,
    sums: &mut [U; N],
    adjoints: &[Cell<U>],
) {
    let arg = &i.args[j];
    if arg.varies && arg.step == 0 {
        sums[j] += slope;
    } else if arg.varies {
        let cell = &adjoints[arg.at + shift.arg(j) + k];
        cell.set(cell.get() + slope);
    }
}

/// Adds the sums to the adjoints of arguments that are one number.
#[inline(always)]
fn settle<U: Real, const N: usize>(i: &Instruction, shift: impl Shift, sums: &[U; N], adjoints: &[Cell<U>]) {
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
