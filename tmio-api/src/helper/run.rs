//! A run of processes without a batch job: a program and its fork children, whose part becomes the trace when
//! all of them have ended.

use crate::place::parts::Part;
use crate::process::clock;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use tmio_trace::{Trace, liveness, parts};

/// The program that a run is of: `PROCESS:REALTIME:MONOTONIC` in hexadecimal. Its fork children inherit it.
struct Root {
    pid: u32,
    /// The monotonic clock when it began.
    began: i64,
}

impl Root {
    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split(':').map(|field| u64::from_str_radix(field, 16).ok());
        let (Some(Some(pid)), Some(Some(_)), Some(Some(began))) =
            (fields.next(), fields.next(), fields.next())
        else {
            return None;
        };
        Some(Self { pid: u32::try_from(pid).ok()?, began: i64::try_from(began).ok()? })
    }

    /// Whether its process is there, and not another one that has got its number.
    fn lives(&self) -> bool {
        /// Ticks are coarse.
        const OFF: i64 = 50_000_000;
        let Some(ticks) = liveness::started(self.pid) else { return false };
        // SAFETY: the call has no premises.
        let second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1);
        let since_boot = i128::from(ticks) * 1_000_000_000 / i128::from(second);
        let slept = clock::since_boot() - clock::monotonic();
        since_boot - i128::from(slept) <= i128::from(self.began.saturating_add(OFF))
    }
}

/// Whether the program that a run is of still runs, and may have other children that are to be recorded.
pub(super) fn goes_on(root: Option<&str>) -> bool {
    root.and_then(Root::parse).is_some_and(|root| root.lives())
}

/// A run whose trace was made goes on: the trace becomes its part again.
pub(super) fn resume(part: &Path, numbers: &Part, trace: &Path, run: u64) -> io::Result<()> {
    let is_this = || parts::first_header(trace).is_some_and(|header| header.number == Some(run));
    if part.exists() || !is_this() {
        return Ok(());
    }
    let (_, ranks) = counted(trace)?;
    // Processes that come now have other numbers.
    numbers.append(&vec![b'.'; ranks as usize])?;
    fs::rename(trace, part)
}

/// How many operations, of how many processes, a trace or a part has.
pub(super) fn counted(path: &Path) -> io::Result<(u64, u32)> {
    let trace = Trace::from_reader(path, Box::new(File::open(path)?));
    let outcome = trace.read(|_| {}).map_err(io::Error::other)?;
    let ranks = outcome.header.as_ref().map_or(0, |header| header.ranks);
    Ok((outcome.operations - outcome.from_spool, ranks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_lives_as_long_as_its_process_and_no_longer() {
        let root = |pid: u32, began: i64| format!("{pid:x}:0:{began:x}");
        let now = clock::monotonic();
        assert!(goes_on(Some(&root(std::process::id(), now))));
        // A process that began later has its number.
        assert!(!goes_on(Some(&root(std::process::id(), 1_000_000))));
        assert!(!goes_on(Some(&root(0x7fff_fff0, now))));
        assert!(!goes_on(Some("")) && !goes_on(Some("1:2")) && !goes_on(None));
    }
}
