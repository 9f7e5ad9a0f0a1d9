//! Elements of arrays that are functions of one affine form each, with bounds on value, slope and second derivative.

use super::ridge::Numbers;
use crate::facts::{Interval, Jet, known};
use crate::graph::{Node, NodeId, Op};
use crate::ops::operand::Broadcast;
use crate::ops::scalar::{self, Facts, ScalarRow};
use crate::structure::{Affine, Structure};
use std::collections::HashMap;
use std::sync::Arc;

/// A function of one number.
#[derive(Clone, Copy)]
pub(super) struct Element {
    /// Bounds on it.
    pub(super) jet: Jet,
    /// Bounds on its logarithm, where it is known to be the exponential of something.
    log: Option<Jet>,
}

/// Elements of an array: element `i` is a function of element `rows[i]` of `affine`.
pub(super) struct Univariate {
    pub(super) affine: Arc<Affine>,
    pub(super) rows: Vec<u32>,
    pub(super) elements: Vec<Element>,
}

/// What a row makes of element `e` of its argument `k`, the others being numbers. What holds by the row's own bounds and
/// what holds by those on the exponential of the logarithm both hold.
pub(super) fn compose(
    facts: &Facts,
    numbers: &Numbers,
    (e, k): (usize, usize),
    inner: &Element,
) -> Option<Jet> {
    let direct = (facts.jet)(&numbers.with(e, k, inner.jet.value)?, k).map(|jet| jet.after(inner.jet));
    let by_log = inner
        .log
        .zip(facts.log_jet)
        .and_then(|(log, log_jet)| Some(log_jet(&numbers.with(e, k, log.value)?, k)?.after(log)));
    match (direct, by_log) {
        (Some(a), Some(b)) => Some(a.meet(b)),
        (a, b) => a.or(b),
    }
}

/// Univariate arrays, each found once.
pub(super) struct Univariates<'s> {
    structure: &'s Structure<'s>,
    known: HashMap<NodeId, Option<Arc<Univariate>>>,
}

impl<'s> Univariates<'s> {
    pub(super) fn new(structure: &'s Structure<'s>) -> Self {
        Self { structure, known: HashMap::new() }
    }

    /// The elements of a node as functions of one number each, if they are.
    pub(super) fn of(&mut self, id: NodeId) -> Option<Arc<Univariate>> {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        let found = self.find(id).map(Arc::new);
        self.known.insert(id, found.clone());
        found
    }

    fn find(&mut self, id: NodeId) -> Option<Univariate> {
        if let Some(affine) = self.structure.affine(id) {
            let element = Element { jet: Jet::identity(Interval::REAL), log: None };
            let rows = (0..affine.len() as u32).collect();
            return Some(Univariate { affine: affine.clone(), rows, elements: vec![element; affine.len()] });
        }
        let form = self.structure.form(id)?.clone();
        let mut parts: Vec<(Arc<Univariate>, usize)> = Vec::with_capacity(form.len());
        let mut elements = Vec::with_capacity(form.len());
        for e in 0..form.len() {
            // One element of something that is not affine, scaled and shifted.
            let ([variable], [by]) = form.row(e) else { return None };
            let (owner, element) = self.structure.owner(*variable)?;
            if owner == id {
                // All its elements are its own variables, in order.
                return self.map(id);
            }
            let inner = self.of(owner)?;
            elements.push(inner.elements[element].scaled(*by, form.constant[e]));
            parts.push((inner, element));
        }
        Some(gathered(&parts, elements))
    }

    /// An elementwise function of what is univariate.
    fn map(&mut self, id: NodeId) -> Option<Univariate> {
        let graph = self.structure.graph();
        let node = graph.node(id);
        let Op::Map(row) = &node.op else { return None };
        let facts = row.facts.as_ref()?;
        let mut varying = (0..node.args.len()).filter(|&k| graph.node(node.args[k]).constant().is_none());
        let (k, None) = (varying.next()?, varying.next()) else { return None };
        let inner = self.of(node.args[k])?;
        let at = Broadcast::between(&graph.node(node.args[k]).dims, &node.dims);
        let numbers = Numbers::new(self.structure, &node.args, &node.dims);
        let (mut rows, mut elements) = (Vec::with_capacity(node.len()), Vec::with_capacity(node.len()));
        for e in 0..node.len() {
            let from = &inner.elements[at.at(e)];
            let jet = compose(facts, &numbers, (e, k), from)?;
            let log = self.log(row, node, (e, k), from);
            let by_log = log.and_then(|log| Some(known::exp(log.value)?.after(log)));
            elements.push(Element { jet: by_log.map_or(jet, |b| jet.meet(b)), log });
            rows.push(inner.rows[at.at(e)]);
        }
        Some(Univariate { affine: inner.affine.clone(), rows, elements })
    }

    /// The logarithm of the result: of an exponential, and of powers of what has one.
    fn log(&self, row: &ScalarRow, node: &Node, (e, k): (usize, usize), from: &Element) -> Option<Jet> {
        let exponent = || {
            let all = Numbers::new(self.structure, &node.args, &node.dims).with(e, 0, Interval::REAL)?;
            all.get(1).map(|p| p.lo)
        };
        if *row == scalar::EXP {
            return Some(from.jet);
        }
        let power = if *row == scalar::SQUARE {
            2.0
        } else if *row == scalar::SQRT {
            0.5
        } else if *row == scalar::INV {
            -1.0
        } else if *row == scalar::INV_SQRT {
            -0.5
        } else if *row == scalar::POW && k == 0 {
            exponent()?
        } else {
            return None;
        };
        from.log.filter(|_| power.is_finite()).map(|log| log.scaled(power))
    }
}

impl Element {
    /// `by` times it plus `constant`.
    fn scaled(&self, by: f64, constant: f64) -> Element {
        let log = self.log.filter(|_| by > 0.0 && constant == 0.0).map(|log| log.shifted(by.ln()));
        Element { jet: self.jet.scaled(by).shifted(constant), log }
    }
}

/// Elements of several arrays as one.
fn gathered(parts: &[(Arc<Univariate>, usize)], elements: Vec<Element>) -> Univariate {
    let first = &parts[0].0.affine;
    if parts.iter().all(|(part, _)| Arc::ptr_eq(&part.affine, first)) {
        let rows = parts.iter().map(|(part, e)| part.rows[*e]).collect();
        return Univariate { affine: first.clone(), rows, elements };
    }
    let one = |(part, e): &(Arc<Univariate>, usize)| part.affine.gather(1, |_| part.rows[*e] as usize);
    let rows: Vec<Affine> = parts.iter().map(one).collect();
    let affine = Arc::new(Affine::concat(rows.iter()));
    Univariate { affine, rows: (0..parts.len() as u32).collect(), elements }
}
