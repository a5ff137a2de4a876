//! A job that is over: what would have been staged, and when. Its requests stay where they were.

use super::engine::Engine;
use super::{Oracle, Run, Storage, Transfer};
use crate::plan::{Settings, Use};
use std::path::PathBuf;

/// Something that the job did with a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// When, and how much.
    pub transfer: Transfer,
    /// The file.
    pub path: PathBuf,
    /// It was read, not written.
    pub read: bool,
}

/// What the job did, in the order of the ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// All requests.
    pub requests: Vec<Written>,
    /// When the job ended, in seconds of job time.
    pub end: f64,
}

/// Play it.
pub fn replay(script: &Script, storage: Storage, settings: Settings, oracle: &mut dyn Oracle) -> Run {
    let mut engine = Engine::new(settings, storage, oracle);
    let step = storage.flush / 10.0;
    let mut requests = script.requests.iter().peekable();
    let mut now = requests.peek().map_or(0.0, |first| first.transfer.start.min(0.0));
    while now < script.end {
        let length = step.min(script.end - now).max(1e-9);
        now += length;
        while let Some(request) = requests.next_if(|request| request.transfer.end <= now) {
            let Written { transfer, path, read } = request;
            engine.request(*transfer);
            let time = Some(transfer.end);
            engine.used(path, Use { touched: time, read: time.filter(|_| *read), ..Use::default() });
            if !read {
                engine.wrote(path, transfer.bytes, transfer.end);
            }
        }
        engine.pass(now, length, storage.rate);
    }
    engine.finish(script.end, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Forecast;

    struct Every(f64);

    impl Oracle for Every {
        fn flush(&mut self, _: &[Transfer], until: f64) -> Forecast {
            let start = Some(self.0 * (until / self.0).ceil());
            Forecast {
                period: Some(self.0),
                confidence: 1.0,
                start,
                start_low: start,
                start_high: None,
                bytes: None,
            }
        }
    }

    #[test]
    fn what_fits_before_the_next_phase_is_staged_before_it() {
        let request = |i: u32, read: bool| {
            let start = 50.0 * f64::from(i);
            let transfer = Transfer { start, end: start + 5.0, bytes: 1000 };
            Written { transfer, path: format!("out/{i}").into(), read }
        };
        let mut script = Script { requests: (0..10).map(|i| request(i, false)).collect(), end: 500.0 };
        let storage = Storage { bandwidth: 1e3, rate: 100.0, capacity: None, flush: 1.0 };
        let run = replay(&script, storage, Settings::default(), &mut Every(50.0));
        assert_eq!((run.report.files_out, run.report.seconds_overlap, run.drained), (10, 0.0, Some(0.0)));
        script.requests[9].path = "out/8".into();
        let again = replay(&script, storage, Settings::default(), &mut Every(50.0));
        assert_eq!(again.report.files_out, 10, "the file that was written again is copied again");
        script.requests[9] = Written { path: "out/0".into(), ..request(9, true) };
        let read = replay(&script, storage, Settings::default(), &mut Every(50.0));
        assert_eq!(read.report.files_out, 9);
    }
}
