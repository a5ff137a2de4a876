//! Makes logs: of every format, byte order, compression and record version, for the tests of readers.
//!
//! What is written is what Darshan would write, down to one compressed stream per writing rank if
//! [`streams`](LogWriter::streams) asks for it. It is meant for tests and generated archives; nothing is
//! measured here.
//!
//! ```
//! use darshan_log::write::LogWriter;
//! use darshan_log::{Compression, Format, Job, Log, PosixCounter, PosixRecord};
//!
//! let mut record = PosixRecord::new(7, -1);
//! record[PosixCounter::BytesWritten] = 1 << 20;
//! let bytes = LogWriter::new(Format::V3_21, Job { nprocs: 4, ..Job::default() })
//!     .compression(Compression::Bzip2)
//!     .name(7, "/scratch/out.dat")
//!     .records(4, &[record])
//!     .to_bytes()?;
//!
//! let log = Log::from_bytes(bytes)?;
//! assert_eq!(log.job().nprocs, 4);
//! assert_eq!(log.names()?.get(7), Some("/scratch/out.dat"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compress;
mod darshan2;

use std::collections::{BTreeMap, BTreeSet};

use crate::counters::FileRecord;
use crate::dxt::{self, DxtRecord, HOST_LEN, Segment};
use crate::endian::ByteOrder;
use crate::format::{Format, MAGIC};
use crate::header;
use crate::heatmap::HeatmapRecord;
use crate::inflate::Compression;
use crate::job::{self, Job};
use crate::module::ModuleId;

pub use darshan2::Darshan2Writer;

/// Why a log could not be made: it would not be one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The writer does not make logs of this format.
    #[error("format {0} is not written by this writer")]
    Format(Format),
    /// Logs of this format are not compressed this way.
    #[error("format {0} is not compressed by {1:?}")]
    Compression(Format, Compression),
    /// The format has no place for the module.
    #[error("format {0} has no slot for module {1}")]
    NoSlot(Format, ModuleId),
    /// There is no such version of the module's records.
    #[error("module {0} has no record version {1}")]
    RecordVersion(ModuleId, u32),
    /// The byte order was chosen after records had been added in another.
    #[error("the byte order must be chosen before records are added")]
    LateByteOrder,
    /// A text does not fit its field.
    #[error("{what} of {len} bytes does not fit into {room}")]
    TooLong {
        /// Which text.
        what: &'static str,
        /// Its length.
        len: usize,
        /// The room there is.
        room: usize,
    },
}

/// Collects the parts of a Darshan 3 log. Mistakes are reported by [`to_bytes`](LogWriter::to_bytes).
#[derive(Clone, Debug)]
pub struct LogWriter {
    format: Format,
    order: ByteOrder,
    compression: Compression,
    streams: usize,
    job: Job,
    names: Vec<(u64, String)>,
    modules: BTreeMap<ModuleId, (u32, Vec<u8>)>,
    partial: BTreeSet<ModuleId>,
    mistake: Option<WriteError>,
}

impl LogWriter {
    /// A log of a 3.x format about a job: little-endian, zlib, one stream per region.
    pub fn new(format: Format, job: Job) -> Self {
        LogWriter {
            format,
            order: ByteOrder::Little,
            compression: Compression::Zlib,
            streams: 1,
            job,
            names: Vec::new(),
            modules: BTreeMap::new(),
            partial: BTreeSet::new(),
            mistake: None,
        }
    }

    /// Writes numbers in this order. To be called before anything is added.
    pub fn byte_order(mut self, order: ByteOrder) -> Self {
        if !self.modules.is_empty() {
            self.mistake.get_or_insert(WriteError::LateByteOrder);
        }
        self.order = order;
        self
    }

    /// Compresses regions this way.
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Splits each region's data into this number of streams, as if that many ranks had written it.
    pub fn streams(mut self, streams: usize) -> Self {
        self.streams = streams.max(1);
        self
    }

