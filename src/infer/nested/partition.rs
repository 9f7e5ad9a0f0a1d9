//! Decides which parameters are taken given the others: as many as the log density is quadratic in, or
//! concave.

use crate::infer::search::whiten;
use crate::lower::Form;
use crate::num::linalg::cholesky;
use crate::num::stream::Stream;
use crate::target::{DRAWS, Evaluator, ModelTarget, Target};

/// Who draws: points at which the log density is probed.
const PURPOSE: u64 = 0x7061_7274;
/// Points.
const PROBES: u64 = 3;
/// A second difference of gradients below this share of their size is rounding.
const ROUNDING: f64 = 1e-9;
/// The same of values, beside those that they are the difference of.
const ROUNDING_OF_VALUES: f64 = 1e-8;
/// Most outer coordinates: each costs two evaluations in every gradient.
const MOST_OUTER: usize = 12;
/// Most outer coordinates, and fewest and most inner ones, where Newton's steps are needed.
const MOST_OUTER_CONCAVE: usize = 8;
/// Most where groups are integrated out by a rule, whose gradient costs the same in any number of
/// coordinates.
const MOST_OUTER_INTEGRATED: usize = 150;
/// How many inner coordinates there are for each outer one then, at least.
const MOST_OF_ALL: usize = 3;
const CONCAVE: std::ops::RangeInclusive<usize> = 4..=400;
/// The same where the functions of forms tell that it is concave.
const LARGE: std::ops::RangeInclusive<usize> = 401..=20_000;
/// Half the width of the differences that second derivatives of functions of forms are.
const STEP: f64 = 1e-3;

/// Fewest coordinates of a parameter that may be the effects of groups, where these are searched and where a
/// Gaussian gives them; so many that they are taken alone first, and most.
const FEW_EFFECTS: usize = 3;
const EFFECTS: usize = 10;
const MANY_EFFECTS: usize = 60;
/// Coordinates beside effects that are few.
const FEW_LEFT: usize = 3;
const MOST_EFFECTS: usize = 2000;

/// How the inner coordinates follow from the outer ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// The log density is quadratic in them.
    Quadratic,
    /// Newton's steps lead to their mode.
    Searched,
}

/// Coordinates in two parts, each ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Partition {
    pub(super) inner: Vec<usize>,
    pub(super) outer: Vec<usize>,
    pub(super) how: How,
}

impl Partition {
    /// Whether so many outer coordinates are left that differences in each are too costly.
    pub(super) fn leaves_many(&self) -> bool {
        self.how == How::Searched && self.outer.len() > MOST_OUTER_CONCAVE
    }
}

