//! What all ranks must know before they begin, decided by rank 0.

use crate::options::{self, Options};
use crate::output::{self, Place, Values};
use crate::world::{self, JobInfo, World};
use crate::{clock, system};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use tmio_trace::parts;

/// Where the trace goes, and when it begins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) place: Place,
    pub(crate) job: String,
    /// Number of the run: all its files carry it.
    pub(crate) number: u64,
    /// Wall-clock time at job time 0.
    pub(crate) start: i64,
    /// Rank 0's clock at job time 0.
    pub(crate) epoch: i64,
    /// Bytes of the trace from which on it gets coarser; 0: there is no such limit.
    pub(crate) max_bytes: u64,
}

/// Why there is no plan if the user does not want to be traced.
pub(crate) const NOT_WANTED: &str = "the user has not agreed to it";

impl Plan {
    /// Rank 0: chooses the path; nothing is made yet.
    pub(crate) fn make(job: &JobInfo, ranks: u32, host: &str, options: &Options) -> Result<Self, String> {
        if !options::has_agreed(options) {
            return Err(NOT_WANTED.to_owned());
        }
        let mut id = system::job_id();
        if job.spawned {
            id = format!("{id}.spawn{}", std::process::id());
        }
        let values = Values { job: id.clone(), ranks, host: host.to_owned(), format: options.format };
        let number = job.key.unwrap_or_else(|| number_in(job.launch));
        let mut place = output::choose(options.output.as_deref(), &values)?;
        if place.previous.is_some() && is_of_this_launch(&place.path, job.launch) {
            place.previous = None;
        }
        Ok(Plan {
            place,
            job: id,
            number,
            start: clock::realtime(),
            epoch: clock::monotonic(),
            max_bytes: options.max_bytes,
        })
    }

    /// Rank 0 makes the plan, the others get it.
    pub(crate) fn agree(
        world: &dyn World,
        make: impl FnOnce() -> Result<Self, String>,
    ) -> Result<Self, String> {
        let mut previous = None;
        let bytes = world::share(world, || {
            let plan = make()?;
            previous = plan.place.previous;
            Ok(plan.encode())
        })?;
        let mut plan = Self::decode(&bytes).ok_or_else(|| world::NO_MPI.to_owned())?;
        plan.place.previous = previous;
        Ok(plan)
    }

    /// A path is bytes, not text. What is there already is rank 0's concern alone.
    fn encode(&self) -> Vec<u8> {
        let (path, stem) = (self.place.path.as_os_str().as_bytes(), self.place.stem.as_os_str().as_bytes());
        let private = self.place.private.as_os_str().as_bytes();
        let numbers = [
            self.number.to_le_bytes(),
            self.start.to_le_bytes(),
            self.epoch.to_le_bytes(),
            self.max_bytes.to_le_bytes(),
            (self.job.len() as u64).to_le_bytes(),
            (path.len() as u64).to_le_bytes(),
            (stem.len() as u64).to_le_bytes(),
        ];
        [numbers.as_flattened(), self.job.as_bytes(), path, stem, private].concat()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (&number, bytes) = bytes.split_first_chunk()?;
        let (&start, bytes) = bytes.split_first_chunk()?;
        let (&epoch, bytes) = bytes.split_first_chunk()?;
        let (&max_bytes, bytes) = bytes.split_first_chunk()?;
        let (&job_length, bytes) = bytes.split_first_chunk()?;
        let (&path_length, bytes) = bytes.split_first_chunk()?;
        let (&stem_length, bytes) = bytes.split_first_chunk()?;
        let (job, bytes) = bytes.split_at_checked(u64::from_le_bytes(job_length) as usize)?;
        let (path, bytes) = bytes.split_at_checked(u64::from_le_bytes(path_length) as usize)?;
        let (stem, private) = bytes.split_at_checked(u64::from_le_bytes(stem_length) as usize)?;
        let path_of = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        Some(Plan {
            place: Place {
                path: path_of(path),
                stem: path_of(stem),
                private: path_of(private),
                previous: None,
            },
            job: String::from_utf8_lossy(job).into_owned(),
            number: u64::from_le_bytes(number),
            start: i64::from_le_bytes(start),
            epoch: i64::from_le_bytes(epoch),
            max_bytes: u64::from_le_bytes(max_bytes),
        })
    }
}

/// Bits of a run's number that all runs of one launch have in common.
const OF_THE_LAUNCH: u64 = 0xffff << 48;

/// A number that no other run has.
fn number_in(launch: Option<u64>) -> u64 {
    let random = system::random();
    launch.map_or(random, |launch| launch & OF_THE_LAUNCH | random & !OF_THE_LAUNCH)
}

/// Whether a trace was made by this batch job, or by a process that the same call of the launcher has
/// started. Such a one is not replaced: of processes whose launcher MPI does not understand, each is a job
/// of its own, and a script may start many.
fn is_of_this_launch(trace: &Path, launch: Option<u64>) -> bool {
    let Some(header) = parts::first_header(trace) else { return false };
    let has_begun_it =
        |launch: u64| header.number.is_some_and(|number| (number ^ launch) & OF_THE_LAUNCH == 0);
    let is_its_job = |job: String| {
        header.job.strip_prefix(&job).is_some_and(|rest| rest.is_empty() || rest.starts_with(".spawn"))
    };
    launch.is_some_and(has_begun_it) || system::batch_job().is_some_and(is_its_job)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_launch_have_numbers_of_their_own_and_know_each_other() {
        let path = std::env::temp_dir().join(format!("tmio-launch-{}", std::process::id()));
        let of = |number: u64, job: &str| {
            let header =
                tmio_trace::Header { number: Some(number), job: job.to_owned(), ..Default::default() };
            std::fs::write(
                &path,
                tmio_trace::frame::encode(tmio_trace::frame::FrameKind::Header, &header).unwrap(),
            )
            .unwrap();
        };
        let launch = Some(0x1234_5678_9abc_def0);
        let numbers: std::collections::HashSet<u64> = (0..1000).map(|_| number_in(launch)).collect();
        assert_eq!(numbers.len(), 1000);
        for &number in numbers.iter().take(3) {
            of(number, "1");
            assert!(is_of_this_launch(&path, launch) && !is_of_this_launch(&path, Some(0x1235 << 48)));
            assert!(!is_of_this_launch(&path, None));
        }
        std::fs::remove_file(&path).unwrap();
        assert!(!is_of_this_launch(&path, launch), "there is none");
    }

    #[test]
    fn any_path_arrives_as_it_is() {
        let path = PathBuf::from(OsString::from_vec(b"/d\xe9p\xf4t/\0odd\n.msgpack".to_vec()));
        let place = Place { path, stem: PathBuf::from("/d"), private: PathBuf::from("/d/u"), previous: None };
        let plan =
            Plan { place, job: "77.1".to_owned(), number: 9, start: -5, epoch: 1 << 60, max_bytes: 1 << 30 };
        assert_eq!(Plan::decode(&plan.encode()), Some(plan));
        assert_eq!(Plan::decode(b"short"), None);
    }
}
