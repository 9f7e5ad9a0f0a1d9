//! Solves with a lower triangular matrix and with its transpose.

use super::product::{Left, Part, Product, Right, Rows, dot};
use crate::num::dispatch::{Work, best};
use rayon::prelude::*;

/// Rows solved at once before their effect on the others is taken as one matrix product.
const BLOCK: usize = 16;
/// Columns of an inverse that are found together.
const COLUMNS: usize = 64;
/// Columns from which on threads share them.
const WORTH_THREADS: usize = 256;

struct Forward<'a> {
    l: &'a [f64],
    d: usize,
    x: &'a mut [f64],
}

impl Work for Forward<'_> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        for i in 0..self.d {
            let (done, rest) = self.x.split_at_mut(i);
            let row = &self.l[i * self.d..][..=i];
            rest[0] = (rest[0] - dot(&row[..i], done)) / row[i];
        }
    }
}

struct Backward<'a> {
    l: &'a [f64],
    rows: Rows,
    d: usize,
    x: &'a mut [f64],
}

impl Work for Backward<'_> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        for i in (0..self.d).rev() {
            let row = &self.l[self.rows.start(i)..][..=i];
            let (above, rest) = self.x.split_at_mut(i);
            let value = rest[0] / row[i];
            rest[0] = value;
            above.iter_mut().zip(row).for_each(|(x, l)| *x -= value * l);
        }
    }
}

/// Solves L x = b in place, for lower triangular L [d × d] (what stands above its diagonal is not read).
pub fn solve_lower(l: &[f64], d: usize, x: &mut [f64]) {
    assert!(l.len() >= d * d && x.len() >= d);
    best(Forward { l, d, x });
}

/// Solves Lᵀ x = b in place, for lower triangular L [d × d].
pub fn solve_lower_transposed(l: &[f64], d: usize, x: &mut [f64]) {
    assert!(l.len() >= d * d && x.len() >= d);
    best(Backward { l, rows: Rows::Every(d), d, x });
}

/// Rows `first..first + size` of L X = B (or Lᵀ X = B), the other rows having been accounted for.
struct Diagonal<'a> {
    l: &'a [f64],
    rows: Rows,
    first: usize,
    size: usize,
    transposed: bool,
    x: &'a mut [f64],
    n: usize,
}

impl Work for Diagonal<'_> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        let at = |i: usize, j: usize| self.l[self.rows.start(self.first + i) + self.first + j];
        for step in 0..self.size {
            let i = if self.transposed { self.size - 1 - step } else { step };
            let (above, rest) = self.x.split_at_mut(i * self.n);
            let (row, below) = rest.split_at_mut(self.n);
            if self.transposed {
                for (k, other) in below.chunks_exact(self.n).take(step).enumerate() {
                    subtract(row, at(i + 1 + k, i), other);
                }
            } else {
                for (k, other) in above.chunks_exact(self.n).enumerate() {
                    subtract(row, at(i, k), other);
                }
            }
            let pivot = at(i, i);
            row.iter_mut().for_each(|x| *x /= pivot);
        }
    }
}

#[inline(always)]
fn subtract(row: &mut [f64], factor: f64, other: &[f64]) {
    row.iter_mut().zip(other).for_each(|(x, y)| *x -= factor * y);
}

/// Solves L X = B in place, for lower triangular L [d × d] and X [d × n], the right-hand side being the
/// fastest axis.
pub fn solve_lower_many(l: &[f64], x: &mut [f64], [d, n]: [usize; 2]) {
    assert!(l.len() >= d * d && x.len() >= d * n);
    solve_block(l, d, [0, d], x, n);
}

/// The same for the square block of `size` rows from row and column `corner` of a matrix of `stride` columns.
pub(super) fn solve_block(l: &[f64], stride: usize, [corner, size]: [usize; 2], x: &mut [f64], n: usize) {
    for first in (0..size).step_by(BLOCK) {
        let height = BLOCK.min(size - first);
        let (done, rest) = x.split_at_mut(first * n);
        if first > 0 {
            Product {
                scale: -1.0,
                m: height,
                n,
                depth: first,
                left: Left::Rows,
                a: &l[(corner + first) * stride + corner..],
                a_rows: Rows::Every(stride),
                right: Right::Rows,
                b: done,
                b_stride: n,
                part: Part::All,
                c: rest,
                c_rows: Rows::Every(n),
            }
            .add();
        }
        let rows = Rows::Every(stride);
        best(Diagonal { l, rows, first: corner + first, size: height, transposed: false, x: rest, n });
    }
}

