//! Calls of functions: the tables', and log densities by name.

use super::arguments::with_arguments;
use super::sizes::{Settled, read};
use super::types::{Labels, Type};
use super::{Elaborator, Result};
use crate::dist::Distribution;
use crate::facts::Size;
use crate::func::{self, Function, Ty};
use crate::graph::NodeId;
use crate::ops::scalar::{self, ScalarRow};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Arg, Ident};

/// Endings that turn a distribution's name into a function.
const SUFFIXES: [&str; 4] = ["_lpdf", "_lpmf", "_lcdf", "_lccdf"];

impl Elaborator<'_> {
    pub(super) fn call(&mut self, name: &Ident, args: &[Arg], span: Span) -> Result<Type> {
        if let Some(f) = self.names.function(&name.name) {
            return self.own_function(&f, args, span);
        }
        if super::ode::is_solver(&name.name) {
            return self.ode(args, span);
        }
        if let Some(row) = func::find(&name.name) {
            return self.table_function(row, args, span);
        }
        if let Some(row) = scalar::find(&name.name) {
            return self.elementwise_call(row, args, span);
        }
        if let Some((row, suffix)) = density_function(&name.name) {
            return self.density_function(row, suffix, args, span);
        }
        Err(self.unknown_function(&name.name, name.span))
    }

    fn table_function(&mut self, row: &'static Function, args: &[Arg], span: Span) -> Result<Type> {
        let mut names: Vec<&str> = row.args.iter().map(|a| a.name).collect();
        let mut required: Vec<bool> = row.args.iter().map(|a| !a.optional).collect();
        if row.variadic {
            names.resize(names.len().max(args.len()), "...");
            required.resize(names.len(), false);
        }
        let values = self.arguments(row.name, &names, &required, args, span)?;
        if func::adds(row.name) {
            let given = values.iter().flatten().zip(args);
            given.into_iter().try_for_each(|(v, arg)| self.refuse_category(v, arg.value.span))?;
        }
        let of: Vec<&Type> = values.iter().flatten().collect();
        if of.iter().any(|t| t.shape.is_none()) {
            return Ok(self.computed(row.name, &of, None));
        }
        let ty = self.checked_function(row, &values, args, span)?;
        if row.name == "log_sum_exp" && values.get(1).is_none_or(Option::is_none) {
            self.warn_summed_whole(of[0], span);
        }
        let found = self.called(row, &values, &of, ty);
        match self.folded(row, &values, &found) {
            Some(Ok(node)) => {
                let known = self.constant(node, found.integer);
                Ok(Type { shape: found.shape, value: found.value.or(known.value.clone()), ..known })
            }
            Some(Err(why)) => Err(Diagnostic::error("shape-mismatch", why.to_string()).label(span, "")),
            None => Ok(found),
        }
    }

    /// The type that a function gives, if it takes these arguments.
    fn checked_function(
        &mut self,
        row: &'static Function,
        values: &[Option<Type>],
        args: &[Arg],
        span: Span,
    ) -> Result<Ty> {
        let types: Vec<Option<Ty>> = values.iter().map(|v| v.as_ref().and_then(Type::for_function)).collect();
        let shapes: Vec<&[Size]> = types.iter().flatten().map(|t| &t.shape[..]).collect();
        let settled = self.sizes.clone().settle(&shapes, self.context.open > 0, |reading| {
            let read = |t: &Ty| Ty {
                shape: read(&t.shape, reading),
                integer: t.integer,
                value: t.value.as_ref().map(reading),
            };
            let types: Vec<Option<Ty>> = types.iter().map(|t| t.as_ref().map(read)).collect();
            (row.check)(&types)
        });
        let wrong = |e: String| {
            let error = Diagnostic::error("wrong-argument", format!("`{}`: {e}", row.name)).label(span, "");
            with_arguments(error, row, args)
        };
        match settled {
            Settled::Holds(ty) => Ok(ty),
            Settled::ByChance(ty, e, chance) => {
                self.by_chance(wrong(e), &chance);
                Ok(ty)
            }
            Settled::Fails(e) => Err(wrong(e)),
        }
    }

    /// What is known of the value of a function.
    fn called(&mut self, row: &'static Function, values: &[Option<Type>], of: &[&Type], ty: Ty) -> Type {
        let left_out: Vec<&str> = values.iter().map(|v| if v.is_some() { "x" } else { "_" }).collect();
        let mut found = self.computed(&format!("{} {}", row.name, left_out.join("")), of, Some(ty.shape));
        found.integer = ty.integer;
        if let Some(value) = ty.value {
            // A size is known whatever the array is that has it.
            let constant = self.sizes.number(&value).filter(|_| self.sizes.from_data);
            let constant = constant.map(|n| self.constants.number(n as f64));
            return Type { identity: found.identity, base: found.base, constant, ..Type::size(value) };
        }
        if func::moves(row.name) || func::selects(row.name) {
            let arrays = if func::moves(row.name) { &of[..1] } else { of };
            found.range = arrays[1..].iter().fold(arrays[0].range, |all, t| all.or(t.range));
            found.reached = arrays.iter().all(|t| t.reached);
        }
        if func::moves(row.name) {
            found.base = of[0].base;
            found.through = of[0].through;
        }
        if row.name == "sum" {
            self.follow(&mut found, of);
            found.range =
                if of[0].range.low.at >= 0.0 { crate::facts::Range::NON_NEGATIVE } else { found.range };
        }
        found.labels = result_labels(row.name, of, found.shape.as_deref().unwrap_or(&[]));
        found
    }

    /// The value of a function of what is known already, if it is small.
    fn folded(
        &mut self,
        row: &'static Function,
        values: &[Option<Type>],
        found: &Type,
    ) -> Option<std::result::Result<NodeId, crate::graph::BuildError>> {
        let nodes: Option<Vec<Option<NodeId>>> = values
            .iter()
            .map(|v| match v {
                Some(ty) => ty.constant.map(Some),
                None => Some(None),
            })
            .collect();
        let small = found.shape.as_deref().is_some_and(|shape| self.is_small(shape));
        nodes.filter(|_| small).map(|nodes| (row.build)(&mut self.constants, &nodes))
    }

    fn elementwise_call(&mut self, row: &'static ScalarRow, args: &[Arg], span: Span) -> Result<Type> {
        let required = vec![true; row.args.len()];
        // Within a choice the condition may keep what a function cannot take away from it.
        let choice = usize::from(*row == scalar::WHERE);
        self.context.choices += choice;
        let values = self.arguments(row.name, row.args, &required, args, span);
        self.context.choices -= choice;
        let values: Vec<Type> = values?.into_iter().flatten().collect();
        // Of a choice only the condition is a number.
        let numbers = if choice == 1 { 1 } else { values.len() };
        let mut of_numbers = values.iter().zip(args).take(numbers);
        of_numbers.try_for_each(|(v, arg)| self.refuse_category(v, arg.value.span))?;
        let of: Vec<&Type> = values.iter().collect();
        if (*row == scalar::SQRT || *row == scalar::LOG) && self.context.choices == 0 {
            self.warn_negative(row, of[0], span);
        }
        let shape = self.meet(&of, |l| {
            let shapes: Vec<String> = values.iter().filter(|t| !t.is_scalar()).map(|t| l.shown(t)).collect();
            let message = format!("the shapes {} do not fit together", shapes.join(" and "));
            Diagnostic::error("shape-mismatch", message).label(span, "")
        })?;
        let found = self.elementwise(row, &of, shape);
        let integer = scalar::gives_integers(row, &values.iter().map(|v| v.integer).collect::<Vec<_>>());
        let value = self.number_of(&found).filter(|x| integer && x.fract() == 0.0);
        Ok(Type { integer, value: value.map(|x| Size::integer(x as i64)), ..found })
    }

    fn density_function(
        &mut self,
        row: &'static Distribution,
        suffix: &str,
        args: &[Arg],
        span: Span,
    ) -> Result<Type> {
        let mut names = vec!["x"];
        names.extend(row.args.iter().map(|a| a.name));
        let mut required = vec![true];
        required.extend(row.args.iter().map(|a| a.default.is_none()));
        let mut values = self.arguments(&format!("{}{suffix}", row.name), &names, &required, args, span)?;
        let Some(x) = values.remove(0) else {
            return Err(Diagnostic::error("arity", "a value is needed").label(span, ""));
        };
        let values = self.with_defaults(row, values);
        self.check_integer(row, &x, span)?;
        let missing = match suffix {
            "_lcdf" => row.lcdf.is_none(),
            "_lccdf" => row.lccdf.is_none(),
            _ => false,
        };
        if missing {
            let message = format!("`{}` has no cumulative distribution function here", row.name);
            return Err(Diagnostic::error("no-cdf", message).label(span, ""));
        }
        let shape = self
            .density_shape(row, &x, &values, span)
            .map_err(|why| Diagnostic::error("shape-mismatch", why).label(span, ""))?;
        let of: Vec<&Type> = std::iter::once(&x).chain(&values).collect();
        let found = self.computed(&format!("{}{suffix}", row.name), &of, shape);
        let labels = match row.event {
            0 => self.met_labels(&of, found.shape.as_ref()),
            _ => Labels::new(),
        };
        Ok(Type { labels, ..found })
    }

    pub(super) fn with_defaults(&mut self, row: &Distribution, values: Vec<Option<Type>>) -> Vec<Type> {
        let defaults = row.args.iter().map(|a| a.default.unwrap_or(f64::NAN));
        let pairs: Vec<_> = values.into_iter().zip(defaults).collect();
        pairs.into_iter().map(|(v, d)| v.unwrap_or_else(|| self.literal(d, false))).collect()
    }
}

/// The axes of a function's value: an axis as long as just one axis of its arguments that has levels is that
/// axis.
fn result_labels(function: &str, of: &[&Type], shape: &[Size]) -> Labels {
    if func::reorders(function) {
        return Labels::new();
    }
    let axis = |k: usize| {
        let sized = |t: &&Type| -> Vec<(Size, Option<super::types::Levels>)> {
            t.shape.iter().flatten().cloned().zip(t.axes()).collect()
        };
        let own = of.iter().find(|t| t.rank() == Some(shape.len())).and_then(|t| sized(t)[k].clone().1);
        if own.is_some() {
            return own;
        }
        let all: Vec<_> = of.iter().flat_map(sized).filter(|(size, _)| *size == shape[k]).collect();
        let mut levels = all.iter().filter_map(|(_, levels)| levels.clone());
        let first = levels.next()?;
        levels.all(|other| other == first).then_some(first)
    };
    (0..shape.len()).map(axis).collect()
}

/// The distribution behind a log density that is called as a function, and the ending.
pub fn density_function(name: &str) -> Option<(&'static Distribution, &'static str)> {
    SUFFIXES.iter().find_map(|suffix| Some((crate::dist::find(name.strip_suffix(suffix)?)?, *suffix)))
}
