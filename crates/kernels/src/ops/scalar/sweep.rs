//! Elementwise functions over whole arrays: plain, summed, and backwards.

use super::kernel::{Elementwise, MOST_ARGS, Sink, TILE};
use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::linalg::design::{ByColumn, Fetch, fetch_beside, total};
use crate::num::real::Packed;
use crate::ops::array::{Operator, ROWS, Rows};
use crate::ops::operand::{Adjoint, Arg, Index, Operand};
use rayon::prelude::*;
use std::cell::Cell;

/// Elements that are handled at a time: few enough for arguments, values, slopes and adjoints to stay in the
/// first-level cache.
const fn terms<T: Packed>() -> usize {
    if T::WIDTH == 1 { 256 } else { 32 }
}

/// Elements that are handled at a time on the way back, of one draw as of sixteen: the sums of a slope over
/// them are rounded alike, which a covariance that is nearly singular makes much of.
const PULLED: usize = 32;

/// Rows of a linear predictor that are handled at a time: those of a wide one are to be in the first-level
/// cache still on the way back.
fn rows_at_a_time<T: Packed>(operator: &Operator) -> usize {
    if operator.columns > ByColumn::MOST { ROWS } else { terms::<T>() }
}

/// Numbers of room that the sweeps need.
pub const fn room<T: Packed>() -> usize {
    terms::<T>() * (2 + MOST_ARGS)
}

/// `out[i] = f(args at i)`.
pub fn map<T: Packed>(f: &dyn Elementwise<T>, args: &[Operand<T>], out: &mut [T]) {
    f.values(args, out);
}

/// Adds `up[i] · ∂f/∂arg` to each argument's adjoint, where f has the known `values`.
pub fn pull<T: Packed>(
    f: &dyn Elementwise<T>,
    args: &[Operand<T>],
    values: &[T],
    up: &[T],
    adjoints: &[Adjoint<T>],
    room: &mut [T],
) {
    let mut need = [false; MOST_ARGS];
    adjoints.iter().enumerate().for_each(|(k, a)| need[k] = a.is_some());
    for start in (0..up.len()).step_by(PULLED) {
        let n = PULLED.min(up.len() - start);
        let tile = from(args, start);
        f.slopes(&tile[..args.len()], &need, &values[start..start + n], room);
        let up = &up[start..start + n];
        best_lanes(Pull { up, slopes: room, args: &tile[..args.len()], adjoints, start });
    }
}

/// `Σ_i w_i f(args at i)` over `count` elements; its derivative in each argument is added to `adjoints`,
/// element by element of the argument. Adjoints that are fresh are set instead, for arguments with an element
/// for each.
pub fn sum<T: Packed>(
    f: &dyn Elementwise<T>,
    args: &[Operand<T>],
    weights: Option<&[f64]>,
    count: usize,
    (adjoints, fresh): (&[Adjoint<T>], &[bool]),
    room: &mut [T],
) -> T {
    if count <= terms::<T>() {
        let into = Slope { args, start: 0, adjoints, fresh, predictor: None };
        return sum_tile(f, into, weights, count, room);
    }
    let mut total = T::zero();
    for start in (0..count).step_by(terms::<T>()) {
        let n = terms::<T>().min(count - start);
        let tile = from(args, start);
        let weights = weights.map(|w| &w[start..start + n]);
        let into = Slope { args: &tile[..args.len()], start, adjoints, fresh, predictor: None };
        total += sum_tile(f, into, weights, n, room);
    }
    total
}

/// Adjoints one after another in one piece, for arguments that vary alone.
fn in_pieces<'a, T: Packed>(
    args: &[Operand<T>],
    predictor: Predictor,
    all: &'a [Cell<T>],
) -> [Adjoint<'a, T>; MOST_ARGS] {
    let (mut pieces, mut at) = ([None; MOST_ARGS], 0);
    for (k, (piece, arg)) in pieces.iter_mut().zip(args).enumerate() {
        if arg.arg.is_var() {
            let n = if k == predictor.which { predictor.operator.coefficients } else { arg.arg.len() };
            *piece = Some(&all[at..at + n]);
            at += n;
        }
    }
    pieces
}

/// A linear predictor as an argument of a summed function.
#[derive(Clone, Copy)]
pub struct Predictor<'a> {
    /// Which argument.
    pub which: usize,
    /// How it comes from its coefficients.
    pub operator: &'a Operator,
}

