//! Tests of the parser as a whole: what it reads, how newlines count, and that nothing brings it down.

use super::parse;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, StmtKind, UnaryOp};

/// The codes of the problems found, or `ok`.
fn codes(source: &str) -> Vec<&'static str> {
    match parse(source) {
        Ok(_) => vec!["ok"],
        Err(problems) => problems.iter().map(|p| p.code).collect(),
    }
}

/// Number of statements, for texts that must be read without a problem.
fn count(source: &str) -> usize {
    parse(source).unwrap_or_else(|problems| panic!("{source}\n{problems:#?}")).statements.len()
}

/// The value of `let x = ...`.
fn value(expression: &str) -> Expr {
    let program = parse(&format!("let x = {expression}")).unwrap_or_else(|p| panic!("{expression}\n{p:#?}"));
    match program.statements.into_iter().next().map(|s| s.kind) {
        Some(StmtKind::Let(definition)) => definition.value,
        other => panic!("{other:?}"),
    }
}

/// An expression with every operation in parentheses.
fn grouped(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Real(value) => format!("{value:?}"),
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Unary(UnaryOp::Neg, x) => format!("(-{})", grouped(x)),
        ExprKind::Unary(UnaryOp::Not, x) => format!("(!{})", grouped(x)),
        ExprKind::Transpose(x) => format!("({}')", grouped(x)),
        ExprKind::Binary(op, a, b) => {
            let sign = match op {
                BinaryOp::Or => "||",
                BinaryOp::And => "&&",
                BinaryOp::Eq => "==",
                BinaryOp::Ne => "!=",
                BinaryOp::Lt => "<",
                BinaryOp::Le => "<=",
                BinaryOp::Gt => ">",
                BinaryOp::Ge => ">=",
                BinaryOp::Add => "+",
                BinaryOp::Sub => "-",
                BinaryOp::Mul => "*",
                BinaryOp::Div => "/",
                BinaryOp::ElemMul => ".*",
                BinaryOp::ElemDiv => "./",
                BinaryOp::Pow => "^",
            };
            format!("({}{sign}{})", grouped(a), grouped(b))
        }
        ExprKind::Str(_) | ExprKind::Call { .. } | ExprKind::Index { .. } | ExprKind::Array(_) => {
            "…".to_owned()
        }
    }
}

#[test]
fn precedence() {
    for (source, expected) in [
        ("a + b * c", "(a+(b*c))"),
        ("a - b - c", "((a-b)-c)"),
        ("a / b .* c ./ d", "(((a/b).*c)./d)"),
        ("-x^2", "(-(x^2))"),
        ("2^-3", "(2^(-3))"),
        ("2^-3^2", "(2^(-(3^2)))"),
        ("a ^ b .^ c", "(a^(b^c))"),
        ("-a * b", "((-a)*b)"),
        ("a * -b + c", "((a*(-b))+c)"),
        ("!a && b || c == d + 1", "(((!a)&&b)||(c==(d+1)))"),
        ("a < b && c >= d", "((a<b)&&(c>=d))"),
        ("(a < b) == (c != d)", "((a<b)==(c!=d))"),
        ("(a + b)'", "((a+b)')"),
        ("a' * b''", "((a')*((b')'))"),
        ("--a", "(-(-a))"),
        ("a<-1", "(a<(-1))"),
        ("1e-3 + 1_000 + .5 + 2.", "(((0.001+1000)+0.5)+2.0)"),
        ("5.*x", "(5.*x)"),
        ("true + false", "(1+0)"),
    ] {
        assert_eq!(grouped(&value(source)), expected, "{source}");
    }
}

