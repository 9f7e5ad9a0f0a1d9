//! The inner coordinates given the outer ones: what is known of them before any outer point is.
//!
//! They are measured from a reference in steps of about a standard deviation, x = r + s y.

mod solver;

pub(super) use solver::Solver;

use crate::infer::approximate::quadrature::precision;
use crate::infer::cost::spared;
use crate::infer::gaussian::Gaussian;
use crate::infer::nested::anchors::{Anchor, anchors, around, points};
use crate::infer::nested::groups::{farthest, groups, places, sizes};
use crate::infer::nested::hessian::basis::Span;
use crate::infer::nested::hessian::colouring::{Reading, read};
use crate::infer::nested::hessian::forms::Forms;
use crate::infer::nested::hessian::pattern::{PROBES, ROUNDING, pattern, sound};
use crate::infer::nested::hessian::prior::Curb;
use crate::infer::nested::lattice::{Lattice, lattice};
use crate::infer::nested::partition::{How, Partition};
use crate::infer::nested::rule::Rule;
use crate::infer::nested::surface::{MOST_TERMS, MOST_TERMS_LARGE, MOST_TERMS_NARROW, Surface, anchors_for};
use crate::infer::nested::tails::Tails;
use crate::infer::nested::tune::Tuning;
use crate::num::linalg::Pattern;
use crate::num::stream::Stream;
use crate::structure::Group;
use crate::target::{DRAWS, Given, Grouped, ModelTarget, Target};
use crate::vi::Scale;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Outer points solved together.
pub(super) const LANES: usize = DRAWS;
/// A number for each of them.
pub(super) type Lanes = [f64; LANES];
/// Most colours where every point takes a search: a Hessian costs a gradient for each. Most of a Hessian with
/// few zeros. Most where Hessians are found at few points alone, and most outer coordinates there: in more,
/// polynomials through so few points are too far off.
const MOST_COLOURS: usize = 20;
const MOST_COLOURS_FULL: usize = 8;
const MOST_COLOURS_SMOOTH: usize = 160;
const MOST_OUTER_SMOOTH: usize = 4;
/// Entries beyond which colours are not counted: they are too many.
const MOST_COLOURED: usize = 30_000;
/// Colours from which on it is worth while to see whether Hessians have much in common, and how far around
/// the origin.
const MANY_COLOURS: usize = 3;
const AROUND: f64 = 3.0;
/// Gradients that a Hessian costs where the functions that it is read from are known.
const OF_FORMS: usize = 2;
/// Bounds on the gradients of the outer coordinates, and on what they may take for each of them: a Gaussian
/// in few coordinates that has not settled after so many for each is far from the posterior, and what comes
/// after it knows.
const MOST_EVALUATIONS: usize = 120_000;
const FEWEST_GRADIENTS: usize = 1500;
const GRADIENTS_EACH: usize = 2048;
const MOST_GRADIENTS: usize = 20_000;
/// Gradients of the outer coordinates where each takes a few of the model.
const SMOOTH_GRADIENTS: usize = 2048;
/// Outer points at which it is seen how far groups reach, how much further apart than draws these lie, and
/// the share of a group that is left out.
const LOOKS: usize = 128;
const WIDER: f64 = 1.6;
const LITTLE: f64 = 1e-5;
/// Groups that reach further, in standard deviations, have a share of their mass where draws around their
/// modes hardly come.
const FAR: f64 = 8.0;
/// Outer coordinates (logarithms of scales, mostly) that are known so well, in standard deviations, leave
/// little for factors to bend over.
const NARROW: f64 = 0.05;
/// Entries of the prior's Hessian that differ by a larger share between anchors follow the outer coordinates.
const VARIES: f64 = 0.01;
/// Most work of one factorisation where each draw takes one, and where they are found at few points alone:
/// that of a dense matrix of two thousand rows.
const MOST_WORK: usize = 20_000_000;
const MOST_WORK_SMOOTH: usize = 3_000_000_000;

