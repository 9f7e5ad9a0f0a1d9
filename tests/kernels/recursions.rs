//! Recursions as nodes mean what the same loops mean written out: value, gradient, Hessian-vector products,
//! in batches and one by one.
//!
//! A loop that is cut into pieces too short to be worth a node is written out, so each model is compared with
//! itself in pieces.

use stickler::certify::{Tier, certify};
use stickler::data::Dataset;
use stickler::graph::Op;
use stickler::num::stream::Stream;
use stickler::target::{ModelTarget, Target};

/// Steps of each series.
const T: usize = 307;

/// Steps of a piece: fewer than a loop with a node of its own has.
const PIECE: usize = 20;

/// A model with one loop over `t`.
struct Case {
    before: &'static str,
    /// The first step.
    from: usize,
    body: &'static str,
    after: &'static str,
}

const DATA: &str = "data { y : real[T]; x : real[T]; n : count[T]; g : int[T]; w : real[T, 3] }\n";

const CASES: [(&str, Case); 14] = [
    (
        "garch",
        Case {
            before: "param mu ~ normal(0, 1)\nparam a0 ~ half_normal(1)\nparam a1 : real in (0, 1) ~ flat()\n\
                     param b1 : real in (0, 1 - a1) ~ flat()\nlet s[1] = sd(y)\n",
            from: 2,
            body: "let s[t] = sqrt(a0 + a1 * (y[t-1] - mu)^2 + b1 * s[t-1]^2)",
            after: "y ~ normal(mu, s)\nderive last = s[T]\n",
        },
    ),
    (
        "arma(1, 1) with a helper and the likelihood in the loop",
        Case {
            before: "param mu ~ normal(0, 1)\nparam phi : real in (-1, 1) ~ flat()\nparam theta : real in (-1, 1) ~ flat()\n\
                     param sigma ~ half_normal(1)\nlet err[1] = y[1] - mu\n",
            from: 2,
            body: "let nu = mu + phi * y[t-1] + theta * err[t-1]\nlet err[t] = y[t] - nu\ny[t] ~ normal(nu, sigma)",
            after: "",
        },
    ),
    (
        "order two",
        Case {
            before: "param p1 ~ normal(0, 0.3)\nparam p2 ~ normal(0, 0.3)\nparam q ~ normal(0, 1)\nlet s[1] = q\nlet s[2] = 0.3\n",
            from: 3,
            body: "let s[t] = tanh(p1 * s[t-1] + p2 * s[t-2] + x[t])",
            after: "y ~ normal(s, 1)\n",
        },
    ),
    (
        "two coupled sequences, read in both orders",
        Case {
            before: "param a ~ normal(0, 0.3)\nparam b ~ normal(0, 0.3)\nlet u[1] = a\nlet v[1] = 1\n",
            from: 2,
            body: "let u[t] = a * u[t-1] + b * v[t-1] * x[t]\nlet v[t] = inv_logit(u[t] - b * v[t-1])",
            after: "y ~ normal(u, exp(v))\n",
        },
    ),
    (
        "conditions on data",
        Case {
            before: "param a ~ normal(0, 0.3)\nparam b ~ normal(0, 0.3)\nlet s[1] = b\n",
            from: 2,
            body: "if g[t] == 1 {\n let k = a * x[t]\n let s[t] = sin(s[t-1] + k)\n} else if x[t] > 0 {\n let s[t] = s[t-1] * s[t-1] * b\n} \
                   else {\n let s[t] = log(0.5 + s[t-1]^2)\n}",
            after: "y ~ normal(s, 1)\n",
        },
    ),
    (
        "a first step of its own",
        Case {
            before: "param a ~ normal(0, 0.3)\n",
            from: 1,
            body: "if t == 1 {\n let s[t] = a\n} else {\n let s[t] = cos(a * s[t-1]) + x[t]\n}",
            after: "y ~ normal(s, 1)\n",
        },
    ),
    (
        "own functions",
        Case {
            before: "fn g2(s, r, k) { let d = r - s; return k * tanh(d * d) }\nfn next(s, r, a, b) = log1p_exp(a + g2(s, r, b))\n\
                     param a ~ normal(0, 0.3)\nparam b ~ normal(0, 0.3)\nlet s[1] = 0.7\n",
            from: 2,
            body: "let s[t] = next(s[t-1], y[t-1], a, b)",
            after: "y ~ normal(0, 0.1 + s)\n",
        },
    ),
    (
        "vectors as elements, and parts of them",
        Case {
            before: "param A[3] : real[3] ~ normal(0, 0.2)\nparam c : real[3] ~ normal(0, 1)\nlet h[1] = c\n",
            from: 2,
            body: "let m = A * h[t-1]\nlet h[t] = tanh(m + w[t] .* c) + 0.1 * h[t-1, 2]\ny[t] ~ normal(sum(h[t]), 1)",
            after: "",
        },
    ),
    (
        "the forward algorithm by hand",
        Case {
            before: "param theta[2] : simplex[2] ~ flat()\nparam mu : ordered[2] ~ normal(0, 2)\n\
                     let lp = normal_lpdf(as_column(y) | mu, 1)\nlet a[1] = lp[1]\n",
            from: 2,
            body: "let a[t] = lp[t] + [log_sum_exp(a[t-1] + log(theta[:, 1])), log_sum_exp(a[t-1] + log(theta[:, 2]))]",
            after: "target += log_sum_exp(a[T])\n",
        },
    ),
    (
        "a window of earlier elements, and a fixed one",
        Case {
            before: "param a : real[2] ~ normal(0, 0.3)\nlet s[1] = a[1]\nlet s[2] = a[2] * 0.5\n",
            from: 3,
            body: "let s[t] = tanh(sum(a .* s[t-2..t-1]) + s[1] * x[t])",
            after: "y ~ normal(s, 1)\n",
        },
    ),
    (
        "elements that need no others, before and after",
        Case {
            before: "param a ~ normal(0, 0.3)\nparam b ~ normal(0, 1)\nlet s[1] = 1\n",
            from: 2,
            body: "let m[t] = a + b * x[t]\nlet s[t] = tanh(exp(-s[t-1]^2) * m[t])\nlet r[t] = s[t] + s[t-1]\n\
                   target += normal_lpdf(y[t] | r[t], 1)\nif g[t] > 1 {\n n[t] ~ poisson_log(r[t])\n}",
            after: "",
        },
    ),
    (
        "gathered by data, with indices that have names",
        Case {
            before: "param z : real[3] ~ normal(0, 1)\nparam a ~ normal(0, 0.3)\nlet s[1] = 0\n",
            from: 2,
            body: "let p = t - 1\nlet k = g[p]\nlet s[t] = sin(a * s[p]) + z[k]",
            after: "y ~ normal(s, 1)\n",
        },
    ),
    (
        "two recursions that do not need each other",
        Case {
            before: "param a ~ normal(0, 0.3)\nparam b ~ normal(0, 0.3)\nlet u[1] = 0.1\nlet v[1] = b\n",
            from: 2,
            body: "let u[t] = sin(a + u[t-1])\nlet v[t] = cos(b * v[t-1] + x[t])\ny[t] ~ normal(u[t] * v[t], 1)",
            after: "",
        },
    ),
    (
        "a random walk on the log scale",
        Case {
            before: "param z : real[T] ~ normal(0, 1)\nparam tau ~ half_normal(0.3)\nparam phi : real in (-1, 1) ~ flat()\n\
                     let h[1] = z[1]\n",
            from: 2,
            body: "let h[t] = phi * h[t-1] + tau * z[t]",
            after: "y ~ normal(0, exp(h / 2))\n",
        },
    ),
];

