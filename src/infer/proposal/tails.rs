//! The fitted Gaussian itself, and it with the tails of a Student-t.

use crate::infer::gaussian::Gaussian;
use crate::infer::proposal::{BESIDE, BLOCK, Kind, Proposal};
use crate::num::real::LN_2PI;
use crate::num::slices::inv_phi;
use crate::num::special::{inv_gamma_p_whole, lgamma, log_sum_exp};

/// Half the degrees of freedom of the heavy-tailed proposal, and these.
const HALF_FREEDOM: u32 = 4;
const FREEDOM: f64 = 2.0 * HALF_FREEDOM as f64;

/// Densities with the mean and scale of the fitted Gaussian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::infer) enum Tails {
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
}

/// A part of such a density.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Component {
    Gaussian,
    Student,
    Leaders,
}

impl Proposal for Tails {
    fn kind(&self) -> Kind {
        match self {
            Tails::Gaussian => Kind::Gaussian,
            Tails::Student | Tails::Mixture(_) | Tails::Heavy => Kind::Tails,
        }
    }

    fn draw(&self, q: &Gaussian, mut u: Vec<f64>, log_det: f64, log_q: &mut [f64]) -> Vec<f64> {
        let d = q.mean.len();
        log_q.copy_from_slice(&self.place(d, &mut u, log_det));
        let mut z = u[..u.len() - BESIDE * BLOCK].to_vec();
        q.factor.apply(&u[..d * BLOCK], [d, BLOCK], &mut z[..d * BLOCK]);
        z.chunks_exact_mut(BLOCK).zip(&q.mean).for_each(|(row, m)| row.iter_mut().for_each(|z| *z += m));
        z
    }
}

impl Tails {
    /// The component that a draw comes from, by a uniform number.
    fn component(self, u: f64) -> Component {
        match self {
            Tails::Gaussian => Component::Gaussian,
            Tails::Student => Component::Student,
            Tails::Mixture(_) | Tails::Heavy if u < 0.5 => Component::Gaussian,
            Tails::Mixture(leaders) if leaders == 0 || u < 0.75 => Component::Student,
            Tails::Mixture(_) | Tails::Heavy => Component::Leaders,
        }
    }

    /// Turns uniforms into standard draws of the proposal in place (coordinates of the Gaussian, then
    /// standard ones, then what decides the component and the joint tails of the former); log q of each, of
    /// the former alone.
    fn place(&self, d: usize, u: &mut [f64], log_det: f64) -> Vec<f64> {
        let (all, beside) = u.split_at_mut(u.len() - BESIDE * BLOCK);
        let (which, tails) = beside.split_at_mut(BLOCK);
        let (u, standard) = all.split_at_mut(d * BLOCK);
        inv_phi(standard);
        let leaders = match self {
            Tails::Gaussian | Tails::Student => 0,
            Tails::Mixture(k) => (*k).min(d),
            Tails::Heavy => d,
        };
        let components: Vec<Component> = which.iter().map(|u| self.component(*u)).collect();
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
        let constant =
            lgamma(half) - lgamma(0.5 * FREEDOM) - 0.5 * dims * (FREEDOM * std::f64::consts::PI).ln();
        let density = |b: usize| {
            let gaussian = -0.5 * (squares[b] + dims * LN_2PI);
            let student = || constant - half * (squares[b] / FREEDOM).ln_1p();
            let log = match self {
                Tails::Gaussian => gaussian,
                Tails::Student => student(),
                Tails::Heavy => log_sum_exp(&[gaussian, gaussian + heavier[b]]) - 2.0_f64.ln(),
                Tails::Mixture(0) => log_sum_exp(&[gaussian, student()]) - 2.0_f64.ln(),
                Tails::Mixture(_) => {
                    let parts = [gaussian + 2.0_f64.ln(), student(), gaussian + heavier[b]];
                    log_sum_exp(&parts) - 4.0_f64.ln()
                }
            };
            log - log_det
        };
        (0..BLOCK).map(density).collect()
    }
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
