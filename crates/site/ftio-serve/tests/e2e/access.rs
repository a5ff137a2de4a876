//! Who may see and do what, and what is refused.

use crate::server::{Server, arrived, config, ioskel, until};
use ftio_serve::config::{Token, parse_access};
use ftio_serve::http::routes::{Method, Needs, ROUTES};
use serde_json::{Value, json};
use std::net::TcpStream;

const USER: &str = "token-of-a-user-0001";
const OPERATOR: &str = "token-of-an-operator";
const AGENT: &str = "token-of-an-agent-01";
const METRICS: &str = "token-of-prometheus1";

fn server() -> (Server, tempfile::TempDir, tempfile::TempDir) {
    let (data, watched) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(watched.path().join("a"), ioskel(2, "foreign", "/bin/app")).unwrap();
    let mut config = config(data.path());
    config.watch = vec![watched.path().to_owned()];
    let lines = [(USER, "user"), (OPERATOR, "operator"), (AGENT, "agent"), (METRICS, "metrics")];
    let text: String = lines.iter().map(|(token, role)| format!("{token} {role} uid:4000000001\n")).collect();
    config.tokens = parse_access(&text).unwrap().tokens;
    assert_eq!(
        config.tokens[USER],
        Token {
            name: "uid:4000000001".into(),
            role: ftio_serve::viewer::Role::User,
            uid: Some(4_000_000_001)
        }
    );
    let server = Server::start(config);
    server.wait("/profiles", |all| all.as_array().is_some_and(|all| all.len() == 1));
    (server, data, watched)
}

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\nContent-Type: application/json\r\n")
}

/// All ways × all roles: nobody learns of a job that is not theirs.
#[test]
fn other_users_jobs_are_not_there() {
    let (server, _data, _watched) = server();
    for route in ROUTES.iter().filter(|route| route.path != "/api/v1/events") {
        let parameters: Vec<String> = route
            .parameters
            .split_whitespace()
            .map(|name| name.trim_end_matches('?'))
            .filter(|name| {
                ["jobid", "job", "app", "metric", "metricid", "filter", "size", "ranks", "start", "end"]
                    .contains(name)
            })
            .map(|name| match name {
                "jobid" | "job" => format!("{name}=foreign"),
                "app" => "app=app".to_owned(),
                "size" | "ranks" | "end" => format!("{name}=4"),
                "start" => "start=1".to_owned(),
                _ => format!("{name}=written_bytes"),
            })
            .collect();
        let url = format!("{}?{}", route.path.replace("{id}", "1"), parameters.join("&"));
        let method = match route.method {
            Method::Get => "GET",
            Method::Post | Method::Change => "POST",
            Method::Delete => "DELETE",
        };
        let (status, body) = server.with(method, &url, &bearer(USER), "");
        // What was asked may be said again.
        let echo = body.contains("foreign: no such job") || body.contains("foreign: not in the queue");
        assert!(echo || !body.contains("foreign"), "{method} {url}: {status} {body}");
        if route.needs == Needs::Admin {
            assert_eq!(status, 403, "{method} {url}");
        }
        if route.needs == Needs::Jobs {
            for token in [AGENT, METRICS] {
                assert_eq!(server.with(method, &url, &bearer(token), "").0, 403, "{method} {url}");
            }
        }
        let wrong = server.with(method, &url, &bearer("no-such-token-at-all"), "").0;
        assert!(wrong == 401 || route.needs == Needs::Nothing, "{method} {url}: {wrong}");
    }
    // A threshold on a job tells of the job, and what is wrong names files of others.
    let alarm =
        json!({"name": "big", "target": "foreign", "metric": "written_bytes", "operation": ">", "value": 1});
    assert_eq!(server.post("/alarms/add", &alarm).0, 200);
    for path in ["/api/v1/alarms", "/alarms", "/alarms/list", "/readyz", "/metrics", "/api/v1/running"] {
        let body = server.with("GET", path, &bearer(USER), "").1;
        assert!(!body.contains("foreign"), "{path}: {body}");
    }
    assert!(server.with("GET", "/api/v1/alarms", &bearer(OPERATOR), "").1.contains("foreign"));
    // The numbers of jobs can be guessed.
    for path in ["", "/series", "/prediction", "/predictions", "/detection", "/findings", "/report.html"] {
        for number in ["1", "01", "%31", "+1", "1%20"] {
            let url = format!("/api/v1/jobs/{number}{path}");
            assert_eq!(server.with("GET", &url, &bearer(USER), "").0, 404, "{url}");
        }
    }
    // Pushing to the id of somebody else's job makes a job of one's own.
    let push = json!({"job": {"jobid": "foreign"}, "metrics": {"written_bytes": 1}, "end": true}).to_string();
    assert_eq!(server.with("POST", "/api/v1/push", &bearer(USER), &push).0, 200);
    let all = server.json("/api/v1/jobs?q=foreign");
    let all = all["jobs"].as_array().unwrap();
    assert_eq!(all.len(), 2);
    assert!(all.iter().any(|job| job["id"] == 1 && job["written_bytes"] == 8_388_608.0), "{all:?}");
    let own = server.with("GET", "/job?job=foreign", &bearer(USER), "");
    assert!(own.0 == 404 || !own.1.contains("8388608"), "{own:?}");

    let jobs = |token: &str| -> Value {
        serde_json::from_str(&server.with("GET", "/api/v1/jobs", &bearer(token), "").1).unwrap()
    };
    assert_eq!(jobs(OPERATOR)["jobs"].as_array().unwrap().len(), 2);
    assert_eq!(jobs(USER)["jobs"].as_array().unwrap().len(), 1);
    assert_eq!(server.with("GET", "/metrics", &bearer(METRICS), "").0, 200);
    let push = json!({"job": {"jobid": "x"}, "metrics": {"a": 1}}).to_string();
    assert_eq!(server.with("POST", "/api/v1/push", &bearer(AGENT), &push).0, 403, "an agent is no job");
    let push = json!({"node": "n1", "metrics": {"node_load1": 1}}).to_string();
    assert_eq!(server.with("POST", "/api/v1/push", &bearer(AGENT), &push).0, 200);
}

