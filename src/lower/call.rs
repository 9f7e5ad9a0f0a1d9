//! Calls of functions: the model's own, the tables', and log densities by name.

use super::env::{Binding, Value};
use super::{Lowerer, Result, at};
use crate::facts::Size;
use crate::func::{self, Ty};
use crate::graph::NodeId;
use crate::ops::scalar::{self, ScalarRow};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Arg, FnDecl, Ident, StmtKind};
use std::sync::Arc;

/// Endings that turn a distribution's name into a function.
const SUFFIXES: [&str; 4] = ["_lpdf", "_lpmf", "_lcdf", "_lccdf"];

/// Functions of arrays that add or multiply their elements: labels cannot be.
const ADDING: [&str; 8] = ["sum", "mean", "prod", "sd", "variance", "cumsum", "dot", "standardize"];

/// Functions of integers that give integers.
const INTEGER_ROWS: [&str; 8] = ["abs", "fmax", "fmin", "idiv", "mod", "floor", "ceil", "round"];

impl Lowerer<'_> {
    pub(super) fn call(&mut self, name: &Ident, args: &[Arg], span: Span) -> Result<Value> {
        if let Some(Binding::Function(f)) = self.env.get(&name.name) {
            let f = f.clone();
            return self.own_function(&f, args, span);
        }
        if let Some(method) = super::ode::method(&name.name) {
            return self.ode(method, args, span);
        }
        if let Some(row) = func::find(&name.name) {
            return self.table_function(row, args, span);
        }
        if let Some(row) = scalar::find(&name.name) {
            return self.elementwise(row, args, span);
        }
        if let Some((row, suffix)) = density_function(&name.name) {
            return self.density_function(row, suffix, args, span);
        }
        Err(self.unknown_function(&name.name, name.span))
    }

    /// A name that is called and is no function.
    fn unknown_function(&self, name: &str, span: Span) -> Diagnostic {
        let error =
            Diagnostic::error("unknown-name", format!("there is no function `{name}`")).label(span, "");
        if let Some(Binding::Value(_) | Binding::Elements(_)) = self.env.get(name) {
            return error.help(format!("`{name}` is a value; an element of it is written `{name}[i]`"));
        }
        if crate::dist::find(name).is_some() {
            let covariance = format!("{name}_cov");
            let other = match func::names().any(|n| n == covariance) {
                true => format!("; the matrix of its covariances is `{covariance}(...)`"),
                false => String::new(),
            };
            return error.help(format!(
                "`{name}` is a distribution: write `y ~ {name}(...)`, or `{name}_lpdf(y | ...)` for its log density; what has it is a parameter, `param s ~ {name}(...)`{other}"
            ));
        }
        if matches!(name, "column" | "columns") {
            return error.help(format!(
                "`{name}(\"...\")` stands alone after the `=` of a declaration: `data {{ x : real[N] = {name}(\"...\") }}`; compute with \
                 it in a `let`"
            ));
        }
        if let Some(help) = foreign_density(name) {
            return error.help(help);
        }
        if let Some(help) = func::formula_term(name) {
            return error.help(help);
        }
        if let Some(ours) = func::stan_name(name) {
            return error.help(format!("write `{ours}`"));
        }
        if let Some(ours) = crate::dist::other_name(name) {
            return error.help(format!("`{name}` is a distribution, which stands after `~`: {ours}"));
        }
        match crate::source::nearest(name, self.env.names().chain(func::names().map(|n| n as &str))) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help("`stickler list functions` shows them all"),
        }
    }

    fn own_function(&mut self, f: &Arc<FnDecl>, args: &[Arg], span: Span) -> Result<Value> {
        let names: Vec<&str> = f.params.iter().map(|p| p.name.as_str()).collect();
        let required = vec![true; names.len()];
        let values = self.arguments(&f.name.name, &names, &required, args, span)?;
        self.apply(f, values.into_iter().flatten().collect(), span)
    }

    /// The value of a function of the model at given values, as many as it takes.
    pub(super) fn apply(&mut self, f: &Arc<FnDecl>, values: Vec<Value>, span: Span) -> Result<Value> {
        if self.calls.contains(&f.name.name) {
            return Err(Diagnostic::error("recursion", format!("`{}` calls itself", f.name.name))
                .label(span, "")
                .help("a function is expanded where it is called, so it cannot call itself; use a loop"));
        }
        if values.len() != f.params.len() {
            return Err(Diagnostic::error(
                "arity",
                format!(
                    "`{}` takes {} arguments, and {} are given",
                    f.name.name,
                    f.params.len(),
                    values.len()
                ),
            )
            .label(span, "")
            .label(f.name.span, "defined here"));
        }
        self.calls.push(f.name.name.clone());
        let outside = self.env.enter_function();
        for (param, value) in f.params.iter().zip(values) {
            self.env.set(&param.name, Binding::Value(value));
        }
        let result = self.function_body(f);
        self.env.leave_function(outside);
        self.calls.pop();
        result
    }

    fn function_body(&mut self, f: &FnDecl) -> Result<Value> {
        for stmt in &f.body {
            if !matches!(stmt.kind, StmtKind::Let(_) | StmtKind::For(_) | StmtKind::If(_)) {
                return Err(Diagnostic::error(
                    "not-in-function",
                    "a function may only define and return values",
                )
                .label(stmt.span, "")
                .help("move statements about data and parameters out of the function"));
            }
        }
        self.statements(&f.body)?;
        self.expr(&f.result)
    }

    fn table_function(&mut self, row: &'static func::Function, args: &[Arg], span: Span) -> Result<Value> {
        let mut names: Vec<&str> = row.args.iter().map(|a| a.name).collect();
        let mut required: Vec<bool> = row.args.iter().map(|a| !a.optional).collect();
        if row.variadic {
            names.resize(names.len().max(args.len()), "...");
            required.resize(names.len(), false);
        }
        let values = self.arguments(row.name, &names, &required, args, span)?;
        if ADDING.contains(&row.name) {
            let given = values.iter().flatten().zip(args);
            given.into_iter().try_for_each(|(v, arg)| self.refuse_category(v, arg.value.span))?;
        }
        let types: Vec<Option<Ty>> = values.iter().map(|v| v.as_ref().map(|v| self.type_of(v))).collect();
        let ty = (row.check)(&types).map_err(|e| {
            let error = Diagnostic::error("wrong-argument", format!("`{}`: {e}", row.name)).label(span, "");
            with_arguments(error, row, args)
        })?;
        let nodes: Vec<Option<NodeId>> = values.iter().map(|v| v.as_ref().map(|v| v.node)).collect();
        match (row.name, &nodes[..]) {
            ("log_sum_exp", [Some(of), None]) => self.warn_summed_whole(*of, span),
            ("cumsum", [Some(of), ..]) => self.warn_walk_along(*of, span),
            _ => {}
        }
        let node = at((row.build)(&mut self.b, &nodes), span)?;
        let from_data = values.iter().flatten().any(|v| v.from_data);
        let axes = self.result_axes(row.name, &values, node);
        Ok(Value::plain(node, ty.integer, from_data).along(axes))
    }

    fn type_of(&self, value: &Value) -> Ty {
        Ty {
            shape: self.b.dims(value.node).iter().map(|&n| Size::known(n)).collect(),
            integer: value.integer,
            value: self
                .b
                .scalar_of(value.node)
                .filter(|x| value.integer && x.abs() < 9e15)
                .map(|x| Size::integer(x as i64)),
        }
    }

    fn elementwise(&mut self, row: &'static ScalarRow, args: &[Arg], span: Span) -> Result<Value> {
        let required = vec![true; row.args.len()];
        // Within a choice the condition may keep what a function cannot take away from it.
        let choice = usize::from(row.name == "where");
        self.choices += choice;
        let values = self.arguments(row.name, row.args, &required, args, span);
        self.choices -= choice;
        let values: Vec<Value> = values?.into_iter().flatten().collect();
        // Of a choice only the condition is a number.
        let numbers = if row.name == "where" { 1 } else { values.len() };
        values
            .iter()
            .zip(args)
            .take(numbers)
            .try_for_each(|(v, arg)| self.refuse_category(v, arg.value.span))?;
        let nodes: Vec<NodeId> = values.iter().map(|v| v.node).collect();
        if matches!(row.name, "sqrt" | "log") && self.choices == 0 {
            self.warn_negative(row, nodes[0], span);
        }
        let node = match (row.name, &nodes[..]) {
            ("where", &[c, a, b]) => at(self.b.choose(c, a, b), span)?,
            _ => at(self.b.map(row, &nodes), span)?,
        };
        let integer = values.iter().all(|v| v.integer) && INTEGER_ROWS.contains(&row.name)
            || row.name == "where" && values[1].integer && values[2].integer
            || matches!(row.name, "floor" | "ceil" | "round");
        let axes = self.met_axes(&values.iter().collect::<Vec<_>>(), node);
        Ok(Value::plain(node, integer, values.iter().any(|v| v.from_data)).along(axes))
    }

    fn density_function(
        &mut self,
        row: &'static crate::dist::Distribution,
        suffix: &str,
        args: &[Arg],
        span: Span,
    ) -> Result<Value> {
        let mut names = vec!["x"];
        names.extend(row.args.iter().map(|a| a.name));
        let mut required = vec![true];
        required.extend(row.args.iter().map(|a| a.default.is_none()));
        let mut values = self.arguments(&format!("{}{suffix}", row.name), &names, &required, args, span)?;
        let Some(x) = values.remove(0) else {
            return Err(Diagnostic::error("arity", "a value is needed").label(span, ""));
        };
        let values = self.with_defaults(row, values);
        let nodes: Vec<NodeId> = values.iter().map(|v| v.node).collect();
        let from_data = x.from_data || values.iter().any(|v| v.from_data);
        self.check_integer(row, &x, span)?;
        let axis = self.categories_axis(row, &values);
        self.check_outcome_labels(&x, axis.as_ref(), args.first().map_or(span, |a| a.value.span), span)?;
        let node = match suffix {
            "_lcdf" | "_lccdf" => {
                at(crate::dist::log_tail(&mut self.b, row, suffix == "_lccdf", x.node, &nodes), span)?
                    .ok_or_else(|| {
                        let message = format!("`{}` has no cumulative distribution function here", row.name);
                        Diagnostic::error("no-cdf", message).label(span, "")
                    })?
            }
            _ => at(crate::dist::log_density(&mut self.b, row, x.node, &nodes), span)?,
        };
        let met: Vec<&Value> = std::iter::once(&x).chain(&values).filter(|_| row.event == 0).collect();
        let axes = self.met_axes(&met, node);
        Ok(Value::real(node, from_data).along(axes))
    }

    /// Arguments put in order, by position and by name. Optional ones that were not given are None.
    pub(super) fn arguments(
        &mut self,
        what: &str,
        names: &[&str],
        required: &[bool],
        args: &[Arg],
        span: Span,
    ) -> Result<Vec<Option<Value>>> {
        let mut values: Vec<Option<Value>> = vec![None; names.len()];
        for (i, arg) in args.iter().enumerate() {
            let place = match &arg.name {
                Some(name) => names
                    .iter()
                    .position(|n| *n == name.name)
                    .ok_or_else(|| unknown_argument(what, names, &name.name).label(name.span, ""))?,
                None => i,
            };
            let value = self.expr(&arg.value)?;
            match values.get_mut(place) {
                Some(slot @ None) => *slot = Some(value),
                Some(Some(_)) => {
                    return Err(Diagnostic::error(
                        "argument-twice",
                        format!("`{}` is given twice", names[place]),
                    )
                    .label(arg.value.span, ""));
                }
                None => return Err(arity(what, names, required, args.len(), span)),
            }
        }
        if values.iter().zip(required).any(|(v, r)| *r && v.is_none()) {
            return Err(arity(what, names, required, args.len(), span));
        }
        Ok(values)
    }
}

