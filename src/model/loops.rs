//! Loops: read once for all of their steps, with the variable as a size of its own.

use super::names::Meaning;
use super::prose::has_word;
use super::sizes::LOOP_MARK;
use super::types::Type;
use super::{Elaborator, Result};
use crate::facts::Size;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{ForLoop, Ident, LetDecl, Stmt, StmtKind};

/// Most iterations of a loop; beyond that a model is better written with whole arrays.
pub const MAX_ITERATIONS: i64 = 10_000_000;

/// A loop around a statement.
pub struct Around {
    /// Its variable.
    pub variable: String,
    /// The size that stands for the variable.
    pub symbol: String,
    /// Its first value.
    pub from: Size,
    /// Its last value.
    pub to: Size,
    /// Its last value as it is written.
    pub end: String,
}

impl Elaborator<'_> {
    pub(super) fn for_loop(&mut self, f: &ForLoop) -> Result<()> {
        self.check_variable(&f.var)?;
        let from = self.integer(&f.from)?;
        let to = self.integer(&f.to).map_err(|e| match e.code {
            "not-known" => self.unknown_size(e, &f.to),
            _ => e,
        })?;
        self.refuse_backwards(
            &from,
            &to,
            &f.to,
            "to go backwards count up and index from the end: `for i in 1..N { y[N + 1 - i] ~ ... }`",
        )?;
        let steps = to.plus(-1, &from).plus(1, &Size::known(1));
        match self.certain(&steps) {
            Some(n) if n > MAX_ITERATIONS => {
                let message = format!("a loop of {n} steps is too long");
                return Err(Diagnostic::error("long-loop", message)
                    .label(f.var.span, "")
                    .help("write it with whole arrays: operations apply to every element at once"));
            }
            Some(n) if n <= 0 => return Ok(()),
            _ => {}
        }
        self.within(f, from, to).map_err(|e| self.with_loop_index(e, f))
    }

    /// Works inside a loop, once for all of its steps.
    fn within(&mut self, f: &ForLoop, from: Size, to: Size) -> Result<()> {
        let end = self.text(f.to.span).to_string();
        let variable = f.var.name.clone();
        let mut symbol = format!("{variable}{LOOP_MARK}");
        while self.notes.symbols.contains(&symbol) {
            symbol.push(LOOP_MARK);
        }
        self.notes.symbols.insert(symbol.clone());
        let counter = Size::named(&symbol);
        self.context.loops.push(Around { variable, symbol: symbol.clone(), from, to, end });
        self.names.push();
        let identity = self.number(format!("variable {symbol} {}", f.var.span.start));
        let ty = Type { identity, base: identity, ..Type::size(counter) };
        self.names.set(&f.var.name, Meaning::Value(ty));
        let done = self.statements(&f.body);
        self.names.pop();
        self.context.loops.pop();
        done
    }

    /// The variables of the loops around.
    pub(super) fn active_loops(&self) -> Vec<String> {
        self.context.loops.iter().map(|l| l.symbol.clone()).collect()
    }

    /// Says how an element that every step of a loop defines anew becomes one for each step.
    fn with_loop_index(&self, error: Diagnostic, f: &ForLoop) -> Diagnostic {
        let Some(label) = error.labels.first().filter(|_| error.code == "defined-twice") else {
            return error;
        };
        let Some(l) = element_at(&f.body, label.span) else { return error };
        let indices: Vec<&str> = l.indices.iter().map(|e| self.text(e.span)).collect();
        let (name, variable, indices) = (&l.name.name, &f.var.name, indices.join(", "));
        match has_word(&indices, variable) || error.labels.len() > 1 {
            true => error,
            false => error.help(format!(
                "every step of the loop over `{variable}` defines it: add the loop's index, `let {name}[{variable}, {indices}] = ...`"
            )),
        }
    }

    /// Refuses a loop variable that would hide something else of that name.
    fn check_variable(&self, name: &Ident) -> Result<()> {
        if !matches!(self.names.get(&name.name), Some(Meaning::Value(_) | Meaning::Elements(_))) {
            return Ok(());
        }
        let message = format!("`{}` has a meaning already, and cannot be the variable of a loop", name.name);
        let error = Diagnostic::error("defined-twice", message).label(name.span, "");
        Err(self.with_first(error, name).help("give the variable a name of its own, such as `i`"))
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