/// What is known before any outer point is.
pub(super) struct Conditional<'t> {
    pub(super) target: &'t dyn Target,
    pub(super) parts: Partition,
    pub(super) reference: Vec<f64>,
    steps: Vec<f64>,
    /// Outer coordinates at which the reference is the mode, and how the mode moves with them, in steps
    /// (`inner × outer`).
    centre: Vec<f64>,
    drift: Vec<f64>,
    /// The factor of the curvature there.
    factor: Vec<f64>,
    reading: Reading,
    /// The functions that Hessians are read from, where the graph tells them, instead of from gradients; and
    /// the colours that gradients would take.
    forms: Option<Forms>,
    colours: usize,
    /// The group of each inner coordinate: groups are independent given the outer coordinates.
    pub(super) group: Vec<usize>,
    /// The log density at points that share the outer coordinates, where that saves much.
    held: Option<Given>,
    /// The log density by groups, where these are weighed one by one.
    pub(super) grouped: Option<Grouped>,
    /// How far from their modes groups reach, in standard deviations, and whether that is further than draws
    /// around them.
    far: f64,
    wide: bool,
    /// Points at which groups are integrated out, where the outer coordinates are too many for differences.
    rule: Option<Rule>,
    pattern: Pattern,
    /// Whether a factorisation takes more than each draw can have of its own.
    pub(super) large: bool,
    /// What Hessians have in common at all outer points, where one takes many gradients and that is known.
    span: Option<Span>,
    /// Modes from which those that draws come from are searched, and the scales of the outer coordinates.
    anchors: OnceLock<(Vec<Anchor>, Vec<f64>)>,
    /// What is added to Laplace's approximation, at every outer point alike.
    pub(super) tuning: Tuning,
    /// How draws are stretched where inner coordinates reach further.
    pub(super) tails: Tails,
    /// Where modes and factors are, if they are not searched for each outer point.
    surface: Option<Surface>,
    /// What the prior adds to Hessians, where that is known apart from what the surface has.
    curb: Option<Curb<'t>>,
    /// Gradients evaluated.
    gradients: AtomicUsize,
}

impl<'t> Conditional<'t> {
    /// Finds the pattern of the Hessian, a reference and steps; None where the curvature is not that of a
    /// Gaussian.
    pub(super) fn new(target: &'t dyn Target, parts: Partition, seed: u64) -> Option<Conditional<'t>> {
        let k = parts.inner.len();
        let found = Forms::new(target, &parts, seed);
        let (columns, diagonal) = match &found {
            Some(forms) => (forms.columns(), sound(target, &parts, &forms.diagonal, seed)?),
            None => pattern(target, &parts, seed)?,
        };
        let group = groups(&columns);
        let few = found.as_ref().is_none_or(|forms| forms.entries.len() <= MOST_COLOURED);
        let coloured = few.then(|| read(&columns));
        let colours = coloured.as_ref().map_or(usize::MAX, |reading| reading.colours.len());
        let forms = found.filter(|forms| colours.saturating_mul(target.operations()) > forms.operations());
        let (mut forms, reading) = match (forms, coloured) {
            (None, coloured) => (None, coloured?),
            (Some(forms), _) => {
                let reading = Reading::of_forms(&forms.entries);
                (Some(forms), reading)
            }
        };
        let pattern = Pattern::new(k, &reading.entries);
        let many = forms.is_none() && parts.how == How::Searched && colours > most_colours(parts.outer.len());
        let most_work = match forms.is_some() && parts.outer.len() <= MOST_OUTER_SMOOTH {
            true => MOST_WORK_SMOOTH,
            false => MOST_WORK,
        };
        if many || pattern.work() > most_work {
            return None;
        }
        let steps: Vec<f64> = diagonal.iter().map(|h| h.sqrt().recip()).collect();
        if let Some(forms) = &mut forms {
            forms.measure_in(&steps, parts.how);
        }
        let probed = if forms.is_some() { PROBES.len() } else { PROBES.len() * k };
        let large = pattern.work() > MOST_WORK;
        let mut found =
            Conditional { forms, colours, large, ..Self::of(target, parts, steps, reading, pattern, group) };
        found.gradients = AtomicUsize::new(probed);
        // One step leads from anywhere to the mode of a quadratic, and a factorisation takes long.
        if found.large && found.parts.how == How::Quadratic {
            return Some(found);
        }
        let origin = found.centre.clone();
        found.recentre(&origin, &vec![1e-3; origin.len()]);
        found.look_around(&origin, &vec![AROUND; origin.len()], seed);
        Some(found)
    }

    /// At the origin, with nothing known but the pattern.
    fn of(
        target: &'t dyn Target,
        parts: Partition,
        steps: Vec<f64>,
        reading: Reading,
        pattern: Pattern,
        group: Vec<usize>,
    ) -> Conditional<'t> {
        let (k, outer) = (parts.inner.len(), parts.outer.len());
        Conditional {
            target,
            parts,
            reference: vec![0.0; k],
            steps,
            centre: vec![0.0; outer],
            drift: vec![0.0; k * outer],
            factor: Vec::new(),
            colours: reading.colours.len(),
            reading,
            forms: None,
            group,
            held: None,
            grouped: None,
            far: f64::INFINITY,
            wide: false,
            rule: None,
            large: false,
            pattern,
            span: None,
            anchors: OnceLock::new(),
            tuning: Tuning::none(k),
            tails: Tails::default(),
            surface: None,
            curb: None,
            gradients: AtomicUsize::new(0),
        }
    }

