//! `ftio man` and `ftio completions SHELL`: manual pages and shell completions, from the same definition as
//! `--help`.

use super::definition;
use crate::exit::Exit;
use anyhow::Context;
use std::io::Write;

/// Print a completion script: bash, elvish, fish, powershell or zsh
///
/// For example: ftio completions bash > ~/.local/share/bash-completion/completions/ftio
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    #[arg(value_name = "SHELL", value_enum, hide_possible_values = true)]
    pub shell: clap_complete::Shell,
}

/// Print a manual page: ftio man | man -l -
#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// A subcommand, such as predict, or simulate turns
    #[arg(value_name = "COMMAND", num_args = 0..)]
    pub command: Vec<String>,

    /// Print the names of all pages instead, one a line
    #[arg(long, conflicts_with = "command")]
    pub list: bool,
}

/// Print a page in roff; `ftio man | man -l -` shows it.
pub fn man(args: &ManArgs) -> anyhow::Result<Exit> {
    let mut command = definition();
    command.build();
    let mut out = std::io::stdout();
    if args.list {
        for name in names(&command, "") {
            writeln!(out, "{name}")?;
        }
        return Ok(Exit::Done);
    }
    for name in &args.command {
        command = command
            .find_subcommand(name)
            .with_context(|| format!("unknown subcommand {name:?}; `ftio man --list` lists all pages"))?
            .clone();
    }
    out.write_all(page(command)?.as_bytes())?;
    Ok(Exit::Done)
}

/// The subcommands of a command, and theirs: "predict", "schedule", "simulate turns".
fn names(command: &clap::Command, before: &str) -> Vec<String> {
    let mut all = Vec::new();
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let name = format!("{before}{}", sub.get_name());
        all.push(name.clone());
        all.extend(names(sub, &format!("{name} ")));
    }
    all
}

/// What follows the options are examples and exit codes, and sections of a manual are called so.
fn page(command: clap::Command) -> anyhow::Result<String> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    let page = String::from_utf8(page)?
        .replace("\n.SH EXTRA\nExamples:\n", "\n.SH EXAMPLES\n")
        .replace("\n.SH EXTRA\n", "\n.SH NOTES\n");
    Ok(page.replace("\nExit status: ", "\n.SH \"EXIT STATUS\"\n"))
}

pub fn completions(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut definition(), "ftio", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_sections() {
        let mut command = definition();
        command.build();
        let all = names(&command, "");
        assert!(all.iter().any(|name| name == "simulate turns") && all.iter().any(|name| name == "report"));
        let report = page(command.find_subcommand("report").unwrap().clone()).unwrap();
        assert!(report.contains(".SH EXAMPLES") && report.contains(".SH \"EXIT STATUS\""), "{report}");
        assert!(!report.contains("EXTRA"), "{report}");
    }
}
