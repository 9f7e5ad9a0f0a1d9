//! Tables with one row for each level of a category, matched to it by label.

use super::array::{Array, Cells};
use super::dataset::{Dataset, ambiguous};
use super::found::{Found, Part};
use super::levels::Levels;
use super::say;
use crate::source::Diagnostic;
use std::collections::{HashMap, HashSet};

/// What to do about missing labels.
const LABELS: &str = "write the label of the level that each row belongs to";

impl Dataset {
    /// The column that a category is declared by. Where several tables have it, it is the key of those that
    /// hold each value once (group-level tables) and the category itself in the one that does not.
    pub fn find_category(&self, name: &str) -> Result<Option<Found<'_>>, Diagnostic> {
        let parts = self.named(name)?;
        if parts.len() < 2 || parts.iter().any(|p| !p.file.is_table()) {
            return self.find(name);
        }
        let (keys, rest): (Vec<Part<'_>>, Vec<Part<'_>>) = parts.into_iter().partition(|p| is_key(p.array));
        match rest.as_slice() {
            [] => Ok(keys.first().map(|part| Found::single(name, *part))),
            [first, others @ ..] => match others.iter().find(|p| !p.array.same(first.array)) {
                None => Ok(Some(Found::single(name, *first))),
                Some(other) => Err(repeats(name, first, other)),
            },
        }
    }
}

/// The error for a category that repeats values in two tables, with the first repeat in the shorter of them:
/// that one may have been meant as a group-level table.
fn repeats(name: &str, first: &Part<'_>, other: &Part<'_>) -> Diagnostic {
    let diagnostic = ambiguous(name, first, other);
    let part = if first.array.len() < other.array.len() { first } else { other };
    let (table, mut seen) = (Found::single(name, *part), HashMap::new());
    for row in 0..part.array.len() {
        if let Some(label) = part.array.text(row)
            && let Some(before) = seen.insert(label.clone(), row)
        {
            let (one, two) = (table.locate(before), table.locate(row));
            let (file, label) = (table.file(), say::shown(&label));
            return diagnostic
                .note(format!(
                    "a table of levels has each label once, but {file} has `{label}` at {one} and at {two}"
                ))
                .help(format!("keep one row for each level in {file}, or rename one of the columns"));
        }
    }
    diagnostic
}

impl<'a> Found<'a> {
    /// This value, one row for each level, with its rows in the order of the levels of `category`.
    ///
    /// Its table is matched by the column of the category's name, or else by the text column that holds
    /// exactly the levels, if there is one such. Arrays that are not from a table stand in the order of the
    /// levels already, and so does a table without labels where the levels are the numbers 1 to J; a column
    /// that holds these in another order is not passed over. Rows of labels that are no level are left out,
    /// as long as no level lacks a row. In the category's own table, with a row for each observation, the
    /// value of a level is what all of its rows say. A table without labels and with another number of rows
    /// is returned as it is, for the shape check to refuse.
    pub fn matched(self, category: &Found<'_>, levels: &Levels) -> Result<Found<'a>, Diagnostic> {
        let Some(part) = self.parts().first().copied().filter(|p| p.file.is_table()) else { return Ok(self) };
        let rows = part.array.len();
        let own = category.parts().first().is_some_and(|p| std::ptr::eq(p.file, part.file));
        if own && rows != levels.len() {
            let order = self.same_within_levels(category, levels)?;
            return Ok(self.with_rows(order));
        }
        match key_column(&part, category, levels)? {
            Some(key) => {
                let order = row_of_each_level(&key, category, levels)?;
                Ok(self.with_rows(order))
            }
            None if rows != levels.len() => Ok(self),
            None => {
                let in_other_order = labels(&part, levels)
                    .find(|p| order_of(p.array, levels).iter().enumerate().any(|(i, row)| i != *row));
                match in_other_order {
                    None if levels.are_indices() => Ok(self),
                    other => Err(no_key(&self, category, levels, other.map(|p| p.entry.name.as_str()))),
                }
            }
        }
    }
}

impl Found<'_> {
    /// Refuses to take rows of two tables side by side where columns that both have say that they do not
    /// belong together: some differ, and none that tells rows apart agrees.
    pub fn check_beside(&self, other: &Found<'_>) -> Result<(), Diagnostic> {
        let (Some(a), Some(b)) = (self.parts().first(), other.parts().first()) else { return Ok(()) };
        let tables = a.file.is_table() && b.file.is_table() && !std::ptr::eq(a.file, b.file);
        if !tables || self.rows().is_some() || other.rows().is_some() {
            return Ok(());
        }
        let mut apart = None;
        for name in a.file.names() {
            let (Some(one), Some(two)) = (a.beside(name), b.beside(name)) else { continue };
            match (0..one.len()).find(|&row| one.text(row) != two.text(row)) {
                None if is_key(one) => return Ok(()),
                None => {}
                Some(row) => apart = apart.or(Some((name, row))),
            }
        }
        let Some((name, row)) = apart else { return Ok(()) };
        let place = |part: &Part<'_>| part.file.get(name).map(|entry| part.file.place(entry, row));
        let message = format!(
            "`{}` and `{}` stand in two tables, whose rows do not go together: their column `{}` differs",
            self.name(),
            other.name(),
            say::shown(name)
        );
        let error = Diagnostic::error("tables-apart", message)
            .note("values of one size are taken together row by row, whatever the tables call their rows")
            .help(format!(
                "join the tables by `{0}`; or declare `{0} : category[N] of J`, and what has one row for each level with the size `J`",
                say::shown(name)
            ));
        Err([place(a), place(b)].into_iter().flatten().fold(error, Diagnostic::place))
    }

