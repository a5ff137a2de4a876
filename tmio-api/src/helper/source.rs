//! A spool that the helper takes records out of.

use crate::place::destination::Destination;
use crate::process::clock;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::{Duration, Instant};
use tmio_spool::cell::{self, CELL_BYTES, CELL_WORDS};
use tmio_spool::layout::{self, MAX_RINGS};
use tmio_trace::Filter;
use tmio_trace::raw::{RawRecord, RawRecords, TickScale};
use tmio_trace::spool;
use tmio_trace::{TraceLayer, liveness};

/// The memory of a spool, shared with the process that writes to it.
#[derive(Debug)]
pub(super) struct Memory {
    words: &'static [AtomicU64],
    cells: usize,
    rings: usize,
}

impl Memory {
    /// Opened only for a moment: descriptors may be few.
    fn open(path: &Path) -> io::Result<File> {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
        std::fs::OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)
    }

    /// Maps a spool. `None`: it is not one, or is not complete yet.
    pub(super) fn map(path: &Path) -> Option<Self> {
        let file = Self::open(path).ok()?;
        let meta = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let length = usize::try_from(meta.len()).ok().filter(|&length| length >= layout::RINGS_OFFSET)?;
        let (protection, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: a new mapping anywhere the kernel likes.
        let address =
            unsafe { libc::mmap(std::ptr::null_mut(), length, protection, shared, file.as_raw_fd(), 0) };
        if address == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: the mapping has that length and is unmapped only when this is dropped; it is used as
        // atomics.
        let words: &'static [AtomicU64] = unsafe { std::slice::from_raw_parts(address.cast(), length / 8) };
        let mut memory = Self { words, cells: 0, rings: 0 };
        let cells = usize::try_from(memory.word(layout::RING_CELLS)).ok()?;
        if memory.word(0) != layout::MAGIC || !cells.is_power_of_two() || cells > 1 << 24 {
            return None;
        }
        memory.cells = cells;
        memory.rings = ((length - layout::RINGS_OFFSET) / (cells * CELL_BYTES)).min(MAX_RINGS);
        Some(memory)
    }

    fn at(&self, index: usize) -> Option<&AtomicU64> {
        self.words.get(index)
    }

    pub(super) fn word(&self, index: usize) -> u64 {
        self.at(index).map_or(0, |word| word.load(Acquire))
    }

    pub(super) fn set(&self, index: usize, value: u64) {
        if let Some(word) = self.at(index) {
            word.store(value, Release);
        }
    }

    pub(super) fn mark(&self, flag: u64) {
        if let Some(flags) = self.at(layout::FLAGS) {
            flags.fetch_or(flag, Release);
        }
    }

    /// Stores a state, and wakes whoever waits for one.
    pub(super) fn set_state(&self, state: u64) {
        self.set(layout::STATE, state);
        let Some(word) = self.at(layout::STATE) else { return };
        let word = std::ptr::from_ref(word).cast::<u32>();
        let word = if cfg!(target_endian = "big") { word.wrapping_add(1) } else { word };
        // SAFETY: the address only names the word.
        unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAKE, i32::MAX, 0, 0, 0) };
    }

    fn ring_word(&self, ring: usize, field: usize) -> u64 {
        self.word(layout::RING_HEADS_OFFSET / 8 + ring * layout::RING_WORDS + field)
    }

    fn set_ring_word(&self, ring: usize, field: usize, value: u64) {
        self.set(layout::RING_HEADS_OFFSET / 8 + ring * layout::RING_WORDS + field, value);
    }

    /// The first word of a cell.
    fn cell(&self, ring: usize, at: u64) -> usize {
        (layout::RINGS_OFFSET + (ring * self.cells + at as usize % self.cells) * CELL_BYTES) / 8
    }

    /// Gives the room of cells back that are in a block.
    fn free(&self, ring: usize, end: u64) {
        for at in self.ring_word(ring, layout::TAIL)..end {
            self.set(self.cell(ring, at), 0);
        }
        self.set_ring_word(ring, layout::TAIL, end);
    }

    fn used_rings(&self) -> impl Iterator<Item = usize> + use<> {
        let used = self.word(layout::RINGS);
        (0..self.rings).filter(move |ring| used >> ring & 1 != 0)
    }

    /// Bytes of the text in the spool, behind `length` at `offset`.
    pub(super) fn bytes(&self, offset: usize, room: usize, length: usize) -> Vec<u8> {
        let length = usize::try_from(self.word(length)).unwrap_or(0).min(room);
        let words = self.words.get(offset / 8..(offset + length).div_ceil(8)).unwrap_or_default();
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.load(Relaxed).to_ne_bytes()).collect();
        bytes.truncate(length);
        bytes
    }

    /// Stores where the records belong, for whoever finds the spool later.
    pub(super) fn identify(&self, path: &Path, rank: u32, identity: &[u8]) -> io::Result<()> {
        // By a write: where there is no memory for it, that is an error and not a signal.
        Self::open(path)?.write_all_at(identity, layout::IDENTITY_OFFSET as u64)?;
        self.set(layout::IDENTITY_LENGTH, identity.len() as u64);
        self.set(layout::RANK, u64::from(rank));
        Ok(())
    }

    /// What a tick is.
    pub(super) fn scale(&self) -> TickScale {
        spool::scale(&|index| self.word(index))
    }

    /// When the oldest operation began that some thread is in, in ticks. `None`: somebody is in one of
    /// unknown start.
    pub(super) fn in_flight(&self) -> Option<u64> {
        if self.word(layout::WITHOUT_WORD) != 0 {
            return None;
        }
        // Only the words of a rank have memory; others have no operations that would be noted there.
        if self.word(layout::FLAGS) & layout::FLAG_RANK == 0 {
            return Some(u64::MAX);
        }
        let begin = layout::IN_FLIGHT_OFFSET / 8;
        let words = self.words.get(begin..begin + layout::MAX_IN_FLIGHT).unwrap_or_default();
        let threads = words.iter().map(|word| word.load(Acquire));
        let all = threads.chain([self.word(layout::SPLIT_SINCE)]).filter(|&since| since != 0);
        Some(all.min().unwrap_or(u64::MAX)).filter(|&since| since != 1)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this length, and nobody has a reference to it any more.
        unsafe { libc::munmap(self.words.as_ptr().cast_mut().cast(), self.words.len() * 8) };
    }
}

