//! The inner coordinates given the outer ones: what is known of them before any outer point is.
//!
//! They are measured from a reference in steps of about a standard deviation, x = r + s y.

use crate::infer::nested::anchor::Anchor;
use crate::infer::nested::blocks::sizes;
use crate::infer::nested::hessian::basis::Span;
use crate::infer::nested::hessian::colouring::Reading;
use crate::infer::nested::hessian::forms::Forms;
use crate::infer::nested::hessian::prior::Curb;
use crate::infer::nested::lattice::{Lattice, lattice};
use crate::infer::nested::partition::{How, Partition};
use crate::infer::nested::rule::Rule;
use crate::infer::nested::stretch::Tails;
use crate::infer::nested::surface::Surface;
use crate::num::linalg::Pattern;
use crate::structure::Group;
use crate::target::{Given, Grouped, ModelTarget, Target};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most colours where every point takes a search: a Hessian costs a gradient for each. Most of a Hessian with
/// few zeros. Most where Hessians are found at few points alone, and most outer coordinates there: in more,
/// polynomials through so few points are too far off.
pub(super) const MOST_COLOURS: usize = 20;
const MOST_COLOURS_FULL: usize = 8;
pub(super) const MOST_COLOURS_SMOOTH: usize = 160;
pub(super) const MOST_OUTER_SMOOTH: usize = 4;
/// Gradients that a Hessian costs where the functions that it is read from are known.
pub(super) const OF_FORMS: usize = 2;
/// Bounds on the gradients of the outer coordinates, and on what they may take for each of them: a Gaussian
/// in few coordinates that has not settled after so many for each is far from the posterior, and what comes
/// after it knows.
const MOST_EVALUATIONS: usize = 120_000;
const FEWEST_GRADIENTS: usize = 1500;
const GRADIENTS_EACH: usize = 2048;
const MOST_GRADIENTS: usize = 20_000;
/// Gradients of the outer coordinates where each takes a few of the model.
const SMOOTH_GRADIENTS: usize = 2048;

/// What is known before any outer point is.
pub(super) struct Conditional<'t> {
    pub(super) target: &'t dyn Target,
    pub(super) parts: Partition,
    pub(super) reference: Vec<f64>,
    pub(super) steps: Vec<f64>,
    pub(super) drift: Drift,
    pub(super) hessian: HessianSource,
    pub(super) groups: Groups,
    pub(super) learnt: Learnt<'t>,
    /// The log density at points that share the outer coordinates, where that saves much.
    pub(super) held: Option<Given>,
    /// Gradients evaluated.
    pub(super) gradients: AtomicUsize,
}

/// How the mode moves with the outer coordinates near the reference.
pub(super) struct Drift {
    /// Outer coordinates at which the reference is the mode.
    pub(super) centre: Vec<f64>,
    /// How it moves with each of them, in steps (`inner × outer`).
    pub(super) slopes: Vec<f64>,
    /// The factor of the curvature there.
    pub(super) factor: Vec<f64>,
}

/// Where Hessians of the inner coordinates come from.
pub(super) struct HessianSource {
    /// How the entries are read from gradients, or from functions of forms.
    pub(super) reading: Reading,
    /// The functions that they are read from, where the graph tells them, instead of from gradients.
    pub(super) forms: Option<Forms>,
    /// The colours that gradients would take.
    pub(super) colours: usize,
    pub(super) pattern: Pattern,
    /// Whether a factorisation takes more than each draw can have of its own.
    pub(super) large: bool,
    /// What Hessians have in common at all outer points, where one takes many gradients and that is known.
    pub(super) span: Option<Span>,
}

/// Groups of inner coordinates that are independent given the outer coordinates.
pub(super) struct Groups {
    /// The group of each inner coordinate.
    pub(super) of: Vec<usize>,
    /// The log density by groups, where these are weighed one by one.
    pub(super) apart: Option<Grouped>,
    /// How far from their modes they reach, in standard deviations, and whether that is further than draws
    /// around them.
    pub(super) far: f64,
    pub(super) wide: bool,
    /// Points at which they are integrated out, where the outer coordinates are too many for differences.
    pub(super) rule: Option<Rule>,
}

/// What is learnt at some outer points, and serves at all.
pub(super) struct Learnt<'t> {
    /// Modes from which those that draws come from are searched, and the scales of the outer coordinates.
    pub(super) anchors: OnceLock<(Vec<Anchor>, Vec<f64>)>,
    /// What is added to Laplace's approximation, at every outer point alike.
    pub(super) tuning: Tuning,
    /// How draws are stretched where inner coordinates reach further.
    pub(super) tails: Tails,
    /// Where modes and factors are, if they are not searched for each outer point.
    pub(super) surface: Option<Surface>,
    /// What the prior adds to Hessians, where that is known apart from what the surface has.
    pub(super) curb: Option<Curb<'t>>,
}

/// A shift and a scale for each standard normal number of a draw.
#[derive(Clone)]
pub(super) struct Tuning {
    pub(super) shift: Vec<f64>,
    pub(super) scale: Vec<f64>,
}

