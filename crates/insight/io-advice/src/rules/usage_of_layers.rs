//! Layers, files, metadata, and what was not seen.

use super::{FILES, RANKS, by_share};
use crate::amounts::{bytes, count, counted, percent, seconds};
use crate::finding::{Found, Severity};
use crate::thresholds::{Key, Thresholds};
use crate::{Job, Scope};
use inspect::usage::{LayerUsage, RankUsage};
use std::collections::BTreeMap;

fn chosen<'a>(job: &Job<'a>) -> Option<&'a LayerUsage> {
    job.usage.layers.get(job.usage.layer.as_deref()?)
}

pub fn metadata(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let layer = chosen(job)?;
    let all = layer.read.time + layer.write.time + layer.meta.time;
    let ranks = f64::from(job.usage.ranks.unwrap_or(1).max(1));
    let share = layer.meta.time / all.max(f64::MIN_POSITIVE);
    let of_run = job.of_run_time(layer.meta.time / ranks).unwrap_or(0.0);
    let mut slow: Vec<&RankUsage> =
        job.usage.by_rank.iter().filter(|rank| rank.meta_time > thresholds[Key::MetadataSeconds]).collect();
    slow.sort_by(|a, b| b.meta_time.total_cmp(&a.meta_time));
    let long_in_one = job
        .usage
        .files
        .iter()
        .filter(|file| file.ranks == Some(1))
        .any(|file| file.meta.time > thresholds[Key::MetadataSeconds]);
    // Requests that are missing would make the share smaller.
    let whole = job.tells(Scope::Bytes, thresholds);
    let much = whole && share > thresholds[Key::MetadataShare] && of_run > thresholds[Key::MetadataRunShare];
    if slow.is_empty() && !long_in_one && !much {
        return None;
    }
    let mut files: Vec<_> = job.usage.files.iter().filter(|file| file.meta.time > 0.0).collect();
    files.sort_by(|a, b| b.meta.time.total_cmp(&a.meta.time));
    Some(Found {
        severity: Some(match slow.is_empty() {
            true if layer.meta.time / ranks < thresholds[Key::LeastSeconds] => Severity::Info,
            true => by_share(job, Some(of_run), thresholds),
            false => Severity::High,
        }),
        title: if whole {
            format!("metadata takes {} of the I/O time", percent(share))
        } else {
            format!("metadata takes {} in all ranks that were traced", seconds(layer.meta.time))
        },
        evidence: format!(
            "{} in {} metadata operations over all ranks{}; {} spend more than {}",
            seconds(layer.meta.time),
            count(layer.meta.ops),
            if whole { format!(", {} of the run time", percent(of_run)) } else { String::new() },
            counted(slow.len() as u64, "rank"),
            seconds(thresholds[Key::MetadataSeconds])
        ),
        advice: "Open files once and keep them open; let one rank open or stat and tell the others \
            (MPI_Bcast), or open collectively (MPI_File_open); in HDF5, H5Pset_all_coll_metadata_ops(fapl, \
            1) and H5Pset_coll_metadata_write(fapl, 1); write one shared file instead of one for each rank."
            .into(),
        numbers: BTreeMap::from([
            ("metadata_seconds", layer.meta.time),
            ("operations", layer.meta.ops as f64),
            ("share_of_io_time", share),
            ("share_of_run_time", of_run),
        ]),
        files: files.iter().take(FILES).map(|file| file.name.clone()).collect(),
        ranks: slow.iter().take(RANKS).map(|rank| rank.rank).collect(),
    })
}

pub fn many_files(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let files = job.usage.files.len();
    let ranks = job.usage.ranks? as usize;
    if (files as f64) < thresholds[Key::ManyFiles] || files < ranks {
        return None;
    }
    let single = job.usage.files.iter().filter(|file| file.ranks == Some(1)).count();
    // Other ranks may have used them as well, and others more files.
    let whole = job.tells(Scope::Bytes, thresholds);
    let used = format!("; {} are used by one rank each", count(single as u64));
    Some(Found {
        severity: Some(Severity::Low),
        title: format!("{}{} files", if whole { "" } else { "at least " }, count(files as u64)),
        evidence: format!(
            "{} files for {ranks} ranks{}",
            count(files as u64),
            if whole { used.as_str() } else { "" }
        ),
        advice: "Write one file, or one for each node, with MPI-IO, HDF5 or ADIOS2 instead of one for each \
            rank and step."
            .into(),
        numbers: BTreeMap::from([("files", files as f64), ("files_of_one_rank", single as f64)]),
        ..Found::default()
    })
}