fn data() -> Dataset {
    let mut z = vec![0.0; 5 * T];
    Stream::new(3, 1, 4).fill_normal(&mut z);
    let row =
        |k: usize| z[k * T..(k + 1) * T].iter().map(|x| format!("{x:.6}")).collect::<Vec<_>>().join(", ");
    let list = |f: &dyn Fn(usize) -> String| (0..T).map(f).collect::<Vec<_>>().join(", ");
    let text = format!(
        "{{\"T\": {T}, \"y\": [{}], \"x\": [{}], \"n\": [{}], \"g\": [{}], \"w\": [{}]}}",
        row(0),
        row(1),
        list(&|t| ((t * 7 + 3) % 4).to_string()),
        list(&|t| (1 + (t * t + 5 * t) % 3).to_string()),
        list(&|t| format!("[{:.6}, {:.6}, {:.6}]", z[2 * T + t], z[3 * T + t], z[4 * T + t])),
    );
    Dataset::from_texts(&[("data.json", text.as_str())]).unwrap()
}

fn loops(case: &Case, piece: usize) -> String {
    let mut text = String::new();
    let mut from = case.from;
    while from <= T {
        let to = (from + piece - 1).min(T);
        text += &format!("for t in {from}..{to} {{\n{}\n}}\n", case.body);
        from = to + 1;
    }
    format!("{DATA}{}{text}{}", case.before, case.after)
}

