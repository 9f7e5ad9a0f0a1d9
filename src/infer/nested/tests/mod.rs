//! What is integrated out against closed forms, and the two ways to it against each other.

mod crossed;

use crate::data::Dataset;
use crate::infer::gaussian::Gaussian;
use crate::infer::importance::pilot::judge;
use crate::infer::nested::conditional::Conditional;
use crate::infer::nested::explore::explore;
use crate::infer::nested::groups::pick;
use crate::infer::nested::hessian::pattern::pattern;
use crate::infer::nested::lanes::{LANES, Lanes};
use crate::infer::nested::lattice::Lattice;
use crate::infer::nested::marginal::directions;
use crate::infer::nested::marginal::{Marginal, Nested};
use crate::infer::nested::partition::{How, Partition, partitions};
use crate::infer::nested::solver::Solver;
use crate::infer::options::Options;
use crate::infer::transport::map::Warped;
use crate::num::linalg::{cholesky, log_det_cholesky, solve_cholesky};
use crate::num::real::LN_2PI;
use crate::num::special::{lgamma, log_phi};
use crate::num::stream::Stream;
use crate::target::{ModelTarget, Target, from_fn};
use crate::vi::Scale;

const Y: [f64; 5] = [3.0, -1.0, 0.5, 2.0, -2.5];

fn schools() -> ModelTarget {
    let rows: String = Y.iter().map(|y| format!("{y}\n")).collect();
    let data = Dataset::from_texts(&[("data.csv", &format!("y\n{rows}"))]).unwrap();
    let text = "data { y : real[J] }\nparam theta[J]\nparam mu ~ normal(0, 5)\nparam tau ~ half_normal(3)\n\
                theta ~ normal(mu, tau)\ny ~ normal(theta, 2)";
    ModelTarget::new(text, &data).unwrap()
}

/// log p(y, log tau): y is Gaussian with covariance (4 + tau²) I + 25 11ᵀ.
fn exact(log_tau: f64) -> f64 {
    let (n, tau) = (Y.len(), log_tau.exp());
    let mut covariance: Vec<f64> =
        (0..n * n).map(|p| 25.0 + if p / n == p % n { 4.0 + tau * tau } else { 0.0 }).collect();
    cholesky(&mut covariance, n).unwrap();
    let mut solved = Y.to_vec();
    solve_cholesky(&covariance, n, &mut solved);
    let square: f64 = solved.iter().zip(Y).map(|(a, b)| a * b).sum();
    let root = (2.0 / std::f64::consts::PI).sqrt() / 3.0;
    let prior = root.ln() - tau * tau / 18.0 + log_tau;
    prior - 0.5 * (square + log_det_cholesky(&covariance, n) + n as f64 * LN_2PI)
}

fn marginal(target: &ModelTarget, parts: Partition, log_tau: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let conditional = Conditional::new(target, parts, 1).unwrap();
    let marginal = Marginal::new(&conditional, &conditional.outer_scales());
    let (mut value, mut slope) = (vec![0.0; log_tau.len()], vec![0.0; log_tau.len()]);
    marginal.evaluator().evaluate(log_tau, log_tau.len(), &mut value, &mut slope);
    (value, slope)
}