/// [`sum`] where one argument is a linear predictor, given by its coefficients: predictor, function and
/// adjoint are computed for a few rows at a time, so that they stay in the first-level cache.
///
/// A large operator is summed in [`Operator::blocks`] blocks of rows, for each of which `slopes` has a part;
/// within a pool of threads these share the blocks. The blocks are added in order, so threads change no bit.
pub fn sum_predicted<T: Packed>(
    f: &dyn Elementwise<T>,
    args: &[Operand<T>],
    predictor: Predictor,
    weights: Option<&[f64]>,
    adjoints: &[Adjoint<T>],
    (slopes, room): (&mut [T], &mut [T]),
) -> T {
    let (rows, blocks) = (predictor.operator.rows, predictor.operator.blocks());
    if blocks == 1 {
        return sum_rows(f, args, predictor, weights, adjoints, room, 0..rows);
    }
    let size = slopes.len() / blocks;
    let height = rows.div_ceil(blocks).next_multiple_of(ROWS);
    let mut totals = vec![T::zero(); blocks];
    let block = |(i, (part, total)): (usize, (&mut [T], &mut T))| {
        let mut room = vec![T::zero(); self::room::<T>()];
        let range = (i * height).min(rows)..((i + 1) * height).min(rows);
        part.fill(T::zero());
        let pieces = in_pieces(args, predictor, Cell::from_mut(part).as_slice_of_cells());
        *total = sum_rows(f, args, predictor, weights, &pieces, &mut room, range);
    };
    if rayon::current_thread_index().is_some() && rayon::current_num_threads() > 1 {
        slopes.par_chunks_exact_mut(size).zip(totals.par_iter_mut()).enumerate().for_each(block);
    } else {
        slopes.chunks_exact_mut(size).zip(totals.iter_mut()).enumerate().for_each(block);
    }
    let into = adjoints.iter().flatten().flat_map(|a| a.iter());
    for (at, cell) in into.enumerate() {
        let sum = slopes.chunks_exact(size).fold(T::zero(), |sum, part| sum + part[at]);
        cell.set(cell.get() + sum);
    }
    totals.into_iter().fold(T::zero(), |sum, t| sum + t)
}

fn sum_rows<T: Packed>(
    f: &dyn Elementwise<T>,
    args: &[Operand<T>],
    predictor: Predictor,
    weights: Option<&[f64]>,
    adjoints: &[Adjoint<T>],
    room: &mut [T],
    rows: std::ops::Range<usize>,
) -> T {
    let mut total = T::zero();
    let tile = rows_at_a_time::<T>(predictor.operator);
    for start in rows.clone().step_by(tile) {
        let n = tile.min(rows.end - start);
        let (eta, room) = room.split_at_mut(n);
        let tile = predict(args, predictor, start, eta, Fetch::Half);
        let weights = weights.map(|w| &w[start..start + n]);
        let fresh = &[false; MOST_ARGS];
        let into = Slope { args: &tile[..args.len()], start, adjoints, fresh, predictor: Some(predictor) };
        total += sum_tile(f, into, weights, n, room);
    }
    total
}

/// The sum alone.
pub fn sum_predicted_value<T: Packed>(
    f: &dyn Elementwise<T>,
    args: &[Operand<T>],
    predictor: Predictor,
    weights: Option<&[f64]>,
    room: &mut [T],
) -> T {
    let mut total = T::zero();
    let count = predictor.operator.rows;
    let tile = rows_at_a_time::<T>(predictor.operator);
    for start in (0..count).step_by(tile) {
        let n = tile.min(count - start);
        let (eta, room) = room.split_at_mut(n);
        let tile = predict(args, predictor, start, eta, Fetch::All);
        let weights = weights.map(|w| &w[start..start + n]);
        total += sum_values(f, &tile[..args.len()], weights, &mut room[..n]);
    }
    total
}

