//! The spool of this process: made at the first call that is recorded, and given rings as threads need them.
//!
//! The file is opened, mapped and closed at once, in a table of descriptors that no other thread sees: the
//! program never meets a number of ours. Memory is asked for before it is touched, so that a full file system
//! is an error here and not a signal later.

use crate::page::{self, Head, PAGE, mode, set};
use crate::text::{PATH_BYTES, Text};
use crate::workshop::{self, WORKSHOP, with_own_descriptors};
use crate::{clock, environment, filter, helper, process_io, rings, settings, sys, telling, words};
use core::cell::UnsafeCell;
use core::ffi::{CStr, c_void};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicUsize};
use tmio_spool::attach::Rank;
use tmio_spool::cell::CELL_BYTES;
use tmio_spool::layout::{self};

/// Where the spool is, for who removes or moves it.
#[repr(C)]
struct Place {
    length: AtomicUsize,
    path: UnsafeCell<[u8; PATH_BYTES]>,
}

// SAFETY: written while the workshop is held, and read by whoever ends the process.
unsafe impl Sync for Place {}

#[cfg_attr(tmio_object, unsafe(link_section = ".bss.tmio_large"))]
static PLACE: Place = Place { length: AtomicUsize::new(0), path: UnsafeCell::new([0; PATH_BYTES]) };

/// What the paths of all spools of the job begin with: their directory, and the number of the job.
pub(crate) fn job_path() -> Option<&'static [u8]> {
    let path = path()?.to_bytes();
    let name = path.iter().rposition(|&byte| byte == b'/')?;
    let number = path.get(name..)?.iter().position(|&byte| byte == b'-')?;
    path.get(..name + number)
}

pub(crate) fn path() -> Option<&'static CStr> {
    let length = PLACE.length.load(Acquire);
    // SAFETY: it is not written any more once its length is known.
    let bytes = unsafe { (*PLACE.path.get()).get(..=length) }?;
    if length == 0 { None } else { CStr::from_bytes_with_nul(bytes).ok() }
}

/// What making a spool is about; in memory that a process of its own shares.
struct Making {
    cells: usize,
    rings: usize,
    /// Where it is mapped; null: it is not.
    memory: *mut u8,
    counter: bool,
    /// Memory was asked for by whole rings, because the kernel cannot do it by pages.
    whole_rings: bool,
    path_length: usize,
    /// The namespace of process ids.
    namespace: u64,
    io: process_io::ProcessIo,
}

/// Makes the spool, if nobody has. Whether there is one.
#[cold]
#[inline(never)]
pub(crate) fn begin() -> bool {
    for _ in 0..workshop::TRIES {
        match PAGE.mode.load(Acquire) {
            mode::RECORDING => return true,
            mode::BECOMING => {
                page::is_still_there();
                return true;
            }
            mode::ARMED => {
                if !is_time_to_begin() {
                    return false;
                }
                // A handler of a signal that jumps away would leave it half begun.
                let begun = sys::without_signals(|| {
                    let starts =
                        PAGE.mode.compare_exchange(mode::ARMED, mode::STARTING, AcqRel, Relaxed).is_ok();
                    starts.then(begin_now)
                });
                if let Some(begun) = begun {
                    return begun;
                }
            }
            mode::STARTING => sys::sleep(workshop::PAUSE),
            _ => return false,
        }
    }
    false
}

/// Whether it was not tried in vain just now: descriptors or memory may have run out for a while.
fn is_time_to_begin() -> bool {
    PAGE.calls.fetch_add(1, Relaxed) >= PAGE.next_try.load(Relaxed)
}

fn begin_now() -> bool {
    let made = if filter::is_restricted() { Some(false) } else { WORKSHOP.alone(make) };
    if made == Some(true) {
        PAGE.began.store(clock::of_kernel() as u64, Relaxed);
        PAGE.mode.store(mode::RECORDING, Release);
        if settings::is_asked_for() {
            helper::keep();
        }
        return true;
    }
    let again = PAGE.failures.fetch_add(1, Relaxed) < page::MOST_FAILURES;
    PAGE.next_try.store(PAGE.calls.load(Relaxed).saturating_mul(2).saturating_add(64), Relaxed);
    PAGE.mode.store(if again { mode::ARMED } else { mode::OVER }, Release);
    if !again {
        say_that_it_failed();
    }
    false
}

/// Whether it was tried in vain to make a spool.
pub(crate) fn has_failed() -> bool {
    PAGE.failures.load(Relaxed) > 0
}

/// Says so.
#[cold]
pub(crate) fn say_that_it_failed() {
    words::say(b"no descriptor or no memory is left for its records");
}

