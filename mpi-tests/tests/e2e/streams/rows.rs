//! The calls that scripts are made of: a row for each, with its arguments and the rule for its use.
//!
//! `programs/plays_streams` has a function for every name. A name may have several rows, for other arguments.

/// What stands behind the name of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    /// A stream that is there: `s0` to `s5`, `in`, `out`, `err`.
    Stream,
    /// A place for a stream.
    NewStream,
    /// A descriptor that is there: `d0` to `d11`; the first three are the standard ones.
    Descriptor,
    /// A place for a descriptor.
    NewDescriptor,
    /// A directory that is there: `g0`, `g1`.
    Directory,
    /// A place for a directory.
    NewDirectory,
    /// A file, see `name` in `plays_streams/state.h`.
    Name,
    /// A file that only the programs of `popen` write.
    NameOfProgram,
    /// How much is moved.
    Bytes,
    /// How many characters are moved one by one, or printed.
    Characters,
    /// Of what is written at once by every C library: from 2.37 on, glibc writes longer texts piece by piece.
    FewCharacters,
    /// How many wide characters.
    WideCharacters,
    /// Size of an element of `fread`.
    Element,
    /// Size of a buffer.
    Buffer,
    /// Where in a file, from its beginning.
    Place,
    /// Where in a file, from where the word before says.
    Offset,
    /// One of these.
    Word(&'static [&'static str]),
}
use Arg::*;

/// Of bytes or of wide characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    Byte,
    Wide,
}
use Width::*;

/// When a call may be made, and what it changes: [`Model`](super::model::Model) knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    // Streams.
    Fopen,
    Fdopen,
    Freopen,
    Tmpfile,
    Memory(Width),
    Fmemopen,
    Cookie,
    Popen,
    Pclose,
    Fclose,
    Fcloseall,
    SetBuffer,
    Read(Width),
    Write(Width),
    Unget(Width),
    ReadIn,
    WriteOut,
    WriteErr,
    Seek,
    Rewind,
    Tell,
    SavePlace,
    RestorePlace,
    Flush,
    FlushAll,
    Purge,
    Clear,
    Orient,
    PastStream { writes: bool },
    // Descriptors.
    Open,
    OpenDirectory,
    OpenAt,
    OpenOther,
    OpenTemporary,
    Dup,
    DupOfStream,
    Replace,
    Close,
    CloseAll,
    Pair,
    Use,
    TwoFiles,
    Fdopendir,
    Opendir,
    Closedir,
    // Names, processes.
    Make,
    Names,
    Unlink,
    MakeFifo,
    Chdir,
    Fchdir,
    Program,
    ProgramTo,
    Begin,
    Branch,
    EndPart,
    End,
}
use Rule::*;

/// For choosing what a script is mostly about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Opening,
    Bytes,
    Wide,
    Placing,
    Buffering,
    Descriptors,
    Transfers,
    Names,
    Programs,
    Parts,
}

/// A call.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    pub args: &'static [Arg],
    pub rule: Rule,
    pub group: Group,
    /// How often, against the others of its group.
    pub weight: usize,
}

const fn row(group: Group, weight: usize, name: &'static str, rule: Rule, args: &'static [Arg]) -> Row {
    Row { name, args, rule, group, weight }
}

const MODES: &[&str] =
    &["r", "w", "a", "r+", "w+", "a+", "r+", "w+", "re", "wx", "a+e", "w+b", "rb+", "wc", "ae", "w+x"];
const WIDE_MODES: &[&str] = &["r,ccs=UTF-8", "w,ccs=UTF-8", "r+,ccs=UTF-8"];
const PLAIN_MODES: &[&str] = &["r", "w", "a", "r+", "w+", "a+"];
const FLAGS: &[&str] = &[
    "rdonly",
    "rdonly,cloexec",
    "rdwr",
    "rdwr,creat",
    "rdwr,creat,trunc",
    "wronly,creat",
    "wronly,creat,append",
    "rdwr,append",
    "rdwr,creat,excl",
    "rdwr,creat,direct",
    "wronly,sync",
    "rdwr,creat,cloexec",
];
const ENDS: &[&str] = &["exit", "exit", "exit", "_exit", "_Exit", "quick_exit", "raw_exit", "abort", "kill"];

