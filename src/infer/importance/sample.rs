//! Draws from a proposal around a fitted Gaussian, with their log weights.

use crate::infer::approximate::gaussian::Gaussian;
use crate::infer::importance::group_weights::Local;
use crate::infer::importance::summary::Layout;
use crate::infer::importance::weights::Weighed;
use crate::infer::proposal::flow::{Flow, Placed};
use crate::infer::proposal::grid::Cells;
use crate::infer::proposal::student::Students;
use crate::infer::screen::Screen;
use crate::num::linalg::{dot, solve_lower};
use crate::num::real::{F8, LANES, LN_2PI, Real};
use crate::num::slices::inv_phi;
use crate::num::sobol::Sobol;
use crate::num::special::{inv_gamma_p_whole, lgamma, log_sum_exp};
use crate::target::Evaluator;
use crate::vi::Scale;
use rayon::prelude::*;
use std::sync::Arc;

/// Who draws: importance sampling.
const PURPOSE: u64 = 0x7073_6973;
/// Draws evaluated together.
pub(in crate::infer) const BLOCK: usize = 64;
/// Sequences of draws, each scrambled by itself, that take turns block by block: how much they differ tells
/// how good they are.
pub(in crate::infer) const REPLICATES: usize = 16;
/// Uniform numbers of a draw beside its coordinates: its component, and how far its tail reaches.
const BESIDE: usize = 2;
/// A draw no farther from the middle of a Gaussian, in standard deviations beside the root of its dimension,
/// is where the answer is: a log density that is no number there is not to be taken for a density of zero.
const NEAR: f64 = 3.0;
/// Half the degrees of freedom of the heavy-tailed proposal, and these.
const HALF_FREEDOM: u32 = 4;
const FREEDOM: f64 = 2.0 * HALF_FREEDOM as f64;

/// What the draws come from; all have the mean and scale of the fitted Gaussian.
#[derive(Clone, Debug, PartialEq)]
pub enum Proposal {
    /// The Gaussian itself.
    Gaussian,
    /// A multivariate Student-t with eight degrees of freedom: where the target's tails lie between the two,
    /// its weights are largest in the middle and have no tail.
    Student,
    /// A mixture: half of the draws from the Gaussian, the others from a multivariate Student-t with eight
    /// degrees of freedom, or half of those from a Gaussian with Student-t tails (two degrees of freedom) in
    /// so many leading coordinates. Its tails are heavier than either's, and it costs at most half of the
    /// draws.
    Mixture(usize),
    /// Half of the draws from the Gaussian, half from one with Student-t tails (two degrees of freedom) in
    /// every coordinate.
    Heavy,
    /// A mixture that was fitted to weighted draws.
    Adapted(Arc<Students>),
    /// A grid.
    Cells(Arc<Cells>),
}

/// A part of a proposal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Component {
    Gaussian,
    Student,
    Leaders,
}

impl Proposal {
    /// Modes that it began at.
    pub(in crate::infer) fn modes(&self) -> usize {
        match self {
            Proposal::Adapted(mixture) => mixture.modes(),
            Proposal::Gaussian
            | Proposal::Student
            | Proposal::Mixture(_)
            | Proposal::Heavy
            | Proposal::Cells(_) => 1,
        }
    }

    /// The component that a draw comes from, by a uniform number.
    fn component(&self, u: f64) -> Component {
        match self {
            Proposal::Gaussian | Proposal::Adapted(_) | Proposal::Cells(_) => Component::Gaussian,
            Proposal::Student => Component::Student,
            Proposal::Mixture(_) | Proposal::Heavy if u < 0.5 => Component::Gaussian,
            Proposal::Mixture(leaders) if *leaders == 0 || u < 0.75 => Component::Student,
            Proposal::Mixture(_) | Proposal::Heavy => Component::Leaders,
        }
    }
}

/// The first draws of a Gaussian, which judge it and may be the beginning of a sample.
#[derive(Clone, Debug, Default)]
pub(in crate::infer) struct Pilot {
    /// For each block its points in the model (coordinate `i` of point `p` of `n` at `i * n + p`).
    places: Vec<Vec<f64>>,
    /// `log p - log q` of every point.
    pub(in crate::infer) ratios: Vec<f64>,
    local: Local,
    /// A point at which the log density is no number.
    astray: Option<Vec<f64>>,
}

