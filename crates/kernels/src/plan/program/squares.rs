//! Sums of weighted squares: the value, and in the same pass what it hands on.
//!
//! Each function gives the sum and, with `SLOPES`, adds its slopes times `up` to the adjoints. Its loop is
//! compiled once for the shape of arguments that models have most often, and once for all others.

use super::back::{Slope, hand_on_slope, settle};
use super::{
    ANY, EACH, EACH_KNOWN, Instruction, Kind, ONE, ONE_KNOWN, Shift, fits, is_varying, read, read_first,
    shape,
};
use crate::num::real::Packed;
use std::cell::Cell;

/// A number for each element, with adjoints that are set.
const EACH_FRESH: Kind = Kind { fresh: true, ..EACH };

/// Coordinates with one scale, and with a scale for each.
const COORDINATES: u16 = shape(&[EACH, ONE_KNOWN]);
const FRESH_COORDINATES: u16 = shape(&[EACH_FRESH, ONE_KNOWN]);
const SCALED: u16 = shape(&[EACH, EACH_KNOWN]);
const FRESH_SCALED: u16 = shape(&[EACH_FRESH, EACH_KNOWN]);

/// Data with known errors about mu + tau · z.
const NONCENTRED: u16 = shape(&[EACH_KNOWN, ONE, EACH, ONE, EACH_KNOWN]);
const FRESH_NONCENTRED: u16 = shape(&[EACH_KNOWN, ONE, EACH_FRESH, ONE, EACH_KNOWN]);

/// Where an instruction reads, and where it hands its slopes on.
#[derive(Clone, Copy)]
pub(super) struct Buffers<'a, U> {
    pub(super) values: &'a [Cell<U>],
    pub(super) adjoints: &'a [Cell<U>],
}

/// Whether loops are compiled for the usual shapes too: where a number is many registers, which are aligned
/// to their size, or where its place moves, what a loop could do without is little of what it does.
const fn is_shaped<U: Packed, S: Shift>() -> bool {
    S::STILL && !U::TANGENT && size_of::<U>() <= 4 * align_of::<U>()
}

/// Σ -w a² / 2
#[inline(always)]
pub(super) fn squares<U: Packed, S: Shift, const SLOPES: bool>(
    i: &Instruction,
    shift: S,
    buffers: Buffers<U>,
    up: U,
) -> U {
    if const { !is_shaped::<U, S>() } {
        return sum::<U, Plain, 2, SLOPES, ANY>(i, shift, buffers, up);
    }
    match i.shape {
        COORDINATES => sum::<U, Plain, 2, SLOPES, COORDINATES>(i, shift, buffers, up),
        FRESH_COORDINATES => sum::<U, Plain, 2, SLOPES, FRESH_COORDINATES>(i, shift, buffers, up),
        SCALED => sum::<U, Plain, 2, SLOPES, SCALED>(i, shift, buffers, up),
        FRESH_SCALED => sum::<U, Plain, 2, SLOPES, FRESH_SCALED>(i, shift, buffers, up),
        _ => sum::<U, Plain, 2, SLOPES, ANY>(i, shift, buffers, up),
    }
}

/// Σ -w (x - mu)² / 2
#[inline(always)]
pub(super) fn quadratic<U: Packed, const SLOPES: bool>(
    i: &Instruction,
    shift: impl Shift,
    buffers: Buffers<U>,
    up: U,
) -> U {
    sum::<U, Difference, 3, SLOPES, ANY>(i, shift, buffers, up)
}

/// Σ -w (x - (a · b + c))² / 2
#[inline(always)]
pub(super) fn affine<U: Packed, S: Shift, const SLOPES: bool>(
    i: &Instruction,
    shift: S,
    buffers: Buffers<U>,
    up: U,
) -> U {
    if const { !is_shaped::<U, S>() } {
        return sum::<U, Residual, 5, SLOPES, ANY>(i, shift, buffers, up);
    }
    match i.shape {
        NONCENTRED => sum::<U, Residual, 5, SLOPES, NONCENTRED>(i, shift, buffers, up),
        FRESH_NONCENTRED => sum::<U, Residual, 5, SLOPES, FRESH_NONCENTRED>(i, shift, buffers, up),
        _ => sum::<U, Residual, 5, SLOPES, ANY>(i, shift, buffers, up),
    }
}

/// What is squared, a function of all arguments but the last, which is the weight.
trait Squared<const N: usize> {
    /// Its value.
    fn value<U: Packed>(x: [U; N]) -> U;
    /// Minus its slopes times `by`; that in the weight means nothing.
    fn slopes<U: Packed>(x: [U; N], by: U) -> [Slope<U>; N];
}

/// a
struct Plain;

impl Squared<2> for Plain {
    #[inline(always)]
    fn value<U: Packed>([a, _]: [U; 2]) -> U {
        a
    }

    #[inline(always)]
    fn slopes<U: Packed>(_: [U; 2], by: U) -> [Slope<U>; 2] {
        [Slope::Minus(by); 2]
    }
}

/// x - mu
struct Difference;

impl Squared<3> for Difference {
    #[inline(always)]
    fn value<U: Packed>([x, mu, _]: [U; 3]) -> U {
        x - mu
    }

    #[inline(always)]
    fn slopes<U: Packed>(_: [U; 3], by: U) -> [Slope<U>; 3] {
        [Slope::Minus(by), Slope::Plain(by), Slope::Plain(by)]
    }
}

/// x - (a · b + c)
struct Residual;

impl Squared<5> for Residual {
    #[inline(always)]
    fn value<U: Packed>([x, a, b, c, _]: [U; 5]) -> U {
        x - a.mul_add(b, c)
    }

    #[inline(always)]
    fn slopes<U: Packed>([_, a, b, _, _]: [U; 5], by: U) -> [Slope<U>; 5] {
        [Slope::Minus(by), Slope::Product(by, b), Slope::Product(by, a), Slope::Plain(by), Slope::Plain(by)]
    }
}

#[inline(always)]
fn sum<U: Packed, S: Squared<N>, const N: usize, const SLOPES: bool, const SHAPE: u16>(
    i: &Instruction,
    shift: impl Shift,
    Buffers { values, adjoints }: Buffers<U>,
    up: U,
) -> U {
    assert!(fits::<N, _>(i, shift, values.len()));
    // SAFETY: `fits` has seen that the buffer holds all that the instruction reads.
    let mut x: [U; N] = unsafe { read_first(i, shift, values) };
    let (mut sum, mut sums) = (U::zero(), [U::zero(); N]);
    for k in 0..i.n {
        // SAFETY: k < n, `fits` has seen that the buffer holds what each element reads, and those who name a
        // shape have compared it with that of the instruction.
        unsafe { read::<U, N, SHAPE>(i, shift, values, k, &mut x) };
        let r = S::value(x);
        let weighted = r * x[N - 1];
        sum = weighted.mul_add(r, sum);
        if SLOPES {
            let slopes = S::slopes(x, up * weighted);
            let mut j = 0;
            while j + 1 < N {
                hand_on_slope::<U, N, SHAPE>(i, shift, (j, k), slopes[j], &mut sums, adjoints);
                j += 1;
            }
            if is_varying::<SHAPE>(i, N - 1) {
                let slope = Slope::Minus(up * r.square().scale(0.5));
                hand_on_slope::<U, N, SHAPE>(i, shift, (N - 1, k), slope, &mut sums, adjoints);
            }
        }
    }
    if SLOPES {
        settle(i, shift, &sums, adjoints);
    }
    sum.scale(-0.5)
}
