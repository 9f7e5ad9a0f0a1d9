//! Models that are fine by themselves and wrong with their data: what the user is told names the problem and
//! the way out.

use stickler::data::Dataset;
use stickler::source::Diagnostic;
use stickler::target::{ModelTarget, Target};

const DATA: &str = "y,x,g,k\n1.5,0.2,a,1\n2.5,0.4,b,0\n0.5,-0.3,a,3\n1.0,0.9,c,2\n";
const HEAD: &str = "data { y : real[N]; x : real[N]; g : category[N] of J; k : count[N] }\n\
                    param a ~ normal(0, 1)\nparam b[J] ~ normal(0, 1)\nparam c : ordered[2] ~ normal(0, 1)\n";

fn problems(text: &str) -> Vec<Diagnostic> {
    let source = format!("{HEAD}{text}");
    let program = stickler::syntax::parse(&source).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    assert!(stickler::model::check(&program, &source).is_ok(), "{text} is refused without data");
    let data = Dataset::from_texts(&[("data.csv", DATA)]).unwrap();
    ModelTarget::new(&source, &data).err().unwrap_or_default()
}

#[test]
fn all_names_that_data_lack_are_told_at_once() {
    let text = "data { y : real[N]; x : real[N]; g : category[N] of J; h : category[N] of K }\nparam a[J, K] ~ normal(0, 1)\n\
                y ~ normal(a[g, h] * x, 1)";
    let data = Dataset::from_texts(&[("data.csv", "X,Y,G,H\n1,2,a,b\n")]).unwrap();
    let found = ModelTarget::new(text, &data).err().unwrap_or_default();
    let told: Vec<(&str, &str)> = found.iter().map(|d| (d.code, d.message.as_str())).collect();
    let absent = ["y", "x", "g", "h"].map(|name| format!("the data have no `{name}`"));
    assert_eq!(told, absent.each_ref().map(|message| ("unknown-column", message.as_str())));
}

#[test]
fn what_only_data_can_show_is_explained() {
    let cases = [
        ("y ~ normal(a + g, 1)", "category-as-number", "g == \"c\""),
        ("y ~ normal(a - exp(g), 1)", "category-as-number", "alpha[g]"),
        ("y ~ normal(a, g)", "category-as-number", "alpha[g]"),
        ("g ~ normal(a, 1)", "category-as-number", "alpha[g]"),
        ("g ~ bernoulli_logit(a)", "category-as-number", "== \"c\""),
        ("y ~ normal(a, 1) weight g", "category-as-number", "alpha[g]"),
        ("y ~ censored(normal(a, 1), right = g)", "category-as-number", "g == \"c\""),
        ("y ~ normal(a * where(g, 1, 2), 1)", "category-as-number", "g == \"c\""),
        ("y ~ normal(a / sum(g), 1)", "category-as-number", "alpha[g]"),
        ("let h = g == 2\ny ~ normal(a * h, 1)", "category-as-number", "== \"c\""),
        ("y ~ censored(normal(a, 1), right = k)", "data-outside-domain", "right = status == 2"),
        ("y ~ censored(normal(a, 1), upper = k > 0)", "marks-as-limit", "`right = k > 0`"),
        ("y ~ censored(lognormal(a, 1), upper = x)", "outside-support", "element 3 is -0.3"),
        ("y ~ normal(a, 1) weight x", "data-outside-domain", "zero or positive"),
        ("y ~ normal(b[k], 1)", "index-out-of-range", "indices start at 1"),
        ("y ~ normal(a, k)", "data-outside-domain", "line: Some(3)"),
        (
            "fn f(t, s) = -s\nlet s = ode(f, [1.0], -1, x)\ny ~ normal(a * s[:, 1], 1)",
            "unsorted-times",
            "-0.3 comes after 0.4",
        ),
        ("y ~ normal(y / 0, 1)", "data-outside-domain", "finite"),
        ("let keep = k > 0\ny[keep] ~ normal(a, 1)", "mask-as-index", "where(keep, a, b)"),
        ("g ~ ordered_logistic(a, c)", "unordered-levels", "a < b < c"),
        (
            "param m[12] ~ normal(0, 1)\ny ~ normal(m[g], 1)",
            "level-count",
            "3 levels, and this axis has 12 places",
        ),
        ("g ~ categorical_logit(zeros(4) + a)", "level-count", "3 levels"),
        ("k ~ poisson_log(a + log(k))", "data-outside-domain", "is -inf (element 2), whatever"),
        ("y ~ lognormal(a, 1)\nx ~ gamma(2, 1)", "outside-support", "line: Some(4)"),
        ("k ~ ordered_probit(a, c)", "outside-support", "lie in [1, 3], and element 2 is 0"),
        ("k ~ categorical_logit(b)", "outside-support", "`k + 1 ~ ...`, or declare `k : category[N]`"),
        ("k + 2 ~ ordered_logistic(a, c)", "outside-support", "lie in [1, 3], and element 3 is 5"),
        ("k ~ gamma(2, 1)", "outside-support", "lie in (0, inf)"),
        ("let share = y / 2.5\nshare ~ beta(2, 1)", "outside-support", "element 2 is 1"),
    ];
    for (text, code, words) in cases {
        let found = problems(text);
        let told = format!("{found:?}");
        assert!(
            found.iter().any(|d| d.code == code) && told.contains(&words.replace('"', "\\\"")),
            "{text}: {told}"
        );
    }
}