pub fn stdio(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let stdio = job.usage.layers.get("stdio")?.bytes() as f64;
    let posix = job.usage.layers.get("posix").map_or(0.0, |layer| layer.bytes() as f64);
    let share = stdio / (stdio + posix).max(1.0);
    if share <= thresholds[Key::StdioShare] || stdio < thresholds[Key::StdioBytes] {
        return None;
    }
    let severity = by_share(job, job.io_share(), thresholds);
    Some(Found {
        severity: Some(severity),
        title: format!("{} of the bytes go through STDIO", percent(share)),
        evidence: format!("{} through STDIO, {} through POSIX", bytes(stdio), bytes(posix)),
        advice:
            "Use MPI-IO, HDF5, or at least write() with large buffers for data; keep fprintf for messages."
                .into(),
        numbers: BTreeMap::from([("stdio_bytes", stdio), ("posix_bytes", posix), ("share", share)]),
        ..Found::default()
    })
}

pub fn no_mpiio(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let layers = &job.usage.layers;
    if layers.contains_key("mpiio") || !layers.contains_key("posix") || job.usage.ranks? < 2 {
        return None;
    }
    let small = |file: &&inspect::usage::FileUsage| {
        file.ranks > Some(1) && file.small.unwrap_or(0) as f64 > thresholds[Key::SmallCount]
    };
    let files: Vec<String> = job.usage.files.iter().filter(small).map(|file| file.name.clone()).collect();
    if files.is_empty() {
        return None;
    }
    Some(Found {
        severity: Some(Severity::Low),
        title: "ranks share files without MPI-IO".into(),
        evidence: format!("{} files are shared through POSIX with many small requests", files.len()),
        advice: "Open shared files with MPI_File_open and use collective calls, or a library that does \
            (HDF5, PnetCDF, ADIOS2)."
            .into(),
        numbers: BTreeMap::from([("files", files.len() as f64)]),
        files: files.into_iter().take(FILES).collect(),
        ranks: Vec::new(),
    })
}

pub fn no_collective_writes(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let mpiio = job.usage.mpiio.as_ref()?;
    collectives(job, thresholds, mpiio.independent_writes, mpiio.collective_writes, "write")
}

pub fn no_collective_reads(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let mpiio = job.usage.mpiio.as_ref()?;
    collectives(job, thresholds, mpiio.independent_reads, mpiio.collective_reads, "read")
}

fn collectives(
    job: &Job<'_>,
    thresholds: &Thresholds,
    independent: u64,
    collective: u64,
    verb: &str,
) -> Option<Found> {
    let share = collective as f64 / (independent + collective).max(1) as f64;
    let shared = job.usage.files.iter().any(|file| file.ranks > Some(1));
    if !shared
        || independent as f64 <= thresholds[Key::CollectiveCount]
        || share >= thresholds[Key::CollectiveShare]
    {
        return None;
    }
    let files = job.usage.files.iter().filter(|file| file.ranks > Some(1)).take(FILES);
    Some(Found {
        severity: Some(by_share(job, job.io_share(), thresholds)),
        title: format!("{} of the MPI-IO {verb}s are collective", percent(share)),
        evidence: format!(
            "{} independent {verb}s and {} collective ones",
            count(independent),
            count(collective)
        ),
        advice: format!(
            "Replace MPI_File_{verb} and MPI_File_{verb}_at by MPI_File_{verb}_all and \
                MPI_File_{verb}_at_all (all ranks of the communicator must call them), with the hint \
                romio_cb_{verb}=enable; in HDF5, H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE)."
        ),
        numbers: BTreeMap::from([
            ("independent", independent as f64),
            ("collective", collective as f64),
            ("share", share),
        ]),
        files: files.map(|file| file.name.clone()).collect(),
        ranks: Vec::new(),
    })
}

pub fn aggregators(job: &Job<'_>, _: &Thresholds) -> Option<Found> {
    let aggregators = job.usage.mpiio.as_ref()?.aggregators?;
    let nodes = job.usage.nodes?;
    if aggregators <= nodes {
        return None;
    }
    Some(Found {
        severity: Some(Severity::Low),
        title: format!("{aggregators} aggregators on {nodes} nodes"),
        evidence: format!("the hint cb_nodes is {aggregators}, and the job has {nodes} nodes"),
        advice: format!("Set the hint cb_nodes={nodes}: one aggregator on each node."),
        numbers: BTreeMap::from([("aggregators", f64::from(aggregators)), ("nodes", f64::from(nodes))]),
        ..Found::default()
    })
}

