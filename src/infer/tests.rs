//! The default fit against answers known from outside.

use super::*;
use crate::data::Dataset;
use crate::target::{ModelTarget, from_fn};

fn run(target: &dyn Target) -> Fit {
    fit(target, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn a_gaussian_posterior_comes_out_exactly() {
    let data = Dataset::from_texts(&[("data.csv", "y\n1.0\n2.5\n4.0\n")]).unwrap();
    let text = "data { y : real[N] }\nparam mu ~ normal(1, 2)\ny ~ normal(mu, 0.5)";
    let found = run(&ModelTarget::new(text, &data).unwrap());
    let precision = 0.25 + 3.0 * 4.0;
    let mean = (0.25 + 4.0 * 7.5) / precision;
    assert_eq!(found.path, Path::Gaussian);
    assert!((found.mean[0] - mean).abs() < 1e-10);
    let Scale::Dense(c) = &found.factor else { panic!("the factor of one coordinate is full") };
    assert!((c[0] - 1.0 / precision.sqrt()).abs() < 1e-10);
    assert!(found.khat < 0.5 && found.elbo_se < 1e-8);
}

/// Two logistic observations with a normal prior, coupled.
fn logistic(z: &[f64], g: &mut [f64]) -> f64 {
    let rows = [([1.0, 0.5], 1.0), ([1.0, -1.0], 0.0), ([1.0, 2.0], 1.0), ([1.0, 3.0], 1.0)];
    let mut value = -0.125 * (z[0] * z[0] + z[1] * z[1]);
    (0..2).for_each(|i| g[i] = -0.25 * z[i]);
    for (x, y) in rows {
        let eta = x[0] * z[0] + x[1] * z[1];
        value += y * eta - crate::num::special::log1p_exp(eta);
        let slope = y - crate::num::special::inv_logit(eta);
        (0..2).for_each(|i| g[i] += slope * x[i]);
    }
    value
}

#[test]
fn a_logistic_posterior_agrees_with_quadrature() {
    let found = run(&from_fn(2, logistic));
    let (mut total, mut sums, mut squares) = (0.0, [0.0; 2], [0.0; 2]);
    let mut g = [0.0; 2];
    for a in -300..=300 {
        for b in -300..=300 {
            let z = [0.04 * f64::from(a), 0.04 * f64::from(b)];
            let p = logistic(&z, &mut g).exp();
            total += p;
            (0..2).for_each(|i| sums[i] += p * z[i]);
            (0..2).for_each(|i| squares[i] += p * z[i] * z[i]);
        }
    }
    for (i, out) in found.outputs.iter().enumerate() {
        let mean = sums[i] / total;
        let sd = (squares[i] / total - mean * mean).sqrt();
        assert!((out.mean - mean).abs() < 0.02 * sd, "{i}: {:?} {mean} {sd}", out);
        assert!((out.sd / sd).ln().abs() < 0.02, "{i}: {:?} {sd}", out);
    }
    let evidence = (total * 0.04 * 0.04).ln();
    assert!((found.log_evidence - evidence).abs() < 0.01);
    assert!(found.elbo < evidence + 3.0 * found.elbo_se);
    assert_eq!(found.status, Ending::Converged);
}

#[test]
fn eight_schools_agree_with_the_reference() {
    let table = "y,sigma\n28,15\n8,10\n-3,16\n7,11\n-1,9\n1,11\n18,10\n12,18\n";
    let data = Dataset::from_texts(&[("data.csv", table)]).unwrap();
    let text = include_str!("../../models/posteriordb/eight_schools-eight_schools_noncentered.ppl");
    let found = run(&ModelTarget::new(text, &data).unwrap());
    // Mean and standard deviation of the reference draws.
    for (name, mean, sd) in [("mu", 4.4, 3.3), ("tau", 3.6, 3.2)] {
        let out = found.outputs.iter().find(|o| o.name == name).unwrap();
        assert!((out.mean - mean).abs() < 0.1 * sd, "{out:?} k-hat {} {:?}", found.khat, found.flags);
    }
    assert!(found.khat < KHAT_LIMIT, "{} {:?}", found.khat, found.proposal);
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let (a, b) = (run(&from_fn(2, logistic)), run(&from_fn(2, logistic)));
    assert_eq!((a.outputs, a.mean, a.factor), (b.outputs, b.mean, b.factor));
}

#[test]
fn a_target_that_is_nowhere_finite_is_an_error() {
    let nowhere = from_fn(1, |_: &[f64], _: &mut [f64]| f64::NAN);
    let error = fit(&nowhere, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert_eq!(error, Error::NoStart);
}
