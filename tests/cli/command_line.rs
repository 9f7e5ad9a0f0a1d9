//! The command line as a user meets it: exit codes, what is printed, which files are written.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MODEL: &str = "# One mean.\ndata { y : real[N] }   # the data\nparam mu~normal(0,10)\ny ~ normal(mu, 1)\nderive twice = 2 * mu\n\
                     predict new ~ normal(mu, 1)\n";

/// A folder of its own for each test, with a model and its data.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("model.ppl"), MODEL).unwrap();
    std::fs::write(folder.join("data.csv"), "y\n1.0\n2.0\n3.0\n").unwrap();
    folder
}

fn stickler(folder: &Path, args: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stickler"));
    command.current_dir(folder).args(args.split_whitespace()).output().unwrap()
}

/// Exit code, standard output, standard error.
fn told(folder: &Path, args: &str) -> (i32, String, String) {
    let out = stickler(folder, args);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (out.status.code().unwrap(), text(&out.stdout), text(&out.stderr))
}

#[test]
fn exit_codes_are_those_of_the_manual() {
    let f = folder("exit-codes");
    std::fs::write(f.join("wrong.ppl"), "y ~ normal(0, 1)\n").unwrap();
    for (args, code) in [
        ("check model.ppl", 0),
        ("check model.ppl data.csv", 0),
        ("fit model.ppl data.csv", 0),
        ("check wrong.ppl", 1),
        ("check model.ppl no-such.csv", 2),
        ("fit model.ppl no-such.csv", 2),
        ("check no-such.ppl", 2),
        ("check model.ppl --no-such-option", 2),
        ("fit model.ppl data.csv --method no_such_method", 2),
        ("list distributions no_such_distribution", 2),
        ("check model.ppl data.csv --set N=3", 0),
        ("check model.ppl data.csv --set M=3", 2),
    ] {
        let (found, out, err) = told(&f, args);
        assert_eq!(found, code, "{args}\n{out}\n{err}");
        assert!(code == 0 || !err.is_empty() && out.is_empty(), "{args}\n{out}\n{err}");
    }
    let (_, _, err) = told(&f, "check model.ppl dta.csv");
    assert!(
        err.starts_with("error: cannot open dta.csv") && err.contains("did you mean `data.csv`"),
        "{err}"
    );
}

#[test]
fn a_path_that_cannot_be_written_is_told_before_the_fit() {
    let f = folder("out");
    let (code, out, err) = told(&f, "fit model.ppl data.csv --out no/such/folder/x.csv");
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("cannot write no/such/folder/x.csv"), "{err}");
    let (code, out, err) = told(&f, "fit model.ppl data.csv --out x.parquet");
    assert!(code == 2 && out.is_empty() && !f.join("x.parquet").exists() && err.contains(".csv"), "{err}");
    let (code, out, err) = told(&f, "fit model.ppl data.csv --draws 100 --out x.csv");
    assert!(code == 0 && out.contains("twice") && out.contains("new"), "{out}\n{err}");
    let written = std::fs::read_to_string(f.join("x.csv")).unwrap();
    assert_eq!((written.lines().next(), written.lines().count()), (Some("mu,twice,new"), 101));
    let (code, ..) = told(&f, "fit model.ppl data.csv --steps 5 --out y.csv");
    assert_eq!(code, 2);
    assert!(!f.join("y.csv").exists(), "a fit that did not run leaves no file");
}

#[test]
fn an_answer_is_neither_lost_nor_written_over_what_it_comes_from() {
    let f = folder("lost");
    for (args, words) in [
        ("fit model.ppl data.csv --out data.csv", "another name"),
        ("fit model.ppl data.csv --out ./model.ppl", "another name"),
        ("fit model.ppl data.csv --method all --out x.csv", ".json"),
        ("certify model.ppl data.csv --out data.csv", "another name"),
        ("certify model.ppl data.csv --out ./model.ppl", "another name"),
        ("bench model.ppl data.csv --seconds nan", "above zero"),
        ("bench model.ppl data.csv --seconds 0", "above zero"),
    ] {
        let (code, out, err) = told(&f, args);
        assert!(code == 2 && out.is_empty() && err.contains(words), "{args}\n{err}");
    }
    assert_eq!(std::fs::read_to_string(f.join("model.ppl")).unwrap(), MODEL);
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let mut command = Command::new(env!("CARGO_BIN_EXE_stickler"));
    let out = command.current_dir(&f).args(["fit", "model.ppl", "data.csv"]).stdout(full).output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("cannot write to standard output"));
}

