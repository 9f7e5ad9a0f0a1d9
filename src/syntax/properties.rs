//! Laws of the syntax over made-up trees and broken texts: printing and reading are inverse, formatting keeps
//! the meaning and is idempotent, and nothing panics.

use super::ast::*;
use super::format::lay_out;
use super::{dump, format, parse, print, print_expr};
use crate::source::{Diagnostic, Span, render};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Makes trees from a stream of random numbers.
struct Maker<R> {
    rng: R,
}

impl<R: Rng> Maker<R> {
    fn below(&mut self, n: usize) -> usize {
        self.rng.random_range(0..n)
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn many<T>(&mut self, least: usize, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let n = least + self.below(most - least + 1);
        (0..n).map(|_| make(self)).collect()
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.coin().then(|| make(self))
    }

    fn name(&mut self) -> String {
        self.pick(&[
            "x", "y_1", "mu", "σ", "weight", "offset", "normal", "mixture", "real", "dataset", "of", "_",
        ])
        .to_owned()
    }

    fn ident(&mut self) -> Ident {
        Ident { name: self.name(), span: Span::default() }
    }

    fn string(&mut self) -> StrLit {
        let text =
            self.pick(&["low", "a b*", "quote\"d", "back\\slash", "", "#5 // no comment", "é"]).to_owned();
        StrLit { text, span: Span::default() }
    }

    fn expr(&mut self, depth: usize) -> Expr {
        let kind = match self.below(if depth == 0 { 4 } else { 12 }) {
            0 => ExprKind::Int(self.pick(&[0, 1, 42, i64::MAX])),
            1 => ExprKind::Real(self.pick(&[0.5, 1.0, 1e-10, 1e300, 123456.789, 5e-324])),
            2 => ExprKind::Name(self.name()),
            3 => ExprKind::Str(self.string().text),
            4 => ExprKind::Unary(self.pick(&[UnaryOp::Neg, UnaryOp::Not]), Box::new(self.expr(depth - 1))),
            5 => ExprKind::Transpose(Box::new(self.expr(depth - 1))),
            6 => ExprKind::Call { name: self.ident(), args: self.args(depth - 1) },
            7 => ExprKind::Index {
                base: Box::new(self.expr(depth - 1)),
                indices: self.many(1, 3, |m| m.index(depth - 1)),
            },
            8 => ExprKind::Array(self.many(1, 3, |m| m.expr(depth - 1))),
            _ => {
                use BinaryOp::*;
                let op = self
                    .pick(&[Or, And, Eq, Ne, Lt, Le, Gt, Ge, Add, Sub, Mul, Div, ElemMul, ElemDiv, Pow, Pow]);
                ExprKind::Binary(op, Box::new(self.expr(depth - 1)), Box::new(self.expr(depth - 1)))
            }
        };
        Expr { kind, span: Span::default() }
    }

    fn index(&mut self, depth: usize) -> Index {
        match self.below(4) {
            0 => Index::All(Span::default()),
            1 => Index::Range {
                from: self.maybe(|m| m.expr(depth)),
                to: self.maybe(|m| m.expr(depth)),
                span: Span::default(),
            },
            _ => Index::At(self.expr(depth)),
        }
    }

    fn args(&mut self, depth: usize) -> Vec<Arg> {
        let mut args = self.many(0, 2, |m| Arg { name: None, value: m.expr(depth) });
        if self.coin() {
            args.push(Arg { name: Some(self.ident()), value: self.expr(depth) });
        }
        args
    }

    fn dist(&mut self, depth: usize) -> DistExpr {
        let kind = match self.below(if depth == 0 { 1 } else { 7 }) {
            1 => DistKind::Mixture(self.many(1, 3, |m| (m.expr(2), m.dist(depth - 1)))),
            2 => DistKind::Truncated {
                inner: Box::new(self.dist(depth - 1)),
                lower: Some(self.expr(2)),
                upper: self.maybe(|m| m.expr(2)),
            },
            3 => DistKind::Censored {
                inner: Box::new(self.dist(depth - 1)),
                left: self.maybe(|m| m.expr(2)),
                right: Some(self.expr(2)),
                lower: self.maybe(|m| m.expr(2)),
                upper: self.maybe(|m| m.expr(2)),
            },
            4 => DistKind::ZeroInflated { probability: self.expr(2), inner: Box::new(self.dist(depth - 1)) },
            _ => DistKind::Call {
                name: Ident {
                    name: self.pick(&["normal", "gamma", "flat"]).to_owned(),
                    span: Span::default(),
                },
                args: self.args(2),
            },
        };
        DistExpr { kind, span: Span::default() }
    }

    fn ty(&mut self) -> TypeExpr {
        use BaseType::*;
        let base = self.pick(&[
            Real,
            Int,
            Binary,
            Count,
            Category,
            Simplex,
            Ordered,
            PositiveOrdered,
            UnitVector,
            SumToZero,
            CorrMatrix,
            CovMatrix,
            CholeskyCorr,
            CholeskyCov,
        ]);
        let bound = |m: &mut Self| Bound { value: m.expr(2), closed: m.coin() };
        TypeExpr {
            base,
            base_span: Span::default(),
            dims: self.many(0, 2, |m| m.expr(2)),
            levels_name: self.maybe(Self::ident),
            levels: self.maybe(|m| m.many(1, 3, Self::string)),
            lower: self.maybe(bound),
            upper: self.maybe(bound),
            offset: self.maybe(|m| m.expr(2)),
            multiplier: self.maybe(|m| m.expr(2)),
            span: Span::default(),
        }
    }

    fn datum(&mut self) -> DataDecl {
        let source = match self.below(4) {
            0 => Some(DataSource::Columns { patterns: self.many(1, 3, Self::string), single: false }),
            1 => Some(DataSource::Columns { patterns: self.many(1, 1, Self::string), single: true }),
            2 => Some(DataSource::Default(self.expr(2))),
            _ => None,
        };
        DataDecl { name: self.ident(), ty: self.ty(), missing: self.coin(), source, span: Span::default() }
    }

    fn statement(&mut self, depth: usize) -> Stmt {
        let kind = match self.below(if depth == 0 { 8 } else { 11 }) {
            0 => StmtKind::Data(self.many(0, 3, Self::datum)),
            1 | 2 => StmtKind::Param(ParamDecl {
                name: self.ident(),
                dims: self.many(0, 2, |m| m.expr(2)),
                ty: self.maybe(Self::ty),
                prior: self.maybe(|m| m.dist(2)),
                centering: self
                    .maybe(|m| (m.pick(&[Centering::Centered, Centering::Noncentered]), Span::default())),
            }),
            3 => StmtKind::Let(LetDecl {
                name: self.ident(),
                indices: self.many(0, 2, |m| m.expr(2)),
                value: self.expr(4),
            }),
            4 => StmtKind::Sample(Sample {
                value: self.sampled(),
                dist: self.dist(2),
                weight: self.maybe(|m| m.expr(2)),
            }),
            5 => StmtKind::Target(self.expr(4)),
            6 => StmtKind::Derive(DeriveDecl {
                name: self.ident(),
                indices: self.many(0, 2, |m| m.expr(2)),
                value: self.expr(4),
            }),
            7 => StmtKind::Predict(PredictDecl {
                name: self.ident(),
                dims: self.many(0, 2, |m| m.expr(2)),
                dist: self.dist(2),
            }),
            8 => StmtKind::For(ForLoop {
                var: self.ident(),
                from: self.expr(2),
                to: self.expr(2),
                body: self.many(0, 3, |m| m.statement(depth - 1)),
            }),
            9 => StmtKind::If(IfStmt {
                condition: self.expr(3),
                then: self.many(0, 2, |m| m.statement(depth - 1)),
                otherwise: self.many(0, 2, |m| m.statement(depth - 1)),
            }),
            _ => StmtKind::Fn(FnDecl {
                name: self.ident(),
                params: self.many(0, 3, Self::ident),
                body: self.many(0, 2, |m| m.statement(depth - 1)),
                result: self.expr(3),
            }),
        };
        Stmt { kind, span: Span::default() }
    }

    /// The left side of `~`. A line that begins with a minus or with one of the words of a clause continues
    /// the line before, so such a left side is written in another way.
    fn sampled(&mut self) -> Expr {
        loop {
            let value = self.expr(3);
            let text = print_expr(&value);
            let continues = ["-", "of", "weight", "offset"].iter().any(|start| text.starts_with(start));
            if !continues {
                return value;
            }
        }
    }

    fn program(&mut self) -> Program {
        Program { statements: self.many(0, 6, |m| m.statement(2)) }
    }
}

#[test]
fn printing_and_reading_are_inverse_and_formatting_keeps_the_meaning() {
    let mut maker = Maker { rng: ChaCha8Rng::seed_from_u64(1) };
    for _ in 0..2_000 {
        let program = maker.program();
        let text = print(&program);
        let problems = |found: Vec<Diagnostic>| -> String {
            found.iter().map(|p| render(p, "made-up", &text)).collect()
        };
        let again = parse(&text).unwrap_or_else(|found| panic!("{text}\n{}", problems(found)));
        assert_eq!(dump(&again), dump(&program), "{text}");
        let formatted = lay_out(&text);
        assert_eq!(lay_out(&formatted), formatted, "formatting twice\n{text}");
        assert_eq!(dump(&parse(&formatted).unwrap()), dump(&program), "{text}");
    }
}

/// Texts to break: all wrong models, and right ones made up.
fn seeds() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrong-models");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut seeds: Vec<String> = files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect();
    let mut maker = Maker { rng: ChaCha8Rng::seed_from_u64(2) };
    seeds.extend((0..40).map(|_| print(&maker.program())));
    seeds
}

