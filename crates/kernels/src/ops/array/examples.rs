//! One example or more of every array operation, and the laws that all of them must obey.

use super::*;
use crate::num::real::{Dual, F16, Packed};
use crate::ops::operand::{Arg, Lane};
use std::cell::Cell;

/// An operation with arguments to probe it at.
struct Example {
    op: OpRef,
    args: Vec<(Vec<f64>, Vec<usize>)>,
}

fn example(op: impl Into<OpRef>, args: &[(&[f64], &[usize])]) -> Example {
    Example { op: op.into(), args: args.iter().map(|(x, d)| (x.to_vec(), d.to_vec())).collect() }
}

const X6: &[f64] = &[0.3, -1.2, 2.5, 0.7, -0.4, 1.9];
const SPD3: &[f64] = &[4.0, 1.0, -0.7, 1.0, 3.0, 0.5, -0.7, 0.5, 2.0];
/// Needs row exchanges.
const FULL3: &[f64] = &[0.1, 1.4, -0.7, 1.0, 0.3, 0.5, -2.7, 0.5, 0.2];
const LOWER3: &[f64] = &[1.5, 0.3, -0.2, -0.7, 0.8, 0.9, 0.4, 1.1, 2.0];

fn examples() -> Vec<Example> {
    let both = [false, true];
    let mut all = vec![
        example(Sum { axis: None }, &[(X6, &[2, 3])]),
        example(Sum { axis: Some(0) }, &[(X6, &[2, 3])]),
        example(Sum { axis: Some(1) }, &[(X6, &[2, 3])]),
        example(LogSumExp { axis: None }, &[(X6, &[6])]),
        example(LogSumExp { axis: Some(0) }, &[(X6, &[2, 3])]),
        example(Product { axis: None }, &[(X6, &[6])]),
        example(Product { axis: None }, &[(&[1.5, 0.0, -2.0], &[3])]),
        example(Product { axis: Some(1) }, &[(X6, &[2, 3])]),
        example(Max { axis: None }, &[(X6, &[6])]),
        example(Max { axis: Some(0) }, &[(X6, &[2, 3])]),
        example(Min { axis: Some(1) }, &[(X6, &[2, 3])]),
        example(CumSum, &[(X6, &[2, 3])]),
        example(Take { table: vec![3, 3, 0, 5].into(), dims: vec![2, 2] }, &[(X6, &[6])]),
        // Places count as what is left of the point, and are the same on either side of it: no slope.
        example(Lookup, &[(X6, &[6]), (&[3.5, 3.5, 0.5, 5.5], &[2, 2])]),
        example(Concat { dims: vec![9] }, &[(X6, &[6]), (&[1.0, 2.0, 3.0], &[3])]),
        example(MatMul, &[(X6, &[2, 3]), (SPD3, &[3, 3])]),
        example(MatMul, &[(X6, &[2, 3]), (&[1.0, -2.0, 0.5], &[3])]),
        example(MatMul, &[(&[1.0, -2.0, 0.5], &[3]), (SPD3, &[3, 3])]),
        example(Cholesky, &[(SPD3, &[3, 3])]),
        example(Cholesky, &[(&[2.0], &[1, 1])]),
        // One element on the whole diagonal, and one at two places.
        example(
            ListedCholesky { table: vec![0, 1, 2, 1, 0, 1, 2, 1, 0].into(), rows: 3 },
            &[(&[3.0, 0.7, -0.4], &[3])],
        ),
        example(
            LowerProduct,
            &[(&[1.5, 0.0, 0.0, -0.7, 0.8, 0.0, 0.4, 1.1, 2.0], &[3, 3]), (&X6[..3], &[3])],
        ),
        example(CumProd, &[(X6, &[2, 3])]),
        example(CumProd, &[(&[1.5, 0.0, -2.0], &[3])]),
        example(Solve, &[(FULL3, &[3, 3]), (X6, &[3, 2])]),
        example(Solve, &[(FULL3, &[3, 3]), (&X6[..3], &[3])]),
        example(Inverse, &[(FULL3, &[3, 3])]),
        example(LogDet, &[(FULL3, &[3, 3])]),
        example(EigenSym, &[(SPD3, &[3, 3])]),
        example(EigenSym, &[(&[2.0], &[1, 1])]),
    ];
    for transposed in both {
        for rows in both {
            let op = TriangularSolve { transposed, rows };
            let side: &[usize] = if rows { &[2, 3] } else { &[3, 2] };
            all.push(example(op.clone(), &[(LOWER3, &[3, 3]), (X6, side)]));
            all.push(example(op, &[(LOWER3, &[3, 3]), (&X6[..3], &[3])]));
        }
    }
    for probabilities in both {
        let (start, moves): (&[f64], &[f64]) = if probabilities {
            (&[0.3, 0.7], &[0.9, 0.1, 0.25, 0.75])
        } else {
            (&[-1.2, -0.4], &[-0.1, -2.3, -1.4, -0.3])
        };
        let seen = &[-0.3, -1.2, -3.5, -0.7, -0.4, 1.9, -30.0, -2.0];
        let op = HmmForward { probabilities };
        all.push(example(op, &[(start, &[2]), (moves, &[2, 2]), (seen, &[4, 2])]));
    }
    all
}

