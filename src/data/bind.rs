//! Taking what was found as what a declaration says it is: reals, integers, counts, 0/1, a scalar, within
//! bounds.

use super::array::{Array, Cells};
use super::found::Found;
use super::number::{self, EXACT, MISSING_MARKERS, NotNumber};
use super::say;
use crate::source::Diagnostic;
use num_traits::ToPrimitive;
use std::sync::Arc;

/// What to do about cells that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// They are an error.
    Refuse,
    /// They are kept as NaN: the column is declared `missing`.
    Keep,
}

/// A bound that a declaration puts on values.
#[derive(Clone, Copy, Debug)]
pub struct Limit<'a> {
    /// Which side it bounds.
    pub side: Side,
    /// Where it lies: one value for all, or one for each.
    pub at: &'a [f64],
    /// Whether the bound itself is allowed.
    pub closed: bool,
}

/// What to do about missing reals.
const ESTIMATE: &str =
    "declare it `missing`, so that each empty cell is estimated as an unknown, or remove the rows";

/// What to do about other missing cells.
pub(super) const FILL: &str =
    "fill the cells or remove the rows; only a real column can be declared `missing`";

/// Sides of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Values lie above.
    Lower,
    /// Values lie below.
    Upper,
}

impl<'a> Found<'a> {
    /// The cells as real numbers, row-major; missing ones are NaN. Infinities are numbers. One column of
    /// numbers is shared with the table, not copied.
    pub fn as_real(&self, missing: Missing) -> Result<Arc<[f64]>, Diagnostic> {
        let numbers = self.numbers(number_of, |found, i, why| found.not_a_number(i, why))?;
        if missing == Missing::Refuse {
            self.refuse_missing(numbers.iter().map(|v| v.is_nan()), ESTIMATE)?;
        }
        Ok(numbers)
    }

    /// The cells as integers. `3.0` is one; 2^53 − 1 is the largest, since beyond it neighbours cannot be
    /// told apart.
    pub fn as_int(&self) -> Result<Vec<i64>, Diagnostic> {
        let numbers = self.as_whole()?;
        let integer = |(i, v): (usize, &f64)| v.to_i64().ok_or_else(|| self.not_an_integer(i, *v, 0));
        numbers.iter().enumerate().map(integer).collect()
    }

    /// The same as the numbers that they are held as.
    pub fn as_whole(&self) -> Result<Arc<[f64]>, Diagnostic> {
        let numbers = self.numbers(number_of, |found, i, why| found.not_a_number(i, why))?;
        self.refuse_missing(numbers.iter().map(|v| v.is_nan()), FILL)?;
        if let Some(i) = numbers.iter().position(|v| v.fract() != 0.0 || v.abs() > EXACT) {
            return Err(self.not_an_integer(
                i,
                numbers[i],
                numbers.iter().filter(|v| v.fract() != 0.0).count(),
            ));
        }
        Ok(numbers)
    }

    /// The cells as counts: 0, 1, 2 …
    pub fn as_count(&self) -> Result<Arc<[f64]>, Diagnostic> {
        let values = self.as_whole()?;
        match values.iter().position(|v| *v < 0.0) {
            None => Ok(values),
            Some(i) => {
                let message =
                    format!("`{}` is a count, but is {} at {}", self.name(), values[i], self.locate(i));
                Err(Diagnostic::error("negative-count", message).place(self.place(i)).help(format!(
                    "counts are 0, 1, 2 …; declare `{} : int` if it can be negative",
                    self.name()
                )))
            }
        }
    }

    /// The cells as 0 or 1: written as these, or as true/false or yes/no with any capitals.
    pub fn as_binary(&self) -> Result<Arc<[f64]>, Diagnostic> {
        let read = |text: &str| binary_of(text).ok_or(NotNumber::Text);
        let numbers = self.numbers(read, |found, i, _| found.not_binary(i))?;
        self.refuse_missing(numbers.iter().map(|v| v.is_nan()), FILL)?;
        match numbers.iter().position(|v| *v != 0.0 && *v != 1.0) {
            None => Ok(numbers),
            Some(i) => Err(self.not_binary(i)),
        }
    }

