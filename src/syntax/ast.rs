//! The syntax tree of a model: what was written and where, before any meaning is given to it.

use crate::source::Span;

/// A whole model file.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Statements in order.
    pub statements: Vec<Stmt>,
}

impl Program {
    /// The same without a word on the coordinates of effects, if it has any.
    pub fn in_any_coordinates(&self) -> Option<Program> {
        let mut open = self.clone();
        for statement in &mut open.statements {
            if let StmtKind::Param(param) = &mut statement.kind {
                param.centering = None;
            }
        }
        (open != *self).then_some(open)
    }
}

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Ident {
    /// The name.
    pub name: String,
    /// Where.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// All of it.
    pub span: Span,
}

/// The kinds of statement.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a model has few statements; the tree stays plain to match on")]
pub enum StmtKind {
    /// `data { x : real[N]; ... }`, or `data x : real[N]` (one declaration, no block).
    Data(Vec<DataDecl>),
    /// `param theta[J] : real > 0 ~ normal(mu, tau) noncentered`
    Param(ParamDecl),
    /// `let x = e`, or `let s[t] = e` (one element of an array that several statements fill).
    Let(LetDecl),
    /// `for t in 2..T { ... }`
    For(ForLoop),
    /// `if K > 1 { ... } else { ... }`, decided from data alone. `else if` nests.
    If(IfStmt),
    /// `fn f(a, b) = e`, or `fn f(a, b) { let ...  return e }`
    Fn(FnDecl),
    /// `y ~ normal(mu, sigma) weight w`
    Sample(Sample),
    /// `target += e`
    Target(Expr),
    /// `derive name = e`
    Derive(DeriveDecl),
    /// `predict y_rep[N] ~ normal(mu, sigma)`
    Predict(PredictDecl),
}

/// One declared column, matrix of columns, array or scalar of data.
#[derive(Clone, Debug, PartialEq)]
pub struct DataDecl {
    /// Its name in the model, and in the data unless `source` says otherwise.
    pub name: Ident,
    /// Its type.
    pub ty: TypeExpr,
    /// Whether empty cells are latents of their own.
    pub missing: bool,
    /// Where its values come from, if not from the column or key of its own name.
    pub source: Option<DataSource>,
    /// All of it.
    pub span: Span,
}

/// Where a declared datum comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum DataSource {
    /// `= columns("age", "dose", "sex*")`, or `= column("Kid score")` (then the list has one entry and
    /// `single` is true).
    Columns {
        /// The names or globs.
        patterns: Vec<StrLit>,
        /// Written `column(...)`: a vector, not a matrix.
        single: bool,
    },
    /// `= 5`: the value where the data do not give one.
    Default(Expr),
}

/// A string literal.
#[derive(Clone, Debug, PartialEq)]
pub struct StrLit {
    /// Its content.
    pub text: String,
    /// Where, quotes included.
    pub span: Span,
}

/// A type as written: `real[N, D] > 0`, `category[N] of J`, `simplex[K]`.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeExpr {
    /// Its head.
    pub base: BaseType,
    /// Where the head stands.
    pub base_span: Span,
    /// Sizes in brackets after the head.
    pub dims: Vec<Expr>,
    /// The name for the number of levels: `of J`.
    pub levels_name: Option<Ident>,
    /// The levels in order: `levels("low", "mid", "high")`.
    pub levels: Option<Vec<StrLit>>,
    /// `> a`, `>= a`, `in (a, b)`.
    pub lower: Option<Bound>,
    /// `< b`, `<= b`, `in (a, b)`.
    pub upper: Option<Bound>,
    /// `offset m`
    pub offset: Option<Expr>,
    /// `multiplier s`
    pub multiplier: Option<Expr>,
    /// All of it.
    pub span: Span,
}

/// An end of an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Where it lies.
    pub value: Expr,
    /// Whether the end itself belongs to the interval (`>=`, `[`).
    pub closed: bool,
}

/// The heads of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BaseType {
    /// Any real number.
    Real,
    /// Any integer.
    Int,
    /// 0 or 1.
    Binary,
    /// 0, 1, 2, ...
    Count,
    /// One of a set of levels; indexes arrays by itself.
    Category,
    /// Positive entries that sum to 1.
    Simplex,
    /// Increasing entries.
    Ordered,
    /// Increasing positive entries.
    PositiveOrdered,
    /// Unit length.
    UnitVector,
    /// Entries that sum to 0.
    SumToZero,
    /// Correlation matrix.
    CorrMatrix,
    /// Covariance matrix.
    CovMatrix,
    /// Cholesky factor of a correlation matrix.
    CholeskyCorr,
    /// Cholesky factor of a covariance matrix.
    CholeskyCov,
}

/// A latent variable and its prior.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamDecl {
    /// Its name.
    pub name: Ident,
    /// Sizes after the name: `theta[J]`. An array of constrained vectors has both: `param theta[M] :
    /// simplex[K]`.
    pub dims: Vec<Expr>,
    /// The type after `:`, if written.
    pub ty: Option<TypeExpr>,
    /// The prior after `~`, if written here.
    pub prior: Option<DistExpr>,
    /// `centered` or `noncentered`, if written.
    pub centering: Option<(Centering, Span)>,
}

/// How a hierarchical parameter is represented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Centering {
    /// The coordinate is the parameter itself.
    Centered,
    /// The coordinate is the standardised deviation.
    Noncentered,
}

/// A definition.
#[derive(Clone, Debug, PartialEq)]
pub struct LetDecl {
    /// What is defined.
    pub name: Ident,
    /// Indices on the left: `let s[t] = ...`. Empty for a whole definition.
    pub indices: Vec<Expr>,
    /// Its value.
    pub value: Expr,
}