/// What was taken out of the rings of a spool.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Whole cells of operations and marks that are recorded.
    pub(super) words: Vec<u64>,
    /// Up to where, by ring.
    upto: Vec<(usize, u64)>,
    /// Bytes of operations that are left out: read and written.
    left_out: [u64; 2],
}

impl Taken {
    pub(super) fn is_empty(&self) -> bool {
        self.upto.is_empty()
    }

    /// How many cells of operations and marks.
    pub(super) fn cells(&self) -> usize {
        self.words.len() / CELL_WORDS
    }
}

/// The names of files that a process has told: one after the other, as there may be millions.
#[derive(Debug, Default)]
pub(super) struct Names {
    text: String,
    places: HashMap<u32, Name>,
}

/// Where a name is, and which operations on its file are recorded: those of MPI-IO, and those below.
#[derive(Clone, Copy, Debug)]
struct Name {
    begin: usize,
    length: u16,
    wanted: (bool, bool),
}

impl Names {
    /// Takes note of a name. Whether it is new.
    pub(super) fn add(&mut self, file: u32, name: &str, filter: &Filter) -> bool {
        let wanted = filter.wants(name);
        // As long as a cell has texts at most.
        let length = u16::try_from(name.len()).unwrap_or(u16::MAX);
        let place = Name { begin: self.text.len(), length, wanted };
        self.text.push_str(name);
        self.places.insert(file, place).is_none() && (wanted.0 || wanted.1)
    }

    pub(super) fn name(&self, file: u32) -> Option<&str> {
        let place = self.places.get(&file)?;
        self.text.get(place.begin..place.begin + usize::from(place.length))
    }

    /// Whether operations on a file are recorded at a layer. An earlier helper may have known more names.
    fn wants(&self, file: u32, layer: TraceLayer, filter: &Filter) -> bool {
        let known = self.places.get(&file);
        known.map_or(filter.wants_unknown(file), |place| Filter::at_layer(place.wanted, layer))
    }
}

