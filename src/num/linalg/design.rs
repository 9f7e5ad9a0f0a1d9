//! Rows of a constant matrix times a vector of scalars with lanes, and back: the linear predictor of a regression.
//!
//! Sums of products of one block of rows (or columns, on the way back) stay in registers. Everything is inlined into the
//! kernel around it, which is compiled for the instruction set of the processor.

use crate::num::linalg::product::dot;
use crate::num::real::Real;
use std::any::TypeId;
use std::cell::Cell;

/// Rows or columns whose sums stay in registers.
const BLOCK: usize = 8;

/// How many rows ahead of use the matrix is fetched from memory.
const AHEAD: usize = 64;

/// Asks for a cache line; any address will do.
#[inline(always)]
fn fetch(at: *const f64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint that never faults, and every processor of this architecture has it.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// The sum of all, in four sums side by side that do not wait for each other.
#[inline(always)]
pub fn total<U: Real>(x: &[U]) -> U {
    let mut sums = [U::zero(); 4];
    let (fours, rest) = x.as_chunks::<4>();
    for four in fours {
        for j in 0..4 {
            sums[j] += four[j];
        }
    }
    let mut sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for &x in rest {
        sum += x;
    }
    sum
}

/// `out[r] += Σ_c x[r, c] v[c]` for a row-major matrix of `v.len()` columns.
#[inline(always)]
pub fn add_rows<U: Real>(x: &[f64], v: &[U], out: &mut [U]) {
    let k = v.len();
    if k == 0 {
        return;
    }
    if let (Some(v), Some(out)) = (plain(v), plain_mut(out)) {
        for (o, row) in out.iter_mut().zip(x.chunks_exact(k)) {
            *o += dot(row, v);
        }
        return;
    }
    let mut blocks = out.chunks_exact_mut(BLOCK);
    let mut rows = x.chunks_exact(BLOCK * k);
    for (out, x) in (&mut blocks).zip(&mut rows) {
        row_block::<U, BLOCK>(x, v, out);
    }
    let done = x.len() / k / BLOCK * BLOCK;
    for (out, x) in blocks.into_remainder().chunks_exact_mut(1).zip(x[done * k..].chunks_exact(k)) {
        row_block::<U, 1>(x, v, out);
    }
}

#[inline(always)]
fn row_block<U: Real, const R: usize>(x: &[f64], v: &[U], out: &mut [U]) {
    let k = v.len();
    let mut sums = [U::zero(); R];
    let mut rows = [&x[..0]; R];
    for (r, row) in rows.iter_mut().enumerate() {
        *row = &x[r * k..(r + 1) * k];
    }
    let ahead = x.as_ptr().wrapping_add(AHEAD * k);
    for (c, &v) in v.iter().enumerate() {
        // A block of eight rows is as many cache lines as there are columns: one each time.
        if R == BLOCK {
            fetch(ahead.wrapping_add(c * BLOCK));
        }
        for r in 0..R {
            sums[r] = sums[r].add_scaled(rows[r][c], v);
        }
    }
    for r in 0..R {
        out[r] += sums[r];
    }
}

/// `into[c] += Σ_r x[r, c] up[r]` for a row-major matrix of `into.len()` columns.
#[inline(always)]
pub fn add_columns<U: Real>(x: &[f64], up: &[U], into: &[Cell<U>]) {
    let k = into.len();
    if k == 0 {
        return;
    }
    if let Some(up) = plain(up) {
        for (row, &u) in x.chunks_exact(k).zip(up) {
            for (g, &x) in into.iter().zip(row) {
                g.set(g.get() + U::splat(x * u));
            }
        }
        return;
    }
    let mut c = 0;
    while c + BLOCK <= k {
        column_block::<U, BLOCK>(x, k, c, up, into);
        c += BLOCK;
    }
    // Sums side by side hide how long each addition takes: the rest in one block too.
    match k - c {
        1 => column_block::<U, 1>(x, k, c, up, into),
        2 => column_block::<U, 2>(x, k, c, up, into),
        3 => column_block::<U, 3>(x, k, c, up, into),
        4 => column_block::<U, 4>(x, k, c, up, into),
        5 => column_block::<U, 5>(x, k, c, up, into),
        6 => column_block::<U, 6>(x, k, c, up, into),
        7 => column_block::<U, 7>(x, k, c, up, into),
        _ => {}
    }
}

#[inline(always)]
fn column_block<U: Real, const C: usize>(x: &[f64], k: usize, c: usize, up: &[U], into: &[Cell<U>]) {
    let into = &into[c..c + C];
    let mut sums = [U::zero(); C];
    for j in 0..C {
        sums[j] = into[j].get();
    }
    for (row, &u) in x.chunks_exact(k).zip(up) {
        let row = &row[c..c + C];
        for j in 0..C {
            sums[j] = sums[j].add_scaled(row[j], u);
        }
    }
    for j in 0..C {
        into[j].set(sums[j]);
    }
}

/// The slice as plain numbers, where `U` is one.
#[inline(always)]
fn plain<U: Real>(x: &[U]) -> Option<&[f64]> {
    // SAFETY: the types are the same; so below.
    if TypeId::of::<U>() != TypeId::of::<f64>() {
        return None;
    }
    Some(unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len()) })
}

#[inline(always)]
fn plain_mut<U: Real>(x: &mut [U]) -> Option<&mut [f64]> {
    if TypeId::of::<U>() != TypeId::of::<f64>() {
        return None;
    }
    Some(unsafe { std::slice::from_raw_parts_mut(x.as_mut_ptr().cast(), x.len()) })
}
