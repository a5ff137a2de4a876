//! Alarms: a value that is beyond its threshold for long enough, and until it is back by a margin.

mod notify;
mod rules;

pub use notify::Notify;
pub use rules::{Operation, Rule, RuleFile};

use crate::config::Config;
use crate::job::Origin;
use crate::live::LiveJob;
use crate::lock::locked;
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
#[derive(Clone, Debug)]
struct Standing {
    /// Beyond the threshold since, in seconds by a clock that nobody sets.
    since: f64,
    raised: Option<Raised>,
}

/// An alarm that was raised: when it is over, who was told must recognise it. By then its job may have ended.
#[derive(Clone, Debug, PartialEq)]
struct Raised {
    alarm: AlarmRow,
    owner: Option<u32>,
}

/// What is to be done after a look.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Raise,
    Clear(Raised),
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
            Some(Standing { raised: Some(raised), .. }) => {
                if value.is_none_or(|value| rule.is_back(value)) {
                    return Step::Clear(raised.clone());
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
        "io_share" => job.detection.as_ref()?.characterization.r_io_of_job?,
        "run_seconds" => time - job.row.start,
        name => job.totals.get(name)?.value,
    })
}

/// Look at all rules and running jobs.
pub fn look(service: &Service) {
    let (time, steady) = (now(), service.opened.elapsed().as_secs_f64());
    let stored = service.reader().rules().unwrap_or_default();
    let mut alarms = locked(&service.alarms);
    let stored = stored.iter().filter_map(Rule::stored);
    let rules: Vec<Rule> = alarms.rules.iter().cloned().chain(stored).collect();
    let mut raise: Vec<Raised> = Vec::new();
    let mut clear: Vec<Raised> = Vec::new();
    let mut take = |step: Step, rule: &Rule, job: i64, jobid: &str, owner: Option<u32>, value: f64| match step
    {
        Step::Raise => {
            let alarm = AlarmRow {
                id: 0,
                rule: rule.name.clone(),
                job,
                jobid: jobid.to_owned(),
                metric: rule.metric.clone(),
                value,
                message: rule.message(value),
                since: time,
                until: None,
            };
            raise.push(Raised { alarm, owner });
        }
        Step::Clear(mut raised) => {
            raised.alarm.value = value;
            clear.push(raised);
        }
        Step::Nothing => {}
    };
    {
        let running = service.running();
        for rule in &rules {
            if rule.site {
                let jobs = running
                    .jobs
                    .values()
                    .filter(|job| matches!(job.row.origin, Origin::Trace | Origin::Push));
                let sum: f64 = jobs.filter_map(|job| value(job, &rule.metric, time)).sum();
                take(alarms.step(rule, 0, Some(sum), steady), rule, 0, SITE, None, sum);
                continue;
            }
            for job in running.jobs.values().filter(|job| rule.concerns(&job.row)) {
                let found = value(job, &rule.metric, time);
                let step = alarms.step(rule, job.row.id, found, steady);
                let (jobid, owner) = (&job.row.desc.jobid, job.row.owner);
                take(step, rule, job.row.id, jobid, owner, found.unwrap_or(0.0));
            }
        }
        // Jobs that have ended, and rules that are gone.
        alarms.standing.retain(|(name, job), standing| {
            let ended = *job != 0 && !running.jobs.contains_key(job);
            let gone = ended || !rules.iter().any(|rule| rule.name == *name);
            if gone {
                clear.extend(standing.raised.clone());
            }
            // An alarm is there until its end is stored.
            !gone || standing.raised.is_some()
        });
    }
    for mut raised in raise {
        let stored = service.writer().raise(&raised.alarm, raised.owner);
        let Some(id) = service.stored(stored) else { continue };
        raised.alarm.id = id;
        alarms.notify.send(&raised.alarm, false);
        service.tell("alarm", raised.owner, &serde_json::json!(raised.alarm));
        let key = (raised.alarm.rule.clone(), raised.alarm.job);
        if let Some(standing) = alarms.standing.get_mut(&key) {
            standing.raised = Some(raised);
        }
    }
    for Raised { mut alarm, owner } in clear {
        let stored = service.writer().clear(alarm.id, time);
        if service.stored(stored).is_none() {
            continue;
        }
        alarms.standing.remove(&(alarm.rule.clone(), alarm.job));
        alarm.until = Some(time);
        alarms.notify.send(&alarm, true);
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
        let alarm = AlarmRow {
            id: 7,
            rule: "hot".into(),
            job: 1,
            jobid: "j".into(),
            metric: "m".into(),
            value: 11.0,
            message: String::new(),
            since: 9.0,
            until: None,
        };
        let raised = Raised { alarm, owner: None };
        alarms.standing.get_mut(&("hot".into(), 1)).unwrap().raised = Some(raised.clone());
        let mut at = |time: f64, value: f64| alarms.step(&rule, 1, Some(value), time);
        assert_eq!(at(10.0, 9.5), Step::Nothing, "not far enough back");
        assert_eq!(at(11.0, 8.9), Step::Clear(raised.clone()));
        assert_eq!(at(12.0, 8.9), Step::Clear(raised), "until that is stored");
    }
}
