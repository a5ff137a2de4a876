//! Which files processes of this host have open or mapped, as far as we may see.

use crate::system::Holders;
use files::Stat;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The namespace of processes that sees all others (`PROC_PID_INIT_INO` of the kernel).
const ALL_PROCESSES: u64 = 0xEFFF_FFFC;

/// What a look at the processes of this host has found below a folder.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// File system and file, and whether it can be written through what is open.
    files: BTreeMap<(u64, u64), bool>,
    /// Every process could be looked at.
    complete: bool,
}

impl Seen {
    /// All files below a folder that other processes of this host have open or mapped. Processes of other
    /// users are seen only by the administrator.
    pub fn below(root: &Path) -> Self {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let own = std::process::id().to_string();
        let Ok(processes) = fs::read_dir("/proc") else { return Seen::default() };
        let namespace = fs::metadata("/proc/self/ns/pid").map(|meta| meta.ino());
        let mut seen =
            Seen { files: BTreeMap::new(), complete: namespace.is_ok_and(|ns| ns == ALL_PROCESSES) };
        for process in processes.flatten() {
            let name = process.file_name();
            let is_process = name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
            if !is_process || name.as_encoded_bytes() == own.as_bytes() {
                continue;
            }
            let looked =
                seen.descriptors(&process.path(), &root).and_then(|()| seen.mappings(&process.path(), &root));
            // One that has ended meanwhile has nothing open.
            seen.complete &= looked.map_or_else(|error| is_gone(&error), |()| true);
        }
        seen
    }

    fn add(&mut self, (device, inode): (u64, u64), writable: bool) {
        *self.files.entry((device, inode)).or_default() |= writable;
    }

    fn descriptors(&mut self, process: &Path, root: &Path) -> io::Result<()> {
        for descriptor in fs::read_dir(process.join("fd"))? {
            let Ok(descriptor) = descriptor else { continue };
            // Only what is below the folder is looked at: a look at others might wait for a server. A process
            // with other mounts may call the folder otherwise; of such, the kernel's leases know.
            let below = fs::read_link(descriptor.path()).is_ok_and(|path| path.starts_with(root));
            let Some(meta) = below.then(|| fs::metadata(descriptor.path()).ok()).flatten() else { continue };
            let info = process.join("fdinfo").join(descriptor.file_name());
            let writable = fs::read_to_string(info).map_or(true, |text| is_writable(&text));
            self.add((meta.dev(), meta.ino()), writable);
        }
        Ok(())
    }

    fn mappings(&mut self, process: &Path, root: &Path) -> io::Result<()> {
        let maps = fs::read(process.join("maps"))?;
        for (path, inode, writable) in maps.split(|byte| *byte == b'\n').filter_map(mapping) {
            if path.starts_with(root) {
                // Which file system it is on is told otherwise than by a look at the file: so by its path,
                // or, if it has another one now, by that of the folder.
                let device = fs::symlink_metadata(&path).or_else(|_| fs::symlink_metadata(root));
                if let Ok(device) = device.map(|meta| meta.dev()) {
                    self.add((device, inode), writable);
                }
            }
        }
        Ok(())
    }

    /// Who has this file open.
    pub fn holders(&self, file: &Stat) -> Holders {
        match (self.files.contains_key(&file.identity()), self.complete) {
            (true, _) => Holders::Somebody,
            (false, true) => Holders::Nobody,
            (false, false) => Holders::Unknown,
        }
    }

    /// Does somebody have this file (file system and number) open for writing?
    pub fn is_written(&self, file: (u64, u64)) -> bool {
        self.files.get(&file).copied().unwrap_or(false)
    }
}

fn is_gone(error: &io::Error) -> bool {
    // A process that is ending has neither descriptors nor memory.
    matches!(error.kind(), io::ErrorKind::NotFound) || error.raw_os_error() == Some(3)
}

/// From the flags of `open(2)`, in octal: 0 at their end is reading only.
fn is_writable(info: &str) -> bool {
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u64::from_str_radix(flags.trim(), 8).ok());
    flags.is_none_or(|flags| flags & 3 != 0)
}