fn make() -> bool {
    // The limit that a process of its own may have.
    let [_, limit] = sys::limits(sys::RLIMIT_FSIZE);
    let most = limit.saturating_sub(layout::RINGS_OFFSET as u64);
    let (cells, rings) = layout::rings_for(settings::buffer(), usize::try_from(most).unwrap_or(usize::MAX));
    let mut making = Making {
        cells,
        rings,
        memory: core::ptr::null_mut(),
        counter: false,
        whole_rings: false,
        path_length: 0,
        namespace: 0,
        io: process_io::ProcessIo::default(),
    };
    let began = clock::of_kernel();
    let argument = (&raw mut making).cast();
    let fits = limit >= layout::length(cells, rings) as u64;
    if !fits || !with_own_descriptors(make_file, argument) {
        return false;
    }
    clock::choose(making.counter && environment::variable(b"TMIO_CLOCK") != Some(b"monotonic"));
    let io = [making.io.read, making.io.written, making.io.device_read, making.io.device_written];
    process_io::IO_BEFORE.iter().zip(io).for_each(|(before, now)| before.store(now, Relaxed));
    rings::RING_CELLS.store(cells, Relaxed);
    rings::RINGS.store(rings, Relaxed);
    rings::WHOLE_RINGS.store(u8::from(making.whole_rings), Relaxed);
    // SAFETY: the mapping begins with these words, and stays as long as the process.
    let head = unsafe { &*making.memory.cast::<Head>() };
    tell(head, cells, making.memory);
    PLACE.length.store(making.path_length, Release);
    PAGE.maker.store(sys::user().wrapping_add(1), Relaxed);
    PAGE.head.store(core::ptr::from_ref(head).cast_mut(), Release);
    let took = clock::of_kernel().wrapping_sub(began);
    set(head, layout::OWN_NS, took as u64);
    set(head, layout::NAMESPACE, making.namespace);
    set(head, layout::STATE, layout::RECORDING);
    set(head, 0, layout::MAGIC);
    true
}

/// Chooses the clock before there is a spool: a rank stamps its operations by it from `MPI_Init` on.
pub(crate) fn choose_clock(monotonic: bool) {
    unsafe extern "C" fn look(answer: *mut c_void) -> bool {
        let trusted = clock::kernel_trusts_the_counter();
        // SAFETY: it is what is given below.
        unsafe { *answer.cast::<bool>() = trusted };
        trusted
    }
    let mut counter = false;
    if !clock::is_chosen() && !monotonic {
        WORKSHOP.alone(|| with_own_descriptors(look, (&raw mut counter).cast()));
    }
    clock::choose(counter);
}

/// Makes the file in the first suitable directory and maps it.
unsafe extern "C" fn make_file(making: *mut c_void) -> bool {
    // SAFETY: it is what `make` has given, which waits; the workshop is held.
    let (making, path) = unsafe { (&mut *making.cast::<Making>(), &mut *PLACE.path.get()) };
    if !clock::is_chosen() {
        making.counter = clock::kernel_trusts_the_counter();
    }
    let wanted = settings::spools().filter(|path| path.first() == Some(&b'/'));
    let temporary = environment::variable(b"TMPDIR").filter(|path| path.first() == Some(&b'/'));
    let usual: Option<&[u8]> = Some(b"/dev/shm");
    let last: Option<&[u8]> = Some(b"/tmp");
    for base in [wanted, usual, temporary, last].into_iter().flatten() {
        if make_in(base, making, path) {
            // SAFETY: it gets a place for its answer; the workshop is held.
            unsafe { process_io::read_process_io((&raw mut making.io).cast()) };
            making.namespace = settings::namespace();
            return true;
        }
    }
    false
}

fn make_in(base: &[u8], making: &mut Making, memory: &mut [u8]) -> bool {
    let mut path = Text::new(memory);
    path.push(base);
    if !path.as_path().is_some_and(keeps_mapped_pages) {
        return false;
    }
    path.push(b"/tmio-").push_number(u64::from(sys::user()));
    let user_directory = path.len();
    // Others may take an empty directory away between two steps.
    for _ in 0..20 {
        path.cut_to(user_directory);
        if !make_directory(&mut path) {
            return false;
        }
        // The spools of a job begin with the same number.
        path.push(b"/");
        settings::push_job(&mut path);
        path.push(b"-").push_number(u64::from(PAGE.process.load(Relaxed))).push(b"-");
        path.push_hex(clock::realtime() as u64).push(b".spool");
        let how = sys::O_RDWR | sys::O_CREAT | sys::O_EXCL | sys::O_NOFOLLOW | sys::O_CLOEXEC;
        let Some(name) = path.as_path() else { return false };
        match sys::open(name, how, 0o600) {
            Ok(file) => {
                let mapped = map_file(file, making);
                sys::close(file);
                if !mapped {
                    let _ = sys::remove(name);
                    return false;
                }
                making.path_length = path.len();
                return true;
            }
            Err(sys::ENOENT) => {}
            Err(_) => return false,
        }
    }
    false
}