/// The same of a job that runs, by everything that the description of the service lists, and by the stream of
/// events.
#[test]
fn other_users_running_jobs_are_not_there() {
    let (server, _data, _watched) = server();
    let host = server.address;
    let watch = |token: &str| {
        let stream = server.connect(&format!(
            "GET /api/v1/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: bearer {token}\r\n\r\n"
        ));
        stream.set_read_timeout(Some(std::time::Duration::from_secs(30))).unwrap();
        stream
    };
    let (mut user, mut operator) = (watch(USER), watch(OPERATOR));
    let points: Vec<[u32; 2]> = (0..300).map(|i| [i, i / 20 * 3 + (i % 20 + 1).min(3)]).collect();
    let start = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() - 300;
    let job = json!({"jobid": "secret", "command": "/secret/app in", "size": 16, "start_time": start,
        "nodelist": "secret1", "partition": "secret"});
    let push = json!({"job": job, "metrics": {"written_bytes": points, "secret_load": [[0, 1]]}});
    assert_eq!(server.post("/api/v1/push", &push).0, 200);
    server.wait("/api/v1/running", |all| all["jobs"][0]["period"].is_number());
    let (metric, target) = ("written_bytes", "secret");
    let alarm = json!({"name": target, "target": target, "metric": metric, "operation": ">", "value": 1});
    assert_eq!(server.post("/alarms/add", &alarm).0, 200);
    let node = json!({"node": "secret2", "metrics": {"node_load1": 1}});
    assert_eq!(server.post("/api/v1/push", &node).0, 200);

    let paths = server.json("/api/v1/openapi.json")["paths"].clone();
    let mut asked = 0;
    for (path, methods) in paths.as_object().unwrap() {
        for (method, about) in methods.as_object().unwrap() {
            let parameters = about["parameters"].as_array().cloned().unwrap_or_default();
            let names = parameters.iter().filter(|one| one["in"] == "query");
            // These would make a job of that name.
            let makes = ["/set", "/accumulate", "/push"].contains(&path.as_str());
            let query: Vec<String> = names
                .filter_map(|one| match one["name"].as_str().unwrap() {
                    "job" if makes => Some("job=own".to_owned()),
                    name @ ("jobid" | "job" | "target") => Some(format!("{name}=secret")),
                    "app" => Some("app=app%20in".to_owned()),
                    "q" => Some("q=secret".to_owned()),
                    name @ ("metric" | "metricid" | "filter") => Some(format!("{name}=written_bytes")),
                    name @ ("size" | "ranks" | "end") => Some(format!("{name}=4")),
                    name @ ("start" | "value") => Some(format!("{name}=1")),
                    name @ ("name" | "key") => Some(format!("{name}=x")),
                    "operation" => Some("operation=>".to_owned()),
                    _ => None,
                })
                .collect();
            for number in 1..4 {
                let url = format!("{}?{}", path.replace("{id}", &number.to_string()), query.join("&"));
                for token in [USER, AGENT, METRICS] {
                    let scrapes = token == METRICS && path == "/metrics";
                    if scrapes || path == "/api/v1/events" {
                        continue;
                    }
                    let (status, body) = server.with(&method.to_uppercase(), &url, &bearer(token), "");
                    asked += 1;
                    let echo =
                        body.contains("secret: no such job") || body.contains("secret: not in the queue");
                    assert!(echo || !body.contains("secret"), "{method} {url}: {status} {body}");
                    assert!(!makes || token == USER || status == 403, "{method} {url}: {status}");
                }
            }
        }
    }
    assert!(asked > 300, "{asked}");
    let end = json!({"job": {"jobid": "secret"}, "metrics": {}, "end": true});
    assert_eq!(server.post("/api/v1/push", &end).0, 200);
    let own = json!({"job": {"jobid": "mine"}, "metrics": {"written_bytes": 1}, "end": true}).to_string();
    assert_eq!(server.with("POST", "/api/v1/push", &bearer(USER), &own).0, 200);
    // Both see that the user's own job ends, which was the last thing that happened.
    let until_own_ends = |stream: &mut TcpStream| {
        let mut all = String::new();
        for line in std::io::BufRead::lines(std::io::BufReader::new(stream)) {
            let line = line.unwrap();
            let last = all.ends_with("event: ended\n") && line.contains("\"mine\"");
            all.push_str(&line);
            all.push('\n');
            if last {
                break;
            }
        }
        all
    };
    let seen = until_own_ends(&mut user);
    assert!(!seen.contains("secret"), "{seen}");
    assert!(until_own_ends(&mut operator).contains("\"jobid\":\"secret\""));
}