    /// Names a record.
    pub fn name(mut self, id: u64, name: &str) -> Self {
        self.names.push((id, name.to_owned()));
        self
    }

    /// Marks a module as cut short by Darshan.
    pub fn partial(mut self, module: ModuleId) -> Self {
        self.partial.insert(module);
        self
    }

    /// Adds records of a counter module in one of its versions. Counters the version lacks are left out.
    pub fn records<R: FileRecord>(mut self, version: u32, records: &[R]) -> Self {
        let Some(layout) = R::layouts().iter().find(|layout| layout.version == version) else {
            self.mistake.get_or_insert(WriteError::RecordVersion(R::MODULE, version));
            return self;
        };
        let mut data = Vec::new();
        records.iter().for_each(|record| record.encode(layout, self.order, &mut data));
        self.module(R::MODULE, version, &data)
    }

    /// Adds heatmaps. Of a record whose bins differ in number, the shorter are filled up with zeros.
    pub fn heatmaps(self, records: &[HeatmapRecord]) -> Self {
        let order = self.order;
        let mut data = Vec::new();
        for record in records {
            let bins = record.write_bins.len().max(record.read_bins.len());
            order.put_u64(&mut data, record.id);
            order.put_i64(&mut data, record.rank);
            order.put_f64(&mut data, record.bin_width);
            order.put_i64(&mut data, bins as i64);
            // Darshan leaves two pointers of the dead process here.
            order.put_u64(&mut data, 0x7fff_dead_beef_0000);
            order.put_u64(&mut data, 0x7fff_dead_beef_1000);
            for side in [&record.write_bins, &record.read_bins] {
                (0..bins).for_each(|at| order.put_i64(&mut data, side.get(at).copied().unwrap_or(0)));
            }
        }
        self.module(ModuleId::HEATMAP, 1, &data)
    }

    /// Adds records of [`DXT_POSIX`](ModuleId::DXT_POSIX) or [`DXT_MPIIO`](ModuleId::DXT_MPIIO).
    pub fn dxt(mut self, module: ModuleId, version: u32, records: &[DxtRecord]) -> Self {
        let Some(threads) = dxt::has_threads(module, version) else {
            self.mistake.get_or_insert(WriteError::RecordVersion(module, version));
            return self;
        };
        let order = self.order;
        let mut data = Vec::new();
        for record in records {
            order.put_u64(&mut data, record.id);
            order.put_i64(&mut data, record.rank);
            order.put_i64(&mut data, if record.shared { -1 } else { 0 });
            let mut host = record.hostname.clone().into_bytes();
            host.resize(HOST_LEN, 0);
            data.extend_from_slice(&host);
            order.put_i64(&mut data, record.writes.len() as i64);
            order.put_i64(&mut data, record.reads.len() as i64);
            let segments = record.writes.iter().chain(&record.reads);
            segments.for_each(|segment| put_segment(order, threads, segment, &mut data));
        }
        self.module(module, version, &data)
    }

    /// Adds data to any module, as they are, before compression. The version is that of the last call.
    pub fn module(mut self, module: ModuleId, version: u32, data: &[u8]) -> Self {
        let entry = self.modules.entry(module).or_default();
        entry.0 = version;
        entry.1.extend_from_slice(data);
        self
    }

