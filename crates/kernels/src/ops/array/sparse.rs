//! The sparse part of a linear predictor: a few entries in each row, as effects of groups have them.

use crate::num::real::Packed;
use std::cell::Cell;

/// So many entries in each row. Where many rows that follow each other have theirs at the same places, as
/// those of a group do, coefficients and what goes back to them stay in registers for all of these.
#[derive(Clone, Debug)]
pub struct Sparse {
    /// Number of entries in a row.
    pub entries: usize,
    /// Coefficients, row by row.
    pub places: Vec<u32>,
    /// How much each counts.
    pub factors: Vec<f64>,
    /// The first row of each run of rows with the same places, and the end of the last; none where runs are
    /// short.
    runs: Vec<u32>,
}

/// Most entries of a row that stay in registers.
const MOST_ENTRIES: usize = 6;

/// Rows of a run, on average, from which on runs are worth telling apart.
const LONG: usize = 4;

impl Sparse {
    /// These entries, so many in each row.
    pub fn new(entries: usize, places: Vec<u32>, factors: Vec<f64>) -> Sparse {
        let mut sparse = Sparse { entries, places, factors, runs: Vec::new() };
        sparse.runs = sparse.find_runs();
        sparse
    }

    /// Runs of rows with the same places, if they are long enough.
    fn find_runs(&self) -> Vec<u32> {
        if !self.would_serve(0) {
            return Vec::new();
        }
        let rows = self.factors.len() / self.entries;
        let begins = |&row: &usize| row == 0 || self.places_of(row) != self.places_of(row - 1);
        let mut runs: Vec<u32> = (0..rows).filter(begins).map(|row| row as u32).collect();
        if !self.would_serve(runs.len()) {
            return Vec::new();
        }
        runs.push(rows as u32);
        runs
    }

    /// Whether the rows in so many runs would be worth telling apart: they are long enough on average, and a
    /// row has no more entries than registers.
    pub fn would_serve(&self, runs: usize) -> bool {
        (1..=MOST_ENTRIES).contains(&self.entries) && LONG * runs * self.entries <= self.factors.len()
    }

    /// Whether rows with the same places stand together.
    pub fn has_runs(&self) -> bool {
        !self.runs.is_empty()
    }

    /// The coefficients of the entries of a row.
    pub fn places_of(&self, row: usize) -> &[u32] {
        &self.places[row * self.entries..(row + 1) * self.entries]
    }

    /// How much these count.
    pub fn factors_of(&self, row: usize) -> &[f64] {
        &self.factors[row * self.entries..(row + 1) * self.entries]
    }

    /// Adds the entries of rows `start..start + out.len()`.
    #[inline(always)]
    pub(super) fn forward<U: Packed>(&self, v: &[U], start: usize, out: &mut [U]) {
        let m = self.entries;
        if self.has_runs() {
            let mut from = 0;
            while from < out.len() {
                let to = self.end_of_run(start + from).min(start + out.len()) - start;
                self.run_forward(v, start + from, &mut out[from..to]);
                from = to;
            }
            return;
        }
        let (places, factors) = (&self.places[start * m..], &self.factors[start * m..]);
        for (i, o) in out.iter_mut().enumerate() {
            let mut sum = *o;
            for j in i * m..(i + 1) * m {
                sum = sum.add_scaled(factors[j], v[places[j] as usize]);
            }
            *o = sum;
        }
    }

    /// Adds what rows `start..start + up.len()` take back to the coefficients.
    #[inline(always)]
    pub(super) fn reverse<U: Packed>(&self, start: usize, up: &[U], into: &[Cell<U>]) {
        let m = self.entries;
        if self.has_runs() {
            let mut from = 0;
            while from < up.len() {
                let to = self.end_of_run(start + from).min(start + up.len()) - start;
                self.run_reverse(start + from, &up[from..to], into);
                from = to;
            }
            return;
        }
        let (places, factors) = (&self.places[start * m..], &self.factors[start * m..]);
        for (i, &u) in up.iter().enumerate() {
            for j in i * m..(i + 1) * m {
                let to = &into[places[j] as usize];
                to.set(to.get().add_scaled(factors[j], u));
            }
        }
    }

