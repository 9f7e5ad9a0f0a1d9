//! The multivariate normal distribution, by mean and Cholesky factor of the covariance.

use super::event::{self, centred_normal};
use super::row::{ArgSpec, Density, Distribution, Domain, Noncentered, Probe, Sampler, Support};
use super::std_normal;
use crate::graph::{BuildError, Builder, NodeId};

/// The log density; one triangular solve for all events where the factor is shared.
pub(super) fn density(b: &mut Builder, x: NodeId, mu: NodeId, l: NodeId) -> Result<NodeId, BuildError> {
    if event::is_shared(b, (l, 2)) {
        let l = event::only(b, (l, 2));
        let centred = b.sub(x, mu)?;
        return centred_normal(b, centred, l);
    }
    event::each(b, &[(x, 1), (mu, 1), (l, 2)], |b, of| {
        let centred = b.sub(of[0], of[1])?;
        centred_normal(b, centred, of[2])
    })
}

/// mu + L z.
pub(super) fn transform(b: &mut Builder, z: NodeId, mu: NodeId, l: NodeId) -> Result<NodeId, BuildError> {
    if event::is_shared(b, (l, 2)) {
        let l = event::only(b, (l, 2));
        let moved = event::product(b, l, z)?;
        return b.add2(mu, moved);
    }
    event::each(b, &[(z, 1), (mu, 1), (l, 2)], |b, of| {
        let moved = b.matmul(of[2], of[0])?;
        b.add2(of[1], moved)
    })
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "multi_normal_cholesky",
    doc: "vectors with mean mu and covariance L * L'",
    formula: "-0.5 * sum(solve_lower(L, x - mu)^2) - sum(log(diag(L))) - 0.5 * size(x) * log(2 * pi())",
    args: &[
        ArgSpec { name: "mu", domain: Domain::Real, rank: 1, default: None },
        ArgSpec { name: "L", domain: Domain::CholeskyFactor, rank: 2, default: None },
    ],
    support: Support::REAL,
    discrete: false,
    event: 1,
    density: Density::Events(|b, x, a| density(b, x, a[0], a[1])),
    lcdf: None,
    lccdf: None,
    quantile: None,
    sample: Sampler::Event(|rng, a, out| {
        event::from_normals(rng, out, |b, z| {
            let (mu, l) = (event::vector(b, a[0]), event::matrix(b, a[1]));
            transform(b, z, mu, l)
        });
    }),
    noncentered: Some(Noncentered {
        base: &std_normal::ROW,
        base_args: &[],
        build: |b, z, a| transform(b, z, a[0], a[1]),
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.3, -1.0], args: &[&[1.0, 0.5], &[0.7, 0.0, 0.4, 1.3]] },
        Probe {
            x: &[30.0, 1.0, 2.0],
            args: &[&[0.0, 0.0, 1.0], &[1.0, 0.0, 0.0, -0.5, 0.8, 0.0, 2.0, 0.1, 3.0]],
        },
    ],
};
