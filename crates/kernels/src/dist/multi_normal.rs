//! The multivariate normal distribution, by mean and covariance.

use super::event;
use super::multi_normal_cholesky as by_factor;
use super::row::{ArgSpec, Density, Distribution, Domain, Noncentered, Probe, Sampler, Support};
use super::std_normal;
use crate::graph::{BuildError, Builder, NodeId};

/// The Cholesky factors of one covariance or of a batch of them.
pub(super) fn factors(b: &mut Builder, sigma: NodeId) -> Result<NodeId, BuildError> {
    if event::is_shared(b, (sigma, 2)) {
        let sigma = event::only(b, (sigma, 2));
        return event::cholesky(b, sigma);
    }
    event::each(b, &[(sigma, 2)], |b, of| event::cholesky(b, of[0]))
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "multi_normal",
    doc: "vectors with mean mu and covariance Sigma",
    formula: "-0.5 * dot(x - mu, solve(Sigma, x - mu)) - 0.5 * logdet(Sigma) - 0.5 * size(x) * log(2 * pi())",
    args: &[
        ArgSpec { name: "mu", domain: Domain::Real, rank: 1, default: None },
        ArgSpec { name: "Sigma", domain: Domain::Covariance, rank: 2, default: None },
    ],
    support: Support::REAL,
    discrete: false,
    event: 1,
    density: Density::Events(|b, x, a| {
        let l = factors(b, a[1])?;
        by_factor::density(b, x, a[0], l)
    }),
    lcdf: None,
    lccdf: None,
    quantile: None,
    sample: Sampler::Event(|rng, a, out| {
        event::from_normals(rng, out, |b, z| {
            let (mu, sigma) = (event::vector(b, a[0]), event::matrix(b, a[1]));
            let l = event::cholesky(b, sigma)?;
            by_factor::transform(b, z, mu, l)
        });
    }),
    noncentered: Some(Noncentered {
        base: &std_normal::ROW,
        base_args: &[],
        build: |b, z, a| {
            let l = factors(b, a[1])?;
            by_factor::transform(b, z, a[0], l)
        },
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.3, -1.0], args: &[&[1.0, 0.5], &[0.7, 0.4, 0.4, 1.3]] },
        Probe {
            x: &[30.0, 1.0, 2.0],
            args: &[&[0.0, 0.0, 1.0], &[1.0, -0.5, 0.2, -0.5, 0.8, 0.0, 0.2, 0.0, 3.0]],
        },
    ],
};