    /// Sees what Hessians have in common at outer points around this one, so far away at most.
    pub(super) fn look_around(&mut self, centre: &[f64], reach: &[f64], seed: u64) {
        self.span = self.span(centre, reach, seed);
    }

    /// The same; None where that is too little, or would save little.
    fn span(&self, centre: &[f64], reach: &[f64], seed: u64) -> Option<Span> {
        if self.parts.how != How::Quadratic || self.reading.colours.len() < MANY_COLOURS {
            return None;
        }
        let mut solver = Solver::new(self);
        // The first as they are, each of the others with one coordinate moved.
        let moved = |p: usize| {
            let (i, lane) = (p / LANES, p % LANES);
            centre[i] + if lane == 1 + i { reach[i] } else { 0.0 }
        };
        let outer: Vec<f64> = (0..centre.len() * LANES).map(moved).collect();
        if centre.len() >= LANES || !varies_with_one(&solver.hessians(&outer)) {
            return None;
        }
        let mut stream = Stream::new(seed, crate::infer::nested::PURPOSE, 2);
        let mut place = |p: usize| centre[p / LANES] + reach[p / LANES] * (2.0 * stream.uniform() - 1.0);
        let outer: Vec<f64> = (0..centre.len() * LANES).map(&mut place).collect();
        Span::new(&solver.hessians(&outer), &self.reading.entries, self.parts.inner.len(), seed)
    }

