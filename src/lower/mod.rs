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
mod index;
mod lanes;
mod left_out;
mod ode;
mod own;
mod param;
mod reach;
mod recursion;
mod renamed;
mod reported;
mod stated;
mod states;
mod stmt;
mod support;
mod unbounded;
mod unsaid;
mod warnings;
mod weights;

pub use dist::Dist;
pub use effects::{Coordinates, Effect};
pub use env::Value;
pub use stated::Stated;
pub use states::in_states;
pub use unbounded::{Unbounded, without_bounds};

use crate::data::{Dataset, Found};
use crate::graph::{Builder, Graph, NodeId};
use crate::model::{self, Problems, Sizes};
use crate::source::{Checked, Diagnostic, Span};
use crate::syntax::ast::{Ident, Program, Stmt};
use crate::transform::Transform;
use env::Env;
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
    lowerer.program(program)?;
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
    /// The loops around a statement, the innermost last.
    loops: Vec<stmt::Around>,
    /// What may not be as it was meant.
    warnings: Vec<Diagnostic>,
    /// What numbered places stand for.
    legend: Vec<String>,
    /// What `~` statements describe, and whether some describe what is in no graph but that of a step.
    described: Vec<NodeId>,
    described_in_steps: bool,
    calls: Vec<String>,
    /// Names of parameters and definitions anywhere in the model, with where they are declared.
    declared: Vec<(String, Span)>,
    /// Names of data, with where they are declared.
    data_places: Vec<(String, Span)>,
    /// Names of sizes, with the data that gave them.
    size_origins: Vec<(String, String)>,
    /// Names of sizes, with the first of what tables gave them.
    size_tables: Vec<(String, Found<'d>)>,
    /// Names that are defined element by element somewhere in the model.
    defining: Vec<String>,
    /// Where the empty cells of columns lie, by what is said of the columns.
    ends_of_missing: HashMap<String, [f64; 2]>,
    /// The coordinates asked for.
    coordinates: Coordinates,
    /// Effects that a later statement describes, and those of them that wait for it now.
    split: Vec<String>,
    pending: Vec<effects::Pending>,
    effects: Vec<Effect>,
    /// What the step of a recursion reads from outside, while it is lowered.
    inside: Option<recursion::Inside>,
    /// The sizes that the indices of elements count.
    counted: model::Counted,
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
            loops: Vec::new(),
            warnings: Vec::new(),
            legend: Vec::new(),
            described: Vec::new(),
            described_in_steps: false,
            calls: Vec::new(),
            declared: Vec::new(),
            data_places: Vec::new(),
            size_origins: Vec::new(),
            size_tables: Vec::new(),
            defining: Vec::new(),
            ends_of_missing: HashMap::new(),
            coordinates: Coordinates::Declared,
            split: Vec::new(),
            pending: Vec::new(),
            effects: Vec::new(),
            inside: None,
            counted: model::Counted::new(),
            category_columns: Vec::new(),
        }
    }

    fn program(&mut self, program: &Program) -> Checked<()> {
        self.declared = program.statements.iter().filter_map(crate::model::declared_name).collect();
        self.data_places =
            model::data_declarations(program).iter().map(|d| (d.name.name.clone(), d.name.span)).collect();
        let mut defining = Vec::new();
        model::defined_elements(&program.statements, &mut defining);
        self.defining = defining.into_iter().map(str::to_string).collect();
        self.counted = model::counted(program);
        self.single = model::single_elements(program);
        if !self.coordinates.keep_effects() {
            self.split = effects::split_effects(program, self.source);
        }
        let mut problems = Problems::default();
        if let Err(problem) = self.bind_data(program, &mut problems) {
            // The levels of categories give sizes that anything may need.
            problems.add(problem, Vec::new(), self.source);
        }
        self.check_model(program, problems)?;
        let mut problems = Problems::default();
        self.all_statements(&program.statements, &mut problems);
        self.collect(&mut problems);
        problems.into_result()?;
        self.note_improper(program);
        self.warn_partly_described(program);
        Ok(())
    }

    /// Checks the model with the sizes of the data. Where these are wrong themselves, what is wrong with the
    /// model whatever they are is told at once too.
    fn check_model(&mut self, program: &Program, mut problems: Problems) -> Checked<()> {
        if !problems.is_empty() {
            let of_model = model::elaborate(program, self.source).err().unwrap_or_default();
            of_model.into_iter().for_each(|problem| problems.add(problem, Vec::new(), self.source));
            return problems.into_result();
        }
        if self.coordinates == Coordinates::Declared {
            let sizes = Sizes::of_data(self.env.sizes(&self.b));
            self.warnings.extend(model::elaborate_sized(program, self.source, sizes)?.warnings);
        }
        Ok(())
    }

    /// Lowers each statement that needs nothing that is lost.
    fn all_statements(&mut self, statements: &[Stmt], problems: &mut Problems) {
        self.functions(statements);
        for stmt in statements {
            let told = problems.concerns(stmt.span, self.source);
            let mut names = Vec::new();
            match if told { Ok(()) } else { self.statement(stmt) } {
                Ok(()) if told => {
                    model::defined(stmt, &mut names);
                    problems.lose(names);
                }
                Ok(()) => {}
                Err(problem) => {
                    model::defined(stmt, &mut names);
                    problems.add(problem, names, self.source);
                }
            }
        }
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

    /// A shape as users write it: `[8, 3]`.
    fn shape(&self, dims: &[usize]) -> String {
        crate::facts::show(&dims.iter().map(|&n| crate::facts::Size::known(n)).collect::<Vec<_>>())
    }

    /// Adds a summand of the log density; constants count too, so that the value is the whole log density.
    fn term(&mut self, node: NodeId, kind: TermKind, span: Span) {
        self.terms.push(Term { node, kind, span });
    }
}

/// Attaches a place in the model to an error of the builder.
fn at<T>(result: std::result::Result<T, crate::graph::BuildError>, span: Span) -> Result<T> {
    result.map_err(|e| Diagnostic::error("shape-mismatch", e.to_string()).label(span, ""))
}
