//! Integrals and roots for the few tail probabilities and quantiles without a formula.

use crate::num::special::gauss_legendre;

/// ∫ f over [a, b] with 20 Gauss–Legendre points on each of `panels` equal pieces.
pub(super) fn integrate(a: f64, b: f64, panels: usize, f: impl Fn(f64) -> f64) -> f64 {
    let width = (b - a) / panels as f64;
    (0..panels).map(|i| gauss_legendre(a + width * i as f64, a + width * (i + 1) as f64, &f)).sum()
}

/// The derivative at x > 0 of a function that is smooth on the scale of x: central differences, extrapolated.
pub(super) fn slope(x: f64, f: impl Fn(f64) -> f64) -> f64 {
    let central = |h: f64| (f(x + h) - f(x - h)) / ((x + h) - (x - h));
    let h = 1e-3 * x;
    (4.0 * central(0.5 * h) - central(h)) / 3.0
}

/// The x in (low, high), finite or not, at which an increasing function crosses zero. `start` lies inside and
/// `step` is about the width of the region where the answer is expected.
///
/// Brackets by doubling steps, then bisects with secant steps where they help (Illinois); to the last few
/// bits.
pub(super) fn root(low: f64, high: f64, start: f64, step: f64, f: impl Fn(f64) -> f64) -> f64 {
    let first = f(start);
    if first == 0.0 || first.is_nan() {
        return if first == 0.0 { start } else { f64::NAN };
    }
    let (mut a, mut fa, mut b, mut fb) = (start, first, start, first);
    let mut width = step;
    for _ in 0..2000 {
        if first < 0.0 {
            (a, fa) = (b, fb);
            b = if b + width < high { b + width } else { 0.5 * (b + high) };
            fb = f(b);
        } else {
            (b, fb) = (a, fa);
            a = if a - width > low { a - width } else { 0.5 * (a + low) };
            fa = f(a);
        }
        if fa <= 0.0 && fb >= 0.0 || a == b {
            break;
        }
        width *= 2.0;
    }
    refine(a, fa, b, fb, f)
}

/// Shrinks a bracket f(a) ≤ 0 ≤ f(b) to the last few bits.
fn refine(mut a: f64, mut fa: f64, mut b: f64, mut fb: f64, f: impl Fn(f64) -> f64) -> f64 {
    for i in 0..400 {
        if (b - a) <= 4.0 * f64::EPSILON * a.abs().max(b.abs()) || fa == 0.0 || fb == 0.0 {
            break;
        }
        let secant = (a * fb - b * fa) / (fb - fa);
        // Every third step halves the bracket, so that it shrinks whatever the function's shape.
        let x = if i % 3 == 2 || !(secant > a && secant < b) { 0.5 * (a + b) } else { secant };
        if x <= a || x >= b {
            break;
        }
        let fx = f(x);
        if fx <= 0.0 {
            (a, fa) = (x, fx);
            fb *= 0.5;
        } else {
            (b, fb) = (x, fx);
            fa *= 0.5;
        }
    }
    if fa == 0.0 {
        a
    } else if fb == 0.0 {
        b
    } else {
        0.5 * (a + b)
    }
}
