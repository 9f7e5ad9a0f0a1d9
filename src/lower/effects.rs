//! Coordinates for hierarchical effects: as declared, standardised, or blends of the two.
//!
//! An effect `x ~ normal(m, s)` whose scale is itself unknown can have any of the coordinates `w = b m + s^b
//! (x - m) / s`: for b = 1 that is x, for b = 0 the standardised deviation. The values reported are the same;
//! the shape of the posterior in the coordinates is not.

use super::axes::{self, Axes};
use super::dist::Dist;
use super::env::Value;
use super::{Form, Lowerer, Named, Parameter, Result, TermKind, at};
use crate::dist::{BaseArg, Distribution, End, Support};
use crate::graph::NodeId;
use crate::model;
use crate::ops::scalar;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{BaseType, DistKind, ExprKind, ParamDecl, Program, Sample, Stmt, StmtKind};

/// Which coordinates hierarchical effects get, where the model does not say `centered` or `noncentered`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Coordinates {
    /// The effects themselves.
    #[default]
    Declared,
    /// Standardised deviations.
    Standardised,
    /// Blends: for each effect by name, the weight of the effect itself for each of its elements. Effects not
    /// named are standardised.
    Blended(Vec<(String, Vec<f64>)>),
    /// The effects themselves; loops that lead from state to state are nodes, whose states may become
    /// coordinates.
    States,
    /// The effects themselves; arrays of numbers between constant bounds are coordinates themselves, as if
    /// they had none.
    Unbounded,
}

impl Coordinates {
    /// Whether effects keep their own.
    pub(super) fn keep_effects(&self) -> bool {
        matches!(self, Coordinates::Declared | Coordinates::States | Coordinates::Unbounded)
    }
}

/// An effect that got other coordinates than its own values.
#[derive(Debug)]
pub struct Effect {
    /// Its place among the parameters.
    pub parameter: usize,
    /// Its location and scale, where blends are possible.
    pub location_scale: Option<[NodeId; 2]>,
}

/// An effect declared before the statement that describes it.
pub(super) struct Pending {
    name: String,
    parameter: usize,
    dims: Vec<usize>,
    axes: Axes,
    z: NodeId,
}

