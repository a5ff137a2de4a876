//! Writes what a running job appends to its part, flush by flush, for measurements.
//!
//! `flushes DIRECTORY FLUSHES OPERATIONS RANKS` makes DIRECTORY/begin, and DIRECTORY/1, 2, …: so many
//! operations each, of all ranks together, in bursts of a second every ten. The same arguments give the same
//! bytes.

use std::fs;
use std::path::Path;
use tmio_trace::block::BlockEncoder;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{ClockSample, Direction, FilePointer, Flags, Header, OpKind, Operation, RankInfo};

/// Operations per block; tmio's blocks hold about as many.
const BLOCK: u64 = 6000;
const SECOND: i64 = 1_000_000_000;
const PERIOD: i64 = 10 * SECOND;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [directory, flushes, operations, ranks] = &args[..] else {
        return Err("usage: flushes DIRECTORY FLUSHES OPERATIONS RANKS".into());
    };
    let (flushes, operations, ranks): (u64, u64, u32) =
        (flushes.parse()?, operations.parse()?, ranks.parse()?);
    let directory = Path::new(directory);
    fs::create_dir_all(directory)?;
    let header = Header {
        version: 1,
        job: "generated".into(),
        ranks,
        executable: "flushes".into(),
        start: 1,
        mpi: "none".into(),
        tmio: env!("CARGO_PKG_VERSION").into(),
        ..Header::default()
    };
    let mut begin = frame::encode(FrameKind::Header, &header)?;
    for rank in 0..ranks {
        let clock = vec![ClockSample { local: 0, job: 0, real: 0, error: 0 }];
        begin.extend(frame::encode(FrameKind::Rank, &RankInfo { rank, clock, ..RankInfo::default() })?);
    }
    fs::write(directory.join("begin"), begin)?;
    let each = operations / u64::from(ranks.max(1));
    let mut sequences = vec![0; ranks as usize];
    for flush in 0..flushes {
        let bytes = one_flush(flush as i64, each, &mut sequences)?;
        fs::write(directory.join((flush + 1).to_string()), bytes)?;
    }
    Ok(())
}

/// One period: every rank's operations within a second, a microsecond apart from rank to rank.
fn one_flush(flush: i64, each: u64, sequences: &mut [u64]) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut out = Vec::new();
    let mut encoder = BlockEncoder::default();
    let step = SECOND / each.max(1) as i64;
    for (rank, sequence) in sequences.iter_mut().enumerate() {
        for first in (0..each).step_by(BLOCK as usize) {
            let count = BLOCK.min(each - first);
            if !encoder.restart(count as usize) {
                return Err("no memory for a block".into());
            }
            for number in first..first + count {
                // Jitter by a multiplication: as good as random for how well times compress.
                let jitter = (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as i64 % (step / 4).max(1);
                let start = flush * PERIOD + 8 * SECOND + number as i64 * step + rank as i64 * 1000 + jitter;
                encoder.push(&Operation {
                    kind: OpKind::data(Direction::Write, FilePointer::Explicit, false, false, false),
                    flags: Flags::default(),
                    thread: 0,
                    file: 1,
                    offset: (number << 20) as i64,
                    bytes: 1 << 20,
                    start,
                    end: start + step / 2,
                    nonblocking: None,
                });
            }
            let until = flush * PERIOD + 9 * SECOND + SECOND / 10;
            out.extend_from_slice(encoder.finish(
                rank as u32,
                *sequence,
                until,
                vec![(1, "/scratch/a.dat")],
            )?);
            *sequence += 1;
        }
    }
    Ok(out)
}
