//! Which instruction is the first to add to an adjoint: it sets it, so that nobody clears it and nobody reads
//! it before.

use super::super::code::{Code, Plan, Slot, Step};
use super::super::program::Instruction;
use crate::ops::operand::Broadcast;
use std::collections::BTreeMap;
use std::ops::Range;

/// How many roots stand where, without the places where none does.
pub(super) fn seeds(roots: impl Iterator<Item = Slot>) -> Vec<(Range<usize>, f64)> {
    let mut changes: BTreeMap<usize, f64> = BTreeMap::new();
    for root in roots {
        if let Slot::Var { at, len } = root {
            *changes.entry(at).or_default() += 1.0;
            *changes.entry(at + len).or_default() -= 1.0;
        }
    }
    let (mut seeds, mut start, mut count) = (Vec::new(), 0, 0.0);
    for (at, change) in changes {
        if count > 0.0 && change != 0.0 {
            seeds.push((start..at, count));
        }
        if change != 0.0 {
            (start, count) = (at, count + change);
        }
    }
    seeds
}

/// Marks the arguments whose adjoints are set, notes the adjoints that must be cleared, and with that the
/// shapes of instructions.
///
/// Only where the sum of the roots is differentiated is every sweep the same: seeds, then terms from the
/// first step to the last, then everything else from the last step to the first. Elsewhere all adjoints are
/// cleared.
pub(super) fn mark(plan: &mut Plan) {
    let mut adjoints = Adjoints { places: vec![Place::Untouched; plan.values] };
    plan.seeds.iter().for_each(|(range, _)| adjoints.touch(range.clone(), Place::Set));
    if plan.summed {
        plan.steps.iter_mut().for_each(|step| adjoints.sweep(step, true));
        plan.steps.iter_mut().rev().for_each(|step| adjoints.sweep(step, false));
    }
    adjoints.touch(plan.asked..plan.inputs, Place::Unread);
    plan.cleared = adjoints.cleared();
    for step in &mut plan.steps {
        let Code::Program(code) = &mut step.code else { continue };
        code.iter_mut().for_each(Instruction::look);
    }
}

/// What is known of an adjoint at a point of the sweep.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Nothing was added yet.
    Untouched,
    /// The first to come added to it.
    Added,
    /// A seed is there, or the first to come set it.
    Set,
    /// Nobody reads it.
    Unread,
}

struct Adjoints {
    places: Vec<Place>,
}

impl Adjoints {
    /// What a step does in the forward sweep, which is for terms, or in the reverse sweep.
    fn sweep(&mut self, step: &mut Step, forward: bool) {
        if let Code::Program(code) = &mut step.code {
            return match forward {
                true => code.iter_mut().filter(|i| i.term).for_each(|i| self.instruction(i)),
                false => code.iter_mut().rev().filter(|i| !i.term).for_each(|i| self.instruction(i)),
            };
        }
        if step.term != forward {
            return;
        }
        if let Code::MapSum { index, fresh, .. } = &mut step.code {
            return self.sum(&step.args, index, fresh, forward);
        }
        let unasked = |k: usize| matches!(&step.code, Code::Array { unasked, .. } if unasked[k]);
        let asked = step.args.iter().enumerate().filter(|(k, _)| !unasked(*k));
        asked.for_each(|(_, slot)| self.add_to(slot));
        if let Code::Loop(code) = &step.code {
            code.fed().flat_map(varying).for_each(|(_, range)| self.touch(range, Place::Added));
        }
    }

    /// A sum sets what it is the first to add to, if it hands its slopes on itself and each element is that
    /// of one argument.
    fn sum(&mut self, args: &[Slot], index: &[Broadcast], fresh: &mut [bool], term: bool) {
        let places = |slot: &Slot| match slot {
            Slot::Var { at, len } => Some(*at..at + len),
            Slot::Const(_) | Slot::Data { .. } => None,
        };
        let ranges: Vec<(usize, Range<usize>)> =
            args.iter().enumerate().filter_map(|(j, s)| Some((j, places(s)?))).collect();
        let first = self.first(&ranges, |j| term && matches!(index[j], Broadcast::Each));
        ranges.iter().zip(first).for_each(|((j, _), first)| fresh[*j] = first);
    }

    fn instruction(&mut self, i: &mut Instruction) {
        let ranges: Vec<(usize, Range<usize>)> = varying(i).collect();
        let first = self.first(&ranges, |_| true);
        ranges.iter().zip(first).for_each(|((j, _), first)| i.args[*j].fresh = first);
        if i.term {
            self.touch(i.out..i.out + i.op.written(1), Place::Unread);
        }
    }

    /// Which of the arguments that may set their adjoints do: those that are the first to add to them.
    /// Elements that two arguments share must be added to.
    fn first(&mut self, ranges: &[(usize, Range<usize>)], may_set: impl Fn(usize) -> bool) -> Vec<bool> {
        let sets = |(j, range): &(usize, Range<usize>)| {
            let shared = ranges.iter().any(|(k, r)| k != j && r.start < range.end && range.start < r.end);
            let untouched = self.places[range.clone()].iter().all(|&place| place == Place::Untouched);
            may_set(*j) && untouched && !shared
        };
        let first: Vec<bool> = ranges.iter().map(sets).collect();
        for ((_, range), &first) in ranges.iter().zip(&first) {
            self.touch(range.clone(), if first { Place::Set } else { Place::Added });
        }
        first
    }

    fn add_to(&mut self, slot: &Slot) {
        if let Slot::Var { at, len } = slot {
            self.touch(*at..at + len, Place::Added);
        }
    }

    fn touch(&mut self, range: Range<usize>, as_what: Place) {
        let untouched = self.places[range].iter_mut().filter(|place| **place == Place::Untouched);
        untouched.for_each(|place| *place = as_what);
    }

    /// Whatever is added to, and whatever nobody touched, which is zero.
    fn cleared(&self) -> Vec<Range<usize>> {
        let needs = |&at: &usize| matches!(self.places[at], Place::Untouched | Place::Added);
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for at in (0..self.places.len()).filter(needs) {
            match ranges.last_mut() {
                Some(last) if last.end == at => last.end += 1,
                _ => ranges.push(at..at + 1),
            }
        }
        ranges
    }
}

/// The arguments of an instruction that vary, each with the places it reads.
fn varying(i: &Instruction) -> impl Iterator<Item = (usize, Range<usize>)> {
    let args = i.args[..i.op.arity()].iter().enumerate().filter(|(_, a)| a.varies);
    args.map(|(j, a)| (j, a.at..a.at + if a.step == 0 { 1 } else { i.n }))
}
