//! Values that come by HTTP and over the socket of the metric proxy's clients.

use crate::server::{Server, config};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Bursts of 3 s every 20 s, as somebody would push them afterwards.
fn bursts(server: &Server, jobid: &str, count: usize) {
    let points: Vec<[f64; 2]> = (0..count * 20)
        .map(|second| {
            let (burst, inside) = (second / 20, (second % 20 + 1).min(3));
            [second as f64, (burst * 3 + inside) as f64 * 1e9]
        })
        .collect();
    let start = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
        - (count * 20) as u64;
    let push = json!({"job": {"jobid": jobid, "command": "/bin/sim a", "size": 16, "start_time": start},
        "metrics": {"written_bytes": points}});
    let (status, answer) = server.post("/api/v1/push", &push);
    assert_eq!((status, &answer["refused"]), (200, &json!(0)), "{answer}");
}

#[test]
fn a_pushed_job_has_a_period_and_an_end() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(config(data.path()));
    bursts(&server, "sim", 15);
    let running = server.wait("/api/v1/running", |all| all["jobs"][0]["period"].is_number());
    let job = &running["jobs"][0];
    assert!((job["period"].as_f64().unwrap() - 20.0).abs() < 0.5, "{job}");
    assert!(job["next_start"].as_f64().unwrap() > job["start"].as_f64().unwrap() + 290.0, "{job}");
    let schedule = server.json("/api/v1/schedule");
    assert_eq!(schedule["jobs"][0]["set"], 1);
    bursts(&server, "sim2", 15);
    server.wait("/api/v1/running", |all| all["jobs"][1]["period"].is_number());
    let forecast = server.json("/api/v1/forecast");
    assert!(forecast["phases"].as_array().unwrap().len() > 50);
    assert_eq!(forecast["conflicts"][0]["jobs"].as_array().unwrap().len(), 2, "both begin at the same time");

    let end = json!({"job": {"jobid": "sim"}, "metrics": {"written_bytes": 45e9}, "end": true});
    assert_eq!(server.post("/api/v1/push", &end).0, 200);
    let profiles = server.json("/profiles");
    assert_eq!(profiles[0]["jobid"], "sim");
    let jobs = server.json("/api/v1/jobs?state=finished");
    assert_eq!(jobs["jobs"][0]["written_bytes"], 45e9, "a running sum counts once");
    assert!((jobs["jobs"][0]["period"].as_f64().unwrap() - 20.0).abs() < 0.5);
    assert_eq!(server.json("/profiles/points?jobid=sim")["written_bytes"], json!([[16.0, 45e9]]));
}

/// A push that is refused because the disk is full may be sent again, and is not the sender's fault:
/// Prometheus gives up what it gets a 400 for.
#[test]
fn what_cannot_be_stored_may_be_sent_again() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(config(data.path()));
    let database = rusqlite::Connection::open(data.path().join("jobs.db")).unwrap();
    let full = "CREATE TRIGGER full BEFORE INSERT ON jobs BEGIN SELECT RAISE(FAIL, 'disk is full'); END";
    database.execute_batch(full).unwrap();
    let push = json!({"job": {"jobid": "7"}, "metrics": {"written_bytes": 5.0}});
    let (status, answer) = server.post("/api/v1/push", &push);
    assert_eq!(status, 503, "{answer}");
    assert!(answer["error"].as_str().unwrap().contains("disk is full"), "{answer}");
    let (status, answer) = server.get("/readyz");
    assert!(status == 503 && answer.contains("disk is full"), "{status} {answer}");
    assert_eq!(server.post("/api/v1/push", &json!({"job": {}, "metrics": {}})).0, 400);

    database.execute_batch("DROP TRIGGER full").unwrap();
    assert_eq!(server.post("/api/v1/push", &push).0, 200);
    assert_eq!(server.get("/readyz").0, 200);
    assert_eq!(server.json("/api/v1/running")["jobs"][0]["jobid"], "7");
}