impl Pilot {
    /// The tail shape of the weights of its draws, of so many copies each.
    pub(in crate::infer) fn khat(&self, copies: usize) -> f64 {
        Weighed::new(&Merged::new(&self.ratios, copies).log_weights, &self.local).khat
    }

    /// The outputs at its points: one vector for each output.
    pub(in crate::infer) fn outputs(&self, flow: &dyn Flow, outputs: usize) -> Vec<Vec<f64>> {
        let points = BLOCK * flow.copies();
        let blocks: Vec<Vec<f64>> =
            self.places.par_iter().map(|z| flow.model().constrain_batch(z, points)).collect();
        (0..outputs).map(|j| column(&blocks, points, j)).collect()
    }
}

/// The weights of draws that have several points each.
#[derive(Clone, Debug, Default)]
struct Merged {
    /// For every draw the logarithm of the mean of its points' ratios.
    log_weights: Vec<f64>,
    /// For every point its share of its draw.
    shares: Vec<f64>,
}

impl Merged {
    fn new(ratios: &[f64], copies: usize) -> Merged {
        let mut merged = Merged::default();
        merged.add(ratios, copies);
        merged
    }

    /// Adds draws.
    fn add(&mut self, ratios: &[f64], copies: usize) {
        // A density without end is rounding.
        let known = |r: &f64| if *r < f64::INFINITY { *r } else { f64::NEG_INFINITY };
        if copies == 1 {
            self.log_weights.extend(ratios.iter().map(known));
            return self.shares.resize(self.log_weights.len(), 1.0);
        }
        let ratios: Vec<f64> = ratios.iter().map(known).collect();
        for ratios in ratios.chunks_exact(copies) {
            let total = log_sum_exp(ratios);
            self.log_weights.push(total - (copies as f64).ln());
            let share = |r: &f64| if total.is_finite() { (r - total).exp() } else { 1.0 / copies as f64 };
            self.shares.extend(ratios.iter().map(share));
        }
    }
}

/// Draws of a proposal, block by block: they can be added to.
pub(in crate::infer) struct Sample<'t> {
    flow: &'t dyn Flow,
    q: &'t Gaussian,
    proposal: Proposal,
    /// One for each replicate.
    sobol: Vec<Sobol>,
    pub(in crate::infer) copies: usize,
    /// For each block the outputs (output `j` of point `p` of `n` at `j * n + p`).
    outputs: Vec<Vec<f64>>,
    merged: Merged,
    local: Local,
    /// A point of the model, near the middle of the Gaussian, at which the log density is no number.
    astray: Option<Vec<f64>>,
}

/// Sixty-four draws.
struct Block {
    /// What was wanted of them in the coordinates of the Gaussian, and of their points.
    seen: Vec<f64>,
    wanted: Vec<f64>,
    /// `log p - log q` of every point.
    ratios: Vec<f64>,
    /// Where groups have weights of their own: places of the draws, `log q` of the Gaussian less that of the
    /// proposal, and the parts of the groups.
    local: Option<[Vec<f64>; 3]>,
    /// A point near the middle of the Gaussian at which the log density is no number.
    astray: Option<Vec<f64>>,
}

impl Block {
    fn add_to(self, local: &mut Local) -> (Vec<f64>, Vec<f64>) {
        if let Some([places, shares, gains]) = &self.local {
            local.add(places, shares, gains);
        }
        (self.wanted, self.ratios)
    }
}

