//! Why a property could not be certified: the place in the model, one sentence, and what could be written
//! instead.

use super::ridge::{Findings, Rest, Ridges};
use crate::graph::{NodeId, Op};
use crate::lower::Lowered;
use crate::ops::scalar;
use crate::source::Span;
use crate::structure::Structure;

/// Something in the model that stands in the way of a better tier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// Where.
    pub span: Span,
    /// Why, in one sentence.
    pub reason: String,
    /// What could be written instead.
    pub help: String,
}

/// Parameters named in a reason.
const NAMED: usize = 3;

/// All obstacles, in the order of the model, each place once.
pub(super) fn obstacles(
    lowered: &Lowered,
    structure: &Structure,
    findings: &Findings,
    concave: bool,
) -> Vec<Obstacle> {
    let unknown = |rest| unknown(lowered, structure, rest, concave);
    let mut all: Vec<Obstacle> = findings.rest.iter().map(unknown).collect();
    all.extend(findings.ridges.iter().filter_map(|ridge| bent(lowered, ridge, concave)));
    all.sort_by_key(|o| o.span.start);
    all.dedup_by(|a, b| a.span == b.span && a.reason == b.reason);
    all
}

/// The name of an operation as users know it.
pub(super) fn operation(lowered: &Lowered, id: NodeId) -> String {
    match &lowered.graph.node(id).op {
        Op::Map(row) | Op::MapSum { row, .. } => row.name.split('.').next().unwrap_or(row.name).to_string(),
        Op::Array(op) => op.0.name().to_string(),
        Op::Ode(_) => "ode".to_string(),
        Op::Recursion(_) => "loop".to_string(),
        Op::Constant(_) | Op::Input { .. } => "value".to_string(),
    }
}

/// A function of an affine form whose second derivative has no bound, or the wrong sign.
fn bent(lowered: &Lowered, ridge: &Ridges, concave: bool) -> Option<Obstacle> {
    let most = ridge.rows.iter().fold(f64::NEG_INFINITY, |m, (_, t)| m.max(t.hi));
    let least = ridge.rows.iter().fold(f64::INFINITY, |m, (_, t)| m.min(t.lo));
    let name = operation(lowered, ridge.node);
    let of = quoted(&depends_on(lowered, ridge.node));
    let span = lowered.terms[ridge.term].span;
    if least < 0.0 && !concave {
        let how = if least == f64::NEG_INFINITY {
            "without bound".to_string()
        } else {
            format!("down to {}", short(least))
        };
        return Some(Obstacle {
            span,
            reason: format!("`{name}` is not concave here as a function of {of}: its part of the curvature falls below zero, {how}"),
            help: "a normal or logistic form in its place is log-concave; a stronger prior can outweigh a bounded curvature".into(),
        });
    }
    (most == f64::INFINITY).then(|| Obstacle {
        span,
        reason: format!(
            "the curvature of `{name}` in {of} grows without bound, so no constant step is safe everywhere"
        ),
        help: no_bound(concave, least >= 0.0),
    })
}

/// What an unbounded curvature leaves: of the whole log density, or at least of the term.
fn no_bound(concave: bool, term_concave: bool) -> String {
    let left = match (concave, term_concave) {
        (true, _) => "the answer is still log-concave; ",
        (false, true) => "this alone would leave the answer log-concave; ",
        (false, false) => "",
    };
    format!("{left}`stickler fit` adapts its steps and needs no bound")
}

