//! Where there is no MPI, nobody finds one of ours.
//!
//! A program may use MPI only if it is there, and find out by a weak reference, or at run time. Preloaded
//! into such a program where it is not, our functions would be found. So the names of MPI in our own symbol
//! table are taken out when the library is loaded into a program without MPI, before the program itself is
//! bound to anything; and put back before the program first loads something at run time, which may be an
//! MPI (Python does).
//!
//! The names of POSIX and of C streams are taken out as well, and for good, unless the environment asks for
//! these layers, or says nothing about layers and the program is one of MPI: because it is linked to it, or
//! because a launcher has made it a rank (Python loads MPI later). A program that is traced for its MPI-IO
//! alone, or not at all, reaches the C library as if we were not there.
//!
//! Whether there is an MPI is told by the names of the loaded objects. If that is wrong, nothing breaks: a
//! program whose MPI has an unusual name is not traced.

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut, read_volatile};
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};

// An indirect function is resolved when the library is relocated. Libraries come before the program.
std::arch::global_asm!(
    ".pushsection .text.tmio_at_load, \"ax\", @progbits",
    ".type tmio_at_load, @gnu_indirect_function",
    "tmio_at_load:",
    "jmp {resolve}",
    ".size tmio_at_load, . - tmio_at_load",
    ".popsection",
    ".pushsection .data.rel.ro.tmio_resolved, \"aw\", @progbits",
    ".globl tmio_resolved",
    ".hidden tmio_resolved",
    ".p2align 3",
    "tmio_resolved: .quad tmio_at_load",
    ".size tmio_resolved, 8",
    ".popsection",
    resolve = sym at_load,
);

unsafe extern "C" {
    static tmio_resolved: usize;
    static _DYNAMIC: [Dynamic; 0];
    static __ehdr_start: u8;
    static _r_debug: Debug;
    /// Where the kernel has put the arguments and the environment of the program.
    static __libc_stack_end: *const usize;
}

#[repr(C)]
struct Dynamic {
    tag: i64,
    value: usize,
}

/// What the dynamic linker tells debuggers (link.h).
#[repr(C)]
struct Debug {
    version: i32,
    map: *const Map,
}

#[repr(C)]
struct Map {
    base: usize,
    name: *const c_char,
    dynamic: *const Dynamic,
    next: *const Map,
}

const VISIBLE: u8 = 0;
const HIDDEN: u8 = 1;
const CHANGING: u8 = 2;
static STATE: AtomicU8 = AtomicU8::new(VISIBLE);
static SYSTEM_STATE: AtomicU8 = AtomicU8::new(VISIBLE);

/// Whether nobody finds our functions of POSIX and C streams.
pub(crate) fn hides_system() -> bool {
    SYSTEM_STATE.load(Acquire) == HIDDEN
}

/// Runs while the library is being relocated: no function of another library may be called, and no constant
/// data that holds addresses used.
extern "C" fn at_load() -> usize {
    // SAFETY: the linker's list of objects is complete and nobody else runs yet; names are strings.
    unsafe {
        let mut map = (&raw const _r_debug.map).read();
        let mut any = false;
        while !map.is_null() {
            any |= is_named_like_mpi((*map).name);
            map = (*map).next;
        }
        if !any && change(Change::Hide, Names::Mpi) {
            STATE.store(HIDDEN, Release);
        }
        let wanted = match asked_layers() {
            Asked::Nothing => any,
            Asked::Rank => true,
            Asked::More => true,
            Asked::MpiIo => false,
        };
        if !wanted && change(Change::Hide, Names::System) {
            SYSTEM_STATE.store(HIDDEN, Release);
        }
    }
    1
}

/// What the environment of the program says about layers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// Nothing.
    Nothing,
    /// Nothing, but a launcher says that the process is a rank.
    Rank,
    /// `TMIO_LAYERS` has "posix" or "stdio" in it.
    More,
    /// `TMIO_LAYERS` has neither.
    MpiIo,
}

