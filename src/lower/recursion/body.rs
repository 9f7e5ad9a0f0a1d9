//! The step of a recursion as a graph of its own, lowered once for each way that steps go.

use super::super::env::{Binding, Value};
use super::super::{Lowerer, Result};
use super::hoist::{Found, Place, Reading};
use super::unfit;
use crate::graph::{Builder, NodeId};
use crate::syntax::ast::{Expr, ExprKind, ForLoop, Stmt, StmtKind};
use std::collections::HashMap;

/// Most ways in which steps may go.
const MOST_WAYS: usize = 16;

/// What the step reads from outside while it is lowered.
#[derive(Clone)]
pub(in crate::lower) struct Inside {
    known: HashMap<Place, Inner>,
    /// Earlier elements, by sequence and lag.
    earlier: HashMap<(usize, usize), Value>,
    /// The elements of this step, once they are defined.
    current: Vec<Option<Value>>,
}

/// What an expression is in the step.
#[derive(Clone)]
enum Inner {
    Value(Value),
    Earlier { sequence: usize, lags: Vec<usize>, stacked: bool },
}

/// The elements of a sequence before the first step.
pub(super) struct Start {
    /// The oldest first; None where there is none, and none is read.
    pub(super) elements: Vec<Option<Value>>,
    pub(super) dims: Vec<usize>,
}

/// What the nodes of the step read, and from where.
#[derive(Default)]
pub(super) struct Feeds {
    pub(super) fixed: Vec<NodeId>,
    pub(super) step: Vec<NodeId>,
    pub(super) earlier: Vec<(usize, usize)>,
}

/// A lowered step.
pub(super) struct Step {
    pub(super) builder: Builder,
    pub(super) feeds: Feeds,
    pub(super) ways: Vec<Vec<Value>>,
}

/// The conditions of a step that hold and those that do not, as far as they are met.
type Way = Vec<(Place, bool)>;

