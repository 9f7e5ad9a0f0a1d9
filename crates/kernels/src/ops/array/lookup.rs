//! Elements at places that are data themselves: indexing that is decided when a plan runs.

use super::{Forward, Kernel, Reverse, ShapeError};
use crate::facts::Shape;
use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::real::Packed;
use crate::ops::operand::{Arg, accumulate};
use std::cell::Cell;

/// `out[i] = x[places[i]]`, in the shape of `places`: numbers from 0, cut down to whole ones, which must lie
/// within `x` and are the same for every draw.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Lookup;

impl Kernel for Lookup {
    const NAME: &'static str = "lookup";

    fn shape(&self, args: &[Shape]) -> Result<Shape, ShapeError> {
        Ok(args[1].clone())
    }

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        best_lanes(Gather { x: cx.args[0], places: cx.args[1], out: cx.out });
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        let Some(adjoint) = cx.adjoints[0] else { return };
        best_lanes(Scatter { up: cx.adjoint, places: cx.args[1], adjoint });
    }
}

#[inline(always)]
fn place<U: Packed>(places: Arg<U>, i: usize) -> usize {
    match places {
        Arg::Const(c) => c[i] as usize,
        Arg::Var(v) => v[i].lane(0) as usize,
    }
}

struct Gather<'a, T> {
    x: Arg<'a, T>,
    places: Arg<'a, T>,
    out: &'a mut [T],
}

impl<T: Packed> LaneWork<T> for Gather<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let (x, places) = (self.x.seen(view), self.places.seen(view));
        for (i, o) in view.slice_mut(self.out).iter_mut().enumerate() {
            *o = x.get(place(places, i));
        }
    }
}

struct Scatter<'a, T> {
    up: &'a [T],
    places: Arg<'a, T>,
    adjoint: &'a [Cell<T>],
}

impl<T: Packed> LaneWork<T> for Scatter<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let (adjoint, places) = (view.cells(self.adjoint), self.places.seen(view));
        for (i, &a) in view.slice(self.up).iter().enumerate() {
            accumulate(adjoint, place(places, i), a);
        }
    }
}
