//! Checks a model without data: it is lowered with invented data of invented sizes, a different prime for
//! each named size.
//!
//! Two sizes of different names then never meet by accident, and a shape in a message is written with the
//! names. What depends on the invented values themselves (an index out of range, a value outside a support)
//! is no error here: only real data can tell.

use super::Lowerer;
use super::bind::data_declarations;
use crate::data::{Dataset, is_glob, matches};
use crate::source::{Checked, Diagnostic, Severity};
use crate::syntax::ast::{BaseType, DataDecl, DataSource, Expr, ExprKind, Program, StrLit};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

/// Sizes to invent: primes large enough not to be written in a model.
const PRIMES: [usize; 24] =
    [13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109];

/// Lengths of arrays that are written out.
const WRITTEN_OUT: [usize; 4] = [2, 3, 4, 5];

/// An index outside an axis.
const BEYOND: &str = "index-out-of-range";

/// Problems that only real data can have.
const OF_DATA: [&str; 15] = [
    BEYOND,
    "mask-as-index",
    "level-count",
    "other-labels",
    "unordered-levels",
    "outside-support",
    "data-outside-domain",
    "data-shape",
    "empty-interval",
    "element-undefined",
    "unknown-level",
    "negative-size",
    "out-of-bounds",
    "unsorted-times",
    "marks-as-limit",
];

/// Checks names, types, shapes and supports without data; gives warnings.
pub fn check(program: &Program, source: &str) -> Checked<Vec<Diagnostic>> {
    probed(program, source, |lowerer| lowerer.warnings.clone())
}

/// What a model declares and states, without data: a line for each, sizes by their names.
pub fn outline(program: &Program, source: &str) -> Checked<Vec<String>> {
    probed(program, source, |l| {
        let parameters = l
            .parameters
            .iter()
            .map(|p| format!("param {} {} in {}", p.named.name, l.shape(l.b.dims(p.named.node)), p.support));
        let reported =
            [("derive", &l.derived), ("simulated", &l.simulated)].into_iter().flat_map(|(word, all)| {
                all.iter().map(move |n| format!("{word} {} {}", n.name, l.shape(l.b.dims(n.node))))
            });
        let terms = l.terms.iter().map(|t| {
            let (line, column) = t.span.line_column(source);
            format!("{:?} term from {line}:{column}", t.kind)
        });
        parameters.chain(reported).chain(terms).collect()
    })
}

/// Lowers a model with invented data, and reads something off what came of it.
fn probed<T>(program: &Program, source: &str, read: impl Fn(&Lowerer) -> T) -> Checked<T> {
    let declared = data_declarations(program);
    let problems = match check_with(program, source, &declared, &[], &of_model, &read) {
        Ok(found) => return Ok(found),
        Err(problems) => problems,
    };
    // A number among the data may be a size that the model itself fixes: `K : int` where arrays `[a, b]` are
    // written out.
    if problems.iter().any(|p| p.code == "shape-mismatch") {
        let number = |d: &&&DataDecl| d.ty.base == BaseType::Int && d.ty.dims.is_empty();
        for decl in declared.iter().filter(number) {
            for n in WRITTEN_OUT {
                let sizes = [(n, decl.name.name.clone())];
                if let Ok(found) = check_with(program, source, &declared, &sizes, &of_model, &read) {
                    return Ok(found);
                }
            }
        }
    }
    Err(problems)
}

