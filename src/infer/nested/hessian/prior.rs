//! What the prior adds to the curvature of the inner coordinates: a few gradients of it alone tell that at
//! any outer point.
//!
//! A scale σ that goes to 0 makes the curvature σ⁻² of its effects grow without end, and no polynomial
//! follows that; what the data add depends on the outer coordinates by way of the modes alone, and hardly.

use crate::infer::nested::hessian::colouring::{Reading, read};
use crate::infer::nested::hessian::pattern::pattern;
use crate::infer::nested::partition::Partition;
use crate::num::linalg::Pattern;
use crate::target::{Evaluator, Target};

/// Most colours: a prior whose Hessian has more costs as much as what is to be saved.
const MOST_COLOURS: usize = 8;

/// The prior, and where its Hessian is read.
pub(in crate::infer) struct Curb<'t> {
    target: Box<dyn Target + 't>,
    reading: Reading,
    /// Where each entry stands in a factor of the whole.
    slots: Vec<usize>,
}

impl<'t> Curb<'t> {
    /// The prior of a target whose inner Hessian has this pattern; None where it is not known apart, or costs
    /// much.
    pub(in crate::infer) fn new(
        target: &'t dyn Target,
        parts: &Partition,
        whole: &Pattern,
        seed: u64,
    ) -> Option<Curb<'t>> {
        let target = target.prior()?;
        let (columns, _) = pattern(&*target, parts, seed)?;
        let reading = read(&columns);
        let slots = reading.entries.iter().map(|&(i, j)| whole.slot(i as usize, j as usize));
        let slots: Vec<usize> = slots.collect::<Option<_>>()?;
        (reading.colours.len() <= MOST_COLOURS).then_some(Curb { target, reading, slots })
    }

    /// Its evaluator, for one thread.
    pub(in crate::infer) fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        self.target.evaluator()
    }

    /// How its Hessian is read, and where each entry stands in a factor of the whole.
    pub(in crate::infer) fn entries(&self) -> (&Reading, &[usize]) {
        (&self.reading, &self.slots)
    }
}