    /// The same as a scalar: it must have one cell.
    pub fn as_scalar(&self) -> Result<Found<'a>, Diagnostic> {
        self.reshaped(&[]).ok_or_else(|| {
            let message =
                format!("`{}` is one value in the model, but the data give {}", self.name(), self.describe());
            Diagnostic::error("not-a-scalar", message).place(self.whole_place()).help(format!(
                "declare it with a size after its type, as in `real[N]` or `category[N]`, or give one value with --set {0}=…",
                self.name()
            ))
        })
    }

    /// Refuses a value beyond a bound. `values` are this value's own, as taken; missing ones are passed over.
    pub fn check_limit(&self, values: &[f64], limit: &Limit<'_>) -> Result<(), Diagnostic> {
        let beyond = |(i, value): (usize, &f64)| {
            let at = limit.of(i);
            match (limit.side, limit.closed) {
                (Side::Lower, true) => *value < at,
                (Side::Lower, false) => *value <= at,
                (Side::Upper, true) => *value > at,
                (Side::Upper, false) => *value >= at,
            }
        };
        let Some(i) = values.iter().enumerate().position(beyond) else { return Ok(()) };
        let count = values.iter().enumerate().filter(|p| beyond(*p)).count();
        let sign = match (limit.side, limit.closed) {
            (Side::Lower, true) => ">=",
            (Side::Lower, false) => ">",
            (Side::Upper, true) => "<=",
            (Side::Upper, false) => "<",
        };
        let message = format!(
            "`{}` is declared {sign} {}, but is {} at {}",
            self.name(),
            number::display(limit.of(i)),
            number::display(values[i]),
            self.locate(i)
        );
        Err(Diagnostic::error("out-of-bounds", message)
            .place(self.place(i))
            .note(format!("out of bounds: {count} of {}", say::counted(values.len(), "value")))
            .help("correct the data, or widen the bound in the declaration"))
    }

    /// All cells as numbers, text read by `read`; `wrong` words the error for the first that cannot be.
    fn numbers(
        &self,
        read: impl Fn(&str) -> Result<f64, NotNumber>,
        wrong: impl Fn(&Self, usize, NotNumber) -> Diagnostic,
    ) -> Result<Arc<[f64]>, Diagnostic> {
        let mut columns = Vec::with_capacity(self.parts().len());
        for (p, part) in self.parts().iter().enumerate() {
            let column = column(part.array, &read);
            columns.push(column.map_err(|(cell, why)| wrong(self, self.element(p, cell).unwrap_or(0), why))?);
        }
        Ok(self.assemble(columns))
    }

    fn assemble(&self, mut columns: Vec<Arc<[f64]>>) -> Arc<[f64]> {
        if let (1, None) = (columns.len(), self.rows()) {
            return columns.swap_remove(0);
        }
        let rows = self.shape().first().copied().unwrap_or(1);
        let width = columns.len();
        let cell = |i: usize| {
            let row = self.rows().map_or(Some(i / width), |order| order.get(i / width).copied());
            row.and_then(|r| columns[i % width].get(r).copied()).unwrap_or(f64::NAN)
        };
        (0..rows * width).map(cell).collect()
    }

    /// The error for cells that are not there and were not declared so.
    pub(super) fn refuse_missing(
        &self,
        missing: impl Iterator<Item = bool>,
        help: &str,
    ) -> Result<(), Diagnostic> {
        let (mut count, mut first) = (0, None);
        for (i, _) in missing.enumerate().filter(|(_, m)| *m) {
            count += 1;
            first.get_or_insert(i);
        }
        let Some(first) = first else { return Ok(()) };
        let (name, at) = (self.name(), self.locate(first));
        let message = match count {
            1 => format!("1 cell of `{name}` is empty (at {at})"),
            _ => format!("{count} cells of `{name}` are empty (first at {at})"),
        };
        Err(Diagnostic::error("missing-values", message)
            .place(self.place(first))
            .note(format!("empty means: nothing, or one of {}", MISSING_MARKERS[1..].join(", ")))
            .help(match self.in_empty_row(first) {
                true => format!("nothing stands in {at}: remove it, and others like it"),
                false => help.to_string(),
            }))
    }

    fn not_a_number(&self, i: usize, why: NotNumber) -> Diagnostic {
        let text = self.text(i).unwrap_or_default();
        let (name, at, text) = (self.name(), self.locate(i), say::shown(&text));
        if why == NotNumber::Overflow {
            return Diagnostic::error(
                "number-overflow",
                format!("`{text}` in `{name}` at {at} is too large"),
            )
            .place(self.place(i))
            .note("the largest number that can be held is about 1.8e308")
            .help("rescale the column, or write Inf if infinite is meant");
        }
        let message = format!("`{name}` holds text where a number is needed: `{text}` at {at}");
        let place = self.place(i);
        let again = place.column.as_ref() == Some(&text);
        let diagnostic = Diagnostic::error("not-a-number", message).place(place);
        if self.was_set() {
            return diagnostic.help(format!("give a number: `--set {name}=3`"));
        }
        if again {
            return diagnostic.help(format!("the names of the columns stand again in {at}: remove it"));
        }
        match remedy(&text).or_else(|| self.odd_row(i)) {
            Some(help) => diagnostic.help(help),
            None => diagnostic.help(format!(
                "correct the cell, leave it empty if it is missing, or declare `{name} : category` if it names groups"
            )),
        }
    }

    /// What to do where only the first or the last row of a table is no number.
    fn odd_row(&self, i: usize) -> Option<String> {
        let number = |i: usize| self.text(i).is_none_or(|text| number_of(&text).is_ok());
        let rest = |mut rows: std::ops::Range<usize>| !rows.is_empty() && rows.all(number);
        let (last, line) = (self.len().saturating_sub(1), self.locate(i));
        if !self.in_table() || self.shape().len() != 1 {
            return None;
        }
        match i {
            0 if rest(1..self.len()) => Some(format!("if {line} holds units or descriptions, remove it")),
            i if i == last && rest(0..last) => Some(format!("if {line} holds totals or remarks, remove it")),
            _ => None,
        }
    }

    fn not_an_integer(&self, i: usize, value: f64, fractions: usize) -> Diagnostic {
        let (name, at) = (self.name(), self.locate(i));
        let text = say::shown(&self.text(i).unwrap_or_default());
        if value.fract() == 0.0 {
            return Diagnostic::error(
                "integer-overflow",
                format!("`{text}` in `{name}` at {at} is too large an integer"),
            )
            .place(self.place(i))
            .note("integers are exact up to 9007199254740991 (2^53 - 1)")
            .help(format!(
                "declare `{name} : real` if it is a quantity, or `{name} : category` if it is an identifier"
            ));
        }
        Diagnostic::error(
            "not-an-integer",
            format!("`{name}` is an integer in the model, but is {text} at {at}"),
        )
        .place(self.place(i))
        .note(format!("not whole: {fractions} of {}", say::counted(self.len(), "value")))
        .help(format!("declare `{name} : real`, or correct the data"))
    }

    fn not_binary(&self, i: usize) -> Diagnostic {
        let (name, text) = (self.name(), say::shown(&self.text(i).unwrap_or_default()));
        Diagnostic::error("not-binary", format!("`{name}` is binary, but is `{text}` at {}", self.locate(i)))
            .place(self.place(i))
            .note("binary values are 0 or 1, true or false, yes or no")
            .help(match self.has_text() {
                true => format!(
                    "declare `{name} : category`, and write `{name} == \"{text}\"`, which is 1 or 0; or recode the column"
                ),
                false => format!("declare `{name} : int`, and write `{name} == {text}`, which is 1 or 0; or recode the column"),
            })
    }
}

