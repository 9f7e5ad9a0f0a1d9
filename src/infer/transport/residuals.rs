//! Finds the next layer of bent coordinates from the residuals of a fitted Gaussian.
//!
//! With draws u of the Gaussian in its own coordinates and r = u + Cᵀ∇log p, moving the draws along a small
//! field v raises the ELBO by `E[v·r]` and lowers it by `½ E[tr(∇v ∇v) + |v|²]`; so each coefficient of the
//! layer has its own best value, an average of r times a polynomial, and what it gains is known in advance.
//! Leaders are the coordinates that the spread of the others follows most: those with large third derivatives
//! ∂²_i ∂_h of log p.

use crate::infer::gaussian::Gaussian;
use crate::infer::transport::lanes::skew_of;
use crate::infer::transport::map::{Bends, Warp, norms, pair_count, pairs, products};
use crate::num::linalg::{
    add_product, cholesky, lower_product, lower_transposed_product, solve_lower_many,
    solve_lower_transposed_many,
};
use crate::num::stream::Stream;
use crate::target::Target;
use crate::vi::Scale;
use rayon::prelude::*;

/// Who draws: the residuals that shape a layer.
const PURPOSE: u64 = 0x7368_6170;
/// Draws evaluated together, in antithetic pairs.
const BLOCK: usize = 64;
/// Most leaders, and most where there are many coordinates.
const LEADERS: [usize; 2] = [8, 24];
/// Many coordinates.
const MANY: usize = 100;
/// A leader with a smaller share of the third derivatives is none.
const LEAST_SHARE: f64 = 0.01;

/// Draws u and gradients there, coordinate by coordinate (`d × count`): those of a pair stand `BLOCK / 2`
/// apart.
struct Draws {
    u: Vec<f64>,
    slope: Vec<f64>,
    count: usize,
}

/// A layer and the gain in nats that it promises.
pub(in crate::infer) struct Shape {
    pub(in crate::infer) warp: Warp,
    pub(in crate::infer) gain: f64,
}

/// The layer that the residuals of `count` draws ask for; None if a draw is not finite. A first layer chooses
/// its leaders; a later one keeps them, as the first coordinates.
pub(in crate::infer) fn shape(
    target: &dyn Target,
    q: &Gaussian,
    leaders: Option<usize>,
    count: usize,
    seed: u64,
) -> Option<Shape> {
    let Scale::Dense(factor) = &q.factor else { return None };
    let d = q.mean.len();
    let draws = draw(target, q, count, seed)?;
    let n = draws.count;
    let (order, leaders) = match leaders {
        Some(leaders) => ((0..d).collect(), leaders),
        None => order(factor, &draws, d),
    };
    // The same draws in the layer's order: x = C u, g as they are, and the factor of the permuted covariance.
    let mut x = vec![0.0; d * n];
    lower_product(factor, &draws.u, [d, n], &mut x);
    let permuted = |a: &[f64]| -> Vec<f64> {
        order.iter().flat_map(|&i| a[i * n..(i + 1) * n].iter().copied()).collect()
    };
    let (mut u, slope) = (permuted(&x), permuted(&draws.slope));
    let factor = permuted_factor(factor, &order)?;
    solve_lower_many(&factor, &mut u, [d, n]);
    let mut r = vec![0.0; d * n];
    lower_transposed_product(&factor, &slope, [d, n], &mut r);
    r.iter_mut().zip(&u).for_each(|(r, u)| *r += u);
    let (warp, gain) = coefficients(&u, &r, n, leaders, q.mean.clone(), factor, order);
    Some(Shape { warp, gain })
}

