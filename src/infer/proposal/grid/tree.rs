//! Finds the cells of a grid: from the centre outwards while the density is high, each cut in two while the
//! density differs within it.
//!
//! A ridge that is thin and bent, or a mode far from the centre, takes small cells along it and nowhere else:
//! beside a cell that matters none is much larger, so that what goes on from there is seen at its own width.

use crate::infer::gaussian::Gaussian;
use crate::infer::proposal::grid::axis::{Axis, Corner, Cut, PARTS};
use crate::infer::proposal::grid::axis::{MOST, MOST_SEARCHED, MOST_UNCUT};
use crate::infer::proposal::grid::leaf::Leaf;
use crate::infer::proposal::placement::Placement;
use crate::num::special::log_sum_exp;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Whole cells in one, two, three and four coordinates. Along one coordinate there may be many, so that
/// another mode far away is seen as it is.
const WHOLE: [Cut; MOST] = [
    Cut { width: 0.2, even: 60, wider: 1.03, side: 300 },
    Cut { width: 0.8, even: 6, wider: 1.3, side: 28 },
    Cut { width: 0.8, even: 6, wider: 1.3, side: 28 },
    Cut { width: 0.8, even: 6, wider: 1.3, side: 28 },
];
/// The same where an evaluation costs more, and cells are not cut; and how much wider they are made where
/// there are too many.
const UNCUT: [Cut; MOST_UNCUT] = [
    WHOLE[0],
    Cut { width: 0.4, even: 12, wider: 1.15, side: 50 },
    Cut { width: 0.7, even: 12, wider: 1.15, side: 50 },
];
const COARSER: [f64; 3] = [1.0, 1.6, 2.5];
/// Cells whose log density is this far below the highest have no neighbours worth a look; and where each
/// evaluation takes a search.
const BELOW: [f64; MOST] = [25.0, 11.0, 11.0, 11.0];
const BELOW_SEARCHED: f64 = 11.0;
/// The same of what cells add to second moments, which fall off slowly where tails are heavy: a standard
/// deviation comes from these. (Of a Gaussian they are lost within what is looked at anyway.)
const BELOW_OF_SQUARES: f64 = 6.0;
/// How far from a whole cell its neighbours are looked at together; and where cells are not cut.
const REACH: [i64; MOST] = [8, 1, 1, 1];
const REACH_UNCUT: [i64; MOST_UNCUT] = [8, 2, 1];
/// Most coordinates in which all whole cells are looked at.
const EVERYWHERE: usize = 2;
/// Evaluations for each of these, at least; and how far these lie from the centre, in each coordinate of the
/// posterior, or in standard deviations: beyond, functions take long that take little elsewhere.
const FEW_OF_ALL: usize = 3;
const WITHIN: f64 = 10.0;
const WITHIN_EACH: f64 = 12.0;
/// Most evaluations, and additions and multiplications that these take; where cells are not cut; and where
/// each evaluation takes a search.
const EVALUATIONS: [usize; MOST] = [10_000, 150_000, 200_000, 300_000];
const OPERATIONS: usize = 2_000_000_000;
/// Gradients that an evaluation takes where other coordinates are integrated out, and where that takes a
/// search.
const NOT_CHEAP: usize = 4;
const SEARCHED: usize = 20;
const EVALUATIONS_UNCUT: [usize; MOST_UNCUT] = [4000, 4000, 16_000];
const EVALUATIONS_SEARCHED: usize = 900;
/// What a cell may add to the variance of weights: less and less, until all of them together add no more than
/// What they may add where there are as many as there may be.
const USABLE: f64 = 0.35;
/// Cells evaluated together.
const TOGETHER: usize = 64;

/// A part of a grid.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Leaf(Leaf),
    /// Cut in two along a coordinate at a place.
    Cut {
        along: usize,
        at: u32,
        parts: [usize; 2],
    },
}

