//! A category picks by its labels, never by the place of its levels: what it has in common with an axis is
//! looked up, and what
//! it has not is refused, by name and row.

use stickler::data::Dataset;
use stickler::source::Diagnostic;
use stickler::target::{ModelTarget, Target};

/// Penguins: three species on three islands, and columns that share the labels of the species in part or in
/// another order.
const DATA: &str = "species,island,y,host,few,code,num\n\
                    Adelie,Biscoe,1,Gentoo,Gentoo,1,7\n\
                    Gentoo,Dream,2,Adelie,Chinstrap,2,8\n\
                    Chinstrap,Torgersen,3,Chinstrap,Gentoo,3,9\n\
                    Adelie,Biscoe,1.5,Adelie,Chinstrap,1,7\n";

const HEAD: &str = "data { species : category[N] of S; island : category[N]; y : real[N]; host : category[N]; few : category[N] }\n\
                    param a[S] ~ normal(0, 10)\nparam s ~ half_normal(5)\n";

fn built(source: &str, data: &[(&str, &str)]) -> Result<ModelTarget, Vec<Diagnostic>> {
    let program = stickler::syntax::parse(source).unwrap_or_else(|e| panic!("{source}: {e:?}"));
    stickler::model::check(&program, source).unwrap_or_else(|e| panic!("{source} without data: {e:?}"));
    ModelTarget::new(source, &Dataset::from_texts(data).unwrap())
}

/// The log density at some coordinates. References count their rows by hand, which only data can allow.
fn value(source: &str, data: &[(&str, &str)]) -> f64 {
    let data = Dataset::from_texts(data).unwrap();
    let target = ModelTarget::new(source, &data).unwrap_or_else(|e| panic!("{source}: {e:?}"));
    let z: Vec<f64> = (0..target.dimension()).map(|k| 0.4 * k as f64 - 0.7).collect();
    let mut found = [0.0];
    target.evaluator().log_density(&z, 1, &mut found);
    found[0]
}

#[test]
fn a_category_with_other_labels_picks_nothing() {
    let cases = [
        "y ~ normal(a[island], s)",
        "y ~ normal(exp(a)[island], s)",
        "y ~ normal((a + 1)[island], s)",
        "let b = a - mean(a)\ny ~ normal(b[island], s)",
        "let b = softmax(a)\ny ~ normal(b[island], s)",
        "let b = where(a > 0, a, 0)\ny ~ normal(b[island], s)",
        "let b = cumsum(a)\ny ~ normal(b[island], s)",
        "param m[S, 2] ~ normal(0, 1)\ny ~ normal(m[island, 2], s)",
        "param m[2, S] ~ normal(0, 1)\ny ~ normal(m[1, island], s)",
        "param m[S, 2] ~ normal(0, 1)\ny ~ normal(m[:, 1][island], s)",
        "param m[S, 2] ~ normal(0, 1)\ny ~ normal(m'[1, island], s)",
        "param m[S, 2] ~ normal(0, 1)\nlet c = rowsum(m)\ny ~ normal(c[island], s)",
        "param m[S, 2] ~ normal(0, 1)\ny ~ normal((m * [1.0, 2.0])[island], s)",
        "param z[S] ~ normal(a, s) noncentered\ny ~ normal(z[island], s)",
        "param p : simplex[S] ~ dirichlet(ones(S))\ny ~ normal(p[island], s)",
        "let x[1] = a[1]\nfor k in 2..S { let x[k] = a[k] + x[k-1] }\ny ~ normal(x[island], s)",
        "for k in 1..S { let x[k] = sum(y * (species == k)) }\ny ~ normal(x[island] + a[species], s)",
        "for k in 1..S { let x[k] = sum(y * (island == k)) }\ny ~ normal(x[species] + a[species], s)",
        "for n in 1..N { y[n] ~ normal(a[island[n]], s) }",
        "for n in 2..N { let m[n] = a[island[n]] }\ny[2] ~ normal(m[3], s)",
        "let g = island\ny ~ normal(a[g], s)",
        "let g = island[2..N]\ny[2..N] ~ normal(a[g], s)",
        "fn pick(v, g) = v[g]\ny ~ normal(pick(a, island), s)",
        "param p : simplex[S] ~ dirichlet(ones(S))\nisland ~ categorical(p)",
        "island ~ categorical_logit(a)",
        "target += categorical_logit_lpmf(island | a)",
        "derive d = a[island]\ny ~ normal(a[species], s)",
        "predict d[N] ~ normal(a[island], s)\ny ~ normal(a[species], s)",
    ];
    for text in cases {
        let source = format!("{HEAD}{text}");
        let found = built(&source, &[("lab.csv", DATA)]).err().unwrap_or_default();
        assert!(found.iter().any(|d| d.code == "other-labels"), "{text}: {found:?}");
    }
}

