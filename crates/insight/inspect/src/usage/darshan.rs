//! Usage from the counters of a Darshan log.
//!
//! Sizes, order and alignment are those that the file system saw: of POSIX where it moved data, else of the
//! layer that did. A record of rank −1 stands for all ranks that shared a file, and tells of the slowest and
//! the fastest only; ranks are told apart where no such record moved data, or by DXT.

use super::access::join_common;
use super::{Access, Common, FileUsage, LayerUsage, MpiIo, RankUsage, Usage, sort_files};
use darshan_log::{Activity, Direction, FileRecord, Format, Log, ModuleId, Value};
use sources::SourceError;
use sources::darshan::DarshanLog;
use sources::request::layer::Layer;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The layers that Darshan counts.
const LAYERS: [(Layer, &str); 3] =
    [(Layer::MpiIo, "mpiio"), (Layer::Posix, "posix"), (Layer::Stdio, "stdio")];

/// What sizes are called in the names of counters.
const CLASSES: [&str; 10] =
    ["0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M", "1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS"];

pub(crate) fn usage(opened: &DarshanLog) -> Result<Usage, SourceError> {
    let log = &*opened.log;
    let ranks = u32::try_from(log.job().nprocs).ok().filter(|ranks| *ranks > 0);
    let mut usage = Usage { run_time: log.job().run_time(), ranks, ..Usage::default() };
    let mut by_layer: HashMap<Layer, OfLayer> = HashMap::new();
    for (layer, name) in LAYERS {
        let of = OfLayer::read(log, layer);
        if !of.files.is_empty() {
            usage.layers.insert(name.to_owned(), of.total());
            by_layer.insert(layer, of);
        }
    }
    let moved = |layer: &Layer| by_layer.get(layer).is_some_and(|of| of.total.bytes() > 0);
    let order = [Layer::Posix, Layer::MpiIo, Layer::Stdio];
    let chosen = opened.layer.filter(moved).or_else(|| order.into_iter().find(moved));
    usage.mpiio = mpiio(log);
    let names = log.names().unwrap_or_default();
    if let Some((layer, of)) = chosen.and_then(|layer| Some((layer, by_layer.remove(&layer)?))) {
        usage.layer = LAYERS.iter().find(|(one, _)| *one == layer).map(|(_, name)| (*name).to_owned());
        let counted = Counted::read(log, layer);
        (usage.reads, usage.writes) = counted.access(&of);
        usage.common = join_common(counted.common.iter().copied());
        usage.by_rank = by_rank(log, layer, &of, ranks);
        usage.files = of.files(&names, &counted, ranks);
        if usage.reads.sizes.is_none() {
            usage.gaps.push(format!("the layer {layer} of this log does not count sizes of requests"));
        }
    } else {
        usage.gaps.push("no module of this log moved any data".into());
    }
    if usage.by_rank.is_empty() && usage.layer.is_some() {
        usage.gaps.push(
            "Darshan adds up the ranks that share a file: run with DXT_ENABLE_IO_TRACE=1 to tell them apart"
                .into(),
        );
    }
    let systems: BTreeSet<&str> = usage
        .files
        .iter()
        .filter_map(|file| log.job().mount_of(&file.name))
        .map(|mount| mount.fs_type.as_str())
        .collect();
    usage.file_systems = systems.into_iter().map(str::to_owned).collect();
    Ok(usage)
}

/// What the records of a layer come to.
#[derive(Default)]
struct OfLayer {
    total: LayerUsage,
    files: BTreeMap<u64, FileUsage>,
    file_ranks: BTreeMap<u64, BTreeSet<i64>>,
    ranks: BTreeMap<u32, RankUsage>,
    /// Bytes of records that stand for all ranks.
    shared: u64,
}

impl OfLayer {
    fn read(log: &Log, layer: Layer) -> Self {
        let mut of = OfLayer::default();
        // What precedes damage counts.
        for activity in log.activities(layer.into()).map_while(Result::ok) {
            of.add(&activity);
        }
        of
    }

