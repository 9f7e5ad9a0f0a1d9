//! Loops whose steps need the steps before them: what must be taken step by step becomes one node with the
//! step as its body, the rest is lowered as whole arrays before and after it.
//!
//! A loop is taken apart into statements that need each other and those that do not, in an order in which
//! each finds what it reads. What does not fit is written out step by step; a loop that cannot be taken
//! apart, or is wrong, as a whole.

mod body;
mod hoist;
mod node;
mod parts;

pub(super) use body::Inside;

use super::{Coordinates, Lowerer, Result};
use crate::source::Diagnostic;
use crate::syntax::ast::{Expr, ExprKind, ForLoop, Index, Stmt, StmtKind};
use hoist::Steps;
use parts::Part;

/// Fewest steps for which a node of its own is worth it: of shorter loops written out, more can be known.
/// Fewer where states are looked for, which are those of a node.
const FEWEST: i64 = 64;
const FEWEST_STATES: i64 = 4;

/// Why a loop is written out; nobody reads it.
fn unfit() -> Diagnostic {
    Diagnostic::error("written-out", "this loop is taken step by step")
}

impl Lowerer<'_> {
    /// Lowers the loop with its recursions as nodes. False if it does not fit: then nothing has happened.
    pub(super) fn recursive_loop(&mut self, f: &ForLoop, from: i64, to: i64) -> bool {
        // Without data there is nothing to run, and inside another recursion the rest of the step would be
        // lost.
        let fewest = if self.coordinates == Coordinates::States { FEWEST_STATES } else { FEWEST };
        if to - from + 1 < fewest || self.inside.is_some() {
            return false;
        }
        let Some(parts) = parts::take_apart(&f.body) else { return false };
        if !parts.iter().any(|part| part.recursive) {
            return false;
        }
        let mut names = Vec::new();
        crate::model::defined_elements(&f.body, &mut names);
        let before = self.env.elements_before(&names);
        let (terms, calls) = (self.terms.len(), self.calls.len());
        let done = self
            .check_order(f, from, to, &names)
            .and_then(|()| parts.iter().try_for_each(|part| self.part(f, from, to, part)));
        if done.is_err() {
            self.env.restore_elements(before);
            self.terms.truncate(terms);
            self.calls.truncate(calls);
        }
        done.is_ok()
    }

    fn part(&mut self, f: &ForLoop, from: i64, to: i64, part: &Part) -> Result<()> {
        let body = part.statements.iter().map(|&s| f.body[s].clone()).collect();
        let part_loop = ForLoop { body, ..f.clone() };
        if !part.recursive {
            return self.for_loop(&part_loop);
        }
        self.recursion(&part_loop, from, to).or_else(|_| self.each_step(&part_loop, from, to))
    }

    /// Refuses to take a loop apart where a step reads what it, or a later one, has not defined yet: written
    /// out, that is an error. Elements are read by one index that is known, before their definition in the
    /// step or after it.
    fn check_order(&mut self, f: &ForLoop, from: i64, to: i64, names: &[&str]) -> Result<()> {
        self.env.push();
        let mut steps = self.steps(&f.var, from, to, names);
        let checked = self.check_statements(f, &mut steps);
        self.env.pop();
        checked
    }

    fn check_statements<'a>(&mut self, f: &'a ForLoop, steps: &mut Steps<'a>) -> Result<()> {
        let mut defined: Vec<Defined> = Vec::new();
        for (s, stmt) in f.body.iter().enumerate() {
            let mut lets = Vec::new();
            element_lets(std::slice::from_ref(stmt), &mut lets);
            for (name, index) in lets {
                defined.push((name, s, self.integers(steps, index)?));
            }
        }
        for (s, stmt) in f.body.iter().enumerate() {
            self.check_reads(stmt, s, steps, &defined)?;
            // What says which element is meant may have a name itself.
            if let StmtKind::Let(l) = &stmt.kind
                && l.indices.is_empty()
                && !parts::reads(stmt).iter().any(|name| steps.lanes.defining.contains(name))
            {
                self.name_of_steps(steps, l)?;
            }
        }
        Ok(())
    }

    fn check_reads(&mut self, stmt: &Stmt, at: usize, steps: &Steps, defined: &[Defined]) -> Result<()> {
        let mut expressions = Vec::new();
        parts::expressions(stmt, &mut expressions);
        let mut reads: Vec<(&str, &Index)> = Vec::new();
        for e in expressions {
            element_reads(e, &steps.lanes.defining, &mut reads)?;
        }
        for (name, index) in reads {
            let (Index::At(last) | Index::Range { to: Some(last), .. }) = index else { return Err(unfit()) };
            let read = self.integers(steps, last)?;
            let fine = defined.iter().filter(|(defined, ..)| *defined == name).all(|(_, s, places)| {
                let own = i64::from(*s <= at);
                read.iter().zip(places).all(|(r, p)| *r < p + own)
            });
            if !fine {
                return Err(unfit());
            }
        }
        Ok(())
    }
}

/// An element that a statement of the body defines: its name, the statement, its index in every step.
type Defined<'a> = (&'a str, usize, Vec<i64>);

/// Elements that statements define, by name and index; those with more than one index are no business of this
/// room.
fn element_lets<'a>(block: &'a [Stmt], lets: &mut Vec<(&'a str, &'a Expr)>) {
    for stmt in block {
        match &stmt.kind {
            StmtKind::Let(l) => lets.extend(l.indices.first().map(|index| (l.name.name.as_str(), index))),
            StmtKind::If(i) => {
                element_lets(&i.then, lets);
                element_lets(&i.otherwise, lets);
            }
            StmtKind::For(f) => element_lets(&f.body, lets),
            _ => {}
        }
    }
}

/// Where an expression reads elements of these names, and by which first index. An array that is read whole
/// does not fit.
fn element_reads<'a>(e: &'a Expr, names: &[&str], reads: &mut Vec<(&'a str, &'a Index)>) -> Result<()> {
    let named = |e: &'a Expr| match &e.kind {
        ExprKind::Name(name) if names.contains(&name.as_str()) => Some(name.as_str()),
        _ => None,
    };
    if named(e).is_some() {
        return Err(unfit());
    }
    if let ExprKind::Index { base, indices } = &e.kind
        && let (Some(name), Some(first)) = (named(base), indices.first())
    {
        reads.push((name, first));
        let inner = indices.iter().flat_map(parts::index_children);
        return inner.into_iter().try_for_each(|c| element_reads(c, names, reads));
    }
    parts::children(e).into_iter().try_for_each(|c| element_reads(c, names, reads))
}
