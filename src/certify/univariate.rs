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
    /// Bounds on its logarithm, where it is positive and something is known of that.
    log: Option<Jet>,
    /// Bounds on log(1 - it), where it is below 1 and something is known of that.
    complement: Option<Jet>,
    /// [a, b] where it is a log(1 + e^t) + b t and a constant, for the affine form t itself.
    softplus: Option<[f64; 2]>,
}

/// Elements of an array: element `i` is a function of element `rows[i]` of `affine`.
pub(super) struct Univariate {
    pub(super) affine: Arc<Affine>,
    pub(super) rows: Vec<u32>,
    pub(super) elements: Vec<Element>,
}

/// What a row makes of element `e` of its argument `k`, the others being numbers. What holds by the row's own bounds, by those
/// on the exponential of the logarithm, and by those on the logarithms of a probability and its complement all hold.
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
    let by_odds = || {
        let [a, b] = facts.odds?(&numbers.with(e, k, Interval::REAL)?, k)?;
        let part = |weight: f64, log: Option<Jet>| match weight {
            0.0 => Some(Jet::constant(0.0)),
            w => log.map(|log| log.scaled(w)),
        };
        Some(part(a, inner.log)? + part(b, inner.complement)?)
    };
    [direct, by_log, by_odds()].into_iter().flatten().reduce(Jet::meet)
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
            let element =
                Element { softplus: Some([0.0, 1.0]), ..Element::new(Jet::identity(Interval::REAL)) };
            return Some(Univariate::of_form(affine.clone(), element));
        }
        if let Some(log) = self.structure.log_affine(id) {
            let element = Element {
                log: Some(Jet::identity(Interval::REAL)),
                ..Element::new(known::exp(Interval::REAL)?)
            };
            return Some(Univariate::of_form(log.clone(), element));
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
            let (log, complement) = self.logs(row, node, (e, k), from);
            let by_log = log.and_then(|log| Some(known::exp(log.value)?.after(log)));
            let jet = by_log.map_or(jet, |b| jet.meet(b));
            elements.push(Element { jet, log, complement, softplus: softplus(row, from) });
            rows.push(inner.rows[at.at(e)]);
        }
        Some(Univariate { affine: inner.affine.clone(), rows, elements })
    }

    /// The logarithm of the result and of its complement.
    fn logs(
        &self,
        row: &ScalarRow,
        node: &Node,
        (e, k): (usize, usize),
        from: &Element,
    ) -> (Option<Jet>, Option<Jet>) {
        let after = |jet: Option<Jet>| jet.map(|jet| jet.after(from.jet));
        let x = from.jet.value;
        if *row == scalar::EXP {
            return (Some(from.jet), after(known::log1m_exp(x)));
        }
        let probabilities: [(&ScalarRow, KnownJet, KnownJet); 3] = [
            (&scalar::INV_LOGIT, known::log_inv_logit, known::log1m_inv_logit),
            (&scalar::PHI, known::log_phi, |x| Some(known::log_phi(-x)?.stretched(-1.0))),
            (&scalar::INV_CLOGLOG, known::log1m_exp_exp, |x| Some(-known::exp(x)?)),
        ];
        if let Some((_, log, complement)) = probabilities.into_iter().find(|(r, ..)| *r == row) {
            return (after(log(x)), after(complement(x)));
        }
        let others: [(&ScalarRow, KnownJet); 2] =
            [(&scalar::LOG1P_EXP, known::log_log1p_exp), (&scalar::COSH, known::log_cosh)];
        if let Some((_, log)) = others.into_iter().find(|(r, _)| *r == row) {
            return (after(log(x)), None);
        }
        (self.log_of_power(row, node, (e, k), from), None)
    }

    /// The logarithm of a power of what has one.
    fn log_of_power(
        &self,
        row: &ScalarRow,
        node: &Node,
        (e, k): (usize, usize),
        from: &Element,
    ) -> Option<Jet> {
        let exponent = || {
            let all = Numbers::new(self.structure, &node.args, &node.dims).with(e, 0, Interval::REAL)?;
            all.get(1).map(|p| p.lo)
        };
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

/// Bounds on a function of one number.
type KnownJet = fn(Interval) -> Option<Jet>;

/// The multiple of log(1 + e^t), and of t, that a function of the form t itself is.
fn softplus(row: &ScalarRow, from: &Element) -> Option<[f64; 2]> {
    let rows: [(&ScalarRow, [f64; 2]); 3] = [
        (&scalar::LOG1P_EXP, [1.0, 0.0]),
        (&scalar::LOG_INV_LOGIT, [-1.0, 1.0]),
        (&scalar::LOG1M_INV_LOGIT, [-1.0, 0.0]),
    ];
    let plain = from.softplus == Some([0.0, 1.0]) && from.jet == Jet::identity(Interval::REAL);
    rows.into_iter().find(|(r, _)| *r == row && plain).map(|(_, parts)| parts)
}

impl Element {
    /// What is known of value and derivatives, and no more.
    fn new(jet: Jet) -> Element {
        Element { jet, log: None, complement: None, softplus: None }
    }

    /// `by` times it plus `constant`.
    fn scaled(&self, by: f64, constant: f64) -> Element {
        let plus = |log: Option<Jet>, size: f64| log.map(|log| log.shifted(size.ln()));
        let log = if by > 0.0 && constant == 0.0 {
            plus(self.log, by)
        } else if by < 0.0 && constant == -by {
            plus(self.complement, constant)
        } else {
            None
        };
        let complement = if by == 1.0 && constant == 0.0 {
            self.complement
        } else if by < 0.0 && constant == 1.0 {
            plus(self.log, -by)
        } else {
            None
        };
        let softplus = self.softplus.map(|parts| parts.map(|p| p * by));
        Element { jet: self.jet.scaled(by).shifted(constant), log, complement, softplus }
    }

    /// log(e^f + e^g) of two functions of the same number: with the share w of the first in the sum, the second derivative is
    /// w f'' + (1 - w) g'' + w (1 - w)(f' - g')².
    pub(super) fn log_add_exp(&self, other: &Element) -> Interval {
        let apart = match (self.softplus, other.softplus) {
            (Some([a, b]), Some([c, d])) if a == c => Interval::point(b - d),
            (Some(_) | None, _) => self.jet.slope - other.jet.slope,
        };
        self.jet.curvature.hull(other.jet.curvature) + apart.square() * Interval::new(0.0, 0.25)
    }
}

impl Univariate {
    /// The same function of every element of a form.
    fn of_form(affine: Arc<Affine>, element: Element) -> Univariate {
        let (rows, elements) = ((0..affine.len() as u32).collect(), vec![element; affine.len()]);
        Univariate { affine, rows, elements }
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
