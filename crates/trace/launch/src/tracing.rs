//! A command with the variables that the tracer reads.

use crate::error::{Context, Error};
use crate::launcher::Launcher;
use crate::library::preload;
use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// How a program is traced.
#[derive(Clone, Debug)]
pub struct Tracing<'a> {
    /// Where the trace goes, if not where the library puts it.
    pub output: Option<&'a Path>,
    /// When to write out before the end, if at all.
    pub flush: Option<&'a str>,
    /// As an absolute path.
    pub library: &'a Path,
    /// Further variables of the environment.
    pub variables: Vec<(&'static str, OsString)>,
}

impl Tracing<'_> {
    /// The program with its environment, or its launcher with what passes that on.
    pub fn command(&self, words: &[OsString]) -> Result<Command, Error> {
        let mut variables = vec![("LD_PRELOAD", preload(self.library, env::var_os("LD_PRELOAD"))?)];
        if let Some(output) = self.output {
            let absolute = std::path::absolute(output).context(output.display().to_string())?;
            variables.push(("TMIO_OUTPUT", absolute.into_os_string()));
        }
        if let Some(flush) = self.flush {
            variables.push(("TMIO_FLUSH", flush.into()));
        }
        variables.extend(self.variables.iter().cloned());
        let Some((program, rest)) = words.split_first() else { return Err(Error::new("no command")) };
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
                command.args(rest);
            }
        }
        Ok(command)
    }
}
