//! Makes logs of Darshan 2.

use super::{WriteError, compress, put_metadata, put_text};
use crate::darshan2_record::{Darshan2Record, SUFFIX_LEN};
use crate::endian::ByteOrder;
use crate::format::{Format, MAGIC};
use crate::inflate::Compression;
use crate::job::{self, Job};

/// Collects the parts of a Darshan 2 log.
#[derive(Clone, Debug)]
pub struct Darshan2Writer {
    format: Format,
    order: ByteOrder,
    compression: Compression,
    streams: usize,
    job: Job,
    records: Vec<Darshan2Record>,
}

impl Darshan2Writer {
    /// A log of a 2.x format about a job: little-endian, gzip, one stream.
    pub fn new(format: Format, job: Job) -> Self {
        Darshan2Writer {
            format,
            order: ByteOrder::Little,
            compression: Compression::Gzip,
            streams: 1,
            job,
            records: Vec::new(),
        }
    }

    /// Writes numbers in this order.
    pub fn byte_order(mut self, order: ByteOrder) -> Self {
        self.order = order;
        self
    }

    /// Compresses the log this way: gzip, bzip2 or not at all.
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Splits the log into this number of streams.
    pub fn streams(mut self, streams: usize) -> Self {
        self.streams = streams.max(1);
        self
    }

    /// Adds file records.
    pub fn records(mut self, records: &[Darshan2Record]) -> Self {
        self.records.extend_from_slice(records);
        self
    }

    /// The log.
    pub fn to_bytes(&self) -> Result<Vec<u8>, WriteError> {
        if self.format.major != 2 || !self.format.is_supported() {
            return Err(WriteError::Format(self.format));
        }
        if self.compression == Compression::Zlib {
            return Err(WriteError::Compression(self.format, self.compression));
        }
        let order = self.order;
        let mut out = self.format.to_string().into_bytes();
        out.resize(8, 0);
        order.put_u64(&mut out, MAGIC);
        let job = &self.job;
        for value in [job.uid, job.start.seconds, job.end.seconds, job.nprocs, job.job_id] {
            order.put_i64(&mut out, value);
        }
        put_metadata(job, job::metadata_len_2(self.format), &mut out)?;
        let mut text = job.command.clone();
        for mount in &job.mounts {
            let device = mount.device.unwrap_or(0);
            text.push_str(&format!("\n{device}\t{}\t{}", mount.fs_type, mount.path));
        }
        let len = job::record_len_2(self.format);
        let room = len - out.len() - 1;
        put_text("the command and mounts", &text, room, &mut out)?;
        out.resize(len, 0);
        for record in &self.records {
            order.put_u64(&mut out, record.id);
            order.put_i64(&mut out, record.rank);
            let end = out.len() + SUFFIX_LEN;
            put_text("the end of a name", &record.name_suffix, SUFFIX_LEN - 1, &mut out)?;
            out.resize(end, 0);
            record.counters.iter().for_each(|value| order.put_i64(&mut out, *value));
            record.fcounters.iter().for_each(|value| order.put_f64(&mut out, *value));
        }
        Ok(compress::streams(self.compression, &out, self.streams))
    }
}
