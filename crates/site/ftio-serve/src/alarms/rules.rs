//! Rules as they are written: a TOML file.

use super::notify::Targets;
use crate::store::{JobRow, RuleRow};
use serde::Deserialize;

/// On which side of the threshold it is bad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operation {
    #[default]
    Above,
    Below,
    Equal,
}

/// When to raise an alarm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule {
    pub name: String,
    pub metric: String,
    pub operation: Operation,
    pub value: f64,
    /// Seconds for which it must hold.
    pub duration: f64,
    /// At which value it is over; without one, a tenth of the threshold back.
    pub clear: Option<f64>,
    /// A job id, or the beginning of one before `*`; empty is all.
    pub job: String,
    /// About the sum of all jobs.
    pub site: bool,
    /// What to say; `{value}` is the value.
    pub text: String,
}

impl Rule {
    pub fn is_beyond(&self, value: f64) -> bool {
        match self.operation {
            Operation::Above => value > self.value,
            Operation::Below => value < self.value,
            Operation::Equal => value == self.value,
        }
    }

    /// Is the value so far back that the alarm is over?
    pub fn is_back(&self, value: f64) -> bool {
        let margin = 0.1 * self.value.abs();
        match self.operation {
            Operation::Above => value <= self.clear.unwrap_or(self.value - margin),
            Operation::Below => value >= self.clear.unwrap_or(self.value + margin),
            Operation::Equal => value != self.value,
        }
    }

    pub fn concerns(&self, job: &JobRow) -> bool {
        match self.job.strip_suffix('*') {
            Some(begin) => job.desc.jobid.starts_with(begin),
            None => self.job.is_empty() || self.job == job.desc.jobid,
        }
    }

    pub fn message(&self, value: f64) -> String {
        if !self.text.is_empty() {
            return self.text.replace("{value}", &short(value));
        }
        let (sign, threshold) = (self.sign(), self.value);
        format!("{} is {} ({sign} {})", self.metric, short(value), short(threshold))
    }

    pub fn sign(&self) -> &'static str {
        match self.operation {
            Operation::Above => ">",
            Operation::Below => "<",
            Operation::Equal => "=",
        }
    }

    /// A threshold that was set over HTTP.
    pub fn stored(row: &RuleRow) -> Option<Self> {
        let operation = match row.operation.as_str() {
            ">" => Operation::Above,
            "<" => Operation::Below,
            "=" => Operation::Equal,
            _ => return None,
        };
        Some(Rule {
            // Not to be taken for one of the file.
            name: format!("{}@{}", row.name, row.target),
            metric: row.metric.clone(),
            operation,
            value: row.value,
            job: row.target.clone(),
            site: row.target == super::SITE,
            ..Rule::default()
        })
    }
}

/// A file of rules.
#[derive(Clone, Debug, Default)]
pub struct RuleFile {
    pub rules: Vec<Rule>,
    pub notify: Targets,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    rule: Vec<WrittenRule>,
    #[serde(default)]
    notify: Targets,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    name: String,
    metric: String,
    above: Option<f64>,
    below: Option<f64>,
    equal: Option<f64>,
    #[serde(default, rename = "for")]
    duration: f64,
    clear: Option<f64>,
    #[serde(default)]
    job: String,
    #[serde(default)]
    site: bool,
    #[serde(default)]
    message: String,
}

impl RuleFile {
    /// Without a file: jobs that spend most of their time in I/O, and a site at its limit.
    pub fn usual(capacity: Option<f64>) -> Self {
        let mut rules = vec![Rule {
            name: "mostly-io".into(),
            metric: "io_share".into(),
            value: 0.5,
            duration: 300.0,
            text: "more than half of the time goes into I/O ({value} of it)".into(),
            ..Rule::default()
        }];
        rules.extend(capacity.map(|capacity| Rule {
            name: "site-at-capacity".into(),
            metric: "rate".into(),
            value: 0.9 * capacity,
            duration: 30.0,
            site: true,
            text: "all jobs together move {value} bytes per second, nearly all that is possible".into(),
            ..Rule::default()
        }));
        RuleFile { rules, notify: Targets::default() }
    }

