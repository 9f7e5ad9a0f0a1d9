//! Covariance functions of Gaussian processes, as matrices over points.

use crate::graph::{BuildError, Builder, NodeId};
use crate::num::real::Real;
use crate::ops::scalar::{self, ScalarRow, scalar_row};
use std::f64::consts::PI;

/// A covariance function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covariance {
    /// alpha² exp(-d² / (2 rho²)); arguments alpha, rho.
    ExpQuad,
    /// alpha² (1 + s) exp(-s), s = √3 d / rho; arguments alpha, rho.
    Matern32,
    /// alpha² (1 + s + s²/3) exp(-s), s = √5 d / rho; arguments alpha, rho.
    Matern52,
    /// alpha² exp(-d / rho); arguments alpha, rho.
    Exponential,
    /// alpha² exp(-2 sin²(π d / period) / rho²); arguments alpha, rho, period.
    Periodic,
    /// alpha² + x · x'; argument alpha.
    Linear,
}

scalar_row! {
    EXP_QUAD = "gp_exp_quad"(d2, alpha, rho), "alpha^2 * exp(-d2 / (2 * rho^2)) for a squared distance d2";
    value alpha.square() * (d2 / rho.square()).scale(-0.5).exp();
    slopes(y) {
        let r = rho.recip();
        [-(y * r.square()).scale(0.5), in_alpha(y, alpha), y * d2 * r.square() * r]
    };
    probes [&[0.7, 1.3, 0.6], &[30.0, 0.2, 2.0], &[0.0, 1.0, 1.0]]
}
scalar_row! {
    MATERN32 = "gp_matern32"(d, alpha, rho), "alpha^2 * (1 + s) * exp(-s) with s = sqrt(3) * d / rho";
    value { let s = (d / rho).scale(SQRT_3); alpha.square() * s.shift(1.0) * (-s).exp() };
    slopes(y) {
        let s = (d / rho).scale(SQRT_3);
        let fall = y * s / s.shift(1.0) / rho;
        [-fall.scale(SQRT_3), in_alpha(y, alpha), fall * s]
    };
    probes [&[0.7, 1.3, 0.6], &[9.0, 0.2, 2.0], &[0.0, 1.0, 1.0]]
}
scalar_row! {
    MATERN52 = "gp_matern52"(d, alpha, rho), "alpha^2 * (1 + s + s^2 / 3) * exp(-s) with s = sqrt(5) * d / rho";
    value {
        let s = (d / rho).scale(SQRT_5);
        alpha.square() * (s.shift(1.0) + s.square().scale(1.0 / 3.0)) * (-s).exp()
    };
    slopes(y) {
        let s = (d / rho).scale(SQRT_5);
        let rise = s.shift(1.0);
        let fall = y * s * rise / (rise.scale(3.0) + s.square()) / rho;
        [-fall.scale(SQRT_5), in_alpha(y, alpha), fall * s]
    };
    probes [&[0.7, 1.3, 0.6], &[9.0, 0.2, 2.0], &[0.0, 1.0, 1.0]]
}
scalar_row! {
    EXPONENTIAL = "gp_exponential"(d, alpha, rho), "alpha^2 * exp(-d / rho)";
    value alpha.square() * (-(d / rho)).exp();
    slopes(y) { let r = rho.recip(); [-(y * r), in_alpha(y, alpha), y * d * r.square()] };
    probes [&[0.7, 1.3, 0.6], &[9.0, 0.2, 2.0], &[0.0, 1.0, 1.0]]
}
scalar_row! {
    PERIODIC = "gp_periodic"(d, alpha, rho, period), "alpha^2 * exp(-2 * sin(pi() * d / period)^2 / rho^2)";
    value alpha.square() * ((d / period).scale(PI).sin() / rho).square().scale(-2.0).exp();
    slopes(y) {
        let u = (d / period).scale(PI);
        let wave = (y * u.scale(2.0).sin() / rho.square()).scale(2.0) / period;
        let depth = (u.sin() / rho).square().scale(4.0);
        [-wave.scale(PI), in_alpha(y, alpha), y * depth / rho, wave * u]
    };
    probes [&[0.7, 1.3, 0.6, 2.0], &[9.0, 0.2, 2.0, 7.0], &[0.0, 1.0, 1.0, 1.0]]
}
scalar_row! {
    /// A distance has no slope where the points meet; zero stands for it, the middle of all slopes there.
    DISTANCE = "distance"(d2), "square root of a squared distance, with slope 0 at 0";
    value d2.lift1(f64::sqrt, |x| if x == 0.0 { 0.0 } else { 0.5 / x.sqrt() });
    slopes(y) [y.if_equal(T::zero(), T::zero(), y.recip().scale(0.5))];
    probes [&[0.7], &[9.0]]
}

