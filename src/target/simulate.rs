//! The quantities simulated at one point: predictions in their order, and between them what is computed from
//! those before.

use super::predict::{Values, generator};
use crate::graph::{Builder, NodeId};
use crate::lower::Lowered;
use crate::plan::{Plan, Workspace};
use std::collections::{HashMap, HashSet};

/// How predictions are made at a point.
pub(super) struct Simulation {
    /// Nodes whose values a prediction, or what is computed from one, needs, and that depend on none.
    pub(super) known: Vec<NodeId>,
    /// What is computed before each draw, and after the last one.
    segments: Vec<Option<Segment>>,
}

/// What is computed between two draws.
struct Segment {
    plan: Plan,
    inputs: Vec<NodeId>,
    outputs: Vec<NodeId>,
}

/// Buffers of one simulation.
pub(super) struct Buffers(Vec<Option<Workspace<f64>>>);

impl Simulation {
    /// Takes apart what the draws of a model need.
    pub(super) fn new(lowered: &Lowered) -> Self {
        let graph = &lowered.graph;
        let draws: Vec<NodeId> = lowered.predicted.iter().map(|p| p.node).collect();
        let mut wanted: Vec<NodeId> = lowered.simulated.iter().map(|n| n.node).collect();
        lowered.predicted.iter().for_each(|p| p.dist.nodes(&mut wanted));
        let needed = graph.needed(&wanted);
        let mut drawn = vec![false; graph.len()];
        draws.iter().for_each(|d| drawn[d.0 as usize] = true);
        let mut computed: Vec<Vec<NodeId>> = vec![Vec::new(); draws.len() + 1];
        let mut reads: Vec<NodeId> = wanted;
        for (id, node) in graph.iter() {
            if node.args.iter().any(|a| drawn[a.0 as usize]) {
                drawn[id.0 as usize] = true;
                if needed[id.0 as usize] {
                    computed[draws.partition_point(|&d| d < id)].push(id);
                    reads.extend(&node.args);
                }
            }
        }
        reads.sort_unstable();
        reads.dedup();
        reads.retain(|&id| !drawn[id.0 as usize] && graph.node(id).constant().is_none());
        let outside = used_outside(lowered, &computed);
        let segments = computed.iter().map(|nodes| Segment::new(lowered, nodes, &outside)).collect();
        Self { known: reads, segments }
    }

    /// Buffers for [`Simulation::run`].
    pub(super) fn buffers(&self) -> Buffers {
        Buffers(self.segments.iter().map(|s| s.as_ref().map(|s| Workspace::new(&s.plan))).collect())
    }

    /// What is simulated at a point at which the nodes known before have these values.
    pub(super) fn run(
        &self,
        lowered: &Lowered,
        z: impl Iterator<Item = f64>,
        known: HashMap<NodeId, Vec<f64>>,
        buffers: &mut Buffers,
    ) -> Vec<f64> {
        let mut values = Values { graph: &lowered.graph, at: known };
        let mut rng = generator(z);
        for (k, (segment, workspace)) in self.segments.iter().zip(&mut buffers.0).enumerate() {
            if let (Some(segment), Some(workspace)) = (segment, workspace) {
                segment.run(&mut values, workspace);
            }
            if let Some(predicted) = lowered.predicted.get(k) {
                let drawn = values.draw(predicted, &mut rng);
                values.at.insert(predicted.node, drawn);
            }
        }
        lowered.simulated.iter().flat_map(|n| values.of(n.node).to_vec()).collect()
    }
}

/// Nodes that something needs which is not computed together with them.
fn used_outside(lowered: &Lowered, computed: &[Vec<NodeId>]) -> HashSet<NodeId> {
    let mut used: Vec<NodeId> = lowered.simulated.iter().map(|n| n.node).collect();
    lowered.predicted.iter().for_each(|p| p.dist.nodes(&mut used));
    for nodes in computed {
        for id in nodes {
            let others = lowered.graph.node(*id).args.iter().filter(|a| nodes.binary_search(a).is_err());
            used.extend(others);
        }
    }
    used.into_iter().collect()
}

impl Segment {
    fn new(lowered: &Lowered, nodes: &[NodeId], outside: &HashSet<NodeId>) -> Option<Segment> {
        if nodes.is_empty() {
            return None;
        }
        let graph = &lowered.graph;
        let mut b = Builder::new();
        let mut copies: HashMap<NodeId, NodeId> = HashMap::new();
        let (mut inputs, mut length) = (Vec::new(), 0);
        for &id in nodes {
            let node = graph.node(id);
            for &arg in &node.args {
                if copies.contains_key(&arg) {
                    continue;
                }
                let source = graph.node(arg);
                let copy = match source.constant() {
                    Some(values) => b.constant(values.clone(), source.dims.clone()),
                    None => {
                        inputs.push(arg);
                        length += source.len();
                        b.input(length - source.len(), source.dims.clone())
                    }
                };
                copies.insert(arg, copy);
            }
            let args = node.args.iter().map(|a| copies[a]).collect();
            copies.insert(id, b.like(&node.op, args, node.dims.clone()));
        }
        let outputs: Vec<NodeId> = nodes.iter().copied().filter(|id| outside.contains(id)).collect();
        let roots: Vec<NodeId> = outputs.iter().map(|id| copies[id]).collect();
        Some(Segment { plan: Plan::new(&b.finish(), &roots, length), inputs, outputs })
    }

    fn run(&self, values: &mut Values, workspace: &mut Workspace<f64>) {
        let given = self.inputs.iter().flat_map(|&id| values.of(id));
        workspace.inputs(&self.plan).iter_mut().zip(given).for_each(|(to, &x)| *to = x);
        workspace.forward(&self.plan, false);
        for (r, &id) in self.outputs.iter().enumerate() {
            let count = values.graph.node(id).len();
            values.at.insert(id, (0..count).map(|i| workspace.root(&self.plan, r, i)).collect());
        }
    }
}
