//! Finds a point from which inference can start: the mode if there is one, a sane point near it if there is
//! not.

use crate::infer::options::{Options, Stop};
use crate::infer::search::ascent::{Place, STEPS, Search, far, settled};
use crate::infer::search::other_modes;
use crate::infer::search::starts::{PURPOSE, dispersed, expected};
use crate::num::linalg::{cholesky, dot, log_det_cholesky};
use crate::num::stream::Stream;
use crate::target::Target;
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Random starting points that are tried after the origin.
const TRIES: u64 = 40;
/// Steps allowed where a full search ran away: enough to reach the bulk, too few to fall into a funnel.
const SHORT: usize = 12;
/// Most searches from places on lines through the highest mode, and how far below it, in nats, such a place
/// may be after a few steps.
const FROM_LINES: usize = 10;
const BEHIND: f64 = 15.0;
/// How often it is looked elsewhere, as long as tops rise by so many nats.
const PASSES: usize = 6;
const RISEN: f64 = 2.0;
/// A top with so much more mass than another, in nats, has nearly all of it.
const NEARLY_ALL: f64 = 5.0;
/// A search that gains no more, in nats, in a few steps has come to its end; and how much lower it is between
/// two hills.
const STUCK: f64 = 1e-3;
const VALLEY: f64 = 0.5;
/// Log densities on these lines, many at once, for each gradient of the searches before.
const LOOKS: usize = 4;

/// Searches from random points, after the first; and where coordinates are few.
const OTHERS: u64 = 3;
const OTHERS_OF_FEW: u64 = 12;
const VERY_FEW: usize = 3;
/// The same where equations are solved: rates of processes that follow each other may change places.
const OTHERS_OF_RATES: u64 = 8;
const FEW_RATES: usize = 10;
/// Rounds of as many, at most, while these end at so many heights that there may be more; and the operations
/// of searches from which on no more are made.
const ROUNDS: u64 = 10;
const LONG: usize = 100_000_000;
/// Heights that differ by less, in nats, are one.
const LEVEL_WITH: f64 = 0.01;
/// Dimension up to which these are made.
pub(in crate::infer) const SEVERAL: usize = 300;

/// The width of a kink is looked for from 2 to minus this power to 2 to this power.
const FALLS: i32 = 40;

/// Where a search ended.
pub(in crate::infer) struct Mode {
    pub(in crate::infer) point: Vec<f64>,
    /// Minus the Hessian there, by rows.
    pub(in crate::infer) curvature: Option<Vec<f64>>,
}

impl Mode {
    /// How far another lies, in standard deviations of this one; None where it has no curvature.
    pub(in crate::infer) fn distance(&self, other: &Mode) -> Option<f64> {
        let d = self.point.len();
        let away: Vec<f64> = self.point.iter().zip(&other.point).map(|(a, b)| a - b).collect();
        let curvature = self.curvature.as_ref()?;
        let square: f64 = curvature.chunks_exact(d).zip(&away).map(|(row, x)| x * dot(row, &away)).sum();
        (square > 0.0).then(|| square.sqrt())
    }
}

impl From<Top> for Mode {
    fn from(top: Top) -> Mode {
        Mode { point: top.place.z, curvature: top.curvature }
    }
}

/// A part of a mixture by itself.
pub(in crate::infer) struct Part {
    pub(in crate::infer) mode: Mode,
    /// The logarithm of its mass by its curvature, but for the constant of a normal density.
    pub(in crate::infer) log_mass: f64,
}

/// What the searches found.
pub(in crate::infer) struct Modes {
    /// Different places; the first comes from the origin.
    pub(in crate::infer) modes: Vec<Mode>,
    /// The parts of a mixture, each where it alone is highest: one may have mass where the sum has no mode.
    pub(in crate::infer) parts: Vec<Part>,
    /// Gradients evaluated.
    pub(in crate::infer) gradients: usize,
}

/// A place where a search ended.
struct Top {
    place: Place,
    curvature: Option<Vec<f64>>,
}

