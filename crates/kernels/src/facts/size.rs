//! Sizes known as numbers or as expressions in named sizes, and the shapes made of them.

use std::collections::BTreeMap;
use std::fmt;

/// The extent of one axis: a linear form in named sizes such as `N`, `T - 1` or `3`; or not known before the
/// data are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Size {
    /// `constant + Σ coefficient · name`; a product of names is itself a name (`K * J`).
    Linear {
        /// The part without names.
        constant: i64,
        /// Coefficients, none of them zero.
        terms: BTreeMap<String, i64>,
    },
    /// Only the data can tell.
    Any,
}

/// Sizes of all axes, first axis first; empty for a scalar.
pub type Shape = Vec<Size>;

impl Size {
    /// A number.
    pub fn known(n: usize) -> Size {
        Size::Linear { constant: n as i64, terms: BTreeMap::new() }
    }

    /// A number that may be negative on the way to a size.
    pub fn integer(n: i64) -> Size {
        Size::Linear { constant: n, terms: BTreeMap::new() }
    }

    /// A named size.
    pub fn named(name: &str) -> Size {
        Size::Linear { constant: 0, terms: BTreeMap::from([(name.to_string(), 1)]) }
    }

    /// The number, if it is one.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Size::Linear { constant, terms } if terms.is_empty() => Some(*constant),
            Size::Linear { .. } | Size::Any => None,
        }
    }

    /// Whether it is the number one.
    pub fn is_one(&self) -> bool {
        self.as_integer() == Some(1)
    }

    /// self + factor · other.
    pub fn plus(&self, factor: i64, other: &Size) -> Size {
        match (self, other) {
            (Size::Linear { constant, terms }, Size::Linear { constant: c, terms: t }) => {
                let mut terms = terms.clone();
                for (name, k) in t {
                    let sum = terms.get(name).copied().unwrap_or(0).saturating_add(factor.saturating_mul(*k));
                    if sum == 0 {
                        terms.remove(name);
                    } else {
                        terms.insert(name.clone(), sum);
                    }
                }
                Size::Linear { constant: constant.saturating_add(factor.saturating_mul(*c)), terms }
            }
            (Size::Any, _) | (_, Size::Any) => Size::Any,
        }
    }

    /// The product, multiplied out, so that equal products of sizes are equal however they are written.
    pub fn times(&self, other: &Size) -> Size {
        let (Size::Linear { constant: a, terms: left }, Size::Linear { constant: b, terms: right }) =
            (self, other)
        else {
            return Size::Any;
        };
        let mut product = Size::integer(a.saturating_mul(*b));
        for (name, k) in left {
            product = product.plus(k.saturating_mul(*b), &Size::named(name));
        }
        for (name, k) in right {
            product = product.plus(k.saturating_mul(*a), &Size::named(name));
        }
        for (one, k) in left {
            for (two, l) in right {
                let mut factors: Vec<&str> = factors(one).chain(factors(two)).collect();
                factors.sort_unstable();
                product = product.plus(k.saturating_mul(*l), &Size::named(&factors.join(TIMES)));
            }
        }
        product
    }

    /// The names that it is made of, those of products one by one.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let terms = match self {
            Size::Linear { terms, .. } => Some(terms),
            Size::Any => None,
        };
        terms.into_iter().flat_map(|terms| terms.keys()).flat_map(|name| factors(name))
    }

    /// Whether it is a sum of multiples of names and a number, without products of names.
    pub fn is_linear(&self) -> bool {
        match self {
            Size::Linear { terms, .. } => !terms.keys().any(|name| name.contains(TIMES)),
            Size::Any => false,
        }
    }

    /// The same with other sizes in the place of names; names of which nothing is said stay.
    pub fn with(&self, of: &dyn Fn(&str) -> Option<Size>) -> Size {
        let Size::Linear { constant, terms } = self else { return Size::Any };
        terms.iter().fold(Size::integer(*constant), |sum, (name, k)| {
            let replaced = factors(name).map(|factor| of(factor).unwrap_or_else(|| Size::named(factor)));
            sum.plus(*k, &replaced.fold(Size::known(1), |product, size| product.times(&size)))
        })
    }

    /// What two axes that meet elementwise make together, if they can.
    pub fn meet(&self, other: &Size) -> Option<Size> {
        match (self, other) {
            (a, b) if a == b => Some(a.clone()),
            (a, b) if a.is_one() => Some(b.clone()),
            (a, b) if b.is_one() => Some(a.clone()),
            (Size::Any, b) => Some(b.clone()),
            (a, Size::Any) => Some(a.clone()),
            _ => None,
        }
    }

    /// Whether the two may be the same size (equal, or one of them not known yet).
    pub fn may_equal(&self, other: &Size) -> bool {
        self == other || *self == Size::Any || *other == Size::Any
    }
}

