//! The spool of a process: what it holds, at a moment at which it may still be written.
//!
//! [`tmio_spool`] has its layout. A ring belongs to no thread: what several threads stored in it lies there
//! in the order in which they reserved their cells. Times are ticks of the clock that the spool names.

use crate::Operation;
use crate::format::filter::Filter;
use crate::format::operation::Mark;
use crate::format::raw::{RawRecord, RawRecords, TickScale};
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tmio_spool::cell::{CELL_BYTES, CELL_WORDS};
use tmio_spool::layout;

/// What a process's spool file holds.
#[derive(Debug)]
pub struct Spool {
    head: Vec<u64>,
    text: Vec<u8>,
    /// Path of the part that the records belong to, if the spool tells.
    pub part: Option<Vec<u8>>,
    /// The header and rank frames with which they begin there.
    pub greeting: Vec<u8>,
    /// Which files are recorded.
    pub filter: Filter,
    /// The rings that hold records.
    pub rings: Vec<Ring>,
}

/// Cells of one ring that have not left it, or may not have.
#[derive(Debug)]
pub struct Ring {
    words: Vec<u64>,
    /// How many of the cells are being written out, …
    flushing: usize,
    /// … and in which block.
    pub flush_block: u64,
}

impl Ring {
    /// Cells that are in no block; `was_written` tells whether a block of that number is there.
    pub fn words(&self, was_written: impl FnOnce(u64) -> bool) -> &[u64] {
        let from = if self.flushing > 0 && was_written(self.flush_block) { self.flushing } else { 0 };
        self.words.get(from * CELL_WORDS..).unwrap_or_default()
    }
}

/// What some rings hold.
#[derive(Debug, Default)]
pub struct Contents {
    /// The operations, on the rank's clock.
    pub operations: Vec<Operation>,
    /// The marks.
    pub marks: Vec<Mark>,
    /// Numbers and names of files.
    pub names: Vec<(u32, String)>,
}

