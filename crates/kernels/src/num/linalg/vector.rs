//! The product of a matrix with one vector: every number of the matrix is read once, so nothing is packed.

use super::product::{Left, Part, Product, Right, Rows, dot};
use crate::num::dispatch::best;

impl Product<'_> {
    /// Whether B is one column, whose numbers follow one another, as do those of C.
    pub(super) fn is_by_vector(&self) -> bool {
        let follows = self.right == Right::Columns || self.b_stride == 1;
        self.n == 1 && self.part == Part::All && self.c_rows == Rows::Every(1) && follows
    }

    /// Adds the product with one vector.
    pub(super) fn add_by_vector(mut self) {
        best(
            #[inline(always)]
            || match self.left {
                Left::Rows | Left::LowerRows => self.along_rows_of_a(),
                Left::Columns | Left::LowerColumns => self.along_columns_of_a(),
            },
        );
    }

    #[inline(always)]
    fn along_rows_of_a(&mut self) {
        for i in 0..self.m {
            let length = if self.left == Left::LowerRows { (i + 1).min(self.depth) } else { self.depth };
            let row = &self.a[self.a_rows.start(i)..][..length];
            self.c[i] += self.scale * dot(row, &self.b[..length]);
        }
    }

    #[inline(always)]
    fn along_columns_of_a(&mut self) {
        for k in 0..self.depth {
            let width = if self.left == Left::LowerColumns { (k + 1).min(self.m) } else { self.m };
            let (row, x) = (&self.a[self.a_rows.start(k)..][..width], self.scale * self.b[k]);
            for (c, a) in self.c[..width].iter_mut().zip(row) {
                *c += x * a;
            }
        }
    }
}
