//! Sums of squares of affine forms over many rows, collapsed to as many rows as there are variables.
//!
//! `Σ_i w_i (a_i·v + c_i)²` depends on the data only through the triangular factor of `√w [A c]`: with `√w [A
//! c] = Q R`, it is `‖R (v, 1)‖²`. A QR factorisation keeps the accuracy that the normal equations would
//! lose. Rows are grouped by the variables in them, so that a hierarchy collapses group by group.

use super::{Rule, replace};
use crate::dist::NORMAL_JOINT;
use crate::facts::common_dims;
use crate::graph::{Builder, Graph, Node, NodeId, Op};
use crate::ops::operand::Broadcast;
use crate::structure::{Affine, Structure};
use nalgebra::DMatrix;
use std::collections::{HashMap, HashSet};

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "normal-sums",
    doc: "a normal likelihood with affine mean and one scale becomes its sufficient statistics",
    apply,
};

/// Fewest rows worth collapsing.
const WORTH: usize = 8;
/// Most variables in a row when rows differ in their variables.
const MOST_APART: usize = 6;
/// Rows that are added to a factor at once.
const ROWS: usize = 256;

fn may_apply(graph: &Graph, node: &Node) -> bool {
    let Op::MapSum { row, .. } = &node.op else { return false };
    let known = |k: usize| graph.node(node.args[k]).constant().is_some();
    let rows = node.args.iter().map(|&a| graph.node(a).len()).max().unwrap_or(0);
    **row == NORMAL_JOINT
        && rows >= WORTH
        && (known(2) || graph.node(node.args[2]).len() == 1)
        && !(known(0) && known(1))
}

fn apply(graph: Graph, roots: &[NodeId], dimension: usize) -> (Graph, Vec<NodeId>) {
    let needed = graph.needed(roots);
    let candidates = graph.iter().filter(|(id, node)| needed[id.0 as usize] && may_apply(&graph, node));
    let wanted: HashSet<NodeId> = candidates.flat_map(|(_, node)| node.args.iter().copied()).collect();
    if wanted.is_empty() {
        return (graph, roots.to_vec());
    }
    let old = graph.clone();
    let structure = Structure::of(&old, roots, dimension, &wanted);
    replace(graph, roots, |b, node, args| {
        let mut rewriter = Rewriter { structure: &structure, b };
        may_apply(&old, node).then(|| collapsed(&mut rewriter, node, args[2])).flatten()
    })
}

/// The forms of the old nodes, which keep their places in the new graph.
struct Rewriter<'s, 'b> {
    structure: &'s Structure<'s>,
    b: &'b mut Builder,
}

/// Rows with the same variables, collapsed.
struct Block {
    columns: Vec<u32>,
    /// [rows, columns].
    values: Vec<f64>,
    constants: Vec<f64>,
}

fn collapsed(rewriter: &mut Rewriter, node: &Node, sigma: NodeId) -> Option<NodeId> {
    let residual = residual(rewriter.structure, node)?;
    let (blocks, rest) = collapse(&residual)?;
    let rows: usize = blocks.iter().map(|b| b.constants.len()).sum();
    if 2 * rows > residual.rows {
        return None;
    }
    let widest = blocks.iter().map(|b| b.columns.len()).max().unwrap_or(0);
    if blocks.len() > 1 && widest > MOST_APART {
        return None;
    }
    let scale = match rewriter.structure.graph().node(node.args[2]).constant() {
        Some(_) => rewriter.b.number(1.0),
        None => sigma,
    };
    let forms = match &blocks[..] {
        [block] => together(rewriter, block)?,
        _ => apart(rewriter, &blocks, widest)?,
    };
    let against: Vec<f64> = blocks.iter().flat_map(|b| b.constants.iter().map(|c| -c)).collect();
    let against = rewriter.b.constant(against, vec![rows]);
    let moving = rewriter.b.map_sum(&NORMAL_JOINT, &[forms, against, scale], None).ok()?;
    let (length, zero) = (rewriter.b.number(rest.sqrt()), rewriter.b.number(0.0));
    let fixed = rewriter.b.map_sum(&NORMAL_JOINT, &[length, zero, scale], None).ok()?;
    rewriter.b.add2(moving, fixed).ok()
}

