//! The incomplete beta function, regularised: I_x(a, b), the cdf of the beta law, and what follows from it.
//!
//! Each call computes the smaller tail directly, in logs, and the other from it, so both keep their relative
//! accuracy; derivatives in a and b come from the same formulas run on [`Jet`]s.

use super::beta::lbeta;
use super::gamma::{digamma, digamma_step, lgamma_step, lgamma1p, stirling_rest};
use super::incomplete_gamma::log1p_gap;
use super::jet::{Jet, continued_fraction};
use super::root::{Probe, increasing_root};
use std::f64::consts::PI;

/// A point of the beta law: x and 1 - x, each to full accuracy.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub a: f64,
    pub b: f64,
    pub x: f64,
    pub y: f64,
}

impl Point {
    fn new(a: f64, b: f64, x: f64) -> Self {
        Point { a, b, x, y: 1.0 - x }
    }

    /// The same seen from the other end.
    fn mirrored(self) -> Self {
        Point { a: self.b, b: self.a, x: self.y, y: self.x }
    }

    /// (log I_x, log(1 - I_x)) at the edges of the domain, or None inside it.
    fn edges(self) -> Option<(f64, f64)> {
        let Point { a, b, x, y } = self;
        let (none, all) = ((f64::NEG_INFINITY, 0.0), (0.0, f64::NEG_INFINITY));
        let inside = a >= 0.0 && b >= 0.0 && x >= 0.0 && y >= 0.0;
        if !inside || (a == 0.0 && b == 0.0) || (a.is_infinite() && b.is_infinite()) {
            Some((f64::NAN, f64::NAN))
        } else if x == 0.0 || b == 0.0 || a.is_infinite() {
            Some(if y == 0.0 { all } else { none })
        } else if y == 0.0 || a == 0.0 || b.is_infinite() {
            Some(all)
        } else {
            None
        }
    }
}

/// log [x^a y^b / B(a, b)], with derivatives in a (number 0) and b (number 1).
fn log_power<const N: usize>(p: Point) -> Jet<N> {
    let Point { a, b, x, y } = p;
    let sum = a + b;
    let (log_x, log_y) = (log_of(x, y), log_of(y, x));
    let value = if a.min(b) < 10.0 {
        a * log_x + b * log_y - lbeta(a, b)
    } else {
        // Around the mean a / (a + b): the large parts cancel by construction.
        let shift = a * y - b * x;
        -a * log1p_gap(-shift / a, sum * x / a) - b * log1p_gap(shift / b, sum * y / b)
            + 0.5 * (a / sum * b / (2.0 * PI)).ln()
            + (stirling_rest(sum) - stirling_rest(a) - stirling_rest(b))
    };
    let mut jet = Jet::new(value);
    if N == 2 {
        jet.d[0] = log_x + digamma_step(a, b);
        jet.d[1] = log_y + digamma_step(b, a);
    }
    jet
}

/// log x, where y = 1 - x is known.
fn log_of(x: f64, y: f64) -> f64 {
    if x > 0.5 { (-y).ln_1p() } else { x.ln() }
}

/// I_x / [x^a y^b / B(a, b)] by the even part of its continued fraction, for x below about the mean.
fn fraction<const N: usize>(p: Point, swapped: bool) -> Jet<N> {
    let (a, b) = parameters::<N>(p, swapped);
    let x = p.x;
    let sum = a + b;
    // a - (a + b) x, without cancellation.
    let lead = a.scale(p.y) - b.scale(x);
    continued_fraction(|m| {
        let odd = a.shift(2.0 * m - 1.0);
        let numerator = a.shift(m - 1.0) * sum.shift(m - 1.0) * (-b).shift(m).scale(-m * x * x);
        let first = b.shift(-m).scale(m * x) / odd;
        let second = a.shift(m) * lead.shift(1.0 + m * (1.0 + p.y)) / a.shift(2.0 * m + 1.0);
        let a_m = if m == 0.0 { Jet::new(0.0) } else { numerator / (odd * odd) };
        let first = if m == 0.0 { Jet::new(0.0) } else { first };
        (a_m, first.shift(m) + second)
    })
}

/// The two parameters as seen by a formula that is applied to the mirrored point.
fn parameters<const N: usize>(p: Point, swapped: bool) -> (Jet<N>, Jet<N>) {
    let (first, second) = if swapped { (1, 0) } else { (0, 1) };
    (Jet::parameter(p.a, first), Jet::parameter(p.b, second))
}

/// Σ_{n ≥ 1} (1-b)(2-b)…(n-b) / (n! (a + n)) x^n, for small b x.
fn power_sum<const N: usize>(p: Point, swapped: bool) -> Jet<N> {
    let (a, b) = parameters::<N>(p, swapped);
    let mut product = Jet::new(1.0);
    let mut sum = Jet::new(0.0);
    for n in 1..100_000 {
        let n = f64::from(n);
        product = product * (-b).shift(n).scale(p.x / n);
        let term = product / a.shift(n);
        sum = sum + term;
        if term.negligible(sum, 1e-17) {
            break;
        }
    }
    sum
}

