//! The table of rules.

mod checkpoints;
mod ranks;
mod requests;
mod time;
mod usage_of_layers;

use crate::finding::{Found, Severity};
use crate::thresholds::{Key, Thresholds};
use crate::{Job, Scope};

pub(crate) use checkpoints::why_no_interval;

/// How many files a finding names.
const FILES: usize = 5;
/// How many ranks a finding names.
const RANKS: usize = 16;

/// A rule: what it is called, where it comes from, why it matters, and how it is checked.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name: never changed, once it is published.
    pub id: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// When it finds something, in words.
    pub when: &'static str,
    /// Which data it needs.
    pub needs: &'static str,
    /// How much of the job has to be known.
    pub scope: Scope,
    /// Looks at a job.
    pub check: fn(&Job<'_>, &Thresholds) -> Option<Found>,
}

/// All rules, in the order in which equals are reported.
pub const RULES: &[Rule] = &[
    Rule {
        id: "small-writes",
        source: "Drishti P06",
        why: "every request costs the time of a round trip to a server, however few bytes it carries",
        when: "more than small-share of the writes, and more than small-count, have at most 1 MiB; those of \
               collective MPI-IO calls do not count",
        needs: "sizes of requests",
        scope: Scope::Traced,
        check: requests::small_writes,
    },
    Rule {
        id: "small-reads",
        source: "Drishti P05",
        why: "every request costs the time of a round trip to a server, however few bytes it carries",
        when: "the same for reads",
        needs: "sizes of requests",
        scope: Scope::Traced,
        check: requests::small_reads,
    },
    Rule {
        id: "small-requests-shared-file",
        source: "Drishti P15, P16",
        why: "small requests of many ranks to one file compete for the same locks",
        when: "a file that several ranks use gets more than small-count small requests, and they are more \
            than small-share of its requests",
        needs: "files with sizes of requests",
        scope: Scope::Traced,
        check: requests::small_in_shared_files,
    },
    Rule {
        id: "misaligned",
        source: "Drishti P08",
        why: "a request that begins inside a block makes the file system read and write the whole block, \
            and two ranks may compete for it",
        when: "more than misaligned-share of the requests do not begin at a multiple of the file's block \
            size; info if they are fewer than small-count and all I/O takes less than least-seconds",
        needs: "offsets",
        scope: Scope::Traced,
        check: requests::misaligned,
    },
    Rule {
        id: "random-access-writes",
        source: "Drishti P13",
        why: "a file system cannot combine requests that do not follow each other, and disks have to seek",
        when: "more than random-share of the writes, and more than random-count, begin before the end of \
            the previous one",
        needs: "offsets",
        scope: Scope::Traced,
        check: requests::random_writes,
    },
    Rule {
        id: "random-access-reads",
        source: "Drishti P11",
        why: "read-ahead does not help where requests do not follow each other",
        when: "the same for reads",
        needs: "offsets",
        scope: Scope::Traced,
        check: requests::random_reads,
    },
    Rule {
        id: "redundant-reads",
        source: "Drishti P09",
        why: "bytes that were already read could have been kept, or read by one rank and sent to the others",
        when: "a file is read more than redundant-times over",
        needs: "files with offsets",
        scope: Scope::Traced,
        check: requests::redundant_reads,
    },
    Rule {
        id: "redundant-writes",
        source: "Drishti P10",
        why: "only the last write to a place remains",
        when: "a file is written more than redundant-times over",
        needs: "files with offsets",
        scope: Scope::Traced,
        check: requests::redundant_writes,
    },
    Rule {
        id: "rank-imbalance",
        source: "Drishti P18, P21, P22",
        why: "the job waits for the rank that moves the most",
        when: "bytes of ranks differ by more than imbalance-share; only info below collective MPI-IO, where \
               that is intended",
        needs: "ranks, or Darshan's slowest and fastest rank of shared files",
        scope: Scope::Ranks,
        check: ranks::imbalance,
    },
    Rule {
        id: "stragglers",
        source: "Drishti P19; Darshan's time variance of shared files",
        why: "the job waits for the slowest rank at its next synchronisation",
        when: "the slowest rank needs more than straggler-share longer than the average",
        needs: "times of ranks, or Darshan's slowest and fastest rank of shared files",
        scope: Scope::Ranks,
        check: ranks::stragglers,
    },
    Rule {
        id: "ranks-drift-apart",
        source: "ours",
        why: "ranks that begin their phases at different times spread the load on the file system, but a \
            late rank makes others wait",
        when: "ranks begin more than half of the last third of the phases further apart than drift-share of \
            the period, and twice as far as those of the first third",
        needs: "requests with ranks, and phases",
        scope: Scope::Ranks,
        check: ranks::drift,
    },
    Rule {
        id: "metadata-heavy",
        source: "Drishti P17",
        why: "metadata servers are few, and all jobs share them",
        when: "a rank spends more than metadata-seconds in opening, closing and similar operations; or \
            these take more than metadata-share of the I/O time and metadata-run-share of the run time",
        needs: "times of metadata operations",
        scope: Scope::Traced,
        check: usage_of_layers::metadata,
    },
    Rule {
        id: "many-files",
        source: "Darshan's file counts",
        why: "creating, opening and closing thousands of files burdens the metadata servers",
        when: "at least many-files files, and at least one for each rank",
        needs: "files",
        scope: Scope::Traced,
        check: usage_of_layers::many_files,
    },
    Rule {
        id: "stdio-heavy",
        source: "Drishti S01",
        why: "STDIO cuts everything into small requests and knows nothing about other ranks",
        when: "more than stdio-share of the bytes, and stdio-bytes of them, go through STDIO",
        needs: "layers",
        scope: Scope::Bytes,
        check: usage_of_layers::stdio,
    },
    Rule {
        id: "no-mpiio",
        source: "Drishti M01",
        why: "MPI-IO can combine the requests of ranks; POSIX cannot",
        when: "several ranks share files through POSIX with small requests, and MPI-IO is not used",
        needs: "layers",
        scope: Scope::Calls,
        check: usage_of_layers::no_mpiio,
    },
    Rule {
        id: "no-collectives-writes",
        source: "Drishti M03",
        why: "collective calls let MPI combine the requests of all ranks into a few large ones",
        when: "more than collective-count independent writes to shared files, and fewer than \
            collective-share of the calls are collective",
        needs: "MPI-IO calls",
        scope: Scope::Calls,
        check: usage_of_layers::no_collective_writes,
    },
    Rule {
        id: "no-collectives-reads",
        source: "Drishti M02",
        why: "collective calls let MPI combine the requests of all ranks into a few large ones",
        when: "the same for reads",
        needs: "MPI-IO calls",
        scope: Scope::Calls,
        check: usage_of_layers::no_collective_reads,
    },
    Rule {
        id: "could-be-nonblocking",
        source: "Drishti M06, M07",
        why: "an application that goes on computing while its data is written does not wait for it",
        when: "all MPI-IO is blocking; with a period, the finding gives the bandwidth that would hide it. \
            Always info",
        needs: "MPI-IO calls",
        scope: Scope::Calls,
        check: time::could_be_nonblocking,
    },
    Rule {
        id: "nonblocking-not-hidden",
        source: "ours (required and actual bandwidth)",
        why: "nonblocking operations are meant to save this waiting time",
        when: "ranks wait for nonblocking operations for more than hidden-share of the run time",
        needs: "our trace",
        scope: Scope::Traced,
        check: time::not_hidden,
    },
    Rule {
        id: "aggregators",
        source: "Drishti M08, M09",
        why: "aggregators on one node share its network",
        when: "the program asks for more aggregators (cb_nodes) than there are nodes",
        needs: "the hint in Darshan's metadata, and the number of nodes",
        scope: Scope::Ranks,
        check: usage_of_layers::aggregators,
    },
    Rule {
        id: "period-growing",
        source: "ours",
        why: "growing distances between phases point to work that grows, or to a file system that fills up",
        when: "the distances of the last third of the phases are more than growth-share longer than those of \
            the first, and grow all along: 80 % of all pairs of distances have the longer one later",
        needs: "at least six phases",
        scope: Scope::Phases,
        check: time::growing,
    },
    Rule {
        id: "first-phase-long",
        source: "ours",
        why: "creating files and filling caches is done once; if it takes long, it can be done in advance",
        when: "the first phase is first-times as long as the others",
        needs: "a period",
        scope: Scope::Phases,
        check: time::first_phase,
    },
    Rule {
        id: "checkpoints-too-frequent",
        source: "Young 1974, Daly 2006",
        why: "a checkpoint costs its duration every time, and saves half an interval of work at a failure",
        when: "with --mtbf: phases are more than checkpoint-times as frequent as loses least time; info if \
            that costs less than medium-share of the time",
        needs: "a period of writes and --mtbf",
        scope: Scope::Phases,
        check: checkpoints::too_frequent,
    },
    Rule {
        id: "checkpoints-too-rare",
        source: "Young 1974, Daly 2006",
        why: "all work since the last checkpoint is lost at a failure",
        when: "with --mtbf: phases are more than checkpoint-times as rare as loses least time; info if that \
            costs less than medium-share of the time",
        needs: "a period of writes and --mtbf",
        scope: Scope::Phases,
        check: checkpoints::too_rare,
    },
    Rule {
        id: "checkpoint-interval",
        source: "Young 1974, Daly 2006",
        why: "it answers the question that --mtbf asks",
        when: "with --mtbf: phases are neither too frequent nor too rare. Always info",
        needs: "a period of writes and --mtbf",
        scope: Scope::Phases,
        check: checkpoints::well_spaced,
    },
    Rule {
        id: "write-intensive",
        source: "Drishti P01, P03",
        why: "it tells which side of the file system to tune",
        when: "more bytes are written than read, by more than intensive-share",
        needs: "bytes",
        scope: Scope::Bytes,
        check: usage_of_layers::write_intensive,
    },
    Rule {
        id: "read-intensive",
        source: "Drishti P02, P04",
        why: "it tells which side of the file system to tune",
        when: "more bytes are read than written, by more than intensive-share",
        needs: "bytes",
        scope: Scope::Bytes,
        check: usage_of_layers::read_intensive,
    },
    Rule {
        id: "not-all-seen",
        source: "ours (the kernel's count of each process)",
        why: "advice holds only for what was traced",
        when: "the trace holds less than seen-share of what the processes read and wrote, is incomplete, or \
            was told to leave out layers, ranks or files (TMIO_LAYERS, TMIO_RANKS, TMIO_FILES), or \
            operations were lost",
        needs: "our trace",
        scope: Scope::Traced,
        check: usage_of_layers::not_all_seen,
    },
    Rule {
        id: "failed-operations",
        source: "ours",
        why: "a program that goes on after a failed write may lose data",
        when: "an MPI-IO call returned an error",
        needs: "our trace",
        scope: Scope::Traced,
        check: usage_of_layers::failed,
    },
];

/// How grave something is that concerns this share of the run time; unknown and short times count as little.
fn by_share(job: &Job<'_>, share: Option<f64>, thresholds: &Thresholds) -> Severity {
    let long = |share: f64| share * job.usage.run_time >= thresholds[Key::LeastSeconds];
    match share.filter(|share| long(*share)) {
        Some(share) if share >= thresholds[Key::HighShare] => Severity::High,
        Some(share) if share >= thresholds[Key::MediumShare] => Severity::Medium,
        Some(_) | None => Severity::Low,
    }
}

/// The same of a difference between ranks, of which little is no more than good to know.
fn by_difference(job: &Job<'_>, lost: f64, thresholds: &Thresholds) -> Severity {
    let share = job.of_run_time(lost);
    let little = lost < thresholds[Key::LeastSeconds]
        || share.is_none_or(|share| share < 0.5 * thresholds[Key::MediumShare]);
    if little { Severity::Info } else { by_share(job, share, thresholds) }
}

/// "3 files: a, b, c" for evidence.
fn named(files: &[String]) -> String {
    match files {
        [] => String::new(),
        [one] => format!(" ({one})"),
        several => format!(" ({} and {} more)", several[0], several.len() - 1),
    }
}

#[cfg(test)]
mod tests;
