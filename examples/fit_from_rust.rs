//! A user's own target, fitted from Rust with a callback: `cargo run --example fit_from_rust`.

use std::ops::ControlFlow;
use stickler::target::from_fn;
use stickler::vi::{Config, Error, fit};

fn main() -> Result<(), Error> {
    // Five tosses of a coin, four of them heads; z is the log odds, with a standard normal prior.
    let (heads, tails) = (4.0, 1.0);
    let target = from_fn(1, move |z: &[f64], gradient: &mut [f64]| {
        let p = 1.0 / (1.0 + (-z[0]).exp());
        gradient[0] = heads * (1.0 - p) - tails * p - z[0];
        heads * p.ln() + tails * (1.0 - p).ln() - 0.5 * z[0] * z[0] - 0.5 * std::f64::consts::TAU.ln()
    });
    let run = fit(&target, &Config::named("proj-stl")?, &mut |progress| {
        if progress.step % 500 == 0 {
            println!("step {:>4}: ELBO {:.4} ± {:.4}", progress.step, progress.elbo, progress.elbo_se);
        }
        ControlFlow::Continue(())
    })?;
    println!("log odds {:.3} ± {:.3}", run.mean[0], run.sd()[0]);
    println!("log p(data) is at least {:.4} ± {:.4}", run.elbo, run.elbo_se);
    Ok(())
}