#[test]
fn the_error_names_column_row_label_and_way_out() {
    let source = format!("{HEAD}y ~ normal(a[island], s)");
    let found = built(&source, &[("lab.csv", DATA)]).err().unwrap_or_default();
    let told = format!("{found:?}");
    for words in
        ["island", "\\\"Biscoe\\\" at line 2", "Adelie, Chinstrap, Gentoo", "island : category[N] of S"]
    {
        assert!(told.contains(words), "{words}: {told}");
    }
}

#[test]
fn labels_that_an_axis_has_are_looked_up() {
    // The place of each label of the species, Adelie 1, Chinstrap 2, Gentoo 3, written out.
    let cases = [("host", [3, 1, 2, 1]), ("few", [3, 2, 3, 2]), ("species", [1, 3, 2, 1])];
    let data = [("lab.csv", DATA)];
    for (column, places) in cases {
        let [i, j, k, l] = places;
        let written = format!("{HEAD}y ~ normal([a[{i}], a[{j}], a[{k}], a[{l}]], s)");
        let forms = [
            format!("y ~ normal(a[{column}], s)"),
            format!("for n in 1..N {{ y[n] ~ normal(a[{column}[n]], s) }}"),
            format!("let b = a + 0\ny ~ normal(b[{column}], s)"),
            format!("for k in 1..S {{ let b[k] = a[k] }}\ny ~ normal(b[{column}], s)"),
            format!(
                "for k in 1..S {{ let n[k] = 0 * sum({column} == k) + a[k] }}\ny ~ normal(n[{column}], s)"
            ),
            format!("y[1..4] ~ normal(a[1..3][{column}], s)"),
        ];
        for form in forms {
            let (found, wanted) = (value(&format!("{HEAD}{form}"), &data), value(&written, &data));
            assert!((found - wanted).abs() < 1e-12 * wanted.abs(), "{form}: {found} {wanted}");
        }
    }
}

#[test]
fn new_data_with_other_levels_or_another_order() {
    let head = "data { dose : category[N] of D; y : real[N]; pred : category[M] }\nparam a[D] ~ normal(0, 1)\n\
                y ~ normal(a[dose], 1)\n";
    let data = ("old.csv", "dose,y\nlow,1\nmid,2\nhigh,3\n");
    let source = format!("{head}let m = a[pred]\nderive d = m");
    let strange =
        built(&source, &[data, ("new.csv", "pred\nlow\nmid\nveryhigh\n")]).err().unwrap_or_default();
    assert!(format!("{strange:?}").contains("\\\"veryhigh\\\" at line 4"), "{strange:?}");
    // Levels are sorted: high 1, low 2, mid 3.
    let source = source.replace("category[M]", "category[M] levels(\"low\", \"mid\", \"high\")");
    let found =
        value(&format!("{source}\ntarget += m[1] + 10 * m[2]"), &[data, ("new.csv", "pred\nmid\nhigh\n")]);
    let wanted =
        value(&format!("{head}target += a[3] + 10 * a[1]"), &[data, ("new.csv", "pred\nmid\nhigh\n")]);
    assert!((found - wanted).abs() < 1e-12 * wanted.abs(), "{found} {wanted}");
}

#[test]
fn teams_share_their_levels() {
    let model = |of: &str, away: &str| {
        format!(
            "data {{ home : category[N] of T; away : category[N]{away}; goals : real[N] }}\nparam s{of} ~ normal(0, 1)\n\
             goals ~ normal(s[home] - s[away], 1)"
        )
    };
    // Cork never plays at home.
    let data = [("games.csv", "home,away,goals\nAyr,Bath,1\nBath,Cork,0\nDover,Ayr,2\n")];
    let found = built(&model("[T]", ""), &data).err().unwrap_or_default();
    assert!(format!("{found:?}").contains("away : category[N] of T"), "{found:?}");
    let target = built(&model("[T]", " of T"), &data).unwrap();
    assert_eq!(target.dimension(), 4);
    let wanted = "data { goals : real[N] }\nparam s[4] ~ normal(0, 1)\n\
                  goals ~ normal([s[1] - s[2], s[2] - s[3], s[4] - s[1]], 1)";
    let (found, wanted) = (value(&model("[T]", " of T"), &data), value(wanted, &data));
    assert!((found - wanted).abs() < 1e-12 * wanted.abs(), "{found} {wanted}");
}

