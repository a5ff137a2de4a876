//! What goes wrong around the service: a full disk, damaged files, clocks, directories that vanish. It says
//! so, goes on, and recovers.

use crate::server::{Server, config, ioskel, opened};
use ftio_serve::Service;
use ftio_serve::ingest::push::{NotTaken, Push, Taken, take};
use ftio_serve::job::State;
use serde_json::{Value, json};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

fn push(service: &Service, value: Value) -> Result<Taken, NotTaken> {
    take(service, &serde_json::from_value::<Push>(value).unwrap(), Some(1))
}

fn written(service: &Service, jobid: &str) -> f64 {
    let running = service.running();
    let job = running.jobs.values().find(|job| job.row.desc.jobid == jobid).expect("the job runs");
    let total = &job.totals["written_bytes"];
    assert_eq!(job.series.total("written_bytes") + total.first, total.value);
    job.row.written_bytes
}

/// The journal cannot be written: pushes are refused, what was taken stays, and all is well when there is
/// room again. A frame that was torn by the full disk hides nothing that comes after it.
#[test]
fn a_full_disk_refuses_and_recovers() {
    let data = tempfile::tempdir().unwrap();
    let service = opened(data.path());
    let sum = |second: usize| json!({"job": {"jobid": "j", "size": 4}, "metrics": {"written_bytes": [[second, 10 * (second + 1)]]}});
    push(&service, sum(0)).unwrap();
    service.flush_journal().unwrap();
    for number in 3..=4 {
        std::os::unix::fs::symlink("/dev/full", data.path().join(format!("journal/{number}"))).unwrap();
    }
    service.checkpoint().unwrap();
    for second in [1, 2] {
        let refused = push(&service, sum(second)).unwrap_err();
        assert!(matches!(refused, NotTaken::NotStored(_)), "{refused}");
    }
    let problems = service.stats.problems().join("; ");
    assert!(problems.contains("No space left"), "{problems}");
    assert_eq!(written(&service, "j"), 20.0, "what came first is in memory");
    // The series can be written: with them everything is on disk again, and the journal begins anew.
    service.checkpoint().unwrap();
    assert!(push(&service, sum(2)).is_err(), "the disk is full again");
    service.checkpoint().unwrap();
    push(&service, sum(3)).unwrap();
    service.flush_journal().unwrap();
    drop(service);
    assert_eq!(written(&opened(data.path()), "j"), 40.0, "also after a restart");
}

/// A job whose end cannot be stored is not lost: it ends at the next attempt.
#[test]
fn an_end_that_cannot_be_stored_comes_again() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(config(data.path()));
    let job = json!({"jobid": "7", "size": 2});
    assert_eq!(server.post("/api/v1/push", &json!({"job": job, "metrics": {"written_bytes": 5.0}})).0, 200);
    let database = rusqlite::Connection::open(data.path().join("jobs.db")).unwrap();
    let full = "CREATE TRIGGER full BEFORE UPDATE ON jobs BEGIN SELECT RAISE(FAIL, 'disk is full'); END";
    database.execute_batch(full).unwrap();
    let end = json!({"job": job, "metrics": {"written_bytes": 8.0}, "end": true});
    assert_eq!(server.post("/api/v1/push", &end).0, 503);
    assert_eq!(server.json("/api/v1/running")["jobs"][0]["written_bytes"], 8.0);
    database.execute_batch("DROP TRIGGER full").unwrap();
    assert_eq!(server.post("/api/v1/push", &end).0, 200);
    let jobs = server.json("/api/v1/jobs");
    assert_eq!(jobs["jobs"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&jobs["jobs"][0]["state"], &jobs["jobs"][0]["written_bytes"]),
        (&json!("finished"), &json!(8.0))
    );
}

fn spoil(path: &Path, from: u64, length: usize) {
    let mut file = std::fs::File::options().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(from)).unwrap();
    file.write_all(&vec![0x5a; length]).unwrap();
}

