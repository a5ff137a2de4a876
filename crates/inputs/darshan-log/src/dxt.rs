//! DXT (extended tracing): every read and write of a file, with offset, length and times.

use crate::endian::{ByteOrder, Fields, text_to_nul};
use crate::error::{Error, Result};
use crate::module::ModuleId;
use crate::region::Region;

/// Bytes before the segments: id, rank, sharing mark, host name, two counts.
pub(crate) const HEAD_LEN: usize = 104;
/// Length of the host name field.
pub(crate) const HOST_LEN: usize = 64;

/// Which way a segment moved its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the file.
    Read,
    /// To the file.
    Write,
}

/// One read or write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Where in the file; −1 in logs of Darshan 3.1.0 – 3.1.3, whose DXT_MPIIO did not know it.
    pub offset: i64,
    /// Bytes.
    pub length: i64,
    /// When it began, seconds since the job began.
    pub start: f64,
    /// When it ended.
    pub end: f64,
    /// The calling thread, where the record version has it.
    pub thread: Option<u64>,
}

/// What precedes the segments of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DxtHead {
    /// Record id, the key of [`Names`](crate::Names).
    pub id: u64,
    /// The rank.
    pub rank: i64,
    /// Host the rank ran on.
    pub hostname: String,
    /// Number of writes; they come first.
    pub writes: u64,
    /// Number of reads.
    pub reads: u64,
    /// Whether the file was opened by all ranks.
    pub shared: bool,
}

/// A record with all its segments.
#[derive(Clone, Debug, PartialEq)]
pub struct DxtRecord {
    /// Record id, the key of [`Names`](crate::Names).
    pub id: u64,
    /// The rank.
    pub rank: i64,
    /// Host the rank ran on.
    pub hostname: String,
    /// Whether the file was opened by all ranks.
    pub shared: bool,
    /// Its writes, in the order of their beginning.
    pub writes: Vec<Segment>,
    /// Its reads, in the order of their beginning.
    pub reads: Vec<Segment>,
}

/// The DXT records of a module.
///
/// As an iterator it yields whole [`DxtRecord`]s. A record may hold millions of segments; to read those one
/// at a time in constant memory, alternate [`next_head`](Dxt::next_head) and
/// [`next_segment`](Dxt::next_segment):
///
/// ```
/// # fn longest(log: &darshan_log::Log) -> darshan_log::Result<f64> {
/// let mut dxt = log.dxt_posix();
/// let mut longest = 0.0f64;
/// while let Some(_file) = dxt.next_head()? {
///     while let Some((_direction, segment)) = dxt.next_segment()? {
///         longest = longest.max(segment.end - segment.start);
///     }
/// }
/// # Ok(longest)
/// # }
/// ```
///
/// Damage is reported as by [`Records`](crate::Records): once, after everything that precedes it.
#[derive(Debug)]
pub struct Dxt<'a> {
    region: Option<Region<'a>>,
    refused: Option<Error>,
    order: ByteOrder,
    threads: bool,
    no_offsets: bool,
    next: u64,
    writes_left: u64,
    reads_left: u64,
}

