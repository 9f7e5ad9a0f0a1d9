//! A grid over few coordinates, followed from cell to cell while the density is high: draws from it have weights that hardly
//! differ, whatever the shape of the posterior.
//!
//! Scales of hierarchies have one long tail, towards zero, where the density of their logarithms falls like an exponential; a
//! Student-t around the mode sees it with a few draws and large weights, or not at all. In one, two or three coordinates the
//! density can be looked at everywhere instead. Cells are even near the centre of the fitted Gaussian and wider further out.

use super::flow::Flow;
use super::gaussian::Gaussian;
use super::students::Students;
use crate::num::linalg::{cholesky, solve_lower};
use crate::num::real::{F8, Real};
use crate::num::special::{inv_phi, log_sum_exp};
use crate::vi::Scale;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Most coordinates, and most where each evaluation takes a search.
const MOST: usize = 3;
const MOST_DEAR: usize = 2;
/// Width of the cells at the centre in one, two and three coordinates, in standard deviations of the Gaussian.
const WIDTH: [f64; MOST] = [0.2, 0.4, 0.7];
/// Cells of equal width on each side of the centre; each further one is wider by this factor; and all of them. Along one coordinate there may
/// be many, so that another mode far away is seen as it is.
const EVEN: [usize; MOST] = [60, 12, 12];
const WIDER: [f64; MOST] = [1.03, 1.15, 1.15];
const SIDE: [usize; MOST] = [300, 50, 50];
/// Cells whose log density is this far below the highest have no neighbours worth a look; and where each evaluation takes a search.
const CUT: [f64; MOST] = [25.0, 11.0, 11.0];
const CUT_DEAR: f64 = 11.0;
/// The same of what cells add to second moments, which fall off slowly where tails are heavy: a standard deviation comes from these. (Of a
/// Gaussian they are lost within what is looked at anyway.)
const CUT_OF_SQUARES: f64 = 6.0;
/// How far from a cell its neighbours are looked at together, in one, two and three coordinates.
const REACH: [i16; MOST] = [8, 2, 1];
/// Most cells in one, two and three coordinates, where a cone of them may reach far; and most where each evaluation takes a search.
const MOST_CELLS: [usize; MOST] = [4000, 4000, 16_000];
const MOST_CELLS_DEAR: usize = 900;
/// Fewest cells, in each coordinate, that the mass is spread over: with fewer the grid is too coarse.
const FEWEST: f64 = 3.0;
/// Where there are too many cells, they are made so much wider.
const COARSER: [f64; 3] = [1.0, 1.6, 2.5];
/// A share of the draws has the square root of the density: what is reported may grow where the posterior falls, as the scale of a hierarchy
/// does.
const FLATTER: f64 = 0.2;
/// The share of draws from a mixture of Student-t's around the cells, for what lies beyond them.
const BEYOND: f64 = 0.08;
/// Cells evaluated together.
const TOGETHER: usize = 64;

/// The place of a cell: how many cells from the centre in each coordinate.
type Place = [i16; MOST];

/// A density that is the same all over each cell, mixed with one that reaches beyond.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    mean: Vec<f64>,
    /// Lower factor that takes the coordinates of the grid to those of the posterior.
    factor: Vec<f64>,
    /// Where cells end, from the centre outwards.
    ends: Vec<f64>,
    /// Cells in order of their places, with the logarithm of the density.
    cells: Vec<(Place, f64)>,
    /// The mass up to the end of each cell.
    masses: Vec<f64>,
    beyond: Students,
}

/// Where the cells of one side end.
fn ends(width: f64, d: usize) -> Vec<f64> {
    let side = SIDE[d - 1];
    let (mut at, mut width, mut out) = (0.5 * width, width, Vec::with_capacity(side + 1));
    for k in 0..=side {
        out.push(at);
        width *= if k < EVEN[d - 1] { 1.0 } else { WIDER[d - 1] };
        at += width;
    }
    out
}

/// Where a cell begins and ends.
fn span(ends: &[f64], k: i16) -> (f64, f64) {
    let far = usize::from(k.unsigned_abs());
    let (near, end) = (if far == 0 { -ends[0] } else { ends[far - 1] }, ends[far]);
    if k < 0 { (-end, -near) } else { (near, end) }
}

