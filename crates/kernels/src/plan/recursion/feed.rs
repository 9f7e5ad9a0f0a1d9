//! What a step of h ← a · h + b adds: read as the steps go on, or computed by one instruction, step by step,
//! and never stored.

use super::super::program::{
    ANY, EACH, EACH_KNOWN, Instruction, MOST_READ, ONE, Primitive, Still, fits, hand_on, is_data, mul_add,
    mul_add_slopes, read, read_first, settle, shape, square_add, square_add_slopes,
};
use super::looped::Moving;
use crate::num::real::Packed;
use std::cell::Cell;
use std::sync::Arc;

/// The instruction that computes b for all steps. It writes nothing.
#[derive(Clone, Debug)]
pub(in crate::plan) struct Feed {
    pub(in crate::plan) instruction: Instruction,
    /// Arguments that are data with a number for each step. They are not in the buffer, where a number has
    /// one for each draw.
    data: [Arc<[f64]>; MOST_READ],
}

/// a (y - mu)² + d, as GARCH has it; s · z + c, as states that are not centred have it; and c · x + d with a
/// covariate.
const SHOCK: u16 = shape(&[ONE, EACH_KNOWN, ONE, ONE]);
const STATE: u16 = shape(&[ONE, EACH, ONE]);
const COVARIATE: u16 = shape(&[ONE, EACH_KNOWN, ONE]);

impl Feed {
    /// With the data of those arguments that are data and have a number for each step.
    pub(in crate::plan) fn new(instruction: Instruction, data: Vec<Option<Arc<[f64]>>>) -> Feed {
        let mut all: [Arc<[f64]>; MOST_READ] = Default::default();
        all.iter_mut().zip(data).for_each(|(to, from)| *to = from.unwrap_or_default());
        Feed { instruction, data: all }
    }

    /// Notes where the constants that serve all steps begin in the buffer; with that all places are known.
    pub(super) fn constants_from(&mut self, start: usize) {
        let one = self.instruction.args.iter_mut().filter(|source| !source.varies && source.step == 0);
        one.for_each(|source| source.at += start);
        self.instruction.look();
    }
}

/// Runs a loop that takes b from a feed, or from the third argument of its instruction.
#[inline(always)]
pub(super) fn run<U: Packed>(feed: Option<&Feed>, moving: &Moving, values: &[Cell<U>], fed: impl Fed<U>) {
    let Some(feed) = feed else { return fed.by(Stored::new(moving)) };
    match (feed.instruction.op, feed.instruction.shape) {
        (Primitive::SquareAdd, SHOCK) => fed.by(squares::<U, SHOCK>(feed, values)),
        (Primitive::SquareAdd, _) => fed.by(squares::<U, ANY>(feed, values)),
        (_, STATE) => fed.by(products::<U, STATE>(feed, values)),
        (_, COVARIATE) => fed.by(products::<U, COVARIATE>(feed, values)),
        (_, _) => fed.by(products::<U, ANY>(feed, values)),
    }
}

/// A loop that needs b.
pub(super) trait Fed<U> {
    /// Runs it with b from there.
    fn by(self, plus: impl Plus<U>);
}

/// Where b comes from.
pub(super) trait Plus<U> {
    /// b of a step.
    fn value(&mut self, step: usize, values: &[Cell<U>]) -> U;
    /// Takes the adjoint of b back; the steps come from the last to the first.
    fn back(&mut self, step: usize, up: U, values: &[Cell<U>], adjoints: &[Cell<U>]);
    /// After the last of these.
    fn end(self, adjoints: &[Cell<U>]);
}

/// b as it stands in the buffer.
struct Stored<'a, U> {
    moving: &'a Moving,
    sum: U,
}

impl<'a, U: Packed> Stored<'a, U> {
    #[inline(always)]
    fn new(moving: &'a Moving) -> Self {
        Stored { moving, sum: U::zero() }
    }

    #[inline(always)]
    fn at(&self, step: usize) -> usize {
        self.moving.first.args[2].at + step * self.moving.strides[2]
    }
}

