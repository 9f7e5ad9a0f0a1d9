//! Truncated counts: what is kept has mass 1 however little of it there was, and no log probability is above
//! 0.

use crate::fits;

use stickler::data::Dataset;
use stickler::dist::{self, Density, Distribution, Domain, End, Part, Support, log_density_between};
use stickler::graph::{Builder, NodeId};
use stickler::target::{ModelTarget, Target};

/// Families with an argument for each of these numbers, from one end of what a model comes to to the other.
const FAMILIES: [(&str, &[f64]); 9] = [
    ("poisson_log(e)", &[-700.0, -40.0, -3.0, 0.0, 2.0, 5.0, 40.0, 700.0, 900.0]),
    ("poisson(exp(e))", &[-700.0, -40.0, -3.0, 0.0, 2.0, 5.0, 40.0, 700.0]),
    ("binomial_logit(30, e)", &[-700.0, -40.0, -3.0, 0.0, 2.0, 5.0, 40.0, 700.0, 900.0]),
    ("binomial(30, inv_logit(e))", &[-700.0, -40.0, -3.0, 0.0, 2.0, 40.0, 700.0]),
    ("binomial(30, Phi(e))", &[-35.0, -9.0, -1.0, 0.0, 1.0, 8.16, 9.0, 35.0]),
    ("binomial(30, inv_cloglog(e))", &[-700.0, -9.0, -1.0, 0.0, 2.0, 5.0]),
    ("neg_binomial_2_log(e, 0.7)", &[-700.0, -40.0, -3.0, 0.0, 2.0, 40.0, 700.0]),
    ("geometric(inv_logit(e))", &[-700.0, -40.0, -3.0, 0.0, 2.0, 40.0, 700.0]),
    ("beta_binomial(30, exp(e), 2)", &[-30.0, -3.0, 0.0, 2.0, 30.0]),
];

/// The log density of a count and its slope in `e`.
fn at(family: &str, limits: &str, count: u32, e: f64) -> (f64, f64) {
    let text = format!("data {{ k : count[N] }}\nparam e ~ flat()\nk ~ truncated({family}, {limits})");
    let data = Dataset::from_texts(&[("d.json", &format!("{{\"k\": [{count}]}}"))]).unwrap();
    let target = ModelTarget::new(&text, &data).unwrap();
    let (mut value, mut slope) = ([0.0], [0.0]);
    target.evaluator().evaluate(&[e], 1, &mut value, &mut slope);
    (value[0], slope[0])
}

#[test]
fn what_is_kept_has_mass_one_and_slopes_that_average_to_none() {
    for (family, places) in FAMILIES {
        for (limits, counts) in
            [("upper = 4", 0..=4), ("lower = 2, upper = 9", 2..=9), ("lower = 20, upper = 25", 20..=25)]
        {
            for &e in places {
                let (mut mass, mut score) = (0.0, 0.0);
                for k in counts.clone() {
                    let (log, slope) = at(family, limits, k, e);
                    assert!(log <= 0.0, "{family}, {limits}, {k} at {e}: {log}");
                    assert!(slope.is_finite(), "{family}, {limits}, {k} at {e}: slope {slope}");
                    mass += log.exp();
                    score += log.exp() * slope;
                }
                assert!((mass - 1.0).abs() < 1e-11, "{family}, {limits} at {e}: mass {mass}");
                assert!(score.abs() < 1e-9, "{family}, {limits} at {e}: mean slope {score}");
            }
        }
    }
}

#[test]
fn slopes_are_differences_of_values() {
    for (family, places) in FAMILIES {
        for &e in places.iter().filter(|e| e.abs() < 100.0) {
            let h = 1e-5 * e.abs().max(1.0);
            let limits = "lower = 2, upper = 9";
            let [(high, _), (_, slope), (low, _)] = [e + h, e, e - h].map(|e| at(family, limits, 4, e));
            let ratio = (high - low) / (2.0 * h);
            assert!(
                (ratio - slope).abs() < 1e-6 * slope.abs().max(1.0),
                "{family} at {e}: {slope} against {ratio}"
            );
        }
    }
}

/// log P(4 | at most 4 of 30) tends to 0 as the probability tends to 1, and P(3 of at most 4) to the odds of
/// one less.
#[test]
fn beyond_what_a_probability_can_hold() {
    let log_odds = |e: f64| 0.5 * e * e + e.ln() + 0.5 * (2.0 * std::f64::consts::PI).ln();
    for e in [20.0, 30.0] {
        let (value, _) = at("binomial(30, Phi(e))", "upper = 4", 3, e);
        // C(30, 3) / C(30, 4) over the odds; Mills' ratio is 1 / e to a part in e².
        let truth = (4.0_f64 / 27.0).ln() - log_odds(e);
        assert!((value - truth).abs() < 2.0 / (e * e), "{value} against {truth} at {e}");
    }
    // A rate beyond all that is kept: the largest count, and a slope of the distance from it.
    let (value, slope) = at("poisson_log(e)", "lower = 1, upper = 20", 18, 50.0);
    assert!(
        (value - (380.0_f64.ln() - 100.0)).abs() < 1e-10 && (slope + 2.0).abs() < 1e-12,
        "{value} {slope}"
    );
}

