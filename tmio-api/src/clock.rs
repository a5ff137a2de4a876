//! The clock that stamps operations.
//!
//! A reading is a number of ticks. With `CLOCK_MONOTONIC` a tick is a nanosecond. Where the kernel
//! itself keeps time by the time stamp counter, a tick is one count of it, which is several times
//! cheaper to read; it is turned into nanoseconds of `CLOCK_MONOTONIC` when a block is written, by
//! pairs of readings of both clocks taken before and after the block's records.

use crate::options::ClockChoice;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};
use tmio_trace::ClockSample;
use tmio_trace::spool::TickScale;

static COUNTER: AtomicBool = AtomicBool::new(false);
/// The first pair of readings, from which the rate of the counter is taken.
static FIRST_TICKS: AtomicU64 = AtomicU64::new(0);
static FIRST_NS: AtomicI64 = AtomicI64::new(0);

/// A reading of the clock.
#[inline]
pub fn now() -> u64 {
    if COUNTER.load(Relaxed) { counter() } else { monotonic() as u64 }
}

/// `CLOCK_MONOTONIC`, nanoseconds.
#[inline]
pub fn monotonic() -> i64 {
    read(libc::CLOCK_MONOTONIC)
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

/// Notes the first pair of readings; called as early as possible, so that the rate of the counter
/// is known well when the first record is made.
pub fn prepare() {
    let (ticks, ns) = pair();
    FIRST_TICKS.store(ticks, Relaxed);
    FIRST_NS.store(ns, Relaxed);
}

/// As [`choose`], without waiting for a better rate of the counter: that is known well enough when the first
/// block is made.
pub fn choose_now(choice: ClockChoice) {
    COUNTER.store(choice == ClockChoice::Auto && kernel_trusts_the_counter(), Relaxed);
}

/// Chooses the clock. Nothing has been stamped yet.
pub fn choose(choice: ClockChoice) {
    let counter = choice == ClockChoice::Auto && kernel_trusts_the_counter();
    if counter {
        // The rate needs some time between the two pairs: 2 ms make an error of about 0.01 %,
        // and every later pair improves it.
        while monotonic() - FIRST_NS.load(Relaxed) < 2_000_000 {
            std::hint::spin_loop();
        }
    }
    COUNTER.store(counter, Relaxed);
}

/// A reading of the clock and the nanoseconds of `CLOCK_MONOTONIC` at the same moment, with the
/// rate as well as it is known by now.
pub fn scale() -> TickScale {
    if !COUNTER.load(Relaxed) {
        return TickScale::NANOSECONDS;
    }
    let (ticks, ns) = pair();
    let elapsed = ticks.wrapping_sub(FIRST_TICKS.load(Relaxed));
    let rate = if elapsed == 0 { 1.0 } else { (ns - FIRST_NS.load(Relaxed)) as f64 / elapsed as f64 };
    TickScale { ticks, ns, rate }
}

/// The scale for records between two pairs of readings: it meets both.
pub fn between(first: TickScale, last: TickScale) -> TickScale {
    let ticks = last.ticks.wrapping_sub(first.ticks);
    // Over less than a millisecond the rate since the start is the better one.
    if ticks == 0 || last.ns - first.ns < 1_000_000 {
        return TickScale { rate: last.rate, ..first };
    }
    TickScale { rate: (last.ns - first.ns) as f64 / ticks as f64, ..first }
}

/// The counter and the clock at nearly the same moment: the narrowest of three tries.
fn pair() -> (u64, i64) {
    let mut best = (u64::MAX, 0, 0);
    for _ in 0..3 {
        let before = counter();
        let ns = monotonic();
        let width = counter().wrapping_sub(before);
        if width < best.0 {
            best = (width, before.wrapping_add(width / 2), ns);
        }
    }
    (best.1, best.2)
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

fn kernel_trusts_the_counter() -> bool {
    cfg!(target_arch = "x86_64")
        && std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource")
            .is_ok_and(|source| source.trim() == "tsc")
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

    #[test]
    fn both_clocks_tell_the_same_time() {
        prepare();
        for choice in [ClockChoice::Auto, ClockChoice::Monotonic] {
            choose(choice);
            let first = scale();
            let (ticks, ns) = (now(), monotonic());
            std::thread::sleep(std::time::Duration::from_millis(20));
            let scale = between(first, scale());
            let error = (scale.to_ns(ticks) - ns).abs();
            assert!(error < 1_000_000, "{choice:?}: {error} ns apart");
        }
    }
}
