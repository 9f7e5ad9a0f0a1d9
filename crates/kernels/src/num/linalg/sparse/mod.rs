//! Sparse symmetric matrices: a Cholesky factorisation that keeps them sparse, of several matrices of one
//! pattern at once.

mod eliminate;
mod order;

pub use eliminate::Held;

use crate::num::dispatch::best_lanes;
use eliminate::{Backward, Eliminate, Forward};

/// The pattern of a family of symmetric matrices, analysed once: an order of elimination, and the pattern of
/// the factor.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Where each row stands in the order of elimination.
    place: Vec<usize>,
    /// Where the value of each entry stands in the factor: first the diagonal, then what is below, column by
    /// column.
    slots: Vec<usize>,
    /// Where the rows of each column begin.
    start: Vec<usize>,
    /// The rows below the diagonal, ascending within a column.
    rows: Vec<usize>,
    /// The first column from which on the factor has no zeros, if these are more than a block.
    tail: usize,
}

impl Pattern {
    /// From the entries (row, column), each unordered pair once, every diagonal entry among them. The order
    /// of elimination is one of little fill: hierarchies (groups below shared parameters) and chains have
    /// none.
    pub fn new(d: usize, entries: &[(u32, u32)]) -> Pattern {
        let mut place = vec![0; d];
        order::order(d, entries).iter().enumerate().for_each(|(k, &i)| place[i] = k);
        let ordered = |&(i, j): &(u32, u32)| {
            let (p, q) = (place[i as usize], place[j as usize]);
            (p.min(q), p.max(q))
        };
        let (start, rows) = fill(d, entries.iter().map(ordered));
        let slot = |(column, row): (usize, usize)| match row == column {
            true => column,
            false => d + start[column] + rows[start[column]..start[column + 1]].partition_point(|&r| r < row),
        };
        let slots = entries.iter().map(|e| slot(ordered(e))).collect();
        let full = |&j: &usize| start[j + 1] - start[j] == d - 1 - j;
        let dense = (0..d).rev().take_while(full).count();
        let tail = if dense > eliminate::BLOCK { d - dense } else { d };
        Pattern { place, slots, start, rows, tail }
    }

    /// Number of rows.
    pub fn dimension(&self) -> usize {
        self.place.len()
    }

    /// What belongs to each row, in the order of elimination.
    pub fn eliminated<T: Copy + Default>(&self, by_row: &[T]) -> Vec<T> {
        let mut out = vec![T::default(); by_row.len()];
        self.place.iter().zip(by_row).for_each(|(&p, x)| out[p] = *x);
        out
    }

    /// Products and sums that a factorisation takes.
    pub fn work(&self) -> usize {
        self.start.windows(2).map(|w| (w[1] - w[0] + 1).pow(2)).sum()
    }

    /// The factors of W matrices, from the values of their entries. A matrix that is not positive definite
    /// has a pivot that is not a positive number.
    pub fn factor<const W: usize>(&self, values: &[[f64; W]], into: &mut Vec<[f64; W]>)
    where
        [f64; W]: Held,
    {
        into.clear();
        into.resize(self.dimension() + self.rows.len(), [0.0; W]);
        for (slot, value) in self.slots.iter().zip(values) {
            (0..W).for_each(|k| into[*slot][k] += value[k]);
        }
        self.eliminate(into);
    }

    /// The factors of W matrices that are laid out as their factors, in place.
    pub fn eliminate<const W: usize>(&self, values: &mut [[f64; W]])
    where
        [f64; W]: Held,
    {
        let (diagonal, below) = values.split_at_mut(self.dimension());
        best_lanes(Eliminate { pattern: self, diagonal, below });
    }

    /// Where the entry of a row and a column stands in a factor, if it has a place there.
    pub fn slot(&self, i: usize, j: usize) -> Option<usize> {
        let (p, q) = (self.place[i], self.place[j]);
        let (column, row) = (p.min(q), p.max(q));
        let below = self.start[column]..self.start[column + 1];
        match row == column {
            true => Some(column),
            false => self.rows[below.clone()]
                .binary_search(&row)
                .ok()
                .map(|at| self.dimension() + below.start + at),
        }
    }

