//! log Γ and its derivatives.

use std::f64::consts::PI;

/// log |Γ(x)|, to 3e-16 relative (absolute near the zeros between the negative integers); +∞ at the poles 0,
/// -1, -2, …
#[inline]
pub fn lgamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// (-1)^k (ζ(k) - 1) / k for k = 2, 3, …: the series of log Γ(2 + x) about 0, from its quadratic term.
const ZETA: [f64; 28] = [
    0.3224670334241132,
    -0.0673523010531981,
    0.020580808427784546,
    -0.007385551028673986,
    0.0028905103307415234,
    -0.001192753911703261,
    0.0005096695247430425,
    -0.00022315475845357939,
    9.945751278180853e-05,
    -4.492623673813314e-05,
    2.050721277567069e-05,
    -9.439488275268397e-06,
    4.374866789907488e-06,
    -2.039215753801366e-06,
    9.55141213040742e-07,
    -4.492469198764566e-07,
    2.1207184805554665e-07,
    -1.0043224823968099e-07,
    4.7698101693639804e-08,
    -2.2711094608943164e-08,
    1.0838659214896955e-08,
    -5.183475041970047e-09,
    2.4836745438024785e-09,
    -1.1921401405860912e-09,
    5.731367241678862e-10,
    -2.7595228851242334e-10,
    1.330476437424449e-10,
    -6.4229645638381e-11,
];

/// log Γ(1 + x) for x > -1, to 5e-16 relative near x = 0, where `lgamma(1.0 + x)` has lost the small x.
///
/// For |x| ≤ ½: log Γ(1 + x) = -log(1 + x) + (1 - γ) x + Σ_{k ≥ 2} (-1)^k (ζ(k) - 1) x^k / k.
pub fn lgamma1p(x: f64) -> f64 {
    const ONE_MINUS_EULER: f64 = 0.422_784_335_098_467_1;
    if x.abs() > 0.5 {
        return if x < -1.0 { f64::NAN } else { lgamma(1.0 + x) };
    }
    let tail = ZETA.iter().rev().fold(0.0, |sum, c| sum * x + c);
    x * (ONE_MINUS_EULER + x * tail) - libm::log1p(x)
}

/// log Γ(x) - [(x - ½) log x - x + ½ log 2π] for x ≥ 10, to 1e-17 absolute: the rest of Stirling's formula,
/// Σ B_{2k} / (2k (2k - 1) x^{2k-1}).
pub(crate) fn stirling_rest(x: f64) -> f64 {
    const C: [f64; 8] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360360.0,
        1.0 / 156.0,
        -3617.0 / 122400.0,
    ];
    let r = 1.0 / (x * x);
    C.iter().rev().fold(0.0, |sum, c| sum * r + c) / x
}

/// log Γ(x + h) - log Γ(x) for x > 0 and h ≥ 0, to a few ulp of h (1 + |log x|) where h is small.
pub(super) fn lgamma_step(x: f64, h: f64) -> f64 {
    // Raised by the recurrence to where Stirling's formula holds, then the difference of its parts.
    let (mut x, mut below) = (x, 0.0);
    while x < 10.0 {
        below += (h / x).ln_1p();
        x += 1.0;
    }
    let sum = x + h;
    (x - 0.5) * (h / x).ln_1p() + h * sum.ln() - h + (stirling_rest(sum) - stirling_rest(x)) - below
}

/// ψ(x + h) - ψ(x) for x > 0 and h ≥ 0, to a few ulp: every part is positive.
pub(super) fn digamma_step(x: f64, h: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < 10.0 {
        below += h / (x * (x + h));
        x += 1.0;
    }
    let sum = x + h;
    below + (h / x).ln_1p() + 0.5 * h / (x * sum) + (digamma_rest(x) - digamma_rest(sum))
}

/// log x - 1/(2x) - ψ(x) for x ≥ 10: Σ B_{2k} / (2k x^{2k}).
pub(super) fn digamma_rest(x: f64) -> f64 {
    const C: [f64; 8] = [
        1.0 / 12.0,
        -1.0 / 120.0,
        1.0 / 252.0,
        -1.0 / 240.0,
        1.0 / 132.0,
        -691.0 / 32760.0,
        1.0 / 12.0,
        -3617.0 / 8160.0,
    ];
    let r = 1.0 / (x * x);
    r * C.iter().rev().fold(0.0, |sum, c| sum * r + c)
}

/// The positive zero of ψ, in two pieces.
const ROOT: (f64, f64) = (1.461_632_144_968_362_2, 9.549_995_429_965_697e-17);

/// ψ(x) / (x - ROOT) on [1, 2] as a polynomial in x - 3/2: minimax, error below 9e-17.
const NEAR_ROOT: [f64; 21] = [
    0.951055876031833,
    -0.4236274212814572,
    0.2405424842407624,
    -0.1484049230548796,
    0.09498872445649834,
    -0.06192213318920969,
    0.040760833732691584,
    -0.026975800077923214,
    0.017907254512517817,
    -0.011908145668348333,
    0.007926913687120672,
    -0.0052809116959647495,
    0.003519287862201631,
    -0.0023374994262287834,
    0.0015550480754376822,
    -0.0010778814166013252,
    0.0007287113440872978,
    -0.0003543727789824145,
    0.00021709679725953257,
    -0.0003787203749593093,
    0.00026779425968948006,
];

