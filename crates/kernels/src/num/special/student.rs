//! The cdf of Student's t, through the incomplete beta function.

use super::incomplete_beta::{Point, log_tails, quantile};
use super::normal::{log_phi, phi_ratio};

/// Above this many degrees of freedom the law is normal to the last bit.
const NORMAL: f64 = 1e20;

/// log of P(T ≤ t) for ν > 0 degrees of freedom, accurate in both tails.
pub fn log_student_t_cdf(t: f64, nu: f64) -> f64 {
    if t.is_nan() || nu.is_nan() || nu <= 0.0 {
        return f64::NAN;
    }
    if t.is_infinite() {
        return if t > 0.0 { 0.0 } else { f64::NEG_INFINITY };
    }
    if nu > NORMAL {
        return log_phi(t);
    }
    if t == 0.0 {
        return -std::f64::consts::LN_2;
    }
    // Twice the tail beyond |t| is I_x(ν/2, ½) with x = ν / (ν + t²).
    let (_, log_two_tails) = log_tails::<0>(point(t, nu));
    let log_tail = log_two_tails.v - std::f64::consts::LN_2;
    if t < 0.0 { log_tail } else { (-log_tail.exp()).ln_1p() }
}

/// P(T ≤ t) for ν > 0 degrees of freedom, to 3e-15 (1 + |log P|) relative.
pub fn student_t_cdf(t: f64, nu: f64) -> f64 {
    log_student_t_cdf(t, nu).exp()
}

/// t²/(ν + t²) and its complement as a point of the beta law with shapes ½ and ν/2.
fn point(t: f64, nu: f64) -> Point {
    // Divides by the larger of |t| and √ν, so that squares do not overflow.
    let root = nu.sqrt();
    let (x, y) = if t.abs() < root {
        let r = t / root;
        let r2 = r * r;
        (r2 / (1.0 + r2), 1.0 / (1.0 + r2))
    } else {
        let r = root / t;
        let r2 = r * r;
        (1.0 / (1.0 + r2), r2 / (1.0 + r2))
    };
    Point { a: 0.5, b: 0.5 * nu, x, y }
}

/// ∂/∂ν of log P(T ≤ t). It is of the order of 1/ν² from parts of the order of 1/ν, so its relative error is
/// about 4e-15 (1 + ν).
pub fn log_student_t_cdf_dnu(t: f64, nu: f64) -> f64 {
    if t.is_nan() || nu.is_nan() || nu <= 0.0 {
        return f64::NAN;
    }
    if t == 0.0 || t.is_infinite() || nu > NORMAL {
        return 0.0;
    }
    // d log of a tail of the beta law: through b = ν/2, and through x, where dx/dν = -x y / ν.
    let p = point(t, nu);
    let (centre, tails) = log_tails::<2>(p);
    let log_density = 0.5 * p.x.ln() + 0.5 * nu * log_of(p.y, p.x) - super::lbeta(0.5, 0.5 * nu);
    // d log of the tail beyond |t|, from whichever is smaller, that tail or the mass between -|t| and |t|.
    let slope = if centre.v < tails.v {
        ((log_density - tails.v).exp() / nu) - 0.5 * centre.d[1] * (centre.v - tails.v).exp()
    } else {
        ((log_density - tails.v).exp() / nu) + 0.5 * tails.d[1]
    };
    // From log tail to log(1 - tail).
    let tail = 0.5 * tails.v.exp();
    if t < 0.0 { slope } else { -slope * tail / (1.0 - tail) }
}

fn log_of(y: f64, x: f64) -> f64 {
    if y > 0.5 { (-x).ln_1p() } else { y.ln() }
}

/// The t with P(T ≤ t) = p for ν > 0 degrees of freedom.
pub fn inv_student_t_cdf(p: f64, nu: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) || nu.is_nan() || nu <= 0.0 {
        return f64::NAN;
    }
    if p == 0.5 {
        return 0.0;
    }
    if nu > NORMAL {
        return super::inv_phi(p);
    }
    let tail = p.min(1.0 - p);
    let (x, y) = quantile(0.5, 0.5 * nu, (-2.0 * tail).ln_1p(), (2.0 * tail).ln());
    // t² = ν x / y
    let t = nu.sqrt() * x.sqrt() / y.sqrt();
    if p < 0.5 { -t } else { t }
}

/// The density of Student's t over its cdf, ∂/∂t of [`log_student_t_cdf`].
pub fn student_t_ratio(t: f64, nu: f64) -> f64 {
    if nu > NORMAL {
        return phi_ratio(t);
    }
    let log_density = -super::lbeta(0.5, 0.5 * nu) - 0.5 * nu.ln() - 0.5 * (nu + 1.0) * (t * t / nu).ln_1p();
    (log_density - log_student_t_cdf(t, nu)).exp()
}