#[test]
fn clients_of_the_metric_proxy_are_understood() {
    let data = tempfile::tempdir().unwrap();
    let socket = data.path().join("proxy.sock");
    let mut config = config(data.path());
    config.proxy_socket = Some(socket.clone());
    let server = Server::start(config);
    let send = |stream: &mut UnixStream, message: Value| {
        stream.write_all(message.to_string().as_bytes()).unwrap();
        stream.write_all(b"\0").unwrap();
    };
    let desc = json!({"JobDesc": {"jobid": "77-0", "command": "./app", "size": 2, "nodelist": "n1", "partition": "p",
        "cluster": "c", "run_dir": "/tmp", "start_time": 0, "end_time": 0}});
    let mut clients: Vec<UnixStream> = (0..2).map(|_| UnixStream::connect(&socket).unwrap()).collect();
    for client in &mut clients {
        send(client, desc.clone());
        send(
            client,
            json!({"Desc": {"name": "mpi___hits___mpi_send", "doc": "calls", "ctype": {"Counter": {"ts": 0, "value": 0}}}}),
        );
        for _ in 0..5 {
            send(
                client,
                json!({"Value": {"name": "mpi___hits___mpi_send", "value": {"Counter": {"ts": 1, "value": 3}}}}),
            );
        }
        send(
            client,
            json!({"Value": {"name": "load", "value": {"Gauge": {"min": 1, "max": 3, "hits": 2, "total": 4}}}}),
        );
    }
    let is_30 = |job: &Value| {
        job["counters"].as_array().is_some_and(|all| {
            all.iter().any(|c| c["name"] == "mpi___hits___mpi_send" && c["ctype"]["Counter"]["value"] == 30.0)
        })
    };
    server.wait("/job?job=77-0", is_30);
    drop(clients.pop());
    // The other one, and the one that asks.
    crate::server::until("one has left", || server.get("/metrics").1.contains("\nftio_connections 2\n"));
    assert_eq!(server.json("/job/list").as_array().unwrap().len(), 2, "one process is still there");
    drop(clients);
    server.wait("/profiles", |all| all.as_array().is_some_and(|all| all.len() == 1));
    let points = server.json("/profiles/points?jobid=77-0");
    assert_eq!(points["mpi->hits->mpi_send"], json!([[2.0, 30.0]]));

    // One who speaks another language is cut off, and nobody else.
    let mut odd = UnixStream::connect(&socket).unwrap();
    odd.write_all(b"GET / HTTP/1.1\r\n\0").unwrap();
    let mut rest = Vec::new();
    let _ = std::io::Read::read_to_end(&mut odd, &mut rest);
    assert!(rest.is_empty());
    assert_eq!(server.get("/healthz").0, 200);
}

#[test]
fn watchers_are_told_what_happens() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(config(data.path()));
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    write!(stream, "GET /api/v1/events HTTP/1.1\r\nHost: {}\r\n\r\n", server.address).unwrap();
    let mut lines = BufReader::new(stream).lines();
    let mut until = |text: &str| lines.by_ref().map(Result::unwrap).find(|line| line.contains(text)).unwrap();
    until("text/event-stream");
    until("retry: 3000");
    bursts(&server, "watched", 4);
    until("event: began");
    until("\"jobid\":\"watched\"");
    let data = until("\"rate\":");
    assert!(data.starts_with("data: {"), "{data}");
}

#[test]
fn hostile_names_stay_text() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(config(data.path()));
    let name = "<img src=x onerror=alert(1)>\"\\\n{}";
    let push = json!({"job": {"jobid": name, "command": name, "size": -5}, "metrics": {name: 1, "written_bytes": 1}});
    assert_eq!(server.post("/api/v1/push", &push).0, 200);
    let jobs = server.json("/api/v1/jobs");
    assert_eq!(jobs["jobs"][0]["jobid"], name.replace('\n', " "));
    assert_eq!(jobs["jobs"][0]["size"], 0);
    let (_, metrics) = server.get("/metrics");
    assert!(
        metrics
            .lines()
            .all(|line| line.starts_with('#') || line.rsplit(' ').next().unwrap().parse::<f64>().is_ok()),
        "{metrics}"
    );
}
