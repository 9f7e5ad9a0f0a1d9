//! Laws of distributions over integers: probabilities sum to one, cumulative probabilities and quantiles
//! agree with them.

use crate::events;

use events::{Point, difference, gradient, hessian_times, numbers, reference, rows};
use stickler::dist::{Distribution, Domain, find};
use stickler::graph::Builder;
use stickler::ops::scalar::ScalarRow;
use stickler::plan::Plan;

fn at(row: &'static ScalarRow, x: f64, args: &[f64]) -> f64 {
    let mut b = Builder::new();
    let nodes: Vec<_> = std::iter::once(&x).chain(args).map(|&v| b.number(v)).collect();
    let id = b.map(row, &nodes).unwrap();
    b.scalar_of(id).unwrap()
}

fn probability(dist: &'static Distribution, x: f64, args: &[f64]) -> f64 {
    let args: Vec<&[f64]> = args.iter().map(std::slice::from_ref).collect();
    Point::new(dist, &[x], &args).value().exp()
}

/// Univariate rows with arguments at which all but 1e-12 of the probability lies below 3000.
const MODERATE: &[(&str, &[f64])] = &[
    ("bernoulli", &[0.3]),
    ("bernoulli_logit", &[-1.2]),
    ("binomial", &[12.0, 0.3]),
    ("binomial_logit", &[25.0, 0.8]),
    ("beta_binomial", &[20.0, 0.4, 0.7]),
    ("beta_binomial", &[20.0, 3.0, 2.0]),
    ("poisson", &[7.5]),
    ("poisson", &[0.0]),
    ("poisson_log", &[2.1]),
    ("neg_binomial", &[2.5, 0.4]),
    ("neg_binomial", &[0.3, 0.2]),
    ("neg_binomial_2", &[6.0, 1.5]),
    ("neg_binomial_2", &[6.0, 1e9]),
    ("neg_binomial_2_log", &[1.2, 0.8]),
    ("geometric", &[0.2]),
];

fn last(name: &str, args: &[f64]) -> usize {
    match name {
        "bernoulli" | "bernoulli_logit" => 1,
        "binomial" | "binomial_logit" | "beta_binomial" => args[0] as usize,
        _ => 3000,
    }
}

#[test]
fn probabilities_sum_to_one() {
    for &(name, args) in MODERATE {
        let dist = find(name).unwrap();
        let total: f64 = (0..=last(name, args)).map(|k| probability(dist, k as f64, args)).sum();
        assert!((total - 1.0).abs() < 1e-11, "{name} {args:?}: {total}");
    }
}

#[test]
fn cumulative_probabilities_are_sums() {
    for &(name, args) in MODERATE {
        let dist = find(name).unwrap();
        let (lcdf, lccdf) = (dist.lcdf.unwrap(), dist.lccdf.unwrap());
        let mut below = 0.0;
        for k in 0..=last(name, args).min(40) {
            below += probability(dist, k as f64, args);
            let (low, high) = (at(lcdf, k as f64, args).exp(), at(lccdf, k as f64, args).exp());
            assert!((low - below).abs() < 1e-13, "{name} {args:?} at {k}: {low} against {below}");
            assert!((high - (1.0 - below)).abs() < 1e-12, "{name} {args:?} at {k}: {high}");
            // Between integers nothing happens.
            assert_eq!(at(lcdf, k as f64 + 0.5, args), at(lcdf, k as f64, args), "{name}");
        }
        assert_eq!(at(lcdf, -1.0, args), f64::NEG_INFINITY, "{name}");
        assert_eq!(at(lccdf, -1.0, args), 0.0, "{name}");
    }
}

#[test]
fn cumulative_probabilities_agree_with_mpmath() {
    for case in reference() {
        let dist = find(case["dist"].as_str().unwrap()).unwrap();
        let x = numbers(&case["x"]);
        let args: Vec<f64> = case["args"].as_array().unwrap().iter().flat_map(numbers).collect();
        for (key, row) in [("lcdf", dist.lcdf), ("lccdf", dist.lccdf)] {
            let Some(expected) = case[key].as_f64() else { continue };
            let got = at(row.unwrap(), x[0], &args);
            // Relative in the log, so that probabilities close to one keep their difference from it; and
            // relative to the terms of the log probability, which are as large as n log n.
            let counts = dist.args.iter().zip(&args).filter(|(spec, _)| spec.domain == Domain::Count);
            let n = counts.fold(x[0], |n, (_, &count)| n.max(count));
            let terms = f64::EPSILON * n * (1.0 + n).ln();
            let tolerance = 1e-12 * expected.abs() + terms * expected.abs().min(1.0);
            assert!((got - expected).abs() <= tolerance, "{case} {key}: {got}");
        }
    }
}

