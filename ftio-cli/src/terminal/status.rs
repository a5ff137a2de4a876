//! The line of a terminal, on standard error, that is written over and over.

use crate::terminal::width::{columns_of, cut};
use std::io::Write;

/// Shows this text in place of what was there. A line that wraps would stay, so it is cut.
pub fn show(text: &str) {
    let columns = columns_of(&std::io::stderr()).unwrap_or(usize::MAX);
    eprint!("\r\x1b[2K{}", cut(text, columns - 1));
    let _ = std::io::stderr().flush();
}

/// Takes the line away.
pub fn clear() {
    eprint!("\r\x1b[2K");
}
