//! Models with known answers: tiers, constants in closed form, and traps where a careless rule would certify
//! too much.

use crate::certificates;

use certificates::certified;
use certificates::table::{DATA, Matrix, alone, is, of, regression, table};
use stickler::certify::Tier;

#[test]
fn linear_regression_is_exact() {
    let (least, most) = regression(&table(), |_| 1.0 / 0.49);
    is(&of("y ~ normal(x * beta, 0.7)"), Tier::Exact, most, least);
    // The same by other words.
    is(&of("target += -0.5 * sum(((y - x * beta) / 0.7)^2)"), Tier::Exact, most, least);
    is(&of("target += -0.5 * dot_self((y - x * beta) / 0.7)"), Tier::Exact, most, least);
    is(&of("y ~ normal(log(exp(x * beta)), 0.7)"), Tier::Exact, most, least);
    let weights = |i: usize| (0.5 + 0.25 * (i % 3) as f64) / 0.49;
    let (least, most) = regression(&table(), weights);
    is(&of("y ~ normal(x * beta, 0.7) weight w"), Tier::Exact, most, least);
}

#[test]
fn what_is_level_is_strongly_concave_in_no_coordinates() {
    let table = "y,x,w\n1,1,2\n2,2,4\n4,3,6\n";
    for (latents, mean) in [
        ("param a ~ flat()\nparam b ~ flat()", "a + b"),
        ("param a ~ flat()\nparam b ~ flat()", "a * x + b * w"),
    ] {
        let source =
            format!("data {{ y : real[N]; x : real[N]; w : real[N] }}\n{latents}\ny ~ normal({mean}, 1)\n");
        assert_eq!(certified(&source, table).whitened, None, "{source}");
    }
    // However unlike the scales of columns are.
    let source = "data { y : real[N]; x : real[N] }\nparam a ~ flat()\nparam b ~ flat()\ny ~ normal(a + b * 1e9 * x, 1)\n";
    assert_eq!(certified(source, table).whitened, Some(1.0));
}

#[test]
fn logistic_regression_by_all_its_spellings() {
    let (_, most) = regression(&table(), |_| 0.25);
    for statement in [
        "b ~ bernoulli_logit(x * beta)",
        "b ~ bernoulli(inv_logit(x * beta))",
        "b ~ binomial_logit(1, x * beta)",
        "let s = 2 * b - 1\ntarget += -sum(log1p_exp(-s .* (x * beta)))",
        "let s = 2 * b - 1\ntarget += sum(log_inv_logit(s .* (x * beta)))",
        "let s = 2 * b - 1\ntarget += sum(log(inv_logit(s .* (x * beta))))",
    ] {
        is(&of(statement), Tier::StronglyConcaveSmooth, most, 1.0);
    }
}

#[test]
fn hierarchical_logistic_regression_with_known_scales() {
    let t = table();
    let source = "data {
  x : real[N, D] = columns(\"x*\")
  b : binary[N]
  clinic : category[N] of J
}
param theta[D] ~ normal(0, 1)
param beta[J, D] ~ normal(theta, 0.5)
b ~ bernoulli_logit(rowsum(x .* beta[clinic]))
";
    let c = certified(source, &t.csv);
    let (mut low, mut high) = (Matrix::new(12), Matrix::new(12));
    for m in [&mut low, &mut high] {
        (0..3).for_each(|i| {
            m.add(1.0, &[(i, 1.0)]);
        });
        for j in 0..3 {
            for i in 0..3 {
                m.add(4.0, &[(i, -1.0), (3 + 3 * j + i, 1.0)]);
            }
        }
    }
    for (x, &j) in t.x.iter().zip(&t.clinic) {
        let row: Vec<(usize, f64)> = (0..3).map(|i| (3 + 3 * j + i, x[i])).collect();
        high.add(0.25, &row);
    }
    is(&c, Tier::StronglyConcaveSmooth, high.extremes().1, low.extremes().0);
    // Centred and non-centred forms with known scales are both certified.
    let noncentered = source.replace("normal(theta, 0.5)", "normal(theta, 0.5) noncentered");
    assert_eq!(certified(&noncentered, &t.csv).tier, Tier::StronglyConcaveSmooth);
}

#[test]
fn generalised_linear_models_in_closed_form() {
    let t = table();
    let smooth = |statement: &str, theta: &dyn Fn(usize) -> f64| {
        let (_, most) = regression(&t, theta);
        is(&of(statement), Tier::StronglyConcaveSmooth, most, 1.0);
    };
    smooth("k ~ binomial_logit(10, x * beta)", &|_| 2.5);
    smooth("b ~ bernoulli(Phi(x * beta))", &|_| 1.0);
    smooth("y ~ logistic(x * beta, 0.8)", &|_| 1.0 / (2.0 * 0.64));
    smooth("k ~ neg_binomial_2_log(x * beta, 3)", &|i| (t.count[i] + 3.0) / 4.0);
    smooth("k ~ neg_binomial_2(exp(x * beta), 3)", &|i| (t.count[i] + 3.0) / 4.0);
}

