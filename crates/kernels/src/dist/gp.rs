//! What the Gaussian process priors share: a normal with mean zero whose covariance is a function of data
//! points.

use super::event;
use super::row::{ArgSpec, Domain};
use crate::func::kernel::{Covariance, covariance};
use crate::graph::{BuildError, Builder, NodeId};
use rand_chacha::ChaCha8Rng;

/// The points, [N] or [N, D].
pub(super) const POINTS: ArgSpec = ArgSpec { name: "x", domain: Domain::Data, rank: 1, default: None };
/// The standard deviation of the function.
pub(super) const ALPHA: ArgSpec = ArgSpec { name: "alpha", domain: Domain::Positive, rank: 0, default: None };
/// The length scale.
pub(super) const RHO: ArgSpec = ArgSpec { name: "rho", domain: Domain::Positive, rank: 0, default: None };
/// What is added to the diagonal, so that points that lie close together leave it positive definite.
pub(super) const JITTER: ArgSpec =
    ArgSpec { name: "jitter", domain: Domain::NonNegative, rank: 0, default: Some(1e-10) };

/// A function of one event's values and the Cholesky factor of its covariance.
type OfFactor = fn(&mut Builder, NodeId, NodeId) -> Result<NodeId, BuildError>;

/// Applies `f` to `v` [.., N] and the factor of the covariance: one factor for all events, or one for each
/// where the arguments after the points (the last of them the jitter) come in batches.
fn with_factor(
    b: &mut Builder,
    form: Covariance,
    v: NodeId,
    args: &[NodeId],
    f: OfFactor,
) -> Result<NodeId, BuildError> {
    let [points, rest @ ..] = args else {
        return Err(BuildError("a Gaussian process needs points".into()));
    };
    let points = *points;
    let one = |b: &mut Builder, v: NodeId, of: &[NodeId]| {
        let [kernel @ .., jitter] = of else {
            return Err(BuildError("a Gaussian process needs a jitter".into()));
        };
        let k = covariance(b, form, points, kernel, Some(*jitter))?;
        let l = event::cholesky(b, k)?;
        f(b, v, l)
    };
    if rest.iter().all(|&a| event::is_shared(b, (a, 0))) {
        let rest: Vec<NodeId> = rest.iter().map(|&a| event::only(b, (a, 0))).collect();
        return one(b, v, &rest);
    }
    let mut pieces = vec![(v, 1)];
    pieces.extend(rest.iter().map(|&a| (a, 0)));
    event::each(b, &pieces, |b, of| one(b, of[0], &of[1..]))
}

/// The log density.
pub(super) fn density(
    b: &mut Builder,
    form: Covariance,
    f: NodeId,
    args: &[NodeId],
) -> Result<NodeId, BuildError> {
    with_factor(b, form, f, args, event::centred_normal)
}

/// L z.
pub(super) fn transform(
    b: &mut Builder,
    form: Covariance,
    z: NodeId,
    args: &[NodeId],
) -> Result<NodeId, BuildError> {
    with_factor(b, form, z, args, |b, z, l| event::product(b, l, z))
}

/// A draw of the function at the points.
pub(super) fn sample(rng: &mut ChaCha8Rng, form: Covariance, args: &[&[f64]], out: &mut [f64]) {
    let n = out.len().max(1);
    event::from_normals(rng, out, |b, z| {
        let width = args[0].len() / n;
        let dims = if width == 1 { vec![n] } else { vec![n, width] };
        let mut nodes = vec![b.constant(args[0].to_vec(), dims)];
        nodes.extend(args[1..].iter().map(|a| b.number(a.first().copied().unwrap_or(f64::NAN))));
        transform(b, form, z, &nodes)
    });
}

/// Defines the row of a covariance function.
macro_rules! gp_row {
    (
        $name:literal, $doc:literal, $form:ident, [$($extra:expr),*],
        $kernel:literal, [$($value:literal),*]
    ) => {
        /// The row.
        pub static ROW: Distribution = Distribution {
            name: $name,
            doc: $doc,
            formula: concat!(
                "multi_normal_lpdf(f, zeros(size(f)), ", $kernel, " + jitter * identity(size(f)))"
            ),
            args: &[gp::POINTS, gp::ALPHA, gp::RHO, $($extra,)* gp::JITTER],
            support: Support::REAL,
            discrete: false,
            event: 1,
            density: Density::Events(|b, f, a| gp::density(b, Covariance::$form, f, a)),
            lcdf: None,
            lccdf: None,
            quantile: None,
            sample: Sampler::Event(|rng, a, out| gp::sample(rng, Covariance::$form, a, out)),
            noncentered: Some(Noncentered {
                base: &std_normal::ROW,
                base_args: &[],
                build: |b, z, a| gp::transform(b, Covariance::$form, z, a),
            }),
            links: &[],
    probes: &[
                Probe { x: &[0.3, -1.0, 0.2, 0.9], args: &[&[0.0, 0.4, 1.1, 2.0], $(&[$value],)* &[1e-10]] },
                Probe { x: &[3.0, -1.0], args: &[&[0.0, 0.4], $(&[$value],)* &[0.01]] },
            ],
        };
    };
}
pub(super) use gp_row;
