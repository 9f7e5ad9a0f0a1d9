//! Factorisations of random matrices beside those of nalgebra.

use super::*;
use crate::num::stream::Stream;
use nalgebra::{DMatrix, DVector};

const SIZES: [usize; 9] = [1, 2, 5, 16, 17, 40, 65, 130, 220];

fn random(seed: u64, rows: usize, columns: usize) -> DMatrix<f64> {
    let mut x = vec![0.0; rows * columns];
    Stream::new(seed, rows as u64, 0).fill_normal(&mut x);
    DMatrix::from_vec(rows, columns, x)
}

/// Positive definite, with a condition number near 5.
fn covariance(seed: u64, d: usize) -> DMatrix<f64> {
    let root = random(seed, d, d);
    &root * root.transpose() / d as f64 + DMatrix::identity(d, d)
}

fn rows(a: &DMatrix<f64>) -> Vec<f64> {
    a.transpose().as_slice().to_vec()
}

#[test]
fn cholesky_factors_and_what_follows_from_them() {
    for d in SIZES {
        let a = covariance(1, d);
        let known = a.clone().cholesky().unwrap();
        let mut l = rows(&a);
        cholesky(&mut l, d).unwrap();
        let own = DMatrix::from_row_slice(d, d, &l).lower_triangle();
        assert!((&own - known.l()).amax() < 1e-13, "d = {d}");
        let known_log: f64 = known.l().diagonal().iter().map(|x| 2.0 * x.ln()).sum();
        assert!((log_det_cholesky(&l, d) - known_log).abs() < 1e-12 * d as f64);
        let b = DVector::from_fn(d, |i, _| (i as f64).sin());
        let mut x = b.as_slice().to_vec();
        solve_cholesky(&l, d, &mut x);
        assert!((DVector::from_vec(x) - known.solve(&b)).amax() < 1e-12);
        let inverse = DMatrix::from_row_slice(d, d, &invert_lower(&l, d));
        let known = own.solve_lower_triangular(&DMatrix::identity(d, d)).unwrap();
        assert!((inverse - known).amax() < 1e-13);
    }
}

#[test]
fn eigenvalues_and_the_matrix_that_eigenvectors_make_of_them() {
    for d in SIZES {
        let a = {
            let x = random(2, d, d);
            (&x + x.transpose()) * 0.5
        };
        let own = symmetric_eigen(&rows(&a), d).unwrap();
        let mut known = a.clone().symmetric_eigenvalues().as_slice().to_vec();
        known.sort_by(f64::total_cmp);
        let norm = a.norm();
        assert!(own.values.iter().zip(&known).all(|(x, y)| (x - y).abs() < 1e-13 * norm), "d = {d}");
        let vectors = DMatrix::from_row_slice(d, d, &own.vectors);
        let again = vectors.transpose() * DMatrix::from_diagonal(&own.values.into()) * vectors;
        assert!((again - &a).amax() < 1e-13 * norm);
    }
}

#[test]
fn solutions_by_triangular_factors_of_a_general_matrix() {
    for d in SIZES {
        let a = random(3, d, d);
        let (mut factors, mut exchanged) = (rows(&a), vec![0; d]);
        assert!(lu_factor(&mut factors, &mut exchanged, d));
        let b = DVector::from_fn(d, |i, _| 1.0 + i as f64);
        let mut x = b.as_slice().to_vec();
        lu_solve(&factors, &exchanged, &mut x);
        let known = a.clone().lu().solve(&b).unwrap();
        // Both are off by the condition of the matrix.
        let condition = a.singular_values().max() / a.singular_values().min();
        assert!((DVector::from_vec(x) - &known).norm() < 1e-14 * condition * known.norm(), "d = {d}");
    }
}

#[test]
fn products() {
    for d in SIZES {
        let (a, b) = (random(4, d, d), random(5, d, 7));
        let mut own = vec![0.0; d * 7];
        add_product(1.0, &rows(&a), &rows(&b), [d, d, 7], &mut own);
        assert!((DMatrix::from_row_slice(d, 7, &own) - &a * &b).amax() < 1e-12);
        let mut own = vec![0.0; d * 7];
        lower_transposed_product(&rows(&a), &rows(&b), [d, 7], &mut own);
        assert!((DMatrix::from_row_slice(d, 7, &own) - a.lower_triangle().transpose() * &b).amax() < 1e-12);
    }
}