impl<U: Packed> Plus<U> for Stored<'_, U> {
    #[inline(always)]
    fn value(&mut self, step: usize, values: &[Cell<U>]) -> U {
        values[self.at(step)].get()
    }

    #[inline(always)]
    fn back(&mut self, step: usize, up: U, _: &[Cell<U>], adjoints: &[Cell<U>]) {
        if self.moving.strides[2] == 0 {
            self.sum += up;
        } else if self.moving.first.args[2].varies {
            add(&adjoints[self.at(step)], up);
        }
    }

    #[inline(always)]
    fn end(self, adjoints: &[Cell<U>]) {
        if self.moving.strides[2] == 0 && self.moving.first.args[2].varies {
            add(&adjoints[self.at(0)], self.sum);
        }
    }
}

/// b as an instruction computes it: its function, and its slopes times an adjoint.
struct Computed<'a, U, F, G, const N: usize, const SHAPE: u16> {
    feed: &'a Feed,
    x: [U; N],
    sums: [U; N],
    f: F,
    slopes: G,
}

impl<'a, U, F, G, const N: usize, const SHAPE: u16> Computed<'a, U, F, G, N, SHAPE>
where
    U: Packed,
    F: Fn([U; N]) -> U,
    G: Fn([U; N], U) -> [U; N],
{
    #[inline(always)]
    fn new(feed: &'a Feed, values: &[Cell<U>], f: F, slopes: G) -> Self {
        let i = &feed.instruction;
        assert!(fits::<N, _>(i, Still, values.len()) && (SHAPE == ANY || SHAPE == i.shape));
        // SAFETY: just looked at.
        let x = unsafe { read_first(i, Still, values) };
        Computed { feed, x, sums: [U::zero(); N], f, slopes }
    }

    #[inline(always)]
    fn read(&mut self, step: usize, values: &[Cell<U>]) {
        assert!(step < self.feed.instruction.n);
        // SAFETY: the instruction fits a buffer of this length and has this shape, as `new` has seen.
        unsafe { read::<U, N, SHAPE>(&self.feed.instruction, Still, values, step, &mut self.x) };
        let mut j = 0;
        while j < N {
            if is_data::<SHAPE>(&self.feed.instruction, j) {
                self.x[j] = U::splat(self.feed.data[j][step]);
            }
            j += 1;
        }
    }
}

impl<U, F, G, const N: usize, const SHAPE: u16> Plus<U> for Computed<'_, U, F, G, N, SHAPE>
where
    U: Packed,
    F: Fn([U; N]) -> U,
    G: Fn([U; N], U) -> [U; N],
{
    #[inline(always)]
    fn value(&mut self, step: usize, values: &[Cell<U>]) -> U {
        self.read(step, values);
        (self.f)(self.x)
    }

    #[inline(always)]
    fn back(&mut self, step: usize, up: U, values: &[Cell<U>], adjoints: &[Cell<U>]) {
        self.read(step, values);
        let slopes = (self.slopes)(self.x, up);
        let mut j = 0;
        while j < N {
            let i = &self.feed.instruction;
            hand_on::<U, N, SHAPE>(i, Still, j, step, slopes[j], &mut self.sums, adjoints);
            j += 1;
        }
    }

    #[inline(always)]
    fn end(self, adjoints: &[Cell<U>]) {
        settle(&self.feed.instruction, Still, &self.sums, adjoints);
    }
}

#[inline(always)]
fn squares<'a, U: Packed, const SHAPE: u16>(
    feed: &'a Feed,
    values: &[Cell<U>],
) -> impl Plus<U> + use<'a, U, SHAPE> {
    Computed::<_, _, _, 4, SHAPE>::new(
        feed,
        values,
        #[inline(always)]
        |x| square_add(x),
        #[inline(always)]
        |x, up| square_add_slopes(x, up),
    )
}

#[inline(always)]
fn products<'a, U: Packed, const SHAPE: u16>(
    feed: &'a Feed,
    values: &[Cell<U>],
) -> impl Plus<U> + use<'a, U, SHAPE> {
    Computed::<_, _, _, 3, SHAPE>::new(
        feed,
        values,
        #[inline(always)]
        |x| mul_add(x),
        #[inline(always)]
        |x, up| mul_add_slopes(x, up),
    )
}

#[inline(always)]
pub(super) fn add<U: Packed>(cell: &Cell<U>, x: U) {
    cell.set(cell.get() + x);
}