/// Cells, and where each whole one is.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::infer) struct Tree {
    pub(super) axis: Axis,
    pub(super) roots: BTreeMap<Corner, usize>,
    pub(super) nodes: Vec<Node>,
    pub(super) d: usize,
    pub(super) evaluations: usize,
}

/// What is looked at, and how closely.
pub(super) struct Look<'a> {
    pub(super) flow: &'a dyn Placement,
    pub(super) q: &'a Gaussian,
    /// The factor of that, by rows.
    pub(super) factor: &'a [f64],
    pub(super) below: f64,
    pub(super) reach: i64,
    pub(super) most: usize,
}

/// Cells about the mean of a Gaussian, with a factor for their scales, cut finely about some points; and what
/// is left of unevenness. None where the density does not fall off within reach, or where it takes too many
/// of them.
pub(in crate::infer) fn grown(
    flow: &dyn Placement,
    q: &Gaussian,
    factor: &[f64],
    about: &[Vec<f64>],
) -> Option<(Tree, f64)> {
    let d = q.mean.len();
    let (most_uncut, gradients) = match (flow.places_cheaply(), flow.searches_each_draw()) {
        (true, _) => (0, 1),
        (false, false) => (MOST_UNCUT, NOT_CHEAP),
        (false, true) => (MOST_SEARCHED, SEARCHED),
    };
    if d <= most_uncut {
        return uncut(flow, q, factor).map(|tree| (tree, 0.0));
    }
    let each = flow.model().operations().max(1) * gradients;
    let most = EVALUATIONS[d - 1].min(OPERATIONS / each);
    let look = Look { flow, q, factor, below: BELOW[d - 1], reach: REACH[d - 1], most };
    let mut tree = Tree::new(WHOLE[d - 1], d).follow(&look)?;
    if d <= EVERYWHERE && tree.axis.count().pow(d as u32) as usize * FEW_OF_ALL < most {
        tree.look_everywhere(&look);
    }
    tree.note_slopes();
    about.iter().for_each(|point| tree.descend(&look, point));
    let uneven = tree.refine(&look);
    (uneven < USABLE).then_some((tree, uneven))
}

/// Whole cells alone, as small as their number allows.
fn uncut(flow: &dyn Placement, q: &Gaussian, factor: &[f64]) -> Option<Tree> {
    let d = q.mean.len();
    let (below, most) = if flow.searches_each_draw() {
        (BELOW_SEARCHED, EVALUATIONS_SEARCHED)
    } else {
        (BELOW[d - 1], EVALUATIONS_UNCUT[d - 1])
    };
    let look = Look { flow, q, factor, below, reach: REACH_UNCUT[d - 1], most };
    let cut = UNCUT[d - 1];
    COARSER.iter().find_map(|by| Tree::new(Cut { width: by * cut.width, ..cut }, d).follow(&look))
}

impl Look<'_> {
    /// How far coordinate `i` of the posterior is from its centre at a point of the grid.
    pub(super) fn moved(&self, point: &[f64; MOST], i: usize) -> f64 {
        (0..=i).map(|k| self.factor[i * self.q.mean.len() + k] * point[k]).sum()
    }
}

impl Node {
    pub(super) fn leaf(&self) -> Option<&Leaf> {
        match self {
            Node::Leaf(leaf) => Some(leaf),
            Node::Cut { .. } => None,
        }
    }
}

impl Tree {
    fn new(cut: Cut, d: usize) -> Tree {
        Tree { axis: Axis::new(cut), roots: BTreeMap::new(), nodes: Vec::new(), d, evaluations: 0 }
    }

    /// All cells, in the order in which they were made.
    pub(in crate::infer) fn leaves(&self) -> impl Iterator<Item = &Leaf> {
        self.nodes.iter().filter_map(Node::leaf)
    }

    /// The logarithm of the mass of all cells.
    pub(in crate::infer) fn log_mass(&self) -> f64 {
        log_sum_exp(&self.leaves().map(|leaf| self.log_mass_of(leaf)).collect::<Vec<_>>())
    }

