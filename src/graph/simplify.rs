//! Identities that make an elementwise function simpler: they hold for every argument, so that value and gradient stay.

use super::arena::{NodeId, Op};
use super::build::{BuildError, Builder};
use crate::ops::array::Take;
use crate::ops::scalar::{self, ScalarRow};

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
    let pairs: [(&ScalarRow, &ScalarRow, Simpler); 15] = [
        (&scalar::LOG, &scalar::EXP, Itself),
        (&scalar::LOGIT, &scalar::INV_LOGIT, Itself),
        (&scalar::NEG, &scalar::NEG, Itself),
        (&scalar::INV_PHI, &scalar::PHI, Itself),
        (&scalar::LOG, &scalar::INV_LOGIT, Row(&scalar::LOG_INV_LOGIT)),
        (&scalar::LOG1M, &scalar::INV_LOGIT, Row(&scalar::LOG1M_INV_LOGIT)),
        (&scalar::LOG1P, &scalar::EXP, Row(&scalar::LOG1P_EXP)),
        (&scalar::LOG1M, &scalar::EXP, Row(&scalar::LOG1M_EXP)),
        (&scalar::LOG, &scalar::PHI, Row(&scalar::LOG_PHI)),
        (&scalar::LOG1M, &scalar::PHI, Of(&scalar::LOG_PHI, -1.0)),
        (&scalar::LOG, &scalar::SQRT, Times(0.5, &scalar::LOG)),
        (&scalar::SQUARE, &scalar::EXP, Of(&scalar::EXP, 2.0)),
        (&scalar::SQRT, &scalar::EXP, Of(&scalar::EXP, 0.5)),
        (&scalar::INV, &scalar::EXP, Of(&scalar::EXP, -1.0)),
        (&scalar::INV_SQRT, &scalar::EXP, Of(&scalar::EXP, -0.5)),
    ];
    pairs.into_iter().find(|(o, i, _)| *o == outer && *i == inner).map(|(_, _, simpler)| simpler)
}

impl Builder {
    /// The elementwise function of one argument and the argument that `id` is; also where `id` lists elements of such a
    /// node, since listing and elementwise functions commute.
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
        self.neutral(row, args, dims).or_else(|| self.cheaper_power(row, args, dims)).or_else(|| match args {
            [x] => self.without_detour(row, *x),
            [a, x] if *row == scalar::MULTIPLY_LOG => self.log_of_exp(*a, *x),
            _ => None,
        })
    }

    /// The sum of a function of one argument, each term weighted if weights are given, where the function is simpler.
    pub(super) fn simplified_sum(
        &mut self,
        row: &'static ScalarRow,
        args: &[NodeId],
        weight: Option<NodeId>,
    ) -> Result<Option<NodeId>, BuildError> {
        let [x] = args else { return Ok(None) };
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
        if *row != scalar::POW || self.dims(args[0]) != dims {
            return None;
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
            && let Some(above) = self.one_plus_exp(x)
        {
            return Some(self.unary(&scalar::LOG1P_EXP, above));
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
