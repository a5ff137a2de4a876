//! Writing a trace to a file: ours, from which those of the C++ TMIO follow.

use crate::generated::{Generated, Write as Written};
use crate::kinds::Recording;
use std::io::{self, Write};
use tmio_trace::block::BlockEncoder;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{ClockSample, Direction, FilePointer, Flags, Header, OpKind, Operation, RankInfo, TraceEnd};

/// Operations per block.
const BLOCK: usize = 6000;

/// Write a trace of the project's own format.
pub fn trace(generated: &Generated, out: &mut impl Write) -> io::Result<()> {
    requests(generated.ranks, generated.duration, &generated.writes, &[], out)
}

/// Write a recording: requests as a trace of the project's own format, samples as a table.
pub fn recording(recording: &Recording, out: &mut impl Write) -> io::Result<()> {
    match recording {
        Recording::Requests { ranks, duration, writes, reads } => {
            requests(*ranks, *duration, writes, reads, out)
        }
        Recording::Samples { step, values, counter } => {
            table((0..values.len()).map(|i| i as f64 * step), values, *counter, out)
        }
        Recording::Readings { times, values, counter } => table(times.iter().copied(), values, *counter, out),
    }
}

fn table(
    times: impl Iterator<Item = f64>,
    values: &[f64],
    counter: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "time,value")?;
    for (time, value) in times.zip(values) {
        if counter { writeln!(out, "{time:.6},{value:.0}")? } else { writeln!(out, "{time:.6},{value:.6e}")? }
    }
    Ok(())
}

/// Write a recording as the Python FTIO reads it: JSON with the bandwidth, start and end of every request, or
/// of every sample. Reads stand in for writes where they are more.
pub fn ftio_json(recording: &Recording, out: &mut impl Write) -> io::Result<()> {
    let (ranks, pieces): (u32, Vec<[f64; 3]>) = match recording {
        Recording::Requests { ranks, writes, reads, .. } => {
            let bytes = |list: &[Written]| list.iter().map(|one| one.bytes).sum::<u64>();
            let larger = if bytes(reads) > bytes(writes) { reads } else { writes };
            let piece = |one: &Written| [one.bytes as f64 / (one.end - one.start), one.start, one.end];
            (*ranks, larger.iter().map(piece).collect())
        }
        Recording::Samples { step, values, .. } => {
            let time = |i: usize| i as f64 * step;
            (1, values.iter().enumerate().map(|(i, value)| [*value, time(i), time(i + 1)]).collect())
        }
        Recording::Readings { times, values, .. } => {
            (1, times.windows(2).zip(values).map(|(pair, value)| [*value, pair[0], pair[1]]).collect())
        }
    };
    let column = |i: usize| pieces.iter().map(|piece| piece[i]).collect::<Vec<f64>>();
    let bytes: f64 = pieces.iter().map(|piece| piece[0] * (piece[2] - piece[1])).sum();
    let bandwidth =
        serde_json::json!({"b_rank_avr": column(0), "t_rank_s": column(1), "t_rank_e": column(2)});
    let mode = serde_json::json!({"total_bytes": bytes, "number_of_ranks": ranks, "bandwidth": bandwidth});
    serde_json::to_writer(out, &serde_json::json!({ "write_sync": mode }))?;
    Ok(())
}

fn requests(
    ranks: u32,
    duration: f64,
    writes: &[Written],
    reads: &[Written],
    out: &mut impl Write,
) -> io::Result<()> {
    let header = Header {
        version: tmio_trace::FORMAT_VERSION,
        job: "generated".into(),
        ranks,
        executable: "trace-generator".into(),
        start: 0,
        mpi: "none".into(),
        tmio: env!("CARGO_PKG_VERSION").into(),
        ..Header::default()
    };
    out.write_all(&frame::encode(FrameKind::Header, &header).map_err(io::Error::other)?)?;
    let mut by_rank: Vec<Vec<(&Written, Direction)>> = vec![Vec::new(); ranks as usize];
    for (list, direction) in [(writes, Direction::Write), (reads, Direction::Read)] {
        for one in list {
            if let Some(of_rank) = by_rank.get_mut(one.rank as usize) {
                of_rank.push((one, direction));
            }
        }
    }
    let mut encoder = BlockEncoder::default();
    for (rank, list) in (0..ranks).zip(&mut by_rank) {
        list.sort_by(|(a, _), (b, _)| a.start.total_cmp(&b.start));
        let clock = vec![ClockSample { local: 0, job: 0, real: 0, error: 0 }];
        let info =
            RankInfo { rank, clock, finished: true, operations: list.len() as u64, ..RankInfo::default() };
        out.write_all(&frame::encode(FrameKind::Rank, &info).map_err(io::Error::other)?)?;
        for (sequence, block) in (0..).zip(list.chunks(BLOCK)) {
            if !encoder.restart(block.len()) {
                return Err(io::Error::other("no memory for a block"));
            }
            block.iter().for_each(|(write, direction)| encoder.push(&operation(write, *direction)));
            let frame = encoder.finish(rank, sequence, 0, vec![(1, "/scratch/output")]);
            out.write_all(frame.map_err(io::Error::other)?)?;
        }
    }
    let operations = (writes.len() + reads.len()) as u64;
    let end = TraceEnd { end: nanoseconds(duration), ranks, operations };
    out.write_all(&frame::encode(FrameKind::End, &end).map_err(io::Error::other)?)
}

/// Seconds as nanoseconds.
pub fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

fn operation(write: &Written, direction: Direction) -> Operation {
    Operation {
        kind: OpKind::data(direction, FilePointer::Explicit, false, false, false),
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
