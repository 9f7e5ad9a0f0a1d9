//! Packings, prox and projection: isometries, argmins, non-expansive, and fixed at the optimum.

use crate::vi_support;

use stickler::num::linalg::symmetric_eigen;
use stickler::num::stream::Stream;
use stickler::vi::estimator::Estimator;
use stickler::vi::factor::{ProxWith, Space};
use stickler::vi::step::Sizes;
use stickler::vi::table::find;
use stickler::vi::{Choice, Config, Estimate, Row, Start, fit};
use vi_support::*;

const D: usize = 3;

/// Any matrix of the space, positive definite or not.
fn random_c(space: &Space, stream: &mut Stream, size: f64) -> Vec<f64> {
    let dense: Vec<f64> = (0..D * D).map(|_| size * stream.normal()).collect();
    let factor = (space.make)(D);
    let mut c = vec![0.0; factor.count()];
    factor.pack(&dense, &mut c);
    c
}

fn unpack(space: &Space, c: &[f64]) -> Vec<f64> {
    let mut dense = vec![0.0; D * D];
    (space.make)(D).unpack(c, &mut dense);
    dense
}

/// Minimises a smooth convex function of a few variables by gradient descent with backtracking, knowing
/// nothing else.
fn minimise(mut x: Vec<f64>, f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let mut step = 0.1;
    for _ in 0..20_000 {
        let g: Vec<f64> = (0..x.len())
            .map(|k| {
                let h = 1e-6;
                let (mut plus, mut minus) = (x.clone(), x.clone());
                plus[k] += h;
                minus[k] -= h;
                (f(&plus) - f(&minus)) / (2.0 * h)
            })
            .collect();
        let slope = dot(&g, &g);
        if slope < 1e-16 {
            break;
        }
        let here = f(&x);
        step *= 2.0;
        loop {
            let next: Vec<f64> = x.iter().zip(&g).map(|(x, g)| x - step * g).collect();
            let value = f(&next);
            if value <= here - 0.3 * step * slope || step < 1e-14 {
                x = next;
                break;
            }
            step *= 0.5;
        }
    }
    x
}

#[test]
fn packings_are_isometries_and_pack_is_the_nearest_matrix() {
    let mut stream = Stream::new(1, 1, 0);
    for space in Space::table() {
        let c = random_c(space, &mut stream, 1.0);
        let dense = unpack(space, &c);
        assert!((dot(&c, &c) - dot(&dense, &dense)).abs() < 1e-12, "{}: not an isometry", space.name);
        let mut again = vec![0.0; c.len()];
        (space.make)(D).pack(&dense, &mut again);
        assert!(distance_squared(&c, &again) < 1e-28, "{}: pack does not undo unpack", space.name);
        // The nearest matrix of the space: what is left over is orthogonal to it.
        let other: Vec<f64> = (0..D * D).map(|_| stream.normal()).collect();
        let mut nearest = vec![0.0; c.len()];
        (space.make)(D).pack(&other, &mut nearest);
        let back = unpack(space, &nearest);
        let rest: Vec<f64> = other.iter().zip(&back).map(|(a, b)| a - b).collect();
        assert!(dot(&rest, &dense).abs() < 1e-12, "{}: pack is not the projection", space.name);
    }
}

#[test]
fn products_and_solves_agree_with_the_dense_matrix() {
    let mut stream = Stream::new(2, 1, 0);
    for space in Space::table() {
        let mut factor = (space.make)(D);
        let mut c = random_c(space, &mut stream, 0.3);
        factor.prox(&mut c, Sizes::One(0.5), 0.0);
        assert!(factor.load(&c));
        let dense = unpack(space, &c);
        let draws = 5;
        let u: Vec<f64> = (0..D * draws).map(|_| stream.normal()).collect();
        let mut x = u.clone();
        factor.solve_transposed(&c, &mut x, draws);
        for b in 0..draws {
            for i in 0..D {
                // Cᵀ x must be u.
                let found: f64 = (0..D).map(|j| dense[j * D + i] * x[j * draws + b]).sum();
                assert!((found - u[i * draws + b]).abs() < 1e-12, "{}: solve", space.name);
            }
        }
        let mut out = vec![1.0; D * draws];
        factor.multiply(&c, &u, draws, &mut out);
        for b in 0..draws {
            for i in 0..D {
                let expected = 1.0 + (0..D).map(|j| dense[i * D + j] * u[j * draws + b]).sum::<f64>();
                assert!((out[i * draws + b] - expected).abs() < 1e-12, "{}: product", space.name);
            }
        }
        assert!(
            (factor.log_det(&c) - 0.5 * log_det_gram(&dense, D)).abs() < 1e-12,
            "{}: log det",
            space.name
        );
        // Outer products: proj_V of the dense sum.
        let mut g = vec![0.0; c.len()];
        factor.add_outer(0.7, &x, &u, draws, &mut g);
        let sum: Vec<f64> = (0..D * D)
            .map(|k| 0.7 * (0..draws).map(|b| x[k / D * draws + b] * u[k % D * draws + b]).sum::<f64>())
            .collect();
        let mut expected = vec![0.0; c.len()];
        factor.pack(&sum, &mut expected);
        assert!(distance_squared(&g, &expected) < 1e-24, "{}: outer product", space.name);
    }
}

