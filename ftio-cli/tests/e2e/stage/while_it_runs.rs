//! Files leave and come while the job runs, and whatever kills `ftio stage` meanwhile.

use super::{PERIOD, Staging, Writer, content, ended_job, folders, names};
use crate::predict::promtool_accepts;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;
use tmio_trace::Direction;

#[test]
fn files_leave_in_the_quiet_and_wait_while_an_early_phase_goes_on() {
    let dir = folders();
    let at = |name: &str| dir.path().join(name);
    let mut writer = Writer::new(&at("run"), 20);
    (0..10).for_each(|i| writer.phase(i, Direction::Write, "/elsewhere/out.dat"));
    writer.write_part();
    for i in 0..8 {
        fs::write(at("bb").join(format!("f{i}")), content(i, 200_000)).unwrap();
    }
    let (ends, early) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    writer.early = Some(Arc::clone(&early));
    let job: JoinHandle<()> = std::thread::spawn({
        let ends = Arc::clone(&ends);
        move || writer.live(ends)
    });
    let mut staging =
        Staging::start(dir.path(), &["--set", "guard=0.2", "--rate", "400k", "--prometheus", "m.prom"]);
    let copy = staging.until("copy");
    assert_eq!((&copy["reason"], &copy["direction"]), (&"quiet".into(), &"out".into()), "{copy}");
    assert!(copy["t"].as_f64() < copy["quiet_until"].as_f64(), "{copy}");
    assert!((copy["period"].as_f64().unwrap() - 2.0).abs() < 0.1, "{copy}");
    // Each copy meets a request that no phase announces, until one has been suspended.
    early.store(true, Relaxed);
    let suspended = loop {
        let line = staging.next("suspend");
        match line["event"].as_str().unwrap() {
            "copy" => early.store(true, Relaxed),
            "suspend" => break line,
            _ => {}
        }
    };
    assert!(["phase", "next_phase_near"].contains(&suspended["reason"].as_str().unwrap()), "{suspended}");
    staging.until("resume");
    staging.until("copied");
    ends.store(true, Relaxed);
    job.join().unwrap();
    let (code, seen, said) = staging.end();
    assert_eq!((code, said.as_str()), (Some(0), ""), "{seen:#?}");
    for i in 0..8 {
        assert!(fs::read(at("storage").join(format!("f{i}"))).unwrap() == content(i, 200_000), "f{i}");
    }
    assert_eq!(names(&at("storage")).len(), 8, "no draft is left");
    let report = &seen.last().unwrap()["report"];
    assert_eq!((&report["files_out"], &report["bytes_left"]), (&8.into(), &0.into()), "{report}");
    assert!(seen.iter().any(|line| line["event"] == "job-ended"));
    let metrics = fs::read_to_string(at("m.prom")).unwrap();
    assert!(metrics.contains("\nftio_stage_out_files_total{source=\"run\"} 8\n"), "{metrics}");
    assert!(metrics.contains("ftio_period_seconds{"), "{metrics}");
    promtool_accepts(&metrics);
}

#[test]
fn needed_files_are_there_before_the_job_begins() {
    let dir = folders();
    let (bb, storage) = (dir.path().join("bb"), dir.path().join("storage"));
    fs::create_dir(storage.join("in")).unwrap();
    for name in ["listed", "in/first", "in/later"] {
        fs::write(storage.join(name), content(7, 50_000)).unwrap();
    }
    fs::write(dir.path().join("list"), "# what every phase needs\nlisted\teach\nmissing\t1\n").unwrap();
    // An earlier run, in another folder, has read two files: in its first and in its third phase.
    let mut history = Writer::new(&dir.path().join("history"), 20);
    for i in 0..8 {
        match i {
            0 => history.phase(i, Direction::Read, "/bb/job1/in/first"),
            2 => history.phase(i, Direction::Read, "/bb/job1/in/later"),
            _ => history.phase(i, Direction::Write, "/bb/job1/out"),
        }
    }
    history.finish(8 * PERIOD);
    let args = ["--stage-in", "list", "--history", "history", "--set", "guard=0.2"];
    let mut staging = Staging::start(dir.path(), &args);
    for _ in 0..2 {
        let copied = staging.until("copied");
        assert_eq!((&copied["direction"], &copied["phase"]), (&"in".into(), &1.into()), "{copied}");
    }
    assert_eq!(fs::read(bb.join("in/first")).unwrap(), content(7, 50_000));
    assert!(bb.join("listed").exists() && !bb.join("in/later").exists());
    ended_job(dir.path());
    let (code, seen, said) = staging.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("missing") && said.contains("waiting for run"), "{said}");
    let report = &seen.last().unwrap()["report"];
    assert_eq!((&report["files_in"], &report["files_out"]), (&2.into(), &0.into()), "what came in stays");
}

/// Every file at the destination is whole, whatever a killed process was doing.
fn check_whole(storage: &Path, originals: &[(String, Vec<u8>)]) {
    for name in names(storage).iter().filter(|name| !name.starts_with(".ftio-stage.")) {
        let original = originals.iter().find(|(original, _)| original == name).unwrap();
        assert!(fs::read(storage.join(name)).unwrap() == original.1, "{name} is not whole");
    }
}

#[test]
fn killed_at_any_moment_it_leaves_nothing_half_done_and_goes_on() {
    let dir = folders();
    let (bb, storage) = (dir.path().join("bb"), dir.path().join("storage"));
    ended_job(dir.path());
    let mut originals = Vec::new();
    let args =
        ["--rate", "10M", "--evict", "--capacity", "1M", "--set", "high-water=0.5", "--set", "low-water=0.1"];
    let mut state = 12345u64;
    let mut removed = 0;
    for round in 0..50 {
        let file = (format!("f{round:02}"), content(round, 100_000 + 3_000 * round as usize));
        fs::write(bb.join(&file.0), &file.1).unwrap();
        originals.push(file);
        let mut staging = Staging::start(dir.path(), &args);
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // First let it come to its first copy; then any moment.
        if round % 10 == 9 {
            // By now more is in the buffer than fits.
            staging.until("evicted");
        } else if round % 4 > 0 {
            staging.until("copy");
        }
        std::thread::sleep(Duration::from_micros((state >> 33) % 60_000));
        staging.child.kill().unwrap();
        staging.child.wait().unwrap();
        check_whole(&storage, &originals);
        for (name, bytes) in &originals {
            let there = fs::read(bb.join(name)).is_ok_and(|found| found == *bytes);
            let copied = fs::read(storage.join(name)).is_ok_and(|found| found == *bytes);
            assert!(there || copied, "round {round}: {name} is lost");
            removed += usize::from(!there);
        }
    }
    assert!(removed > 0, "some were removed from the buffer meanwhile");
    let (code, seen, said) = Staging::start(dir.path(), &args).end();
    assert_eq!(code, Some(0), "{said}{seen:#?}");
    assert_eq!(names(&storage).len(), 50, "all are out, and no draft is left: {:?}", names(&storage));
    check_whole(&storage, &originals);
    let again = Staging::start(dir.path(), &args).end();
    let copies = again.1.iter().filter(|line| line["event"] == "copy").count();
    assert_eq!((again.0, copies), (Some(0), 0), "nothing is copied twice");
}
