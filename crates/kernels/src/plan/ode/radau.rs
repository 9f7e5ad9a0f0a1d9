//! The implicit Runge-Kutta method Radau IIA of order 5, after Hairer and Wanner, 'Solving Ordinary
//! Differential Equations II', section IV.8.

use super::system::{System, add_scaled};
use crate::num::linalg::{lu_factor, lu_solve};
use crate::num::real::{Dual, Zero};

const SQRT_6: f64 = 2.449_489_742_783_178;

/// Where in the step each stage stands.
const NODES: [f64; 3] = [(4.0 - SQRT_6) / 10.0, (4.0 + SQRT_6) / 10.0, 1.0];

/// How the stages depend on the rates.
const STAGES: [[f64; 3]; 3] = [
    [(88.0 - 7.0 * SQRT_6) / 360.0, (296.0 - 169.0 * SQRT_6) / 1800.0, (-2.0 + 3.0 * SQRT_6) / 225.0],
    [(296.0 + 169.0 * SQRT_6) / 1800.0, (88.0 + 7.0 * SQRT_6) / 360.0, (-2.0 - 3.0 * SQRT_6) / 225.0],
    [(16.0 - SQRT_6) / 36.0, (16.0 + SQRT_6) / 36.0, 1.0 / 9.0],
];

/// The real eigenvalue of the inverse of `STAGES`: 30 / (6 + ∛81 - ∛9).
const EIGENVALUE: f64 = 3.637_834_252_744_496;

/// The error estimate from the stages, up to the factor 1 / h.
const ERROR: [f64; 3] = [(-13.0 - 7.0 * SQRT_6) / 3.0, (-13.0 + 7.0 * SQRT_6) / 3.0, -1.0 / 3.0];

/// Most Newton iterations in one step.
const MOST_ITERATIONS: usize = 12;

/// How small the error of the stages must be, where 1 is what the tolerance allows for the step.
const STAGE_ERROR: f64 = 1e-3;

/// The stages of a step and the matrices of its systems.
#[derive(Clone, Debug)]
pub(super) struct Radau {
    rates: Vec<Dual>,
    stages: Vec<Dual>,
    stage_rates: Vec<Dual>,
    change: Vec<Dual>,
    point: Vec<Dual>,
    room: Vec<Dual>,
    jacobian: Vec<f64>,
    newton: Vec<f64>,
    newton_rows: Vec<usize>,
    filter: Vec<f64>,
    filter_rows: Vec<usize>,
}

impl Radau {
    /// For systems of `n` states and `len` numbers with all derivatives.
    pub(super) fn new(n: usize, len: usize) -> Self {
        let zero = Dual::zero();
        Self {
            rates: vec![zero; len],
            stages: vec![zero; 3 * len],
            stage_rates: vec![zero; 3 * len],
            change: vec![zero; 3 * n],
            point: vec![zero; len],
            room: vec![zero; len.max(2 * n)],
            jacobian: vec![0.0; n * n],
            newton: vec![0.0; 9 * n * n],
            newton_rows: vec![0; 3 * n],
            filter: vec![0.0; n * n],
            filter_rows: vec![0; n],
        }
    }

    /// Readies the next step.
    pub(super) fn begin(&mut self, system: &mut System, t: f64, states: &[Dual]) {
        system.rate(t, states, &mut self.rates);
        system.jacobian(t, states, &mut self.room, &mut self.jacobian);
    }

    /// The rates at the beginning of the step.
    pub(super) fn first_rates(&self) -> &[Dual] {
        &self.rates
    }

    /// Computes the state after a step of size h; returns the size of its error, infinite if there is no such
    /// step. With `exact`, the stages are computed as precisely as numbers allow.
    pub(super) fn step(
        &mut self,
        system: &mut System,
        t: f64,
        h: f64,
        from: &[Dual],
        to: &mut [Dual],
        exact: bool,
    ) -> f64 {
        if !self.factor(system.ode.states, h) || !self.solve_stages(system, t, h, from, exact) {
            return f64::INFINITY;
        }
        let len = from.len();
        to.copy_from_slice(from);
        add_scaled(to, 1.0, &self.stages[2 * len..]);
        self.estimate(system, t, h, from, to)
    }

    /// Factors I - h A ⊗ J and (λ/h) I - J.
    fn factor(&mut self, n: usize, h: f64) -> bool {
        let wide = 3 * n;
        for (p, entry) in self.newton.iter_mut().enumerate() {
            let (row, column) = (p / wide, p % wide);
            let j = self.jacobian[row % n * n + column % n];
            *entry = f64::from(row == column) - h * STAGES[row / n][column / n] * j;
        }
        for (p, entry) in self.filter.iter_mut().enumerate() {
            *entry = f64::from(p / n == p % n) * EIGENVALUE / h - self.jacobian[p];
        }
        lu_factor(&mut self.newton, &mut self.newton_rows, wide)
            && lu_factor(&mut self.filter, &mut self.filter_rows, n)
    }

