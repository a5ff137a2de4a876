use super::*;
use crate::{Finding, advise};
use ftio_core::detect::detection::Detection;
use ftio_core::detect::listed_phases::ListedPhase;
use ftio_core::estimate::FirstPhase;
use inspect::summary::Summary;
use inspect::tally::summarize_source;
use inspect::usage::{FileUsage, Flow, LayerUsage, Meta, MpiIo, RankUsage, Usage};
use sources::coverage::Unseen;
use sources::{InMemory, Job as SourceJob};
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
fn programs_of_a_script_are_not_expected_to_be_alike() {
    let mut usage = well_behaved();
    usage.mpiio = None;
    usage.by_rank[3].write_time = 30.0;
    usage.by_rank[5].bytes_written = 1;
    let mut summary = summary();
    let found = |summary: &Summary| {
        let job = Job { usage: &usage, summary, detection: None, spread: &[], mtbf: None };
        let all = advise(&job, &Thresholds::default());
        ["rank-imbalance", "stragglers"].map(|id| all.iter().any(|finding| finding.id == id))
    };
    assert_eq!(found(&summary), [true, true]);
    summary.processes = vec![inspect::summary::ProcessSummary::default(); 8];
    assert_eq!(found(&summary), [false, false]);
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
    let found = |mtbf: f64| {
        let found = findings(&well_behaved(), Some(&periodic(10)), Some(mtbf));
        let found = found.into_iter().find(|finding| finding.id.starts_with("checkpoint"));
        found.map(|finding| (finding.id, finding.severity, finding.numbers["best_interval"]))
    };
    // From start to start, √(2 · 2 s · 24 h) is 588 s; Daly's terms of higher order add 1 s.
    let (frequent, severity, best) = found(86_400.0).unwrap();
    assert_eq!((frequent, severity, best.round()), ("checkpoints-too-frequent", Severity::High, 589.0));
    // √(2 · 2 · 21) + … = 10 s is what the job does.
    let (id, severity, best) = found(21.0).unwrap();
    assert_eq!((id, severity, best.round()), ("checkpoint-interval", Severity::Info, 10.0));
    let (id, severity, best) = found(2.5).unwrap();
    assert_eq!((id, severity), ("checkpoints-too-rare", Severity::High));
    assert!(best > 2.0 && best < 5.0, "{best}");
    // Hardly a failure: what is lost is the cost of the checkpoints.
    let (id, _, best) = found(1e12).unwrap();
    assert!(id == "checkpoints-too-frequent" && (best / 2e6 - 1.0).abs() < 1e-3, "{best}");
    assert_eq!(found(1e-9), None, "no interval helps a machine that fails during every checkpoint");
}

#[test]
fn checkpoints_too_cheap_to_matter_are_no_more_than_good_to_know() {
    let mut cheap = periodic(10);
    cheap.phases.iter_mut().for_each(|phase| phase.end = phase.start + 0.01);
    let found = findings(&well_behaved(), Some(&cheap), Some(86_400.0));
    let found = found.iter().find(|finding| finding.id == "checkpoints-too-frequent").unwrap();
    assert_eq!(found.severity, Severity::Info, "{found:?}");
}

#[test]
fn who_asks_about_checkpoints_gets_an_answer() {
    let (usage, mut summary, mut detection) = (well_behaved(), summary(), periodic(10));
    let why = |summary: &Summary, detection: Option<&Detection>, mtbf: f64| {
        let job = Job { usage: &usage, summary, detection, spread: &[], mtbf: Some(mtbf) };
        let found = advise(&job, &Thresholds::default());
        assert!(!found.iter().any(|finding| finding.id.starts_with("checkpoint")), "{found:?}");
        crate::not_judged(&job, &Thresholds::default()).concat()
    };
    assert!(why(&summary, None, 1e5).contains("does not tell when"));
    assert!(why(&summary, Some(&detection), 1.0).contains("longer than the machine runs"));
    detection.period = None;
    assert!(why(&summary, Some(&detection), 1e5).contains("no single period"));
    detection.period = Some(10.0);
    summary.write_async.class.bytes = 1000;
    assert!(why(&summary, Some(&detection), 1e5).contains("nonblocking"));
    summary.filters = Some("TMIO_RANKS=0".into());
    let said = why(&summary, Some(&detection), 1e5);
    assert!(said.contains("checkpoints-too-rare") && said.contains("cannot be told"), "{said}");
}