const SQRT_3: f64 = 1.732_050_807_568_877_2;
const SQRT_5: f64 = 2.236_067_977_499_79;

/// ∂(alpha² c)/∂alpha, from the value.
#[inline(always)]
fn in_alpha<T: Real>(y: T, alpha: T) -> T {
    alpha.if_equal(T::zero(), T::zero(), y.scale(2.0) / alpha)
}

impl Covariance {
    /// The stationary ones as functions of a distance; of its square, if the second is true.
    fn of_distance(self) -> Option<(&'static ScalarRow, bool)> {
        match self {
            Covariance::ExpQuad => Some((&EXP_QUAD, true)),
            Covariance::Matern32 => Some((&MATERN32, false)),
            Covariance::Matern52 => Some((&MATERN52, false)),
            Covariance::Exponential => Some((&EXPONENTIAL, false)),
            Covariance::Periodic => Some((&PERIODIC, false)),
            Covariance::Linear => None,
        }
    }
}

/// The covariance matrix [N, N] of points `x`, [N] or [N, D], with `jitter` added to its diagonal. `args` are
/// those of the covariance function; rho may be a vector [D], one length for each coordinate.
pub(crate) fn covariance(
    b: &mut Builder,
    form: Covariance,
    x: NodeId,
    args: &[NodeId],
    jitter: Option<NodeId>,
) -> Result<NodeId, BuildError> {
    numbers(b, args.first().into_iter().chain(args.get(2)).chain(jitter.as_ref()))?;
    let Some((row, squared)) = form.of_distance() else {
        let matrix = linear(b, x, x, args[0])?;
        return match jitter {
            Some(jitter) => add_diag(b, matrix, jitter),
            None => Ok(matrix),
        };
    };
    let (x, args) = scaled(b, x, args)?;
    let n = b.dims(x)[0];
    // Each pair once, then the one number on the diagonal.
    let pairs: Vec<(usize, usize)> = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
    let d = distances(b, x, x, &pairs, squared)?;
    let below = b.map(row, &[&[d], &args[..]].concat())?;
    let below = b.broadcast_to(below, &[pairs.len()]);
    let mut diagonal = b.unary(&scalar::SQUARE, args[0]);
    if let Some(jitter) = jitter {
        diagonal = b.add2(diagonal, jitter)?;
    }
    let parts = b.concat(&[below, diagonal], vec![pairs.len() + 1]);
    let place = |i: usize, j: usize| match (i.max(j), i.min(j)) {
        (i, j) if i == j => pairs.len(),
        (i, j) => i * (i - 1) / 2 + j,
    };
    let table = (0..n * n).map(|p| place(p / n, p % n) as u32).collect();
    Ok(b.take(parts, table, vec![n, n]))
}