/// Makes a directory of this user's alone, or checks that it is one.
fn make_directory(path: &mut Text<'_>) -> bool {
    let Some(name) = path.as_path() else { return false };
    match sys::make_directory(name, 0o700) {
        // The program's mask may have taken rights from it.
        Ok(()) => sys::change_mode(name, 0o700),
        Err(sys::EEXIST) => {}
        Err(_) => return false,
    }
    match sys::lstat(name) {
        Ok(found) => {
            let own = found.mode & sys::S_IFMT == sys::S_IFDIR && found.owner == sys::user();
            if own && found.mode & 0o777 != 0o700 {
                sys::change_mode(name, 0o700);
            }
            own && found.mode & 0o077 == 0
        }
        // It has just been taken away; whoever makes a file in it finds out.
        Err(_) => true,
    }
}

/// Whether what is written to mapped files of a directory is there for all processes of this host, and stays
/// when they are killed: a file system of its own memory or disk.
fn keeps_mapped_pages(directory: &CStr) -> bool {
    const TMPFS: u64 = 0x0102_1994;
    const EXT4: u64 = 0xef53;
    const XFS: u64 = 0x5846_5342;
    sys::file_system_at(directory).is_ok_and(|kind| matches!(kind, TMPFS | EXT4 | XFS))
}

fn map_file(file: i32, making: &mut Making) -> bool {
    let length = layout::length(making.cells, making.rings);
    sys::change_mode_of(file, 0o600);
    if sys::set_length(file, length).is_err() {
        return false;
    }
    let Ok(memory) = sys::map(length, sys::MAP_SHARED, file, 0) else { return false };
    // What every process needs: the head, and what it tells of itself.
    let ready = match rings::populate(memory, layout::TEXT_OFFSET + usual_text()) {
        // Before Linux 5.14.
        Err(sys::EINVAL) => {
            making.whole_rings = true;
            let first = layout::RINGS_OFFSET + making.cells * CELL_BYTES;
            sys::allocate(file, 0, first)
        }
        other => other,
    };
    if ready.is_err() {
        // SAFETY: nobody else knows of it.
        unsafe { sys::unmap(memory, length) };
        return false;
    }
    making.memory = memory;
    true
}

/// The spool is not wanted: it goes, and so does its directory if it is empty.
pub(crate) fn remove() {
    unsafe extern "C" fn remove_file(_: *mut c_void) -> bool {
        let Some(path) = path() else { return true };
        let _ = sys::remove(path);
        // SAFETY: the workshop is held.
        let mut above = Text::new(unsafe { &mut *WORKSHOP.path.get() });
        above.push(path.to_bytes());
        let end = above.bytes().iter().rposition(|&byte| byte == b'/').unwrap_or(0);
        above.cut_to(end);
        if let Some(directory) = above.as_path() {
            sys::remove_directory(directory);
        }
        true
    }
    // A helper that has looked at it forgets it.
    page::set_state(layout::REFUSED);
    WORKSHOP.alone(|| with_own_descriptors(remove_file, core::ptr::null_mut()));
}

/// What the spool and the control page hold is no more reached from here; who still stores does no harm.
pub(crate) fn part_with_memory() {
    let memory = PAGE.head.load(Acquire).cast::<u8>();
    let control = PAGE.control.load(Acquire).cast::<u8>();
    let length = layout::length(rings::RING_CELLS.load(Relaxed), rings::RINGS.load(Relaxed));
    for (memory, length) in [(memory, length), (control, tmio_spool::control::LENGTH)] {
        if !memory.is_null() {
            // SAFETY: a mapping of our own, of this length.
            unsafe { sys::replace(memory, length) };
        }
    }
}

/// In the child of a fork.
pub(crate) fn begin_anew() {
    WORKSHOP.begin_anew();
    PLACE.length.store(0, Relaxed);
}

/// The process is a rank from here on. A spool that it has already gets the name of its job; if the helper of
/// another one knows it, it ends. Whether the rank gets another.
pub(crate) fn becomes_a_rank(rank: &Rank) -> bool {
    let Some(head) = page::head() else { return false };
    let is_known = head.get(layout::RANK).is_none_or(|number| number.load(Acquire) != layout::NO_RANK);
    if !is_known && WORKSHOP.alone(move_to_job) == Some(true) {
        PAGE.control.store(core::ptr::null_mut(), Release);
        tell_rank(head, rank);
        return false;
    }
    if PAGE.kept.load(Relaxed) != 0 {
        process_io::tell();
        set(head, layout::STATE, layout::ENDED);
        helper::call();
    } else {
        remove();
    }
    true
}