/// Cuts, repeats, replaces or inserts something somewhere.
fn mutate(text: &str, other: &str, rng: &mut impl Rng) -> String {
    const PIECES: [&str; 40] = [
        "(", ")", "[", "]", "{", "}", "\"", "'", "~", "=", "==", "<", ">", "<-", ":", ";", ",", "..", ".",
        "*", "**", "%", "|", "\n", "#", "//", "é", "\u{0}", "\\", "param ", "let ", "data ", "for ", "if ",
        "else ", "in ", "weight ", "1e", "_", "\r\n",
    ];
    let chars: Vec<char> = text.chars().collect();
    let a = rng.random_range(0..=chars.len());
    let b = rng.random_range(a..=chars.len().min(a + 12));
    let piece: String = match rng.random_range(0..4) {
        0 => String::new(),
        1 => PIECES[rng.random_range(0..PIECES.len())].to_owned(),
        2 => chars[a..b].iter().chain(&chars[a..b]).collect(),
        _ => other.chars().skip(rng.random_range(0..=other.chars().count())).take(20).collect(),
    };
    let end = if rng.random_range(0..8) == 0 { a } else { chars.len() };
    chars[..a].iter().copied().chain(piece.chars()).chain(chars[b.min(end)..end].iter().copied()).collect()
}

