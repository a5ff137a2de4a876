//! What a killed job has left, and how it is cleared away.

use crate::liveness::{self, Life};
use crate::parts::{self, Job};
use crate::{Event, RankInfo, ReadError, Trace, salvage};
use files::{Dir, Why};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A trace, finished or not, and its ranks.
#[derive(Debug)]
pub struct Remains {
    /// Where the trace is, or would be.
    pub trace: PathBuf,
    /// Where its parts are, if there are any.
    pub parts: PathBuf,
    /// The ranks that it tells of.
    pub ranks: Vec<RankInfo>,
    /// The parts that are read; `None`: the trace itself.
    job: Option<Job>,
}

/// Why the remains of a job were not removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages say it
pub enum NotRemoved {
    #[error("not removed: the job is still running")]
    Running,
    #[error(
        "not removed: some ranks ran on other hosts, where the job may still run or have left a spool; --force \
         removes it anyway"
    )]
    Elsewhere,
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Remains {
    /// Looks at a trace, or at its parts, whichever was named. What dead ranks have left on this host
    /// joins the parts first. A trace that was recovered before, perhaps on another host, is passed
    /// over if its parts are still there: they hold all that it does.
    pub fn find(named: &Path) -> Result<Self, ReadError> {
        let (trace, parts) = names(named);
        let by_parts = trace != named;
        // What is removed later is what was read: a link could lead elsewhere by then.
        let jobs = match place_of(&parts).map(|(place, name)| place.folder(name)) {
            Ok(Ok(_)) => parts::jobs(&parts).unwrap_or_default(),
            Ok(Err(error)) if matches!(error.why, Why::Link) => {
                return Err(ReadError::Io { source: io::Error::other(error.why.to_string()), path: parts });
            }
            _ => Vec::new(),
        };
        let mut jobs = jobs.into_iter();
        let job = match parts::first_header(&trace) {
            Some(header) if !by_parts => {
                jobs.find(|job| job.header.as_ref().is_some_and(|its| its.run() == header.run()))
            }
            _ => jobs.next(),
        };
        Self::of_job(trace, parts, job)
    }

    /// What the processes of a run have left that `ftio trace` has begun. `None`: nothing.
    pub fn of_run(trace: &Path, number: u64) -> Result<Option<Self>, ReadError> {
        let Some(job) = job_of_run(trace, number) else { return Ok(None) };
        Self::of_job(trace.to_owned(), parts::directory(trace), Some(job)).map(Some)
    }

    /// Whether processes of that run have left parts.
    pub fn has_run(trace: &Path, number: u64) -> bool {
        job_of_run(trace, number).is_some()
    }

    fn of_job(trace: PathBuf, parts: PathBuf, job: Option<Job>) -> Result<Self, ReadError> {
        let mut remains = Self { trace, parts, ranks: Vec::new(), job };
        remains.ranks = remains.read_ranks()?;
        if remains.is_from_parts() {
            for rank in remains.ranks.iter().filter(|rank| liveness::is_here(rank) && !rank.spool.is_empty())
            {
                // One that is in use, or cannot be added, is read where it is.
                salvage::salvage_at(Path::new(&rank.spool));
            }
            remains.ranks = remains.read_ranks()?;
        }
        Ok(remains)
    }

    fn read_ranks(&self) -> Result<Vec<RankInfo>, ReadError> {
        let mut ranks = std::collections::BTreeMap::new();
        self.open()?.read(|event| {
            if let Event::Rank(info) = event {
                ranks.insert(info.rank, info.clone());
            }
        })?;
        Ok(ranks.into_values().collect())
    }

    /// The trace, or its parts.
    pub fn open(&self) -> Result<Trace, ReadError> {
        match &self.job {
            Some(job) => Ok(Trace::from_job(&self.trace, job.clone())),
            None => Trace::open(&self.trace),
        }
    }

    /// Whether the parts are read, and not the trace itself.
    pub fn is_from_parts(&self) -> bool {
        self.job.is_some()
    }

    /// Whether what is at the trace's place, if anything, may give way to the parts: it was recovered from
    /// parts of the same run, perhaps on another host, and is not complete.
    pub fn may_replace_trace(&self) -> bool {
        match fs::symlink_metadata(&self.trace) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return true,
            // Where that leads to is somebody else's choice.
            Ok(meta) if !meta.is_file() => return false,
            _ => {}
        }
        let run = self.job.as_ref().and_then(|job| job.header.as_ref()).map(|header| header.run());
        let same = run.is_some() && parts::first_header(&self.trace).map(|header| header.run()) == run;
        let complete = || Trace::open(&self.trace).and_then(|trace| trace.read(|_| {}));
        same && complete().is_ok_and(|outcome| !outcome.complete)
    }

    /// How many ranks still run, as far as can be seen from here.
    pub fn running(&self) -> usize {
        self.ranks.iter().filter(|rank| !is_gone(rank) && liveness::of_rank(rank) == Life::Alive).count()
    }

    /// Removes parts and spools, unless somebody may still write to them; with `force` also if that
    /// cannot be known.
    pub fn remove(&self, force: bool) -> Result<(), NotRemoved> {
        match liveness::of_ranks(self.ranks.iter().filter(|rank| !is_gone(rank))) {
            Life::Alive => return Err(NotRemoved::Running),
            Life::Unknown if !force => return Err(NotRemoved::Elsewhere),
            _ => {}
        }
        for rank in self.ranks.iter().filter(|rank| liveness::is_here(rank) && !rank.spool.is_empty()) {
            // Gone already is as good.
            salvage::remove_at(rank);
        }
        let (place, own_name) = place_of(&self.parts)?;
        let directory = place.folder(&own_name).map_err(io::Error::from)?;
        for name in self.job.iter().flat_map(|job| &job.files).filter_map(|file| file.file_name()) {
            directory.remove(name).map_err(io::Error::from)?;
            // Where processes took their numbers from.
            if let Some(numbers) = parts::numbers(Path::new(name)).file_name() {
                let _ = directory.remove(numbers);
            }
        }
        drop(directory);
        match place.remove_folder(&own_name) {
            // There are parts of other jobs.
            Err(error) if error.exists() => Ok(()),
            other => Ok(other.map_err(io::Error::from)?),
        }
    }
}

/// Whether a process was certainly gone when its part was written: its number may be another one's since.
fn is_gone(rank: &RankInfo) -> bool {
    rank.salvaged || rank.finished && rank.spool.is_empty()
}

/// The trace and its parts, whichever of them was named.
fn names(named: &Path) -> (PathBuf, PathBuf) {
    let by_parts = named.extension().is_some_and(|extension| extension == "parts");
    let trace = if by_parts { named.with_extension("") } else { named.to_owned() };
    let parts = parts::directory(&trace);
    (trace, parts)
}

/// The directory that something is in, and its name there.
fn place_of(path: &Path) -> io::Result<(Dir, OsString)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let place = path.parent().filter(|place| !place.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((Dir::open(place)?, name.to_owned()))
}

/// Who owns the parts of a trace, if there are any: root recovers them in that user's name.
pub fn owner_of_parts(named: &Path) -> Option<u32> {
    let (place, name) = place_of(&names(named).1).ok()?;
    place.folder(name).and_then(|parts| parts.stat()).ok().map(|found| found.user)
}

/// The parts of the run of that number.
fn job_of_run(trace: &Path, number: u64) -> Option<Job> {
    let jobs = parts::jobs(&parts::directory(trace)).unwrap_or_default();
    jobs.into_iter().find(|job| job.number == Some(number))
}
