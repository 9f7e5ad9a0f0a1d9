//! Arithmetic: the operators of the language and the plain functions of one or two numbers.

use super::{Facts, ScalarRow, scalar_row};
use crate::facts::{Interval, Jet, known};

scalar_row! { ADD = "add"(a, b), "a + b"; value a + b; slopes(_y) [T::one(), T::one()];
    probes [&[1.0, -2.0], &[1e10, 1e-10]];
    facts Facts::of(|a, _| Some(Jet { value: a[0] + a[1], ..Jet::identity(a[0]) }))
}
scalar_row! { SUB = "sub"(a, b), "a - b"; value a - b; slopes(_y) [T::one(), -T::one()];
    probes [&[1.0, -2.0], &[3.5, 3.0]];
    facts Facts::difference((0, 1), |a, k| {
        let slope = if k == 0 { 1.0 } else { -1.0 };
        Some(Jet { value: a[0] - a[1], ..Jet::linear(a[k], slope, 0.0) })
    })
}
scalar_row! { MUL = "mul"(a, b), "a * b, element by element"; value a * b; slopes(_y) [b, a]; probes [&[1.5, -2.0], &[0.0, 3.0]];
    facts Facts::with_log(
        |a, k| { let c: [f64; 2] = known::fixed(a, k)?; Some(Jet::linear(a[k], c[1 - k], 0.0)) },
        |a, k| { let c: [f64; 2] = known::fixed(a, k)?; Some(known::exp(a[k])?.scaled(c[1 - k])) }
    )
}
scalar_row! {
    DIV = "div"(a, b), "a / b, element by element"; value a / b;
    slopes(y) [b.recip(), -y / b]; probes [&[1.5, -2.0], &[0.0, 3.0]];
    // c / e^t = c e^-t.
    facts Facts::with_log(
        |a, k| {
            let c: [f64; 2] = known::fixed(a, k)?;
            if k == 0 {
                (c[1] != 0.0).then(|| Jet::linear(a[0], c[1].recip(), 0.0))
            } else {
                Some(known::inverse(a[1])?.scaled(c[0]))
            }
        },
        |a, k| {
            let c: [f64; 2] = known::fixed(a, k)?;
            if k == 0 {
                let up = known::exp(a[0])?;
                (c[1] != 0.0).then(|| up.scaled(c[1].recip()))
            } else {
                Some(known::exp(-a[1])?.stretched(-1.0).scaled(c[0]))
            }
        }
    )
}
scalar_row! {
    POW = "pow"(a, b), "a to the power b";
    value a.pow(b);
    slopes(y, need) [
        // b a^(b - 1) without a second power; where a is 0, as b says.
        {
            let (zero, one) = (T::zero(), T::one());
            let endless = b.if_equal(zero, zero, b * T::splat(f64::INFINITY));
            let at_zero = b.if_equal(one, one, b.if_less(one, endless, zero));
            a.if_equal(zero, at_zero, y * (b / a))
        },
        if need[1] { y.if_equal(T::zero(), T::zero(), y * a.ln()) } else { T::zero() }
    ];
    probes [&[1.5, -2.0], &[0.3, 0.7], &[7.0, 3.0]];
    // (e^t)^p = e^(p t).
    facts Facts::with_log(
        |a, k| {
            let c: [f64; 2] = known::fixed(a, k)?;
            if k == 0 { known::power(a[0], c[1]) } else { known::exponential(a[1], c[0]) }
        },
        |a, k| {
            let c: [f64; 2] = known::fixed(a, k)?;
            (k == 0).then(|| known::exp(a[0].scale(c[1])).map(|j| j.stretched(c[1])))?
        }
    )
}
scalar_row! { NEG = "neg"(a), "-a"; value -a; slopes(_y) [-T::one()]; probes [&[1.5], &[-2.0]];
    facts Facts::of(|a, _| Some(-Jet::identity(a[0])))
}
scalar_row! { SQUARE = "square"(x), "x squared"; value x.square(); slopes(_y) [x.scale(2.0)]; probes [&[1.5], &[-2.0]];
    facts Facts::with_log(
        |x, _| Some(Jet::new(x[0].square(), x[0].scale(2.0), Interval::point(2.0))),
        |t, _| Some(known::exp(t[0].scale(2.0))?.stretched(2.0))
    )
}
scalar_row! {
    INV = "inv"(x), "1 / x"; value x.recip(); slopes(y) [-y.square()]; probes [&[1.5], &[-2.0], &[1e-3]];
    facts Facts::with_log(|x, _| known::inverse(x[0]), |t, _| Some(known::exp(-t[0])?.stretched(-1.0)))
}
scalar_row! {
    ABS = "abs"(x), "absolute value"; value x.abs();
    slopes(_y) [x.if_less(T::zero(), -T::one(), T::one())]; probes [&[1.5], &[-2.0]];
    facts Facts::with_log(|x, _| known::abs(x[0]), |t, _| known::exp(t[0]))
}
scalar_row! {
    FMAX = "fmax"(a, b), "the larger of two"; value a.max(b);
    slopes(_y) [a.if_less(b, T::zero(), T::one()), a.if_less(b, T::one(), T::zero())];
    probes [&[1.5, 0.5], &[-2.0, 1.0]];
    facts Facts::of(|a, k| { let c: [f64; 2] = known::fixed(a, k)?; known::larger(a[k], c[1 - k]) })
}
scalar_row! {
    FMIN = "fmin"(a, b), "the smaller of two"; value a.min(b);
    slopes(_y) [b.if_less(a, T::zero(), T::one()), b.if_less(a, T::one(), T::zero())];
    probes [&[1.5, 0.5], &[-2.0, 1.0]];
    // min(x, c) = -max(-x, -c).
    facts Facts::of(|a, k| {
        let c: [f64; 2] = known::fixed(a, k)?;
        Some(-known::larger(-a[k], -c[1 - k])?.stretched(-1.0))
    })
}
scalar_row! {
    FLOOR = "floor"(x), "the largest integer not above x"; value x.lift1(f64::floor, |_| 0.0);
    slopes(_y) [T::zero()]; probes [&[1.5], &[-2.3]]; jumps true
}
scalar_row! {
    CEIL = "ceil"(x), "the smallest integer not below x"; value x.lift1(f64::ceil, |_| 0.0);
    slopes(_y) [T::zero()]; probes [&[1.5], &[-2.3]]; jumps true
}
scalar_row! {
    ROUND = "round"(x), "the nearest integer; halves away from zero"; value x.lift1(f64::round, |_| 0.0);
    slopes(_y) [T::zero()]; probes [&[1.4], &[-2.3]]; jumps true
}
scalar_row! {
    IDIV = "idiv"(a, b), "integer division, rounded towards minus infinity";
    value a.lift2(b, |a, b| (a / b).floor(), |_, _| 0.0, |_, _| 0.0);
    slopes(_y) [T::zero(), T::zero()]; probes [&[7.5, 2.0], &[-7.5, 2.0]]; jumps true
}
scalar_row! {
    MOD = "mod"(a, b), "remainder of integer division, with the sign of b";
    value a - b * a.lift2(b, |a, b| (a / b).floor(), |_, _| 0.0, |_, _| 0.0);
    slopes(_y) [T::one(), -a.lift2(b, |a, b| (a / b).floor(), |_, _| 0.0, |_, _| 0.0)];
    probes [&[7.5, 2.0], &[-7.5, 2.0]]; jumps true
}
scalar_row! {
    FMA = "fma"(a, b, c), "a * b + c"; value a * b + c; slopes(_y) [b, a, T::one()];
    probes [&[1.5, 2.0, 0.5], &[-7.5, 2.0, 1.0]];
    facts Facts::of(|a, k| {
        let c: [f64; 3] = known::fixed(a, k)?;
        Some(match k {
            2 => Jet::linear(a[2], 1.0, c[0] * c[1]),
            k => Jet::linear(a[k], c[1 - k], c[2]),
        })
    })
}
scalar_row! {
    HYPOT = "hypot"(a, b), "length of (a, b)"; value (a.square() + b.square()).sqrt();
    slopes(y) [a / y, b / y]; probes [&[1.5, 2.0], &[-7.5, 2.0]];
    facts Facts::of(|a, k| { let c: [f64; 2] = known::fixed(a, k)?; known::hypot(a[k], c[1 - k]) })
}

scalar_row! {
    QUADRATIC = "quadratic"(x, mu, w), "-w (x - mu)² / 2: a normal log density without its constant, by its precision";
    value { let d = x - mu; (d * w * d).scale(-0.5) };
    slopes(_y) { let d = x - mu; let s = d * w; [-s, s, d.square().scale(-0.5)] };
    probes [&[1.5, 2.0, 0.5], &[-7.5, 2.0, 1e4]]
}

pub(super) static ROWS: &[&ScalarRow] = &[
    &ADD, &SUB, &MUL, &DIV, &POW, &NEG, &SQUARE, &INV, &ABS, &FMAX, &FMIN, &FLOOR, &CEIL, &ROUND, &IDIV,
    &MOD, &FMA, &HYPOT,
];