/// The rows `√w (x - mu)`, divided by sigma where that is constant. They are made one at a time: together
/// they would be another copy of the data.
struct Residual<'s> {
    rows: usize,
    x: Spread<'s, Affine>,
    mu: Spread<'s, Affine>,
    scale: Option<Spread<'s, [f64]>>,
    weight: Option<Spread<'s, [f64]>>,
}

/// An argument as it meets the rows.
struct Spread<'s, T: ?Sized> {
    of: &'s T,
    at: Broadcast,
}

/// One row: its variables, their coefficients, its constant.
#[derive(Default)]
struct Row {
    columns: Vec<u32>,
    values: Vec<f64>,
    constant: f64,
}

impl Residual<'_> {
    fn row(&self, i: usize, row: &mut Row) {
        row.columns.clear();
        row.values.clear();
        let (of, minus) = ((self.x.of, self.x.at.at(i)), (self.mu.of, self.mu.at.at(i)));
        let constant = Affine::difference(of, minus, &mut row.columns, &mut row.values);
        let number = |s: &Option<Spread<[f64]>>| s.as_ref().map_or(1.0, |s| s.of[s.at.at(i)]);
        let by = number(&self.weight).sqrt() / number(&self.scale);
        row.values.iter_mut().for_each(|v| *v *= by);
        row.constant = constant * by;
    }
}

fn residual<'s>(structure: &'s Structure<'s>, node: &Node) -> Option<Residual<'s>> {
    let graph = structure.graph();
    let dims = common_dims(node.args.iter().map(|&a| graph.node(a).dims.as_slice()));
    let at = |k: usize| Broadcast::between(&graph.node(node.args[k]).dims, &dims);
    let form = |k: usize| Some(Spread { of: &**structure.form(node.args[k])?, at: at(k) });
    let numbers = |k: usize| Some(Spread { of: &**graph.node(*node.args.get(k)?).constant()?, at: at(k) });
    let weight = numbers(3);
    if node.args.len() > 3 && weight.is_none() {
        return None;
    }
    Some(Residual { rows: dims.iter().product(), x: form(0)?, mu: form(1)?, scale: numbers(2), weight })
}

/// The rows grouped by their variables, each group a triangle; and the sum of squares that no variable moves.
/// None if some number is not finite.
fn collapse(residual: &Residual) -> Option<(Vec<Block>, f64)> {
    let mut groups: HashMap<Vec<u32>, usize> = HashMap::new();
    let mut members: Vec<Vec<usize>> = Vec::new();
    let mut row = Row::default();
    // Most rows have the variables of the one before.
    let (mut last, mut at) = (Vec::new(), None);
    for i in 0..residual.rows {
        residual.row(i, &mut row);
        if !row.constant.is_finite() || !row.values.iter().all(|v| v.is_finite()) {
            return None;
        }
        let same = at.filter(|_| last == row.columns);
        let group = same.unwrap_or_else(|| {
            last.clone_from(&row.columns);
            *groups.entry(row.columns.clone()).or_insert(members.len())
        });
        if group == members.len() {
            members.push(Vec::new());
        }
        members[group].push(i);
        at = Some(group);
    }
    let mut rest = 0.0;
    let mut blocks = Vec::with_capacity(members.len());
    for rows in &members {
        let (block, left) = triangle(residual, rows, &mut row);
        rest += left;
        if !block.constants.is_empty() {
            blocks.push(block);
        }
    }
    Some((blocks, rest))
}

