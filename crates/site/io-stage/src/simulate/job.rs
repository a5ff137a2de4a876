//! A job that computes and writes in turn.

use super::engine::Engine;
use super::{Oracle, Run, Storage, Transfer};
use crate::plan::{Settings, Use};
use seeded_random::Random;
use std::path::PathBuf;

/// Steps of a period, and of the time from flush to flush.
const STEPS_OF_PERIOD: f64 = 1000.0;
const STEPS_OF_FLUSH: f64 = 10.0;

/// What the job does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    /// Phases.
    pub phases: u32,
    /// Seconds of computing before each, and after the last.
    pub compute: f64,
    /// By how much that varies, as a share: evenly, up and down.
    pub jitter: f64,
    /// Bytes of a phase.
    pub bytes: u64,
    /// Files of a phase: as many at the same time as there are streams, one after the other.
    pub files: u32,
    /// Streams of requests at the same time, usually the ranks.
    pub streams: u32,
    /// Random numbers begin here.
    pub seed: u64,
}

impl Job {
    /// How large a file is when so much of the phase was written.
    fn size_of(&self, file: u32, written: u64) -> u64 {
        let whole = self.bytes / u64::from(self.files);
        let first = file / self.streams * self.streams;
        let together = u64::from(self.streams.min(self.files - first));
        if written + together >= self.bytes {
            return whole;
        }
        (written.saturating_sub(u64::from(first) * whole) / together).min(whole)
    }
}

/// Play it; without settings, nothing is staged.
pub fn job(job: &Job, storage: Storage, settings: Option<Settings>, oracle: &mut dyn Oracle) -> Run {
    let alone = job.bytes as f64 / storage.bandwidth;
    let step = ((job.compute + alone) / STEPS_OF_PERIOD).min(storage.flush / STEPS_OF_FLUSH);
    let stages = settings.is_some();
    let mut engine = Engine::new(settings.unwrap_or_else(never), storage, oracle);
    let mut random = Random::new(job.seed);
    let mut compute = || job.compute * (1.0 + job.jitter * (2.0 * random.unit() - 1.0));
    // The buffer serves streams alike: a copy is one more.
    let shared = storage.rate.min(storage.bandwidth / f64::from(job.streams + 1));
    let alone = storage.rate.min(storage.bandwidth);
    let mut now = 0.0;
    for phase in 1..=job.phases {
        pass(&mut engine, &mut now, compute(), step, alone);
        let files: Vec<PathBuf> =
            (1..=job.files).map(|file| PathBuf::from(format!("phase-{phase:05}/file-{file:04}"))).collect();
        let (mut written, mut told) = (0.0, vec![0u64; files.len()]);
        while written < job.bytes as f64 {
            let copying = engine.is_copying();
            let bandwidth = storage.bandwidth - if copying { shared } else { 0.0 };
            let length = step.min((job.bytes as f64 - written) / bandwidth).max(1e-9);
            let before = written as u64;
            written += bandwidth * length;
            let (start, end) = (now, now + length);
            now = end;
            let total = (written.min(job.bytes as f64) as u64).max(before);
            engine.request(Transfer { start, end, bytes: total - before });
            for (number, (path, told)) in (0u32..).zip(files.iter().zip(&mut told)) {
                let size = job.size_of(number, total);
                if size > *told {
                    engine.wrote(path, size - *told, end);
                    *told = size;
                    let closed = u32::from(size == job.bytes / u64::from(job.files));
                    engine.used(path, Use { opened: closed, closed, touched: Some(end), read: None });
                }
            }
            engine.pass(now, length, shared);
        }
    }
    pass(&mut engine, &mut now, compute(), step, alone);
    engine.finish(now, stages)
}

fn pass(engine: &mut Engine<'_>, now: &mut f64, seconds: f64, step: f64, bandwidth: f64) {
    let end = *now + seconds;
    while *now < end {
        let length = step.min(end - *now).max(1e-9);
        *now += length;
        engine.pass(*now, length, bandwidth);
    }
}