/// By which launchers tell a process that it is a rank: [`launcher`](crate::launcher) has the same.
static RANKS: [[u8; 21]; 6] = [
    *b"PMIX_RANK=\0\0\0\0\0\0\0\0\0\0\0",
    *b"PMI_RANK=\0\0\0\0\0\0\0\0\0\0\0\0",
    *b"OMPI_COMM_WORLD_RANK=",
    *b"PALS_RANKID=\0\0\0\0\0\0\0\0\0",
    *b"FLUX_TASK_RANK=\0\0\0\0\0\0",
    *b"SLURM_PROCID=\0\0\0\0\0\0\0\0",
];

/// # Safety
///
/// The program has not begun yet.
unsafe fn asked_layers() -> Asked {
    static LAYERS: [u8; 12] = *b"TMIO_LAYERS=";
    let mut answer = Asked::Nothing;
    // SAFETY: the number of arguments, the arguments, a zero, the variables, a zero.
    unsafe {
        let begin = (&raw const __libc_stack_end).read();
        if begin.is_null() {
            return Asked::MpiIo;
        }
        let mut place = begin.add(*begin + 2);
        while *place != 0 {
            let variable: *const u8 = std::ptr::with_exposed_provenance(*place);
            if begins_with(variable, (&raw const LAYERS).cast(), 12) {
                return if has_more_layers(variable.add(12)) { Asked::More } else { Asked::MpiIo };
            }
            let mut index = 0;
            while index < 6 {
                if begins_with(variable, (&raw const RANKS).cast::<u8>().add(21 * index), 21) {
                    answer = Asked::Rank;
                }
                index += 1;
            }
            place = place.add(1);
        }
    }
    answer
}

/// Whether a string begins with another, which ends after `most` bytes or with a zero.
///
/// # Safety
///
/// They are such strings.
unsafe fn begins_with(text: *const u8, start: *const u8, most: usize) -> bool {
    let mut index = 0;
    while index < most {
        // Volatile: a loop over bytes must not become a call.
        // SAFETY: the strings have not ended yet where the next byte is looked at.
        let (byte, wanted) = unsafe { (read_volatile(text.add(index)), read_volatile(start.add(index))) };
        if wanted == 0 {
            return true;
        }
        if byte != wanted {
            return false;
        }
        index += 1;
    }
    true
}

/// # Safety
///
/// It is a string.
unsafe fn has_more_layers(mut text: *const u8) -> bool {
    static POSIX: [u8; 5] = *b"posix";
    static STDIO: [u8; 5] = *b"stdio";
    // SAFETY: the string has not ended yet where the next byte is looked at.
    unsafe {
        while read_volatile(text) != 0 {
            if begins_with(text, (&raw const POSIX).cast(), 5)
                || begins_with(text, (&raw const STDIO).cast(), 5)
            {
                return true;
            }
            text = text.add(1);
        }
    }
    false
}

/// Names in our symbol table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// Functions of MPI.
    Mpi,
    /// Functions of the system and of C streams.
    System,
}

/// Whether the last part of a path has "mpi" or "mpt" in it.
///
/// # Safety
///
/// It is null or a string.
unsafe fn is_named_like_mpi(path: *const c_char) -> bool {
    let mut place = path.cast::<u8>();
    let mut found = false;
    let (mut before, mut last) = (0u8, 0u8);
    while !place.is_null() {
        // Volatile: a loop over bytes must not become a call.
        // SAFETY: the string has not ended yet.
        let byte = unsafe { read_volatile(place) };
        match byte {
            0 => return found,
            b'/' => found = false,
            b'i' | b't' if before == b'm' && last == b'p' => found = true,
            _ => {}
        }
        (before, last) = (last, byte);
        place = place.wrapping_add(1);
    }
    false
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Hide,
    Show,
}

#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

