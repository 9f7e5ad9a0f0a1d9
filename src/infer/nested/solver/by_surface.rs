//! Modes and factors by the surface, where there is one.

use crate::infer::nested::lanes::{LANES, Lanes, add, lanes, product};
use crate::infer::nested::partition::How;
use crate::infer::nested::solver::search::NARROW;
use crate::infer::nested::solver::{CHORDS, Curb, LONG, ROUGHLY, Solver};
use crate::infer::nested::surface::Surface;

/// Twice what is left to gain where the surface has led to the mode, and where draws may come from beside it;
/// where more steps would be needed, far from the anchors; and the share of it that each step may leave.
const GLIDED: f64 = 1e-4;
const GLIDED_ROUGHLY: f64 = 1e-2;
const BESIDE: f64 = 0.1;
const FALLS: f64 = 0.7;
/// Twice what the first step may promise where it goes by the curvature of the prior there.
const LONG_CURBED: f64 = 1000.0;
/// The same for each of very many coordinates, and most steps then: a factorisation takes longer than all of
/// them. Where the log density is quadratic each step leaves the same share, from however far.
const LONG_EACH: f64 = 0.05;
const CHORDS_LARGE: usize = 12;
/// Width of differences of determinants in the outer coordinates.
const ASIDE: f64 = 1e-5;
/// A log density so far below the highest adds nothing, even with so many times what a step promises.
const NOTHING: f64 = 30.0;
const GENEROUS: f64 = 10.0;