    /// Read a file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let written: Written = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut rules: Vec<Rule> = Vec::new();
        for one in written.rule {
            let sides = [
                one.above.map(|value| (Operation::Above, value)),
                one.below.map(|value| (Operation::Below, value)),
                one.equal.map(|value| (Operation::Equal, value)),
            ];
            let mut given = sides.into_iter().flatten();
            let (Some((operation, value)), None) = (given.next(), given.next()) else {
                return Err(format!("rule {}: expected one of above, below and equal", one.name));
            };
            if rules.iter().any(|rule| rule.name == one.name) {
                return Err(format!("rule {}: there are two of that name", one.name));
            }
            if one.name.is_empty() || one.metric.is_empty() {
                return Err("a rule needs a name and a metric".into());
            }
            if [&one.name, &one.metric, &one.message].iter().any(|text| text.contains(char::is_control)) {
                return Err(format!("rule {:?}: a text has control characters", one.name));
            }
            if !value.is_finite() || one.clear.is_some_and(|clear| !clear.is_finite()) {
                return Err(format!("rule {}: a threshold is a number", one.name));
            }
            if !(one.duration.is_finite() && one.duration >= 0.0) {
                return Err(format!("rule {}: for: expected seconds, found {}", one.name, one.duration));
            }
            // It would be raised and cleared every second.
            let beyond = one.clear.is_some_and(|clear| match operation {
                Operation::Above => clear > value,
                Operation::Below => clear < value,
                Operation::Equal => true,
            });
            if beyond {
                return Err(format!("rule {}: clear: a value on the good side of the threshold", one.name));
            }
            rules.push(Rule {
                name: one.name,
                metric: one.metric,
                operation,
                value,
                duration: one.duration,
                clear: one.clear,
                job: one.job,
                site: one.site,
                text: one.message,
            });
        }
        written.notify.check()?;
        Ok(RuleFile { rules, notify: written.notify })
    }
}

/// A number as people read it: four digits, and large ones in thousands, millions and so on.
fn short(value: f64) -> String {
    let prefixes = ["", " k", " M", " G", " T", " P", " E"];
    let mut value = value;
    let mut prefix = 0;
    // Up to four digits need none.
    while value.abs() >= if prefix == 0 { 1e4 } else { 1e3 } && prefix + 1 < prefixes.len() {
        value /= 1e3;
        prefix += 1;
    }
    let digits = if value.abs() >= 1.0 { 2 } else { 4 };
    let text = format!("{value:.digits$}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}{}", prefixes[prefix])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (45e9, "45 G"),
            (5.0, "5"),
            (0.5234, "0.5234"),
            (0.0, "0"),
            (9999.0, "9999"),
            (12_340.0, "12.34 k"),
            (-2.5e6, "-2.5 M"),
            (100.0, "100"),
            (0.95, "0.95"),
        ] {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn rules_are_read() {
        let text = "[notify]\ncommand = ['logger', 'x']\n\n[[rule]]\nname = 'a'\nmetric = 'rate'\nabove = 1e9\nfor = 30\n\
                    clear = 5e8\njob = '47*'\n";
        let file = RuleFile::parse(text).unwrap();
        let rule = &file.rules[0];
        assert!(rule.is_beyond(2e9) && !rule.is_back(6e8) && rule.is_back(5e8));
        assert_eq!(file.notify.command, ["logger", "x"]);
        for wrong in
            ["[[rule]]\nname='a'\nmetric='b'", "x = 1", "[[rule]]\nname='a'\nmetric='b'\nabove=1\nbelow=2"]
        {
            assert!(RuleFile::parse(wrong).is_err(), "{wrong}");
        }
    }

    /// What would never fire, or all the time, or could not be told, is said when the service starts.
    #[test]
    fn rules_that_make_no_sense_are_refused() {
        let rule = |text: &str| format!("[[rule]]\nname='a'\nmetric='b'\n{text}\n");
        for right in ["above=1\nclear=1", "below=1\nclear=2", "equal=0\nfor=0.5", "above=-5"] {
            assert!(RuleFile::parse(&rule(right)).is_ok(), "{right}");
        }
        for wrong in [
            "above=nan",
            "below=inf",
            "above=1\nclear=2",
            "below=1\nclear=0.5",
            "equal=1\nclear=1",
            "above=1\nclear=nan",
            "above=1\nfor=-1",
            "above=1\nfor=nan",
            "above=1\nfor=inf",
            "above=1\nmessage=\"a\\u0000b\"",
            "above='1'",
            "above=1\nabove=2",
            "above=1\n[notify]\nwebhook='https://x/'",
            "above=1\n[notify]\nwebhook='http://'",
            "above=1\n[notify]\nalertmanager='http://x\\r\\nEvil: y/'",
            "above=1\n[notify]\nwebhook='http://a b/'",
            "above=1\n[notify]\ncommand=['']",
            "above=1\n[notify]\ncommand='rm -rf'",
            "above=1\n[notify]\ncommand=[\"a\", \"b\\u0000\"]",
        ] {
            assert!(RuleFile::parse(&rule(wrong)).is_err(), "{wrong}");
        }
        for wrong in ["[[rule]]\nname=''\nmetric='b'\nabove=1", "[[rule]]\nname='a'\nmetric=''\nabove=1"] {
            assert!(RuleFile::parse(wrong).is_err(), "{wrong}");
        }
    }
}
