//! A compiled model as a target: what the language's front end gives to inference.

use super::simulate::{Buffers, Simulation};
use super::{Curvature, Evaluator, Target, Trouble};
use crate::certify::{Certificate, Tier, certify};
use crate::data::Dataset;
use crate::graph::{Builder, Graph, Node, NodeId};
use crate::lower::{Coordinates, Form, Lowered, Named, Parameter, Term, TermKind, lower, lower_with};
use crate::num::real::{Dual, F16, Packed};
use crate::ops::operand::Arg;
use crate::plan::{Draws, Plan, StepCost, Sweep, Workspace, profile};
use crate::rewrite::{Rule, branches, join_coordinates, rewrite, summands};
use crate::source::Checked;
use crate::structure::{Separable, separate};
use crate::syntax::ast::Program;
use std::ops::Deref;
use std::sync::OnceLock;

/// A model with its data inside, ready to evaluate.
pub struct ModelTarget {
    lowered: Lowered,
    rewritten: Rewritten,
    density: Plan,
    /// Parameters and derived quantities, then what the simulation needs to know.
    outputs: Plan,
    simulation: Simulation,
    certificate: OnceLock<Certificate>,
    limits: Vec<(usize, [f64; 2])>,
}

/// Most parts of a mixture that a search for modes looks at by themselves.
const MOST_BRANCHES: usize = 32;

/// A log density after rules: the graph, the terms that it is the sum of, and what each belongs to.
pub(super) struct Rewritten {
    pub(super) graph: Graph,
    pub(super) terms: Vec<NodeId>,
    kinds: Vec<TermKind>,
}

/// The log density at a point, by what its terms belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Split {
    /// Statements about latents.
    pub prior: f64,
    /// Statements about data.
    pub likelihood: f64,
    /// The change of variables.
    pub jacobian: f64,
}

impl Split {
    /// The whole log density on the unconstrained scale.
    pub fn total(&self) -> f64 {
        self.prior + self.likelihood + self.jacobian
    }
}

impl ModelTarget {
    /// Parses, checks, binds and compiles.
    ///
    /// ```
    /// use stickler::data::Dataset;
    /// use stickler::target::{ModelTarget, Target};
    /// let data = Dataset::from_texts(&[("data.csv", "y\n1.0\n2.0\n")]).unwrap();
    /// let text = "data { y : real[N] }\nparam mu ~ normal(0, 1)\ny ~ normal(mu, 1)";
    /// let model = ModelTarget::new(text, &data).unwrap();
    /// assert_eq!(model.dimension(), 1);
    /// ```
    pub fn new(source: &str, data: &Dataset) -> Checked<ModelTarget> {
        let program = crate::syntax::parse(source)?;
        Ok(Self::from_lowered(lower(&program, source, data)?))
    }

    /// Compiles a parsed model with a choice of coordinates for its hierarchical effects.
    pub fn with_coordinates(
        program: &Program,
        source: &str,
        data: &Dataset,
        coordinates: Coordinates,
    ) -> Checked<ModelTarget> {
        Ok(Self::from_lowered(lower_with(program, source, data, coordinates)?))
    }

    /// The values of nodes at a point, one after another.
    pub fn values(&self, nodes: &[NodeId], z: &[f64]) -> Vec<Vec<f64>> {
        let plan = Plan::new(&self.lowered.graph, nodes, self.lowered.dimension);
        let mut workspace = Workspace::<f64>::new(&plan);
        workspace.inputs(&plan).copy_from_slice(z);
        workspace.forward(&plan, false);
        let sizes = plan.root_sizes();
        sizes
            .iter()
            .enumerate()
            .map(|(r, &n)| (0..n).map(|i| workspace.root(&plan, r, i)).collect())
            .collect()
    }

