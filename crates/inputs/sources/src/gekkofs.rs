//! Client metrics of GekkoFS: per process, lists of throughput, size, start and end of requests.
//!
//! Units are those that the keys name: `start_t_micro`, `end_t_micro` in microseconds, `avg_thruput_mib` in
//! MiB/s (2²⁰ bytes), `req_size` in bytes. (FTIO takes 1.07·10⁶ bytes for a MiB, and milliseconds.) Where
//! there is a size, it is used rather than the throughput, which is rounded to two digits. The data do not
//! tell writes from reads; the file name does, by GekkoFS's own naming (`gekkofs_write_…`).

use super::bandwidth_piece::BandwidthPiece;
use super::content::{beginning, contains};
use super::error::SourceError;
use super::intake::{Fed, Feed, Intake};
use super::job::{Job, Source};
use super::value::Value;
use crate::request::{Class, Span};

/// A map of MessagePack with its keys.
pub(super) fn looks_like_message_pack(head: &[u8]) -> bool {
    matches!(head, [0x80..=0x8f | 0xde | 0xdf, ..]) && has_its_keys(|key| contains(head, key))
}

/// An object of JSON with its keys.
pub(super) fn looks_like_json(head: &[u8]) -> bool {
    let text = beginning(head);
    text.starts_with(b"{") && has_its_keys(|key| contains(text, &format!("\"{key}\"")))
}

/// The metrics that are values of JSON or MessagePack.
pub(super) fn open(name: &str, values: Vec<Value>) -> Box<dyn Source> {
    Box::new(Fed(name.to_owned(), ClientMetrics { name: name.to_owned(), values }))
}

/// Does a text that holds these keys hold client metrics?
fn has_its_keys(contains: impl Fn(&str) -> bool) -> bool {
    contains("start_t_micro") || contains("end_t_micro") || contains("avg_thruput_mib")
}

#[derive(Debug)]
struct ClientMetrics {
    name: String,
    values: Vec<Value>,
}

impl Feed for ClientMetrics {
    fn feed(self, _: Span, intake: &mut Intake<'_>) -> Result<Job, SourceError> {
        let mut job = Job { complete: true, ..Job::default() };
        let mut processes = Vec::new();
        let class = class_from_name(&self.name);
        for (number, value) in self.values.iter().enumerate() {
            let wrong = |place: String, expected: &str, found: &str| SourceError::Malformed {
                name: self.name.clone(),
                place: if number == 0 { place } else { format!("record {}, {place}", number + 1) },
                expected: expected.into(),
                found: found.into(),
            };
            let list = |keys: &[&str]| -> Result<Option<Vec<f64>>, SourceError> {
                let Some((key, value)) = keys.iter().find_map(|key| Some((*key, value.get(key)?))) else {
                    return Ok(None);
                };
                value
                    .as_numbers()
                    .map(Some)
                    .ok_or_else(|| wrong(key.into(), "a list of numbers", value.kind()))
            };
            let needed = |keys: &[&str]| list(keys)?.ok_or_else(|| wrong("the keys".into(), keys[0], "none"));
            let starts = needed(&["start_t_micro"])?;
            let ends = needed(&["end_t_micro"])?;
            let sizes = list(&["req_size"])?;
            let rates = list(&["avg_thruput_mib", "avg_throughput_mib"])?;
            let Some(amounts) = sizes.as_ref().or(rates.as_ref()) else {
                return Err(wrong("the keys".into(), "req_size or avg_thruput_mib", "neither"));
            };
            if starts.len() != ends.len() || starts.len() != amounts.len() {
                let found = format!("{}, {} and {}", starts.len(), ends.len(), amounts.len());
                return Err(wrong("the lists".into(), "as many starts as ends and sizes", &found));
            }
            let process = (value.get("hostname").cloned(), value.get("pid").cloned());
            let rank = processes.iter().position(|known| *known == process).unwrap_or_else(|| {
                processes.push(process);
                processes.len() - 1
            });
            for (index, (&start, &end)) in starts.iter().zip(&ends).enumerate() {
                let (start, end) = (start * 1e-6, end * 1e-6);
                let bytes = sizes.as_ref().map(|sizes| sizes[index]);
                let bandwidth = match (&rates, bytes) {
                    (Some(rates), _) if rates.len() == amounts.len() => rates[index] * 1048576.0,
                    (_, bytes) => bytes.unwrap_or(f64::NAN) / (end - start),
                };
                let place = || format!("request {}", index + 1);
                if bytes.is_some_and(|bytes| !(0.0..=9e18).contains(&bytes)) {
                    intake.leave_out(|| {
                        format!("{}: expected a size, found {}", place(), bytes.unwrap_or(0.0))
                    });
                    continue;
                }
                let bytes = bytes.map(|bytes| bytes as u64);
                intake.push(
                    BandwidthPiece { start, end, bandwidth, bytes, rank: Some(rank as u32), class },
                    place,
                );
            }
            if let (Some(total), Some(sizes)) = (value.get("total_bytes").and_then(Value::as_number), &sizes)
            {
                let sum: f64 = sizes.iter().sum();
                if (total - sum).abs() > 1e-3 * sum.abs() {
                    job.notes.push(format!(
                        "total_bytes is {total}, but the sizes of the requests add up to {sum}"
                    ));
                }
            }
        }
        job.ranks = Some(processes.len() as u32);
        Ok(job)
    }
}

/// Writes, unless the name of the file says otherwise.
fn class_from_name(name: &str) -> Class {
    let file = name.rsplit('/').next().unwrap_or(name);
    if file.contains("read") && !file.contains("write") { Class::ReadSync } else { Class::WriteSync }
}