    /// Gives each cell another density, in the same order.
    pub(in crate::infer) fn set_logs(&mut self, logs: &[f64]) {
        let leaves = self.nodes.iter_mut().filter_map(|node| match node {
            Node::Leaf(leaf) => Some(leaf),
            Node::Cut { .. } => None,
        });
        leaves.zip(logs).for_each(|(leaf, log)| leaf.log = *log);
    }

    /// The logarithm of the density in the cell that a point lies in, if there is one.
    pub(in crate::infer) fn log_at(&self, point: &[f64]) -> Option<f64> {
        let mut place = [0; MOST];
        for (place, x) in place.iter_mut().zip(point) {
            *place = self.axis.place(*x)?;
        }
        self.leaf(self.holding(&place)?).map(|leaf| leaf.log)
    }

    pub(super) fn leaf(&self, node: usize) -> Option<&Leaf> {
        self.nodes[node].leaf()
    }

    /// With the whole cells from the centre on while the density is high; None if there are too many.
    fn follow(mut self, look: &Look) -> Option<Tree> {
        let mut top = f64::NEG_INFINITY;
        let centre: Corner = self.corner(|_| self.axis.centre());
        let mut open = vec![centre];
        while !open.is_empty() {
            let new = self.add_whole(look, &open);
            top = new.iter().filter_map(|&node| self.leaf(node)).fold(top, |top, leaf| top.max(leaf.middle));
            if self.evaluations > look.most || !top.is_finite() {
                return None;
            }
            let high =
                new.iter().filter_map(|&node| self.leaf(node)).filter(|leaf| self.counts(leaf, top, look));
            let near: BTreeSet<Corner> =
                high.flat_map(|leaf| self.whole_beside(&leaf.corner, look.reach)).collect();
            open = near.into_iter().filter(|corner| !self.roots.contains_key(corner)).collect();
        }
        Some(self)
    }

    pub(super) fn corner(&self, of: impl Fn(usize) -> u32) -> Corner {
        std::array::from_fn(|i| if i < self.d { of(i) } else { 0 })
    }

    /// Looks at all whole cells that are not too far away.
    fn look_everywhere(&mut self, look: &Look) {
        let count = self.axis.count();
        let most: Vec<f64> = look.q.scales().iter().map(|s| WITHIN.max(WITHIN_EACH * s)).collect();
        let sides = self.corner(|_| PARTS);
        let near = |corner: &Corner| {
            let middle = self.middle(corner, &sides);
            (0..self.d).all(|i| look.moved(&middle, i).abs() < most[i])
        };
        let all =
            (0..count.pow(self.d as u32)).map(|k| self.corner(|i| k / count.pow(i as u32) % count * PARTS));
        let new: Vec<Corner> =
            all.filter(|corner| !self.roots.contains_key(corner) && near(corner)).collect();
        self.add_whole(look, &new);
    }

    /// Adds whole cells.
    pub(super) fn add_whole(&mut self, look: &Look, corners: &[Corner]) -> Vec<usize> {
        let sides = self.corner(|_| PARTS);
        let middles: Vec<[f64; MOST]> = corners.iter().map(|corner| self.middle(corner, &sides)).collect();
        let logs = self.evaluate(look, &middles);
        let cell = |(&corner, log)| Leaf { corner, sides, middle: log, log, slopes: [0.0; MOST] };
        self.plant(corners.iter().zip(logs).map(cell).collect())
    }

    /// Notes where whole cells are.
    pub(super) fn plant(&mut self, leaves: Vec<Leaf>) -> Vec<usize> {
        let first = self.nodes.len();
        for leaf in leaves {
            self.roots.insert(leaf.corner, self.nodes.len());
            self.nodes.push(Node::Leaf(leaf));
        }
        (first..self.nodes.len()).collect()
    }

