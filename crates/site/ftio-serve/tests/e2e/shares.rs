//! What one user takes is taken from nobody else: jobs, memory, bodies, questions, watchers, the disk.

use crate::server::{Server, arrived, config, ioskel, opened, until};
use ftio_serve::config::parse_access;
use ftio_serve::ingest::push::{Push, take};
use ftio_serve::{Config, Service};
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;

const ANN: &str = "token-of-ann-0000001";
const BOB: &str = "token-of-bob-0000001";
const PUSH: &str = "/api/v1/push";

/// With two users.
fn two_users(data: &Path) -> Config {
    let mut config = config(data);
    let text = format!("{ANN} user uid:4000000001\n{BOB} user uid:4000000002\n");
    config.tokens = parse_access(&text).unwrap().tokens;
    config
}

fn headers(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\nContent-Type: application/json\r\n")
}

fn push(server: &Server, token: &str, value: &Value) -> (u16, String) {
    server.with("POST", PUSH, &headers(token), &value.to_string())
}

fn job(jobid: &str) -> Value {
    json!({"job": {"jobid": jobid}, "metrics": {"written_bytes": 1}})
}

/// A number of `/metrics`.
fn metric(server: &Server, name: &str) -> f64 {
    let text = server.get("/metrics").1;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name}: {text}")).parse().unwrap()
}

#[test]
fn one_user_does_not_take_all_jobs() {
    let data = tempfile::tempdir().unwrap();
    let mut config = two_users(data.path());
    config.most_running = 40;
    let server = Server::start(config);
    let codes: Vec<u16> = (0..60).map(|i| push(&server, ANN, &job(&format!("a{i}"))).0).collect();
    assert_eq!(codes.iter().filter(|code| **code == 200).count(), 10, "a quarter of all: {codes:?}");
    let (status, answer) = push(&server, ANN, &job("one more"));
    assert!(status == 429 && answer.contains("you have 10, and may have 10"), "{status} {answer}");
    assert_eq!(push(&server, ANN, &job("a3")).0, 200, "what runs goes on");
    assert_eq!(push(&server, BOB, &job("b")).0, 200, "others do not notice");
    assert_eq!(server.post(PUSH, &json!({"node": "n1", "metrics": {"node_load1": 1}})).0, 200);
    // It is told, to those who run the service and to who is refused, and nobody else.
    let ready = server.json("/readyz");
    let refused = &ready["refused"][0];
    assert_eq!((&refused["what"], &refused["user"]), (&json!("running jobs"), &json!("uid:4000000001")));
    assert_eq!(refused["count"], 51);
    assert!(server.with("GET", "/readyz", &headers(ANN), "").1.contains("running jobs"));
    assert!(!server.with("GET", "/readyz", &headers(BOB), "").1.contains("running jobs"));
    assert_eq!(metric(&server, "ftio_refused_total{what=\"running jobs\"}"), 51.0);
    // When jobs end there is room again.
    assert_eq!(push(&server, ANN, &json!({"job": {"jobid": "a0"}, "end": true})).0, 200);
    assert_eq!(push(&server, ANN, &job("again")).0, 200);
}

/// A job with as many metrics as there may be, and texts that are as long as they may be.
fn fat(jobid: usize) -> Value {
    let text = "ä".repeat(250);
    let names: Vec<String> = (0..600).map(|i| format!("{i:03}{text}")).collect();
    let metrics: serde_json::Map<String, Value> = names.iter().map(|name| (name.clone(), json!(1))).collect();
    let docs: serde_json::Map<String, Value> = names.iter().map(|name| (name.clone(), json!(text))).collect();
    let desc =
        json!({"jobid": format!("{jobid}{text}"), "command": "x".repeat(9999), "run_dir": "y".repeat(9999)});
    json!({"job": desc, "metrics": metrics, "doc": docs})
}

#[test]
fn one_user_does_not_take_all_memory() {
    let data = tempfile::tempdir().unwrap();
    let small = || Config { memory: 32 << 20, ..two_users(data.path()) };
    let server = Server::start(small());
    let codes: Vec<u16> = (0..12).map(|i| push(&server, ANN, &fat(i)).0).collect();
    assert_eq!((codes[0], codes[11]), (200, 429), "{codes:?}");
    let (taken, most) = ("{what=\"bytes of memory\",is=\"taken\"}", "{what=\"bytes of memory\",is=\"most\"}");
    let shared = |server: &Server, which: &str| metric(server, &format!("ftio_shared{which}"));
    assert_eq!(shared(&server, most), f64::from(20 << 20));
    let by_ann = shared(&server, taken);
    assert!(by_ann > f64::from(4 << 20) && by_ann <= f64::from(5 << 20), "a quarter: {by_ann}");
    assert_eq!(push(&server, BOB, &job("b")).0, 200);
    assert_eq!(push(&server, BOB, &fat(1)).0, 200);
    // A job that is there takes what fits, and says what did not.
    let (status, answer) = push(&server, ANN, &job("small"));
    assert!(status == 429 && answer.contains("bytes of memory"), "{status} {answer}");
    server.stop();
    // The same after a start, and nothing of it is gone.
    let server = Server::start(small());
    assert!(shared(&server, taken) <= f64::from(6 << 20));
    assert_eq!(push(&server, ANN, &fat(50)).0, 429);
    let running = server.json("/api/v1/jobs?state=running&limit=500");
    let of_bob = running["jobs"].as_array().unwrap().iter().filter(|job| job["owner"] == 4_000_000_002u32);
    assert_eq!(of_bob.count(), 2);
}

