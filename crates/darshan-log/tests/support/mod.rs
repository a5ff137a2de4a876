//! Where the real logs are, which are not part of the repository.

use std::path::{Path, PathBuf};

/// The folder with `traces/` and `reference/`: `$FTIO_SHARED`, else `shared/` next to the workspace or above it.
pub fn shared() -> Option<PathBuf> {
    if let Some(dir) = std::env::var_os("FTIO_SHARED") {
        return Some(PathBuf::from(dir));
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    workspace
        .ancestors()
        .skip(1)
        .map(|dir| dir.join("shared"))
        .find(|dir| dir.join("traces/darshan").is_dir())
}

/// The folder, or a note on stderr that the test did not run.
pub fn shared_or_skip(test: &str) -> Option<PathBuf> {
    let dir = shared();
    if dir.is_none() {
        eprintln!("SKIPPED {test}: no folder `shared` next to the workspace, and FTIO_SHARED is not set");
    }
    dir
}

/// The logs in a folder, in order.
#[allow(dead_code, reason = "not every test reads whole folders")]
pub fn logs(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let is_log = |path: &PathBuf| path.to_string_lossy().contains(".darshan");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_log).collect();
    paths.sort();
    paths
}