/// Where the middle of a cell is.
fn middle(ends: &[f64], k: i16) -> f64 {
    let (from, to) = span(ends, k);
    0.5 * (from + to)
}

/// The cell that a number falls into, if there is one.
fn cell_of(ends: &[f64], x: f64) -> Option<i16> {
    let far = ends.partition_point(|end| *end < x.abs());
    (far < ends.len()).then_some(if x < 0.0 { -(far as i16) } else { far as i16 })
}

/// A grid for the coordinates of a Gaussian, others integrated out; None where there are too many of them, where the density does
/// not fall off within reach, or where cells are too coarse.
pub(super) fn cells(flow: &dyn Flow, q: &Gaussian) -> Option<Cells> {
    let d = q.mean.len();
    let most = if flow.dear() { MOST_DEAR } else { MOST };
    let Scale::Dense(factor) = &q.factor else { return None };
    if d == 0 || d > most {
        return None;
    }
    let limit = if flow.dear() { MOST_CELLS_DEAR } else { MOST_CELLS[d - 1] };
    COARSER
        .iter()
        .find_map(|by| {
            let ends = ends(by * WIDTH[d - 1], d);
            let found = follow(flow, q, factor, &ends, limit)?;
            Some((ends, found))
        })
        .and_then(|(ends, found)| build(q, factor, ends, found))
}

/// Cells with their log densities, from the centre on while that is high; None if there are too many.
fn follow(
    flow: &dyn Flow,
    q: &Gaussian,
    factor: &[f64],
    ends: &[f64],
    limit: usize,
) -> Option<BTreeMap<Place, f64>> {
    let d = q.mean.len();
    let cut = if flow.dear() { CUT_DEAR } else { CUT[d - 1] };
    let mut found: BTreeMap<Place, f64> = BTreeMap::new();
    let mut open: Vec<Place> = vec![[0; MOST]];
    let mut top = f64::NEG_INFINITY;
    while !open.is_empty() {
        let values = evaluate(flow, q, factor, ends, &open);
        for (place, value) in open.iter().zip(&values) {
            let value = if value.is_finite() { *value } else { f64::NEG_INFINITY };
            found.insert(*place, value);
            top = top.max(value);
        }
        if found.len() > limit || !top.is_finite() {
            return None;
        }
        let high =
            open.iter().zip(&values).filter(|(place, value)| counts(place, **value - top, ends, cut, 1.0));
        let mut next: Vec<Place> = high.flat_map(|(place, _)| neighbours(*place, d)).collect();
        next.sort_unstable();
        next.dedup();
        next.retain(|place| !found.contains_key(place));
        open = next;
    }
    found.retain(|place, value| counts(place, *value - top, ends, cut, 2.0));
    Some(found)
}

/// Whether a cell counts, whose log density is so far from the highest: by its density, or by its size and the square of its distance. More do
/// with more patience.
fn counts(place: &Place, below: f64, ends: &[f64], cut: f64, patience: f64) -> bool {
    let size = |&k: &i16| {
        let (from, to) = span(ends, k);
        ((to - from) / (2.0 * ends[0])).ln()
    };
    let square: f64 = place.iter().map(|&k| middle(ends, k).powi(2)).sum();
    let more = square.ln_1p() + place.iter().map(size).sum::<f64>();
    below > -patience * cut || below + more > -patience * CUT_OF_SQUARES
}

/// The cells near one, itself among them.
fn neighbours(place: Place, d: usize) -> Vec<Place> {
    let reach = REACH[d - 1];
    let mut out = vec![place];
    for i in 0..d {
        let moved = |from: Place, by: i16| {
            let mut to = from;
            to[i] += by;
            (usize::from(to[i].unsigned_abs()) <= SIDE[d - 1]).then_some(to)
        };
        // In three coordinates only along the axes: corners are reached in turn.
        let from = if d == MOST { vec![place] } else { out.clone() };
        out.extend(from.into_iter().flat_map(|p| (-reach..=reach).filter_map(move |by| moved(p, by))));
    }
    out
}