/// I_x / [x^a y^b / B(a, b)] = y^-b (1/a + Σ …), with the sum of [`power_sum`].
fn power_series<const N: usize>(p: Point, swapped: bool) -> Jet<N> {
    let (a, b) = parameters::<N>(p, swapped);
    let log_y = log_of(p.y, p.x);
    (Jet::new(1.0) / a + power_sum(p, swapped)) * b.scale(-log_y).exp()
}

/// 1 - I_x for small a, where I_x is near 1: I_x = x^a / (a B(a, b)) · (1 + a Σ …), with the sum of
/// [`power_sum`].
fn small_upper<const N: usize>(p: Point, swapped: bool) -> Jet<N> {
    let (a, b) = parameters::<N>(p, swapped);
    // log[x^a / (a B)] = a log x - log Γ(1 + a) + [log Γ(a + b) - log Γ(b)], of the order of a.
    let mut log = Jet::<N>::new(p.a * p.x.ln() - lgamma1p(p.a) + lgamma_step(p.b, p.a));
    if N == 2 {
        let in_a = p.x.ln() - digamma(1.0 + p.a) + digamma(p.a + p.b);
        let in_b = digamma_step(p.b, p.a);
        log.d = std::array::from_fn(|k| in_a * a.d[k] + in_b * b.d[k]);
    }
    let gap = log.lift(-log.v.exp_m1(), -log.v.exp());
    gap - log.exp() * a * power_sum(p, swapped)
}

/// Whether the power series converges fast and without cancellation.
fn by_series(p: Point) -> bool {
    p.x <= 0.7 && p.b * p.x <= 1.0
}

/// The log of the lower tail, for a point below about the mean; `swapped` says that a and b have been
/// exchanged.
fn log_lower<const N: usize>(p: Point, swapped: bool) -> Jet<N> {
    let mut power = log_power::<N>(p);
    if swapped && N == 2 {
        power.d.swap(0, 1);
    }
    let rest = if by_series(p) { power_series(p, swapped) } else { fraction(p, swapped) };
    power + rest.ln()
}

/// (log I_x, log(1 - I_x)) with derivatives in a and b, inside the domain.
pub(super) fn log_tails<const N: usize>(p: Point) -> (Jet<N>, Jet<N>) {
    // Below (a + 1) / (a + b + 2) the lower tail is computed, above it the upper.
    let swapped = p.x * (p.b + 1.0) > (p.a + 1.0) * p.y;
    let seen = if swapped { p.mirrored() } else { p };
    let (near, far) = if seen.a < 1.0 && by_series(seen) && -seen.a * seen.x.ln() < 0.7 {
        let log = small_upper(seen, swapped).ln();
        (log.log1m_exp(), log)
    } else {
        let log = log_lower(seen, swapped);
        (log, log.log1m_exp())
    };
    if swapped { (far, near) } else { (near, far) }
}

/// I_x and 1 - I_x from the logs, each from the smaller of the two.
fn from_logs((lower, upper): (f64, f64)) -> (f64, f64) {
    if lower < upper { (lower.exp(), -lower.exp_m1()) } else { (-upper.exp_m1(), upper.exp()) }
}

fn values(p: Point) -> (f64, f64) {
    p.edges().unwrap_or_else(|| {
        let (lower, upper) = log_tails::<0>(p);
        (lower.v, upper.v)
    })
}

/// I_x(a, b) = ∫₀ˣ t^{a-1} (1-t)^{b-1} dt / B(a, b) for a, b ≥ 0 (not both 0) and 0 ≤ x ≤ 1, to
/// 3e-15 (1 + |log I_x|) relative.
pub fn beta_inc(a: f64, b: f64, x: f64) -> f64 {
    from_logs(values(Point::new(a, b, x))).0
}

/// 1 - I_x(a, b), as accurate in its own tail.
pub fn beta_inc_upper(a: f64, b: f64, x: f64) -> f64 {
    from_logs(values(Point::new(a, b, x))).1
}

/// log I_x(a, b).
pub fn log_beta_inc(a: f64, b: f64, x: f64) -> f64 {
    values(Point::new(a, b, x)).0
}

/// log(1 - I_x(a, b)).
pub fn log_beta_inc_upper(a: f64, b: f64, x: f64) -> f64 {
    values(Point::new(a, b, x)).1
}

/// (∂I_x/∂a, ∂I_x/∂b) for a, b > 0, to 1e-10 relative; zeros at the ends of x.
pub fn beta_inc_dab(a: f64, b: f64, x: f64) -> (f64, f64) {
    let p = Point::new(a, b, x);
    if let Some((log, _)) = p.edges() {
        let slope = if log.is_nan() || a == 0.0 || b == 0.0 { f64::NAN } else { 0.0 };
        return (slope, slope);
    }
    let (lower, upper) = log_tails::<2>(p);
    let (log, sign) = if lower.v < upper.v { (lower, 1.0) } else { (upper, -1.0) };
    let scale = sign * log.v.exp();
    (scale * log.d[0], scale * log.d[1])
}