/// A cell that was reserved and is not stored.
#[derive(Clone, Copy, Debug)]
struct Gap {
    ring: usize,
    at: u64,
    since: Instant,
}

/// After this a cell that was not stored is passed over: whoever reserved it has left by a jump.
const LONGEST_GAP: Duration = Duration::from_secs(2);

/// Two clocks that differ by more have not gone together.
pub(super) const APART: i64 = 2_000_000_000;

/// How far the monotonic clock of a process is behind that of this one: those of a namespace of time are.
fn behind(memory: &Memory, pid: u32) -> i64 {
    let time = |place: &Path| std::fs::metadata(place.join("ns/time")).ok().map(|about| about.ino());
    let own = time(Path::new("/proc/self"));
    if own.is_some() && liveness::place_of(pid).and_then(|place| time(&place)) == own {
        return 0;
    }
    let began = memory.word(layout::MADE_REAL).wrapping_sub(memory.word(layout::MADE_NS)) as i64;
    Some(began - (clock::realtime() - clock::monotonic())).filter(|apart| apart.abs() > APART).unwrap_or(0)
}

/// When the process started that has made a spool. `None`: it has ended, and its number may be another one's.
fn started(memory: &Memory, pid: u32) -> Option<u64> {
    let slept = clock::since_boot() - clock::monotonic();
    liveness::started_before(pid, memory.word(layout::MADE_NS) as i64, slept)
}

/// Cells that are taken at once, so that a block has no more operations than readers accept.
const MOST_CELLS: u64 = 1 << 19;

/// A spool, and where its records go.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) memory: Memory,
    pub(super) pid: u32,
    /// When the process started, as far as that could be asked.
    pub(super) started: Option<u64>,
    /// How far its monotonic clock is behind.
    pub(super) behind: i64,
    pub(super) names: Names,
    /// Files whose names are in no block yet: what leaves the spool must be in the part.
    pub(super) unwritten: Vec<u32>,
    gaps: Vec<Gap>,
    /// Number of the next block.
    pub(super) sequence: u64,
    pub(super) covered: i64,
    /// Where its blocks lie in the part.
    pub(super) extents: Vec<std::ops::Range<u64>>,
    pub(super) operations: u64,
    pub(super) written: Instant,
    pub(super) left_out: [u64; 2],
}

impl Source {
    pub(super) fn new(path: &Path, memory: Memory) -> Self {
        let pid = memory.word(layout::PID) as u32;
        Self {
            path: path.to_owned(),
            pid,
            started: started(&memory, pid),
            behind: behind(&memory, pid),
            names: Names::default(),
            unwritten: Vec::new(),
            gaps: Vec::new(),
            // A helper that was killed may have begun some.
            sequence: memory.word(layout::NEXT_BLOCK).saturating_sub(1),
            memory,
            covered: 0,
            extents: Vec::new(),
            operations: 0,
            written: Instant::now(),
            left_out: [0; 2],
        }
    }

    /// What the monotonic clock of the process says.
    pub(super) fn now(&self) -> i64 {
        clock::monotonic() - self.behind
    }

    /// Whether the process still runs the program that has made the spool.
    pub(super) fn is_alive(&self) -> bool {
        if !liveness::is_namespace_of(self.memory.word(layout::NAMESPACE)) {
            // Its number means somebody else here.
            return liveness::is_in_memory(&self.path);
        }
        started(&self.memory, self.pid).is_some_and(|now| self.started.is_none_or(|before| now == before))
    }

    /// Whether a process that runs still has the spool in its memory: it may have become another program.
    pub(super) fn is_mapped(&self) -> bool {
        if !liveness::is_namespace_of(self.memory.word(layout::NAMESPACE)) {
            return liveness::is_in_memory(&self.path);
        }
        let maps = liveness::place_of(self.pid).and_then(|place| std::fs::read(place.join("maps")).ok());
        let Some(maps) = maps else { return true };
        let Some(name) = self.path.file_name() else { return true };
        let name = name.as_encoded_bytes();
        maps.windows(name.len()).any(|part| part == name)
    }