/// A damaged database is put aside. Traces are read again, pushed jobs are taken over as far as they can be
/// read, and the service starts.
#[test]
fn a_damaged_database_is_replaced() {
    for (from, length) in [(0, 64), (4096, 6000), (30_000, 30_000)] {
        let (data, watched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(watched.path().join("a"), ioskel(2, "traced", "/bin/app")).unwrap();
        let with_watch = || {
            let mut config = config(data.path());
            config.watch = vec![watched.path().to_owned()];
            config
        };
        let server = Server::start(with_watch());
        server.wait("/profiles", |all| all.as_array().is_some_and(|all| all.len() == 1));
        for i in 0..40 {
            let value =
                json!({"job": {"jobid": format!("p{i}"), "size": 4}, "metrics": {"x_bytes": 5}, "end": true});
            assert_eq!(server.post("/api/v1/push", &value).0, 200);
        }
        server.stop();
        let database = data.path().join("jobs.db");
        assert!(std::fs::metadata(&database).unwrap().len() > from + length as u64);
        spoil(&database, from, length);
        let server = Server::start(with_watch());
        server.wait("/api/v1/jobs?q=traced", |all| all["jobs"].as_array().is_some_and(|all| all.len() == 1));
        assert_eq!(server.get("/readyz").0, 200, "spoiled from {from}");
        assert!(data.path().join("jobs.db.damaged-1").exists(), "spoiled from {from}");
        let value = json!({"job": {"jobid": "new", "size": 4}, "metrics": {"written_bytes": 5}});
        assert_eq!(server.post("/api/v1/push", &value).0, 200);
    }
}

/// Damage that is met while the service runs.
#[test]
fn running_jobs_survive_a_new_database() {
    let data = tempfile::tempdir().unwrap();
    let service = opened(data.path());
    push(&service, json!({"job": {"jobid": "j"}, "metrics": {"written_bytes": 7}})).unwrap();
    push(
        &service,
        json!({"job": {"jobid": "done", "size": 2}, "metrics": {"written_bytes": 7}, "end": true}),
    )
    .unwrap();
    service.checkpoint().unwrap();
    service.mend().unwrap();
    assert!(!data.path().join("jobs.db.damaged-1").exists(), "nothing was wrong with it");
    // From the schema on there is nothing but nonsense, and no log to repair it from.
    for ending in ["", "-wal"] {
        let path = data.path().join(format!("jobs.db{ending}"));
        if std::fs::metadata(&path).is_ok_and(|about| about.len() > 0) {
            spoil(&path, 0, 8192);
        }
    }
    service.mend().unwrap();
    assert!(data.path().join("jobs.db.damaged-1").exists());
    push(&service, json!({"job": {"jobid": "j"}, "metrics": {"written_bytes": 9}})).unwrap();
    assert_eq!(written(&service, "j"), 9.0);
    service.checkpoint().unwrap();
    drop(service);
    assert_eq!(written(&opened(data.path()), "j"), 9.0);
}

/// The clock is set while jobs run: nobody is taken for silent, and values do not fall together.
#[test]
fn a_clock_that_is_set_ends_nothing() {
    let data = tempfile::tempdir().unwrap();
    let service = opened(data.path());
    push(&service, json!({"job": {"jobid": "j"}, "metrics": {"written_bytes": 7}})).unwrap();
    let before = service.running().jobs.values().next().unwrap().row.start;
    for by in [3600.0, -7200.0] {
        service.clock_was_set(by);
    }
    let running = service.running();
    let job = running.jobs.values().next().unwrap();
    assert_eq!(job.row.start, before - 3600.0, "what was a second ago still is");
    assert!(job.heard.elapsed() < Duration::from_secs(60));
    assert_eq!(job.row.state, State::Running);
}

/// A directory that is not there, comes, goes, and comes back.
#[test]
fn a_directory_may_vanish_and_come_back() {
    let (data, parent) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let watched = parent.path().join("traces");
    let mut config = config(data.path());
    config.watch = vec![watched.clone()];
    let server = Server::start(config);
    let wait = |status: u16| {
        let begun = Instant::now();
        while server.get("/readyz").0 != status {
            assert!(begun.elapsed() < Duration::from_secs(30), "/readyz does not become {status}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait(503);
    for (round, ranks) in [2, 4].into_iter().enumerate() {
        std::fs::create_dir(&watched).unwrap();
        wait(200);
        std::fs::write(watched.join("a"), ioskel(ranks, &format!("r{ranks}"), "/bin/app")).unwrap();
        server.wait("/profiles", |all| all.as_array().is_some_and(|all| all.len() == round + 1));
        std::fs::remove_dir_all(&watched).unwrap();
        wait(503);
    }
}

/// What is sent twice or too late counts once; a sum that begins anew counts on.
#[test]
fn late_and_doubled_values_count_once() {
    let data = tempfile::tempdir().unwrap();
    let service = opened(data.path());
    let batch = json!({"job": {"jobid": "j"}, "metrics": {"written_bytes": [[1, 10], [2, 20], [3, 30]]}});
    push(&service, batch.clone()).unwrap();
    let again = push(&service, batch).unwrap();
    assert_eq!((again.values, again.refused), (1, 2), "the last one may be the same");
    let late = json!({"job": {"jobid": "j"}, "metrics": {"written_bytes": [[2.5, 25]]}});
    assert_eq!(push(&service, late).unwrap().refused, 1);
    assert_eq!(written(&service, "j"), 30.0);
    let anew = json!({"job": {"jobid": "j"}, "metrics": {"written_bytes": [[9, 4]]}});
    push(&service, anew).unwrap();
    assert_eq!(written(&service, "j"), 34.0);
    // Several of one moment, in one push: the last sum is what counts.
    let one =
        json!({"job": {"jobid": "k"}, "metrics": {"written_bytes": [[1, 5], [1, 9], [1.0001, 12], [1, 7]]}});
    let taken = push(&service, one).unwrap();
    assert_eq!((taken.values, taken.refused), (3, 1));
    assert_eq!(written(&service, "k"), 12.0);
    // Numbers beyond all measure, whose sum would be none.
    let huge = json!({"job": {"jobid": "j"}, "kind": {"x": "increment"}, "metrics": {"x": [[1, 1e308], [2, 1e308]],
        "load": [[1, -1e200]]}});
    assert_eq!(push(&service, huge).unwrap().refused, 3);
}

/// However many jobs there are, their series take no more than they may.
#[test]
fn many_jobs_share_the_memory() {
    let data = tempfile::tempdir().unwrap();
    let mut config = config(data.path());
    // A user may have a quarter of these.
    (config.memory, config.most_running) = (8 << 20, 256);
    let service = Service::open(config).unwrap();
    for round in 0..2 {
        for job in 0..64 {
            let points: Vec<[u32; 2]> = (0..6000).map(|i| [6000 * round + i, 6000 * round + i]).collect();
            let value = json!({"job": {"jobid": job.to_string()}, "metrics": {"written_bytes": points}});
            push(&service, value).unwrap();
        }
    }
    let bytes: usize = service.running().jobs.values().map(|job| job.memory()).sum();
    assert!(bytes <= (8 << 20) / 4, "{bytes}");
    assert_eq!(written(&service, "5"), 11_999.0);
    let one_more = push(&service, json!({"job": {"jobid": "more"}, "metrics": {"a": 1}})).unwrap_err();
    assert!(one_more.to_string().contains("running jobs: you have 64, and may have 64"), "{one_more}");
}

/// Jobs that ended long ago are forgotten with their series. Their days still add up, and their traces are
/// not read again.
#[test]
fn old_jobs_are_forgotten_and_their_sums_stay() {
    let (data, watched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for ranks in [2, 4] {
        let path = watched.path().join(ranks.to_string());
        std::fs::write(path, ioskel(ranks, &ranks.to_string(), "/bin/app")).unwrap();
    }
    let with_watch = || {
        let mut config = config(data.path());
        config.watch = vec![watched.path().to_owned()];
        config
    };
    let server = Server::start(with_watch());
    server.wait("/profiles", |all| all.as_array().is_some_and(|all| all.len() == 2));
    let recent = json!({"job": {"jobid": "recent", "size": 4}, "metrics": {"written_bytes": 5}, "end": true});
    assert_eq!(server.post("/api/v1/push", &recent).0, 200);
    server.stop();
    let series = data.path().join("series/0");
    assert_eq!(std::fs::read_dir(&series).unwrap().count(), 3);
    let mut config = with_watch();
    config.keep = Some(Duration::from_secs(30 * 86_400));
    let server = Server::start(config);
    let left = server.wait("/profiles", |all| all.as_array().is_some_and(|all| all.len() == 1));
    assert_eq!(left[0]["jobid"], "recent");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(server.json("/profiles").as_array().unwrap().len(), 1, "nothing is read again");
    assert_eq!(std::fs::read_dir(&series).unwrap().count(), 1);
    assert_eq!(server.json("/api/v1/site?days=3660")["users"][0]["jobs"], 3.0);
    assert!(server.get("/metrics").1.contains("ftio_jobs_forgotten_total 2"));
}

/// After a start with a clock that is years ahead, nothing is forgotten before the clock can have been set.
#[test]
fn a_clock_that_is_ahead_forgets_nothing_at_once() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(config(data.path()));
    let job = json!({"job": {"jobid": "j", "size": 4}, "metrics": {"written_bytes": 5}, "end": true});
    assert_eq!(server.post("/api/v1/push", &job).0, 200);
    server.stop();
    let database = rusqlite::Connection::open(data.path().join("jobs.db")).unwrap();
    database.execute("UPDATE jobs SET start = start - 1e8, end = end - 1e8", []).unwrap();
    drop(database);
    let mut config = config(data.path());
    config.keep = Some(Duration::from_secs(30 * 86_400));
    let server = Server::start(config);
    std::thread::sleep(Duration::from_millis(1500));
    assert!(server.get("/metrics").1.contains("ftio_jobs_forgotten_total 0"));
    assert_eq!(server.json("/api/v1/jobs")["jobs"][0]["jobid"], "j");
}

/// A database of an older ftio is brought up to date, one of a newer ftio is not touched.
#[test]
fn databases_of_other_versions() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(config(data.path()));
    let value = json!({"job": {"jobid": "old", "size": 4}, "metrics": {"written_bytes": 5}, "end": true});
    assert_eq!(server.post("/api/v1/push", &value).0, 200);
    server.stop();
    let path = data.path().join("jobs.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch(
            "ALTER TABLE jobs DROP COLUMN categories; ALTER TABLE jobs DROP COLUMN high_findings;
             DROP TABLE day_categories; PRAGMA user_version = 1",
        )
        .unwrap();
    drop(database);
    let server = Server::start(config(data.path()));
    assert_eq!(server.json("/api/v1/jobs")["jobs"][0]["jobid"], "old");
    assert_eq!(server.get("/api/v1/site/categories").0, 200);
    assert_eq!(server.post("/api/v1/push", &value).0, 200);
    server.stop();

    let database = rusqlite::Connection::open(&path).unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    drop(database);
    let error = Service::open(config(data.path())).unwrap_err().to_string();
    assert!(error.contains("version 99, made by a newer ftio"), "{error}");
    let database = rusqlite::Connection::open(&path).unwrap();
    let version: i64 = database.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 99, "it is left as it is");
}

/// The directory of data is removed, or another database is put in the place of ours, while jobs run: all
/// that is known is there again after a restart.
#[test]
fn data_that_are_removed_or_replaced_are_written_anew() {
    for how in ["directory", "database", "journal"] {
        let parent = tempfile::tempdir().unwrap();
        let data = parent.path().join("data");
        let server = Server::start(config(&data));
        let done = json!({"job": {"jobid": "done", "size": 2}, "metrics": {"written_bytes": 5}, "end": true});
        assert_eq!(server.post("/api/v1/push", &done).0, 200);
        let sum = |value: u32| json!({"job": {"jobid": "j"}, "metrics": {"written_bytes": value}});
        assert_eq!(server.post("/api/v1/push", &sum(7)).0, 200);
        match how {
            "directory" => std::fs::remove_dir_all(&data).unwrap(),
            "journal" => std::fs::remove_dir_all(data.join("journal")).unwrap(),
            _ => {
                let other = parent.path().join("other");
                opened(&other);
                std::fs::rename(other.join("jobs.db"), data.join("jobs.db")).unwrap();
            }
        }
        let begun = Instant::now();
        let is_back = || match how {
            "database" => data.join("jobs.db.replaced-1").exists(),
            "journal" => data.join("journal").exists(),
            _ => data.join("jobs.db").exists() && data.join("journal").exists(),
        };
        while !is_back() || server.get("/readyz").0 != 200 {
            assert!(begun.elapsed() < Duration::from_secs(60), "{how}: {:?}", server.get("/readyz"));
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(server.post("/api/v1/push", &sum(9)).0, 200, "{how}");
        assert!(Service::open(config(&data)).is_err(), "{how}: it is still ours");
        server.stop();
        let service = opened(&data);
        assert_eq!(written(&service, "j"), 9.0, "{how}");
        let found = service.find("done", &ftio_serve::viewer::Viewer::ALL).unwrap().expect("the ended job");
        assert_eq!((found.state, found.written_bytes), (State::Finished, 5.0), "{how}");
    }
}
