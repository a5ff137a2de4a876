//! One trace of what the ranks of a node have, at the request of one of them; and of runs whose processes
//! have all ended.

use super::Helper;
use super::frames::{Detail, encode, end_frame, header_in, rank_in, with_rank};
use super::target::{Target, TraceOptions};
use crate::options::Format;
use crate::place::output::{self, Place};
use crate::place::parts::{give_rights, make_directories};
use crate::process::{clock, message, system};
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tmio_spool::control::{self, ANSWER, ANSWER_WORDS, REQUEST, REQUEST_WORDS, WORDS};
use tmio_spool::layout;
use tmio_trace::block::BlockEncoder;
use tmio_trace::frame::{self, padding};
use tmio_trace::{Trace, TraceEnd, parts, tmio};

/// Mode of files that are being made.
const NEW_MODE: u32 = 0o600;

/// More cells than these go to the part first.
const MOST_AT_ONCE: u64 = 1 << 19;

/// Seconds, minutes, and one record for the whole block.
const STRETCHES: [i64; 3] = [1_000_000_000, 60_000_000_000, i64::MAX];

/// In how much detail a block of so many cells is written: as the node's share of the largest size allows.
pub(super) fn detail(reached: u64, cells: usize, most: u64) -> Detail {
    /// What a record takes in a block, roughly.
    const RECORD: u64 = 10;
    let [seconds, minutes, _] = STRETCHES;
    let reached = reached + cells as u64 * RECORD;
    match most {
        0 => Detail::Operations,
        _ if reached < most => Detail::Operations,
        _ if reached < most.saturating_add(most / 2) => Detail::Stretches(seconds),
        _ => Detail::Stretches(minutes),
    }
}

/// What the ranks of this node have, for the trace that is being made.
#[derive(Debug, Default)]
pub(super) struct Making {
    ranks: Vec<Mine>,
    temporary: PathBuf,
}

/// What one rank has.
#[derive(Debug)]
struct Mine {
    rank: u32,
    part: PathBuf,
    /// Frames that come first.
    front: Vec<u8>,
    /// Blocks in the part.
    extents: Vec<std::ops::Range<u64>>,
    /// The last block.
    tail: Vec<u8>,
    operations: u64,
    lost: u64,
}

impl Mine {
    fn length(&self) -> u64 {
        let blocks: u64 = self.extents.iter().map(|extent| extent.end - extent.start).sum();
        self.front.len() as u64 + blocks + self.tail.len() as u64
    }
}

type Numbers = [u64; WORDS - 1];

impl Helper {
    /// Answers the request of a rank, if there is a new one.
    pub(super) fn answer(&mut self) {
        let request = self.control.get(REQUEST);
        if request == self.answered {
            return;
        }
        let mut numbers: Numbers = [0; WORDS - 1];
        numbers
            .iter_mut()
            .zip(REQUEST_WORDS + 1..)
            .for_each(|(number, index)| *number = self.control.get(index));
        let text = self.text(control::REQUEST_TEXT);
        let answer = match self.control.get(REQUEST_WORDS) {
            control::TAKE => self.take_all(numbers),
            control::MAKE => self.make(Path::new(OsStr::from_bytes(&text))),
            control::WRITE => self.write_all(numbers, Path::new(OsStr::from_bytes(&text))),
            control::FINISH => self.finish_trace(numbers, Path::new(OsStr::from_bytes(&text))),
            control::CLEAR => self.clear(),
            control::KEEP => self.keep(),
            other => Err(format!("the helper does not know request {other}")),
        };
        let (status, numbers, text) = match answer {
            Ok((numbers, text)) => (control::DONE, numbers, text),
            Err(reason) => (control::FAILED, [0; WORDS - 1], reason.into_bytes()),
        };
        for (index, value) in (ANSWER_WORDS..).zip(std::iter::once(status).chain(numbers)) {
            self.control.set(index, value);
        }
        self.set_text(control::ANSWER_TEXT, &text);
        self.answered = request;
        self.control.set(ANSWER, request);
    }

    fn text(&self, offset: usize) -> Vec<u8> {
        let length = (self.control.get(offset / 8) as usize).min(control::TEXT_BYTES - 8);
        let words = self.control.words.get(offset / 8 + 1..).unwrap_or_default();
        let mut bytes: Vec<u8> = words
            .iter()
            .take(length.div_ceil(8))
            .flat_map(|word| word.load(std::sync::atomic::Ordering::Acquire).to_ne_bytes())
            .collect();
        bytes.truncate(length);
        bytes
    }

    fn set_text(&self, offset: usize, text: &[u8]) {
        let text = text.get(..text.len().min(control::TEXT_BYTES - 8)).unwrap_or_default();
        self.control.set(offset / 8, text.len() as u64);
        for (index, piece) in (offset / 8 + 1..).zip(text.chunks(8)) {
            let mut word = [0; 8];
            word.iter_mut().zip(piece).for_each(|(to, from)| *to = *from);
            self.control.set(index, u64::from_ne_bytes(word));
        }
    }