/// A start with much less memory: what does not fit has ended, with all its values.
#[test]
fn what_is_loaded_at_the_start_fits_into_the_memory() {
    let data = tempfile::tempdir().unwrap();
    let service = opened(data.path());
    let push = |service: &Service, value: Value, owner: u32| {
        take(service, &serde_json::from_value::<Push>(value).unwrap(), Some(owner)).unwrap();
    };
    push(&service, json!({"job": {"jobid": "small"}, "metrics": {"written_bytes": 7}}), 4_000_000_002);
    for i in 0..30 {
        push(&service, fat(i), 4_000_000_001);
        if i == 20 {
            service.checkpoint().unwrap();
        }
    }
    drop(service);
    let less = Config { memory: 8 << 20, ..config(data.path()) };
    let service = Service::open(less).unwrap();
    {
        let running = service.running();
        let memory: usize = running.jobs.values().map(|job| job.memory()).sum();
        assert!(memory <= 5 << 20, "{memory}");
        assert!(
            running.jobs.values().any(|job| job.row.desc.jobid == "small"),
            "who has little is not touched"
        );
        assert!((2..30).contains(&running.jobs.len()), "{}", running.jobs.len());
    }
    let all = service.reader().count_jobs().unwrap();
    assert_eq!(all.iter().map(|(_, count)| count).sum::<i64>(), 31, "{all:?}");
    for id in 2..=31 {
        let totals = service.totals(id).unwrap();
        assert_eq!(totals.len(), 512, "job {id}: also what was in the journal alone");
        assert_eq!(service.series(id).unwrap().columns().len(), 512, "job {id}");
    }
}

/// A body of 8 MiB is announced, and one byte of it sent.
fn slow_body(server: &Server, token: &str) -> TcpStream {
    let head = format!("POST {PUSH} HTTP/1.1\r\nHost: {}\r\n{}", server.address, headers(token));
    server.connect(&format!("{head}Content-Length: {}\r\n\r\n{{", 8 << 20))
}

#[test]
fn bodies_of_the_unknown_are_not_read() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(two_users(data.path()));
    let slow: Vec<TcpStream> = (0..40).map(|_| slow_body(&server, "no-such-token-000001")).collect();
    for stream in &slow {
        until("they are told so at once", || {
            arrived(stream).is_none_or(|bytes| bytes.starts_with(b"HTTP/1.1 401"))
        });
    }
    // Those who are known take nothing by announcing.
    let slow: Vec<TcpStream> = (0..40).map(|_| slow_body(&server, ANN)).collect();
    let long = json!({"job": {"jobid": "p"}, "metrics": {"a": 1}, "x": "y".repeat(200_000)});
    for token in [BOB, ANN] {
        let (status, answer) = push(&server, token, &long);
        assert_eq!(status, 200, "{answer}");
    }
    assert!(slow.iter().all(|stream| arrived(stream).is_some_and(|bytes| bytes.is_empty())));
}

#[test]
fn bytes_that_have_arrived_count() {
    let data = tempfile::tempdir().unwrap();
    // Of which bodies have 4 MiB, and a user one.
    let server = Server::start(Config { memory: 16 << 20, ..two_users(data.path()) });
    let long = json!({"job": {"jobid": "p"}, "metrics": {"a": 1}, "x": "y".repeat(700_000)});
    assert_eq!(push(&server, ANN, &long).0, 200);
    let mut slow = slow_body(&server, ANN);
    slow.write_all(" ".repeat(600_000).as_bytes()).unwrap();
    until("they are there", || {
        metric(&server, "ftio_shared{what=\"bytes of bodies\",is=\"taken\"}") >= 600_000.0
    });
    let (status, answer) = push(&server, ANN, &long);
    assert!(status == 429 && answer.contains("bytes of bodies"), "{status} {answer}");
    assert_eq!(push(&server, BOB, &long).0, 200);
    drop(slow);
    until("they are given back", || push(&server, ANN, &long).0 == 200);
}

