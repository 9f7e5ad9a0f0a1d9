//! Cumulative probabilities of counts, summed term by term outwards, in log space, with their slopes.
//!
//! The side of `x` that does not hold the mean is summed; the other is one minus it. So both log P(X ≤ x) and
//! log P(X > x) keep their relative accuracy however small they are, and slopes in every argument come from
//! the same sum, weighted by the slopes of the log probabilities.

use crate::num::real::{Packed, Real};
use crate::ops::scalar::ScalarRow;

/// What the sums need to know of a distribution of counts with `N` arguments.
pub(super) trait Counts<const N: usize> {
    /// log P(X = k).
    fn log_pmf<T: Real>(k: T, a: [T; N]) -> T;
    /// P(X = k + 1) / P(X = k), as numerator and denominator; the numerator is 0 at the last k, the
    /// denominator at -1.
    fn ratio<T: Real>(k: T, a: [T; N]) -> (T, T);
    /// The derivative of log P(X = k) in each argument.
    fn score<T: Real>(k: T, a: [T; N]) -> [T; N];
    /// The score at k + 1 less the score at k.
    fn score_step<T: Real>(k: T, a: [T; N]) -> [T; N];
    /// The mean, which decides what side is summed.
    fn mean(a: [f64; N]) -> f64;
    /// The largest possible value.
    fn last(_: [f64; N]) -> f64 {
        f64::INFINITY
    }
    /// Whether the probabilities rise to one peak and fall: then a sum may stop where terms no longer count.
    fn one_peak(_: [f64; N]) -> bool {
        true
    }
}

/// A log probability and its derivative in each argument.
pub(super) type Side<T, const N: usize> = (T, [T; N]);

/// No sum goes further; what is left is taken to fall off geometrically, as every tail here does so far out.
const MOST_TERMS: usize = 1_000_000;

/// log P(X ≤ x), and its slopes in the arguments after x.
pub(super) fn lcdf<P: Counts<N>, T: Packed, const N: usize>(x: T, a: [T; N]) -> Side<T, N> {
    side::<P, T, N>(x, a, false)
}

/// log P(X > x), and its slopes.
pub(super) fn lccdf<P: Counts<N>, T: Packed, const N: usize>(x: T, a: [T; N]) -> Side<T, N> {
    side::<P, T, N>(x, a, true)
}

/// log P(X ≤ x) for x and the N arguments after it, with its slope in each of these M numbers: 0 in x.
pub(super) fn lcdf_with_slopes<P: Counts<N>, T: Packed, const N: usize, const M: usize>(
    at: [T; M],
) -> Side<T, M> {
    with_x(lcdf::<P, T, N>(at[0], std::array::from_fn(|k| at[k + 1])))
}

/// The same of log P(X > x).
pub(super) fn lccdf_with_slopes<P: Counts<N>, T: Packed, const N: usize, const M: usize>(
    at: [T; M],
) -> Side<T, M> {
    with_x(lccdf::<P, T, N>(at[0], std::array::from_fn(|k| at[k + 1])))
}

fn with_x<T: Packed, const N: usize, const M: usize>((y, slopes): Side<T, N>) -> Side<T, M> {
    (y, std::array::from_fn(|k| if k == 0 { T::zero() } else { slopes[k - 1] }))
}

/// Draw by draw: sums differ in length, and one copy of the code for each kind of number is enough of it.
fn side<P: Counts<N>, T: Packed, const N: usize>(x: T, a: [T; N], upper: bool) -> Side<T, N> {
    alone::<P, T, N>(x, a, upper)
}

/// The same of one draw.
#[inline(never)]
fn alone<P: Counts<N>, T: Packed, const N: usize>(x: T, a: [T; N], upper: bool) -> Side<T, N> {
    let x = x.lift1(f64::floor, |_| 0.0);
    let (at, args) = (x.lane(0), a.map(|a| a.lane(0)));
    let certain =
        |certain: bool| (if certain { T::zero() } else { T::splat(f64::NEG_INFINITY) }, [T::zero(); N]);
    // Below the first value and from the last on, one side is certain and the other impossible.
    if at < 0.0 {
        return certain(upper);
    }
    if at >= P::last(args) {
        return certain(!upper);
    }
    let up = at > P::mean(args);
    let summed = sum::<P, T, N>(x, a, up);
    if up == upper { summed } else { complement(summed) }
}

/// log(1 - p) and its slopes, from log p and its slopes.
fn complement<T: Packed, const N: usize>((log, slopes): Side<T, N>) -> Side<T, N> {
    let rest = log.log1m_exp();
    let odds = (log - rest).exp();
    (rest, slopes.map(|s| -(odds * s)))
}

/// The log of the sum of P(X = k) from x downwards or from x + 1 upwards, with slopes.
fn sum<P: Counts<N>, T: Packed, const N: usize>(x: T, a: [T; N], up: bool) -> Side<T, N> {
    let smallest = if P::one_peak(a.map(|a| a.lane(0))) { 1e-18 } else { 0.0 };
    let step = if up { 1.0 } else { -1.0 };
    let first = if up { x.shift(1.0) } else { x };
    let (mut k, mut term, mut total) = (first, T::one(), T::one());
    let mut score = P::score(first, a);
    let mut slopes = score;
    for count in 1..=MOST_TERMS {
        let next = k.shift(step);
        let low = if up { k } else { next };
        let (num, den) = P::ratio(low, a);
        let (num, den) = if up { (num, den) } else { (den, num) };
        term = num.if_equal(T::zero(), T::zero(), term * num / den);
        let change = P::score_step(low, a);
        let counts = term.lane(0) > smallest * total.lane(0);
        if !counts {
            break;
        }
        total += term;
        for j in 0..N {
            score[j] += change[j].scale(step);
            slopes[j] += term * score[j];
        }
        k = next;
        if count == MOST_TERMS {
            let rest = term * num / (den - num);
            total += rest;
            (0..N).for_each(|j| slopes[j] += rest * score[j]);
        }
    }
    (P::log_pmf(first, a) + total.ln(), slopes.map(|s| s / total))
}

/// A row's value at one point.
pub(super) fn at(row: &ScalarRow, x: f64, args: &[f64]) -> f64 {
    let mut all = vec![x];
    all.extend(args);
    row.at(&all)
}

/// The smallest integer x ≥ 0 with P(X ≤ x) ≥ p, by doubling from a first guess and halving. Probabilities
/// that agree to 1e-13 count as equal, so that the quantile of P(X ≤ x) is x whatever the rounding.
pub(super) fn quantile(p: f64, guess: f64, args: &[f64], lcdf: &ScalarRow, lccdf: &ScalarRow) -> f64 {
    if !(0.0..=1.0).contains(&p) || args.iter().any(|a| a.is_nan()) {
        return f64::NAN;
    }
    // 1 - p is no better known than to the spacing of numbers near p.
    let beyond = (1.0 - p) * (1.0 + 1e-13) + f64::EPSILON;
    let enough = |x: f64| {
        if p < 0.5 { at(lcdf, x, args) >= p.ln() - 1e-13 } else { at(lccdf, x, args).exp() <= beyond }
    };
    let (mut low, mut high) = (-1.0, guess.max(1.0).ceil());
    while !enough(high) {
        low = high;
        high *= 2.0;
        if high > 1e15 {
            return f64::INFINITY;
        }
    }
    while high - low > 1.0 {
        let middle = ((low + high) / 2.0).floor();
        if enough(middle) { high = middle } else { low = middle }
    }
    high
}
