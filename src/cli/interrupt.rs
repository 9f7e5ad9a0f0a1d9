//! Ctrl-C during a fit: the first one asks it to stop and keep its answer, the second one ends the program.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// The exit code of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// Listens from now on. Where that is not possible, Ctrl-C ends the program as it always does.
pub(super) fn listen() {
    let _ = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(INTERRUPTED);
        }
        eprintln!("\nstopping; press Ctrl-C again to stop without an answer");
    });
}

/// Whether to go on.
pub(super) fn asked() -> ControlFlow<()> {
    if ASKED.load(Ordering::SeqCst) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
