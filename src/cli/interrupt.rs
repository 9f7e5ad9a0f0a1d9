//! Ctrl-C during a fit: the first one asks it to stop and keep its answer, the second one ends the program.

use crate::infer::Stop;
use std::ops::ControlFlow;
use std::sync::LazyLock;

static ASKED: LazyLock<Stop> = LazyLock::new(Stop::default);

/// The exit code of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// Listens from now on. Where that is not possible, Ctrl-C ends the program as it always does.
pub(super) fn listen() {
    let _ = ctrlc::set_handler(|| {
        if ASKED.requested() {
            std::process::exit(INTERRUPTED);
        }
        ASKED.request();
        eprintln!("\nstopping; press Ctrl-C again to stop without an answer");
    });
}

/// What the first Ctrl-C asks for.
pub(super) fn stop() -> Stop {
    ASKED.clone()
}

/// Whether to go on.
pub(super) fn asked() -> ControlFlow<()> {
    if ASKED.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
