//! Effects whose likelihood is not that of one mode: a fit is right, by sums over fine grids, or says that it
//! may not be.

use crate::fits;

use fits::{fitted, json, wrong};
use stickler::data::Dataset;
use stickler::infer::Fit;
use stickler::num::special::{erfc, lgamma};
use stickler::num::stream::Stream;
use stickler::target::{ModelTarget, Target};

const GROUPS: usize = 6;

/// Means and standard deviations of effects normal(mu, spread) for mu ~ normal(0, wide), from the log
/// likelihood of each.
fn exact(log_likelihood: impl Fn(usize, f64) -> f64, spread: f64, wide: f64) -> Vec<[f64; 2]> {
    let grid: Vec<f64> = (0..4800).map(|k| spread * (0.005 * (f64::from(k) + 0.5) - 12.0)).collect();
    let likelihoods: Vec<Vec<f64>> = (0..GROUPS)
        .map(|j| {
            let logs: Vec<f64> = grid.iter().map(|x| log_likelihood(j, *x)).collect();
            let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            logs.iter().map(|l| (l - top).exp()).collect()
        })
        .collect();
    let mut sums = [[0.0; 3]; GROUPS];
    let mut total = 0.0;
    for k in 0..400 {
        let mu = 10.0 * spread * (f64::from(k) / 200.0 - 1.0);
        let prior: Vec<f64> = grid.iter().map(|x| (-0.5 * ((x - mu) / spread).powi(2)).exp()).collect();
        let moments: Vec<[f64; 3]> = likelihoods
            .iter()
            .map(|like| {
                let at = |i: usize| like[i] * prior[i];
                let moment = |p: i32| (0..grid.len()).map(|i| at(i) * grid[i].powi(p)).sum::<f64>();
                [moment(0), moment(1), moment(2)]
            })
            .collect();
        let weight = (-0.5 * (mu / wide).powi(2)).exp() * moments.iter().map(|m| m[0]).product::<f64>();
        total += weight;
        for (sum, m) in sums.iter_mut().zip(&moments) {
            (0..3).for_each(|p| sum[p] += weight * m[p] / m[0]);
        }
    }
    sums.iter().map(|s| [s[1] / total, (s[2] / total - (s[1] / total).powi(2)).sqrt()]).collect()
}

fn right_or_flagged(fit: &Fit, truth: &[[f64; 2]], promised: bool) {
    for (j, truth) in truth.iter().enumerate() {
        let wrong = wrong(fit, &format!("theta[{}]", j + 1), *truth, 0.05);
        assert!(wrong.is_none() || !promised && fit.is_doubtful(), "{wrong:?}");
    }
}

/// Decays that are over at the first time leave a shoulder on one side, as wide as the prior.
#[test]
fn shoulders_are_integrated() {
    let times = [0.5, 1.0, 2.0, 4.0];
    let mut stream = Stream::new(9, 0, 0);
    let effects = [-1.5, -0.4, 0.3, 0.9, 1.6, 2.4];
    let decay = |theta: f64, t: f64| 3.0 * (-theta.exp() * t).exp();
    let rows: Vec<Vec<f64>> = effects
        .iter()
        .map(|theta| times.iter().map(|t| decay(*theta, *t) + 0.4 * stream.normal()).collect())
        .collect();
    let text = "data { y : real[J, T]; t : real[T] }\nparam mu ~ normal(0, 2)\nparam theta[J] ~ normal(mu, 1.2)\n\
                y ~ normal(3 * exp(-exp(as_column(theta)) * as_row(t)), 0.4)";
    let data = format!("{{\"y\": {rows:?}, \"t\": {times:?}}}");
    let like = |j: usize, theta: f64| {
        rows[j].iter().zip(times).map(|(y, t)| -0.5 * ((y - decay(theta, t)) / 0.4).powi(2)).sum()
    };
    let truth = exact(like, 1.2, 2.0);
    (1..=3).for_each(|seed| right_or_flagged(&fitted(text, &json(&data), seed), &truth, true));
}

