//! `ftio trace -- COMMAND…`: run a program with libtmio.so preloaded.

mod launcher;

use crate::cli::TraceArgs;
use crate::exit::Exit;
use anyhow::{Context, bail};
use launcher::Launcher;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the library is called.
const LIBRARY: &str = "libtmio.so";

/// Set up the environment and become the program. Returns only if that fails.
pub fn run(args: &TraceArgs) -> anyhow::Result<Exit> {
    let mut command = command(args)?;
    if args.dry_run {
        show(&command)?;
        return Ok(Exit::Done);
    }
    let error = command.exec();
    Err(error).with_context(|| format!("cannot run {}", command.get_program().to_string_lossy()))
}

/// The program with its environment, or its launcher with what passes that on.
pub fn command(args: &TraceArgs) -> anyhow::Result<Command> {
    let library = library(args.library.as_deref())?;
    let mut variables = vec![("LD_PRELOAD", preload(&library, env::var_os("LD_PRELOAD"))?)];
    if let Some(output) = &args.output {
        variables.push(("TMIO_OUTPUT", std::path::absolute(output)?.into_os_string()));
    }
    if let Some(flush) = &args.flush {
        variables.push(("TMIO_FLUSH", flush.into()));
    }
    let Some((program, rest)) = args.command.split_first() else { bail!("no command") };
    let passed_on = Launcher::of(program).and_then(|launcher| launcher.arguments(&variables, rest));
    let mut command = Command::new(program);
    match passed_on {
        Some(words) => {
            command.args(words);
            // The launcher itself needs no tracer, but may be asked to pass on its whole environment.
            command.envs(variables.iter().skip(1).map(|(name, value)| (name, value)));
        }
        None => {
            command.envs(variables.iter().map(|(name, value)| (name, value)));
        }
    }
    command.args(rest);
    Ok(command)
}

/// The library asked for, or the first one found, as an absolute path.
fn library(asked: Option<&Path>) -> anyhow::Result<PathBuf> {
    let named = asked.map(PathBuf::from).or_else(|| env::var_os("TMIO_LIBRARY").map(PathBuf::from));
    let places = match &named {
        Some(path) => vec![path.clone()],
        None => {
            let binary = env::current_exe().context("cannot find out where ftio is")?;
            let binary = binary.canonicalize().unwrap_or(binary);
            let beside = binary.parent().unwrap_or(Path::new(".")).to_owned();
            ["", "../lib", "../lib64", "../lib/tmio", "../release"]
                .map(|place| beside.join(place).join(LIBRARY))
                .into()
        }
    };
    let Some(found) = places.iter().find(|path| path.is_file()) else {
        let tried: Vec<String> = places.iter().map(|path| path.display().to_string()).collect();
        bail!("cannot find {LIBRARY}: tried {} (name it with --library or TMIO_LIBRARY)", tried.join(", "));
    };
    found.canonicalize().with_context(|| found.display().to_string())
}

/// The library in front of what is preloaded already.
fn preload(library: &Path, before: Option<OsString>) -> anyhow::Result<OsString> {
    // The loader splits LD_PRELOAD at spaces and colons and knows no quotes.
    let text = library.to_string_lossy();
    if text.contains([' ', ':', '\t', '\n']) {
        bail!(
            "{text}: a path with a space or a colon cannot be preloaded; copy or link the library elsewhere"
        );
    }
    let mut value = library.as_os_str().to_owned();
    if let Some(before) = before.filter(|before| !before.is_empty()) {
        value.push(":");
        value.push(before);
    }
    Ok(value)
}

/// The command as a shell would take it.
fn show(command: &Command) -> anyhow::Result<()> {
    let quoted = |text: &OsStr| {
        let text = text.to_string_lossy().into_owned();
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,%@".contains(c);
        if !text.is_empty() && text.chars().all(plain) {
            text
        } else {
            format!("'{}'", text.replace('\'', "'\\''"))
        }
    };
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.to_string_lossy(), quoted(value?))));
    let words = std::iter::once(command.get_program()).chain(command.get_args()).map(quoted);
    let line: Vec<String> = variables.chain(words).collect();
    writeln!(std::io::stdout(), "{}", line.join(" "))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_comes_first() {
        let value =
            |before: Option<&str>| preload(Path::new("/l/libtmio.so"), before.map(OsString::from)).unwrap();
        assert_eq!(value(None), "/l/libtmio.so");
        assert_eq!(value(Some("")), "/l/libtmio.so");
        assert_eq!(value(Some("/o.so")), "/l/libtmio.so:/o.so");
        assert!(preload(Path::new("/a b/libtmio.so"), None).is_err());
    }
}
