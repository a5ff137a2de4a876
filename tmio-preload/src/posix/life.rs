//! The life of a process: its start, MPI, becoming another program, and its end.

use super::next::wrappers;
use super::{recording, stdio};
use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;
use tmio_api::options;
use tmio_api::{NoSignals, clock, process, shield, thread};

unsafe extern "C" {
    fn __cxa_atexit(
        function: unsafe extern "C" fn(*mut c_void),
        argument: *mut c_void,
        library: *mut c_void,
    ) -> c_int;
    fn __cxa_at_quick_exit(function: unsafe extern "C" fn(*mut c_void), library: *mut c_void) -> c_int;
}

#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = at_start;

/// Programs that only start others: what they write is their own business.
const LAUNCHERS: [&str; 12] = [
    "mpirun",
    "mpiexec",
    "orterun",
    "orted",
    "prterun",
    "prted",
    "mpiexec.hydra",
    "hydra_pmi_proxy",
    "hydra_bstrap_proxy",
    "srun",
    "slurmstepd",
    "ssh",
];

#[cfg_attr(test, allow(dead_code))]
extern "C" fn at_start() {
    // SAFETY: the name is a string; nobody changes the environment while libraries are loaded.
    let wanted = unsafe {
        let layers = libc::getenv(c"TMIO_LAYERS".as_ptr());
        !layers.is_null() && asks_for_more(layers)
    };
    if wanted {
        shield(begin);
    }
}

/// Whether these layers are more than MPI-IO.
///
/// # Safety
///
/// It is a string.
unsafe fn asks_for_more(layers: *const c_char) -> bool {
    // SAFETY: as the caller promises.
    let layers = unsafe { std::ffi::CStr::from_ptr(layers) }.to_bytes();
    layers.windows(5).any(|word| word == b"posix" || word == b"stdio")
}

fn begin() {
    let parsed = options::from_environment();
    let layers = parsed.options.layers;
    let is_launcher = std::env::current_exe().is_ok_and(|path| {
        path.file_name().is_some_and(|name| LAUNCHERS.iter().any(|launcher| name == *launcher))
    });
    if parsed.options.disable || parsed.problem.is_some() || is_launcher || !(layers.posix || layers.stdio) {
        return;
    }
    process::program_begins();
    clock::prepare();
    clock::choose_now(parsed.options.clock);
    recording::turn_on(parsed.options, process::is_first_of_run());
    // After the destructors of all libraries, which may write (libgfortran's does). One that is tied to our
    // library would run before.
    // SAFETY: the function lives as long as the process.
    unsafe {
        __cxa_atexit(at_exit, null_mut(), null_mut());
        __cxa_at_quick_exit(at_quick_exit, null_mut());
    }
}

unsafe extern "C" fn at_quick_exit(_: *mut c_void) {
    ends();
}

unsafe extern "C" fn at_exit(_: *mut c_void) {
    if recording::is_on() && recording::is_this_process() {
        stdio::at_exit();
        ends();
    }
}

/// The process ends at once: what its streams hold is not written.
extern "C" fn ends() {
    // A process that nothing is recorded of may have forbidden itself to ask the kernel who it is.
    if recording::is_on() && recording::is_this_process() {
        let _signals = NoSignals::new();
        shield(recording::end);
    }
}

/// The process tries to become another program. If that fails it goes on.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
extern "C" fn becomes_another() {
    if recording::is_process() {
        let _signals = NoSignals::new();
        shield(process::end);
    }
}

/// `MPI_Init` is called.
pub(crate) fn mpi_begins() {
    recording::wait_for_rank();
}

/// `MPI_Init` is called, and these are the options of the rank that it may make of this process. What the
/// program does by POSIX and C streams is recorded, too, from there on, unless it is by now.
pub(crate) fn mpi_begins_with(options: &options::Options) {
    if (options.layers.posix || options.layers.stdio) && is_found() {
        recording::listen(options);
    }
}

/// Whether the program finds our functions.
fn is_found() -> bool {
    #[cfg(target_arch = "x86_64")]
    return !crate::hidden::hides_system();
    #[cfg(not(target_arch = "x86_64"))]
    true
}

/// `MPI_Finalize` is called.
pub(crate) fn mpi_ends() {
    recording::rank_ends();
}

/// `MPI_Init` has returned.
pub(crate) fn mpi_has_begun() {
    recording::rank_begins(tmio_api::has_started());
}

wrappers! {
    prctl (option: c_int, a: usize, b: usize, c: usize, d: usize) -> c_int, |next| {
        if option == libc::PR_SET_SECCOMP {
            forbids_system_calls();
        }
        next(option, a, b, c, d)
    };
}

/// The process forbids itself most system calls from here on.
pub(super) fn forbids_system_calls() {
    let _signals = NoSignals::new();
    shield(recording::stop_early);
}

/// Closes all descriptors from a number on, on kernels that cannot do that at once.
#[cfg_attr(test, allow(dead_code))]
pub(super) fn close_one_by_one(first: c_int) {
    thread::with(|thread| thread.begin_own_work());
    // SAFETY: closing is what the caller has asked for.
    unsafe {
        let mut limit = libc::rlimit { rlim_cur: 1024, rlim_max: 1024 };
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        for descriptor in first..c_int::try_from(limit.rlim_cur.min(1 << 20)).unwrap_or(1024) {
            libc::close(descriptor);
        }
    }
    thread::with(|thread| thread.end_own_work());
}

/// Exports functions that do something before they go on to the next one of their name, with all arguments
/// as they are: it does not matter how many these are, nor whether they return.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
macro_rules! preceded {
    ($($name:ident after $before:ident;)*) => {
        $(
            const _: () = {
                extern "C" fn before() -> *mut c_void {
                    static NEXT: super::next::Next = super::next::Next::new(concat!(stringify!($name), "\0"));
                    $before();
                    NEXT.get()
                }

                /// # Safety
                ///
                /// As for the function of the C library.
                #[cfg_attr(not(test), unsafe(no_mangle))]
                #[cfg_attr(test, allow(dead_code))]
                #[unsafe(naked)]
                unsafe extern "C" fn $name() {
                    core::arch::naked_asm!(
                        crate::caller::call_before!(),
                        "jmp r11",
                        before = sym before,
                    )
                }
            };
        )*
    };
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
preceded! {
    _exit after ends;
    _Exit after ends;
    execve after becomes_another;
    execv after becomes_another;
    execvp after becomes_another;
    execvpe after becomes_another;
    execl after becomes_another;
    execlp after becomes_another;
    execle after becomes_another;
    fexecve after becomes_another;
}