    /// The log.
    pub fn to_bytes(&self) -> Result<Vec<u8>, WriteError> {
        if let Some(mistake) = &self.mistake {
            return Err(mistake.clone());
        }
        if self.format.major != 3 || !self.format.is_supported() {
            return Err(WriteError::Format(self.format));
        }
        let code = match self.compression {
            Compression::Zlib => 0,
            Compression::Bzip2 => 1,
            Compression::None => 2,
            Compression::Gzip => return Err(WriteError::Compression(self.format, self.compression)),
        };
        let slots = header::slots(self.format);
        let header_len = if slots == 64 { header::LEN_64 } else { header::LEN_16 };
        let mut body = self.compressed(&self.job_record()?);
        let place = |body: &mut Vec<u8>, data: &[u8]| {
            let at = (header_len + body.len()) as u64;
            body.extend(self.compressed(data));
            (at, (header_len + body.len()) as u64 - at)
        };
        let names = if self.names.is_empty() { (0, 0) } else { place(&mut body, &self.name_records()) };
        let mut extents = vec![(0, 0); slots];
        let mut versions = vec![0; slots];
        let mut partial = 0u64;
        let slot_of = |module: ModuleId| {
            (0..slots)
                .find(|slot| header::module_of_slot(self.format, *slot) == module)
                .ok_or(WriteError::NoSlot(self.format, module))
        };
        for (module, (version, data)) in &self.modules {
            let slot = slot_of(*module)?;
            versions[slot] = *version;
            if !data.is_empty() {
                extents[slot] = place(&mut body, data);
            }
        }
        for module in &self.partial {
            partial |= 1 << slot_of(*module)?;
        }

        let order = self.order;
        let mut out = self.format.to_string().into_bytes();
        out.resize(8, 0);
        order.put_u64(&mut out, MAGIC);
        out.push(code);
        if slots == 64 {
            out.resize(24, 0);
            order.put_u64(&mut out, partial);
        } else {
            out.resize(20, 0);
            order.put_u32(&mut out, partial as u32);
        }
        for (start, len) in std::iter::once(names).chain(extents) {
            order.put_u64(&mut out, start);
            order.put_u64(&mut out, len);
        }
        versions.iter().for_each(|version| order.put_u32(&mut out, *version));
        out.extend(body);
        Ok(out)
    }

    fn compressed(&self, data: &[u8]) -> Vec<u8> {
        compress::streams(self.compression, data, self.streams)
    }

    fn job_record(&self) -> Result<Vec<u8>, WriteError> {
        let (job, order) = (&self.job, self.order);
        let mut out = Vec::new();
        order.put_i64(&mut out, job.uid);
        for time in [job.start, job.end] {
            order.put_i64(&mut out, time.seconds);
            if self.format >= Format::V3_41 {
                order.put_i64(&mut out, time.nanoseconds);
            }
        }
        order.put_i64(&mut out, job.nprocs);
        order.put_i64(&mut out, job.job_id);
        put_metadata(job, job::METADATA_LEN, &mut out)?;
        let mut text = job.command.clone();
        for mount in &job.mounts {
            text.push_str(&format!("\n{}\t{}", mount.fs_type, mount.path));
        }
        let room = job::RECORD_LEN - out.len() - 1;
        put_text("the command and mounts", &text, room, &mut out)?;
        out.push(0);
        Ok(out)
    }

    fn name_records(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (id, name) in &self.names {
            self.order.put_u64(&mut out, *id);
            if self.format < Format::V3_10 {
                self.order.put_u32(&mut out, name.len() as u32);
                out.extend_from_slice(name.as_bytes());
            } else {
                out.extend_from_slice(name.as_bytes());
                out.push(0);
            }
        }
        out
    }
}

fn put_segment(order: ByteOrder, threads: bool, segment: &Segment, out: &mut Vec<u8>) {
    order.put_i64(out, segment.offset);
    order.put_i64(out, segment.length);
    order.put_f64(out, segment.start);
    order.put_f64(out, segment.end);
    if threads {
        order.put_u64(out, segment.thread.unwrap_or(0));
    }
}

fn put_text(what: &'static str, text: &str, room: usize, out: &mut Vec<u8>) -> Result<(), WriteError> {
    if text.len() > room {
        return Err(WriteError::TooLong { what, len: text.len(), room });
    }
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

/// The metadata as `key=value` lines in a field of `len` bytes, of which the last is NUL.
fn put_metadata(job: &Job, len: usize, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let text: String = job.metadata.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
    let end = out.len() + len;
    put_text("the metadata", &text, len.saturating_sub(1), out)?;
    out.resize(end, 0);
    Ok(())
}
