//! Decides once what is computed in which order and where every number lives.

mod fresh;
mod instructions;
mod steps;
mod tiled;

use super::code::{Code, Plan, Slot};
use super::idle::Idle;
use super::program::Instruction;
use crate::facts::common_dims;
use crate::graph::{Graph, Node, NodeId, Op};
use crate::ops::array::{Design, Operator, Take};
use crate::source::Span;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

impl Plan {
    /// Schedules what the roots need. `inputs` is the number of unconstrained coordinates; inputs of the
    /// graph beyond them are data that are set before a sweep, so that one schedule serves for other data of
    /// the same shape.
    pub fn new(graph: &Graph, roots: &[NodeId], inputs: usize) -> Plan {
        Self::scheduled(graph, roots, [inputs; 2], false)
    }

    /// The same for roots whose sum is differentiated: a root that nothing else reads hands its slopes on in
    /// the forward sweep, where its arguments are at hand.
    pub fn of_sum(graph: &Graph, roots: &[NodeId], inputs: usize) -> Plan {
        Self::of_sum_in(graph, roots, inputs, inputs)
    }

    /// The same where nobody asks for derivatives beyond those in the first `asked` coordinates: the others
    /// mean nothing.
    pub fn of_sum_in(graph: &Graph, roots: &[NodeId], inputs: usize, asked: usize) -> Plan {
        Self::scheduled(graph, roots, [inputs, asked], true)
    }

    fn scheduled(graph: &Graph, roots: &[NodeId], [inputs, asked]: [usize; 2], summed: bool) -> Plan {
        let plan = Plan {
            inputs,
            asked,
            data: 0,
            steps: Vec::new(),
            values: inputs,
            buffer: 0,
            saved: 0,
            fixed: Vec::new(),
            spread: Vec::new(),
            roots: Vec::new(),
            summed,
            seeds: Vec::new(),
            cleared: Vec::new(),
            odes: Vec::new(),
            recursions: Vec::new(),
            tiles: Vec::new(),
            idle: Idle::default(),
        };
        let needed = graph.needed(roots);
        let wanted = graph.iter().filter(|(id, _)| needed[id.0 as usize]).map(|(id, _)| id).collect();
        let mut scheduler = Scheduler {
            graph,
            plan,
            wanted,
            slots: vec![None; graph.len()],
            places: vec![None; graph.len()],
            joined: vec![None; graph.len()],
            uses: graph.uses(roots),
            fused: vec![false; graph.len()],
            absorbed: vec![false; graph.len()],
            terms: vec![false; graph.len()],
            tiled: vec![None; graph.len()],
            groups: Vec::new(),
            spread: HashMap::new(),
            spread_length: 0,
        };
        scheduler.tile(roots);
        scheduler.absorb();
        scheduler.join();
        scheduler.fuse();
        scheduler.find_terms(roots);
        scheduler.run();
        scheduler.place_constants();
        let slot = |r: &NodeId| scheduler.slots[r.0 as usize].clone();
        let others = roots.iter().filter(|r| !scheduler.terms[r.0 as usize]);
        let seeds = fresh::seeds(others.filter_map(slot));
        let mut plan = Plan { roots: roots.iter().filter_map(slot).collect(), seeds, ..scheduler.plan };
        fresh::mark(&mut plan);
        plan
    }
}

/// A plan in the making.
struct Scheduler<'g> {
    graph: &'g Graph,
    plan: Plan,
    /// Nodes that some root needs, operands first.
    wanted: Vec<NodeId>,
    /// Where the numbers of a node are, once it is scheduled.
    slots: Vec<Option<Slot>>,
    /// For an element that is computed in its place within an array: the array, and how far in.
    places: Vec<Option<(NodeId, usize)>>,
    /// For an array whose elements are computed in place: where it stands, once that is decided.
    joined: Vec<Option<Option<usize>>>,
    /// How often a node is an argument or a root.
    uses: Vec<usize>,
    /// Products that are computed together with the sum that uses them.
    fused: Vec<bool>,
    /// Linear predictors that are computed by the sum that uses them.
    absorbed: Vec<bool>,
    /// Roots that hand their slopes on in the forward sweep.
    terms: Vec<bool>,
    /// The group of chains that a node is computed with, row by row.
    tiled: Vec<Option<usize>>,
    groups: Vec<tiled::Group>,
    /// Constants and data that instructions read, with their places among each other.
    spread: HashMap<NodeId, usize>,
    /// Numbers in all of these.
    spread_length: usize,
}

