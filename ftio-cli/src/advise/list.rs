//! `ftio advise --list`: all rules and thresholds.

use crate::terminal::width::labelled;
use io_advice::{LIMITS, RULES};
use std::fmt::Write;

pub fn list(columns: Option<usize>) -> String {
    let mut out = String::from("Rules\n");
    for rule in RULES {
        out += &labelled(&format!("  {:<28}", rule.id), rule.when, columns);
        out += &labelled(&" ".repeat(30), &format!("[{}; needs {}]", rule.source, rule.needs), columns);
    }
    out += "\nThresholds\n";
    for limit in LIMITS {
        let mut text = String::new();
        let _ = write!(text, "{} {}: {} [{}]", limit.default, limit.unit, limit.meaning, limit.source);
        out += &labelled(&format!("  {:<28}", limit.name), &text, columns);
    }
    out
}
