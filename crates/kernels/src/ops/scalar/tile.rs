//! The innermost loops of an elementwise function, for each scalar type.
//!
//! Only these loops know the function, so that a row costs little code. What is done with the numbers —
//! broadcasting sums, weights, adjoints — is written once, in `sweep`.

use super::ScalarFn;
use crate::num::dispatch::{LaneWork, Level, View, level, widest};
use crate::num::real::{Dual, F16, Part, Real};
use crate::ops::operand::{Arg, Index, Operand};
use std::cell::Cell;
use std::marker::PhantomData;

/// Most arguments of an elementwise function.
pub const MOST_ARGS: usize = 6;

/// Most elements that are handled at a time where values and slopes need room.
pub const TILE: usize = 16;

/// The innermost loops of one elementwise function for one scalar type.
pub trait Elementwise<T>: Send + Sync {
    /// `out[i] = f(args at i)`.
    fn values(&self, args: &[Operand<T>], out: &mut [T]);

    /// The same for n elements, with the slope in argument k of element i in `slopes[k * n + i]`; those of
    /// arguments that are not needed mean nothing.
    fn both(&self, args: &[Operand<T>], need: &[bool], out: &mut [T], slopes: &mut [T]);

    /// The slopes of at most [`TILE`] elements whose values are known.
    fn slopes(&self, args: &[Operand<T>], need: &[bool], values: &[T], slopes: &mut [T]);

    /// As [`Elementwise::values`], but that the logarithm of a factor from ½ to 4 is to be subtracted from
    /// each element of `out`, as often as is returned. Does nothing where there is no such code.
    fn factored(&self, _args: &[Operand<T>], _out: &mut [T], _factors: &mut [T]) -> Option<f64> {
        None
    }

    /// Value and slopes of one element whose arguments stand where `at` says: written behind one another from
    /// `out` on, a slope only where the bit of its argument is set in `need`. False where there is no such
    /// code.
    fn one(&self, _cells: &[Cell<T>], _at: &[usize], _need: u32, _out: usize) -> bool {
        false
    }

    /// So many times the sum of the values of `n` elements, few enough for the product of their factors to be
    /// a number; slopes go where `sinks` says. None where there is no such code.
    fn summed(&self, _args: &[Operand<T>], _sinks: &[Sink<T>], _n: usize, _times: f64) -> Option<T> {
        None
    }
}

