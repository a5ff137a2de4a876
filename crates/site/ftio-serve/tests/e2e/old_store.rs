//! Data of version 0.2, as its `ftio serve` left them when it was killed (`fixtures/store-0.2`): ended jobs,
//! a trace, two running jobs of which the last values are in the journal alone, a node, a threshold.

use crate::server::{Server, config};
use serde_json::Value;
use std::path::Path;

fn copied() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/store-0.2/.");
    assert!(
        std::process::Command::new("cp").arg("-r").arg(from).arg(copy.path()).status().unwrap().success()
    );
    copy
}

fn find<'a>(jobs: &'a Value, jobid: &str) -> &'a Value {
    let all = jobs["jobs"].as_array().unwrap();
    all.iter().find(|job| job["jobid"] == jobid).unwrap_or_else(|| panic!("{jobid}: {jobs}"))
}

#[test]
fn everything_of_it_is_there() {
    let data = copied();
    let server = Server::start(config(data.path()));
    for round in 0..2 {
        let jobs = server.json("/api/v1/jobs?limit=100");
        assert_eq!(jobs["jobs"].as_array().unwrap().len(), 11, "round {round}");
        for (jobid, state, written) in
            [("ended5", "finished", 66_000.0), ("ended6", "finished", 777.0), ("runs0", "running", 1000.0)]
        {
            let job = find(&jobs, jobid);
            assert_eq!((job["state"].as_str(), job["written_bytes"].as_f64()), (Some(state), Some(written)));
            let id = &job["id"];
            let points = &server.json(&format!("/api/v1/jobs/{id}/series"))["points"];
            assert!(points.as_array().unwrap().len() > 1, "{jobid}: {points}");
        }
        assert_eq!(find(&jobs, "runs1")["written_bytes"], 1001.0, "also what was in the journal alone");
        assert_eq!(find(&jobs, "ended0")["owner"], 1234);
        assert!(server.get("/alarms/list").1.contains("big"));
        assert_eq!(server.json("/readyz")["damaged"].as_array().unwrap().len(), 0);
    }
}

/// What we write, version 0.2 reads: the tables that it knows are as it made them, and so is the version.
#[test]
fn it_can_go_back_to_version_0_2() {
    let data = copied();
    let tables = |path: &Path| -> Vec<(String, String)> {
        let database = rusqlite::Connection::open(path.join("jobs.db")).unwrap();
        let version: i64 = database.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        assert_eq!(version, 2);
        let sql = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sum_%'
            AND name <> 'row_sums' ORDER BY name";
        let mut select = database.prepare(sql).unwrap();
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    let before = tables(data.path());
    let server = Server::start(config(data.path()));
    server.stop();
    assert_eq!(tables(data.path()), before);
    // Version 0.2 reads a whole journal up to its first frame that is not, and series of version 1.
    let series = std::fs::read(data.path().join("series/0/8.series")).unwrap();
    assert!(series.starts_with(b"FTSR\x01"));
    // What it changes loses its sum, and is not taken for damaged.
    let database = rusqlite::Connection::open(data.path().join("jobs.db")).unwrap();
    let changed =
        database.execute("UPDATE jobs SET written = written + 1 WHERE jobid = 'ended1'", []).unwrap();
    assert_eq!(changed, 1);
    drop(database);
    let server = Server::start(config(data.path()));
    std::thread::sleep(std::time::Duration::from_millis(500));
    let jobs = server.json("/api/v1/jobs?limit=100");
    assert_eq!(find(&jobs, "ended1")["written_bytes"], 22_001.0);
    assert_eq!(server.json("/readyz")["damaged"].as_array().unwrap().len(), 0);
}
