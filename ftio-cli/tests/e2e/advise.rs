//! `ftio advise`.

use crate::support::{SECOND, Script, blocking, exit_code, ftio, nonblocking, stderr, stdout};
use serde_json::Value;
use std::path::Path;
use tmio_trace::{AsyncTimes, Direction, FilePointer, OpKind, Operation};

fn advice(directory: &Path, args: &[&str]) -> Value {
    let output = ftio(directory, &[&["advise", "--json"], args].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("{\"schema\":\"ftio.advice/1\",\"source\":"));
    serde_json::from_str(&stdout(&output)).unwrap()
}

fn ids(advice: &Value, least: &str) -> Vec<String> {
    let order = ["info", "low", "medium", "high"];
    let rank = |severity: &str| order.iter().position(|one| *one == severity).unwrap();
    let findings = advice["findings"].as_array().unwrap().iter();
    findings
        .filter(|finding| rank(finding["severity"].as_str().unwrap()) >= rank(least))
        .map(|finding| finding["id"].as_str().unwrap().to_owned())
        .collect()
}

/// Every ten seconds each of four ranks writes 64 MiB, collectively and aligned.
fn well_behaved() -> Script {
    let write = |rank: i64, i: i64| Operation {
        kind: OpKind::data(Direction::Write, FilePointer::Explicit, false, true, false),
        offset: (i * 4 + rank) * (64 << 20),
        ..blocking(Direction::Write, (10 * i + 4) * SECOND, (10 * i + 5) * SECOND, 64 << 20)
    };
    let blocks = (0..4).map(|rank| (rank, (0..12).map(|i| write(i64::from(rank), i)).collect())).collect();
    Script { ranks: 4, end: 120 * SECOND, blocks, process_written: 4 * 12 * (64 << 20) }
}

/// Rank 0 writes 3000 requests of 2 kB backwards, the others wait.
fn badly_behaved() -> Script {
    let write = |i: i64| Operation {
        offset: (3000 - i) * 2001,
        ..blocking(Direction::Write, i * SECOND / 100, i * SECOND / 100 + SECOND / 120, 2000)
    };
    let blocks = vec![(0, (0..3000).map(write).collect()), (1, vec![]), (2, vec![])];
    Script { ranks: 3, end: 40 * SECOND, blocks, process_written: 6_000_000 }
}

#[test]
fn nothing_above_info_on_a_well_behaved_job() {
    let dir = tempfile::tempdir().unwrap();
    well_behaved().write(&dir.path().join("run.msgpack"));
    let advice = advice(dir.path(), &["run.msgpack"]);
    assert_eq!(ids(&advice, "low"), [""; 0], "{advice}");
    // What would hide it all: 256 MiB in the 9 s between phases.
    let hide = &advice["findings"].as_array().unwrap()[0];
    assert_eq!(hide["id"], "could-be-nonblocking");
    assert!(hide["evidence"].as_str().unwrap().contains("would hide all of it"), "{hide}");
}

/// Every ten seconds each of four ranks writes 4 × 32 MiB to a file of its own, one after the other.
fn file_per_process() -> Script {
    let write = |rank: u32, i: i64| Operation {
        file: 2 + rank,
        offset: i * (32 << 20),
        ..blocking(
            Direction::Write,
            (10 * (i / 4) + 4) * SECOND + (i % 4) * SECOND / 8,
            (10 * (i / 4) + 4) * SECOND + (i % 4 + 1) * SECOND / 8,
            32 << 20,
        )
    };
    let blocks = (0..4).map(|rank| (rank, (0..40).map(|i| write(rank, i)).collect())).collect();
    Script { ranks: 4, end: 100 * SECOND, blocks, process_written: 4 * 40 * (32 << 20) }
}

