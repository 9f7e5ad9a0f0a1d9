//! Laws that every discrete and multivariate distribution must obey: reference values, derivatives, batches.

use crate::events;

use events::{Array, Point, check_derivatives, numbers, probes, reference, rows};
use stickler::dist::{Density, Domain, find};

#[test]
fn values_agree_with_mpmath() {
    let mut seen = std::collections::BTreeSet::new();
    for case in reference() {
        let name = case["dist"].as_str().unwrap();
        let x = numbers(&case["x"]);
        let args: Vec<Vec<f64>> = case["args"].as_array().unwrap().iter().map(numbers).collect();
        let args: Vec<&[f64]> = args.iter().map(Vec::as_slice).collect();
        let (got, expected) = (Point::named(name, &x, &args).value(), case["value"].as_f64().unwrap());
        // Relative, and relative to the terms of counts, which are as large as they.
        let counts = if find(name).is_some_and(|d| d.discrete) { x.iter().sum() } else { 0.0 };
        let tolerance = 2e-13 * (1.0 + expected.abs()) + 3e-16 * counts;
        assert!((got - expected).abs() <= tolerance, "{case}: {got}");
        seen.insert(name.to_string());
    }
    for row in rows() {
        assert!(seen.contains(row.name), "{} has no reference value", row.name);
    }
}

#[test]
fn derivatives_agree_with_finite_differences() {
    for row in rows() {
        assert!(!row.probes.is_empty(), "{}", row.name);
        probes(row).for_each(|point| check_derivatives(&point));
    }
}

/// Two different events with different arguments, where a row's probes have the same shape.
fn pairs(row: &'static stickler::dist::Distribution) -> Vec<(Point, Point)> {
    let points: Vec<Point> = probes(row).collect();
    let mut pairs = Vec::new();
    for (i, one) in points.iter().enumerate() {
        // An event of the same shape: the same arguments stretched a little.
        let mut other = one.clone();
        for (piece, spec) in other.pieces[1..].iter_mut().zip(row.args) {
            if spec.domain == Domain::Simplex {
                piece.values.rotate_left(1);
            } else if spec.rank < 2 && !matches!(spec.domain, Domain::Count | Domain::Data | Domain::Unit) {
                piece.values.iter_mut().for_each(|v| *v *= 1.125);
            } else if spec.rank == 2 {
                piece.values.iter_mut().for_each(|v| *v *= 2.0);
            }
        }
        pairs.push((one.clone(), other));
        for two in &points[i + 1..] {
            if one.pieces.iter().zip(&two.pieces).all(|(a, b)| a.dims == b.dims) {
                pairs.push((one.clone(), two.clone()));
            }
        }
    }
    pairs
}

/// Whether a piece may come in batches: the points of a Gaussian process may not, nor what a density does not
/// use.
fn batches(point: &Point, k: usize) -> bool {
    k == 0 || point.dist.args[k - 1].domain != Domain::Data
}

fn joined(one: &Point, two: &Point) -> Point {
    let pieces = one
        .pieces
        .iter()
        .zip(&two.pieces)
        .enumerate()
        .map(|(k, (a, b))| if batches(one, k) { Array::stacked(&[a, b]) } else { a.clone() });
    Point { dist: one.dist, pieces: pieces.collect() }
}

#[test]
fn a_batch_is_its_events() {
    for row in rows() {
        for (one, two) in pairs(row) {
            let both = joined(&one, &two).each();
            assert_eq!(both.dims, [2], "{}", row.name);
            for (got, expected) in both.values.iter().zip([one.value(), two.value()]) {
                assert!(
                    (got - expected).abs() <= 1e-13 * (1.0 + expected.abs()),
                    "{}: {got} {expected}",
                    row.name
                );
            }
        }
    }
}

#[test]
fn what_is_shared_is_repeated() {
    for row in rows() {
        for point in probes(row) {
            let expected = point.value();
            // Each piece alone in a batch of three, the others shared; then all but it.
            for k in (0..point.pieces.len()).filter(|&k| batches(&point, k)) {
                for alone in [true, false] {
                    let mut some = point.clone();
                    for j in (0..point.pieces.len()).filter(|&j| batches(&point, j)) {
                        if (j == k) == alone {
                            some.pieces[j] = point.pieces[j].repeated(3);
                        }
                    }
                    let each = some.each();
                    let free_of_batches = some.pieces == point.pieces;
                    assert_eq!(each.dims, if free_of_batches { vec![] } else { vec![3] }, "{} {k}", row.name);
                    for got in each.values {
                        assert!((got - expected).abs() <= 1e-13 * (1.0 + expected.abs()), "{} {k}", row.name);
                    }
                }
            }
        }
    }
}

#[test]
fn derivatives_of_batches_agree_with_finite_differences() {
    for row in rows().filter(|row| matches!(row.density, Density::Events(_))) {
        for (one, two) in pairs(row).into_iter().take(1) {
            check_derivatives(&joined(&one, &two));
            // The arguments shared: the fast form.
            let mut shared = one.clone();
            shared.pieces[0] = Array::stacked(&[&one.pieces[0], &two.pieces[0]]);
            check_derivatives(&shared);
        }
    }
}

#[test]
fn events_in_two_axes_come_back_in_two_axes() {
    let point = Point::named("multi_normal", &[0.3, -1.0], &[&[1.0, 0.5], &[0.7, 0.4, 0.4, 1.3]]);
    let mut many = point.clone();
    many.pieces[0] = point.pieces[0].repeated(3).repeated(2);
    let each = many.each();
    assert_eq!(each.dims, [2, 3]);
    assert!(each.values.iter().all(|v| (v - point.value()).abs() < 1e-14));
}
