//! Results as JSON, one object per line.

use super::output::{Output, Results};
use crate::exit::Exit;
use crate::print;
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
            print::json(&mut self.out, &analysis.detection)?;
        }
        self.out.flush()?;
        Ok(Exit::Done)
    }
}
