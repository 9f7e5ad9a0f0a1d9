//! Gradients written by hand for sixteen draws: what a plan is measured against.

use stickler::num::dispatch::{LaneWork, View, best_lanes};
use stickler::num::real::{F16, Real};

/// A gradient by hand: coordinates in, gradient out.
pub trait ByHand {
    /// Writes the gradient, with the log density up to a constant as the result.
    fn run<U: Real>(&self, z: &[U], gradient: &mut [U]) -> U;
}

struct Call<'a, K> {
    kernel: &'a K,
    z: &'a [F16],
    gradient: &'a mut [F16],
}

impl<K: ByHand> LaneWork<F16> for Call<'_, K> {
    type Out = F16;

    #[inline(always)]
    fn run<U: Real>(self, view: View<F16, U>) -> F16 {
        view.back(self.kernel.run(view.slice(self.z), view.slice_mut(self.gradient)))
    }
}

/// Runs a kernel on the registers of this processor.
pub fn call(kernel: &impl ByHand, z: &[F16], gradient: &mut [F16]) -> F16 {
    best_lanes(Call { kernel, z, gradient })
}

/// Eight schools: standardised effects, mean, log of the scale.
pub struct Schools {
    pub y: Vec<f64>,
    pub sigma: Vec<f64>,
}

impl ByHand for Schools {
    #[inline(always)]
    fn run<U: Real>(&self, z: &[U], gradient: &mut [U]) -> U {
        let n = self.y.len();
        let (mu, log_tau) = (z[n], z[n + 1]);
        let tau = log_tau.exp();
        let odd = (tau * tau).scale(1.0 / 25.0);
        let mut value = log_tau - odd.log1p() - mu.square().scale(0.02);
        let (mut in_mu, mut in_tau) = (-mu.scale(0.04), -(tau.scale(2.0 / 25.0) / odd.shift(1.0)));
        for j in 0..n {
            let r = U::splat(self.y[j]) - (mu + tau * z[j]);
            let s = r.scale(1.0 / (self.sigma[j] * self.sigma[j]));
            value -= (r * s + z[j] * z[j]).scale(0.5);
            in_mu += s;
            in_tau += s * z[j];
            gradient[j] = s * tau - z[j];
        }
        gradient[n] = in_mu;
        gradient[n + 1] = in_tau * tau + U::one();
        value
    }
}

/// Intercept and slopes with standard normal priors.
pub struct Logistic {
    pub y: Vec<f64>,
    pub x: Vec<f64>,
    pub columns: usize,
}

const ROWS: usize = 8;

impl ByHand for Logistic {
    #[inline(always)]
    fn run<U: Real>(&self, z: &[U], gradient: &mut [U]) -> U {
        let k = self.columns;
        for (g, &z) in gradient.iter_mut().zip(z) {
            *g = -z;
        }
        let mut value = U::zero();
        for &z in z {
            value -= z.square().scale(0.5);
        }
        for (x, y) in self.x.chunks(4 * ROWS * k).zip(self.y.chunks(4 * ROWS)) {
            let mut slopes = [U::zero(); 4 * ROWS];
            for (b, x) in x.chunks_exact(ROWS * k).enumerate() {
                let mut sums = [z[0]; ROWS];
                for c in 0..k {
                    for r in 0..ROWS {
                        sums[r] = U::splat(x[r * k + c]).mul_add(z[1 + c], sums[r]);
                    }
                }
                slopes[b * ROWS..(b + 1) * ROWS].copy_from_slice(&sums);
            }
            let (mut total, mut product) = (U::zero(), U::one());
            for (s, &y) in slopes.iter_mut().zip(y) {
                let sign = U::splat(1.0 - 2.0 * y);
                let [v, factor, p] = (*s * sign).log1p_exp_by_factor();
                value -= v;
                product = product * factor;
                *s = -(p * sign);
                total += *s;
            }
            value -= product.ln();
            gradient[0] += total;
            let mut c = 0;
            while c + ROWS <= k {
                let mut sums = [U::zero(); ROWS];
                for (r, row) in x.chunks_exact(k).enumerate() {
                    for j in 0..ROWS {
                        sums[j] = U::splat(row[c + j]).mul_add(slopes[r], sums[j]);
                    }
                }
                for j in 0..ROWS {
                    gradient[1 + c + j] += sums[j];
                }
                c += ROWS;
            }
            for c in c..k {
                let mut sum = U::zero();
                for (r, row) in x.chunks_exact(k).enumerate() {
                    sum = U::splat(row[c]).mul_add(slopes[r], sum);
                }
                gradient[1 + c] += sum;
            }
        }
        value
    }
}

/// Five coefficients for each group of rows, around a common mean.
pub struct Groups {
    pub y: Vec<f64>,
    pub x: Vec<f64>,
    pub size: usize,
}

impl ByHand for Groups {
    #[inline(always)]
    fn run<U: Real>(&self, z: &[U], gradient: &mut [U]) -> U {
        let mut value = U::zero();
        let mut common = [U::zero(); 5];
        for k in 0..5 {
            value -= z[k].square().scale(0.5);
            common[k] = -z[k];
        }
        for (j, (x, y)) in self.x.chunks_exact(5 * self.size).zip(self.y.chunks_exact(self.size)).enumerate()
        {
            let (mut own, mut slope) = ([U::zero(); 5], [U::zero(); 5]);
            for k in 0..5 {
                own[k] = z[5 + 5 * j + k];
                let d = own[k] - z[k];
                value -= d.square().scale(0.5);
                slope[k] = -d;
                common[k] += d;
            }
            let mut product = U::one();
            for (row, &y) in x.chunks_exact(5).zip(y) {
                let mut eta = U::zero();
                for k in 0..5 {
                    eta = U::splat(row[k]).mul_add(own[k], eta);
                }
                let sign = U::splat(1.0 - 2.0 * y);
                let [v, factor, p] = (eta * sign).log1p_exp_by_factor();
                value -= v;
                product = product * factor;
                let s = -(p * sign);
                for k in 0..5 {
                    slope[k] = U::splat(row[k]).mul_add(s, slope[k]);
                }
            }
            value -= product.ln();
            gradient[5 + 5 * j..10 + 5 * j].copy_from_slice(&slope);
        }
        gradient[..5].copy_from_slice(&common);
        value
    }
}