/// Adds the arguments that a function takes to the error of one that stands where another may have been
/// meant.
fn with_arguments(error: Diagnostic, row: &func::Function, args: &[Arg]) -> Diagnostic {
    if row.variadic || row.args.len() < 2 || args.iter().any(|arg| arg.name.is_some()) {
        return error;
    }
    let written =
        |a: &func::FunctionArg| if a.optional { format!("{} = ...", a.name) } else { a.name.to_string() };
    let names: Vec<String> = row.args.iter().map(written).collect();
    error.note(format!("the arguments are `{}({})`", row.name, names.join(", ")))
}

/// What to write for a density, probability or draw under the name that another language has for it.
fn foreign_density(name: &str) -> Option<String> {
    const ENDINGS: [(&str, &str); 11] = [
        ("_cdf_log", "`{}_lcdf(x | ...)`"),
        ("_ccdf_log", "`{}_lccdf(x | ...)`"),
        ("_log", "`{}_lpdf(x | ...)`"),
        ("_lupdf", "`{}_lpdf(x | ...)`"),
        ("_lupmf", "`{}_lpmf(x | ...)`"),
        ("_pdf", "`exp({}_lpdf(x | ...))`"),
        ("_pmf", "`exp({}_lpmf(x | ...))`"),
        ("_cdf", "`exp({}_lcdf(x | ...))`"),
        ("_ccdf", "`exp({}_lccdf(x | ...))`"),
        ("_rng", "`predict name ~ {}(...)`: a draw has a name and a statement of its own"),
        ("_logpdf", "`{}_lpdf(x | ...)`"),
    ];
    let (row, ours) = ENDINGS
        .iter()
        .find_map(|(ending, ours)| Some((crate::dist::find(name.strip_suffix(ending)?)?, ours)))?;
    Some(format!("write {}", ours.replace("{}", row.name)))
}

