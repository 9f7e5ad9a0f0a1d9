//! Matrix products: plain, with one side transposed, lower triangles only.
//!
//! All of them are built from one register tile of [`ROWS`] × [`COLUMNS`] sums, compiled for the best instruction set by
//! [`dispatch`](crate::num::dispatch).

use crate::num::dispatch::{Work, best};

/// Rows of a register tile.
const ROWS: usize = 4;
/// Columns of a register tile: two AVX-512 registers or four AVX2 registers.
const COLUMNS: usize = 16;
/// Inner products are taken in pieces of this length, so that the pieces stay in the first-level cache.
const DEPTH: usize = 256;

type Tile = [[f64; COLUMNS]; ROWS];

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
    /// Element (i, k) at `i * stride + k`.
    Rows,
    /// Element (i, k) at `k * stride + i`: the transpose of what is stored.
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
    pub a_stride: usize,
    pub right: Right,
    pub b: &'a [f64],
    pub b_stride: usize,
    pub part: Part,
    pub c: &'a mut [f64],
    pub c_stride: usize,
}

impl Work for Product<'_> {
    type Out = ();

    #[inline(always)]
    fn run(mut self) {
        if self.depth * COLUMNS <= 512 {
            self.run_packed(&mut [0.0; 512]);
        } else {
            self.run_packed(&mut [0.0; DEPTH * COLUMNS]);
        }
    }
}

impl Product<'_> {
    /// Adds the product in pieces of B that fit `packed`.
    #[inline(always)]
    fn run_packed(&mut self, packed: &mut [f64]) {
        let piece = packed.len() / COLUMNS;
        for start in (0..self.depth).step_by(piece) {
            let end = (start + piece).min(self.depth);
            for j in (0..self.n).step_by(COLUMNS) {
                self.pack(start, end, j, packed);
                self.column_block(start, end, j, packed);
            }
        }
    }

    /// Copies rows start..end of columns j..j+COLUMNS of B side by side, with zeros beyond the last column.
    #[inline(always)]
    fn pack(&self, start: usize, end: usize, j: usize, packed: &mut [f64]) {
        let width = COLUMNS.min(self.n - j);
        let packed = &mut packed[..(end - start) * COLUMNS];
        if width < COLUMNS {
            packed.fill(0.0);
        }
        match self.right {
            Right::Rows => {
                for (k, row) in packed.chunks_exact_mut(COLUMNS).enumerate() {
                    let from = &self.b[(start + k) * self.b_stride + j..][..width];
                    row[..width].copy_from_slice(from);
                }
            }
            Right::Columns => {
                for c in 0..width {
                    let from = &self.b[(j + c) * self.b_stride..][start..end];
                    for (row, x) in packed.chunks_exact_mut(COLUMNS).zip(from) {
                        row[c] = *x;
                    }
                }
            }
        }
    }

    /// Adds the products of all rows of A with one packed block of columns.
    #[inline(always)]
    fn column_block(&mut self, start: usize, end: usize, j: usize, packed: &[f64]) {
        let first = match self.part {
            Part::All => 0,
            Part::Lower => j / ROWS * ROWS,
        };
        for i in (first..self.m).step_by(ROWS) {
            let height = ROWS.min(self.m - i);
            let mut tile = [[0.0; COLUMNS]; ROWS];
            let rows = |from: usize, to: usize| &packed[(from - start) * COLUMNS..(to - start) * COLUMNS];
            // The corner of a triangle that the tile cuts is added element by element.
            let corner = (i.clamp(start, end), (i + height).clamp(start, end));
            match self.left {
                Left::Rows => self.along_rows(&mut tile, i, height, start, rows(start, end)),
                Left::Columns => self.along_columns(&mut tile, i, height, start, rows(start, end)),
                Left::LowerRows => {
                    self.along_rows(&mut tile, i, height, start, rows(start, corner.0));
                    for k in corner.0..corner.1 {
                        (k - i..height).for_each(|r| {
                            add_row(&mut tile[r], self.a[(i + r) * self.a_stride + k], rows(k, k + 1));
                        });
                    }
                }
                Left::LowerColumns => {
                    for k in corner.0..corner.1 {
                        (0..=k - i).for_each(|r| {
                            add_row(&mut tile[r], self.a[k * self.a_stride + i + r], rows(k, k + 1));
                        });
                    }
                    self.along_columns(&mut tile, i, height, corner.1, rows(corner.1, end));
                }
            }
            self.add_tile(&tile, i, height, j);
        }
    }

    /// Adds Σ_k A[i + r, k] B[k, c] to the tile, where A is stored by rows and k starts at `from`.
    #[inline(always)]
    fn along_rows(&self, tile: &mut Tile, i: usize, height: usize, from: usize, b: &[f64]) {
        let depth = b.len() / COLUMNS;
        // Rows beyond the last repeat it; their sums are not used.
        let row = |r: usize| &self.a[(i + r.min(height - 1)) * self.a_stride + from..][..depth];
        let (r0, r1, r2, r3) = (row(0), row(1), row(2), row(3));
        for ((((b, x0), x1), x2), x3) in b.chunks_exact(COLUMNS).zip(r0).zip(r1).zip(r2).zip(r3) {
            for (sums, x) in tile.iter_mut().zip([x0, x1, x2, x3]) {
                add_row(sums, *x, b);
            }
        }
    }

    /// The same where A is stored by columns.
    #[inline(always)]
    fn along_columns(&self, tile: &mut Tile, i: usize, height: usize, from: usize, b: &[f64]) {
        for (k, b) in (from..).zip(b.chunks_exact(COLUMNS)) {
            let column = &self.a[k * self.a_stride + i..][..height];
            let x: [f64; ROWS] = std::array::from_fn(|r| column[r.min(height - 1)]);
            for (sums, x) in tile.iter_mut().zip(x) {
                add_row(sums, x, b);
            }
        }
    }

    #[inline(always)]
    fn add_tile(&mut self, tile: &Tile, i: usize, height: usize, j: usize) {
        for (r, sums) in tile.iter().enumerate().take(height) {
            let width = match self.part {
                Part::All => COLUMNS.min(self.n - j),
                Part::Lower => COLUMNS.min(self.n - j).min((i + r + 1).saturating_sub(j)),
            };
            if width > 0 {
                let to = &mut self.c[(i + r) * self.c_stride + j..][..width];
                to.iter_mut().zip(sums).for_each(|(y, x)| *y += self.scale * x);
            }
        }
    }
}

