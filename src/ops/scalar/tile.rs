//! Runs an elementwise function over arrays: plain, summed, and backwards.
//!
//! Only the two innermost loops know the function, so that a row costs little code: values of a tile of elements, and
//! values with slopes of a tile. What is done with them — broadcasting sums, weights, adjoints — is written once below.

use super::ScalarFn;
use crate::num::dispatch::{LaneWork, View, widest};
use crate::num::real::{Dual, F8, Real};
use crate::ops::operand::{Adjoint, Arg, Broadcast, Operand, accumulate};
use std::marker::PhantomData;

/// Elements that a tile holds.
const TILE: usize = 16;

/// Most arguments of an elementwise function.
pub const MOST_ARGS: usize = 6;

/// The innermost loops of one elementwise function for one scalar type.
pub trait Elementwise<T>: Send + Sync {
    /// `out[i] = f(args at start + i)`.
    fn values(&self, args: &[Operand<T>], start: usize, out: &mut [T]);

    /// The same, and the slopes of element `i` in `slopes[i]`; those of arguments that are not needed mean nothing.
    fn slopes(
        &self,
        args: &[Operand<T>],
        start: usize,
        need: &[bool],
        out: &mut [T],
        slopes: &mut [[T; MOST_ARGS]],
    );
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

/// One number, with or without a tangent.
macro_rules! one_by_one {
    ($($t:ty),*) => {$(
        impl<F: ScalarFn<N>, const N: usize> Elementwise<$t> for Tile<F, N> {
            fn values(&self, args: &[Operand<$t>], start: usize, out: &mut [$t]) {
                for (i, o) in out.iter_mut().enumerate() {
                    *o = F::value(std::array::from_fn(|k| args[k].at(start + i)));
                }
            }

            fn slopes(
                &self,
                args: &[Operand<$t>],
                start: usize,
                need: &[bool],
                out: &mut [$t],
                slopes: &mut [[$t; MOST_ARGS]],
            ) {
                let need: [bool; N] = std::array::from_fn(|k| need[k]);
                for (i, (o, s)) in out.iter_mut().zip(slopes).enumerate() {
                    let (y, d) = F::both(std::array::from_fn(|k| args[k].at(start + i)), &need);
                    *o = y;
                    s[..N].copy_from_slice(&d);
                }
            }
        }
    )*};
}
one_by_one!(f64, Dual);

/// Eight draws: in AVX-512 registers, or draw by draw where the processor has none.
impl<F: ScalarFn<N>, const N: usize> Elementwise<F8> for Tile<F, N> {
    fn values(&self, args: &[Operand<F8>], start: usize, out: &mut [F8]) {
        let work = Values::<F, F8, N> { args, start, out, code: PhantomData };
        if let Err(Values { out, .. }) = widest(work) {
            draw_by_draw(self, args, start, &[], out, None);
        }
    }

    fn slopes(
        &self,
        args: &[Operand<F8>],
        start: usize,
        need: &[bool],
        out: &mut [F8],
        slopes: &mut [[F8; MOST_ARGS]],
    ) {
        let work = Slopes::<F, F8, N> { args, start, need, out, slopes, code: PhantomData };
        if let Err(Slopes { out, slopes, .. }) = widest(work) {
            draw_by_draw(self, args, start, need, out, Some(slopes));
        }
    }
}

/// Eight draws by the code for one.
fn draw_by_draw(
    f: &dyn Elementwise<f64>,
    args: &[Operand<F8>],
    start: usize,
    need: &[bool],
    out: &mut [F8],
    mut slopes: Option<&mut [[F8; MOST_ARGS]]>,
) {
    for (i, o) in out.iter_mut().enumerate() {
        for lane in 0..F8::WIDTH {
            let mut x = [[0.0]; MOST_ARGS];
            args.iter().zip(&mut x).for_each(|(a, x)| x[0] = a.at(start + i).lane(lane));
            let mut operands = [Operand { arg: Arg::Const(&[]), index: &Broadcast::One }; MOST_ARGS];
            operands.iter_mut().zip(&x).for_each(|(o, x)| o.arg = Arg::Const(x));
            let operands = &operands[..args.len()];
            let (mut y, mut d) = ([0.0], [[0.0; MOST_ARGS]]);
            match &mut slopes {
                None => f.values(operands, 0, &mut y),
                Some(slopes) => {
                    f.slopes(operands, 0, need, &mut y, &mut d);
                    slopes[i].iter_mut().zip(d[0]).for_each(|(s, d)| s.set_lane(lane, d));
                }
            }
            o.set_lane(lane, y[0]);
        }
    }
}

struct Values<'a, F, T, const N: usize> {
    args: &'a [Operand<'a, T>],
    start: usize,
    out: &'a mut [T],
    code: PhantomData<F>,
}

impl<F: ScalarFn<N>, T: Real, const N: usize> LaneWork<T> for Values<'_, F, T, N> {
    type Out = ();

    #[inline(always)]
    fn run<U: Real>(self, view: View<T, U>) {
        for (i, o) in view.slice_mut(self.out).iter_mut().enumerate() {
            *o = F::value(load(self.args, self.start + i, view));
        }
    }
}

struct Slopes<'a, F, T, const N: usize> {
    args: &'a [Operand<'a, T>],
    start: usize,
    need: &'a [bool],
    out: &'a mut [T],
    slopes: &'a mut [[T; MOST_ARGS]],
    code: PhantomData<F>,
}

