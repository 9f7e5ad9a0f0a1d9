//! What may be a name, how operators and heads of types are written, and how tightly operators bind.

use super::ast::{BaseType, BinaryOp, UnaryOp};
use super::scan::{Kind, scan};

/// Words that are never names.
pub(crate) const RESERVED: [&str; 14] = [
    "data", "param", "let", "for", "in", "if", "else", "fn", "return", "target", "derive", "predict", "true",
    "false",
];

/// Whether something can be declared under this name.
pub fn is_name(text: &str) -> bool {
    let is_word = matches!(scan(text).as_slice(), [t] if t.kind == Kind::Word && t.text(text) == text);
    is_word && !RESERVED.contains(&text)
}

/// The name nearest to a text that may be none: `Body_Mass_g` for `Body Mass (g)`.
pub fn as_name(text: &str) -> String {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

/// The head of a type as written.
pub(crate) fn base_name(base: BaseType) -> &'static str {
    match base {
        BaseType::Real => "real",
        BaseType::Int => "int",
        BaseType::Binary => "binary",
        BaseType::Count => "count",
        BaseType::Category => "category",
        BaseType::Simplex => "simplex",
        BaseType::Ordered => "ordered",
        BaseType::PositiveOrdered => "positive_ordered",
        BaseType::UnitVector => "unit_vector",
        BaseType::SumToZero => "sum_to_zero",
        BaseType::CorrMatrix => "corr_matrix",
        BaseType::CovMatrix => "cov_matrix",
        BaseType::CholeskyCorr => "cholesky_corr",
        BaseType::CholeskyCov => "cholesky_cov",
    }
}

/// A prefix operator as written.
pub(crate) fn unary_sign(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Neg => "-",
        UnaryOp::Not => "!",
    }
}

/// An infix operator as written.
pub(crate) fn binary_sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Or => "||",
        BinaryOp::And => "&&",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::ElemMul => ".*",
        BinaryOp::ElemDiv => "./",
        BinaryOp::Pow => "^",
    }
}

/// How tightly a prefix operator binds: looser than `^`, tighter than `*`.
pub(crate) const PREFIX: u8 = 6;

/// How tightly an infix operator binds; loosest is 1. All but `^` group to the left.
pub(crate) fn tightness(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Or => 1,
        BinaryOp::And => 2,
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => 3,
        BinaryOp::Add | BinaryOp::Sub => 4,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::ElemMul | BinaryOp::ElemDiv => 5,
        BinaryOp::Pow => 7,
    }
}
