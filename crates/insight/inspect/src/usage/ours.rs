//! Usage from our own trace: every operation counts.

use super::access::{SMALL, Tally, join_common};
use super::{FileUsage, LayerUsage, MpiIo, RankUsage, Usage, sort_files};
use crate::waiting::Waiting;
use sources::our_trace::is_of;
use sources::request::layer::Layer;
use sources::time::{seconds, seconds_of_sum};
use sources::{SourceError, TmioTrace};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tmio_trace::block::merge::Merged;
use tmio_trace::reader::Operations;
use tmio_trace::{Direction, Event, FilePointer, Metadata, Operation};

/// Offsets are compared with multiples of this: the page of the kernel and the block of most file systems.
const ALIGNMENT: u64 = 4096;

/// Where nothing is known of places in files.
const UNPLACED: &str = "order and alignment are known only for independent calls with explicit offsets \
    (MPI_File_write_at); this program has none outside file views";

pub(super) fn usage(trace: TmioTrace) -> Result<Usage, SourceError> {
    let mut counting = Counting { only: trace.layer(), ..Counting::default() };
    let outcome = trace.into_trace().read(|event| counting.event(&event))?;
    let mut usage = counting.finish();
    usage.ranks = outcome.header.as_ref().map(|header| header.ranks).or(usage.ranks);
    let end = outcome.end.as_ref().map_or(0, |end| end.end);
    usage.run_time = usage.run_time.max(seconds(end));
    Ok(usage)
}

#[derive(Default)]
struct Counting {
    /// The layer that counts; `None`: MPI-IO, which is all there is.
    only: Option<Layer>,
    reads: Tally,
    writes: Tally,
    layer: LayerUsage,
    mpiio: MpiIo,
    ranks: BTreeMap<u32, OfRank>,
    nodes: BTreeSet<(String, String)>,
    files: HashMap<String, OfFile>,
    /// Where the last request of a rank in a file ended, and whether the rank has set a view: offsets then
    /// count in another unit.
    places: HashMap<(u32, u32), Place>,
    last_end: i64,
}

#[derive(Default)]
struct OfRank {
    usage: RankUsage,
    waiting_reads: Waiting,
    waiting_writes: Waiting,
}

#[derive(Default)]
struct OfFile {
    usage: FileUsage,
    ranks: BTreeMap<u32, (f64, u64)>,
    small: u64,
    extent: u64,
}

#[derive(Clone, Copy, Default)]
struct Place {
    end: Option<u64>,
    has_view: bool,
}