/// An atom that no rule covers.
fn unknown(lowered: &Lowered, structure: &Structure, rest: &Rest, concave: bool) -> Obstacle {
    let span = lowered.terms[rest.term].span;
    let culprit = innermost(structure, rest.node);
    let node = lowered.graph.node(culprit);
    let span = node.span.filter(|s| s.start >= span.start && s.end <= span.end).unwrap_or(span);
    let varying: Vec<NodeId> =
        node.args.iter().copied().filter(|&a| lowered.graph.node(a).constant().is_none()).collect();
    let name = operation(lowered, culprit);
    if rest.concave {
        let of = quoted(&depends_on(lowered, rest.node));
        return Obstacle {
            span,
            reason: format!("`{name}` of {of} is concave here, but its curvature has no known bound"),
            help: no_bound(concave, true),
        };
    }
    let scale = scale_of(lowered, culprit);
    if let (Some(scale), true) = (&scale, varying.len() > 1) {
        let others: Vec<String> =
            depends_on(lowered, culprit).into_iter().filter(|n| !scale.contains(n)).collect();
        let scaled = if others.is_empty() { "the data".to_string() } else { quoted(&others) };
        let scale = quoted(scale);
        return Obstacle {
            span,
            reason: format!(
                "{scale} scales {scaled} in `{name}`, so the curvature depends on {scale} and has neither a bound nor a fixed sign"
            ),
            help: format!(
                "fix {scale} to a number (or pass it as data) to get a certificate; otherwise rely on k-hat"
            ),
        };
    }
    let of = quoted(&depends_on(lowered, culprit));
    if name == "within" || name == "kept" {
        return Obstacle {
            span,
            reason: format!("this is minus infinity where a function of {of} leaves its domain, so the log density jumps"),
            help: "declare the bounds with the parameter, or use a link that cannot leave them, such as exp or inv_logit".into(),
        };
    }
    if varying.len() > 1 {
        let what =
            if matches!(&node.op, Op::Map(row) if **row == scalar::MUL) { "multiplies" } else { "combines" };
        let parts: Vec<String> = varying.iter().map(|&a| quoted(&depends_on(lowered, a))).collect();
        return Obstacle {
            span,
            reason: format!(
                "this {what} {}, which are all parameters, so the curvature changes sign",
                parts.join(" and ")
            ),
            help: "fix one of them to a number (or pass it as data) to get a certificate".into(),
        };
    }
    let constrained = constrained(lowered, structure, culprit);
    if !constrained.is_empty() {
        let those = quoted(&constrained);
        return Obstacle {
            span,
            reason: format!(
                "`{name}` gets {those} through a transform, because of the bounds, so its argument is not affine in the coordinates"
            ),
            help: format!(
                "without bounds on {those}, and with a prior that says as much, it would be; otherwise rely on k-hat"
            ),
        };
    }
    Obstacle {
        span,
        reason: format!("nothing is known of the curvature of `{name}` as a function of {of}"),
        help: "write it with functions whose curvature is known (see `stickler list functions`), or rely on k-hat".into(),
    }
}

/// The first operation on the way down to the coordinates that is the reason itself: everything it is made of
/// is affine.
fn innermost(structure: &Structure, node: NodeId) -> NodeId {
    let graph = structure.graph();
    let mut at = node;
    'down: loop {
        // A function of one varying argument only passes on what is wrong below it.
        for &arg in &graph.node(at).args {
            if structure.affine(arg).is_some() {
                continue;
            }
            let Some(form) = structure.form(arg) else { continue };
            for e in 0..form.len().min(1) {
                for &variable in form.row(e).0 {
                    if let Some((owner, _)) = structure.owner(variable)
                        && owner != at
                        && many(structure, owner)
                    {
                        at = owner;
                        continue 'down;
                    }
                }
            }
        }
        return at;
    }
}

/// Whether an operation, or one below it, has several arguments that vary.
fn many(structure: &Structure, node: NodeId) -> bool {
    let graph = structure.graph();
    let varying: Vec<NodeId> =
        graph.node(node).args.iter().copied().filter(|&a| graph.node(a).constant().is_none()).collect();
    varying.len() > 1
}

/// The parameters behind the argument that is a scale (by name), if there is one that varies.
fn scale_of(lowered: &Lowered, id: NodeId) -> Option<Vec<String>> {
    let node = lowered.graph.node(id);
    let (Op::Map(row) | Op::MapSum { row, .. }) = &node.op else { return None };
    let names = ["sigma", "tau", "scale", "s", "beta", "phi", "kappa", "lambda"];
    let at = row.args.iter().position(|a| names.contains(a))?;
    let arg = *node.args.get(at)?;
    lowered.graph.node(arg).constant().is_none().then(|| depends_on(lowered, arg))
}

/// Names of the parameters that a node depends on.
fn depends_on(lowered: &Lowered, id: NodeId) -> Vec<String> {
    let needed = lowered.graph.needed(&[id]);
    let mut names = Vec::new();
    for p in &lowered.parameters {
        let own = p.offset..p.offset + p.size.max(1);
        let uses = lowered.graph.iter().any(|(n, node)| {
            needed[n.0 as usize] && matches!(node.op, Op::Input { offset } if own.contains(&offset))
        });
        if uses {
            names.push(p.named.name.clone());
        }
    }
    names
}

/// Names of the parameters behind a node that are not their own coordinates.
fn constrained(lowered: &Lowered, structure: &Structure, id: NodeId) -> Vec<String> {
    let behind = depends_on(lowered, id);
    let bent = |node: NodeId| structure.form(node).is_some() && structure.affine(node).is_none();
    let all = lowered.parameters.iter().filter(|p| bent(p.named.node));
    all.map(|p| p.named.name.clone()).filter(|name| behind.contains(name)).collect()
}

fn quoted(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(NAMED).map(|n| format!("`{n}`")).collect();
    let more = if names.len() > NAMED { " and others" } else { "" };
    if shown.is_empty() { "the parameters".into() } else { format!("{}{more}", shown.join(", ")) }
}

fn short(x: f64) -> String {
    format!("{x:.4}").trim_end_matches('0').trim_end_matches('.').to_string()
}
