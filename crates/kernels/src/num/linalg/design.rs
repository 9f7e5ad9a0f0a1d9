//! Rows of a constant matrix times a vector of scalars with lanes, and back: the linear predictor of a
//! regression.
//!
//! Sums of products of one block of rows (or columns, on the way back) stay in registers. Everything is
//! inlined into the kernel around it, which is compiled for the instruction set of the processor.

use crate::num::dispatch::{LaneWork, View, Work, best, best_lanes};
use crate::num::linalg::product::dot;
use crate::num::real::{F8, LANES, Packed};
use std::any::TypeId;
use std::cell::Cell;
use std::sync::OnceLock;

/// Rows or columns whose sums stay in registers.
const BLOCK: usize = 8;

/// How many rows ahead of use the matrix is fetched from memory.
const AHEAD: usize = 64;

/// How much of the rows ahead is asked for on the way through these. A processor waits for a dozen lines at a
/// time and no more: where the same rows are gone through forwards and back, each way asks for half of what
/// comes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fetch {
    /// All of it: there is no other way.
    All,
    /// The first half on the way forwards, the second on the way back.
    Half,
}

/// Cache lines ahead that are still to be asked for.
struct Lines {
    next: *const f64,
    /// Whether every turn asks for one, or every other.
    each: bool,
}

impl Lines {
    /// Those ahead of the rows of a matrix with k columns.
    #[inline(always)]
    fn ahead(x: &[f64], k: usize, fetch: Fetch) -> Self {
        Self { next: x.as_ptr().wrapping_add(AHEAD * k), each: fetch == Fetch::All }
    }

    /// Turn `i` of about as many as there are lines.
    #[inline(always)]
    fn turn(&mut self, i: usize) {
        if self.each || i.is_multiple_of(2) {
            fetch(self.next);
            self.next = self.next.wrapping_add(LINE);
        }
    }

    /// As many turns as a row of k numbers has lines. The processor sees by itself that short rows are read
    /// in order.
    #[inline(always)]
    fn row(&mut self, k: usize) {
        if k < LONG {
            return;
        }
        for i in 0..k.div_ceil(LINE) {
            self.turn(i);
        }
    }
}

/// Numbers of a cache line.
const LINE: usize = 8;

/// Numbers from which a row is long.
const LONG: usize = 32;