impl Counting {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Header(_) => {}
            Event::Rank(info) => {
                self.ranks.entry(info.rank).or_default();
                self.nodes.insert((info.boot_id.clone(), info.host.clone()));
            }
            Event::Block(block) => self.block(block),
        }
    }

    fn block(&mut self, block: &Operations<'_>) {
        let mut names: HashMap<u32, String> = HashMap::new();
        for (number, name) in block.files {
            let name = if name.is_empty() { "(unknown)" } else { name };
            names.insert(*number, name.to_owned());
        }
        let only = self.only;
        for (index, op) in block.operations.iter().enumerate().filter(|(_, op)| is_of(only, op)) {
            self.last_end = self.last_end.max(op.end);
            let name = names.get(&op.file).map_or("(unknown)", String::as_str);
            if !self.files.contains_key(name) {
                self.files.insert(name.to_owned(), OfFile::default());
            }
            self.operation(block.rank, op, block.merged_at(index), name);
        }
    }

    /// An operation, or several that were merged to one record.
    fn operation(&mut self, rank: u32, op: &Operation, merged: Merged, name: &str) {
        let of_rank = self.ranks.entry(rank).or_default();
        let of_file = self.files.entry(name.to_owned()).or_default();
        let (count, time) = (u64::from(merged.count.max(1)), seconds(merged.time.max(0)));
        let Some(direction) = op.kind.direction() else {
            of_rank.usage.meta_time += time;
            for meta in [&mut self.layer.meta, &mut of_file.usage.meta] {
                meta.ops += count;
                meta.time += time;
            }
            let place = self.places.entry((rank, op.file)).or_default();
            match op.kind.as_metadata() {
                Some(Metadata::SetView) => place.has_view = true,
                // The next one is another file, or starts anew.
                Some(Metadata::Open | Metadata::Close) => *place = Place::default(),
                _ => {}
            }
            return;
        };
        let write = direction == Direction::Write;
        let lost = if op.nonblocking.is_some() { seconds(op.lost_time().max(0)) } else { time };
        let of_kind = |mpiio: &mut MpiIo| {
            let calls = match (write, op.nonblocking.is_some(), op.kind.is_collective()) {
                (false, true, _) => &mut mpiio.nonblocking_reads,
                (true, true, _) => &mut mpiio.nonblocking_writes,
                (false, _, true) => &mut mpiio.collective_reads,
                (true, _, true) => &mut mpiio.collective_writes,
                (false, _, false) => &mut mpiio.independent_reads,
                (true, _, false) => &mut mpiio.independent_writes,
            };
            *calls += count;
        };
        of_kind(&mut self.mpiio);
        let (tally, flow, of) = if write {
            (&mut self.writes, &mut self.layer.write, &mut of_file.usage.write)
        } else {
            (&mut self.reads, &mut self.layer.read, &mut of_file.usage.read)
        };
        tally.add(op.bytes, count, op.kind.is_collective());
        flow.add(count, op.bytes, lost);
        of.add(count, op.bytes, lost);
        let waiting = if write { &mut of_rank.waiting_writes } else { &mut of_rank.waiting_reads };
        let usage = &mut of_rank.usage;
        if op.nonblocking.is_some() {
            waiting.add(rank, op);
        } else if write {
            usage.write_time += time;
        } else {
            usage.read_time += time;
        }
        let bytes = if write { &mut usage.bytes_written } else { &mut usage.bytes_read };
        *bytes = bytes.saturating_add(op.bytes);
        let (seconds, moved) = of_file.ranks.entry(rank).or_default();
        *seconds += lost;
        *moved = moved.saturating_add(op.bytes);
        of_file.small += if op.bytes / count <= SMALL && !op.kind.is_collective() { count } else { 0 };
        // Collective calls are put in order by MPI itself, and an offset in a view has another unit.
        let place = self.places.entry((rank, op.file)).or_default();
        if let (Ok(offset), false) = (u64::try_from(op.offset), place.has_view)
            && op.kind.pointer() == Some(FilePointer::Explicit)
        {
            let end = offset.saturating_add(op.bytes);
            // Where merged ones lie is not known.
            if !op.kind.is_collective() && count == 1 {
                tally.place(offset, place.end, ALIGNMENT);
            }
            place.end = Some(end);
            of_file.extent = of_file.extent.max(end);
        }
    }

    fn finish(self) -> Usage {
        let by_rank: Vec<RankUsage> = self.ranks.into_iter().map(|(rank, of)| of.finish(rank)).collect();
        let mut files: Vec<FileUsage> = self.files.into_iter().map(|(name, of)| of.finish(name)).collect();
        sort_files(&mut files);
        let data = self.layer.read.ops + self.layer.write.ops > 0;
        let layer = LayerUsage { files: files.len() as u64, ..self.layer };
        let (reads, writes) = (self.reads.finish(), self.writes.finish());
        let mut gaps = Vec::new();
        if data && reads.placed + writes.placed == 0 {
            gaps.push(UNPLACED.to_owned());
        }
        let of_layer = self.only.unwrap_or(Layer::MpiIo).name().to_ascii_lowercase();
        Usage {
            run_time: seconds(self.last_end.max(0)),
            ranks: by_rank.last().map(|rank| rank.rank.saturating_add(1)),
            nodes: u32::try_from(self.nodes.len()).ok().filter(|nodes| *nodes > 0),
            layer: data.then(|| of_layer.clone()),
            layers: [(of_layer, layer)].into_iter().filter(|_| data || layer.meta.ops > 0).collect(),
            common: join_common(reads.common.iter().chain(&writes.common).copied()),
            reads,
            writes,
            mpiio: (data && self.only.is_none_or(|only| only == Layer::MpiIo)).then_some(self.mpiio),
            by_rank,
            files,
            gaps,
            ..Usage::default()
        }
    }
}

impl OfRank {
    fn finish(self, rank: u32) -> RankUsage {
        let (reads, writes) =
            (seconds_of_sum(self.waiting_reads.lost()), seconds_of_sum(self.waiting_writes.lost()));
        let usage = self.usage;
        RankUsage {
            rank,
            read_time: usage.read_time + reads,
            write_time: usage.write_time + writes,
            wait_time: reads + writes,
            ..usage
        }
    }
}

impl OfFile {
    fn finish(self, name: String) -> FileUsage {
        let by_time = |a: &(&u32, &(f64, u64)), b: &(&u32, &(f64, u64))| a.1.0.total_cmp(&b.1.0);
        let told = |(rank, (time, bytes)): (&u32, &(f64, u64))| (*rank, *time, *bytes);
        let shared = self.ranks.len() > 1;
        FileUsage {
            name,
            ranks: Some(self.ranks.len() as u32),
            small: Some(self.small),
            extent: Some(self.extent).filter(|extent| *extent > 0),
            slowest: self.ranks.iter().max_by(by_time).filter(|_| shared).map(told),
            fastest: self.ranks.iter().min_by(by_time).filter(|_| shared).map(told),
            ..self.usage
        }
    }
}
