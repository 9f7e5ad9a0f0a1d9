//! What is reported besides the parameters: `derive`, `predict`, whole or element by element.
//!
//! A predicted quantity is an input of the graph beyond all coordinates. What depends on one is known only
//! after the fit, draw by draw: it may be predicted from and reported, but is no part of the log density.

use super::axes;
use super::dist::Dist;
use super::env::Value;
use super::{Lowerer, Named, Predicted, Result, at, density};
use crate::dist::{Distribution, End, Support};
use crate::facts::{Range, Structure};
use crate::graph::{NodeId, Op};
use crate::model::Problems;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{DeriveDecl, Expr, ExprKind, Ident, PredictDecl};

/// The first input that is no coordinate.
const BEYOND: usize = 1 << 31;

/// A quantity to report, in the order of the text.
pub(super) enum Report {
    /// One value.
    Whole(Named),
    /// Elements that have a statement, or a step of a loop, each: their indices and what stands for them in a
    /// name.
    Elements { name: Ident, indices: Vec<(Vec<usize>, String)> },
}

impl Lowerer<'_> {
    pub(super) fn derive(&mut self, d: &DeriveDecl) -> Result<()> {
        let value = self.expr(&d.value)?;
        if self.is_single(&d.name, &d.indices) {
            return self.report_element(&d.name, &d.indices, value);
        }
        let dims = self.b.dims(value.node).to_vec();
        let axes = if d.indices.is_empty() {
            self.axes_of(&value)
        } else {
            self.check_sizes(d, &dims)?;
            self.counted_axes(&d.indices)
        };
        let labels = axes::labels(&axes, dims.len());
        self.define(&d.name, value.clone().along(axes))?;
        self.reports.push(Report::Whole(Named { name: d.name.name.clone(), node: value.node, labels }));
        Ok(())
    }

    /// Refuses sizes other than those of the value.
    fn check_sizes(&mut self, d: &DeriveDecl, dims: &[usize]) -> Result<()> {
        let sizes = self.sizes(&d.indices)?;
        if sizes == dims {
            return Ok(());
        }
        let (wanted, found) = (self.shape(&sizes), self.shape(dims));
        let message = format!("`{}` is declared {wanted}, and its value is {found}", d.name.name);
        Err(Diagnostic::error("shape-mismatch", message)
            .label(d.name.span, format!("declared {wanted}"))
            .label(d.value.span, format!("this is {found}"))
            .help(format!("leave the sizes out: `derive {} = ...` takes those of its value", d.name.name)))
    }

    pub(super) fn predict(&mut self, p: &PredictDecl) -> Result<()> {
        let dist = self.dist(&p.dist)?;
        if self.is_single(&p.name, &p.dims) {
            let dims = self.described(&dist, p.dist.span)?;
            let value = self.drawn(dist, dims, p)?;
            return self.report_element(&p.name, &p.dims, value);
        }
        let dims = self.sizes(&p.dims)?;
        let axes = self.counted_axes(&p.dims);
        let labels = axes::labels(&axes, dims.len());
        let value = self.drawn(dist, dims, p)?.along(axes);
        self.define(&p.name, value.clone())?;
        self.reports.push(Report::Whole(Named { name: p.name.name.clone(), node: value.node, labels }));
        Ok(())
    }

    /// Whether what stands in brackets is the index of one element; otherwise it is sizes.
    fn is_single(&self, name: &Ident, indices: &[Expr]) -> bool {
        !indices.is_empty() && self.single.contains(&name.name)
    }

    fn report_element(&mut self, name: &Ident, indices: &[Expr], value: Value) -> Result<()> {
        let index = indices.iter().map(|e| self.position(e)).collect::<Result<Vec<usize>>>()?;
        let shown: Vec<String> = indices.iter().zip(&index).map(|(e, &i)| self.shown_index(e, i)).collect();
        self.env.elements(&name.name).define(&name.name, index.clone(), value, name.span)?;
        let element = (index, shown.join(","));
        let known = self.reports.iter_mut().find_map(|r| match r {
            Report::Elements { name: other, indices } if other.name == name.name => Some(indices),
            Report::Elements { .. } | Report::Whole(_) => None,
        });
        match known {
            Some(indices) => indices.push(element),
            None => self.reports.push(Report::Elements { name: name.clone(), indices: vec![element] }),
        }
        Ok(())
    }

    /// The label of a level, where an index is the variable of a loop over all levels; the number otherwise.
    fn shown_index(&self, e: &Expr, i: usize) -> String {
        let label = match &e.kind {
            ExprKind::Name(name) => self.loops.iter().rev().find(|l| l.variable == *name),
            _ => None,
        };
        let label =
            label.and_then(|l| l.levels.as_ref().filter(|l| !l.are_indices())?.labels().get(i - 1).cloned());
        label.unwrap_or_else(|| i.to_string())
    }

    /// The sizes of one value of a distribution, as its arguments say.
    fn described(&self, dist: &Dist, span: Span) -> Result<Vec<usize>> {
        let Some((row, args)) = of_vectors(dist) else {
            let mut nodes = Vec::new();
            dist.nodes(&mut nodes);
            return at(self.b.common(&nodes), span);
        };
        if row.event == 0 {
            let outer = args.iter().zip(row.args).map(|(&a, spec)| {
                let dims = self.b.dims(a);
                dims[..dims.len().saturating_sub(spec.rank)].to_vec()
            });
            return Ok(outer.max_by_key(Vec::len).unwrap_or_default());
        }
        let like = args.iter().zip(row.args).find(|(_, spec)| spec.rank == row.event);
        like.map(|(&a, _)| self.b.dims(a).to_vec()).ok_or_else(|| {
            let message =
                format!("the arguments of `{}` do not say how many numbers one value has", row.name);
            Diagnostic::error("unknown-size", message)
                .label(span, "")
                .help("predict the whole array with its sizes, outside of a loop")
        })
    }

    /// An input of the graph for what is drawn.
    fn drawn(&mut self, dist: Dist, dims: Vec<usize>, p: &PredictDecl) -> Result<Value> {
        let offset =
            BEYOND + self.predicted.iter().map(|d| d.dims.iter().product::<usize>().max(1)).sum::<usize>();
        let node = self.b.input(offset, dims.clone());
        let value = Value::plain(node, is_discrete(&dist), false);
        self.check_extent(&dist, &value, p.name.span)?;
        // The density says whether vectors and matrices fit; nobody computes it.
        if let Some((row, _)) = of_vectors(&dist) {
            let count = dims.iter().product();
            let one = if row.discrete { self.b.constant(vec![1.0; count], dims.clone()) } else { node };
            at(density::each(&mut self.b, &dist, one), p.dist.span)?;
        }
        let range = self.reach(&dist);
        self.b.assert_range(node, range);
        if let Dist::Row { row, .. } = &dist {
            let structure = match row.support {
                Support::Simplex => Some(Structure::Simplex),
                Support::CorrMatrix => Some(Structure::Correlation),
                Support::CovMatrix => Some(Structure::Covariance),
                Support::CholeskyCorr => Some(Structure::CholeskyCorrelation),
                Support::Interval(..)
                | Support::Integers(..)
                | Support::Counts
                | Support::Circle
                | Support::Anywhere => None,
            };
            structure.into_iter().for_each(|s| self.b.assert_structure(node, s));
        }
        self.predicted.push(Predicted { name: p.name.clone(), node, dims, dist });
        Ok(value)
    }

    /// Where the numbers drawn from a distribution lie.
    fn reach(&mut self, dist: &Dist) -> Range {
        match dist {
            Dist::Row { row, args, .. } => {
                let (low, high) = match row.support {
                    Support::Interval(a, b) => (a, b),
                    Support::Integers(a, b) => (a, b),
                    Support::Counts => (End::At(0.0), End::At(f64::INFINITY)),
                    Support::Simplex => (End::At(0.0), End::At(1.0)),
                    Support::Circle
                    | Support::CorrMatrix
                    | Support::CovMatrix
                    | Support::CholeskyCorr
                    | Support::Anywhere => return Range::REAL,
                };
                let mut end = |e: End| match e {
                    End::At(x) | End::Past(x) => (x, x),
                    End::Arg(k) => {
                        let range = self.b.range(args[k]);
                        (range.low.at, range.high.at)
                    }
                    End::Length(k) => {
                        let n = self.b.dims(args[k]).last().map_or(1.0, |&n| n as f64);
                        (n, n)
                    }
                };
                let open = matches!(row.support, Support::Interval(..));
                let (low, high) = (end(low).0, end(high).1);
                if open { Range::between(low, high) } else { Range::from_to(low, high) }
            }
            Dist::Mixture(parts) => {
                let all: Vec<Range> = parts.iter().map(|(_, part)| self.reach(part)).collect();
                all.into_iter().reduce(|a, b| a.or(b)).unwrap_or(Range::REAL)
            }
            Dist::Truncated { inner, lower, upper } => {
                let mut range = self.reach(inner);
                if let Some(lower) = lower {
                    range.low = self.b.range(*lower).low;
                }
                if let Some(upper) = upper {
                    range.high = self.b.range(*upper).high;
                }
                range
            }
            Dist::Censored { inner, lower, upper, .. } => {
                let limits: Vec<Range> = lower.iter().chain(upper).map(|&n| self.b.range(n)).collect();
                limits.into_iter().fold(self.reach(inner), Range::or)
            }
            Dist::ZeroInflated { inner, .. } => self.reach(inner).or(Range::of(&[0.0])),
        }
    }

    /// Whether a value is known only once something is drawn.
    pub(super) fn is_drawn(&mut self, node: NodeId) -> bool {
        // Steps of recursions and the equations of differential equations have graphs of their own.
        if self.predicted.is_empty() || self.inside.is_some() || !self.calls.is_empty() {
            return false;
        }
        let graph = self.b.graph();
        for (_, node) in graph.iter().skip(self.after_draws.len()) {
            let own = matches!(node.op, Op::Input { offset } if offset >= BEYOND);
            let drawn = own || node.args.iter().any(|a| self.after_draws[a.0 as usize]);
            self.after_draws.push(drawn);
        }
        self.after_draws[node.0 as usize]
    }

    /// Sorts what is reported by what is known without a draw.
    pub(super) fn collect(&mut self, problems: &mut Problems) {
        if !problems.is_empty() {
            return;
        }
        for report in std::mem::take(&mut self.reports) {
            let named = match report {
                Report::Whole(named) => named,
                Report::Elements { name, indices } => match self.elements_reported(&name, indices) {
                    Ok(named) => named,
                    Err(problem) => {
                        problems.add(problem, vec![name.name], self.source);
                        continue;
                    }
                },
            };
            let list = if self.is_drawn(named.node) { &mut self.simulated } else { &mut self.derived };
            list.push(named);
        }
    }

    fn elements_reported(&mut self, name: &Ident, mut indices: Vec<(Vec<usize>, String)>) -> Result<Named> {
        indices.sort();
        let (places, shown): (Vec<_>, Vec<String>) = indices.into_iter().unzip();
        let value = self.env.elements(&name.name).gather(&mut self.b, &name.name, &places, name.span)?;
        let mut labels = vec![None; self.b.dims(value.node).len()];
        labels[0] = Some(shown.into());
        Ok(Named { name: name.name.clone(), node: value.node, labels })
    }
}

/// A row whose values or arguments are vectors or matrices.
fn of_vectors(dist: &Dist) -> Option<(&'static Distribution, &[NodeId])> {
    match dist {
        Dist::Row { row, args, .. } if row.event > 0 || row.args.iter().any(|a| a.rank > 0) => {
            Some((row, args))
        }
        Dist::Row { .. }
        | Dist::Mixture(_)
        | Dist::Truncated { .. }
        | Dist::Censored { .. }
        | Dist::ZeroInflated { .. } => None,
    }
}

fn is_discrete(dist: &Dist) -> bool {
    match dist {
        Dist::Row { row, .. } => row.discrete,
        Dist::Mixture(parts) => parts.iter().all(|(_, part)| is_discrete(part)),
        Dist::Truncated { inner, .. } | Dist::ZeroInflated { inner, .. } => is_discrete(inner),
        // Limits of detection need not be integers.
        Dist::Censored { .. } => false,
    }
}
