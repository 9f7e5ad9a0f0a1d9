//! The quantile of the standard normal law without branches, for one number or a register of them.

use super::elementary::ln;
use super::vector::Vector;

/// x / q, where q = p - ½, as a quotient of polynomials in 0.18 - q²: minimax for |q| ≤ √0.18, error 8e-17.
const CENTRE: Quotient = (
    [
        3.3807998831538586,
        131.93692364263606,
        1940.4472124578665,
        13429.358807768436,
        44654.55134212327,
        65084.8615110003,
        32214.270602754288,
        2410.165344593776,
    ],
    [
        1.0,
        42.00886236906535,
        677.5814746534124,
        5284.909321638996,
        20663.5575181379,
        38093.33633283703,
        27722.44305375843,
        5026.392435484021,
    ],
);

/// The quantile of the upper tail q, from r = √(-log q), as a quotient of polynomials in r - 1.5 up to r =
/// 5.5: minimax, error 1.3e-16.
const TAIL: Quotient = (
    [
        1.2513729290570323,
        4.4306448135067,
        5.901600396223412,
        3.950532752338594,
        1.446425899941461,
        0.2872568980447351,
        0.027896494379905688,
        0.0009685832186452905,
    ],
    [
        1.0,
        2.154828352364892,
        1.843067512760867,
        0.7922815436906135,
        0.17688143517359253,
        0.018706891531011304,
        0.0006847794816677074,
        1.2344358651248534e-09,
    ],
);

/// The same in r - 5.5 from there on, down to the smallest number: error 3e-17.
const FAR_TAIL: Quotient = (
    [
        7.390976407744011,
        5.589352639328091,
        1.6911541677559954,
        0.2617741057466813,
        0.02196537879240037,
        0.0009726012073215004,
        2.0250864598081454e-05,
        1.4473138491323968e-07,
    ],
    [
        1.0,
        0.558373032217461,
        0.11925879918761462,
        0.01219991677090663,
        0.0006124249395440314,
        1.3756897209237462e-05,
        1.0233989878032881e-07,
        1.396383869485054e-15,
    ],
);

/// Numerator and denominator, lowest coefficient first.
type Quotient = ([f64; 8], [f64; 8]);

#[inline(always)]
fn quotient<V: Vector>((numerator, denominator): &Quotient, x: V) -> V {
    horner(numerator, x) / horner(denominator, x)
}

/// Two interleaved chains.
#[inline(always)]
fn horner<V: Vector>(c: &[f64; 8], x: V) -> V {
    let square = x * x;
    let (mut even, mut odd) = (V::splat(c[6]), V::splat(c[7]));
    for k in (0..6).step_by(2).rev() {
        even = even.mul_add(square, V::splat(c[k]));
        odd = odd.mul_add(square, V::splat(c[k + 1]));
    }
    x.mul_add(odd, even)
}

/// Below this distance from a half of a probability, squared, the quotient in the middle serves.
const MIDDLE: f64 = 0.18;
/// Where the far tail begins, in r.
const FAR: f64 = 5.5;

/// The x with Φ(x) = p, to 1e-15 relative for p down to the smallest number; -∞ at 0, +∞ at 1, NaN outside
/// [0, 1].
#[inline(always)]
pub fn inv_phi<V: Vector>(p: V) -> V {
    let q = p - V::splat(0.5);
    from_middle(q, q.if_less(V::splat(0.0), p, V::splat(1.0) - p))
}

/// The x with Φ(x) = ½ + q, where the smaller of the two sides of x has a probability of `rest`, which is ½ -
/// |q| with what rounding loses of that.
#[inline(always)]
pub fn from_middle<V: Vector>(q: V, rest: V) -> V {
    let centred = V::splat(MIDDLE) - q * q;
    let outside = upper(rest).copysign(q);
    centred.if_less(V::splat(0.0), outside, q * quotient(&CENTRE, centred))
}

/// The x with 1 - Φ(x) = q, for q < 0.09; elsewhere something.
#[inline(always)]
pub fn upper<V: Vector>(q: V) -> V {
    let r = (-ln(q)).sqrt();
    let tail = quotient(&TAIL, r - V::splat(1.5));
    // No draw comes from there, and most numbers are draws.
    if (V::splat(FAR) - r).all_ordinary() {
        return tail;
    }
    let far = quotient(&FAR_TAIL, r - V::splat(FAR));
    let finite = r.if_less(V::splat(FAR), tail, far);
    q.if_equal(V::splat(0.0), V::splat(f64::INFINITY), finite)
}
