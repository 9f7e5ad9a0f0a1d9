//! What a step reads from outside: found in the expressions of its statements, and computed there for all
//! steps at once.

use super::super::env::{Binding, Value};
use super::super::lanes::{Body, Lane};
use super::super::{Lowerer, Result};
use super::{parts, unfit};
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, ForLoop, Ident, Index, LetDecl, Stmt, StmtKind, UnaryOp};
use std::collections::{HashMap, HashSet};

/// The steps of a loop, and which names have a number in each.
pub(super) struct Steps<'a> {
    pub(super) count: usize,
    pub(super) lanes: Body<'a>,
}

/// An expression by its place in memory, which is its own while the loop is read.
pub(super) type Place = *const Expr;

/// An expression that the step does not compute.
pub(super) enum Found {
    /// The same in every step.
    Fixed(Value),
    /// An element of an array for each step.
    Step(Value),
    /// Elements of a sequence, so many steps before: one, or several stacked. What indices are left applies
    /// to them.
    Earlier { sequence: usize, lags: Vec<usize>, stacked: bool },
}

/// A sequence that the loop defines.
pub(super) struct Defined<'a> {
    pub(super) name: &'a Ident,
    /// Index of the first element.
    pub(super) first: i64,
    /// The furthest that a step looks back.
    pub(super) lags: usize,
}

/// A loop as it has been read.
pub(super) struct Reading<'a> {
    pub(super) steps: Steps<'a>,
    pub(super) sequences: Vec<Defined<'a>>,
    /// Names that the step computes.
    inside: Vec<&'a str>,
    /// Where these are defined.
    pub(super) computed: HashSet<usize>,
    pub(super) found: HashMap<Place, Found>,
    /// For every condition whether it holds, step by step.
    pub(super) conditions: HashMap<Place, Vec<bool>>,
}