/// (sin πt, cos πt) for t = x reduced by the nearest integer, or None where x is an integer (a pole) or not
/// finite.
fn reflected(x: f64) -> Option<(f64, f64)> {
    let t = x - x.round();
    if t == 0.0 || !t.is_finite() {
        return None;
    }
    let odd = x.round() % 2.0 != 0.0;
    let (sin, cos) = (PI * t).sin_cos();
    Some(if odd { (-sin, -cos) } else { (sin, cos) })
}

/// ψ(x) = d/dx log Γ(x), to 5e-16 relative for x > 0, also near its zero; NaN at 0, -1, -2, …
///
/// Recurrence down to [1, 2] and a polynomial there; the asymptotic series from 10 on; reflection below 0.
pub fn digamma(x: f64) -> f64 {
    if x <= 0.0 {
        return reflected(x).map_or(f64::NAN, |(sin, cos)| digamma(1.0 - x) - PI * cos / sin);
    }
    if x >= 10.0 {
        return x.ln() - 0.5 / x - digamma_rest(x);
    }
    if x < 1.0 {
        return digamma(1.0 + x) - 1.0 / x;
    }
    let (mut x, mut sum) = (x, 0.0);
    while x > 2.0 {
        x -= 1.0;
        sum += 1.0 / x;
    }
    let t = x - 1.5;
    sum + ((x - ROOT.0) - ROOT.1) * NEAR_ROOT.iter().rev().fold(0.0, |s, c| s * t + c)
}

/// ψ′(x), to 5e-16 relative for x > 0; NaN at 0, -1, -2, …
pub fn trigamma(x: f64) -> f64 {
    const C: [f64; 9] = [
        1.0 / 6.0,
        -1.0 / 30.0,
        1.0 / 42.0,
        -1.0 / 30.0,
        5.0 / 66.0,
        -691.0 / 2730.0,
        7.0 / 6.0,
        -3617.0 / 510.0,
        43867.0 / 798.0,
    ];
    if x <= 0.0 {
        return reflected(x).map_or(f64::NAN, |(sin, _)| (PI / sin).powi(2) - trigamma(1.0 - x));
    }
    let (x, sum) = raise(x, |x| 1.0 / (x * x));
    let r = 1.0 / (x * x);
    let series = C.iter().rev().fold(0.0, |sum, c| sum * r + c);
    sum + (1.0 + 0.5 / x + r * series) / x
}

/// ψ″(x), to 1e-15 relative for x > 0; NaN at 0, -1, -2, …
pub fn tetragamma(x: f64) -> f64 {
    const C: [f64; 9] = [
        1.0 / 2.0,
        -1.0 / 6.0,
        1.0 / 6.0,
        -3.0 / 10.0,
        5.0 / 6.0,
        -691.0 / 210.0,
        35.0 / 2.0,
        -3617.0 / 30.0,
        43867.0 / 42.0,
    ];
    if x <= 0.0 {
        return reflected(x)
            .map_or(f64::NAN, |(sin, cos)| tetragamma(1.0 - x) - 2.0 * cos * (PI / sin).powi(3));
    }
    let (x, sum) = raise(x, |x| 2.0 / (x * x * x));
    let r = 1.0 / (x * x);
    let series = C.iter().rev().fold(0.0, |sum, c| sum * r + c);
    -sum - r * (1.0 + 1.0 / x + r * series)
}

/// ψ‴(x), to 1e-15 relative for x > 0; NaN at 0, -1, -2, …
pub fn pentagamma(x: f64) -> f64 {
    const C: [f64; 9] =
        [2.0, -1.0, 4.0 / 3.0, -3.0, 10.0, -691.0 / 15.0, 280.0, -10851.0 / 5.0, 438670.0 / 21.0];
    if x <= 0.0 {
        return reflected(x).map_or(f64::NAN, |(sin, cos)| {
            (4.0 * cos * cos + 2.0) * (PI / sin).powi(4) - pentagamma(1.0 - x)
        });
    }
    let (x, sum) = raise(x, |x| 6.0 / (x * x * x * x));
    let r = 1.0 / (x * x);
    let series = C.iter().rev().fold(0.0, |sum, c| sum * r + c);
    sum + r * (2.0 / x + 3.0 * r + r / x * series)
}

/// Raises x > 0 by whole steps until the asymptotic series hold, and sums `term` over the points left behind.
fn raise(mut x: f64, term: impl Fn(f64) -> f64) -> (f64, f64) {
    let mut sum = 0.0;
    while x < 12.0 {
        sum += term(x);
        x += 1.0;
    }
    (x, sum)
}

/// log Γ_p(a) = p (p - 1) / 4 · log π + Σ_{j=1..p} log Γ(a + (1 - j) / 2), the multivariate gamma function,
/// for a > (p - 1) / 2.
pub fn lmultigamma(p: usize, a: f64) -> f64 {
    let n = p as f64;
    if a <= 0.5 * (n - 1.0) {
        return f64::NAN;
    }
    let sum: f64 = (0..p).map(|j| lgamma(a - 0.5 * j as f64)).sum();
    0.25 * n * (n - 1.0) * PI.ln() + sum
}
