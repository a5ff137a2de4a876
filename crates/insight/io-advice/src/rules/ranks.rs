//! Ranks that do more than others, take longer, or get out of step.

use super::{FILES, RANKS, by_difference};
use crate::amounts::{bytes, percent, seconds};
use crate::finding::{Found, Severity};
use crate::thresholds::{Key, Thresholds};
use crate::{Job, Scope};
use inspect::usage::{FileUsage, RankUsage};
use std::collections::BTreeMap;

/// What helps where MPI lets one rank write for all.
const AGGREGATORS: &str = " If the program writes collectively, one aggregator does it all: set the hint \
    cb_nodes to the number of nodes (MPICH_MPIIO_HINTS='*:cb_nodes=8', or MPI_Info_set(info, \"cb_nodes\", \
    \"8\")).";

/// Less of the run time than this is not worth a word.
const NOTHING: f64 = 0.01;

/// Is most of the MPI-IO collective? In such a call ranks wait for each other, so that the late one spends
/// least time in it; and below it few ranks write for all. Unless it is one rank that does it all.
fn is_collective(job: &Job<'_>) -> bool {
    let below = job.usage.layer.as_deref() == Some("posix");
    let one_does_most = job.usage.files.iter().any(|file| {
        let most = file.slowest.map_or(0, |(_, _, bytes)| bytes) as f64;
        file.ranks > Some(4) && most > 0.5 * file.bytes() as f64 && file.bytes() as f64 > 0.1 * total(job)
    });
    let collective = |mpiio: &inspect::usage::MpiIo| {
        let all = mpiio.collective_reads + mpiio.collective_writes;
        all > mpiio.independent_reads + mpiio.independent_writes
    };
    job.usage.mpiio.as_ref().is_some_and(collective) && !(below && one_does_most)
}

/// Are the ranks programs of their own, such as the commands of a script? They are not expected to be alike,
/// and nobody waits for the slowest.
fn are_programs(job: &Job<'_>) -> bool {
    !job.summary.processes.is_empty()
}

pub fn imbalance(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    if are_programs(job) {
        return None;
    }
    let mut found = between_ranks(job, thresholds).or_else(|| in_shared_files(job, thresholds))?;
    if is_collective(job) && job.usage.layer.as_deref() == Some("posix") {
        found.severity = Some(Severity::Info);
        found.evidence += "; collective MPI-IO writes through few ranks, so this is intended";
    }
    Some(found)
}

fn between_ranks(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let ranks = &job.usage.by_rank;
    let most = ranks.iter().max_by_key(|rank| rank.bytes()).filter(|rank| rank.bytes() > 0)?;
    let least = ranks.iter().min_by_key(|rank| rank.bytes())?;
    let share = (most.bytes() - least.bytes()) as f64 / most.bytes() as f64;
    if ranks.len() < 2 || share <= thresholds[Key::ImbalanceShare] {
        return None;
    }
    let mut by_bytes: Vec<&RankUsage> = ranks.iter().filter(|rank| rank.bytes() > 0).collect();
    by_bytes.sort_by_key(|rank| std::cmp::Reverse(rank.bytes()));
    let lost = waited(ranks, most);
    let (active, all) = (by_bytes.len(), ranks.len());
    let title = if active < all {
        format!("{active} of {all} ranks do all the I/O")
    } else {
        format!("bytes of ranks differ by {}", percent(share))
    };
    Some(Found {
        severity: Some(by_difference(job, lost, thresholds)),
        title,
        evidence: format!(
            "rank {} moves {}, rank {} {}; ranks wait {} for the busiest on average",
            most.rank,
            bytes(most.bytes() as f64),
            least.rank,
            bytes(least.bytes() as f64),
            seconds(lost)
        ),
        advice: "Divide the data evenly, or let MPI do so: collective calls with as many aggregators as \
            nodes (hint cb_nodes), instead of gathering everything on one rank."
            .into(),
        numbers: BTreeMap::from([
            ("most_bytes", most.bytes() as f64),
            ("least_bytes", least.bytes() as f64),
            ("share", share),
            ("active_ranks", active as f64),
            ("seconds_lost", lost),
        ]),
        files: Vec::new(),
        ranks: by_bytes.iter().take(RANKS).map(|rank| rank.rank).collect(),
    })
}