    /// Newton's iteration for Z_i = h Σ_j a_ij f(t + c_j h, y + Z_j). The matrix is that of the values at the
    /// beginning; derivatives go through the same iteration and converge with the values.
    fn solve_stages(&mut self, system: &mut System, t: f64, h: f64, from: &[Dual], exact: bool) -> bool {
        let finest = 10.0 * f64::EPSILON / system.ode.tolerance.relative;
        let (mut last, mut rate) = (f64::INFINITY, 1.0_f64);
        self.stages.fill(Dual::zero());
        for iteration in 0..MOST_ITERATIONS {
            let change = self.improve_stages(system, t, h, from);
            if iteration > 0 {
                rate = change / last;
            }
            last = change;
            let enough = if exact { change <= finest } else { change <= STAGE_ERROR.max(finest) };
            if enough && (exact || iteration > 0 || change <= finest) {
                return true;
            }
            if !exact && rate < 1.0 && change * rate / (1.0 - rate) <= STAGE_ERROR.max(finest) {
                return true;
            }
            if !change.is_finite() || (iteration > 1 && rate >= 1.0) {
                // As precise as numbers allow is precise enough.
                return exact && change <= 100.0 * finest;
            }
        }
        exact
    }

    /// One iteration; returns the size of the change.
    fn improve_stages(&mut self, system: &mut System, t: f64, h: f64, from: &[Dual]) -> f64 {
        let (n, len) = (system.ode.states, from.len());
        for (stage, node) in NODES.iter().enumerate() {
            let range = stage * len..(stage + 1) * len;
            self.point.copy_from_slice(from);
            add_scaled(&mut self.point, 1.0, &self.stages[range.clone()]);
            system.rate(t + node * h, &self.point, &mut self.stage_rates[range]);
        }
        let mut size = 0.0_f64;
        for group in 0..len / n.max(1) {
            let at = |stage: usize| stage * len + group * n..stage * len + (group + 1) * n;
            for (stage, line) in STAGES.iter().enumerate() {
                let residual = &mut self.change[stage * n..(stage + 1) * n];
                residual.fill(Dual::zero());
                add_scaled(residual, -1.0, &self.stages[at(stage)]);
                for (other, weight) in line.iter().enumerate() {
                    add_scaled(residual, h * weight, &self.stage_rates[at(other)]);
                }
            }
            lu_solve(&self.newton, &self.newton_rows, &mut self.change);
            for stage in 0..3 {
                add_scaled(&mut self.stages[at(stage)], 1.0, &self.change[stage * n..(stage + 1) * n]);
            }
            // The rates of the stages have served: they hold the changes now.
            for stage in 0..3 {
                self.stage_rates[at(stage)].copy_from_slice(&self.change[stage * n..(stage + 1) * n]);
            }
        }
        for changes in self.stage_rates.chunks_exact(len) {
            size = size.max(system.size(changes, from, from));
        }
        size
    }

    /// ((λ/h) I - J)⁻¹ (f(y) + Σ e_i Z_i / h), filtered once more where it is large: for stiff components the
    /// first estimate is too pessimistic.
    fn estimate(&mut self, system: &mut System, t: f64, h: f64, from: &[Dual], to: &[Dual]) -> f64 {
        let len = from.len();
        self.point.fill(Dual::zero());
        for (stage, weight) in ERROR.iter().enumerate() {
            add_scaled(&mut self.point, weight / h, &self.stages[stage * len..(stage + 1) * len]);
        }
        let room = &mut self.room[..len];
        room.copy_from_slice(&self.point);
        add_scaled(room, 1.0, &self.rates);
        solve_groups(&self.filter, &self.filter_rows, room);
        let size = system.size(room, from, to);
        if size < 1.0 || !size.is_finite() {
            return size;
        }
        let rates = &mut self.stage_rates[..len];
        add_scaled(room, 1.0, from);
        system.rate(t, room, rates);
        room.copy_from_slice(rates);
        add_scaled(room, 1.0, &self.point);
        solve_groups(&self.filter, &self.filter_rows, room);
        system.size(room, from, to)
    }
}

/// Solves the system for each group of directions.
fn solve_groups(factors: &[f64], rows: &[usize], x: &mut [Dual]) {
    x.chunks_exact_mut(rows.len().max(1)).for_each(|group| lu_solve(factors, rows, group));
}
