//! Summands that densities of counts share.

use crate::num::real::Real;
use crate::num::rising::lrise_x;
use crate::num::special as sf;
use crate::ops::scalar::scalar_row;

scalar_row! {
    LOG_FACTORIAL = "log_factorial"(x), "-log x!: the part of a count's density that depends on data alone";
    value -lfactorial(x);
    slopes(_y) [-(x.shift(1.0).digamma())];
    probes [&[0.0], &[3.0], &[1e6]]
}

/// log k!, exactly 0 at 0 and 1: a probability that is nearly 1 is told from 1 by its log.
#[inline(always)]
pub(super) fn lfactorial<T: Real>(k: T) -> T {
    k.lift1(sf::lgamma1p, |k| sf::digamma(k + 1.0))
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
    value x.lrise(a);
    slopes(_y, need) [if need[0] { lrise_x(x, a) } else { T::zero() }, x.lrise_a(a)];
    probes [&[3.0, 0.4], &[7.0, 30.0], &[0.0, 2.0], &[5.0, 1e7]]
}

/// log of the binomial coefficient of n and x.
#[inline(always)]
pub(super) fn lchoose<T: Real>(n: T, x: T) -> T {
    n.lift2(
        x,
        sf::lchoose,
        |n, x| sf::digamma(n + 1.0) - sf::digamma(n - x + 1.0),
        |n, x| sf::digamma(n - x + 1.0) - sf::digamma(x + 1.0),
    )
}
