//! The nearest known name, for 'did you mean'.

/// The candidate closest to `name` by edit distance (transpositions count one), if close enough to be a slip;
/// otherwise the shortest that has all its words, if it has several: `lkj_corr_cholesky` for `lkj_cholesky`.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    slip(name, &candidates).or_else(|| with_all_words(name, &candidates))
}

fn with_all_words<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower.split('_').filter(|w| !w.is_empty()).collect();
    if words.len() < 2 {
        return None;
    }
    let has_all = |c: &&&str| {
        let c = c.to_lowercase();
        words.iter().all(|word| c.split('_').any(|w| w == *word))
    };
    candidates.iter().filter(has_all).min_by_key(|c| c.len()).copied()
}

fn slip<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let letters = name.chars().count();
    let limit = if letters < 2 { 0 } else { (letters / 3).max(1) };
    let lower = name.to_lowercase();
    let first = lower.chars().next();
    candidates
        .iter()
        .map(|&c| (distance(&lower, &c.to_lowercase()), c))
        // Any two names of one or two letters are near each other; only those that begin alike may be slips.
        .filter(|(d, c)| *d <= limit && (letters > 2 || *d == 0 || c.to_lowercase().chars().next() == first))
        .min_by_key(|(d, c)| (*d, c.len()))
        .map(|(_, c)| c)
}

/// Optimal string alignment distance.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0].iter_mut().enumerate().for_each(|(j, cell)| *cell = j);
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_slips_and_nothing_else() {
        let names = ["theta", "sigma", "normal", "student_t", "lkj_corr_cholesky", "gp_exp_quad_cov"];
        for (typed, meant) in [
            ("thetta", Some("theta")),
            ("simga", Some("sigma")),
            ("Normal", Some("normal")),
            ("studentt", Some("student_t")),
            ("lkj_cholesky", Some("lkj_corr_cholesky")),
            ("cov_exp_quad", Some("gp_exp_quad_cov")),
            ("cov", None),
            ("xyzzy", None),
        ] {
            assert_eq!(nearest(typed, names), meant, "{typed}");
        }
    }
}