fn draw(target: &dyn Target, q: &Gaussian, count: usize, seed: u64) -> Option<Draws> {
    let d = q.mean.len();
    let blocks: Option<Vec<(Vec<f64>, Vec<f64>)>> = (0..count.div_ceil(BLOCK))
        .into_par_iter()
        .map_init(
            || target.evaluator(),
            |evaluator, block| {
                let mut stream = Stream::new(seed, PURPOSE, block as u64);
                let mut u = vec![0.0; d * BLOCK];
                for row in u.chunks_exact_mut(BLOCK) {
                    let (plus, minus) = row.split_at_mut(BLOCK / 2);
                    stream.fill_normal(plus);
                    plus.iter().zip(minus).for_each(|(p, m)| *m = -p);
                }
                let mut z = vec![0.0; d * BLOCK];
                q.factor.apply(&u, [d, BLOCK], &mut z);
                z.chunks_exact_mut(BLOCK)
                    .zip(&q.mean)
                    .for_each(|(row, m)| row.iter_mut().for_each(|z| *z += m));
                let (mut value, mut slope) = (vec![0.0; BLOCK], vec![0.0; d * BLOCK]);
                evaluator.evaluate(&z, BLOCK, &mut value, &mut slope);
                let good = value.iter().chain(&slope).all(|x| x.is_finite());
                good.then_some((u, slope))
            },
        )
        .collect();
    let blocks = blocks?;
    let count = blocks.len() * BLOCK;
    let mut draws = Draws { u: vec![0.0; d * count], slope: vec![0.0; d * count], count };
    for (k, (u, slope)) in blocks.iter().enumerate() {
        for i in 0..d {
            let to = i * count + k * BLOCK..i * count + (k + 1) * BLOCK;
            draws.u[to.clone()].copy_from_slice(&u[i * BLOCK..(i + 1) * BLOCK]);
            draws.slope[to].copy_from_slice(&slope[i * BLOCK..(i + 1) * BLOCK]);
        }
    }
    Some(draws)
}

/// The order of the coordinates, leaders first, and the number of leaders.
///
/// With ξ = C⁻ᵀu and ρ = g + ξ, `E[ρ_i ξ_i ξ_h]` is the mean of ∂²_i ∂_h log p under the Gaussian. Each is
/// estimated twice, from two halves of the draws, so that the product of the two is an unbiased square.
fn order(factor: &[f64], draws: &Draws, d: usize) -> (Vec<usize>, usize) {
    let n = draws.count;
    let mut xi = draws.u.clone();
    solve_lower_transposed_many(factor, &mut xi, [d, n]);
    let scale: Vec<f64> = xi
        .chunks_exact(n)
        .map(|row| (row.iter().map(|x| x * x).sum::<f64>() / n as f64).sqrt().max(f64::MIN_POSITIVE))
        .collect();
    let half = n / 2 / BLOCK * BLOCK;
    let mut thirds = [vec![0.0; d * d], vec![0.0; d * d]];
    for (third, range) in thirds.iter_mut().zip([0..half, half..n]) {
        let m = range.len();
        if m == 0 {
            continue;
        }
        let (mut left, mut right) = (vec![0.0; d * m], vec![0.0; m * d]);
        for i in 0..d {
            for (b, k) in range.clone().enumerate() {
                let x = xi[i * n + k];
                // ρ has the unit of one over the conditional scale s of its coordinate, as has ξ.
                left[i * m + b] = (draws.slope[i * n + k] + x) * x / (scale[i] * scale[i]);
                right[b * d + i] = x / scale[i];
            }
        }
        add_product(1.0 / m as f64, &left, &right, [d, m, d], third);
    }
    let [a, b] = &thirds;
    let mut score = vec![0.0; d];
    for i in 0..d {
        for h in (0..d).filter(|&h| h != i) {
            score[h] += a[i * d + h] * b[i * d + h];
        }
    }
    let total: f64 = score.iter().map(|s| s.max(0.0)).sum();
    let mut order: Vec<usize> = (0..d).collect();
    order.sort_by(|&i, &j| score[j].total_cmp(&score[i]).then(i.cmp(&j)));
    let leads = |i: &&usize| score[**i] > (LEAST_SHARE * total).max(1e-4);
    let leaders =
        order.iter().take_while(leads).count().min(LEADERS[usize::from(d >= MANY)]).min(d.saturating_sub(1));
    let mut rest = order.split_off(leaders);
    rest.sort_unstable();
    order.extend(rest);
    (order, leaders)
}

/// The Cholesky factor of the covariance with its coordinates in another order.
fn permuted_factor(factor: &[f64], order: &[usize]) -> Option<Vec<f64>> {
    let d = order.len();
    let mut rows = Vec::with_capacity(d * d);
    order.iter().for_each(|&i| rows.extend_from_slice(&factor[i * d..(i + 1) * d]));
    let columns: Vec<f64> = (0..d * d).map(|p| rows[p % d * d + p / d]).collect();
    let mut covariance = vec![0.0; d * d];
    add_product(1.0, &rows, &columns, [d, d, d], &mut covariance);
    cholesky(&mut covariance, d).ok()?;
    (0..d).for_each(|i| covariance[i * d + i + 1..(i + 1) * d].fill(0.0));
    Some(covariance)
}