/// Close enough to a normal distribution.
fn normal(random: &mut seeded_random::Random) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

/// Phases whose distances grow by a share from one to the next, with noise, from 10 s.
fn with_distances(count: usize, growth: f64, noise: f64, seed: u64) -> Detection {
    let mut random = seeded_random::Random::new(seed);
    let mut found = periodic(count);
    let (mut start, mut distance) = (0.0, 10.0);
    for phase in &mut found.phases {
        (phase.start, phase.end) = (start, start + 2.0);
        start += distance * (1.0 + noise * normal(&mut random));
        distance *= 1.0 + growth;
    }
    found
}

#[test]
fn a_period_that_grows() {
    let grows = |found: &Detection| {
        findings(&well_behaved(), Some(found), None).iter().any(|finding| finding.id == "period-growing")
    };
    // 2 % from one to the next: 49 % from the first third of thirty phases to the last.
    for (count, growth, noise, expected) in [
        (10, 0.0, 0.0, false),
        (40, 0.0, 0.05, false),
        (40, 0.0, 0.2, false),
        (10, 0.02, 0.0, false),
        (20, 0.02, 0.0, true),
        (30, 0.02, 0.0, true),
        (30, 0.02, 0.05, true),
        (40, 0.02, 0.05, true),
        (12, 0.05, 0.05, true),
        (30, -0.02, 0.05, false),
    ] {
        let seeds = 1..=20;
        let found = seeds.clone().filter(|seed| grows(&with_distances(count, growth, noise, *seed))).count();
        let right = if expected { found } else { 20 - found };
        assert!(right >= if noise > 0.0 && expected { 18 } else { 20 }, "{count} {growth} {noise}: {found}");
    }
    let mut pause = periodic(10);
    pause.phases.iter_mut().skip(8).for_each(|phase| phase.start += 30.0);
    assert!(!grows(&pause), "one pause is no trend");
    let mut step = with_distances(30, 0.0, 0.02, 1);
    for (i, phase) in step.phases.iter_mut().enumerate().skip(15) {
        phase.start += 8.0 * (i - 15) as f64;
    }
    assert!(!grows(&step), "another period from the middle on is no growth");
}

#[test]
fn ranks_that_drift_apart() {
    let (usage, summary, detection) = (well_behaved(), summary(), periodic(9));
    let drifts = |spread: &[f64]| {
        let job = Job { usage: &usage, summary: &summary, detection: Some(&detection), spread, mtbf: None };
        advise(&job, &Thresholds::default()).iter().any(|finding| finding.id == "ranks-drift-apart")
    };
    assert!(drifts(&[0.1, 0.2, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5]));
    assert!(!drifts(&[0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 9.0, 0.3]), "one phase is no drift");
    assert!(!drifts(&[0.1, 0.1, 0.1, 0.1, 0.1, 9.0]), "nor if there are few");
    assert!(!drifts(&[2.0; 9]), "far apart from the beginning is how the job works");
    assert!(!drifts(&[0.01, 0.02, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.05]), "little against the period");
}

