//! What is known about the MPI of this process once `MPI_Init` has returned, and the functions of
//! it that tmio itself calls.

use crate::abi::{Abi, StatusReader};
use crate::next;
use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

macro_rules! mpi_functions {
    ($($field:ident = $name:literal ($($argument:ty),*);)*) => {
        /// Functions of MPI that tmio calls, by their profiling names, past all wrappers.
        pub(crate) struct Mpi {
            $(pub(crate) $field: unsafe extern "C-unwind" fn($($argument),*) -> c_int,)*
        }

        impl Mpi {
            /// `None`: one of them is missing.
            fn find() -> Option<Self> {
                Some(Self {
                    $($field: {
                        let function = next::function($name)?;
                        // SAFETY: the function of this name has this signature in the MPI
                        // standard; handles of four bytes are passed in the low half of a word.
                        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C-unwind" fn($($argument),*) -> c_int>(function.as_ptr()) }
                    },)*
                })
            }
        }
    };
}

type Handle = usize;
type Buffer = *mut c_void;

mpi_functions! {
    comm_rank = c"PMPI_Comm_rank" (Handle, *mut c_int);
    comm_size = c"PMPI_Comm_size" (Handle, *mut c_int);
    comm_dup = c"PMPI_Comm_dup" (Handle, *mut Handle);
    comm_free = c"PMPI_Comm_free" (*mut Handle);
    comm_get_parent = c"PMPI_Comm_get_parent" (*mut Handle);
    comm_create_errhandler = c"PMPI_Comm_create_errhandler" (Buffer, *mut Handle);
    comm_set_errhandler = c"PMPI_Comm_set_errhandler" (Handle, Handle);
    comm_create_keyval = c"PMPI_Comm_create_keyval" (Buffer, Buffer, *mut c_int, Buffer);
    comm_set_attr = c"PMPI_Comm_set_attr" (Handle, c_int, Buffer);
    bcast = c"PMPI_Bcast" (Buffer, c_int, Handle, c_int, Handle);
    exscan = c"PMPI_Exscan" (Buffer, Buffer, c_int, Handle, Handle, Handle);
    allreduce = c"PMPI_Allreduce" (Buffer, Buffer, c_int, Handle, Handle, Handle);
    allgather = c"PMPI_Allgather" (Buffer, c_int, Handle, Buffer, c_int, Handle, Handle);
    send = c"PMPI_Send" (Buffer, c_int, Handle, c_int, c_int, Handle);
    recv = c"PMPI_Recv" (Buffer, c_int, Handle, c_int, c_int, Handle, Buffer);
    get_elements_x = c"PMPI_Get_elements_x" (Buffer, Handle, *mut i64);
    status_set_elements_x = c"PMPI_Status_set_elements_x" (Buffer, Handle, i64);
    type_size_x = c"PMPI_Type_size_x" (Handle, *mut i64);
    get_library_version = c"PMPI_Get_library_version" (*mut c_char, *mut c_int);
}

/// What every call needs lies together in front.
#[repr(C, align(64))]
pub(crate) struct Tracer {
    status: StatusReader,
    /// `MPI_STATUS_IGNORE`.
    pub(crate) status_ignore: usize,
    pub(crate) abi: Abi,
    pub(crate) mpi: Mpi,
}

static TRACER: OnceLock<Tracer> = OnceLock::new();

/// The tracer, once MPI is initialised.
#[inline]
pub(crate) fn get() -> Option<&'static Tracer> {
    TRACER.get()
}

/// Finds out about the MPI of this process.
pub(crate) fn set_up() -> Option<&'static Tracer> {
    let abi = Abi::detect()?;
    let mpi = Mpi::find()?;
    let status = StatusReader::probe(|status, count| {
        // SAFETY: the buffer is large enough for a status of any MPI.
        unsafe { (mpi.status_set_elements_x)(status, abi.byte, count) == 0 }
    });
    Some(TRACER.get_or_init(|| Tracer { status, status_ignore: abi.status_ignore, abi, mpi }))
}

impl Tracer {
    /// Bytes that an operation transferred.
    ///
    /// # Safety
    ///
    /// `status` points to a status that MPI has filled in.
    #[inline(always)]
    pub(crate) unsafe fn bytes(&self, status: *mut c_void) -> u64 {
        // SAFETY: as the caller promises.
        match unsafe { self.status.read(status) } {
            Some(bytes) => bytes,
            // SAFETY: as the caller promises.
            None => unsafe { self.ask_bytes(status) },
        }
    }

    #[cold]
    #[inline(never)]
    unsafe fn ask_bytes(&self, status: *mut c_void) -> u64 {
        let mut bytes = 0i64;
        // SAFETY: the status is filled in and the place for the answer is valid.
        let answer = unsafe { (self.mpi.get_elements_x)(status, self.abi.byte, &mut bytes) };
        if answer == 0 { u64::try_from(bytes).unwrap_or(0) } else { 0 }
    }

    /// Bytes that `count` elements of a datatype are.
    pub(crate) fn type_bytes(&self, datatype: usize, count: i64) -> u64 {
        let mut size = 0i64;
        // SAFETY: the datatype is one that the application has just given to MPI.
        let answer = unsafe { (self.mpi.type_size_x)(datatype, &mut size) };
        if answer == 0 { u64::try_from(size.saturating_mul(count)).unwrap_or(0) } else { 0 }
    }

    /// The first line of the library's own description.
    pub(crate) fn library_version(&self) -> String {
        let mut text = [0u8; 8192];
        let mut length = 0;
        // SAFETY: no MPI writes more than 8192 bytes (MPI_MAX_LIBRARY_VERSION_STRING).
        let answer = unsafe { (self.mpi.get_library_version)(text.as_mut_ptr().cast(), &mut length) };
        let line = text.split(|&byte| byte == 0 || byte == b'\n').next().unwrap_or_default();
        if answer == 0 { String::from_utf8_lossy(line).trim().to_owned() } else { String::new() }
    }
}