impl Tuning {
    /// None of either.
    pub(super) fn none(k: usize) -> Tuning {
        Tuning { shift: vec![0.0; k], scale: vec![1.0; k] }
    }
}

impl<'t> Conditional<'t> {
    /// At the origin, with nothing known but the pattern.
    pub(super) fn of(
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
            drift: Drift { centre: vec![0.0; outer], slopes: vec![0.0; k * outer], factor: Vec::new() },
            hessian: HessianSource {
                colours: reading.colours.len(),
                reading,
                forms: None,
                pattern,
                large: false,
                span: None,
            },
            groups: Groups { of: group, apart: None, far: f64::INFINITY, wide: false, rule: None },
            learnt: Learnt {
                anchors: OnceLock::new(),
                tuning: Tuning::none(k),
                tails: Tails::default(),
                surface: None,
                curb: None,
            },
            held: None,
            gradients: AtomicUsize::new(0),
        }
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
        self.parts
            .inner
            .iter()
            .zip(&self.groups.of)
            .for_each(|(&i, &g)| coordinates[i] = Group::One(g as u32));
        self.groups.apart = model.grouped(&coordinates, self.group_count());
    }

    /// Integrates groups out by a rule from then on; whether that is possible.
    pub(super) fn integrate_groups(&mut self) -> bool {
        self.groups.rule = self.groups.apart.as_ref().and_then(|_| Rule::new(&self.drawn_group()));
        self.groups.rule.is_some()
    }

    /// Takes the widest lattice for groups from then on, however even weights are without one.
    pub(super) fn reach_far(&mut self) {
        (self.groups.far, self.groups.wide) = (f64::INFINITY, true);
    }

    /// Whether groups have mass that draws around their modes do not reach.
    pub(super) fn reaches_far(&self) -> bool {
        self.groups.wide
    }

    /// Searches modes from these places of inner coordinates on.
    pub(super) fn search_from(&mut self, places: &[(usize, f64)]) {
        places.iter().for_each(|&(at, x)| self.reference[at] = x);
        self.drift.factor.clear();
        self.drift.slopes.fill(0.0);
    }

    /// The length of a step of each inner coordinate.
    pub(super) fn steps(&self) -> &[f64] {
        &self.steps
    }

    /// Whether groups are integrated out by a rule.
    pub(super) fn integrates(&self) -> bool {
        self.groups.rule.is_some()
    }

    /// Whether modes and factors come from a surface where they can.
    pub(super) fn is_smooth(&self) -> bool {
        self.learnt.surface.is_some()
    }

    /// Whether a Hessian costs so much that it is worth while to find few of them: it has many colours, or
    /// nearly as many as coordinates, as that of a latent function has, and not very few.
    pub(super) fn costly(&self) -> bool {
        let colours = self.hessian.colours;
        let full = colours > self.parts.inner.len() / 2 && self.parts.outer.len() <= MOST_OUTER_SMOOTH;
        let most = if full { MOST_COLOURS_FULL } else { MOST_COLOURS };
        self.is_large() || self.parts.how == How::Searched && colours > most
    }

    /// Whether modes and factors are found at few outer points for that reason alone.
    pub(super) fn is_large(&self) -> bool {
        self.hessian.large
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
        if self.learnt.surface.is_some() {
            return SMOOTH_GRADIENTS;
        }
        let most = (GRADIENTS_EACH * (1 + self.parts.outer.len())).min(MOST_GRADIENTS);
        (MOST_EVALUATIONS / (1 + self.hessian_gradients())).clamp(FEWEST_GRADIENTS, most)
    }

    /// The group that each standard normal number of a draw belongs to: these come in the order of
    /// elimination.
    pub(super) fn drawn_group(&self) -> Vec<usize> {
        self.hessian.pattern.eliminated(&self.groups.of)
    }

    /// Gradients beside one that a Hessian takes.
    pub(super) fn hessian_gradients(&self) -> usize {
        if self.hessian.forms.is_some() { OF_FORMS } else { self.hessian.reading.colours.len() }
    }

    /// Whether the inner coordinates are not Gaussian given the outer ones, and fall into no groups.
    pub(super) fn is_one_block(&self) -> bool {
        self.parts.how != How::Quadratic && self.group_count() == 1
    }

    /// Groups of inner coordinates.
    pub(super) fn group_count(&self) -> usize {
        self.groups.of.iter().max().map_or(0, |g| g + 1)
    }

    /// The lattice that serves all groups, if they are small.
    pub(super) fn lattice(&self) -> Option<&'static Lattice> {
        self.lattice_for(self.groups.far)
    }

    /// The same for groups that reach so far from their modes.
    pub(super) fn lattice_for(&self, far: f64) -> Option<&'static Lattice> {
        lattice(sizes(&self.groups.of).into_iter().max()?, far)
    }

    /// Gradients evaluated so far.
    pub(super) fn gradients(&self) -> usize {
        self.gradients.load(Ordering::Relaxed)
    }

    /// Gradients that one and a Hessian take.
    pub(super) fn gradients_each(&self) -> usize {
        1 + if self.hessian.span.is_some() { 1 } else { self.hessian_gradients() }
    }
}
