//! Latents taken without their bounds, as coordinates of their own.
//!
//! In the coordinates of an interval a posterior that is Gaussian but for its ends is not Gaussian at all,
//! and what could be solved must be sampled. Without them it is solved, and draws beyond the ends get no
//! weight.

use super::param::{Region, row};
use super::{Coordinates, Form, Lowered, Lowerer, Parameter, Result, lower_with};
use crate::data::Dataset;
use crate::graph::NodeId;
use crate::source::Span;
use crate::syntax::ast::Program;

/// Fewest elements of an array whose bounds are worth leaving out: fewer are followed by any other way.
const FEWEST: usize = 8;

/// A model without the bounds of some of its latents.
pub struct Unbounded {
    /// The model.
    pub lowered: Lowered,
    /// Each coordinate that had bounds, and these.
    pub limits: Vec<(usize, [f64; 2])>,
    /// The names of the parameters that had them.
    pub names: Vec<String>,
}

/// A model, lowered as `declared` with all bounds, without those that may be left out; None if there are
/// none, or if something needs them.
pub fn without_bounds(
    program: &Program,
    source: &str,
    data: &Dataset,
    declared: &Lowered,
) -> Option<Unbounded> {
    let is_interval = |p: &Parameter| p.form.transform_name() == "interval";
    if !declared.parameters.iter().any(|p| is_interval(p) && p.size >= FEWEST) {
        return None;
    }
    let lowered = lower_with(program, source, data, Coordinates::Unbounded).ok()?;
    let (mut limits, mut names) = (Vec::new(), Vec::new());
    for (own, p) in declared.parameters.iter().zip(&lowered.parameters) {
        if let Form::Transformed { bounds, .. } = &own.form
            && is_interval(own)
            && !is_interval(p)
        {
            let ends = ends_of(declared, bounds, p.size)?;
            limits.extend(ends.into_iter().enumerate().map(|(at, ends)| (p.offset + at, ends)));
            names.push(p.named.name.clone());
        }
    }
    (!names.is_empty()).then_some(Unbounded { lowered, limits, names })
}

/// The bounds of each of so many elements, where they are one for all or one for each.
fn ends_of(declared: &Lowered, bounds: &[NodeId], count: usize) -> Option<Vec<[f64; 2]>> {
    let end = |id: NodeId, at: usize| -> Option<f64> {
        let values = declared.graph.node(id).constant()?;
        match values.len() {
            1 => Some(values[0]),
            n if n == count => Some(values[at]),
            _ => None,
        }
    };
    let [low, high] = bounds else { return None };
    (0..count).map(|at| Some([end(*low, at)?, end(*high, at)?])).collect()
}

impl Lowerer<'_> {
    /// The region of a parameter, or all numbers where it is taken without its bounds.
    pub(super) fn opened(&self, region: Region, dims: &[usize], span: Span) -> Result<Region> {
        let known = region.bounds.iter().all(|bound| self.b.constant_of(*bound).is_some());
        let many = dims.iter().product::<usize>() >= FEWEST;
        if self.coordinates != Coordinates::Unbounded
            || region.transform.name != "interval"
            || !known
            || !many
        {
            return Ok(region);
        }
        Ok(Region { transform: row("real", span)?, bounds: Vec::new(), ..region })
    }
}
