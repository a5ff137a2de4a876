//! Test data that is not part of the repository, and tests that are skipped.
//!
//! Every crate commits small inputs of our own making with the answers that the original programs gave for
//! them (`tests/reference/`, made by `scripts/reference`); these are always compared. Larger traces of others
//! may lie in a folder `shared`, which `FTIO_SHARED` names. Tests of those are skipped where it is missing.
//!
//! A test that is skipped says so in one line, `SKIPPED test: reason`. `scripts/test` collects these lines.
//! With `STRICT=1` in the environment a skipped test fails.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

use std::io::Write;
use std::path::{Path, PathBuf};

/// Print that a test is skipped, past the capture of the test runner; the caller returns.
///
/// # Panics
///
/// With `STRICT=1` in the environment.
pub fn skip(test: &str, reason: &str) {
    let strict = std::env::var_os("STRICT").is_some_and(|value| !value.is_empty() && value != "0");
    assert!(!strict, "{test} cannot be skipped with STRICT=1: {reason}");
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
}

/// The folder of shared test data: `$FTIO_SHARED`, else a folder `shared` beside the workspace or above it.
pub fn shared() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("FTIO_SHARED") {
        return Some(PathBuf::from(folder)).filter(|folder| folder.is_dir());
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    workspace
        .ancestors()
        .skip(1)
        .map(|folder| folder.join("shared"))
        .find(|folder| folder.join("traces").is_dir())
}

/// A file or folder of the shared test data, or `None` after saying that the test is skipped.
pub fn shared_or_skip(test: &str, path: &str) -> Option<PathBuf> {
    let found = shared().map(|folder| folder.join(path)).filter(|path| path.exists());
    if found.is_none() {
        skip(test, &format!("no {path} in a folder `shared` above the workspace or named by FTIO_SHARED"));
    }
    found
}