/// The distribution behind a log density that is called as a function, and the ending.
fn density_function(name: &str) -> Option<(&'static crate::dist::Distribution, &'static str)> {
    SUFFIXES.iter().find_map(|suffix| Some((crate::dist::find(name.strip_suffix(suffix)?)?, *suffix)))
}

/// The distribution behind a log density that is called as a function.
pub(super) fn density_of(name: &str) -> Option<&'static crate::dist::Distribution> {
    density_function(name).map(|(row, _)| row)
}

/// Names of arguments in other languages, with ours.
const OTHER_ARGUMENTS: [(&str, &str); 10] = [
    ("sd", "sigma"),
    ("std", "sigma"),
    ("scale", "sigma"),
    ("stdev", "sigma"),
    ("mean", "mu"),
    ("loc", "mu"),
    ("df", "nu"),
    ("rate", "beta"),
    ("prob", "theta"),
    ("p", "theta"),
];

/// Names of arguments in other languages that mean something else here, by what is called.
const OTHER_MEANINGS: [(&[&str], &str, &str); 13] = [
    (&["seq"], "by", "`a + k * seq(0, n - 1)` are n numbers from a on, in steps of k"),
    (&["seq"], "length", "write `linspace(a, b, n)`"),
    (&["seq"], "length_out", "write `linspace(a, b, n)`"),
    (&["gamma", "inv_gamma", "weibull", "loglogistic", "frechet", "pareto"], "shape", "write `alpha = ...`"),
    (&["gamma"], "scale", "`beta` is a rate: write `beta = 1 / scale`"),
    (&["gamma"], "theta", "`beta` is a rate, 1 / theta: write `beta = 1 / ...`"),
    (
        &["gamma", "beta"],
        "mu",
        "gamma by mean m and sd s is `gamma(m^2 / s^2, m / s^2)`; beta by mean is `beta_proportion`",
    ),
    (&["exponential"], "scale", "`beta` is a rate: write `beta = 1 / scale`"),
    (&["exponential"], "lambda", "write `beta = ...`: a rate"),
    (&["inv_gamma", "loglogistic"], "scale", "write `beta = ...`, which is the scale"),
    (
        &["normal", "student_t", "lognormal", "cauchy"],
        "tau",
        "scales are standard deviations: write `sigma = 1 / sqrt(tau)`",
    ),
    (
        &["normal", "student_t", "lognormal", "cauchy"],
        "precision",
        "scales are standard deviations: write `sigma = 1 / sqrt(precision)`",
    ),
    (
        &["normal", "student_t", "lognormal"],
        "var",
        "scales are standard deviations: write `sigma = sqrt(var)`",
    ),
];

