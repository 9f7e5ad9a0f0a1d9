//! Standard output, until the reader has had enough: `stickler list distributions | head` ends without a
//! word.

use std::fmt::Arguments;
use std::io::{Error, ErrorKind, Write, stdout};
use std::sync::OnceLock;

/// Why something could not be printed, if so.
static LOST: OnceLock<Error> = OnceLock::new();

/// Prints; ends the program where the reader has closed the pipe, and goes on where output fails for another
/// reason, so that answers still reach the files that were asked for.
pub(super) fn write(text: Arguments) {
    let mut out = stdout().lock();
    match out.write_fmt(text).and_then(|()| out.flush()) {
        Ok(()) => {}
        Err(e) if e.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(e) => {
            // Of several reasons the first is told.
            let _ = LOST.set(e);
        }
    }
}

/// Why something could not be printed, if so: the disk is full, say.
pub(super) fn lost() -> Option<&'static Error> {
    LOST.get()
}

/// As `print!`.
macro_rules! out {
    ($($text:tt)*) => { $crate::cli::out::write(format_args!($($text)*)) };
}

/// As `println!`.
macro_rules! outln {
    ($($text:tt)*) => { $crate::cli::out::write(format_args!("{}\n", format_args!($($text)*))) };
}