#[test]
fn prox_is_the_argmin() {
    let mut stream = Stream::new(3, 1, 0);
    for space in ["triangular", "symmetric", "diagonal"].map(|s| find::<Space>(s).unwrap()) {
        for gamma in [0.05, 0.8] {
            let c = random_c(space, &mut stream, 1.0);
            let mut factor = (space.make)(D);
            let mut found = c.clone();
            assert!(factor.prox(&mut found, Sizes::One(gamma), 0.0));
            let objective = |x: &[f64]| {
                let mut factor = (space.make)(D);
                if !factor.load(x) {
                    return f64::INFINITY;
                }
                -factor.log_det(x) + distance_squared(x, &c) / (2.0 * gamma)
            };
            let mut start = vec![0.0; c.len()];
            factor.pack(&identity(D, 1.0), &mut start);
            let expected = minimise(start, objective);
            assert!(
                distance_squared(&found, &expected).sqrt() < 1e-5,
                "{}: {found:?} {expected:?}",
                space.name
            );
        }
    }
}

/// The inverse comes from the eigendecomposition after an operator that made one, and from the Cholesky
/// factor, in blocks, after one that did not: C⁻ᵀ C must be the identity either way.
#[test]
fn the_inverse_is_the_inverse_wherever_it_comes_from() {
    let mut stream = Stream::new(8, 1, 0);
    for d in [3, 150] {
        for space in Space::table() {
            let mut factor = (space.make)(d);
            let dense: Vec<f64> = (0..d * d)
                .map(|k| 0.5 * stream.normal() / (d as f64).sqrt() + if k / d == k % d { 1.0 } else { 0.0 })
                .collect();
            let mut c = vec![0.0; factor.count()];
            factor.pack(&dense, &mut c);
            // As it is, with a floor that nothing is below, with one that something is below, and after the
            // prox.
            let floors = if space.projects { &[0.0, 1e-3, 0.9][..] } else { &[0.0] };
            for floor in floors.iter().copied().chain([f64::NAN]) {
                if floor.is_nan() {
                    assert!(factor.prox(&mut c, Sizes::One(0.1), 0.0));
                } else if floor == 0.0 {
                    assert!(factor.load(&c), "{}", space.name);
                } else {
                    assert!(factor.project(&mut c, floor));
                }
                let mut found = vec![0.0; c.len()];
                factor.add_inverse_transposed(-2.0, &c, &mut found);
                // Its columns by solving, one draw for each.
                let mut columns = identity(d, -2.0);
                factor.solve_transposed(&c, &mut columns, d);
                let mut expected = vec![0.0; c.len()];
                factor.pack(&columns, &mut expected);
                let off = distance_squared(&found, &expected).sqrt();
                assert!(off < 1e-13 * d as f64, "{}, d = {d}, floor {floor}: off by {off}", space.name);
                let mut full = vec![0.0; d * d];
                factor.unpack(&c, &mut full);
                let trace: f64 = (0..d * d).map(|k| full[k] * columns[k]).sum();
                assert!((trace + 2.0 * d as f64).abs() < 1e-9 * d as f64, "⟨C, C⁻ᵀ⟩ = d");
            }
        }
    }
}