#[test]
fn slopes_of_cumulative_probabilities_agree_with_finite_differences() {
    for dist in rows() {
        for row in [dist.lcdf, dist.lccdf].into_iter().flatten() {
            for probe in row.probes {
                let free: Vec<usize> = (1..probe.len())
                    .filter(|&k| !matches!(dist.args[k - 1].domain, Domain::Count | Domain::Data))
                    .collect();
                let mut b = Builder::new();
                let nodes: Vec<_> = (0..probe.len())
                    .map(|k| match free.iter().position(|&f| f == k) {
                        Some(at) => b.input(at, vec![]),
                        None => b.number(probe[k]),
                    })
                    .collect();
                let root = b.map(row, &nodes).unwrap();
                let plan = Plan::new(&b.finish(), &[root], free.len());
                let z: Vec<f64> = free.iter().map(|&k| probe[k]).collect();
                let (value, slopes) = gradient(&plan, &z);
                if value.is_infinite() {
                    assert!(slopes.iter().all(|&s| s == 0.0), "{} {probe:?}", row.name);
                    continue;
                }
                for i in 0..z.len() {
                    let h = 1e-3 * z[i].abs().min(1.0);
                    let moved = |t: f64| {
                        let mut z = z.clone();
                        z[i] += t;
                        gradient(&plan, &z)
                    };
                    let expected = difference(h, |t| moved(t).0);
                    let close = |got: f64, want: f64| (got - want).abs() <= 1e-6 * (1e-3 + want.abs());
                    assert!(
                        close(slopes[i], expected),
                        "{} {probe:?} {i}: {} {expected}",
                        row.name,
                        slopes[i]
                    );
                    let mut v = vec![0.0; z.len()];
                    v[i] = 1.0;
                    for (j, got) in hessian_times(&plan, &z, &v).into_iter().enumerate() {
                        let expected = difference(h, |t| moved(t).1[j]);
                        assert!(close(got, expected), "{} {probe:?} {i} {j}: {got} {expected}", row.name);
                    }
                }
            }
        }
    }
}

#[test]
fn quantiles_invert_cumulative_probabilities() {
    for &(name, args) in MODERATE {
        let dist = find(name).unwrap();
        let quantile = dist.quantile.unwrap();
        for k in 0..=last(name, args).min(30) {
            let (p, mass) = (at(dist.lcdf.unwrap(), k as f64, args).exp(), probability(dist, k as f64, args));
            if mass < 1e-9 {
                continue;
            }
            assert_eq!(quantile(p, args), k as f64, "{name} {args:?} at {p}");
            assert_eq!(quantile(p - 0.5 * mass, args), k as f64, "{name} {args:?} below {p}");
        }
    }
}

/// All ways to put n things into k places.
fn compositions(n: usize, k: usize) -> Vec<Vec<f64>> {
    if k == 1 {
        return vec![vec![n as f64]];
    }
    (0..=n)
        .flat_map(|first| {
            compositions(n - first, k - 1).into_iter().map(move |mut rest| {
                rest.insert(0, first as f64);
                rest
            })
        })
        .collect()
}

#[test]
fn probabilities_of_count_vectors_and_categories_sum_to_one() {
    for (name, arg) in [
        ("multinomial", [0.2, 0.5, 0.3]),
        ("multinomial_logit", [0.2, -0.5, 1.3]),
        ("dirichlet_multinomial", [0.4, 2.5, 1.3]),
    ] {
        let total: f64 =
            compositions(7, 3).iter().map(|x| Point::named(name, x, &[&arg, &[7.0]]).value().exp()).sum();
        assert!((total - 1.0).abs() < 1e-12, "{name}: {total}");
    }
    for (name, args, k) in [
        ("categorical", vec![vec![0.2, 0.5, 0.3]], 3),
        ("categorical_logit", vec![vec![0.2, -5.0, 30.3]], 3),
        ("ordered_logistic", vec![vec![0.4], vec![-1.0, 0.2, 2.0]], 4),
        ("ordered_probit", vec![vec![0.4], vec![-1.0, 0.2, 2.0]], 4),
    ] {
        let args: Vec<&[f64]> = args.iter().map(Vec::as_slice).collect();
        let total: f64 = (1..=k).map(|x| Point::named(name, &[f64::from(x)], &args).value().exp()).sum();
        assert!((total - 1.0).abs() < 1e-13, "{name}: {total}");
    }
}

#[test]
fn negative_binomial_tends_to_poisson() {
    for x in [0.0, 1.0, 5.0, 40.0] {
        let poisson = Point::named("poisson", &[x], &[&[5.0]]).value();
        for phi in [1e6, 1e9, 1e12, 1e15] {
            // The leading term of the difference: ((x - mu)² - x) / (2 phi).
            let term = ((x - 5.0) * (x - 5.0) - x) / (2.0 * phi);
            let got = Point::named("neg_binomial_2", &[x], &[&[5.0], &[phi]]);
            let difference = got.value() - poisson - term;
            assert!(
                difference.abs() < 1e-13 * (1.0 + poisson.abs()) + 1e5 / (phi * phi),
                "{x} {phi}: {difference}"
            );
            let (plan, z) = got.plan();
            let slope = gradient(&plan, &z).1[1];
            // So its derivative in log phi is minus that.
            assert!((slope * phi + term).abs() < 2e-14 * (1.0 + x) + 1e6 / (phi * phi), "{x} {phi}: {slope}");
        }
    }
}

#[test]
fn certain_outcomes_have_log_probability_zero() {
    for (name, x, args) in [
        ("poisson", 0.0, &[0.0][..]),
        ("binomial", 0.0, &[5.0, 0.0]),
        ("binomial", 5.0, &[5.0, 1.0]),
        ("bernoulli", 1.0, &[1.0]),
        ("geometric", 0.0, &[1.0]),
        ("neg_binomial_2", 0.0, &[0.0, 2.0]),
    ] {
        assert_eq!(probability(find(name).unwrap(), x, args), 1.0, "{name}");
    }
}

#[test]
fn a_category_outside_its_range_is_refused() {
    let mut b = Builder::new();
    let (x, theta) = (b.number(4.0), b.constant(vec![0.2, 0.8, 0.0], vec![3]));
    let error = stickler::dist::log_density(&mut b, find("categorical").unwrap(), x, &[theta]).unwrap_err();
    assert!(error.to_string().contains("1, ..., 3"), "{error}");
}