/// Two small writes of each rank in ten minutes.
fn little_io() -> Script {
    let write = |rank: u32, i: i64| Operation {
        offset: (2 * i64::from(rank) + i) * 1000,
        ..blocking(Direction::Write, (300 * i + 5) * SECOND, (300 * i + 5) * SECOND + 40_000, 1000)
    };
    let blocks = (0..8).map(|rank| (rank, (0..2).map(|i| write(rank, i)).collect())).collect();
    Script { ranks: 8, end: 600 * SECOND, blocks, process_written: 16_000 }
}

/// Nonblocking writes that are complete long before they are waited for.
fn hidden() -> Script {
    let write = |rank: u32, i: i64| {
        let issued = 10 * i * SECOND;
        let times = AsyncTimes { issued, deadline: issued + 9 * SECOND, pending_until: issued, test_time: 0 };
        Operation {
            offset: (4 * i + i64::from(rank)) * (16 << 20),
            ..nonblocking(issued, issued + 2 * SECOND, 16 << 20, times)
        }
    };
    let blocks = (0..4).map(|rank| (rank, (0..10).map(|i| write(rank, i)).collect())).collect();
    Script { ranks: 4, end: 100 * SECOND, blocks, process_written: 4 * 10 * (16 << 20) }
}

/// Every ten seconds each of four ranks reads the next 64 MiB, collectively and aligned.
fn reads_only() -> Script {
    let read = |rank: i64, i: i64| Operation {
        kind: OpKind::data(Direction::Read, FilePointer::Explicit, false, true, false),
        offset: (i * 4 + rank) * (64 << 20),
        ..blocking(Direction::Read, (10 * i + 4) * SECOND, (10 * i + 5) * SECOND, 64 << 20)
    };
    let blocks = (0..4).map(|rank| (rank, (0..12).map(|i| read(i64::from(rank), i)).collect())).collect();
    Script { ranks: 4, end: 120 * SECOND, blocks, process_written: 0 }
}

/// A single rank that writes 256 MiB every ten seconds.
fn of_one_rank() -> Script {
    let write = |i: i64| Operation {
        offset: i * (64 << 20),
        ..blocking(
            Direction::Write,
            10 * (i / 4) * SECOND + i % 4 * SECOND / 4,
            10 * (i / 4) * SECOND + (i % 4 + 1) * SECOND / 4,
            64 << 20,
        )
    };
    Script {
        ranks: 1,
        end: 120 * SECOND,
        blocks: vec![(0, (0..48).map(write).collect())],
        process_written: 48 << 26,
    }
}

/// Sixteen ranks that each write 10 GB to a file of their own in requests of 16 MiB, by POSIX.
fn posix_file_per_process() -> Vec<u8> {
    let record = |rank: u64| {
        let mut record = darshan_log::PosixRecord::new(100 + rank, rank as i64);
        for (counter, value) in [
            (darshan_log::PosixCounter::Opens, 1),
            (darshan_log::PosixCounter::Writes, 640),
            (darshan_log::PosixCounter::BytesWritten, 640 << 24),
            (darshan_log::PosixCounter::SeqWrites, 639),
            (darshan_log::PosixCounter::ConsecWrites, 639),
            (darshan_log::PosixCounter::SizeWrite10m100m, 640),
            (darshan_log::PosixCounter::FileAlignment, 1 << 20),
        ] {
            record[counter] = value;
        }
        record[darshan_log::PosixTime::WriteTime] = 20.0 + 0.1 * rank as f64;
        record[darshan_log::PosixTime::MetaTime] = 0.01;
        record[darshan_log::PosixTime::WriteStartTimestamp] = 1.0;
        record[darshan_log::PosixTime::WriteEndTimestamp] = 900.0;
        record
    };
    let mut job = darshan_log::Job { nprocs: 16, ..Default::default() };
    job.end.seconds = 1000;
    let records: Vec<_> = (0..16).map(record).collect();
    let log = darshan_log::write::LogWriter::new(darshan_log::Format::V3_41, job).records(4, &records);
    log.to_bytes().unwrap()
}

