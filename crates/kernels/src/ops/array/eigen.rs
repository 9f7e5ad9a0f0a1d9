//! Eigenvalues and eigenvectors of a symmetric matrix.

use super::dense::{dot, square};
use super::{Forward, Kernel, Reverse, ShapeError};
use crate::facts::{Shape, Size};
use crate::num::real::Packed;
use crate::ops::operand::accumulate;

/// Eigenvalues, smallest first, as row 0 of the result [n + 1, n]; below them the matrix whose columns are
/// the eigenvectors, of length 1 and with their largest entry positive.
///
/// The matrix is taken as (A + Aᵀ) / 2. Where two eigenvalues are equal, their eigenvectors are not
/// determined and have no derivative: the reverse sweep leaves out the terms between them, so that symmetric
/// functions of the eigenvalues still have theirs.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct EigenSym;

/// More sweeps than any matrix needs: convergence is quadratic after a few.
const MOST_SWEEPS: usize = 60;

impl Kernel for EigenSym {
    const NAME: &'static str = "eigen_sym";

    fn shape(&self, args: &[Shape]) -> Result<Shape, ShapeError> {
        let n = square(&args[0])?;
        Ok(vec![n.plus(1, &Size::known(1)), n])
    }

    /// Room for three matrices.
    fn saved(&self, dims: &[&[usize]]) -> usize {
        3 * dims[0].iter().product::<usize>()
    }

    fn operations(&self, dims: &[&[usize]]) -> usize {
        9 * dims[0].last().copied().unwrap_or(0).pow(3)
    }

    fn forward<T: Packed>(&self, cx: &mut Forward<T>) {
        let n = cx.dims[0][0];
        let (a, work) = cx.saved.split_at_mut(n * n);
        let (work, spare) = work.split_at_mut(n * n);
        for p in 0..n * n {
            a[p] = (cx.args[0].get(p) + cx.args[0].get(p % n * n + p / n)).scale(0.5);
            work[p] = a[p].detach();
        }
        let (values, vectors) = cx.out.split_at_mut(n);
        rotate_to_diagonal(work, vectors, n);
        (0..n).for_each(|i| values[i] = work[i * n + i]);
        sort(values, vectors, n);
        orient(vectors, n);
        attach_tangents(a, [work, spare], values, vectors, n);
    }

    fn reverse<T: Packed>(&self, cx: &mut Reverse<T>) {
        // Ā = V (diag(λ̄) + sym(F ∘ VᵀV̄)) Vᵀ with F_ij = 1 / (λ_j - λ_i) off the diagonal.
        let Some(adjoint) = cx.adjoints[0] else { return };
        let n = cx.dims[0][0];
        let (values, vectors) = cx.out.split_at(n);
        let (up_values, up_vectors) = cx.adjoint.split_at(n);
        let (inner, work) = cx.saved[..2 * n * n].split_at_mut(n * n);
        for i in 0..n {
            for j in 0..n {
                let product = column_product(vectors, i, up_vectors, j, n);
                work[i * n + j] = product * inverse_gap(values, i, j);
            }
        }
        for i in 0..n {
            for j in 0..n {
                inner[i * n + j] = (work[i * n + j] + work[j * n + i]).scale(0.5);
            }
            inner[i * n + i] = up_values[i];
        }
        for i in 0..n {
            for j in 0..n {
                work[i * n + j] = (0..n).fold(T::zero(), |s, k| s + vectors[i * n + k] * inner[k * n + j]);
            }
        }
        for i in 0..n {
            for j in 0..n {
                let sum = dot(&work[i * n..(i + 1) * n], &vectors[j * n..(j + 1) * n]);
                accumulate(adjoint, i * n + j, sum);
            }
        }
    }
}

/// Column i of one matrix times column j of another.
fn column_product<T: Packed>(a: &[T], i: usize, b: &[T], j: usize, n: usize) -> T {
    (0..n).fold(T::zero(), |sum, k| sum + a[k * n + i] * b[k * n + j])
}

/// 1 / (λ_j - λ_i), or 0 for equal eigenvalues.
fn inverse_gap<T: Packed>(values: &[T], i: usize, j: usize) -> T {
    let gap = values[j] - values[i];
    gap.if_equal(T::zero(), T::zero(), gap.recip())
}

/// Jacobi's method: makes `a` diagonal by rotations, gathered in `v`. A lane in which an entry is negligible
/// is left as it is, so each lane goes its own way.
fn rotate_to_diagonal<T: Packed>(a: &mut [T], v: &mut [T], n: usize) {
    v.fill(T::zero());
    (0..n).for_each(|i| v[i * n + i] = T::one());
    for _ in 0..MOST_SWEEPS {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                rotated |= rotate(a, v, n, p, q);
            }
        }
        if !rotated {
            return;
        }
    }
}