impl Limit<'_> {
    fn of(&self, i: usize) -> f64 {
        match self.at {
            [one] => *one,
            many => many.get(i).copied().unwrap_or(f64::NAN),
        }
    }
}

/// One array as numbers, or the first cell that is none.
fn column(
    array: &Array,
    read: impl Fn(&str) -> Result<f64, NotNumber>,
) -> Result<Arc<[f64]>, (usize, NotNumber)> {
    match &array.cells {
        Cells::Numbers(values) => Ok(values.clone()),
        Cells::Text { codes, labels } => {
            let values: Vec<_> = labels.iter().map(|label| read(label)).collect();
            let cell = |(i, code): (usize, &u32)| match values.get(*code as usize) {
                None => Ok(f64::NAN),
                Some(Ok(value)) => Ok(*value),
                Some(Err(why)) => Err((i, *why)),
            };
            codes.iter().enumerate().map(cell).collect()
        }
    }
}

/// A text as a number; a marker such as a quoted `NA` is missing where a number is needed.
fn number_of(text: &str) -> Result<f64, NotNumber> {
    if number::is_missing(text) { Ok(f64::NAN) } else { number::parse(text) }
}

fn binary_of(text: &str) -> Option<f64> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" => Some(1.0),
        "false" | "no" => Some(0.0),
        _ => number_of(text).ok(),
    }
}

