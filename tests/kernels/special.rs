//! Special and elementary functions against reference values from mpmath (`tests/reference/special.csv`).

use std::collections::BTreeMap;
use stickler::num::elementary as el;
use stickler::num::real::Real;
use stickler::num::special as sf;

/// How a function's error is measured.
enum Error {
    /// Units in the last place of the correctly rounded value.
    Ulps(f64),
    /// |got - value| / |value|
    Relative(f64),
    /// |got - value| / |value| / (1 + |log value|): what a probability keeps when it is computed in logs.
    InLogs(f64),
    /// |got - value| / max(|value|, 1), for logs that pass through zero.
    OfOne(f64),
}
use Error::{InLogs, OfOne, Relative, Ulps};

/// A function of the row's arguments, and the error allowed.
type Row = (&'static str, fn(&[f64]) -> f64, Error);

const ROWS: &[Row] = &[
    ("lgamma_in_lanes", |x| Real::lgamma(x[0]), OfOne(2e-15)),
    ("digamma_in_lanes", |x| Real::digamma(x[0]), OfOne(1e-15)),
    ("exp", |x| el::exp(x[0]), Ulps(1.0)),
    ("ln", |x| el::ln(x[0]), Ulps(1.0)),
    ("log1p", |x| el::log1p(x[0]), Ulps(1.0)),
    ("expm1", |x| el::expm1(x[0]), Ulps(2.0)),
    ("tanh", |x| el::tanh(x[0]), Ulps(2.0)),
    ("inv_logit", |x| el::inv_logit(x[0]), Ulps(2.0)),
    ("log1p_exp", |x| el::log1p_exp(x[0]), Ulps(2.0)),
    ("sin", |x| Real::sin(x[0]), Ulps(1.0)),
    ("cos", |x| Real::cos(x[0]), Ulps(1.0)),
    ("lgamma", |x| sf::lgamma(x[0]), Relative(5e-16)),
    ("lgamma1p", |x| sf::lgamma1p(x[0]), Relative(1e-15)),
    ("digamma", |x| sf::digamma(x[0]), Relative(1e-15)),
    ("trigamma", |x| sf::trigamma(x[0]), Relative(1e-15)),
    ("tetragamma", |x| sf::tetragamma(x[0]), Relative(2e-15)),
    ("pentagamma", |x| sf::pentagamma(x[0]), Relative(2e-15)),
    ("lmultigamma", |x| sf::lmultigamma(x[0] as usize, x[1]), OfOne(2e-15)),
    ("erf", |x| sf::erf(x[0]), Relative(4e-16)),
    ("erfc", |x| sf::erfc(x[0]), Relative(5e-16)),
    ("erfcx", |x| sf::erfcx(x[0]), Relative(1e-15)),
    ("phi", |x| sf::phi(x[0]), Relative(1e-15)),
    ("log_phi", |x| sf::log_phi(x[0]), Relative(1e-15)),
    ("phi_ratio", |x| sf::phi_ratio(x[0]), Relative(1e-15)),
    ("inv_phi", |x| sf::inv_phi(x[0]), Relative(1e-15)),
    ("inv_erfc", |x| sf::inv_erfc(x[0]), Relative(1e-15)),
    ("inv_erf", |x| sf::inv_erf(x[0]), Relative(1e-15)),
    ("log1m_exp", |x| sf::log1m_exp(x[0]), Relative(5e-16)),
    ("log_inv_logit", |x| sf::log_inv_logit(x[0]), Relative(5e-16)),
    ("logit", |x| sf::logit(x[0]), Relative(1e-15)),
    ("log_diff_exp", |x| sf::log_diff_exp(x[0], x[1]), OfOne(5e-16)),
    ("lbeta", |x| sf::lbeta(x[0], x[1]), OfOne(2e-15)),
    ("lchoose", |x| sf::lchoose(x[0], x[1]), OfOne(2e-15)),
    ("gamma_p", |x| sf::gamma_p(x[0], x[1]), InLogs(3e-15)),
    ("gamma_q", |x| sf::gamma_q(x[0], x[1]), InLogs(3e-15)),
    ("log_gamma_p", |x| sf::log_gamma_p(x[0], x[1]), InLogs(3e-15)),
    ("log_gamma_q", |x| sf::log_gamma_q(x[0], x[1]), InLogs(3e-15)),
    ("gamma_p_da", |x| sf::gamma_p_da(x[0], x[1]), Relative(1e-12)),
    ("inv_gamma_p_of", inverse_gamma_p, Relative(1e-13)),
    ("inv_gamma_q_of", inverse_gamma_q, Relative(1e-13)),
    ("beta_inc", |x| sf::beta_inc(x[0], x[1], x[2]), InLogs(3e-15)),
    ("beta_inc_upper", |x| sf::beta_inc_upper(x[0], x[1], x[2]), InLogs(3e-15)),
    ("log_beta_inc", |x| sf::log_beta_inc(x[0], x[1], x[2]), InLogs(3e-15)),
    ("beta_inc_da", |x| sf::beta_inc_dab(x[0], x[1], x[2]).0, Relative(1e-12)),
    ("beta_inc_db", |x| sf::beta_inc_dab(x[0], x[1], x[2]).1, Relative(1e-12)),
    ("inv_beta_inc_of", inverse_beta, Relative(1e-13)),
    ("student_t_cdf", |x| sf::student_t_cdf(x[0], x[1]), InLogs(3e-15)),
    ("log_student_t_cdf", |x| sf::log_student_t_cdf(x[0], x[1]), InLogs(3e-15)),
    ("log_student_t_cdf_dnu", |x| sf::log_student_t_cdf_dnu(x[0], x[1]), Relative(1e-9)),
    ("inv_student_t_cdf_of", inverse_student, Relative(1e-13)),
    ("bessel_i0_scaled", |x| sf::bessel_i0_scaled(x[0]), Relative(2e-15)),
    ("bessel_i1_scaled", |x| sf::bessel_i1_scaled(x[0]), Relative(2e-15)),
    ("log_bessel_i0", |x| sf::log_bessel_i0(x[0]), Relative(2e-15)),
    ("log_bessel_i1", |x| sf::log_bessel_i1(x[0]), OfOne(2e-15)),
    ("bessel_ratio", |x| sf::bessel_ratio(x[0]), Relative(2e-15)),
    ("bessel_ratio_slope", |x| sf::bessel_ratio_slope(x[0]), Relative(1e-12)),
    ("von_mises_cdf", |x| sf::von_mises_cdf(x[0], x[1]), InLogs(3e-15)),
    ("owens_t", |x| sf::owens_t(x[0], x[1]), InLogs(3e-15)),
];

/// The rows of an inverse hold (parameters and x, P). The quantile of P must give x back; it is returned in
/// units of P, so that where P hardly changes with x the quantile is not asked for more than P can say.
fn inverse_gamma_p(x: &[f64]) -> f64 {
    let [a, x, p] = [x[0], x[1], x[2]];
    p + (sf::inv_gamma_p(a, p) - x) * sf::gamma_p_dx(a, x).min(p / x)
}

fn inverse_gamma_q(x: &[f64]) -> f64 {
    let [a, x, q] = [x[0], x[1], x[2]];
    q + (sf::inv_gamma_q(a, q) - x) * sf::gamma_p_dx(a, x).min(q / x)
}

fn inverse_beta(x: &[f64]) -> f64 {
    let [a, b, x, p] = [x[0], x[1], x[2], x[3]];
    p + (sf::inv_beta_inc(a, b, p) - x) * sf::beta_inc_dx(a, b, x).min(p / x)
}

fn inverse_student(x: &[f64]) -> f64 {
    let [t, nu, p] = [x[0], x[1], x[2]];
    p + (sf::inv_student_t_cdf(p, nu) - t) * (p * sf::student_t_ratio(t, nu)).min(p / t.abs())
}

/// The distance from |x| to the next double.
fn ulp(x: f64) -> f64 {
    x.abs().next_up() - x.abs()
}

#[test]
fn functions_match_their_reference_values() {
    let table: BTreeMap<&str, &Row> = ROWS.iter().map(|row| (row.0, row)).collect();
    let mut worst: BTreeMap<&str, (f64, String)> = BTreeMap::new();
    for line in include_str!("../reference/special.csv").lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let numbers: Vec<f64> = fields[1..].iter().map(|x| x.parse().unwrap()).collect();
        let value = numbers[numbers.len() - 1];
        // What kernels call has rows of its own here, with the same reference values.
        let in_lanes = table.get(format!("{}_in_lanes", fields[0]).as_str());
        for (name, f, tolerance) in [Some(&table[fields[0]]), in_lanes].into_iter().flatten() {
            let got = f(&numbers);
            let (error, allowed) = match tolerance {
                Ulps(allowed) => ((got - value).abs() / ulp(value), allowed),
                Relative(allowed) if value == 0.0 => (got.abs(), allowed),
                Relative(allowed) => (((got - value) / value).abs(), allowed),
                InLogs(allowed) => (((got - value) / value / (1.0 + value.abs().ln().abs())).abs(), allowed),
                OfOne(allowed) => ((got - value).abs() / value.abs().max(1.0), allowed),
            };
            let ratio = if error.is_nan() { f64::INFINITY } else { error / allowed };
            let entry = worst.entry(name).or_insert((-1.0, String::new()));
            if ratio > entry.0 {
                *entry = (ratio, format!("{line} but got {got:e}: error {error:.1e}, allowed {allowed:.1e}"));
            }
        }
    }
    assert_eq!(worst.len(), ROWS.len(), "every function has reference values");
    let failures: Vec<&String> = worst.values().filter(|w| w.0 > 1.0).map(|w| &w.1).collect();
    assert!(failures.is_empty(), "worst case of each function that fails:\n{failures:#?}");
}

