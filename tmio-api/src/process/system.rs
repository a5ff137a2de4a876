//! What the operating system and the batch system know about this process.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use tmio_trace::RankInfo;

pub(crate) fn host() -> String {
    let mut buffer = [0u8; 256];
    // SAFETY: the buffer is writable for its whole length less the final zero.
    let failed = unsafe { libc::gethostname(buffer.as_mut_ptr().cast(), buffer.len() - 1) } != 0;
    let name = buffer.split(|&byte| byte == 0).next().unwrap_or_default();
    if failed || name.is_empty() {
        return "localhost".to_owned();
    }
    // It becomes a file name.
    String::from_utf8_lossy(name).replace(['/', '\0'], "_")
}

/// A number that is the same for processes whose monotonic clocks are the same.
pub(crate) fn node_number(info: &RankInfo) -> i64 {
    // The host name decides only where there is no boot id. Containers of one node may have time
    // namespaces, in which the monotonic clock has an offset of its own.
    let node = if info.boot_id.is_empty() { &info.host } else { &info.boot_id };
    let hash = mix(mix(SEED, node.as_bytes()), &namespace("time"));
    (hash >> 1) as i64
}

/// The same for processes that have one helper: to whom numbers of processes mean the same, as well.
pub(crate) fn helper_number(info: &RankInfo) -> i64 {
    (mix(node_number(info) as u64, &namespace("pid")) >> 1) as i64
}

fn namespace(kind: &str) -> Vec<u8> {
    let link = std::fs::read_link(Path::new("/proc/self/ns").join(kind)).unwrap_or_default();
    link.into_os_string().into_encoded_bytes()
}

/// FNV-1a.
pub(crate) const SEED: u64 = 0xcbf2_9ce4_8422_2325;

pub(crate) fn mix(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A number that no other run has.
pub(crate) fn random() -> u64 {
    let mut bytes = [0u8; 8];
    // SAFETY: the buffer is writable for its whole length.
    let got = unsafe { libc::syscall(libc::SYS_getrandom, bytes.as_mut_ptr(), bytes.len(), 0) };
    if got == bytes.len() as libc::c_long {
        return u64::from_ne_bytes(bytes);
    }
    (crate::process::clock::realtime() as u64).rotate_left(24) ^ u64::from(std::process::id())
}

/// Bytes that a process has moved so far, as the kernel counts them.
pub(crate) fn process_io(pid: u32) -> ProcessIo {
    let text = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let field =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap_or(0);
    ProcessIo {
        read: field("rchar:"),
        written: field("wchar:"),
        device_read: field("read_bytes:"),
        device_written: field("write_bytes:"),
    }
}

/// Bytes that a process has moved, as the kernel counts them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProcessIo {
    /// By system calls …
    pub(crate) read: u64,
    pub(crate) written: u64,
    /// … and to and from devices, also by mapped files.
    pub(crate) device_read: u64,
    pub(crate) device_written: u64,
}

impl ProcessIo {
    /// Since an earlier reading.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            read: self.read.saturating_sub(before.read),
            written: self.written.saturating_sub(before.written),
            device_read: self.device_read.saturating_sub(before.device_read),
            device_written: self.device_written.saturating_sub(before.device_written),
        }
    }
}

/// Closes a file, and says if the file system tells only now that something was not kept (NFS:
/// quota, I/O error; see close(2)).
pub(crate) fn close(file: std::fs::File) -> std::io::Result<()> {
    // SAFETY: the descriptor is owned, and given up here.
    match unsafe { libc::close(std::os::fd::IntoRawFd::into_raw_fd(file)) } {
        0 => Ok(()),
        _ => match std::io::Error::last_os_error() {
            // The descriptor is closed nevertheless, on Linux.
            error if error.raw_os_error() == Some(libc::EINTR) => Ok(()),
            error => Err(error),
        },
    }
}

/// Whether what processes of this host write to mapped files of a directory is there for all of them, and
/// stays when they are killed: a file system of its own memory or disk.
pub fn keeps_mapped_pages(directory: &Path) -> io::Result<bool> {
    const TMPFS: u64 = 0x0102_1994;
    const EXT4: u64 = 0xef53;
    const XFS: u64 = 0x5846_5342;
    let path = CString::new(directory.as_os_str().as_bytes())?;
    // SAFETY: a zeroed statfs is a valid place for the answer; the path ends with a zero.
    let kind = unsafe {
        let mut about: libc::statfs = std::mem::zeroed();
        if libc::statfs(path.as_ptr(), &mut about) != 0 {
            return Err(io::Error::last_os_error());
        }
        about.f_type as u64
    };
    Ok([TMPFS, EXT4, XFS].contains(&(kind & 0xffff_ffff)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_counts_what_is_written() {
        let before = process_io(std::process::id()).written;
        std::fs::write("/dev/null", vec![0u8; 100_000]).unwrap();
        assert!(process_io(std::process::id()).written >= before + 100_000);
    }
}
