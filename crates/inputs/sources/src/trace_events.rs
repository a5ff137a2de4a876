//! Chrome's trace events, and dftracer's `.pfw`, which is nearly that.
//!
//! Events are objects with `name`, `cat`, `ph`, `ts` and `dur` (microseconds), `pid`, `tid` and `args`: in a
//! list, in the list `traceEvents` of an object, or, as dftracer writes them, one a line after a `[` without
//! commas; numbers may be in quotes. Complete events (`X`) and pairs of `B` and `E` count if they move data:
//! by the table of functions, or because their name or category is `read` or `write`, as in what
//! `ftio convert --to chrome` and MOSAIC write. Each process is a rank.
//!
//! Bytes are, of `args`: `ret` times `size` for streams, else `ret` (or TAU's `return`), `bytes`, `count`,
//! `size` or `length`. Without any an event does not tell how much it moved, and is left out; a call that
//! returned less than 0 moved nothing.

use super::bandwidth_piece::BandwidthPiece;
use super::calls::Calls;
use super::content::{Content, beginning};
use super::error::SourceError;
use super::functions::{Amount, function};
use super::intake::{Fed, Feed, Intake};
use super::job::{Job, Source};
use super::options::OpenOptions;
use super::value::Value;
use crate::request::layer::Layer;
use crate::request::{Class, Span};
use std::collections::HashMap;

/// The trace.
pub(super) fn open(content: Content, options: &OpenOptions) -> Result<Box<dyn Source>, SourceError> {
    let name = content.name.clone();
    let bytes = content.into_bytes()?;
    Ok(Box::new(Fed(name.clone(), TraceEvents { name, bytes, layer: options.layer })))
}

/// Times beyond this (11 days) count from 1970, not from the begin of the job.
const ABSOLUTE: f64 = 1e6;

/// Does a text that begins like this hold such events?
pub(super) fn looks_like(head: &[u8]) -> bool {
    let text = beginning(head);
    let has = |key: &str| text.windows(key.len()).any(|window| window == key.as_bytes());
    match text.first() {
        Some(b'{') => has("\"traceEvents\"") || (has("\"ph\"") && has("\"ts\"")),
        Some(b'[') => {
            let rest = text[1..].trim_ascii_start();
            (rest.starts_with(b"{") && has("\"ph\"") && has("\"ts\"")) || rest.is_empty() || rest == b"]"
        }
        _ => false,
    }
}

/// dftracer's number for a complete event.
const COMPLETE: f64 = 1.0;

/// A file of events.
#[derive(Debug)]
struct TraceEvents {
    name: String,
    bytes: Vec<u8>,
    layer: Option<Layer>,
}

impl Feed for TraceEvents {
    fn feed(self, _: Span, intake: &mut Intake<'_>) -> Result<Job, SourceError> {
        let mut job = Job { complete: true, ..Job::default() };
        let mut reader = Reader::default();
        let mut at = begin(&self.bytes);
        let mut number = 0;
        while let Some(next) = next_event(&self.bytes, at) {
            number += 1;
            let (value, after) = match next {
                Ok(next) => next,
                Err(place) => {
                    job.complete = false;
                    job.warnings.push(format!("{}: {place}; what follows is left out", self.name));
                    break;
                }
            };
            reader.event(&value, number);
            at = after;
        }
        let mut calls = reader.calls;
        if let Some(first) = calls.first_start().filter(|first| *first > ABSOLUTE) {
            calls.shift(first);
        }
        job.ranks = Some(reader.processes.len() as u32).filter(|ranks| *ranks > 0);
        calls.feed(&self.name, self.layer, "event", &mut job, intake)?;
        Ok(job)
    }
}

/// Where events begin.
fn begin(bytes: &[u8]) -> usize {
    const KEY: &[u8] = b"\"traceEvents\"";
    match bytes.windows(KEY.len()).position(|window| window == KEY) {
        Some(at) if bytes.trim_ascii_start().starts_with(b"{") => at + KEY.len(),
        _ => 0,
    }
}

/// The next object, and where it ends; `None` at the end of the list or of the file.
fn next_event(bytes: &[u8], mut at: usize) -> Option<Result<(Value, usize), String>> {
    while matches!(bytes.get(at)?, b' ' | b'\t' | b'\r' | b'\n' | b',' | b'[' | b':') {
        at += 1;
    }
    match bytes[at] {
        b'{' => Some(Value::next_json(bytes, at)),
        b']' => None,
        _ => {
            let found: String = String::from_utf8_lossy(&bytes[at..]).chars().take(24).collect();
            Some(Err(format!("byte {at}: expected an event, found {found:?}")))
        }
    }
}

#[derive(Debug, Default)]
struct Reader {
    calls: Calls,
    /// Ranks by host and process.
    processes: HashMap<(String, u64), u32>,
    /// Begun events by process and thread.
    open: HashMap<(u64, u64), Vec<Begun>>,
}

