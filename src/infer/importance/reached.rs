//! A fitted Gaussian as importance sampling takes it.

use crate::infer::gaussian::Gaussian;
use crate::infer::importance::elbo::Elbo;
use crate::infer::importance::pilot::{Judged, Pilot};
use crate::infer::proposal::placement::Placement;
use crate::infer::search::rivals::Rival;

/// A fitted Gaussian: as it was fitted, and in the coordinates that importance draws come from.
pub(in crate::infer) struct Reached<'a> {
    /// As fitted.
    pub(in crate::infer) plain: (&'a dyn Placement, &'a Gaussian),
    /// Draws of that, where making them costs much.
    pub(in crate::infer) plain_draws: Option<&'a Pilot>,
    /// Other modes, in the coordinates as fitted.
    pub(in crate::infer) rivals: &'a [Rival],
    /// For importance draws.
    pub(in crate::infer) bent: (&'a dyn Placement, &'a Gaussian),
    /// Its ELBO as fitted.
    pub(in crate::infer) first: Elbo,
    /// What a few draws tell of the latter.
    pub(in crate::infer) judged: &'a Judged,
}
