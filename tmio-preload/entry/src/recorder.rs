//! The recorder: the library beside this object that does everything about MPI, and is the helper when it is
//! started as a program. It is loaded by the first call of MPI, which loads libraries itself.

use crate::elf::{Kind, Name, Object};
use crate::text::{self, Text};
use crate::{beside, environment, filter, load, services, sys, words};
use core::ffi::{c_char, c_int, c_void};
use core::ptr::{null, null_mut, with_exposed_provenance_mut};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use core::sync::atomic::{AtomicPtr, AtomicU8};
use tmio_spool::attach::{self, Core};

const NOT_LOADED: u8 = 0;

const LOADING: u8 = 1;

const LOADED: u8 = 2;

/// It is not wanted, or cannot be had.
const NEVER: u8 = 3;

static STATE: AtomicU8 = AtomicU8::new(NOT_LOADED);

static RECORDER: AtomicPtr<Object> = AtomicPtr::new(null_mut());

/// Where a call of a function of MPI goes: to the recorder, or straight to MPI. Null: nowhere.
pub(crate) fn function(name: &[u8]) -> *mut c_void {
    load_once();
    // SAFETY: null, or an object that is never unloaded.
    let recorder = unsafe { RECORDER.load(Acquire).as_ref() };
    let found = recorder.and_then(|recorder| recorder.find(Name::new(name), Kind::Function));
    let found = found.or_else(|| next_anywhere(name)).or_else(|| in_some_mpi(name));
    found.map_or(null_mut(), with_exposed_provenance_mut)
}

/// The next function of a name after this object, as the dynamic linker orders them.
pub(crate) fn next_anywhere(name: &[u8]) -> Option<usize> {
    type Symbol = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;
    /// After the object that calls.
    const RTLD_NEXT: *mut c_void = core::ptr::without_provenance_mut(usize::MAX);
    if let Some(found) = load::next(name) {
        return Some(found);
    }
    let symbol = load::anywhere(b"dlsym", Kind::Function)?;
    let mut memory = [0u8; 128];
    let mut text = Text::new(&mut memory);
    let name = text.push(name).as_path()?;
    // SAFETY: the function of this name has this signature.
    let found = unsafe { core::mem::transmute::<usize, Symbol>(symbol)(RTLD_NEXT, name.as_ptr()) };
    // Not the last thing that is done: the function looks at who has called it.
    core::hint::black_box(&memory);
    (!found.is_null()).then(|| found.addr())
}

/// An MPI that nobody else sees, if there is no recorder to look for it.
fn in_some_mpi(name: &[u8]) -> Option<usize> {
    load::each(
        |object| if load::is_mpi(object) { object.find(Name::new(name), Kind::Function) } else { None },
    )
}

fn load_once() {
    match STATE.compare_exchange(NOT_LOADED, LOADING, AcqRel, Acquire) {
        Ok(_) => {
            let wanted = !is_disabled() && !load::another_copy_comes_first();
            let done = if wanted && may_call() && load_it() { LOADED } else { NEVER };
            STATE.store(done, Release);
        }
        // Other threads that call MPI wait for it.
        Err(_) => {
            while STATE.load(Acquire) == LOADING {
                sys::yield_now();
            }
        }
    }
}

/// Whether no filter of system calls is in force: one of ours could be the end of the process.
fn may_call() -> bool {
    let may = !filter::is_restricted();
    if !may {
        words::complain(b"a filter of system calls (seccomp) is in force");
    }
    may
}

fn is_disabled() -> bool {
    environment::variable(b"TMIO_DISABLE")
        .is_some_and(|value| matches!(value, b"1" | b"yes" | b"on" | b"true"))
}

fn load_it() -> bool {
    type Open = unsafe extern "C" fn(*const c_char, c_int) -> *const Object;
    type Error = unsafe extern "C" fn() -> *const c_char;
    type Attach = unsafe extern "C" fn(*const Core) -> c_int;
    /// Bind all now, for nobody else.
    const RTLD_NOW: c_int = 2;
    /// What the C library's own way of it wants to see.
    const INSIDE: c_int = 0x8000_0000_u32 as c_int;
    // Before glibc 2.34 `dlopen` is in a library that may not be there, and libc has another way to it.
    let open = load::anywhere(b"dlopen", Kind::Function).map(|open| (open, RTLD_NOW));
    let Some((open, how)) = open.or_else(|| Some((load::next(b"__libc_dlopen_mode")?, RTLD_NOW | INSIDE)))
    else {
        return false;
    };
    let forget_error = load::anywhere(b"dlerror", Kind::Function);
    // SAFETY: only whoever loads the recorder is here; no path of ours is put together meanwhile in this
    // memory.
    let memory = unsafe { &mut *PATHS.0.get() };
    let mut found = null::<Object>();
    beside::each_path(memory, |path| {
        if !beside::is_whole(path) {
            return false;
        }
        // SAFETY: the functions of these names have these signatures. In this C library, what is loaded is
        // known by its entry in the list of objects.
        unsafe {
            found = core::mem::transmute::<usize, Open>(open)(path.as_ptr(), how);
            if found.is_null()
                && let Some(forget) = forget_error
            {
                // The program shall not see our errors.
                core::mem::transmute::<usize, Error>(forget)();
            }
        }
        !found.is_null()
    });
    // SAFETY: null, or an object that is loaded and never unloaded.
    let Some(recorder) = (unsafe { found.as_ref() }) else {
        words::complain(beside::NOT_BESIDE);
        return false;
    };
    let attach = recorder.find(Name::new(attach::ATTACH), Kind::Function);
    // SAFETY: the function of this name has this signature.
    let attached = attach
        .map(|attach| unsafe { core::mem::transmute::<usize, Attach>(attach)(&services::core_of_this()) });
    // Another version of it does not attach.
    if attached != Some(0) {
        words::complain(beside::NOT_BESIDE);
        return false;
    }
    RECORDER.store(found.cast_mut(), Release);
    true
}

#[cfg_attr(tmio_object, unsafe(link_section = ".bss.tmio_large"))]
static PATHS: beside::Paths = beside::Paths(core::cell::UnsafeCell::new([0; 2 * text::PATH_BYTES]));