    fn add(&mut self, activity: &Activity) {
        let Activity { id, rank, reads, writes, bytes_read, bytes_written, .. } = *activity;
        let meta = activity.opens.saturating_add(activity.seeks).saturating_add(activity.stats);
        let file = self.files.entry(id).or_default();
        for (read, write, metadata) in [
            (&mut self.total.read, &mut self.total.write, &mut self.total.meta),
            (&mut file.read, &mut file.write, &mut file.meta),
        ] {
            read.add(reads, bytes_read, activity.read_time);
            write.add(writes, bytes_written, activity.write_time);
            metadata.ops = metadata.ops.saturating_add(meta);
            metadata.time += activity.meta_time.max(0.0);
        }
        self.file_ranks.entry(id).or_default().insert(rank);
        match u32::try_from(rank) {
            Ok(rank) => {
                let of = self.ranks.entry(rank).or_insert(RankUsage { rank, ..RankUsage::default() });
                of.bytes_read = of.bytes_read.saturating_add(bytes_read);
                of.bytes_written = of.bytes_written.saturating_add(bytes_written);
                of.read_time += activity.read_time.max(0.0);
                of.write_time += activity.write_time.max(0.0);
                of.meta_time += activity.meta_time.max(0.0);
            }
            Err(_) => self.shared = self.shared.saturating_add(bytes_read).saturating_add(bytes_written),
        }
    }

    fn total(&self) -> LayerUsage {
        LayerUsage { files: self.files.len() as u64, ..self.total }
    }

    fn files(self, names: &darshan_log::Names, counted: &Counted, ranks: Option<u32>) -> Vec<FileUsage> {
        let OfLayer { files, file_ranks, .. } = self;
        let named = |(id, file): (u64, FileUsage)| {
            let users = file_ranks.get(&id);
            let all = users.is_some_and(|users| users.contains(&-1));
            let more = counted.files.get(&id);
            FileUsage {
                name: names.get(id).map_or_else(|| format!("{id:016x}"), str::to_owned),
                ranks: if all { ranks } else { users.map(|users| users.len() as u32) },
                small: more.and_then(|more| more.small),
                extent: more.map(|more| more.extent).filter(|extent| *extent > 0),
                slowest: more.and_then(|more| more.slowest),
                fastest: more.and_then(|more| more.fastest),
                ..file
            }
        };
        let mut files: Vec<FileUsage> = files.into_iter().map(named).collect();
        sort_files(&mut files);
        files
    }
}

/// Counters that only some layers have.
#[derive(Default)]
struct Counted {
    has_sizes: bool,
    read_sizes: [u64; 10],
    write_sizes: [u64; 10],
    common: Vec<Common>,
    consecutive: [u64; 2],
    sequential: [u64; 2],
    has_order: bool,
    misaligned: Option<u64>,
    alignment: Option<u64>,
    files: HashMap<u64, OfFile>,
}

#[derive(Default)]
struct OfFile {
    small: Option<u64>,
    extent: u64,
    slowest: Option<(u32, f64, u64)>,
    fastest: Option<(u32, f64, u64)>,
}

/// A record by the names of its counters, without the module's prefix.
struct Named<'a> {
    id: u64,
    rank: i64,
    value: &'a dyn Fn(&str) -> Option<Value>,
}

impl Named<'_> {
    /// A counter; `None` if the record does not have it, or did not count it.
    fn int(&self, name: &str) -> Option<u64> {
        match (self.value)(name)? {
            Value::Int(value) => u64::try_from(value).ok(),
            Value::Float(_) => None,
        }
    }

    fn time(&self, name: &str) -> f64 {
        match (self.value)(name) {
            Some(Value::Float(value)) => value.max(0.0),
            _ => 0.0,
        }
    }

    fn rank_of(&self, which: &str) -> Option<(u32, f64, u64)> {
        let rank = u32::try_from(self.int(&format!("{which}_RANK"))?).ok()?;
        let time = self.time(&format!("F_{which}_RANK_TIME"));
        Some((rank, time, self.int(&format!("{which}_RANK_BYTES"))?))
    }
}

