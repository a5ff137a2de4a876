//! The function of the C library, or of another tool, that comes after ours.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::Acquire, Ordering::Release};
use tmio_api::thread;

/// The next function of a name, looked up when it is first needed.
#[derive(Debug)]
pub(super) struct Next {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Next {
    /// `name` ends with its only zero byte.
    pub(super) const fn new(name: &'static str) -> Self {
        let Ok(name) = CStr::from_bytes_with_nul(name.as_bytes()) else { return Self::new("?\0") };
        Self { name, found: AtomicPtr::new(null_mut()) }
    }

    /// Its address. Null: there is none.
    #[inline(always)]
    pub(super) fn get(&self) -> *mut c_void {
        match self.found.load(Acquire) {
            found if found.is_null() => self.find(),
            found => found,
        }
    }

    #[cold]
    #[inline(never)]
    fn find(&self) -> *mut c_void {
        thread::with(|thread| thread.begin_own_work());
        // SAFETY: the call only looks a name up; the error number is the application's.
        let found = unsafe {
            let errno = *libc::__errno_location();
            let found = libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr());
            *libc::__errno_location() = errno;
            found
        };
        thread::with(|thread| thread.end_own_work());
        self.found.store(found, Release);
        found
    }
}

/// What is returned where the C library does not have the function.
pub(super) trait Absent {
    fn absent() -> Self;
}

impl Absent for i32 {
    fn absent() -> Self {
        -1
    }
}

/// A wide character: none.
impl Absent for u32 {
    fn absent() -> Self {
        u32::MAX
    }
}

impl Absent for isize {
    fn absent() -> Self {
        -1
    }
}

impl Absent for usize {
    fn absent() -> Self {
        0
    }
}

impl<T> Absent for *mut T {
    fn absent() -> Self {
        null_mut()
    }
}

impl Absent for () {
    fn absent() -> Self {}
}

/// Exports functions of the C library; each finds the next one of its own name, and runs the body with it.
///
/// Premises of the unsafe code in it: the function of a name has the signature that its manual gives it, and
/// the arguments that it is called with are the application's own. Variadic arguments of integer type are
/// passed like others on the machines that this is made for.
macro_rules! wrappers {
    ($($name:ident ($($argument:ident : $kind:ty),*) -> $result:ty, |$next:ident| $body:expr;)*) => {
        $(
            const _: () = {
                #[cfg_attr(not(test), unsafe(no_mangle))]
                #[allow(clippy::undocumented_unsafe_blocks, unused_unsafe)] // see above
                unsafe extern "C-unwind" fn $name($($argument: $kind),*) -> $result {
                    static NEXT: $crate::posix::next::Next =
                        $crate::posix::next::Next::new(concat!(stringify!($name), "\0"));
                    let function = NEXT.get();
                    if function.is_null() {
                        unsafe { *libc::__errno_location() = libc::ENOSYS };
                        return <$result as $crate::posix::next::Absent>::absent();
                    }
                    let $next: unsafe extern "C-unwind" fn($($kind),*) -> $result =
                        unsafe { std::mem::transmute(function) };
                    unsafe { $body }
                }
                #[cfg(test)]
                const _: unsafe extern "C-unwind" fn($($kind),*) -> $result = $name;
            };
        )*
    };
}
pub(super) use wrappers;