impl<'t> Sample<'t> {
    /// No draws yet: they will be those of scrambled Sobol sequences.
    pub(in crate::infer) fn new(
        flow: &'t dyn Flow,
        q: &'t Gaussian,
        proposal: Proposal,
        seed: u64,
    ) -> Sample<'t> {
        let rows = q.mean.len() + flow.standard() + BESIDE;
        let replicate = |r: u64| Sobol::new(rows, seed, PURPOSE + (r << 32));
        let sobol = (0..REPLICATES as u64).into_par_iter().map(replicate).collect();
        let (outputs, merged, local) = (Vec::new(), Merged::default(), Local::default());
        let copies = flow.copies();
        Sample { flow, q, proposal, sobol, copies, outputs, merged, local, astray: None }
    }

    /// Takes the draws of a pilot, of the same Gaussian in the same coordinates with the same seed, as the
    /// first, if they serve.
    pub(in crate::infer) fn begin(&mut self, pilot: &Pilot) {
        if self.proposal == Proposal::Gaussian {
            let (model, points) = (self.flow.model(), BLOCK * self.copies);
            self.outputs = pilot.places.par_iter().map(|z| model.constrain_batch(z, points)).collect();
            self.merged = Merged::new(&pilot.ratios, self.copies);
            self.local = pilot.local.clone();
            self.astray = pilot.astray.clone();
        }
    }

    /// A point of the model, near the middle of the Gaussian, at which the log density is no number.
    pub(in crate::infer) fn astray(&self) -> Option<&[f64]> {
        self.astray.as_deref()
    }

    /// Adds draws until there are `count`, rounded up to whole blocks.
    pub(in crate::infer) fn extend(&mut self, count: usize) {
        let (model, points) = (self.flow.model(), BLOCK * self.copies);
        let have = self.outputs.len();
        for block in self.blocks(have, count, nothing, |z| model.constrain_batch(&z, points)) {
            self.astray = self.astray.take().or_else(|| block.astray.clone());
            let (outputs, ratios) = block.add_to(&mut self.local);
            self.outputs.push(outputs);
            self.merged.add(&ratios, self.copies);
        }
    }

    /// The draws from block `have` on until there are `count`: what is wanted of them in the coordinates of
    /// the Gaussian and of their points in the model, and `log p - log q` of each.
    fn blocks(
        &self,
        have: usize,
        count: usize,
        seen: impl Fn(&[f64]) -> Vec<f64> + Sync,
        wanted: impl Fn(Vec<f64>) -> Vec<f64> + Sync,
    ) -> Vec<Block> {
        let log_det = self.q.factor.log_det(self.q.mean.len());
        let block = |evaluator: &mut Box<dyn Evaluator + '_>, block: usize| {
            let mut log_q = vec![0.0; BLOCK];
            let w = self.points(block, log_det, &mut log_q);
            let places = (self.flow.groups() > 0).then(|| standardised(self.q, &w));
            let seen = seen(&w);
            let mut placed = self.flow.place(w.clone(), BLOCK, evaluator.as_mut());
            let astray = self.first_astray(&w, &placed);
            for (points, q) in placed.log_density.chunks_exact_mut(self.copies).zip(&log_q) {
                points.iter_mut().for_each(|p| *p -= q);
            }
            let local = places.map(|places| {
                let d = self.q.mean.len();
                let share = |(u, q): (&[f64], &f64)| normal(u, d) - log_det - q;
                let shares = places.chunks_exact(d).zip(&log_q).map(share).collect();
                [places, shares, placed.gains]
            });
            Block { seen, wanted: wanted(placed.points), ratios: placed.log_density, local, astray }
        };
        let range = have..count.div_ceil(BLOCK).max(have);
        // Draws of the Gaussian tell its ELBO too, for which each counts.
        let screen = if self.proposal == Proposal::Gaussian { None } else { Screen::new(self.flow, self.q) };
        let evaluator = || {
            let inner = self.flow.model().evaluator();
            match &screen {
                Some(screen) => screen.before(inner),
                None => inner,
            }
        };
        range.into_par_iter().map_init(evaluator, block).collect()
    }

    /// The first point of a block at which the log density is no number, though its draw is near the middle
    /// of the Gaussian.
    fn first_astray(&self, w: &[f64], placed: &Placed) -> Option<Vec<f64>> {
        if placed.log_density.iter().all(|p| !p.is_nan()) {
            return None;
        }
        let d = self.q.mean.len();
        let farthest = (d as f64).sqrt() + NEAR;
        let near: Vec<bool> =
            standardised(self.q, w).chunks_exact(d).map(|u| dot(u, u).sqrt() < farthest).collect();
        let n = placed.log_density.len();
        let p = (0..n).find(|&p| placed.log_density[p].is_nan() && near[p / self.copies])?;
        Some(placed.points.iter().skip(p).step_by(n).copied().collect())
    }

    /// The first `count` draws, rounded up to whole blocks, in the coordinates of the Gaussian, one after
    /// another, and their log weights.
    pub(in crate::infer) fn probes(&self, count: usize) -> (Vec<f64>, Vec<f64>) {
        let d = self.q.mean.len();
        let draws = |w: &[f64]| (0..BLOCK * d).map(|p| w[p % d * BLOCK + p / d]).collect();
        let blocks = self.blocks(0, count, draws, |_| Vec::new());
        let (points, ratios): (Vec<_>, Vec<_>) =
            blocks.into_iter().map(|block| (block.seen, block.ratios)).unzip();
        (points.concat(), Merged::new(&ratios.concat(), self.copies).log_weights)
    }

    /// How its points hang together.
    pub(in crate::infer) fn layout(&self) -> Layout {
        layout(self.copies)
    }

    /// Weights of the draws.
    pub(in crate::infer) fn weigh(&self) -> Weighed {
        Weighed::new(&self.merged.log_weights, &self.local)
    }

    /// The group that an output follows from.
    pub(in crate::infer) fn group_of(&self, output: usize) -> Option<usize> {
        self.flow.group_of(output)
    }

    /// Log weights of the draws.
    pub(in crate::infer) fn log_weights(&self) -> &[f64] {
        &self.merged.log_weights
    }

    /// For every point its share of its draw.
    pub(in crate::infer) fn shares(&self) -> &[f64] {
        &self.merged.shares
    }

    /// Weights of the points, given those of the draws.
    pub(in crate::infer) fn spread(&self, weights: &[f64]) -> Vec<f64> {
        let points = self.merged.shares.chunks_exact(self.copies).zip(weights);
        points.flat_map(|(shares, w)| shares.iter().map(move |s| s * w)).collect()
    }

    /// The points of a block, coordinate by coordinate, and log q at each.
    fn points(&self, block: usize, log_det: f64, log_q: &mut [f64]) -> Vec<f64> {
        let d = self.q.mean.len();
        let mut u = vec![0.0; (d + self.flow.standard() + BESIDE) * BLOCK];
        let first = (block / REPLICATES * BLOCK) as u64;
        self.sobol[block % REPLICATES].fill_uniform(first, BLOCK, &mut u);
        match &self.proposal {
            Proposal::Adapted(mixture) => {
                let coordinates = u.len() - BESIDE * BLOCK;
                let (normal, beside) = u.split_at_mut(coordinates);
                inv_phi(&mut normal[..d * BLOCK]);
                let (which, tails) = beside.split_at_mut(BLOCK);
                mixture.reach(which, tails);
                let density = |x: &[F8], room: &mut Vec<F8>| mixture.log_density(x, room);
                return one_by_one(d, u, log_q, |x, [which, reach]| mixture.place(x, which, reach), density);
            }
            Proposal::Cells(cells) => {
                let density = |x: &[F8], room: &mut Vec<F8>| cells.log_density(x, room);
                return one_by_one(d, u, log_q, |x, beside| cells.place(x, beside), density);
            }
            Proposal::Gaussian | Proposal::Student | Proposal::Mixture(_) | Proposal::Heavy => {}
        }
        log_q.copy_from_slice(&place(self.q, &self.proposal, &mut u, log_det));
        let mut z = u[..u.len() - BESIDE * BLOCK].to_vec();
        self.q.factor.apply(&u[..d * BLOCK], [d, BLOCK], &mut z[..d * BLOCK]);
        z.chunks_exact_mut(BLOCK).zip(&self.q.mean).for_each(|(row, m)| row.iter_mut().for_each(|z| *z += m));
        z
    }

    /// All values of output `j`, point by point.
    pub(in crate::infer) fn column(&self, j: usize) -> Vec<f64> {
        column(&self.outputs, BLOCK * self.copies, j)
    }
}

