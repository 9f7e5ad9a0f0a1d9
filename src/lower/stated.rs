//! Priors that are stated in numbers alone: what a fit compares its answer with.

use super::dist::Dist;
use super::{Form, Lowerer, Parameter};
use crate::dist::Distribution;
use crate::graph::NodeId;
use crate::ops::operand::Broadcast;

/// The one prior of a parameter, whose elements are independent.
#[derive(Clone, Debug)]
pub struct Stated {
    /// Which parameter, counted from 0.
    pub parameter: usize,
    /// The distribution.
    pub row: &'static Distribution,
    /// Its arguments for each element.
    pub args: Vec<Vec<f64>>,
    /// The bounds that the parameter was declared with.
    pub bounds: [f64; 2],
}

/// A parameter that was given a prior, which is stated in numbers or not.
pub(super) struct Given {
    parameter: usize,
    stated: Option<Stated>,
}

impl Lowerer<'_> {
    /// Keeps the prior of a parameter as a whole.
    pub(super) fn note_prior(&mut self, value: NodeId, dist: &Dist) {
        let Some(parameter) = self.parameters.iter().position(|p| p.named.node == value) else { return };
        let stated = self.stated(parameter, dist);
        self.given.push(Given { parameter, stated });
    }

    fn stated(&self, parameter: usize, dist: &Dist) -> Option<Stated> {
        let Dist::Row { row, args, .. } = dist else { return None };
        let p = &self.parameters[parameter];
        let bounds = self.ends_of(p)?;
        if !dist.is_elementwise() {
            return None;
        }
        let dims = self.b.dims(p.named.node);
        let numbers = args.iter().map(|&arg| {
            let (values, index) = (self.b.constant_of(arg)?, Broadcast::between(self.b.dims(arg), dims));
            Some(move |e: usize| values[index.at(e)])
        });
        let numbers: Vec<_> = numbers.collect::<Option<_>>()?;
        let count: usize = dims.iter().product();
        let args = (0..count).map(|e| numbers.iter().map(|of| of(e)).collect()).collect();
        Some(Stated { parameter, row, args, bounds })
    }

    /// The ends of a parameter's values, which are numbers of any size between them.
    fn ends_of(&self, p: &Parameter) -> Option<[f64; 2]> {
        let Form::Transformed { transform, bounds } = &p.form else { return None };
        let ends: Vec<f64> = bounds.iter().map(|&b| self.b.scalar_of(b)).collect::<Option<_>>()?;
        match (transform.name, &ends[..]) {
            ("real", _) => Some([f64::NEG_INFINITY, f64::INFINITY]),
            ("lower", [low]) => Some([*low, f64::INFINITY]),
            ("upper", [high]) => Some([f64::NEG_INFINITY, *high]),
            ("interval", [low, high]) => Some([*low, *high]),
            _ => None,
        }
    }
}

/// Those of parameters that have one prior.
pub(super) fn alone(given: Vec<Given>) -> Vec<Stated> {
    let counts = |parameter: usize| given.iter().filter(|g| g.parameter == parameter).count();
    let single: Vec<bool> = given.iter().map(|g| counts(g.parameter) == 1).collect();
    let kept = given.into_iter().zip(single).filter(|(_, single)| *single);
    kept.filter_map(|(given, _)| given.stated).collect()
}
