//! The command line: everything is in the library's `cli` room.

use std::process::ExitCode;

fn main() -> ExitCode {
    stickler::cli::run(std::env::args_os())
}
