//! Sizes, order and alignment of requests.

use super::{FILES, by_share, named};
use crate::Job;
use crate::amounts::{bytes, count, counted, percent, size};
use crate::finding::{Found, Severity};
use crate::thresholds::{Key, Thresholds};
use inspect::usage::{Access, FileUsage};
use std::collections::BTreeMap;

const COLLECTIVE: &str = "Gather what is written in memory first, or let MPI do it: collective calls \
    (MPI_File_write_at_all for MPI_File_write_at) with the hints romio_cb_write=enable and \
    cb_buffer_size=16777216; in HDF5, H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE) and larger chunks \
    (H5Pset_chunk); in C, setvbuf(file, NULL, _IOFBF, 1 << 20).";

pub fn small_writes(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let small_file = |file: &FileUsage| file.write.ops > 0;
    small(job, thresholds, &job.usage.writes, "writes", COLLECTIVE, &small_file)
}

pub fn small_reads(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let advice = "Read larger pieces and keep them, or let MPI combine the requests: collective calls \
        (MPI_File_read_at_all) with the hint romio_cb_read=enable; in HDF5, H5Pset_all_coll_metadata_ops and \
        a larger chunk cache (H5Pset_chunk_cache).";
    let small_file = |file: &FileUsage| file.read.ops > 0;
    small(job, thresholds, &job.usage.reads, "reads", advice, &small_file)
}

fn small(
    job: &Job<'_>,
    thresholds: &Thresholds,
    access: &Access,
    what: &str,
    advice: &str,
    of_direction: &dyn Fn(&FileUsage) -> bool,
) -> Option<Found> {
    let small = access.small_independent?;
    let share = small as f64 / access.ops.max(1) as f64;
    if share <= thresholds[Key::SmallShare] || (small as f64) <= thresholds[Key::SmallCount] {
        return None;
    }
    let mut files: Vec<&FileUsage> =
        job.usage.files.iter().filter(|file| file.small > Some(0) && of_direction(file)).collect();
    files.sort_by_key(|file| std::cmp::Reverse(file.small));
    let files: Vec<String> = files.iter().take(FILES).map(|file| file.name.clone()).collect();
    let common = access.common.first().map_or(String::new(), |common| {
        format!("; the most common size is {} ({} times)", size(common.size), count(common.count))
    });
    Some(Found {
        severity: Some(by_share(job, job.io_share(), thresholds)),
        title: format!(
            "{} small {what}, {} of all {what}{}",
            count(small),
            percent(share),
            job.of_those_traced(thresholds)
        ),
        evidence: format!(
            "{} of {} {what} have at most 1 MiB{common}{}",
            count(small),
            count(access.ops),
            named(&files)
        ),
        advice: advice.into(),
        numbers: BTreeMap::from([("small", small as f64), ("requests", access.ops as f64), ("share", share)]),
        files,
        ranks: Vec::new(),
    })
}

pub fn small_in_shared_files(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let of = |file: &&FileUsage| {
        let ops = file.read.ops.saturating_add(file.write.ops);
        let small = file.small.unwrap_or(0) as f64;
        file.ranks > Some(1)
            && small > thresholds[Key::SmallCount]
            && small > thresholds[Key::SmallShare] * ops as f64
    };
    let files: Vec<&FileUsage> = job.usage.files.iter().filter(of).collect();
    let small: u64 = files.iter().filter_map(|file| file.small).sum();
    let worst = files.iter().max_by_key(|file| file.small)?;
    let names: Vec<String> = files.iter().take(FILES).map(|file| file.name.clone()).collect();
    Some(Found {
        severity: Some(by_share(job, job.io_share(), thresholds)),
        title: format!("{} small requests to files that ranks share", count(small)),
        evidence: format!(
            "{} small requests to {}; most to {}: {}",
            count(small),
            counted(files.len() as u64, "shared file"),
            worst.name,
            count(worst.small.unwrap_or(0))
        ),
        advice: "Use collective MPI-IO (MPI_File_write_at_all, MPI_File_read_at_all), so that a few ranks \
            write large contiguous pieces for all."
            .into(),
        numbers: BTreeMap::from([("small", small as f64), ("files", files.len() as f64)]),
        files: names,
        ranks: Vec::new(),
    })
}

