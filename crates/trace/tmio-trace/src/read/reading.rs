//! From frames and spools to events in job time, and what is missing of a job.

use crate::format::block::Block;
use crate::format::frame::{
    Damage, FrameKind, FrameReader, HEAD, Head, TAG, has_tag, is_trace_start, parse_head,
};
use crate::format::operation::Mark;
use crate::format::operation::ReadAs;
use crate::read::completeness::{KnownUntil, list, missing};
use crate::read::told::{Event, Operations, Outcome, ReadError};
use crate::salvage::snapshot;
use crate::salvage::spool::Spool;
use crate::{Header, Operation, RankInfo, TraceEnd};
use crate::{liveness, parts, salvage};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What was read so far. Operations are handed out as `T`.
#[derive(Debug)]
pub(crate) struct Reading<T = Operation> {
    pub(crate) outcome: Outcome,
    pub(crate) ranks: BTreeMap<u32, RankInfo>,
    /// Names of files of ranks that may have a spool.
    names: BTreeMap<u32, Vec<(u32, String)>>,
    /// Rank and number of every block, to recognise a block that is also in a spool, or twice.
    pub(crate) written: HashSet<(u32, u64)>,
    operations: Vec<T>,
    /// Operations that are handed out at a time.
    most: usize,
    end_is_last: bool,
    damaged: bool,
    /// When the first host of the job began, and how much later the one did that is being read.
    pub(crate) start: Option<i64>,
    later: i64,
    /// Who owns the file that is being read, and the file that told of a rank: only that user's spools are
    /// looked at for it.
    pub(crate) owner: Option<u32>,
    owners: BTreeMap<u32, u32>,
    /// What local ranks had in memory before their parts were read.
    snapshots: BTreeMap<u32, (RankInfo, Spool)>,
    snapshots_taken: bool,
    known: KnownUntil,
}

impl<T: ReadAs> Reading<T> {
    /// Nothing so far; blocks are handed out in pieces of at most `most` operations.
    pub(crate) fn new(most: usize) -> Self {
        Reading {
            outcome: Outcome::default(),
            ranks: BTreeMap::new(),
            names: BTreeMap::new(),
            written: HashSet::new(),
            operations: Vec::new(),
            most: most.max(1),
            end_is_last: false,
            damaged: false,
            start: None,
            later: 0,
            owner: None,
            owners: BTreeMap::new(),
            snapshots: BTreeMap::new(),
            snapshots_taken: false,
            known: KnownUntil::default(),
        }
    }

