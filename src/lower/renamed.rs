//! A lowered model whose graph was written anew: everything that names a node follows.

use super::{Dist, Effect, Form, Lowered, Named, Parameter, Predicted, Term};
use crate::graph::{Graph, NodeId};

impl Lowered {
    /// The same with every recursion of at most `most` nodes written out step by step, for analyses that read
    /// the graph node by node. None if there is nothing to write out.
    pub fn written_out(&self, most: usize) -> Option<Lowered> {
        let (graph, now) = crate::graph::unrolled(&self.graph, most)?;
        Some(self.renamed(graph, |id| now[id.0 as usize]))
    }

    /// The same with another graph, in which each node has another name; without warnings, which were given.
    pub(super) fn renamed(&self, graph: Graph, now: impl Fn(NodeId) -> NodeId) -> Lowered {
        let named = |n: &Named| Named { node: now(n.node), ..n.clone() };
        let parameter = |p: &Parameter| {
            let mut p = Parameter { named: named(&p.named), ..p.clone() };
            if let Form::Transformed { bounds, .. } = &mut p.form {
                bounds.iter_mut().for_each(|b| *b = now(*b));
            }
            p
        };
        let predicted = |p: &Predicted| Predicted {
            name: p.name.clone(),
            node: now(p.node),
            dims: p.dims.clone(),
            dist: p.dist.renamed(&now),
        };
        let effect = |e: &Effect| Effect {
            parameter: e.parameter,
            location_scale: e.location_scale.map(|nodes| nodes.map(&now)),
        };
        Lowered {
            source: self.source.clone(),
            graph,
            dimension: self.dimension,
            parameters: self.parameters.iter().map(parameter).collect(),
            terms: self.terms.iter().map(|t| Term { node: now(t.node), ..*t }).collect(),
            derived: self.derived.iter().map(named).collect(),
            predicted: self.predicted.iter().map(predicted).collect(),
            simulated: self.simulated.iter().map(named).collect(),
            stated: self.stated.clone(),
            effects: self.effects.iter().map(effect).collect(),
            warnings: Vec::new(),
            legend: self.legend.clone(),
        }
    }
}

impl Dist {
    fn renamed(&self, now: &impl Fn(NodeId) -> NodeId) -> Dist {
        let inner = |inner: &Dist| Box::new(inner.renamed(now));
        match self {
            Dist::Row { row, args, span, levels } => Dist::Row {
                row,
                args: args.iter().map(|a| now(*a)).collect(),
                span: *span,
                levels: levels.clone(),
            },
            Dist::Mixture(parts) => {
                Dist::Mixture(parts.iter().map(|(weight, part)| (now(*weight), part.renamed(now))).collect())
            }
            Dist::Truncated { inner: of, lower, upper } => {
                Dist::Truncated { inner: inner(of), lower: lower.map(now), upper: upper.map(now) }
            }
            Dist::Censored { inner: of, left, right, lower, upper } => Dist::Censored {
                inner: inner(of),
                left: left.map(now),
                right: right.map(now),
                lower: lower.map(now),
                upper: upper.map(now),
            },
            Dist::ZeroInflated { probability, inner: of } => {
                Dist::ZeroInflated { probability: now(*probability), inner: inner(of) }
            }
        }
    }
}
