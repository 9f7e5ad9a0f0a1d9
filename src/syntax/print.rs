//! A syntax tree as model text, with no more parentheses than needed: for messages, and to turn made-up trees
//! into models.

use super::ast::{
    Arg, BinaryOp, Bound, Centering, DataDecl, DataSource, DistExpr, DistKind, Expr, ExprKind, FnDecl,
    IfStmt, Index, Program, Stmt, StmtKind, TypeExpr,
};
use super::names::{PREFIX, base_name, binary_sign, tightness, unary_sign};

/// How tightly names, literals, calls and brackets hold together: tighter than any operator.
const POSTFIX: u8 = 8;

/// The text of a program; reading it gives the same tree, places aside.
pub fn print(program: &Program) -> String {
    let mut out = String::new();
    statements(&program.statements, 0, &mut out);
    out
}

/// The text of an expression.
pub fn print_expr(expr: &Expr) -> String {
    at(expr, 0)
}

/// The text of a distribution.
pub fn print_dist(dist: &DistExpr) -> String {
    let named = |name: &str, value: &Option<Expr>| match value {
        Some(value) => format!(", {name} = {}", print_expr(value)),
        None => String::new(),
    };
    match &dist.kind {
        DistKind::Call { name, args } => format!("{}({})", name.name, arguments(args)),
        DistKind::Mixture(parts) => {
            let part =
                |(weight, dist): &(Expr, DistExpr)| format!("{}: {}", print_expr(weight), print_dist(dist));
            format!("mixture({})", join(parts, part))
        }
        DistKind::Truncated { inner, lower, upper } => {
            format!("truncated({}{}{})", print_dist(inner), named("lower", lower), named("upper", upper))
        }
        DistKind::Censored { inner, left, right, lower, upper } => {
            let indicators = format!("{}{}", named("left", left), named("right", right));
            let limits = format!("{}{}", named("lower", lower), named("upper", upper));
            format!("censored({}{indicators}{limits})", print_dist(inner))
        }
        DistKind::ZeroInflated { probability, inner } => {
            format!("zero_inflated({}, {})", print_expr(probability), print_dist(inner))
        }
    }
}

fn statements(statements: &[Stmt], depth: usize, out: &mut String) {
    for statement in statements {
        out.push_str(&"  ".repeat(depth));
        out.push_str(&self::statement(statement, depth));
        out.push('\n');
    }
}

fn block(body: &[Stmt], depth: usize) -> String {
    let mut out = "{\n".to_owned();
    statements(body, depth + 1, &mut out);
    format!("{out}{}}}", "  ".repeat(depth))
}

fn statement(statement: &Stmt, depth: usize) -> String {
    match &statement.kind {
        StmtKind::Data(data) => {
            format!("data {{ {} }}", data.iter().map(datum).collect::<Vec<_>>().join("; "))
        }
        StmtKind::Param(param) => {
            let mut out = format!("param {}{}", param.name.name, brackets(&param.dims));
            if let Some(ty) = &param.ty {
                out.push_str(&format!(" : {}", type_expr(ty)));
            }
            if let Some(prior) = &param.prior {
                out.push_str(&format!(" ~ {}", print_dist(prior)));
            }
            match param.centering {
                Some((Centering::Centered, _)) => out.push_str(" centered"),
                Some((Centering::Noncentered, _)) => out.push_str(" noncentered"),
                None => {}
            }
            out
        }
        StmtKind::Let(definition) => {
            let left = format!("{}{}", definition.name.name, brackets(&definition.indices));
            format!("let {left} = {}", print_expr(&definition.value))
        }
        StmtKind::For(looped) => {
            let range = format!("{}..{}", print_expr(&looped.from), print_expr(&looped.to));
            format!("for {} in {range} {}", looped.var.name, block(&looped.body, depth))
        }
        StmtKind::If(choice) => if_choice(choice, depth),
        StmtKind::Fn(function) => fn_decl(function, depth),
        StmtKind::Sample(sample) => {
            let weight =
                sample.weight.as_ref().map_or(String::new(), |w| format!(" weight {}", print_expr(w)));
            format!("{} ~ {}{weight}", print_expr(&sample.value), print_dist(&sample.dist))
        }
        StmtKind::Target(value) => format!("target += {}", print_expr(value)),
        StmtKind::Derive(derived) => {
            let left = format!("{}{}", derived.name.name, brackets(&derived.indices));
            format!("derive {left} = {}", print_expr(&derived.value))
        }
        StmtKind::Predict(predicted) => {
            let left = format!("{}{}", predicted.name.name, brackets(&predicted.dims));
            format!("predict {left} ~ {}", print_dist(&predicted.dist))
        }
    }
}

fn if_choice(choice: &IfStmt, depth: usize) -> String {
    let mut out = format!("if {} {}", print_expr(&choice.condition), block(&choice.then, depth));
    match choice.otherwise.as_slice() {
        [] => {}
        [Stmt { kind: StmtKind::If(inner), .. }] => {
            out.push_str(&format!(" else {}", if_choice(inner, depth)))
        }
        otherwise => out.push_str(&format!(" else {}", block(otherwise, depth))),
    }
    out
}