impl Lowerer<'_> {
    /// One node for a loop whose statements need each other.
    pub(super) fn recursion(&mut self, f: &ForLoop, from: i64, to: i64) -> Result<()> {
        self.env.push();
        let reading = self.read_loop(f, from, to);
        self.env.pop();
        let reading = reading?;
        let starts = self.starts(&reading)?;
        let (ways, way) = ways(f, &reading)?;
        // Whether elements are integers, and come from data, shows in the next ones.
        let known = |s: &Start| s.elements.iter().flatten().cloned().collect::<Vec<Value>>();
        let mut flags: Vec<(bool, bool)> = starts
            .iter()
            .map(|s| (known(s).iter().all(|v| v.integer), known(s).iter().any(|v| v.from_data)))
            .collect();
        loop {
            let step = self.step(f, &reading, &starts, &ways, &flags)?;
            let mut next = flags.clone();
            for (value, flag) in step.ways.iter().flat_map(|way| way.iter().zip(0..)) {
                next[flag] = (next[flag].0 && value.integer, next[flag].1 || value.from_data);
            }
            if next == flags {
                return self.finish_recursion(&reading, &starts, step, way, &flags);
            }
            flags = next;
        }
    }

    /// The elements before the first step that steps read.
    fn starts(&mut self, reading: &Reading) -> Result<Vec<Start>> {
        let mut starts = Vec::with_capacity(reading.sequences.len());
        for s in &reading.sequences {
            let name = &s.name.name;
            if self.env.elements(name).rank() > 1 {
                return Err(unfit());
            }
            let places = (0..s.lags).map(|k| s.first - (s.lags - k) as i64);
            let mut elements = Vec::with_capacity(s.lags);
            for place in places {
                let found = match usize::try_from(place) {
                    Ok(i) if i > 0 => self.env.elements(name).get(&[i], &mut self.b),
                    _ => None,
                };
                elements.push(found);
            }
            let mut shapes = elements.iter().flatten().map(|v| self.b.dims(v.node).to_vec());
            let dims = shapes.next().unwrap_or_default();
            if shapes.any(|other| other != dims) {
                return Err(unfit());
            }
            starts.push(Start { elements, dims });
        }
        Ok(starts)
    }

    /// Lowers the step in a graph of its own, once for each way it may go.
    fn step(
        &mut self,
        f: &ForLoop,
        reading: &Reading,
        starts: &[Start],
        ways: &[Way],
        flags: &[(bool, bool)],
    ) -> Result<Step> {
        let feeds = self.feeds(reading);
        let mut inner = Builder::new();
        let inside = self.bind_feeds(reading, starts, flags, &feeds, &mut inner);
        std::mem::swap(&mut self.b, &mut inner);
        let sizes = self.env.move_sizes(&inner, &mut self.b);
        let mut results = Vec::with_capacity(ways.len());
        let mut done = Ok(());
        for way in ways {
            self.inside = Some(Inside { current: vec![None; starts.len()], ..inside.clone() });
            self.env.push();
            done = self.step_block(&f.body, reading, way);
            self.env.pop();
            let current = self.inside.take().map(|i| i.current).unwrap_or_default();
            match current.into_iter().collect::<Option<Vec<Value>>>() {
                Some(values) if done.is_ok() => results.push(values),
                _ => done = done.and(Err(unfit())),
            }
            if done.is_err() {
                break;
            }
        }
        std::mem::swap(&mut self.b, &mut inner);
        self.env.restore_sizes(sizes);
        done.map(|()| Step { builder: inner, feeds, ways: results })
    }

    fn feeds(&self, reading: &Reading) -> Feeds {
        let mut feeds = Feeds::default();
        for found in reading.found.values() {
            match found {
                Found::Fixed(v) if self.b.constant_of(v.node).is_none() => feeds.fixed.push(v.node),
                Found::Fixed(_) => {}
                Found::Step(v) => feeds.step.push(v.node),
                Found::Earlier { sequence, lags, .. } => {
                    feeds.earlier.extend(lags.iter().filter(|lag| **lag > 0).map(|lag| (*sequence, *lag)));
                }
            }
        }
        feeds.fixed.sort_unstable();
        feeds.fixed.dedup();
        feeds.step.sort_unstable();
        feeds.step.dedup();
        feeds.earlier.sort_unstable();
        feeds.earlier.dedup();
        feeds
    }

    /// Coordinates of the step for everything that it reads.
    fn bind_feeds(
        &self,
        reading: &Reading,
        starts: &[Start],
        flags: &[(bool, bool)],
        feeds: &Feeds,
        inner: &mut Builder,
    ) -> Inside {
        let mut offset = 0;
        let mut input = |inner: &mut Builder, dims: &[usize]| {
            offset += dims.iter().product::<usize>();
            inner.input(offset - dims.iter().product::<usize>(), dims.to_vec())
        };
        let mut nodes: HashMap<(NodeId, bool), NodeId> = HashMap::new();
        for &node in &feeds.fixed {
            nodes.insert((node, false), input(inner, self.b.dims(node)));
        }
        for &node in &feeds.step {
            nodes.insert((node, true), input(inner, &self.b.dims(node)[1..]));
        }
        let mut earlier = HashMap::new();
        for &(sequence, lag) in &feeds.earlier {
            let node = input(inner, &starts[sequence].dims);
            let (integer, from_data) = flags[sequence];
            earlier.insert((sequence, lag), Value::plain(node, integer, from_data));
        }
        let mut known = HashMap::new();
        for (&place, found) in &reading.found {
            let value = match found {
                Found::Fixed(v) => match self.b.constant_of(v.node) {
                    Some(numbers) => {
                        let node = inner.constant(numbers.clone(), self.b.dims(v.node).to_vec());
                        Inner::Value(Value { node, ..v.clone() })
                    }
                    None => Inner::Value(Value { node: nodes[&(v.node, false)], ..v.clone() }),
                },
                Found::Step(v) => Inner::Value(Value { node: nodes[&(v.node, true)], ..v.clone() }),
                Found::Earlier { sequence, lags, stacked } => {
                    Inner::Earlier { sequence: *sequence, lags: lags.clone(), stacked: *stacked }
                }
            };
            known.insert(place, value);
        }
        Inside { known, earlier, current: Vec::new() }
    }

    fn step_block(&mut self, block: &[Stmt], reading: &Reading, way: &Way) -> Result<()> {
        for stmt in block {
            self.b.set_span(Some(stmt.span));
            match &stmt.kind {
                StmtKind::Let(l) if l.indices.is_empty() => {
                    if reading.computed.contains(&l.name.span.start) {
                        let value = self.expr(&l.value)?;
                        self.env.set(&l.name.name, Binding::Value(value));
                    }
                }
                StmtKind::Let(l) => {
                    let value = self.expr(&l.value)?;
                    let sequence = reading.sequences.iter().position(|s| s.name.name == l.name.name);
                    let current = self.inside.as_mut().map(|inside| &mut inside.current);
                    let slot = current.zip(sequence).and_then(|(current, s)| current.get_mut(s));
                    match slot {
                        Some(slot @ None) => *slot = Some(value),
                        Some(Some(_)) | None => return Err(unfit()),
                    }
                }
                StmtKind::If(i) => {
                    let place: Place = &i.condition;
                    let (_, truth) = way.iter().find(|(p, _)| *p == place).ok_or_else(unfit)?;
                    self.step_block(if *truth { &i.then } else { &i.otherwise }, reading, way)?;
                }
                _ => return Err(unfit()),
            }
        }
        Ok(())
    }

    /// The value in the step of an expression that the step does not compute; None of one that it does.
    pub(in crate::lower) fn inside_value(&mut self, e: &Expr) -> Result<Option<Value>> {
        let place: Place = e;
        let Some(inside) = &self.inside else { return Ok(None) };
        let (sequence, lags, stacked) = match inside.known.get(&place) {
            None => return Ok(None),
            Some(Inner::Value(value)) => return Ok(Some(value.clone())),
            Some(Inner::Earlier { sequence, lags, stacked }) => (*sequence, lags.clone(), *stacked),
        };
        let element = |lag: &usize| match lag {
            0 => inside.current[sequence].clone(),
            _ => inside.earlier.get(&(sequence, *lag)).cloned(),
        };
        let values: Vec<Value> = lags.iter().map(element).collect::<Option<_>>().ok_or_else(unfit)?;
        let nodes: Vec<NodeId> = values.iter().map(|v| v.node).collect();
        let node = if stacked { self.b.stack(&nodes) } else { nodes[0] };
        let (integer, from_data) = (values.iter().all(|v| v.integer), values.iter().any(|v| v.from_data));
        let value = Value::plain(node, integer, from_data);
        let ExprKind::Index { base, indices } = &e.kind else { return Err(unfit()) };
        if indices.len() == 1 {
            return Ok(Some(value));
        }
        if stacked {
            return Err(unfit());
        }
        self.index_value(value, base, &indices[1..], e.span).map(Some)
    }
}

/// The ways that steps go, by the conditions they meet, and the way of each step; none if all go the same.
fn ways(f: &ForLoop, reading: &Reading) -> Result<(Vec<Way>, Vec<u8>)> {
    let mut ways: Vec<Way> = Vec::new();
    let mut way = Vec::with_capacity(reading.steps.count);
    for step in 0..reading.steps.count {
        let mut met = Vec::new();
        conditions_met(&f.body, reading, step, &mut met);
        let known = ways.iter().position(|w| *w == met);
        way.push(known.unwrap_or(ways.len()) as u8);
        if known.is_none() {
            ways.push(met);
        }
        if ways.len() > MOST_WAYS {
            return Err(unfit());
        }
    }
    if ways.len() == 1 {
        way.clear();
    }
    Ok((ways, way))
}

fn conditions_met(block: &[Stmt], reading: &Reading, step: usize, met: &mut Way) {
    for stmt in block {
        let StmtKind::If(i) = &stmt.kind else { continue };
        let place: Place = &i.condition;
        let truth = reading.conditions.get(&place).is_some_and(|all| all[step]);
        met.push((place, truth));
        conditions_met(if truth { &i.then } else { &i.otherwise }, reading, step, met);
    }
}