/// What stands between the names of a product.
const TIMES: &str = " * ";

/// The names of a product.
fn factors(name: &str) -> impl Iterator<Item = &str> {
    name.split(TIMES)
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Size::Linear { constant, terms } = self else { return write!(f, "?") };
        let mut first = true;
        // What is added comes before what is taken away: `N - K`.
        let (added, taken): (Vec<_>, Vec<_>) = terms.iter().partition(|(_, k)| **k > 0);
        for (name, k) in added.into_iter().chain(taken) {
            let sign = if *k < 0 { "-" } else { "+" };
            match (first, *k < 0) {
                (true, false) => {}
                (true, true) => write!(f, "-")?,
                (false, _) => write!(f, " {sign} ")?,
            }
            if k.abs() != 1 {
                write!(f, "{}*", k.abs())?;
            }
            write!(f, "{name}")?;
            first = false;
        }
        match (first, *constant) {
            (true, c) => write!(f, "{c}"),
            (false, 0) => Ok(()),
            (false, c) if c < 0 => write!(f, " - {}", -c),
            (false, c) => write!(f, " + {c}"),
        }
    }
}

/// The shape that elementwise operations on both give: axes align at the last one. None if they do not fit.
pub fn broadcast(a: &[Size], b: &[Size]) -> Option<Shape> {
    let rank = a.len().max(b.len());
    let one = Size::known(1);
    let axis = |s: &'_ [Size], i: usize| -> Size {
        (i + s.len()).checked_sub(rank).map_or(one.clone(), |k| s[k].clone())
    };
    (0..rank).map(|i| axis(a, i).meet(&axis(b, i))).collect()
}

/// The sizes that arrays of these sizes broadcast to, where it is known that they do.
pub fn common_dims<'a>(all: impl Iterator<Item = &'a [usize]> + Clone) -> Vec<usize> {
    let rank = all.clone().map(<[usize]>::len).max().unwrap_or(0);
    (0..rank)
        .map(|axis| {
            let sizes = all.clone().filter_map(|dims| (axis + dims.len()).checked_sub(rank).map(|k| dims[k]));
            sizes.fold(1, |m, d| if d == 1 { m } else { d })
        })
        .collect()
}

/// A shape as users write it: `[N, 3]`, or `scalar`.
pub fn show(shape: &[Size]) -> String {
    if shape.is_empty() {
        return "scalar".into();
    }
    format!("[{}]", shape.iter().map(Size::to_string).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_linear_forms() {
        let (n, t) = (Size::named("N"), Size::named("T"));
        assert_eq!(t.plus(-1, &Size::known(2)).plus(1, &Size::known(1)).to_string(), "T - 1");
        assert_eq!(n.plus(-1, &n), Size::known(0));
        assert_eq!(n.times(&Size::known(2)).to_string(), "2*N");
        assert_eq!(n.times(&t), t.times(&n));
        assert_eq!(t.plus(-1, &n).plus(-2, &Size::known(1)).to_string(), "T - N - 2");
        let rows = n.plus(-1, &Size::known(1));
        assert_eq!(rows.times(&t), n.times(&t).plus(-1, &t));
        assert_eq!(n.times(&t).with(&|name| (name == "N").then(|| Size::known(3))).to_string(), "3*T");
    }

    #[test]
    fn broadcasting_aligns_at_the_last_axis() {
        let (n, d) = (Size::named("N"), Size::named("D"));
        assert_eq!(
            broadcast(&[n.clone(), d.clone()], std::slice::from_ref(&d)),
            Some(vec![n.clone(), d.clone()])
        );
        assert_eq!(
            broadcast(&[n.clone(), Size::known(1)], std::slice::from_ref(&d)),
            Some(vec![n.clone(), d.clone()])
        );
        assert_eq!(broadcast(std::slice::from_ref(&n), &[]), Some(vec![n.clone()]));
        assert_eq!(broadcast(&[n.clone(), d.clone()], &[n]), None);
    }
}