/// Seconds that an average rank has less to do than this one.
fn waited(ranks: &[RankUsage], busiest: &RankUsage) -> f64 {
    let mean = ranks.iter().map(RankUsage::time).sum::<f64>() / ranks.len() as f64;
    (busiest.time() - mean).max(0.0)
}

/// Darshan tells of shared files the slowest and the fastest rank.
fn in_shared_files(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let difference = |file: &FileUsage| {
        let ((_, _, slow), (_, _, fast)) = (file.slowest?, file.fastest?);
        let most = slow.max(fast);
        (most > 0).then(|| slow.abs_diff(fast) as f64 / most as f64)
    };
    let uneven = |file: &&FileUsage| {
        difference(file).is_some_and(|share| share > thresholds[Key::ImbalanceShare])
            && file.bytes() as f64 > 0.01 * total(job)
    };
    let files: Vec<&FileUsage> = job.usage.files.iter().filter(uneven).collect();
    let worst = files.first()?;
    let ((slow, slow_time, slow_bytes), (fast, fast_time, fast_bytes)) = (worst.slowest?, worst.fastest?);
    let share = difference(worst)?;
    Some(Found {
        severity: Some(by_difference(job, (slow_time - fast_time).max(0.0), thresholds)),
        title: format!("bytes of ranks in shared files differ by {}", percent(share)),
        evidence: format!(
            "in {}, rank {slow} (the slowest) moves {}, rank {fast} (the fastest) {}",
            worst.name,
            bytes(slow_bytes as f64),
            bytes(fast_bytes as f64)
        ),
        advice: "Divide the data of the file evenly over the ranks, or use collective calls \
            (MPI_File_write_at_all), which redistribute it."
            .into(),
        numbers: BTreeMap::from([
            ("share", share),
            ("slowest_bytes", slow_bytes as f64),
            ("fastest_bytes", fast_bytes as f64),
        ]),
        files: files.iter().take(FILES).map(|file| file.name.clone()).collect(),
        ranks: vec![slow],
    })
}

fn total(job: &Job<'_>) -> f64 {
    job.usage.files.iter().map(|file| file.bytes() as f64).sum()
}

pub fn stragglers(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    if are_programs(job) {
        return None;
    }
    let ranks = &job.usage.by_rank;
    let timed = ranks.len() >= 2 && ranks.iter().any(|rank| rank.time() > 0.0);
    let found = if timed { slow_ranks(job, thresholds) } else { slow_in_shared_files(job, thresholds) };
    let mut found = found?;
    if is_collective(job) {
        found.severity = Some(Severity::Info);
        found.evidence += "; the calls are collective, in which ranks wait for each other";
    }
    Some(found)
}

fn slow_ranks(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let ranks = &job.usage.by_rank;
    let mean = ranks.iter().map(RankUsage::time).sum::<f64>() / ranks.len() as f64;
    let slowest = ranks.iter().max_by(|a, b| a.time().total_cmp(&b.time()))?;
    let lost = slowest.time() - mean;
    let share = lost / slowest.time();
    let of_run = job.of_run_time(lost)?;
    // Ranks that have more to do are another finding, and a millisecond is none.
    let works_more = slowest.bytes() as f64 > 1.3 * mean_bytes(ranks);
    if share <= thresholds[Key::StragglerShare] || works_more || of_run < NOTHING {
        return None;
    }
    let mut slow: Vec<&RankUsage> = ranks.iter().filter(|rank| rank.time() - mean > lost / 2.0).collect();
    slow.sort_by(|a, b| b.time().total_cmp(&a.time()));
    Some(Found {
        severity: Some(by_difference(job, lost, thresholds)),
        title: format!("rank {} needs {} longer than the average", slowest.rank, seconds(lost)),
        evidence: format!(
            "rank {} spends {} in I/O, an average rank {}, with as many bytes: {} of the run time",
            slowest.rank,
            seconds(slowest.time()),
            seconds(mean),
            percent(of_run)
        ),
        advice: "Look at the nodes of these ranks (network, local load) and at the servers that their data \
            is on; on Lustre, lfs getstripe FILE tells. If it is always the first rank, it may write what \
            others send it: use collective calls."
            .into(),
        numbers: BTreeMap::from([
            ("slowest_seconds", slowest.time()),
            ("mean_seconds", mean),
            ("share_of_run_time", of_run),
        ]),
        files: Vec::new(),
        ranks: slow.iter().take(RANKS).map(|rank| rank.rank).collect(),
    })
}