#[inline(always)]
fn add_row(sums: &mut [f64; COLUMNS], x: f64, b: &[f64]) {
    for c in 0..COLUMNS {
        sums[c] += x * b[c];
    }
}

/// C += scale · A · B for row-major A [m × depth], B [depth × n], C [m × n].
pub fn add_product(scale: f64, a: &[f64], b: &[f64], [m, depth, n]: [usize; 3], c: &mut [f64]) {
    assert!(a.len() >= m * depth && b.len() >= depth * n && c.len() >= m * n);
    best(Product {
        scale,
        m,
        n,
        depth,
        left: Left::Rows,
        a,
        a_stride: depth,
        right: Right::Rows,
        b,
        b_stride: n,
        part: Part::All,
        c,
        c_stride: n,
    });
}

/// C += scale · Aᵀ · B for row-major A [depth × m], B [depth × n], C [m × n].
pub fn add_transposed_product(scale: f64, a: &[f64], b: &[f64], [m, depth, n]: [usize; 3], c: &mut [f64]) {
    assert!(a.len() >= m * depth && b.len() >= depth * n && c.len() >= m * n);
    best(Product {
        scale,
        m,
        n,
        depth,
        left: Left::Columns,
        a,
        a_stride: m,
        right: Right::Rows,
        b,
        b_stride: n,
        part: Part::All,
        c,
        c_stride: n,
    });
}

/// The lower triangle (j ≤ i) of C += scale · A · Bᵀ for row-major A, B [d × depth] and C [d × d]; what stands above the
/// diagonal of C is left alone. With A = B this is the symmetric rank-k update.
pub fn add_product_lower(scale: f64, a: &[f64], b: &[f64], [d, depth]: [usize; 2], c: &mut [f64]) {
    assert!(a.len() >= d * depth && b.len() >= d * depth && c.len() >= d * d);
    best(Product {
        scale,
        m: d,
        n: d,
        depth,
        left: Left::Rows,
        a,
        a_stride: depth,
        right: Right::Columns,
        b,
        b_stride: depth,
        part: Part::Lower,
        c,
        c_stride: d,
    });
}

