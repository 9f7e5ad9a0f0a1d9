//! Samplers: their draws follow the cdf (Kolmogorov and Smirnov), and the mean score of the density vanishes
//! on them.

use super::{at, data_positions, inputs, numbers, rows};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use stickler::dist::{Distribution, End, Part, Sampler};

const DRAWS: usize = 20_000;

fn draws(dist: &Distribution, args: &[f64], seed: u64) -> Vec<f64> {
    let Sampler::Number(sample) = dist.sample else { return Vec::new() };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..DRAWS).map(|_| sample(&mut rng, args)).collect()
}

/// The largest distance between the empirical and the true cumulative probability, times √n. Beyond 2.23 it
/// is seen once in 10,000 times (less often still where values are discrete).
#[test]
fn draws_follow_the_cdf() {
    for (i, (dist, _)) in rows().enumerate() {
        let Some(lcdf) = dist.lcdf else { continue };
        for (j, probe) in dist.probes.iter().enumerate() {
            let (_, args) = numbers(probe);
            let mut x = draws(dist, &args, (1000 * i + j) as u64);
            assert!(x.iter().all(|x| x.is_finite()), "{} with {args:?} draws {x:?}", dist.name);
            x.sort_by(f64::total_cmp);
            let n = DRAWS as f64;
            let (mut distance, mut k) = (0.0_f64, 0);
            while k < DRAWS {
                let same = x[k..].iter().take_while(|v| **v == x[k]).count();
                let p = at(lcdf, x[k], &args).exp();
                let below = if dist.discrete { at(lcdf, x[k] - 1.0, &args).exp() } else { p };
                distance = distance.max((p - (k + same) as f64 / n).abs()).max((below - k as f64 / n).abs());
                k += same;
            }
            let statistic = distance * n.sqrt();
            assert!(statistic < 2.23, "{} with {args:?}: {statistic}", dist.name);
        }
    }
}

/// Σ over parts of the derivative of the log density in argument `k`.
fn score(parts: &[Part], x: f64, args: &[f64], k: usize) -> f64 {
    let part_score = |part: &Part| match part.of.iter().position(|&of| of == k + 1) {
        Some(at) => crate::common::slopes(part.row, &inputs(part, x, args))[at],
        None => 0.0,
    };
    parts.iter().map(part_score).sum()
}

/// E[∂ log p(x | θ)/∂θ] = 0 under p(x | θ), wherever the support does not move with θ; to 4.5 standard
/// errors.
#[test]
fn the_mean_score_vanishes() {
    for (i, (dist, parts)) in rows().enumerate() {
        let moves = |e: &End| matches!(e, End::Arg(_));
        if !dist.discrete && dist.support.interval().is_none_or(|(low, high)| moves(&low) || moves(&high)) {
            continue;
        }
        let data = data_positions(dist);
        for (j, probe) in dist.probes.iter().enumerate() {
            let (_, args) = numbers(probe);
            let x = draws(dist, &args, (1000 * i + j + 500) as u64);
            if x.iter().all(|v| *v == x[0]) {
                // So rare an event that it was not drawn: no standard error to speak of.
                continue;
            }
            for k in (0..args.len()).filter(|k| !data.contains(&(k + 1))) {
                let scores: Vec<f64> = x.iter().map(|&x| score(parts, x, &args, k)).collect();
                let n = DRAWS as f64;
                let mean = scores.iter().sum::<f64>() / n;
                let variance = scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (n - 1.0);
                let error = (variance / n).sqrt();
                let arg = dist.args[k].name;
                assert!(
                    mean.abs() <= 4.5 * error,
                    "{} with {args:?}: mean score in {arg} is {mean} ± {error}",
                    dist.name
                );
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_draws() {
    for (dist, _) in rows() {
        let (_, args) = numbers(&dist.probes[0]);
        assert_eq!(draws(dist, &args, 7), draws(dist, &args, 7), "{}", dist.name);
    }
}
