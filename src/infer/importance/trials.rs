//! What importance draws come from: a grid, the Gaussian, it with heavier tails, or a mixture, tried in turn.

use crate::infer::attempt::Rule;
use crate::infer::cost::is_heavy;
use crate::infer::gaussian::Gaussian;
use crate::infer::importance::adapt::{adapt, efforts};
use crate::infer::importance::budget::{Drawn, FEW_TO_LEARN, Source, enough};
use crate::infer::importance::mass::Mass;
use crate::infer::importance::reached::Reached;
use crate::infer::options::Options;
use crate::infer::policy::{KHAT_LIMIT, KHAT_NO_MEAN};
use crate::infer::proposal::grid::{MOST, MOST_SEARCHED, MOST_UNCUT, cells};
use crate::infer::proposal::placement::Placement;
use crate::infer::proposal::tails::Tails;
use crate::infer::proposal::{Kind, Proposal};
use std::sync::Arc;

/// Most leading coordinates with heavy tails in a proposal.
const HEAVY: usize = 6;
/// Coordinates up to which a grid takes little time, and the half-variance of log weights from which on one
/// is worth it: a Gaussian posterior is often that of much data, and each evaluation costs.
const SOON: usize = 2;

/// Draws from a grid where coordinates are few, from the Gaussian where its weights are light, from a mixture
/// with heavier tails where they are not: by the pilot, or by the draws themselves, because a few draws do
/// not see a far tail.
pub(in crate::infer) fn draw<'t>(
    reached: &Reached<'t>,
    outputs: usize,
    options: &Options,
) -> (Arc<dyn Proposal>, Drawn<'t>) {
    let policy = &options.policy;
    let mut trials = Trials { reached, outputs, options, masses: Vec::new(), best: None };
    // What is to end is judged by the draws that were made before.
    if options.stop.requested() {
        let first = trials.tailed().swap_remove(0);
        return trials.best(first);
    }
    // What was fitted at one mode sees nothing of others, and has light weights all the same.
    if trials.modes() {
        return trials.best(Tails::Gaussian);
    }
    // Where there are few coordinates, and the posterior is not Gaussian in them, a grid overlooks nothing.
    let (flow, q) = trials.unbent();
    let curved = reached.judged.elbo.half_variance > policy.spread_gaussian;
    let soon = q.mean.len() <= SOON && !flow.model().solves_equations()
        || q.mean.len() < MOST && reached.judged.khat >= policy.khat_nearly_gaussian;
    // Four coordinates that others are integrated out of exactly: a shoulder that nothing bends to is seen in
    // no weight.
    let exactly = !flow.places_cheaply()
        && !flow.searches_each_draw()
        && q.mean.len() == MOST
        && reached.judged.khat >= policy.khat_nearly_gaussian;
    // Where each cell takes a search, a grid in so many comes after what adapts: a tail in which all but one
    // coordinate stand still is not learned from few draws.
    let late = flow.searches_each_draw() && q.mean.len() > MOST_SEARCHED;
    let at_first =
        !late && (!flow.places_cheaply() && q.mean.len() <= MOST_UNCUT || curved && soon || exactly);
    if at_first {
        trials.grid();
    }
    let mut others = trials.tailed();
    let first = others[0];
    let (flow, khat) = (reached.bent.0, reached.judged.khat);
    // In few coordinates that nothing has bent a mixture has little to learn, and its weights are the most
    // even. Few draws of weights that hardly differ do not know their tail.
    let bent = khat >= policy.khat_nearly_gaussian && (curved || !is_heavy(flow.model()));
    let few = flow.places_cheaply() && flow.leaders() == 0 && q.mean.len() <= FEW_TO_LEARN && bent;
    if few && !trials.settled() {
        trials.adapted();
    }
    // Where each draw takes a search, a proposal that is likely to fail is not tried before the one that
    // adapts.
    let likely = !flow.searches_each_draw() || flow.leaders() == 0 || khat < policy.khat_tailed;
    if likely && !trials.settled() {
        let khat = trials.attempt(trials.around(first), true);
        // What has a long tail by the first draws has one by more of them.
        others.retain(|other| !(khat >= KHAT_NO_MEAN && *other == first));
    }
    if !few && !trials.settled() {
        trials.adapted();
    }
    if late && !trials.settled() && !trials.fair() {
        trials.grid();
    }
    for other in others {
        if !trials.settled() && !trials.fair() {
            trials.attempt(trials.around(other), false);
        }
    }
    // Few draws saw a Gaussian, and more of them something else far away; or there are as many coordinates as
    // a grid can serve, and nothing else did (which was tried before these were bent).
    let again = flow.places_cheaply() && q.mean.len() == MOST && reached.bent.0.leaders() > 0;
    if !at_first && !again && !late && !trials.settled() && !trials.fair() {
        trials.grid();
    }
    trials.best(first)
}

/// Proposals tried for what was reached, and the best of them.
struct Trials<'a, 't> {
    reached: &'a Reached<'t>,
    outputs: usize,
    options: &'a Options,
    /// The mass that proposals found; and by how many standard errors, and by how much, another must be below
    /// it to overlook something.
    masses: Vec<(Mass, f64, f64)>,
    best: Option<(Arc<dyn Proposal>, Drawn<'t>)>,
}

impl<'t> Trials<'_, 't> {
    /// Where a mixture or a grid is drawn from: it follows a bend by itself, and knows nothing of what
    /// bending does to tails.
    fn unbent(&self) -> (&'t dyn Placement, &'t Gaussian) {
        let Reached { plain, bent, .. } = self.reached;
        if bent.0.places_cheaply() && plain.0.places_cheaply() { *plain } else { *bent }
    }