#[test]
fn nothing_above_info_on_other_well_behaved_jobs() {
    let dir = tempfile::tempdir().unwrap();
    file_per_process().write(&dir.path().join("file_per_process"));
    little_io().write(&dir.path().join("little"));
    hidden().write(&dir.path().join("hidden"));
    std::fs::write(dir.path().join("posix.darshan"), posix_file_per_process()).unwrap();
    reads_only().write(&dir.path().join("reads_only"));
    of_one_rank().write(&dir.path().join("of_one_rank"));
    for name in ["file_per_process", "little", "hidden", "reads_only", "of_one_rank", "posix.darshan"] {
        let advice = advice(dir.path(), &[name]);
        assert_eq!(ids(&advice, "low"), [""; 0], "{name}: {advice}");
    }
}

#[test]
fn ranks_are_not_compared_where_some_were_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let script = badly_behaved();
    script.write_filtered(&dir.path().join("filtered"), "TMIO_RANKS=0");
    let (bytes, ends) = script.frames();
    std::fs::write(dir.path().join("cut"), &bytes[..ends[ends.len() - 2]]).unwrap();
    for (name, why) in [("filtered", "TMIO_RANKS=0"), ("cut", "did not reach its end")] {
        let advice = advice(dir.path(), &[name]);
        let found = ids(&advice, "info");
        assert!(!found.iter().any(|id| id == "rank-imbalance" || id == "stragglers"), "{name}: {advice}");
        let findings = advice["findings"].as_array().unwrap();
        let not_all = findings.iter().find(|finding| finding["id"] == "not-all-seen").unwrap();
        assert!(not_all["evidence"].as_str().unwrap().contains(why), "{not_all}");
        // What was recorded is judged all the same.
        assert!(found.iter().any(|id| id == "small-writes"), "{name}: {found:?}");
    }
    // Nobody who has filtered is told to switch to MPI-IO.
    let mut nothing = Script::bursts(2, 0);
    nothing.process_written = 1 << 30;
    nothing.write_filtered(&dir.path().join("nothing"), "TMIO_FILES=*.nope");
    for args in [&["nothing"][..], &["info", "nothing"]] {
        let said = stdout(&ftio(dir.path(), args));
        assert!(said.contains("TMIO_FILES=*.nope") && !said.contains("TMIO_LAYERS"), "{said}");
    }
    let about = stdout(&ftio(dir.path(), &["info", "--json", "nothing"]));
    assert!(about.contains("\"filters\":\"TMIO_FILES=*.nope\""), "{about}");
}

/// Every second each of two ranks makes 200 independent writes of 2 MiB to one file.
fn independent() -> Script {
    let write = |rank: i64, i: i64| Operation {
        offset: (2 * i + rank) * (2 << 20),
        ..blocking(
            Direction::Write,
            i / 200 * SECOND + i % 200 * SECOND / 1000,
            i / 200 * SECOND + (i % 200 + 1) * SECOND / 1000,
            2 << 20,
        )
    };
    let blocks = (0..2).map(|rank| (rank, (0..4000).map(|i| write(i64::from(rank), i)).collect())).collect();
    Script { ranks: 2, end: 20 * SECOND, blocks, process_written: 2 * 4000 * (2 << 20) }
}

