//! QR factorisation by Householder reflections.

use crate::num::dispatch::{Work, best};

/// A = Q R with Q [m × n] of orthonormal columns and R [n × n] upper triangular with a diagonal that is not
/// negative.
#[derive(Clone, Debug, PartialEq)]
pub struct Qr {
    /// Row-major [m × n].
    pub q: Vec<f64>,
    /// Row-major [n × n], zero below the diagonal.
    pub r: Vec<f64>,
}

/// The thin QR factorisation of row-major A [m × n], m ≥ n. A column that depends on the earlier ones leaves
/// a zero (to rounding) on the diagonal of R.
pub fn qr(a: &[f64], m: usize, n: usize) -> Qr {
    assert!(a.len() >= m * n && m >= n);
    best(Factor { a, m, n, wanted: true })
}

/// R alone, at less than half the cost.
pub fn qr_triangle(a: &[f64], m: usize, n: usize) -> Vec<f64> {
    assert!(a.len() >= m * n && m >= n);
    best(Factor { a, m, n, wanted: false }).r
}

struct Factor<'a> {
    a: &'a [f64],
    m: usize,
    n: usize,
    /// Whether Q is made.
    wanted: bool,
}

/// Rows k.. of columns `from..n` of `x` become (I - τ v vᵀ) x, where v stands in column k of `reflectors`
/// below row k and has `head` in row k.
#[inline(always)]
fn reflect(x: &mut [f64], v: &[f64], tau: f64, k: usize, n: usize, from: usize, sums: &mut [f64]) {
    let sums = &mut sums[from..n];
    sums.fill(0.0);
    for (row, v) in x[k * n..].chunks_exact(n).zip(v) {
        sums.iter_mut().zip(&row[from..]).for_each(|(s, x)| *s += v * x);
    }
    for (row, v) in x[k * n..].chunks_exact_mut(n).zip(v) {
        let scaled = tau * v;
        row[from..].iter_mut().zip(&*sums).for_each(|(x, s)| *x -= scaled * s);
    }
}

impl Work for Factor<'_> {
    type Out = Qr;

    #[inline(always)]
    fn run(self) -> Qr {
        let Factor { a, m, n, wanted } = self;
        let mut x = a[..m * n].to_vec();
        let mut sums = vec![0.0; n];
        let mut reflectors: Vec<(Vec<f64>, f64)> = Vec::with_capacity(n);
        for k in 0..n {
            let mut v: Vec<f64> = (k..m).map(|i| x[i * n + k]).collect();
            let top = v.iter().fold(0.0_f64, |t, y| t.max(y.abs()));
            let mut tau = 0.0;
            if top > 0.0 && top.is_finite() {
                v.iter_mut().for_each(|y| *y /= top);
                let norm = v.iter().map(|y| y * y).sum::<f64>().sqrt();
                let head = if v[0] < 0.0 { v[0] - norm } else { v[0] + norm };
                v[0] = head;
                tau = 2.0 / v.iter().map(|y| y * y).sum::<f64>();
                reflect(&mut x, &v, tau, k, n, k, &mut sums);
            }
            if wanted {
                reflectors.push((v, tau));
            }
        }
        let rows = if wanted { m } else { 0 };
        let mut q = vec![0.0; rows * n];
        (0..n.min(rows)).for_each(|k| q[k * n + k] = 1.0);
        for (k, (v, tau)) in reflectors.iter().enumerate().rev() {
            reflect(&mut q, v, *tau, k, n, k, &mut sums);
        }
        let mut r = vec![0.0; n * n];
        for k in 0..n {
            let sign = if x[k * n + k] < 0.0 { -1.0 } else { 1.0 };
            (k..n).for_each(|j| r[k * n + j] = sign * x[k * n + j]);
            (0..rows).for_each(|i| q[i * n + k] *= sign);
        }
        Qr { q, r }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stream::Stream;

    #[test]
    fn columns_are_orthonormal_and_the_product_is_the_matrix() {
        for (m, n) in [(1, 1), (4, 4), (10, 3), (100, 17)] {
            let mut a = vec![0.0; m * n];
            Stream::new(2, 0, 0).fill_normal(&mut a);
            let Qr { q, r } = qr(&a, m, n);
            assert_eq!(qr_triangle(&a, m, n), r);
            for i in 0..m {
                for j in 0..n {
                    let product: f64 = (0..n).map(|k| q[i * n + k] * r[k * n + j]).sum();
                    assert!((product - a[i * n + j]).abs() < 1e-13 * m as f64);
                }
            }
            for i in 0..n {
                assert!(r[i * n + i] >= 0.0 && (0..i).all(|j| r[i * n + j] == 0.0));
                for j in 0..n {
                    let product: f64 = (0..m).map(|k| q[k * n + i] * q[k * n + j]).sum();
                    assert!((product - f64::from(i == j)).abs() < 1e-13);
                }
            }
        }
    }
}
