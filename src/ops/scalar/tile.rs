//! The loops that run an elementwise function over arrays: plain, summed, and backwards.

use super::ScalarFn;
use crate::num::dispatch::{Work, best};
use crate::num::real::{Dual, F8, Real};
use crate::ops::operand::{Adjoint, Broadcast, Operand, accumulate};
use std::marker::PhantomData;

/// The loops of one elementwise function for one scalar type.
pub trait Elementwise<T>: Send + Sync {
    /// `out[i] = f(args at i)`.
    fn map(&self, args: &[Operand<T>], out: &mut [T]);

    /// Adds `adjoint_out[i] · ∂f/∂arg` to each argument's adjoint.
    fn pull(&self, args: &[Operand<T>], out: &[T], adjoint_out: &[T], adjoints: &[Adjoint<T>]);

    /// `Σ_i w_i f(args at i)` over `count` elements, and the derivative of that sum in each argument, element by element
    /// of the argument, in `slopes` (laid out one argument after another, variables only).
    fn sum(&self, args: &[Operand<T>], weights: Option<&[f64]>, count: usize, slopes: &mut [T]) -> T;

    /// The sum alone.
    fn sum_value(&self, args: &[Operand<T>], weights: Option<&[f64]>, count: usize) -> T;
}

/// An elementwise function for every scalar type.
pub trait ScalarKernel: Elementwise<f64> + Elementwise<F8> + Elementwise<Dual> {}

/// The loops around the code `F` of a function of `N` numbers.
pub struct Tile<F, const N: usize>(PhantomData<F>);

impl<F, const N: usize> Tile<F, N> {
    /// The only value.
    pub const NEW: Self = Self(PhantomData);
}

impl<F: ScalarFn<N>, const N: usize> ScalarKernel for Tile<F, N> {}

impl<F: ScalarFn<N>, const N: usize, T: Real> Elementwise<T> for Tile<F, N> {
    fn map(&self, args: &[Operand<T>], out: &mut [T]) {
        best(Map::<F, T, N> { args: fixed(args), out, code: PhantomData });
    }

    fn pull(&self, args: &[Operand<T>], out: &[T], adjoint_out: &[T], adjoints: &[Adjoint<T>]) {
        let adjoints = std::array::from_fn(|k| adjoints[k]);
        best(Pull::<F, T, N> { args: fixed(args), out, adjoint_out, adjoints, code: PhantomData });
    }

    fn sum(&self, args: &[Operand<T>], weights: Option<&[f64]>, count: usize, slopes: &mut [T]) -> T {
        let args = fixed::<T, N>(args);
        let need: [bool; N] = std::array::from_fn(|k| args[k].arg.is_var());
        slopes.fill(T::zero());
        let into = split(slopes, &args, &need);
        best(SumSlopes::<F, T, N> { args, weights, count, need, into, code: PhantomData })
    }

    fn sum_value(&self, args: &[Operand<T>], weights: Option<&[f64]>, count: usize) -> T {
        best(SumValue::<F, T, N> { args: fixed(args), weights, count, code: PhantomData })
    }
}

struct Map<'a, F, T, const N: usize> {
    args: [Operand<'a, T>; N],
    out: &'a mut [T],
    code: PhantomData<F>,
}

impl<F: ScalarFn<N>, T: Real, const N: usize> Work for Map<'_, F, T, N> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        for (i, o) in self.out.iter_mut().enumerate() {
            *o = F::value(at(&self.args, i));
        }
    }
}

struct Pull<'a, F, T, const N: usize> {
    args: [Operand<'a, T>; N],
    out: &'a [T],
    adjoint_out: &'a [T],
    adjoints: [Adjoint<'a, T>; N],
    code: PhantomData<F>,
}

impl<F: ScalarFn<N>, T: Real, const N: usize> Work for Pull<'_, F, T, N> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let need: [bool; N] = std::array::from_fn(|k| self.adjoints[k].is_some());
        for (i, (&y, &up)) in self.out.iter().zip(self.adjoint_out).enumerate() {
            let slopes = F::slopes(at(&self.args, i), y, &need);
            for k in 0..N {
                if let Some(adjoint) = self.adjoints[k] {
                    accumulate(adjoint, self.args[k].index.at(i), up * slopes[k]);
                }
            }
        }
    }
}

struct SumSlopes<'a, F, T, const N: usize> {
    args: [Operand<'a, T>; N],
    weights: Option<&'a [f64]>,
    count: usize,
    need: [bool; N],
    into: [&'a mut [T]; N],
    code: PhantomData<F>,
}

impl<F: ScalarFn<N>, T: Real, const N: usize> Work for SumSlopes<'_, F, T, N> {
    type Out = T;

    #[inline(always)]
    fn run(self) -> T {
        let mut total = T::zero();
        let mut once = [T::zero(); N];
        for i in 0..self.count {
            let (mut y, mut slopes) = F::both(at(&self.args, i), &self.need);
            if let Some(w) = self.weights {
                let w = T::splat(w[i]);
                y = y * w;
                slopes = slopes.map(|x| x * w);
            }
            total += y;
            for k in 0..N {
                if self.need[k] {
                    match self.args[k].index {
                        Broadcast::One => once[k] += slopes[k],
                        index => self.into[k][index.at(i)] += slopes[k],
                    }
                }
            }
        }
        for k in 0..N {
            if self.need[k] && *self.args[k].index == Broadcast::One {
                self.into[k][0] = once[k];
            }
        }
        total
    }
}

struct SumValue<'a, F, T, const N: usize> {
    args: [Operand<'a, T>; N],
    weights: Option<&'a [f64]>,
    count: usize,
    code: PhantomData<F>,
}

impl<F: ScalarFn<N>, T: Real, const N: usize> Work for SumValue<'_, F, T, N> {
    type Out = T;

    #[inline(always)]
    fn run(self) -> T {
        let mut total = T::zero();
        for i in 0..self.count {
            let y = F::value(at(&self.args, i));
            total += self.weights.map_or(y, |w| y.scale(w[i]));
        }
        total
    }
}

/// The numbers that meet element `i`.
#[inline(always)]
fn at<T: Real, const N: usize>(args: &[Operand<T>; N], i: usize) -> [T; N] {
    std::array::from_fn(|k| args[k].at(i))
}

/// The argument list as an array; the plan gives each function as many as it takes.
#[inline(always)]
fn fixed<'a, T: Real, const N: usize>(args: &[Operand<'a, T>]) -> [Operand<'a, T>; N] {
    std::array::from_fn(|k| args[k])
}

/// The part of `slopes` that belongs to each variable argument; empty for constants.
fn split<'s, T: Real, const N: usize>(
    mut slopes: &'s mut [T],
    args: &[Operand<T>; N],
    need: &[bool; N],
) -> [&'s mut [T]; N] {
    std::array::from_fn(|k| {
        let n = if need[k] { args[k].arg.len() } else { 0 };
        let (head, tail) = std::mem::take(&mut slopes).split_at_mut(n);
        slopes = tail;
        head
    })
}
