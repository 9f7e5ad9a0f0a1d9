//! Affine forms and expansions against the graph itself, evaluated at random coordinates.

use crate::common::picks::{Numbers, Picks, numbers as steps};
use crate::common::property::for_all;
use proptest::collection::vec;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use stickler::data::Dataset;
use stickler::graph::{Builder, Graph, NodeId};
use stickler::num::stream::Stream;
use stickler::ops::array::{LogSumExp, TriangularSolve};
use stickler::ops::scalar;
use stickler::plan::{Plan, Workspace};
use stickler::structure::Structure;
use stickler::target::ModelTarget;

/// All elements of a node at `z`.
fn value(graph: &Graph, node: NodeId, z: &[f64]) -> Vec<f64> {
    let plan = Plan::new(graph, &[node], z.len());
    let mut workspace = Workspace::<f64>::new(&plan);
    workspace.inputs(&plan).copy_from_slice(z);
    workspace.forward(&plan, false);
    (0..graph.node(node).len()).map(|i| workspace.root(&plan, 0, i)).collect()
}

/// The law: forms in the coordinates give the values of their nodes, and the expansion gives the value of the
/// root.
fn check(name: &str, graph: &Graph, roots: &[NodeId], d: usize, rng: &mut Stream) -> usize {
    let structure = Structure::new(graph, roots, d);
    let z: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
    let mut affine = 0;
    for (id, node) in graph.iter().filter(|(_, n)| n.constant().is_none()) {
        let Some(form) = structure.affine(id) else { continue };
        affine += 1;
        let truth = value(graph, id, &z);
        assert_eq!(truth.len(), node.len());
        for (e, truth) in truth.iter().enumerate() {
            let (columns, values) = form.row(e);
            assert!(columns.windows(2).all(|w| w[0] < w[1]), "{name}: columns of %{} do not ascend", id.0);
            let parts = || columns.iter().zip(values).map(|(&c, v)| v * z[c as usize]);
            let got = form.constant[e] + parts().sum::<f64>();
            let size = 1.0 + form.constant[e].abs() + parts().map(f64::abs).sum::<f64>();
            assert!(
                (got - truth).abs() <= 1e-9 * size,
                "{name}: %{}[{e}] is {truth}, its form gives {got}",
                id.0
            );
        }
    }
    for &root in roots {
        let truth = value(graph, root, &z)[0];
        let expansion = structure.expand(root).expect("a root has a form");
        let mut parts = vec![expansion.constant];
        parts.extend(expansion.linear.iter().map(|&(c, w)| w * z[c as usize]));
        for atom in &expansion.atoms {
            let values = value(graph, atom.node, &z);
            parts.extend(atom.weights.iter().map(|&(e, w)| w * values[e]));
        }
        let got: f64 = parts.iter().sum();
        let size = 1.0 + parts.iter().map(|p| p.abs()).sum::<f64>();
        let same = (got - truth).abs() <= 1e-9 * size || !truth.is_finite();
        assert!(same, "{name}: %{} is {truth}, its expansion gives {got}", root.0);
    }
    affine
}

/// Models of the repository with the data that lie beside them, and where there are, those of posteriordb.
fn models() -> Vec<(PathBuf, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = root.join("../shared/posteriordb");
    let mut all = Vec::new();
    for folder in [root.join("models"), root.join("models/posteriordb")] {
        for model in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()) {
            let stem = model.with_extension("");
            let name = stem.file_name().unwrap_or_default();
            let beside = ["csv", "json"].map(|e| model.with_extension(e));
            let data = beside.into_iter().chain([shared.join(name).join("data.json")]).find(|f| f.is_file());
            if let (true, Some(data)) = (model.extension().is_some_and(|e| e == "ppl"), data) {
                all.push((model, data));
            }
        }
    }
    all.sort();
    all
}

#[test]
fn forms_and_expansions_of_all_models_are_true() {
    let all = models();
    assert!(all.len() > 20, "only {} models with data were found", all.len());
    for (model, data) in all {
        let source = std::fs::read_to_string(&model).unwrap();
        let name = model.display().to_string();
        let Ok(data) = Dataset::read(&[data]) else { continue };
        let Ok(target) = ModelTarget::new(&source, &data) else { continue };
        let lowered = target.lowered();
        // Values are computed node by node, so that the largest models would take minutes.
        if lowered.graph.len() > 2000 {
            continue;
        }
        check(&name, &lowered.graph, &target.term_nodes(), lowered.dimension, &mut Stream::new(1, 0, 0));
    }
}

