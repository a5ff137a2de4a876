//! Who is told of an alarm: a program, a web hook, Prometheus' Alertmanager. A thread of its own does it, so
//! that a slow one delays nobody.

use crate::store::AlarmRow;
use serde::Deserialize;
use serde_json::json;
use sources::time::ClockTime;
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// More than this many may not wait to be told.
const MOST: usize = 1000;
const TIMEOUT: Duration = Duration::from_secs(5);
/// A whole answer must come within this time.
const WHOLE: Duration = Duration::from_secs(30);
/// An answer is no longer than this.
const LONGEST: usize = 64 << 20;
/// A program that runs longer is ended: the next notice waits for it.
const RUN: Duration = Duration::from_secs(30);

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

impl Targets {
    /// Can they be told at all? Better said at the start than when there is an alarm.
    pub fn check(&self) -> Result<(), String> {
        for url in [&self.webhook, &self.alertmanager].into_iter().flatten() {
            let host = url.strip_prefix("http://").and_then(|rest| rest.split('/').next());
            let plain = url.chars().all(|letter| letter.is_ascii_graphic());
            if !plain || host.is_none_or(str::is_empty) {
                return Err(format!("notify: {url:?}: expected http://HOST:PORT/PATH"));
            }
        }
        let wrong = self.command.iter().any(|word| word.contains('\0'));
        if wrong || self.command.first().is_some_and(String::is_empty) {
            return Err("notify: command: expected a program and its arguments".into());
        }
        Ok(())
    }
}

/// The thread that tells.
#[derive(Debug)]
pub struct Notify {
    queue: Option<SyncSender<(AlarmRow, bool)>>,
    /// More came than could be told, and that was said.
    behind: AtomicBool,
}

impl Notify {
    pub fn start(targets: Targets) -> Self {
        if targets.command.is_empty() && targets.webhook.is_none() && targets.alertmanager.is_none() {
            return Notify { queue: None, behind: AtomicBool::new(false) };
        }
        let (queue, waiting) = sync_channel::<(AlarmRow, bool)>(MOST);
        let started = std::thread::Builder::new().name("notify".into()).spawn(move || {
            for (alarm, over) in waiting {
                tell(&targets, &alarm, over);
            }
        });
        Notify { queue: started.ok().map(|_| queue), behind: AtomicBool::new(false) }
    }

    /// Tell, when there is time.
    pub fn send(&self, alarm: &AlarmRow, over: bool) {
        let Some(queue) = &self.queue else { return };
        let full = queue.try_send((alarm.clone(), over)).is_err();
        if full && !self.behind.load(Relaxed) {
            tracing::warn!("{MOST} notices of alarms wait to be sent: others are left out meanwhile");
        }
        self.behind.store(full, Relaxed);
    }
}

fn tell(targets: &Targets, alarm: &AlarmRow, over: bool) {
    let state = if over { "resolved" } else { "firing" };
    if let [program, arguments @ ..] = targets.command.as_slice() {
        // No shell: names of jobs are values of the environment, whatever is in them.
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .env("FTIO_ALARM", &alarm.rule)
            .env("FTIO_STATE", state)
            .env("FTIO_JOBID", &alarm.jobid)
            .env("FTIO_METRIC", &alarm.metric)
            .env("FTIO_VALUE", alarm.value.to_string())
            .env("FTIO_MESSAGE", &alarm.message);
        complain(program, run(&mut command, RUN));
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

fn complain(target: &str, done: Result<(), String>) {
    if let Err(error) = done {
        tracing::warn!(receiver = target, "{target}: {error}");
    }
}

/// Run a program to its end, or for this long.
fn run(command: &mut Command, time: Duration) -> Result<(), String> {
    let begun = Instant::now();
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(status.to_string()),
            None if begun.elapsed() >= time => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it ran for more than {} s and was ended", time.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
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

/// Read to the end, in at most this time: one who sends a byte now and then has to stop, too.
fn read(stream: &mut TcpStream, time: Duration) -> std::io::Result<Vec<u8>> {
    let begun = Instant::now();
    let (mut answer, mut buffer) = (Vec::new(), [0; 16 << 10]);
    while begun.elapsed() < time && answer.len() < LONGEST {
        match stream.read(&mut buffer)? {
            0 => return Ok(answer),
            length => answer.extend_from_slice(&buffer[..length]),
        }
    }
    Err(std::io::Error::new(std::io::ErrorKind::TimedOut, "the answer takes too long, or is too long"))
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
    let answer = read(&mut stream, WHOLE).map_err(text)?;
    let answer = String::from_utf8_lossy(&answer);
    let status: Option<u16> = answer.split(' ').nth(1).and_then(|word| word.parse().ok());
    match (status, answer.split_once("\r\n\r\n")) {
        (Some(200..=299), Some((_, body))) => Ok(body.to_owned()),
        _ => {
            Err(Refused { status, text: format!("answered {}", answer.lines().next().unwrap_or("nothing")) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_program_that_hangs_is_ended() {
        let begun = Instant::now();
        let error = run(Command::new("sleep").arg("600"), Duration::from_millis(50)).unwrap_err();
        assert!(error.contains("was ended"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(300));
        assert!(run(&mut Command::new("false"), RUN).unwrap_err().contains("exit status: 1"));
        assert_eq!(run(&mut Command::new("true"), RUN), Ok(()));
    }

    /// A byte now and then keeps nobody waiting for ever.
    #[test]
    fn an_answer_that_drips_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut other, _) = listener.accept().unwrap();
        let drips = std::thread::spawn(move || {
            while other.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let error = read(&mut stream, Duration::from_millis(100)).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
        drop(stream);
        drips.join().unwrap();
    }
}
