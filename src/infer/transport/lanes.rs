//! The arithmetic of a layer of bent coordinates, one coordinate of eight draws at a time, in the registers
//! of this processor.

use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::real::{F8, LANES, Real};

/// The mean slope of log Φ under a standard normal; its mean is -1.
const LOG_PHI_SLOPE: f64 = 0.903_197_285_568_488_7;
/// Minus half the mean of log Φ(w) (w² - 1): how much log Φ bends.
const LOG_PHI_BEND: f64 = 0.297_817_798_422_927_2;
/// Most of log Φ in a margin.
const MOST_SKEW: f64 = 1.0;

/// The margin whose second Hermite coefficient is `bend`.
pub(in crate::infer) fn skew_of(bend: f64) -> f64 {
    let room = LOG_PHI_BEND - LOG_PHI_SLOPE * bend.abs();
    let c = if room > 0.0 { (bend.abs() / room).min(MOST_SKEW) } else { MOST_SKEW };
    bend.signum() * c
}

/// What the leaders of a layer do to a coordinate of all draws: the logarithm of its spread, and what is
/// added to it.
pub(in crate::infer) struct Led<'a> {
    pub(in crate::infer) log: &'a [f64],
    pub(in crate::infer) added: &'a [f64],
}

/// One coordinate of all draws: y = S(w) e^log + added, or S(w) without leaders.
pub(in crate::infer) struct Coordinate<'a> {
    pub(in crate::infer) w: &'a [f64],
    /// Of the margin S; 0 where that is w itself.
    pub(in crate::infer) skew: f64,
    pub(in crate::infer) led: Option<Led<'a>>,
}

/// Where what is known of a coordinate goes: S, S', the slope of log S', e^s and y; the log determinant is
/// added to.
pub(in crate::infer) struct Known<'a> {
    pub(in crate::infer) value: &'a mut [f64],
    pub(in crate::infer) slope: &'a mut [f64],
    pub(in crate::infer) curve: &'a mut [f64],
    pub(in crate::infer) swell: &'a mut [f64],
    pub(in crate::infer) y: &'a mut [f64],
    pub(in crate::infer) log_det: &'a mut [f64],
}

impl Coordinate<'_> {
    /// Bends the coordinate. Slopes that are 1 and curves that are 0 are not written.
    pub(in crate::infer) fn bend(&self, known: &mut Known) {
        best_lanes(Bend { coordinate: self, known });
    }
}

struct Bend<'a, 'k> {
    coordinate: &'a Coordinate<'a>,
    known: &'a mut Known<'k>,
}

impl LaneWork<F8> for Bend<'_, '_> {
    type Out = ();

    #[inline(always)]
    fn run<U: Real>(self, view: View<F8, U>) {
        let (of, into) = (self.coordinate, self.known);
        for at in (0..of.w.len()).step_by(LANES) {
            let w: U = load(view, of.w, at);
            let mut log_det: U = load(view, into.log_det, at);
            let mut value = w;
            if of.skew != 0.0 {
                let [s, slope, curve] = margin(of.skew, w);
                store(view, slope, into.slope, at);
                store(view, curve, into.curve, at);
                log_det += slope.ln();
                value = s;
            }
            store(view, value, into.value, at);
            let mut y = value;
            if let Some(led) = &of.led {
                let log: U = load(view, led.log, at);
                let swell = log.exp();
                store(view, swell, into.swell, at);
                log_det += log;
                y = value * swell + load(view, led.added, at);
            }
            store(view, y, into.y, at);
            store(view, log_det, into.log_det, at);
        }
    }
}

/// S(w) = (w + c (log Φ(w) + 1)) / (1 + 0.903 c) for a tail to the left, mirrored for one to the right, with
/// S' and (log S')'. For large c this is the logarithm of a uniform number, with an exponential tail.
#[inline(always)]
fn margin<U: Real>(skew: f64, w: U) -> [U; 3] {
    let (c, side) = (skew.abs(), -skew.signum());
    let scale = 1.0 / (1.0 + LOG_PHI_SLOPE * c);
    let x = w.scale(side);
    // φ / Φ and its slope.
    let ratio = x.phi_ratio();
    let bend = -ratio * (x + ratio);
    let slope = ratio.scale(c).shift(1.0);
    let value = x + x.log_phi().shift(1.0).scale(c);
    [value.scale(side * scale), slope.scale(scale), bend.scale(side * c) / slope]
}

/// Up to eight numbers, and zeros.
#[inline(always)]
fn load<U: Real>(view: View<F8, U>, from: &[f64], at: usize) -> U {
    let rest = &from[at..];
    match rest.first_chunk::<LANES>() {
        Some(all) => view.load(all),
        None => {
            let mut some = [0.0; LANES];
            some[..rest.len()].copy_from_slice(rest);
            view.load(&some)
        }
    }
}

#[inline(always)]
fn store<U: Real>(view: View<F8, U>, x: U, into: &mut [f64], at: usize) {
    let rest = &mut into[at..];
    match rest.first_chunk_mut::<LANES>() {
        Some(all) => view.store(x, all),
        None => {
            let mut some = [0.0; LANES];
            view.store(x, &mut some);
            let n = rest.len();
            rest.copy_from_slice(&some[..n]);
        }
    }
}
