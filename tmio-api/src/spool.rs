//! The spool file of this process: made at `MPI_Init`, grown slot by slot, gone after `MPI_Finalize`.
//!
//! Everything that could raise a signal is done beforehand: space is allocated before it is
//! mapped, and only file systems are used on which a mapped page that is allocated stays there.
//! Where no such directory can be had, records live in private memory: they then do not survive
//! `kill -9`, but everything else works.

use crate::flush_thread::with_all_signals_blocked;
use crate::slot::Slot;
use crate::{message, system};
use std::ffi::CString;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::Release};
use tmio_trace::spool::{
    HEAD_IDENTITY, HEAD_LOST, HEAD_NAMES, HEAD_NEXT, HEAD_PID, HEAD_RANK, HEAD_SLOT_BYTES, HEAD_SLOTS,
    IDENTITY_OFFSET, NAMES_BYTES, NAMES_OFFSET, SLOTS_OFFSET, SPOOL_MAGIC,
};

/// Size of a block's raw records.
const SLOT_BYTES: usize = 256 << 10;
/// More threads than this share the last slot.
pub(crate) const MAX_SLOTS: usize = 64;

#[derive(Debug)]
pub(crate) struct Spool {
    /// `None`: private memory.
    path: Option<PathBuf>,
    head: &'static [AtomicU64],
    slots: Vec<OnceLock<Slot>>,
    made: AtomicUsize,
    /// One bit for each slot that is in private memory.
    private: AtomicU64,
    slot_bytes: usize,
    names_used: AtomicUsize,
}

const _: () = assert!(MAX_SLOTS <= u64::BITS as usize);

impl Spool {
    /// Makes a spool for `rank` in the first suitable directory.
    pub(crate) fn new(wanted: Option<&Path>, rank: u32, buffer: usize) -> io::Result<Self> {
        let slot_bytes = SLOT_BYTES.min(buffer / 2) & !4095;
        let count = (buffer / slot_bytes).clamp(2, MAX_SLOTS);
        let temporary = std::env::var_os("TMPDIR").map(PathBuf::from);
        let candidates: Vec<PathBuf> = match wanted {
            Some(directory) => vec![directory.to_owned()],
            None => {
                let defaults = [Some(PathBuf::from("/dev/shm")), temporary, Some(PathBuf::from("/tmp"))];
                defaults.into_iter().flatten().filter(|path| path.is_absolute()).collect()
            }
        };
        let mut reason = String::new();
        for base in candidates {
            match make_file(&base, rank).and_then(|path| {
                let head = map(Some(&path), 0, SLOTS_OFFSET).inspect_err(|_| remove(&path))?;
                Ok((path, head))
            }) {
                Ok((path, head)) => return Ok(Self::over(Some(path), head, rank, slot_bytes, count)),
                Err(error) => reason = format!("{}: {error}", base.display()),
            }
        }
        let text = format!("no spool ({reason}): records of a killed process are lost");
        if wanted.is_some() {
            message::remark(text)
        } else {
            message::debug(text)
        }
        let head = map(None, 0, SLOTS_OFFSET)?;
        Ok(Self::over(None, head, rank, slot_bytes, count))
    }

    fn over(
        path: Option<PathBuf>,
        head: &'static [AtomicU64],
        rank: u32,
        slot_bytes: usize,
        count: usize,
    ) -> Self {
        let slots = std::iter::repeat_with(OnceLock::new).take(count).collect();
        let spool = Self {
            path,
            head,
            slots,
            made: AtomicUsize::new(0),
            private: AtomicU64::new(0),
            slot_bytes,
            names_used: AtomicUsize::new(0),
        };
        spool.set_head(HEAD_RANK, u64::from(rank));
        spool.set_head(HEAD_PID, u64::from(std::process::id()));
        spool.set_head(HEAD_SLOT_BYTES, slot_bytes as u64);
        spool.set_head(0, SPOOL_MAGIC);
        spool
    }

    fn set_head(&self, index: usize, value: u64) {
        if let Some(word) = self.head.get(index) {
            word.store(value, Release);
        }
    }

    /// Path for the rank record; empty for private memory.
    pub(crate) fn path(&self) -> String {
        self.path.as_ref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// All slots that were made so far.
    pub(crate) fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter_map(OnceLock::get)
    }

