//! Rewriting a trace: all that can be read of one, as one ordinary file.

use crate::format::block::BlockEncoder;
use crate::format::frame::{self, EncodeError, FrameKind};
use crate::read::told::{Operations, ReadError};
use crate::{ClockSample, Event, Outcome, RankInfo, Trace, TraceEnd, liveness};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Why a trace could not be rewritten.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages say it
pub enum RewriteError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Write(#[from] io::Error),
    #[error(transparent)]
    Encode(#[from] EncodeError),
    #[error("no memory for a block")]
    Memory,
}

/// Writes all that can be read.
///
/// Times become job time, which the rank frames then say. Whether a rank finished stays as it was,
/// so that the trace of a killed job is whole and yet not complete.
pub fn rewrite(trace: Trace, out: &mut impl Write) -> Result<Outcome, RewriteError> {
    let mut writer = Writer::default();
    let mut problem = Ok(());
    let outcome = trace.read(|event| {
        if problem.is_ok() {
            problem = writer.event(&event, out);
        }
    })?;
    problem?;
    // A damaged trace whose ranks all finished must not look complete afterwards: it goes without its end.
    if !outcome.complete && writer.unfinished.is_empty() && outcome.missing_ranks.is_empty() {
        return Ok(outcome);
    }
    let end = TraceEnd {
        end: outcome.known_until.unwrap_or(0),
        ranks: writer.ranks.len() as u32,
        operations: outcome.operations,
    };
    out.write_all(&frame::encode(FrameKind::End, &end)?)?;
    Ok(outcome)
}

#[derive(Debug, Default)]
struct Writer {
    encoder: BlockEncoder,
    ranks: BTreeSet<u32>,
    /// Ranks that did not reach their end.
    unfinished: BTreeSet<u32>,
}

impl Writer {
    fn event(&mut self, event: &Event<'_>, out: &mut impl Write) -> Result<(), RewriteError> {
        match event {
            Event::Header(header) => out.write_all(&frame::encode(FrameKind::Header, header)?)?,
            Event::Rank(info) => {
                self.ranks.insert(info.rank);
                // Of several frames of a rank, the last one counts.
                match info.finished {
                    true => self.unfinished.remove(&info.rank),
                    false => self.unfinished.insert(info.rank),
                };
                out.write_all(&frame::encode(FrameKind::Rank, &in_job_time(info))?)?;
            }
            Event::Block(block) => self.block(block, out)?,
        }
        Ok(())
    }

    fn block(&mut self, block: &Operations<'_>, out: &mut impl Write) -> Result<(), RewriteError> {
        if !self.ranks.contains(&block.rank) {
            // Its own frame was lost.
            let unknown = RankInfo { rank: block.rank, ..RankInfo::default() };
            self.event(&Event::Rank(&unknown), out)?;
        }
        if !self.encoder.restart(block.operations.len().max(1)) {
            return Err(RewriteError::Memory);
        }
        for (index, op) in block.operations.iter().enumerate() {
            match block.merged.get(index) {
                Some(&merged) => self.encoder.push_merged(op, merged),
                None => self.encoder.push(op),
            }
        }
        block.marks.iter().for_each(|mark| self.encoder.push_mark(mark.clone()));
        let name = |number: u32| block.files.iter().find(|(n, _)| *n == number).map_or("", |(_, name)| *name);
        let names = self.encoder.files().iter().map(|&number| (number, name(number))).collect();
        // Blocks keep their numbers, so that who has followed the job knows them again.
        let frame = self.encoder.finish(block.rank, block.sequence, block.covered_until, names)?;
        Ok(out.write_all(frame)?)
    }
}

/// The rank frame for blocks whose times are job time already.
fn in_job_time(info: &RankInfo) -> RankInfo {
    let clock = info.clock.iter().map(|sample| ClockSample { local: sample.job, ..*sample }).collect();
    // What could not be read from here is still to be had elsewhere, and the trace goes on saying so.
    let read = info.finished || info.salvaged || liveness::is_here(info);
    let spool = if read { String::new() } else { info.spool.clone() };
    RankInfo { clock, spool, ..info.clone() }
}