    /// For each level its first row in the category's own table; an error where its rows differ.
    fn same_within_levels(&self, category: &Found<'_>, levels: &Levels) -> Result<Vec<usize>, Diagnostic> {
        let codes = category.as_category(levels)?;
        let mut rows: Vec<Option<usize>> = vec![None; levels.len()];
        for (row, code) in codes.into_iter().enumerate() {
            match rows.get_mut(code - 1) {
                Some(Some(first)) if !self.same_cells(*first, row) => {
                    return Err(self.differs(*first, row, &levels.labels()[code - 1], category));
                }
                Some(slot @ None) => *slot = Some(row),
                Some(Some(_)) | None => {}
            }
        }
        match rows.iter().position(Option::is_none) {
            None => Ok(rows.into_iter().flatten().collect()),
            Some(_) => Err(absent(self, &rows, category, levels)),
        }
    }

    /// Whether two rows say the same.
    fn same_cells(&self, a: usize, b: usize) -> bool {
        self.parts().iter().all(|p| p.array.text(a) == p.array.text(b))
    }

    fn differs(&self, first: usize, second: usize, label: &str, category: &Found<'_>) -> Diagnostic {
        let width = self.parts().len();
        let message = format!(
            "`{}` is not the same for all rows of the level `{}` of `{}`",
            self.name(),
            say::shown(label),
            category.name()
        );
        Diagnostic::error("differs-within-level", message)
            .place(self.place(first * width))
            .place(self.place(second * width))
            .help(format!(
                "declare it with the size of `{}` if it has a value for each row; a value for each level is the same in all of its rows, or stands in a table of its own",
                category.name()
            ))
    }
}

/// Whether each cell holds a value and no two the same.
fn is_key(array: &Array) -> bool {
    match &array.cells {
        Cells::Numbers(values) => {
            let mut seen = HashSet::new();
            values.iter().all(|v| !v.is_nan() && seen.insert((v + 0.0).to_bits()))
        }
        Cells::Text { codes, labels } => {
            codes.len() == labels.len() && codes.iter().all(|c| (*c as usize) < labels.len())
        }
    }
}

/// The column of labels in the table of a value.
fn key_column<'a>(
    value: &Part<'a>,
    category: &Found<'_>,
    levels: &Levels,
) -> Result<Option<Part<'a>>, Diagnostic> {
    let declared = category.parts().first().map_or(category.name(), |p| p.entry.name.as_str());
    if let Some(entry) = value.file.get(declared).or_else(|| value.file.get(category.name())) {
        return Part::new(value.file, entry).map(Some);
    }
    let mut texts = labels(value, levels).filter(|p| matches!(p.array.cells, Cells::Text { .. }));
    let Some(first) = texts.next() else { return Ok(None) };
    let order = order_of(first.array, levels);
    Ok(texts.all(|other| order_of(other.array, levels) == order).then_some(first))
}

/// The columns of the table of a value, but for itself, that hold exactly the levels.
fn labels<'a>(value: &Part<'a>, levels: &Levels) -> impl Iterator<Item = Part<'a>> {
    let (file, own) = (value.file, value.entry);
    let others = file.entries.iter().filter(move |e| !std::ptr::eq(*e, own));
    others.filter_map(move |e| Part::new(file, e).ok()).filter(|p| holds_exactly(p.array, levels))
}

