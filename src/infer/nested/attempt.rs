//! Takes coordinates apart in one way after another, until an answer can be trusted.

use crate::infer::attempt::Rule;
use crate::infer::choose::better;
use crate::infer::finding::{Finding, Inner};
use crate::infer::fit::{Fit, Path};
use crate::infer::importance::budget;
use crate::infer::nested::conditional::Conditional;
use crate::infer::nested::marginal::Marginal;
use crate::infer::nested::partition::{How, Partition, bounded, partitions};
use crate::infer::nested::shoulders::Aside;
use crate::infer::nested::start::Start;
use crate::infer::nested::weigh::{Whole, weigh};
use crate::infer::nested::{explore, shoulders, start, tune};
use crate::infer::options::Options;
use crate::infer::policy::KHAT_LIMIT;
use crate::infer::progress::Watch;
use crate::infer::proposal::grid;
use crate::lower::Parameter;
use crate::target::{ModelTarget, Target};
use std::cell::Cell;

/// Colours of a Hessian from which on it is costly, and most coordinates where it is looked whether the
/// Gaussian at the mode does so well that nothing need be taken apart.
const COSTLY: usize = 5;
const SOON_SEEN: usize = 60;
/// Coordinates of a small group, on average.
const MOST_OF_A_GROUP: usize = 3;

/// Which ways to take coordinates apart are tried.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::infer) enum Ways {
    /// Those that are better than a fit of all coordinates together: in few coordinates only what is
    /// quadratic, which costs nothing, for there a mixture for all of them follows any shape.
    Promising,
    /// In few coordinates the others, for shapes that it did not follow; in many those that were put off, for
    /// their first weights were no light ones and each draw takes long.
    Others,
}

/// What came of trying them.
pub(in crate::infer) struct Tried {
    pub(in crate::infer) fit: Option<Fit>,
    /// Whether others are left.
    pub(in crate::infer) others: bool,
}

/// A fit by this way, if the model allows it: the first that can be trusted, or else the best.
pub(in crate::infer) fn fit(target: &ModelTarget, ways: Ways, options: &Options, watch: Watch) -> Tried {
    let few = target.dimension() <= budget::FEW_TO_LEARN;
    let mut best: Option<Fit> = None;
    let others = Cell::new(few);
    let put_off = (ways == Ways::Promising && !few).then_some(&others);
    let whole = Whole::new(target, options, put_off);
    let mut attempt = |conditional: Conditional| -> bool {
        let policy = &options.policy;
        let light = if conditional.is_one_block() { policy.khat_light_together } else { policy.khat_light };
        // Draws around a mode of all inner coordinates together do not come where groups, one by one, have
        // mass.
        let known = best.as_ref().is_some_and(|fit| fit.khat < KHAT_LIMIT && !fit.is_doubtful());
        if known && whole.reaches_far.get() && conditional.is_one_block() {
            return false;
        }
        let Some(found) = with(&whole, conditional, watch) else { return false };
        let settled = found.khat < light && !found.is_doubtful();
        if best.as_ref().is_none_or(|other| better(&found, other, policy)) {
            best = Some(found);
        }
        settled || options.stop.requested()
    };
    // What hangs together is searched at fewest points where fewest coordinates are left to fit.
    let mut costly: Vec<Conditional> = Vec::new();
    let parts = partitions(target, options.seed).into_iter();
    let is_wanted = |parts: &Partition| match ways {
        Ways::Promising => !few || parts.how == How::Quadratic,
        Ways::Others => parts.how != How::Quadratic,
    };
    for parts in parts.filter(is_wanted) {
        let Some(conditional) = Conditional::new(target, parts, options.seed) else { continue };
        if conditional.costly() {
            costly.push(conditional);
        } else if (few || ways == Ways::Promising) && attempt(conditional) {
            return Tried { fit: best, others: false };
        }
    }
    costly.sort_by_key(|conditional| conditional.parts.outer.len());
    if !costly.into_iter().any(&mut attempt)
        && few == (ways == Ways::Others)
        && let Some(conditional) = small_groups(target, options.seed)
    {
        attempt(conditional);
    }
    Tried { fit: best, others: others.get() }
}

