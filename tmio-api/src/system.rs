//! What the operating system and the batch system know about this process.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tmio_trace::{Beside, RankInfo};

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
    let namespace = std::fs::read_link("/proc/self/ns/time").unwrap_or_default();
    // FNV-1a.
    let hash = [node.as_bytes(), namespace.as_os_str().as_encoded_bytes()]
        .concat()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    (hash >> 1) as i64
}

/// The thread that has descriptors of its own; 0: none has.
static OWN_DESCRIPTORS: AtomicU64 = AtomicU64::new(0);

/// Gives the calling thread an empty table of file descriptors, where the kernel can (Linux 5.9): the files
/// that the program has open are not opened a second time.
pub(crate) fn take_own_descriptors() {
    // SAFETY: closes descriptors of a table that belongs to this thread alone, in which it has none in use.
    let answer = unsafe { libc::syscall(libc::SYS_close_range, 0, u32::MAX, libc::CLOSE_RANGE_UNSHARE) };
    if answer == 0 {
        OWN_DESCRIPTORS.store(thread_id(), Relaxed);
    }
}

/// Whether the calling thread has.
pub(crate) fn has_own_descriptors() -> bool {
    OWN_DESCRIPTORS.load(Relaxed) == thread_id()
}

pub(crate) fn executable() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("unknown"))
}

/// Job id and step; outside a batch system the process id. `IOSETS_JOB_ID` is the name under which a file
/// system's I/O scheduler knows the job (Inria RR-9537, section 3.1).
pub(crate) fn job_id() -> String {
    variable("IOSETS_JOB_ID").or_else(batch_job).unwrap_or_else(|| std::process::id().to_string())
}

/// Job id and step of the batch system; `None`: there is none.
pub(crate) fn batch_job() -> Option<String> {
    let step = || variable("SLURM_STEP_ID").map(|step| format!(".{step}")).unwrap_or_default();
    let slurm = variable("SLURM_JOB_ID").map(|job| job + &step());
    slurm.or_else(|| {
        ["PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID"].iter().find_map(|name| variable(name))
    })
}

/// What a variable says that is to be part of a file's name.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty() && !value.contains('/'))
}

/// The user's name, or else number, as a part of a path.
pub(crate) fn user() -> String {
    let name = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
    let usable = |name: &String| !name.is_empty() && !name.contains(['/', '\0']) && !name.starts_with('.');
    // SAFETY: the call has no premises.
    name.filter(usable).unwrap_or_else(|| unsafe { libc::geteuid() }.to_string())
}

/// A number that no other run has.
pub(crate) fn random() -> u64 {
    let mut bytes = [0u8; 8];
    // SAFETY: the buffer is writable for its whole length.
    let got = unsafe { libc::syscall(libc::SYS_getrandom, bytes.as_mut_ptr(), bytes.len(), 0) };
    if got == bytes.len() as libc::c_long {
        return u64::from_ne_bytes(bytes);
    }
    (crate::clock::realtime() as u64).rotate_left(24) ^ u64::from(std::process::id())
}

/// Bytes that this process read and wrote by system calls so far, as the kernel counts them.
pub(crate) fn process_io() -> ProcessIo {
    let text = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
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
    /// Since an earlier reading, and without what tmio itself has written.
    pub(crate) fn since(self, before: Self, own: u64) -> Self {
        let written = |now: u64, before: u64| now.saturating_sub(before).saturating_sub(own);
        Self {
            read: self.read.saturating_sub(before.read),
            written: written(self.written, before.written),
            device_read: self.device_read.saturating_sub(before.device_read),
            device_written: written(self.device_written, before.device_written),
        }
    }

    /// Puts this into what is told about a rank, with what passed by unrecorded.
    pub(crate) fn tell(self, info: &mut RankInfo, beside: Option<(u64, u64)>) {
        (info.process_read, info.process_written) = (self.read, self.written);
        info.beside = beside.map(|(read, written)| Beside {
            read,
            written,
            device_read: self.device_read,
            device_written: self.device_written,
        });
    }
}

/// The system's id of the calling thread.
pub(crate) fn thread_id() -> u64 {
    // glibc has a function for it since 2.30 only: older ones would end every program that loads the library.
    // SAFETY: the call has no premises.
    unsafe { libc::syscall(libc::SYS_gettid) as u64 }
}

/// Whether a thread of this process is gone.
pub(crate) fn thread_is_gone(id: u64) -> bool {
    // SAFETY: signal 0 is never delivered; the call only checks the ids.
    let answer = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), id as libc::pid_t, 0) };
    answer != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
}

/// Runs `write` so that exceeding the file size limit is an error (`EFBIG`), not a signal that ends
/// the application.
pub(crate) fn without_size_signal<T>(write: impl FnOnce() -> std::io::Result<T>) -> std::io::Result<T> {
    // SAFETY: the sets are initialised by the calls before they are used; a null pointer where the
    // old set or the signal's details are not wanted is allowed.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        let mut old: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGXFSZ);
        let masked = libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut old) == 0;
        let result = write();
        if masked {
            if matches!(&result, Err(e) if e.raw_os_error() == Some(libc::EFBIG))
                && libc::sigismember(&old, libc::SIGXFSZ) == 0
            {
                // The signal is pending for this thread; take it before it is let through.
                let none = libc::timespec { tv_sec: 0, tv_nsec: 0 };
                libc::sigtimedwait(&set, std::ptr::null_mut(), &none);
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &old, std::ptr::null_mut());
        }
        result
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

/// Whether there is memory for `bytes`, asked of the allocator in a way that may fail. What follows
/// needs less in small pieces, which Rust takes from the allocator in a way that must not.
pub(crate) fn has_memory(bytes: usize) -> bool {
    let mut probe = Vec::<u8>::new();
    let has = probe.try_reserve_exact(bytes).is_ok();
    std::hint::black_box(&probe);
    has
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_ended_is_gone() {
        let id = std::thread::spawn(thread_id).join().unwrap();
        // The kernel may take a moment to reap it.
        for _ in 0..1000 {
            if thread_is_gone(id) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(thread_is_gone(id));
        assert!(!thread_is_gone(thread_id()));
    }

    #[test]
    fn a_thread_with_descriptors_of_its_own_leaves_those_of_the_process_alone() {
        use std::io::Read;
        use std::os::fd::AsRawFd;
        let mut file = std::fs::File::open("/proc/self/stat").unwrap();
        let number = file.as_raw_fd();
        let is_open = move || {
            // SAFETY: asks about a number.
            unsafe { libc::fcntl(number, libc::F_GETFD) != -1 }
        };
        let (own, open_there) = std::thread::spawn(move || {
            take_own_descriptors();
            (has_own_descriptors(), is_open())
        })
        .join()
        .unwrap();
        assert!(!has_own_descriptors() && is_open());
        assert!(!own || !open_there, "the thread sees the process's descriptors");
        assert!(file.read(&mut [0; 8]).unwrap() > 0);
    }

    #[test]
    fn the_kernel_counts_what_is_written() {
        let before = process_io().written;
        std::fs::write("/dev/null", vec![0u8; 100_000]).unwrap();
        assert!(process_io().written >= before + 100_000);
    }
}