/// A loop over consecutive integers, both ends included.
#[derive(Clone, Debug, PartialEq)]
pub struct ForLoop {
    /// The loop variable.
    pub var: Ident,
    /// First value.
    pub from: Expr,
    /// Last value.
    pub to: Expr,
    /// Statements.
    pub body: Vec<Stmt>,
}

/// A choice made from data alone, before anything runs.
#[derive(Clone, Debug, PartialEq)]
pub struct IfStmt {
    /// The condition.
    pub condition: Expr,
    /// Statements when it holds.
    pub then: Vec<Stmt>,
    /// Statements when it does not.
    pub otherwise: Vec<Stmt>,
}

/// A function: an expression with arguments, expanded where it is called.
#[derive(Clone, Debug, PartialEq)]
pub struct FnDecl {
    /// Its name.
    pub name: Ident,
    /// Names of its arguments.
    pub params: Vec<Ident>,
    /// Local `let` statements (and loops of them), in order.
    pub body: Vec<Stmt>,
    /// What it returns.
    pub result: Expr,
}

/// A distribution statement about data or about latents declared before.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// What is distributed.
    pub value: Expr,
    /// How.
    pub dist: DistExpr,
    /// `weight w`
    pub weight: Option<Expr>,
}

/// A quantity computed from the parameters and reported with them.
#[derive(Clone, Debug, PartialEq)]
pub struct DeriveDecl {
    /// Its name.
    pub name: Ident,
    /// Its sizes, or in a loop the indices of one element.
    pub indices: Vec<Expr>,
    /// Its value.
    pub value: Expr,
}

/// A quantity simulated for every posterior draw.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictDecl {
    /// Its name.
    pub name: Ident,
    /// Its sizes, or in a loop the indices of one element.
    pub dims: Vec<Expr>,
    /// What it is drawn from.
    pub dist: DistExpr,
}

/// A distribution as written after `~`.
#[derive(Clone, Debug, PartialEq)]
pub struct DistExpr {
    /// What it is.
    pub kind: DistKind,
    /// All of it.
    pub span: Span,
}

/// The forms of a distribution.
#[derive(Clone, Debug, PartialEq)]
pub enum DistKind {
    /// `normal(mu, sigma)`, `normal(mu, sigma = 1)`
    Call {
        /// The distribution's name.
        name: Ident,
        /// Its arguments.
        args: Vec<Arg>,
    },
    /// `mixture(w: normal(0, 1), 1 - w: normal(5, 1))`
    Mixture(Vec<(Expr, DistExpr)>),
    /// `truncated(normal(0, 1), lower = 0, upper = 5)`
    Truncated {
        /// What is cut.
        inner: Box<DistExpr>,
        /// From below.
        lower: Option<Expr>,
        /// From above.
        upper: Option<Expr>,
    },
    /// `censored(weibull(a, b), right = c)`: where the binary array `right` is 1, only 'at least this value'
    /// is known; `left`: 'at most'; `lower`, `upper`: values at or beyond these limits are known only to be
    /// so.
    Censored {
        /// What is censored.
        inner: Box<DistExpr>,
        /// Indicator of left-censored values.
        left: Option<Expr>,
        /// Indicator of right-censored values.
        right: Option<Expr>,
        /// Limit of detection below.
        lower: Option<Expr>,
        /// Limit of detection above.
        upper: Option<Expr>,
    },
    /// `zero_inflated(p, poisson(lambda))`: zero with probability p, otherwise drawn from the inner
    /// distribution.
    ZeroInflated {
        /// Probability of a structural zero.
        probability: Expr,
        /// The count distribution.
        inner: Box<DistExpr>,
    },
}

/// An argument of a call, by position or by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// `sigma = ...`
    pub name: Option<Ident>,
    /// Its value.
    pub value: Expr,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// All of it.
    pub span: Span,
}

/// The kinds of expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `1.5`, `1e-3`
    Real(f64),
    /// `3`
    Int(i64),
    /// `"text"`: compared with levels of a category, and in `columns`.
    Str(String),
    /// `theta`
    Name(String),
    /// `-x`, `!c`
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `x'`
    Transpose(Box<Expr>),
    /// `exp(x)`, `sum(x, axis = 1)`; `normal_lpdf(y | mu, sigma)` parses as the same with a comma.
    Call {
        /// The function's name.
        name: Ident,
        /// Its arguments.
        args: Vec<Arg>,
    },
    /// `x[i, 2..K]`
    Index {
        /// What is indexed.
        base: Box<Expr>,
        /// One per axis, in order; axes not mentioned are kept whole.
        indices: Vec<Index>,
    },
    /// `[a, b, c]`, `[[a, b], [c, d]]`
    Array(Vec<Expr>),
}

/// One index between brackets.
#[derive(Clone, Debug, PartialEq)]
pub enum Index {
    /// One place, or several places given by an integer array or a category.
    At(Expr),
    /// `2..T`, `..5`, `3..`; both ends included.
    Range {
        /// First, or the beginning.
        from: Option<Expr>,
        /// Last, or the end.
        to: Option<Expr>,
        /// All of it.
        span: Span,
    },
    /// `:`
    All(Span),
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `!`
    Not,
}

impl BinaryOp {
    /// Whether it compares: `==`, `!=`, `<`, `<=`, `>`, `>=`.
    pub fn is_comparison(self) -> bool {
        use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge)
    }
}

/// Infix operators, loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`: matrix product where both sides are matrices or matrix and vector, elementwise otherwise
    Mul,
    /// `/`
    Div,
    /// `.*`: elementwise
    ElemMul,
    /// `./`: elementwise
    ElemDiv,
    /// `^`, `.^`: power, elementwise, right-associative, binds tighter than unary minus
    Pow,
}
