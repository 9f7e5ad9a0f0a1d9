//! Declared data meet the files: values, sizes, categories, missing cells.

use super::env::{Binding, Value};
use super::param::Region;
use super::{Lowerer, Result};
use crate::data::{Found, Levels, Limit, Missing, Side, listed};
use crate::dist::{End, Support};
use crate::model::{Problems, data_declarations, declared_names, listed_levels, taken_twice};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{
    BaseType, DataDecl, DataSource, DistKind, Expr, ExprKind, Program, Sample, StmtKind, TypeExpr,
};
use crate::transform;
use std::collections::HashMap;
use std::sync::Arc;

/// The categories that share a name for their number of levels.
struct Family<'d> {
    columns: Vec<Found<'d>>,
    levels: Arc<Levels>,
}

/// The ends between which the distribution of a column declared `missing` without bounds has its values,
/// where these are numbers: empty cells have their support from it, as a parameter has from its prior.
fn described_ends(program: &Program, decl: &DataDecl) -> Option<[f64; 2]> {
    if !decl.missing || decl.ty.lower.is_some() || decl.ty.upper.is_some() {
        return None;
    }
    let number = |end: End| match end {
        End::At(x) | End::Past(x) => Some(x),
        End::Arg(_) | End::Length(_) => None,
    };
    program.statements.iter().find_map(|stmt| {
        let StmtKind::Sample(Sample { value, dist, .. }) = &stmt.kind else { return None };
        let whole = matches!(&value.kind, ExprKind::Name(name) if *name == decl.name.name);
        let DistKind::Call { name, .. } = &dist.kind else { return None };
        let Support::Interval(low, high) = crate::dist::find(&name.name).filter(|_| whole)?.support else {
            return None;
        };
        Some([number(low)?, number(high)?])
    })
}

impl<'d> Lowerer<'d> {
    /// An error is one that leaves nothing to go on with; others are noted.
    pub(super) fn bind_data(&mut self, program: &Program, problems: &mut Problems) -> Result<()> {
        let declared = data_declarations(program);
        self.ends_of_missing = declared
            .iter()
            .filter_map(|d| Some((d.name.name.clone(), described_ends(program, d)?)))
            .collect();
        let families = match self.families(&declared) {
            Ok(families) => families,
            Err(problem) => {
                self.tell_absent(&declared, &problem, problems);
                return Err(problem);
            }
        };
        let mut disputed: Vec<String> = Vec::new();
        for (k, decl) in declared.iter().enumerate() {
            self.b.set_span(Some(decl.span));
            if declared[..k].iter().any(|d| d.name.name == decl.name.name) {
                continue;
            }
            if let Err(problem) = self.declaration(decl, &families) {
                // Arrays that do not agree about one size are one problem.
                let size = problem.labels.first().map(|l| l.span.text(self.source).to_string());
                let told =
                    problem.code == "data-shape" && size.as_ref().is_some_and(|s| disputed.contains(s));
                if problem.code == "data-shape" && !told {
                    disputed.extend(size);
                }
                let lost = declared_names(decl).into_iter().filter(|name| self.env.get(name).is_none());
                match told {
                    true => problems.lose(lost.collect()),
                    false => problems.add(problem, lost.collect(), self.source),
                }
            }
        }
        Ok(())
    }

    /// Notes which other arrays the data do not have, where a category is a problem that leaves nothing to go
    /// on with: one run tells all names.
    fn tell_absent(&mut self, declared: &[&DataDecl], problem: &Diagnostic, problems: &mut Problems) {
        for decl in declared {
            let other = match decl.ty.base {
                BaseType::Category => self.category_column(decl).err(),
                _ => self.declaration(decl, &HashMap::new()).err(),
            };
            if let Some(other) = other.filter(|e| e.code == "unknown-column" && e.message != problem.message)
            {
                problems.add(other, declared_names(decl), self.source);
            }
        }
    }