/// out = L · U for lower triangular L [d × d] (what stands above its diagonal is not read) and U, out [d × n].
pub fn lower_product(l: &[f64], u: &[f64], [d, n]: [usize; 2], out: &mut [f64]) {
    triangular_product(Left::LowerRows, l, u, [d, n], out);
}

/// out = Lᵀ · U for lower triangular L [d × d] (what stands above its diagonal is not read) and U, out [d × n].
pub fn lower_transposed_product(l: &[f64], u: &[f64], [d, n]: [usize; 2], out: &mut [f64]) {
    triangular_product(Left::LowerColumns, l, u, [d, n], out);
}

fn triangular_product(left: Left, l: &[f64], u: &[f64], [d, n]: [usize; 2], out: &mut [f64]) {
    assert!(l.len() >= d * d && u.len() >= d * n && out.len() >= d * n);
    out[..d * n].fill(0.0);
    best(Product {
        scale: 1.0,
        m: d,
        n,
        depth: d,
        left,
        a: l,
        a_stride: d,
        right: Right::Rows,
        b: u,
        b_stride: n,
        part: Part::All,
        c: out,
        c_stride: n,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stream::Stream;

    fn random(seed: u64, n: usize) -> Vec<f64> {
        let mut x = vec![0.0; n];
        Stream::new(seed, 0, 0).fill_normal(&mut x);
        x
    }

    fn close(got: &[f64], expected: impl Fn(usize) -> f64) {
        for (i, x) in got.iter().enumerate() {
            assert!((x - expected(i)).abs() < 1e-11, "{i}: {x} against {}", expected(i));
        }
    }

    #[test]
    fn products_match_their_definition() {
        for (m, depth, n) in [(1, 1, 1), (3, 5, 2), (4, 16, 16), (9, 300, 35), (70, 530, 17)] {
            let (a, b, c) = (random(1, m * depth), random(2, depth * n), random(3, m * n));
            let mut got = c.clone();
            add_product(0.5, &a, &b, [m, depth, n], &mut got);
            let sum = |f: &dyn Fn(usize) -> f64| (0..depth).map(f).sum::<f64>();
            close(&got, |p| c[p] + 0.5 * sum(&|k| a[p / n * depth + k] * b[k * n + p % n]));
            let mut got = c.clone();
            add_transposed_product(2.0, &a, &b, [m, depth, n], &mut got);
            close(&got, |p| c[p] + 2.0 * sum(&|k| a[k * m + p / n] * b[k * n + p % n]));
        }
    }

    #[test]
    fn triangular_products_read_and_write_the_lower_triangle_only() {
        for (d, n) in [(1, 1), (2, 8), (5, 16), (33, 7), (300, 20)] {
            let mut l = random(4, d * d);
            let u = random(5, d * n);
            let at = |i: usize, j: usize| if j <= i { l[i * d + j] } else { 0.0 };
            let product: Vec<f64> =
                (0..d * n).map(|p| (0..d).map(|k| at(p / n, k) * u[k * n + p % n]).sum()).collect();
            let transposed: Vec<f64> =
                (0..d * n).map(|p| (0..d).map(|k| at(k, p / n) * u[k * n + p % n]).sum()).collect();
            (0..d).for_each(|i| (i + 1..d).for_each(|j| l[i * d + j] = f64::NAN));
            let mut got = vec![f64::NAN; d * n];
            lower_product(&l, &u, [d, n], &mut got);
            close(&got, |p| product[p]);
            lower_transposed_product(&l, &u, [d, n], &mut got);
            close(&got, |p| transposed[p]);

            let g = random(6, d * n);
            let mut c = vec![7.0; d * d];
            add_product_lower(1.0, &g, &u, [d, n], &mut c);
            close(&c, |p| {
                let (i, j) = (p / d, p % d);
                if j > i { 7.0 } else { 7.0 + (0..n).map(|k| g[i * n + k] * u[j * n + k]).sum::<f64>() }
            });
        }
    }
}
