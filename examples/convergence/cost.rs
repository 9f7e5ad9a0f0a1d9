//! What a step costs outside the model, against the dimension.

use super::plot::{Line, figure};
use super::support::dot;
use super::{Table, write};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;
use stickler::target::from_fn;
use stickler::vi::{Choice, Config, Start, fit};

const METHODS: [&str; 6] =
    ["mean-field", "prox-energy", "prox-stl", "proj-stl", "proj-entropy", "prox-energy-symmetric"];

/// `cost.csv` and its figure: a standard normal target, 16 draws.
pub fn of_a_step(folder: &Path) -> io::Result<()> {
    let mut table = Table::new(folder, "cost.csv", "method,dimension,microseconds_per_step")?;
    let mut lines = Vec::new();
    for (colour, method) in METHODS.iter().enumerate() {
        let mut points = Vec::new();
        for d in [10, 30, 100, 300, 1000, 2000] {
            eprintln!("cost of a step: {method}, d = {d}");
            let micros = 1e6 * seconds_per_step(method, d);
            writeln!(table.0, "{method},{d},{micros:.2}")?;
            points.push((d as f64, micros));
        }
        lines.push(Line { label: (*method).into(), points, colour, dashed: false });
    }
    write(folder, "cost.svg", &figure("cost of a step of 16 draws", "dimension", "microseconds", &lines))
}

/// The best of several stretches of steps.
fn seconds_per_step(method: &str, d: usize) -> f64 {
    let target = from_fn(d, move |z: &[f64], g: &mut [f64]| {
        g.iter_mut().zip(z).for_each(|(g, z)| *g = -z);
        -0.5 * dot(z, z)
    });
    let mut config = Config::named(method).expect("a method of the table");
    config.step = Some(Choice::with("constant", 1e-3).expect("a step rule of the table"));
    config.start = Start::Standard;
    (config.elbo_draws, config.trace) = (2, 1);
    // The first steps hold the allocation; the time is that of the steps after them.
    let stretch = if d <= 100 { 100 } else { 1 };
    config.steps = 2 + 5 * stretch;
    let (mut begin, mut best) = (Instant::now(), f64::INFINITY);
    fit(&target, &config, &mut |p| {
        if p.step >= 2 && (p.step - 2) % stretch == 0 {
            if p.step > 2 {
                best = best.min(begin.elapsed().as_secs_f64() / stretch as f64);
            }
            begin = Instant::now();
        }
        ControlFlow::Continue(())
    })
    .expect("a smooth target");
    best
}
