//! What the text of a model says before anything is elaborated: which names are declared, described and
//! defined where.

use super::Declared;
use super::constraint::is_discrete;
use super::counted::counted;
use super::data::data_declarations;
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{BaseType, Expr, ExprKind, Program, Stmt, StmtKind};
use std::collections::HashMap;

/// What a program declares where.
pub fn declared(program: &Program) -> Declared {
    let data = data_declarations(program);
    let mut in_blocks = Vec::new();
    defined_in_blocks(&program.statements, None, &mut in_blocks);
    let mut by_element = Vec::new();
    defined_elements(&program.statements, &mut by_element);
    let binaries = data.iter().filter(|d| d.ty.base == BaseType::Binary);
    Declared {
        names: program.statements.iter().filter_map(declared_name).collect(),
        binaries: binaries.map(|d| d.name.name.clone()).collect(),
        data: data.iter().map(|d| (d.name.name.clone(), d.name.span)).collect(),
        in_blocks,
        by_element: by_element.into_iter().map(str::to_string).collect(),
        single: single_elements(program),
        counted: counted(program),
    }
}

/// Names of which some elements are defined.
pub fn defined_elements<'a>(block: &'a [Stmt], names: &mut Vec<&'a str>) {
    for stmt in block {
        match &stmt.kind {
            StmtKind::Let(l) if !l.indices.is_empty() => names.push(&l.name.name),
            StmtKind::For(f) => defined_elements(&f.body, names),
            StmtKind::If(i) => {
                defined_elements(&i.then, names);
                defined_elements(&i.otherwise, names);
            }
            _ => {}
        }
    }
}

/// Whether a text has this word.
pub fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|w| w == word)
}

/// A distribution that suits a parameter as it is written.
fn prior_for(written: &str) -> String {
    if let Some((_, size)) = written.split_once("simplex[") {
        return format!("dirichlet(ones({}))", size.split(']').next().unwrap_or_default());
    }
    // Names that scales have everywhere: they need not say that they are positive.
    let name = written.trim_start_matches("param").trim_start();
    let is_scale =
        !written.contains(':') && ["sigma", "tau", "sd", "scale"].iter().any(|s| name.starts_with(s));
    let table = [
        ("cholesky_corr[", "lkj_corr_cholesky(2)"),
        ("corr_matrix[", "lkj_corr(2)"),
        ("> 0", "half_normal(1)"),
        ("in (0, 1)", "beta(1, 1)"),
    ];
    table
        .iter()
        .find(|(sign, _)| written.contains(sign))
        .map_or(if is_scale { "half_normal(1)" } else { "normal(0, 1)" }, |(_, prior)| prior)
        .to_string()
}

/// Parameters without a prior: an improper one is written `~ flat()`, never left out.
pub fn without_prior<'p>(
    program: &'p Program,
    source: &'p str,
) -> impl Iterator<Item = (Diagnostic, String)> + 'p {
    let mut described = Vec::new();
    described_names(&program.statements, &mut described);
    program.statements.iter().filter_map(move |stmt| {
        let StmtKind::Param(p) = &stmt.kind else { return None };
        let name = &p.name.name;
        let refused = p.ty.as_ref().is_some_and(|ty| is_discrete(ty.base));
        if p.prior.is_some() || described.contains(&name.as_str()) || refused {
            return None;
        }
        let written = stmt.span.text(source).lines().next().unwrap_or_default().trim_end();
        let problem = Diagnostic::error("no-prior", format!("`{name}` has no prior"))
            .label(p.name.span, "")
            .help(format!(
                "give it one on the same line, such as `{written} ~ {}`, or write `~ flat()` if every value is as likely",
                prior_for(written)
            ));
        Some((problem, name.clone()))
    })
}

/// Columns declared `missing` whose empty cells cannot be latents, or would be latents without a
/// distribution.
pub fn missing_without_distribution(program: &Program) -> impl Iterator<Item = (Diagnostic, String)> {
    let mut described = Vec::new();
    described_names(&program.statements, &mut described);
    data_declarations(program).into_iter().filter(|d| d.missing).filter_map(move |decl| {
        let name = &decl.name.name;
        if decl.ty.base != BaseType::Real {
            let message = format!("`{name}` cannot be `missing`: an empty cell is a latent, and latents are real");
            let problem = Diagnostic::error("missing-type", message)
                .label(decl.ty.span, "")
                .help("fill the cells or remove the rows; only a `real` column can be declared `missing`");
            return Some((problem, name.clone()));
        }
        if described.contains(&name.as_str()) {
            return None;
        }
        let problem = Diagnostic::error("no-prior", format!("the empty cells of `{name}` have no distribution"))
            .label(decl.name.span, "each is a latent of its own")
            .help(format!(
                "say how its values are distributed, such as `{name} ~ normal(mu, sigma)`, or write `{name} ~ flat()` if every \
                 value is as likely"
            ));
        Some((problem, name.clone()))
    })
}

