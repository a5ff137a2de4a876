//! What is decided when the object is loaded, before the program is bound to anything.
//!
//! A program may use MPI only if it is there, and find out by a weak reference or at run time. So where no
//! object defines MPI, nobody finds our functions of it; they come back before the program first loads
//! something at run time, which may be an MPI (Python does).
//!
//! Functions of the C library are found only where they may be needed: if the environment asks for the layers
//! posix or stdio, or if it says nothing about layers and the program is one of MPI, because it is linked to
//! it or because a launcher has made it a rank. Everywhere else the program reaches the C library as if we
//! were not there.
//!
//! A name is taken out of our hash table by changing one bit of its hash, and put back by changing it again.
//! The table lies on the one page of ours that is written at load in any case (layout.ld).

use crate::elf::{self, Dynamic, Kind, Name, Object};
use core::ffi::CStr;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicUsize};

#[cfg(tmio_object)]
mod at_load {
    // An indirect function is resolved when its object is relocated: libraries come before the program. It
    // gets the address of the dynamic linker's code that calls it.
    #[cfg(target_arch = "x86_64")]
    core::arch::global_asm!(
        ".pushsection .text.tmio_at_load, \"ax\", @progbits",
        ".type tmio_at_load, @gnu_indirect_function",
        "tmio_at_load:",
        "mov rdi, qword ptr [rsp]",
        "jmp {decide}",
        ".size tmio_at_load, . - tmio_at_load",
        ".popsection",
        ".pushsection .data.tmio_loaded, \"aw\", @progbits",
        ".globl tmio_loaded",
        ".hidden tmio_loaded",
        ".p2align 3",
        "tmio_loaded: .quad tmio_at_load",
        ".size tmio_loaded, 8",
        ".popsection",
        decide = sym super::decide,
    );

    #[cfg(target_arch = "aarch64")]
    core::arch::global_asm!(
        ".pushsection .text.tmio_at_load, \"ax\", @progbits",
        ".type tmio_at_load, @gnu_indirect_function",
        "tmio_at_load:",
        "mov x0, x30",
        "b {decide}",
        ".size tmio_at_load, . - tmio_at_load",
        ".popsection",
        ".pushsection .data.tmio_loaded, \"aw\", @progbits",
        ".globl tmio_loaded",
        ".hidden tmio_loaded",
        ".p2align 3",
        "tmio_loaded: .xword tmio_at_load",
        ".size tmio_loaded, 8",
        ".popsection",
        decide = sym super::decide,
    );
}

unsafe extern "C" {
    static _DYNAMIC: [Dynamic; 0];
    static __ehdr_start: u8;
    #[cfg(tmio_object)]
    static tmio_mpi_names: u8;
    #[cfg(tmio_object)]
    static tmio_mpi_names_end: u8;
    #[cfg(tmio_object)]
    static tmio_system_names: u8;
    #[cfg(tmio_object)]
    static tmio_system_names_end: u8;
}

/// This object, and the last one that was there at the start. Those between them are never unloaded.
static MINE: AtomicPtr<Object> = AtomicPtr::new(core::ptr::null_mut());
static LAST: AtomicPtr<Object> = AtomicPtr::new(core::ptr::null_mut());
static FIRST: AtomicPtr<Object> = AtomicPtr::new(core::ptr::null_mut());
/// Where the dynamic linker is.
static LINKER: AtomicUsize = AtomicUsize::new(0);
/// The first argument of the program, the first variable of its environment, and the auxiliary vector. Found
/// before the program runs, which may put a 0 in any of the lists.
static ARGUMENTS: AtomicUsize = AtomicUsize::new(0);
static VARIABLES: AtomicUsize = AtomicUsize::new(0);
static AUXILIARY: AtomicUsize = AtomicUsize::new(0);

const VISIBLE: u8 = 0;
const HIDDEN: u8 = 1;
const CHANGING: u8 = 2;
/// Hidden for good.
const ABSENT: u8 = 3;
static MPI_NAMES: AtomicU8 = AtomicU8::new(VISIBLE);
static SYSTEM_NAMES: AtomicU8 = AtomicU8::new(VISIBLE);

