//! Arrays that are defined element by element: `let s[1] = ...`, `for t in 2..T { let s[t] = ... }`.

use super::types::{Type, all_coordinates};
use crate::facts::{Shape, Size};
use crate::source::Span;

/// From where to where an index runs; nothing where that is not known.
pub type Run = Option<(Size, Size)>;

/// One statement that defines elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// For each index from where to where it runs, in all steps of the loops around.
    pub runs: Vec<Run>,
    /// The variables of those loops.
    pub loops: Vec<String>,
    /// Whether a choice that the data make is around it.
    pub open: bool,
    /// Where its name stands.
    pub span: Span,
}

/// The elements that have been defined so far.
#[derive(Clone, Debug, Default)]
pub struct Elements {
    /// What an element is.
    element: Option<Type>,
    definitions: Vec<Definition>,
}

impl Elements {
    /// Number of indices that name an element.
    pub fn rank(&self) -> usize {
        self.definitions.first().map_or(0, |d| d.runs.len())
    }

    /// Adds what one statement defines.
    pub fn define(&mut self, definition: Definition, ty: Type) {
        self.definitions.push(definition);
        self.element = Some(match self.element.take() {
            None => ty.plain(),
            Some(known) => either(&known, &ty),
        });
    }

    /// What either branch of a choice has defined.
    pub fn joined(a: &Elements, b: &Elements) -> Elements {
        let mut all = a.clone();
        all.definitions.extend(b.definitions.iter().filter(|d| !a.definitions.contains(d)).cloned());
        if let (Some(x), Some(y)) = (&a.element, &b.element) {
            all.element = Some(either(x, y));
        }
        all
    }

    /// A statement before that has defined some of these elements, for certain.
    pub fn defined_before(&self, new: &Definition) -> Option<&Definition> {
        self.definitions.iter().find(|old| !old.open && !new.open && certainly_overlap(old, new))
    }

    /// Whether a loop that is around now has defined some of them.
    pub fn is_growing(&self, loops: &[String]) -> bool {
        self.definitions.iter().any(|d| d.loops.iter().any(|variable| loops.contains(variable)))
    }

    /// The whole array.
    pub fn whole(&self, loops: &[String]) -> Option<Type> {
        let element = self.element.as_ref()?;
        let growing = self.is_growing(loops);
        let extent = |k: usize| if growing { Size::Any } else { self.extent(k) };
        let inner = element.shape.clone()?;
        let shape: Shape = (0..self.rank()).map(extent).chain(inner).collect();
        let mut labels = vec![None; self.rank()];
        labels.extend(element.axes());
        Some(Type { shape: Some(shape), labels, ..element.clone() })
    }

    /// The largest number that an index has.
    fn extent(&self, k: usize) -> Size {
        let ends = self.definitions.iter().map(|d| d.runs.get(k).cloned().flatten().map(|(_, end)| end));
        let mut largest: Option<Size> = None;
        for end in ends {
            let Some(end) = end else { return Size::Any };
            largest = Some(match largest {
                None => end,
                Some(known) => later(known, end),
            });
        }
        largest.unwrap_or(Size::Any)
    }
}

/// The larger of two sizes; of a number and a name the name, for a loop goes on after the first elements.
fn later(a: Size, b: Size) -> Size {
    match (b.plus(-1, &a).as_integer(), a.as_integer(), b.as_integer()) {
        (Some(n), ..) if n > 0 => b,
        (Some(_), ..) => a,
        (None, Some(_), None) => b,
        (None, None, Some(_)) => a,
        (None, ..) => Size::Any,
    }
}

/// Whether two statements define an element that is the same, whatever the sizes are.
fn certainly_overlap(a: &Definition, b: &Definition) -> bool {
    let known = |run: &Run| run.clone();
    let (a, b): (Option<Vec<_>>, Option<Vec<_>>) =
        (a.runs.iter().map(known).collect(), b.runs.iter().map(known).collect());
    let (Some(a), Some(b)) = (a, b) else { return false };
    if a.len() != b.len() {
        return false;
    }
    let point = |(low, high): &(Size, Size)| low == high;
    if a.len() > 1 && !(a.iter().all(point) && b.iter().all(point)) {
        return false;
    }
    let at_most = |x: &Size, y: &Size| y.plus(-1, x).as_integer().is_some_and(|n| n >= 0);
    // A loop is taken to have a step: its first and its last element are there.
    a.iter().zip(&b).all(|((a, b), (c, d))| {
        [a, b].iter().any(|end| [c, d].contains(end)) || at_most(a, d) && at_most(c, b)
    })
}

/// What is known of a value that is one or the other.
pub fn either(a: &Type, b: &Type) -> Type {
    let shape = match (&a.shape, &b.shape) {
        (Some(x), Some(y)) if x.len() == y.len() => {
            Some(x.iter().zip(y).map(|(m, n)| if m == n { m.clone() } else { Size::Any }).collect())
        }
        _ => None,
    };
    Type {
        shape,
        integer: a.integer && b.integer,
        from_data: a.from_data || b.from_data,
        fixed: a.fixed && b.fixed,
        drawn: a.drawn || b.drawn,
        range: a.range.or(b.range),
        reached: a.reached && b.reached,
        labels: if a.labels == b.labels { a.labels.clone() } else { Vec::new() },
        coordinates: all_coordinates([a, b]),
        ..a.clone()
    }
    .plain()
}
