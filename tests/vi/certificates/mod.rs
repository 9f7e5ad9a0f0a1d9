//! Tools to hold certificates against the log densities that they are about.
#![allow(dead_code)]

pub mod table;

use stickler::certify::{Certificate, Tier, certify};
use stickler::data::Dataset;
use stickler::num::linalg::symmetric_eigen;
use stickler::num::stream::Stream;
use stickler::target::{ModelTarget, Target};

/// A model with its data as CSV text.
pub fn model(source: &str, csv: &str) -> ModelTarget {
    try_model(source, csv).unwrap_or_else(|e| panic!("{e}\n{source}"))
}

/// A model with its data as CSV text, or what is wrong with it.
pub fn try_model(source: &str, csv: &str) -> Result<ModelTarget, String> {
    let files: &[(&str, &str)] = if csv.is_empty() { &[] } else { &[("data.csv", csv)] };
    let data = Dataset::from_texts(files).map_err(|e| format!("{e:?}"))?;
    ModelTarget::new(source, &data).map_err(|e| format!("{e:?}"))
}

/// The certificate of a model, after the falsifier has tried it.
pub fn certified(source: &str, csv: &str) -> Certificate {
    let target = model(source, csv);
    let certificate = certify(target.lowered());
    if let Some(lie) = falsify(&target, &certificate, &mut Stream::new(11, 0, 0), 12) {
        panic!("{lie}\n{source}\n{certificate:?}");
    }
    certificate
}

/// Whether a tier says that the log density is concave.
pub fn is_concave(tier: Tier) -> bool {
    match tier {
        Tier::Exact | Tier::StronglyConcaveSmooth | Tier::ConcaveSmooth | Tier::Concave => true,
        Tier::Smooth | Tier::None => false,
    }
}

/// Minus the Hessian at a point; None where it is not finite.
pub fn curvature(target: &ModelTarget, z: &[f64]) -> Option<Vec<f64>> {
    let d = z.len();
    let mut identity = vec![0.0; d * d];
    (0..d).for_each(|i| identity[i * d + i] = 1.0);
    let mut out = vec![0.0; d * d];
    target.evaluator().hessian_vectors(z, &identity, d, &mut out);
    let symmetric = (0..d * d).map(|p| -0.5 * (out[p] + out[(p % d) * d + p / d])).collect::<Vec<f64>>();
    symmetric.iter().all(|x| x.is_finite()).then_some(symmetric)
}

/// Smallest and largest eigenvalue.
pub fn extremes(a: &[f64], d: usize) -> (f64, f64) {
    let values = symmetric_eigen(a, d).expect("eigenvalues").values;
    (values[0], values[d - 1])
}

fn largest(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |m, x| m.max(x.abs()))
}

fn random_point(d: usize, scale: f64, rng: &mut Stream) -> Vec<f64> {
    (0..d).map(|_| scale * rng.normal()).collect()
}

/// Looks for a point that refutes the certificate, and says what it refutes.
pub fn falsify(
    target: &ModelTarget,
    certificate: &Certificate,
    rng: &mut Stream,
    points: usize,
) -> Option<String> {
    if certificate.tier == Tier::None {
        return None;
    }
    let d = certificate.dimension;
    (0..points).find_map(|k| {
        let scale = [0.3, 1.0, 3.0, 10.0][k % 4];
        let (a, b) = (random_point(d, scale, rng), random_point(d, scale, rng));
        hessian_lie(target, certificate, &a)
            .or_else(|| chord_lie(target, certificate, &a, &b))
            .map(|lie| format!("{lie} at {a:?} and {b:?}"))
    })
}

/// How much of a Hessian is rounding: where large terms cancel, it changes when the point moves by a few last
/// bits.
fn noise(target: &ModelTarget, z: &[f64], h: &[f64]) -> f64 {
    (1..=4).fold(0.0, |most: f64, k| {
        let near: Vec<f64> = z.iter().map(|x| x * (1.0 + f64::from(k) * f64::EPSILON)).collect();
        let other = curvature(target, &near).unwrap_or_else(|| vec![f64::INFINITY; h.len()]);
        h.iter().zip(&other).fold(most, |m, (a, b)| m.max((a - b).abs()))
    })
}

/// Minus the Hessian outside its bounds.
fn hessian_lie(target: &ModelTarget, certificate: &Certificate, z: &[f64]) -> Option<String> {
    let d = z.len();
    let h = curvature(target, z)?;
    let noise = 30.0 * noise(target, z, &h);
    let minus = |bound: &[f64]| h.iter().zip(bound).map(|(h, b)| h - b).collect::<Vec<f64>>();
    let slack = |bound: f64| 1e-8 * (1.0 + largest(&h) + bound.abs()) + noise;
    let (low, high) = extremes(&h, d);
    if let Some(least) = certificate.least.filter(|&m| low < m - slack(m)) {
        return Some(format!("an eigenvalue is {low}, below {least}"));
    }
    if let Some(most) = certificate.most.filter(|&m| high > m + slack(m)) {
        return Some(format!("an eigenvalue is {high}, above {most}"));
    }
    if let Some(least) = &certificate.least_matrix
        && extremes(&minus(least), d).0 < -slack(largest(least))
    {
        return Some(format!("the Hessian is below the lower matrix by {}", extremes(&minus(least), d).0));
    }
    if let Some(most) = &certificate.most_matrix
        && extremes(&minus(most), d).1 > slack(largest(most))
    {
        return Some(format!("the Hessian is above the upper matrix by {}", extremes(&minus(most), d).1));
    }
    None
}

/// A chord above a concave function, or gradients that differ by more or less than the curvature allows; both
/// see kinks and jumps that second derivatives at random points do not.
fn chord_lie(target: &ModelTarget, certificate: &Certificate, a: &[f64], b: &[f64]) -> Option<String> {
    let d = a.len();
    let middle: Vec<f64> = a.iter().zip(b).map(|(a, b)| 0.5 * (a + b)).collect();
    let mut evaluator = target.evaluator();
    let mut at = |z: &[f64]| {
        let (mut value, mut gradient) = ([0.0], vec![0.0; d]);
        evaluator.evaluate(z, 1, &mut value, &mut gradient);
        (value[0], gradient)
    };
    let ((fa, ga), (fb, gb), (fm, _)) = (at(a), at(b), at(&middle));
    if !(fa.is_finite() && fb.is_finite()) {
        return None;
    }
    let size = 1.0 + fa.abs() + fb.abs();
    if is_concave(certificate.tier) && !(fm >= 0.5 * (fa + fb) - 1e-9 * size) {
        return Some(format!("the value {fm} in the middle is below the chord between {fa} and {fb}"));
    }
    let along: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let length: f64 = along.iter().map(|x| x * x).sum();
    let drop: f64 = (0..d).map(|i| (gb[i] - ga[i]) * along[i]).sum();
    let slack = 1e-7 * (1.0 + (largest(&ga) + largest(&gb)) * length.sqrt());
    if !drop.is_finite() {
        return None;
    }
    let most = certificate.most.is_some_and(|m| drop > m * length + slack + 1e-9 * m.abs() * length);
    let least = certificate.least.is_some_and(|m| drop < m * length - slack - 1e-9 * m.abs() * length);
    (most || least).then(|| format!("the mean curvature along a chord is {}", drop / length))
}
