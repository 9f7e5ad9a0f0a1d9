//! Precision matrices by the entries that any of them can have: effects of groups hardly meet each other.

use crate::infer::approximate::quadrature::family::{Columns, Family};
use crate::infer::search::whiten::inverse_root;
use crate::num::linalg::Pattern;
use crate::structure::Affine;
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

/// Fewest rows for which this pays, and how many times less work a factorisation must be than one in full.
const FEWEST: usize = 50;
const LESS: usize = 20;
/// Right sides solved together.
const SIDES: usize = 16;

/// Matrices with these entries on and below the diagonal; the root of an inverse is L⁻ᵀ, held as L, where L
/// Lᵀ is the matrix.
pub(in crate::infer) struct Sparse {
    pattern: Pattern,
    entries: Vec<(u32, u32)>,
    /// For each run of rows where the entries of its pairs of columns stand.
    slots: Vec<Vec<usize>>,
}

impl Sparse {
    /// None where matrices are small, or a factorisation would fill them.
    pub(in crate::infer) fn new(affine: &Affine, runs: &[Range<usize>], d: usize) -> Option<Sparse> {
        let widest = runs.iter().map(|run| affine.row(run.start).0.len()).max()?;
        if d < FEWEST || widest.pow(2) > d * d / LESS {
            return None;
        }
        let mut known: HashMap<(u32, u32), usize> = (0..d).map(|i| ((i as u32, i as u32), i)).collect();
        let mut entries: Vec<(u32, u32)> = (0..d as u32).map(|i| (i, i)).collect();
        let mut slot = |i: u32, j: u32| {
            let pair = (i.max(j), i.min(j));
            *known.entry(pair).or_insert_with(|| {
                entries.push(pair);
                entries.len() - 1
            })
        };
        let of_run = |run: &Range<usize>| {
            let (columns, _) = affine.row(run.start);
            pairs(columns.len()).map(|(i, j)| slot(columns[i], columns[j])).collect()
        };
        let slots = runs.iter().map(of_run).collect();
        let pattern = Pattern::new(d, &entries);
        (pattern.work() < d.pow(3) / LESS).then_some(Sparse { pattern, entries, slots })
    }

    fn d(&self) -> usize {
        self.pattern.dimension()
    }

    /// Fills as many right sides as there are rows and hands each sixteen of them to `with`, solved for `L
    /// y`, with the first of them and how many there are.
    fn solved<R: Send>(
        &self,
        root: &[f64],
        fill: impl Fn(usize, &mut dyn FnMut(usize, f64)) + Sync,
        with: impl Fn(&[[f64; SIDES]], Vec<[f64; SIDES]>, Range<usize>) -> R + Sync,
    ) -> Vec<R> {
        let d = self.d();
        let wide: Vec<[f64; SIDES]> = root.iter().map(|x| [*x; SIDES]).collect();
        let some = |first: usize| {
            let range = first..d.min(first + SIDES);
            let mut y = vec![[0.0; SIDES]; d];
            for (lane, side) in range.clone().enumerate() {
                fill(side, &mut |i, x| y[i][lane] = x);
            }
            self.pattern.solve_lower(&wide, &mut y);
            with(&wide, y, range)
        };
        (0..d).step_by(SIDES).collect::<Vec<_>>().into_par_iter().map(some).collect()
    }
}

impl Family for Sparse {
    fn zero(&self) -> Vec<f64> {
        vec![0.0; self.entries.len()]
    }

    fn identity(&self, times: f64) -> Vec<f64> {
        self.entries.iter().map(|(i, j)| if i == j { times } else { 0.0 }).collect()
    }

    fn add(&self, run: usize, columns: &[u32], h: &[f64], to: &mut [f64]) {
        let k = columns.len();
        pairs(k).zip(&self.slots[run]).for_each(|((i, j), slot)| to[*slot] += h[i * k + j]);
    }

    fn root(&self, matrix: &[f64]) -> Option<Vec<f64>> {
        let mut factor = Vec::new();
        self.pattern.factor::<1>(matrix.as_chunks().0, &mut factor);
        let sound = self.pattern.pivots(&factor).iter().all(|p| p[0] > 0.0 && p[0].is_finite());
        sound.then_some(factor.into_flattened())
    }

    fn triangle(&self, matrix: &[f64], _: Vec<f64>) -> Option<Vec<f64>> {
        let d = self.d();
        let mut all = vec![0.0; d * d];
        for (&(i, j), x) in self.entries.iter().zip(matrix) {
            all[i as usize * d + j as usize] = *x;
            all[j as usize * d + i as usize] = *x;
        }
        inverse_root(&all, d, 0.0)
    }

    fn log_det(&self, root: &[f64]) -> f64 {
        -root[..self.d()].iter().map(|x| x.ln()).sum::<f64>()
    }

    fn solve(&self, root: &[f64], x: &[f64]) -> (Vec<f64>, f64) {
        let root = root.as_chunks::<1>().0;
        let mut y: Vec<[f64; 1]> = x.iter().map(|x| [*x]).collect();
        self.pattern.solve_lower(root, &mut y);
        let square = y.as_flattened().iter().map(|x| x * x).sum();
        self.pattern.solve_transposed(root, &mut y);
        (y.into_flattened(), square)
    }

