//! Which format an input is in, by its content.

use super::content::Content;
use super::text::Pattern;
use super::{csv, gekkofs, recorder, trace_events};

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The trace of this project.
    OurTrace,
    /// MessagePack of the C++ TMIO.
    TmioMessagePack,
    /// JSON or JSONL of the C++ TMIO, or FTIO's custom JSON.
    TmioJson,
    /// Client metrics of GekkoFS in JSON.
    GekkoFsJson,
    /// Client metrics of GekkoFS in MessagePack.
    GekkoFsMessagePack,
    /// Export of the metric proxy in JSON.
    ProxyJson,
    /// Export of the metric proxy in MessagePack.
    ProxyMessagePack,
    /// A Darshan log.
    Darshan,
    /// Recorder's trace of a rank, as text.
    Recorder,
    /// Chrome's trace events, or dftracer's.
    TraceEvents,
    /// A table.
    Csv,
    /// Text that a pattern describes.
    Text,
}

/// What an input may be, for messages.
pub const EXPECTED: &str = "a trace of tmio, JSON, JSONL or MessagePack of TMIO, GekkoFS or the metric proxy, a Darshan log, text \
                            of Recorder, trace events of Chrome or dftracer, a table (CSV), or text with --pattern";

impl Format {
    /// The format of an input, if it is a known one.
    pub fn of(content: &Content) -> Option<Format> {
        let head = content.head();
        if tmio_trace::reader::is_trace_start(head) {
            return Some(Format::OurTrace);
        }
        if is_darshan(head) {
            return Some(Format::Darshan);
        }
        match head.first()? {
            // A list, and a map, of MessagePack. No text begins with these bytes.
            0x90..=0x9f | 0xdc | 0xdd => {
                return (tmio_trace::tmio::detect(head) == Some(tmio_trace::tmio::Format::Msgpack))
                    .then_some(Format::TmioMessagePack);
            }
            0x80..=0x8f | 0xde | 0xdf => {
                let is_gekkofs = gekkofs::has_its_keys(|key| contains(head, key));
                return Some(if is_gekkofs { Format::GekkoFsMessagePack } else { Format::ProxyMessagePack });
            }
            _ => {}
        }
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
        if trace_events::looks_like(text) {
            return Some(Format::TraceEvents);
        }
        if text.starts_with(b"{") {
            let has_key = |key: &str| contains(text, &format!("\"{key}\""));
            return Some(if gekkofs::has_its_keys(has_key) {
                Format::GekkoFsJson
            } else if is_proxy_json(text) {
                Format::ProxyJson
            } else {
                Format::TmioJson
            });
        }
        // Lists in brackets have commas, too.
        if contains(text, "start_t_micro:") && Pattern::gekkofs().matches(&String::from_utf8_lossy(text)) {
            return Some(Format::Text);
        }
        if recorder::looks_like(text) {
            return Some(Format::Recorder);
        }
        csv::looks_like(head).then_some(Format::Csv)
    }
}

/// The log itself tells the version first and then, in either byte order, the number 6567223. A Darshan 2 log is
/// like that inside gzip (undone here) or bzip2.
fn is_darshan(head: &[u8]) -> bool {
    const MAGIC: i64 = 6_567_223;
    let magic = head.get(8..16).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok());
    let is_version = matches!(head, [b'1'..=b'9', b'.', b'0'..=b'9', ..]);
    let has_magic =
        magic.is_some_and(|bytes| [i64::from_le_bytes(bytes), i64::from_be_bytes(bytes)].contains(&MAGIC));
    (is_version && has_magic) || (head.starts_with(b"BZh") && head.get(4..10) == Some(b"1AY&SY"))
}

/// Metrics are lists of pairs under names of their own; TMIO has sections, and custom JSON plain lists.
fn is_proxy_json(text: &[u8]) -> bool {
    let without_space: Vec<u8> =
        text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).take(16 << 10).collect();
    contains(&without_space, "\"metrics\":{") || contains(&without_space, "\":[[")
}

fn contains(bytes: &[u8], needle: &str) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
}
