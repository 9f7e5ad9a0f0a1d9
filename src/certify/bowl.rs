//! Parabolas, and the logarithm of a sum of two exponentials of them: mixtures of two normal densities.

use crate::facts::{Interval, Jet};
use crate::ops::scalar::Facts;

/// bend/2 (t - centre)² + height, for the affine form t itself.
#[derive(Clone, Copy)]
pub(super) struct Bowl {
    bend: f64,
    centre: f64,
    height: f64,
}

impl Bowl {
    /// The same number everywhere.
    pub(super) fn flat(height: f64) -> Bowl {
        Bowl { bend: 0.0, centre: 0.0, height }
    }

    /// t².
    pub(super) const SQUARE: Bowl = Bowl { bend: 2.0, centre: 0.0, height: 0.0 };

    /// A function of the difference of argument `k`, which is t, and another argument, if it is a parabola
    /// with its vertex where the two are equal; `value` is that of the function for a value of t.
    pub(super) fn of_difference(
        facts: &Facts,
        args: &[Interval],
        k: usize,
        value: impl Fn(f64) -> f64,
    ) -> Option<Bowl> {
        let (i, j) = facts.difference?;
        let other = args[if k == i { j } else { i }];
        if (k != i && k != j) || !other.is_point() {
            return None;
        }
        let bend = (facts.jet)(args, k)?.curvature;
        let mut at = args.to_vec();
        at[k] = other;
        let level = (facts.jet)(&at, k)?.slope == Interval::ZERO;
        let height = value(other.lo);
        (bend.is_point() && level && height.is_finite()).then_some(Bowl {
            bend: bend.lo,
            centre: other.lo,
            height,
        })
    }

    /// `by` times it plus `constant`.
    pub(super) fn scaled(self, by: f64, constant: f64) -> Bowl {
        Bowl { bend: by * self.bend, height: by * self.height + constant, ..self }
    }

    /// Where the second derivative of log(e^f + e^g) lies. With the share w of the first it is w f'' + (1 -
    /// w) g'' + w (1 - w) D'² for D = f - g. If the two bend alike, D' is a number. If not, D = A ± u with u
    /// = |α|(t - t₀)² ≥ 0, where ±α = ½(f'' - g''), so that D'² = 4|α|u, and w (1 - w) = v(D) for v = p (1 -
    /// p), which is even: what counts is the largest value of u v(u - a), for a = ∓A.
    pub(super) fn log_add_exp(self, other: Bowl) -> Interval {
        let bends = Interval::point(self.bend).hull(Interval::point(other.bend));
        let (apart, between) = (self.bend - other.bend, self.centre - other.centre);
        if apart == 0.0 {
            let slope = self.bend * between;
            return bends + Interval::new(0.0, 0.25 * slope * slope);
        }
        let top = self.height - other.height - 0.5 * self.bend * other.bend / apart * between * between;
        let most = most_of_parabola(if apart > 0.0 { -top } else { top });
        bends + Interval::new(0.0, 2.0 * apart.abs() * most)
    }
}

/// The largest value of u v(u - a) over u ≥ 0, or a little more, for v(x) = 1/(2 + 2 cosh x).
///
/// For a ≤ 0 it is at most that of u v(u), because v falls there, and cosh u ≥ 1 + u²/2 + u⁴/24 makes that at
/// most u/(4 + u² + u⁴/12), which is largest at u² = 2(√5 - 1) and below 0.2253 there; and v(x) ≤ e^-|x|
/// makes it at most u e^-u e^a ≤ e^(a-1). For a > 0 it is (x + a) v(x) for x = u - a: no more than that and
/// a/4 together. The last factor is far more than all rounding.
fn most_of_parabola(a: f64) -> f64 {
    let most = if a > 0.0 { 0.2253 + 0.25 * a } else { (a - 1.0).exp().min(0.2253) };
    most * (1.0 + 1e-9)
}

/// The square of max(x, 0): its slope, 2 max(x, 0), has no jump, and rises by 2 for each unit or not at all.
pub(super) fn square_of_positive_part(x: Interval) -> Jet {
    let positive = Interval::new(x.lo.max(0.0), x.hi.max(0.0));
    let (least, most) = (if x.lo >= 0.0 { 2.0 } else { 0.0 }, if x.hi > 0.0 { 2.0 } else { 0.0 });
    Jet::new(positive.square(), positive.scale(2.0), Interval::new(least, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parabolas_of_any_depth_stay_below() {
        for i in -400..=400 {
            let a = 0.1 * f64::from(i);
            let found = (0..20_000).map(|k| {
                let u = 0.005 * f64::from(k);
                u / (2.0 + 2.0 * (u - a).cosh())
            });
            let found = found.fold(0.0, f64::max);
            let bound = most_of_parabola(a);
            assert!(found <= bound && bound <= 2.8 * found + 1e-12, "a = {a}: {found}, bounded by {bound}");
        }
    }

    #[test]
    fn sums_of_two_normal_densities_bend_as_they_must() {
        for (f, g) in [
            ([-1.0, 0.0, -0.1], [-0.01, 0.0, -4.6]),
            ([-1.0, 0.3, -5.0], [-0.25, -2.0, 0.0]),
            ([-4.0, 1.0, 0.0], [-4.0, -0.5, 1.0]),
            ([-0.2, 1.0, 3.0], [0.0, 0.0, -2.0]),
            ([1.5, 0.0, 0.0], [-2.0, 1.0, 3.0]),
        ] {
            let bowl = |[bend, centre, height]: [f64; 3]| Bowl { bend, centre, height };
            let bound = bowl(f).log_add_exp(bowl(g));
            let at = |[bend, centre, height]: [f64; 3], t: f64| {
                [0.5 * bend * (t - centre).powi(2) + height, bend * (t - centre), bend]
            };
            for k in -4000..=4000 {
                let t = 0.01 * f64::from(k);
                let (x, y) = (at(f, t), at(g, t));
                let w = 1.0 / (1.0 + (y[0] - x[0]).exp());
                let bend = w * x[2] + (1.0 - w) * y[2] + w * (1.0 - w) * (x[1] - y[1]).powi(2);
                assert!(bend >= bound.lo - 1e-9 && bend <= bound.hi + 1e-9, "{f:?}, {g:?} at {t}: {bend}");
            }
        }
    }

    #[test]
    fn the_square_of_the_positive_part() {
        let wide = square_of_positive_part(Interval::new(-1.0, 3.0));
        assert_eq!(wide, Jet::new(Interval::new(0.0, 9.0), Interval::new(0.0, 6.0), Interval::new(0.0, 2.0)));
        assert_eq!(square_of_positive_part(Interval::new(-2.0, -1.0)), Jet::constant(0.0));
        let above = square_of_positive_part(Interval::new(1.0, 2.0));
        assert_eq!(above.curvature, Interval::point(2.0));
    }
}
