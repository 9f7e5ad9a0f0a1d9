//! The gradient of the log density of outer points where inner coordinates are integrated out by Laplace's
//! approximation.
//!
//! With θ the outer coordinates, ŷ(θ) the mode of the inner ones and H minus the Hessian in these there, the
//! log density is log p(θ, ŷ) - ½ log |H| but for a constant, and log p does not change with ŷ to first
//! order. With H⁻¹ = Σ uₖ uₖᵀ, -½ ∂ log |H| = ½ Σ ∂ (uₖᵀ ∇² log p uₖ), which second differences of the
//! gradient of log p along each uₖ give for all coordinates at once: S. What S has for ŷ counts by how ŷ
//! moves: with w = H⁻¹ S_y, that is the difference of ∂θ log p along w. Where the log density is quadratic in
//! y, S_y is zero and differences of any width are exact. Groups that are independent given θ do not meet in
//! any third derivative, so each direction moves one coordinate of every group.

use crate::infer::nested::lanes::{LANES, Lanes, add, product, spread};
use crate::infer::nested::partition::How;
use crate::infer::nested::solver::Solver;

/// How far the gradient is differenced along each direction, in standard deviations: twice, and once.
const TWICE: f64 = 0.01;
const ONCE: f64 = 1e-3;
/// Gradients that a search takes beside two Hessians, in the mean.
const SEARCH: usize = 6;

impl Solver<'_> {
    /// The gradient at the outer points that were solved for; the place of each standard normal number within
    /// its group is given.
    pub(in super::super::super) fn laplace_slope(&mut self, outer: &[Lanes], places: &[usize]) -> Vec<Lanes> {
        let quadratic = self.conditional.parts.how == How::Quadratic;
        let width = if quadratic { 1.0 } else { TWICE };
        let mut moves = vec![vec![[0.0; LANES]; places.len()]];
        for place in 0..=places.iter().copied().max().unwrap_or(0) {
            let mut u: Vec<Lanes> = places.iter().map(|&p| [f64::from(p == place); LANES]).collect();
            self.conditional.hessian.pattern.solve_transposed(&self.factor, &mut u);
            moves.extend([width, -width].map(|by| u.iter().map(|u| u.map(|x| by * x)).collect()));
        }
        let sets = self.gradients_at(outer, &moves);
        let (here, pairs) = sets.split_first().map_or((&[][..], &[][..]), |(here, rest)| (&here[..], rest));
        let mut slope = vec![[0.0; LANES]; here.len()];
        for pair in pairs.chunks_exact(2) {
            for (((slope, ahead), behind), here) in slope.iter_mut().zip(&pair[0]).zip(&pair[1]).zip(here) {
                let second = |b: usize| (ahead[b] - here[b]) + (behind[b] - here[b]);
                (0..LANES).for_each(|b| slope[b] += second(b) / (2.0 * width * width));
            }
        }
        let of_inner = slope.split_off(outer.len());
        slope.iter_mut().zip(here).for_each(|(s, g)| (0..LANES).for_each(|b| s[b] += g[b]));
        if !quadratic {
            self.add_drift(outer, &of_inner, &mut slope);
        }
        slope
    }

    /// Adds what this slope in the inner coordinates counts for outer ones, as the mode moves with these.
    fn add_drift(&mut self, outer: &[Lanes], of_inner: &[Lanes], slope: &mut [Lanes]) {
        let w = self.ascent(of_inner);
        let width = product(&w, of_inner).map(|l| if l > 0.0 { ONCE / l.sqrt() } else { 1.0 });
        let along = |sign: f64| {
            let mut to = vec![[0.0; LANES]; w.len()];
            add(&mut to, &width.map(|x| sign * x), &w);
            to
        };
        let sets = self.gradients_at(outer, &[along(1.0), along(-1.0)]);
        for ((slope, ahead), behind) in slope.iter_mut().zip(&sets[0]).zip(&sets[1]) {
            (0..LANES).for_each(|b| slope[b] += (ahead[b] - behind[b]) / (2.0 * width[b]));
        }
    }

    /// The gradients of the model where the inner coordinates are so far from the mode, in steps: outer
    /// coordinates first, then inner ones, in steps.
    fn gradients_at(&mut self, outer: &[Lanes], moves: &[Vec<Lanes>]) -> Vec<Vec<Lanes>> {
        let (this, width) = (self.conditional, self.width);
        let count = moves.len() * width;
        self.fill(outer, count);
        for (set, by) in moves.iter().enumerate() {
            for ((&i, step), by) in this.parts.inner.iter().zip(&this.steps).zip(by) {
                let to = &mut self.points[i * count + set * width..][..width];
                to.iter_mut().zip(by).for_each(|(x, by)| *x += step * by);
            }
        }
        self.evaluate(count);
        let read = |i: usize, set: usize| spread(&self.gradient[i * count + set * width..][..width]);
        let of_set = |set: usize| {
            let outer = this.parts.outer.iter().map(|&i| read(i, set));
            outer.chain(self.slope_of(set, count)).collect()
        };
        (0..moves.len()).map(of_set).collect()
    }
}

/// Whether such a gradient takes fewer gradients of the model than differences of log densities do, where one
/// and a Hessian take so many.
pub(in super::super) fn pays(how: How, hessian: usize, outer: usize, largest_group: usize) -> bool {
    let each = match how {
        How::Quadratic => hessian,
        How::Searched => SEARCH + 2 * (hessian - 1),
    };
    3 + 2 * largest_group <= 2 * outer * each
}
