//! Bent coordinates in which a posterior is closer to Gaussian: a triangular map, one layer after another.
//!
//! A layer orders the coordinates so that a few leaders come first, and takes standard coordinates w to `z =
//! m + C y`, `y_p = S_p(w_p) exp(a_p·(t, He₂(t)) - …) + b_p·He₂(t)` with `t = w / √(1 + w²/16)` of the
//! leaders: the spread of each coordinate follows the leaders (as the effects of groups follow their scale),
//! its centre is a curve in them, and S_p skews its margin and gives it the exponential tail that logarithms
//! of scales have. Far out t no longer changes, so that nothing explodes. Everything is triangular, so the
//! log determinant is a sum.

use crate::infer::gaussian::Gaussian;
use crate::infer::transport::lanes::{Coordinate, Known, Led};
use crate::num::linalg::{
    add_product, add_transposed_product, log_det_cholesky, lower_product, lower_transposed_product,
};

/// One layer.
#[derive(Clone, Debug)]
pub(in crate::infer) struct Warp {
    mean: Vec<f64>,
    /// Lower triangular, in the order of the layer, and the logarithm of its determinant.
    factor: Vec<f64>,
    log_det: f64,
    /// The coordinate at each place of the layer's order.
    order: Vec<usize>,
    leaders: usize,
    bends: Bends,
    /// What the logarithm of the spread of each coordinate begins with, so that spreads are 1 on average.
    constants: Vec<f64>,
}

/// How the coordinates of a layer follow its leaders, in its order: only leaders that come before a
/// coordinate act on it, and the coefficients of the others are 0.
#[derive(Clone, Debug)]
pub(in crate::infer) struct Bends {
    /// a: `d × (leaders + pairs)`.
    pub(in crate::infer) spread: Vec<f64>,
    /// b: `d × pairs`, pairs as [`pairs`] lists them.
    pub(in crate::infer) bend: Vec<f64>,
    /// c: below zero for a tail to the left, above for one to the right.
    pub(in crate::infer) skew: Vec<f64>,
}

/// Leaders that bend in pairs; the others bend by their squares alone.
const PAIRED: usize = 6;

/// The pairs of leaders h ≤ k that bend, ordered by k.
pub(in crate::infer) fn pairs(leaders: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..leaders).flat_map(move |k| (if k < PAIRED { 0 } else { k }..=k).map(move |h| (h, k)))
}

/// How many pairs there are.
pub(in crate::infer) fn pair_count(leaders: usize) -> usize {
    let paired = leaders.min(PAIRED);
    paired * (paired + 1) / 2 + leaders - paired
}

/// t(w), which levels off.
fn levelled(w: f64) -> f64 {
    w / (1.0 + w * w / 16.0).sqrt()
}

/// What a forward pass leaves for the way back, each `d × n` or, of the leaders, fewer rows.
#[derive(Default)]
pub(super) struct Trace {
    w: Vec<f64>,
    /// t(w) of the leaders, then the products of pairs.
    features: Vec<f64>,
    /// S(w), S'(w) and the slope of log S'(w).
    value: Vec<f64>,
    slope: Vec<f64>,
    curve: Vec<f64>,
    /// The factor that the leaders put on the spread.
    swell: Vec<f64>,
}

impl Trace {
    /// Room for so many coordinates of all draws, as if nothing were bent.
    fn begin(&mut self, size: usize) {
        for (room, usual) in
            [(&mut self.value, 0.0), (&mut self.slope, 1.0), (&mut self.curve, 0.0), (&mut self.swell, 1.0)]
        {
            room.clear();
            room.resize(size, usual);
        }
    }
}

impl Warp {
    /// The layer `mean + factor y` of coordinates in an order that begins with so many leaders.
    pub(in crate::infer) fn new(
        mean: Vec<f64>,
        factor: Vec<f64>,
        order: Vec<usize>,
        leaders: usize,
        bends: Bends,
    ) -> Warp {
        let norms = norms(leaders);
        let constant = |row: &[f64]| -row.iter().zip(&norms).map(|(a, norm)| norm * a * a).sum::<f64>();
        let constants = bends.spread.chunks_exact(norms.len().max(1)).map(constant).collect();
        let log_det = 0.5 * log_det_cholesky(&factor, mean.len());
        Warp { mean, factor, log_det, order, leaders, bends, constants }
    }

    /// The layer of a Gaussian: in its coordinates the Gaussian is standard.
    pub(in crate::infer) fn plain(q: &Gaussian) -> Warp {
        let d = q.mean.len();
        let bends = Bends { spread: Vec::new(), bend: Vec::new(), skew: vec![0.0; d] };
        Warp::new(q.mean.clone(), q.factor.dense(d), (0..d).collect(), 0, bends)
    }

    /// The same layer with its bends scaled by a share.
    pub(in crate::infer) fn damped(&self, share: f64) -> Warp {
        let scaled = |x: &[f64]| x.iter().map(|x| share * x).collect();
        let Bends { spread, bend, skew } = &self.bends;
        let bends = Bends { spread: scaled(spread), bend: scaled(bend), skew: scaled(skew) };
        Warp::new(self.mean.clone(), self.factor.clone(), self.order.clone(), self.leaders, bends)
    }

    /// How many leaders there are.
    pub(in crate::infer) fn leaders(&self) -> usize {
        self.leaders
    }