    /// The log density at points; minus infinity where it is none.
    pub(super) fn evaluate(&mut self, look: &Look, points: &[[f64; MOST]]) -> Vec<f64> {
        self.evaluations += points.len();
        let d = self.d;
        let some = |points: &[[f64; MOST]]| {
            let n = points.len();
            let mut w = vec![0.0; d * n];
            for (b, point) in points.iter().enumerate() {
                for i in 0..d {
                    w[i * n + b] = look.q.mean[i] + look.moved(point, i);
                }
            }
            look.flow.alone(w, n)
        };
        let logs: Vec<f64> = points.par_chunks(TOGETHER).flat_map_iter(some).collect();
        logs.into_iter().map(|log| if log.is_finite() { log } else { f64::NEG_INFINITY }).collect()
    }

    /// Where a cell lies along a coordinate.
    pub(in crate::infer) fn span(&self, leaf: &Leaf, i: usize) -> [f64; 2] {
        [self.axis.at(leaf.corner[i]), self.axis.at(leaf.corner[i] + leaf.sides[i])]
    }

    /// The middle of a cell.
    pub(super) fn middle(&self, corner: &Corner, sides: &Corner) -> [f64; MOST] {
        let middle = |i: usize| 0.5 * (self.axis.at(corner[i]) + self.axis.at(corner[i] + sides[i]));
        std::array::from_fn(|i| if i < self.d { middle(i) } else { 0.0 })
    }

    /// The logarithm of the size of a cell.
    pub(in crate::infer) fn log_size(&self, leaf: &Leaf) -> f64 {
        (0..self.d).map(|i| self.span(leaf, i)).map(|[from, to]| (to - from).ln()).sum()
    }

    /// The logarithm of the mass of a cell.
    pub(in crate::infer) fn log_mass_of(&self, leaf: &Leaf) -> f64 {
        leaf.log + self.log_size(leaf)
    }

    /// The logarithm of one and the square of the distance of a cell from the centre.
    pub(super) fn log_square(&self, leaf: &Leaf) -> f64 {
        self.middle(&leaf.corner, &leaf.sides).iter().map(|x| x * x).sum::<f64>().ln_1p()
    }

    /// The logarithms of the mass of a cell, and of its second moment and its mass.
    pub(super) fn log_masses(&self, leaf: &Leaf) -> [f64; 2] {
        let mass = self.log_mass_of(leaf);
        [mass, mass + self.log_square(leaf)]
    }

    /// Whether a whole cell counts beside the highest: by its density, or by its size and the square of its
    /// distance.
    pub(super) fn counts(&self, leaf: &Leaf, top: f64, look: &Look) -> bool {
        let below = leaf.middle - top;
        let at_centre = 2.0 * self.axis.at(self.axis.centre() + PARTS);
        let wider = self.log_size(leaf) - self.d as f64 * at_centre.ln();
        below > -look.below || below + self.log_square(leaf) + wider > -BELOW_OF_SQUARES
    }

    /// The corners of whole cells up to so many away; in more than two coordinates only along the axes:
    /// others are reached in turn.
    pub(super) fn whole_beside(&self, corner: &Corner, reach: i64) -> Vec<Corner> {
        let end = i64::from(self.axis.count() * PARTS);
        let mut out = vec![*corner];
        for i in 0..self.d {
            let from = if self.d > EVERYWHERE { vec![*corner] } else { out.clone() };
            for (from, by) in from.iter().flat_map(|from| (-reach..=reach).map(move |by| (from, by))) {
                let to = i64::from(from[i]) + by * i64::from(PARTS);
                if by != 0 && (0..end).contains(&to) {
                    let mut next = *from;
                    next[i] = to as u32;
                    out.push(next);
                }
            }
        }
        out
    }

    /// The cell that a place lies in.
    pub(super) fn holding(&self, place: &Corner) -> Option<usize> {
        let mut node = *self.roots.get(&place.map(|x| x & !(PARTS - 1)))?;
        while let Node::Cut { along, at, parts } = &self.nodes[node] {
            node = parts[usize::from(place[*along] >= *at)];
        }
        Some(node)
    }
}