    /// Those of them that a thread may have for itself: not the last one, which threads share.
    pub(crate) fn own_slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().take(self.slots.len().saturating_sub(1)).filter_map(OnceLock::get)
    }

    /// Number of slots that were made so far.
    pub(crate) fn len(&self) -> usize {
        self.made.load(Relaxed)
    }

    /// Makes one more slot. `None`: the buffer is used up, or there is no memory. Callers take turns.
    pub(crate) fn grow(&self) -> Option<&Slot> {
        let next = self.slots.iter().position(|place| place.get().is_none())?;
        (next + 1 < self.slots.len()).then(|| self.make(next))?
    }

    /// The last slot, which is kept for all threads that find no other. Callers take turns.
    pub(crate) fn shared(&self) -> Option<&Slot> {
        let last = self.slots.len() - 1;
        self.slots.get(last)?.get().or_else(|| self.make(last))
    }

    fn make(&self, index: usize) -> Option<&Slot> {
        let place = self.slots.get(index)?;
        let offset = SLOTS_OFFSET + index * self.slot_bytes;
        // A program that has no descriptor left for a moment, or a full disk, costs the slot its life after
        // `kill -9`, not its records.
        let shared = self.path.as_deref().and_then(|path| map(Some(path), offset, self.slot_bytes).ok());
        let is_private = shared.is_none();
        let memory = shared
            .map_or_else(|| map(None, 0, self.slot_bytes), Ok)
            .inspect_err(|error| message::debug(format_args!("no memory for a block: {error}")))
            .ok()?;
        let slot = Slot::new(memory)?;
        self.private.fetch_or(u64::from(is_private) << index, Relaxed);
        let slot = place.get_or_init(|| slot);
        self.made.fetch_add(1, Relaxed);
        let reach = self.slots.iter().rposition(|place| place.get().is_some()).map_or(0, |last| last + 1);
        self.set_head(HEAD_SLOTS, reach as u64);
        Some(slot)
    }

    /// Keeps the name of a file for whoever reads the spool of a killed process. `false`: no room.
    /// Callers take turns.
    pub(crate) fn add_name(&self, number: u32, name: &str) -> bool {
        let used = self.names_used.load(Relaxed);
        let length = (name.len() as u32).to_ne_bytes();
        let end = used + 8 + name.len();
        if end > NAMES_BYTES {
            return false;
        }
        self.put(NAMES_OFFSET + used, &[&number.to_ne_bytes(), &length, name.as_bytes()]);
        self.names_used.store(end, Relaxed);
        self.set_head(HEAD_NAMES, end as u64);
        true
    }

    /// Says to which part the records belong, and how this rank begins there, so that the spool can
    /// be understood alone. Called once.
    pub(crate) fn identify(&self, part: &Path, greeting: &[u8]) {
        let part = part.as_os_str().as_bytes();
        let length = 4 + part.len() + greeting.len();
        if IDENTITY_OFFSET + length <= NAMES_OFFSET {
            self.put(IDENTITY_OFFSET, &[&(part.len() as u32).to_ne_bytes(), part, greeting]);
            self.set_head(HEAD_IDENTITY, length as u64);
        }
    }

    /// Operations that are in private memory only: they end with the process.
    pub(crate) fn operations_at_risk(&self) -> u64 {
        let private = self.private.load(Relaxed);
        let slots = self.slots.iter().enumerate().filter(|(index, _)| private >> index & 1 != 0);
        slots.filter_map(|(_, slot)| slot.get()).map(Slot::operations).sum()
    }

    /// Whether there are operations that a reader finds when the process has ended.
    pub(crate) fn keeps_operations(&self) -> bool {
        let private = self.private.load(Relaxed);
        let mut slots = self.slots.iter().enumerate().filter(|(index, _)| private >> index & 1 == 0);
        slots.any(|(_, slot)| slot.get().is_some_and(Slot::has_records))
    }

    /// Tells a reader that so many operations could be kept nowhere.
    pub(crate) fn set_lost(&self, operations: u64) {
        self.set_head(HEAD_LOST, operations);
    }

    /// Tells a reader that blocks from `next` on hold only records that are taken from now on.
    pub(crate) fn set_next_block(&self, next: u64) {
        self.set_head(HEAD_NEXT, next + 1);
    }

    /// Copies bytes into the head of the file, where nobody reads them before they are published.
    /// Callers take turns.
    fn put(&self, offset: usize, pieces: &[&[u8]]) {
        let length: usize = pieces.iter().map(|piece| piece.len()).sum();
        if offset + length > SLOTS_OFFSET {
            return;
        }
        let mut at = offset;
        for piece in pieces {
            // SAFETY: the head is a mapping of SLOTS_OFFSET bytes, and the pieces end before its end.
            unsafe {
                let place = self.head.as_ptr().cast::<u8>().cast_mut().add(at);
                std::ptr::copy_nonoverlapping(piece.as_ptr(), place, piece.len());
            }
            at += piece.len();
        }
    }

    /// The directory in which the spool lies.
    pub(crate) fn directory(&self) -> Option<&Path> {
        self.path.as_deref()?.parent()
    }

    pub(crate) fn file(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Takes the file away. The mapping stays until the process ends: a thread may still write to it.
    pub(crate) fn remove(&self) {
        if let Some(path) = &self.path {
            remove(path);
        }
    }
}

