//! The objects (program and libraries) of this process, as the dynamic linker knows them.

use std::ffi::{CStr, c_int, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;
use tmio_api::preloaded;

/// A loaded object: the addresses that it takes, and its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object {
    pub(crate) low: usize,
    pub(crate) length: usize,
    /// Empty for the program itself.
    name: &'static CStr,
}

impl Object {
    /// The object that an address lies in.
    pub(crate) fn of(address: usize) -> Option<Self> {
        let mut found = None;
        each(&mut |object| {
            let hit = object.contains(address);
            if hit {
                found = Some(object);
            }
            hit
        });
        found
    }

    pub(crate) fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.low) < self.length
    }

    pub(crate) fn name(&self) -> &'static CStr {
        self.name
    }

    /// What a symbol of this name is in the object and what it depends on, in the order of the dynamic
    /// linker.
    pub(crate) fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        let path = if self.name.is_empty() { std::ptr::null() } else { self.name.as_ptr() };
        // SAFETY: RTLD_NOLOAD only finds what is loaded already, so that no code runs; the handle is given
        // back, and the object stays, because it was there before.
        unsafe {
            let handle = libc::dlopen(path, libc::RTLD_NOLOAD | libc::RTLD_LAZY);
            if handle.is_null() {
                return None;
            }
            let symbol = NonNull::new(libc::dlsym(handle, name.as_ptr()));
            libc::dlclose(handle);
            symbol
        }
    }

    /// Whether this is our own library.
    pub(crate) fn is_ours(&self) -> bool {
        static OURS: OnceLock<usize> = OnceLock::new();
        let here: fn(&Self) -> bool = Self::is_ours;
        *OURS.get_or_init(|| Self::of(here as usize).map_or(0, |object| object.low)) == self.low
    }
}

/// How many objects were ever loaded: a name that was looked for in vain may be there when this has changed.
pub(crate) fn ever_loaded() -> u64 {
    unsafe extern "C" fn note(info: *mut libc::dl_phdr_info, size: usize, answer: *mut c_void) -> c_int {
        // SAFETY: the linker gives a valid description, and the field is there if the structure is that
        // large.
        unsafe {
            if size >= std::mem::offset_of!(libc::dl_phdr_info, dlpi_adds) + size_of::<libc::c_ulonglong>() {
                *answer.cast::<u64>() = (*info).dlpi_adds;
            }
        }
        1
    }
    let mut answer = 0u64;
    // SAFETY: the callback gets a place that outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut answer).cast()) };
    answer
}

/// Shows every loaded object, in the order in which they were loaded, until the answer is `true`.
pub(crate) fn each(visit: &mut dyn FnMut(Object) -> bool) {
    unsafe extern "C" fn show(info: *mut libc::dl_phdr_info, _: usize, visit: *mut c_void) -> c_int {
        // SAFETY: the linker gives a valid description, and `visit` is the reference given below.
        let (info, visit) = unsafe { (&*info, &mut *visit.cast::<&mut dyn FnMut(Object) -> bool>()) };
        let base = info.dlpi_addr as usize;
        let (mut low, mut high) = (usize::MAX, 0);
        for index in 0..usize::from(info.dlpi_phnum) {
            // SAFETY: there are so many program headers.
            let header = unsafe { &*info.dlpi_phdr.add(index) };
            if header.p_type == libc::PT_LOAD {
                let start = base.wrapping_add(header.p_vaddr as usize);
                low = low.min(start);
                high = high.max(start.wrapping_add(header.p_memsz as usize));
            }
        }
        // SAFETY: a name that is not null is a string that lives as long as the object is loaded.
        let name = if info.dlpi_name.is_null() { c"" } else { unsafe { CStr::from_ptr(info.dlpi_name) } };
        c_int::from(low < high && visit(Object { low, length: high - low, name }))
    }
    let mut visit = visit;
    // SAFETY: the callback gets the reference, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(show), (&raw mut visit).cast()) };
}

/// The next symbol of a name after the object that is preloaded, in the order of the dynamic linker.
pub(crate) fn next_symbol(name: &CStr) -> Option<NonNull<c_void>> {
    NonNull::new(preloaded::next(name)).filter(|&found| !is_ours(found))
}

/// A symbol of a name as the program itself sees it: an executable may have its own copy of a library's data.
pub(crate) fn global_symbol(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: as above.
    NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) })
}

/// Whether an address lies in this library, or in the object that is preloaded.
pub(crate) fn is_ours(address: NonNull<c_void>) -> bool {
    preloaded::contains(address.addr().get())
        || Object::of(address.addr().get()).is_some_and(|object| object.is_ours())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_lies_in_one_object() {
        let here = an_address_lies_in_one_object as fn() as usize;
        let object = Object::of(here).unwrap();
        assert!(object.contains(here) && object.is_ours());
        let libc = Object::of(global_symbol(c"malloc").unwrap().addr().get()).unwrap();
        assert!(!libc.is_ours() && libc.name().to_str().unwrap().contains("libc"));
        assert!(libc.symbol(c"free").is_some() && libc.symbol(c"no such name").is_none());
        assert!(Object::of(16).is_none());
    }
}