    fn columns<'r>(&'r self, root: &'r [f64]) -> Columns<'r> {
        let unit = |side: usize, put: &mut dyn FnMut(usize, f64)| put(side, 1.0);
        let some = self.solved(root, unit, |_, y, sides| {
            let mut some: Vec<Vec<(usize, f64)>> = vec![Vec::new(); sides.len()];
            for (i, y) in y.iter().enumerate() {
                let filled = some.iter_mut().zip(y).filter(|(_, x)| **x != 0.0);
                filled.for_each(|(side, x)| side.push((i, *x)));
            }
            some
        });
        let all = some.concat();
        Box::new(move |columns| {
            let of = |c: &u32| &all[*c as usize];
            let mut kept: Vec<usize> = columns.iter().flat_map(of).map(|(i, _)| *i).collect();
            kept.sort_unstable();
            kept.dedup();
            let mut out = vec![0.0; columns.len() * kept.len()];
            for (c, row) in columns.iter().zip(out.chunks_exact_mut(kept.len().max(1))) {
                for (i, x) in of(c) {
                    row[kept.partition_point(|k| k < i)] = *x;
                }
            }
            out
        })
    }

    /// The trace of the square of `Σ Δ`, for the inverse Σ: column by column.
    fn gain(&self, root: &[f64], difference: &[f64]) -> f64 {
        let d = self.d();
        let mut by_column: Vec<Vec<(usize, f64)>> = vec![Vec::new(); d];
        for (&(i, j), x) in self.entries.iter().zip(difference) {
            by_column[j as usize].push((i as usize, *x));
            if i != j {
                by_column[i as usize].push((j as usize, *x));
            }
        }
        let column = |side: usize, put: &mut dyn FnMut(usize, f64)| {
            by_column[side].iter().for_each(|&(i, x)| put(i, x));
        };
        let some = self.solved(root, column, |wide, mut y, sides| {
            self.pattern.solve_transposed(wide, &mut y);
            (sides, y)
        });
        let mut product = vec![0.0; d * d];
        for (sides, y) in some {
            for (i, y) in y.iter().enumerate() {
                product[i * d + sides.start..i * d + sides.end].copy_from_slice(&y[..sides.len()]);
            }
        }
        let row = |i: usize| (0..d).map(|j| product[i * d + j] * product[j * d + i]).sum::<f64>();
        0.25 * (0..d).map(row).sum::<f64>()
    }
}

/// The pairs of so many columns, each once.
fn pairs(k: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..k).flat_map(|i| (0..=i).map(move |j| (i, j)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::approximate::quadrature::full::Full;
    use crate::num::stream::Stream;

    /// Groups of three coordinates below two shared ones: rows that meet one group and the shared ones.
    fn rows(groups: u32) -> (Affine, Vec<Range<usize>>, usize) {
        let mut stream = Stream::new(5, 1, 1);
        let d = 2 + 3 * groups as usize;
        let one = |g: u32, stream: &mut Stream| {
            let columns: Vec<u32> = [0, 1].into_iter().chain(2 + 3 * g..5 + 3 * g).collect();
            let matrix: Vec<f64> = (0..6 * d)
                .map(|p| if columns.contains(&((p % d) as u32)) { stream.normal() } else { 0.0 })
                .collect();
            Affine::design(matrix.into(), 0, d)
        };
        let parts: Vec<Affine> = (0..groups).map(|g| one(g, &mut stream)).collect();
        let affine = Affine::concat(parts.iter());
        let runs = (0..groups as usize).map(|g| 6 * g..6 * (g + 1)).collect();
        (affine, runs, d)
    }

    /// Both ways of holding a matrix answer every question alike.
    #[test]
    fn entries_say_what_the_full_matrix_says() {
        let (affine, runs, d) = rows(30);
        let (sparse, full) = (Sparse::new(&affine, &runs, d).unwrap(), Full { d });
        let made = |family: &dyn Family, times: f64| {
            let mut matrix = family.identity(0.5);
            for (which, run) in runs.iter().enumerate() {
                let (columns, _) = affine.row(run.start);
                let k = columns.len();
                let mut h = vec![0.0; k * k];
                for (weight, i) in run.clone().enumerate() {
                    let values = affine.row(i).1;
                    (0..k * k)
                        .for_each(|p| h[p] += times * (1.0 + weight as f64) * values[p / k] * values[p % k]);
                }
                family.add(which, columns, &h, &mut matrix);
            }
            matrix
        };
        let of = |family: &dyn Family| {
            let (matrix, other) = (made(family, 1.0), made(family, 1.1));
            let root = family.root(&matrix).unwrap();
            let x: Vec<f64> = (0..d).map(|i| (i as f64).sin()).collect();
            let (solved, square) = family.solve(&root, &x);
            let columns = affine.row(0).0;
            let chosen = family.columns(&root)(columns);
            let width = chosen.len() / columns.len();
            let dot =
                |a: usize, b: usize| (0..width).map(|w| chosen[a * width + w] * chosen[b * width + w]).sum();
            let covariance: Vec<f64> = (0..9).map(|p| dot(p / 3, p % 3)).collect();
            let difference: Vec<f64> = matrix.iter().zip(&other).map(|(a, b)| a - b).collect();
            let scalars = vec![family.log_det(&root), square, family.gain(&root, &difference)];
            let triangle = family.triangle(&matrix, root.clone()).unwrap();
            [solved, covariance, scalars, triangle].concat()
        };
        for (a, b) in of(&sparse).iter().zip(of(&full)) {
            assert!((a - b).abs() < 1e-10 * (1.0 + b.abs()), "{a} {b}");
        }
    }
}
