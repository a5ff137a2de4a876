//! Alarms: a value that is beyond its threshold for long enough, and until it is back by a margin.

mod notify;
mod rules;

pub use notify::{Notify, Refused, request as http_request, send as http_send};
pub use rules::{Operation, Rule, RuleFile};

use crate::config::Config;
use crate::job::Origin;
use crate::live::LiveJob;
use crate::service::{Service, now};
use crate::store::{AlarmRow, Store};
use anyhow::Context;
use std::collections::HashMap;

/// The job that stands for the whole site.
pub const SITE: &str = "main";

/// Rules, and how things stand.
#[derive(Debug)]
pub struct Alarms {
    /// From the file, or the usual ones.
    pub rules: Vec<Rule>,
    notify: Notify,
    standing: HashMap<(String, i64), Standing>,
}

/// A rule and a job.
#[derive(Clone, Copy, Debug)]
struct Standing {
    /// Beyond the threshold since, in seconds by a clock that nobody sets.
    since: f64,
    /// The alarm that was raised.
    raised: Option<i64>,
}

/// What is to be done after a look.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Raise,
    Clear(i64),
    Nothing,
}

impl Alarms {
    /// Read the rules. Alarms of a former service are over.
    pub fn open(config: &Config, store: &Store) -> anyhow::Result<Self> {
        let file = match &config.alarms {
            None => RuleFile::usual(config.capacity),
            Some(path) => {
                let named = || path.display().to_string();
                let text = std::fs::read_to_string(path).with_context(named)?;
                RuleFile::parse(&text).map_err(anyhow::Error::msg).with_context(named)?
            }
        };
        store.clear_all(now())?;
        let notify = Notify::start(file.notify);
        Ok(Alarms { rules: file.rules, notify, standing: HashMap::new() })
    }

    /// How a value of a job changes how a rule stands.
    fn step(&mut self, rule: &Rule, job: i64, value: Option<f64>, time: f64) -> Step {
        let key = (rule.name.clone(), job);
        let beyond = value.is_some_and(|value| rule.is_beyond(value));
        match self.standing.get_mut(&key) {
            None if beyond => {
                self.standing.insert(key.clone(), Standing { since: time, raised: None });
                if rule.duration <= 0.0 { Step::Raise } else { Step::Nothing }
            }
            None => Step::Nothing,
            Some(Standing { raised: None, since }) => {
                if !beyond {
                    self.standing.remove(&key);
                    return Step::Nothing;
                }
                if time - *since >= rule.duration { Step::Raise } else { Step::Nothing }
            }
            Some(Standing { raised: Some(id), .. }) => {
                let id = *id;
                if value.is_none_or(|value| rule.is_back(value)) {
                    self.standing.remove(&key);
                    return Step::Clear(id);
                }
                Step::Nothing
            }
        }
    }
}

/// The value that a rule is about.
fn value(job: &LiveJob, metric: &str, time: f64) -> Option<f64> {
    Some(match metric {
        "rate" => job.rate(time),
        "silent_seconds" => job.heard.elapsed().as_secs_f64(),
        "period" => job.detection.as_ref()?.period?,
        "confidence" => job.detection.as_ref()?.confidence,
        "io_share" => job.row.io_share?,
        "run_seconds" => time - job.row.start,
        name => job.totals.get(name)?.value,
    })
}

/// Look at all rules and running jobs.
pub fn look(service: &Service) {
    let (time, steady) = (now(), service.opened.elapsed().as_secs_f64());
    let stored = service.reader().rules().unwrap_or_default();
    let mut alarms = service.alarms.lock().unwrap_or_else(|e| e.into_inner());
    let stored = stored.iter().filter_map(Rule::stored);
    let rules: Vec<Rule> = alarms.rules.iter().cloned().chain(stored).collect();
    let mut steps: Vec<(Rule, i64, String, Option<u32>, f64, Step)> = Vec::new();
    {
        let running = service.running();
        for rule in &rules {
            if rule.site {
                let jobs = running
                    .jobs
                    .values()
                    .filter(|job| matches!(job.row.origin, Origin::Trace | Origin::Push));
                let sum: f64 = jobs.filter_map(|job| value(job, &rule.metric, time)).sum();
                let step = alarms.step(rule, 0, Some(sum), steady);
                steps.push((rule.clone(), 0, SITE.into(), None, sum, step));
                continue;
            }
            for job in running.jobs.values().filter(|job| rule.concerns(&job.row)) {
                let found = value(job, &rule.metric, time);
                let step = alarms.step(rule, job.row.id, found, steady);
                let jobid = job.row.desc.jobid.clone();
                steps.push((rule.clone(), job.row.id, jobid, job.row.owner, found.unwrap_or(0.0), step));
            }
        }
        // Jobs that have ended, and rules that are gone.
        let gone: Vec<(String, i64)> = alarms
            .standing
            .keys()
            .filter(|(name, job)| {
                (*job != 0 && !running.jobs.contains_key(job)) || !rules.iter().any(|rule| rule.name == *name)
            })
            .cloned()
            .collect();
        for key in gone {
            if let Some(Standing { raised: Some(id), .. }) = alarms.standing.remove(&key) {
                let rule = Rule { name: key.0, ..Rule::default() };
                steps.push((rule, key.1, String::new(), None, 0.0, Step::Clear(id)));
            }
        }
    }
    for (rule, job, jobid, owner, value, step) in steps {
        let alarm = AlarmRow {
            id: 0,
            rule: rule.name.clone(),
            job,
            jobid,
            metric: rule.metric.clone(),
            value,
            message: rule.message(value),
            since: time,
            until: None,
        };
        let done = match step {
            Step::Nothing => continue,
            Step::Raise => service.writer().raise(&alarm, owner).map(|id| {
                if let Some(standing) = alarms.standing.get_mut(&(rule.name.clone(), job)) {
                    standing.raised = Some(id);
                }
                alarms.notify.send(&alarm, false);
            }),
            Step::Clear(id) => service.writer().clear(id, time).map(|()| {
                alarms.notify.send(&AlarmRow { until: Some(time), ..alarm.clone() }, true);
            }),
        };
        service.stored(done);
        service.tell("alarm", owner, &serde_json::json!(alarm));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_waits_and_has_hysteresis() {
        let rule =
            Rule { name: "hot".into(), metric: "m".into(), value: 10.0, duration: 5.0, ..Rule::default() };
        let mut alarms =
            Alarms { rules: Vec::new(), notify: Notify::start(Default::default()), standing: HashMap::new() };
        let mut at = |time: f64, value: f64| alarms.step(&rule, 1, Some(value), time);
        assert_eq!(at(0.0, 11.0), Step::Nothing);
        assert_eq!(at(3.0, 9.0), Step::Nothing, "it was short");
        assert_eq!(at(4.0, 11.0), Step::Nothing);
        assert_eq!(at(9.0, 11.0), Step::Raise);
        alarms.standing.get_mut(&("hot".into(), 1)).unwrap().raised = Some(7);
        let mut at = |time: f64, value: f64| alarms.step(&rule, 1, Some(value), time);
        assert_eq!(at(10.0, 9.5), Step::Nothing, "not far enough back");
        assert_eq!(at(11.0, 8.9), Step::Clear(7));
        assert_eq!(at(12.0, 8.9), Step::Nothing);
    }
}
