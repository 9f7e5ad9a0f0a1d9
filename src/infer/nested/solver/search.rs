//! Searches for modes by Newton's steps, from anchors where there are any; and a Gaussian to draw from where
//! they do not end at one.

use crate::infer::nested::anchor::nearest;
use crate::infer::nested::lanes::{LANES, Lanes, add, product};
use crate::infer::nested::solver::climb::Climb;
use crate::infer::nested::solver::{CHORDS, LONG, NEAR, ROUGHLY, Solver};

/// Width of differences where the log density is not quadratic, in steps.
pub(super) const NARROW: f64 = 3e-5;
/// Most Newton steps.
const NEWTON: usize = 60;
/// So many times fewer points than there were go on alone.
const FEW_BEHIND: usize = 4;
/// Stages of a search that follows the mode from the reference on.
const STAGES: usize = 8;
/// Twice what the last step from an anchor may leave for the step with a Hessian of its own.
const CLOSE: f64 = 1e-3;
/// What it may leave for each group: an error of a third order, of less than 1e-6 nats.
const CLOSE_EACH: f64 = 1e-4;
/// Twice what the last step may gain, beside the former.
const SETTLED: f64 = 1e-9;
/// What is added to the diagonal first where the curvature is not that of a Gaussian, and how often ten times
/// that is.
const SHORE: f64 = 1e-4;
const SHORES: usize = 7;
/// The same where a step is to lead uphill.
const DAMPED: f64 = 0.1;