fn unknown_argument(what: &str, names: &[&str], given: &str) -> Diagnostic {
    let error = Diagnostic::error("unknown-argument", format!("`{what}` has no argument `{given}`"))
        .note(format!("its arguments are {}", names.join(", ")));
    if given == "offset" {
        return error.help(format!("an offset is written into the predictor: `{what}(a + offset)`"));
    }
    if matches!(given, "lower" | "upper") && crate::dist::find(what).is_some() {
        return error.help(format!(
            "write `truncated({what}(...), {given} = ...)`; the bounds of a parameter stand in its type: `param s : real > 0 ~ ...`"
        ));
    }
    let meaning = OTHER_MEANINGS.iter().find(|(all, theirs, _)| *theirs == given && all.contains(&what));
    if let Some((.., help)) = meaning {
        return error.help(*help);
    }
    if matches!(given, "shape" | "size" | "dims" | "plate") && crate::dist::find(what).is_some() {
        return error
            .help(format!("the size of a parameter stands after its name: `param c[J] ~ {what}(...)`"));
    }
    let other = OTHER_ARGUMENTS.iter().find(|(theirs, ours)| *theirs == given && names.contains(ours));
    match other.map(|(_, ours)| *ours).or_else(|| crate::source::nearest(given, names.iter().copied())) {
        Some(ours) => error.help(format!("write `{ours} = ...`")),
        None => error,
    }
}

