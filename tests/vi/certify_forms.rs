//! Known answers by other words: links by hand, products of exponentials, truncation, constrained parameters,
//! norms, mixtures.

use crate::certificates;

use certificates::certified;
use certificates::table::{DATA, Matrix, ROWS, alone, is, of, regression, table};
use stickler::certify::Tier;

#[test]
fn links_by_hand() {
    let t = table();
    let (_, logit) = regression(&t, |_| 0.25);
    for statement in [
        "b ~ bernoulli(1 ./ (1 + exp(-(x * beta))))",
        "let e = x * beta\nb ~ bernoulli(exp(e) ./ (1 + exp(e)))",
        "b ~ bernoulli(1 - inv_logit(-(x * beta)))",
        "b ~ bernoulli(0.5 * (1 + tanh(0.5 * (x * beta))))",
        "let q = inv_logit(x * beta)\ntarget += sum(b .* log(q) + (1 - b) .* log(1 - q))",
        "let e = x * beta\ntarget += sum(b .* e - log(1 + exp(e)))",
        "let e = x * beta\nfor i in 1..N { if b[i] == 1 { target += log_inv_logit(e[i]) } else { target += log1m_inv_logit(e[i]) } }",
        "for i in 1..N { target += bernoulli_logit_lpmf(b[i] | dot(x[i], beta)) }",
        "fn linear(a, c) = a * c\nb ~ bernoulli_logit(linear(x, beta))",
    ] {
        is(&of(statement), Tier::StronglyConcaveSmooth, logit, 1.0);
    }
    let (_, probit) = regression(&t, |_| 1.0);
    for statement in [
        "b ~ bernoulli(0.5 * (1 + erf((x * beta) / sqrt(2))))",
        "let s = 2 * b - 1\ntarget += std_normal_lcdf(s .* (x * beta))",
        "let s = 2 * b - 1\ntarget += sum(log(Phi(s .* (x * beta))))",
        "b ~ bernoulli(1 - Phi(-(x * beta)))",
    ] {
        is(&of(statement), Tier::StronglyConcaveSmooth, probit, 1.0);
    }
    let (_, many) = regression(&t, |_| 10.0);
    is(&of("k ~ binomial(10, Phi(x * beta))"), Tier::StronglyConcaveSmooth, many, 1.0);
    for statement in [
        "b ~ bernoulli(inv_cloglog(x * beta))",
        "b ~ bernoulli(1 - exp(-exp(x * beta)))",
        "k ~ binomial(10, inv_cloglog(x * beta))",
    ] {
        let c = of(statement);
        assert_eq!(c.tier, Tier::Concave, "{statement}: {:?}", c.obstacles);
        assert!((c.least.expect("a constant") - 1.0).abs() < 1e-10);
    }
}

#[test]
fn rates_and_scales_that_are_products() {
    for statement in [
        "p ~ gamma(2.5, 2.5 ./ exp(x * beta))",
        "let mu = exp(x * beta)\np ~ gamma(2.5, 2.5 ./ mu)",
        "p ~ exponential(1 ./ exp(x * beta))",
        "k ~ poisson(w .* exp(x * beta))",
        "k ~ poisson(exp(beta[1]) * exp(beta[2] * w) .* exp(x * beta))",
        "y ~ normal(0, exp(x * beta))",
        "y ~ normal(0, 1 ./ sqrt(exp(x * beta)))",
        "p ~ censored(weibull(1.5, exp(x * beta)), right = b)",
    ] {
        let c = of(statement);
        assert_eq!(c.tier, Tier::Concave, "{statement}: {:?}", c.obstacles);
    }
    for source in [
        "param s ~ gamma(2, 1)\nparam q ~ gamma(2, 1)\nlet k = 3\nk ~ poisson(s * q)",
        "param s ~ gamma(2, 1)\nparam q ~ gamma(2, 1)\nlet k = 3\nk ~ poisson(s / q)",
        "param v ~ inv_gamma(2, 3)\nlet y = [0.3, -1.0]\ny ~ normal(0, sqrt(v))",
        "param t ~ gamma(2, 3)\nlet y = [0.3, -1.0]\ny ~ normal(0, 1 / sqrt(t))",
        "param m ~ inv_gamma(2, 1)\nlet p = 0.4\np ~ exponential(1 / m)",
        "param s ~ gamma(2, 1)\nparam q ~ gamma(2, 1)\ntarget += -s^2 * sqrt(q)",
    ] {
        let c = alone(source);
        assert_eq!(c.tier, Tier::Concave, "{source}: {:?}", c.obstacles);
    }
    // log(s q) = log s + log q: Gaussian in the logarithms.
    let (least, most) = Matrix::new(2).add_identity(1.0).add(12.0, &[(0, 1.0), (1, 1.0)]).extremes();
    for log in ["log(s * q)", "log(s) + log(q)", "2 * log(sqrt(s * q))"] {
        let source = format!(
            "param s ~ lognormal(0, 1)\nparam q ~ lognormal(0, 1)\nlet p = [0.4, 2, 3]\np ~ lognormal({log}, 0.5)"
        );
        is(&alone(&source), Tier::Exact, most, least);
    }
}

