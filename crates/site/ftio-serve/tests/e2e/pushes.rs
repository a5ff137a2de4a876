//! Values that come by HTTP and over the socket of the metric proxy's clients.

use crate::server::{Server, config};
use serde_json::{Value, json};
use std::ffi::CString;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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
fn priorities_come_from_earlier_runs_and_then_from_the_job() {
    let (data, priorities) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut config = config(data.path());
    config.priorities = Some(priorities.path().to_owned());
    let server = Server::start(config);
    let stored = |job: &str| {
        let text = std::fs::read_to_string(priorities.path().join(job).join("priority")).unwrap_or_default();
        text.trim().parse::<u32>().ok()
    };
    // The directory follows within a second.
    let becomes = |job: &str, wanted: &dyn Fn(Option<u32>) -> bool| {
        let begun = Instant::now();
        while !wanted(stored(job)) {
            assert!(begun.elapsed() < Duration::from_secs(60), "{job}: {:?}", stored(job));
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let push = json!({"job": {"jobid": "new", "command": "/bin/sim a"}, "metrics": {"written_bytes": 1.0}});
    assert_eq!(server.post("/api/v1/push", &push).0, 200);
    let first = server.json("/api/v1/schedule");
    becomes("new", &|stored| stored.is_some());
    assert_eq!(
        (&first["jobs"][0]["set"], &first["jobs"][0]["stored"]),
        (&Value::Null, &json!(stored("new")))
    );
    assert!(stored("new").is_some_and(|priority| priority < 1_000_000), "{first}");
    let end = |job: &str| {
        let end = json!({"job": {"jobid": job}, "metrics": {"written_bytes": 45e9}, "end": true});
        assert_eq!(server.post("/api/v1/push", &end).0, 200);
    };
    end("new");
    // Of its own: 20 s, set 1.
    bursts(&server, "sim", 15);
    server.wait("/api/v1/running", |all| all["jobs"][0]["period"].is_number());
    server.wait("/api/v1/schedule", |all| all["jobs"][0]["set"] == 1);
    becomes("sim", &|stored| stored == Some(1_000_000));
    assert_eq!(stored("new"), None, "it has ended");
    end("sim");
    // Of the run before it.
    let push = json!({"job": {"jobid": "next", "command": "/bin/sim a", "size": 16},
        "metrics": {"written_bytes": 1.0}});
    assert_eq!(server.post("/api/v1/push", &push).0, 200);
    server.wait("/api/v1/schedule", |all| all["jobs"][0]["set"] == 1);
    becomes("next", &|stored| stored == Some(1_000_000));
    assert_eq!(stored("sim"), None);
    // A name that no directory can have is no problem of the service.
    let mut push = json!({"job": {"jobid": ".b", "command": "x"}, "metrics": {"written_bytes": 1.0}});
    assert_eq!(server.post("/api/v1/push", &push).0, 200);
    assert_eq!(server.json("/api/v1/schedule")["jobs"].as_array().unwrap().len(), 2);
    push["end"] = json!(true);
    assert_eq!(server.post("/api/v1/push", &push).0, 200);
    assert_eq!(server.json("/api/v1/schedule")["jobs"].as_array().unwrap().len(), 1);
    assert_eq!(server.json("/readyz")["problems"], json!([]));
    // What cannot be written is a problem, until it can be.
    std::fs::remove_dir_all(priorities.path()).unwrap();
    bursts(&server, "lost", 15);
    let begun = Instant::now();
    while !server.get("/readyz").1.contains("a priority cannot be written") {
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", server.get("/readyz"));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(server.get("/readyz").0, 503);
    std::fs::create_dir(priorities.path()).unwrap();
    becomes("lost", &|stored| stored == Some(1_000_000));
    server.wait("/readyz", |all| all["problems"] == json!([]));
    drop(server);
    assert_eq!(std::fs::read_dir(priorities.path()).unwrap().count(), 0, "they go with the service");
}

/// A file system whose server never answers, until this is dropped.
struct Stuck {
    place: PathBuf,
    _server: std::fs::File,
}

impl Stuck {
    fn mount(place: &Path) -> Self {
        std::fs::create_dir(place).unwrap();
        let server = std::fs::File::options().read(true).write(true).open("/dev/fuse").unwrap();
        let options = format!("fd={},rootmode=40000,user_id=0,group_id=0", server.as_raw_fd());
        let options = CString::new(options).unwrap();
        let flags = rustix::mount::MountFlags::empty();
        rustix::mount::mount("stuck", place, "fuse", flags, Some(options.as_c_str())).unwrap();
        Stuck { place: place.to_owned(), _server: server }
    }
}

impl Drop for Stuck {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(&self.place, rustix::mount::UnmountFlags::DETACH);
    }
}

/// The directory may be on a file system that hangs.
#[test]
fn nobody_waits_for_a_directory_of_priorities_that_hangs() {
    if !rustix::process::geteuid().is_root() {
        return test_data::skip("nobody_waits_for_a_directory_of_priorities_that_hangs", "only root mounts");
    }
    let (data, priorities) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let stuck = Stuck::mount(&priorities.path().join("stuck"));
    let mut config = config(data.path());
    config.priorities = Some(priorities.path().to_owned());
    let server = Server::start(config);
    let push = json!({"job": {"jobid": "stuck"}, "metrics": {"written_bytes": 1.0}});
    assert_eq!(server.post("/api/v1/push", &push).0, 200);
    std::thread::sleep(Duration::from_secs(2));
    bursts(&server, "sim", 15);
    server.wait("/api/v1/schedule", |all| all["jobs"][1]["set"] == 1);
    assert!(!priorities.path().join("sim").exists(), "it does hang");
    assert_eq!(server.get("/readyz").0, 200);
    let begun = Instant::now();
    server.stop();
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    // Whoever hangs there goes on.
    drop(stuck);
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

fn now() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64()
}

/// Times that are given as seconds since 1970 are kept apart, though nobody said when the job began.
#[test]
fn a_job_begins_with_its_first_value() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(config(data.path()));
    let first = (now() - 100.0).floor();
    let points: Vec<[f64; 2]> = (0..100).map(|i| [first + f64::from(i), f64::from(i + 1)]).collect();
    let push = json!({"job": {"jobid": "j"}, "metrics": {"written_bytes": points}});
    assert_eq!(server.post("/api/v1/push", &push).0, 200);
    let job = &server.json("/api/v1/jobs")["jobs"][0];
    assert_eq!((&job["start"], &job["written_bytes"]), (&json!(first), &json!(100.0)));
    let points = server.json("/trace/plot?job=j&filter=written_bytes");
    assert_eq!(points.as_array().unwrap().len(), 100, "{points}");
}

/// A value of a gauge that comes late does not take the place of a later one.
#[test]
fn a_late_value_is_not_the_last_one() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(config(data.path()));
    let push = |points: Value| {
        let push = json!({"job": {"jobid": "j"}, "metrics": {"load": points}});
        assert_eq!(server.post("/api/v1/push", &push).0, 200);
    };
    push(json!([[1, 10], [5, 50]]));
    push(json!([[3, 30], [0, 1]]));
    let load = &server.json("/api/v1/jobs/1")["totals"]["load"];
    assert_eq!((&load["value"], &load["seen"]), (&json!(50.0), &json!([1.0, 50.0, 91.0, 4.0])));
    push(json!([[5, 51]]));
    assert_eq!(server.json("/api/v1/jobs/1")["totals"]["load"]["value"], 51.0);
}

