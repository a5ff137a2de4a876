//! The clock that stamps operations.
//!
//! A reading is a number of ticks, as the object that is preloaded has chosen them: of the processor's
//! counter, or nanoseconds.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use tmio_trace::ClockSample;

/// A reading of the clock: the one that the object that is preloaded has chosen for this process.
#[inline(always)]
pub fn now() -> u64 {
    if COUNTER.load(Relaxed) { counter() } else { monotonic() as u64 }
}

/// Ticks are counts of the processor.
static COUNTER: AtomicBool = AtomicBool::new(false);

/// The spool is there, and its clock chosen.
pub(crate) fn follow(is_counter: bool) {
    COUNTER.store(is_counter, Relaxed);
}

/// `CLOCK_MONOTONIC`, nanoseconds.
#[inline]
pub fn monotonic() -> i64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds since the machine was started, those in which it slept among them.
pub(crate) fn since_boot() -> i64 {
    read(libc::CLOCK_BOOTTIME)
}

/// Wall-clock time, nanoseconds since 1970.
pub fn realtime() -> i64 {
    read(libc::CLOCK_REALTIME)
}

/// A reading of this rank's clock for the trace; `offset` is what must be added to get the clock of
/// rank 0, which was at `epoch` at job time 0.
pub(crate) fn sample(epoch: i64, offset: i64, error: i64) -> ClockSample {
    let (local, real) = (monotonic(), realtime());
    ClockSample { local, job: local + offset - epoch, real, error }
}

/// Year, month and day (UTC) of a wall-clock time.
pub(crate) fn date(realtime: i64) -> (i64, i64, i64) {
    // Days since 1 March of year 0, in eras of 400 years of 146,097 days (H. Hinnant, "chrono-compatible
    // low-level date algorithms", civil_from_days).
    let days = realtime.div_euclid(86_400_000_000_000) + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[inline]
fn read(which: libc::clockid_t) -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the answer; both clocks exist on every Linux.
    unsafe { libc::clock_gettime(which, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn counter() -> u64 {
    // SAFETY: every x86-64 processor has the instruction; it has no other effect.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn counter() -> u64 {
    monotonic() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let day = 86_400_000_000_000;
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(-1), (1969, 12, 31));
        assert_eq!(date(day * 59), (1970, 3, 1));
        assert_eq!(date(day * 11_016), (2000, 2, 29));
        assert_eq!(date(day * 20_772 + 1), (2026, 11, 15));
    }
}
