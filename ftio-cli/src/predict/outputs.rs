//! Everything that wants to know of predictions.

use super::OutArgs;
use super::line::line;
use crate::style::Style;
use crate::text::complain;
use anyhow::Context;
use ftio_core::predict::Prediction;
use std::io::{self, Write};

/// Where the lines for people, or JSON lines, go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lines {
    Text,
    Json,
    /// A program's own output is on standard output: lines for people go beside it.
    Aside,
    Nowhere,
}

/// Where predictions go.
#[derive(Debug)]
pub struct Outputs {
    lines: Lines,
    named: bool,
    style: Style,
    /// The first thing that went wrong in writing: the command cannot go on.
    problem: Option<io::Error>,
}

impl Outputs {
    /// Open everything that is asked for; `named` if there are several traces.
    pub fn open(args: &OutArgs, named: bool) -> anyhow::Result<Self> {
        let lines = if args.json { Lines::Json } else { Lines::Text };
        Ok(Outputs { lines, named, style: Style::for_stdout(), problem: None })
    }

    /// A prediction.
    pub fn prediction(&mut self, prediction: &Prediction) {
        let json = serde_json::to_string(prediction).unwrap_or_default();
        let result = match self.lines {
            Lines::Json => writeln!(io::stdout(), "{json}"),
            Lines::Text => writeln!(io::stdout(), "{}", line(prediction, self.named, self.style)),
            Lines::Aside => writeln!(io::stderr(), "{}", line(prediction, self.named, self.style)),
            Lines::Nowhere => Ok(()),
        };
        if let Err(error) = result {
            self.problem.get_or_insert(error);
        }
    }

    /// Another run has begun under the same name.
    pub fn restarted(&mut self) {
        complain("note", "another run has begun under the same name");
    }

    /// Everything so far is out, or an error.
    pub fn flush(&mut self) -> anyhow::Result<()> {
        if let Some(error) = self.problem.take() {
            return Err(error).context("cannot write predictions");
        }
        io::stdout().flush().context("cannot write predictions")
    }

    /// The end.
    pub fn finish(mut self) -> anyhow::Result<()> {
        self.flush()
    }
}
