//! A model file with its data, fitted from Rust by one of the paper's algorithms with a callback for each
//! step: `cargo run --example fit_model`.

use std::ops::ControlFlow;
use stickler::data::Dataset;
use stickler::infer::Options;
use stickler::infer::methods::{Descent, descend};
use stickler::source::render;
use stickler::target::{ModelTarget, Target};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string("models/logistic.ppl")?;
    let data = Dataset::read(&["models/logistic.csv"]).map_err(|e| e.message)?;
    let model = ModelTarget::new(&text, &data).map_err(|problems| {
        problems.iter().map(|p| render(p, "models/logistic.ppl", &text)).collect::<String>()
    })?;
    let descent = Descent::named("prox-energy", model.dimension())?;
    let found = descend(&model, &descent, &Options::default(), &mut |p| {
        if p.step % 500 == 0 {
            println!("step {:>4}: ELBO {:.3} ± {:.3}, step {:.1e}", p.step, p.elbo, p.elbo_se, p.step_size);
        }
        ControlFlow::Continue(())
    })?;
    let values = model.constrain(&found.run.mean);
    for (name, value) in model.output_names().iter().zip(values) {
        println!("{name:>12} {value:8.3}");
    }
    println!("log p(data) is at least {:.3} ± {:.3}", found.run.elbo, found.run.elbo_se);
    Ok(())
}
