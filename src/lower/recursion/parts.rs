//! Takes the body of a loop apart: statements that need each other from step to step stay together, the
//! others go each into a loop of its own, in an order in which what is read has been defined.

use crate::syntax::ast::{DistExpr, DistKind, Expr, ExprKind, Index, Stmt, StmtKind};

/// Statements of a loop that are lowered together.
pub(super) struct Part {
    /// Their places in the body, with the plain definitions that they use.
    pub(super) statements: Vec<usize>,
    /// Whether steps need the steps before them.
    pub(super) recursive: bool,
}

/// The parts of a loop's body in their order; None if it has statements that cannot be moved.
pub(super) fn take_apart(body: &[Stmt]) -> Option<Vec<Part>> {
    if !body.iter().all(may_move) {
        return None;
    }
    let units: Vec<usize> = (0..body.len()).filter(|&s| !only_names(&body[s])).collect();
    // What each statement reads, with what the plain definitions that it uses read.
    let used: Vec<Vec<usize>> = units.iter().map(|&u| helpers_of(body, u)).collect();
    let needs = |k: usize, defined: &[&str]| {
        let all = used[k].iter().copied().chain([units[k]]);
        all.flat_map(|s| reads(&body[s])).any(|name| defined.contains(&name))
    };
    let n = units.len();
    let mut reach = vec![vec![false; n]; n];
    for (j, &unit) in units.iter().enumerate() {
        let mut defined = Vec::new();
        crate::model::defined_elements(std::slice::from_ref(&body[unit]), &mut defined);
        (0..n).for_each(|k| reach[k][j] = needs(k, &defined));
    }
    for via in 0..n {
        let onwards = reach[via].clone();
        for row in reach.iter_mut().filter(|row| row[via]) {
            row.iter_mut().zip(&onwards).for_each(|(to, &through)| *to |= through);
        }
    }
    let together = |a: usize, b: usize| a == b || reach[a][b] && reach[b][a];
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for k in 0..n {
        match groups.iter_mut().find(|g| together(g[0], k)) {
            Some(group) => group.push(k),
            None => groups.push(vec![k]),
        }
    }
    let mut parts = Vec::with_capacity(groups.len());
    let mut left = groups;
    while !left.is_empty() {
        // What it needs lies in groups that are done.
        let free =
            |g: &Vec<usize>| left.iter().all(|other| together(other[0], g[0]) || !reach[g[0]][other[0]]);
        let next = left.iter().position(free)?;
        let group = left.remove(next);
        let mut statements: Vec<usize> = group.iter().flat_map(|&k| used[k].iter().copied()).collect();
        statements.extend(group.iter().map(|&k| units[k]));
        statements.sort_unstable();
        statements.dedup();
        parts.push(Part { statements, recursive: reach[group[0]][group[0]] });
    }
    // What nobody uses may still be wrong.
    let unused: Vec<usize> =
        (0..body.len()).filter(|s| parts.iter().all(|part| !part.statements.contains(s))).collect();
    if !unused.is_empty() {
        let mut statements: Vec<usize> =
            unused.iter().flat_map(|&s| helpers_of(body, s)).chain(unused.clone()).collect();
        statements.sort_unstable();
        statements.dedup();
        parts.push(Part { statements, recursive: false });
    }
    Some(parts)
}

/// Whether a statement, with what is in it, means the same in a loop of its own.
fn may_move(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Target(_) => true,
        StmtKind::Let(l) => l.indices.len() <= 1,
        // The prior of a parameter is no business of a loop.
        StmtKind::Sample(s) => !matches!(s.value.kind, ExprKind::Name(_)),
        StmtKind::If(i) => i.then.iter().chain(&i.otherwise).all(may_move),
        StmtKind::For(f) => f.body.iter().all(may_move),
        StmtKind::Data(_)
        | StmtKind::Param(_)
        | StmtKind::Fn(_)
        | StmtKind::Derive(_)
        | StmtKind::Predict(_) => false,
    }
}

/// Whether a statement does nothing but give names to values.
fn only_names(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Let(l) => l.indices.is_empty(),
        StmtKind::If(i) => i.then.iter().chain(&i.otherwise).all(only_names),
        _ => false,
    }
}

