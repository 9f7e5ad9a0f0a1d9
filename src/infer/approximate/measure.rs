//! What a batch of draws says of a Gaussian: its natural gradient, what is left to gain, and its ELBO.

use crate::infer::gaussian::Gaussian;
use crate::num::linalg::{add_product_lower, dot};
use crate::num::real::LN_2PI;
use crate::num::sobol::Sobol;
use crate::num::stream::Stream;
use crate::target::Target;
use crate::vi::Scale;
use rayon::prelude::*;
use std::ops::Range;

/// Who draws: the batches of the fit.
const PURPOSE: u64 = 0x6761_7573;
/// Independent groups of draws in a batch.
pub(super) const GROUPS: usize = 8;
/// Draws evaluated together.
const CHUNK: usize = 32;
/// Dimensions up to which a batch is made of Sobol points: beyond, few points are no better spread than
/// random ones.
const SPREAD: usize = 24;

/// What a batch says about a Gaussian.
pub(super) struct Measure {
    /// Gradient, packed so that its squared norm is the gap: `E r / √2`, then the lower triangle of A,
    /// diagonal / 2, the rest / √2.
    pub(super) average: Vec<f64>,
    /// Unbiased estimate of the gap, its standard error, and what noise adds to the squared norm of
    /// `average`.
    pub(super) gap: f64,
    pub(super) gap_se: f64,
    pub(super) noise: f64,
    pub(super) elbo: f64,
    pub(super) elbo_se: f64,
}

struct Group {
    packed: Vec<f64>,
    elbo: f64,
}

/// Sums over the draws of a group.
struct Sums {
    stream: Stream,
    sobol: Option<Sobol>,
    mean: Vec<f64>,
    a: Vec<f64>,
    pub(super) elbo: f64,
}

impl Sums {
    fn new(d: usize, dense: bool, seed: u64, index: u64) -> Sums {
        let mut stream = Stream::new(seed, PURPOSE, index);
        let sobol = (d <= SPREAD).then(|| Sobol::new(d, stream.bits(), PURPOSE));
        Sums { stream, sobol, mean: vec![0.0; d], a: vec![0.0; if dense { d * d } else { d }], elbo: 0.0 }
    }

    /// The next `b` standard normal draws after `done`.
    fn next(&mut self, done: usize, b: usize) -> Vec<f64> {
        let mut u = vec![0.0; self.mean.len() * b];
        match &self.sobol {
            Some(sobol) => sobol.fill_normal(done as u64, b, &mut u),
            None => antithetic(&mut self.stream, &mut u, b),
        }
        u
    }

    /// Adds `b` draws, given the target's values and gradients there.
    fn add(&mut self, q: &Gaussian, u: &[f64], value: &[f64], g: &[f64]) {
        let (d, b) = (self.mean.len(), value.len());
        let mut r = vec![0.0; d * b];
        q.factor.apply_transposed(g, [d, b], &mut r);
        r.iter_mut().zip(u).for_each(|(r, u)| *r += u);
        self.elbo += value.iter().sum::<f64>() + 0.5 * dot(u, u);
        self.mean.iter_mut().zip(r.chunks_exact(b)).for_each(|(m, r)| *m += r.iter().sum::<f64>());
        match &q.factor {
            Scale::Dense(_) => {
                add_product_lower(0.5, &r, u, [d, b], &mut self.a);
                add_product_lower(0.5, u, &r, [d, b], &mut self.a);
            }
            Scale::Diagonal(_) => {
                let rows = r.chunks_exact(b).zip(u.chunks_exact(b));
                self.a.iter_mut().zip(rows).for_each(|(a, (r, u))| *a += dot(r, u));
            }
        }
    }

    /// The averages over `n` draws; None if anything is not finite.
    fn averages(self, dense: bool, n: usize) -> Option<Group> {
        let d = self.mean.len();
        let each = 1.0 / n as f64;
        let root = std::f64::consts::FRAC_1_SQRT_2;
        let mut packed: Vec<f64> = self.mean.iter().map(|m| root * each * m).collect();
        if dense {
            for i in 0..d {
                packed.extend(self.a[i * d..i * d + i].iter().map(|x| root * each * x));
                packed.push(0.5 * each * self.a[i * d + i]);
            }
        } else {
            packed.extend(self.a.iter().map(|x| 0.5 * each * x));
        }
        packed.iter().all(|x| x.is_finite()).then_some(Group { packed, elbo: self.elbo * each })
    }
}