#[test]
fn multivariate_normal_with_known_covariance() {
    let source = "param v[2] ~ multi_normal([1, 2], [[2, 0.6], [0.6, 1]])";
    let det = 2.0 - 0.36;
    let mut m = Matrix::new(2);
    m.a = vec![1.0 / det, -0.6 / det, -0.6 / det, 2.0 / det];
    let (least, most) = m.extremes();
    is(&alone(source), Tier::Exact, most, least);
}

#[test]
fn softmax_regression() {
    let source = "data {
  x : real[N, D] = columns(\"x*\")
  level : int[N]
}
param beta[D, 4] ~ normal(0, 1)
level ~ categorical_logit(x * beta)
";
    let t = table();
    let mut high = Matrix::new(12);
    high.add_identity(1.0);
    for x in &t.x {
        for k in 0..4 {
            let row: Vec<(usize, f64)> = (0..3).map(|i| (4 * i + k, x[i])).collect();
            high.add(0.5, &row);
        }
    }
    is(&certified(source, &t.csv), Tier::StronglyConcaveSmooth, high.extremes().1, 1.0);
}

#[test]
fn robust_regression_is_smooth_not_concave() {
    for (statement, nu, s) in
        [("y ~ student_t(4, x * beta, 0.5)", 4.0, 0.5), ("y ~ cauchy(x * beta, 2)", 1.0, 2.0_f64)]
    {
        let theta = (nu + 1.0) / (nu * s * s);
        let t = table();
        let (_, most) = regression(&t, |_| theta);
        let (least, _) = regression(&t, |_| -theta / 8.0);
        is(&of(statement), Tier::Smooth, most, least);
    }
    // A strong prior outweighs a bounded negative curvature.
    let strong = DATA.replace("normal(0, 1)", "normal(0, 0.05)");
    let c = certified(&format!("{strong}y ~ student_t(4, x * beta, 0.5)"), &table().csv);
    assert_eq!(c.tier, Tier::StronglyConcaveSmooth);
}

#[test]
fn concave_but_not_smooth() {
    for statement in [
        "k ~ poisson_log(x * beta)",
        "k ~ poisson(exp(x * beta))",
        "y ~ double_exponential(x * beta, 1)",
        "y ~ gumbel(x * beta, 1)",
        "p ~ exponential(exp(x * beta))",
        "p ~ weibull(2, exp(x * beta))",
        "target += -sum(abs(y - x * beta))",
        "target += -max(x * beta)",
        "target += -sum(exp(square(x * beta)))",
        "target += sum(fmin(x * beta, 1))",
    ] {
        let c = of(statement);
        assert_eq!(c.tier, Tier::Concave, "{statement}: {:?}", c.obstacles);
        assert!(c.most.is_none() && !c.obstacles.is_empty(), "{statement}");
    }
    for source in [
        "param s ~ gamma(2, 3)",
        "param s ~ gamma(0.5, 3)",
        "param s ~ inv_gamma(2, 3)",
        "param s ~ half_normal(2)",
        "param s ~ exponential(1)",
        "param s ~ weibull(1.5, 2)",
        "param a ~ normal(0, 1)\ntarget += -a^4",
    ] {
        let c = alone(source);
        assert!(matches!(c.tier, Tier::Concave), "{source}: {:?} {:?}", c.tier, c.obstacles);
    }
}

#[test]
fn priors_seen_through_their_transforms() {
    // Prior and change of variables together, though each alone may bend either way.
    for (alpha, beta) in [(2.0, 3.0), (0.5, 0.5), (1.0, 1.0), (0.2, 7.0)] {
        let c = alone(&format!("param p ~ beta({alpha}, {beta})"));
        is(&c, Tier::ConcaveSmooth, (alpha + beta) / 4.0, 0.0);
    }
    is(&alone("param p ~ uniform(-2, 3)"), Tier::ConcaveSmooth, 0.5, 0.0);
    is(&alone("param p : real in (0, 1) ~ flat()"), Tier::ConcaveSmooth, 0.5, 0.0);
    is(&alone("param s ~ lognormal(1, 0.5)"), Tier::Exact, 4.0, 4.0);
    let c = alone("param s ~ half_cauchy(3)");
    is(&c, Tier::ConcaveSmooth, 1.0, 0.0);
    // Three observations of a coin.
    let source = "data { b : binary[N] }\nparam p ~ beta(2, 3)\nb ~ bernoulli(p)";
    is(&certified(source, "b\n1\n0\n1\n"), Tier::ConcaveSmooth, 2.0, 0.0);
}