/// The triangular factor of rows [A c] with the same variables, and what is left of c.
fn triangle(residual: &Residual, rows: &[usize], row: &mut Row) -> (Block, f64) {
    residual.row(rows[0], row);
    let columns = row.columns.clone();
    let (k, n) = (columns.len(), columns.len() + 1);
    let mut stacked: Vec<f64> = Vec::new();
    for chunk in rows.chunks(ROWS) {
        for &i in chunk {
            residual.row(i, row);
            stacked.extend_from_slice(&row.values);
            stacked.push(row.constant);
        }
        let height = stacked.len() / n;
        if height > n {
            // By rows: the rows of R are the columns of its transpose.
            let upper = DMatrix::from_row_slice(height, n, &stacked).qr().unpack_r();
            stacked = upper.transpose().as_slice().to_vec();
        }
    }
    let height = stacked.len() / n;
    let mut rest = 0.0;
    let (mut values, mut constants) = (Vec::new(), Vec::new());
    for r in 0..height {
        let row = &stacked[r * n..(r + 1) * n];
        if row[..k].iter().all(|v| *v == 0.0) {
            rest += row[k] * row[k];
        } else {
            values.extend_from_slice(&row[..k]);
            constants.push(row[k]);
        }
    }
    (Block { columns, values, constants }, rest)
}

/// One block: a matrix times its variables.
fn together(rewriter: &mut Rewriter, block: &Block) -> Option<NodeId> {
    let variables = variables(rewriter, &block.columns)?;
    let dims = vec![block.constants.len(), block.columns.len()];
    let matrix = rewriter.b.constant(block.values.clone(), dims);
    rewriter.b.matmul(matrix, variables).ok()
}

/// Blocks with few variables each: for every position in a row, coefficients times gathered variables.
fn apart(rewriter: &mut Rewriter, blocks: &[Block], widest: usize) -> Option<NodeId> {
    let rows: usize = blocks.iter().map(|b| b.constants.len()).sum();
    let mut total: Option<NodeId> = None;
    for j in 0..widest {
        let (mut columns, mut values) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        for block in blocks {
            let k = block.columns.len();
            let at = j.min(k - 1);
            for r in 0..block.constants.len() {
                columns.push(block.columns[at]);
                values.push(if j < k { block.values[r * k + j] } else { 0.0 });
            }
        }
        let gathered = variables(rewriter, &columns)?;
        let coefficients = rewriter.b.constant(values, vec![rows]);
        let part = rewriter.b.mul(coefficients, gathered).ok()?;
        total = Some(match total {
            None => part,
            Some(sum) => rewriter.b.add2(sum, part).ok()?,
        });
    }
    total
}

/// A vector of variables, in the new graph.
fn variables(rewriter: &mut Rewriter, columns: &[u32]) -> Option<NodeId> {
    let structure = rewriter.structure;
    let source = |v: u32| structure.owner(v).map(|(node, _)| node);
    let mut sources: Vec<Option<NodeId>> = Vec::new();
    for &v in columns {
        if !sources.contains(&source(v)) {
            sources.push(source(v));
        }
    }
    // All sources one after another, then the listed elements.
    let (mut parts, mut starts, mut length) = (Vec::new(), Vec::new(), 0);
    for s in &sources {
        let part = match s {
            None => rewriter.b.input(0, vec![structure.dimension()]),
            Some(node) => *node,
        };
        let n: usize = rewriter.b.dims(part).iter().product();
        parts.push(rewriter.b.reshape(part, vec![n]));
        starts.push(length);
        length += n;
    }
    let table: Vec<u32> = columns
        .iter()
        .map(|&v| {
            let start = sources.iter().position(|s| *s == source(v)).map_or(0, |at| starts[at]);
            let element = structure.owner(v).map_or(v as usize, |(_, e)| e);
            (start + element) as u32
        })
        .collect();
    let all = rewriter.b.concat(&parts, vec![length]);
    Some(rewriter.b.take(all, table, vec![columns.len()]))
}