    /// Whether something in the log density overflows at a point: a value that is infinite or no number.
    /// Minus infinity is no overflow, but a density of zero.
    pub fn overflows(&self, z: &[f64]) -> bool {
        let graph = &self.lowered.graph;
        let needed = graph.needed(&self.term_nodes());
        let varies = |(id, node): &(NodeId, &Node)| needed[id.0 as usize] && node.constant().is_none();
        let nodes: Vec<NodeId> = graph.iter().filter(varies).map(|(id, _)| id).collect();
        self.values(&nodes, z).iter().flatten().any(|x| x.is_nan() || *x == f64::INFINITY)
    }

    /// For each parameter and derived quantity whether it is known to lie between two numbers, whatever the
    /// draw.
    pub fn bounded_outputs(&self) -> Vec<bool> {
        let mut b = Builder::from_graph(self.lowered.graph.clone());
        let between = |n: &Named| {
            let range = b.range(n.node);
            vec![range.low.at.is_finite() && range.high.at.is_finite(); self.lowered.graph.node(n.node).len()]
        };
        reported(&self.lowered).flat_map(between).collect()
    }

    /// Whether value and slopes of each term of the log density are numbers at a point.
    pub fn finite_terms(&self, z: &[f64]) -> Vec<[bool; 2]> {
        let finite = |term: &Term| {
            let plan = Plan::of_sum(&self.lowered.graph, &[term.node], self.lowered.dimension);
            let (mut value, mut gradient) = ([0.0], vec![0.0; z.len()]);
            PlanEvaluator::new(&plan).evaluate(z, 1, &mut value, &mut gradient);
            [value[0].is_finite(), gradient.iter().all(|g| g.is_finite())]
        };
        self.lowered.terms.iter().map(finite).collect()
    }

    /// Rewrites and schedules a lowered model.
    pub fn from_lowered(lowered: Lowered) -> ModelTarget {
        Self::with_rules(lowered, crate::rewrite::TABLE)
    }

    /// Schedules a lowered model after these rules alone; without any, the graph is computed as it was
    /// written.
    pub fn with_rules(lowered: Lowered, rules: &[&Rule]) -> ModelTarget {
        let rewritten = Rewritten::of(&lowered, rules);
        let density = Plan::of_sum(&rewritten.graph, &rewritten.terms, lowered.dimension);
        let simulation = Simulation::new(&lowered);
        let roots: Vec<NodeId> =
            reported(&lowered).map(|n| n.node).chain(simulation.known.iter().copied()).collect();
        let outputs = Plan::new(&lowered.graph, &roots, lowered.dimension);
        ModelTarget {
            lowered,
            rewritten,
            density,
            outputs,
            simulation,
            certificate: OnceLock::new(),
            limits: Vec::new(),
        }
    }

    /// The same with limits of coordinates that its log density says nothing of.
    pub fn within(self, limits: Vec<(usize, [f64; 2])>) -> ModelTarget {
        ModelTarget { limits, ..self }
    }

    /// The graph and what it means.
    pub fn lowered(&self) -> &Lowered {
        &self.lowered
    }

    /// What is certain about the log density; read off the graph when it is first asked for.
    pub fn certificate(&self) -> &Certificate {
        self.certificate.get_or_init(|| certify(&self.lowered))
    }

    /// What the schedule of the log density is of.
    pub(super) fn rewritten(&self) -> &Rewritten {
        &self.rewritten
    }

    /// The schedule of the log density.
    pub fn plan(&self) -> &Plan {
        &self.density
    }

    /// Number of parameters and derived quantities, element by element.
    fn reported_count(&self) -> usize {
        let roots = self.outputs.root_sizes();
        roots[..roots.len() - self.simulation.known.len()].iter().sum()
    }

    /// Every simulated quantity at a point where the outputs have these values.
    fn simulated(
        &self,
        z: impl Iterator<Item = f64>,
        output: impl Fn(usize) -> f64,
        buffers: &mut Buffers,
    ) -> Vec<f64> {
        let graph = &self.lowered.graph;
        let mut place = self.reported_count();
        let mut known = std::collections::HashMap::new();
        for &id in &self.simulation.known {
            let size = graph.node(id).len();
            known.insert(id, (place..place + size).map(&output).collect());
            place += size;
        }
        self.simulation.run(&self.lowered, z, known, buffers)
    }