#[test]
fn simplexes_are_log_concave_in_their_coordinates() {
    // Stick i breaks with log z_i and log(1 - z_i) weighted by α_i and Σ_(j>i) α_j, Jacobian included: at
    // most Σ_(j≥i) α_j / 4.
    for (prior, total) in [("1, 1, 1", 3.0), ("2, 3, 4", 9.0), ("0.5, 0.5, 0.5", 1.5), ("0.1, 3, 0.2", 3.3)] {
        let c = alone(&format!("param s : simplex[3] ~ dirichlet([{prior}])"));
        is(&c, Tier::ConcaveSmooth, total / 4.0, 0.0);
    }
    is(&alone("param s : simplex[4] ~ flat()"), Tier::ConcaveSmooth, 1.0, 0.0);
    let counts = "param s : simplex[3] ~ dirichlet([1, 2, 3])\nlet c = [4, 5, 6]\nc ~ multinomial(s)";
    is(&alone(counts), Tier::ConcaveSmooth, 21.0 / 4.0, 0.0);
    let chosen =
        "data { level : int[N] }\nparam s : simplex[4] ~ dirichlet([1, 1, 1, 1])\nlevel ~ categorical(s)";
    is(&certified(chosen, &table().csv), Tier::ConcaveSmooth, (4.0 + ROWS as f64) / 4.0, 0.0);
    // A prior that bends the other way once the Jacobian is spent.
    let bent = "param s : simplex[3] ~ flat()\ntarget += -4 * log(s[1])";
    assert_eq!(alone(bent).tier, Tier::Smooth);
}

#[test]
fn probabilities_with_conjugate_priors() {
    let t = table();
    let n = ROWS as f64;
    let total: f64 = t.count.iter().sum();
    let of = |statement: &str| {
        certified(
            &format!("data {{ b : binary[N]; k : count[N] }}\nparam q ~ beta(2, 3)\n{statement}"),
            &t.csv,
        )
    };
    is(&of("b ~ bernoulli(q)"), Tier::ConcaveSmooth, (5.0 + n) / 4.0, 0.0);
    is(&of("b ~ bernoulli(1 - q)"), Tier::ConcaveSmooth, (5.0 + n) / 4.0, 0.0);
    is(&of("k ~ binomial(20, q)"), Tier::ConcaveSmooth, (5.0 + 20.0 * n) / 4.0, 0.0);
    is(&of("k ~ geometric(q)"), Tier::ConcaveSmooth, (5.0 + n + total) / 4.0, 0.0);
    // Weights of a mixture of known parts: v(u) - v(u + c) for each observation, within ±1/4.
    let mixed = of("target += sum(log_mix(q, -1.0 * k, -0.5 * k))");
    is(&mixed, Tier::Smooth, (5.0 + n) / 4.0, -n / 4.0);
    is(&of("k ~ mixture(q: poisson(2), 1 - q: poisson(5))"), Tier::Smooth, (5.0 + n) / 4.0, -n / 4.0);
}

#[test]
fn cut_points_are_bounded_sharply() {
    // v(η - l) + v(η - u): 1/(1 + c) up to c = cosh((u - l)/2) = 2, c²/(4 (c² - 1)) beyond; end categories
    // 1/4.
    let t = table();
    let between = |gap: f64| {
        let c = (0.5 * gap).cosh();
        if c <= 2.0 { 1.0 / (1.0 + c) } else { 0.25 * c * c / (c * c - 1.0) }
    };
    for cuts in [[-1.0, 0.0, 1.5], [-4.0, 0.5, 9.0], [0.0, 0.01, 3.0]] {
        let theta = |i: usize| match i % 4 {
            0 | 3 => 0.25,
            middle => between(cuts[middle] - cuts[middle - 1]),
        };
        let (_, most) = regression(&t, theta);
        let statement =
            format!("level ~ ordered_logistic(x * beta, [{}, {}, {}])", cuts[0], cuts[1], cuts[2]);
        is(&of(&statement), Tier::StronglyConcaveSmooth, most, 1.0);
    }
    let (_, most) = regression(&t, |_| 1.0);
    is(&of("level ~ ordered_probit(x * beta, [-1, 0, 1.5])"), Tier::StronglyConcaveSmooth, most, 1.0);
}