/// Nodes whose arguments are all scheduled, by what they wait for.
struct Queue {
    /// How many arguments of a node are not scheduled yet.
    missing: Vec<u32>,
    /// When a node comes among those that are ready.
    ranks: Vec<Rank>,
    /// Where the users of each node begin in `users`.
    first: Vec<u32>,
    users: Vec<NodeId>,
    /// Ready for the turn at hand, and for the next one.
    now: BinaryHeap<Ready>,
    next: BinaryHeap<Ready>,
}

/// When a node comes, and the node.
type Ready = Reverse<(Rank, NodeId)>;

/// The order of nodes that are ready: long chains, such as the exponential that a scale is and the logarithm
/// of its prior, run while the processor does what does not need them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// It reads nothing that others compute.
    First,
    /// It reads what others compute.
    Function,
    /// So does a sum, which is many short chains.
    Sum,
}

impl Queue {
    fn new(graph: &Graph, wanted: &[NodeId]) -> Queue {
        let mut first = vec![0u32; graph.len() + 1];
        let args = || wanted.iter().flat_map(|&id| graph.node(id).args.iter().map(move |&a| (a, id)));
        args().for_each(|(a, _)| first[a.0 as usize + 1] += 1);
        (0..graph.len()).for_each(|i| first[i + 1] += first[i]);
        let mut at = first.clone();
        let mut users = vec![NodeId(0); args().count()];
        for (a, user) in args() {
            users[at[a.0 as usize] as usize] = user;
            at[a.0 as usize] += 1;
        }
        let mut missing = vec![0; graph.len()];
        wanted.iter().for_each(|&id| missing[id.0 as usize] = graph.node(id).args.len() as u32);
        let known = |a: &NodeId| matches!(graph.node(*a).op, Op::Constant(_) | Op::Input { .. });
        let rank = |(_, node): (NodeId, &Node)| match node.op {
            _ if node.args.iter().all(known) => Rank::First,
            Op::MapSum { .. } if node.args.iter().any(|&a| graph.node(a).len() > 1) => Rank::Sum,
            _ => Rank::Function,
        };
        let ranks = graph.iter().map(rank).collect();
        let leaves = wanted.iter().filter(|id| missing[id.0 as usize] == 0);
        let now = leaves.map(|&id| Reverse((Rank::First, id))).collect();
        Queue { missing, ranks, first, users, now, next: BinaryHeap::new() }
    }

    /// Notes that a node is scheduled: what needed nothing else is ready.
    fn done(&mut self, id: NodeId) {
        for u in self.first[id.0 as usize]..self.first[id.0 as usize + 1] {
            let user = self.users[u as usize];
            let missing = &mut self.missing[user.0 as usize];
            *missing -= 1;
            if *missing == 0 {
                self.now.push(Reverse((self.ranks[user.0 as usize], user)));
            }
        }
    }

    /// The next turn begins: whether anything is ready for it.
    fn turn(&mut self) -> bool {
        self.now.append(&mut self.next);
        !self.now.is_empty()
    }
}