fn compile(source: &str, data: &Dataset) -> ModelTarget {
    let explain = |e: Vec<stickler::source::Diagnostic>| panic!("{}\n{source}", e[0].message);
    ModelTarget::new(source, data).unwrap_or_else(explain)
}

fn recursions(target: &ModelTarget) -> usize {
    target.lowered().graph.iter().filter(|(_, node)| matches!(node.op, Op::Recursion(_))).count()
}

fn points(d: usize, draws: usize, seed: u64) -> Vec<f64> {
    let mut z = vec![0.0; d * draws];
    Stream::new(seed, 0, 1).fill_normal(&mut z);
    z.iter().map(|x| 0.5 * x).collect()
}

/// Value, then gradient.
fn evaluate(target: &ModelTarget, z: &[f64], draws: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut value, mut gradient) = (vec![0.0; draws], vec![0.0; target.dimension() * draws]);
    target.evaluator().evaluate(z, draws, &mut value, &mut gradient);
    (value, gradient)
}

fn assert_near(a: &[f64], b: &[f64], tolerance: f64, what: &str) {
    let size = a.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        assert!((x - y).abs() <= tolerance * size, "{what}, number {i}: {x} and {y}");
    }
}

/// Holds a loop with nodes to the same loop written out.
fn compare(name: &str, whole: &ModelTarget, pieces: &ModelTarget) {
    let d = whole.dimension();
    for seed in 0..3 {
        let z = points(d, 1, seed);
        let ((value, gradient), (v, g)) = (evaluate(whole, &z, 1), evaluate(pieces, &z, 1));
        assert!(value[0].is_finite(), "{name}: {value:?}");
        assert_near(&v, &value, 1e-12, &format!("{name}: value"));
        assert_near(&g, &gradient, 1e-12, &format!("{name}: gradient"));
        assert_near(&pieces.constrain(&z), &whole.constrain(&z), 1e-12, &format!("{name}: outputs"));
        let direction = points(d, 1, seed + 100);
        let (mut own, mut other) = (vec![0.0; d], vec![0.0; d]);
        whole.evaluator().hessian_vectors(&z, &direction, 1, &mut own);
        pieces.evaluator().hessian_vectors(&z, &direction, 1, &mut other);
        assert_near(&other, &own, 1e-11, &format!("{name}: Hessian"));
        let moved = |h: f64| {
            let z: Vec<f64> = z.iter().zip(&direction).map(|(z, d)| z + h * d).collect();
            evaluate(whole, &z, 1).1
        };
        let (ahead, behind) = (moved(1e-5), moved(-1e-5));
        let difference: Vec<f64> = ahead.iter().zip(&behind).map(|(a, b)| (a - b) / 2e-5).collect();
        assert_near(&difference, &own, 1e-6, &format!("{name}: Hessian by differences"));
    }
    let draws = 19;
    let z = points(d, draws, 50);
    let (values, gradients) = evaluate(whole, &z, draws);
    for b in 0..draws {
        let one: Vec<f64> = (0..d).map(|i| z[i * draws + b]).collect();
        let (value, gradient) = evaluate(whole, &one, 1);
        let of: Vec<f64> = (0..d).map(|i| gradients[i * draws + b]).collect();
        assert_near(&value, &values[b..=b], 1e-12, &format!("{name}: value in a batch"));
        assert_near(&gradient, &of, 1e-12, &format!("{name}: gradient in a batch"));
    }
}