#[test]
fn truncated_censored_and_missing() {
    let t = table();
    let late = |i: usize| i % 2 == 1;
    let (_, whole) = regression(&t, |_| 1.0 / 0.49);
    for limits in ["lower = -9", "upper = 9", "lower = -9, upper = 9"] {
        // Less the variance of a normal variable between two ends: from 0 to 1/σ².
        let c = of(&format!("y ~ truncated(normal(x * beta, 0.7), {limits})"));
        is(&c, Tier::StronglyConcaveSmooth, whole, 1.0);
    }
    let (_, logistic) = regression(&t, |_| 1.0);
    let c = of("y ~ truncated(logistic(x * beta, 1), lower = -9, upper = 9)");
    assert_eq!(c.tier, Tier::Smooth);
    assert!(c.most.is_some_and(|m| m <= logistic + 1e-9));
    // An observation that is only known to be larger adds between 0 and 1/σ².
    let (low, _) = regression(&t, |i| if late(i) { 0.0 } else { 1.0 / 0.49 });
    is(&of("y ~ censored(normal(x * beta, 0.7), right = b)"), Tier::StronglyConcaveSmooth, whole, low);
    let (_, aft) = regression(&t, |i| if late(i) { 1.0 } else { 2.0 });
    is(&of("p ~ censored(loglogistic(exp(x * beta), 2), right = b)"), Tier::StronglyConcaveSmooth, aft, 1.0);
    // A missing outcome is one more coordinate, tied to the mean.
    let source = "data { z : real[N]; y : real[N] missing }\nparam a ~ normal(0, 1)\ny ~ normal(a * z, 0.5)";
    let mut m = Matrix::new(2);
    m.add(1.0, &[(1, 1.0)]).add(4.0, &[(1, 2.0)]).add(4.0, &[(1, 3.0)]).add(4.0, &[(0, 1.0), (1, -1.5)]);
    let (least, most) = m.extremes();
    is(&certified(source, "z,y\n2,1\n1.5,\n3,-1\n"), Tier::Exact, most, least);
}

#[test]
fn norms_and_elliptical_densities() {
    for statement in [
        "target += -norm(beta)",
        "target += -sqrt(sum(square(x * beta)))",
        "target += -sqrt(dot_self(beta - 1))",
    ] {
        let c = of(statement);
        assert_eq!(c.tier, Tier::Concave, "{statement}: {:?}", c.obstacles);
    }
    is(&of("target += -sqrt(4 + dot_self(beta))"), Tier::StronglyConcaveSmooth, 1.5, 1.0);
    is(&of("target += -2 * log1p(dot_self(beta))"), Tier::StronglyConcaveSmooth, 5.0, 0.5);
    is(&of("target += -log(0.1 + dot_self(beta))"), Tier::Smooth, 21.0, -1.5);
    // -(ν + k)/2 log(1 + q/ν): between -(ν + k)/(8ν) and (ν + k)/ν times the inverse scale matrix.
    let student = "param v[2] ~ multi_student_t(4, [1, 2], [[1, 0], [0, 0.25]])";
    is(&alone(student), Tier::Smooth, 1.5 * 4.0, -1.5 / 8.0 * 4.0);
    let (_, most) = regression(&table(), |_| 1.0);
    for statement in [
        "target += -sum(sqrt(1 + square(y - x * beta)))",
        "target += -sum(hypot(y - x * beta, 1))",
        "target += -sum(log(cosh(y - x * beta)))",
    ] {
        is(&of(statement), Tier::StronglyConcaveSmooth, most, 1.0);
    }
}

#[test]
fn sums_of_exponentials_by_hand() {
    let t = table();
    let mut high = Matrix::new(3);
    high.add_identity(1.0);
    t.x[..3].iter().for_each(|x| {
        high.add(0.5, &[(0, x[0]), (1, x[1]), (2, x[2])]);
    });
    let most = high.extremes().1;
    for sum in [
        "log(exp(e[1]) + exp(e[2]) + exp(e[3]))",
        "log(sum(exp(e[1..3])))",
        "log_sum_exp(e[1..3])",
        "log_add_exp(e[1], log_add_exp(e[2], e[3]))",
    ] {
        is(&of(&format!("let e = x * beta\ntarget += -{sum}")), Tier::StronglyConcaveSmooth, most, 1.0);
    }
    let row: Vec<(usize, f64)> = (0..3).map(|i| (i, t.x[0][i] - t.x[1][i])).collect();
    let most = Matrix::new(3).add_identity(1.0).add(0.25, &row).extremes().1;
    for sum in ["log(exp(e[1]) + exp(e[2]))", "log_add_exp(e[1], e[2])"] {
        is(&of(&format!("let e = x * beta\ntarget += -{sum}")), Tier::StronglyConcaveSmooth, most, 1.0);
    }
}

