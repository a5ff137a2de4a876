//! The small records of a trace: about the job, about each rank, and that it is complete.

use serde::{Deserialize, Serialize};

/// About the job; written once, by rank 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Format version of the trace, see [`FORMAT_VERSION`](crate::FORMAT_VERSION).
    pub version: u32,
    /// Job id and step, or rank 0's process id outside a batch system.
    pub job: String,
    /// Number of ranks in `MPI_COMM_WORLD`.
    pub ranks: u32,
    /// Path of rank 0's executable.
    pub executable: String,
    /// Wall-clock time at job time 0, nanoseconds since 1970.
    pub start: i64,
    /// What `MPI_Get_library_version` says, first line.
    pub mpi: String,
    /// Version of tmio.
    pub tmio: String,
    /// Number of the run, by which its parts are named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// What was left out on purpose: the options that select layers, ranks or files, such as
    /// `TMIO_LAYERS=mpiio TMIO_RANKS=0-3`. Of excluded files only that there are some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters: Option<String>,
    /// The ranks are processes that know nothing of each other, and it is not known beforehand how many there
    /// will be: `ranks` is 0 until all have ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub processes: bool,
    /// There may be operations of other layers than MPI-IO.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub layers: bool,
    /// The words of rank 0's command, cut where they get long: runs of one program with other input are told
    /// apart by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl Header {
    /// What tells a run from others: its number, or else the job and its start. (Outside a batch system,
    /// hosts that began by themselves name the job after a process of their own.)
    pub fn run(&self) -> (String, i64) {
        match self.number {
            Some(number) => (String::new(), number as i64),
            None => (self.job.clone(), self.start),
        }
    }
}

/// About one rank. In a complete trace there is one per rank, before its blocks; in the parts of
/// an unfinished one it is written at `MPI_Init`, with `finished` false.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankInfo {
    /// Rank in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// Host name.
    pub host: String,
    /// Identifies the running kernel: ranks with the same one share a monotonic clock.
    pub boot_id: String,
    /// Process id …
    pub pid: u32,
    /// … the time at which the process started, in the kernel's ticks after boot …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<u64>,
    /// … the namespaces in which these two are valid …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<u64>,
    /// … and the user it belonged to: what [`liveness`](crate::liveness) needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<u32>,
    /// Where the current block lives while the job runs; empty if in private memory.
    pub spool: String,
    /// The spool was added to the part after the process had died: nothing is left elsewhere.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub salvaged: bool,
    /// Pairs of the rank's monotonic clock and job time; between them, time is interpolated.
    pub clock: Vec<ClockSample>,
    /// Whether the rank reached `MPI_Finalize`; what follows is only known then.
    pub finished: bool,
    /// Operations recorded.
    pub operations: u64,
    /// Operations that could not be kept (full disk).
    pub lost: u64,
    /// Nanoseconds that tracing took from this rank, estimated: operations × cost of one, and
    /// the measured time of writing blocks, of `MPI_Init` and of `MPI_Finalize`.
    pub overhead: i64,
    /// Nanoseconds of that per operation.
    pub overhead_per_op: f64,
    /// Bytes that the process read by system calls, as the kernel counts them (`rchar`).
    pub process_read: u64,
    /// Bytes that the process wrote by system calls (`wchar`), without tmio's own.
    pub process_written: u64,
    /// What the tracer knows of bytes that are not in its records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
    /// Of a process that is not one of MPI: the one that started it …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// … the path of its program …
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub executable: String,
    /// … and the words of its command.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
}

/// Bytes of a process that are in no record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// Bytes that functions read which the tracer looks at, and which it did not record: from pipes, from
    /// files that are left out, inside MPI-IO.
    pub read: u64,
    /// The same for what was written.
    pub written: u64,
    /// Bytes that the process has fetched from devices, as the kernel counts them (`read_bytes`): also by
    /// mapped files.
    pub device_read: u64,
    /// Bytes that it has sent or will send to devices (`write_bytes`), without tmio's own.
    pub device_written: u64,
}

/// One reading of a rank's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockSample {
    /// The rank's monotonic clock, nanoseconds.
    pub local: i64,
    /// Job time at that moment, nanoseconds since rank 0's `MPI_Init`.
    pub job: i64,
    /// Wall-clock time at that moment, nanoseconds since 1970.
    pub real: i64,
    /// Largest error of `job`, nanoseconds.
    pub error: i64,
}

/// Last frame of a trace whose job reached its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEnd {
    /// Job time at which rank 0 ended the trace, nanoseconds.
    pub end: i64,
    /// Number of ranks that wrote their blocks.
    pub ranks: u32,
    /// Operations in all blocks.
    pub operations: u64,
}

impl RankInfo {
    /// Reads the body of a rank frame.
    pub fn parse(body: &[u8]) -> Option<Self> {
        rmp_serde::from_slice(body).ok()
    }

    /// Job time for a reading of this rank's clock.
    ///
    /// Between two samples the difference is interpolated, outside them it is kept.
    pub fn job_time(&self, local: i64) -> Option<i64> {
        Some(local.saturating_add(self.shift(local)?))
    }

    /// What has to be added to the rank's clock at `local` to get job time.
    pub fn shift(&self, local: i64) -> Option<i64> {
        let first = self.clock.first()?;
        let last = self.clock.last()?;
        let (before, after) = match self.clock.iter().position(|sample| sample.local > local) {
            Some(0) => (first, first),
            None => (last, last),
            Some(next) => (self.clock.get(next - 1)?, self.clock.get(next)?),
        };
        let difference = |sample: &ClockSample| sample.job.wrapping_sub(sample.local);
        let (from, to) = (difference(before), difference(after));
        let span = i128::from(after.local) - i128::from(before.local);
        if span <= 0 || from == to {
            return Some(from);
        }
        let elapsed = i128::from(local) - i128::from(before.local);
        let drift = (i128::from(to) - i128::from(from)) * elapsed / span;
        Some(from.saturating_add(i64::try_from(drift).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(local: i64, job: i64) -> ClockSample {
        ClockSample { local, job, real: 0, error: 0 }
    }

    #[test]
    fn time_is_interpolated_between_samples_and_shifted_outside() {
        let rank = RankInfo { clock: vec![sample(1000, 0), sample(2000, 1010)], ..Default::default() };
        assert_eq!(rank.job_time(1000), Some(0));
        assert_eq!(rank.job_time(1500), Some(505));
        assert_eq!(rank.job_time(2000), Some(1010));
        assert_eq!(rank.job_time(900), Some(-100));
        assert_eq!(rank.job_time(3000), Some(2010));
        assert_eq!(RankInfo::default().job_time(5), None);
    }

    #[test]
    fn absurd_clocks_do_not_overflow() {
        let rank = RankInfo {
            clock: vec![sample(i64::MIN, i64::MAX), sample(i64::MAX, i64::MIN)],
            ..Default::default()
        };
        for local in [i64::MIN, -1, 0, 1, i64::MAX] {
            let _ = rank.job_time(local);
        }
    }
}
