//! Where the fit of the outer coordinates begins.

use crate::infer::approximate::gaussian::FIRST;
use crate::infer::attempt::Rule;
use crate::infer::fit::Path;
use crate::infer::gaussian::Gaussian;
use crate::infer::nested::conditional::Conditional;
use crate::infer::nested::marginal::Marginal;
use crate::infer::nested::partition::{How, Partition};
use crate::infer::nested::{marginal, shoulders};
use crate::infer::options::Options;
use crate::infer::progress::Watch;
use crate::infer::search::modes::{Mode, Modes};
use crate::infer::whole::approach::{Approach, from_modes, modes, refine};
use std::time::Instant;

/// Searches for a mode of the outer coordinates from random points: each gradient there takes many of the
/// model. More where it takes few, and the outer coordinates are not only scales.
const OTHERS: u64 = 1;
const MORE_OTHERS: u64 = 8;
const NOT_ONLY_SCALES: std::ops::RangeInclusive<usize> = 4..=12;
/// How far around the mode of the outer coordinates it is seen what Hessians have in common: in standard
/// deviations, and at most.
const REACH: f64 = 5.0;
const FARTHEST: f64 = 3.0;
/// How often modes are searched again from higher places.
const AGAIN: usize = 2;

/// Where the fit of the outer coordinates begins.
pub(super) enum Start {
    /// At their modes, with the scales at the highest.
    Modes(Modes, Vec<f64>),
    /// At a Gaussian.
    Explored(Gaussian),
}

impl Start {
    /// The scales of the outer coordinates.
    pub(super) fn scales(&self) -> Vec<f64> {
        match self {
            Start::Modes(_, scales) => scales.clone(),
            Start::Explored(q) => q.scales(),
        }
    }

    /// The fit.
    pub(super) fn fit(self, marginal: &Marginal, options: &Options, watch: Watch) -> Option<Approach> {
        match self {
            Start::Modes(modes, _) => from_modes(marginal, modes, options, watch).ok(),
            Start::Explored(q) => {
                let clock = Instant::now();
                let fitted = refine(marginal, q, FIRST, options, watch).ok()?;
                let gradients = fitted.gradients;
                Some(Approach { fitted, path: Path::Nested, gradients, rivals: Vec::new(), clock })
            }
        }
    }
}

/// Modes of the outer coordinates, at the highest of which the conditional is centred from then on. Where
/// inner coordinates have higher places than their modes there, they are searched from these.
pub(super) fn centred(conditional: &mut Conditional, options: &Options) -> Option<Start> {
    let mut again = 0;
    loop {
        let scales = conditional.outer_scales();
        let others = others(&conditional.parts);
        let found = modes(&Marginal::new(conditional, &scales).followed(), others, options).ok()?;
        let scales = scales_at(found.modes.first()?, &scales)?;
        let top = &found.modes.first()?.point;
        conditional.recentre(top, &marginal::widths(&scales));
        let reach: Vec<f64> = scales.iter().map(|s| (REACH * s).min(FARTHEST)).collect();
        if options.follows(Rule::CommonHessians) {
            conditional.look_around(top, &reach, options.seed);
        }
        let higher = shoulders::higher(conditional, top);
        if higher.is_empty() || !options.follows(Rule::OtherPlaces) || again == AGAIN {
            return Some(Start::Modes(found, scales));
        }
        conditional.search_from(&higher);
        again += 1;
    }
}

/// How many random points modes of the outer coordinates are searched from.
fn others(parts: &Partition) -> u64 {
    let more = parts.how == How::Quadratic && NOT_ONLY_SCALES.contains(&parts.outer.len());
    if more { MORE_OTHERS } else { OTHERS }
}

/// The scales of coordinates by the curvature at a mode, or as they were where that says nothing; None if
/// there is no curvature.
fn scales_at(mode: &Mode, before: &[f64]) -> Option<Vec<f64>> {
    let diagonal = mode.curvature.as_ref()?.iter().step_by(before.len() + 1);
    Some(diagonal.zip(before).map(|(h, s)| if *h > 0.0 { h.sqrt().recip() } else { *s }).collect())
}
