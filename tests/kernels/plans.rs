//! Every way to compute a log density agrees: rewritten and as written, in batches and one by one.

use std::path::{Path, PathBuf};
use stickler::data::Dataset;
use stickler::num::stream::Stream;
use stickler::rewrite::TABLE;
use stickler::target::{ModelTarget, Target};

/// Every model with data in the repository or beside it.
fn models() -> Vec<(PathBuf, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let data = root.join("../shared/posteriordb");
    let mut found = Vec::new();
    for folder in [root.join("models"), root.join("models/posteriordb")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let model = entry.unwrap().path();
            if model.extension().is_none_or(|e| e != "ppl") {
                continue;
            }
            let name = model.file_stem().unwrap();
            let beside = ["csv", "json"].map(|e| model.with_extension(e));
            let own = beside.into_iter().chain([data.join(name).join("data.json")]).find(|p| p.is_file());
            found.extend(own.map(|d| (model, d)));
        }
    }
    found.sort();
    found
}

fn compile(model: &Path, data: &Path, rules: &[&stickler::rewrite::Rule]) -> ModelTarget {
    let source = std::fs::read_to_string(model).unwrap();
    let data = Dataset::read(&[data.to_path_buf()]).unwrap();
    let program = stickler::syntax::parse(&source).unwrap();
    ModelTarget::with_rules(stickler::lower::lower(&program, &source, &data).unwrap(), rules)
}

fn points(d: usize, draws: usize) -> Vec<f64> {
    let mut z = vec![0.0; d * draws];
    Stream::new(6, 0, draws as u64).fill_normal(&mut z);
    z.iter().map(|x| 0.3 * x).collect()
}

/// Value, then gradient, of each draw.
fn evaluate(target: &ModelTarget, z: &[f64], draws: usize) -> Vec<Vec<f64>> {
    let d = target.dimension();
    let (mut value, mut gradient) = (vec![0.0; draws], vec![0.0; d * draws]);
    target.evaluator().evaluate(z, draws, &mut value, &mut gradient);
    (0..draws)
        .map(|b| std::iter::once(value[b]).chain((0..d).map(|i| gradient[i * draws + b])).collect())
        .collect()
}

/// Whether two lists agree to rounding, measured by their largest numbers.
fn agree(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    if !a[0].is_finite() || !b[0].is_finite() {
        return a[0].is_finite() == b[0].is_finite();
    }
    let size = a[1..].iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    let near = |x: f64, y: f64, size: f64| (x - y).abs() <= tolerance * size;
    near(a[0], b[0], a[0].abs().max(1.0)) && a[1..].iter().zip(&b[1..]).all(|(&x, &y)| near(x, y, size))
}

/// Differential equations are solved draw by draw and step by step: their rounding is that of the solver.
fn tolerance(model: &Path) -> f64 {
    let name = model.file_stem().unwrap().to_str().unwrap();
    if ["predator_prey", "hudson_lynx_hare-lotka_volterra", "sir-sir"].contains(&name) { 1e-6 } else { 1e-10 }
}

#[test]
fn rules_change_neither_value_nor_gradient() {
    for (model, data) in models() {
        let plain = compile(&model, &data, &[]);
        let z = points(plain.dimension(), 4);
        let expected = evaluate(&plain, &z, 4);
        let each = TABLE.iter().map(std::slice::from_ref);
        for rules in each.chain([TABLE]) {
            let names: Vec<&str> = rules.iter().map(|r| r.name).collect();
            let target = compile(&model, &data, rules);
            for (got, expected) in evaluate(&target, &z, 4).iter().zip(&expected) {
                let close = agree(got, expected, tolerance(&model));
                assert!(close, "{} after {names:?}: {got:?} against {expected:?}", model.display());
            }
        }
    }
}

#[test]
fn rules_change_no_second_derivative() {
    for (model, data) in models() {
        let (plain, target) = (compile(&model, &data, &[]), compile(&model, &data, TABLE));
        let d = plain.dimension();
        let (z, v) = (points(d, 1), points(d, 2)[..d].to_vec());
        let product = |t: &ModelTarget| {
            let mut out = vec![0.0; d + 1];
            t.evaluator().hessian_vectors(&z, &v, 1, &mut out[1..]);
            out
        };
        let (got, expected) = (product(&target), product(&plain));
        if expected.iter().all(|x| x.is_finite()) {
            let close = agree(&got, &expected, 100.0 * tolerance(&model));
            assert!(close, "{}: {got:?} against {expected:?}", model.display());
        }
    }
}

