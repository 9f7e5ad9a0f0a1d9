//! Summands that densities of counts share.

use crate::num::real::Real;
use crate::num::rising;
use crate::num::special as sf;
use crate::ops::scalar::scalar_row;

scalar_row! {
    LOG_FACTORIAL = "log_factorial"(x), "-log x!: the part of a count's density that depends on data alone";
    value -(x.shift(1.0).lgamma());
    slopes(_y) [-(x.shift(1.0).digamma())];
    probes [&[0.0], &[3.0], &[1e6]]
}

scalar_row! {
    CHOOSE = "log_choose"(x, n), "log of the binomial coefficient of n and x";
    value lchoose(n, x);
    slopes(_y, need) [
        if need[0] { (n - x).shift(1.0).digamma() - x.shift(1.0).digamma() } else { T::zero() },
        if need[1] { n.shift(1.0).digamma() - (n - x).shift(1.0).digamma() } else { T::zero() }
    ];
    probes [&[2.0, 5.0], &[0.0, 30.0], &[30.0, 30.0]]
}

scalar_row! {
    RISE = "log_rise"(x, a), "log Γ(a + x) - log Γ(a) - x log a";
    value lrise(x, a);
    slopes(_y, need) [if need[0] { lrise_x(x, a) } else { T::zero() }, lrise_a(x, a)];
    probes [&[3.0, 0.4], &[7.0, 30.0], &[0.0, 2.0], &[5.0, 1e7]]
}

/// log Γ(n + 1) - log Γ(x + 1) - log Γ(n - x + 1); exactly 0 at both ends, -∞ outside.
fn log_choose(n: f64, x: f64) -> f64 {
    if x == 0.0 || x == n {
        return 0.0;
    }
    if x < 0.0 || x > n {
        return f64::NEG_INFINITY;
    }
    // n! / (n - x)! is the rising factorial of n - x + 1 with x factors; the smaller of x and n - x keeps it short.
    let k = x.min(n - x);
    let base = n - k + 1.0;
    rising::lrise(k, base) + k * base.ln() - sf::lgamma(k + 1.0)
}

/// log of the binomial coefficient of n and x.
#[inline(always)]
pub(super) fn lchoose<T: Real>(n: T, x: T) -> T {
    n.lift2(
        x,
        log_choose,
        |n, x| sf::digamma(n + 1.0) - sf::digamma(n - x + 1.0),
        |n, x| sf::digamma(n - x + 1.0) - sf::digamma(x + 1.0),
    )
}

/// log Γ(a + x) - log Γ(a) - x log a.
#[inline(always)]
pub(super) fn lrise<T: Real>(x: T, a: T) -> T {
    x.lift2(a, rising::lrise, rising::lrise_x, rising::lrise_a)
}

/// Its slope in x.
#[inline(always)]
pub(super) fn lrise_x<T: Real>(x: T, a: T) -> T {
    (a + x).digamma() - a.ln()
}

/// Its slope in a.
#[inline(always)]
pub(super) fn lrise_a<T: Real>(x: T, a: T) -> T {
    x.lift2(a, rising::lrise_a, rising::lrise_xa, rising::lrise_aa)
}
