//! A part that records are appended to, and the trace that it becomes.

use super::frames::header_in;
use super::member::Place;
use super::run;
use crate::place::parts::{Extent, Part};
use crate::process::launch;
use crate::process::surroundings::Surroundings;
use std::collections::HashSet;
use std::time::Instant;

/// A part that records are appended to.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) part: Part,
    /// The end of what was written last.
    pub(super) reached: u64,
    pub(super) not_before: Option<Instant>,
    /// It will never work.
    pub(super) failure: Option<String>,
    /// The last reason why it did not.
    pub(super) trouble: Option<String>,
    /// An earlier helper has written to it.
    existed: bool,
    pub(super) ends_alone: bool,
    /// The program whose run it is, if it ends alone. Nothing can be said of one in another namespace.
    pub(super) root: Option<String>,
    is_seen: bool,
    pub(super) header: Vec<u8>,
    pub(super) operations: u64,
    pub(super) ranks: u32,
    /// The trace that was there when the job began, and will be replaced.
    pub(super) previous: Option<crate::place::output::Identity>,
    pub(super) options: TraceOptions,
}

/// What the options of a job say about its trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct TraceOptions {
    pub(super) format: crate::options::Format,
    pub(super) mode: u32,
    pub(super) output_was_given: bool,
}

impl Target {
    pub(super) fn new(place: &Place, around: &Surroundings, is_seen: bool) -> Self {
        let destination = &place.destination;
        let options = crate::options::read(around).options;
        let options = TraceOptions {
            format: options.format,
            mode: options.mode,
            output_was_given: options.output.is_some(),
        };
        let trace = crate::place::output::Place {
            path: destination.trace(),
            stem: destination.stem.clone(),
            private: destination.private.clone(),
        };
        // Only a name that the user gave is looked at: others are made to be free.
        let looked = match options.output_was_given {
            true => crate::place::output::look(&trace, options.format),
            false => Ok(None),
        };
        // Of processes whose launcher MPI does not understand each is a job of its own: none replaces
        // another's.
        let is_of_others = matches!(looked, Ok(Some(_)))
            && launch::has_made(&trace.path, destination.launch, around.batch_job());
        // The helper may come late: what was made since the job began is another one's, too.
        let began = header_in(&place.greeting).map_or(i64::MAX, |header| header.start);
        let is_of_others =
            is_of_others || matches!(looked, Ok(Some(_))) && launch::is_later(&trace.path, began);
        Self {
            part: Part::new(&destination.part, &destination.stem, &destination.private),
            reached: 0,
            not_before: None,
            failure: looked.as_ref().err().cloned(),
            trouble: None,
            existed: false,
            ends_alone: place.ends_alone,
            is_seen,
            root: around.text("root"),
            header: place.greeting.clone(),
            operations: 0,
            ranks: 0,
            previous: looked.ok().flatten().filter(|_| !is_of_others),
            options,
        }
    }
    /// Whether the program of the run still runs, which may have more children. `told`: what it did itself is
    /// written, and it is about to end.
    pub(super) fn goes_on(&self, told: &HashSet<Option<String>>) -> bool {
        self.is_seen && !told.contains(&self.root) && run::goes_on(self.root.as_deref())
    }

    /// Appends whole frames.
    pub(super) fn append(&mut self, frames: &[u8]) -> std::io::Result<Extent> {
        let extent = self.part.append(frames)?;
        self.existed |= self.reached == 0 && extent.start > 0;
        self.reached = self.reached.max(extent.end);
        Ok(extent)
    }

    /// How many operations, of how many processes, are in it.
    pub(super) fn operations_and_ranks(&self) -> std::io::Result<(u64, u32)> {
        // What an earlier helper has written counts as well.
        if self.existed || self.reached == 0 {
            run::counted(self.part.path())
        } else {
            Ok((self.operations, self.ranks))
        }
    }
}
