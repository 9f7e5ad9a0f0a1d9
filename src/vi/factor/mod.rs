//! The scale factor `C` of `z = m + C u`: the spaces it may live in, and how it is packed.
//!
//! The parameters are one vector `w = (m, c)`: the `d` coordinates of `m`, then the numbers `c` that stand
//! for `C`. This is the one place that says which numbers these are, and each packing is an isometry, `‖c‖ =
//! ‖C‖_F`, because every theorem is in that norm:
//!
//! | row | space | c |
//! |---|---|---|
//! | `triangular` | lower triangular | the lower triangle by rows: C₁₁, C₂₁, C₂₂, C₃₁, … |
//! | `triangular_full` | lower triangular | the whole matrix by rows, the upper triangle clamped to zero |
//! | `symmetric` | symmetric | the lower triangle by rows, off-diagonal entries times √2 |
//! | `symmetric_full` | symmetric | the whole matrix by rows |
//! | `diagonal` | diagonal | the diagonal |
//!
//! Gradients are taken in the same coordinates, so `proj_V` is part of [`Factor::add_outer`]. Draws are the
//! fastest axis, as everywhere (coordinate `i` of draw `b` of `n` at `i * n + b`), so that a batch makes a
//! matrix product.

mod diagonal;
mod symmetric;
mod triangular;

use super::scale::Scale;
use super::step::Sizes;
use super::table::Row;

/// A way to hold `C`, with what it keeps between calls (a Cholesky factor, say) so that no step allocates.
pub trait Factor: Send + Sync {
    /// How many numbers stand for `C`.
    fn count(&self) -> usize;

    /// The numbers that stand for `proj_V(dense)`, the nearest matrix of the space; `dense` is by rows.
    fn pack(&self, dense: &[f64], c: &mut [f64]);

    /// The matrix by rows.
    fn unpack(&self, c: &[f64], dense: &mut [f64]);

    /// The place of `C_ii` among the numbers.
    fn diagonal(&self, i: usize) -> usize;

    /// The matrix.
    fn scale(&self, c: &[f64]) -> Scale;

    /// Makes ready for the calls below at this `c`; false if `C` is not positive definite. `c` must then stay
    /// the same until the next call of this, of [`Factor::prox`] or of [`Factor::project`], which leave all
    /// ready too.
    fn load(&mut self, c: &[f64]) -> bool;

    /// out += C u for each draw.
    fn multiply(&self, c: &[f64], u: &[f64], draws: usize, out: &mut [f64]);

    /// x ← C⁻ᵀ x for each draw.
    fn solve_transposed(&self, c: &[f64], x: &mut [f64], draws: usize);

    /// g += scale · Σ_b proj_V(s_b u_bᵀ).
    fn add_outer(&mut self, scale: f64, s: &[f64], u: &[f64], draws: usize, g: &mut [f64]);

    /// g += scale · proj_V(C⁻ᵀ).
    fn add_inverse_transposed(&mut self, scale: f64, c: &[f64], g: &mut [f64]);

    /// log det C.
    fn log_det(&self, c: &[f64]) -> f64;

    /// Replaces `c` by the minimiser of `-log det X + ½ Σ_i (x_i - c_i)² / γ_i` over the X with eigenvalues
    /// of at least `floor`; false, and nothing done, where [`Space::prox`] says that there is no closed form.
    ///
    /// The eigenvalues of a triangular matrix are its diagonal, and no singular value is larger than the
    /// smallest of them in size; so with `floor` ≤ 1/√M the optimum is inside, and the prox is that of a
    /// convex function with the same minimiser.
    fn prox(&mut self, c: &mut [f64], steps: Sizes<'_>, floor: f64) -> bool;

    /// Replaces `c` by the nearest matrix with all singular values at least `floor`; false, and nothing done,
    /// where [`Space::projects`] says that there is no closed form.
    fn project(&mut self, c: &mut [f64], floor: f64) -> bool;
}

/// The larger root of `x² - ĉ x - γ = 0`: the minimiser of `-log x + (x - ĉ)²/(2γ)` over x > 0. Written so
/// that a large negative ĉ loses no digits.
#[inline(always)]
fn prox_of_minus_log(c: f64, gamma: f64) -> f64 {
    let root = c.hypot(2.0 * gamma.sqrt());
    if c >= 0.0 { 0.5 * (c + root) } else { 2.0 * gamma / (root - c) }
}

/// Under which steps the prox of the entropy has a closed form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxWith {
    /// Any, a step of its own for each coordinate included.
    AnySteps,
    /// One step for all coordinates.
    OneStep,
}

/// A row of the table of factors.
#[derive(Debug)]
pub struct Space {
    /// Name.
    pub name: &'static str,
    /// One line of explanation.
    pub doc: &'static str,
    /// Under which steps there is a prox.
    pub prox: ProxWith,
    /// Whether the projection onto σ_min ≥ floor has a closed form.
    pub projects: bool,
    /// Whether the space holds every covariance.
    pub full_rank: bool,
    /// A factor of the given dimension.
    pub make: fn(usize) -> Box<dyn Factor>,
}

impl Row for Space {
    const KIND: &'static str = "factor";

    fn table() -> &'static [Space] {
        static TABLE: [Space; 5] =
            [triangular::PACKED, triangular::FULL, symmetric::PACKED, symmetric::FULL, diagonal::ROW];
        &TABLE
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }
}