/// Takes the names of MPI out of our symbol table, or puts them back. A name without a value is no
/// definition; the value is kept where the size was.
///
/// # Safety
///
/// One at a time.
unsafe fn change(change: Change, names: Names) -> bool {
    const PAGE: usize = 4096;
    const STRINGS: i64 = 5;
    const SYMBOLS: i64 = 6;
    const HASHES: i64 = 0x6fff_fef5;
    // SAFETY: these are our own tables, as the linker has made them (ELF, System V ABI). Addresses in the
    // dynamic section are relative to the base, or have been made absolute already.
    unsafe {
        let base = (&raw const __ehdr_start).addr();
        let find = |tag: i64| {
            let mut entry = (&raw const _DYNAMIC).cast::<Dynamic>();
            while (*entry).tag != 0 {
                if (*entry).tag == tag {
                    let value = (*entry).value;
                    return if value < base { base + value } else { value };
                }
                entry = entry.add(1);
            }
            0
        };
        let (strings, symbols, hashes) = (find(STRINGS), find(SYMBOLS), find(HASHES));
        if strings == 0 || symbols == 0 || hashes == 0 {
            return false;
        }
        let count = symbol_count(hashes);
        let (first, end) =
            (symbols & !(PAGE - 1), (symbols + count * size_of::<Symbol>()).next_multiple_of(PAGE));
        if count == 0 || !is_plain_data(base, first, end) || !protect(first, end, true) {
            return false;
        }
        for index in 1..count {
            let symbol = std::ptr::with_exposed_provenance_mut::<Symbol>(symbols).add(index);
            let name = std::ptr::with_exposed_provenance::<u8>(strings + (*symbol).name as usize);
            let name = if read_volatile(name) == b'P' { name.add(1) } else { name };
            let of_mpi = read_volatile(name) == b'M'
                && read_volatile(name.add(1)) == b'P'
                && read_volatile(name.add(2)) == b'I'
                && read_volatile(name.add(3)) == b'_';
            let of_ours = |first: u8, second: u8, third: u8, fourth: u8| {
                read_volatile(name) == first
                    && read_volatile(name.add(1)) == second
                    && read_volatile(name.add(2)) == third
                    && read_volatile(name.add(3)) == fourth
            };
            // iotrace_…, dlopen.
            let kept = of_mpi || of_ours(b'i', b'o', b't', b'r') || of_ours(b'd', b'l', b'o', b'p');
            let meant = if names == Names::Mpi { of_mpi } else { !kept };
            if meant && (*symbol).section != 0 {
                match change {
                    Change::Hide => ((*symbol).size, (*symbol).value) = ((*symbol).value, 0),
                    Change::Show => (*symbol).value = (*symbol).size,
                }
            }
        }
        protect(first, end, false);
    }
    true
}

/// Number of symbols, which only the hash table tells.
///
/// # Safety
///
/// It is the address of a table of the GNU kind.
unsafe fn symbol_count(table: usize) -> usize {
    // SAFETY: as the caller promises: a head of four words, a filter of eight-byte words, buckets, chains.
    unsafe {
        let words = std::ptr::with_exposed_provenance::<u32>(table);
        let (buckets, offset, filter) = (*words as usize, *words.add(1) as usize, *words.add(2) as usize);
        let bucket = words.add(4 + 2 * filter);
        let mut last = 0;
        for index in 0..buckets {
            last = last.max(*bucket.add(index) as usize);
        }
        if last < offset {
            return 0;
        }
        let chain = bucket.add(buckets);
        while *chain.add(last - offset) & 1 == 0 {
            last += 1;
        }
        last + 1
    }
}

/// Whether a range of ours is in a segment that may only be read.
///
/// # Safety
///
/// `base` is where our ELF header is.
unsafe fn is_plain_data(base: usize, first: usize, end: usize) -> bool {
    // SAFETY: the header says where the program headers are and how many.
    unsafe {
        let header = std::ptr::with_exposed_provenance::<libc::Elf64_Ehdr>(base);
        let mut segment =
            std::ptr::with_exposed_provenance::<libc::Elf64_Phdr>(base + (*header).e_phoff as usize);
        for _ in 0..(*header).e_phnum {
            let (low, length) = (base + (*segment).p_vaddr as usize, (*segment).p_memsz as usize);
            if (*segment).p_type == libc::PT_LOAD
                && low <= first
                && end <= (low + length).next_multiple_of(4096)
            {
                return (*segment).p_flags == libc::PF_R;
            }
            segment = segment.add(1);
        }
    }
    false
}

