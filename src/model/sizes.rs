//! Whether shapes in named sizes fit: always, as far as the model itself can tell, or by the numbers that the
//! data give.

use crate::facts::{Shape, Size};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of the sizes of a model.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    /// Numbers, from the data or, where there are none, from the model.
    pub known: BTreeMap<String, i64>,
    /// Names of whole numbers among the data and of sizes of parameters: they may be whatever number the
    /// model needs.
    pub numbers: BTreeSet<String>,
    /// Names that count the levels of a category.
    pub counts: BTreeSet<String>,
    /// Whether the numbers are those of data.
    pub from_data: bool,
}

/// Two sizes that a rule takes for one because they are the same number.
#[derive(Clone, Debug, PartialEq)]
pub struct Chance {
    /// One name.
    pub a: String,
    /// The other.
    pub b: String,
    /// Their number.
    pub number: i64,
}

/// How a rule came to hold.
pub enum Settled<T, E> {
    /// It holds, whatever the data are, or as far as is known before them.
    Holds(T),
    /// It holds only because two sizes are one number; what would be wrong otherwise.
    ByChance(T, E, Chance),
    /// It does not hold.
    Fails(E),
}

/// What stands for a size while a rule is tried.
pub type Reading<'r> = &'r dyn Fn(&Size) -> Size;

impl Sizes {
    /// The sizes and whole numbers that the data give.
    pub fn of_data(numbers: impl Iterator<Item = (String, i64)>) -> Sizes {
        Sizes { known: numbers.collect(), from_data: true, ..Sizes::default() }
    }

    /// The number of a size, if the numbers of all its names are known.
    pub fn number(&self, size: &Size) -> Option<i64> {
        size.with(&|name| self.known.get(name).map(|&n| Size::integer(n))).as_integer()
    }

    /// Tries a rule on shapes: as they are, then with sizes of one number for one, then by the numbers, then
    /// with whatever the data may still decide left open. `open`: a choice that the data make is around it.
    pub fn settle<T, E>(
        &self,
        involved: &[&[Size]],
        open: bool,
        rule: impl Fn(Reading) -> Result<T, E>,
    ) -> Settled<T, E> {
        let wrong = match rule(&Size::clone) {
            Ok(found) => return Settled::Holds(found),
            Err(wrong) => wrong,
        };
        let names = in_order(involved.iter().copied().flatten());
        for (a, b) in self.alike(&names) {
            let one = |size: &Size| size.with(&|name| (name == b).then(|| Size::named(a)));
            if let Ok(found) = rule(&one) {
                let number = self.known.get(a).copied().unwrap_or_default();
                return Settled::ByChance(found, wrong, Chance { a: a.into(), b: b.into(), number });
            }
        }
        let numbers = |size: &Size| size.with(&|name| self.known.get(name).map(|&n| Size::integer(n)));
        if let Ok(found) = rule(&numbers) {
            return Settled::Holds(found);
        }
        if let Some(found) = self.with_written_numbers(involved, &names, &rule) {
            return Settled::Holds(found);
        }
        match rule(&|size| self.undecided(&numbers(size), open)) {
            Ok(found) => Settled::Holds(found),
            Err(_) => Settled::Fails(wrong),
        }
    }

    /// Names of one number among these.
    fn alike<'n>(&self, names: &[&'n str]) -> Vec<(&'n str, &'n str)> {
        let mut pairs = Vec::new();
        for (k, b) in names.iter().enumerate() {
            for a in &names[..k] {
                if let (Some(x), Some(y)) = (self.known.get(*a), self.known.get(*b))
                    && x == y
                {
                    pairs.push((*a, *b));
                }
            }
        }
        pairs
    }

    /// A whole number among the data may be the length of an array that is written out.
    fn with_written_numbers<T, E>(
        &self,
        involved: &[&[Size]],
        names: &[&str],
        rule: &impl Fn(Reading) -> Result<T, E>,
    ) -> Option<T> {
        if self.from_data {
            return None;
        }
        let written: BTreeSet<i64> =
            involved.iter().copied().flatten().filter_map(Size::as_integer).filter(|&n| n > 1).collect();
        let free = names.iter().filter(|name| self.numbers.contains(**name));
        free.flat_map(|name| written.iter().map(move |n| (*name, *n))).find_map(|(name, n)| {
            rule(&|size: &Size| size.with(&|other| (other == name).then(|| Size::integer(n)))).ok()
        })
    }

    /// A size, or nothing where the data decide it: variables of loops, products, and within a choice all
    /// that is no number.
    fn undecided(&self, size: &Size, open: bool) -> Size {
        let is_size = |name: &str| self.is_size(name);
        let decided = size.is_linear() && size.names().all(is_size) && !open;
        if decided || size.as_integer().is_some() { size.clone() } else { Size::Any }
    }

    /// Whether a name is that of a size, not of the variable of a loop.
    fn is_size(&self, name: &str) -> bool {
        !name.ends_with(LOOP_MARK)
    }

    /// The pair of names of one number without which one size would not be the other.
    pub fn chance(&self, a: &Size, b: &Size, holds: impl Fn(&Size) -> bool) -> Option<Chance> {
        let difference = a.plus(-1, b);
        let names = in_order([a, b]);
        self.alike(&names).into_iter().find_map(|(a, b)| {
            let rest = difference.with(&|name| (name == b).then(|| Size::named(a)));
            let number = self.known.get(a).copied().unwrap_or_default();
            holds(&rest).then(|| Chance { a: a.into(), b: b.into(), number })
        })
    }
}

/// The names of sizes in the order in which they stand there.
fn in_order<'s>(sizes: impl IntoIterator<Item = &'s Size>) -> Vec<&'s str> {
    let mut names = Vec::new();
    for name in sizes.into_iter().flat_map(Size::names) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// What the variable of a loop ends with, so that it is no size of the same name: nothing that is seen.
pub const LOOP_MARK: char = '\u{200b}';

/// A shape as users write it: `[N, 3]`.
pub fn show(shape: &[Size]) -> String {
    crate::facts::show(shape).replace(LOOP_MARK, "")
}

/// A shape with other sizes.
pub fn read(shape: &[Size], reading: Reading) -> Shape {
    shape.iter().map(reading).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::broadcast;

    fn meet(sizes: &Sizes, a: &Shape, b: &Shape) -> Settled<Shape, ()> {
        sizes.settle(&[a, b], false, |reading| broadcast(&read(a, reading), &read(b, reading)).ok_or(()))
    }

    #[test]
    fn names_are_one_size_only_by_chance_and_written_numbers_may_be_what_the_data_say() {
        let (n, m, three) = (vec![Size::named("N")], vec![Size::named("M")], vec![Size::known(3)]);
        let mut sizes = Sizes::default();
        assert!(matches!(meet(&sizes, &n, &n), Settled::Holds(_)));
        assert!(matches!(meet(&sizes, &n, &m), Settled::Fails(())));
        assert!(matches!(meet(&sizes, &n, &three), Settled::Fails(())));
        sizes.numbers.insert("N".into());
        assert!(matches!(meet(&sizes, &n, &three), Settled::Holds(_)));
        sizes.known = [("N".into(), 3), ("M".into(), 3)].into();
        sizes.from_data = true;
        assert!(matches!(meet(&sizes, &n, &three), Settled::Holds(_)));
        assert!(matches!(meet(&sizes, &n, &m), Settled::ByChance(..)));
    }
}