#[test]
fn fits_of_truncated_counts_are_those_of_quadrature() {
    let sums = |log: &dyn Fn(f64) -> f64, from: f64, to: f64| {
        let points = (0..40_000).map(|i| from + (to - from) * (f64::from(i) + 0.5) / 40_000.0);
        let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
        for x in points {
            let p = log(x).exp();
            (total, first, second) = (total + p, first + p * x, second + p * x * x);
        }
        let mean = first / total;
        [mean, (second / total - mean * mean).sqrt()]
    };
    let twenties = |e: f64| -> f64 {
        let weight = |k: u32| f64::from(k) * e - (1..=k).map(|i| f64::from(i).ln()).sum::<f64>();
        let most = (1..=20).map(weight).fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = (1..=20).map(|k| (weight(k) - most).exp()).sum();
        2.0 * (weight(20) - most - total.ln()) - 0.5 * (e / 50.0).powi(2)
    };
    let truth = sums(&twenties, -300.0, 400.0);
    let data = fits::json(r#"{"k": [20, 20]}"#);
    let model = "data { k : count[N] }\nparam e ~ normal(0, 50)\nk ~ truncated(poisson_log(e), lower = 1, upper = 20)";
    assert_eq!(fits::wrong(&fits::fitted(model, &data, 1), "e", truth, 0.03), None);
    let data = fits::json(r#"{"k": [4, 4]}"#);
    let model =
        "data { k : count[N] }\nparam e ~ normal(0, 3)\nk ~ truncated(binomial(30, Phi(e)), upper = 4)";
    let fit = fits::fitted(model, &data, 1);
    assert_eq!(fits::wrong(&fit, "e", [2.118, 1.943], 0.03), None);
}

/// What the rounding of its summands may add to a log density.
fn rounding(d: &Distribution, point: &[f64]) -> f64 {
    let Density::Parts(parts) = d.density else { return 0.0 };
    let size = |part: &Part| {
        let args: Vec<f64> = part.of.iter().map(|&k| point[k]).collect();
        let at_least: f64 = args.iter().map(|x| x.abs() * x.abs().max(1.0).ln()).sum();
        part.row.at(&args).abs().max(at_least)
    };
    let total: f64 = parts.iter().map(size).filter(|x| x.is_finite()).sum();
    if total < 1.0 { 0.0 } else { 4.0 * f64::EPSILON * total }
}

/// Every distribution of counts over its domain: counts and arguments of every size.
#[test]
fn no_log_probability_is_above_zero() {
    let counts = [0.0, 1.0, 2.0, 7.0, 100.0, 1e4, 1e7, 1e12];
    let numbers = [1e-12, 1e-3, 0.3, 1.0, 30.0, 1e4, 1e8, 1e15];
    for d in dist::TABLE.iter().filter(|d| d.discrete && matches!(d.support, Support::Integers(..))) {
        let values = |domain: Domain| -> Vec<f64> {
            match domain {
                Domain::Count => vec![0.0, 1.0, 9.0, 1e4, 1e12],
                Domain::Unit => vec![0.0, 1e-12, 0.3, 1.0 - 1e-9, 1.0],
                Domain::Real => vec![-800.0, -30.0, -1.0, 0.0, 3.0, 20.0, 34.0, 300.0],
                _ => numbers.to_vec(),
            }
        };
        if d.args.iter().any(|a| a.rank > 0) {
            continue;
        }
        let mut all: Vec<Vec<f64>> = counts.iter().map(|x| vec![*x]).collect();
        for arg in d.args {
            let next = |before: &Vec<f64>| -> Vec<Vec<f64>> {
                values(arg.domain).into_iter().map(|v| [&before[..], &[v]].concat()).collect()
            };
            all = all.iter().flat_map(next).collect();
        }
        for point in all {
            let beyond = match d.support {
                Support::Integers(_, End::Arg(k)) => point[0] > point[k + 1],
                Support::Integers(_, End::At(last)) => point[0] > last,
                _ => false,
            };
            if beyond {
                continue;
            }
            let mut b = Builder::new();
            let nodes: Vec<NodeId> = point.iter().map(|x| b.number(*x)).collect();
            let id = dist::log_density(&mut b, d, nodes[0], &nodes[1..]).unwrap();
            let value = b.scalar_of(id).unwrap();
            assert!(value <= rounding(d, &point), "{} at {point:?}: {value}", d.name);
            let (low, high) = (b.number(point[0]), b.number(point[0] + 3.0));
            let between =
                log_density_between(&mut b, d, nodes[0], &nodes[1..], [Some(low), Some(high)]).unwrap();
            let Some(between) = between.filter(|_| point[0] < 1e5) else { continue };
            let value = b.scalar_of(between).unwrap();
            assert!(value <= 0.0, "{} between limits at {point:?}: {value}", d.name);
        }
    }
}