#[test]
fn spans_cover_what_was_written() {
    let source = "let x = (a + b) * f(c )[1, 2] # end";
    let program = parse(source).unwrap();
    let statement = &program.statements[0];
    assert_eq!(statement.span.text(source), "let x = (a + b) * f(c )[1, 2]");
    let StmtKind::Let(definition) = &statement.kind else { panic!() };
    assert_eq!(definition.value.span.text(source), "(a + b) * f(c )[1, 2]");
    let ExprKind::Binary(_, left, right) = &definition.value.kind else { panic!() };
    assert_eq!(left.span.text(source), "(a + b)");
    assert_eq!(right.span.text(source), "f(c )[1, 2]");
}

#[test]
fn newlines_end_statements_only_where_they_should() {
    for (source, statements) in [
        ("", 0),
        ("\n\n# only a comment\n", 0),
        ("let a = 1\nlet b = 2", 2),
        ("let a = 1; let b = 2;", 2),
        ("let a = 1 +\n  2", 1),
        ("let a = 1\n  + 2", 1),
        ("let a =\n  1", 1),
        ("let a = f(1,\n  # why\n\n  2)\nlet b = 1", 2),
        ("param x\n  : real > 0\n  ~ normal(0,\n 1)\n  noncentered\ny ~ flat()", 2),
        ("y ~ poisson(l)\n  weight w\nz ~ flat()", 2),
        ("y ~ poisson(l)\nweight ~ flat()", 2),
        ("y ~ poisson(l)\nweight[1] ~ flat()", 2),
        ("y ~ poisson(l) # say\n\n  // more\n  weight w", 1),
        ("for i in 1..3\n{\n let a[i] = 1\n}\nlet b = 1", 2),
        ("if N > 1 {\n}\nelse if N > 2 {\n}\nelse\n{\n}", 1),
        ("data { a : real; b : int }\nparam x", 2),
        ("data { a : real } param x", 2),
        ("data {\n weight : real[N]\n offset : real[N]\n of : real\n missing : real missing\n}", 1),
        ("data a : real[N] > 0\r\nparam b\r\n", 2),
        ("fn f(x)\n = x + 1\nfn g(x, y) {\n let z = x\n return z * y\n}", 2),
        ("(y - m) ~ normal(0, 1)\n[a, b] ~ normal(0, 1)", 2),
        ("let a = 1\n\u{a0}let b = 2", 2),
        ("\u{feff}let a = 1", 1),
    ] {
        assert_eq!(count(source), statements, "{source}");
    }
}

#[test]
fn names_of_distributions_and_soft_words_are_free() {
    let source =
        "data { normal : real[N]; gamma : real[N]; weight : real[N]; offset : real[N]; levels : int }
        param beta ~ normal(0, 1)
        normal ~ normal(beta * gamma + offset, weight) weight weight
        let mixture = levels + real + param_x + dataset + inner + truex";
    assert_eq!(count(source), 4);
}

#[test]
fn nesting_is_bounded_without_a_stack_overflow() {
    let deep = |open: &str, close: &str, n: usize| format!("let x = {}1{}", open.repeat(n), close.repeat(n));
    for (open, close) in [("(", ")"), ("[", "]"), ("f(", ")"), ("x[", "]"), ("-(", ")"), ("1 + 2 * (", ")")] {
        assert_eq!(codes(&deep(open, close, 80)), ["ok"], "{open}");
        assert_eq!(codes(&deep(open, close, 10_000)), ["too-deep"], "{open}");
    }
    assert_eq!(codes(&deep("-", "", 10_000)), ["too-deep"]);
    assert_eq!(codes(&deep("1 + ", "", 10_000)), ["too-deep"]);
    assert_eq!(codes(&deep("2 ^ ", "", 10_000)), ["too-deep"]);
    assert_eq!(codes(&deep("", "'", 10_000)), ["too-deep"]);
    assert_eq!(codes(&deep("", "[1]", 10_000)), ["too-deep"]);
    assert_eq!(codes(&deep("1 + ", "", 300)), ["ok"]);
    assert_eq!(codes(&format!("if a {{ }} {}", "else if a { }".repeat(10_000))), ["too-deep"]);
    assert_eq!(codes(&format!("{}{}", "if a {".repeat(10_000), "}".repeat(10_000))), ["too-deep"]);
    assert_eq!(codes(&format!("y ~ {}n(){}", "truncated(".repeat(10_000), ")".repeat(10_000))), ["too-deep"]);
}