#[test]
fn loops_with_nodes_mean_what_they_mean_written_out() {
    let data = data();
    for (name, case) in &CASES {
        let whole = compile(&loops(case, T), &data);
        let pieces = compile(&loops(case, PIECE), &data);
        assert!(recursions(&whole) > 0, "{name}: no recursion");
        assert_eq!(recursions(&pieces), 0, "{name}: pieces are written out");
        compare(name, &whole, &pieces);
    }
}

#[test]
fn independent_recursions_have_a_node_each() {
    let (_, case) =
        CASES.iter().find(|(name, _)| *name == "two recursions that do not need each other").unwrap();
    assert_eq!(recursions(&compile(&loops(case, T), &data())), 2);
}

#[test]
fn what_is_affine_or_known_is_written_out() {
    let data = data();
    for (before, body) in [
        ("param z : real[T] ~ normal(0, 1)\nlet s[1] = z[1]\n", "let s[t] = 0.9 * s[t-1] + z[t]"),
        ("param z ~ normal(0, 1)\nlet s[1] = 0\n", "let s[t] = sin(s[t-1]) + x[t]"),
    ] {
        let source = format!("{DATA}{before}for t in 2..T {{\n{body}\n}}\ny ~ normal(s, 1)\n");
        assert_eq!(recursions(&compile(&source, &data)), 0, "{source}");
    }
}

#[test]
fn wrong_loops_are_told_as_ever() {
    let data = data();
    let cases = [
        ("let s[t] = sin(a * s[t])", "element-undefined"),
        ("let s[t] = sin(a * s[t+1])", "element-undefined"),
        ("let s[t] = sin(a * s[t-2])", "index-out-of-range"),
        ("y[t] ~ normal(s[t], 1)\nlet s[t] = sin(a * s[t-1])", "element-undefined"),
        ("let s[t] = sin(a * s[t-1])\nlet s[t] = 1", "defined-twice"),
        ("let s[t] = sin(a * s[t-1])\nlet unused = nothing + 1", "unknown-name"),
        ("let a = 1\nlet s[t] = sin(a * s[t-1])", "defined-twice"),
        ("let s[t] = sin(a * s[t-1]) + x[t+1]", "index-out-of-range"),
        ("let s[t] = sin(a * s[t-1])\ny[t] ~ normal(s[t], missing_name)", "unknown-name"),
        ("let s[t] = [s[t-1], a]", "shape-mismatch"),
    ];
    for (body, code) in cases {
        let source = format!(
            "{DATA}param a ~ normal(0, 1)\nlet s[1] = 0.1\nfor t in 2..T {{\n{body}\n}}\ny ~ normal(s, 1)\n"
        );
        let errors = ModelTarget::new(&source, &data).err().unwrap_or_else(|| panic!("no error in {body}"));
        assert_eq!(errors[0].code, code, "{body}: {}", errors[0].message);
    }
}

