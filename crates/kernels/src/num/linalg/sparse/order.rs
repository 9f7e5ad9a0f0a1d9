//! In which order the rows of a sparse symmetric matrix are eliminated: that of approximate minimum degree.
//!
//! What is eliminated joins all its neighbours to each other. That clique is kept as one *element*, the list
//! of its rows, rather than as its pairs; an element whose rows all lie in a newer one is dropped. The degree
//! of a row is bounded by the sizes of its elements, less what each shares with the newest (Amestoy, Davis &
//! Duff, 1996).

use std::collections::BTreeSet;

/// The rows in the order of elimination, from the entries (row, column); of rows with the same bound on their
/// degree the first comes first.
pub(super) fn order(d: usize, entries: &[(u32, u32)]) -> Vec<usize> {
    let mut graph = Quotient::new(d, entries);
    let mut queue: BTreeSet<(usize, usize)> = (0..d).map(|i| (graph.degree[i], i)).collect();
    let mut order = Vec::with_capacity(d);
    while let Some((_, pivot)) = queue.pop_first() {
        order.push(pivot);
        for (row, degree) in graph.eliminate(pivot, d - order.len()) {
            let before = std::mem::replace(&mut graph.degree[row], degree);
            if before != degree {
                queue.remove(&(before, row));
                queue.insert((degree, row));
            }
        }
    }
    order
}

/// The graph of what is left to eliminate.
struct Quotient {
    /// For each row the rows that it meets in an entry, save those in an element of its own.
    near: Vec<Vec<u32>>,
    /// For each row the pivots whose elements it is in.
    elements: Vec<Vec<u32>>,
    /// For each pivot the rows of its element; none once it was dropped.
    rows: Vec<Vec<u32>>,
    /// A bound on the number of rows that each meets.
    degree: Vec<usize>,
    /// For each pivot how many rows of its element are not in the newest, and for which pivot that holds.
    outside: Vec<(usize, usize)>,
    /// The pivot whose element each row was last seen in, counted from one; whether each was eliminated.
    seen: Vec<usize>,
    gone: Vec<bool>,
}

impl Quotient {
    fn new(d: usize, entries: &[(u32, u32)]) -> Quotient {
        let mut near = vec![Vec::new(); d];
        for &(i, j) in entries.iter().filter(|(i, j)| i != j) {
            near[i as usize].push(j);
            near[j as usize].push(i);
        }
        let degree = near.iter().map(Vec::len).collect();
        let (elements, rows) = (vec![Vec::new(); d], vec![Vec::new(); d]);
        let (outside, seen, gone) = (vec![(0, 0); d], vec![0; d], vec![false; d]);
        Quotient { near, elements, rows, degree, outside, seen, gone }
    }

    /// Eliminates a row; the new bounds on the degrees of its neighbours, where so many rows are left.
    fn eliminate(&mut self, pivot: usize, left: usize) -> Vec<(usize, usize)> {
        let stamp = pivot + 1;
        self.gone[pivot] = true;
        self.seen[pivot] = stamp;
        let mut rows = Vec::new();
        let old = std::mem::take(&mut self.elements[pivot]);
        let parts = old.iter().map(|&e| std::mem::take(&mut self.rows[e as usize]));
        for part in parts.chain([std::mem::take(&mut self.near[pivot])]) {
            for row in part {
                let at = row as usize;
                if !self.gone[at] && self.seen[at] != stamp {
                    self.seen[at] = stamp;
                    rows.push(row);
                }
            }
        }
        for &row in &rows {
            self.leave(row as usize, stamp);
        }
        self.rows[pivot] = rows;
        let rows = &self.rows[pivot];
        let of_row = |&row: &u32| {
            let row = row as usize;
            let outside = |&e: &u32| if e as usize == pivot { 0 } else { self.outside[e as usize].0 };
            let others: usize = self.elements[row].iter().map(outside).sum();
            let most = self.degree[row] + rows.len() - 1;
            (row, (self.near[row].len() + rows.len() - 1 + others).min(most).min(left.saturating_sub(1)))
        };
        rows.iter().map(of_row).collect()
    }

    /// Drops what the newest element has of a row's own lists, and counts the row out of its other elements.
    fn leave(&mut self, row: usize, stamp: usize) {
        let (seen, gone) = (&self.seen, &self.gone);
        self.near[row].retain(|&j| seen[j as usize] != stamp && !gone[j as usize]);
        let (rows, outside) = (&self.rows, &mut self.outside);
        self.elements[row].retain(|&e| {
            let e = e as usize;
            if rows[e].is_empty() {
                return false;
            }
            if outside[e].1 != stamp {
                outside[e] = (rows[e].iter().filter(|&&r| !gone[r as usize]).count(), stamp);
            }
            outside[e].0 -= 1;
            true
        });
        self.elements[row].push(stamp as u32 - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::linalg::Pattern;
    use crate::num::stream::Stream;

    /// Every row is eliminated once; trees, and chains in any numbering, stay free of fill.
    #[test]
    fn trees_stay_free_of_fill() {
        let mut stream = Stream::new(1, 0, 0);
        for d in [1, 2, 7, 60, 400] {
            let names: Vec<u32> = {
                let mut keyed: Vec<(f64, u32)> = (0..d as u32).map(|i| (stream.uniform(), i)).collect();
                keyed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
                keyed.into_iter().map(|k| k.1).collect()
            };
            let parent = |i: usize, chain: bool, u: f64| if chain { i - 1 } else { (u * i as f64) as usize };
            for chain in [true, false] {
                let mut entries: Vec<(u32, u32)> = (0..d as u32).map(|i| (i, i)).collect();
                for i in 1..d {
                    entries.push((names[i], names[parent(i, chain, stream.uniform())]));
                }
                let mut sorted = order(d, &entries);
                sorted.sort_unstable();
                assert_eq!(sorted, (0..d).collect::<Vec<_>>());
                let below: usize =
                    Pattern::new(d, &entries).columns().iter().map(ExactSizeIterator::len).sum();
                assert_eq!(below, d - 1);
            }
        }
    }

    /// A grid of 40 x 40 has a factor of a few times its entries (nested dissection: about 31 n log2(n) / 8
    /// numbers), where the order of its rows leaves 40 in each column.
    #[test]
    fn a_grid_has_little_fill() {
        let side = 40;
        let at = |i: u32, j: u32| i * side + j;
        let mut entries = Vec::new();
        for i in 0..side {
            for j in 0..side {
                entries.push((at(i, j), at(i, j)));
                entries.extend((i > 0).then(|| (at(i, j), at(i - 1, j))));
                entries.extend((j > 0).then(|| (at(i, j), at(i, j - 1))));
            }
        }
        let pattern = Pattern::new(1600, &entries);
        let below: usize = pattern.columns().iter().map(ExactSizeIterator::len).sum();
        assert!(below < 20_000, "{below}");
    }
}