/// Headers that a proxy before us could read in another way.
#[test]
fn headers_that_are_there_twice_are_refused() {
    let data = tempfile::tempdir().unwrap();
    let mut config = config(data.path());
    let own = rustix::process::geteuid().as_raw();
    config.trusted_users.push(own);
    let text = format!("{USER} user uid:4000000001\n{OPERATOR} operator uid:4000000002\n");
    config.tokens = parse_access(&text).unwrap().tokens;
    let server = Server::start(config);
    let host = server.address;
    let ask = |line: &str, headers: &str| {
        server.raw(&format!("GET {line} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"))
    };
    let name = format!("Host: {host}\r\n");
    let token = |token: &str| format!("Authorization: Bearer {token}\r\n");
    let user = token(USER);
    for (headers, status) in [
        (format!("{name}{user}"), 200),
        (format!("Host: LocalHost:{}\r\n{user}", host.port()), 200),
        (format!("{name}{name}{user}"), 400),
        (format!("{name}Host: evil.example\r\n{user}"), 400),
        (format!("{name}{user}{}", token(OPERATOR)), 400),
        (format!("{name}X-Remote-User: root\r\nX-Remote-User: nobody\r\n"), 400),
        (format!("{name}Origin: http://{host}\r\nOrigin: http://evil.example\r\n{user}"), 400),
        (format!("{name}Origin: http://\u{e9}\r\n{user}"), 400),
        (format!("{name}Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n{user}"), 400),
        (user.clone(), 421),
    ] {
        assert_eq!(ask("/api/v1/version", &headers).0, status, "{headers}");
    }
    // The name may be in the address as well.
    assert_eq!(ask(&format!("http://{host}/api/v1/version"), &format!("{name}{user}")).0, 200);
    assert_eq!(ask("http://evil.example/api/v1/version", &format!("{name}{user}")).0, 421);
    let lower = ask("/api/v1/version", &format!("{name}authorization: bearer  {USER}\r\n"));
    assert!(lower.2.contains("\"role\":\"user\""), "{lower:?}");
    // Two questions at once are answered one after the other, each for who asks it.
    let one = |headers: &str| format!("GET /api/v1/version HTTP/1.1\r\n{name}{headers}\r\n");
    let two = format!("{}{}", one(&user), one(&format!("{}Connection: close\r\n", token(OPERATOR))));
    let (_, _, answers) = server.raw(&two);
    let (first, second) = (answers.find("\"role\":\"user\""), answers.find("\"role\":\"operator\""));
    assert!(first.is_some() && first < second, "{answers}");
}

