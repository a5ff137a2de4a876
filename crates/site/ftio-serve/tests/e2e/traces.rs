//! Traces that appear below a watched directory become jobs, profiles and models.

use crate::server::{Server, config, ioskel};
use serde_json::Value;
use std::path::Path;

const COMMAND: &str = "/opt/bin/ioskel ioskel.100ms.512k.15.100";

fn runs(folder: &Path) {
    for ranks in [1, 2, 4, 8] {
        let name = format!("tmio_{}_{ranks}.msgpack", 100 + ranks);
        std::fs::write(folder.join(name), ioskel(ranks, &(100 + ranks).to_string(), COMMAND)).unwrap();
    }
}

/// What is wrong with a job, by the rules themselves.
fn advised(trace: &Path) -> Value {
    let input = sources::Input::new(trace);
    let found = io_advice::study::studies(&input, &Default::default(), &Default::default()).unwrap();
    let study = found.into_iter().next().unwrap().unwrap();
    assert!(!study.findings.is_empty());
    serde_json::to_value(study.findings).unwrap()
}

fn equation(models: &Value, name: &str) -> String {
    let all = models.as_array().unwrap();
    let found = all.iter().find(|model| model[0] == name).unwrap_or_else(|| panic!("{name}: {models}"));
    found[1].as_str().unwrap().to_owned()
}