#[test]
fn levels_that_a_model_lists_are_compared_without_data() {
    let cases = [
        // One label is no level of the axis.
        "data { g : category[N] levels(\"x\", \"y\", \"z\") of K; h : category[N] levels(\"p\", \"q\", \"r\"); y : real[N] }\n\
         param a[K] ~ normal(0, 1)\ny ~ normal(a[h], 1)",
        // Two lists for one number of levels.
        "data { g : category[N] levels(\"x\", \"y\") of K; h : category[N] levels(\"y\", \"x\") of K; y : real[N] }\n\
         param a[K] ~ normal(0, 1)\ny ~ normal(a[h] + a[g], 1)",
    ];
    for source in cases {
        let program = stickler::syntax::parse(source).unwrap();
        let found = stickler::model::check(&program, source).err().unwrap_or_default();
        assert!(found.iter().any(|d| d.code == "other-labels"), "{source}: {found:?}");
    }
    // The list of one counts for the other.
    let shared = "data { g : category[N] of K; h : category[N] levels(\"low\", \"mid\", \"high\") of K; y : real[N] }\n\
                  param a[K] ~ normal(0, 1)\ny ~ normal(a[g] + a[h], 1)";
    let written =
        "data { y : real[N] }\nparam a[3] ~ normal(0, 1)\ny ~ normal([a[2] + a[1], a[3] + a[2]], 1)";
    let data = [("d.csv", "g,h,y\nmid,low,1\nhigh,mid,2\n")];
    assert_eq!(value(shared, &data), value(written, &data));
}

#[test]
fn numbers_are_labels_too() {
    let head = "data { code : category[N] of K; num : category[N]; species : category[N]; y : real[N] }\n\
                param a[K] ~ normal(0, 1)\n";
    for column in ["num", "species"] {
        let found = built(&format!("{head}y ~ normal(a[{column}], 1)"), &[("lab.csv", DATA)]).err();
        assert!(format!("{found:?}").contains("other-labels"), "{column}: {found:?}");
    }
    // Whole numbers that are declared as such are places.
    let places = "data { species : category[N] of S; code : int[N]; y : real[N] }\nparam a[S] ~ normal(0, 1)\ny ~ normal(a[code], 1)";
    assert!(built(places, &[("lab.csv", DATA)]).is_ok());
}

#[test]
fn axes_of_two_categories_do_not_meet_element_by_element() {
    let head = "data { species : category[N] of S; island : category[N] of I; y : real[N] }\nparam a[S] ~ normal(0, 1)\n\
                param b[I] ~ normal(0, 1)\n";
    let cases = [
        "target += a + b",
        "target += where(a > 0, b, 0)",
        "target += fmax(a, b)",
        "target += dot(a, b)",
        "target += normal_lpdf(a | b, 1)",
        "a ~ normal(b, 1)",
        "let x = concat([0.0], a[2..S])\ntarget += x * b",
        "for k in 1..S { target += a[k] * b[k] }",
        "y ~ normal(a[island], 1)",
    ];
    for text in cases {
        assert!(built_or_refused(&format!("{head}{text}")), "{text} is taken");
    }
}

/// Whether a model is refused, with these data or without any.
fn built_or_refused(source: &str) -> bool {
    let program = stickler::syntax::parse(source).unwrap();
    stickler::model::check(&program, source).is_err()
        || ModelTarget::new(source, &Dataset::from_texts(&[("lab.csv", DATA)]).unwrap()).is_err()
}

#[test]
fn differences_along_an_axis_and_labels_in_the_output() {
    let source =
        format!("{HEAD}derive step = a[2..S] - a[1..S - 1]\nderive e = exp(a)\ny ~ normal(a[species], s)");
    let target = built(&source, &[("lab.csv", DATA)]).unwrap();
    let names = target.output_names();
    let picked =
        format!("{HEAD}derive eff[S] = a - mean(a)\nderive g = eff[\"Gentoo\"]\ny ~ normal(a[species], s)");
    assert!(built(&picked, &[("lab.csv", DATA)]).is_ok());
    let strange = built(&picked.replace("\"Gentoo\"", "\"Gento\""), &[("lab.csv", DATA)]).err().unwrap();
    assert!(format!("{strange:?}").contains("did you mean \\\"Gentoo\\\""), "{strange:?}");
    for name in ["a[Adelie]", "e[Gentoo]", "step[2]"] {
        assert!(names.iter().any(|known| known == name), "{name}: {names:?}");
    }
}
