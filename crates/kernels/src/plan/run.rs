//! Runs a plan: values forward, derivatives backward, on any scalar.

use super::batch::{Seed, Spread};
use super::code::{Code, MOST_ARGS, Plan, Slot, Step};
use super::ode::OdeRoom;
use super::program;
use super::tiled::TiledCode;
use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::real::Packed;
use crate::ops::array::{Forward, Reverse};
use crate::ops::operand::{Adjoint, Arg, Broadcast, Lane, Operand};
use crate::ops::scalar::{self, Predictor};
use std::cell::Cell;

/// The buffers of one thread: values, their adjoints, and what operations keep between sweeps.
#[derive(Clone, Debug)]
pub struct Workspace<T> {
    pub(super) values: Vec<T>,
    pub(super) adjoints: Vec<T>,
    saved: Vec<T>,
    pub(super) data: Vec<f64>,
    room: Vec<T>,
    odes: Vec<OdeRoom<T>>,
    /// For each loop the buffers of its step, once for each way it may go.
    loops: Vec<Vec<Workspace<T>>>,
    /// For chains over many rows the buffers of a few.
    tiles: Vec<Vec<Workspace<T>>>,
}

impl<T: Lane> Workspace<T> {
    /// Buffers for a plan.
    pub fn new(plan: &Plan) -> Self {
        let mut values = vec![T::zero(); plan.buffer];
        plan.fixed.iter().for_each(|&(at, x)| values[at] = T::splat(x));
        Self {
            values,
            adjoints: vec![T::zero(); plan.values],
            saved: vec![T::zero(); plan.saved],
            data: vec![0.0; plan.data],
            room: vec![T::zero(); scalar::room::<T>()],
            odes: plan.odes.iter().map(|code| OdeRoom::new(code)).collect(),
            loops: plan.recursions.iter().map(|code| code.rooms()).collect(),
            tiles: plan.tiles.iter().map(|code| code.rooms()).collect(),
        }
    }

    /// The unconstrained coordinates, to be set before a forward sweep.
    pub fn inputs(&mut self, plan: &Plan) -> &mut [T] {
        &mut self.values[..plan.inputs]
    }

