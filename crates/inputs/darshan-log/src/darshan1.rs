//! Darshan 1 (formats 1.21, 1.22 and 1.24): like Darshan 2, with fewer counters, from big-endian machines of
//! 32 bits. There is no magic number, and timestamps are absolute.

use crate::darshan2_counters::{Darshan2Counter as C, Darshan2Time as T};
use crate::darshan2_record::{Darshan2Record, SUFFIX_LEN};
use crate::endian::{ByteOrder, Fields, text_to_nul};
use crate::error::Result;
use crate::format::Format;
use crate::job::Job;
use crate::region::Region;

/// Bytes of the job record.
pub(crate) const JOB_LEN: usize = 1024;

/// The byte order of all such logs.
pub(crate) const ORDER: ByteOrder = ByteOrder::Big;

/// Counters that came with later formats, in the order of their indices.
fn absent(format: Format) -> (&'static [C], &'static [T]) {
    const RANKS: [C; 4] = [C::FastestRank, C::FastestRankBytes, C::SlowestRank, C::SlowestRankBytes];
    const WITH_DEVICE: [C; 6] = [C::Device, C::SizeAtOpen, RANKS[0], RANKS[1], RANKS[2], RANKS[3]];
    const WITH_ALL: [C; 11] = [
        C::IndepNcOpens,
        C::CollNcOpens,
        C::Hdf5Opens,
        C::MaxReadTimeSize,
        C::MaxWriteTimeSize,
        C::Device,
        C::SizeAtOpen,
        RANKS[0],
        RANKS[1],
        RANKS[2],
        RANKS[3],
    ];
    const TIMES: [T; 4] = [T::FastestRankTime, T::SlowestRankTime, T::VarianceRankTime, T::VarianceRankBytes];
    const ALL_TIMES: [T; 6] = [T::MaxReadTime, T::MaxWriteTime, TIMES[0], TIMES[1], TIMES[2], TIMES[3]];
    match format.minor {
        ..=21 => (&WITH_ALL, &ALL_TIMES),
        22 | 23 => (&WITH_DEVICE, &TIMES),
        _ => (&RANKS, &TIMES),
    }
}

/// Bytes of a file record.
pub(crate) fn record_len(format: Format) -> usize {
    let (counters, times) = absent(format);
    8 + 8 + SUFFIX_LEN + 8 * (C::COUNT - counters.len() + T::COUNT - times.len())
}

/// The job of a log whose first 16 bytes were taken already.
pub(crate) fn read_job(head: [u8; 16], region: &mut Region<'_>) -> Result<Job> {
    let bytes = region.take_promised(JOB_LEN - head.len(), "a job record")?;
    let mut fields = Fields::new(ORDER, bytes);
    let mut job = Job { uid: i64::from(Fields::new(ORDER, &head[12..]).u32()), ..Job::default() };
    job.start.seconds = i64::from(fields.u32() as i32);
    job.end.seconds = i64::from(fields.u32() as i32);
    job.nprocs = i64::from(fields.u32() as i32);
    job.command = text_to_nul(fields.rest()).lines().next().unwrap_or_default().to_owned();
    Ok(job)
}