/// Where the slopes in an argument go.
#[derive(Clone, Copy)]
pub enum Sink<'a, T> {
    /// Nowhere.
    None,
    /// So many times their sum is added there.
    Sum(&'a Cell<T>),
    /// There, each as it is.
    Each(&'a [Cell<T>]),
}

/// An elementwise function for every scalar type.
pub trait ScalarKernel: Elementwise<f64> + Elementwise<F16> + Elementwise<Dual> {}

/// The loops around the code `F` of a function of `N` numbers.
pub struct Tile<F, const N: usize>(PhantomData<F>);

impl<F, const N: usize> Tile<F, N> {
    /// The only value.
    pub const NEW: Self = Self(PhantomData);
}

impl<F: ScalarFn<N>, const N: usize> ScalarKernel for Tile<F, N> {}

/// One number, with or without a tangent. Where the value is known it is computed again: one copy of the code
/// less. `$wide` handles the first elements, and says how many.
macro_rules! one_by_one {
    ($($t:ty: $wide:path),*) => {$(
        impl<F: ScalarFn<N>, const N: usize> Elementwise<$t> for Tile<F, N> {
            fn values(&self, args: &[Operand<$t>], out: &mut [$t]) {
                for i in $wide(self, args, None, out, &mut [])..out.len() {
                    out[i] = F::value(at(args, i));
                }
            }

            fn both(&self, args: &[Operand<$t>], need: &[bool], out: &mut [$t], slopes: &mut [$t]) {
                let n = out.len();
                let start = $wide(self, args, Some(need), out, slopes);
                let need = needed(need);
                for i in start..n {
                    let (y, d) = F::both(at(args, i), &need);
                    out[i] = y;
                    for k in 0..N {
                        slopes[k * n + i] = d[k];
                    }
                }
            }

            fn slopes(&self, args: &[Operand<$t>], need: &[bool], values: &[$t], slopes: &mut [$t]) {
                let mut again = [<$t as Real>::zero(); TILE];
                self.both(args, need, &mut again[..values.len()], slopes);
            }
        }
    )*};
}
one_by_one!(f64: by_sixteens, Dual: none);

/// Fewest elements of one draw for which all lanes are worth running.
const WORTH_LANES: usize = 6;

/// Elements of one draw by the code for sixteen draws, where the processor has the registers: the bits are
/// the same. Gives the number of elements done; values alone where no slopes are needed.
fn by_sixteens(
    f: &dyn Elementwise<F16>,
    args: &[Operand<f64>],
    need: Option<&[bool]>,
    out: &mut [f64],
    slopes: &mut [f64],
) -> usize {
    if out.len() < WORTH_LANES || level() < Level::Avx512 {
        return 0;
    }
    let (n, mut start) = (out.len(), 0);
    while n - start >= WORTH_LANES {
        let width = F16::WIDTH.min(n - start);
        let mut x = [[F16::zero()]; MOST_ARGS];
        for (x, arg) in x.iter_mut().zip(args) {
            // Lanes beyond the last element repeat it.
            x[0] = F16(std::array::from_fn(|lane| arg.at(start + lane.min(width - 1))));
        }
        let mut operands = [Operand::empty(); MOST_ARGS];
        operands.iter_mut().zip(&x).for_each(|(o, x)| *o = Operand { arg: Arg::Var(x), index: Index::One });
        let (mut y, mut d) = ([F16::zero()], [F16::zero(); MOST_ARGS]);
        match need {
            None => f.values(&operands[..args.len()], &mut y),
            Some(need) => f.both(&operands[..args.len()], need, &mut y, &mut d),
        }
        out[start..start + width].copy_from_slice(&y[0].0[..width]);
        if need.is_some() {
            for (k, d) in d[..args.len()].iter().enumerate() {
                slopes[k * n + start..][..width].copy_from_slice(&d.0[..width]);
            }
        }
        start += width;
    }
    start
}

/// Tangents have no such code.
fn none(
    _: &dyn Elementwise<F16>,
    _: &[Operand<Dual>],
    _: Option<&[bool]>,
    _: &mut [Dual],
    _: &mut [Dual],
) -> usize {
    0
}

/// Sixteen draws in AVX-512 registers, or draw by draw where the processor has none.
impl<F: ScalarFn<N>, const N: usize> Elementwise<F16> for Tile<F, N> {
    fn values(&self, args: &[Operand<F16>], out: &mut [F16]) {
        let work = Values::<F, N> { args, out, code: PhantomData };
        if let Err(Values { out, .. }) = widest(work) {
            draw_by_draw(self, args, &[], out, None);
        }
    }

    fn both(&self, args: &[Operand<F16>], need: &[bool], out: &mut [F16], slopes: &mut [F16]) {
        let work = Both::<F, N> { args, need, out, slopes, code: PhantomData };
        if let Err(Both { out, slopes, .. }) = widest(work) {
            draw_by_draw(self, args, need, out, Some(slopes));
        }
    }

    fn slopes(&self, args: &[Operand<F16>], need: &[bool], values: &[F16], slopes: &mut [F16]) {
        let work = Slopes::<F, N> { args, need, values, slopes, code: PhantomData };
        if let Err(Slopes { slopes, .. }) = widest(work) {
            let mut again = [F16::zero(); TILE];
            draw_by_draw(self, args, need, &mut again[..values.len()], Some(slopes));
        }
    }

    fn factored(&self, args: &[Operand<F16>], out: &mut [F16], factors: &mut [F16]) -> Option<f64> {
        // Constant, so that there is no such code where it is not wanted.
        if const { F::FACTORED.is_none() } {
            return None;
        }
        let done = widest(Factored::<F, N> { args, out, factors, code: PhantomData });
        F::FACTORED.filter(|_| done.is_ok())
    }

    fn one(&self, cells: &[Cell<F16>], at: &[usize], need: u32, out: usize) -> bool {
        // Constant: functions with little arithmetic of their own have no such code.
        if const { F::Lanes::PARTS > 1 } {
            return false;
        }
        widest(One::<F, N> { cells, at, need, out, code: PhantomData }).is_ok()
    }

    fn summed(&self, args: &[Operand<F16>], sinks: &[Sink<F16>], n: usize, times: f64) -> Option<F16> {
        if const { F::FACTORED.is_none() } {
            return None;
        }
        let mut sum = [F16::zero()];
        widest(Summed::<F, N> { args, sinks, n, times, sum: &mut sum, code: PhantomData }).ok()?;
        Some(sum[0])
    }
}

/// Sixteen draws by the code for one, as sixteen elements.
fn draw_by_draw(
    f: &dyn Elementwise<f64>,
    args: &[Operand<F16>],
    need: &[bool],
    out: &mut [F16],
    mut slopes: Option<&mut [F16]>,
) {
    const WIDTH: usize = F16::WIDTH;
    let n = out.len();
    for (i, o) in out.iter_mut().enumerate() {
        let mut x = [[0.0; WIDTH]; MOST_ARGS];
        args.iter().zip(&mut x).for_each(|(a, x)| *x = a.at(i).0);
        let mut operands = [Operand::empty(); MOST_ARGS];
        operands.iter_mut().zip(&x).for_each(|(o, x)| {
            *o = Operand { arg: Arg::Const(x), index: Index::Each };
        });
        let operands = &operands[..args.len()];
        match &mut slopes {
            None => f.values(operands, &mut o.0),
            Some(slopes) => {
                let mut d = [0.0; WIDTH * MOST_ARGS];
                f.both(operands, need, &mut o.0, &mut d);
                for (k, d) in d.chunks_exact(WIDTH).take(args.len()).enumerate() {
                    slopes[k * n + i].0.copy_from_slice(d);
                }
            }
        }
    }
}

struct Values<'a, F, const N: usize> {
    args: &'a [Operand<'a, F16>],
    out: &'a mut [F16],
    code: PhantomData<F>,
}

