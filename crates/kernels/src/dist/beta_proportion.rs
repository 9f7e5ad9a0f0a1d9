//! The beta distribution, by mean and concentration.

use super::beta::{draw, norm};
use super::incomplete::{beta_ratio, log_beta_inc, log_beta_inc_da, log_beta_inc_db};
use super::row::{ArgSpec, Density, Distribution, Domain, LOG_X, LOG1M_X, Part, Probe, Sampler, Support};
use crate::facts::{Interval, Jet, known};
use crate::num::real::Real;
use crate::num::special as sf;
use crate::ops::scalar::{Facts, scalar_row};

scalar_row! {
    JOINT = "beta_proportion"(log_x, log1m_x, mu, kappa), "(mu kappa - 1) log x + ((1 - mu) kappa - 1) log(1 - x)";
    value {
        let (a, b) = shapes(mu, kappa);
        a.shift(-1.0) * log_x + b.shift(-1.0) * log1m_x
    };
    slopes(_y) {
        let (a, b) = shapes(mu, kappa);
        [a.shift(-1.0), b.shift(-1.0), kappa * (log_x - log1m_x), mu * log_x + (T::one() - mu) * log1m_x]
    };
    probes [&[-0.3, -1.4, 0.3, 2.0], &[-30.0, -1e-5, 0.9, 20.0]];
    // Linear in each argument.
    facts Facts::of(|a, k| {
        let [lx, l1m, mu, kappa]: [f64; 4] = known::fixed(a, k)?;
        Some(match k {
            0 => Jet::linear(a[0], mu * kappa - 1.0, ((1.0 - mu) * kappa - 1.0) * l1m),
            1 => Jet::linear(a[1], (1.0 - mu) * kappa - 1.0, (mu * kappa - 1.0) * lx),
            2 => Jet::linear(a[2], kappa * (lx - l1m), (kappa - 1.0) * l1m - lx),
            _ => Jet::linear(a[3], mu * lx + (1.0 - mu) * l1m, -lx - l1m),
        })
    })
}

scalar_row! {
    NORM = "beta_proportion.norm"(mu, kappa), "-log B(mu kappa, (1 - mu) kappa)";
    value { let (a, b) = shapes(mu, kappa); norm(a, b) };
    slopes(_y, need) {
        let (a, b) = shapes(mu, kappa);
        let (p, q) = (a.digamma(), b.digamma());
        // No closure: one as large would be compiled for narrow registers.
        let in_kappa = if need[1] { kappa.digamma() - mu * p - (T::one() - mu) * q } else { T::zero() };
        [kappa * (q - p), in_kappa]
    };
    probes [&[0.5, 2.0], &[0.9, 0.1], &[0.2, 300.0]];
    // In mu the second derivative is -kappa² (ψ′(mu kappa) + ψ′((1 - mu) kappa)).
    facts Facts::of(|a, k| {
        let c: [f64; 2] = known::fixed(a, k)?;
        let known = k == 0 && c[1] > 0.0 && a[0].is_nonnegative() && a[0].hi <= 1.0;
        known.then_some(Jet { curvature: Interval::NONPOSITIVE, ..Jet::UNKNOWN })
    })
}

scalar_row! {
    LCDF = "beta_proportion_lcdf"(x, mu, kappa), "log I_x(mu kappa, (1 - mu) kappa), the incomplete beta function";
    value { let (a, b) = shapes(mu, kappa); log_beta_inc::<0, T>(a, b, x) };
    slopes(y, need) {
        let (a, b) = shapes(mu, kappa);
        let [in_mu, in_kappa] = outwards(
            mu,
            kappa,
            need[1] || need[2],
            || (log_beta_inc_da::<0, T>(a, b, x), log_beta_inc_db::<0, T>(a, b, x)),
        );
        [beta_ratio(a, b, x, y), in_mu, in_kappa]
    };
    probes [&[0.3, 0.4, 3.5], &[1e-3, 0.2, 2.5], &[0.9, 0.4, 5.0], &[0.5, 0.7, 60.0]]
}

scalar_row! {
    LCCDF = "beta_proportion_lccdf"(x, mu, kappa), "log(1 - I_x(mu kappa, (1 - mu) kappa)), the incomplete beta function";
    value { let (a, b) = shapes(mu, kappa); log_beta_inc::<1, T>(a, b, x) };
    slopes(y, need) {
        let (a, b) = shapes(mu, kappa);
        let [in_mu, in_kappa] = outwards(
            mu,
            kappa,
            need[1] || need[2],
            || (log_beta_inc_da::<1, T>(a, b, x), log_beta_inc_db::<1, T>(a, b, x)),
        );
        [-beta_ratio(a, b, x, y), in_mu, in_kappa]
    };
    probes [&[0.3, 0.4, 3.5], &[1e-3, 0.2, 2.5], &[0.9, 0.4, 5.0], &[0.8, 0.7, 60.0]]
}

/// The two shapes of the beta distribution.
#[inline(always)]
fn shapes<T: Real>(mu: T, kappa: T) -> (T, T) {
    (mu * kappa, (T::one() - mu) * kappa)
}

/// Slopes in (mu, kappa) from those in the shapes, if needed.
#[inline(always)]
fn outwards<T: Real>(mu: T, kappa: T, needed: bool, in_shapes: impl Fn() -> (T, T)) -> [T; 2] {
    if !needed {
        return [T::zero(); 2];
    }
    let (a, b) = in_shapes();
    [kappa * (a - b), mu * a + (T::one() - mu) * b]
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "beta_proportion",
    doc: "beta with mean mu and concentration kappa (shapes mu kappa and (1 - mu) kappa)",
    formula: "(mu * kappa - 1) * log(x) + ((1 - mu) * kappa - 1) * log1m(x) - lbeta(mu * kappa, (1 - mu) * kappa)",
    args: &[ArgSpec { name: "mu", domain: Domain::Unit, rank: 0, default: None }, ArgSpec::positive("kappa")],
    support: Support::INSIDE_UNIT,
    discrete: false,
    event: 0,
    density: Density::Parts(&[
        Part { row: &JOINT, of: &[LOG_X, LOG1M_X, 1, 2] },
        Part { row: &NORM, of: &[1, 2] },
    ]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| {
        let (alpha, beta) = shapes(a[0], a[1]);
        sf::inv_beta_inc(alpha, beta, p)
    }),
    sample: Sampler::Number(|rng, a| {
        let (alpha, beta) = shapes(a[0], a[1]);
        draw(rng, alpha, beta)
    }),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[0.3], args: &[&[0.4], &[3.5]] },
        Probe { x: &[1e-4], args: &[&[0.2], &[2.5]] },
        Probe { x: &[0.9], args: &[&[0.7], &[60.0]] },
    ],
};