    /// The inner coordinates as a Gaussian for all coordinates has them given the outer ones: a mean that
    /// moves with the outer coordinates, and a precision that does not. The pattern is that of the precision,
    /// which a Gaussian fitted by quadrature shares with the Hessian.
    pub(super) fn given(target: &'t dyn Target, parts: Partition, q: &Gaussian) -> Option<Conditional<'t>> {
        let (d, k, width) = (q.mean.len(), parts.inner.len(), parts.outer.len());
        let Scale::Dense(c) = &q.factor else { return None };
        let precision = precision(c, d)?;
        let at = |i: usize, j: usize| precision[i * d + j];
        let steps: Vec<f64> = parts.inner.iter().map(|&i| at(i, i).sqrt().recip()).collect();
        let relative = |a: usize, b: usize| steps[a] * steps[b] * at(parts.inner[a], parts.inner[b]);
        let column = |b: usize| (0..k).filter(|&a| relative(a, b).abs() > ROUNDING).collect();
        let columns: Vec<Vec<usize>> = (0..k).map(column).collect();
        let (reading, group) = (read(&columns), groups(&columns));
        let pattern = Pattern::new(k, &reading.entries);
        if pattern.work() > MOST_WORK {
            return None;
        }
        let entries: Vec<[f64; 1]> =
            reading.entries.iter().map(|&(a, b)| [relative(a as usize, b as usize)]).collect();
        let mut factor = Vec::new();
        pattern.factor(&entries, &mut factor);
        let mut drift = vec![0.0; k * width];
        for (o, &j) in parts.outer.iter().enumerate() {
            let mut moved: Vec<[f64; 1]> =
                parts.inner.iter().zip(&steps).map(|(&i, s)| [-s * at(i, j)]).collect();
            pattern.solve_lower(&factor, &mut moved);
            pattern.solve_transposed(&factor, &mut moved);
            moved.iter().enumerate().for_each(|(a, x)| drift[a * width + o] = x[0]);
        }
        let mean = |of: &[usize]| of.iter().map(|&i| q.mean[i]).collect();
        let (reference, centre) = (mean(&parts.inner), mean(&parts.outer));
        let factor: Vec<f64> = factor.iter().map(|x| x[0]).collect();
        let sound = drift.iter().chain(&factor).all(|x| x.is_finite());
        sound.then(|| Conditional {
            reference,
            centre,
            drift,
            factor,
            ..Self::of(target, parts, steps, reading, pattern, group)
        })
    }

    /// Keeps what follows from the outer coordinates alone from then on, if that is most of the work.
    pub(super) fn hold_outer(&mut self, model: &ModelTarget) {
        self.held = Some(model.given(&self.parts.outer)).filter(Given::saves_much);
    }

    /// Takes the log density of a model apart by groups, if there are several and it can be.
    pub(super) fn tell_groups_apart(&mut self, model: &ModelTarget) {
        if self.group_count() < 2 {
            return;
        }
        let mut coordinates = vec![Group::None; model.dimension()];
        self.parts.inner.iter().zip(&self.group).for_each(|(&i, &g)| coordinates[i] = Group::One(g as u32));
        self.grouped = model.grouped(&coordinates, self.group_count());
    }

    /// Integrates groups out by a rule from then on; whether that is possible.
    pub(super) fn integrate_groups(&mut self) -> bool {
        self.rule = self.grouped.as_ref().and_then(|_| Rule::new(&self.drawn_group()));
        self.rule.is_some()
    }

    /// Looks how far groups reach from their modes, at some points around a Gaussian for the outer
    /// coordinates.
    pub(super) fn look_how_far(&mut self, q: &Gaussian, seed: u64) {
        let Some(lattice) = self.lattice_for(f64::INFINITY).filter(|_| self.grouped.is_some()) else {
            return;
        };
        let looks = spared(self.target, LOOKS, LANES).next_multiple_of(LANES);
        let outer = points(q, looks, WIDER, [seed, 0]);
        let (this, drawn_group) = (&*self, self.drawn_group());
        let look = |first: usize| {
            let outer = part(&outer, looks, first..first + LANES);
            let mut solver = Solver::new(this).roughly();
            solver.solve(&outer, LANES);
            farthest(&mut solver, &lanes(&outer, LANES), &drawn_group, lattice, LITTLE)
        };
        self.far = (0..looks).step_by(LANES).map(look).fold(0.0, f64::max);
        self.wide |= self.far > FAR;
    }

    /// Takes the widest lattice for groups from then on, however even weights are without one.
    pub(super) fn reach_far(&mut self) {
        (self.far, self.wide) = (f64::INFINITY, true);
    }

    /// Whether groups have mass that draws around their modes do not reach.
    pub(super) fn reaches_far(&self) -> bool {
        self.wide
    }

    /// Searches modes from these places of inner coordinates on.
    pub(super) fn search_from(&mut self, places: &[(usize, f64)]) {
        places.iter().for_each(|&(at, x)| self.reference[at] = x);
        self.factor.clear();
        self.drift.fill(0.0);
    }

    /// The length of a step of each inner coordinate.
    pub(super) fn steps(&self) -> &[f64] {
        &self.steps
    }

    /// Whether groups are integrated out by a rule.
    pub(super) fn integrates(&self) -> bool {
        self.rule.is_some()
    }

    /// Takes the mode at these outer coordinates as the reference, and finds how it moves with them by
    /// differences of these widths: a reference near the modes saves digits, and Newton steps. Nothing
    /// changes if there is no mode.
    pub(super) fn recentre(&mut self, outer: &[f64], widths: &[f64]) {
        let (k, q) = (self.parts.inner.len(), outer.len());
        let count = 1 + 2 * q;
        let mut points: Vec<f64> = outer.iter().flat_map(|x| std::iter::repeat_n(*x, count)).collect();
        for (i, w) in widths.iter().enumerate() {
            points[i * count + 1 + 2 * i] += w;
            points[i * count + 2 + 2 * i] -= w;
        }
        let mut modes = vec![0.0; k * count];
        let mut factor = Vec::new();
        let mut solver = Solver::new(self);
        for first in (0..count).step_by(LANES) {
            let width = LANES.min(count - first);
            solver.solve(&part(&points, count, first..first + width), width);
            if !solver.log_marginal[..width].iter().all(|x| x.is_finite()) {
                return;
            }
            if first == 0 {
                factor = solver.factor.iter().map(|f| f[0]).collect();
            }
            for (mode, y) in modes.chunks_exact_mut(count).zip(&solver.y) {
                mode[first..first + width].copy_from_slice(&y[..width]);
            }
        }
        drop(solver);
        for (i, mode) in modes.chunks_exact(count).enumerate() {
            self.reference[i] += self.steps[i] * mode[0];
            for (j, w) in widths.iter().enumerate() {
                self.drift[i * q + j] = (mode[1 + 2 * j] - mode[2 + 2 * j]) / (2.0 * w);
            }
        }
        self.centre = outer.to_vec();
        self.factor = factor;
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
        let curb = || Curb::new(self.target, &self.parts, &self.pattern, seed);
        self.curb = (!self.is_large()).then(curb).flatten();
        let known = self.curb.is_some().then(|| self.known(&anchors)).filter(|known| varies(known));
        self.curb.take_if(|_| known.is_none());
        self.surface = Surface::new(&anchors, q, &self.pattern, known.as_deref(), most);
        self.surface.is_some()
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

    /// Stretches draws from then on in directions where inner coordinates reach further than a Gaussian.
    pub(super) fn lengthen(&mut self, q: &Gaussian) {
        self.tails = Tails::seen(self, q);
    }

    /// Whether modes and factors come from a surface where they can.
    pub(super) fn is_smooth(&self) -> bool {
        self.surface.is_some()
    }

    /// Whether a Hessian costs so much that it is worth while to find few of them: it has many colours, or
    /// nearly as many as coordinates, as that of a latent function has, and not very few.
    pub(super) fn costly(&self) -> bool {
        let colours = self.colours;
        let full = colours > self.parts.inner.len() / 2 && self.parts.outer.len() <= MOST_OUTER_SMOOTH;
        let most = if full { MOST_COLOURS_FULL } else { MOST_COLOURS };
        self.is_large() || self.parts.how == How::Searched && colours > most
    }

    /// Whether modes and factors are found at few outer points for that reason alone.
    pub(super) fn is_large(&self) -> bool {
        self.large
    }

    /// Solves at points around a Gaussian for the outer coordinates; what draws come from is then found from
    /// these.
    pub(super) fn anchor(&self, q: &Gaussian, seed: u64) {
        if self.parts.how == How::Searched && self.surface.is_none() && self.anchors.get().is_none() {
            // Set when all are found: threads that find them ask whether there are any.
            let _ = self.anchors.set((anchors(self, q, seed), q.scales()));
        }
    }

    /// How far each outer coordinate can move at the origin of the outer coordinates, all others held: one
    /// over the root of the curvature, infinite where there is none.
    pub(super) fn outer_scales(&self) -> Vec<f64> {
        let mut z = vec![0.0; self.target.dimension()];
        self.parts.inner.iter().zip(&self.reference).for_each(|(&i, x)| z[i] = *x);
        let mut evaluator = self.target.evaluator();
        let (mut unit, mut column) = (vec![0.0; z.len()], vec![0.0; z.len()]);
        let scale = |&i: &usize| {
            unit[i] = 1.0;
            evaluator.hessian_vectors(&z, &unit, 1, &mut column);
            unit[i] = 0.0;
            if column[i] < 0.0 { (-column[i]).sqrt().recip() } else { f64::INFINITY }
        };
        self.parts.outer.iter().map(scale).collect()
    }

    /// Most gradients of the outer coordinates worth taking: each takes many of the model, more where
    /// Hessians have many colours.
    pub(super) fn affordable(&self) -> usize {
        if self.surface.is_some() {
            return SMOOTH_GRADIENTS;
        }
        let most = (GRADIENTS_EACH * (1 + self.parts.outer.len())).min(MOST_GRADIENTS);
        (MOST_EVALUATIONS / (1 + self.hessian_gradients())).clamp(FEWEST_GRADIENTS, most)
    }

    /// The place of each standard normal number of a draw within its group, where gradients of the outer
    /// coordinates come from differences along these: where no rule and no surface gives them, and they are
    /// fewer than those of log densities.
    pub(super) fn directions(&self) -> Option<Vec<usize>> {
        if self.integrates() || self.is_smooth() || self.held.is_some() {
            return None;
        }
        let places = places(&self.drawn_group());
        let largest = places.iter().max().map_or(0, |place| place + 1);
        let pays = solver::pays(self.parts.how, self.gradients_each(), self.parts.outer.len(), largest);
        pays.then_some(places)
    }

    /// The group that each standard normal number of a draw belongs to: these come in the order of
    /// elimination.
    pub(super) fn drawn_group(&self) -> Vec<usize> {
        self.pattern.eliminated(&self.group)
    }

    /// Gradients that one and a Hessian take.
    fn gradients_each(&self) -> usize {
        1 + if self.span.is_some() { 1 } else { self.hessian_gradients() }
    }

    /// Gradients beside one that a Hessian takes.
    pub(super) fn hessian_gradients(&self) -> usize {
        if self.forms.is_some() { OF_FORMS } else { self.reading.colours.len() }
    }

    /// Whether the inner coordinates are not Gaussian given the outer ones, and fall into no groups.
    pub(super) fn is_one_block(&self) -> bool {
        self.parts.how != How::Quadratic && self.group_count() == 1
    }

    /// Groups of inner coordinates.
    pub(super) fn group_count(&self) -> usize {
        self.group.iter().max().map_or(0, |g| g + 1)
    }

    /// The lattice that serves all groups, if they are small.
    pub(super) fn lattice(&self) -> Option<&'static Lattice> {
        self.lattice_for(self.far)
    }

    /// The same for groups that reach so far from their modes.
    fn lattice_for(&self, far: f64) -> Option<&'static Lattice> {
        lattice(sizes(&self.group).into_iter().max()?, far)
    }