/// The arguments from row `start` on, with the predictor itself in place of its coefficients.
fn predict<'a, T: Packed>(
    args: &[Operand<'a, T>],
    Predictor { which, operator }: Predictor,
    start: usize,
    eta: &'a mut [T],
    fetch: Fetch,
) -> [Operand<'a, T>; MOST_ARGS] {
    let mut tile = [Operand::empty(); MOST_ARGS];
    for (k, (t, a)) in tile.iter_mut().zip(args).enumerate() {
        *t = if k == which { *a } else { a.from(start) };
        if let (Arg::Const(c), Index::Each) = (t.arg, t.index) {
            fetch_beside(c, eta.len());
        }
    }
    if let Arg::Var(v) = tile[which].arg {
        best_lanes(Rows { operator, v, start, out: &mut *eta, fetch });
    }
    tile[which] = Operand { arg: Arg::Var(eta), index: Index::Each };
    tile
}

/// Where the slopes of a tile of elements are added.
struct Slope<'a, 'b, T> {
    /// What meets the elements of the tile.
    args: &'a [Operand<'b, T>],
    /// The first element of the tile.
    start: usize,
    /// As for [`sum`]; for a predictor, those of its coefficients.
    adjoints: &'a [Adjoint<'a, T>],
    /// Which adjoints are set.
    fresh: &'a [bool],
    /// The argument that is a predictor.
    predictor: Option<Predictor<'a>>,
}

impl<'a, T: Packed> Slope<'a, '_, T> {
    /// Where a function that adds up its elements may put the slopes in argument k, which `room` is for, and
    /// whether they are to be handed on from there.
    fn sink(&self, k: usize, room: &'a [Cell<T>], times: f64) -> (Sink<'a, T>, bool) {
        let Some(adjoint) = self.adjoints[k] else { return (Sink::None, false) };
        let predicted = self.predictor.is_some_and(|p| p.which == k);
        match self.args[k].index {
            Index::One if !predicted => (Sink::Sum(&adjoint[0]), false),
            Index::Each if !predicted && self.fresh[k] && times == 1.0 => {
                (Sink::Each(&adjoint[self.start..self.start + room.len()]), false)
            }
            _ => (Sink::Each(room), true),
        }
    }
}

/// One tile of [`sum`]: its part of the sum.
fn sum_tile<T: Packed>(
    f: &dyn Elementwise<T>,
    into: Slope<T>,
    weights: Option<&[f64]>,
    n: usize,
    room: &mut [T],
) -> T {
    let args = into.args;
    // Constant: one number has no such code.
    if const { T::WIDTH > 1 }
        && let Some(times) = common(weights)
    {
        let slopes = Cell::from_mut(&mut room[..n * args.len()]).as_slice_of_cells();
        let (mut sinks, mut open) = ([Sink::None; MOST_ARGS], 0);
        for k in 0..args.len() {
            let (sink, hand_on) = into.sink(k, &slopes[k * n..(k + 1) * n], times);
            sinks[k] = sink;
            open |= u32::from(hand_on) << k;
        }
        if let Some(sum) = f.summed(args, &sinks[..args.len()], n, times) {
            if open != 0 {
                let slopes = &mut room[..n * args.len()];
                best_lanes(HandOn { into, open, weights, n, slopes });
            }
            return sum;
        }
    }
    let mut need = [false; MOST_ARGS];
    for (need, a) in need.iter_mut().zip(args) {
        *need = a.arg.is_var();
    }
    let (values, room) = room.split_at_mut(n);
    let slopes = &mut room[..n * args.len()];
    f.both(args, &need, values, slopes);
    best_lanes(Settle { values, slopes: HandOn { into, open: u32::MAX, weights, n, slopes } })
}

/// The weight that all elements have.
fn common(weights: Option<&[f64]>) -> Option<f64> {
    match weights {
        None => Some(1.0),
        Some(weights) => weights.first().copied().filter(|first| weights.iter().all(|w| w == first)),
    }
}

/// The sum over at most [`terms`] elements alone, with as much room.
fn sum_values<T: Packed>(
    f: &dyn Elementwise<T>,
    args: &[Operand<T>],
    weights: Option<&[f64]>,
    values: &mut [T],
) -> T {
    if let Some(times) = common(weights)
        && let Some(sum) = f.summed(args, &[Sink::None; MOST_ARGS], values.len(), times)
    {
        return sum;
    }
    f.values(args, values);
    let mut sum = T::zero();
    for (i, &y) in values.iter().enumerate() {
        sum += weights.map_or(y, |w| y.scale(w[i]));
    }
    sum
}