    /// What else is set before a forward sweep: the inputs of the graph beyond the coordinates.
    pub fn data(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// Computes every value; with `slopes`, also what the reverse sweep needs.
    pub(super) fn steps_forward(&mut self, plan: &Plan, slopes: bool) {
        self.begin(plan, slopes);
        for step in &plan.steps {
            self.step_forward(step, slopes);
        }
    }

    /// Puts data in place before the forward sweep, and sets the adjoints where that already adds to them.
    pub(super) fn begin(&mut self, plan: &Plan, slopes: bool) {
        if !plan.spread.is_empty() {
            best_lanes(Spread { plan, data: &self.data, values: &mut self.values });
        }
        if slopes && plan.summed {
            best_lanes(Seed { plan, adjoints: &mut self.adjoints });
        }
    }

    pub(super) fn step_forward(&mut self, step: &Step, slopes: bool) {
        match &step.code {
            Code::Program(code) => {
                return program::forward(code, &mut self.values, &mut self.adjoints, slopes);
            }
            Code::Loop(code) => return code.forward(&mut self.values),
            Code::Recursion { code, room } => {
                let (before, rest) = self.values.split_at_mut(step.at);
                let known = Known { values: before, data: &self.data };
                let out = &mut rest[..step.len];
                let saved = &mut self.saved[step.saved_at..step.saved_at + step.saved_len];
                let saved = if slopes { saved } else { &mut [] };
                return code.forward(&mut self.loops[*room], |k| known.arg(&step.args[k]), out, saved);
            }
            Code::Tiled { code, room } => return self.tiled_forward(step, code, *room, slopes),
            Code::Map { .. }
            | Code::MapSum { .. }
            | Code::Predicted { .. }
            | Code::Concat
            | Code::Array { .. }
            | Code::Ode { .. } => {}
        }
        let (before, rest) = self.values.split_at_mut(step.at);
        let known = Known { values: before, data: &self.data };
        let out = &mut rest[..step.len];
        let saved = &mut self.saved[step.saved_at..step.saved_at + step.saved_len];
        let keep = Keep { saved, room: &mut self.room };
        let cells = Cell::from_mut(&mut self.adjoints[..]).as_slice_of_cells();
        step.forward(known, out, keep, &mut self.odes, slopes.then_some(cells));
    }

    fn tiled_forward(&mut self, step: &Step, code: &TiledCode, room: usize, slopes: bool) {
        let (before, rest) = self.values.split_at_mut(step.at);
        let known = Known { values: before, data: &self.data };
        let arg = |k: usize| known.arg(&step.args[k]);
        let (room, out) = (&mut self.tiles[room], &mut rest[..step.len]);
        if code.gives_arrays() {
            return code.arrays(room, arg, out);
        }
        let kept = &mut self.saved[step.saved_at..step.saved_at + step.saved_len];
        kept.fill(T::zero());
        let kept = Cell::from_mut(kept).as_slice_of_cells();
        let cells = Cell::from_mut(&mut self.adjoints[..]).as_slice_of_cells();
        let into = |k: usize| match (step.term, adjoint(&step.args[k], cells)) {
            (false, Some(a)) => Some(&kept[code.start(k)..][..a.len()]),
            (_, own) => own,
        };
        code.sums(room, arg, out, slopes.then_some(into));
    }

    /// The reverse sweep; `seed` sets the adjoints before it.
    pub(super) fn steps_reverse(&mut self, plan: &Plan, seed: &mut dyn FnMut(&mut Self)) {
        seed(self);
        for step in plan.steps.iter().rev() {
            self.step_reverse(step);
        }
    }

    /// Sets the adjoints to the weights of the roots' elements, which `weigh` adds to those of one root at a
    /// time.
    pub(super) fn seed_from(&mut self, plan: &Plan, weigh: &mut dyn FnMut(usize, &mut [T])) {
        self.adjoints.fill(T::zero());
        for (r, root) in plan.roots.iter().enumerate() {
            if let Slot::Var { at, len } = root {
                weigh(r, &mut self.adjoints[*at..at + len]);
            }
        }
    }

    /// The reverse sweep of a part of something larger: the adjoints of the first `kept` coordinates are
    /// added to, and `seed` sets those of the roots.
    pub(super) fn reverse_part(&mut self, plan: &Plan, kept: usize, seed: impl FnOnce(&mut [T])) {
        self.adjoints[kept..].fill(T::zero());
        seed(&mut self.adjoints);
        for step in plan.steps.iter().rev() {
            self.step_reverse(step);
        }
    }

    /// How many numbers a forward sweep computes for the reverse sweep.
    pub(super) fn kept(plan: &Plan) -> usize {
        plan.values - plan.inputs + plan.saved
    }

    /// Copies what the forward sweep has computed.
    pub(super) fn keep(&self, plan: &Plan, into: &mut [T]) {
        let (values, saved) = into[..Self::kept(plan)].split_at_mut(plan.values - plan.inputs);
        values.copy_from_slice(&self.values[plan.inputs..plan.values]);
        saved.copy_from_slice(&self.saved);
    }

    /// Puts back what a forward sweep has computed.
    pub(super) fn recall(&mut self, plan: &Plan, from: &[T]) {
        let (values, saved) = from[..Self::kept(plan)].split_at(plan.values - plan.inputs);
        self.values[plan.inputs..plan.values].copy_from_slice(values);
        self.saved.copy_from_slice(saved);
    }

    /// All adjoints, those of the coordinates first.
    pub(super) fn adjoints(&mut self) -> &mut [T] {
        &mut self.adjoints
    }

    /// Sets the adjoints before the reverse sweep, where the forward sweep does not add to them.
    pub(super) fn seed(&mut self, plan: &Plan) {
        if !plan.summed {
            best_lanes(Seed { plan, adjoints: &mut self.adjoints });
        }
    }

    pub(super) fn step_reverse(&mut self, step: &Step) {
        match &step.code {
            Code::Program(code) => return program::reverse(code, &mut self.values, &mut self.adjoints),
            Code::Loop(code) => return code.reverse(&mut self.values, &mut self.adjoints),
            Code::Recursion { .. }
            | Code::Tiled { .. }
            | Code::Map { .. }
            | Code::MapSum { .. }
            | Code::Predicted { .. }
            | Code::Concat
            | Code::Array { .. }
            | Code::Ode { .. } => {}
        }
        if step.term {
            return;
        }
        let (before, rest) = self.adjoints.split_at_mut(step.at);
        let adjoints = &mut rest[..step.len];
        let cells = Cell::from_mut(before).as_slice_of_cells();
        let (values, rest) = self.values.split_at(step.at);
        let known = Known { values, data: &self.data };
        if let Code::Recursion { code, room } = &step.code {
            let of = |k: usize| adjoint(&step.args[k], cells);
            let kept = (&rest[..step.len], &self.saved[step.saved_at..step.saved_at + step.saved_len]);
            return code.reverse(&mut self.loops[*room], |k| known.arg(&step.args[k]), kept, adjoints, of);
        }
        if let Code::Tiled { code, room } = &step.code
            && code.gives_arrays()
        {
            let of = |k: usize| adjoint(&step.args[k], cells);
            return code.pull(&mut self.tiles[*room], |k| known.arg(&step.args[k]), adjoints, of);
        }
        let saved = &mut self.saved[step.saved_at..step.saved_at + step.saved_len];
        let keep = Keep { saved, room: &mut self.room };
        step.reverse(known, &rest[..step.len], keep, &mut self.odes, adjoints, cells);
    }

    /// Derivatives in the unconstrained coordinates, after a reverse sweep.
    pub fn gradient(&self, plan: &Plan) -> &[T] {
        &self.adjoints[..plan.inputs]
    }

    /// Element `i` of a root, after a forward sweep.
    pub fn root(&self, plan: &Plan, root: usize, i: usize) -> T {
        self.root_values(plan, root).get(i)
    }

    /// All elements of a root, after a forward sweep.
    pub fn root_values<'a>(&'a self, plan: &'a Plan, root: usize) -> Arg<'a, T> {
        match &plan.roots[root] {
            Slot::Const(c) => Arg::Const(c),
            Slot::Data { at, len } => Arg::Const(&self.data[*at..at + len]),
            Slot::Var { at, len } => Arg::Var(&self.values[*at..at + len]),
        }
    }
}

/// What a step has beside its arguments and its result: what it keeps for the reverse sweep, and room to work
/// in.
struct Keep<'a, T> {
    saved: &'a mut [T],
    room: &'a mut [T],
}