#[test]
fn what_was_not_seen_was_not_left_undone() {
    let dir = tempfile::tempdir().unwrap();
    let script = independent();
    script.write(&dir.path().join("whole"));
    script.write_filtered(&dir.path().join("filtered"), "TMIO_FILES=*.h5");
    let (bytes, ends) = script.frames();
    std::fs::write(dir.path().join("cut"), &bytes[..ends[ends.len() - 2] - 100]).unwrap();
    let silent = ["no-collectives-writes", "could-be-nonblocking", "write-intensive"];
    let whole = advice(dir.path(), &["whole"]);
    let found = ids(&whole, "info");
    assert!(silent.iter().all(|id| found.iter().any(|one| one == id)), "{whole}");
    assert_eq!(whole["gaps"].as_array().unwrap().len(), 0, "{whole}");
    for name in ["filtered", "cut"] {
        let partly = advice(dir.path(), &["--mtbf", "1h", name]);
        let found = ids(&partly, "info");
        assert!(!silent.iter().any(|id| found.iter().any(|one| one == id)), "{name}: {partly}");
        assert!(!found.iter().any(|id| id.starts_with("checkpoint")), "{name}: {partly}");
        let gaps = partly["gaps"].to_string();
        assert!(
            silent.iter().all(|id| gaps.contains(id)) && gaps.contains("cannot be told"),
            "{name}: {gaps}"
        );
        let text = stdout(&ftio(dir.path(), &["advise", name]));
        assert!(text.contains("Not known") && text.contains("no-collectives-writes"), "{text}");
    }
}

#[test]
fn what_is_wrong_is_said_with_evidence_and_advice() {
    let dir = tempfile::tempdir().unwrap();
    badly_behaved().write(&dir.path().join("run.msgpack"));
    let advice = advice(dir.path(), &["run.msgpack"]);
    let found = ids(&advice, "low");
    for id in ["small-writes", "random-access-writes", "misaligned", "rank-imbalance"] {
        assert!(found.iter().any(|one| one == id), "{id} in {advice}");
    }
    for finding in advice["findings"].as_array().unwrap() {
        for field in ["id", "severity", "title", "evidence", "advice", "why", "source"] {
            assert!(finding[field].as_str().is_some_and(|text| !text.is_empty()), "{field} of {finding}");
        }
    }
    let imbalance = advice["findings"].as_array().unwrap().iter().find(|one| one["id"] == "rank-imbalance");
    assert_eq!(imbalance.unwrap()["ranks"], serde_json::json!([0]));
    assert_eq!(
        exit_code(dir.path(), &["advise", "--exit-status", "--severity", "medium", "run.msgpack"]),
        Some(3)
    );
}

#[test]
fn thresholds_are_options() {
    let dir = tempfile::tempdir().unwrap();
    badly_behaved().write(&dir.path().join("run.msgpack"));
    let advice = advice(dir.path(), &["--set", "small-count=5000", "run.msgpack"]);
    assert!(!ids(&advice, "info").iter().any(|id| id == "small-writes"), "{advice}");
    assert_eq!(advice["thresholds"]["small-count"], 5000.0);
    for wrong in ["nope=1", "small-count", "small-count=x"] {
        assert_eq!(exit_code(dir.path(), &["advise", "--set", wrong, "run.msgpack"]), Some(2), "{wrong}");
    }
}

#[test]
fn checkpoints_against_failures() {
    let dir = tempfile::tempdir().unwrap();
    well_behaved().write(&dir.path().join("run.msgpack"));
    let found = advice(dir.path(), &["--mtbf", "24h", "run.msgpack"]);
    assert!(ids(&found, "low").iter().any(|id| id == "checkpoints-too-frequent"), "{found}");
    for wrong in ["soon", "0", "-5", "-1h", "nan", "inf", "1e300", "1e300d", ""] {
        assert_eq!(exit_code(dir.path(), &["advise", "--mtbf", wrong, "run.msgpack"]), Some(2), "{wrong}");
    }
    // Phases of 1 s every 10 s: for failures every 45 s that is right, and none helps if it fails all the
    // time.
    let right = advice(dir.path(), &["--mtbf", "45", "run.msgpack"]);
    assert!(ids(&right, "info").iter().any(|id| id == "checkpoint-interval"), "{right}");
    let hopeless = advice(dir.path(), &["--mtbf", "1e-300", "run.msgpack"]);
    assert!(hopeless["gaps"].to_string().contains("longer than the machine runs"), "{hopeless}");
    // Who asks is told why there is no answer.
    little_io().write(&dir.path().join("little"));
    let text = stdout(&ftio(dir.path(), &["advise", "--mtbf", "1d", "little"]));
    assert!(text.contains("--mtbf: checkpoints are not judged, because"), "{text}");
}

