//! Records as a process stores them: cells of memory, decoded one after the other.

use crate::format::operation::Mark;
use crate::{AsyncTimes, Metadata, OpKind, Operation};
use tmio_spool::cell::{self, CELL_WORDS, FIRST_TEXT, MORE_TEXT};

/// How ticks become nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TickScale {
    /// A reading of the clock …
    pub ticks: u64,
    /// … and the same moment in nanoseconds.
    pub ns: i64,
    /// Nanoseconds per tick.
    pub rate: f64,
}

impl TickScale {
    /// The scale of a clock that counts nanoseconds.
    pub const NANOSECONDS: TickScale = TickScale { ticks: 0, ns: 0, rate: 1.0 };

    /// Nanoseconds for a reading of the clock.
    #[inline]
    pub fn to_ns(&self, ticks: u64) -> i64 {
        Converter::new(*self).to_ns(ticks)
    }
}

/// A scale made ready for many readings: the rate is a fixed-point number, whose error over a day
/// is below a microsecond.
#[derive(Clone, Copy, Debug)]
struct Converter {
    ticks: u64,
    ns: i64,
    rate: i64,
}

impl Converter {
    const FRACTION: u32 = 40;

    fn new(scale: TickScale) -> Self {
        // Out of range only in a damaged spool; the conversion saturates then.
        let rate = (scale.rate * (1u64 << Self::FRACTION) as f64).round() as i64;
        Self { ticks: scale.ticks, ns: scale.ns, rate }
    }

    #[inline(always)]
    fn to_ns(self, ticks: u64) -> i64 {
        self.ns.wrapping_add(self.span(ticks.wrapping_sub(self.ticks) as i64))
    }

    #[inline(always)]
    fn span(self, ticks: i64) -> i64 {
        const HALF: i128 = 1 << (Converter::FRACTION - 1);
        ((i128::from(ticks) * i128::from(self.rate) + HALF) >> Self::FRACTION) as i64
    }
}

/// Cells of a ring, one after the other, and how their ticks become nanoseconds.
#[derive(Clone, Debug)]
pub struct RawRecords<'a> {
    words: &'a [u64],
    scale: Converter,
}

impl<'a> RawRecords<'a> {
    /// `words` are whole cells.
    pub fn new(words: &'a [u64], scale: TickScale) -> Self {
        Self { words, scale: Converter::new(scale) }
    }

    /// Start and end of the next record if it is a blocking operation and, but for its times, is what is
    /// expected.
    #[inline(always)]
    pub(crate) fn next_if(&mut self, identity: u64, bytes: u64, offset: i64) -> Option<(i64, i64)> {
        let (&[its_identity, start, end, its_offset, its_bytes], rest) =
            self.words.split_first_chunk::<CELL_WORDS>()?;
        if its_identity != identity || its_bytes != bytes || its_offset != offset as u64 {
            return None;
        }
        self.words = rest;
        Some((self.scale.to_ns(start), self.scale.to_ns(end)))
    }

    /// The largest number of records.
    pub fn most(&self) -> usize {
        self.words.len() / CELL_WORDS
    }

    /// The next record of any kind. Cells that were never stored, and those of a text that was not, are
    /// passed over.
    #[inline]
    pub fn next_record(&mut self) -> Option<RawRecord> {
        loop {
            let (&[identity, start, end, offset, bytes], rest) =
                self.words.split_first_chunk::<CELL_WORDS>()?;
            self.words = rest;
            let kind = cell::kind(identity);
            if identity == 0 || kind == cell::CONTINUED {
                continue;
            }
            if kind == cell::NAME {
                let text = self.text(identity, [start, end, offset, bytes]);
                return Some(RawRecord::Name { file: cell::file(identity), text });
            }
            let thread = cell::thread(identity);
            if kind == OpKind::metadata(Metadata::Mark) {
                let time = self.scale.to_ns(start);
                let text = self.text(identity, [start, end, offset, bytes]);
                return Some(RawRecord::Mark(Mark { time, thread, text }));
            }
            return Some(RawRecord::Operation(Operation {
                kind,
                flags: cell::flags(identity),
                thread,
                file: cell::file(identity),
                offset: offset as i64,
                bytes,
                start: self.scale.to_ns(start),
                end: self.scale.to_ns(end),
                nonblocking: if kind.is_nonblocking() { self.times(start, end) } else { None },
            }));
        }
    }

    /// The cell that goes on with the record before it.
    fn continued(&mut self) -> Option<[u64; 4]> {
        let (&[identity, a, b, c, d], rest) = self.words.split_first_chunk::<CELL_WORDS>()?;
        let goes_on = identity != 0 && cell::kind(identity) == cell::CONTINUED;
        goes_on.then(|| {
            self.words = rest;
            [a, b, c, d]
        })
    }

    fn times(&mut self, start: u64, end: u64) -> Option<AsyncTimes> {
        let [issued, deadline, pending_until, test_time] = self.continued().unwrap_or([start, end, start, 0]);
        Some(AsyncTimes {
            issued: self.scale.to_ns(issued),
            deadline: self.scale.to_ns(deadline),
            pending_until: self.scale.to_ns(pending_until),
            test_time: self.scale.span(test_time as i64),
        })
    }

    /// The text that a cell begins; bytes that are not UTF-8 are replaced.
    fn text(&mut self, _identity: u64, [_time, length, first, second]: [u64; 4]) -> String {
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(cell::LONGEST_TEXT);
        let mut bytes: Vec<u8> = [first, second].iter().flat_map(|word| word.to_ne_bytes()).collect();
        for _ in 0..length.saturating_sub(FIRST_TEXT).div_ceil(MORE_TEXT) {
            let Some(words) = self.continued() else { break };
            bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        }
        bytes.truncate(length);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// One record of a spool.
#[derive(Clone, Debug)]
pub enum RawRecord {
    /// An operation.
    Operation(Operation),
    /// A mark.
    Mark(Mark),
    /// The name of a file.
    Name {
        /// Its number.
        file: u32,
        /// Its path.
        text: String,
    },
}

/// The operations among the records.
impl Iterator for RawRecords<'_> {
    type Item = Operation;

    #[inline]
    fn next(&mut self) -> Option<Operation> {
        loop {
            if let RawRecord::Operation(operation) = self.next_record()? {
                return Some(operation);
            }
        }
    }
}
