//! The envelope of everything in a trace: tag, kind, checksum, length, body.
//!
//! A frame is a MessagePack array of four elements, always laid out in the same 18 bytes and then
//! the body, so that a reader can find the next whole frame after damage by looking for the tag:
//!
//! | bytes | MessagePack | meaning |
//! |---|---|---|
//! | `94` | array of 4 | |
//! | `a5 "tmio2"` | str | tag; the digit is the format version: 1 or 2 |
//! | `00`–`7f` | positive fixint | [`FrameKind`] |
//! | `ce` + 4 | uint 32 | CRC-32 of the body |
//! | `c6` + 4 + body | bin 32 | the body, itself one MessagePack map |

use crate::format::checksum::crc32;
use serde::Serialize;
use std::io::{self, Read};

/// First bytes of every frame; the last one is the version of the format.
pub const TAG: [u8; 7] = [0x94, 0xa5, b't', b'm', b'i', b'o', b'2'];
/// The first version of the format. Frames of all versions since then are read.
const OLDEST: u8 = b'1';
/// Bytes before the body.
pub const HEAD: usize = 18;
/// Longest body that a reader accepts. Writers stay far below.
pub const MAX_BODY: usize = 64 << 20;

/// What the body of a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameKind {
    /// [`Header`](crate::Header)
    Header = 0,
    /// [`RankInfo`](crate::RankInfo)
    Rank = 1,
    /// [`block`](crate::format::block)
    Block = 2,
    /// [`TraceEnd`](crate::TraceEnd)
    End = 3,
    /// Nothing: it fills up to the next page of the file, where the next node's frames begin.
    Padding = 4,
    /// A block with operations of other layers than MPI-IO. It is like any other, and has a number of its
    /// own so that readers who know no layers do not add them to those of MPI-IO.
    Layers = 5,
}

impl FrameKind {
    /// Whether the body is a [`block`](crate::format::block).
    pub fn is_block(self) -> bool {
        matches!(self, Self::Block | Self::Layers)
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
        [Self::Header, Self::Rank, Self::Block, Self::End, Self::Padding, Self::Layers]
            .into_iter()
            .find(|&kind| kind as u8 == code)
    }
}

/// The 18 bytes before `body`.
pub fn head(kind: FrameKind, body: &[u8]) -> Option<[u8; HEAD]> {
    let length = u32::try_from(body.len()).ok().filter(|_| body.len() <= MAX_BODY)?;
    let [t0, t1, t2, t3, t4, t5, t6] = TAG;
    let [c0, c1, c2, c3] = crc32(body).to_be_bytes();
    let [l0, l1, l2, l3] = length.to_be_bytes();
    Some([t0, t1, t2, t3, t4, t5, t6, kind as u8, 0xce, c0, c1, c2, c3, 0xc6, l0, l1, l2, l3])
}

/// A whole frame around one of the small records.
pub fn encode<T: Serialize>(kind: FrameKind, record: &T) -> Result<Vec<u8>, EncodeError> {
    let body = rmp_serde::to_vec_named(record).map_err(|e| EncodeError(e.to_string()))?;
    let head = head(kind, &body).ok_or_else(|| EncodeError(format!("a body of {} bytes", body.len())))?;
    Ok([head.as_slice(), &body].concat())
}

/// A frame of exactly `length` bytes that says nothing. `None`: no frame is as short or as long.
pub fn padding(length: usize) -> Option<Vec<u8>> {
    let body = vec![0; length.checked_sub(HEAD)?];
    Some([head(FrameKind::Padding, &body)?.as_slice(), &body].concat())
}

/// A record could not be written as MessagePack.
#[derive(Debug, thiserror::Error)]
#[error("cannot encode a trace record: {0}")]
pub struct EncodeError(pub String);

/// A frame whose checksum is right.
#[derive(Debug)]
pub struct Frame<'a> {
    /// `None`: a kind that a later minor version added.
    pub kind: Option<FrameKind>,
    /// Where the frame begins in its file.
    pub offset: u64,
    /// The MessagePack map.
    pub body: &'a [u8],
}

