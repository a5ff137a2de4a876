//! Requests of somebody who wants to break it.

use crate::server::{Server, config, ioskel};
use ftio_serve::viewer::Role;
use ftio_serve::{Listen, Service};
use proptest::prelude::*;
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

fn json_push(server: &Server, body: &str) -> u16 {
    server.with("POST", "/api/v1/push", "Content-Type: application/json\r\n", body).0
}

#[test]
fn no_path_leads_out() {
    let (data, watched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(watched.path().join("a"), ioskel(2, "j", "/bin/app")).unwrap();
    let mut config = config(data.path());
    config.watch = vec![watched.path().to_owned()];
    let server = Server::start(config);
    server.wait("/profiles", |all| all.as_array().is_some_and(|all| all.len() == 1));
    for path in [
        "/../../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/page.js/../../etc/passwd",
        "/api/v1/jobs/..%2f..%2fetc%2fpasswd/report.html",
        "/api/v1/jobs/1%00/report.html",
        "/api/v1/jobs/9223372036854775808/report.html",
        "/api/v1/jobs/-1/series",
    ] {
        let (status, body) = server.get(path);
        assert!([400, 404].contains(&status) && !body.contains("root:"), "{path}: {status} {body}");
    }
    // The trace is replaced by a link to something else: the report is not made of that.
    assert_eq!(server.get("/api/v1/jobs/1/report.html").0, 200);
    std::fs::remove_file(watched.path().join("a")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", watched.path().join("a")).unwrap();
    assert_eq!(server.get("/api/v1/jobs/1/report.html").0, 404);
}

#[test]
fn bombs_of_json_do_no_harm() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(config(data.path()));
    let deep = "[".repeat(500_000);
    let nested = format!("{{\"metrics\":{}", "{\"a\":".repeat(200_000));
    let many = format!(
        "{{\"job\":{{\"jobid\":\"j\"}},\"metrics\":{{\"a\":[{}[0,0]]}}}}",
        "[0,0],".repeat(1_000_000)
    );
    let odd = format!("{{\"unknown\":[{}0],\"job\":{{\"jobid\":\"\"}}}}", "0,".repeat(3_000_000));
    for body in [&deep, &nested, &many, &odd] {
        assert_eq!(json_push(&server, body), 400, "{}", &body[..40]);
    }
    assert_eq!(json_push(&server, &" ".repeat(9 << 20)), 413);
    // Names and labels without end: a job takes so many, and no more.
    let names: Vec<String> = (0..3000).map(|i| format!("\"m{i}\":1")).collect();
    let push = format!("{{\"job\":{{\"jobid\":\"j\"}},\"metrics\":{{{}}}}}", names.join(","));
    assert_eq!(json_push(&server, &push), 200);
    assert_eq!(server.json("/trace/metrics?job=j").as_array().unwrap().len(), 512);
    assert_eq!(server.get("/readyz").0, 200);
}

/// What a server and a proxy before it could understand differently.
#[test]
fn requests_that_can_be_read_in_two_ways_are_not_answered_twice() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(config(data.path()));
    let host = server.address;
    let hidden = format!("GET /api/v1/version HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    let head = format!("POST /api/v1/push HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n");
    let both = format!(
        "{head}Content-Length: {}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}",
        5 + hidden.len()
    );
    let two_lengths = format!("{head}Content-Length: 0\r\nContent-Length: {}\r\n\r\n{hidden}", hidden.len());
    let odd_length = format!("{head}Content-Length: +{}\r\n\r\n{hidden}", hidden.len());
    let odd_coding = format!("{head}Transfer-Encoding: xchunked\r\n\r\n{hidden}");
    let folded = format!("{head}X: a\r\n Content-Length: 5\r\n\r\n{hidden}");
    for request in [both, two_lengths, odd_length, odd_coding, folded] {
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(3))).unwrap();
        // Refused at the head: it may be closed before all is written.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        assert!(!answer.contains("\"version\""), "{request}\n\n{answer}");
    }
    let headers: String = (0..500).map(|i| format!("X-{i}: y\r\n")).collect();
    let (status, ..) = server.raw(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n"));
    assert!(status >= 400 || status == 0, "{status}");
    let (status, ..) =
        server.raw(&format!("GET / HTTP/1.1\r\nHost: {host}\r\nX: {}\r\n\r\n", "y".repeat(1 << 20)));
    assert!(status >= 400 || status == 0, "{status}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Any bytes, and requests with some bytes changed, are answered or not, and nothing else happens.
    #[test]
    fn any_bytes_are_no_danger(
        any in prop::collection::vec(any::<u8>(), 0..400),
        which in 0usize..3,
        changes in prop::collection::vec((0usize..400, any::<u8>()), 0..12),
    ) {
        static SERVICE: OnceLock<(tempfile::TempDir, Arc<Service>)> = OnceLock::new();
        let (_, service) = SERVICE.get_or_init(|| {
            let data = tempfile::tempdir().unwrap();
            let service = crate::server::opened(data.path());
            (data, service)
        });
        let body = "{\"job\":{\"jobid\":\"j\"},\"metrics\":{\"written_bytes\":[[1,5]]}}";
        let mut request = [
            "GET /api/v1/jobs?q=a%20b&limit=5 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".to_owned(),
            format!("POST /api/v1/push HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
                Connection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len()),
            format!("POST /api/v1/push HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
                Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len()),
        ][which].clone().into_bytes();
        let own = rustix::process::geteuid().as_raw();
        let whole = ftio_serve::http::answered(service, own, &request).unwrap();
        prop_assert!(whole.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&whole));
        for (at, byte) in changes {
            let at = at % request.len();
            request[at] = byte;
        }
        for bytes in [&any, &request] {
            let answer = ftio_serve::http::answered(service, own, bytes).unwrap();
            prop_assert!(answer.is_empty() || answer.starts_with(b"HTTP/1."), "{answer:?}");
        }
        prop_assert_eq!(service.stats.connections.get(), 0);
    }
}

