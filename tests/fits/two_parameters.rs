//! Models of two or three parameters whose posteriors are no ellipses: ridges, funnels, cuts and curved
//! tails, against integrals worked out here.

use crate::fits;

use stickler::infer::Fit;
use stickler::target::{ModelTarget, Target};

fn fitted(text: &str, data: &str) -> Fit {
    fits::fitted(text, &fits::json(data), 1)
}

/// Mean and standard deviation of values by the logarithms of their weights.
fn moments(points: &[(f64, f64)]) -> [f64; 2] {
    let top = points.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max);
    let sum = |of: &dyn Fn(f64) -> f64| points.iter().map(|(x, l)| (l - top).exp() * of(*x)).sum::<f64>();
    let (total, mean) = (sum(&|_| 1.0), sum(&|x| x) / sum(&|_| 1.0));
    [mean, (sum(&|x| (x - mean).powi(2)) / total).sqrt()]
}

fn check(fit: &Fit, name: &str, truth: [f64; 2], tolerance: f64) {
    assert_eq!(fits::wrong(fit, name, truth, tolerance), None);
    assert!(fit.khat < 0.7 && !fit.is_doubtful(), "{name}: k-hat {}, {:?}", fit.khat, fit.findings);
}

/// A sum that is known well leaves a thin ridge, bent in the logarithms of its parts. With a = t sin²φ and b
/// = t cos²φ for each total t the integrand is smooth in φ.
#[test]
fn a_sum_of_positive_parts() {
    let fit = fitted(
        "data { y : real[N] }\nparam a ~ lognormal(0, 1)\nparam b ~ gamma(0.5, 0.5)\ny ~ normal(a + b, 0.1)",
        r#"{"y": [10.0]}"#,
    );
    let mut points = Vec::new();
    for i in -40..=40 {
        let t = 10.0 + 0.0125 * f64::from(i);
        for k in 0..4000 {
            let phi = (f64::from(k) + 0.5) / 4000.0 * std::f64::consts::FRAC_PI_2;
            let (a, b) = (t * phi.sin().powi(2), t * phi.cos().powi(2));
            let log =
                -0.5 * ((t - 10.0) / 0.1).powi(2) - 0.5 * a.ln().powi(2) - a.ln() - 0.5 * b.ln() - 0.5 * b;
            points.push((a, log + (t * phi.sin() * phi.cos()).ln()));
        }
    }
    check(&fit, "a", moments(&points), 0.03);
}

/// With one observation location and scale make a funnel whose narrow end has next to no mass. With m = y + s
/// u the integrand has one width in u.
#[test]
fn a_funnel_of_one_observation() {
    let fit = fitted(
        "data { y : real[N] }\nparam m ~ normal(0, 5)\nparam s ~ exponential(1)\ny ~ logistic(m, s)",
        r#"{"y": [1.0]}"#,
    );
    let (mut of_m, mut of_s) = (Vec::new(), Vec::new());
    for i in 0..900 {
        let log_s = -14.0 + 0.02 * (f64::from(i) + 0.5);
        let s = log_s.exp();
        for k in 0..1600 {
            let u = 0.05 * (f64::from(k) + 0.5) - 40.0;
            let m = 1.0 + s * u;
            let log = -0.5 * (m / 5.0).powi(2) - s - u.abs() - 2.0 * (-u.abs()).exp().ln_1p() + log_s;
            of_m.push((m, log));
            of_s.push((s, log));
        }
    }
    check(&fit, "m", moments(&of_m), 0.03);
    check(&fit, "s", moments(&of_s), 0.03);
}

/// Two factors with kinks in their densities, of which data know the product: the heavier mode has the signs
/// that the search does not begin with.
#[test]
fn a_product_with_kinks() {
    let fit = fitted(
        "data { y : real[N] }\nparam a ~ double_exponential(1, 0.3)\nparam b ~ double_exponential(-2, 0.3)\n\
         y ~ normal(a * b, 0.3)",
        r#"{"y": [2.87]}"#,
    );
    let grid = |k: i32| 0.005 * (f64::from(k) + 0.5) - 7.0;
    let mut points = Vec::new();
    for i in 0..2800 {
        let a = grid(i);
        let logs = (0..2800)
            .map(grid)
            .map(|b| -(a - 1.0).abs() / 0.3 - (b + 2.0).abs() / 0.3 - 0.5 * ((2.87 - a * b) / 0.3).powi(2));
        points.push((a, logs.map(f64::exp).sum::<f64>().ln()));
    }
    check(&fit, "a", moments(&points), 0.03);
}

