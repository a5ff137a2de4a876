//! What commands print on standard output.

use serde::Serialize;
use std::io::{self, Write};

/// One object, as a line of JSON.
pub fn json(out: &mut impl Write, record: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, record)?;
    writeln!(out)
}

/// One result: a line of JSON if that is asked for, else the text that is made of it.
pub fn result<T: Serialize>(as_json: bool, record: &T, text: impl FnOnce(&T) -> String) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match as_json {
        true => json(&mut out, record)?,
        false => out.write_all(text(record).as_bytes())?,
    }
    out.flush()
}
