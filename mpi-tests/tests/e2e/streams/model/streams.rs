//! Rules for streams.

use super::super::rows::{Rule, Width};
use super::super::script::{ERR, IN, OUT, Op, STREAMS};
use super::{Description, Kind, Last, Model, Sort, Stream, allowed};

impl Model {
    pub(super) fn step_of_streams(&mut self, op: &Op) -> Option<()> {
        match op.row.rule {
            Rule::Fopen => self.open_stream(op, 0, Kind::File, &op.words[2]),
            Rule::Tmpfile => self.open_stream(op, 0, Kind::File, "w+"),
            Rule::Fmemopen => self.open_stream(op, 0, Kind::Memory, &op.words[2]),
            Rule::Cookie => self.cookie(op),
            Rule::Memory(width) => {
                self.open_stream(op, 0, Kind::Growing, "w")?;
                self.streams[op.slot(0)].as_mut()?.only = Some(width);
                Some(())
            }
            Rule::Fdopen => self.fdopen(op),
            Rule::Freopen => self.freopen(op),
            Rule::Popen => self.popen(op),
            Rule::Pclose => self.pclose(op),
            Rule::Fclose => self.fclose(op.slot(0)),
            Rule::Fcloseall => {
                allowed(!self.is_branch && !self.has_program())?;
                // After fseek, glibc (2.36, 2.39) frees the memory of such a stream twice.
                allowed(self.streams.iter().flatten().all(|stream| stream.kind != Kind::Growing))?;
                for at in 0..STREAMS {
                    self.streams[at] = None;
                }
                self.descriptors[..3].fill(None);
                Some(())
            }
            Rule::SetBuffer => {
                let stream = self.stream(op)?;
                // Once a character was pushed back, glibc (2.36, 2.39) frees what is not to be freed.
                allowed(stream.kind != Kind::Growing && !stream.was_wide && !stream.was_pushed)?;
                // What of a program's output is in the buffer depends on who is faster.
                allowed(stream.kind != Kind::Program || stream.last == Last::Nothing)?;
                // glibc 2.36 may turn for ever in fseek on a wide stream whose buffer was set.
                stream.only = Some(Width::Byte);
                // Whatever is in the old buffer leaves it.
                self.flushes(op.slot(0))
            }
            Rule::Read(width) => {
                let at = op.slot(0);
                let before = self.stream_at(at)?.last;
                self.moves(at, Last::Read, width)?;
                // Nothing was read then, that something could be pushed back to.
                if op.words.iter().skip(1).any(|word| word == "0") {
                    self.stream_at(at)?.last = before;
                }
                Some(())
            }
            Rule::Write(width) => self.moves(op.slot(0), Last::Write, width),
            Rule::ReadIn => self.moves(IN, Last::Read, Width::Byte),
            Rule::WriteOut => self.moves(OUT, Last::Write, Width::Byte),
            Rule::WriteErr => self.writes_error(op),
            Rule::Unget(width) => self.ungets(op.slot(0), width),
            Rule::Seek | Rule::Rewind => self.seeks(op),
            Rule::RestorePlace => {
                allowed(self.stream(op)?.has_place)?;
                self.seeks(op)
            }
            Rule::SavePlace | Rule::Tell => {
                let stream = self.stream(op)?;
                // With a character pushed back, the place may be before the file (7.21.7.10).
                allowed(stream.kind != Kind::Program && stream.kind != Kind::Other && !stream.pushed)?;
                allowed(stream.last != Last::Elsewhere)?;
                stream.has_place |= op.row.rule == Rule::SavePlace;
                Some(())
            }
            Rule::Flush => {
                self.flushes(op.slot(0))?;
                self.touches(self.streams[op.slot(0)].as_ref()?.description, Some(op.slot(0)))
            }
            Rule::FlushAll => {
                allowed(!self.is_branch)?;
                for at in self.streams(true) {
                    self.flushes(at);
                }
                Some(())
            }
            Rule::Purge => self.stream(op).map(|stream| {
                stream.pushed = false;
            }),
            Rule::Clear => self.stream(op).map(|_| ()),
            Rule::Orient => self.orients(op),
            Rule::PastStream { writes } => {
                let stream = self.stream(op)?;
                let description = stream.description;
                allowed(stream.kind == Kind::File && if writes { stream.writes } else { stream.reads })?;
                self.touches(description, None)
            }
            _ => self.step_of_descriptors(op),
        }
    }

    fn open_stream(&mut self, op: &Op, word: usize, kind: Kind, mode: &str) -> Option<()> {
        let at = op.slot(word);
        allowed(at < IN)?;
        self.open_at(op, at, kind, mode)
    }