/// Shapes that fit only because two sizes of different names are the same number in the data, as `size`
/// knows: an error where one of the two counts the levels of a category, whose order is not that of the rows,
/// and a warning elsewhere.
pub(super) fn by_chance(
    program: &Program,
    source: &str,
    size: impl Fn(&str) -> Option<usize>,
) -> Vec<Diagnostic> {
    let declared = data_declarations(program);
    let mut invention = Invention { sizes: Vec::new(), known: known_sizes(&declared) };
    invention.data(&declared);
    let pairs = alike(&invention, size);
    if pairs.is_empty() {
        return Vec::new();
    }
    let problems = |sizes: &[(usize, String)]| {
        let found = check_with(program, source, &declared, sizes, &with_indices, &|_: &Lowerer| ());
        found.err().unwrap_or_default()
    };
    let place = |d: &Diagnostic| (d.code, d.labels.first().map(|l| l.span));
    let of_levels = |name: &str| {
        declared.iter().any(|d| d.ty.levels_name.as_ref().is_some_and(|levels| levels.name == *name))
    };
    let mut open = problems(&[]);
    // An index that runs to one size is beyond the other only where that is smaller.
    let backwards = invention.sizes.iter().rev().map(|(number, _)| *number);
    let backwards = backwards.zip(&invention.sizes).map(|(number, (_, name))| (number, name.clone()));
    let more = problems(&backwards.collect::<Vec<_>>());
    open.extend(more.into_iter().filter(|p| p.code == BEYOND));
    let mut found = Vec::new();
    for Pair { a, b, number, actual } in pairs {
        if open.is_empty() {
            break;
        }
        let mut sizes = vec![(number, b.clone())];
        sizes.extend(invention.sizes.iter().filter(|(_, name)| *name != b).cloned());
        let left = problems(&sizes);
        let (other, by_chance): (Vec<_>, Vec<_>) =
            open.into_iter().partition(|p| left.iter().any(|l| place(l) == place(p)));
        open = other;
        let severity = if of_levels(&a) || of_levels(&b) { Severity::Error } else { Severity::Warning };
        let note = format!("`{a}` and `{b}` are both {actual} in these data, but they are not one size");
        let told = |p: Diagnostic| Diagnostic { severity, ..within_other(p, source).note(&note) };
        found.extend(by_chance.into_iter().map(told));
    }
    found
}

/// An index beyond an axis of invented size, in words that hold for the data.
fn within_other(problem: Diagnostic, source: &str) -> Diagnostic {
    let (BEYOND, [index, base, ..]) = (problem.code, &problem.labels[..]) else { return problem };
    let (index, base) = (index.span, base.span);
    let message =
        format!("`{}` counts something else than the places of `{}`", index.text(source), base.text(source));
    Diagnostic::error("index-of-other-size", message)
        .label(index, "")
        .label(base, "")
        .help("a loop over rows picks the value of a row's group by its category, `theta[group[n]]`; without a loop that is `theta[group]`")
}

/// Two names of sizes that are one number in the data.
struct Pair {
    a: String,
    b: String,
    /// What both are when they are taken for one.
    number: usize,
    /// What they are in the data.
    actual: usize,
}

fn alike(invention: &Invention, size: impl Fn(&str) -> Option<usize>) -> Vec<Pair> {
    let all: Vec<&(usize, String)> = invention.known.iter().chain(&invention.sizes).collect();
    let mut pairs = Vec::new();
    for (k, (_, b)) in all.iter().enumerate() {
        for (number, a) in &all[..k] {
            if let Some(actual) = size(a).filter(|&n| a != b && size(b) == Some(n)) {
                pairs.push(Pair { a: a.clone(), b: b.clone(), number: *number, actual });
            }
        }
    }
    pairs
}

/// Whether a problem is the model's, whatever the data are.
fn of_model(e: &Diagnostic) -> bool {
    e.always || !OF_DATA.contains(&e.code) && e.places.is_empty()
}

/// The same, or whether it is an index that invented sizes do not allow.
fn with_indices(e: &Diagnostic) -> bool {
    of_model(e) || e.code == BEYOND && e.places.is_empty()
}

