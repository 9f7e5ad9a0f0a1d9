//! What takes the coordinates that a Gaussian was fitted in to those of a model.

use crate::target::{Evaluator, Target};

/// Points of a model for some draws of a Gaussian, several copies for each.
pub(in crate::infer) struct Placed {
    /// Coordinate `i` of point `p` of `n` at `i * n + p`; the copies of a draw are neighbours.
    pub(in crate::infer) points: Vec<f64>,
    /// The log density of each point in the coordinates of the Gaussian, less that of the standard normal
    /// coordinates it was made of; minus infinity where there is no point.
    pub(in crate::infer) log_density: Vec<f64>,
    /// What each group of coordinates adds to the log density of a draw, where groups have weights of their
    /// own: group `g` of draw `b` of `n` at `g * n + b`.
    pub(in crate::infer) gains: Vec<f64>,
}

/// A map from coordinates of a Gaussian, and standard normal ones after them, to those of a model.
pub(in crate::infer) trait Placement: Sync {
    /// The model.
    fn model(&self) -> &dyn Target;

    /// Standard normal coordinates after those of the Gaussian.
    fn standard(&self) -> usize {
        0
    }

    /// Most draws worth making: fewer where each takes a search.
    fn most_draws(&self) -> usize {
        usize::MAX
    }

    /// Whether placing a draw costs little beside its log density.
    fn places_cheaply(&self) -> bool;

    /// Whether placing a draw takes a search, or a choice among candidates.
    fn searches_each_draw(&self) -> bool {
        false
    }

    /// Whether what `alone` tells misses next to nothing of what is integrated out.
    fn outer_margin_is_exact(&self) -> bool {
        true
    }

    /// First coordinates, which may need heavy tails of their own.
    fn leaders(&self) -> usize;

    /// Points for each draw, with the same coordinates of the Gaussian and other standard normal ones: what
    /// is solved for the former serves them all.
    fn copies(&self) -> usize {
        1
    }

    /// Groups of coordinates that have weights of their own.
    fn groups(&self) -> usize {
        0
    }

    /// The group that an output follows from, with the coordinates of the Gaussian.
    fn group_of(&self, _output: usize) -> Option<usize> {
        None
    }

    /// The points of `n` draws, with an evaluator of the model.
    fn place(&self, w: Vec<f64>, n: usize, evaluator: &mut dyn Evaluator) -> Placed;

    /// The log density of the coordinates of the Gaussian alone, at `n` points, others integrated out as far
    /// as that is known.
    fn alone(&self, w: Vec<f64>, n: usize) -> Vec<f64>;

    /// One point for each of `n` draws without any evaluation: all of it where placing costs little, else
    /// only what depends on the coordinates of the Gaussian alone.
    fn glance(&self, w: Vec<f64>, n: usize) -> Vec<f64>;

    /// Whether its coordinates are those of the model.
    fn is_identity(&self) -> bool {
        false
    }
}
