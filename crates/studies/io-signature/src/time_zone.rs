//! A job log in another time zone than the log of the servers: all runs are cut out some hours off, and have
//! nothing in common.

use crate::application::application;
use crate::jobs::Job;
use crate::quality::DOUBTFUL;
use crate::server_log::ServerLog;
use crate::settings::Settings;
use crate::signature::{Method, Signature};
use rayon::prelude::*;

/// Seconds between two time zones.
const APART: f64 = 1800.0;

/// Zones that are tried in each direction: clocks differ by up to 14 hours from UTC.
const ZONES: i32 = 28;

/// Seconds by which the times of these runs may be ahead of the log: then they have bursts in common that can
/// be relied on. The best if there are several.
pub fn ahead(
    runs: &[&Job],
    log: &ServerLog,
    method: Method,
    settings: &Settings,
) -> Option<(f64, Signature)> {
    let zones: Vec<f64> =
        (-ZONES..=ZONES).filter(|zone| *zone != 0).map(|zone| APART * f64::from(zone)).collect();
    let shifted = |ahead: &f64| {
        let moved: Vec<Job> = runs
            .iter()
            .map(|&run| Job { start: run.start - ahead, end: run.end - ahead, ..run.clone() })
            .collect();
        let found = application(&moved.iter().collect::<Vec<_>>(), log, method, settings).signature;
        let used = found.samples.iter().filter(|sample| sample.used).count() as f64;
        let good = used >= settings.least_runs && found.quality.mean >= DOUBTFUL;
        (good && !found.bursts.is_empty()).then_some((*ahead, found))
    };
    zones.par_iter().filter_map(shifted).max_by(|a, b| a.1.quality.mean.total_cmp(&b.1.quality.mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_hours_ahead_are_found_and_silence_has_no_zone() {
        let start = |run: usize| 20_000.0 + 3000.0 * run as f64 + 700.0 * (run * run % 5) as f64;
        let log = |height: f64| {
            let mut random = seeded_random::Random::new(8);
            let value = |i: usize| {
                let time = 2.0 * i as f64;
                let own = |run: usize| (100.0..130.0).contains(&(time - start(run)));
                let writes = (0..10).any(own);
                (time, 1e7 * random.unit() + if writes { height } else { 0.0 })
            };
            ServerLog::new("log", (0..40_000).map(value).collect()).unwrap()
        };
        let job = |run: usize| Job {
            id: run.to_string(),
            user: "ann".into(),
            nodes: 4,
            name: "lmp".into(),
            start: start(run) + 7200.0,
            end: start(run) + 7200.0 + 600.0,
        };
        let jobs: Vec<Job> = (0..10).map(job).collect();
        let runs: Vec<&Job> = jobs.iter().collect();
        let settings = Settings::default();
        let (found, signature) = ahead(&runs, &log(1e9), Method::Median, &settings).unwrap();
        assert_eq!((found, signature.bursts.len()), (7200.0, 1));
        assert!(ahead(&runs, &log(0.0), Method::Median, &settings).is_none());
    }
}
