//! `stickler bench`: seconds per gradient, for one draw and in a batch, and which line of the model costs what.

use super::args::BenchArgs;
use super::load::Source;
use super::{Failure, Outcome, load};
use crate::num::stream::Stream;
use crate::plan::StepCost;
use crate::target::{Evaluator, ModelTarget, Target};
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::ExitCode;
use std::time::Instant;

/// Size of the standard normal points, so that no coordinate lies far out.
const SPREAD: f64 = 0.1;

/// Seconds of one evaluation: the best of many short runs, and their median.
struct Timing {
    best: f64,
    median: f64,
}

/// What a line of the model costs for a batch.
struct Line {
    number: usize,
    text: String,
    seconds: f64,
    bytes: usize,
    steps: Vec<String>,
}

pub(super) fn run(args: &BenchArgs) -> Outcome {
    if args.batch == 0 || args.threads == 0 {
        return Err(Failure::Usage("--batch and --threads must be at least 1".into()));
    }
    let start = Instant::now();
    let (source, target) = load::target(&args.model)?;
    let prepare = start.elapsed().as_secs_f64();
    let mut evaluator = target.evaluator_with_threads(args.threads);
    let single = time(evaluator.as_mut(), &target, 1, args.seconds);
    let batch = time(evaluator.as_mut(), &target, args.batch, args.seconds);
    let z = points(&target, args.batch);
    let (draws, costs) = target.profile(&z, args.batch);
    let lines = by_line(&source, &costs);
    if args.json {
        outln!("{}", json(args, &target, prepare, [&single, &batch], draws, &lines));
    } else {
        out!("{}", text(args, &target, prepare, [&single, &batch], draws, &lines));
    }
    Ok(ExitCode::SUCCESS)
}

fn points(target: &ModelTarget, draws: usize) -> Vec<f64> {
    let mut z = vec![0.0; target.dimension() * draws];
    Stream::new(1, 0, 0).fill_normal(&mut z);
    z.iter_mut().for_each(|x| *x *= SPREAD);
    z
}

/// Repeats an evaluation in runs of about a millisecond.
fn time(evaluator: &mut dyn Evaluator, target: &ModelTarget, draws: usize, seconds: f64) -> Timing {
    let z = points(target, draws);
    let (mut value, mut gradient) = (vec![0.0; draws], vec![0.0; z.len()]);
    let mut repeat = |times: usize| {
        let start = Instant::now();
        for _ in 0..times {
            evaluator.evaluate(std::hint::black_box(&z), draws, &mut value, &mut gradient);
            std::hint::black_box(&gradient);
        }
        start.elapsed().as_secs_f64() / times as f64
    };
    repeat(1);
    let once = repeat(1).max(1e-9);
    let times = (1e-3 / once).clamp(1.0, 1e6) as usize;
    let runs = (seconds / (once * times as f64)).clamp(5.0, 1e4) as usize;
    let mut all: Vec<f64> = (0..runs).map(|_| repeat(times)).collect();
    all.sort_by(f64::total_cmp);
    Timing { best: all[0], median: all[all.len() / 2] }
}

fn by_line(source: &Source, costs: &[StepCost]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for cost in costs {
        let number = cost.span.map_or(0, |s| s.line_column(&source.text).0);
        let at = lines.iter().position(|l| l.number == number).unwrap_or_else(|| {
            let text = source.text.lines().nth(number.wrapping_sub(1)).unwrap_or("").trim().to_string();
            lines.push(Line { number, text, seconds: 0.0, bytes: 0, steps: Vec::new() });
            lines.len() - 1
        });
        lines[at].seconds += cost.forward + cost.reverse;
        lines[at].bytes += cost.bytes;
        lines[at].steps.push(format!(
            "{} ({:.3} + {:.3} µs)",
            cost.name,
            1e6 * cost.forward,
            1e6 * cost.reverse
        ));
    }
    lines.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    lines
}

fn json(
    args: &BenchArgs,
    target: &ModelTarget,
    prepare: f64,
    [single, batch]: [&Timing; 2],
    draws: usize,
    lines: &[Line],
) -> Value {
    let per_draw = args.batch as f64;
    let profile: Vec<Value> = lines
        .iter()
        .map(|l| {
            json!({
                "line": l.number,
                "text": l.text,
                "seconds": l.seconds / draws as f64,
                "bytes": l.bytes / draws,
                "steps": l.steps,
            })
        })
        .collect();
    json!({
        "dimension": target.dimension(),
        "batch": args.batch,
        "threads": args.threads,
        "seconds_to_prepare": prepare,
        "seconds_per_gradient": single.best,
        "seconds_per_gradient_median": single.median,
        "seconds_per_gradient_batched": batch.best / per_draw,
        "seconds_per_gradient_batched_median": batch.median / per_draw,
        "bytes_touched_per_draw": lines.iter().map(|l| l.bytes).sum::<usize>() / draws,
        "profile": profile,
    })
}

fn text(
    args: &BenchArgs,
    target: &ModelTarget,
    prepare: f64,
    [single, batch]: [&Timing; 2],
    draws: usize,
    lines: &[Line],
) -> String {
    let per_draw = args.batch as f64;
    let mut out = format!(
        "{} coordinates, ready after {:.2} ms\n\n{:<34} {:>12} {:>12}\n",
        target.dimension(),
        1e3 * prepare,
        "µs per gradient",
        "best",
        "median"
    );
    let batched = format!("per draw in a batch of {}", args.batch);
    for (name, best, median) in [
        ("one draw", single.best, single.median),
        (batched.as_str(), batch.best / per_draw, batch.median / per_draw),
    ] {
        let _ = writeln!(out, "{name:<34} {:>12.3} {:>12.3}", 1e6 * best, 1e6 * median);
    }
    let total: f64 = lines.iter().map(|l| l.seconds).sum();
    let _ = writeln!(out, "\n{:>5} {:>7} {:>10} {:>10}  model", "line", "share", "µs/draw", "kB/draw");
    for l in lines {
        let (seconds, bytes) = (l.seconds / draws as f64, l.bytes as f64 / draws as f64);
        let share = 100.0 * l.seconds / total.max(f64::MIN_POSITIVE);
        let _ = writeln!(
            out,
            "{:>5} {share:>6.1}% {:>10.3} {:>10.2}  {}",
            l.number,
            1e6 * seconds,
            bytes / 1e3,
            l.text
        );
    }
    out
}
