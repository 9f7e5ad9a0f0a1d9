//! What a log density says of its modes: each sum of exponentials in it replaced by one of its summands.
//!
//! Where `log(e^a + e^b)` is added to a log density, the density is a sum of two, and each may have a mode of
//! its own. A search in the density of one alone finds that mode wherever it is, and however narrow.

use super::replace_by_id;
use crate::graph::{Builder, Graph, Node, NodeId, Op};
use crate::num::stream::Stream;
use crate::ops::array::{Concat, LogSumExp, Sum, Take};
use crate::ops::scalar::{ADD, LOG_ADD_EXP, LOG_MIX, MUL, NEG, SUB, ScalarRow};

/// Who draws: which summands are taken where there are too many choices for all.
const PURPOSE: u64 = 0x6272_616e;
/// Elements of a node up to which each may take a summand of its own; of more, as of a mixture over rows, all
/// take the same.
const FEW_ELEMENTS: usize = 12;

/// A sum of exponentials that is added to the log density.
struct Site {
    node: NodeId,
    /// Its summands.
    summands: usize,
    /// Elements that may take different ones.
    elements: usize,
}

/// The graph and its roots for choices of a summand for every sum of exponentials that is added to the roots:
/// all choices, or so many of them. Nothing where there is no such sum.
pub fn branches(graph: &Graph, roots: &[NodeId], most: usize) -> Vec<(Graph, Vec<NodeId>)> {
    let sites = sites(graph, roots);
    choices(&sites, most).iter().map(|choice| chosen(graph, roots, &sites, choice)).collect()
}

fn sites(graph: &Graph, roots: &[NodeId]) -> Vec<Site> {
    let added = added(graph, roots);
    let site = |(node, of): (NodeId, &Node)| {
        let summands = summands(graph, of).filter(|n| *n > 1 && added[node.0 as usize])?;
        let size = elementwise_size(graph, of);
        Some(Site { node, summands, elements: if size <= FEW_ELEMENTS { size } else { 1 } })
    };
    graph.iter().filter_map(site).collect()
}

/// Whether a row is the logarithm of a sum of two exponentials.
fn is_pair(row: &ScalarRow) -> bool {
    *row == LOG_ADD_EXP || *row == LOG_MIX
}

/// How many exponentials a node sums, if it does; one that does not depend on parameters is a number.
fn summands(graph: &Graph, node: &Node) -> Option<usize> {
    match &node.op {
        _ if node.constant().is_some() => None,
        Op::Map(row) | Op::MapSum { row, .. } => is_pair(row).then_some(2),
        Op::Array(op) => {
            let dims = &graph.node(node.args[0]).dims;
            let axis = op.downcast::<LogSumExp>()?.axis;
            Some(axis.map_or(dims.iter().product(), |axis| dims[axis]))
        }
        Op::Constant(_) | Op::Input { .. } | Op::Ode(_) | Op::Recursion(_) => None,
    }
}

/// Elements of a node, before they are added up.
fn elementwise_size(graph: &Graph, node: &Node) -> usize {
    match &node.op {
        Op::MapSum { .. } => node.args.iter().map(|a| graph.node(*a).len()).max().unwrap_or(1),
        _ => node.len(),
    }
}

/// Which nodes are added to the roots, perhaps with a positive weight: a larger value of them makes the
/// density larger.
fn added(graph: &Graph, roots: &[NodeId]) -> Vec<bool> {
    let mut added = vec![false; graph.len()];
    roots.iter().for_each(|r| added[r.0 as usize] = true);
    for (id, node) in graph.iter().rev() {
        if added[id.0 as usize] {
            passed_on(graph, node).into_iter().for_each(|a| added[a.0 as usize] = true);
        }
    }
    added
}

/// The arguments of a node that it is a sum of.
fn passed_on(graph: &Graph, node: &Node) -> Vec<NodeId> {
    let args = &node.args;
    let is_weight = |a: NodeId| graph.node(a).constant().is_some_and(|c| c.iter().all(|x| *x >= 0.0));
    let all = || args.to_vec();
    match &node.op {
        Op::Map(row) if **row == ADD || **row == LOG_ADD_EXP => all(),
        Op::Map(row) if **row == LOG_MIX => args[1..].to_vec(),
        Op::Map(row) if **row == SUB => args[..1].to_vec(),
        Op::Map(row) if **row == NEG => negated(graph, args[0]),
        Op::Map(row) if **row == MUL => match (is_weight(args[0]), is_weight(args[1])) {
            (true, _) => args[1..].to_vec(),
            (_, true) => args[..1].to_vec(),
            (false, false) => Vec::new(),
        },
        Op::MapSum { row, .. } if is_pair(row) => args[row.args.len() - 2..row.args.len()].to_vec(),
        Op::Array(op) => {
            let sums = op.downcast::<Sum>().is_some()
                || op.downcast::<Take>().is_some()
                || op.downcast::<Concat>().is_some()
                || op.downcast::<LogSumExp>().is_some();
            if sums { all() } else { Vec::new() }
        }
        _ => Vec::new(),
    }
}

