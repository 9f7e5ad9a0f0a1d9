//! What can be used, but may not be as it was meant.

use super::dist::Dist;
use super::env::Value;
use super::{Form, Labels, Lowerer, Parameter, TermKind, own};
use crate::data::{Found, Levels, listed};
use crate::dist::Domain;
use crate::graph::{Node, NodeId, Op};
use crate::ops::array::{Sum, Take};
use crate::ops::scalar::{self, ScalarRow};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{
    BinaryOp, DistExpr, DistKind, Expr, ExprKind, ForLoop, Ident, Program, Sample, StmtKind,
};
use std::collections::{HashMap, HashSet};

/// Transforms whose values have a finite volume, so that a flat density on them is a distribution.
const BOUNDED: [&str; 5] = ["interval", "simplex", "unit_vector", "corr_matrix", "cholesky_corr"];

/// What a program says more than once, as it stands: all of it counts.
pub(super) fn said_again(program: &Program) -> Vec<Diagnostic> {
    let mut found = two_priors(program);
    found.extend(data_twice(program));
    let loops = program.statements.iter().filter_map(|s| match &s.kind {
        StmtKind::For(f) => Some(f),
        _ => None,
    });
    loops.for_each(|f| data_in_loop(program, f, &mut found));
    found
}

fn is_data(program: &Program, name: &str) -> bool {
    let declares =
        |kind: &StmtKind| matches!(kind, StmtKind::Data(all) if all.iter().any(|d| d.name.name == name));
    program.statements.iter().any(|s| declares(&s.kind))
}

/// Data that two statements describe whole; weights may have meant that.
fn data_twice(program: &Program) -> Vec<Diagnostic> {
    let mut first: Vec<(&str, Span)> = Vec::new();
    let mut found = Vec::new();
    for stmt in &program.statements {
        let StmtKind::Sample(Sample { value, weight: None, .. }) = &stmt.kind else { continue };
        let ExprKind::Name(name) = &value.kind else { continue };
        match first.iter().find(|(known, _)| known == name) {
            Some((_, before)) if is_data(program, name) => found.push(
                Diagnostic::warning(
                    "counted-twice",
                    format!("two statements describe `{name}`, and both count"),
                )
                .label(value.span, "the second")
                .label(*before, "the first")
                .help("leave one of them out; a distribution that is one or the other is a `mixture`"),
            ),
            _ => first.push((name, value.span)),
        }
    }
    found
}

/// Data that a statement in a loop describes whole, once for each turn.
fn data_in_loop(program: &Program, f: &ForLoop, found: &mut Vec<Diagnostic>) {
    for stmt in &f.body {
        let value = match &stmt.kind {
            StmtKind::For(inner) => {
                data_in_loop(program, inner, found);
                None
            }
            StmtKind::Sample(Sample { value, .. }) => Some(value),
            StmtKind::Target(e) => density_of_whole(program, e),
            _ => None,
        };
        let (Some(value), var) = (value, &f.var.name) else { continue };
        if let ExprKind::Name(name) = &value.kind
            && is_data(program, name)
        {
            let message = format!("the whole of `{name}` counts once for each `{var}`");
            found.push(Diagnostic::warning("counted-in-loop", message).label(value.span, "").help(format!(
                "one element is `{name}[{var}]`; without the loop `{name} ~ ...` describes all of them"
            )));
        }
    }
}

/// What the first log density in a sum of such is of, if that is data as a whole.
fn density_of_whole<'e>(program: &Program, e: &'e Expr) -> Option<&'e Expr> {
    match &e.kind {
        ExprKind::Binary(_, a, b) => density_of_whole(program, a).or_else(|| density_of_whole(program, b)),
        ExprKind::Unary(_, x) => density_of_whole(program, x),
        ExprKind::Call { name, args } if is_log_density(name) => {
            let of = &args.first()?.value;
            matches!(&of.kind, ExprKind::Name(n) if is_data(program, n)).then_some(of)
        }
        ExprKind::Call { args, .. } => args.iter().find_map(|arg| density_of_whole(program, &arg.value)),
        _ => None,
    }
}

