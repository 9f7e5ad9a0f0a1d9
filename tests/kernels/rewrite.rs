//! Rewritten and plain plans compute the same log density and gradient.

use stickler::data::Dataset;
use stickler::lower::lower;
use stickler::num::stream::Stream;
use stickler::syntax::parse;
use stickler::target::{ModelTarget, Target};

fn both(source: &str, data: &Dataset) -> (ModelTarget, ModelTarget) {
    let program = parse(source).expect("parses");
    let make = || lower(&program, source, data).expect("lowers");
    (ModelTarget::from_lowered(make()), ModelTarget::with_rules(make(), &[]))
}

fn evaluate(target: &ModelTarget, z: &[f64]) -> (f64, Vec<f64>) {
    let (mut value, mut gradient) = ([0.0], vec![0.0; z.len()]);
    target.evaluator().evaluate(z, 1, &mut value, &mut gradient);
    (value[0], gradient)
}

/// Value and gradient agree to `tolerance`, relative to the size of the numbers that are added up.
fn agree(source: &str, data: &Dataset, scale: f64, tolerance: f64) {
    let (rewritten, plain) = both(source, data);
    assert!(
        stickler::plan::dump(rewritten.plan()) != stickler::plan::dump(plain.plan()),
        "no rule applied to\n{source}"
    );
    for k in 0..5 {
        let mut z = vec![0.0; plain.dimension()];
        Stream::new(7, 0, k).fill_normal(&mut z);
        z.iter_mut().for_each(|x| *x *= scale);
        let ((a, g), (b, h)) = (evaluate(&rewritten, &z), evaluate(&plain, &z));
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "value {a} against {b}");
        let top = h.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        for (x, y) in g.iter().zip(&h) {
            assert!((x - y).abs() <= tolerance * top, "gradient {x} against {y} in\n{source}");
        }
    }
}

fn table(rows: usize, columns: usize, offset: f64, collinear: f64) -> Dataset {
    let mut stream = Stream::new(11, 1, rows as u64);
    let mut text: String = (1..=columns).map(|j| format!("x{j},")).collect::<String>() + "y,w,group\n";
    for i in 0..rows {
        let first = stream.normal();
        for j in 0..columns {
            let x = if j == 0 { first } else { first + collinear * stream.normal() };
            text += &format!("{},", offset + x);
        }
        text += &format!("{},{},g{}\n", offset + first + stream.normal(), stream.uniform(), i % 7);
    }
    Dataset::from_texts(&[("data.csv", text.as_str())]).expect("reads")
}

const REGRESSION: &str = "data { y : real[N]; X : real[N, K] = columns(\"x*\") }
param alpha ~ normal(0, 1)
param beta[K] ~ normal(0, 1)
param sigma : real > 0 ~ normal(0, 1)
y ~ normal(alpha + X * beta, sigma)";

#[test]
fn regression_collapses_to_its_sufficient_statistics() {
    agree(REGRESSION, &table(500, 4, 0.0, 1.0), 1.0, 1e-12);
}

#[test]
fn accuracy_survives_offsets_and_collinear_columns() {
    agree(REGRESSION, &table(300, 4, 1e6, 1.0), 1.0, 1e-10);
    agree(REGRESSION, &table(300, 4, 0.0, 1e-8), 1.0, 1e-10);
}

#[test]
fn groups_collapse_group_by_group() {
    let data = table(400, 1, 0.0, 1.0);
    let source = "data { y : real[N]; x1 : real[N]; w : real[N]; group : category[N] of J }
param mu ~ normal(0, 1)
param tau : real > 0 ~ normal(0, 1)
param theta[J] ~ normal(mu, tau)
param slope[J] ~ normal(0, 1) noncentered
param sigma : real > 0 ~ normal(0, 1)
y ~ normal(theta[group] + slope[group] .* x1, sigma) weight w";
    agree(source, &data, 0.5, 1e-11);
}

