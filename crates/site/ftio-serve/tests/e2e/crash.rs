//! What is on disk after the process is gone from one moment to the next.

use crate::server::{Server, config, opened};
use ftio_serve::ingest::push::{Push, take};
use serde_json::json;
use std::path::Path;

/// The data of a service as it is on disk now, while it runs.
fn snapshot(data: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    let status = std::process::Command::new("cp")
        .arg("-r")
        .arg(format!("{}/.", data.display()))
        .arg(copy.path())
        .status();
    assert!(status.unwrap().success());
    copy
}

fn push(service: &ftio_serve::Service, second: usize, sum: f64) {
    let push: Push = serde_json::from_value(json!({"job": {"jobid": "j", "size": 4},
        "metrics": {"written_bytes": [[second, sum]], "load": [[second, 0.5]]}}))
    .unwrap();
    take(service, &push, Some(1)).unwrap();
}

/// Everything that was flushed is there, once, whenever the process is killed.
#[test]
fn what_was_flushed_survives_and_counts_once() {
    let data = tempfile::tempdir().unwrap();
    let service = opened(data.path());
    for second in 0..30 {
        push(&service, second, (second + 1) as f64 * 10.0);
        service.flush_journal().unwrap();
        if second % 7 == 3 {
            service.checkpoint().unwrap();
        }
        if second % 5 == 4 {
            let copy = snapshot(data.path());
            let again = opened(copy.path());
            let running = again.running();
            let job = running.jobs.values().next().expect("the job still runs");
            assert_eq!(job.totals["written_bytes"].value, (second + 1) as f64 * 10.0, "after {second} s");
            // Without the first sum, which is where it began.
            assert_eq!(job.series.total("written_bytes"), second as f64 * 10.0, "after {second} s");
            drop(running);
            // The sum goes on from where it was.
            push(&again, second + 1, (second + 2) as f64 * 10.0);
            let running = again.running();
            let job = running.jobs.values().next().unwrap();
            assert_eq!(job.totals["written_bytes"].value, (second + 2) as f64 * 10.0);
        }
    }
}

/// A push that was answered is there after the end of the process, without any flush; so docs/serve.md says.
#[test]
fn what_was_answered_survives_the_end_of_the_process() {
    let data = tempfile::tempdir().unwrap();
    let service = opened(data.path());
    for second in 0..10 {
        push(&service, second, (second + 1) as f64 * 10.0);
        let copy = snapshot(data.path());
        let again = opened(copy.path());
        let running = again.running();
        let job = running.jobs.values().next().expect("the job still runs");
        assert_eq!(job.totals["written_bytes"].value, (second + 1) as f64 * 10.0, "after {second} s");
    }
}

/// The end of a journal that was being written is cut off; what came before it counts.
#[test]
fn a_torn_journal_loses_its_end_only() {
    let data = tempfile::tempdir().unwrap();
    let service = opened(data.path());
    for second in 0..5 {
        push(&service, second, (second + 1) as f64);
        service.flush_journal().unwrap();
    }
    let copy = snapshot(data.path());
    let folder = copy.path().join("journal");
    let file = std::fs::read_dir(&folder)
        .unwrap()
        .flatten()
        .max_by_key(|entry| entry.metadata().unwrap().len())
        .unwrap();
    let bytes = std::fs::read(file.path()).unwrap();
    std::fs::write(file.path(), &bytes[..bytes.len() - 3]).unwrap();
    let again = opened(copy.path());
    assert_eq!(again.running().jobs.values().next().unwrap().totals["written_bytes"].value, 4.0);
}

/// A file of a series that is damaged costs that series, and nothing else.
#[test]
fn damaged_files_are_no_obstacle() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(config(data.path()));
    let value = json!({"job": {"jobid": "j", "size": 4}, "metrics": {"written_bytes": 5}, "end": true});
    assert_eq!(server.post("/api/v1/push", &value).0, 200);
    server.stop();
    std::fs::write(data.path().join("series/0/1.series"), "nonsense").unwrap();
    std::fs::write(data.path().join("journal/99"), "nonsense").unwrap();
    let server = Server::start(config(data.path()));
    assert_eq!(server.json("/profiles")[0]["jobid"], "j");
    for path in ["/trace/metrics?jobid=j", "/api/v1/jobs/1/series"] {
        let (status, body) = server.get(path);
        assert!(status == 410 && body.contains("damaged"), "{path}: {status} {body}");
    }
    assert_eq!(server.json("/api/v1/jobs/1")["series_damaged"], true);
    let metrics = server.get("/metrics").1;
    for kind in ["series", "journal"] {
        assert!(metrics.contains(&format!("ftio_damaged_total{{kind=\"{kind}\"}} 1")), "{metrics}");
    }
    let told = server.json("/readyz")["damaged"].to_string();
    assert!(told.contains("journal/99") && told.contains("series/0/1.damaged"), "{told}");
    assert!(
        data.path().join("series/0/1.damaged").exists() && data.path().join("damaged/journal-99-1").exists()
    );
}