/// Curves that turn back have several places for each effect.
#[test]
fn other_modes_are_found_or_told() {
    let curve = |theta: f64| theta + 1.2 * (2.0 * theta).sin();
    for (round, noise) in [(1, 0.15), (2, 0.6)] {
        let mut stream = Stream::new(round, 0, 0);
        let y: Vec<f64> =
            (0..GROUPS).map(|_| curve(2.0 * stream.normal()) + noise * stream.normal()).collect();
        let text = format!(
            "data {{ y : real[J] }}\nparam mu ~ normal(0, 3)\nparam theta[J] ~ normal(mu, 2)\n\
             y ~ normal(theta + 1.2 * sin(2 * theta), {noise})"
        );
        let like = |j: usize, theta: f64| -0.5 * ((y[j] - curve(theta)) / noise).powi(2);
        let truth = exact(like, 2.0, 3.0);
        let data = format!("{{\"y\": {y:?}}}");
        (1..=3).for_each(|seed| right_or_flagged(&fitted(&text, &json(&data), seed), &truth, false));
    }
}

/// A coordinate by itself, with two signs, beside effects that hang together: its other mode is part of the
/// answer, or told.
#[test]
fn signs_beside_groups_are_found_or_told() {
    let text = "data { y : real[J]; s : real[J]; z : real[N] }\nparam mu ~ cauchy(5, 5)\nparam tau ~ half_normal(1)\n\
                param theta[J] ~ normal(mu, tau)\ny ~ normal(theta, s)\nparam a ~ normal(-2, 5)\nparam w ~ half_normal(1)\n\
                param v ~ half_normal(1)\nparam u ~ half_normal(1)\nz ~ lognormal(abs(a), 0.5)\n0.3 ~ exponential(w + v + u)";
    let z = [22.0, 31.0, 12.0_f64];
    let log_density = |a: f64| {
        let squares: f64 = z.iter().map(|z| ((z.ln() - a.abs()) / 0.5).powi(2)).sum();
        -0.5 * squares - 0.5 * ((a + 2.0) / 5.0).powi(2)
    };
    let grid: Vec<f64> = (0..20_000).map(|k| 0.001 * (f64::from(k) + 0.5) - 10.0).collect();
    let moment = |p: i32| grid.iter().map(|a| log_density(*a).exp() * a.powi(p)).sum::<f64>();
    let (total, mean) = (moment(0), moment(1) / moment(0));
    let sd = (moment(2) / total - mean * mean).sqrt();
    for seed in 1..=3 {
        let fit =
            fitted(text, &json(r#"{"y": [0.5, -1.2], "s": [1.0, 2.0], "z": [22.0, 31.0, 12.0]}"#), seed);
        let found = fit.outputs.iter().find(|o| o.name == "a").expect("is reported");
        let right = (found.mean - mean).abs() < 0.05 * sd && (found.sd / sd).ln().abs() < 0.05;
        assert!(right || fit.is_doubtful(), "{} ± {} against {mean} ± {sd}", found.mean, found.sd);
    }
}

/// A hierarchy of few groups, written in standardised coordinates: the scale has a long tail, and given it
/// all effects are easy.
#[test]
fn the_scale_of_few_standardised_effects_is_right() {
    let counts = [1.0, 0.0, 7.0, 2.0];
    let text = "data { y : count[J] }\nparam mu ~ normal(0, 2)\nparam tau ~ half_normal(2.5)\n\
                param theta[J] ~ normal(mu, tau) noncentered\ny ~ poisson_log(theta)";
    let standard: Vec<(f64, f64)> =
        (0..161).map(|k| 0.1 * (f64::from(k) - 80.0)).map(|u| (u, 0.1 * (-0.5 * u * u).exp())).collect();
    let of_group = |y: f64, mu: f64, tau: f64| -> f64 {
        let at = |theta: f64| (y * theta - theta.exp()).exp();
        standard.iter().map(|(u, w)| w * at(mu + tau * u)).sum()
    };
    let mut sums = [0.0; 3];
    for k in 0..130 {
        let tau = (0.06 * f64::from(k) - 5.5).exp();
        let given: f64 = (0..80)
            .map(|m| 0.2 * (f64::from(m) - 40.0))
            .map(|mu| {
                (-0.125 * mu * mu).exp() * counts.iter().map(|y| of_group(*y, mu, tau)).product::<f64>()
            })
            .sum();
        let weight = tau * (-0.08 * tau * tau).exp() * given;
        (0..3).for_each(|p| sums[p as usize] += weight * tau.powi(p));
    }
    let mean = sums[1] / sums[0];
    let sd = (sums[2] / sums[0] - mean * mean).sqrt();
    let fit = fitted(text, &json(r#"{"y": [1, 0, 7, 2]}"#), 1);
    let found = fit.outputs.iter().find(|o| o.name == "tau").expect("is reported");
    let right = (found.mean - mean).abs() < 0.04 * sd && (found.sd / sd).ln().abs() < 0.04;
    assert!(
        right && !fit.is_doubtful(),
        "{} ± {} against {mean} ± {sd}: {:?}",
        found.mean,
        found.sd,
        fit.findings
    );
}

/// Animals that were never seen may not be there at all, and how easily each is caught says little then: with
/// sixty of them Laplace's approximation misses so much that it has no mode. Sums over a grid of the three
/// others, and over the ease of an animal for each number of times that it was seen.
#[test]
fn animals_that_were_never_seen_are_integrated_out() {
    const SEEN: [usize; 6] = [32, 10, 8, 5, 3, 2];
    let counts: Vec<String> = SEEN.iter().enumerate().flat_map(|(y, n)| vec![y.to_string(); *n]).collect();
    let text = "data { y : count[M] }\nparam omega ~ uniform(0, 1)\nparam p ~ uniform(0, 1)\nparam sigma ~ uniform(0, 4)\n\
                param ease[M] ~ normal(0, 1)\nlet l = binomial_logit_lpmf(y | 5, logit(p) + sigma * ease)\n\
                target += where(y > 0, log(omega) + l, log_mix(omega, l, 0))";
    let fit = fitted(text, &json(&format!("{{\"y\": [{}]}}", counts.join(", "))), 1);
    assert!(fit.khat < 0.7 && !fit.is_doubtful(), "k-hat {}, {:?}", fit.khat, fit.findings);
    let middle = |k: usize, n: usize| (k as f64 + 0.5) / n as f64;
    let choose = [1.0, 5.0, 10.0, 10.0, 5.0, 1.0];
    let (mut total, mut sums) = (0.0, [[0.0; 2]; 3]);
    for (a, b) in (0..100).flat_map(|a| (0..80).map(move |b| (a, b))) {
        let (p, sigma) = (middle(a, 100), 4.0 * middle(b, 80));
        let mut seen = [0.0; 6];
        for k in 0..120 {
            let x = 12.0 * middle(k, 120) - 6.0;
            let q = 1.0 / (1.0 + (1.0 / p - 1.0) * (-sigma * x).exp());
            let density = 0.1 * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
            let of = |y: usize| choose[y] * q.powi(y as i32) * (1.0 - q).powi(5 - y as i32);
            (0..6).for_each(|y| seen[y] += density * of(y));
        }
        for omega in (0..100).map(|k| middle(k, 100)) {
            let log = |y: usize| SEEN[y] as f64 * (omega * seen[y]).ln();
            let never = SEEN[0] as f64 * (omega * seen[0] + 1.0 - omega).ln();
            let weight = (never + (1..6).map(log).sum::<f64>() + 90.0).exp();
            total += weight;
            for (sum, x) in sums.iter_mut().zip([omega, p, sigma]) {
                (sum[0], sum[1]) = (sum[0] + weight * x, sum[1] + weight * x * x);
            }
        }
    }
    for (name, [first, second]) in ["omega", "p", "sigma"].into_iter().zip(sums) {
        let mean = first / total;
        assert_eq!(wrong(&fit, name, [mean, (second / total - mean * mean).sqrt()], 0.05), None);
    }
}

/// Errors in both variables, with scales that nobody knows: whether x or y is the noisy one the data do not
/// say, and slope and scales of the posterior form a thin sheet with edges. The pairs are Gaussian given the
/// four of them, and points of the prior, evenly spread, weigh by that.
#[test]
fn errors_in_both_variables_are_weighed_as_the_pairs_say() {
    const X: [f64; 30] = [
        0.2, -0.3, -1.5, 0.7, 1.6, -0.5, 1.2, 0.5, 0.7, -2.1, 1.9, 0.8, -1.1, -0.6, 0.7, -0.8, 1.9, -0.5,
        -0.5, 0.0, -0.8, -1.4, -0.6, 1.0, -1.9, -0.3, 0.7, -0.8, 0.3, -0.3,
    ];
    const Y: [f64; 30] = [
        -0.7, 0.8, -1.4, 1.2, 0.4, -0.8, 2.0, 0.6, -0.2, -1.0, 1.3, 0.2, 0.2, -0.6, 2.3, -1.8, 2.4, 0.8, 0.1,
        -0.3, -0.6, 0.6, 0.4, -0.1, -0.9, 0.3, 0.9, -1.1, -0.2, 0.0,
    ];
    let text = "data { x : real[N]; y : real[N] }\nparam b ~ normal(0, 5)\nparam sx ~ half_cauchy(1)\nparam sy ~ half_cauchy(1)\n\
                param tau ~ half_cauchy(1)\nparam z[N] ~ normal(0, tau)\nx ~ normal(z, sx)\ny ~ normal(b * z, sy)";
    let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (xx, xy, yy, n) = (sum(&X, &X), sum(&X, &Y), sum(&Y, &Y), X.len() as f64);
    let (mut total, mut sums) = (0.0, [[0.0; 2]; 4]);
    for k in 0..1_000_000 {
        let even = |base: u64| halton(k + 1, base);
        let b = 10.0 * even(2) - 2.0;
        let [sx, sy, tau] = [3, 5, 7].map(|base| (std::f64::consts::FRAC_PI_2 * even(base)).tan());
        let (u, v, w) = (tau * tau + sx * sx, b * tau * tau, b * b * tau * tau + sy * sy);
        let det = u * w - v * v;
        let square = (w * xx - 2.0 * v * xy + u * yy) / det;
        let weight = (-0.5 * (n * det.ln() + square + b * b / 25.0) + 30.0).exp();
        total += weight;
        for (sum, x) in sums.iter_mut().zip([b, sx, sy, tau]) {
            (sum[0], sum[1]) = (sum[0] + weight * x, sum[1] + weight * x * x);
        }
    }
    let data = json(&format!("{{\"x\": {X:?}, \"y\": {Y:?}}}"));
    let fit = fitted(text, &data, 1);
    assert!(fit.khat < 0.7 && !fit.is_doubtful(), "k-hat {}, {:?}", fit.khat, fit.findings);
    for (name, [first, second]) in ["b", "sx", "sy", "tau"].iter().zip(sums) {
        let mean = first / total;
        assert_eq!(wrong(&fit, name, [mean, (second / total - mean * mean).sqrt()], 0.04), None);
    }
}

/// Number `k` of a sequence that spreads evenly between zero and one.
fn halton(mut k: u64, base: u64) -> f64 {
    let (mut part, mut sum) = (1.0, 0.0);
    while k > 0 {
        part /= base as f64;
        sum += part * (k % base) as f64;
        k /= base;
    }
    sum
}

/// Few groups with a gamma of unknown shape and rate, nearly all of them without events: given the two, rates
/// are gammas again, and counts negative binomial.
#[test]
fn few_rates_without_events_follow_their_gamma() {
    let counts = [0.0, 0.0, 0.0, 12.0, 0.0, 1.0];
    let text = "data { y : count[J] }\nparam a ~ exponential(1)\nparam b ~ exponential(1)\nparam rate[J] ~ gamma(a, b)\ny ~ poisson(rate)";
    let (mut total, mut sums) = (0.0, [[0.0; 2]; 3]);
    for (i, j) in (0..600).flat_map(|i| (0..600).map(move |j| (i, j))) {
        let [a, b] = [i, j].map(|k| (0.025 * (f64::from(k) + 0.5) - 11.0).exp());
        let of = |y: &f64| lgamma(y + a) - lgamma(a) + a * (b / (1.0 + b)).ln() - y * (1.0 + b).ln();
        let weight = (counts.iter().map(of).sum::<f64>() - a - b).exp() * a * b;
        total += weight;
        let (mean, variance) = ((12.0 + a) / (1.0 + b), (12.0 + a) / (1.0 + b).powi(2));
        for (sum, [x, square]) in
            sums.iter_mut().zip([[a, a * a], [b, b * b], [mean, variance + mean * mean]])
        {
            (sum[0], sum[1]) = (sum[0] + weight * x, sum[1] + weight * square);
        }
    }
    for seed in 1..=2 {
        let fit = fitted(text, &json(r#"{"y": [0, 0, 0, 12, 0, 1]}"#), seed);
        assert!(fit.khat < 0.7 && !fit.is_doubtful(), "k-hat {}, {:?}", fit.khat, fit.findings);
        for (name, [first, second]) in ["a", "b", "rate[4]"].iter().zip(sums) {
            let mean = first / total;
            assert_eq!(wrong(&fit, name, [mean, (second / total - mean * mean).sqrt()], 0.05), None);
        }
    }
}

/// Where a concentration is so large that a density is lost in rounding errors, these are not taken for a
/// peak: along equal shares the log density of two simplexes of three grows by two for each e of the
/// concentration, and then ends.
#[test]
fn rounding_errors_of_concentrated_shares_are_no_peak() {
    let text =
        "param k ~ half_cauchy(1)\nparam p[2] : simplex[3] ~ dirichlet(k * ones(3))\nparam q[2] ~ beta(k, k)";
    let target = ModelTarget::new(text, &Dataset::default()).expect("lowers");
    let log_density = |log_k: f64| {
        let mut z = vec![0.0; target.dimension()];
        z[0] = log_k;
        let mut value = [0.0];
        target.evaluator().log_density(&z, 1, &mut value);
        value[0]
    };
    let slope = (log_density(20.0) - log_density(12.0)) / 8.0;
    // The Cauchy takes one, each simplex gives one and each share a half.
    assert!((slope - 2.0).abs() < 1e-3, "{slope}");
    assert!([34.0, 40.0, 60.0].iter().all(|k| !(log_density(*k) > log_density(20.0) + 2.2 * (k - 20.0))));
}

/// A stochastic frontier: the scale of what is lost may be next to nothing, and then all else stands still.
/// Against a sum over the three parameters, with the losses integrated out in closed form.
#[test]
fn the_scale_of_losses_is_followed_to_nothing() {
    let (x, y) = (
        [-1.5, -1.2, -0.8, -0.5, -0.3, 0.0, 0.2, 0.5, 0.9, 1.1, 1.4, 1.8_f64],
        [0.2, -0.9, 0.6, 0.3, -0.4, 0.7, 0.9, 0.1, 1.3, 0.9, 1.5, 0.8_f64],
    );
    let text = "data { x : real[N]; y : real[N] }\nparam a ~ normal(0, 2)\nparam c ~ normal(0, 2)\nparam su ~ half_normal(1)\n\
                param b[N] ~ half_normal(su)\ny ~ normal(a + c * x - b, 0.5)";
    let fit = fitted(text, &json(&format!(r#"{{"x": {x:?}, "y": {y:?}}}"#)), 1);
    const POINTS: usize = 64;
    let (mut total, mut sums) = (0.0, [[0.0; 2]; 3]);
    for point in 0..POINTS.pow(3) {
        let at = |p: u32, from: f64, to: f64| {
            from + (to - from) * ((point / POINTS.pow(p) % POINTS) as f64 + 0.5) / POINTS as f64
        };
        let (a, c, su) = (at(0, -1.0, 3.5), at(1, -1.0, 2.0), at(2, -9.0, 1.5).exp());
        let s = su.hypot(0.5);
        let density = |(x, y): (&f64, &f64)| {
            let e = y - a - c * x;
            (-0.5 * (e / s).powi(2)).exp() / s * erfc(e * su / (0.5 * s) / std::f64::consts::SQRT_2)
        };
        let prior = -0.125 * (a * a + c * c) - 0.5 * su * su;
        let weight = prior.exp() * su * x.iter().zip(&y).map(density).product::<f64>();
        total += weight;
        for (sum, value) in sums.iter_mut().zip([a, c, su]) {
            sum[0] += weight * value;
            sum[1] += weight * value * value;
        }
    }
    assert!(!fit.is_doubtful(), "{:?}", fit.findings);
    for (name, [first, second]) in ["a", "c", "su"].iter().zip(sums) {
        let mean = first / total;
        assert_eq!(wrong(&fit, name, [mean, (second / total - mean * mean).sqrt()], 0.05), None);
    }
}

/// Groups whose means and whose spreads are effects, the spreads about a scale of their own that may be next
/// to nothing: given location and scale of these, groups are pairs. Against a sum over the two and over the
/// spread of each group, with its mean integrated out in closed form.
#[test]
fn scales_of_spreads_are_followed_to_nothing() {
    const ROWS: usize = 6;
    let (mut stream, mut csv, mut sums) = (Stream::new(3, 0, 0), String::from("g,y\n"), Vec::new());
    for g in 0..10 {
        let (mean, spread) = (1.5 * stream.normal(), (0.3 * stream.normal()).exp());
        let rows: Vec<f64> = (0..ROWS).map(|_| mean + spread * stream.normal()).collect();
        rows.iter().for_each(|y| csv.push_str(&format!("{g},{y}\n")));
        sums.push([rows.iter().sum::<f64>(), rows.iter().map(|y| y * y).sum::<f64>()]);
    }
    let grid = |from: f64, to: f64, n: usize| -> Vec<f64> {
        (0..n).map(|i| from + (to - from) * (i as f64 + 0.5) / n as f64).collect()
    };
    let logs = grid(-4.0, 3.0, 280);
    // log N(y; 0, s² I + 1.5² 11'), but for a constant.
    let likelihood = |[sum, squares]: &[f64; 2], log: f64| {
        let (v, w) = ((2.0 * log).exp(), 2.25);
        let all = v + w * ROWS as f64;
        -0.5 * ((ROWS - 1) as f64 * v.ln() + all.ln() + squares / v - w * sum * sum / (v * all))
    };
    let groups: Vec<Vec<f64>> =
        sums.iter().map(|s| logs.iter().map(|&log| likelihood(s, log).exp()).collect()).collect();
    let (mut total, mut moments) = (0.0, [[0.0; 2]; 2]);
    for ml in grid(-2.0, 2.0, 80) {
        for tl in grid(-7.0, 1.5, 85).into_iter().map(f64::exp) {
            let prior: Vec<f64> = logs.iter().map(|x| (-0.5 * ((x - ml) / tl).powi(2)).exp()).collect();
            let mass: f64 = prior.iter().sum();
            // A scale below the grid's own: all groups at ml.
            let of = |group: &Vec<f64>, s: &[f64; 2]| match tl < 0.05 {
                true => likelihood(s, ml).exp(),
                false => group.iter().zip(&prior).map(|(l, p)| l * p).sum::<f64>() / mass,
            };
            let all: f64 = groups.iter().zip(&sums).map(|(group, s)| of(group, s)).product();
            let weight = all * tl * (-0.5 * (ml * ml + tl * tl)).exp();
            total += weight;
            for (moment, x) in moments.iter_mut().zip([ml, tl]) {
                (moment[0], moment[1]) = (moment[0] + weight * x, moment[1] + weight * x * x);
            }
        }
    }
    let text = "data { y : real[N]; g : category[N] of J }\nparam ml ~ normal(0, 1)\nparam tl ~ half_normal(1)\n\
                param a[J] ~ normal(0, 1.5)\nparam ls[J] ~ normal(ml, tl)\ny ~ normal(a[g], exp(ls)[g])";
    let data = Dataset::from_texts(&[("groups.csv", csv.as_str())]).expect("reads");
    let fit = fitted(text, &data, 3);
    assert!(fit.khat < 0.5 && !fit.is_doubtful(), "k-hat {}, {:?}", fit.khat, fit.findings);
    for (name, [first, second]) in ["ml", "tl"].iter().zip(moments) {
        let mean = first / total;
        assert_eq!(wrong(&fit, name, [mean, (second / total - mean * mean).sqrt()], 0.05), None);
    }
}