    /// The log density at one point, term by term kind.
    pub fn split(&self, z: &[f64]) -> Split {
        let mut workspace = Workspace::<f64>::new(&self.density);
        workspace.inputs(&self.density).copy_from_slice(z);
        workspace.forward(&self.density, false);
        let mut split = Split::default();
        for (i, kind) in self.rewritten.kinds.iter().enumerate() {
            let into = match kind {
                TermKind::Prior => &mut split.prior,
                TermKind::Likelihood => &mut split.likelihood,
                TermKind::Jacobian => &mut split.jacobian,
            };
            *into += workspace.root(&self.density, i, 0);
        }
        split
    }
}

impl Rewritten {
    fn of(lowered: &Lowered, rules: &[&Rule]) -> Rewritten {
        let (roots, mut kinds): (Vec<NodeId>, Vec<TermKind>) =
            lowered.terms.iter().map(|t| (t.node, t.kind)).unzip();
        let (graph, mut terms) = rewrite(lowered.graph.clone(), &roots, lowered.dimension, rules);
        let graph = if rules.is_empty() { graph } else { settle(graph, &mut terms, &mut kinds) };
        Rewritten { graph, terms, kinds }
    }
}

/// Makes every summand a term of its own, joins normal priors of coordinates side by side, and puts the sum
/// of the constants beside them, one for each kind: neither the sums nor the constants cost a step then.
fn settle(graph: Graph, terms: &mut Vec<NodeId>, kinds: &mut Vec<TermKind>) -> Graph {
    let (nodes, constants) = summands(&graph, terms);
    let of_roots = std::mem::replace(kinds, nodes.iter().map(|(_, place)| kinds[*place]).collect());
    *terms = nodes.into_iter().map(|(node, _)| node).collect();
    let mut b = Builder::from_graph(graph);
    join_coordinates(&mut b, terms, kinds);
    for kind in [TermKind::Prior, TermKind::Likelihood, TermKind::Jacobian] {
        let of_kind = of_roots.iter().zip(&constants).filter(|(k, _)| **k == kind);
        let sum: f64 = of_kind.map(|(_, c)| c).sum();
        if sum != 0.0 {
            terms.push(b.number(sum));
            kinds.push(kind);
        }
    }
    b.finish()
}

/// Parameters, then derived quantities.
fn reported(lowered: &Lowered) -> impl Iterator<Item = &Named> {
    lowered.parameters.iter().map(|p| &p.named).chain(&lowered.derived)
}

/// `theta[Hennepin, 2]` for each element, first axis slowest.
fn element_names(name: &str, dims: &[usize], labels: &[Option<std::sync::Arc<[String]>>]) -> Vec<String> {
    if dims.is_empty() {
        return vec![name.to_string()];
    }
    (0..dims.iter().product())
        .map(|flat| {
            let mut rest: usize = flat;
            let mut index = vec![String::new(); dims.len()];
            for k in (0..dims.len()).rev() {
                let i = rest % dims[k];
                rest /= dims[k];
                let label = labels.get(k).and_then(Option::as_ref).and_then(|l| l.get(i));
                index[k] = label.cloned().unwrap_or_else(|| (i + 1).to_string());
            }
            format!("{name}[{}]", index.join(","))
        })
        .collect()
}

impl Target for ModelTarget {
    fn dimension(&self) -> usize {
        self.lowered.dimension
    }

    fn limits(&self) -> &[(usize, [f64; 2])] {
        &self.limits
    }

    fn elements(&self) -> usize {
        let (graph, terms) = (&self.lowered.graph, self.term_nodes());
        let needed = graph.needed(&terms);
        let varies = |node: &Node| node.constant().is_none();
        let nodes = graph.iter().filter(|(id, node)| needed[id.0 as usize] && varies(node));
        nodes.map(|(_, node)| node.len()).sum()
    }

    fn curvature(&self, inner: &[usize]) -> Option<Curvature> {
        self.curvature_of(inner)
    }

