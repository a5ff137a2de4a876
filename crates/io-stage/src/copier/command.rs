//! `--command`: a program of the user's copies.

use super::data;
use super::file::{self, Making};
use super::flow::State;
use super::stop::Stop;
use crate::journal::{Journal, started_at};
use crate::stamp::Stamp;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::OpenOptions;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
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
    /// Let the program make the draft; then it is verified like any other.
    pub(super) fn make(
        &self,
        source: &Path,
        draft: &Path,
        expected: Option<Stamp>,
        making: &mut Making<'_>,
        journal: &Mutex<Journal>,
    ) -> Result<(Stamp, Option<u64>), Stop> {
        let (opened, meta) = file::open(source, expected)?;
        file::has_room(draft, &meta)?;
        let mut child = self.start(source, draft)?;
        let pid = child.id() as i32;
        if let Some(started) = started_at(pid) {
            let mut journal = journal.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let _ = journal.command(pid, started);
        }
        let status = attend(&mut child, making)?;
        if !status.success() {
            // It may have failed because the file is gone or has changed, or for want of room.
            let (_, now) = file::open(source, expected)?;
            file::has_room(draft, &now)?;
            return Err(Stop::Failed(format!("{}: the command ended with {status}", source.display())));
        }
        let target = OpenOptions::new().read(true).write(true).custom_flags(NO_LINK).open(draft);
        let target = target.map_err(|error| Stop::writing(draft, &error))?;
        let made = target.metadata().map_err(|error| Stop::writing(draft, &error))?;
        if !made.is_file() || made.size() != meta.size() {
            file::open(source, Some(Stamp::of(&meta)))?;
            let (expected, found) = (meta.size(), made.size());
            let why = format!("{}: the command left {found} bytes, expected {expected}", source.display());
            return Err(Stop::Failed(why));
        }
        let checksum = match making.checksum {
            true => Some(data::checksum((&opened, source), &opened, meta.size(), making.flow, making.pace)?),
            false => None,
        };
        making.finish(&opened, &target, (source, draft), &meta, checksum)
    }

    fn start(&self, source: &Path, draft: &Path) -> Result<Child, Stop> {
        // The paths are arguments of the shell, so that nothing in them is taken for a command.
        let script = self.0.replace("{src}", "\"$1\"").replace("{dst}", "\"$2\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh"]).args([source, draft]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
        command.spawn().map_err(|error| Stop::Failed(format!("sh: {error}")))
    }
}

const NO_LINK: i32 = rustix::fs::OFlags::NOFOLLOW.bits() as i32;

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
