//! Standard output, until the reader has had enough: `stickler list distributions | head` ends without a word.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write, stdout};

/// Prints; ends the program where the reader has closed the pipe, and goes on where output fails for another reason, so that
/// answers still reach the files that were asked for.
pub(super) fn write(text: Arguments) {
    let mut out = stdout().lock();
    let written = out.write_fmt(text).and_then(|()| out.flush());
    if written.is_err_and(|e| e.kind() == ErrorKind::BrokenPipe) {
        std::process::exit(0);
    }
}

/// As `print!`.
macro_rules! out {
    ($($text:tt)*) => { $crate::cli::out::write(format_args!($($text)*)) };
}

/// As `println!`.
macro_rules! outln {
    ($($text:tt)*) => { $crate::cli::out::write(format_args!("{}\n", format_args!($($text)*))) };
}
