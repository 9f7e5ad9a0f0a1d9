//! Householder reduction of a symmetric matrix to a tridiagonal one.

use super::product::{Left, Part, Product, Right, Rows, dot};
use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::real::{F8, LANES, Packed, Zero};

/// Reflections that are applied together as one matrix product.
const BLOCK: usize = 32;

/// A = Q T Qᵀ, where Q = H_{d-1} … H_1 and H_i = I - τ_i v_i v_iᵀ acts on the first i coordinates.
pub(super) struct Tridiagonal {
    d: usize,
    /// The diagonal of T.
    pub diagonal: Vec<f64>,
    /// What stands beside it: element i is T[i, i + 1].
    pub beside: Vec<f64>,
    /// Row i holds v_i in its first i places.
    work: Vec<F8>,
    factors: Vec<f64>,
    /// Room for the update that is pending and the product with the next reflection.
    pending: [Vec<F8>; 3],
    /// Room for a block of reflections and its image.
    blocks: [Vec<f64>; 2],
}

impl Tridiagonal {
    /// Blocks of eight in a row of the work matrix.
    fn stride(d: usize) -> usize {
        d.div_ceil(LANES)
    }

    /// Room for matrices of this size.
    pub fn room(d: usize) -> Tridiagonal {
        let stride = Self::stride(d);
        Tridiagonal {
            d,
            diagonal: vec![0.0; d],
            beside: vec![0.0; d.saturating_sub(1)],
            work: vec![F8::zero(); d * stride],
            factors: vec![0.0; d],
            pending: [(); 3].map(|()| vec![F8::zero(); stride]),
            blocks: [(); 2].map(|()| vec![0.0; BLOCK * d]),
        }
    }

    /// Reduces scale · A, of which the lower triangle is read.
    pub fn reduce(&mut self, a: &[f64], scale: f64) {
        let d = self.d;
        self.work.fill(F8::zero());
        self.factors.fill(0.0);
        for (i, row) in self.work.chunks_exact_mut(Self::stride(d)).enumerate() {
            for (j, x) in a[i * d..=i * d + i].iter().enumerate() {
                row[j / LANES].0[j % LANES] = scale * x;
            }
        }
        self.run();
    }

    /// Takes the rows from the last to the first. The update by the last reflection and the product with the
    /// next one are done in one pass over the matrix.
    fn run(&mut self) {
        let stride = Self::stride(self.d);
        // The pending update is A -= u wᵀ + w uᵀ.
        let [u, w, p] = &mut self.pending;
        [&mut *u, w].into_iter().for_each(|x| x.fill(F8::zero()));
        for i in (0..self.d).rev() {
            let (above, rest) = self.work.split_at_mut(i * stride);
            let row = &mut rest[..stride];
            let (ui, wi) = (flat(u)[i], flat(w)[i]);
            for ((x, u), w) in flat_mut(row)[..=i].iter_mut().zip(flat(u)).zip(flat(w)) {
                *x -= ui * w + wi * u;
            }
            let row = flat_mut(row);
            self.diagonal[i] = row[i];
            row[i..].fill(0.0);
            if i == 0 {
                break;
            }
            let (beside, factor) = reflect(&mut row[..i]);
            self.beside[i - 1] = beside;
            self.factors[i] = factor;
            let v = &rest[..stride];
            p.fill(F8::zero());
            best_lanes(Pass { matrix: above, stride, rows: i, u, w, v, p });
            // w = p - (τ/2 pᵀv) v with p = τ A v.
            let (v, p) = (&flat(v)[..i], &flat(p)[..i]);
            let half = 0.5 * factor * factor * dot(p, v);
            u.fill(F8::zero());
            w.fill(F8::zero());
            flat_mut(u)[..i].copy_from_slice(v);
            for (w, (p, v)) in flat_mut(w).iter_mut().zip(p.iter().zip(v)) {
                *w = factor * p - half * v;
            }
        }
    }

    /// The orthogonal matrix Q, row-major.
    pub fn orthogonal(&mut self, q: &mut [f64]) {
        let d = self.d;
        q.fill(0.0);
        (0..d).for_each(|i| q[i * d + i] = 1.0);
        let [mut v, mut image] = std::mem::take(&mut self.blocks);
        for first in (1..d).step_by(BLOCK) {
            let last = (first + BLOCK).min(d);
            let (count, size) = (last - first, last - 1);
            for (k, i) in (first..last).enumerate() {
                let row = &flat(&self.work[i * Self::stride(d)..])[..size];
                v[k * size..(k + 1) * size].copy_from_slice(row);
                v[k * size + i..(k + 1) * size].fill(0.0);
            }
            let v = &v[..count * size];
            let t = self.block_factor(v, first, count, size);
            // Q -= Vᵀ T V Q on the leading block that is not yet the identity.
            let image = &mut image[..count * size];
            image.fill(0.0);
            product(1.0, Left::Rows, v, [count, size, size], [size, d, size], q, image);
            for k in (0..count).rev() {
                let (before, rest) = image.split_at_mut(k * size);
                let own = t[k * BLOCK + k];
                rest[..size].iter_mut().for_each(|x| *x *= own);
                for (j, other) in before.chunks_exact(size).enumerate() {
                    let c = t[k * BLOCK + j];
                    rest[..size].iter_mut().zip(other).for_each(|(x, y)| *x += c * y);
                }
            }
            product(-1.0, Left::Columns, v, [size, count, size], [size, size, d], image, q);
        }
        self.blocks = [v, image];
    }

