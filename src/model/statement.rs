//! Statements: definitions, loops, choices, terms of the log density.

use super::elements::{Definition, Elements, Run, either};
use super::loops::Around;
use super::names::Meaning;
use super::problems::defined;
use super::sizes::LOOP_MARK;
use super::types::Type;
use super::{Elaborator, Result, Term};
use crate::facts::{Shape, Size};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Expr, Ident, IfStmt, LetDecl, Sample, Stmt, StmtKind};
use std::rc::Rc;

impl Elaborator<'_> {
    /// Elaborates each statement that needs nothing that is lost.
    pub(super) fn all_statements(&mut self) {
        let program = self.program;
        self.functions(&program.statements);
        for stmt in &program.statements {
            let told = self.problems.concerns(stmt.span, self.source);
            let mut names = Vec::new();
            match if told { Ok(()) } else { self.statement(stmt) } {
                Ok(()) if told => {
                    defined(stmt, &mut names);
                    self.problems.lose(names);
                }
                Ok(()) => {}
                Err(problem) => {
                    defined(stmt, &mut names);
                    self.problems.add(problem, names, self.source);
                    self.leave_all();
                }
            }
        }
    }

    /// Leaves what was around a statement that is wrong.
    fn leave_all(&mut self) {
        self.context = super::Context::default();
        self.names.leave_blocks();
    }

    pub(super) fn statements(&mut self, statements: &[Stmt]) -> Result<()> {
        self.functions(statements);
        statements.iter().try_for_each(|s| self.statement(s))
    }

    /// Functions may be called before the line that defines them.
    fn functions(&mut self, statements: &[Stmt]) {
        for stmt in statements {
            if let StmtKind::Fn(f) = &stmt.kind {
                self.names.set_everywhere(&f.name.name, Meaning::Function(Rc::new(f.clone())));
            }
        }
    }

    fn statement(&mut self, stmt: &Stmt) -> Result<()> {
        match &stmt.kind {
            StmtKind::Data(_) | StmtKind::Fn(_) => Ok(()),
            StmtKind::Param(p) if !self.context.loops.is_empty() => Err(self.param_in_loop(&p.name)),
            StmtKind::Param(p) => self.in_density(|l| l.param(p, stmt.span)),
            StmtKind::Let(l) => self.definition(l),
            StmtKind::For(f) => self.for_loop(f),
            StmtKind::If(i) => self.branch(i),
            StmtKind::Sample(s) => self.in_density(|l| l.sample(s, stmt)),
            StmtKind::Target(e) => {
                let ty = self.in_density(|l| l.expr(e))?;
                self.warn_element_many(e, &ty);
                self.term(ty.clone(), ty.from_data, stmt.span);
                Ok(())
            }
            StmtKind::Derive(d) => self.derive(d),
            StmtKind::Predict(p) => self.predict(p),
        }
    }

    /// Works on a part of the log density, in which nothing drawn may stand.
    fn in_density<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = std::mem::replace(&mut self.context.describing, true);
        let done = work(self);
        self.context.describing = before;
        done
    }

    /// Adds a summand of the log density: the sum of these numbers.
    pub(super) fn term(&mut self, each: Type, is_likelihood: bool, span: Span) {
        let mut ty = self.computed("sum", &[&each], Some(Shape::new()));
        self.follow(&mut ty, &[&each]);
        self.model.terms.push(Term { span, ty, is_likelihood });
    }

    fn param_in_loop(&self, name: &Ident) -> Diagnostic {
        let message =
            format!("`{}` is declared in a loop: a parameter is declared once, with its size", name.name);
        let error = Diagnostic::error("param-in-loop", message).label(name.span, "");
        let Some(Around { variable, end, .. }) = self.context.loops.last() else { return error };
        error.help(format!(
            "write `param {0}[{end}] ~ ...` before the loop; where priors differ from element to element, write \
             `param {0}[{end}]`, and `{0}[{variable}] ~ ...` in the loop",
            name.name
        ))
    }

    fn definition(&mut self, l: &LetDecl) -> Result<()> {
        let ty = self.expr(&l.value)?;
        if l.indices.is_empty() {
            self.refuse_data(l)?;
            return self.define(&l.name, ty);
        }
        self.define_element(&l.name, &l.indices, ty)
    }

    /// Defines one element, or in a loop one for each step.
    pub(super) fn define_element(&mut self, name: &Ident, indices: &[Expr], ty: Type) -> Result<()> {
        let places = indices.iter().map(|e| self.position(e)).collect::<Result<Vec<Size>>>()?;
        self.check_elements(name)?;
        let runs: Vec<Run> = places.iter().map(|place| self.run(place)).collect();
        let definition =
            Definition { runs, loops: self.active_loops(), open: self.context.open > 0, span: name.span };
        let shown: Vec<Size> = places.iter().map(|place| self.least(place)).collect();
        if !definition.open && self.is_the_same_in_some_loop(&places) {
            return Err(twice(&name.name, &shown, name.span));
        }
        if let Some(Meaning::Elements(known)) = self.names.get(&name.name) {
            if known.rank() != 0 && known.rank() != indices.len() {
                let message = format!(
                    "`{}` has elements with {} indices, and here one with {}",
                    name.name,
                    known.rank(),
                    indices.len()
                );
                return Err(Diagnostic::error("element-rank", message).label(name.span, ""));
            }
            if let Some(before) = known.defined_before(&definition) {
                let error = twice(&name.name, &shown, name.span);
                return Err(if before.span == name.span {
                    error
                } else {
                    error.label(before.span, "the first")
                });
            }
        }
        self.names.elements(&name.name).define(definition, ty);
        Ok(())
    }

    /// From where to where an index runs in the loops around, one step at a time.
    fn run(&self, place: &Size) -> Run {
        let Size::Linear { terms, .. } = place else { return None };
        let mut variables = terms.iter().filter(|(name, _)| name.ends_with(LOOP_MARK));
        let one_at_a_time = variables.by_ref().take(1).all(|(_, k)| k.abs() == 1);
        if !one_at_a_time || variables.next().is_some() {
            return None;
        }
        let (low, high) = (self.least(place), self.greatest(place));
        (low != Size::Any && high != Size::Any).then_some((low, high))
    }

    /// Whether every step of some loop around defines the same element.
    fn is_the_same_in_some_loop(&self, places: &[Size]) -> bool {
        if places.contains(&Size::Any) {
            return false;
        }
        let repeats = |l: &Around| l.to.plus(-1, &l.from).as_integer().is_none_or(|n| n >= 1);
        let moves = |l: &Around| places.iter().any(|place| place.names().any(|name| name == l.symbol));
        self.context.loops.iter().any(|l| repeats(l) && !moves(l))
    }

    /// An index from 1.
    fn position(&mut self, e: &Expr) -> Result<Size> {
        let place = self.integer(e)?;
        let first = self.least(&place);
        match first.as_integer() {
            Some(i) if i < 1 && self.context.open == 0 => {
                let message = format!("indices start at 1, and this is {i}");
                Err(Diagnostic::error("index-out-of-range", message).label(e.span, ""))
            }
            _ => Ok(place),
        }
    }

    /// Refuses to define what is given.
    fn refuse_data(&self, l: &LetDecl) -> Result<()> {
        let name = &l.name.name;
        let given = self.declared.data.iter().find(|(data, _)| data == name && self.context.calls.is_empty());
        let Some((_, declared)) = given else { return Ok(()) };
        let message = format!("`{name}` is data, which are given, not defined");
        Err(Diagnostic::error("data-defined", message)
            .label(l.name.span, "")
            .label(*declared, "declared as data")
            .help(format!(
                "say how the data are distributed, such as `{name} ~ normal({}, sigma)`; or give what is computed another name",
                self.text(l.value.span)
            )))
    }

    /// Refuses elements of what is defined as a whole.
    pub(super) fn check_elements(&self, name: &Ident) -> Result<()> {
        if self.names.value(&name.name).is_none() {
            return Ok(());
        }
        let message =
            format!("`{}` is defined as a whole already, and its elements cannot be changed", name.name);
        Err(Diagnostic::error("defined-twice", message).label(name.span, "").help(
            "leave the definition of the whole out: defining the elements makes the array; or give it another name",
        ))
    }

    fn branch(&mut self, i: &IfStmt) -> Result<()> {
        let condition = self.expr(&i.condition)?;
        if !condition.fixed || condition.rank().is_some_and(|rank| rank > 0) {
            return Err(condition_not_data(i));
        }
        if let Some(truth) = self.number_of(&condition) {
            return self.statements(if truth != 0.0 { &i.then } else { &i.otherwise });
        }
        self.context.open += 1;
        let before = self.names.snapshot();
        self.statements(&i.then)?;
        let then = self.names.replace(before);
        self.statements(&i.otherwise)?;
        self.names.join(then, |a, b| match (a, b) {
            (Meaning::Value(a), Meaning::Value(b)) if a.identity != b.identity => {
                Meaning::Value(either(a, b))
            }
            (Meaning::Elements(a), Meaning::Elements(b)) => Meaning::Elements(Elements::joined(a, b)),
            _ => a.clone(),
        });
        self.context.open -= 1;
        Ok(())
    }

    fn sample(&mut self, s: &Sample, stmt: &Stmt) -> Result<()> {
        let value = self.expr(&s.value)?;
        let weight = s.weight.as_ref().map(|w| self.expr(w).map(|v| (v, w.span))).transpose()?;
        if self.is_own(&s.dist) {
            let each = self.own_sum(&s.dist, &value, weight.as_ref())?;
            self.term(each, value.from_data, stmt.span);
            return Ok(());
        }
        let dist = self.dist(&s.dist)?;
        self.check_extent(&dist, &value, s.value.span)?;
        self.check_value(&dist, &value, s.value.span)?;
        self.check_structure(&dist, &value, s.value.span)?;
        self.check_support(&dist, &value, s.value.span)?;
        self.check_weight(weight.as_ref())?;
        if let Some((w, span)) = &weight {
            self.check_weight_shape(&dist, &value, w, *span, s)?;
        }
        self.check_density(&dist, &value, s.dist.span)?;
        self.warn_sum_to_zero(&value, &dist);
        self.warn_nonlinear(&s.value, &value);
        self.warn_response_scale(&dist);
        let mut of = vec![&value];
        dist.values(&mut of);
        let term = self.computed(&format!("density {}", stmt.span.start), &of, Some(Shape::new()));
        self.term(term, value.from_data, stmt.span);
        Ok(())
    }

    /// Refuses a name that has a meaning already: a second one would hide it without a word.
    pub(super) fn check_free(&self, name: &Ident) -> Result<()> {
        let error = |message: String| Diagnostic::error("defined-twice", message).label(name.span, "");
        let text = &name.name;
        if self.context.calls.is_empty() && self.names.is_size(text) {
            return Err(error(format!("`{text}` is a size of the data"))
                .help("a name means one thing in a model; give this one another name"));
        }
        if self.names.is_taken(text) && !self.names.is_taken_here(text) {
            return Err(error(format!("`{text}` is defined outside this block, and cannot be changed in it"))
                .help(format!(
                    "add up with `sum(...)`, define one element after the other (`let s[t] = s[t-1] + ...`), or give what is \
                     meant only inside the block another name than `{text}`"
                )));
        }
        if self.names.is_taken(text) {
            return Err(self
                .with_first(error(format!("`{text}` is defined twice")), name)
                .help("a name means one thing in a model; give this one another name"));
        }
        Ok(())
    }

    /// Marks where a name got its first meaning.
    pub(super) fn with_first(&self, error: Diagnostic, name: &Ident) -> Diagnostic {
        let mut places = self.declared.data.iter().chain(&self.declared.names);
        let first = places.find(|(known, span)| *known == name.name && span.start < name.span.start);
        match first {
            Some((_, span)) => error.label(*span, "the first"),
            None => error,
        }
    }

    /// The value of a name, whole.
    pub(super) fn named(&mut self, name: &str, span: Span) -> Result<Type> {
        match self.names.get(name) {
            Some(Meaning::Value(ty)) => Ok(ty.clone()),
            Some(Meaning::Elements(elements)) => {
                let whole = elements.whole(&self.active_loops());
                let growing = elements.is_growing(&self.active_loops());
                let identity =
                    self.number(format!("elements {name} {}", if growing { span.start } else { 0 }));
                Ok(match whole {
                    Some(whole) => {
                        let whole = self.with_counted_labels(name, whole);
                        Type { identity, base: identity, through: None, ..whole }
                    }
                    None => Type { identity, base: identity, ..self.computed("elements", &[], None) },
                })
            }
            Some(Meaning::Function(_)) => {
                Err(Diagnostic::error("function-as-value", format!("`{name}` is a function"))
                    .label(span, "")
                    .help(format!("call it: `{name}(...)`")))
            }
            None if name == "inf" => Ok(self.literal(f64::INFINITY, false)),
            None if name == "true" || name == "false" => {
                Ok(self.literal(f64::from(u8::from(name == "true")), true))
            }
            None if self.context.open > 0 && self.declared.by_element.iter().any(|known| known == name) => {
                Ok(self.computed(&format!("early {}", span.start), &[], None))
            }
            None => Err(self.unknown(name, span)),
        }
    }

    /// The axes of an array that is defined element by element, as the loops that define it count them.
    pub(super) fn with_counted_labels(&self, name: &str, ty: Type) -> Type {
        let Some(sizes) = self.declared.counted.get(name) else { return ty };
        let mut labels = ty.axes();
        for (axis, size) in labels.iter_mut().zip(sizes) {
            *axis = size.as_ref().and_then(|size| self.names.levels(size));
        }
        Type { labels, ..ty }
    }
}

fn twice(name: &str, index: &[Size], span: Span) -> Diagnostic {
    let inside: Vec<String> = index.iter().map(Size::to_string).collect();
    Diagnostic::error("defined-twice", format!("`{name}[{}]` is defined twice", inside.join(", ")))
        .label(span, "")
        .help("each element is defined once; give the second one another name")
}

/// The error of an `if` whose condition is not known before the fit.
pub fn condition_not_data(i: &IfStmt) -> Diagnostic {
    Diagnostic::error("condition-not-data", "the condition of `if` must be known before the fit")
        .label(i.condition.span, "this depends on a parameter, or is an array")
        .help("use `where(condition, a, b)` to choose between values")
}
