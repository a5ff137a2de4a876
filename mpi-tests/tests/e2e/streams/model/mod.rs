//! Which calls are legal when, by C, POSIX and what glibc promises beyond them.
//!
//! The model knows what a script has opened, as far as that can be said without running it: whether a call
//! succeeds is not known, and calls on what is not there are passed over by the player. What matters:
//!
//! - On a stream for update, reading follows writing only after `fflush` or a change of position, and writing
//!   follows reading only after a change of position (C17 7.21.5.3).
//! - A stream is of bytes or of wide characters, from its first call on (7.21.2).
//! - One character may be pushed back, onto a stream that is read (7.21.7.10).
//! - Who uses a file by another handle first flushes the one used before, and positions it before it is used
//!   again (POSIX.1-2017, XSH 2.5.1).
//! - Nothing is used after it was closed, and nothing can block.
//! - What programs and threads do at the same time concerns different files, so that every run is the same.

mod descriptors;
mod parts;
mod streams;

use super::rows::{Arg, Rule, Width};
use super::script::{DESCRIPTORS, DIRECTORIES, ERR, IN, OUT, Op, STREAMS};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    /// A pipe, socket or device: cannot be positioned.
    Other,
    /// No descriptor.
    Memory,
    /// The same, of `open_memstream`, which needs its own buffer.
    Growing,
    /// Of `popen`.
    Program,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Nothing,
    Read,
    Write,
    /// It was used by another handle: its position is not known.
    Elsewhere,
}

/// Which open file description: handles with the same number share its position.
type Description = u32;

/// That of the standard error that a script begins with.
const STANDARD_ERROR: Description = 2;

#[derive(Clone, Debug)]
struct Stream {
    kind: Kind,
    description: Description,
    reads: bool,
    writes: bool,
    width: Option<Width>,
    /// It can be of one width only.
    only: Option<Width>,
    last: Last,
    /// Nothing waits in its buffer.
    clean: bool,
    pushed: bool,
    /// A character was pushed back at some time.
    was_pushed: bool,
    /// Something was written at some time. If a character is pushed back then, glibc (2.36) mistakes its
    /// buffers: it writes what nobody has written in a later `getc`, or frees memory twice.
    was_written: bool,
    has_place: bool,
    /// Its file is mapped (mode `m`).
    is_mapped: bool,
    /// It is `/dev/full`, of which whoever reads it finds no end.
    is_full: bool,
    /// It has been one of wide characters: glibc 2.36 crashes if its buffer is changed then.
    was_wide: bool,
    /// All that is written goes to its end.
    appends: bool,
    /// Its position was changed before it had a width.
    sought_first: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    File,
    /// Past the kernel's memory: takes whole blocks.
    Direct,
    Other,
    /// Whether it is the subdirectory.
    Directory(bool),
}

#[derive(Clone, Debug)]
struct Descriptor {
    sort: Sort,
    description: Description,
    reads: bool,
    writes: bool,
}

/// A part of a script that somebody else plays, and what was there before it.
#[derive(Clone, Debug)]
struct Part {
    name: &'static str,
    before: Box<Model>,
    branches: usize,
}

/// What a script has opened, and where it is.
#[derive(Clone, Debug)]
pub struct Model {
    streams: [Option<Stream>; STREAMS],
    descriptors: [Option<Descriptor>; DESCRIPTORS],
    directories: [bool; DIRECTORIES],
    /// The name `p0` may be a FIFO.
    has_fifo: bool,
    /// The current directory is the subdirectory.
    is_below: bool,
    part: Option<Part>,
    is_branch: bool,
    next: Description,
    has_ended: bool,
}

impl Model {
    pub fn new() -> Self {
        let stream = |description, reads| {
            Some(Stream {
                kind: Kind::File,
                description,
                reads,
                writes: !reads,
                width: None,
                only: None,
                last: Last::Nothing,
                clean: true,
                pushed: false,
                was_pushed: false,
                was_written: false,
                has_place: false,
                is_mapped: false,
                is_full: false,
                was_wide: false,
                appends: false,
                sought_first: false,
            })
        };
        let mut model = Model {
            streams: [const { None }; STREAMS],
            descriptors: [const { None }; DESCRIPTORS],
            directories: [false; DIRECTORIES],
            has_fifo: false,
            is_below: false,
            part: None,
            is_branch: false,
            next: 3,
            has_ended: false,
        };
        for (number, place) in [IN, OUT, ERR].into_iter().enumerate() {
            let description = number as Description;
            model.streams[place] = stream(description, number == 0);
            model.descriptors[number] =
                Some(Descriptor { sort: Sort::File, description, reads: number == 0, writes: number != 0 });
        }
        model
    }

    /// Places that hold something, or that hold nothing.
    pub fn streams(&self, is_there: bool) -> Vec<usize> {
        (0..STREAMS).filter(|&at| self.streams[at].is_some() == is_there && (is_there || at < IN)).collect()
    }

    pub fn descriptors(&self, is_there: bool) -> Vec<usize> {
        (0..DESCRIPTORS)
            .filter(|&at| self.descriptors[at].is_some() == is_there && (is_there || at > 2))
            .collect()
    }

    pub fn directories(&self, is_there: bool) -> Vec<usize> {
        (0..DIRECTORIES).filter(|&at| self.directories[at] == is_there).collect()
    }

    fn new_description(&mut self) -> Description {
        self.next += 1;
        self.next
    }

