//! The syntax tree as indented text, one node a line, without places: for `stickler dump --stage ast` and for
//! tests.

use super::ast::{
    Arg, Bound, Centering, DataDecl, DataSource, DistExpr, DistKind, Expr, ExprKind, Index, Program, Stmt,
    StmtKind, TypeExpr,
};
use super::names::{base_name, binary_sign, unary_sign};

/// The whole tree. Two programs have the same text if and only if they differ at most in places.
pub fn dump(program: &Program) -> String {
    let mut dump = Dump { out: String::new(), depth: 0 };
    dump.statements(&program.statements);
    dump.out
}

struct Dump {
    out: String,
    depth: usize,
}

impl Dump {
    fn line(&mut self, text: impl AsRef<str>) {
        self.out.push_str(&"  ".repeat(self.depth));
        self.out.push_str(text.as_ref());
        self.out.push('\n');
    }

    /// A line, and what belongs to it one step further in.
    fn node(&mut self, text: impl AsRef<str>, children: impl FnOnce(&mut Self)) {
        self.line(text);
        self.depth += 1;
        children(self);
        self.depth -= 1;
    }

    fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Data(data) => self.node("data", |d| data.iter().for_each(|datum| d.datum(datum))),
            StmtKind::Param(param) => self.node(format!("param {}", param.name.name), |d| {
                d.labelled("size", &param.dims);
                if let Some(ty) = &param.ty {
                    d.type_expr(ty);
                }
                if let Some(prior) = &param.prior {
                    d.node("prior", |d| d.dist(prior));
                }
                match param.centering {
                    Some((Centering::Centered, _)) => d.line("centered"),
                    Some((Centering::Noncentered, _)) => d.line("noncentered"),
                    None => {}
                }
            }),
            StmtKind::Let(definition) => self.node(format!("let {}", definition.name.name), |d| {
                d.labelled("at", &definition.indices);
                d.expr(&definition.value);
            }),
            StmtKind::For(looped) => self.node(format!("for {}", looped.var.name), |d| {
                d.node("from", |d| d.expr(&looped.from));
                d.node("to", |d| d.expr(&looped.to));
                d.node("do", |d| d.statements(&looped.body));
            }),
            StmtKind::If(choice) => self.node("if", |d| {
                d.expr(&choice.condition);
                d.node("then", |d| d.statements(&choice.then));
                d.node("else", |d| d.statements(&choice.otherwise));
            }),
            StmtKind::Fn(function) => {
                let params: Vec<&str> = function.params.iter().map(|p| p.name.as_str()).collect();
                self.node(format!("fn {}({})", function.name.name, params.join(", ")), |d| {
                    d.statements(&function.body);
                    d.node("return", |d| d.expr(&function.result));
                });
            }
            StmtKind::Sample(sample) => self.node("sample", |d| {
                d.expr(&sample.value);
                d.dist(&sample.dist);
                d.labelled("weight", sample.weight.as_slice());
            }),
            StmtKind::Target(value) => self.node("target", |d| d.expr(value)),
            StmtKind::Derive(derived) => {
                self.node(format!("derive {}", derived.name.name), |d| {
                    d.labelled("size", &derived.indices);
                    d.expr(&derived.value);
                });
            }
            StmtKind::Predict(predicted) => self.node(format!("predict {}", predicted.name.name), |d| {
                d.labelled("size", &predicted.dims);
                d.dist(&predicted.dist);
            }),
        }
    }

    fn datum(&mut self, datum: &DataDecl) {
        self.node(&datum.name.name, |d| {
            d.type_expr(&datum.ty);
            if datum.missing {
                d.line("missing");
            }
            match &datum.source {
                Some(DataSource::Columns { patterns, single }) => {
                    let word = if *single { "column" } else { "columns" };
                    d.node(word, |d| patterns.iter().for_each(|p| d.line(format!("{:?}", p.text))));
                }
                Some(DataSource::Default(value)) => d.node("default", |d| d.expr(value)),
                None => {}
            }
        });
    }

    fn type_expr(&mut self, ty: &TypeExpr) {
        self.node(format!("type {}", base_name(ty.base)), |d| {
            d.labelled("size", &ty.dims);
            if let Some(name) = &ty.levels_name {
                d.line(format!("of {}", name.name));
            }
            if let Some(levels) = &ty.levels {
                d.node("levels", |d| levels.iter().for_each(|level| d.line(format!("{:?}", level.text))));
            }
            d.bound("above", ty.lower.as_ref());
            d.bound("below", ty.upper.as_ref());
            d.labelled("offset", ty.offset.as_slice());
            d.labelled("multiplier", ty.multiplier.as_slice());
        });
    }

    fn bound(&mut self, side: &str, bound: Option<&Bound>) {
        if let Some(bound) = bound {
            let closed = if bound.closed { "at or " } else { "" };
            self.node(format!("{closed}{side}"), |d| d.expr(&bound.value));
        }
    }

    fn dist(&mut self, dist: &DistExpr) {
        match &dist.kind {
            DistKind::Call { name, args } => self.node(format!("~ {}", name.name), |d| d.args(args)),
            DistKind::Mixture(parts) => self.node("~ mixture", |d| {
                for (weight, part) in parts {
                    d.node("part", |d| {
                        d.expr(weight);
                        d.dist(part);
                    });
                }
            }),
            DistKind::Truncated { inner, lower, upper } => self.node("~ truncated", |d| {
                d.dist(inner);
                d.labelled("lower", lower.as_slice());
                d.labelled("upper", upper.as_slice());
            }),
            DistKind::Censored { inner, left, right, lower, upper } => self.node("~ censored", |d| {
                d.dist(inner);
                d.labelled("left", left.as_slice());
                d.labelled("right", right.as_slice());
                d.labelled("lower", lower.as_slice());
                d.labelled("upper", upper.as_slice());
            }),
            DistKind::ZeroInflated { probability, inner } => self.node("~ zero_inflated", |d| {
                d.expr(probability);
                d.dist(inner);
            }),
        }
    }

    fn args(&mut self, args: &[Arg]) {
        for arg in args {
            match &arg.name {
                Some(name) => self.node(format!("{} =", name.name), |d| d.expr(&arg.value)),
                None => self.expr(&arg.value),
            }
        }
    }

    fn labelled(&mut self, label: &str, exprs: &[Expr]) {
        for expr in exprs {
            self.node(label, |d| d.expr(expr));
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Real(value) => self.line(format!("{value:?}")),
            ExprKind::Int(value) => self.line(value.to_string()),
            ExprKind::Str(text) => self.line(format!("{text:?}")),
            ExprKind::Name(name) => self.line(name),
            ExprKind::Unary(op, operand) => self.node(unary_sign(*op), |d| d.expr(operand)),
            ExprKind::Binary(op, left, right) => self.node(binary_sign(*op), |d| {
                d.expr(left);
                d.expr(right);
            }),
            ExprKind::Transpose(operand) => self.node("transpose", |d| d.expr(operand)),
            ExprKind::Call { name, args } => self.node(format!("call {}", name.name), |d| d.args(args)),
            ExprKind::Index { base, indices } => self.node("index", |d| {
                d.expr(base);
                indices.iter().for_each(|index| d.index(index));
            }),
            ExprKind::Array(elements) => self.node("array", |d| elements.iter().for_each(|e| d.expr(e))),
        }
    }

    fn index(&mut self, index: &Index) {
        match index {
            Index::At(expr) => self.node("at", |d| d.expr(expr)),
            Index::Range { from, to, .. } => self.node("range", |d| {
                d.labelled("from", from.as_slice());
                d.labelled("to", to.as_slice());
            }),
            Index::All(_) => self.line("all"),
        }
    }
}
