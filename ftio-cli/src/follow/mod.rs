//! Following traces while they grow: the one loop of `ftio predict`, `ftio run`, `ftio schedule` and
//! `ftio stage`. It looks at the files whenever there may be something new, waits for ranks that lag behind,
//! and knows when to end; what is done with what comes is up to a [`Handler`].

mod watch;

use crate::exit::Exit;
use crate::terminal::text::{Severity, complain, note};
use crate::values::positive_seconds;
use clap::Args;
pub use sources::follow::Trace;
use sources::follow::{Event, FileUse, Status};
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};
use watch::Watch;

/// How long to wait after a file event for others of the same burst.
const BURST: Duration = Duration::from_millis(4);

/// How often to see whether a job is dead, if that matters.
const LIVENESS_CHECK: Duration = Duration::from_secs(2);

/// How often files are looked at.
#[derive(Clone, Copy, Debug, Args)]
pub struct PollArgs {
    /// Look for additions this often, even without file events [default: 1 on network file systems, which
    /// have no events; else 10]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds, allow_negative_numbers = true)]
    #[arg(hide_short_help = true)]
    pub poll: Option<f64>,
}

/// When to end.
#[derive(Debug, Default)]
pub struct Until {
    /// When all jobs have ended.
    pub complete: bool,
    /// When nothing was added for this long.
    pub timeout: Option<Duration>,
    /// When a program has ended.
    pub program: Option<Program>,
}

/// A program that is traced. Signals that are sent to us are passed on to it; an interrupt from the keyboard
/// reaches it anyway.
#[derive(Debug)]
pub struct Program {
    /// Can be read when it has ended.
    pub end: UnixStream,
    pub id: rustix::process::Pid,
}

impl Program {
    fn has_ended(&self) -> bool {
        (&self.end).read(&mut [0]).is_ok()
    }
}

/// What is done with what comes. Traces are known by their number. An error ends the loop.
pub trait Handler {
    /// Something came from a trace.
    fn event(&mut self, trace: usize, event: Event<'_>);

    /// What the job of a trace did with its files, if that [is asked for](Trace::watch_files).
    fn files(&mut self, _trace: usize, _files: &[FileUse]) {}

    /// All that one look at a trace gave has come.
    fn looked(&mut self, trace: usize, status: Status) -> anyhow::Result<()>;

    /// A trace cannot be followed any further. That has been reported.
    fn failed(&mut self, _trace: usize) -> anyhow::Result<()> {
        Ok(())
    }

    /// Does it matter whether the job of a trace is dead?
    fn needs_end(&self, _trace: usize) -> bool {
        false
    }

    /// All traces were looked at; `news` if one of them has grown.
    fn round(&mut self, _news: bool) -> anyhow::Result<()> {
        Ok(())
    }

    /// What else to wake up for: input, and the end of some time.
    fn wakes(&self) -> (Option<BorrowedFd<'_>>, Option<Duration>) {
        (None, None)
    }

    /// After waking up: does the user want to stop?
    fn stops(&mut self) -> bool {
        false
    }
}

/// Follow the traces until asked to stop, or until everything has ended if that is asked for.
pub fn follow(
    traces: &mut [Trace],
    handler: &mut dyn Handler,
    poll: PollArgs,
    until: &Until,
) -> anyhow::Result<Exit> {
    let paths: Vec<&Path> = traces.iter().map(Trace::path).collect();
    let mut watch = Watch::new(&paths, poll.poll)?;
    let mut exit = Exit::Done;
    let mut last_news = Instant::now();
    let mut over = false;
    let mut endless = Vec::new();
    loop {
        let mut news = false;
        for (number, trace) in traces.iter_mut().enumerate().filter(|(_, trace)| !trace.failed()) {
            let needs_end = until.complete || over || handler.needs_end(number);
            match trace.look(needs_end, &mut |event| handler.event(number, event)) {
                Ok(status) => {
                    news |= status.grew;
                    let files = trace.take_files();
                    if !files.is_empty() {
                        handler.files(number, &files);
                    }
                    handler.looked(number, status)?;
                    let waits = until.complete && until.timeout.is_none();
                    if waits && !trace.tells_end() && !endless.contains(&number) {
                        endless.push(number);
                        let name = trace.path().display();
                        let why = "its format does not say when the job has ended: give --timeout as well";
                        note!("{name}: {why}");
                    }
                }
                Err(error) => {
                    complain(Severity::Error, &error.to_string());
                    exit = Exit::Failed;
                    handler.failed(number)?;
                }
            }
        }
        handler.round(news)?;
        if news {
            last_news = Instant::now();
        }
        if over || traces.iter().all(|trace| trace.failed() || (until.complete && trace.ended())) {
            break;
        }
        let timeout = until.timeout.map(|timeout| timeout.saturating_sub(last_news.elapsed()));
        if timeout.is_some_and(|left| left.is_zero()) {
            break;
        }
        let needs_end = until.complete || (0..traces.len()).any(|number| handler.needs_end(number));
        let woken = {
            let (input, tick) = handler.wakes();
            let now = Instant::now();
            let longest = traces.iter().filter_map(|trace| trace.grace_left(now));
            let longest = longest.chain(needs_end.then_some(LIVENESS_CHECK)).chain(tick).chain(timeout).min();
            let program = until.program.as_ref().map(|program| program.end.as_fd());
            let others: Vec<BorrowedFd<'_>> = program.into_iter().chain(input).collect();
            watch.wait(longest, &others)?
        };
        if let Some(program) = until.program.as_ref().filter(|_| woken.terminate) {
            let _ = rustix::process::kill_process(program.id, rustix::process::Signal::TERM);
        }
        if (woken.stop && until.program.is_none()) || handler.stops() {
            break;
        }
        // When the program has ended, look once more: that was all.
        over = until.program.as_ref().is_some_and(Program::has_ended);
        if woken.look && !over {
            std::thread::sleep(BURST);
        }
    }
    for (number, trace) in traces.iter_mut().enumerate() {
        trace.settle(&mut |event| handler.event(number, event));
    }
    handler.round(false)?;
    Ok(exit)
}
