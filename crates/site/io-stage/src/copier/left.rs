//! Programs of `--command` that a process which was killed has left.
//!
//! The journal tells their numbers, and is not believed: a number may be that of another process by now, or
//! somebody has written it there. So a program is started with a mark in its environment that tells which
//! file the journal is, and is ended only if it has that.

use rustix::process::{Pid, Signal, kill_process_group};
use std::fs;
use std::path::PathBuf;

/// The variable that tells a program, and those that it starts, for which journal they copy.
pub(super) const MARK: &str = "FTIO_STAGE_JOURNAL";

/// What a program is marked with: the journal, as the system tells files apart.
pub(super) fn mark((device, inode): (u64, u64)) -> String {
    format!("{device}:{inode}")
}

/// End programs that still write to drafts: process, and when it started by the kernel's count. Returns what
/// was left alone, in words.
pub fn end(commands: &[(i32, u64)], journal: Option<(u64, u64)>) -> Vec<String> {
    let mut left_alone = Vec::new();
    for (pid, started) in commands {
        if started_at(*pid) != Some(*started) {
            continue;
        }
        // To the kernel, the group of process 1 means all processes.
        let group = Pid::from_raw(*pid).filter(|group| !group.is_init());
        match group.filter(|_| journal.is_some_and(|journal| is_marked(*pid, journal))) {
            Some(group) => drop(kill_process_group(group, Signal::KILL)),
            None => left_alone.push(format!(
                "process {pid}: the journal says that it copies, but it was not started for that; it is left \
                 alone"
            )),
        }
    }
    left_alone
}

/// Was it started with the mark of this journal?
fn is_marked(pid: i32, journal: (u64, u64)) -> bool {
    let expected = format!("{MARK}={}", mark(journal));
    let variables = fs::read(of(pid, "environ")).unwrap_or_default();
    variables.split(|byte| *byte == 0).any(|variable| variable == expected.as_bytes())
}

/// When a process was started, by the kernel's count: field 22 of `/proc/PID/stat`.
pub(super) fn started_at(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(of(pid, "stat")).ok()?;
    let after_name = text.rsplit_once(')')?.1;
    after_name.split_whitespace().nth(19)?.parse().ok()
}

fn of(pid: i32, what: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    const JOURNAL: (u64, u64) = (7, 4711);

    fn sleeper(journal: Option<(u64, u64)>) -> (Child, (i32, u64)) {
        let mut command = Command::new("sleep");
        command.arg("60").process_group(0);
        if let Some(journal) = journal {
            command.env(MARK, mark(journal));
        }
        let child = command.spawn().unwrap();
        let pid = child.id() as i32;
        // The kernel lets the parent go on before the child's environment can be read.
        while fs::read(of(pid, "environ")).unwrap().is_empty() {
            std::thread::yield_now();
        }
        (child, (pid, started_at(pid).unwrap()))
    }

    #[test]
    fn only_what_copies_for_this_journal_is_ended() {
        for other in [None, Some((7, 4712)), Some((7, 47110)), Some((8, 4711))] {
            let (mut child, noted) = sleeper(other);
            let told = end(&[noted], Some(JOURNAL));
            assert!(told.len() == 1 && told[0].contains(&noted.0.to_string()), "{told:?}");
            let (pid, started) = noted;
            assert!(end(&[(pid, started + 1), (-pid, started), (0, 0)], Some(JOURNAL)).is_empty());
            assert!(child.try_wait().unwrap().is_none(), "{other:?}");
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let (mut child, noted) = sleeper(Some(JOURNAL));
        assert_eq!(end(&[noted], None).len(), 1);
        assert!(child.try_wait().unwrap().is_none(), "which file the journal is could not be told");
        assert!(end(&[noted], Some(JOURNAL)).is_empty());
        assert!(!child.wait().unwrap().success());
    }
}
