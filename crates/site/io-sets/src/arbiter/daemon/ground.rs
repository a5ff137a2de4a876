//! The ground that an arbiter of a directory stands on: a folder of its own, which holds nothing of anybody
//! else.
//!
//! Whoever starts an arbiter may be root, and the path may be one that somebody else has prepared. So a
//! folder is used only if it belongs to us, nobody else may write to it, and it is empty or has the mark of
//! an arbiter. The last name of its path is no link.

use files::{Dir, Expect, Kind};
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The mark.
const MARK: &str = ".ftio-arbiter";
const ABOUT: &str = "The directory of an `ftio arbiter`, which makes and removes files here.\n";
/// What an arbiter of version 0.2, which made no mark, has left.
const OLD: [&str; 3] = ["arbiter", "report", "nodes"];
/// Nodes of all users make files there, and nobody removes those of others.
const OPEN: u32 = 0o1777;

/// The two folders.
#[derive(Debug)]
pub(super) struct Ground {
    pub(super) root: Dir,
    pub(super) nodes: Dir,
}

fn refused(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

impl Ground {
    /// Takes the folder, or makes it.
    pub(super) fn claim(path: &Path) -> io::Result<Self> {
        let name = path.file_name().ok_or_else(|| refused("it has no name".to_owned()))?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(parent)?;
        let root = Dir::open(parent)?.folder_or_new(name, 0o755)?;
        root.check(&Expect::own())?;
        if root.look(MARK).is_err() {
            is_free(&root)?;
            let mut mark = root.create(MARK, 0o644)?;
            mark.write_all(ABOUT.as_bytes())?;
        }
        root.read(MARK, &Expect::own())?;
        // Others must find the sign and the folder of nodes.
        root.set_mode(0o755)?;
        let nodes = root.folder_or_new("nodes", 0o755)?;
        nodes.check(&Expect::of_user(root.stat()?.user))?;
        nodes.set_mode(OPEN)?;
        Ok(Ground { root, nodes })
    }

    /// Removes what nodes of an earlier session have left, and nothing else.
    pub(super) fn clear(&self) -> io::Result<()> {
        for entry in self.nodes.entries()?.flatten() {
            if is_of_node(entry.name.as_encoded_bytes()) {
                // A folder of such a name is somebody's mistake, and stays.
                let _ = self.nodes.remove(&entry.name);
            }
        }
        Ok(())
    }

    /// A complete file takes the place of the old one.
    pub(super) fn write(&self, name: &str, text: &str, mode: u32) -> io::Result<()> {
        let draft = format!(".{name}.draft");
        let _ = self.root.remove(&draft);
        let mut file = self.root.create(&draft, 0o600)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(Permissions::from_mode(mode))?;
        Ok(self.root.rename(&draft, &self.root, name, files::Replace::Anything)?)
    }

    /// The same for one user, whom an entry of its access control list lets read it. Where there are no such
    /// lists, root gives the file away; anybody else cannot let him.
    pub(super) fn write_for(&self, user: u32, text: &str) -> io::Result<()> {
        let (name, draft) = (format!("report.{user}"), format!(".report.{user}.draft"));
        let _ = self.root.remove(&draft);
        let mut file = self.root.create(&draft, 0o600)?;
        file.write_all(text.as_bytes())?;
        let flags = rustix::fs::XattrFlags::empty();
        if rustix::fs::fsetxattr(&file, "system.posix_acl_access", &readable_by(user), flags).is_err() {
            std::os::unix::fs::fchown(&file, Some(user), None)?;
        }
        Ok(self.root.rename(&draft, &self.root, name, files::Replace::Anything)?)
    }
}

/// What only an arbiter can have made, if there is something at all.
fn is_free(root: &Dir) -> io::Result<()> {
    let own = Expect::of_user(root.stat()?.user);
    let mut others = Vec::new();
    for entry in root.entries()? {
        let name = entry?.name;
        let draft =
            [&b".arbiter."[..], b".report."].iter().any(|start| name.as_encoded_bytes().starts_with(start));
        let about = root.look(&name)?;
        let expected = if name == "nodes" { Kind::Folder } else { Kind::File };
        let known = draft || OLD.iter().any(|old| name == *old);
        if !known || about.kind != expected || own.check(&about).is_err() {
            others.push(files::shown(&name));
        }
    }
    if others.is_empty() && root.look("nodes").is_ok() {
        let nodes = root.folder("nodes")?;
        for entry in nodes.entries()? {
            let name = entry?.name;
            if !is_of_node(name.as_encoded_bytes()) {
                others.push(format!("nodes/{}", files::shown(&name)));
            }
        }
    }
    let Some(first) = others.first() else { return Ok(()) };
    let more = if others.len() > 1 { format!(" and {} more", others.len() - 1) } else { String::new() };
    Err(refused(format!(
        "it is not empty, and not the directory of an arbiter: {first}{more} would be in the way; name a directory \
         that is empty or does not exist yet"
    )))
}

fn is_of_node(name: &[u8]) -> bool {
    name.ends_with(b".up") || name.ends_with(b".down")
}

/// An access control list (acl(5)) of a file whose owner may write it, and which one other user may read.
fn readable_by(user: u32) -> Vec<u8> {
    const NOBODY: u32 = u32::MAX;
    // Owner, that user, group, mask, others: what is meant, permissions, who.
    let entries: [(u16, u16, u32); 5] =
        [(0x01, 6, NOBODY), (0x02, 4, user), (0x04, 0, NOBODY), (0x10, 4, NOBODY), (0x20, 0, NOBODY)];
    let mut list = 2u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        list.extend_from_slice(&tag.to_le_bytes());
        list.extend_from_slice(&permissions.to_le_bytes());
        list.extend_from_slice(&id.to_le_bytes());
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn refusal(path: &Path) -> String {
        Ground::claim(path).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_an_arbiters_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        // A project that happens to have a folder of that name.
        fs::create_dir_all(at("project/nodes")).unwrap();
        fs::write(at("project/nodes/mesh.dat"), "mesh").unwrap();
        assert!(refusal(&at("project")).contains("nodes/mesh.dat would be in the way"));
        fs::write(at("project/a\nb"), "").unwrap();
        assert!(refusal(&at("project")).contains("a\\u{a}b would be"), "{}", refusal(&at("project")));
        // Links: the folder itself, and the one of nodes.
        fs::create_dir_all(at("victim")).unwrap();
        fs::write(at("victim/key.up"), "key").unwrap();
        std::os::unix::fs::symlink(at("victim"), at("link")).unwrap();
        assert!(refusal(&at("link")).contains("link"), "{}", refusal(&at("link")));
        for (number, mark) in [false, true].into_iter().enumerate() {
            let trap = at(&format!("trap{number}"));
            fs::create_dir(&trap).unwrap();
            std::os::unix::fs::symlink(at("victim"), trap.join("nodes")).unwrap();
            if mark {
                fs::write(trap.join(MARK), ABOUT).unwrap();
            }
            assert!(Ground::claim(&trap).is_err());
        }
        // Others could write to it.
        fs::create_dir(at("wide")).unwrap();
        fs::set_permissions(at("wide"), Permissions::from_mode(0o777)).unwrap();
        assert!(refusal(&at("wide")).contains("others may write"));
        assert_eq!(fs::read_to_string(at("victim/key.up")).unwrap(), "key");
        assert_eq!(fs::metadata(at("victim")).unwrap().permissions().mode() & 0o7777, 0o755);
        assert_eq!(fs::read_to_string(at("project/nodes/mesh.dat")).unwrap(), "mesh");
    }

    #[test]
    fn what_is_an_arbiters_is_taken_again() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("new/turns");
        let ground = Ground::claim(&path).unwrap();
        for name in ["a.up", "a.down", "somebody.else"] {
            fs::write(path.join("nodes").join(name), "").unwrap();
        }
        fs::create_dir(path.join("nodes/folder.up")).unwrap();
        drop(ground);
        let ground = Ground::claim(&path).unwrap();
        ground.clear().unwrap();
        let mut left: Vec<_> =
            fs::read_dir(path.join("nodes")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["folder.up", "somebody.else"]);
        assert_eq!(fs::metadata(path.join("nodes")).unwrap().permissions().mode() & 0o7777, OPEN);
        // One that version 0.2 has left.
        let old = place.path().join("old");
        fs::create_dir_all(old.join("nodes")).unwrap();
        for name in ["arbiter", "report", ".report.17", "nodes/1.up"] {
            fs::write(old.join(name), "").unwrap();
        }
        Ground::claim(&old).unwrap();
        assert!(old.join(MARK).exists());
    }
}
