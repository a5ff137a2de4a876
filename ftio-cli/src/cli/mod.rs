//! The top of the command line: options and subcommands. Each command keeps its arguments with its code.

pub mod examples;
pub mod former;
pub mod manual;
pub mod names;
pub mod overview;
pub mod spelling;
pub mod typo;

use crate::values::one_of;
use anstream::ColorChoice::{self, AlwaysAnsi, Auto, Never};
use clap::{CommandFactory, Parser, Subcommand, ValueHint};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  Trace a program, then find the period of its I/O:
      ftio trace --output run.msgpack -- mpirun -n 4 ./app
      ftio run.msgpack
  Only reads, from second 100 to 400, checked against the autocorrelation:
      ftio -m read --ts 100 --te 400 -c run.msgpack
  Only the period, for a script (null if there is none):
      ftio --json run.msgpack | jq .period
  A picture of the bandwidth, its period and its spectrum, to open in a browser:
      ftio --plot run.html run.msgpack
  Several runs side by side:
      ftio plot -o runs.html run-1.msgpack run-2.msgpack
  What is in the trace, without any analysis:
      ftio info run.msgpack
  A page about the run, what is wrong with its I/O and what to do, and what changed since the last one:
      ftio report run.msgpack -o report.html
      ftio advise run.msgpack
      ftio diff last.msgpack run.msgpack
  When will the next phase come? For a job that is running, or that you start now:
      ftio predict run.msgpack
      ftio run -- mpirun -n 4 ./app
  Turn what a killed job has left into an ordinary trace:
      ftio recover run.msgpack
  How bytes, times and bandwidths grow with the number of processes, from runs at several scales:
      ftio model runs/*.msgpack
  What the applications of a site do, from its archive of Darshan logs:
      ftio categorize /logs/darshan --html archive.html
  What an application does, from the log of the storage servers alone:
      ftio signature --log servers.csv --jobs jobs.txt --user ann --nodes 64
  Give running jobs I/O priorities by their periods, or simulate the effect:
      ftio schedule --configfs DIR run.msgpack
      ftio simulate turns
  Move files out of a burst buffer in the quiet between the phases of a job:
      ftio stage run.msgpack --from /bb/job --to /scratch/job
  Let the jobs on a file system take turns at I/O, and see who waits:
      ftio arbiter --listen unix:/run/scratch.sock
      ftio top --arbiter unix:/run/scratch.sock
  A page and an interface for all jobs of a site, whose traces are found below a directory:
      ftio serve --watch /scratch/traces
  What malleable jobs would change in a batch system:
      ftio simulate batch jobs.swf --nodes 128

Exit status: 0 done, 1 failed, 2 wrong usage, 3 not periodic (only with --exit-status).";

/// Find the period of an application's I/O phases from its trace
///
/// The bandwidth of all ranks over time is treated as a signal. Its I/O phases are counted at every time
/// scale; if they come more regularly than chance would allow, the I/O is periodic, and the period is the
/// mean time from the start of one phase to the start of the next. The spectrum is a second opinion, and the
/// confidence is the probability that the period is right.
#[derive(Debug, Parser)]
#[command(name = "ftio", version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
#[command(subcommand_negates_reqs = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub detect: crate::detect::Args,
    /// Write the result to this file instead of standard output: as a picture if its name ends in .html, .svg
    /// or .png. Every command that prints has this option, and those that write a file name it so
    #[arg(short, long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// When to use colours: always, never, or auto (on a terminal; NO_COLOR and CLICOLOR_FORCE are respected)
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_parser = one_of([("auto", Auto), ("always", AlwaysAnsi), ("never", Never)]),
        default_value = "auto",
        hide_possible_values = true,
        help_heading = "Output"
    )]
    pub color: ColorChoice,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    // In the order of a user's questions: trace, look, predict, then the work of a site.
    Trace(crate::trace::Args),
    Run(crate::run::Args),
    Info(crate::info::Args),
    Report(crate::report::Args),
    Advise(crate::advise::Args),
    Diff(crate::diff::Args),
    Plot(crate::plot::Args),
    Convert(crate::convert::Args),
    Predict(crate::predict::Args),
    Recover(crate::recover::Args),
    #[command(hide = true)]
    Scale(crate::scale::Args),
    Model(crate::model::Args),
    Categorize(Box<crate::categorize::Args>),
    Signature(Box<crate::signature::Args>),
    Schedule(Box<crate::schedule::Args>),
    Stage(Box<crate::stage::Args>),
    Arbiter(crate::arbiter::Args),
    Top(crate::top::Args),
    #[cfg(feature = "serve")]
    Serve(Box<crate::serve::Args>),
    #[cfg(feature = "serve")]
    Agent(crate::serve::agent::Args),
    Measure(crate::measure::Args),
    Simulate(Box<crate::simulate::Args>),
    Schema(crate::schema::Args),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
}

impl Command {
    /// Whether its result is a file that its own `--output` names.
    pub fn writes_a_file(&self) -> bool {
        use Command::*;
        match self {
            Trace(_) | Run(_) | Report(_) | Plot(_) | Convert(_) | Recover(_) | Scale(_) | Categorize(_) => {
                true
            }
            Signature(args) => args.command.is_none(),
            Simulate(args) => matches!(args.what, crate::simulate::What::Workload(_)),
            _ => false,
        }
    }

    /// Whether it goes on until it is stopped, or a job has ended: others may follow what it prints.
    pub fn goes_on(&self) -> bool {
        use Command::*;
        matches!(self, Predict(_) | Schedule(_) | Stage(_) | Arbiter(_) | Top(_))
    }
}

/// The exit status of a command that says nothing else about it.
const EXIT_STATUS: &str = "\n\nExit status: 0 done, 1 failed, 2 wrong usage.";

/// The command line; every epilogue ends with the exit status.
pub fn definition() -> clap::Command {
    fn completed(command: clap::Command) -> clap::Command {
        let text = command.get_after_help().map(ToString::to_string);
        match text.filter(|text| !text.contains("Exit status: ")) {
            Some(text) => command.after_help(text + EXIT_STATUS),
            None => command,
        }
        .mut_subcommands(completed)
    }
    completed(Cli::command())
}

/// The command line with its help, for a terminal of this width.
pub fn helped(columns: usize) -> clap::Command {
    examples::fitted(overview::grouped(definition(), columns), columns).term_width(columns)
}

/// The names of the subcommands.
pub fn commands() -> Vec<String> {
    Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::Sampling;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    /// The epilogue of every command tells the exit status, and its running text is wrapped by clap alone.
    #[test]
    fn epilogues_fit_any_terminal() {
        fn check(command: &clap::Command) {
            let name = command.get_name();
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let of_ftio = ["completions", "man", "help"].contains(&name);
            assert!(of_ftio || text.contains("Exit status: "), "{name}");
            let lines: Vec<&str> = text.lines().collect();
            for pair in lines.windows(2) {
                let runs_on = !pair[0].is_empty() && !pair[1].is_empty();
                assert!(!runs_on || pair[1].starts_with(' '), "{name}: {}", pair[1]);
            }
            command.get_subcommands().for_each(check);
        }
        check(&definition());
    }

    #[test]
    fn traces_and_subcommands() {
        let cli = Cli::try_parse_from(["ftio", "a", "b", "--json", "-f", "-1"]).unwrap();
        assert!(cli.command.is_none() && cli.detect.traces.len() == 2);
        assert_eq!(cli.detect.window.signal.freq, Some(Sampling::Auto));
        let cli =
            Cli::try_parse_from(["ftio", "trace", "-o", "x", "--", "mpirun", "-n", "2", "./a"]).unwrap();
        let Some(Command::Trace(trace)) = cli.command else { panic!("not trace") };
        assert_eq!(trace.program.command, ["mpirun", "-n", "2", "./a"]);
        for wrong in
            [&["ftio"][..], &["ftio", "a", "-t", "2"], &["ftio", "a", "-f", "0"], &["ftio", "a", "-m", "x"]]
        {
            assert!(Cli::try_parse_from(wrong).is_err(), "{wrong:?}");
        }
    }
}