impl Solver<'_> {
    /// Starts where the modes near the reference lead to, or at the origin.
    pub(super) fn start(&mut self, outer: &[Lanes]) {
        self.drift(outer);
        self.or_origin(outer);
    }

    /// Moves to the origin where that is higher: standardised coordinates may have a mode anywhere.
    pub(super) fn or_origin(&mut self, outer: &[Lanes]) {
        let this = self.conditional;
        let (led, _) = self.measure(outer, None);
        let origin = this.reference.iter().zip(&this.steps).map(|(r, s)| [-r / s; LANES]).collect();
        let lead = std::mem::replace(&mut self.y, origin);
        let (here, _) = self.measure(outer, None);
        for b in (0..LANES).filter(|&b| led[b].is_finite() && !(here[b] > led[b])) {
            self.y.iter_mut().zip(&lead).for_each(|(y, r)| y[b] = r[b]);
        }
    }

    /// Steps to modes that need not be known to rounding, with the factors of the nearest anchors, and the
    /// Hessian where they end; the lanes where that is not near to them, all if there are no anchors.
    pub(super) fn approach(&mut self, outer: &[Lanes]) -> Vec<usize> {
        let this = self.conditional;
        let anchors = this.learnt.anchors.get().filter(|_| self.near > NEAR);
        let near = anchors.and_then(|(anchors, scales)| nearest(anchors, outer, scales));
        let Some(near) = near else { return (0..self.width).collect() };
        let each = CLOSE_EACH * this.group_count() as f64;
        self.factor.clear();
        for (b, anchor) in near.iter().enumerate() {
            anchor.lead(outer, b, &this.drift.slopes, &mut self.y, &mut self.factor);
        }
        let (mut before, mut failed) = ([LONG; LANES], [false; LANES]);
        for _ in 0..CHORDS {
            let (_, slope) = self.measure(outer, None);
            let step = self.ascent(&slope);
            let decrement = product(&step, &slope);
            for b in 0..LANES {
                let falls = decrement[b] >= 0.0 && decrement[b] < 0.5 * before[b].min(LONG);
                failed[b] |= !(falls || decrement[b].abs() < self.near);
            }
            add(&mut self.y, &[1.0; LANES], &step);
            before = decrement;
            if (0..LANES).all(|b| failed[b] || decrement[b] < CLOSE.max(each)) {
                break;
            }
        }
        let (value, slope) = self.measure(outer, Some(NARROW));
        self.factor(&[0.0; LANES]);
        let decrement = product(&self.ascent(&slope), &slope);
        self.log_marginal = value;
        let near = each.max(100.0 * self.near);
        let close = |b: usize| (0.0..near).contains(&decrement[b]) && self.log_marginal[b].is_finite();
        (0..self.width).filter(|&b| failed[b] || !close(b)).collect()
    }

    /// Newton's steps to the mode, with a new Hessian only where the last one no longer serves; leaves the
    /// log density at the mode, not a number where none was found.
    pub(super) fn search(&mut self, outer: &[Lanes]) {
        self.y.fill([0.0; LANES]);
        self.start(outer);
        self.climb_by_reference(outer);
        let lost: Vec<usize> = (0..self.width).filter(|&b| !self.settled[b]).collect();
        self.for_some(outer, &lost, Self::search_again);
    }

    /// Searches from the mode at the reference, which moves with the outer coordinates in stages.
    fn search_again(&mut self, outer: &[Lanes]) {
        self.y.fill([0.0; LANES]);
        for stage in 1..=STAGES {
            let share = stage as f64 / STAGES as f64;
            let between = |(x, centre): (&Lanes, &f64)| x.map(|x| centre + share * (x - centre));
            let outer: Vec<Lanes> = outer.iter().zip(&self.conditional.drift.centre).map(between).collect();
            self.climb_by_reference(&outer);
        }
    }

    /// Climbs from where it is; the factor at the reference serves to begin with.
    fn climb_by_reference(&mut self, outer: &[Lanes]) {
        self.reuse_factor();
        self.climb(outer, NEWTON, self.factor.is_empty());
    }

    /// Climbs from where it is with so many steps at most, the first with a Hessian of its own or without.
    fn climb(&mut self, outer: &[Lanes], most: usize, mut anew: bool) {
        let mut climb = Climb::new(&self.y, self.near);
        // A Hessian costs a gradient for each colour: the more there are, the longer an old one is kept.
        let patience = (0.02 * self.conditional.hessian_gradients() as f64).clamp(0.03, 0.4);
        let (mut last, mut left, mut behind) = (false, most, Vec::new());
        self.log_marginal = [f64::NAN; LANES];
        while left > 0 {
            left -= 1;
            let (value, slope) = self.measure(outer, anew.then_some(NARROW));
            match (anew, last) {
                (true, true) => self.factor(&[0.0; LANES]),
                (true, false) => self.factor_uphill(&value, &mut climb.damping),
                (false, _) => {}
            }
            let step = self.ascent(&slope);
            let decrement = product(&step, &slope);
            if last {
                self.end(&value, &step, &decrement);
                self.accept(&climb.stuck());
                break;
            }
            anew = climb.advance(&value, &step, &decrement, patience, &mut self.y);
            behind = climb.open(self.width);
            // Points that find no mode must not keep the others from theirs: few go on alone.
            last = left == 1 || FEW_BEHIND * behind.len() <= self.width;
            if last {
                climb.give_up(&mut self.y);
            }
            anew |= last;
        }
        if left > 1 {
            self.for_some(outer, &behind, |this, outer| this.climb(outer, left, true));
        }
    }

    /// Takes these points for modes where draws come from: another search would end there too.
    fn accept(&mut self, stuck: &[bool; LANES]) {
        if self.near == ROUGHLY {
            (0..LANES).for_each(|b| self.settled[b] |= stuck[b] && self.log_marginal[b].is_finite());
        }
    }

    /// Factors with so much added to the diagonal, and more where the curvature is not that of a Gaussian.
    fn factor_uphill(&mut self, value: &Lanes, damping: &mut Lanes) {
        self.factor(damping);
        for _ in 0..SHORES {
            let sound = self.sound();
            let mut more = [0.0; LANES];
            for b in (0..LANES).filter(|&b| !sound[b] && value[b].is_finite()) {
                more[b] = (9.0 * damping[b]).max(DAMPED);
                damping[b] += more[b];
            }
            if more == [0.0; LANES] {
                return;
            }
            self.factor(&more);
        }
    }

    /// Where the factor is that of a Gaussian.
    pub(super) fn sound(&self) -> [bool; LANES] {
        let mut sound = [true; LANES];
        for pivot in self.conditional.hessian.pattern.pivots(&self.factor) {
            (0..LANES).for_each(|b| sound[b] &= pivot[b] > 0.0 && pivot[b].is_finite());
        }
        sound
    }

    /// The last step of a search, where the value at the mode must be known to rounding. Draws may come from
    /// where the search got to, near the mode or not: their weights know, if the log density is known there;
    /// and a short step may lead over an edge, where the data say nothing on one side of it. Elsewhere the
    /// log density is not known.
    pub(super) fn end(&mut self, value: &Lanes, step: &[Lanes], decrement: &Lanes) {
        let near = SETTLED.max(100.0 * self.near);
        let (rough, exact) = (self.near == ROUGHLY, self.near == NEAR);
        for b in 0..LANES {
            let settled = (0.0..near).contains(&decrement[b]);
            self.settled[b] = settled;
            if settled && exact {
                self.y.iter_mut().zip(step).for_each(|(y, s)| y[b] += s[b]);
            }
            self.log_marginal[b] = match settled {
                true if exact => value[b] + 0.5 * decrement[b],
                false if !rough => f64::NAN,
                _ => value[b],
            };
        }
        if rough {
            self.shore_up();
        }
    }

    /// Adds to the diagonal where the curvature is not that of a Gaussian, until it is: a draw from a wrong
    /// Gaussian has a weight, and one from none has not, so that what lies there would be missing without a
    /// trace.
    pub(super) fn shore_up(&mut self) {
        let mut more = SHORE;
        for _ in 0..SHORES {
            let sound = self.sound();
            if sound == [true; LANES] {
                return;
            }
            self.factor(&sound.map(|sound| if sound { 0.0 } else { more }));
            more *= 10.0;
        }
    }
}
