//! A nest of loops lowered at once: every step of the innermost loop is a lane, every name an array with a
//! number a lane.

use super::super::env::{Binding, Value};
use super::super::stmt::kind_of;
use super::super::{Lowerer, Result, at};
use crate::model::condition_not_data;
use crate::source::Diagnostic;
use crate::syntax::ast::{Expr, ForLoop, IfStmt, LetDecl, Sample, Stmt, StmtKind};
use std::collections::HashSet;

/// Most lanes; beyond that the steps are taken one by one, and a loop that is too long is refused.
const MOST_LANES: usize = 20_000_000;

/// The lanes of a block.
struct Lanes<'a> {
    count: usize,
    /// Names with a number a lane.
    names: Vec<String>,
    /// Where definitions with a number a lane stand.
    places: &'a HashSet<usize>,
}

impl Lowerer<'_> {
    /// Lowers a loop whose steps are known not to need each other.
    pub(super) fn whole_nest(
        &mut self,
        f: &ForLoop,
        from: i64,
        to: i64,
        places: &HashSet<usize>,
    ) -> Result<()> {
        let one = Lanes { count: 1, names: Vec::new(), places };
        let steps: Vec<f64> = (from..=to).map(|i| i as f64).collect();
        let parents = vec![0; steps.len()];
        self.inner_loop(f, &one, parents, steps)
    }

    /// The body of a loop: a lane for each step of each lane outside.
    fn inner_loop(&mut self, f: &ForLoop, outer: &Lanes, parents: Vec<u32>, steps: Vec<f64>) -> Result<()> {
        let count = steps.len();
        self.env.push();
        let mut lanes = self.chosen(outer, &parents);
        let node = self.b.constant(steps, vec![count]);
        self.env.set(&f.var.name, Binding::Value(Value::integer(node, false)));
        lanes.names.push(f.var.name.clone());
        let done = self.within(f, |l| l.whole_block(&f.body, &mut lanes));
        self.env.pop();
        done
    }

    /// Binds the names of some lanes anew, for lanes that are each a part of one of them.
    fn chosen<'a>(&mut self, outer: &Lanes<'a>, parents: &[u32]) -> Lanes<'a> {
        for name in &outer.names {
            if let Some(Binding::Value(value)) = self.env.get(name) {
                let value = value.clone();
                let node = self.b.take(value.node, parents.to_vec(), vec![parents.len()]);
                self.env.set(name, Binding::Value(Value { node, ..value }));
            }
        }
        Lanes { count: parents.len(), names: outer.names.clone(), places: outer.places }
    }

    fn whole_block(&mut self, block: &[Stmt], lanes: &mut Lanes) -> Result<()> {
        block.iter().try_for_each(|stmt| {
            self.b.set_span(Some(stmt.span));
            self.whole_statement(stmt, lanes)
        })
    }

    fn whole_statement(&mut self, stmt: &Stmt, lanes: &mut Lanes) -> Result<()> {
        match &stmt.kind {
            StmtKind::Let(l) if l.indices.is_empty() => {
                self.statement(stmt)?;
                if lanes.places.contains(&l.name.span.start) {
                    lanes.names.push(l.name.name.clone());
                }
                Ok(())
            }
            StmtKind::Let(l) => self.whole_elements(l, lanes),
            StmtKind::Sample(s) => self.whole_sample(s, stmt, lanes),
            StmtKind::Target(e) => {
                let mut value = self.expr(e)?;
                self.note_added(&value);
                value.node = self.b.broadcast_to(value.node, &[lanes.count]);
                let node = at(self.b.sum(value.node, None), e.span)?;
                self.term(node, kind_of(&value), stmt.span);
                Ok(())
            }
            StmtKind::For(f) => self.nested_loop(f, lanes),
            StmtKind::If(i) => self.whole_branch(i, lanes),
            StmtKind::Data(_)
            | StmtKind::Param(_)
            | StmtKind::Fn(_)
            | StmtKind::Derive(_)
            | StmtKind::Predict(_) => self.statement(stmt),
        }
    }

    fn whole_sample(&mut self, s: &Sample, stmt: &Stmt, lanes: &Lanes) -> Result<()> {
        let mut value = self.expr(&s.value)?;
        self.note_described(value.node);
        value.node = self.b.broadcast_to(value.node, &[lanes.count]);
        let dist = self.dist(&s.dist)?;
        let weight = s.weight.as_ref().map(|w| self.expr(w).map(|v| (v, w.span))).transpose()?;
        let node = self.density_sum(&dist, &value, weight, s)?;
        self.term(node, kind_of(&value), stmt.span);
        Ok(())
    }

    /// `let mu[i, j] = ...` in every lane.
    fn whole_elements(&mut self, l: &LetDecl, lanes: &Lanes) -> Result<()> {
        let mut value = self.expr(&l.value)?;
        value.node = self.b.broadcast_to(value.node, &[lanes.count]);
        let places = l.indices.iter().map(|e| self.lane_places(e, lanes)).collect::<Result<Vec<_>>>()?;
        let name = &l.name.name;
        if let [only] = &places[..]
            && only.windows(2).all(|w| w[1] == w[0] + 1)
        {
            return self.env.elements(name).define_run(name, only[0], lanes.count, value, l.name.span);
        }
        let index = |lane: usize| places.iter().map(|p| p[lane]).collect();
        let indices = (0..lanes.count).map(index).collect();
        self.env.elements(name).define_together(name, indices, value, l.name.span)
    }

    /// The integer of every lane.
    fn lane_integers(&mut self, e: &Expr, lanes: &Lanes) -> Result<Vec<i64>> {
        let value = self.expr(e)?;
        let node = self.b.broadcast_to(value.node, &[lanes.count]);
        let Some(numbers) = self.b.constant_of(node) else {
            return Err(Diagnostic::error("not-known", "this must be an integer known before the fit")
                .label(e.span, "it depends on a parameter"));
        };
        match numbers.iter().find(|x| !(x.fract() == 0.0 && x.abs() < 9e15)) {
            Some(x) => {
                Err(Diagnostic::error("not-an-integer", format!("an integer is needed here, not {x}"))
                    .label(e.span, ""))
            }
            None => Ok(numbers.iter().map(|&x| x as i64).collect()),
        }
    }

    /// The index, from 1, of every lane.
    fn lane_places(&mut self, e: &Expr, lanes: &Lanes) -> Result<Vec<usize>> {
        let integers = self.lane_integers(e, lanes)?;
        if let Some(i) = integers.iter().find(|&&i| i < 1) {
            return Err(Diagnostic::error(
                "index-out-of-range",
                format!("indices start at 1, and this is {i}"),
            )
            .label(e.span, ""));
        }
        Ok(integers.into_iter().map(|i| i as usize).collect())
    }

    fn nested_loop(&mut self, f: &ForLoop, lanes: &Lanes) -> Result<()> {
        let (from, to) = (self.lane_integers(&f.from, lanes)?, self.lane_integers(&f.to, lanes)?);
        let count: i64 = from.iter().zip(&to).map(|(a, b)| (b - a + 1).max(0)).fold(0, i64::saturating_add);
        if count > MOST_LANES as i64 {
            return Err(Diagnostic::error("long-loop", format!("a loop of {count} steps is too long"))
                .label(f.var.span, "")
                .help("write it with whole arrays: operations apply to every element at once"));
        }
        let (mut parents, mut steps) = (Vec::new(), Vec::new());
        for (lane, (&a, &b)) in from.iter().zip(&to).enumerate() {
            for i in a..=b {
                parents.push(lane as u32);
                steps.push(i as f64);
            }
        }
        if steps.is_empty() { Ok(()) } else { self.inner_loop(f, lanes, parents, steps) }
    }

    fn whole_branch(&mut self, i: &IfStmt, lanes: &mut Lanes) -> Result<()> {
        let condition = self.expr(&i.condition)?;
        if let Some(truth) = self.b.scalar_of(condition.node) {
            return self.whole_block(if truth != 0.0 { &i.then } else { &i.otherwise }, lanes);
        }
        let Some(truth) = self.b.constant_of(condition.node).cloned() else {
            return Err(condition_not_data(i));
        };
        for (block, wanted) in [(&i.then, true), (&i.otherwise, false)] {
            let parents: Vec<u32> =
                (0..lanes.count as u32).filter(|&lane| (truth[lane as usize] != 0.0) == wanted).collect();
            if parents.is_empty() || block.is_empty() {
                continue;
            }
            self.env.push();
            let mut part = self.chosen(lanes, &parents);
            let done = self.whole_block(block, &mut part);
            self.env.pop();
            done?;
        }
        Ok(())
    }
}