#[test]
fn a_log_of_counters_alone_gets_advice() {
    let dir = tempfile::tempdir().unwrap();
    let mut record = darshan_log::PosixRecord::new(7, -1);
    for (counter, value) in [
        (darshan_log::PosixCounter::Writes, 50_000),
        (darshan_log::PosixCounter::BytesWritten, 50_000_000),
        (darshan_log::PosixCounter::SizeWrite100k1m, 50_000),
        (darshan_log::PosixCounter::SlowestRank, 3),
        (darshan_log::PosixCounter::SlowestRankBytes, 40_000_000),
        (darshan_log::PosixCounter::FastestRank, 1),
        (darshan_log::PosixCounter::FastestRankBytes, 1000),
    ] {
        record[counter] = value;
    }
    record[darshan_log::PosixTime::WriteTime] = 200.0;
    record[darshan_log::PosixTime::SlowestRankTime] = 60.0;
    record[darshan_log::PosixTime::FastestRankTime] = 1.0;
    let mut job = darshan_log::Job { nprocs: 4, ..Default::default() };
    job.end.seconds = 100;
    let log = darshan_log::write::LogWriter::new(darshan_log::Format::V3_41, job).records(4, &[record]);
    std::fs::write(dir.path().join("job.darshan"), log.to_bytes().unwrap()).unwrap();
    let found = advice(dir.path(), &["job.darshan"]);
    let found = ids(&found, "medium");
    for id in ["small-writes", "stragglers", "rank-imbalance"] {
        assert!(found.iter().any(|one| one == id), "{id} in {found:?}");
    }
}

/// What Drishti 0.8 says about these logs, by the codes of its triggers, and the rules that answer them.
/// docs/advice.md has the whole table, with reasons for what has no answer.
#[test]
fn logs_that_drishti_reads_are_seen_alike() {
    let Some(folder) = test_data::shared_or_skip("logs_that_drishti_reads_are_seen_alike", "traces/darshan")
    else {
        return;
    };
    let of = |name: &str| {
        let advice = advice(&folder, &[name]);
        ids(&advice, "info")
    };
    let imbalanced = of("imbalanced-io.darshan");
    for id in
        ["small-writes", "small-requests-shared-file", "stragglers", "could-be-nonblocking", "misaligned"]
    {
        assert!(imbalanced.iter().any(|one| one == id), "{id} in {imbalanced:?}");
    }
}

#[test]
fn the_page_about_advice_names_every_rule_and_threshold() {
    let dir = tempfile::tempdir().unwrap();
    let listed = stdout(&ftio(dir.path(), &["advise", "--set", "help"]));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/advice.md");
    let page = std::fs::read_to_string(page).unwrap();
    let names = listed.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() > 40, "{listed}");
    for name in names {
        assert!(page.contains(&format!("`{name}`")), "docs/advice.md does not name {name}");
    }
}

/// Every code of a finding that Drishti 0.8 knows (there is no P20) has an answer, or a reason why not.
#[test]
fn the_page_about_advice_answers_every_finding_of_drishti() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/advice.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, table) = page.split_once("## Beside Drishti").unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| ") && line.split('|').count() == 5)
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let posix = (1..=22).filter(|number| *number != 20).map(|number| format!("P{number:02}"));
    let codes = std::iter::once("S01".to_owned()).chain(posix).chain((1..=10).map(|n| format!("M{n:02}")));
    for code in codes {
        let answered = rows.iter().any(|row| row[1].split(", ").any(|one| one == code) && row[3].len() > 10);
        assert!(answered, "docs/advice.md does not answer {code}");
    }
}
