//! Loops whose step is h ← a · h + b, as autoregressions and GARCH have it: h stays in registers. A step
//! waits for the one before it, so that product and sum are one instruction where registers have it, forward
//! and back.

use super::super::program::Primitive;
use super::feed::{Fed, Plus, add};
use super::looped::Moving;
use crate::num::real::Packed;
use std::cell::Cell;

/// Which arguments of the one instruction of a step are what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linear {
    /// Which argument is h.
    carried: usize,
    /// Which is a.
    factor: usize,
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
}

/// The loop forward, in the buffer of values.
pub(super) struct Ahead<'a, U> {
    pub(super) linear: Linear,
    pub(super) moving: &'a Moving,
    pub(super) steps: usize,
    pub(super) values: &'a [Cell<U>],
}

/// The loop backwards.
pub(super) struct Back<'a, U> {
    pub(super) ahead: Ahead<'a, U>,
    pub(super) adjoints: &'a [Cell<U>],
}

impl<U: Packed> Fed<U> for Ahead<'_, U> {
    #[inline(always)]
    fn by(self, mut plus: impl Plus<U>) {
        let Ahead { linear, moving, steps, values } = self;
        let first = &moving.first;
        let mut h = values[first.args[linear.carried].at].get();
        for step in 0..steps {
            let a = values[first.args[linear.factor].at + step * moving.strides[linear.factor]].get();
            h = a.mul_add(h, plus.value(step, values));
            values[first.out + step * moving.out].set(h);
        }
    }
}

impl<U: Packed> Fed<U> for Back<'_, U> {
    #[inline(always)]
    fn by(self, mut plus: impl Plus<U>) {
        let (Ahead { linear, moving, steps, values }, adjoints) = (self.ahead, self.adjoints);
        let (first, start) = (&moving.first, moving.first.args[linear.carried].at);
        let (factor, stride) = (&first.args[linear.factor], moving.strides[linear.factor]);
        // The adjoint of the step after with its a, and that of a where it is the same in every step.
        let (mut up, mut by, mut in_factor) = (U::zero(), U::zero(), U::zero());
        for step in (0..steps).rev() {
            up = up.mul_add(by, adjoints[first.out + step * moving.out].get());
            let h = values[start + step * moving.out].get();
            if stride == 0 {
                in_factor = up.mul_add(h, in_factor);
            } else if factor.varies {
                add(&adjoints[factor.at + step * stride], up * h);
            }
            plus.back(step, up, values, adjoints);
            by = values[factor.at + step * stride].get();
        }
        add(&adjoints[start], up * by);
        if stride == 0 && factor.varies {
            add(&adjoints[factor.at], in_factor);
        }
        plus.end(adjoints);
    }
}
