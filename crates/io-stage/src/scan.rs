//! What is in a folder.

use crate::plan::{Entry, Kind};
use crate::stamp::Stamp;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Names of files that are being written begin like this.
pub const DRAFT: &str = ".ftio-stage.";

/// What a look found.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// Files and symbolic links, without those that are being written by us.
    pub entries: Vec<Entry>,
    /// Room that they take together.
    pub used: u64,
    /// Folders that could not be read, and why.
    pub problems: Vec<String>,
    /// Devices, pipes and sockets, which are left alone.
    pub special: u64,
}

/// Look at everything below a folder. Symbolic links are not followed. `origin` is job time 0, in nanoseconds
/// since 1970.
pub fn scan(root: &Path, origin: i64) -> io::Result<Scan> {
    let mut found = Scan::default();
    let mut linked = BTreeSet::new();
    let mut folders = vec![(root.to_owned(), PathBuf::new())];
    let mut first = true;
    while let Some((folder, relative)) = folders.pop() {
        let listed = match fs::read_dir(&folder) {
            Ok(listed) => listed,
            Err(error) if first => return Err(error),
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                found.problems.push(format!("{}: {error}", folder.display()));
                continue;
            }
        };
        first = false;
        for item in listed.flatten() {
            let name = item.file_name();
            // What is gone again was a temporary file.
            let Ok(meta) = item.metadata() else { continue };
            let path = relative.join(&name);
            if meta.is_dir() {
                folders.push((item.path(), path));
                continue;
            }
            if name.as_encoded_bytes().starts_with(DRAFT.as_bytes()) {
                continue;
            }
            let kind = match (meta.is_file(), meta.is_symlink()) {
                (true, _) => Kind::File,
                (_, true) => Kind::Link,
                _ => {
                    found.special += 1;
                    continue;
                }
            };
            let stamp = Stamp::of(&meta);
            let room = meta.blocks().saturating_mul(512);
            if meta.nlink() < 2 || linked.insert((stamp.device, stamp.inode)) {
                found.used = found.used.saturating_add(room);
            }
            let written = stamp.modified.saturating_sub(origin) as f64 / 1e9;
            found.entries.push(Entry { path, stamp, kind, names: meta.nlink(), room, written });
        }
    }
    found.entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn files_links_and_names_of_one_file() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::write(at("a/b/file"), vec![1u8; 100_000]).unwrap();
        fs::hard_link(at("a/b/file"), at("second")).unwrap();
        symlink("a", at("link")).unwrap();
        fs::write(at(&format!("{DRAFT}1.2")), "half").unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        let found = scan(dir.path(), 0).unwrap();
        let paths: Vec<_> = found.entries.iter().map(|entry| entry.path.display().to_string()).collect();
        assert_eq!(paths, ["a/b/file", "link", "second"]);
        assert_eq!((found.entries[0].names, found.entries[1].kind, found.special), (2, Kind::Link, 1));
        let room = found.entries[0].room;
        assert!(room >= 100_000 && found.used >= room && found.used < 2 * room, "counted once");
        assert!(scan(&at("missing"), 0).is_err());
    }
}