/// A file record, with 0 for the counters that it does not have.
pub(crate) fn decode(format: Format, bytes: &[u8]) -> Darshan2Record {
    let (no_counters, no_times) = absent(format);
    let mut fields = Fields::new(ORDER, bytes);
    let (id, rank) = (fields.u64(), i64::from(fields.u32() as i32));
    fields.u32();
    let mut record = Darshan2Record::new(id, rank, "");
    for (index, counter) in record.counters.iter_mut().enumerate() {
        if !no_counters.iter().any(|absent| *absent as usize == index) {
            *counter = fields.i64();
        }
    }
    for (index, time) in record.fcounters.iter_mut().enumerate() {
        if !no_times.iter().any(|absent| *absent as usize == index) {
            *time = fields.f64();
        }
    }
    record.name_suffix = text_to_nul(fields.bytes(SUFFIX_LEN));
    record
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layer, Log};
    use std::io::Write;

    /// A log of one file that rank 3 wrote 7 bytes to, every counter it has numbered.
    fn log(format: Format) -> Vec<u8> {
        let mut out = format.to_string().into_bytes();
        out.resize(12, 0);
        for number in [1000u32, 1_200_000_000, 1_200_000_060, 4] {
            ORDER.put_u32(&mut out, number);
        }
        out.extend(b"./app -x");
        out.resize(JOB_LEN, 0);
        let mut record = Darshan2Record::new(42, 3, "");
        record[C::PosixOpens] = 1;
        record[C::PosixWrites] = 2;
        record[C::BytesWritten] = 7;
        record[C::SizeWrite0100] = 2;
        record[T::WriteStartTimestamp] = 1_200_000_010.5;
        record[T::WriteEndTimestamp] = 1_200_000_020.5;
        record[T::PosixWriteTime] = 0.25;
        let (no_counters, no_times) = absent(format);
        ORDER.put_u64(&mut out, record.id);
        ORDER.put_u32(&mut out, 3);
        ORDER.put_u32(&mut out, 0);
        for (index, counter) in record.counters.iter().enumerate() {
            if !no_counters.iter().any(|absent| *absent as usize == index) {
                ORDER.put_i64(&mut out, *counter);
            }
        }
        for (index, time) in record.fcounters.iter().enumerate() {
            if !no_times.iter().any(|absent| *absent as usize == index) {
                ORDER.put_f64(&mut out, *time);
            }
        }
        out.extend(b"end-of-name\0\0\0\0\0");
        assert_eq!(out.len(), JOB_LEN + record_len(format));
        out
    }

    #[test]
    fn records_have_the_lengths_of_the_format() {
        // 133 and 12 counters, 138 and 14, 140 and 14.
        let lengths = Format::DARSHAN_1.map(record_len);
        assert_eq!(lengths, [1192, 1248, 1264]);
        for format in Format::DARSHAN_1 {
            let (counters, times) = absent(format);
            assert!(counters.is_sorted_by_key(|c| *c as usize) && times.is_sorted_by_key(|t| *t as usize));
        }
    }

    #[test]
    fn logs_are_read_plain_and_compressed() {
        for format in Format::DARSHAN_1 {
            let plain = log(format);
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packed.write_all(&plain).unwrap();
            for bytes in [plain, packed.finish().unwrap()] {
                let log = Log::from_bytes(bytes).unwrap();
                assert_eq!((log.format(), log.job().nprocs, log.job().uid), (format, 4, 1000));
                assert_eq!((log.job().command.as_str(), log.job().run_time()), ("./app -x", 61.0));
                let all: Vec<_> = log.activities(Layer::Posix).collect::<Result<_>>().unwrap();
                assert_eq!(
                    (all.len(), all[0].id, all[0].rank, all[0].bytes_written),
                    (1, 42, 3, 7),
                    "{format}"
                );
                let write = all[0].write.unwrap();
                assert_eq!((write.start, write.end, all[0].write_time), (10.5, 20.5, 0.25));
                let record = log.darshan2().next().unwrap().unwrap();
                assert_eq!((record.name_suffix.as_str(), record[C::SizeWrite0100]), ("end-of-name", 2));
                assert_eq!(log.totals().len(), 1);
            }
        }
    }

    #[test]
    fn a_cut_log_is_named() {
        let whole = log(Format::DARSHAN_1[0]);
        for length in [4, 8, 20, 1000] {
            assert!(Log::from_bytes(&whole[..length]).is_err(), "{length}");
        }
        let cut = Log::from_bytes(&whole[..1500]).unwrap();
        assert!(cut.darshan2().next().unwrap().is_err());
    }
}