impl<F: ScalarFn<N>, const N: usize> LaneWork<F::Lanes> for Values<'_, F, N> {
    type Out = ();

    #[inline(always)]
    fn run<U: Real>(self, view: View<F::Lanes, U>) {
        let args = all(self.args);
        let out = view.slice_mut(F::Lanes::parts_mut(self.out));
        for (i, o) in out.iter_mut().enumerate() {
            *o = F::value(load(&args, i, view));
        }
    }
}

struct Both<'a, F, const N: usize> {
    args: &'a [Operand<'a, F16>],
    need: &'a [bool],
    out: &'a mut [F16],
    slopes: &'a mut [F16],
    code: PhantomData<F>,
}

impl<F: ScalarFn<N>, const N: usize> LaneWork<F::Lanes> for Both<'_, F, N> {
    type Out = ();

    #[inline(always)]
    fn run<U: Real>(self, view: View<F::Lanes, U>) {
        let (args, need, n) = (all(self.args), needed(self.need), F::Lanes::PARTS * self.out.len());
        let out = view.slice_mut(F::Lanes::parts_mut(self.out));
        let slopes = &mut view.slice_mut(F::Lanes::parts_mut(self.slopes))[..N * n];
        for (i, o) in out.iter_mut().enumerate() {
            let (y, d) = F::both(load(&args, i, view), &need);
            *o = y;
            for k in 0..N {
                if need[k] {
                    slopes[k * n + i] = d[k];
                }
            }
        }
    }
}

struct One<'a, F, const N: usize> {
    cells: &'a [Cell<F16>],
    at: &'a [usize],
    need: u32,
    out: usize,
    code: PhantomData<F>,
}

impl<F: ScalarFn<N>, const N: usize> LaneWork<F::Lanes> for One<'_, F, N> {
    type Out = ();

    #[inline(always)]
    fn run<U: Real>(self, view: View<F::Lanes, U>) {
        let cells = view.cells(F::Lanes::cells(self.cells));
        let (mut x, mut need) = ([U::zero(); N], [false; N]);
        for k in 0..N {
            x[k] = cells[self.at[k]].get();
            need[k] = (self.need >> k) & 1 != 0;
        }
        let (y, d) = F::both(x, &need);
        let out = &cells[self.out..self.out + 1 + N];
        out[0].set(y);
        for k in 0..N {
            if need[k] {
                out[1 + k].set(d[k]);
            }
        }
    }
}

struct Factored<'a, F, const N: usize> {
    args: &'a [Operand<'a, F16>],
    out: &'a mut [F16],
    factors: &'a mut [F16],
    code: PhantomData<F>,
}

impl<F: ScalarFn<N>, const N: usize> LaneWork<F::Lanes> for Factored<'_, F, N> {
    type Out = ();

    #[inline(always)]
    fn run<U: Real>(self, view: View<F::Lanes, U>) {
        let (args, n) = (all(self.args), F::Lanes::PARTS * self.out.len());
        let out = view.slice_mut(F::Lanes::parts_mut(self.out));
        let factors = &mut view.slice_mut(F::Lanes::parts_mut(self.factors))[..n];
        for (i, (o, factor)) in out.iter_mut().zip(factors).enumerate() {
            (*o, *factor, _) = F::factored(load(&args, i, view), &[false; N]);
        }
    }
}

struct Summed<'a, F, const N: usize> {
    args: &'a [Operand<'a, F16>],
    sinks: &'a [Sink<'a, F16>],
    n: usize,
    times: f64,
    sum: &'a mut [F16; 1],
    code: PhantomData<F>,
}

impl<F: ScalarFn<N>, const N: usize> LaneWork<F::Lanes> for Summed<'_, F, N> {
    type Out = ();

    #[inline(always)]
    fn run<U: Real>(self, view: View<F::Lanes, U>) {
        let args = all(self.args);
        let plain = args.iter().all(|a: &Operand<F16>| !matches!(a.index, Index::Table(_)));
        // What is asked of each row takes units that arithmetic could use: tables have a loop of their own.
        if plain { self.over::<U, false>(&args, view) } else { self.over::<U, true>(&args, view) }
    }
}

