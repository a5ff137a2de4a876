//! Writes a trace of any size for measurements: bursts of requests of every rank, the ranks' blocks in mixed
//! order.
//!
//! `generate OUT OPERATIONS [RANKS]`; the same arguments give the same bytes.

use std::fs::File;
use std::io::{BufWriter, Write};
use tmio_trace::block::BlockEncoder;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{ClockSample, Direction, FilePointer, Flags, Header, OpKind, Operation, RankInfo, TraceEnd};

/// Operations per block; tmio's blocks hold about as many.
const BLOCK: u64 = 6000;
/// Operations in each burst of a rank, and nanoseconds from one burst to the next.
const BURST: u64 = 1000;
const PERIOD: i64 = 10_000_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: generate OUT OPERATIONS [RANKS]";
    let path = args.next().ok_or(usage)?;
    let operations: u64 = args.next().ok_or(usage)?.parse()?;
    let ranks: u32 = args.next().map_or(Ok(64), |text| text.parse())?;
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let header = Header {
        version: 1,
        job: "generated".into(),
        ranks,
        executable: "generate".into(),
        start: 0,
        mpi: "none".into(),
        tmio: env!("CARGO_PKG_VERSION").into(),
        ..Header::default()
    };
    out.write_all(&frame::encode(FrameKind::Header, &header)?)?;
    let each = operations / u64::from(ranks.max(1));
    let mut random = Random(1);
    let mut blocks = Vec::new();
    for rank in 0..ranks {
        let count = if rank == 0 { operations - each * u64::from(ranks - 1) } else { each };
        let clock = vec![ClockSample { local: 0, job: 0, real: 0, error: 0 }];
        let info = RankInfo { rank, clock, finished: true, operations: count, ..RankInfo::default() };
        out.write_all(&frame::encode(FrameKind::Rank, &info)?)?;
        blocks
            .extend((0..count.div_ceil(BLOCK)).map(|block| (rank, block, BLOCK.min(count - block * BLOCK))));
    }
    // Fisher and Yates.
    for i in (1..blocks.len()).rev() {
        let j = (random.next() % (i as u64 + 1)) as usize;
        blocks.swap(i, j);
    }
    let mut encoder = BlockEncoder::default();
    let mut last = 0;
    for (rank, sequence, count) in blocks {
        if !encoder.restart(count as usize) {
            return Err("no memory for a block".into());
        }
        for number in sequence * BLOCK..sequence * BLOCK + count {
            let op = operation(number, &mut random);
            last = last.max(op.end);
            encoder.push(&op);
        }
        out.write_all(encoder.finish(rank, sequence, 0, vec![(1, "/scratch/checkpoint.dat")])?)?;
    }
    let end = TraceEnd { end: last, ranks, operations };
    out.write_all(&frame::encode(FrameKind::End, &end)?)?;
    out.flush()?;
    Ok(())
}

/// A megabyte every millisecond, with some jitter, for a second out of ten.
fn operation(number: u64, random: &mut Random) -> Operation {
    let start = (number / BURST) as i64 * PERIOD
        + (number % BURST) as i64 * 1_000_000
        + (random.next() % 100_000) as i64;
    Operation {
        kind: OpKind::data(Direction::Write, FilePointer::Explicit, false, false, false),
        flags: Flags::default(),
        thread: 0,
        file: 1,
        offset: (number << 20) as i64,
        bytes: 1 << 20,
        start,
        end: start + 400_000 + (random.next() % 300_000) as i64,
        nonblocking: None,
    }
}

/// xorshift64*: enough for jitter, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }
}
