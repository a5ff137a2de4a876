//! Does anybody have this file open for writing? The kernel knows, and a lease asks it.
//!
//! A read lease (`fcntl(2)`, `F_SETLEASE`) is granted only if nobody has the file open for writing. A shared
//! mapping through which it can be written counts, also after its descriptor was closed, and so does every
//! process of this kernel, whoever may see it. While the lease is held, who opens the file for writing waits
//! until it is given back, at most `/proc/sys/fs/lease-break-time`; [`is_kept`] then says no. So it must be
//! held for moments only, and be given back as soon as somebody waits.
//!
//! A lease is on the open file: it ends when that is closed, at the latest.

#![warn(missing_docs)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Which signal tells of somebody who waits: `F_SETSIG` of `fcntl(2)`, the same number everywhere on Linux.
const F_SETSIG: libc::c_int = 10;

/// Who writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writers {
    /// Nobody has the file open for writing. From now on the lease is held.
    Nobody,
    /// Somebody has.
    Somebody,
    /// The kernel does not say: the file is on a file system without leases, or belongs to somebody else.
    Unknown,
}

/// Take a lease on a file that is open for reading only.
pub fn take(file: &File) -> Writers {
    // The signal that tells of somebody who waits would end this process. One that is ignored unless somebody
    // asks for it is as good: `is_kept` is what is asked here.
    if control(file, F_SETSIG, libc::SIGURG).is_err() {
        return Writers::Unknown;
    }
    match control(file, libc::F_SETLEASE, libc::F_RDLCK) {
        Ok(_) => Writers::Nobody,
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => Writers::Somebody,
        Err(_) => Writers::Unknown,
    }
}

/// Is the lease on this file held, and does nobody wait for it?
pub fn is_kept(file: &File) -> bool {
    control(file, libc::F_GETLEASE, 0).is_ok_and(|held| held == libc::F_RDLCK)
}

/// Give the lease back, if there is one.
pub fn give_back(file: &File) {
    let _ = control(file, libc::F_SETLEASE, libc::F_UNLCK);
}

fn control(file: &File, command: libc::c_int, argument: libc::c_int) -> io::Result<libc::c_int> {
    // SAFETY: the descriptor is open, because `file` is borrowed; all commands of this crate take an integer
    // and neither read nor write memory of this process.
    let answer = unsafe { libc::fcntl(file.as_raw_fd(), command, argument) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    fn file() -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "text").unwrap();
        (dir, path)
    }

    #[test]
    fn whoever_has_it_open_for_writing_is_seen() {
        let (_dir, path) = file();
        let read = File::open(&path).unwrap();
        let other_reader = File::open(&path).unwrap();
        assert_eq!((take(&read), is_kept(&read)), (Writers::Nobody, true));
        give_back(&read);
        assert!(!is_kept(&read));
        let writer = File::options().append(true).open(&path).unwrap();
        assert_eq!((take(&read), is_kept(&read)), (Writers::Somebody, false));
        drop((writer, other_reader));
        assert_eq!(take(&read), Writers::Nobody);
        assert_eq!(take(&File::open("/dev/null").unwrap()), Writers::Unknown);
    }

    /// A mapping through which the file can be written, whose descriptor is closed.
    #[test]
    fn a_mapping_is_seen() {
        let (_dir, path) = file();
        let script = "import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR); m = mmap.mmap(fd, 0); os.close(fd)
print('mapped', flush=True); sys.stdin.readline()";
        let mut child = Command::new("python3")
            .args(["-c", script])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        io::BufRead::read_line(&mut io::BufReader::new(child.stdout.as_mut().unwrap()), &mut line).unwrap();
        let read = File::open(&path).unwrap();
        assert_eq!(take(&read), Writers::Somebody);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(take(&read), Writers::Nobody);
    }

    #[test]
    fn who_opens_it_for_writing_waits_and_is_noticed() {
        let (_dir, path) = file();
        let read = File::open(&path).unwrap();
        assert_eq!(take(&read), Writers::Nobody);
        let writer = std::thread::spawn({
            let path = path.clone();
            move || File::options().write(true).open(path).unwrap()
        });
        let began = Instant::now();
        while is_kept(&read) {
            assert!(began.elapsed() < Duration::from_secs(30), "the writer is not noticed");
            std::thread::yield_now();
        }
        give_back(&read);
        let writer = writer.join().unwrap();
        assert_eq!(take(&read), Writers::Somebody);
        drop(writer);
    }
}
