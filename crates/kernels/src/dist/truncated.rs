//! Counts of which only those between two limits are possible: the sum of what is kept, relative to the count
//! itself.
//!
//! With w(k) the probability of k but for factors that do not depend on k, the log density is -log Σ w(k) /
//! w(x) over the counts k that are kept. Every ratio is a product of ratios of neighbours, the term of x
//! itself is 1, and whatever all terms share has never been there to cancel: so the value is never above 0,
//! and keeps its digits where both the density and the mass between the limits are far below what a number
//! holds.

use super::guard::{Guarded, WITHIN};
use super::row::{Distribution, Support};
use super::{beta_binomial, binomial, binomial_logit, geometric, neg_binomial, neg_binomial_2};
use super::{neg_binomial_2_log, poisson, poisson_log};
use crate::facts::{Interval, Jet};
use crate::graph::{BuildError, Builder, NodeId};
use crate::num::real::{Packed, Real};
use crate::ops::scalar::{Facts, LOG, LOG1M, LOG1P, LOG1P_EXP, LOGIT, NEG, ScalarRow, scalar_row};

/// A family of counts with `N` arguments, by the ratios of neighbours.
trait Neighbours<const N: usize> {
    /// The log of what every ratio has as a factor.
    fn tilt<T: Real>(a: [T; N]) -> T;
    /// w(k + 1) / w(k) but for that factor, as numerator and denominator.
    fn ratio<T: Real>(k: T, a: [T; N]) -> (T, T);
    /// The slope of log w(k + 1) - log w(k) in each argument.
    fn score<T: Real>(k: T, a: [T; N]) -> [T; N];
    /// The largest possible count.
    fn last(_: [f64; N]) -> f64 {
        f64::INFINITY
    }
    /// Whether the probabilities rise to one peak and fall: then a sum may stop where terms no longer count.
    fn one_peak(_: [f64; N]) -> bool {
        true
    }
}

/// Limits that are further apart than this are left to the cumulative probabilities, which sum few terms
/// there.
const WIDEST: f64 = 1e6;
/// Beyond e^±200 the terms on one side are nothing beside those on the other, whatever else the ratios hold.
const STEEPEST: f64 = 200.0;
/// What is smaller than this part of a sum is below its rounding, with all that comes after it.
const NEGLIGIBLE: f64 = 1e-18;
/// A sum that grows beyond this is divided by it.
const LARGE: f64 = 1e150;

scalar_row! {
    POISSON = "poisson_between"(x, low, high, eta), "log P(X = x | low ≤ X ≤ high) at the rate exp(eta)";
    opaque(at) density::<Poisson, T, 1, 4>(at);
    probes [
        &[3.0, 1.0, 9.0, 0.7], &[18.0, 1.0, 20.0, 45.0], &[1.0, 0.0, 6.0, -30.0], &[20.0, 1.0, 30.0, 800.0]
    ];
    facts Facts::of(|a, k| tilted(a, k, 3, f64::INFINITY))
}

scalar_row! {
    BINOMIAL = "binomial_between"(x, low, high, n, eta), "log P(X = x | low ≤ X ≤ high) at the log odds eta";
    opaque(at) density::<Binomial, T, 2, 5>(at);
    probes [&[3.0, 1.0, 9.0, 12.0, 0.7], &[3.0, 0.0, 4.0, 30.0, 45.0], &[6.0, 5.0, 9.0, 9.0, -30.0]];
    facts Facts::of(|a, k| tilted(a, k, 4, a[3].hi))
}

scalar_row! {
    NEG_BINOMIAL = "neg_binomial_between"(x, low, high, eta, phi), "log P(X = x | low ≤ X ≤ high), exp(eta) the part mean / (mean + phi)";
    opaque(at) density::<NegBinomial, T, 2, 5>(at);
    probes [&[3.0, 1.0, 9.0, -0.7, 2.0], &[4.0, 0.0, 4.0, -1e-9, 30.0], &[6.0, 5.0, 9.0, -30.0, 0.1]];
    facts Facts::of(|a, k| if a[4].lo > 0.0 { tilted(a, k, 3, f64::INFINITY) } else { None })
}

