//! Groups of inner coordinates weighed one by one, about a Gaussian that quadrature has found.

use crate::infer::fit::Fit;
use crate::infer::gaussian::Gaussian;
use crate::infer::importance::estimate::estimate;
use crate::infer::importance::pilot::judge;
use crate::infer::importance::reached::Reached;
use crate::infer::nested::attempt::describe;
use crate::infer::nested::conditional::Conditional;
use crate::infer::nested::marginal::Marginal;
use crate::infer::nested::partition;
use crate::infer::nested::placement::Nested;
use crate::infer::nested::weigh::{PILOT, candidates, owners};
use crate::infer::options::Options;
use crate::infer::proposal::placement::Placement;
use crate::infer::transport::warped::Warped;
use crate::infer::whole::approach::Approach;
use crate::infer::whole::complete::best_known;
use crate::infer::whole::ending::ended;
use crate::num::linalg::{cholesky, dot};
use crate::target::ModelTarget;
use crate::vi::Scale;

/// A fit by quadrature whose importance weights spread because many groups each add a little: weights group
/// by group, if the model has groups and that is so.
pub(in crate::infer) fn by_groups(target: &ModelTarget, found: &Approach, options: &Options) -> Option<Fit> {
    let q = &found.fitted.q;
    let mut conditional = Conditional::given(target, partition::effects(target)?, q)?;
    conditional.tell_groups_apart(target);
    let flat = Warped::flat(target);
    let first = best_known(&found.fitted, &judge(&flat, q, PILOT, options));
    let [candidates, _] = candidates(&conditional, first.half_variance, &options.policy);
    if candidates == 1 {
        return None;
    }
    let owners = owners(target, &conditional);
    let outer = outer_part(q, &conditional.parts.outer)?;
    let marginal = Marginal::new(&conditional, &outer.scales());
    let flow = Nested::new(&conditional, Warped::flat(&marginal), candidates, &owners);
    let judged = &judge(&flow, &outer, PILOT, options);
    let (plain, plain_draws): ((&dyn Placement, _), _) = ((&flat, q), None);
    let reached = Reached { plain, plain_draws, rivals: &[], bent: (&flow, &outer), first, judged };
    let fit = ended(found, estimate(&reached, options), None, conditional.gradients(), options);
    Some(fit.noting([describe(target, &conditional.parts)]))
}

/// What a Gaussian says of some coordinates alone.
fn outer_part(q: &Gaussian, outer: &[usize]) -> Option<Gaussian> {
    let (d, k) = (q.mean.len(), outer.len());
    let Scale::Dense(c) = &q.factor else { return None };
    let row = |i: usize| &c[outer[i] * d..(outer[i] + 1) * d];
    let mut factor: Vec<f64> = (0..k * k).map(|p| dot(row(p / k), row(p % k))).collect();
    cholesky(&mut factor, k).ok()?;
    (0..k).for_each(|i| factor[i * k + i + 1..(i + 1) * k].fill(0.0));
    Some(Gaussian { mean: outer.iter().map(|&i| q.mean[i]).collect(), factor: Scale::Dense(factor) })
}
