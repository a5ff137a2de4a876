//! What all ranks must know before they begin, decided by rank 0.

use crate::options::{self, Options};
use crate::place::output::{self, Place, Values};
use crate::process::surroundings::Surroundings;
use crate::process::{clock, launch};
use crate::ranks::world::{self, JobInfo, World};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

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
    /// Where spools are wanted; empty: at the usual place.
    pub(crate) spool: PathBuf,
}

/// Why there is no plan if the user does not want to be traced.
pub(crate) const NOT_WANTED: &str = "the user has not agreed to it";

impl Plan {
    /// Rank 0: chooses the path; nothing is made yet, nor looked at.
    pub(crate) fn make(job: &JobInfo, ranks: u32, host: &str, options: &Options) -> Result<Self, String> {
        let around = &Surroundings::here();
        if !options::has_agreed(options, around) {
            return Err(NOT_WANTED.to_owned());
        }
        let mut id = around.job().unwrap_or_else(|| around.pid.to_string());
        if job.spawned {
            id = format!("{id}.spawn{}", std::process::id());
        }
        let values = Values { job: id.clone(), ranks, host: host.to_owned(), format: options.format, around };
        let place = output::choose(options.output.as_deref(), &values)?;
        let number = job.key.unwrap_or_else(|| launch::number_in(job.launch));
        Ok(Plan {
            place,
            job: id,
            number,
            start: clock::realtime(),
            epoch: clock::monotonic(),
            max_bytes: options.max_bytes,
            spool: options.spool.clone().unwrap_or_default(),
        })
    }

    /// Rank 0 makes the plan, the others get it.
    pub(crate) fn agree(
        world: &dyn World,
        make: impl FnOnce() -> Result<Self, String>,
    ) -> Result<Self, String> {
        let bytes = world::share(world, || Ok(make()?.encode()))?;
        Self::decode(&bytes).ok_or_else(|| world::NO_MPI.to_owned())
    }

    /// A path is bytes, not text.
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
            (private.len() as u64).to_le_bytes(),
        ];
        let spool = self.spool.as_os_str().as_bytes();
        [numbers.as_flattened(), self.job.as_bytes(), path, stem, private, spool].concat()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (&number, bytes) = bytes.split_first_chunk()?;
        let (&start, bytes) = bytes.split_first_chunk()?;
        let (&epoch, bytes) = bytes.split_first_chunk()?;
        let (&max_bytes, bytes) = bytes.split_first_chunk()?;
        let (&job_length, bytes) = bytes.split_first_chunk()?;
        let (&path_length, bytes) = bytes.split_first_chunk()?;
        let (&stem_length, bytes) = bytes.split_first_chunk()?;
        let (&private_length, bytes) = bytes.split_first_chunk()?;
        let (job, bytes) = bytes.split_at_checked(u64::from_le_bytes(job_length) as usize)?;
        let (path, bytes) = bytes.split_at_checked(u64::from_le_bytes(path_length) as usize)?;
        let (stem, bytes) = bytes.split_at_checked(u64::from_le_bytes(stem_length) as usize)?;
        let (private, spool) = bytes.split_at_checked(u64::from_le_bytes(private_length) as usize)?;
        let path_of = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        Some(Plan {
            place: Place { path: path_of(path), stem: path_of(stem), private: path_of(private) },
            job: String::from_utf8_lossy(job).into_owned(),
            number: u64::from_le_bytes(number),
            start: i64::from_le_bytes(start),
            epoch: i64::from_le_bytes(epoch),
            max_bytes: u64::from_le_bytes(max_bytes),
            spool: path_of(spool),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_path_arrives_as_it_is() {
        let path = PathBuf::from(OsString::from_vec(b"/d\xe9p\xf4t/\0odd\n.msgpack".to_vec()));
        let place = Place { path, stem: PathBuf::from("/d"), private: PathBuf::from("/d/u") };
        let plan = Plan {
            place,
            job: "77.1".to_owned(),
            number: 9,
            start: -5,
            epoch: 1 << 60,
            max_bytes: 1 << 30,
            spool: "/s".into(),
        };
        assert_eq!(Plan::decode(&plan.encode()), Some(plan));
        assert_eq!(Plan::decode(b"short"), None);
    }
}
