//! Differential equations: `ode(f, initial, t0, times, ...)`, where `f(t, y, ...)` is a function of the
//! model.

use super::types::Type;
use super::{Elaborator, Result};
use crate::facts::Size;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Arg, ExprKind, FnDecl};
use std::rc::Rc;

/// How to call it, for messages.
const USAGE: &str = "write `ode(f, initial, t0, times, arguments..., rel_tol = 1e-8, abs_tol = 1e-8)` with `fn f(t, y, arguments...)`";

/// Whether a name calls a solver.
pub fn is_solver(name: &str) -> bool {
    matches!(name, "ode" | "ode_stiff")
}

impl Elaborator<'_> {
    pub(super) fn ode(&mut self, args: &[Arg], span: Span) -> Result<Type> {
        let (named, placed): (Vec<&Arg>, Vec<&Arg>) = args.iter().partition(|a| a.name.is_some());
        let [f, initial, start, times, rest @ ..] = &placed[..] else {
            return Err(Diagnostic::error("ode-arguments", "this call of a solver is not complete")
                .label(span, "")
                .help(USAGE));
        };
        let f = self.rate_function(f)?;
        let initial = self.expr(&initial.value)?;
        let (start_ty, times_ty) = (self.expr(&start.value)?, self.expr(&times.value)?);
        known_times(&start_ty, start.value.span)?;
        known_times(&times_ty, times.value.span)?;
        self.check_times(&start_ty, &times_ty, times.value.span)?;
        let rest = rest.iter().map(|a| self.expr(&a.value)).collect::<Result<Vec<Type>>>()?;
        for arg in named {
            self.expr(&arg.value)?;
            let name = arg.name.as_ref().map(|n| n.name.as_str());
            if !matches!(name, Some("rel_tol" | "abs_tol" | "max_steps")) {
                let message = "a solver takes `rel_tol`, `abs_tol` and `max_steps` by name";
                return Err(Diagnostic::error("unknown-argument", message).label(arg.value.span, ""));
            }
        }
        let states = initial.shape.as_deref().map_or(Size::Any, count);
        self.check_rates(&f, &states, &rest, span)?;
        let of: Vec<&Type> = [&initial, &start_ty, &times_ty].into_iter().chain(&rest).collect();
        let shape = times_ty.shape.as_deref().map(|shape| vec![count(shape), states]);
        let from_data = initial.from_data || rest.iter().any(|v| v.from_data);
        // The solution is made anew for each fit, even where nothing in it varies.
        Ok(Type { from_data, fixed: false, ..self.computed(&format!("ode {}", f.name.name), &of, shape) })
    }

    fn rate_function(&self, arg: &Arg) -> Result<Rc<FnDecl>> {
        let ExprKind::Name(name) = &arg.value.kind else {
            return Err(Diagnostic::error("ode-function", "the right-hand side is given by name")
                .label(arg.value.span, "")
                .help(USAGE));
        };
        self.names.function(name).ok_or_else(|| {
            Diagnostic::error("ode-function", format!("`{name}` is not a function of this model"))
                .label(arg.value.span, "")
                .help(USAGE)
        })
    }

    /// Refuses known times that do not increase, or come before the start.
    fn check_times(&self, start: &Type, times: &Type, span: Span) -> Result<()> {
        let (Some(start), Some(times)) = (self.number_of(start), self.numbers_of(times)) else {
            return Ok(());
        };
        let from = std::iter::once(&start).chain(times);
        match from.zip(times).find(|(before, t)| t < before) {
            None => Ok(()),
            Some((before, t)) => Err(unsorted_times(*before, *t, span)),
        }
    }

    /// Refuses a right-hand side that does not give one rate for each number of the state.
    fn check_rates(&mut self, f: &Rc<FnDecl>, states: &Size, rest: &[Type], span: Span) -> Result<()> {
        let time =
            Type { fixed: false, ..self.computed(&format!("time {}", f.name.name), &[], Some(Vec::new())) };
        let state =
            self.computed(&format!("state {} {states}", f.name.name), &[], Some(vec![states.clone()]));
        let state = Type { fixed: false, ..state };
        let values = [time, state].into_iter().chain(rest.iter().cloned()).collect();
        let rate = self.apply(f, values, span).map_err(|e| with_time_first(e, f))?;
        let Some(size) = rate.shape.as_deref().map(count) else { return Ok(()) };
        let differ = size.plus(-1, states);
        let certain = differ.as_integer().is_some_and(|n| n != 0)
            || differ.names().next().is_some() && self.context.open == 0 && !self.sizes.from_data;
        if !certain {
            return Ok(());
        }
        Err(wrong_rates(f.name.name.as_str(), &size.to_string(), &states.to_string(), span)
            .label(f.name.span, "defined here"))
    }
}

/// The error of a right-hand side that gives another number of rates than there are states.
pub fn wrong_rates(f: &str, rates: &str, states: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        "ode-function",
        format!("`{f}` gives {rates} rates, and the initial state has {states} numbers"),
    )
    .label(span, "")
    .help("a function for `ode` gives one rate for each number of the state, in the same order")
}

/// The error of times that do not increase.
pub fn unsorted_times(before: f64, t: f64, span: Span) -> Diagnostic {
    let message = format!(
        "the times of a differential equation increase from the start on, and {t} comes after {before}"
    );
    Diagnostic::error("unsorted-times", message)
        .label(span, "")
        .help("sort the rows of the data by time; the start lies before the first")
}

fn known_times(ty: &Type, span: Span) -> Result<()> {
    if ty.fixed {
        return Ok(());
    }
    let message = "the times of a differential equation must be known before the fit";
    Err(Diagnostic::error("ode-times", message).label(span, ""))
}

/// The number of elements of a shape.
fn count(shape: &[Size]) -> Size {
    shape.iter().fold(Size::known(1), |n, axis| n.times(axis))
}

/// Says which argument is the time, to who has put it behind the state.
fn with_time_first(error: Diagnostic, f: &FnDecl) -> Diagnostic {
    let names: Vec<&str> = f.params.iter().map(|p| p.name.as_str()).collect();
    match names.as_slice() {
        [state, time @ ("t" | "time"), rest @ ..] => {
            let order: Vec<&str> = [*time, *state].into_iter().chain(rest.iter().copied()).collect();
            error.help(format!("the time comes before the state: `fn {}({})`", f.name.name, order.join(", ")))
        }
        _ => error,
    }
}
