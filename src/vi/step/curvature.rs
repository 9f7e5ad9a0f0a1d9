//! The practical step when no constant is known: the inverse of the curvature met along the path, decaying.

use super::{Needs, Rule, Setup, Sizes, StepRule, norm_squared};
use crate::vi::table::Parameter;

/// The row.
pub(super) const ROW: Rule = Rule {
    name: "curvature",
    doc: "a multiple of 1/M̂, the curvature of the free energy estimated along the path, decaying as 1/√t",
    parameter: Some(MULTIPLE),
    needs: Needs::Nothing,
    each: false,
    guarantee: None,
    average: "polynomial",
    make: |s| Box::new(Curvature::new(s, f64::INFINITY)),
};

/// The same for coordinates in which the posterior is about as wide as C.
pub(super) const WHITENED: Rule = Rule {
    name: "whitened",
    doc: "as curvature, and no step longer than half of ‖C‖: for whitened coordinates",
    make: |s| Box::new(Curvature::new(s, TRUST)),
    ..ROW
};

const MULTIPLE: Parameter = Parameter { name: "multiple", default: 0.5, range: (0.0, f64::INFINITY) };
/// The longest step in whitened coordinates, in ‖C‖.
const TRUST: f64 = 0.5;

/// `γ_t = 2c / (1 + (d+2)/B) / M̂ / √(1 + t/50)`.
///
/// For a quadratic with curvature h along some direction, that row of C contracts by 1 - γh in the mean, and
/// its second moment by (1 - γh)² + γ²h²(d+2)/B: it shrinks only if γ h (1 + (d+2)/B) < 2, for the largest h
/// too. So c < 1 is stable as far as the curvature is what it was where it was estimated.
///
/// No theorem bounds the noise of a target that is not smooth, and one draw in its steepest corner can undo a
/// whole run. So a gradient far longer than those before it counts as one of [`LONGEST`] times their root
/// mean square.
struct Curvature {
    dimension: usize,
    stable: f64,
    /// No step is longer than this many ‖C‖.
    trust: f64,
    curvature: f64,
    /// Running mean of ‖g‖²; 0 before there is one.
    typical: f64,
}

/// Steps before the decay is felt.
const HORIZON: f64 = 50.0;
/// The longest gradient that is followed as it is, in root mean squares of those before.
const LONGEST: f64 = 3.0;
/// The share of the latest gradient in the running mean.
const RECENT: f64 = 0.05;

impl Curvature {
    fn new(s: &Setup<'_>, trust: f64) -> Self {
        let noise = 1.0 + (s.dimension as f64 + 2.0) / s.batch as f64;
        let stable = 2.0 * s.value / noise;
        Curvature { dimension: s.dimension, stable, trust, curvature: 1.0, typical: 0.0 }
    }

    /// The length up to which a gradient of this squared length is followed, squared; counts it in the mean.
    fn followed(&mut self, square: f64) -> f64 {
        let most = if self.typical > 0.0 { LONGEST * LONGEST * self.typical } else { square };
        let followed = square.min(most);
        self.typical += if self.typical > 0.0 { RECENT * (followed - self.typical) } else { followed };
        followed
    }
}

impl StepRule for Curvature {
    fn sizes(&mut self, t: usize, w: &[f64], direction: &mut [f64], shrink: f64) -> Sizes<'_> {
        let square = norm_squared(direction);
        let gamma = shrink * self.stable / self.curvature / (1.0 + t as f64 / HORIZON).sqrt();
        let length = gamma * self.followed(square).sqrt();
        let length = length.min(self.trust * norm_squared(&w[self.dimension..]).sqrt());
        let root = square.sqrt();
        Sizes::One(if root > 0.0 && length < gamma * root { length / root } else { gamma })
    }

    /// At the start, and whenever t doubles, from 8 on: the path is then somewhere else.
    fn wants_curvature(&self, t: usize) -> bool {
        t == 0 || (t >= 8 && t.is_power_of_two())
    }

    fn set_curvature(&mut self, curvature: f64) {
        self.curvature = curvature;
    }
}