/// Some groups of `n` draws each, evaluated side by side; None if anything is not finite.
fn groups(target: &dyn Target, q: &Gaussian, n: usize, seed: u64, indices: Range<u64>) -> Option<Vec<Group>> {
    let d = q.mean.len();
    let dense = matches!(q.factor, Scale::Dense(_));
    let mut evaluator = target.evaluator();
    let mut sums: Vec<Sums> = indices.map(|index| Sums::new(d, dense, seed, index)).collect();
    for done in (0..n).step_by(CHUNK) {
        let b = CHUNK.min(n - done);
        let all = b * sums.len();
        let us: Vec<Vec<f64>> = sums.iter_mut().map(|sums| sums.next(done, b)).collect();
        let u: Vec<f64> =
            (0..d).flat_map(|i| us.iter().flat_map(move |u| &u[i * b..(i + 1) * b])).copied().collect();
        let (mut z, mut g, mut value) = (vec![0.0; d * all], vec![0.0; d * all], vec![0.0; all]);
        q.factor.apply(&u, [d, all], &mut z);
        z.chunks_exact_mut(all).zip(&q.mean).for_each(|(row, m)| row.iter_mut().for_each(|z| *z += m));
        evaluator.evaluate(&z, all, &mut value, &mut g);
        if value.iter().chain(&g).any(|x| !x.is_finite()) {
            return None;
        }
        for (k, (sums, u)) in sums.iter_mut().zip(&us).enumerate() {
            let own = g.chunks_exact(all).flat_map(|row| &row[k * b..(k + 1) * b]).copied();
            sums.add(q, u, &value[k * b..(k + 1) * b], &own.collect::<Vec<f64>>());
        }
    }
    sums.into_iter().map(|sums| sums.averages(dense, n)).collect()
}

/// Standard normal draws in pairs of opposite sign.
fn antithetic(stream: &mut Stream, u: &mut [f64], b: usize) {
    for row in u.chunks_exact_mut(b) {
        let (plus, minus) = row.split_at_mut(b / 2);
        stream.fill_normal(plus);
        plus.iter().zip(minus).for_each(|(p, m)| *m = -p);
    }
}

pub(super) fn measure(target: &dyn Target, q: &Gaussian, n: usize, seed: u64, first: u64) -> Option<Measure> {
    // Small groups share a call, so that no lane of it is idle; two calls at least, for two threads.
    let together = (CHUNK / n.max(1)).clamp(1, GROUPS / 2);
    let some = |k: u64| {
        groups(target, q, n, seed, first + k..(first + GROUPS as u64).min(first + k + together as u64))
    };
    // All of them even if one fails: what was evaluated must not depend on which thread was first.
    let groups: Vec<Option<Vec<Group>>> =
        (0..GROUPS as u64).step_by(together).collect::<Vec<_>>().into_par_iter().map(some).collect();
    let groups: Vec<Group> = groups.into_iter().collect::<Option<Vec<_>>>()?.into_iter().flatten().collect();
    let k = GROUPS as f64;
    let mut total = vec![0.0; groups.first()?.packed.len()];
    groups.iter().for_each(|g| total.iter_mut().zip(&g.packed).for_each(|(t, x)| *t += x));
    let own: Vec<f64> = groups.iter().map(|g| dot(&g.packed, &g.packed)).collect();
    let with: Vec<f64> = groups.iter().map(|g| dot(&g.packed, &total)).collect();
    let (whole, sum) = (dot(&total, &total), own.iter().sum::<f64>());
    let gap = (whole - sum) / (k * (k - 1.0));
    let noise = ((sum - whole / k) / (k - 1.0)).max(0.0) / k;
    let without = |j: usize| (whole - 2.0 * with[j] + own[j] - (sum - own[j])) / ((k - 1.0) * (k - 2.0));
    let jackknife = ((k - 1.0) / k * (0..GROUPS).map(|j| (without(j) - gap).powi(2)).sum::<f64>()).sqrt();
    // Where one group outweighs the others their spread says nothing; noise spread evenly over all entries
    // gives the least error that there can be.
    let gap_se = jackknife.max(noise * (2.0 / total.len() as f64).sqrt());
    let elbo = groups.iter().map(|g| g.elbo).sum::<f64>() / k;
    let spread = groups.iter().map(|g| (g.elbo - elbo).powi(2)).sum::<f64>();
    total.iter_mut().for_each(|x| *x /= k);
    let d = q.mean.len();
    Some(Measure {
        average: total,
        gap,
        gap_se,
        noise,
        elbo: elbo + q.factor.log_det(d) + 0.5 * d as f64 * LN_2PI,
        elbo_se: (spread / (k * (k - 1.0))).sqrt(),
    })
}

/// What is left to gain for a Gaussian found by any method, in nats, by fresh draws: an estimate and its
/// standard error; None if anything is not finite.
pub(in crate::infer) fn gap(target: &dyn Target, q: &Gaussian, draws: usize, seed: u64) -> Option<[f64; 2]> {
    let m = measure(target, q, draws.div_ceil(GROUPS), seed, 0)?;
    [m.gap, m.gap_se].iter().all(|x| x.is_finite()).then_some([m.gap.max(0.0), m.gap_se])
}
