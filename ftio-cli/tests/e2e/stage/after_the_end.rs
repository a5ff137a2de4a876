//! Files of every kind when the job is over, dry runs, wrong usage, simulations.

use super::{Staging, Writer, content, ended_job, folders, names};
use crate::support::{SECOND, blocking, ftio, skipped, stderr, stdout};
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};
use tmio_trace::Direction;

#[test]
fn files_of_every_kind_after_the_end_of_the_job() {
    let dir = folders();
    let (bb, storage) = (dir.path().join("bb"), dir.path().join("storage"));
    fs::create_dir_all(bb.join("a/b")).unwrap();
    fs::write(bb.join("a/b/plain"), content(1, 200_000)).unwrap();
    fs::hard_link(bb.join("a/b/plain"), bb.join("second")).unwrap();
    symlink("a/b/plain", bb.join("link")).unwrap();
    symlink("nowhere", bb.join("dangling")).unwrap();
    let sparse = File::create(bb.join("sparse")).unwrap();
    sparse.set_len(100 << 20).unwrap();
    sparse.write_all_at(b"data", 60 << 20).unwrap();
    fs::write(bb.join("empty"), "").unwrap();
    // Unpacked, or copied with its time: the job has written it all the same.
    let old = File::create(bb.join("unpacked")).unwrap();
    old.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
    assert!(Command::new("mkfifo").arg(bb.join("pipe")).status().unwrap().success());
    ended_job(dir.path());
    let output = ftio(dir.path(), &["stage", "run", "--from", "bb", "--to", "storage", "--checksum"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    assert_eq!(stderr(&output).matches("pipes").count(), 1, "{}", stderr(&output));
    assert!(stdout(&output).contains("7 files out"), "{}", stdout(&output));
    assert_eq!(names(&storage), ["a", "dangling", "empty", "link", "second", "sparse", "unpacked"]);
    let meta = |name: &str| fs::symlink_metadata(storage.join(name)).unwrap();
    assert_eq!(meta("second").ino(), meta("a/b/plain").ino());
    assert_eq!(fs::read_link(storage.join("link")).unwrap(), Path::new("a/b/plain"));
    assert_eq!(fs::read(storage.join("second")).unwrap(), content(1, 200_000));
    assert!(meta("sparse").len() == 100 << 20 && meta("sparse").blocks() * 512 < 2 << 20);
    let journal = fs::read_dir(&storage).unwrap().flatten();
    let journals = journal.filter(|item| item.file_name().to_str().unwrap().ends_with(".journal"));
    assert_eq!(journals.count(), 1);
}

#[test]
fn what_was_there_before_the_job_stays_where_it_is() {
    let dir = folders();
    fs::write(dir.path().join("bb/older"), "input").unwrap();
    // Clocks may differ by two seconds.
    std::thread::sleep(Duration::from_millis(2500));
    let mut writer = Writer::new(&dir.path().join("run"), 0);
    writer.block(&[blocking(Direction::Write, 0, SECOND / 10, 1 << 20)], "/elsewhere/out", SECOND / 10);
    writer.finish(SECOND / 10);
    fs::write(dir.path().join("bb/output"), "results").unwrap();
    let output = ftio(dir.path(), &["stage", "run", "--from", "bb", "--to", "storage"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    assert_eq!(names(&dir.path().join("storage")), ["output"], "{}", stdout(&output));
    assert!(stdout(&output).contains("1 files are older than the job"), "{}", stdout(&output));
}

#[test]
fn a_full_destination_is_reported_and_nothing_is_removed() {
    let dir = folders();
    let (bb, storage) = (dir.path().join("bb"), dir.path().join("storage"));
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m", "none"])
        .arg(&storage)
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        return skipped("mounting a small tmpfs needs the administrator");
    }
    fs::write(bb.join("small"), content(1, 100_000)).unwrap();
    fs::write(bb.join("large"), content(2, 3_000_000)).unwrap();
    ended_job(dir.path());
    let args = ["stage", "run", "--from", "bb", "--to", "storage", "--evict", "--capacity", "1M", "--json"];
    let output = ftio(dir.path(), &args);
    let seen = names(&storage);
    let umounted = Command::new("umount").arg(&storage).status().unwrap();
    assert!(umounted.success());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(seen, ["small"]);
    assert!(stdout(&output).contains("\"event\":\"full\""), "{}", stdout(&output));
    assert!(bb.join("large").exists());
}

#[test]
fn a_command_copies_and_an_interrupt_is_a_normal_end() {
    let dir = folders();
    fs::write(dir.path().join("bb/a b"), content(1, 1000)).unwrap();
    ended_job(dir.path());
    let args = ["stage", "run", "--from", "bb", "--to", "storage", "--command", "cat {src} > {dst}"];
    let output = ftio(dir.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(fs::read(dir.path().join("storage/a b")).unwrap(), content(1, 1000));
    fs::write(dir.path().join("bb/large"), content(2, 1_000_000)).unwrap();
    let mut staging = Staging::start(dir.path(), &["--rate", "100k"]);
    staging.until("copy");
    let pid = staging.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let (code, seen, said) = staging.end();
    assert_eq!((code, &seen.last().unwrap()["event"]), (Some(0), &"summary".into()), "{said}");
    assert!(said.contains("1 files are left") || said.contains("1 file is left"), "{said}");
    assert_eq!(names(&dir.path().join("storage")), ["a b"], "its draft was removed");
}

#[test]
fn a_dry_run_touches_nothing() {
    let dir = folders();
    fs::write(dir.path().join("bb/file"), content(1, 1000)).unwrap();
    let mut writer = Writer::new(&dir.path().join("run"), 100);
    for i in 0..10 {
        let name = format!("/bb/out.{i}");
        let request = blocking(Direction::Write, 10 * i * SECOND, (10 * i + 2) * SECOND, 1 << 20);
        writer.block(&[request], &name, (10 * i + 2) * SECOND);
    }
    writer.finish(100 * SECOND);
    let base = ["stage", "run", "--from", "bb", "--to", "storage", "--dry-run"];
    let output = ftio(dir.path(), &[&base[..], &["--rate", "1M", "--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(names(&dir.path().join("storage")), [""; 0]);
    let lines: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().all(|line| line["dry_run"] == true));
    let copies: Vec<&Value> = lines.iter().filter(|line| line["event"] == "copy").collect();
    assert_eq!(copies.len(), 10);
    let quiet = copies.iter().filter(|line| line["reason"] == "quiet").count();
    assert!(quiet >= 4, "from the time on that there is a period: {copies:#?}");
    for copy in copies.iter().filter(|line| line["reason"] == "quiet") {
        let t = copy["t"].as_f64().unwrap() % 10.0;
        assert!((3.0..9.0).contains(&t), "{copy}");
    }
    let report = &lines.last().unwrap()["report"];
    assert_eq!((&report["files_out"], &report["seconds_overlap"]), (&10.into(), &Value::from(0.0)));
    assert_eq!(ftio(dir.path(), &base).status.code(), Some(2), "how fast would it be?");
}

#[test]
fn wrong_usage_is_told() {
    let dir = folders();
    ended_job(dir.path());
    let stage = |args: &[&str]| {
        let output = ftio(dir.path(), &[&["stage"], args].concat());
        (output.status.code(), stderr(&output))
    };
    let inside = stage(&["run", "--from", ".", "--to", "storage"]);
    assert!(inside.0 == Some(2) && inside.1.contains("one is inside the other"), "{inside:?}");
    let missing = stage(&["run", "--from", "none", "--to", "storage"]);
    assert!(missing.0 == Some(1) && missing.1.contains("--from none"), "{missing:?}");
    let folders = ["run", "--from", "bb", "--to", "storage"];
    for wrong in
        [&["--command", "cp a b"][..], &["--rate", "fast"], &["--set", "low-water=0.9"], &["--rate", "0"]]
    {
        let found = stage(&[&folders[..], wrong].concat());
        assert_eq!(found.0, Some(2), "{wrong:?}: {}", found.1);
    }
    assert_eq!(stage(&["run"]).0, Some(2));
    fs::write(dir.path().join("list"), "../x\n").unwrap();
    let outside = stage(&[&folders[..], &["--stage-in", "list"]].concat());
    assert!(outside.0 == Some(1) && outside.1.contains("line 1"), "{outside:?}");
    fs::write(dir.path().join("journal"), "something else\n").unwrap();
    let foreign = stage(&[&folders[..], &["--journal", "journal"]].concat());
    assert!(foreign.0 == Some(1) && foreign.1.contains("is not a journal"), "{foreign:?}");
}

#[test]
fn a_simulation_compares_policies() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["--period", "100", "--phase-bytes", "100G", "--bandwidth", "10G", "--rate", "1.5G"];
    let more = ["--phases", "6", "--files", "4", "--capacity", "10T", "--flush", "10"];
    let output = ftio(dir.path(), &[&["simulate", "staging", "--json"][..], &args, &more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("{\"schema\":\"ftio.stage-simulate/1\","));
    let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let names: Vec<_> =
        found["policies"].as_array().unwrap().iter().map(|p| p["policy"].as_str().unwrap()).collect();
    assert_eq!(names, ["none", "at-once", "at-end", "quiet"]);
    let of = |i: usize, field: &str| found["policies"][i][field].as_f64().unwrap();
    assert_eq!(of(0, "added"), 0.0);
    assert!(of(3, "added") < 0.01 && of(3, "drained") < of(2, "drained"), "{found:#}");
    assert_eq!(found["policies"][3]["report"]["bytes_left"], 0);
    let again = ftio(dir.path(), &[&["simulate", "staging", "--json"][..], &args, &more].concat());
    assert_eq!(stdout(&output), stdout(&again), "the same seed");
    let text = ftio(dir.path(), &[&["simulate", "staging"][..], &args, &more].concat());
    assert!(stdout(&text).contains("after the end"), "{}", stdout(&text));
    let wrong = ftio(
        dir.path(),
        &[
            "simulate",
            "staging",
            "--period",
            "10",
            "--phase-bytes",
            "1T",
            "--bandwidth",
            "1G",
            "--rate",
            "1G",
        ],
    );
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn what_changes_vanishes_or_cannot_be_written_under_the_copy() {
    let dir = folders();
    let (bb, storage) = (dir.path().join("bb"), dir.path().join("storage"));
    ended_job(dir.path());
    // Oldest first, then the smallest: this is the order of their names.
    for (i, name) in ["a-changes", "b-vanishes", "c-shrinks", "d-plain"].iter().enumerate() {
        fs::write(bb.join(name), content(i as u64, 300_000 + 1000 * i)).unwrap();
    }
    fs::write(bb.join("taken"), content(9, 10)).unwrap();
    // A folder is where its copy should be.
    fs::create_dir_all(storage.join("taken/by another")).unwrap();
    let mut staging = Staging::start(dir.path(), &["--rate", "500k", "--set", "guard=0.2"]);
    // Each is disturbed the first time that it is copied.
    let mut left = vec!["a-changes", "b-vanishes", "c-shrinks"];
    while !left.is_empty() {
        let copy = staging.until("copy");
        let path = copy["path"].as_str().unwrap();
        let Some(at) = left.iter().position(|name| *name == path) else { continue };
        match left.remove(at) {
            "a-changes" => fs::write(bb.join(path), content(50, 299_000)).unwrap(),
            "b-vanishes" => fs::remove_file(bb.join(path)).unwrap(),
            _ => File::options().write(true).open(bb.join(path)).unwrap().set_len(100_000).unwrap(),
        }
    }
    let (code, seen, said) = staging.end();
    assert_eq!(code, Some(1), "one file is left: {said}{seen:#?}");
    assert_eq!(names(&storage), ["a-changes", "c-shrinks", "d-plain", "taken"]);
    assert_eq!(fs::read(storage.join("a-changes")).unwrap(), content(50, 299_000), "the new content");
    assert_eq!(fs::read(storage.join("c-shrinks")).unwrap(), content(2, 302_000)[..100_000]);
    assert_eq!(fs::read(storage.join("d-plain")).unwrap(), content(3, 303_000));
    let of = |path: &str, event: &str| {
        seen.iter().filter(|line| line["path"] == path && line["event"] == event).count()
    };
    // A look at the buffer may notice it before the copy does.
    for (path, event) in [("a-changes", "changed"), ("b-vanishes", "vanished"), ("c-shrinks", "changed")] {
        assert_eq!(of(path, event) + of(path, "cancelled"), 1, "{path}: {seen:#?}");
    }
    assert_eq!(of("taken", "failed"), 3, "{seen:#?}");
}