impl Scheduler<'_> {
    fn slot(&self, id: NodeId) -> Option<&Slot> {
        self.slots[id.0 as usize].as_ref()
    }

    /// Finds the roots that only the sum of the roots reads, and that know their slopes together with their
    /// values.
    fn find_terms(&mut self, roots: &[NodeId]) {
        for root in roots.iter().filter(|r| self.plan.summed && self.uses[r.0 as usize] == 1) {
            let sum = matches!(self.graph.node(*root).op, Op::MapSum { .. })
                || self.tiled[root.0 as usize].is_some();
            self.terms[root.0 as usize] = match self.primitive(*root) {
                Some(op) => {
                    self.places[root.0 as usize].is_none() && self.operation(*root, op).0.can_be_term()
                }
                None => sum,
            };
        }
    }

    /// Finds the linear predictors that are computed by the sum that uses them.
    fn absorb(&mut self) {
        for k in 0..self.wanted.len() {
            if let Some((predictor, _)) = self.predicted(self.graph.node(self.wanted[k])) {
                self.absorbed[predictor.0 as usize] = true;
            }
        }
    }

    /// The operator of a linear predictor that only one sum uses, and that sum can compute by itself.
    fn predictor(&self, id: NodeId) -> Option<&Arc<Operator>> {
        let alone = self.uses[id.0 as usize] == 1 && self.tiled[id.0 as usize].is_none();
        self.design(id).filter(|_| alone)
    }

    /// The operator of a linear predictor.
    fn design(&self, id: NodeId) -> Option<&Arc<Operator>> {
        let Op::Array(op) = &self.graph.node(id).op else { return None };
        Some(&op.downcast::<Design>()?.0)
    }

    /// The argument of a sum that is a linear predictor of its own, and which one it is.
    fn predicted(&self, node: &Node) -> Option<(NodeId, usize)> {
        let Op::MapSum { weighted, .. } = &node.op else { return None };
        let nodes: Vec<&Node> = node.args.iter().map(|&a| self.graph.node(a)).collect();
        let count: usize = common_dims(nodes.iter().map(|n| n.dims.as_slice())).iter().product();
        let functions = node.args.len() - usize::from(*weighted);
        (0..functions)
            .map(|k| (node.args[k], k))
            .find(|&(a, _)| self.predictor(a).is_some_and(|operator| operator.rows == count))
    }

    /// Takes turns: all arithmetic that is ready becomes one program, then everything else that is ready has
    /// its step.
    fn run(&mut self) {
        let mut queue = Queue::new(self.graph, &self.wanted);
        while queue.turn() {
            let mut code = Vec::new();
            self.take_turns(&mut queue, &mut Some(&mut code));
            if !code.is_empty() {
                let (code, parts): (Vec<Instruction>, Vec<Option<Span>>) = code.into_iter().unzip();
                self.push(Code::Program(code), Vec::new(), 0, 0, (parts[0], false));
                if let Some(step) = self.plan.steps.last_mut() {
                    step.parts = parts;
                }
            }
            queue.turn();
            self.take_turns(&mut queue, &mut None);
        }
    }

    /// Schedules whatever is ready for this turn, operands first; the rest waits for the next one.
    fn take_turns(&mut self, queue: &mut Queue, program: &mut Option<&mut Vec<(Instruction, Option<Span>)>>) {
        while let Some(ready) = queue.now.pop() {
            let Reverse((_, id)) = ready;
            match self.take_turn(id, program) {
                true => queue.done(id),
                false => queue.next.push(ready),
            }
        }
    }

    /// Schedules a node if its turn has come: arithmetic where there is a program to add to, other steps
    /// where not.
    fn take_turn(&mut self, id: NodeId, program: &mut Option<&mut Vec<(Instruction, Option<Span>)>>) -> bool {
        let node = self.graph.node(id);
        let slot = match (&node.op, program) {
            (Op::Constant(values), _) => Some(Slot::Const(values.clone())),
            (Op::Input { offset }, _) => Some(self.input(*offset, node.len())),
            (Op::Map(_) | Op::MapSum { .. } | Op::Array(_) | Op::Ode(_) | Op::Recursion(_), program) => {
                match (self.alias(id), self.primitive(id), program) {
                    (Some(slot), _, _) => Some(slot),
                    (None, Some(op), Some(program)) => {
                        let (instruction, slot) = self.instruction(id, op);
                        program.push((instruction, node.span));
                        Some(slot)
                    }
                    (None, None, None) => Some(self.step(id)),
                    (None, None, Some(_)) | (None, Some(_), None) => None,
                }
            }
        };
        self.slots[id.0 as usize] = slot;
        self.slot(id).is_some()
    }

    /// Coordinates, or data beyond them.
    fn input(&mut self, offset: usize, len: usize) -> Slot {
        match offset.checked_sub(self.plan.inputs) {
            None => Slot::Var { at: offset, len },
            Some(at) => {
                self.plan.data = self.plan.data.max(at + len);
                Slot::Data { at, len }
            }
        }
    }

    /// Where the numbers of a node already stand, if nothing must be done for it.
    fn alias(&mut self, id: NodeId) -> Option<Slot> {
        let node = self.graph.node(id);
        if self.joined[id.0 as usize].is_some() {
            let at = self.joined_at(id);
            return Some(Slot::Var { at, len: node.len() });
        }
        if self.fused[id.0 as usize] || self.within_tiles(id) {
            return Some(Slot::Var { at: 0, len: 0 });
        }
        if self.absorbed[id.0 as usize] {
            return self.slot(node.args[0]).cloned();
        }
        let Op::Array(op) = &node.op else { return None };
        let first = op.downcast::<Take>()?.consecutive()?;
        match self.slot(node.args[0])? {
            Slot::Var { at, .. } => Some(Slot::Var { at: at + first, len: node.len() }),
            Slot::Const(_) | Slot::Data { .. } => None,
        }
    }
}
