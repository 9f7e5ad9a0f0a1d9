//! Loops over rows as whole arrays: where each step of a loop gives one number and none depends on another,
//! all steps are lowered at once, with the loop variable as the array of its values. Here it is decided
//! whether that is so; `whole` does it.

mod whole;

use super::Lowerer;
use super::env::Binding;
use crate::dist;
use crate::func;
use crate::ops::scalar;
use crate::source::Span;
use crate::syntax::ast::{
    Arg, DistExpr, DistKind, Expr, ExprKind, FnDecl, ForLoop, IfStmt, Index, Stmt, StmtKind,
};
use std::collections::HashSet;
use std::sync::Arc;

/// Fewest steps for which whole arrays are worth it.
const FEWEST: i64 = 3;

/// What an expression is inside the loop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// The same in every step, of any shape.
    Fixed,
    /// One number a step.
    Each,
}

/// What is known of a nest of loops while its body is read.
#[derive(Default)]
pub(super) struct Body<'a> {
    /// Names with one number a step: the loop variables, and what the body defines.
    pub(super) each: Vec<&'a str>,
    /// Arrays of which the nest defines elements.
    pub(super) defining: Vec<&'a str>,
    /// Those elements that each step has defined already, as they are written: `mu`, `[i, j]`.
    elements: Vec<(&'a str, Vec<&'a str>)>,
    /// Where definitions with one number a step stand.
    places: HashSet<usize>,
}

impl<'a> Body<'a> {
    /// One loop with this variable, which defines elements of these arrays.
    pub(super) fn of(variable: &'a str, defining: &[&'a str]) -> Self {
        Self { each: vec![variable], defining: defining.to_vec(), ..Self::default() }
    }
}

