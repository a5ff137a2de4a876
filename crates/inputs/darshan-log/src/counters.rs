//! What the counter modules (POSIX, MPI-IO, STDIO) have in common: named counters, record versions, a
//! summary.
//!
//! A record on disk is an id, a rank, integers and doubles of 8 bytes each. Versions of a module differ in
//! which counters there are; a [`Layout`] says which run of the disk's counters is which run of the newest
//! version's, and serves reading and writing alike.

use crate::endian::ByteOrder;
use crate::module::{Layer, ModuleId};

/// The value of a counter looked up by name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// An integer counter.
    Int(i64),
    /// A time, in seconds.
    Float(f64),
}

/// A stretch of time, in seconds since the job began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Begin of the first operation.
    pub start: f64,
    /// End of the last operation.
    pub end: f64,
}

/// What was done to a file through one layer, in the terms all layers share.
///
/// This is what an analysis of counters wants: one interval and one volume per direction. Counts that a log
/// does not have are 0.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Activity {
    /// Record id, the key of [`Names`](crate::Names).
    pub id: u64,
    /// The rank, or −1 for all ranks together.
    pub rank: i64,
    /// Opens.
    pub opens: u64,
    /// Reads of every kind.
    pub reads: u64,
    /// Writes of every kind.
    pub writes: u64,
    /// Seeks.
    pub seeks: u64,
    /// `stat` and relatives.
    pub stats: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// From the first read to the end of the last, if there were any.
    pub read: Option<Interval>,
    /// From the first write to the end of the last, if there were any.
    pub write: Option<Interval>,
    /// From the first open to the last close.
    pub open: Option<Interval>,
    /// From the first open to the end of the last, where the record version tells (POSIX and MPI-IO since
    /// Darshan 3.1.0, STDIO).
    pub opening: Option<Interval>,
    /// From the first close to the end of the last, likewise.
    pub closing: Option<Interval>,
    /// Time spent in reads, over all ranks.
    pub read_time: f64,
    /// Time spent in writes, over all ranks.
    pub write_time: f64,
    /// Time spent in metadata operations, over all ranks.
    pub meta_time: f64,
}

impl Activity {
    /// Whether the record is the sum over all ranks.
    pub fn is_shared(&self) -> bool {
        self.rank < 0
    }
}

/// Darshan stores 0 for "never" and −1 for "not recorded by this version".
pub(crate) fn interval(start: f64, end: f64) -> Option<Interval> {
    (start.is_finite() && end.is_finite() && end > 0.0).then_some(Interval { start: start.max(0.0), end })
}

/// An interval of which both ends were recorded.
pub(crate) fn known(start: f64, end: f64) -> Option<Interval> {
    if start < 0.0 { None } else { interval(start, end) }
}

/// A run of counters that lie together on disk and in the record.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub disk: usize,
    pub record: usize,
    pub len: usize,
}

/// How one version of a module lays out its records.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub version: u32,
    /// Integers and doubles on disk.
    pub ints: usize,
    pub floats: usize,
    pub int_runs: &'static [Run],
    pub float_runs: &'static [Run],
    /// Integer counters that are 0, not −1, where the version lacks them.
    pub absent_as_zero: &'static [usize],
}

impl Layout {
    /// Bytes of a record: id and rank, then the counters.
    pub fn record_len(&self) -> usize {
        8 * (2 + self.ints + self.floats)
    }

    /// Fills `ints` and `floats` from the words of a record after its id and rank.
    pub(crate) fn decode(&self, order: ByteOrder, words: &[[u8; 8]], ints: &mut [i64], floats: &mut [f64]) {
        ints.fill(-1);
        floats.fill(-1.0);
        for at in self.absent_as_zero {
            ints[*at] = 0;
        }
        for run in self.int_runs {
            for (to, from) in ints[run.record..run.record + run.len].iter_mut().zip(&words[run.disk..]) {
                *to = order.i64(*from);
            }
        }
        for run in self.float_runs {
            let words = &words[self.ints + run.disk..];
            for (to, from) in floats[run.record..run.record + run.len].iter_mut().zip(words) {
                *to = order.f64(*from);
            }
        }
    }

    /// The reverse of [`decode`](Layout::decode), without the counters this version lacks.
    pub(crate) fn encode(&self, order: ByteOrder, ints: &[i64], floats: &[f64], out: &mut Vec<u8>) {
        let mut disk_ints = vec![0; self.ints];
        for run in self.int_runs {
            disk_ints[run.disk..run.disk + run.len].copy_from_slice(&ints[run.record..run.record + run.len]);
        }
        let mut disk_floats = vec![0.0; self.floats];
        for run in self.float_runs {
            disk_floats[run.disk..run.disk + run.len]
                .copy_from_slice(&floats[run.record..run.record + run.len]);
        }
        disk_ints.iter().for_each(|v| order.put_i64(out, *v));
        disk_floats.iter().for_each(|v| order.put_f64(out, *v));
    }
}

