//! Identities of the graph builder: each leaves value and gradient as they were and takes the detour out, and
//! a density with a link is that of the linked distribution.

use crate::common;
use crate::events;

use common::{slopes, value};
use events::gradient;
use stickler::dist::{TABLE, log_density_sum};
use stickler::graph::{Builder, NodeId, Op};
use stickler::ops::scalar::{self, ScalarRow};
use stickler::plan::Plan;

/// Outer function, inner function, what is left of them.
static PAIRS: &[(&ScalarRow, &ScalarRow, &[&str])] = &[
    (&scalar::LOG, &scalar::EXP, &[]),
    (&scalar::LOGIT, &scalar::INV_LOGIT, &[]),
    (&scalar::NEG, &scalar::NEG, &[]),
    (&scalar::INV_PHI, &scalar::PHI, &[]),
    (&scalar::LOG, &scalar::INV_LOGIT, &["log_inv_logit"]),
    (&scalar::LOG1M, &scalar::INV_LOGIT, &["log1m_inv_logit"]),
    (&scalar::LOG1P, &scalar::EXP, &["log1p_exp"]),
    (&scalar::LOG1M, &scalar::EXP, &["log1m_exp"]),
    (&scalar::LOG, &scalar::PHI, &["log_Phi"]),
    (&scalar::LOG1M, &scalar::PHI, &["neg", "log_Phi"]),
    (&scalar::SQUARE, &scalar::EXP, &["mul", "exp"]),
    (&scalar::SQRT, &scalar::EXP, &["mul", "exp"]),
    (&scalar::INV, &scalar::EXP, &["neg", "exp"]),
    (&scalar::INV_SQRT, &scalar::EXP, &["mul", "exp"]),
];

/// Names of the functions that a root needs.
fn names(b: &Builder, root: NodeId) -> Vec<&'static str> {
    let name = |op: &Op| match op {
        Op::Map(row) | Op::MapSum { row, .. } => Some(row.name),
        Op::Constant(_) | Op::Input { .. } | Op::Array(_) | Op::Ode(_) | Op::Recursion(_) => None,
    };
    let needed = b.graph().needed(&[root]);
    b.graph().iter().zip(needed).filter(|(_, n)| *n).filter_map(|((_, node), _)| name(&node.op)).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * (1.0 + a.abs())
}

/// Σ w outer(inner(x)) over listed elements of three, by the builder and by the rows themselves.
#[test]
fn compositions_keep_value_and_gradient() {
    let x = [-0.3, -1.7, -0.01];
    let listed = [2_u32, 0, 0, 1];
    for &(outer, inner, left) in PAIRS {
        for summed in [false, true] {
            let mut b = Builder::new();
            let input = b.input(0, vec![3]);
            let inside = b.unary(inner, input);
            let each = b.take(inside, listed.to_vec(), vec![4]);
            let weight = b.constant(vec![1.0, 2.0, -1.0, 0.5], vec![4]);
            let root = if summed {
                b.map_sum(outer, &[each], Some(weight)).unwrap()
            } else {
                let terms = b.unary(outer, each);
                assert_eq!(names(&b, terms), left, "{} of {}", outer.name, inner.name);
                let terms = b.mul(terms, weight).unwrap();
                b.sum(terms, None).unwrap()
            };
            let (got, slope) = gradient(&Plan::new(b.graph(), &[root], 3), &x);
            let (mut expected, mut by_chain) = (0.0, [0.0; 3]);
            for (&p, w) in listed.iter().zip([1.0, 2.0, -1.0, 0.5]) {
                let y = value(inner, &[x[p as usize]]);
                expected += w * value(outer, &[y]);
                by_chain[p as usize] += w * slopes(outer, &[y])[0] * slopes(inner, &[x[p as usize]])[0];
            }
            let what = format!("{} of {}, summed: {summed}", outer.name, inner.name);
            assert!(close(got, expected), "{what}: {got}, not {expected}");
            assert!(
                slope.iter().zip(by_chain).all(|(a, b)| close(*a, b)),
                "{what}: {slope:?}, not {by_chain:?}"
            );
        }
    }
}

#[test]
fn sums_and_roots_in_logs() {
    let mut b = Builder::new();
    let x = b.input(0, vec![2]);
    let e = b.unary(&scalar::EXP, x);
    let one = b.number(1.0);
    for [first, second] in [[one, e], [e, one]] {
        let sum = b.add2(first, second).unwrap();
        let log = b.unary(&scalar::LOG, sum);
        assert_eq!(names(&b, log), ["log1p_exp"]);
    }
    let root = b.unary(&scalar::SQRT, x);
    let log = b.unary(&scalar::LOG, root);
    assert_eq!(names(&b, log), ["log", "mul"]);
    let weights = b.constant(vec![0.0, 3.0], vec![2]);
    let term = b.map(&scalar::MULTIPLY_LOG, &[weights, e]).unwrap();
    assert_eq!(names(&b, term), ["mul"]);
}

/// With an argument of(y), also listed, the density is that of the linked distribution, and the value is
/// unchanged.
#[test]
fn links_are_the_same_density() {
    let mut links = 0;
    for dist in TABLE {
        for (link, probe) in dist.links.iter().flat_map(|l| dist.probes.iter().map(move |p| (l, p))) {
            let y = 0.37;
            let constant = |b: &mut Builder| -> (NodeId, Vec<NodeId>) {
                let x = b.number(probe.x[0]);
                (x, probe.args.iter().map(|a| b.number(a[0])).collect())
            };
            let mut b = Builder::new();
            let (x, mut args) = constant(&mut b);
            let input = b.input(0, vec![2]);
            let inside = b.unary(link.of, input);
            args[link.arg] = b.take(inside, vec![1], vec![]);
            let root = log_density_sum(&mut b, dist, x, &args, None).unwrap();
            let (got, slope) = gradient(&Plan::new(b.graph(), &[root], 2), &[9.0, y]);
            assert!(!names(&b, root).contains(&dist.name), "{} stayed", dist.name);

            let mut b = Builder::new();
            let (x, mut args) = constant(&mut b);
            args[link.arg] = b.number(value(link.of, &[y]));
            let plain = log_density_sum(&mut b, dist, x, &args, None).unwrap();
            let expected = b.scalar_of(plain).unwrap();
            assert!(
                (got - expected).abs() <= 1e-12 * (10.0 + expected.abs() + probe.x[0]),
                "{}: {got}, not {expected}",
                dist.name
            );

            let mut b = Builder::new();
            let (x, mut args) = constant(&mut b);
            args[link.arg] = b.input(0, vec![]);
            let root = log_density_sum(&mut b, link.to, x, &args, None).unwrap();
            let (same, linked) = gradient(&Plan::new(b.graph(), &[root], 1), &[y]);
            assert!(close(got, same) && close(slope[1], linked[0]) && slope[0] == 0.0, "{}", dist.name);
            links += 1;
        }
    }
    assert!(links >= 4);
}