/// For draws that are wanted as points of the model alone.
fn nothing(_: &[f64]) -> Vec<f64> {
    Vec::new()
}

/// Output `j` of blocks of so many points.
fn column(blocks: &[Vec<f64>], points: usize, j: usize) -> Vec<f64> {
    let mut out = Vec::with_capacity(blocks.len() * points);
    blocks.iter().for_each(|block| out.extend_from_slice(&block[j * points..(j + 1) * points]));
    out
}

/// A few draws of a Gaussian, to judge it.
pub(in crate::infer) fn pilot(flow: &dyn Flow, q: &Gaussian, draws: usize, seed: u64) -> Pilot {
    let blocks = Sample::new(flow, q, Proposal::Gaussian, seed).blocks(0, draws, nothing, |z| z);
    let mut local = Local::default();
    let astray = blocks.iter().find_map(|block| block.astray.clone());
    let (places, ratios): (Vec<_>, Vec<_>) = blocks.into_iter().map(|block| block.add_to(&mut local)).unzip();
    Pilot { places, ratios: ratios.concat(), local, astray }
}

/// How the points of draws of so many copies hang together.
pub(in crate::infer) fn layout(copies: usize) -> Layout {
    Layout { copies, replicates: REPLICATES }
}

/// `log p - log q` at so many draws of a Gaussian.
pub(in crate::infer) fn log_weights(flow: &dyn Flow, q: &Gaussian, draws: usize, seed: u64) -> Vec<f64> {
    let blocks = Sample::new(flow, q, Proposal::Gaussian, seed).blocks(0, draws, nothing, |_| Vec::new());
    blocks.into_iter().flat_map(|block| block.ratios).collect()
}

