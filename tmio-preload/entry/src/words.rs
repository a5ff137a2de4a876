//! What is said on standard error.

use crate::text::Text;
use crate::{descriptors, environment, filter, sys};
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

/// Says, on the first rank, why there will be no trace.
pub(crate) fn complain(reason: &[u8]) {
    // The variables by which launchers tell a process its rank.
    const RANKS: &[u8] = b"PMIX_RANK,PMI_RANK,OMPI_COMM_WORLD_RANK,PALS_RANKID,FLUX_TASK_RANK,SLURM_PROCID";
    let mut ranks = RANKS.split(|&byte| byte == b',').filter_map(environment::variable);
    let is_silent = environment::variable(b"TMIO_LOG") == Some(b"silent");
    if !is_silent && ranks.next().is_none_or(|rank| rank == b"0") {
        let mut memory = [0u8; 160];
        let mut line = Text::new(&mut memory);
        sys::write_harmlessly(2, line.push(b"tmio: no trace: ").push(reason).push(b"\n").bytes());
    }
}

/// Says why there is no trace, if standard error is still what the program was given. Where system calls are
/// filtered, a word could be the end of the program.
#[cold]
pub(crate) fn say(reason: &[u8]) {
    let is_the_same =
        || sys::fstat(2).is_ok_and(|about| descriptors::identity(&about) == STDERR.load(Relaxed));
    if !filter::RESTRICTED.load(Relaxed) && is_the_same() {
        complain(reason);
    }
}

/// What standard error was when the program began.
pub(crate) static STDERR: AtomicU32 = AtomicU32::new(0);
