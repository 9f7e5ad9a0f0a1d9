//! Laws that every elementwise row must obey, wherever the row is listed: its slopes are the derivatives of
//! its value, by forward mode and by finite differences, to second order too, and every scalar type computes
//! the same numbers.
#![allow(dead_code)]

pub mod picks;
pub mod property;

use std::cell::Cell;
use stickler::num::real::{Dual, F16, One, Packed, Real, Zero};
use stickler::ops::operand::{Arg, Index, Lane, Operand};
use stickler::ops::scalar::{MOST_ARGS, ScalarRow, Sink};

fn operands<T: Real>(x: &[T]) -> Vec<Operand<'_, T>> {
    x.iter().map(|v| Operand { arg: Arg::Var(std::slice::from_ref(v)), index: Index::One }).collect()
}

/// The row's value at one point.
pub fn value<T: Lane>(row: &'static ScalarRow, x: &[T]) -> T {
    let mut out = [T::zero()];
    T::scalar(row.kernel).values(&operands(x), &mut out);
    out[0]
}

/// The row's slopes at one point, those in `wanted`; the others mean nothing.
pub fn slopes_in<T: Lane>(row: &'static ScalarRow, x: &[T], wanted: impl Fn(usize) -> bool) -> Vec<T> {
    let need: Vec<bool> = (0..x.len()).map(wanted).collect();
    let mut slopes = [T::zero(); MOST_ARGS];
    T::scalar(row.kernel).slopes(&operands(x), &need, &[value(row, x)], &mut slopes);
    slopes[..x.len()].to_vec()
}

/// The row's slopes at one point, computed together with its value.
fn slopes_with_value<T: Lane>(row: &'static ScalarRow, x: &[T]) -> Vec<T> {
    let (mut out, mut slopes) = ([T::zero()], [T::zero(); MOST_ARGS]);
    T::scalar(row.kernel).both(&operands(x), &vec![true; x.len()], &mut out, &mut slopes);
    slopes[..x.len()].to_vec()
}

/// The row's slopes at one point.
pub fn slopes<T: Lane>(row: &'static ScalarRow, x: &[T]) -> Vec<T> {
    slopes_in(row, x, |_| true)
}

/// The point with a tangent along coordinate k.
fn along(x: &[f64], k: usize) -> Vec<Dual> {
    x.iter().enumerate().map(|(i, &v)| Dual { v, d: f64::from(i == k) }).collect()
}

/// d/dx_k of `f` by central differences with Richardson's extrapolation, whose error is O(h⁴): of three steps
/// h, the one that comes closest to `got`. Long steps suit flat functions and short ones steep ones; no step
/// suits a wrong slope.
fn difference(x: &[f64], k: usize, got: f64, f: impl Fn(&[f64]) -> f64) -> f64 {
    let central = |h: f64| {
        let mut at = x.to_vec();
        at[k] = x[k] + h;
        let (up, high) = (f(&at), at[k]);
        at[k] = x[k] - h;
        (up - f(&at)) / (high - at[k])
    };
    let steps = [1e-3, 1e-4, 1e-5].map(|h| h * unit(x[k]));
    let estimates = steps.map(|h| (4.0 * central(0.5 * h) - central(h)) / 3.0);
    let miss = |estimate: &f64| (estimate - got).abs();
    estimates
        .into_iter()
        .filter(|e| !e.is_nan())
        .min_by(|a, b| miss(a).total_cmp(&miss(b)))
        .unwrap_or(f64::NAN)
}

/// The length over which coordinate k is changed by 100 %.
fn unit(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x.abs() }
}

/// The rounding error that is due to the inputs being rounded: |y| and every |slope · coordinate|.
fn conditioning(x: &[f64], y: f64, slopes: &[f64]) -> f64 {
    y.abs() + x.iter().zip(slopes).map(|(x, s)| (x * s).abs()).sum::<f64>()
}

/// Checks one row at one point, in every argument but those in `skip`, which are data; `what` names it in
/// messages.
pub fn check_row(row: &'static ScalarRow, x: &[f64], skip: &[usize], what: &str) {
    assert_eq!(x.len(), row.args.len(), "{what}: a probe of {} has the wrong length", row.name);
    let y = value(row, x);
    let mut s = slopes(row, x);
    skip.iter().for_each(|&k| s[k] = 0.0);
    let sound = !y.is_nan() && s.iter().all(|s| s.is_finite());
    assert!(sound, "{what}: {} at {x:?} gives {y}, {s:?}", row.name);
    if y.is_infinite() {
        return;
    }
    let free: Vec<usize> = (0..x.len()).filter(|k| !skip.contains(k)).collect();
    check_first_order(row, x, y, &s, &free, what);
    check_second_order(row, x, y, &s, &free, what);
    check_lanes(row, x, what);
    check_factors(row, x, what);
}

/// Slopes against forward mode (to 1e-10) and against finite differences (to 1e-7), relative, beside
/// rounding.
fn check_first_order(row: &'static ScalarRow, x: &[f64], y: f64, s: &[f64], free: &[usize], what: &str) {
    let rounding = conditioning(x, y, s);
    for &k in free {
        let arg = row.args[k];
        let forward = value(row, &along(x, k));
        let reach = unit(x[k]);
        assert!(
            (forward.d - s[k]).abs() <= 1e-10 * s[k].abs() + 1e-13 * rounding / reach,
            "{what}: {} at {x:?}: slope in {arg} is {}, forward mode gives {}",
            row.name,
            s[k],
            forward.d
        );
        let numeric = difference(x, k, s[k], |x| value(row, x));
        assert!(
            (numeric - s[k]).abs() <= 1e-7 * s[k].abs() + 1e-11 * rounding / reach,
            "{what}: {} at {x:?}: slope in {arg} is {}, finite differences give {numeric}",
            row.name,
            s[k]
        );
        let alone = slopes_in(row, x, |j| j == k)[k];
        assert_eq!(alone, s[k], "{what}: {} at {x:?}: slope in {arg} when no other is needed", row.name);
    }
}