/// Asks for what lies as many rows ahead of the first n numbers of an array with one for each row: between
/// the lines of a matrix the processor does not see that it is read in order.
#[inline(always)]
pub fn fetch_beside(x: &[f64], n: usize) {
    for i in (0..n.min(AHEAD)).step_by(LINE) {
        fetch(x.as_ptr().wrapping_add(AHEAD + i));
    }
}

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
pub fn total<U: Packed>(x: &[U]) -> U {
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
pub fn add_rows<U: Packed>(x: &[f64], v: &[U], out: &mut [U], fetch: Fetch) {
    let k = v.len();
    if k == 0 {
        return;
    }
    let mut lines = Lines::ahead(x, k, fetch);
    if let (Some(v), Some(out)) = (plain(v), plain_mut(out)) {
        return best(PlainRows { x, v, out, lines });
    }
    let mut blocks = out.chunks_exact_mut(BLOCK);
    let mut rows = x.chunks_exact(BLOCK * k);
    for (out, x) in (&mut blocks).zip(&mut rows) {
        row_block::<U, BLOCK>(x, v, out, &mut lines);
    }
    let done = x.len() / k / BLOCK * BLOCK;
    for (out, x) in blocks.into_remainder().chunks_exact_mut(1).zip(x[done * k..].chunks_exact(k)) {
        row_block::<U, 1>(x, v, out, &mut lines);
    }
}

#[inline(always)]
fn row_block<U: Packed, const R: usize>(x: &[f64], v: &[U], out: &mut [U], lines: &mut Lines) {
    let k = v.len();
    let mut sums = [U::zero(); R];
    let mut rows = [&x[..0]; R];
    for (r, row) in rows.iter_mut().enumerate() {
        *row = &x[r * k..(r + 1) * k];
    }
    for (c, &v) in v.iter().enumerate() {
        // A block of eight rows is as many cache lines as there are columns.
        if R == BLOCK {
            lines.turn(c);
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
pub fn add_columns<U: Packed>(x: &[f64], up: &[U], into: &[Cell<U>], fetch: Fetch) {
    let k = into.len();
    if k == 0 {
        return;
    }
    let mut lines = Lines::ahead(x, k, fetch);
    if fetch == Fetch::Half {
        lines.next = lines.next.wrapping_add(x.len() / 2);
    }
    if let (Some(up), Some(into)) = (plain(up), plain_cells(into)) {
        return best(PlainColumns { x, up, into, lines });
    }
    columns_from(0, x, up, into, &mut lines);
}

/// The columns from c on.
#[inline(always)]
fn columns_from<U: Packed>(mut c: usize, x: &[f64], up: &[U], into: &[Cell<U>], lines: &mut Lines) {
    let k = into.len();
    while c + BLOCK <= k {
        column_block::<U, BLOCK>(x, k, c, up, into, lines);
        c += BLOCK;
    }
    // Sums side by side hide how long each addition takes: the rest in one block too.
    match k - c {
        1 => column_block::<U, 1>(x, k, c, up, into, lines),
        2 => column_block::<U, 2>(x, k, c, up, into, lines),
        3 => column_block::<U, 3>(x, k, c, up, into, lines),
        4 => column_block::<U, 4>(x, k, c, up, into, lines),
        5 => column_block::<U, 5>(x, k, c, up, into, lines),
        6 => column_block::<U, 6>(x, k, c, up, into, lines),
        7 => column_block::<U, 7>(x, k, c, up, into, lines),
        _ => {}
    }
}

#[inline(always)]
fn column_block<U: Packed, const C: usize>(
    x: &[f64],
    k: usize,
    c: usize,
    up: &[U],
    into: &[Cell<U>],
    lines: &mut Lines,
) {
    let into = &into[c..c + C];
    let mut sums = [U::zero(); C];
    for j in 0..C {
        sums[j] = into[j].get();
    }
    // By index: iterators over rows keep their state on the stack here.
    for (r, &u) in up.iter().enumerate() {
        for _ in 0..C / BLOCK {
            lines.turn(r);
        }
        let row = &x[r * k + c..r * k + c + C];
        for j in 0..C {
            sums[j] = sums[j].add_scaled(row[j], u);
        }
    }
    for j in 0..C {
        into[j].set(sums[j]);
    }
}

/// [`add_rows`] for one draw: the compiler puts numbers side by side into registers.
struct PlainRows<'a> {
    x: &'a [f64],
    v: &'a [f64],
    out: &'a mut [f64],
    lines: Lines,
}

impl Work for PlainRows<'_> {
    type Out = ();

    #[inline(always)]
    fn run(mut self) {
        let k = self.v.len();
        for (o, row) in self.out.iter_mut().zip(self.x.chunks_exact(k)) {
            self.lines.row(k);
            *o += dot(row, self.v);
        }
    }
}

/// [`add_columns`] for one draw.
struct PlainColumns<'a> {
    x: &'a [f64],
    up: &'a [f64],
    into: &'a [Cell<f64>],
    lines: Lines,
}

impl Work for PlainColumns<'_> {
    type Out = ();

    #[inline(always)]
    fn run(mut self) {
        const WIDE: usize = 4 * BLOCK;
        let (k, mut c) = (self.into.len(), 0);
        while c + WIDE <= k {
            column_block::<f64, WIDE>(self.x, k, c, self.up, self.into, &mut self.lines);
            c += WIDE;
        }
        columns_from(c, self.x, self.up, self.into, &mut self.lines);
    }
}

/// A narrow matrix column by column, for one draw: rows stand side by side in registers.
#[derive(Clone, Debug, Default)]
pub struct ByColumn(OnceLock<Box<[f64]>>);

impl ByColumn {
    /// Most columns of a narrow matrix: the rows of a wider one fill registers by themselves.
    pub const MOST: usize = 24;

    /// Columns of a row-major matrix, where it is narrow; brought together when they are first asked for.
    fn of(&self, x: &[f64], columns: usize) -> Option<&[f64]> {
        let rows = x.len() / columns.max(1);
        (columns <= Self::MOST && rows >= 2 * LANES).then(|| {
            &**self
                .0
                .get_or_init(|| (0..columns * rows).map(|at| x[at % rows * columns + at / rows]).collect())
        })
    }

    /// [`add_rows`] for rows from `start` on, if the matrix is narrow and `U` is one draw.
    #[inline(always)]
    pub fn add_rows<U: Packed>(&self, x: &[f64], start: usize, v: &[U], out: &mut [U]) -> Option<()> {
        let (v, out) = (plain(v)?, plain_mut(out)?);
        let columns = self.of(x, v.len())?;
        best_lanes(NarrowRows { columns, rows: x.len() / v.len(), start, v, out });
        Some(())
    }

    /// [`add_columns`] for rows from `start` on, likewise.
    #[inline(always)]
    pub fn add_columns<U: Packed>(&self, x: &[f64], start: usize, up: &[U], into: &[Cell<U>]) -> Option<()> {
        let (up, into) = (plain(up)?, plain_cells(into)?);
        let columns = self.of(x, into.len())?;
        best_lanes(NarrowColumns { columns, rows: x.len() / into.len(), start, up, into });
        Some(())
    }
}