    /// Where the run that a row belongs to ends.
    #[inline(always)]
    fn end_of_run(&self, row: usize) -> usize {
        self.runs[self.runs.partition_point(|&first| first as usize <= row)] as usize
    }

    #[inline(always)]
    fn run_forward<U: Packed>(&self, v: &[U], row: usize, out: &mut [U]) {
        let (places, factors) = (self.places_of(row), &self.factors[row * self.entries..]);
        match self.entries {
            1 => rows_forward::<U, 1>(places, factors, v, out),
            2 => rows_forward::<U, 2>(places, factors, v, out),
            3 => rows_forward::<U, 3>(places, factors, v, out),
            4 => rows_forward::<U, 4>(places, factors, v, out),
            5 => rows_forward::<U, 5>(places, factors, v, out),
            _ => rows_forward::<U, MOST_ENTRIES>(places, factors, v, out),
        }
    }

    #[inline(always)]
    fn run_reverse<U: Packed>(&self, row: usize, up: &[U], into: &[Cell<U>]) {
        let (places, factors) = (self.places_of(row), &self.factors[row * self.entries..]);
        match self.entries {
            1 => rows_reverse::<U, 1>(places, factors, up, into),
            2 => rows_reverse::<U, 2>(places, factors, up, into),
            3 => rows_reverse::<U, 3>(places, factors, up, into),
            4 => rows_reverse::<U, 4>(places, factors, up, into),
            5 => rows_reverse::<U, 5>(places, factors, up, into),
            _ => rows_reverse::<U, MOST_ENTRIES>(places, factors, up, into),
        }
    }
}

/// Adds N entries at these places to each row.
#[inline(always)]
fn rows_forward<U: Packed, const N: usize>(places: &[u32], factors: &[f64], v: &[U], out: &mut [U]) {
    let mut own = [U::zero(); N];
    for j in 0..N {
        own[j] = v[places[j] as usize];
    }
    for (o, factors) in out.iter_mut().zip(factors.as_chunks::<N>().0) {
        let mut sum = *o;
        for j in 0..N {
            sum = sum.add_scaled(factors[j], own[j]);
        }
        *o = sum;
    }
}

/// Adds what rows take back to N coefficients at these places.
#[inline(always)]
fn rows_reverse<U: Packed, const N: usize>(places: &[u32], factors: &[f64], up: &[U], into: &[Cell<U>]) {
    let mut sums = [U::zero(); N];
    for (&u, factors) in up.iter().zip(factors.as_chunks::<N>().0) {
        for j in 0..N {
            sums[j] = sums[j].add_scaled(factors[j], u);
        }
    }
    for j in 0..N {
        let to = &into[places[j] as usize];
        to.set(to.get() + sums[j]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs change no more than the order in which numbers are added.
    #[test]
    fn rows_of_a_group_together_are_rows_one_by_one() {
        for entries in 1..=MOST_ENTRIES {
            let groups: Vec<usize> =
                [5, 9, 4, 70, 1, 12].iter().enumerate().flat_map(|(g, n)| vec![g; *n]).collect();
            let places =
                groups.iter().flat_map(|g| (0..entries).map(move |j| (g * entries + j) as u32)).collect();
            let factors: Vec<f64> = (0..groups.len() * entries).map(|i| (i as f64).sin()).collect();
            let together = Sparse::new(entries, places, factors);
            assert!(!together.runs.is_empty());
            let apart = Sparse { runs: Vec::new(), ..together.clone() };
            let v: Vec<f64> = (0..6 * entries).map(|i| (i as f64).cos()).collect();
            for (start, end) in [(0, groups.len()), (3, 17), (15, 16), (20, 90)] {
                let up: Vec<f64> = (start..end).map(|i| (0.3 * i as f64).sin()).collect();
                let both = [&together, &apart].map(|sparse| {
                    let mut out = vec![1.0; end - start];
                    sparse.forward(&v, start, &mut out);
                    let into = vec![Cell::new(0.5); v.len()];
                    sparse.reverse(start, &up, &into);
                    out.extend(into.iter().map(Cell::get));
                    out
                });
                assert!(both[0].iter().zip(&both[1]).all(|(a, b)| (a - b).abs() < 1e-13));
            }
        }
    }
}