    /// Ranks that wait in `MPI_Finalize`.
    fn finalizing(&self) -> Vec<usize> {
        let waits = |index: &usize| {
            self.members.get(*index).is_some_and(|member| {
                member.source.memory.word(layout::STATE) == layout::FINALIZING && member.alive
            })
        };
        (0..self.members.len()).filter(waits).collect()
    }

    /// Takes what all ranks of the node have, once they have all come.
    fn take_all(&mut self, [expected, detail, ..]: Numbers) -> Result<(Numbers, Vec<u8>), String> {
        let until = std::time::Instant::now() + std::time::Duration::from_secs(5);
        while (self.finalizing().len() as u64) < expected && std::time::Instant::now() < until {
            self.looked = None;
            self.look_for_spools();
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
        let wanted = detail.checked_sub(1).and_then(|level| STRETCHES.get(level as usize));
        let detail = wanted.map(|width| Detail::Stretches(*width));
        let mut ranks = Vec::new();
        for index in self.finalizing() {
            ranks.push(self.take_one(index, detail)?);
        }
        ranks.sort_by_key(|mine| mine.rank);
        let numbers = [
            ranks.iter().map(Mine::length).sum(),
            ranks.iter().map(|mine| mine.operations).sum(),
            ranks.iter().map(|mine| mine.lost).sum(),
            0,
            0,
            0,
        ];
        self.trace.ranks = ranks;
        Ok((numbers, Vec::new()))
    }

    fn take_one(&mut self, index: usize, wanted: Option<Detail>) -> Result<Mine, String> {
        if !self.place(index) {
            return Err("a rank does not say where its records belong".to_owned());
        }
        // A last block has no more operations than readers accept.
        if self.members.get(index).is_some_and(|member| member.source.waiting().0 > MOST_AT_ONCE) {
            self.write(index, false);
        }
        let Some(member) = self.members.get_mut(index) else { return Err(String::new()) };
        let Some(place) = &member.place else { return Err(String::new()) };
        let target = self.targets.get(&place.destination.part);
        if let Some(failure) = target.and_then(|target| target.failure.clone()) {
            return Err(failure);
        }
        let reached = target.map_or(0, |target| target.reached);
        let source = &mut member.source;
        let scale = source.memory.scale();
        let taken = source.take(&place.destination.filter, true);
        let mut tail = Vec::new();
        let mut count = 0;
        let is_first = source.extents.is_empty();
        if !taken.words.is_empty() || is_first {
            let sequence = source.begin_block(&taken);
            let detail =
                wanted.unwrap_or_else(|| detail(reached, taken.cells(), place.destination.most_bytes));
            let mut encoder = BlockEncoder::default();
            count = encode(&mut encoder, &taken.words, scale, detail).map_err(|error| error.to_string())?;
            let names = source.names_for(encoder.files());
            let frame = encoder.finish(place.info.rank, sequence, source.now(), names);
            tail = frame.map_err(|error| error.to_string())?.to_vec();
        }
        let operations = source.operations + count;
        let lost = source.memory.word(layout::LOST);
        let front = source.memory.bytes(layout::FRONT_OFFSET, layout::FRONT_BYTES, layout::FRONT_LENGTH);
        let counts = Counts { operations, lost, left_out: source.left_out, record_time: self.record_time };
        let front = counts.tell(&front).map_err(|error| error.to_string())?;
        Ok(Mine {
            rank: place.info.rank,
            part: place.destination.part.clone(),
            front,
            extents: source.extents.clone(),
            tail,
            operations,
            lost,
        })
    }

    /// What is known of the trace whose file for the time being is this.
    fn target(&self, temporary: &Path) -> Result<(&Target, Place), String> {
        let part = self.trace.ranks.first().map(|mine| &mine.part).ok_or("no rank has come")?;
        let target = self.targets.get(part).ok_or("a part is not known")?;
        let member = self
            .members
            .iter()
            .find_map(|member| member.place.as_ref().filter(|place| place.destination.part == *part));
        let destination = &member.ok_or("a rank is gone")?.destination;
        // Without the number of the run and the ending, which were added.
        let path = temporary.with_extension("").with_extension("");
        let place = Place { path, stem: destination.stem.clone(), private: destination.private.clone() };
        Ok((target, place))
    }

    /// Makes the file that becomes the trace. Rank 0's node only.
    fn make(&mut self, temporary: &Path) -> Result<(Numbers, Vec<u8>), String> {
        let (_, place) = self.target(temporary)?;
        self.control.writing(|| {
            let made = match open(temporary, true) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let directory = temporary.parent().unwrap_or(temporary);
                    make_directories(directory, &place.stem, &place.private)
                        .and_then(|()| open(temporary, true))
                }
                other => other,
            };
            made.and_then(system::close).map_err(|error| cannot_write(temporary, &error))
        })?;
        self.trace.temporary = temporary.to_owned();
        Ok(([0; WORDS - 1], Vec::new()))
    }

    /// Writes what the ranks of this node have, from a byte of the file on.
    fn write_all(&mut self, [at, gap, ..]: Numbers, temporary: &Path) -> Result<(Numbers, Vec<u8>), String> {
        let ranks = &self.trace.ranks;
        self.control.writing(|| -> Result<(), String> {
            let file = open(temporary, false).map_err(|error| cannot_write(temporary, &error))?;
            let mut at = at;
            for mine in ranks {
                write_one(&file, &mut at, mine).map_err(|error| cannot_write(temporary, &error))?;
            }
            if let Some(padding) = padding(gap as usize) {
                file.write_all_at(&padding, at).map_err(|error| cannot_write(temporary, &error))?;
            }
            system::close(file).map_err(|error| cannot_write(temporary, &error))
        })?;
        self.trace.temporary = temporary.to_owned();
        Ok(([0; WORDS - 1], Vec::new()))
    }

    /// Writes the last frame and gives the trace its place.
    fn finish_trace(
        &mut self,
        [at, end, ranks, operations, ..]: Numbers,
        temporary: &Path,
    ) -> Result<(Numbers, Vec<u8>), String> {
        let end = TraceEnd { end: end as i64, ranks: ranks as u32, operations };
        let (target, place) = self.target(temporary)?;
        let (TraceOptions { format, mode, .. }, previous) = (target.options, target.previous);
        let answer = self.control.writing(|| -> Result<Vec<u8>, String> {
            let end = end_frame(&end).map_err(|error| error.to_string())?;
            let file = open(temporary, false).map_err(|error| cannot_write(temporary, &error))?;
            let written = file.write_all_at(&end, at);
            set_mode(&file, mode);
            written.and_then(|()| system::close(file)).map_err(|error| cannot_write(temporary, &error))?;
            let settled = output::settle(temporary, &place.path, previous).map_err(|error| {
                format!("cannot rename {}: {}", temporary.display(), message::plain(&error))
            })?;
            let mut answer = settled.as_os_str().as_bytes().to_vec();
            if let Format::Tmio(format) = format
                && let Err(reason) = convert(&settled, format, mode, temporary)
            {
                let note = format!("{} stays in tmio's own format: {reason}", settled.display());
                answer.push(0);
                answer.extend_from_slice(note.as_bytes());
            }
            Ok(answer)
        })?;
        Ok(([0; WORDS - 1], answer))
    }

    /// The trace is there: part and spools go.
    fn clear(&mut self) -> Result<(Numbers, Vec<u8>), String> {
        let ranks = std::mem::take(&mut self.trace.ranks);
        let ours: Vec<u32> = ranks.iter().map(|mine| mine.rank).collect();
        self.control.writing(|| {
            for part in ranks.iter().map(|mine| &mine.part).collect::<std::collections::BTreeSet<_>>() {
                let _ = fs::remove_file(part);
                // Only if no other job has parts there.
                let _ = part.parent().map(fs::remove_dir);
            }
        });
        for member in &mut self.members {
            let is_ours = member.place.as_ref().is_some_and(|place| ours.contains(&place.info.rank));
            if is_ours && member.source.memory.word(layout::STATE) == layout::FINALIZING {
                let _ = fs::remove_file(&member.source.path);
                member.source.memory.set_state(layout::REFUSED);
                member.told = true;
            }
        }
        self.trace = Making::default();
        Ok(([0; WORDS - 1], Vec::new()))
    }

    /// There is no trace: what was made of it goes, and everything is written to the part.
    fn keep(&mut self) -> Result<(Numbers, Vec<u8>), String> {
        let temporary = std::mem::take(&mut self.trace.temporary);
        if !temporary.as_os_str().is_empty() {
            self.control.writing(|| drop(fs::remove_file(&temporary)));
        }
        self.trace = Making::default();
        let (mut lost, mut failed) = (0, 0);
        for index in self.finalizing() {
            let written = self.write(index, false);
            let Some(member) = self.members.get(index) else { continue };
            lost += member.source.memory.word(layout::LOST);
            let part = member.place.as_ref().map(|place| &place.destination.part);
            let target = part.and_then(|part| self.targets.get(part));
            failed += u64::from(!written && target.is_some_and(|target| target.failure.is_some()));
        }
        Ok(([lost, failed, 0, 0, 0, 0], Vec::new()))
    }
}

