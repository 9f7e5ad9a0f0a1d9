//! A grid over few coordinates, fine where the density is high and changes: draws from it have weights that
//! hardly differ, whatever the shape of the posterior.
//!
//! Scales of hierarchies have one long tail, towards zero, where the density of their logarithms falls like
//! an exponential; a Student-t around the mode sees it with a few draws and large weights, or not at all.
//! Sums and products that data know well leave ridges that are thin and bent. In few coordinates the density
//! can be looked at everywhere instead.

mod axis;
mod beyond;
mod leaf;
mod refine;
mod tree;

use crate::infer::gaussian::Gaussian;
use crate::infer::proposal::placement::Placement;
use crate::infer::proposal::{Kind, Proposal, one_by_one};
use crate::infer::search::rivals::Rival;
use crate::num::linalg::solve_lower;
use crate::num::real::{F8, Packed};
use crate::num::special::log_sum_exp;
use crate::vi::Scale;
pub(in crate::infer) use axis::{MOST, MOST_SEARCHED, MOST_UNCUT};
use beyond::Beyond;
use leaf::Leaf;
use tree::Tree;

/// Fewest cells, in each coordinate, that the mass is spread over: with fewer the grid is too coarse.
const FEWEST: f64 = 3.0;
/// The smallest scale of coordinates that have nothing to do with the Gaussian.
const LEAST_SCALE: f64 = 0.3;
/// Cells with so much less mass than others, in logarithms, overlook something.
const OVERLOOKED: f64 = 0.05;
/// A cell with less of the mass is left to what reaches beyond all cells.
const NEGLIGIBLE: f64 = 1e-13;
/// A share of the draws has the square root of the density: what is reported may grow where the posterior
/// falls, as the scale of a hierarchy does.
const FLATTER: f64 = 0.2;
/// The share of draws from what reaches beyond the cells.
const BEYOND: f64 = 0.08;

/// A density that is the same all over each cell, mixed with one that reaches beyond.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    mean: Vec<f64>,
    /// Lower factor that takes the coordinates of the grid to those of the posterior.
    factor: Vec<f64>,
    /// The cells, with the logarithm of the density in each.
    tree: Tree,
    /// The mass up to the end of each cell, and the cell.
    masses: Vec<(f64, Leaf)>,
    beyond: Beyond,
}

/// A grid for the coordinates of a Gaussian, others integrated out; None where there are too many of them,
/// where the density does not fall off within reach, or where cells are too coarse. Other modes are looked at
/// closely; one that is thorough is the better of two, in other coordinates.
pub(in crate::infer) fn cells(
    flow: &dyn Placement,
    q: &Gaussian,
    rivals: &[Rival],
    thorough: bool,
) -> Option<Cells> {
    let Scale::Dense(factor) = &q.factor else { return None };
    let d = q.mean.len();
    let most = if flow.outer_margin_is_exact() || !flow.searches_each_draw() { MOST } else { MOST_SEARCHED };
    if !(1..=most).contains(&d) {
        return None;
    }
    let grown = |factor: &[f64]| {
        let place = |other: &Gaussian| {
            let mut point: Vec<f64> = other.mean.iter().zip(&q.mean).map(|(x, m)| x - m).collect();
            solve_lower(factor, d, &mut point);
            point
        };
        let about: Vec<Vec<f64>> = rivals.iter().filter_map(|rival| rival.q.as_ref()).map(place).collect();
        tree::grown(flow, q, factor, &about)
    };
    let first = grown(factor);
    if !thorough || !flow.places_cheaply() {
        return build(q, factor, first?.0);
    }
    // A ridge that is bent, or a funnel that the Gaussian is at the end of, has little to do with its
    // correlations and scales.
    let scales = q.scales();
    let straight: Vec<f64> =
        (0..d * d).map(|p| if p / d == p % d { scales[p / d].max(LEAST_SCALE) } else { 0.0 }).collect();
    let along_axes = Gaussian { mean: q.mean.clone(), factor: Scale::Dense(straight.clone()) };
    let (first, second) = match (first, grown(&straight)) {
        (Some(first), Some(second)) => (first, second),
        (None, second) => return build(&along_axes, &straight, second?.0),
        (first, None) => return build(q, factor, first?.0),
    };
    let mass = |q: &Gaussian, tree: &Tree| tree.log_mass() + q.factor.log_det(d);
    let more = mass(&along_axes, &second.0) - mass(q, &first.0);
    let is_second = if more.abs() > OVERLOOKED { more > 0.0 } else { second.1 < first.1 };
    if is_second { build(&along_axes, &straight, second.0) } else { build(q, factor, first.0) }
}

