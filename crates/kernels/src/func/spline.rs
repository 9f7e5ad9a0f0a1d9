//! B-splines of data: the columns of a smooth curve's design matrix.

use super::args::{
    Checked, Types, affordable, extent, given, needed, node, option, optional, ty, vector, whole,
};
use super::row::{Function, Ty};
use crate::facts::Size;
use crate::graph::{BuildError, Builder, NodeId};
use std::sync::Arc;

/// The degree where none is given: cubic pieces.
const CUBIC: usize = 3;
/// The highest degree: beyond it, sums of such pieces lose their digits.
const HIGHEST: usize = 20;

fn shape(args: Types) -> Checked {
    let (n, knots) = (vector(ty(args, 0)?, "x")?, vector(ty(args, 1)?, "knots")?);
    let degree = given(args, 2).map_or(Ok(Size::known(CUBIC)), |t| extent(t, "degree"))?;
    if let Some(k @ ..=1) = knots.as_integer() {
        return Err(format!("`knots` must be two numbers or more, the first and the last included, not {k}"));
    }
    Ok(Ty::real(vec![n, knots.plus(1, &degree).plus(1, &Size::integer(-1))]))
}

/// The numbers of a vector that is data.
fn known(b: &Builder, id: NodeId, name: &str) -> Result<Arc<[f64]>, BuildError> {
    let numbers = b.constant_of(id).filter(|_| b.dims(id).len() == 1).cloned();
    numbers
        .ok_or_else(|| BuildError(format!("`{name}` must be a vector of data: `bspline` has no slope in it")))
}

fn build(b: &mut Builder, x: NodeId, knots: NodeId, degree: usize) -> Result<NodeId, BuildError> {
    let (x, knots) = (known(b, x, "x")?, known(b, knots, "knots")?);
    let mut knots = knots.to_vec();
    knots.sort_by(f64::total_cmp);
    let (Some(&first), Some(&last)) = (knots.first(), knots.last()) else {
        return Err(BuildError("`knots` must be two numbers or more".into()));
    };
    if !(first < last && first.is_finite() && last.is_finite() && x.iter().all(|x| x.is_finite())) {
        return Err(BuildError("`bspline` needs finite numbers, and knots that are not all the same".into()));
    }
    if degree > HIGHEST {
        return Err(BuildError(format!("`degree` is at most {HIGHEST}, and here it is {degree}")));
    }
    let columns = knots.len() + degree - 1;
    let dims = affordable(vec![x.len(), columns])?;
    // The ends count degree + 1 times, so that the curve is free there.
    let mut all = vec![first; degree];
    all.extend(&knots);
    all.resize(all.len() + degree, last);
    let mut values = vec![0.0; x.len() * columns];
    for (row, &x) in values.chunks_exact_mut(columns).zip(x.iter()) {
        let (at, pieces) = pieces(x, &all, degree);
        row[at..=at + degree].copy_from_slice(&pieces);
    }
    Ok(b.constant(values, dims))
}

/// The degree + 1 basis functions that are not zero at x, and the place of the first of them. Beyond the
/// ends, the outermost pieces go on as the polynomials that they are.
///
/// Cox and de Boor's recursion, from low degrees to high: all its terms are positive between the knots.
fn pieces(x: f64, knots: &[f64], degree: usize) -> (usize, Vec<f64>) {
    let interior = &knots[degree + 1..knots.len() - degree - 1];
    let mut at = degree + interior.partition_point(|&k| k <= x);
    // The last knot belongs to the interval before it, and so does x where that is empty.
    while at > degree && knots[at] == knots[at + 1] {
        at -= 1;
    }
    let mut values = vec![1.0];
    for d in 1..=degree {
        let mut next = vec![0.0; d + 1];
        for (i, value) in values.iter().enumerate() {
            let (low, high) = (knots[at + 1 + i - d], knots[at + 1 + i]);
            let share = value / (high - low);
            next[i] += (high - x) * share;
            next[i + 1] += (x - low) * share;
        }
        values = next;
    }
    (at - degree, values)
}

pub(super) static ROWS: &[Function] = &[Function {
    name: "bspline",
    args: &[needed("x"), needed("knots"), optional("degree")],
    variadic: false,
    doc: "the B-splines of a data vector, a column for each: cubic unless a degree is given; the knots include both ends, and K of them make K + degree - 1 columns",
    example: (
        "bspline([0.0, 0.5, 2.0], [0, 1, 2], 1)",
        "[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]",
    ),
    check: shape,
    build: |b, args| {
        let degree = option(args, 2).map_or(Ok(CUBIC), |d| whole(b, d, "degree"))?;
        build(b, node(args, 0)?, node(args, 1)?, degree)
    },
}];

#[cfg(test)]
mod tests {
    use super::*;

    /// The basis at points, a row each.
    fn basis(x: &[f64], knots: &[f64], degree: usize) -> Vec<Vec<f64>> {
        let mut b = Builder::new();
        let (points, ends) =
            (b.constant(x.to_vec(), vec![x.len()]), b.constant(knots.to_vec(), vec![knots.len()]));
        let all = build(&mut b, points, ends, degree).unwrap();
        let columns = b.dims(all)[1];
        b.constant_of(all).unwrap().chunks(columns).map(<[f64]>::to_vec).collect()
    }

    #[test]
    fn far_from_the_ends_equal_steps_give_the_classic_weights() {
        let knots: Vec<f64> = (0..9).map(f64::from).collect();
        let rows = basis(&[4.0, 4.5], &knots, 3);
        let close =
            |row: &[f64], expected: &[f64]| row.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15);
        assert!(close(&rows[0][4..8], &[1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0, 0.0]), "{rows:?}");
        assert!(close(&rows[1][4..8], &[1.0 / 48.0, 23.0 / 48.0, 23.0 / 48.0, 1.0 / 48.0]), "{rows:?}");
    }

    /// Marsden's identity: Σ_i B_i(x) ∏_k (t_{i+k} - y) = (x - y)^degree up to sign, for any y; with it every
    /// polynomial.
    #[test]
    fn every_polynomial_is_a_sum_of_them() {
        let knots = [-1.0, 0.5, 0.5, 0.75, 3.0, 4.0];
        let points = [-1.0, -0.2, 0.5, 0.6, 2.9, 3.0, 4.0, 4.5, -1.5];
        for degree in 0..=5 {
            let mut all = vec![knots[0]; degree];
            all.extend(knots);
            all.resize(all.len() + degree, knots[5]);
            for (x, row) in points.iter().zip(basis(&points, &knots, degree)) {
                assert_eq!(row.len(), knots.len() + degree - 1);
                for y in [-2.0, 0.3, 5.0] {
                    let product = |i: usize| all[i + 1..=i + degree].iter().map(|t| y - t).product::<f64>();
                    let sum: f64 = row.iter().enumerate().map(|(i, b)| b * product(i)).sum();
                    let expected = (y - x).powi(degree as i32);
                    assert!((sum - expected).abs() < 1e-11 * expected.abs().max(1.0), "{degree}, {x}, {y}");
                }
                let inside = (-1.0..=4.0).contains(x);
                assert!(!inside || row.iter().all(|b| (0.0..=1.0).contains(b)), "{degree}, {x}: {row:?}");
            }
        }
    }
}
