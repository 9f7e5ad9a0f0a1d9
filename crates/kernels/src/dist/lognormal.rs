//! The lognormal distribution, by mean and standard deviation of the logarithm.

use super::jets;
use super::row::{ArgSpec, Density, Distribution, LOG_X, Noncentered, Part, Probe, Sampler, Support};
use super::shared::shifted;
use super::{normal, std_normal};
use crate::facts::{Interval, Jet, known};
use crate::num::real::Real;
use crate::num::special as sf;
use crate::ops::scalar::{EXP, Facts, NEG, scalar_row};
use rand_distr::{Distribution as _, StandardNormal};

scalar_row! {
    LCDF = "lognormal_lcdf"(x, mu, sigma), "log Φ((log x - mu) / sigma)";
    value ((x.ln() - mu) / sigma).log_phi();
    slopes(_y) { let z = (x.ln() - mu) / sigma; through_log(z.phi_ratio(), z, x, sigma) };
    probes [&[0.3, 1.0, 2.0], &[1e-8, 1.0, 0.9], &[1e5, 0.0, 2.0]];
    // log Φ of a linear function of log x and mu.
    facts Facts::with_log(
        |a, k| {
            if k == 0 {
                rising(a)
            } else {
                jets::location(&jets::in_log_x(a)?, k, [0, 1, 2], known::log_phi)
            }
        },
        |a, k| if k == 0 { jets::location(a, k, [0, 1, 2], known::log_phi) } else { None }
    )
}

scalar_row! {
    LCCDF = "lognormal_lccdf"(x, mu, sigma), "log Φ((mu - log x) / sigma)";
    value ((mu - x.ln()) / sigma).log_phi();
    slopes(_y) { let z = (x.ln() - mu) / sigma; through_log(-(-z).phi_ratio(), z, x, sigma) };
    probes [&[0.3, 1.0, 2.0], &[1e-4, 1.0, 0.9], &[1e8, 0.0, 1.0]];
    facts Facts::with_log(
        |a, k| if k == 0 { None } else { jets::location(&jets::in_log_x(a)?, k, [0, 1, 2], upper) },
        |a, k| if k == 0 { jets::location(a, k, [0, 1, 2], upper) } else { None }
    )
}

/// Slopes in (x, mu, sigma) of a function of z = (log x - mu) / sigma.
#[inline(always)]
fn through_log<T: Real>(dz: T, z: T, x: T, sigma: T) -> [T; 3] {
    let g = dz / sigma;
    [g / x, -g, -(g * z)]
}

/// log Φ(-z).
fn upper(z: Interval) -> Option<Jet> {
    Some(known::log_phi(-z)?.stretched(-1.0))
}

/// In x the log cdf rises and is concave: log Φ is, and so is log x.
fn rising(a: &[Interval]) -> Option<Jet> {
    let known = a[0].is_nonnegative() && a[1].is_point() && a[2].is_point() && a[2].lo > 0.0;
    known.then(|| jets::concave_probability(true))
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "lognormal",
    doc: "exponential of a normal with mean mu and standard deviation sigma",
    formula: "-0.5 * ((log(x) - mu) / sigma)^2 - log(x) - log(sigma) - 0.5 * log(2 * pi())",
    args: &[ArgSpec::real("mu"), ArgSpec::positive("sigma")],
    support: Support::ABOVE_ZERO,
    discrete: false,
    event: 0,
    density: Density::Parts(&[
        Part { row: &normal::JOINT, of: &[LOG_X, 1, 2] },
        Part { row: &NEG, of: &[LOG_X] },
        Part { row: &normal::SCALE, of: &[2] },
    ]),
    lcdf: Some(&LCDF),
    lccdf: Some(&LCCDF),
    quantile: Some(|p, a| (a[0] + a[1] * sf::inv_phi(p)).exp()),
    sample: Sampler::Number(|rng, a| {
        let z: f64 = StandardNormal.sample(rng);
        (a[0] + a[1] * z).exp()
    }),
    noncentered: Some(Noncentered {
        base: &std_normal::ROW,
        base_args: &[],
        build: |b, z, a| {
            let log_x = shifted(b, z, a[0], a[1])?;
            Ok(b.unary(&EXP, log_x))
        },
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.3], args: &[&[1.0], &[2.0]] },
        Probe { x: &[1e-6], args: &[&[1.0], &[1.5]] },
        Probe { x: &[1e5], args: &[&[0.5], &[1.2]] },
    ],
};
