//! What a job is, and what is counted about it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How values of a metric are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Only grows; what comes in is an increment.
    Counter,
    /// A value as it is now.
    Gauge,
}

/// A job, under the names of the original metric proxy. Times are seconds since 1970; an `end_time` of 0
/// means that it runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobDesc {
    pub jobid: String,
    pub command: String,
    pub size: i64,
    pub nodelist: String,
    pub partition: String,
    pub cluster: String,
    pub run_dir: String,
    pub start_time: u64,
    pub end_time: u64,
}

/// How a job stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    #[default]
    Running,
    /// It reached its end.
    Finished,
    /// It ended without saying so: killed, or silent for too long.
    Lost,
    /// It reached its end, and what was recorded of it is not all there.
    Partial,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Running => "running",
            State::Finished => "finished",
            State::Lost => "lost",
            State::Partial => "partial",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [State::Running, State::Finished, State::Lost, State::Partial]
            .into_iter()
            .find(|state| state.name() == name)
    }
}

/// Where a job is known from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A trace or log below a watched directory.
    Trace,
    /// Pushed, by HTTP or over the socket.
    #[default]
    Push,
    /// A node: what its agent tells.
    Node,
    /// Another server that is asked now and then.
    Scrape,
}

impl Origin {
    pub fn name(self) -> &'static str {
        match self {
            Origin::Trace => "trace",
            Origin::Push => "push",
            Origin::Node => "node",
            Origin::Scrape => "scrape",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Origin::Trace, Origin::Push, Origin::Node, Origin::Scrape]
            .into_iter()
            .find(|origin| origin.name() == name)
    }
}

/// The counters that every trace has.
pub const WRITTEN: &str = "written_bytes";
pub const READ: &str = "read_bytes";
pub const WRITES: &str = "write_operations";
pub const READS: &str = "read_operations";

/// What a metric has come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Total {
    pub kind: Kind,
    /// Of a counter its sum, of a gauge its last value.
    pub value: f64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// When it last changed, in seconds since 1970.
    #[serde(default)]
    pub time: f64,
    /// Of a gauge: least, greatest, sum and number of all values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<[f64; 4]>,
    /// Of a counter that comes as a running sum: the first one that came. When that was added nobody knows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub first: f64,
    /// And the last one that came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<f64>,
    /// And when that was, or of a gauge when its last value was, in seconds of job time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_time: Option<f64>,
}

impl Total {
    pub fn counter(value: f64, time: f64) -> Self {
        Total { value, time, ..Total::new(Kind::Counter, "") }
    }

    pub fn new(kind: Kind, doc: &str) -> Self {
        let doc = doc.to_owned();
        Total { kind, value: 0.0, doc, time: 0.0, seen: None, first: 0.0, raw: None, raw_time: None }
    }

    /// Add an increment, or a value that was seen.
    pub fn add(&mut self, value: f64, time: f64) {
        self.time = time;
        match self.kind {
            Kind::Counter => self.value += value,
            Kind::Gauge => {
                self.value = value;
                let seen = self.seen.unwrap_or([value, value, 0.0, 0.0]);
                self.seen = Some([seen[0].min(value), seen[1].max(value), seen[2] + value, seen[3] + 1.0]);
            }
        }
    }
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// All metrics of a job, by name.
pub type Totals = BTreeMap<String, Total>;

/// A text that may come from anybody, made fit to keep: no control characters, not longer than `most`
/// characters.
pub fn clean(text: &str, most: usize) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(most).collect()
}

/// Longest name of a metric, and of most other things.
pub const LONGEST_NAME: usize = 256;
/// Longest command.
pub const LONGEST_COMMAND: usize = 4096;

impl JobDesc {
    /// As it is kept.
    pub fn cleaned(mut self) -> Self {
        for text in [&mut self.jobid, &mut self.partition, &mut self.cluster] {
            *text = clean(text, LONGEST_NAME);
        }
        for text in [&mut self.command, &mut self.nodelist, &mut self.run_dir] {
            *text = clean(text, LONGEST_COMMAND);
        }
        self.size = self.size.max(0);
        self
    }
}