/// How records are read and written; implemented by this crate only.
pub trait Codec: Sized {
    /// All versions of the record.
    fn layouts() -> &'static [Layout];
    /// Reads a record of exactly [`Layout::record_len`] bytes.
    fn decode(layout: &Layout, order: ByteOrder, bytes: &[u8]) -> Self;
    /// Writes a record.
    fn encode(&self, layout: &Layout, order: ByteOrder, out: &mut Vec<u8>);
}

/// A record of the POSIX, MPI-IO or STDIO module.
///
/// The concrete types also give their counters by index: `record[PosixCounter::BytesRead]`.
pub trait FileRecord: Codec {
    /// The module such records belong to.
    const MODULE: ModuleId;
    /// The layer it observes.
    const LAYER: Layer;

    /// Record id, the key of [`Names`](crate::Names).
    fn id(&self) -> u64;
    /// The rank, or −1 for all ranks together.
    fn rank(&self) -> i64;
    /// A counter by the name Darshan's tools print, such as `"POSIX_BYTES_READ"` or `"POSIX_F_READ_TIME"`.
    fn value(&self, name: &str) -> Option<Value>;
    /// All counters with their names, integers first.
    fn values(&self) -> impl Iterator<Item = (&'static str, Value)>;
    /// The record in the terms all layers share.
    fn activity(&self) -> Activity;
    /// Whether the record is the sum over all ranks.
    fn is_shared(&self) -> bool {
        self.rank() < 0
    }
}

/// Gives a record its counters by their names: `record[PosixCounter::BytesRead]`.
macro_rules! counters_by_index {
    ($record:ident, $($field:ident: $counter:ident as $value:ty),+) => {$(
        impl std::ops::Index<$counter> for $record {
            type Output = $value;
            fn index(&self, counter: $counter) -> &$value {
                &self.$field[counter as usize]
            }
        }

        impl std::ops::IndexMut<$counter> for $record {
            fn index_mut(&mut self, counter: $counter) -> &mut $value {
                &mut self.$field[counter as usize]
            }
        }
    )+};
}
pub(crate) use counters_by_index;

/// Declares the record of a module over its counters.
macro_rules! file_record {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            counters: $int:ident, fcounters: $float:ident,
            module: $module:expr, layer: $layer:expr, layouts: $layouts:expr,
            counts: {
                opens: [$($opens:ident),*], reads: [$($reads:ident),*], writes: [$($writes:ident),*],
                seeks: [$($seeks:ident),*], stats: [$($stats:ident),*],
            },
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            /// Record id, the key of [`Names`](crate::Names).
            pub id: u64,
            /// The rank, or −1 for all ranks together.
            pub rank: i64,
            /// Integer counters, indexed by their enum.
            pub counters: [i64; $int::COUNT],
            /// Times in seconds, indexed by their enum.
            pub fcounters: [f64; $float::COUNT],
        }

        impl $name {
            /// A record with all counters 0.
            pub fn new(id: u64, rank: i64) -> Self {
                Self { id, rank, counters: [0; $int::COUNT], fcounters: [0.0; $float::COUNT] }
            }

            /// The sum of counters, of which those that are not recorded (−1) count 0.
            fn sum<const N: usize>(&self, counters: [$int; N]) -> u64 {
                counters.iter().fold(0u64, |sum, c| sum.saturating_add(u64::try_from(self[*c]).unwrap_or(0)))
            }
        }

        crate::counters::counters_by_index!($name, counters: $int as i64, fcounters: $float as f64);

        impl crate::counters::Codec for $name {
            fn layouts() -> &'static [Layout] {
                $layouts
            }

            fn decode(layout: &Layout, order: crate::ByteOrder, bytes: &[u8]) -> Self {
                let (words, _) = bytes.as_chunks::<8>();
                let mut record = Self::new(order.u64(words[0]), order.i64(words[1]));
                layout.decode(order, &words[2..], &mut record.counters, &mut record.fcounters);
                record
            }