/// A random expression of the step, with values that stay bounded.
fn expression(random: &mut impl FnMut(usize) -> usize, depth: usize) -> String {
    const LEAVES: [&str; 9] = ["s[t-1]", "s[t-2]", "u[t-1]", "a", "b", "x[t]", "y[t-1]", "z[t]", "0.7"];
    if depth == 0 || random(5) == 0 {
        return LEAVES[random(LEAVES.len())].to_string();
    }
    let mut part = || expression(random, depth - 1);
    let (left, right) = (part(), part());
    match random(9) {
        0 => format!("({left} + {right})"),
        1 => format!("({left} - {right})"),
        2 => format!("tanh({left} * {right})"),
        3 => format!("sqrt(1 + {left}^2)"),
        4 => format!("({left} / (2 + {right}^2))"),
        5 => format!("exp(-({left})^2)"),
        6 => format!("inv_logit({left})"),
        7 => format!("log1p({left}^2)"),
        _ => format!("where(x[t] > 0, {left}, {right})"),
    }
}

#[test]
fn random_recursions_mean_what_they_mean_written_out() {
    let data = data();
    let mut noise = vec![0.0; 4000];
    Stream::new(11, 2, 1).fill_normal(&mut noise);
    let mut next = 0;
    let mut random = |n: usize| {
        next += 1;
        ((noise[next % noise.len()].abs() * 1e6) as usize) % n
    };
    let mut seen = 0;
    for model in 0..12 {
        let before = "param a ~ normal(0, 1)\nparam b ~ normal(0, 1)\nparam z : real[T] ~ normal(0, 1)\n\
                      let s[1] = a\nlet s[2] = 0.2 * a\nlet u[2] = b\nlet u[1] = 0\n";
        let (s, u) = (expression(&mut random, 3), expression(&mut random, 3));
        let body = format!("let s[t] = tanh({s} + 0.1 * s[t-1])\nlet u[t] = sin({u} + 0.3 * s[t])");
        let text = |piece: usize| {
            let case = Case {
                before,
                from: 3,
                body: Box::leak(body.clone().into_boxed_str()),
                after: "y ~ normal(s + u, 1)\n",
            };
            loops(&case, piece)
        };
        let (whole, pieces) = (compile(&text(T), &data), compile(&text(PIECE), &data));
        seen += recursions(&whole);
        compare(&format!("random model {model}: {body}"), &whole, &pieces);
    }
    assert!(seen >= 12, "{seen} recursions");
}

#[test]
fn certificates_do_not_depend_on_the_form() {
    let data = data();
    let convex = Case {
        before: "param b ~ normal(0, 1)\nlet a[1] = b\n",
        from: 2,
        body: "let a[t] = log_sum_exp([a[t-1] + x[t] * b, 0.5])",
        after: "target += -a[T]\n",
    };
    for (name, case) in CASES.iter().map(|(name, case)| (*name, case)).chain([("convex", &convex)]) {
        let [whole, pieces] = [T, PIECE].map(|piece| certify(compile(&loops(case, piece), &data).lowered()));
        assert_eq!(whole.tier, pieces.tier, "{name}");
        for (a, b) in [(whole.least, pieces.least), (whole.most, pieces.most)] {
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(1.0);
            assert!(a.is_none() && b.is_none() || near(a.unwrap(), b.unwrap()), "{name}: {a:?} {b:?}");
        }
        if name == "convex" {
            assert_ne!(whole.tier, Tier::None);
            assert!(whole.least.is_some_and(|m| m >= 1.0), "the prior alone gives 1: {:?}", whole.least);
        }
    }
}

#[test]
fn a_long_recursion_makes_no_more_nodes_than_a_short_one() {
    let count = |n: usize| {
        let y: Vec<String> = (0..n).map(|t| format!("{}", (0.7 * t as f64).sin())).collect();
        let data = Dataset::from_texts(&[("data.csv", format!("y\n{}\n", y.join("\n")).as_str())]).unwrap();
        let source = "data { y : real[T] }\nparam a ~ normal(0, 1)\nlet s[1] = a\n\
                      for t in 2..T {\nlet s[t] = sin(a * s[t-1]) + y[t-1]\ny[t] ~ normal(s[t], 1)\n}\n";
        compile(source, &data).lowered().graph.len()
    };
    assert_eq!(count(300), count(6000));
}
