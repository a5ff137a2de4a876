//! How a path below a folder is walked: by the kernel in one call, or step by step.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// How paths are walked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// `openat2(2)`; step by step where the kernel has no such call.
    #[default]
    Kernel,
    /// One `openat(2)` with `O_NOFOLLOW` for each folder. For kernels before 5.6.
    Steps,
}

/// The kernel has no `openat2`, or a container's filter forbids it.
static NO_OPENAT2: AtomicBool = AtomicBool::new(false);

/// `EAGAIN`: a folder was moved meanwhile, and the kernel cannot say where the walk is.
const TRIES: usize = 100;

/// The names of a path below a folder; `None` if it could lead out of it.
pub(crate) fn plain(path: &Path) -> Option<PathBuf> {
    let mut names = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => names.push(name),
            Component::CurDir => {}
            Component::RootDir | Component::ParentDir | Component::Prefix(_) => return None,
        }
    }
    Some(names)
}

/// A single name, which `unlinkat` and others take for an entry of the folder itself.
pub(crate) fn is_name(name: &OsStr) -> bool {
    let mut parts = Path::new(name).components();
    let one = matches!(parts.next(), Some(Component::Normal(first)) if first == name);
    one && parts.next().is_none()
}

/// Opens what `path`, which is [plain] and not empty, stands for below a folder. No link is followed, the
/// last one neither.
pub(crate) fn open(
    at: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    mode: Mode,
    way: Way,
) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if way == Way::Steps || NO_OPENAT2.load(Relaxed) {
        return by_steps(at, path, flags, mode);
    }
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..TRIES {
        match openat2(at, path, flags, mode, resolve) {
            Err(Errno::AGAIN) => std::thread::yield_now(),
            Err(Errno::NOSYS) => {
                NO_OPENAT2.store(true, Relaxed);
                break;
            }
            // Some containers answer so for calls that they do not know; the other way tells.
            Err(Errno::PERM) => break,
            other => return other,
        }
    }
    by_steps(at, path, flags, mode)
}

fn by_steps(at: BorrowedFd<'_>, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let through = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder: Option<OwnedFd> = None;
    let mut names = path.iter().peekable();
    while let Some(name) = names.next() {
        let from = folder.as_ref().map_or(at, AsFd::as_fd);
        if names.peek().is_none() {
            return openat(from, name, flags, mode);
        }
        folder = Some(openat(from, name, through, Mode::empty())?);
    }
    Err(Errno::NOENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_out_are_no_paths() {
        let plain = |path: &str| plain(Path::new(path)).map(|path| path.display().to_string());
        assert_eq!(plain("a/./b//c/"), Some("a/b/c".into()));
        assert_eq!(plain("./a"), Some("a".into()));
        assert_eq!(plain(""), Some("".into()));
        for path in ["/a", "..", "a/..", "a/../b", "../a"] {
            assert_eq!(plain(path), None, "{path}");
        }
        for name in ["", ".", "..", "/", "a/b", "a/", "./a", "/a"] {
            assert!(!is_name(OsStr::new(name)), "{name:?}");
        }
        assert!(is_name(OsStr::new("a")) && is_name(OsStr::new("...")) && is_name(OsStr::new(".a")));
    }
}
