//! What the period and its phases tell.

use super::by_share;
use crate::Job;
use crate::amounts::{bytes, count, percent, rate, seconds};
use crate::finding::{Found, Severity};
use crate::thresholds::{Key, Thresholds};
use ftio_core::detect::detection::Detection;
use statistics::upper_median;
use std::collections::BTreeMap;

pub fn could_be_nonblocking(job: &Job<'_>, _: &Thresholds) -> Option<Found> {
    let mpiio = job.usage.mpiio.as_ref()?;
    let blocking =
        mpiio.collective_reads + mpiio.collective_writes + mpiio.independent_reads + mpiio.independent_writes;
    if mpiio.nonblocking_reads + mpiio.nonblocking_writes > 0 || blocking == 0 {
        return None;
    }
    let io_share = job.cost_share();
    let mut found = Found {
        // A chance, and no fault; and there may be nothing to compute meanwhile.
        severity: Some(Severity::Info),
        title: "all MPI-IO is blocking".into(),
        evidence: format!(
            "{} blocking calls and no nonblocking one{}",
            count(blocking),
            io_share
                .map(|share| format!("; ranks spend up to {} of the run time in I/O", percent(share)))
                .unwrap_or_default()
        ),
        advice: "Issue the I/O and go on computing: MPI_File_iwrite_at_all (or MPI_File_iwrite_at), from a \
            buffer that is not changed until MPI_Wait before the next phase; in HDF5, the asynchronous VOL \
            connector (H5Dwrite_async)."
            .into(),
        numbers: BTreeMap::from([("blocking_calls", blocking as f64)]),
        ..Found::default()
    };
    found.numbers.extend(io_share.map(|share| ("io_share", share)));
    // What only a period tells: how slow the I/O could be and still be hidden.
    if let Some((detection, period)) = job.detection.and_then(|found| Some((found, found.period?)))
        && let Some(volume) = detection.characterization.bytes_per_period
        && let Some(busy) = busy_share(detection, period)
        && busy < 1.0
    {
        let enough = volume / (period * (1.0 - busy));
        found.title = format!("nonblocking I/O at {} would hide every phase", rate(enough));
        found.evidence = format!(
            "every {}, {} of the time: {} a phase; nonblocking {} of {} at {} would hide all of it ({})",
            seconds(period),
            percent(busy),
            bytes(volume),
            if detection.mode.name().starts_with("read") { "reads" } else { "writes" },
            bytes(volume),
            rate(enough),
            found.evidence
        );
        found.numbers.extend([("period", period), ("bytes_per_phase", volume), ("hiding_bandwidth", enough)]);
    }
    Some(found)
}

/// The share of a period in which phases are under way.
fn busy_share(detection: &Detection, period: f64) -> Option<f64> {
    if detection.phases.is_empty() {
        return None;
    }
    let length = upper_median(detection.phases.iter().map(|phase| phase.end - phase.start));
    Some((length / period).clamp(0.0, 1.0))
}

pub fn not_hidden(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let waited: f64 = job.usage.by_rank.iter().map(|rank| rank.wait_time).sum();
    let ranks = job.usage.by_rank.len().max(1) as f64;
    let share = job.of_run_time(waited / ranks)?;
    if share <= thresholds[Key::HiddenShare] {
        return None;
    }
    let classes = [("writes", &job.summary.write_async), ("reads", &job.summary.read_async)];
    let of = classes.iter().filter(|(_, class)| class.class.ops > 0).map(|(what, class)| {
        let rate_of = |value: Option<f64>| value.map_or("unknown".into(), rate);
        format!(
            "{what} need {} to be hidden and get {}",
            rate_of(class.required_bandwidth),
            rate_of(class.actual_bandwidth)
        )
    });
    let details: Vec<String> = of.collect();
    Some(Found {
        severity: Some(by_share(job, Some(share), thresholds)),
        title: format!(
            "ranks{} wait {} of the run time for nonblocking I/O",
            job.of_those_traced(thresholds),
            percent(share)
        ),
        evidence: format!("{} of waiting over all ranks; {}", seconds(waited), details.join("; ")),
        advice: "Issue earlier or wait later; test now and then while computing (MPI_Test), because many \
            MPIs only make progress inside calls; or give MPI a thread of its own (MPICH_ASYNC_PROGRESS=1; \
            Open MPI: a helper thread that calls MPI_Test)."
            .into(),
        numbers: BTreeMap::from([("seconds_waited", waited), ("share_of_run_time", share)]),
        ..Found::default()
    })
}

pub fn growing(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let detection = job.detection?;
    detection.period?;
    let starts: Vec<f64> = detection.phases.iter().map(|phase| phase.start).collect();
    let distances: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let third = distances.len() / 3;
    if distances.len() < 6 {
        return None;
    }
    let first = upper_median(distances[..third].iter().copied());
    let last = upper_median(distances[distances.len() - third..].iter().copied());
    let growth = last / first - 1.0;
    if growth <= thresholds[Key::GrowthShare] || later_are_longer(&distances) < STEADY {
        return None;
    }
    Some(Found {
        severity: Some(Severity::Medium),
        title: format!("the period grows by {}", percent(growth)),
        evidence: format!("phases are {} apart at first and {} at the end", seconds(first), seconds(last)),
        advice: "See whether phases or pauses get longer (ftio --csv=phases): longer phases point to a file \
            system that fills up or a file that is read again and again, longer pauses to computation that \
            grows."
            .into(),
        numbers: BTreeMap::from([("first_seconds", first), ("last_seconds", last), ("growth", growth)]),
        ..Found::default()
    })
}

/// A distance that jumps once, in the middle, makes three quarters of the pairs longer later on; noise a
/// half.
const STEADY: f64 = 0.8;

/// The share of pairs of distances of which the later one is the longer one (as in Kendall's tau). It says
/// how steadily they grow, and neither a single pause nor the noise between neighbours changes it much.
fn later_are_longer(distances: &[f64]) -> f64 {
    let pairs = distances.len() * distances.len().saturating_sub(1) / 2;
    let longer = |(i, one): (usize, &f64)| distances[i + 1..].iter().filter(|later| *later > one).count();
    distances.iter().enumerate().map(longer).sum::<usize>() as f64 / pairs.max(1) as f64
}

pub fn first_phase(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let first = job.detection?.first_phase?;
    let others = (first.end - first.start) / first.times_as_long.max(f64::MIN_POSITIVE);
    let extra = first.end - first.start - others;
    if first.times_as_long < thresholds[Key::FirstTimes] || first.times_as_large >= 0.8 * first.times_as_long
    {
        return None;
    }
    let share = job.of_run_time(extra);
    let small = share.is_none_or(|share| share < thresholds[Key::MediumShare]);
    Some(Found {
        severity: Some(if small { Severity::Info } else { Severity::Low }),
        title: format!("the first phase is {:.1} times as long as the others", first.times_as_long),
        evidence: format!(
            "it takes {} for {}, the others {}",
            seconds(first.end - first.start),
            bytes(first.bytes),
            seconds(others)
        ),
        advice: "Create files before they are needed and keep them open; preallocate them \
            (MPI_File_preallocate), or set their stripes beforehand (lfs setstripe)."
            .into(),
        numbers: BTreeMap::from([("times_as_long", first.times_as_long), ("extra_seconds", extra)]),
        ..Found::default()
    })
}