/// For each row its level, from 0, of a column that holds exactly the levels.
fn order_of(array: &Array, levels: &Levels) -> Vec<usize> {
    (0..array.len()).filter_map(|i| code(array, levels, i)).map(|code| code - 1).collect()
}

fn holds_exactly(array: &Array, levels: &Levels) -> bool {
    array.len() == levels.len() && is_key(array) && (0..array.len()).all(|i| code(array, levels, i).is_some())
}

fn code(array: &Array, levels: &Levels, i: usize) -> Option<usize> {
    array.text(i).and_then(|text| levels.code(&text))
}

/// For each level the row of the table that has its label.
fn row_of_each_level(
    key: &Part<'_>,
    category: &Found<'_>,
    levels: &Levels,
) -> Result<Vec<usize>, Diagnostic> {
    let mut rows: Vec<Option<usize>> = vec![None; levels.len()];
    let keys = Found::single(&key.entry.name, *key);
    keys.refuse_missing((0..key.array.len()).map(|row| key.array.text(row).is_none()), LABELS)?;
    let mut strangers = Vec::new();
    for row in 0..key.array.len() {
        let label = say::shown(&key.array.text(row).unwrap_or_default());
        let slot = code(key.array, levels, row).and_then(|c| rows.get_mut(c - 1));
        match slot {
            Some(slot @ None) => *slot = Some(row),
            Some(Some(first)) => return Err(twice(&keys, &label, *first, row)),
            None => strangers.push((label, row)),
        }
    }
    match (rows.iter().all(Option::is_some), strangers.first()) {
        (true, _) => Ok(rows.into_iter().flatten().collect()),
        // Perhaps a label that is written in two ways.
        (false, Some((label, row))) => Err(stranger(&keys, label, *row, category, levels)),
        (false, None) => Err(absent(&keys, &rows, category, levels)),
    }
}

fn twice(keys: &Found<'_>, label: &str, first: usize, second: usize) -> Diagnostic {
    Diagnostic::error("duplicate-label", format!("{} has two rows for `{label}`", keys.file()))
        .place(keys.place(first))
        .place(keys.place(second))
        .help(format!("keep one row for each level of `{}`", keys.name()))
}

fn stranger(keys: &Found<'_>, label: &str, row: usize, category: &Found<'_>, levels: &Levels) -> Diagnostic {
    let message =
        format!("{} has a row for `{label}`, which is no level of `{}`", keys.file(), category.name());
    let diagnostic = Diagnostic::error("unknown-label", message).place(keys.place(row)).note(format!(
        "the levels, from {}, are {}",
        category.file(),
        say::listed(levels.labels())
    ));
    match say::did_you_mean(label, levels.labels().iter().map(String::as_str)) {
        Some(hint) => diagnostic.help(hint),
        None => diagnostic.help(format!("write labels alike in {} and {}", keys.file(), category.file())),
    }
}

fn absent(keys: &Found<'_>, rows: &[Option<usize>], category: &Found<'_>, levels: &Levels) -> Diagnostic {
    let absent: Vec<&String> =
        levels.labels().iter().zip(rows).filter(|(_, row)| row.is_none()).map(|(label, _)| label).collect();
    let message = format!(
        "{} has no row for {} of `{}`",
        keys.file(),
        say::counted(absent.len(), "level"),
        category.name()
    );
    Diagnostic::error("missing-label", message)
        .place(keys.whole_place())
        .note(format!("without a row: {}", say::listed(&absent)))
        .help("add a row for each level that occurs")
}

/// The error for a table that says in no column of the category's name which level a row belongs to; perhaps
/// in another one.
fn no_key(found: &Found<'_>, category: &Found<'_>, levels: &Levels, other: Option<&str>) -> Diagnostic {
    let message =
        format!("the rows of {} cannot be matched to the levels of `{}`", found.file(), category.name());
    Diagnostic::error("no-label-column", message)
        .place(say::file(found.file()))
        .note(format!("the levels are {}", say::listed(levels.labels())))
        .help(match other {
            Some(other) => format!(
                "if `{other}` in {} says which level each row belongs to, call that column `{}`",
                found.file(),
                category.name()
            ),
            None => format!(
                "add a column `{}` to {} that says which level each row belongs to",
                category.name(),
                found.file()
            ),
        })
}