/// Tangents of slopes against finite differences of slopes (to 1e-6), and the symmetry of the second
/// derivative.
fn check_second_order(row: &'static ScalarRow, x: &[f64], y: f64, s: &[f64], free: &[usize], what: &str) {
    let n = x.len();
    let hessian: Vec<Vec<f64>> =
        (0..n).map(|k| slopes(row, &along(x, k)).iter().map(|d| d.d).collect()).collect();
    let rounding = conditioning(x, y, s);
    for &k in free {
        for &j in free {
            let (got, area) = (hessian[k][j], unit(x[k]) * unit(x[j]));
            let own = rounding / area
                + conditioning(x, s[j], &hessian.iter().map(|h| h[j]).collect::<Vec<_>>()) / unit(x[k]);
            let numeric = difference(x, k, got, |x| slopes(row, x)[j]);
            assert!(
                (numeric - got).abs() <= 1e-6 * got.abs() + 1e-10 * own,
                "{what}: {} at {x:?}: second derivative in ({}, {}) is {got}, finite differences give {numeric}",
                row.name,
                row.args[k],
                row.args[j]
            );
            assert!(
                (got - hessian[j][k]).abs() <= 1e-9 * got.abs() + 1e-12 * own,
                "{what}: {} at {x:?}: second derivatives {got} and {} in ({}, {}) differ",
                row.name,
                hessian[j][k],
                row.args[k],
                row.args[j]
            );
        }
    }
}

/// Where a row has a factor, from ½ to 4, its logarithm and the plain part are the value to rounding; and
/// sums by the product of factors are those of values and slopes.
fn check_factors(row: &'static ScalarRow, x: &[f64], what: &str) {
    let all: Vec<F16> = x.iter().map(|x| F16::splat(*x)).collect();
    let (mut plain, mut factor) = ([F16::zero()], [F16::zero()]);
    let kernel = F16::scalar(row.kernel);
    let Some(times) = row.kernel.factored else { return };
    kernel.factored(&operands(&all), &mut plain, &mut factor);
    let (y, f, expected) = (value(row, x), factor[0].lane(0), slopes(row, x));
    let got = plain[0].lane(0) - times * f.ln();
    assert!((0.5..=4.0).contains(&f), "{what}: {} at {x:?}: the factor is {f}", row.name);
    assert!((got - y).abs() <= 1e-15 * y.abs().max(1.0), "{what}: {} at {x:?}: {got} against {y}", row.name);
    // Three elements, twice: slopes of every other argument one by one, those of the rest as a sum; and the
    // other way round.
    for turn in 0..2 {
        let each = vec![[const { Cell::new(F16([f64::NAN; 16])) }; 3]; x.len()];
        let sums = vec![Cell::new(F16::one()); x.len()];
        let alone = |k: usize| k % 2 == turn;
        let sink = |k: usize| if alone(k) { Sink::Each(&each[k]) } else { Sink::Sum(&sums[k]) };
        let sinks: Vec<Sink<F16>> = (0..x.len()).map(sink).collect();
        let sum = kernel.summed(&operands(&all), &sinks, 3, 2.0).expect("what has factors has sums");
        let same = |got: f64, expected: f64, most: f64, of: &str| {
            assert!((got - expected).abs() <= most, "{what}: {} at {x:?}: {of} with factors", row.name);
        };
        same(sum.lane(15), 6.0 * y, 1e-14 * y.abs().max(1.0), "the sum");
        for (k, &slope) in expected.iter().enumerate() {
            match alone(k) {
                true => {
                    each[k].iter().for_each(|s| same(s.get().lane(15), slope, 1e-15 * slope.abs(), "slopes"))
                }
                false => {
                    let got = sums[k].get().lane(15);
                    same(got, 1.0 + 6.0 * slope, 1e-14 * slope.abs().max(1.0), "sums of slopes");
                }
            }
        }
    }
}

/// Sixteen lanes give, bit for bit, what one number gives; with tangents too.
fn check_lanes(row: &'static ScalarRow, x: &[f64], what: &str) {
    let lane = |i: usize| x.iter().map(|v| v * (1.0 + 1e-9 * i as f64)).collect::<Vec<_>>();
    let all: Vec<F16> = (0..x.len()).map(|k| F16(std::array::from_fn(|i| lane(i)[k]))).collect();
    let (y, s, together) = (value(row, &all), slopes(row, &all), slopes_with_value(row, &all));
    for i in 0..F16::WIDTH {
        let (one, each) = (value(row, &lane(i)), slopes(row, &lane(i)));
        let duals: Vec<Dual> = lane(i).iter().map(|&v| Dual { v, d: 1.0 }).collect();
        let (yd, sd) = (value(row, &duals), slopes(row, &duals));
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a == 0.0 && b == 0.0);
        assert!(
            same(y.lane(i), one) && same(yd.v, one),
            "{what}: {} at {x:?}: lanes differ in the value",
            row.name
        );
        for k in 0..x.len() {
            assert!(
                same(s[k].lane(i), each[k]) && same(sd[k].v, each[k]) && same(together[k].lane(i), each[k]),
                "{what}: {} at {x:?}: lanes differ in the slope in {}",
                row.name,
                row.args[k]
            );
        }
    }
}