impl Lowerer<'_> {
    /// Binds the loop variable to the array of its values, in the scope at hand.
    pub(super) fn steps<'a>(
        &mut self,
        var: &'a Ident,
        from: i64,
        to: i64,
        defining: &[&'a str],
    ) -> Steps<'a> {
        let values: Vec<f64> = (from..=to).map(|i| i as f64).collect();
        let count = values.len();
        let node = self.b.constant(values, vec![count]);
        self.env.set(&var.name, Binding::Value(Value::integer(node, false)));
        let lanes = Body::of(&var.name, defining);
        Steps { count, lanes }
    }

    /// The integer of every step, known before the fit.
    pub(super) fn integers(&mut self, steps: &Steps, e: &Expr) -> Result<Vec<i64>> {
        let numbers = self.numbers(steps, e)?;
        let whole = numbers.iter().all(|x| x.fract() == 0.0 && x.abs() < 9e15);
        if whole { Ok(numbers.into_iter().map(|x| x as i64).collect()) } else { Err(unfit()) }
    }

    /// The number of every step, known before the fit.
    fn numbers(&mut self, steps: &Steps, e: &Expr) -> Result<Vec<f64>> {
        let lane = self.lane(&steps.lanes, e).ok_or_else(unfit)?;
        let value = self.expr(e)?;
        if lane == Lane::Fixed && !self.b.dims(value.node).is_empty() {
            return Err(unfit());
        }
        let node = self.b.broadcast_to(value.node, &[steps.count]);
        self.b.constant_of(node).map(|c| c.to_vec()).ok_or_else(unfit)
    }

    /// Gives a name what it stands for in all steps at once. False if it is neither fixed nor one number a
    /// step, or better computed in the step.
    pub(super) fn name_of_steps<'a>(&mut self, steps: &mut Steps<'a>, l: &'a LetDecl) -> Result<bool> {
        let Some(lane) = self.lane(&steps.lanes, &l.value) else { return Ok(false) };
        let mut value = self.expr(&l.value)?;
        if lane == Lane::Each && is_arithmetic(&l.value) && self.b.constant_of(value.node).is_none() {
            return Ok(false);
        }
        if lane == Lane::Each {
            value.node = self.b.broadcast_to(value.node, &[steps.count]);
            steps.lanes.each.push(&l.name.name);
        }
        self.env.set(&l.name.name, Binding::Value(value));
        Ok(true)
    }

    /// Reads a loop whose statements need each other; what it reads from outside is computed in the scope at
    /// hand.
    pub(super) fn read_loop<'a>(&mut self, f: &'a ForLoop, from: i64, to: i64) -> Result<Reading<'a>> {
        let mut names = Vec::new();
        crate::model::defined_elements(&f.body, &mut names);
        let steps = self.steps(&f.var, from, to, &names);
        let mut reading = Reading {
            steps,
            sequences: Vec::new(),
            inside: Vec::new(),
            computed: HashSet::new(),
            found: HashMap::new(),
            conditions: HashMap::new(),
        };
        self.read_definitions(&mut reading, &f.body)?;
        self.read_block(&mut reading, &f.body, false)?;
        Ok(reading)
    }

    /// Finds the sequences: one index each, which goes up by one from step to step.
    fn read_definitions<'a>(&mut self, r: &mut Reading<'a>, block: &'a [Stmt]) -> Result<()> {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Let(l) if !l.indices.is_empty() => {
                    let [index] = &l.indices[..] else { return Err(unfit()) };
                    let places = self.integers(&r.steps, index)?;
                    let rises = places.windows(2).all(|w| w[1] == w[0] + 1);
                    let known = r.sequences.iter().find(|s| s.name.name == l.name.name);
                    if !rises || places[0] < 1 || known.is_some_and(|s| s.first != places[0]) {
                        return Err(unfit());
                    }
                    if known.is_none() {
                        r.sequences.push(Defined { name: &l.name, first: places[0], lags: 0 });
                    }
                }
                StmtKind::If(i) => {
                    self.read_definitions(r, &i.then)?;
                    self.read_definitions(r, &i.otherwise)?;
                }
                StmtKind::Let(_) => {}
                _ => return Err(unfit()),
            }
        }
        Ok(())
    }

    /// `chosen`: whether only some steps take these statements.
    fn read_block<'a>(&mut self, r: &mut Reading<'a>, block: &'a [Stmt], chosen: bool) -> Result<()> {
        for stmt in block {
            self.b.set_span(Some(stmt.span));
            match &stmt.kind {
                StmtKind::Let(l) if l.indices.is_empty() => {
                    if !chosen && !r.is_inside(&l.value) && self.name_of_steps(&mut r.steps, l)? {
                        continue;
                    }
                    self.hoist(r, &l.value)?;
                    r.inside.push(&l.name.name);
                    r.computed.insert(l.name.span.start);
                }
                StmtKind::Let(l) => self.hoist(r, &l.value)?,
                StmtKind::If(i) => {
                    let truth = self.numbers(&r.steps, &i.condition)?;
                    r.conditions.insert(&i.condition, truth.into_iter().map(|x| x != 0.0).collect());
                    self.read_block(r, &i.then, true)?;
                    self.read_block(r, &i.otherwise, true)?;
                }
                _ => return Err(unfit()),
            }
        }
        Ok(())
    }

    /// Computes the largest parts of an expression that the step need not compute.
    fn hoist<'a>(&mut self, r: &mut Reading<'a>, e: &'a Expr) -> Result<()> {
        if self.earlier(r, e)? {
            return Ok(());
        }
        if !r.is_inside(e)
            && let Some(found) = self.outside(r, e)?
        {
            r.found.insert(e, found);
            return Ok(());
        }
        match &e.kind {
            // What the step computes is known by its name there.
            ExprKind::Name(name) if r.inside.contains(&name.as_str()) => Ok(()),
            ExprKind::Name(_) | ExprKind::Real(_) | ExprKind::Int(_) | ExprKind::Str(_) => Err(unfit()),
            _ => parts::children(e).into_iter().try_for_each(|c| self.hoist(r, c)),
        }
    }

    /// An expression without anything that the step computes, in all steps at once; None if only its parts
    /// can be had, or the step computes it as fast.
    fn outside(&mut self, r: &Reading, e: &Expr) -> Result<Option<Found>> {
        let lanes = &r.steps.lanes;
        match self.lane(lanes, e) {
            Some(Lane::Fixed) => Ok(Some(Found::Fixed(self.expr(e)?))),
            Some(Lane::Each) => {
                let value = self.expr(e)?;
                if is_arithmetic(e) && self.b.constant_of(value.node).is_none() {
                    return Ok(None);
                }
                let node = self.b.broadcast_to(value.node, &[r.steps.count]);
                Ok(Some(Found::Step(Value { node, ..value })))
            }
            None => self.row(r, e),
        }
    }

    /// `x[t]`, `x[t, 1..K]`: a part of an array whose first index is that of the step.
    fn row(&mut self, r: &Reading, e: &Expr) -> Result<Option<Found>> {
        let ExprKind::Index { base, indices } = &e.kind else { return Ok(None) };
        let lanes = &r.steps.lanes;
        let [Index::At(first), rest @ ..] = &indices[..] else { return Ok(None) };
        if self.lane(lanes, base) != Some(Lane::Fixed) || self.lane(lanes, first) != Some(Lane::Each) {
            return Ok(None);
        }
        for index in rest {
            let fixed = parts::index_children(index)
                .into_iter()
                .all(|e| self.lane(lanes, e) == Some(Lane::Fixed) && self.fixed_rank(e, 0).is_some());
            if !fixed {
                return Ok(None);
            }
        }
        let value = self.expr(e)?;
        let fits = self.b.dims(value.node).first() == Some(&r.steps.count);
        Ok(fits.then_some(Found::Step(value)))
    }

    /// `s[t-1]`, `s[t-2..t-1]`: elements of a sequence that the loop defines. False if it is something else.
    fn earlier<'a>(&mut self, r: &mut Reading<'a>, e: &'a Expr) -> Result<bool> {
        let ExprKind::Index { base, indices } = &e.kind else { return Ok(false) };
        let ExprKind::Name(name) = &base.kind else { return Ok(false) };
        let Some(sequence) = r.sequences.iter().position(|s| s.name.name == *name) else { return Ok(false) };
        let [index, rest @ ..] = &indices[..] else { return Err(unfit()) };
        let first = r.sequences[sequence].first;
        let (lags, stacked) = match index {
            Index::At(at) => {
                let places = self.integers(&r.steps, at)?;
                if rest.is_empty() && places[0] >= 1 && places.iter().all(|&p| p == places[0] && p < first) {
                    let value = self.element(name, &[places[0] as usize], e.span)?;
                    r.found.insert(e, Found::Fixed(value));
                    return Ok(true);
                }
                (vec![lag(first, &places)?], false)
            }
            Index::Range { from: Some(from), to: Some(to), .. } => {
                let (from, to) = (self.integers(&r.steps, from)?, self.integers(&r.steps, to)?);
                ((lag(first, &to)?..=lag(first, &from)?).rev().collect(), true)
            }
            Index::Range { .. } | Index::All(_) => return Err(unfit()),
        };
        if lags.is_empty() || lags.len() > MOST_LAGS {
            return Err(unfit());
        }
        for e in rest.iter().flat_map(parts::index_children) {
            self.hoist(r, e)?;
        }
        let defined = &mut r.sequences[sequence];
        defined.lags = lags.iter().copied().fold(defined.lags, usize::max);
        r.found.insert(e, Found::Earlier { sequence, lags, stacked });
        Ok(true)
    }
}