/// The covariances [N, M] between points `x` and points `other`.
pub(crate) fn cross_covariance(
    b: &mut Builder,
    form: Covariance,
    x: NodeId,
    other: NodeId,
    args: &[NodeId],
) -> Result<NodeId, BuildError> {
    numbers(b, args.first().into_iter().chain(args.get(2)))?;
    let Some((row, squared)) = form.of_distance() else { return linear(b, x, other, args[0]) };
    let ((x, _), (other, args)) = (scaled(b, x, args)?, scaled(b, other, args)?);
    let (n, m) = (b.dims(x)[0], b.dims(other)[0]);
    let pairs: Vec<(usize, usize)> = (0..n).flat_map(|i| (0..m).map(move |j| (i, j))).collect();
    let d = distances(b, x, other, &pairs, squared)?;
    let flat = b.map(row, &[&[d], &args[..]].concat())?;
    Ok(b.reshape(flat, vec![n, m]))
}

/// The matrix with `jitter`, a number or one for each row, added to its diagonal.
pub(crate) fn add_diag(b: &mut Builder, matrix: NodeId, jitter: NodeId) -> Result<NodeId, BuildError> {
    let n = b.dims(matrix).first().copied().unwrap_or(1);
    let eye = identity(b, n);
    let diagonal = b.mul(eye, jitter)?;
    b.add2(matrix, diagonal)
}

/// The identity matrix.
pub(crate) fn identity(b: &mut Builder, n: usize) -> NodeId {
    let values: Vec<f64> = (0..n * n).map(|p| if p / n == p % n { 1.0 } else { 0.0 }).collect();
    b.constant(values, vec![n, n])
}

/// Refuses arrays where single numbers are needed.
fn numbers<'a>(b: &Builder, args: impl Iterator<Item = &'a NodeId>) -> Result<(), BuildError> {
    for &arg in args {
        if !b.dims(arg).is_empty() {
            return Err(BuildError(
                "the scale, period and jitter of a covariance must be single numbers".into(),
            ));
        }
    }
    Ok(())
}

/// Points and arguments with lengths for each coordinate, if there are such, divided out.
fn scaled(b: &mut Builder, x: NodeId, args: &[NodeId]) -> Result<(NodeId, Vec<NodeId>), BuildError> {
    let mut args = args.to_vec();
    if !matches!(b.dims(x).len(), 1 | 2) {
        return Err(BuildError("the points of a covariance must be a vector [N] or a matrix [N, D]".into()));
    }
    let Some(&rho) = args.get(1).filter(|&&rho| !b.dims(rho).is_empty()) else { return Ok((x, args)) };
    if b.dims(rho) != &b.dims(x)[1..] {
        return Err(BuildError(
            "one length for each coordinate is needed, as many as the points have".into(),
        ));
    }
    args[1] = b.number(1.0);
    Ok((b.div(x, rho)?, args))
}

/// Distances, or their squares, of listed pairs of points.
fn distances(
    b: &mut Builder,
    x: NodeId,
    y: NodeId,
    pairs: &[(usize, usize)],
    squared: bool,
) -> Result<NodeId, BuildError> {
    let left = rows(b, x, pairs.iter().map(|p| p.0));
    let right = rows(b, y, pairs.iter().map(|p| p.1));
    let difference = b.sub(left, right)?;
    if b.dims(difference).len() == 1 {
        return Ok(b.unary(if squared { &scalar::SQUARE } else { &scalar::ABS }, difference));
    }
    let squares = b.unary(&scalar::SQUARE, difference);
    let d2 = b.sum(squares, Some(1))?;
    Ok(if squared { d2 } else { b.unary(&DISTANCE, d2) })
}

/// Listed rows of a matrix, or elements of a vector.
fn rows(b: &mut Builder, x: NodeId, which: impl ExactSizeIterator<Item = usize>) -> NodeId {
    let mut dims = b.dims(x).to_vec();
    let width: usize = dims[1..].iter().product();
    dims[0] = which.len();
    let table = which.flat_map(|i| (0..width).map(move |k| (i * width + k) as u32)).collect();
    b.take(x, table, dims)
}

