//! What is wrong with the I/O of a trace: its findings, and the report about it.

use draw::report::{Subject, page};
use io_advice::study::{Question, Study, studies};
use serde_json::{Value, json};
use sources::{Input, OpenOptions};
use std::path::Path;

/// The report about a trace, as `ftio report` makes it.
pub fn report(path: &Path) -> Result<String, String> {
    page(&Subject::of(&study(path)?)).map_err(|error| error.to_string())
}

/// What `ftio advise --json` says of a trace. Nothing is said of what cannot be read.
pub fn findings(path: &Path) -> Value {
    study(path).ok().and_then(|study| serde_json::to_value(study.findings).ok()).unwrap_or_else(|| json!([]))
}

fn study(path: &Path) -> Result<Study, String> {
    let found = studies(&Input::new(path), &OpenOptions::default(), &Question::default());
    let last = found.map_err(|error| error.to_string())?.pop().ok_or("nothing in it")?;
    last.map_err(|error| error.to_string())
}