    /// Levels of all categories, so that a size such as `J` is known wherever it is used.
    fn families(&mut self, declared: &[&DataDecl]) -> Result<HashMap<String, Family<'d>>> {
        let mut families: HashMap<String, Family<'d>> = HashMap::new();
        for decl in declared.iter().filter(|d| d.ty.base == BaseType::Category) {
            let key = decl.ty.levels_name.as_ref().map_or(decl.name.name.clone(), |n| n.name.clone());
            let found = self.category_column(decl)?;
            families
                .entry(key)
                .or_insert_with(|| Family { columns: Vec::new(), levels: Arc::default() })
                .columns
                .push(found);
        }
        for decl in declared.iter().filter(|d| d.ty.base == BaseType::Category) {
            let key = decl.ty.levels_name.as_ref().map_or(decl.name.name.clone(), |n| n.name.clone());
            let Some(family) = families.get_mut(&key) else { continue };
            if let Some(size) = &decl.ty.levels_name {
                self.env.set_level_count(&decl.name.name, &size.name);
            }
            if !family.levels.is_empty() {
                continue;
            }
            let columns: Vec<&Found> = family.columns.iter().collect();
            let given = listed_levels(declared, decl)?;
            let levels = match (given, self.data_integer(&key)?) {
                (Some(given), _) => {
                    let labels: Vec<&str> = given.iter().map(|l| l.text.as_str()).collect();
                    Levels::given(&labels).map_err(|e| marked(e, decl.ty.span))?
                }
                (None, Some(size)) => Levels::counted(&columns, size, &key)?,
                (None, None) => {
                    self.warn_levels_apart(&decl.name, &key, &columns);
                    let levels = Levels::sorted(&columns);
                    self.warn_levels_alike(&decl.name, levels.labels());
                    levels
                }
            };
            if let Some(name) = &decl.ty.levels_name {
                self.bind_size(&name.name, levels.len(), name.span)?;
            }
            family.levels = Arc::new(levels);
            if let Some(name) = &decl.ty.levels_name {
                self.env.set_levels(&name.name, family.levels.clone());
            }
        }
        Ok(families)
    }

    fn category_column(&self, decl: &DataDecl) -> Result<Found<'d>> {
        if let Some(DataSource::Columns { patterns, .. }) = &decl.source {
            return self.columns(decl, patterns.iter().map(|p| p.text.as_str()).collect());
        }
        let found = self.data.find_category(&decl.name.name).map_err(|e| marked(e, decl.span))?;
        match found {
            Some(found) => Ok(found),
            None => self.required(decl),
        }
    }

    /// What the data have of the declared name.
    fn required(&self, decl: &DataDecl) -> Result<Found<'d>> {
        let found = self.data.require_for(&decl.name.name, decl.span.text(self.source));
        found.map_err(|e| marked(e, decl.span))
    }

    fn columns(&self, decl: &DataDecl, patterns: Vec<&str>) -> Result<Found<'d>> {
        let single = matches!(&decl.source, Some(DataSource::Columns { single: true, .. }));
        match patterns.as_slice() {
            [one] if single => self.data.column(&decl.name.name, one),
            many => self.data.columns(&decl.name.name, many),
        }
        .map_err(|e| marked(e, decl.span))
    }

    fn declaration(&mut self, decl: &DataDecl, families: &HashMap<String, Family<'d>>) -> Result<()> {
        let name = &decl.name.name;
        let found = match &decl.source {
            Some(DataSource::Columns { patterns, .. }) => {
                self.columns(decl, patterns.iter().map(|p| p.text.as_str()).collect())?
            }
            Some(DataSource::Default(e)) => match self.data.find(name).map_err(|e| marked(e, decl.span))? {
                Some(found) => found,
                None => {
                    // A size that other data have is no longer open.
                    let value = match self.size_of_name(name).filter(|_| decl.ty.dims.is_empty()) {
                        Some(size) => size,
                        None => Value { from_data: true, ..self.default_value(decl, e)? },
                    };
                    self.warn_default(decl);
                    self.bind_value(decl, value);
                    return Ok(());
                }
            },
            None if decl.ty.base == BaseType::Category => self.category_column(decl)?,
            None => match self.data.find(name) {
                Ok(Some(found)) => found,
                Ok(None) => match self.size_of_name(name) {
                    Some(value) => {
                        self.env.set_everywhere(name, Binding::Value(value));
                        return Ok(());
                    }
                    None => {
                        let error =
                            self.required(decl).err().unwrap_or_else(|| self.unknown(name, decl.span));
                        // A table has no place for one number.
                        let open = decl.ty.dims.is_empty() && !self.data.is_empty();
                        let is_size = [format!("[{name}]"), format!("[{name},"), format!(", {name}]")];
                        if open && is_size.iter().any(|size| self.source.contains(size.as_str())) {
                            return Err(error.help(format!(
                                "leave `{}` out: `{name}` follows from the data that have this size",
                                decl.span.text(self.source)
                            )));
                        }
                        return Err(match open {
                            true => error.help(format!("or give the number with `--set {name}=...`")),
                            false => error,
                        });
                    }
                },
                Err(e) => return Err(marked(e, decl.span)),
            },
        };
        self.warn_taken_twice(decl, &found);
        let found = self.matched(found, &decl.ty, families).map_err(|e| marked(e, decl.span))?;
        let found = if decl.ty.dims.is_empty() {
            found.as_scalar().map_err(|e| marked(e, decl.span))?
        } else {
            found
        };
        self.check_shape(&found, decl)?;
        self.check_tables(&found, decl)?;
        self.note_columns(&found, decl);
        let value = self.values(&found, decl, families)?;
        self.bind_value(decl, value);
        Ok(())
    }

    /// Notes which columns the places of an axis stand for, where several may be.
    fn note_columns(&mut self, found: &Found, decl: &DataDecl) {
        let (Some(names), Some(Expr { kind: ExprKind::Name(size), .. })) =
            (found.column_names(), decl.ty.dims.get(1))
        else {
            return;
        };
        if names.len() > 1 {
            let numbered = names.iter().zip(1..).map(|(name, k)| format!("{k} {name}")).collect::<Vec<_>>();
            self.legend.push(format!("along {size}: {}", listed(&numbered)));
        }
    }

    /// Warns of a glob that takes a column which is declared by itself: an outcome among its own predictors
    /// explains itself.
    fn warn_taken_twice(&mut self, decl: &DataDecl, found: &Found) {
        let Some(DataSource::Columns { patterns, single: false }) = &decl.source else { return };
        let by_itself = |name: &&str| {
            self.data_places.iter().any(|(declared, _)| declared == name)
                && patterns.iter().all(|p| p.text != *name)
        };
        let names = found.column_names().unwrap_or_default();
        let twice: Vec<String> = names.into_iter().filter(by_itself).map(|n| format!("`{n}`")).collect();
        if !twice.is_empty() {
            self.warnings.push(taken_twice(&decl.name.name, &twice, patterns));
        }
    }

    /// Binds a value of the data; a single integer may be a size, and sizes are seen everywhere.
    fn bind_value(&mut self, decl: &DataDecl, value: Value) {
        let name = &decl.name.name;
        let value = value.along(self.counted_axes(&decl.ty.dims));
        if decl.ty.dims.is_empty() && value.integer {
            self.env.set_everywhere(name, Binding::Value(value));
        } else {
            self.env.set(name, Binding::Value(value));
        }
    }

    /// Warns of a default that counts because the data spell the name in another way.
    fn warn_default(&mut self, decl: &DataDecl) {
        let name = &decl.name.name;
        let Some(near) = self.data.nearly(name) else { return };
        let declared = self.data_places.iter().any(|(other, _)| other == near);
        if declared {
            return;
        }
        self.warnings.push(
            Diagnostic::warning(
                "default-used",
                format!("the data have `{near}` and no `{name}`: its default counts"),
            )
            .label(decl.span, "")
            .help(format!("if `{near}` is meant, call it so in the model, or `{name}` in the data")),
        );
    }

    /// `N : int` where N is not in the data but follows from the shape of something declared before.
    fn size_of_name(&self, name: &str) -> Option<Value> {
        match self.env.get(name) {
            Some(Binding::Value(v)) => Some(v.clone()),
            Some(Binding::Elements(_) | Binding::Function(_)) | None => None,
        }
    }

    /// One row for each level of a category: put in the order of the levels.
    fn matched(
        &self,
        found: Found<'d>,
        ty: &TypeExpr,
        families: &HashMap<String, Family<'d>>,
    ) -> Result<Found<'d>> {
        let first = ty.dims.first().and_then(|e| match &e.kind {
            ExprKind::Name(name) => families.get(name),
            _ => None,
        });
        match first.and_then(|f| f.columns.first().map(|c| (c, &f.levels))) {
            Some((category, levels)) => found.matched(category, levels),
            None => Ok(found),
        }
    }

    /// Refuses rows of another table than that which gave the size, where columns of both say that they do
    /// not go together.
    fn check_tables(&mut self, found: &Found<'d>, decl: &DataDecl) -> Result<()> {
        let Some(Expr { kind: ExprKind::Name(size), .. }) = decl.ty.dims.first() else { return Ok(()) };
        match self.size_tables.iter().find(|(name, _)| name == size) {
            Some((_, first)) => first.check_beside(found).map_err(|e| marked(e, decl.span)),
            None if found.in_table() => {
                self.size_tables.push((size.clone(), found.clone()));
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn check_shape(&mut self, found: &Found, decl: &DataDecl) -> Result<()> {
        let shape = found.shape().to_vec();
        if shape.len() != decl.ty.dims.len() {
            return Err(Diagnostic::error(
                "data-shape",
                format!(
                    "`{}` is declared with {}, and the data give it {}",
                    decl.name.name,
                    axes(decl.ty.dims.len()),
                    axes(shape.len())
                ),
            )
            .label(decl.ty.span, "")
            .note(format!("found: {}", found.describe()))
            .help("write one size for each axis: `real[N]` for a column, `real[N, D]` for a matrix"));
        }
        for (e, &n) in decl.ty.dims.iter().zip(&shape) {
            match &e.kind {
                ExprKind::Name(size) if self.env.get(size).is_none() => {
                    self.size_origins.push((size.clone(), decl.name.name.clone()));
                    self.bind_size(size, n, e.span)
                        .map_err(|error| error.note(format!("found: {}", found.describe())))?;
                }
                _ => {
                    let wanted = self.integer(e)?;
                    if wanted != n as i64 {
                        return Err(self.size_mismatch(found, decl, e, wanted, n));
                    }
                }
            }
        }
        Ok(())
    }

    fn size_mismatch(&self, found: &Found, decl: &DataDecl, e: &Expr, wanted: i64, n: usize) -> Diagnostic {
        let size = e.span.text(self.source);
        Diagnostic::error(
            "data-shape",
            format!("`{}` has size {n} where `{size}` is {wanted}", decl.name.name),
        )
        .label(
            e.span,
            match (&e.kind, self.size_origins.iter().find(|(name, _)| name == size)) {
                (ExprKind::Int(_), _) => String::new(),
                (_, Some((_, origin))) => format!("{wanted}, the size of `{origin}`"),
                (_, None) => format!("{wanted} from what was read before"),
            },
        )
        .note(format!("found: {}", found.describe()))
        .help("arrays declared with one size must have one length; use another name for another size")
    }

    /// Binds a size; the data may give it too, and must then agree.
    pub(super) fn bind_size(&mut self, name: &str, n: usize, span: Span) -> Result<()> {
        let given = self.data_integer(name)?;
        let node = self.b.number(n as f64);
        self.env.set_everywhere(name, Binding::Value(Value::integer(node, false)));
        match given.filter(|&given| given != n) {
            None => Ok(()),
            // Said once: what has the same length as this is not wrong for another reason.
            Some(given) => {
                let message = format!("the data say that `{name}` is {given}, and here it is {n}");
                let place = self.data.find(name).ok().flatten().map(|found| found.place(0));
                let error = Diagnostic::error("data-shape", message).label(span, "").help(format!(
                    "correct `{name}` in the data or leave it out: sizes follow from the arrays"
                ));
                Err(place.into_iter().fold(error, Diagnostic::place))
            }
        }
    }

    /// A size given in the data as a scalar.
    fn data_integer(&self, name: &str) -> Result<Option<usize>> {
        let Some(found) = self.data.find(name).ok().flatten().filter(|f| f.shape().is_empty()) else {
            return Ok(None);
        };
        let value = found.as_int()?;
        Ok(value.first().and_then(|&n| usize::try_from(n).ok()))
    }

    fn values(
        &mut self,
        found: &Found<'d>,
        decl: &DataDecl,
        families: &HashMap<String, Family<'d>>,
    ) -> Result<Value> {
        let shape = found.shape().to_vec();
        let mark = |e| marked(e, decl.span);
        let (numbers, integer, levels): (Arc<[f64]>, bool, Option<Arc<Levels>>) = match decl.ty.base {
            BaseType::Real => {
                let missing = if decl.missing { Missing::Keep } else { Missing::Refuse };
                (found.as_real(missing).map_err(mark)?, false, None)
            }
            BaseType::Int => (found.as_whole().map_err(mark)?, true, None),
            BaseType::Binary => (found.as_binary().map_err(mark)?, true, None),
            BaseType::Count => (found.as_count().map_err(mark)?, true, None),
            BaseType::Category => {
                let key = decl.ty.levels_name.as_ref().map_or(&decl.name.name, |n| &n.name);
                let levels = families.get(key).map(|f| f.levels.clone()).unwrap_or_default();
                let codes = found.as_category(&levels).map_err(mark)?;
                self.category_columns.push((decl.name.name.clone(), found.clone()));
                (codes.into_iter().map(|c| c as f64).collect(), true, Some(levels))
            }
            BaseType::Simplex
            | BaseType::Ordered
            | BaseType::PositiveOrdered
            | BaseType::UnitVector
            | BaseType::SumToZero
            | BaseType::CorrMatrix
            | BaseType::CovMatrix
            | BaseType::CholeskyCorr
            | BaseType::CholeskyCov => (found.as_real(Missing::Refuse).map_err(mark)?, false, None),
        };
        self.check_limits(found, &numbers, decl)?;
        check_structure(&numbers, &shape, decl)?;
        if decl.missing && numbers.iter().any(|x| x.is_nan()) {
            let empty = (0..numbers.len()).filter(|&i| numbers[i].is_nan()).map(|i| found.locate(i));
            let places = listed(&empty.collect::<Vec<_>>());
            self.legend.push(format!(
                "{}_missing: the empty cells at {places} of {}",
                decl.name.name,
                found.file()
            ));
            return self.with_missing(&numbers, shape, decl);
        }
        let node = self.b.constant(numbers, shape);
        Ok(Value { levels, ..Value::plain(node, integer, true) })
    }

    fn check_limits(&mut self, found: &Found, numbers: &[f64], decl: &DataDecl) -> Result<()> {
        for (bound, side) in [(&decl.ty.lower, Side::Lower), (&decl.ty.upper, Side::Upper)] {
            let Some(bound) = bound else { continue };
            let value = self.expr(&bound.value)?;
            let Some(at) = self.b.constant_of(value.node).cloned() else { continue };
            found
                .check_limit(numbers, &Limit { side, at: &at, closed: bound.closed })
                .map_err(|e| marked(e, decl.ty.span))?;
        }
        Ok(())
    }

    /// Empty cells become latents called `NAME_missing`.
    fn with_missing(&mut self, numbers: &[f64], shape: Vec<usize>, decl: &DataDecl) -> Result<Value> {
        let empty: Vec<usize> = (0..numbers.len()).filter(|&i| numbers[i].is_nan()).collect();
        let ends = self.ends_of_missing.get(&decl.name.name).copied();
        let own = match ends.map(|ends| ends.map(|x| (self.b.number(x), x.to_string()))) {
            Some([low, high]) => self.interval(Some(low), Some(high), decl.span)?,
            None => self.region(Some(&decl.ty), None, decl.span)?,
        };
        let region = match own {
            region if region.bounds.iter().all(|&b| self.b.dims(b).is_empty()) => region,
            _ => Region { transform: transform::TABLE[0], bounds: Vec::new(), text: "real".into() },
        };
        let name = format!("{}_missing", decl.name.name);
        let latent = self.constrained(&name, region, &[empty.len()], vec![None], decl.span)?;
        let n = numbers.len();
        // What stands in the empty places is never read; a number there leaves the rest open to analysis.
        let filler = numbers.iter().copied().find(|x| !x.is_nan()).unwrap_or(0.0);
        let filled: Vec<f64> = numbers.iter().map(|&x| if x.is_nan() { filler } else { x }).collect();
        let known = self.b.constant(filled, vec![n]);
        let all = self.b.concat(&[known, latent.node], vec![n + empty.len()]);
        let mut table: Vec<u32> = (0..n as u32).collect();
        empty.iter().enumerate().for_each(|(k, &i)| table[i] = (n + k) as u32);
        let node = self.b.take(all, table, shape);
        Ok(Value::real(node, true))
    }
}

/// Refuses values that are not what a structured type promises: a simplex that does not sum to 1.
fn check_structure(numbers: &[f64], shape: &[usize], decl: &DataDecl) -> Result<()> {
    let Some(transform) = crate::model::transform_of(decl.ty.base).and_then(transform::find) else {
        return Ok(());
    };
    let event: usize = shape.iter().rev().take(transform.event).product();
    for (i, one) in numbers.chunks(event.max(1)).enumerate() {
        // A share of zero is fine in data; only the transform back needs every share to be positive.
        let fits = match decl.ty.base {
            BaseType::Simplex => {
                one.iter().all(|&x| x >= 0.0) && (one.iter().sum::<f64>() - 1.0).abs() <= 1e-8
            }
            _ => (transform.inverse)(one, &[]).is_some(),
        };
        if !fits {
            let which = if numbers.len() > event { format!(" number {}", i + 1) } else { String::new() };
            let shown: Vec<String> = one.iter().take(6).map(f64::to_string).collect();
            let more = if one.len() > 6 { ", ..." } else { "" };
            return Err(Diagnostic::error(
                "data-outside-domain",
                format!("`{}` is declared `{}`, and value{which} is none", decl.name.name, transform.name),
            )
            .label(decl.ty.span, format!("that means {}", transform.doc))
            .note(format!("it is {}{more}", shown.join(", ")))
            .help("correct the data, or declare them `real` if they need not be so"));
        }
    }
    Ok(())
}

fn axes(n: usize) -> String {
    match n {
        0 => "no axis (a scalar)".into(),
        1 => "1 axis".into(),
        n => format!("{n} axes"),
    }
}

/// Adds the declaration to an error of the data room.
fn marked(error: Diagnostic, span: Span) -> Diagnostic {
    if error.labels.is_empty() { error.label(span, "declared here") } else { error }
}
