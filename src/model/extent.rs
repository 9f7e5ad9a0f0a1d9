//! Refuses a distribution of other values than there are: of more, of another shape, kind or structure.

use super::distribution::Dist;
use super::sizes::{Settled, read};
use super::types::{Type, are_indices};
use super::{Elaborator, Result};
use crate::data::listed;
use crate::dist::{Distribution, Domain, End, Support};
use crate::facts::{Shape, Size, Structure, broadcast, show};
use crate::source::{Diagnostic, Span};

impl Elaborator<'_> {
    /// Refuses a distribution of more values than there are: a scalar is not described by a vector of means,
    /// nor by one of marks or weights.
    pub(super) fn check_extent(&mut self, dist: &Dist, value: &Type, span: Span) -> Result<()> {
        let inside: Vec<(&str, Option<&Type>)> = match dist {
            Dist::Row { row, args, span: place } => {
                return self.check_row_extent(row, args, *place, value, span);
            }
            Dist::Mixture(parts) => {
                parts.iter().try_for_each(|(_, part)| self.check_extent(part, value, span))?;
                parts.iter().map(|(weight, _)| ("the weight of a part", Some(weight))).collect()
            }
            Dist::Truncated { inner, lower, upper } => {
                self.check_extent(inner, value, span)?;
                vec![("`lower`", lower.as_ref()), ("`upper`", upper.as_ref())]
            }
            Dist::Censored { inner, marks } => {
                self.check_extent(inner, value, span)?;
                ["`left`", "`right`", "`lower`", "`upper`"]
                    .into_iter()
                    .zip(marks.iter().map(Option::as_ref))
                    .collect()
            }
            Dist::ZeroInflated { probability, inner } => {
                self.check_extent(inner, value, span)?;
                vec![("the probability of an extra zero", Some(probability))]
            }
        };
        let Some(shape) = &value.shape else { return Ok(()) };
        let event = dist.first_row().map_or(0, |(row, _)| row.event);
        let values = shape[..shape.len().saturating_sub(event)].to_vec();
        for (what, given) in inside.into_iter().filter_map(|(what, given)| Some((what, given?))) {
            let place = dist.first_row().map(|(_, place)| place);
            self.fits_within(given, &values, |l| l.misfit_beside(what, given, &values, place, span))?;
        }
        Ok(())
    }

    /// Refuses a value that does not broadcast to this shape.
    pub(super) fn fits_within(
        &mut self,
        given: &Type,
        to: &Shape,
        wrong: impl Fn(&Self) -> Diagnostic,
    ) -> Result<()> {
        let Some(own) = &given.shape else { return Ok(()) };
        let settled = self.sizes.clone().settle(&[own, to], self.context.open > 0, |reading| {
            let (own, to) = (read(own, reading), read(to, reading));
            let mut last = own.iter().rev().zip(to.iter().rev());
            let fits = own.len() <= to.len() && last.all(|(a, b)| a.may_equal(b) || a.is_one());
            fits.then_some(()).ok_or(())
        });
        match settled {
            Settled::Holds(()) => Ok(()),
            Settled::ByChance((), (), chance) => {
                let problem = wrong(self);
                self.by_chance(problem, &chance);
                Ok(())
            }
            Settled::Fails(()) => Err(wrong(self)),
        }
    }

    fn misfit_beside(
        &self,
        what: &str,
        given: &Type,
        values: &Shape,
        place: Option<Span>,
        span: Span,
    ) -> Diagnostic {
        let (found, wanted) = (self.shown(given), show(values));
        let message = format!("{what} has shape {found}, and the left side {wanted}");
        let error =
            Diagnostic::error("shape-mismatch", message).label(span, format!("this has shape {wanted}"));
        let error = place.into_iter().fold(error, |error, place| error.label(place, ""));
        let left = self.text(span);
        match values.is_empty() && left.contains('[') {
            true => error.help(format!(
                "`{left}` is one number: give what stands beside it an index too, or describe the whole array"
            )),
            false => error.help("give one for each value, or one for all of them"),
        }
    }

    fn check_row_extent(
        &mut self,
        row: &Distribution,
        args: &[Type],
        place: Span,
        value: &Type,
        span: Span,
    ) -> Result<()> {
        if row.event > 0 || row.args.iter().any(|spec| spec.rank > 0) {
            return Ok(());
        }
        let of: Vec<&Type> = std::iter::once(value).chain(args).collect();
        let wanted = self.meet(&of, |l| l.misfit_of_arguments(row, args, place, value, span))?;
        let Some(wanted) = wanted else { return Ok(()) };
        let described = Type::real(wanted.clone());
        let Some(own) = value.shape.clone() else { return Ok(()) };
        self.fits_within(&described, &own, |l| l.describes_more(row, args, &wanted, place, (value, span)))
    }

    fn misfit_of_arguments(
        &self,
        row: &Distribution,
        args: &[Type],
        place: Span,
        value: &Type,
        span: Span,
    ) -> Diagnostic {
        let shapes: Vec<String> = args.iter().map(|a| self.shown(a)).collect();
        let message = format!("the arguments of `{}` do not fit the left side", row.name);
        let error = Diagnostic::error("shape-mismatch", message)
            .label(span, format!("this has shape {}", self.shown(value)))
            .label(place, format!("its arguments have shapes {}", shapes.join(" and ")))
            .note("shapes align at the last axis; an axis of size 1 is repeated");
        match args.iter().find_map(|a| self.by_group_help([a, value])) {
            Some(help) => error.help(help),
            None => error,
        }
    }

    fn describes_more(
        &self,
        row: &Distribution,
        args: &[Type],
        wanted: &Shape,
        place: Span,
        (value, span): (&Type, Span),
    ) -> Diagnostic {
        let (own, wanted) = (self.shown(value), show(wanted));
        let message = format!("`{}` describes {wanted} here, and the left side is {own}", row.name);
        let left = self.text(span);
        let error = Diagnostic::error("shape-mismatch", message)
            .label(span, format!("this has shape {own}"))
            .label(place, format!("this describes {wanted}"));
        let inside = wanted.trim_matches(['[', ']']);
        match (value.is_scalar(), value.fixed) {
            (true, true) if left.parse::<f64>().is_ok() => {
                error.help(format!("for a term for each element write `rep({left}, {inside}) ~ ...`"))
            }
            (true, _) if left.contains('[') => error
                .help(format!("`{left}` is one number: give the arguments an index too, as it has, or describe the whole array")),
            (true, _) => error.help(format!("give `{left}` as many elements: `{left}[{inside}]`")),
            (false, _) => match args.iter().find_map(|a| self.one_column(a, value)) {
                Some(help) => error.help(help),
                None => error,
            },
        }
    }

    /// What to write for a matrix with one column, [N, 1], beside a value [N].
    fn one_column(&self, argument: &Type, value: &Type) -> Option<String> {
        let (Some([rows, one]), Some([n])) = (argument.shape.as_deref(), value.shape.as_deref()) else {
            return None;
        };
        let is_it = |name: &&str| self.names.value(name).is_some_and(|v| v.identity == argument.identity);
        let name = self.names.all().find(is_it).unwrap_or("s");
        (rows == n && one.is_one())
            .then(|| format!("a matrix with one column is not a vector: write `{name}[:, 1]`"))
    }

    /// What to write where one of two arrays has a number for each group and the other one for each row.
    pub(super) fn by_group_help(&self, [a, b]: [&Type; 2]) -> Option<String> {
        let indexed = self.by_group(a, b).or_else(|| self.by_group(b, a))?;
        Some(format!("for the value of each row's group write `{indexed}`"))
    }

    /// `alpha[county]` for a parameter with a number for each level of a category that has as many rows as
    /// the value.
    fn by_group(&self, argument: &Type, value: &Type) -> Option<String> {
        let parameter = self.whole_parameter(argument)?;
        let levels = argument.shape.as_ref()?.first()?;
        let fits = |of: &Type| of.levels.as_ref().and_then(|l| l.size()).as_ref() == Some(levels);
        let mut fitting: Vec<&str> = self
            .names
            .categories()
            .filter(|(_, rows, _)| fits(rows) && rows.shape == value.shape)
            .map(|(name, ..)| name)
            .collect();
        fitting.sort_unstable();
        Some(format!("{}[{}]", parameter.name.name, fitting.first()?))
    }

    /// Refuses a parameter of another structure than the distribution describes: a Cholesky factor is no
    /// correlation matrix.
    pub(super) fn check_structure(&self, dist: &Dist, value: &Type, span: Span) -> Result<()> {
        let Dist::Row { row, span: place, .. } = dist else { return Ok(()) };
        let Some((wanted, ty)) = structure_of(row.support) else { return Ok(()) };
        let Some(parameter) = self.whole_parameter(value) else { return Ok(()) };
        if value.structure.is_some_and(|s| s.implies(wanted)) {
            return Ok(());
        }
        let (name, support) = (&parameter.name.name, &parameter.support);
        let message = format!("`{}` describes `{ty}`, and `{name}` is `{support}`", row.name);
        let error = Diagnostic::error("support-mismatch", message).label(span, "").label(*place, "");
        let is_factor = parameter.ty.structure == Some(Structure::CholeskyCorrelation);
        Err(error.help(match (row.support, is_factor) {
            (Support::CorrMatrix, true) => {
                "use `lkj_corr_cholesky`, which describes the Cholesky factor".into()
            }
            _ => format!("declare it so: `param {name} : {ty} ~ ...`"),
        }))
    }

    /// Refuses reals where integers are needed, and parameters where data are.
    pub(super) fn check_integer(&self, row: &Distribution, value: &Type, span: Span) -> Result<()> {
        if row.discrete && !value.integer && value.shape.is_some() {
            let message = format!("`{}` describes integers, and this is real", row.name);
            return Err(Diagnostic::error("real-for-integer", message)
                .label(span, "")
                .help("declare the data `count`, `binary`, `int` or `category`"));
        }
        if row.discrete && !value.fixed {
            let message = format!("`{}` describes data; latents are continuous here", row.name);
            return Err(Diagnostic::error("discrete-latent", message)
                .label(span, "this is a parameter")
                .help("sum a discrete latent out with `mixture`"));
        }
        Ok(())
    }

    /// Refuses values that a distribution cannot give, as far as the model says what they are.
    pub(super) fn check_value(&mut self, dist: &Dist, value: &Type, span: Span) -> Result<()> {
        match dist {
            Dist::Row { row, args, .. } => {
                self.check_integer(row, value, span)?;
                if !is_of_levels(row) {
                    self.refuse_category(value, span)?;
                }
                self.check_outcome(row, args, value, span)
            }
            Dist::Mixture(parts) => parts.iter().try_for_each(|(_, part)| match part {
                Dist::Row { row, .. } => self.check_integer(row, value, span),
                _ => Ok(()),
            }),
            Dist::Truncated { inner, .. }
            | Dist::Censored { inner, .. }
            | Dist::ZeroInflated { inner, .. } => self.check_value(inner, value, span),
        }
    }

    /// Refuses a category as an outcome whose levels are not those of the distribution.
    fn check_outcome(&mut self, row: &Distribution, args: &[Type], value: &Type, span: Span) -> Result<()> {
        let Some(levels) = value.levels.clone() else { return Ok(()) };
        let Some(categories) = self.categories(row, args) else { return Ok(()) };
        let name = self.text(span);
        let is_size =
            |size: &Size| size.is_linear() && size.names().count() == 1 && size.as_integer().is_none();
        if let Some(own) = levels.size().filter(|own| levels.counted && *own != categories)
            && is_size(&categories)
            && self.context.open == 0
            && !self.sizes.numbers.contains(&categories.to_string())
            && self.sizes.number(&own).is_none_or(|n| self.sizes.number(&categories) != Some(n))
        {
            let message =
                format!("`{name}` has {own} levels, and `{}` has {categories} categories here", row.name);
            return Err(Diagnostic::error("level-count", message).label(span, "").help(match is_ordinal(row) {
                true => format!("cut-points lie between the levels, one fewer than there are: `ordered[{own} - 1]`"),
                false => format!("give each row a number for each level: a matrix [N, {own}], such as `x * b'` with `param b[{own}, D]`"),
            }));
        }
        let (Some(labels), Some(n)) = (&levels.listed, self.certain(&categories)) else { return Ok(()) };
        if labels.len() as i64 == n || are_indices(labels) && labels.len() as i64 <= n {
            return Ok(());
        }
        Err(other_categories(name, labels, row, n, span))
    }

    /// How many categories a distribution of categories has: cut-points lie between them.
    fn categories(&self, row: &Distribution, args: &[Type]) -> Option<Size> {
        let (_, vector) = row.args.iter().zip(args).find(|(spec, _)| spec.rank == 1)?;
        let last = vector.shape.as_ref()?.last()?;
        Some(last.plus(1, &Size::known(usize::from(is_ordinal(row)))))
    }

    /// The shape of the log densities of a value; what does not fit otherwise.
    pub(super) fn density_shape(
        &mut self,
        row: &Distribution,
        value: &Type,
        args: &[Type],
        span: Span,
    ) -> std::result::Result<Option<Shape>, String> {
        let pieces: Option<Vec<&Shape>> =
            std::iter::once(value).chain(args).map(|t| t.shape.as_ref()).collect();
        let Some(pieces) = pieces else { return Ok(None) };
        let shapes: Vec<&[Size]> = pieces.iter().map(|s| &s[..]).collect();
        let settled = self.sizes.clone().settle(&shapes, self.context.open > 0, |reading| {
            let read: Vec<Shape> = pieces.iter().map(|s| read(s, reading)).collect();
            events(row, &read[0], &read[1..])
        });
        match settled {
            Settled::Holds(shape) => Ok(Some(shape)),
            Settled::ByChance(shape, why, chance) => {
                let problem = Diagnostic::error("shape-mismatch", why).label(span, "");
                self.by_chance(problem, &chance);
                Ok(Some(shape))
            }
            Settled::Fails(why) => Err(why),
        }
    }
}

