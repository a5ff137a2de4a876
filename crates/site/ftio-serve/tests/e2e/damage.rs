//! Data that are damaged on the disk: the service starts, answers, and says what is missing.

use crate::server::{Server, config, ioskel, opened, until};
use ftio_serve::ingest::push::{Push, take};
use ftio_serve::{Config, Service};
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A store with two ended jobs, one that was traced, and one that runs; the service has ended well.
fn filled(data: &Path, watched: &Path) -> Config {
    std::fs::write(watched.join("a"), ioskel(2, "traced", "/bin/app")).unwrap();
    let mut config = config(data);
    config.watch = vec![watched.to_owned()];
    let server = Server::start(config.clone());
    server.wait("/profiles", |all| all.as_array().is_some_and(|all| all.len() == 1));
    for (jobid, end) in [("ended1", true), ("ended2", true), ("runs", false)] {
        let value = json!({"job": {"jobid": jobid, "command": format!("/opt/{jobid} x"), "size": 4},
            "metrics": {"written_bytes": [[1, 10], [2, 30]]}, "end": end});
        assert_eq!(server.post("/api/v1/push", &value).0, 200);
    }
    server.stop();
    config
}

fn rows(server: &Server) -> Vec<String> {
    let jobs = server.json("/api/v1/jobs?limit=500");
    let mut all: Vec<String> = jobs["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["jobid"].as_str().unwrap().to_owned())
        .collect();
    all.sort();
    all
}

fn counted(server: &Server, kind: &str) -> f64 {
    let name = format!("ftio_damaged_total{{kind=\"{kind}\"}} ");
    let text = server.get("/metrics").1;
    text.lines().find_map(|line| line.strip_prefix(name.as_str())).unwrap().parse().unwrap()
}

/// One value of one row is spoilt; the database as such is whole. What else is there is answered, the row is
/// named and kept.
#[test]
fn a_damaged_row_costs_itself() {
    let all = ["ended1", "ended2", "runs", "traced"];
    let cases: [(&str, &str, &[&str]); 10] = [
        ("jobs", "UPDATE jobs SET command = cast(x'2fff' AS TEXT) WHERE jobid = 'ended1'", &all[1..]),
        (
            "jobs",
            "UPDATE jobs SET jobid = cast(x'ff' AS TEXT) WHERE jobid = 'runs'",
            &["ended1", "ended2", "traced"],
        ),
        ("jobs", "UPDATE jobs SET state = 'runn)ng' WHERE jobid = 'runs'", &["ended1", "ended2", "traced"]),
        ("jobs", "UPDATE jobs SET start = 'x' WHERE jobid = 'ended2'", &["ended1", "runs", "traced"]),
        // A job that comes from a trace is read again.
        ("jobs", "UPDATE jobs SET app = x'00' WHERE jobid = 'traced'", &all),
        ("details", "UPDATE details SET totals = replace(totals, '\":', '#:')", &all),
        ("details", "UPDATE details SET detection = cast(x'7bff7d' AS TEXT) WHERE job = 1", &all),
        ("runs", "UPDATE runs SET measurements = cast(x'5bff5d' AS TEXT)", &all),
        ("sources", "UPDATE sources SET path = cast(x'2fff' AS TEXT)", &all),
        ("days", "UPDATE days SET jobs = 'many'", &all),
    ];
    for (table, sql, left) in cases {
        let (data, watched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let config = filled(data.path(), watched.path());
        let database = rusqlite::Connection::open(data.path().join("jobs.db")).unwrap();
        let spoilt = database.execute(sql, []).unwrap();
        assert!(spoilt > 0, "{sql}");
        drop(database);
        let server = Server::start(config);
        // Lists are answered from the first moment on.
        for path in
            ["/api/v1/jobs", "/job/list", "/api/v1/apps", "/profiles", "/api/v1/site", "/model/get?app=app"]
        {
            assert_eq!(server.get(path).0, 200, "{sql}: {path}: {}", server.get(path).1);
        }
        until(sql, || counted(&server, "row") as usize == spoilt && rows(&server) == left);
        let told = server.json("/readyz");
        let text = told["damaged"].to_string();
        assert!(told["ready"] == true && text.contains(&format!(" of {table}: ")), "{sql}: {told}");
        let kept = std::fs::read_to_string(data.path().join("damaged/rows.jsonl")).unwrap();
        assert_eq!(kept.lines().count(), spoilt, "{sql}");
        for line in kept.lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            assert!(row["table"] == table && row["content"].is_object(), "{row}");
        }
        let more = json!({"job": {"jobid": "new", "size": 4}, "metrics": {"written_bytes": 5}, "end": true});
        assert_eq!(server.post("/api/v1/push", &more).0, 200, "{sql}");
    }
}

fn spoil(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(path).unwrap();
    change(&mut bytes);
    std::fs::write(path, bytes).unwrap();
}

/// A letter of a text becomes another one: nothing but the checksum tells.
#[test]
fn a_flipped_bit_that_makes_sense_is_found() {
    let (data, watched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let config = filled(data.path(), watched.path());
    let mut changed = 0;
    spoil(&data.path().join("jobs.db"), |bytes| {
        let text = b"/opt/ended1 x";
        for at in 0..bytes.len() - text.len() {
            if &bytes[at..at + text.len()] == text {
                bytes[at + text.len() - 1] ^= 1;
                changed += 1;
            }
        }
    });
    assert!(changed > 0);
    let server = Server::start(config);
    until("it is put aside", || {
        counted(&server, "row") == 1.0 && rows(&server) == ["ended2", "runs", "traced"]
    });
    let told = server.json("/readyz")["damaged"].to_string();
    assert!(told.contains("of jobs: its checksum is wrong"), "{told}");
}

/// Whatever becomes of the file of the database, the service starts, answers and takes pushes.
#[test]
fn any_damage_to_the_database_lets_the_service_start() {
    let (data, watched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let config = filled(data.path(), watched.path());
    let whole = std::fs::read(data.path().join("jobs.db")).unwrap();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |most: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % most as u64) as usize
    };
    for round in 0..24 {
        let copy = tempfile::tempdir().unwrap();
        let mut bytes = whole.clone();
        match round % 4 {
            0 => (0..40).for_each(|_| bytes[next(whole.len())] ^= 1 << next(8)),
            1 => {
                let at = next(whole.len() - 600);
                bytes[at..at + 512].fill(0);
            }
            2 => bytes.truncate(next(whole.len())),
            _ => {
                // Texts that are not UTF-8, everywhere.
                let at = next(whole.len() - 9000);
                bytes[at..at + 8000]
                    .iter_mut()
                    .filter(|byte| byte.is_ascii_lowercase())
                    .for_each(|b| *b |= 0x80);
            }
        }
        std::fs::write(copy.path().join("jobs.db"), &bytes).unwrap();
        let config = Config { data: copy.path().to_owned(), ..config.clone() };
        let server = Server::start(config);
        until("the trace is there in any case", || rows(&server).contains(&"traced".to_owned()));
        let value = json!({"job": {"jobid": "new", "size": 4}, "metrics": {"written_bytes": 5}, "end": true});
        assert_eq!(server.post("/api/v1/push", &value).0, 200, "round {round}");
        assert!(rows(&server).contains(&"new".to_owned()), "round {round}");
    }
}

fn push(service: &Service, jobid: &str, second: usize) {
    let value = json!({"job": {"jobid": jobid}, "kind": {"written_bytes": "increment"},
        "metrics": {"written_bytes": [[second, 10]]}});
    take(service, &serde_json::from_value::<Push>(value).unwrap(), Some(1)).unwrap();
}

fn copy(data: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    let from = format!("{}/.", data.display());
    assert!(
        std::process::Command::new("cp").args(["-r", &from]).arg(copy.path()).status().unwrap().success()
    );
    copy
}

/// One push of the journal is damaged: that one is lost, and it is told which.
#[test]
fn a_damaged_push_in_the_journal_costs_itself() {
    let data = tempfile::tempdir().unwrap();
    let service = opened(data.path());
    (0..20).for_each(|second| push(&service, "j", second));
    let crashed = copy(data.path());
    let journal = std::fs::read_dir(crashed.path().join("journal")).unwrap().next().unwrap().unwrap().path();
    spoil(&journal, |bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
    });
    let again = opened(crashed.path());
    let written = again.running().jobs.values().next().unwrap().row.written_bytes;
    assert_eq!(written, 190.0, "nineteen of twenty");
    let told = again.stats.damage.latest().join("; ");
    assert!(told.contains("journal/") && told.contains("cannot be read"), "{told}");
    assert!(crashed.path().join("damaged").read_dir().unwrap().count() == 1);
}