scalar_row! {
    BETA_BINOMIAL = "beta_binomial_between"(x, low, high, n, alpha, beta), "log P(X = x | low ≤ X ≤ high)";
    opaque(at) density::<BetaBinomial, T, 3, 6>(at);
    probes [
        &[3.0, 1.0, 9.0, 12.0, 0.7, 2.0], &[3.0, 0.0, 4.0, 30.0, 1e2, 3.0], &[5.0, 2.0, 9.0, 9.0, 0.1, 0.2]
    ]
}

/// The rows, for what must hold of all of them.
pub static ROWS: &[&ScalarRow] = &[&POISSON, &BINOMIAL, &NEG_BINOMIAL, &BETA_BINOMIAL];

struct Poisson;

impl Neighbours<1> for Poisson {
    fn tilt<T: Real>([eta]: [T; 1]) -> T {
        eta
    }
    fn ratio<T: Real>(k: T, _: [T; 1]) -> (T, T) {
        (T::one(), k.shift(1.0))
    }
    fn score<T: Real>(_: T, _: [T; 1]) -> [T; 1] {
        [T::one()]
    }
}

/// The number of trials is data: it has no slope.
struct Binomial;

impl Neighbours<2> for Binomial {
    fn tilt<T: Real>([_, eta]: [T; 2]) -> T {
        eta
    }
    fn ratio<T: Real>(k: T, [n, _]: [T; 2]) -> (T, T) {
        (n - k, k.shift(1.0))
    }
    fn score<T: Real>(_: T, _: [T; 2]) -> [T; 2] {
        [T::zero(), T::one()]
    }
    fn last([n, _]: [f64; 2]) -> f64 {
        n
    }
}

struct NegBinomial;

impl Neighbours<2> for NegBinomial {
    fn tilt<T: Real>([eta, _]: [T; 2]) -> T {
        eta
    }
    fn ratio<T: Real>(k: T, [_, phi]: [T; 2]) -> (T, T) {
        (k + phi, k.shift(1.0))
    }
    fn score<T: Real>(k: T, [_, phi]: [T; 2]) -> [T; 2] {
        [T::one(), (k + phi).recip()]
    }
}

struct BetaBinomial;

impl Neighbours<3> for BetaBinomial {
    fn tilt<T: Real>(_: [T; 3]) -> T {
        T::zero()
    }
    fn ratio<T: Real>(k: T, [n, alpha, beta]: [T; 3]) -> (T, T) {
        ((n - k) * (alpha + k), k.shift(1.0) * (beta + (n - k).shift(-1.0)))
    }
    fn score<T: Real>(k: T, [n, alpha, beta]: [T; 3]) -> [T; 3] {
        [T::zero(), (alpha + k).recip(), -((beta + (n - k).shift(-1.0)).recip())]
    }
    fn last([n, _, _]: [f64; 3]) -> f64 {
        n
    }
    fn one_peak([_, alpha, beta]: [f64; 3]) -> bool {
        alpha >= 1.0 || beta >= 1.0
    }
}

/// The log density of (x, low, high, arguments), and its slope in each of these M numbers. Draw by draw: sums
/// differ in length, and one copy of the code for each kind of number is enough of it.
fn density<P: Neighbours<N>, T: Packed, const N: usize, const M: usize>(at: [T; M]) -> (T, [T; M]) {
    alone::<P, T, N, M>(at)
}

