//! Loops whose step is h ← a · h + b, as autoregressions and GARCH have it: h stays in registers.
//!
//! b is an array that is read as the steps go on, or is computed by one instruction, step by step, and never stored.

use super::super::program::{
    ANY, Instruction, Primitive, Still, fits, hand_on, mul_add, mul_add_slopes, read, read_first, settle,
    square_add, square_add_slopes,
};
use super::looped::Moving;
use crate::num::real::Real;
use std::cell::Cell;

/// Which arguments of the one instruction of a step are what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linear {
    /// Which argument is h.
    carried: usize,
    /// Which is a.
    factor: usize,
}

/// Where b comes from.
trait Plus<U> {
    /// b of a step.
    fn value(&mut self, step: usize, values: &[Cell<U>]) -> U;
    /// Takes the adjoint of b back; the steps come from the last to the first.
    fn back(&mut self, step: usize, up: U, values: &[Cell<U>], adjoints: &[Cell<U>]);
    /// After the last of these.
    fn end(self, adjoints: &[Cell<U>]);
}

impl Linear {
    /// If the steps are that and nothing else.
    pub(super) fn of(ways: &[Vec<Moving>], loads: bool) -> Option<Linear> {
        let [way] = ways else { return None };
        let [only] = way.as_slice() else { return None };
        let (first, stride) = (&only.first, only.out);
        if loads || first.op != Primitive::MulAdd || first.n != 1 || stride == 0 {
            return None;
        }
        let before = |k: usize| first.args[k].at + stride == first.out && only.strides[k] == stride;
        let (carried, factor) = if before(0) { (0, 1) } else { (1, 0) };
        // What is read beside h must not be h as well.
        let free = |k: usize| !first.args[k].varies || !before(k);
        (before(carried) && free(factor) && free(2)).then_some(Linear { carried, factor })
    }

    #[inline(always)]
    pub(super) fn forward<U: Real>(
        self,
        moving: &Moving,
        feed: Option<&Instruction>,
        steps: usize,
        values: &[Cell<U>],
    ) {
        match feed.map(|i| (i, i.op)) {
            None => self.ahead(moving, Stored::new(moving), steps, values),
            Some((i, Primitive::SquareAdd)) => self.ahead(moving, squares(i, values), steps, values),
            Some((i, _)) => self.ahead(moving, products(i, values), steps, values),
        }
    }

    #[inline(always)]
    pub(super) fn reverse<U: Real>(
        self,
        moving: &Moving,
        feed: Option<&Instruction>,
        steps: usize,
        values: &[Cell<U>],
        adjoints: &[Cell<U>],
    ) {
        match feed.map(|i| (i, i.op)) {
            None => self.back(moving, Stored::new(moving), steps, values, adjoints),
            Some((i, Primitive::SquareAdd)) => self.back(moving, squares(i, values), steps, values, adjoints),
            Some((i, _)) => self.back(moving, products(i, values), steps, values, adjoints),
        }
    }

    #[inline(always)]
    fn ahead<U: Real>(self, moving: &Moving, mut plus: impl Plus<U>, steps: usize, values: &[Cell<U>]) {
        let first = &moving.first;
        let mut h = values[first.args[self.carried].at].get();
        for step in 0..steps {
            let a = values[first.args[self.factor].at + step * moving.strides[self.factor]].get();
            h = a * h + plus.value(step, values);
            values[first.out + step * moving.out].set(h);
        }
    }

    #[inline(always)]
    fn back<U: Real>(
        self,
        moving: &Moving,
        mut plus: impl Plus<U>,
        steps: usize,
        values: &[Cell<U>],
        adjoints: &[Cell<U>],
    ) {
        let (first, start) = (&moving.first, moving.first.args[self.carried].at);
        let (factor, stride) = (&first.args[self.factor], moving.strides[self.factor]);
        // The adjoint of h from the step after, and that of a where it is the same in every step.
        let (mut after, mut in_factor) = (U::zero(), U::zero());
        for step in (0..steps).rev() {
            let up = adjoints[first.out + step * moving.out].get() + after;
            let slope = up * values[start + step * moving.out].get();
            if stride == 0 {
                in_factor += slope;
            } else if factor.varies {
                add(&adjoints[factor.at + step * stride], slope);
            }
            plus.back(step, up, values, adjoints);
            after = up * values[factor.at + step * stride].get();
        }
        add(&adjoints[start], after);
        if stride == 0 && factor.varies {
            add(&adjoints[factor.at], in_factor);
        }
        plus.end(adjoints);
    }
}

#[inline(always)]
fn add<U: Real>(cell: &Cell<U>, x: U) {
    cell.set(cell.get() + x);
}

/// b as it stands in the buffer.
struct Stored<'a, U> {
    moving: &'a Moving,
    sum: U,
}

impl<'a, U: Real> Stored<'a, U> {
    #[inline(always)]
    fn new(moving: &'a Moving) -> Self {
        Stored { moving, sum: U::zero() }
    }

    #[inline(always)]
    fn at(&self, step: usize) -> usize {
        self.moving.first.args[2].at + step * self.moving.strides[2]
    }
}

impl<U: Real> Plus<U> for Stored<'_, U> {
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
struct Computed<'a, U, F, G, const N: usize> {
    i: &'a Instruction,
    x: [U; N],
    sums: [U; N],
    f: F,
    slopes: G,
}

impl<'a, U: Real, F: Fn([U; N]) -> U, G: Fn([U; N], U) -> [U; N], const N: usize> Computed<'a, U, F, G, N> {
    #[inline(always)]
    fn new(i: &'a Instruction, values: &[Cell<U>], f: F, slopes: G) -> Self {
        assert!(fits::<N>(i, Still, values.len()));
        // SAFETY: just looked at.
        let x = unsafe { read_first(i, Still, values) };
        Computed { i, x, sums: [U::zero(); N], f, slopes }
    }

    #[inline(always)]
    fn read(&mut self, step: usize, values: &[Cell<U>]) {
        assert!(step < self.i.n);
        // SAFETY: the instruction fits a buffer of this length, as `new` has seen.
        unsafe { read::<U, N, ANY>(self.i, Still, values, step, &mut self.x) };
    }
}

impl<U: Real, F: Fn([U; N]) -> U, G: Fn([U; N], U) -> [U; N], const N: usize> Plus<U>
    for Computed<'_, U, F, G, N>
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
            hand_on::<U, N, ANY>(self.i, Still, j, step, slopes[j], &mut self.sums, adjoints);
            j += 1;
        }
    }

    #[inline(always)]
    fn end(self, adjoints: &[Cell<U>]) {
        settle(self.i, Still, &self.sums, adjoints);
    }
}

#[inline(always)]
fn squares<'a, U: Real>(i: &'a Instruction, values: &[Cell<U>]) -> impl Plus<U> + use<'a, U> {
    Computed::new(
        i,
        values,
        #[inline(always)]
        |x| square_add(x),
        #[inline(always)]
        |x, up| square_add_slopes(x, up),
    )
}

#[inline(always)]
fn products<'a, U: Real>(i: &'a Instruction, values: &[Cell<U>]) -> impl Plus<U> + use<'a, U> {
    Computed::new(
        i,
        values,
        #[inline(always)]
        |x| mul_add(x),
        #[inline(always)]
        |x, up| mul_add_slopes(x, up),
    )
}