/// What is added by the negative of a node.
fn negated(graph: &Graph, id: NodeId) -> Vec<NodeId> {
    let node = graph.node(id);
    match &node.op {
        Op::Map(row) if **row == SUB => node.args[1..].to_vec(),
        Op::Map(row) if **row == NEG => node.args.to_vec(),
        _ => Vec::new(),
    }
}

/// Which summand each element of each site takes: all combinations where there are no more than `most`; else
/// the same summand everywhere, then another one at a single element, then some by chance.
fn choices(sites: &[Site], most: usize) -> Vec<Vec<usize>> {
    let ways: Vec<usize> = sites.iter().flat_map(|s| vec![s.summands; s.elements]).collect();
    if ways.is_empty() {
        return Vec::new();
    }
    let all = ways.iter().try_fold(1_usize, |all, n| all.checked_mul(*n)).filter(|all| *all <= most);
    if let Some(all) = all {
        let digits = |mut rest: usize| {
            let digit = |n: &usize| {
                let k = rest % n;
                rest /= n;
                k
            };
            ways.iter().map(digit).collect()
        };
        return (0..all).map(digits).collect();
    }
    let widest = ways.iter().copied().max().unwrap_or(0);
    let same = (0..widest).map(|k| ways.iter().map(|n| k % n).collect::<Vec<_>>());
    let single = (0..ways.len()).map(|i| (0..ways.len()).map(|j| usize::from(i == j)).collect());
    let mut stream = Stream::new(1, PURPOSE, 0);
    let mut by_chance = || ways.iter().map(|n| (stream.uniform() * *n as f64) as usize % n).collect();
    let mut out: Vec<Vec<usize>> = same.chain(single).take(most).collect();
    while out.len() < most {
        out.push(by_chance());
    }
    out
}

fn chosen(graph: &Graph, roots: &[NodeId], sites: &[Site], choice: &[usize]) -> (Graph, Vec<NodeId>) {
    let mut first = 0;
    let mut places: Vec<(NodeId, &[usize])> = Vec::new();
    for site in sites {
        places.push((site.node, &choice[first..first + site.elements]));
        first += site.elements;
    }
    replace_by_id(graph.clone(), roots, |b, id, args| {
        let (_, taken) = places.iter().find(|(node, _)| *node == id)?;
        let node = b.graph().node(id).clone();
        take(b, &node, args, taken)
    })
}

/// A node with each element replaced by the summand that it takes.
fn take(b: &mut Builder, node: &Node, args: &[NodeId], taken: &[usize]) -> Option<NodeId> {
    match &node.op {
        Op::Map(row) => {
            let of = pair(b, row, args)?;
            among(b, &of, &node.dims, taken)
        }
        Op::MapSum { row, weighted } => {
            let (args, weight) = args.split_at(args.len() - usize::from(*weighted));
            let dims = b.common(args).ok()?;
            let of = pair(b, row, args)?;
            let mut value = among(b, &of, &dims, taken)?;
            if let [weight] = weight {
                value = b.mul(value, *weight).ok()?;
            }
            b.sum(value, None).ok()
        }
        Op::Array(op) => {
            let axis = op.downcast::<LogSumExp>()?.axis;
            let dims = b.dims(args[0]).to_vec();
            let (n, inner) = match axis {
                Some(axis) => (dims[axis], dims[axis + 1..].iter().product()),
                None => (dims.iter().product(), 1),
            };
            let at = |e: usize| {
                let k = taken[if taken.len() == 1 { 0 } else { e }];
                ((e / inner * n + k) * inner + e % inner) as u32
            };
            let table = (0..node.len()).map(at).collect();
            Some(b.take(args[0], table, node.dims.clone()))
        }
        Op::Constant(_) | Op::Input { .. } | Op::Ode(_) | Op::Recursion(_) => None,
    }
}

/// The two exponents of a row that sums two.
fn pair(b: &mut Builder, row: &ScalarRow, args: &[NodeId]) -> Option<[NodeId; 2]> {
    if *row == LOG_ADD_EXP {
        return Some([args[0], args[1]]);
    }
    let one = b.number(1.0);
    let rest = b.sub(one, args[0]).ok()?;
    let [own, other] = [args[0], rest].map(|share| b.unary(&crate::ops::scalar::LOG, share));
    Some([b.add2(own, args[1]).ok()?, b.add2(other, args[2]).ok()?])
}

/// Of two arrays the elements that are taken from each.
fn among(b: &mut Builder, of: &[NodeId; 2], dims: &[usize], taken: &[usize]) -> Option<NodeId> {
    let all = of.map(|x| b.broadcast_to(x, dims));
    if let [k] = taken {
        return Some(all[*k]);
    }
    let n = taken.len();
    let flat = all.map(|x| b.reshape(x, vec![n]));
    let both = b.concat(&flat, vec![2 * n]);
    let table = taken.iter().enumerate().map(|(e, k)| (k * n + e) as u32).collect();
    Some(b.take(both, table, dims.to_vec()))
}