#[test]
fn prox_above_a_floor_is_the_argmin_above_it() {
    let mut stream = Stream::new(9, 1, 0);
    let (gamma, floor) = (0.1, 0.7);
    for space in ["triangular", "symmetric", "diagonal"].map(|s| find::<Space>(s).unwrap()) {
        let c = random_c(space, &mut stream, 1.0);
        let mut found = c.clone();
        assert!((space.make)(D).prox(&mut found, Sizes::One(gamma), floor));
        let objective =
            |x: &[f64]| -0.5 * log_det_gram(&unpack(space, x), D) + distance_squared(x, &c) / (2.0 * gamma);
        // Every matrix of the set, from unconstrained numbers: floor I + A Aᵀ, or a diagonal of floor + a².
        let compose = |a: &[f64]| {
            let symmetric = space.name == "symmetric";
            let dense: Vec<f64> = (0..D * D)
                .map(|k| match (k / D == k % D, symmetric) {
                    (true, false) => floor + a[k] * a[k],
                    (false, false) => a[k],
                    (on, true) => {
                        let product = dot(&a[(k / D) * D..(k / D + 1) * D], &a[(k % D) * D..(k % D + 1) * D]);
                        product + if on { floor } else { 0.0 }
                    }
                })
                .collect();
            let mut x = vec![0.0; c.len()];
            (space.make)(D).pack(&dense, &mut x);
            x
        };
        let start: Vec<f64> = (0..D * D).map(|_| 0.5 + stream.uniform()).collect();
        let a = minimise(start, |a| objective(&compose(a)));
        let (best, ours) = (objective(&compose(&a)), objective(&found));
        assert!(ours <= best + 1e-9 && best <= ours + 1e-4, "{}: {ours} against {best}", space.name);
    }
}

#[test]
fn prox_with_a_step_for_each_coordinate_is_the_argmin_in_their_metric() {
    let mut stream = Stream::new(4, 1, 0);
    for space in Space::table() {
        let c = random_c(space, &mut stream, 1.0);
        let steps: Vec<f64> = c.iter().map(|_| 0.05 + stream.uniform()).collect();
        let mut found = c.clone();
        let closed_form = (space.make)(D).prox(&mut found, Sizes::Each(&steps), 0.0);
        assert_eq!(closed_form, space.prox == ProxWith::AnySteps, "{}", space.name);
        if !closed_form || space.name == "triangular_full" {
            continue;
        }
        let objective = |x: &[f64]| {
            let mut factor = (space.make)(D);
            if !factor.load(x) {
                return f64::INFINITY;
            }
            let far: f64 = x.iter().zip(&c).zip(&steps).map(|((x, c), s)| (x - c) * (x - c) / s).sum();
            -factor.log_det(x) + 0.5 * far
        };
        let mut start = vec![0.0; c.len()];
        (space.make)(D).pack(&identity(D, 1.0), &mut start);
        let expected = minimise(start, objective);
        assert!(distance_squared(&found, &expected).sqrt() < 1e-5, "{}", space.name);
    }
}

#[test]
fn projection_is_the_argmin() {
    let mut stream = Stream::new(5, 1, 0);
    let floor = 0.6;
    for space in Space::table().iter().filter(|s| s.projects) {
        for _ in 0..3 {
            let c = random_c(space, &mut stream, 1.0);
            let mut found = c.clone();
            assert!((space.make)(D).project(&mut found, floor));
            // A generic minimiser over X = floor I + A Aᵀ (its diagonal, for diagonal factors), which covers
            // the set.
            let compose = |a: &[f64]| {
                let dense: Vec<f64> = (0..D * D)
                    .map(|k| {
                        let product = dot(&a[(k / D) * D..(k / D + 1) * D], &a[(k % D) * D..(k % D + 1) * D]);
                        product + if k / D == k % D { floor } else { 0.0 }
                    })
                    .collect();
                let mut x = vec![0.0; c.len()];
                (space.make)(D).pack(&dense, &mut x);
                x
            };
            let start: Vec<f64> = (0..D * D).map(|_| stream.normal()).collect();
            let a = minimise(start, |a| distance_squared(&compose(a), &c));
            let (best, ours) = (distance_squared(&compose(&a), &c), distance_squared(&found, &c));
            assert!(ours <= best + 1e-9 && best <= ours + 1e-4, "{}: {ours} against {best}", space.name);
            let smallest = symmetric_eigen(&unpack(space, &found), D).unwrap().values[0];
            assert!(smallest > floor - 1e-12, "{}: outside the set", space.name);
        }
    }
}

