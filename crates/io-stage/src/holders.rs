//! Which files processes of this host have open, as far as we may see.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A file that a process has open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The file system.
    pub device: u64,
    /// The file in it.
    pub inode: u64,
    /// It can be written through this descriptor.
    pub writable: bool,
}

/// All files below a folder that other processes of this host have open. Processes of other users are seen
/// only by the administrator.
pub fn held_below(root: &Path) -> Vec<Held> {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let own = std::process::id().to_string();
    let mut held = Vec::new();
    let Ok(processes) = fs::read_dir("/proc") else { return held };
    for process in processes.flatten() {
        let name = process.file_name();
        let is_process = name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
        if !is_process || name.as_encoded_bytes() == own.as_bytes() {
            continue;
        }
        let Ok(descriptors) = fs::read_dir(process.path().join("fd")) else { continue };
        for descriptor in descriptors.flatten() {
            // Only what is below the folder is looked at: a look at others might wait for a server.
            let below = fs::read_link(descriptor.path()).is_ok_and(|path| path.starts_with(&root));
            let Some(meta) = below.then(|| fs::metadata(descriptor.path()).ok()).flatten() else { continue };
            let info = process.path().join("fdinfo").join(descriptor.file_name());
            let writable = fs::read_to_string(info).map_or(true, |text| is_writable(&text));
            held.push(Held { device: meta.dev(), inode: meta.ino(), writable });
        }
    }
    held
}

/// From the flags of `open(2)`, in octal: 0 at their end is reading only.
fn is_writable(info: &str) -> bool {
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u64::from_str_radix(flags.trim(), 8).ok());
    flags.is_none_or(|flags| flags & 3 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_file_that_another_process_has_open() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "x").unwrap();
        assert_eq!(held_below(dir.path()), []);
        for (mode, writable) in [("<", false), (">>", true)] {
            let script = format!("exec 5{mode}'{}'; echo ready; read line", path.display());
            let mut child = Command::new("sh")
                .args(["-c", &script])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut ready = [0u8; 6];
            std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
            let meta = fs::metadata(&path).unwrap();
            let held = Held { device: meta.dev(), inode: meta.ino(), writable };
            assert_eq!(held_below(dir.path()), [held]);
            drop(child.stdin.take());
            child.wait().unwrap();
        }
    }

    #[test]
    fn flags_of_a_descriptor() {
        assert!(!is_writable("pos:\t0\nflags:\t0100000\nmnt_id:\t25\n"));
        assert!(is_writable("pos:\t0\nflags:\t0102001\n") && is_writable("flags:\t02\n"));
        assert!(is_writable("nothing"), "who does not say may write");
    }
}
