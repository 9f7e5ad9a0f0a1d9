//! Declared data: their types, the sizes that they name, the levels of categories, defaults.

use super::constraint::{guaranteed, transform_of};
use super::names::Meaning;
use super::problems::declared_names;
use super::sizes::Sizes;
use super::types::{LevelSet, Levels, Type};
use super::{Elaborator, Result};
use crate::data::{is_glob, matches};
use crate::facts::{Range, Shape, Size};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{BaseType, DataDecl, DataSource, Expr, ExprKind, Program, StmtKind, StrLit};
use std::rc::Rc;

/// What a program declares as data, in order.
pub fn data_declarations(program: &Program) -> Vec<&DataDecl> {
    let data = program.statements.iter().flat_map(|s| match &s.kind {
        StmtKind::Data(d) => d.as_slice(),
        _ => &[],
    });
    data.collect()
}

impl Elaborator<'_> {
    /// Gives all that is declared as data its meaning; what is wrong is noted.
    pub(super) fn data(&mut self) {
        let declared = data_declarations(self.program);
        self.know_sizes(&declared);
        for decl in declared.iter().filter(|d| d.ty.base == BaseType::Category) {
            if let Err(problem) = self.levels_of(&declared, decl) {
                self.problems.add(problem, declared_names(decl), self.source);
            }
        }
        for (k, decl) in declared.iter().enumerate() {
            if let Some(first) = declared[..k].iter().find(|d| d.name.name == decl.name.name) {
                self.problems.add(declared_twice(decl, first), Vec::new(), self.source);
                continue;
            }
            if let Err(problem) = self.declaration(decl) {
                let lost = declared_names(decl).into_iter().filter(|name| self.names.get(name).is_none());
                let lost = lost.collect();
                self.problems.add(problem, lost, self.source);
            }
        }
    }

    /// Notes which sizes count levels, which are numbers among the data, and what the model says they are.
    fn know_sizes(&mut self, declared: &[&DataDecl]) {
        let sizes: &mut Sizes = Rc::make_mut(&mut self.sizes);
        for decl in declared {
            sizes.counts.extend(decl.ty.levels_name.iter().map(|name| name.name.clone()));
            if decl.ty.base == BaseType::Int && decl.ty.dims.is_empty() {
                sizes.numbers.insert(decl.name.name.clone());
            }
        }
        let free = sizes_of_parameters(self.program).filter(|name| !sizes.counts.contains(name));
        sizes.numbers.extend(free.collect::<Vec<_>>());
        if !sizes.from_data {
            declared.iter().for_each(|decl| written_sizes(decl, sizes));
        }
    }

    /// Gives the levels of a category a number of their own.
    fn levels_of(&mut self, declared: &[&DataDecl], decl: &DataDecl) -> Result<()> {
        if let Some(DataSource::Default(value)) = &decl.source {
            return Err(category_default(&decl.name.name, value.span));
        }
        let listed = listed_levels(declared, decl)?;
        if let Some(listed) = listed {
            let labels: Vec<&str> = listed.iter().map(|l| l.text.as_str()).collect();
            crate::data::Levels::given(&labels).map_err(|e| e.label(decl.ty.span, "declared here"))?;
        }
        let Some(name) = &decl.ty.levels_name else { return Ok(()) };
        if self.names.levels(&name.name).is_none() {
            let levels = LevelSet {
                name: name.name.clone(),
                counted: true,
                listed: listed.map(|all| all.iter().map(|l| l.text.clone()).collect()),
            };
            self.names.set_levels(&name.name, Rc::new(levels));
        }
        self.set_size(&name.name);
        Ok(())
    }

    /// The levels of a category.
    fn category(&self, decl: &DataDecl) -> Levels {
        if let Some(levels) = decl.ty.levels_name.as_ref().and_then(|name| self.names.levels(&name.name)) {
            return levels;
        }
        let listed = decl.ty.levels.as_ref().map(|all| all.iter().map(|l| l.text.clone()).collect());
        Rc::new(LevelSet { name: decl.name.name.clone(), counted: false, listed })
    }

    /// Makes a name a size, visible everywhere.
    fn set_size(&mut self, name: &str) {
        let constant = self.sizes.known.get(name).filter(|_| self.sizes.from_data).copied();
        let constant = constant.map(|n| self.constants.number(n as f64));
        let identity = self.number(format!("size {name}"));
        let from_data = !self.sizes.from_data;
        let ty = Type { identity, base: identity, constant, from_data, ..Type::size(Size::named(name)) };
        self.names.set_everywhere(name, Meaning::Value(ty));
    }

    fn declaration(&mut self, decl: &DataDecl) -> Result<()> {
        refuse_angle_brackets(decl)?;
        for e in &decl.ty.dims {
            if let ExprKind::Name(size) = &e.kind
                && self.names.get(size).is_none()
            {
                self.set_size(size);
            }
        }
        let shape = self.sizes_of(&decl.ty.dims)?;
        let bounds = [&decl.ty.lower, &decl.ty.upper].map(|b| b.as_ref().map(|b| self.expr(&b.value)));
        let [lower, upper] = bounds.map(Option::transpose);
        let (lower, upper) = (lower?, upper?);
        match &decl.source {
            Some(DataSource::Default(e)) if decl.ty.base != BaseType::Category => {
                self.check_default(decl, e, &shape)?;
            }
            Some(DataSource::Columns { patterns, single: false }) => self.warn_taken_twice(decl, patterns),
            Some(DataSource::Default(_) | DataSource::Columns { .. }) | None => {}
        }
        let name = &decl.name.name;
        if decl.ty.dims.is_empty() && is_whole(decl.ty.base) && decl.ty.base != BaseType::Binary {
            self.set_size(name);
            if let Some(Meaning::Value(ty)) = self.names.get(name) {
                let range = range_of(decl.ty.base, lower.as_ref(), upper.as_ref());
                let ty = Type { range, from_data: true, ..ty.clone() };
                self.names.set_everywhere(name, Meaning::Value(ty));
            }
            return Ok(());
        }
        let identity = self.number(format!("data {name}"));
        let structure = transform_of(decl.ty.base).and_then(crate::transform::find);
        let ty = Type {
            integer: is_whole(decl.ty.base) || decl.ty.base == BaseType::Category,
            from_data: true,
            levels: (decl.ty.base == BaseType::Category).then(|| self.category(decl)),
            labels: self.counted_labels(&decl.ty.dims),
            range: range_of(decl.ty.base, lower.as_ref(), upper.as_ref()),
            structure: structure.and_then(|t| guaranteed(t, &[]).1),
            identity,
            base: identity,
            ..Type::real(shape)
        };
        match decl.ty.dims.is_empty() && ty.integer {
            true => self.names.set_everywhere(name, Meaning::Value(ty)),
            false => self.names.set(name, Meaning::Value(ty)),
        }
        Ok(())
    }

    /// Warns of a glob that takes a column which is declared by itself. Where there are data, they say which.
    fn warn_taken_twice(&mut self, decl: &DataDecl, patterns: &[StrLit]) {
        let columns = data_declarations(self.program).into_iter().filter(|d| d.source.is_none());
        let taken = |name: &str| {
            patterns.iter().any(|p| matches(&p.text, name)) && patterns.iter().all(|p| p.text != name)
        };
        let twice: Vec<String> =
            columns.map(|d| &d.name.name).filter(|n| taken(n)).map(|n| format!("`{n}`")).collect();
        if !twice.is_empty() && !self.sizes.from_data {
            self.warn_once(taken_twice(&decl.name.name, &twice, patterns));
        }
    }

    /// Refuses a default of another kind or shape than is declared, or outside its bounds.
    fn check_default(&mut self, decl: &DataDecl, e: &Expr, shape: &Shape) -> Result<()> {
        let ty = self.expr(e)?;
        let whole = matches!(decl.ty.base, BaseType::Int | BaseType::Binary | BaseType::Count);
        if whole && !ty.integer {
            let message = format!("`{}` is an integer, and its default is not", decl.name.name);
            return Err(Diagnostic::error("not-an-integer", message)
                .label(e.span, "this is real")
                .help(format!("declare `{} : real`, or write an integer", decl.name.name)));
        }
        self.check_default_bounds(decl, e, &ty)?;
        if ty.is_scalar() || self.sizes.from_data {
            return Ok(());
        }
        let declared = Type::real(shape.clone());
        let wrong = |l: &Self| {
            let dims: Vec<&str> = decl.ty.dims.iter().map(|d| l.text(d.span)).collect();
            let wanted = if dims.is_empty() { "a scalar".into() } else { format!("[{}]", dims.join(", ")) };
            let message = format!("`{}` is {wanted}, and its default is {}", decl.name.name, l.shown(&ty));
            Diagnostic::error("shape-mismatch", message)
                .label(e.span, "")
                .label(decl.ty.span, "")
                .help("give a default of that shape, or one number, which counts for all elements")
        };
        self.one_shape(ty.shape.clone(), &declared, wrong).map(drop)
    }

    fn check_default_bounds(&mut self, decl: &DataDecl, e: &Expr, ty: &Type) -> Result<()> {
        let numbers = self.numbers_of(ty).map(<[f64]>::to_vec).unwrap_or_default();
        let outside = |wanted: String| {
            let message = format!("the default of `{}` must be {wanted}", decl.name.name);
            Err(Diagnostic::error("default-out-of-bounds", message).label(e.span, ""))
        };
        match decl.ty.base {
            BaseType::Binary if numbers.iter().any(|&x| x != 0.0 && x != 1.0) => {
                return outside("0 or 1".into());
            }
            BaseType::Count if numbers.iter().any(|&x| x < 0.0) => {
                return outside("a count, 0, 1, 2 …".into());
            }
            _ => {}
        }
        for (bound, lower) in [(&decl.ty.lower, true), (&decl.ty.upper, false)] {
            let Some(bound) = bound else { continue };
            let at = self.expr(&bound.value)?;
            let Some(at) = self.number_of(&at) else { continue };
            let fits = |x: f64| match (lower, bound.closed) {
                (true, true) => x >= at,
                (true, false) => x > at,
                (false, true) => x <= at,
                (false, false) => x < at,
            };
            if !numbers.iter().all(|&x| fits(x)) {
                let sign = if lower { ">" } else { "<" };
                let equal = if bound.closed { "=" } else { "" };
                return outside(format!("{sign}{equal} {at}, as it is declared"));
            }
        }
        Ok(())
    }

    /// What the number of levels of a category is called, where it has a name.
    pub(super) fn level_count(&self, category: &str) -> Option<String> {
        let levels = self.names.value(category)?.levels.as_ref()?;
        levels.counted.then(|| levels.name.clone())
    }
}

