//! Where the values of parameters lie: between bounds as written, or where the prior has them.

use super::constraint::{refuse_discrete, transform_of};
use super::distribution::Dist;
use super::types::Type;
use super::{Elaborator, Result};
use crate::dist::{End, Support};
use crate::facts::Size;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Expr, TypeExpr};
use crate::transform::{self, Transform};

/// Where a parameter's values lie.
#[derive(Clone, Debug)]
pub struct Region {
    /// What makes the values from free coordinates.
    pub transform: &'static Transform,
    /// Its bounds.
    pub bounds: Vec<Type>,
    /// The same as text.
    pub text: String,
}

impl Elaborator<'_> {
    /// The region that the bounds of a type leave; nothing if it has none.
    pub(super) fn written_bounds(&mut self, ty: &TypeExpr, span: Span) -> Result<Option<Region>> {
        let lower = ty.lower.as_ref().map(|b| self.bound(&b.value)).transpose()?;
        let upper = ty.upper.as_ref().map(|b| self.bound(&b.value)).transpose()?;
        if let (Some(a), Some(b)) = (&ty.lower, &ty.upper) {
            self.check_bounds(&a.value, &b.value, ty.span)?;
        }
        if ty.offset.is_some() || ty.multiplier.is_some() {
            let offset = ty.offset.as_ref().map_or(Ok(self.literal(0.0, false)), |e| self.expr(e))?;
            let multiplier = match &ty.multiplier {
                Some(e) => self.multiplier(e)?,
                None => self.literal(1.0, false),
            };
            return Ok(Some(Region {
                transform: row("affine", span)?,
                bounds: vec![offset, multiplier],
                text: "real".into(),
            }));
        }
        if lower.is_none() && upper.is_none() {
            return Ok(None);
        }
        self.interval(lower, upper, span).map(Some)
    }

    /// Refuses bounds that leave nothing between them.
    pub(super) fn check_bounds(&mut self, lower: &Expr, upper: &Expr, span: Span) -> Result<()> {
        let (a, b) = (self.expr(lower)?, self.expr(upper)?);
        let (Some(low), Some(high)) = (self.number_of(&a), self.number_of(&b)) else {
            return Ok(());
        };
        if low < high {
            return Ok(());
        }
        let error = Diagnostic::error("empty-interval", format!("the interval ({low}, {high}) is empty"))
            .label(span, "");
        Err(if low > high { error.help("the lower end comes first") } else { error })
    }

    /// A bound and its text; an infinite one is none.
    fn bound(&mut self, e: &Expr) -> Result<(Type, String)> {
        let value = self.expr(e)?;
        let text = match self.number_of(&value) {
            Some(x) => x.to_string(),
            None => e.span.text(self.source).to_string(),
        };
        Ok((value, text))
    }

    /// A multiplier, which must be positive.
    fn multiplier(&mut self, e: &Expr) -> Result<Type> {
        let value = self.expr(e)?;
        let numbers = self.numbers_of(&value).unwrap_or_default();
        let wrong = numbers.iter().copied().find(|x| !(*x > 0.0));
        let unbounded = self.whole_parameter(&value).is_some() && value.range.low.at < 0.0;
        let message = match wrong {
            Some(x) => format!("a multiplier must be positive, and this is {x}"),
            None if unbounded => {
                format!("a multiplier must be positive, and `{}` need not be", e.span.text(self.source))
            }
            None => return Ok(value),
        };
        Err(Diagnostic::error("argument-domain", message)
            .label(e.span, "")
            .help("it is the scale of the coordinates: a standard deviation, for example"))
    }

    /// The region between two ends.
    pub(super) fn interval(
        &mut self,
        lower: Option<(Type, String)>,
        upper: Option<(Type, String)>,
        span: Span,
    ) -> Result<Region> {
        let finite = |l: &Self, end: Option<(Type, String)>| {
            end.filter(|(n, _)| l.number_of(n).is_none_or(f64::is_finite))
        };
        let (lower, upper) = (finite(self, lower), finite(self, upper));
        if let (Some((a, _)), Some((b, _))) = (&lower, &upper)
            && let (Some(a), Some(b)) = (self.number_of(a), self.number_of(b))
            && a >= b
        {
            return Err(Diagnostic::error("empty-interval", format!("the interval ({a}, {b}) is empty"))
                .label(span, ""));
        }
        let text = |end: &Option<(Type, String)>, none: &str| {
            end.as_ref().map_or(none.to_string(), |(_, t)| t.clone())
        };
        let shown = format!("({}, {})", text(&lower, "-inf"), text(&upper, "inf"));
        let (name, bounds, text) = match (lower, upper) {
            (None, None) => ("real", vec![], "real".to_string()),
            (Some((a, _)), None) => ("lower", vec![a], shown),
            (None, Some((b, _))) => ("upper", vec![b], shown),
            (Some((a, _)), Some((b, _))) => ("interval", vec![a, b], shown),
        };
        Ok(Region { transform: row(name, span)?, bounds, text })
    }

    /// The region of a parameter: from its type if one is written, from its prior otherwise.
    pub(super) fn region(
        &mut self,
        ty: Option<&TypeExpr>,
        prior: Option<&Dist>,
        span: Span,
    ) -> Result<Region> {
        if let Some(ty) = ty {
            refuse_discrete(ty)?;
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
            End::Arg(k) => self.number_of(&args[k]),
            End::Length(_) => None,
        };
        let (Some(lowest), Some(highest)) = (end(low), end(high)) else { return Ok(()) };
        let ends = match (region.transform.name, &region.bounds[..]) {
            ("lower", [a]) => (self.number_of(a), Some(f64::INFINITY)),
            ("upper", [b]) => (Some(f64::NEG_INFINITY), self.number_of(b)),
            ("interval", [a, b]) => (self.number_of(a), self.number_of(b)),
            ("simplex", _) => (Some(0.0), Some(1.0)),
            ("positive_ordered", _) => (Some(0.0), Some(f64::INFINITY)),
            _ => (Some(f64::NEG_INFINITY), Some(f64::INFINITY)),
        };
        if ends.0.is_none_or(|a| a >= lowest) && ends.1.is_none_or(|b| b <= highest) {
            return Ok(());
        }
        let support = format!("({lowest}, {highest})");
        Err(beyond_support(dist.name, &support, (region.transform, &region.text), ty))
    }

    pub(super) fn region_of_prior(&mut self, prior: &Dist, span: Span) -> Result<Region> {
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
                    Support::Integers(..) | Support::Counts => Err(discrete_latent(dist.name, span)),
                    Support::Interval(..) | Support::Circle => {
                        let Some((a, b)) = dist.support.interval() else { return named("real") };
                        let end = |l: &mut Self, e: End| -> (Type, String) {
                            match e {
                                End::At(x) | End::Past(x) => (l.literal(x, false), x.to_string()),
                                End::Arg(k) => {
                                    let number = l.number_of(&args[k]);
                                    let text =
                                        number.map_or(dist.args[k].name.to_string(), |x| x.to_string());
                                    (args[k].clone(), text)
                                }
                                End::Length(k) => {
                                    let last = args[k].shape.as_ref().and_then(|shape| shape.last());
                                    let size = last.cloned().unwrap_or(Size::Any);
                                    (Type::size(size.clone()), size.to_string())
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
                    ("lower", [a]) => (Some(a.clone()), None),
                    ("upper", [b]) => (None, Some(b.clone())),
                    ("interval", [a, b]) => (Some(a.clone()), Some(b.clone())),
                    _ => (None, None),
                };
                ends = (lower.clone().or(ends.0), upper.clone().or(ends.1));
                let name = |l: &Self, n: Type| {
                    let text = l.number_of(&n).map_or("...".to_string(), |x| x.to_string());
                    (n, text)
                };
                let (a, b) = (ends.0.map(|n| name(self, n)), ends.1.map(|n| name(self, n)));
                self.interval(a, b, span)
            }
            Dist::Mixture(parts) => match parts.first() {
                Some((_, first)) => self.region_of_prior(first, span),
                None => Ok(Region { transform: row("real", span)?, bounds: Vec::new(), text: "real".into() }),
            },
            Dist::Censored { .. } | Dist::ZeroInflated { .. } => Err(prior_of_data(span)),
        }
    }
}

