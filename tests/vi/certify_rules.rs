//! Rules for whole statements, with known answers: counts that are cut off, rates and probabilities of any
//! shape, cut-points that move together, mixtures of two normal densities, squares of what has a kink; and
//! their near relatives of which less is true.

use crate::certificates;

use certificates::certified;
use certificates::table::{DATA, Matrix, alone, is, of, regression, table};
use stickler::certify::Tier;
use stickler::target::Target;

/// The counts of the table, none of them 0.
fn positive_counts(statement: &str) -> stickler::certify::Certificate {
    certified(&format!("{DATA}let m = k + 1\n{statement}"), &table().csv)
}

#[test]
fn counts_that_are_cut_off() {
    // Without zeros: k η - log(exp(e^η) - 1), concave and as steep as e^η.
    for statement in [
        "m ~ truncated(poisson_log(x * beta), lower = 1)",
        "m ~ truncated(poisson(exp(x * beta)), lower = 1)",
        "m ~ truncated(poisson(w .* exp(x * beta)), lower = 1)",
        "for i in 1..N { m[i] ~ truncated(poisson_log(dot(x[i], beta)), lower = 1) }",
        "m ~ truncated(poisson_log(x * beta), lower = 1) weight w",
        "target += poisson_log_lpmf(m | x * beta) - poisson_log_lccdf(0 | x * beta)",
    ] {
        let c = positive_counts(statement);
        assert_eq!(c.tier, Tier::Concave, "{statement}: {:?}", c.obstacles);
        assert!((c.least.expect("a constant") - 1.0).abs() < 1e-10, "{statement}");
    }
    // Between two ends: no more than the variance of a count there, a quarter of the squared width. A tenth
    // of the predictor, because rates beyond e^30 leave no digits of what is left when they are divided out
    // again.
    let t = table();
    for (limits, width) in
        [("upper = 30", 30.0), ("lower = 0, upper = 30", 30.0), ("lower = 1, upper = 30", 29.0)]
    {
        let (_, most) = regression(&t, |_| 0.0025 * width * width);
        let c = positive_counts(&format!("m ~ truncated(poisson_log(0.1 * (x * beta)), {limits})"));
        is(&c, Tier::StronglyConcaveSmooth, most, 1.0);
    }
    for (limits, width) in [("lower = 1", 29.0), ("upper = 25", 25.0), ("lower = 1, upper = 25", 24.0)] {
        let (_, most) = regression(&t, |_| 0.0025 * width * width);
        for family in ["binomial_logit(30, 0.1 * (x * beta))", "binomial(30, inv_logit(0.1 * (x * beta)))"] {
            let c = positive_counts(&format!("m ~ truncated({family}, {limits})"));
            is(&c, Tier::StronglyConcaveSmooth, most, 1.0);
        }
    }
    // Probabilities of tails alone, as a product and as a divisor.
    assert_eq!(alone("param a ~ normal(0, 1)\ntarget += poisson_log_lccdf(2 | a)").tier, Tier::Concave);
    for source in [
        "param a ~ normal(0, 1)\ntarget += -poisson_log_lccdf(2 | a)",
        "param a ~ normal(0, 1)\ntarget += poisson_log_lpmf(3 | a) - 2 * poisson_log_lccdf(0 | a)",
        "param a ~ normal(0, 1)\nparam c ~ normal(0, 1)\ntarget += poisson_log_lpmf(3 | a) - poisson_log_lccdf(0 | c)",
        "param a ~ normal(0, 1)\ntarget += poisson_log_lpmf(3 | a) - poisson_log_lccdf(0 | a + 1)",
    ] {
        assert_eq!(alone(source).tier, Tier::None, "{source}");
    }
}

#[test]
fn rates_and_probabilities_of_other_shapes() {
    let t = table();
    // k log log(1 + e^η) - log(1 + e^η): at most k/4 and 1/4.
    let (_, most) = regression(&t, |i| 0.25 * (t.count[i] + 1.0));
    for rate in ["log1p_exp(x * beta)", "log(1 + exp(x * beta))"] {
        is(&of(&format!("k ~ poisson({rate})")), Tier::StronglyConcaveSmooth, most, 1.0);
    }
    // A right answer by guessing: a wrong one is log(0.8) + log(1 - p), a right one is bent both ways.
    for probability in [
        "0.2 + 0.8 * inv_logit(x * beta)",
        "0.2 + (1 - 0.2) * inv_logit(x * beta)",
        "0.25 + 0.75 * Phi(x * beta)",
    ] {
        let c = of(&format!("b ~ bernoulli({probability})"));
        assert_eq!(c.tier, Tier::Smooth, "{probability}: {:?}", c.obstacles);
    }
    let wrong = "param a ~ normal(0, 1)\nlet b = 0\nb ~ bernoulli(0.25 + 0.75 * inv_logit(a))";
    is(&alone(wrong), Tier::StronglyConcaveSmooth, 1.25, 1.0);
    // Where the probability is 1 to the last bit, its complement still has all its digits.
    let target = certificates::model(wrong, "");
    let mut value = [0.0];
    target.evaluator().log_density(&[50.0], 1, &mut value);
    let normal = -0.5 * (2500.0 + (2.0 * std::f64::consts::PI).ln());
    assert!((value[0] - (normal + 0.75_f64.ln() - 50.0)).abs() < 1e-9, "{}", value[0]);
    // Not a probability everywhere: refused as a model, or not certified.
    let beyond = "param a ~ normal(0, 1)\nlet b = 0\nb ~ bernoulli(0.3 + 0.8 * inv_logit(a))";
    if let Ok(target) = certificates::try_model(beyond, "") {
        assert_eq!(stickler::certify::certify(target.lowered()).tier, Tier::None);
    }
}