fn make_file(base: &Path, rank: u32) -> io::Result<PathBuf> {
    if !keeps_mapped_pages(base)? {
        return Err(io::Error::other("not tmpfs, ext4 or xfs"));
    }
    // SAFETY: the call has no premises.
    let user = unsafe { libc::geteuid() };
    let directory = base.join(format!("tmio-{user}"));
    let name = format!("{}-{rank}-{:x}.spool", std::process::id(), crate::clock::realtime());
    // Another process may take the empty directory away between the two steps.
    for _ in 0..20 {
        match DirBuilder::new().mode(0o700).create(&directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let file = directory.join(&name);
        match fs::symlink_metadata(&directory) {
            Ok(meta) if !meta.is_dir() || meta.uid() != user || meta.mode() & 0o077 != 0 => {
                return Err(io::Error::other(format!("{} belongs to somebody else", directory.display())));
            }
            Ok(meta) => match make_usable(&directory, &meta).and_then(|()| open(&file, true)) {
                Ok(new) => {
                    new.set_permissions(fs::Permissions::from_mode(0o600))?;
                    return Ok(file);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            },
            Err(_) => {}
        }
    }
    Err(io::Error::other(format!("{} is removed again and again", directory.display())))
}

/// The directory stays for the user's other jobs: the mask of the program that made it may have left it
/// without the owner's rights.
fn make_usable(directory: &Path, meta: &fs::Metadata) -> io::Result<()> {
    if meta.mode() & 0o700 == 0o700 {
        return Ok(());
    }
    fs::set_permissions(directory, fs::Permissions::from_mode(0o700))
}

fn remove(path: &Path) {
    let _ = fs::remove_file(path);
    if let Some(directory) = path.parent() {
        let _ = fs::remove_dir(directory); // only if it is empty
    }
}

fn open(path: &Path, new: bool) -> io::Result<fs::File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(new)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC)
        .open(path)
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

/// Allocates and maps `length` bytes at `offset` of the file, or private memory; zeroed.
fn map(path: Option<&Path>, offset: usize, length: usize) -> io::Result<&'static [AtomicU64]> {
    let file = path.map(|path| open(path, false)).transpose()?;
    if let Some(file) = &file {
        system::without_size_signal(|| {
            // On tmpfs a signal would interrupt it.
            // SAFETY: the descriptor is open for writing.
            let allocate =
                || unsafe { libc::posix_fallocate(file.as_raw_fd(), offset as i64, length as i64) };
            match with_all_signals_blocked(allocate) {
                0 => Ok(()),
                error => Err(io::Error::from_raw_os_error(error)),
            }
        })?;
    }
    let (flags, descriptor) = match &file {
        Some(file) => (libc::MAP_SHARED, file.as_raw_fd()),
        None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1),
    };
    let offset = if file.is_some() { offset as i64 } else { 0 };
    // SAFETY: a new mapping anywhere the kernel likes; nothing existing is touched.
    let address = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            flags,
            descriptor,
            offset,
        )
    };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping is page-aligned, `length` bytes long, zeroed, and is never unmapped; it
    // is only ever accessed as these atomics (and the names, see `add_name`).
    Ok(unsafe { std::slice::from_raw_parts(address.cast(), length / 8) })
}
