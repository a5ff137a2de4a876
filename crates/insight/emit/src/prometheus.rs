//! The text format of Prometheus, version 0.0.4: metrics with their help, and samples with labels.

use std::fmt::{self, Display, Write};

/// What HTTP calls the format.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// How a metric behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// It only grows.
    Counter,
    /// It goes up and down.
    Gauge,
    /// Counts of values up to each of several edges.
    Histogram,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        }
    }
}

/// A row of a table of metrics: name, kind, what it is, and how its value is found.
pub type Row<F> = (&'static str, Kind, &'static str, F);

/// Labels of a sample, in the order in which they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Labels(String);

impl Labels {
    /// Names, which are those of the program, and values, which may be anything.
    pub fn of<const N: usize>(labels: [(&str, &str); N]) -> Self {
        let mut text = String::new();
        for (name, value) in labels {
            let comma = if text.is_empty() { "" } else { "," };
            let _ = write!(text, "{comma}{name}=\"{}\"", escaped(value));
        }
        Labels(text)
    }

    /// These, then others.
    pub fn and(&self, others: &Labels) -> Self {
        let comma = if self.0.is_empty() || others.0.is_empty() { "" } else { "," };
        Labels(format!("{}{comma}{}", self.0, others.0))
    }
}

impl Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "{{{}}}", self.0) }
    }
}

/// A label's value: backslash, quote and line feed have to be escaped.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Metrics as text. Writing to a string cannot fail.
#[derive(Clone, Debug, Default)]
pub struct Text(String);

impl Text {
    /// A metric, whose samples follow.
    pub fn metric<'a>(&'a mut self, name: &'a str, kind: Kind, help: &str) -> Samples<'a> {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {}", kind.name());
        Samples { text: &mut self.0, name }
    }

    /// A metric with all its samples; without any, it is left out.
    pub fn known<L: AsRef<Labels>>(
        &mut self,
        (name, kind, help): (&str, Kind, &str),
        samples: impl IntoIterator<Item = (L, f64)>,
    ) {
        let mut samples = samples.into_iter().peekable();
        if samples.peek().is_none() {
            return;
        }
        let mut metric = self.metric(name, kind, help);
        samples.for_each(|(labels, value)| metric.sample(labels.as_ref(), value));
    }

    /// A metric with one sample and no labels.
    pub fn single(&mut self, name: &str, kind: Kind, help: &str, value: impl Display) {
        self.metric(name, kind, help).sample(&Labels::default(), value);
    }

    /// All that was written.
    pub fn finish(self) -> String {
        self.0
    }
}

impl AsRef<Labels> for Labels {
    fn as_ref(&self) -> &Labels {
        self
    }
}

/// The samples of a metric.
#[derive(Debug)]
pub struct Samples<'a> {
    text: &'a mut String,
    name: &'a str,
}

impl Samples<'_> {
    /// A sample.
    pub fn sample(&mut self, labels: &Labels, value: impl Display) {
        self.part("", labels, value);
    }

    /// A sample of a part, whose name has something at its end: `_bucket`, `_sum`, `_count`.
    pub fn part(&mut self, ending: &str, labels: &Labels, value: impl Display) {
        let _ = writeln!(self.text, "{}{ending}{labels} {value}", self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_with_and_without_labels() {
        let mut text = Text::default();
        let none: [(Labels, f64); 0] = [];
        text.known(("a", Kind::Counter, "Nothing."), none);
        text.known(("b", Kind::Counter, "Something."), [(Labels::of([("job", "a \"b\"\\\n")]), 1.5)]);
        text.single("c", Kind::Gauge, "One.", 2);
        let mut times = text.metric("d", Kind::Histogram, "Times.");
        let job = Labels::of([("job", "1")]);
        times.part("_bucket", &job.and(&Labels::of([("le", "+Inf")])), 3_u64);
        times.part("_sum", &job, 0.25);
        let expected = "# HELP b Something.\n# TYPE b counter\nb{job=\"a \\\"b\\\"\\\\\\n\"} 1.5\n\
                        # HELP c One.\n# TYPE c gauge\nc 2\n\
                        # HELP d Times.\n# TYPE d histogram\nd_bucket{job=\"1\",le=\"+Inf\"} 3\n\
                        d_sum{job=\"1\"} 0.25\n";
        assert_eq!(text.finish(), expected);
        assert_eq!(Labels::default().and(&job), job);
    }
}
