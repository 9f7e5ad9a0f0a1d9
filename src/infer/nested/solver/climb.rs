//! Steps uphill from sixteen points at once: which are taken, taken back in part, or damped.

use crate::infer::nested::lanes::{LANES, Lanes};
use crate::infer::search::ascent::shortened;

/// Where steps no longer bring it down, rounding does not let it: below this one more step ends as near as
/// can be.
const ROUNDED: f64 = 1e-9;
/// Steps in a row that bring nothing, after which there is no mode to be found.
const IDLE: u32 = 8;
/// Steps in a row that bring less than this share of what they promise, and less than so many nats, though
/// more than rounding is to be gained: they lead from one side of a kink to the other.
const POOR: u32 = 2;
const SHARE: f64 = 0.1;
const LITTLE: f64 = 1e-3;
const MORE_THAN_ROUNDING: f64 = 1e-6;

/// Sixteen climbs to a mode.
pub(super) struct Climb {
    /// The highest points so far.
    value: Lanes,
    at: Vec<Lanes>,
    /// Twice what was left to gain there.
    left: Lanes,
    /// The share of the last step that is tried.
    length: Lanes,
    /// What is added to the diagonal where the log density is not concave.
    pub(super) damping: Lanes,
    /// Steps in a row that did not bring down what is left.
    idle: [u32; LANES],
    /// Steps in a row that brought next to nothing of what they promised.
    poor: [u32; LANES],
    /// Where there is nothing to climb.
    lost: [bool; LANES],
    /// Twice what is left to gain where one more step ends at the mode.
    near: f64,
}

impl Climb {
    /// From these points, to where so little is left to gain.
    pub(super) fn new(start: &[Lanes], near: f64) -> Climb {
        Climb {
            value: [f64::NEG_INFINITY; LANES],
            at: start.to_vec(),
            left: [f64::INFINITY; LANES],
            length: [1.0; LANES],
            damping: [0.0; LANES],
            idle: [0; LANES],
            poor: [0; LANES],
            lost: [false; LANES],
            near,
        }
    }

    /// Whether all are so near to their modes that one more step ends there.
    pub(super) fn near(&self) -> bool {
        self.open(LANES).is_empty()
    }

    /// Which of the first so many points are not, and may yet be.
    pub(super) fn open(&self, width: usize) -> Vec<usize> {
        (0..width).filter(|&b| !self.lost[b] && !self.close(b)).collect()
    }

    /// Where steps bring next to nothing of what they promise: the log density has a kink there.
    pub(super) fn stuck(&self) -> [bool; LANES] {
        self.poor.map(|steps| steps >= POOR)
    }

    fn close(&self, b: usize) -> bool {
        let close = self.left[b] < self.near || (self.left[b] < ROUNDED && self.idle[b] > 0);
        close && self.damping[b] == 0.0
    }

    /// Returns to the highest points so far from where steps have led, but for those that are near to their
    /// modes.
    pub(super) fn give_up(&self, y: &mut [Lanes]) {
        for b in (0..LANES).filter(|&b| !self.close(b)) {
            y.iter_mut().zip(&self.at).for_each(|(y, at)| y[b] = at[b]);
        }
    }

    /// Takes a step where the last one climbed, most of the way back where it did not, and damps where there
    /// is no way up; whether a new Hessian is needed, because a step left more than a share of `patience` to
    /// gain.
    pub(super) fn advance(
        &mut self,
        value: &Lanes,
        step: &[Lanes],
        decrement: &Lanes,
        patience: f64,
        y: &mut [Lanes],
    ) -> bool {
        let mut anew = false;
        let lost = self.lost;
        for b in (0..LANES).filter(|&b| !lost[b]) {
            let first = self.value[b] == f64::NEG_INFINITY;
            let climbed = value[b].is_finite() && value[b] >= self.value[b] - 1e-9 * (1.0 + value[b].abs());
            if climbed && decrement[b] >= 0.0 {
                let slow = decrement[b] > patience * self.left[b] && decrement[b] > self.near;
                anew |= slow || self.damping[b] != 0.0;
                let gains = value[b] > self.value[b] + 1e-7 || decrement[b] < 0.5 * self.left[b];
                self.idle[b] = if gains { 0 } else { self.idle[b] + 1 };
                let (gain, promise) = (value[b] - self.value[b], 0.5 * self.left[b]);
                let poor = gain < LITTLE.min(SHARE * promise) && decrement[b] > MORE_THAN_ROUNDING;
                self.poor[b] = if poor { self.poor[b] + 1 } else { 0 };
                self.lost[b] = self.idle[b] >= IDLE && decrement[b] > ROUNDED || self.poor[b] >= POOR;
                self.value[b] = value[b];
                self.left[b] = decrement[b];
                self.at.iter_mut().zip(y.iter()).for_each(|(to, from)| to[b] = from[b]);
                y.iter_mut().zip(step).for_each(|(y, s)| y[b] += s[b]);
                self.length[b] = 1.0;
                self.damping[b] = if self.damping[b] < 1e-3 { 0.0 } else { 0.1 * self.damping[b] };
            } else if climbed {
                self.damping[b] = (10.0 * self.damping[b]).max(0.1);
                anew = true;
            } else if first {
                self.lost[b] = true;
            } else {
                let share = shortened(self.length[b] * self.left[b], value[b] - self.value[b]);
                self.length[b] *= share;
                y.iter_mut().zip(&self.at).for_each(|(y, at)| y[b] = at[b] + share * (y[b] - at[b]));
            }
        }
        anew
    }
}