#[test]
fn pages_of_others_may_not_ask() {
    let (server, _data, _watched) = server();
    let own = format!("http://{}", server.address);
    for (headers, status) in [
        ("Sec-Fetch-Site: cross-site\r\n".to_owned(), 403),
        ("Sec-Fetch-Site: same-site\r\n".to_owned(), 403),
        ("Origin: http://evil.example\r\n".to_owned(), 403),
        ("Origin: null\r\n".to_owned(), 403),
        (format!("Origin: {own}\r\nSec-Fetch-Site: same-origin\r\n"), 200),
        ("Sec-Fetch-Site: none\r\n".to_owned(), 200),
    ] {
        let headers = headers + "Content-Type: application/json\r\n";
        assert_eq!(server.with("GET", "/job/list", &headers, "").0, status, "{headers}");
        let alarm =
            json!({"name": "a", "target": "b", "metric": "c", "operation": ">", "value": 1}).to_string();
        assert_eq!(server.with("POST", "/alarms/add", &headers, &alarm).0, status, "{headers}");
    }
    // A form of another page can send text, and nothing else without asking.
    let form = server.with("POST", "/alarms/add", "Content-Type: text/plain\r\n", "{}");
    assert_eq!(form.0, 415);
    for host in [
        "evil.example",
        "evil.example:1337",
        "",
        "127.0.0.1.evil.example",
        "localhost:80@evil.example",
        "127.0.0.1:1337.evil.example",
    ] {
        let request = format!("GET /job/list HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        assert_eq!(server.raw(&request).0, 421, "{host}");
    }
    for path in [
        "/alarms/del?target=a&name=b",
        "/set?key=a&value=1",
        "/accumulate?key=a&value=1",
        "/push?key=a",
        "/join?to=169.254.169.254",
        "/join/multiple",
        "/pivot",
        "/remove",
        "/leave",
        "/disconnect",
    ] {
        assert_eq!(server.get(path).0, 405, "GET {path}");
    }
    assert_eq!(server.post("/join", &json!({"to": "169.254.169.254:80"})).0, 403);
    let (_, head, _) =
        server.raw(&format!("GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.address));
    for wanted in [
        "content-security-policy: default-src 'none'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
    ] {
        assert!(head.contains(wanted), "{wanted}: {head}");
    }
    assert!(!head.to_lowercase().contains("access-control"), "{head}");
}

#[test]
fn the_token_of_the_first_visit_becomes_a_cookie() {
    let (server, _data, _watched) = server();
    let host = server.address;
    let visit = |query: &str| {
        server.raw(&format!("GET /{query} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    };
    let (status, head, _) = visit(&format!("?token={OPERATOR}"));
    assert_eq!(status, 303);
    assert!(head.contains("HttpOnly; SameSite=Strict") && head.contains("location: /\r\n"), "{head}");
    assert_eq!(visit("?token=wrong").0, 401);
    let cookie = format!("Cookie: a=b; ftio_token={USER}\r\n");
    let you = server.with("GET", "/api/v1/version", &cookie, "").1;
    assert!(you.contains("\"role\":\"user\""), "{you}");
}

#[test]
fn what_was_asked_by_get_works_if_told_so() {
    let data = tempfile::tempdir().unwrap();
    let mut config = config(data.path());
    config.compat_get = true;
    let server = Server::start(config);
    assert_eq!(server.get("/accumulate?key=a&value=2&job=j").0, 200);
    assert_eq!(server.get("/accumulate?key=a&value=3&job=j").0, 200);
    let job = server.json("/job?job=j");
    assert_eq!(job["counters"][0]["ctype"]["Counter"]["value"], 5.0);
    let cross = server.with(
        "GET",
        "/accumulate?key=a&value=3&job=j",
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n",
        "",
    );
    assert_eq!(cross.0, 403, "not by a link on another page");
}

/// Clients that send nothing, or a byte now and then, do not keep others from being served, not even if they
/// have taken every place: the one that has waited longest has to leave.
#[test]
fn slow_clients_stop_nobody() {
    let data = tempfile::tempdir().unwrap();
    let mut config = config(data.path());
    config.connections = 100;
    let server = Server::start(config);
    let half = "GET /job/list HTTP/1.1\r\nHo";
    let first = server.connect(half);
    let slow: Vec<TcpStream> = (0..250).map(|_| server.connect(half)).collect();
    for _ in 0..20 {
        assert_eq!(server.get("/job/list").0, 200);
    }
    until("the first has to leave", || arrived(&first).is_none());
    until("no more than there is room for", || {
        slow.iter().filter(|stream| arrived(stream).is_some()).count() <= 100
    });
    drop(slow);
    let metrics = server.get("/metrics").1;
    let refused = metrics.lines().find(|line| line.starts_with("ftio_refused_connections_total")).unwrap();
    assert_ne!(refused.rsplit(' ').next(), Some("0"), "they are counted");
}

/// One who has too many connections makes room for himself; watchers of events stay.
#[test]
fn who_has_too_many_connections_makes_room() {
    let data = tempfile::tempdir().unwrap();
    let mut config = config(data.path());
    // Of which one who runs the service may have three quarters.
    config.connections = 26;
    let server = Server::start(config);
    let host = server.address;
    let watcher = server.connect(&format!("GET /api/v1/events HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    until("the stream begins", || arrived(&watcher).is_some_and(|bytes| !bytes.is_empty()));
    let slow: Vec<TcpStream> = (0..60).map(|_| server.connect("GET /")).collect();
    assert_eq!(server.get("/job/list").0, 200);
    until("most have left", || slow.iter().filter(|stream| arrived(stream).is_some()).count() <= 20);
    assert!(arrived(&watcher).is_some(), "who watches is no slow client");
}

#[test]
fn long_and_broken_requests_are_refused() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(config(data.path()));
    let long = format!("GET /{} HTTP/1.1\r\nHost: {}\r\n\r\n", "x".repeat(64 << 10), server.address);
    let status = server.raw(&long).0;
    assert!(status >= 400 || status == 0, "{status}");
    let (status, _) = server.post("/alarms/add", &json!({"name": "x".repeat(2 << 20)}));
    assert_eq!(status, 413);
    for body in
        ["{", "[]", "null", "{\"metrics\": 3}", "{\"job\": {\"jobid\": 7}}", "{\"job\":{\"jobid\":\"\"}}"]
    {
        let (status, _) = server.with("POST", "/api/v1/push", "Content-Type: application/json\r\n", body);
        assert_eq!(status, 400, "{body}");
    }
    let (status, _, _) = server.raw("nonsense\r\n\r\n");
    assert!(status == 400 || status == 0);
    assert_eq!(server.get("/healthz").0, 200);
}