/// An average over antithetic pairs, and its squared standard error.
fn average(value: impl Fn(usize) -> f64, n: usize) -> [f64; 2] {
    let half = BLOCK / 2;
    let (mut sum, mut square) = (0.0, 0.0);
    for block in 0..n / BLOCK {
        for b in block * BLOCK..block * BLOCK + half {
            let x = 0.5 * (value(b) + value(b + half));
            sum += x;
            square += x * x;
        }
    }
    let count = (n / 2) as f64;
    let mean = sum / count;
    [mean, (square / count - mean * mean).max(0.0) / count]
}

/// Draws the averages of one feature towards zero by their noise: by the share of signal among all of them,
/// or by what each shows alone.
fn shrink(averages: &mut [[f64; 2]]) {
    let count = averages.iter().filter(|a| a[1] > 0.0).count().max(1) as f64;
    let total: f64 = averages.iter().map(|[m, noise]| m * m - noise).sum();
    let signal = (total / count).max(0.0);
    for [m, noise] in averages {
        let together = signal / (signal + *noise).max(f64::MIN_POSITIVE);
        let alone = 1.0 - 4.0 * *noise / (*m * *m).max(f64::MIN_POSITIVE);
        *m *= together.max(alone);
    }
}

/// The layer of these draws in its own order, and the gain that it promises.
fn coefficients(
    u: &[f64],
    r: &[f64],
    n: usize,
    leaders: usize,
    mean: Vec<f64>,
    factor: Vec<f64>,
    order: Vec<usize>,
) -> (Warp, f64) {
    let d = order.len();
    let products = products(u, leaders, n);
    let row = |p: usize, a: &[f64]| -> Vec<f64> { a[p * n..(p + 1) * n].to_vec() };
    // The features that may act on any coordinate, with the last leader that each needs.
    let needs: Vec<usize> = (0..leaders).chain(pairs(leaders).map(|(_, k)| k)).collect();
    let features: Vec<Vec<f64>> =
        (0..leaders).map(|h| row(h, u)).chain((0..pair_count(leaders)).map(|k| row(k, &products))).collect();
    let norms = norms(leaders);
    let mut gain = 0.0;
    let mut column =
        |value: &(dyn Fn(usize, usize) -> f64 + Sync), from: usize, stiffness: f64| -> Vec<f64> {
            let one = |p: usize| if p < from { [0.0; 2] } else { average(|b| value(p, b), n) };
            let mut averages: Vec<[f64; 2]> = (0..d).into_par_iter().map(one).collect();
            shrink(&mut averages);
            gain += averages.iter().map(|[m, _]| 0.5 * m * m / stiffness).sum::<f64>();
            averages.iter().map(|[m, _]| m / stiffness).collect()
        };
    let skew = column(&|p, b| r[p * n + b] * (u[p * n + b] * u[p * n + b] - 1.0), 0, 6.0);
    let mut spread = vec![0.0; d * features.len()];
    let mut bend = vec![0.0; d * pair_count(leaders)];
    for (f, feature) in features.iter().enumerate() {
        let limit = if f < leaders { 0.7 } else { 0.15 };
        let value = |p: usize, b: usize| r[p * n + b] * u[p * n + b] * feature[b];
        for (p, a) in column(&value, needs[f] + 1, 2.0 * norms[f]).into_iter().enumerate() {
            spread[p * features.len() + f] = a.clamp(-limit, limit);
        }
        if f >= leaders {
            let value = |p: usize, b: usize| r[p * n + b] * feature[b];
            for (p, c) in column(&value, needs[f] + 1, norms[f]).into_iter().enumerate() {
                bend[p * pair_count(leaders) + f - leaders] = c.clamp(-1.0, 1.0);
            }
        }
    }
    let skew = skew.into_iter().map(skew_of).collect();
    (Warp::new(mean, factor, order, leaders, Bends { spread, bend, skew }), gain)
}