    /// The lower triangular T with H_{last} … H_{first} = I - Vᵀ T V, where the reflections are the rows of
    /// V.
    fn block_factor(&self, v: &[f64], first: usize, count: usize, size: usize) -> [f64; BLOCK * BLOCK] {
        let mut t = [0.0; BLOCK * BLOCK];
        for k in 0..count {
            let factor = self.factors[first + k];
            let own = &v[k * size..(k + 1) * size];
            // H_k (I - Vᵀ T V) adds the row -τ (v_k Vᵀ) T and τ on the diagonal.
            for j in 0..k {
                let inner = dot(own, &v[j * size..(j + 1) * size]);
                for c in 0..=j {
                    t[k * BLOCK + c] -= factor * inner * t[j * BLOCK + c];
                }
            }
            t[k * BLOCK + k] = factor;
        }
        t
    }
}

/// C += scale · A · B with the strides of A, B and C.
fn product(
    scale: f64,
    left: Left,
    a: &[f64],
    [m, depth, n]: [usize; 3],
    [a_stride, b_stride, c_stride]: [usize; 3],
    b: &[f64],
    c: &mut [f64],
) {
    let (right, part) = (Right::Rows, Part::All);
    let [a_rows, c_rows] = [a_stride, c_stride].map(Rows::Every);
    Product { scale, m, n, depth, left, a, a_rows, right, b, b_stride, part, c, c_rows }.add();
}

/// Replaces x by the v of the reflection I - τ v vᵀ that carries it to a multiple of its last axis: gives
/// that multiple and τ.
fn reflect(x: &mut [f64]) -> (f64, f64) {
    let Some((last, others)) = x.split_last_mut() else { return (0.0, 0.0) };
    if others.iter().all(|y| *y == 0.0) {
        return (*last, 0.0);
    }
    // Scaled by the largest, so that squares do not underflow.
    let top = others.iter().fold(last.abs(), |t, y| t.max(y.abs()));
    others.iter_mut().for_each(|y| *y /= top);
    *last /= top;
    let rest = dot(others, others);
    let norm = (rest + *last * *last).sqrt();
    let target = if *last > 0.0 { -norm } else { norm };
    *last -= target;
    (target * top, 2.0 / (rest + *last * *last))
}

/// One pass over the rows of the lower triangle: applies the pending update A -= u wᵀ + w uᵀ and adds A v to
/// p.
struct Pass<'a> {
    matrix: &'a mut [F8],
    stride: usize,
    rows: usize,
    u: &'a [F8],
    w: &'a [F8],
    v: &'a [F8],
    p: &'a mut [F8],
}

impl LaneWork<F8> for Pass<'_> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<F8, U>) {
        for (j, row) in self.matrix.chunks_exact_mut(self.stride).take(self.rows).enumerate() {
            let (whole, rest) = (j / LANES, j % LANES);
            let at = |x: &[F8]| x[whole].0[rest];
            let (uj, wj, vj) = (at(self.u), at(self.w), at(self.v));
            let mut sum = view.value(F8::zero());
            {
                let (uj, wj, vj) = (U::splat(uj), U::splat(wj), U::splat(vj));
                let (u, w) = (view.slice(&self.u[..whole]), view.slice(&self.w[..whole]));
                let (v, p) = (view.slice(&self.v[..whole]), view.slice_mut(&mut self.p[..whole]));
                for ((((a, u), w), v), p) in
                    view.slice_mut(&mut row[..whole]).iter_mut().zip(u).zip(w).zip(v).zip(p)
                {
                    let x = *a - (uj * *w + wj * *u);
                    *a = x;
                    sum += x * *v;
                    *p += x * vj;
                }
            }
            // The block that holds the diagonal, number by number.
            let lanes = view.back(sum).0;
            let mut total = ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5]))
                + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
            for k in 0..=rest {
                let x = row[whole].0[k] - (uj * self.w[whole].0[k] + wj * self.u[whole].0[k]);
                row[whole].0[k] = x;
                total += x * self.v[whole].0[k];
                if k < rest {
                    self.p[whole].0[k] += x * vj;
                }
            }
            self.p[whole].0[rest] += total;
        }
    }
}

/// The numbers of a row of blocks.
fn flat(x: &[F8]) -> &[f64] {
    // SAFETY: F8 is eight f64 in a row.
    unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len() * LANES) }
}

fn flat_mut(x: &mut [F8]) -> &mut [f64] {
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut(x.as_mut_ptr().cast(), x.len() * LANES) }
}
