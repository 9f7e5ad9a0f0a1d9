//! The graph as text and as a drawing for Graphviz.

use super::arena::{Graph, Node, NodeId, Op};
use std::fmt::Write;

/// One line a node: handle, shape, operation, operands. Nodes that no root needs are left out.
pub fn text(graph: &Graph, roots: &[NodeId]) -> String {
    let needed = graph.needed(roots);
    let mut out = String::new();
    for (id, node) in graph.iter().filter(|(id, _)| needed[id.0 as usize]) {
        let args: Vec<String> = node.args.iter().map(|a| format!("%{}", a.0)).collect();
        let _ = writeln!(out, "%{} {} = {}({})", id.0, shape(node), label(node), args.join(", "));
    }
    out
}

/// The same as a directed graph in the dot language.
pub fn dot(graph: &Graph, roots: &[NodeId]) -> String {
    let needed = graph.needed(roots);
    let mut out =
        String::from("digraph model {\n  rankdir=BT;\n  node [shape=box, fontname=\"sans-serif\"];\n");
    for (id, node) in graph.iter().filter(|(id, _)| needed[id.0 as usize]) {
        let style = if roots.contains(&id) { ", style=bold" } else { "" };
        let _ = writeln!(out, "  n{} [label=\"{} {}\"{style}];", id.0, label(node), shape(node));
        for arg in &node.args {
            let _ = writeln!(out, "  n{} -> n{};", arg.0, id.0);
        }
    }
    out + "}\n"
}

fn shape(node: &Node) -> String {
    format!("{:?}", node.dims)
}

fn label(node: &Node) -> String {
    match &node.op {
        Op::Constant(values) if values.len() <= 4 => {
            values.iter().map(|x| x.to_string()).collect::<Vec<_>>().join(" ")
        }
        Op::Constant(values) => {
            format!("{} {} {} … {} numbers", values[0], values[1], values[2], values.len())
        }
        Op::Input { offset } => format!("z[{}..]", offset + 1),
        Op::Map(row) => row.name.to_string(),
        Op::MapSum { row, weighted: false } => format!("sum.{}", row.name),
        Op::MapSum { row, weighted: true } => format!("weighted-sum.{}", row.name),
        Op::Array(op) => op.0.name().to_string(),
        Op::Ode(ode) => format!("ode with {} states", ode.states),
    }
}
