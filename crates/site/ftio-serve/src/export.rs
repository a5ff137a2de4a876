//! What `/metrics` says goes out by Prometheus' remote write, for sites whose store is not asked to scrape.

use crate::client::{Refused, send};
use crate::http::metrics_text;
use crate::ingest::labelled::{Sample, parse_text};
use crate::service::{Service, now};
use crate::tick::every;
use crate::viewer::Viewer;
use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How often.
const EXPORT_PAUSE: Duration = Duration::from_secs(15);
/// What the other side does not take is kept up to this many bytes, the oldest go first.
const MAX_UNSENT: usize = 16 << 20;
/// Samples of one request.
const SAMPLES_A_REQUEST: usize = 5_000;
const HEADERS: &str = "Content-Type: application/x-protobuf\r\nContent-Encoding: snappy\r\n\
                       X-Prometheus-Remote-Write-Version: 0.1.0\r\nUser-Agent: ftio\r\n";

/// Write until told to stop.
pub fn run(service: &Service, url: &str, stop: &AtomicBool) {
    let mut waiting: VecDeque<Vec<u8>> = VecDeque::new();
    every(EXPORT_PAUSE, stop, || {
        match metrics_text(service, &Viewer::ALL, &Default::default()) {
            Ok(text) => waiting.extend(requests(&text, now())),
            Err(error) => service.stats.problem("metrics", Some(error.to_string())),
        }
        while waiting.iter().map(Vec::len).sum::<usize>() > MAX_UNSENT {
            waiting.pop_front();
        }
        let mut problem = None;
        while let Some(request) = waiting.pop_front() {
            match send("POST", url, HEADERS, &request) {
                Ok(_) => {}
                // There is no use in sending it again.
                Err(Refused { status: Some(400..=499), text }) => problem = Some(format!("{url}: {text}")),
                Err(Refused { text, .. }) => {
                    waiting.push_front(request);
                    problem = Some(format!("{url}: {text}"));
                    break;
                }
            }
        }
        service.stats.problem(url, problem);
    });
}

/// The requests that carry what `/metrics` says at a time (seconds since 1970).
pub fn requests(text: &str, time: f64) -> Vec<Vec<u8>> {
    let mut samples = parse_text(text, time);
    for sample in &mut samples {
        sample.label_if_absent("job", "ftio");
    }
    samples.chunks(SAMPLES_A_REQUEST).map(|some| pack(&write_request(some))).collect()
}

/// A `WriteRequest` of protocol buffers.
fn write_request(samples: &[Sample]) -> Vec<u8> {
    let mut out = Vec::new();
    for sample in samples {
        let mut series = Vec::new();
        // Prometheus wants them in this order.
        for (name, value) in sample.labels.iter() {
            let mut label = Vec::new();
            field(&mut label, 1, name.as_bytes());
            field(&mut label, 2, value.as_bytes());
            field(&mut series, 1, &label);
        }
        let mut point = vec![1 << 3 | 1];
        point.extend_from_slice(&sample.value.to_le_bytes());
        point.push(2 << 3);
        varint(&mut point, (sample.time * 1e3) as i64 as u64);
        field(&mut series, 2, &point);
        field(&mut out, 1, &series);
    }
    out
}

fn field(out: &mut Vec<u8>, number: u8, content: &[u8]) {
    out.push(number << 3 | 2);
    varint(out, content.len() as u64);
    out.extend_from_slice(content);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Snappy's block format with nothing but literals: every reader takes it, and nothing has to be searched.
fn pack(plain: &[u8]) -> Vec<u8> {
    const LITERAL: usize = 1 << 16;
    let mut out = Vec::with_capacity(plain.len() + plain.len() / 1000 + 16);
    varint(&mut out, plain.len() as u64);
    for piece in plain.chunks(LITERAL) {
        // The length less one, in two bytes that follow.
        out.push(61 << 2);
        out.extend_from_slice(&((piece.len() - 1) as u16).to_le_bytes());
        out.extend_from_slice(piece);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::remote_write::decode;

    #[test]
    fn what_is_written_can_be_read() {
        let text: String = (0..7000).map(|i| format!("m_total{{jobid=\"{i}\"}} {i}.5\n")).collect();
        let requests = requests(&text, 1_700_000_000.25);
        assert_eq!(requests.len(), 2);
        let samples: Vec<Sample> = requests.iter().flat_map(|request| decode(request).unwrap()).collect();
        assert_eq!(samples.len(), 7000);
        let last = &samples[6999];
        assert_eq!((last.value, last.time), (6999.5, 1_700_000_000.25));
        assert_eq!((last.labels["jobid"].as_str(), last.labels["job"].as_str()), ("6999", "ftio"));
        assert!(super::requests("# nothing\n", 0.0).is_empty());
    }
}
