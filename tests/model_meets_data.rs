//! Models that are fine by themselves and wrong with their data: what the user is told names the problem and the way out.

use stickler::data::Dataset;
use stickler::source::Diagnostic;
use stickler::target::ModelTarget;

const DATA: &str = "y,x,g,k\n1.5,0.2,a,1\n2.5,0.4,b,0\n0.5,-0.3,a,3\n1.0,0.9,c,2\n";
const HEAD: &str = "data { y : real[N]; x : real[N]; g : category[N] of J; k : count[N] }\n\
                    param a ~ normal(0, 1)\nparam b[J] ~ normal(0, 1)\nparam c : ordered[2] ~ normal(0, 1)\n";

fn problems(text: &str) -> Vec<Diagnostic> {
    let source = format!("{HEAD}{text}");
    let program = stickler::syntax::parse(&source).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    assert!(stickler::lower::check(&program, &source).is_ok(), "{text} is refused without data");
    let data = Dataset::from_texts(&[("data.csv", DATA)]).unwrap();
    ModelTarget::new(&source, &data).err().unwrap_or_default()
}

#[test]
fn what_only_data_can_show_is_explained() {
    let cases = [
        ("y ~ normal(a + g, 1)", "category-as-number", "g == \"c\""),
        ("y ~ normal(a - exp(g), 1)", "category-as-number", "alpha[g]"),
        ("y ~ normal(a, g)", "category-as-number", "alpha[g]"),
        ("g ~ normal(a, 1)", "category-as-number", "alpha[g]"),
        ("g ~ bernoulli_logit(a)", "category-as-number", "== \"c\""),
        ("let h = g == 2\ny ~ normal(a * h, 1)", "category-as-number", "== \"c\""),
        ("y ~ censored(normal(a, 1), right = k)", "data-outside-domain", "right = status == 2"),
        ("y ~ normal(a, 1) weight x", "data-outside-domain", "zero or positive"),
        ("y ~ normal(b[k], 1)", "index-out-of-range", "indices start at 1"),
        ("y ~ normal(y / 0, 1)", "data-outside-domain", "finite"),
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

#[test]
fn categories_are_indices_outcomes_and_levels() {
    let fine = [
        "y ~ normal(b[g], 1)",
        "g ~ categorical_logit(b)",
        "g ~ ordered_logistic(a, c)",
        "y ~ normal(a * (g == \"b\"), 1)",
        "let same = g[1] == g[3]\ny ~ normal(a * same, 1)",
        "for i in 1..N { if g[i] == \"a\" { y[i] ~ normal(a, 1) } }",
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
    assert!(stickler::lower::check(&program, source).is_ok());
}