fn told(source: &str) -> String {
    let data = Dataset::from_texts(&[("data.csv", DATA)]).unwrap();
    format!("{:?}", ModelTarget::new(source, &data).err().unwrap_or_default())
}

#[test]
fn sizes_are_told_by_name_where_the_model_has_names_for_them() {
    let source = "data { y : real[N]; x : real[N] }\nparam b ~ normal(0, 1)\npredict z ~ normal(b * x, 1)\n\
                  y ~ normal(b * x, 1)";
    assert!(told(source).contains("`z[N]`"), "{}", told(source));
    let sliced = "data { y : real[N]; x : real[N] }\nparam b ~ normal(0, 1)\ny[2..N] ~ normal(b * x, 1)";
    assert!(told(sliced).contains("this has shape [N - 1]"), "{}", told(sliced));
}

#[test]
fn a_level_that_is_a_number_is_no_place() {
    let source = "data { y : real[N]; k : category[N] of K }\nparam b[K] ~ normal(0, 1)\ny ~ normal(b[k], 1)\n\
                  derive e = b[3] - b[0]";
    assert!(told(source).contains(r#"`b[\"0\"]`"#), "{}", told(source));
}

#[test]
fn what_is_defined_wrongly_is_told_once() {
    let source = "data { y : real[N]; k : count[N] }\nparam a ~ normal(0, 1)\ny ~ normal(a, 1)\n\
                  for i in 1..N {\n  for n in k[3]..8 { let lp[n] = a * n }\n  target += log_sum_exp(lp)\n}";
    assert!(told(source).contains("`let lp[i, n] = ...`"), "{}", told(source));
    assert!(!told(source).contains("element-undefined"), "{}", told(source));
}

#[test]
fn categories_are_indices_outcomes_and_levels() {
    let fine = [
        "y ~ normal(b[g], 1)",
        "g ~ categorical_logit(b)",
        "y ~ normal(a * (g == \"b\"), 1)",
        "let same = g[1] == g[3]\ny ~ normal(a * same, 1)",
        "for i in 1..N { if g[i] == \"a\" { y[i] ~ normal(a, 1) } }",
        "for j in 1..J { let mean[j] = sum(x * (g == j)) / sum(g == j) }\ny ~ normal(a * (x - mean[g]), 1)",
        "for i in 1..N { for j in 1..J { if g[i] != j { target += a * x[i] } } }",
        "y ~ normal(a, 1) weight x > 0",
        "y ~ normal(a * where(x > 0, x, 0), 1)",
    ];
    for text in fine {
        assert!(problems(text).is_empty(), "{text}: {:?}", problems(text));
    }
}

#[test]
fn a_size_that_was_invented_is_no_error() {
    let source = "data { x : real[N, P]; p0 : real = 2; y : real[N] }\n\
                  param tau ~ half_cauchy(p0 / (P - p0) / sqrt(N - 1000))\nparam b[P] ~ normal(0, tau)\ny ~ normal(x * b, 1)";
    let program = stickler::syntax::parse(source).unwrap();
    assert!(stickler::model::check(&program, source).is_ok());
}

#[test]
fn a_size_that_contradicts_the_arrays_is_told_once() {
    let data = Dataset::from_texts(&[("data.json", r#"{"N": 4, "y": [1, 2, 3], "x": [0, 1, 2]}"#)]).unwrap();
    let source = "data { y : real[N]; x : real[N] }\nparam a ~ normal(0, 1)\ny ~ normal(a * x, 1)";
    let found = ModelTarget::new(source, &data).err().unwrap_or_default();
    let told = format!("{found:?}");
    assert_eq!(found.len(), 1, "{told}");
    assert!(
        told.contains("`y` in data.json, 3 elements") && told.contains("is 4, and here it is 3"),
        "{told}"
    );
}

#[test]
fn what_is_wrong_with_data_hides_nothing_that_is_wrong_with_the_model() {
    let data = Dataset::from_texts(&[("data.csv", "y,x,g\n1.5,0,a\n,1,\n2.5,3,b\n")]).unwrap();
    let source = "data { y : real[N]; x : real[N]; g : category[N] of J }\nparam a ~ normal(0, 1)\n\
                  param b[J] ~ normal(0, 1)\ny ~ normal(aa * x + b[g], 1)";
    let found = ModelTarget::new(source, &data).err().unwrap_or_default();
    let codes: Vec<&str> = found.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["missing-values", "missing-values", "unknown-name"], "{found:?}");
}

#[test]
fn group_data_may_stand_in_a_larger_table_or_in_the_long_one() {
    let source = "data { y : real[N]; g : category[N] of J; u : real[J] }\nparam a ~ normal(0, 1)\ny ~ normal(a + u[g], 1)";
    let density = |files: &[(&str, &str)]| {
        let data = Dataset::from_texts(files).unwrap();
        ModelTarget::new(source, &data).map(|m| m.split(&[0.3]).total())
    };
    let rows = ("y.csv", "y,g\n1.5,b\n2.5,a\n0.5,b\n");
    let plain = density(&[rows, ("g.csv", "g,u\na,10\nb,20\n")]).unwrap();
    assert_eq!(density(&[rows, ("g.csv", "g,u\nc,5\nb,20\na,10\nd,7\n")]).unwrap(), plain);
    assert_eq!(density(&[("y.csv", "y,g,u\n1.5,b,20\n2.5,a,10\n0.5,b,20\n")]).unwrap(), plain);
    let told = format!("{:?}", density(&[("y.csv", "y,g,u\n1.5,b,20\n2.5,a,10\n0.5,b,21\n")]).err());
    assert!(
        told.contains("differs-within-level")
            && told.contains("line: Some(2)")
            && told.contains("line: Some(4)"),
        "{told}"
    );
    let told = format!("{:?}", density(&[rows, ("g.csv", "g,u\nA,10\nb,20\n")]).err());
    assert!(told.contains("unknown-label") && told.contains("line: Some(2)"), "{told}");
}

#[test]
fn what_is_not_finite_is_told_by_file_and_line() {
    let data = Dataset::from_texts(&[("data.csv", "y\n1.5\nInf\n0.4\n")]).unwrap();
    let found = ModelTarget::new("data { y : real[N] }\nparam a ~ normal(0, 1)\ny ~ normal(a, 1)", &data);
    let told = format!("{:?}", found.err());
    assert!(told.contains("line: Some(3), column: Some(\"y\")") && told.contains("not finite"), "{told}");
}

#[test]
fn a_table_without_a_header_is_suspected() {
    let data = Dataset::from_texts(&[("data.csv", "1.5,0.2,north,3\n2.5,-0.3,south,0\n")]).unwrap();
    let told = format!("{:?}", ModelTarget::new("data { y : real[N] }\ny ~ normal(0, 1)", &data).err());
    assert!(told.contains("the first line of data.csv looks like data"), "{told}");
}

#[test]
fn levels_may_be_written_as_numbers() {
    let data = Dataset::from_texts(&[("data.csv", "rating\n3\n1\n2\n")]).unwrap();
    let model = |levels: &str| {
        let source = format!(
            "data {{ rating : category[N] levels({levels}) of K }}\nparam c : ordered[K - 1] ~ normal(0, 1)\n\
             rating ~ ordered_logistic(0, c)"
        );
        ModelTarget::new(&source, &data).unwrap().split(&[0.1, 0.2, 0.3]).total()
    };
    assert_eq!(model("1, 2, 3, 4"), model(r#""1", "2", "3", "4""#));
    assert_ne!(model("1, 2, 3, 4"), model("4, 3, 2, 1"));
}

/// The log density of a model at a point.
fn log_density(source: &str, files: &[(&str, &str)], z: &[f64]) -> f64 {
    use stickler::target::Target;
    let data = Dataset::from_texts(files).unwrap();
    let target = ModelTarget::new(source, &data).unwrap_or_else(|e| panic!("{source}: {e:?}"));
    let (mut value, mut gradient) = ([0.0], vec![0.0; target.dimension()]);
    target.evaluator().evaluate(z, 1, &mut value, &mut gradient);
    value[0]
}

/// Two models that say the same.
fn same(one: &str, other: &str, files: &[(&str, &str)], z: &[f64]) {
    let (a, b) = (log_density(one, files, z), log_density(other, files, z));
    assert!((a - b).abs() < 1e-12 * (1.0 + a.abs()), "{one}: {a} against {b}");
}

#[test]
fn a_function_that_is_a_log_density_is_a_distribution() {
    let files = [("y.csv", "y,w\n0.5,1\n2.0,3\n-1.0,2\n")];
    let data = "data { y : real[N]; w : real[N] }\n";
    let own = "fn mine_lpdf(y, m, s) = -0.5 * ((y - m) / s)^2 - log(s) - 0.5 * log(2 * pi())\n\
               param m ~ mine(0, 5)\nparam s : real > 0 ~ mine(0, s = 2)\ny ~ mine(m, s) weight w\n\
               for i in 1..N { y[i] ~ mine(m, 2) }";
    let known = "param m ~ normal(0, 5)\nparam s : real > 0 ~ normal(0, 2)\ny ~ normal(m, s) weight w\ny ~ normal(m, 2)";
    same(&format!("{data}{own}"), &format!("{data}{known}"), &files, &[0.3, -0.2]);
}

#[test]
fn a_default_takes_the_declared_shape_and_a_size_the_one_that_data_have() {
    let files = [("y.json", "{\"y\": [[1, 2], [3, 5], [0, 1]]}")];
    let rest = "param m ~ normal(0, 1)\ny ~ normal(m * x + K, 1)";
    let same_shape = |x: &str| format!("data {{ y : real[N, K]; x : real[K] = {x}; K : int = 7 }}\n{rest}");
    same(&same_shape("3"), &same_shape("[3, 3]"), &files, &[0.7]);
    let listed = "data { y : real[N, K] }\nparam m ~ normal(0, 1)\ny ~ normal(m * 3 + 2, 1)";
    same(&same_shape("3"), listed, &files, &[0.7]);
}

#[test]
fn nothing_is_read_of_an_array_before_its_first_element() {
    let files = [("y.csv", "y\n0.5\n2.0\n-1.0\n")];
    let partial = "data { y : real[N] }\nparam m ~ normal(0, 1)\n\
                   for t in 1..N { let s[t] = m * y[t] + sum(s[1..t-1]) }\ny ~ normal(s, 1)";
    let whole = "data { y : real[N] }\nparam m ~ normal(0, 1)\n\
                 let s[1] = m * y[1]\nfor t in 2..N { let s[t] = m * y[t] + sum(s[1..t-1]) }\ny ~ normal(s, 1)";
    same(partial, whole, &files, &[0.4]);
}

#[test]
fn arrays_that_disagree_about_a_size_are_one_problem() {
    let source =
        "data { y : real[N]; x : real[N]; z : real[N] }\nparam m ~ normal(0, 1)\ny ~ normal(m * x + z, 1)";
    let data =
        Dataset::from_texts(&[("y.json", "{\"y\": [1, 2, 3], \"x\": [1, 2], \"z\": [1, 2]}")]).unwrap();
    let found = ModelTarget::new(source, &data).err().unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(format!("{found:?}").contains("the size of `y`"), "{found:?}");
}

#[test]
fn a_cell_that_is_infinite_is_named() {
    let source = "data { y : real[N]; x : real[N] }\nparam m ~ normal(0, 1)\ny ~ normal(m * x, 1)";
    let data = Dataset::from_texts(&[("y.csv", "y,x\n1,2\n3,Inf\n")]).unwrap();
    let found = ModelTarget::new(source, &data).err().unwrap();
    assert_eq!(found[0].places[0].line, Some(3), "{found:?}");
}

#[test]
fn what_has_no_weight_may_lie_outside_the_support() {
    let files = [("y.csv", "y\n0\n1.5\n2\n0\n")];
    let model = |statement: &str| {
        format!(
            "data {{ y : real[N] }}\nparam p ~ beta(1, 1)\nparam m ~ normal(0, 1)\n(y > 0) ~ bernoulli(p)\n{statement}"
        )
    };
    same(
        &model("y ~ lognormal(m, 1) weight y > 0"),
        &model("for i in 1..N { if y[i] > 0 { y[i] ~ lognormal(m, 1) } }"),
        &files,
        &[0.3, -0.4],
    );
    // Where the density at the end of the support is zero or infinite, and distributions that are made of
    // others.
    for dist in [
        "gamma(3, 2)",
        "weibull(0.5, 1)",
        "beta(p, 2)",
        "uniform(0, 2 + p)",
        "truncated(normal(m, 1), lower = 0.2)",
        "mixture(p: gamma(2, 1), 1 - p: lognormal(m, 1))",
    ] {
        let files = [("y.csv", "y\n0\n0.5\n0.25\n0\n")];
        same(
            &model(&format!("y ~ {dist} weight y > 0")),
            &model(&format!("for i in 1..N {{ if y[i] > 0 {{ y[i] ~ {dist} }} }}")),
            &files,
            &[0.3, -0.4],
        );
    }
    let data = Dataset::from_texts(&files).unwrap();
    let wrong = ModelTarget::new(&model("y ~ lognormal(m, 1) weight y + 1"), &data).err().unwrap();
    assert_eq!(wrong[0].code, "outside-support");
}

/// A model with this text alone, and these data.
fn bound(source: &str, data: &str) -> Result<ModelTarget, Vec<Diagnostic>> {
    ModelTarget::new(source, &Dataset::from_texts(&[("data.csv", data)]).unwrap())
}

/// Sizes of different names that are one number in the data: an error without data is one with them.
#[test]
fn sizes_that_are_equal_by_chance_are_not_one_size() {
    let studies = "data { y : real[N]; se : real[N] > 0; study : category[N] of J }\n\
                   param mu ~ normal(0, 1)\nparam theta[J] ~ normal(mu, 1)\n";
    let rows = "y,se,study\n1,1,b\n0,1,a\n2,1,c\n";
    let found = bound(&format!("{studies}y ~ normal(theta, se)\n"), rows).err().unwrap();
    let note = "`N` and `J` are both 3 in these data, but they are not one size";
    assert!(found[0].code == "shape-mismatch" && found[0].notes.iter().any(|n| n == note), "{found:?}");
    assert!(found[0].help.as_ref().is_some_and(|h| h.contains("theta[study]")), "{found:?}");
    assert!(bound(&format!("{studies}y ~ normal(theta[study], se)\n"), rows).is_ok());
    // Neither counts levels: whoever gave one size two names is told, and has an answer.
    let two = "data { y : real[N]; x : real[M] }\nparam b ~ normal(0, 1)\ny ~ normal(b * x, 1)\n";
    let warned = bound(two, "y,x\n1,2\n2,1\n").unwrap();
    assert!(warned.lowered().warnings.iter().any(|w| w.code == "shape-mismatch"));
    let listed = "data { y : real[N]; x : real[N, D] = columns(\"u\", \"v\") }\n\
                  param b[D] ~ normal(0, 1)\ny ~ normal(b * x, 1)\n";
    let warned = bound(listed, "y,u,v\n1,2,3\n2,1,0\n").unwrap();
    assert!(warned.lowered().warnings.iter().any(|w| w.code == "shape-mismatch"));
    // A size that is written as a number, or follows from another, is what the user says it is.
    let written = "data { x : real[N, P] }\nparam b[2] ~ normal(0, 1)\nparam s ~ half_normal(1)\nflatten(x * b) ~ normal(0, s)\n";
    assert!(bound(written, "x_1,x_2\n1,2\n2,1\n3,0\n").unwrap().lowered().warnings.is_empty());
}

/// A loop over rows that picks from the levels, or one over levels that picks rows: each is beyond the
/// other's end but by chance.
#[test]
fn loops_over_rows_do_not_count_levels() {
    let studies = "data { y : real[N]; study : category[N] of J }\nparam theta[J] ~ normal(0, 1)\n";
    let rows = "y,study\n1,b\n0,a\n2,c\n";
    for one in
        ["for n in 1..J { y[n] ~ normal(theta[n], 1) }", "for n in 1..N { y[n] ~ normal(theta[n], 1) }"]
    {
        let found = bound(&format!("{studies}{one}\n"), rows).err().unwrap();
        assert_eq!(found[0].code, "index-of-other-size", "{found:?}");
    }
    assert!(
        bound(&format!("{studies}for n in 1..N {{ y[n] ~ normal(theta[study[n]], 1) }}\n"), rows).is_ok()
    );
    assert!(
        bound(
            &format!("{studies}y ~ normal(theta[study], 1)\nfor j in 1..J {{ derive d[j] = theta[j] }}\n"),
            rows
        )
        .is_ok()
    );
}

/// Rows of two tables are taken together where a column that tells rows apart agrees, or none is in both.
#[test]
fn rows_of_two_tables_go_together() {
    let model = "data { y : real[N]; x : real[N] }\nparam b ~ normal(0, 1)\ny ~ normal(b * x, 1)\n";
    let both = |second: &str| {
        let data = Dataset::from_texts(&[("y.csv", "id,y,at\nc,3,1\na,1,2\nb,2,2\n"), ("x.csv", second)]);
        ModelTarget::new(model, &data.unwrap())
    };
    for apart in ["id,x\na,1\nb,2\nc,3\n", "id,x\nc,3\na,1\nd,2\n", "at,x\n1,1\n2,2\n3,3\n"] {
        assert_eq!(both(apart).err().unwrap()[0].code, "tables-apart", "{apart}");
    }
    for together in ["id,x\nc,3\na,1\nb,2\n", "x\n1\n2\n3\n", "id,x,at\nc,3,9\na,1,9\nb,2,9\n"] {
        assert!(both(together).is_ok(), "{together}");
    }
}

/// Months in the order of the alphabet are no walk; given an order they are.
#[test]
fn walks_along_levels_sorted_as_text_are_warned_of() {
    let rows = "y,month\n1,Jan\n2,Feb\n3,Mar\n";
    for (walk, levels, warned) in [
        ("param w[M] ~ gaussian_random_walk(1, init = 5)", "", true),
        ("param z[M] ~ normal(0, 1)\nlet w = cumsum(z)", "", true),
        ("param w[M] ~ gaussian_random_walk(1, init = 5)", " levels(\"Jan\", \"Feb\", \"Mar\")", false),
        ("param w[M] ~ normal(0, 1)", "", false),
    ] {
        let model = format!(
            "data {{ y : real[N]; month : category[N]{levels} of M }}\n{walk}\ny ~ normal(w[month], 1)\n"
        );
        let target = bound(&model, rows).unwrap_or_else(|e| panic!("{e:?}"));
        let told = target.lowered().warnings.iter().any(|w| w.code == "walk-in-alphabet");
        assert_eq!(told, warned, "{model}");
    }
}

/// Numbered places of coefficients and of empty cells are told by what the table calls them.
#[test]
fn columns_and_empty_cells_are_told_by_name() {
    let model = "data { y : real[N]; x : real[N, D] = columns(\"x*\"); u : real[N] missing }\nparam b[D] ~ normal(0, 1)\n\
                 u ~ normal(0, 1)\ny ~ normal(x * b + u, 1)\n";
    let target = bound(model, "x2,y,x10,u,x1\n1,2,3,4,5\n2,1,0,NA,1\n").unwrap();
    let legend = &target.lowered().legend;
    assert_eq!(legend[0], "along D: 1 x2, 2 x10, 3 x1");
    assert_eq!(legend[1], "u_missing: the empty cells at line 3 of data.csv");
}

/// Columns picked by a glob are as many as the matrix has, in a check without data too.
#[test]
fn a_glob_stands_for_several_columns() {
    let source = "data { Y : real[N, D] = columns(\"y*\") }\nparam mu[D] ~ normal(0, 1)\nparam tau[D] ~ half_normal(1)\n\
                  param L : cholesky_corr[D] ~ lkj_corr_cholesky(2)\n\
                  Y ~ multi_normal_cholesky(mu, diag_pre_multiply(tau, L))\n";
    let program = stickler::syntax::parse(source).unwrap();
    assert!(stickler::model::check(&program, source).is_ok());
    assert!(bound(source, "y1,y2\n1,2\n2,1\n3,0\n").is_ok());
}

#[test]
fn shares_are_positive_and_sum_to_one() {
    let model = "data { p : real[N, 3] = columns(\"a\", \"b\", \"c\") }\nparam al[3] ~ gamma(1, 1)\np ~ dirichlet(al)\n";
    for (rows, words) in [
        ("0.2,0.3,0.5\n0.333,0.333,0.333", "row 2 sums to 0.999"),
        ("33,33,34", "sums to 100"),
        ("0.2,0.3,0.5\n0,0.5,0.5", "element 1 of row 2 is 0"),
    ] {
        let found = bound(model, &format!("a,b,c\n{rows}\n")).err().unwrap();
        assert!(found[0].code == "outside-support" && found[0].message.contains(words), "{found:?}");
    }
    let divided = model.replace("p ~", "let q = p / as_column(rowsum(p))\nq ~");
    assert!(bound(&divided, "a,b,c\n33,33,34\n1,2,4\n").is_ok(), "as the help says");
}

/// Empty cells lie where the distribution of their column does, as a parameter lies where its prior does.
#[test]
fn empty_cells_have_the_support_of_their_distribution() {
    for (dist, support) in [("gamma(2, 1)", "(0, inf)"), ("beta(2, 1)", "(0, 1)"), ("normal(0, 1)", "real")] {
        let model = format!("data {{ x : real[N] missing }}\nparam b ~ normal(0, 1)\nx ~ {dist}\n");
        let target = bound(&model, "x\n0.5\nNA\n0.2\n").unwrap();
        let latent = target.lowered().parameters.iter().find(|p| p.named.name == "x_missing").unwrap();
        assert_eq!(latent.support, support, "{dist}");
    }
}

/// Columns that are put together under a name have the distribution that is said of the name.
#[test]
fn columns_with_empty_cells_may_have_one_distribution_together() {
    let files = [("xy.csv", "x,y\n0.5,NA\nNA,1.0\n0.2,0.7\n")];
    let data = "data { x : real[N] missing; y : real[N] missing }\nparam m ~ normal(0, 1)\n";
    let together = "let both = transpose([x, y])\nboth ~ multi_normal([m, 0], [[1.0, 0.0], [0.0, 4.0]])";
    let apart = "x ~ normal(m, 1)\ny ~ normal(0, 2)";
    same(&format!("{data}{together}"), &format!("{data}{apart}"), &files, &[0.3, -0.2, 1.4]);
}

/// Levels of two categories are the same where their labels are, wherever these stand in the order of each.
#[test]
fn levels_are_compared_by_their_labels() {
    let data =
        Dataset::from_texts(&[("data.csv", "y,g,h,year\n1,b,a,2019\n2,c,b,2020\n3,b,b,2020\n")]).unwrap();
    let head = "data { y : real[N]; g : category[N] of G; h : category[N] of H; year : category[N] of Y }\n\
                param a ~ normal(0, 1)\ny ~ normal(a, 1)\n";
    let reported = |text: &str| {
        let target =
            ModelTarget::new(&format!("{head}{text}"), &data).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        target.constrain(&[0.0])[1..].to_vec()
    };
    assert_eq!(reported("derive q = g == h"), [0.0, 0.0, 1.0]);
    assert_eq!(reported("derive q = g != h"), [1.0, 1.0, 0.0]);
    assert_eq!(reported("derive q = g[1] == h[2]"), [1.0]);
    assert_eq!(reported("derive q = 2020 == year"), [0.0, 1.0, 1.0]);
    assert_eq!(reported("for j in 1..Y { derive q[j] = sum(year == j) }"), [1.0, 2.0]);
    let code =
        |text: &str| ModelTarget::new(&format!("{head}{text}"), &data).err().map(|found| found[0].code);
    assert_eq!(code("for j in 2019..2020 { derive q[j - 2018] = sum(year == j) }"), Some("not-a-level"));
    assert_eq!(code("derive q = year == 2018"), Some("unknown-level"));
}

/// Elements that no statement describes are told where the others are described.
#[test]
fn elements_without_a_prior_are_told() {
    let few = Dataset::from_texts(&[("data.csv", "y,g\n1,p\n2,q\n0,r\n")]).unwrap();
    // A long loop is taken as whole arrays.
    let rows: String = (10..50).map(|g| format!("1,g{g}\n")).collect();
    let many = Dataset::from_texts(&[("data.csv", &format!("y,g\n{rows}"))]).unwrap();
    let warned_with = |data: &Dataset, text: &str| {
        let source = format!(
            "data {{ y : real[N]; g : category[N] of J }}\nparam b[J] : real\n{text}\ny ~ normal(b[g], 1)"
        );
        let target = ModelTarget::new(&source, data).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        let told = target.lowered().warnings.iter().filter(|w| w.code == "element-without-prior");
        told.map(|w| w.message.clone()).collect::<Vec<_>>()
    };
    let warned = |text: &str| warned_with(&few, text);
    assert!(warned("b ~ normal(0, 1)").is_empty());
    assert!(warned("b[1] ~ normal(0, 1)\nfor j in 2..J { b[j] ~ normal(b[j-1], 1) }").is_empty());
    assert!(warned("b[1] ~ normal(0, 1)\nb[2..] ~ flat()").is_empty());
    assert_eq!(warned("b[3] ~ normal(0, 1)"), ["`b[1]` has no prior, nor has another: it is taken as flat"]);
    assert_eq!(
        warned("for j in 2..J { b[j] ~ normal(b[j-1], 1) }"),
        ["`b[1]` has no prior: it is taken as flat"]
    );
    let walk = "for j in 2..J { b[j] ~ normal(b[j-1], 1) }";
    assert!(warned_with(&many, &format!("b[1] ~ normal(0, 1)\n{walk}")).is_empty());
    assert!(warned_with(&many, "for j in 1..J { b[j] ~ normal(0, 1) }").is_empty());
    assert!(warned_with(&many, "for j in 1..J { let m = 0.5 * j\nb[j] ~ normal(m, 1) }").is_empty());
    assert!(warned("b[1] ~ normal(0, 1)\ntarget += normal_lpdf(b[2..] | 0, 1)").is_empty());
    assert_eq!(warned_with(&many, walk), ["`b[1]` has no prior: it is taken as flat"]);
}

#[test]
fn data_that_are_spelled_otherwise_are_told_of() {
    let source = "data { y : real[N]; x : real[N] = 0 }\nparam b ~ normal(0, 1)\ny ~ normal(b * x, 1)";
    let warned = |header: &str| {
        let data = Dataset::from_texts(&[("data.csv", &format!("{header}\n1,1\n2,2\n"))]).unwrap();
        let program = stickler::syntax::parse(source).unwrap();
        let lowered = stickler::lower::lower(&program, source, &data).unwrap_or_else(|e| panic!("{e:?}"));
        lowered.warnings.iter().any(|w| w.code == "default-used" && w.message.contains("`X`"))
    };
    assert!(warned("y,X"));
    assert!(!warned("y,x") && !warned("y,z"));
    let size = "data { N : int; y : real[N] }\nparam b ~ normal(0, 1)\ny ~ normal(b, 1)";
    let told = format!("{:?}", bound(size, "y,x\n1,1\n").err());
    assert!(told.contains("leave `N : int` out"), "{told}");
    let level =
        "data { y : real[N]; g : category[N] of J }\nparam b ~ normal(0, 1)\ny ~ normal(b * (g == a), 1)";
    let told = format!("{:?}", bound(level, "y,g\n1,a\n2,b\n").err());
    assert!(told.contains("write `\\\"a\\\"`"), "{told}");
}
