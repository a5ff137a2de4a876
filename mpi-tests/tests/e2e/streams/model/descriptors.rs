//! Rules for descriptors.

use super::super::rows::Rule;
use super::super::script::{IN, Op};
use super::{Descriptor, Kind, Last, Model, Sort, Stream, allowed};

impl Model {
    pub(super) fn step_of_descriptors(&mut self, op: &Op) -> Option<()> {
        match op.row.rule {
            Rule::Open => {
                let flags = op.words.get(2).map_or("wronly", String::as_str);
                let is_fifo = op.words[1] == "p0" && self.has_fifo;
                let sort = if op.words[1].starts_with("/dev/") && op.words[1] != "/dev/stdout" || is_fifo {
                    Sort::Other
                } else {
                    sort_of_file(flags)
                };
                let reads = !flags.contains("wronly") && op.words[1] != "/dev/full";
                self.get(op.slot(0), sort, reads, !flags.contains("rdonly"))
            }
            Rule::OpenTemporary => self.get(op.slot(0), Sort::File, true, true),
            Rule::OpenOther => self.get(op.slot(0), Sort::Other, true, true),
            Rule::OpenDirectory => {
                // The other one is not there.
                allowed(!self.is_branch && (op.words[1] == "." || !self.is_below))?;
                let is_below = self.is_below || op.words[1] == "d";
                self.get(op.slot(0), Sort::Directory(is_below), true, false)
            }
            Rule::OpenAt => {
                let Sort::Directory(_) = self.descriptor(op, 1)?.sort else { return None };
                let flags = &op.words[3];
                let sort = sort_of_file(flags);
                self.get(op.slot(0), sort, !flags.contains("wronly"), !flags.contains("rdonly"))
            }
            Rule::Dup => {
                let copy = self.descriptor(op, 1)?.clone();
                self.free(op.slot(0))?;
                self.descriptors[op.slot(0)] = Some(copy);
                Some(())
            }
            Rule::DupOfStream => {
                let Stream { kind, description, reads, writes, .. } = *self.stream_at(op.slot(1))?;
                allowed(kind == Kind::File)?;
                self.free(op.slot(0))?;
                self.descriptors[op.slot(0)] =
                    Some(Descriptor { sort: Sort::File, description, reads, writes });
                Some(())
            }
            Rule::Replace => self.replaces(op),
            Rule::Close => self.closes(op),
            Rule::CloseAll => {
                let has_streams = self.streams[..IN].iter().any(Option::is_some);
                allowed(!self.is_branch && !has_streams && !self.directories.contains(&true))?;
                // Standard streams that were opened anew may have other numbers.
                allowed((0..3).all(|number| self.descriptors[number].is_some()))?;
                self.descriptors[3..].fill(None);
                Some(())
            }
            Rule::Pair => {
                allowed(op.slot(0) != op.slot(1))?;
                self.free(op.slot(1))?;
                self.get(op.slot(0), Sort::Other, true, op.row.name != "pipe")?;
                self.get(op.slot(1), Sort::Other, op.row.name != "pipe", true)
            }
            Rule::Use => {
                let descriptor = self.descriptor(op, 0)?;
                let description = descriptor.description;
                allowed(!matches!(descriptor.sort, Sort::Directory(_)))?;
                allowed(descriptor.sort != Sort::Direct || is_of_blocks(op))?;
                // glibc's threads for them do not live on in a child, where it waits for them for ever.
                let is_asynchronous = op.row.name.starts_with("aio_") || op.row.name == "lio_listio";
                allowed(!is_asynchronous || !matches!(self.part(), Some("fork" | "daemon")))?;
                self.touches(description, None)
            }
            Rule::TwoFiles => {
                let (to, from) = (self.descriptor(op, 0)?.clone(), self.descriptor(op, 1)?.clone());
                allowed(to.writes && from.reads && to.description != from.description)?;
                let is_file = |descriptor: &Descriptor| descriptor.sort == Sort::File;
                allowed(match op.row.name {
                    "splice" => is_file(&to) != is_file(&from),
                    "copy_file_range" => is_file(&to) && is_file(&from),
                    _ => is_file(&from),
                })?;
                let is_plain = |descriptor: &Descriptor| matches!(descriptor.sort, Sort::File | Sort::Other);
                allowed(is_plain(&to) && is_plain(&from))?;
                self.touches(to.description, None)?;
                self.touches(from.description, None)
            }
            Rule::Fdopendir => {
                let Sort::Directory(_) = self.descriptor(op, 1)?.sort else { return None };
                allowed(!self.directories[op.slot(0)])?;
                self.directories[op.slot(0)] = true;
                self.descriptors[op.slot(1)] = None;
                Some(())
            }
            Rule::Opendir => {
                allowed(!self.is_branch && !self.directories[op.slot(0)])?;
                self.directories[op.slot(0)] = true;
                Some(())
            }
            Rule::Closedir => {
                allowed(self.directories[op.slot(0)])?;
                self.directories[op.slot(0)] = false;
                Some(())
            }
            _ => self.step_of_parts(op),
        }
    }

    fn free(&mut self, at: usize) -> Option<()> {
        allowed(self.descriptors[at].is_none() && at > 2)
    }

    fn get(&mut self, at: usize, sort: Sort, reads: bool, writes: bool) -> Option<()> {
        self.free(at)?;
        let description = self.new_description();
        self.descriptors[at] = Some(Descriptor { sort, description, reads, writes });
        Some(())
    }

    /// Streams of the standard numbers go where the number goes.
    fn replaces(&mut self, op: &Op) -> Option<()> {
        let (to, from) = (op.slot(0), op.slot(1));
        let descriptor = self.descriptor(op, 1)?.clone();
        allowed(to != from && self.descriptors[to].is_some() && self.part() != Some("daemon"))?;
        if to < 3 {
            let place = IN + to;
            allowed(descriptor.sort == Sort::File)?;
            if let Some(stream) = &mut self.streams[place] {
                allowed(if stream.reads { descriptor.reads } else { descriptor.writes })?;
                allowed(stream.last != Last::Read && !stream.pushed)?;
                stream.description = descriptor.description;
                stream.kind = Kind::File;
            }
            self.touches(descriptor.description, Some(place))?;
        }
        self.descriptors[to] = Some(descriptor);
        Some(())
    }

    fn closes(&mut self, op: &Op) -> Option<()> {
        let at = op.slot(0);
        self.descriptor(op, 0)?;
        if at < 3 {
            let place = IN + at;
            allowed(self.streams[place].as_ref().is_none_or(|stream| stream.clean && !stream.pushed))?;
            // The number may mean something else soon.
            self.streams[place] = None;
        }
        self.descriptors[at] = None;
        Some(())
    }
}

fn sort_of_file(flags: &str) -> Sort {
    if flags.contains("direct") { Sort::Direct } else { Sort::File }
}

/// If it writes, then whole blocks in one piece: of others, the kernel may write a part although it says that
/// it has written nothing.
fn is_of_blocks(op: &Op) -> bool {
    let name = op.row.name;
    let are_blocks =
        || op.words[1..].iter().all(|word| word.parse().is_ok_and(|number: u64| number.is_multiple_of(4096)));
    match name {
        "write" | "pwrite" | "aio_write" => are_blocks(),
        _ => !name.contains("write") && !matches!(name, "dprintf" | "lio_listio"),
    }
}
