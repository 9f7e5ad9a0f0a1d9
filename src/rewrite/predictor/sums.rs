//! Sums over the rows of a linear predictor: one row, whose entries are the sums of columns.

use super::form::{Form, Part, Scope, form};
use super::{FEWEST_ROWS, assemble, is_affine};
use crate::graph::{Builder, Graph, NodeId, Op};
use crate::ops::scalar::{ADD, MUL, SUB};
use crate::rewrite::{Rule, is_total, replace_where};
use std::collections::HashMap;

/// The rule.
pub(in crate::rewrite) static RULE: Rule = Rule {
    name: "sum-of-predictor",
    doc: "the sum over the rows of a linear predictor is a product of column sums with coefficients",
    apply,
};

fn apply(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    let uses = graph.uses(roots);
    replace_where(graph, roots, is_total, |b, node, args| {
        if !is_total(node) {
            return None;
        }
        let alone = uses[node.args[0].0 as usize] == 1;
        of_predictor(b, args[0]).or_else(|| alone.then(|| apart(b, args[0]))?)
    })
}

/// The sum of an affine function of fewer numbers than it has rows.
fn of_predictor(b: &mut Builder, id: NodeId) -> Option<NodeId> {
    let rows = b.graph().node(id).len();
    if rows < FEWEST_ROWS || b.constant_of(id).is_some() {
        return None;
    }
    let form = form(Scope::sums(b.graph()), id, 0)?;
    if !pays(b.graph(), &form, rows) {
        return None;
    }
    let (operator, coefficients) = assemble(b, form, rows);
    let columns = b.constant(operator.column_sums(), vec![operator.coefficients]);
    let sum = b.map_sum(&MUL, &[columns, coefficients], None).ok()?;
    let offset = b.number(operator.offset.iter().flat_map(|x| x.iter()).sum());
    b.add2(sum, offset).ok()
}

/// Whether there are fewer coefficients than rows.
fn pays(graph: &Graph, form: &Form, rows: usize) -> bool {
    let mut sizes: HashMap<NodeId, usize> = HashMap::new();
    for part in &form.parts {
        match part {
            Part::Dense { atom, .. } | Part::Gather { atom, .. } => {
                sizes.insert(*atom, graph.node(*atom).len());
            }
            Part::Column { atom, .. } => *sizes.entry(*atom).or_default() += 1,
        }
    }
    !sizes.is_empty() && sizes.values().sum::<usize>() < rows
}

/// A sum or difference of which some parts are such functions, or known, as the sums of its parts: the score
/// of the category that was seen less the log-sum-exp of all.
fn apart(b: &mut Builder, id: NodeId) -> Option<NodeId> {
    let node = b.graph().node(id).clone();
    let Op::Map(row) = &node.op else { return None };
    let [first, second] = node.args[..] else { return None };
    if ![&ADD, &SUB].contains(row) || [first, second].iter().any(|&a| b.graph().node(a).len() != node.len()) {
        return None;
    }
    let mut known = |id: NodeId| {
        let constant = b.constant_of(id).map(|x| x.iter().sum::<f64>());
        constant.map(|x| b.number(x)).or_else(|| of_predictor(b, id)).or_else(|| apart(b, id))
    };
    let sums = match (known(first), known(second)) {
        (None, None) => return None,
        (one, other) => [one.or_else(|| total(b, first))?, other.or_else(|| total(b, second))?],
    };
    b.map(row, &sums).ok()
}

/// A plain sum, of a function where it is one.
fn total(b: &mut Builder, id: NodeId) -> Option<NodeId> {
    let node = b.graph().node(id).clone();
    match node.op {
        Op::Map(row) if !is_affine(b, row, &node.args) => b.map_sum(row, &node.args, None).ok(),
        _ => b.sum(id, None).ok(),
    }
}