pub fn write_intensive(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let (read, written) = (job.usage.reads.bytes, job.usage.writes.bytes);
    intensive(thresholds, written, read, "written", "read")
}

pub fn read_intensive(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let (read, written) = (job.usage.reads.bytes, job.usage.writes.bytes);
    intensive(thresholds, read, written, "read", "written")
}

fn intensive(thresholds: &Thresholds, more: u64, less: u64, done: &str, other: &str) -> Option<Found> {
    let all = more.saturating_add(less);
    if all == 0 || more <= less || (more - less) as f64 / all as f64 <= thresholds[Key::IntensiveShare] {
        return None;
    }
    let share = more as f64 / all as f64;
    Some(Found {
        severity: Some(Severity::Info),
        title: format!("{} of the bytes are {done}", percent(share)),
        evidence: format!("{} {done}, {} {other}", bytes(more as f64), bytes(less as f64)),
        advice: "Nothing to do; it tells which advice matters.".into(),
        numbers: BTreeMap::from([("more_bytes", more as f64), ("less_bytes", less as f64), ("share", share)]),
        ..Found::default()
    })
}

pub fn not_all_seen(job: &Job<'_>, thresholds: &Thresholds) -> Option<Found> {
    let coverage = &job.summary.coverage;
    let (traced, past) = job.seen_and_past();
    let seen = past.map(|past| traced as f64 / (traced.saturating_add(past) as f64).max(1.0));
    let little = job.went_past(thresholds);
    let incomplete = !job.summary.complete || !job.summary.missing_ranks.is_empty();
    let filters = job.summary.filters.as_deref();
    let lost = job.summary.lost.unwrap_or(0);
    if !little && !incomplete && filters.is_none() && lost == 0 {
        return None;
    }
    let compared = if job.tells(Scope::Ranks, thresholds) { "" } else { "; ranks are not compared" };
    let is_darshan = job.summary.modules.is_some();
    let (title, evidence, advice) = match (incomplete, filters) {
        (_, _) if lost > 0 => (
            format!("{} were lost", counted(lost, "operation")),
            format!("the tracer had no memory left for them{compared}"),
            "Findings hold for what was traced. More memory for each rank: TMIO_BUFFER=16M.",
        ),
        (false, Some(filters)) => (
            "the trace was told to leave out some I/O".to_owned(),
            format!("recorded with {filters}{compared}"),
            "Findings hold for what was traced. Trace without these options to see all.",
        ),
        (true, _) if is_darshan => (
            "the log is incomplete".to_owned(),
            format!("Darshan ran out of memory for some files, or the file was cut off{compared}"),
            "Findings hold for what was logged. More memory for Darshan: DARSHAN_MODMEM=64 (in MiB).",
        ),
        (true, _) => (
            "the trace is incomplete".to_owned(),
            format!("the job did not reach its end, or parts of the trace are missing{compared}"),
            "Findings hold for what was traced. ftio recover joins what a killed job has left.",
        ),
        (false, None) => (
            format!("only {} of the bytes were traced", percent(seen.unwrap_or(0.0))),
            format!("{} traced, {} went past", bytes(traced as f64), bytes(past.unwrap_or(0) as f64)),
            match coverage.traced_bytes {
                Some(_) => {
                    "Findings hold for what was traced. mmap, io_uring and raw system calls cannot be traced."
                }
                None => {
                    "Findings hold for what was traced. TMIO_LAYERS=mpiio,posix,stdio also traces POSIX \
                        and C streams."
                }
            },
        ),
    };
    Some(Found {
        severity: Some(Severity::Info),
        title,
        evidence,
        advice: advice.into(),
        numbers: seen.map(|seen| ("seen", seen)).into_iter().collect(),
        ..Found::default()
    })
}

pub fn failed(job: &Job<'_>, _: &Thresholds) -> Option<Found> {
    let failed = job.summary.failed.filter(|failed| *failed > 0)?;
    Some(Found {
        severity: Some(Severity::Low),
        title: format!("{} MPI-IO calls failed", count(failed)),
        evidence: format!("{} calls returned an error", count(failed)),
        advice: "Check return codes: MPI-IO errors do not end a program by default (MPI_ERRORS_RETURN)."
            .into(),
        numbers: BTreeMap::from([("failed", failed as f64)]),
        ..Found::default()
    })
}