/// A `B` that waits for its `E`.
#[derive(Clone, Debug)]
struct Begun {
    start: f64,
    event: Value,
    number: u64,
}

/// More begun events of a thread than this are not kept: nothing nests so deep.
const MAX_DEPTH: usize = 1024;

impl Reader {
    fn event(&mut self, event: &Value, number: u64) {
        let (Some(phase), Some(start)) = (phase(event), number_of(event, "ts")) else { return };
        let thread = || (whole(event, "pid"), whole(event, "tid"));
        match phase {
            "X" => {
                let duration = number_of(event, "dur").unwrap_or(0.0);
                self.call(event, &[event], number, start, start + duration);
            }
            "B" => {
                let begun = self.open.entry(thread()).or_default();
                if begun.len() < MAX_DEPTH {
                    begun.push(Begun { start, event: event.clone(), number });
                }
            }
            "E" => {
                if let Some(begun) = self.open.get_mut(&thread()).and_then(Vec::pop) {
                    // Either may have the arguments.
                    self.call(&begun.event, &[event, &begun.event], begun.number, begun.start, start);
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, event: &Value, with_arguments: &[&Value], number: u64, start: f64, end: f64) {
        let Some((layer, class, counts_items)) = kind(event) else { return };
        let arguments: Vec<&Value> = with_arguments.iter().filter_map(|event| event.get("args")).collect();
        let argument = |key: &str| arguments.iter().find_map(|arguments| number_of(arguments, key));
        // TAU puts the return value next to the arguments.
        let returned = argument("ret")
            .or_else(|| argument("return"))
            .or_else(|| with_arguments.iter().find_map(|event| number_of(event, "return")));
        if returned.is_some_and(|returned| returned < 0.0) {
            return self.calls.failed();
        }
        let items = returned.or_else(|| argument("count")).or_else(|| argument("nmemb"));
        let bytes = match (counts_items, argument("size"), items) {
            (true, Some(size), Some(items)) => Some(size * items),
            _ => {
                returned.or_else(|| ["bytes", "count", "size", "length"].iter().find_map(|key| argument(key)))
            }
        };
        let process = (host(&arguments), whole(event, "pid"));
        let count = self.processes.len() as u32;
        let rank = *self.processes.entry(process).or_insert(count);
        let name = || text(event, "name").unwrap_or_default().to_owned();
        match bytes {
            Some(bytes) if (0.0..9e18).contains(&bytes) => {
                let (start, end) = (start * 1e-6, end * 1e-6);
                let bandwidth = bytes / (end - start);
                let bytes = Some(bytes.round() as u64);
                let phase = BandwidthPiece { start, end, bandwidth, bytes, rank: Some(rank), class };
                self.calls.push(layer, number, phase);
            }
            Some(bytes) => self.calls.unusable(layer, || {
                format!("event {number}: expected the bytes of {}, found {bytes}", name())
            }),
            None => self
                .calls
                .unusable(layer, || format!("event {number}: expected the bytes of {}, found none", name())),
        }
    }
}

/// Layer and class of an event that moves data, and whether its counts are of items.
fn kind(event: &Value) -> Option<(Option<Layer>, Class, bool)> {
    let name = text(event, "name")?;
    let category = text(event, "cat").unwrap_or_default();
    if let Some(function) = function(name) {
        // A tracer that says where it hooked knows better than the name.
        let layer = Layer::named(category).unwrap_or(function.layer);
        return Some((Some(layer), function.class, matches!(function.amount, Amount::Items(..))));
    }
    let class = Class::ALL.into_iter().find(|class| class.name() == category);
    let class = class.or(match name {
        "read" | "Read" => Some(Class::ReadSync),
        "write" | "Write" => Some(Class::WriteSync),
        _ => None,
    });
    class.map(|class| (Layer::named(category), class, false))
}

fn host(arguments: &[&Value]) -> String {
    let of = |arguments: &&Value| {
        ["hostname", "hhash"].iter().find_map(|key| match arguments.get(key)? {
            Value::Text(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
    };
    arguments.iter().find_map(of).unwrap_or_default()
}

/// What kind of event it is. Version 2 of dftracer numbers them.
fn phase(event: &Value) -> Option<&str> {
    match event.get("ph")? {
        Value::Text(text) => Some(text),
        Value::Number(number) if *number == COMPLETE => Some("X"),
        _ => None,
    }
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    if let Value::Text(text) = value.get(key)? { Some(text) } else { None }
}

/// A number, also one in quotes.
fn number_of(value: &Value, key: &str) -> Option<f64> {
    match value.get(key)? {
        Value::Number(number) => Some(*number),
        Value::Text(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn whole(value: &Value, key: &str) -> u64 {
    // A float to an integer saturates, and NaN is 0.
    number_of(value, key).unwrap_or(0.0) as u64
}
