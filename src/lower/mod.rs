//! Model and data to graph: every name becomes a node, every statement a term of the log density.

mod axes;
mod bind;
mod bounds;
mod call;
mod defaults;
mod density;
mod dist;
mod effects;
mod elements;
mod env;
mod expr;
mod faults;
mod index;
mod lanes;
mod left_out;
mod ode;
mod own;
mod param;
mod probe;
mod reach;
mod recursion;
mod renamed;
mod reported;
mod stated;
mod states;
mod stmt;
mod support;
mod unbounded;
mod uninformed;
mod unsaid;
mod warnings;
mod weights;

pub use dist::Dist;
pub use effects::{Coordinates, Effect};
pub use env::Value;
pub use probe::{check, outline};
pub use stated::Stated;
pub use states::in_states;
pub use unbounded::{Unbounded, without_bounds};

use crate::data::{Dataset, Found};
use crate::graph::{Builder, Graph, NodeId};
use crate::source::{Checked, Diagnostic, Severity, Span};
use crate::syntax::ast::{BaseType, Expr, ExprKind, Ident, Program, Stmt, StmtKind};
use crate::transform::Transform;
use env::{Binding, Env};
use faults::Faults;
use std::collections::HashMap;
use std::sync::Arc;

/// A model with its data inside, as a graph.
#[derive(Debug)]
pub struct Lowered {
    /// The text of the model.
    pub source: Arc<str>,
    /// All nodes.
    pub graph: Graph,
    /// Number of unconstrained coordinates.
    pub dimension: usize,
    /// Latent variables, in the order of their coordinates.
    pub parameters: Vec<Parameter>,
    /// Summands of the log density.
    pub terms: Vec<Term>,
    /// Quantities computed from the parameters and reported with them.
    pub derived: Vec<Named>,
    /// What is drawn for every posterior draw, in order: each may need what was drawn before it.
    pub predicted: Vec<Predicted>,
    /// Quantities that are, or are computed from, what is drawn.
    pub simulated: Vec<Named>,
    /// Priors that are stated in numbers alone.
    pub stated: Vec<Stated>,
    /// Hierarchical effects that did not get the coordinates declared.
    pub effects: Vec<Effect>,
    /// What can be used, but may not be as it was meant.
    pub warnings: Vec<Diagnostic>,
    /// What numbered places of parameters stand for in the data: the columns of a matrix, empty cells.
    pub legend: Vec<String>,
}

/// A latent variable.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name, constrained value and labels.
    pub named: Named,
    /// Where its values lie, as text: `(0, inf)`, `simplex`.
    pub support: String,
    /// Its first unconstrained coordinate.
    pub offset: usize,
    /// Number of its unconstrained coordinates.
    pub size: usize,
    /// Whether its prior is no distribution: flat, and without an end.
    pub improper: bool,
    /// Whether its prior is a density of the model's own, of which nobody knows whether it is a distribution.
    pub unproved: bool,
    /// How its value is made from its coordinates.
    pub form: Form,
}

/// How a parameter's value is made from its coordinates.
#[derive(Clone, Debug)]
pub enum Form {
    /// By a transform with these bounds.
    Transformed {
        /// The transform.
        transform: &'static Transform,
        /// Its bounds.
        bounds: Vec<NodeId>,
    },
    /// From standardised coordinates: `noncentered`.
    Noncentered,
}

impl Form {
    /// The name of the transform; standardised coordinates are real numbers.
    pub fn transform_name(&self) -> &'static str {
        match self {
            Form::Transformed { transform, .. } => transform.name,
            Form::Noncentered => "real",
        }
    }

    /// Whether the values are made from coordinates of another kind.
    pub fn is_noncentered(&self) -> bool {
        matches!(self, Form::Noncentered)
    }
}

/// For each axis the labels of its elements, where they are more than numbers.
pub type Labels = Vec<Option<Arc<[String]>>>;

/// A value with a name.
#[derive(Clone, Debug)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The value.
    pub node: NodeId,
    /// For each axis the labels of its elements, where they are more than numbers.
    pub labels: Labels,
}

