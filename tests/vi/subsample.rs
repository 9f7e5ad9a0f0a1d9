//! Sub-sampling of compiled models: over a pass through the data the parts add up to the whole, value and
//! gradient, and a likelihood that is no sum over rows is refused.

use std::ops::ControlFlow;
use std::sync::Mutex;
use stickler::data::Dataset;
use stickler::num::stream::Stream;
use stickler::target::{Evaluator, ModelTarget, Target};
use stickler::vi::subsample::{Subsample, SubsetEvaluator};
use stickler::vi::{Config, NotSeparable, Observations, Start, fit_subsampled};

const DATA: &str = "x,z,y,k,g\n0.5,1.0,1,2,a\n1.0,0.3,0,0,b\n-0.5,-1.2,1,1,a\n2.0,0.0,1,4,c\n0.1,0.8,0,3,b\n-1.0,2.0,0,1,c\n";

fn model(text: &str) -> ModelTarget {
    let data = Dataset::from_texts(&[("data.csv", DATA)]).unwrap();
    ModelTarget::new(text, &data).unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

const SEPARABLE: [&str; 12] = [
    "data { x : real[N, D] = columns(\"x\", \"z\"); y : binary[N] }\nparam a ~ normal(0, 1)\nparam b[D] ~ normal(0, 1)\n\
     y ~ bernoulli_logit(a + x * b)",
    "data { x : real[N]; z : real[N]; g : category[N] of J }\nparam mu ~ normal(0, 1)\nparam tau ~ half_normal(1)\n\
     param a[J] ~ normal(mu, tau)\nparam s ~ half_normal(1)\nz ~ normal(a[g] + 0.5 * x, s)",
    "data { k : count[N]; y : binary[N]; w : real[N] = 1 + k }\nparam a ~ normal(0, 1)\nk ~ poisson_log(a)\n\
     y ~ bernoulli_logit(a)",
    "data { z : real[N] }\nparam w ~ beta(2, 2)\nparam m : ordered[2] ~ normal(0, 2)\n\
     z ~ mixture(w: normal(m[1], 1), 1 - w: normal(m[2], 1))",
    "data { z : real[N]; x : real[N] }\nparam f[N] ~ normal(0, 1)\nparam s ~ half_normal(1)\nz ~ normal(f + x, s)",
    // Weights that differ from row to row, and values that are the same in every row.
    "data { z : real[N]; x : real[N]; w : real[N] = 1 + x * x }\nparam a ~ normal(0, 1)\nz ~ normal(a * x, 2) weight w",
    "data { k : count[N]; g : category[N] of J; x : real[N] }\nparam a[J] ~ normal(0, 1)\nparam b[J] ~ normal(0, 1)\n\
     param phi ~ gamma(2, 1)\nk ~ neg_binomial_2_log(a[g] + b[g] .* x, phi)",
    "data { x : real[N, D] = columns(\"x\", \"z\"); g : category[N] of J }\nparam b[D, J] ~ normal(0, 1)\n\
     g ~ categorical_logit(x * b)",
    // Likelihoods that are sums over rows, of something that is computed whole: a Gaussian process, a walk, a
    // path, the rows before.
    "data { x : real[N]; k : count[N] }\nparam rho ~ inv_gamma(5, 5)\n\
     param f[N] ~ gp_exp_quad(x, 1, rho, jitter = 1e-6) noncentered\nk ~ poisson_log(f)",
    "data { z : real[N] }\nparam s ~ half_normal(1)\nparam walk[N] ~ gaussian_random_walk(s) noncentered\nz ~ normal(walk, 1)",
    "data { z : real[N] }\nparam a ~ half_normal(1)\nparam b ~ beta(2, 2)\nlet v[1] = a\n\
     for t in 2..N { let v[t] = a + b * v[t - 1] + 0.1 * z[t - 1]^2 }\nz ~ normal(0, sqrt(v))",
    "data { z : real[N]; k : count[N] }\nparam a ~ normal(0, 1)\nparam e[N] ~ normal(0, 1)\nlet path = a + cumsum(e)\n\
     let level = k + 1\nlevel ~ ordered_logistic(path, [-1, 0, 1, 2])\nz ~ normal(path, 1)",
];

#[test]
fn the_parts_of_a_pass_add_up_to_the_whole() {
    for text in SEPARABLE {
        let model = model(text);
        let parts = Observations::of(&model).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(parts.observations(), 6, "{text}");
        let d = model.dimension();
        let draws = 3;
        let mut z = vec![0.0; d * draws];
        Stream::new(5, 0, 0).fill_normal(&mut z);
        let mut whole = (vec![0.0; draws], vec![0.0; d * draws]);
        model.evaluator().evaluate(&z, draws, &mut whole.0, &mut whole.1);
        let mut evaluator = parts.subset_evaluator();
        let mut mean = (vec![0.0; draws], vec![0.0; d * draws]);
        let slices = [[4, 0], [2, 5], [1, 3]];
        for rows in slices {
            let mut one = (vec![0.0; draws], vec![0.0; d * draws]);
            evaluator.evaluate_subset(&rows, &z, draws, &mut one.0, &mut one.1);
            mean.0.iter_mut().zip(&one.0).for_each(|(m, x)| *m += x / slices.len() as f64);
            mean.1.iter_mut().zip(&one.1).for_each(|(m, x)| *m += x / slices.len() as f64);
        }
        let close =
            |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-10 * (1.0 + a.abs()));
        assert!(close(&whole.0, &mean.0), "{text}: {:?} against {:?}", mean.0, whole.0);
        assert!(close(&whole.1, &mean.1), "{text}: {:?} against {:?}", mean.1, whole.1);
    }
}

