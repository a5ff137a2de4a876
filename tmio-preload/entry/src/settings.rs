//! What the variables of the environment say, as far as the process itself must know it. Everything else is
//! told to the helper, which reads files of options as well.

use crate::patterns::List;
use crate::text::Text;
use crate::{environment, load, sys, text};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, AtomicUsize};
use tmio_spool::attach::Rank;
use tmio_spool::pattern;

static MIN_BYTES: AtomicU64 = AtomicU64::new(1 << 20);
static BUFFER: AtomicU64 = AtomicU64::new(4 << 20);
static TIMEOUT: AtomicU64 = AtomicU64::new(30_000_000_000);
/// Number of the run that `ftio trace` has begun; 0: there is none.
static RUN: AtomicU64 = AtomicU64::new(0);
/// The names of the job's spools begin with this number, …
static KEY: AtomicU64 = AtomicU64::new(0);
/// … and with that of the namespace of process ids.
static NAMESPACE: AtomicU64 = AtomicU64::new(0);
static FLAGS: AtomicU8 = AtomicU8::new(0);

const ASKED_FOR: u8 = 1;
const AT_ONCE: u8 = 2;
const ON_CLOSE: u8 = 4;

/// Programs that only start others: what they write is their own business.
const LAUNCHERS: &[u8] = b"mpirun,mpiexec,orterun,orted,prterun,prted,mpiexec.hydra,hydra_pmi_proxy,\
hydra_bstrap_proxy,srun,slurmstepd,ssh";

/// The layers that the environment asks for, as bits of [`recording`](crate::recording); 0: the process is
/// not recorded.
pub(crate) fn read() -> u8 {
    use crate::page::{MPIIO, POSIX, STDIO};
    let is_true = |name| {
        environment::variable(name)
            .is_some_and(|value| !matches!(value, b"" | b"0" | b"no" | b"off" | b"false"))
    };
    let Some(layers) = environment::variable(b"TMIO_LAYERS") else { return 0 };
    if is_true(b"TMIO_DISABLE") || is_excluded_program() {
        return 0;
    }
    let set = |place: &AtomicU64, name, value: fn(&[u8]) -> Option<u64>| {
        if let Some(value) = environment::variable(name).and_then(value) {
            place.store(value, Relaxed);
        }
    };
    set(&MIN_BYTES, b"TMIO_MIN_BYTES", text::size);
    set(&BUFFER, b"TMIO_BUFFER", text::size);
    set(&TIMEOUT, b"TMIO_FINALIZE_TIMEOUT", text::seconds);
    let mut flags = 0;
    match environment::variable(b"TMIO_FLUSH") {
        Some(b"close") => flags |= ON_CLOSE | AT_ONCE,
        Some(flush) if flush.starts_with(b"interval:") => flags |= AT_ONCE,
        _ => {}
    }
    if let Some(run) = environment::variable(b"TMIO_RUN") {
        let mut fields = run.split(|&byte| byte == b':');
        let mut number = || fields.next().and_then(text::hex);
        if let (Some(run), Some(_), Some(_), Some(process)) = (number(), number(), number(), number()) {
            RUN.store(run, Relaxed);
            if process as u32 == sys::parent() {
                flags |= ASKED_FOR;
            }
        }
    }
    if run() == 0 {
        flags |= AT_ONCE;
    }
    FLAGS.store(flags, Relaxed);
    KEY.store(key(), Relaxed);
    // Asked now: later there may be no /proc.
    namespace();
    let bit = |name: &[u8], bit| if load::has(layers, name) { bit } else { 0 };
    bit(b"mpiio", MPIIO) | bit(b"posix", POSIX) | bit(b"stdio", STDIO)
}

/// What of this is another process's in the child of a fork, which may be in a namespace that its parent has
/// made for it.
pub(crate) fn begin_anew() {
    FLAGS.fetch_and(!ASKED_FOR, Relaxed);
    let of_parent = NAMESPACE.swap(0, Relaxed);
    // Where there is no /proc, as after a chroot, it is still that of the parent.
    if namespace() == 0 {
        NAMESPACE.store(of_parent, Relaxed);
    }
}

/// The namespace of process ids that this process is in.
pub(crate) fn namespace() -> u64 {
    let mut known = NAMESPACE.load(Relaxed);
    if known == 0 {
        known = sys::inode(c"/proc/self/ns/pid");
        NAMESPACE.store(known, Relaxed);
    }
    known
}

fn is_excluded_program() -> bool {
    let path = load::auxiliary(load::AT_EXECFN).map_or(&[][..], |path| {
        // SAFETY: the kernel has put a string there, which stays.
        unsafe { core::ffi::CStr::from_ptr(core::ptr::with_exposed_provenance(path)) }.to_bytes()
    });
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let is_in = |patterns: &[u8]| {
        patterns.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).any(|one| {
            !one.is_empty() && pattern::matches(one, if one.contains(&b'/') { path } else { name })
        })
    };
    is_in(LAUNCHERS)
        || environment::variable(b"TMIO_EXCLUDE_PROGRAMS").is_some_and(|list| list != b"none" && is_in(list))
}