/// Partitions worth trying, the most promising first.
pub(super) fn partitions(target: &ModelTarget, seed: u64) -> Vec<Partition> {
    let d = target.dimension();
    let mut evaluator = target.evaluator();
    let mut blocks: Vec<(usize, usize)> = real_blocks(target);
    blocks.sort_by_key(|&(offset, size)| (std::cmp::Reverse(size), offset));
    let coordinates = |of: &mut dyn Iterator<Item = &(usize, usize)>| -> Vec<usize> {
        of.flat_map(|&(offset, size)| offset..offset + size).collect()
    };
    let mut inner: Vec<usize> = Vec::new();
    for &(offset, size) in &blocks {
        let wider: Vec<usize> = inner.iter().copied().chain(offset..offset + size).collect();
        if quadratic(&mut *evaluator, d, &wider, seed) {
            inner = wider;
        }
    }
    if inner.len() == d {
        return Vec::new();
    }
    let exact = !inner.is_empty() && d - inner.len() <= MOST_OUTER;
    // Many that are left may be effects of groups themselves, spread by a scale of their own: what is taken
    // exactly is then tried last.
    let most = 2 * inner.len() >= d && d - inner.len() <= MOST_OUTER_CONCAVE;
    let exactly = exact.then(|| split(d, inner, How::Quadratic));
    if let Some(exactly) = exactly.clone().filter(|_| most) {
        return vec![exactly];
    }
    let all = coordinates(&mut blocks.iter());
    let few = |inner: &[usize]| (1..=MOST_OUTER_CONCAVE).contains(&(d - inner.len()));
    let mut out = Vec::new();
    if few(&all) && is_concave(target, &all, seed) {
        out.push(split(d, all, How::Searched));
    }
    // So many are all taken at once.
    let first = usize::from(!out.is_empty() && LARGE.contains(&d));
    // Effects of groups: as few parameters as leave few others, the largest first, because what has few
    // coordinates is shared by all groups; then all that are no single numbers.
    let large = blocks.iter().take_while(|b| b.1 >= FEW_EFFECTS).count();
    let counts = (1..=large).find(|&n| few(&coordinates(&mut blocks[..n].iter()))).into_iter().chain([large]);
    for (place, count) in counts.enumerate() {
        let effects = coordinates(&mut blocks[..count].iter());
        if effects.is_empty()
            || !few(&effects)
            || effects.len() > MOST_EFFECTS
            || out.iter().any(|p: &Partition| p.inner.len() == effects.len())
        {
            continue;
        }
        // With few coordinates left, a grid serves these, and groups that are independent given them have
        // weights of their own.
        let at = match effects.len() {
            n if n >= MANY_EFFECTS => (first + place).min(out.len()),
            n if d - n <= FEW_LEFT => 0,
            _ => out.len(),
        };
        out.insert(at, split(d, effects, How::Searched));
    }
    let mut integrated = Vec::new();
    // The largest parameter, and others as large, where they are most of all coordinates and their groups can
    // be integrated out.
    let largest = blocks.first().map_or(0, |b| b.1);
    let as_large = blocks.iter().take_while(|b| b.1 == largest).count();
    for count in if as_large > 1 { vec![as_large, 1] } else { vec![as_large] } {
        let effects = coordinates(&mut blocks[..count].iter());
        let left = d - effects.len();
        if (MOST_OUTER_CONCAVE + 1..=MOST_OUTER_INTEGRATED).contains(&left)
            && (MOST_OF_ALL * left..=MOST_EFFECTS).contains(&effects.len())
        {
            integrated.push(split(d, effects, How::Searched));
        }
    }
    out.splice(0..0, integrated);
    // A few coordinates taken exactly leave many to fit: better than nothing.
    out.extend(exactly);
    out
}

/// All parameters that are arrays of numbers with or without bounds, given the others, if some have bounds
/// and few others are left.
pub(super) fn bounded(target: &ModelTarget) -> Option<Partition> {
    let is_bounded = |form: &Form| ["interval", "lower", "upper"].contains(&form.transform_name());
    let parameters = target.lowered().parameters.iter().filter(|p| is_bounded(&p.form));
    let with_bounds = parameters.map(|p| (p.offset, p.size)).filter(|b| b.1 >= FEW_EFFECTS);
    let with_bounds: Vec<(usize, usize)> = with_bounds.collect();
    let others = real_blocks(target).into_iter().filter(|b| b.1 >= EFFECTS);
    let d = target.dimension();
    let inner: Vec<usize> =
        with_bounds.iter().copied().chain(others).flat_map(|(offset, size)| offset..offset + size).collect();
    let left = d - inner.len();
    // As many as others at least: a few scales beside a few means are no groups.
    let worth = !with_bounds.is_empty()
        && (1..=MOST_OUTER_CONCAVE).contains(&left)
        && (left..=MOST_EFFECTS).contains(&inner.len());
    worth.then(|| split(d, inner, How::Searched))
}

fn split(d: usize, mut inner: Vec<usize>, how: How) -> Partition {
    inner.sort_unstable();
    let outer = (0..d).filter(|i| inner.binary_search(i).is_err()).collect();
    Partition { inner, outer, how }
}

/// Offset and size of each parameter that its coordinates give by an affine transform.
fn real_blocks(target: &ModelTarget) -> Vec<(usize, usize)> {
    let real = |form: &Form| ["real", "affine", "sum_to_zero"].contains(&form.transform_name());
    let parameters = target.lowered().parameters.iter().filter(|p| real(&p.form) && p.size > 0);
    parameters.map(|p| (p.offset, p.size)).collect()
}

