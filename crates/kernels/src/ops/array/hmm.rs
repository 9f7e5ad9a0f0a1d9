//! The forward sum of a hidden Markov model: its states summed out.

use super::dense::{axpy, copy, dot};
use super::wide::wide;
use super::{Forward, Kernel, Reverse, ShapeError};
use crate::facts::{Shape, show};
use crate::num::real::Packed;
use crate::ops::operand::{Adjoint, Arg, accumulate};

/// log p(observations) from how states start `[K]`, how they move `[K, K]` (row: from, column: to) and the
/// log density of each observation in each state [N, K].
///
/// Filtered probabilities are kept scaled to sum to one at each step, which costs K exponentials a step
/// instead of K². A state that is e⁷⁰⁰ times less probable than another counts as impossible.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct HmmForward {
    /// Whether start and moves are probabilities; they are logs of such otherwise.
    pub probabilities: bool,
}

impl Kernel for HmmForward {
    const NAME: &'static str = "hmm_forward";

    fn shape(&self, args: &[Shape]) -> Result<Shape, ShapeError> {
        match (args[0].as_slice(), args[1].as_slice(), args[2].as_slice()) {
            ([a], [b, c], [_, d]) if a.may_equal(b) && a.may_equal(c) && a.may_equal(d) => Ok(Shape::new()),
            _ => Err(ShapeError(format!(
                "a hidden Markov model with K states needs a start [K], moves [K, K] and observations [N, K], not {}, \
                 {} and {}",
                show(&args[0]),
                show(&args[1]),
                show(&args[2])
            ))),
        }
    }

    fn operations(&self, dims: &[&[usize]]) -> usize {
        2 * dims[1].iter().product::<usize>() * dims[2][0]
    }

    fn saved(&self, dims: &[&[usize]]) -> usize {
        let (k, n) = (dims[0][0], dims[2][0]);
        2 * k * k + 3 * k + n * (2 * k + 1)
    }

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        let room = Room::new(cx.saved, cx.dims);
        copy(cx.args[0], room.start);
        copy(cx.args[1], room.moves);
        if !self.probabilities {
            room.start.iter_mut().chain(room.moves.iter_mut()).for_each(|x| *x = x.exp());
        }
        filter(room, cx.args[2], &mut cx.out[0]);
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        smooth(Room::new(cx.saved, cx.dims), cx.adjoint[0], cx.adjoints[2]);
        let room = Room::new(cx.saved, cx.dims);
        let one = T::one();
        let results = [(&*room.first, &*room.start), (&*room.counts, &*room.moves)];
        for (adjoint, (slope, value)) in cx.adjoints.iter().zip(results) {
            let Some(adjoint) = adjoint else { continue };
            for (i, (&s, &x)) in slope.iter().zip(value).enumerate() {
                accumulate(adjoint, i, cx.adjoint[0] * s * if self.probabilities { one } else { x });
            }
        }
    }
}

/// What the sweeps keep.
struct Room<'a, T> {
    /// Probabilities of the first state.
    start: &'a mut [T],
    /// Probabilities of the moves.
    moves: &'a mut [T],
    /// Slopes in the moves.
    counts: &'a mut [T],
    /// Slopes in the start.
    first: &'a mut [T],
    /// For the step at hand of the backward sweep.
    back: &'a mut [T],
    /// Filtered probabilities of each step.
    filtered: &'a mut [T],
    /// Densities of each observation, the largest of each step being 1.
    seen: &'a mut [T],
    /// What each step was divided by.
    scales: &'a mut [T],
}

impl<'a, T> Room<'a, T> {
    fn new(saved: &'a mut [T], dims: &[&[usize]]) -> Self {
        let (k, n) = (dims[0][0], dims[2][0]);
        let mut rest = saved;
        let mut next = |len: usize| {
            let (head, tail) = std::mem::take(&mut rest).split_at_mut(len);
            rest = tail;
            head
        };
        Room {
            start: next(k),
            moves: next(k * k),
            counts: next(k * k),
            first: next(k),
            back: next(k),
            filtered: next(n * k),
            seen: next(n * k),
            scales: next(n),
        }
    }
}