#[test]
fn known_scales_weigh_the_rows() {
    let data = table(200, 2, 0.0, 1.0);
    let source = "data { y : real[N]; x1 : real[N]; w : real[N] }
param a ~ normal(0, 1)
param b ~ normal(0, 1)
y ~ normal(a + b * x1, 0.5 + w)";
    agree(source, &data, 1.0, 1e-12);
}

fn numbers(n: usize, seed: u64) -> String {
    let mut stream = Stream::new(seed, 0, 0);
    (0..n).map(|_| format!("{}\n", 1.0 + stream.normal())).collect()
}

const GARCH: &str = "data { y : real[T]; first : real > 0 }
param mu ~ normal(0, 1)
param a0 : real > 0 ~ normal(0, 1)
param a1 : real in (0, 1) ~ uniform(0, 1)
param b1 : real in (0, 1 - a1) ~ flat()
let sigma[1] = first
for t in 2..T {
  let sigma[t] = sqrt(a0 + a1 * (y[t-1] - mu)^2 + b1 * sigma[t-1]^2)
}
y ~ normal(mu, sigma)";

#[test]
fn volatility_is_carried_as_a_variance() {
    for n in [70, 500] {
        let text = format!("y\n{}", numbers(n, 5));
        let data = Dataset::from_texts(&[("data.csv", text.as_str()), ("first.json", r#"{"first": 0.7}"#)]);
        let data = data.expect("reads");
        agree(GARCH, &data, 0.5, 1e-12);
        let dump = stickler::plan::dump(both(GARCH, &data).0.plan());
        assert!(!dump.contains("sqrt") && dump.contains("normal.variance"), "{dump}");
        // What a step adds is computed by the loop itself, however many there are.
        assert!(dump.contains("fed by squareadd"), "{dump}");
    }
}

#[test]
fn what_needs_no_earlier_step_leaves_the_loop() {
    let data = Dataset::from_texts(&[("data.csv", &format!("y\n{}", numbers(100, 6)))]).expect("reads");
    // The mean follows what was seen and its own past, two steps of it, with a bend.
    let source = "data { y : real[T] }
param mu ~ normal(0, 1)
param phi ~ normal(0, 0.3)
param psi ~ normal(0, 0.3)
param sigma : real > 0 ~ normal(0, 1)
let m[1] = mu
let m[2] = mu + 0.1
for t in 3..T {
  let m[t] = mu + phi * tanh(y[t-1] - mu) + psi * m[t-1] + 0.2 * m[t-2]
}
y ~ normal(m, sigma)";
    agree(source, &data, 0.5, 1e-12);
    let linear = source.replace("+ 0.2 * m[t-2]", "");
    agree(&linear, &data, 0.5, 1e-12);
    let carried = linear.replace("psi * m[t-1]", "m[t-1]");
    agree(&carried, &data, 0.2, 1e-12);
}

/// A table with few distinct covariates, where rows repeat, and all kinds of outcomes.
fn repeated(rows: usize) -> Dataset {
    let mut stream = Stream::new(12, 0, 0);
    let mut text = "x,g,hit,count,tries,wins\n".to_string();
    for _ in 0..rows {
        let (x, g) = (stream.below(4) as f64 * 0.5 - 0.7, stream.below(3));
        let (hit, count, tries) = (stream.below(2), stream.below(4), 1 + stream.below(3));
        text += &format!("{x},g{g},{hit},{count},{tries},{}\n", stream.below(tries + 1));
    }
    Dataset::from_texts(&[("data.csv", text.as_str())]).expect("reads")
}

#[test]
fn rows_that_repeat_are_computed_once() {
    let data = repeated(600);
    let declared = "data { x : real[N]; g : category[N] of J; hit : binary[N]; count : count[N]; tries : count[N]; wins : count[N] }
param a ~ normal(0, 1)
param b ~ normal(0, 1)
param u[J] ~ normal(0, 1)
param phi : real > 0 ~ gamma(2, 1)
";
    for statement in [
        "hit ~ bernoulli_logit(a + b * x + u[g])",
        "count ~ poisson_log(a + b * x + u[g])",
        "count ~ neg_binomial_2_log(a + b * x + u[g], phi)",
        "wins ~ binomial_logit(tries, a + b * x + u[g])",
        "count ~ poisson(phi)",
    ] {
        let source = format!("{declared}{statement}");
        agree(&source, &data, 0.5, 1e-10);
        let (rewritten, _) = both(&source, &data);
        let dump = stickler::plan::dump(rewritten.plan());
        assert!(!dump.contains("over 600"), "{statement}\n{dump}");
    }
    // Rows that differ in their weights alone are one row with the sum of the weights.
    let weighted = format!("{declared}hit ~ bernoulli_logit(a + b * x) weight 1 + count");
    agree(&weighted, &data, 0.5, 1e-10);
}

#[test]
fn rows_that_do_not_repeat_stay() {
    let text = format!("y\n{}", (0..100).map(|i| format!("{}\n", i % 2)).collect::<String>());
    let x = format!("x\n{}", numbers(100, 9));
    let rows: Vec<String> = text.lines().zip(x.lines()).map(|(y, x)| format!("{y},{x}")).collect();
    let data = Dataset::from_texts(&[("data.csv", rows.join("\n").as_str())]).expect("reads");
    let source = "data { y : binary[N]; x : real[N] }
param a ~ normal(0, 1)
param b ~ normal(0, 1)
y ~ bernoulli_logit(a + b * x)";
    agree(source, &data, 0.5, 1e-12);
    let dump = stickler::plan::dump(both(source, &data).0.plan());
    assert!(dump.contains("over 100 rows"), "{dump}");
}

#[test]
fn normal_priors_side_by_side_are_one_sum() {
    let data = table(20, 1, 0.0, 1.0);
    let source = "data { y : real[N] }
param z[3] ~ std_normal()
param a ~ normal(0, 5)
param b ~ normal(1, 2)
param tau : real > 0 ~ normal(0, 1)
param c ~ normal(0, 2)
y ~ normal(a + b * z[1] + c * z[2], tau)";
    agree(source, &data, 0.5, 1e-12);
    let dump = stickler::plan::dump(both(source, &data).0.plan());
    assert_eq!(dump.matches("quadratic(0..5, ").count(), 1, "{dump}");
}

#[test]
fn a_known_scale_of_a_half_cauchy_is_inverted_once() {
    let data = table(20, 1, 0.0, 1.0);
    let source = "data { y : real[N] }
param mu ~ normal(0, 1)
param tau : real > 0 ~ half_cauchy(2.5)
y ~ normal(mu, tau)";
    agree(source, &data, 0.5, 1e-12);
    assert!(stickler::plan::dump(both(source, &data).0.plan()).contains("half_cauchy.inverse"));
}

#[test]
fn small_covariances_share_what_all_entries_need() {
    let data = Dataset::from_texts(&[("data.csv", &format!("x\n{}", numbers(9, 8)))]).expect("reads");
    let source = "data { x : real[N] }
param rho : real > 0 ~ gamma(5, 5)
param alpha : real > 0 ~ normal(0, 1)
param z[N] ~ std_normal()
derive f = cholesky(add_diag(gp_exp_quad_cov(x, alpha, rho), 1e-6)) * z
x ~ normal(f, 0.5)";
    agree(source, &data, 0.3, 1e-9);
    let dump = stickler::plan::dump(both(source, &data).0.plan());
    assert!(dump.contains("cholesky.listed") && dump.contains("lower_product"), "{dump}");
}

/// What a density of events, or a sum that a model writes, adds up is one summed function of a linear
/// predictor.
#[test]
fn sums_of_functions_are_summed_functions() {
    let rows: String = (0..60)
        .map(|k| format!("{},{},g{}\n", 1 + k * 7 % 4, f64::from(k * 13 % 29) / 14.0 - 1.0, k % 6))
        .collect();
    let data = Dataset::from_texts(&[("data.csv", &format!("y,x,g\n{rows}"))]).unwrap();
    let head = "data { y : int[N]; x : real[N]; g : category[N] of G }\nparam b ~ normal(0, 1)\nparam u[G] ~ normal(0, 1)\n";
    let ordered = "param c : ordered[3] ~ normal(0, 3)\ny ~ ordered_logistic(b * x + u[g], c)";
    let written = "target += sum(log1p(exp(b * x + u[g])))\ntarget += sum(-square(b * x - u[g]))";
    for rest in [ordered, written] {
        agree(&format!("{head}{rest}"), &data, 0.7, 1e-10);
    }
}

/// What ordered categories have in common is computed once for each, whether rows repeat or not, and whether
/// all rows have the same cut-points or those of their group, which are not copied out for each row.
#[test]
fn ordered_categories_share_their_gaps() {
    let row = |k: i32| format!("{},{},g{}\n", 1 + k * 7 % 4, f64::from(k * 13 % 29) / 14.0 - 1.0, k % 5);
    let head = "data { y : int[N]; x : real[N]; g : category[N] of G }\nparam b ~ normal(0, 1)\n";
    let shared = "param c : ordered[3] ~ normal(0, 3)\ny ~ ordered_logistic(b * x, c)";
    let own = "param c[G] : ordered[3] ~ normal(0, 3)\ny ~ ordered_logistic(b * x, c[g])";
    for (rows, rest) in [(60, shared), (600, shared), (600, own)] {
        let rows: String = (0..rows).map(row).collect();
        let data = Dataset::from_texts(&[("data.csv", &format!("y,x,g\n{rows}"))]).unwrap();
        let source = format!("{head}{rest}");
        agree(&source, &data, 0.7, 1e-10);
        let dump = stickler::plan::dump(both(&source, &data).0.plan());
        assert!(dump.contains("ordered_logistic.gap"), "{dump}");
    }
}

/// Hurdles and counts that are cut at 1, as written and by functions of their own.
#[test]
fn all_counts_but_zero_are_computed_from_the_mass_at_zero() {
    let data = repeated(60);
    let model = |statement: &str| {
        format!(
            "data {{ x : real[N]; count : count[N] }}\nparam a ~ normal(0, 1)\nparam b ~ normal(0, 1)\nparam phi ~ half_normal(2)\n{statement}"
        )
    };
    for dist in [
        "poisson_log(a + b * x)",
        "poisson(exp(a + b * x))",
        "neg_binomial_2(exp(a + b * x), phi)",
        "binomial(5, inv_logit(a + b * x))",
        "geometric(inv_logit(a + b * x))",
    ] {
        let cut = model(&format!("count ~ truncated({dist}, lower = 1) weight count > 0"));
        agree(&cut, &data, 1.0, 1e-11);
        assert!(!stickler::plan::dump(both(&cut, &data).0.plan()).contains("lccdf"), "{dist}");
    }
    agree(&model("target += poisson_lccdf(0 | exp(a + b * x))"), &data, 1.0, 1e-12);
}

fn durations(rows: usize) -> Dataset {
    let mut stream = Stream::new(3, 0, 0);
    let mut text = "x1,x2,y,w,late\n".to_string();
    for i in 0..rows {
        let (x1, x2, y) = (stream.normal(), stream.normal(), 0.1 + stream.exponential());
        text += &format!("{x1},{x2},{y},{},{}\n", stream.uniform(), usize::from(i % 3 == 0));
    }
    Dataset::from_texts(&[("data.csv", text.as_str())]).expect("reads")
}

const DURATIONS: &str =
    "data { X : real[N, K] = columns(\"x*\"); y : real[N] > 0; w : real[N] > 0; late : binary[N] }
param a ~ normal(0, 1)
param b[K] ~ normal(0, 1)
param k ~ half_normal(2)
let eta = a + X * b
";

/// Regressions whose rates and scales are exponentials, alone, over a shape and times one, with weights and
/// without, some of them censored.
#[test]
fn rates_and_scales_of_regressions_are_taken_by_their_logarithms() {
    let data = durations(900);
    for dist in [
        "exponential(exp(eta))",
        "exponential(k * exp(eta))",
        "exponential(1 ./ exp(eta))",
        "gamma(k, exp(-eta))",
        "gamma(k, k / exp(eta))",
        "gamma(2.5, 2.5 ./ exp(eta))",
        "weibull(k, exp(eta))",
        "weibull(1.5, k * exp(eta))",
        "censored(weibull(k, exp(eta)), right = late)",
        "censored(exponential(exp(-eta)), right = late)",
    ] {
        for weight in ["", " weight w"] {
            let source = format!("{DURATIONS}y ~ {dist}{weight}");
            agree(&source, &data, 1.0, 1e-11);
            let plan = stickler::plan::dump(both(&source, &data).0.plan());
            assert!(plan.contains("poisson_log") && !plan.contains("matmul"), "{source}\n{plan}");
        }
    }
    for dist in ["normal(a, exp(eta))", "student_t(4, a, exp(eta))", "logistic(a, k * exp(eta))"] {
        for weight in ["", " weight w"] {
            let source = format!("{DURATIONS}y ~ {dist}{weight}");
            agree(&source, &data, 1.0, 1e-11);
            let plan = stickler::plan::dump(both(&source, &data).0.plan());
            assert!(!plan.contains("normal.scale") && !plan.contains("minus_log"), "{source}\n{plan}");
        }
    }
}

/// Long chains of functions read predictors row by row, wherever these stand, and what is computed for a row
/// is no coefficient.
#[test]
fn predictors_within_chains_are_computed_with_them() {
    let data = durations(700);
    for statement in [
        "target += -exp(eta) .* tanh(k * eta)",
        "y ~ lognormal(sin(eta), 1)",
        "y ~ normal(a + X * b + tanh(k * y), 0.7)",
        "y ~ student_t(4, eta - 2 * exp(-k * y) .* w, 1.1)",
        "let mu = exp(eta)\ny ~ inv_gamma(k + 1, mu)",
    ] {
        let source = format!("{DURATIONS}{statement}");
        agree(&source, &data, 0.5, 1e-10);
        let plan = stickler::plan::dump(both(&source, &data).0.plan());
        assert!(!plan.contains("matmul") && !plan.contains("of 70"), "{source}\n{plan}");
    }
}

#[test]
fn the_sum_of_a_predictor_is_one_row() {
    let data = durations(700);
    for statement in ["sum(eta)", "sum(w .* eta - y)", "-0.5 * sum(eta[1..500] / 3)"] {
        let source = format!("{DURATIONS}target += {statement}\nb ~ normal(1, k)");
        agree(&source, &data, 1.0, 1e-10);
        let plan = stickler::plan::dump(both(&source, &data).0.plan());
        let values: usize = plan.split_whitespace().nth(4).and_then(|n| n.parse().ok()).expect("is a number");
        assert!(values < 50, "{source}\n{plan}");
    }
}

fn choices(rows: usize) -> Dataset {
    let mut stream = Stream::new(5, 0, 0);
    let mut text = "x1,x2,y,k,n,g\n".to_string();
    for i in 0..rows {
        let (x1, x2, y, n) = (stream.normal(), stream.normal(), 2.0 * stream.normal(), stream.exponential());
        text += &format!("{x1},{x2},{y},{},{},{}\n", 1 + i % 3, (3.0 * n).floor(), 1 + i % 7);
    }
    Dataset::from_texts(&[("data.csv", text.as_str())]).expect("reads")
}

/// Log-sum-exps of categories and mixtures are functions of columns, which are computed with them; what was
/// seen is a sum over coefficients.
#[test]
fn categories_and_mixtures_are_computed_column_by_column() {
    let data = choices(600);
    let head = "data { X : real[N, D] = columns(\"x*\"); y : real[N]; k : int[N]; n : count[N]; g : int[N] }\n\
                param a[2] ~ normal(0, 1)\nparam B[D, 2] ~ normal(0, 1)\nparam m : ordered[8] ~ normal(0, 2)\nparam w : simplex[8] ~ dirichlet(ones(8))\n\
                param u[7, 3] ~ normal(0, 1)\n";
    let normals: Vec<String> = (1..=8).map(|j| format!("w[{j}]: normal(m[{j}], 0.8)")).collect();
    let statements = [
        "k ~ categorical_logit(concat_columns(a + X * B, zeros(N)))".to_string(),
        "k ~ categorical_logit(u[g])".to_string(),
        "for j in 1..3 { let s[j] = X * B[:, 1 + mod(j, 2)] * j }\nk ~ categorical_logit(s')".to_string(),
        format!("y ~ mixture({})", normals.join(", ")),
        "n ~ mixture(w[1]: poisson_log(m[1]), w[2]: poisson_log(m[2]), 1 - w[1] - w[2]: poisson(2))"
            .to_string(),
    ];
    for statement in statements {
        let source = format!("{head}{statement}");
        agree(&source, &data, 0.5, 1e-10);
        let plan = stickler::plan::dump(both(&source, &data).0.plan());
        assert!(!plan.contains("= log_sum_exp(") && !plan.contains("matmul"), "{source}\n{plan}");
    }
}

/// Sums along the short axis of what is computed for each row are sums of columns, alone and within a
/// log-sum-exp.
#[test]
fn sums_of_what_is_computed_for_rows_are_sums_of_columns() {
    let data = choices(600);
    let head = "data { X : real[N, D] = columns(\"x*\"); y : real[N]; g : int[N]; k : int[N] }\nparam u[7, 4] ~ normal(0, 1)\n\
                param v[3, 4] ~ normal(0, 1)\nparam q[3, D] ~ normal(0, 1)\nparam w : simplex[3] ~ dirichlet(ones(3))\nparam s ~ half_normal(1)\n";
    let statements = [
        "y ~ normal(rowsum(u[g] .* v[k]), s)",
        "for j in 1..3 { let part[j] = log(w[j]) + rowsum(normal_lpdf(X | q[j], s)) }\ntarget += log_sum_exp(part, axis = 1)",
    ];
    for statement in statements {
        let source = format!("{head}{statement}");
        agree(&source, &data, 0.5, 1e-10);
        let plan = stickler::plan::dump(both(&source, &data).0.plan());
        assert!(
            plan.contains("over 600 rows in tiles") && !plan.contains("= log_sum_exp("),
            "{source}\n{plan}"
        );
    }
}

/// Rows that are the same are computed once also where the function is one of functions.
#[test]
fn repeated_rows_of_mixtures_are_weighed() {
    let data = choices(600);
    let source = "data { n : count[N]; g : int[N] }\nparam m : ordered[2] ~ normal(0, 2)\nparam v[7] ~ normal(0, 1)\n\
                  n ~ mixture(0.3: poisson_log(m[1]), 0.7: poisson_log(m[2] + v[g]))\nn ~ zero_inflated(0.2, poisson(exp(m[1])))";
    agree(source, &data, 0.5, 1e-11);
    let plan = stickler::plan::dump(both(source, &data).0.plan());
    assert!(!plan.contains("over 600"), "{plan}");
}

/// Groups whose rows are scattered over the table, with as many entries in a row as stay in registers and
/// with more, and rows that differ in a scale or a weight.
#[test]
fn rows_in_the_order_of_their_groups_sum_to_the_same() {
    let data = table(600, 6, 0.0, 1.0);
    let head =
        "data { y : real[N]; w : real[N] > 0; X : real[N, K] = columns(\"x*\"); group : category[N] of J }\n";
    for likelihood in [
        "param z[J] ~ normal(0, 1)\nlet seen = y > 0\nseen ~ bernoulli_logit(z[group])",
        "param z[J, K] ~ normal(0, 1)\nlet seen = y > 0\nseen ~ bernoulli_logit(rowsum(X .* z[group]))",
        "param z[J, K] ~ normal(0, 1)\nparam a[J] ~ normal(0, 1)\nlet seen = y > 0\nseen ~ bernoulli_logit(a[group] + rowsum(X .* z[group]))",
        "param z[J, K] ~ normal(0, 1)\ny ~ student_t(4, rowsum(X .* z[group]), w)",
        "param z[J] ~ normal(0, 1)\ntarget += sum(w .* log1p_exp(z[group] .* y))",
    ] {
        agree(&format!("{head}{likelihood}"), &data, 0.5, 1e-12);
    }
}
