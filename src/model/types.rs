//! What is known of a value before there are data: its shape in named sizes, what it depends on, where it
//! lies.

use crate::facts::{Range, Shape, Size, Structure};
use crate::func::Ty;
use crate::graph::NodeId;
use crate::ops::scalar::ScalarRow;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The levels that a category has, or that an axis stands for.
#[derive(Debug, PartialEq)]
pub struct LevelSet {
    /// What their number is called: the name after `of`, or the category itself where there is none.
    pub name: String,
    /// Whether that name is a size of the model.
    pub counted: bool,
    /// The labels in order, where the model lists them.
    pub listed: Option<Vec<String>>,
}

impl LevelSet {
    /// Their number, as far as the model says it.
    pub fn size(&self) -> Option<Size> {
        match (&self.listed, self.counted) {
            (_, true) => Some(Size::named(&self.name)),
            (Some(labels), false) => Some(Size::known(labels.len())),
            (None, false) => None,
        }
    }

    /// The place of a label, from 1, among those that are listed.
    pub fn place(&self, label: &str) -> Option<usize> {
        self.listed.as_ref()?.iter().position(|known| known == label).map(|k| k + 1)
    }
}

/// Whether labels are the numbers 1 to J, so that codes and values are the same.
pub fn are_indices(labels: &[String]) -> bool {
    labels.iter().enumerate().all(|(i, label)| *label == (i + 1).to_string())
}

/// Levels, shared by all that carry them.
pub type Levels = Rc<LevelSet>;

/// For each axis the levels that its places stand for.
pub type Labels = Vec<Option<Levels>>;

/// Some coordinates of a parameter: all of them, or one element by its index as written.
pub type Coordinate = (usize, Option<String>);

/// The elementwise function of one value that another one is.
#[derive(Clone, Copy, Debug)]
pub struct Through {
    /// The function.
    pub row: &'static ScalarRow,
    /// Where its argument lies.
    pub range: Range,
    /// Whether some values of the parameters bring the argument near the ends of that.
    pub reached: bool,
    /// The number of the argument.
    pub of: usize,
}

/// What a value is, as far as it is known before there are data.
#[derive(Clone, Debug)]
pub struct Type {
    /// Its sizes; nothing where a choice that only the data make decides it.
    pub shape: Option<Shape>,
    /// Whether its numbers are integers.
    pub integer: bool,
    /// The value itself, for an integer that is an expression in sizes and variables of loops.
    pub value: Option<Size>,
    /// Whether it comes, in part at least, from declared data.
    pub from_data: bool,
    /// Whether it is known before the fit.
    pub fixed: bool,
    /// Whether it is known only once something is drawn.
    pub drawn: bool,
    /// Its levels, for a category.
    pub levels: Option<Levels>,
    /// What its axes stand for; of no meaning where there are not as many as sizes.
    pub labels: Labels,
    /// Where its numbers lie.
    pub range: Range,
    /// Whether some values of the parameters bring a number as near to either end as one likes.
    pub reached: bool,
    /// How the numbers hang together.
    pub structure: Option<Structure>,
    /// Its value, where it depends on neither data nor parameters.
    pub constant: Option<NodeId>,
    /// The value whose elements these are, in whatever order: a number for each value.
    pub base: usize,
    /// A number that only equal values share.
    pub identity: usize,
    /// The coordinates that it depends on.
    pub coordinates: Rc<BTreeSet<Coordinate>>,
    /// What it is a function of, where that is one value.
    pub through: Option<Through>,
    /// The values that it is a multiple of, plus what is known: itself, and on from there.
    pub chain: Vec<usize>,
    /// An element of a part of it that no parameter makes finite, and what that is.
    pub not_finite: Option<(usize, f64)>,
}

impl Type {
    /// A real value of this shape that nothing else is known of.
    pub fn real(shape: Shape) -> Type {
        Type {
            shape: Some(shape),
            integer: false,
            value: None,
            from_data: false,
            fixed: true,
            drawn: false,
            levels: None,
            labels: Labels::new(),
            range: Range::REAL,
            reached: false,
            structure: None,
            constant: None,
            base: 0,
            identity: 0,
            coordinates: Rc::default(),
            through: None,
            chain: Vec::new(),
            not_finite: None,
        }
    }

    /// An integer that is this expression in sizes.
    pub fn size(value: Size) -> Type {
        let range = match value.as_integer() {
            Some(n) => Range::of(&[n as f64]),
            None => Range::NON_NEGATIVE,
        };
        Type { integer: true, value: Some(value), range, ..Type::real(Shape::new()) }
    }

    /// The same without what holds for one value only.
    pub fn plain(self) -> Type {
        Type { value: None, levels: None, structure: None, constant: None, ..self }
    }

    /// Number of axes, if it is known.
    pub fn rank(&self) -> Option<usize> {
        self.shape.as_ref().map(Vec::len)
    }

    /// Whether it is known to be one number.
    pub fn is_scalar(&self) -> bool {
        self.rank() == Some(0)
    }

    /// What its axes stand for, one entry an axis.
    pub fn axes(&self) -> Labels {
        let rank = self.rank().unwrap_or(0);
        if self.labels.len() == rank { self.labels.clone() } else { vec![None; rank] }
    }

    /// What functions are told of it.
    pub fn for_function(&self) -> Option<Ty> {
        let shape = self.shape.clone()?;
        Some(Ty { shape, integer: self.integer, value: self.value.clone() })
    }

    /// Whether some of its coordinates are also those of another value.
    pub fn meets(&self, other: &Type) -> bool {
        self.coordinates.iter().any(|(p, one)| {
            other.coordinates.iter().any(|(q, two)| p == q && (one.is_none() || two.is_none() || one == two))
        })
    }

    /// Parameters that it depends on.
    pub fn parameters(&self) -> impl Iterator<Item = usize> + '_ {
        self.coordinates.iter().map(|(parameter, _)| *parameter)
    }
}

/// The coordinates that some values depend on together.
pub fn all_coordinates<'t>(types: impl IntoIterator<Item = &'t Type>) -> Rc<BTreeSet<Coordinate>> {
    let mut all: Option<Rc<BTreeSet<Coordinate>>> = None;
    for ty in types {
        match &mut all {
            _ if ty.coordinates.is_empty() => {}
            None => all = Some(ty.coordinates.clone()),
            Some(known) if ty.coordinates.is_subset(known) => {}
            Some(known) => Rc::make_mut(known).extend(ty.coordinates.iter().cloned()),
        }
    }
    all.unwrap_or_default()
}