/// Protocol buffers and Snappy, as plain as can be.
mod remote {
    pub fn varint(mut value: u64) -> Vec<u8> {
        let mut out = Vec::new();
        while value >= 0x80 {
            out.push(value as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
        out
    }

    pub fn message(number: u8, content: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2][..], &varint(content.len() as u64), content].concat()
    }

    pub fn label(name: &str, value: &str) -> Vec<u8> {
        message(1, &[message(1, name.as_bytes()), message(2, value.as_bytes())].concat())
    }

    /// Seconds and values.
    pub fn series(labels: &[(&str, &str)], samples: &[(f64, f64)]) -> Vec<u8> {
        let mut content: Vec<u8> = labels.iter().flat_map(|(name, value)| label(name, value)).collect();
        for (time, value) in samples {
            let time = varint((time * 1e3) as i64 as u64);
            content.extend(message(2, &[&[9][..], &value.to_le_bytes(), &[16], &time].concat()));
        }
        message(1, &content)
    }

    pub fn packed(plain: &[u8]) -> Vec<u8> {
        let mut out = varint(plain.len() as u64);
        for piece in plain.chunks(60) {
            out.push((piece.len() as u8 - 1) << 2);
            out.extend_from_slice(piece);
        }
        out
    }
}

/// Whatever comes by Prometheus' remote write: no numbers, times in any order, the same twice, too much.
#[test]
fn odd_remote_writes_do_no_harm() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(config(data.path()));
    let write = |plain: &[u8]| {
        let body = remote::packed(plain);
        let mut stream = TcpStream::connect(server.address).unwrap();
        let head = format!(
            "POST /api/v1/write HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Encoding: snappy\r\n\
             Content-Type: application/x-protobuf\r\nContent-Length: {}\r\n\r\n",
            server.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let _ = stream.write_all(&body);
        let mut answer = String::new();
        let _ = std::io::Read::read_to_string(&mut stream, &mut answer);
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body).to_owned();
        (
            answer.split(' ').nth(1).unwrap_or_default().to_owned(),
            serde_json::from_str(&body).unwrap_or(Value::Null),
        )
    };
    let start = (now() - 50.0).floor();
    let of = |name: &'static str| [("__name__", name), ("jobid", "7"), ("instance", "n1:9100")];
    let at = |second: f64, value: f64| (start + second, value);
    let good: Vec<(f64, f64)> = (0..40).map(|i| at(f64::from(i), f64::from(10 * i))).collect();
    // What has waited: a job began with its first value, and not when that arrives.
    let (status, answer) = write(&remote::series(&of("written_total"), &good));
    assert_eq!((status.as_str(), &answer), ("200", &json!({"values": 40, "refused": 0})));
    assert_eq!(server.json("/api/v1/jobs")["jobs"][0]["start"], start);
    let odd =
        [f64::NAN, f64::from_bits(0x7ff0_0000_0000_0002), f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e300];
    let samples: Vec<(f64, f64)> = odd.iter().map(|value| at(41.0, *value)).collect();
    let (status, answer) = write(&remote::series(&of("written_total"), &samples));
    assert_eq!((status.as_str(), &answer), ("200", &json!({"values": 0, "refused": 6})));
    // Again, in the wrong order, of the past, and of the far future.
    let (_, answer) = write(&remote::series(&of("written_total"), &good));
    assert_eq!(answer, json!({"values": 1, "refused": 39}), "the last one may be the same");
    let times = [at(-1e9, 1.0), at(1e9, 1e6), (f64::MIN / 1e4, 1.0), (f64::MAX / 1e4, 1e6), at(3.0, 1.0)];
    let (status, answer) = write(&remote::series(&of("written_total"), &times));
    assert_eq!((status.as_str(), &answer["values"]), ("200", &json!(0)), "{answer}");
    // The same series twice in one request.
    let twice = remote::series(&of("other_total"), &[at(1.0, 5.0), at(2.0, 8.0)]).repeat(2);
    assert_eq!(write(&twice).1["values"], 3);
    let totals = server.json("/api/v1/jobs/1")["totals"].clone();
    assert_eq!(
        (&totals["written_total"]["value"], &totals["other_total"]["value"]),
        (&json!(390.0), &json!(8.0))
    );
    let points = server.json("/trace/plot?job=7&filter=written_total");
    assert!((40..45).contains(&points.as_array().unwrap().len()), "{points}");
    // A hundred thousand labels of one series, and as many series.
    let names: Vec<String> = (0..100_000).map(|i| format!("l{i}")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    assert_eq!(write(&remote::series(&many, &[at(1.0, 1.0)])).0, "400");
    let series = |name: &String| remote::series(&[("__name__", name), ("jobid", "7")], &[at(1.0, 1.0)]);
    let (status, answer) = write(&names.iter().flat_map(series).collect::<Vec<u8>>());
    assert_eq!((status.as_str(), &answer["values"]), ("200", &json!(510)), "{answer}");
    assert_eq!(write(b"nonsense").0, "400");
    assert_eq!(server.get("/readyz").0, 200);
}