/// Searches from the origin, from so many random points, and from places that are high seen from the highest
/// of all. None if the log density is finite nowhere.
pub(in crate::infer) fn find(
    target: &dyn Target,
    options: &Options,
    dense: bool,
    others: u64,
) -> Option<Modes> {
    let seed = options.seed;
    let d = target.dimension();
    let mut evaluator = target.evaluator();
    let evaluator = evaluator.as_mut();
    let mut search = Search { evaluator, gradients: 0, stop: &options.stop };
    let start = (0..=TRIES).find_map(|k| {
        let scale = if k == 0 { 0.0 } else { 0.25 * (1.0 + (k % 8) as f64) };
        let mut stream = Stream::new(seed, PURPOSE, k);
        search.place((0..d).map(|_| scale * stream.normal()).collect())
    })?;
    let mut tops = vec![search.top(target, start.clone(), dense)];
    if dense && !tops[0].is_settled() {
        // There may be no mode at all, or one in a funnel that nothing can start from: the bulk is nearer to
        // the start.
        let place = search.climb(start, SHORT);
        if place.z != tops[0].place.z {
            let curvature = search.curvature(target, &place.z);
            tops.push(Top { place, curvature });
        }
    }
    let others = if dense && d <= SEVERAL { others } else { 0 };
    let mut branches = Vec::new();
    if others > 0 {
        branches = search.widely(target, options, others, &mut tops);
        for _ in 0..PASSES {
            let Some(top) = highest(&tops).filter(|_| !options.stop.requested()) else { break };
            let (before, starts) = (top.place.value, search.elsewhere(target, top));
            search.add(target, starts, &mut tops);
            // What is seen from a top much higher is something else; a place further down a funnel is none.
            if !highest(&tops).is_some_and(|top| top.place.value > before + RISEN && top.is_settled()) {
                break;
            }
        }
    }
    // Where the origin lies on a ridge between two, or on the way to infinity, others come first; and one
    // that has nearly all of the mass.
    tops.sort_by_key(|t| dense && !t.is_settled());
    let masses: Vec<f64> = tops.iter().map(Top::log_mass).collect();
    let heaviest = (0..tops.len()).reduce(|a, b| if masses[b] > masses[a] { b } else { a });
    if let Some(k) = heaviest.filter(|&k| masses[k] > masses[0] + NEARLY_ALL) {
        tops.swap(0, k);
    }
    let modes = tops.into_iter().map(Mode::from).collect();
    Some(Modes { modes, parts: as_parts(branches), gradients: search.gradients })
}

/// The parts of a mixture, each where it alone is highest.
pub(in crate::infer) fn parts(target: &dyn Target, stop: &Stop) -> Vec<Part> {
    as_parts(of_branches(target, expected(target, stop).as_deref(), stop))
}

fn as_parts(tops: Vec<Top>) -> Vec<Part> {
    let part =
        |top: Top| Some(Part { log_mass: Some(top.log_mass()).filter(|m| m.is_finite())?, mode: top.into() });
    tops.into_iter().filter_map(part).collect()
}

/// How many random points modes of a target are searched from.
pub(in crate::infer) fn others(target: &dyn Target) -> u64 {
    match (target.dimension(), target.solves_equations()) {
        (..=VERY_FEW, false) => OTHERS_OF_FEW,
        (..=FEW_RATES, true) => OTHERS_OF_RATES,
        _ => OTHERS,
    }
}

/// Whether searches that ended at so many different heights leave a doubt that there are more: their number
/// by Bayes' rule, if all had the same chance, is w (n - 1) / (n - w - 2) for w heights and n searches
/// (Boender and Rinnooy Kan, 1987). One height is no reason to search on.
fn is_doubtful(ends: &[f64]) -> bool {
    let mut heights = ends.to_vec();
    heights.sort_by(f64::total_cmp);
    heights.dedup_by(|a, b| *a - *b < LEVEL_WITH);
    let (w, n) = (heights.len() as f64, ends.len() as f64);
    w > 1.0 && !(n > w + 2.0 && w * (n - 1.0) / (n - w - 2.0) < w + 0.5)
}

fn highest(tops: &[Top]) -> Option<&Top> {
    tops.iter().reduce(|a, b| if b.place.value > a.place.value { b } else { a })
}

