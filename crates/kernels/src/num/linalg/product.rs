//! The product of two matrices as they are stored: by rows or columns, whole or triangles.
//!
//! It is built from one tile of `ROWS` × `COLUMNS` sums that stays in the registers of the processor.

use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::real::{F8, LANES, Packed, Zero};
use std::cell::RefCell;

/// Rows of a register tile.
const ROWS: usize = 6;
/// Registers of eight lanes in a row of the tile.
const WIDTH: usize = 2;
/// Columns of a register tile.
const COLUMNS: usize = WIDTH * LANES;
/// Inner products are taken in pieces of this length, so that a strip of B stays in the first-level cache.
const DEPTH: usize = 192;
/// Columns of B that are packed together, to stay in the second-level cache.
const WIDE: usize = 32 * COLUMNS;
/// Rows of a transposed A that are packed together.
const TALL: usize = 16 * ROWS;

type Tile<U> = [[U; WIDTH]; ROWS];

/// One row of a packed block of columns of B.
type Strip<U> = [U; WIDTH];

/// One column of a packed block of rows of A.
type Slice = [f64; ROWS];

thread_local! {
    /// Room for packed pieces of B and A, kept from one product to the next.
    static PACKED: RefCell<(Vec<Strip<F8>>, Vec<Slice>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

/// Σ a_i b_i, in eight interleaved partial sums.
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a8.remainder().iter().zip(b8.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a8.zip(b8) {
        for i in 0..8 {
            sums[i] += x[i] * y[i];
        }
    }
    rest + (((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])))
}

/// How the left factor A of a product stands in its slice.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Left {
    /// Element (i, k) is number k of row i.
    Rows,
    /// Element (i, k) is number i of row k: the transpose of what is stored.
    Columns,
    /// As `Rows`, and zero for k > i whatever is stored there.
    LowerRows,
    /// As `Columns`, and zero for k < i whatever is stored there: the transpose of a lower triangle.
    LowerColumns,
}

/// How the right factor B stands in its slice.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Right {
    /// Element (k, j) at `k * stride + j`.
    Rows,
    /// Element (k, j) at `j * stride + k`: the transpose of what is stored.
    Columns,
}

/// Where the rows of a matrix begin in its slice.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Rows {
    /// Row i at `i * stride`.
    Every(usize),
    /// A packed lower triangle from its row `first` on: row i, of `first + i + 1` numbers, follows row i - 1.
    Packed {
        /// The row of the triangle that is row 0 here.
        first: usize,
    },
}

impl Rows {
    /// The place of the first number of row i.
    #[inline(always)]
    pub fn start(self, i: usize) -> usize {
        match self {
            Rows::Every(stride) => i * stride,
            Rows::Packed { first } => i * first + i * (i + 1) / 2,
        }
    }
}

/// Which elements of the result are written.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Part {
    /// Every one.
    All,
    /// Those with j ≤ i.
    Lower,
}

/// C += scale · A · B for an m × n matrix C.
pub(super) struct Product<'a> {
    pub scale: f64,
    pub m: usize,
    pub n: usize,
    pub depth: usize,
    pub left: Left,
    pub a: &'a [f64],
    pub a_rows: Rows,
    pub right: Right,
    pub b: &'a [f64],
    pub b_stride: usize,
    pub part: Part,
    pub c: &'a mut [f64],
    pub c_rows: Rows,
}

/// A product with the room it packs its factors into.
struct Packing<'a> {
    product: Product<'a>,
    b: &'a mut [Strip<F8>],
    a: &'a mut [Slice],
}

impl LaneWork<F8> for Packing<'_> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<F8, U>) {
        let Packing { mut product, b, a } = self;
        let (m, n, depth) = (product.m, product.n, product.depth);
        for start in (0..depth).step_by(DEPTH) {
            let length = DEPTH.min(depth - start);
            for j in (0..n).step_by(WIDE) {
                let end = (j + WIDE).min(n);
                for (block, at) in b.chunks_exact_mut(length).zip((j..end).step_by(COLUMNS)) {
                    product.pack_b(start, at, block);
                }
                let first = match product.part {
                    Part::All => 0,
                    Part::Lower => j / ROWS * ROWS,
                };
                for i in (first..m).step_by(TALL) {
                    product.rows([i, (i + TALL).min(m)], [j, end], [start, length], view.nested(b), a, view);
                }
            }
        }
    }
}