/// The sum alone.
pub fn sum_value<T: Packed>(
    f: &dyn Elementwise<T>,
    args: &[Operand<T>],
    weights: Option<&[f64]>,
    count: usize,
) -> T {
    let mut total = T::zero();
    let mut values = [T::zero(); TILE];
    for start in (0..count).step_by(TILE) {
        let n = TILE.min(count - start);
        let weights = weights.map(|w| &w[start..start + n]);
        total += sum_values(f, &from(args, start)[..args.len()], weights, &mut values[..n]);
    }
    total
}

/// What meets the elements from `start` on.
#[inline(always)]
fn from<'a, T: Packed>(args: &[Operand<'a, T>], start: usize) -> [Operand<'a, T>; MOST_ARGS] {
    let mut tile = [Operand::empty(); MOST_ARGS];
    for (t, a) in tile.iter_mut().zip(args) {
        *t = a.from(start);
    }
    tile
}

struct Pull<'a, 'b, T> {
    up: &'a [T],
    slopes: &'a [T],
    args: &'a [Operand<'b, T>],
    adjoints: &'a [Adjoint<'a, T>],
    start: usize,
}

impl<T: Packed> LaneWork<T> for Pull<'_, '_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let (up, n) = (view.slice(self.up), self.up.len());
        for (k, adjoint) in self.adjoints.iter().enumerate() {
            let Some(adjoint) = adjoint else { continue };
            let (into, slopes) = (view.cells(adjoint), &view.slice(self.slopes)[k * n..(k + 1) * n]);
            match self.args[k].index {
                Index::One => {
                    let mut sum = U::zero();
                    for i in 0..n {
                        sum += up[i] * slopes[i];
                    }
                    add(&into[0], sum);
                }
                Index::Each => {
                    for (i, cell) in into[self.start..self.start + n].iter().enumerate() {
                        add(cell, up[i] * slopes[i]);
                    }
                }
                Index::Table(t) => {
                    for i in 0..n {
                        add(&into[t[i] as usize], up[i] * slopes[i]);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn add<U: Packed>(cell: &Cell<U>, x: U) {
    cell.set(cell.get() + x);
}

/// Hands on the slopes of a tile: those of element i in argument k are at `slopes[k * n + i]`.
struct HandOn<'a, 'b, T> {
    into: Slope<'a, 'b, T>,
    /// Which arguments' slopes, bit by bit: bytes that are copied together wait for those who wrote them one
    /// by one.
    open: u32,
    weights: Option<&'a [f64]>,
    n: usize,
    slopes: &'a mut [T],
}

impl<T: Packed> LaneWork<T> for HandOn<'_, '_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let n = self.n;
        let slopes = view.slice_mut(self.slopes);
        for (k, (arg, adjoint)) in self.into.args.iter().zip(self.into.adjoints).enumerate() {
            let Some(adjoint) = adjoint.filter(|_| self.open >> k & 1 == 1) else { continue };
            let (into, slopes) = (view.cells(adjoint), &mut slopes[k * n..(k + 1) * n]);
            if let Some(weights) = self.weights {
                for i in 0..n {
                    slopes[i] = slopes[i].scale(weights[i]);
                }
            }
            if let Some(Predictor { which, operator }) = self.into.predictor
                && which == k
            {
                operator.reverse(self.into.start, slopes, into, Fetch::Half);
                continue;
            }
            match arg.index {
                Index::One => add(&into[0], total(slopes)),
                Index::Each if self.into.fresh[k] => {
                    for (cell, &slope) in into[self.into.start..].iter().zip(&*slopes) {
                        cell.set(slope);
                    }
                }
                Index::Each => {
                    for (cell, &slope) in into[self.into.start..].iter().zip(&*slopes) {
                        add(cell, slope);
                    }
                }
                Index::Table(t) => {
                    for i in 0..n {
                        add(&into[t[i] as usize], slopes[i]);
                    }
                }
            }
        }
    }
}

/// The sum of the values of a tile, whose slopes are handed on.
struct Settle<'a, 'b, T> {
    values: &'a mut [T],
    slopes: HandOn<'a, 'b, T>,
}

impl<T: Packed> LaneWork<T> for Settle<'_, '_, T> {
    type Out = T;

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) -> T {
        let values = view.slice_mut(self.values);
        if let Some(weights) = self.slopes.weights {
            for (value, weight) in values.iter_mut().zip(weights) {
                *value = value.scale(*weight);
            }
        }
        let sum = total(values);
        self.slopes.run(view);
        view.back(sum)
    }
}