#[test]
fn nesting_does_not_cost_exponential_time() {
    let n = 90;
    for source in [
        format!("let x = {}1{}", "x[".repeat(n), "]".repeat(n)),
        format!("let x = {}1 1{}", "(".repeat(n), ")".repeat(n)),
        format!("let x = {}1 1{}", "f(a = x[".repeat(n / 2), "])".repeat(n / 2)),
        format!("y ~ {}n() n(){}", "mixture(w: ".repeat(n), ")".repeat(n)),
        format!("y ~ {}n() n(){}", "zero_inflated(0, ".repeat(n), ")".repeat(n)),
        format!("y ~ {}n() n(), lower = 1{}", "truncated(".repeat(n), ")".repeat(n)),
        format!("{} 1 1 {}", "if a { for i in 1..2 {".repeat(n / 2), "} }".repeat(n / 2)),
        format!("{} 1 1 {}", "fn f(x) {".repeat(n), "}".repeat(n)),
    ] {
        codes(&source);
    }
}

#[test]
fn a_huge_text_is_refused_at_once() {
    assert_eq!(codes(&"x".repeat(10_000_000)), ["too-long"]);
    assert_eq!(codes(&"\n".repeat(1_000_000)), ["ok"]);
    assert_eq!(codes(&format!("let x = [{}1]", "1,".repeat(400_000))), ["ok"]);
    assert_eq!(codes(&"[)".repeat(500_000)).len(), 10);
}

#[test]
fn numbers_out_of_range_are_not_silently_changed() {
    assert_eq!(codes("let x = 9223372036854775807"), ["ok"]);
    assert_eq!(codes("let x = 9223372036854775808"), ["integer-too-big"]);
    assert_eq!(codes("let x = 1e309"), ["number-too-big"]);
}

#[test]
fn brackets_are_paired() {
    for (source, expected) in [
        ("param x : real in (0, 1] ~ flat()", "ok"),
        ("param x : real in [0, 1) ~ flat()", "ok"),
        ("y ~ normal(0, 1]", "mismatched-bracket"),
        ("y ~ normal(0, 1\nlet x = 1", "unclosed-bracket"),
        ("y ~ normal(0, 1))", "stray-bracket"),
        ("for i in 1..2 {\nlet a[i] = 1\n", "unclosed-bracket"),
        ("let a = 1\n}", "stray-bracket"),
        ("let a = \"open", "unclosed-string"),
        ("let a = \"open\\\"", "unclosed-string"),
        ("let a = \"closed\\\\\"", "ok"),
        ("let a = \"\\\"\"", "ok"),
    ] {
        assert_eq!(codes(source), [expected], "{source}");
    }
}

#[test]
fn the_grammar_leaves_these_to_the_builder() {
    for (source, expected) in [
        ("let x = a < b < c", "chained-comparison"),
        ("let x = (a < b) < c", "ok"),
        ("let x = f(a = 1, 2)", "positional-after-named"),
        ("let x = f(a = 1, a = 2)", "argument-twice"),
        ("return 1", "misplaced-return"),
        ("fn f(x) { let y = x }", "no-return"),
        ("fn f(x) { return x; let y = x }", "no-return"),
        ("y ~ truncated(normal(0, 1), 0)", "unnamed-limit"),
        ("y ~ truncated(normal(0, 1), low = 0)", "unknown-argument"),
        ("y ~ truncated(normal(0, 1))", "no-limit"),
        ("param x : real > 0 > 1", "type-clause-twice"),
        ("data { x : real[N] = column(\"a\", \"b\") }", "several-columns"),
    ] {
        assert_eq!(codes(source).first(), Some(&expected), "{source}");
    }
}
