//! Logs of an archive: what a log says is on the page and in every sum, whether it tells times or not.

use crate::server::{Server, config};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Logs of our own making, and the larger ones of others.
fn logs() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../inputs/darshan-log/tests/reference");
    let own = ["3.41"].map(|name| own.join(name));
    let named = |path: PathBuf| PathBuf::from(format!("{}.darshan", path.display()));
    let mut logs: Vec<PathBuf> = own.into_iter().map(named).collect();
    let shared = test_data::shared_or_skip("archives", "traces/darshan");
    let names = ["imbalanced-io", "skew-app", "e3sm_io_heatmap_only", "partial_data_dxt"];
    let others = shared.iter().flat_map(|folder| names.map(|name| folder.join(name)));
    logs.extend(others.map(named));
    logs
}

/// All of them, in one archive.
fn archive() -> (Server, Vec<(PathBuf, Value)>, [tempfile::TempDir; 2]) {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let logs = logs();
    for log in &logs {
        std::fs::copy(log, folders[1].path().join(log.file_name().unwrap())).unwrap();
    }
    let mut config = config(folders[0].path());
    config.watch = vec![folders[1].path().to_owned()];
    let server = Server::start(config);
    let count = logs.len();
    let list = server
        .wait("/api/v1/jobs?limit=500", |all| all["jobs"].as_array().is_some_and(|all| all.len() == count));
    let of = |log: &PathBuf| {
        let summary = summary(log);
        let job = summary.job.unwrap();
        let id = job.id.trim();
        let is_it = |row: &&Value| row["jobid"] == id && row["command"] == job.executable.trim();
        let row = list["jobs"].as_array().unwrap().iter().find(is_it);
        (log.clone(), row.unwrap_or_else(|| panic!("{id} {}: {list}", log.display())).clone())
    };
    (server, logs.iter().map(of).collect(), folders)
}

fn summary(log: &Path) -> inspect::summary::Summary {
    let opened = sources::open(&sources::Input::new(log), &Default::default()).unwrap();
    inspect::summarize(opened.into_iter().next().unwrap()).unwrap()
}

#[test]
fn a_log_has_its_bytes_in_the_list_and_in_every_sum() {
    let (server, rows, _folders) = archive();
    let mut sums = [0.0; 2];
    for (log, row) in &rows {
        let summary = summary(log);
        let both = |sync: u64, nonblocking: u64| (sync + nonblocking) as f64;
        let written = both(summary.write_sync.bytes, summary.write_async.class.bytes);
        let read = both(summary.read_sync.bytes, summary.read_async.class.bytes);
        let shown = [row["written_bytes"].as_f64().unwrap(), row["read_bytes"].as_f64().unwrap()];
        assert_eq!(shown, [written, read], "{}", log.display());
        assert!(written + read > 0.0, "{}", log.display());
        sums.iter_mut().zip(shown).for_each(|(sum, bytes)| *sum += bytes);
        let job = server.json(&format!("/api/v1/jobs/{}", row["id"]));
        assert_eq!(job["totals"]["written_bytes"]["value"].as_f64(), Some(written), "{}", log.display());
        // What is insignificant is told from bytes and times, not from missing ones.
        let idle = |direction: &str| {
            row["categories"].as_array().unwrap().contains(&json!(format!("{direction}_insignificant")))
        };
        assert!(written == 0.0 || !idle("write") || written < 100e6, "{}: {row}", log.display());
        assert!(read == 0.0 || !idle("read") || read < 100e6, "{}: {row}", log.display());
        for (name, layer) in &summary.layers {
            let total = |of: &str| job["totals"][format!("{name}_{of}")]["value"].as_f64();
            assert_eq!(total("written_bytes"), Some(layer.write.bytes as f64), "{name} {}", log.display());
            assert_eq!(total("read_bytes"), Some(layer.read.bytes as f64), "{name} {}", log.display());
        }
        assert_eq!(job["totals"]["files"]["value"].as_f64(), Some(summary.files.len() as f64));
    }
    let site = server.json("/api/v1/site?days=3660");
    let days = site["users"].as_array().unwrap();
    let sum = |name: &str| days.iter().map(|day| day[name].as_f64().unwrap()).sum::<f64>();
    // Of logs that are not older than that.
    let recent = |row: &Value| row["end"].as_f64().unwrap() > crate::server::now() - 3659.0 * 86_400.0;
    let of = |name: &str| -> f64 {
        rows.iter().filter(|(_, row)| recent(row)).map(|(_, row)| row[name].as_f64().unwrap()).sum()
    };
    assert_eq!([sum("written_bytes"), sum("read_bytes")], [of("written_bytes"), of("read_bytes")]);
}

#[test]
fn a_log_of_which_a_part_is_missing_is_of_a_job_that_ended() {
    let (_server, rows, _folders) = archive();
    for (log, row) in &rows {
        let state = if summary(log).complete { "finished" } else { "partial" };
        assert_eq!(row["state"], state, "{}", log.display());
    }
}

/// One number, wherever it is shown.
#[test]
fn the_share_of_io_is_that_of_the_report_and_of_info() {
    let (server, rows, _folders) = archive();
    for (log, row) in &rows {
        let share = summary(log).io_share.map(|share| share.all);
        assert!(share.is_some_and(|share| share > 0.0), "{}", log.display());
        assert_eq!(row["io_share"].as_f64(), share, "{}", log.display());
        let job = server.json(&format!("/api/v1/jobs/{}", row["id"]));
        assert_eq!(job["io_share"].as_f64(), share, "{}", log.display());
        let (_, report) = server.get(&format!("/api/v1/jobs/{}/report.html", row["id"]));
        let shown = draw::units::percent(share.unwrap());
        assert!(report.contains(&format!("<dt>Time in I/O</dt><dd>{shown}</dd>")), "{}", log.display());
    }
}
