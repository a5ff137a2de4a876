//! Results for people: a block per input, or a line.

use super::output::{Output, Results};
use super::report;
use crate::exit::Exit;
use crate::terminal::style::Style;
use crate::terminal::text::printable;
use crate::terminal::units::{bytes, percent, seconds};
use crate::terminal::width::{columns, cut, width};
use ftio_core::detect::Analysis;
use std::io::{self, Write};

/// Prints them.
#[derive(Debug)]
pub struct Text {
    quiet: bool,
    style: Style,
    /// Something stands above.
    begun: bool,
    /// What the table at the end says, one row for each input.
    rows: Vec<Row>,
}

impl Text {
    /// `quiet`: a line per input.
    pub fn open(quiet: bool) -> Self {
        Text { quiet, style: Style::for_stdout(), begun: false, rows: Vec::new() }
    }
}

impl Output for Text {
    fn results(&mut self, results: Results<'_>) -> anyhow::Result<Exit> {
        let gap = if self.begun && !self.quiet { "\n" } else { "" };
        let text = match results.analyses {
            [only] if self.quiet => report::line(only, self.style),
            [only] if !results.grouped => report::detection(only, self.style, columns()),
            all => report::groups(results.name, all, self.style),
        };
        self.begun = true;
        if let ([only], false, false) = (results.analyses, results.grouped, self.quiet) {
            self.rows.push(Row::of(only));
        }
        let mut out = io::stdout().lock();
        write!(out, "{gap}{text}")?;
        out.flush()?;
        Ok(Exit::Done)
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        if self.rows.len() > 1 {
            let mut out = io::stdout().lock();
            write!(out, "\n{}", table(&self.rows, columns(), self.style))?;
            out.flush()?;
        }
        Ok(())
    }
}

/// One input in the table.
#[derive(Debug)]
struct Row {
    name: String,
    cells: [String; 4],
}

impl Row {
    fn of(analysis: &Analysis) -> Self {
        let found = &analysis.detection;
        let volume = found.total_bytes as f64;
        Row {
            name: printable(&found.source).into_owned(),
            cells: [
                match found.period {
                    Some(period) => seconds(period),
                    None if found.periods.len() > 1 => "several".into(),
                    None => "none".into(),
                },
                found.period.map_or("–".into(), |_| percent(found.confidence)),
                if analysis.is_quantity { "–".into() } else { bytes(volume) },
                found.phases.len().to_string(),
            ],
        }
    }
}

/// Columns of the table without the names.
const CELLS: usize = 46;

/// The shortest that names are cut to.
const MIN_NAME: usize = 12;

/// All inputs, one line each; names are cut where the terminal is too narrow for them.
fn table(rows: &[Row], columns: Option<usize>, style: Style) -> String {
    let most = columns.map_or(usize::MAX, |columns| columns.saturating_sub(CELLS).max(MIN_NAME));
    let widest = rows.iter().map(|row| width(&row.name)).max().unwrap_or(0).min(most);
    let line = |name: &str, cells: &[String; 4]| {
        let pad = " ".repeat(widest - width(name).min(widest));
        let [period, confidence, volume, phases] = cells;
        format!("{name}{pad}  {period:>12}  {confidence:>10}  {volume:>10}  {phases:>6}\n")
    };
    let heads = ["Period", "Confidence", "Bytes", "Phases"].map(str::to_owned);
    let mut out = style.dim(&line("", &heads));
    for row in rows {
        out += &line(&cut(&row.name, most), &row.cells);
    }
    out
}