fn over(socket: &std::path::Path, path: &str) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: anything\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Over a Unix socket the kernel says who asks, and the file of roles what they may.
#[test]
fn a_unix_socket_knows_who_asks() {
    let data = tempfile::tempdir().unwrap();
    let socket = data.path().join("http.sock");
    let own = rustix::process::geteuid().as_raw();
    for role in [Role::Admin, Role::User, Role::Metrics] {
        let mut config = config(data.path());
        config.listen.push(Listen::Unix(socket.clone()));
        config.roles.insert(own, role);
        let server = Server::start(config);
        let mode = std::fs::metadata(&socket).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o666, "others are known by the kernel as well");
        let answer = over(&socket, "/api/v1/version");
        match role {
            Role::Metrics => assert!(answer.starts_with("HTTP/1.1 403"), "{answer}"),
            _ => assert!(
                answer.contains(&format!("\"role\":\"{}\"", json!(role).as_str().unwrap())),
                "{answer}"
            ),
        }
        assert!(over(&socket, "/metrics").starts_with("HTTP/1.1 200"));
        // Another service must not take it over, nor remove what is no socket.
        let other = tempfile::tempdir().unwrap();
        for path in [socket.clone(), other.path().join("precious")] {
            std::fs::write(other.path().join("precious"), "x").unwrap();
            let mut config = crate::server::config(&other.path().join("data"));
            config.listen = vec![Listen::Unix(path)];
            let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
            assert!(ftio_serve::run(config, &stop, |_| {}).is_err());
        }
        assert!(other.path().join("precious").exists());
        server.stop();
        assert!(!socket.exists());
    }
}

/// One who watches and never reads costs no more than a few events, and is cut off in the end; others see
/// everything.
#[test]
fn watchers_that_never_read_take_no_memory() {
    let data = tempfile::tempdir().unwrap();
    let service = crate::server::opened(data.path());
    let mut held = Vec::new();
    let stuck: Vec<_> = (0..8).map(|_| service.events.subscribe()).collect();
    for second in 0..200 {
        let jobs = (0..300).map(|_| (Some(1), "x".repeat(1000))).collect();
        service.tell_jobs(f64::from(second), jobs);
        // What is kept for those who do not read is the latest, and nothing else.
        held.push(service.events.len());
    }
    assert!(held.iter().all(|held| *held <= 32), "{held:?}");
    drop(stuck);
}