    /// Gradients evaluated so far.
    pub(super) fn gradients(&self) -> usize {
        self.gradients.load(Ordering::Relaxed)
    }
}

/// Whether but one of these Hessians differs from the first, by more than rounding: then one outer coordinate
/// alone decides what all are.
fn varies_with_one(hessians: &[Vec<f64>]) -> bool {
    let Some((first, others)) = hessians.split_first().filter(|_| hessians.len() == LANES) else {
        return false;
    };
    let largest = first.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let differs =
        |other: &&Vec<f64>| other.iter().zip(first).any(|(a, b)| (a - b).abs() > ROUNDING * largest);
    others.iter().filter(differs).count() == 1
}

/// Whether what the prior adds to the Hessian differs between anchors. Of standardised coordinates it does
/// not, and all that moves is in the rest, which polynomials for factors follow better.
fn varies(known: &[Vec<f64>]) -> bool {
    let Some((first, others)) = known.split_first() else { return false };
    let differs = |other: &Vec<f64>| first.iter().zip(other).any(|(a, b)| (a - b).abs() > VARIES * a.abs());
    others.iter().any(differs)
}

/// Most colours of the Hessian of inner coordinates that are searched given so many outer ones.
fn most_colours(outer: usize) -> usize {
    if outer <= MOST_OUTER_SMOOTH { MOST_COLOURS_SMOOTH } else { MOST_COLOURS }
}

/// Some draws of a batch, coordinate by coordinate.
pub(super) fn part(z: &[f64], n: usize, draws: Range<usize>) -> Vec<f64> {
    z.chunks_exact(n).flat_map(|row| row[draws.clone()].iter().copied()).collect()
}

/// Up to sixteen points (coordinate `i` of point `b` at `i * count + b`) in lanes; those beyond repeat the
/// last.
pub(super) fn lanes(points: &[f64], count: usize) -> Vec<Lanes> {
    let lane = |row: &[f64]| std::array::from_fn(|b| row[b.min(count - 1)]);
    points.chunks_exact(count).map(lane).collect()
}