/// The log density at the middle of cells.
fn evaluate(flow: &dyn Flow, q: &Gaussian, factor: &[f64], ends: &[f64], cells: &[Place]) -> Vec<f64> {
    let d = q.mean.len();
    let some = |cells: &[Place]| {
        let n = cells.len();
        let mut w = vec![0.0; d * n];
        for (b, cell) in cells.iter().enumerate() {
            for i in 0..d {
                let moved: f64 = (0..=i).map(|k| factor[i * d + k] * middle(ends, cell[k])).sum();
                w[i * n + b] = q.mean[i] + moved;
            }
        }
        flow.alone(w, n)
    };
    cells.par_chunks(TOGETHER).flat_map_iter(some).collect()
}

/// Masses and densities of cells, and what reaches beyond them.
fn build(q: &Gaussian, factor: &[f64], ends: Vec<f64>, found: BTreeMap<Place, f64>) -> Option<Cells> {
    let d = q.mean.len();
    let size = |place: &Place| (0..d).map(|i| span(&ends, place[i])).map(|(a, b)| (b - a).ln()).sum::<f64>();
    let logs: Vec<f64> = found.iter().map(|(place, value)| value + size(place)).collect();
    let total = log_sum_exp(&logs);
    let shares: Vec<f64> = logs.iter().map(|l| (l - total).exp()).collect();
    if shares.iter().map(|p| p * p).sum::<f64>().recip() < FEWEST.powi(d as i32) {
        return None;
    }
    let beyond = around(q, factor, &ends, &found, &shares)?;
    let flat: f64 = shares.iter().map(|p| p.sqrt()).sum();
    let shares: Vec<f64> = shares.iter().map(|p| (1.0 - FLATTER) * p + FLATTER * p.sqrt() / flat).collect();
    let log_det: f64 = (0..d).map(|i| factor[i * d + i].abs().ln()).sum();
    let density = |(place, p): (&Place, &f64)| (*place, p.ln() - size(place) - log_det);
    let cells: Vec<(Place, f64)> = found.keys().zip(&shares).map(density).collect();
    let masses = shares
        .iter()
        .scan(0.0, |sum, p| {
            *sum += p;
            Some(*sum)
        })
        .collect();
    Some(Cells { mean: q.mean.clone(), factor: factor.to_vec(), ends, cells, masses, beyond })
}

/// A mixture of Student-t's with the mean and the covariance of the cells.
fn around(
    q: &Gaussian,
    factor: &[f64],
    ends: &[f64],
    cells: &BTreeMap<Place, f64>,
    shares: &[f64],
) -> Option<Students> {
    let d = q.mean.len();
    let mean_of =
        |of: &dyn Fn(&Place) -> f64| -> f64 { cells.keys().zip(shares).map(|(c, p)| p * of(c)).sum() };
    let mean: Vec<f64> = (0..d).map(|i| mean_of(&|c| middle(ends, c[i]))).collect();
    let mut spread: Vec<f64> = (0..d * d)
        .map(|p| {
            let (i, j) = (p / d, p % d);
            let within = if i == j { ends[0] * ends[0] / 3.0 } else { 0.0 };
            within + mean_of(&|c| (middle(ends, c[i]) - mean[i]) * (middle(ends, c[j]) - mean[j]))
        })
        .collect();
    cholesky(&mut spread, d).ok()?;
    (0..d).for_each(|i| spread[i * d + i + 1..(i + 1) * d].fill(0.0));
    let through = |i: usize, x: &dyn Fn(usize) -> f64| (0..=i).map(|k| factor[i * d + k] * x(k)).sum::<f64>();
    let centre: Vec<f64> = (0..d).map(|i| q.mean[i] + through(i, &|k| mean[k])).collect();
    let product: Vec<f64> = (0..d * d).map(|p| through(p / d, &|k| spread[k * d + p % d])).collect();
    Students::around(&[(1.0, &centre, &product)])
}

