//! The `ftio` command: arguments in; tables, JSON and pictures out. The analysis itself is `ftio-core`.

#![forbid(unsafe_code)]

mod advise;
mod arbiter;
mod categorize;
mod cli;
mod convert;
mod detect;
mod diff;
mod exit;
mod follow;
mod info;
mod inputs;
mod log;
mod measure;
mod model;
mod output;
mod picture;
mod plot;
mod predict;
mod print;
mod recover;
mod report;
mod run;
mod scale;
mod schedule;
mod schema;
#[cfg(feature = "serve")]
mod serve;
mod settings;
mod signal;
mod signature;
mod simulate;
mod stage;
mod study;
mod terminal;
mod top;
mod trace;
mod values;

use clap::{CommandFactory, FromArgMatches};
use cli::{Cli, Command, commands, former, manual, names, overview, spelling, typo};
use exit::Exit;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use terminal::text::{Severity, complain};
use terminal::width::columns;

/// What clap assumes without a terminal.
const UNKNOWN_WIDTH: usize = 100;

fn main() -> ExitCode {
    let called: Vec<OsString> = std::env::args_os().collect();
    let columns = columns().unwrap_or(UNKNOWN_WIDTH);
    let args = names::with_subcommand(called.clone());
    let commands = commands();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    if overview::is_asked_for(&args, &commands) {
        return print_result(&overview::text(&Cli::command(), columns)).into();
    }
    let as_python = args.len() != called.len();
    let (args, notes) = former::modern(spelling::accept(args, &commands), &commands, as_python);
    for note in notes {
        complain(Severity::Note, &note);
    }
    let parsed = cli::helped(columns).try_get_matches_from(args);
    let mut cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
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
    let redirected = match redirect(&mut cli) {
        Ok(redirected) => redirected,
        Err(error) => return exit::report(Err(error)).into(),
    };
    cli.color.write_global();
    // The exit code of a program that was run is that of the program.
    if let Some(Command::Run(args)) = &cli.command {
        return match run::run(args) {
            Ok(code) => ExitCode::from(code),
            Err(error) => exit::report(Err(error)).into(),
        };
    }
    let done = done(cli, &commands);
    let done = done.map_err(|error| match &redirected {
        Some(draft) => draft.blamed(error),
        None => error,
    });
    let written = match (&done, redirected) {
        // What is there stays if there is nothing to replace it with.
        (Ok(exit), Some(draft)) if *exit != Exit::Failed || !draft.is_empty() => draft.finish(),
        _ => Ok(()),
    };
    exit::report(done.and_then(|exit| written.map(|()| exit))).into()
}

fn print_result(text: &str) -> Exit {
    exit::report(std::io::stdout().write_all(text.as_bytes()).map(|()| Exit::Done).map_err(Into::into))
}

/// `--output` of commands that print: standard output becomes that file. A picture is drawn instead.
fn redirect(cli: &mut Cli) -> anyhow::Result<Option<output::Draft>> {
    if cli.command.as_ref().is_some_and(Command::writes_a_file) {
        return Ok(None);
    }
    let Some(path) = cli.output.take().filter(|path| path.as_os_str() != "-") else { return Ok(None) };
    if cli.command.is_none() && picture::is_picture(&path) {
        cli.detect.plot.get_or_insert(path);
        return Ok(None);
    }
    let goes_on = cli.command.as_ref().is_some_and(Command::goes_on);
    let draft = if goes_on { output::create_in_place(&path)? } else { output::create(&path)? };
    draft.become_stdout()?;
    Ok(Some(draft))
}

/// Do what the command line says.
fn done(cli: Cli, commands: &[&str]) -> anyhow::Result<Exit> {
    match cli.command {
        Some(Command::Info(args)) => info::run(&args),
        Some(Command::Plot(args)) => plot::run(&args),
        Some(Command::Report(args)) => report::run(&args),
        Some(Command::Advise(args)) => advise::run(&args),
        Some(Command::Diff(args)) => diff::run(&args),
        Some(Command::Convert(args)) => convert::run(&args),
        Some(Command::Recover(args)) => recover::run(&args),
        Some(Command::Schema(args)) => schema::run(&args),
        Some(Command::Completions(args)) => manual::completions(&args),
        Some(Command::Man(args)) => manual::man(&args),
        Some(Command::Predict(args)) => predict::run(&args),
        Some(Command::Run(args)) => run::run(&args).map(|_| Exit::Done),
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
        Some(Command::Measure(args)) => measure::run(&args),
        Some(Command::Simulate(args)) => simulate::run(&args),
        None => match cli.detect.traces.first().and_then(|word| typo::meant(word, commands)) {
            Some(meant) => {
                let word = cli.detect.traces[0].display();
                Err(exit::wrong_usage(format!(
                    "{word}: no such file, and no such command: did you mean {meant}?"
                )))
            }
            None => detect::run(&cli.detect),
        },
    }
}
