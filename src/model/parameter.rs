//! Latent variables: shape, support and prior.

use super::constraint::{guaranteed, is_matrix, transform_of};
use super::distribution::Dist;
use super::function::DENSITY_ENDINGS;
use super::names::Meaning;
use super::region::Region;
use super::types::{Labels, Type, all_coordinates};
use super::{Elaborator, Parameter, Result};
use crate::dist::Distribution;
use crate::facts::{Range, Shape, Size};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Centering, ExprKind, Ident, ParamDecl, TypeExpr};
use crate::transform::Transform;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Most coordinates of a model: a fit holds several numbers for each of them and for each of its draws.
pub const MAX_COORDINATES: i64 = 20_000_000;

impl Elaborator<'_> {
    pub(super) fn param(&mut self, p: &ParamDecl, span: Span) -> Result<()> {
        let (shape, labels) = self.param_shape(p)?;
        let own = p.prior.as_ref().filter(|d| self.is_own(d));
        let prior = p.prior.as_ref().filter(|_| own.is_none()).map(|d| self.dist(d)).transpose()?;
        if let Some((Centering::Noncentered, place)) = p.centering {
            return self.noncentered(p, prior, (shape, labels), place, span);
        }
        let region = self.region(p.ty.as_ref(), prior.as_ref(), span)?;
        let ty = self.constrained(&p.name, region, shape, labels, span)?;
        if let Some(prior) = &prior {
            self.check_structure(prior, &ty, p.name.span)?;
            self.check_extent(prior, &ty, p.name.span)?;
            self.check_density(prior, &ty, span).map_err(|e| {
                let message =
                    format!("the prior does not fit the shape {} of `{}`", self.shown(&ty), p.name.name);
                Diagnostic { message, ..e.clone() }.note(e.message)
            })?;
            self.warn_sum_to_zero(&ty, prior);
            self.prior_term(prior, &ty, span);
        }
        if let Some(own) = own {
            let each = self.own_sum(own, &ty, None)?;
            self.term(each, false, span);
        }
        self.define(&p.name, ty)
    }

    /// Adds the term that a prior is.
    fn prior_term(&mut self, prior: &Dist, ty: &Type, span: Span) {
        let mut of = vec![ty];
        prior.values(&mut of);
        if matches!(prior, Dist::Row { row, .. } if is_flat(row)) {
            of.clear();
        }
        let term = self.computed(&format!("prior {}", span.start), &of, Some(Shape::new()));
        self.term(term, false, span);
    }

    fn param_shape(&mut self, p: &ParamDecl) -> Result<(Shape, Labels)> {
        let mut shape = self.sizes_of(&p.dims)?;
        let mut labels = self.counted_labels(&p.dims);
        if let Some(ty) = &p.ty {
            let inner = self.sizes_of(&ty.dims)?;
            if let Some(e) = ty.dims.iter().find(|e| e.kind == ExprKind::Int(0)) {
                let message = format!("`{}` has no elements: one of its sizes is 0", p.name.name);
                return Err(Diagnostic::error("empty-size", message)
                    .label(e.span, "")
                    .help("sizes stand in brackets after the type; bounds are written `real in (0, 1)`"));
            }
            labels.extend(self.counted_labels(&ty.dims));
            shape.extend(inner.iter().cloned());
            if is_matrix(ty.base) && inner.len() == 1 {
                shape.push(inner[0].clone());
                labels.push(labels.last().cloned().flatten());
            }
        }
        Ok((shape, labels))
    }

    /// Gives a parameter its value between bounds.
    pub(super) fn constrained(
        &mut self,
        name: &Ident,
        region: Region,
        shape: Shape,
        labels: Labels,
        span: Span,
    ) -> Result<Type> {
        let Region { transform, bounds, text } = region;
        let called = &name.name;
        let Some(batch) = shape.len().checked_sub(transform.event) else {
            let message = format!("`{called}` needs its size: `{}[K]`", transform.name);
            return Err(Diagnostic::error("missing-size", message)
                .label(span, "")
                .help(format!("write `param {called} : {}[K] ~ ...`", transform.name)));
        };
        let event = &shape[batch..];
        let ty = Type::real(shape.clone());
        if transform.event == 2 && !self.same_size(&event[0], &event[1]) {
            let message = format!("`{called}` must be square, and is {}", self.shown(&ty));
            return Err(Diagnostic::error("not-square", message).label(span, ""));
        }
        self.room(called, &ty, span)?;
        for bound in &bounds {
            self.check_bound(called, bound, &ty, span)?;
        }
        let (range, structure) = guaranteed(transform, &bounds);
        Ok(self.parameter(name, Type { range, structure, labels, ..ty }, text, Some(transform), &bounds))
    }

    /// Adds a parameter.
    fn parameter(
        &mut self,
        name: &Ident,
        ty: Type,
        support: String,
        transform: Option<&'static Transform>,
        with: &[Type],
    ) -> Type {
        let place = self.model.parameters.len();
        let identity = self.number(format!("parameter {place}"));
        let own = Type { coordinates: Rc::new(BTreeSet::from([(place, None)])), ..Type::real(Shape::new()) };
        let coordinates = all_coordinates(std::iter::once(&own).chain(with));
        let ty = Type { fixed: false, reached: true, base: identity, identity, coordinates, ..ty };
        self.model.parameters.push(Parameter { name: name.clone(), ty: ty.clone(), support, transform });
        ty
    }

    fn same_size(&self, a: &Size, b: &Size) -> bool {
        a.may_equal(b) || self.sizes.number(a).is_some_and(|n| self.sizes.number(b) == Some(n))
    }

    fn check_bound(&mut self, name: &str, bound: &Type, ty: &Type, span: Span) -> Result<()> {
        let wrong = |l: &Self| {
            let message = format!("the bounds of `{name}` do not fit its shape {}", l.shown(ty));
            Diagnostic::error("shape-mismatch", message).label(span, "")
        };
        match self.meet(&[bound, ty], wrong)? {
            Some(met) if met.len() > ty.rank().unwrap_or(0) => Err(wrong(self)),
            _ => Ok(()),
        }
    }

    fn noncentered(
        &mut self,
        p: &ParamDecl,
        prior: Option<Dist>,
        (shape, labels): (Shape, Labels),
        place: Span,
        span: Span,
    ) -> Result<()> {
        let Some(Dist::Row { row, args, span: written }) = prior else {
            return Err(cannot_noncenter(place, "`noncentered` needs a plain prior on the same line"));
        };
        if row.noncentered.is_none() {
            return Err(cannot_noncenter(place, &format!("`{}` has no non-centred form", row.name)));
        }
        let dist = Dist::Row { row, args: args.clone(), span: written };
        if let Some(ty) = p.ty.as_ref() {
            self.check_noncentered_type(ty, row, &dist, place, span)?;
        }
        let name = &p.name.name;
        let ty = Type { labels, ..Type::real(shape) };
        self.room(name, &ty, span)?;
        let described = self.density_shape(row, &ty, &args, span);
        let described = described.map_err(|why| Diagnostic::error("shape-mismatch", why).label(span, ""))?;
        let rank = described.as_ref().map_or(0, |batch| batch.len() + row.event);
        if described.is_some() && rank > ty.rank().unwrap_or(0) {
            let found = described.map_or_else(|| ty.clone(), Type::real);
            let message = format!(
                "`{name}` has shape {}, and its prior describes {}",
                self.shown(&ty),
                self.shown(&found)
            );
            return Err(Diagnostic::error("shape-mismatch", message).label(span, ""));
        }
        self.check_described(row, &args, &ty, &p.name)?;
        let region = self.region_of_prior(&dist, span)?;
        let (range, _) = guaranteed(region.transform, &region.bounds);
        let ty = self.parameter(&p.name, Type { range, ..ty }, "real".into(), None, &args);
        // What it is made from has a range of its own: it may not come near the ends.
        let ty = Type { reached: range == Range::REAL, ..ty };
        self.prior_term(&dist, &ty, span);
        self.define(&p.name, ty)
    }

    /// Refuses a prior of numbers that describes more than the parameter is.
    fn check_described(&mut self, row: &Distribution, args: &[Type], ty: &Type, name: &Ident) -> Result<()> {
        if row.event > 0 {
            return Ok(());
        }
        let dist = Dist::Row {
            row: crate::dist::find(row.name).unwrap_or(crate::dist::TABLE[0]),
            args: args.to_vec(),
            span: name.span,
        };
        self.check_extent(&dist, ty, name.span)
    }

    /// Refuses a type that the non-centred form of a prior does not have: its values follow from the prior
    /// alone.
    fn check_noncentered_type(
        &mut self,
        ty: &TypeExpr,
        prior: &Distribution,
        dist: &Dist,
        place: Span,
        span: Span,
    ) -> Result<()> {
        let shaped = transform_of(ty.base).is_some();
        let bounded =
            ty.lower.is_some() || ty.upper.is_some() || ty.offset.is_some() || ty.multiplier.is_some();
        if !shaped && !bounded {
            return Ok(());
        }
        let own = self.region_of_prior(dist, span)?;
        let written = self.region(Some(ty), Some(dist), span)?;
        if own.transform.name == written.transform.name && own.text == written.text {
            return Ok(());
        }
        let message = format!(
            "`noncentered` makes the values of `{}`, which are {}, and the type asks for {}",
            prior.name, own.text, written.text
        );
        let half = format!("half_{}", prior.name);
        let half = crate::dist::find(&half).filter(|_| written.text == "(0, inf)");
        Err(Diagnostic::error("cannot-noncenter", message).label(ty.span, "").label(place, "").help(match half {
            Some(half) => format!("choose a prior with that support, such as `{}(s) noncentered`, or leave `noncentered` out", half.name),
            None => "leave the type or `noncentered` out, or choose a prior with that support".into(),
        }))
    }

    /// Refuses a parameter of more elements than a model has room for.
    fn room(&self, name: &str, ty: &Type, span: Span) -> Result<()> {
        let so_far = self
            .model
            .parameters
            .iter()
            .filter_map(|p| self.least_count(p.ty.shape.as_deref()?))
            .sum::<i64>();
        let own = self.least_count(ty.shape.as_deref().unwrap_or(&[])).unwrap_or(i64::MAX);
        if own.saturating_add(so_far) <= MAX_COORDINATES {
            return Ok(());
        }
        let message =
            format!("`{name}` has {} elements, and a model at most {MAX_COORDINATES}", self.shown(ty));
        Err(Diagnostic::error("too-many-parameters", message).label(span, ""))
    }

    /// Gives a name its value, once.
    pub(super) fn define(&mut self, name: &Ident, ty: Type) -> Result<()> {
        self.check_free(name)?;
        self.names.set(&name.name, Meaning::Value(ty));
        Ok(())
    }
}

/// Whether a distribution says nothing: every value is as likely.
pub fn is_flat(row: &Distribution) -> bool {
    row.support == crate::dist::Support::Anywhere
}

/// Whether a name ends like that of a log density of the model's own.
pub fn is_log_density(name: &str) -> bool {
    DENSITY_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// The error of `noncentered` where a prior has no such form.
pub fn cannot_noncenter(place: Span, why: &str) -> Diagnostic {
    let possible: Vec<&str> =
        crate::dist::TABLE.iter().filter(|d| d.noncentered.is_some()).map(|d| d.name).collect();
    Diagnostic::error("cannot-noncenter", why)
        .label(place, "")
        .note(format!("priors that can be non-centred: {}", possible.join(", ")))
}
