//! Every constraining transform: it satisfies its constraint, its inverse undoes it, and its log-Jacobian is
//! the log of the determinant of numerical derivatives.

use nalgebra::DMatrix;
use stickler::graph::Builder;
use stickler::num::stream::Stream;
use stickler::plan::{Plan, Workspace};
use stickler::target::ModelTarget;
use stickler::transform::{TABLE, Transform};

/// The shape of one value and the bounds that a transform is tried with.
fn setting(t: &Transform) -> (Vec<usize>, Vec<f64>) {
    let dims = match t.event {
        0 => vec![],
        1 => vec![4],
        _ => vec![4, 4],
    };
    let bounds = match t.name {
        "lower" => vec![-1.5],
        "upper" => vec![2.5],
        "interval" => vec![-1.0, 3.0],
        "affine" => vec![0.5, 2.0],
        _ => vec![],
    };
    (dims, bounds)
}

/// The entries of a value that are free to move, so that the Jacobian is square.
fn independent(t: &Transform, n: usize) -> Vec<usize> {
    let below = |strict: bool| -> Vec<usize> {
        (0..16).filter(|f| if strict { f % 4 < f / 4 } else { f % 4 <= f / 4 }).collect()
    };
    match t.name {
        "simplex" => (0..n - 1).collect(),
        "cholesky_corr" | "corr_matrix" => below(true),
        "cholesky_cov" | "cov_matrix" => below(false),
        _ => (0..n).collect(),
    }
}

fn value(t: &Transform, u: &[f64]) -> (Vec<f64>, f64) {
    let (dims, bounds) = setting(t);
    let mut b = Builder::new();
    let shape = if t.event == 0 { vec![] } else { vec![(t.free)(&dims)] };
    let input = b.input(0, shape);
    let bounds: Vec<_> = bounds.iter().map(|&x| b.number(x)).collect();
    let built = (t.build)(&mut b, input, &dims, &bounds).unwrap();
    assert_eq!(b.dims(built.value), dims, "{}", t.name);
    let plan = Plan::new(b.graph(), &[built.value, built.log_jacobian], u.len());
    let mut w = Workspace::<f64>::new(&plan);
    w.inputs(&plan).copy_from_slice(u);
    w.forward(&plan, false);
    let n = dims.iter().product();
    ((0..n).map(|i| w.root(&plan, 0, i)).collect(), w.root(&plan, 1, 0))
}

fn free(t: &Transform) -> usize {
    (t.free)(&setting(t).0)
}

fn point(t: &Transform) -> Vec<f64> {
    (0..free(t)).map(|i| 0.4 * (1.7 * i as f64 + 0.3).sin() - 0.1).collect()
}

#[test]
fn inverse_undoes_the_transform() {
    for t in TABLE.iter().filter(|t| t.name != "unit_vector") {
        let u = point(t);
        let (x, _) = value(t, &u);
        let back =
            (t.inverse)(&x, &setting(t).1).unwrap_or_else(|| panic!("{} refuses its own value", t.name));
        for (a, b) in u.iter().zip(&back) {
            assert!((a - b).abs() < 1e-10, "{}: {u:?} came back as {back:?}", t.name);
        }
    }
}

#[test]
fn log_jacobian_is_the_log_determinant() {
    // A unit vector has one coordinate too many and a sum to zero one too few: theirs are definitions, not
    // determinants.
    for t in TABLE.iter().filter(|t| t.name != "unit_vector" && t.name != "sum_to_zero") {
        let u = point(t);
        let (x, log_jacobian) = value(t, &u);
        let rows = independent(t, x.len());
        assert_eq!(rows.len(), u.len(), "{}", t.name);
        let h = 1e-5;
        let jacobian = DMatrix::from_fn(rows.len(), u.len(), |i, j| {
            let at = |h: f64| {
                let mut moved = u.clone();
                moved[j] += h;
                value(t, &moved).0[rows[i]]
            };
            (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)
        });
        let expected = jacobian.determinant().abs().ln();
        assert!((log_jacobian - expected).abs() < 1e-7, "{}: {log_jacobian} against {expected}", t.name);
    }
}

#[test]
fn sum_to_zero_is_an_isometry() {
    let t = stickler::transform::find("sum_to_zero").unwrap();
    let u = point(t);
    let (x, log_jacobian) = value(t, &u);
    let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
    assert!(x.iter().sum::<f64>().abs() < 1e-14);
    assert!((length(&x) - length(&u)).abs() < 1e-14);
    assert_eq!(log_jacobian, 0.0);
}

/// With many entries it is computed by running sums: the same basis.
#[test]
fn many_numbers_that_sum_to_zero_are_those_of_the_basis() {
    let t = stickler::transform::find("sum_to_zero").unwrap();
    let (batch, k) = (2, 301);
    let none: [(&str, &str); 0] = [];
    let data = stickler::data::Dataset::from_texts(&none).unwrap();
    let source = format!("param x[{batch}] : sum_to_zero[{k}] ~ normal(0, 1)");
    let target = ModelTarget::new(&source, &data).unwrap();
    let mut u = vec![0.0; batch * (k - 1)];
    Stream::new(5, 0, 0).fill_normal(&mut u);
    let node = target.lowered().parameters[0].named.node;
    let x = target.values(&[node], &u).remove(0);
    for (x, u) in x.chunks_exact(k).zip(u.chunks_exact(k - 1)) {
        assert!(x.iter().sum::<f64>().abs() < 1e-12);
        let back = (t.inverse)(x, &[]).unwrap();
        assert!(back.iter().zip(u).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}