    pub(crate) fn stream(
        &mut self,
        path: &Path,
        input: impl Read,
        visit: &mut impl FnMut(Event<'_, T>),
    ) -> Result<(), ReadError> {
        let mut input = input;
        let mut start = Vec::new();
        let io_error = |source| ReadError::Io { path: path.to_owned(), source };
        (&mut input).take(TAG.len() as u64).read_to_end(&mut start).map_err(io_error)?;
        check_start(path, &start)?;
        let mut frames = FrameReader::new(start.as_slice().chain(input));
        while let Some(frame) = frames.next_frame().map_err(io_error)? {
            let offset = frame.offset;
            if let Err(problem) = self.frame(frame.kind, frame.body, visit) {
                self.warn(format!("{}: at byte {offset}: {problem}", path.display()));
            }
        }
        if let Some(message) = describe_damage(frames.damage()) {
            self.warn(format!("{}: {message}", path.display()));
        }
        Ok(())
    }

    /// Takes a frame whose checksum is right.
    pub(crate) fn frame(
        &mut self,
        kind: Option<FrameKind>,
        body: &[u8],
        visit: &mut impl FnMut(Event<'_, T>),
    ) -> Result<(), String> {
        self.end_is_last = false;
        match kind {
            Some(FrameKind::Header) => parse(body).map(|header: Header| self.header(header, visit)),
            Some(FrameKind::Rank) => parse(body).map(|mut rank: RankInfo| {
                for sample in &mut rank.clock {
                    sample.job = sample.job.saturating_add(self.later);
                }
                visit(Event::Rank(&rank));
                if let Some(owner) = self.owner {
                    self.owners.insert(rank.rank, owner);
                }
                self.ranks.insert(rank.rank, rank);
            }),
            Some(FrameKind::End) => parse(body).map(|end: TraceEnd| {
                self.outcome.end = Some(end);
                self.end_is_last = true;
            }),
            Some(FrameKind::Block | FrameKind::Layers) => self.block(body, visit),
            Some(FrameKind::Padding) | None => Ok(()),
        }
    }

    /// Every rank's part of an unfinished trace begins with one. Hosts may have begun at different
    /// times, and know of each other only by the wall clock.
    fn header(&mut self, mut header: Header, visit: &mut impl FnMut(Event<'_, T>)) {
        let start = *self.start.get_or_insert(header.start);
        self.later = header.start.saturating_sub(start);
        header.start = start;
        if self.outcome.header.as_ref().is_none_or(|known| known.run() != header.run()) {
            visit(Event::Header(&header));
            self.outcome.header = Some(header);
        }
    }

    fn block(&mut self, body: &[u8], visit: &mut impl FnMut(Event<'_, T>)) -> Result<(), String> {
        let block = Block::parse(body)?;
        if self.is_in_snapshot(block.rank, block.seq) {
            return Ok(());
        }
        if !self.written.insert((block.rank, block.seq)) {
            // A write that was said to fail may have reached the disk, and was then repeated.
            if self.snapshots_taken {
                return Ok(());
            }
            return Err(format!("block {} of rank {} is here twice", block.seq, block.rank));
        }
        // What the rank has in memory still may be about the same files.
        if self.ranks.get(&block.rank).is_some_and(is_unfinished_here) {
            let names = block.files.iter().map(|&(number, name)| (number, name.to_owned()));
            self.names.entry(block.rank).or_default().extend(names);
        }
        let mut operations = std::mem::take(&mut self.operations);
        let info = self.ranks.get(&block.rank);
        // Mostly one shift fits the whole block.
        let shift = info.and_then(|rank| constant_shift(rank, block.t_min, block.t_max));
        let covered = info.and_then(|rank| rank.job_time(block.covered_until));
        let covered_until = covered.unwrap_or(block.covered_until);
        let last_end = info.and_then(|rank| rank.job_time(block.t_max)).unwrap_or(block.t_max);
        self.known.note(block.rank, covered_until, (block.count > 0).then_some(last_end));
        let mut count = 0;
        let mut marks = marks_in_job_time(info, &block.marks);
        let merged = block.merged().map_err(|error| error.to_string())?;
        let mut stands_for = 0;
        let decoded = block.decode_pieces(shift.unwrap_or(0), self.most, &mut operations, |piece| {
            if shift.is_none() {
                to_job_time(info, piece);
            }
            let from = count as usize;
            let merged = merged.get(from..from + piece.len()).unwrap_or_default();
            stands_for += merged.iter().map(|merged| u64::from(merged.count)).sum::<u64>();
            count += piece.len() as u64;
            // With the first piece.
            let marks = std::mem::take(&mut marks);
            visit(Event::Block(Operations {
                rank: block.rank,
                sequence: block.seq,
                covered_until,
                files: &block.files,
                operations: piece,
                merged,
                marks: &marks,
            }));
        });
        self.outcome.blocks += u64::from(decoded.is_ok() || count > 0);
        if merged.is_empty() {
            self.outcome.operations += count;
        } else {
            self.outcome.operations += stands_for;
            self.outcome.merged += stands_for;
            self.outcome.merged_to += count;
        }
        self.operations = operations;
        decoded.map_err(|error| error.to_string())
    }

    /// Notes what the ranks of this host have in memory, before the parts are read: so that what
    /// leaves memory meanwhile is counted neither twice nor not at all.
    pub(crate) fn take_snapshots<'p>(&mut self, parts: impl Iterator<Item = &'p Path>) {
        self.snapshots_taken = true;
        for part in parts {
            let mut others = Vec::new();
            for (owner, rank) in local_ranks(part) {
                if others.is_empty() {
                    others = snapshot::beside(&rank, owner);
                }
                if let Some(spool) = snapshot::take(&rank, owner) {
                    self.snapshots.insert(rank.rank, (rank, spool));
                }
            }
            // Those that have begun a moment ago, of whom the part does not tell yet.
            for (path, spool) in others.into_iter().filter(|(_, spool)| belongs_to(spool, part)) {
                let rank =
                    RankInfo { spool: path.to_string_lossy().into_owned(), ..salvage::rank_of(&spool) };
                self.snapshots.entry(rank.rank).or_insert((rank, spool));
            }
        }
    }

    /// Whether the records of a block were still in memory when its rank's spool was looked at.
    fn is_in_snapshot(&self, rank: u32, sequence: u64) -> bool {
        self.snapshots.get(&rank).is_some_and(|(_, spool)| sequence >= spool.next_block())
    }

    /// What the ranks of this host have not written out yet; only right for a job that is dead.
    pub(crate) fn spools(&mut self, visit: &mut impl FnMut(Event<'_, T>)) {
        for rank in self.ranks.values().filter(|rank| is_unfinished_here(rank)) {
            let owner = self.owners.get(&rank.rank);
            if let Some(spool) = owner.and_then(|owner| snapshot::take(rank, *owner)) {
                self.snapshots.insert(rank.rank, (rank.clone(), spool));
            }
        }
        self.hand_out_snapshots(visit);
    }

    pub(crate) fn hand_out_snapshots(&mut self, visit: &mut impl FnMut(Event<'_, T>)) {
        for (_, (rank, spool)) in std::mem::take(&mut self.snapshots) {
            // As it was in the part: with the host's distance from the start of the job.
            let mut rank = self.ranks.get(&rank.rank).cloned().unwrap_or(rank);
            let is_new = !self.ranks.contains_key(&rank.rank);
            if is_new || spool.lost() > rank.lost {
                rank.lost = rank.lost.max(spool.lost());
                visit(Event::Rank(&rank));
                self.ranks.insert(rank.rank, rank.clone());
            }
            self.spool(&rank, &spool, visit);
        }
    }

    fn spool(&mut self, rank: &RankInfo, spool: &Spool, visit: &mut impl FnMut(Event<'_, T>)) {
        // Names that have left memory are in blocks that were read before.
        let before: HashMap<u32, &str> = self
            .names
            .get(&rank.rank)
            .into_iter()
            .flatten()
            .map(|(number, name)| (*number, name.as_str()))
            .collect();
        let contents =
            spool.contents(|seq| self.written.contains(&(rank.rank, seq)), |file| before.get(&file).copied());
        if contents.operations.is_empty() && contents.marks.is_empty() {
            return;
        }
        let names: Vec<(u32, &str)> =
            contents.names.iter().map(|(number, name)| (*number, name.as_str())).chain(before).collect();
        let numbers = self.written.iter().filter(|(number, _)| *number == rank.rank);
        let sequence = numbers.map(|&(_, sequence)| sequence + 1).max().unwrap_or(0);
        let mut operations = contents.operations;
        to_job_time(Some(rank), &mut operations);
        let handed_out: Vec<T> = operations.iter().map(T::of).collect();
        self.outcome.blocks += 1;
        self.outcome.operations += operations.len() as u64;
        self.outcome.from_spool += operations.len() as u64;
        let covered_until = operations.last().map_or(0, |op| op.end);
        self.known.note(rank.rank, covered_until, operations.iter().map(|op| op.end).max());
        visit(Event::Block(Operations {
            rank: rank.rank,
            sequence,
            covered_until,
            files: &names,
            operations: &handed_out,
            merged: &[],
            marks: &marks_in_job_time(Some(rank), &contents.marks),
        }));
    }

    pub(crate) fn warn(&mut self, message: String) {
        self.damaged = true;
        if self.outcome.warnings.len() < 100 {
            self.outcome.warnings.push(message);
        }
    }

    /// Ranks that were killed on other hosts may have left records there.
    fn note_missing_hosts(&mut self) {
        let elsewhere = self.ranks.values().filter(|rank| {
            !rank.finished && !rank.spool.is_empty() && !liveness::is_here(rank) && !rank.salvaged
        });
        let hosts: std::collections::BTreeSet<&str> = elsewhere.map(|rank| rank.host.as_str()).collect();
        self.outcome.missing_hosts = hosts.into_iter().map(str::to_owned).collect();
        if !self.outcome.missing_hosts.is_empty() {
            self.outcome.missing.push(format!(
                "the last records are still on {}: run `ftio recover --host` there to add them to the trace",
                self.outcome.missing_hosts.join(", ")
            ));
        }
    }

    pub(crate) fn finish(mut self, path: &Path, unfinished: bool) -> Result<Outcome, ReadError> {
        let told = self.end_is_last && self.outcome.header.is_some();
        if self.outcome.blocks == 0 && !told {
            let detail = match self.outcome.warnings.first() {
                Some(warning) => format!(" ({warning})"),
                None if unfinished => {
                    self.note_missing_hosts();
                    match self.outcome.missing.first() {
                        Some(missing) => format!(": {missing}"),
                        None => {
                            " (the job was killed before it completed an operation, or its spool is gone)"
                                .to_owned()
                        }
                    }
                }
                None => String::new(),
            };
            return Err(ReadError::NoBlock { path: path.to_owned(), detail });
        }
        self.outcome.known_until = self.outcome.end.as_ref().map(|end| end.end).or(self.known.time());
        let ranks_agree = self.outcome.end.as_ref().is_some_and(|end| {
            end.ranks as usize == self.ranks.len() && end.operations == self.outcome.operations
        });
        let finished = self.ranks.values().all(|rank| rank.finished);
        // Of a trace that something else was turned into, ranks without I/O may have no frame.
        let header = self.outcome.header.as_ref().filter(|header| header.number.is_some());
        let processes = self.outcome.header.as_ref().is_some_and(|header| header.processes);
        let expected = header.map_or(0, |header| if processes { 0 } else { header.ranks });
        self.outcome.missing_ranks = missing(self.ranks.keys().copied(), expected);
        let everybody = self.outcome.missing_ranks.is_empty();
        self.outcome.complete = if processes && unfinished {
            // Nobody makes one file of them, so the parts are as good as a whole trace.
            finished && !self.damaged && self.outcome.from_spool == 0
        } else {
            self.end_is_last && ranks_agree && finished && everybody && !self.damaged && !unfinished
        };
        if let Some(header) = self.outcome.header.as_mut().filter(|header| header.processes) {
            header.ranks = self.ranks.len() as u32;
        }
        if !everybody {
            self.outcome.missing.push(format!(
                "nothing is known about {} of {expected} ranks: {}",
                self.outcome.missing_ranks.iter().map(|r| u64::from(r.end() - r.start()) + 1).sum::<u64>(),
                list(&self.outcome.missing_ranks)
            ));
        }
        self.note_missing_hosts();
        if self.outcome.merged > 0 {
            self.outcome.missing.push(format!(
                "{} of {} operations were merged into {} records of up to a minute, because the trace had \
                 reached its size limit (TMIO_MAX_BYTES)",
                self.outcome.merged, self.outcome.operations, self.outcome.merged_to
            ));
        }
        let whole = self.end_is_last && ranks_agree;
        self.outcome.damaged = self.damaged || !(whole || unfinished);
        let state = if processes && (unfinished || whole) {
            (!finished).then_some("some processes run still, or were killed; this is what they had done")
        } else if unfinished {
            Some("the job has not reached MPI_Finalize; this is what it had written so far")
        } else if !self.outcome.warnings.is_empty() {
            None
        } else if whole && !finished {
            Some("the job did not reach MPI_Finalize; this is what was recovered of it")
        } else if !whole && !self.outcome.complete {
            Some("the end of the trace is missing")
        } else {
            None
        };
        // What is missing is part of what is said first: some readers see no more.
        match state {
            Some(state) => {
                let all = std::iter::once(state).chain(self.outcome.missing.iter().map(String::as_str));
                let text = all.collect::<Vec<_>>().join("; ");
                self.outcome.warnings.push(format!("{}: {text}", path.display()));
            }
            None => self.outcome.warnings.extend(self.outcome.missing.iter().cloned()),
        }
        Ok(self.outcome)
    }
}

/// Whether the records of a spool belong to a part.
fn belongs_to(spool: &Spool, part: &Path) -> bool {
    let its = spool.part.as_deref().map(|path| Path::new(OsStr::from_bytes(path)));
    its.is_some_and(|its| its.file_name() == part.file_name())
}

/// Whether a rank had not ended when it wrote this, and may have left a spool on this host.
fn is_unfinished_here(rank: &RankInfo) -> bool {
    !rank.finished && !rank.spool.is_empty() && liveness::is_here(rank)
}

/// The ranks in a part that may have a spool on this host, and who owns the part. Blocks are passed over
/// unread.
fn local_ranks(part: &Path) -> Vec<(u32, RankInfo)> {
    let mut ranks = Vec::new();
    let Ok(file) = parts::open(part) else { return Vec::new() };
    let Ok(owner) = file.metadata().map(|meta| meta.uid()) else { return Vec::new() };
    let mut file = io::BufReader::with_capacity(16 << 10, file);
    let mut head = [0u8; HEAD];
    while file.read_exact(&mut head).is_ok() {
        let Head::Frame { kind, length, .. } = parse_head(&head) else {
            // Damage: leave the finding of the next frame to who reads all.
            let mut frames = FrameReader::new(file);
            while let Ok(Some(frame)) = frames.next_frame() {
                if frame.kind == Some(FrameKind::Rank) {
                    ranks.extend(RankInfo::parse(frame.body));
                }
            }
            break;
        };
        if FrameKind::from_code(kind) == Some(FrameKind::Rank) {
            let mut body = Vec::new();
            if (&mut file).take(length as u64).read_to_end(&mut body).is_err() {
                break;
            }
            ranks.extend(RankInfo::parse(&body));
        } else if file.seek_relative(length as i64).is_err() {
            break;
        }
    }
    ranks.retain(is_unfinished_here);
    ranks.into_iter().map(|rank| (owner, rank)).collect()
}

fn marks_in_job_time(rank: Option<&RankInfo>, marks: &[Mark]) -> Vec<Mark> {
    let job_time = |time| rank.and_then(|rank| rank.job_time(time)).unwrap_or(time);
    marks.iter().map(|mark| Mark { time: job_time(mark.time), ..mark.clone() }).collect()
}

fn parse<'a, T: serde::Deserialize<'a>>(body: &'a [u8]) -> Result<T, String> {
    rmp_serde::from_slice(body).map_err(|error| error.to_string())
}

fn check_start(path: &Path, start: &[u8]) -> Result<(), ReadError> {
    let path = path.to_owned();
    if start.is_empty() {
        return Err(ReadError::Empty { path });
    }
    if has_tag(start) {
        return Ok(());
    }
    match start.get(6) {
        Some(&version) if is_trace_start(start) => Err(ReadError::Newer { path, found: char::from(version) }),
        _ => Err(ReadError::NotATrace { path, found: start.escape_ascii().to_string() }),
    }
}

fn describe_damage(damage: &[Damage]) -> Option<String> {
    let first = damage.first()?;
    let total: u64 = damage.iter().map(|stretch| stretch.length).sum();
    let more = match damage.len() {
        1 => String::new(),
        n => format!(" and {} more places", n - 1),
    };
    Some(format!(
        "{total} bytes cannot be used: expected {} at byte {}{more}; complete blocks around them are used",
        first.what, first.offset
    ))
}

/// What has to be added to the clock of a rank anywhere between two moments, if it is the same and no time
/// would overflow.
fn constant_shift(rank: &RankInfo, t_min: i64, t_max: i64) -> Option<i64> {
    let shift = rank.shift(t_min).filter(|first| rank.shift(t_max) == Some(*first))?;
    (t_min.checked_add(shift).is_some() && t_max.checked_add(shift).is_some()).then_some(shift)
}

/// Moves operations from the rank's clock to job time.
fn to_job_time<T: ReadAs>(rank: Option<&RankInfo>, operations: &mut [T]) {
    let Some(rank) = rank else { return };
    for op in operations {
        *op = op.shifted(rank.shift(op.start()).unwrap_or(0));
    }
}