impl Spool {
    /// Reads the bytes of a spool file. `None`: it is not one, or of another version or kind of machine.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let word_at = |offset: usize| -> Option<u64> {
            bytes.get(offset..)?.first_chunk().map(|&word| u64::from_ne_bytes(word))
        };
        let head: Vec<u64> =
            (0..layout::HEAD_WORDS).map(|index| word_at(8 * index)).collect::<Option<_>>()?;
        let word = |index: usize| head.get(index).copied().unwrap_or(0);
        let cells = usize::try_from(word(layout::RING_CELLS)).ok()?;
        if word(0) != layout::MAGIC || !cells.is_power_of_two() || cells > 1 << 24 {
            return None;
        }
        let piece = |offset: usize, room: usize, length: usize| {
            let length = usize::try_from(word(length)).unwrap_or(0).min(room);
            bytes.get(offset..offset + length).unwrap_or_default()
        };
        let identity = piece(layout::IDENTITY_OFFSET, layout::IDENTITY_BYTES, layout::IDENTITY_LENGTH);
        let identity = parse_identity(identity);
        let used = word(layout::RINGS);
        let ring = |index: usize| {
            let head =
                |field: usize| word_at(layout::RING_HEADS_OFFSET + (index * layout::RING_WORDS + field) * 8);
            let (tail, reserved) = (head(layout::TAIL)?, head(layout::RESERVED)?);
            let count = usize::try_from(reserved.checked_sub(tail)?).ok()?.min(cells);
            let begin = layout::RINGS_OFFSET + index * cells * CELL_BYTES;
            let mut words = Vec::new();
            words.try_reserve(count * CELL_WORDS).ok()?;
            for number in 0..count {
                let at = begin + (tail as usize).wrapping_add(number) % cells * CELL_BYTES;
                words.extend((0..CELL_WORDS).map(|field| word_at(at + 8 * field).unwrap_or(0)));
            }
            let flushing = head(layout::FLUSH_TO)?.saturating_sub(tail) as usize;
            Some(Ring { words, flushing: flushing.min(count), flush_block: head(layout::FLUSH_BLOCK)? })
        };
        let rings = (0..layout::MAX_RINGS).filter(|index| used >> index & 1 != 0).filter_map(ring).collect();
        Some(Spool {
            text: piece(layout::TEXT_OFFSET, layout::TEXT_BYTES, layout::TEXT_LENGTH).to_vec(),
            part: identity.map(|identity| identity.part.to_vec()),
            filter: identity
                .map(|identity| Filter::told(|name| said(identity.text, name)))
                .unwrap_or_default(),
            greeting: identity.map(|identity| identity.greeting.to_vec()).unwrap_or_default(),
            rings,
            head,
        })
    }

    /// A word of the head, by its index in [`layout`].
    pub fn word(&self, index: usize) -> u64 {
        self.head.get(index).copied().unwrap_or(0)
    }

    /// The rank, or the number of the process, if that was given out.
    pub fn rank(&self) -> Option<u32> {
        u32::try_from(self.word(layout::RANK)).ok()
    }

    /// The process that has made it.
    pub fn pid(&self) -> u32 {
        self.word(layout::PID) as u32
    }

    /// Number of the next block: records here are in no block from it on.
    pub fn next_block(&self) -> u64 {
        // Before the first one nothing is stored there.
        self.word(layout::NEXT_BLOCK).saturating_sub(1)
    }

    /// Operations that could be kept nowhere.
    pub fn lost(&self) -> u64 {
        self.word(layout::LOST)
    }

    /// Something that the process has said of itself: `exe`, `cwd`, `cmd`, or a variable of its environment.
    pub fn said(&self, name: &str) -> Option<&[u8]> {
        said(&self.text, name)
    }

    /// What a tick is.
    pub fn scale(&self) -> TickScale {
        scale(&|index| self.word(index))
    }

    /// What the rings hold that is in no block, but for files that are not recorded. `name_before` knows the
    /// names of files that have left the rings.
    pub fn contents<'n>(
        &self,
        mut was_written: impl FnMut(u64) -> bool,
        name_before: impl Fn(u32) -> Option<&'n str>,
    ) -> Contents {
        let scale = self.scale();
        let mut contents = Contents::default();
        for ring in &self.rings {
            let mut records = RawRecords::new(ring.words(&mut was_written), scale);
            while let Some(record) = records.next_record() {
                match record {
                    RawRecord::Operation(operation) => contents.operations.push(operation),
                    RawRecord::Mark(mark) => contents.marks.push(mark),
                    RawRecord::Name { file, text } => contents.names.push((file, text)),
                }
            }
        }
        if self.filter != Filter::default() {
            let Contents { operations, names, .. } = &mut contents;
            let here: HashMap<u32, &str> = names.iter().map(|(file, name)| (*file, name.as_str())).collect();
            operations.retain(|operation| {
                let name = here.get(&operation.file).copied().or_else(|| name_before(operation.file));
                name.map_or(self.filter.wants_unknown(operation.file), |name| {
                    Filter::at_layer(self.filter.wants(name), operation.kind.layer())
                })
            });
        }
        contents
    }
}

/// Where the records of a spool belong.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    /// The path of the part.
    pub part: &'a [u8],
    /// More about it, for the helper: strings `name=value`, each ended by a zero.
    pub text: &'a [u8],
    /// The header and rank frames with which they begin there.
    pub greeting: &'a [u8],
}

/// Reads it: the length of the path in four bytes, the path, the length of the text, the text, the frames.
pub fn parse_identity(bytes: &[u8]) -> Option<Identity<'_>> {
    let piece = |bytes| -> Option<(&[u8], &[u8])> {
        let (&length, rest): (&[u8; 4], &[u8]) = <[u8]>::split_first_chunk(bytes)?;
        rest.split_at_checked(u32::from_ne_bytes(length) as usize)
    };
    let (part, rest) = piece(bytes)?;
    let (text, greeting) = piece(rest)?;
    Some(Identity { part, text, greeting })
}

/// A value in what a process has said of itself.
pub fn said<'a>(text: &'a [u8], name: &str) -> Option<&'a [u8]> {
    text.split(|&byte| byte == 0).find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

