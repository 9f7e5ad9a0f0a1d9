//! Names with `*` (any characters, or none) and `?` (one character).

/// Whether a pattern has anything in it that a name would not.
pub fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?'])
}

/// Whether the whole name fits the pattern.
///
/// After a mismatch the last `*` takes one character more, so the time is at most the product of the lengths.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => (p, n) = (p + 1, n + 1),
            _ => match retry {
                Some((star, taken)) => {
                    (p, n) = (star + 1, taken + 1);
                    retry = Some((star, taken + 1));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_take_any_run_and_question_marks_one() {
        for (pattern, name, expected) in [
            ("sex*", "sex_f", true),
            ("sex*", "sex", true),
            ("*sex", "unsex", true),
            ("s?x", "sex", true),
            ("s?x", "sx", false),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b", "abab_", false),
            ("*", "", true),
            ("?", "é", true),
            ("age", "ages", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
