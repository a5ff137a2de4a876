//! The report for a terminal: what `ftio info`, `ftio` and `ftio advise` say, one after the other.

use crate::advise::block;
use crate::detect::report::detection;
use crate::info::table;
use crate::study::{PhaseRow, Study};
use crate::terminal::style::Style;
use crate::terminal::units::{Units, seconds};
use crate::terminal::width::{columns, width};
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
    let mut lines = vec![heads];
    lines.extend(phases.iter().enumerate().take(PHASES).map(cells));
    let widest = |column: usize| lines.iter().map(|cells| width(&cells[column])).max().unwrap_or(0);
    let widths: [usize; 7] = std::array::from_fn(widest);
    let needed: usize = widths.iter().map(|width| width + 2).sum();
    // Where the terminal is narrower, columns stand closer.
    let gap = if columns.is_some_and(|columns| needed > columns) { " " } else { "  " };
    let mut out = String::new();
    for cells in &lines {
        for (cell, wide) in cells.iter().zip(widths) {
            let _ = write!(out, "{gap}{}{cell}", " ".repeat(wide - width(cell).min(wide)));
        }
        out.push('\n');
    }
    if phases.len() > PHASES {
        let _ = writeln!(out, "  and {} more: ftio --csv=phases lists all", phases.len() - PHASES);
    }
    out
}