/// A stretch of a file that held no whole frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where it begins.
    pub offset: u64,
    /// How long it is.
    pub length: u64,
    /// What was expected there.
    pub what: &'static str,
}

/// Finds the whole frames of a stream, one after the other, and notes what lay between them.
#[derive(Debug)]
pub struct FrameReader<R> {
    input: R,
    window: Vec<u8>,
    /// Bytes of the window that were handed out already.
    used: usize,
    /// Offset in the stream of the first byte of the window.
    base: u64,
    at_end: bool,
    damage: Vec<Damage>,
}

impl<R: Read> FrameReader<R> {
    /// Starts at the current position of `input`.
    pub fn new(input: R) -> Self {
        Self { input, window: Vec::new(), used: 0, base: 0, at_end: false, damage: Vec::new() }
    }

    /// What was skipped so far.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// How far the stream was consumed.
    pub fn position(&self) -> u64 {
        self.base + self.used as u64
    }

    /// The next whole frame, or `None` at the end of the stream.
    pub fn next_frame(&mut self) -> io::Result<Option<Frame<'_>>> {
        loop {
            self.fill(HEAD)?;
            let pending = self.window.get(self.used..).unwrap_or_default();
            if pending.is_empty() {
                return Ok(None);
            }
            match parse_head(pending) {
                Head::Frame { kind, checksum, length } => {
                    self.fill(HEAD + length)?;
                    let end = self.used + HEAD + length;
                    match self.window.get(self.used + HEAD..end) {
                        None => self.skip(TAG.len(), "the rest of a frame")?,
                        Some(body) if crc32(body) != checksum => {
                            self.skip(TAG.len(), "a frame with a correct checksum")?;
                        }
                        Some(_) => {
                            let offset = self.position();
                            let body_start = self.used + HEAD;
                            self.used = end;
                            let body = self.window.get(body_start..end).unwrap_or_default();
                            return Ok(Some(Frame { kind: FrameKind::from_code(kind), offset, body }));
                        }
                    }
                }
                Head::Cut => self.skip(pending.len(), "the rest of a frame")?,
                Head::Foreign => self.skip(1, "the start of a frame")?,
            }
        }
    }

    /// Tries to have `wanted` unused bytes in the window; there are fewer only at the end.
    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        const STEP: usize = 256 << 10;
        if self.window.len() - self.used >= wanted || self.at_end {
            return Ok(());
        }
        self.window.drain(..self.used);
        self.base += self.used as u64;
        self.used = 0;
        while self.window.len() < wanted && !self.at_end {
            let before = self.window.len();
            // Grows with what is really there, never with what a damaged length claims.
            let read = (&mut self.input).take(STEP as u64).read_to_end(&mut self.window)?;
            self.at_end = read < STEP;
            debug_assert_eq!(before + read, self.window.len());
        }
        Ok(())
    }

    /// Leaves out at least `least` bytes and goes to the next tag.
    fn skip(&mut self, least: usize, what: &'static str) -> io::Result<()> {
        let offset = self.position();
        let mut length = 0u64;
        let mut step = least;
        loop {
            let pending = self.window.get(self.used..).unwrap_or_default();
            let rest = pending.get(step..).unwrap_or_default();
            if let Some(found) = find_tag(rest) {
                length += (step + found) as u64;
                self.used += step + found;
                break;
            }
            // Keep what may be the beginning of a tag.
            let gone = pending.len().saturating_sub(if self.at_end { 0 } else { TAG.len() - 1 }).max(step);
            length += gone.min(pending.len()) as u64;
            self.used += gone.min(pending.len());
            if self.at_end {
                break;
            }
            self.fill(TAG.len())?;
            step = 0;
        }
        // Adjacent stretches are one.
        let known = self.damage.len();
        match self.damage.last_mut() {
            Some(last) if last.offset + last.length == offset => last.length += length,
            _ if known < 1000 => self.damage.push(Damage { offset, length, what }),
            _ => {}
        }
        Ok(())
    }
}

/// What some bytes begin with.
pub(crate) enum Head {
    Frame {
        kind: u8,
        checksum: u32,
        length: usize,
    },
    /// Perhaps a frame: there are too few bytes to say.
    Cut,
    Foreign,
}

