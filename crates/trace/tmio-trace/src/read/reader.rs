//! Reads a trace, finished or not, and hands out its operations in job time.
//!
//! A finished trace is one file. Of an unfinished one (the job runs still, or was killed) there are
//! `OUT.parts/HOST`, one file of frames per host, and on the host where it ran the spools that the
//! rank frames name, with what had not left memory. [`Trace`] makes one stream of either.

use crate::Header;
use crate::parts;
use crate::read::reading::Reading;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub use crate::format::frame::is_trace_start;
pub use crate::format::operation::ReadAs;
pub use crate::parts::directory as parts_path;
pub use crate::read::told::{Event, Operations, Outcome, ReadError};

/// A trace that can be read once.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    sources: Vec<Source>,
    /// Parts of an unfinished trace: look for spools, too.
    unfinished: bool,
    /// Of parts: when the first of the job's hosts began.
    start: Option<i64>,
    /// Other jobs that have parts in the same place.
    other_jobs: usize,
}

enum Source {
    File(PathBuf),
    Stream(Box<dyn Read + Send>),
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::File(path) => path.fmt(f),
            Source::Stream(_) => f.write_str("stream"),
        }
    }
}

impl Trace {
    /// Finds the trace `path`, or else its parts. A directory is one only if it is named `….parts`. Of a
    /// trace that was recovered, the parts are read if they are still there: another host may have added to
    /// them since.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let io_error = |source| ReadError::Io { path: path.to_owned(), source };
        match fs::metadata(path) {
            // Of any other directory, the traces in it would be taken for the parts of one job.
            Ok(meta) if meta.is_dir() => match path.extension() {
                Some(extension) if extension == "parts" => Self::of_parts(path),
                _ => Err(ReadError::Directory { path: path.to_owned() }),
            },
            Ok(_) => {
                if let Some(job) = parts::of_recovered(path) {
                    return Ok(Self::from_job(path, job));
                }
                let sources = vec![Source::File(path.to_owned())];
                Ok(Self { path: path.to_owned(), sources, unfinished: false, start: None, other_jobs: 0 })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let parts = parts_path(path);
                Self::from_parts(path, &parts).ok().flatten().ok_or_else(|| io_error(error))
            }
            Err(error) => Err(io_error(error)),
        }
    }

    /// Reads a finished trace from any stream; `name` is used in messages.
    pub fn from_reader(name: &Path, input: Box<dyn Read + Send>) -> Self {
        let sources = vec![Source::Stream(input)];
        Self { path: name.to_owned(), sources, unfinished: false, start: None, other_jobs: 0 }
    }

    /// The trace whose parts are in this directory, whatever its name.
    pub fn of_parts(directory: &Path) -> Result<Self, ReadError> {
        let found = Self::from_parts(directory, directory);
        let found = found.map_err(|source| ReadError::Io { path: directory.to_owned(), source })?;
        found.ok_or_else(|| ReadError::Directory { path: directory.to_owned() })
    }

    /// `None`: there is no part in that directory. Of several jobs, the one that began last is read.
    fn from_parts(path: &Path, directory: &Path) -> io::Result<Option<Self>> {
        let mut jobs = parts::jobs(directory)?.into_iter();
        let Some(job) = jobs.next() else { return Ok(None) };
        Ok(Some(Self { other_jobs: jobs.count(), ..Self::from_job(path, job) }))
    }

    /// Reads the parts of a job; `name` is used in messages.
    pub fn from_job(name: &Path, job: parts::Job) -> Self {
        let sources = job.files.into_iter().map(Source::File).collect();
        Self {
            path: name.to_owned(),
            sources,
            unfinished: true,
            start: job.header.map(|h| h.start),
            other_jobs: 0,
        }
    }

    /// About the job, as far as that is known without reading the trace.
    pub fn header(&self) -> Option<Header> {
        self.sources.iter().find_map(|source| match source {
            Source::File(path) => parts::first_header(path),
            Source::Stream(_) => None,
        })
    }

    /// Whether this is what an unfinished job has written so far.
    pub fn is_unfinished(&self) -> bool {
        self.unfinished
    }

    /// Reads everything, in the order of the files.
    pub fn read(self, visit: impl FnMut(Event<'_>)) -> Result<Outcome, ReadError> {
        self.read_pieces(usize::MAX, visit)
    }

    /// The same, with blocks handed out in pieces of at most `most` operations: faster where only the
    /// operations matter. They are read as whole [`Operation`](crate::Operation)s, or as
    /// [`Transfer`](crate::Transfer)s.
    pub fn read_pieces<T: ReadAs>(
        self,
        most: usize,
        mut visit: impl FnMut(Event<'_, T>),
    ) -> Result<Outcome, ReadError> {
        let mut reading = Reading::new(most);
        reading.start = self.start;
        if self.unfinished {
            // Before the parts: what leaves a spool from now on will be found there.
            let files = self.sources.iter().filter_map(|source| match source {
                Source::File(path) => Some(path.as_path()),
                Source::Stream(_) => None,
            });
            reading.take_snapshots(files);
        }
        for source in self.sources {
            match source {
                Source::File(path) => {
                    // Anybody may have put something among the parts.
                    let file = if self.unfinished { parts::open(&path) } else { File::open(&path) };
                    let file = file.map_err(|source| ReadError::Io { path: path.clone(), source })?;
                    reading.owner = file.metadata().ok().map(|meta| meta.uid());
                    reading.stream(&path, file, &mut visit)?;
                }
                Source::Stream(input) => reading.stream(&self.path, input, &mut visit)?,
            }
        }
        reading.hand_out_snapshots(&mut visit);
        if self.other_jobs > 0 {
            reading.outcome.missing.push(format!(
                "{}: the last of {} jobs that have parts here",
                self.path.display(),
                self.other_jobs + 1
            ));
        }
        reading.finish(&self.path, self.unfinished)
    }
}
