//! Types that constrain: the transform of each, what it guarantees, and which are of integers.

use super::Result;
use super::types::Type;
use crate::facts::{Range, Structure};
use crate::source::Diagnostic;
use crate::syntax::ast::{BaseType, TypeExpr};
use crate::transform::Transform;

/// What a transform guarantees of the values that it gives.
pub fn guaranteed(transform: &Transform, bounds: &[Type]) -> (Range, Option<Structure>) {
    let ends: Vec<Range> = bounds.iter().map(|b| b.range).collect();
    match (transform.name, &ends[..]) {
        ("lower", [a]) => (Range::between(a.low.at, f64::INFINITY), None),
        ("upper", [b]) => (Range::between(f64::NEG_INFINITY, b.high.at), None),
        ("interval", [a, b]) => (Range::between(a.low.at, b.high.at), None),
        ("simplex", _) => (Range::between(0.0, 1.0), Some(Structure::Simplex)),
        ("ordered", _) => (Range::REAL, Some(Structure::Ordered)),
        ("positive_ordered", _) => (Range::POSITIVE, Some(Structure::Ordered)),
        ("corr_matrix", _) => (Range::REAL, Some(Structure::Correlation)),
        ("cov_matrix", _) => (Range::REAL, Some(Structure::Covariance)),
        ("cholesky_corr", _) => (Range::REAL, Some(Structure::CholeskyCorrelation)),
        ("cholesky_cov", _) => (Range::REAL, Some(Structure::CholeskyFactor)),
        _ => (Range::REAL, None),
    }
}

/// Whether a type is one of matrices, whose one size is that of both axes.
pub fn is_matrix(base: BaseType) -> bool {
    transform_of(base).and_then(crate::transform::find).is_some_and(|t| t.event == 2)
}

/// Whether a type is one of integers.
pub fn is_discrete(base: BaseType) -> bool {
    discrete_name(base).is_some()
}

fn discrete_name(base: BaseType) -> Option<&'static str> {
    match base {
        BaseType::Int => Some("int"),
        BaseType::Binary => Some("binary"),
        BaseType::Count => Some("count"),
        BaseType::Category => Some("category"),
        _ => None,
    }
}

/// Refuses types of integers: there is no gradient in what takes steps.
pub fn refuse_discrete(ty: &TypeExpr) -> Result<()> {
    let Some(name) = discrete_name(ty.base) else { return Ok(()) };
    Err(Diagnostic::error("discrete-latent", format!("`{name}` is a type of data; latents are continuous here"))
        .label(ty.span, "")
        .help("sum a discrete latent out with `mixture`; if it is meant as a number that may vary freely, declare it `real`"))
}

/// The transform of a type that names one.
pub fn transform_of(base: BaseType) -> Option<&'static str> {
    match base {
        BaseType::Real | BaseType::Int | BaseType::Binary | BaseType::Count | BaseType::Category => None,
        BaseType::Simplex => Some("simplex"),
        BaseType::Ordered => Some("ordered"),
        BaseType::PositiveOrdered => Some("positive_ordered"),
        BaseType::UnitVector => Some("unit_vector"),
        BaseType::SumToZero => Some("sum_to_zero"),
        BaseType::CorrMatrix => Some("corr_matrix"),
        BaseType::CovMatrix => Some("cov_matrix"),
        BaseType::CholeskyCorr => Some("cholesky_corr"),
        BaseType::CholeskyCov => Some("cholesky_cov"),
    }
}
