//! A model and its data to a fit, as a library user would do it.

use std::ops::ControlFlow;
use stickler::data::Dataset;
use stickler::infer::{Fit, Model, Options, fit_model};
use stickler::target::ModelTarget;

/// The fit of a model to data, by default but for its seed.
pub fn fitted(source: &str, data: &Dataset, seed: u64) -> Fit {
    let program = stickler::syntax::parse(source).expect("parses");
    let target = ModelTarget::new(source, data).expect("lowers");
    let model = Model { program: &program, source, data };
    let options = Options { seed, ..Options::default() };
    fit_model(&model, &target, &options, &mut |_| ControlFlow::Continue(())).expect("fits")
}

/// What is wrong with a quantity beside its mean and standard deviation, in standard deviations and in their
/// logarithm; None if nothing is.
pub fn wrong(fit: &Fit, name: &str, [mean, sd]: [f64; 2], tolerance: f64) -> Option<String> {
    let found = fit.outputs.iter().find(|o| o.name == name).expect("is reported");
    let right = (found.mean - mean).abs() < tolerance * sd && (found.sd / sd).ln().abs() < tolerance;
    (!right).then(|| {
        let (khat, doubts) = (fit.khat, fit.doubts());
        format!("{name}: {} ± {} against {mean} ± {sd}, k-hat {khat}, {doubts:?}", found.mean, found.sd)
    })
}

/// Data written as JSON.
pub fn json(text: &str) -> Dataset {
    Dataset::from_texts(&[("data.json", text)]).expect("reads")
}