/// A summand of the log density.
#[derive(Debug)]
pub struct Term {
    /// A scalar.
    pub node: NodeId,
    /// What it belongs to.
    pub kind: TermKind,
    /// The statement it comes from.
    pub span: Span,
}

/// What a summand of the log density belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermKind {
    /// A statement about latents alone.
    Prior,
    /// A statement about data.
    Likelihood,
    /// The change of variables.
    Jacobian,
}

/// A quantity drawn for every posterior draw.
#[derive(Debug)]
pub struct Predicted {
    /// The name after `predict`.
    pub name: Ident,
    /// The input of the graph that stands for it.
    pub node: NodeId,
    /// Its sizes.
    pub dims: Vec<usize>,
    /// What it is drawn from.
    pub dist: Dist,
}

/// Binds data and builds the graph. The program has passed the checker; what only the data can show is
/// checked here.
pub fn lower(program: &Program, source: &str, data: &Dataset) -> Checked<Lowered> {
    lower_with(program, source, data, Coordinates::Declared)
}

/// The same with a choice of coordinates for hierarchical effects.
pub fn lower_with(
    program: &Program,
    source: &str,
    data: &Dataset,
    coordinates: Coordinates,
) -> Checked<Lowered> {
    let mut lowerer = Lowerer::new(source, data);
    lowerer.coordinates = coordinates;
    let mut faults = lowerer.program(program);
    // What is wrong with the data hides the statements that use them: what is wrong with those is told at
    // once too.
    if !faults.is_empty() {
        let of_model = check(program, source).err().unwrap_or_default();
        of_model.into_iter().for_each(|problem| faults.add_by_names(problem, source));
    } else if lowerer.coordinates == Coordinates::Declared {
        for problem in probe::by_chance(program, source, |name| lowerer.size_called(name)) {
            match problem.severity {
                Severity::Error => faults.add(problem, Vec::new(), source),
                Severity::Warning => lowerer.warnings.push(problem),
            }
        }
    }
    faults.into_result(|_| true)?;
    lowerer.warnings.extend(data.doubts().cloned());
    Ok(lowerer.finish())
}

/// The result of lowering one thing.
type Result<T> = std::result::Result<T, Diagnostic>;