/// Makes entry (p, q) zero; says whether any lane needed it.
fn rotate<T: Packed>(a: &mut [T], v: &mut [T], n: usize, p: usize, q: usize) -> bool {
    let entry = a[p * n + q];
    let floor = (a[p * n + p] * a[q * n + q]).abs().sqrt().scale(0.25 * f64::EPSILON);
    let floor = floor.max(T::splat(f64::MIN_POSITIVE));
    if (0..T::WIDTH).all(|l| entry.lane(l).abs() <= floor.lane(l) || !entry.lane(l).is_finite()) {
        return false;
    }
    // t = tan of the angle: the smaller root of t² + 2θt - 1 = 0.
    let theta = (a[q * n + q] - a[p * n + p]) / entry.scale(2.0);
    let size = (theta.abs() + (theta.square().shift(1.0)).sqrt()).recip();
    let t = theta.if_less(T::zero(), -size, size);
    let t = floor.if_less(entry.abs(), t, T::zero());
    let c = t.square().shift(1.0).sqrt().recip();
    let s = t * c;
    for k in 0..n {
        let (x, y) = (a[k * n + p], a[k * n + q]);
        (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
    }
    for k in 0..n {
        let (x, y) = (a[p * n + k], a[q * n + k]);
        (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
        let (x, y) = (v[k * n + p], v[k * n + q]);
        (v[k * n + p], v[k * n + q]) = (c * x - s * y, s * x + c * y);
    }
    let zero = floor.if_less(entry.abs(), T::zero(), a[p * n + q]);
    (a[p * n + q], a[q * n + p]) = (zero, zero);
    true
}

/// Orders eigenvalues and the columns of the vectors, lane by lane.
fn sort<T: Packed>(values: &mut [T], vectors: &mut [T], n: usize) {
    for i in 0..n {
        for j in i + 1..n {
            let (x, y) = (values[i], values[j]);
            let exchange = |p: &mut [T], at: usize, to: usize| {
                let (a, b) = (p[at], p[to]);
                (p[at], p[to]) = (y.if_less(x, b, a), y.if_less(x, a, b));
            };
            exchange(values, i, j);
            (0..n).for_each(|k| exchange(vectors, k * n + i, k * n + j));
        }
    }
}

/// Turns each column so that its largest entry is positive.
fn orient<T: Packed>(vectors: &mut [T], n: usize) {
    for j in 0..n {
        let largest = (0..n).fold(T::zero(), |best, k| {
            let x = vectors[k * n + j];
            best.abs().if_less(x.abs(), x, best)
        });
        let sign = largest.if_less(T::zero(), -T::one(), T::one());
        (0..n).for_each(|k| vectors[k * n + j] = vectors[k * n + j] * sign);
    }
}

/// Gives eigenvalues and vectors, computed without tangents, those that follow from the matrix: with M =
/// VᵀAV, λ̇_i = Ṁ_ii and V̇ = V E, E_ij = Ṁ_ij / (λ_j - λ_i). Values are left as they are.
fn attach_tangents<T: Packed>(
    a: &[T],
    [e, av]: [&mut [T]; 2],
    values: &mut [T],
    vectors: &mut [T],
    n: usize,
) {
    for i in 0..n {
        for j in 0..n {
            av[i * n + j] = (0..n).fold(T::zero(), |s, k| s + a[i * n + k] * vectors[k * n + j]);
        }
    }
    for i in 0..n {
        for j in 0..n {
            let m = column_product(vectors, i, av, j, n);
            let factor = if i == j { T::one() } else { inverse_gap(values, i, j) };
            e[i * n + j] = (m - m.detach()) * factor.detach();
        }
    }
    for i in 0..n {
        values[i] += e[i * n + i];
        e[i * n + i] = T::zero();
    }
    for k in 0..n {
        for j in 0..n {
            // Detached, the vectors stay what they were while tangents are added to them.
            let turn = (0..n).fold(T::zero(), |s, i| s + vectors[k * n + i].detach() * e[i * n + j]);
            vectors[k * n + j] += turn;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::operand::Arg;

    fn eigen(a: &[f64], n: usize) -> Vec<f64> {
        let (mut out, mut saved) = (vec![0.0; (n + 1) * n], vec![0.0; 3 * n * n]);
        let mut cx: Forward<f64> =
            Forward { args: &[Arg::Const(a)], dims: &[&[n, n]], out: &mut out, saved: &mut saved };
        Kernel::forward(&EigenSym, &mut cx);
        out
    }

    #[test]
    fn vectors_diagonalise_the_matrix() {
        // Singular (rank 2), indefinite and badly scaled ones too.
        let rank_two = |i: usize, j: usize| (i as f64 - 2.0) * (j as f64 - 2.0) + ((i + j) % 2) as f64;
        let hilbert = |i: usize, j: usize| 1.0 / (1 + i + j) as f64;
        let graded = |i: usize, j: usize| 10f64.powi(-2 * (i + j) as i32) * if i == j { 2.0 } else { 1.0 };
        let cases: [&dyn Fn(usize, usize) -> f64; 3] = [&rank_two, &hilbert, &graded];
        let n = 6;
        for (case, entry) in cases.iter().enumerate() {
            let a: Vec<f64> = (0..n * n).map(|p| (entry(p / n, p % n) + entry(p % n, p / n)) / 2.0).collect();
            let out = eigen(&a, n);
            let (values, vectors) = out.split_at(n);
            assert!(values.windows(2).all(|w| w[0] <= w[1]));
            for i in 0..n {
                for j in 0..n {
                    let av: f64 = (0..n).map(|k| a[i * n + k] * vectors[k * n + j]).sum();
                    let norm: f64 = (0..n).map(|k| vectors[k * n + i] * vectors[k * n + j]).sum();
                    assert!((av - values[j] * vectors[i * n + j]).abs() < 1e-13, "case {case}");
                    assert!((norm - f64::from(i == j)).abs() < 1e-13, "case {case}");
                }
            }
        }
    }

    #[test]
    fn equal_eigenvalues_and_no_numbers() {
        let out = eigen(&[3.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 3.0], 3);
        assert_eq!(out[..3], [3.0; 3]);
        assert!(eigen(&[f64::NAN, 0.0, 0.0, 1.0], 2).iter().any(|x| x.is_nan()));
    }
}