/// All processes of a job on a node have the same key: of a run of `ftio trace`, of a job of the batch
/// system, or else of the session.
fn key() -> u64 {
    if run() != 0 {
        return run();
    }
    // One text: a list of texts would have to be filled in when the object is loaded.
    const NAMES: &[u8] =
        b"IOSETS_JOB_ID,SLURM_JOB_ID,PBS_JOBID,LSB_JOBID,FLUX_JOB_ID,COBALT_JOBID,SLURM_STEP_ID";
    let mut hash = text::SEED;
    let mut found = false;
    for name in NAMES.split(|&byte| byte == b',') {
        if let Some(value) = environment::variable(name) {
            hash = text::mix(text::mix(hash, name), value);
            found = true;
        }
    }
    if !found {
        hash = text::mix(hash, &sys::session().to_ne_bytes());
    }
    hash.max(1)
}

/// Number of the run of `ftio trace`; 0: there is none.
pub(crate) fn run() -> u64 {
    RUN.load(Relaxed)
}

/// Where spools are wanted, as the ranks of a job have agreed or the environment says.
pub(crate) fn spools() -> Option<&'static [u8]> {
    let place = SPOOLS.load(Acquire);
    if place.is_null() {
        return environment::variable(b"TMIO_SPOOL");
    }
    // SAFETY: the recorder has given so many bytes, which stay.
    Some(unsafe { core::slice::from_raw_parts(place, SPOOLS_LENGTH.load(Relaxed)) })
}

static SPOOLS: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
static SPOOLS_LENGTH: AtomicUsize = AtomicUsize::new(0);

/// Whether `ftio trace` waits for the end of its command, and reads what there is then.
pub(crate) fn is_awaited() -> bool {
    let process = || {
        let run = environment::variable(b"TMIO_RUN")?;
        text::hex(run.split(|&byte| byte == b':').nth(3)?)
    };
    // In the upper half: the thread that is there as long as it waits.
    run() != 0 && process().is_some_and(|process| sys::exists((process >> 32) as u32))
}

/// Appends what the names of the job's spools here begin with. Each namespace of process ids has a helper of
/// its own, as their numbers mean others elsewhere.
pub(crate) fn push_job(path: &mut Text<'_>) {
    path.push_hex(KEY.load(Relaxed)).push(tmio_spool::control::OF_NAMESPACE.as_bytes());
    path.push_hex(namespace());
}

/// The process is a rank, for which the recorder has read all options.
pub(crate) fn set_rank(rank: &Rank) {
    BUFFER.store(rank.buffer, Relaxed);
    MIN_BYTES.store(rank.min_bytes, Relaxed);
    KEY.store(rank.job, Relaxed);
    SPOOLS_LENGTH.store(rank.spool_length, Relaxed);
    SPOOLS.store(rank.spool.cast_mut(), Release);
    FLAGS.store(AT_ONCE | if rank.flushes_on_close { ON_CLOSE } else { 0 }, Relaxed);
}

pub(crate) fn min_bytes() -> u64 {
    MIN_BYTES.load(Relaxed)
}

/// Bytes of records that may wait.
pub(crate) fn buffer() -> usize {
    BUFFER.load(Relaxed) as usize
}

/// How long the end of the process waits for the helper, in nanoseconds.
pub(crate) fn timeout() -> u64 {
    TIMEOUT.load(Relaxed)
}

/// Whether this is the command that `ftio trace` was asked to run.
pub(crate) fn is_asked_for() -> bool {
    FLAGS.load(Relaxed) & ASKED_FOR != 0
}

/// Whether somebody waits for records before the process ends.
pub(crate) fn wants_helper_at_once() -> bool {
    FLAGS.load(Relaxed) & AT_ONCE != 0
}

/// Whether everything is written out when a file is closed.
pub(crate) fn flushes_on_close() -> bool {
    FLAGS.load(Relaxed) & ON_CLOSE != 0
}

/// Whether the layers posix and stdio leave a path out.
pub(crate) fn leaves_out(path: &[u8]) -> bool {
    static PATHS: List = List::new();
    static EXCLUDED: List = List::new();
    static WANTED: List = List::new();
    let bytes = pattern::bytes_of(path);
    PATHS.has(b"TMIO_EXCLUDE_PATHS", pattern::DEFAULT_EXCLUDED.as_bytes(), path, bytes) == Some(true)
        || EXCLUDED.has(b"TMIO_EXCLUDE_FILES", b"", path, bytes) == Some(true)
        || WANTED.has(b"TMIO_FILES", b"", path, bytes) == Some(false)
}