/// Tells whoever reads the spool that it is a rank's, and where its records belong.
fn tell_rank(head: &Head, rank: &Rank) {
    if let Some(flags) = head.get(layout::FLAGS) {
        flags.fetch_or(layout::FLAG_RANK, Relaxed);
    }
    // SAFETY: the recorder has given so many bytes, which stay.
    let identity = unsafe { core::slice::from_raw_parts(rank.identity, rank.identity_length) };
    let place = core::ptr::from_ref(head).cast::<u8>().cast_mut();
    let pages = place.wrapping_add(layout::IDENTITY_OFFSET);
    let has_memory = rings::WHOLE_RINGS.load(Relaxed) != 0
        || rings::populate(pages, layout::RINGS_OFFSET - layout::IDENTITY_OFFSET).is_ok();
    if identity.len() <= layout::IDENTITY_BYTES && has_memory {
        // SAFETY: the identity has its place in the mapping, and nobody reads it before its length is stored.
        unsafe {
            let place = place.add(layout::IDENTITY_OFFSET);
            core::ptr::copy_nonoverlapping(identity.as_ptr(), place, identity.len());
        }
        set(head, layout::IDENTITY_LENGTH, identity.len() as u64);
    }
    set(head, layout::RANK, u64::from(rank.rank));
}

/// Gives the spool a name of the job.
fn move_to_job() -> bool {
    // SAFETY: the workshop is held.
    let (old, memory) = unsafe { (&mut *PLACE.path.get(), &mut *WORKSHOP.path.get()) };
    let length = PLACE.length.load(Acquire);
    let path = old.get(..length).unwrap_or_default();
    let Some(name) = path.iter().rposition(|&byte| byte == b'/') else { return false };
    let Some(number) = path.get(name..).and_then(|name| name.iter().position(|&byte| byte == b'-')) else {
        return false;
    };
    let mut new = Text::new(memory);
    new.push(path.get(..=name).unwrap_or_default());
    settings::push_job(&mut new);
    new.push(path.get(name + number..).unwrap_or_default());
    let Ok(old_path) = CStr::from_bytes_with_nul(old.get(..=length).unwrap_or_default()) else {
        return false;
    };
    if new.as_path().is_none_or(|new| sys::rename(old_path, new).is_err()) {
        return false;
    }
    let length = new.len();
    let Some(place) = old.get_mut(..=length) else { return false };
    place.copy_from_slice(memory.get(..=length).unwrap_or_default());
    PLACE.length.store(length, Release);
    true
}

/// Tells whoever reads the spool what it is about.
fn tell(head: &Head, cells: usize, memory: *mut u8) {
    let (ticks, ns) = clock::pair();
    let pairs: [(usize, u64); 10] = [
        (layout::PID, u64::from(PAGE.process.load(Relaxed))),
        (layout::PARENT, u64::from(sys::parent())),
        (layout::MADE_REAL, clock::realtime() as u64),
        (layout::MADE_NS, ns as u64),
        (layout::MADE_TICKS, ticks),
        (layout::CLOCK, if clock::is_counter() { layout::CLOCK_COUNTER } else { layout::CLOCK_NS }),
        (layout::RING_CELLS, cells as u64),
        (layout::RANK, layout::NO_RANK),
        (layout::MIN_BYTES, settings::min_bytes()),
        (layout::FLAGS, if settings::is_asked_for() { layout::FLAG_ASKED_FOR } else { 0 }),
    ];
    for (index, value) in pairs {
        set(head, index, value);
    }
    let text = memory.wrapping_add(layout::TEXT_OFFSET);
    let length = telling::describe(|length| {
        let length = length.min(layout::TEXT_BYTES);
        let has_memory = length <= usual_text()
            || rings::WHOLE_RINGS.load(Relaxed) != 0
            || rings::populate(text, length).is_ok();
        // SAFETY: the text has its place in the mapping, and nobody reads it before its length is stored.
        has_memory.then(|| unsafe { core::slice::from_raw_parts_mut(text, length) })
    });
    set(head, layout::TEXT_LENGTH, length as u64);
    if let Some(rank) = rank() {
        tell_rank(head, rank);
    }
}

/// Bytes of what a process tells of itself, where its paths are not unusually long.
fn usual_text() -> usize {
    (environment::length() + 512).min(layout::TEXT_BYTES)
}

/// What the process is, if it is a rank.
pub(crate) static RANK: AtomicPtr<Rank> = AtomicPtr::new(core::ptr::null_mut());

/// What the process is, if it is a rank.
pub(crate) fn rank() -> Option<&'static Rank> {
    // SAFETY: null, or what the recorder has given for good.
    unsafe { RANK.load(Acquire).as_ref() }
}
