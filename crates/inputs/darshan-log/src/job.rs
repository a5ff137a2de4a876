//! The job: who ran what, when, on how many processes, and which file systems were mounted.

use crate::endian::{ByteOrder, Fields, text_to_nul};
use crate::error::Result;
use crate::format::Format;
use crate::region::Region;

/// Inflated size of the job region of formats 2.04 and later.
pub(crate) const RECORD_LEN: usize = 4096;
/// Length of the metadata field of formats 2.04 and later.
pub(crate) const METADATA_LEN: usize = 1024;

/// A point in time, seconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    /// Whole seconds.
    pub seconds: i64,
    /// Nanoseconds on top; 0 before format 3.41, which does not record them.
    pub nanoseconds: i64,
}

/// A file system mounted on the node of rank 0 when the job began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mount {
    /// `"lustre"`, `"gpfs"`, `"ext4"`, …
    pub fs_type: String,
    /// Where it is mounted.
    pub path: String,
    /// Its device number (Darshan 2 only).
    pub device: Option<i64>,
}

/// What a log says about the job as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// The user, or a hash of the user where logs were anonymised.
    pub uid: i64,
    /// The scheduler's job number, else the process number of rank 0.
    pub job_id: i64,
    /// Processes of the job (1 for a program without MPI).
    pub nprocs: i64,
    /// When the job called `MPI_Init` (or began).
    pub start: Timestamp,
    /// When it called `MPI_Finalize` (or ended).
    pub end: Timestamp,
    /// Facts about the run as pairs: `lib_ver` is the Darshan release, `h` the MPI-IO hints it sets.
    pub metadata: Vec<(String, String)>,
    /// The executable and its arguments, as Darshan recorded them; a number in anonymised logs.
    pub command: String,
    /// The mounted file systems.
    pub mounts: Vec<Mount>,
    /// Whether times carry nanoseconds (format 3.41 and later).
    pub subsecond: bool,
}

impl Job {
    /// Seconds from start to end, as Darshan's own tools count them: logs that only have whole seconds
    /// (before format 3.41) get one second more, so that a short job is not said to have taken none.
    pub fn run_time(&self) -> f64 {
        let seconds = self.end.seconds.saturating_sub(self.start.seconds);
        if self.subsecond {
            let nanoseconds = self.end.nanoseconds.saturating_sub(self.start.nanoseconds);
            seconds as f64 + nanoseconds as f64 * 1e-9
        } else {
            seconds.saturating_add(1) as f64
        }
    }

