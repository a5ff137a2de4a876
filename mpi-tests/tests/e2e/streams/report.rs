//! What a run of the fuzzer did: how many scripts, which calls, what failed.

use super::rows::ROWS;
use std::collections::BTreeMap;
use std::io::Write;

/// What was done.
#[derive(Debug, Default)]
pub struct Report {
    pub played: usize,
    pub failed: usize,
    pub failures: Vec<String>,
    /// By name of the call: how often it succeeded, and how often it did not.
    calls: BTreeMap<String, (usize, usize)>,
    /// How scripts ended without the library.
    ends: BTreeMap<String, usize>,
}

impl Report {
    pub fn note_calls(&mut self, log: &str) {
        for line in log.lines() {
            if let Some(end) = line.strip_prefix("ended ").or(line.starts_with("hangs").then_some("hang")) {
                *self.ends.entry(end.to_owned()).or_default() += 1;
                continue;
            }
            let Some((call, result)) = line.split_once(": ") else { continue };
            let name = call.split(' ').next().unwrap_or(call).to_owned();
            let counts = self.calls.entry(name).or_default();
            match result == "nothing there" || result.starts_with('-') {
                true => counts.1 += 1,
                false => counts.0 += 1,
            }
        }
    }

    /// Calls that never succeeded: the generator is dead there.
    pub fn never(&self) -> Vec<&'static str> {
        // They have no result of their own.
        let is_mark = |name: &str| name.starts_with("end") || name == "branch";
        let mut names: Vec<&str> = ROWS.iter().map(|row| row.name).filter(|name| !is_mark(name)).collect();
        names.dedup();
        names.retain(|&name| self.calls.get(name).is_none_or(|counts| counts.0 == 0));
        names
    }

    pub fn print(&self, seconds: f64) {
        let mut text = format!(
            "{} sequences in {seconds:.1} s ({:.0} a second), {} failed\n",
            self.played,
            self.played as f64 / seconds,
            self.failed
        );
        let counts: Vec<String> =
            self.calls.iter().map(|(name, (good, bad))| format!("{name} {good}+{bad}")).collect();
        text += &format!("calls that succeeded + that did not: {}\n", counts.join(", "));
        let ends: Vec<String> = self.ends.iter().map(|(end, count)| format!("{end} ({count})")).collect();
        text += &format!("wait statuses of scripts: {}\n", ends.join(", "));
        text += &format!("calls that never succeeded: {:?}\n", self.never());
        say(&text);
    }
}

/// What no legal script does without the library.
pub fn trouble_alone(log: &str) -> Option<&'static str> {
    let end = log.lines().last().unwrap_or_default();
    // The low bits of a wait status are the signal that ended it.
    let signal =
        end.strip_prefix("ended ").and_then(|status| status.parse::<i32>().ok()).map(|status| status & 127);
    match signal {
        None => Some("does not end"),
        Some(11 | 7 | 4 | 8) => Some("crashes"),
        _ => None,
    }
}

/// Past the test runner's capture.
pub fn say(text: &str) {
    let _ = write!(std::io::stderr(), "{text}");
}
