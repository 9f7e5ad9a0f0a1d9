//! Matrix products by name: plain, with one side transposed, symmetric, triangular.

use super::product::{Left, Part, Product, Right, Rows};

/// C += scale · A · B for row-major A [m × depth], B [depth × n], C [m × n].
pub fn add_product(scale: f64, a: &[f64], b: &[f64], [m, depth, n]: [usize; 3], c: &mut [f64]) {
    assert!(a.len() >= m * depth && b.len() >= depth * n && c.len() >= m * n);
    Product {
        scale,
        m,
        n,
        depth,
        left: Left::Rows,
        a,
        a_rows: Rows::Every(depth),
        right: Right::Rows,
        b,
        b_stride: n,
        part: Part::All,
        c,
        c_rows: Rows::Every(n),
    }
    .add();
}

/// C += scale · Aᵀ · B for row-major A [depth × m], B [depth × n], C [m × n].
pub fn add_transposed_product(scale: f64, a: &[f64], b: &[f64], [m, depth, n]: [usize; 3], c: &mut [f64]) {
    assert!(a.len() >= m * depth && b.len() >= depth * n && c.len() >= m * n);
    Product {
        scale,
        m,
        n,
        depth,
        left: Left::Columns,
        a,
        a_rows: Rows::Every(m),
        right: Right::Rows,
        b,
        b_stride: n,
        part: Part::All,
        c,
        c_rows: Rows::Every(n),
    }
    .add();
}

/// C += scale · Aᵀ · B for row-major A, B [depth × d] where that is known to be symmetric: its lower triangle
/// is computed, and copied to the upper one of C, which must be symmetric too.
pub fn add_symmetric_product(scale: f64, a: &[f64], b: &[f64], [d, depth]: [usize; 2], c: &mut [f64]) {
    assert!(a.len() >= d * depth && b.len() >= d * depth && c.len() >= d * d);
    Product {
        scale,
        m: d,
        n: d,
        depth,
        left: Left::Columns,
        a,
        a_rows: Rows::Every(d),
        right: Right::Rows,
        b,
        b_stride: d,
        part: Part::Lower,
        c,
        c_rows: Rows::Every(d),
    }
    .add();
    mirror(c, d);
}

/// Writes the lower triangle of a matrix [d × d] above its diagonal too.
pub fn mirror(a: &mut [f64], d: usize) {
    for i in 0..d {
        for j in 0..i {
            a[j * d + i] = a[i * d + j];
        }
    }
}

/// out = S · X for a diagonal matrix S, given by its diagonal, and X, out [d × n].
pub fn scale_rows(s: &[f64], x: &[f64], n: usize, out: &mut [f64]) {
    for ((out, x), s) in out.chunks_exact_mut(n).zip(x.chunks_exact(n)).zip(s) {
        out.iter_mut().zip(x).for_each(|(o, x)| *o = s * x);
    }
}

/// The lower triangle (j ≤ i) of C += scale · A · Bᵀ for row-major A, B [d × depth] and C [d × d]; what
/// stands above the diagonal of C is left alone. With A = B this is the symmetric rank-k update.
pub fn add_product_lower(scale: f64, a: &[f64], b: &[f64], [d, depth]: [usize; 2], c: &mut [f64]) {
    assert!(c.len() >= d * d);
    add_triangle(scale, a, b, [d, depth], (c, Rows::Every(d)));
}

/// The same for a C that holds its lower triangle packed, row after row.
pub fn add_product_packed(scale: f64, a: &[f64], b: &[f64], [d, depth]: [usize; 2], c: &mut [f64]) {
    assert!(c.len() >= d * (d + 1) / 2);
    add_triangle(scale, a, b, [d, depth], (c, Rows::Packed { first: 0 }));
}

/// The same for a C whose rows lie as told.
fn add_triangle(scale: f64, a: &[f64], b: &[f64], [d, depth]: [usize; 2], (c, c_rows): (&mut [f64], Rows)) {
    assert!(a.len() >= d * depth && b.len() >= d * depth);
    Product {
        scale,
        m: d,
        n: d,
        depth,
        left: Left::Rows,
        a,
        a_rows: Rows::Every(depth),
        right: Right::Columns,
        b,
        b_stride: depth,
        part: Part::Lower,
        c,
        c_rows,
    }
    .add();
}

/// out += L · U for lower triangular L [d × d] (what stands above its diagonal is not read) and U, out [d ×
/// n].
pub fn add_lower_product(l: &[f64], u: &[f64], [d, n]: [usize; 2], out: &mut [f64]) {
    assert!(l.len() >= d * d);
    add_triangular_product(Left::LowerRows, Rows::Every(d), l, u, [d, n], out);
}

/// The same for an L that is packed, row after row.
pub fn add_packed_product(l: &[f64], u: &[f64], [d, n]: [usize; 2], out: &mut [f64]) {
    assert!(l.len() >= d * (d + 1) / 2);
    add_triangular_product(Left::LowerRows, Rows::Packed { first: 0 }, l, u, [d, n], out);
}

/// out = L · U for lower triangular L [d × d] (what stands above its diagonal is not read) and U, out [d ×
/// n].
pub fn lower_product(l: &[f64], u: &[f64], [d, n]: [usize; 2], out: &mut [f64]) {
    triangular_product(Left::LowerRows, l, u, [d, n], out);
}

