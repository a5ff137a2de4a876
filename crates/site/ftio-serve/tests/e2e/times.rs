//! When something was: what ended stays in the past, what is not known is not made up, and a restart changes
//! nothing.

use crate::server::{Server, config, now};
use serde_json::{Value, json};

/// What all jobs moved in the last ten minutes.
fn moved(server: &Server) -> f64 {
    let series = server.json("/api/v1/site/series");
    let points = series["points"].as_array().unwrap();
    let at = |i: usize| points[i][0].as_f64().unwrap();
    let sum: f64 = points.iter().map(|point| point[1].as_f64().unwrap() + point[2].as_f64().unwrap()).sum();
    sum * (at(1) - at(0))
}

/// 1 MB/s for the last 100 s.
fn steady(jobid: &str) -> Value {
    let start = now() - 120.0;
    let points: Vec<[f64; 2]> = (0..=100).map(|i| [start + f64::from(i), 1e6 * f64::from(i)]).collect();
    json!({"job": {"jobid": jobid, "command": "/bin/app", "start_time": start as u64},
        "metrics": {"written_bytes": points}})
}

#[test]
fn what_ended_stays_in_the_past() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(config(data.path()));
    let mut push = steady("a");
    assert_eq!(server.post("/api/v1/push", &push).0, 200);
    let near = |bytes: f64| (bytes - 100e6).abs() < 2e6;
    assert!(near(moved(&server)), "{}", moved(&server));
    push["end"] = json!(true);
    push["metrics"] = json!({});
    assert_eq!(server.post("/api/v1/push", &push).0, 200);
    server.wait("/api/v1/jobs", |all| all["jobs"][0]["state"] == "finished");
    assert!(near(moved(&server)), "it ended: {}", moved(&server));
    server.stop();
    let server = Server::start(config(data.path()));
    assert!(near(moved(&server)), "after a restart: {}", moved(&server));
}

#[test]
fn a_running_sum_begins_where_it_is_and_not_with_a_burst() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(config(data.path()));
    let start = now() - 50.0;
    let push = json!({"job": {"jobid": "late", "command": "/bin/app"},
        "metrics": {"written_bytes": [[start, 285e9], [start + 10.0, 285e9 + 1e6]]}});
    assert_eq!(server.post("/api/v1/push", &push).0, 200);
    let check = |server: &Server| {
        assert_eq!(server.json("/api/v1/jobs/1")["written_bytes"], 285e9 + 1e6, "the sum is what it is");
        assert!((moved(server) - 1e6).abs() < 1.0, "{}", moved(server));
        let points = server.json("/trace/plot?jobid=late&filter=written_bytes");
        assert_eq!(points.as_array().unwrap()[0][1], 285e9, "{points}");
        assert_eq!(points.as_array().unwrap().last().unwrap()[1], 285e9 + 1e6, "{points}");
    };
    check(&server);
    server.stop();
    let server = Server::start(config(data.path()));
    check(&server);
    // What is said to be added was added.
    let push = json!({"job": {"jobid": "more", "command": "/bin/app"}, "kind": {"written_bytes": "increment"},
        "metrics": {"written_bytes": [[start, 5e6]]}});
    assert_eq!(server.post("/api/v1/push", &push).0, 200);
    assert!((moved(&server) - 6e6).abs() < 1.0, "{}", moved(&server));
}

/// Bursts of 3 s every 20 s, from one second to another of a job that began at `start`.
fn bursts(server: &Server, start: f64, seconds: std::ops::Range<u32>) {
    let sum = |second: u32| f64::from(second / 20 * 3 + (second % 20 + 1).min(3)) * 1e9;
    let points: Vec<[f64; 2]> = seconds.map(|second| [f64::from(second), sum(second)]).collect();
    let push = json!({"job": {"jobid": "sim", "command": "/bin/sim", "size": 4, "start_time": start as u64},
        "metrics": {"written_bytes": points}});
    assert_eq!(server.post("/api/v1/push", &push).0, 200);
}

#[test]
fn a_prediction_is_judged_by_what_comes_after_it_and_a_restart_changes_nothing() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(config(data.path()));
    let start = (now() - 400.0).floor();
    bursts(&server, start, 0..200);
    let path = "/api/v1/jobs/1/predictions";
    // It may be looked at while values arrive, too.
    let first = server.wait(path, |all| all["predictions"][0]["made"].as_f64() == Some(start + 199.0));
    let running = server.wait("/api/v1/running", |all| all["jobs"][0]["period"].is_number());
    server.stop();

    let server = Server::start(config(data.path()));
    let again = server.wait("/api/v1/running", |all| all["jobs"][0]["period"].is_number());
    assert_eq!(server.json(path), first);
    for name in ["period", "next_start", "next_end", "known", "written_bytes"] {
        assert_eq!(again["jobs"][0][name], running["jobs"][0][name], "{name}");
    }
    bursts(&server, start, 200..240);
    let of_first = |all: &Value| {
        let all = all["predictions"].as_array()?;
        all.iter().find(|one| one["id"] == first["predictions"][0]["id"])?["hit"].as_bool()
    };
    let judged = server.wait(path, |all| of_first(all).is_some());
    for one in judged["predictions"].as_array().unwrap().iter().filter(|one| !one["came"].is_null()) {
        assert!(one["came"].as_f64() > one["made"].as_f64(), "{one}");
        assert_eq!(one["hit"], true, "{one}");
    }
    let quality = &judged["quality"];
    assert_eq!(quality["errors"], quality["judged"]);
    assert!(quality["median_error"].as_f64().unwrap() < 0.1, "{quality}");

    // It is as far as values tell: what is expected after them is not overdue.
    let known = |all: &Value| all["jobs"][0]["known"].as_f64() == Some(start + 239.0);
    let brief = server.wait("/api/v1/running", known)["jobs"][0].clone();
    assert!(brief["next_end"].as_f64() > brief["known"].as_f64(), "{brief}");
}