/// The check of the paper's figures: without any command, the formula of what is written and read.
#[test]
fn four_runs_give_the_models_of_the_paper() {
    let (data, watched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut config = config(data.path());
    config.watch = vec![watched.path().to_owned()];
    let server = Server::start(config);
    runs(watched.path());
    let profiles = server.wait("/profiles", |all| all.as_array().is_some_and(|all| all.len() == 4));
    assert_eq!(profiles[0]["jobid"], "108", "the latest first");
    assert_eq!(profiles[0]["nodelist"], "node0,node1");
    assert_eq!(profiles[0]["command"], COMMAND);

    let models = server.json("/model/get?jobid=101");
    assert_eq!(equation(&models, "write_sync->total_bytes"), "4194304.0 * size^(1)");
    assert_eq!(equation(&models, "read_sync->total_bytes"), "3670016.0 * size^(1)");
    assert_eq!(equation(&models, "written_bytes"), "4194304.0 * size^(1)");
    assert_eq!(server.json("/model/get?job=108"), models, "job and jobid are the same");
    assert_eq!(server.json("/model/get"), models, "there is only one application");
    for (metric, exact) in [("write_sync->total_bytes", 268_435_456.0), ("read_bytes", 234_881_024.0)] {
        let path = format!("/model/evaluate?jobid=102&size=64&metric={}", metric.replace('>', "%3E"));
        assert_eq!(server.json(&path)["value"], exact, "{metric}");
    }
    let curve = server.json("/model/plot?jobid=101&metric=written_bytes&start=1&end=4");
    assert_eq!(curve, serde_json::json!([[1.0, 4_194_304.0], [2.0, 8_388_608.0], [3.0, 12_582_912.0]]));
    let points = server.json("/profiles/points?jobid=101");
    assert_eq!(points["written_bytes"][3], serde_json::json!([8.0, 33_554_432.0]));
    let (_, lines) = server.get("/profiles/extrap?jobid=101");
    assert!(lines.lines().all(|line| line.starts_with("{\"params\":{\"size\":")), "{lines}");

    // A run with other arguments is another application.
    std::fs::write(watched.path().join("other.msgpack"), ioskel(4, "200", "/opt/bin/ioskel other")).unwrap();
    server.wait("/profiles", |all| all.as_array().is_some_and(|all| all.len() == 5));
    assert_eq!(server.json("/model/get?jobid=101"), models);
    assert_eq!(server.get("/model/get").0, 400, "which application?");
    let apps = server.json("/api/v1/apps");
    assert_eq!(apps["apps"].as_array().unwrap().len(), 2);

    // All is there after a restart, and nothing is read twice.
    server.stop();
    let mut config = crate::server::config(data.path());
    config.watch = vec![watched.path().to_owned()];
    let server = Server::start(config);
    assert_eq!(server.json("/model/get?jobid=101"), models);
    assert_eq!(server.json("/profiles").as_array().unwrap().len(), 5);
    let site = server.json("/api/v1/site?days=3660");
    assert_eq!(site["users"][0]["jobs"], 5.0);
}

#[test]
fn a_series_has_the_bytes_of_its_trace() {
    let (data, watched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::create_dir(watched.path().join("deep")).unwrap();
    std::fs::write(watched.path().join("deep/run.msgpack"), ioskel(4, "7", COMMAND)).unwrap();
    let mut config = config(data.path());
    config.watch = vec![watched.path().to_owned()];
    let server = Server::start(config);
    server.wait("/profiles", |all| all.as_array().is_some_and(|all| all.len() == 1));
    let names = server.json("/trace/metrics?jobid=7");
    assert_eq!(
        names,
        serde_json::json!(["read_bytes", "read_operations", "write_operations", "written_bytes"])
    );
    let points = server.json("/trace/plot?jobid=7&filter=written_bytes");
    assert_eq!(points.as_array().unwrap().last().unwrap()[1], 16_777_216.0);
    let rates = server.json("/trace/plot?jobid=7&filter=written_bytes&derivate=1");
    let step = points[1][0].as_f64().unwrap() - points[0][0].as_f64().unwrap();
    let sum: f64 = rates.as_array().unwrap().iter().map(|point| point[1].as_f64().unwrap() * step).sum();
    assert_eq!(sum, 16_777_216.0);
    assert_eq!(step.log2().fract(), 0.0, "the period is a power of two");
    let jobs = server.json("/api/v1/jobs?q=ioskel");
    let id = jobs["jobs"][0]["id"].as_i64().unwrap();
    let findings = server.json(&format!("/api/v1/jobs/{id}/findings"))["findings"].clone();
    assert_eq!(findings, advised(&watched.path().join("deep/run.msgpack")), "as ftio advise says");
    let high = findings.as_array().unwrap().iter().filter(|finding| finding["severity"] == "high").count();
    assert_eq!(jobs["jobs"][0]["high_findings"], high);
    let series = server.json(&format!("/api/v1/jobs/{id}/series?points=10"));
    assert!(series["points"].as_array().unwrap().len() <= 10);
    assert_eq!(server.get(&format!("/api/v1/jobs/{id}/report.html")).0, 200);
}

/// Whatever lies in a watched directory: it is left alone, and does not stop the others.
#[test]
fn odd_files_do_no_harm() {
    let (data, watched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let secret = tempfile::tempdir().unwrap();
    std::fs::write(secret.path().join("trace"), ioskel(2, "secret", COMMAND)).unwrap();
    let at = |name: &str| watched.path().join(name);
    std::os::unix::fs::symlink(secret.path().join("trace"), at("link")).unwrap();
    std::os::unix::fs::symlink(secret.path(), at("folder")).unwrap();
    std::os::unix::fs::symlink(watched.path(), at("loop")).unwrap();
    std::os::unix::fs::symlink(at("snake"), at("snake")).unwrap();
    std::process::Command::new("mkfifo").arg(at("fifo")).status().unwrap();
    std::fs::write(at("text"), "hello").unwrap();
    std::fs::write(at("half"), &ioskel(2, "half", COMMAND)[..200]).unwrap();
    let sparse = std::fs::File::create(at("sparse")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    std::fs::create_dir(at("x.parts")).unwrap();
    std::os::unix::fs::symlink(secret.path().join("trace"), at("x.parts/node")).unwrap();
    std::fs::write(at("good"), ioskel(2, "good", COMMAND)).unwrap();
    let mut config = config(data.path());
    config.watch = vec![watched.path().to_owned(), watched.path().join("not there")];
    let server = Server::start(config);
    server.wait("/profiles", |all| all.as_array().is_some_and(|all| !all.is_empty()));
    // What comes later is read after everything that was there.
    std::fs::write(at("later"), ioskel(4, "later", COMMAND)).unwrap();
    server.wait("/profiles", |all| all.as_array().is_some_and(|all| all.len() >= 2));
    let jobs = server.json("/api/v1/jobs");
    let ids: Vec<&str> =
        jobs["jobs"].as_array().unwrap().iter().map(|job| job["jobid"].as_str().unwrap()).collect();
    assert!(ids.contains(&"good") && !ids.contains(&"secret"), "{ids:?}");
    let (status, body) = server.get("/readyz");
    assert!(status == 503 && body.contains("not there"), "a directory that is not there is told: {body}");
}

/// Two programs that one job starts at once are two jobs; a trace that is renamed, copied or replaced is one.
#[test]
fn runs_are_told_apart_by_their_files() {
    let (data, watched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let at = |name: &str| watched.path().join(name);
    let put = |name: &str, bytes: &[u8]| {
        // As a whole, under another name first, as a job does it.
        std::fs::write(at("x.tmp"), bytes).unwrap();
        std::fs::rename(at("x.tmp"), at(name)).unwrap();
    };
    put("one", &ioskel(2, "17", COMMAND));
    put("two", &ioskel(2, "17", "/opt/bin/other program"));
    let mut config = config(data.path());
    config.watch = vec![watched.path().to_owned()];
    let server = Server::start(config);
    let count = |wanted: usize| {
        server.wait("/profiles", |all| all.as_array().is_some_and(|all| all.len() == wanted));
        let metrics = server.get("/metrics").1;
        let read = metrics.lines().find_map(|line| line.strip_prefix("ftio_traces_read_total ")).unwrap();
        read.parse::<u32>().unwrap()
    };
    crate::server::until("both are read", || count(2) == 2);
    std::fs::copy(at("one"), at("copy")).unwrap();
    crate::server::until("the copy is read", || count(2) == 3);
    std::fs::rename(at("two"), at("renamed")).unwrap();
    crate::server::until("the renamed one is read", || count(2) == 4);
    // Replaced by another run under the same name.
    put("one", &ioskel(4, "18", COMMAND));
    crate::server::until("the new one is read", || count(3) == 5);
    assert_eq!(server.json("/api/v1/site?days=3660")["users"][0]["jobs"], 3.0);
}

/// A file that may not be read is read as soon as it may.
#[test]
fn permissions_may_come_later() {
    use std::os::unix::fs::PermissionsExt;
    if rustix::process::geteuid().is_root() {
        // Root may read everything: what cannot be opened is a directory that was swapped for a link.
        let (data, watched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let elsewhere = tempfile::tempdir().unwrap();
        std::fs::write(elsewhere.path().join("a"), ioskel(2, "1", COMMAND)).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), watched.path().join("sub")).unwrap();
        let path = watched.path().join("sub/a");
        let opened = ftio_serve::ingest::below::OpenFile::open(watched.path(), &path);
        assert!(opened.unwrap_err().to_string().contains("is a link"), "no link on the way is followed");
        assert!(ftio_serve::ingest::below::OpenFile::open(elsewhere.path(), &path).is_err(), "not below it");
        drop(data);
        return;
    }
    let (data, watched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = watched.path().join("a");
    let mode = |mode: u32| std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
    std::fs::write(&path, ioskel(2, "1", COMMAND)).unwrap();
    mode(0o000);
    let mut config = config(data.path());
    config.watch = vec![watched.path().to_owned()];
    let server = Server::start(config);
    crate::server::until("it is refused", || server.get("/metrics").1.contains("ftio_trace_errors_total 1"));
    mode(0o600);
    server.wait("/profiles", |all| all.as_array().is_some_and(|all| all.len() == 1));
}

/// So many files that are no traces: those that are get read all the same.
#[test]
fn many_files_do_no_harm() {
    let (data, watched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for folder in 0..20 {
        let folder = watched.path().join(folder.to_string());
        std::fs::create_dir(&folder).unwrap();
        for file in 0..100 {
            let content = if file % 10 == 0 { "no trace" } else { "" };
            std::fs::write(folder.join(file.to_string()), content).unwrap();
        }
    }
    std::fs::write(watched.path().join("19/trace"), ioskel(2, "1", COMMAND)).unwrap();
    let mut config = config(data.path());
    config.watch = vec![watched.path().to_owned()];
    let server = Server::start(config);
    server.wait("/profiles", |all| all.as_array().is_some_and(|all| all.len() == 1));
}

/// What a job that was killed on another node has left is a lost job, and one whose parts are new runs. Both
/// are in a directory that comes while the service runs.
#[test]
fn parts_that_are_left_behind_are_a_lost_job() {
    let (data, watched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut config = config(data.path());
    config.watch = vec![watched.path().to_owned()];
    let server = Server::start(config);
    let days_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3 * 86_400);
    for (jobid, changed) in [("left", Some(days_ago)), ("fresh", None)] {
        let whole = ioskel(2, jobid, "/bin/app");
        // Without the last frame, which says that the job has reached its end.
        let last = whole.windows(7).rposition(|some| some == &whole[..7]).unwrap();
        let parts = watched.path().join(format!("a/b/{jobid}.msgpack.parts"));
        std::fs::create_dir_all(&parts).unwrap();
        let path = parts.join(format!("node0.{:016x}.{:016x}", 1, 2));
        std::fs::write(&path, &whole[..last]).unwrap();
        if let Some(changed) = changed {
            std::fs::File::options().write(true).open(&path).unwrap().set_modified(changed).unwrap();
        }
    }
    let of_state = |state: &str| {
        let jobs = server.json(&format!("/api/v1/jobs?state={state}"))["jobs"].clone();
        jobs.as_array()
            .unwrap()
            .iter()
            .map(|job| job["jobid"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    crate::server::until("one is lost", || of_state("lost") == ["left"]);
    crate::server::until("one runs", || of_state("running") == ["fresh"]);
    let follows_one = |server: &Server| server.get("/metrics").1.contains("\nftio_followed_traces 1\n");
    crate::server::until("the other one is followed no more", || follows_one(&server));
    let lost = &server.json("/api/v1/jobs?state=lost")["jobs"][0];
    assert_eq!(lost["written_bytes"], 8_388_608.0, "what was recorded counts");
    server.stop();
    // It is known after a restart, and not counted again.
    let mut config = crate::server::config(data.path());
    config.watch = vec![watched.path().to_owned()];
    let server = Server::start(config);
    crate::server::until("it is followed", || {
        server.get("/metrics").1.contains("\nftio_followed_traces 1\n")
    });
    assert_eq!(server.json("/api/v1/jobs")["jobs"].as_array().unwrap().len(), 2);
    let days = server.json("/api/v1/site?days=3660");
    assert_eq!(
        days["days"].as_array().unwrap().iter().map(|day| day["jobs"].as_f64().unwrap()).sum::<f64>(),
        1.0
    );
}

/// Whoever owns a folder can put a link in its place at any moment, also between a look at it and what is
/// read from it. The service may read what he may not: nothing of that becomes his job.
#[test]
fn a_folder_that_changes_places_with_a_link_shows_nothing_of_others() {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    let (data, watched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let secret = tempfile::tempdir().unwrap();
    let parts = |folder: &Path, jobid: &str| {
        let whole = ioskel(2, jobid, "/bin/app");
        let last = whole.windows(7).rposition(|some| some == &whole[..7]).unwrap();
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join(format!("node0.{:016x}.{:016x}", 1, 2)), &whole[..last]).unwrap();
    };
    parts(&secret.path().join("parts"), "secret");
    parts(&secret.path().join("folder/run.msgpack.parts"), "secret");
    let names = |number: usize| (format!("own{number}.msgpack.parts"), format!("link{number}"));
    for number in 0..20 {
        let (own, link) = names(number);
        parts(&watched.path().join(&own), &format!("own{number}"));
        std::os::unix::fs::symlink(secret.path().join("parts"), watched.path().join(link)).unwrap();
    }
    parts(&watched.path().join("folder/run.msgpack.parts"), "own");
    std::os::unix::fs::symlink(secret.path().join("folder"), watched.path().join("link")).unwrap();
    let mut config = config(data.path());
    config.watch = vec![watched.path().to_owned()];
    config.poll = std::time::Duration::from_millis(5);
    let server = Server::start(config);
    let stop = AtomicBool::new(false);
    let job_ids = std::thread::scope(|scope| {
        let folder = files::Dir::open(watched.path()).unwrap();
        let stop = &stop;
        scope.spawn(move || {
            while !stop.load(Relaxed) {
                for number in 0..20 {
                    let (own, link) = names(number);
                    folder.exchange(&own, &folder, &link).unwrap();
                    folder.exchange("folder", &folder, "link").unwrap();
                }
            }
        });
        std::thread::sleep(std::time::Duration::from_secs(3));
        let jobs = server.json("/api/v1/jobs?limit=1000")["jobs"].clone();
        stop.store(true, Relaxed);
        jobs.as_array()
            .unwrap()
            .iter()
            .map(|job| job["jobid"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    });
    assert!(!job_ids.iter().any(|jobid| jobid == "secret"), "{job_ids:?}");
    assert!(job_ids.iter().any(|jobid| jobid.starts_with("own")), "{job_ids:?}");
}