/// Masses and densities of cells, and what reaches beyond them.
fn build(q: &Gaussian, factor: &[f64], mut tree: Tree) -> Option<Cells> {
    let d = q.mean.len();
    let total = tree.log_mass();
    let share = |leaf: &Leaf| (tree.log_mass_of(leaf) - total).exp();
    let kept = |share: f64| if share > NEGLIGIBLE { share } else { 0.0 };
    let shares: Vec<f64> = tree.leaves().map(|leaf| kept(share(leaf))).collect();
    if !(shares.iter().map(|p| p * p).sum::<f64>().recip() >= FEWEST.powi(d as i32)) {
        return None;
    }
    let beyond = Beyond::around(q, factor, &tree, &shares)?;
    let flat: f64 = shares.iter().map(|p| p.sqrt()).sum();
    let shares: Vec<f64> = shares.iter().map(|p| (1.0 - FLATTER) * p + FLATTER * p.sqrt() / flat).collect();
    let log_det = q.factor.log_det(d);
    let densities: Vec<f64> =
        tree.leaves().zip(&shares).map(|(leaf, p)| p.ln() - tree.log_size(leaf) - log_det).collect();
    tree.set_logs(&densities);
    // In the order of their places, so that numbers that are evenly spread make draws that are.
    let mut drawn: Vec<(f64, Leaf)> =
        shares.into_iter().zip(tree.leaves().copied()).filter(|(share, _)| *share > 0.0).collect();
    drawn.sort_by_key(|(_, leaf)| leaf.corner);
    let mut sum = 0.0;
    let up_to = |(share, leaf)| {
        sum += share;
        (sum, leaf)
    };
    let masses = drawn.into_iter().map(up_to).collect();
    Some(Cells { mean: q.mean.clone(), factor: factor.to_vec(), tree, masses, beyond })
}

impl Proposal for Cells {
    fn kind(&self) -> Kind {
        Kind::Grid
    }

    fn draw(&self, _: &Gaussian, u: Vec<f64>, _: f64, log_q: &mut [f64]) -> Vec<f64> {
        let density = |x: &[F8], room: &mut Vec<F8>| self.log_density(x, room);
        one_by_one(self.mean.len(), u, log_q, |x, beside| self.place(x, beside), density)
    }
}

impl Cells {
    /// Turns uniform numbers into a draw, with two more that decide its cell and how far a tail reaches.
    pub(in crate::infer) fn place(&self, x: &mut [f64], [which, tail]: [f64; 2]) {
        if which < BEYOND {
            return self.beyond.place(x, [which / BEYOND, tail]);
        }
        let mass = (which - BEYOND) / (1.0 - BEYOND);
        let at = self.masses.partition_point(|(m, _)| *m < mass).min(self.masses.len() - 1);
        for (i, x) in x.iter_mut().enumerate() {
            let [from, to] = self.tree.span(&self.masses[at].1, i);
            *x = from + *x * (to - from);
        }
        let d = self.mean.len();
        for i in (0..d).rev() {
            x[i] = self.mean[i] + (0..=i).map(|k| self.factor[i * d + k] * x[k]).sum::<f64>();
        }
    }

    /// The log density at eight points, coordinate by coordinate.
    pub(in crate::infer) fn log_density(&self, x: &[F8], room: &mut Vec<F8>) -> F8 {
        let beyond = self.beyond.log_density(x, room);
        let point = |lane: usize| -> Vec<f64> { x.iter().map(|x| x.lane(lane)).collect() };
        F8(std::array::from_fn(|lane| self.within(point(lane), BEYOND.ln() + beyond.lane(lane))))
    }

    /// The log density at a point, given that of what reaches beyond the cells.
    fn within(&self, mut x: Vec<f64>, beyond: f64) -> f64 {
        x.iter_mut().zip(&self.mean).for_each(|(x, m)| *x -= m);
        solve_lower(&self.factor, self.mean.len(), &mut x);
        match self.tree.log_at(&x) {
            Some(log) => log_sum_exp(&[beyond, (-BEYOND).ln_1p() + log]),
            None => beyond,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::transport::warped::Warped;
    use crate::num::real::Real;
    use crate::num::stream::Stream;
    use crate::target::from_fn;

    /// The log of an exponential number and a normal one that follows it: the first falls off like e^x to the
    /// left.
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
        let cells = cells(&flow, &q, &[], false).unwrap();
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

    /// A ridge that is bent, in every two coordinates: what it adds to a log density and its gradient.
    fn bent(z: &[f64], g: &mut [f64], width: f64) -> f64 {
        let mut log = 0.0;
        for (z, g) in z.chunks_exact(2).zip(g.chunks_exact_mut(2)) {
            let off = (z[1] - z[0] * z[0]) / width;
            (g[0], g[1]) = (-z[0] + 2.0 * z[0] * off / width, -off / width);
            log -= 0.5 * (z[0] * z[0] + off * off);
        }
        log
    }

    /// The mass of cells about the origin, where each two coordinates have these scales.
    fn mass(width: f64, d: usize, scales: [f64; 2]) -> f64 {
        let target = from_fn(d, move |z: &[f64], g: &mut [f64]| bent(z, g, width));
        let factor: Vec<f64> =
            (0..d * d).map(|p| if p / d == p % d { scales[p % d % 2] } else { 0.0 }).collect();
        let q = Gaussian { mean: vec![0.0; d], factor: Scale::Dense(factor.clone()) };
        let (tree, _) = tree::grown(&Warped::flat(&target), &q, &factor, &[]).unwrap();
        (tree.log_mass() + q.factor.log_det(d)).exp()
    }

    /// A ridge seen from its middle has the mass of a normal number and of a narrow one about its square.
    #[test]
    fn bent_ridges_are_followed() {
        for (width, d, scales) in [(0.01, 2, [0.3, 0.01]), (0.3, 4, [0.6, 0.3])] {
            let exact = (2.0 * std::f64::consts::PI * width).powi(d as i32 / 2);
            let found = mass(width, d, scales);
            assert!((found / exact - 1.0).abs() < 0.05, "{d}: {found} against {exact}");
        }
    }
}
