//! Results for people: a block per input, or a line.

use super::output::{Output, Results};
use super::report;
use crate::exit::Exit;
use crate::terminal::style::Style;
use crate::terminal::width::columns;
use std::io::{self, Write};

/// Prints them.
#[derive(Debug)]
pub struct Text {
    quiet: bool,
    style: Style,
    /// Something stands above.
    begun: bool,
}

impl Text {
    /// `quiet`: a line per input.
    pub fn open(quiet: bool) -> Self {
        Text { quiet, style: Style::for_stdout(), begun: false }
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
        let mut out = io::stdout().lock();
        write!(out, "{gap}{text}")?;
        out.flush()?;
        Ok(Exit::Done)
    }
}