    fn separable(&self) -> Option<Separable> {
        separate(&self.lowered.graph, &self.term_nodes(), self.lowered.dimension)
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        Box::new(PlanEvaluator::new(&self.density))
    }

    fn is_gaussian(&self) -> bool {
        self.certificate().tier == Tier::Exact
    }

    fn branches(&self) -> Vec<Box<dyn Target + '_>> {
        let planned = |(graph, roots): (Graph, Vec<NodeId>)| {
            Box::new(Part(Plan::of_sum(&graph, &roots, self.lowered.dimension))) as Box<dyn Target>
        };
        branches(&self.lowered.graph, &self.term_nodes(), MOST_BRANCHES).into_iter().map(planned).collect()
    }

    fn trouble(&self, z: &[f64]) -> Option<Trouble> {
        self.find_trouble(z)
    }

    fn operations(&self) -> usize {
        self.density.operations()
    }

    fn zeros(&self) -> Vec<f64> {
        let d = self.lowered.dimension;
        let is_affine = |form: &Form| form.transform_name() == "affine";
        let affine: Vec<&Parameter> = self.lowered.parameters.iter().filter(|p| is_affine(&p.form)).collect();
        let mut out = vec![0.0; d];
        if affine.is_empty() {
            return out;
        }
        let nodes: Vec<NodeId> = affine.iter().map(|p| p.named.node).collect();
        let (at_zero, at_one) = (self.values(&nodes, &out), self.values(&nodes, &vec![1.0; d]));
        for (parameter, (a, b)) in affine.iter().zip(at_zero.iter().zip(&at_one)) {
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                let zero = a / (a - b);
                out[parameter.offset + i] = if zero.is_finite() { zero } else { 0.0 };
            }
        }
        out
    }

    fn solves_equations(&self) -> bool {
        self.density.solves_equations()
    }

    fn prior(&self) -> Option<Box<dyn Target + '_>> {
        let terms = self.lowered.terms.iter().filter(|t| t.kind != TermKind::Likelihood);
        let terms: Vec<NodeId> = terms.map(|t| t.node).collect();
        Some(Box::new(Part(Plan::of_sum(&self.lowered.graph, &terms, self.lowered.dimension))))
    }

    fn coordinate_names(&self) -> Vec<String> {
        let names = self.lowered.parameters.iter().flat_map(|p| {
            let dims = self.lowered.graph.node(p.named.node).dims.clone();
            if dims.iter().product::<usize>() == p.size {
                element_names(&p.named.name, &dims, &p.named.labels)
            } else {
                element_names(&p.named.name, &[p.size], &[])
            }
        });
        names.collect()
    }

    fn output_names(&self) -> Vec<String> {
        let graph = &self.lowered.graph;
        reported(&self.lowered)
            .chain(&self.lowered.simulated)
            .flat_map(|n| element_names(&n.name, &graph.node(n.node).dims, &n.labels))
            .collect()
    }

    fn beside(&self) -> usize {
        let others = self.lowered.derived.iter().chain(&self.lowered.simulated);
        others.map(|n| self.lowered.graph.node(n.node).len()).sum()
    }

    fn constrain(&self, z: &[f64]) -> Vec<f64> {
        let mut workspace = Workspace::<f64>::new(&self.outputs);
        workspace.inputs(&self.outputs).copy_from_slice(z);
        workspace.forward(&self.outputs, false);
        let sizes = self.outputs.root_sizes();
        let mut out: Vec<f64> = sizes
            .iter()
            .enumerate()
            .flat_map(|(r, &n)| (0..n).map(move |i| (r, i)))
            .map(|(r, i)| workspace.root(&self.outputs, r, i))
            .collect();
        let drawn = match self.lowered.predicted.is_empty() {
            true => Vec::new(),
            false => self.simulated(z.iter().copied(), |j| out[j], &mut self.simulation.buffers()),
        };
        out.truncate(self.reported_count());
        out.extend(drawn);
        out
    }

    fn constrain_batch(&self, z: &[f64], draws: usize) -> Vec<f64> {
        let plan = &self.outputs;
        let sizes = plan.root_sizes();
        let mut out = vec![0.0; sizes.iter().sum::<usize>() * draws];
        let mut workspace = plan.take_buffers();
        for first in (0..draws).step_by(F16::WIDTH) {
            let width = F16::WIDTH.min(draws - first);
            let inputs = F16::flat_mut(workspace.inputs(plan)).chunks_exact_mut(F16::WIDTH);
            for (input, z) in inputs.zip(z.chunks_exact(draws)) {
                input[..width].copy_from_slice(&z[first..first + width]);
                input[width..].fill(z[first + width - 1]);
            }
            workspace.forward(plan, false);
            let mut outputs = out.chunks_exact_mut(draws);
            for root in 0..sizes.len() {
                match workspace.root_values(plan, root) {
                    Arg::Const(numbers) => {
                        numbers.iter().zip(&mut outputs).for_each(|(x, to)| to[first..first + width].fill(*x))
                    }
                    Arg::Var(numbers) => F16::flat(numbers)
                        .chunks_exact(F16::WIDTH)
                        .zip(&mut outputs)
                        .for_each(|(x, to)| to[first..first + width].copy_from_slice(&x[..width])),
                }
            }
        }
        plan.give_back(workspace);
        if self.lowered.predicted.is_empty() {
            return out;
        }
        let d = self.dimension();
        let mut buffers = self.simulation.buffers();
        let rows: Vec<Vec<f64>> = (0..draws)
            .map(|b| self.simulated((0..d).map(|i| z[i * draws + b]), |j| out[j * draws + b], &mut buffers))
            .collect();
        out.truncate(self.reported_count() * draws);
        let count = rows.first().map_or(0, Vec::len);
        out.extend((0..count).flat_map(|j| rows.iter().map(move |row| row[j])));
        out
    }
}

