//! `stickler bench`: seconds per gradient, for one draw and in a batch, which line of the model costs what,
//! and how near the processor's limits that is.

use super::args::BenchArgs;
use super::load::Source;
use super::{Failure, Outcome, isa, load};
use crate::num::stream::Stream;
use crate::plan::{Peak, StepCost};
use crate::target::{Evaluator, ModelTarget, Target};
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::ExitCode;
use std::time::Instant;

/// Most threads of a measurement.
const MOST_THREADS: usize = 512;

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
    operations: usize,
    steps: Vec<String>,
}

pub(super) fn run(args: &BenchArgs) -> Outcome {
    if args.batch == 0 || args.threads == 0 || args.threads > MOST_THREADS {
        let why = format!("--batch must be at least 1, and --threads from 1 to {MOST_THREADS}");
        return Err(Failure::Usage(why));
    }
    if let Some(name) = &args.isa {
        isa::hold(name, "--isa")?;
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
    let share = Share::of(&lines, draws, batch.best / args.batch as f64, args.threads);
    if args.json {
        outln!("{}", json(args, &target, prepare, [&single, &batch], draws, &lines, &share));
    } else {
        out!("{}", text(args, &target, prepare, [&single, &batch], draws, &lines));
        out!("{}", share.text());
    }
    Ok(ExitCode::SUCCESS)
}

/// What a gradient in a batch does, and the most that the processor does.
struct Share {
    /// Additions and multiplications for a draw.
    operations: f64,
    /// Bytes read and written for a draw.
    bytes: f64,
    /// Seconds for a draw.
    seconds: f64,
    /// The most that these threads do.
    peak: Peak,
}

impl Share {
    fn of(lines: &[Line], draws: usize, seconds: f64, threads: usize) -> Share {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (one, threads) = (Peak::measure(), threads.min(cores) as f64);
        Share {
            operations: lines.iter().map(|l| l.operations).sum::<usize>() as f64,
            bytes: lines.iter().map(|l| l.bytes).sum::<usize>() as f64 / draws as f64,
            seconds,
            peak: Peak { operations: threads * one.operations, bytes: threads * one.bytes },
        }
    }

    /// Of the most additions and multiplications a second.
    fn of_operations(&self) -> f64 {
        self.operations / self.seconds / self.peak.operations
    }

    /// Of the most bytes a second.
    fn of_bytes(&self) -> f64 {
        self.bytes / self.seconds / self.peak.bytes
    }

    fn json(&self) -> Value {
        json!({
            "operations_per_draw": self.operations,
            "operations_per_second": self.operations / self.seconds,
            "bytes_per_second": self.bytes / self.seconds,
            "peak_operations_per_second": self.peak.operations,
            "peak_bytes_per_second": self.peak.bytes,
            "share_of_peak_operations": self.of_operations(),
            "share_of_peak_bytes": self.of_bytes(),
        })
    }

    fn text(&self) -> String {
        let giga = |x: f64| x / 1e9;
        format!(
            "\n{:<34} {:>12} {:>12} {:>12} {:>8}\n{:<34} {:>12.3} {:>12.2} {:>12.1} {:>7.1}%\n{:<34} {:>12.3} {:>12.2} {:>12.1} \
             {:>7.1}%\nThe most: products of matrices in the first-level cache, where a function such as exp counts as one operation \
             though it is\nabout 40; and reading 64 MB in order, while what a small model touches stays in the cache.\n",
            "in the batch",
            "1000 a draw",
            "10^9 / s",
            "the most",
            "share",
            "additions and multiplications",
            self.operations / 1e3,
            giga(self.operations / self.seconds),
            giga(self.peak.operations),
            100.0 * self.of_operations(),
            "bytes touched",
            self.bytes / 1e3,
            giga(self.bytes / self.seconds),
            giga(self.peak.bytes),
            100.0 * self.of_bytes(),
        )
    }
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
            lines.push(Line { number, text, seconds: 0.0, bytes: 0, operations: 0, steps: Vec::new() });
            lines.len() - 1
        });
        lines[at].seconds += cost.forward + cost.reverse;
        lines[at].bytes += cost.bytes;
        lines[at].operations += cost.operations;
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
    share: &Share,
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
                "operations": l.operations,
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
        "bytes_touched_per_draw": share.bytes,
        "peak": share.json(),
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
