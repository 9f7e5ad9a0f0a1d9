//! Groups of counts given their scale, against closed forms and sums.

use super::*;

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
