//! Everything that wants to know of predictions.

use super::OutArgs;
use super::exec::Exec;
use super::line::line;
use super::prometheus::Prometheus;
use super::socket::Socket;
use crate::terminal::style::Style;
use crate::terminal::text::complain;
use anyhow::Context;
use ftio_core::predict::Prediction;
use std::io::{self, Write};
use std::path::Path;

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
    exec: Option<Exec>,
    prometheus: Option<Prometheus>,
    socket: Option<Socket>,
    /// The first thing that went wrong in writing: the command cannot go on.
    problem: Option<io::Error>,
}

impl Outputs {
    /// Open everything that is asked for; `named` if there are several traces.
    pub fn open(args: &OutArgs, named: bool) -> anyhow::Result<Self> {
        let lines = match (args.json, args.tui) {
            (true, _) => Lines::Json,
            (_, true) => Lines::Nowhere,
            _ => Lines::Text,
        };
        Ok(Outputs {
            lines,
            named,
            style: Style::for_stdout(),
            exec: args.exec.as_deref().map(Exec::new).transpose()?,
            prometheus: args.prometheus.as_deref().map(Prometheus::open).transpose()?,
            socket: args.socket.as_deref().map(Socket::open).transpose()?,
            problem: None,
        })
    }

    /// Lines for people go to standard error: standard output belongs to the program that runs.
    pub fn beside_a_program(mut self) -> Self {
        if self.lines == Lines::Text {
            self.lines = Lines::Aside;
        }
        self
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
        if let Some(exec) = &self.exec {
            exec.prediction(prediction, &json);
        }
        if let Some(socket) = &self.socket {
            socket.send(&prediction.source, &json);
        }
        let result = result.and_then(|()| match &mut self.prometheus {
            Some(prometheus) => prometheus.prediction(prediction),
            None => Ok(()),
        });
        if let Err(error) = result {
            self.problem.get_or_insert(error);
        }
    }

    /// Another run has begun under the same name.
    pub fn restarted(&mut self, name: &Path) {
        if self.lines != Lines::Nowhere {
            complain("note", &format!("{}: another run has begun", name.display()));
        }
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