impl<F: ScalarFn<N>, T: Real, const N: usize> LaneWork<T> for Slopes<'_, F, T, N> {
    type Out = ();

    #[inline(always)]
    fn run<U: Real>(self, view: View<T, U>) {
        let mut need = [false; N];
        need.copy_from_slice(&self.need[..N]);
        for (i, (o, s)) in view.slice_mut(self.out).iter_mut().zip(self.slopes).enumerate() {
            let (y, d) = F::both(load(self.args, self.start + i, view), &need);
            *o = y;
            for (to, from) in view.slice_mut(s).iter_mut().zip(d) {
                *to = from;
            }
        }
    }
}

/// The numbers that meet element `i`, in registers.
#[inline(always)]
fn load<T: Real, U: Real, const N: usize>(args: &[Operand<T>], i: usize, view: View<T, U>) -> [U; N] {
    let mut x = [U::zero(); N];
    for k in 0..N {
        let at = args[k].index.at(i);
        x[k] = match args[k].arg {
            Arg::Const(c) => U::splat(c[at]),
            Arg::Var(v) => view.slice(v)[at],
        };
    }
    x
}

/// `out[i] = f(args at i)`.
pub fn map<T: Real>(f: &dyn Elementwise<T>, args: &[Operand<T>], out: &mut [T]) {
    f.values(args, 0, out);
}

/// Adds `adjoint_out[i] · ∂f/∂arg` to each argument's adjoint.
pub fn pull<T: Real>(
    f: &dyn Elementwise<T>,
    args: &[Operand<T>],
    adjoint_out: &[T],
    adjoints: &[Adjoint<T>],
) {
    let mut need = [false; MOST_ARGS];
    adjoints.iter().enumerate().for_each(|(k, a)| need[k] = a.is_some());
    let mut tile = Buffer::<T>::new();
    for (c, up) in adjoint_out.chunks(TILE).enumerate() {
        let start = c * TILE;
        tile.fill(f, args, start, up.len(), &need);
        for (k, adjoint) in adjoints.iter().enumerate() {
            let Some(adjoint) = adjoint else { continue };
            for (i, &u) in up.iter().enumerate() {
                accumulate(adjoint, args[k].index.at(start + i), u * tile.slopes[i][k]);
            }
        }
    }
}

/// `Σ_i w_i f(args at i)` over `count` elements, and the derivative of that sum in each argument, element by element of
/// the argument, in `slopes` (laid out one argument after another, variables only).
pub fn sum<T: Real>(
    f: &dyn Elementwise<T>,
    args: &[Operand<T>],
    weights: Option<&[f64]>,
    count: usize,
    slopes: &mut [T],
) -> T {
    slopes.fill(T::zero());
    let mut need = [false; MOST_ARGS];
    args.iter().enumerate().for_each(|(k, a)| need[k] = a.arg.is_var());
    let mut total = T::zero();
    let mut tile = Buffer::<T>::new();
    for start in (0..count).step_by(TILE) {
        let n = TILE.min(count - start);
        tile.fill(f, args, start, n, &need);
        if let Some(w) = weights {
            tile.weigh(&w[start..start + n]);
        }
        total = tile.values[..n].iter().fold(total, |sum, &y| sum + y);
        let mut at = 0;
        for (k, arg) in args.iter().enumerate().filter(|(k, _)| need[*k]) {
            let into = &mut slopes[at..at + arg.arg.len()];
            at += into.len();
            tile.add(k, n, start, arg.index, into);
        }
    }
    total
}

/// The sum alone.
pub fn sum_value<T: Real>(
    f: &dyn Elementwise<T>,
    args: &[Operand<T>],
    weights: Option<&[f64]>,
    count: usize,
) -> T {
    let mut total = T::zero();
    let mut values = [T::zero(); TILE];
    for start in (0..count).step_by(TILE) {
        let values = &mut values[..TILE.min(count - start)];
        f.values(args, start, values);
        for (i, &y) in values.iter().enumerate() {
            total += weights.map_or(y, |w| y.scale(w[start + i]));
        }
    }
    total
}

/// Values and slopes of one tile.
struct Buffer<T> {
    values: [T; TILE],
    slopes: [[T; MOST_ARGS]; TILE],
}

impl<T: Real> Buffer<T> {
    fn new() -> Self {
        Self { values: [T::zero(); TILE], slopes: [[T::zero(); MOST_ARGS]; TILE] }
    }

    fn fill(&mut self, f: &dyn Elementwise<T>, args: &[Operand<T>], start: usize, n: usize, need: &[bool]) {
        f.slopes(args, start, need, &mut self.values[..n], &mut self.slopes[..n]);
    }

    fn weigh(&mut self, weights: &[f64]) {
        for ((y, s), &w) in self.values.iter_mut().zip(&mut self.slopes).zip(weights) {
            let w = T::splat(w);
            *y = *y * w;
            s.iter_mut().for_each(|x| *x = *x * w);
        }
    }

    /// Adds the slopes in argument `k` to the elements of it that they belong to.
    fn add(&self, k: usize, n: usize, start: usize, index: &Broadcast, into: &mut [T]) {
        match index {
            Broadcast::One => {
                into[0] = self.slopes[..n].iter().fold(into[0], |sum, s| sum + s[k]);
            }
            Broadcast::Each => {
                for (cell, s) in into[start..start + n].iter_mut().zip(&self.slopes) {
                    *cell = s[k];
                }
            }
            Broadcast::Cycle(_) | Broadcast::Table(_) => {
                for (i, s) in self.slopes[..n].iter().enumerate() {
                    into[index.at(start + i)] += s[k];
                }
            }
        }
    }
}
