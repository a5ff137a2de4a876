use super::*;
use crate::{Finding, advise};
use ftio_core::detect::detection::Detection;
use ftio_core::detect::listed_phases::ListedPhase;
use ftio_core::inspect::summary::Summary;
use ftio_core::inspect::tally::summarize_source;
use ftio_core::inspect::usage::{FileUsage, Flow, LayerUsage, Meta, MpiIo, RankUsage, Usage};
use ftio_core::source::coverage::Unseen;
use ftio_core::source::{InMemory, Job as SourceJob};
use std::collections::BTreeSet;

fn summary() -> Summary {
    let job = SourceJob { complete: true, ..SourceJob::default() };
    summarize_source("job", Box::new(InMemory { requests: &[], job })).unwrap()
}

/// A job of 8 ranks and 100 s: large, aligned, collective writes of one shared file.
fn well_behaved() -> Usage {
    let mut usage = Usage::default();
    usage.run_time = 100.0;
    usage.ranks = Some(8);
    usage.nodes = Some(2);
    usage.layer = Some("mpiio".into());
    let write = Flow { ops: 800, bytes: 800 << 24, time: 80.0 };
    let meta = Meta { ops: 16, time: 0.1 };
    usage.layers.insert("mpiio".into(), LayerUsage { write, meta, files: 1, ..LayerUsage::default() });
    usage.writes.ops = 800;
    usage.writes.bytes = 800 << 24;
    usage.writes.sizes = Some([0, 0, 0, 0, 0, 0, 0, 800, 0, 0]);
    usage.writes.small_independent = Some(0);
    usage.mpiio = Some(MpiIo { collective_writes: 800, ..MpiIo::default() });
    usage.by_rank = (0..8)
        .map(|rank| RankUsage {
            rank,
            bytes_written: 100 << 24,
            write_time: 10.0 + 0.01 * f64::from(rank),
            ..RankUsage::default()
        })
        .collect();
    usage.files = vec![FileUsage {
        name: "out".into(),
        ranks: Some(8),
        write,
        extent: Some(800 << 24),
        small: Some(0),
        ..FileUsage::default()
    }];
    usage
}

#[test]
fn what_other_layers_have_traced_is_seen() {
    let usage = well_behaved();
    let mut summary = summary();
    // All of it through POSIX: nothing by MPI-IO, and next to nothing went past.
    summary.coverage.mpi_io_bytes = Some(0);
    summary.coverage.traced_bytes = Some(100_000_000);
    summary.coverage.process_bytes = Some(102_000_000);
    summary.coverage.unseen = Some(Unseen { read: 400_000, ..Unseen::default() });
    let find = |summary: &Summary| {
        let job = Job { usage: &usage, summary, detection: None, spread: &[], mtbf: None };
        advise(&job, &Thresholds::default()).into_iter().find(|finding| finding.id == "not-all-seen")
    };
    assert!(find(&summary).is_none());
    // Most of it by mapped files.
    summary.coverage.unseen = Some(Unseen { mapped_written: 300_000_000, ..Unseen::default() });
    let finding = find(&summary).unwrap();
    assert_eq!(finding.title, "only 25 % of the bytes were traced");
    assert!(finding.evidence.contains("100.0 MB traced, 300.0 MB went past"), "{}", finding.evidence);
    // Only MPI-IO was looked at.
    summary.coverage.traced_bytes = None;
    assert!(find(&summary).unwrap().advice.contains("TMIO_LAYERS"));
}

/// `count` phases of 2 s every 10 s.
fn periodic(count: usize) -> Detection {
    let mut found = Detection::default();
    (found.periodic, found.period, found.confidence) = (true, Some(10.0), 0.99);
    found.characterization.bytes_per_period = Some(16e6);
    let phase = |i: usize| ListedPhase {
        start: 10.0 * i as f64,
        end: 10.0 * i as f64 + 2.0,
        bytes: 16_000_000,
        ..ListedPhase::default()
    };
    found.phases = (0..count).map(phase).collect();
    found
}