    /// A mixture or a grid to draw from.
    fn own(&self, proposal: Arc<dyn Proposal>) -> Source<'t> {
        let (flow, q) = self.unbent();
        Source { flow, q, proposal, pilot: None }
    }

    /// The Gaussian, or it with other tails, to draw from.
    fn around(&self, tails: Tails) -> Source<'t> {
        let (flow, q) = self.reached.bent;
        Source { flow, q, proposal: Arc::new(tails), pilot: Some(&self.reached.judged.pilot) }
    }

    /// The Gaussian or it with other tails, the most promising first.
    fn tailed(&self) -> Vec<Tails> {
        let (flow, q) = self.reached.bent;
        let (leaders, d) = (flow.leaders(), q.mean.len());
        let heavy = leaders == d && d <= HEAVY;
        let mixture = if heavy { Tails::Heavy } else { Tails::Mixture(leaders.min(HEAVY)) };
        let khat = self.reached.judged.khat;
        // Coordinates that lead others are logarithms of scales, more often than not, and their tails are
        // long; not so where many data tell them.
        let policy = &self.options.policy;
        let told = is_heavy(flow.model()) && khat < policy.khat_nearly_gaussian;
        let light = khat < policy.khat_needs_no_tails && (flow.places_cheaply() || leaders == 0) || told;
        let first = if light { vec![Tails::Gaussian] } else { Vec::new() };
        first.into_iter().chain([mixture, Tails::Student]).collect()
    }

    /// Tries a grid, where there is one.
    fn grid(&mut self) {
        if !self.options.follows(Rule::Grid) {
            return;
        }
        let (flow, q) = self.unbent();
        let thorough = self.reached.judged.khat >= self.options.policy.khat_nearly_gaussian;
        if let Some(grid) = cells(flow, q, self.reached.rivals, thorough) {
            self.attempt(self.own(Arc::new(grid)), true);
        }
    }

    /// Tries a mixture that adapts, where there is one and nothing before it was fair.
    fn adapted(&mut self) {
        if !self.options.follows(Rule::Mixture) {
            return;
        }
        let (flow, q) = self.unbent();
        for effort in efforts(flow, q) {
            if !self.settled()
                && !self.fair()
                && let Some(proposal) = adapt(flow, q, &[], effort, self.options)
            {
                self.attempt(self.own(proposal), false);
            }
        }
    }

    /// Tries a mixture begun at all modes, where there are several; whether its weights can be relied on.
    fn modes(&mut self) -> bool {
        let ((flow, q), rivals) = (self.unbent(), self.reached.rivals);
        if rivals.is_empty() {
            return false;
        }
        for effort in efforts(flow, q) {
            if !self.relied()
                && let Some(proposal) = adapt(flow, q, rivals, effort, self.options)
            {
                self.attempt(self.own(proposal), false);
            }
        }
        self.relied()
    }

    /// Whether the weights of the best can be relied on.
    fn relied(&self) -> bool {
        self.best.as_ref().is_some_and(|best| best.1.khat < KHAT_LIMIT && best.1.tail < KHAT_LIMIT)
    }

    /// Draws, keeps what is better than what there is, and tells the tail shape of its weights.
    fn attempt(&mut self, source: Source<'t>, look: bool) -> f64 {
        let drawn = enough(&source, self.outputs, look, self.options);
        let khat = drawn.khat;
        if khat < KHAT_NO_MEAN {
            let grid = source.proposal.kind() == Kind::Grid;
            let policy = &self.options.policy;
            let light = khat < policy.khat_tailed;
            let errors = if grid && light { policy.mass_errors_of_grid } else { policy.mass_errors };
            let same = if light { policy.mass_same } else { policy.mass_same_tailed };
            self.masses.push((drawn.mass, errors, same));
        }
        let overlooks = self.best.as_ref().is_some_and(|best| self.overlooks(&best.1));
        let preferred = |best: &(Arc<dyn Proposal>, Drawn)| {
            drawn.good(&self.options.policy) || overlooks || drawn.tail < best.1.tail
        };
        if !self.overlooks(&drawn) && self.best.as_ref().is_none_or(preferred) {
            self.best = Some((source.proposal, drawn));
        }
        khat
    }

    /// Whether another proposal found more of the posterior.
    fn overlooks(&self, drawn: &Drawn) -> bool {
        self.masses.iter().any(|(mass, errors, least)| mass.exceeds(&drawn.mass, *errors, *least))
    }

    /// Whether no other proposal is worth a try, or someone wants an end.
    fn settled(&self) -> bool {
        self.best
            .as_ref()
            .is_some_and(|best| best.1.good(&self.options.policy) || self.options.stop.requested())
    }

    /// Whether no more proposals of other kinds are.
    fn fair(&self) -> bool {
        self.best.as_ref().is_some_and(|best| best.1.fair(&self.options.policy))
    }

    /// The best, or draws of another if none was tried.
    fn best(self, other: Tails) -> (Arc<dyn Proposal>, Drawn<'t>) {
        let source = self.around(other);
        match self.best {
            Some(best) => best,
            None => (source.proposal.clone(), enough(&source, self.outputs, false, self.options)),
        }
    }
}
