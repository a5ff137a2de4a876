//! Finds the function that a wrapper stands in front of.

use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr::{NonNull, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// The next function of a name after this library, looked up at the first call.
#[derive(Debug)]
pub struct Next {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

/// Marks a name that was looked for in vain.
const ABSENT: *mut c_void = std::ptr::without_provenance_mut(1);

impl Next {
    /// The function of this name; `name` ends with its only zero byte.
    pub const fn new(name: &'static str) -> Self {
        let Ok(name) = CStr::from_bytes_with_nul(name.as_bytes()) else { return Self::new("?\0") };
        Self { name, address: AtomicPtr::new(null_mut()) }
    }

    /// Its address; `None`: the MPI that is there does not have it.
    #[inline]
    pub fn get(&self) -> Option<NonNull<c_void>> {
        let address = self.address.load(Relaxed);
        if address.addr() > ABSENT.addr() { NonNull::new(address) } else { self.find(address) }
    }

    #[cold]
    fn find(&self, known: *mut c_void) -> Option<NonNull<c_void>> {
        if known == ABSENT {
            return None;
        }
        let found = function(self.name);
        self.address.store(found.map_or(ABSENT, NonNull::as_ptr), Relaxed);
        found
    }
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
        #[unsafe(no_mangle)]
        #[allow(clippy::undocumented_unsafe_blocks)] // see above
        pub unsafe extern "C-unwind" fn $name($($argument: $kind),*) -> std::ffi::c_int {
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
}
pub(crate) use exported;

/// What is returned when there is no MPI to call: no MPI uses it for success.
pub(crate) const NO_MPI: c_int = 15;

/// A function of this name that is not ours: the next one in the order of the dynamic linker, or
/// else the one of the MPI library, wherever that was loaded.
pub fn function(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: the name ends with a zero; the call only looks names up.
    let next = NonNull::new(unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) });
    next.filter(|&address| !is_ours(address)).or_else(|| in_library(name))
}

/// An object of the MPI library, as the application sees it: an executable may have its own copy.
pub fn data(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: as above.
    NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }).or_else(|| in_library(name))
}

/// Looks in the MPI library itself, for when it was loaded with `RTLD_LOCAL` (as Python does).
fn in_library(name: &CStr) -> Option<NonNull<c_void>> {
    static LIBRARY: OnceLock<Option<usize>> = OnceLock::new();
    let library = (*LIBRARY.get_or_init(find_library))?;
    // SAFETY: the handle was given by dlopen and is never closed.
    let found = unsafe { libc::dlsym(std::ptr::without_provenance_mut(library), name.as_ptr()) };
    NonNull::new(found).filter(|&address| !is_ours(address))
}

/// The handle of the loaded object in which the MPI functions are.
fn find_library() -> Option<usize> {
    // A function of every MPI that this library does not stand in for.
    const WITNESS: &CStr = c"PMPI_Get_version";
    loaded_objects().iter().find_map(|path| {
        let object = reopen(path)?;
        // SAFETY: the handle is open.
        let witness = NonNull::new(unsafe { libc::dlsym(object, WITNESS.as_ptr()) });
        let library = witness.and_then(|address| reopen(&object_of(address)?.1));
        // The object may only depend on the one that has the function.
        // SAFETY: the handle was given by dlopen just now.
        unsafe { libc::dlclose(object) };
        library.map(|handle| handle.addr())
    })
}

fn reopen(path: &CStr) -> Option<*mut c_void> {
    // SAFETY: RTLD_NOLOAD only finds what is loaded already; no code runs.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
    (!handle.is_null()).then_some(handle)
}

/// Paths of everything that the dynamic linker has loaded.
pub fn loaded_objects() -> Vec<CString> {
    unsafe extern "C" fn note(info: *mut libc::dl_phdr_info, _: usize, paths: *mut c_void) -> c_int {
        // SAFETY: the linker gives a valid description, and `paths` is the vector given below.
        let (info, paths) = unsafe { (&*info, &mut *paths.cast::<Vec<CString>>()) };
        if !info.dlpi_name.is_null() {
            // SAFETY: a name that is not null is a string.
            let path = unsafe { CStr::from_ptr(info.dlpi_name) };
            if !path.is_empty() {
                paths.push(path.to_owned());
            }
        }
        0
    }
    let mut paths: Vec<CString> = Vec::new();
    // SAFETY: the callback gets the vector, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut paths).cast()) };
    paths
}

/// Whether an address lies in this library.
fn is_ours(address: NonNull<c_void>) -> bool {
    static BASE: OnceLock<usize> = OnceLock::new();
    let marker: fn(NonNull<c_void>) -> bool = is_ours;
    let ours = *BASE
        .get_or_init(|| NonNull::new(marker as *mut c_void).and_then(object_of).map_or(0, |(base, _)| base));
    object_of(address).is_some_and(|(base, _)| base == ours)
}

/// Base address and path of the object that an address lies in.
fn object_of(address: NonNull<c_void>) -> Option<(usize, CString)> {
    // SAFETY: a zeroed Dl_info is a valid place for the answer; any address may be asked for; the
    // name that comes back is a string that lives as long as the object is loaded.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address.as_ptr(), &mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        Some((info.dli_fbase.addr(), CStr::from_ptr(info.dli_fname).to_owned()))
    }
}
