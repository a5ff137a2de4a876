//! The runs of one application, from the job log and the servers' log to its signature.

use crate::jobs::Job;
use crate::sample::{Listed, Sample};
use crate::server_log::ServerLog;
use crate::settings::Settings;
use crate::signature::{Analysis, Method, analyse};

/// The samples of runs, and the runs of which there is none, with the reason. Of more runs than
/// [`Settings::most_runs`] the last are taken. Of runs at the same time, as the tasks of a job array are, one
/// is taken: the log of the others is the same, and whatever it shows would seem to be common.
pub fn samples(runs: &[&Job], log: &ServerLog, settings: &Settings) -> (Vec<Sample>, Vec<Listed>) {
    let (mut samples, mut dropped) = (Vec::new(), Vec::new());
    let most = settings.most_runs as usize;
    let mut taken: Vec<&Job> = Vec::new();
    for &run in runs.iter().rev() {
        let twin = taken.iter().map(|other| (shared(run, other), other)).max_by(|a, b| a.0.total_cmp(&b.0));
        let cut = match twin {
            _ if samples.len() >= most => Err(format!("not needed: the last {most} runs were taken")),
            Some((share, other)) if share > settings.overlap => Err(format!(
                "at the same time as {} ({:.0} % of it): the log of both is the same",
                other.id,
                100.0 * share
            )),
            _ => log.cut(&run.id, run.start, run.end, settings),
        };
        match cut {
            Ok(sample) => {
                samples.push(sample);
                taken.push(run);
            }
            Err(reason) => {
                dropped.push(Listed::dropped(run.id.clone(), run.start, run.end - run.start, reason));
            }
        }
    }
    samples.reverse();
    dropped.reverse();
    (samples, dropped)
}

/// The share of the shorter of two runs during which both ran.
fn shared(one: &Job, other: &Job) -> f64 {
    let both = one.end.min(other.end) - one.start.max(other.start);
    both.max(0.0) / (one.end - one.start).min(other.end - other.start).max(1e-9)
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
    fn runs_at_the_same_time_are_one_sample() {
        // Somebody else writes at random; the tasks of two job arrays all see the same of it.
        let mut random = seeded_random::Random::new(3);
        let lines = (0..1000).map(|i| (2.0 * f64::from(i), 1e9 * random.unit().powi(8)));
        let log = ServerLog::new("log", lines.collect()).unwrap();
        let mut jobs = jobs(2);
        for task in 1..5 {
            let later = |job: &Job| Job { id: format!("{}_{task}", job.id), ..job.clone() };
            jobs.extend([later(&jobs[0]), later(&jobs[1])]);
        }
        jobs.sort_by(|a, b| a.start.total_cmp(&b.start));
        let runs: Vec<&Job> = jobs.iter().collect();
        let (samples, dropped) = samples(&runs, &log, &Settings::default());
        assert_eq!((samples.len(), dropped.len()), (2, 8));
        let reason = dropped[0].reason.as_ref().unwrap();
        assert!(reason.contains("at the same time as 0_4 (100 % of it)"), "{reason}");
        let found = application(&runs, &log, Method::Median, &Settings::default()).signature;
        assert!(found.bursts.is_empty(), "{:?}", found.bursts);
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