/// The outputs at `count` draws of the Gaussian itself, without weights, as far as a glance tells them: one
/// vector for each output that is wanted.
pub(in crate::infer) fn plain(
    flow: &dyn Flow,
    q: &Gaussian,
    count: usize,
    wanted: &[usize],
    seed: u64,
) -> Vec<Vec<f64>> {
    let sample = Sample::new(flow, q, Proposal::Gaussian, seed);
    let blocks: Vec<Vec<f64>> = (0..count.div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let mut log_q = vec![0.0; BLOCK];
            let z = flow.glance(sample.points(block, 0.0, &mut log_q), BLOCK);
            let all = flow.model().constrain_batch(&z, BLOCK);
            wanted.iter().flat_map(|&j| all[j * BLOCK..(j + 1) * BLOCK].iter().copied()).collect()
        })
        .collect();
    (0..wanted.len()).map(|j| column(&blocks, BLOCK, j)).collect()
}

/// Places of a block (coordinate by coordinate) in the standard coordinates of a Gaussian, draw by draw.
fn standardised(q: &Gaussian, w: &[f64]) -> Vec<f64> {
    let d = q.mean.len();
    let mut out = vec![0.0; d * BLOCK];
    for (b, u) in out.chunks_exact_mut(d).enumerate() {
        (0..d).for_each(|i| u[i] = w[i * BLOCK + b] - q.mean[i]);
        match &q.factor {
            Scale::Dense(c) => solve_lower(c, d, u),
            Scale::Diagonal(s) => u.iter_mut().zip(s).for_each(|(u, s)| *u /= s),
        }
    }
    out
}

/// The log density of standard normal coordinates.
fn normal(u: &[f64], d: usize) -> f64 {
    -0.5 * (u.iter().map(|u| u * u).sum::<f64>() + d as f64 * LN_2PI)
}

/// Turns the first coordinates of a block (rows as in [`place`]) into draws, one draw after another, and
/// uniforms after them into standard normal numbers; log q of each draw.
fn one_by_one(
    d: usize,
    mut u: Vec<f64>,
    log_q: &mut [f64],
    place: impl Fn(&mut [f64], [f64; 2]),
    density: impl Fn(&[F8], &mut Vec<F8>) -> F8,
) -> Vec<f64> {
    let beside = u.split_off(u.len() - BESIDE * BLOCK);
    inv_phi(&mut u[d * BLOCK..]);
    let (mut x, mut room) = (vec![0.0; d], Vec::new());
    for b in 0..BLOCK {
        (0..d).for_each(|i| x[i] = u[i * BLOCK + b]);
        place(&mut x, [beside[b], beside[BLOCK + b]]);
        (0..d).for_each(|i| u[i * BLOCK + b] = x[i]);
    }
    let mut eight = vec![F8::zero(); d];
    for (first, log_q) in (0..BLOCK).step_by(LANES).zip(log_q.chunks_exact_mut(LANES)) {
        let from = |i: usize| &u[i * BLOCK + first..i * BLOCK + first + LANES];
        eight.iter_mut().enumerate().for_each(|(i, x)| x.0.copy_from_slice(from(i)));
        log_q.copy_from_slice(&density(&eight, &mut room).0);
    }
    u
}