fn fn_decl(function: &FnDecl, depth: usize) -> String {
    let head = format!("fn {}({})", function.name.name, join(&function.params, |p| p.name.clone()));
    let result = print_expr(&function.result);
    if function.body.is_empty() {
        return format!("{head} = {result}");
    }
    let mut out = format!("{head} {{\n");
    statements(&function.body, depth + 1, &mut out);
    let indent = "  ".repeat(depth);
    format!("{out}{indent}  return {result}\n{indent}}}")
}

fn datum(datum: &DataDecl) -> String {
    let missing = if datum.missing { " missing" } else { "" };
    let source = match &datum.source {
        Some(DataSource::Columns { patterns, single }) => {
            let word = if *single { "column" } else { "columns" };
            format!(" = {word}({})", join(patterns, |p| quoted(&p.text)))
        }
        Some(DataSource::Default(value)) => format!(" = {}", print_expr(value)),
        None => String::new(),
    };
    format!("{} : {}{missing}{source}", datum.name.name, type_expr(&datum.ty))
}

fn type_expr(ty: &TypeExpr) -> String {
    let mut out = format!("{}{}", base_name(ty.base), brackets(&ty.dims));
    if let Some(name) = &ty.levels_name {
        out.push_str(&format!(" of {}", name.name));
    }
    if let Some(levels) = &ty.levels {
        out.push_str(&format!(" levels({})", join(levels, |level| quoted(&level.text))));
    }
    out.push_str(&bounds(ty.lower.as_ref(), ty.upper.as_ref()));
    for (word, value) in [("offset", &ty.offset), ("multiplier", &ty.multiplier)] {
        if let Some(value) = value {
            out.push_str(&format!(" {word} {}", at(value, tightness(BinaryOp::Add))));
        }
    }
    out
}

fn bounds(lower: Option<&Bound>, upper: Option<&Bound>) -> String {
    let equal = |bound: &Bound| if bound.closed { "=" } else { "" };
    match (lower, upper) {
        (Some(lower), Some(upper)) => {
            let open = if lower.closed { "[" } else { "(" };
            let close = if upper.closed { "]" } else { ")" };
            format!(" in {open}{}, {}{close}", print_expr(&lower.value), print_expr(&upper.value))
        }
        (Some(lower), None) => format!(" >{} {}", equal(lower), at(&lower.value, tightness(BinaryOp::Add))),
        (None, Some(upper)) => format!(" <{} {}", equal(upper), at(&upper.value, tightness(BinaryOp::Add))),
        (None, None) => String::new(),
    }
}

fn brackets(sizes: &[Expr]) -> String {
    if sizes.is_empty() { String::new() } else { format!("[{}]", join(sizes, print_expr)) }
}

fn arguments(args: &[Arg]) -> String {
    join(args, |arg| match &arg.name {
        Some(name) => format!("{} = {}", name.name, print_expr(&arg.value)),
        None => print_expr(&arg.value),
    })
}

fn join<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The expression where at least `needed` is called for.
fn at(expr: &Expr, needed: u8) -> String {
    let text = bare(expr);
    if binding(expr) < needed { format!("({text})") } else { text }
}

fn bare(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Real(value) => format!("{value:?}"),
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Str(text) => quoted(text),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Unary(op, operand) => format!("{}{}", unary_sign(*op), at(operand, PREFIX)),
        ExprKind::Binary(BinaryOp::Pow, base, exponent) => {
            format!("{}^{}", at(base, POSTFIX), at(exponent, PREFIX))
        }
        ExprKind::Binary(op, left, right) => {
            let level = tightness(*op);
            let left_needed = if op.is_comparison() { level + 1 } else { level };
            format!("{} {} {}", at(left, left_needed), binary_sign(*op), at(right, level + 1))
        }
        ExprKind::Transpose(operand) => format!("{}'", at(operand, POSTFIX)),
        ExprKind::Call { name, args } => format!("{}({})", name.name, arguments(args)),
        ExprKind::Index { base, indices } => {
            format!("{}[{}]", at(base, POSTFIX), join(indices, index))
        }
        ExprKind::Array(elements) => format!("[{}]", join(elements, print_expr)),
    }
}

fn index(index: &Index) -> String {
    let end = |end: &Option<Expr>| end.as_ref().map_or(String::new(), print_expr);
    match index {
        Index::At(expr) => print_expr(expr),
        Index::Range { from, to, .. } => format!("{}..{}", end(from), end(to)),
        Index::All(_) => ":".to_owned(),
    }
}

fn binding(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Unary(..) => PREFIX,
        ExprKind::Binary(op, ..) => tightness(*op),
        ExprKind::Real(_)
        | ExprKind::Int(_)
        | ExprKind::Str(_)
        | ExprKind::Name(_)
        | ExprKind::Transpose(_)
        | ExprKind::Call { .. }
        | ExprKind::Index { .. }
        | ExprKind::Array(_) => POSTFIX,
    }
}
