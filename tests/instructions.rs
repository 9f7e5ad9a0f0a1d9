//! How many instructions a gradient takes, counted by callgrind: a guard that no other program on the machine
//! disturbs.
//!
//! Without `valgrind` nothing is counted, and that is said. Valgrind knows AVX2 and not AVX-512: what is
//! counted is that path. The numbers belong to the development
//! profile, which the tests are built with.

use std::fmt::Write;
use std::hint::black_box;
use std::process::{Command, ExitCode};
use stickler::data::Dataset;
use stickler::num::stream::Stream;
use stickler::target::{ModelTarget, Target};

/// Draws of a batch.
const BATCH: usize = 16;

/// Gradients of a whole batch that are counted.
const REPEATS: u64 = 8;

/// How far above its number a kernel may be before the test fails: another compiler schedules otherwise.
const MARGIN: f64 = 1.1;

/// A model whose gradients are counted.
struct Kernel {
    name: &'static str,
    /// Thousands of instructions for the gradients of one batch.
    thousands: f64,
    model: &'static str,
    data: fn() -> String,
    run: fn(&ModelTarget),
    /// The name of `run`, by which callgrind knows it.
    function: &'static str,
}

/// A function of its own for each kernel, so that what it calls is counted apart.
macro_rules! counted {
    ($($name:ident),*) => {$(
        #[inline(never)]
        fn $name(target: &ModelTarget) {
            black_box(evaluate(target, REPEATS));
        }
    )*};
}
counted!(counted_eight_schools, counted_logistic, counted_garch, counted_process);

const KERNELS: [Kernel; 4] = [
    Kernel {
        name: "eight schools",
        thousands: 7.4,
        model: "models/posteriordb/eight_schools-eight_schools_noncentered.ppl",
        data: || {
            r#"{"J": 8, "y": [28, 8, -3, 7, -1, 1, 18, 12], "sigma": [15, 10, 16, 11, 9, 11, 10, 18]}"#.into()
        },
        run: counted_eight_schools,
        function: "counted_eight_schools",
    },
    Kernel {
        name: "logistic regression, 500 rows of 4 columns",
        thousands: 332.1,
        model: "benches/models/logistic_wide.ppl",
        data: || regression(500, 4),
        run: counted_logistic,
        function: "counted_logistic",
    },
    Kernel {
        name: "GARCH over 200 steps",
        thousands: 128.8,
        model: "models/posteriordb/garch-garch11.ppl",
        data: || series(200),
        run: counted_garch,
        function: "counted_garch",
    },
    Kernel {
        name: "Gaussian process over 11 points",
        thousands: 119.2,
        model: "models/posteriordb/gp_pois_regr-gp_pois_regr.ppl",
        data: || {
            r#"{"N": 11, "x": [-10, -8, -6, -4, -2, 0, 2, 4, 6, 8, 10],
                "k": [40, 37, 29, 12, 4, 3, 9, 19, 77, 82, 33]}"#
                .into()
        },
        run: counted_process,
        function: "counted_process",
    },
];

fn regression(rows: usize, columns: usize) -> String {
    let mut stream = Stream::new(3, 0, 0);
    let (mut y, mut x) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        x.push((0..columns).map(|_| stream.normal()).collect::<Vec<_>>());
        y.push(u8::from(stream.uniform() < 0.5));
    }
    format!(r#"{{"y": {y:?}, "x": {x:?}}}"#)
}

fn series(steps: usize) -> String {
    let mut stream = Stream::new(4, 0, 0);
    let y: Vec<f64> = (0..steps).map(|_| 5.0 + stream.normal()).collect();
    format!(r#"{{"T": {steps}, "y": {y:?}, "sigma1": 0.5}}"#)
}

fn main() -> ExitCode {
    let counting = std::env::args().any(|a| a == "--count");
    if counting {
        KERNELS.iter().for_each(|k| (k.run)(&target(k)));
        return ExitCode::SUCCESS;
    }
    match counts() {
        Some(counts) => check(&counts),
        None => {
            println!("instructions are not counted: valgrind cannot be run");
            ExitCode::SUCCESS
        }
    }
}

fn target(kernel: &Kernel) -> ModelTarget {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(kernel.model);
    let source = std::fs::read_to_string(path).expect("the model is there");
    let data = Dataset::from_texts(&[("data.json", &(kernel.data)())]).expect("the data are read");
    let target = ModelTarget::new(&source, &data).expect("the model compiles");
    // Buffers are made at the first gradient of a thread's evaluator; what is counted makes its own, which is
    // little.
    evaluate(&target, 1);
    target
}

fn evaluate(target: &ModelTarget, times: u64) -> Vec<f64> {
    let d = target.dimension();
    let mut z = vec![0.0; d * BATCH];
    Stream::new(1, 0, 0).fill_normal(&mut z);
    z.iter_mut().for_each(|x| *x *= 0.1);
    let (mut value, mut gradient) = (vec![0.0; BATCH], vec![0.0; d * BATCH]);
    let mut evaluator = target.evaluator();
    for _ in 0..times {
        evaluator.evaluate(black_box(&z), BATCH, &mut value, &mut gradient);
    }
    gradient
}

/// Instructions for the gradients of one batch, kernel by kernel.
fn counts() -> Option<Vec<f64>> {
    let out = std::env::temp_dir().join(format!("stickler-callgrind-{}", std::process::id()));
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet", "--compress-strings=no", "--compress-pos=no"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(std::env::current_exe().ok()?)
        .arg("--count")
        .status();
    let text = std::fs::read_to_string(&out);
    let _ = std::fs::remove_file(&out);
    run.ok().filter(std::process::ExitStatus::success)?;
    let text = text.ok()?;
    KERNELS.iter().map(|k| Some(called(&text, k.function)? as f64 / REPEATS as f64)).collect()
}

/// The cost of a call with all that it calls: the number after `calls=`, on the next line, for a function of
/// this name.
fn called(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("cfn=") && line.contains(name) {
            let cost = lines.find(|l| l.starts_with("calls=")).and_then(|_| lines.next())?;
            return cost.split_whitespace().last()?.parse().ok();
        }
    }
    None
}

fn check(counts: &[f64]) -> ExitCode {
    let (mut report, mut failed) = (String::new(), false);
    for (kernel, &count) in KERNELS.iter().zip(counts) {
        let (now, known) = (count / 1e3, kernel.thousands);
        let verdict = match now / known {
            r if r > MARGIN => "more than it may take",
            r if r < 1.0 / MARGIN => "fewer than noted: lower the number in tests/instructions.rs",
            _ => "as noted",
        };
        failed |= now > MARGIN * known;
        let _ = writeln!(
            report,
            "{:<45} {now:>9.1} thousand instructions for 16 gradients, {known} noted: {verdict}",
            kernel.name
        );
    }
    print!("{report}");
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
