//! The two clocks that a spool knows: the monotonic one, and the processor's counter.

/// A reading of the processor's counter, where there is one that clocks may be kept by.
#[cfg(target_arch = "x86_64")]
pub fn counter() -> Option<u64> {
    // SAFETY: every processor of this kind has the instruction; it has no other effect.
    Some(unsafe { core::arch::x86_64::_rdtsc() })
}

/// A reading of the processor's counter, where there is one that clocks may be kept by.
#[cfg(not(target_arch = "x86_64"))]
pub fn counter() -> Option<u64> {
    None
}

/// Nanoseconds of the monotonic clock.
pub fn monotonic() -> i64 {
    let mut time = [0i64; 2];
    ask(1, &mut time);
    let [seconds, nanoseconds] = time;
    seconds.wrapping_mul(1_000_000_000).wrapping_add(nanoseconds)
}

/// Asks the kernel for a clock.
#[cfg(target_arch = "x86_64")]
fn ask(which: usize, time: &mut [i64; 2]) {
    const CLOCK_GETTIME: usize = 228;
    // SAFETY: the place is valid; the kernel changes these registers alone.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") CLOCK_GETTIME => _,
            in("rdi") which,
            in("rsi") time.as_mut_ptr(),
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
}

/// Asks the kernel for a clock.
#[cfg(target_arch = "aarch64")]
fn ask(which: usize, time: &mut [i64; 2]) {
    const CLOCK_GETTIME: usize = 113;
    // SAFETY: the place is valid.
    unsafe {
        core::arch::asm!(
            "svc 0",
            in("x8") CLOCK_GETTIME,
            inlateout("x0") which => _,
            in("x1") time.as_mut_ptr(),
            options(nostack),
        );
    }
}

/// Elsewhere nothing is recorded, and nobody asks.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn ask(_which: usize, _time: &mut [i64; 2]) {}

/// The counter and the monotonic clock at nearly the same moment: the narrowest of some tries.
pub fn pair() -> Option<(u64, i64)> {
    let mut best = (u64::MAX, 0, 0);
    for _ in 0..5 {
        let before = counter()?;
        let ns = monotonic();
        let width = counter()?.wrapping_sub(before);
        if width < best.0 {
            best = (width, before.wrapping_add(width / 2), ns);
        }
    }
    Some((best.1, best.2))
}
