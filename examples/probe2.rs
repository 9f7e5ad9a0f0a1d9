//! Scratch.
#[path = "../tests/vi_support/mod.rs"]
mod support;
use stickler::vi::{Config, fit};
use support::*;
fn main() {
    let model = LinearModel::linear(200, 10, 0.5);
    let a: Vec<String> = std::env::args().collect();
    let mut config = Config::named(&a[1]).unwrap();
    config.steps = 500;
    if a.len() > 3 {
        config.start = stickler::vi::Start::Standard;
    }
    let (w, _) = model.best(config.factor);
    for seed in 1..=3 {
        config.seed = seed;
        let r = fit(&model, &config, &mut |p| {
            if p.step < 60 || p.step % 20 == 0 {
                println!(
                    "{} elbo {:.3e} γ {:.2e} dist {:.3e} rej {} |c| {:.2e}",
                    p.step,
                    p.elbo,
                    p.step_size,
                    distance_squared(p.iterate, &w).sqrt(),
                    p.rejected,
                    p.iterate[10..].iter().map(|x| x * x).sum::<f64>().sqrt()
                );
            }
            std::ops::ControlFlow::Continue(())
        });
        println!("{:?}", r.map(|r| r.elbo));
    }
}