#[test]
fn walks_and_states_by_loops() {
    let csv = "y\n0.3\n0.5\n-0.2\n0.1\n";
    let data = "data { y : real[N] }\n";
    let walk = |first: f64| {
        let mut m = Matrix::new(4);
        m.add_identity(1.0 / 0.49).add(first, &[(0, 1.0)]);
        (1..4).for_each(|i| {
            m.add(4.0, &[(i - 1, -1.0), (i, 1.0)]);
        });
        m.extremes()
    };
    let (least, most) = walk(0.25);
    for prior in ["for i in 2..N { f[i] ~ normal(f[i-1], 0.5) }", "f[2..N] ~ normal(f[1..N-1], 0.5)"] {
        let source = format!("{data}param f[N] ~ flat()\nf[1] ~ normal(0, 2)\n{prior}\ny ~ normal(f, 0.7)");
        is(&certified(&source, csv), Tier::Exact, most, least);
    }
    let (least, most) = walk(4.0);
    let source = format!("{data}param f[N] ~ gaussian_random_walk(0.5)\ny ~ normal(f, 0.7)");
    is(&certified(&source, csv), Tier::Exact, most, least);
    // The same walk by its steps: f_i = ½ Σ_(j≤i) φ^(i-j) e_j.
    for (phi, by) in [(1.0, "let f = 0.5 * cumsum(e)"), (0.8, LOOP)] {
        let mut m = Matrix::new(4);
        m.add_identity(1.0);
        for i in 0..4 {
            let row: Vec<(usize, f64)> = (0..=i).map(|j| (j, 0.5 * f64::powi(phi, (i - j) as i32))).collect();
            m.add(1.0 / 0.49, &row);
        }
        let (least, most) = m.extremes();
        let source = format!("{data}param e[N] ~ normal(0, 1)\n{by}\ny ~ normal(f, 0.7)");
        is(&certified(&source, csv), Tier::Exact, most, least);
    }
}

const LOOP: &str = "let f[1] = 0.5 * e[1]\nfor i in 2..N { let f[i] = 0.8 * f[i-1] + 0.5 * e[i] }";

#[test]
fn spellings_of_linear_models() {
    let t = table();
    let (least, most) = regression(&t, |_| 1.0 / 0.49);
    for statement in [
        "for i in 1..N { y[i] ~ normal(dot(x[i], beta), 0.7) }",
        "target += normal_lpdf(y | x * beta, 0.7)",
        "y ~ normal(x[:, 1] * beta[1] + x[:, 2] * beta[2] + x[:, 3] * beta[3], 0.7)",
        "let e = y - x * beta\ntarget += -0.5 * dot(e, e) / 0.49",
        "derive q = exp(beta[1])\npredict z[N] ~ normal(x * beta, 0.7)\ny ~ normal(x * beta, 0.7)",
    ] {
        is(&of(statement), Tier::Exact, most, least);
    }
    // Columns standardised within the model.
    let mean = |k: usize| t.x.iter().map(|x| x[k]).sum::<f64>() / ROWS as f64;
    let sd =
        |k: usize| (t.x.iter().map(|x| (x[k] - mean(k)).powi(2)).sum::<f64>() / (ROWS as f64 - 1.0)).sqrt();
    let mut m = Matrix::new(4);
    m.add_identity(1.0);
    t.x.iter().for_each(|x| {
        m.add(1.0, &[(0, (x[1] - mean(1)) / sd(1)), (3, 1.0)]);
    });
    let (least, most) = m.extremes();
    let source = "let z = (x[:, 2] - mean(x[:, 2])) / sd(x[:, 2])\nparam a ~ normal(0, 1)\ny ~ normal(a + beta[1] * z, 1)";
    let c = of(source);
    is(&c, Tier::Exact, most, least);
    // A quadratic form, written out and as a product.
    let (least, most) = Matrix { d: 3, a: vec![3.0, 0.5, 0.0, 0.5, 2.0, 0.2, 0.0, 0.2, 4.0] }.extremes();
    for form in ["dot(beta - 1, P * (beta - 1))", "quad_form(P, beta - 1)"] {
        let c = certified(
            &format!("{DATA}let P = [[2, 0.5, 0], [0.5, 1, 0.2], [0, 0.2, 3]]\ntarget += -0.5 * {form}"),
            &t.csv,
        );
        is(&c, Tier::Exact, most, least);
    }
}