impl Top {
    /// Whether it is one.
    fn is_settled(&self) -> bool {
        settled(&self.place, self.curvature.as_deref())
    }

    /// The logarithm of the mass about it by its curvature, but for a constant; minus infinity where it is no
    /// top.
    fn log_mass(&self) -> f64 {
        let d = self.place.z.len();
        let Some(mut factor) = self.curvature.clone().filter(|h| settled(&self.place, Some(h))) else {
            return f64::NEG_INFINITY;
        };
        match cholesky(&mut factor, d) {
            Ok(()) => self.place.value - 0.5 * log_det_cholesky(&factor, d),
            Err(_) => f64::NEG_INFINITY,
        }
    }
}

/// The modes of the parts of a mixture, each found in the density of that part alone: however far away and
/// narrow it is, nothing else is there to be found. Searched from where the model expects its parameters
/// before it sees data, or from the origin.
fn of_branches(target: &dyn Target, expected: Option<&[f64]>, stop: &Stop) -> Vec<Top> {
    let origin = vec![0.0; target.dimension()];
    let top = |part: Box<dyn Target + '_>| {
        let mut evaluator = part.evaluator();
        let mut search = Search { evaluator: evaluator.as_mut(), gradients: 0, stop };
        let start = search.place(origin.clone()).or_else(|| search.place(expected?.to_vec()))?;
        let top = search.top(&*part, start, true);
        if top.is_settled() { Some(top) } else { Some(search.by_falls(top)) }
    };
    target.branches().into_par_iter().filter_map(top).collect()
}

/// Whether a search ended at a known top.
fn same(top: &Top, place: &Place) -> bool {
    let Some(h) = &top.curvature else { return false };
    let d = place.z.len();
    let step: Vec<f64> = top.place.z.iter().zip(&place.z).map(|(a, b)| a - b).collect();
    let square: f64 = h.chunks_exact(d).zip(&step).map(|(row, s)| s * dot(row, &step)).sum();
    (top.place.value - place.value).abs() < LEVEL_WITH && square.abs() < 0.05
}

