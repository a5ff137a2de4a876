//! `ftio recover`: what a killed job has left.

use crate::support::{SECOND, Script, exit_code, ftio, skipped, stderr, stdout};
use serde_json::Value;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{ClockSample, Header, RankInfo, Trace, liveness};

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
    let told = ftio(dir.path(), &["recover", "--json", "out.msgpack"]);
    assert_eq!(told.status.code(), Some(0));
    crate::schemas::valid(&stdout(&told), "ftio.recover/1");
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

/// A part that says of its ranks what its writer likes.
fn part_that_says(dir: &Path, info: &RankInfo) -> PathBuf {
    let parts = dir.join("out.msgpack.parts");
    std::fs::create_dir(&parts).unwrap();
    let header = Header { version: 1, job: "1".into(), ranks: 1, number: Some(0xaa), ..Header::default() };
    let frames = [frame::encode(FrameKind::Header, &header), frame::encode(FrameKind::Rank, info)];
    let mut bytes: Vec<u8> = frames.into_iter().flat_map(Result::unwrap).collect();
    let (script, ends) = Script::bursts(1, 3).frames();
    bytes.extend(&script[ends[1]..ends[2]]);
    std::fs::write(parts.join("h.00000000000000aa.0000000000000001"), bytes).unwrap();
    parts
}

/// Whoever writes the parts of a trace decides what they say: `--clean` believes none of it.
#[test]
fn files_that_a_part_calls_spools_are_not_removed() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let private = at(&format!("tmio-{}", files::user::effective()));
    std::fs::create_dir(&private).unwrap();
    std::fs::set_permissions(&private, std::fs::Permissions::from_mode(0o700)).unwrap();
    let targets = [at("thesis.tex"), private.join("notes"), private.join("x.spool")];
    for target in &targets {
        std::fs::write(target, "all that I know").unwrap();
        let mut info =
            RankInfo { spool: target.display().to_string(), host: "h".into(), ..RankInfo::default() };
        info.boot_id = liveness::boot_id();
        info.pid = 0x7fff_fff0;
        let parts = part_that_says(dir.path(), &info);
        let output = ftio(dir.path(), &["recover", "--clean", "--force", "out.msgpack"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(!parts.exists(), "{}", stderr(&output));
        assert_eq!(std::fs::read_to_string(target).unwrap(), "all that I know");
        std::fs::remove_file(at("out.msgpack")).unwrap();
    }
}

#[test]
fn what_lies_among_the_parts_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    parts(dir.path(), &Script::bursts(1, 3));
    let folder = dir.path().join("out.msgpack.parts");
    assert!(
        Command::new("mkfifo")
            .arg(folder.join("h.00000000000000aa.0000000000000002"))
            .status()
            .unwrap()
            .success()
    );
    symlink("/dev/zero", folder.join("h.00000000000000aa.0000000000000003")).unwrap();
    symlink("node", folder.join("h.00000000000000aa.0000000000000004")).unwrap();
    std::fs::create_dir(folder.join("folder")).unwrap();
    assert_eq!(exit_code(dir.path(), &["recover", "out.msgpack"]), Some(0));
    let trace = Trace::open(&dir.path().join("out.msgpack")).unwrap().read(|_| {}).unwrap();
    assert_eq!(trace.operations, 3);
    assert_eq!(exit_code(dir.path(), &["recover", "--clean", "--force", "out.msgpack"]), Some(0));
    assert!(!folder.join("node").exists() && folder.join("folder").exists(), "only what was read is removed");
}

/// Parts that are reached through a link, and a link where the trace would go.
#[test]
fn links_are_not_recovered_through() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("real")).unwrap();
    parts(&dir.path().join("real"), &Script::bursts(1, 3));
    symlink("real/out.msgpack.parts", dir.path().join("other.parts")).unwrap();
    let output = ftio(dir.path(), &["recover", "--clean", "--force", "other"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(dir.path().join("real/out.msgpack.parts/node").exists() && !dir.path().join("other").exists());
    symlink("nowhere", dir.path().join("real/out.msgpack")).unwrap();
    let output = ftio(dir.path(), &["recover", "real/out.msgpack"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(!dir.path().join("real/nowhere").exists());
}

/// Root recovers for a user: what comes of it is that user's, and lies where that user may write.
#[test]
fn root_recovers_in_the_name_of_the_user() {
    const ANNA: u32 = 54_341;
    if !files::user::is_root() {
        return skipped("not root");
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let home = dir.path().join("home");
    std::fs::create_dir(&home).unwrap();
    parts(&home, &Script::bursts(1, 3));
    for path in [home.clone(), home.join("out.msgpack.parts"), home.join("out.msgpack.parts/node")] {
        chown(&path, Some(ANNA), Some(ANNA)).unwrap();
    }
    let output = ftio(dir.path(), &["recover", "home/out.msgpack"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let made = std::fs::metadata(home.join("out.msgpack")).unwrap();
    assert_eq!((made.uid(), made.mode() & 0o777), (ANNA, 0o600));
    // A file that root has named is root's.
    let output = ftio(dir.path(), &["recover", "home/out.msgpack", "-o", "copy"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(std::fs::metadata(dir.path().join("copy")).unwrap().uid(), 0);
    // What Anna may not write to, root does not for her.
    std::fs::remove_file(home.join("out.msgpack")).unwrap();
    chown(&home, Some(0), Some(0)).unwrap();
    let output = ftio(dir.path(), &["recover", "home/out.msgpack"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(!home.join("out.msgpack").exists());
}

/// The memory of a running job is shown only to who reads a trace of that very user.
#[test]
fn a_trace_does_not_show_the_memory_of_another_users_job() {
    const BERT: u32 = 54_342;
    if !files::user::is_root() {
        return skipped("not root");
    }
    let dir = tempfile::tempdir().unwrap();
    let private = dir.path().join("tmio-0");
    std::fs::create_dir(&private).unwrap();
    std::fs::set_permissions(&private, std::fs::Permissions::from_mode(0o700)).unwrap();
    let spool = private.join("1.spool");
    std::fs::write(&spool, crate::clean::spool_of(0, Path::new("/x.parts/y"))).unwrap();
    let content = tmio_trace::spool::Spool::parse(&std::fs::read(&spool).unwrap()).unwrap();
    let mut info =
        RankInfo { rank: content.rank().unwrap(), pid: content.pid(), user: Some(0), ..RankInfo::default() };
    info.spool = spool.display().to_string();
    (info.boot_id, info.namespace) = (liveness::boot_id(), liveness::namespace());
    let parts = part_that_says(dir.path(), &info);
    let operations = || {
        let trace = Trace::open(&dir.path().join("out.msgpack")).unwrap();
        trace.read(|_| {}).unwrap().from_spool
    };
    assert_eq!(operations(), 2, "root's own");
    chown(parts.join("h.00000000000000aa.0000000000000001"), Some(BERT), None).unwrap();
    assert_eq!(operations(), 0, "Bert's trace names root's memory");
}