/// Reports take long: of one user, one is made at a time, and others are answered meanwhile.
#[test]
fn questions_that_cost_much_wait_for_each_other() {
    let owner = 4_000_000_001;
    let (data, watched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = watched.path().join("a");
    std::fs::write(&path, ioskel(2, "j", "/bin/app")).unwrap();
    if std::os::unix::fs::chown(&path, Some(owner), None).is_err() {
        return test_data::skip("questions_that_cost_much_wait_for_each_other", "only root may chown");
    }
    let mut config = two_users(data.path());
    config.watch = vec![watched.path().to_owned()];
    let server = Server::start(config);
    server.wait("/profiles", |all| all.as_array().is_some_and(|all| all.len() == 1));
    let report = || server.with("GET", "/api/v1/jobs/1/report.html", &headers(ANN), "").0;
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..80).map(|_| scope.spawn(report)).collect();
        // None of these waits for eighty reports.
        for _ in 0..20 {
            assert_eq!(server.with("GET", "/api/v1/jobs", &headers(BOB), "").0, 200);
            assert_eq!(server.with("GET", "/api/v1/jobs", &headers(ANN), "").0, 200);
        }
        let codes: Vec<u16> = asked.into_iter().map(|one| one.join().unwrap()).collect();
        assert!(codes.iter().all(|code| [200, 429].contains(code)), "{codes:?}");
        assert!(codes.contains(&429), "more than 64 do not wait: {codes:?}");
    });
}

#[test]
fn watchers_of_one_user_are_a_quarter() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(two_users(data.path()));
    let watch = |token: &str| {
        let head =
            format!("GET /api/v1/events HTTP/1.1\r\nHost: {}\r\n{}\r\n", server.address, headers(token));
        server.connect(&head)
    };
    let answer = |stream: &TcpStream| {
        let mut status = None;
        until("there is an answer", || {
            status = arrived(stream).filter(|bytes| !bytes.is_empty());
            status.is_some()
        });
        String::from_utf8_lossy(&status.unwrap()).split(' ').nth(1).map(str::to_owned).unwrap()
    };
    let many: Vec<TcpStream> = (0..256).map(|_| watch(ANN)).collect();
    assert!(many.iter().all(|stream| answer(stream) == "200"));
    assert_eq!(answer(&watch(ANN)), "429");
    assert_eq!(answer(&watch(BOB)), "200");
}

/// Messages of the metric proxy's clients that have no end count as bodies do.
#[test]
fn clients_of_the_socket_take_no_memory_of_others() {
    let data = tempfile::tempdir().unwrap();
    let socket = data.path().join("proxy.sock");
    let mut config = Config { memory: 16 << 20, ..two_users(data.path()) };
    config.proxy_socket = Some(socket.clone());
    let server = Server::start(config);
    let piece = vec![b' '; 900 << 10];
    let mut many = Vec::new();
    for _ in 0..8 {
        let mut stream = UnixStream::connect(&socket).unwrap();
        // One that is cut off cannot be written to.
        let _ = stream.write_all(&piece);
        many.push(stream);
    }
    let open = |stream: &UnixStream| {
        stream.set_nonblocking(true).unwrap();
        let read = std::io::Read::read(&mut &*stream, &mut [0; 1]);
        matches!(read, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
    };
    // Of 4 MiB, who runs the service may have three; a buffer may be twice as long as what is in it.
    until("some are cut off", || many.iter().filter(|stream| open(stream)).count() <= 3);
    let taken = metric(&server, "ftio_shared{what=\"bytes of bodies\",is=\"taken\"}");
    assert!(taken <= f64::from(3 << 20), "{taken}");
    assert_eq!(push(&server, ANN, &job("j")).0, 200, "others push");
}

#[test]
fn one_user_does_not_fill_the_disk() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(Config { disk_of_user: 200_000, ..two_users(data.path()) });
    let ended = |i: usize| json!({"job": {"jobid": i.to_string()}, "metrics": {"a": 1}, "end": true});
    let codes: Vec<u16> = (0..60).map(|i| push(&server, ANN, &ended(i)).0).collect();
    let taken = codes.iter().filter(|code| **code == 200).count();
    assert!((5..30).contains(&taken) && codes[59] == 429, "{codes:?}");
    let (_, answer) = push(&server, ANN, &ended(99));
    assert!(answer.contains("bytes of data in a day"), "{answer}");
    assert_eq!(push(&server, BOB, &ended(1)).0, 200);
    assert_eq!(server.post(PUSH, &ended(1)).0, 200, "who runs the service has no such limit");
}

/// A push whose names are so many that reading it would take far more memory than it is long.
#[test]
fn names_without_end_are_not_read_to_their_end() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(two_users(data.path()));
    for field in ["metrics", "kind", "doc"] {
        let value = if field == "metrics" { "1" } else { "\"gauge\"" };
        let names: Vec<String> = (0..400_000).map(|i| format!("\"{i}\":{value}")).collect();
        let body = format!("{{\"job\":{{\"jobid\":\"j\"}},\"{field}\":{{{}}}}}", names.join(","));
        let (status, answer) = server.with("POST", PUSH, &headers(ANN), &body);
        assert!(status == 400 && answer.contains("at most 10000 names"), "{field}: {status} {answer}");
    }
}
