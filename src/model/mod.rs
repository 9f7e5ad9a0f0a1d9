//! A model between text and graph: names resolved, shapes in named sizes, supports, what depends on what.
//! What is wrong whatever the data are is told here.
//!
//! [`elaborate`] reads a program once, loops and functions included, with the variable of a loop as a size of
//! its own: nothing is ever as large as the data, and no data are needed. What only data can tell is left
//! open; given their sizes, [`elaborate_sized`] also tells what fits by chance alone.

mod arguments;
mod binary;
mod by_chance;
mod call;
mod constraint;
mod counted;
mod data;
mod density;
mod distribution;
mod domain;
mod elements;
mod expression;
mod extent;
mod function;
mod index;
mod integers;
mod interval;
mod levels;
mod loops;
mod names;
mod ode;
mod outline;
mod parameter;
mod problems;
mod prose;
mod reach;
mod region;
mod reported;
mod said;
mod sizes;
mod statement;
mod types;
mod unknown;
mod warnings;
mod weights;

pub use binary::row_of;
pub use call::density_function;
pub use constraint::{is_matrix, transform_of};
pub use counted::{Counted, counted, name_of};
pub use data::{data_declarations, listed_levels, taken_twice};
pub use density::{negative_weight, weight_not_data};
pub use distribution::{empty_support, not_a_mark};
pub use domain::{argument_not_data, never_finite, outside_domain, requirement, sum_is_not_one};
pub use extent::{is_of_levels, is_ordinal, other_categories};
pub use function::DENSITY_ENDINGS;
pub use index::{mask_as_index, no_labels};
pub use interval::rows_as_levels;
pub use levels::{category_as_number, unknown_label, unknown_level};
pub use loops::MAX_ITERATIONS;
pub use ode::{unsorted_times, wrong_rates};
pub use parameter::{MAX_COORDINATES, cannot_noncenter};
pub use problems::{Problems, declared_names, defined};
pub use prose::{declared_name, defined_elements, described_names, has_word, single_elements};
pub use reach::unbounded;
pub use region::{beyond_support, discrete_latent, prior_of_data};
pub use said::{is_proper, priors};
pub use sizes::Sizes;
pub use statement::condition_not_data;
pub use types::Type;
pub use weights::sums_to_one;

use crate::graph::Builder;
use crate::source::{Checked, Diagnostic, Span};
use crate::syntax::ast::{Ident, Program};
use crate::transform::Transform;
use names::Names;
use std::collections::HashMap;
use std::rc::Rc;

/// A model whose every part has a meaning.
#[derive(Debug, Default)]
pub struct Model {
    /// Every expression that was read, operands before those that use them.
    pub expressions: Vec<Expression>,
    /// Latent variables.
    pub parameters: Vec<Parameter>,
    /// Summands of the log density.
    pub terms: Vec<Term>,
    /// What is reported besides the parameters.
    pub reported: Vec<Reported>,
    /// What can be used, but may not be as it was meant.
    pub warnings: Vec<Diagnostic>,
}

/// An expression with its type.
#[derive(Clone, Debug)]
pub struct Expression {
    /// Where it stands.
    pub span: Span,
    /// What is known of its value.
    pub ty: Type,
}

/// A latent variable.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: Ident,
    /// What is known of its value.
    pub ty: Type,
    /// Where its values lie, as text: `(0, inf)`, `simplex`.
    pub support: String,
    /// How its values are made from free coordinates; none where the prior makes them.
    pub transform: Option<&'static Transform>,
}

/// A summand of the log density.
#[derive(Clone, Debug)]
pub struct Term {
    /// The statement it comes from.
    pub span: Span,
    /// What is known of it.
    pub ty: Type,
    /// Whether it is about data.
    pub is_likelihood: bool,
}

/// A quantity that is reported: `derive`, `predict`.
#[derive(Clone, Debug)]
pub struct Reported {
    /// Its name.
    pub name: String,
    /// What is known of it.
    pub ty: Type,
}

/// The result of elaborating one thing.
type Result<T> = std::result::Result<T, Diagnostic>;