#[inline(never)]
fn alone<P: Neighbours<N>, T: Packed, const N: usize, const M: usize>(at: [T; M]) -> (T, [T; M]) {
    let a: [T; N] = std::array::from_fn(|k| at[k + 3]);
    let args = a.map(|a| a.lane(0));
    let x = at[0].lane(0);
    let (low, high) = (at[1].lane(0).ceil().max(0.0), at[2].lane(0).floor().min(P::last(args)));
    if !(low <= x && x <= high && x.fract() == 0.0) {
        return (T::splat(f64::NEG_INFINITY), [T::zero(); M]);
    }
    let up = walk::<P, T, N>(x, high, true, a);
    let down = walk::<P, T, N>(x, low, false, a);
    let top = T::zero().max(up.log).max(down.log);
    if top.lane(0) == f64::INFINITY {
        return (T::splat(f64::NEG_INFINITY), [T::zero(); M]);
    }
    let [own, above, below] = [T::zero(), up.log, down.log].map(|log| (log - top).exp());
    let total = own + above + below;
    let slope = |k: usize| -((above * up.slopes[k] + below * down.slopes[k]) / total);
    let slopes = std::array::from_fn(|k| if k < 3 { T::zero() } else { slope(k - 3) });
    (-(top + total.ln()), slopes)
}

/// The terms on one side of x: the log of their sum, and their mean slope.
struct Side<T, const N: usize> {
    log: T,
    slopes: [T; N],
}

/// From x, which has the term 1, towards `end`.
fn walk<P: Neighbours<N>, T: Packed, const N: usize>(x: f64, end: f64, up: bool, a: [T; N]) -> Side<T, N> {
    let none = Side { log: T::splat(f64::NEG_INFINITY), slopes: [T::zero(); N] };
    if x == end {
        return none;
    }
    let sign = if up { 1.0 } else { -1.0 };
    let tilt = P::tilt(a).scale(sign);
    let steep = tilt.lane(0) > STEEPEST;
    let factor = if steep { T::splat(STEEPEST) } else { tilt.max(T::splat(-STEEPEST)) }.exp();
    let one_peak = P::one_peak(a.map(|a| a.lane(0)));
    let (mut term, mut total, mut divided) = (T::one(), T::zero(), 0.0);
    let (mut score, mut slopes) = ([T::zero(); N], [T::zero(); N]);
    let mut k = x;
    while k != end {
        let low = T::splat(if up { k } else { k - 1.0 });
        let (num, den) = P::ratio(low, a);
        let ratio = factor * if up { num / den } else { den / num };
        term = term * ratio;
        let change = P::score(low, a);
        total += term;
        for j in 0..N {
            score[j] += change[j].scale(sign);
            slopes[j] += term * score[j];
        }
        k += sign;
        if one_peak && ratio.lane(0) < 1.0 && term.lane(0) < NEGLIGIBLE * (total.lane(0) + (-divided).exp()) {
            break;
        }
        if total.lane(0) > LARGE {
            (term, total) = (term.scale(1.0 / LARGE), total.scale(1.0 / LARGE));
            slopes = slopes.map(|s| s.scale(1.0 / LARGE));
            divided += LARGE.ln();
        }
    }
    if total.lane(0) == 0.0 {
        return none;
    }
    // The last term is nearly all of a steep sum: what its ratios have beyond the steepest comes once for
    // each step.
    let beyond = if steep { tilt.shift(-STEEPEST).scale((k - x).abs()) } else { T::zero() };
    Side { log: total.ln().shift(divided) + beyond, slopes: slopes.map(|s| s / total) }
}

/// Facts of a log density x η - log Σ c_k e^(k η) over the counts from low to high: it is concave, its second
/// derivative minus the variance of a count between the limits, at most a quarter of the width squared
/// (Popoviciu).
fn tilted(a: &[Interval], k: usize, eta: usize, last: f64) -> Option<Jet> {
    let fixed = |j: usize| a[j].is_point().then_some(a[j].lo);
    let others = (0..a.len()).all(|j| j == k || a[j].is_point());
    let (x, low, high) = (fixed(0)?, fixed(1)?.max(0.0), fixed(2)?.min(last));
    if k != eta || !others || !(low <= x && x <= high && high.is_finite()) {
        return None;
    }
    let width = high - low;
    let bend = Interval::new(-0.25 * width * width, 0.0);
    Some(Jet::new(Interval::NONPOSITIVE, Interval::new(x - high, x - low), bend))
}

/// A distribution of counts that a row above computes, with the arguments of that row.
struct Family {
    of: &'static Distribution,
    row: &'static ScalarRow,
    args: fn(&mut Builder, &[NodeId]) -> Result<Vec<NodeId>, BuildError>,
}