/// The gradients of all steps of a pass, in the order in which a fit goes through it.
#[test]
fn the_steps_of_every_reshuffled_pass_add_up_to_the_whole() {
    for text in SEPARABLE {
        let model = model(text);
        let parts = Observations::of(&model).unwrap();
        let seen = Recorded { inner: &parts, steps: Mutex::default() };
        let mut config = Config::named("prox-energy").unwrap();
        // Three passes of two steps of three rows.
        (config.steps, config.batch, config.elbo_draws) = (6, 16, 2);
        config.step = Some("constant=0.001".parse().unwrap());
        config.start = Start::Standard;
        fit_subsampled(&seen, 3, &config, &mut |_| ControlFlow::Continue(())).unwrap();
        let steps = seen.steps.into_inner().unwrap();
        let mut passes = steps.chunks_exact(2).map(|pass| pass.concat());
        let orders: Vec<Vec<usize>> = passes.by_ref().take(3).collect();
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..6).collect::<Vec<_>>(), "a pass goes through every row once");
        }
        assert!(orders[0] != orders[1] || orders[1] != orders[2], "each pass has an order of its own");
        let d = model.dimension();
        let mut z = vec![0.0; d];
        Stream::new(6, 0, 0).fill_normal(&mut z);
        let (mut value, mut whole) = ([0.0], vec![0.0; d]);
        model.evaluator().evaluate(&z, 1, &mut value, &mut whole);
        let mut evaluator = parts.subset_evaluator();
        for order in &orders {
            let mut mean = vec![0.0; d];
            for rows in order.chunks_exact(3) {
                let mut one = vec![0.0; d];
                evaluator.evaluate_subset(rows, &z, 1, &mut value, &mut one);
                mean.iter_mut().zip(&one).for_each(|(m, x)| *m += x / 2.0);
            }
            for (m, w) in mean.iter().zip(&whole) {
                assert!((m - w).abs() < 1e-10 * (1.0 + w.abs()), "{text}: {mean:?} against {whole:?}");
            }
        }
    }
}

/// Writes down the rows of each gradient.
struct Recorded<'a> {
    inner: &'a Observations<'a>,
    steps: Mutex<Vec<Vec<usize>>>,
}

impl Target for Recorded<'_> {
    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        self.inner.evaluator()
    }
}

impl Subsample for Recorded<'_> {
    fn observations(&self) -> usize {
        self.inner.observations()
    }

    fn subset_evaluator(&self) -> Box<dyn SubsetEvaluator + '_> {
        Box::new(Recording { inner: self.inner.subset_evaluator(), steps: &self.steps })
    }
}

struct Recording<'a> {
    inner: Box<dyn SubsetEvaluator + 'a>,
    steps: &'a Mutex<Vec<Vec<usize>>>,
}

impl SubsetEvaluator for Recording<'_> {
    fn evaluate_subset(
        &mut self,
        rows: &[usize],
        z: &[f64],
        draws: usize,
        log_density: &mut [f64],
        gradient: &mut [f64],
    ) {
        // The ELBO at the end is over all six.
        if rows.len() < 6 {
            self.steps.lock().unwrap().push(rows.to_vec());
        }
        self.inner.evaluate_subset(rows, z, draws, log_density, gradient);
    }
}

