//! Special functions.

use super::{Facts, ScalarRow, scalar_row};
use crate::facts::{Interval, Jet, known};
use crate::num::real::HALF_LN_2PI;
use crate::num::special as sf;

scalar_row! { LGAMMA = "lgamma"(x), "log of the gamma function"; value x.lgamma(); slopes(_y) [x.digamma()];
    probes [&[0.5], &[1e-3], &[1e5]];
    facts Facts::of(|x, _| known::lgamma(x[0]))
}
scalar_row! { TGAMMA = "tgamma"(x), "the gamma function, for x > 0"; value x.lgamma().exp();
    slopes(y) [y * x.digamma()]; probes [&[0.5], &[6.5]];
    facts Facts::of(|x, _| known::gamma(x[0]))
}
scalar_row! { DIGAMMA = "digamma"(x), "derivative of lgamma"; value x.digamma(); slopes(_y) [x.trigamma()];
    probes [&[0.5], &[1e-3], &[1e5]];
    facts Facts::of(|x, _| known::psi(x[0]))
}
scalar_row! { TRIGAMMA = "trigamma"(x), "second derivative of lgamma"; value x.trigamma();
    slopes(_y) [x.lift1(sf::tetragamma, sf::pentagamma)]; probes [&[0.5], &[0.1], &[300.0]];
    facts Facts::of(|x, _| known::psi1(x[0]))
}
scalar_row! {
    LBETA = "lbeta"(a, b), "log of the beta function";
    value a.lbeta(b);
    slopes(_y) [a.digamma() - (a + b).digamma(), b.digamma() - (a + b).digamma()];
    probes [&[0.5, 2.0], &[30.0, 0.1]];
    facts Facts::of(|a, k| { let c: [f64; 2] = known::fixed(a, k)?; known::lbeta(a[k], c[1 - k]) })
}
scalar_row! {
    LCHOOSE = "lchoose"(n, k), "log of the binomial coefficient";
    value n.lift2(
        k,
        sf::lchoose,
        |n, k| sf::digamma(n + 1.0) - sf::digamma(n - k + 1.0),
        |n, k| sf::digamma(n - k + 1.0) - sf::digamma(k + 1.0)
    );
    slopes(_y) [
        n.shift(1.0).digamma() - (n - k).shift(1.0).digamma(),
        (n - k).shift(1.0).digamma() - k.shift(1.0).digamma()
    ];
    probes [&[5.0, 2.0], &[30.5, 0.1]]
}
scalar_row! { LFACTORIAL = "lfactorial"(n), "log of n!";
    value n.lift1(sf::lgamma1p, |n| sf::digamma(n + 1.0)); slopes(_y) [n.shift(1.0).digamma()];
    probes [&[5.0], &[0.3]];
    facts Facts::of(|n, _| known::lgamma(n[0].shift(1.0)))
}
scalar_row! { ERF = "erf"(x), "the error function"; value x.erf();
    slopes(_y) [(-x.square()).exp().scale(std::f64::consts::FRAC_2_SQRT_PI)]; probes [&[0.5], &[-3.0]];
    facts Facts::of(|x, _| known::erf(x[0]))
}
scalar_row! { ERFC = "erfc"(x), "1 - erf(x)"; value x.erfc();
    slopes(_y) [(-x.square()).exp().scale(-std::f64::consts::FRAC_2_SQRT_PI)];
    probes [&[0.5], &[-3.0], &[5.0]];
    facts Facts::of(|x, _| Some(Jet { value: x[0].falling(sf::erfc), ..-known::erf(x[0])? }))
}
scalar_row! { PHI = "Phi"(x), "standard normal cumulative distribution function"; value x.phi();
    slopes(_y) [x.square().scale(-0.5).shift(-HALF_LN_2PI).exp()]; probes [&[0.5], &[-3.0], &[5.0]];
    facts Facts::of(|x, _| known::phi(x[0]))
}
scalar_row! { INV_PHI = "inv_Phi"(p), "standard normal quantile"; value p.inv_phi();
    slopes(y) [y.square().scale(0.5).shift(HALF_LN_2PI).exp()]; probes [&[0.5], &[1e-5], &[0.99]];
    facts Facts::of(|x, _| known::inv_phi(x[0]))
}
scalar_row! {
    LOG_PHI = "log_Phi"(x), "log of the standard normal cumulative distribution function, accurate in the tail";
    value x.log_phi(); slopes(_y) [x.phi_ratio()];
    probes [&[0.5], &[-3.0], &[-20.0], &[8.0]];
    facts Facts::of(|x, _| known::log_phi(x[0]))
}
scalar_row! {
    /// What graphs compute for log(Φ / (1 - Φ)), whose 1 - Φ has no digits left from 8 on.
    LOGIT_PHI = "logit_Phi"(x), "log odds of Phi(x), accurate in both tails";
    value x.log_phi() - (-x).log_phi(); slopes(_y) [x.phi_ratio() + (-x).phi_ratio()];
    probes [&[0.5], &[-3.0], &[-20.0], &[8.0], &[30.0]]
}
scalar_row! {
    LOG_BESSEL_I0 = "log_bessel_i0"(x), "log of the modified Bessel function of the first kind and order 0";
    value x.lift1(sf::log_bessel_i0, sf::bessel_ratio);
    slopes(_y) [x.lift1(sf::bessel_ratio, sf::bessel_ratio_slope)];
    probes [&[0.5], &[3.0], &[200.0]];
    facts Facts::of(|x, _| known::log_bessel_i0(x[0]))
}
scalar_row! {
    LOG_DIFF_EXP = "log_diff_exp"(a, b), "log(exp(a) - exp(b)) for a > b"; value a + (b - a).log1m_exp();
    slopes(_y) [-((b - a).expm1().recip()), -((a - b).expm1().recip())];
    probes [&[0.5, -1.0], &[300.0, 299.0]];
    // a + g(b - a) for g = log1m_exp.
    facts Facts::of(|x, k| {
        let c: [f64; 2] = known::fixed(x, k)?;
        let inner = known::log1m_exp(x[1] - x[0])?;
        Some(if k == 0 { Jet::identity(x[0]) + inner.stretched(-1.0) } else { inner.shifted(c[0]) })
    })
}
scalar_row! {
    LOG_ADD_EXP = "log_add_exp"(a, b), "log(exp(a) + exp(b))"; value a.max(b) + (-((a - b).abs())).exp().log1p();
    slopes(_y) [(a - b).inv_logit(), (b - a).inv_logit()];
    probes [&[0.5, -1.0], &[300.0, 299.0]];
    // c + log(1 + e^(x - c)).
    facts Facts::of(|x, k| {
        let c: [f64; 2] = known::fixed(x, k)?;
        Some(known::log1p_exp(x[k].shift(-c[1 - k]))?.shifted(c[1 - k]))
    })
}
scalar_row! {
    LOG_MIX = "log_mix"(w, a, b), "log(w exp(a) + (1 - w) exp(b))";
    value { let (p, q) = (w.ln() + a, (-w).log1p() + b); p.max(q) + (-((p - q).abs())).exp().log1p() };
    slopes(y) [(a - y).exp() - (b - y).exp(), w * (a - y).exp(), (T::one() - w) * (b - y).exp()];
    probes [&[0.3, 0.5, -1.0], &[0.9, -300.0, -299.0]];
    // In a and in b a log of a sum of exponentials, with the weights in the exponents; in w the log of a
    // linear function.
    facts Facts::of(|x, k| {
        let c: [f64; 3] = known::fixed(x, k)?;
        if k == 0 {
            let inside = x[0].lo >= 0.0 && x[0].hi <= 1.0;
            let value = Interval::new(c[1].min(c[2]), c[1].max(c[2]));
            return inside.then(|| Jet::new(value, Interval::REAL, Interval::NONPOSITIVE));
        }
        let (own, other) = match k {
            1 => (c[0].ln(), (-c[0]).ln_1p() + c[2]),
            _ => ((-c[0]).ln_1p(), c[0].ln() + c[1]),
        };
        let inside = c[0] > 0.0 && c[0] < 1.0;
        inside.then(|| known::log1p_exp(x[k].shift(own - other)).map(|j| j.shifted(other)))?
    })
}
scalar_row! {
    MULTIPLY_LOG = "multiply_log"(a, b), "a log(b), zero where a is"; value a.xlogy(b);
    slopes(_y, need) [if need[0] { b.ln() } else { T::zero() }, a.if_equal(T::zero(), T::zero(), a / b)];
    probes [&[0.5, 1.5], &[3.0, 0.2]];
    facts Facts::with_log(
        |x, k| {
            let c: [f64; 2] = known::fixed(x, k)?;
            if k == 0 {
                (c[1] > 0.0).then(|| Jet::linear(x[0], c[1].ln(), 0.0))
            } else {
                Some(known::log(x[1])?.scaled(c[0]))
            }
        },
        |x, k| { let c: [f64; 2] = known::fixed(x, k)?; (k == 1).then(|| Jet::linear(x[1], c[0], 0.0)) }
    )
}

pub(super) static ROWS: &[&ScalarRow] = &[
    &LGAMMA,
    &TGAMMA,
    &DIGAMMA,
    &TRIGAMMA,
    &LBETA,
    &LCHOOSE,
    &LFACTORIAL,
    &ERF,
    &ERFC,
    &PHI,
    &INV_PHI,
    &LOG_PHI,
    &LOG_BESSEL_I0,
    &LOG_DIFF_EXP,
    &LOG_ADD_EXP,
    &LOG_MIX,
    &MULTIPLY_LOG,
];