/// All of them.
static FAMILIES: &[Family] = &[
    Family { of: &poisson_log::ROW, row: &POISSON, args: |_, a| Ok(a.to_vec()) },
    Family { of: &poisson::ROW, row: &POISSON, args: |b, a| Ok(vec![b.unary(&LOG, a[0])]) },
    Family { of: &binomial_logit::ROW, row: &BINOMIAL, args: |_, a| Ok(a.to_vec()) },
    Family { of: &binomial::ROW, row: &BINOMIAL, args: |b, a| Ok(vec![a[0], b.unary(&LOGIT, a[1])]) },
    Family { of: &beta_binomial::ROW, row: &BETA_BINOMIAL, args: |_, a| Ok(a.to_vec()) },
    Family {
        of: &neg_binomial::ROW,
        row: &NEG_BINOMIAL,
        args: |b, a| {
            let log = b.unary(&LOG1P, a[1]);
            Ok(vec![b.unary(&NEG, log), a[0]])
        },
    },
    Family {
        of: &neg_binomial_2::ROW,
        row: &NEG_BINOMIAL,
        args: |b, a| {
            let eta = b.unary(&LOG, a[0]);
            of_log_mean(b, eta, a[1])
        },
    },
    Family { of: &neg_binomial_2_log::ROW, row: &NEG_BINOMIAL, args: |b, a| of_log_mean(b, a[0], a[1]) },
    Family {
        of: &geometric::ROW,
        row: &NEG_BINOMIAL,
        args: |b, a| Ok(vec![b.unary(&LOG1M, a[0]), b.number(1.0)]),
    },
];

/// log of mean / (mean + phi), from the log mean.
fn of_log_mean(b: &mut Builder, eta: NodeId, phi: NodeId) -> Result<Vec<NodeId>, BuildError> {
    let log_phi = b.unary(&LOG, phi);
    let gap = b.sub(log_phi, eta)?;
    let more = b.unary(&LOG1P_EXP, gap);
    Ok(vec![b.unary(&NEG, more), phi])
}

/// The log density of a count between two whole numbers, element by element, as a sum of what they keep; None
/// where the limits leave more than that can be summed, or where the distribution is no count of the table.
pub fn log_density_between(
    b: &mut Builder,
    dist: &Distribution,
    x: NodeId,
    args: &[NodeId],
    [low, high]: [Option<NodeId>; 2],
) -> Result<Option<NodeId>, BuildError> {
    let Some(family) = FAMILIES.iter().find(|f| std::ptr::eq(f.of, dist)) else { return Ok(None) };
    let low = low.unwrap_or_else(|| b.number(0.0));
    if std::ptr::eq(dist, &geometric::ROW) && high.is_none() {
        // What is left of a geometric count above a limit is a geometric count.
        let clipped = b.constant_of(low).map(|c| c.iter().map(|x| x.max(0.0)).collect::<Vec<f64>>());
        let Some(limits) = clipped else { return Ok(None) };
        let dims = b.dims(low).to_vec();
        let first = b.constant(limits, dims);
        let beyond = b.sub(x, first)?;
        return super::log_density(b, dist, beyond, args).map(Some);
    }
    let high = match (high, dist.support) {
        (Some(high), _) => high,
        (None, Support::Integers(_, super::End::Arg(k))) => args[k],
        (None, _) => return Ok(None),
    };
    let largest =
        |b: &Builder, id: NodeId| b.constant_of(id).map(|c| c.iter().fold(0.0_f64, |m, x| m.max(*x)));
    if largest(b, high).is_none_or(|most| most > WIDEST) || b.constant_of(low).is_none() {
        return Ok(None);
    }
    let Guarded { x, args, checks, .. } = Guarded::new(b, dist, x, args)?;
    let mut all = vec![x, low, high];
    all.extend((family.args)(b, &args)?);
    let mut value = b.map(family.row, &all)?;
    for check in checks {
        let penalty = b.map(&WITHIN, &check.of)?;
        value = b.add2(value, penalty)?;
    }
    Ok(Some(value))
}
