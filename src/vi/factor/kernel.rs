//! The inner loops of the factors, over contiguous slices, in an order of additions that never changes.

use crate::num::dispatch::{Work, best};

/// Runs loops compiled for the widest vectors of this processor.
pub(super) fn wide(loops: impl FnOnce()) {
    struct Loops<F>(F);
    impl<F: FnOnce()> Work for Loops<F> {
        type Out = ();
        #[inline(always)]
        fn run(self) {
            (self.0)();
        }
    }
    best(Loops(loops));
}

/// y += a x
#[inline(always)]
pub(super) fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Columns that are worked on at a time, so that this part of sixteen draws stays in the first-level cache.
pub(super) const TILE: usize = 128;

/// The tiles of 0..n.
#[inline(always)]
pub(super) fn tiles(n: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..n).step_by(TILE).map(move |first| first..(first + TILE).min(n))
}

/// y += Σ_{k < count} a(k) row(k), rows as long as y; four rows a pass, so that `y` is read and written a quarter as often.
#[inline(always)]
pub(super) fn combine<'a>(
    a: impl Fn(usize) -> f64,
    row: impl Fn(usize) -> &'a [f64],
    count: usize,
    y: &mut [f64],
) {
    let mut k = 0;
    while k + 4 <= count {
        let (a0, a1, a2, a3) = (a(k), a(k + 1), a(k + 2), a(k + 3));
        let (x0, x1, x2, x3) = (row(k), row(k + 1), row(k + 2), row(k + 3));
        for ((((y, x0), x1), x2), x3) in y.iter_mut().zip(x0).zip(x1).zip(x2).zip(x3) {
            *y += (a0 * x0 + a1 * x1) + (a2 * x2 + a3 * x3);
        }
        k += 4;
    }
    for k in k..count {
        axpy(a(k), row(k), y);
    }
}

/// The larger root of `x² - ĉ x - γ = 0`: the minimiser of `-log x + (x - ĉ)²/(2γ)` over x > 0. Written so that a large
/// negative ĉ loses no digits.
#[inline(always)]
pub(super) fn prox_of_minus_log(c: f64, gamma: f64) -> f64 {
    let root = c.hypot(2.0 * gamma.sqrt());
    if c >= 0.0 { 0.5 * (c + root) } else { 2.0 * gamma / (root - c) }
}