impl<F: ScalarFn<N>, const N: usize> Summed<'_, F, N> {
    /// The loop over the elements; values, factors and slopes that are added up stay in registers.
    #[inline(always)]
    fn over<U: Real, const TABLES: bool>(self, args: &[Operand<F16>; N], view: View<F::Lanes, U>) {
        let parts = const { F::Lanes::PARTS };
        let (mut step, mut need, mut added) = ([0; N], [false; N], [false; N]);
        let mut each: [&[Cell<U>]; N] = [&[]; N];
        for k in 0..N {
            step[k] = usize::from(matches!(args[k].index, Index::Each));
            need[k] = !matches!(self.sinks[k], Sink::None);
            added[k] = matches!(self.sinks[k], Sink::Sum(_));
            if let Sink::Each(cells) = self.sinks[k] {
                each[k] = &view.cells(F::Lanes::cells(cells))[..parts * self.n];
            }
        }
        let (mut values, mut product, mut sums) = ([U::zero(); 2], [U::one(); 2], [[U::zero(); 2]; N]);
        for i in 0..self.n {
            for part in 0..parts {
                let mut x = [U::zero(); N];
                for k in 0..N {
                    let at = if TABLES { args[k].index.at(i) } else { step[k] * i };
                    x[k] = number(&args[k].arg, (at, part), view);
                }
                let (y, factor, d) = F::factored(x, &need);
                values[part] += y;
                product[part] = product[part] * factor;
                for k in 0..N {
                    if added[k] {
                        sums[k][part] += d[k];
                    } else if need[k] {
                        each[k][parts * i + part].set(d[k]);
                    }
                }
            }
        }
        let often = self.times * const { if let Some(times) = F::FACTORED { times } else { 0.0 } };
        let out = view.slice_mut(F::Lanes::parts_mut(self.sum));
        for part in 0..parts {
            out[part] = values[part].scale(self.times) - product[part].ln().scale(often);
            for k in 0..N {
                if let Sink::Sum(cell) = self.sinks[k] {
                    let cell = &view.cells(F::Lanes::cells(std::slice::from_ref(cell)))[part];
                    cell.set(cell.get() + sums[k][part].scale(self.times));
                }
            }
        }
    }
}

struct Slopes<'a, F, const N: usize> {
    args: &'a [Operand<'a, F16>],
    need: &'a [bool],
    values: &'a [F16],
    slopes: &'a mut [F16],
    code: PhantomData<F>,
}

impl<F: ScalarFn<N>, const N: usize> LaneWork<F::Lanes> for Slopes<'_, F, N> {
    type Out = ();

    #[inline(always)]
    fn run<U: Real>(self, view: View<F::Lanes, U>) {
        let (args, need, n) = (all(self.args), needed(self.need), F::Lanes::PARTS * self.values.len());
        let values = view.slice(F::Lanes::parts(self.values));
        let slopes = &mut view.slice_mut(F::Lanes::parts_mut(self.slopes))[..N * n];
        for (i, &y) in values.iter().enumerate() {
            let d = F::slopes(load(&args, i, view), y, &need);
            for k in 0..N {
                if need[k] {
                    slopes[k * n + i] = d[k];
                }
            }
        }
    }
}

#[inline(always)]
fn all<'a, const N: usize>(args: &[Operand<'a, F16>]) -> [Operand<'a, F16>; N] {
    let mut all = [Operand::empty(); N];
    all.copy_from_slice(&args[..N]);
    all
}

#[inline(always)]
fn needed<const N: usize>(need: &[bool]) -> [bool; N] {
    let mut all = [false; N];
    all.copy_from_slice(&need[..N]);
    all
}

/// The numbers that meet element `i`. A plain loop, here and below: a closure for each function would be a
/// tenth of all code.
#[inline(always)]
fn at<T: Real, const N: usize>(args: &[Operand<T>], i: usize) -> [T; N] {
    let mut x = [T::zero(); N];
    for k in 0..N {
        x[k] = args[k].at(i);
    }
    x
}

/// The numbers that meet part `i` of the elements, in registers.
#[inline(always)]
fn load<P: Part, U: Real, const N: usize>(args: &[Operand<F16>; N], i: usize, view: View<P, U>) -> [U; N] {
    let mut x = [U::zero(); N];
    for k in 0..N {
        x[k] = number(&args[k].arg, (args[k].index.at(i / P::PARTS), i % P::PARTS), view);
    }
    x
}

/// A part of one number of an argument.
#[inline(always)]
fn number<P: Part, U: Real>(arg: &Arg<F16>, (at, part): (usize, usize), view: View<P, U>) -> U {
    match arg {
        Arg::Const(c) => U::splat(c[at]),
        Arg::Var(v) => view.slice(P::parts(v))[P::PARTS * at + part],
    }
}