#[test]
fn nan_in_gives_nan_out_and_outside_the_domain_is_nan() {
    let nan = f64::NAN;
    for (name, f, _) in ROWS {
        if name.ends_with("_of") || *name == "lmultigamma" {
            continue;
        }
        for k in 0..3 {
            let mut x = [0.3, 0.4, 0.5];
            let base = f(&x);
            x[k] = nan;
            // A position that the function does not read leaves it as it was.
            let got = f(&x);
            let mut moved = [0.3, 0.4, 0.5];
            moved[k] = 0.27;
            let reads = f(&moved).to_bits() != base.to_bits();
            assert!(!reads || got.is_nan(), "{name} of NaN in place {k} is {got}");
        }
    }
    let outside = [
        sf::digamma(0.0),
        sf::trigamma(-3.0),
        sf::lgamma1p(-1.5),
        sf::lmultigamma(3, 1.0),
        sf::inv_phi(-0.1),
        sf::inv_phi(1.1),
        sf::inv_erf(1.5),
        sf::inv_erfc(-0.1),
        sf::log1m_exp(0.5),
        sf::logit(1.5),
        sf::log_diff_exp(1.0, 2.0),
        sf::lbeta(-1.0, 2.0),
        sf::lchoose(-1.0, 2.0),
        sf::gamma_p(-1.0, 2.0),
        sf::gamma_q(1.0, -2.0),
        sf::inv_gamma_p(1.0, 1.5),
        sf::beta_inc(1.0, 2.0, 1.5),
        sf::beta_inc(-1.0, 2.0, 0.5),
        sf::inv_beta_inc(1.0, 0.0, 0.5),
        sf::student_t_cdf(1.0, -1.0),
        sf::log_bessel_i1(-1.0),
        sf::von_mises_cdf(0.0, -1.0),
    ];
    for (i, x) in outside.iter().enumerate() {
        assert!(x.is_nan(), "number {i} is {x}");
    }
}

