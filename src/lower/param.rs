//! Latent variables: coordinates, constrained value, Jacobian and prior.

use super::axes::{self, Axes};
use super::dist::Dist;
use super::env::Value;
use super::{Form, Labels, Lowerer, Named, Parameter, Result, TermKind, at, density};
use crate::dist::{BaseArg, Distribution, End, Noncentered, Support};
use crate::facts::{Range, Structure};
use crate::graph::NodeId;
use crate::model::{self, MAX_COORDINATES, is_matrix, transform_of};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Centering, ExprKind, ParamDecl, TypeExpr};
use crate::transform::{self, Transform};

/// Where a parameter's values lie.
pub(super) struct Region {
    pub(super) transform: &'static Transform,
    pub(super) bounds: Vec<NodeId>,
    pub(super) text: String,
}

/// Whether what a distribution describes goes from element to element.
pub(super) fn is_walk(dist: &Dist) -> bool {
    matches!(dist, Dist::Row { row, .. } if row.name == "gaussian_random_walk")
}

impl Lowerer<'_> {
    pub(super) fn param(&mut self, p: &ParamDecl, span: Span) -> Result<()> {
        let (dims, axes) = self.param_dims(p)?;
        let labels = axes::labels(&axes, dims.len());
        let own = p.prior.as_ref().filter(|d| self.is_own(d));
        let prior = p.prior.as_ref().filter(|_| own.is_none()).map(|d| self.dist(d)).transpose()?;
        if prior.as_ref().is_some_and(is_walk) {
            self.warn_walk(&labels, p.name.span);
        }
        if let Some((Centering::Noncentered, place)) = p.centering {
            return self.noncentered(p, prior, dims, axes, place, span);
        }
        if self.effect(p, prior.as_ref(), &dims, &axes, span)? {
            return Ok(());
        }
        let region = self.region(p.ty.as_ref(), prior.as_ref(), span)?;
        let region = self.opened(region, &dims, span)?;
        let value = self.constrained(&p.name.name, region, &dims, labels, span)?.along(axes);
        if let Some(prior) = &prior {
            self.check_extent(prior, &value, p.name.span)?;
            let inside = p.ty.is_none();
            let node = density::prior(&mut self.b, prior, value.node, inside).map_err(|e| {
                let message =
                    format!("the prior does not fit the shape {} of `{}`", self.shape(&dims), p.name.name);
                Diagnostic::error("shape-mismatch", message).label(span, "").note(e.to_string())
            })?;
            self.note_prior(value.node, prior);
            self.term(node, TermKind::Prior, span);
        }
        if let Some(own) = own {
            let node = self.own_sum(own, &value, None)?;
            self.term(node, TermKind::Prior, span);
        }
        self.define(&p.name, value)
    }

    fn param_dims(&mut self, p: &ParamDecl) -> Result<(Vec<usize>, Axes)> {
        let mut dims = self.sizes(&p.dims)?;
        let mut axes = self.counted_axes(&p.dims);
        if let Some(ty) = &p.ty {
            let inner = self.sizes(&ty.dims)?;
            if let Some(e) = ty.dims.iter().find(|e| e.kind == ExprKind::Int(0)) {
                let message = format!("`{}` has no elements: one of its sizes is 0", p.name.name);
                return Err(Diagnostic::error("empty-size", message)
                    .label(e.span, "")
                    .help("sizes stand in brackets after the type; bounds are written `real in (0, 1)`"));
            }
            axes.extend(self.counted_axes(&ty.dims));
            dims.extend(&inner);
            if is_matrix(ty.base) && inner.len() == 1 {
                dims.push(inner[0]);
                let again = axes.last().cloned().flatten();
                axes.push(again);
            }
        }
        Ok((dims, axes))
    }

    /// Makes coordinates, value and Jacobian of a parameter.
    pub(super) fn constrained(
        &mut self,
        name: &str,
        region: Region,
        dims: &[usize],
        labels: Labels,
        span: Span,
    ) -> Result<Value> {
        let Region { transform, bounds, text } = region;
        let Some(batch) = dims.len().checked_sub(transform.event) else {
            let message = format!("`{name}` needs its size: `{}[K]`", transform.name);
            return Err(Diagnostic::error("missing-size", message)
                .label(span, "")
                .help(format!("write `param {name} : {}[K] ~ ...`", transform.name)));
        };
        let (outer, event) = dims.split_at(batch);
        if transform.event == 2 && event[0] != event[1] {
            return Err(Diagnostic::error(
                "not-square",
                format!("`{name}` must be square, and is {}", self.shape(dims)),
            )
            .label(span, ""));
        }
        let mut shape = outer.to_vec();
        if transform.event > 0 {
            shape.push((transform.free)(event));
        }
        self.room(name, dims, span)?;
        let size = shape.iter().product();
        let offset = self.dimension;
        self.dimension += size;
        let u = self.b.input(offset, shape);
        let built = at((transform.build)(&mut self.b, u, dims, &bounds), span)?;
        if self.b.dims(built.value) != dims {
            return Err(Diagnostic::error(
                "shape-mismatch",
                format!("the bounds of `{name}` do not fit its shape {}", self.shape(dims)),
            )
            .label(span, ""));
        }
        self.note_region(built.value, transform, &bounds);
        self.term(built.log_jacobian, TermKind::Jacobian, span);
        self.parameters.push(Parameter {
            named: Named { name: name.to_string(), node: built.value, labels },
            support: text,
            offset,
            size,
            improper: false,
            unproved: false,
            form: Form::Transformed { transform, bounds },
        });
        Ok(Value::real(built.value, false))
    }

    /// Records what the transform guarantees, so that nothing need be checked again.
    fn note_region(&mut self, value: NodeId, transform: &Transform, bounds: &[NodeId]) {
        let ends: Vec<Range> = bounds.iter().map(|&b| self.b.range(b)).collect();
        match (transform.name, &ends[..]) {
            ("lower", [a]) => self.b.assert_range(value, Range::between(a.low.at, f64::INFINITY)),
            ("upper", [b]) => self.b.assert_range(value, Range::between(f64::NEG_INFINITY, b.high.at)),
            ("interval", [a, b]) => self.b.assert_range(value, Range::between(a.low.at, b.high.at)),
            ("simplex", _) => self.b.assert_structure(value, Structure::Simplex),
            ("ordered", _) => self.b.assert_structure(value, Structure::Ordered),
            ("positive_ordered", _) => {
                self.b.assert_range(value, Range::POSITIVE);
                self.b.assert_structure(value, Structure::Ordered);
            }
            ("corr_matrix", _) => self.b.assert_structure(value, Structure::Correlation),
            ("cov_matrix", _) => self.b.assert_structure(value, Structure::Covariance),
            ("cholesky_corr", _) => self.b.assert_structure(value, Structure::CholeskyCorrelation),
            ("cholesky_cov", _) => self.b.assert_structure(value, Structure::CholeskyFactor),
            _ => {}
        }
    }

    fn noncentered(
        &mut self,
        p: &ParamDecl,
        prior: Option<Dist>,
        dims: Vec<usize>,
        axes: Axes,
        place: Span,
        span: Span,
    ) -> Result<()> {
        let (row, args) = match prior {
            Some(Dist::Row { row, args, .. }) => (row, args),
            _ => {
                return Err(model::cannot_noncenter(
                    place,
                    "`noncentered` needs a plain prior on the same line",
                ));
            }
        };
        let Some(Noncentered { base, base_args, build }) = &row.noncentered else {
            return Err(model::cannot_noncenter(place, &format!("`{}` has no non-centred form", row.name)));
        };
        let offset = self.dimension;
        let u = self.b.input(offset, dims.clone());
        let size = self.room(&p.name.name, &dims, span)?;
        self.dimension += size;
        let base_nodes: Vec<NodeId> = base_args
            .iter()
            .map(|a| match a {
                BaseArg::Number(x) => self.b.number(*x),
                BaseArg::Arg(k) => args[*k],
            })
            .collect();
        let z = self.base_coordinates(base, &base_nodes, u, &dims, span)?;
        let prior = at(crate::dist::log_density_sum(&mut self.b, base, z, &base_nodes, None), span)?;
        let node = at(build(&mut self.b, z, &args), span)?;
        if self.b.dims(node) != dims {
            let found = self.b.dims(node).to_vec();
            return Err(Diagnostic::error(
                "shape-mismatch",
                format!(
                    "`{}` has shape {}, and its prior describes {}",
                    p.name.name,
                    self.shape(&dims),
                    self.shape(&found)
                ),
            )
            .label(span, ""));
        }
        self.term(prior, TermKind::Prior, span);
        self.parameters.push(Parameter {
            named: Named { name: p.name.name.clone(), node, labels: axes::labels(&axes, dims.len()) },
            support: "real".into(),
            offset,
            size,
            improper: false,
            unproved: false,
            form: Form::Noncentered,
        });
        self.define(&p.name, Value::real(node, false).along(axes))
    }

    /// The number of elements of a parameter, if there is room for them.
    fn room(&self, name: &str, dims: &[usize], span: Span) -> Result<usize> {
        let size = dims.iter().try_fold(1_usize, |n, &d| n.checked_mul(d)).unwrap_or(usize::MAX);
        if size.saturating_add(self.dimension) <= MAX_COORDINATES as usize {
            return Ok(size);
        }
        let message =
            format!("`{name}` has {} elements, and a model at most {MAX_COORDINATES}", self.shape(dims));
        Err(Diagnostic::error("too-many-parameters", message).label(span, ""))
    }

    /// The values of a base distribution with these arguments, from free coordinates: by the transform of its
    /// support.
    fn base_coordinates(
        &mut self,
        base: &Distribution,
        args: &[NodeId],
        u: NodeId,
        dims: &[usize],
        span: Span,
    ) -> Result<NodeId> {
        let Support::Interval(low, high) = base.support else { return Ok(u) };
        let mut end = |end: End| match end {
            End::At(x) | End::Past(x) => x.is_finite().then(|| self.b.number(x)),
            End::Arg(k) => args.get(k).copied(),
            End::Length(_) => None,
        };
        let (transform, bounds) = match (end(low), end(high)) {
            (None, None) => return Ok(u),
            (Some(a), None) => ("lower", vec![a]),
            (None, Some(b)) => ("upper", vec![b]),
            (Some(a), Some(b)) => ("interval", vec![a, b]),
        };
        let transform = row(transform, span)?;
        let built = at((transform.build)(&mut self.b, u, dims, &bounds), span)?;
        self.note_region(built.value, transform, &bounds);
        self.term(built.log_jacobian, TermKind::Jacobian, span);
        Ok(built.value)
    }

    /// The region of a parameter: from its type if one is written, from its prior otherwise.
    pub(super) fn region(
        &mut self,
        ty: Option<&TypeExpr>,
        prior: Option<&Dist>,
        span: Span,
    ) -> Result<Region> {
        if let Some(ty) = ty {
            if let Some(name) = transform_of(ty.base) {
                let region = Region { transform: row(name, span)?, bounds: Vec::new(), text: name.into() };
                self.inside_prior(&region, prior, ty)?;
                return Ok(region);
            }
            if let Some(region) = self.written_bounds(ty, span)? {
                self.inside_prior(&region, prior, ty)?;
                return Ok(region);
            }
        }
        match prior {
            Some(prior) => self.region_of_prior(prior, span),
            None => Ok(Region { transform: row("real", span)?, bounds: Vec::new(), text: "real".into() }),
        }
    }

    /// Refuses a written region that reaches beyond the support of the prior: the density would be zero
    /// there.
    fn inside_prior(&self, region: &Region, prior: Option<&Dist>, ty: &TypeExpr) -> Result<()> {
        let Some(Dist::Row { row: dist, args, .. }) = prior else { return Ok(()) };
        let Support::Interval(low, high) = dist.support else { return Ok(()) };
        let end = |e: End| match e {
            End::At(x) | End::Past(x) => Some(x),
            End::Arg(k) => self.b.scalar_of(args[k]),
            End::Length(_) => None,
        };
        let (Some(lowest), Some(highest)) = (end(low), end(high)) else { return Ok(()) };
        let ends = match (region.transform.name, &region.bounds[..]) {
            ("lower", [a]) => (self.b.scalar_of(*a), Some(f64::INFINITY)),
            ("upper", [b]) => (Some(f64::NEG_INFINITY), self.b.scalar_of(*b)),
            ("interval", [a, b]) => (self.b.scalar_of(*a), self.b.scalar_of(*b)),
            ("simplex", _) => (Some(0.0), Some(1.0)),
            ("positive_ordered", _) => (Some(0.0), Some(f64::INFINITY)),
            _ => (Some(f64::NEG_INFINITY), Some(f64::INFINITY)),
        };
        if ends.0.is_none_or(|a| a >= lowest) && ends.1.is_none_or(|b| b <= highest) {
            return Ok(());
        }
        let support = format!("({lowest}, {highest})");
        Err(model::beyond_support(dist.name, &support, (region.transform, &region.text), ty))
    }

    fn region_of_prior(&mut self, prior: &Dist, span: Span) -> Result<Region> {
        match prior {
            Dist::Row { row: dist, args, .. } => {
                let named = |name: &str| -> Result<Region> {
                    Ok(Region { transform: row(name, span)?, bounds: Vec::new(), text: name.to_string() })
                };
                match dist.support {
                    Support::Simplex => named("simplex"),
                    Support::CorrMatrix => named("corr_matrix"),
                    Support::CovMatrix => named("cov_matrix"),
                    Support::CholeskyCorr => named("cholesky_corr"),
                    Support::Anywhere => named("real"),
                    Support::Integers(..) | Support::Counts => Err(model::discrete_latent(dist.name, span)),
                    Support::Interval(..) | Support::Circle => {
                        let Some((a, b)) = dist.support.interval() else { return named("real") };
                        let end = |l: &mut Self, e: End| -> (NodeId, String) {
                            match e {
                                End::At(x) | End::Past(x) => (l.b.number(x), x.to_string()),
                                End::Arg(k) => {
                                    let text =
                                        l.b.scalar_of(args[k])
                                            .map_or(dist.args[k].name.to_string(), |x| x.to_string());
                                    (args[k], text)
                                }
                                End::Length(k) => {
                                    let n = l.b.dims(args[k]).last().copied().unwrap_or(0) as f64;
                                    (l.b.number(n), n.to_string())
                                }
                            }
                        };
                        let (a, b) = (end(self, a), end(self, b));
                        self.interval(Some(a), Some(b), span)
                    }
                }
            }
            Dist::Truncated { inner, lower, upper } => {
                let inside = self.region_of_prior(inner, span)?;
                let mut ends = match (inside.transform.name, &inside.bounds[..]) {
                    ("lower", [a]) => (Some(*a), None),
                    ("upper", [b]) => (None, Some(*b)),
                    ("interval", [a, b]) => (Some(*a), Some(*b)),
                    _ => (None, None),
                };
                ends = (lower.or(ends.0), upper.or(ends.1));
                let name =
                    |l: &Self, n: NodeId| (n, l.b.scalar_of(n).map_or("...".to_string(), |x| x.to_string()));
                let (a, b) = (ends.0.map(|n| name(self, n)), ends.1.map(|n| name(self, n)));
                self.interval(a, b, span)
            }
            Dist::Mixture(parts) => match parts.first() {
                Some((_, first)) => self.region_of_prior(first, span),
                None => Ok(Region { transform: row("real", span)?, bounds: Vec::new(), text: "real".into() }),
            },
            Dist::Censored { .. } | Dist::ZeroInflated { .. } => Err(model::prior_of_data(span)),
        }
    }
}

pub(super) fn row(name: &str, span: Span) -> Result<&'static Transform> {
    transform::find(name).ok_or_else(|| {
        Diagnostic::error("unknown-constraint", format!("there is no constraint `{name}`")).label(span, "")
    })
}