/// Eights of rows whose sums stay in registers.
const EIGHTS: usize = 4;

struct NarrowRows<'a> {
    columns: &'a [f64],
    rows: usize,
    start: usize,
    v: &'a [f64],
    out: &'a mut [f64],
}

impl LaneWork<F8> for NarrowRows<'_> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<F8, U>) {
        // By index: iterators side by side are functions of their own here.
        let (out, rest) = self.out.as_chunks_mut::<LANES>();
        let (k, mut i) = (self.v.len(), 0);
        while i + EIGHTS <= out.len() {
            let mut sums = [U::zero(); EIGHTS];
            for c in 0..k {
                let from = c * self.rows + self.start + i * LANES;
                let (column, v) = (&self.columns[from..from + EIGHTS * LANES], U::splat(self.v[c]));
                for j in 0..EIGHTS {
                    sums[j] = view.load(eight(column, j)).mul_add(v, sums[j]);
                }
            }
            for j in 0..EIGHTS {
                let to = &mut out[i + j];
                view.store(view.load(to) + sums[j], to);
            }
            i += EIGHTS;
        }
        while i < out.len() {
            let mut sum = U::zero();
            for c in 0..k {
                let column = &self.columns[c * self.rows + self.start + i * LANES..];
                sum = view.load(eight(column, 0)).mul_add(U::splat(self.v[c]), sum);
            }
            let to = &mut out[i];
            view.store(view.load(to) + sum, to);
            i += 1;
        }
        if rest.is_empty() {
            return;
        }
        let mut sum = U::zero();
        for c in 0..k {
            let from = c * self.rows + self.start + i * LANES;
            let mut x = [0.0; LANES];
            x[..rest.len()].copy_from_slice(&self.columns[from..from + rest.len()]);
            sum = view.load(&x).mul_add(U::splat(self.v[c]), sum);
        }
        for lane in 0..rest.len() {
            rest[lane] += sum.lane(lane);
        }
    }
}

/// Eight numbers of a slice, the j-th.
#[inline(always)]
fn eight(x: &[f64], j: usize) -> &[f64; LANES] {
    x[j * LANES..].first_chunk().expect("as many numbers as were asked for")
}

struct NarrowColumns<'a> {
    columns: &'a [f64],
    rows: usize,
    start: usize,
    up: &'a [f64],
    into: &'a [Cell<f64>],
}

impl LaneWork<F8> for NarrowColumns<'_> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<F8, U>) {
        let eights = self.up.len() / LANES;
        for c in 0..self.into.len() {
            let from = c * self.rows + self.start;
            let column = &self.columns[from..from + self.up.len()];
            // Sums side by side hide how long each addition takes.
            let (mut sums, mut i) = ([U::zero(); EIGHTS], 0);
            while i + EIGHTS <= eights {
                for j in 0..EIGHTS {
                    let x = view.load(eight(column, i + j));
                    sums[j] = x.mul_add(view.load(eight(self.up, i + j)), sums[j]);
                }
                i += EIGHTS;
            }
            while i < eights {
                sums[0] = view.load(eight(column, i)).mul_add(view.load(eight(self.up, i)), sums[0]);
                i += 1;
            }
            let x = view.back((sums[0] + sums[1]) + (sums[2] + sums[3])).0;
            let mut sum = ((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7]));
            for r in eights * LANES..self.up.len() {
                sum += column[r] * self.up[r];
            }
            self.into[c].set(self.into[c].get() + sum);
        }
    }
}

/// The slice as plain numbers, where `U` is one.
#[inline(always)]
fn plain<U: Packed>(x: &[U]) -> Option<&[f64]> {
    if TypeId::of::<U>() != TypeId::of::<f64>() {
        return None;
    }
    // SAFETY: `U` is f64, as was just seen.
    Some(unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len()) })
}

#[inline(always)]
fn plain_mut<U: Packed>(x: &mut [U]) -> Option<&mut [f64]> {
    if TypeId::of::<U>() != TypeId::of::<f64>() {
        return None;
    }
    // SAFETY: `U` is f64, as was just seen; the new slice borrows as the old one did.
    Some(unsafe { std::slice::from_raw_parts_mut(x.as_mut_ptr().cast(), x.len()) })
}

#[inline(always)]
fn plain_cells<U: Packed>(x: &[Cell<U>]) -> Option<&[Cell<f64>]> {
    if TypeId::of::<U>() != TypeId::of::<f64>() {
        return None;
    }
    // SAFETY: `U` is f64, as was just seen: the cells stay what they were.
    Some(unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len()) })
}
