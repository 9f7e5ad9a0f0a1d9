//! The graph as text and as a drawing for Graphviz.

use super::arena::{Graph, Node, NodeId, Op};
use super::recursion::{Origin, Recursion};
use std::fmt::Write;

/// One line a node: handle, shape, operation, operands. Nodes that no root needs are left out.
pub fn text(graph: &Graph, roots: &[NodeId]) -> String {
    let needed = graph.needed(roots);
    let mut out = String::new();
    for (id, node) in graph.iter().filter(|(id, _)| needed[id.0 as usize]) {
        let args: Vec<String> = node.args.iter().map(|a| format!("%{}", a.0)).collect();
        let _ = writeln!(out, "%{} {} = {}({})", id.0, shape(node), label(node), args.join(", "));
        if let Op::Recursion(r) = &node.op {
            step_text(&mut out, r);
        }
    }
    out
}

/// The step of a loop, indented: what it reads, its nodes, what it gives.
fn step_text(out: &mut String, r: &Recursion) {
    let arguments = r.arguments();
    for ((feed, argument), offset) in r.feeds.iter().zip(&arguments).zip(r.offsets()) {
        let from = match (feed.origin, argument) {
            (Origin::Earlier { sequence, lag }, _) => format!("sequence {}, {lag} before", sequence + 1),
            (Origin::Step, Some(k)) => format!("argument {} by step", k + 1),
            (Origin::Fixed | Origin::Step, k) => format!("argument {}", k.unwrap_or(0) + 1),
        };
        let _ = writeln!(out, "    z[{}..] = {from}", offset + 1);
    }
    for line in text(&r.graph, &r.ways.concat()).lines() {
        let _ = writeln!(out, "    {line}");
    }
    for way in &r.ways {
        let next: Vec<String> = way.iter().map(|root| format!("%{}", root.0)).collect();
        let _ = writeln!(out, "    next: {}", next.join(", "));
    }
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
        if let Op::Recursion(r) = &node.op {
            step_drawing(&mut out, id, r);
        }
    }
    out + "}\n"
}

/// The step of a loop as a box of its own.
fn step_drawing(out: &mut String, id: NodeId, r: &Recursion) {
    let roots = r.ways.concat();
    let needed = r.graph.needed(&roots);
    let _ = writeln!(out, "  subgraph cluster_{} {{\n    label=\"a step of n{}\";", id.0, id.0);
    for (inner, node) in r.graph.iter().filter(|(inner, _)| needed[inner.0 as usize]) {
        let style = if roots.contains(&inner) { ", style=bold" } else { "" };
        let name = format!("n{}_{}", id.0, inner.0);
        let _ = writeln!(out, "    {name} [label=\"{} {}\"{style}];", label(node), shape(node));
        for arg in &node.args {
            let _ = writeln!(out, "    n{}_{} -> {name};", id.0, arg.0);
        }
    }
    out.push_str("  }\n");
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
        Op::Recursion(r) => format!("loop of {} steps", r.steps),
    }
}