/// What the helper knows of a rank.
struct Counts {
    operations: u64,
    lost: u64,
    /// Bytes of files that are not recorded: read and written.
    left_out: [u64; 2],
    record_time: f64,
}

impl Counts {
    /// The frames with which a rank begins, with these.
    fn tell(&self, front: &[u8]) -> io::Result<Vec<u8>> {
        let Some(mut info) = rank_in(front) else { return Ok(front.to_vec()) };
        info.operations = self.operations;
        info.lost = self.lost;
        info.overhead_per_op = self.record_time;
        info.overhead += (self.operations as f64 * self.record_time) as i64;
        if let Some(beside) = &mut info.beside {
            let [read, written] = self.left_out;
            beside.read += read;
            beside.written += written;
        }
        with_rank(front, &info)
    }
}

fn write_one(file: &File, at: &mut u64, mine: &Mine) -> io::Result<()> {
    file.write_all_at(&mine.front, *at)?;
    *at += mine.front.len() as u64;
    if !mine.extents.is_empty() {
        let part = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(&mine.part)?;
        for extent in &mine.extents {
            copy(&part, extent.clone(), file, *at)?;
            *at += extent.end - extent.start;
        }
    }
    file.write_all_at(&mine.tail, *at)?;
    *at += mine.tail.len() as u64;
    Ok(())
}