/// A part of what a model says, such as what it says before it sees data.
struct Part(Plan);

impl Target for Part {
    fn dimension(&self) -> usize {
        self.0.inputs()
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        Box::new(PlanEvaluator::new(&self.0))
    }
}

/// Evaluates the sum of a plan's roots, with buffers for one thread that are taken when first needed.
pub struct PlanEvaluator<P: Deref<Target = Plan>> {
    plan: P,
    data: Vec<f64>,
    one: Option<Workspace<f64>>,
    wide: Option<Workspace<F16>>,
    dual: Option<Workspace<Dual>>,
}

/// How often a profile runs each step.
const PROFILE_ROUNDS: usize = 50;

/// Fewest draws of an incomplete batch for which all lanes are worth running.
const WORTH_LANES: usize = 3;

impl<P: Deref<Target = Plan>> PlanEvaluator<P> {
    /// For a plan; its data are zero until they are set.
    pub fn new(plan: P) -> Self {
        PlanEvaluator { data: vec![0.0; plan.data()], plan, one: None, wide: None, dual: None }
    }

    /// What the plan reads besides the coordinates.
    pub fn data(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// Runs `width` draws from `first` on, and hands each draw's lane to the buffers.
    fn run<T: Sweep>(
        (plan, data): (&Plan, &[f64]),
        workspace: &mut Workspace<T>,
        z: &[f64],
        draws: usize,
        first: usize,
        log_density: &mut [f64],
        gradient: Option<&mut [f64]>,
    ) {
        let width = T::WIDTH.min(draws - first);
        if !data.is_empty() {
            workspace.data().copy_from_slice(data);
        }
        if width == T::WIDTH && !T::TANGENT {
            let mut draws = Draws { z, count: draws, first, log_density, gradient };
            return workspace.evaluate(plan, &mut draws);
        }
        for (input, z) in workspace.inputs(plan).iter_mut().zip(z.chunks_exact(draws)) {
            let z = &z[first..first + width];
            (0..T::WIDTH).for_each(|lane| input.set_lane(lane, z[lane.min(width - 1)]));
        }
        workspace.forward(plan, gradient.is_some());
        let total = workspace.total(plan);
        (0..width).for_each(|lane| log_density[first + lane] = total.lane(lane));
        let Some(gradient) = gradient else { return };
        workspace.reverse(plan);
        for (g, to) in workspace.gradient(plan).iter().zip(gradient.chunks_exact_mut(draws)) {
            to[first..first + width].iter_mut().enumerate().for_each(|(lane, to)| *to = g.lane(lane));
        }
    }

    fn sweep(&mut self, z: &[f64], draws: usize, log_density: &mut [f64], mut gradient: Option<&mut [f64]>) {
        let plan = &*self.plan;
        let numbers = plan.inputs() * draws;
        assert!(
            z.len() >= numbers,
            "{} coordinates, and {draws} draws of this model have {numbers}",
            z.len()
        );
        assert!(log_density.len() >= draws, "room for {} log densities of {draws} draws", log_density.len());
        let room = gradient.as_ref().map_or(numbers, |g| g.len());
        assert!(
            room >= numbers,
            "room for {room} numbers of the gradients of {draws} draws, which have {numbers}"
        );
        let mut first = 0;
        while first < draws {
            let gradient = gradient.as_deref_mut();
            if draws - first >= WORTH_LANES {
                let workspace = self.wide.get_or_insert_with(|| plan.take_buffers());
                Self::run((plan, &self.data), workspace, z, draws, first, log_density, gradient);
                first += F16::WIDTH;
            } else {
                let workspace = self.one.get_or_insert_with(|| Workspace::new(plan));
                Self::run((plan, &self.data), workspace, z, draws, first, log_density, gradient);
                first += 1;
            }
        }
    }
}

impl<P: Deref<Target = Plan>> Drop for PlanEvaluator<P> {
    fn drop(&mut self) {
        if let Some(buffers) = self.wide.take() {
            self.plan.give_back(buffers);
        }
    }
}

impl<P: Deref<Target = Plan> + Send> Evaluator for PlanEvaluator<P> {
    fn evaluate(&mut self, z: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]) {
        self.sweep(z, draws, log_density, Some(gradient));
    }