/// Result and gradient of Σ w_i out_i in every argument, at arguments given as scalars of type `T`.
fn run<T: Lane>(e: &Example, flat: &[T]) -> (Vec<T>, Vec<T>) {
    let dims: Vec<&[usize]> = e.args.iter().map(|(_, d)| d.as_slice()).collect();
    let mut starts = vec![0];
    e.args.iter().for_each(|(x, _)| starts.push(starts[starts.len() - 1] + x.len()));
    let args: Vec<Arg<T>> = starts.windows(2).map(|w| Arg::Var(&flat[w[0]..w[1]])).collect();
    let shapes: Vec<crate::facts::Shape> =
        dims.iter().map(|d| d.iter().map(|&n| crate::facts::Size::known(n)).collect()).collect();
    let shape = e.op.0.shape(&shapes).unwrap();
    let len: i64 = shape.iter().map(|s| s.as_integer().unwrap()).product();
    let mut out = vec![T::zero(); len as usize];
    let mut saved = vec![T::splat(f64::NAN); e.op.0.saved(&dims)];
    let kernel = T::array(e.op.0.as_ref());
    kernel.forward(&mut Forward { args: &args, dims: &dims, out: &mut out, saved: &mut saved });
    let up: Vec<T> = (0..out.len()).map(|i| T::splat(weight(i))).collect();
    let mut slopes = vec![T::zero(); flat.len()];
    let cells = Cell::from_mut(slopes.as_mut_slice()).as_slice_of_cells();
    let adjoints: Vec<_> = starts.windows(2).map(|w| Some(&cells[w[0]..w[1]])).collect();
    kernel.reverse(&mut Reverse {
        args: &args,
        dims: &dims,
        out: &out,
        saved: &mut saved,
        adjoint: &up,
        adjoints: &adjoints,
    });
    (out, slopes)
}

/// Weights of the results, all different.
fn weight(i: usize) -> f64 {
    1.0 + 0.37 * (i as f64 * 1.7).sin()
}

fn flat(e: &Example) -> Vec<f64> {
    e.args.iter().flat_map(|(x, _)| x.iter().copied()).collect()
}

fn close(got: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((got - expected).abs() <= tolerance * (1.0 + expected.abs()), "{what}: {got} against {expected}");
}

#[test]
fn reverse_sweeps_match_finite_differences() {
    for e in examples() {
        let x = flat(&e);
        let (_, slopes) = run(&e, &x);
        let value = |x: &[f64]| -> f64 { run(&e, x).0.iter().enumerate().map(|(i, y)| weight(i) * y).sum() };
        for i in 0..x.len() {
            let h = 1e-5;
            let at = |step: f64| {
                let mut y = x.clone();
                y[i] += step;
                value(&y)
            };
            // Richardson's extrapolation of central differences.
            let (wide, narrow) = ((at(2.0 * h) - at(-2.0 * h)) / (4.0 * h), (at(h) - at(-h)) / (2.0 * h));
            let expected = (4.0 * narrow - wide) / 3.0;
            close(slopes[i], expected, 1e-8, &format!("{:?} in argument {i}", e.op));
        }
    }
}

#[test]
fn reverse_sweeps_match_forward_mode() {
    for e in examples() {
        let x = flat(&e);
        let (_, slopes) = run(&e, &x);
        for (i, &slope) in slopes.iter().enumerate() {
            let duals: Vec<Dual> = x.iter().enumerate().map(|(j, &v)| dual(v, f64::from(i == j))).collect();
            let (out, _) = run(&e, &duals);
            let tangent: f64 = out.iter().enumerate().map(|(k, y)| weight(k) * y.d).sum();
            close(slope, tangent, 1e-12, &format!("{:?} in argument {i}", e.op));
        }
    }
}

fn dual(v: f64, d: f64) -> Dual {
    Dual { v, d }
}

#[test]
fn tangents_of_reverse_sweeps_match_differences_of_the_gradient() {
    for e in examples() {
        let x = flat(&e);
        let direction: Vec<f64> = (0..x.len()).map(|i| (1.3 * i as f64 + 0.4).cos()).collect();
        let duals: Vec<Dual> = x.iter().zip(&direction).map(|(&v, &d)| dual(v, d)).collect();
        let (_, products) = run(&e, &duals);
        let h = 1e-5;
        let at = |step: f64| {
            let y: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + step * d).collect();
            run(&e, &y).1
        };
        let (plus, minus) = (at(h), at(-h));
        for i in 0..x.len() {
            let expected = (plus[i] - minus[i]) / (2.0 * h);
            close(products[i].d, expected, 1e-6, &format!("{:?} in argument {i}", e.op));
        }
    }
}

#[test]
fn lanes_do_what_single_numbers_do() {
    for e in examples() {
        let x = flat(&e);
        let lane = |l: usize| -> Vec<f64> {
            x.iter()
                .enumerate()
                .map(|(i, v)| v * (1.0 + 1e-2 * ((i * F16::WIDTH + l) as f64).sin()))
                .collect()
        };
        let draws: Vec<Vec<f64>> = (0..F16::WIDTH).map(lane).collect();
        let wide: Vec<F16> = (0..x.len()).map(|i| F16(std::array::from_fn(|l| draws[l][i]))).collect();
        let (out, slopes) = run(&e, &wide);
        for (l, draw) in draws.iter().enumerate() {
            let (one, slope) = run(&e, draw);
            let bits = |x: f64| x.to_bits();
            assert!(out.iter().zip(&one).all(|(a, b)| bits(a.lane(l)) == bits(*b)), "{:?}", e.op);
            assert!(slopes.iter().zip(&slope).all(|(a, b)| bits(a.lane(l)) == bits(*b)), "{:?}", e.op);
        }
    }
}