wide! {
    /// The forward sweep: filtered probabilities and the log of their scale.
    fn filter<'a, T>(room: Room<'a, T>, log_seen: Arg<'a, T>, total: &'a mut T) {
        let k = room.start.len();
        let (zero, lowest) = (T::zero(), T::splat(f64::NEG_INFINITY));
        *total = zero;
        for t in 0..room.scales.len() {
            let top = (0..k).fold(lowest, |m, j| m.max(log_seen.get(t * k + j))).detach();
            let top = top.if_equal(lowest, zero, top);
            let (before, now) = room.filtered.split_at_mut(t * k);
            let now = &mut now[..k];
            if t == 0 {
                now.copy_from_slice(room.start);
            } else {
                now.fill(zero);
                for (j, &p) in before[(t - 1) * k..].iter().enumerate() {
                    axpy(p, &room.moves[j * k..(j + 1) * k], now);
                }
            }
            let mut scale = zero;
            for (j, x) in now.iter_mut().enumerate() {
                let e = (log_seen.get(t * k + j) - top).exp();
                room.seen[t * k + j] = e;
                *x = *x * e;
                scale += *x;
            }
            room.scales[t] = scale;
            let r = inverse(scale);
            now.iter_mut().for_each(|x| *x = *x * r);
            *total += top + scale.ln();
        }
    }
}

wide! {
    /// The backward sweep: slopes of the log sum in everything.
    fn smooth<'a, T>(room: Room<'a, T>, up: T, seen_adjoint: Adjoint<'a, T>) {
        let k = room.start.len();
        let back = room.back;
        back.fill(T::one());
        room.counts.fill(T::zero());
        room.first.fill(T::zero());
        for t in (0..room.scales.len()).rev() {
            let now = &room.filtered[t * k..(t + 1) * k];
            if let Some(adjoint) = seen_adjoint {
                (0..k).for_each(|j| accumulate(adjoint, t * k + j, up * now[j] * back[j]));
            }
            let r = inverse(room.scales[t]);
            for (b, &e) in back.iter_mut().zip(&room.seen[t * k..]) {
                *b = *b * e * r;
            }
            if t == 0 {
                room.first.copy_from_slice(back);
                return;
            }
            let before = &room.filtered[(t - 1) * k..t * k];
            for (j, &p) in before.iter().enumerate() {
                axpy(p, back, &mut room.counts[j * k..(j + 1) * k]);
            }
            // The slopes in the start are free until the last step: they hold the next `back`.
            for j in 0..k {
                room.first[j] = dot(&room.moves[j * k..(j + 1) * k], back);
            }
            back.copy_from_slice(room.first);
        }
    }
}

/// 1 / x, or 0 for 0: where nothing is possible the log sum is minus infinity and slopes mean nothing.
#[inline(always)]
fn inverse<T: Packed>(x: T) -> T {
    x.if_equal(T::zero(), T::zero(), x.recip())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forward(start: &[f64], moves: &[f64], seen: &[f64]) -> f64 {
        let (k, n) = (start.len(), seen.len() / start.len());
        let (op, dims) = (HmmForward { probabilities: true }, [&[k][..], &[k, k], &[n, k]]);
        let (mut saved, mut out) = (vec![0.0; Kernel::saved(&op, &dims)], [0.0]);
        let args = [start, moves, seen].map(Arg::Const);
        let mut cx: Forward<f64> = Forward { args: &args, dims: &dims, out: &mut out, saved: &mut saved };
        Kernel::forward(&op, &mut cx);
        out[0]
    }

    #[test]
    fn the_sum_over_all_paths() {
        let (start, moves) = ([0.3, 0.7], [0.9, 0.1, 0.25, 0.75]);
        let seen: [f64; 8] = [-0.3, -1.2, -3.5, -0.7, -0.4, 1.9, -3.0, -2.0];
        let total: f64 = (0..16)
            .map(|path| {
                let state = |t: usize| (path >> t) & 1;
                let first = start[state(0)] * seen[state(0)].exp();
                (1..4)
                    .fold(first, |p, t| p * moves[state(t - 1) * 2 + state(t)] * seen[t * 2 + state(t)].exp())
            })
            .sum();
        assert!((forward(&start, &moves, &seen) - total.ln()).abs() < 1e-14);
    }

    #[test]
    fn densities_far_from_one_and_impossible_states() {
        let (start, moves) = ([0.5, 0.5], [1.0, 0.0, 0.5, 0.5]);
        // Nothing underflows, however small the densities are.
        let far = forward(&start, &moves, &[-2000.0; 8]);
        assert!((far + 8000.0).abs() < 1e-9, "{far}");
        assert_eq!(
            forward(&start, &moves, &[0.0, 0.0, f64::NEG_INFINITY, f64::NEG_INFINITY]),
            f64::NEG_INFINITY
        );
        assert_eq!(forward(&[1.0, 0.0], &moves, &[0.0, 0.0, f64::NEG_INFINITY, 0.0]), f64::NEG_INFINITY);
    }
}
