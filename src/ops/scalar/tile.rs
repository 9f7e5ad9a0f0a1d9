//! The loops that run an elementwise function over arrays: plain, summed, and backwards.

use super::ScalarFn;
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
        let args = fixed::<T, N>(args);
        crate::num::dispatch::best(|| {
            for (i, o) in out.iter_mut().enumerate() {
                *o = F::value(std::array::from_fn(|k| args[k].at(i)));
            }
        });
    }

    fn pull(&self, args: &[Operand<T>], out: &[T], adjoint_out: &[T], adjoints: &[Adjoint<T>]) {
        let args = fixed::<T, N>(args);
        let need: [bool; N] = std::array::from_fn(|k| adjoints[k].is_some());
        crate::num::dispatch::best(|| {
            for i in 0..out.len() {
                let slopes = F::slopes(std::array::from_fn(|k| args[k].at(i)), out[i], &need);
                for k in 0..N {
                    if let Some(adjoint) = adjoints[k] {
                        accumulate(adjoint, args[k].index.at(i), adjoint_out[i] * slopes[k]);
                    }
                }
            }
        });
    }

    fn sum(&self, args: &[Operand<T>], weights: Option<&[f64]>, count: usize, slopes: &mut [T]) -> T {
        let args = fixed::<T, N>(args);
        let need: [bool; N] = std::array::from_fn(|k| args[k].arg.is_var());
        slopes.fill(T::zero());
        let mut into = split(slopes, &args, &need);
        crate::num::dispatch::best(|| {
            let mut total = T::zero();
            let mut once = [T::zero(); N];
            for i in 0..count {
                let (mut y, mut d) = F::both(std::array::from_fn(|k| args[k].at(i)), &need);
                if let Some(w) = weights {
                    let w = T::splat(w[i]);
                    y = y * w;
                    d = d.map(|x| x * w);
                }
                total += y;
                for k in 0..N {
                    if need[k] {
                        match args[k].index {
                            Broadcast::One => once[k] += d[k],
                            index => into[k][index.at(i)] += d[k],
                        }
                    }
                }
            }
            for k in 0..N {
                if need[k] && *args[k].index == Broadcast::One {
                    into[k][0] = once[k];
                }
            }
            total
        })
    }

    fn sum_value(&self, args: &[Operand<T>], weights: Option<&[f64]>, count: usize) -> T {
        let args = fixed::<T, N>(args);
        crate::num::dispatch::best(|| {
            let mut total = T::zero();
            for i in 0..count {
                let y = F::value(std::array::from_fn(|k| args[k].at(i)));
                total += weights.map_or(y, |w| y.scale(w[i]));
            }
            total
        })
    }
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
