//! The HTML report in a real browser: Chromium, driven through ChromeDriver. Skipped, visibly, where they are
//! missing.

use crate::support::{SECOND, Script, ftio, nonblocking, skipped};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tmio_trace::AsyncTimes;

/// A running ChromeDriver with one window; both end with it.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: tempfile::TempDir,
}

impl Browser {
    /// `None` where there is no ChromeDriver or no Chromium.
    pub fn start() -> Option<Self> {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        // "ChromeDriver was started successfully on port 12345."
        let mut lines = BufReader::new(driver.stdout.take()?).lines();
        let line =
            lines.find_map(|line| line.ok().filter(|line| line.contains("started successfully on port")))?;
        let port = line.rsplit(' ').next()?.trim_end_matches('.').parse().ok()?;
        // Its further words must go somewhere.
        std::thread::spawn(move || lines.for_each(drop));
        let profile = tempfile::tempdir().ok()?;
        let mut browser = Browser { driver, port, session: String::new(), profile };
        let args = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--window-size=1300,1500",
        ];
        let mut args: Vec<String> = args.iter().map(ToString::to_string).collect();
        args.push(format!("--user-data-dir={}", browser.profile.path().display()));
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": args}, "goog:loggingPrefs": {"browser": "ALL"}}}});
        let answer = browser.http("POST", "/session", &wanted)?;
        browser.session = answer["value"]["sessionId"].as_str()?.to_owned();
        Some(browser)
    }

    fn http(&self, method: &str, path: &str, body: &Value) -> Option<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: \
             application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(body.as_bytes()).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(120))).ok()?;
        // The driver keeps the connection open; the length tells where its answer ends.
        let mut answer = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            answer.read_line(&mut line).ok()?;
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        answer.read_exact(&mut body).ok()?;
        serde_json::from_slice(&body).ok()
    }

    pub fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.http(method, &format!("/session/{}{path}", self.session), body).expect("an answer");
        assert!(answer["value"]["error"].is_null(), "{path}: {answer}");
        answer["value"].clone()
    }

    pub fn open(&self, url: &str) {
        self.call("POST", "/url", &json!({"url": url}));
    }

    pub fn run(&self, script: &str) -> Value {
        self.call("POST", "/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Move the pointer onto the n-th chart, `x` and `y` from its middle, and turn the wheel by `wheel`.
    fn point(&self, chart: usize, x: i32, y: i32, wheel: i32) {
        let find = format!(
            "const c = document.querySelectorAll('canvas')[{chart}]; c.scrollIntoView({{block: 'center'}}); \
             return c;"
        );
        let canvas = self.run(&find);
        let pointer = json!({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
            "actions": [{"type": "pointerMove", "duration": 0, "origin": canvas, "x": x, "y": y}]});
        let mut actions = vec![pointer];
        if wheel != 0 {
            actions.push(json!({"type": "wheel", "id": "wheel", "actions": [
                {"type": "pause", "duration": 20},
                {"type": "scroll", "x": x, "y": y, "deltaX": 0, "deltaY": wheel, "duration": 0,
                 "origin": canvas}]}));
        }
        self.call("POST", "/actions", &json!({"actions": actions}));
    }

    /// What is seen of the n-th chart's horizontal axis.
    fn axis(&self, chart: usize) -> [f64; 2] {
        let read = format!(
            "const d = document.querySelectorAll('canvas')[{chart}].dataset; return [+d.low, +d.high];"
        );
        let view = self.run(&read);
        [view[0].as_f64().unwrap(), view[1].as_f64().unwrap()]
    }

    /// What is shown beside the pointer over the n-th chart; empty if nothing is.
    fn tip(&self, chart: usize) -> String {
        let read = format!(
            "const t = document.querySelectorAll('.tip')[{chart}]; return t.style.display === 'block' ? \
             t.textContent : '';"
        );
        self.run(&read).as_str().unwrap().to_owned()
    }

    /// Errors on the console of the page.
    pub fn errors(&self) -> Vec<String> {
        let log = self.call("POST", "/se/log", &json!({"type": "browser"}));
        let severe = |entry: &&Value| entry["level"] == "SEVERE" || entry["level"] == "WARNING";
        log.as_array().unwrap().iter().filter(severe).map(|entry| entry["message"].to_string()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.http("DELETE", &format!("/session/{}", self.session), &Value::Null);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Bursts of two ranks, and nonblocking writes of a third.
fn mixed() -> Script {
    let mut script = Script::bursts(2, 12);
    let write = |i: i64| {
        let at = |tenths: i64| 10 * i * SECOND + tenths * SECOND / 10;
        let times = AsyncTimes { issued: at(1), deadline: at(30), pending_until: at(1), test_time: 0 };
        nonblocking(at(0), at(45), 1 << 22, times)
    };
    script.ranks = 3;
    script.blocks.push((2, (0..12).map(write).collect()));
    script
}

#[test]
fn the_report_zooms_and_tells_without_errors() {
    let Some(browser) = Browser::start() else {
        return skipped("chromium and chromedriver are not installed");
    };
    let dir = tempfile::tempdir().unwrap();
    mixed().write(&dir.path().join("run.msgpack"));
    assert_eq!(ftio(dir.path(), &["--plot", "run.html", "run.msgpack"]).status.code(), Some(0));
    browser.open(&format!("file://{}/run.html", dir.path().display()));
    let titles = browser.run("return [...document.querySelectorAll('h2')].map(h => h.textContent);");
    assert_eq!(
        titles,
        json!(["Bandwidth", "Spectrum", "Autocorrelation", "Ranks", "Nonblocking operations"])
    );

    let values = ["sampled ", "share ", "correlation ", "bandwidth ", "required "];
    for (chart, value) in values.iter().enumerate() {
        let before = browser.axis(chart);
        browser.point(chart, -30, 0, -400);
        let after = browser.axis(chart);
        let (span, narrower) = (before[1] - before[0], after[1] - after[0]);
        assert!(narrower < 0.9 * span, "chart {chart}: {before:?} to {after:?}");
        browser.point(chart, 10, 5, 0);
        assert!(browser.tip(chart).contains(value), "chart {chart}: {:?}", browser.tip(chart));
    }
    // Charts over time move together: three of them were zoomed.
    assert_eq!(browser.axis(0), browser.axis(3));
    browser.run("document.getElementById('theme').click();");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn several_traces_are_side_by_side() {
    let Some(browser) = Browser::start() else {
        return skipped("chromium and chromedriver are not installed");
    };
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(2, 12).write(&dir.path().join("a"));
    Script::bursts(4, 5).write(&dir.path().join("b"));
    assert_eq!(ftio(dir.path(), &["plot", "-o", "p.html", "a", "b"]).status.code(), Some(0));
    browser.open(&format!("file://{}/p.html", dir.path().display()));
    let places = browser
        .run("return [...document.querySelectorAll('section')].map(s => s.getBoundingClientRect().top);");
    assert_eq!(places[0], places[1]);
    browser.run("document.querySelector('#same input').click();");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

#[test]
fn the_report_of_an_archive_shows_both_views_without_errors() {
    let Some(browser) = Browser::start() else {
        return skipped("chromium and chromedriver are not installed");
    };
    let dir = tempfile::tempdir().unwrap();
    for (number, start) in [0.0, 950.0, 0.0].into_iter().enumerate() {
        let mut record = darshan_log::PosixRecord::new(1, -1);
        record[darshan_log::PosixCounter::BytesWritten] = 1_000_000_000 + number as i64;
        record[darshan_log::PosixTime::WriteStartTimestamp] = start;
        record[darshan_log::PosixTime::WriteEndTimestamp] = start + 20.0;
        let mut job = darshan_log::Job { nprocs: 4, uid: number as i64 / 2, ..Default::default() };
        job.command = "/bin/<i>app".into();
        job.end.seconds = 1000;
        let log = darshan_log::write::LogWriter::new(darshan_log::Format::V3_41, job).records(4, &[record]);
        std::fs::write(dir.path().join(format!("{number}.darshan")), log.to_bytes().unwrap()).unwrap();
    }
    assert_eq!(ftio(dir.path(), &["categorize", ".", "--html", "report.html"]).status.code(), Some(0));
    browser.open(&format!("file://{}/report.html", dir.path().display()));
    let shown = "return [...document.querySelectorAll('table.heat')].filter(m => !m.hidden).map(m => \
        m.dataset.view);";
    assert_eq!(browser.run(shown), json!(["unique"]));
    browser.run("document.querySelector('input[value=all]').click();");
    assert_eq!(browser.run(shown), json!(["all"]));
    // 2 applications: one wrote at the start, one at the end; names from logs are text.
    let diagonal = browser.run("return document.querySelector('table.heat td').textContent;");
    assert_eq!(diagonal, "100");
    let names = browser.run("return [...document.querySelectorAll('.example b')].map(b => b.textContent);");
    assert!(names.as_array().unwrap().iter().all(|name| name == "<i>app"), "{names}");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// What is wider than the page; nothing should be.
pub const OVERFLOWING: &str =
    "return document.documentElement.scrollWidth - document.documentElement.clientWidth;";

#[test]
fn a_report_of_a_job_works_light_dark_on_a_phone_and_on_paper() {
    let Some(browser) = Browser::start() else {
        return skipped("chromium and chromedriver are not installed");
    };
    let dir = tempfile::tempdir().unwrap();
    // Paths are long, and have no spaces to be broken at.
    let long = format!("{}.msgpack", "run_of_a_large_job_".repeat(8));
    mixed().write(&dir.path().join(&long));
    assert_eq!(ftio(dir.path(), &["report", &long, "-o", "run.html"]).status.code(), Some(0));
    browser.open(&format!("file://{}/run.html", dir.path().display()));
    let titles =
        browser.run("return [...document.querySelectorAll('main > section > h2')].map(h => h.textContent);");
    assert_eq!(titles.as_array().unwrap().len(), 9, "{titles}");
    assert_eq!(browser.run("return document.querySelectorAll('canvas').length;"), 4);
    assert_eq!(browser.run("return document.querySelectorAll('#phases tbody tr').length;"), 12);
    // A click on a heading sorts, a second one turns the order round.
    let ranks = "return [...document.querySelectorAll('#ranks tbody tr')].map(r => r.cells[0].textContent);";
    browser.run("document.querySelector('#ranks th').click();");
    assert_eq!(browser.run(ranks), json!(["2", "1", "0"]));
    browser.run("document.querySelector('#ranks th').click();");
    assert_eq!(browser.run(ranks), json!(["0", "1", "2"]));
    assert_eq!(browser.run(OVERFLOWING), 0);
    browser.run("document.getElementById('theme').click();");
    assert_eq!(browser.run("return document.documentElement.classList.contains('dark');"), true);
    browser.run("dispatchEvent(new Event('beforeprint'));");
    assert_eq!(browser.run("return document.documentElement.classList.contains('dark');"), false);
    browser.run("dispatchEvent(new Event('afterprint'));");
    browser.call("POST", "/window/rect", &json!({"width": 500, "height": 800}));
    assert_eq!(browser.run(OVERFLOWING), 0, "on a phone");
    let loaded = browser.run("return performance.getEntriesByType('resource').map(e => e.name);");
    assert_eq!(loaded, json!([]), "nothing comes from outside");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// A mark in the middle of a spectrum, on a screen that has no room for its text on either side.
#[test]
fn what_is_written_beside_a_mark_is_not_cut_off() {
    let Some(browser) = Browser::start() else {
        return skipped("chromium and chromedriver are not installed");
    };
    let dir = tempfile::tempdir().unwrap();
    let row = |i: u32| format!("{i};{}\n", if i.is_multiple_of(4) { 9 } else { 1 });
    let table = String::from("time;load\n") + &(0..120).map(row).collect::<String>();
    std::fs::write(dir.path().join("load.csv"), table).unwrap();
    assert_eq!(ftio(dir.path(), &["report", "load.csv", "-o", "load.html"]).status.code(), Some(0));
    browser.open(&format!("file://{}/load.html", dir.path().display()));
    let written = browser.run(
        "document.body.style.width = '330px'; dispatchEvent(new Event('resize')); \
         const of = CanvasRenderingContext2D.prototype, plain = of.fillText, seen = []; \
         of.fillText = function (text, x, y) { \
             const width = this.measureText(text).width, left = this.textAlign === 'right' ? x - width : x; \
             if (text.includes('of the power')) seen.push([left, left + width, this.canvas.clientWidth]); \
             plain.call(this, text, x, y); }; \
         document.getElementById('theme').click(); of.fillText = plain; return seen;",
    );
    let written = written.as_array().unwrap();
    assert!(!written.is_empty());
    for place in written {
        let at = |i: usize| place[i].as_f64().unwrap();
        assert!(at(0) >= 40.0 && at(1) <= at(2) + 1.0, "{place}");
    }
}

#[test]
fn reports_side_by_side_work() {
    let Some(browser) = Browser::start() else {
        return skipped("chromium and chromedriver are not installed");
    };
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(2, 12).write(&dir.path().join("a"));
    Script::bursts(4, 5).write(&dir.path().join("b"));
    assert_eq!(ftio(dir.path(), &["report", "-o", "ab.html", "a", "b"]).status.code(), Some(0));
    browser.open(&format!("file://{}/ab.html", dir.path().display()));
    assert_eq!(browser.run("return document.querySelectorAll('canvas').length;"), 2);
    assert_eq!(browser.run(OVERFLOWING), 0);
    assert_eq!(browser.errors(), Vec::<String>::new());
}