#[test]
fn gaussian_processes_and_random_walks_are_exact() {
    let csv = "t,y\n0,0.3\n1,0.5\n2.5,-0.2\n3,0.1\n";
    let gp = "data { t : real[N]; y : real[N] }\nparam f[N] ~ gp_exp_quad(t, 1.5, 2.0, jitter = 1e-6)\ny ~ normal(f, 0.5)";
    for source in [gp.to_string(), gp.replace("jitter = 1e-6)", "jitter = 1e-6) noncentered")] {
        let c = certified(&source, csv);
        assert_eq!(c.tier, Tier::Exact, "{:?}", c.obstacles);
        assert!(c.least.is_some_and(|m| m >= 1.0));
    }
    let walk = "data { y : real[N] }\nparam f[N] ~ gaussian_random_walk(0.5)\ny ~ normal(f, 0.7)";
    let by_hand = "data { y : real[N] }\nparam f[N] ~ flat()\ntarget += -0.5 * sum((tail(f, N - 1) - head(f, N - 1))^2) / 0.25\ny ~ normal(f, 0.7)";
    let mut m = Matrix::new(4);
    m.add_identity(1.0 / 0.49);
    (1..4).for_each(|i| {
        m.add(4.0, &[(i - 1, -1.0), (i, 1.0)]);
    });
    let (least, most) = m.extremes();
    is(&certified(by_hand, csv), Tier::Exact, most, least);
    assert_eq!(certified(walk, csv).tier, Tier::Exact);
}

#[test]
fn quadratic_forms_count_as_they_are() {
    let source = "param a[2] ~ flat()\ntarget += -(a[1]^2 + a[1] * a[2] + a[2]^2)";
    is(&alone(source), Tier::Exact, 3.0, 1.0);
    is(&alone("param a ~ normal(0, 1)\ntarget += a^2 / 4"), Tier::Exact, 0.5, 0.5);
    // Improper: not strongly concave, so no Gaussian posterior.
    is(&alone("param a[2] ~ flat()\ntarget += -(a[1] - a[2])^2"), Tier::ConcaveSmooth, 4.0, 0.0);
    is(&alone("param a : unit_vector[3] ~ flat()"), Tier::Exact, 1.0, 1.0);
    is(&alone("param a ~ flat()"), Tier::ConcaveSmooth, 0.0, 0.0);
}

/// None is claimed, or no more than is true.
#[test]
fn traps() {
    for source in [
        "param a[2] ~ normal(0, 1)\ntarget += a[1] * exp(a[2])",
        "param a[2] ~ normal(0, 1)\ntarget += -a[1]^2 * exp(a[2])",
        "param a[2] ~ normal(0, 1)\ntarget += -(a[1] * a[2])^2",
        "param t ~ half_normal(1)\nparam a ~ normal(0, t)",
        "param t ~ half_normal(1)\nparam a ~ normal(0, t) noncentered\ntarget += -(a - 3)^2",
        "param t ~ normal(0, 1)\nparam a ~ normal(0, exp(t))",
        "param a ~ flat()\ntarget += log_mix(0.5, -(a - 3)^2, -(a + 3)^2)",
        "param a ~ normal(0, 1)\ntarget += abs(a)",
        "param a ~ normal(0, 1)\ntarget += max([a, -a, 2 * a])",
        "param a ~ normal(0, 1)\ntarget += log(abs(a))",
        "param a ~ normal(0, 1)\ntarget += log(a^2)",
        "param a ~ normal(0, 1)\ntarget += 1 / a",
        "param a ~ normal(0, 1)\ntarget += sqrt(abs(a))",
        "param a ~ normal(0, 1)\ntarget += exp(a)",
        "param a ~ normal(0, 1)\ntarget += a^4",
        "param a ~ normal(0, 1)\ntarget += a^3",
        "param a ~ normal(0, 1)\ntarget += where(a > 0, a, 0)",
        "param a ~ normal(0, 1)\ntarget += where(a > 0, 1, 0)",
        "param a ~ normal(0, 1)\ntarget += floor(a)",
        "param s : real > 0 ~ flat()\ntarget += s * log(s) - s^2",
        "param s ~ gamma(2, 1)\ntarget += 5 * s",
        "param s ~ student_t(3, 0, 1)\ntarget += exp(s)",
        "param l ~ normal(0, 1)\nparam a : real > l ~ normal(0, 1)",
        "param l ~ normal(0, 1)\nparam a : real in (l, l + exp(l)) ~ flat()",
        "param a : simplex[3] ~ flat()\ntarget += a[1] / a[2]",
        "param a : cholesky_corr[3] ~ lkj_corr_cholesky(0.2)\ntarget += a[2, 1] * a[3, 1]",
    ] {
        let c = alone(source);
        assert_eq!(c.tier, Tier::None, "{source}\n{c:?}");
        assert!(!c.obstacles.is_empty(), "{source}");
        assert!(c.smoothness().is_none() && c.strong_concavity().is_none(), "{source}");
    }
    // Bounded, but not concave: no claim of concavity.
    for source in [
        "param a ~ flat()\ntarget += a^2",
        "param a ~ flat()\ntarget += sin(a)",
        "param a ~ flat()\ntarget += log1p_exp(a)",
        "param a ~ normal(0, 1)\ntarget += 0.6 * a^2",
        "param a ~ flat()\ntarget += -tanh(a)^2",
        "param a[2] ~ normal(0, 1)\ntarget += 1.5 * a[1] * a[2]",
        "param a ~ normal(0, 1)\ntarget += 5 * log1p_exp(a)",
    ] {
        let c = alone(source);
        assert_eq!(c.tier, Tier::Smooth, "{source}\n{c:?}");
        assert!(c.strong_concavity().is_none(), "{source}");
    }
    for statement in [
        "target += 0.5 * sum(w .* (y - x * beta)^2)",
        "target += sum(w .* log1p_exp(x * beta))",
        "target += sum(w .* log1p_exp(x * beta)) * 40",
    ] {
        let c = of(statement);
        assert_eq!(c.tier, Tier::Smooth, "{statement}\n{:?}", c.obstacles);
    }
    assert_eq!(of("target += sum(w .* exp(x * beta))").tier, Tier::None);
}

