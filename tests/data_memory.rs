//! How much is held while a table is read and bound to a model: at most twice its numbers.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use stickler::data::Dataset;
use stickler::target::ModelTarget;

/// The system's allocator, with the bytes that are held and the most that were.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        MOST.fetch_max(HELD.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: the caller keeps the promises of `GlobalAlloc`, and the system's asks for the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller gives a block of this allocator with its layout; all blocks are the system's.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        MOST.fetch_max(HELD.fetch_add(size, Relaxed) + size - layout.size(), Relaxed);
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller gives a block of this allocator with its layout; all blocks are the system's.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const ROWS: usize = 60_000;
const COLUMNS: usize = 9;

/// The most bytes held during some work, beyond those held before.
fn most<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = HELD.load(Relaxed);
    MOST.store(before, Relaxed);
    let done = work();
    (MOST.load(Relaxed) - before, done)
}

/// One test, since the count is of the whole process.
#[test]
fn a_table_and_the_model_that_reads_it_hold_at_most_twice_its_numbers() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("data_memory.csv");
    let mut text = String::from("y,x1,x2,x3,x4,x5,x6,x7,x8\n");
    for i in 0..ROWS {
        let cells: Vec<String> =
            (0..COLUMNS).map(|j| format!("{:.6}", (0.1 * (i * COLUMNS + j) as f64).sin())).collect();
        writeln!(text, "{}", cells.join(",")).unwrap();
    }
    std::fs::write(&path, text).unwrap();
    let numbers = 8 * ROWS * COLUMNS;
    // The text that is in hand at a time, the syntax tree and the graph.
    let beside = 1 << 20;

    let (held, data) = most(|| Dataset::read(&[&path]).unwrap());
    assert!(
        held < numbers + numbers / COLUMNS + beside,
        "reading holds {held} bytes for {numbers} of numbers"
    );

    let matrix = "data { y : real[N]; x : real[N, D] = columns(\"x*\") }\nparam a ~ normal(0, 1)\nparam b[D] ~ normal(0, 1)\n\
                  param s ~ half_normal(1)\ny ~ normal(a + x * b, s)\n";
    let columns = "data { y : real[N]; x1 : real[N]; x2 : real[N]; x3 : real[N] }\nparam b[3] ~ normal(0, 1)\n\
                   param s ~ half_normal(1)\ny ~ normal(x1 * b[1] + x2 * b[2] + x3 * b[3], s)\n";
    for (model, more) in [(matrix, numbers), (columns, 0)] {
        let program = stickler::syntax::parse(model).unwrap();
        let (held, lowered) = most(|| stickler::lower::lower(&program, model, &data).unwrap());
        assert!(held < more + beside, "binding holds {held} bytes more, not {more}:\n{model}");
        // Compiling looks for structure, which takes the coefficients of a row once more, and a few numbers a
        // row.
        let (held, _) = most(|| ModelTarget::from_lowered(lowered));
        assert!(
            held < 2 * numbers + beside,
            "compiling holds {held} bytes for {numbers} of numbers:\n{model}"
        );
    }
}
