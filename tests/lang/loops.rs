//! A loop taken as whole arrays means what its steps mean.

use stickler::data::Dataset;
use stickler::num::stream::Stream;
use stickler::target::{ModelTarget, Target};

const DATA: &str = "x,y,k,g\n0.5,1.5,2,a\n1.0,2.0,0,b\n-0.5,0.3,1,a\n2.0,2.2,4,b\n0.1,-0.4,3,a\n";

fn model(text: &str) -> ModelTarget {
    let data = Dataset::from_texts(&[("data.csv", DATA)]).unwrap();
    let head = "data { x : real[N]; y : real[N]; k : count[N]; g : category[N] of J }\n\
                param a ~ normal(0, 1)\nparam b[J] ~ normal(0, 1)\nparam s ~ half_normal(1)\nparam w ~ beta(2, 2)\n";
    ModelTarget::new(&format!("{head}{text}"), &data).unwrap()
}

fn density(model: &ModelTarget) -> (f64, Vec<f64>) {
    let d = model.dimension();
    let mut z = vec![0.0; d];
    Stream::new(3, 0, 0).fill_normal(&mut z);
    let (mut value, mut gradient) = ([0.0], vec![0.0; d]);
    model.evaluator().evaluate(&z, 1, &mut value, &mut gradient);
    (value[0], gradient)
}

#[test]
fn a_loop_means_what_its_steps_mean() {
    let cases = [
        ("y ~ normal(a + b[g] .* x, s)", "for i in 1..N { y[i] ~ normal(a + b[g[i]] * x[i], s) }", true),
        ("k ~ poisson_log(a + x)", "for i in 1..N { let eta = a + x[i]; k[i] ~ poisson_log(eta) }", true),
        (
            "let mu = a * x\ny ~ normal(mu, s)",
            "for i in 1..N { let mu[i] = a * x[i]; y[i] ~ normal(mu[i], s) }",
            true,
        ),
        (
            "let mu = a * x\ny[2..N] ~ normal(mu[2..N], s)",
            "let mu[1] = a * x[1]\nfor i in 2..N { let mu[i] = a * x[i] }\ny[2..N] ~ normal(mu[2..N], s)",
            true,
        ),
        (
            "y ~ mixture(w: normal(a, s), 1 - w: normal(0, 1))",
            "for i in 1..N { target += log_mix(w, normal_lpdf(y[i] | a, s), normal_lpdf(y[i] | 0, 1)) }",
            true,
        ),
        (
            "k + 1 ~ categorical_logit([a, s, w, 0, 1])",
            "for i in 1..N { k[i] + 1 ~ categorical_logit([a, s, w, 0, 1]) }",
            true,
        ),
        (
            "let m = [a, a + y[1], a + y[1] + y[2], a + y[1] + y[2] + y[3], a + y[1] + y[2] + y[3] + y[4]]\ny ~ normal(m, s)",
            "let m[1] = a\nfor i in 2..N { let m[i] = m[i - 1] + y[i - 1] }\ny ~ normal(m, s)",
            false,
        ),
        (
            "outer(x, y) ~ normal(a + outer(ones(5), x), s)",
            "for i in 1..N { for j in 1..N { let m[i, j] = a + x[j]; x[i] * y[j] ~ normal(m[i, j], s) } }",
            true,
        ),
        (
            "y[3..N] ~ normal(a, s)\ny[1..2] ~ normal(-a, s)",
            "for i in 1..N { if i > 2 { y[i] ~ normal(a, s) } else { y[i] ~ normal(-a, s) } }",
            true,
        ),
        (
            "let q = where(x > 0, a, s)\ny ~ normal(q, 1)",
            "for i in 1..N { if x[i] > 0 { let q[i] = a } else { let q[i] = s }; y[i] ~ normal(q[i], 1) }",
            true,
        ),
        (
            "target += 2 * a * 1.5 + 1 * a * 0.3 + 4 * a * 2.2 + 3 * a * -0.4 + 8 * sum(x)",
            "for i in 1..N { for j in 1..k[i] { target += a * y[i] }\nfor j in 2..4 { if j != 3 { target += 4 / 5 * sum(x) } } }",
            false,
        ),
        (
            "y ~ normal(exp(a * x) + b[g], s)",
            "fn f(x, a, c) { let u = a * x; return exp(u) + c }\nfor i in 1..N { y[i] ~ normal(f(x[i], a, b[g[i]]), s) }",
            true,
        ),
        (
            "rep(1, 5) ~ bernoulli(w)\nrep(1, 5) ~ normal(x, s)",
            "for i in 1..N { 1 ~ bernoulli(w); 1.0 ~ normal(x[i], s) }",
            true,
        ),
        (
            "let c = [y[1], y[1] - a * y[2], a]\nc ~ normal(0, s)",
            "let r[1] = y[1]\nfor i in 2..3 { let r[i] = r[i - 1] - a * y[2] }\nlet c = [r[1], r[2], a]\nc ~ normal(0, s)",
            false,
        ),
        (
            "target += log_sum_exp(log(w) + normal_lpdf(y[1] | [a, s], 1)) + log_sum_exp(log(w) + normal_lpdf(y[2] | [a, s], 1))",
            "for n in 1..2 { for j in 1..2 { let lp[n, j] = log(w) + normal_lpdf(y[n] | where(j == 1, a, s), 1) }\n\
             target += log_sum_exp(lp[n]) }",
            false,
        ),
        (
            "let e = [y[1], y[2], y[3] - a * y[2] - w * y[1], y[4]]\ne ~ normal(0, s)",
            "let e[1] = y[1]\nlet e[2] = y[2]\nfor t in 3..3 { let e[t] = y[t] - dot([w, a], e[t-2..t-1]) }\nlet e[4] = y[4]\n\
             e ~ normal(0, s)",
            false,
        ),
        ("b ~ normal(x[1] + x[2] + x[3], 1)", "for i in 1..1 { b ~ normal(x[1] + x[2] + x[3], 1) }", false),
    ];
    for (whole, stepwise, at_once) in cases {
        let (one, other) = (model(whole), model(stepwise));
        let ((p, g), (q, h)) = (density(&one), density(&other));
        assert!((p - q).abs() < 1e-12 * (1.0 + p.abs()), "{stepwise}: {q} against {p}");
        assert!(g.iter().zip(&h).all(|(g, h)| (g - h).abs() < 1e-11 * (1.0 + g.abs())), "{stepwise}");
        let terms = |m: &ModelTarget| m.lowered().terms.len();
        assert!(!at_once || terms(&one) == terms(&other), "{stepwise} was taken step by step");
    }
}

#[test]
fn a_long_loop_makes_no_more_nodes_than_a_short_one() {
    let nodes = |rows: usize| {
        let lines: Vec<String> = (0..rows).map(|i| format!("{i},{}", i % 7)).collect();
        let text = format!("x,y\n{}\n", lines.join("\n"));
        let data = Dataset::from_texts(&[("data.csv", &text)]).unwrap();
        let source = "data { x : real[N]; y : real[N] }\nparam a ~ normal(0, 1)\nparam s ~ half_normal(1)\n\
                      for i in 1..N { let mu[i] = a * x[i]; y[i] ~ normal(mu[i], s) }";
        ModelTarget::new(source, &data).unwrap().lowered().graph.len()
    };
    assert_eq!(nodes(10), nodes(1000));
}