    fn log_density(&mut self, z: &[f64], draws: usize, log_density: &mut [f64]) {
        self.sweep(z, draws, log_density, None);
    }

    fn hessian_vectors(&mut self, z: &[f64], v: &[f64], count: usize, out: &mut [f64]) {
        let plan = &*self.plan;
        let workspace = self.dual.get_or_insert_with(|| Workspace::new(plan));
        workspace.data().copy_from_slice(&self.data);
        for k in 0..count {
            for (i, input) in workspace.inputs(plan).iter_mut().enumerate() {
                *input = Dual { v: z[i], d: v[i * count + k] };
            }
            workspace.forward(plan, true);
            workspace.reverse(plan);
            for (i, g) in workspace.gradient(plan).iter().enumerate() {
                out[i * count + k] = g.d;
            }
        }
    }
}

impl ModelTarget {
    /// What each step of the log density and its gradient costs for a batch of draws, and how many draws that
    /// was.
    pub fn profile(&self, z: &[f64], draws: usize) -> (usize, Vec<StepCost>) {
        let plan = &self.density;
        let mut workspace = Workspace::<F16>::new(plan);
        for (i, input) in workspace.inputs(plan).iter_mut().enumerate() {
            (0..F16::WIDTH).for_each(|lane| input.set_lane(lane, z[i * draws + lane % draws]));
        }
        (F16::WIDTH, profile(plan, &mut workspace, PROFILE_ROUNDS))
    }

    /// Whether priors of some parameters depend on others.
    pub fn is_hierarchical(&self) -> bool {
        let made_from_others = self.lowered.parameters.iter().any(|p| p.form.is_noncentered());
        let mut priors = self.lowered.terms.iter().filter(|t| t.kind == TermKind::Prior);
        made_from_others || priors.any(|t| self.lowered.graph.inputs_below(&[t.node]).len() > 1)
    }

    /// The nodes of all terms, for dumps of the graph.
    pub fn term_nodes(&self) -> Vec<NodeId> {
        self.lowered.terms.iter().map(|t| t.node).collect()
    }
}
