//! Metrics for Prometheus, wherever they come from: in a file, or served over HTTP.

use crate::exit::wrong_usage;
use crate::output;
use anyhow::Context;
use emit::address::{address, almost_an_address};
use emit::http::Page;
use std::path::PathBuf;

/// Where the text goes.
#[derive(Debug)]
pub enum Published {
    File(PathBuf),
    Served(Page),
}

impl Published {
    /// An address has a port at its end; anything else is a file.
    pub fn open(target: &str) -> anyhow::Result<Self> {
        if let Some(problem) = almost_an_address(target) {
            return Err(wrong_usage(format!("--prometheus {target}: {problem}")));
        }
        let Some(address) = address(target) else {
            let mut file = Published::File(PathBuf::from(target));
            // Know that it can be written before the work begins.
            file.publish(String::new()).with_context(|| format!("--prometheus {target}"))?;
            return Ok(file);
        };
        let page = Page::default();
        page.serve(&address).with_context(|| format!("--prometheus {target}"))?;
        Ok(Published::Served(page))
    }

    /// Replace the text. A reader sees the old one or the new one, never a part.
    pub fn publish(&mut self, text: String) -> anyhow::Result<()> {
        match self {
            Published::File(path) => output::write(path, text.as_bytes())?,
            Published::Served(page) => page.set(text),
        }
        Ok(())
    }
}
