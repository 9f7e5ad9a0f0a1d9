//! Diagonal factors: mean field, where every operation is O(d).

use super::{Factor, ProxWith, Scale, Sizes, Space, prox_of_minus_log};
use crate::num::linalg::dot;

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

    fn diagonal(&self, i: usize) -> usize {
        i
    }

    fn scale(&self, c: &[f64]) -> Scale {
        Scale::Diagonal(c.to_vec())
    }

    fn load(&mut self, c: &[f64]) -> bool {
        c.iter().all(|x| *x > 0.0)
    }

    fn multiply(&self, c: &[f64], u: &[f64], draws: usize, out: &mut [f64]) {
        for ((out, u), c) in out.chunks_exact_mut(draws).zip(u.chunks_exact(draws)).zip(c) {
            out.iter_mut().zip(u).for_each(|(o, u)| *o += c * u);
        }
    }

    fn solve_transposed(&self, c: &[f64], x: &mut [f64], draws: usize) {
        for (x, c) in x.chunks_exact_mut(draws).zip(c) {
            x.iter_mut().for_each(|x| *x /= c);
        }
    }

    fn add_outer(&mut self, scale: f64, s: &[f64], u: &[f64], draws: usize, g: &mut [f64]) {
        for ((g, s), u) in g.iter_mut().zip(s.chunks_exact(draws)).zip(u.chunks_exact(draws)) {
            *g += scale * dot(s, u);
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