/// Copies blocks from a part. What is not a whole block there, because somebody has changed the
/// part, is replaced by a frame that says nothing.
fn copy(mut part: &File, extent: std::ops::Range<u64>, to: &File, mut at: u64) -> io::Result<()> {
    part.seek(SeekFrom::Start(extent.start))?;
    let end = at + (extent.end - extent.start);
    let mut frames = frame::FrameReader::new(part.take(extent.end - extent.start));
    while let Some(found) = frames.next_frame()? {
        let kind = found.kind.filter(|kind| kind.is_block());
        let Some(head) = kind.and_then(|kind| frame::head(kind, found.body)) else { continue };
        to.write_all_at(&head, at)?;
        to.write_all_at(found.body, at + head.len() as u64)?;
        at += (head.len() + found.body.len()) as u64;
    }
    match padding((end - at) as usize) {
        Some(filler) => to.write_all_at(&filler, at),
        None => Ok(()),
    }
}

/// Makes the part of a run the trace: it has one node, and all its processes have ended.
pub(super) fn end_run(target: &Target) {
    let part = target.part.path();
    let Some(directory) = part.parent() else { return };
    let path = directory.with_extension("");
    let Some(header) = header_in(&target.header) else { return };
    // What has ended last says when; the clock of the run is that of this host.
    let end = clock::realtime() - header.start;
    let done = target
        .operations_and_ranks()
        .and_then(|(operations, ranks)| end_frame(&TraceEnd { end, ranks, operations }))
        .and_then(|frame| target.part.append(&frame))
        .and_then(|_| output::settle(part, &path, target.previous));
    match done {
        Ok(_) => {
            let _ = fs::remove_file(parts::numbers(part));
            let _ = fs::remove_dir(directory); // only if no other job has parts there
        }
        Err(error) => message::debug(format_args!("{}: {error}", path.display())),
    }
}

/// What turning the trace into another format may take of memory.
const CONVERSION_MEMORY: usize = 1 << 30;

/// Turns the finished trace into one of TMIO's formats, under the same name.
fn convert(path: &Path, format: tmio::Format, mode: u32, draft: &Path) -> Result<(), String> {
    let converted = Trace::open(path).map_err(|error| error.to_string()).and_then(|trace| {
        let file = open(draft, true).map_err(|error| message::plain(&error))?;
        let mut writer = BufWriter::new(file);
        tmio::convert(trace, format, Some(CONVERSION_MEMORY), &mut writer)
            .map_err(io::Error::other)
            .and_then(|_| writer.flush())
            .and_then(|()| {
                set_mode(writer.get_ref(), mode);
                fs::rename(draft, path)
            })
            .map_err(|error| message::plain(&error))
    });
    converted.inspect_err(|_| _ = fs::remove_file(draft))
}

fn cannot_write(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {}", path.display(), message::plain(error))
}

/// The file gets its mode when it is whole, whatever the umask. Where that cannot be, it stays the owner's.
fn set_mode(file: &File, mode: u32) {
    if mode != NEW_MODE {
        let _ = file.set_permissions(fs::Permissions::from_mode(mode));
    }
}

/// A new file that nobody else has made, or the one that was made.
fn open(path: &Path, new: bool) -> io::Result<File> {
    let open = || {
        OpenOptions::new()
            .write(true)
            .create_new(new)
            .mode(NEW_MODE)
            .custom_flags(libc::O_CLOEXEC | libc::O_NOFOLLOW)
            .open(path)
    };
    match open() {
        Err(error) if !new && error.kind() == io::ErrorKind::PermissionDenied => {
            give_rights(path, NEW_MODE)?;
            open()
        }
        other => other,
    }
}
