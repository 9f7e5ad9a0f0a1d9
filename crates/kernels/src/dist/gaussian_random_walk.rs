//! A random walk with normal steps.

use super::density::log_density;
use super::row::{ArgSpec, Density, Distribution, Domain, Noncentered, Probe, Sampler, Support};
use super::{draw, event, normal, std_normal};
use crate::graph::{BuildError, Builder, NodeId};
use crate::ops::scalar::WHERE;

/// The standard deviation of the first value: that of the steps where no other was given.
fn first_scale(b: &mut Builder, sigma: NodeId, init: NodeId) -> Result<NodeId, BuildError> {
    match b.constant_of(init) {
        Some(given) if given[..] == [0.0] && b.dims(init).is_empty() => Ok(sigma),
        Some(given) if given.contains(&0.0) => b.map(&WHERE, &[init, init, sigma]),
        _ => Ok(init),
    }
}

/// Columns `from..to` of the last axis.
fn columns(b: &mut Builder, x: NodeId, from: usize, to: usize) -> NodeId {
    let mut dims = b.dims(x).to_vec();
    let Some(last) = dims.last_mut() else { return x };
    let length = std::mem::replace(last, to - from);
    let rows = dims[..dims.len() - 1].iter().product::<usize>();
    let table = (0..rows).flat_map(|r| (from..to).map(move |t| (r * length + t) as u32)).collect();
    b.take(x, table, dims)
}

fn density(b: &mut Builder, x: NodeId, sigma: NodeId, init: NodeId) -> Result<NodeId, BuildError> {
    let length = b.dims(x).last().copied().unwrap_or(0);
    let zero = b.number(0.0);
    if length == 0 {
        return Ok(zero);
    }
    let start = first_scale(b, sigma, init)?;
    let (start, sigma) = (event::widen(b, start, 1), event::widen(b, sigma, 1));
    let first = columns(b, x, 0, 1);
    let first = log_density(b, &normal::ROW, first, &[zero, start])?;
    let first = event::sum_last(b, first)?;
    if length == 1 {
        return Ok(first);
    }
    let (here, before) = (columns(b, x, 1, length), columns(b, x, 0, length - 1));
    let steps = b.sub(here, before)?;
    let steps = log_density(b, &normal::ROW, steps, &[zero, sigma])?;
    let steps = event::sum_last(b, steps)?;
    b.add2(first, steps)
}

/// Running sums of sigma z, the first z scaled by the first value's standard deviation.
fn transform(b: &mut Builder, z: NodeId, sigma: NodeId, init: NodeId) -> Result<NodeId, BuildError> {
    let length = b.dims(z).last().copied().unwrap_or(0);
    let start = first_scale(b, sigma, init)?;
    let (wide_start, wide) = (event::widen(b, start, 1), event::widen(b, sigma, 1));
    let steps = if start == sigma {
        b.mul(wide, z)?
    } else {
        let is_first: Vec<f64> = (0..length).map(|t| if t == 0 { 1.0 } else { 0.0 }).collect();
        let is_first = event::vector(b, &is_first);
        let scales = b.map(&WHERE, &[is_first, wide_start, wide])?;
        b.mul(scales, z)?
    };
    b.cumsum(steps)
}

/// The row.
pub static ROW: Distribution = Distribution {
    name: "gaussian_random_walk",
    doc: "x[1] ~ normal(0, init), x[t] ~ normal(x[t-1], sigma); init = 0, the default, stands for sigma",
    formula: "sum(-0.5 * ((x[2..size(x)] - x[1..size(x) - 1]) / sigma)^2 - log(sigma) - 0.5 * log(2 * pi())) \
              - 0.5 * (x[1] / where(init == 0, sigma, init))^2 - log(where(init == 0, sigma, init)) - 0.5 * log(2 * pi())",
    args: &[
        ArgSpec { name: "sigma", domain: Domain::Positive, rank: 0, default: None },
        ArgSpec { name: "init", domain: Domain::NonNegative, rank: 0, default: Some(0.0) },
    ],
    support: Support::REAL,
    discrete: false,
    event: 1,
    density: Density::Events(|b, x, a| density(b, x, a[0], a[1])),
    lcdf: None,
    lccdf: None,
    quantile: None,
    sample: Sampler::Event(|rng, a, out| {
        let at = |k: usize| a.get(k).and_then(|v| v.first()).copied().unwrap_or(f64::NAN);
        let (sigma, init) = (at(0), at(1));
        let mut place = 0.0;
        for (t, o) in out.iter_mut().enumerate() {
            place += if t == 0 && init != 0.0 { init } else { sigma } * draw::normal(rng);
            *o = place;
        }
    }),
    noncentered: Some(Noncentered {
        base: &std_normal::ROW,
        base_args: &[],
        build: |b, z, a| transform(b, z, a[0], a[1]),
    }),
    links: &[],
    probes: &[
        Probe { x: &[0.3, -1.0, 0.2, 0.9], args: &[&[0.7], &[0.0]] },
        Probe { x: &[10.0, 11.0, 9.5], args: &[&[0.7], &[5.0]] },
    ],
};
