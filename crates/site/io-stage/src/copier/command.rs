//! `--command`: a program of the user's copies.

use super::flow::State;
use super::left;
use super::making::Making;
use crate::stop::Stop;
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// How often to see whether it has ended.
const LOOK: Duration = Duration::from_millis(10);

/// A command line with `{src}` and `{dst}` in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(String);

/// What is wrong with a command line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {{src}} and {{dst}} in the command, as in 'cp --reflink=auto {{src}} {{dst}}'")]
pub struct BadCommand;

impl std::str::FromStr for Template {
    type Err = BadCommand;

    fn from_str(text: &str) -> Result<Self, BadCommand> {
        let has_both = text.contains("{src}") && text.contains("{dst}");
        if has_both { Ok(Template(text.to_owned())) } else { Err(BadCommand) }
    }
}

impl Template {
    /// Let the program make the draft.
    pub(super) fn run(&self, source: &Path, draft: &Path, making: &mut Making<'_>) -> Result<(), Stop> {
        let ledger = || making.ledger.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mark = ledger().identity().map(left::mark);
        let mut child = self.start(source, draft, mark)?;
        let pid = child.id() as i32;
        if let Some(started) = left::started_at(pid) {
            let _ = ledger().command(pid, started);
        }
        let status = attend(&mut child, making)?;
        if status.success() {
            return Ok(());
        }
        // It may have failed because the file is gone, which is told when that is looked at again.
        if source.symlink_metadata().is_err() {
            return Err(Stop::Vanished);
        }
        Err(Stop::Failed(format!("{}: the command ended with {status}", files::shown(source))))
    }

    fn start(&self, source: &Path, draft: &Path, mark: Option<String>) -> Result<Child, Stop> {
        // The paths are arguments of the shell, so that nothing in them is taken for a command.
        let script = self.0.replace("{src}", "\"$1\"").replace("{dst}", "\"$2\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh"]).args([source, draft]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
        command.envs(mark.map(|mark| (left::MARK, mark)));
        command.spawn().map_err(|error| Stop::Failed(format!("sh: {error}")))
    }
}

/// Until it has ended: stop it while the copy has to rest, end it if that is given up.
fn attend(child: &mut Child, making: &mut Making<'_>) -> Result<ExitStatus, Stop> {
    let group = Pid::from_raw(child.id() as i32);
    let signal = |signal: Signal| group.map(|group| kill_process_group(group, signal));
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) => {}
            Err(error) => return Err(Stop::Failed(format!("the command: {error}"))),
        }
        match making.flow.state() {
            State::Running => making.flow.sleep(LOOK),
            State::Paused => {
                signal(Signal::STOP);
                if let Ok(rested) = making.flow.wait() {
                    making.pace.rested(rested);
                    signal(Signal::CONT);
                }
            }
            State::Cancelled => {
                signal(Signal::KILL);
                let _ = child.wait();
                return Err(Stop::Cancelled);
            }
        }
    }
}