#[test]
fn batches_are_as_good_as_single_draws() {
    for (model, data) in models() {
        let target = compile(&model, &data, TABLE);
        let d = target.dimension();
        for draws in [5, 16, 19] {
            let z = points(d, draws);
            let together = evaluate(&target, &z, draws);
            let mut values = vec![0.0; draws];
            target.evaluator().log_density(&z, draws, &mut values);
            for (b, got) in together.iter().enumerate() {
                let one: Vec<f64> = (0..d).map(|i| z[i * draws + b]).collect();
                let alone = &evaluate(&target, &one, 1)[0];
                let close = agree(got, alone, tolerance(&model));
                assert!(close, "{}, draw {b} of {draws}: {got:?} against {alone:?}", model.display());
                assert!(
                    !values[b].is_finite() || (values[b] - got[0]).abs() <= 1e-10 * got[0].abs().max(1.0),
                    "{}: the value alone is {} and not {}",
                    model.display(),
                    values[b],
                    got[0]
                );
            }
        }
    }
}

/// A logistic regression large enough for its rows to be shared out.
#[test]
fn threads_change_no_bit() {
    let (n, k) = (20_000, 30);
    let mut x = vec![0.0; n * k];
    Stream::new(7, 0, 0).fill_normal(&mut x);
    let rows: Vec<String> = x
        .chunks_exact(k)
        .map(|r| format!("[{}]", r.iter().map(f64::to_string).collect::<Vec<_>>().join(",")))
        .collect();
    let y: Vec<&str> = (0..n).map(|i| if (i * i) % 7 < 3 { "1" } else { "0" }).collect();
    let text = format!("{{\"y\": [{}], \"x\": [{}]}}", y.join(","), rows.join(","));
    let source = "data {\n  y : binary[N]\n  x : real[N, K]\n}\nparam alpha ~ normal(0, 1)\nparam beta[K] ~ normal(0, 1)\ny ~ bernoulli_logit(alpha + x * beta)";
    let target = ModelTarget::new(source, &Dataset::from_texts(&[("data.json", &text)]).unwrap()).unwrap();
    for draws in [1, 16] {
        let z = points(k + 1, draws);
        let run = |threads: usize| {
            let (mut value, mut gradient) = (vec![0.0; draws], vec![0.0; z.len()]);
            target.evaluator_with_threads(threads).evaluate(&z, draws, &mut value, &mut gradient);
            value.into_iter().chain(gradient).map(f64::to_bits).collect::<Vec<u64>>()
        };
        let one = run(1);
        assert!([2, 3, 8].into_iter().all(|threads| run(threads) == one));
    }
}

/// Coordinates that points may share: those of the first parameter, those of all but the last, and every
/// second one.
fn splits(target: &ModelTarget) -> Vec<Vec<usize>> {
    let d = target.dimension();
    let starts: Vec<usize> = target.lowered().parameters.iter().map(|p| p.offset).collect();
    let first = starts.get(1).copied().unwrap_or(d);
    let last = starts.last().copied().unwrap_or(0);
    vec![(0..first).collect(), (0..last).collect(), (0..d).step_by(2).collect()]
}

#[test]
fn what_points_share_is_computed_once_for_all() {
    const WIDTH: usize = 5;
    const DRAWS: usize = 3 * WIDTH;
    for (model, data) in models() {
        let target = compile(&model, &data, TABLE);
        let d = target.dimension();
        for held in splits(&target) {
            let given = target.given(&held);
            let mut evaluator = given.evaluator();
            for point in [DRAWS, DRAWS + 1] {
                let mut z = points(d, point)[..d * DRAWS].to_vec();
                held.iter().for_each(|&i| {
                    let (of_first, others) = z[i * DRAWS..(i + 1) * DRAWS].split_at_mut(WIDTH);
                    others.chunks_exact_mut(WIDTH).for_each(|of| of.copy_from_slice(of_first));
                });
                let expected = evaluate(&target, &z, DRAWS);
                let first: Vec<f64> = z.chunks_exact(DRAWS).flat_map(|row| &row[..WIDTH]).copied().collect();
                // What one question leaves behind must not change the answer to the next.
                for _ in 0..2 {
                    let (mut value, mut gradient) = (vec![0.0; DRAWS], vec![0.0; d * DRAWS]);
                    evaluator.evaluate(&z, DRAWS, WIDTH, &mut value, &mut gradient);
                    let mut alone = vec![0.0; DRAWS];
                    evaluator.log_density(&z, DRAWS, WIDTH, &mut alone);
                    assert!(
                        value
                            .iter()
                            .zip(&alone)
                            .all(|(a, b)| a == b || a.is_nan() || agree(&[*a], &[*b], 1e-12))
                    );
                    let shared = evaluator.shared_gradient(&first, WIDTH);
                    for (b, expected) in expected.iter().enumerate() {
                        let mut got: Vec<f64> = (0..d).map(|i| gradient[i * DRAWS + b]).collect();
                        got.insert(0, value[b]);
                        for (&i, slope) in held.iter().zip(&shared) {
                            got[1 + i] = if b < WIDTH { slope[b] } else { expected[1 + i] };
                        }
                        let close = agree(&got, expected, tolerance(&model));
                        assert!(close, "{}, {held:?}, {b}: {got:?} against {expected:?}", model.display());
                    }
                }
            }
        }
    }
}