/// After a crash the log of the database is damaged: SQLite leaves out what comes after that without a word.
#[test]
fn a_damaged_log_is_told() {
    let data = tempfile::tempdir().unwrap();
    let service = opened(data.path());
    service.writer().empty_log().unwrap();
    (0..30).for_each(|job| push(&service, &format!("j{job}"), 1));
    let crashed = copy(data.path());
    let log = crashed.path().join("jobs.db-wal");
    assert!(std::fs::metadata(&log).unwrap().len() > 10_000);
    spoil(&log, |bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
    });
    let again = opened(crashed.path());
    let told = again.stats.damage.latest().join("; ");
    assert!(told.contains("jobs.db-wal: page") && again.running().jobs.len() < 30, "{told}");
    // As long as the service runs, what is in the log is brought into the database every second.
    service.empty_log().unwrap();
    assert_eq!(std::fs::metadata(data.path().join("jobs.db-wal")).unwrap().len(), 0);
}

/// Nobody else reads what is kept, whatever the umask: commands, paths and file names are in it.
#[test]
fn data_are_for_their_owner_alone() {
    let parent = tempfile::tempdir().unwrap();
    let (data, watched) = (parent.path().join("made/by/serve"), tempfile::tempdir().unwrap());
    let config = filled(&data, watched.path());
    let server = Server::start(config);
    assert_eq!(server.post("/api/v1/push", &json!({"job": {"jobid": "j"}, "metrics": {"a": 1}})).0, 200);
    let mut left = vec![data];
    let mut seen = 0;
    while let Some(path) = left.pop() {
        let about = std::fs::symlink_metadata(&path).unwrap();
        let wanted = if about.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(about.mode() & 0o7777, wanted, "{}", path.display());
        seen += 1;
        if about.is_dir() {
            left.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    assert!(seen > 10, "database, log, index of the log, lock, journal, series");
}