/// What a step can read.
#[derive(Clone, Copy)]
struct Known<'a, T> {
    values: &'a [T],
    data: &'a [f64],
}

impl<'a, T: Lane> Known<'a, T> {
    #[inline(always)]
    fn arg(self, slot: &'a Slot) -> Arg<'a, T> {
        match slot {
            Slot::Const(c) => Arg::Const(c),
            Slot::Data { at, len } => Arg::Const(&self.data[*at..at + len]),
            Slot::Var { at, len } => Arg::Var(&self.values[*at..at + len]),
        }
    }
}

impl<'a, T> Known<'a, T> {
    /// What is the same for every draw.
    #[inline(always)]
    fn numbers(self, slot: &'a Slot) -> Option<&'a [f64]> {
        match slot {
            Slot::Const(c) => Some(c),
            Slot::Data { at, len } => Some(&self.data[*at..at + len]),
            Slot::Var { .. } => None,
        }
    }
}

#[inline(always)]
fn adjoint<'a, T>(slot: &Slot, cells: &'a [Cell<T>]) -> Adjoint<'a, T> {
    match slot {
        Slot::Const(_) | Slot::Data { .. } => None,
        Slot::Var { at, len } => Some(&cells[*at..at + len]),
    }
}

/// The arguments of a step on the stack, so that running it allocates nothing.
#[inline(always)]
fn gather<A: Copy>(n: usize, empty: A, get: impl Fn(usize) -> A) -> [A; MOST_ARGS] {
    let mut all = [empty; MOST_ARGS];
    for (k, a) in all.iter_mut().take(n).enumerate() {
        *a = get(k);
    }
    all
}

