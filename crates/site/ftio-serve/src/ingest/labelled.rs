//! Values with labels, as Prometheus has them: which job or node they belong to, and under which name.

use super::push::{Applied, NotTaken, PushKind, apply, job};
use crate::job::{JobDesc, Origin};
use crate::service::{Service, now};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One value of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The name is the label `__name__`. Samples of one series share them.
    pub labels: Arc<BTreeMap<String, String>>,
    pub value: f64,
    /// Seconds since 1970.
    pub time: f64,
}

/// What says whose value it is, and is not part of its name.
const OWNERS: [&str; 4] = ["__name__", "jobid", "job", "instance"];
const COUNTER_ENDINGS: [&str; 4] = ["_total", "_sum", "_count", "_bucket"];
/// Values that have waited longer, in seconds, do not tell when a job began.
const MAX_AGE: f64 = 86_400.0;

impl Sample {
    /// Add a label, unless there is one of that name.
    pub fn label_if_absent(&mut self, name: &str, value: &str) {
        if !self.labels.contains_key(name) {
            Arc::make_mut(&mut self.labels).insert(name.to_owned(), value.to_owned());
        }
    }

    /// With its other labels, as the original has it: `disk_usage{device="sda"}`.
    fn name(&self) -> String {
        let name = self.labels.get("__name__").cloned().unwrap_or_default();
        let others = self.labels.iter().filter(|(label, _)| !OWNERS.contains(&label.as_str()));
        let others: Vec<String> = others.map(|(label, value)| format!("{label}={value:?}")).collect();
        if others.is_empty() { name } else { format!("{name}{{{}}}", others.join(",")) }
    }

    /// Our own metrics of jobs keep the names that periods are found by.
    fn kind(&self) -> PushKind {
        let name = self.labels.get("__name__").map(String::as_str).unwrap_or_default();
        let is_counter = COUNTER_ENDINGS.iter().any(|ending| name.ends_with(ending));
        if is_counter { PushKind::Counter } else { PushKind::Gauge }
    }

    /// The job of the label `jobid`, or the node of the label `instance`.
    fn desc(&self) -> Option<(JobDesc, Origin)> {
        if let Some(jobid) = self.labels.get("jobid").filter(|jobid| !jobid.is_empty()) {
            return Some((JobDesc { jobid: jobid.clone(), ..JobDesc::default() }, Origin::Push));
        }
        let host = self.labels.get("instance").filter(|host| !host.is_empty())?;
        let name = host.rsplit_once(':').map_or(host.as_str(), |(host, _)| host).to_owned();
        let desc = JobDesc { jobid: format!("Node: {name}"), nodelist: name, ..JobDesc::default() };
        Some((desc, Origin::Node))
    }
}

/// Take them in. How many were taken, and how many not.
pub fn take(service: &Service, samples: &[Sample], owner: Option<u32>) -> Result<Applied, NotTaken> {
    let mut applied = Applied::default();
    // Prometheus sends what has waited as well: a job began before its first values arrive.
    let oldest = now() - MAX_AGE;
    let mut first: BTreeMap<String, f64> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.time >= oldest) {
        if let Some((desc, _)) = sample.desc() {
            let time = first.entry(desc.jobid).or_insert(sample.time);
            *time = time.min(sample.time);
        }
    }
    let mut jobs: BTreeMap<String, i64> = BTreeMap::new();
    for sample in samples {
        let Some((desc, origin)) = sample.desc() else {
            applied.refused += 1;
            continue;
        };
        let id = match jobs.get(&desc.jobid) {
            Some(id) => *id,
            None => {
                let jobid = desc.jobid.clone();
                let first = first.get(&jobid).copied();
                let id = job(service, desc, origin, owner, first)?;
                jobs.insert(jobid, id);
                id
            }
        };
        let start = service.running().jobs.get(&id).map_or(sample.time, |job| job.row.start);
        let name = sample.name();
        let values = std::iter::once((name.as_str(), sample.kind(), sample.value));
        applied.with(apply(service, id, (sample.time - start).max(0.0), values, |_| String::new())?);
    }
    service.stats.pushes.add(1);
    applied.settled(service)
}

/// Lines of Prometheus' text format: `name{label="value"} 1.5 [milliseconds]`. What cannot be read is left
/// out.
pub fn parse_text(text: &str, now: f64) -> Vec<Sample> {
    text.lines().filter_map(|line| parse_line(line.trim(), now)).collect()
}

fn parse_line(line: &str, now: f64) -> Option<Sample> {
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let end = line.find(|c: char| c == '{' || c.is_whitespace())?;
    let mut labels = BTreeMap::from([("__name__".to_owned(), line[..end].to_owned())]);
    let mut rest = &line[end..];
    if let Some(inside) = rest.strip_prefix('{') {
        rest = parse_labels(inside, &mut labels)?;
    }
    let mut words = rest.split_whitespace();
    let value: f64 = words.next()?.parse().ok()?;
    let time = words.next().and_then(|word| word.parse::<f64>().ok()).map_or(now, |millis| millis / 1e3);
    Some(Sample { labels: Arc::new(labels), value, time })
}

/// What comes after the brace; `None` if there is none.
fn parse_labels<'a>(mut rest: &'a str, labels: &mut BTreeMap<String, String>) -> Option<&'a str> {
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(after) = rest.strip_prefix('}') {
            return Some(after);
        }
        let (name, after) = rest.split_once("=\"")?;
        let mut value = String::new();
        let mut letters = after.char_indices();
        let end = loop {
            match letters.next()? {
                (at, '"') => break at,
                (_, '\\') => value.push(match letters.next()?.1 {
                    'n' => '\n',
                    other => other,
                }),
                (_, letter) => value.push(letter),
            }
        };
        labels.insert(name.trim().to_owned(), value);
        rest = &after[end + 1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_becomes_samples() {
        let text =
            "# HELP x\nx_total{device=\"s\\\"d\",instance=\"n1:9100\"} 5\nload 0.5 1700000000000\nbroken{\n";
        let samples = parse_text(text, 7.0);
        assert_eq!(samples.len(), 2);
        assert_eq!(samples[0].name(), "x_total{device=\"s\\\"d\"}");
        assert_eq!(samples[0].desc().unwrap().0.jobid, "Node: n1");
        assert_eq!((samples[0].kind(), samples[1].kind()), (PushKind::Counter, PushKind::Gauge));
        assert_eq!((samples[0].time, samples[1].time), (7.0, 1.7e9));
    }

    proptest! {
        #[test]
        fn any_text_is_no_danger(text in "\\PC{0,200}") {
            let _ = parse_text(&text, 0.0);
        }
    }
}