/// The names that such a statement gives.
fn given<'a>(stmt: &'a Stmt, names: &mut Vec<&'a str>) {
    match &stmt.kind {
        StmtKind::Let(l) if l.indices.is_empty() => names.push(&l.name.name),
        StmtKind::If(i) => i.then.iter().chain(&i.otherwise).for_each(|s| given(s, names)),
        _ => {}
    }
}

/// The plain definitions that a statement uses, directly or through others.
fn helpers_of(body: &[Stmt], unit: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut names = reads(&body[unit]);
    for s in (0..body.len()).rev() {
        let mut own = Vec::new();
        given(&body[s], &mut own);
        if s != unit && only_names(&body[s]) && own.iter().any(|name| names.contains(name)) {
            found.push(s);
            names.extend(reads(&body[s]));
        }
    }
    found
}

/// Every name that a statement mentions in its expressions.
pub(super) fn reads(stmt: &Stmt) -> Vec<&str> {
    let mut all = Vec::new();
    expressions(stmt, &mut all);
    let mut names = Vec::new();
    all.into_iter().for_each(|e| mentioned(e, &mut names));
    names
}

/// Every name in an expression.
pub(super) fn mentioned<'a>(e: &'a Expr, names: &mut Vec<&'a str>) {
    if let ExprKind::Name(name) = &e.kind {
        names.push(name);
    }
    children(e).into_iter().for_each(|c| mentioned(c, names));
}

/// The expressions that a statement consists of, those on its left included.
pub(super) fn expressions<'a>(stmt: &'a Stmt, all: &mut Vec<&'a Expr>) {
    match &stmt.kind {
        StmtKind::Let(l) => {
            all.extend(&l.indices);
            all.push(&l.value);
        }
        StmtKind::Sample(s) => {
            all.push(&s.value);
            all.extend(&s.weight);
            of_dist(&s.dist, all);
        }
        StmtKind::Target(e) => all.push(e),
        StmtKind::If(i) => {
            all.push(&i.condition);
            i.then.iter().chain(&i.otherwise).for_each(|s| expressions(s, all));
        }
        StmtKind::For(f) => {
            all.extend([&f.from, &f.to]);
            f.body.iter().for_each(|s| expressions(s, all));
        }
        StmtKind::Data(_)
        | StmtKind::Param(_)
        | StmtKind::Fn(_)
        | StmtKind::Derive(_)
        | StmtKind::Predict(_) => {}
    }
}

fn of_dist<'a>(d: &'a DistExpr, all: &mut Vec<&'a Expr>) {
    match &d.kind {
        DistKind::Call { args, .. } => all.extend(args.iter().map(|a| &a.value)),
        DistKind::Mixture(parts) => parts.iter().for_each(|(weight, part)| {
            all.push(weight);
            of_dist(part, all);
        }),
        DistKind::Truncated { inner, lower, upper } => {
            all.extend(lower.iter().chain(upper));
            of_dist(inner, all);
        }
        DistKind::Censored { inner, left, right, lower, upper } => {
            all.extend(left.iter().chain(right).chain(lower).chain(upper));
            of_dist(inner, all);
        }
        DistKind::ZeroInflated { probability, inner } => {
            all.push(probability);
            of_dist(inner, all);
        }
    }
}

/// The expressions that an expression is made of.
pub(super) fn children(e: &Expr) -> Vec<&Expr> {
    match &e.kind {
        ExprKind::Real(_) | ExprKind::Int(_) | ExprKind::Str(_) | ExprKind::Name(_) => Vec::new(),
        ExprKind::Unary(_, x) | ExprKind::Transpose(x) => vec![x],
        ExprKind::Binary(_, a, b) => vec![a, b],
        ExprKind::Call { args, .. } => args.iter().map(|a| &a.value).collect(),
        ExprKind::Index { base, indices } => {
            std::iter::once(&**base).chain(indices.iter().flat_map(index_children)).collect()
        }
        ExprKind::Array(items) => items.iter().collect(),
    }
}

/// The expressions of an index.
pub(super) fn index_children(index: &Index) -> Vec<&Expr> {
    match index {
        Index::At(e) => vec![e],
        Index::Range { from, to, .. } => from.iter().chain(to).collect(),
        Index::All(_) => Vec::new(),
    }
}