impl Step {
    #[inline(always)]
    fn operands<'a, T: Lane>(
        &'a self,
        index: &'a [Broadcast],
        known: Known<'a, T>,
    ) -> [Operand<'a, T>; MOST_ARGS] {
        gather(self.args.len(), Operand::empty(), |k| Operand::new(known.arg(&self.args[k]), &index[k]))
    }

    /// Where the slopes of a sum are added: to the adjoints, if it is a term, and otherwise to what is kept
    /// for the reverse sweep; and the rest of what is kept.
    #[inline(always)]
    fn sum_into<'a, T: Lane>(
        &self,
        cells: &'a [Cell<T>],
        saved: &'a mut [T],
    ) -> ([Adjoint<'a, T>; MOST_ARGS], &'a mut [T]) {
        let n = self.args.len();
        if self.term {
            return (gather(n, None, |k| adjoint(&self.args[k], cells)), saved);
        }
        let varying = |slot: &&Slot| matches!(slot, Slot::Var { .. });
        let own = self.args.iter().filter(varying).map(Slot::len).sum();
        let (own, rest) = saved.split_at_mut(own);
        own.fill(T::zero());
        let own = Cell::from_mut(own).as_slice_of_cells();
        let start = |k: usize| self.args[..k].iter().filter(varying).map(Slot::len).sum::<usize>();
        let piece = |k: usize| varying(&&self.args[k]).then(|| &own[start(k)..start(k) + self.args[k].len()]);
        (gather(n, None, piece), rest)
    }

    fn forward<T: Lane>(
        &self,
        known: Known<T>,
        out: &mut [T],
        Keep { saved, room }: Keep<T>,
        odes: &mut [OdeRoom<T>],
        slopes: Option<&[Cell<T>]>,
    ) {
        let n = self.args.len();
        match &self.code {
            Code::Map { row, index } => {
                scalar::map(T::scalar(row.kernel), &self.operands(index, known)[..n], out);
            }
            Code::MapSum { row, index, weights, count, fresh } => {
                let operands = &self.operands(index, known)[..n];
                let weights = weights.as_ref().and_then(|slot| known.numbers(slot));
                let f = T::scalar(row.kernel);
                out[0] = match slopes {
                    Some(cells) => {
                        let (into, _) = self.sum_into(cells, saved);
                        scalar::sum(f, operands, weights, *count, (&into[..n], fresh), room)
                    }
                    None => scalar::sum_value(f, operands, weights, *count),
                };
            }
            Code::Predicted { row, index, weights, which, operator } => {
                let operands = &self.operands(index, known)[..n];
                let weights = weights.as_ref().and_then(|slot| known.numbers(slot));
                let predictor = Predictor { which: *which, operator };
                let f = T::scalar(row.kernel);
                out[0] = match slopes {
                    Some(cells) => {
                        let (into, parts) = self.sum_into(cells, saved);
                        scalar::sum_predicted(f, operands, predictor, weights, &into[..n], (parts, room))
                    }
                    None => scalar::sum_predicted_value(f, operands, predictor, weights, room),
                };
            }
            Code::Concat => {
                let mut at = 0;
                for slot in &self.args {
                    let from = known.arg(slot);
                    match from {
                        Arg::Var(x) => out[at..at + x.len()].copy_from_slice(x),
                        Arg::Const(c) => {
                            out[at..at + c.len()].iter_mut().zip(c).for_each(|(o, &x)| *o = T::splat(x));
                        }
                    }
                    at += from.len();
                }
            }
            Code::Array { op, dims, .. } => {
                let args = gather(n, Arg::Const(&[]), |k| known.arg(&self.args[k]));
                let dims = gather(n, &[][..], |k| dims[k].as_slice());
                let mut cx = Forward { args: &args[..n], dims: &dims[..n], out, saved };
                T::array(op.0.as_ref()).forward(&mut cx);
            }
            Code::Ode { code, room } => {
                let args = [known.arg(&self.args[0]), known.arg(&self.args[1])];
                code.forward(&mut odes[*room], args, out, saved, slopes.is_some());
            }
            Code::Recursion { .. } | Code::Tiled { .. } | Code::Loop(_) | Code::Program(_) => {}
        }
    }

    fn reverse<T: Lane>(
        &self,
        known: Known<T>,
        out: &[T],
        Keep { saved, room }: Keep<T>,
        odes: &mut [OdeRoom<T>],
        up: &[T],
        cells: &[Cell<T>],
    ) {
        let n = self.args.len();
        match &self.code {
            Code::Map { row, index } => {
                let adjoints = gather(n, None, |k| adjoint(&self.args[k], cells));
                let operands = self.operands(index, known);
                scalar::pull(T::scalar(row.kernel), &operands[..n], out, up, &adjoints[..n], room);
            }
            Code::MapSum { .. } | Code::Predicted { .. } | Code::Tiled { .. } => {
                let mut at = 0;
                for slot in &self.args {
                    if let Some(into) = adjoint(slot, cells) {
                        best_lanes(AddScaled { by: up[0], x: &saved[at..at + into.len()], into });
                        at += into.len();
                    }
                }
            }
            Code::Concat => {
                let mut at = 0;
                for slot in &self.args {
                    if let Some(into) = adjoint(slot, cells) {
                        for (cell, &a) in into.iter().zip(&up[at..]) {
                            cell.set(cell.get() + a);
                        }
                    }
                    at += slot.len();
                }
            }
            Code::Array { op, dims, unasked } => {
                let args = gather(n, Arg::Const(&[]), |k| known.arg(&self.args[k]));
                let dims = gather(n, &[][..], |k| dims[k].as_slice());
                let asked = |k: usize| adjoint(&self.args[k], cells).filter(|_| !unasked[k]);
                let adjoints = gather(n, None, asked);
                let mut cx = Reverse {
                    args: &args[..n],
                    dims: &dims[..n],
                    out,
                    saved,
                    adjoint: up,
                    adjoints: &adjoints[..n],
                };
                T::array(op.0.as_ref()).reverse(&mut cx);
            }
            Code::Ode { code, room } => {
                let adjoints = [adjoint(&self.args[0], cells), adjoint(&self.args[1], cells)];
                code.reverse(&mut odes[*room], saved, up, adjoints);
            }
            Code::Recursion { .. } | Code::Loop(_) | Code::Program(_) => {}
        }
    }
}