/// A random graph over `d` coordinates: a matrix of them with so many rows and columns, linear operations,
/// and some that are not linear, by what each step picks.
fn random_graph([n, k]: [usize; 2], steps: &[Numbers], rng: &mut Stream) -> (Graph, Vec<NodeId>, usize) {
    let mut b = Builder::new();
    let d = n * k + n;
    let numbers = |m: usize, rng: &mut Stream| (0..m).map(|_| rng.normal()).collect::<Vec<f64>>();
    let matrix = b.input(0, vec![n, k]);
    let vector = b.input(n * k, vec![n]);
    let mut pool = vec![vector, b.take(matrix, (0..n as u32).map(|i| i * k as u32).collect(), vec![n])];
    for step in steps {
        let mut picks = Picks::new(*step);
        let kind = picks.below(16);
        let (i, j) = (pool[picks.below(pool.len())], pool[picks.below(pool.len())]);
        let constant = b.constant(numbers(n, rng), vec![n]);
        let square = b.constant(numbers(n * n, rng), vec![n, n]);
        let wide = b.constant(numbers(k, rng), vec![k]);
        let made = match kind {
            0 => b.add2(i, j),
            1 => b.sub(constant, i),
            2 => b.mul(constant, i),
            3 => b.div(i, constant),
            4 => b.matmul(square, i),
            5 => b.matmul(matrix, wide),
            6 => b.cumsum(i),
            7 => Ok(b.take(i, (0..n as u32).rev().collect(), vec![n])),
            8 => {
                let whole = b.concat(&[i, j], vec![2, n]);
                b.sum(whole, Some(0))
            }
            9 => {
                let mut lower = numbers(n * n, rng);
                (0..n).for_each(|r| {
                    lower[r * n + r] = 1.0 + lower[r * n + r].abs();
                    (r + 1..n).for_each(|c| lower[r * n + c] = 0.0);
                });
                let lower = b.constant(lower, vec![n, n]);
                b.array(TriangularSolve { transposed: picks.below(2) == 1, rows: false }, &[lower, i])
            }
            10 => {
                let scalar = b.sum(i, None).unwrap();
                b.add2(scalar, j)
            }
            11 => {
                let condition =
                    b.constant((0..n).map(|_| f64::from(rng.uniform() < 0.5)).collect::<Vec<_>>(), vec![n]);
                b.map(&scalar::WHERE, &[condition, i, j])
            }
            12 => b.map(&scalar::FMA, &[constant, i, j]),
            13 => Ok(b.unary(&scalar::TANH, i)),
            14 => b.mul(i, j),
            _ => Ok(b.unary(&scalar::NEG, i)),
        };
        pool.push(made.expect("shapes fit"));
    }
    let mut roots = Vec::new();
    for &p in &pool[2..] {
        roots.push(b.sum(p, None).unwrap());
        roots.push(b.map_sum(&scalar::SQUARE, &[p], None).unwrap());
        let weight = b.constant(numbers(n, rng), vec![n]);
        roots.push(b.map_sum(&scalar::MUL, &[weight, p], Some(weight)).unwrap());
        roots.push(b.array(LogSumExp { axis: None }, &[p]).unwrap());
    }
    (b.finish(), roots, d)
}

#[test]
fn forms_and_expansions_of_random_graphs_are_true() {
    let graphs = ([2_usize..5, 2_usize..5], vec(steps(), 1..24), 0_u64..1000);
    let affine = Cell::new(0);
    for_all(300, graphs, |(size, steps, seed)| {
        let rng = &mut Stream::new(seed, 0, 0);
        let (graph, roots, d) = random_graph(size, &steps, rng);
        affine.set(affine.get() + check("a random graph", &graph, &roots, d, rng));
    });
    assert!(affine.get() > 3000, "only {} affine nodes were met", affine.get());
}
