//! Groups of inner coordinates that are independent given the outer ones.

/// The group of each inner coordinate, from the rows of each column of their Hessian: what is connected
/// belongs together.
pub(super) fn groups(columns: &[Vec<usize>]) -> Vec<usize> {
    let mut group = vec![usize::MAX; columns.len()];
    let mut count = 0;
    for first in 0..columns.len() {
        if group[first] != usize::MAX {
            continue;
        }
        let mut open = vec![first];
        group[first] = count;
        while let Some(j) = open.pop() {
            for &i in &columns[j] {
                if group[i] == usize::MAX {
                    group[i] = count;
                    open.push(i);
                }
            }
        }
        count += 1;
    }
    group
}

/// How many coordinates each group has, from the group of each.
pub(super) fn sizes(group: &[usize]) -> Vec<usize> {
    let mut sizes = vec![0; group.iter().max().map_or(0, |g| g + 1)];
    group.iter().for_each(|&g| sizes[g] += 1);
    sizes
}

/// Which of its group each coordinate is, from the group of each.
pub(super) fn places(group: &[usize]) -> Vec<usize> {
    let mut seen = vec![0; group.iter().max().map_or(0, |g| g + 1)];
    let next = |&g: &usize| {
        seen[g] += 1;
        seen[g] - 1
    };
    group.iter().map(next).collect()
}

/// What a candidate adds to the log density; minus infinity where that is not known.
pub(super) fn known(gain: f64) -> f64 {
    if gain.is_nan() { f64::NEG_INFINITY } else { gain }
}
