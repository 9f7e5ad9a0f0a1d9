//! Sparse symmetric matrices: whether one is positive definite, by a Cholesky factorisation that keeps it sparse.

/// The pattern of a family of symmetric matrices, analysed once: an order of elimination, and the elimination tree.
pub struct Pattern {
    /// Where each row stands in the order of elimination.
    place: Vec<usize>,
    /// For each column in that order, its rows up to the diagonal and where their values stand among the entries.
    columns: Vec<Vec<(usize, usize)>>,
    /// The parent of each column in the elimination tree.
    parent: Vec<usize>,
}

const NO_PARENT: usize = usize::MAX;

impl Pattern {
    /// From the entries (row, column), each unordered pair once, every diagonal entry among them. Rows with few entries are
    /// eliminated first, which keeps hierarchies (groups below shared parameters) and chains free of fill.
    pub fn new(d: usize, entries: &[(u32, u32)]) -> Pattern {
        let mut degree = vec![0usize; d];
        for &(i, j) in entries {
            degree[i as usize] += 1;
            degree[j as usize] += 1;
        }
        let mut order: Vec<usize> = (0..d).collect();
        order.sort_by_key(|&i| degree[i]);
        let mut place = vec![0; d];
        order.iter().enumerate().for_each(|(k, &i)| place[i] = k);
        let mut columns = vec![Vec::new(); d];
        for (at, &(i, j)) in entries.iter().enumerate() {
            let (p, q) = (place[i as usize], place[j as usize]);
            columns[p.max(q)].push((p.min(q), at));
        }
        let parent = elimination_tree(&columns);
        Pattern { place, columns, parent }
    }

    /// Whether the matrix with these values (one for each entry) is positive definite: whether every pivot of its Cholesky
    /// factorisation is positive.
    pub fn is_positive_definite(&self, values: &[f64]) -> bool {
        let d = self.place.len();
        let mut factor: Vec<Vec<(usize, f64)>> = vec![Vec::new(); d];
        let mut diagonal = vec![0.0; d];
        let (mut x, mut mark, mut path) = (vec![0.0; d], vec![usize::MAX; d], Vec::new());
        for k in 0..d {
            let mut pivot = 0.0;
            path.clear();
            mark[k] = k;
            for &(i, at) in &self.columns[k] {
                if i == k {
                    pivot += values[at];
                } else {
                    x[i] += values[at];
                }
                let mut node = i;
                while node != NO_PARENT && mark[node] != k {
                    mark[node] = k;
                    path.push(node);
                    node = self.parent[node];
                }
            }
            path.sort_unstable();
            for &i in &path {
                let entry = x[i] / diagonal[i];
                x[i] = 0.0;
                for &(row, value) in &factor[i] {
                    x[row] -= entry * value;
                }
                pivot -= entry * entry;
                factor[i].push((k, entry));
            }
            if !(pivot > 0.0) {
                return false;
            }
            diagonal[k] = pivot.sqrt();
        }
        true
    }
}

fn elimination_tree(columns: &[Vec<(usize, usize)>]) -> Vec<usize> {
    let d = columns.len();
    let (mut parent, mut ancestor) = (vec![NO_PARENT; d], vec![NO_PARENT; d]);
    for k in 0..d {
        for &(i, _) in &columns[k] {
            let mut node = i;
            while node != NO_PARENT && node < k {
                let next = ancestor[node];
                ancestor[node] = k;
                if next == NO_PARENT {
                    parent[node] = k;
                }
                node = next;
            }
        }
    }
    parent
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::linalg::symmetric_eigen;
    use crate::num::stream::Stream;

    #[test]
    fn agrees_with_eigenvalues_on_random_matrices() {
        let mut rng = Stream::new(3, 0, 0);
        for d in [1, 2, 5, 12, 30] {
            for _ in 0..60 {
                let mut entries: Vec<(u32, u32)> = (0..d as u32).map(|i| (i, i)).collect();
                for i in 0..d as u32 {
                    (0..i).filter(|_| rng.uniform() < 0.2).for_each(|j| entries.push((i, j)));
                }
                let values: Vec<f64> = entries
                    .iter()
                    .map(|&(i, j)| if i == j { 1.0 + rng.uniform() } else { rng.uniform() - 0.5 })
                    .collect();
                let mut dense = vec![0.0; d * d];
                for (&(i, j), &v) in entries.iter().zip(&values) {
                    dense[i as usize * d + j as usize] = v;
                    dense[j as usize * d + i as usize] = v;
                }
                let least = symmetric_eigen(&dense, d).map_or(f64::NAN, |e| e.values[0]);
                assert_eq!(Pattern::new(d, &entries).is_positive_definite(&values), least > 0.0, "{least}");
            }
        }
    }
}
