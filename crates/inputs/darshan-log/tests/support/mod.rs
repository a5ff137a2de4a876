//! Where the real logs are, which are not part of the repository.

use std::path::{Path, PathBuf};

/// The folder with `traces/` and `reference/`, or a note on stderr that the test did not run.
pub fn shared_or_skip(test: &str) -> Option<PathBuf> {
    Some(test_data::shared_or_skip(test, "traces/darshan")?.parent()?.parent()?.to_path_buf())
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
