//! `ftio predict`: follow traces, and say at every flush what is to be expected.

mod args;
mod job;
mod line;
mod outputs;
mod watch;

pub use args::{HowArgs, OutArgs, PredictArgs};
pub use job::Followed;
pub use outputs::Outputs;
pub use watch::{Watch, Woken};

use crate::exit::Exit;
use crate::text::complain;
use std::time::{Duration, Instant};

/// After a file event, so long for others that come with it.
pub const TOGETHER: Duration = Duration::from_millis(4);

/// How often to see whether a job is dead, if that ends the command.
const LIFE_SIGN: Duration = Duration::from_secs(2);

/// Follow until told to stop, or until everything has ended if that is asked for.
pub fn run(args: &PredictArgs) -> anyhow::Result<Exit> {
    let reading = args.how.reading()?;
    let options = args.how.options();
    let mut followed: Vec<Followed> =
        args.traces.iter().map(|path| Followed::new(path, &options, &reading)).collect();
    let mut outputs = Outputs::open(&args.out, followed.len() > 1)?;
    let paths: Vec<&std::path::Path> = followed.iter().map(Followed::path).collect();
    let mut watch = Watch::new(&paths, args.poll)?;
    let mut last_news = Instant::now();
    let mut exit = Exit::Done;
    loop {
        for trace in followed.iter_mut().filter(|trace| !trace.failed) {
            match trace.look(&mut outputs) {
                Ok(true) => last_news = Instant::now(),
                Ok(false) => {}
                Err(error) => {
                    complain("", &error.to_string());
                    exit = Exit::Failed;
                }
            }
            if args.until_complete {
                trace.bury(&mut outputs);
            }
        }
        outputs.flush()?;
        let over = |trace: &Followed| trace.failed || (args.until_complete && trace.ended);
        if followed.iter().all(over) {
            break;
        }
        let mut most = followed.iter().filter_map(Followed::settles_in).min();
        if args.until_complete {
            most = Some(most.map_or(LIFE_SIGN, |most| most.min(LIFE_SIGN)));
        }
        if let Some(timeout) = args.timeout.map(Duration::from_secs_f64) {
            let left = timeout.saturating_sub(last_news.elapsed());
            if left.is_zero() {
                break;
            }
            most = Some(most.map_or(left, |most| most.min(left)));
        }
        let woken = watch.wait(most, &[])?;
        if woken.stop {
            break;
        }
        if woken.look {
            std::thread::sleep(TOGETHER);
        }
    }
    for trace in &mut followed {
        trace.settle(&mut outputs);
    }
    outputs.finish()?;
    Ok(exit)
}
