//! The attempts that a model calls for, in their order: a function of what is known of it, and of nothing
//! else.

use crate::infer::attempt::Attempt;
use crate::infer::fit::{Fit, Path};
use crate::infer::policy::KHAT_LIMIT;
use crate::infer::policy::Policy;

/// Dimension beyond which effects are taken given the rest before all coordinates are fitted together.
pub(super) const MAX_DIMENSION_AS_A_WHOLE_FIRST: usize = 200;
/// Dimension up to which a second way to fit costs little, so that an answer with a doubt is compared with
/// one.
const MAX_DIMENSION_COMPARED: usize = 40;

/// What is known of a model before anything is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Unconstrained coordinates.
    pub dimension: usize,
    /// Whether the log density is a sum of functions of affine forms, for which quadrature has found the best
    /// Gaussian.
    pub additive: bool,
    /// Whether the graph proves that the posterior is Gaussian.
    pub gaussian: bool,
    /// Whether it has effects of groups, whose coordinates can be chosen.
    pub effects: bool,
    /// Whether it has innovations that lead to states, by which they can be taken: not looked for where
    /// quadrature serves all coordinates.
    pub states: bool,
    /// Whether the model says in which coordinates effects of groups are to be taken, so that others are
    /// left.
    pub coordinates_asked_for: bool,
    /// Whether the user asked for NUTS.
    pub nuts: bool,
}

/// When the best answer so far is good enough to leave out the attempts that follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enough {
    /// Once its weights can be relied on.
    Relied,
    /// The same, and in few coordinates it has no doubt either.
    Settled,
    /// Once its weights are light and it has no doubt; in many coordinates, once they can be relied on.
    Light,
    /// Once it is there.
    Any,
}

impl Enough {
    /// Whether an answer in so many coordinates is good enough.
    pub(super) fn is_met(self, fit: &Fit, dimension: usize, policy: &Policy) -> bool {
        let (relied, many) = (fit.khat < KHAT_LIMIT, dimension > MAX_DIMENSION_COMPARED);
        match self {
            Enough::Relied => relied || fit.path == Path::Nuts,
            Enough::Settled => relied && (!fit.is_doubtful() || many),
            Enough::Light => {
                fit.path == Path::Nuts || fit.khat < policy.khat_light && !fit.is_doubtful() || relied && many
            }
            Enough::Any => true,
        }
    }

    /// In words: the attempts that follow are left out ...
    pub fn words(self) -> &'static str {
        match self {
            Enough::Relied => "once k-hat is below 0.7",
            Enough::Settled => "once k-hat is below 0.7 and, in few coordinates, no finding is doubtful",
            Enough::Light => {
                "once k-hat is below 0.55 and no finding is doubtful, or below 0.7 in many coordinates"
            }
            Enough::Any => "once there is an answer",
        }
    }
}

/// An attempt of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// What is tried.
    pub attempt: Attempt,
    /// Why.
    pub why: &'static str,
    /// When the rest of the plan is left out.
    pub enough: Enough,
}

/// The attempts, in order.
pub fn plan(facts: &Facts) -> Vec<Planned> {
    let mut attempts = in_own_coordinates(facts);
    if facts.coordinates_asked_for
        && !facts.nuts
        && let Some(last) = attempts.last_mut()
    {
        last.enough = Enough::Relied;
        attempts.push(Planned {
            attempt: Attempt::FreeCoordinates,
            why: "in the coordinates that the model asks for, weights cannot be relied on",
            enough: Enough::Any,
        });
    }
    attempts
}

/// The same in the coordinates that the model asks for, or leaves open.
fn in_own_coordinates(facts: &Facts) -> Vec<Planned> {
    let planned = |attempt, why, enough| Planned { attempt, why, enough };
    let quadrature = |enough| {
        let why = match facts.gaussian {
            true => "the graph proves that the posterior is Gaussian",
            false => "the log density is a sum of functions of affine forms: no sampling is needed",
        };
        planned(Attempt::Quadrature, why, enough)
    };
    let variational = |enough| {
        let why = match facts.effects {
            true => "all coordinates together, with effects standardised, declared or in between",
            false => "all coordinates together, from the modes that searches find",
        };
        planned(Attempt::Variational, why, enough)
    };
    let whole = |enough| if facts.additive { quadrature(enough) } else { variational(enough) };
    if facts.nuts || facts.gaussian {
        return vec![whole(Enough::Any)];
    }
    if facts.additive && facts.dimension <= MAX_DIMENSION_AS_A_WHOLE_FIRST {
        // Other coordinates may follow what the best Gaussian in these does not.
        return vec![quadrature(Enough::Relied), variational(Enough::Any)];
    }
    let why = match facts.states {
        true => {
            "innovations taken by the states that they lead to, and coordinates given others integrated out"
        }
        false => "coordinates that are quadratic or concave given others are integrated out",
    };
    vec![
        planned(Attempt::Nested, why, Enough::Settled),
        whole(Enough::Light),
        planned(Attempt::OtherNested, "ways to integrate coordinates out that were put off", Enough::Any),
    ]
}