#[test]
fn files_in_the_wrong_place_are_named_in_words() {
    let f = folder("places");
    std::fs::write(f.join("sized.ppl"), MODEL.replace("data { ", "data { J : int; ")).unwrap();
    for (args, words) in [
        ("test model.ppl", "`test` runs all models of one"),
        ("certify --verify no-such.json", "cannot read no-such.json: there is no such file"),
        ("fit model.ppl data.csv --out .", "it is a folder"),
        ("fit data.csv model.ppl", "stand before the data"),
        ("fit model.stan data.csv", "a Stan program is written anew"),
        ("fit sized.ppl data.csv --set J=abc", "give a number: `--set J=3`"),
        ("fit model.ppl data.csv --method mcmc", "the method that samples is `nuts`"),
    ] {
        let (code, out, err) = told(&f, args);
        assert!(code > 0 && out.is_empty() && err.contains(words), "{args}\n{err}");
        assert!(!err.contains("os error"), "{args}\n{err}");
    }
}

#[test]
fn warnings_go_to_standard_error() {
    let f = folder("warnings");
    std::fs::write(f.join("twice.ppl"), MODEL.replace("y ~", "mu ~ normal(0, 1)\ny ~")).unwrap();
    for args in ["check twice.ppl", "check twice.ppl data.csv", "fit twice.ppl data.csv --json"] {
        let (code, out, err) = told(&f, args);
        assert!(
            code == 0 && err.starts_with("warning[two-priors]: `mu` has two priors"),
            "{args}\n{out}\n{err}"
        );
        assert!(!out.contains("two-priors"), "{out}");
    }
}

/// A level that is written in two ways is two levels, and that is said.
#[test]
fn levels_that_look_alike_are_told() {
    let f = folder("alike");
    std::fs::write(f.join("alike.csv"), "y,town\n1,Bonn\n2,bonn\n0,New York\n3,NewYork\n1,Ulm\n").unwrap();
    for (levels, told_of) in
        [("", true), (" levels(\"Bonn\", \"bonn\", \"New York\", \"NewYork\", \"Ulm\")", false)]
    {
        let model = format!(
            "data {{ y : real[N]; town : category[N]{levels} of J }}\nparam a[J] ~ normal(0, 1)\ny ~ normal(a[town], 1)"
        );
        std::fs::write(f.join("alike.ppl"), model).unwrap();
        let (code, out, err) = told(&f, "check alike.ppl alike.csv");
        let rest = "so do `Bonn` and `bonn`";
        assert_eq!(code, 0, "{out}\n{err}");
        assert_eq!(
            err.starts_with("warning[levels-alike]: `New York` and `NewYork` are two") && err.contains(rest),
            told_of,
            "{err}"
        );
    }
}

#[test]
fn the_catalogue_has_everything_that_can_be_written() {
    let f = folder("list");
    for args in [
        "distributions mixture",
        "distributions truncated",
        "distributions censored",
        "functions ode",
        "distributions zero_inflated",
        "functions ode_stiff",
        "distributions normal",
        "functions exp",
        "constraints simplex",
        "transforms interval",
    ] {
        let (code, out, err) = told(&f, &format!("list {args}"));
        let name = args.split(' ').next_back().unwrap();
        assert!(code == 0 && out.starts_with(name) && out.lines().count() > 1, "{args}\n{out}\n{err}");
    }
    let (_, interval, _) = told(&f, "list constraints interval");
    assert!(interval.starts_with("real in (a, b)"), "{interval}");
    let (_, all, _) = told(&f, "list distributions");
    assert!(all.contains("mixture(w1: D1, w2: D2, ...)"), "{all}");
}

