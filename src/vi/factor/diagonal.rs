//! Diagonal factors: mean field, where every operation is O(d).

use super::kernel::prox_of_minus_log;
use super::{Factor, ProxWith, Sizes, Space};

/// The row.
pub(super) const ROW: Space = Space {
    name: "diagonal",
    doc: "diagonal C (mean field): O(d) a step, no correlations",
    prox: ProxWith::AnySteps,
    projects: true,
    full_rank: false,
    make: |d| Box::new(Diagonal { d }),
};

struct Diagonal {
    d: usize,
}

impl Factor for Diagonal {
    fn count(&self) -> usize {
        self.d
    }

    fn pack(&self, dense: &[f64], c: &mut [f64]) {
        (0..self.d).for_each(|i| c[i] = dense[i * self.d + i]);
    }

    fn unpack(&self, c: &[f64], dense: &mut [f64]) {
        dense.fill(0.0);
        (0..self.d).for_each(|i| dense[i * self.d + i] = c[i]);
    }

    fn load(&mut self, c: &[f64]) -> bool {
        c.iter().all(|x| *x > 0.0)
    }

    fn multiply(&self, c: &[f64], u: &[f64], draws: usize, out: &mut [f64]) {
        for (out, u) in out.chunks_exact_mut(self.d).zip(u.chunks_exact(self.d)).take(draws) {
            (0..self.d).for_each(|i| out[i] += c[i] * u[i]);
        }
    }

    fn solve_transposed(&self, c: &[f64], x: &mut [f64], draws: usize) {
        for x in x.chunks_exact_mut(self.d).take(draws) {
            (0..self.d).for_each(|i| x[i] /= c[i]);
        }
    }

    fn add_outer(&self, scale: f64, s: &[f64], u: &[f64], draws: usize, g: &mut [f64]) {
        for (s, u) in s.chunks_exact(self.d).zip(u.chunks_exact(self.d)).take(draws) {
            (0..self.d).for_each(|i| g[i] += scale * s[i] * u[i]);
        }
    }

    fn add_inverse_transposed(&mut self, scale: f64, c: &[f64], g: &mut [f64]) {
        (0..self.d).for_each(|i| g[i] += scale / c[i]);
    }

    fn log_det(&self, c: &[f64]) -> f64 {
        c.iter().map(|x| x.ln()).sum()
    }

    fn prox(&mut self, c: &mut [f64], steps: Sizes<'_>, floor: f64) -> bool {
        for (i, x) in c.iter_mut().enumerate() {
            *x = prox_of_minus_log(*x, steps.at(i)).max(floor);
        }
        true
    }

    fn project(&mut self, c: &mut [f64], floor: f64) -> bool {
        c.iter_mut().for_each(|x| *x = x.max(floor));
        true
    }
}