/// A row of the table of transforms.
pub fn row(name: &str, span: Span) -> Result<&'static Transform> {
    transform::find(name).ok_or_else(|| {
        Diagnostic::error("unknown-constraint", format!("there is no constraint `{name}`")).label(span, "")
    })
}

/// The error of a type that reaches beyond the support of the prior.
pub fn beyond_support(
    dist: &str,
    support: &str,
    (transform, region): (&Transform, &str),
    ty: &TypeExpr,
) -> Diagnostic {
    let message = format!("the type allows {region}, but `{dist}` has the support {support}");
    Diagnostic::error("support-mismatch", message).label(ty.span, "").help(match transform.name {
        "ordered" => "write `positive_ordered`, or choose a prior of all numbers".to_string(),
        name if transform_of(ty.base).is_some() => format!("choose a prior of all numbers for `{name}`"),
        _ => {
            format!(
                "leave the type out: the support {support} follows from the prior; or choose another prior"
            )
        }
    })
}

/// The error of a prior of integers.
pub fn discrete_latent(dist: &str, span: Span) -> Diagnostic {
    let message = format!("`{dist}` describes integers, and latents are continuous here");
    Diagnostic::error("discrete-latent", message)
        .label(span, "")
        .help("sum a discrete latent out with `mixture`")
}

/// The error of a prior that only data can have.
pub fn prior_of_data(span: Span) -> Diagnostic {
    let message = "censored and zero-inflated distributions describe data, not latents";
    Diagnostic::error("prior-of-data", message).label(span, "")
}