    /// The matrix with this factor, laid out as the factor is.
    pub fn product(&self, factor: &[f64]) -> Vec<f64> {
        let d = self.dimension();
        let mut out = vec![0.0; factor.len()];
        for j in 0..d {
            let (pivot, rows) = (factor[j], &self.rows[self.start[j]..self.start[j + 1]]);
            let column = &factor[d + self.start[j]..d + self.start[j + 1]];
            out[j] += pivot * pivot;
            for (a, (&p, x)) in rows.iter().zip(column).enumerate() {
                out[d + self.start[j] + a] += pivot * x;
                out[p] += x * x;
                let mut at = self.start[p];
                for (&q, y) in rows.iter().zip(column).skip(a + 1) {
                    while self.rows[at] < q {
                        at += 1;
                    }
                    out[d + at] += x * y;
                }
            }
        }
        out
    }

    /// Whether the matrix with these values (one for each entry) is positive definite: whether every pivot of
    /// its Cholesky factorisation is positive.
    pub fn is_positive_definite(&self, values: &[f64]) -> bool {
        let values: Vec<[f64; 1]> = values.iter().map(|x| [*x]).collect();
        let mut factor = Vec::new();
        self.factor(&values, &mut factor);
        self.pivots(&factor).iter().all(|x| x[0] > 0.0)
    }

    /// How far a matrix with this diagonal can be, in any direction, from the product of its computed factor
    /// with its transpose: an entry (i, j) is off by no more than (t + 1) u √(a_ii a_jj), where t counts the
    /// products that are summed for it (Higham, Accuracy and Stability, section 10.1), and no eigenvalue is
    /// further off than the largest sum of a row. With ε for the unit roundoff u there is room for what this
    /// leaves out.
    pub fn rounding(&self, diagonal: &[f64]) -> f64 {
        let d = self.dimension();
        // Entries of each row of the factor, the diagonal one among them, and the roots of the diagonal, by
        // order of elimination.
        let (mut entries, mut roots) = (vec![1.0; d], vec![0.0; d]);
        self.rows.iter().for_each(|&r| entries[r] += 1.0);
        self.place.iter().zip(diagonal).for_each(|(&p, a)| roots[p] = a.abs().sqrt());
        let mut sums: Vec<f64> = (0..d).map(|i| (entries[i] + 3.0) * roots[i] * roots[i]).collect();
        for j in 0..d {
            for &i in &self.rows[self.start[j]..self.start[j + 1]] {
                let off = (entries[i].min(entries[j]) + 3.0) * roots[i] * roots[j];
                sums[i] += off;
                sums[j] += off;
            }
        }
        f64::EPSILON * sums.into_iter().fold(0.0, |m, s| if s > m || s.is_nan() { s } else { m })
    }

    /// Where each coordinate stands in the order of elimination.
    pub fn places(&self) -> &[usize] {
        &self.place
    }

    /// The pivots: the diagonal of the factor.
    pub fn pivots<'f, const W: usize>(&self, factor: &'f [[f64; W]]) -> &'f [[f64; W]] {
        &factor[..self.dimension()]
    }

    /// Where each column of a factor has its entries below the diagonal, in the order of elimination.
    pub fn columns(&self) -> Vec<std::ops::Range<usize>> {
        let d = self.dimension();
        self.start.windows(2).map(|w| d + w[0]..d + w[1]).collect()
    }

    /// Solves `L y = x` for each matrix, in place: x in the order of rows, y in the order of elimination.
    pub fn solve_lower<const W: usize>(&self, factor: &[[f64; W]], x: &mut Vec<[f64; W]>)
    where
        [f64; W]: Held,
    {
        let mut y = vec![[0.0; W]; self.dimension()];
        self.place.iter().zip(x.iter()).for_each(|(&p, x)| y[p] = *x);
        best_lanes(Forward { pattern: self, factor, y: &mut y });
        *x = y;
    }

    /// Solves `Lᵀ x = y` for each matrix, in place: y in the order of elimination, x in the order of rows.
    pub fn solve_transposed<const W: usize>(&self, factor: &[[f64; W]], y: &mut Vec<[f64; W]>)
    where
        [f64; W]: Held,
    {
        best_lanes(Backward { pattern: self, factor, y });
        *y = self.place.iter().map(|&p| y[p]).collect();
    }
}

