//! Finds the function that a wrapper stands in front of.
//!
//! It is the one that the caller would have reached without us: the next of that name in the order of the
//! dynamic linker, or else the one in the scope of the calling object (Python loads MPI where nobody else
//! sees it, and two of its modules may have an MPI each).

use crate::caller;
use crate::objects::{self, Object};
use std::ffi::{CStr, c_int, c_void};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{
    AtomicPtr, AtomicU64, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

/// The next functions of a name after this library, looked up at the first call from each object.
#[derive(Debug)]
pub struct Next {
    name: &'static CStr,
    found: AtomicPtr<Found>,
    /// How many objects had been loaded when the name was looked for in vain.
    absent: AtomicU64,
}

/// What the callers in some object are to reach. Never freed.
#[derive(Debug)]
struct Found {
    low: usize,
    length: usize,
    function: NonNull<c_void>,
    others: *mut Found,
}

impl Next {
    /// The function of this name; `name` ends with its only zero byte.
    pub const fn new(name: &'static str) -> Self {
        let Ok(name) = CStr::from_bytes_with_nul(name.as_bytes()) else { return Self::new("?\0") };
        Self { name, found: AtomicPtr::new(null_mut()), absent: AtomicU64::new(u64::MAX) }
    }

    /// Its address, for whoever called the wrapper; `None`: the MPI that is there does not have it.
    #[inline(always)]
    pub fn get(&self) -> Option<NonNull<c_void>> {
        let caller = caller::address().unwrap_or(0);
        let mut place = self.found.load(Acquire);
        // SAFETY: what is in the list is valid for ever.
        while let Some(found) = unsafe { place.as_ref() } {
            if caller.wrapping_sub(found.low) < found.length {
                return Some(found.function);
            }
            place = found.others;
        }
        self.find(caller)
    }

    #[cold]
    #[inline(never)]
    fn find(&self, caller: usize) -> Option<NonNull<c_void>> {
        let loaded = objects::ever_loaded();
        if self.absent.load(Relaxed) == loaded {
            return None;
        }
        let Some(function) = function(self.name, caller) else {
            self.absent.store(loaded, Relaxed);
            return None;
        };
        note_target(function);
        // A tool that ends with a call of PMPI leaves our own return address to it.
        note_target(NonNull::from(&TARGETS).cast());
        // A caller that is in no object (made at run time) is looked up every time; where callers are not
        // known, all are one.
        let range = match (caller, Object::of(caller)) {
            (0, _) => Some((0, usize::MAX)),
            (_, object) => object.map(|object| (object.low, object.length)),
        };
        let mut memory = Vec::new();
        if let Some((low, length)) = range
            && memory.try_reserve_exact(1).is_ok()
        {
            memory.push(Found { low, length, function, others: self.found.load(Acquire) });
            if let Some(found) = memory.leak().first_mut() {
                // Two threads at once may each add one: the same twice, or the other's is lost and looked
                // up again.
                self.found.store(found, Release);
            }
        }
        Some(function)
    }
}

/// The objects that our wrappers have called: MPI, tools between us and MPI, and our own.
static TARGETS: [(AtomicUsize, AtomicUsize); 8] = [const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; 8];

fn note_target(function: NonNull<c_void>) {
    let Some(object) = Object::of(function.addr().get()) else { return };
    for (low, length) in &TARGETS {
        match low.compare_exchange(0, object.low, Relaxed, Relaxed) {
            Ok(_) => return length.store(object.length, Release),
            Err(there) if there == object.low => return,
            Err(_) => {}
        }
    }
}

/// Whether the running wrapper was called by MPI itself, or by a tool between us and MPI.
pub(crate) fn called_by_mpi() -> bool {
    let Some(caller) = caller::address() else { return true };
    TARGETS.iter().any(|(low, length)| caller.wrapping_sub(low.load(Relaxed)) < length.load(Acquire))
}

/// Exports functions under their `MPI_` and `PMPI_` names; each finds the next one of its own name
/// and runs the body with it. An MPI that lacks the function gives an error, or what follows `else`:
/// programs that ask at run time which functions there are must not be disappointed by ours.
///
/// Premises of the unsafe code in it: the function of a name has the signature that the MPI
/// standard gives it, and the arguments that it is called with are the application's own.
macro_rules! exported {
    ($($mpi:ident $pmpi:ident ($($argument:ident : $kind:ty),*) |$next:ident| $body:expr $(, else $absent:expr)?;)*) => {
        $(
            exported! { @one $mpi ($($argument : $kind),*) |$next| $body $(, else $absent)? }
            exported! { @one $pmpi ($($argument : $kind),*) |$next| $body $(, else $absent)? }
        )*
    };
    (@one $name:ident ($($argument:ident : $kind:ty),*) |$next:ident| $body:expr) => {
        exported! { @one $name ($($argument : $kind),*) |$next| $body, else $crate::next::NO_MPI }
    };
    (@one $name:ident ($($argument:ident : $kind:ty),*) |$next:ident| $body:expr, else $absent:expr) => {
        const _: () = {
            $crate::caller::entry! { $name ($($argument: $kind),*) body }

            #[allow(clippy::undocumented_unsafe_blocks)] // see above
            unsafe extern "C-unwind" fn body($($argument: $kind),*) -> std::ffi::c_int {
                static NEXT: $crate::next::Next = $crate::next::Next::new(concat!(stringify!($name), "\0"));
                let Some(function) = NEXT.get() else {
                    #[allow(unused_unsafe)]
                    return unsafe { $absent };
                };
                let $next: unsafe extern "C-unwind" fn($($kind),*) -> std::ffi::c_int =
                    unsafe { std::mem::transmute(function.as_ptr()) };
                unsafe { $body }
            }
        };
    };
}
pub(crate) use exported;

/// What is returned when there is no MPI to call: no MPI uses it for success.
pub(crate) const NO_MPI: c_int = 15;

/// The function of this name that a call from the object of `caller` would reach without us.
pub(crate) fn function(name: &CStr, caller: usize) -> Option<NonNull<c_void>> {
    let in_scope = || Object::of(caller)?.symbol(name).filter(|&found| !objects::is_ours(found));
    objects::next_symbol(name).or_else(in_scope).or_else(|| in_some_mpi(name))
}

/// Looks in the MPI libraries themselves, wherever they were loaded; one that is initialised comes first.
fn in_some_mpi(name: &CStr) -> Option<NonNull<c_void>> {
    let mut libraries: Vec<Object> = Vec::new();
    let mut seen: Vec<Object> = Vec::new();
    objects::each(&mut |object| {
        if seen.try_reserve(1).is_ok() {
            seen.push(object);
        }
        false
    });
    for object in seen {
        // A function of every MPI that this library does not stand in for; the object may only depend on
        // the one that has it.
        let Some(witness) = object.symbol(c"PMPI_Get_version") else { continue };
        let Some(library) = Object::of(witness.addr().get()) else { continue };
        if libraries.iter().all(|other| other.low != library.low) && libraries.try_reserve(1).is_ok() {
            libraries.push(library);
        }
    }
    let initialised = libraries.iter().find(|library| is_initialised(library));
    initialised.or(libraries.first())?.symbol(name).filter(|&found| !objects::is_ours(found))
}

fn is_initialised(library: &Object) -> bool {
    let Some(function) = library.symbol(c"PMPI_Initialized") else { return false };
    let mut flag = 0;
    // SAFETY: the function of this name has this signature, and may be called at any time (MPI 4.1, section
    // 11.2.1).
    let initialized: unsafe extern "C-unwind" fn(*mut c_int) -> c_int =
        unsafe { std::mem::transmute(function.as_ptr()) };
    // SAFETY: as above.
    unsafe { initialized(&mut flag) == 0 && flag != 0 }
}
