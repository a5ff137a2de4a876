//! What `ftio` alone prints: the commands in groups, and first steps. `ftio --help` begins with the groups.

use crate::inputs::HEADING;
use crate::terminal::width::labelled;
use clap::{Arg, Command};
use std::ffi::OsString;

/// The commands, in the order of a user's questions.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Record", &["trace", "run", "recover"]),
    ("Understand", &["info", "report", "advise", "diff", "plot", "convert"]),
    ("Foresee", &["predict", "stage"]),
    ("Many runs", &["model", "categorize", "signature"]),
    ("Site", &["serve", "agent", "schedule", "arbiter", "top", "measure"]),
    ("Simulate", &["simulate"]),
    ("Itself", &["schema", "completions", "man"]),
];

const FIRST_STEPS: &str = "\
Examples:
  Trace a program, find the period of its I/O, and see what is wrong with it:
      ftio trace -o run.msgpack -- mpirun -n 4 ./app
      ftio run.msgpack
      ftio report run.msgpack -o report.html

ftio --help lists the options of the analysis; ftio COMMAND --help those of a command.
";

/// Whether the command was called alone, or with `-h` and no command.
pub fn is_asked_for(args: &[OsString], commands: &[&str]) -> bool {
    let words: Vec<&str> = args.iter().skip(1).map(|arg| arg.to_str().unwrap_or_default()).collect();
    match words.first() {
        None => true,
        Some(first) => {
            !commands.contains(first)
                && words.iter().take_while(|word| **word != "--").any(|word| *word == "-h")
        }
    }
}

/// All of it, for a terminal of this width.
pub fn text(command: &Command, columns: usize) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    format!("{about}\n\n{USAGE}\n{}\n{FIRST_STEPS}", commands(command, columns))
}

const USAGE: &str = "\
Usage: ftio TRACE...     finds the period
       ftio COMMAND ...
";

/// The groups, each command with what it does.
fn commands(command: &Command, columns: usize) -> String {
    let line = |name: &&str| {
        let found = command.find_subcommand(name)?;
        let about = found.get_about().map(ToString::to_string).unwrap_or_default();
        Some(labelled(&format!("  {name:<13}"), &about, Some(columns)))
    };
    let group = |(title, names): &(&str, &[&str])| {
        let lines: String = names.iter().filter_map(line).collect();
        if lines.is_empty() { String::new() } else { format!(" {title}\n{lines}") }
    };
    format!("Commands:\n{}", GROUPS.iter().map(group).collect::<String>())
}

/// The same command with help that says everything once: the first page has the groups, and the options that
/// all commands share; the other pages name those. Examples are for `--help`.
pub fn grouped(command: Command, columns: usize) -> Command {
    let commands = commands(&command, columns);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}\n{{all-args}}{{after-help}}"
    );
    let everywhere: Vec<Arg> = command.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    let command = command.mut_subcommands(|sub| shared_once(sub, &everywhere).hide(true));
    for_long_help(command).help_template(template)
}

fn shared_once(command: Command, everywhere: &[Arg]) -> Command {
    let is_shared = |arg: &Arg| arg.get_help_heading() == Some(HEADING) && !arg.is_hide_set();
    let own = |arg: &Arg| command.get_arguments().any(|known| known.get_id() == arg.get_id());
    let more: Vec<Arg> =
        everywhere.iter().filter(|arg| !own(arg)).map(|arg| arg.clone().hide(true)).collect();
    let shared = command.get_arguments().filter(|arg| is_shared(arg)).chain(&more);
    let names: Vec<String> = shared.filter_map(|arg| Some(format!("--{}", arg.get_long()?))).collect();
    let told = format!("As everywhere (see ftio --help): {}.", names.join(", "));
    let after = command.get_after_help().map_or_else(String::new, |after| format!("\n\n{after}"));
    let command = command.mut_args(|arg| if is_shared(&arg) { arg.hide(true) } else { arg });
    let command = command.args(more).after_help(told + &after);
    for_long_help(command).mut_subcommands(|sub| shared_once(sub, everywhere))
}

/// What follows the options is for `--help`.
fn for_long_help(command: Command) -> Command {
    match command.get_after_help().cloned() {
        Some(after) => command.after_help("--help says more, with examples.").after_long_help(after),
        None => command,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_command_is_in_one_group() {
        let command = Cli::command();
        let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set()).map(Command::get_name);
        let mut shown: Vec<&str> = shown.collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        grouped.retain(|name| cfg!(feature = "serve") || !["serve", "agent"].contains(name));
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(shown, grouped);
    }

    #[test]
    fn it_fits_a_screen() {
        let text = text(&Cli::command(), 80);
        assert!(text.lines().count() <= 50, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 92), "{text}");
    }

    /// `-h` is for a look; `--help` tells everything.
    #[test]
    fn short_help_is_short() {
        fn check(command: &mut Command, name: &str) {
            let text = command.render_help().to_string();
            assert!(name == "ftio" || text.lines().count() <= 50, "{name}:\n{text}");
            let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
            for sub in names.iter().filter(|sub| *sub != "help") {
                let full = format!("{name} {sub}");
                check(command.find_subcommand_mut(sub).unwrap(), &full);
            }
        }
        let mut command = crate::cli::helped(100);
        command.build();
        check(&mut command, "ftio");
    }
}
