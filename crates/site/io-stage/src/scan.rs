//! What is in a folder.

use crate::plan::{Entry, Kind};
use crate::protocol::{aside_name, is_aside, is_draft};
use crate::stamp::Stamp;
use files::{Dir, Stat};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Names of files that are being written begin like this.
pub const DRAFT: &str = ".ftio-stage.";

/// What a look found.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// Files and symbolic links, without those that are being written by us.
    pub entries: Vec<Entry>,
    /// Room that they take together, with what is about to be removed.
    pub used: u64,
    /// Folders that could not be read, and why; and what else is left alone.
    pub problems: Vec<String>,
    /// Devices, pipes and sockets, which are left alone.
    pub special: u64,
    /// Files that are named like drafts of another process: they are not known to be anybody's.
    pub drafts: u64,
}

/// What is not looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Except {
    /// This file.
    pub file: Option<(u64, u64)>,
    /// Folders on another mount of this file system: they belong to the other folder.
    pub device: Option<u64>,
}

/// Look at everything below a folder. Symbolic links are not followed. `origin` is job time 0, in nanoseconds
/// since 1970.
pub fn scan(root: &Dir, origin: i64, except: Except) -> files::Result<Scan> {
    let mut look =
        Look { found: Scan::default(), linked: BTreeSet::new(), origin, except, mount: root.mount() };
    let mut folders = vec![(root.again()?, PathBuf::new(), false)];
    let own_aside = OsString::from(aside_name(&crate::host()));
    let mut first = true;
    while let Some((folder, path, aside)) = folders.pop() {
        let listed = match folder.entries() {
            Ok(listed) => listed,
            Err(error) if first => return Err(error),
            Err(error) => {
                look.found.problems.push(error.to_string());
                continue;
            }
        };
        first = false;
        for entry in listed.flatten() {
            // What is gone again was a temporary file.
            let Ok(stat) = folder.look(&entry.name) else { continue };
            if stat.kind != files::Kind::Folder {
                look.add(&path, &entry.name, &stat, aside);
                continue;
            }
            match folder.folder(&entry.name) {
                Ok(inner) if look.is_of_the_other(&inner, &stat) => {}
                Ok(inner) => {
                    let is_aside = is_aside(&entry.name);
                    if is_aside && entry.name != own_aside {
                        look.is_anothers(inner.path());
                    }
                    folders.push((inner, path.join(&entry.name), aside || is_aside));
                }
                Err(error) if error.is_missing() => {}
                Err(error) => look.found.problems.push(error.to_string()),
            }
        }
    }
    look.found.entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(look.found)
}

struct Look {
    found: Scan,
    linked: BTreeSet<(u64, u64)>,
    origin: i64,
    except: Except,
    mount: Option<u64>,
}

impl Look {
    /// A mount that leads to the other folder.
    fn is_of_the_other(&mut self, folder: &Dir, stat: &Stat) -> bool {
        let is = self.except.device == Some(stat.device) && folder.mount() != self.mount;
        if is {
            let name = files::shown(folder.path());
            self.found
                .problems
                .push(format!("{name}: is a mount of the file system of --to, and left alone"));
        }
        is
    }

    /// A folder of files that another host is about to remove, or that is only named so.
    fn is_anothers(&mut self, folder: &Path) {
        self.found.problems.push(format!(
            "{}: is named like a folder of another ftio stage, and left alone; rename it if it is not",
            files::shown(folder)
        ));
    }

    fn add(&mut self, folder: &Path, name: &OsStr, stat: &Stat, aside: bool) {
        if self.except.file == Some(stat.identity()) {
            return;
        }
        if stat.names < 2 || self.linked.insert(stat.identity()) {
            self.found.used = self.found.used.saturating_add(stat.room);
        }
        let kind = match stat.kind {
            files::Kind::File => Kind::File,
            files::Kind::Link => Kind::Link,
            _ => {
                self.found.special += 1;
                return;
            }
        };
        if aside {
            return;
        }
        if is_draft(name) {
            if !is_own(name) {
                self.found.drafts += 1;
                let shown = files::shown(folder.join(name));
                self.found.problems.push(format!(
                    "{shown}: is named like a draft of another ftio stage, and left alone; rename or remove it"
                ));
            }
            return;
        }
        // A file that was unpacked or copied with its old time was written just now all the same.
        let written = stat.changed.saturating_sub(self.origin) as f64 / 1e9;
        let (path, stamp) = (folder.join(name), Stamp::of(stat));
        self.found.entries.push(Entry { path, stamp, kind, names: stat.names, room: stat.room, written });
    }
}

/// A draft of this very process.
fn is_own(name: &OsStr) -> bool {
    let own = format!("{DRAFT}{}.{}.", crate::host(), std::process::id());
    name.as_encoded_bytes().starts_with(own.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn files_links_and_names_of_one_file() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::write(at("a/b/file"), vec![1u8; 100_000]).unwrap();
        fs::hard_link(at("a/b/file"), at("second")).unwrap();
        symlink("a", at("link")).unwrap();
        fs::write(at(&format!("{DRAFT}{}.{}.7", crate::host(), std::process::id())), "half").unwrap();
        fs::write(at(".ftio-stage.other.1.2"), "of another").unwrap();
        fs::write(at(".ftio-stage.user"), "a name like any other").unwrap();
        fs::create_dir(at(".ftio-stage.h.aside")).unwrap();
        fs::write(at(".ftio-stage.h.aside/file"), vec![1u8; 100_000]).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        let root = Dir::open(dir.path()).unwrap();
        let found = scan(&root, 0, Except::default()).unwrap();
        let paths: Vec<_> = found.entries.iter().map(|entry| entry.path.display().to_string()).collect();
        assert_eq!(paths, [".ftio-stage.user", "a/b/file", "link", "second"]);
        assert_eq!((found.entries[1].names, found.entries[2].kind, found.special), (2, Kind::Link, 1));
        let room = found.entries[1].room;
        assert!(room >= 100_000 && found.used >= 2 * room && found.used < 3 * room, "counted once");
        let told = |name: &str| found.problems.iter().any(|problem| problem.contains(name));
        assert!(found.drafts == 1 && told(".ftio-stage.other.1.2"), "{found:?}");
        assert!(told(".ftio-stage.h.aside"), "{found:?}");
        let identity = root.look("second").unwrap().identity();
        let except = Except { file: Some(identity), ..Except::default() };
        assert_eq!(scan(&root, 0, except).unwrap().entries.len(), 2);
    }
}
