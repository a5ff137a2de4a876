//! The runs of one application, from the job log and the servers' log to its signature.

use crate::jobs::Job;
use crate::sample::{Listed, Sample};
use crate::server_log::{ServerLog, SetBack};
use crate::settings::Settings;
use crate::signature::{Analysis, Method, analyse};

/// The samples of runs, and the runs of which there is none, with the reason. Of more runs than
/// [`Settings::most_runs`] the last are taken. Of runs at the same time, as the tasks of a job array are, one
/// is taken: the log of the others is the same, and whatever it shows would seem to be common. Of a log whose
/// clock was set back, the side with most runs is taken.
pub fn samples(runs: &[&Job], log: &ServerLog, settings: &Settings) -> (Vec<Sample>, Vec<Listed>) {
    let (mut samples, mut dropped) = (Vec::new(), Vec::new());
    let most = settings.most_runs as usize;
    let mut taken: Vec<&Job> = Vec::new();
    let clock = Clock::of(runs, log);
    for &run in runs.iter().rev() {
        let twin = taken.iter().map(|other| (shared(run, other), other)).max_by(|a, b| a.0.total_cmp(&b.0));
        let cut = match twin {
            _ if samples.len() >= most => Err(format!("not needed: the last {most} runs were taken")),
            Some((share, other)) if share > settings.overlap => Err(format!(
                "at the same time as {} ({:.0} % of it): the log of both is the same",
                other.id,
                100.0 * share
            )),
            _ => clock.fits(run).and_then(|()| log.cut(&run.id, run.start, run.end, settings)),
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

/// The clock of a log that was set back: the time on one side of it is not that of the job log.
struct Clock<'a> {
    set_back: &'a [SetBack],
    /// The side that counts: so many times it was set back before.
    side: usize,
}

impl<'a> Clock<'a> {
    fn of(runs: &[&Job], log: &'a ServerLog) -> Self {
        let mut clock = Clock { set_back: log.set_back(), side: 0 };
        let mut counts = vec![0; clock.set_back.len() + 1];
        let logged = runs.iter().filter(|run| run.end > log.start && run.start < log.end());
        logged.filter(|run| clock.during(run).is_none()).for_each(|run| counts[clock.side_of(run)] += 1);
        clock.side = (0..counts.len()).max_by_key(|&side| counts[side]).unwrap_or(0);
        clock
    }

    fn during(&self, run: &Job) -> Option<&SetBack> {
        self.set_back.iter().find(|one| run.start < one.at && one.at < run.end)
    }

    fn side_of(&self, run: &Job) -> usize {
        self.set_back.iter().filter(|one| one.at <= run.start).count()
    }

    /// Is a run on the side that counts? Else why not.
    fn fits(&self, run: &Job) -> Result<(), String> {
        if let Some(SetBack { at, by }) = self.during(run) {
            return Err(format!(
                "the clock of the log was set back by {by:.0} s during the run, at {at:.0} s"
            ));
        }
        if self.side_of(run) != self.side {
            let nearest = |one: &&SetBack| (one.at - run.start).abs();
            let found = self.set_back.iter().min_by(|a, b| nearest(a).total_cmp(&nearest(b)));
            let (at, by) = found.map_or((0.0, 0.0), |one| (one.at, one.by));
            return Err(format!(
                "the clock of the log was set back by {by:.0} s at {at:.0} s, between this run and most \
                 others"
            ));
        }
        Ok(())
    }
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
    fn a_clock_that_is_set_back_has_one_side_that_counts() {
        // Ten runs with a burst after 100 s; after some of them the clock of the log is set back by 60 s.
        for (before, used, start) in [(7, 7, 100.0), (2, 8, 40.0)] {
            let lines = (0..2500).map(|i| {
                let time = 2.0 * f64::from(i);
                let own = f64::from(u8::from((100.0..120.0).contains(&(time % 500.0))));
                let late = if time >= 500.0 * f64::from(before) { 60.0 } else { 0.0 };
                (time - late, 0.1 + own)
            });
            let log = ServerLog::new("log", lines.collect()).unwrap();
            let jobs = jobs(10);
            let runs: Vec<&Job> = jobs.iter().collect();
            let found = application(&runs, &log, Method::Median, &Settings::default()).signature;
            let taken = found.samples.iter().filter(|sample| sample.used).count();
            assert_eq!((taken, found.bursts.len()), (used, 1), "{:?}", found.samples);
            assert!((found.bursts[0].start - start).abs() < 2.0, "{:?}", found.bursts);
            let said =
                |sample: &Listed| sample.reason.as_ref().is_some_and(|why| why.contains("set back by 58 s"));
            assert!(found.samples.iter().any(said), "{:?}", found.samples);
        }
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