/// The form of a distribution with standardised coordinates on the whole line, if it has one.
fn standardised(row: &'static Distribution) -> Option<&'static crate::dist::Noncentered> {
    let whole = |s: Support| match s {
        Support::Interval(End::At(a), End::At(b)) => [a, b] == [f64::NEG_INFINITY, f64::INFINITY],
        _ => false,
    };
    row.noncentered.as_ref().filter(|n| whole(n.base.support))
}

impl Lowerer<'_> {
    /// Lowers a declaration with other coordinates, if the choice asks for it and the prior allows it.
    pub(super) fn effect(
        &mut self,
        p: &ParamDecl,
        prior: Option<&Dist>,
        dims: &[usize],
        axes: &Axes,
        span: Span,
    ) -> Result<bool> {
        if self.coordinates.keep_effects() || p.centering.is_some() || !plain_type(p) {
            return Ok(false);
        }
        match prior {
            Some(Dist::Row { row, args, .. }) => {
                let varies = args.iter().any(|a| self.b.constant_of(*a).is_none());
                if standardised(row).is_none() || !varies {
                    return Ok(false);
                }
                let pending = self.reserve(p, dims, axes);
                self.describe(&pending, row, args, span)?;
                let node = self.parameters[pending.parameter].named.node;
                self.define(&p.name, Value::real(node, false).along(pending.axes))?;
                Ok(true)
            }
            Some(_) => Ok(false),
            None if self.split.contains(&p.name.name) => {
                let pending = self.reserve(p, dims, axes);
                self.pending.push(pending);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Gives an effect its coordinates; its value follows.
    fn reserve(&mut self, p: &ParamDecl, dims: &[usize], axes: &Axes) -> Pending {
        let offset = self.dimension;
        let size = dims.iter().product();
        self.dimension += size;
        let z = self.b.input(offset, dims.to_vec());
        self.parameters.push(Parameter {
            named: Named { name: p.name.name.clone(), node: z, labels: axes::labels(axes, dims.len()) },
            support: "real".into(),
            offset,
            size,
            improper: false,
            unproved: false,
            form: Form::Noncentered,
        });
        let parameter = self.parameters.len() - 1;
        Pending { name: p.name.name.clone(), parameter, dims: dims.to_vec(), axes: axes.clone(), z }
    }

    /// The statement about an effect that waits for it; false if none does.
    pub(super) fn pending_effect(&mut self, s: &Sample, span: Span) -> Result<bool> {
        let ExprKind::Name(name) = &s.value.kind else { return Ok(false) };
        let Some(k) = self.pending.iter().position(|p| p.name == *name) else { return Ok(false) };
        let pending = self.pending.swap_remove(k);
        let Dist::Row { row, args, .. } = self.dist(&s.dist)? else {
            return Err(Diagnostic::error("cannot-noncenter", "only a plain prior can be standardised")
                .label(s.dist.span, ""));
        };
        self.describe(&pending, row, &args, span)?;
        let node = self.parameters[pending.parameter].named.node;
        self.env.set(name, super::env::Binding::Value(Value::real(node, false).along(pending.axes)));
        Ok(true)
    }

    /// Value and prior of an effect.
    fn describe(
        &mut self,
        pending: &Pending,
        row: &'static Distribution,
        args: &[NodeId],
        span: Span,
    ) -> Result<()> {
        let Some(form) = standardised(row) else {
            return Err(Diagnostic::error(
                "cannot-noncenter",
                format!("`{}` has no non-centred form", row.name),
            )
            .label(span, ""));
        };
        let location_scale = row.location_scale().map(|[l, s]| [args[l], args[s]]);
        let blend = match &self.coordinates {
            Coordinates::Blended(all) => all.iter().find(|(name, _)| *name == pending.name),
            Coordinates::Declared
            | Coordinates::Standardised
            | Coordinates::States
            | Coordinates::Unbounded => None,
        };
        let blend =
            blend.map(|(_, b)| b.clone()).filter(|b| b.len() == pending.dims.iter().product::<usize>());
        let mut z = pending.z;
        let mut jacobian = None;
        if let (Some(blend), Some([location, scale])) = (blend, location_scale) {
            let b = &mut self.b;
            let blend = b.constant(blend, pending.dims.clone());
            let log_scale = b.unary(&scalar::LOG, scale);
            let share = at(b.mul(blend, log_scale), span)?;
            let divisor = b.unary(&scalar::EXP, share);
            let shift = at(b.mul(blend, location), span)?;
            let moved = at(b.sub(z, shift), span)?;
            z = at(b.div(moved, divisor), span)?;
            let total = at(b.sum(share, None), span)?;
            let minus = b.number(-1.0);
            jacobian = Some(at(b.mul(minus, total), span)?);
        }
        let base_nodes: Vec<NodeId> = form
            .base_args
            .iter()
            .map(|a| match a {
                BaseArg::Number(x) => self.b.number(*x),
                BaseArg::Arg(k) => args[*k],
            })
            .collect();
        let prior = at(crate::dist::log_density_sum(&mut self.b, form.base, z, &base_nodes, None), span)?;
        let node = at((form.build)(&mut self.b, z, args), span)?;
        if self.b.dims(node) != pending.dims {
            return Err(Diagnostic::error(
                "shape-mismatch",
                format!("the prior of `{}` does not fit its shape", pending.name),
            )
            .label(span, ""));
        }
        self.term(prior, TermKind::Prior, span);
        if let Some(jacobian) = jacobian {
            self.term(jacobian, TermKind::Jacobian, span);
        }
        self.parameters[pending.parameter].named.node = node;
        if args.iter().any(|a| self.b.constant_of(*a).is_none()) {
            self.effects.push(Effect { parameter: pending.parameter, location_scale });
        }
        Ok(())
    }
}

/// Whether a declaration leaves the values free: no bounds, offset or special type.
fn plain_type(p: &ParamDecl) -> bool {
    p.ty.as_ref().is_none_or(|ty| {
        ty.base == BaseType::Real
            && ty.lower.is_none()
            && ty.upper.is_none()
            && ty.offset.is_none()
            && ty.multiplier.is_none()
    })
}

/// Parameters without a prior on their line that one later statement describes whole, with nothing in between
/// that uses them: their coordinates can be chosen when that statement is read.
pub(super) fn split_effects(program: &Program, source: &str) -> Vec<String> {
    let statements = &program.statements;
    let candidate = |(place, stmt): (usize, &Stmt)| {
        let StmtKind::Param(p) = &stmt.kind else { return None };
        if p.prior.is_some() || p.centering.is_some() || !plain_type(p) {
            return None;
        }
        let name = &p.name.name;
        let next = statements[place + 1..].iter().find(|s| mentions(s, name, source))?;
        let StmtKind::Sample(s) = &next.kind else { return None };
        let whole = matches!(&s.value.kind, ExprKind::Name(n) if n == name);
        let DistKind::Call { name: dist, args } = &s.dist.kind else { return None };
        let row = crate::dist::find(&dist.name)?;
        let again = args.iter().any(|a| model::has_word(a.value.span.text(source), name));
        (whole && !again && s.weight.is_none() && standardised(row).is_some()).then(|| name.clone())
    };
    let mut names: Vec<String> = statements.iter().enumerate().filter_map(candidate).collect();
    let mut described = Vec::new();
    model::described_names(statements, &mut described);
    names.retain(|n| described.iter().filter(|d| *d == n).count() == 1);
    names
}

fn mentions(stmt: &Stmt, name: &str, source: &str) -> bool {
    model::has_word(stmt.span.text(source), name)
}
