//! Searches for modes where a Hessian costs much: by conjugate gradients, and one Hessian where they end.

use crate::infer::nested::lanes::{LANES, Lanes, add, product};
use crate::infer::nested::solver::Solver;
use crate::infer::nested::solver::climb::Climb;

/// Width of differences to either side that give the Hessian, in steps: kernels and chains are so
/// ill-conditioned that narrower ones show rounding, and those to one side how the Hessian changes.
const WIDE: f64 = 1e-3;
/// Most Newton steps; most conjugate gradients for each, and the share of the slope that they leave.
const NEWTON: usize = 30;
const CONJUGATE: usize = 30;
/// Newton steps after which the Hessian that conjugate gradients begin with is found anew.
const KEPT: usize = 6;
const FORCING: f64 = 1e-3;
/// How far a slope is differenced, in standard deviations.
const SHORT: f64 = 1e-3;

impl Solver<'_> {
    /// Newton's steps to the mode by conjugate gradients, and one Hessian there: what a search is where a
    /// Hessian costs much.
    pub(in crate::infer) fn search_by_krylov(&mut self, outer: &[Lanes]) {
        match &self.conditional.learnt.surface {
            Some(surface) => {
                self.by_surface(outer, surface);
                self.or_reference_factor();
                self.or_origin(outer);
            }
            None => {
                self.start(outer);
                self.reuse_factor();
            }
        }
        let mut climb = Climb::new(&self.y, self.near);
        for count in 1..=NEWTON {
            let anew = count % KEPT == 0;
            let (value, slope) = self.measure_by(outer, anew.then_some(WIDE), &[1.0, -1.0]);
            if anew {
                self.factor(&climb.damping);
                self.shore_up();
            }
            let step = self.conjugate(outer, &slope);
            climb.advance(&value, &step, &product(&step, &slope), f64::INFINITY, &mut self.y);
            if climb.near() {
                break;
            }
        }
        climb.give_up(&mut self.y);
        let (value, slope) = self.measure_by(outer, Some(WIDE), &[1.0, -1.0]);
        self.factor(&[0.0; LANES]);
        let step = self.ascent(&slope);
        let decrement = product(&step, &slope);
        self.end(&value, &step, &decrement);
    }

    /// Takes the factor at the reference where the one at hand is none.
    fn or_reference_factor(&mut self) {
        let sound = self.sound();
        for (factor, reference) in self.factor.iter_mut().zip(&self.conditional.drift.factor) {
            (0..LANES).filter(|&b| !sound[b]).for_each(|b| factor[b] = *reference);
        }
    }

    /// Newton's step for a slope by conjugate gradients, with the factor at hand to begin with: each product
    /// with the Hessian takes one gradient.
    fn conjugate(&mut self, outer: &[Lanes], slope: &[Lanes]) -> Vec<Lanes> {
        let (mut step, mut residual) = (vec![[0.0; LANES]; slope.len()], slope.to_vec());
        let mut image = self.ascent(&residual);
        let mut direction = image.clone();
        let mut left = product(&residual, &image);
        let enough = left.map(|x| FORCING * x);
        let mut open = [true; LANES];
        for round in 0..CONJUGATE {
            let bent = self.bend(outer, slope, &direction, &left);
            let curvature = product(&direction, &bent);
            let mut by = [0.0; LANES];
            for b in 0..LANES {
                let uphill = curvature[b] > 0.0;
                by[b] = match open[b] {
                    true if uphill => left[b] / curvature[b],
                    true => f64::from(round == 0),
                    false => 0.0,
                };
                open[b] &= uphill;
            }
            add(&mut step, &by, &direction);
            add(&mut residual, &by.map(|x| -x), &bent);
            image = self.ascent(&residual);
            let now = product(&residual, &image);
            let share: Lanes = std::array::from_fn(|b| if open[b] { now[b] / left[b] } else { 0.0 });
            for (direction, image) in direction.iter_mut().zip(&image) {
                *direction = std::array::from_fn(|b| image[b] + share[b] * direction[b]);
            }
            (0..LANES).for_each(|b| open[b] &= now[b] > enough[b]);
            left = now;
            if open == [false; LANES] {
                break;
            }
        }
        step
    }

    /// Minus the Hessian times a direction whose squared length is about this, by a difference of slopes.
    fn bend(&mut self, outer: &[Lanes], slope: &[Lanes], direction: &[Lanes], length: &Lanes) -> Vec<Lanes> {
        let width = length.map(|l| if l > 0.0 { SHORT / l.sqrt() } else { 0.0 });
        let here = self.y.clone();
        add(&mut self.y, &width, direction);
        let (_, ahead) = self.measure(outer, None);
        self.y = here;
        let difference = |(a, s): (&Lanes, &Lanes)| {
            std::array::from_fn(|b| (s[b] - a[b]) / width[b].max(f64::MIN_POSITIVE))
        };
        ahead.iter().zip(slope).map(difference).collect()
    }
}
