//! `ftio predict`: follow traces, and say at every flush what is to be expected.

mod args;
mod exec;
mod exposition;
mod job;
mod line;
mod outputs;
mod prometheus;
mod socket;
mod tui;
mod watch;

pub use args::{HowArgs, OutArgs, PredictArgs, positive};
pub use job::Followed;
pub use outputs::Outputs;
pub use watch::Watch;

use crate::exit::Exit;
use crate::terminal::text::complain;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};
pub use tui::Tui;

/// After a file event, so long for others that come with it.
pub const TOGETHER: Duration = Duration::from_millis(4);

/// How often to see whether a job is dead, if that ends the command.
const LIFE_SIGN: Duration = Duration::from_secs(2);

/// When to end.
#[derive(Debug, Default)]
pub struct Until {
    /// When all jobs have ended.
    pub complete: bool,
    /// When nothing came for so long.
    pub timeout: Option<Duration>,
    /// When a program has ended.
    pub program: Option<Program>,
}

/// A program that is traced. What is sent to us is meant for it; an interrupt from the keyboard it gets anyway.
#[derive(Debug)]
pub struct Program {
    /// Can be read when it has ended.
    pub end: UnixStream,
    pub id: rustix::process::Pid,
}

/// Follow until told to stop, or until everything has ended if that is asked for.
pub fn run(args: &PredictArgs) -> anyhow::Result<Exit> {
    if args.traces.iter().any(|path| path.as_os_str() == "-") {
        complain("", "standard input cannot be followed: name a file (one called \"-\" is ./-)");
        return Ok(Exit::Usage);
    }
    let reading = args.how.reading()?;
    let options = args.how.options(args.outlier);
    let mut followed: Vec<Followed> =
        args.traces.iter().map(|path| Followed::new(path, &options, &reading)).collect();
    let mut outputs = Outputs::open(&args.out, followed.len() > 1)?;
    let tui = args.out.tui.then(Tui::open).transpose()?;
    let timeout = args.timeout.map(Duration::from_secs_f64);
    let until = Until { complete: args.until_complete, timeout, program: None };
    let exit = follow(&mut followed, &mut outputs, tui, args.poll, &until)?;
    outputs.finish()?;
    Ok(exit)
}

/// Look at the traces whenever there may be something new.
pub fn follow(
    followed: &mut [Followed],
    outputs: &mut Outputs,
    mut tui: Option<Tui>,
    every: Option<f64>,
    until: &Until,
) -> anyhow::Result<Exit> {
    let paths: Vec<&Path> = followed.iter().map(Followed::path).collect();
    let mut watch = Watch::new(&paths, every)?;
    let mut last_news = Instant::now();
    let mut exit = Exit::Done;
    let mut over = false;
    loop {
        let mut news = false;
        for trace in followed.iter_mut().filter(|trace| !trace.failed) {
            match trace.look(outputs) {
                Ok(grew) => news |= grew,
                Err(error) => {
                    complain("", &error.to_string());
                    exit = Exit::Failed;
                }
            }
            if until.complete || over {
                trace.bury(outputs);
            }
        }
        outputs.flush()?;
        if news {
            last_news = Instant::now();
        }
        if let Some(tui) = &mut tui {
            tui.draw(followed, news)?;
        }
        if over || followed.iter().all(|trace| trace.failed || (until.complete && trace.ended)) {
            break;
        }
        let mut most: Vec<Duration> = followed.iter().filter_map(Followed::settles_in).collect();
        most.extend(until.complete.then_some(LIFE_SIGN));
        most.extend(tui.is_some().then_some(tui::TICK));
        if let Some(timeout) = until.timeout {
            let left = timeout.saturating_sub(last_news.elapsed());
            if left.is_zero() {
                break;
            }
            most.push(left);
        }
        let others: Vec<BorrowedFd<'_>> = until
            .program
            .iter()
            .map(|program| program.end.as_fd())
            .chain(tui.iter().map(Tui::keys))
            .collect();
        let woken = watch.wait(most.into_iter().min(), &others)?;
        if let Some(program) = until.program.as_ref().filter(|_| woken.terminate) {
            let _ = rustix::process::kill_process(program.id, rustix::process::Signal::TERM);
        }
        if (woken.stop && until.program.is_none()) || tui.as_mut().is_some_and(Tui::pressed) {
            break;
        }
        // One more look, and that was all.
        over = until.program.as_ref().is_some_and(|program| is_over(&program.end));
        if woken.look && !over {
            std::thread::sleep(TOGETHER);
        }
    }
    drop(tui);
    for trace in followed {
        trace.settle(outputs);
    }
    Ok(exit)
}

/// Was something written to it?
fn is_over(mut end: &UnixStream) -> bool {
    use std::io::Read;
    end.read(&mut [0]).is_ok()
}
