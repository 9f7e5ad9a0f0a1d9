//! The command line: everything is in the library's `cli` room.

use std::process::ExitCode;
use stickler::num::pages::LargePages;

#[global_allocator]
static ALLOCATOR: LargePages = LargePages;

fn main() -> ExitCode {
    stickler::cli::run(std::env::args_os())
}
