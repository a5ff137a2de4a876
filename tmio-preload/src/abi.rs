//! Which MPI this is, and what its handles and statuses look like.
//!
//! There are three binary interfaces: Open MPI's (handles are addresses), MPICH's (handles are
//! ints; MPICH, Intel MPI, MVAPICH, Cray MPICH) and that of the MPI-5 standard. All constants that
//! tmio needs are here.

use crate::objects::{self, Object};
use std::ffi::{CStr, c_char, c_int, c_void};

/// A family of MPI libraries with one binary interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Open MPI 4, 5.
    OpenMpi,
    /// MPICH 3 and later, and what is built on it.
    Mpich,
    /// The standard interface of MPI 5.
    Mpi5,
}

/// The constants of a family.
#[derive(Clone, Copy, Debug)]
pub struct Abi {
    pub family: Family,
    pub comm_world: usize,
    pub comm_self: usize,
    pub comm_null: usize,
    pub byte: usize,
    pub long_long: usize,
    pub sum: usize,
    pub min: usize,
    pub request_null: u64,
    /// Bytes of a request handle in an array.
    pub request_size: usize,
    /// `MPI_STATUS_IGNORE` and `MPI_STATUSES_IGNORE`.
    pub status_ignore: usize,
    pub status_size: usize,
    /// Where `MPI_ERROR` is in a status.
    pub status_error: usize,
}

impl Abi {
    /// Finds out which MPI a library is. `None`: none that is known. It is known only by what it says or
    /// has itself: handles that are taken for another's end the job in an MPI that checks them. One whose
    /// `int` has 64 bits is not known: every count and handle would be read wrongly.
    pub(crate) fn detect(library: &Object) -> Option<Self> {
        if library.name().to_bytes().rsplit(|&byte| byte == b'/').next().is_some_and(has_wide_int) {
            return None;
        }
        if library.symbol(c"ompi_mpi_comm_world").is_some() {
            return Self::open_mpi(library);
        }
        if answers_as_mpi5(library) {
            return Some(Self::MPI5);
        }
        let description = library_version(library)?;
        let line = description.split('\n').next().unwrap_or_default().trim_start();
        let mpich =
            ["MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation"].iter().any(|name| line.starts_with(name));
        (mpich || line.contains("CRAY MPICH")).then_some(Self::MPICH)
    }

    fn open_mpi(library: &Object) -> Option<Self> {
        let address = |name: &CStr| {
            let object = objects::global_symbol(name).or_else(|| library.symbol(name))?;
            Some(object.as_ptr().addr())
        };
        Some(Abi {
            family: Family::OpenMpi,
            comm_world: address(c"ompi_mpi_comm_world")?,
            comm_self: address(c"ompi_mpi_comm_self")?,
            comm_null: address(c"ompi_mpi_comm_null")?,
            byte: address(c"ompi_mpi_byte")?,
            long_long: address(c"ompi_mpi_long_long_int")?,
            sum: address(c"ompi_mpi_op_sum")?,
            min: address(c"ompi_mpi_op_min")?,
            request_null: address(c"ompi_request_null")? as u64,
            request_size: 8,
            status_ignore: 0,
            status_size: 24,
            status_error: 8,
        })
    }

    const MPICH: Abi = Abi {
        family: Family::Mpich,
        comm_world: 0x4400_0000,
        comm_self: 0x4400_0001,
        comm_null: 0x0400_0000,
        byte: 0x4c00_010d,
        long_long: 0x4c00_0809,
        sum: 0x5800_0003,
        min: 0x5800_0002,
        request_null: 0x2c00_0000,
        request_size: 4,
        status_ignore: 1,
        status_size: 20,
        status_error: 16,
    };

    const MPI5: Abi = Abi {
        family: Family::Mpi5,
        comm_world: 0x101,
        comm_self: 0x102,
        comm_null: 0x100,
        byte: 0x247,
        long_long: 0x20b,
        sum: 0x21,
        min: 0x22,
        request_null: 0x180,
        request_size: 8,
        status_ignore: 0,
        status_size: 32,
        status_error: 8,
    };

    /// Reads a request handle.
    ///
    /// # Safety
    ///
    /// `requests` points to at least `index + 1` handles of this family.
    #[inline]
    pub unsafe fn request(&self, requests: *const c_void, index: usize) -> u64 {
        // SAFETY: as the caller promises. Handles of four bytes have no meaning beyond them.
        unsafe {
            if self.request_size == 4 {
                u64::from(requests.cast::<u32>().add(index).read_unaligned())
            } else {
                requests.cast::<u64>().add(index).read_unaligned()
            }
        }
    }

    /// Whether a datatype, as it is passed to a function, is `MPI_BYTE`.
    #[inline]
    pub fn is_byte(&self, datatype: usize) -> bool {
        // Of an `int` only the low half is passed.
        let bits = if self.request_size == 4 { 0xffff_ffff } else { usize::MAX };
        datatype & bits == self.byte
    }

    /// The status at `index` of an array.
    #[inline]
    pub fn status(&self, statuses: *mut c_void, index: usize) -> *mut c_void {
        statuses.wrapping_byte_add(index * self.status_size)
    }

    /// The error that a status reports.
    ///
    /// # Safety
    ///
    /// `status` points to a status of this family.
    pub unsafe fn error(&self, status: *const c_void) -> c_int {
        // SAFETY: the field lies inside the status.
        unsafe { status.byte_add(self.status_error).cast::<c_int>().read_unaligned() }
    }
}