pub(crate) fn parse_head(bytes: &[u8]) -> Head {
    let Some(head) = bytes.first_chunk::<HEAD>() else {
        let family = TAG.len() - 1;
        let is_beginning = match bytes.len() {
            length if length <= family => TAG.starts_with(bytes),
            _ => has_tag(bytes),
        };
        return if is_beginning { Head::Cut } else { Head::Foreign };
    };
    let [_, _, _, _, _, _, _, kind, crc_code, c0, c1, c2, c3, bin_code, l0, l1, l2, l3] = *head;
    let length = u32::from_be_bytes([l0, l1, l2, l3]) as usize;
    if !has_tag(head) || crc_code != 0xce || bin_code != 0xc6 || length > MAX_BODY {
        return Head::Foreign;
    }
    Head::Frame { kind, checksum: u32::from_be_bytes([c0, c1, c2, c3]), length }
}

/// Whether bytes begin with the tag of a version that is read.
pub(crate) fn has_tag(bytes: &[u8]) -> bool {
    let [family @ .., newest] = TAG;
    bytes.strip_prefix(&family).and_then(<[u8]>::first).is_some_and(|digit| (OLDEST..=newest).contains(digit))
}

/// Where the next tag is.
pub(crate) fn find_tag(bytes: &[u8]) -> Option<usize> {
    bytes.windows(TAG.len()).position(has_tag)
}

/// Whether bytes begin like a trace (of any version).
pub fn is_trace_start(bytes: &[u8]) -> bool {
    bytes.len() >= 6 && TAG.starts_with(bytes.get(..6).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame(n: u32) -> Vec<u8> {
        encode(FrameKind::Rank, &("body", n)).unwrap()
    }

    fn read_all(bytes: &[u8]) -> (Vec<u64>, Vec<Damage>) {
        let mut reader = FrameReader::new(bytes);
        let mut offsets = Vec::new();
        while let Some(frame) = reader.next_frame().unwrap() {
            offsets.push(frame.offset);
        }
        assert_eq!(reader.position(), bytes.len() as u64);
        (offsets, reader.damage().to_vec())
    }

    #[test]
    fn a_frame_is_one_message_pack_array() {
        let bytes = frame(7);
        let (tag, kind, checksum, body): (String, u8, u32, Vec<u8>) =
            rmp_serde::from_slice::<(String, u8, u32, crate::format::block::Bytes<'_>)>(&bytes)
                .map(|(t, k, c, b)| (t, k, c, b.0.to_vec()))
                .unwrap();
        assert_eq!((tag.as_str(), kind), ("tmio2", 1));
        assert_eq!(checksum, crc32(&body));
    }

    #[test]
    fn damage_between_frames_is_skipped_and_located() {
        let (a, b) = (frame(1), frame(2));
        let bytes = [a.as_slice(), b"some junk", &b].concat();
        let (offsets, damage) = read_all(&bytes);
        assert_eq!(offsets, [0, a.len() as u64 + 9]);
        assert_eq!(damage.len(), 1);
        assert_eq!((damage[0].offset, damage[0].length), (a.len() as u64, 9));
    }

    #[test]
    fn a_cut_frame_does_not_hide_the_next_one() {
        let (a, b) = (frame(1), frame(2));
        for cut in 1..a.len() {
            let bytes = [&a[..cut], &b].concat();
            let (offsets, damage) = read_all(&bytes);
            assert_eq!(offsets, [cut as u64], "cut after {cut} bytes");
            assert_eq!(damage.iter().map(|d| d.length).sum::<u64>(), cut as u64);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let (offsets, damage) = read_all(&bytes);
            prop_assert!(offsets.is_empty());
            prop_assert_eq!(damage.iter().map(|d| d.length).sum::<u64>(), bytes.len() as u64);
        }

        #[test]
        fn one_flipped_bit_costs_one_frame(n in 1usize..6, at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let mut bytes: Vec<u8> = (0..n as u32).flat_map(frame).collect();
            let index = at.index(bytes.len());
            bytes[index] ^= 1 << bit;
            let (offsets, _) = read_all(&bytes);
            prop_assert!(offsets.len() >= n - 1);
        }
    }
}