/// Names of the sizes of parameters: a prior with arguments that are written out may say what they must be.
fn sizes_of_parameters(program: &Program) -> impl Iterator<Item = String> + '_ {
    let dims = program.statements.iter().flat_map(|stmt| match &stmt.kind {
        StmtKind::Param(p) => {
            let inner = p.ty.iter().flat_map(|ty| &ty.dims);
            p.dims.iter().chain(inner).collect()
        }
        _ => Vec::new(),
    });
    dims.filter_map(super::counted::name_of).map(str::to_string)
}

fn is_whole(base: BaseType) -> bool {
    matches!(base, BaseType::Int | BaseType::Binary | BaseType::Count)
}

/// Where declared numbers lie.
fn range_of(base: BaseType, lower: Option<&Type>, upper: Option<&Type>) -> Range {
    let own = match base {
        BaseType::Binary | BaseType::Simplex => Range::UNIT,
        BaseType::Count => Range::NON_NEGATIVE,
        BaseType::Category => Range::from_to(1.0, f64::INFINITY),
        _ => Range::REAL,
    };
    let low = lower.map_or(f64::NEG_INFINITY, |t| t.range.low.at);
    let high = upper.map_or(f64::INFINITY, |t| t.range.high.at);
    own.and(Range::from_to(low, high))
}