/// Checks a model with some sizes given, the others invented; the problems that count are told.
fn check_with<T>(
    program: &Program,
    source: &str,
    declared: &[&DataDecl],
    sizes: &[(usize, String)],
    counts: &impl Fn(&Diagnostic) -> bool,
    read: &impl Fn(&Lowerer) -> T,
) -> Checked<T> {
    let mut invention = Invention { sizes: sizes.to_vec(), known: known_sizes(declared) };
    let text = invention.data(declared).to_string();
    let data = Dataset::from_texts(&[("invented.json", text.as_str())]).map_err(|e| vec![e])?;
    let mut lowerer = Lowerer::new(source, &data);
    lowerer.size_names = invention.sizes;
    lowerer.probing = true;
    let faults = lowerer.program(program);
    let named = |mut e: Diagnostic| {
        if matches!(e.code, "shape-mismatch" | "wrong-argument" | "ode-function") {
            e.message = with_names(&e.message, &lowerer.size_names);
            e.notes = e.notes.iter().map(|note| with_names(note, &lowerer.size_names)).collect();
        }
        e
    };
    faults.into_result(counts).map_err(|found| found.into_iter().map(named).collect::<Vec<_>>())?;
    Ok(read(&lowerer))
}

/// Sizes that the model itself gives: the number of levels or columns that are listed, and what defaults say.
fn known_sizes(declared: &[&DataDecl]) -> Vec<(usize, String)> {
    let mut known = Vec::new();
    for decl in declared {
        if let (Some(levels), Some(name)) = (&decl.ty.levels, &decl.ty.levels_name) {
            known.push((levels.len(), name.name.clone()));
        }
        if let (Some(DataSource::Columns { patterns, single: false }), [_, columns]) =
            (&decl.source, &decl.ty.dims[..])
            && let ExprKind::Name(name) = &columns.kind
            && !patterns.iter().any(|p| is_glob(&p.text))
        {
            known.push((patterns.len(), name.clone()));
        }
        let Some(DataSource::Default(value)) = &decl.source else { continue };
        match &value.kind {
            ExprKind::Int(n) if decl.ty.dims.is_empty() => {
                known.push((usize::try_from(*n).unwrap_or(0), decl.name.name.clone()));
            }
            _ => written_sizes(value, &decl.ty.dims, &mut known),
        }
    }
    known
}

/// The sizes of an array that is written out, by the names of its axes.
fn written_sizes(value: &Expr, dims: &[Expr], known: &mut Vec<(usize, String)>) {
    let (ExprKind::Array(items), [axis, rest @ ..]) = (&value.kind, dims) else { return };
    if let ExprKind::Name(name) = &axis.kind {
        known.push((items.len(), name.clone()));
    }
    if let Some(first) = items.first() {
        written_sizes(first, rest, known);
    }
}

/// A message about sizes with the names of those that were invented: `[13, 2]` is `[N, 2]`.
fn with_names(message: &str, names: &[(usize, String)]) -> String {
    let mut text = String::new();
    let mut rest = message;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = rest[start..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |n| start + n);
        let inside = rest[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
        let name = names.iter().find(|(n, _)| !inside && rest[start..end] == n.to_string());
        text.push_str(&rest[..start]);
        text.push_str(name.map_or(&rest[start..end], |(_, name)| name));
        rest = &rest[end..];
    }
    text + rest
}

/// Named sizes and the numbers they got, and those whose number the model gives.
struct Invention {
    sizes: Vec<(usize, String)>,
    known: Vec<(usize, String)>,
}

impl Invention {
    fn data(&mut self, declared: &[&DataDecl]) -> Json {
        let mut all = Map::new();
        for decl in declared {
            if let Some(levels) = &decl.ty.levels_name {
                let n = self.size(&levels.name);
                all.insert(levels.name.clone(), json!(n));
            }
            let dims: Vec<usize> = decl.ty.dims.iter().map(|e| self.extent(e)).collect();
            match &decl.source {
                Some(DataSource::Default(_)) => {}
                Some(DataSource::Columns { patterns, single }) => {
                    let rows = dims.first().copied().unwrap_or(1);
                    let column = value(decl, &[rows], self);
                    // Columns that are declared by themselves are taken by a glob too.
                    let plain = declared.iter().filter(|d| d.source.is_none()).map(|d| &d.name.name);
                    let taken = plain.filter(|name| patterns.iter().any(|p| matches(&p.text, name))).count();
                    let columns =
                        if *single { 1 } else { dims.get(1).map_or(1, |n| n.saturating_sub(taken)) };
                    for name in invented_names(patterns, columns) {
                        all.insert(name, column.clone());
                    }
                }
                None => {
                    all.insert(decl.name.name.clone(), value(decl, &dims, self));
                }
            }
        }
        Json::Object(all)
    }