/// Parameters with two priors: both count.
fn two_priors(program: &Program) -> Vec<Diagnostic> {
    let mut first: Vec<(&str, Span)> = Vec::new();
    let mut found = Vec::new();
    for (name, span, _) in priors(program).filter(|(_, _, d)| is_proper(d)) {
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

/// What is described by a distribution, as a whole and by name: where, and which.
fn priors(program: &Program) -> impl Iterator<Item = (&str, Span, &DistExpr)> {
    program.statements.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::Param(p) => Some((p.name.name.as_str(), p.name.span, p.prior.as_ref()?)),
        StmtKind::Sample(s) => match &s.value.kind {
            ExprKind::Name(name) => Some((name.as_str(), s.value.span, &s.dist)),
            _ => None,
        },
        _ => None,
    })
}

/// Whether its values have a finite volume; or a distribution by the way they are made.
fn is_bounded(p: &Parameter) -> bool {
    match &p.form {
        Form::Transformed { transform, .. } => BOUNDED.contains(&transform.name),
        Form::Noncentered => true,
    }
}

fn is_proper(d: &DistExpr) -> bool {
    !matches!(&d.kind, DistKind::Call { name, .. } if name.name == "flat")
}

fn is_parameter(program: &Program, name: &str) -> bool {
    program.statements.iter().any(|s| matches!(&s.kind, StmtKind::Param(p) if p.name.name == name))
}

fn is_elementwise(name: &Ident) -> bool {
    scalar::find(&name.name).is_some() && crate::func::find(&name.name).is_none()
}

/// What a log density is of, if that is an element and nothing but sums is around the density.
fn element_of_density(e: &Expr) -> Option<&Expr> {
    match &e.kind {
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
            element_of_density(a).or_else(|| element_of_density(b))
        }
        ExprKind::Unary(_, x) => element_of_density(x),
        ExprKind::Call { name, args } if is_log_density(name) => {
            args.first().map(|of| &of.value).filter(|of| matches!(of.kind, ExprKind::Index { .. }))
        }
        _ => None,
    }
}

fn is_log_density(name: &Ident) -> bool {
    own::ENDINGS.iter().any(|ending| name.name.ends_with(ending))
}

