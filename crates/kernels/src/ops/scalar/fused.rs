//! The loop around a function whose values have logarithms of factors in them, with everything in registers:
//! the likelihoods of linear predictors, which most of the time of a regression goes into.
//!
//! As a program such a row takes a quarter to a half longer (docs/internals/performance.md): what it computes
//! on the way would pass through the first-level cache.

use super::kernel::Sink;
use super::row::ScalarFn;
use crate::num::dispatch::{LaneWork, View, best_parts};
use crate::num::real::{F16, Packed, Part, Zero};
use crate::ops::operand::{Arg, Index, Operand};
use std::cell::Cell;
use std::marker::PhantomData;

/// So many times the sum of the values of `n` elements; slopes go where `sinks` says.
pub(super) fn summed<F: ScalarFn<N>, const N: usize>(
    args: &[Operand<F16>],
    sinks: &[Sink<F16>],
    n: usize,
    times: f64,
) -> F16 {
    let mut sum = F16::zero();
    best_parts(Summed::<F, N> { args, sinks, n, times, sum: &mut sum, code: PhantomData });
    sum
}

struct Summed<'a, F, const N: usize> {
    args: &'a [Operand<'a, F16>],
    sinks: &'a [Sink<'a, F16>],
    n: usize,
    times: f64,
    sum: &'a mut F16,
    code: PhantomData<F>,
}

impl<P: Part, F: ScalarFn<N>, const N: usize> LaneWork<P> for Summed<'_, F, N> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<P, U>) {
        let mut args = [Operand::empty(); N];
        args.copy_from_slice(&self.args[..N]);
        let plain = args.iter().all(|a: &Operand<F16>| !matches!(a.index, Index::Table(_)));
        // What is asked of each row takes units that arithmetic could use: tables have a loop of their own.
        if plain { self.over::<P, U, false>(&args, view) } else { self.over::<P, U, true>(&args, view) }
    }
}

impl<F: ScalarFn<N>, const N: usize> Summed<'_, F, N> {
    /// The loop over the elements; values, factors and slopes that are added up stay in registers.
    #[inline(always)]
    fn over<P: Part, U: Packed, const TABLES: bool>(self, args: &[Operand<F16>; N], view: View<P, U>) {
        let (mut step, mut need, mut added) = ([0; N], [false; N], [false; N]);
        let mut each: [&[Cell<U>]; N] = [&[]; N];
        for k in 0..N {
            step[k] = usize::from(matches!(args[k].index, Index::Each));
            need[k] = !matches!(self.sinks[k], Sink::None);
            added[k] = matches!(self.sinks[k], Sink::Sum(_));
            if let Sink::Each(cells) = self.sinks[k] {
                each[k] = &view.cells(P::cells(cells))[..P::PARTS * self.n];
            }
        }
        let (mut values, mut product, mut sums) = ([U::zero(); 2], [U::one(); 2], [[U::zero(); 2]; N]);
        for i in 0..self.n {
            for part in 0..P::PARTS {
                let mut x = [U::zero(); N];
                for k in 0..N {
                    let at = if TABLES { args[k].index.at(i) } else { step[k] * i };
                    x[k] = match args[k].arg {
                        Arg::Const(c) => U::splat(c[at]),
                        Arg::Var(v) => view.slice(P::parts(v))[P::PARTS * at + part],
                    };
                }
                let (y, factor, d) = F::factored(x, &need);
                values[part] += y;
                product[part] = product[part] * factor;
                for k in 0..N {
                    if added[k] {
                        sums[k][part] += d[k];
                    } else if need[k] {
                        each[k][P::PARTS * i + part].set(d[k]);
                    }
                }
            }
        }
        let often = self.times * const { if let Some(times) = F::FACTORED { times } else { 0.0 } };
        let out = view.slice_mut(P::parts_mut(std::slice::from_mut(self.sum)));
        for part in 0..P::PARTS {
            out[part] = values[part].scale(self.times) - product[part].ln().scale(often);
            for k in 0..N {
                if let Sink::Sum(cell) = self.sinks[k] {
                    let cell = &view.cells(P::cells(std::slice::from_ref(cell)))[part];
                    cell.set(cell.get() + sums[k][part].scale(self.times));
                }
            }
        }
    }
}