#[test]
fn operators_are_non_expansive() {
    let mut stream = Stream::new(6, 1, 0);
    for space in Space::table() {
        for _ in 0..200 {
            let size = 0.1 + 2.0 * stream.uniform();
            let (a, b) = (random_c(space, &mut stream, size), random_c(space, &mut stream, size));
            let before = distance_squared(&a, &b);
            for floor in [0.0, 0.7] {
                let (mut pa, mut pb) = (a.clone(), b.clone());
                let mut factor = (space.make)(D);
                factor.prox(&mut pa, Sizes::One(0.4), floor);
                factor.prox(&mut pb, Sizes::One(0.4), floor);
                assert!(distance_squared(&pa, &pb) <= before * (1.0 + 1e-12), "{}: prox", space.name);
            }
            let (mut pa, mut pb) = (a, b);
            let mut factor = (space.make)(D);
            factor.project(&mut pa, 0.7);
            factor.project(&mut pb, 0.7);
            assert!(distance_squared(&pa, &pb) <= before * (1.0 + 1e-12), "{}: projection", space.name);
        }
    }
}

/// The exact gradient that an estimator estimates, by tensor quadrature in two dimensions.
fn exact(model: &LinearModel, space: &'static Space, estimator: &'static Estimator, w: &[f64]) -> Vec<f64> {
    let rule = gauss_hermite(30);
    let mut estimate = Estimate::new(model, Choice::named("normal").unwrap(), space, estimator, 1);
    let (mut mean, mut g) = (vec![0.0; w.len()], vec![0.0; w.len()]);
    for (a, wa) in &rule {
        for (b, wb) in &rule {
            estimate.at(w, &[*a, *b], &mut g).unwrap();
            mean.iter_mut().zip(&g).for_each(|(m, g)| *m += wa * wb * g);
        }
    }
    mean
}

#[test]
fn the_optimum_is_a_fixed_point() {
    let model = LinearModel::logistic(12, 2);
    let floor = 1.0 / model.constants().smoothness.sqrt();
    for space in Space::table() {
        let (best, _) = model.best(space);
        let gamma = 0.1;
        let mut w = best.clone();
        let g = exact(&model, space, find("energy").unwrap(), &best);
        w.iter_mut().zip(&g).for_each(|(w, g)| *w -= gamma * g);
        (space.make)(2).prox(&mut w[2..], Sizes::One(gamma), 0.0);
        assert!(distance_squared(&w, &best).sqrt() < 1e-8, "{}: prox moves the optimum", space.name);
        let mut w = best.clone();
        let g = exact(&model, space, find("entropy").unwrap(), &best);
        w.iter_mut().zip(&g).for_each(|(w, g)| *w -= gamma * g);
        (space.make)(2).project(&mut w[2..], floor);
        assert!(distance_squared(&w, &best).sqrt() < 1e-8, "{}: projection moves the optimum", space.name);
    }
}

#[test]
fn clamped_and_packed_factors_give_the_same_iterates() {
    let model = LinearModel::logistic(15, 3);
    let pairs = [
        ("prox-energy", "triangular", "triangular_full"),
        ("prox-stl", "triangular", "triangular_full"),
        ("proj-entropy", "symmetric", "symmetric_full"),
        ("proj-stl", "symmetric", "symmetric_full"),
        ("prox-energy-symmetric", "symmetric", "symmetric_full"),
    ];
    for (method, packed, full) in pairs {
        let path = |space: &str| -> Vec<Vec<f64>> {
            let mut config = Config::named(method).unwrap();
            config.factor = find(space).unwrap();
            config.steps = 150;
            config.batch = 4;
            config.start = Start::Standard;
            // No curvature from differences of gradients, which turn the last bits of w into more than
            // rounding.
            config.constants = Some(model.constants());
            config.step = Some("constant=0.03".parse().unwrap());
            let mut seen = Vec::new();
            let space = config.factor;
            fit(&model, &config, &mut |p| {
                seen.push([&p.iterate[..3], &dense_factor(space, 3, p.iterate)].concat());
                std::ops::ControlFlow::Continue(())
            })
            .unwrap();
            seen
        };
        for (t, (a, b)) in path(packed).iter().zip(&path(full)).enumerate() {
            assert!(distance_squared(a, b).sqrt() < 1e-12, "{method}: the iterates part at step {t}");
        }
    }
}
