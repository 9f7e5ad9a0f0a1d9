//! Elements of arrays that are functions of one affine form each, with bounds on value, slope and second
//! derivative.

use super::bowl::{Bowl, square_of_positive_part};
use super::ridge::Numbers;
use crate::facts::{Interval, Jet, known};
use crate::graph::{Node, NodeId, Op};
use crate::ops::operand::Broadcast;
use crate::ops::scalar::{self, ScalarRow};
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
    /// Bounds on its square, where more is known of that than of a square of anything.
    square: Option<Jet>,
    /// The parabola that it is.
    bowl: Option<Bowl>,
    /// Whether it is the affine form itself.
    is_form: bool,
}

/// Elements of an array: element `i` is a function of element `rows[i]` of `affine`.
pub(super) struct Univariate {
    pub(super) affine: Arc<Affine>,
    pub(super) rows: Vec<u32>,
    pub(super) elements: Vec<Element>,
}

/// What a row makes of element `e` of its argument `k`, the others being numbers. What holds by the row's own
/// bounds, by those on the exponential of the logarithm, by those on the logarithms of a probability and its
/// complement or of a rate, and by those on the square all hold.
pub(super) fn compose(
    row: &ScalarRow,
    numbers: &Numbers,
    (e, k): (usize, usize),
    inner: &Element,
) -> Option<Jet> {
    let facts = row.facts.as_ref()?;
    let direct = (facts.jet)(&numbers.with(e, k, inner.jet.value)?, k).map(|jet| jet.after(inner.jet));
    let by_log = inner
        .log
        .zip(facts.log_jet)
        .and_then(|(log, log_jet)| Some(log_jet(&numbers.with(e, k, log.value)?, k)?.after(log)));
    let part = |weight: f64, log: Option<Jet>| match weight {
        0.0 => Some(Jet::constant(0.0)),
        w => log.map(|log| log.scaled(w)),
    };
    let by_odds = || {
        let [a, b] = facts.odds?(&numbers.with(e, k, Interval::REAL)?, k)?;
        Some(part(a, inner.log)? + part(b, inner.complement)?)
    };
    let by_rate = || {
        let [a, b] = facts.rate?(&numbers.with(e, k, Interval::REAL)?, k)?;
        Some(part(a, inner.log)? + part(b, Some(inner.jet))?)
    };
    let by_square = inner.square.filter(|_| *row == scalar::SQUARE);
    [direct, by_log, by_odds(), by_rate(), by_square].into_iter().flatten().reduce(Jet::meet)
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
            return Some(Univariate::of_form(affine.clone(), Element::form()));
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
        let mut varying = (0..node.args.len()).filter(|&k| graph.node(node.args[k]).constant().is_none());
        let (k, None) = (varying.next()?, varying.next()) else { return None };
        let inner = self.of(node.args[k])?;
        let at = Broadcast::between(&graph.node(node.args[k]).dims, &node.dims);
        let numbers = Numbers::new(self.structure, &node.args, &node.dims);
        let (mut rows, mut elements) = (Vec::with_capacity(node.len()), Vec::with_capacity(node.len()));
        for e in 0..node.len() {
            let from = &inner.elements[at.at(e)];
            let jet = compose(row, &numbers, (e, k), from)?;
            let (log, complement) = self.logs(row, node, (e, k), from);
            let by_log = log.and_then(|log| Some(known::exp(log.value)?.after(log)));
            let jet = by_log.map_or(jet, |b| jet.meet(b));
            let args = numbers.with(e, k, Interval::REAL)?;
            let (square, bowl) = (square(row, &args, k, from), bowl(row, &args, k, from));
            elements.push(Element {
                jet,
                log,
                complement,
                softplus: softplus(row, from),
                square,
                bowl,
                is_form: false,
            });
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
    rows.into_iter().find(|(r, _)| *r == row && from.is_form).map(|(_, parts)| parts)
}

/// The square of a function that has a kink where it is 0: the square has none.
fn square(row: &ScalarRow, args: &[Interval], k: usize, from: &Element) -> Option<Jet> {
    let x = from.jet.value;
    if *row == scalar::ABS {
        return Some(known::power(x, 2.0)?.after(from.jet));
    }
    let at_zero = args.len() == 2 && args[1 - k] == Interval::ZERO;
    if *row == scalar::FMAX && at_zero {
        Some(square_of_positive_part(x).after(from.jet))
    } else if *row == scalar::FMIN && at_zero {
        Some(square_of_positive_part(-x).after(-from.jet))
    } else {
        None
    }
}

/// The parabola that a function of the form itself is.
fn bowl(row: &ScalarRow, args: &[Interval], k: usize, from: &Element) -> Option<Bowl> {
    if !from.is_form {
        return None;
    }
    if *row == scalar::SQUARE {
        return Some(Bowl::SQUARE);
    }
    let value = |t: f64| {
        let at: Vec<f64> = args.iter().enumerate().map(|(j, x)| if j == k { t } else { x.lo }).collect();
        row.at(&at)
    };
    Bowl::of_difference(row.facts.as_ref()?, args, k, value)
}

impl Element {
    /// What is known of value and derivatives, and no more.
    fn new(jet: Jet) -> Element {
        Element { jet, log: None, complement: None, softplus: None, square: None, bowl: None, is_form: false }
    }

    /// The affine form itself.
    fn form() -> Element {
        Element { softplus: Some([0.0, 1.0]), is_form: true, ..Element::new(Jet::identity(Interval::REAL)) }
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
        // 1 - (by x + 1 - by) = by (1 - x); 0.2 and 0.8 are 1 in one order of the two only.
        let complement = if by > 0.0 && (by == 1.0 - constant || constant == 1.0 - by) {
            plus(self.complement, by)
        } else if by < 0.0 && constant == 1.0 {
            plus(self.log, -by)
        } else {
            None
        };
        let softplus = self.softplus.map(|parts| parts.map(|p| p * by));
        let square = self.square.filter(|_| constant == 0.0).map(|square| square.scaled(by * by));
        let bowl = self.bowl.map(|bowl| bowl.scaled(by, constant));
        let is_form = self.is_form && by == 1.0 && constant == 0.0;
        Element {
            jet: self.jet.scaled(by).shifted(constant),
            log,
            complement,
            softplus,
            square,
            bowl,
            is_form,
        }
    }

    /// log(e^f + e^g) of two functions of the same number: with the share w of the first in the sum, the
    /// second derivative is w f'' + (1 - w) g'' + w (1 - w)(f' - g')².
    pub(super) fn log_add_exp(&self, other: &Element) -> Interval {
        let apart = match (self.softplus, other.softplus) {
            (Some([a, b]), Some([c, d])) if a == c => Interval::point(b - d),
            (Some(_) | None, _) => self.jet.slope - other.jet.slope,
        };
        let found = self.jet.curvature.hull(other.jet.curvature) + apart.square() * Interval::new(0.0, 0.25);
        let bowls = self.bowl.zip(other.bowl).map(|(f, g)| f.log_add_exp(g));
        bowls.map_or(found, |bend| found.meet(bend))
    }

    /// The same where the second is a number.
    pub(super) fn log_add_number(&self, number: f64) -> Option<Interval> {
        Some(self.bowl?.log_add_exp(Bowl::flat(number)))
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