#[test]
fn cut_points_that_move_together() {
    let t = table();
    let between = |gap: f64| 1.0 / (1.0 + (0.5 * gap).cosh());
    // The predictor less the common shift: coordinates 0 to 2 and 3.
    let moved = |theta: &dyn Fn(usize) -> f64| {
        let mut high = Matrix::new(4);
        high.add_identity(1.0);
        for (i, x) in t.x.iter().enumerate() {
            high.add(theta(i), &[(0, x[0]), (1, x[1]), (2, x[2]), (3, -1.0)]);
        }
        high.extremes().1
    };
    let most = moved(&|i| match i % 4 {
        0 | 3 => 0.25,
        1 => between(1.0),
        _ => between(1.5),
    });
    let probit = moved(&|_| 1.0);
    let shift = "param c ~ normal(0, 1)\n";
    for cuts in ["[c, c + 1, c + 2.5]", "c + [0, 1, 2.5]"] {
        is(
            &of(&format!("{shift}level ~ ordered_logistic(x * beta, {cuts})")),
            Tier::StronglyConcaveSmooth,
            most,
            1.0,
        );
        is(
            &of(&format!("{shift}level ~ ordered_probit(x * beta, {cuts})")),
            Tier::StronglyConcaveSmooth,
            probit,
            1.0,
        );
    }
    for cuts in ["[c, 2 * c, 3 * c]", "[c, c + 1, 2 * c + 9]", "[c + 1, c, c + 2]", "[c, c + beta[1], c + 9]"]
    {
        let statement = format!("{shift}level ~ ordered_logistic(x * beta, {cuts})");
        // Cut-points in the wrong order are no model, or one that is nowhere finite.
        if let Ok(target) = certificates::try_model(&format!("{DATA}{statement}"), &t.csv) {
            assert_eq!(stickler::certify::certify(target.lowered()).tier, Tier::None, "{statement}");
        }
    }
}

#[test]
fn mixtures_of_two_normal_densities() {
    let t = table();
    // Shares 0.9 and 0.1, standard deviations 1 and 5: 1/25 and 1, less 2 α (0.2253 + A/4) with α = 24/25 / 2
    // ...
    let (narrow, wide): (f64, f64) = (1.0, 1.0 / 25.0);
    let top = (0.9_f64 / 0.1).ln() + 5.0_f64.ln();
    let bent = 2.0 * (narrow - wide) * (0.2253 + 0.25 * top) * (1.0 + 1e-9);
    let (_, most) = regression(&t, |_| narrow);
    let (least, _) = regression(&t, |_| wide - bent);
    for statement in [
        "y ~ mixture(0.9: normal(x * beta, 1), 0.1: normal(x * beta, 5))",
        "y ~ mixture(0.1: normal(x * beta, 5), 0.9: normal(x * beta, 1))",
    ] {
        is(&of(statement), Tier::Smooth, most, least);
    }
    // An outlier from anywhere: the other part does not depend on the predictor.
    let c = of("y ~ mixture(0.9: normal(x * beta, 1), 0.1: normal(0, 5))");
    assert_eq!(c.tier, Tier::Smooth, "{:?}", c.obstacles);
    let alike =
        "param a ~ normal(0, 0.3)\ntarget += log_add_exp(normal_lpdf(0 | a, 1), normal_lpdf(1 | a, 1))";
    let c = alone(alike);
    // Both bend alike: 1 less 1/4.
    is(&c, Tier::StronglyConcaveSmooth, 1.0 / 0.09 + 1.0, 1.0 / 0.09 + 0.75);
    let c = of("param a ~ normal(0, 1)\ny ~ mixture(0.9: normal(x * beta, 1), 0.1: normal(a, 5))");
    assert_eq!(c.tier, Tier::None, "two directions");
}

#[test]
fn squares_of_what_has_a_kink() {
    let t = table();
    let (_, most) = regression(&t, |_| 2.0);
    for statement in [
        "let s = 2 * b - 1\ntarget += -sum(square(fmax(0, 1 - s .* (x * beta))))",
        "let s = 2 * b - 1\ntarget += -sum(fmax(1 - s .* (x * beta), 0)^2)",
        "let s = 2 * b - 1\ntarget += -sum(square(fmin(s .* (x * beta) - 1, 0)))",
    ] {
        is(&of(statement), Tier::StronglyConcaveSmooth, most, 1.0);
    }
    let (least, most) = regression(&t, |_| 1.0);
    is(&of("target += -0.5 * sum(square(abs(y - x * beta)))"), Tier::Exact, most, least);
    assert_eq!(alone("param a ~ normal(0, 1)\ntarget += -square(fmax(a, 1))").tier, Tier::Concave);
    assert_eq!(alone("param a ~ normal(0, 1)\ntarget += -square(fmax(a, -1))").tier, Tier::None);
    assert_eq!(alone("param a ~ normal(0, 1)\ntarget += -square(fmax(a, 0) - 1)").tier, Tier::None);
    assert_eq!(alone("param a ~ normal(0, 1)\ntarget += square(fmax(a, 0))").tier, Tier::Smooth);
}