impl Counted {
    fn read(log: &Log, layer: Layer) -> Self {
        let mut of = Counted::default();
        if log.format() < Format::V3_00 {
            for record in log.darshan2().map_while(Result::ok).filter(|record| record.uses(layer.into())) {
                let value = |name: &str| record.value(&format!("CP_{name}"));
                of.add(&Named { id: record.id, rank: record.rank, value: &value }, layer);
            }
            return of;
        }
        match layer {
            Layer::Posix => log.posix().map_while(Result::ok).for_each(|record| {
                let value = |name: &str| record.value(&format!("POSIX_{name}"));
                of.add(&Named { id: record.id, rank: record.rank, value: &value }, layer);
            }),
            Layer::MpiIo => log.mpiio().map_while(Result::ok).for_each(|record| {
                // MPI-IO counts sizes of whole calls.
                let value = |name: &str| {
                    let aggregate = name.replace("SIZE_READ_", "SIZE_READ_AGG_");
                    let aggregate = aggregate.replace("SIZE_WRITE_", "SIZE_WRITE_AGG_");
                    record.value(&format!("MPIIO_{aggregate}"))
                };
                of.add(&Named { id: record.id, rank: record.rank, value: &value }, layer);
            }),
            _ => log.stdio().map_while(Result::ok).for_each(|record| {
                let value = |name: &str| record.value(&format!("STDIO_{name}"));
                of.add(&Named { id: record.id, rank: record.rank, value: &value }, layer);
            }),
        }
        of
    }

    fn add(&mut self, record: &Named<'_>, layer: Layer) {
        let file = self.files.entry(record.id).or_default();
        for (direction, sizes) in [("READ", &mut self.read_sizes), ("WRITE", &mut self.write_sizes)] {
            for (class, sum) in CLASSES.iter().zip(sizes).enumerate() {
                let Some(count) = record.int(&format!("SIZE_{direction}_{}", sum.0)) else { continue };
                self.has_sizes = true;
                *sum.1 = sum.1.saturating_add(count);
                let small = file.small.get_or_insert(0);
                *small = small.saturating_add(if class < 5 { count } else { 0 });
            }
        }
        for number in 1..=4 {
            let size = record.int(&format!("ACCESS{number}_ACCESS"));
            let count = record.int(&format!("ACCESS{number}_COUNT"));
            if let (Some(size), Some(count)) = (size, count) {
                self.common.push(Common { size, count });
            }
        }
        if layer == Layer::Posix {
            for (i, direction) in ["READS", "WRITES"].into_iter().enumerate() {
                let consecutive = record.int(&format!("CONSEC_{direction}"));
                let sequential = record.int(&format!("SEQ_{direction}"));
                self.has_order |= consecutive.is_some();
                self.consecutive[i] = self.consecutive[i].saturating_add(consecutive.unwrap_or(0));
                self.sequential[i] = self.sequential[i].saturating_add(sequential.unwrap_or(0));
            }
            if let Some(misaligned) = record.int("FILE_NOT_ALIGNED") {
                self.misaligned = Some(self.misaligned.unwrap_or(0).saturating_add(misaligned));
                self.alignment = self.alignment.max(record.int("FILE_ALIGNMENT")).filter(|bytes| *bytes > 0);
            }
        }
        let extent = ["MAX_BYTE_READ", "MAX_BYTE_WRITTEN"].into_iter().filter_map(|name| record.int(name));
        file.extent = extent.chain([file.extent]).max().unwrap_or(0);
        if record.rank < 0 {
            file.slowest = record.rank_of("SLOWEST");
            file.fastest = record.rank_of("FASTEST");
        }
    }

