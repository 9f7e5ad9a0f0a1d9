//! Statements.

use super::effects::has_word;
use super::elements::undefined;
use super::env::{Binding, Value};
use super::{Lowerer, Result, TermKind, at};
use crate::data::Levels;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{ExprKind, ForLoop, Ident, IfStmt, LetDecl, Sample, Stmt, StmtKind};
use std::sync::Arc;

/// Most iterations of a loop; beyond that a model is better written with whole arrays.
const MOST_ITERATIONS: i64 = 10_000_000;

/// A loop around a statement.
pub(super) struct Around {
    /// Its variable.
    pub(super) variable: String,
    /// Its last value as it is written.
    pub(super) end: String,
    /// The levels that the variable counts.
    pub(super) levels: Option<Arc<Levels>>,
    /// Whether its first value is the same whatever the data are.
    pub(super) begins: bool,
}

impl Lowerer<'_> {
    pub(super) fn statements(&mut self, statements: &[Stmt]) -> Result<()> {
        self.functions(statements);
        statements.iter().try_for_each(|s| self.statement(s))
    }

    /// Functions may be called before the line that defines them.
    pub(super) fn functions(&mut self, statements: &[Stmt]) {
        for stmt in statements {
            if let StmtKind::Fn(f) = &stmt.kind {
                self.env.set_everywhere(&f.name.name, Binding::Function(Arc::new(f.clone())));
            }
        }
    }

    pub(super) fn statement(&mut self, stmt: &Stmt) -> Result<()> {
        self.b.set_span(Some(stmt.span));
        match &stmt.kind {
            StmtKind::Data(_) | StmtKind::Fn(_) => Ok(()),
            StmtKind::Param(p) if !self.loops.is_empty() => Err(self.param_in_loop(&p.name)),
            StmtKind::Param(p) => self.in_density(|l| l.param(p, stmt.span)),
            StmtKind::Let(l) => self.definition(l),
            StmtKind::For(f) => self.for_loop(f),
            StmtKind::If(i) => self.branch(i),
            StmtKind::Sample(s) => self.in_density(|l| l.sample(s, stmt)),
            StmtKind::Target(e) => {
                let value = self.in_density(|l| l.expr(e))?;
                self.warn_element_many(e, value.node);
                self.note_added(&value);
                let node = at(self.b.sum(value.node, None), e.span)?;
                self.term(node, kind_of(&value), stmt.span);
                Ok(())
            }
            StmtKind::Derive(d) => self.derive(d),
            StmtKind::Predict(p) => self.predict(p),
        }
    }

    fn param_in_loop(&self, name: &Ident) -> Diagnostic {
        let message =
            format!("`{}` is declared in a loop: a parameter is declared once, with its size", name.name);
        let error = Diagnostic::error("param-in-loop", message).label(name.span, "");
        let Some(Around { variable, end, .. }) = self.loops.last() else { return error };
        error.help(format!(
            "write `param {0}[{end}] ~ ...` before the loop; where priors differ from element to element, write \
             `param {0}[{end}]`, and `{0}[{variable}] ~ ...` in the loop",
            name.name
        ))
    }

    fn definition(&mut self, l: &LetDecl) -> Result<()> {
        let value = self.expr(&l.value)?;
        if l.indices.is_empty() {
            self.refuse_data(l)?;
            return self.define(&l.name, value);
        }
        let index = l.indices.iter().map(|e| self.position(e)).collect::<Result<Vec<usize>>>()?;
        self.check_elements(&l.name)?;
        self.env.elements(&l.name.name).define(&l.name.name, index, value, l.name.span)
    }

    /// Refuses to define what is given.
    fn refuse_data(&self, l: &LetDecl) -> Result<()> {
        let name = &l.name.name;
        let given = self.data_places.iter().find(|(data, _)| data == name && self.calls.is_empty());
        let Some((_, declared)) = given else { return Ok(()) };
        let message = format!("`{name}` is data, which are given, not defined");
        Err(Diagnostic::error("data-defined", message)
            .label(l.name.span, "")
            .label(*declared, "declared as data")
            .help(format!(
                "say how the data are distributed, such as `{name} ~ normal({}, sigma)`; or give what is computed another name",
                l.value.span.text(self.source)
            )))
    }

    /// Refuses elements of what is defined as a whole.
    pub(super) fn check_elements(&self, name: &Ident) -> Result<()> {
        let Some(Binding::Value(_)) = self.env.get(&name.name) else { return Ok(()) };
        let message =
            format!("`{}` is defined as a whole already, and its elements cannot be changed", name.name);
        Err(Diagnostic::error("defined-twice", message).label(name.span, "").help(
            "leave the definition of the whole out: defining the elements makes the array; or give it another name",
        ))
    }

    pub(super) fn for_loop(&mut self, f: &ForLoop) -> Result<()> {
        self.check_variable(&f.var)?;
        let from = self.integer(&f.from)?;
        let to = self.integer(&f.to).map_err(|e| match e.code {
            "not-known" => self.unknown_size(e, &f.to),
            _ => e,
        })?;
        self.refuse_backwards(
            from,
            to,
            &f.to,
            "to go backwards count up and index from the end: `for i in 1..N { y[N + 1 - i] ~ ... }`",
        )?;
        if to - from >= MOST_ITERATIONS {
            return Err(Diagnostic::error(
                "long-loop",
                format!("a loop of {} steps is too long", to - from + 1),
            )
            .label(f.var.span, "")
            .help("write it with whole arrays: operations apply to every element at once"));
        }
        self.run_loop(f, from, to).map_err(|e| self.with_loop_index(e, f))
    }

    fn run_loop(&mut self, f: &ForLoop, from: i64, to: i64) -> Result<()> {
        if self.whole_loop(f, from, to)? || self.recursive_loop(f, from, to) {
            return Ok(());
        }
        self.each_step(f, from, to)
    }

    /// Says how an element that every step of a loop defines anew becomes one for each step.
    fn with_loop_index(&self, error: Diagnostic, f: &ForLoop) -> Diagnostic {
        let Some(label) = error.labels.first().filter(|_| error.code == "defined-twice") else {
            return error;
        };
        let Some(l) = element_at(&f.body, label.span) else { return error };
        let indices: Vec<&str> = l.indices.iter().map(|e| e.span.text(self.source)).collect();
        let (name, variable, indices) = (&l.name.name, &f.var.name, indices.join(", "));
        match has_word(&indices, variable) {
            true => error,
            false => error.help(format!(
                "every step of the loop over `{variable}` defines it: add the loop's index, `let {name}[{variable}, {indices}] = ...`"
            )),
        }
    }

    /// Refuses a loop variable that would hide something else of that name.
    fn check_variable(&self, name: &Ident) -> Result<()> {
        let taken = match self.env.get(&name.name) {
            Some(Binding::Value(_) | Binding::Elements(_)) => true,
            Some(Binding::Function(_)) | None => false,
        };
        if !taken {
            return Ok(());
        }
        let message = format!("`{}` has a meaning already, and cannot be the variable of a loop", name.name);
        let error = Diagnostic::error("defined-twice", message).label(name.span, "");
        Err(self.with_first(error, name).help("give the variable a name of its own, such as `i`"))
    }

    /// Writes a loop out step by step.
    pub(super) fn each_step(&mut self, f: &ForLoop, from: i64, to: i64) -> Result<()> {
        self.within(f, |l| l.steps_in_turn(f, from, to))
    }

    /// Works inside a loop.
    pub(super) fn within<T>(&mut self, f: &ForLoop, work: impl FnOnce(&mut Self) -> T) -> T {
        let levels = match &f.to.kind {
            ExprKind::Name(size) => self.env.levels(size),
            _ => None,
        };
        let end = f.to.span.text(self.source).to_string();
        let begins = self.expr(&f.from).is_ok_and(|v| !v.from_data);
        self.loops.push(Around { variable: f.var.name.clone(), end, levels, begins });
        let done = work(self);
        self.loops.pop();
        done
    }

    fn steps_in_turn(&mut self, f: &ForLoop, from: i64, to: i64) -> Result<()> {
        for i in from..=to {
            self.env.push();
            let node = self.b.number(i as f64);
            self.env.set(&f.var.name, Binding::Value(Value::integer(node, false)));
            let done = self.statements(&f.body);
            self.env.pop();
            done?;
        }
        Ok(())
    }

    fn branch(&mut self, i: &IfStmt) -> Result<()> {
        let condition = self.expr(&i.condition)?;
        let Some(truth) = self.b.scalar_of(condition.node) else { return Err(condition_not_data(i)) };
        self.statements(if truth != 0.0 { &i.then } else { &i.otherwise })
    }

    fn sample(&mut self, s: &Sample, stmt: &Stmt) -> Result<()> {
        if self.pending_effect(s, stmt.span)? {
            return Ok(());
        }
        let value = self.expr(&s.value)?;
        self.note_described(value.node);
        let weight = s.weight.as_ref().map(|w| self.expr(w).map(|v| (v, w.span))).transpose()?;
        if self.is_own(&s.dist) {
            let node = self.own_sum(&s.dist, &value, weight)?;
            self.term(node, kind_of(&value), stmt.span);
            return Ok(());
        }
        let dist = self.dist(&s.dist)?;
        let node = self.density_sum(&dist, &value, weight, s)?;
        self.warn_sum_to_zero(value.node, &dist);
        self.note_prior(value.node, &dist);
        if super::param::is_walk(&dist) {
            self.warn_walk_along(value.node, s.value.span);
        }
        self.warn_nonlinear(&s.value, &value);
        self.warn_response_scale(&dist);
        self.term(node, kind_of(&value), stmt.span);
        Ok(())
    }

    /// Gives a name its value, once.
    pub(super) fn define(&mut self, name: &Ident, value: Value) -> Result<()> {
        self.check_free(name)?;
        self.env.set(&name.name, Binding::Value(value));
        Ok(())
    }

    /// Refuses a name that has a meaning already: a second one would hide it without a word.
    pub(super) fn check_free(&self, name: &Ident) -> Result<()> {
        let error = |message: String| Diagnostic::error("defined-twice", message).label(name.span, "");
        let text = &name.name;
        if self.calls.is_empty() && self.env.is_size(text) {
            return Err(error(format!("`{text}` is a size of the data"))
                .help("a name means one thing in a model; give this one another name"));
        }
        if self.env.is_taken(text) && !self.env.is_taken_here(text) {
            return Err(error(format!("`{text}` is defined outside this block, and cannot be changed in it"))
                .help(format!(
                    "add up with `sum(...)`, define one element after the other (`let s[t] = s[t-1] + ...`), or give what is \
                     meant only inside the block another name than `{text}`"
                )));
        }
        if self.env.is_taken(text) {
            return Err(self
                .with_first(error(format!("`{text}` is defined twice")), name)
                .help("a name means one thing in a model; give this one another name"));
        }
        Ok(())
    }

    /// Marks where a name got its first meaning.
    fn with_first(&self, error: Diagnostic, name: &Ident) -> Diagnostic {
        let first = self
            .data_places
            .iter()
            .chain(&self.declared)
            .find(|(known, span)| *known == name.name && span.start < name.span.start);
        match first {
            Some((_, span)) => error.label(*span, "the first"),
            None => error,
        }
    }

    /// The value of a name, whole.
    pub(super) fn named(&mut self, name: &str, span: Span) -> Result<Value> {
        match self.env.get(name) {
            Some(Binding::Value(v)) => Ok(v.clone()),
            Some(Binding::Elements(_)) => {
                let whole = self.env.elements(name).whole(&mut self.b, name, span)?;
                Ok(self.with_counted_axes(name, whole))
            }
            Some(Binding::Function(_)) => {
                Err(Diagnostic::error("function-as-value", format!("`{name}` is a function"))
                    .label(span, "")
                    .help(format!("call it: `{name}(...)`")))
            }
            None if name == "inf" => Ok(Value::real(self.b.number(f64::INFINITY), false)),
            None if name == "true" || name == "false" => {
                Ok(Value::integer(self.b.number(f64::from(u8::from(name == "true"))), false))
            }
            None => Err(self.unknown(name, span)),
        }
    }

    /// One element of an array that is being defined element by element.
    pub(super) fn element(&mut self, name: &str, index: &[usize], span: Span) -> Result<Value> {
        let found = self.env.elements(name).get(index, &mut self.b);
        found.ok_or_else(|| undefined(name, index, span))
    }

    pub(super) fn unknown(&self, name: &str, span: Span) -> Diagnostic {
        let error = Diagnostic::error("unknown-name", format!("`{name}` is not defined")).label(span, "");
        if let Some(function) = self.calls.last() {
            return error.help(format!(
                "a function sees only its arguments and sizes: pass `{name}` to `{function}`"
            ));
        }
        if let Some((_, declared)) = self.declared.iter().find(|(known, _)| known == name) {
            return Diagnostic::error(
                "used-before-declaration",
                format!("`{name}` is used before it is declared"),
            )
            .label(span, "")
            .label(*declared, "declared here")
            .help("statements are read from top to bottom: move the declaration up");
        }
        if self.defining.iter().any(|defined| defined == name) {
            return Diagnostic::error(
                "used-before-declaration",
                format!("`{name}` is read before any of its elements is defined"),
            )
            .label(span, "")
            .help(format!("define the first elements before the loop: `let {name}[1] = ...`"));
        }
        let rest = self.source.get(span.end..).unwrap_or_default().trim_start();
        if name == "e" && rest.starts_with('^') {
            return error.help("the exponential function is `exp(x)`, and the number itself `e()`");
        }
        if crate::func::find(name).is_some() || crate::ops::scalar::find(name).is_some() {
            return error.help(format!("`{name}` is a function: call it, `{name}(...)`"));
        }
        if crate::dist::find(name).is_some() && !rest.starts_with('~') {
            return error
                .help(format!("`{name}` is a distribution: it stands after `~`, as in `y ~ {name}(...)`"));
        }
        if self.single.iter().any(|single| single == name) {
            return Diagnostic::error(
                "used-before-declaration",
                format!("`{name}` is read before any of its elements is there"),
            )
            .label(span, "")
            .help(format!("begin before the loop: `predict {name}[1] ~ ...`"));
        }
        if let Some(ours) = crate::func::stan_value(name) {
            return error.help(ours);
        }
        if let Some(help) = self.meant_by(name, span) {
            return error.help(help);
        }
        // What a line defines is not what it is defined by.
        let before = |other: &Span| self.source.get(other.end..span.start).is_some_and(|t| !t.contains('\n'));
        let declared =
            self.declared.iter().filter(|(_, other)| !before(other)).map(|(name, _)| name.as_str());
        match crate::source::nearest(name, self.env.names().chain(declared)) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None if rest.starts_with('~') => error.help(format!(
                "declare it: `param {name} ~ ...` if it is to be learnt, `data {name} : real[N]` if it is given, `predict {name}[N] ~ ...` if \
                 it is to be simulated"
            )),
            None => error.help(format!(
                "declare it: `param {name} ~ ...` if it is to be learnt, `data {name} : real[N]` if it is given; or define it: \
                 `let {name} = ...`"
            )),
        }
    }

    /// What a name that has no meaning at a place may stand for there.
    fn meant_by(&self, name: &str, span: Span) -> Option<String> {
        if let Some((_, variable)) = self.in_blocks.iter().find(|(known, _)| known == name) {
            return Some(match variable {
                Some(i) => format!(
                    "it is defined inside a loop, for each step anew: `let {name}[{i}] = ...` there makes an array, which is known \
                     after the loop too"
                ),
                None => "it is defined in a branch of an `if` that is not taken: define it in the other branch too".into(),
            });
        }
        let names_category = |name: &str| self.env.categories().any(|(known, ..)| known == name);
        if let Some((value, g)) = name.rsplit_once('_')
            && names_category(g)
            && matches!(self.env.get(value), Some(Binding::Value(_)))
        {
            return Some(format!("for the value of each row's group write `{value}[{g}]`"));
        }
        let powers = [('²', 2), ('³', 3)];
        if let Some((base, power)) = powers.iter().find_map(|(c, n)| Some((name.strip_suffix(*c)?, n))) {
            return Some(format!("a power is written `{base}^{power}`"));
        }
        let head = self.source.get(..span.start).unwrap_or_default().trim_end();
        let compared = head.strip_suffix("==").or_else(|| head.strip_suffix("!=")).map(str::trim_end);
        let category = self.env.categories().map(|(category, ..)| category).find(|category| {
            let left = compared.and_then(|left| left.strip_suffix(category));
            left.is_some_and(|left| !left.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
        });
        category.map(|category| format!("a level of `{category}` stands between quotes: write `\"{name}\"`"))
    }
}

/// The definition of an element whose name stands at a place, in these statements or the blocks in them.
fn element_at(statements: &[Stmt], span: Span) -> Option<&LetDecl> {
    statements.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Let(l) => (l.name.span == span && !l.indices.is_empty()).then_some(l),
        StmtKind::For(f) => element_at(&f.body, span),
        StmtKind::If(i) => element_at(&i.then, span).or_else(|| element_at(&i.otherwise, span)),
        StmtKind::Data(_)
        | StmtKind::Fn(_)
        | StmtKind::Param(_)
        | StmtKind::Sample(_)
        | StmtKind::Target(_)
        | StmtKind::Derive(_)
        | StmtKind::Predict(_) => None,
    })
}

/// The error of an `if` whose condition is not known before the fit.
pub(super) fn condition_not_data(i: &IfStmt) -> Diagnostic {
    Diagnostic::error("condition-not-data", "the condition of `if` must be known before the fit")
        .label(i.condition.span, "this depends on a parameter, or is an array")
        .help("use `where(condition, a, b)` to choose between values")
}

/// A statement about data is part of the likelihood.
pub(super) fn kind_of(value: &Value) -> TermKind {
    if value.from_data { TermKind::Likelihood } else { TermKind::Prior }
}