    /// What an earlier helper has written to the part: it is known again.
    pub(super) fn go_on(&mut self, part: &Path, rank: u32, filter: &Filter) {
        if self.sequence == 0 {
            return;
        }
        let Ok(found) = tmio_trace::salvage::written(part, rank) else { return };
        for (file, name) in &found.names {
            self.names.add(*file, name, filter);
        }
        self.extents = found.extents;
        self.operations = found.operations;
        // It may have been killed between writing a block and giving the room in the spool back.
        for ring in self.memory.used_rings() {
            let word = |field: usize| self.memory.ring_word(ring, field);
            let (tail, end) = (word(layout::TAIL), word(layout::FLUSH_TO));
            let most = tail.saturating_add(self.memory.cells as u64);
            if end > tail && end <= most && found.blocks.contains(&word(layout::FLUSH_BLOCK)) {
                self.memory.free(ring, end);
            }
        }
    }

    /// Numbers and names of the files that the next block tells of, of which it uses `used`.
    pub(super) fn names_for(&self, used: &[u32]) -> Vec<(u32, &str)> {
        let known: HashSet<u32> = used.iter().copied().collect();
        let more = self.unwritten.iter().filter(|file| !known.contains(file));
        used.iter().chain(more).filter_map(|&file| Some((file, self.names.name(file)?))).collect()
    }

    /// Cells that wait, and the share of the fullest ring.
    pub(super) fn waiting(&self) -> (u64, f64) {
        let used = |ring: usize| {
            let (reserved, tail) =
                (self.memory.ring_word(ring, layout::RESERVED), self.memory.ring_word(ring, layout::TAIL));
            reserved.saturating_sub(tail)
        };
        let (sum, most) =
            self.memory.used_rings().map(used).fold((0, 0), |(sum, most), used| (sum + used, most.max(used)));
        (sum, most as f64 / self.memory.cells.max(1) as f64)
    }

    /// Copies what the rings hold. Names are learnt; operations on files that are not recorded are left out.
    /// `dead`: nobody will store what was reserved.
    pub(super) fn take(&mut self, filter: &Filter, dead: bool) -> Taken {
        let mut taken = Taken::default();
        let rings: Vec<usize> = self.memory.used_rings().collect();
        // How far each goes is noted first. A name is stored before its file is used, perhaps in another
        // ring: all names are learnt before any operation is looked at.
        let mut left = MOST_CELLS;
        let mut ends: Vec<(usize, u64, u64)> = Vec::new();
        for ring in rings {
            let (_, tail, end) = self.extent(ring, dead, left);
            left = left.saturating_sub(end - tail);
            ends.push((ring, tail, end));
        }
        for &(ring, ..) in &ends {
            let (_, tail, end) = self.extent(ring, dead, u64::MAX / 4);
            self.learn(ring, tail, end, filter);
        }
        for (ring, tail, end) in ends {
            if end == tail {
                continue;
            }
            let mut drops_more = false;
            // Most cells are about the file of the one before.
            let mut last = (0, false);
            for at in tail..end {
                let words = self.words(ring, at);
                let [identity, _, _, _, bytes] = words;
                let kind = cell::kind(identity);
                if identity == 0 || kind == cell::NAME {
                    drops_more = true;
                    continue;
                }
                if kind == cell::CONTINUED {
                    if !drops_more {
                        taken.words.extend(words);
                    }
                    continue;
                }
                let about = u64::from(cell::file(identity)) | (kind.layer() as u64) << 32 | 1 << 40;
                if about != last.0 {
                    last = (about, !self.names.wants(cell::file(identity), kind.layer(), filter));
                }
                drops_more = last.1;
                if !drops_more {
                    taken.words.extend(words);
                } else if let Some(direction) = kind.direction() {
                    let [read, written] = &mut taken.left_out;
                    *if direction == tmio_trace::Direction::Read { read } else { written } += bytes;
                }
            }
            taken.upto.push((ring, end));
        }
        taken
    }

    fn words(&self, ring: usize, at: u64) -> [u64; CELL_WORDS] {
        let first = self.memory.cell(ring, at);
        let mut words = [0; CELL_WORDS];
        words.iter_mut().zip(first..).for_each(|(word, index)| *word = self.memory.word(index));
        words
    }

