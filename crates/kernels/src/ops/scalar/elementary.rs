//! Elementary functions and the links of generalised linear models.

use super::{Facts, ScalarRow, scalar_row};
use crate::facts::{Jet, known};
use std::f64::consts::{LOG2_E, LOG10_E};

scalar_row! { EXP = "exp"(x), "e to the power x"; value x.exp(); slopes(y) [y]; probes [&[0.5], &[-30.0], &[20.0]];
    facts Facts::of(|x, _| known::exp(x[0]))
}
scalar_row! { LOG = "log"(x), "natural logarithm"; value x.ln(); slopes(_y) [x.recip()]; probes [&[0.5], &[1e-8], &[1e8]];
    facts Facts::with_log(|x, _| known::log(x[0]), |t, _| Some(Jet::identity(t[0])))
}
scalar_row! { EXP2 = "exp2"(x), "2 to the power x"; value x.scale(std::f64::consts::LN_2).exp();
    slopes(y) [y.scale(std::f64::consts::LN_2)]; probes [&[0.5], &[-3.0]];
    facts Facts::of(|x, _| known::exponential(x[0], 2.0))
}
scalar_row! { LOG2 = "log2"(x), "logarithm to base 2"; value x.ln().scale(std::f64::consts::LOG2_E);
    slopes(_y) [x.recip().scale(std::f64::consts::LOG2_E)]; probes [&[0.5], &[9.0]];
    facts Facts::with_log(
        |x, _| Some(known::log(x[0])?.scaled(LOG2_E)),
        |t, _| Some(Jet::linear(t[0], LOG2_E, 0.0)),
    )
}
scalar_row! { LOG10 = "log10"(x), "logarithm to base 10"; value x.ln().scale(std::f64::consts::LOG10_E);
    slopes(_y) [x.recip().scale(std::f64::consts::LOG10_E)]; probes [&[0.5], &[9.0]];
    facts Facts::with_log(
        |x, _| Some(known::log(x[0])?.scaled(LOG10_E)),
        |t, _| Some(Jet::linear(t[0], LOG10_E, 0.0)),
    )
}
scalar_row! { SQRT = "sqrt"(x), "square root"; value x.sqrt(); slopes(y) [y.recip().scale(0.5)]; probes [&[0.5], &[1e8]];
    facts Facts::with_log(|x, _| known::sqrt(x[0]), |t, _| Some(known::exp(t[0].scale(0.5))?.stretched(0.5)))
}
scalar_row! { INV_SQRT = "inv_sqrt"(x), "1 / sqrt(x)"; value x.sqrt().recip();
    slopes(y) [(y / x).scale(-0.5)]; probes [&[0.5], &[40.0]];
    facts Facts::with_log(
        |x, _| if x[0].is_nonnegative() { known::power(x[0], -0.5) } else { None },
        |t, _| Some(known::exp(t[0].scale(-0.5))?.stretched(-0.5))
    )
}
scalar_row! { CBRT = "cbrt"(x), "cube root"; value x.lift1(f64::cbrt, |x| 1.0 / (3.0 * x.cbrt().powi(2)));
    slopes(y) [y.square().scale(3.0).recip()]; probes [&[0.5], &[-40.0]];
    facts Facts::of(|x, _| known::cbrt(x[0]))
}
scalar_row! { LOG1P = "log1p"(x), "log(1 + x), accurate near zero"; value x.log1p();
    slopes(_y) [x.shift(1.0).recip()]; probes [&[0.5], &[-0.9], &[1e-9]];
    facts Facts::with_log(|x, _| known::log1p(x[0]), |t, _| known::log1p_exp(t[0]))
}
scalar_row! { LOG1M = "log1m"(x), "log(1 - x), accurate near zero"; value (-x).log1p();
    slopes(_y) [x.shift(-1.0).recip()]; probes [&[0.5], &[-3.0], &[1e-9]];
    facts Facts::with_log_and_odds(
        |x, _| known::log1m(x[0]),
        |t, _| known::log1m_exp(t[0]),
        |_, _| Some([0.0, 1.0]),
    )
}
scalar_row! { EXPM1 = "expm1"(x), "exp(x) - 1, accurate near zero"; value x.expm1(); slopes(y) [y.shift(1.0)];
    probes [&[0.5], &[-30.0], &[1e-9]];
    facts Facts::of(|x, _| known::expm1(x[0]))
}
scalar_row! { LOG1P_EXP = "log1p_exp"(x), "log(1 + exp(x)) without overflow"; value x.log1p_exp();
    slopes(_y) [x.inv_logit()]; probes [&[0.5], &[-40.0], &[50.0]];
    facts Facts::of(|x, _| known::log1p_exp(x[0]))
}
scalar_row! { LOG1M_EXP = "log1m_exp"(x), "log(1 - exp(x)) for x < 0"; value x.log1m_exp();
    slopes(_y) [-((-x).expm1().recip())]; probes [&[-0.1], &[-40.0], &[-1e-6]];
    facts Facts::of(|x, _| known::log1m_exp(x[0]))
}
scalar_row! { INV_LOGIT = "inv_logit"(x), "1 / (1 + exp(-x))"; value x.inv_logit();
    slopes(y) [y * (-x).inv_logit()]; probes [&[0.5], &[-30.0], &[30.0]];
    facts Facts::of(|x, _| known::inv_logit(x[0]))
}
scalar_row! { LOG_INV_LOGIT = "log_inv_logit"(x), "log of inv_logit(x)"; value -((-x).log1p_exp());
    slopes(_y) [(-x).inv_logit()]; probes [&[0.5], &[-30.0], &[30.0]];
    facts Facts::of(|x, _| known::log_inv_logit(x[0]))
}
scalar_row! { LOG1M_INV_LOGIT = "log1m_inv_logit"(x), "log of 1 - inv_logit(x)"; value -(x.log1p_exp());
    slopes(_y) [-x.inv_logit()]; probes [&[0.5], &[-30.0], &[30.0]];
    facts Facts::of(|x, _| known::log1m_inv_logit(x[0]))
}
scalar_row! { LOGIT = "logit"(p), "log(p / (1 - p))"; value p.ln() - (-p).log1p();
    slopes(_y) [(p * (T::one() - p)).recip()]; probes [&[0.5], &[1e-6], &[0.99]];
    facts Facts::of(|x, _| known::logit(x[0]))
}
scalar_row! { CLOGLOG = "cloglog"(p), "log(-log(1 - p))"; value (-((-p).log1p())).ln();
slopes(_y) [-(((-p).log1p() * (T::one() - p)).recip())]; probes [&[0.5], &[1e-6], &[0.99]] }
scalar_row! { INV_CLOGLOG = "inv_cloglog"(x), "1 - exp(-exp(x))"; value -((-(x.exp())).expm1());
    slopes(_y) [(x - x.exp()).exp()]; probes [&[0.5], &[-5.0], &[2.0]];
    facts Facts::of(|x, _| known::inv_cloglog(x[0]))
}
scalar_row! {
    /// What graphs compute for the log odds of 1 - exp(-exp(x)): log(exp(e^x) - 1).
    LOGIT_INV_CLOGLOG = "logit_inv_cloglog"(x), "log odds of inv_cloglog(x), accurate in both tails";
    value {
        let e = x.exp();
        x.if_less(T::splat(SMALL), x + e.scale(0.5), e + (-e).log1m_exp())
    };
    slopes(_y) {
        let e = x.exp();
        let small = e.scale(0.5).shift(1.0) + e.square().scale(1.0 / 12.0);
        [x.if_less(T::splat(SMALL), small, -(e / (-e).expm1()))]
    };
    probes [&[0.5], &[-5.0], &[2.0], &[-30.0], &[5.0]]
}
/// From here on down e^x adds to log(exp(e^x) - 1) no more than half of itself, to a unit of rounding.
const SMALL: f64 = -15.0;
scalar_row! { SIN = "sin"(x), "sine"; value x.sin(); slopes(_y) [x.cos()]; probes [&[0.5], &[-3.0]];
    facts Facts::of(|x, _| known::wave(x[0]))
}
scalar_row! { COS = "cos"(x), "cosine"; value x.cos(); slopes(_y) [-x.sin()]; probes [&[0.5], &[-3.0]];
    facts Facts::of(|x, _| known::wave(x[0]))
}
scalar_row! { TAN = "tan"(x), "tangent"; value x.tan(); slopes(y) [y.square().shift(1.0)]; probes [&[0.5], &[-1.0]] }
scalar_row! { ASIN = "asin"(x), "inverse sine"; value x.asin();
    slopes(_y) [(T::one() - x.square()).sqrt().recip()]; probes [&[0.5], &[-0.9]];
    facts Facts::of(|x, _| known::asin(x[0]))
}
scalar_row! { ACOS = "acos"(x), "inverse cosine"; value x.acos();
    slopes(_y) [-(T::one() - x.square()).sqrt().recip()]; probes [&[0.5], &[-0.9]];
    facts Facts::of(|x, _| known::acos(x[0]))
}
scalar_row! { ATAN = "atan"(x), "inverse tangent"; value x.atan(); slopes(_y) [x.square().shift(1.0).recip()];
    probes [&[0.5], &[-9.0]];
    facts Facts::of(|x, _| known::atan(x[0]))
}
scalar_row! { ATAN2 = "atan2"(y, x), "angle of the point (x, y), between -pi and pi";
    value y.lift2(x, f64::atan2, |y, x| x / (x * x + y * y), |y, x| -y / (x * x + y * y));
    slopes(_a) { let r = (x.square() + y.square()).recip(); [x * r, -y * r] };
    probes [&[0.5, 2.0], &[-9.0, -0.3], &[1.0, -2.0]]
}
scalar_row! { SINH = "sinh"(x), "hyperbolic sine"; value x.sinh(); slopes(_y) [x.cosh()]; probes [&[0.5], &[-3.0]];
    facts Facts::of(|x, _| known::sinh(x[0]))
}
scalar_row! { COSH = "cosh"(x), "hyperbolic cosine"; value x.cosh(); slopes(_y) [x.sinh()]; probes [&[0.5], &[-3.0]];
    facts Facts::of(|x, _| known::cosh(x[0]))
}
scalar_row! { TANH = "tanh"(x), "hyperbolic tangent"; value x.tanh(); slopes(y) [T::one() - y.square()]; probes [&[0.5], &[-3.0]];
    facts Facts::of(|x, _| known::tanh(x[0]))
}
scalar_row! { ASINH = "asinh"(x), "inverse hyperbolic sine";
    value x.lift1(f64::asinh, |x| 1.0 / (1.0 + x * x).sqrt());
    slopes(_y) [x.square().shift(1.0).sqrt().recip()]; probes [&[0.5], &[-3.0]];
    facts Facts::of(|x, _| known::asinh(x[0]))
}
scalar_row! { ACOSH = "acosh"(x), "inverse hyperbolic cosine";
    value x.lift1(f64::acosh, |x| 1.0 / (x * x - 1.0).sqrt());
    slopes(_y) [x.square().shift(-1.0).sqrt().recip()]; probes [&[1.5], &[30.0]];
    facts Facts::of(|x, _| known::acosh(x[0]))
}
scalar_row! { ATANH = "atanh"(x), "inverse hyperbolic tangent";
    value x.lift1(f64::atanh, |x| 1.0 / (1.0 - x * x)); slopes(_y) [(T::one() - x.square()).recip()];
    probes [&[0.5], &[-0.9]];
    facts Facts::of(|x, _| known::atanh(x[0]))
}

pub(super) static ROWS: &[&ScalarRow] = &[
    &EXP,
    &LOG,
    &EXP2,
    &LOG2,
    &LOG10,
    &SQRT,
    &INV_SQRT,
    &CBRT,
    &LOG1P,
    &LOG1M,
    &EXPM1,
    &LOG1P_EXP,
    &LOG1M_EXP,
    &INV_LOGIT,
    &LOG_INV_LOGIT,
    &LOG1M_INV_LOGIT,
    &LOGIT,
    &CLOGLOG,
    &INV_CLOGLOG,
    &SIN,
    &COS,
    &TAN,
    &ASIN,
    &ACOS,
    &ATAN,
    &ATAN2,
    &SINH,
    &COSH,
    &TANH,
    &ASINH,
    &ACOSH,
    &ATANH,
];