/// Turns uniforms into standard draws of the proposal in place (coordinates of the Gaussian, then standard
/// ones, then what decides the component and the joint tails of the former); log q of each, of the former
/// alone.
fn place(q: &Gaussian, proposal: &Proposal, u: &mut [f64], log_det: f64) -> Vec<f64> {
    let d = q.mean.len();
    let (all, beside) = u.split_at_mut(u.len() - BESIDE * BLOCK);
    let (which, tails) = beside.split_at_mut(BLOCK);
    let (u, standard) = all.split_at_mut(d * BLOCK);
    inv_phi(standard);
    let leaders = match proposal {
        Proposal::Gaussian | Proposal::Student | Proposal::Adapted(_) | Proposal::Cells(_) => 0,
        Proposal::Mixture(k) => (*k).min(d),
        Proposal::Heavy => d,
    };
    let components: Vec<Component> = which.iter().map(|u| proposal.component(*u)).collect();
    let (led, others) = u.split_at_mut(leaders * BLOCK);
    inv_phi(others);
    for row in led.chunks_exact_mut(BLOCK) {
        let heavy: [f64; BLOCK] = std::array::from_fn(|b| student_quantile(row[b]));
        inv_phi(row);
        for ((x, heavy), component) in row.iter_mut().zip(heavy).zip(&components) {
            if *component == Component::Leaders {
                *x = heavy;
            }
        }
    }
    if components.contains(&Component::Student) {
        inv_gamma_p_whole(HALF_FREEDOM, tails);
        let scale = |(t, component): (&f64, &Component)| match component {
            Component::Student => (0.5 * FREEDOM / t).sqrt(),
            Component::Gaussian | Component::Leaders => 1.0,
        };
        let scales: Vec<f64> = tails.iter().zip(&components).map(scale).collect();
        for row in u.chunks_exact_mut(BLOCK) {
            row.iter_mut().zip(&scales).for_each(|(x, s)| *x *= s);
        }
    }
    let (mut squares, mut heavier) = ([0.0; BLOCK], [0.0; BLOCK]);
    for (i, row) in u.chunks_exact(BLOCK).enumerate() {
        for (b, x) in row.iter().enumerate() {
            squares[b] += x * x;
            if i < leaders {
                // What a heavy tail in this coordinate adds to the Gaussian's log density.
                heavier[b] += student_density(*x) + 0.5 * (x * x + LN_2PI);
            }
        }
    }
    let dims = d as f64;
    let half = 0.5 * (FREEDOM + dims);
    let constant = lgamma(half) - lgamma(0.5 * FREEDOM) - 0.5 * dims * (FREEDOM * std::f64::consts::PI).ln();
    let density = |b: usize| {
        let gaussian = -0.5 * (squares[b] + dims * LN_2PI);
        let student = || constant - half * (squares[b] / FREEDOM).ln_1p();
        let log = match proposal {
            Proposal::Gaussian | Proposal::Adapted(_) | Proposal::Cells(_) => gaussian,
            Proposal::Student => student(),
            Proposal::Heavy => log_sum_exp(&[gaussian, gaussian + heavier[b]]) - 2.0_f64.ln(),
            Proposal::Mixture(0) => log_sum_exp(&[gaussian, student()]) - 2.0_f64.ln(),
            Proposal::Mixture(_) => {
                let parts = [gaussian + 2.0_f64.ln(), student(), gaussian + heavier[b]];
                log_sum_exp(&parts) - 4.0_f64.ln()
            }
        };
        log - log_det
    };
    (0..BLOCK).map(density).collect()
}

/// The density of a Student-t with two degrees of freedom, in logarithms: 1 / (2√2 (1 + x²/2)^{3/2}).
fn student_density(x: f64) -> f64 {
    -1.5 * (std::f64::consts::LN_2 + (0.5 * x * x).ln_1p())
}

/// Its quantile.
fn student_quantile(p: f64) -> f64 {
    (2.0 * p - 1.0) / (2.0 * p * (1.0 - p)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_the_student_are_those_of_tables() {
        for (p, x) in
            [(0.975, 4.302_653), (0.95, 2.919_986), (0.5, 0.0), (0.005, -9.924_843), (1e-6, -707.106_1)]
        {
            let found = student_quantile(p);
            assert!((found - x).abs() < 1e-4 * (1.0 + x.abs()), "{p}: {found} {x}");
        }
    }
}