fn findings(usage: &Usage, detection: Option<&Detection>, mtbf: Option<f64>) -> Vec<Finding> {
    let summary = summary();
    let job = Job { usage, summary: &summary, detection, spread: &[], mtbf };
    advise(&job, &Thresholds::default())
}

fn find(usage: &Usage, id: &str) -> Option<Finding> {
    findings(usage, None, None).into_iter().find(|finding| finding.id == id)
}

#[test]
fn ids_are_unique_and_plain() {
    let ids: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), RULES.len());
    assert!(ids.iter().all(|id| id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')));
}

#[test]
fn nothing_is_wrong_with_a_well_behaved_job() {
    let usage = well_behaved();
    for detection in [None, Some(&periodic(10))] {
        let found = findings(&usage, detection, None);
        let grave: Vec<_> = found.iter().filter(|finding| finding.severity > Severity::Info).collect();
        assert!(grave.is_empty(), "{grave:?}");
    }
}

#[test]
fn nothing_is_said_about_what_is_not_known() {
    assert_eq!(findings(&Usage::default(), None, None), []);
}

#[test]
fn small_requests_count_if_they_are_many() {
    let mut usage = well_behaved();
    (usage.writes.ops, usage.writes.small_independent) = (50_832, Some(50_832));
    usage.files[0].small = Some(50_832);
    let found = find(&usage, "small-writes").unwrap();
    assert_eq!((found.severity, found.files.as_slice()), (Severity::High, &["out".to_owned()][..]));
    assert!(found.evidence.contains("50\u{202f}832 of 50\u{202f}832 writes"), "{}", found.evidence);
    assert!(find(&usage, "small-requests-shared-file").is_some());
    // The same in a hundredth of the run time is no more than worth a thought.
    if let Some(layer) = usage.layers.get_mut("mpiio") {
        (layer.write.time, layer.meta.time) = (0.8, 0.0);
    }
    usage.by_rank.iter_mut().for_each(|rank| rank.write_time = 0.1);
    assert_eq!(find(&usage, "small-writes").unwrap().severity, Severity::Low);
    usage.writes.small_independent = Some(999);
    assert!(find(&usage, "small-writes").is_none(), "few are none");
}

#[test]
fn order_alignment_and_repetition() {
    let mut usage = well_behaved();
    (usage.reads.ops, usage.reads.placed, usage.reads.sequential) = (10_000, 10_000, 5000);
    (usage.reads.misaligned, usage.reads.alignment) = (Some(2000), Some(4096));
    usage.files[0].read = Flow { ops: 10_000, bytes: 3 * (800 << 24), time: 1.0 };
    assert!(find(&usage, "random-access-reads").unwrap().title.contains("50 %"));
    assert!(find(&usage, "random-access-writes").is_none());
    assert!(find(&usage, "misaligned").unwrap().evidence.contains("4 KiB"));
    assert!(find(&usage, "redundant-reads").unwrap().evidence.contains("out 3 times"));
    assert!(find(&usage, "redundant-writes").is_none());
}

#[test]
fn ranks_that_do_more_or_take_longer_are_named() {
    let mut usage = well_behaved();
    usage.by_rank[3].write_time = 30.0;
    assert_eq!(
        find(&usage, "stragglers").unwrap().severity,
        Severity::Info,
        "ranks wait in collective calls"
    );
    usage.mpiio = Some(MpiIo { independent_writes: 800, ..MpiIo::default() });
    let slow = find(&usage, "stragglers").unwrap();
    assert_eq!((slow.ranks.as_slice(), slow.severity), (&[3][..], Severity::High));
    assert!(find(&usage, "rank-imbalance").is_none());
    for rank in &mut usage.by_rank[1..] {
        (rank.bytes_written, rank.write_time) = (0, 0.0);
    }
    let one = find(&usage, "rank-imbalance").unwrap();
    assert_eq!((one.ranks.as_slice(), one.title.as_str()), (&[0][..], "1 of 8 ranks do all the I/O"));
    // Below collective MPI-IO, those that write were chosen.
    usage.mpiio = Some(MpiIo { collective_writes: 800, ..MpiIo::default() });
    usage.layer = Some("posix".into());
    assert_eq!(find(&usage, "rank-imbalance").unwrap().severity, Severity::Info);
}

#[test]
fn shared_files_of_darshan_tell_of_two_ranks() {
    let mut usage = well_behaved();
    usage.by_rank.clear();
    usage.mpiio = None;
    (usage.files[0].slowest, usage.files[0].fastest) = (Some((5, 20.0, 100)), Some((2, 1.0, 900)));
    assert_eq!(find(&usage, "stragglers").unwrap().ranks, [5]);
    assert!(find(&usage, "rank-imbalance").unwrap().title.contains("89 %"));
}

#[test]
fn metadata_and_layers() {
    let mut usage = well_behaved();
    if let Some(layer) = usage.layers.get_mut("mpiio") {
        layer.meta = Meta { ops: 100_000, time: 200.0 };
    }
    assert_eq!(find(&usage, "metadata-heavy").unwrap().severity, Severity::High);
    let stdio = LayerUsage { write: Flow { ops: 9, bytes: 20_000_000, time: 1.0 }, ..LayerUsage::default() };
    usage.layers.insert("stdio".into(), stdio);
    assert!(find(&usage, "stdio-heavy").is_some());
    usage.mpiio = Some(MpiIo { independent_writes: 5000, aggregators: Some(16), ..MpiIo::default() });
    assert!(find(&usage, "no-collectives-writes").is_some());
    assert!(find(&usage, "no-collectives-reads").is_none());
    assert!(find(&usage, "aggregators").unwrap().advice.contains("cb_nodes=2"));
    usage.files[0].ranks = Some(1);
    assert!(find(&usage, "no-collectives-writes").is_none(), "nothing to put together in a file of one rank");
}

#[test]
fn a_period_says_what_would_hide_the_io() {
    let found = findings(&well_behaved(), Some(&periodic(10)), None);
    let hide = found.iter().find(|finding| finding.id == "could-be-nonblocking").unwrap();
    assert_eq!(hide.severity, Severity::Info);
    // 16 MB in the 8 s between phases.
    assert!(hide.title.contains("2.000 MB/s"), "{}", hide.title);
}

#[test]
fn checkpoints_by_young_and_daly() {
    let id = |mtbf: f64| {
        let found = findings(&well_behaved(), Some(&periodic(10)), Some(mtbf));
        let found = found.into_iter().find(|finding| finding.id.starts_with("checkpoints"));
        found.map(|finding| (finding.id, finding.numbers["best_interval"]))
    };
    // √(2 · 2 s · 24 h) − 2 s.
    let (frequent, best) = id(86_400.0).unwrap();
    assert_eq!((frequent, best.round()), ("checkpoints-too-frequent", 586.0));
    assert_eq!(id(36.0), None, "√(2 · 2 · 36) − 2 = 10 s is what the job does");
    assert_eq!(id(5.0).unwrap().0, "checkpoints-too-rare");
}

#[test]
fn a_period_that_grows() {
    let mut found = periodic(10);
    let grows = |found: &Detection| {
        findings(&well_behaved(), Some(found), None).iter().any(|finding| finding.id == "period-growing")
    };
    assert!(!grows(&found));
    for (i, phase) in found.phases.iter_mut().enumerate() {
        phase.start += 0.4 * (i * i) as f64;
        phase.end += 0.4 * (i * i) as f64;
    }
    assert!(grows(&found));
    let mut pause = periodic(10);
    pause.phases.iter_mut().skip(8).for_each(|phase| phase.start += 30.0);
    assert!(!grows(&pause), "one pause is no trend");
}

#[test]
fn ranks_that_drift_apart() {
    let (usage, summary, detection) = (well_behaved(), summary(), periodic(9));
    let drifts = |spread: &[f64]| {
        let job = Job { usage: &usage, summary: &summary, detection: Some(&detection), spread, mtbf: None };
        advise(&job, &Thresholds::default()).iter().any(|finding| finding.id == "ranks-drift-apart")
    };
    assert!(drifts(&[0.1, 0.2, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5]));
    assert!(!drifts(&[2.0; 9]), "far apart from the beginning is how the job works");
    assert!(!drifts(&[0.01, 0.02, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.05]), "little against the period");
}