    /// The logarithms of what the leaders put on the spreads, and what they add, each `d × n`; nothing
    /// without leaders.
    fn led(&self, features: &[f64], n: usize) -> [Vec<f64>; 2] {
        if self.leaders == 0 {
            return [Vec::new(), Vec::new()];
        }
        let (d, pairs) = (self.mean.len(), pair_count(self.leaders));
        let mut logs: Vec<f64> = self.constants.iter().flat_map(|c| std::iter::repeat_n(*c, n)).collect();
        add_product(1.0, &self.bends.spread, features, [d, self.leaders + pairs, n], &mut logs);
        let mut added = vec![0.0; d * n];
        add_product(1.0, &self.bends.bend, &features[self.leaders * n..], [d, pairs, n], &mut added);
        [logs, added]
    }

    /// z from w for `n` draws; adds the log determinant.
    pub(super) fn forward(&self, w: &[f64], n: usize, log_det: &mut [f64], trace: &mut Trace) -> Vec<f64> {
        let d = self.mean.len();
        trace.begin(d * n);
        trace.w = w.to_vec();
        trace.features = w[..self.leaders * n].iter().map(|w| levelled(*w)).collect();
        trace.features.extend(products(&trace.features, self.leaders, n));
        let [logs, added] = self.led(&trace.features, n);
        let mut y = vec![0.0; d * n];
        for p in 0..d {
            let row = p * n..(p + 1) * n;
            let led = (self.leaders > 0).then(|| Led { log: &logs[row.clone()], added: &added[row.clone()] });
            let coordinate = Coordinate { w: &w[row.clone()], skew: self.bends.skew[p], led };
            coordinate.bend(&mut Known {
                value: &mut trace.value[row.clone()],
                slope: &mut trace.slope[row.clone()],
                curve: &mut trace.curve[row.clone()],
                swell: &mut trace.swell[row.clone()],
                y: &mut y[row],
                log_det,
            });
        }
        let mut placed = vec![0.0; d * n];
        lower_product(&self.factor, &y, [d, n], &mut placed);
        let mut z = vec![0.0; d * n];
        for (p, &i) in self.order.iter().enumerate() {
            let out = &mut z[i * n..(i + 1) * n];
            out.iter_mut().zip(&placed[p * n..(p + 1) * n]).for_each(|(z, x)| *z = self.mean[i] + x);
        }
        log_det.iter_mut().for_each(|l| *l += self.log_det);
        z
    }

    /// The gradient in w of the log density with its log determinant, from that in z.
    pub(super) fn back(&self, gradient: &[f64], n: usize, trace: &Trace) -> Vec<f64> {
        let d = self.mean.len();
        let mut placed = vec![0.0; d * n];
        for (p, &i) in self.order.iter().enumerate() {
            placed[p * n..(p + 1) * n].copy_from_slice(&gradient[i * n..(i + 1) * n]);
        }
        let mut slope = vec![0.0; d * n];
        lower_transposed_product(&self.factor, &placed, [d, n], &mut slope);
        let mut out = vec![0.0; d * n];
        for (at, o) in out.iter_mut().enumerate() {
            *o = slope[at] * trace.swell[at] * trace.slope[at] + trace.curve[at];
        }
        for ((o, l), w) in out.iter_mut().zip(self.of_leaders(&slope, n, trace)).zip(&trace.w) {
            let square = 1.0 + w * w / 16.0;
            *o += l / (square * square.sqrt());
        }
        out
    }

    /// The gradient in t of the leaders that what follows them gives, from that in y.
    fn of_leaders(&self, slope: &[f64], n: usize, trace: &Trace) -> Vec<f64> {
        if self.leaders == 0 {
            return Vec::new();
        }
        let (d, count) = (self.mean.len(), pair_count(self.leaders));
        let through: Vec<f64> =
            slope.iter().zip(&trace.value).zip(&trace.swell).map(|((g, v), s)| 1.0 + g * v * s).collect();
        let mut adjoint = vec![0.0; (self.leaders + count) * n];
        add_transposed_product(1.0, &self.bends.spread, &through, [self.leaders + count, d, n], &mut adjoint);
        let (leaders, of_pairs) = adjoint.split_at_mut(self.leaders * n);
        add_transposed_product(1.0, &self.bends.bend, slope, [count, d, n], of_pairs);
        for ((h, k), adjoint) in pairs(self.leaders).zip(of_pairs.chunks_exact(n)) {
            for b in 0..n {
                leaders[h * n + b] += adjoint[b] * trace.features[k * n + b];
                leaders[k * n + b] += adjoint[b] * trace.features[h * n + b];
            }
        }
        adjoint.truncate(self.leaders * n);
        adjoint
    }
}

/// The variance of each feature under a standard normal: of the leaders, then of their pairs.
pub(in crate::infer) fn norms(leaders: usize) -> Vec<f64> {
    let pairs = pairs(leaders).map(|(h, k)| 1.0 + f64::from(h == k));
    std::iter::repeat_n(1.0, leaders).chain(pairs).collect()
}

/// The second Hermite polynomials of the leaders, pair by pair.
pub(in crate::infer) fn products(w: &[f64], leaders: usize, n: usize) -> Vec<f64> {
    let mut out = Vec::with_capacity(pair_count(leaders) * n);
    for (h, k) in pairs(leaders) {
        let minus = f64::from(h == k);
        out.extend((0..n).map(|b| w[h * n + b] * w[k * n + b] - minus));
    }
    out
}
