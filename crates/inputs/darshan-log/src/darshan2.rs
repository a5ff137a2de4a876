//! Darshan 2: one compressed stream of a job record and file records, each with the counters of all
//! interfaces.

use crate::darshan1;
use crate::darshan2_record::{Darshan2Record, RECORD_LEN};
use crate::endian::{ByteOrder, Fields};
use crate::error::Result;
use crate::format::Format;
use crate::job::{self, Job};
use crate::region::Region;

/// Reads the job of a log whose version and magic number (16 bytes) were taken already.
pub(crate) fn read_job(format: Format, order: ByteOrder, region: &mut Region<'_>) -> Result<Job> {
    let bytes = region.take_promised(job::record_len_2(format) - 16, "a job record")?;
    Ok(Job::read_2(format, Fields::new(order, bytes)))
}

/// The file records of a Darshan 2 log, read one at a time; see [`Records`](crate::Records) for damage.
#[derive(Debug)]
pub struct Darshan2Records<'a> {
    region: Option<Region<'a>>,
    format: Format,
    order: ByteOrder,
    /// Bytes of the job record, passed over first.
    job_len: usize,
    next: u64,
}

impl<'a> Darshan2Records<'a> {
    pub(crate) fn new(format: Format, order: ByteOrder, region: Option<Region<'a>>) -> Self {
        let job_len = if format.major == 1 { darshan1::JOB_LEN } else { job::record_len_2(format) };
        Darshan2Records { region, format, order, job_len, next: 0 }
    }

    fn read(&mut self) -> Result<Option<Darshan2Record>> {
        let Some(region) = self.region.as_mut() else { return Ok(None) };
        region.skip(std::mem::take(&mut self.job_len) as u64, "a job record")?;
        region.set_record(self.next);
        self.next += 1;
        if self.format.major == 1 {
            let bytes = region.take(darshan1::record_len(self.format), "a file record")?;
            return Ok(bytes.map(|bytes| darshan1::decode(self.format, bytes)));
        }
        let bytes = region.take(RECORD_LEN, "a file record")?;
        Ok(bytes.map(|bytes| Darshan2Record::decode(self.order, bytes)))
    }
}

impl Iterator for Darshan2Records<'_> {
    type Item = Result<Darshan2Record>;

    fn next(&mut self) -> Option<Result<Darshan2Record>> {
        let item = self.read().transpose();
        if !matches!(item, Some(Ok(_))) {
            self.region = None;
        }
        item
    }
}

impl std::iter::FusedIterator for Darshan2Records<'_> {}