#[test]
fn what_is_quadratic_is_integrated_out_exactly() {
    let target = schools();
    let parts = partitions(&target, 1).swap_remove(0);
    assert_eq!(
        (&parts.inner[..], &parts.outer[..], parts.how),
        (&[0, 1, 2, 3, 4, 5][..], &[6][..], How::Quadratic)
    );
    let points: Vec<f64> = (0..35).map(|k| -3.0 + 0.2 * f64::from(k)).collect();
    let (value, slope) = marginal(&target, parts, &points);
    // Constants of normal densities are dropped from the model, the same ones everywhere.
    let constant = value[0] - exact(points[0]);
    for ((x, value), slope) in points.iter().zip(value).zip(slope) {
        assert!((value - exact(*x) - constant).abs() < 1e-10, "{x}: {value}");
        let h = 1e-5;
        let expected = (exact(x + h) - exact(x - h)) / (2.0 * h);
        assert!((slope - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{x}: {slope} {expected}");
    }
}

/// Coefficients whose Hessian is a sum of two matrices: y is Gaussian with covariance sigma² I + X Xᵀ.
#[test]
fn coefficients_are_integrated_out_exactly() {
    let x = |row: usize, column: usize| (1.0 + (row * (column + 2)) as f64).sin();
    let y = |row: usize| (3.0 * row as f64).cos();
    let (n, k) = (12, 4);
    let row = |i: usize| format!("{},{},{},{},{}\n", y(i), x(i, 0), x(i, 1), x(i, 2), x(i, 3));
    let rows: String = (0..n).map(row).collect();
    let data = Dataset::from_texts(&[("data.csv", &format!("y,a,b,c,d\n{rows}"))]).unwrap();
    let text = "data {\ny : real[N]\na : real[N]\nb : real[N]\nc : real[N]\nd : real[N]\n}\n\
                param w[4] ~ normal(0, 1)\nparam sigma ~ exponential(1)\n\
                y ~ normal(w[1] * a + w[2] * b + w[3] * c + w[4] * d, sigma)";
    let target = ModelTarget::new(text, &data).unwrap();
    let exact = |log_sigma: f64| {
        let sigma = log_sigma.exp();
        let entry = |p: usize| {
            let product: f64 = (0..k).map(|c| x(p / n, c) * x(p % n, c)).sum();
            product + if p / n == p % n { sigma * sigma } else { 0.0 }
        };
        let mut covariance: Vec<f64> = (0..n * n).map(entry).collect();
        cholesky(&mut covariance, n).unwrap();
        let mut solved: Vec<f64> = (0..n).map(y).collect();
        solve_cholesky(&covariance, n, &mut solved);
        let square: f64 = solved.iter().enumerate().map(|(i, a)| a * y(i)).sum();
        log_sigma - sigma - 0.5 * (square + log_det_cholesky(&covariance, n))
    };
    let points: Vec<f64> = (0..40).map(|i| -2.0 + 0.15 * f64::from(i)).collect();
    let parts = partitions(&target, 1).swap_remove(0);
    assert_eq!(parts.inner.len(), k);
    let (value, _) = marginal(&target, parts, &points);
    let constant = value[0] - exact(points[0]);
    for (x, value) in points.iter().zip(value) {
        assert!((value - exact(*x) - constant).abs() < 1e-10, "{x}: {value}");
    }
}

/// Newton's steps on what is quadratic end where one factorisation does.
#[test]
fn both_ways_agree_where_both_are_exact() {
    let target = schools();
    let parts = partitions(&target, 1).swap_remove(0);
    let points = [-2.0, -0.5, 0.0, 0.7, 1.5, 3.0];
    let (one, _) = marginal(&target, parts.clone(), &points);
    let (steps, _) = marginal(&target, Partition { how: How::Searched, ..parts }, &points);
    for (a, b) in one.iter().zip(steps) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

/// What is explored is where the closed form has its top; polynomials through anchors follow that, and have
/// the slope of their own values.
#[test]
fn polynomials_through_anchors_follow_the_closed_form() {
    let target = schools();
    let parts = partitions(&target, 1).swap_remove(0);
    let mut conditional = Conditional::new(&target, parts, 1).unwrap();
    let q = explore(&mut conditional, 1).unwrap();
    let grid = (0..600).map(|k| -3.0 + 0.01 * f64::from(k));
    let top = grid.max_by(|a, b| exact(*a).total_cmp(&exact(*b))).unwrap();
    assert!((q.mean[0] - top).abs() < 0.5 * q.scales()[0], "{:?} {top}", q.mean);
    assert!(conditional.smooth(&q, 1));
    let apart = 0.02;
    let points: Vec<f64> = (0..101).map(|k| q.mean[0] + apart * f64::from(k - 50)).collect();
    let (mut value, mut slope) = (vec![0.0; points.len()], vec![0.0; points.len()]);
    let marginal = Marginal::new(&conditional, &q.scales());
    marginal.evaluator().evaluate(&points, points.len(), &mut value, &mut slope);
    let constant = value[50] - exact(points[50]);
    for k in 5..points.len() - 5 {
        // What the data add to the Hessian is the same everywhere, and what the prior adds is known.
        let off = value[k] - exact(points[k]) - constant;
        assert!(off.abs() < 1e-6, "{}: {off}", points[k]);
        let expected = (value[k + 5] - value[k - 5]) / (10.0 * apart);
        assert!(
            (slope[k] - expected).abs() < 0.01 * (1.0 + expected.abs()),
            "{}: {} {expected}",
            points[k],
            slope[k]
        );
    }
    // Where the scale is next to nothing, or huge, no anchor is near, and the curvature of the prior is known
    // all the same.
    let far = [-12.0, -8.0, -5.0, 4.0, 6.0].map(|by| q.mean[0] + by);
    let mut value = [0.0; 5];
    marginal.evaluator().log_density(&far, far.len(), &mut value);
    for (value, at) in value.iter().zip(far) {
        let off = value - exact(at) - constant;
        assert!(off.abs() < 1e-5, "{at}: {off}");
    }
}

#[test]
fn a_scale_is_never_taken_as_quadratic() {
    let data = Dataset::from_texts(&[("data.csv", "y\n3\n-1\n")]).unwrap();
    let text =
        "data { y : real[N] }\nparam a ~ normal(0, 1)\nparam b ~ normal(0, 1)\ny ~ normal(a * b, exp(b))";
    let target = ModelTarget::new(text, &data).unwrap();
    let parts = partitions(&target, 1).swap_remove(0);
    assert_eq!((&parts.inner[..], &parts.outer[..]), (&[0][..], &[1][..]));
}

const COUNTS: [f64; 4] = [0.0, 3.0, 1.0, 9.0];

/// log ∫ Poisson(y | exp(b)) N(b | 0, tau) db, by a fine grid.
fn of_group(y: f64, tau: f64) -> f64 {
    let h = 0.001 * tau;
    let density = |k: i32| {
        let b = f64::from(k) * h;
        (y * b - b.exp() - lgamma(y + 1.0) - 0.5 * (b / tau).powi(2) - 0.5 * LN_2PI).exp() / tau
    };
    ((-9000..=9000).map(density).sum::<f64>() * h).ln()
}

/// A model for these counts.
fn of_counts(text: &str) -> ModelTarget {
    let rows: String = COUNTS.iter().map(|y| format!("{y}\n")).collect();
    let data = Dataset::from_texts(&[("data.csv", &format!("y\n{rows}"))]).unwrap();
    ModelTarget::new(text, &data).unwrap()
}

/// Counts of groups with effects of their own, to be integrated out.
fn counts() -> (ModelTarget, Partition) {
    let text = "data { y : count[J] }\nparam tau ~ half_normal(3)\nparam b[J]\nb ~ normal(0, tau)\ny ~ poisson_log(b)";
    let target = of_counts(text);
    (target, Partition { inner: vec![1, 2, 3, 4], outer: vec![0], how: How::Searched })
}

/// log p(y, log tau), but for a constant.
fn exact_of_counts(log_tau: f64) -> f64 {
    let tau = log_tau.exp();
    COUNTS.iter().map(|y| of_group(*y, tau)).sum::<f64>() - tau * tau / 18.0 + log_tau
}

/// A rule about the modes integrates groups out, and the mean of the gradient over its points is the gradient
/// of the integral.
#[test]
fn a_rule_integrates_small_groups_and_their_slopes() {
    let (target, parts) = counts();
    let mut conditional = Conditional::new(&target, parts, 1).unwrap();
    conditional.tell_groups_apart(&target);
    assert!(conditional.integrate_groups());
    let marginal = Marginal::new(&conditional, &[0.5]);
    let points: Vec<f64> = (0..29).map(|k| -2.0 + 0.08 * f64::from(k)).collect();
    let (mut value, mut slope) = (vec![0.0; points.len()], vec![0.0; points.len()]);
    marginal.evaluator().evaluate(&points, points.len(), &mut value, &mut slope);
    let constant = value[0] - exact_of_counts(points[0]);
    let h = 1e-4;
    for ((x, value), slope) in points.iter().zip(value).zip(slope) {
        let off = value - exact_of_counts(*x) - constant;
        assert!(off.abs() < 1e-3, "{x}: {off}");
        let expected = (exact_of_counts(x + h) - exact_of_counts(x - h)) / (2.0 * h);
        assert!((slope - expected).abs() < 2e-3 * (1.0 + expected.abs()), "{x}: {slope} {expected}");
    }
    // One point alone gives the same as among others.
    let (mut one, mut its_slope) = ([0.0], [0.0]);
    marginal.evaluator().evaluate(&points[7..8], 1, &mut one, &mut its_slope);
    let (mut all, mut slopes) = (vec![0.0; points.len()], vec![0.0; points.len()]);
    marginal.evaluator().evaluate(&points, points.len(), &mut all, &mut slopes);
    assert!((one[0] - all[7]).abs() < 1e-8 && (its_slope[0] - slopes[7]).abs() < 1e-6);
}

/// The slope by second differences is that of the values, where groups have one coordinate each and where all
/// hang together.
#[test]
fn laplaces_approximation_has_the_slope_of_its_values() {
    let (effects, parts) = counts();
    let shared = "data { y : count[J] }\nparam tau ~ half_normal(3)\nparam b[J]\nparam m ~ normal(0, 2)\n\
                  b ~ normal(m, tau)\ny ~ poisson_log(b)";
    let hanging = of_counts(shared);
    let all = Partition { inner: vec![1, 2, 3, 4, 5], ..parts.clone() };
    for (target, parts) in [(&effects, parts), (&hanging, all)] {
        let conditional = Conditional::new(target, parts, 1).unwrap();
        assert!(directions(&conditional).is_some());
        let marginal = Marginal::new(&conditional, &[0.5]);
        let points: Vec<f64> = (0..20).map(|k| -2.0 + 0.2 * f64::from(k)).collect();
        let (mut value, mut slope) = ([0.0; 20], [0.0; 20]);
        marginal.evaluator().evaluate(&points, 20, &mut value, &mut slope);
        for (x, slope) in points.iter().zip(slope) {
            let mut sides = [0.0; 2];
            marginal.evaluator().log_density(&[x + 1e-3, x - 1e-3], 2, &mut sides);
            let expected = (sides[0] - sides[1]) / 2e-3;
            assert!((slope - expected).abs() < 2e-5 * (1.0 + expected.abs()), "{x}: {slope} {expected}");
        }
    }
}

/// An intercept and a slope for each of many groups, beside coefficients that all share: as many groups as
/// there are, however far apart curvatures lie, and the rule's gradient is that of its values.
#[test]
fn groups_of_two_are_told_apart_and_integrated() {
    const GROUPS: usize = 40;
    let mut stream = Stream::new(3, 1, 4);
    let row = |k: usize| format!("g{},{},{},{}\n", k % GROUPS, k % 5, stream.normal(), stream.normal());
    let rows: String = (0..5 * GROUPS).map(row).collect();
    let data = Dataset::from_texts(&[("data.csv", &format!("g,y,x,w\n{rows}"))]).unwrap();
    let text = "data { g : category[N] of G; y : count[N]; x : real[N]; w : real[N] }\n\
                param a ~ normal(0, 2)\nparam b[7] ~ normal(0, 1)\nparam s ~ half_normal(1)\n\
                param t ~ half_normal(1)\nparam u[G] ~ normal(0, s)\nparam v[G] ~ normal(0, t)\n\
                y ~ poisson_log(a + u[g] + v[g] .* x + sum(b) * w)";
    let target = ModelTarget::new(text, &data).unwrap();
    let parts = partitions(&target, 1).swap_remove(0);
    assert_eq!((parts.inner.len(), parts.outer.len()), (2 * GROUPS, 10));
    let mut conditional = Conditional::new(&target, parts, 1).unwrap();
    assert_eq!(conditional.group_count(), GROUPS);
    conditional.tell_groups_apart(&target);
    assert!(conditional.integrate_groups());
    let marginal = Marginal::new(&conditional, &[1.0; 10]);
    let centre: Vec<f64> = (0..10).map(|i| if i >= 8 { -0.5 } else { 0.05 * f64::from(i) }).collect();
    let (mut value, mut slope) = ([0.0], [0.0; 10]);
    marginal.evaluator().evaluate(&centre, 1, &mut value, &mut slope);
    for i in 0..10 {
        let h = 1e-3;
        let mut sides = [0.0; 2];
        for (side, by) in sides.iter_mut().zip([h, -h]) {
            let mut z = centre.clone();
            z[i] += by;
            let mut found = [0.0];
            marginal.evaluator().log_density(&z, 1, &mut found);
            *side = found[0];
        }
        let expected = (sides[0] - sides[1]) / (2.0 * h);
        assert!((slope[i] - expected).abs() < 5e-3 * (1.0 + expected.abs()), "{i}: {} {expected}", slope[i]);
    }
}

/// The log density at outer points of which all lanes are one, groups integrated out by a lattice of this
/// solver's.
fn by_lattice(conditional: &Conditional, solver: &mut Solver, lattice: &Lattice, outer: &[f64]) -> Lanes {
    solver.solve(outer, 1);
    let groups = [&conditional.groups.of[..], &conditional.drawn_group()];
    let u = vec![[0.0; LANES]; conditional.parts.inner.len()];
    let lanes: Vec<Lanes> = outer.iter().map(|x| [*x; LANES]).collect();
    let (_, gains) = pick(solver, &lanes, u, groups, Some(lattice), [lattice.points, 1]);
    std::array::from_fn(|b| solver.log_marginal[b] + gains.iter().map(|g| g[b]).sum::<f64>())
}

/// Groups that reach no further than a few standard deviations need fewer points, for the same integrals.
#[test]
fn a_narrow_lattice_serves_groups_that_are_narrow() {
    let (target, parts) = counts();
    let mut conditional = Conditional::new(&target, parts, 1).unwrap();
    conditional.tell_groups_apart(&target);
    let wide = conditional.lattice().unwrap().points;
    let q = Gaussian { mean: vec![-1.0], factor: Scale::Dense(vec![0.2]) };
    conditional.look_how_far(&q, 1);
    let narrow = conditional.lattice().unwrap();
    assert!(narrow.points < wide);
    let mut solver = Solver::new(&conditional).roughly();
    let mut constant = None;
    for log_tau in [-1.4, -1.0, -0.6] {
        for value in by_lattice(&conditional, &mut solver, narrow, &[log_tau]) {
            let off = value - exact_of_counts(log_tau);
            assert!((off - *constant.get_or_insert(off)).abs() < 1e-3, "{log_tau}: {off}");
        }
    }
}

/// A lattice corrects Laplace's approximation to the integral over groups of one coordinate to many digits,
/// far out too.
#[test]
fn a_lattice_corrects_what_laplace_integrates() {
    let (target, parts) = counts();
    let mut conditional = Conditional::new(&target, parts, 1).unwrap();
    assert_eq!(conditional.groups.of, [0, 1, 2, 3]);
    conditional.tell_groups_apart(&target);
    let lattice = conditional.lattice().unwrap();
    let mut solver = Solver::new(&conditional).roughly();
    // Constants are dropped from the model, the same ones everywhere.
    let mut constant = None;
    // The wider groups are on one side than at their modes, the less even are the points where it counts.
    for (log_tau, within) in [(0.0_f64, 1e-3), (0.7, 1e-3), (-2.0, 1e-3), (1.6, 2e-3), (2.5, 1e-2)] {
        for value in by_lattice(&conditional, &mut solver, lattice, &[log_tau]) {
            let off = value - exact_of_counts(log_tau);
            let constant = *constant.get_or_insert(off);
            assert!((off - constant).abs() < within, "{log_tau}: {off} {constant}");
        }
    }
}

/// Where all of a group failed or none did, the data say nothing on one side of an edge, and a prior that is
/// very wide leads over it in a step that promises next to nothing: what is integrated is still that of the
/// model, log Φ(∓(m + c x) / tau) for each group.
#[test]
fn a_short_step_over_an_edge_changes_no_value() {
    let text = "data { k : count[J]; n : count[J]; x : real[J] }\nparam m ~ normal(0, 3)\nparam c ~ normal(0, 2)\n\
                param tau ~ half_cauchy(1)\nparam a[J] ~ normal(m, tau)\nk ~ binomial_logit(n, a + c * x)";
    let data = Dataset::from_texts(&[("data.csv", "k,n,x\n0,8,-1\n5,5,1.1\n0,3,0.2\n")]).unwrap();
    let target = ModelTarget::new(text, &data).unwrap();
    let parts = Partition { inner: vec![3, 4, 5], outer: vec![0, 1, 2], how: How::Searched };
    let mut conditional = Conditional::new(&target, parts, 1).unwrap();
    conditional.tell_groups_apart(&target);
    let lattice = conditional.lattice().unwrap();
    let centre = [-0.8, 2.8, 0.0];
    conditional.recentre(&centre, &[1e-3; 3]);
    conditional.anchor(&Gaussian { mean: centre.to_vec(), factor: Scale::identity(3) }, 1);
    let mut solver = Solver::new(&conditional).roughly();
    let exact = |[m, c, log_tau]: [f64; 3]| {
        let tau = log_tau.exp();
        let edges = [c - m, m + 1.1 * c, -m - 0.2 * c];
        let of_groups: f64 = edges.iter().map(|x| log_phi(x / tau)).sum();
        of_groups - m * m / 18.0 - c * c / 8.0 - (tau * tau).ln_1p() + log_tau
    };
    let mut constant = None;
    let near = [[0.0, 0.0, 6.0], [20.0, -30.0, 6.0], [-20.0, 10.0, 6.0], [50.0, -50.0, 7.0]];
    let far = [[4.0, -18.8, 15.0], [2.1, -15.1, 11.4], [6.5, -26.3, 11.5], [31.8, -53.0, 47.1]];
    for outer in near.into_iter().chain(far) {
        for value in by_lattice(&conditional, &mut solver, lattice, &outer) {
            let off = value - exact(outer);
            let more = off - *constant.get_or_insert(off);
            // The points of a lattice do not fall on the edge, and far out they reach too little, which loses
            // nothing that counts.
            assert!(more < 0.5 && (outer[2] > 7.0 || more > -0.5), "{outer:?}: {more}");
        }
    }
}

/// Where a scale is small, effects that are not normal have modes far (in that scale) from where those at the
/// reference lead: they are found all the same, or the lower tail of the scale would be lost without a trace.
#[test]
fn modes_are_found_where_a_scale_is_small() {
    let text = "data { y : count[J] }\nparam tau ~ half_normal(3)\nparam b[J] ~ logistic(0.5, tau)\ny ~ poisson_log(b)";
    let target = of_counts(text);
    let parts = Partition { inner: vec![1, 2, 3, 4], outer: vec![0], how: How::Searched };
    let mut conditional = Conditional::new(&target, parts, 1).unwrap();
    conditional.tell_groups_apart(&target);
    let lattice = conditional.lattice().unwrap();
    let mut solver = Solver::new(&conditional).roughly();
    let grid: Vec<f64> = (0..8000).map(|k| -40.0 + 0.01 * (f64::from(k) + 0.5)).collect();
    let exact = |log_tau: f64| {
        let tau = log_tau.exp();
        let weight = |y: f64, x: f64| {
            let (b, e) = (0.5 + tau * x, (-x.abs()).exp());
            (y * b - b.exp()).exp() * e / (1.0 + e).powi(2) * 0.01
        };
        let group = |y: &f64| grid.iter().map(|x| weight(*y, *x)).sum::<f64>().ln();
        COUNTS.iter().map(group).sum::<f64>() - tau * tau / 18.0 + log_tau
    };
    let mut constant = None;
    for log_tau in [-0.5_f64, -2.0, -4.0, -6.0, -9.0] {
        let off = by_lattice(&conditional, &mut solver, lattice, &[log_tau])[0] - exact(log_tau);
        // A mode that is not found costs several nats; the differences that a Hessian is found from are wide
        // for a scale as small as the last.
        assert!((off - *constant.get_or_insert(off)).abs() < 0.2, "{log_tau}: {off} {constant:?}");
    }
}

/// The mean of the weights of candidates corrects it where groups have different sizes, so that coordinates
/// are not eliminated in their own order.
#[test]
fn groups_of_different_sizes_keep_their_own_weights() {
    let data = Dataset::from_texts(&[("data.csv", "y\n0\n3\n1\n")]).unwrap();
    let text = "data { y : count[J] }\nparam tau ~ half_normal(3)\nparam b[3]\nb ~ normal(0, tau)\n\
                let e = [b[1] + b[2], b[2], b[3]]\ny ~ poisson_log(e)";
    let target = ModelTarget::new(text, &data).unwrap();
    let parts = Partition { inner: vec![1, 2, 3], outer: vec![0], how: How::Searched };
    let mut conditional = Conditional::new(&target, parts, 1).unwrap();
    conditional.tell_groups_apart(&target);
    assert_eq!(conditional.groups.of, [0, 0, 1]);
    assert_eq!(conditional.drawn_group(), [1, 0, 0]);
    let mut solver = Solver::new(&conditional);
    solver.solve(&[0.0], 1);
    let mut stream = Stream::new(7, 1, 1);
    let mut mean_weights = |lattice: Option<&'static Lattice>, candidates: usize, rounds: usize| {
        let mut means = [0.0; 2];
        for _ in 0..rounds {
            let u: Vec<Lanes> = (0..3).map(|_| std::array::from_fn(|_| stream.normal())).collect();
            let groups = [&conditional.groups.of[..], &conditional.drawn_group()];
            let (_, gains) = pick(&mut solver, &[[0.0; LANES]], u, groups, lattice, [candidates, 1]);
            for (mean, gain) in means.iter_mut().zip(&gains) {
                *mean += gain.iter().map(|g| g.exp()).sum::<f64>() / (rounds * LANES) as f64;
            }
        }
        means
    };
    let lattice = conditional.lattice();
    // Many random pairs, or one lattice.
    let ways = [mean_weights(None, 4, 3000), mean_weights(lattice, lattice.unwrap().points, 1)];
    // By sums over fine grids, relative to Laplace's approximation at the modes, with tau = 1.
    let grid: Vec<f64> = (0..1200).map(|k| -6.0 + 0.01 * (f64::from(k) + 0.5)).collect();
    let single = |b: f64| b - b.exp() - 0.5 * b * b;
    let pair = |a: f64, b: f64| 3.0 * b - b.exp() - (a + b).exp() - 0.5 * (a * a + b * b);
    let top = grid.iter().copied().fold(0.0, |t: f64, b| if single(b) > single(t) { b } else { t });
    let laplace = single(top).exp() * (2.0 * std::f64::consts::PI / (1.0 + top.exp())).sqrt();
    let whole: f64 = grid.iter().map(|b| 0.01 * single(*b).exp()).sum();
    for means in ways {
        assert!((means[1] / (whole / laplace) - 1.0).abs() < 0.01, "{} {}", means[1], whole / laplace);
    }
    let (mut a, mut b) = (0.0_f64, 0.0_f64);
    for _ in 0..200 {
        a -= 0.1 * ((a + b).exp() + a);
        b -= 0.1 * (b.exp() + (a + b).exp() + b - 3.0);
    }
    let (p, q): (f64, f64) = ((a + b).exp(), b.exp());
    let det = (1.0 + p) * (1.0 + p + q) - p * p;
    let laplace = pair(a, b).exp() * 2.0 * std::f64::consts::PI / det.sqrt();
    let whole: f64 = grid.iter().flat_map(|a| grid.iter().map(|b| 1e-4 * pair(*a, *b).exp())).sum();
    for means in ways {
        assert!((means[0] / (whole / laplace) - 1.0).abs() < 0.01, "{} {}", means[0], whole / laplace);
    }
}

/// A moving average with a coefficient of 3 multiplies rounding by 3 at every step: what is integrated out is
/// then not known, and must not be taken for a large number.
#[test]
fn what_cancels_beyond_all_digits_is_not_a_value() {
    let rows: String = (0..200).map(|t| format!("{}\n", (f64::from(t) * 0.7).sin())).collect();
    let data = Dataset::from_texts(&[("data.csv", &format!("y\n{rows}"))]).unwrap();
    let text = "data { y : real[T] }\nparam mu ~ normal(0, 5)\nparam a ~ normal(0, 1)\nlet e[1] = y[1] - mu\n\
                for t in 2..T { let e[t] = y[t] - mu - a * e[t-1] }\ne ~ normal(0, 1)";
    let target = ModelTarget::new(text, &data).unwrap();
    let parts = Partition { inner: vec![0], outer: vec![1], how: How::Quadratic };
    let (value, _) = marginal(&target, parts, &[0.3, 3.0]);
    assert!(value[0].is_finite() && !(value[1] >= value[0]), "{value:?}");
}

/// Twelve groups of one observation each, three of them far from where the mean is at first.
fn outlying(likelihood: &str, far: f64) -> Option<Vec<f64>> {
    let rows: String = (0..12).map(|j| format!("{}\n", if j < 3 { far } else { 0.1 })).collect();
    let data = Dataset::from_texts(&[("data.csv", &format!("y\n{rows}"))]).unwrap();
    let text = format!(
        "data {{ y : real[J] }}\nparam tau ~ half_normal(1)\nparam theta[J] ~ normal(0, tau)\ny ~ {likelihood}"
    );
    let target = ModelTarget::new(&text, &data).unwrap();
    let parts = Partition { inner: (1..13).collect(), outer: vec![0], how: How::Searched };
    pattern(&target, &parts, 1).map(|(_, diagonal)| diagonal)
}

/// Heavy tails bend the other way far out and have a mode all the same; what is curved may have several.
#[test]
fn heavy_tails_are_searched_and_curved_means_are_not() {
    let steps = outlying("student_t(4, theta, 0.3)", 1.0).expect("a pattern");
    assert!(steps.iter().all(|x| *x > 0.0) && steps.contains(&1.0), "{steps:?}");
    assert_eq!(outlying("normal(exp(theta), 0.3)", 20.0), None);
}

/// Sums of independent Student-t's hang together, and their mass is known: draws that are stretched find all
/// of it with even weights, and a Gaussian's do not.
#[test]
fn long_tails_of_what_hangs_together_are_drawn() {
    // y = A x has independent elements with four degrees of freedom, whose densities are (1 + y² / 4)^(-5/2)
    // but for constants.
    const A: [[f64; 3]; 3] = [[1.0, 0.1, -0.05], [0.04, 1.0, 0.1], [-0.1, 0.05, 1.0]];
    let target = from_fn(4, |z: &[f64], g: &mut [f64]| {
        let y = A.map(|row| row.iter().zip(&z[1..]).map(|(a, x)| a * x).sum::<f64>());
        g[0] = -z[0];
        for i in 0..3 {
            g[1 + i] = (0..3).map(|k| -5.0 * y[k] / (4.0 + y[k] * y[k]) * A[k][i]).sum();
        }
        -0.5 * z[0] * z[0] - 2.5 * y.map(|y| (0.25 * y * y).ln_1p()).iter().sum::<f64>()
    });
    let parts = Partition { inner: vec![1, 2, 3], outer: vec![0], how: How::Searched };
    let mut conditional = Conditional::new(&target, parts, 1).unwrap();
    assert!(conditional.is_one_block());
    let q = Gaussian { mean: vec![0.0], factor: Scale::identity(1) };
    let judged = |conditional: &Conditional| {
        let marginal = Marginal::new(conditional, &[1.0]);
        judge(&Nested::new(conditional, Warped::flat(&marginal), 1, &[]), &q, 4096, &Options::default())
    };
    let before = judged(&conditional);
    conditional.lengthen(&q);
    let after = judged(&conditional);
    assert!(before.khat > 0.6 && after.khat < 0.4, "{} {}", before.khat, after.khat);
    assert!(after.elbo.half_variance < 0.5 * before.elbo.half_variance, "{:?} {:?}", before.elbo, after.elbo);
    // The integral of (1 + y² / 4)^(-5/2) is 8/3.
    let det = A[0][0] * (A[1][1] * A[2][2] - A[1][2] * A[2][1])
        - A[0][1] * (A[1][0] * A[2][2] - A[1][2] * A[2][0])
        + A[0][2] * (A[1][0] * A[2][1] - A[1][1] * A[2][0]);
    let mass = (8.0_f64 / 3.0).powi(3) / det * (2.0 * std::f64::consts::PI).sqrt();
    let ratios = &after.pilot.ratios;
    let found = ratios.iter().map(|r| r.exp()).sum::<f64>() / ratios.len() as f64;
    assert!((found / mass).ln().abs() < 0.03, "{found} {mass}");
}