    /// Reads and writes. Misaligned requests are not told apart by direction: they are divided like requests.
    fn access(&self, of: &OfLayer) -> (Access, Access) {
        let all = of.total.read.ops.saturating_add(of.total.write.ops).max(1);
        let one = |flow: &super::Flow, sizes: &[u64; 10], direction: usize| Access {
            ops: flow.ops,
            bytes: flow.bytes,
            sizes: self.has_sizes.then_some(*sizes),
            small_independent: self.has_sizes.then(|| sizes.iter().take(5).sum()),
            common: Vec::new(),
            placed: if self.has_order { flow.ops } else { 0 },
            // Darshan counts the first request of a file for neither.
            consecutive: self.consecutive[direction],
            sequential: if self.has_order {
                self.sequential[direction].saturating_add(of.files.len() as u64).min(flow.ops)
            } else {
                0
            },
            misaligned: self
                .misaligned
                .map(|misaligned| (misaligned as f64 * flow.ops as f64 / all as f64).round() as u64),
            alignment: self.alignment,
        };
        (one(&of.total.read, &self.read_sizes, 0), one(&of.total.write, &self.write_sizes, 1))
    }
}

/// How MPI-IO was called.
fn mpiio(log: &Log) -> Option<MpiIo> {
    let mut of = MpiIo::default();
    let mut any = false;
    let mut add = |value: &dyn Fn(&str) -> Option<Value>| {
        any = true;
        let int = |name: &str| match value(name) {
            Some(Value::Int(count)) => u64::try_from(count).unwrap_or(0),
            _ => 0,
        };
        of.collective_reads += int("COLL_READS") + int("SPLIT_READS");
        of.collective_writes += int("COLL_WRITES") + int("SPLIT_WRITES");
        of.independent_reads += int("INDEP_READS");
        of.independent_writes += int("INDEP_WRITES");
        of.nonblocking_reads += int("NB_READS");
        of.nonblocking_writes += int("NB_WRITES");
    };
    if log.format() >= Format::V3_00 {
        for record in log.mpiio().map_while(Result::ok) {
            add(&|name| record.value(&format!("MPIIO_{name}")));
        }
    } else {
        let uses = |record: &darshan_log::Darshan2Record| record.uses(darshan_log::Layer::MpiIo);
        for record in log.darshan2().map_while(Result::ok).filter(uses) {
            add(&|name| record.value(&format!("CP_{name}")));
        }
    }
    of.aggregators = log.job().metadata_value("h").and_then(|hints| {
        hints.split(';').find_map(|hint| hint.strip_prefix("cb_nodes=")?.trim().parse().ok())
    });
    any.then_some(of)
}

/// Ranks by their own records, or by DXT where records stand for all.
fn by_rank(log: &Log, layer: Layer, of: &OfLayer, ranks: Option<u32>) -> Vec<RankUsage> {
    let mut found = of.ranks.clone();
    if of.shared > 0 {
        let (module, mut dxt) = match layer {
            Layer::MpiIo => (ModuleId::DXT_MPIIO, log.dxt_mpiio()),
            Layer::Posix => (ModuleId::DXT_POSIX, log.dxt_posix()),
            _ => return Vec::new(),
        };
        if log.module(module).is_none() {
            return Vec::new();
        }
        found.clear();
        while let Ok(Some(head)) = dxt.next_head() {
            let Ok(rank) = u32::try_from(head.rank) else { continue };
            let of = found.entry(rank).or_insert(RankUsage { rank, ..RankUsage::default() });
            while let Ok(Some((direction, segment))) = dxt.next_segment() {
                let bytes = u64::try_from(segment.length).unwrap_or(0);
                let time = (segment.end - segment.start).max(0.0);
                let (sum, seconds) = match direction {
                    Direction::Read => (&mut of.bytes_read, &mut of.read_time),
                    Direction::Write => (&mut of.bytes_written, &mut of.write_time),
                };
                *sum = sum.saturating_add(bytes);
                *seconds += time;
            }
        }
    }
    // A rank without a record did nothing.
    for rank in 0..ranks.unwrap_or(0).min(1 << 20) {
        found.entry(rank).or_insert(RankUsage { rank, ..RankUsage::default() });
    }
    found.into_values().collect()
}
