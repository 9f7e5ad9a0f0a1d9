//! Points at which groups of one or two inner coordinates are integrated out, about their modes.

use crate::infer::nested::blocks::{places, sizes};
use crate::infer::nested::lanes::{LANES, Lanes};
use crate::num::hermite;

/// Points for each coordinate, where groups have one at most, and two; one of them is the mode.
const POINTS: [usize; 2] = [7, 7];

/// A product of Gauss-Hermite rules, one for each coordinate of a group. The first point is the mode.
pub(super) struct Rule {
    points: Vec<Point>,
    /// For each standard normal number of a draw its place within its group.
    place: Vec<usize>,
    /// How many coordinates each group has.
    sizes: Vec<usize>,
}

struct Point {
    numbers: [f64; 2],
    log_weight: f64,
}

impl Rule {
    /// For groups of which the largest has one coordinate or two; the group of each standard normal number is
    /// given.
    pub(super) fn new(drawn_group: &[usize]) -> Option<Rule> {
        let place = places(drawn_group);
        let sizes = sizes(drawn_group);
        let largest = sizes.iter().copied().max()?;
        let rule = hermite::Rule::new(*POINTS.get(largest.checked_sub(1)?)?)?;
        let first = || rule.points.iter().zip(&rule.weights);
        let mut points: Vec<Point> = if largest == 1 {
            first().map(|(x, w)| Point { numbers: [*x, 0.0], log_weight: w.ln() }).collect()
        } else {
            let second = |(x, w): (&f64, &f64)| {
                let (x, w) = (*x, *w);
                first().map(move |(y, v)| Point { numbers: [x, *y], log_weight: (w * v).ln() })
            };
            first().flat_map(second).collect()
        };
        let square = |point: &Point| point.numbers[0].powi(2) + point.numbers[1].powi(2);
        points.sort_by(|a, b| square(a).total_cmp(&square(b)));
        points[0].numbers = [0.0; 2];
        Some(Rule { points, place, sizes })
    }

    /// How many points there are.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// The standard normal numbers of all groups at one of the points.
    pub(super) fn numbers(&self, point: usize) -> Vec<Lanes> {
        let of = &self.points[point].numbers;
        self.place.iter().map(|&at| [of[at]; LANES]).collect()
    }

    /// The logarithm of how much one of the points counts for a group, beside the density of the group there:
    /// its weight over the density of the standard normal numbers, relative to that at the mode.
    pub(super) fn counts(&self, point: usize, group: usize) -> f64 {
        let Point { numbers, log_weight } = &self.points[point];
        log_weight + 0.5 * numbers[..self.sizes[group]].iter().map(|u| u * u).sum::<f64>()
    }
}