    fn open_at(&mut self, op: &Op, at: usize, kind: Kind, mode: &str) -> Option<()> {
        allowed(self.streams[at].is_none())?;
        let description = self.new_description();
        let is_update = mode.split(',').next().is_some_and(|mode| mode.contains('+'));
        let is_wide = mode.contains("ccs");
        // glibc 2.36 crashes where wide characters cannot be written, or are read from a mapped file.
        let is_full = op.words.iter().any(|word| word == "/dev/full");
        let is_narrow = kind != Kind::File || is_full || mode.contains('m');
        self.streams[at] = Some(Stream {
            kind,
            description,
            reads: is_update || mode.starts_with('r'),
            writes: is_update || !mode.starts_with('r'),
            width: is_wide.then_some(Width::Wide),
            only: is_narrow.then_some(Width::Byte),
            last: Last::Nothing,
            clean: true,
            pushed: false,
            was_pushed: false,
            was_written: false,
            has_place: false,
            is_mapped: mode.contains('m'),
            is_full,
            was_wide: is_wide,
            appends: mode.starts_with('a'),
            sought_first: false,
        });
        Some(())
    }

    fn cookie(&mut self, op: &Op) -> Option<()> {
        let (mode, of) = (&op.words[1], &op.words[2]);
        // Its functions read and write this descriptor for as long as the stream is there.
        if of.starts_with('d') {
            let descriptor = self.descriptor(op, 2)?.clone();
            let is_update = mode.contains('+');
            let (reads, writes) = (is_update || mode.starts_with('r'), is_update || !mode.starts_with('r'));
            allowed(
                descriptor.sort == Sort::File && reads <= descriptor.reads && writes <= descriptor.writes,
            )?;
            allowed(op.slot(2) > 2)?;
            self.touches(descriptor.description, None)?;
            self.open_stream(op, 0, Kind::Memory, mode)?;
            // The player closes neither; who else closes the number takes the file from the stream.
            self.descriptors[op.slot(2)] = None;
            return Some(());
        }
        self.open_stream(op, 0, Kind::Memory, mode)
    }

    fn fdopen(&mut self, op: &Op) -> Option<()> {
        let (descriptor, mode) = (self.descriptor(op, 1)?.clone(), &op.words[2]);
        let is_update = mode.contains('+');
        let (reads, writes) = (is_update || mode.starts_with('r'), is_update || !mode.starts_with('r'));
        allowed(op.slot(1) > 2 && reads <= descriptor.reads && writes <= descriptor.writes)?;
        let kind = match descriptor.sort {
            Sort::File => Kind::File,
            Sort::Other if !is_update => Kind::Other,
            _ => return None,
        };
        self.open_stream(op, 0, kind, mode)?;
        let stream = self.streams[op.slot(0)].as_mut()?;
        stream.description = descriptor.description;
        self.descriptors[op.slot(1)] = None;
        // By its other streams it may have been used.
        self.touches(descriptor.description, Some(op.slot(0)))
    }

    fn freopen(&mut self, op: &Op) -> Option<()> {
        let at = op.slot(0);
        let Stream { kind, clean, description, is_full, is_mapped, .. } = *self.stream(op)?;
        allowed(kind == Kind::File && !self.is_branch)?;
        // The same file again.
        let is_full = is_full && op.words[1] == "-";
        allowed(!is_full || !op.words[2].starts_with('r') && !op.words[2].contains('+'))?;
        if !clean {
            self.touches(description, Some(at))?;
        }
        let was_wide = self.streams[at].take().is_some_and(|stream| stream.was_wide);
        self.open_at(op, at, Kind::File, &op.words[2])?;
        let stream = self.streams[at].as_mut()?;
        stream.was_wide |= was_wide;
        stream.is_full |= is_full;
        stream.is_mapped |= is_mapped;
        stream.only = stream.only.or((is_full || is_mapped).then_some(Width::Byte));
        if at >= IN {
            // The number of a standard one may have changed.
            self.descriptors[at - IN] = None;
        }
        Some(())
    }

    fn popen(&mut self, op: &Op) -> Option<()> {
        allowed(!self.is_branch && self.part.is_none())?;
        // The program has them, too: whether a pipe still has its other end would depend on who is faster.
        allowed(self.descriptors.iter().flatten().all(|descriptor| descriptor.sort != Sort::Other))?;
        allowed(self.streams.iter().flatten().all(|stream| stream.kind != Kind::Other))?;
        self.open_stream(op, 0, Kind::Program, &op.words[1])
    }

    fn pclose(&mut self, op: &Op) -> Option<()> {
        let stream = self.stream(op)?;
        allowed(stream.kind == Kind::Program && stream.reads == (op.words[1] == "r"))?;
        self.streams[op.slot(0)] = None;
        Some(())
    }

