//! A model file with its data, fitted from Rust by one of the paper's algorithms with a callback for each
//! step: `cargo run --example fit_by_the_paper`.

use std::ops::ControlFlow;
use stickler::Model;
use stickler::infer::Options;
use stickler::infer::methods::{Descent, descend};
use stickler::target::Target;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bound = Model::from_path("models/logistic.ppl")?.bind("models/logistic.csv")?;
    let model = bound.target();
    let descent = Descent::named("prox-energy", model.dimension())?;
    let found = descend(model, &descent, &Options::default(), &mut |p| {
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