impl Solver<'_> {
    /// Steps to the modes with the factors that the surface has; the lanes where that does not lead there,
    /// all if there is no surface.
    pub(in crate::infer) fn follow_surface(&mut self, outer: &[Lanes]) -> Vec<usize> {
        let Some(surface) = &self.conditional.learnt.surface else { return (0..self.width).collect() };
        self.by_surface(outer, surface);
        let volume = self.volume();
        let (large, quadratic) = (self.conditional.is_large(), self.conditional.parts.how == How::Quadratic);
        let (long, most) = match (large, self.prior.is_some()) {
            (true, _) if quadratic => (f64::INFINITY, CHORDS_LARGE),
            (true, _) => (LONG_EACH * self.y.len() as f64, CHORDS_LARGE),
            (false, true) => (LONG_CURBED, CHORDS),
            (false, false) => (LONG, CHORDS),
        };
        let enough = if self.near == ROUGHLY { GLIDED_ROUGHLY } else { GLIDED };
        let (mut left, mut open, mut failed) = ([long; LANES], [true; LANES], [false; LANES]);
        for _ in 0..most {
            let (value, slope) = self.measure(outer, None);
            let mut step = slope;
            self.conditional.hessian.pattern.solve_lower(&self.factor, &mut step);
            let decrement = product(&step, &step);
            let mut by = [0.0; LANES];
            for b in 0..LANES {
                if !open[b] {
                    continue;
                }
                // What adds nothing to any sum need not be found.
                let nothing = value[b] + volume[b] + GENEROUS * decrement[b] < surface.top - NOTHING;
                let falls = decrement[b] >= 0.0 && decrement[b] < left[b].max(enough);
                failed[b] = !falls && !nothing;
                open[b] = falls && !nothing && decrement[b] >= enough;
                by[b] = f64::from(falls && !nothing);
                left[b] = FALLS * decrement[b];
                self.log_marginal[b] = value[b] + 0.5 * decrement[b];
            }
            if open[..self.width].iter().all(|open| !open) {
                break;
            }
            self.conditional.hessian.pattern.solve_transposed(&self.factor, &mut step);
            add(&mut self.y, &by, &step);
        }
        // Draws may come from beside the mode: their weights know.
        (0..self.width).filter(|&b| failed[b] || open[b] && !(left[b] < BESIDE)).collect()
    }

    /// The modes and factors that the surface has.
    pub(in crate::infer) fn by_surface(&mut self, outer: &[Lanes], surface: &Surface) {
        surface.at(outer, &mut self.y, &mut self.factor);
        if self.prior.is_some() {
            self.add_prior(outer);
            self.conditional.hessian.pattern.eliminate(&mut self.factor);
        }
    }

    /// What the prior adds to the Hessian at these inner coordinates, laid out as a factor of so many
    /// entries.
    pub(in super::super) fn known_at(
        &mut self,
        outer: &[Lanes],
        y: Vec<Lanes>,
        entries: usize,
    ) -> Vec<Lanes> {
        self.y = y;
        self.factor = vec![[0.0; LANES]; entries];
        self.add_prior(outer);
        std::mem::take(&mut self.factor)
    }

    /// Adds what the prior adds to minus the Hessian at the current y to a matrix that is laid out as its
    /// factor: in all lanes alike, however many are in use.
    fn add_prior(&mut self, outer: &[Lanes]) {
        let this = self.conditional;
        let Some((reading, slots)) = this.learnt.curb.as_ref().map(Curb::entries) else { return };
        let width = std::mem::replace(&mut self.width, LANES);
        let count = (1 + reading.colours.len()) * LANES;
        self.fill(outer, count);
        for (c, colour) in reading.colours.iter().enumerate() {
            self.shift(colour, NARROW, (1 + c) * LANES, count);
        }
        self.width = width;
        self.values.resize(count, 0.0);
        self.gradient.resize(self.points.len(), 0.0);
        let Some(prior) = &mut self.prior else { return };
        prior.evaluate(&self.points, count, &mut self.values, &mut self.gradient);
        for (&(colour, row), &slot) in reading.from.iter().zip(slots) {
            let slopes = &self.gradient[this.parts.inner[row] * count..(this.parts.inner[row] + 1) * count];
            let (here, ahead) = (&slopes[..LANES], &slopes[(1 + colour) * LANES..]);
            let step = this.steps[row];
            (0..LANES).for_each(|b| self.factor[slot][b] += step * (here[b] - ahead[b]) / NARROW);
        }
    }

    /// The gradient of the log density of the outer points, inner coordinates integrated out, where there is
    /// a surface: at the modes the log density does not change with the inner coordinates, and the
    /// determinant is a polynomial where it is not factored anew.
    pub(in super::super::super) fn outer_slope(&mut self, outer: &[Lanes]) -> Vec<Lanes> {
        let determinant = match &self.conditional.learnt.surface {
            Some(surface) if self.prior.is_some() => self.determinant_slope(outer, surface),
            Some(surface) => surface.slope(outer),
            None => Vec::new(),
        };
        let slope =
            |(partial, determinant): (&Lanes, &Lanes)| std::array::from_fn(|b| partial[b] - determinant[b]);
        self.partial(outer).iter().zip(&determinant).map(slope).collect()
    }

    /// The gradient of the logarithm of the determinant of the factor, by differences: the prior's part of it
    /// is no polynomial.
    fn determinant_slope(&mut self, outer: &[Lanes], surface: &Surface) -> Vec<Lanes> {
        let (y, factor) = (self.y.clone(), self.factor.clone());
        let mut volume = |moved: &[Lanes]| {
            self.by_surface(moved, surface);
            self.volume()
        };
        let here = volume(outer);
        let along = |i: usize| {
            let mut moved = outer.to_vec();
            moved[i] = moved[i].map(|x| x + ASIDE);
            let ahead = volume(&moved);
            std::array::from_fn(|b| (here[b] - ahead[b]) / ASIDE)
        };
        let slopes = (0..outer.len()).map(along).collect();
        (self.y, self.factor) = (y, factor);
        slopes
    }

    /// The gradient of the log density in standard normal numbers.
    pub(in super::super::super) fn slope_at(&mut self, outer: &[f64], u: &[Lanes]) -> Vec<Lanes> {
        let mode = self.y.clone();
        let away = self.away(u.to_vec());
        self.y.iter_mut().zip(&away).for_each(|(y, a)| (0..LANES).for_each(|b| y[b] += a[b]));
        self.width = LANES;
        let (_, mut slope) = self.measure(&lanes(outer, LANES), None);
        self.y = mode;
        self.conditional.hessian.pattern.solve_lower(&self.factor, &mut slope);
        slope.iter_mut().zip(&self.conditional.learnt.tuning.scale).for_each(|(g, s)| *g = g.map(|x| s * x));
        slope
    }
}