pub fn misaligned(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let (reads, writes) = (&job.usage.reads, &job.usage.writes);
    let placed = |access: &Access| if access.placed > 0 { access.placed } else { access.ops };
    let misaligned = reads.misaligned.unwrap_or(0) + writes.misaligned.unwrap_or(0);
    let all = reads.misaligned.map_or(0, |_| placed(reads)) + writes.misaligned.map_or(0, |_| placed(writes));
    let share = misaligned as f64 / all.max(1) as f64;
    if all == 0 || share <= thresholds[Key::MisalignedShare] {
        return None;
    }
    let block = writes.alignment.or(reads.alignment);
    let systems = &job.usage.file_systems;
    let lustre = systems.iter().any(|system| system.contains("lustre"));
    let mut advice = "Begin every rank's data at a multiple of the block: in HDF5, H5Pset_alignment(fapl, 1 \
        << 20, 1 << 20); in PnetCDF, the hint nc_var_align_size; in MPI-IO, pad the records of ranks, or use \
        collective calls with the hints striping_unit and cb_buffer_size a multiple of it."
        .to_owned();
    if lustre {
        advice += " On Lustre, give the file stripes of that size before it is written: lfs setstripe -S 4M \
            -c -1 FILE.";
    }
    let seconds = job.io_share().unwrap_or(0.0) * job.usage.run_time;
    let few = (misaligned as f64) < thresholds[Key::SmallCount] && seconds < thresholds[Key::LeastSeconds];
    let severity = if few { Severity::Info } else { by_share(job, job.io_share(), thresholds) };
    Some(Found {
        severity: Some(severity),
        title: format!(
            "{} of the requests{} are misaligned",
            percent(share),
            job.of_those_traced(thresholds)
        ),
        evidence: format!(
            "{} of {} requests do not begin at a multiple of {}",
            count(misaligned),
            count(all),
            block.map_or("the block of the file system".into(), size)
        ),
        advice,
        numbers: BTreeMap::from([
            ("misaligned", misaligned as f64),
            ("requests", all as f64),
            ("share", share),
            ("alignment", block.unwrap_or(0) as f64),
        ]),
        ..Found::default()
    })
}

pub fn random_writes(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    random(job, thresholds, &job.usage.writes, "writes")
}

pub fn random_reads(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    random(job, thresholds, &job.usage.reads, "reads")
}

fn random(job: &Job<'_>, thresholds: &Thresholds, access: &Access, what: &str) -> Option<Found> {
    let random = access.random();
    let share = random as f64 / access.placed.max(1) as f64;
    if share <= thresholds[Key::RandomShare] || (random as f64) <= thresholds[Key::RandomCount] {
        return None;
    }
    Some(Found {
        severity: Some(by_share(job, job.io_share(), thresholds)),
        title: format!(
            "{} of the {what}{} go back in the file",
            percent(share),
            job.of_those_traced(thresholds)
        ),
        evidence: format!(
            "{} of {} {what} begin before the end of the previous one; {} follow directly",
            count(random),
            count(access.placed),
            count(access.consecutive)
        ),
        advice: format!(
            "Sort the {what} by offset before they are made, or describe all of them at once: a file view \
             (MPI_File_set_view with MPI_Type_create_hindexed) and one collective call lets MPI sort them."
        ),
        numbers: BTreeMap::from([
            ("random", random as f64),
            ("requests", access.placed as f64),
            ("share", share),
        ]),
        ..Found::default()
    })
}

pub fn redundant_reads(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let advice = "Keep what was read, or read it on one rank and send it to the others (MPI_Bcast).";
    redundant(job, thresholds, "read", advice, &|file| file.read.bytes)
}

pub fn redundant_writes(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let advice = "Write each part once, when it is final; checkpoints that replace each other are best \
        written to files of their own in turn, so that a complete one is left after a failure.";
    redundant(job, thresholds, "written", advice, &|file| file.write.bytes)
}

fn redundant(
    job: &Job<'_>,
    thresholds: &Thresholds,
    done: &str,
    advice: &str,
    moved: &dyn Fn(&FileUsage) -> u64,
) -> Option<Found> {
    let times = |file: &FileUsage| file.extent.map(|extent| moved(file) as f64 / extent.max(1) as f64);
    let again = |file: &&FileUsage| {
        times(file).is_some_and(|times| times >= thresholds[Key::RedundantTimes]) && moved(file) > MIN_BYTES
    };
    let mut files: Vec<&FileUsage> = job.usage.files.iter().filter(again).collect();
    files.sort_by_key(|file| std::cmp::Reverse(moved(file)));
    let worst = files.first()?;
    let wasted: u64 = files
        .iter()
        .map(|file| moved(file).saturating_sub(file.extent.unwrap_or(0)))
        .fold(0, u64::saturating_add);
    let all: u64 = job.usage.files.iter().map(moved).fold(0, u64::saturating_add);
    let share = wasted as f64 / all.max(1) as f64;
    let severity = if share < 0.1 { Severity::Info } else { by_share(job, job.io_share(), thresholds) };
    Some(Found {
        // A checkpoint that is written over and over is meant to be.
        severity: Some(if done == "written" { severity.min(Severity::Info) } else { severity }),
        title: format!(
            "{} of the bytes {done}{} were {done} before",
            percent(share),
            job.of_those_traced(thresholds)
        ),
        evidence: format!(
            "{} {done} over and over; {} {} times: {} of {}",
            counted(files.len() as u64, "file"),
            worst.name,
            times(worst).unwrap_or(0.0).round(),
            bytes(moved(worst) as f64),
            bytes(worst.extent.unwrap_or(0) as f64)
        ),
        advice: advice.into(),
        numbers: BTreeMap::from([
            ("wasted_bytes", wasted as f64),
            ("share", share),
            ("files", files.len() as f64),
        ]),
        files: files.iter().take(FILES).map(|file| file.name.clone()).collect(),
        ranks: Vec::new(),
    })
}

/// Fewer bytes are a header that is read again.
const MIN_BYTES: u64 = 64 << 20;
