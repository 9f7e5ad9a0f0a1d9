//! Expressions: their types, and the shapes of what meets element by element.

use super::sizes::{Settled, read, show};
use super::types::{Labels, Levels, Through, Type, all_coordinates};
use super::{Elaborator, Expression, Result};
use crate::facts::{Range, Shape, Size, broadcast};
use crate::graph::{NodeId, range_of};
use crate::ops::scalar::{self, ScalarRow};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast::{Expr, ExprKind, UnaryOp};

/// Most numbers of an array that an expression makes.
const MAX_ELEMENTS: i64 = 1 << 28;

/// Functions that are linear in each of their arguments.
const LINEAR: [&ScalarRow; 4] = [&scalar::ADD, &scalar::SUB, &scalar::MUL, &scalar::NEG];

/// Most numbers of an array that is computed while a model is read.
const MAX_FOLDED: i64 = 10_000;

impl Elaborator<'_> {
    pub(super) fn expr(&mut self, e: &Expr) -> Result<Type> {
        let ty = self.value(e)?;
        let read = matches!(e.kind, ExprKind::Name(_) | ExprKind::Index { .. });
        if read && ty.drawn && self.context.describing && self.context.calls.is_empty() {
            return Err(self.drawn_in_density(e.span));
        }
        if !matches!(e.kind, ExprKind::Name(_)) {
            self.affordable(&ty, e.span)?;
        }
        self.model.expressions.push(Expression { span: e.span, ty: ty.clone() });
        Ok(ty)
    }

    fn value(&mut self, e: &Expr) -> Result<Type> {
        match &e.kind {
            ExprKind::Real(x) => Ok(self.literal(*x, false)),
            ExprKind::Int(n) => Ok(self.literal(*n as f64, true)),
            ExprKind::Str(s) => {
                Err(Diagnostic::error("text-as-value", format!("the text \"{s}\" is not a number"))
                    .label(e.span, "")
                    .help("text is compared with the levels of a category: `group == \"treated\"`"))
            }
            ExprKind::Name(name) => self.named(name, e.span),
            ExprKind::Unary(UnaryOp::Neg, operand) => {
                let x = self.expr(operand)?;
                self.refuse_category(&x, operand.span)?;
                let value = x.value.as_ref().map(|v| Size::integer(0).plus(-1, v));
                let found = self.elementwise(&scalar::NEG, &[&x], x.shape.clone());
                Ok(Type { integer: x.integer, value, labels: x.labels.clone(), ..found })
            }
            ExprKind::Unary(UnaryOp::Not, operand) => {
                let x = self.expr(operand)?;
                let found = self.elementwise(&scalar::NOT, &[&x], x.shape.clone());
                Ok(Type { integer: true, ..found })
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b),
            ExprKind::Transpose(x) => self.transposed(x, e.span),
            ExprKind::Call { name, args } => self.call(name, args, e.span),
            ExprKind::Index { base, indices } => self.index(base, indices, e.span),
            ExprKind::Array(items) => self.array(items, e),
        }
    }

    /// A number as written.
    pub(super) fn literal(&mut self, x: f64, integer: bool) -> Type {
        let node = self.constants.number(x);
        self.constant(node, integer)
    }

    /// What is known of a value that depends on neither data nor parameters.
    pub(super) fn constant(&mut self, node: NodeId, integer: bool) -> Type {
        let identity = self.number(format!("constant {}", node.0));
        let numbers = self.constants.constant_of(node).cloned().unwrap_or_default();
        let shape: Shape = self.constants.dims(node).iter().map(|&n| Size::known(n)).collect();
        let whole = shape.is_empty() && integer && numbers[0].fract() == 0.0;
        Type {
            integer,
            value: whole.then(|| Size::integer(numbers[0] as i64)),
            range: Range::of(&numbers),
            reached: true,
            constant: Some(node),
            base: identity,
            identity,
            ..Type::real(shape)
        }
    }

    /// The numbers of a value that depends on neither data nor parameters.
    pub(super) fn numbers_of(&self, ty: &Type) -> Option<&[f64]> {
        ty.constant.and_then(|node| self.constants.constant_of(node)).map(|numbers| &numbers[..])
    }

    /// The one number of such a value.
    pub(super) fn number_of(&self, ty: &Type) -> Option<f64> {
        self.numbers_of(ty).filter(|all| all.len() == 1 && ty.is_scalar()).map(|all| all[0])
    }

    /// A value computed from others, of which nothing but what it depends on is known.
    pub(super) fn computed(&mut self, how: &str, from: &[&Type], shape: Option<Shape>) -> Type {
        let ids: Vec<String> = from.iter().map(|t| t.identity.to_string()).collect();
        let identity = self.number(format!("{how}({})", ids.join(",")));
        Type {
            shape,
            from_data: from.iter().any(|t| t.from_data),
            fixed: from.iter().all(|t| t.fixed),
            drawn: from.iter().any(|t| t.drawn),
            coordinates: all_coordinates(from.iter().copied()),
            base: identity,
            identity,
            ..Type::real(Shape::new())
        }
    }

    /// An elementwise function of values that fit together in this shape.
    pub(super) fn elementwise(
        &mut self,
        row: &'static ScalarRow,
        of: &[&Type],
        shape: Option<Shape>,
    ) -> Type {
        let nodes: Option<Vec<NodeId>> = of.iter().map(|t| t.constant).collect();
        if let Some(node) = nodes.and_then(|nodes| self.constants.map(row, &nodes).ok()) {
            let known = self.constant(node, false);
            return Type { shape: shape.or(known.shape.clone()), ..known };
        }
        let mut found = self.computed(row.name, of, shape);
        if let [one] = of {
            let (range, reached) = (one.range, one.reached);
            found.through = Some(Through { row, range, reached, of: one.identity });
        }
        if LINEAR.contains(&row) {
            self.follow(&mut found, of);
        }
        let labels = self.met_labels(of, found.shape.as_ref());
        let ranges: Vec<Range> = of.iter().map(|t| t.range).collect();
        let same = of.len() == 2 && of[0].identity == of[1].identity;
        let Some(range) = range_of(row, &ranges, same) else { return Type { labels, ..found } };
        Type { range, reached: reached(row, of, range), labels, ..found }
    }

    /// Notes of a sum, difference or product what it is a multiple of, and what in it is never finite.
    pub(super) fn follow(&self, found: &mut Type, of: &[&Type]) {
        let mut varying = of.iter().filter(|t| !t.fixed);
        if let (Some(one), None) = (varying.next(), varying.next()) {
            found.chain = one.chain.iter().copied().chain([one.identity]).collect();
        }
        let not_finite = |t: &&Type| {
            let numbers = self.numbers_of(t).unwrap_or_default();
            let own = numbers.iter().position(|x| !x.is_finite()).map(|i| (i, numbers[i]));
            own.or(t.not_finite)
        };
        found.not_finite = of.iter().find_map(not_finite);
    }

    /// The shape in which values meet element by element.
    pub(super) fn meet(
        &mut self,
        of: &[&Type],
        wrong: impl Fn(&Self) -> Diagnostic,
    ) -> Result<Option<Shape>> {
        let shapes: Option<Vec<&[Size]>> = of.iter().map(|t| t.shape.as_deref()).collect();
        let Some(shapes) = shapes else { return Ok(None) };
        let sizes = self.sizes.clone();
        let settled = sizes.settle(&shapes, self.context.open > 0, |reading| {
            let read: Vec<Shape> = shapes.iter().map(|s| read(s, reading)).collect();
            read.iter().try_fold(Shape::new(), |all, own| broadcast(&all, own)).ok_or(())
        });
        match settled {
            Settled::Holds(shape) => Ok(Some(shape)),
            Settled::ByChance(shape, (), chance) => {
                let problem = wrong(self);
                self.by_chance(problem, &chance);
                Ok(Some(shape))
            }
            Settled::Fails(()) => Err(wrong(self)),
        }
    }

    /// What the axes stand for of what comes of values that meet element by element: places that have two
    /// meanings have none.
    pub(super) fn met_labels(&self, of: &[&Type], shape: Option<&Shape>) -> Labels {
        let Some(shape) = shape else { return Labels::new() };
        let mut met: Labels = vec![None; shape.len()];
        let mut open = vec![true; shape.len()];
        for ty in of {
            let labels = ty.axes();
            let Some(before) = shape.len().checked_sub(labels.len()) else { continue };
            for (k, levels) in labels.into_iter().enumerate() {
                let Some(levels) = levels else { continue };
                let slot = &mut met[before + k];
                match slot {
                    Some(other) if *other != levels => (*slot, open[before + k]) = (None, false),
                    None if open[before + k] => *slot = Some(levels),
                    Some(_) | None => {}
                }
            }
        }
        met
    }

    fn transposed(&mut self, x: &Expr, span: Span) -> Result<Type> {
        let ty = self.expr(x)?;
        let mut labels = ty.axes();
        labels.reverse();
        let shape = match ty.shape.as_deref() {
            Some([n, m]) => Some(vec![m.clone(), n.clone()]),
            Some([n]) => Some(vec![Size::known(1), n.clone()]),
            Some([]) => Some(Vec::new()),
            Some(_) => {
                let message = format!("a matrix or a vector is needed, not {}", self.shown(&ty));
                return Err(Diagnostic::error("shape-mismatch", message).label(span, ""));
            }
            None => None,
        };
        if labels.len() == 1 {
            labels.insert(0, None);
        }
        let node = ty.constant.map(|node| self.constants.transpose(node));
        if let Some(node) = node {
            return Ok(self.constant(node, ty.integer));
        }
        let identity = self.number(format!("transpose({})", ty.identity));
        Ok(Type { shape, labels, identity, structure: None, ..ty })
    }

    fn array(&mut self, items: &[Expr], e: &Expr) -> Result<Type> {
        let values = items.iter().map(|i| self.expr(i)).collect::<Result<Vec<Type>>>()?;
        let Some(first) = values.first() else {
            return Err(
                Diagnostic::error("empty-array", "an array needs at least one element").label(e.span, "")
            );
        };
        let mut inner = first.shape.clone();
        for (value, item) in values.iter().zip(items) {
            inner = self.one_shape(inner, value, |l| {
                Diagnostic::error("shape-mismatch", "the elements of an array must have one shape")
                    .label(items[0].span, format!("this has shape {}", l.shown(&values[0])))
                    .label(item.span, format!("this has shape {}", l.shown(value)))
            })?;
        }
        let integer = values.iter().all(|v| v.integer);
        let nodes: Option<Vec<NodeId>> = values.iter().map(|v| v.constant).collect();
        if let Some(nodes) = nodes {
            let node = self.constants.stack(&nodes);
            return Ok(self.constant(node, integer));
        }
        let of: Vec<&Type> = values.iter().collect();
        let labels: Labels = std::iter::once(None).chain(self.met_labels(&of, inner.as_ref())).collect();
        let shape = inner.map(|inner| [vec![Size::known(items.len())], inner].concat());
        let range = values[1..].iter().fold(values[0].range, |all, v| all.or(v.range));
        let reached = values.iter().all(|v| v.reached);
        Ok(Type { integer, labels, range, reached, ..self.computed("array", &of, shape) })
    }

    /// The one shape that two values have.
    pub(super) fn one_shape(
        &mut self,
        known: Option<Shape>,
        value: &Type,
        wrong: impl Fn(&Self) -> Diagnostic,
    ) -> Result<Option<Shape>> {
        let (Some(a), Some(b)) = (known, value.shape.as_ref()) else { return Ok(None) };
        let sizes = self.sizes.clone();
        let settled = sizes.settle(&[&a, b], self.context.open > 0, |reading| {
            let same = |(m, n): (&Size, &Size)| {
                let (m, n) = (reading(m), reading(n));
                m.may_equal(&n).then(|| if m == Size::Any { n } else { m })
            };
            let all: Option<Shape> = a.iter().zip(b).map(same).collect();
            all.filter(|_| a.len() == b.len()).ok_or(())
        });
        match settled {
            Settled::Holds(shape) => Ok(Some(shape)),
            Settled::ByChance(shape, (), chance) => {
                let problem = wrong(self);
                self.by_chance(problem, &chance);
                Ok(Some(shape))
            }
            Settled::Fails(()) => Err(wrong(self)),
        }
    }

    /// The shape of a value as users write it.
    pub(super) fn shown(&self, ty: &Type) -> String {
        ty.shape.as_deref().map_or("unknown before there are data".into(), show)
    }

    /// Refuses an array that no memory could hold, before anything is made of it. Sizes that nobody knows yet
    /// count as one.
    fn affordable(&self, ty: &Type, span: Span) -> Result<()> {
        let Some(shape) = &ty.shape else { return Ok(()) };
        if self.least_count(shape).is_none_or(|n| n > MAX_ELEMENTS) {
            let message = format!("an array of shape {} would be too large", show(shape));
            return Err(Diagnostic::error("array-too-large", message)
                .label(span, "")
                .note(format!("an array that is computed has at most {MAX_ELEMENTS} numbers")));
        }
        Ok(())
    }

    /// The number of elements where sizes that nobody knows are one; none if it is beyond all numbers.
    pub(super) fn least_count(&self, shape: &[Size]) -> Option<i64> {
        shape.iter().try_fold(1_i64, |n, size| {
            let known =
                size.with(&|name| Some(Size::integer(self.sizes.known.get(name).copied().unwrap_or(1))));
            n.checked_mul(known.as_integer().unwrap_or(1).max(0))
        })
    }

    /// Whether an array of this shape is small enough to be computed while the model is read.
    pub(super) fn is_small(&self, shape: &[Size]) -> bool {
        let numbers: Option<Vec<i64>> = shape.iter().map(Size::as_integer).collect();
        let count = numbers.and_then(|all| all.iter().try_fold(1_i64, |n, &d| n.checked_mul(d.max(0))));
        count.is_some_and(|n| n <= MAX_FOLDED)
    }

    /// Refuses a category where numbers are needed: the places of its levels in their order mean nothing.
    pub(super) fn refuse_category(&self, ty: &Type, span: Span) -> Result<()> {
        let Some(labels) = ty.levels.as_ref().and_then(|levels| levels.listed.as_ref()) else {
            return Ok(());
        };
        if super::types::are_indices(labels) {
            return Ok(());
        }
        let label = labels.last().map_or("", String::as_str);
        Err(super::levels::category_as_number(self.text(span), label, span))
    }

    /// What axes stand for whose sizes are written so.
    pub(super) fn counted_labels<'e>(&self, sizes: impl IntoIterator<Item = &'e Expr>) -> Labels {
        let levels = |e: &Expr| -> Option<Levels> { self.names.levels(super::counted::name_of(e)?) };
        sizes.into_iter().map(levels).collect()
    }
}

/// Whether some values of the parameters bring an elementwise function near the ends of its range. What is
/// known before the fit without being known now is some finite number: it moves no infinite end of a sum, and
/// a factor that is not zero none of a product.
fn reached(row: &ScalarRow, of: &[&Type], range: Range) -> bool {
    let independent = of.iter().enumerate().all(|(k, a)| of[..k].iter().all(|b| !a.meets(b)));
    let unknown = of.iter().any(|t| t.fixed && t.constant.is_none());
    if !unknown {
        return independent && of.iter().all(|t| t.reached);
    }
    let shifts = *row == scalar::ADD || *row == scalar::SUB || *row == scalar::MUL || *row == scalar::DIV;
    let mut varying = of.iter().filter(|t| !t.fixed);
    shifts
        && range == Range::REAL
        && independent
        && varying.by_ref().any(|t| t.reached && t.range == Range::REAL)
        && (*row != scalar::DIV || of.get(1).is_some_and(|t| t.fixed))
}