/// A run under an id that is still in use by an earlier one.
#[test]
fn a_job_id_that_is_used_again_is_another_job() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(config(data.path()));
    let start = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let push = |start: u64, sum: u64| {
        let job = json!({"jobid": "17", "command": "/bin/a", "size": 2, "start_time": start});
        let push = json!({"job": job, "metrics": {"written_bytes": sum}});
        assert_eq!(server.post("/api/v1/push", &push).0, 200);
    };
    push(start - 1000, 5);
    // Other processes of the same run began a little later.
    push(start - 990, 7);
    assert_eq!(server.json("/api/v1/jobs")["jobs"].as_array().unwrap().len(), 1);
    // One whose clock is ahead is no other run either, as long as it says the same.
    push(start + 3000, 9);
    push(start + 3000, 11);
    let jobs = server.json("/api/v1/jobs?sort=start&order=asc");
    let jobs = jobs["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 2, "{jobs:?}");
    let found: Vec<(&str, f64)> = jobs
        .iter()
        .map(|job| (job["state"].as_str().unwrap(), job["written_bytes"].as_f64().unwrap()))
        .collect();
    assert_eq!(found, [("lost", 7.0), ("running", 11.0)]);
}

/// Numbers and times that make no sense change nothing that does.
#[test]
fn senseless_numbers_and_times_do_no_harm() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(config(data.path()));
    let push = |metrics: &str| {
        let body = format!("{{\"job\":{{\"jobid\":\"j\",\"size\":2}},\"metrics\":{metrics}}}");
        server.with("POST", "/api/v1/push", "Content-Type: application/json\r\n", &body)
    };
    let good = "{\"written_bytes\":[[1,10],[2,20],[3,30]]}";
    assert_eq!(push(good).0, 200);
    for wrong in ["NaN", "Infinity", "-Infinity", "1e999", "\"5\"", "null", "{}", "[[1]]", "[[1,2,3]]"] {
        assert_eq!(push(&format!("{{\"written_bytes\":{wrong}}}")).0, 400, "{wrong}");
    }
    let far = 4_102_444_800.0 + 1e8;
    for refused in ["[[4,-1]]", "[[4,1e300]]", "[[1e300,40]]", "[[1e8,40]]", &format!("[[{far},40]]")] {
        let (status, answer) = push(&format!("{{\"written_bytes\":{refused}}}"));
        assert_eq!(status, 200, "{refused}");
        assert!(answer.contains("\"refused\":1"), "{refused}: {answer}");
    }
    let series = server.json("/api/v1/jobs/1/series?metric=written_bytes");
    assert_eq!(series["period"], 1.0, "a time far ahead does not make the bins wide");
    assert_eq!(server.json("/trace/plot?job=j&filter=written_bytes").as_array().unwrap().len(), 4);
    assert_eq!(server.json("/api/v1/jobs/1")["written_bytes"], 30.0);
    for query in ["from=nan", "to=inf", "points=-1e309", "from=1e400"] {
        assert_eq!(server.get(&format!("/api/v1/jobs/1/series?{query}")).0, 400, "{query}");
    }
    for query in ["from=-1e300", "to=1e300", "points=-5", "points=1e18", "from=5&to=-5"] {
        assert_eq!(server.get(&format!("/api/v1/jobs/1/series?{query}")).0, 200, "{query}");
    }
    let long = "x".repeat(100_000);
    assert_eq!(push(&format!("{{\"{long}\":1}}")).0, 200);
    let names = server.json("/trace/metrics?job=j");
    assert!(
        names.as_array().unwrap().iter().all(|name| name.as_str().unwrap().len() <= 512),
        "names are cut"
    );
}