/// The environment asks for the layers posix or stdio, and nothing speaks against it.
static ASKED: AtomicU8 = AtomicU8::new(0);

/// The program has an MPI, or a launcher says that it is a rank: it may call `MPI_Init` soon.
static MAY_BE_RANK: AtomicU8 = AtomicU8::new(0);

pub(crate) fn may_be_rank() -> bool {
    MAY_BE_RANK.load(Relaxed) != 0
}

/// Whether it is one is known from here on.
pub(crate) fn is_decided() {
    MAY_BE_RANK.store(0, Relaxed);
}

fn object(place: &AtomicPtr<Object>) -> Option<&'static Object> {
    // SAFETY: null, or an object that is never unloaded.
    unsafe { place.load(Acquire).as_ref() }
}

/// This object.
pub(crate) fn mine() -> Option<&'static Object> {
    object(&MINE)
}

/// Where this object begins in memory.
pub(crate) fn base() -> usize {
    (&raw const __ehdr_start).addr()
}

/// Whether the program finds our functions of the C library.
pub(crate) fn shows_system() -> bool {
    SYSTEM_NAMES.load(Acquire) == VISIBLE
}

/// Whether the program finds any functions of ours.
pub(crate) fn shows_any() -> bool {
    shows_system() || MPI_NAMES.load(Acquire) == VISIBLE
}

/// Whether the environment has asked for the layers posix or stdio.
pub(crate) fn is_asked() -> bool {
    ASKED.load(Relaxed) != 0
}

/// The next function of a name in the order of the dynamic linker, among what was there at the start.
pub(crate) fn next(name: &[u8]) -> Option<usize> {
    let (mine, last) = (mine()?, LAST.load(Acquire).cast_const());
    let name = Name::new(name);
    let mut object = mine;
    while !core::ptr::eq(object, last) {
        object = object.next()?;
        if let Some(found) = object.find(name, Kind::Function) {
            return Some(found);
        }
    }
    None
}

/// A symbol of any kind in any object, those after us first. Only where the program itself might load
/// something: objects that came later may go.
pub(crate) fn anywhere(name: &[u8], kind: Kind) -> Option<usize> {
    let wanted = Name::new(name);
    let mine = mine()?;
    let mut after = core::iter::successors(mine.next(), |object| object.next());
    let found = after.find_map(|object| object.find(wanted, kind));
    let before = core::iter::successors(object(&FIRST), |object| object.next());
    found.or_else(|| {
        before.take_while(|&object| !core::ptr::eq(object, mine)).find_map(|o| o.find(wanted, kind))
    })
}

