//! What is learnt of the inner coordinates at some outer points: modes from which searches for others begin,
//! surfaces through these, and how far groups reach.

use crate::infer::cost::spared;
use crate::infer::gaussian::Gaussian;
use crate::infer::nested::anchor::{Anchor, points};
use crate::infer::nested::conditional::Conditional;
use crate::infer::nested::groups::farthest;
use crate::infer::nested::hessian::prior::Curb;
use crate::infer::nested::lanes::{LANES, Lanes, lanes, part};
use crate::infer::nested::partition::How;
use crate::infer::nested::solver::Solver;
use crate::infer::nested::stretch::Tails;
use crate::infer::nested::surface::{MOST_TERMS, MOST_TERMS_LARGE, MOST_TERMS_NARROW, Surface, anchors_for};
use rayon::prelude::*;

/// Most outer coordinates: in more, no anchor is near.
const MOST: usize = 2;
/// Anchors in one coordinate and in two.
const COUNT: [usize; MOST] = [64, 256];
/// They lie this much further apart than draws of the Gaussian do.
const WIDER: f64 = 1.5;

/// Outer points at which it is seen how far groups reach, how much further apart than draws these lie, and
/// the share of a group that is left out.
const LOOKS: usize = 128;
const MUCH_WIDER: f64 = 1.6;
const LITTLE: f64 = 1e-5;
/// Groups that reach further, in standard deviations, have a share of their mass where draws around their
/// modes hardly come.
const FAR: f64 = 8.0;
/// Outer coordinates (logarithms of scales, mostly) that are known so well, in standard deviations, leave
/// little for factors to bend over.
const NARROW: f64 = 0.05;
/// Entries of the prior's Hessian that differ by a larger share between anchors follow the outer coordinates.
const VARIES: f64 = 0.01;

/// Anchors to begin searches from; none where there are many outer coordinates.
pub(super) fn anchors(conditional: &Conditional, q: &Gaussian, seed: u64) -> Vec<Anchor> {
    let count = q.mean.len().checked_sub(1).and_then(|i| COUNT.get(i));
    count.map_or_else(Vec::new, |&count| around(conditional, q, count, seed))
}

/// So many anchors around a Gaussian for the outer coordinates, less those where no mode is found.
pub(super) fn around(conditional: &Conditional, q: &Gaussian, count: usize, seed: u64) -> Vec<Anchor> {
    let d = q.mean.len();
    let outer = points(q, count, WIDER, [seed, 0]);
    let block = |first: usize| -> Vec<Anchor> {
        let points = part(&outer, count, first..first + LANES);
        let mut solver = Solver::new(conditional).anchoring();
        solver.solve(&points, LANES);
        let one = |b: usize| Anchor {
            at: (0..d).map(|i| points[i * LANES + b]).collect(),
            value: solver.log_marginal[b],
            mode: solver.y.iter().map(|y| y[b]).collect(),
            factor: solver.factor.iter().map(|f| f[b]).collect(),
        };
        (0..LANES).filter(|&b| solver.log_marginal[b].is_finite()).map(one).collect()
    };
    let firsts: Vec<usize> = (0..count).step_by(LANES).collect();
    firsts.into_par_iter().flat_map_iter(block).collect()
}

impl Conditional<'_> {
    /// Solves at points around a Gaussian for the outer coordinates; what draws come from is then found from
    /// these.
    pub(super) fn anchor(&self, q: &Gaussian, seed: u64) {
        if self.parts.how == How::Searched
            && self.learnt.surface.is_none()
            && self.learnt.anchors.get().is_none()
        {
            // Set when all are found: threads that find them ask whether there are any.
            let _ = self.learnt.anchors.set((anchors(self, q, seed), q.scales()));
        }
    }

    /// Solves at points around a Gaussian for the outer coordinates, and goes by what these have in common
    /// from then on; whether it can.
    pub(super) fn smooth(&mut self, q: &Gaussian, seed: u64) -> bool {
        let narrow = q.scales().iter().all(|s| *s < NARROW);
        let most = match self.is_large() {
            true if narrow => MOST_TERMS_NARROW,
            true => MOST_TERMS_LARGE,
            false => MOST_TERMS,
        };
        let anchors = around(self, q, anchors_for(q.mean.len(), most), seed);
        // What is interpolated less what the prior adds must be factored for each draw.
        let curb = || Curb::new(self.target, &self.parts, &self.hessian.pattern, seed);
        self.learnt.curb = (!self.is_large()).then(curb).flatten();
        let known = self.learnt.curb.is_some().then(|| self.known(&anchors)).filter(|known| varies(known));
        self.learnt.curb.take_if(|_| known.is_none());
        self.learnt.surface = Surface::new(&anchors, q, &self.hessian.pattern, known.as_deref(), most);
        self.learnt.surface.is_some()
    }

    /// What the prior adds to the Hessian at each anchor, laid out as the factor is.
    fn known(&self, anchors: &[Anchor]) -> Vec<Vec<f64>> {
        let mut solver = Solver::new(self);
        let mut out = Vec::with_capacity(anchors.len());
        for some in anchors.chunks(LANES) {
            let lanes = |of: fn(&Anchor) -> &[f64]| -> Vec<Lanes> {
                let lane = |i: usize| std::array::from_fn(|b| of(&some[b.min(some.len() - 1)])[i]);
                (0..of(&some[0]).len()).map(lane).collect()
            };
            let known = solver.known_at(&lanes(|a| &a.at), lanes(|a| &a.mode), some[0].factor.len());
            out.extend((0..some.len()).map(|b| known.iter().map(|x| x[b]).collect()));
        }
        out
    }

    /// Looks how far groups reach from their modes, at some points around a Gaussian for the outer
    /// coordinates.
    pub(super) fn look_how_far(&mut self, q: &Gaussian, seed: u64) {
        let Some(lattice) = self.lattice_for(f64::INFINITY).filter(|_| self.groups.apart.is_some()) else {
            return;
        };
        let looks = spared(self.target, LOOKS, LANES).next_multiple_of(LANES);
        let outer = points(q, looks, MUCH_WIDER, [seed, 0]);
        let (this, drawn_group) = (&*self, self.drawn_group());
        let look = |first: usize| {
            let outer = part(&outer, looks, first..first + LANES);
            let mut solver = Solver::new(this).roughly();
            solver.solve(&outer, LANES);
            farthest(&mut solver, &lanes(&outer, LANES), &drawn_group, lattice, LITTLE)
        };
        self.groups.far = (0..looks).step_by(LANES).map(look).fold(0.0, f64::max);
        self.groups.wide |= self.groups.far > FAR;
    }

    /// Stretches draws from then on in directions where inner coordinates reach further than a Gaussian.
    pub(super) fn lengthen(&mut self, q: &Gaussian) {
        self.learnt.tails = Tails::seen(self, q);
    }
}

/// Whether what the prior adds to the Hessian differs between anchors. Of standardised coordinates it does
/// not, and all that moves is in the rest, which polynomials for factors follow better.
fn varies(known: &[Vec<f64>]) -> bool {
    let Some((first, others)) = known.split_first() else { return false };
    let differs = |other: &Vec<f64>| first.iter().zip(other).any(|(a, b)| (a - b).abs() > VARIES * a.abs());
    others.iter().any(differs)
}
