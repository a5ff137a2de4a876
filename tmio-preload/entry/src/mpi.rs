//! The names of MPI: each goes to the recorder, once that is loaded, or straight to MPI.

use crate::entry::{Next, slow_path};
use crate::{load, recorder};
use core::ffi::{CStr, c_void};
use core::ptr::null_mut;
use core::sync::atomic::Ordering::{Acquire, Release};

/// A function of MPI is called whose place is not known yet: in the recorder, which is loaded by this if need
/// be, or else in the MPI itself.
#[cfg_attr(not(tmio_object), allow(dead_code))]
pub(crate) extern "C" fn resolve_mpi(place: &Next, name: *const u8) -> *mut c_void {
    // SAFETY: it is the name of a function, with a zero at its end.
    let name = unsafe { CStr::from_ptr(name.cast()) }.to_bytes();
    let found = recorder::function(name);
    if found.is_null() {
        return no_mpi as *mut c_void;
    }
    place.store(found, Release);
    found
}

/// What an MPI that is not there answers: no MPI uses it for success.
extern "C" fn no_mpi() -> i32 {
    15
}

/// Assembly of an entry of MPI: on to its place, once that is known.
#[cfg(all(tmio_object, target_arch = "x86_64"))]
macro_rules! mpi_code {
    () => {
        "endbr64
         mov r11, qword ptr [rip + {next}]
         test r11, r11
         je 2f
         jmp r11
      2: lea r10, [rip + {next}]
         lea r11, [rip + {name}]
         jmp {slow}"
    };
}

#[cfg(all(tmio_object, target_arch = "aarch64"))]
macro_rules! mpi_code {
    () => {
        "hint 34
         adrp x16, {next}
         ldr x16, [x16, :lo12:{next}]
         cbz x16, 2f
         br x16
      2: adrp x16, {next}
         add x16, x16, :lo12:{next}
         adrp x17, {name}
         add x17, x17, :lo12:{name}
         b {slow}"
    };
}

slow_path!(slow_mpi, resolve_mpi);

/// The functions of MPI; the list is made of `exported-symbols.txt` by `../build.rs`.
#[cfg(tmio_object)]
mod mpi {
    macro_rules! mpi {
        ($($name:ident)*) => {
            $(
                #[allow(non_snake_case)]
                const _: () = {
                    static NEXT: $crate::entry::Next = $crate::entry::Next::new(core::ptr::null_mut());
                    static NAME: [u8; concat!(stringify!($name), "\0").len()] =
                        $crate::entry::bytes(concat!(stringify!($name), "\0"));

                    #[unsafe(no_mangle)]
                    #[unsafe(naked)]
                    #[unsafe(link_section = ".text.tmio_mpi")]
                    unsafe extern "C" fn $name() {
                        core::arch::naked_asm!(
                            mpi_code!(),
                            next = sym NEXT,
                            name = sym NAME,
                            slow = sym $crate::mpi::slow_mpi,
                        )
                    }
                };
            )*
        };
    }
    include!(env!("TMIO_MPI_NAMES"));
}

/// `dlopen`: what is loaded may be an MPI. It looks at who calls, so it is jumped to.
#[cfg_attr(not(tmio_object), allow(dead_code))]
extern "C" fn before_dlopen() -> *mut c_void {
    static NEXT: Next = Next::new(null_mut());
    load::show_mpi();
    let found = NEXT.load(Acquire);
    if !found.is_null() {
        return found;
    }
    // In older C libraries it is in a library that may have come later.
    let found = load::anywhere(b"dlopen", crate::elf::Kind::Function);
    let found = found.map_or(nothing as *mut c_void, core::ptr::with_exposed_provenance_mut);
    NEXT.store(found, Release);
    found
}

/// Stands in for a function that would return the address of something.
extern "C" fn nothing() -> usize {
    0
}

#[cfg(tmio_object)]
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn dlopen() {
    core::arch::naked_asm!(crate::entry::call_before!(), before = sym before_dlopen)
}
