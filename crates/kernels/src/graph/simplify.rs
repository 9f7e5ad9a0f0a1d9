//! Identities that make an elementwise function simpler: they hold for every argument, so that value and
//! gradient stay.

use super::arena::{NodeId, Op};
use super::build::{BuildError, Builder};
use crate::facts::{Interval, Range};
use crate::ops::array::{Sum, Take};
use crate::ops::operand::Broadcast;
use crate::ops::scalar::{self, ScalarRow};
use std::sync::Arc;

/// Numbers whose logarithms are so small that a power by them is known to about as many digits as the
/// exponent.
const MILD: std::ops::RangeInclusive<f64> = 1e-20..=1e20;

/// What a function of one argument comes to.
enum Simpler {
    /// The argument of the inner function itself.
    Itself,
    /// One function in place of two.
    Row(&'static ScalarRow),
    /// One function of a multiple of the argument.
    Of(&'static ScalarRow, f64),
    /// A multiple of a function.
    Times(f64, &'static ScalarRow),
}

/// `outer` after `inner`, where one function or none does.
fn composed(outer: &ScalarRow, inner: &ScalarRow) -> Option<Simpler> {
    use Simpler::{Itself, Of, Row, Times};
    let pairs: [(&ScalarRow, &ScalarRow, Simpler); 20] = [
        (&scalar::LOG, &scalar::EXP, Itself),
        (&scalar::LOGIT, &scalar::INV_LOGIT, Itself),
        (&scalar::LOGIT, &scalar::PHI, Row(&scalar::LOGIT_PHI)),
        (&scalar::LOGIT, &scalar::INV_CLOGLOG, Row(&scalar::LOGIT_INV_CLOGLOG)),
        (&scalar::NEG, &scalar::NEG, Itself),
        (&scalar::INV_PHI, &scalar::PHI, Itself),
        (&scalar::LOG, &scalar::INV_LOGIT, Row(&scalar::LOG_INV_LOGIT)),
        (&scalar::LOG1M, &scalar::INV_LOGIT, Row(&scalar::LOG1M_INV_LOGIT)),
        (&scalar::LOG1P, &scalar::EXP, Row(&scalar::LOG1P_EXP)),
        (&scalar::LOG1M, &scalar::EXP, Row(&scalar::LOG1M_EXP)),
        (&scalar::LOG, &scalar::PHI, Row(&scalar::LOG_PHI)),
        (&scalar::LOG1M, &scalar::PHI, Of(&scalar::LOG_PHI, -1.0)),
        (&scalar::LOG_INV_LOGIT, &scalar::NEG, Row(&scalar::LOG1M_INV_LOGIT)),
        (&scalar::LOG1M_INV_LOGIT, &scalar::NEG, Row(&scalar::LOG_INV_LOGIT)),
        (&scalar::LOG1M, &scalar::INV_CLOGLOG, Times(-1.0, &scalar::EXP)),
        (&scalar::LOG, &scalar::SQRT, Times(0.5, &scalar::LOG)),
        (&scalar::SQUARE, &scalar::EXP, Of(&scalar::EXP, 2.0)),
        (&scalar::SQRT, &scalar::EXP, Of(&scalar::EXP, 0.5)),
        (&scalar::INV, &scalar::EXP, Of(&scalar::EXP, -1.0)),
        (&scalar::INV_SQRT, &scalar::EXP, Of(&scalar::EXP, -0.5)),
    ];
    pairs.into_iter().find(|(o, i, _)| *o == outer && *i == inner).map(|(_, _, simpler)| simpler)
}

impl Builder {
    /// The elementwise function of one argument and the argument that `id` is; also where `id` lists elements
    /// of such a node, since listing and elementwise functions commute.
    pub fn inner(
        &mut self,
        id: NodeId,
        wanted: impl Fn(&ScalarRow) -> bool,
    ) -> Option<(&'static ScalarRow, NodeId)> {
        let node = self.graph().node(id);
        match &node.op {
            Op::Map(row) if node.args.len() == 1 && wanted(row) => Some((*row, node.args[0])),
            Op::Array(op) => {
                let take = op.downcast::<Take>()?.clone();
                let base = self.graph().node(node.args[0]);
                let Op::Map(row) = base.op else { return None };
                if base.args.len() != 1 || !wanted(row) {
                    return None;
                }
                let argument = base.args[0];
                let listed = self.take(argument, take.table.to_vec(), take.dims);
                Some((row, listed))
            }
            Op::Constant(_)
            | Op::Input { .. }
            | Op::Map(_)
            | Op::MapSum { .. }
            | Op::Ode(_)
            | Op::Recursion(_) => None,
        }
    }

    /// The same value by fewer or cheaper functions, where there is such a way.
    pub(super) fn simplified(
        &mut self,
        row: &'static ScalarRow,
        args: &[NodeId],
        dims: &[usize],
    ) -> Option<NodeId> {
        self.neutral(row, args, dims)
            .or_else(|| self.cheaper_power(row, args, dims))
            .or_else(|| match args {
                [x] => self.without_detour(row, *x),
                [a, x] if *row == scalar::MULTIPLY_LOG => self.log_of_exp(*a, *x),
                [a, x] => self.probability(row, *a, *x, dims),
                [w, a, b] if *row == scalar::LOG_MIX => self.mixed(*w, *a, *b),
                _ => None,
            })
            .or_else(|| self.by_logs(row, args))
    }

    /// The sum of a function of one argument, each term weighted if weights are given, where the function is
    /// simpler.
    pub(super) fn simplified_sum(
        &mut self,
        row: &'static ScalarRow,
        args: &[NodeId],
        weight: Option<NodeId>,
    ) -> Result<Option<NodeId>, BuildError> {
        let [x] = args else {
            let Some(each) = self.by_logs(row, args) else { return Ok(None) };
            let terms = match weight {
                Some(w) => self.mul(each, w)?,
                None => each,
            };
            return self.sum(terms, None).map(Some);
        };
        let Some((inner, argument)) = self.inner(*x, |inner| composed(row, inner).is_some()) else {
            return Ok(None);
        };
        let each = match composed(row, inner) {
            Some(Simpler::Row(one)) => return self.map_sum(one, &[argument], weight).map(Some),
            Some(Simpler::Itself) => argument,
            Some(Simpler::Of(..) | Simpler::Times(..)) | None => return Ok(None),
        };
        let terms = match weight {
            Some(w) => self.mul(each, w)?,
            None => each,
        };
        self.sum(terms, None).map(Some)
    }

    /// A function of a probability and of data, by the logarithms of the probability and its complement:
    /// these are known to the last bit where the probability itself is too near to 1 to tell.
    fn by_logs(&mut self, row: &ScalarRow, args: &[NodeId]) -> Option<NodeId> {
        let odds = row.facts.as_ref()?.odds.filter(|_| args.len() > 1)?;
        let varying: Vec<usize> = (0..args.len()).filter(|&k| self.constant_of(args[k]).is_none()).collect();
        let [k] = varying[..] else { return None };
        let linked = [&scalar::INV_LOGIT, &scalar::PHI, &scalar::INV_CLOGLOG];
        let guessed = self.guessed(args[k]);
        let plain = guessed.map_or(args[k], |(_, plain)| plain);
        self.inner(plain, |inner| linked.into_iter().any(|row| row == inner))?;
        let known: Vec<NodeId> = (0..args.len()).filter(|j| *j != k).map(|j| args[j]).collect();
        let dims = self.common(&known).ok()?;
        let (mut weights, count) = ([Vec::new(), Vec::new()], dims.iter().product::<usize>());
        for e in 0..count {
            let number = |&a: &NodeId| {
                let point = |values: &Arc<[f64]>| values[Broadcast::between(self.dims(a), &dims).at(e)];
                self.constant_of(a).map_or(Interval::REAL, |values| Interval::point(point(values)))
            };
            let numbers: Vec<Interval> = args.iter().map(number).collect();
            let each = odds(&numbers, k)?;
            weights.iter_mut().zip(each).for_each(|(all, w)| all.push(w));
        }
        let mut sum = None;
        for (weight, log) in weights.into_iter().zip([&scalar::LOG, &scalar::LOG1M]) {
            if weight.iter().all(|w| *w == 0.0) {
                continue;
            }
            let log = match guessed {
                Some((share, plain)) if *log == scalar::LOG1M => {
                    let (share, rest) = (self.unary(&scalar::LOG, share), self.unary(log, plain));
                    self.add2(share, rest).ok()?
                }
                Some(_) | None => self.unary(log, args[k]),
            };
            let weight = self.constant(weight, dims.clone());
            let part = self.mul(weight, log).ok()?;
            sum = Some(match sum {
                Some(before) => self.add2(before, part).ok()?,
                None => part,
            });
        }
        sum
    }

    /// 1 - c and p where `id` is c + (1 - c) p for known c: its complement is (1 - c)(1 - p).
    fn guessed(&self, id: NodeId) -> Option<(NodeId, NodeId)> {
        let parts = |id: NodeId, row: &ScalarRow| {
            let node = self.graph().node(id);
            match (&node.op, &node.args[..]) {
                (Op::Map(r), &[a, b]) if **r == *row && self.constant_of(a).is_some() => Some((a, b)),
                (Op::Map(r), &[a, b]) if **r == *row && self.constant_of(b).is_some() => Some((b, a)),
                _ => None,
            }
        };
        let (least, rest) = parts(id, &scalar::ADD)?;
        let (share, plain) = parts(rest, &scalar::MUL)?;
        let dims = self.common(&[least, share]).ok()?;
        let at = |id: NodeId, e: usize| {
            let index = Broadcast::between(self.dims(id), &dims);
            self.constant_of(id).map(|values| values[index.at(e)])
        };
        // 0.2 and 0.8 are 1 in one order of the two only.
        let whole = |e: usize| {
            let (c, by) = (at(least, e)?, at(share, e)?);
            (c > 0.0 && by > 0.0 && (by == 1.0 - c || c == 1.0 - by)).then_some(())
        };
        (0..dims.iter().product()).try_for_each(whole)?;
        Some((share, plain))
    }

    /// x + 0, 1 · x and their like.
    fn neutral(&mut self, row: &ScalarRow, args: &[NodeId], dims: &[usize]) -> Option<NodeId> {
        let constant = |b: &Self, i: usize| args.get(i).and_then(|&a| b.scalar_of(a));
        let whole = |b: &Self, i: usize| b.dims(args[i]) == dims;
        if *row == scalar::ADD && constant(self, 0) == Some(0.0) && whole(self, 1) {
            return Some(args[1]);
        }
        if (*row == scalar::ADD || *row == scalar::SUB) && constant(self, 1) == Some(0.0) && whole(self, 0) {
            return Some(args[0]);
        }
        if *row == scalar::MUL && constant(self, 0) == Some(1.0) && whole(self, 1) {
            return Some(args[1]);
        }
        let by_one = *row == scalar::MUL || *row == scalar::DIV || *row == scalar::POW;
        (by_one && constant(self, 1) == Some(1.0) && whole(self, 0)).then(|| args[0])
    }

    fn cheaper_power(&mut self, row: &ScalarRow, args: &[NodeId], dims: &[usize]) -> Option<NodeId> {
        if *row != scalar::POW {
            return None;
        }
        if let Some(base) = self.constant_of(args[0]).filter(|base| base.iter().all(|x| MILD.contains(x))) {
            // Logarithms of data are taken once.
            let logs: Vec<f64> = base.iter().map(|x| x.ln()).collect();
            let logs = self.constant(logs, self.dims(args[0]).to_vec());
            let exponent = self.mul(args[1], logs).ok()?;
            return Some(self.unary(&scalar::EXP, exponent));
        }
        if self.dims(args[0]) != dims {
            // One logarithm for many powers.
            if !self.range(args[0]).within(Range::POSITIVE) {
                return None;
            }
            let log = self.unary(&scalar::LOG, args[0]);
            let exponent = self.mul(args[1], log).ok()?;
            return Some(self.unary(&scalar::EXP, exponent));
        }
        let cheaper = match self.scalar_of(args[1])? {
            2.0 => &scalar::SQUARE,
            -1.0 => &scalar::INV,
            0.5 => &scalar::SQRT,
            -0.5 => &scalar::INV_SQRT,
            _ => return None,
        };
        Some(self.unary(cheaper, args[0]))
    }

    /// log(exp(x)) and its like, also where the elements of exp(x) are listed in between; log(1 + exp(x)).
    fn without_detour(&mut self, row: &'static ScalarRow, x: NodeId) -> Option<NodeId> {
        if *row == scalar::LOG
            && let Some(simpler) = self.log_of_sum(x)
        {
            return Some(simpler);
        }
        let (inner, argument) = self.inner(x, |inner| composed(row, inner).is_some())?;
        match composed(row, inner)? {
            Simpler::Itself => Some(argument),
            Simpler::Row(one) => Some(self.unary(one, argument)),
            Simpler::Of(one, c) => {
                let multiple = self.multiple(c, argument)?;
                Some(self.unary(one, multiple))
            }
            Simpler::Times(c, one) => {
                let value = self.unary(one, argument);
                self.multiple(c, value)
            }
        }
    }

    fn multiple(&mut self, c: f64, x: NodeId) -> Option<NodeId> {
        if c == -1.0 {
            return Some(self.unary(&scalar::NEG, x));
        }
        let c = self.number(c);
        self.mul(c, x).ok()
    }

    /// log(1 + exp(x)), log(1 ± x), and logs of sums of exponentials.
    fn log_of_sum(&mut self, id: NodeId) -> Option<NodeId> {
        if let Some(above) = self.one_plus_exp(id) {
            return Some(self.unary(&scalar::LOG1P_EXP, above));
        }
        let node = self.graph().node(id).clone();
        match &node.op {
            Op::Map(row) if **row == scalar::ADD => {
                let logs = [self.as_exp(node.args[0]), self.as_exp(node.args[1])];
                if let [Some(a), Some(b)] = logs {
                    return self.map(&scalar::LOG_ADD_EXP, &[a, b]).ok();
                }
                let one = |k: usize| self.scalar_of(node.args[k]) == Some(1.0);
                let rest = if one(0) { node.args[1] } else { node.args[0] };
                let more = (one(0) || one(1)) && self.dims(rest) == self.dims(id);
                more.then(|| self.unary(&scalar::LOG1P, rest))
            }
            Op::Map(row) if **row == scalar::SUB => {
                let rest = node.args[1];
                let less = self.scalar_of(node.args[0]) == Some(1.0) && self.dims(rest) == self.dims(id);
                less.then(|| self.unary(&scalar::LOG1M, rest))
            }
            Op::Array(op) => {
                let axis = op.downcast::<Sum>()?.axis;
                let (_, exponents) = self.inner(node.args[0], |inner| *inner == scalar::EXP)?;
                self.log_sum_exp(exponents, axis).ok()
            }
            Op::Constant(_)
            | Op::Input { .. }
            | Op::Map(_)
            | Op::MapSum { .. }
            | Op::Ode(_)
            | Op::Recursion(_) => None,
        }
    }

    /// The y with exp(y) for what is an exponential or a sum of exponentials.
    fn as_exp(&mut self, id: NodeId) -> Option<NodeId> {
        if let Some((_, y)) = self.inner(id, |inner| *inner == scalar::EXP) {
            return Some(y);
        }
        let node = self.graph().node(id);
        let sum = matches!(&node.op, Op::Map(row) if **row == scalar::ADD);
        let (a, b) = (*node.args.first()?, *node.args.get(1)?);
        if !sum {
            return None;
        }
        let (a, b) = (self.as_exp(a)?, self.as_exp(b)?);
        self.map(&scalar::LOG_ADD_EXP, &[a, b]).ok()
    }

    /// ½ (1 + erf(x)) and ½ (1 + tanh(x)).
    fn half_of_one_plus(&mut self, half: NodeId, sum: NodeId, dims: &[usize]) -> Option<NodeId> {
        let node = self.graph().node(sum);
        let (Op::Map(row), [a, b]) = (&node.op, node.args.as_slice()) else { return None };
        let (plus, a, b) = (**row == scalar::ADD, *a, *b);
        if !plus || self.scalar_of(half) != Some(0.5) || self.dims(sum) != dims {
            return None;
        }
        let rest = if self.scalar_of(a) == Some(1.0) { b } else { a };
        if self.scalar_of(a) != Some(1.0) && self.scalar_of(b) != Some(1.0) {
            return None;
        }
        let (inner, x) = self.inner(rest, |inner| *inner == scalar::ERF || *inner == scalar::TANH)?;
        let (by, name) = match *inner == scalar::ERF {
            true => (std::f64::consts::SQRT_2, &scalar::PHI),
            false => (2.0, &scalar::INV_LOGIT),
        };
        let multiple = self.multiple(by, x).filter(|&m| self.dims(m) == dims)?;
        Some(self.unary(name, multiple))
    }

    /// 1 / (1 + exp(-x)), exp(x) / (1 + exp(x)), 1 - inv_logit(x), 1 - exp(-exp(x)) and their like:
    /// probabilities by their names.
    fn probability(&mut self, row: &ScalarRow, a: NodeId, b: NodeId, dims: &[usize]) -> Option<NodeId> {
        if *row == scalar::MUL {
            return self.half_of_one_plus(a, b, dims).or_else(|| self.half_of_one_plus(b, a, dims));
        }
        let one = self.scalar_of(a) == Some(1.0);
        if *row == scalar::DIV {
            let y = self.one_plus_exp(b).filter(|_| self.dims(b) == dims)?;
            if one {
                let mirrored = self.unary(&scalar::NEG, y);
                return Some(self.unary(&scalar::INV_LOGIT, mirrored));
            }
            let (_, above) = self.inner(a, |inner| *inner == scalar::EXP)?;
            return (above == y).then(|| self.unary(&scalar::INV_LOGIT, y));
        }
        if !(*row == scalar::SUB && one && self.dims(b) == dims) {
            return None;
        }
        let even = |inner: &ScalarRow| *inner == scalar::INV_LOGIT || *inner == scalar::PHI;
        if let Some((inner, y)) = self.inner(b, even) {
            let mirrored = self.unary(&scalar::NEG, y);
            return Some(self.unary(inner, mirrored));
        }
        let (_, negative) = self.inner(b, |inner| *inner == scalar::EXP)?;
        let (_, rate) = self.inner(negative, |inner| *inner == scalar::NEG)?;
        let (_, y) = self.inner(rate, |inner| *inner == scalar::EXP)?;
        Some(self.unary(&scalar::INV_CLOGLOG, y))
    }

    /// log_mix(w, a, b) with the weights in the exponents, where w is a number or inv_logit(y).
    fn mixed(&mut self, w: NodeId, a: NodeId, b: NodeId) -> Option<NodeId> {
        let known = self.constant_of(w).is_some_and(|w| w.iter().all(|w| *w > 0.0 && *w < 1.0));
        if !known {
            self.inner(w, |inner| *inner == scalar::INV_LOGIT)?;
        }
        let (log, other) = (self.unary(&scalar::LOG, w), self.unary(&scalar::LOG1M, w));
        let (first, second) = (self.add2(log, a).ok()?, self.add2(other, b).ok()?);
        self.map(&scalar::LOG_ADD_EXP, &[first, second]).ok()
    }

    /// The y in 1 + exp(y).
    fn one_plus_exp(&mut self, id: NodeId) -> Option<NodeId> {
        let node = self.graph().node(id);
        let (Op::Map(row), [a, b]) = (&node.op, node.args.as_slice()) else { return None };
        let (a, b) = (*a, *b);
        if **row != scalar::ADD {
            return None;
        }
        let rest = if self.scalar_of(a) == Some(1.0) {
            b
        } else if self.scalar_of(b) == Some(1.0) {
            a
        } else {
            return None;
        };
        if self.dims(rest) != self.dims(id) {
            return None;
        }
        self.inner(rest, |inner| *inner == scalar::EXP).map(|(_, y)| y)
    }

    /// a log(exp(y)) = a y.
    fn log_of_exp(&mut self, a: NodeId, x: NodeId) -> Option<NodeId> {
        let (_, y) = self.inner(x, |inner| *inner == scalar::EXP)?;
        self.mul(a, y).ok()
    }
}
