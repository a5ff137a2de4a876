//! What is known about the MPI of this process once `MPI_Init` has returned, and the functions of
//! it that tmio itself calls.

use crate::abi::{self, Abi, StatusReader};
use crate::errors::{self, went_well};
use crate::next;
use crate::objects::Object;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};

macro_rules! mpi_functions {
    ($($field:ident = $name:literal ($($argument:ty),*);)*) => {
        /// Functions of MPI that tmio calls, by their profiling names, past all wrappers.
        pub(crate) struct Mpi {
            $(pub(crate) $field: unsafe extern "C-unwind" fn($($argument),*) -> c_int,)*
        }

        impl Mpi {
            /// `None`: one of them is missing.
            fn find(library: &Object) -> Option<Self> {
                Some(Self {
                    $($field: {
                        let function = library.symbol($name)?;
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
/// Where a request is; a word has room for that of every MPI.
type Request = *mut u64;

mpi_functions! {
    comm_rank = c"PMPI_Comm_rank" (Handle, *mut c_int);
    comm_size = c"PMPI_Comm_size" (Handle, *mut c_int);
    comm_dup = c"PMPI_Comm_dup" (Handle, *mut Handle);
    comm_idup = c"PMPI_Comm_idup" (Handle, *mut Handle, Request);
    comm_free = c"PMPI_Comm_free" (*mut Handle);
    comm_get_parent = c"PMPI_Comm_get_parent" (*mut Handle);
    comm_create_errhandler = c"PMPI_Comm_create_errhandler" (Buffer, *mut Handle);
    comm_get_errhandler = c"PMPI_Comm_get_errhandler" (Handle, *mut Handle);
    comm_set_errhandler = c"PMPI_Comm_set_errhandler" (Handle, Handle);
    comm_create_keyval = c"PMPI_Comm_create_keyval" (Buffer, Buffer, *mut c_int, Buffer);
    comm_set_attr = c"PMPI_Comm_set_attr" (Handle, c_int, Buffer);
    ibarrier = c"PMPI_Ibarrier" (Handle, Request);
    ibcast = c"PMPI_Ibcast" (Buffer, c_int, Handle, c_int, Handle, Request);
    iexscan = c"PMPI_Iexscan" (Buffer, Buffer, c_int, Handle, Handle, Handle, Request);
    iallreduce = c"PMPI_Iallreduce" (Buffer, Buffer, c_int, Handle, Handle, Handle, Request);
    igather = c"PMPI_Igather" (Buffer, c_int, Handle, Buffer, c_int, Handle, c_int, Handle, Request);
    iscatter = c"PMPI_Iscatter" (Buffer, c_int, Handle, Buffer, c_int, Handle, c_int, Handle, Request);
    isend = c"PMPI_Isend" (Buffer, c_int, Handle, c_int, c_int, Handle, Request);
    iprobe = c"PMPI_Iprobe" (c_int, c_int, Handle, *mut c_int, Buffer);
    irecv = c"PMPI_Irecv" (Buffer, c_int, Handle, c_int, c_int, Handle, Request);
    test = c"PMPI_Test" (Request, *mut c_int, Buffer);
    get_elements_x = c"PMPI_Get_elements_x" (Buffer, Handle, *mut i64);
    status_set_elements_x = c"PMPI_Status_set_elements_x" (Buffer, Handle, i64);
    type_size_x = c"PMPI_Type_size_x" (Handle, *mut i64);
}

/// What every call needs lies together in front.
#[repr(C, align(64))]
pub(crate) struct Tracer {
    status: StatusReader,
    /// `MPI_STATUS_IGNORE`.
    pub(crate) status_ignore: usize,
    pub(crate) abi: Abi,
    pub(crate) mpi: Mpi,
    pub(crate) library: Object,
    /// A duplicate of `MPI_COMM_SELF`; 0: there is none.
    own_self: AtomicUsize,
}

static TRACER: OnceLock<Tracer> = OnceLock::new();

/// The tracer, once MPI is initialised.
#[inline]
pub(crate) fn get() -> Option<&'static Tracer> {
    TRACER.get()
}

/// The MPI that a call from the object of `caller` reaches, by a function that neither tools nor another copy
/// of this library stand in for.
fn library(caller: usize) -> Option<Object> {
    Object::of(next::function(c"PMPI_Get_version", caller)?.addr().get())
}

/// Finds out about the MPI that was initialised by `caller`.
pub(crate) fn set_up(caller: usize) -> Option<&'static Tracer> {
    let library = library(caller)?;
    let abi = Abi::detect(&library)?;
    let mpi = Mpi::find(&library)?;
    let status = StatusReader::probe(|status, count| {
        // SAFETY: the buffer is large enough for a status of any MPI.
        unsafe { (mpi.status_set_elements_x)(status, abi.byte, count) == 0 }
    });
    let own_self = AtomicUsize::new(0);
    let status_ignore = abi.status_ignore;
    Some(TRACER.get_or_init(|| Tracer { status, status_ignore, abi, mpi, library, own_self }))
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

    /// Makes what [`progress`](Self::progress) needs; at init, with [errors kept quiet](errors::Quiet).
    pub(crate) fn prepare_progress(&self) {
        let Some(handler) = errors::handler(self) else { return };
        let mut own = 0usize;
        // SAFETY: MPI is initialised; the place is valid. Nobody but this process is in the communicator.
        let made = unsafe {
            went_well(|| (self.mpi.comm_dup)(self.abi.comm_self, &mut own))
                && went_well(|| (self.mpi.comm_set_errhandler)(own, handler))
        };
        if made {
            self.own_self.store(own, Release);
        }
    }

    /// Gives that back; at the end.
    pub(crate) fn end_progress(&self) {
        let mut own = self.own_self.swap(0, AcqRel);
        if own != 0 {
            // SAFETY: MPI is not finalised, and the communicator is ours.
            unsafe { (self.mpi.comm_free)(&mut own) };
        }
    }

    /// Lets MPI work on what is under way, as any call of it does, while a data operation waits. Where there
    /// is no communicator of our own for it, MPI does not work before the application calls it again.
    pub(crate) fn progress(&self) {
        match self.own_self.load(Acquire) {
            0 => {}
            // SAFETY: the calling thread is inside a call of MPI that the application has made, so that it
            // may make one, and the communicator is ours.
            own => unsafe { self.probe(own) },
        }
    }

    /// The same at init and at the end, with [errors kept quiet](errors::Quiet).
    pub(crate) fn progress_at_border(&self) {
        // SAFETY: MPI is initialised and not finalised.
        unsafe { self.probe(self.abi.comm_self) };
    }

    /// Asks whether this process has sent itself a message. The answer does not matter, and no message is
    /// taken.
    ///
    /// # Safety
    ///
    /// The calling thread may call MPI, and the communicator has one member.
    unsafe fn probe(&self, comm: usize) {
        let mut flag = 0;
        let ignore = std::ptr::without_provenance_mut(self.status_ignore);
        // SAFETY: as the caller promises; the place for the answer is valid.
        unsafe { (self.mpi.iprobe)(0, 0, comm, &mut flag, ignore) };
    }

    /// Bytes that `count` elements of a datatype are.
    #[inline]
    pub(crate) fn type_bytes(&self, datatype: usize, count: i64) -> u64 {
        if self.abi.is_byte(datatype) || count == 0 {
            return u64::try_from(count).unwrap_or(0);
        }
        self.ask_type_bytes(datatype, count)
    }

    fn ask_type_bytes(&self, datatype: usize, count: i64) -> u64 {
        let mut size = 0i64;
        // SAFETY: the datatype is one that the application has just given to MPI.
        let answer = unsafe { (self.mpi.type_size_x)(datatype, &mut size) };
        if answer == 0 { u64::try_from(size.saturating_mul(count)).unwrap_or(0) } else { 0 }
    }

    /// The first line of the library's own description.
    pub(crate) fn library_version(&self) -> String {
        let text = abi::library_version(&self.library).unwrap_or_default();
        text.lines().next().unwrap_or_default().trim().to_owned()
    }
}