    fn size(&mut self, name: &str) -> usize {
        if let Some((n, _)) = self.sizes.iter().chain(&self.known).find(|(_, known)| known == name) {
            return *n;
        }
        let n = PRIMES[self.sizes.len() % PRIMES.len()];
        self.sizes.push((n, name.to_string()));
        n
    }

    fn extent(&mut self, e: &Expr) -> usize {
        use crate::syntax::ast::BinaryOp::{Add, Div, Mul, Sub};
        match &e.kind {
            ExprKind::Int(n) => usize::try_from(*n).unwrap_or(1),
            ExprKind::Name(name) => self.size(name),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.extent(a), self.extent(b));
                match op {
                    Add => a + b,
                    Sub => a.saturating_sub(b),
                    Mul => a * b,
                    Div => a / b.max(1),
                    _ => a,
                }
            }
            _ => 1,
        }
    }
}

/// As many names of columns as a matrix has, which fit the patterns: the first glob stands for those that no
/// other pattern gives.
fn invented_names(patterns: &[StrLit], columns: usize) -> BTreeSet<String> {
    let name = |pattern: &str, k: usize| {
        let letter = char::from_u32('A' as u32 + k as u32).unwrap_or('A');
        pattern.replace(['*', '?'], &letter.to_string())
    };
    let mut names: BTreeSet<String> = patterns.iter().map(|p| name(&p.text, 0)).collect();
    if let Some(glob) = patterns.iter().find(|p| is_glob(&p.text)) {
        let more = (1..).map(|k| name(&glob.text, k)).take(columns.saturating_sub(names.len()));
        names.extend(more);
    }
    names
}

/// A value of the declared type and shape.
fn value(decl: &DataDecl, dims: &[usize], invention: &mut Invention) -> Json {
    match dims {
        [] if decl.ty.base == BaseType::Int => json!(invention.size(&decl.name.name)),
        [] => number(decl, 0),
        [n, rest @ ..] => (0..*n)
            .map(|i| if rest.is_empty() { number(decl, i) } else { value(decl, rest, invention) })
            .collect(),
    }
}

fn number(decl: &DataDecl, i: usize) -> Json {
    let literal = |e: &Expr| match &e.kind {
        ExprKind::Int(n) => Some(*n as f64),
        ExprKind::Real(x) => Some(*x),
        _ => None,
    };
    let lower = decl.ty.lower.as_ref().and_then(|b| literal(&b.value));
    let upper = decl.ty.upper.as_ref().and_then(|b| literal(&b.value));
    if let Some(label) = decl.ty.levels.as_ref().and_then(|all| all.get(i % all.len().max(1))) {
        return json!(label.text);
    }
    match decl.ty.base {
        BaseType::Binary => json!(i % 2),
        BaseType::Int | BaseType::Count | BaseType::Category => {
            json!(lower.map_or(1.0, |l| l + 1.0).round() as i64)
        }
        BaseType::Real
        | BaseType::Simplex
        | BaseType::Ordered
        | BaseType::PositiveOrdered
        | BaseType::UnitVector
        | BaseType::SumToZero
        | BaseType::CorrMatrix
        | BaseType::CovMatrix
        | BaseType::CholeskyCorr
        | BaseType::CholeskyCov => json!(match (lower, upper) {
            (Some(a), Some(b)) => a + (b - a) * (0.3 + 0.4 * (i % 7) as f64 / 7.0),
            (Some(a), None) => a + 0.5 + 0.1 * i as f64,
            (None, Some(b)) => b - 0.5 - 0.1 * i as f64,
            (None, None) => 0.5 + 0.1 * i as f64,
        }),
    }
}
