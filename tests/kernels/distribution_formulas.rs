//! Every distribution's formula, evaluated by the language, is the density that its kernel computes.

use stickler::data::Dataset;
use stickler::dist::{Density, Distribution, Domain, Probe, TABLE, log_density_sum};
use stickler::graph::{Builder, NodeId};
use stickler::source::render;
use stickler::target::ModelTarget;

/// The axes of a value or argument of this rank, the points of a Gaussian process included.
fn dims(values: &[f64], rank: usize, event: usize) -> Vec<usize> {
    match rank {
        0 => vec![],
        1 if values.len() > event && event > 0 => vec![event, values.len() / event],
        1 => vec![values.len()],
        _ => vec![values.len().isqrt(); 2],
    }
}

/// An array as the language writes it.
fn literal(values: &[f64], dims: &[usize], whole: bool) -> String {
    match dims {
        [] if whole => format!("{}", values[0]),
        [] => format!("{:?}", values[0]),
        [n, rest @ ..] => {
            let rows = values.chunks(values.len() / n).map(|row| literal(row, rest, whole));
            format!("[{}]", rows.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Names, numbers, axes and whether they are integers: the value first.
fn pieces<'a>(dist: &'a Distribution, probe: &'a Probe) -> Vec<(&'a str, &'a [f64], Vec<usize>, bool)> {
    let value = if dist.args.iter().any(|a| a.name == "x") { "f" } else { "x" };
    let mut all = vec![(value, probe.x, dims(probe.x, dist.event, 0), dist.discrete)];
    for (spec, values) in dist.args.iter().zip(probe.args) {
        let points = if spec.domain == Domain::Data && spec.rank == 1 { probe.x.len() } else { 0 };
        all.push((spec.name, values, dims(values, spec.rank, points), spec.domain == Domain::Count));
    }
    all
}

fn by_kernel(dist: &Distribution, probe: &Probe) -> f64 {
    let mut b = Builder::new();
    let nodes: Vec<NodeId> = pieces(dist, probe)
        .into_iter()
        .map(|(_, values, dims, _)| b.constant(values.to_vec(), dims))
        .collect();
    let id = log_density_sum(&mut b, dist, nodes[0], &nodes[1..], None).unwrap();
    b.scalar_of(id).unwrap()
}

fn by_formula(dist: &Distribution, probe: &Probe) -> f64 {
    let mut source = String::from("param unused ~ std_normal()\n");
    for (name, values, dims, whole) in pieces(dist, probe) {
        source += &format!("let {name} = {}\n", literal(values, &dims, whole));
    }
    source += &format!("target += {}\n", dist.formula);
    let data = Dataset::from_texts(&[("data.json", "{}")]).unwrap_or_else(|e| panic!("{e:?}"));
    let target = ModelTarget::new(&source, &data).unwrap_or_else(|errors| {
        let all: String = errors.iter().map(|e| render(e, "model.ppl", &source)).collect();
        panic!("{}:\n{all}", dist.name)
    });
    target.split(&[0.0]).total() + 0.5 * (2.0 * std::f64::consts::PI).ln()
}

#[test]
fn formulas_are_the_densities() {
    let mut wrong = Vec::new();
    for dist in TABLE.iter().filter(|d| !matches!(d.density, Density::Parts(&[]))) {
        for probe in dist.probes {
            let (kernel, formula) = (by_kernel(dist, probe), by_formula(dist, probe));
            // A formula may subtract large numbers where the kernel does not.
            if (kernel - formula).abs() > 1e-8 * (1.0 + kernel.abs()) {
                wrong.push(format!(
                    "{} at {:?} {:?}: {kernel} against {formula}",
                    dist.name, probe.x, probe.args
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
