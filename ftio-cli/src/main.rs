//! The `ftio` command: arguments in; tables, JSON and pictures out. The analysis itself is `ftio-core`.

#![forbid(unsafe_code)]

mod args;
mod detect;
mod exit;
mod info;
mod inputs;
mod launcher;
mod plot;
mod report;
mod sparkline;
mod spelling;
mod style;
mod text;
mod trace;
mod units;

use args::{Cli, Command};
use clap::Parser;
use exit::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse_from(spelling::accept_short_words(std::env::args_os())) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are results; anything else is wrong usage.
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            let _ = error.print();
            return exit.into();
        }
    };
    let done = match cli.command {
        Some(Command::Info(args)) => info::run(&args),
        Some(Command::Trace(args)) => trace::run(&args),
        None => detect::run(&cli.detect),
    };
    exit::report(done).into()
}
