//! Notices of alarms: to a program, a web hook, Prometheus' Alertmanager. They are sent from a thread of
//! their own, so that a slow receiver delays nothing.

use crate::client::send;
use crate::store::AlarmRow;
use serde::Deserialize;
use serde_json::json;
use sources::time::ClockTime;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// At most this many notices wait to be sent.
const MAX_WAITING: usize = 1000;
/// A program that runs longer is ended: the next notice waits for it.
const PROGRAM_TIME: Duration = Duration::from_secs(30);

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
        let (queue, waiting) = sync_channel::<(AlarmRow, bool)>(MAX_WAITING);
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
            tracing::warn!("{MAX_WAITING} notices of alarms wait to be sent: others are left out meanwhile");
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
        complain(program, run(&mut command, PROGRAM_TIME));
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

fn post(url: &str, body: &str) -> Result<(), String> {
    let sent = send("POST", url, "Content-Type: application/json\r\n", body.as_bytes());
    sent.map(drop).map_err(|refused| refused.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_hangs_is_ended() {
        let begun = Instant::now();
        let error = run(Command::new("sleep").arg("600"), Duration::from_millis(50)).unwrap_err();
        assert!(error.contains("was ended"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(300));
        assert!(run(&mut Command::new("false"), PROGRAM_TIME).unwrap_err().contains("exit status: 1"));
        assert_eq!(run(&mut Command::new("true"), PROGRAM_TIME), Ok(()));
    }
}
