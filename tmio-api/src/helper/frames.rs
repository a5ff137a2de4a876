//! What the helper writes: blocks, and frames that tell about ranks.

use std::io;
use tmio_trace::block::BlockEncoder;
use tmio_trace::frame::{self, FrameKind, FrameReader};
use tmio_trace::raw::RawRecords;
use tmio_trace::{Header, RankInfo, TraceEnd};

/// What becomes of operations in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// Each one has its record.
    Operations,
    /// Those of one kind, file and thread become one record for as many nanoseconds.
    Stretches(i64),
}

/// Encodes cells as a block; returns the number of operations.
pub(super) fn encode(
    encoder: &mut BlockEncoder,
    words: &[u64],
    scale: tmio_trace::raw::TickScale,
    detail: Detail,
) -> io::Result<u64> {
    let records = RawRecords::new(words, scale);
    let most = records.most();
    let no_memory = || io::Error::from(io::ErrorKind::OutOfMemory);
    if !encoder.restart(most) {
        return Err(no_memory());
    }
    match detail {
        Detail::Operations => encoder.extend(records),
        Detail::Stretches(width) => {
            if !encoder.extend_merged(std::iter::once(records), most, width) {
                return Err(no_memory());
            }
        }
    }
    Ok(encoder.operations())
}

/// What a greeting says about its rank.
pub(super) fn rank_in(greeting: &[u8]) -> Option<RankInfo> {
    let mut frames = FrameReader::new(greeting);
    while let Ok(Some(frame)) = frames.next_frame() {
        if frame.kind == Some(FrameKind::Rank) {
            return RankInfo::parse(frame.body);
        }
    }
    None
}

/// A greeting that says this about its rank.
pub(super) fn with_rank(greeting: &[u8], info: &RankInfo) -> io::Result<Vec<u8>> {
    let mut frames = FrameReader::new(greeting);
    let mut all = Vec::new();
    while let Ok(Some(found)) = frames.next_frame() {
        if let Some(kind) = found.kind.filter(|kind| *kind != FrameKind::Rank)
            && let Some(head) = frame::head(kind, found.body)
        {
            all.extend_from_slice(&head);
            all.extend_from_slice(found.body);
        }
    }
    all.extend(frame::encode(FrameKind::Rank, info).map_err(io::Error::other)?);
    Ok(all)
}

/// The header of a greeting.
pub(super) fn header_in(greeting: &[u8]) -> Option<Header> {
    tmio_trace::parts::header_in(greeting)
}

/// For the end of a run.
pub(super) fn end_frame(end: &TraceEnd) -> io::Result<Vec<u8>> {
    frame::encode(FrameKind::End, end).map_err(io::Error::other)
}