/// The shape of log densities: the axes before those of an event, whose sizes must agree.
fn events(row: &Distribution, value: &Shape, args: &[Shape]) -> std::result::Result<Shape, String> {
    let split = |shape: &Shape, rank: usize| {
        let at = shape.len().saturating_sub(rank);
        (shape[..at].to_vec(), shape[at..].to_vec())
    };
    let (mut batch, event) = split(value, row.event);
    let size = event.last().cloned();
    for (spec, shape) in row.args.iter().zip(args) {
        let points = spec.rank == 1 && spec.domain == Domain::Data;
        let (before, own) = if points { (Shape::new(), shape.clone()) } else { split(shape, spec.rank) };
        let axis = if points { own.first() } else { own.last() };
        if let (Some(k), Some(n)) = (&size, axis)
            && row.event > 0
            && !(k.may_equal(n) || n.is_one() && spec.rank == 1)
        {
            return Err(format!("the shapes {} and {} do not fit together", show(value), show(shape)));
        }
        if let ([a, b], 2) = (&own[..], spec.rank)
            && !a.may_equal(b)
        {
            return Err(format!("`{}` must be a square matrix, not {}", spec.name, show(shape)));
        }
        batch = broadcast(&batch, &before)
            .ok_or_else(|| format!("the shapes {} and {} do not fit together", show(value), show(shape)))?;
    }
    Ok(batch)
}