struct Lowerer<'d> {
    source: &'d str,
    data: &'d Dataset,
    b: Builder,
    env: Env,
    dimension: usize,
    parameters: Vec<Parameter>,
    terms: Vec<Term>,
    derived: Vec<Named>,
    predicted: Vec<Predicted>,
    simulated: Vec<Named>,
    /// The priors of parameters as wholes.
    given: Vec<stated::Given>,
    /// What is to be reported, in the order of the text.
    reports: Vec<reported::Report>,
    /// Names of which `derive` and `predict` give single elements.
    single: Vec<String>,
    /// For each node whether it is known only once something is drawn, as far as anybody has asked.
    after_draws: Vec<bool>,
    /// Whether a part of the log density is being read.
    describing: bool,
    /// The loops around a statement, the innermost last.
    loops: Vec<stmt::Around>,
    /// What may not be as it was meant.
    warnings: Vec<Diagnostic>,
    /// What numbered places stand for.
    legend: Vec<String>,
    /// Scales that a prior counts once too often, with what is to be said of them.
    doubtful_scales: Vec<(NodeId, Diagnostic)>,
    /// What `~` statements describe, and whether some describe what is in no graph but that of a step.
    described: Vec<NodeId>,
    described_in_steps: bool,
    calls: Vec<String>,
    /// Names of parameters and definitions anywhere in the model, with where they are declared.
    declared: Vec<(String, Span)>,
    /// Names that a block defines for itself alone, with the variable of the loop if it is one.
    in_blocks: Vec<(String, Option<String>)>,
    /// Names of data, with where they are declared.
    data_places: Vec<(String, Span)>,
    /// Names of data that are 0 or 1.
    binaries: Vec<String>,
    /// Names of sizes, with the data that gave them.
    size_origins: Vec<(String, String)>,
    /// Names of sizes, with the first of what tables gave them.
    size_tables: Vec<(String, Found<'d>)>,
    /// Names that are defined element by element somewhere in the model.
    defining: Vec<String>,
    /// Whether the data are invented, to check a model without any.
    probing: bool,
    /// Names of sizes that were invented.
    size_names: Vec<(usize, String)>,
    /// How many `where` are around what is being lowered.
    choices: usize,
    /// Where the empty cells of columns lie, by what is said of the columns.
    ends_of_missing: HashMap<String, [f64; 2]>,
    /// Names of sizes that count the levels of a category.
    level_counts: Vec<String>,
    /// The coordinates asked for.
    coordinates: Coordinates,
    /// Effects that a later statement describes, and those of them that wait for it now.
    split: Vec<String>,
    pending: Vec<effects::Pending>,
    effects: Vec<Effect>,
    /// What the step of a recursion reads from outside, while it is lowered.
    inside: Option<recursion::Inside>,
    /// The sizes that the indices of elements count.
    counted: axes::Counted,
    /// The columns that categories were read from.
    category_columns: Vec<(String, Found<'d>)>,
}

impl<'d> Lowerer<'d> {
    fn new(source: &'d str, data: &'d Dataset) -> Self {
        Self {
            source,
            data,
            b: Builder::new(),
            env: Env::default(),
            dimension: 0,
            parameters: Vec::new(),
            terms: Vec::new(),
            derived: Vec::new(),
            predicted: Vec::new(),
            simulated: Vec::new(),
            given: Vec::new(),
            reports: Vec::new(),
            single: Vec::new(),
            after_draws: Vec::new(),
            describing: false,
            loops: Vec::new(),
            warnings: Vec::new(),
            legend: Vec::new(),
            doubtful_scales: Vec::new(),
            described: Vec::new(),
            described_in_steps: false,
            calls: Vec::new(),
            declared: Vec::new(),
            in_blocks: Vec::new(),
            data_places: Vec::new(),
            binaries: Vec::new(),
            size_origins: Vec::new(),
            size_tables: Vec::new(),
            defining: Vec::new(),
            probing: false,
            size_names: Vec::new(),
            choices: 0,
            ends_of_missing: HashMap::new(),
            level_counts: Vec::new(),
            coordinates: Coordinates::Declared,
            split: Vec::new(),
            pending: Vec::new(),
            effects: Vec::new(),
            inside: None,
            counted: axes::Counted::new(),
            category_columns: Vec::new(),
        }
    }

    fn program(&mut self, program: &Program) -> Faults {
        let mut faults = Faults::default();
        self.warnings = warnings::said_again(program);
        self.warnings.extend(unsaid::divisions(program, self.source));
        for (problem, name) in without_prior(program, self.source) {
            faults.add(problem, vec![name], self.source);
        }
        for (problem, name) in missing_without_distribution(program) {
            faults.add(problem, vec![name], self.source);
        }
        self.declared = program.statements.iter().filter_map(declared_name).collect();
        defined_in_blocks(&program.statements, None, &mut self.in_blocks);
        self.data_places =
            bind::data_declarations(program).iter().map(|d| (d.name.name.clone(), d.name.span)).collect();
        let mut defining = Vec::new();
        lanes::defined_elements(&program.statements, &mut defining);
        self.defining = defining.into_iter().map(str::to_string).collect();
        self.counted = axes::counted(program);
        self.single = reported::single_elements(program);
        if !self.coordinates.keep_effects() {
            self.split = effects::split_effects(program, self.source);
        }
        if let Err(problem) = self.bind_data(program, &mut faults) {
            // The levels of categories give sizes that anything may need.
            faults.add(problem, Vec::new(), self.source);
            return faults;
        }
        self.all_statements(&program.statements, &mut faults);
        self.collect(&mut faults);
        self.settle_scales();
        if faults.is_empty() {
            self.note_improper(program);
            self.warn_improper();
            self.warn_partly_described(program);
            self.warn_without_likelihood(program);
            self.warn_unread_data(program);
            self.warn_uninformed();
        }
        faults
    }

    /// The number that a name has, if it is a size.
    fn size_called(&self, name: &str) -> Option<usize> {
        let Some(Binding::Value(value)) = self.env.get(name) else { return None };
        let number = self.b.constant_of(value.node).filter(|c| value.integer && c.len() == 1)?[0];
        Some(number as usize)
    }

    fn finish(self) -> Lowered {
        Lowered {
            source: self.source.into(),
            graph: self.b.finish(),
            dimension: self.dimension,
            parameters: self.parameters,
            terms: self.terms,
            derived: self.derived,
            predicted: self.predicted,
            simulated: self.simulated,
            stated: stated::alone(self.given),
            effects: self.effects,
            warnings: self.warnings,
            legend: self.legend,
        }
    }

    /// A shape as users write it: `[N, 3]`.
    fn shape(&self, dims: &[usize]) -> String {
        if dims.is_empty() {
            return "scalar".into();
        }
        format!("[{}]", dims.iter().map(|&n| self.size(n)).collect::<Vec<_>>().join(", "))
    }

    /// A size as users write it: by its name where it was invented.
    fn size(&self, n: usize) -> String {
        match self.size_names.iter().find(|(size, _)| *size == n) {
            Some((_, name)) => name.clone(),
            None => n.to_string(),
        }
    }

    /// Adds a summand of the log density; constants count too, so that the value is the whole log density.
    fn term(&mut self, node: NodeId, kind: TermKind, span: Span) {
        self.terms.push(Term { node, kind, span });
    }
}

/// A distribution that suits a parameter as it is written.
fn prior_for(written: &str) -> String {
    if let Some((_, size)) = written.split_once("simplex[") {
        return format!("dirichlet(ones({}))", size.split(']').next().unwrap_or_default());
    }
    // Names that scales have everywhere: they need not say that they are positive.
    let name = written.trim_start_matches("param").trim_start();
    let is_scale =
        !written.contains(':') && ["sigma", "tau", "sd", "scale"].iter().any(|s| name.starts_with(s));
    let table = [
        ("cholesky_corr[", "lkj_corr_cholesky(2)"),
        ("corr_matrix[", "lkj_corr(2)"),
        ("> 0", "half_normal(1)"),
        ("in (0, 1)", "beta(1, 1)"),
    ];
    table
        .iter()
        .find(|(sign, _)| written.contains(sign))
        .map_or(if is_scale { "half_normal(1)" } else { "normal(0, 1)" }, |(_, prior)| prior)
        .to_string()
}

/// Parameters without a prior: an improper one is written `~ flat()`, never left out.
fn without_prior<'p>(
    program: &'p Program,
    source: &'p str,
) -> impl Iterator<Item = (Diagnostic, String)> + 'p {
    let mut described = Vec::new();
    described_names(&program.statements, &mut described);
    program.statements.iter().filter_map(move |stmt| {
        let StmtKind::Param(p) = &stmt.kind else { return None };
        let name = &p.name.name;
        let refused = p.ty.as_ref().is_some_and(|ty| param::refuse_discrete(ty).is_err());
        if p.prior.is_some() || described.contains(&name.as_str()) || refused {
            return None;
        }
        let written = stmt.span.text(source).lines().next().unwrap_or_default().trim_end();
        let problem = Diagnostic::error("no-prior", format!("`{name}` has no prior"))
            .label(p.name.span, "")
            .help(format!(
                "give it one on the same line, such as `{written} ~ {}`, or write `~ flat()` if every value is as likely",
                prior_for(written)
            ));
        Some((problem, name.clone()))
    })
}