/// Far out an ordered triple of Student-t's is a curved tail in the coordinates that it is made of.
#[test]
fn a_curved_tail() {
    let fit = fitted(
        "data { y : real[N] }\nparam c : ordered[3] ~ student_t(4, 0, 2)\ny ~ normal(c[2], 1)",
        r#"{"y": [-1.222]}"#,
    );
    let step = 0.01;
    let grid: Vec<f64> = (0..80_000).map(|k| step * (f64::from(k) + 0.5) - 400.0).collect();
    let density = |x: &f64| (1.0 + (x / 2.0).powi(2) / 4.0).powf(-2.5);
    let mut above = vec![0.0; grid.len() + 1];
    (0..grid.len()).rev().for_each(|k| above[k] = above[k + 1] + density(&grid[k]));
    let mut later = vec![0.0; grid.len() + 1];
    for k in (0..grid.len()).rev() {
        later[k] =
            later[k + 1] + density(&grid[k]) * (-0.5 * (-1.222 - grid[k]).powi(2)).exp() * above[k + 1];
    }
    let points: Vec<(f64, f64)> =
        grid.iter().enumerate().map(|(k, x)| (*x, (density(x) * later[k + 1]).ln())).collect();
    check(&fit, "c[1]", moments(&points), 0.06);
}

/// Between limits far above the mean nearly all mass lies below both: what lies between is the difference of
/// what lies above.
#[test]
fn what_is_cut_far_in_a_tail_is_known() {
    let data = fits::json(r#"{"y": [5.5]}"#);
    let text = "data { y : real[N] }\nparam m ~ flat()\ny ~ truncated(normal(m, 1), lower = 5, upper = 6)";
    let target = ModelTarget::new(text, &data).expect("lowers");
    for m in [-30.0_f64, -5.0, 0.0, 5.2, 11.0, 40.0] {
        let kernel = |x: f64| -0.5 * (x - m).powi(2);
        let points = (0..20_000).map(|k| 5.0 + (f64::from(k) + 0.5) / 20_000.0);
        let top = kernel(m.clamp(5.0, 6.0));
        let mass = points.map(|x| (kernel(x) - top).exp()).sum::<f64>() / 20_000.0;
        let mut found = [0.0];
        target.evaluator().log_density(&[m], 1, &mut found);
        let exact = kernel(5.5) - top - mass.ln();
        assert!((found[0] - exact).abs() < 1e-5 * (1.0 + exact.abs()), "{m}: {} against {exact}", found[0]);
    }
}

/// Rows that a line separates, under Cauchy priors: the slope has no mean, and quantiles far from its mode.
/// With a = 2 sinh u and b = 2 sinh v the integrand is smooth, however far it reaches.
#[test]
fn separated_rows_under_cauchy_priors_have_their_quantiles() {
    const X: [f64; 8] = [-2.0, -1.5, -1.0, -0.5, 0.2, 0.6, 1.1, 1.9];
    let text = "data { x : real[N]; y : binary[N] }\nparam a ~ cauchy(0, 10)\nparam b ~ cauchy(0, 2.5)\ny ~ bernoulli_logit(a + b * x)";
    let log_density = |a: f64, b: f64| {
        let of = |x: &f64| -(-(a + b * x) * if *x < 0.0 { -1.0 } else { 1.0 }).exp().ln_1p();
        X.iter().map(of).sum::<f64>() - (1.0 + (a / 10.0).powi(2)).ln() - (1.0 + (b / 2.5).powi(2)).ln()
    };
    let mut up_to: Vec<[f64; 2]> = Vec::new();
    let mut total = 0.0;
    for v in (0..3000).map(|k| 0.008 * (f64::from(k) + 0.5) - 6.0) {
        for u in (0..400).map(|k| 0.04 * (f64::from(k) + 0.5) - 8.0) {
            total += v.cosh() * u.cosh() * log_density(2.0 * u.sinh(), 2.0 * v.sinh()).exp();
        }
        up_to.push([2.0 * (v + 0.004).sinh(), total]);
    }
    let fit = fitted(text, &format!("{{\"x\": {X:?}, \"y\": [0, 0, 0, 0, 1, 1, 1, 1]}}"));
    assert!(fit.has("no-variance"), "{:?}", fit.findings);
    let b = fit.outputs.iter().find(|o| o.name == "b").expect("is reported");
    for (p, found) in [(0.05, b.q5), (0.5, b.q50), (0.95, b.q95)] {
        let truth = up_to[up_to.partition_point(|[_, mass]| *mass < p * total)][0];
        assert!((found / truth).ln().abs() < 0.03, "{p}: {found} against {truth}");
    }
}