/// The structure that the values of a distribution have, and the type that has it.
pub fn structure_of(support: Support) -> Option<(Structure, &'static str)> {
    match support {
        Support::Simplex => Some((Structure::Simplex, "simplex[K]")),
        Support::CorrMatrix => Some((Structure::Correlation, "corr_matrix[K]")),
        Support::CovMatrix => Some((Structure::Covariance, "cov_matrix[K]")),
        Support::CholeskyCorr => Some((Structure::CholeskyCorrelation, "cholesky_corr[K]")),
        Support::Interval(..)
        | Support::Integers(..)
        | Support::Counts
        | Support::Circle
        | Support::Anywhere => None,
    }
}

/// Whether a distribution is of categories, counted from 1.
pub fn is_of_levels(row: &Distribution) -> bool {
    matches!(row.support, Support::Integers(End::At(1.0), _))
}

/// Whether a distribution is of categories in their order.
pub fn is_ordinal(row: &Distribution) -> bool {
    row.args.iter().any(|a| a.domain == Domain::Ordered)
}

/// The error of an outcome with another number of levels than a distribution has categories.
pub fn other_categories(name: &str, labels: &[String], row: &Distribution, n: i64, span: Span) -> Diagnostic {
    let message = format!("`{name}` has {} levels, and `{}` has {n} categories here", labels.len(), row.name);
    Diagnostic::error("level-count", message)
        .label(span, "")
        .note(format!("its levels are {}", listed(labels)))
        .help("levels are counted in their order, whatever numbers they are; list those that never occur, too: `levels(1, 2, 3)`")
}