/// Whether an expression is arithmetic that a step does by an instruction: that costs less than a pass over
/// all steps.
fn is_arithmetic(e: &Expr) -> bool {
    const INSTRUCTIONS: [&str; 5] = ["sqrt", "square", "exp", "log", "inv"];
    match &e.kind {
        ExprKind::Unary(op, _) => *op == UnaryOp::Neg,
        ExprKind::Binary(BinaryOp::Pow, _, exponent) => matches!(exponent.kind, ExprKind::Int(2)),
        ExprKind::Binary(op, ..) => matches!(
            op,
            BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::ElemMul
                | BinaryOp::Div
                | BinaryOp::ElemDiv
        ),
        ExprKind::Call { name, .. } => INSTRUCTIONS.contains(&name.name.as_str()),
        _ => false,
    }
}

/// Most elements that one expression reads.
const MOST_LAGS: usize = 64;

/// How many steps back places lie, the same in every step.
fn lag(first: i64, places: &[i64]) -> Result<usize> {
    let back = |(step, place): (usize, &i64)| first + step as i64 - place;
    let lag = places.iter().enumerate().map(back).reduce(|a, b| if a == b { a } else { -1 });
    lag.and_then(|lag| usize::try_from(lag).ok()).ok_or_else(unfit)
}

impl Reading<'_> {
    /// Whether an expression needs something that the step computes.
    fn is_inside(&self, e: &Expr) -> bool {
        let mut names = Vec::new();
        parts::mentioned(e, &mut names);
        names.iter().any(|name| self.inside.contains(name) || self.steps.lanes.defining.contains(name))
    }
}