/// Columns declared `missing` whose empty cells cannot be latents, or would be latents without a
/// distribution.
fn missing_without_distribution(program: &Program) -> impl Iterator<Item = (Diagnostic, String)> {
    let mut described = Vec::new();
    described_names(&program.statements, &mut described);
    bind::data_declarations(program).into_iter().filter(|d| d.missing).filter_map(move |decl| {
        let name = &decl.name.name;
        if decl.ty.base != BaseType::Real {
            let message = format!("`{name}` cannot be `missing`: an empty cell is a latent, and latents are real");
            let problem = Diagnostic::error("missing-type", message)
                .label(decl.ty.span, "")
                .help("fill the cells or remove the rows; only a `real` column can be declared `missing`");
            return Some((problem, name.clone()));
        }
        if described.contains(&name.as_str()) {
            return None;
        }
        let problem = Diagnostic::error("no-prior", format!("the empty cells of `{name}` have no distribution"))
            .label(decl.name.span, "each is a latent of its own")
            .help(format!(
                "say how its values are distributed, such as `{name} ~ normal(mu, sigma)`, or write `{name} ~ flat()` if every \
                 value is as likely"
            ));
        Some((problem, name.clone()))
    })
}

/// The name that a statement declares.
fn declared_name(stmt: &Stmt) -> Option<(String, Span)> {
    let name = match &stmt.kind {
        StmtKind::Param(p) => &p.name,
        StmtKind::Let(l) => &l.name,
        StmtKind::Derive(d) => &d.name,
        StmtKind::Predict(p) => &p.name,
        StmtKind::Data(_)
        | StmtKind::For(_)
        | StmtKind::If(_)
        | StmtKind::Fn(_)
        | StmtKind::Sample(_)
        | StmtKind::Target(_) => return None,
    };
    Some((name.name.clone(), name.span))
}

