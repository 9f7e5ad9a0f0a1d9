//! Which columns of a sparse Hessian can be read from the difference of two gradients.

use std::collections::HashSet;

/// Where each entry of the lower triangle of a symmetric matrix is read.
pub(in crate::infer) struct Reading {
    /// Rows and columns of the entries, each unordered pair once.
    pub(in crate::infer) entries: Vec<(u32, u32)>,
    /// For each entry the colour that moves, and the row to read.
    pub(in crate::infer) from: Vec<(usize, usize)>,
    /// The coordinates of each colour, which move together.
    pub(in crate::infer) colours: Vec<Vec<usize>>,
}

impl Reading {
    /// Of entries that are read from no gradients.
    pub(in crate::infer) fn of_forms(entries: &[(u32, u32)]) -> Reading {
        Reading { entries: entries.to_vec(), from: Vec::new(), colours: Vec::new() }
    }
}

/// Columns with more entries than this many times the median get a colour each, and their rows are read from
/// them.
const CROWDED: usize = 4;

/// Colours the columns of a pattern (for each column its rows, diagonal included), so that no row sees two of
/// one colour, save rows that are read from a column of their own.
pub(in crate::infer) fn read(columns: &[Vec<usize>]) -> Reading {
    let d = columns.len();
    let mut sizes: Vec<usize> = columns.iter().map(Vec::len).collect();
    sizes.sort_unstable();
    let crowded = CROWDED * sizes.get(d / 2).copied().unwrap_or(1).max(2);
    let alone: Vec<bool> = columns.iter().map(|c| c.len() > crowded).collect();
    let (mut colours, mut colour_of) = (Vec::<Vec<usize>>::new(), vec![usize::MAX; d]);
    for i in (0..d).filter(|&i| alone[i]) {
        colour_of[i] = colours.len();
        colours.push(vec![i]);
    }
    let first = colours.len();
    for i in (0..d).filter(|&i| !alone[i]) {
        // Rows are also columns: the columns that share a row with this one are those of the rows' own
        // columns.
        let near = columns[i].iter().filter(|&&r| !alone[r]).flat_map(|&r| &columns[r]);
        let taken: HashSet<usize> = near.map(|&j| colour_of[j]).collect();
        let colour = (first..).find(|c| !taken.contains(c)).unwrap_or(first);
        colour_of[i] = colour;
        if colour == colours.len() {
            colours.push(Vec::new());
        }
        colours[colour].push(i);
    }
    let (mut entries, mut from) = (Vec::new(), Vec::new());
    for (j, rows) in columns.iter().enumerate() {
        for &i in rows.iter().filter(|&&i| i <= j) {
            entries.push((i as u32, j as u32));
            // Row i of column j, or row j of column i where i has a colour of its own.
            let (column, row) = if alone[i] { (i, j) } else { (j, i) };
            from.push((colour_of[column], row));
        }
    }
    Reading { entries, from, colours }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Hessian of an arrow with blocks is read back from its products with the colours.
    #[test]
    fn every_entry_is_read_from_a_colour_that_shows_it_alone() {
        let (groups, d) = (30, 62);
        let value = |i: usize, j: usize| -> f64 {
            let block = i < 2 * groups && j < 2 * groups && i / 2 == j / 2;
            let shared = i >= 2 * groups || j >= 2 * groups;
            if block || shared { 1.0 + (i + j) as f64 + (i * j) as f64 } else { 0.0 }
        };
        let columns: Vec<Vec<usize>> =
            (0..d).map(|j| (0..d).filter(|&i| value(i, j) != 0.0).collect()).collect();
        let reading = read(&columns);
        assert_eq!(reading.colours.len(), 4);
        for (&(i, j), &(colour, row)) in reading.entries.iter().zip(&reading.from) {
            let product: f64 = reading.colours[colour].iter().map(|&c| value(row, c)).sum();
            assert_eq!(product, value(i as usize, j as usize));
        }
        let count: usize = columns.iter().map(Vec::len).sum();
        assert_eq!(reading.entries.len(), (count + d) / 2);
    }
}
