//! Every base with every factor, estimator and kind of draws: unbiased against deterministic quadrature, and
//! no noisier than the theorems say.

use crate::vi_support;

use stickler::num::stream::Stream;
use stickler::target::Target;
use stickler::vi::draws::Draws;
use stickler::vi::estimator::{Estimates, Estimator};
use stickler::vi::factor::Space;
use stickler::vi::family::Family;
use stickler::vi::noise::Geometry;
use stickler::vi::table::find;
use stickler::vi::{Choice, Config, Estimate, Row};
use vi_support::*;

const D: usize = 2;

fn families() -> [Choice<Family>; 4] {
    ["normal", "student_t=6", "student_t=20", "laplace"].map(|f| f.parse().unwrap())
}

/// Nodes and weights for a base: the trapezoidal rule after u = exp(t - exp(-t)) on either half of the axis,
/// which is exact to rounding for what is smooth there, a kink at 0 or not, as long as a fourth moment
/// converges.
fn rule(family: Choice<Family>) -> Vec<(f64, f64)> {
    let (step, log_density) = (0.15, family.row.log_density);
    let half = (-23..=48).map(|k| {
        let t = step * f64::from(k);
        let u = (t - (-t).exp()).exp();
        (u, step * u * (1.0 + (-t).exp()) * log_density(family.value, u).exp())
    });
    half.flat_map(|(u, w)| [(u, w), (-u, w)]).collect()
}

/// The rule in the plane.
fn plane(family: Choice<Family>) -> Vec<([f64; D], f64)> {
    let rule = rule(family);
    // Weights below this add up to less than rounding.
    let nodes = rule.iter().flat_map(|(a, v)| rule.iter().map(move |(b, w)| ([*a, *b], v * w)));
    nodes.filter(|(_, w)| *w > 1e-20).collect()
}

#[test]
fn the_rule_has_the_moments_of_the_base() {
    for family in families() {
        let moment = |p: i32| rule(family).iter().map(|(u, w)| w * u.powi(p)).sum::<f64>();
        assert!((moment(0) - 1.0).abs() < 1e-10 && (moment(2) - 1.0).abs() < 1e-10, "{family}");
    }
}

fn random_w(space: &Space, stream: &mut Stream) -> Vec<f64> {
    let off = |stream: &mut Stream| 0.2 * stream.normal();
    let dense = [0.6 + stream.uniform(), off(stream), off(stream), 0.6 + stream.uniform()];
    let factor = (space.make)(D);
    let mut w: Vec<f64> = (0..D).map(|_| stream.normal()).collect();
    w.resize(D + factor.count(), 0.0);
    factor.pack(&dense, &mut w[D..]);
    w
}

/// Mean of an estimator and of its squared norm.
fn moments(
    model: &dyn Target,
    family: Choice<Family>,
    space: &'static Space,
    estimator: &'static Estimator,
    w: &[f64],
    nodes: &[([f64; D], f64)],
) -> (Vec<f64>, f64) {
    let mut estimate = Estimate::new(model, family, space, estimator, 1);
    let (mut mean, mut second, mut g) = (vec![0.0; w.len()], 0.0, vec![0.0; w.len()]);
    for (u, weight) in nodes {
        estimate.at(w, u, &mut g).unwrap();
        mean.iter_mut().zip(&g).for_each(|(m, g)| *m += weight * g);
        second += weight * dot(&g, &g);
    }
    (mean, second)
}

/// -E log p(m + C u), by the rule.
fn free_energy(model: &LinearModel, m: &[f64], c: &[f64], nodes: &[([f64; D], f64)]) -> f64 {
    let mut evaluator = model.evaluator();
    let (mut value, mut gradient) = ([0.0], [0.0; D]);
    let at = |(u, w): &([f64; D], f64)| {
        let z = [m[0] + c[0] * u[0] + c[1] * u[1], m[1] + c[2] * u[0] + c[3] * u[1]];
        evaluator.evaluate(&z, 1, &mut value, &mut gradient);
        -w * value[0]
    };
    nodes.iter().map(at).sum()
}

/// Derivatives along the directions of a packed space, for storages that hold more than their space.
fn differentiate(space: &Space, w: &[f64], f: impl Fn(&[f64], &[f64]) -> f64) -> Vec<f64> {
    let (h, c) = (1e-4, dense_factor(space, D, w));
    let along = |moved: &dyn Fn(f64) -> f64| {
        (8.0 * (moved(h) - moved(-h)) - moved(2.0 * h) + moved(-2.0 * h)) / (12.0 * h)
    };
    let mean = (0..D).map(|i| {
        along(&|t| {
            let mut m = w[..D].to_vec();
            m[i] += t;
            f(&m, &c)
        })
    });
    let dense: Vec<f64> = (0..D * D)
        .map(|k| {
            along(&|t| {
                let mut c = c.clone();
                c[k] += t;
                f(&w[..D], &c)
            })
        })
        .collect();
    // The gradient within the space is the projection of the gradient among all matrices: what `pack` does.
    let mut packed = vec![0.0; w.len() - D];
    (space.make)(D).pack(&dense, &mut packed);
    mean.chain(packed).collect()
}

/// -log |det C| of any matrix.
fn entropy(c: &[f64]) -> f64 {
    -(c[0] * c[3] - c[1] * c[2]).abs().ln()
}