/// Shows every object but ours, until there is an answer.
pub(crate) fn each<T>(mut visit: impl FnMut(&'static Object) -> Option<T>) -> Option<T> {
    let mut objects = core::iter::successors(object(&FIRST), |object| object.next());
    objects.find_map(|object| if object.base() == base() { None } else { visit(object) })
}

/// A copy of this object has both, and never hides them as it does others.
fn is_a_copy(object: &Object) -> bool {
    object.find(Name::new(b"iotrace_mark"), Kind::Function).is_some()
        && object.find(Name::new(b"iotrace_resume"), Kind::Function).is_some()
}

/// Whether an object has an MPI in it.
pub(crate) fn is_mpi(object: &Object) -> bool {
    object.find(Name::new(b"PMPI_Init"), Kind::Any).is_some() && !is_a_copy(object)
}

/// Whether another copy of this object comes before it: that one records, and this one only passes calls on.
pub(crate) fn another_copy_comes_first() -> bool {
    let first = core::iter::successors(object(&FIRST), |object| object.next());
    first.take_while(|object| object.base() != base()).any(is_a_copy)
}

/// Runs while this object is being relocated: no function of another object may be called, and no constant
/// used that holds an address.
#[cfg_attr(not(tmio_object), allow(dead_code))]
unsafe extern "C" fn decide(caller: usize) -> usize {
    // SAFETY: the dynamic linker has called.
    let Some(linker) = (unsafe { elf::linker_at(caller) }) else { return 1 };
    let Some(first) = elf::list(&linker) else { return 1 };
    LINKER.store(linker.base(), Relaxed);
    FIRST.store(core::ptr::from_ref(first).cast_mut(), Relaxed);
    let (mut mpi, mut sanitizer) = (false, false);
    for object in core::iter::successors(Some(first), |object| object.next()) {
        LAST.store(core::ptr::from_ref(object).cast_mut(), Relaxed);
        if object.base() == base() {
            MINE.store(core::ptr::from_ref(object).cast_mut(), Release);
        } else {
            mpi |= is_mpi(object);
            sanitizer |= object.find(Name::new(b"__asan_init"), Kind::Any).is_some();
        }
    }
    let environment = elf::stack(&linker).map(|stack| {
        let arguments = stack.wrapping_add(1);
        let variables = after(arguments);
        ARGUMENTS.store(arguments.expose_provenance(), Relaxed);
        VARIABLES.store(variables.expose_provenance(), Relaxed);
        AUXILIARY.store(after(variables).expose_provenance(), Relaxed);
        Environment::read()
    });
    // What cannot be known is not recorded.
    let environment =
        environment.unwrap_or(Environment { layers: Layers::MpiIo, is_rank: false, is_secure: true });
    let off = environment.is_secure || sanitizer;
    let wanted = match environment.layers {
        Layers::Unsaid => mpi || environment.is_rank,
        Layers::More => true,
        Layers::MpiIo => false,
    };
    ASKED.store(u8::from(environment.layers == Layers::More && !off), Relaxed);
    MAY_BE_RANK.store(u8::from(mpi || environment.is_rank), Relaxed);
    if !mpi || off {
        flip(Names::Mpi);
        MPI_NAMES.store(if off { ABSENT } else { HIDDEN }, Release);
    }
    if !wanted || off {
        flip(Names::System);
        SYSTEM_NAMES.store(HIDDEN, Release);
    }
    if sanitizer {
        hide_name();
    }
    1
}

/// The runtime of the address sanitizer ends a program in which another library comes before it. One without
/// a name does not count.
fn hide_name() {
    if let Some(mine) = mine() {
        // SAFETY: the name is a string in memory that the linker has allocated, and nobody else runs yet.
        unsafe { mine.name().as_ptr().cast_mut().write(0) };
    }
}

/// What the environment of the program says.
struct Environment {
    layers: Layers,
    /// A launcher says that the process is a rank.
    is_rank: bool,
    /// The program has more rights than who has started it.
    is_secure: bool,
}

#[derive(PartialEq, Eq)]
enum Layers {
    /// `TMIO_LAYERS` is not set, …
    Unsaid,
    /// … has posix or stdio in it, …
    More,
    /// … or has neither.
    MpiIo,
}

impl Environment {
    fn read() -> Self {
        let mut found = Environment {
            layers: Layers::Unsaid,
            is_rank: false,
            is_secure: auxiliary(AT_SECURE) != Some(0),
        };
        for variable in variables() {
            let text = variable.to_bytes();
            match text.first() {
                Some(b'T') => {
                    if let Some(layers) = text.strip_prefix(b"TMIO_LAYERS=") {
                        let more = has(layers, b"posix") || has(layers, b"stdio");
                        found.layers = if more { Layers::More } else { Layers::MpiIo };
                    }
                }
                // By these launchers tell a process that it is a rank.
                Some(b'P') => {
                    found.is_rank |= text.starts_with(b"PMIX_RANK=")
                        || text.starts_with(b"PMI_RANK=")
                        || text.starts_with(b"PALS_RANKID=");
                }
                Some(b'O') => found.is_rank |= text.starts_with(b"OMPI_COMM_WORLD_RANK="),
                Some(b'F') => found.is_rank |= text.starts_with(b"FLUX_TASK_RANK="),
                Some(b'S') => found.is_rank |= text.starts_with(b"SLURM_PROCID="),
                _ => {}
            }
        }
        found
    }
}

pub(crate) fn has(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part == word)
}