fn arity(what: &str, names: &[&str], required: &[bool], given: usize, span: Span) -> Diagnostic {
    let least = required.iter().filter(|r| **r).count();
    let wanted = if least == names.len() { least.to_string() } else { format!("{least} to {}", names.len()) };
    let plural = if wanted == "1" { "" } else { "s" };
    let are = if given == 1 { "is" } else { "are" };
    let error = Diagnostic::error(
        "arity",
        format!("`{what}` takes {wanted} argument{plural}, and {given} {are} given"),
    )
    .label(span, "");
    let one_list = |row: &&crate::dist::Distribution| matches!(row.args, [only] if only.rank == 1);
    if given > 1 && crate::dist::find(what).filter(one_list).is_some() {
        let numbers = vec!["..."; given].join(", ");
        return error.help(format!("`{}` is one list: write `{what}([{numbers}])`", names[0]));
    }
    if what == "e" {
        return error.help("the exponential function is `exp(x)`, and `e()` the number itself");
    }
    let error = error.help(format!("write `{what}({})`", names.join(", ")));
    if what.starts_with("half_") && given == names.len() + 1 {
        return error.note("it begins at 0: there is no location to give");
    }
    if what.starts_with("lkj_corr") && given == names.len() + 1 {
        return error.note("the size is that of the type, as in `param L : cholesky_corr[2]`");
    }
    error
}