#[test]
fn every_stage_can_be_dumped() {
    let f = folder("dump");
    for (stage, words) in [
        ("ast", "derive twice"),
        ("model", "simulated new []"),
        ("graph", "normal"),
        ("graph --dot", "digraph"),
        ("plan", ""),
        ("kernels", "no elementwise functions"),
        ("certificate", ""),
        ("strategy", "the posterior is Gaussian, as the graph proves"),
    ] {
        let (code, out, err) = told(&f, &format!("dump model.ppl data.csv --stage {stage}"));
        assert!(code == 0 && !out.is_empty() && out.contains(words), "{stage}\n{out}\n{err}");
    }
    std::fs::write(
        f.join("gamma.ppl"),
        "data { y : real[N] }\nparam a : real > 0 ~ gamma(2, 1)\ny ~ gamma(a, 1)\n",
    )
    .unwrap();
    let (code, out, err) = told(&f, "dump gamma.ppl data.csv --stage kernels");
    assert!(code == 0 && out.contains("out0 = "), "{out}\n{err}");
    let (code, out, err) = told(&f, "fit model.ppl data.csv --trace");
    assert!(
        code == 0 && out.starts_with("attempts\n") && out.contains("kept (the only answer so far)"),
        "{out}\n{err}"
    );
    let (code, out, err) = told(&f, "dump model.ppl --stage model");
    assert!(code == 0 && out.starts_with("param mu scalar in real\n"), "{out}\n{err}");
}

#[test]
fn what_has_no_posterior_is_refused_or_flagged() {
    let f = folder("improper");
    std::fs::write(f.join("unused.ppl"), format!("{MODEL}param b ~ flat()\n")).unwrap();
    let (code, out, err) = told(&f, "check unused.ppl data.csv");
    assert!(code == 0 && err.starts_with("warning[improper-posterior]"), "{out}\n{err}");
    let (code, out, err) = told(&f, "fit unused.ppl data.csv");
    assert!(code == 1 && out.is_empty() && err.starts_with("error[improper-posterior]"), "{out}\n{err}");
    let sum = "data { y : real[N] }\nparam a ~ flat()\nparam b ~ flat()\ny ~ normal(a + b, 1)\n";
    std::fs::write(f.join("sum.ppl"), sum).unwrap();
    let (code, out, err) = told(&f, "fit sum.ppl data.csv");
    assert!(code == 1 && out.is_empty() && err.contains("along a direction of a, b"), "{out}\n{err}");
    assert!(err.starts_with("error[improper-posterior]"), "{err}");
    // Columns that are nearly the same, or the same: only the latter leave a direction without an end.
    let flat = "data { y : real[N]; x : real[N]; w : real[N] }\nparam a ~ flat()\nparam b ~ flat()\ny ~ normal(a * x + b * w, 1)\n";
    std::fs::write(f.join("flat.ppl"), flat).unwrap();
    std::fs::write(f.join("near.csv"), "y,x,w\n1,1,2\n2,2,4.001\n2.5,3,6\n3.7,4,8\n").unwrap();
    std::fs::write(f.join("twice.csv"), "y,x,w\n1,1,2\n2,2,4\n2.5,3,6\n3.7,4,8\n").unwrap();
    let (code, out, err) = told(&f, "fit flat.ppl near.csv");
    assert!(code == 0, "{out}\n{err}");
    let (code, out, err) = told(&f, "fit flat.ppl twice.csv");
    assert!(code == 1 && out.is_empty() && err.contains("along a direction of a, b"), "{out}\n{err}");
    let same = "data { y : real[N] }\nparam a ~ normal(0, 10)\nparam s ~ half_cauchy(2)\ny ~ normal(a, s)\n";
    std::fs::write(f.join("same.ppl"), same).unwrap();
    std::fs::write(f.join("same.csv"), "y\n5\n5\n5\n").unwrap();
    let (code, out, err) = told(&f, "fit same.ppl same.csv");
    assert!(code == 3 && out.contains("next to nothing is left of s"), "{out}\n{err}");
    // Two rows do not hold a mean and a scale: the mass is infinite.
    let few = "data { y : real[N] }\nparam m ~ flat()\nparam s : real > 0 ~ flat()\nparam p : real in (0, 1) ~ flat()\ny ~ normal(m + p, s)\n";
    std::fs::write(f.join("few.ppl"), few).unwrap();
    std::fs::write(f.join("few.csv"), "y\n1\n2\n").unwrap();
    let (code, out, err) = told(&f, "fit few.ppl few.csv");
    assert!(code == 3 && out.contains("flat priors (m, s) are no distributions"), "{out}\n{err}");
}