/// Eigenvalues of [[a, b], [b, c]].
fn two_by_two(a: f64, b: f64, c: f64) -> (f64, f64) {
    let (middle, reach) = (0.5 * (a + c), (0.5 * (a - c)).hypot(b));
    // The product of both, so that the smaller one keeps its digits.
    ((a * c - b * b) / (middle + reach), middle + reach)
}

#[test]
fn a_large_hierarchy_is_certified_without_a_full_matrix() {
    const GROUPS: usize = 1500;
    let mut csv = String::from("b\n");
    (0..GROUPS).for_each(|j| csv += if j % 3 == 0 { "1\n" } else { "0\n" });
    let source =
        "data { b : binary[N] }\nparam m ~ normal(0, 5)\nparam a[N] ~ normal(m, 0.5)\nb ~ bernoulli_logit(a)";
    let target = certificates::model(source, &csv);
    let c = stickler::certify::certify(target.lowered());
    // All groups alike: m and the mean of the effects are one system of two, every other direction is an
    // effect alone.
    let groups = GROUPS as f64;
    let at = |theta: f64| two_by_two(0.04 + 4.0 * groups, -4.0 * groups.sqrt(), 4.0 + theta);
    let (least, most) = (at(0.0).0, at(0.25).1);
    assert_eq!(c.tier, Tier::StronglyConcaveSmooth);
    let (found_least, found_most) = (c.least.expect("a constant"), c.most.expect("a constant"));
    assert!(found_least <= least && found_least > least * (1.0 - 1e-3), "{found_least} {least}");
    assert!(found_most >= most * (1.0 - 1e-12) && found_most < most * (1.0 + 1e-9), "{found_most} {most}");
    assert!(c.most_matrix.is_none() && c.most_sparse.is_some());
    assert!(c.whitened.is_some_and(|mu| mu > 0.0 && mu < 1.0));
    let parts: f64 = c.most_from.iter().map(|s| s.part).sum();
    assert!((parts - most).abs() < 1e-6 * most, "{parts} {most}");
    let parts: f64 = c.least_from.iter().map(|s| s.part).sum();
    assert!((parts - least).abs() < 1e-3 * least, "{parts} {least}");
    let plans = stickler::infer::certified::plans(&target, &c, 0.01);
    assert!(plans.iter().all(|p| p.as_ref().is_some_and(|p| p.coordinates.start.is_finite())));
}

/// Near relatives of what is certified, of which less is true.
#[test]
fn traps_beside_the_rules() {
    for source in [
        "param a ~ normal(0, 1)\nparam c ~ normal(0, 1)\ntarget += -exp(a) * c",
        "param a ~ normal(0, 1)\nparam c ~ normal(0, 1)\ntarget += exp(a) * exp(c)",
        "param a ~ normal(0, 1)\nparam c ~ normal(0, 1)\ntarget += exp(a) / exp(c) - exp(a)",
        "param a ~ normal(0, 1)\ntarget += norm([a, 1 - a])",
        "param a ~ normal(0, 1)\ntarget += log(1 - exp(a))",
        "param a ~ normal(0, 1)\ntarget += -log(exp(a) - 1)",
        "param s ~ gamma(2, 1)\nparam m ~ normal(0, 1)\nlet y = 1.5\ny ~ normal(m, 1 / sqrt(s))",
        "param c : ordered[3] ~ normal(0, 1)",
        "param m ~ normal(0, 1)\nlet y = 1.5\ny ~ truncated(cauchy(m, 1), lower = -9, upper = 9)",
    ] {
        let c = alone(source);
        assert_eq!(c.tier, Tier::None, "{source}\n{c:?}");
    }
    for source in [
        "param a ~ normal(0, 1)\ntarget += 3 * sqrt(1 + a^2)",
        "param a ~ normal(0, 1)\ntarget += 2 * log(cosh(a))",
        "param a ~ normal(0, 1)\ntarget += 5 * log_add_exp(a, -a)",
        "param q ~ beta(0.5, 0.5)\ntarget += -2 * log(q)",
        "param a ~ normal(0, 0.9)\nparam c ~ normal(0, 1)\ntarget += 9 * log_mix(0.3, a, c)",
    ] {
        let c = alone(source);
        assert_eq!(c.tier, Tier::Smooth, "{source}\n{c:?}");
    }
}
