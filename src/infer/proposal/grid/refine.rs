//! Cuts the cells of a grid where the density changes, until what is left uneven does not matter.

use crate::infer::proposal::grid::axis::{Corner, MOST, PARTS};
use crate::infer::proposal::grid::leaf::{Leaf, bulge, difference};
use crate::infer::proposal::grid::tree::{Look, Node, Tree};
use crate::num::special::log_sum_exp;
use std::collections::{BTreeMap, BTreeSet};

/// is enough.
const UNEVEN: [f64; 4] = [1e-3, 1e-4, 1e-5, 1e-6];
const ENOUGH: [f64; MOST] = [0.01, 0.03, 0.08, 0.2];
/// A cell with this share of that in the mass, or in the second moment, matters to those beside it, which are
/// no larger than so many times.
const MATTERS: f64 = 0.01;
const LARGER: u32 = 2;

impl Tree {
    /// Notes by how much whole cells differ from those beside them.
    pub(super) fn note_slopes(&mut self) {
        let slope = |leaf: &Leaf, i: usize| {
            let other = |by: i64| {
                let mut corner = leaf.corner;
                corner[i] = u32::try_from(i64::from(corner[i]) + by).ok()?;
                self.leaf(*self.roots.get(&corner)?).map(|other| difference(other.middle, leaf.middle))
            };
            let part = i64::from(PARTS);
            [other(part), other(-part)].into_iter().flatten().fold(0.0, f64::max)
        };
        let slopes: Vec<[f64; MOST]> = self
            .leaves()
            .map(|leaf| std::array::from_fn(|i| if i < self.d { slope(leaf, i) } else { 0.0 }))
            .collect();
        for (node, slopes) in self.nodes.iter_mut().zip(slopes) {
            if let Node::Leaf(leaf) = node {
                (leaf.slopes, leaf.log) = (slopes, leaf.middle + bulge(&slopes));
            }
        }
    }

    /// Cuts the cell about a point until it is even, or as small as can be.
    pub(super) fn descend(&mut self, look: &Look, point: &[f64]) {
        let places: Option<Vec<u32>> = point.iter().map(|x| self.axis.place(*x)).collect();
        let Some(places) = places else { return };
        let place = self.corner(|i| places[i]);
        while let Some(node) = self.holding(&place)
            && let Some(along) = self.leaf(node).and_then(Leaf::steepest)
            && self.evaluations < look.most
        {
            self.cut(look, &[(node, along)]);
        }
    }

    /// Cuts the cells that are uneven, and those beside cells that matter which are much larger; what is left
    /// of unevenness.
    pub(super) fn refine(&mut self, look: &Look) -> f64 {
        for most in UNEVEN {
            let done = loop {
                match self.refine_to(most, look) {
                    Some(true) => {}
                    Some(false) => break self.unevenness() < ENOUGH[self.d - 1],
                    None => break true,
                }
            };
            if done {
                break;
            }
        }
        self.unevenness()
    }

    /// Cuts cells that add more than this to the variance of weights, once, and what comes of them, again and
    /// again; whether there were any, or None if it takes too many.
    pub(super) fn refine_to(&mut self, most: f64, look: &Look) -> Option<bool> {
        let mut fresh: Vec<usize> = (0..self.nodes.len()).filter(|&node| self.leaf(node).is_some()).collect();
        let mut totals = self.totals(&fresh);
        let mut any = false;
        while !fresh.is_empty() {
            let (chosen, beyond) = self.chosen(&fresh, totals, most);
            let needed = 2 * chosen.len() + beyond.len();
            if self.evaluations + (2 * self.d + 1) * needed > look.most {
                return None;
            }
            any |= needed > 0;
            fresh = self.cut(look, &chosen);
            fresh.extend(self.add_measured(look, &beyond));
            let more = self.totals(&fresh);
            totals = std::array::from_fn(|k| log_sum_exp(&[totals[k], more[k]]));
        }
        Some(any)
    }

    /// What all cells add to the variance of weights.
    pub(super) fn unevenness(&self) -> f64 {
        let total = self.log_mass();
        self.leaves().map(|leaf| (self.log_mass_of(leaf) - total).exp() * leaf.unevenness()).sum()
    }

    /// Adds whole cells that are looked at as closely as those that are cut.
    fn add_measured(&mut self, look: &Look, corners: &BTreeSet<Corner>) -> Vec<usize> {
        let sides = self.corner(|_| PARTS);
        let blank = |&corner| Leaf { corner, sides, middle: 0.0, log: 0.0, slopes: [0.0; MOST] };
        let mut leaves: Vec<Leaf> = corners.iter().map(blank).collect();
        self.measure(look, &mut leaves);
        self.plant(leaves)
    }

