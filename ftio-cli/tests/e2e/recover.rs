//! `ftio recover`: what a killed job has left.

use crate::support::{SECOND, Script, exit_code, ftio, stderr, stdout};
use serde_json::Value;
use std::path::Path;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{ClockSample, RankInfo, Trace};

/// The parts of a job that was killed: as the finished trace, but no rank reached its end.
fn parts(dir: &Path, script: &Script) {
    let (bytes, ends) = script.frames();
    let parts = dir.join("out.msgpack.parts");
    std::fs::create_dir(&parts).unwrap();
    let ranks = script.ranks as usize;
    let mut part = bytes[..ends[0]].to_vec();
    for rank in 0..script.ranks {
        let clock = vec![ClockSample { local: 7 * SECOND, job: 0, real: 0, error: 250 }];
        let info =
            RankInfo { rank, host: "node".into(), boot_id: "other".into(), clock, ..RankInfo::default() };
        part.extend(frame::encode(FrameKind::Rank, &info).unwrap());
    }
    // The blocks, without the end.
    part.extend(&bytes[ends[ranks]..ends[ends.len() - 2]]);
    std::fs::write(parts.join("node"), part).unwrap();
}

#[test]
fn a_killed_job_is_recovered() {
    let dir = tempfile::tempdir().unwrap();
    parts(dir.path(), &Script::bursts(2, 10));
    let before = ftio(dir.path(), &["--json", "out.msgpack"]);
    let output = ftio(dir.path(), &["recover", "out.msgpack.parts"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let path = dir.path().join("out.msgpack");
    let outcome = Trace::open(&path).unwrap().read(|_| {}).unwrap();
    assert_eq!((outcome.complete, outcome.operations, outcome.warnings.len()), (false, 20, 1));
    assert!(outcome.warnings[0].contains("MPI_Finalize"), "{:?}", outcome.warnings);
    let after = ftio(dir.path(), &["--json", "out.msgpack"]);
    let find = |output, key: &str| serde_json::from_str::<Value>(&stdout(output)).unwrap()[key].clone();
    for key in ["period", "total_bytes", "complete", "t_end", "ranks"] {
        assert_eq!(find(&before, key), find(&after, key), "{key}");
    }
    assert!(dir.path().join("out.msgpack.parts").is_dir());
    // Once more, as on another host of the job: the same, and nothing twice.
    assert_eq!(exit_code(dir.path(), &["recover", "out.msgpack"]), Some(0));
    assert_eq!(Trace::open(&path).unwrap().read(|_| {}).unwrap().operations, 20);
}

#[test]
fn the_trace_of_another_job_is_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    parts(dir.path(), &Script::bursts(2, 10));
    std::fs::write(dir.path().join("out.msgpack"), "somebody's").unwrap();
    let output = ftio(dir.path(), &["recover", "out.msgpack.parts"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(std::fs::read(dir.path().join("out.msgpack")).unwrap(), b"somebody's");
}

#[test]
fn parts_are_removed_only_on_request_and_when_that_is_safe() {
    let dir = tempfile::tempdir().unwrap();
    parts(dir.path(), &Script::bursts(1, 3));
    let parts = dir.path().join("out.msgpack.parts");
    let output = ftio(dir.path(), &["recover", "--clean", "out.msgpack"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("other hosts") && parts.is_dir(), "{}", stderr(&output));
    assert_eq!(
        exit_code(dir.path(), &["recover", "--clean", "--force", "-o", "b", "out.msgpack.parts"]),
        Some(0)
    );
    assert!(!parts.exists() && dir.path().join("b").is_file());
}

#[test]
fn a_damaged_trace_does_not_become_complete() {
    let dir = tempfile::tempdir().unwrap();
    let (mut bytes, ends) = Script::bursts(2, 5).frames();
    bytes[ends[3] - 5] ^= 1;
    std::fs::write(dir.path().join("t"), bytes).unwrap();
    assert_eq!(exit_code(dir.path(), &["recover", "t", "-o", "u"]), Some(0));
    let outcome = Trace::open(&dir.path().join("u")).unwrap().read(|_| {}).unwrap();
    assert_eq!((outcome.complete, outcome.operations), (false, 5));
}