/// Sizes that the model itself gives: the number of levels or columns that are listed, and what defaults say.
fn written_sizes(decl: &DataDecl, sizes: &mut Sizes) {
    if let (Some(levels), Some(name)) = (&decl.ty.levels, &decl.ty.levels_name) {
        sizes.known.insert(name.name.clone(), levels.len() as i64);
    }
    if let (Some(DataSource::Columns { patterns, single: false }), [_, columns]) =
        (&decl.source, &decl.ty.dims[..])
        && let ExprKind::Name(name) = &columns.kind
        && !patterns.iter().any(|p| is_glob(&p.text))
    {
        sizes.known.insert(name.clone(), patterns.len() as i64);
    }
    let Some(DataSource::Default(value)) = &decl.source else { return };
    match &value.kind {
        ExprKind::Int(n) if decl.ty.dims.is_empty() => {
            sizes.known.insert(decl.name.name.clone(), *n);
        }
        _ => sizes_of_array(value, &decl.ty.dims, sizes),
    }
}

/// The sizes of an array that is written out, by the names of its axes.
fn sizes_of_array(value: &Expr, dims: &[Expr], sizes: &mut Sizes) {
    let (ExprKind::Array(items), [axis, rest @ ..]) = (&value.kind, dims) else { return };
    if let ExprKind::Name(name) = &axis.kind {
        sizes.known.insert(name.clone(), items.len() as i64);
    }
    if let Some(first) = items.first() {
        sizes_of_array(first, rest, sizes);
    }
}

