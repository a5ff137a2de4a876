//! `--exec`: a command for every prediction.
//!
//! Commands run one after the other on a thread of their own, so that a slow one delays neither predictions
//! nor other outputs.

use super::sink::Sink;
use crate::terminal::text::warning;
use anyhow::Context;
use ftio_core::predict::Prediction;
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// A prediction for the command: its variables and its standard input.
struct Call {
    variables: Vec<(&'static str, String)>,
    json: String,
}

/// Runs the command.
#[derive(Debug)]
pub struct Exec {
    calls: Option<Sender<Call>>,
    thread: Option<JoinHandle<()>>,
}

impl Exec {
    pub fn open(command: &str) -> anyhow::Result<Self> {
        let (calls, received) = channel();
        let command = command.to_owned();
        let thread = std::thread::Builder::new().name("exec".into()).spawn(move || work(&command, &received));
        Ok(Exec { calls: Some(calls), thread: Some(thread.context("no thread for --exec")?) })
    }
}

impl Sink for Exec {
    fn prediction(&mut self, prediction: &Prediction, json: &str) -> io::Result<()> {
        if let Some(calls) = &self.calls {
            let _ = calls.send(Call { variables: variables(prediction), json: format!("{json}\n") });
        }
        Ok(())
    }
}

impl Drop for Exec {
    /// Waits for the commands of all predictions.
    fn drop(&mut self) {
        self.calls = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn work(command: &str, calls: &Receiver<Call>) {
    let mut complained = false;
    for call in calls {
        let result = run(command, &call);
        if let Err(problem) = result
            && !std::mem::replace(&mut complained, true)
        {
            warning!("--exec: {command}: {problem} (reported once)");
        }
    }
}

fn run(command: &str, call: &Call) -> Result<(), String> {
    let mut child = Command::new("sh")
        .args(["-c", command])
        .envs(call.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    if let Some(mut input) = child.stdin.take() {
        // A command need not read it.
        let _ = input.write_all(call.json.as_bytes());
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("ended with {status}")),
        Err(error) => Err(error.to_string()),
    }
}

/// The main values; those that a prediction does not have are empty.
fn variables(prediction: &Prediction) -> Vec<(&'static str, String)> {
    let some = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let next = prediction.next_phase;
    vec![
        ("FTIO_SOURCE", prediction.source.clone()),
        ("FTIO_T", prediction.t.to_string()),
        ("FTIO_PERIOD", some(prediction.period)),
        ("FTIO_CONFIDENCE", prediction.confidence.to_string()),
        ("FTIO_WINDOW_START", prediction.window[0].to_string()),
        ("FTIO_WINDOW_END", prediction.window[1].to_string()),
        ("FTIO_NEXT_START", some(next.map(|next| next.start))),
        ("FTIO_NEXT_END", some(next.map(|next| next.end))),
        ("FTIO_NEXT_BYTES", next.map_or(String::new(), |next| next.bytes.to_string())),
        ("FTIO_CHANGED", u8::from(prediction.changed).to_string()),
    ]
}
