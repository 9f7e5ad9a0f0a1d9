//! The sizes that the indices of elements count: `for j in 1..J { let m[j] = ... }`.

use crate::syntax::ast::{Expr, ExprKind, Program, Stmt, StmtKind};
use std::collections::HashMap;

/// For each array that loops define element by element, the sizes that its indices count, where every loop
/// says the same.
pub type Counted = HashMap<String, Vec<Option<String>>>;

/// The sizes that the indices of elements count, as the loops around their definitions say: `for j in 1..J {
/// let m[j] = ... }`.
pub fn counted(program: &Program) -> Counted {
    let mut found = Counted::new();
    count(&program.statements, &mut Vec::new(), &mut found);
    found
}

fn count<'p>(block: &'p [Stmt], loops: &mut Vec<(&'p str, Option<&'p str>)>, found: &mut Counted) {
    for stmt in block {
        match &stmt.kind {
            StmtKind::For(f) => {
                loops.push((&f.var.name, name_of(&f.to)));
                count(&f.body, loops, found);
                loops.pop();
            }
            StmtKind::If(i) => {
                count(&i.then, loops, found);
                count(&i.otherwise, loops, found);
            }
            StmtKind::Fn(f) => count(&f.body, &mut Vec::new(), found),
            StmtKind::Let(l) if !l.indices.is_empty() => {
                let size = |e: &Expr| {
                    let variable = name_of(e)?;
                    loops.iter().rev().find(|(name, _)| *name == variable)?.1.map(str::to_string)
                };
                let sizes: Vec<Option<String>> = l.indices.iter().map(size).collect();
                agree(found, &l.name.name, sizes, &l.indices);
            }
            _ => {}
        }
    }
}

/// Adds what one definition says; an element at a written number, such as the first of a walk, says nothing.
fn agree(found: &mut Counted, name: &str, sizes: Vec<Option<String>>, indices: &[Expr]) {
    let number = |k: usize| indices.get(k).is_some_and(|e| matches!(e.kind, ExprKind::Int(_)));
    let Some(known) = found.get_mut(name) else {
        found.insert(name.to_string(), sizes);
        return;
    };
    for (k, (slot, size)) in known.iter_mut().zip(sizes).enumerate() {
        match (&slot, size) {
            (None, Some(size)) => *slot = Some(size),
            (Some(one), Some(other)) if *one != other => *slot = None,
            (Some(_), None) if !number(k) => *slot = None,
            _ => {}
        }
    }
}

/// The name that an expression is.
pub fn name_of(e: &Expr) -> Option<&str> {
    match &e.kind {
        ExprKind::Name(name) => Some(name),
        _ => None,
    }
}
