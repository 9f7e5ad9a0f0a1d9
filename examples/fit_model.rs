//! A model file with its data, fitted from Rust in five lines, and asked what can be relied on:
//! `cargo run --example fit_model`.

use stickler::Model;

fn main() -> Result<(), stickler::Error> {
    let model = Model::from_path("models/eight_schools.ppl")?;
    let fit = model.bind("models/eight_schools.csv")?.fit()?;
    for output in &fit.outputs {
        println!("{:>10} {:8.3} ± {:.3}", output.name, output.mean, output.sd);
    }
    println!("log evidence {:.3}, k-hat {:.2}", fit.log_evidence, fit.khat);
    for finding in fit.doubts() {
        println!("doubtful ({}): {}", finding.kind().code, finding.kind().meaning);
    }
    // The same as vectors and a matrix of nalgebra: do mu and tau go together?
    let (sd, covariance) = (fit.sd(), fit.covariance());
    if let Some(covariance) = covariance {
        let [mu, tau] = ["mu", "tau"].map(|name| fit.outputs.iter().position(|o| o.name == name));
        if let (Some(mu), Some(tau)) = (mu, tau) {
            println!("correlation of mu and tau {:.2}", covariance[(mu, tau)] / (sd[mu] * sd[tau]));
        }
    }
    Ok(())
}