/// Nothing ever leaves: there is no moment after the end.
fn never() -> Settings {
    Settings { when: crate::plan::When::AtEnd, ..Settings::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Action, Forecast, When, overlap};

    /// Knows the job.
    struct Clairvoyant {
        period: f64,
        last: f64,
    }

    impl Oracle for Clairvoyant {
        fn flush(&mut self, requests: &[Transfer], until: f64) -> Forecast {
            if let Some(first) = requests.first().filter(|first| first.start > self.last + self.period / 2.0)
            {
                self.last = first.start;
            }
            let next =
                self.last + self.period * ((until - self.last) / self.period).floor().max(0.0) + self.period;
            Forecast {
                period: Some(self.period),
                confidence: 0.99,
                start: Some(next),
                start_low: Some(next - 0.05 * self.period),
                start_high: Some(next + 0.05 * self.period),
                bytes: None,
            }
        }
    }

    const GB: u64 = 1_000_000_000;

    fn of(jitter: f64) -> Job {
        Job { phases: 8, compute: 90.0, jitter, bytes: 100 * GB, files: 5, streams: 4, seed: 1 }
    }

    const STORAGE: Storage = Storage { bandwidth: 10e9, rate: 2e9, capacity: None, flush: 1.0 };

    fn run(of: Job, storage: Storage, when: Option<When>) -> Run {
        let mut oracle = Clairvoyant { period: 100.0, last: -100.0 };
        let settings = when.map(|when| Settings { when, ..Settings::default() });
        job(&of, storage, settings, &mut oracle)
    }

    #[test]
    fn without_copies_a_job_takes_its_time() {
        let plain = run(of(0.0), STORAGE, None);
        assert!((plain.end - (8.0 * 100.0 + 90.0)).abs() < 0.1, "{}", plain.end);
        assert_eq!((plain.drained, plain.report.files_out), (None, 0));
        assert_eq!(plain.report.peak_occupancy, 8 * 100 * GB);
        let varied = run(of(0.2), STORAGE, None);
        assert!((varied.end - plain.end).abs() > 1.0 && (varied.end / plain.end - 1.0).abs() < 0.1);
    }

    #[test]
    fn in_the_quiet_nothing_is_lost_and_all_is_out_soon_after_the_end() {
        let plain = run(of(0.0), STORAGE, None);
        let quiet = run(of(0.0), STORAGE, Some(When::Quiet));
        assert!(quiet.end / plain.end < 1.001, "{} {}", quiet.end, plain.end);
        assert_eq!((quiet.report.files_out, quiet.report.files_left), (40, 0));
        assert!(quiet.report.share_in_quiet > Some(0.999), "{:?}", quiet.report);
        assert!(quiet.drained.unwrap() < 100.0);
        let phases: Vec<_> = (0..8).map(|i| 90.0 + 100.0 * f64::from(i)).collect();
        for decision in
            quiet.decisions.iter().filter(|d| matches!(d.action, Action::Start(_) | Action::Resume))
        {
            assert!(phases.iter().all(|start| decision.time < *start || decision.time > start + 10.0));
        }
    }

    #[test]
    fn at_once_slows_the_job_down_and_at_the_end_takes_long() {
        let plain = run(of(0.0), STORAGE, None);
        // A copy of a phase takes 50 s: it ends before the next one. With half of the rate it does not.
        let slow = Storage { rate: 1e9, ..STORAGE };
        let naive = run(of(0.0), slow, Some(When::AtOnce));
        let quiet = run(of(0.0), slow, Some(When::Quiet));
        assert!(naive.end > plain.end + 5.0, "{} {}", naive.end, plain.end);
        let overlaps = (naive.report.seconds_overlap, quiet.report.seconds_overlap);
        assert!(overlaps.0 > 50.0 && overlaps.1 < 1.0, "{overlaps:?}");
        assert!(quiet.end - plain.end < 0.1 * (naive.end - plain.end));
        let late = run(of(0.0), STORAGE, Some(When::AtEnd));
        assert!((late.drained.unwrap() - 400.0).abs() < 1.0, "{:?}", late.drained);
        assert_eq!(overlap(&[], 0.0, 1.0), 0.0);
    }

    #[test]
    fn the_buffer_is_relieved_at_its_mark() {
        let mut oracle = Clairvoyant { period: 100.0, last: -100.0 };
        let settings = Settings { evict: true, ..Settings::default() };
        let storage = Storage { capacity: Some(400 * GB), ..STORAGE };
        let run = job(&of(0.0), storage, Some(settings), &mut oracle);
        assert!(run.report.peak_occupancy <= 400 * GB, "{}", run.report.peak_occupancy);
        assert!(run.report.bytes_evicted > 300 * GB);
        assert_eq!((run.report.files_out, run.report.files_left), (40, 0));
    }
}
