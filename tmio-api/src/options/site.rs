//! The site's file: options for everybody, some of them locked, and who is traced at all.
//!
//! Only root may have written it. What a user cannot change is for order, not for safety: whoever starts a
//! program may start it without tmio.

use super::Options;
use crate::process::surroundings::Surroundings;
use std::ffi::{CStr, CString};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

/// Where the file is; another place can be given when tmio is built.
pub(super) const PATH: &str = match option_env!("TMIO_SITE_CONFIG") {
    Some(path) => path,
    None => "/etc/tmio.conf",
};

/// No file of options is longer.
const LONGEST_FILE: u64 = 1 << 20;

/// Opens a regular file for reading: what is not one may never end, or make us wait.
fn open(path: &str) -> io::Result<(File, Metadata)> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    Ok((file, meta))
}

fn read(file: File) -> io::Result<String> {
    let mut text = String::new();
    if file.take(LONGEST_FILE + 1).read_to_string(&mut text)? as u64 > LONGEST_FILE {
        return Err(io::Error::other("longer than 1 MiB"));
    }
    Ok(text)
}

/// Reads a file of options that a user has named.
pub(super) fn read_file(path: &str) -> io::Result<String> {
    open(path).and_then(|(file, _)| read(file))
}

/// Reads the site's file. `None`: there is none.
pub(super) fn read_site() -> io::Result<Option<String>> {
    let (file, meta) = match open(PATH) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    is_trusted(meta.uid(), meta.mode()).map_err(io::Error::other)?;
    read(file).map(Some)
}

/// Only root may have written what everybody has to follow.
fn is_trusted(owner: u32, mode: u32) -> Result<(), &'static str> {
    match (owner, mode & 0o022) {
        (0, 0) => Ok(()),
        (0, _) => Err("not only root may write it"),
        _ => Err("it does not belong to root"),
    }
}

/// Who runs this process.
pub(super) trait Caller {
    fn user(&self) -> u32;
    /// The name of the user; `None`: nobody knows it.
    fn user_name(&self) -> Option<String>;
    fn is_in_group(&self, group: u32) -> bool;
    fn group(&self, name: &str) -> Option<u32>;
}

/// Whether a user is in the site's list. Somebody of whom it cannot be known is not traced.
pub(super) fn wants_user(list: &[String], caller: &dyn Caller) -> bool {
    let is_meant = |entry: &str| match (entry.strip_prefix('@'), entry.parse::<u32>()) {
        (None, Ok(number)) => Some(number == caller.user()),
        (None, Err(_)) if entry == "all" => Some(true),
        (None, Err(_)) => caller.user_name().map(|name| name == entry),
        (Some(group), _) => {
            let number = group.parse().ok().or_else(|| caller.group(group))?;
            Some(caller.is_in_group(number))
        }
    };
    let mut only = list.iter().filter(|entry| !entry.starts_with('!')).peekable();
    let meant = only.peek().is_none() || only.any(|entry| is_meant(entry) == Some(true));
    let excluded = list.iter().filter_map(|entry| entry.strip_prefix('!'));
    meant && { excluded }.all(|entry| is_meant(entry) == Some(false))
}

/// The process itself.
pub(super) struct ThisProcess;

impl Caller for ThisProcess {
    fn user(&self) -> u32 {
        // SAFETY: the call has no premises.
        unsafe { libc::getuid() }
    }

    fn user_name(&self) -> Option<String> {
        let mut memory = [0; 16 << 10];
        let mut found = std::ptr::null_mut();
        // SAFETY: all places are valid; the text that the answer points to is in `memory`.
        unsafe {
            let mut entry: libc::passwd = std::mem::zeroed();
            libc::getpwuid_r(self.user(), &mut entry, memory.as_mut_ptr(), memory.len(), &mut found);
            (!found.is_null()).then(|| CStr::from_ptr(entry.pw_name).to_string_lossy().into_owned())
        }
    }

    fn is_in_group(&self, group: u32) -> bool {
        let mut groups = [0; 1024];
        // SAFETY: the list has room for as many as are asked for.
        let count = unsafe { libc::getgroups(groups.len() as i32, groups.as_mut_ptr()) };
        let others = groups.get(..usize::try_from(count).unwrap_or(0)).unwrap_or_default();
        // SAFETY: the call has no premises.
        group == unsafe { libc::getgid() } || others.contains(&group)
    }

    fn group(&self, name: &str) -> Option<u32> {
        let name = CString::new(name).ok()?;
        let mut memory = vec![0; 256 << 10];
        let mut found = std::ptr::null_mut();
        // SAFETY: all places are valid.
        unsafe {
            let mut entry: libc::group = std::mem::zeroed();
            libc::getgrnam_r(name.as_ptr(), &mut entry, memory.as_mut_ptr(), memory.len(), &mut found);
            (!found.is_null()).then_some(entry.gr_gid)
        }
    }
}

/// Whether the user agrees to be traced, as files in the home directory say where there is a site's file.
/// One rank of a node looks.
pub(crate) fn has_agreed(options: &Options, around: &Surroundings) -> bool {
    let has = |name: &str| {
        let home = around.variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        home.is_some_and(|home| home.join(name).symlink_metadata().is_ok())
    };
    let agrees = !options.opt_in || options.enable || has(".tmio_enable");
    !options.site || (agrees && !has(".tmio_disable"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_root_alone_may_write_is_trusted() {
        assert_eq!(is_trusted(0, 0o100_644), Ok(()));
        assert_eq!(is_trusted(0, 0o100_640), Ok(()));
        assert!(is_trusted(0, 0o100_664).is_err() && is_trusted(0, 0o100_602).is_err());
        assert!(is_trusted(1000, 0o100_600).is_err());
    }

    struct Alice(Option<&'static str>);

    impl Caller for Alice {
        fn user(&self) -> u32 {
            1001
        }

        fn user_name(&self) -> Option<String> {
            self.0.map(str::to_owned)
        }

        fn is_in_group(&self, group: u32) -> bool {
            group == 50
        }

        fn group(&self, name: &str) -> Option<u32> {
            [("staff", 50), ("guests", 60)]
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, number)| *number)
        }
    }

    #[test]
    fn users_and_groups() {
        let wants = |text: &str, who: &Alice| {
            let list: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            wants_user(&list, who)
        };
        let alice = Alice(Some("alice"));
        for meant in ["", "all", "alice", "1001", "@staff", "@50", "bob @staff", "!bob", "all !@guests"] {
            assert!(wants(meant, &alice), "{meant}");
        }
        for not in ["bob", "@guests", "!alice", "all !1001", "alice !@staff", "!@no-such-group"] {
            assert!(!wants(not, &alice), "{not}");
        }
        // Nobody can tell who a user without a name is.
        let nobody = Alice(None);
        assert!(wants("!1002", &nobody) && !wants("!bob", &nobody) && !wants("alice", &nobody));
    }
}
