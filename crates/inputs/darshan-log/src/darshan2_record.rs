//! The file record of Darshan 1 and 2, with the counters of all interfaces.

use crate::counters::{Activity, Value, counters_by_index, interval};
use crate::darshan2_counters::{Darshan2Counter, Darshan2Time};
use crate::endian::{ByteOrder, Fields, text_to_nul};
use crate::module::Layer;

/// Bytes of a file record of Darshan 2.
pub(crate) const RECORD_LEN: usize = 1328;
/// Length of the file name's end that a record keeps, with its NUL.
pub(crate) const SUFFIX_LEN: usize = 16;

/// What a rank, or all ranks together (`rank` −1), did to a file, through whichever interface.
///
/// Darshan 2 has no modules: opens, reads and writes are counted per interface, but there is one number of
/// bytes and one first and last time for all of them. Bytes are counted where POSIX (or a stream) moves them.
#[derive(Clone, Debug, PartialEq)]
pub struct Darshan2Record {
    /// Hash of the file's path.
    pub id: u64,
    /// The rank, or −1 for all ranks together.
    pub rank: i64,
    /// The last 15 characters of the path: all that Darshan 2 keeps of it.
    pub name_suffix: String,
    /// Integer counters, indexed by their enum.
    pub counters: [i64; Darshan2Counter::COUNT],
    /// Times in seconds, indexed by their enum.
    pub fcounters: [f64; Darshan2Time::COUNT],
}

impl Darshan2Record {
    /// A record with all counters 0.
    pub fn new(id: u64, rank: i64, name_suffix: &str) -> Self {
        Darshan2Record {
            id,
            rank,
            name_suffix: name_suffix.to_owned(),
            counters: [0; Darshan2Counter::COUNT],
            fcounters: [0.0; Darshan2Time::COUNT],
        }
    }

    pub(crate) fn decode(order: ByteOrder, bytes: &[u8]) -> Self {
        let mut fields = Fields::new(order, bytes);
        let mut record = Self::new(fields.u64(), fields.i64(), &text_to_nul(fields.bytes(SUFFIX_LEN)));
        record.counters.iter_mut().for_each(|counter| *counter = fields.i64());
        record.fcounters.iter_mut().for_each(|counter| *counter = fields.f64());
        record
    }

    /// A counter by the name Darshan's tools print, such as `"CP_BYTES_READ"` or `"CP_F_POSIX_READ_TIME"`.
    pub fn value(&self, name: &str) -> Option<Value> {
        let int = Darshan2Counter::from_name(name).map(|c| Value::Int(self[c]));
        int.or_else(|| Darshan2Time::from_name(name).map(|c| Value::Float(self[c])))
    }

    fn sum<const N: usize>(&self, counters: [Darshan2Counter; N]) -> u64 {
        counters.iter().fold(0u64, |sum, c| sum.saturating_add(u64::try_from(self[*c]).unwrap_or(0)))
    }

    /// Whether the file was used through a layer. A file may be used through MPI-IO and through POSIX or
    /// streams; it is said to be of streams only if POSIX never opened it, and of POSIX if nothing else is
    /// known to have opened it. Every record so belongs to at least one layer, and never to both POSIX and
    /// STDIO.
    pub fn uses(&self, layer: Layer) -> bool {
        use Darshan2Counter as C;
        let posix = self.sum([C::PosixOpens]) > 0;
        let streams = self.sum([C::PosixFopens]) > 0;
        let mpiio = self.sum([C::IndepOpens, C::CollOpens]) > 0;
        match layer {
            Layer::MpiIo => mpiio,
            Layer::Stdio => streams && !posix,
            Layer::Posix => posix || (!streams && (!mpiio || self.sum([C::PosixStats]) > 0)),
            Layer::Dfs | Layer::Daos => false,
        }
    }

    /// Whether the file was never seen below MPI-IO, HDF5 or PnetCDF, so that its bytes were not counted:
    /// they are 0 although data may have been moved.
    pub fn lacks_bytes(&self) -> bool {
        use Darshan2Counter as C;
        self.sum([C::PosixOpens, C::PosixFopens, C::PosixStats]) == 0
    }

