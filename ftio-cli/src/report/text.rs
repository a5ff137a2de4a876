//! The report for a terminal: what `ftio info`, `ftio` and `ftio advise` say, one after the other.

use crate::advise::block;
use crate::detect::report::detection;
use crate::info::table;
use crate::study::Study;
use crate::terminal::style::Style;
use crate::terminal::units::{bytes, seconds, si};
use crate::terminal::width::columns;
use std::fmt::Write;

/// So many phases are listed.
const PHASES: usize = 40;

/// All studies.
pub fn text(studies: &[Study]) -> String {
    let (style, columns) = (Style::for_stdout(), columns());
    let mut out = String::new();
    for (number, study) in studies.iter().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        let _ = writeln!(out, "{}", style.bold("JOB"));
        out += &table(&study.summary, style, columns, 10);
        if let Ok(analysis) = &study.analysis {
            let _ = writeln!(out, "\n{}", style.bold("PERIOD"));
            out += &detection(analysis, style, columns);
            out += &phases(study);
        }
        let _ = writeln!(out, "\n{}", style.bold("FINDINGS"));
        out += &block(study, style, columns);
    }
    out
}

fn phases(study: &Study) -> String {
    let Ok(analysis) = &study.analysis else { return String::new() };
    let phases = &analysis.detection.phases;
    let mut out = String::new();
    for (number, phase) in phases.iter().enumerate().take(PHASES) {
        let _ = writeln!(
            out,
            "  Phase {:>4}  {:>10} to {:>10}  {:>9}  {:>10}",
            number + 1,
            seconds(phase.start),
            seconds(phase.end),
            bytes(phase.bytes as f64),
            phase.bandwidth().map_or(String::new(), |bandwidth| si(bandwidth, "B/s"))
        );
    }
    if phases.len() > PHASES {
        let _ = writeln!(out, "  and {} more: ftio --csv=phases lists all", phases.len() - PHASES);
    }
    out
}
