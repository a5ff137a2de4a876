//! Results as JSON, one object per line.

use super::output::{Output, Results};
use crate::exit::Exit;
use std::io::{self, BufWriter, Stdout, Write};

/// Prints them.
#[derive(Debug)]
pub struct Json {
    out: BufWriter<Stdout>,
}

impl Json {
    pub fn open() -> Self {
        Json { out: BufWriter::new(io::stdout()) }
    }
}

impl Output for Json {
    fn results(&mut self, results: Results<'_>) -> anyhow::Result<Exit> {
        for analysis in results.analyses {
            serde_json::to_writer(&mut self.out, &analysis.detection).map_err(io::Error::from)?;
            writeln!(self.out)?;
        }
        self.out.flush()?;
        Ok(Exit::Done)
    }
}