    /// From where to where a ring holds cells that are stored.
    fn extent(&mut self, ring: usize, dead: bool, most: u64) -> (usize, u64, u64) {
        let tail = self.memory.ring_word(ring, layout::TAIL);
        let most = tail.wrapping_add(self.memory.cells as u64).min(tail + most);
        let reserved = self.memory.ring_word(ring, layout::RESERVED);
        let mut end = tail;
        while end < reserved.min(most) {
            let is_stored = self.memory.word(self.memory.cell(ring, end)) != 0;
            if !is_stored && !dead && !self.is_abandoned(ring, end) {
                break;
            }
            end += 1;
        }
        // A record is not cut.
        while end == most && end < reserved {
            let identity = self.memory.word(self.memory.cell(ring, end));
            if cell::kind(identity) != cell::CONTINUED || end >= tail + self.memory.cells as u64 {
                break;
            }
            end += 1;
        }
        (ring, tail, end)
    }

    /// Whether nobody will store a cell any more.
    fn is_abandoned(&mut self, ring: usize, at: u64) -> bool {
        match self.gaps.iter_mut().find(|gap| gap.ring == ring) {
            Some(gap) if gap.at == at => {
                // A process that stands still may go on.
                gap.since.elapsed() > LONGEST_GAP && !tmio_trace::liveness::is_stopped(self.pid)
            }
            Some(gap) => {
                *gap = Gap { ring, at, since: Instant::now() };
                false
            }
            None => {
                self.gaps.push(Gap { ring, at, since: Instant::now() });
                false
            }
        }
    }

    /// Learns the names that are in a ring.
    fn learn(&mut self, ring: usize, tail: u64, end: u64, filter: &Filter) {
        let mut at = tail;
        while at < end {
            let identity = self.memory.word(self.memory.cell(ring, at));
            if identity == 0 || cell::kind(identity) != cell::NAME {
                at += 1;
                continue;
            }
            let count =
                cell::cells_of_text(self.words(ring, at).get(2).map_or(0, |length| *length as usize)) as u64;
            let cells: Vec<u64> = (at..(at + count).min(end)).flat_map(|at| self.words(ring, at)).collect();
            let mut records = RawRecords::new(&cells, TickScale::NANOSECONDS);
            if let Some(RawRecord::Name { file, text }) = records.next_record()
                && self.names.add(file, &text, filter)
            {
                self.unwritten.push(file);
            }
            at += count;
        }
    }

    /// Notes that what was taken is being written as the next block, before it is.
    pub(super) fn begin_block(&mut self, taken: &Taken) -> u64 {
        let sequence = self.sequence;
        self.sequence += 1;
        for &(ring, end) in &taken.upto {
            self.memory.set_ring_word(ring, layout::FLUSH_BLOCK, sequence);
            self.memory.set_ring_word(ring, layout::FLUSH_TO, end);
        }
        // Last: until then a reader takes all of this from memory and leaves the block out, however much of
        // the above it has seen.
        self.memory.set(layout::NEXT_BLOCK, self.sequence + 1);
        sequence
    }

    /// Frees what was taken: it is written.
    pub(super) fn free(&mut self, taken: &Taken) {
        for &(ring, end) in &taken.upto {
            self.memory.free(ring, end);
        }
        self.unwritten.clear();
        let [read, written] = &mut self.left_out;
        *read += taken.left_out[0];
        *written += taken.left_out[1];
        self.written = Instant::now();
    }

    /// The destination that is told in the spool, if it is.
    pub(super) fn told(&self) -> Option<(Destination, Vec<u8>)> {
        let bytes =
            self.memory.bytes(layout::IDENTITY_OFFSET, layout::IDENTITY_BYTES, layout::IDENTITY_LENGTH);
        let identity = spool::parse_identity(&bytes)?;
        Some((Destination::decode(identity.part, identity.text), identity.greeting.to_vec()))
    }

    /// What the process says of itself.
    pub(super) fn text(&self) -> Vec<u8> {
        self.memory.bytes(layout::TEXT_OFFSET, layout::TEXT_BYTES, layout::TEXT_LENGTH)
    }
}