/// Path, inode and whether it may be written, of a line of `/proc/PID/maps`:
/// `7f00-7f01 rw-s 00000000 fe:00 1234    /bb/file (deleted)`.
fn mapping(line: &[u8]) -> Option<(PathBuf, u64, bool)> {
    let mut rest = line;
    let mut word = || {
        rest = rest.trim_ascii_start();
        let end = rest.iter().position(|byte| *byte == b' ')?;
        let (word, after) = rest.split_at_checked(end)?;
        rest = after;
        std::str::from_utf8(word).ok()
    };
    let (_, rights, _, _, inode) = (word()?, word()?, word()?, word()?, word()?);
    let path = rest.trim_ascii_start();
    let path = path.strip_suffix(b" (deleted)").unwrap_or(path);
    // Shared: what is read only now can be made writable if the file was opened so.
    Some((unescaped(path), inode.parse().ok()?, rights.ends_with('s')))
}

/// A name may have a line break in it, which the kernel writes as `\012`.
fn unescaped(path: &[u8]) -> PathBuf {
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((first, after)) = rest.split_first() {
        rest = match rest.strip_prefix(b"\\012") {
            Some(after) => {
                out.push(b'\n');
                after
            }
            None => {
                out.push(*first);
                after
            }
        };
    }
    PathBuf::from(OsString::from_vec(out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    fn python(script: &str, path: &Path) -> Child {
        let mut child = Command::new("python3")
            .args(["-c", script])
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        child
    }

    fn end(mut child: Child) {
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    fn files_that_another_process_has_open_or_mapped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "x").unwrap();
        let stat = || Stat::of(fs::File::open(&path).unwrap()).unwrap();
        assert_ne!(Seen::below(dir.path()).holders(&stat()), Holders::Somebody);
        let open = |flags: &str| {
            format!(
                "import os, sys\nfd = os.open(sys.argv[1], os.{flags})\nprint(flush=True); sys.stdin.readline()"
            )
        };
        let map = "import os, sys, mmap
fd = os.open(sys.argv[1], os.O_RDWR); m = mmap.mmap(fd, 0); os.close(fd)
print(flush=True); sys.stdin.readline()";
        let read_only = "import os, sys, mmap
fd = os.open(sys.argv[1], os.O_RDONLY); m = mmap.mmap(fd, 0, mmap.MAP_PRIVATE, mmap.PROT_READ); os.close(fd)
print(flush=True); sys.stdin.readline()";
        let ways = [
            (open("O_RDONLY"), false),
            (open("O_WRONLY"), true),
            (map.into(), true),
            (read_only.into(), false),
        ];
        for (script, writable) in ways {
            let child = python(&script, &path);
            let seen = Seen::below(dir.path());
            assert_eq!(seen.holders(&stat()), Holders::Somebody, "{script}");
            assert_eq!(seen.is_written(stat().identity()), writable, "{script}");
            // Under another name, or none, it is the same file.
            fs::rename(&path, dir.path().join("renamed")).unwrap();
            assert_eq!(Seen::below(dir.path()).files.keys().next(), Some(&seen_file(dir.path())), "{script}");
            fs::rename(dir.path().join("renamed"), &path).unwrap();
            end(child);
        }
        assert_ne!(Seen::below(dir.path()).holders(&stat()), Holders::Somebody);
    }

    fn seen_file(dir: &Path) -> (u64, u64) {
        Stat::of(fs::File::open(dir.join("renamed")).unwrap()).unwrap().identity()
    }

    #[test]
    fn flags_of_a_descriptor() {
        assert!(!is_writable("pos:\t0\nflags:\t0100000\nmnt_id:\t25\n"));
        assert!(is_writable("pos:\t0\nflags:\t0102001\n") && is_writable("flags:\t02\n"));
        assert!(is_writable("nothing"), "who does not say may write");
    }

    #[test]
    fn lines_of_mappings() {
        let line =
            b"7f3c00000000-7f3c00001000 rw-s 00000000 fe:00 1234             /bb/a \\012 file (deleted)";
        assert_eq!(mapping(line), Some(("/bb/a \n file".into(), 1234, true)));
        let private = b"7f3c00000000-7f3c00001000 r--p 00000000 fe:00 77 /lib/x.so";
        assert_eq!(mapping(private), Some(("/lib/x.so".into(), 77, false)));
        assert_eq!(mapping(b"7ffc0-7ffd0 rw-p 00000000 00:00 0"), None);
        assert_eq!(mapping(b"[stack]"), None);
    }
}