impl Lowerer<'_> {
    /// Warns of a prior of a vector that sums to zero whose scale is unknown: it counts the scale once too
    /// often.
    ///
    /// K elements have K - 1 free directions. K factors normal(0, s) integrate over them to a multiple of
    /// 1/s, so that the posterior of s is its prior divided by s, and near 0 nothing may hold it.
    pub(super) fn warn_sum_to_zero(&mut self, value: NodeId, dist: &Dist) {
        let Dist::Row { row, args, span: place, .. } = dist else { return };
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

    /// Warns of a walk along the levels of a category that are sorted as text: months go from April to
    /// September.
    pub(super) fn warn_walk(&mut self, labels: &Labels, span: Span) {
        let Some(Some(walked)) = labels.last() else { return };
        let sorted =
            |(_, _, levels): &(&str, NodeId, &Levels)| levels.labels() == &walked[..] && !levels.have_order();
        let Some((name, ..)) = self.env.categories().find(sorted) else { return };
        let message = format!(
            "this goes from level to level of `{name}`, which are sorted as text: {}",
            listed(walked)
        );
        let quoted: Vec<String> = walked.iter().map(|label| format!("\"{label}\"")).collect();
        let help = format!(
            "say in which order they are meant: `{name} : category[N] levels({})`, rearranged; or number them",
            listed(&quoted)
        );
        self.warnings.push(Diagnostic::warning("walk-in-alphabet", message).label(span, "").help(help));
    }

    /// The same where what is walked along is a parameter.
    pub(super) fn warn_walk_along(&mut self, value: NodeId, span: Span) {
        let base = self.b.base_of(value);
        let of = self.parameters.iter().find(|p| p.named.node == base).map(|p| p.named.labels.clone());
        if let Some(labels) = of {
            self.warn_walk(&labels, span);
        }
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
    fn is_log_of(&self, mut id: NodeId, of: NodeId) -> bool {
        let graph = self.b.graph();
        let is = |node: &Node, name: &str| matches!(&node.op, Op::Map(row) if row.name == name);
        loop {
            let (node, scale) = (graph.node(id), graph.node(of));
            // The logarithm of exp(z) is z.
            if is(node, "log") && node.args == [of] || is(scale, "exp") && scale.args == [id] {
                return true;
            }
            let linear = match &node.op {
                Op::Map(row) => ["add", "sub", "mul", "neg"].contains(&row.name),
                Op::Array(op) => op.downcast::<Sum>().is_some() || op.downcast::<Take>().is_some(),
                Op::Constant(_) | Op::Input { .. } | Op::MapSum { .. } | Op::Ode(_) | Op::Recursion(_) => {
                    false
                }
            };
            if !linear {
                return false;
            }
            let mut varying = node.args.iter().filter(|&&a| graph.node(a).constant().is_none());
            match (varying.next(), varying.next()) {
                (Some(&one), None) => id = one,
                _ => return false,
            }
        }
    }

    /// Warns of `X * as_column(b)`, a matrix of one column, where the vector `X * b` is meant.
    pub(super) fn warn_column(&mut self, left: &Expr, right: &Expr) {
        let ExprKind::Call { name, args } = &right.kind else { return };
        let ([column], true) = (&args[..], name.name == "as_column") else { return };
        let told = |w: &Diagnostic| w.labels.first().is_some_and(|l| l.span == right.span);
        if self.warnings.iter().any(told) {
            return;
        }
        let (x, b) = (left.span.text(self.source), column.value.span.text(self.source));
        self.warnings.push(
            Diagnostic::warning(
                "column-product",
                format!("`{x} * as_column({b})` is a matrix of one column, [N, 1]"),
            )
            .label(right.span, "")
            .note("with a vector [N] it broadcasts to [N, N], and a log density of that has N * N terms")
            .help(format!("write `{x} * {b}`, which is a vector [N]")),
        );
    }

    /// Warns of the log of the sum of all exponentials of a matrix: densities of a mixture are summed for
    /// each row.
    pub(super) fn warn_summed_whole(&mut self, of: NodeId, span: Span) {
        let told = |w: &Diagnostic| w.labels.first().is_some_and(|l| l.span == span);
        let dims = self.b.dims(of);
        if dims.len() < 2 || self.b.constant_of(of).is_some() || self.warnings.iter().any(told) {
            return;
        }
        let shape: Vec<String> = dims.iter().map(usize::to_string).collect();
        let found = if self.probing { String::new() } else { format!(", of [{}],", shape.join(", ")) };
        self.warnings.push(
            Diagnostic::warning("summed-whole", format!("`log_sum_exp` of the whole array{found} is one number"))
                .label(span, "")
                .help("write `axis = 1` for one number for each place along the last axis (the parts of a mixture stacked by `[a, b]`), `axis = 2` for one for each row"),
        );
    }

    /// Warns of a log density of one element under many distributions, all of which are added to the target.
    pub(super) fn warn_element_many(&mut self, e: &Expr, value: NodeId) {
        let dims = self.b.dims(value).to_vec();
        if dims.is_empty() || self.loops.is_empty() {
            return;
        }
        let Some(element) = element_of_density(e) else { return };
        let told = |w: &Diagnostic| w.labels.first().is_some_and(|l| l.span == element.span);
        let one = self.expr(element).is_ok_and(|v| v.from_data && self.b.dims(v.node).is_empty());
        if !one || self.warnings.iter().any(told) {
            return;
        }
        let (written, many) = (element.span.text(self.source), self.shape(&dims));
        self.warnings.push(
            Diagnostic::warning(
                "counted-in-loop",
                format!(
                    "`{written}` is one number, and its log density here is {many}: it counts that many times"
                ),
            )
            .label(element.span, "")
            .help("give the arguments an index too, as it has"),
        );
    }

    /// Warns of a category that picks from an axis with a place for each row, where one for each level is
    /// meant.
    pub(super) fn warn_rows_as_levels(&mut self, index: &Expr, base: &Expr, never: usize) {
        let told = |w: &Diagnostic| w.labels.first().is_some_and(|l| l.span == index.span);
        if self.warnings.iter().any(told) {
            return;
        }
        let (g, a) = (index.span.text(self.source), base.span.text(self.source));
        let count = if self.probing { "most".to_string() } else { never.to_string() };
        let message = format!("`{a}` has a place for each row, and `{g}` picks one for each of its levels");
        self.warnings.push(
            Diagnostic::warning("rows-as-levels", message)
                .label(index.span, "")
                .label(base.span, format!("{count} of its places are never picked"))
                .help(format!(
                    "call the number of levels by a name of its own, `{g} : category[N] of J`, and give `{a}` that size: `[J]`"
                )),
        );
    }

    /// Warns of categories that share the name of their size and have no level in common.
    pub(super) fn warn_levels_apart(&mut self, name: &Ident, size: &str, columns: &[&Found]) {
        let of_each: Vec<Levels> = columns.iter().map(|column| Levels::sorted(&[column])).collect();
        let Some((first, others)) = of_each.split_first() else { return };
        let apart = |other: &Levels| other.labels().iter().all(|label| first.code(label).is_none());
        if let Some(k) = others.iter().position(apart) {
            let (one, other) = (columns[0].name(), columns[k + 1].name());
            let message = format!(
                "`{one}` and `{other}` have no level in common, and both are said to have the {size} levels"
            );
            self.warnings.push(
                Diagnostic::warning("levels-apart", message)
                    .label(name.span, "")
                    .help(format!("categories with the same levels share the name of their number, as two teams of a game do; give these a name each: `{other} : category[N] of K`")),
            );
        }
    }

    /// Warns of levels of a category that differ in capitals or spaces alone: one that is written in two ways
    /// is two.
    pub(super) fn warn_levels_alike(&mut self, name: &Ident, labels: &[String]) {
        let plain = |label: &str| label.split_whitespace().collect::<String>().to_lowercase();
        let mut seen: HashMap<String, &str> = HashMap::new();
        let mut alike: Vec<String> = Vec::new();
        for label in labels {
            match seen.get(&plain(label)) {
                Some(other) => alike.push(format!("`{other}` and `{label}`")),
                None => drop(seen.insert(plain(label), label)),
            }
        }
        let Some((first, rest)) = alike.split_first() else { return };
        let message =
            format!("{first} are two levels of `{}`, but differ in capitals or spaces alone", name.name);
        let mut warning = Diagnostic::warning("levels-alike", message).label(name.span, "");
        if !rest.is_empty() {
            warning = warning.note(format!("so do {}", rest.join(", ")));
        }
        self.warnings.push(warning.help(
            "write each level in one way in the data, or list them with `levels(...)` if they are meant",
        ));
    }

    /// Marks the parameters whose priors are flat on a range without an end.
    pub(super) fn note_improper(&mut self, program: &Program) {
        let proper: HashSet<&str> =
            priors(program).filter(|(_, _, d)| is_proper(d)).map(|(n, ..)| n).collect();
        let flat: HashSet<&str> =
            priors(program).map(|(name, ..)| name).filter(|n| !proper.contains(n)).collect();
        for p in self.parameters.iter_mut().filter(|p| flat.contains(p.named.name.as_str())) {
            p.improper = !is_bounded(p);
        }
        let own = priors(program).filter(|(_, _, d)| self.is_own(d)).map(|(name, ..)| name);
        let own: HashSet<&str> = own.collect();
        for p in self.parameters.iter_mut().filter(|p| own.contains(p.named.name.as_str())) {
            p.unproved = !is_bounded(p);
        }
    }

    /// Warns of parameters that nothing but an improper prior holds: they have no posterior.
    pub(super) fn warn_improper(&mut self) {
        let terms = self.terms.iter().filter(|t| t.kind != TermKind::Jacobian);
        let held = self.b.graph().inputs_below(&terms.map(|t| t.node).collect::<Vec<_>>());
        for p in self.parameters.iter().filter(|p| p.size > 0 && !held.contains(&p.offset)) {
            let name = &p.named.name;
            let Some((_, span)) = self.declared.iter().find(|(declared, _)| declared == name) else {
                continue;
            };
            if !is_bounded(p) {
                let message = format!(
                    "nothing holds `{name}`: its prior is flat, and neither data nor another parameter depend on it"
                );
                self.warnings.push(
                    Diagnostic::warning("improper-posterior", message)
                        .label(*span, "")
                        .note("its posterior is flat and without end, so it has no mean and no standard deviation")
                        .help("give it a prior that is a distribution, use it, or leave it out"),
                );
            }
        }
    }

    /// Warns of a prior of a function of parameters that is not linear: nobody adds the Jacobian.
    /// The same for data that parameters scale or bend; shifted, they need none.
    pub(super) fn warn_nonlinear(&mut self, e: &Expr, value: &Value) {
        if self.inside.is_some() || self.b.constant_of(value.node).is_some() {
            return;
        }
        let told = |w: &Diagnostic| w.labels.first().is_some_and(|l| l.span == e.span);
        let plain = if value.from_data { self.is_shifted(e) } else { self.is_linear(e) };
        if plain || self.warnings.iter().any(told) {
            return;
        }
        let text = e.span.text(self.source);
        let (what, help) = match value.from_data {
            true => (
                "is data that parameters scale or bend",
                "describe the data themselves (`y ~ normal(0, s)` for `y / s ~ normal(0, 1)`), or add the logarithm of the derivative of \
                 this in the data, for every row, with `target +=`",
            ),
            false => (
                "is no linear function of the parameters",
                "describe the parameter itself (`param s ~ lognormal(0, 1)` for a normal logarithm), or add the logarithm of the \
                 derivative with `target +=`",
            ),
        };
        self.warnings.push(
            Diagnostic::warning(
                "nonlinear-left-side",
                format!("`{text}` {what}, and no Jacobian is added for it"),
            )
            .label(e.span, "the density of this value is added, as in Stan")
            .help(help),
        );
    }

    /// Whether an expression is seen to be data that parameters are added to or subtracted from, or is not
    /// seen through.
    fn is_shifted(&mut self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => self.is_shifted(a) || self.is_shifted(b),
            ExprKind::Unary(_, x) | ExprKind::Transpose(x) => self.is_shifted(x),
            ExprKind::Binary(..) => self.is_known(e),
            ExprKind::Call { name, .. } if is_elementwise(name) => self.is_known(e),
            _ => self.expr(e).is_ok_and(|v| v.from_data),
        }
    }

    /// Warns of a root or a logarithm of a parameter that may be negative: it is no number there, and so is
    /// the log density.
    pub(super) fn warn_negative(&mut self, row: &ScalarRow, of: NodeId, span: Span) {
        let base = self.b.base_of(of);
        let Some(p) = self.parameters.iter().find(|p| p.named.node == base) else { return };
        let name = p.named.name.clone();
        let told =
            |w: &Diagnostic| w.code == "may-be-negative" && w.labels.first().is_some_and(|l| l.span == span);
        if self.b.range(base).low.at >= 0.0 || self.warnings.iter().any(told) {
            return;
        }
        let message = format!("`{}` of `{name}`, which may be negative, is then no number", row.name);
        self.warnings.push(
            Diagnostic::warning("may-be-negative", message)
                .label(span, "")
                .note("values that make the log density no number are left out, as if it were cut off there")
                .help(format!("say that it is positive, `param {name} : real > 0 ~ ...`, or choose a prior of positive numbers")),
        );
    }

    /// Warns of a probability where log odds are read, and of a rate where its logarithm is.
    pub(super) fn warn_response_scale(&mut self, dist: &Dist) {
        let Dist::Row { row, args, span, .. } = dist else { return };
        let (unit, what, meant) = match row.name.rsplit_once('_') {
            Some((plain, "logit")) => (true, "log odds", plain),
            Some((plain, "log")) => (false, "the logarithm of a rate", plain),
            _ => return,
        };
        // Other arguments, such as the dispersion of counts, are what they are.
        let linked = row.args.iter().zip(args).filter(|(spec, _)| spec.domain == Domain::Real);
        for (_, &arg) in linked {
            let base = self.b.base_of(arg);
            let parameter = self.parameters.iter().any(|p| p.named.node == base);
            let made = matches!(&self.b.graph().node(base).op, Op::Map(row) if row.args.len() == 1);
            if self.b.constant_of(base).is_some() || !(parameter || made) {
                continue;
            }
            if self.is_linked_predictor(base, if unit { &scalar::LOGIT } else { &scalar::LOG }) {
                let link = if unit { "logit" } else { "log" };
                let message = format!(
                    "`{}` has the link `{link}` by itself, and it is applied here once more",
                    row.name
                );
                self.warnings.push(
                    Diagnostic::warning("response-scale", message)
                        .label(*span, "")
                        .note(format!("`{link}` of a value that may be negative is then no number"))
                        .help(format!("leave `{link}` out, and give `{}` what stands in it", row.name)),
                );
                continue;
            }
            let range = self.b.range(base);
            let inside = range.low.at >= 0.0 && (!unit || range.high.at <= 1.0);
            let exponential = matches!(&self.b.graph().node(base).op, Op::Map(row) if **row == scalar::EXP);
            if inside && (unit || parameter || exponential) {
                let is = if unit { "a probability" } else { "positive" };
                let message = format!("`{}` reads {what}, and this is {is}", row.name);
                self.warnings.push(
                    Diagnostic::warning("response-scale", message)
                        .label(*span, "")
                        .help(format!("write `{meant}(...)` if it is what the data follow themselves")),
                );
            }
        }
    }

    /// Whether a node is the link function of something without an end below, as a linear predictor is.
    fn is_linked_predictor(&mut self, id: NodeId, link: &ScalarRow) -> bool {
        let node = self.b.graph().node(id);
        let applied = matches!(&node.op, Op::Map(row) if **row == *link);
        let Some(&of) = node.args.first().filter(|_| applied) else { return false };
        let known = self.b.known(of);
        known.reached && known.range.low.at.is_infinite()
    }

    /// Whether an expression is seen to be linear in the parameters, or is not seen through.
    fn is_linear(&mut self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Real(_)
            | ExprKind::Int(_)
            | ExprKind::Str(_)
            | ExprKind::Name(_)
            | ExprKind::Index { .. } => true,
            ExprKind::Unary(_, x) | ExprKind::Transpose(x) => self.is_linear(x),
            ExprKind::Array(items) => items.iter().all(|item| self.is_linear(item)),
            ExprKind::Binary(op, a, b) => match op {
                BinaryOp::Add | BinaryOp::Sub => self.is_linear(a) && self.is_linear(b),
                BinaryOp::Mul | BinaryOp::ElemMul => {
                    self.is_known(a) && self.is_linear(b) || self.is_known(b) && self.is_linear(a)
                }
                BinaryOp::Div | BinaryOp::ElemDiv => self.is_known(b) && self.is_linear(a),
                BinaryOp::Pow => self.is_known(e),
                BinaryOp::Or
                | BinaryOp::And
                | BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge => true,
            },
            ExprKind::Call { name, args } => {
                !is_elementwise(name) || args.iter().all(|a| self.is_known(&a.value))
            }
        }
    }

    /// Whether a value is known before the fit.
    fn is_known(&mut self, e: &Expr) -> bool {
        self.expr(e).is_ok_and(|v| self.b.constant_of(v.node).is_some())
    }
}
