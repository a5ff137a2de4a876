//! A trace written anew: all that can be read of one, as one ordinary file.

use anyhow::Context;
use std::collections::BTreeMap;
use std::io::Write;
use tmio_trace::block::BlockEncoder;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::reader::Operations;
use tmio_trace::{ClockSample, Event, Outcome, RankInfo, Trace, TraceEnd};

/// Write all that can be read. Times become job time, which the rank frames then say; whether a rank finished stays as it was, so
/// that the trace of a killed job is whole and yet not complete.
pub fn rewrite(trace: Trace, out: &mut impl Write) -> anyhow::Result<Outcome> {
    let mut writer = Writer::default();
    let mut problem = Ok(());
    let outcome = trace.read(|event| {
        if problem.is_ok() {
            problem = writer.event(&event, out);
        }
    })?;
    problem?;
    // A damaged trace whose ranks all finished must not look complete afterwards: it goes without its end.
    if !outcome.complete && !writer.unfinished {
        return Ok(outcome);
    }
    let end = TraceEnd {
        // Of a killed job nothing is known after its last operation.
        end: outcome.end.as_ref().map_or(writer.last, |end| end.end),
        ranks: writer.sequences.len() as u32,
        operations: outcome.operations,
    };
    out.write_all(&frame::encode(FrameKind::End, &end)?)?;
    Ok(outcome)
}

#[derive(Default)]
struct Writer {
    encoder: BlockEncoder,
    /// Blocks written of each rank.
    sequences: BTreeMap<u32, u64>,
    last: i64,
    /// Some rank did not reach its end.
    unfinished: bool,
}

impl Writer {
    fn event(&mut self, event: &Event<'_>, out: &mut impl Write) -> anyhow::Result<()> {
        match event {
            Event::Header(header) => out.write_all(&frame::encode(FrameKind::Header, header)?)?,
            Event::Rank(info) => {
                self.sequences.entry(info.rank).or_default();
                self.unfinished |= !info.finished;
                out.write_all(&frame::encode(FrameKind::Rank, &in_job_time(info))?)?;
            }
            Event::Block(block) => self.block(block, out)?,
        }
        Ok(())
    }

    fn block(&mut self, block: &Operations<'_>, out: &mut impl Write) -> anyhow::Result<()> {
        if !self.sequences.contains_key(&block.rank) {
            // Its own frame was lost.
            let unknown = RankInfo { rank: block.rank, ..RankInfo::default() };
            self.event(&Event::Rank(&unknown), out)?;
        }
        anyhow::ensure!(self.encoder.restart(block.operations.len().max(1)), "no memory for a block");
        for op in block.operations {
            self.encoder.push(op);
            self.last = self.last.max(op.end);
        }
        let name = |number: u32| block.files.iter().find(|(n, _)| *n == number).map_or("", |(_, name)| *name);
        let names = self.encoder.files().iter().map(|&number| (number, name(number))).collect();
        let sequence = self.sequences.get_mut(&block.rank).context("every rank was entered")?;
        out.write_all(self.encoder.finish(block.rank, *sequence, block.covered_until, names)?)?;
        *sequence += 1;
        Ok(())
    }
}

/// The rank frame for blocks whose times are job time already.
fn in_job_time(info: &RankInfo) -> RankInfo {
    let clock = info.clock.iter().map(|sample| ClockSample { local: sample.job, ..*sample }).collect();
    RankInfo { clock, spool: String::new(), ..info.clone() }
}
