//! The log density of any distribution, as nodes of the graph.

use super::event;
use super::guard::{Guarded, OR_NEVER, WITHIN};
use super::row::{Density, Distribution, LOG_X, LOG1M_X, Part};
use crate::graph::{BuildError, Builder, NodeId};
use crate::ops::operand::Broadcast;
use crate::ops::scalar::{LOG, LOG1M, ScalarRow, WHERE};

/// The log density, element by element of the broadcast arguments (event by event for arrays).
pub fn log_density(
    b: &mut Builder,
    dist: &Distribution,
    x: NodeId,
    args: &[NodeId],
) -> Result<NodeId, BuildError> {
    if let Some((to, args)) = linked(b, dist, args) {
        return log_density(b, to, x, &args);
    }
    let Guarded { x, args, checks, never } = Guarded::new(b, dist, x, args)?;
    let parts = match dist.density {
        Density::Events(build) => {
            let mut each = build(b, x, &args)?;
            if never {
                each = b.unary(&OR_NEVER, each);
            }
            for check in checks {
                let mut penalty = b.map(&WITHIN, &check.of)?;
                for _ in 0..check.rank.min(b.dims(penalty).len()) {
                    penalty = event::sum_last(b, penalty)?;
                }
                each = b.add2(each, penalty)?;
            }
            return Ok(each);
        }
        Density::Parts(parts) => parts,
    };
    let dims = all_dims(b, x, &args)?;
    let mut total = b.number(0.0);
    for part in parts {
        let of = chosen(b, part, x, &args);
        let term = b.map(part.row, &of)?;
        total = b.add2(total, term)?;
    }
    for check in checks {
        let penalty = b.map(&WITHIN, &check.of)?;
        total = b.add2(total, penalty)?;
    }
    Ok(b.broadcast_to(total, &dims))
}

/// The sum of the log density over all elements, each weighted by a constant if one is given.
pub fn log_density_sum(
    b: &mut Builder,
    dist: &Distribution,
    x: NodeId,
    args: &[NodeId],
    weight: Option<NodeId>,
) -> Result<NodeId, BuildError> {
    if let Some((to, args)) = linked(b, dist, args) {
        return log_density_sum(b, to, x, &args, weight);
    }
    let parts = match dist.density {
        Density::Events(_) => {
            let mut each = log_density(b, dist, x, args)?;
            if let Some(w) = weight {
                each = weighted(b, each, w)?;
            }
            return b.sum(each, None);
        }
        Density::Parts(parts) => parts,
    };
    let Guarded { x, args, checks, .. } = Guarded::new(b, dist, x, args)?;
    let mut all = vec![x];
    all.extend(args.iter().chain(&weight));
    let dims = b.common(&all)?;
    let count: usize = dims.iter().product();
    let mut total = b.number(0.0);
    for part in parts {
        let of = chosen(b, part, x, &args);
        let own = b.common(&of)?;
        let repeats = count / own.iter().product::<usize>().max(1);
        let term = match weight {
            Some(w) => {
                let w = gathered_weight(b, w, &dims, &own);
                b.map_sum(part.row, &of, Some(w))?
            }
            None => {
                let once = b.map_sum(part.row, &of, None)?;
                let times = b.number(repeats as f64);
                b.mul(times, once)?
            }
        };
        total = b.add2(total, term)?;
    }
    for check in checks {
        let term = match weight {
            None => b.map_sum(&WITHIN, &check.of, None)?,
            Some(w) => {
                let penalty = b.map(&WITHIN, &check.of)?;
                let own = b.dims(penalty).to_vec();
                let w = gathered_weight(b, w, &dims, &own);
                let penalty = weighted(b, penalty, w)?;
                b.sum(penalty, None)?
            }
        };
        total = b.add2(total, term)?;
    }
    Ok(total)
}

/// The distribution that says the same in terms of what an argument is a function of, with its arguments.
fn linked(
    b: &mut Builder,
    dist: &Distribution,
    args: &[NodeId],
) -> Option<(&'static Distribution, Vec<NodeId>)> {
    for link in dist.links {
        let of = |row: &ScalarRow| row == link.of;
        if let Some(&arg) = args.get(link.arg)
            && let Some((_, inner)) = b.inner(arg, of)
        {
            let mut args = args.to_vec();
            args[link.arg] = inner;
            return Some((link.to, args));
        }
    }
    None
}

/// Log densities times constant weights; what has no weight counts for nothing, even where it is infinite.
pub fn weighted(b: &mut Builder, each: NodeId, weight: NodeId) -> Result<NodeId, BuildError> {
    let product = b.mul(each, weight)?;
    let counts = b.constant_of(weight).is_none_or(|w| w.iter().all(|&w| w != 0.0));
    if counts {
        return Ok(product);
    }
    let zero = b.number(0.0);
    b.map(&WHERE, &[weight, product, zero])
}

fn all_dims(b: &Builder, x: NodeId, args: &[NodeId]) -> Result<Vec<usize>, BuildError> {
    let mut all = vec![x];
    all.extend(args);
    b.common(&all)
}

fn chosen(b: &mut Builder, part: &Part, x: NodeId, args: &[NodeId]) -> Vec<NodeId> {
    let choose = |&k: &usize| match k {
        0 => x,
        LOG_X => b.unary(&LOG, x),
        LOG1M_X => b.unary(&LOG1M, x),
        k => args[k - 1],
    };
    part.of.iter().map(choose).collect()
}

/// The weights of elements that share one value of a part, added up.
fn gathered_weight(b: &mut Builder, weight: NodeId, dims: &[usize], own: &[usize]) -> NodeId {
    let values = b.constant_of(weight).cloned().unwrap_or_else(|| vec![1.0].into());
    let (from, to) = (Broadcast::between(b.dims(weight), dims), Broadcast::between(own, dims));
    let mut sums = vec![0.0; own.iter().product()];
    for i in 0..dims.iter().product() {
        sums[to.at(i)] += values[from.at(i)];
    }
    b.constant(sums, own.to_vec())
}