#[test]
fn draws_that_are_kept_do_not_change_what_is_said() {
    let f = folder("kept");
    let numbers = |out: &str| {
        let mut fit: serde_json::Value = serde_json::from_str(out).unwrap();
        fit["seconds"] = serde_json::Value::Null;
        for tried in fit["trace"].as_array_mut().into_iter().flatten() {
            tried["seconds"] = serde_json::Value::Null;
        }
        fit
    };
    let (_, plain, _) = told(&f, "fit model.ppl data.csv --json");
    for (args, rows) in [("--draws 30000", 30_000), ("", 4000), ("--certified", 4000)] {
        let (code, out, err) = told(&f, &format!("fit model.ppl data.csv --json --out draws.csv {args}"));
        assert!(code == 0 && (args == "--certified" || numbers(&out) == numbers(&plain)), "{out}\n{err}");
        let written = std::fs::read_to_string(f.join("draws.csv")).unwrap();
        assert_eq!(written.lines().count(), rows + 1, "{args}");
    }
    let (code, _, err) = told(&f, "fit model.ppl data.csv --out none.csv --draws 0");
    assert!(code == 2 && err.contains("--draws must be at least 1"), "{err}");
    let (code, _, err) = told(&f, "fit model.ppl data.csv --draws 7");
    assert!(code == 0 && err.contains("warning: --draws"), "{err}");
}

#[test]
fn a_gaussian_that_is_poor_by_itself_is_told_beside_its_correction() {
    let f = folder("by-itself");
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    for file in ["eight_schools.ppl", "eight_schools.csv"] {
        std::fs::copy(models.join(file), f.join(file)).unwrap();
    }
    let (_, out, err) = told(&f, "fit eight_schools.ppl eight_schools.csv --method laplace --json");
    let fit: serde_json::Value = serde_json::from_str(&out).unwrap();
    let notes = fit["notes"].to_string();
    assert!(fit["khat"].as_f64().unwrap() < 0.7, "{out}\n{err}");
    let own = notes.split("`laplace` by itself has ").nth(1).and_then(|t| t[..4].parse::<f64>().ok());
    assert!(own.is_some_and(|own| own >= 0.7), "{notes}");
}

#[test]
fn a_quantity_that_is_not_finite_is_said_to_be_so() {
    let f = folder("not-finite");
    let derived = "derive l = log(mu - 2)\nderive up = 1 / (mu - mu)\n";
    std::fs::write(f.join("nan.ppl"), format!("{MODEL}{derived}")).unwrap();
    let (code, out, err) = told(&f, "fit nan.ppl data.csv --json");
    assert_eq!(code, 3, "{out}\n{err}");
    let fit: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(fit["parameters"]["l"]["mean"], "NaN", "{out}");
    assert_eq!(fit["parameters"]["up"]["q50"], "Inf", "{out}");
    assert!(
        fit["parameters"]["mu"]["mean"].is_number() && fit["flags"][0].as_str().unwrap().starts_with("l, up")
    );
}

#[test]
fn a_density_that_is_not_finite_is_said_in_words_that_data_files_know() {
    let f = folder("grad-not-finite");
    std::fs::write(f.join("edge.ppl"), format!("{MODEL}target += log(mu)\n")).unwrap();
    let (code, out, err) = told(&f, "grad edge.ppl data.csv --json");
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let point = &json["points"][0];
    assert_eq!(
        (code, &point["log_density"], &point["gradient"][0]),
        (0, &"-Inf".into(), &"Inf".into()),
        "{err}"
    );
    assert!(point["log_likelihood"].is_number() && point["log_jacobian"] == 0.0, "{out}");
}

#[test]
fn a_statement_that_is_never_finite_is_marked() {
    let f = folder("never-finite");
    let model = "data { y : real[N] }\nparam S : cov_matrix[2] ~ inv_wishart(1, identity(2))\ny ~ normal(S[1, 1], 1)\n";
    std::fs::write(f.join("never.ppl"), model).unwrap();
    let (code, _, err) = told(&f, "fit never.ppl data.csv");
    assert!(code == 1 && err.contains("never.ppl:2:1") && !err.contains("never.ppl:3"), "{err}");
}

#[test]
fn layout_is_canonical_after_one_pass_and_keeps_comments() {
    let f = folder("fmt");
    assert_eq!(told(&f, "fmt --check model.ppl").0, 1);
    assert_eq!(told(&f, "fmt model.ppl").0, 0);
    let once = std::fs::read_to_string(f.join("model.ppl")).unwrap();
    assert!(once.contains("# One mean.") && once.contains("# the data"), "{once}");
    assert_eq!(told(&f, "fmt --check model.ppl").0, 0);
    assert_eq!(told(&f, "fmt model.ppl").0, 0);
    assert_eq!(std::fs::read_to_string(f.join("model.ppl")).unwrap(), once);
}
