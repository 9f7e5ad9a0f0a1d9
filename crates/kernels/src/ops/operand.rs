//! How a kernel sees its arguments: constants without lanes, variables with them, each with its broadcasting.

use crate::num::dispatch::View;
use crate::num::real::{Dual, F16, Packed};
use crate::ops::array::{ArrayKernel, ArrayOp};
use crate::ops::scalar::{Elementwise, Kernel};
use std::cell::Cell;

/// The scalars that plans run on, each with its way into the tables of kernels.
pub trait Lane: Packed {
    /// The kernel of an elementwise function for this scalar.
    fn scalar(kernel: &'static Kernel) -> &'static dyn Elementwise<Self>;
    /// The kernel of an array operation for this scalar.
    fn array(op: &dyn ArrayOp) -> &dyn ArrayKernel<Self>;
}

macro_rules! lanes {
    ($($t:ty),*) => {$(
        impl Lane for $t {
            fn scalar(kernel: &'static Kernel) -> &'static dyn Elementwise<Self> { kernel }
            fn array(op: &dyn ArrayOp) -> &dyn ArrayKernel<Self> { op }
        }
    )*};
}
lanes!(f64, F16, Dual);

/// An argument's numbers.
#[derive(Clone, Copy)]
pub enum Arg<'a, T> {
    /// The same for every draw.
    Const(&'a [f64]),
    /// One number for each draw.
    Var(&'a [T]),
}

impl<'a, T: Packed> Arg<'a, T> {
    /// The same numbers where `U` stands for `T`.
    #[inline(always)]
    pub fn seen<U: Packed>(self, view: View<T, U>) -> Arg<'a, U> {
        match self {
            Arg::Const(c) => Arg::Const(c),
            Arg::Var(v) => Arg::Var(view.slice(v)),
        }
    }

    /// Element `i`.
    #[inline(always)]
    pub fn get(&self, i: usize) -> T {
        match self {
            Arg::Const(c) => T::splat(c[i]),
            Arg::Var(v) => v[i],
        }
    }

    /// Number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        match self {
            Arg::Const(c) => c.len(),
            Arg::Var(v) => v.len(),
        }
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it depends on the parameters.
    pub fn is_var(&self) -> bool {
        matches!(self, Arg::Var(_))
    }
}

/// Which element of an argument meets element `i` of the result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Broadcast {
    /// The same one.
    Each,
    /// The only one.
    One,
    /// As listed.
    Table(std::sync::Arc<[u32]>),
}

impl Broadcast {
    /// How an array of shape `from` is read when it meets shape `to` elementwise.
    pub fn between(from: &[usize], to: &[usize]) -> Broadcast {
        let (size, target) = (from.iter().product::<usize>(), to.iter().product::<usize>());
        if size == target {
            return Broadcast::Each;
        }
        if size == 1 {
            return Broadcast::One;
        }
        Broadcast::Table(broadcast_table(from, to).into())
    }

    /// The element that meets element `i`.
    #[inline(always)]
    pub fn at(&self, i: usize) -> usize {
        self.index().at(i)
    }

    /// The same, borrowed.
    #[inline(always)]
    pub fn index(&self) -> Index<'_> {
        match self {
            Broadcast::Each => Index::Each,
            Broadcast::One => Index::One,
            Broadcast::Table(t) => Index::Table(t),
        }
    }
}

/// A [`Broadcast`] as kernels see it: it can start anywhere.
#[derive(Clone, Copy, Debug)]
pub enum Index<'a> {
    /// The same one.
    Each,
    /// The only one.
    One,
    /// As listed.
    Table(&'a [u32]),
}

impl Index<'_> {
    /// The element that meets element `i`.
    #[inline(always)]
    pub fn at(self, i: usize) -> usize {
        match self {
            Index::Each => i,
            Index::One => 0,
            Index::Table(t) => t[i] as usize,
        }
    }
}

fn broadcast_table(from: &[usize], to: &[usize]) -> Vec<u32> {
    let missing = to.len() - from.len();
    let mut strides = vec![0usize; to.len()];
    let mut stride = 1;
    for k in (0..from.len()).rev() {
        strides[missing + k] = if from[k] == 1 { 0 } else { stride };
        stride *= from[k];
    }
    let total: usize = to.iter().product();
    (0..total)
        .map(|flat| {
            let (mut rest, mut index) = (flat, 0);
            for k in (0..to.len()).rev() {
                index += (rest % to[k]) * strides[k];
                rest /= to[k];
            }
            index as u32
        })
        .collect()
}

/// An argument of an elementwise operation.
#[derive(Clone, Copy)]
pub struct Operand<'a, T> {
    /// Its numbers.
    pub arg: Arg<'a, T>,
    /// How they meet the result's elements.
    pub index: Index<'a>,
}

impl<'a, T: Packed> Operand<'a, T> {
    /// An argument met as `index` says.
    #[inline(always)]
    pub fn new(arg: Arg<'a, T>, index: &'a Broadcast) -> Self {
        Self { arg, index: index.index() }
    }

    /// No numbers at all.
    #[inline(always)]
    pub fn empty() -> Self {
        Self { arg: Arg::Const(&[]), index: Index::One }
    }

    /// What meets the elements from `start` on.
    #[inline(always)]
    pub fn from(self, start: usize) -> Self {
        match (self.index, self.arg) {
            (Index::One, _) => self,
            (Index::Each, Arg::Const(c)) => Self { arg: Arg::Const(&c[start..]), index: Index::Each },
            (Index::Each, Arg::Var(v)) => Self { arg: Arg::Var(&v[start..]), index: Index::Each },
            (Index::Table(t), arg) => Self { arg, index: Index::Table(&t[start..]) },
        }
    }

    /// The number that meets element `i`.
    #[inline(always)]
    pub fn at(&self, i: usize) -> T {
        self.arg.get(self.index.at(i))
    }
}

/// Where an argument's adjoint is added up; None for a constant. Cells, because one node may be two
/// arguments.
pub type Adjoint<'a, T> = Option<&'a [Cell<T>]>;

/// Adds to an element of an adjoint.
#[inline(always)]
pub fn accumulate<T: Packed>(adjoint: &[Cell<T>], i: usize, x: T) {
    adjoint[i].set(adjoint[i].get() + x);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasting_reads_the_right_element() {
        for (from, to, expected) in [
            (vec![], vec![2, 3], vec![0, 0, 0, 0, 0, 0]),
            (vec![3], vec![2, 3], vec![0, 1, 2, 0, 1, 2]),
            (vec![1, 3], vec![2, 3], vec![0, 1, 2, 0, 1, 2]),
            (vec![2, 1], vec![2, 3], vec![0, 0, 0, 1, 1, 1]),
            (vec![2, 3], vec![2, 3], vec![0, 1, 2, 3, 4, 5]),
            (vec![2, 1, 2], vec![2, 2, 2], vec![0, 1, 0, 1, 2, 3, 2, 3]),
        ] {
            let index = Broadcast::between(&from, &to);
            let got: Vec<usize> = (0..to.iter().product()).map(|i| index.at(i)).collect();
            assert_eq!(got, expected, "{from:?} to {to:?}");
        }
    }
}
