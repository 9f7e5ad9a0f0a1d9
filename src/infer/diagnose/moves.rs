//! What may be done to the coordinates of parameters without a change of the posterior: signs, exchanges of
//! labels.

use crate::lower::{Form, Parameter};
use crate::target::ModelTarget;

/// Moves of which a few are tried together, and how many.
const MOST_MOVES: usize = 12;
const TOGETHER: usize = 3;
/// Most sets in which labels change places in all parameters but one.
const MOST_RELABELLED: usize = 200;
/// Longest axis whose places may be labels.
const LABELS: usize = 10;
/// Slopes are the same if they differ by less, relative to the largest of their parameter.
const SAME_SLOPE: f64 = 1e-6;

/// What may be done to one parameter.
#[derive(Clone, PartialEq)]
pub(super) enum How {
    /// Its coordinates change sign.
    Mirror,
    /// The first two places of an axis, or of two, which have so many, change places.
    Exchange { axes: Vec<usize>, size: usize },
}

pub(super) struct Move<'a> {
    pub(super) parameter: &'a Parameter,
    pub(super) dims: &'a [usize],
    pub(super) how: How,
}

/// Axes of a parameter before those of one event (a simplex, say).
fn batch_axes(parameter: &Parameter, dims: &[usize]) -> usize {
    match &parameter.form {
        Form::Transformed { transform, .. } => dims.len() - transform.event,
        Form::Noncentered => dims.len(),
    }
}

impl Move<'_> {
    pub(super) fn batch_axes(&self) -> usize {
        batch_axes(self.parameter, self.dims)
    }

    /// Whether the slopes of the parameter have moved with it, from `before` to `after`. Those of a simplex
    /// are not looked at.
    pub(super) fn moves_slopes(&self, before: &[f64], after: impl Fn(usize) -> f64) -> bool {
        let Parameter { offset, size, .. } = *self.parameter;
        let mut own = before[offset..offset + size].to_vec();
        match &self.how {
            How::Mirror => own.iter_mut().for_each(|g| *g = -*g),
            How::Exchange { axes, .. } if axes.iter().all(|axis| *axis < self.batch_axes()) => {
                axes.iter().for_each(|&axis| exchange(&mut own, self.dims, axis));
            }
            How::Exchange { .. } => return true,
        }
        let largest = own.iter().fold(1.0_f64, |m, g| m.max(g.abs()));
        own.iter().enumerate().all(|(i, g)| (g - after(offset + i)).abs() <= SAME_SLOPE * largest)
    }
}

/// What may be done to each parameter.
pub(super) fn moves(target: &ModelTarget) -> Vec<Move<'_>> {
    let lowered = target.lowered();
    let mut all = Vec::new();
    for parameter in &lowered.parameters {
        let dims = lowered.graph.node(parameter.named.node).dims.as_slice();
        all.extend(hows(parameter, dims).into_iter().map(|how| Move { parameter, dims, how }));
    }
    all
}

fn hows(parameter: &Parameter, dims: &[usize]) -> Vec<How> {
    let name = parameter.form.transform_name();
    let axes = batch_axes(parameter, dims) + usize::from(name == "simplex");
    let labels: Vec<usize> = (0..axes).filter(|&axis| (2..=LABELS).contains(&dims[axis])).collect();
    let one = labels.iter().map(|&axis| vec![axis]);
    // From each label to each other, say.
    let pairs = labels.iter().flat_map(|&a| labels.iter().map(move |&b| vec![a, b]));
    let two = pairs.filter(|pair| pair[0] < pair[1] && dims[pair[0]] == dims[pair[1]]);
    let exchanges = one.chain(two).map(|axes| How::Exchange { size: dims[axes[0]], axes });
    let mirror = matches!(name, "real" | "interval").then_some(How::Mirror);
    mirror.into_iter().chain(exchanges).collect()
}

/// Moves that may be made together: a few of different parameters, and of labels of which there are as many,
/// those of all parameters or of all but one.
pub(super) fn sets(moves: &[Move]) -> Vec<Vec<usize>> {
    let mut all = few_together(&moves[..moves.len().min(MOST_MOVES)]);
    for size in 2..=LABELS {
        all.extend(relabelled(moves, size).into_iter().filter(|set| set.len() > TOGETHER));
    }
    all
}

/// Exchanges of this many labels in every parameter that may have them, or in all but one.
fn relabelled(moves: &[Move], size: usize) -> Vec<Vec<usize>> {
    let has = |m: &usize| matches!(moves[*m].how, How::Exchange { size: own, .. } if own == size);
    let exchanges: Vec<usize> = (0..moves.len()).filter(has).collect();
    let owner = |m: usize| moves[m].parameter.offset;
    let mut sets: Vec<(Vec<usize>, bool)> = vec![(Vec::new(), false)];
    for own in exchanges.chunk_by(|a, b| owner(*a) == owner(*b)) {
        let with = |(set, less): &(Vec<usize>, bool)| {
            let more: Vec<_> =
                own.iter().map(|&m| (set.iter().copied().chain([m]).collect(), *less)).collect();
            more.into_iter().chain((!less).then(|| (set.clone(), true)))
        };
        sets = sets.iter().flat_map(with).collect();
        sets.truncate(MOST_RELABELLED);
    }
    sets.into_iter().map(|(set, _)| set).collect()
}

/// A few moves of different parameters, and of labels of which there are as many.
fn few_together(moves: &[Move]) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..TOGETHER {
        let until = all.len();
        for k in from..until {
            let first = all[k].last().map_or(0, |m| m + 1);
            for m in first..moves.len() {
                if all[k].iter().all(|&other| fit_together(&moves[other], &moves[m])) {
                    let set = all[k].iter().copied().chain([m]).collect();
                    all.push(set);
                }
            }
        }
        from = until;
    }
    all.split_off(1)
}

fn fit_together(a: &Move, b: &Move) -> bool {
    let sizes = match (&a.how, &b.how) {
        (How::Exchange { size: a, .. }, How::Exchange { size: b, .. }) => a == b,
        (How::Mirror, _) | (_, How::Mirror) => true,
    };
    sizes && a.parameter.offset != b.parameter.offset
}

/// Exchanges the first two places along an axis; what follows the axis moves with them.
pub(super) fn exchange(numbers: &mut [f64], dims: &[usize], axis: usize) {
    let before: usize = dims[..axis].iter().product();
    let each = numbers.len() / (before * dims[axis]);
    for part in numbers.chunks_exact_mut(each * dims[axis]) {
        let (first, rest) = part.split_at_mut(each);
        first.swap_with_slice(&mut rest[..each]);
    }
}
