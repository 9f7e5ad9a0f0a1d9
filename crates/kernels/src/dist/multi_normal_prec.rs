//! The multivariate normal distribution, by mean and precision.

use super::event;
use super::row::{ArgSpec, Density, Distribution, Domain, Noncentered, Probe, Sampler, Support};
use super::std_normal;
use crate::graph::{BuildError, Builder, NodeId};

/// With Omega = LLᵀ, z = Lᵀ (x - mu) is standard normal and log det of the covariance's factor is -log det L.
fn density(b: &mut Builder, x: NodeId, mu: NodeId, omega: NodeId) -> Result<NodeId, BuildError> {
    if !event::is_shared(b, (omega, 2)) {
        return event::each(b, &[(x, 1), (mu, 1), (omega, 2)], |b, of| density(b, of[0], of[1], of[2]));
    }
    let omega = event::only(b, (omega, 2));
    let l = event::cholesky(b, omega)?;
    let centred = b.sub(x, mu)?;
    let upper = b.transpose(l);
    let z = event::product(b, upper, centred)?;
    let log_det = event::log_det(b, l)?;
    let log_det = event::scaled(b, -1.0, log_det)?;
    event::normal_of_whitened(b, z, log_det)
}

/// mu + L⁻ᵀ z.
fn transform(b: &mut Builder, z: NodeId, mu: NodeId, omega: NodeId) -> Result<NodeId, BuildError> {
    if !event::is_shared(b, (omega, 2)) {
        return event::each(b, &[(z, 1), (mu, 1), (omega, 2)], |b, of| transform(b, of[0], of[1], of[2]));
    }
    let omega = event::only(b, (omega, 2));
    let l = event::cholesky(b, omega)?;
    let moved = event::solve(b, l, z, true)?;
    b.add2(mu, moved)
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "multi_normal_prec",
    doc: "vectors with mean mu and precision (inverse covariance) Omega",
    formula: "-0.5 * quad_form(Omega, x - mu) + 0.5 * logdet(Omega) - 0.5 * size(x) * log(2 * pi())",
    args: &[
        ArgSpec { name: "mu", domain: Domain::Real, rank: 1, default: None },
        ArgSpec { name: "Omega", domain: Domain::Covariance, rank: 2, default: None },
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
            let (mu, omega) = (event::vector(b, a[0]), event::matrix(b, a[1]));
            transform(b, z, mu, omega)
        });
    }),
    noncentered: Some(Noncentered {
        base: &std_normal::ROW,
        base_args: &[],
        build: |b, z, a| transform(b, z, a[0], a[1]),
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.3, -1.0], args: &[&[1.0, 0.5], &[0.7, 0.4, 0.4, 1.3]] },
        Probe {
            x: &[3.0, 1.0, 2.0],
            args: &[&[0.0, 0.0, 1.0], &[1.0, -0.5, 0.2, -0.5, 0.8, 0.0, 0.2, 0.0, 3.0]],
        },
    ],
};