fn mean_bytes(ranks: &[RankUsage]) -> f64 {
    ranks.iter().map(|rank| rank.bytes() as f64).sum::<f64>() / ranks.len().max(1) as f64
}

fn slow_in_shared_files(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let difference = |file: &FileUsage| {
        let ((_, slow, _), (_, fast, _)) = (file.slowest?, file.fastest?);
        (slow > 0.0).then(|| ((slow - fast) / slow, slow - fast))
    };
    let late = |file: &&FileUsage| {
        difference(file).is_some_and(|(share, lost)| {
            let of_run = job.of_run_time(lost).unwrap_or(0.0);
            share > thresholds[Key::StragglerShare] && of_run >= NOTHING
        })
    };
    let mut files: Vec<&FileUsage> = job.usage.files.iter().filter(late).collect();
    files.sort_by(|a, b| {
        let lost = |file: &FileUsage| difference(file).map_or(0.0, |(_, lost)| lost);
        lost(b).total_cmp(&lost(a))
    });
    let worst = files.first()?;
    let ((slow, slow_time, _), (fast, fast_time, _)) = (worst.slowest?, worst.fastest?);
    let (share, lost) = difference(worst)?;
    Some(Found {
        severity: Some(by_difference(job, lost, thresholds)),
        title: format!("times of ranks in shared files differ by {}", percent(share)),
        evidence: format!(
            "in {}, rank {slow} needs {}, rank {fast} {}",
            worst.name,
            seconds(slow_time),
            seconds(fast_time)
        ),
        advice: "Divide the work on the file evenly, use collective calls, and more stripes (lfs setstripe \
            -c -1), so that ranks do not queue for one server."
            .to_owned()
            + AGGREGATORS,
        numbers: BTreeMap::from([
            ("share", share),
            ("slowest_seconds", slow_time),
            ("fastest_seconds", fast_time),
        ]),
        files: files.iter().take(FILES).map(|file| file.name.clone()).collect(),
        ranks: vec![slow],
    })
}

pub fn drift(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    if are_programs(job) {
        return None;
    }
    let period = job.detection?.period.filter(|_| job.tells(Scope::Phases, thresholds))?;
    let spread = job.spread;
    let third = spread.len() / 3;
    if third < 2 {
        return None;
    }
    // Of half of the phases and more: a single late rank, or two phases that touch, are no drift.
    let in_order = |part: &[f64]| {
        let mut part = part.to_vec();
        part.sort_by(f64::total_cmp);
        part
    };
    let (first, last) = (in_order(&spread[..third]), in_order(&spread[spread.len() - third..]));
    let (first, last) = (first[third / 2], last[(third - 1) / 2]);
    if last <= thresholds[Key::DriftShare] * period || last <= 2.0 * first {
        return None;
    }
    Some(Found {
        severity: Some(Severity::Low),
        title: format!("ranks begin phases {} apart, and drift further apart", seconds(last)),
        evidence: format!(
            "ranks began half of the first phases {} apart, half of the last ones {}: {} of the period",
            seconds(first),
            seconds(last),
            percent(last / period)
        ),
        advice:
            "If all data is needed at once (a checkpoint), synchronise before the phase (MPI_Barrier) or \
            write collectively. If not, it is good for the file system: leave it."
                .into(),
        numbers: BTreeMap::from([
            ("first_seconds", first),
            ("last_seconds", last),
            ("share_of_period", last / period),
        ]),
        ..Found::default()
    })
}