/// A job for which a rule finds something.
fn found_by(id: &str) -> (Usage, Option<Detection>, Vec<f64>, Option<f64>) {
    let (mut usage, mut spread, mut mtbf) = (well_behaved(), Vec::new(), None);
    let mut detection = Some(periodic(10));
    let phases = &mut detection.as_mut().unwrap().phases;
    let independent = MpiIo { independent_reads: 5000, independent_writes: 5000, ..MpiIo::default() };
    match id {
        "small-writes" => (usage.writes.ops, usage.writes.small_independent) = (5000, Some(5000)),
        "small-reads" => (usage.reads.ops, usage.reads.small_independent) = (5000, Some(5000)),
        "small-requests-shared-file" => usage.files[0].small = Some(5000),
        "misaligned" => {
            (usage.writes.placed, usage.writes.misaligned, usage.writes.alignment) =
                (800, Some(800), Some(4096));
        }
        "random-access-writes" => (usage.writes.placed, usage.writes.sequential) = (10_000, 100),
        "random-access-reads" => (usage.reads.placed, usage.reads.sequential) = (10_000, 100),
        "redundant-reads" => usage.files[0].read = Flow { ops: 9, bytes: 8000 << 24, time: 1.0 },
        "redundant-writes" => usage.files[0].extent = Some(1 << 24),
        "rank-imbalance" => usage.by_rank[3].bytes_written = 1,
        "stragglers" => usage.by_rank[3].write_time = 30.0,
        "ranks-drift-apart" => spread = vec![0.1, 0.2, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5],
        "metadata-heavy" => {
            usage.by_rank[3].meta_time = 50.0;
            usage.layers.get_mut("mpiio").unwrap().meta = Meta { ops: 1000, time: 50.0 };
        }
        "many-files" => usage.files = vec![usage.files[0].clone(); 2000],
        "stdio-heavy" => {
            let write = Flow { ops: 9, bytes: 20_000_000, time: 1.0 };
            usage.layers.insert("stdio".into(), LayerUsage { write, ..LayerUsage::default() });
        }
        "no-mpiio" => {
            let layer = usage.layers.remove("mpiio").unwrap();
            usage.layers.insert("posix".into(), layer);
            (usage.mpiio, usage.files[0].small) = (None, Some(5000));
        }
        "no-collectives-writes" | "no-collectives-reads" => usage.mpiio = Some(independent),
        "nonblocking-not-hidden" => usage.by_rank.iter_mut().for_each(|rank| rank.wait_time = 20.0),
        "aggregators" => usage.mpiio = Some(MpiIo { aggregators: Some(16), ..independent }),
        "period-growing" => detection = Some(with_distances(30, 0.02, 0.0, 1)),
        "first-phase-long" => {
            let first =
                FirstPhase { start: 0.0, end: 20.0, bytes: 16e6, times_as_long: 10.0, times_as_large: 1.0 };
            detection.as_mut().unwrap().first_phase = Some(first);
        }
        "checkpoints-too-frequent" => mtbf = Some(86_400.0),
        "checkpoints-too-rare" => mtbf = Some(2.5),
        "checkpoint-interval" => mtbf = Some(21.0),
        "read-intensive" => (usage.reads.bytes, usage.writes.bytes) = (1000, 1),
        "could-be-nonblocking" | "write-intensive" | "not-all-seen" | "failed-operations" => {
            phases.truncate(9)
        }
        _ => panic!("no example of {id}"),
    }
    (usage, detection, spread, mtbf)
}

/// Takes something away from what is known of a job.
type TakeAway = fn(&mut Summary);

/// What may be missing of a job.
const MISSING: [(&str, TakeAway); 10] = [
    ("nothing", |_| ()),
    ("cut off", |summary| (summary.complete, summary.damaged) = (false, true)),
    ("killed", |summary| summary.complete = false),
    ("filtered", |summary| summary.filters = Some("TMIO_FILES=*.h5".into())),
    ("ranks", |summary| (summary.complete, summary.missing_ranks) = (false, vec!["4-7".into()])),
    ("hosts", |summary| (summary.complete, summary.missing_hosts) = (false, vec!["n2".into()])),
    ("lost", |summary| summary.lost = Some(17)),
    ("past", |summary| {
        (summary.coverage.mpi_io_bytes, summary.coverage.process_bytes) = (Some(1000), Some(9_000_000_000));
    }),
    ("posix and stdio", |summary| summary.filters = Some("TMIO_LAYERS=mpiio".into())),
    ("MPI-IO", |summary| summary.filters = Some("TMIO_LAYERS=posix,stdio".into())),
];