/// Numbers with bounds given all else, where these are in small groups: they are skewed, and only groups of
/// few are weighed one by one.
fn small_groups(target: &ModelTarget, seed: u64) -> Option<Conditional<'_>> {
    let conditional = Conditional::new(target, bounded(target)?, seed)?;
    let small = conditional.group_count() * MOST_OF_A_GROUP >= conditional.parts.inner.len();
    small.then_some(conditional)
}

/// A fit with this partition.
fn with(whole: &Whole, mut conditional: Conditional, watch: Watch) -> Option<Fit> {
    let Whole { target, options, .. } = *whole;
    let note = describe(target, &conditional.parts);
    conditional.hold_outer(target);
    let start = begin(whole, &mut conditional).filter(|_| !options.stop.requested())?;
    let options = &Options {
        gradients: Some(conditional.affordable()),
        tolerance: options.tolerance.max(options.policy.gap_nested),
        ..options.clone()
    };
    let scales = start.scales();
    let found = start.fit(&Marginal::new(&conditional, &scales), options, watch)?;
    // A grid in few outer coordinates looks everywhere, wherever that Gaussian is.
    let parts = &conditional.parts;
    let everywhere = parts.how == How::Quadratic && parts.outer.len() <= grid::MOST_UNCUT;
    if found.fitted.gap > options.policy.gap_hopeless && !everywhere {
        return None;
    }
    let q = &found.fitted.q;
    if options.follows(Rule::Anchors) {
        conditional.anchor(q, options.seed);
    }
    conditional.look_how_far(q, options.seed);
    let aside = match options.follows(Rule::OtherPlaces) {
        true => shoulders::aside(&conditional, q, options.seed),
        false => Aside::default(),
    };
    if aside.is_wide {
        conditional.reach_far();
    }
    if conditional.reaches_far() {
        whole.reaches_far.set(true);
    }
    if conditional.is_smooth() && conditional.parts.how != How::Quadratic && options.follows(Rule::Tuning) {
        tune::tune(&mut conditional, q, options.seed);
    }
    if conditional.is_one_block() && !conditional.is_large() && options.follows(Rule::Stretching) {
        conditional.lengthen(q);
    }
    let fit = weigh(whole, &conditional, &scales, &found, options)?;
    let other = aside.other.map(|(at, mass)| other_mode(target, conditional.parts.inner[at], mass));
    let fit = Fit { gradients: conditional.gradients(), path: Path::Nested, as_declared: false, ..fit };
    Some(fit.noting(other).noting([note]))
}

/// The finding of another mode of a coordinate.
fn other_mode(target: &ModelTarget, coordinate: usize, mass: f64) -> Finding {
    Finding::OtherModeOf { name: target.coordinate_names()[coordinate].clone(), mass }
}

/// Where the fit of the outer coordinates begins; None where they had better not be taken apart from the
/// others.
fn begin(whole: &Whole, conditional: &mut Conditional) -> Option<Start> {
    let Whole { target, options, .. } = *whole;
    if conditional.parts.how != How::Quadratic {
        let costly = conditional.hessian_gradients() >= COSTLY;
        if (costly || target.dimension() <= SOON_SEEN) && whole.is_nearly_gaussian(costly) {
            return None;
        }
        conditional.tell_groups_apart(target);
        // Groups of one coordinate take few points, and what Laplace's approximation misses of many may be
        // more than it has.
        let alone = conditional.group_count() == conditional.parts.inner.len();
        let many = conditional.parts.leaves_many();
        let integrated = (alone || many) && conditional.integrate_groups();
        if many && !integrated {
            return None;
        }
    }
    if !conditional.costly() {
        return start::centred(conditional, options);
    }
    let q = explore::explore(conditional, options.seed)?;
    conditional.smooth(&q, options.seed).then_some(Start::Explored(q))
}

/// What was fitted, and what follows from it.
fn describe(target: &ModelTarget, parts: &Partition) -> Finding {
    let names = |of: &[usize]| {
        let has = |p: &&Parameter| of.binary_search(&p.offset).is_ok();
        let names = target.lowered().parameters.iter().filter(has).map(|p| p.named.name.clone());
        names.collect::<Vec<_>>()
    };
    let (outer, inner) = (names(&parts.outer), names(&parts.inner));
    let how = match parts.how {
        How::Quadratic => Inner::Exactly,
        How::Searched => Inner::Laplace,
    };
    Finding::TakenApart { outer, inner, how }
}