    fn fclose(&mut self, at: usize) -> Option<()> {
        let Stream { kind, description, clean, .. } = *self.stream_at(at)?;
        allowed(kind != Kind::Program)?;
        if !clean {
            self.touches(description, Some(at))?;
        }
        self.streams[at] = None;
        if at >= IN {
            self.descriptors[at - IN] = None;
        }
        Some(())
    }

    /// A file is used by a handle: all streams that share its position must be clean, and those that read
    /// have to be positioned before they are used again.
    pub(super) fn touches(&mut self, description: Description, except: Option<usize>) -> Option<()> {
        let others = || (0..STREAMS).filter(|&at| Some(at) != except);
        let shares = |stream: &Stream| stream.description == description && stream.kind == Kind::File;
        let is_free = |at: usize| {
            self.streams[at].as_ref().is_none_or(|stream| !shares(stream) || stream.clean && !stream.pushed)
        };
        allowed(others().all(is_free))?;
        for at in others() {
            // What is only written goes on where the file is.
            if let Some(stream) = self.streams[at].as_mut().filter(|stream| shares(stream) && stream.reads) {
                stream.last = Last::Elsewhere;
            }
        }
        Some(())
    }

    fn moves(&mut self, at: usize, how: Last, width: Width) -> Option<()> {
        let stream = self.stream_at(at)?;
        allowed(if how == Last::Read { stream.reads } else { stream.writes })?;
        allowed(stream.last == Last::Nothing || stream.last == how)?;
        allowed(how == Last::Read || !stream.pushed)?;
        allowed(stream.width.is_none_or(|is| is == width) && stream.only.is_none_or(|is| is == width))?;
        let description = stream.description;
        self.touches(description, Some(at))?;
        let stream = self.stream_at(at)?;
        stream.width = Some(width);
        // A call that moves nothing leaves glibc's streams without a width.
        stream.only = Some(width);
        stream.was_wide |= width == Width::Wide;
        stream.last = how;
        stream.was_written |= how == Last::Write;
        stream.clean = false;
        stream.pushed = false;
        Some(())
    }

    fn writes_error(&mut self, op: &Op) -> Option<()> {
        if op.row.name == "error" {
            // It flushes the standard output.
            self.streams[OUT].as_ref()?;
            self.flushes(OUT)?;
        }
        let width = self.streams[ERR].as_ref()?.width;
        // They print to streams of either width.
        self.moves(ERR, Last::Write, width.unwrap_or(Width::Byte))
    }

    fn ungets(&mut self, at: usize, width: Width) -> Option<()> {
        let stream = self.stream_at(at)?;
        // What was read before it: some character is there to be replaced.
        allowed(stream.reads && !stream.pushed && stream.last == Last::Read && stream.width == Some(width))?;
        // glibc 2.36 may crash later where the file is mapped.
        allowed(!stream.is_mapped && !stream.was_written)?;
        (stream.pushed, stream.was_pushed) = (true, true);
        stream.clean = false;
        Some(())
    }

    fn seeks(&mut self, op: &Op) -> Option<()> {
        let at = op.slot(0);
        let stream = self.stream(op)?;
        allowed(matches!(stream.kind, Kind::File | Kind::Memory | Kind::Growing))?;
        if stream.width == Some(Width::Wide) {
            // Only to places that are ends of characters. And glibc 2.36 may turn for ever if another one
            // than that which was read has been pushed back.
            allowed(op.row.rule != Rule::Seek || op.words[2] == "0")?;
            allowed(!stream.pushed)?;
            // So may glibc 2.39 if the place was changed before it became one of wide characters.
            allowed(!stream.sought_first)?;
            // And where others have written to the end meanwhile.
            allowed(!stream.appends)?;
        }
        let description = stream.description;
        self.touches(description, Some(at))?;
        let stream = self.stream(op)?;
        stream.last = Last::Nothing;
        stream.clean = true;
        stream.pushed = false;
        stream.sought_first |= stream.width.is_none();
        Some(())
    }

    fn flushes(&mut self, at: usize) -> Option<()> {
        let stream = self.stream_at(at)?;
        stream.clean = true;
        // What was pushed back is given up, and the position set back: POSIX, fflush.
        stream.pushed = false;
        if stream.last == Last::Write {
            stream.last = Last::Nothing;
        }
        Some(())
    }

    fn orients(&mut self, op: &Op) -> Option<()> {
        let stream = self.stream(op)?;
        let asked = match &*op.words[1] {
            "-1" => Some(Width::Byte),
            "1" => Some(Width::Wide),
            _ => None,
        };
        allowed(asked.is_none() || stream.only.is_none_or(|only| Some(only) == asked))?;
        allowed(stream.kind == Kind::File)?;
        stream.width = stream.width.or(asked);
        stream.was_wide |= stream.width == Some(Width::Wide);
        Some(())
    }
}
