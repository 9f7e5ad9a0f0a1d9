//! The node of a recursion, and the elements that it defines.

use super::super::env::Value;
use super::super::{Coordinates, Lowerer, Result, at};
use super::body::{Start, Step};
use super::hoist::Reading;
use super::unfit;
use crate::graph::{Feed, NodeId, Op, Origin, Recursion, Sequence};

/// Most steps of a loop that is affine in what varies, where it is written out: `structure` and `rewrite`
/// make more of it.
const MOST_AFFINE: usize = 5_000;

fn size(dims: &[usize]) -> usize {
    dims.iter().product()
}

impl Lowerer<'_> {
    /// Makes the node from the lowered step. `flags` says of each sequence whether its elements are integers,
    /// and whether they come from data.
    pub(super) fn finish_recursion(
        &mut self,
        reading: &Reading,
        starts: &[Start],
        step: Step,
        way: Vec<u8>,
        flags: &[(bool, bool)],
    ) -> Result<()> {
        let shapes: Vec<Vec<usize>> =
            step.ways[0].iter().map(|v| step.builder.dims(v.node).to_vec()).collect();
        let fits = |s: usize, value: &Value| {
            let dims = step.builder.dims(value.node);
            dims == shapes[s] && (starts[s].elements.is_empty() || dims == starts[s].dims)
        };
        if !step.ways.iter().all(|way| way.iter().enumerate().all(|(s, value)| fits(s, value))) {
            return Err(unfit());
        }
        let args = self.recursion_arguments(starts, &step);
        // What depends on data alone is folded where it is written out.
        if args.iter().all(|&a| self.b.constant_of(a).is_some()) {
            return Err(unfit());
        }
        let recursion = self.assembled(reading, starts, step, &shapes, way);
        // An empty array has no place of its own among the coordinates.
        if recursion.feeds.iter().any(|feed| feed.size == 0)
            || recursion.sequences.iter().any(|s| s.size == 0)
        {
            return Err(unfit());
        }
        check_starts(&recursion, starts)?;
        let arguments = recursion.arguments();
        let varies = |k: usize| arguments[k].is_none_or(|a| self.b.constant_of(args[a]).is_none());
        let written_out = self.coordinates != Coordinates::States && recursion.steps <= MOST_AFFINE;
        if written_out && recursion.is_affine(varies) {
            return Err(unfit());
        }
        let places: Vec<usize> = (0..shapes.len()).map(|s| recursion.start(s)).collect();
        let node = at(self.b.recursion(recursion, args), reading.sequences[0].name.span)?;
        self.define_sequences(reading, node, &shapes, &places, flags)
    }

    /// What the step reads, then the elements before the first step.
    fn recursion_arguments(&mut self, starts: &[Start], step: &Step) -> Vec<NodeId> {
        let mut args: Vec<NodeId> = step.feeds.fixed.iter().chain(&step.feeds.step).copied().collect();
        for start in starts.iter().filter(|s| !s.elements.is_empty()) {
            let missing = self.b.constant(vec![0.0; size(&start.dims)], start.dims.clone());
            let nodes: Vec<NodeId> =
                start.elements.iter().map(|e| e.as_ref().map_or(missing, |v| v.node)).collect();
            args.push(self.b.concat(&nodes, vec![nodes.len() * size(&start.dims)]));
        }
        args
    }

    fn assembled(
        &self,
        reading: &Reading,
        starts: &[Start],
        step: Step,
        shapes: &[Vec<usize>],
        way: Vec<u8>,
    ) -> Recursion {
        let of = |size: usize, origin: Origin| Feed { size, origin };
        let fixed = step.feeds.fixed.iter().map(|&n| of(size(self.b.dims(n)), Origin::Fixed));
        let each = step.feeds.step.iter().map(|&n| of(size(&self.b.dims(n)[1..]), Origin::Step));
        let earlier = step.feeds.earlier.iter();
        let earlier = earlier
            .map(|&(sequence, lag)| of(size(&starts[sequence].dims), Origin::Earlier { sequence, lag }));
        let sequences = shapes.iter().zip(&reading.sequences);
        Recursion {
            steps: reading.steps.count,
            feeds: fixed.chain(each).chain(earlier).collect(),
            sequences: sequences.map(|(dims, s)| Sequence { size: size(dims), lags: s.lags }).collect(),
            ways: step.ways.iter().map(|way| way.iter().map(|v| v.node).collect()).collect(),
            way,
            graph: step.builder.finish(),
        }
    }

    /// Defines the elements of every sequence from the node, whose numbers of a sequence begin at its place.
    fn define_sequences(
        &mut self,
        reading: &Reading,
        node: NodeId,
        shapes: &[Vec<usize>],
        places: &[usize],
        flags: &[(bool, bool)],
    ) -> Result<()> {
        let steps = reading.steps.count;
        for (k, (defined, dims)) in reading.sequences.iter().zip(shapes).enumerate() {
            let (first, lags, name) = (defined.first as usize, defined.lags, &defined.name.name);
            let singles = self.env.elements(name).singles_before(first, lags);
            let before = if singles == lags { lags } else { 0 };
            let from = places[k] + (lags - before) * size(dims);
            let count = (before + steps) * size(dims);
            let whole = [&[before + steps], &dims[..]].concat();
            let node = self.b.take(node, (from as u32..(from + count) as u32).collect(), whole);
            let (integer, from_data) = flags[k];
            let value = Value::plain(node, integer, from_data);
            self.env.elements(name).define_after(name, first, before, (value, steps), defined.name.span)?;
        }
        Ok(())
    }
}

/// Refuses a step that reads an element before the first step that nobody has defined.
fn check_starts(recursion: &Recursion, starts: &[Start]) -> Result<()> {
    let missing = |sequence: usize, k: usize| starts[sequence].elements[k].is_none();
    if starts.iter().all(|s| s.elements.iter().all(Option::is_some)) {
        return Ok(());
    }
    let offsets = recursion.offsets();
    for (w, roots) in recursion.ways.iter().enumerate() {
        let needed = recursion.graph.needed(roots);
        for (_, node) in recursion.graph.iter().filter(|(id, _)| needed[id.0 as usize]) {
            let Op::Input { offset } = node.op else { continue };
            let Some(feed) = offsets.iter().position(|&o| o == offset) else { continue };
            let Origin::Earlier { sequence, lag } = recursion.feeds[feed].origin else { continue };
            let lags = recursion.sequences[sequence].lags;
            let reads = |step: usize| recursion.way_of(step) == w && missing(sequence, lags + step - lag);
            if (0..lag.min(recursion.steps)).any(reads) {
                return Err(unfit());
            }
        }
    }
    Ok(())
}
