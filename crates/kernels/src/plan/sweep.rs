//! What runs a plan on each scalar, compiled here and not again in the crates that call it.

use super::batch::{Draws, Total, evaluate};
use super::code::Plan;
use super::run::Workspace;
use crate::num::dispatch::best_lanes;
use crate::num::real::{Dual, F16};
use crate::ops::operand::Lane;

/// A scalar that plans run on. Its functions are not generic, so that a caller's crate has no copy of them.
pub trait Sweep: Lane {
    /// See [`Workspace::evaluate`].
    fn evaluate(at: &mut Workspace<Self>, plan: &Plan, draws: &mut Draws);
    /// See [`Workspace::forward`].
    fn forward(at: &mut Workspace<Self>, plan: &Plan, slopes: bool);
    /// See [`Workspace::reverse`].
    fn reverse(at: &mut Workspace<Self>, plan: &Plan);
    /// See [`Workspace::reverse_from`].
    fn reverse_from(at: &mut Workspace<Self>, plan: &Plan, weigh: &mut dyn FnMut(usize, &mut [Self]));
    /// See [`Workspace::total`].
    fn total(at: &Workspace<Self>, plan: &Plan) -> Self;
}

macro_rules! sweeps {
    ($($t:ty),*) => {$(
        impl Sweep for $t {
            #[inline(never)]
            fn evaluate(at: &mut Workspace<$t>, plan: &Plan, draws: &mut Draws) {
                evaluate(at, plan, draws);
            }
            #[inline(never)]
            fn forward(at: &mut Workspace<$t>, plan: &Plan, slopes: bool) {
                at.steps_forward(plan, slopes);
            }
            #[inline(never)]
            fn reverse(at: &mut Workspace<$t>, plan: &Plan) {
                at.steps_reverse(plan, &mut |at| at.seed(plan));
            }
            #[inline(never)]
            fn reverse_from(at: &mut Workspace<$t>, plan: &Plan, weigh: &mut dyn FnMut(usize, &mut [$t])) {
                at.steps_reverse(plan, &mut |at| at.seed_from(plan, weigh));
            }
            #[inline(never)]
            fn total(at: &Workspace<$t>, plan: &Plan) -> $t {
                best_lanes(Total { roots: &plan.roots, values: &at.values, data: &at.data })
            }
        }
    )*};
}
sweeps!(f64, F16, Dual);

impl<T: Sweep> Workspace<T> {
    /// Log densities and gradients, where there is a draw for every lane of scalars without tangents.
    pub fn evaluate(&mut self, plan: &Plan, draws: &mut Draws) {
        T::evaluate(self, plan, draws);
    }

    /// Computes every value; with `slopes`, also what the reverse sweep needs.
    pub fn forward(&mut self, plan: &Plan, slopes: bool) {
        T::forward(self, plan, slopes);
    }

    /// Computes the derivative of the sum of all roots in every value; the forward sweep with slopes comes
    /// first.
    pub fn reverse(&mut self, plan: &Plan) {
        T::reverse(self, plan);
    }

    /// The same for a weighted sum of the roots' elements: `weigh` adds the weights of those of one root,
    /// which it is told by its number.
    pub fn reverse_from(&mut self, plan: &Plan, mut weigh: impl FnMut(usize, &mut [T])) {
        T::reverse_from(self, plan, &mut weigh);
    }

    /// The sum of the first elements of all roots, after a forward sweep.
    pub fn total(&self, plan: &Plan) -> T {
        T::total(self, plan)
    }
}