impl Search<'_> {
    /// The top that a start leads to; a point on the way there where the way leads off to infinity.
    fn top(&mut self, target: &dyn Target, start: Place, dense: bool) -> Top {
        let place = self.climb(start.clone(), STEPS);
        if !dense {
            let astray = far(&place);
            return Top { place: if astray { self.climb(start, SHORT) } else { place }, curvature: None };
        }
        let (place, curvature) = self.polish(target, place);
        if !far(&place) || settled(&place, curvature.as_deref()) {
            return Top { place, curvature };
        }
        let place = self.climb(start, SHORT);
        let curvature = self.curvature(target, &place.z);
        Top { place, curvature }
    }

    /// Adds the tops that lie around: from where the target is expected before data, and from rounds of so
    /// many random points. The tops of the parts of a mixture, each by itself.
    fn widely(
        &mut self,
        target: &dyn Target,
        options: &Options,
        others: u64,
        tops: &mut Vec<Top>,
    ) -> Vec<Top> {
        let random = |k: u64| -> Vec<f64> {
            let mut stream = Stream::new(options.seed, PURPOSE, 1000 + k);
            (0..target.dimension()).map(|_| 4.0 * stream.uniform() - 2.0).collect()
        };
        let mut ends: Vec<f64> = tops.iter().filter(|t| t.is_settled()).map(|t| t.place.value).collect();
        let expected = expected(target, &options.stop);
        let branches = of_branches(target, expected.as_deref(), &options.stop);
        let mut starts: Vec<Vec<f64>> = branches.iter().map(|top| top.place.z.clone()).collect();
        starts.extend(dispersed(target, expected.as_deref(), others, options.seed));
        starts.extend(expected);
        for round in 0..ROUNDS {
            starts.extend((round * others..(round + 1) * others).map(random));
            ends.extend(self.add(target, std::mem::take(&mut starts), tops));
            let long = target.solves_equations() || self.gradients * target.operations() > LONG;
            if long || options.stop.requested() || !is_doubtful(&ends) {
                break;
            }
        }
        branches
    }

    /// Adds the tops that searches from some points lead to, where they are tops and new. The points are
    /// followed side by side, none further than to a top that is known. How high the tops are that they lead
    /// to.
    fn add(&mut self, target: &dyn Target, starts: Vec<Vec<f64>>, tops: &mut Vec<Top>) -> Vec<f64> {
        let (known, stop) = (&*tops, self.stop);
        let follow = |z: Vec<f64>| {
            let mut evaluator = target.evaluator();
            let mut search = Search { evaluator: evaluator.as_mut(), gradients: 0, stop };
            let start = search.place(z).filter(|_| !stop.requested());
            let place = start.map(|start| {
                search.climb_past(start, STEPS, &mut |at| match known.iter().any(|t| same(t, at)) {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                })
            });
            (place, search.gradients)
        };
        let found: Vec<(Option<Place>, usize)> = starts.into_par_iter().map(follow).collect();
        let mut ends = Vec::new();
        for (place, gradients) in found {
            self.gradients += gradients;
            let Some(place) = place else { continue };
            let known = |place: &Place| tops.iter().find(|t| same(t, place)).map(|t| t.place.value);
            if let Some(value) = known(&place) {
                ends.push(value);
                continue;
            }
            let top = self.top(target, place, true);
            if let Some(value) = known(&top.place) {
                ends.push(value);
            } else if top.is_settled() || self.is_new_peak(&top.place, tops) {
                ends.push(top.place.value);
                tops.push(top);
            }
        }
        ends
    }

    /// Whether a place that curvature does not call a top is one all the same, as where the log density has a
    /// kink, and on a hill of its own. Searches end short of a kink, each elsewhere: between two on one hill
    /// it is not lower.
    fn is_new_peak(&mut self, place: &Place, tops: &[Top]) -> bool {
        let between = |t: &Top| t.place.z.iter().zip(&place.z).map(|(a, b)| 0.5 * (a + b)).collect();
        let points: Vec<Vec<f64>> = tops.iter().map(between).collect();
        self.gradients += points.len();
        let values = other_modes::evaluate(self.evaluator, &points);
        let valleys = values.iter().all(|value| *value < place.value - VALLEY);
        valleys && self.climb(place.clone(), SHORT).value < place.value + STUCK
    }

    /// Where else the log density is high, seen from a top.
    fn elsewhere(&mut self, target: &dyn Target, top: &Top) -> Vec<Vec<f64>> {
        let so_far = self.gradients;
        let curvature = top.curvature.as_deref();
        let found = other_modes::starts(target, self.evaluator, &top.place, curvature, LOOKS * so_far);
        self.gradients += found.evaluations;
        // No more than the searches before have taken.
        let most = self.gradients + so_far;
        let mut climbed: Vec<Place> = Vec::new();
        for z in found.on_lines {
            if self.gradients > most {
                break;
            }
            let Some(start) = self.place(z) else { continue };
            let place = self.climb(start, SHORT);
            // Several may lead to the same.
            let known = |other: &Place| (other.value - place.value).abs() < 1e-3;
            if place.value > top.place.value - BEHIND && !same(top, &place) && !climbed.iter().any(known) {
                climbed.push(place);
            }
        }
        climbed.sort_by(|a, b| b.value.total_cmp(&a.value));
        found.high.into_iter().chain(climbed.into_iter().take(FROM_LINES).map(|place| place.z)).collect()
    }

    /// A kink has no curvature: that of a normal density that has fallen by half a nat where this one has,
    /// along each coordinate.
    fn by_falls(&mut self, mut top: Top) -> Top {
        let d = top.place.z.len();
        let mut curvature = vec![0.0; d * d];
        for i in 0..d {
            let mut fallen = |away: f64| {
                let mut z = top.place.z.clone();
                z[i] += away;
                other_modes::evaluate(self.evaluator, &[z])[0] < top.place.value - 0.5
            };
            let widths = (-FALLS..=FALLS).map(|k| 2.0_f64.powi(k));
            let Some(width) = { widths }.find(|w| fallen(*w) && fallen(-w)) else { return top };
            curvature[i * d + i] = width.powi(-2);
        }
        self.gradients += d * FALLS as usize;
        top.place.slope.fill(0.0);
        Top { curvature: Some(curvature), ..top }
    }
}