impl Product<'_> {
    /// Adds the product to C.
    pub fn add(self) {
        if self.is_by_vector() { self.add_by_vector() } else { self.add_by_tiles() }
    }

    fn add_by_tiles(self) {
        let length = DEPTH.min(self.depth);
        let strips = length * WIDE.min(self.n).div_ceil(COLUMNS);
        let slices = if self.by_columns() { length * TALL.min(self.m).div_ceil(ROWS) } else { 0 };
        if strips <= 32 && slices <= 32 {
            let (b, a) = (&mut [[F8::zero(); WIDTH]; 32], &mut [[0.0; ROWS]; 32]);
            return best_lanes(Packing { product: self, b, a });
        }
        PACKED.with_borrow_mut(|(b, a)| {
            b.resize(b.len().max(strips), [F8::zero(); WIDTH]);
            a.resize(a.len().max(slices), [0.0; ROWS]);
            best_lanes(Packing { product: self, b, a });
        });
    }

    /// Whether A is stored by columns, so that its tiles must be packed.
    #[inline(always)]
    fn by_columns(&self) -> bool {
        match self.left {
            Left::Rows | Left::LowerRows => false,
            Left::Columns | Left::LowerColumns => true,
        }
    }

    /// Copies columns j..j+COLUMNS of B side by side from row `start` on, with zeros beyond the last column.
    #[inline(always)]
    fn pack_b(&self, start: usize, j: usize, packed: &mut [Strip<F8>]) {
        let width = COLUMNS.min(self.n - j);
        if width < COLUMNS {
            packed.fill([F8::zero(); WIDTH]);
        }
        match self.right {
            Right::Rows => {
                for (k, strip) in packed.iter_mut().enumerate() {
                    let from = &self.b[(start + k) * self.b_stride + j..][..width];
                    for (c, x) in from.iter().enumerate() {
                        strip[c / LANES].0[c % LANES] = *x;
                    }
                }
            }
            Right::Columns => {
                for c in 0..width {
                    let from = &self.b[(j + c) * self.b_stride + start..];
                    for (strip, x) in packed.iter_mut().zip(from) {
                        strip[c / LANES].0[c % LANES] = *x;
                    }
                }
            }
        }
    }

    /// Copies rows first..last of a transposed A, tile by tile, with zeros where a triangle ends.
    #[inline(always)]
    fn pack_a(&self, [first, last]: [usize; 2], [start, length]: [usize; 2], packed: &mut [Slice]) {
        for k in 0..length {
            let width = match self.left {
                Left::LowerColumns => (start + k + 1).saturating_sub(first).min(last - first),
                Left::Rows | Left::LowerRows | Left::Columns => last - first,
            };
            let from =
                if width == 0 { &[] } else { &self.a[self.a_rows.start(start + k) + first..][..width] };
            for tile in 0..(last - first).div_ceil(ROWS) {
                let part = from.get(tile * ROWS..).unwrap_or(&[]);
                let to = &mut packed[tile * length + k];
                if let Some(whole) = part.first_chunk::<ROWS>() {
                    *to = *whole;
                } else {
                    *to = [0.0; ROWS];
                    to.iter_mut().zip(part).for_each(|(y, x)| *y = *x);
                }
            }
        }
    }

    /// Adds the products of rows i..last of A with the packed columns j..end of B.
    #[inline(always)]
    fn rows<U: Packed>(
        &mut self,
        [i, last]: [usize; 2],
        [j, end]: [usize; 2],
        [start, length]: [usize; 2],
        b: &[Strip<U>],
        a: &mut [Slice],
        view: View<F8, U>,
    ) {
        if self.by_columns() {
            self.pack_a([i, last], [start, length], a);
        }
        for (tile_number, i) in (i..last).step_by(ROWS).enumerate() {
            let height = ROWS.min(last - i);
            if self.left == Left::LowerRows && start >= i + height {
                continue;
            }
            for (b, j) in b.chunks_exact(length).zip((j..end).step_by(COLUMNS)) {
                if self.part == Part::Lower && i + height <= j {
                    break;
                }
                let tile = if self.by_columns() {
                    // Below the diagonal of a transposed triangle there is nothing to add.
                    let skip = match self.left {
                        Left::LowerColumns => i.saturating_sub(start).min(length),
                        Left::Rows | Left::LowerRows | Left::Columns => 0,
                    };
                    along_packed(&a[tile_number * length..][skip..length], &b[skip..])
                } else {
                    self.along_rows(i, height, start, b)
                };
                self.add_tile(&tile, i, height, j, view);
            }
        }
    }

    /// Σ_k A[i + r, k] B[k, c] where A is stored by rows and k starts at `start`.
    #[inline(always)]
    fn along_rows<U: Packed>(&self, i: usize, height: usize, start: usize, b: &[Strip<U>]) -> Tile<U> {
        let mut sums = [[U::zero(); WIDTH]; ROWS];
        let end = start + b.len();
        // The corner of a triangle that the tile cuts is added element by element.
        let (from, to) = match self.left {
            Left::LowerRows => (i.clamp(start, end), (i + height).clamp(start, end)),
            Left::Rows | Left::Columns | Left::LowerColumns => (end, end),
        };
        // Rows beyond the last repeat it; their sums are not used.
        let mut rows = [&self.a[..0]; ROWS];
        for (r, row) in rows.iter_mut().enumerate() {
            *row = &self.a[self.a_rows.start(i + r.min(height - 1)) + start..][..from - start];
        }
        for (k, strip) in b[..from - start].iter().enumerate() {
            for r in 0..ROWS {
                add_row(&mut sums[r], rows[r][k], strip);
            }
        }
        for k in from..to {
            for (r, sums) in sums.iter_mut().enumerate().take(height).skip(k - i) {
                add_row(sums, self.a[self.a_rows.start(i + r) + k], &b[k - start]);
            }
        }
        sums
    }

    #[inline(always)]
    fn add_tile<U: Packed>(&mut self, tile: &Tile<U>, i: usize, height: usize, j: usize, view: View<F8, U>) {
        for (r, sums) in tile.iter().enumerate().take(height) {
            let width = match self.part {
                Part::All => COLUMNS.min(self.n - j),
                Part::Lower => COLUMNS.min(self.n - j).min((i + r + 1).saturating_sub(j)),
            };
            if width == 0 {
                continue;
            }
            let to = &mut self.c[self.c_rows.start(i + r) + j..][..width];
            for (part, sum) in to.chunks_mut(LANES).zip(sums) {
                let sum = view.back(sum.scale(self.scale)).0;
                if part.len() == LANES {
                    for l in 0..LANES {
                        part[l] += sum[l];
                    }
                } else {
                    part.iter_mut().zip(sum).for_each(|(y, x)| *y += x);
                }
            }
        }
    }
}

/// Σ_k A[r, k] B[k, c] for a packed tile of A.
#[inline(always)]
fn along_packed<U: Packed>(a: &[Slice], b: &[Strip<U>]) -> Tile<U> {
    let mut sums = [[U::zero(); WIDTH]; ROWS];
    for (column, strip) in a.iter().zip(b) {
        for r in 0..ROWS {
            add_row(&mut sums[r], column[r], strip);
        }
    }
    sums
}

#[inline(always)]
fn add_row<U: Packed>(sums: &mut Strip<U>, x: f64, b: &Strip<U>) {
    let x = U::splat(x);
    for w in 0..WIDTH {
        sums[w] += x * b[w];
    }
}
