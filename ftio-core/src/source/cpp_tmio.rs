//! JSON, JSONL and MessagePack of the C++ TMIO, and FTIO's custom JSON.
//!
//! They hold phases: a bandwidth from one moment to another; bytes are their product. Sections of required bandwidth are
//! read instead of those of actual bandwidth if that is asked for.

use super::intake::{Fed, Feed, Intake};
use super::{BandwidthPiece, Job, Source, SourceError, Span};
use crate::request::Class;
use std::io::Read;
use std::path::Path;
use tmio_trace::tmio::{self, Digest, Mode, ReadOptions};

/// The source of such a file.
pub(super) fn source(name: &str, input: Box<dyn Read + Send>) -> Result<Box<dyn Source>, SourceError> {
    Ok(Box::new(Fed(name.to_owned(), Phases { name: name.to_owned(), input })))
}

struct Phases {
    name: String,
    input: Box<dyn Read + Send>,
}

impl Feed for Phases {
    fn feed(self, span: Span, intake: &mut Intake<'_>) -> Result<Job, SourceError> {
        let digest = tmio::read(Path::new(&self.name), self.input, ReadOptions::default())?;
        let mut job = Job {
            ranks: Mode::ALL.map(|mode| ranks(&digest, mode)).into_iter().max().unwrap_or(0),
            complete: digest.complete,
            warnings: digest.warnings.clone(),
            ..Job::default()
        };
        if digest.anonymous {
            job.notes.push("the input does not say whether it was read or written; taken as read".into());
        }
        for mode in Class::ALL.into_iter().map(|class| section(class, span)) {
            push(&digest, mode, intake);
        }
        Ok(job)
    }
}

fn section(class: Class, span: Span) -> Mode {
    let required = Mode::required(class).filter(|_| span == Span::Required);
    required.unwrap_or(Mode::actual(class))
}

/// Ranks of the job where the file says so, else those that did I/O in this section.
fn ranks(digest: &Digest, mode: Mode) -> u32 {
    let scalars = &digest.series(mode).scalars;
    // A float to an integer saturates, and NaN is 0.
    (scalars.processes as u32).max(scalars.number_of_ranks as u32)
}

fn push(digest: &Digest, mode: Mode, intake: &mut Intake<'_>) {
    let series = digest.series(mode);
    let class = mode.class();
    let phase =
        |start, end, bandwidth| BandwidthPiece { start, end, bandwidth, bytes: None, rank: None, class };
    let phases = series.t_rank_s.iter().zip(&series.t_rank_e).zip(&series.b_rank_avr);
    for (index, ((&start, &end), &bandwidth)) in phases.enumerate() {
        intake.push(phase(start, end, bandwidth), || format!("phase {} of {}", index + 1, mode.name()));
    }
    if series.t_rank_s.is_empty() {
        // The bandwidth of the application from each moment to the next.
        let moments = series.t_overlap.windows(2).zip(&series.b_overlap_avr);
        for (index, (times, &bandwidth)) in moments.enumerate() {
            let [start, end] = [times[0], times[1]];
            intake.push(phase(start, end, bandwidth), || format!("moment {} of {}", index + 1, mode.name()));
        }
    }
}
