//! Who is told of an alarm: a program, a web hook, Prometheus' Alertmanager. A thread of its own does it, so
//! that a slow one delays nobody.

use crate::store::AlarmRow;
use ftio_core::time::ClockTime;
use serde::Deserialize;
use serde_json::json;
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::process::{Command, Stdio};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

/// More than this many may not wait to be told.
const MOST: usize = 1000;
const TIMEOUT: Duration = Duration::from_secs(5);

/// The section `[notify]` of a file of rules.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Targets {
    /// A program and its arguments; the alarm is in its environment (`FTIO_ALARM`, `FTIO_JOBID`, …).
    pub command: Vec<String>,
    /// `http://HOST:PORT/PATH`, which gets the alarm as JSON.
    pub webhook: Option<String>,
    /// `http://HOST:PORT` of an Alertmanager.
    pub alertmanager: Option<String>,
}

/// The thread that tells.
#[derive(Debug)]
pub struct Notify {
    queue: Option<SyncSender<(AlarmRow, bool)>>,
}

impl Notify {
    pub fn start(targets: Targets) -> Self {
        if targets.command.is_empty() && targets.webhook.is_none() && targets.alertmanager.is_none() {
            return Notify { queue: None };
        }
        let (queue, waiting) = sync_channel::<(AlarmRow, bool)>(MOST);
        let started = std::thread::Builder::new().name("notify".into()).spawn(move || {
            for (alarm, over) in waiting {
                tell(&targets, &alarm, over);
            }
        });
        Notify { queue: started.ok().map(|_| queue) }
    }

    /// Tell, when there is time.
    pub fn send(&self, alarm: &AlarmRow, over: bool) {
        if let Some(queue) = &self.queue {
            let _ = queue.try_send((alarm.clone(), over));
        }
    }
}

fn tell(targets: &Targets, alarm: &AlarmRow, over: bool) {
    let state = if over { "resolved" } else { "firing" };
    if let [program, arguments @ ..] = targets.command.as_slice() {
        let done = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .env("FTIO_ALARM", &alarm.rule)
            .env("FTIO_STATE", state)
            .env("FTIO_JOBID", &alarm.jobid)
            .env("FTIO_METRIC", &alarm.metric)
            .env("FTIO_VALUE", alarm.value.to_string())
            .env("FTIO_MESSAGE", &alarm.message)
            .status();
        if let Err(error) = done {
            eprintln!("ftio serve: {program}: {error}");
        }
    }
    if let Some(url) = &targets.webhook {
        let body = json!({"status": state, "alarm": alarm});
        complain(url, post(url, &body.to_string()));
    }
    if let Some(url) = &targets.alertmanager {
        let at = |time: f64| json!(ClockTime((time * 1e9) as i64));
        let mut alert = json!({
            "labels": {
                "alertname": alarm.rule, "jobid": alarm.jobid, "metric": alarm.metric, "service": "ftio",
            },
            "annotations": {"summary": alarm.message},
            "startsAt": at(alarm.since),
        });
        if let Some(until) = alarm.until {
            alert["endsAt"] = at(until);
        }
        let url = format!("{}/api/v2/alerts", url.trim_end_matches('/'));
        complain(&url, post(&url, &json!([alert]).to_string()));
    }
}

fn complain(url: &str, done: Result<(), String>) {
    if let Err(error) = done {
        eprintln!("ftio serve: {url}: {error}");
    }
}

/// Send JSON by plain HTTP.
pub fn post(url: &str, body: &str) -> Result<(), String> {
    request("POST", url, body).map(|_| ())
}

/// Why a request was in vain.
#[derive(Debug)]
pub struct Refused {
    /// Of the answer, if there was one.
    pub status: Option<u16>,
    pub text: String,
}

/// The body of an answer with status 200.
pub fn request(method: &str, url: &str, body: &str) -> Result<String, String> {
    send(method, url, "Content-Type: application/json\r\n", body.as_bytes()).map_err(|refused| refused.text)
}

/// The same with any headers and any body.
pub fn send(method: &str, url: &str, headers: &str, body: &[u8]) -> Result<String, Refused> {
    let text = |error: std::io::Error| Refused { status: None, text: error.to_string() };
    let wrong = |text: &str| Refused { status: None, text: text.to_owned() };
    let rest = url.strip_prefix("http://").ok_or_else(|| wrong("expected http://HOST:PORT/PATH"))?;
    let (host, path) =
        rest.split_once('/').map_or((rest, String::new()), |(host, path)| (host, path.to_owned()));
    let address = if host.contains(':') { host.to_owned() } else { format!("{host}:80") };
    let address = address.to_socket_addrs().map_err(text)?.next().ok_or_else(|| wrong("no such host"))?;
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT).map_err(text)?;
    stream.set_read_timeout(Some(TIMEOUT)).map_err(text)?;
    stream.set_write_timeout(Some(TIMEOUT)).map_err(text)?;
    write!(
        stream,
        "{method} /{path} HTTP/1.0\r\nHost: {host}\r\n{headers}Content-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    )
    .map_err(text)?;
    stream.write_all(body).map_err(text)?;
    let mut answer = Vec::new();
    stream.take(64 << 20).read_to_end(&mut answer).map_err(text)?;
    let answer = String::from_utf8_lossy(&answer);
    let status: Option<u16> = answer.split(' ').nth(1).and_then(|word| word.parse().ok());
    match (status, answer.split_once("\r\n\r\n")) {
        (Some(200..=299), Some((_, body))) => Ok(body.to_owned()),
        _ => {
            Err(Refused { status, text: format!("answered {}", answer.lines().next().unwrap_or("nothing")) })
        }
    }
}
