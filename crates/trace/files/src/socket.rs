//! A Unix socket that everybody may connect to, in a folder that others may be able to write to.

use crate::dir::Dir;
use crate::error::{Error, Result, Why};
use crate::stat::Stat;
use crate::user;
use rustix::fs::{
    AtFlags, FileType, FlockOperation, Mode, OFlags, chmod, flock, fstat, openat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

/// The name of a socket that this process listens at. It is removed when this is dropped, unless it is
/// somebody else's by then.
#[derive(Debug)]
pub struct Bound {
    folder: Dir,
    name: OsString,
    /// The socket. As long as it is open here, no other file has its number.
    made: OwnedFd,
}

/// How long another process may take to begin in the same folder, in steps of 10 ms.
const STEPS: u32 = 100;
/// Anybody may connect: the kernel says who it is.
const EVERYBODY: u32 = 0o666;

impl Bound {
    /// Listen at a path. What a process that was killed has left there is replaced; what somebody listens at,
    /// and anything that is not a socket, is left alone.
    ///
    /// # Errors
    ///
    /// `AddrInUse`: somebody listens there.
    pub fn listen(path: &Path) -> io::Result<(UnixListener, Bound)> {
        let name = path.file_name().ok_or_else(|| Error::new(path, Why::Outside))?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = Dir::open(parent)?;
        // Two that begin at the same moment must not both take the place of one that is gone.
        let _turn = lock(&folder)?;
        if is_taken(path) {
            return Err(ErrorKind::AddrInUse.into());
        }
        match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(about) if is_socket(&about) => unlinkat(&folder, name, AtFlags::empty())?,
            Ok(_) => {
                let text = "there is something that is not a socket";
                return Err(io::Error::new(ErrorKind::AlreadyExists, text));
            }
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno.into()),
        }
        let listener = UnixListener::bind(path)?;
        let made = open_to_everybody(&folder, path, name)?;
        Ok((listener, Bound { name: name.to_owned(), folder, made }))
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        // If somebody has removed it and another process made its own, that one stays.
        if self.folder.is_name_of(&self.name, &self.made).unwrap_or(false) {
            let _ = self.folder.remove(&self.name);
        }
    }
}

/// The socket that was made, whatever its name leads to by now: it must be ours.
fn open_to_everybody(folder: &Dir, path: &Path, name: &std::ffi::OsStr) -> Result<OwnedFd> {
    let failed = |errno: Errno| Error::new(path, errno);
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = openat(folder, name, flags, Mode::empty()).map_err(failed)?;
    let about = fstat(&made).map_err(failed)?;
    let found = Stat::from(&about);
    if !is_socket(&about) || found.user != user::effective() {
        return Err(Error::new(path, Why::Owner { expected: user::effective(), found: found.user }));
    }
    let door = format!("/proc/self/fd/{}", made.as_raw_fd());
    chmod(door, Mode::from_raw_mode(EVERYBODY)).map_err(failed)?;
    Ok(made)
}

#[allow(clippy::unnecessary_cast)] // the widths differ between processors
fn is_socket(about: &rustix::fs::Stat) -> bool {
    FileType::from_raw_mode(about.st_mode as _) == FileType::Socket
}

/// Keeps others from beginning in this folder for as long as the handle is open, or for a second: a lock that
/// somebody holds for longer is not one of ours.
fn lock(folder: &Dir) -> Result<Dir> {
    // A lock belongs to what was opened: with a handle of its own it ends with that.
    let own =
        openat(folder.as_fd(), ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let handle = own.map_err(|errno| Error::new(folder.path(), errno))?;
    for _ in 0..STEPS {
        match flock(&handle, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::AGAIN) => std::thread::sleep(Duration::from_millis(10)),
            _ => break,
        }
    }
    Ok(Dir { handle, path: folder.path.clone(), way: folder.way })
}

/// Whether somebody listens. One that is stopped, and has a full queue, does.
fn is_taken(path: &Path) -> bool {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let Ok(socket) = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None) else { return false };
    let Ok(address) = SocketAddrUnix::new(path) else { return false };
    matches!(connect(&socket, &address), Ok(()) | Err(Errno::AGAIN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    #[test]
    fn a_socket_is_for_everybody_and_goes_with_its_process() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("socket");
        let (listener, bound) = Bound::listen(&path).unwrap();
        assert_eq!(fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777, EVERYBODY);
        assert_eq!(Bound::listen(&path).unwrap_err().kind(), ErrorKind::AddrInUse);
        drop(listener);
        // It was killed: its socket is taken over, and stays when the first one goes.
        let (_listener, _bound) = Bound::listen(&path).unwrap();
        drop(bound);
        assert!(fs::symlink_metadata(&path).unwrap().file_type().is_socket());
    }

    #[test]
    fn what_is_no_socket_stays() {
        let place = tempfile::tempdir().unwrap();
        let (file, link) = (place.path().join("file"), place.path().join("link"));
        fs::write(&file, "precious").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&file, &link).unwrap();
        for path in [&file, &link] {
            let error = Bound::listen(path).unwrap_err();
            assert!(error.to_string().contains("not a socket"), "{error}");
        }
        assert_eq!(fs::read_to_string(&link).unwrap(), "precious");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
