//! `ftio serve` as a user starts it, and its page in a real browser.

use crate::browser::{Browser, OVERFLOWING};
use crate::support::{Script, ftio, skipped, stderr};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A service that ends with the test.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(folder: &Path, args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_ftio"))
            .args(["serve", "--listen", "127.0.0.1:0", "--poll", "0.05"])
            .args(args)
            .current_dir(folder)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let said = lines
            .find_map(|line| Some(line.ok()?.strip_prefix("ftio serve: listening on http://")?.to_owned()));
        std::thread::spawn(move || lines.for_each(drop));
        Server { child, address: said.expect("it says where it listens") }
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        ask(&self.address, method, path, body).expect("an answer")
    }

    fn push(&self, value: &Value) {
        let (status, answer) = self.ask("POST", "/api/v1/push", &value.to_string());
        assert_eq!(status, 200, "{answer}");
    }

    fn wait(&self, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let value = serde_json::from_str(&self.ask("GET", path, "").1).unwrap_or(Value::Null);
            if wanted(&value) {
                return value;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{path}: {value}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Status and body; `None`: there is no server any more.
fn ask(address: &str, method: &str, path: &str, body: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: \
         application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    // It may answer and close before it has read all.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// In an empty directory, without any argument that a user must give.
#[test]
fn serves_what_appears_in_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    Script::bursts(4, 12).write(&dir.path().join("run.msgpack"));
    let profiles = server.wait("/profiles", |all| all.as_array().is_some_and(|all| all.len() == 1));
    assert_eq!((&profiles[0]["jobid"], &profiles[0]["size"]), (&json!("4711"), &json!(4)));
    let job = server.wait("/api/v1/jobs/1", |job| job["state"] == "finished");
    assert!((job["period"].as_f64().unwrap() - 10.0).abs() < 0.1, "{job}");
    let (status, report) = server.ask("GET", "/api/v1/jobs/1/report.html", "");
    assert!(
        status == 200
            && report.contains("<canvas") | report.contains("<figure") | report.contains("<section"),
        "{status}"
    );
    let findings: Value = serde_json::from_str(&server.ask("GET", "/api/v1/jobs/1/findings", "").1).unwrap();
    assert!(findings["findings"].is_array(), "{findings}");
    let (_, detection) = server.ask("GET", "/api/v1/jobs/1/detection", "");
    crate::schemas::valid(&detection, "ftio.detection/1");
    named_objects_are_as_their_schemas_say(&server);
}

/// Whatever an answer holds that has the name of a schema is as that schema says.
fn named_objects_are_as_their_schemas_say(server: &Server) {
    fn check(value: &Value) -> usize {
        let inner = match value {
            Value::Array(items) => items.iter().map(check).sum(),
            Value::Object(fields) => fields.values().map(check).sum(),
            _ => 0,
        };
        let name = value.get("schema").and_then(Value::as_str).filter(|name| name.starts_with("ftio."));
        name.iter().for_each(|name| crate::schemas::valid(&value.to_string(), name));
        inner + usize::from(name.is_some())
    }
    let described: Value = serde_json::from_str(&server.ask("GET", "/api/v1/openapi.json", "").1).unwrap();
    let paths = described["paths"].as_object().unwrap().iter().filter(|(_, of)| of.get("get").is_some());
    let paths: Vec<String> = paths.map(|(path, _)| path.replace("{id}", "1")).collect();
    // A stream of events has no end.
    let asked = paths.iter().filter(|path| path.starts_with("/api/v1/") && !path.contains("events"));
    let answers = asked.filter_map(|path| serde_json::from_str(&server.ask("GET", path, "").1).ok());
    let found: usize = answers.map(|answer: Value| check(&answer)).sum();
    assert!(paths.len() > 15 && found > 0, "{paths:?}");
}

/// Whoever may put a file below the folder that is watched chooses its name.
#[test]
fn a_name_makes_no_line_of_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let name = "a\nftio serve: FORGED\x1b[31m.msgpack";
    std::fs::write(dir.path().join(name), "no trace").unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_ftio"))
        .args(["serve", "--listen", "127.0.0.1:0", "--poll", "0.05"])
        .current_dir(dir.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let (sender, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || lines.for_each(|line| drop(sender.send(line))));
    let line = std::iter::from_fn(|| told.recv_timeout(Duration::from_secs(60)).ok())
        .find(|line| line.contains("msgpack"));
    let _ = child.kill();
    let _ = child.wait();
    let line = line.expect("the file is told");
    assert!(line.contains("/a\\u{a}ftio serve: FORGED\\u{1b}[31m.msgpack"), "{line}");
    assert!(!line.contains('\x1b') && line.contains("unknown format"), "{line}");
}

#[test]
fn a_second_service_and_open_addresses_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let _server = Server::start(dir.path(), &["--data", "d"]);
    let second = ftio(dir.path(), &["serve", "--listen", "127.0.0.1:0", "--data", "d"]);
    assert!(stderr(&second).contains("another ftio serve uses this directory"), "{}", stderr(&second));
    assert_eq!(second.status.code(), Some(1));
    let open = ftio(dir.path(), &["serve", "--listen", "0.0.0.0:0", "--data", "e"]);
    assert_eq!(open.status.code(), Some(2), "{}", stderr(&open));
    for wrong in [&["--slurm", "squeue:5"][..], &["--trusted-proxy", "127.0.0.1"], &["--listen", "nowhere"]] {
        let args = [&["serve", "--data", "f"], wrong].concat();
        assert_eq!(ftio(dir.path(), &args).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn an_agent_tells_of_its_node() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let url = format!("http://{}", server.address);
    let mut agent = Command::new(env!("CARGO_BIN_EXE_ftio"))
        .args(["agent", "--server", &url, "--node", "n1", "--every", "0.1"])
        .spawn()
        .unwrap();
    let job =
        server.wait("/job?job=Node:%20n1", |job| job["counters"].as_array().is_some_and(|all| all.len() > 3));
    let _ = agent.kill();
    let _ = agent.wait();
    let counters = job["counters"].as_array().unwrap();
    let memory = counters.iter().find(|one| one["name"] == "node_memory_total_bytes").unwrap();
    assert!(memory["ctype"]["Gauge"]["max"].as_f64().unwrap() > 1e6, "{memory}");
}

/// The value of a metric of the service itself.
fn metric(server: &Server, name: &str) -> f64 {
    let text = server.ask("GET", "/metrics", "").1;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name}: {text}")).parse().unwrap()
}

/// Killed (SIGKILL) five times while values come: what was on disk is there, nothing is there twice, and no
/// job that has ended is lost. scripts/serve-test does it a hundred times.
#[test]
fn killed_again_and_again_it_loses_nothing_that_was_stored() {
    let dir = tempfile::tempdir().unwrap();
    let (mut sum, mut safe) = (0u64, 0u64);
    let mut ended: Vec<String> = Vec::new();
    let mut busy_sent = 0u64;
    for round in 0..=5 {
        let server = Server::start(dir.path(), &["--data", "d"]);
        let jobs: Value = serde_json::from_str(&server.ask("GET", "/api/v1/jobs?limit=500", "").1).unwrap();
        let jobs = jobs["jobs"].as_array().unwrap();
        let of = |name: &str| jobs.iter().filter(|job| job["jobid"] == name).collect::<Vec<_>>();
        for name in &ended {
            let found = of(name);
            assert!(found.len() == 1 && found[0]["state"] == "finished", "round {round}: {name}: {found:?}");
        }
        if round > 0 {
            for (name, least, most) in [("long", safe, sum), ("busy", 0, busy_sent)] {
                let found = of(name);
                assert!(
                    found.len() == 1 && found[0]["state"] == "running",
                    "round {round}: {name}: {found:?}"
                );
                let written = found[0]["written_bytes"].as_f64().unwrap() as u64;
                assert!((least..=most).contains(&written), "{name}: {written} of {least}..={most}");
            }
        }
        let mut step = |server: &Server| {
            sum += 1000;
            server.push(&json!({"job": {"jobid": "long", "size": 4}, "metrics": {"written_bytes": sum}}));
            sum
        };
        safe = step(&server);
        // A journal that has grown twice since then holds it: the second time it began after the first.
        for _ in 0..2 {
            let before = metric(&server, "ftio_journal_bytes_total");
            let begun = Instant::now();
            while metric(&server, "ftio_journal_bytes_total") <= before {
                assert!(begun.elapsed() < Duration::from_secs(60), "the journal is not written");
                step(&server);
            }
        }
        let name = format!("short{round}");
        server
            .push(&json!({"job": {"jobid": name, "size": 2}, "metrics": {"written_bytes": 1}, "end": true}));
        ended.push(name);
        // Killed while somebody pushes.
        let address = server.address.clone();
        let first = busy_sent;
        let pusher = std::thread::spawn(move || {
            let mut sent = first;
            loop {
                sent += 1;
                let push = json!({"job": {"jobid": "busy"}, "metrics": {"written_bytes": sent}}).to_string();
                if ask(&address, "POST", "/api/v1/push", &push).is_none() {
                    return sent;
                }
            }
        });
        let all = |jobs: &Value| jobs["jobs"].as_array().is_some_and(|all| all.len() == 2);
        server.wait("/api/v1/running", all);
        drop(server);
        busy_sent = pusher.join().unwrap();
    }
}

fn seconds_now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
}

/// Bursts of 3 s every 20 s, up to now.
fn bursts(jobid: &str, size: u64, count: usize) -> Value {
    let point = |second: usize| [second as f64, (second / 20 * 3 + (second % 20 + 1).min(3)) as f64 * 1e9];
    let points: Vec<[f64; 2]> = (0..count * 20).map(point).collect();
    let start = seconds_now() - 20 * count as u64;
    json!({"job": {"jobid": jobid, "command": "/bin/sim <b>in", "size": size, "start_time": start},
        "metrics": {"written_bytes": points}})
}

/// Every page loads without errors, live values arrive, light and dark, wide and narrow.
#[test]
fn the_pages_work_in_a_browser() {
    let Some(browser) = Browser::start() else {
        return skipped("chromium and chromedriver are not installed");
    };
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &["--cluster", "test", "--capacity", "5e9"]);
    Script::bursts(4, 12).write(&dir.path().join("run.msgpack"));
    for size in [2, 4, 8, 16, 32] {
        let job = json!({"jobid": format!("run{size}"), "command": "/bin/model a", "size": size});
        server.push(&json!({"job": job, "metrics": {"written_bytes": 1e6 * size as f64}, "end": true}));
    }
    server.push(&bursts("<img src=x onerror=document.title=1>", 16, 15));
    server.push(&bursts("second", 8, 15));
    let mut ended = bursts("checkpointer", 8, 15);
    ended["end"] = json!(true);
    server.push(&ended);
    server.wait("/profiles", |all| all.as_array().is_some_and(|all| all.len() == 7));
    server.wait("/api/v1/running", |all| {
        all["jobs"].as_array().is_some_and(|all| all.iter().all(|job| job["period"].is_number()))
    });
    let rows = server.wait("/api/v1/jobs?state=running", |_| true);
    let live = rows["jobs"][0]["id"].as_i64().unwrap();
    let trace = server.wait("/api/v1/jobs?q=4711", |_| true)["jobs"][0]["id"].as_i64().unwrap();
    let ended = server.wait("/api/v1/jobs?q=checkpointer", |_| true)["jobs"][0]["id"].as_i64().unwrap();

    let open = |path: &str, ready: &str| {
        browser.open(&format!("http://{}/{path}", server.address));
        browser.run("delete document.getElementById('view').dataset.ready; route();");
        let begun = Instant::now();
        while browser.run("return document.getElementById('view').dataset.ready || '';") != ready {
            assert!(begun.elapsed() < Duration::from_secs(30), "{path}");
            std::thread::sleep(Duration::from_millis(50));
        }
        browser.run("return document.getElementById('view').textContent;").as_str().unwrap().to_owned()
    };
    let wanted = [
        ("#/now", "now", &["Running jobs", "second", "<img src=x", "Conflicts ahead", "All jobs"][..]),
        ("#/jobs", "jobs", &["run32", "4711", "finished"]),
        ("#/jobs?q=run&state=finished", "jobs", &["run16"]),
        (&format!("#/job/{trace}"), "job", &["Job 4711", "Bandwidth", "Findings", "Report"]),
        (&format!("#/job/{live}"), "job", &["Bandwidth", "Next phase", "Predictions"]),
        ("#/apps", "apps", &["model a", "sim <b>in", "2 to 32"]),
        ("#/app?app=model%20a", "app", &["1000000.0 * size^(1)", "at 64 ranks: 64.00 MB", "written_bytes"]),
        ("#/app?app=sim%20%3Cb%3Ein", "app", &["Period over ranks", "write periodic"]),
        (
            &format!("#/compare?ids={trace},{live}"),
            "compare",
            &["Compare", "4711", "4711, 4 ranks", "Period"],
        ),
        ("#/jobs?category=write_periodic", "jobs", &["checkpointer"]),
        (&format!("#/job/{ended}"), "job", &["Categories: ", "write periodic"]),
        ("#/site", "site", &["Who moves how much", "Sets of running jobs", "S1"]),
        (
            "#/site",
            "site",
            &["Categories of the last year", "write periodic", "Predictions of the last 30 days"],
        ),
        ("#/alarms", "alarms", &["Rules", "mostly-io"]),
    ];
    for width in [1300, 500] {
        browser.call("POST", "/window/rect", &json!({"width": width, "height": 900}));
        for (path, ready, texts) in &wanted {
            let shown = open(path, ready);
            for text in *texts {
                assert!(shown.contains(text), "{path}: no {text:?} in {shown}");
            }
            assert_eq!(browser.run(OVERFLOWING), 0, "{path} at {width}");
        }
        browser.run("document.getElementById('theme').click();");
    }
    assert!(!open("#/jobs?q=run16", "jobs").contains("run32"), "the filter is in the address");
    // What is pushed now is seen at once.
    open("#/now", "now");
    server.push(&json!({"job": {"jobid": "newcomer", "size": 4}, "metrics": {"written_bytes": 7e9}}));
    let begun = Instant::now();
    let text = "return document.getElementById('view').textContent;";
    while !browser.run(text).as_str().unwrap().contains("newcomer") {
        assert!(begun.elapsed() < Duration::from_secs(20), "the page does not live");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(browser.run("return document.title;"), "ftio serve", "names are text");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// The dashboard asks for metrics that there are, and its panels do not overlap.
#[test]
fn the_dashboard_fits_the_metrics() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &["--cluster", "test"]);
    server.push(&bursts("a", 4, 15));
    server.wait("/api/v1/running", |all| all["jobs"][0]["period"].is_number());
    let others = json!({"read_bytes": 1, "write_operations": 1, "read_operations": 1});
    server.push(&json!({"job": {"jobid": "a"}, "metrics": others}));
    let metrics = server.ask("GET", "/metrics", "").1;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/serve/grafana.json");
    let dashboard: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let mut taken = std::collections::BTreeSet::new();
    let mut ids = std::collections::BTreeSet::new();
    for panel in panels {
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "two panels with one number");
        let place = |name: &str| panel["gridPos"][name].as_u64().unwrap();
        for x in place("x")..place("x") + place("w") {
            assert!(x < 24);
            for y in place("y")..place("y") + place("h") {
                assert!(taken.insert((x, y)), "{} overlaps", panel["title"]);
            }
        }
        let units = ["none", "decbytes", "percentunit", "Bps", "s", "reqps"];
        assert!(units.contains(&panel["fieldConfig"]["defaults"]["unit"].as_str().unwrap()));
        let mut letters = std::collections::BTreeSet::new();
        for target in panel["targets"].as_array().unwrap() {
            assert!(letters.insert(target["refId"].as_str().unwrap()));
            assert_eq!(target["datasource"]["uid"], "${DS_PROMETHEUS}");
            let expression = target["expr"].as_str().unwrap();
            let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let named: Vec<&str> =
                words.filter(|word| word.starts_with("ftio_") || word.starts_with("process_")).collect();
            assert!(!named.is_empty(), "{expression}");
            for name in named {
                let there = metrics
                    .lines()
                    .any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '{'])));
                assert!(there, "{name} is not in /metrics");
            }
        }
    }
    let names: Vec<&str> = dashboard["templating"]["list"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["DS_PROMETHEUS", "cluster", "jobid", "host"]);
}
