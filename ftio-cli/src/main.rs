//! The `ftio` command: arguments in; tables, JSON and pictures out. The analysis itself is `ftio-core`.

#![forbid(unsafe_code)]

mod advise;
mod arbiter;
mod batch;
mod categorize;
mod clean;
mod cli;
mod convert;
mod detect;
mod diff;
mod exit;
mod follow;
mod info;
mod inputs;
mod log;
mod model;
mod output;
mod picture;
mod plot;
mod predict;
mod recover;
mod report;
mod run;
mod scale;
mod schedule;
#[cfg(feature = "serve")]
mod serve;
mod signal;
mod signature;
mod stage;
mod study;
mod terminal;
mod top;
mod trace;
mod values;

use clap::{CommandFactory, FromArgMatches};
use cli::{Cli, Command, commands, examples, manual, names, spelling, typo};
use exit::Exit;
use std::process::ExitCode;
use terminal::style;
use terminal::width::columns;

/// What clap takes where there is no terminal.
const UNKNOWN_WIDTH: usize = 100;

fn main() -> ExitCode {
    let args = names::with_subcommand(std::env::args_os());
    let commands = commands();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let columns = columns().unwrap_or(UNKNOWN_WIDTH);
    let command = examples::fitted(Cli::command(), columns).term_width(columns);
    let parsed = command.try_get_matches_from(spelling::accept(args, &commands));
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are results; anything else is wrong usage.
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            let _ = error.print();
            if let Some(tip) = typo::tip(&error) {
                eprintln!("\n  tip: {tip}");
            }
            return exit.into();
        }
    };
    style::choose(cli.color);
    let done = match cli.command {
        Some(Command::Info(args)) => info::run(&args),
        Some(Command::Plot(args)) => plot::run(&args),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Advise(args)) => advise::run(&args),
        Some(Command::Diff(args)) => diff::run(&args),
        Some(Command::Convert(args)) => convert::run(&args),
        Some(Command::Recover(args)) => recover::run(&args),
        Some(Command::Clean(args)) => clean::run(&args),
        Some(Command::Completions(args)) => manual::completions(&args),
        Some(Command::Man(args)) => manual::man(&args),
        Some(Command::Predict(args)) => predict::run(&args),
        Some(Command::Run(args)) => {
            // The exit code is that of the program.
            return match run::run(&args) {
                Ok(code) => ExitCode::from(code),
                Err(error) => exit::report(Err(error)).into(),
            };
        }
        Some(Command::Trace(args)) => trace::run(&args),
        Some(Command::Scale(args)) => scale::run(&args),
        Some(Command::Model(args)) => model::run(&args),
        Some(Command::Schedule(args)) => schedule::run(&args),
        Some(Command::Stage(args)) => stage::run(&args),
        Some(Command::Arbiter(args)) => arbiter::run(&args),
        Some(Command::Top(args)) => top::run(&args),
        Some(Command::Categorize(args)) => categorize::run(&args),
        Some(Command::Signature(args)) => signature::run(&args),
        #[cfg(feature = "serve")]
        Some(Command::Serve(args)) => serve::run(&args),
        #[cfg(feature = "serve")]
        Some(Command::Agent(args)) => serve::agent::run(&args),
        Some(Command::Batch(args)) => batch::run(&args),
        None => match cli.detect.traces.first().and_then(|word| typo::meant(word, &commands)) {
            Some(meant) => {
                let word = cli.detect.traces[0].display();
                Err(exit::wrong_usage(format!(
                    "{word}: no such file, and no such command: did you mean {meant}?"
                )))
            }
            None => detect::run(&cli.detect),
        },
    };
    exit::report(done).into()
}
