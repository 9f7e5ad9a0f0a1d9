//! Distributions that a model defines itself: `fn my_lpdf(y, mu) = ...` makes `y ~ my(mu)` a statement.

use super::env::{Binding, Value};
use super::{Lowerer, Result, at, left_out};
use crate::graph::{BuildError, NodeId};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{DistExpr, DistKind, FnDecl};
use std::sync::Arc;

impl Lowerer<'_> {
    /// The model's function that is the log density of a distribution of this name.
    pub(super) fn own_density(&self, name: &str) -> Option<Arc<FnDecl>> {
        crate::model::DENSITY_ENDINGS.iter().find_map(|ending| {
            match self.env.get(&format!("{name}{ending}")) {
                Some(Binding::Function(f)) => Some(f.clone()),
                Some(Binding::Value(_) | Binding::Elements(_)) | None => None,
            }
        })
    }

    /// Whether a distribution is one of the model's own.
    pub(super) fn is_own(&self, d: &DistExpr) -> bool {
        match &d.kind {
            DistKind::Call { name, .. } => {
                crate::dist::find(&name.name).is_none() && self.own_density(&name.name).is_some()
            }
            DistKind::Mixture(_)
            | DistKind::Truncated { .. }
            | DistKind::Censored { .. }
            | DistKind::ZeroInflated { .. } => false,
        }
    }

    /// The sum of the log density of a value under a distribution of the model's own.
    pub(super) fn own_sum(
        &mut self,
        d: &DistExpr,
        value: &Value,
        weight: Option<(Value, Span)>,
    ) -> Result<NodeId> {
        let DistKind::Call { name, args } = &d.kind else {
            return Err(
                Diagnostic::error("unknown-distribution", "this is no distribution").label(d.span, "")
            );
        };
        let Some(f) = self.own_density(&name.name) else {
            return Err(Diagnostic::error(
                "unknown-distribution",
                format!("there is no distribution `{}`", name.name),
            )
            .label(name.span, ""));
        };
        let names: Vec<&str> = f.params.iter().skip(1).map(|p| p.name.as_str()).collect();
        let rest = self.arguments(&name.name, &names, &vec![true; names.len()], args, d.span)?;
        let all = std::iter::once(value.clone()).chain(rest.into_iter().flatten()).collect();
        let mut each = self.apply(&f, all, d.span)?.node;
        let (found, values) = (self.b.dims(each), self.b.dims(value.node));
        if found.len() > values.len() {
            let (found, values) = (self.shape(found), self.shape(values));
            let message = format!(
                "`{}` gives log densities of shape {found}, and the left side has shape {values}",
                name.name
            );
            return Err(Diagnostic::error("shape-mismatch", message)
                .label(d.span, "each value would count several times")
                .help("give the arguments an index as the left side has, or describe the whole array"));
        }
        if let Some(weight) = self.known_weight(weight)? {
            each = at(self.weighted(each, weight), d.span)?;
        }
        at(self.b.sum(each, None), d.span)
    }

    /// Log densities times known weights, without those whose weight is 0.
    fn weighted(&mut self, each: NodeId, weight: NodeId) -> std::result::Result<NodeId, BuildError> {
        let b = &mut self.b;
        let dims = b.common(&[each, weight])?;
        let [all, weights] = [each, weight].map(|x| b.broadcast_to(x, &dims));
        match left_out::kept(b, weights) {
            Some(places) => {
                let [some, weights] = [all, weights].map(|x| left_out::elements(b, x, &dims, &places));
                b.mul(some, weights)
            }
            None => b.mul(all, weights),
        }
    }
}
