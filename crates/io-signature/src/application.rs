//! The runs of one application, from the job log and the servers' log to its signature.

use crate::jobs::Job;
use crate::sample::{Listed, Sample};
use crate::server_log::ServerLog;
use crate::settings::Settings;
use crate::signature::{Analysis, Method, analyse};

/// The samples of runs, and the runs of which there is none, with the reason. Of more runs than
/// [`Settings::most_runs`] the last are taken.
pub fn samples(runs: &[&Job], log: &ServerLog, settings: &Settings) -> (Vec<Sample>, Vec<Listed>) {
    let (mut samples, mut dropped) = (Vec::new(), Vec::new());
    let most = settings.most_runs as usize;
    for run in runs.iter().rev() {
        if samples.len() >= most {
            let reason = format!("not needed: the last {most} runs were taken");
            dropped.push(Listed::dropped(run.id.clone(), run.start, run.end - run.start, reason));
            continue;
        }
        match log.cut(&run.id, run.start, run.end, settings) {
            Ok(sample) => samples.push(sample),
            Err(reason) => {
                dropped.push(Listed::dropped(run.id.clone(), run.start, run.end - run.start, reason))
            }
        }
    }
    samples.reverse();
    dropped.reverse();
    (samples, dropped)
}

/// The signature of the application that ran these jobs.
pub fn application(runs: &[&Job], log: &ServerLog, method: Method, settings: &Settings) -> Analysis {
    let (samples, dropped) = samples(runs, log, settings);
    let mut found = analyse(&samples, method, settings);
    found.signature.samples.extend(dropped);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(count: usize) -> Vec<Job> {
        let job = |i: usize| Job {
            id: i.to_string(),
            user: "a".into(),
            nodes: 1,
            name: "x".into(),
            start: 500.0 * i as f64,
            end: 500.0 * i as f64 + 400.0,
        };
        (0..count).map(job).collect()
    }

    #[test]
    fn from_two_logs_to_a_signature() {
        let lines = (0..5000).map(|i| {
            let time = 2.0 * f64::from(i);
            let own = f64::from(u8::from((100.0..120.0).contains(&(time % 500.0))));
            (time, 0.1 + own)
        });
        let log = ServerLog::new("log", lines.collect()).unwrap();
        let jobs = jobs(25);
        let runs: Vec<&Job> = jobs.iter().collect();
        let found = application(&runs, &log, Method::Median, &Settings::default()).signature;
        assert_eq!(found.bursts.len(), 1, "{:?}", found.warnings);
        assert!((found.bursts[0].start - 100.0).abs() < 2.0);
        // The log ends during the 21st run.
        let outside = found.samples.iter().filter(|sample| !sample.used);
        assert!(outside.clone().count() >= 5);
        assert!(
            outside
                .into_iter()
                .all(|sample| sample.reason.as_ref().is_some_and(|reason| reason.contains("the log")))
        );
    }

    #[test]
    fn the_last_runs_are_taken() {
        let log = ServerLog::new("log", (0..20_000).map(|i| (2.0 * f64::from(i), 1.0)).collect()).unwrap();
        let jobs = jobs(40);
        let runs: Vec<&Job> = jobs.iter().collect();
        let (samples, dropped) = samples(&runs, &log, &Settings::default());
        assert_eq!((samples.len(), dropped.len()), (30, 10));
        assert_eq!(samples[0].name, "10");
        assert!(dropped[0].reason.as_ref().unwrap().contains("not needed"));
    }
}
