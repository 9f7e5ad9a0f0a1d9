//! Every model in `tests/wrong-models` is refused, every one in `tests/doubtful-models` accepted with a
//! warning, and what the user is told about it is a snapshot.

use std::path::PathBuf;
use stickler::source::{Diagnostic, Severity, render};

/// What is wrong with a model.
fn problems(source: &str) -> Vec<Diagnostic> {
    match stickler::syntax::parse(source) {
        Ok(program) => stickler::model::check(&program, source).err().unwrap_or_default(),
        Err(problems) => problems,
    }
}

/// The models of a folder beside this file, by name, in order.
fn models(folder: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let name = |file: &PathBuf| file.file_name().unwrap().to_string_lossy().into_owned();
    files.iter().map(|file| (name(file), std::fs::read_to_string(file).unwrap())).collect()
}

#[test]
fn doubtful_models_are_accepted_with_a_warning() {
    for (name, source) in models("doubtful-models") {
        let program = stickler::syntax::parse(&source).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let warnings = stickler::model::check(&program, &source).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        assert!(warnings.iter().all(|w| w.severity == Severity::Warning) && !warnings.is_empty(), "{name}");
        snapshot(&name, &warnings, &source);
    }
}

/// Compares what is told of a model with what is stored.
fn snapshot(name: &str, told: &[Diagnostic], source: &str) {
    let rendered: Vec<String> = told.iter().map(|problem| render(problem, name, source)).collect();
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name.trim_end_matches(".ppl"), rendered.join("\n"));
    });
}

#[test]
fn wrong_models_are_explained() {
    for (name, source) in models("wrong-models") {
        let problems = problems(&source);
        assert!(!problems.is_empty(), "{name} is not refused");
        snapshot(&name, &problems, &source);
    }
}

#[test]
fn a_size_that_the_model_fixes_is_no_error() {
    let source =
        "data { K : int; y : real[N] }\nparam m : ordered[K] ~ normal([0, 3, 5], 1)\ny ~ normal(m[1], 1)";
    assert!(problems(source).is_empty(), "{:?}", problems(source));
    assert!(!problems(&source.replace("[0, 3, 5]", "y")).is_empty());
}

/// Models with sizes in arithmetic that nothing is wrong with, whatever the data are.
#[test]
fn sizes_in_arithmetic_are_no_error() {
    let head = "data { y : real[N]; x : real[N]; X : real[N, D]; g : category[N] of J; K : int; k : int[N] }\n\
                param a ~ normal(0, 1)\nparam u[J] ~ normal(0, 1)\nparam b[D] ~ normal(0, 1)\n";
    for text in [
        "y[2..N] ~ normal(a * y[1..N-1], 1)",
        "let d = y[2..N] - y[1..N-1]\nd ~ normal(a, 1)",
        "let two = concat(y, x)\ntwo ~ normal(rep(a, 2 * N), 1)",
        "let s = seq(1, N)\ny ~ normal(a * s, 1)",
        "let s = seq(2, N + 1)\ny ~ normal(a * s, 1)",
        "let m = reshape(concat(y, x), 2, N)\nm' ~ normal(a, 1)",
        "param w[N - 1] ~ normal(0, 1)\ny[2..N] ~ normal(w, 1)",
        "param w[2 * K] ~ normal(0, 1)\nlet v = w[1..K] - w[K+1..2*K]\ny ~ normal(v[1] + a, 1)",
        "param w[(N - 1) * 2] ~ normal(0, 1)\nlet m = reshape(w, N - 1, 2)\ny[2..N] ~ normal(m[:, 1], 1)",
        "param w[J * D] ~ normal(0, 1)\nlet m = reshape(w, J, D)\ny ~ normal(rowsum(X .* m[g]), 1)",
        "let s[1] = a\nfor t in 2..N { let s[t] = 0.5 * s[t-1] + x[t-1] }\ny ~ normal(s, 1)",
        "let s[1] = a\nlet s[2] = a\nfor t in 3..N { let s[t] = s[t-1] - s[t-2] }\ny ~ normal(s[1..N], 1)",
        "for t in 1..N { let z[t] = a + sum(z[1..t-1]) }\ny ~ normal(z, 1)",
        "for t in 1..N { if t == 1 { let z[t] = a } else { let z[t] = z[t-1] * x[t] } }\ny ~ normal(z, 1)",
        "for t in 1..N { if t > 1 { y[t] ~ normal(a * y[t-1], 1) } }",
        "for t in 1..N { if t < N { y[t] ~ normal(a * y[t+1], 1) } }",
        "for i in 2..N { for j in 1..i-1 { target += a * y[i-j] } }",
        "for i in 1..N { y[N + 1 - i] ~ normal(a * x[i], 1) }",
        "for i in 1..idiv(N, 2) { y[2 * i] ~ normal(a, 1) }",
        "if K == 2 { y ~ normal(a + [1, 2][k], 1) } else { y ~ normal(a, 1) }",
        "if D == 2 { y ~ normal(X * [a, a], 1) } else { y ~ normal(X * b, 1) }",
        "let c = X' * X\nlet e = cholesky(add_diag(c, 0.1))\nb ~ multi_normal_cholesky(zeros(D), e)",
        "let z = [y, x]\nlet m = z[1, :] * a\ny ~ normal(m + z[2], 1)",
        "for j in 1..J { let m[j] = sum(y * (g == j)) / sum(g == j) }\ny ~ normal(m[g] + u[g], 1)",
        "y ~ normal(a + u[k], 1)",
        "y[k] ~ normal(a * x, 1)",
        "let h = head(y, N - 1)\nh ~ normal(a * tail(x, N - 1), 1)",
        "fn lag(v, n) = v[1..n-1]\ny[2..N] ~ normal(a * lag(y, N), 1)",
        "fn twice(v) { for i in 1..2 { let m[i] = v * i }\n return m }\nlet t = twice(a)\ny ~ normal(t[1] + t[2], 1)",
        "derive eff[J] = u - mean(u)\nderive first = eff[\"a\"]\ny ~ normal(u[g], 1)",
    ] {
        let source = format!("{head}{text}\ny ~ normal(X * b + u[g], 1)");
        assert!(problems(&source).is_empty(), "{text}: {:?}", problems(&source));
    }
}
