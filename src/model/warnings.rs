//! What can be used, but may not be as it was meant.

use super::distribution::Dist;
use super::parameter::is_log_density;
use super::said::{divisions, said_again};
use super::types::Type;
use super::{Elaborator, Parameter};
use crate::dist::Domain;
use crate::ops::scalar::{self, ScalarRow};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, Ident, StmtKind};
use crate::syntax::scan::{Kind, scan};
use std::collections::{BTreeSet, HashSet};

/// What is noted while a model is read, for the end.
#[derive(Default)]
pub struct Notes {
    /// Sizes that stand for variables of loops.
    pub symbols: HashSet<String>,
    /// Names that are reported element by element.
    pub elements: Vec<String>,
    /// What is predicted, with the number of its value.
    pub drawn: Vec<(Ident, usize)>,
    /// Scales that a prior counts once too often, with what is to be said of them.
    scales: Vec<(Type, Diagnostic)>,
}

impl Elaborator<'_> {
    /// Adds what can be said once all is read.
    pub(super) fn collect_warnings(&mut self) {
        let mut first = said_again(self.program);
        first.extend(divisions(self.program, self.source));
        let later = std::mem::replace(&mut self.model.warnings, first);
        self.model.warnings.extend(later);
        self.settle_scales();
        self.warn_improper();
        self.warn_without_likelihood();
        self.warn_unread_data();
        self.warn_uninformed();
    }

    /// Warns of a prior of a vector that sums to zero whose scale is unknown: it counts the scale once too
    /// often.
    ///
    /// K elements have K - 1 free directions. K factors normal(0, s) integrate over them to a multiple of
    /// 1/s, so that the posterior of s is its prior divided by s, and near 0 nothing may hold it.
    pub(super) fn warn_sum_to_zero(&mut self, value: &Type, dist: &Dist) {
        let Dist::Row { row, args, span: place } = dist else { return };
        let Some([_, k]) = row.location_scale() else { return };
        let Some(p) = self.whole_parameter(value) else { return };
        let zero = p.transform.is_some_and(|t| t.name == "sum_to_zero");
        let scale = args[k].clone();
        if !zero || scale.fixed {
            return;
        }
        let one = value.rank() == Some(1) && scale.is_scalar();
        let help = match self.whole_parameter(&scale).filter(|_| one) {
            Some(s) => format!("add `target += log({})`, which takes one factor back", s.name.name),
            None => "add the logarithm of the scale to the target, once for each vector".to_string(),
        };
        let message = format!(
            "`{}` sums to zero, so one of its directions is not free, but its prior counts the unknown scale for all of them",
            p.name.name
        );
        let warning = Diagnostic::warning("sum-to-zero-scale", message)
            .label(*place, "")
            .note("as in Stan: the posterior of the scale is divided by the scale, and may have no finite mass near 0")
            .help(format!("{help}; or leave the constraint out"));
        self.notes.scales.push((scale, warning));
    }

    /// Keeps the warnings about scales whose logarithm no statement adds.
    fn settle_scales(&mut self) {
        for (scale, warning) in std::mem::take(&mut self.notes.scales) {
            let log = self.number(format!("{}({})", scalar::LOG.name, scale.identity));
            // The logarithm of exp(z) is z.
            let inner = scale.through.filter(|t| *t.row == scalar::EXP).map(|t| t.of);
            let is_log = |id: &usize| *id == log || Some(*id) == inner;
            if !self.model.terms.iter().any(|t| t.ty.chain.iter().any(is_log)) {
                self.warn_once(warning);
            }
        }
    }

    /// Warns of `X * as_column(b)`, a matrix of one column, where the vector `X * b` is meant.
    pub(super) fn warn_column(&mut self, left: &Expr, right: &Expr) {
        let ExprKind::Call { name, args } = &right.kind else { return };
        let ([column], true) = (&args[..], name.name == "as_column") else { return };
        let (x, b) = (self.text(left.span), self.text(column.value.span));
        self.warn_once(
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
    pub(super) fn warn_summed_whole(&mut self, of: &Type, span: Span) {
        if of.fixed || of.rank().is_none_or(|rank| rank < 2) {
            return;
        }
        let found = self.shown(of);
        self.warn_once(
            Diagnostic::warning("summed-whole", format!("`log_sum_exp` of the whole array, of {found}, is one number"))
                .label(span, "")
                .help("write `axis = 1` for one number for each place along the last axis (the parts of a mixture stacked by `[a, b]`), `axis = 2` for one for each row"),
        );
    }

    /// Warns of a log density of one element under many distributions, all of which are added to the target.
    pub(super) fn warn_element_many(&mut self, e: &Expr, value: &Type) {
        if value.rank().is_none_or(|rank| rank == 0) || self.context.loops.is_empty() {
            return;
        }
        let Some(element) = element_of_density(e) else { return };
        if !self.expr(element).is_ok_and(|v| v.from_data && v.is_scalar()) {
            return;
        }
        let (written, many) = (self.text(element.span), self.shown(value));
        self.warn_once(
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

    /// Warns of parameters that nothing but an improper prior holds: they have no posterior.
    fn warn_improper(&mut self) {
        let held: BTreeSet<usize> = self.model.terms.iter().flat_map(|t| t.ty.parameters()).collect();
        let free = |(place, p): &(usize, Parameter)| !held.contains(place) && !is_bounded(p) && !is_empty(p);
        let all: Vec<(usize, Parameter)> = self.model.parameters.iter().cloned().enumerate().collect();
        for (_, p) in all.into_iter().filter(free) {
            let message = format!(
                "nothing holds `{}`: its prior is flat, and neither data nor another parameter depend on it",
                p.name.name
            );
            self.warn_once(
                Diagnostic::warning("improper-posterior", message)
                    .label(p.name.span, "")
                    .note(
                        "its posterior is flat and without end, so it has no mean and no standard deviation",
                    )
                    .help("give it a prior that is a distribution, use it, or leave it out"),
            );
        }
    }

    /// Warns where no statement is about the data: then what comes out are the priors.
    fn warn_without_likelihood(&mut self) {
        let is_array = |kind: &StmtKind| match kind {
            StmtKind::Data(all) => all.iter().any(|d| !d.ty.dims.is_empty()),
            _ => false,
        };
        let stmt = self.program.statements.iter().find(|stmt| is_array(&stmt.kind));
        let Some(stmt) = stmt.filter(|_| !self.model.terms.iter().any(|t| t.is_likelihood)) else { return };
        self.warn_once(
            Diagnostic::warning("no-likelihood", "no `~` and no `target +=` is about the data: the answer is that of the priors alone")
                .label(stmt.span, "")
                .help("say how an outcome is distributed, such as `y ~ normal(mu, sigma)`; a `let` of log densities adds nothing by itself"),
        );
    }

    /// Warns of data that are declared and never named again.
    fn warn_unread_data(&mut self) {
        let tokens = scan(self.source);
        let words = || tokens.iter().filter(|t| t.kind == Kind::Word);
        for data in super::data_declarations(self.program) {
            let name = &data.name;
            if words().any(|t| t.text(self.source) == name.name && t.span != name.span) {
                continue;
            }
            self.warn_once(
                Diagnostic::warning("unread-data", format!("nothing reads `{}`", name.name))
                    .label(name.span, "named here and nowhere else")
                    .help("use it, such as by a term `b * x` of a predictor, or leave it out of `data`"),
            );
        }
    }

    /// Warns of parameters that no statement about data depends on, by themselves or by others that they have
    /// a prior with.
    fn warn_uninformed(&mut self) {
        let of = |likelihood: bool| {
            let terms = self.model.terms.iter().filter(move |t| t.is_likelihood == likelihood);
            terms.map(|t| t.ty.parameters().collect::<BTreeSet<usize>>())
        };
        let mut informed: BTreeSet<usize> = of(true).flatten().collect();
        let mut priors: Vec<BTreeSet<usize>> = of(false).collect();
        if informed.is_empty() {
            return;
        }
        // What shares a prior with a parameter that data inform is informed by way of it.
        while let Some(k) = priors.iter().position(|p| !p.is_disjoint(&informed)) {
            informed.extend(priors.swap_remove(k));
        }
        let held: BTreeSet<usize> = priors.into_iter().flatten().collect();
        let alone = |(place, p): &(usize, &Parameter)| {
            held.contains(place) && !informed.contains(place) && !is_empty(p)
        };
        let names: Vec<Ident> =
            self.model.parameters.iter().enumerate().filter(alone).map(|(_, p)| p.name.clone()).collect();
        for Ident { name, span } in names {
            let message = format!("no data can inform `{name}`: its posterior is its prior");
            self.warn_once(
                Diagnostic::warning("uninformed", message)
                    .label(span, "no statement about data depends on it")
                    .help(format!(
                        "use `{name}` in what describes the data, such as by a forgotten term of a predictor, or leave it out"
                    )),
            );
        }
    }

    /// Warns of a root or a logarithm of a parameter that may be negative: it is no number there, and so is
    /// the log density.
    pub(super) fn warn_negative(&mut self, row: &ScalarRow, of: &Type, span: Span) {
        let Some(p) = self.parameter_of(of) else { return };
        let name = p.name.name.clone();
        if of.range.low.at >= 0.0 {
            return;
        }
        let message = format!("`{}` of `{name}`, which may be negative, is then no number", row.name);
        self.warn_once(
            Diagnostic::warning("may-be-negative", message)
                .label(span, "")
                .note("values that make the log density no number are left out, as if it were cut off there")
                .help(format!("say that it is positive, `param {name} : real > 0 ~ ...`, or choose a prior of positive numbers")),
        );
    }

    /// Warns of a probability where log odds are read, and of a rate where its logarithm is.
    pub(super) fn warn_response_scale(&mut self, dist: &Dist) {
        let Dist::Row { row, args, span } = dist else { return };
        let (unit, what, meant) = match row.name.rsplit_once('_') {
            Some((plain, "logit")) => (true, "log odds", plain),
            Some((plain, "log")) => (false, "the logarithm of a rate", plain),
            _ => return,
        };
        // Other arguments, such as the dispersion of counts, are what they are.
        let linked = row.args.iter().zip(args).filter(|(spec, _)| spec.domain == Domain::Real);
        for (_, arg) in linked {
            let parameter = self.parameter_of(arg).is_some();
            if arg.fixed || !(parameter || arg.through.is_some()) {
                continue;
            }
            let link = if unit { &scalar::LOGIT } else { &scalar::LOG };
            if arg.through.is_some_and(|t| *t.row == *link && t.reached && t.range.low.at.is_infinite()) {
                let message = format!(
                    "`{}` has the link `{}` by itself, and it is applied here once more",
                    row.name, link.name
                );
                self.warn_once(
                    Diagnostic::warning("response-scale", message)
                        .label(*span, "")
                        .note(format!("`{}` of a value that may be negative is then no number", link.name))
                        .help(format!(
                            "leave `{}` out, and give `{}` what stands in it",
                            link.name, row.name
                        )),
                );
                continue;
            }
            let inside = arg.range.low.at >= 0.0 && (!unit || arg.range.high.at <= 1.0);
            let exponential = arg.through.is_some_and(|t| *t.row == scalar::EXP);
            if inside && (unit || parameter || exponential) {
                let is = if unit { "a probability" } else { "positive" };
                let message = format!("`{}` reads {what}, and this is {is}", row.name);
                self.warn_once(
                    Diagnostic::warning("response-scale", message)
                        .label(*span, "")
                        .help(format!("write `{meant}(...)` if it is what the data follow themselves")),
                );
            }
        }
    }

    /// Warns of a prior of a function of parameters that is not linear: nobody adds the Jacobian.
    /// The same for data that parameters scale or bend; shifted, they need none.
    pub(super) fn warn_nonlinear(&mut self, e: &Expr, value: &Type) {
        if value.fixed {
            return;
        }
        let plain = if value.from_data { self.is_shifted(e) } else { self.is_linear(e) };
        if plain {
            return;
        }
        let text = self.text(e.span);
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
        self.warn_once(
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
        self.expr(e).is_ok_and(|v| v.fixed)
    }
}

/// Whether the values of a parameter have a finite volume; or a distribution by the way they are made.
fn is_bounded(p: &Parameter) -> bool {
    p.transform.is_none_or(crate::transform::is_bounded)
}

/// Whether a parameter has no elements.
fn is_empty(p: &Parameter) -> bool {
    p.ty.shape.iter().flatten().any(|size| size.as_integer() == Some(0))
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
        ExprKind::Call { name, args } if is_log_density(&name.name) => {
            args.first().map(|of| &of.value).filter(|of| matches!(of.kind, ExprKind::Index { .. }))
        }
        _ => None,
    }
}