impl<'a> Dxt<'a> {
    /// `region` is that of `module`, with the version of its records.
    pub(crate) fn new(order: ByteOrder, module: ModuleId, region: Option<(Region<'a>, u32)>) -> Self {
        let mut dxt = Dxt {
            region: None,
            refused: None,
            order,
            threads: false,
            no_offsets: false,
            next: 0,
            writes_left: 0,
            reads_left: 0,
        };
        if let Some((region, version)) = region {
            match has_threads(module, version) {
                Some(threads) => {
                    dxt.threads = threads;
                    dxt.no_offsets = module == ModuleId::DXT_MPIIO && version == 1;
                    dxt.region = Some(region);
                }
                None => {
                    let newest = if module == ModuleId::DXT_MPIIO { 3 } else { 2 };
                    let what = format!("{module} record version");
                    let expected = format!("1 to {newest}").into();
                    dxt.refused = Some(region.unsupported(what, expected, version.to_string()));
                }
            }
        }
        dxt
    }

    fn segment_len(&self) -> usize {
        if self.threads { 40 } else { 32 }
    }

    /// The next record, passing over segments of the one before that were not read. `None` at the end.
    pub fn next_head(&mut self) -> Result<Option<DxtHead>> {
        if let Some(error) = self.refused.take() {
            return Err(error);
        }
        let head = self.read_head();
        if !matches!(head, Ok(Some(_))) {
            self.stop();
        }
        head
    }

    fn read_head(&mut self) -> Result<Option<DxtHead>> {
        let len = self.segment_len() as u64;
        let Some(region) = self.region.as_mut() else { return Ok(None) };
        let unread = self.writes_left.saturating_add(self.reads_left);
        region.skip(unread.saturating_mul(len), "DXT segments")?;
        (self.writes_left, self.reads_left) = (0, 0);
        region.set_record(self.next);
        self.next += 1;
        let Some(head) = region.take(HEAD_LEN, "a DXT record's head")? else { return Ok(None) };
        let mut fields = Fields::new(self.order, head);
        let (id, rank, shared_record) = (fields.u64(), fields.i64(), fields.i64());
        let hostname = text_to_nul(fields.bytes(HOST_LEN));
        let (writes, reads) = (fields.i64(), fields.i64());
        let most = region.inflated_limit() / len;
        let count = |n: i64| match u64::try_from(n) {
            Ok(n) if n > most => Err(region.too_large(format!("{n} segments"), most)),
            Ok(n) => Ok(n),
            Err(_) => Err(region.corrupt("a number of segments".into(), n.to_string())),
        };
        (self.writes_left, self.reads_left) = (count(writes)?, count(reads)?);
        Ok(Some(DxtHead {
            id,
            rank,
            hostname,
            writes: self.writes_left,
            reads: self.reads_left,
            shared: shared_record == -1,
        }))
    }

    /// The next segment of the record whose head was read last. `None` after its last.
    pub fn next_segment(&mut self) -> Result<Option<(Direction, Segment)>> {
        let direction = match (self.writes_left, self.reads_left) {
            (0, 0) => return Ok(None),
            (0, _) => Direction::Read,
            _ => Direction::Write,
        };
        let (len, order, threads, no_offsets) =
            (self.segment_len(), self.order, self.threads, self.no_offsets);
        let Some(region) = self.region.as_mut() else { return Ok(None) };
        match region.take_promised(len, "a DXT segment") {
            Ok(bytes) => {
                match direction {
                    Direction::Write => self.writes_left -= 1,
                    Direction::Read => self.reads_left -= 1,
                }
                let mut fields = Fields::new(order, bytes);
                let offset = fields.i64();
                let segment = Segment {
                    offset: if no_offsets { -1 } else { offset },
                    length: fields.i64(),
                    start: fields.f64(),
                    end: fields.f64(),
                    thread: threads.then(|| fields.u64()),
                };
                Ok(Some((direction, segment)))
            }
            Err(error) => {
                self.stop();
                Err(error)
            }
        }
    }

    fn stop(&mut self) {
        self.region = None;
        (self.writes_left, self.reads_left) = (0, 0);
    }

    fn next_record(&mut self) -> Result<Option<DxtRecord>> {
        let Some(head) = self.next_head()? else { return Ok(None) };
        let segments = head.writes.saturating_add(head.reads);
        let bytes = segments.saturating_mul(size_of::<Segment>() as u64);
        if let Some(region) = self.region.as_ref().filter(|region| bytes > region.collected_limit()) {
            let what = format!("a record of {segments} segments");
            let error = region.too_large(what, region.collected_limit());
            self.stop();
            return Err(error);
        }
        let mut record = DxtRecord {
            id: head.id,
            rank: head.rank,
            hostname: head.hostname,
            shared: head.shared,
            writes: Vec::new(),
            reads: Vec::new(),
        };
        while let Some((direction, segment)) = self.next_segment()? {
            match direction {
                Direction::Write => record.writes.push(segment),
                Direction::Read => record.reads.push(segment),
            }
        }
        Ok(Some(record))
    }
}

/// Whether segments of this version carry their thread; `None` for a version that does not exist.
pub(crate) fn has_threads(module: ModuleId, version: u32) -> Option<bool> {
    match (module, version) {
        (ModuleId::DXT_POSIX, 1) | (ModuleId::DXT_MPIIO, 1 | 2) => Some(false),
        (ModuleId::DXT_POSIX, 2) | (ModuleId::DXT_MPIIO, 3) => Some(true),
        _ => None,
    }
}

impl Iterator for Dxt<'_> {
    type Item = Result<DxtRecord>;

    fn next(&mut self) -> Option<Result<DxtRecord>> {
        self.next_record().transpose()
    }
}

impl std::iter::FusedIterator for Dxt<'_> {}