#[test]
fn every_estimator_is_unbiased_on_every_base_with_every_factor() {
    let model = LinearModel::logistic(12, D);
    let mut stream = Stream::new(1, 2, 0);
    for family in families() {
        let nodes = plane(family);
        for space in Space::table() {
            let w = random_w(space, &mut stream);
            let of_energy = differentiate(space, &w, |m, c| free_energy(&model, m, c, &nodes));
            let of_entropy = differentiate(space, &w, |_, c| entropy(c));
            for estimator in Estimator::table() {
                let (mean, _) = moments(&model, family, space, estimator, &w, &nodes);
                for (k, found) in mean.iter().enumerate() {
                    let expected = match estimator.estimates {
                        Estimates::FreeEnergy => of_energy[k],
                        Estimates::Objective => of_energy[k] + of_entropy[k],
                    };
                    assert!(
                        (found - expected).abs() < 1e-7 * (1.0 + expected.abs()),
                        "{}, {}, {family}: entry {k} has mean {found}, the gradient is {expected}",
                        estimator.name,
                        space.name
                    );
                }
            }
        }
    }
}

#[test]
fn every_kind_of_draws_keeps_the_mean_on_every_base() {
    let model = LinearModel::logistic(12, D);
    let space = find::<Space>("symmetric").unwrap();
    let w = random_w(space, &mut Stream::new(2, 2, 0));
    let (batch, batches) = (16, 1000);
    for family in families() {
        let nodes = plane(family);
        for estimator in ["energy", "stl"].map(|e| find::<Estimator>(e).unwrap()) {
            let (expected, _) = moments(&model, family, space, estimator, &w, &nodes);
            for draws in Draws::table() {
                let mut estimate = Estimate::new(&model, family, space, estimator, batch);
                let (mut mean, mut square, mut g) =
                    (vec![0.0; w.len()], vec![0.0; w.len()], vec![0.0; w.len()]);
                for k in 0..batches {
                    let u = draws.batch(&family, D, batch, 78, k).unwrap();
                    estimate.at(&w, &u, &mut g).unwrap();
                    for i in 0..w.len() {
                        mean[i] += g[i] / batches as f64;
                        square[i] += (g[i] - expected[i]).powi(2) / batches as f64;
                    }
                }
                for i in 0..w.len() {
                    // 120 numbers are compared: five standard errors leave one false alarm in ten thousand
                    // seeds.
                    let error = (square[i] / batches as f64).sqrt();
                    let off = (mean[i] - expected[i]).abs();
                    assert!(
                        off < 5.0 * error,
                        "{}, {}, {family}: entry {i} is off by {off} ± {error}",
                        draws.name,
                        estimator.name
                    );
                }
            }
        }
    }
}

#[test]
fn the_noise_bounds_hold_on_every_base() {
    let model = LinearModel::logistic(12, D);
    let constants = model.constants();
    let floor = 1.0 / constants.smoothness.sqrt();
    let mode = model.mode();
    let mut stream = Stream::new(3, 2, 0);
    for family in families() {
        let (nodes, kurtosis) = (plane(family), (family.row.kurtosis)(family.value));
        for space in Space::table().iter().filter(|s| s.projects) {
            for estimator in ["energy", "entropy"].map(|e| find::<Estimator>(e).unwrap()) {
                for _ in 0..4 {
                    let mut w = random_w(space, &mut stream);
                    w.iter_mut().for_each(|x| *x *= 2.0);
                    (space.make)(D).project(&mut w[D..], floor);
                    let to_mode = distance_squared(&w[..D], &mode) + dot(&w[D..], &w[D..]);
                    // With w itself in the place of w*: the bounds hold for any point that is taken for it,
                    // as a‖w - w*‖² + b is made of ‖w - w̄‖² by the triangle inequality; this is the
                    // tightest.
                    let geometry = Geometry {
                        dimension: D,
                        kurtosis,
                        smoothness: constants.smoothness,
                        residual: 0.0,
                        to_mode,
                        to_residual_mode: 0.0,
                    };
                    let bound = (estimator.noise)(&geometry).unwrap().at(0.0);
                    let (_, second) = moments(&model, family, space, estimator, &w, &nodes);
                    assert!(
                        second <= bound,
                        "{}, {}, {family}: {second} above {bound}",
                        estimator.name,
                        space.name
                    );
                    if estimator.name == "energy" {
                        let sharp =
                            geometry.sharp_energy(distance_squared(&w[..D], &mode), dot(&w[D..], &w[D..]));
                        assert!(second <= sharp, "{}, {family}: {second} above {sharp}", space.name);
                    }
                }
            }
        }
    }
}

#[test]
fn what_has_no_theorem_or_no_variance_is_refused_with_a_reason() {
    let refusal = |change: &dyn Fn(&mut Config), d: usize| {
        let mut config = Config::named("proj-stl").unwrap();
        change(&mut config);
        config.resolve(d).unwrap_err().to_string()
    };
    let constants = Some(stickler::vi::Constants { smoothness: 2.0, strong_concavity: 1.0 });
    for family in ["laplace", "student_t=6"] {
        let message = refusal(
            &|c| {
                c.family = family.parse().unwrap();
                c.constants = constants;
                c.step = Some("proj_decay".parse().unwrap());
            },
            3,
        );
        let name = family.split('=').next().unwrap();
        assert!(message.contains("no theorem bounds the noise") && message.contains(name), "{message}");
        assert!(message.contains("'curvature'"), "{message}");
    }
    // Without a fourth moment the estimators have no variance.
    let message = "student_t=4".parse::<Choice<Family>>().unwrap_err().to_string();
    assert!(message.contains("degrees of freedom") && message.contains("not above 4"), "{message}");
    let message = refusal(
        &|c| {
            c.draws = find("antithetic").unwrap();
            c.batch = 7;
        },
        3,
    );
    assert!(message.contains("even") && message.contains("pairs"), "{message}");
}
