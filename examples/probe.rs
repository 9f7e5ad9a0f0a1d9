//! Scratch.
#[path = "../tests/vi_support/mod.rs"]
mod support;
use stickler::vi::{Config, Method, Row, fit};
use support::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let models = [
        LinearModel::linear(100, 8, 0.5),
        LinearModel::logistic(200, 8),
        LinearModel::hierarchical(5, 10, 2),
    ];
    for model in &models {
        let k = model.constants();
        println!("== {} d={} M={:.1} mu={:.2}", model.name, model.d, k.smoothness, k.strong_concavity);
        for method in Method::table()
            .iter()
            .filter(|m| ["prox-energy", "proj-entropy", "proj-stl", "mean-field"].contains(&m.name))
        {
            let mut config = Config::named(method.name).unwrap();
            let (_, dense) = model.best(config.factor);
            let (m, _) = model.optimum(!config.factor.full_rank);
            let best = model.objective(&m, &dense);
            let full = model.best(stickler::vi::table::find("triangular").unwrap());
            let _ = full;
            for (steps, batch) in [(200, 16), (1000, 16), (4000, 16)] {
                config.steps = steps;
                config.batch = batch;
                if let Some(s) = args.get(1) {
                    if method.step.is_none() {
                        config.step = Some(s.parse().unwrap());
                    }
                }
                if let Some(s) = args.get(2) {
                    config.average = Some(s.parse().unwrap());
                }
                let mut worst: f64 = 0.0;
                let mut mean = 0.0;
                let mut rej = 0;
                for seed in 1..=2 {
                    config.seed = seed;
                    match fit(model, &config, &mut keep_going) {
                        Ok(run) => {
                            let gap = model.objective(&run.mean, &run.factor) - best;
                            worst = worst.max(gap);
                            mean += gap / 2.0;
                            rej = rej.max(run.rejected);
                        }
                        Err(e) => {
                            println!("{e}");
                            worst = f64::INFINITY;
                        }
                    }
                }
                print!("{:>22} T={steps:<6} {mean:8.1e} {worst:8.1e} {rej}", method.name);
            }
            println!();
        }
    }
}