/// The levels listed for a category, by it or by another one that shares the name of their number: all that
/// list them agree.
pub fn listed_levels<'p>(declared: &[&'p DataDecl], decl: &'p DataDecl) -> Result<Option<&'p [StrLit]>> {
    let size = |d: &DataDecl| d.ty.levels_name.as_ref().map(|n| n.name.clone());
    let shares = |d: &&&'p DataDecl| {
        let category = d.ty.base == BaseType::Category && d.ty.levels.is_some();
        category && (d.name.name == decl.name.name || size(d).is_some() && size(d) == size(decl))
    };
    let mut all = declared.iter().filter(shares);
    let Some((first, levels)) = all.next().and_then(|d| Some((d, d.ty.levels.as_deref()?))) else {
        return Ok(None);
    };
    let texts = |d: &DataDecl| d.ty.levels.iter().flatten().map(|l| l.text.clone()).collect::<Vec<_>>();
    match all.find(|other| texts(other) != texts(first)) {
        None => Ok(Some(levels)),
        Some(other) => {
            let size = size(decl).unwrap_or_default();
            let message = format!(
                "`{}` and `{}` both have the {size} levels, and list other ones or in another order",
                first.name.name, other.name.name
            );
            Err(Diagnostic::error("other-labels", message)
                .label(first.ty.span, "")
                .label(other.ty.span, "")
                .help("list the same levels for both, or call the number of levels of one of them by another name"))
        }
    }
}

/// The error of a name that is declared as data a second time.
fn declared_twice(again: &DataDecl, first: &DataDecl) -> Diagnostic {
    Diagnostic::error("defined-twice", format!("`{}` is declared twice", again.name.name))
        .label(again.name.span, "")
        .label(first.name.span, "here it is declared first")
        .help("leave one of them out, or give it a name of its own")
}

/// The warning of columns that a glob takes beside their own declarations.
pub fn taken_twice(name: &str, columns: &[String], patterns: &[StrLit]) -> Diagnostic {
    let spans = patterns.iter().map(|p| p.span);
    let span = spans.reduce(Span::to).unwrap_or_default();
    let message = format!("`{name}` takes {} too, which the model declares by itself", columns.join(", "));
    Diagnostic::warning("column-taken-twice", message).label(span, "").help(
        "an outcome among its own predictors explains itself: list the columns, or write a glob that leaves it out",
    )
}

fn category_default(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("category-default", format!("`{name}` is a category, and has no default"))
        .label(span, "")
        .help(format!(
            "levels are listed without `=`: `{name} : category[N] levels(\"low\", \"high\")`; another column is \
             `= column(\"...\")`"
        ))
}

/// Refuses `real<lower=0>[N]`, which reads as an upper bound and a default.
fn refuse_angle_brackets(decl: &DataDecl) -> Result<()> {
    let Some(DataSource::Default(value)) = &decl.source else { return Ok(()) };
    let name = decl.ty.upper.as_ref().map(|bound| &bound.value.kind);
    if !matches!(name, Some(ExprKind::Name(n)) if n == "lower" || n == "upper") {
        return Ok(());
    }
    let message = "bounds are written after the type as in `real[N] > 0`, not in angle brackets";
    Err(Diagnostic::error("stan-bounds", message)
        .label(decl.ty.span.to(value.span), "written as in Stan")
        .help(format!("write for example `{} : real[N] > 0`", decl.name.name)))
}