/// A point at which to probe.
fn probe(d: usize, seed: u64, k: u64) -> (Vec<f64>, Stream) {
    let mut stream = Stream::new(seed, PURPOSE, k);
    ((0..d).map(|_| 0.5 * stream.normal()).collect(), stream)
}

/// Whether gradients are affine along random lines within these coordinates, and values what these make of
/// them.
fn quadratic(evaluator: &mut dyn Evaluator, d: usize, within: &[usize], seed: u64) -> bool {
    const STEPS: [f64; 4] = [0.0, 1.0, -1.0, 2.5];
    let mut seen = false;
    for k in 0..PROBES {
        let (z, mut stream) = probe(d, seed, k);
        let mut direction = vec![0.0; d];
        within.iter().for_each(|&i| direction[i] = stream.normal());
        let point = |i: usize, t: f64| z[i] + t * direction[i];
        let points: Vec<f64> = (0..d).flat_map(|i| STEPS.map(|t| point(i, t))).collect();
        let (mut value, mut g) = ([0.0; 4], vec![0.0; 4 * d]);
        evaluator.evaluate(&points, 4, &mut value, &mut g);
        if value.iter().chain(&g).any(|x| !x.is_finite()) {
            continue;
        }
        seen = true;
        let affine = |&i: &usize| {
            let [a, b, c, e] = [0, 1, 2, 3].map(|k| g[4 * i + k]);
            let size = ROUNDING * (a.abs() + b.abs() + c.abs() + e.abs());
            (b + c - 2.0 * a).abs() <= size && (e - a - 2.5 * (b - a)).abs() <= size
        };
        // Values tell of jumps, which are in no gradient.
        let slope = |k: usize| within.iter().map(|&i| g[4 * i + k] * direction[i]).sum::<f64>();
        let bend = slope(1) - slope(0);
        let agrees = |k: usize| {
            let (along, t) = (STEPS[k] * slope(0), STEPS[k]);
            let parts = [value[0], along, 0.5 * t * t * bend];
            let size = value.iter().chain(&parts).map(|x| x.abs()).sum::<f64>();
            (parts.iter().sum::<f64>() - value[k]).abs() <= ROUNDING_OF_VALUES * size
        };
        if !within.iter().all(affine) || !(1..4).all(agrees) {
            return false;
        }
    }
    seen
}

/// Whether the log density is concave in these coordinates: every function of an affine form, where it is a
/// sum of such, or else its Hessian at random points.
fn is_concave(target: &ModelTarget, within: &[usize], seed: u64) -> bool {
    let d = target.dimension();
    let few = CONCAVE.contains(&within.len());
    if !few && !LARGE.contains(&within.len()) {
        return false;
    }
    let Some(curvature) = target.curvature(within) else {
        return few && concave(&mut *target.evaluator(), d, within, seed);
    };
    let points: Vec<Vec<f64>> = (0..DRAWS as u64).map(|k| probe(d, seed, k).0).collect();
    let z: Vec<f64> = (0..d * DRAWS).map(|p| points[p % DRAWS][p / DRAWS]).collect();
    let mut second = Vec::new();
    curvature.evaluator().second(&z, &vec![STEP; curvature.varying().len()], &mut second);
    let most = second.as_flattened().iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    second.as_flattened().iter().all(|x| *x <= ROUNDING * most)
}

/// Whether minus the Hessian within these coordinates is positive definite at random points.
fn concave(evaluator: &mut dyn Evaluator, d: usize, within: &[usize], seed: u64) -> bool {
    (0..PROBES).all(|k| {
        let (z, _) = probe(d, seed, k);
        let Some(h) = whiten::curvature(evaluator, &z) else { return false };
        let mut part: Vec<f64> = within
            .iter()
            .flat_map(|&i| within.iter().map(move |&j| (i, j)))
            .map(|(i, j)| h[i * d + j])
            .collect();
        cholesky(&mut part, within.len()).is_ok()
    })
}