            fn encode(&self, layout: &Layout, order: crate::ByteOrder, out: &mut Vec<u8>) {
                order.put_u64(out, self.id);
                order.put_i64(out, self.rank);
                layout.encode(order, &self.counters, &self.fcounters, out);
            }
        }

        impl FileRecord for $name {
            const MODULE: ModuleId = $module;
            const LAYER: Layer = $layer;

            fn id(&self) -> u64 {
                self.id
            }

            fn rank(&self) -> i64 {
                self.rank
            }

            fn value(&self, name: &str) -> Option<crate::Value> {
                use crate::Value;
                let int = $int::from_name(name).map(|c| Value::Int(self[c]));
                int.or_else(|| $float::from_name(name).map(|c| Value::Float(self[c])))
            }

            fn values(&self) -> impl Iterator<Item = (&'static str, crate::Value)> {
                use crate::Value;
                let ints = $int::ALL.iter().map(|c| (c.name(), Value::Int(self[*c])));
                ints.chain($float::ALL.iter().map(|c| (c.name(), Value::Float(self[*c]))))
            }

            fn activity(&self) -> crate::Activity {
                use crate::counters::{interval, known};
                use $float as T;
                crate::Activity {
                    id: self.id,
                    rank: self.rank,
                    opens: self.sum([$($int::$opens),*]),
                    reads: self.sum([$($int::$reads),*]),
                    writes: self.sum([$($int::$writes),*]),
                    seeks: self.sum([$($int::$seeks),*]),
                    stats: self.sum([$($int::$stats),*]),
                    bytes_read: self.sum([$int::BytesRead]),
                    bytes_written: self.sum([$int::BytesWritten]),
                    read: interval(self[T::ReadStartTimestamp], self[T::ReadEndTimestamp]),
                    write: interval(self[T::WriteStartTimestamp], self[T::WriteEndTimestamp]),
                    open: interval(self[T::OpenStartTimestamp], self[T::CloseEndTimestamp]),
                    opening: known(self[T::OpenStartTimestamp], self[T::OpenEndTimestamp]),
                    closing: known(self[T::CloseStartTimestamp], self[T::CloseEndTimestamp]),
                    read_time: self[T::ReadTime],
                    write_time: self[T::WriteTime],
                    meta_time: self[T::MetaTime],
                }
            }
        }
    };
}
pub(crate) use file_record;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MpiioRecord, PosixCounter, PosixRecord, PosixTime, StdioRecord};

    /// Every layout fits its record, uses every counter on disk once, and is read back as it was written.
    fn check<R: FileRecord + PartialEq + std::fmt::Debug>(lens: &[usize], ints: usize, floats: usize) {
        assert_eq!(R::layouts().iter().map(Layout::record_len).collect::<Vec<_>>(), lens);
        for layout in R::layouts() {
            for (runs, on_disk, in_record) in
                [(layout.int_runs, layout.ints, ints), (layout.float_runs, layout.floats, floats)]
            {
                let mut disk: Vec<_> = runs.iter().flat_map(|r| r.disk..r.disk + r.len).collect();
                disk.sort_unstable();
                assert_eq!(disk, (0..on_disk).collect::<Vec<_>>(), "version {}", layout.version);
                let mut record: Vec<_> = runs.iter().flat_map(|r| r.record..r.record + r.len).collect();
                record.sort_unstable();
                record.dedup();
                assert_eq!(record.len(), on_disk);
                assert!(record.iter().all(|at| *at < in_record));
            }
            for order in [ByteOrder::Little, ByteOrder::Big] {
                let bytes: Vec<u8> = (0..layout.record_len()).map(|i| (i * 7 % 120) as u8).collect();
                let record = R::decode(layout, order, &bytes);
                let mut again = Vec::new();
                record.encode(layout, order, &mut again);
                assert_eq!(again, bytes, "version {}", layout.version);
            }
        }
    }

    #[test]
    fn layouts_are_sound() {
        check::<PosixRecord>(&[680, 648, 664, 704], PosixCounter::COUNT, PosixTime::COUNT);
        check::<MpiioRecord>(&[544, 544, 560], 51, 17);
        check::<StdioRecord>(&[240, 248], 14, 15);
    }

    #[test]
    fn counters_have_the_indices_of_the_format() {
        use PosixCounter as C;
        assert_eq!(C::BytesRead as usize, 14);
        assert_eq!(C::SizeRead0100 as usize, 29);
        assert_eq!(C::SizeWrite1gPlus as usize, 48);
        assert_eq!(C::SlowestRankBytes as usize, 68);
        assert_eq!(PosixTime::MetaTime as usize, 10);
        assert_eq!(crate::MpiioCounter::BytesWritten as usize, 15);
        assert_eq!(crate::StdioTime::ReadEndTimestamp as usize, 10);
    }

    #[test]
    fn counters_are_found_by_name() {
        let mut record = PosixRecord::new(1, -1);
        record[PosixCounter::BytesRead] = 7;
        record[PosixTime::ReadTime] = 0.5;
        assert_eq!(record.value("POSIX_BYTES_READ"), Some(Value::Int(7)));
        assert_eq!(record.value("POSIX_F_READ_TIME"), Some(Value::Float(0.5)));
        assert_eq!(record.value("MPIIO_BYTES_READ"), None);
        assert_eq!(record.values().count(), PosixCounter::COUNT + PosixTime::COUNT);
        assert!(record.is_shared());
    }

    #[test]
    fn an_interval_needs_an_operation() {
        assert_eq!(interval(0.0, 0.0), None);
        assert_eq!(interval(-1.0, -1.0), None);
        assert_eq!(interval(f64::NAN, 1.0), None);
        assert_eq!(interval(1.0, 2.0), Some(Interval { start: 1.0, end: 2.0 }));
    }
}
