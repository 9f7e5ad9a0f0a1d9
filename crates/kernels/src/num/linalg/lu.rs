//! Triangular factors of a general matrix, with row exchanges.

use crate::num::real::Packed;

/// Replaces a d×d matrix by its factors; `rows[k]` is the row that was exchanged with row k. False if it is
/// singular or not finite.
pub fn lu_factor(a: &mut [f64], rows: &mut [usize], d: usize) -> bool {
    assert!(a.len() == d * d && rows.len() == d);
    for k in 0..d {
        let larger = |p: usize, q: usize| if a[q * d + k].abs() > a[p * d + k].abs() { q } else { p };
        let pivot = (k + 1..d).fold(k, larger);
        rows[k] = pivot;
        if pivot != k {
            (0..d).for_each(|j| a.swap(k * d + j, pivot * d + j));
        }
        let top = a[k * d + k];
        if top == 0.0 || !top.is_finite() {
            return false;
        }
        for i in k + 1..d {
            let factor = a[i * d + k] / top;
            a[i * d + k] = factor;
            for j in k + 1..d {
                a[i * d + j] -= factor * a[k * d + j];
            }
        }
    }
    true
}

/// Replaces b by the solution of the system whose matrix [`lu_factor`] has factored; b may carry lanes and
/// tangents.
pub fn lu_solve<T: Packed>(a: &[f64], rows: &[usize], b: &mut [T]) {
    let d = b.len();
    assert!(a.len() == d * d && rows.len() == d);
    rows.iter().enumerate().for_each(|(k, &row)| b.swap(k, row));
    for k in 0..d {
        let x = b[k];
        for i in k + 1..d {
            b[i] -= x.scale(a[i * d + k]);
        }
    }
    for k in (0..d).rev() {
        let x = b[k].scale(1.0 / a[k * d + k]);
        b[k] = x;
        for i in 0..k {
            b[i] -= x.scale(a[i * d + k]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_systems_that_need_exchanges() {
        let a = [0.0, 2.0, 1.0, 1.0, 1.0, 1.0, 4.0, -3.0, 2.5];
        let x = [1.5, -2.0, 0.25];
        let mut b: Vec<f64> = (0..3).map(|i| (0..3).map(|j| a[i * 3 + j] * x[j]).sum()).collect();
        let (mut factors, mut rows) = (a, [0; 3]);
        assert!(lu_factor(&mut factors, &mut rows, 3));
        lu_solve(&factors, &rows, &mut b);
        assert!(b.iter().zip(x).all(|(got, x)| (got - x).abs() < 1e-14));
    }

    #[test]
    fn a_singular_matrix_has_no_factors() {
        assert!(!lu_factor(&mut [1.0, 2.0, 2.0, 4.0], &mut [0; 2], 2));
        assert!(!lu_factor(&mut [f64::NAN; 4], &mut [0; 2], 2));
    }
}
