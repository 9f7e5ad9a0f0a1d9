//! A compiled model as a target: what the language's front end gives to inference.

use super::{Evaluator, Target};
use crate::data::Dataset;
use crate::graph::NodeId;
use crate::lower::{Coordinates, Lowered, Named, TermKind, lower, lower_with};
use crate::num::real::{Dual, F8, LANES, Real};
use crate::ops::operand::Lane;
use crate::plan::{Plan, Workspace};
use crate::source::Checked;
use crate::syntax::ast::Program;

/// A model with its data inside, ready to evaluate.
pub struct ModelTarget {
    lowered: Lowered,
    density: Plan,
    kinds: Vec<TermKind>,
    outputs: Plan,
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
    /// let model = ModelTarget::new("data { y : real[N] }\nparam mu ~ normal(0, 1)\ny ~ normal(mu, 1)", &data).unwrap();
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

    /// Schedules a lowered model.
    pub fn from_lowered(lowered: Lowered) -> ModelTarget {
        let roots: Vec<NodeId> = lowered.terms.iter().map(|t| t.node).collect();
        let kinds = lowered.terms.iter().map(|t| t.kind).collect();
        let density = Plan::new(&lowered.graph, &roots, lowered.dimension);
        let reported: Vec<NodeId> = reported(&lowered).map(|n| n.node).collect();
        let outputs = Plan::new(&lowered.graph, &reported, lowered.dimension);
        ModelTarget { lowered, density, kinds, outputs }
    }

    /// The graph and what it means.
    pub fn lowered(&self) -> &Lowered {
        &self.lowered
    }

    /// The schedule of the log density.
    pub fn plan(&self) -> &Plan {
        &self.density
    }

    /// The log density at one point, term by term kind.
    pub fn split(&self, z: &[f64]) -> Split {
        let mut workspace = Workspace::<f64>::new(&self.density);
        workspace.inputs(&self.density).copy_from_slice(z);
        workspace.forward(&self.density, false);
        let mut split = Split::default();
        for (i, kind) in self.kinds.iter().enumerate() {
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

/// Parameters, then derived quantities.
fn reported(lowered: &Lowered) -> impl Iterator<Item = &Named> {
    lowered.parameters.iter().map(|p| &p.named).chain(&lowered.derived)
}

/// `theta[Hennepin, 2]` for each element, first axis slowest.
pub fn element_names(name: &str, dims: &[usize], labels: &[Option<std::sync::Arc<[String]>>]) -> Vec<String> {
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

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        Box::new(ModelEvaluator { model: self, one: None, eight: None, dual: None })
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
            .flat_map(|n| element_names(&n.name, &graph.node(n.node).dims, &n.labels))
            .collect()
    }

    fn constrain(&self, z: &[f64]) -> Vec<f64> {
        let mut workspace = Workspace::<f64>::new(&self.outputs);
        workspace.inputs(&self.outputs).copy_from_slice(z);
        workspace.forward(&self.outputs, false);
        let sizes = self.outputs.root_sizes();
        sizes
            .iter()
            .enumerate()
            .flat_map(|(r, &n)| (0..n).map(move |i| (r, i)))
            .map(|(r, i)| workspace.root(&self.outputs, r, i))
            .collect()
    }

    fn constrain_batch(&self, z: &[f64], draws: usize) -> Vec<f64> {
        let plan = &self.outputs;
        let sizes = plan.root_sizes();
        let mut out = vec![0.0; sizes.iter().sum::<usize>() * draws];
        let mut workspace = Workspace::<F8>::new(plan);
        for first in (0..draws).step_by(LANES) {
            let width = LANES.min(draws - first);
            for (i, input) in workspace.inputs(plan).iter_mut().enumerate() {
                for lane in 0..LANES {
                    input.set_lane(lane, z[i * draws + first + lane.min(width - 1)]);
                }
            }
            workspace.forward(plan, false);
            let places = sizes.iter().enumerate().flat_map(|(r, &n)| (0..n).map(move |i| (r, i)));
            for (j, (r, i)) in places.enumerate() {
                let x = workspace.root(plan, r, i);
                (0..width).for_each(|lane| out[j * draws + first + lane] = x.lane(lane));
            }
        }
        out
    }
}

/// Buffers for one thread, made when first needed.
struct ModelEvaluator<'a> {
    model: &'a ModelTarget,
    one: Option<Workspace<f64>>,
    eight: Option<Workspace<F8>>,
    dual: Option<Workspace<Dual>>,
}

/// Fewest draws of an incomplete batch for which eight lanes are worth running.
const WORTH_LANES: usize = 3;

impl ModelEvaluator<'_> {
    /// Runs `width` draws from `first` on, and hands each draw's lane to the buffers.
    fn run<T: Lane>(
        plan: &Plan,
        workspace: &mut Workspace<T>,
        z: &[f64],
        draws: usize,
        first: usize,
        log_density: &mut [f64],
        gradient: Option<&mut [f64]>,
    ) {
        let width = T::WIDTH.min(draws - first);
        for (i, input) in workspace.inputs(plan).iter_mut().enumerate() {
            for lane in 0..T::WIDTH {
                input.set_lane(lane, z[i * draws + first + lane.min(width - 1)]);
            }
        }
        workspace.forward(plan, gradient.is_some());
        let roots = plan.root_sizes().len();
        let total = (0..roots).fold(T::zero(), |sum, r| sum + workspace.root(plan, r, 0));
        (0..width).for_each(|lane| log_density[first + lane] = total.lane(lane));
        if let Some(gradient) = gradient {
            workspace.reverse(plan);
            for (i, g) in workspace.gradient(plan).iter().enumerate() {
                (0..width).for_each(|lane| gradient[i * draws + first + lane] = g.lane(lane));
            }
        }
    }

    fn sweep(&mut self, z: &[f64], draws: usize, log_density: &mut [f64], mut gradient: Option<&mut [f64]>) {
        let plan = &self.model.density;
        let mut first = 0;
        while first < draws {
            let gradient = gradient.as_deref_mut();
            if draws - first >= WORTH_LANES {
                let workspace = self.eight.get_or_insert_with(|| Workspace::new(plan));
                Self::run(plan, workspace, z, draws, first, log_density, gradient);
                first += LANES;
            } else {
                let workspace = self.one.get_or_insert_with(|| Workspace::new(plan));
                Self::run(plan, workspace, z, draws, first, log_density, gradient);
                first += 1;
            }
        }
    }
}

impl Evaluator for ModelEvaluator<'_> {
    fn evaluate(&mut self, z: &[f64], draws: usize, log_density: &mut [f64], gradient: &mut [f64]) {
        self.sweep(z, draws, log_density, Some(gradient));
    }

    fn log_density(&mut self, z: &[f64], draws: usize, log_density: &mut [f64]) {
        self.sweep(z, draws, log_density, None);
    }

    fn hessian_vectors(&mut self, z: &[f64], v: &[f64], count: usize, out: &mut [f64]) {
        let plan = &self.model.density;
        let workspace = self.dual.get_or_insert_with(|| Workspace::new(plan));
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
    /// The nodes of all terms, for dumps of the graph.
    pub fn term_nodes(&self) -> Vec<NodeId> {
        self.lowered.terms.iter().map(|t| t.node).collect()
    }
}
