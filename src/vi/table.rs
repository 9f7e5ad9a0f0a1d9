//! Tables of named rows, and the choice of a row with its parameter: `normal`, `student_t=5`,
//! `constant=0.01`.

use super::Error;
use crate::source::nearest;
use std::fmt;
use std::str::FromStr;

/// The one number that a row may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// What it is called.
    pub name: &'static str,
    /// The value when none is given.
    pub default: f64,
    /// The open interval it lies in.
    pub range: (f64, f64),
}

/// A row of a table: everything true of the thing stands beside its name.
pub trait Row: Sync + 'static {
    /// What a row of this table is called in messages.
    const KIND: &'static str;

    /// All rows, in the order in which lists print them.
    fn table() -> &'static [Self]
    where
        Self: Sized;

    /// The name a user writes.
    fn name(&self) -> &'static str;

    /// One line for `--help`.
    fn doc(&self) -> &'static str;

    /// The number it takes, if any.
    fn parameter(&self) -> Option<Parameter> {
        None
    }
}

/// The row of that name.
pub fn find<R: Row>(name: &str) -> Result<&'static R, Error> {
    let known = || R::table().iter().map(Row::name);
    R::table().iter().find(|r| r.name() == name).ok_or_else(|| Error::UnknownName {
        kind: R::KIND,
        name: name.into(),
        known: known().collect(),
        nearest: nearest(name, known()),
    })
}

/// A row and the value of its parameter.
pub struct Choice<R: Row> {
    /// The row.
    pub row: &'static R,
    /// The value of its parameter; its default when none was given, and 0 for a row that takes none.
    pub value: f64,
}

impl<R: Row> Choice<R> {
    /// The row of that name with its default value.
    pub fn named(name: &str) -> Result<Self, Error> {
        let row = find::<R>(name)?;
        Ok(Choice { row, value: row.parameter().map_or(0.0, |p| p.default) })
    }

    /// The row of that name with a value for its parameter.
    pub fn with(name: &str, value: f64) -> Result<Self, Error> {
        let row = find::<R>(name)?;
        let refuse = |problem: String, instead: String| {
            Err(Error::Parameter { kind: R::KIND, name: row.name(), problem, instead })
        };
        let Some(p) = row.parameter() else {
            return refuse("takes no number".into(), format!("'{}' alone", row.name()));
        };
        let (low, high) = p.range;
        if !(value > low && value < high) {
            let range =
                if high.is_finite() { format!("between {low} and {high}") } else { format!("above {low}") };
            let problem = format!("has {} = {value}, which is not {range}", p.name);
            return refuse(problem, format!("for example '{}={}'", row.name(), p.default));
        }
        Ok(Choice { row, value })
    }
}

impl<R: Row> FromStr for Choice<R> {
    type Err = Error;

    /// Reads `name` or `name=number`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let Some((name, number)) = text.split_once('=') else { return Self::named(text.trim()) };
        let row = find::<R>(name.trim())?;
        match number.trim().parse::<f64>() {
            Ok(value) => Self::with(row.name(), value),
            Err(_) => Err(Error::Parameter {
                kind: R::KIND,
                name: row.name(),
                problem: format!("is followed by '{}', which is not a number", number.trim()),
                instead: match row.parameter() {
                    Some(p) => format!("for example '{}={}'", row.name(), p.default),
                    None => format!("'{}' alone", row.name()),
                },
            }),
        }
    }
}

impl<R: Row> fmt::Display for Choice<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row.parameter() {
            Some(_) => write!(f, "{}={}", self.row.name(), self.value),
            None => write!(f, "{}", self.row.name()),
        }
    }
}

impl<R: Row> fmt::Debug for Choice<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<R: Row> Clone for Choice<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: Row> Copy for Choice<R> {}

impl<R: Row> PartialEq for Choice<R> {
    fn eq(&self, other: &Self) -> bool {
        self.row.name() == other.row.name() && self.value == other.value
    }
}