impl Cells {
    /// Turns uniform numbers into a draw, with two more that decide its cell and how far a tail reaches.
    pub(super) fn place(&self, x: &mut [f64], [which, tail]: [f64; 2]) {
        if which < BEYOND {
            x.iter_mut().for_each(|x| *x = inv_phi(*x));
            return self.beyond.place(x, [which / BEYOND, tail]);
        }
        let mass = (which - BEYOND) / (1.0 - BEYOND);
        let at = self.masses.partition_point(|m| *m < mass).min(self.cells.len() - 1);
        for (x, k) in x.iter_mut().zip(self.cells[at].0) {
            let (from, to) = span(&self.ends, k);
            *x = from + *x * (to - from);
        }
        let d = self.mean.len();
        for i in (0..d).rev() {
            x[i] = self.mean[i] + (0..=i).map(|k| self.factor[i * d + k] * x[k]).sum::<f64>();
        }
    }

    /// The log density at eight points, coordinate by coordinate.
    pub(super) fn log_density(&self, x: &[F8], room: &mut Vec<F8>) -> F8 {
        let beyond = self.beyond.log_density(x, room);
        let point = |lane: usize| -> Vec<f64> { x.iter().map(|x| x.lane(lane)).collect() };
        F8(std::array::from_fn(|lane| self.within(point(lane), BEYOND.ln() + beyond.lane(lane))))
    }

    /// The log density at a point, given that of what reaches beyond the cells.
    fn within(&self, mut x: Vec<f64>, beyond: f64) -> f64 {
        x.iter_mut().zip(&self.mean).for_each(|(x, m)| *x -= m);
        solve_lower(&self.factor, self.mean.len(), &mut x);
        let mut place = [0; MOST];
        let inside = place.iter_mut().zip(&x).all(|(k, u)| cell_of(&self.ends, *u).map(|c| *k = c).is_some());
        let at = if inside { self.cells.binary_search_by_key(&place, |c| c.0).ok() } else { None };
        match at {
            Some(at) => log_sum_exp(&[beyond, (-BEYOND).ln_1p() + self.cells[at].1]),
            None => beyond,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::warp::Warped;
    use super::*;
    use crate::num::stream::Stream;
    use crate::target::from_fn;

    /// The log of an exponential number and a normal one that follows it: the first falls off like e^x to the left.
    fn lopsided() -> impl crate::target::Target {
        from_fn(2, |z: &[f64], g: &mut [f64]| {
            let off = z[1] - 0.5 * z[0];
            (g[0], g[1]) = (1.0 - z[0].exp() + 0.5 * off, -off);
            z[0] - z[0].exp() - 0.5 * off * off
        })
    }

    /// The density integrates to one, draws have it, and weights hardly differ.
    #[test]
    fn weights_hardly_differ() {
        let target = lopsided();
        let q = Gaussian { mean: vec![0.0, 0.0], factor: Scale::Dense(vec![1.0, 0.0, 0.5, 1.0]) };
        let flow = Warped::flat(&target);
        let cells = cells(&flow, &q).unwrap();
        let mut stream = Stream::new(3, 1, 1);
        let (mut room, n) = (Vec::new(), 20_000);
        let (mut sum, mut squares, mut first) = (0.0, 0.0, 0.0);
        for _ in 0..n {
            let mut x = [stream.uniform(), stream.uniform()];
            cells.place(&mut x, [stream.uniform(), stream.uniform()]);
            let off = x[1] - 0.5 * x[0];
            let log =
                x[0] - x[0].exp() - 0.5 * off * off - cells.log_density(&x.map(F8::splat), &mut room).lane(0);
            let weight = (log - 0.5 * (2.0 * std::f64::consts::PI).ln()).exp();
            sum += weight;
            squares += weight * weight;
            first += weight * x[0];
        }
        let count = f64::from(n);
        assert!((sum / count - 1.0).abs() < 0.01, "{sum}");
        assert!(sum * sum / squares > 0.85 * count, "{}", sum * sum / squares);
        // The mean of the logarithm of an exponential number is minus Euler's constant.
        assert!((first / sum + 0.577_215_66).abs() < 0.05, "{}", first / sum);
    }

    #[test]
    fn cells_follow_each_other() {
        let ends = ends(0.4, 2);
        for x in [-7.3, -0.21, -0.19, 0.0, 0.2001, 3.0] {
            let k = cell_of(&ends, x).unwrap();
            let (from, to) = span(&ends, k);
            assert!(from <= x && x <= to, "{x}: {k} {from} {to}");
        }
        assert_eq!(cell_of(&ends, 1e9), None);
    }
}