/// Every call.
pub static ROWS: &[Row] = &[
    row(Group::Opening, 24, "fopen", Fopen, &[NewStream, Name, Word(MODES)]),
    row(Group::Opening, 1, "fopen", Fopen, &[NewStream, Name, Word(WIDE_MODES)]),
    // Mapped: a file that nothing makes shorter meanwhile.
    row(Group::Opening, 1, "fopen", Fopen, &[NewStream, Word(&["m0"]), Word(&["rm", "rme", "r+m"])]),
    row(Group::Opening, 5, "fdopen", Fdopen, &[NewStream, Descriptor, Word(PLAIN_MODES)]),
    row(Group::Opening, 3, "freopen", Freopen, &[Stream, Name, Word(PLAIN_MODES)]),
    row(Group::Opening, 1, "freopen", Freopen, &[Stream, Word(&["-"]), Word(PLAIN_MODES)]),
    row(Group::Opening, 2, "tmpfile", Tmpfile, &[NewStream]),
    row(Group::Opening, 2, "open_memstream", Memory(Byte), &[NewStream]),
    row(Group::Opening, 1, "open_wmemstream", Memory(Wide), &[NewStream]),
    row(Group::Opening, 1, "fmemopen", Fmemopen, &[NewStream, Buffer, Word(PLAIN_MODES)]),
    row(Group::Opening, 1, "fopencookie", Cookie, &[NewStream, Word(PLAIN_MODES), Word(&["-"])]),
    row(Group::Opening, 2, "fopencookie", Cookie, &[NewStream, Word(PLAIN_MODES), Descriptor]),
    row(Group::Opening, 12, "fclose", Fclose, &[Stream]),
    row(Group::Opening, 1, "fcloseall", Fcloseall, &[]),
    row(
        Group::Buffering,
        8,
        "setvbuf",
        SetBuffer,
        &[Stream, Word(&["full", "full", "full", "line", "line", "none"]), Word(&["own", "null"]), Buffer],
    ),
    row(Group::Buffering, 1, "setbuf", SetBuffer, &[Stream, Word(&["own", "null"])]),
    row(Group::Buffering, 1, "setbuffer", SetBuffer, &[Stream, Buffer]),
    row(Group::Buffering, 1, "setlinebuf", SetBuffer, &[Stream]),
    row(Group::Placing, 12, "fseek", Seek, &[Stream, Word(&["set", "cur", "end"]), Offset]),
    row(Group::Placing, 3, "fseeko", Seek, &[Stream, Word(&["set", "cur", "end"]), Offset]),
    row(Group::Placing, 3, "rewind", Rewind, &[Stream]),
    row(Group::Placing, 3, "ftell", Tell, &[Stream]),
    row(Group::Placing, 1, "ftello", Tell, &[Stream]),
    row(Group::Placing, 2, "fgetpos", SavePlace, &[Stream]),
    row(Group::Placing, 3, "fsetpos", RestorePlace, &[Stream]),
    row(Group::Placing, 5, "fflush", Flush, &[Stream]),
    row(Group::Placing, 1, "fflush_unlocked", Flush, &[Stream]),
    row(Group::Placing, 2, "fflush_all", FlushAll, &[]),
    row(Group::Placing, 1, "fpurge", Purge, &[Stream]),
    row(Group::Placing, 1, "clearerr", Clear, &[Stream]),
    row(Group::Wide, 1, "fwide", Orient, &[Stream, Word(&["-1", "0", "1"])]),
    row(Group::Bytes, 10, "fread", Read(Byte), &[Stream, Element, Arg::Bytes]),
    row(Group::Bytes, 2, "fread_unlocked", Read(Byte), &[Stream, Element, Arg::Bytes]),
    row(Group::Bytes, 2, "fgetc", Read(Byte), &[Stream, Characters]),
    row(Group::Bytes, 3, "getc", Read(Byte), &[Stream, Characters]),
    row(Group::Bytes, 2, "getc_unlocked", Read(Byte), &[Stream, Characters]),
    row(Group::Bytes, 1, "getchar", ReadIn, &[Characters]),
    row(Group::Bytes, 3, "ungetc", Unget(Byte), &[Stream, Word(&["65", "10", "255"])]),
    row(Group::Bytes, 4, "fgets", Read(Byte), &[Stream, Buffer]),
    row(Group::Bytes, 1, "fgets_unlocked", Read(Byte), &[Stream, Buffer]),
    row(Group::Bytes, 3, "getline", Read(Byte), &[Stream]),
    row(Group::Bytes, 2, "getdelim", Read(Byte), &[Stream, Word(&["107", "0", "35"])]),
    row(Group::Bytes, 4, "fscanf", Read(Byte), &[Stream, Word(&["0", "1", "2", "3", "4", "5"])]),
    row(Group::Bytes, 1, "vfscanf", Read(Byte), &[Stream, Word(&["0", "1"])]),
    row(Group::Bytes, 1, "scanf", ReadIn, &[Word(&["0", "1"])]),
    row(Group::Bytes, 10, "fwrite", Write(Byte), &[Stream, Element, Arg::Bytes]),
    row(Group::Bytes, 2, "fwrite_unlocked", Write(Byte), &[Stream, Element, Arg::Bytes]),
    row(Group::Bytes, 2, "fputc", Write(Byte), &[Stream, Characters]),
    row(Group::Bytes, 2, "putc", Write(Byte), &[Stream, Characters]),
    row(Group::Bytes, 2, "putc_unlocked", Write(Byte), &[Stream, Characters]),
    row(Group::Bytes, 1, "putchar", WriteOut, &[Characters]),
    row(Group::Bytes, 3, "fputs", Write(Byte), &[Stream, Characters]),
    row(Group::Bytes, 1, "fputs_unlocked", Write(Byte), &[Stream, Characters]),
    row(Group::Bytes, 4, "fprintf", Write(Byte), &[Stream, Characters]),
    row(Group::Bytes, 1, "vfprintf", Write(Byte), &[Stream, Characters]),
    row(Group::Bytes, 2, "puts", WriteOut, &[Characters]),
    row(Group::Bytes, 2, "printf", WriteOut, &[Characters]),
    row(Group::Bytes, 1, "perror", WriteErr, &[]),
    row(Group::Bytes, 1, "psignal", WriteErr, &[]),
    row(Group::Bytes, 1, "warnx", WriteErr, &[Characters]),
    row(Group::Bytes, 1, "error", WriteErr, &[Characters]),
    row(Group::Wide, 4, "fgetwc", Read(Wide), &[Stream, WideCharacters]),
    row(Group::Wide, 1, "getwc", Read(Wide), &[Stream, WideCharacters]),
    row(Group::Wide, 2, "ungetwc", Unget(Wide), &[Stream, Word(&["65", "233"])]),
    row(Group::Wide, 3, "fgetws", Read(Wide), &[Stream, WideCharacters]),
    row(Group::Wide, 3, "fwscanf", Read(Wide), &[Stream, Word(&["0", "1", "2"])]),
    row(Group::Wide, 4, "fputwc", Write(Wide), &[Stream, WideCharacters]),
    row(Group::Wide, 1, "putwc", Write(Wide), &[Stream, WideCharacters]),
    row(Group::Wide, 3, "fputws", Write(Wide), &[Stream, WideCharacters]),
    row(Group::Wide, 3, "fwprintf", Write(Wide), &[Stream, WideCharacters]),
    row(Group::Descriptors, 16, "open", Open, &[NewDescriptor, Name, Word(FLAGS)]),
    row(
        Group::Descriptors,
        3,
        "open",
        OpenDirectory,
        &[NewDescriptor, Word(&["d", "."]), Word(&["rdonly,directory"])],
    ),
    row(Group::Descriptors, 2, "creat", Open, &[NewDescriptor, Name]),
    row(Group::Descriptors, 3, "openat2", Open, &[NewDescriptor, Name, Word(FLAGS)]),
    row(
        Group::Descriptors,
        2,
        "openat",
        OpenAt,
        &[NewDescriptor, Descriptor, Word(&["f0", "f1"]), Word(FLAGS)],
    ),
    row(Group::Descriptors, 1, "open_tmpfile", OpenTemporary, &[NewDescriptor]),
    row(Group::Descriptors, 1, "mkstemp", OpenTemporary, &[NewDescriptor]),
    row(Group::Descriptors, 1, "shm_open", OpenTemporary, &[NewDescriptor, Word(&["+f0", "+f1"])]),
    row(Group::Descriptors, 1, "memfd_create", OpenOther, &[NewDescriptor]),
    row(Group::Descriptors, 1, "eventfd", OpenOther, &[NewDescriptor]),
    row(Group::Descriptors, 3, "dup", Dup, &[NewDescriptor, Descriptor]),
    row(Group::Descriptors, 1, "dupfd", Dup, &[NewDescriptor, Descriptor, Word(&["0", "10", "300"])]),
    row(Group::Descriptors, 1, "dupfd_cloexec", Dup, &[NewDescriptor, Descriptor, Word(&["0", "10"])]),
    row(Group::Descriptors, 2, "dup_of_stream", DupOfStream, &[NewDescriptor, Stream]),
    row(Group::Descriptors, 3, "dup2", Replace, &[Descriptor, Descriptor]),
    row(Group::Descriptors, 1, "dup3", Replace, &[Descriptor, Descriptor]),
    row(Group::Descriptors, 1, "raw_dup3", Replace, &[Descriptor, Descriptor]),
    row(Group::Descriptors, 10, "close", Close, &[Descriptor]),
    row(Group::Descriptors, 2, "raw_close", Close, &[Descriptor]),
    row(Group::Descriptors, 1, "close_range", Close, &[Descriptor]),
    row(Group::Descriptors, 1, "raw_close_range", Close, &[Descriptor]),
    row(Group::Descriptors, 1, "closefrom", CloseAll, &[]),
    row(Group::Descriptors, 1, "close_all", CloseAll, &[]),
    row(Group::Descriptors, 2, "pipe", Pair, &[NewDescriptor, NewDescriptor]),
    row(Group::Descriptors, 2, "socketpair", Pair, &[NewDescriptor, NewDescriptor]),
    row(Group::Descriptors, 2, "pass", Dup, &[NewDescriptor, Descriptor, Word(&["close", "raw"])]),
    row(Group::Descriptors, 2, "pidfd_getfd", Dup, &[NewDescriptor, Descriptor]),
    row(Group::Descriptors, 2, "fdopendir", Fdopendir, &[NewDirectory, Descriptor]),
    row(Group::Descriptors, 1, "opendir", Opendir, &[NewDirectory, Word(&["d", "."])]),
    row(Group::Descriptors, 3, "closedir", Closedir, &[Directory]),
    row(Group::Transfers, 8, "read", Use, &[Descriptor, Arg::Bytes]),
    row(Group::Transfers, 8, "write", Use, &[Descriptor, Arg::Bytes]),
    row(Group::Transfers, 3, "pread", Use, &[Descriptor, Arg::Bytes, Place]),
    row(Group::Transfers, 3, "pwrite", Use, &[Descriptor, Arg::Bytes, Place]),
    row(Group::Transfers, 2, "readv", Use, &[Descriptor, Arg::Bytes]),
    row(Group::Transfers, 2, "writev", Use, &[Descriptor, Arg::Bytes]),
    row(Group::Transfers, 1, "preadv", Use, &[Descriptor, Arg::Bytes, Place]),
    row(Group::Transfers, 1, "pwritev", Use, &[Descriptor, Arg::Bytes, Place]),
    row(Group::Transfers, 1, "preadv2", Use, &[Descriptor, Arg::Bytes, Place]),
    row(Group::Transfers, 1, "pwritev2", Use, &[Descriptor, Arg::Bytes, Place]),
    row(Group::Transfers, 1, "write_past", PastStream { writes: true }, &[Stream, Arg::Bytes]),
    row(Group::Transfers, 1, "read_past", PastStream { writes: false }, &[Stream, Arg::Bytes]),
    row(Group::Transfers, 2, "dprintf", Use, &[Descriptor, FewCharacters]),
    row(Group::Transfers, 2, "sendfile", TwoFiles, &[Descriptor, Descriptor, Arg::Bytes]),
    row(Group::Transfers, 2, "copy_file_range", TwoFiles, &[Descriptor, Descriptor, Arg::Bytes]),
    row(Group::Transfers, 2, "splice", TwoFiles, &[Descriptor, Descriptor, Arg::Bytes]),
    row(Group::Transfers, 1, "aio_read", Use, &[Descriptor, Arg::Bytes, Place]),
    row(Group::Transfers, 1, "aio_write", Use, &[Descriptor, Arg::Bytes, Place]),
    row(Group::Transfers, 1, "lio_listio", Use, &[Descriptor, Arg::Bytes, Place]),
    row(Group::Transfers, 4, "lseek", Use, &[Descriptor, Word(&["set", "cur", "end"]), Offset]),
    row(Group::Transfers, 1, "ftruncate", Use, &[Descriptor, Place]),
    row(Group::Transfers, 1, "fsync", Use, &[Descriptor]),
    row(Group::Names, 6, "make", Make, &[Name, Arg::Bytes]),
    row(Group::Names, 3, "unlink", Unlink, &[Name]),
    row(Group::Names, 2, "rename", Names, &[Name, Name]),
    row(Group::Names, 1, "link", Names, &[Name, Name]),
    row(Group::Names, 1, "symlink", Names, &[Word(&["f0", "f1", "d/f0"]), Word(&["f2", "f3", "d/f1"])]),
    row(Group::Names, 1, "truncate", Names, &[Name, Place]),
    row(Group::Names, 3, "mkfifo", MakeFifo, &[Word(&["p0"])]),
    row(Group::Names, 1, "chdir", Chdir, &[Word(&["d", ".."])]),
    row(Group::Names, 1, "fchdir", Fchdir, &[Descriptor]),
    row(Group::Programs, 2, "popen", Popen, &[NewStream, Word(&["r"]), Word(&["cat", "tac"])]),
    row(Group::Programs, 1, "popen", Popen, &[NewStream, Word(&["w"]), NameOfProgram]),
    row(Group::Programs, 3, "pclose", Pclose, &[Stream, Word(&["r", "w"])]),
    row(Group::Programs, 1, "system", Program, &[Name, Name]),
    row(Group::Programs, 1, "posix_spawn", Program, &[Name, Name]),
    row(Group::Programs, 1, "vfork", ProgramTo, &[Name, Descriptor]),
    row(Group::Programs, 1, "login_tty", Program, &[Word(&["50", "0", "700"])]),
    row(Group::Parts, 4, "fork", Begin, &[Word(ENDS)]),
    row(Group::Parts, 1, "daemon", Begin, &[]),
    row(Group::Parts, 2, "thread", Begin, &[]),
    row(Group::Parts, 1, "parallel", Begin, &[]),
    row(Group::Parts, 2, "branch", Branch, &[]),
    row(Group::Parts, 3, "end_fork", EndPart, &[]),
    row(Group::Parts, 3, "end_daemon", EndPart, &[]),
    row(Group::Parts, 3, "end_thread", EndPart, &[]),
    row(Group::Parts, 3, "end_parallel", EndPart, &[]),
    row(Group::Parts, 0, "end", End, &[Word(ENDS)]),
    row(Group::Parts, 0, "end", End, &[Word(&["exec"]), Name]),
];