/// Makes pages of ours writable, or not any more. A system call of our own: the C library may not be bound
/// yet.
unsafe fn protect(first: usize, end: usize, writable: bool) -> bool {
    let how = libc::PROT_READ | if writable { libc::PROT_WRITE } else { 0 };
    let mut answer = libc::SYS_mprotect;
    // SAFETY: the pages hold our symbol table and nothing that runs.
    unsafe {
        std::arch::asm!(
            "syscall",
            inout("rax") answer,
            in("rdi") first,
            in("rsi") end - first,
            in("rdx") how,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    answer == 0
}

/// Puts the names of MPI back.
fn show() {
    // Read, so that the linker keeps what is done when the library is loaded.
    // SAFETY: a word that the dynamic linker has filled in.
    if unsafe { read_volatile(&raw const tmio_resolved) } == 0 {
        return;
    }
    loop {
        match STATE.compare_exchange(HIDDEN, CHANGING, AcqRel, Acquire) {
            Ok(_) => {
                // SAFETY: nobody else is here.
                unsafe { change(Change::Show, Names::Mpi) };
                STATE.store(VISIBLE, Release);
                return;
            }
            Err(VISIBLE) => return,
            Err(_) => std::hint::spin_loop(),
        }
    }
}

/// Comes before the C library's, and goes on to it as if it had never been: that one looks at who calls.
///
/// # Safety
///
/// As for `dlopen`.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn dlopen(_path: *const c_char, _mode: i32) -> *mut c_void {
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {before}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        before = sym before_dlopen,
    )
}

/// Gives the address of the next `dlopen`.
extern "C" fn before_dlopen(path: *const c_char) -> *const c_void {
    static NEXT: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
    if !path.is_null() {
        show();
    }
    let mut next = NEXT.load(Acquire);
    if next.is_null() {
        // SAFETY: the call only looks a name up.
        next = unsafe { libc::dlsym(libc::RTLD_NEXT, c"dlopen".as_ptr()) };
        NEXT.store(next, Release);
    }
    let nothing: extern "C" fn() -> *const c_void = nothing;
    if next.is_null() { nothing as *const c_void } else { next }
}

extern "C" fn nothing() -> *const c_void {
    null()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_read_without_the_c_library() {
        // SAFETY: these are strings.
        let begins = |text: &std::ffi::CStr, start: &[u8]| unsafe {
            begins_with(text.as_ptr().cast(), start.as_ptr(), start.len())
        };
        for (variable, rank) in [(c"PMI_RANK=3", 1), (c"OMPI_COMM_WORLD_RANK=0", 2), (c"SLURM_PROCID=12", 5)]
        {
            let hits: Vec<usize> =
                (0..RANKS.len()).filter(|&index| begins(variable, &RANKS[index])).collect();
            assert_eq!(hits, [rank]);
        }
        assert!(!RANKS.iter().any(|name| begins(c"PMI_RANKS=3", name) || begins(c"", name)));
        // SAFETY: as above.
        let more = |text: &std::ffi::CStr| unsafe { has_more_layers(text.as_ptr().cast()) };
        assert!(more(c"mpiio,posix") && more(c"stdio") && !more(c"mpiio") && !more(c"") && !more(c"posi"));
    }

    #[test]
    fn an_mpi_is_known_by_its_name() {
        // SAFETY: these are strings.
        let named = |path: &std::ffi::CStr| unsafe { is_named_like_mpi(path.as_ptr()) };
        assert!(named(c"/lib/libmpi.so.40") && named(c"libmpich.so.12") && named(c"/opt/sgi/libmpt.so"));
        assert!(!named(c"/opt/mpi/libc.so.6") && !named(c"") && !named(c"linux-vdso.so.1"));
        // SAFETY: null is none.
        assert!(unsafe { !is_named_like_mpi(null()) });
    }
}