    /// The logarithms of the mass of cells, and of their second moment and mass.
    fn totals(&self, nodes: &[usize]) -> [f64; 2] {
        let masses: Vec<[f64; 2]> =
            nodes.iter().filter_map(|&node| self.leaf(node)).map(|leaf| self.log_masses(leaf)).collect();
        std::array::from_fn(|k| log_sum_exp(&masses.iter().map(|m| m[k]).collect::<Vec<_>>()))
    }

    /// Which cells to cut, and along which coordinates: of some those that are uneven, and what is much
    /// larger beside them; and whole cells there that nobody has looked at.
    fn chosen(
        &self,
        nodes: &[usize],
        totals: [f64; 2],
        most: f64,
    ) -> (Vec<(usize, usize)>, BTreeSet<Corner>) {
        let (mut chosen, mut beyond): (BTreeMap<usize, usize>, _) = (BTreeMap::new(), BTreeSet::new());
        for &node in nodes {
            let Some(leaf) = self.leaf(node) else { continue };
            let masses = self.log_masses(leaf);
            let share = (masses[0] - totals[0]).max(masses[1] - totals[1]).exp();
            if share * leaf.unevenness() > most
                && let Some(along) = leaf.steepest()
            {
                chosen.insert(node, along);
            }
            if share < MATTERS * most {
                continue;
            }
            for place in self.places_beside(leaf) {
                match self.holding(&place) {
                    Some(node) => {
                        if let Some(along) = self.larger(node, leaf) {
                            chosen.entry(node).or_insert(along);
                        }
                    }
                    None => {
                        beyond.insert(place.map(|x| x & !(PARTS - 1)));
                    }
                }
            }
        }
        (chosen.into_iter().collect(), beyond)
    }

    /// Places just across the middles of the sides of a cell.
    fn places_beside(&self, leaf: &Leaf) -> Vec<Corner> {
        let end = self.axis.count() * PARTS;
        let across = |i: usize, up: bool| {
            let mut place = self.corner(|k| leaf.corner[k] + leaf.sides[k] / 2);
            place[i] = if up { leaf.corner[i] + leaf.sides[i] } else { leaf.corner[i].checked_sub(1)? };
            (place[i] < end).then_some(place)
        };
        (0..2 * self.d).filter_map(|k| across(k / 2, k % 2 == 1)).collect()
    }

    /// The coordinate along which a cell is most larger than another, if it is much larger.
    fn larger(&self, node: usize, than: &Leaf) -> Option<usize> {
        let other = self.leaf(node)?;
        let times = |k: usize| f64::from(other.sides[k]) / f64::from(than.sides[k]);
        let along = (0..self.d).reduce(|a, b| if times(b) > times(a) { b } else { a })?;
        (times(along) > f64::from(LARGER)).then_some(along)
    }

    /// Cuts cells in two, each along a coordinate, and gives the parts.
    fn cut(&mut self, look: &Look, chosen: &[(usize, usize)]) -> Vec<usize> {
        let mut parts: Vec<Leaf> = Vec::with_capacity(2 * chosen.len());
        for &(node, along) in chosen {
            let Node::Leaf(leaf) = &self.nodes[node] else { continue };
            let mut low = *leaf;
            low.sides[along] /= 2;
            let mut high = low;
            high.corner[along] += low.sides[along];
            let (at, first) = (high.corner[along], self.nodes.len() + parts.len());
            parts.extend([low, high]);
            self.nodes[node] = Node::Cut { along, at, parts: [first, first + 1] };
        }
        self.measure(look, &mut parts);
        let first = self.nodes.len();
        self.nodes.extend(parts.into_iter().map(Node::Leaf));
        (first..self.nodes.len()).collect()
    }

    /// Finds the log density at the middle of cells, and half-way from there to each side.
    fn measure(&mut self, look: &Look, leaves: &mut [Leaf]) {
        let each = 2 * self.d + 1;
        let mut points: Vec<[f64; MOST]> = Vec::with_capacity(each * leaves.len());
        for leaf in leaves.iter() {
            let middle = self.middle(&leaf.corner, &leaf.sides);
            points.push(middle);
            for i in 0..self.d {
                let [from, to] = self.span(leaf, i);
                for by in [-0.25, 0.25] {
                    let mut point = middle;
                    point[i] += by * (to - from);
                    points.push(point);
                }
            }
        }
        let logs = self.evaluate(look, &points);
        for (leaf, logs) in leaves.iter_mut().zip(logs.chunks_exact(each)) {
            leaf.note(logs);
        }
    }
}
