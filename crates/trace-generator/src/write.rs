//! Writing a trace to a file: ours, from which those of the C++ TMIO follow.

use crate::generated::{Generated, Write as Written};
use std::io::{self, Write};
use tmio_trace::block::BlockEncoder;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{ClockSample, Direction, FilePointer, Flags, Header, OpKind, Operation, RankInfo, TraceEnd};

/// Operations per block.
const BLOCK: usize = 6000;

/// Write a trace of the project's own format.
pub fn trace(generated: &Generated, out: &mut impl Write) -> io::Result<()> {
    let header = Header {
        version: tmio_trace::FORMAT_VERSION,
        job: "generated".into(),
        ranks: generated.ranks,
        executable: "trace-generator".into(),
        start: 0,
        mpi: "none".into(),
        tmio: env!("CARGO_PKG_VERSION").into(),
    };
    out.write_all(&frame::encode(FrameKind::Header, &header).map_err(io::Error::other)?)?;
    let mut by_rank: Vec<Vec<&Written>> = vec![Vec::new(); generated.ranks as usize];
    for write in &generated.writes {
        if let Some(list) = by_rank.get_mut(write.rank as usize) {
            list.push(write);
        }
    }
    let mut encoder = BlockEncoder::default();
    for (rank, list) in (0..generated.ranks).zip(&mut by_rank) {
        list.sort_by(|a, b| a.start.total_cmp(&b.start));
        let clock = vec![ClockSample { local: 0, job: 0, real: 0, error: 0 }];
        let info =
            RankInfo { rank, clock, finished: true, operations: list.len() as u64, ..RankInfo::default() };
        out.write_all(&frame::encode(FrameKind::Rank, &info).map_err(io::Error::other)?)?;
        for (sequence, block) in (0..).zip(list.chunks(BLOCK)) {
            if !encoder.restart(block.len()) {
                return Err(io::Error::other("no memory for a block"));
            }
            block.iter().for_each(|write| encoder.push(&operation(write)));
            let frame = encoder.finish(rank, sequence, 0, vec![(1, "/scratch/output")]);
            out.write_all(frame.map_err(io::Error::other)?)?;
        }
    }
    let operations = generated.writes.len() as u64;
    let end = TraceEnd { end: nanoseconds(generated.duration), ranks: generated.ranks, operations };
    out.write_all(&frame::encode(FrameKind::End, &end).map_err(io::Error::other)?)
}

/// Seconds as nanoseconds.
pub fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

fn operation(write: &Written) -> Operation {
    Operation {
        kind: OpKind::data(Direction::Write, FilePointer::Explicit, false, false, false),
        flags: Flags::default(),
        thread: 0,
        file: 1,
        offset: 0,
        bytes: write.bytes,
        start: nanoseconds(write.start),
        end: nanoseconds(write.end),
        nonblocking: None,
    }
}