/// into += by · x
struct AddScaled<'a, T> {
    by: T,
    x: &'a [T],
    into: &'a [Cell<T>],
}

impl<T: Packed> LaneWork<T> for AddScaled<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<T, U>) {
        let by = view.value(self.by);
        for (cell, &x) in view.cells(self.into).iter().zip(view.slice(self.x)) {
            cell.set(cell.get() + by * x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Builder;
    use crate::num::real::Real;
    use crate::num::real::{F16, Packed};
    use crate::ops::scalar::{EXP, MUL};

    #[test]
    fn gradient_of_a_small_expression() {
        let mut b = Builder::new();
        let z = b.input(0, vec![3]);
        let x = b.constant(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], vec![2, 3]);
        let eta = b.matmul(x, z).unwrap();
        let e = b.unary(&EXP, eta);
        let total = b.map_sum(&MUL, &[e, e], None).unwrap();
        let plan = Plan::new(&b.finish(), &[total], 3);
        let mut ws = Workspace::<F16>::new(&plan);
        let point = [0.1, -0.2, 0.05];
        ws.inputs(&plan).iter_mut().zip(point).for_each(|(v, p)| *v = F16::splat(p));
        ws.forward(&plan, true);
        ws.reverse(&plan);
        // Σ exp(2 x·z): gradient Σ 2 exp(2 x·z) x.
        let eta = [0.1 - 0.4 + 0.15, 0.4 - 1.0 + 0.3_f64];
        let e2 = eta.map(|e| (2.0 * e).exp());
        assert!((ws.root(&plan, 0, 0).lane(5) - (e2[0] + e2[1])).abs() < 1e-14);
        for (i, (a, b)) in [(1.0, 4.0), (2.0, 5.0), (3.0, 6.0)].into_iter().enumerate() {
            let expected = 2.0 * (e2[0] * a + e2[1] * b);
            assert!((ws.gradient(&plan)[i].lane(2) - expected).abs() < 1e-13);
        }
    }
}