/// out = Lᵀ · U for lower triangular L [d × d] (what stands above its diagonal is not read) and U, out [d ×
/// n].
pub fn lower_transposed_product(l: &[f64], u: &[f64], [d, n]: [usize; 2], out: &mut [f64]) {
    triangular_product(Left::LowerColumns, l, u, [d, n], out);
}

fn triangular_product(left: Left, l: &[f64], u: &[f64], [d, n]: [usize; 2], out: &mut [f64]) {
    assert!(l.len() >= d * d && out.len() >= d * n);
    out[..d * n].fill(0.0);
    add_triangular_product(left, Rows::Every(d), l, u, [d, n], out);
}

fn add_triangular_product(
    left: Left,
    a_rows: Rows,
    l: &[f64],
    u: &[f64],
    [d, n]: [usize; 2],
    out: &mut [f64],
) {
    assert!(u.len() >= d * n && out.len() >= d * n);
    Product {
        scale: 1.0,
        m: d,
        n,
        depth: d,
        left,
        a: l,
        a_rows,
        right: Right::Rows,
        b: u,
        b_stride: n,
        part: Part::All,
        c: out,
        c_rows: Rows::Every(n),
    }
    .add();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stream::Stream;

    fn random(seed: u64, n: usize) -> Vec<f64> {
        let mut x = vec![0.0; n];
        Stream::new(seed, 0, 0).fill_normal(&mut x);
        x
    }

    fn close(got: &[f64], expected: impl Fn(usize) -> f64) {
        for (i, x) in got.iter().enumerate() {
            assert!((x - expected(i)).abs() < 1e-11, "{i}: {x} against {}", expected(i));
        }
    }

    #[test]
    fn products_match_their_definition() {
        for (m, depth, n) in
            [(1, 1, 1), (3, 5, 2), (4, 16, 16), (9, 300, 35), (110, 530, 17), (7, 3, 1100), (41, 70, 1)]
        {
            let (a, b, c) = (random(1, m * depth), random(2, depth * n), random(3, m * n));
            let mut got = c.clone();
            add_product(0.5, &a, &b, [m, depth, n], &mut got);
            let sum = |f: &dyn Fn(usize) -> f64| (0..depth).map(f).sum::<f64>();
            close(&got, |p| c[p] + 0.5 * sum(&|k| a[p / n * depth + k] * b[k * n + p % n]));
            let mut got = c.clone();
            add_transposed_product(2.0, &a, &b, [m, depth, n], &mut got);
            close(&got, |p| c[p] + 2.0 * sum(&|k| a[k * m + p / n] * b[k * n + p % n]));
        }
    }

    #[test]
    fn a_symmetric_product_is_the_whole_one() {
        for (d, depth) in [(1, 1), (7, 3), (20, 300), (101, 33)] {
            let (a, w) = (random(7, d * depth), random(8, depth));
            let b: Vec<f64> = a.iter().enumerate().map(|(p, x)| x * w[p / d]).collect();
            let (mut whole, mut got) = (vec![0.0; d * d], vec![0.0; d * d]);
            add_transposed_product(1.5, &a, &b, [d, depth, d], &mut whole);
            add_symmetric_product(1.5, &a, &b, [d, depth], &mut got);
            close(&got, |p| whole[p]);
        }
    }

    #[test]
    fn triangular_products_read_and_write_the_lower_triangle_only() {
        for (d, n) in [(1, 1), (2, 8), (5, 16), (33, 7), (300, 20), (45, 1)] {
            let mut l = random(4, d * d);
            let u = random(5, d * n);
            let at = |i: usize, j: usize| if j <= i { l[i * d + j] } else { 0.0 };
            let product: Vec<f64> =
                (0..d * n).map(|p| (0..d).map(|k| at(p / n, k) * u[k * n + p % n]).sum()).collect();
            let transposed: Vec<f64> =
                (0..d * n).map(|p| (0..d).map(|k| at(k, p / n) * u[k * n + p % n]).sum()).collect();
            (0..d).for_each(|i| (i + 1..d).for_each(|j| l[i * d + j] = f64::NAN));
            let mut got = vec![f64::NAN; d * n];
            lower_product(&l, &u, [d, n], &mut got);
            close(&got, |p| product[p]);
            lower_transposed_product(&l, &u, [d, n], &mut got);
            close(&got, |p| transposed[p]);

            let packed: Vec<f64> = (0..d).flat_map(|i| l[i * d..=i * d + i].to_vec()).collect();
            let mut got = vec![1.0; d * n];
            add_packed_product(&packed, &u, [d, n], &mut got);
            close(&got, |p| 1.0 + product[p]);
            got.fill(1.0);
            add_lower_product(&l, &u, [d, n], &mut got);
            close(&got, |p| 1.0 + product[p]);

            let g = random(6, d * n);
            let mut triangle = vec![7.0; packed.len()];
            add_product_packed(1.0, &g, &u, [d, n], &mut triangle);
            let mut c = vec![7.0; d * d];
            add_product_lower(1.0, &g, &u, [d, n], &mut c);
            close(&c, |p| {
                let (i, j) = (p / d, p % d);
                if j > i { 7.0 } else { 7.0 + (0..n).map(|k| g[i * n + k] * u[j * n + k]).sum::<f64>() }
            });
            let lower = (0..d).flat_map(|i| c[i * d..=i * d + i].to_vec());
            assert!(lower.eq(triangle.iter().copied()), "the packed form has the same bits");
        }
    }
}
