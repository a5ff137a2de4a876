//! Who is told of an alarm, and what.

use crate::server::{Server, config, until};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A rule that a job with more than 5 of `x` breaks, and who is told.
fn rules(folder: &Path, notify: &str) -> std::path::PathBuf {
    let path = folder.join("alarms.toml");
    let rule = "[[rule]]\nname = 'much'\nmetric = 'x'\nabove = 5\n";
    std::fs::write(&path, format!("{rule}\n[notify]\n{notify}\n")).unwrap();
    path
}

fn push(server: &Server, jobid: &str, value: u32, end: bool) {
    let push = json!({"job": {"jobid": jobid, "size": 2}, "metrics": {"x": value}, "end": end});
    assert_eq!(server.post("/api/v1/push", &push).0, 200);
}

/// Path and body of requests.
type Told = Arc<Mutex<Vec<(String, Value)>>>;

/// Answers with 200 and keeps what it was sent.
fn listener() -> (u16, Told) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let told = Told::default();
    let keep = Arc::clone(&told);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut bytes, mut buffer) = (stream.unwrap(), Vec::new(), [0; 4096]);
            let body = loop {
                let length = stream.read(&mut buffer).unwrap();
                bytes.extend_from_slice(&buffer[..length]);
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
                if let Some(body) = body.and_then(|body| serde_json::from_str(&body).ok()) {
                    break (text.split(' ').nth(1).unwrap().to_owned(), body);
                }
            };
            keep.lock().unwrap().push(body);
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n");
        }
    });
    (port, told)
}

/// An alarm that is over is told as the one that was raised, also if it is over because its job has ended:
/// Alertmanager knows alerts by their labels.
#[test]
fn an_alarm_that_is_over_is_the_one_that_was_raised() {
    let data = tempfile::tempdir().unwrap();
    let (port, told) = listener();
    let mut config = config(data.path());
    let targets =
        format!("webhook = 'http://127.0.0.1:{port}/hook'\nalertmanager = 'http://127.0.0.1:{port}/'");
    config.alarms = Some(rules(data.path(), &targets));
    let server = Server::start(config);
    push(&server, "falls", 9, false);
    push(&server, "ends", 9, false);
    until("two are raised", || told.lock().unwrap().len() == 4);
    push(&server, "falls", 1, false);
    push(&server, "ends", 9, true);
    until("both are over", || told.lock().unwrap().len() == 8);
    let told = told.lock().unwrap();
    let hooks: Vec<&Value> = told.iter().filter(|(path, _)| path == "/hook").map(|(_, body)| body).collect();
    let alerts: Vec<&Value> =
        told.iter().filter(|(path, _)| path == "/api/v2/alerts").map(|(_, body)| &body[0]).collect();
    for jobid in ["falls", "ends"] {
        let of_job = |value: &&&Value| value["alarm"]["jobid"] == jobid || value["labels"]["jobid"] == jobid;
        let hooks: Vec<_> = hooks.iter().filter(of_job).collect();
        assert_eq!((&hooks[0]["status"], &hooks[1]["status"]), (&json!("firing"), &json!("resolved")));
        for name in ["id", "rule", "job", "metric", "since"] {
            assert_eq!(hooks[0]["alarm"][name], hooks[1]["alarm"][name], "{jobid}: {name}");
        }
        let alerts: Vec<_> = alerts.iter().filter(of_job).collect();
        assert_eq!(alerts.len(), 2, "{jobid}");
        assert_eq!(alerts[0]["labels"], alerts[1]["labels"]);
        assert_eq!(alerts[0]["startsAt"], alerts[1]["startsAt"]);
        assert!(alerts[0].get("endsAt").is_none() && alerts[1]["endsAt"].is_string());
    }
    let alarms = server.json("/api/v1/alarms");
    assert!(alarms["alarms"].as_array().unwrap().iter().all(|alarm| alarm["until"].is_number()), "{alarms}");
}

/// Names of jobs are nothing but values of the environment to the program that is run.
#[test]
fn names_of_jobs_are_no_commands() {
    let data = tempfile::tempdir().unwrap();
    let (out, trap) = (data.path().join("out"), data.path().join("trap"));
    let script = data.path().join("tell");
    std::fs::write(
        &script,
        format!("#!/bin/sh\nprintf '%s\\n' \"$FTIO_STATE $FTIO_JOBID\" >> '{}'\n", out.display()),
    )
    .unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let mut config = config(data.path());
    config.alarms = Some(rules(data.path(), &format!("command = ['{}']", script.display())));
    let server = Server::start(config);
    let touch = format!("touch {}", trap.display());
    let names = [
        format!("$({touch})"),
        format!("`{touch}`"),
        format!("'; {touch}; '"),
        format!("\"; {touch}; \""),
        format!("a\n{touch}\0b"),
        "--help".to_owned(),
        "\u{1f600} <b>&amp;".to_owned(),
    ];
    names.iter().for_each(|name| push(&server, name, 9, false));
    let said = || std::fs::read_to_string(&out).unwrap_or_default();
    until("all are told", || said().lines().count() == names.len());
    for name in &names {
        let clean = name.replace(['\n', '\0'], " ");
        assert!(said().lines().any(|line| line == format!("firing {clean}")), "{name}: {}", said());
    }
    assert!(!trap.exists());
}

/// One who takes connections and never answers delays notices, and nothing else.
#[test]
fn a_hook_that_never_answers_stops_nothing() {
    let data = tempfile::tempdir().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut config = config(data.path());
    let url = format!("webhook = 'http://{}/'", silent.local_addr().unwrap());
    config.alarms = Some(rules(data.path(), &url));
    let server = Server::start(config);
    for number in 0..20 {
        push(&server, &number.to_string(), 9, false);
    }
    server
        .wait("/api/v1/alarms?standing=1", |all| all["alarms"].as_array().is_some_and(|all| all.len() == 20));
    push(&server, "0", 9, true);
    server
        .wait("/api/v1/alarms?standing=1", |all| all["alarms"].as_array().is_some_and(|all| all.len() == 19));
    assert_eq!(server.get("/readyz").0, 200);
    server.stop();
}