/// The name that a statement declares.
pub fn declared_name(stmt: &Stmt) -> Option<(String, Span)> {
    let name = match &stmt.kind {
        StmtKind::Param(p) => &p.name,
        StmtKind::Let(l) => &l.name,
        StmtKind::Derive(d) => &d.name,
        StmtKind::Predict(p) => &p.name,
        StmtKind::Data(_)
        | StmtKind::For(_)
        | StmtKind::If(_)
        | StmtKind::Fn(_)
        | StmtKind::Sample(_)
        | StmtKind::Target(_) => return None,
    };
    Some((name.name.clone(), name.span))
}

/// Names that blocks in these statements define whole, each with the variable of the innermost loop around
/// it.
fn defined_in_blocks(statements: &[Stmt], variable: Option<&str>, names: &mut Vec<(String, Option<String>)>) {
    for stmt in statements {
        let (blocks, variable) = match &stmt.kind {
            StmtKind::For(f) => ([&f.body[..], &[]], Some(f.var.name.as_str())),
            StmtKind::If(i) => ([&i.then[..], &i.otherwise[..]], variable),
            _ => continue,
        };
        for block in blocks {
            let whole = block.iter().filter_map(|s| match &s.kind {
                StmtKind::Let(l) if l.indices.is_empty() => Some(l.name.name.clone()),
                _ => None,
            });
            names.extend(whole.map(|name| (name, variable.map(str::to_string))));
            defined_in_blocks(block, variable, names);
        }
    }
}

/// Names that stand, whole or in part, on the left of some `~`, and those whose elements a name consists of
/// that does.
pub fn described_names<'p>(statements: &'p [Stmt], names: &mut Vec<&'p str>) {
    // What a name was given comes before what is said of it.
    for stmt in statements.iter().rev() {
        match &stmt.kind {
            StmtKind::Sample(s) => elements_of(&s.value, names),
            StmtKind::Let(l) if names.contains(&l.name.name.as_str()) => elements_of(&l.value, names),
            StmtKind::For(f) => described_names(&f.body, names),
            StmtKind::If(i) => {
                described_names(&i.then, names);
                described_names(&i.otherwise, names);
            }
            _ => {}
        }
    }
}

/// Names whose elements an expression consists of, however it arranges them: `z`, `z[2..K]`, `flatten(z)`.
fn elements_of<'p>(e: &'p Expr, names: &mut Vec<&'p str>) {
    match &e.kind {
        ExprKind::Name(name) => names.push(name),
        ExprKind::Index { base, .. } => elements_of(base, names),
        ExprKind::Transpose(x) => elements_of(x, names),
        ExprKind::Array(items) => items.iter().for_each(|item| elements_of(item, names)),
        ExprKind::Call { name, args } if crate::func::arranges(&name.name) => {
            args.iter().for_each(|arg| elements_of(&arg.value, names));
        }
        _ => {}
    }
}

/// Names of which `derive` and `predict` give single elements: those in a loop, and those with several
/// statements.
pub fn single_elements(program: &Program) -> Vec<String> {
    let mut counts = HashMap::new();
    count(&program.statements, 1, &mut counts);
    counts.into_iter().filter(|(_, n)| *n > 1).map(|(name, _)| name.to_string()).collect()
}

fn count<'p>(block: &'p [Stmt], times: usize, counts: &mut HashMap<&'p str, usize>) {
    for stmt in block {
        let (name, indices) = match &stmt.kind {
            StmtKind::Derive(d) => (&d.name, &d.indices),
            StmtKind::Predict(p) => (&p.name, &p.dims),
            StmtKind::Let(l) => (&l.name, &l.indices),
            StmtKind::For(f) => {
                count(&f.body, 2, counts);
                continue;
            }
            StmtKind::If(i) => {
                // Of two branches one counts.
                let (mut then, mut otherwise) = (HashMap::new(), HashMap::new());
                count(&i.then, times, &mut then);
                count(&i.otherwise, times, &mut otherwise);
                for (name, n) in otherwise {
                    then.entry(name).and_modify(|m| *m = n.max(*m)).or_insert(n);
                }
                then.into_iter().for_each(|(name, n)| *counts.entry(name).or_default() += n);
                continue;
            }
            StmtKind::Data(_)
            | StmtKind::Param(_)
            | StmtKind::Fn(_)
            | StmtKind::Sample(_)
            | StmtKind::Target(_) => continue,
        };
        if !indices.is_empty() {
            *counts.entry(&name.name).or_default() += times;
        }
    }
}