#[test]
fn any_number_of_rows_and_draws_is_the_scaled_sum_of_single_rows() {
    for text in SEPARABLE {
        let model = model(text);
        let parts = Observations::of(&model).unwrap();
        let (d, mut evaluator) = (model.dimension(), parts.subset_evaluator());
        for draws in [1, 2, 5, 16, 19] {
            let mut z = vec![0.0; d * draws];
            Stream::new(7, 0, 0).fill_normal(&mut z);
            let mut at = |rows: &[usize]| {
                let (mut value, mut slope) = (vec![0.0; draws], vec![0.0; d * draws]);
                evaluator.evaluate_subset(rows, &z, draws, &mut value, &mut slope);
                value.extend(slope);
                value
            };
            // With N/n in front, a subset of n rows is the mean of its rows taken one by one.
            for rows in [&[2][..], &[5, 0], &[4, 1, 3], &[0, 1, 2, 3, 5], &[5, 4, 3, 2, 1, 0]] {
                let together = at(rows);
                let mut mean = vec![0.0; together.len()];
                for row in rows {
                    let one = at(&[*row]);
                    mean.iter_mut().zip(&one).for_each(|(m, x)| *m += x / rows.len() as f64);
                }
                for (a, b) in together.iter().zip(&mean) {
                    assert!(
                        (a - b).abs() < 1e-10 * (1.0 + b.abs()),
                        "{text}, rows {rows:?}: {a} against {b}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_on_two_threads() {
    let model = model(SEPARABLE[1]);
    let parts = Observations::of(&model).unwrap();
    let mut config = Config::named("prox-stl").unwrap();
    (config.steps, config.batch) = (50, 48);
    let mut run = |threads: usize| {
        config.threads = threads;
        fit_subsampled(&parts, 4, &config, &mut |_| ControlFlow::Continue(())).unwrap()
    };
    let (one, two) = (run(1), run(2));
    let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&one.averaged), bits(&two.averaged));
    assert_eq!(one.elbo.to_bits(), two.elbo.to_bits());
}

#[test]
fn what_is_no_sum_over_rows_is_refused() {
    let gp = "data { x : real[N]; z : real[N] }\nparam rho ~ gamma(5, 5)\nz ~ gp_exp_quad(x, 1, rho, jitter = 0.1)";
    let model = model(gp);
    assert!(matches!(Observations::of(&model), Err(NotSeparable::NoSum(_))));
    for text in [
        "data { x : real[N]; z : real[N] }\nparam a ~ normal(0, 1)\nparam rho ~ gamma(5, 5)\n\
         z - a * x ~ gp_exp_quad(x, 1, rho, jitter = 0.1)",
        "data { z : real[N] }\nparam a ~ normal(0, 1)\nparam r ~ uniform(-0.9, 0.9)\n\
         let u = 0 * z + a\nz ~ multi_normal(u, add_diag(0.1 * r * as_column(z) .* as_row(z), 1))",
    ] {
        let data = Dataset::from_texts(&[("data.csv", DATA)]).unwrap();
        let model = ModelTarget::new(text, &data).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        assert!(matches!(Observations::of(&model), Err(NotSeparable::NoSum(_))), "{text}");
    }
    let none = ModelTarget::new("param a ~ normal(0, 1)", &Dataset::default()).unwrap();
    assert!(matches!(Observations::of(&none), Err(NotSeparable::NoData)));
}

#[test]
fn a_sub_sampled_fit_finds_the_same_answer() {
    let model = model(SEPARABLE[0]);
    let parts = Observations::of(&model).unwrap();
    let mut config = Config::named("prox-stl").unwrap();
    config.steps = 4000;
    let watch = &mut |_: &stickler::vi::Progress| ControlFlow::Continue(());
    let whole = stickler::vi::fit(&model, &config, watch).unwrap();
    let part = fit_subsampled(&parts, 3, &config, watch).unwrap();
    let sd = whole.sd();
    for i in 0..model.dimension() {
        let off = (whole.mean[i] - part.mean[i]).abs() / sd[i];
        assert!(off < 0.2, "coordinate {i} is off by {off} standard deviations");
    }
}