/// Words of the stack from one on to the next 0.
fn words_from(start: *const usize) -> impl Iterator<Item = *const usize> {
    // SAFETY: the lists that the kernel has made end with a 0.
    core::iter::successors(Some(start), |place| Some(place.wrapping_add(1)))
        .take_while(|place| unsafe { **place != 0 })
}

/// What follows the 0 at the end of a list.
fn after(list: *const usize) -> *const usize {
    list.wrapping_add(words_from(list).count() + 1)
}

fn list(place: &AtomicUsize) -> impl Iterator<Item = *const usize> {
    let first = Some(place.load(Relaxed)).filter(|&first| first != 0);
    first.into_iter().flat_map(|first| words_from(core::ptr::with_exposed_provenance(first)))
}

/// The arguments of the program, as they are now.
pub(crate) fn arguments() -> impl Iterator<Item = &'static CStr> {
    list(&ARGUMENTS).map(string)
}

/// The variables of its environment, likewise.
pub(crate) fn variables() -> impl Iterator<Item = &'static CStr> {
    list(&VARIABLES).map(string)
}

fn string(place: *const usize) -> &'static CStr {
    // SAFETY: the kernel has put strings there, which stay.
    unsafe { CStr::from_ptr(core::ptr::with_exposed_provenance(*place)) }
}

/// Bytes of a page.
pub(crate) const AT_PAGESZ: usize = 6;
const AT_SECURE: usize = 23;
/// The path of the program, as it was started.
pub(crate) const AT_EXECFN: usize = 31;

/// A value that the kernel has told the program.
pub(crate) fn auxiliary(wanted: usize) -> Option<usize> {
    let mut entry = match AUXILIARY.load(Relaxed) {
        0 => return None,
        first => core::ptr::with_exposed_provenance::<usize>(first),
    };
    // SAFETY: pairs of a kind and a value, which end with a kind of 0.
    unsafe {
        while *entry != 0 {
            if *entry == wanted {
                return Some(*entry.add(1));
            }
            entry = entry.add(2);
        }
    }
    None
}

/// Names of ours that are hidden and shown together.
#[derive(Clone, Copy)]
enum Names {
    Mpi,
    System,
}

impl Names {
    /// Where the code of these functions begins and ends.
    #[cfg(tmio_object)]
    fn code(self) -> (usize, usize) {
        match self {
            Names::Mpi => ((&raw const tmio_mpi_names).addr(), (&raw const tmio_mpi_names_end).addr()),
            Names::System => {
                ((&raw const tmio_system_names).addr(), (&raw const tmio_system_names_end).addr())
            }
        }
    }

    #[cfg(not(tmio_object))]
    fn code(self) -> (usize, usize) {
        (0, 0)
    }
}

/// Takes names out of our hash table, or puts them back: with another hash they are never found.
fn flip(names: Names) {
    let (begin, end) = names.code();
    let (begin, end) = (begin.wrapping_sub(base()), end.wrapping_sub(base()));
    // SAFETY: this object is mapped here.
    let own = unsafe { Object::mapped_at(base(), (&raw const _DYNAMIC).cast()) };
    let Some((first, count, chain)) = own.chains() else { return };
    // SAFETY: there are so many names of ours, one after the other.
    let value = unsafe { own.values() };
    for number in 0..count {
        // SAFETY: the table is on a page that can be written.
        unsafe {
            if (begin..end).contains(&value(first + number)) {
                let word = chain.add(number);
                word.write(word.read() ^ 2);
            }
        }
    }
}

/// The program is about to load something, which may be an MPI, or be bound to one.
pub(crate) fn show_mpi() {
    if MPI_NAMES.compare_exchange(HIDDEN, CHANGING, AcqRel, Acquire).is_ok() {
        flip(Names::Mpi);
        MPI_NAMES.store(VISIBLE, Release);
    }
    while MPI_NAMES.load(Acquire) == CHANGING {
        core::hint::spin_loop();
    }
}

/// The path of the dynamic linker, as it was loaded.
pub(crate) fn linker_path() -> Option<&'static CStr> {
    let base = LINKER.load(Relaxed);
    each(|object| (object.base() == base).then(|| object.name())).filter(|path| !path.is_empty())
}