/// The pattern of the factor from the entries (column, row) on and below the diagonal: where the rows of each
/// column begin, and the rows. A column has its own rows and those of the columns whose first row it is.
fn fill(d: usize, entries: impl Iterator<Item = (usize, usize)>) -> (Vec<usize>, Vec<usize>) {
    let mut columns = vec![Vec::new(); d];
    entries.filter(|(column, row)| row > column).for_each(|(column, row)| columns[column].push(row));
    let (mut start, mut rows) = (vec![0], Vec::new());
    for j in 0..d {
        let mut own = std::mem::take(&mut columns[j]);
        own.sort_unstable();
        own.dedup();
        if let Some((&parent, rest)) = own.split_first() {
            columns[parent].extend_from_slice(rest);
        }
        rows.extend(own);
        start.push(rows.len());
    }
    (start, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::linalg::symmetric_eigen;
    use crate::num::stream::Stream;

    /// Matrices of one pattern.
    const SIDES: usize = 16;

    /// A random pattern, the values of some matrices of it, and the matrices in full.
    fn random(d: usize, rng: &mut Stream) -> (Vec<(u32, u32)>, Vec<[f64; SIDES]>, [Vec<f64>; SIDES]) {
        let mut entries: Vec<(u32, u32)> = (0..d as u32).map(|i| (i, i)).collect();
        for i in 0..d as u32 {
            (0..i).filter(|_| rng.uniform() < 0.2).for_each(|j| entries.push((i, j)));
        }
        let mut value = |i, j| if i == j { 1.0 + rng.uniform() } else { rng.uniform() - 0.5 };
        let values: Vec<[f64; SIDES]> =
            entries.iter().map(|&(i, j)| [(); SIDES].map(|()| value(i, j))).collect();
        let full = std::array::from_fn(|k| {
            let mut full = vec![0.0; d * d];
            for (&(i, j), v) in entries.iter().zip(&values) {
                full[i as usize * d + j as usize] = v[k];
                full[j as usize * d + i as usize] = v[k];
            }
            full
        });
        (entries, values, full)
    }

    /// The same with a diagonal that makes them positive definite.
    fn definite(d: usize, rng: &mut Stream) -> (Vec<(u32, u32)>, Vec<[f64; SIDES]>, [Vec<f64>; SIDES]) {
        let (entries, mut values, mut full) = random(d, rng);
        for (e, v) in entries.iter().zip(&mut values).filter(|(e, _)| e.0 == e.1) {
            v.iter_mut().for_each(|x| *x += d as f64);
            full.iter_mut().for_each(|a| a[e.0 as usize * (d + 1)] += d as f64);
        }
        (entries, values, full)
    }

    #[test]
    fn agrees_with_eigenvalues_on_random_matrices() {
        let mut rng = Stream::new(3, 0, 0);
        for d in [1, 2, 5, 12, 30] {
            for _ in 0..60 {
                let (entries, values, full) = random(d, &mut rng);
                let pattern = Pattern::new(d, &entries);
                for k in 0..SIDES {
                    let values: Vec<f64> = values.iter().map(|v| v[k]).collect();
                    let least = symmetric_eigen(&full[k], d).map_or(f64::NAN, |e| e.values[0]);
                    assert_eq!(pattern.is_positive_definite(&values), least > 0.0, "{least}");
                }
            }
        }
    }

    /// L Lᵀ from the factor of A is A, entry by entry, where A has one and where only the factor has.
    #[test]
    fn a_factor_gives_its_matrix_back() {
        let mut rng = Stream::new(5, 0, 0);
        for d in [1, 3, 8, 25] {
            let (entries, values, full) = definite(d, &mut rng);
            let pattern = Pattern::new(d, &entries);
            let mut factor = Vec::new();
            pattern.factor(&values, &mut factor);
            let product = pattern.product(&factor.iter().map(|f| f[0]).collect::<Vec<f64>>());
            let places = (0..d).flat_map(|i| (0..=i).map(move |j| (i, j)));
            let mut seen = 0;
            for (i, j) in places {
                let expected = full[0][i * d + j];
                let found = pattern.slot(i, j).map(|slot| product[slot]);
                seen += usize::from(found.is_some());
                assert!((found.unwrap_or(0.0) - expected).abs() < 1e-12, "{found:?} {expected}");
            }
            assert_eq!(seen, factor.len());
        }
    }

    /// A x = b by both triangular solves, and log det A from the pivots.
    #[test]
    fn solves_several_systems_at_once() {
        let mut rng = Stream::new(4, 0, 0);
        for d in [1, 3, 8, 25] {
            let (entries, values, full) = definite(d, &mut rng);
            let pattern = Pattern::new(d, &entries);
            let mut factor = Vec::new();
            pattern.factor(&values, &mut factor);
            let b: Vec<[f64; SIDES]> = (0..d).map(|_| [(); SIDES].map(|()| rng.normal())).collect();
            let mut x = b.clone();
            pattern.solve_lower(&factor, &mut x);
            pattern.solve_transposed(&factor, &mut x);
            for k in 0..SIDES {
                for (row, b) in full[k].chunks_exact(d).zip(&b) {
                    let product: f64 = row.iter().zip(&x).map(|(a, x)| a * x[k]).sum();
                    assert!((product - b[k]).abs() < 1e-12, "{product} {}", b[k]);
                }
                let log_det: f64 = pattern.pivots(&factor).iter().map(|p| 2.0 * p[k].ln()).sum();
                let exact: f64 =
                    symmetric_eigen(&full[k], d).map_or(f64::NAN, |e| e.values.iter().map(|x| x.ln()).sum());
                assert!((log_det - exact).abs() < 1e-10, "{log_det} {exact}");
            }
        }
    }

    /// A dense tail of any size is eliminated in blocks to the bits that columns one after another give.
    #[test]
    fn blocks_give_the_same_bits() {
        let mut rng = Stream::new(6, 0, 0);
        for (few, tail) in [(0, 1), (5, 48), (30, 49), (40, 101), (7, 150)] {
            let d = few + tail;
            let mut entries: Vec<(u32, u32)> = (0..d as u32).map(|i| (i, i)).collect();
            for i in 0..few as u32 {
                (0..3).for_each(|_| entries.push((i, few as u32 + (rng.uniform() * tail as f64) as u32)));
            }
            (0..tail).for_each(|i| (0..i).for_each(|j| entries.push(((few + i) as u32, (few + j) as u32))));
            entries.sort_unstable();
            entries.dedup();
            let mut value = |i, j| if i == j { 1.0 + d as f64 } else { rng.uniform() - 0.5 };
            let values: Vec<[f64; SIDES]> =
                entries.iter().map(|&(i, j)| [(); SIDES].map(|()| value(i, j))).collect();
            let pattern = Pattern::new(d, &entries);
            assert_eq!(d - pattern.tail >= tail, tail > eliminate::BLOCK, "{} of {d}", pattern.tail);
            let by_columns = Pattern { tail: d, ..pattern.clone() };
            let [mut blocks, mut columns] = [Vec::new(), Vec::new()];
            pattern.factor(&values, &mut blocks);
            by_columns.factor(&values, &mut columns);
            assert!(blocks == columns && blocks.iter().flatten().all(|x| x.is_finite()));
        }
    }
}
