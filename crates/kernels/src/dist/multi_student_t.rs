//! The multivariate Student t distribution, by degrees of freedom, location and scale matrix.

use super::count::RISE;
use super::row::{ArgSpec, Density, Distribution, Domain, Probe, Sampler, Support};
use super::{draw, event};
use super::{multi_normal, multi_normal_cholesky as by_factor};
use crate::graph::{BuildError, Builder, NodeId};
use crate::num::real::HALF_LN_2PI;
use crate::ops::scalar::scalar_row;

scalar_row! {
    TAIL = "multi_student_t"(q, nu, k), "-(nu + k) / 2 log(1 + q / nu) for a squared distance q";
    value ((nu + k) * (q / nu).log1p()).scale(-0.5);
    slopes(_y, need) {
        let log = if need[1] || need[2] { (q / nu).log1p() } else { T::zero() };
        let pull = (nu + k) / (nu + q);
        [pull.scale(-0.5), (pull * q / nu - log).scale(0.5), log.scale(-0.5)]
    };
    probes [&[2.0, 3.0, 2.0], &[1e4, 0.4, 5.0], &[3.0, 1e9, 2.0]]
}

/// log Γ((ν + K)/2) - log Γ(ν/2) - K/2 log(ν/2) - K/2 log 2π - log det L - (ν + K)/2 log(1 + |L⁻¹(x - mu)|² /
/// ν): normal as ν grows, without cancellation.
fn density(b: &mut Builder, x: NodeId, nu: NodeId, mu: NodeId, l: NodeId) -> Result<NodeId, BuildError> {
    if !event::is_shared(b, (l, 2)) {
        return event::each(b, &[(x, 1), (nu, 0), (mu, 1), (l, 2)], |b, of| {
            density(b, of[0], of[1], of[2], of[3])
        });
    }
    let l = event::only(b, (l, 2));
    let centred = b.sub(x, mu)?;
    let z = event::solve(b, l, centred, false)?;
    let size = b.dims(z).last().copied().unwrap_or(1) as f64;
    let distance = event::squares(b, z)?;
    let k = b.number(size);
    let tail = b.map(&TAIL, &[distance, nu, k])?;
    let (half_k, half_nu) = (b.number(0.5 * size), event::scaled(b, 0.5, nu)?);
    let rise = b.map(&RISE, &[half_k, half_nu])?;
    let log_det = event::log_det(b, l)?;
    let constant = b.number(-size * HALF_LN_2PI);
    let spread = b.sub(constant, log_det)?;
    event::total(b, &[tail, rise, spread])
}

/// The row. There is no noncentered form: it would need one more number than x has.
pub static ROW: Distribution = Distribution {
    name: "multi_student_t",
    doc: "vectors with nu degrees of freedom, location mu and scale matrix Sigma",
    formula: "lgamma((nu + size(x)) / 2) - lgamma(nu / 2) - 0.5 * size(x) * log(nu * pi()) - 0.5 * logdet(Sigma) \
              - 0.5 * (nu + size(x)) * log1p(dot(x - mu, solve(Sigma, x - mu)) / nu)",
    args: &[
        ArgSpec { name: "nu", domain: Domain::Positive, rank: 0, default: None },
        ArgSpec { name: "mu", domain: Domain::Real, rank: 1, default: None },
        ArgSpec { name: "Sigma", domain: Domain::Covariance, rank: 2, default: None },
    ],
    support: Support::REAL,
    discrete: false,
    event: 1,
    density: Density::Events(|b, x, a| {
        let l = multi_normal::factors(b, a[2])?;
        density(b, x, a[0], a[1], l)
    }),
    lcdf: None,
    lccdf: None,
    quantile: None,
    sample: Sampler::Event(|rng, a, out| {
        let nu = a[0].first().copied().unwrap_or(f64::NAN);
        let stretch = (nu / draw::chi_squared(rng, nu)).sqrt();
        event::from_normals(rng, out, |b, z| {
            let (mu, sigma) = (event::vector(b, a[1]), event::matrix(b, a[2]));
            let l = event::cholesky(b, sigma)?;
            let z = event::scaled(b, stretch, z)?;
            by_factor::transform(b, z, mu, l)
        });
    }),
    noncentered: None,
    links: &[],
    probes: &[
        Probe { x: &[0.3, -1.0], args: &[&[3.5], &[1.0, 0.5], &[0.7, 0.4, 0.4, 1.3]] },
        Probe {
            x: &[30.0, 1.0, 2.0],
            args: &[&[30.0], &[0.0, 0.0, 1.0], &[1.0, -0.5, 0.2, -0.5, 0.8, 0.0, 0.2, 0.0, 3.0]],
        },
    ],
};
