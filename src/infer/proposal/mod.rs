//! What importance draws come from: one kind of density a file, all about a fitted Gaussian.

pub(in crate::infer) mod grid;
pub(in crate::infer) mod placement;
pub(in crate::infer) mod student;
pub(in crate::infer) mod tails;

use crate::infer::gaussian::Gaussian;
use crate::num::real::{F8, LANES, Zero};
use crate::num::slices::inv_phi;

/// Draws evaluated together.
pub(in crate::infer) const BLOCK: usize = 64;
/// Uniform numbers of a draw beside its coordinates: its component, and how far its tail reaches.
pub(in crate::infer) const BESIDE: usize = 2;

/// The kinds of proposals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The fitted Gaussian.
    Gaussian,
    /// That with a Student-t's tails, in all coordinates together or in some one by one.
    Tails,
    /// A mixture of Student-t's that was fitted to weighted draws.
    Students,
    /// A grid.
    Grid,
}

impl Kind {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Gaussian => "gaussian",
            Kind::Tails => "gaussian-with-tails",
            Kind::Students => "student-mixture",
            Kind::Grid => "grid",
        }
    }
}

/// A density that importance draws come from.
pub(in crate::infer) trait Proposal: Send + Sync {
    /// What it is.
    fn kind(&self) -> Kind;

    /// Modes that it began at.
    fn modes(&self) -> usize {
        1
    }

    /// Turns a block of uniform numbers (rows of [`BLOCK`]: the coordinates of the Gaussian, those that are
    /// standard normal, and [`BESIDE`] more) into draws without the last, and tells log q of each, of the
    /// coordinates of the Gaussian alone. `log_det` is that of the factor of the Gaussian.
    fn draw(&self, q: &Gaussian, u: Vec<f64>, log_det: f64, log_q: &mut [f64]) -> Vec<f64>;
}

/// Turns the first coordinates of a block (rows as in [`Proposal::draw`]) into draws, one draw after another,
/// and uniforms after them into standard normal numbers; log q of each draw.
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
