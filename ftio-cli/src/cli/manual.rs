//! `ftio man` and `ftio completions SHELL`: manual pages and shell completions, from the same definition as
//! `--help`.

use super::Cli;
use crate::exit::Exit;
use anyhow::Context;
use clap::CommandFactory;
use std::io::Write;

/// Print a completion script: bash, elvish, fish, powershell or zsh
///
/// For example: ftio completions bash > ~/.local/share/bash-completion/completions/ftio
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    #[arg(value_name = "SHELL", value_enum, hide_possible_values = true)]
    pub shell: clap_complete::Shell,
}

/// Print the manual page, or that of a subcommand: ftio man | man -l -
#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// A subcommand
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}

/// Print a page in roff; `ftio man | man -l -` shows it.
pub fn man(args: &ManArgs) -> anyhow::Result<Exit> {
    let mut command = Cli::command();
    command.build();
    let command = match &args.command {
        None => command,
        Some(name) => command
            .find_subcommand(name)
            .with_context(|| format!("unknown subcommand {name:?}; `ftio --help` lists them"))?
            .clone(),
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    std::io::stdout().write_all(&page)?;
    Ok(Exit::Done)
}

pub fn completions(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ftio", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(Exit::Done)
}
