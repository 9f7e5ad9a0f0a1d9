//! Corrects the Gaussian that inner coordinates are drawn from, for what Laplace's approximation misses
//! everywhere alike.
//!
//! The mode of a skewed density is not its mean, and its curvature there not its spread. In the coordinates v
//! = Lᵀ(y - mode), in which the approximation is standard normal at every outer point, what it misses is much
//! the same at all of them, so one shift and one scale for each coordinate are fitted there, v = m + s u: by
//! natural gradients of the ELBO, from the residuals r = u + s ∇log p that vanish where the two agree.

use crate::infer::gaussian::Gaussian;
use crate::infer::nested::anchor::points;
use crate::infer::nested::conditional::{Conditional, Tuning};
use crate::infer::nested::lanes::{LANES, Lanes, part};
use crate::infer::nested::solver::Solver;
use crate::num::stream::{Stream, child};
use rayon::prelude::*;

/// Who draws.
const PURPOSE: u64 = 0x7475_6e65;
/// Rounds, outer points of each, and pairs of opposite inner points at each of these.
const ROUNDS: u64 = 3;
const POINTS: usize = 128;
const PAIRS: usize = 2;
/// Most that a scale changes in a round, in logarithms.
const MOST: f64 = 0.3;

/// Sums over some draws.
struct Residuals {
    count: f64,
    /// Of the residuals, and of these times the standard normal numbers.
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Residuals {
    fn none(k: usize) -> Residuals {
        Residuals { count: 0.0, first: vec![0.0; k], second: vec![0.0; k] }
    }

    fn and(mut self, other: &Residuals) -> Residuals {
        self.count += other.count;
        self.first.iter_mut().zip(&other.first).for_each(|(a, b)| *a += b);
        self.second.iter_mut().zip(&other.second).for_each(|(a, b)| *a += b);
        self
    }
}

/// The correction for outer points that a Gaussian draws.
pub(super) fn tune(conditional: &mut Conditional, q: &Gaussian, seed: u64) {
    let k = conditional.parts.inner.len();
    for round in 0..ROUNDS {
        let outer = points(q, POINTS, 1.0, [seed, round * POINTS as u64]);
        let this = &*conditional;
        let block = |first: usize| {
            let stream = Stream::new(child(seed, PURPOSE, round), PURPOSE, first as u64);
            residuals(this, &part(&outer, POINTS, first..first + LANES), stream)
        };
        let blocks: Vec<Residuals> =
            (0..POINTS).step_by(LANES).collect::<Vec<_>>().into_par_iter().map(block).collect();
        let all = blocks.iter().fold(Residuals::none(k), Residuals::and);
        if all.count == 0.0 {
            return;
        }
        let Tuning { shift, scale } = &mut conditional.learnt.tuning;
        for i in 0..k {
            shift[i] += scale[i] * all.first[i] / all.count;
            scale[i] *= (0.5 * all.second[i] / all.count).clamp(-MOST, MOST).exp();
        }
    }
}

/// Residuals of draws at sixteen outer points.
fn residuals(conditional: &Conditional, outer: &[f64], mut stream: Stream) -> Residuals {
    let k = conditional.parts.inner.len();
    let mut solver = Solver::new(conditional).roughly();
    solver.solve(outer, LANES);
    let mut out = Residuals::none(k);
    for _ in 0..PAIRS {
        let u: Vec<Lanes> = (0..k).map(|_| std::array::from_fn(|_| stream.normal())).collect();
        for sign in [1.0, -1.0] {
            let u: Vec<Lanes> = u.iter().map(|u| u.map(|x| sign * x)).collect();
            let slope = solver.slope_at(outer, &u);
            let known = |b: &usize| slope.iter().all(|s| s[*b].is_finite());
            for b in (0..LANES).filter(known) {
                out.count += 1.0;
                for i in 0..k {
                    let r = u[i][b] + slope[i][b];
                    out.first[i] += r;
                    out.second[i] += r * u[i][b];
                }
            }
        }
    }
    out
}