/// Each rule, and where it may still find something: `+` for each of [`MISSING`].
const TRUE_ALL_THE_SAME: &[(&str, &str)] = &[
    // What was seen was done.
    ("small-writes", "++++++++++"),
    ("small-reads", "++++++++++"),
    ("small-requests-shared-file", "++++++++++"),
    ("misaligned", "++++++++++"),
    ("random-access-writes", "++++++++++"),
    ("random-access-reads", "++++++++++"),
    ("redundant-reads", "++++++++++"),
    ("redundant-writes", "++++++++++"),
    ("metadata-heavy", "++++++++++"),
    ("many-files", "++++++++++"),
    ("failed-operations", "++++++++++"),
    // A share of the run time, which is not known if the end is missing.
    ("nonblocking-not-hidden", "+-++++++++"),
    // Ranks are compared.
    ("rank-imbalance", "+------++-"),
    ("stragglers", "+------++-"),
    ("ranks-drift-apart", "+------++-"),
    ("aggregators", "+------++-"),
    // Something was not done.
    ("no-mpiio", "+------++-"),
    ("no-collectives-writes", "+------++-"),
    ("no-collectives-reads", "+------++-"),
    ("could-be-nonblocking", "+------++-"),
    // Shares of all bytes.
    ("stdio-heavy", "+---------"),
    ("write-intensive", "+---------"),
    ("read-intensive", "+---------"),
    // Phases as they were.
    ("period-growing", "+-+----+++"),
    ("first-phase-long", "+-+----+++"),
    ("checkpoints-too-frequent", "+-+----+++"),
    ("checkpoints-too-rare", "+-+----+++"),
    ("checkpoint-interval", "+-+----+++"),
    // This is what it is for.
    ("not-all-seen", "-+++++++++"),
];

#[test]
fn nothing_false_is_said_about_a_job_that_was_not_seen_whole() {
    let listed: Vec<&str> = TRUE_ALL_THE_SAME.iter().map(|(id, _)| *id).collect();
    assert!(RULES.iter().all(|rule| listed.contains(&rule.id)), "every rule has a row");
    for (id, expected) in TRUE_ALL_THE_SAME {
        let (usage, detection, spread, mtbf) = found_by(id);
        for ((what, take_away), expected) in MISSING.iter().zip(expected.chars()) {
            let mut summary = summary();
            summary.failed = (*id == "failed-operations").then_some(3);
            take_away(&mut summary);
            let job = Job {
                usage: &usage,
                summary: &summary,
                detection: detection.as_ref(),
                spread: &spread,
                mtbf,
            };
            let thresholds = Thresholds::default();
            let found = advise(&job, &thresholds).into_iter().find(|finding| finding.id == *id);
            assert_eq!(found.is_some(), expected == '+', "{id}, {what}: {found:?}");
            // Who is silent for lack of data says so.
            let said = crate::not_judged(&job, &thresholds).concat();
            let silent = said.split(": cannot be told").next().is_some_and(|ids| ids.contains(id));
            let lacks_data = expected != '+' && *id != "not-all-seen" && *id != "nonblocking-not-hidden";
            assert_eq!(silent, lacks_data, "{id}, {what}");
        }
    }
}

#[test]
fn shares_of_what_was_traced_are_called_that() {
    let titles = |missing: fn(&mut Summary)| {
        let ids = ["small-writes", "misaligned", "random-access-reads", "redundant-reads", "many-files"];
        ids.map(|id| {
            let (usage, detection, spread, mtbf) = found_by(id);
            let mut summary = summary();
            missing(&mut summary);
            let job = Job {
                usage: &usage,
                summary: &summary,
                detection: detection.as_ref(),
                spread: &spread,
                mtbf,
            };
            let found = advise(&job, &Thresholds::default());
            found.into_iter().find(|finding| finding.id == id).unwrap().title
        })
    };
    let careful = |title: &String| title.contains("that were traced") || title.contains("at least");
    let cut = titles(|summary| (summary.complete, summary.damaged) = (false, true));
    assert!(cut.iter().all(careful), "{cut:?}");
    let whole = titles(|_| ());
    assert!(!whole.iter().any(careful), "{whole:?}");
}

#[test]
fn how_grave_it_is_cannot_be_told_without_the_run_time() {
    let (usage, ..) = found_by("small-writes");
    let mut summary = summary();
    (summary.complete, summary.damaged) = (false, true);
    let job = Job { usage: &usage, summary: &summary, detection: None, spread: &[], mtbf: None };
    let found = advise(&job, &Thresholds::default());
    assert_eq!(found.iter().map(|finding| finding.severity).max(), Some(Severity::Low), "{found:?}");
}
