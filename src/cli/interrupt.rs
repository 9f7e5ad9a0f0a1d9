//! Ends a fit early: the first Ctrl-C, or the time that it may take, asks it to keep what it has; the second
//! ends the program.

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

/// Asks for the end of the fit after so many seconds.
pub(super) fn after(seconds: f64) {
    if let Ok(time) = std::time::Duration::try_from_secs_f64(seconds) {
        ASKED.request_after(time);
    }
}

/// What the first Ctrl-C asks for.
pub(super) fn stop() -> Stop {
    ASKED.clone()
}

/// Whether to go on.
pub(super) fn asked() -> ControlFlow<()> {
    if ASKED.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