/// Names that blocks in these statements define whole, each with the variable of the innermost loop around
/// it.
fn defined_in_blocks(statements: &[Stmt], variable: Option<&str>, names: &mut Vec<(String, Option<String>)>) {
    for stmt in statements {
        let (blocks, variable) = match &stmt.kind {
            StmtKind::For(f) => ([&f.body[..], &[]], Some(f.var.name.as_str())),
            StmtKind::If(i) => ([&i.then[..], &i.otherwise[..]], variable),
            _ => continue,
        };
        for block in blocks {
            let whole = block.iter().filter_map(|s| match &s.kind {
                StmtKind::Let(l) if l.indices.is_empty() => Some(l.name.name.clone()),
                _ => None,
            });
            names.extend(whole.map(|name| (name, variable.map(str::to_string))));
            defined_in_blocks(block, variable, names);
        }
    }
}

/// Names that stand, whole or in part, on the left of some `~`, and those whose elements a name consists of
/// that does.
fn described_names<'p>(statements: &'p [Stmt], names: &mut Vec<&'p str>) {
    // What a name was given comes before what is said of it.
    for stmt in statements.iter().rev() {
        match &stmt.kind {
            StmtKind::Sample(s) => elements_of(&s.value, names),
            StmtKind::Let(l) if names.contains(&l.name.name.as_str()) => elements_of(&l.value, names),
            StmtKind::For(f) => described_names(&f.body, names),
            StmtKind::If(i) => {
                described_names(&i.then, names);
                described_names(&i.otherwise, names);
            }
            _ => {}
        }
    }
}

/// Names whose elements an expression consists of, however it arranges them: `z`, `z[2..K]`, `flatten(z)`.
fn elements_of<'p>(e: &'p Expr, names: &mut Vec<&'p str>) {
    const ARRANGING: [&str; 6] = ["flatten", "reshape", "concat", "concat_columns", "transpose", "diag"];
    match &e.kind {
        ExprKind::Name(name) => names.push(name),
        ExprKind::Index { base, .. } => elements_of(base, names),
        ExprKind::Transpose(x) => elements_of(x, names),
        ExprKind::Array(items) => items.iter().for_each(|item| elements_of(item, names)),
        ExprKind::Call { name, args } if ARRANGING.contains(&name.name.as_str()) => {
            args.iter().for_each(|arg| elements_of(&arg.value, names));
        }
        _ => {}
    }
}

/// Attaches a place in the model to an error of the builder.
fn at<T>(result: std::result::Result<T, crate::graph::BuildError>, span: Span) -> Result<T> {
    result.map_err(|e| Diagnostic::error("shape-mismatch", e.to_string()).label(span, ""))
}
