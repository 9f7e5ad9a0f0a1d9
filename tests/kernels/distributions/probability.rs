//! A density integrates to 1, the two cumulative probabilities add up to 1, and the quantile undoes the cdf.

use super::{at, continuous, log_density, numbers, rows};
use stickler::dist::{Distribution, End, Support};

/// Nodes and weights of Gauss–Legendre quadrature with 5 points on [-1, 1].
const NODES: [(f64, f64); 5] = [
    (-0.906_179_845_938_664, 0.236_926_885_056_189_1),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (0.906_179_845_938_664, 0.236_926_885_056_189_1),
];

fn end(end: End, args: &[f64]) -> f64 {
    match end {
        End::At(x) | End::Past(x) => x,
        End::Arg(k) => args[k],
        End::Length(_) => f64::NAN,
    }
}

/// ∫ density over its support. A change of variable t ↦ x brings both ends to infinity, where any tail with a
/// power of x becomes exponential, and puts the median at t = 0, a joint between panels (some densities have
/// a kink there).
fn total(dist: &Distribution, args: &[f64], median: f64, spread: f64) -> f64 {
    let Some((low, high)) = dist.support.interval() else { return f64::NAN };
    let (low, high) = (end(low, args), end(high, args));
    let x = |t: f64| match (low.is_finite(), high.is_finite()) {
        (false, _) => (median + spread * t.sinh(), spread * t.cosh()),
        (true, false) => {
            let scale = median - low;
            (low + scale * t.exp(), scale * t.exp())
        }
        (true, true) => {
            // Odds of the way from one end to the other.
            let odds = (median - low) / (high - median) * t.exp();
            ((low + odds * high) / (1.0 + odds), (high - low) * odds / (1.0 + odds).powi(2))
        }
    };
    let half = 0.01;
    let panel = |i: i32| {
        let middle = half * f64::from(2 * i + 1);
        let term = |&(node, weight): &(f64, f64)| {
            let (x, rate) = x(middle + half * node);
            let inside = x > low && x < high && rate > 0.0 && rate.is_finite();
            if inside { weight * (log_density(dist, x, args) + rate.ln()).exp() } else { 0.0 }
        };
        half * NODES.iter().map(term).sum::<f64>()
    };
    (-10_000..10_000).map(panel).filter(|p| p.is_finite()).sum()
}

#[test]
fn densities_integrate_to_one() {
    for dist in continuous() {
        let quantile = dist.quantile.expect(dist.name);
        for probe in dist.probes {
            let (_, args) = numbers(probe);
            let (median, spread) = (quantile(0.5, &args), quantile(0.75, &args) - quantile(0.25, &args));
            let total = total(dist, &args, median, spread);
            assert!((total - 1.0).abs() < 1e-9, "{} with {args:?} integrates to {total}", dist.name);
        }
    }
}

/// The probabilities of the integers from the support's first on, until what is left is below 1e-12.
#[test]
fn discrete_probabilities_add_up_to_one() {
    for (dist, _) in rows().filter(|(d, _)| d.discrete) {
        let Support::Integers(low, high) = dist.support else { continue };
        for probe in dist.probes {
            let (_, args) = numbers(probe);
            let (low, high) = (end(low, &args), end(high, &args));
            let mut total = 0.0;
            let mut k = low;
            while k <= high && total < 1.0 - 1e-12 && k < low + 2e6 {
                total += log_density(dist, k, &args).exp();
                k += 1.0;
            }
            assert!((total - 1.0).abs() < 1e-9, "{} with {args:?} adds up to {total} at {k}", dist.name);
        }
    }
}

#[test]
fn cdf_and_ccdf_add_up_to_one() {
    for (dist, _) in rows() {
        let (Some(lcdf), Some(lccdf)) = (dist.lcdf, dist.lccdf) else { continue };
        for probe in dist.probes {
            let (x, args) = numbers(probe);
            let (low, high) = (at(lcdf, x, &args), at(lccdf, x, &args));
            let total = low.exp() + high.exp();
            assert!((total - 1.0).abs() < 1e-13, "{} at {x}, {args:?}: {low} and {high}", dist.name);
        }
    }
}

#[test]
fn the_cdf_rises_with_the_density() {
    for dist in continuous() {
        let lcdf = dist.lcdf.expect(dist.name);
        for probe in dist.probes {
            let (x, args) = numbers(probe);
            let all: Vec<f64> = std::iter::once(x).chain(args.iter().copied()).collect();
            let slope = crate::common::slopes(lcdf, &all)[0];
            let expected = (log_density(dist, x, &args) - at(lcdf, x, &args)).exp();
            let close = (slope - expected).abs() <= 1e-11 * expected.abs() + 1e-300;
            assert!(close, "{} at {x}, {args:?}: {slope} against {expected}", dist.name);
        }
    }
}

/// At probes whose cumulative probability is not within rounding of 0 or 1.
#[test]
fn the_quantile_undoes_the_cdf() {
    for (dist, _) in rows() {
        let (Some(lcdf), Some(quantile)) = (dist.lcdf, dist.quantile) else { continue };
        for probe in dist.probes {
            let (x, args) = numbers(probe);
            let p = at(lcdf, x, &args).exp();
            if p == 0.0 || p > 1.0 - 1e-6 {
                continue;
            }
            // A discrete quantile jumps at p; the cdf is that of x down to the cdf of x - 1.
            let back = quantile(if dist.discrete { p * (1.0 - 1e-12) } else { p }, &args);
            let rounding = if dist.discrete { 0.0 } else { 1e-15 * p / log_density(dist, x, &args).exp() };
            let close = (back - x).abs() <= 1e-11 * x.abs() + rounding;
            assert!(close, "{} at {x}, {args:?}: p = {p} comes back as {back}", dist.name);
        }
    }
}

#[test]
fn the_ends_of_the_quantile_are_the_ends_of_the_support() {
    for dist in continuous() {
        let Some((low, high)) = dist.support.interval() else { continue };
        let quantile = dist.quantile.expect(dist.name);
        for probe in dist.probes {
            let (_, args) = numbers(probe);
            assert_eq!(quantile(0.0, &args), end(low, &args), "{}: quantile of 0", dist.name);
            assert_eq!(quantile(1.0, &args), end(high, &args), "{}: quantile of 1", dist.name);
        }
    }
}