/// The function exists in MPICH 5 and Intel MPI also where they speak MPICH's own interface; it
/// then answers −1.
fn answers_as_mpi5(library: &Object) -> bool {
    let Some(function) = library.symbol(c"PMPI_Abi_get_version") else { return false };
    // SAFETY: the function of this name has this signature (MPI 5.0, section 20.2).
    let get_version: unsafe extern "C-unwind" fn(*mut c_int, *mut c_int) -> c_int =
        unsafe { std::mem::transmute(function.as_ptr()) };
    let (mut major, mut minor) = (-1, -1);
    // SAFETY: both places are valid; the function may be called at any time.
    let answer = unsafe { get_version(&mut major, &mut minor) };
    answer == 0 && major >= 1
}

/// Intel's library with 64-bit integers has this in its file name. (So has one of MKL, which is no MPI.)
fn has_wide_int(file_name: &[u8]) -> bool {
    file_name.windows(5).any(|part| part == b"ilp64")
}

/// The library's own description.
pub(crate) fn library_version(library: &Object) -> Option<String> {
    let function = library.symbol(c"PMPI_Get_library_version")?;
    // SAFETY: the function of this name has this signature, and may be called at any time (MPI 4.1, section
    // 9.1.1).
    let get_library_version: unsafe extern "C-unwind" fn(*mut c_char, *mut c_int) -> c_int =
        unsafe { std::mem::transmute(function.as_ptr()) };
    let mut text = [0u8; 8192];
    let mut length = 0;
    // SAFETY: no MPI writes more than 8192 bytes (MPI_MAX_LIBRARY_VERSION_STRING).
    let answer = unsafe { get_library_version(text.as_mut_ptr().cast(), &mut length) };
    let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
    (answer == 0).then(|| String::from_utf8_lossy(text).into_owned())
}

/// How the number of bytes is found in a status without asking MPI: found out by trying, see
/// [`StatusReader::probe`].
///
/// It is in a word of eight bytes: either all of it, or the low 32 bits are the low ones of the number and
/// the high ones those above, shifted left by one (the lowest bit says "cancelled"). Masks instead of a
/// choice: this is done in every call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusReader {
    offset: usize,
    /// Bits of the word that are the number's; none: `MPI_Get_elements_x` has to be asked.
    plain: u64,
    /// Bits of the word shifted right by one that are the number's.
    shifted: u64,
}

impl StatusReader {
    const ASK: Self = Self { offset: 0, plain: 0, shifted: 0 };

    /// A 64-bit count at this offset.
    const fn wide(offset: usize) -> Self {
        Self { offset, plain: u64::MAX, shifted: 0 }
    }

    /// The low 32 bits at this offset, then the high ones shifted left by one.
    const fn split(offset: usize) -> Self {
        Self { offset, plain: 0xffff_ffff, shifted: 0x7fff_ffff_0000_0000 }
    }

    /// Finds the layout by which statuses made with `set_elements` can be read; the layouts of the
    /// known MPIs are tried, and none is believed that does not give back what was put in.
    pub fn probe(set_elements: impl Fn(*mut c_void, i64) -> bool) -> Self {
        let agrees = |reader: Self| {
            [0i64, 7, 0x7fff_ffff, 0x12_3456_789a, 0x7_0000_0001].into_iter().all(|count| {
                let mut status = StatusBuffer::new();
                // SAFETY: the buffer is a status that was just set.
                set_elements(status.pointer(), count)
                    && unsafe { reader.read(status.pointer()) } == Some(count as u64)
            })
        };
        let known = [Self::wide(16), Self::split(0), Self::split(12), Self::wide(24), Self::wide(12)];
        known.into_iter().find(|&reader| agrees(reader)).unwrap_or(Self::ASK)
    }

    /// The number of bytes; `None`: ask MPI.
    ///
    /// # Safety
    ///
    /// `status` points to a status that MPI has filled in.
    #[inline(always)]
    pub unsafe fn read(self, status: *const c_void) -> Option<u64> {
        if self.plain == 0 {
            return None;
        }
        // SAFETY: all offsets lie inside the statuses for which they were found. The kinds of machine that
        // MPIs run on have the low bytes first.
        let word = unsafe { status.byte_add(self.offset).cast::<u64>().read_unaligned() };
        Some(word & self.plain | word >> 1 & self.shifted)
    }
}

/// Room for a status of any MPI, for when the application does not want it.
#[derive(Debug)]
#[repr(align(16))]
pub struct StatusBuffer([u8; 64]);

impl StatusBuffer {
    #[inline]
    pub fn new() -> Self {
        Self([0; 64])
    }

    #[inline]
    pub fn pointer(&mut self) -> *mut c_void {
        (&raw mut self.0).cast()
    }
}

impl Default for StatusBuffer {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_is_believed_only_if_it_gives_back_what_was_put_in() {
        let wide = |status: *mut c_void, count: i64| {
            // SAFETY: the buffer has 64 bytes.
            unsafe { status.byte_add(16).cast::<i64>().write_unaligned(count) };
            true
        };
        assert_eq!(StatusReader::probe(wide), StatusReader::wide(16));
        let split = |status: *mut c_void, count: i64| {
            // SAFETY: the buffer has 64 bytes.
            unsafe {
                status.cast::<u32>().write_unaligned(count as u32);
                status.byte_add(4).cast::<u32>().write_unaligned(((count >> 32) << 1) as u32);
            }
            true
        };
        assert_eq!(StatusReader::probe(split), StatusReader::split(0));
        assert_eq!(StatusReader::probe(|_, _| true), StatusReader::ASK);
    }
}