/// The derivatives in (a, b) of log I_x and of log(1 - I_x).
pub fn log_beta_inc_dab(a: f64, b: f64, x: f64) -> ([f64; 2], [f64; 2]) {
    let p = Point::new(a, b, x);
    if let Some((log, _)) = p.edges() {
        let slope = if log.is_nan() || a == 0.0 || b == 0.0 { f64::NAN } else { 0.0 };
        return ([slope; 2], [slope; 2]);
    }
    let (lower, upper) = log_tails::<2>(p);
    (lower.d, upper.d)
}

/// ∂I_x/∂x = x^{a-1} (1-x)^{b-1} / B(a, b), the density of the beta law, inside (0, 1).
pub fn beta_inc_dx(a: f64, b: f64, x: f64) -> f64 {
    if !(a > 0.0 && b > 0.0 && (0.0..=1.0).contains(&x)) {
        return f64::NAN;
    }
    let edge = |shape: f64, other: f64| match shape.total_cmp(&1.0) {
        std::cmp::Ordering::Less => f64::INFINITY,
        std::cmp::Ordering::Equal => other,
        std::cmp::Ordering::Greater => 0.0,
    };
    if x == 0.0 {
        return edge(a, b);
    }
    if x == 1.0 {
        return edge(b, a);
    }
    let p = Point::new(a, b, x);
    (log_power::<0>(p).v - log_of(p.x, p.y) - log_of(p.y, p.x)).exp()
}

/// The x with I_x(a, b) = p, to 1e-13 relative; NaN unless a, b > 0 and 0 ≤ p ≤ 1.
pub fn inv_beta_inc(a: f64, b: f64, p: f64) -> f64 {
    quantile(a, b, p.ln(), (-p).ln_1p()).0
}

/// The x with 1 - I_x(a, b) = q: the quantile from the upper tail.
pub fn inv_beta_inc_upper(a: f64, b: f64, q: f64) -> f64 {
    quantile(a, b, (-q).ln_1p(), q.ln()).0
}

/// The quantile x and 1 - x from the logs of both tail probabilities, by Newton in log(x / (1 - x)).
pub(super) fn quantile(a: f64, b: f64, log_p: f64, log_q: f64) -> (f64, f64) {
    let usable = a > 0.0 && b > 0.0 && a.is_finite() && b.is_finite() && !log_p.is_nan() && !log_q.is_nan();
    if !usable {
        return (f64::NAN, f64::NAN);
    }
    if log_p == f64::NEG_INFINITY {
        return (0.0, 1.0);
    }
    if log_q == f64::NEG_INFINITY {
        return (1.0, 0.0);
    }
    let at = |u: f64| {
        let e = (-u.abs()).exp();
        let (small, large) = (e / (1.0 + e), 1.0 / (1.0 + e));
        if u < 0.0 { (small, large) } else { (large, small) }
    };
    let lower = log_p < log_q;
    let probe = |u: f64| {
        let (x, y) = at(u);
        if x == 0.0 || y == 0.0 {
            return Probe { value: if x == 0.0 { f64::NEG_INFINITY } else { f64::INFINITY }, slope: 1.0 };
        }
        let point = Point { a, b, x, y };
        // d/du of the cdf is x y times the density, that is x^a y^b / B(a, b).
        let log_density = log_power::<0>(point).v;
        let (log_lower, log_upper) = log_tails::<0>(point);
        if lower {
            Probe { value: log_lower.v - log_p, slope: (log_density - log_lower.v).exp() }
        } else {
            Probe { value: log_q - log_upper.v, slope: (log_density - log_upper.v).exp() }
        }
    };
    at(increasing_root(start(a, b, log_p, log_q), probe))
}

/// A first guess of log(x / (1 - x)): the mean, or the leading power of the nearer tail where that lies
/// further out.
fn start(a: f64, b: f64, log_p: f64, log_q: f64) -> f64 {
    let mean = (a / b).ln();
    let log_b = lbeta(a, b);
    let from_below = (log_p + a.ln() + log_b) / a;
    let from_above = -(log_q + b.ln() + log_b) / b;
    if log_p < log_q { mean.min(from_below) } else { mean.max(from_above) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symmetry_and_closed_forms() {
        for (a, b) in [(0.5, 0.5), (1.0, 3.0), (12.0, 30.0), (200.0, 5.0), (1e4, 2e4)] {
            // Dyadic, so that 1 - x is exact.
            for x in [1.0 / 1048576.0, 0.125, 0.3125, 0.5, 0.75, 0.96875] {
                let (i, j) = (beta_inc(a, b, x), beta_inc_upper(b, a, 1.0 - x));
                assert!((i - j).abs() <= 1e-12 * i, "{a} {b} {x}: {i} {j}");
            }
        }
        // I_x(1, b) = 1 - (1 - x)^b
        assert!((beta_inc(1.0, 7.0, 1e-12) - 7e-12).abs() < 1e-22);
    }
}
