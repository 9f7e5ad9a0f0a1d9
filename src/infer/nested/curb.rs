//! What the prior adds to the curvature of the inner coordinates: a few gradients of it alone tell that at any outer point.
//!
//! A scale σ that goes to 0 makes the curvature σ⁻² of its effects grow without end, and no polynomial follows that; what the data add depends on the
//! outer coordinates by way of the modes alone, and hardly.

use super::colours::{Reading, read};
use super::conditional::{LANES, Lanes};
use super::partition::Partition;
use super::pattern::pattern;
use crate::num::linalg::Pattern;
use crate::target::{Evaluator, Target};

/// Most colours: a prior whose Hessian has more costs as much as what is to be saved.
const MOST_COLOURS: usize = 8;
/// Width of differences, in steps.
const NARROW: f64 = 3e-5;

/// The prior, and where its Hessian is read.
pub(super) struct Curb<'t> {
    target: Box<dyn Target + 't>,
    reading: Reading,
    /// Where each entry stands in a factor of the whole.
    slots: Vec<usize>,
}

/// Inner coordinates that are measured in steps from a reference.
pub(super) struct Measured<'a> {
    pub(super) parts: &'a Partition,
    pub(super) reference: &'a [f64],
    pub(super) steps: &'a [f64],
}

impl<'t> Curb<'t> {
    /// The prior of a target whose inner Hessian has this pattern; None where it is not known apart, or costs much.
    pub(super) fn new(
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
    pub(super) fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        self.target.evaluator()
    }

    /// Adds its entries of minus the Hessian at these places, in steps, to those of a matrix that is laid out as its factor.
    pub(super) fn add(
        &self,
        evaluator: &mut dyn Evaluator,
        at: &Measured,
        [outer, y]: [&[Lanes]; 2],
        to: &mut [Lanes],
    ) {
        let Measured { parts, reference, steps } = at;
        let count = (1 + self.reading.colours.len()) * LANES;
        let mut points = vec![0.0; self.target.dimension() * count];
        let mut put = |i: usize, values: Lanes| {
            points[i * count..(i + 1) * count]
                .chunks_exact_mut(LANES)
                .for_each(|p| p.copy_from_slice(&values));
        };
        parts.outer.iter().zip(outer).for_each(|(&i, values)| put(i, *values));
        for (at, &i) in parts.inner.iter().enumerate() {
            put(i, y[at].map(|y| reference[at] + steps[at] * y));
        }
        for (c, colour) in self.reading.colours.iter().enumerate() {
            for &at in colour {
                let from = parts.inner[at] * count + (1 + c) * LANES;
                points[from..from + LANES].iter_mut().for_each(|x| *x += NARROW * steps[at]);
            }
        }
        let (mut values, mut gradient) = (vec![0.0; count], vec![0.0; points.len()]);
        evaluator.evaluate(&points, count, &mut values, &mut gradient);
        for (&(colour, row), &slot) in self.reading.from.iter().zip(&self.slots) {
            let slopes = &gradient[parts.inner[row] * count..(parts.inner[row] + 1) * count];
            let ahead = &slopes[(1 + colour) * LANES..];
            (0..LANES).for_each(|b| to[slot][b] += steps[row] * (slopes[b] - ahead[b]) / NARROW);
        }
    }
}
