//! Requests out of rows.

use super::Rows;
use super::columns::{Columns, Quantity};
use super::plain::PlainRows;
use crate::bandwidth_piece::BandwidthPiece;
use crate::error::SourceError;
use crate::intake::{Feed, Intake};
use crate::job::Job;
use crate::request::Span;
use std::io::BufRead;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};

/// The requests of a table.
pub(super) struct Requests {
    pub rows: Rows,
    pub columns: Columns,
}

/// Rows that are read at a time, and how many batches may wait to be taken in.
const BATCH: usize = 4096;
const WAITING: usize = 4;

/// Rows with their lines: a request, or why there is none.
type Batch = Vec<(u64, Result<BandwidthPiece, String>)>;

impl Feed for Requests {
    /// A short table is read at once. Of a long one, one thread reads rows while this one takes them in.
    fn feed(mut self, _: Span, intake: &mut Intake<'_>) -> Result<Job, SourceError> {
        let mut plain = PlainRows::of(&self.columns);
        let mut batch = Batch::new();
        let mut more = self.read(&mut plain, &mut batch)?;
        take_in(&mut batch, intake);
        if more {
            more = self.read(&mut plain, &mut batch)?;
            take_in(&mut batch, intake);
        }
        if more {
            let (filled, batches) = sync_channel::<Batch>(WAITING);
            let (emptied, used) = channel();
            std::thread::scope(|scope| {
                let reading = scope.spawn(move || self.read_on(&mut plain, &filled, &used));
                for mut batch in batches {
                    take_in(&mut batch, intake);
                    // The reader may have ended.
                    let _ = emptied.send(batch);
                }
                reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })?;
        }
        Ok(Job { complete: true, ..Job::default() })
    }
}

fn take_in(batch: &mut Batch, intake: &mut Intake<'_>) {
    for (line, row) in batch.drain(..) {
        match row {
            Ok(piece) => intake.push(piece, || format!("line {line}")),
            Err(problem) => intake.leave_out(|| format!("line {line}: {problem}")),
        }
    }
}

impl Requests {
    /// All rows that are left, batch by batch; `used` ones come back.
    fn read_on(
        mut self,
        plain: &mut Option<PlainRows>,
        filled: &SyncSender<Batch>,
        used: &Receiver<Batch>,
    ) -> Result<(), SourceError> {
        let mut more = true;
        while more {
            let mut batch = used.try_recv().unwrap_or_else(|_| Batch::with_capacity(BATCH + 1));
            more = self.read(plain, &mut batch)?;
            if filled.send(batch).is_err() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The next rows; false if there are no more.
    fn read(&mut self, plain: &mut Option<PlainRows>, batch: &mut Batch) -> Result<bool, SourceError> {
        while batch.len() < BATCH {
            let Some((line, row)) = self.rows.next()? else { return Ok(false) };
            match request(&self.columns, row) {
                Ok(Some(piece)) => batch.push((line, Ok(piece))),
                Ok(None) => {}
                Err(problem) => batch.push((line, Err(problem))),
            }
            if let Some(plain) = plain {
                self.rows.read_plain(plain, batch);
            }
        }
        Ok(true)
    }
}

/// `None` if the row moves no data.
fn request(columns: &Columns, row: &str) -> Result<Option<BandwidthPiece>, String> {
    let fields = columns.fields(row)?;
    let Some(class) = columns.class(&fields)? else { return Ok(None) };
    let number = |quantity: Quantity| columns.value(&fields, quantity);
    let needed = |quantity: Quantity| number(quantity)?.ok_or_else(|| format!("expected {quantity:?}"));
    let start = needed(Quantity::Start)?;
    let end = match number(Quantity::End)? {
        Some(end) => end,
        None => start + needed(Quantity::Duration)?,
    };
    let bytes = match number(Quantity::Bytes)? {
        Some(bytes) if (0.0..9e18).contains(&bytes) => Some(bytes.round() as u64),
        Some(bytes) => return Err(format!("expected a number of bytes, found {bytes}")),
        None => None,
    };
    let bandwidth = match bytes {
        Some(bytes) => bytes as f64 / (end - start),
        None => needed(Quantity::Bandwidth)?,
    };
    let rank = match number(Quantity::Rank)? {
        Some(rank) if rank.fract() == 0.0 && (0.0..f64::from(u32::MAX)).contains(&rank) => Some(rank as u32),
        Some(rank) => return Err(format!("expected a rank, found {rank}")),
        None => None,
    };
    Ok(Some(BandwidthPiece { start, end, bandwidth, bytes, rank, class }))
}

impl Rows {
    /// Plain rows, as far as they are in the buffer, until the batch is full.
    fn read_plain(&mut self, plain: &mut PlainRows, batch: &mut Batch) {
        let buffer = self.input.buffer();
        let mut used = 0;
        while batch.len() < BATCH {
            let Some((piece, length)) = plain.next(&buffer[used..]) else { break };
            self.line += 1;
            used += length;
            batch.push((self.line, Ok(piece)));
        }
        self.input.consume(used);
    }
}