/// What to do about some texts that are nearly numbers.
fn remedy(text: &str) -> Option<String> {
    let is_number = |t: &str| number::parse(t.trim()).is_ok();
    if binary_of(text).is_some() {
        return Some("declare it `binary`, which takes true/false and yes/no as 1/0".to_string());
    }
    let (joined, point) = (text.replace(',', ""), text.replace(',', "."));
    match (in_thousands(text) && is_number(&joined), text.contains(',') && is_number(&point)) {
        (true, true) => {
            return Some(format!("if the comma marks decimals, write {point}; if thousands, write {joined}"));
        }
        (true, false) => return Some(format!("thousands are written without a separator: {joined}")),
        (false, true) => return Some(format!("decimals are written with a point: {point}")),
        (false, false) => {}
    }
    if let Some(number) = text.strip_suffix('%').filter(|t| is_number(t)) {
        return Some(format!("leave out the % sign: {number}"));
    }
    if let Some(number) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).filter(|t| is_number(t)) {
        return Some(format!("a negative number is written -{number}, not in parentheses"));
    }
    if let Some(limit) =
        text.strip_prefix(['<', '>']).map(|t| t.trim_start_matches('=')).filter(|t| is_number(t))
    {
        return Some(format!(
            "write the limit itself, {}, and say in the model that such values are only known to lie beyond it: see `censored`",
            limit.trim()
        ));
    }
    if text.starts_with('#')
        || matches!(text, "-" | "--" | "?" | "*" | "missing" | "Missing" | "none" | "None")
    {
        return Some("leave the cell empty, or write NA, if its value is missing".to_string());
    }
    if is_date(text) {
        return Some(
            "a date is no number: give the days since some day, or the year, in a column of numbers"
                .to_string(),
        );
    }
    let plain = text.replace(['*', '$', '€', '£', ' ', '_', '\u{a0}', '\u{2212}'], "");
    is_number(&plain)
        .then(|| "write digits, a point and a minus sign only, without currency, spaces or marks".to_string())
}

/// Whether a text looks like a date: three groups of digits, one of them with four, between dashes, slashes
/// or points.
fn is_date(text: &str) -> bool {
    let day = text.split(['T', ' ']).next().unwrap_or_default();
    let groups: Vec<&str> = day.split(['-', '/', '.']).collect();
    groups.len() == 3
        && groups.iter().all(|g| (1..=4).contains(&g.len()) && g.bytes().all(|b| b.is_ascii_digit()))
        && groups.iter().any(|g| g.len() == 4)
}

/// Whether commas stand before groups of three digits.
fn in_thousands(text: &str) -> bool {
    let mut groups = text.split('.').next().unwrap_or_default().split(',');
    let first = groups.next().unwrap_or_default().trim_start_matches('-');
    let mut rest = groups.peekable();
    rest.peek().is_some() && !first.starts_with('0') && rest.all(|group| group.len() == 3)
}
