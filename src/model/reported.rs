//! What is reported besides the parameters: `derive`, `predict`, whole or element by element.

use super::distribution::Dist;
use super::extent::structure_of;
use super::names::Meaning;
use super::types::{Type, all_coordinates};
use super::{Elaborator, Reported, Result};
use crate::dist::{Distribution, End, Sampler, Support};
use crate::facts::{Range, Shape};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{DeriveDecl, Expr, Ident, PredictDecl};

impl Elaborator<'_> {
    pub(super) fn derive(&mut self, d: &DeriveDecl) -> Result<()> {
        let value = self.expr(&d.value)?;
        if self.single_element(&d.name, &d.indices, "derive", "= ...")? {
            return self.report_element(&d.name, &d.indices, value);
        }
        let labels = match d.indices.is_empty() {
            true => value.axes(),
            false => {
                self.check_sizes(d, &value)?;
                self.counted_labels(&d.indices)
            }
        };
        let ty = Type { labels, ..value };
        self.define(&d.name, ty.clone())?;
        self.model.reported.push(Reported { name: d.name.name.clone(), ty });
        Ok(())
    }

    /// Refuses sizes other than those of the value.
    fn check_sizes(&mut self, d: &DeriveDecl, value: &Type) -> Result<()> {
        let declared = Type::real(self.sizes_of(&d.indices)?);
        let wrong = |l: &Self| {
            let (wanted, found) = (l.shown(&declared), l.shown(value));
            let message = format!("`{}` is declared {wanted}, and its value is {found}", d.name.name);
            Diagnostic::error("shape-mismatch", message)
                .label(d.name.span, format!("declared {wanted}"))
                .label(d.value.span, format!("this is {found}"))
                .help(format!("leave the sizes out: `derive {} = ...` takes those of its value", d.name.name))
        };
        self.one_shape(declared.shape.clone(), value, wrong).map(drop)
    }

    pub(super) fn predict(&mut self, p: &PredictDecl) -> Result<()> {
        let dist = self.dist(&p.dist)?;
        refuse_undrawable(&dist)?;
        self.refuse_left_out(&dist)?;
        if self.single_element(&p.name, &p.dims, "predict", "~ ...")? {
            let shape = self.described(&dist, p.dist.span)?;
            let value = self.drawn(&dist, shape, p)?;
            return self.report_element(&p.name, &p.dims, value);
        }
        let shape = self.sizes_of(&p.dims)?;
        let labels = self.counted_labels(&p.dims);
        let ty = Type { labels, ..self.drawn(&dist, Some(shape), p)? };
        self.define(&p.name, ty.clone())?;
        self.model.reported.push(Reported { name: p.name.name.clone(), ty });
        Ok(())
    }

    /// Refuses to draw where an argument is left out that a density can do without: the number of draws of a
    /// multinomial distribution.
    fn refuse_left_out(&self, dist: &Dist) -> Result<()> {
        let Dist::Row { row, args, span } = dist else { return Ok(()) };
        let left_out = |a: &Type| self.number_of(a).is_some_and(f64::is_nan);
        let unknown =
            row.args.iter().zip(args).find(|(spec, a)| spec.default.is_some_and(f64::is_nan) && left_out(a));
        let Some((spec, _)) = unknown else { return Ok(()) };
        let message = format!("`{}` is drawn from with `{}`, which is left out", row.name, spec.name);
        Err(Diagnostic::error("missing-argument", message)
            .label(*span, "")
            .help(format!("write `{}(..., {} = 10)`, with the number that is meant", row.name, spec.name)))
    }

    /// Whether what stands in brackets is the index of one element; otherwise it is sizes.
    fn single_element(&self, name: &Ident, indices: &[Expr], word: &str, rest: &str) -> Result<bool> {
        if !indices.is_empty() {
            return Ok(self.declared.single.contains(&name.name));
        }
        let Some(around) = self.context.loops.last() else { return Ok(false) };
        let message = format!("every step of the loop would give `{}` another value", name.name);
        Err(Diagnostic::error("defined-twice", message).label(name.span, "").help(format!(
            "give each step an element of its own: `{word} {}[{}] {rest}`",
            name.name, around.variable
        )))
    }

    fn report_element(&mut self, name: &Ident, indices: &[Expr], value: Type) -> Result<()> {
        self.define_element(name, indices, value)?;
        if !self.notes.elements.contains(&name.name) {
            self.notes.elements.push(name.name.clone());
        }
        Ok(())
    }

    /// The sizes of one value of a distribution, as its arguments say.
    fn described(&mut self, dist: &Dist, span: Span) -> Result<Option<Shape>> {
        let Some((row, args)) = of_vectors(dist) else {
            let mut of = Vec::new();
            dist.values(&mut of);
            return self.meet(&of, |l| {
                let shapes: Vec<String> = of.iter().filter(|t| !t.is_scalar()).map(|t| l.shown(t)).collect();
                let message = format!("the shapes {} do not fit together", shapes.join(" and "));
                Diagnostic::error("shape-mismatch", message).label(span, "")
            });
        };
        if row.event == 0 {
            let outer = args.iter().zip(row.args).map(|(a, spec)| {
                let shape = a.shape.clone()?;
                Some(shape[..shape.len().saturating_sub(spec.rank)].to_vec())
            });
            let outer: Option<Vec<Shape>> = outer.collect();
            return Ok(outer.map(|all| all.into_iter().max_by_key(Vec::len).unwrap_or_default()));
        }
        let like = args.iter().zip(row.args).find(|(_, spec)| spec.rank == row.event);
        like.map(|(a, _)| a.shape.clone()).ok_or_else(|| {
            let message =
                format!("the arguments of `{}` do not say how many numbers one value has", row.name);
            Diagnostic::error("unknown-size", message)
                .label(span, "")
                .help("predict the whole array with its sizes, outside of a loop")
        })
    }

    /// What is drawn from a distribution.
    fn drawn(&mut self, dist: &Dist, shape: Option<Shape>, p: &PredictDecl) -> Result<Type> {
        let mut of = Vec::new();
        dist.values(&mut of);
        let mut ty = self.computed(&format!("drawn {}", p.name.span.start), &[], shape);
        ty.coordinates = all_coordinates(of.iter().copied());
        (ty.fixed, ty.drawn, ty.integer) = (false, true, dist.is_discrete());
        self.check_extent(dist, &ty, p.name.span)?;
        if of_vectors(dist).is_some() {
            self.check_density(dist, &ty, p.dist.span)?;
        }
        (ty.range, ty.reached) = (self.reach(dist), true);
        if let Dist::Row { row, .. } = dist {
            ty.structure = structure_of(row.support).map(|(structure, _)| structure);
        }
        self.notes.drawn.push((p.name.clone(), ty.base));
        Ok(ty)
    }

    /// Where the numbers drawn from a distribution lie.
    fn reach(&self, dist: &Dist) -> Range {
        match dist {
            Dist::Row { row, args, .. } => support_range(row, args),
            Dist::Mixture(parts) => {
                let all = parts.iter().map(|(_, part)| self.reach(part));
                all.reduce(Range::or).unwrap_or(Range::REAL)
            }
            Dist::Truncated { inner, lower, upper } => {
                let mut range = self.reach(inner);
                if let Some(lower) = lower {
                    range.low = lower.range.low;
                }
                if let Some(upper) = upper {
                    range.high = upper.range.high;
                }
                range
            }
            Dist::Censored { inner, marks: [_, _, lower, upper] } => {
                let limits = lower.iter().chain(upper).map(|t| t.range);
                limits.fold(self.reach(inner), Range::or)
            }
            Dist::ZeroInflated { inner, .. } => self.reach(inner).or(Range::of(&[0.0])),
        }
    }

    /// The error of something drawn in the log density.
    pub(super) fn drawn_in_density(&self, span: Span) -> Diagnostic {
        let text = self.text(span);
        let word = |name: &str| super::has_word(text, name);
        let known = |name: &Ident| self.names.value(&name.name).is_some_and(|ty| ty.drawn);
        let drawn = || self.notes.drawn.iter().filter(|(name, _)| known(name) || word(&name.name));
        let source = drawn().find(|(name, _)| word(&name.name)).or_else(|| drawn().next());
        let name = source.map_or("this", |(name, _)| name.name.as_str());
        let message = match text == name {
            true => format!("`{name}` is predicted: it is drawn after the fit, and cannot take part in it"),
            false => format!(
                "this uses `{name}`, which is predicted: it is drawn after the fit, and cannot take part in it"
            ),
        };
        let error = Diagnostic::error("predicted-in-density", message).label(span, "");
        let error = match source {
            Some((name, _)) => error.label(name.span, "predicted here"),
            None => error,
        };
        error.help(format!(
            "use it in `predict` and `derive` statements; what the data are to inform is a parameter: `param {name} ~ ...`"
        ))
    }

    /// Refuses a log density that is known only after a draw, and adds what is reported element by element.
    pub(super) fn collect_reports(&mut self) {
        let drawn: Vec<Span> = self.model.terms.iter().filter(|t| t.ty.drawn).map(|t| t.span).collect();
        for span in drawn {
            let problem = self.drawn_in_density(span);
            self.problems.add(problem, Vec::new(), self.source);
        }
        for name in std::mem::take(&mut self.notes.elements) {
            if let Some(Meaning::Elements(elements)) = self.names.get(&name)
                && let Some(ty) = elements.whole(&[])
            {
                self.model.reported.push(Reported { name, ty });
            }
        }
    }
}

/// Refuses to draw from a density that is no distribution.
fn refuse_undrawable(dist: &Dist) -> Result<()> {
    let Dist::Row { row, span, .. } = dist else { return Ok(()) };
    if !matches!(row.sample, Sampler::None) {
        return Ok(());
    }
    Err(Diagnostic::error("no-draws", format!("`{}` cannot be drawn from", row.name))
        .label(*span, "")
        .help("predict from a distribution whose density integrates to 1"))
}

/// A row whose values or arguments are vectors or matrices.
fn of_vectors(dist: &Dist) -> Option<(&'static Distribution, &[Type])> {
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

/// Where the values of a row lie, for any values that its arguments may have.
fn support_range(row: &Distribution, args: &[Type]) -> Range {
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
    let end = |e: End| match e {
        End::At(x) | End::Past(x) => (x, x),
        End::Arg(k) => (args[k].range.low.at, args[k].range.high.at),
        End::Length(_) => (1.0, f64::INFINITY),
    };
    let open = matches!(row.support, Support::Interval(..));
    let (low, high) = (end(low).0, end(high).1);
    if open { Range::between(low, high) } else { Range::from_to(low, high) }
}
