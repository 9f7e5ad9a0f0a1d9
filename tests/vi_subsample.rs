//! Sub-sampling of compiled models: over a pass through the data the parts add up to the whole, value and gradient, and a
//! likelihood that is no sum over rows is refused.

use stickler::data::Dataset;
use stickler::num::stream::Stream;
use stickler::target::{ModelTarget, Target};
use stickler::vi::subsample::Subsample;
use stickler::vi::{Config, NotSeparable, Observations, fit_subsampled};

const DATA: &str = "x,z,y,k,g\n0.5,1.0,1,2,a\n1.0,0.3,0,0,b\n-0.5,-1.2,1,1,a\n2.0,0.0,1,4,c\n0.1,0.8,0,3,b\n-1.0,2.0,0,1,c\n";

fn model(text: &str) -> ModelTarget {
    let data = Dataset::from_texts(&[("data.csv", DATA)]).unwrap();
    ModelTarget::new(text, &data).unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

const SEPARABLE: [&str; 5] = [
    "data { x : real[N, D] = columns(\"x\", \"z\"); y : binary[N] }\nparam a ~ normal(0, 1)\nparam b[D] ~ normal(0, 1)\n\
     y ~ bernoulli_logit(a + x * b)",
    "data { x : real[N]; z : real[N]; g : category[N] of J }\nparam mu ~ normal(0, 1)\nparam tau ~ half_normal(1)\n\
     param a[J] ~ normal(mu, tau)\nparam s ~ half_normal(1)\nz ~ normal(a[g] + 0.5 * x, s)",
    "data { k : count[N]; y : binary[N]; w : real[N] = 1 + k }\nparam a ~ normal(0, 1)\nk ~ poisson_log(a)\n\
     y ~ bernoulli_logit(a)",
    "data { z : real[N] }\nparam w ~ beta(2, 2)\nparam m : ordered[2] ~ normal(0, 2)\n\
     z ~ mixture(w: normal(m[1], 1), 1 - w: normal(m[2], 1))",
    "data { z : real[N]; x : real[N] }\nparam f[N] ~ normal(0, 1)\nparam s ~ half_normal(1)\nz ~ normal(f + x, s)",
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

#[test]
fn what_is_no_sum_over_rows_is_refused() {
    let gp = "data { x : real[N]; z : real[N] }\nparam rho ~ gamma(5, 5)\nz ~ gp_exp_quad(x, 1, rho, jitter = 0.1)";
    let model = model(gp);
    assert!(matches!(Observations::of(&model), Err(NotSeparable::NoSum(_))));
    let none = ModelTarget::new("param a ~ normal(0, 1)", &Dataset::default()).unwrap();
    assert!(matches!(Observations::of(&none), Err(NotSeparable::NoData)));
}

#[test]
fn a_sub_sampled_fit_finds_the_same_answer() {
    let model = model(SEPARABLE[0]);
    let parts = Observations::of(&model).unwrap();
    let mut config = Config::named("prox-stl").unwrap();
    config.steps = 4000;
    let watch = &mut |_: &stickler::vi::Progress| std::ops::ControlFlow::Continue(());
    let whole = stickler::vi::fit(&model, &config, watch).unwrap();
    let part = fit_subsampled(&parts, 3, &config, watch).unwrap();
    let sd = whole.standard_deviations();
    for i in 0..model.dimension() {
        let off = (whole.mean[i] - part.mean[i]).abs() / sd[i];
        assert!(off < 0.2, "coordinate {i} is off by {off} standard deviations");
    }
}
