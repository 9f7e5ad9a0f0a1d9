//! Implicit QR steps on a symmetric tridiagonal matrix, and the rotations that they are made of.

use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::real::{F8, Packed};

/// A sweep of rotations of the neighbours (first, first + 1), (first + 1, first + 2), …
struct Sweep {
    first: usize,
    from: usize,
    to: usize,
}

/// The rotations that diagonalise a matrix, in order.
pub(super) struct Rotations {
    sweeps: Vec<Sweep>,
    /// Cosine and sine of each.
    angles: Vec<[f64; 2]>,
}

impl Rotations {
    /// Room for the rotations of a matrix of this size: a QR step or two for each eigenvalue.
    pub fn room(d: usize) -> Rotations {
        Rotations { sweeps: Vec::with_capacity(4 * d), angles: Vec::with_capacity(2 * d * d) }
    }
}

/// Makes the tridiagonal matrix diagonal, in place, by QR steps with Wilkinson's shift; false if that takes
/// more than any matrix of finite numbers should.
pub(super) fn diagonalise(diagonal: &mut [f64], beside: &mut [f64], rotations: &mut Rotations) -> bool {
    let d = diagonal.len();
    rotations.sweeps.clear();
    rotations.angles.clear();
    let mut end = d;
    let mut steps = 0;
    while end > 1 {
        // The last block that does not fall apart is start..end.
        let small = |k: usize| {
            let scale = diagonal[k].abs() + diagonal[k + 1].abs();
            beside[k].abs() <= 0.5 * f64::EPSILON * scale || beside[k].abs() < f64::MIN_POSITIVE
        };
        if small(end - 2) {
            beside[end - 2] = 0.0;
            end -= 1;
            continue;
        }
        let start = (0..end - 2).rev().find(|&k| small(k)).map_or(0, |k| k + 1);
        rotations.step(diagonal, beside, start, end);
        steps += 1;
        if steps > 60 * d + 60 {
            return false;
        }
    }
    true
}

impl Rotations {
    /// One QR step on the block start..end of the matrix.
    fn step(&mut self, diagonal: &mut [f64], beside: &mut [f64], start: usize, end: usize) {
        let from = self.angles.len();
        let last = end - 1;
        let e = beside[last - 1];
        // The eigenvalue of the last 2 × 2 block that is nearer to its last element.
        let delta = 0.5 * (diagonal[last - 1] - diagonal[last]);
        let shift = diagonal[last] - e * (e / (delta + delta.hypot(e).copysign(delta)));
        let (mut x, mut z) = (diagonal[start] - shift, beside[start]);
        for k in start..last {
            let r = x.hypot(z);
            let (c, s) = if r == 0.0 { (1.0, 0.0) } else { (x / r, z / r) };
            if k > start {
                beside[k - 1] = r;
            }
            // The 2 × 2 block [a b; b g] between its rotations.
            let (a, b, g) = (diagonal[k], beside[k], diagonal[k + 1]);
            let turn = s * (s * (g - a) + 2.0 * c * b);
            diagonal[k] = a + turn;
            diagonal[k + 1] = g - turn;
            beside[k] = c * s * (g - a) + (c - s) * (c + s) * b;
            if k + 1 < last {
                (x, z) = (beside[k], s * beside[k + 1]);
                beside[k + 1] *= c;
            }
            self.angles.push([c, s]);
        }
        self.sweeps.push(Sweep { first: start, from, to: self.angles.len() });
    }

    /// Rotates rows: for each rotation of the pair (k, k + 1), row k becomes c·row k + s·row k+1, and row k+1
    /// becomes c·row k+1 - s·row k.
    pub fn apply<const N: usize>(&self, rows: &mut [[F8; N]]) {
        best_lanes(Apply { rotations: self, rows });
    }
}

struct Apply<'a, const N: usize> {
    rotations: &'a Rotations,
    rows: &'a mut [[F8; N]],
}

impl<const N: usize> LaneWork<F8> for Apply<'_, N> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<F8, U>) {
        let rows = view.nested_mut(self.rows);
        for sweep in &self.rotations.sweeps {
            let angles = &self.rotations.angles[sweep.from..sweep.to];
            let rows = &mut rows[sweep.first..sweep.first + angles.len() + 1];
            // The row that the next rotation shares stays in registers.
            let mut upper = rows[0];
            for (k, [c, s]) in angles.iter().enumerate() {
                let (c, s) = (U::splat(*c), U::splat(*s));
                let lower = rows[k + 1];
                for n in 0..N {
                    rows[k][n] = c * upper[n] + s * lower[n];
                    upper[n] = c * lower[n] - s * upper[n];
                }
            }
            rows[angles.len()] = upper;
        }
    }
}