/// L⁻¹ for lower triangular L [d × d], zero above its diagonal: a third of the work of solving for all of it.
pub fn invert_lower(l: &[f64], d: usize) -> Vec<f64> {
    assert!(l.len() >= d * d);
    let columns_from = |first: usize| {
        // Columns of a lower triangular matrix begin at the diagonal.
        let (width, height) = (COLUMNS.min(d - first), d - first);
        let mut columns = vec![0.0; height * width];
        (0..width).for_each(|k| columns[k * width + k] = 1.0);
        solve_block(l, d, [first, height], &mut columns, width);
        columns
    };
    let firsts = (0..d.div_ceil(COLUMNS)).map(|block| block * COLUMNS);
    let blocks: Vec<Vec<f64>> = match d > WORTH_THREADS {
        true => firsts.collect::<Vec<_>>().into_par_iter().map(columns_from).collect(),
        false => firsts.map(columns_from).collect(),
    };
    let mut out = vec![0.0; d * d];
    for (block, columns) in blocks.iter().enumerate() {
        let first = block * COLUMNS;
        for (row, values) in columns.chunks_exact(COLUMNS.min(d - first)).enumerate() {
            let from = (first + row) * d + first;
            out[from..from + values.len()].copy_from_slice(values);
        }
    }
    out
}

/// Solves Lᵀ X = B in place, for lower triangular L [d × d] and X [d × n].
pub fn solve_lower_transposed_many(l: &[f64], x: &mut [f64], [d, n]: [usize; 2]) {
    assert!(l.len() >= d * d && x.len() >= d * n);
    solve_transposed(l, x, [d, n], |first| (Rows::Every(d), first * d));
}

/// The same for an L that is packed, row after row.
pub fn solve_packed_transposed_many(l: &[f64], x: &mut [f64], [d, n]: [usize; 2]) {
    assert!(l.len() >= d * (d + 1) / 2 && x.len() >= d * n);
    solve_transposed(l, x, [d, n], |first| (Rows::Packed { first }, Rows::Packed { first: 0 }.start(first)));
}

/// Given the layout of the rows of L from one on, and where that begins.
#[inline(always)]
fn solve_transposed(l: &[f64], x: &mut [f64], [d, n]: [usize; 2], from: impl Fn(usize) -> (Rows, usize)) {
    let (rows, _) = from(0);
    if n == 1 {
        return best(Backward { l, rows, d, x });
    }
    for first in (0..d).step_by(BLOCK).rev() {
        let size = BLOCK.min(d - first);
        let (rest, block) = x.split_at_mut(first * n);
        best(Diagonal { l, rows, first, size, transposed: true, x: block, n });
        if first == 0 {
            break;
        }
        // The rows of L that belong to the block, read once, take it out of all rows above.
        let (a_rows, start) = from(first);
        Product {
            scale: -1.0,
            m: first,
            n,
            depth: size,
            left: Left::Columns,
            a: &l[start..],
            a_rows,
            right: Right::Rows,
            b: block,
            b_stride: n,
            part: Part::All,
            c: rest,
            c_rows: Rows::Every(n),
        }
        .add();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{lower_product, lower_transposed_product};
    use super::*;
    use crate::num::stream::Stream;

    #[test]
    fn solves_undo_products() {
        for (d, n) in [(1, 1), (3, 2), (32, 8), (33, 1), (75, 19), (130, 16)] {
            let mut stream = Stream::new(1, d as u64, n as u64);
            let mut l = vec![f64::NAN; d * d];
            for i in 0..d {
                stream.fill_normal(&mut l[i * d..i * d + i]);
                (0..i).for_each(|j| l[i * d + j] /= d as f64);
                l[i * d + i] = 1.0 + stream.uniform();
            }
            let mut x = vec![0.0; d * n];
            stream.fill_normal(&mut x);
            type Solve = fn(&[f64], &mut [f64], [usize; 2]);
            type Multiply = fn(&[f64], &[f64], [usize; 2], &mut [f64]);
            let pairs: [(Multiply, Solve); 2] =
                [(lower_product, solve_lower_many), (lower_transposed_product, solve_lower_transposed_many)];
            for (multiply, solve) in pairs {
                let mut b = vec![0.0; d * n];
                multiply(&l, &x, [d, n], &mut b);
                solve(&l, &mut b, [d, n]);
                assert!(b.iter().zip(&x).all(|(got, x)| (got - x).abs() < 1e-11));
            }
            let inverse = invert_lower(&l, d);
            let mut b = vec![0.0; d * d];
            lower_product(&l, &inverse, [d, d], &mut b);
            assert!((0..d * d).all(|p| (b[p] - f64::from(p / d == p % d)).abs() < 1e-12));
            let mut b = vec![0.0; d * n];
            lower_transposed_product(&l, &x, [d, n], &mut b);
            let packed: Vec<f64> = (0..d).flat_map(|i| l[i * d..=i * d + i].to_vec()).collect();
            solve_packed_transposed_many(&packed, &mut b, [d, n]);
            assert!(b.iter().zip(&x).all(|(got, x)| (got - x).abs() < 1e-11));
            let mut b = vec![0.0; d];
            lower_product(&l, &x[..d], [d, 1], &mut b);
            solve_lower(&l, d, &mut b);
            assert!(b.iter().zip(&x).all(|(got, x)| (got - x).abs() < 1e-11));
            lower_transposed_product(&l, &x[..d], [d, 1], &mut b);
            solve_lower_transposed(&l, d, &mut b);
            assert!(b.iter().zip(&x).all(|(got, x)| (got - x).abs() < 1e-11));
        }
    }
}
