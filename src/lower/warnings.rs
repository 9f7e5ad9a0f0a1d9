//! What can be used, but may not be as it was meant.

use super::dist::Dist;
use super::{Form, Lowerer, TermKind};
use crate::graph::{Node, NodeId, Op};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{DistExpr, DistKind, ExprKind, Program, StmtKind};

/// Parameters with two priors: both count.
pub(super) fn two_priors(program: &Program) -> Vec<Diagnostic> {
    let proper = |d: &DistExpr| !matches!(&d.kind, DistKind::Call { name, .. } if name.name == "flat");
    let mut first: Vec<(&str, Span)> = Vec::new();
    let mut found = Vec::new();
    for stmt in &program.statements {
        let (name, span) = match &stmt.kind {
            StmtKind::Param(p) if p.prior.as_ref().is_some_and(proper) => (p.name.name.as_str(), p.name.span),
            StmtKind::Sample(s) if proper(&s.dist) => match &s.value.kind {
                ExprKind::Name(name) => (name.as_str(), s.value.span),
                _ => continue,
            },
            _ => continue,
        };
        match first.iter().find(|(known, _)| *known == name) {
            None => first.push((name, span)),
            Some((_, before)) if is_parameter(program, name) => found.push(
                Diagnostic::warning("two-priors", format!("`{name}` has two priors, and both count"))
                    .label(span, "the second")
                    .label(*before, "the first")
                    .help("leave one of them out, unless the product of the two densities is meant"),
            ),
            Some(_) => {}
        }
    }
    found
}

fn is_parameter(program: &Program, name: &str) -> bool {
    program.statements.iter().any(|s| matches!(&s.kind, StmtKind::Param(p) if p.name.name == name))
}

impl Lowerer<'_> {
    /// Warns of a prior of a vector that sums to zero whose scale is unknown: it counts the scale once too often.
    ///
    /// K elements have K - 1 free directions. K factors normal(0, s) integrate over them to a multiple of 1/s, so that the
    /// posterior of s is its prior divided by s, and near 0 nothing may hold it.
    pub(super) fn warn_sum_to_zero(&mut self, value: NodeId, dist: &Dist) {
        let Dist::Row { row, args, span: place } = dist else { return };
        let Some(scale) = super::effects::scale_of(row.name, args) else { return };
        let Some(p) = self.parameters.iter().find(|p| p.named.node == value) else { return };
        let zero = matches!(&p.form, Form::Transformed { transform, .. } if transform.name == "sum_to_zero");
        if !zero || self.b.constant_of(scale).is_some() {
            return;
        }
        let dims = self.b.dims(value);
        let one = dims.len() == 1 && self.b.dims(scale).is_empty();
        let help = match self.parameters.iter().find(|p| p.named.node == scale).filter(|_| one) {
            Some(s) => format!("add `target += log({})`, which takes one factor back", s.named.name),
            None => "add the logarithm of the scale to the target, once for each vector".to_string(),
        };
        let message = format!(
            "`{}` sums to zero, so one of its directions is not free, but its prior counts the unknown scale for all of them",
            p.named.name
        );
        let warning = Diagnostic::warning("sum-to-zero-scale", message)
            .label(*place, "")
            .note("as in Stan: the posterior of the scale is divided by the scale, and may have no finite mass near 0")
            .help(format!("{help}; or leave the constraint out"));
        self.doubtful_scales.push((scale, warning));
    }

    /// Keeps the warnings about scales whose logarithm no statement adds.
    pub(super) fn settle_scales(&mut self) {
        for (scale, warning) in std::mem::take(&mut self.doubtful_scales) {
            let mut stated = self.terms.iter().filter(|t| t.kind != TermKind::Jacobian);
            if !stated.any(|t| self.is_log_of(t.node, scale)) {
                self.warnings.push(warning);
            }
        }
    }

    /// Whether a node is the logarithm of another, or a sum or multiple of it.
    fn is_log_of(&self, id: NodeId, of: NodeId) -> bool {
        let (node, scale) = (self.b.graph().node(id), self.b.graph().node(of));
        let is = |node: &Node, name: &str| matches!(&node.op, Op::Map(row) if row.name == name);
        // The logarithm of exp(z) is z.
        if is(node, "log") && node.args == [of] || is(scale, "exp") && scale.args == [id] {
            return true;
        }
        let varying: Vec<NodeId> =
            node.args.iter().copied().filter(|&a| self.b.constant_of(a).is_none()).collect();
        matches!(varying[..], [one] if self.is_log_of(one, of))
    }
}