impl Lowerer<'_> {
    /// Lowers the loop as whole arrays if that means the same. False if not: then nothing has happened.
    pub(super) fn whole_loop(&mut self, f: &ForLoop, from: i64, to: i64) -> super::Result<bool> {
        if to - from + 1 < FEWEST {
            return Ok(false);
        }
        let mut body = Body::default();
        crate::model::defined_elements(&f.body, &mut body.defining);
        if self.elementwise_loop(&mut body, f).is_none() {
            return Ok(false);
        }
        self.whole_nest(f, from, to, &body.places).map(|()| true)
    }

    fn elementwise_loop<'a>(&mut self, body: &mut Body<'a>, f: &'a ForLoop) -> Option<()>
    where
        Self: 'a,
    {
        // A variable that hides another one would change what the same words mean.
        (!body.each.contains(&f.var.name.as_str())).then_some(())?;
        body.each.push(&f.var.name);
        let fine = self.elementwise_block(body, &f.body);
        body.each.pop();
        fine.map(|_| ())
    }

    /// Reads the statements of a block; gives the elements that they define.
    fn elementwise_block<'a>(
        &mut self,
        body: &mut Body<'a>,
        block: &'a [Stmt],
    ) -> Option<Vec<(&'a str, Vec<&'a str>)>>
    where
        Self: 'a,
    {
        let (each, elements) = (body.each.len(), body.elements.len());
        self.env.push();
        let fine = block.iter().all(|stmt| self.elementwise_statement(body, stmt).is_some());
        self.env.pop();
        body.each.truncate(each);
        let defined = body.elements.split_off(elements);
        fine.then_some(defined)
    }

    fn elementwise_statement<'a>(&mut self, body: &mut Body<'a>, stmt: &'a Stmt) -> Option<()>
    where
        Self: 'a,
    {
        match &stmt.kind {
            StmtKind::Let(l) if l.indices.is_empty() => {
                match self.lane(body, &l.value)? {
                    Lane::Each => {
                        body.each.push(&l.name.name);
                        body.places.insert(l.name.span.start);
                    }
                    Lane::Fixed => {
                        let value = self.expr(&l.value).ok()?;
                        self.env.set(&l.name.name, Binding::Value(value));
                    }
                }
                Some(())
            }
            StmtKind::Let(l) => {
                l.indices.iter().try_for_each(|index| self.number(body, index))?;
                self.number(body, &l.value)?;
                let written = l.indices.iter().map(|e| self.text(e.span)).collect();
                body.elements.push((&l.name.name, written));
                Some(())
            }
            StmtKind::Sample(s) => {
                match self.lane(body, &s.value)? {
                    Lane::Each => {}
                    // The prior of a parameter is no business of a loop.
                    Lane::Fixed if matches!(s.value.kind, ExprKind::Name(_)) => return None,
                    Lane::Fixed => self.fixed_rank(&s.value, 0)?,
                }
                self.elementwise_dist(body, &s.dist)?;
                s.weight.as_ref().map_or(Some(()), |w| self.number(body, w))
            }
            StmtKind::Target(e) => self.number(body, e),
            StmtKind::For(f) => {
                self.number(body, &f.from)?;
                self.number(body, &f.to)?;
                self.elementwise_loop(body, f)
            }
            StmtKind::If(i) => self.elementwise_branch(body, i),
            StmtKind::Data(_)
            | StmtKind::Param(_)
            | StmtKind::Fn(_)
            | StmtKind::Derive(_)
            | StmtKind::Predict(_) => None,
        }
    }

    /// A choice that is the same in every step, or made anew in each.
    fn elementwise_branch<'a>(&mut self, body: &mut Body<'a>, i: &'a IfStmt) -> Option<()>
    where
        Self: 'a,
    {
        if self.lane(body, &i.condition)? == Lane::Fixed {
            let condition = self.expr(&i.condition).ok()?;
            let truth = self.b.scalar_of(condition.node)? != 0.0;
            let defined = self.elementwise_block(body, if truth { &i.then } else { &i.otherwise })?;
            body.elements.extend(defined);
            return Some(());
        }
        let then = self.elementwise_block(body, &i.then)?;
        let otherwise = self.elementwise_block(body, &i.otherwise)?;
        body.elements.extend(then.into_iter().filter(|element| otherwise.contains(element)));
        Some(())
    }

    /// The text of a part of the model.
    fn text<'a>(&self, span: Span) -> &'a str
    where
        Self: 'a,
    {
        span.text(self.source)
    }

    /// One number a step, the same for all or not.
    fn number(&mut self, body: &Body, e: &Expr) -> Option<()> {
        match self.lane(body, e)? {
            Lane::Each => Some(()),
            Lane::Fixed => self.fixed_rank(e, 0),
        }
    }

    /// A value that is the same in every step, with so many axes.
    pub(super) fn fixed_rank(&mut self, e: &Expr, rank: usize) -> Option<()> {
        let value = self.expr(e).ok()?;
        (self.b.dims(value.node).len() == rank).then_some(())
    }

    fn elementwise_dist(&mut self, body: &Body, d: &DistExpr) -> Option<()> {
        let optional = |l: &mut Self, e: &Option<Expr>| e.as_ref().map_or(Some(()), |e| l.number(body, e));
        match &d.kind {
            DistKind::Call { name, args } => {
                let row = dist::find(&name.name)?;
                (row.event == 0).then_some(())?;
                for (k, arg) in args.iter().enumerate() {
                    let place = match &arg.name {
                        Some(name) => row.args.iter().position(|a| a.name == name.name)?,
                        None => k,
                    };
                    match row.args.get(place)?.rank {
                        0 => self.number(body, &arg.value)?,
                        rank => {
                            (self.lane(body, &arg.value)? == Lane::Fixed).then_some(())?;
                            self.fixed_rank(&arg.value, rank)?;
                        }
                    }
                }
                Some(())
            }
            DistKind::Mixture(parts) => parts.iter().try_for_each(|(weight, part)| {
                self.number(body, weight)?;
                self.elementwise_dist(body, part)
            }),
            DistKind::Truncated { inner, lower, upper } => {
                self.elementwise_dist(body, inner)?;
                optional(self, lower)?;
                optional(self, upper)
            }
            DistKind::Censored { inner, left, right, lower, upper } => {
                self.elementwise_dist(body, inner)?;
                [left, right, lower, upper].into_iter().try_for_each(|e| optional(self, e))
            }
            DistKind::ZeroInflated { probability, inner } => {
                self.number(body, probability)?;
                self.elementwise_dist(body, inner)
            }
        }
    }

    /// What an expression is in the loop; None if it is neither.
    pub(super) fn lane(&mut self, body: &Body, e: &Expr) -> Option<Lane> {
        match &e.kind {
            ExprKind::Real(_) | ExprKind::Int(_) | ExprKind::Str(_) => Some(Lane::Fixed),
            ExprKind::Name(name) if body.each.contains(&name.as_str()) => Some(Lane::Each),
            ExprKind::Name(name) if body.defining.contains(&name.as_str()) => None,
            ExprKind::Name(_) => Some(Lane::Fixed),
            ExprKind::Unary(_, x) => self.lane(body, x),
            ExprKind::Binary(_, a, b) => self.together(body, &[a, b]),
            ExprKind::Transpose(x) => self.all_fixed(body, &[x]),
            ExprKind::Array(items) => self.all_fixed(body, &items.iter().collect::<Vec<_>>()),
            ExprKind::Call { name, args } => self.call_lane(body, &name.name, args),
            ExprKind::Index { base, indices } => self.index_lane(body, base, indices),
        }
    }

    fn all_fixed(&mut self, body: &Body, all: &[&Expr]) -> Option<Lane> {
        all.iter().all(|e| self.lane(body, e) == Some(Lane::Fixed)).then_some(Lane::Fixed)
    }

    /// Numbers that meet element by element.
    fn together(&mut self, body: &Body, all: &[&Expr]) -> Option<Lane> {
        let lanes = all.iter().map(|e| self.lane(body, e)).collect::<Option<Vec<Lane>>>()?;
        if lanes.iter().all(|&lane| lane == Lane::Fixed) {
            return Some(Lane::Fixed);
        }
        for (e, lane) in all.iter().zip(lanes) {
            if lane == Lane::Fixed && !matches!(e.kind, ExprKind::Str(_)) {
                self.fixed_rank(e, 0)?;
            }
        }
        Some(Lane::Each)
    }

    fn call_lane(&mut self, body: &Body, name: &str, args: &[Arg]) -> Option<Lane> {
        let values: Vec<&Expr> = args.iter().map(|a| &a.value).collect();
        if self.all_fixed(body, &values).is_some() {
            return Some(Lane::Fixed);
        }
        if let Some(Binding::Function(f)) = self.env.get(name) {
            let f = f.clone();
            return self.function_lane(body, &f, args);
        }
        let density = super::call::density_of(name)
            .is_some_and(|row| row.event == 0 && row.args.iter().all(|a| a.rank == 0));
        let mixes = name == "log_mix" && args.len() == 3;
        let elementwise = scalar::find(name).is_some() && func::find(name).is_none();
        if !(density || mixes || elementwise) {
            return None;
        }
        self.together(body, &values)
    }

    /// A function of the model, read with what its arguments are here.
    fn function_lane(&mut self, body: &Body, f: &Arc<FnDecl>, args: &[Arg]) -> Option<Lane> {
        let by_place = args.len() == f.params.len() && args.iter().all(|a| a.name.is_none());
        if !by_place || self.calls.contains(&f.name.name) {
            return None;
        }
        let (mut inner, mut fixed) = (Body::default(), Vec::new());
        for (param, arg) in f.params.iter().zip(args) {
            match self.lane(body, &arg.value)? {
                Lane::Each => inner.each.push(&param.name),
                Lane::Fixed => fixed.push((&param.name, self.expr(&arg.value).ok()?)),
            }
        }
        self.calls.push(f.name.name.clone());
        let outside = self.env.enter_function();
        fixed.into_iter().for_each(|(name, value)| self.env.set(name, Binding::Value(value)));
        let plain = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Let(l) if l.indices.is_empty());
        let fine = f.body.iter().all(|s| plain(s) && self.elementwise_statement(&mut inner, s).is_some());
        let lane = if fine { self.lane(&inner, &f.result) } else { None };
        self.env.leave_function(outside);
        self.calls.pop();
        lane
    }

    fn index_lane(&mut self, body: &Body, base: &Expr, indices: &[Index]) -> Option<Lane> {
        if let ExprKind::Name(name) = &base.kind
            && body.defining.contains(&name.as_str())
        {
            // The element that this very step has defined; any other would make the steps depend on each
            // other.
            let written = indices.iter().map(|index| match index {
                Index::At(e) => Some(self.text(e.span)),
                Index::Range { .. } | Index::All(_) => None,
            });
            let written: Vec<&str> = written.collect::<Option<_>>()?;
            return body.elements.contains(&(name.as_str(), written)).then_some(Lane::Each);
        }
        (self.lane(body, base)? == Lane::Fixed).then_some(())?;
        let mut lanes = Vec::with_capacity(indices.len());
        for index in indices {
            lanes.push(match index {
                Index::At(e) => self.lane(body, e)?,
                Index::Range { from, to, .. } => {
                    let ends: Vec<&Expr> = from.iter().chain(to.iter()).collect();
                    self.all_fixed(body, &ends)?
                }
                Index::All(_) => Lane::Fixed,
            });
        }
        if lanes.iter().all(|&lane| lane == Lane::Fixed) {
            return Some(Lane::Fixed);
        }
        for (index, lane) in indices.iter().zip(lanes) {
            match (index, lane) {
                (Index::At(e), Lane::Fixed) => self.fixed_rank(e, 0)?,
                (Index::At(_), Lane::Each) => {}
                (Index::Range { .. } | Index::All(_), _) => return None,
            }
        }
        self.fixed_rank(base, indices.len())?;
        Some(Lane::Each)
    }
}