/// GARCH(1, 1): mean, log alpha0, logit alpha1, logit of beta1 / (1 - alpha1).
pub struct Garch {
    pub y: Vec<f64>,
    pub first: f64,
}

impl ByHand for Garch {
    #[inline(always)]
    fn run<U: Real>(&self, z: &[U], gradient: &mut [U]) -> U {
        let n = self.y.len();
        let (a0, a1, share) = (z[1].exp(), z[2].inv_logit(), z[3].inv_logit());
        let (rest, left) = ((-z[2]).inv_logit(), (-z[3]).inv_logit());
        let b1 = rest * share;
        let mut value = z[1] + (a1 * rest).ln() + rest.ln() + (share * left).ln();
        let mut h = vec![U::zero(); n];
        h[0] = U::splat(self.first * self.first);
        for t in 1..n {
            let r = U::splat(self.y[t - 1]) - z[0];
            h[t] = a0 + a1 * r.square() + b1 * h[t - 1];
        }
        let (mut in_mu, mut in_a0, mut in_a1, mut in_b1) = (U::zero(), U::zero(), U::zero(), U::zero());
        let (mut after, mut product) = (U::zero(), U::one());
        for t in (0..n).rev() {
            let r = U::splat(self.y[t]) - z[0];
            let inverse = h[t].recip();
            let scaled = r.square() * inverse;
            let [plain, factor] = h[t].ln_by_factor();
            value -= (plain + scaled).scale(0.5);
            product = product * factor;
            // What h[t + 1] takes from this step comes before its own slope.
            in_mu += r * (inverse - (after * a1).scale(2.0));
            in_a1 += after * r.square();
            in_b1 += after * h[t];
            let own = (scaled.shift(-1.0) * inverse).scale(0.5);
            let slope = own + b1 * after;
            if t > 0 {
                in_a0 += slope;
            }
            after = slope;
        }
        value -= product.ln().scale(0.5);
        gradient[0] = in_mu;
        gradient[1] = in_a0 * a0 + U::one();
        gradient[2] = (in_a1 - in_b1 * share) * a1 * rest + (rest - a1) - a1;
        gradient[3] = in_b1 * rest * share * left + (left - share);
        value
    }
}

/// Most points of the Gaussian process.
const MOST: usize = 16;

/// A Gaussian process with Poisson counts: log length scale, log amplitude, standardised function.
pub struct Process {
    pub x: Vec<f64>,
    pub k: Vec<f64>,
}

impl ByHand for Process {
    #[inline(always)]
    fn run<U: Real>(&self, z: &[U], gradient: &mut [U]) -> U {
        let n = self.x.len();
        let (rho, alpha) = (z[0].exp(), z[1].exp());
        let (square, inverse) = (alpha.square(), rho.square().recip());
        let (mut cov, mut l) = ([[U::zero(); MOST]; MOST], [[U::zero(); MOST]; MOST]);
        for i in 0..n {
            for j in 0..=i {
                let d = self.x[i] - self.x[j];
                cov[i][j] = square * inverse.scale(-0.5 * d * d).exp();
            }
        }
        for i in 0..n {
            for j in 0..=i {
                let mut sum = if i == j { cov[i][i].shift(1e-10) } else { cov[i][j] };
                for k in 0..j {
                    sum -= l[i][k] * l[j][k];
                }
                l[i][j] = if i == j { sum.sqrt() } else { sum / l[j][j] };
            }
        }
        let mut value = z[0].scale(25.0) - rho.scale(4.0) + z[1] - square.scale(0.125);
        let mut bar = [[U::zero(); MOST]; MOST];
        for i in 0..n {
            gradient[2 + i] = -z[2 + i];
            value -= z[2 + i].square().scale(0.5);
        }
        for i in 0..n {
            let mut f = U::zero();
            for j in 0..=i {
                f += l[i][j] * z[2 + j];
            }
            let mean = f.exp();
            value += f.scale(self.k[i]) - mean;
            let up = U::splat(self.k[i]) - mean;
            for j in 0..=i {
                bar[i][j] = up * z[2 + j];
                gradient[2 + j] += up * l[i][j];
            }
        }
        for j in (0..n).rev() {
            let pivot = l[j][j].recip();
            let mut diagonal = bar[j][j];
            for i in j + 1..n {
                let b = bar[i][j] * pivot;
                bar[i][j] = b;
                diagonal -= l[i][j] * b;
                for k in 0..j {
                    bar[j][k] -= b * l[i][k];
                    bar[i][k] -= b * l[j][k];
                }
            }
            let d = diagonal * pivot;
            for k in 0..j {
                bar[j][k] -= d * l[j][k];
            }
            bar[j][j] = d.scale(0.5);
        }
        let (mut in_alpha, mut in_rho) = (U::zero(), U::zero());
        for i in 0..n {
            for j in 0..=i {
                let d = self.x[i] - self.x[j];
                let s = bar[i][j] * cov[i][j];
                in_alpha += s.scale(2.0);
                in_rho += (s * inverse).scale(d * d);
            }
        }
        gradient[0] = in_rho + rho.scale(-4.0).shift(25.0);
        gradient[1] = in_alpha - square.scale(0.25) + U::one();
        value
    }
}