#[test]
fn no_text_brings_the_parser_or_the_formatter_down() {
    let seeds = seeds();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for case in 0..20_000 {
        let mut text = seeds[case % seeds.len()].clone();
        for _ in 0..rng.random_range(1..4) {
            let other = &seeds[rng.random_range(0..seeds.len())];
            text = mutate(&text, other, &mut rng);
        }
        match format(&text) {
            Ok(formatted) => {
                assert_eq!(formatted, lay_out(&text), "formatting changes the meaning of\n{text}");
                assert_eq!(lay_out(&formatted), formatted, "formatting twice\n{text}");
            }
            Err(problems) => {
                assert!((1..=10).contains(&problems.len()), "{text}");
                for problem in &problems {
                    let rendered = render(problem, "mutated", &text);
                    assert!(!problem.labels.is_empty() && rendered.len() < 20_000, "{text}\n{rendered}");
                }
            }
        }
    }
}

/// All models of the project, wherever they are kept.
fn models(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            models(&path, found);
        } else if path.extension().is_some_and(|e| e == "ppl" || e == "model") {
            found.push(path);
        }
    }
}

#[test]
fn formatting_the_models_keeps_their_meaning() {
    let mut files = Vec::new();
    for folder in ["models", "examples", "tests"] {
        models(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
    }
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let Ok(program) = parse(&text) else { continue };
        let formatted = lay_out(&text);
        let again = parse(&formatted).unwrap_or_else(|p| panic!("{}\n{p:?}", file.display()));
        assert_eq!(dump(&again), dump(&program), "{}", file.display());
        assert_eq!(lay_out(&formatted), formatted, "{}", file.display());
    }
}