/// Gives every part of a program its meaning, without data; or tells what is wrong whatever they are.
pub fn elaborate(program: &Program, source: &str) -> Checked<Model> {
    elaborate_sized(program, source, Sizes::default())
}

/// The same where the sizes of the data are known.
pub fn elaborate_sized(program: &Program, source: &str, sizes: Sizes) -> Checked<Model> {
    let mut elaborator = Elaborator::new(program, source, sizes);
    elaborator.program();
    let Elaborator { problems, model, .. } = elaborator;
    problems.into_result().map(|()| model)
}

/// Checks names, types, shapes and supports without data; gives warnings.
pub fn check(program: &Program, source: &str) -> Checked<Vec<Diagnostic>> {
    elaborate(program, source).map(|model| model.warnings)
}

/// What is around the part of the model that is being read.
#[derive(Default)]
struct Context {
    /// The loops, the innermost last.
    loops: Vec<loops::Around>,
    /// The functions whose bodies it is in.
    calls: Vec<String>,
    /// How many choices that the data make.
    open: usize,
    /// How many `where`.
    choices: usize,
    /// Whether it is a part of the log density.
    describing: bool,
    /// How many calls the body of a function has expanded to so far.
    expanded: u64,
}

/// What the text of a model declares where, read off before anything is elaborated.
#[derive(Default)]
struct Declared {
    /// Names of parameters and definitions anywhere in the model, with where they are declared.
    names: Vec<(String, Span)>,
    /// Names of data, with where they are declared.
    data: Vec<(String, Span)>,
    /// Names that a block defines for itself alone, with the variable of the loop if it is one.
    in_blocks: Vec<(String, Option<String>)>,
    /// Names that are defined element by element.
    by_element: Vec<String>,
    /// Names of which `derive` and `predict` give single elements.
    single: Vec<String>,
    /// Names of data that are 0 or 1.
    binaries: Vec<String>,
    /// The sizes that the indices of elements count.
    counted: Counted,
}

/// Reads a program and builds its model.
struct Elaborator<'p> {
    program: &'p Program,
    source: &'p str,
    sizes: Rc<Sizes>,
    names: Names,
    declared: Declared,
    context: Context,
    problems: Problems,
    model: Model,
    /// Values that depend on neither data nor parameters.
    constants: Builder,
    /// Equal values have one number.
    numbering: HashMap<String, usize>,
    /// What calls of the model's own functions give, by function and arguments, and how much they expand to.
    applied: HashMap<String, (Type, u64)>,
    /// What is noted for warnings at the end.
    notes: warnings::Notes,
}

impl<'p> Elaborator<'p> {
    fn new(program: &'p Program, source: &'p str, sizes: Sizes) -> Self {
        Self {
            program,
            source,
            sizes: Rc::new(sizes),
            names: Names::default(),
            declared: prose::declared(program),
            context: Context::default(),
            problems: Problems::default(),
            model: Model::default(),
            constants: Builder::new(),
            numbering: HashMap::new(),
            applied: HashMap::new(),
            notes: warnings::Notes::default(),
        }
    }

    fn program(&mut self) {
        for (problem, name) in prose::without_prior(self.program, self.source) {
            self.problems.add(problem, vec![name], self.source);
        }
        for (problem, name) in prose::missing_without_distribution(self.program) {
            self.problems.add(problem, vec![name], self.source);
        }
        self.data();
        self.all_statements();
        if self.problems.is_empty() {
            self.collect_reports();
            self.collect_warnings();
        }
    }

    /// The number that all values with this description share.
    fn number(&mut self, description: String) -> usize {
        let next = self.numbering.len();
        *self.numbering.entry(description).or_insert(next)
    }

    /// The text of a part of the model.
    fn text(&self, span: Span) -> &'p str {
        span.text(self.source)
    }

    /// The parameter that a value is, in whatever order its elements are.
    fn parameter_of(&self, ty: &Type) -> Option<&Parameter> {
        self.model.parameters.iter().find(|p| p.ty.identity == ty.base)
    }

    /// The parameter that a value is as a whole.
    fn whole_parameter(&self, ty: &Type) -> Option<&Parameter> {
        self.model.parameters.iter().find(|p| p.ty.identity == ty.identity)
    }
}
