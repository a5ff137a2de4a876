//! What one call of a launcher has started, whatever jobs MPI has made of it.

use crate::process::system;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use tmio_trace::parts;

/// Bits of a run's number that all runs of one launch have in common.
const OF_THE_LAUNCH: u64 = 0xffff << 48;

/// A number that no other run has.
pub(crate) fn number_in(launch: Option<u64>) -> u64 {
    let random = system::random();
    launch.map_or(random, |launch| launch & OF_THE_LAUNCH | random & !OF_THE_LAUNCH)
}

/// Whether a trace was made by this batch job, or by a process that the same call of the launcher has
/// started. Such a one is not replaced: of processes whose launcher MPI does not understand, each is a job
/// of its own, and a script may start many.
pub(crate) fn has_made(trace: &Path, launch: Option<u64>, job: Option<String>) -> bool {
    let Some(header) = parts::first_header(trace) else { return false };
    let has_begun_it =
        |launch: u64| header.number.is_some_and(|number| (number ^ launch) & OF_THE_LAUNCH == 0);
    let is_its_job = |job: String| {
        header.job.strip_prefix(&job).is_some_and(|rest| rest.is_empty() || rest.starts_with(".spawn"))
    };
    launch.is_some_and(has_begun_it) || job.is_some_and(is_its_job)
}

/// Whether a trace is of a job that began, or ended, after this time of the wall clock.
pub(crate) fn is_later(trace: &Path, began: i64) -> bool {
    /// Clocks of file servers are off by less.
    const OFF: i64 = 10_000_000_000;
    let began_later = parts::first_header(trace).is_some_and(|header| header.start > began);
    let ended = std::fs::metadata(trace).map(|about| about.mtime().saturating_mul(1_000_000_000));
    began_later || ended.is_ok_and(|ended| ended > began.saturating_add(OFF))
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
            assert!(has_made(&path, launch, None) && !has_made(&path, Some(0x1235 << 48), None));
            assert!(!has_made(&path, None, None));
        }
        // Its header says that it began in 1970, and the file was made now.
        let now = crate::process::clock::realtime();
        assert!(!is_later(&path, now) && is_later(&path, -1) && is_later(&path, now - 20_000_000_000));
        std::fs::remove_file(&path).unwrap();
        assert!(!is_later(&path, -1) && !has_made(&path, launch, None), "there is none");
    }
}
