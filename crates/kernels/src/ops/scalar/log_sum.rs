//! The logarithm of a sum of a few exponentials, one function for each number of them: what a log-sum-exp
//! along a short axis comes to, column by column.

use super::{LOG_ADD_EXP, ScalarRow, scalar_row};
use crate::num::real::Real;

/// log Σ e^x about the largest x; about 0 where all are minus infinity.
#[inline(always)]
fn value<T: Real, const N: usize>(x: [T; N]) -> T {
    let mut top = x[0];
    for k in 1..N {
        top = top.max(x[k]);
    }
    let around = top.if_equal(T::splat(f64::NEG_INFINITY), T::zero(), top);
    let mut sum = (x[0] - around).exp();
    for k in 1..N {
        sum += (x[k] - around).exp();
    }
    around + sum.ln()
}

#[inline(always)]
fn slopes<T: Real, const N: usize>(x: [T; N], y: T) -> [T; N] {
    let mut slopes = x;
    for k in 0..N {
        slopes[k] = (x[k] - y).exp();
    }
    slopes
}

scalar_row! {
    OF_3 = "log_sum_exp.3"(a, b, c), "log(exp(a) + exp(b) + exp(c))";
    value value([a, b, c]);
    slopes(y) slopes([a, b, c], y);
    probes [&[0.5, -1.0, 0.2], &[300.0, 299.0, 301.5], &[-4.0, -400.0, -3.0]]
}
scalar_row! {
    OF_4 = "log_sum_exp.4"(a, b, c, d), "log(exp(a) + exp(b) + exp(c) + exp(d))";
    value value([a, b, c, d]);
    slopes(y) slopes([a, b, c, d], y);
    probes [&[0.5, -1.0, 0.2, 1.1], &[300.0, 299.0, 301.5, 298.0]]
}
scalar_row! {
    OF_5 = "log_sum_exp.5"(a, b, c, d, e), "log(exp(a) + … + exp(e))";
    value value([a, b, c, d, e]);
    slopes(y) slopes([a, b, c, d, e], y);
    probes [&[0.5, -1.0, 0.2, 1.1, -0.4], &[300.0, 299.0, 301.5, 298.0, 300.2]]
}
scalar_row! {
    OF_6 = "log_sum_exp.6"(a, b, c, d, e, f), "log(exp(a) + … + exp(f))";
    value value([a, b, c, d, e, f]);
    slopes(y) slopes([a, b, c, d, e, f], y);
    probes [&[0.5, -1.0, 0.2, 1.1, -0.4, 0.0], &[300.0, 299.0, 301.5, 298.0, 300.2, 301.0]]
}

/// The functions of two numbers and more.
pub static LOG_SUM_EXPS: [&ScalarRow; 5] = [&LOG_ADD_EXP, &OF_3, &OF_4, &OF_5, &OF_6];
