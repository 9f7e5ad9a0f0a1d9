//! Precision matrices in full, row by row.

use crate::infer::approximate::quadrature::family::{Columns, Family};
use crate::infer::search::whiten::inverse_root;
use crate::num::linalg::{add_product, add_transposed_product};

/// Matrices of so many rows.
pub(in crate::infer) struct Full {
    pub(in crate::infer) d: usize,
}

impl Family for Full {
    fn zero(&self) -> Vec<f64> {
        vec![0.0; self.d * self.d]
    }

    fn identity(&self, times: f64) -> Vec<f64> {
        (0..self.d * self.d).map(|p| if p / self.d == p % self.d { times } else { 0.0 }).collect()
    }

    fn add(&self, _: usize, columns: &[u32], h: &[f64], to: &mut [f64]) {
        for (&a, h) in columns.iter().zip(h.chunks_exact(columns.len().max(1))) {
            let row = &mut to[a as usize * self.d..(a as usize + 1) * self.d];
            columns.iter().zip(h).for_each(|(&b, h)| row[b as usize] += h);
        }
    }

    fn root(&self, matrix: &[f64]) -> Option<Vec<f64>> {
        inverse_root(matrix, self.d, 0.0)
    }

    fn triangle(&self, _: &[f64], root: Vec<f64>) -> Option<Vec<f64>> {
        Some(root)
    }

    fn log_det(&self, root: &[f64]) -> f64 {
        root.iter().step_by(self.d + 1).map(|x| x.abs().ln()).sum()
    }

    fn solve(&self, root: &[f64], x: &[f64]) -> (Vec<f64>, f64) {
        let d = self.d;
        let (mut local, mut out) = (vec![0.0; d], vec![0.0; d]);
        add_transposed_product(1.0, root, x, [d, d, 1], &mut local);
        add_product(1.0, root, &local, [d, d, 1], &mut out);
        (out, local.iter().map(|x| x * x).sum())
    }

    fn columns<'r>(&'r self, root: &'r [f64]) -> Columns<'r> {
        Box::new(|columns| {
            // C is lower triangular: nothing beyond the last column counts.
            let width = columns.iter().map(|&c| c as usize + 1).max().unwrap_or(0);
            columns.iter().flat_map(|&c| &root[c as usize * self.d..][..width]).copied().collect()
        })
    }

    fn gain(&self, root: &[f64], difference: &[f64]) -> f64 {
        let d = self.d;
        let (mut half, mut relative) = (vec![0.0; d * d], vec![0.0; d * d]);
        add_product(1.0, difference, root, [d, d, d], &mut half);
        add_transposed_product(1.0, root, &half, [d, d, d], &mut relative);
        0.25 * relative.iter().map(|x| x * x).sum::<f64>()
    }
}