    /// The value of a [`metadata`](Job::metadata) key.
    pub fn metadata_value(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// The Darshan release that wrote the log (`"3.4.2"`), if it says so.
    pub fn library_version(&self) -> Option<&str> {
        self.metadata_value("lib_ver")
    }

    /// The mount a file is on: the one with the longest path that is a prefix of the file's, by whole
    /// components.
    pub fn mount_of(&self, file: &str) -> Option<&Mount> {
        let holds = |mount: &&Mount| {
            let path = mount.path.trim_end_matches('/');
            file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.mounts.iter().filter(holds).max_by_key(|mount| mount.path.len())
    }

    /// Reads the job region of a Darshan 3 log.
    pub(crate) fn read_3(format: Format, order: ByteOrder, mut region: Region<'_>) -> Result<Job> {
        let subsecond = format >= Format::V3_41;
        let numbers = if subsecond { 56 } else { 40 };
        let mut bytes = region.take_promised(numbers + METADATA_LEN, "a job record")?.to_vec();
        // The text follows, as long as it is: the region says, and NUL. What comes after that NUL is not ours
        // to read.
        let mut text = Vec::new();
        while text.len() < RECORD_LEN && !text.contains(&0) {
            match region.take_up_to(RECORD_LEN - text.len())? {
                [] => break,
                more => text.extend_from_slice(more),
            }
        }
        bytes.extend_from_slice(&text);

        let mut fields = Fields::new(order, &bytes);
        let mut job = Job { subsecond, uid: fields.i64(), ..Job::default() };
        job.start.seconds = fields.i64();
        if subsecond {
            job.start.nanoseconds = fields.i64();
        }
        job.end.seconds = fields.i64();
        if subsecond {
            job.end.nanoseconds = fields.i64();
        }
        job.nprocs = fields.i64();
        job.job_id = fields.i64();
        job.set_metadata(fields.bytes(METADATA_LEN));
        job.set_text(fields.rest(), mount_3);
        Ok(job)
    }

    /// Reads the job record of a Darshan 2 log, which follows its version and magic number.
    pub(crate) fn read_2(format: Format, mut fields: Fields<'_>) -> Job {
        let mut job = Job { uid: fields.i64(), ..Job::default() };
        job.start.seconds = fields.i64();
        job.end.seconds = fields.i64();
        job.nprocs = fields.i64();
        job.job_id = fields.i64();
        job.set_metadata(fields.bytes(metadata_len_2(format)));
        job.set_text(fields.rest(), mount_2);
        job
    }

    fn set_metadata(&mut self, bytes: &[u8]) {
        let text = text_to_nul(bytes);
        self.metadata = text
            .lines()
            .filter_map(|l| l.split_once('='))
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .collect();
    }

    fn set_text(&mut self, bytes: &[u8], mount: fn(&str) -> Option<Mount>) {
        let text = text_to_nul(bytes);
        let mut lines = text.split('\n');
        self.command = lines.next().unwrap_or_default().to_owned();
        self.mounts = lines.filter_map(mount).collect();
    }
}

/// Length of the metadata field in Darshan 2.
pub(crate) fn metadata_len_2(format: Format) -> usize {
    match format.minor {
        0 => 0,
        1..=3 => 64,
        _ => METADATA_LEN,
    }
}

/// Length of the whole job record in Darshan 2.
pub(crate) fn record_len_2(format: Format) -> usize {
    if format.minor <= 3 { 1024 } else { RECORD_LEN }
}

/// `fs type TAB path`
fn mount_3(line: &str) -> Option<Mount> {
    let (fs_type, path) = line.split_once('\t')?;
    Some(Mount { fs_type: fs_type.to_owned(), path: path.to_owned(), device: None })
}

/// `device TAB fs type TAB path`
fn mount_2(line: &str) -> Option<Mount> {
    let (device, rest) = line.split_once('\t')?;
    let mount = mount_3(rest)?;
    Some(Mount { device: device.parse().ok(), ..mount })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job_with(mounts: &[&str]) -> Job {
        Job {
            mounts: mounts.iter().filter_map(|path| mount_3(&format!("fs\t{path}"))).collect(),
            ..Job::default()
        }
    }

    #[test]
    fn a_file_is_on_its_longest_mount() {
        let job = job_with(&["/", "/scratch", "/scratch/a/", "/scr"]);
        let on = |file| job.mount_of(file).map(|m| m.path.as_str());
        assert_eq!(on("/scratch/x"), Some("/scratch"));
        assert_eq!(on("/scratch/a/x"), Some("/scratch/a/"));
        assert_eq!(on("/scratchy"), Some("/"));
        assert_eq!(on("<STDOUT>"), None);
        assert_eq!(job_with(&[]).mount_of("/x"), None);
    }

    #[test]
    fn mounts_of_darshan_2_carry_their_device_first() {
        let mount = mount_2("-648807988769344735\tgpfs\t/gpfs/home").unwrap();
        assert_eq!((mount.fs_type.as_str(), mount.path.as_str()), ("gpfs", "/gpfs/home"));
        assert_eq!(mount.device, Some(-648807988769344735));
        assert_eq!(mount_2("cut off"), None);
    }

    #[test]
    fn run_time_counts_as_the_darshan_tools_do() {
        let mut job = Job::default();
        job.end.seconds = 5;
        assert_eq!(job.run_time(), 6.0);
        job.subsecond = true;
        job.start.nanoseconds = 250_000_000;
        assert_eq!(job.run_time(), 4.75);
        job.start.seconds = i64::MIN;
        assert!(job.run_time().is_finite());
    }

    #[test]
    fn metadata_may_hold_equal_signs() {
        let mut job = Job::default();
        job.set_metadata(b"lib_ver=3.4.2\nh=romio_no_indep_rw=true;cb_nodes=4\n\0junk=1");
        assert_eq!(job.library_version(), Some("3.4.2"));
        assert_eq!(job.metadata_value("h"), Some("romio_no_indep_rw=true;cb_nodes=4"));
        assert_eq!(job.metadata.len(), 2);
    }
}
