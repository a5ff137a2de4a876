//! The report for a terminal: what `ftio info`, `ftio` and `ftio advise` say, one after the other.

use crate::advise::block;
use crate::detect::report::detection;
use crate::info;
use crate::study::{PhaseRow, Study};
use crate::terminal::style::Style;
use crate::terminal::table;
use crate::terminal::units::{Units, seconds};
use crate::terminal::width::columns;
use std::fmt::Write;

/// So many phases are listed.
const MAX_PHASES: usize = 40;

/// All studies.
pub fn text(studies: &[Study]) -> String {
    let (style, columns) = (Style::for_stdout(), columns());
    let mut out = String::new();
    for (number, study) in studies.iter().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        let _ = writeln!(out, "{}", style.bold("JOB"));
        out += &info::table(&study.summary, style, columns, 10);
        if let Ok(analysis) = &study.analysis {
            let _ = writeln!(out, "\n{}", style.bold("PERIOD"));
            out += &detection(analysis, style, columns);
            out += &phases(study, columns);
        }
        let _ = writeln!(out, "\n{}", style.bold("FINDINGS"));
        out += &block(study, style, columns);
    }
    out
}

fn phases(study: &Study, columns: Option<usize>) -> String {
    let (phases, Ok(analysis)) = (&study.phases, &study.analysis) else { return String::new() };
    if phases.is_empty() {
        return String::new();
    }
    let units = Units::of(analysis);
    let unknown = || "–".to_owned();
    let cells = |(number, phase): (usize, &PhaseRow)| {
        [
            (number + 1).to_string(),
            seconds(phase.start),
            seconds(phase.end),
            units.volume(phase.bytes as f64),
            phase.bandwidth.map_or_else(unknown, |bandwidth| units.rate(bandwidth)),
            phase.ranks.map_or_else(unknown, |ranks| ranks.to_string()),
            phase.lost_time.map_or_else(unknown, seconds),
        ]
    };
    let heads = ["Phase", "Start", "End", "Bytes", "Bandwidth", "Ranks", "Lost time"].map(str::to_owned);
    let mut rows = vec![heads];
    rows.extend(phases.iter().enumerate().take(MAX_PHASES).map(cells));
    let gap = table::gap(&rows, 2, columns);
    let indent = " ".repeat(gap);
    let lines = table::lines(&rows, gap, |_| false).into_iter().map(|line| format!("{indent}{line}\n"));
    let mut out: String = lines.collect();
    if phases.len() > MAX_PHASES {
        let _ = writeln!(out, "  and {} more: ftio --csv=phases lists all", phases.len() - MAX_PHASES);
    }
    out
}