#[test]
fn the_ends_of_the_domain() {
    let inf = f64::INFINITY;
    assert_eq!((sf::inv_phi(0.0), sf::inv_phi(1.0), sf::inv_phi(0.5)), (-inf, inf, 0.0));
    assert_eq!(
        (sf::inv_erf(1.0), sf::inv_erf(-1.0), sf::inv_erfc(2.0), sf::inv_erfc(0.0)),
        (inf, -inf, -inf, inf)
    );
    assert_eq!((sf::phi(-inf), sf::phi(inf), sf::log_phi(-inf), sf::log_phi(inf)), (0.0, 1.0, -inf, 0.0));
    assert_eq!((sf::phi_ratio(inf), sf::phi_ratio(-inf)), (0.0, inf));
    assert_eq!((sf::gamma_p(2.0, 0.0), sf::gamma_p(2.0, inf), sf::gamma_q(2.0, inf)), (0.0, 1.0, 0.0));
    assert_eq!((sf::inv_gamma_p(2.0, 0.0), sf::inv_gamma_p(2.0, 1.0)), (0.0, inf));
    assert_eq!((sf::beta_inc(2.0, 3.0, 0.0), sf::beta_inc(2.0, 3.0, 1.0)), (0.0, 1.0));
    assert_eq!((sf::inv_beta_inc(2.0, 3.0, 0.0), sf::inv_beta_inc(2.0, 3.0, 1.0)), (0.0, 1.0));
    assert_eq!((sf::student_t_cdf(-inf, 3.0), sf::student_t_cdf(0.0, 3.0)), (0.0, 0.5));
    assert_eq!((sf::logit(0.0), sf::logit(1.0), sf::logit(0.5)), (-inf, inf, 0.0));
    assert_eq!(
        (sf::log_sum_exp(&[]), sf::log_sum_exp(&[-inf, -inf]), sf::log_sum_exp(&[inf, 0.0])),
        (-inf, -inf, inf)
    );
    assert!((sf::log_sum_exp(&[1000.0, 1000.0]) - 1000.0 - 2f64.ln()).abs() < 1e-12);
    assert!(sf::log_sum_exp(&[f64::NAN, 1.0]).is_nan() && sf::log_sum_exp(&[f64::NAN, inf]).is_nan());
}