/// The same as a path.
pub fn said_path(text: &[u8], name: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    said(text, name).map(|bytes| PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

/// What a tick of a spool is, by the words of its head. The rate of a counter is taken from two pairs of
/// readings: the first one, and the last one of the process or one of now, whichever makes the longer
/// distance.
pub fn scale(word: &dyn Fn(usize) -> u64) -> TickScale {
    if word(layout::CLOCK) != layout::CLOCK_COUNTER {
        return TickScale::NANOSECONDS;
    }
    let (ticks, ns) = (word(layout::MADE_TICKS), word(layout::MADE_NS) as i64);
    let told = (word(layout::LATER_TICKS), word(layout::LATER_NS) as i64);
    // After a reboot, clocks are different, and so they are in a namespace of time.
    let offset = (word(layout::MADE_REAL) as i64).wrapping_sub(ns);
    let is_same = |now: i64| ((realtime() - now) - offset).abs() < APART;
    let now = tmio_spool::clock::pair().filter(|now| now.0 > told.0 && now.1 > told.1 && is_same(now.1));
    let later = [Some(told), now].into_iter().flatten().filter(|later| later.0 > ticks && later.1 > ns);
    let later = later.max_by_key(|later| later.0);
    let rate = |(later, its): (u64, i64)| (its - ns) as f64 / (later - ticks) as f64;
    TickScale { ticks, ns, rate: later.map_or_else(|| own_rate().unwrap_or(1.0), rate) }
}

/// Two clocks that differ by more have not gone together.
const APART: i64 = 2_000_000_000;

fn realtime() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}

/// Nanoseconds of a tick, as measured here.
fn own_rate() -> Option<f64> {
    let first = tmio_spool::clock::pair()?;
    std::thread::sleep(Duration::from_millis(10));
    let second = tmio_spool::clock::pair().filter(|second| second.0 > first.0)?;
    Some((second.1 - first.1) as f64 / (second.0 - first.0) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, FilePointer, Flags, OpKind};
    use proptest::prelude::*;
    use tmio_spool::cell;

    const CELLS: usize = layout::SMALLEST_RING;

    fn spool_with(ring_head: &[(usize, u64)], cells: &[[u64; CELL_WORDS]]) -> Vec<u8> {
        let mut words = vec![0u64; layout::length(CELLS, 2) / 8];
        words[0] = layout::MAGIC;
        words[layout::RANK] = 3;
        words[layout::PID] = 99;
        words[layout::RING_CELLS] = CELLS as u64;
        words[layout::RINGS] = 1;
        let head = layout::RING_HEADS_OFFSET / 8;
        words[head + layout::RESERVED] = cells.len() as u64;
        for &(index, value) in ring_head {
            words[head + index] = value;
        }
        let tail = words[head + layout::TAIL] as usize;
        words[head + layout::RESERVED] += tail as u64;
        for (number, cell) in cells.iter().enumerate() {
            let at = layout::RINGS_OFFSET / 8 + (tail + number) % CELLS * CELL_WORDS;
            words[at..at + CELL_WORDS].copy_from_slice(cell);
        }
        words.iter().flat_map(|w| w.to_ne_bytes()).collect()
    }

    fn record(start: u64) -> [u64; CELL_WORDS] {
        let kind = OpKind::data(Direction::Write, FilePointer::Explicit, false, false, false);
        [cell::identity(5, kind, Flags::default(), 2), start, start + 10, 64, 8]
    }

    #[test]
    fn records_that_left_in_a_block_are_not_read_again() {
        let records = [record(100), record(200), record(300)];
        let starts = |tail: u64, head: &[(usize, u64)], written: bool| -> Vec<i64> {
            let head: Vec<(usize, u64)> = head.iter().copied().chain([(layout::TAIL, tail)]).collect();
            let spool = Spool::parse(&spool_with(&head, &records)).unwrap();
            let contents = spool.contents(|block| block == 7 && written, |_| None);
            contents.operations.iter().map(|op| op.start).collect()
        };
        // Also where the ring begins again.
        for tail in [0, 5, CELLS as u64 - 2, 10 * CELLS as u64 + 1] {
            assert_eq!(starts(tail, &[], false), [100, 200, 300]);
            let flushing = [(layout::FLUSH_TO, tail + 2), (layout::FLUSH_BLOCK, 7)];
            assert_eq!(starts(tail, &flushing, false), [100, 200, 300], "the block never reached the disk");
            assert_eq!(starts(tail, &flushing, true), [300], "the block is on the disk");
        }
    }

    /// What is written as the first block after a look is not counted twice.
    #[test]
    fn before_the_first_block_it_is_the_next_one() {
        let next = |word: u64| {
            let mut bytes = spool_with(&[], &[record(100)]);
            bytes[layout::NEXT_BLOCK * 8..][..8].copy_from_slice(&word.to_ne_bytes());
            Spool::parse(&bytes).unwrap().next_block()
        };
        assert_eq!([next(0), next(1), next(2)], [0, 0, 1]);
    }

    #[test]
    fn a_record_keeps_every_field() {
        let spool = Spool::parse(&spool_with(&[], &[record(100)])).unwrap();
        let op = spool.contents(|_| false, |_| None).operations[0];
        assert_eq!((spool.rank(), spool.pid(), spool.lost()), (Some(3), 99, 0));
        assert_eq!((op.start, op.end, op.offset, op.bytes), (100, 110, 64, 8));
        assert_eq!((op.file, op.thread, op.kind.to_string().as_str()), (5, 2, "write_at"));
    }

    #[test]
    fn cells_that_were_never_stored_are_passed_over() {
        let kind = OpKind::data(Direction::Read, FilePointer::Explicit, true, false, false);
        let head = |kind, file| cell::identity(file, kind, Flags::default(), 0);
        let more = |a| [head(cell::CONTINUED, 0), a, a + 1, a + 2, 0];
        let name =
            [head(cell::NAME, 9), 0, 20, u64::from_ne_bytes(*b"/a/long/"), u64::from_ne_bytes(*b"name/of/")];
        let rest = [head(cell::CONTINUED, 0), u64::from_ne_bytes(*b"it.h5678"), 0, 0, 0];
        let cells = [[0; 5], more(1), [head(kind, 9), 5, 9, 0, 8], more(6), [0; 5], name, rest, record(50)];
        let contents = Spool::parse(&spool_with(&[], &cells)).unwrap().contents(|_| false, |_| None);
        let times = contents.operations[0].nonblocking.unwrap();
        assert_eq!((times.issued, times.deadline, times.pending_until), (6, 7, 8));
        assert_eq!(
            (contents.operations.len(), contents.names),
            (2, vec![(9, "/a/long/name/of/it.h".to_owned())])
        );
    }

    #[test]
    fn what_a_process_says_of_itself() {
        let text = b"exe=/bin/x\0cmd=x a=b\0TMIO_RUN=1:2\0";
        assert_eq!(said(text, "exe"), Some(&b"/bin/x"[..]));
        assert_eq!((said(text, "cmd"), said(text, "a")), (Some(&b"x a=b"[..]), None));
        assert_eq!(said_path(text, "TMIO_RUN"), Some(PathBuf::from("1:2")));
    }

    #[test]
    fn ticks_become_nanoseconds_to_the_nearest() {
        let scale = TickScale { ticks: 1000, ns: 5_000_000, rate: 0.4 };
        assert_eq!(scale.to_ns(1000), 5_000_000);
        assert_eq!(scale.to_ns(1005), 5_000_002);
        assert_eq!(scale.to_ns(996), 4_999_998);
        let day = 86_400_000_000_000u64;
        assert!((scale.to_ns(1000 + day * 5 / 2) - 5_000_000 - day as i64).abs() < 1000);
        assert_eq!(TickScale::NANOSECONDS.to_ns(u64::MAX >> 1), i64::MAX);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(
            flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
            near in any::<bool>(),
        ) {
            let mut bytes = spool_with(&[], &[record(1)]);
            let room = if near { layout::RING_HEADS_OFFSET + 256 } else { bytes.len() };
            for (at, value) in flips { let i = at.index(room); bytes[i] = value; }
            if let Some(spool) = Spool::parse(&bytes) {
                let _ = spool.contents(|_| true, |_| None);
            }
        }
    }
}
