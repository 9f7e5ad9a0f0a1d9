//! The command line: arguments, files, exit codes. The only room that prints.

#[macro_use]
mod out;

mod answer;
mod args;
mod bench;
mod certified;
mod certify;
mod check;
mod descent;
mod dump;
mod fit;
mod fmt;
mod grad;
mod interrupt;
mod isa;
mod list;
mod load;
mod test;

use args::{Cli, Command};
use clap::Parser;
use std::ffi::OsString;
use std::process::ExitCode;

/// How the names of data files end.
const DATA: [&str; 6] = ["csv", "tsv", "parquet", "arrow", "feather", "json"];

/// How a command ends when it does not succeed.
pub(crate) enum Failure {
    /// The model or the data are wrong: exit code 1. The text has been rendered.
    Wrong(String),
    /// The command was used wrongly: exit code 2.
    Usage(String),
}

/// What a command gives.
pub(crate) type Outcome = Result<ExitCode, Failure>;

/// Runs the command line.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    let outcome = isa::from_environment().and_then(|()| command(cli.command));
    match outcome {
        Ok(_) if let Some(error) = out::lost() => {
            eprintln!("error: cannot write to standard output: {}", load::plain(error));
            ExitCode::from(2)
        }
        Ok(code) => code,
        Err(Failure::Wrong(text)) => {
            eprint!("{text}");
            ExitCode::from(1)
        }
        Err(Failure::Usage(text)) => {
            eprintln!("error: {text}");
            ExitCode::from(2)
        }
    }
}

/// Runs one command.
fn command(command: Command) -> Outcome {
    match command {
        Command::Fit(args) => fit::run(&args),
        Command::Certify(args) => certify::run(&args),
        Command::Methods => {
            for method in crate::infer::methods::all() {
                outln!("{:<22} {}", method.name(), method.doc());
            }
            outln!(
                "{:<22} four chains of the No-U-Turn sampler in the coordinates of the default fit",
                fit::NUTS
            );
            outln!("{:<22} the default fit and every one of these but nuts, in one table", fit::ALL);
            Ok(ExitCode::SUCCESS)
        }
        Command::Check(args) => check::run(&args),
        Command::Grad(args) => grad::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Dump(args) => dump::run(&args),
        Command::Fmt(args) => fmt::run(&args),
        Command::List(args) => list::run(&args),
    }
}