/// alpha² + x · x' for all pairs.
fn linear(b: &mut Builder, x: NodeId, other: NodeId, alpha: NodeId) -> Result<NodeId, BuildError> {
    let column = |b: &mut Builder, x: NodeId| match b.dims(x).to_vec().as_slice() {
        [n] => b.reshape(x, vec![*n, 1]),
        _ => x,
    };
    let (left, right) = (column(b, x), column(b, other));
    let right = b.transpose(right);
    let products = b.matmul(left, right)?;
    let shift = b.unary(&scalar::SQUARE, alpha);
    b.add2(products, shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMS: [Covariance; 6] = [
        Covariance::ExpQuad,
        Covariance::Matern32,
        Covariance::Matern52,
        Covariance::Exponential,
        Covariance::Periodic,
        Covariance::Linear,
    ];

    fn correlation(form: Covariance, x: &[f64], y: &[f64]) -> f64 {
        let d = x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
        let (alpha, rho, period) = (1.3_f64, 0.7, 2.2);
        let a2 = alpha * alpha;
        match form {
            Covariance::ExpQuad => a2 * (-d * d / (2.0 * rho * rho)).exp(),
            Covariance::Matern32 => a2 * (1.0 + SQRT_3 * d / rho) * (-SQRT_3 * d / rho).exp(),
            Covariance::Matern52 => {
                a2 * (1.0 + SQRT_5 * d / rho + 5.0 * d * d / (3.0 * rho * rho)) * (-SQRT_5 * d / rho).exp()
            }
            Covariance::Exponential => a2 * (-d / rho).exp(),
            Covariance::Periodic => a2 * (-2.0 * (PI * d / period).sin().powi(2) / (rho * rho)).exp(),
            Covariance::Linear => a2 + x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>(),
        }
    }

    #[test]
    fn entries_follow_the_formulas() {
        let x = [0.1, 0.4, -0.3, 0.9, 1.2, 0.0, 0.5, -0.8];
        for form in FORMS {
            for width in [1, 2] {
                let n = x.len() / width;
                let mut b = Builder::new();
                let dims = if width == 1 { vec![n] } else { vec![n, width] };
                let points = b.constant(x.to_vec(), dims);
                let args = [1.3, 0.7, 2.2].map(|v| b.number(v));
                let count = match form {
                    Covariance::Linear => 1,
                    Covariance::Periodic => 3,
                    _ => 2,
                };
                let jitter = b.number(0.25);
                let k = covariance(&mut b, form, points, &args[..count], Some(jitter)).unwrap();
                let cross = cross_covariance(&mut b, form, points, points, &args[..count]).unwrap();
                assert_eq!((b.dims(k), b.dims(cross)), (&[n, n][..], &[n, n][..]));
                let (k, cross) = (b.constant_of(k).unwrap(), b.constant_of(cross).unwrap());
                for i in 0..n {
                    for j in 0..n {
                        let row = |i: usize| &x[i * width..(i + 1) * width];
                        let expected = correlation(form, row(i), row(j));
                        let jitter = if i == j { 0.25 } else { 0.0 };
                        assert!((cross[i * n + j] - expected).abs() < 1e-14, "{form:?}");
                        assert!((k[i * n + j] - expected - jitter).abs() < 1e-14, "{form:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn one_length_for_each_coordinate_scales_the_points() {
        let mut b = Builder::new();
        let x = b.constant(vec![0.1, 0.4, -0.3, 0.9, 1.2, 0.0], vec![3, 2]);
        let (alpha, rho) = (b.number(2.0), b.constant(vec![0.5, 4.0], vec![2]));
        let ard = covariance(&mut b, Covariance::ExpQuad, x, &[alpha, rho], None).unwrap();
        let stretched = b.constant(vec![0.2, 0.1, -0.6, 0.225, 2.4, 0.0], vec![3, 2]);
        let one = b.number(1.0);
        let plain = covariance(&mut b, Covariance::ExpQuad, stretched, &[alpha, one], None).unwrap();
        let (ard, plain) = (b.constant_of(ard).unwrap(), b.constant_of(plain).unwrap());
        assert!(ard.iter().zip(plain.iter()).all(|(a, b)| (a - b).abs() < 1e-15));
    }
}