#[cfg(test)]
mod tests {
    use super::super::frames::{Detail, encode};
    use super::*;
    use crate::place::parts::Part;
    use tmio_spool::kind::{Direction, FilePointer, Flags, OpKind};
    use tmio_trace::block::BlockEncoder;

    const CELLS: usize = layout::SMALLEST_RING;
    const RANK: u32 = 3;

    /// A spool in a directory of its own, with so many operations in one ring.
    fn spool(directory: &Path, operations: u64) -> PathBuf {
        let mut words = vec![0u64; layout::length(CELLS, 2) / 8];
        let kind = OpKind::data(Direction::Write, FilePointer::Explicit, false, false, false);
        let head = layout::RING_HEADS_OFFSET / 8;
        let told = [(0, layout::MAGIC), (layout::PID, 99), (layout::RING_CELLS, CELLS as u64)];
        let ring = [(layout::RINGS, 1), (head + layout::RESERVED, operations)];
        told.into_iter().chain(ring).for_each(|(index, value)| words[index] = value);
        for (number, cell) in words[layout::RINGS_OFFSET / 8..].chunks_mut(CELL_WORDS).enumerate() {
            let start = number as u64 * 100;
            if start < operations * 100 {
                cell.copy_from_slice(&[
                    cell::identity(5, kind, Flags::default(), 2),
                    start,
                    start + 10,
                    64,
                    8,
                ]);
            }
        }
        let path = directory.join("0-1.spool");
        std::fs::write(&path, words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>()).unwrap();
        path
    }

    /// What a helper that comes now finds.
    fn next_helper(spool: &Path, part: &Path) -> Source {
        let mut source = Source::new(spool, Memory::map(spool).unwrap());
        source.go_on(part, RANK, &Filter::default());
        source
    }

    /// The next block of all that waits: the frame, and what it takes from the rings.
    fn block(source: &mut Source) -> (Vec<u8>, Taken) {
        let taken = source.take(&Filter::default(), true);
        let number = source.begin_block(&taken);
        let mut encoder = BlockEncoder::default();
        encode(&mut encoder, &taken.words, TickScale::NANOSECONDS, Detail::Operations).unwrap();
        (encoder.finish(RANK, number, 0, vec![(5, "a file")]).unwrap().to_vec(), taken)
    }

    /// Wherever between two steps a helper is killed, the one that follows it writes what is not written, and
    /// nothing twice.
    #[test]
    fn a_helper_that_is_killed_between_any_two_steps() {
        let directory = std::env::temp_dir().join(format!("tmio-killed-{}", std::process::id()));
        std::fs::create_dir(&directory).unwrap();
        for killed_after in ["nothing", "beginning", "a piece", "appending", "freeing"] {
            let spool = spool(&directory, 50);
            let path = directory.join("t.parts").join("h.1.2");
            let part = Part::new(&path, &directory, Path::new(""));
            let mut before = 0;
            // Twice, and a third helper finds what both have left.
            for helper in 0..2 {
                let mut source = next_helper(&spool, &path);
                assert_eq!(source.waiting().0 + source.operations, 50, "{killed_after}, {helper}");
                let (frame, taken) = block(&mut source);
                match killed_after {
                    "a piece" => drop(part.append(&frame[..frame.len() / 2]).unwrap()),
                    "appending" | "freeing" => drop(part.append(&frame).unwrap()),
                    _ => {}
                }
                if killed_after == "freeing" {
                    source.free(&taken);
                }
                before = source.sequence;
            }
            let mut last = next_helper(&spool, &path);
            assert!(last.sequence >= before, "{killed_after}: a number for two blocks");
            let (frame, taken) = block(&mut last);
            part.append(&frame).unwrap();
            last.free(&taken);
            let found = tmio_trace::salvage::written(&path, RANK).unwrap();
            assert_eq!((found.operations, last.waiting().0), (50, 0), "{killed_after}");
            assert_eq!(next_helper(&spool, &path).operations, 50, "{killed_after}");
            std::fs::remove_dir_all(directory.join("t.parts")).unwrap();
        }
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