    /// Makes the call if it is legal; else nothing changes.
    pub fn step(&mut self, op: &Op) -> bool {
        if self.has_ended || !self.names_are_legal(op) || !fits_in_room(op) {
            return false;
        }
        let mut next = self.clone();
        let is_legal = next.step_of_streams(op).is_some();
        if is_legal {
            *self = next;
        }
        is_legal
    }

    /// Whether a call is legal and certain to fail, as a descriptor is not open for it.
    pub fn is_in_vain(&self, op: &Op) -> bool {
        let Some(descriptor) = (op.row.rule == Rule::Use).then(|| self.descriptor(op, 0)).flatten() else {
            return false;
        };
        let name = op.row.name;
        !descriptor.reads && name.contains("read")
            || !descriptor.writes && (name.contains("write") || name == "dprintf")
    }

    /// What has to be closed before a part or the script may end.
    pub fn before_an_end(&self) -> Vec<String> {
        let streams = self.streams.iter().enumerate();
        streams
            .filter_map(|(at, stream)| match stream {
                Some(Stream { kind: Kind::Program, reads, .. }) => {
                    Some(format!("pclose s{at} {}", if *reads { "r" } else { "w" }))
                }
                Some(_) if self.is_branch => Some(format!("fclose s{at}")),
                _ => None,
            })
            .collect()
    }

    /// The part that has begun, by its name.
    pub fn part(&self) -> Option<&'static str> {
        self.part.as_ref().map(|part| part.name)
    }

    fn has_program(&self) -> bool {
        self.streams.iter().flatten().any(|stream| stream.kind == Kind::Program)
    }

    /// Names that could block, or that are those of something closed.
    fn names_are_legal(&self, op: &Op) -> bool {
        let makes_stream = matches!(op.row.rule, Rule::Fopen | Rule::Freopen);
        // All but `open`, which is told not to.
        let waits = makes_stream
            || op.row.name == "creat"
            || matches!(op.row.rule, Rule::Program | Rule::ProgramTo | Rule::End);
        op.words.iter().zip(op.row.args).all(|(word, &arg)| {
            if arg != Arg::Name {
                return true;
            }
            if let Some(at) = word.strip_prefix(['%', '&']) {
                let at: Option<usize> = at.get(1..).and_then(|at| at.parse().ok());
                let descriptor = at.and_then(|at| self.descriptors.get(at)?.as_ref());
                return descriptor.is_some_and(|descriptor| descriptor.sort == Sort::File)
                    && !matches!(op.row.rule, Rule::Unlink | Rule::Names | Rule::Program | Rule::ProgramTo);
            }
            let is_program = matches!(op.row.rule, Rule::Program | Rule::ProgramTo | Rule::End);
            if is_program && word.starts_with(['+', '=']) {
                // In their messages, these names differ from run to run.
                return false;
            }
            let is_device = word.starts_with("/dev/");
            let changes_names = matches!(op.row.rule, Rule::Unlink | Rule::Names | Rule::Make);
            let is_plain = word == "/dev/null" || word == "/dev/full";
            // Reading it would have no end.
            let never_ends =
                word == "/dev/full" && (is_program || makes_stream && op.words[2].contains(['r', '+']));
            !(is_device && (changes_names || self.is_branch) || never_ends)
                && (!is_device
                    || is_plain
                    || self.descriptors[1].as_ref().is_some_and(|d| d.sort == Sort::File))
                && !(word == "p0" && (self.is_branch || waits && self.has_fifo || op.row.rule == Rule::Names))
        })
    }

    fn stream_at(&mut self, at: usize) -> Option<&mut Stream> {
        self.streams[at].as_mut()
    }

    fn stream(&mut self, op: &Op) -> Option<&mut Stream> {
        self.stream_at(op.slot(0))
    }

    fn descriptor(&self, op: &Op, word: usize) -> Option<&Descriptor> {
        self.descriptors[op.slot(word)].as_ref()
    }
}

/// What the player has room for.
fn fits_in_room(op: &Op) -> bool {
    const ROOM: u64 = 100_000;
    let size = op.row.args.iter().zip(&op.words).map(|(arg, word)| match arg {
        Arg::Bytes | Arg::Characters | Arg::Element | Arg::Buffer => word.parse().unwrap_or(ROOM + 1),
        // Of four bytes each.
        Arg::WideCharacters => 4 * word.parse().unwrap_or(ROOM),
        _ => 1,
    });
    size.fold(1, |product: u64, size| product.saturating_mul(size)) <= ROOM
}

fn allowed(condition: bool) -> Option<()> {
    condition.then_some(())
}

/// The calls that are legal, in their order, with what has to be closed before parts end.
pub fn legal(ops: impl IntoIterator<Item = Op>) -> Vec<Op> {
    let mut model = Model::new();
    let mut kept = Vec::new();
    let mut keep = |model: &mut Model, op: Op| {
        let is_legal = model.step(&op);
        if is_legal {
            kept.push(op);
        }
        is_legal
    };
    let written = |line: String| line.parse::<Op>().expect("a call");
    for op in ops {
        match op.row.rule {
            Rule::End if model.part().is_some() => {
                for line in model.before_an_end() {
                    keep(&mut model, written(line));
                }
                let end = format!("end_{}", model.part().unwrap_or_default());
                keep(&mut model, written(end));
            }
            Rule::EndPart | Rule::Branch | Rule::End => {}
            _ => {
                keep(&mut model, op);
                continue;
            }
        }
        for line in model.before_an_end() {
            keep(&mut model, written(line));
        }
        keep(&mut model, op);
    }
    kept
}