#[test]
fn data_that_are_not_numbers_certify_nothing() {
    for (statement, value) in [
        ("y ~ normal(a * x, 1)", "inf"),
        ("target += -(a * x[1])^2 - (a - x[2])^2", "inf"),
        ("target += sum(x) * a", "inf"),
        ("target += sum(x)", "-inf"),
        ("target += -sum(square(a + x))", "inf"),
    ] {
        let source = format!("data {{ x : real[N]; y : real[N] }}\nparam a ~ normal(0, 1)\n{statement}");
        if let Ok(target) = certificates::try_model(&source, &format!("x,y\n{value},1\n2,1\n")) {
            let c = stickler::certify::certify(target.lowered());
            assert_eq!(c.tier, Tier::None, "{source}\n{c:?}");
        }
    }
    let c = alone("param a ~ normal(0, 1)\ntarget += log(0) * a");
    assert_eq!(c.tier, Tier::None, "{c:?}");
    assert_eq!(alone("param a ~ normal(0, 1)\ntarget += sqrt(-1)").tier, Tier::None);
}

fn obstacle(source: &str, csv: &str) -> Vec<(usize, String)> {
    let c = certified(source, csv);
    c.obstacles.iter().map(|o| (o.span.line_column(source).0, o.reason.clone())).collect()
}

#[test]
fn obstacles_point_to_the_line_and_name_the_parameter() {
    let eight = "data { y : real[J]; sigma : real[J] > 0 }
param mu ~ normal(0, 5)
param tau ~ half_cauchy(5)
param theta[J] ~ normal(mu, tau)
y ~ normal(theta, sigma)
";
    let csv = "y,sigma\n28,15\n8,10\n-3,16\n";
    let found = obstacle(eight, csv);
    assert!(found.iter().any(|(line, why)| *line == 4 && why.contains("`tau` scales")), "{found:?}");
    assert!(found.iter().all(|(line, _)| *line == 4), "{found:?}");
    let noncentered = eight.replace("normal(mu, tau)", "normal(mu, tau) noncentered");
    let found = obstacle(&noncentered, csv);
    assert!(found.iter().any(|(_, why)| why.contains("`tau`") && why.contains("multipl")), "{found:?}");
    let found = obstacle("param a ~ normal(0, 1)\nparam b ~ normal(0, 1)\ntarget += -exp(a * b)", "");
    assert!(found.iter().any(|(l, why)| *l == 3 && why.contains("`a` and `b`")), "{found:?}");
    let found = obstacle("param a ~ normal(0, 1)\ntarget += -exp(a)", "");
    assert!(found == [(2, found[0].1.clone())] && found[0].1.contains("`exp`"), "{found:?}");
}