    /// The record as seen by a layer it [`uses`](Darshan2Record::uses), in the terms all layers share.
    ///
    /// `job_start` is taken off timestamps that are absolute, as they are up to format 2.02 on some machines.
    pub fn activity(&self, layer: Layer, job_start: i64) -> Activity {
        use Darshan2Counter as C;
        use Darshan2Time as T;
        let span = |from: T, to: T| {
            let relative = |time: f64| {
                let absolute = job_start > PLAUSIBLE_EPOCH && time >= job_start as f64;
                if absolute { time - job_start as f64 } else { time }
            };
            let ever = self[from] > 0.0 || self[to] > 0.0;
            if ever { interval(relative(self[from]), relative(self[to])) } else { None }
        };
        let mpiio = layer == Layer::MpiIo;
        let (opens, reads, writes, seeks) = if mpiio {
            (
                self.sum([C::IndepOpens, C::CollOpens]),
                self.sum([C::IndepReads, C::CollReads, C::SplitReads, C::NbReads]),
                self.sum([C::IndepWrites, C::CollWrites, C::SplitWrites, C::NbWrites]),
                0,
            )
        } else {
            (
                self.sum([C::PosixOpens, C::PosixFopens]),
                self.sum([C::PosixReads, C::PosixFreads]),
                self.sum([C::PosixWrites, C::PosixFwrites]),
                self.sum([C::PosixSeeks, C::PosixFseeks]),
            )
        };
        let time = |of_mpiio: T, of_posix: T| if mpiio { self[of_mpiio] } else { self[of_posix] };
        Activity {
            id: self.id,
            rank: self.rank,
            opens,
            reads,
            writes,
            seeks,
            stats: if mpiio { 0 } else { self.sum([C::PosixStats]) },
            bytes_read: self.sum([C::BytesRead]),
            bytes_written: self.sum([C::BytesWritten]),
            read: span(T::ReadStartTimestamp, T::ReadEndTimestamp),
            write: span(T::WriteStartTimestamp, T::WriteEndTimestamp),
            open: span(T::OpenTimestamp, T::CloseTimestamp),
            opening: None,
            closing: None,
            read_time: time(T::MpiReadTime, T::PosixReadTime),
            write_time: time(T::MpiWriteTime, T::PosixWriteTime),
            meta_time: time(T::MpiMetaTime, T::PosixMetaTime),
        }
    }
}

/// Job start times below this (1973) come from machines whose clock was never set; no timestamp is absolute
/// then.
const PLAUSIBLE_EPOCH: i64 = 100_000_000;

counters_by_index!(Darshan2Record, counters: Darshan2Counter as i64, fcounters: Darshan2Time as f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_timestamps_are_made_relative() {
        let mut record = Darshan2Record::new(1, -1, "x");
        record[Darshan2Time::ReadStartTimestamp] = 1_291_735_315.5;
        record[Darshan2Time::ReadEndTimestamp] = 1_291_735_316.5;
        let activity = record.activity(Layer::Posix, 1_291_735_315);
        assert_eq!(activity.read.map(|r| (r.start, r.end)), Some((0.5, 1.5)));
        assert_eq!(activity.write, None);

        record[Darshan2Time::ReadStartTimestamp] = 80.5;
        record[Darshan2Time::ReadEndTimestamp] = 81.5;
        let unset_clock = record.activity(Layer::Posix, 79);
        assert_eq!(unset_clock.read.map(|r| (r.start, r.end)), Some((80.5, 81.5)));
    }

    #[test]
    fn a_record_belongs_to_the_layers_that_opened_it() {
        use Darshan2Counter as C;
        let with = |counters: &[C]| {
            let mut record = Darshan2Record::new(1, 0, "x");
            counters.iter().for_each(|c| record[*c] = 1);
            [Layer::MpiIo, Layer::Posix, Layer::Stdio].map(|layer| record.uses(layer))
        };
        assert_eq!(with(&[C::CollOpens, C::PosixOpens]), [true, true, false]);
        assert_eq!(with(&[C::IndepOpens]), [true, false, false]);
        assert_eq!(with(&[C::PosixFopens]), [false, false, true]);
        assert_eq!(with(&[C::PosixFopens, C::PosixOpens]), [false, true, false]);
        assert_eq!(with(&[C::PosixStats]), [false, true, false]);
        assert_eq!(with(&[]), [false, true, false]);
    }

    #[test]
    fn counters_have_the_indices_of_the_format() {
        assert_eq!(Darshan2Counter::COUNT, 144);
        assert_eq!(Darshan2Time::COUNT, 18);
        assert_eq!(8 + 8 + SUFFIX_LEN + 8 * (144 + 18), RECORD_LEN);
        assert_eq!(Darshan2Counter::BytesRead as usize, 47);
        assert_eq!(Darshan2Counter::SizeRead0100 as usize, 62);
        assert_eq!(Darshan2Time::VarianceRankBytes as usize, 17);
    }
}
