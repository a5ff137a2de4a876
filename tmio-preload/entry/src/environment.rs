//! The command and the variables of the program as they were at its start.
//!
//! They are copied before the program runs. It may change all of them: programs that set their title write
//! over both, others put a 0 among their arguments (git, GLib) or free what a variable was set to.

use crate::load;
use crate::text::Text;
use core::cell::UnsafeCell;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU8, AtomicUsize};
use tmio_spool::{layout, pattern};

/// Variables that this process or the reader of its spool may need: options of ours, who the job is, and
/// whose. Those with which launchers tell a process its rank are among them.
const KEPT: &[u8] = b"TMIO_,SLURM_JOB_ID=,SLURM_STEP_ID=,SLURM_PROCID=,PBS_JOBID=,LSB_JOBID=,FLUX_JOB_ID=,\
COBALT_JOBID=,IOSETS_JOB_ID=,SLURM_NODEID=,PBS_NODENUM=,PALS_NODEID=,USER=,LOGNAME=,HOME=,TMPDIR=,\
PMIX_RANK=,PMI_RANK=,OMPI_COMM_WORLD_RANK=,PALS_RANKID=,FLUX_TASK_RANK=";
/// Our own come first, should there be more than fits.
const OURS: &[u8] = b"TMIO_";

/// The letters with which they begin.
const FIRST_LETTERS: u64 = {
    let (mut letters, mut at) = (0, 0);
    while at < KEPT.len() {
        if at == 0 || KEPT[at - 1] == b',' {
            letters |= pattern::bit(KEPT[at]);
        }
        at += 1;
    }
    letters
};

/// Bytes of the command that are kept: not more than a person reads.
const COMMAND_BYTES: usize = 1000;
/// As much as a spool has room for.
const COPY_BYTES: usize = layout::TEXT_BYTES;

#[repr(C)]
struct Copy {
    state: AtomicU8,
    length: AtomicUsize,
    bytes: UnsafeCell<[u8; COPY_BYTES]>,
}

// SAFETY: the bytes are written by the one thread that has changed the state from `NONE`, and read after it
// has changed it to `WHOLE`.
unsafe impl Sync for Copy {}

#[cfg_attr(tmio_object, unsafe(link_section = ".bss.tmio_large"))]
static COPY: Copy =
    Copy { state: AtomicU8::new(NONE), length: AtomicUsize::new(0), bytes: UnsafeCell::new([0; COPY_BYTES]) };
const NONE: u8 = 0;
const UNDER_WAY: u8 = 1;
const WHOLE: u8 = 2;

/// Copies them, unless that is done.
pub(crate) fn keep() {
    if COPY.state.compare_exchange(NONE, UNDER_WAY, Acquire, Relaxed).is_err() {
        return;
    }
    // SAFETY: nobody else has come here, and nobody reads before the state says so.
    let mut text = Text::new(unsafe { &mut *COPY.bytes.get() });
    text.push(b"cmd=");
    let begin = text.len();
    for (number, argument) in load::arguments().enumerate() {
        if number > 0 {
            text.push(b" ");
        }
        let left = COMMAND_BYTES.saturating_sub(text.len() - begin);
        let argument = argument.to_bytes();
        text.push(argument.get(..argument.len().min(left)).unwrap_or_default());
        if left == 0 {
            break;
        }
    }
    text.push(b"\0");
    for ours in [true, false] {
        for variable in load::variables() {
            let start = variable.as_ptr().cast::<u8>();
            // SAFETY: a string has at least its final zero.
            if FIRST_LETTERS & pattern::bit(unsafe { *start }) == 0 {
                continue;
            }
            // SAFETY: as above, up to its end.
            let begins_with =
                |text: &[u8]| text.iter().enumerate().all(|(at, &byte)| unsafe { *start.add(at) } == byte);
            let is_next = begins_with(OURS) == ours && (ours || pattern::pieces(KEPT).any(begins_with));
            if !is_next {
                continue;
            }
            let bytes = variable.to_bytes();
            if text.has_room_for(bytes.len() + 1) {
                text.push(bytes).push(b"\0");
            }
        }
    }
    COPY.length.store(text.len(), Relaxed);
    COPY.state.store(WHOLE, Release);
}

/// Whether [`variable`] knows: not while another thread, or the function that this one has interrupted,
/// copies.
pub(crate) fn is_kept() -> bool {
    keep();
    COPY.state.load(Acquire) == WHOLE
}

/// Bytes of all texts, and a zero behind each.
pub(crate) fn length() -> usize {
    COPY.length.load(Relaxed)
}

/// Texts `name=value`: the command, by the name `cmd`, and the variables that are kept.
pub(crate) fn all() -> impl Iterator<Item = &'static [u8]> {
    keep();
    let texts = match COPY.state.load(Acquire) {
        // SAFETY: nobody writes any more.
        WHOLE => unsafe { &*COPY.bytes.get() }.get(..COPY.length.load(Relaxed)).unwrap_or_default(),
        // Another thread, or the function that this one has interrupted, is at it.
        _ => &[],
    };
    let mut rest = texts;
    core::iter::from_fn(move || {
        let text;
        (text, rest) = rest.split_at_checked(pattern::find_byte(0, rest)?)?;
        rest = rest.get(1..)?;
        Some(text)
    })
}

/// The value of a variable that is kept.
pub(crate) fn variable(name: &[u8]) -> Option<&'static [u8]> {
    all().find_map(|text| text.strip_prefix(name)?.strip_prefix(b"="))
}
