//! Rates and scales that are exponentials, as regressions of durations have them: the function of a Poisson
//! regression, of a predictor with the logarithms of the data in it.

use super::{Rule, replace_where};
use crate::dist::{
    EXPONENTIAL_JOINT, GAMMA_RATE, MINUS_LOG, NORMAL_SCALE, POISSON_LOG_JOINT, SHAPE_LOG, WEIBULL_JOINT,
    WEIBULL_LCCDF,
};
use crate::graph::{Builder, Graph, Node, NodeId, Op};
use crate::num::real::HALF_LN_2PI;
use crate::ops::scalar::{DIV, EXP, INV, LOG, MUL, NEG, ScalarRow};

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "rate-by-logarithm",
    doc: "sums over functions of rates and scales that are exponentials are sums over functions of their logarithms",
    apply,
};

/// A summed function, from its arguments and weights where one of them is an exponential.
type Form = fn(&mut Builder, &[NodeId], Option<NodeId>) -> Option<NodeId>;

/// The functions that have such a form.
static FORMS: [(&ScalarRow, Form); 7] = [
    (&EXPONENTIAL_JOINT, exponential),
    (&GAMMA_RATE, gamma_rate),
    (&SHAPE_LOG, logarithm),
    (&MINUS_LOG, minus_logarithm),
    (&NORMAL_SCALE, normal_scale),
    (&WEIBULL_JOINT, weibull),
    (&WEIBULL_LCCDF, weibull_tail),
];

fn apply(graph: Graph, roots: &[NodeId], _: usize) -> (Graph, Vec<NodeId>) {
    replace_where(
        graph,
        roots,
        |node| form(node).is_some(),
        |b, node, args| {
            let (form, functions) = form(node)?;
            form(b, &args[..functions], args.get(functions).copied())
        },
    )
}

/// The form of a node, and how many arguments its function has.
fn form(node: &Node) -> Option<(Form, usize)> {
    let Op::MapSum { row, weighted } = &node.op else { return None };
    let (_, form) = FORMS.iter().find(|(known, _)| known == row)?;
    Some((*form, node.args.len() - usize::from(*weighted)))
}

/// Σ -x rate, where -x e^eta = -e^(eta + log x).
fn exponential(b: &mut Builder, args: &[NodeId], weight: Option<NodeId>) -> Option<NodeId> {
    let rate = Rate::of(b, args[1])?;
    let (logs, none) = (logarithms(b, args[0])?, b.number(0.0));
    let alpha = b.add2(rate.log, logs).ok()?;
    let sum = b.map_sum(&POISSON_LOG_JOINT, &[none, alpha], weight).ok()?;
    match rate.times {
        Some(times) => b.mul(times, sum).ok(),
        None => Some(sum),
    }
}

/// Σ alpha log rate for one alpha.
fn gamma_rate(b: &mut Builder, args: &[NodeId], weight: Option<NodeId>) -> Option<NodeId> {
    if b.graph().node(args[0]).len() != 1 {
        return None;
    }
    let sum = logarithm(b, &args[1..], weight)?;
    b.mul(args[0], sum).ok()
}

/// Σ log rate.
fn logarithm(b: &mut Builder, args: &[NodeId], weight: Option<NodeId>) -> Option<NodeId> {
    let log = Rate::of(b, args[0])?.logarithm(b)?;
    let each = match weight {
        Some(weight) => b.mul(log, weight).ok()?,
        None => log,
    };
    b.sum(each, None).ok()
}

/// Σ -log scale.
fn minus_logarithm(b: &mut Builder, args: &[NodeId], weight: Option<NodeId>) -> Option<NodeId> {
    let sum = logarithm(b, args, weight)?;
    Some(b.unary(&NEG, sum))
}

/// Σ -log scale - log √(2π).
fn normal_scale(b: &mut Builder, args: &[NodeId], weight: Option<NodeId>) -> Option<NodeId> {
    let sum = minus_logarithm(b, args, weight)?;
    let rows = b.graph().node(args[0]).len() as f64;
    let mean = |weights: &[f64]| weights.iter().sum::<f64>() / weights.len() as f64;
    let weight = weight.map_or(Some(1.0), |weight| Some(mean(b.constant_of(weight)?)))?;
    let constant = b.number(weight * rows * HALF_LN_2PI);
    b.sub(sum, constant).ok()
}

/// Σ t - e^t for t = alpha (log x - log sigma).
fn weibull(b: &mut Builder, args: &[NodeId], weight: Option<NodeId>) -> Option<NodeId> {
    let once = b.number(1.0);
    power(b, once, args[0], [args[1], args[2]], weight)
}

/// Σ -e^t for t = alpha (log x - log sigma).
fn weibull_tail(b: &mut Builder, args: &[NodeId], weight: Option<NodeId>) -> Option<NodeId> {
    let (logs, none) = (logarithms(b, args[0])?, b.number(0.0));
    power(b, none, logs, [args[1], args[2]], weight)
}

/// Σ n t - e^t for t = alpha (log x - log sigma).
fn power(
    b: &mut Builder,
    n: NodeId,
    logs: NodeId,
    [alpha, sigma]: [NodeId; 2],
    weight: Option<NodeId>,
) -> Option<NodeId> {
    let log = Rate::of(b, sigma)?.logarithm(b)?;
    let apart = b.sub(logs, log).ok()?;
    let t = b.mul(alpha, apart).ok()?;
    b.map_sum(&POISSON_LOG_JOINT, &[n, t], weight).ok()
}

/// The logarithms of data, where they are finite.
fn logarithms(b: &mut Builder, x: NodeId) -> Option<NodeId> {
    let finite = b.constant_of(x)?.iter().all(|x| *x > 0.0 && x.is_finite());
    finite.then(|| b.unary(&LOG, x))
}

/// A number for each row: an exponential, and one number that multiplies them all.
struct Rate {
    times: Option<NodeId>,
    log: NodeId,
}

impl Rate {
    fn of(b: &mut Builder, id: NodeId) -> Option<Rate> {
        if b.graph().node(id).len() < 2 {
            return None;
        }
        if let Some((_, log)) = b.inner(id, |row| *row == EXP) {
            return Some(Rate { times: None, log });
        }
        let node = b.graph().node(id).clone();
        let Op::Map(row) = node.op else { return None };
        let single = |b: &Builder, k: usize| b.graph().node(node.args[k]).len() == 1;
        let (times, exponential, inverse) = match row {
            row if *row == INV => (None, node.args[0], true),
            row if *row == DIV && single(b, 0) => (Some(node.args[0]), node.args[1], true),
            row if *row == MUL && single(b, 0) => (Some(node.args[0]), node.args[1], false),
            row if *row == MUL && single(b, 1) => (Some(node.args[1]), node.args[0], false),
            _ => return None,
        };
        let (_, log) = b.inner(exponential, |row| *row == EXP)?;
        let log = if inverse { b.unary(&NEG, log) } else { log };
        Some(Rate { times, log })
    }

    /// Its logarithm.
    fn logarithm(&self, b: &mut Builder) -> Option<NodeId> {
        let Some(times) = self.times else { return Some(self.log) };
        let log = b.unary(&LOG, times);
        b.add2(self.log, log).ok()
    }
}
