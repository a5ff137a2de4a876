//! The table of formats. A new format is a file, and a row here.

use super::content::Content;
use super::error::SourceError;
use super::format::{Flushes, FolderFormat, Format, Growth, Holds};
use super::job::Source;
use super::opened::Kind;
use super::series::Series;
use super::split::Splitter;
use super::value::Value;
use super::{
    csv, darshan, esnet, gekkofs, our_trace, prometheus, proxy, proxy_profile, recorder, recorder_folder,
    signature, text, tmio_file, trace_events,
};

/// Formats of files. The first that fits is taken: those with unmistakable beginnings come first.
pub static FORMATS: &[Format] = &[
    Format {
        name: "tmio-trace",
        about: "a trace of tmio",
        recognise: our_trace::looks_like,
        read: |content, options| Ok(Holds::One(Kind::Ours(our_trace::open(content, options.layer)))),
        // It grows in the folder of its parts, not in the file itself.
        grows: None,
    },
    Format {
        name: "darshan",
        about: "a Darshan log",
        recognise: darshan::looks_like,
        read: |content, options| Ok(Holds::One(Kind::Darshan(darshan::open(content, options)?))),
        grows: None,
    },
    Format {
        name: "signature",
        about: "a signature of ftio",
        recognise: signature::looks_like,
        read: |content, _| json_series(content, signature::series),
        grows: None,
    },
    Format {
        name: "tmio-msgpack",
        about: "",
        recognise: tmio_file::looks_like_message_pack,
        read: |content, _| Ok(Holds::One(Kind::Tmio(tmio_file::open(content)))),
        grows: Some(Growth {
            splitter: Splitter::message_pack,
            header: false,
            flushes: Some(Flushes { expected: |_| true, ended_by: tmio_file::is_io_time }),
        }),
    },
    Format {
        name: "gekkofs-msgpack",
        about: "",
        recognise: gekkofs::looks_like_message_pack,
        read: |content, _| message_pack(content, gekkofs::open),
        grows: Some(Growth::MESSAGE_PACK),
    },
    Format {
        name: "proxy-msgpack",
        about: "",
        recognise: proxy::looks_like_message_pack,
        read: |content, _| {
            let name = content.name.clone();
            let values = Value::from_message_pack(&name, &content.into_bytes()?)?;
            Ok(Holds::Series(proxy::series(&name, &values)?))
        },
        grows: Some(Growth::MESSAGE_PACK),
    },
    Format {
        name: "trace-events",
        about: "trace events of Chrome or dftracer",
        recognise: trace_events::looks_like,
        read: |content, options| requests(trace_events::open(content, options)),
        grows: None,
    },
    Format {
        name: "proxy-profile",
        about: "",
        recognise: proxy_profile::looks_like,
        read: |content, _| {
            let name = content.name.clone();
            let values = Value::from_json(&name, &content.into_bytes()?)?;
            Ok(Holds::One(Kind::Profile(proxy_profile::open(&name, &values)?)))
        },
        grows: None,
    },
    Format {
        name: "prometheus-json",
        about: "JSON or text of Prometheus",
        recognise: prometheus::looks_like_query,
        read: |content, _| json_series(content, prometheus::of_query),
        grows: None,
    },
    Format {
        name: "pairs-json",
        about: "a list of [time, value]",
        recognise: prometheus::looks_like_pairs,
        read: |content, _| json_series(content, prometheus::of_pairs),
        grows: None,
    },
    Format {
        name: "esnet-json",
        about: "",
        recognise: esnet::looks_like,
        read: |content, _| json_series(content, esnet::series),
        grows: None,
    },
    Format {
        name: "gekkofs-json",
        about: "",
        recognise: gekkofs::looks_like_json,
        read: |content, _| json(content, gekkofs::open),
        grows: Some(Growth::JSON),
    },
    Format {
        name: "proxy-json",
        about: "",
        recognise: proxy::looks_like_json,
        read: |content, _| json_series(content, proxy::series),
        grows: Some(Growth::JSON),
    },
    Format {
        name: "tmio-json",
        about: "JSON, JSONL or MessagePack of TMIO, GekkoFS or the metric proxy",
        recognise: tmio_file::looks_like_json,
        read: |content, _| Ok(Holds::One(Kind::Tmio(tmio_file::open(content)))),
        grows: Some(Growth {
            splitter: Splitter::json,
            header: false,
            flushes: Some(Flushes { expected: tmio_file::is_jsonl, ended_by: tmio_file::has_io_time }),
        }),
    },
    Format {
        name: "gekkofs-text",
        about: "",
        recognise: text::looks_like_gekkofs,
        read: |content, options| requests(text::open(content, options)),
        grows: Some(Growth::LINES),
    },
    Format {
        name: "recorder-text",
        about: "text of Recorder",
        recognise: recorder::looks_like,
        read: |content, options| requests(recorder::open(content, options)),
        grows: None,
    },
    Format {
        name: "prometheus-text",
        about: "",
        recognise: prometheus::looks_like_text,
        read: |content, _| {
            let name = content.name.clone();
            Ok(Holds::Series(prometheus::of_text(&name, &content.into_text()?)?))
        },
        grows: Some(Growth::LINES),
    },
    Format {
        name: "csv",
        about: "a table (CSV)",
        recognise: csv::looks_like,
        read: |content, _| csv::open(content),
        grows: Some(Growth::ROWS),
    },
    BY_PATTERN,
];

/// Text that a pattern describes. It is never recognised by its content.
const BY_PATTERN: Format = Format {
    name: "text",
    about: "text that a pattern describes",
    recognise: |_| false,
    read: |content, options| requests(text::open(content, options)),
    grows: Some(Growth::LINES),
};

/// Formats that are folders.
pub static FOLDERS: &[FolderFormat] = &[
    FolderFormat {
        name: "tmio-parts",
        recognise: our_trace::is_parts,
        read: |path, options| Ok(Holds::One(Kind::Ours(our_trace::TmioTrace::open(path, options.layer)?))),
    },
    FolderFormat {
        name: "recorder-folder",
        recognise: recorder_folder::is_folder,
        read: |path, options| requests(recorder_folder::open(path, options)),
    },
];

/// The format of an input that begins like this.
pub fn recognise(head: &[u8]) -> Option<&'static Format> {
    FORMATS.iter().find(|format| (format.recognise)(head))
}

/// The format of that name.
pub fn named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// All formats, for messages.
pub fn expected() -> String {
    let known: Vec<&str> =
        FORMATS.iter().map(|format| format.about).filter(|about| !about.is_empty()).collect();
    match known.split_last() {
        Some((last, rest)) => format!("{}, or {last}", rest.join(", ")),
        None => String::new(),
    }
}

fn requests(source: Result<Box<dyn Source>, SourceError>) -> Result<Holds, SourceError> {
    source.map(|source| Holds::One(Kind::Requests(source)))
}

fn json_series(
    content: Content,
    series: fn(&str, &[Value]) -> Result<Vec<Series>, SourceError>,
) -> Result<Holds, SourceError> {
    let name = content.name.clone();
    let values = Value::from_json(&name, &content.into_bytes()?)?;
    Ok(Holds::Series(series(&name, &values)?))
}

type FromValues = fn(&str, Vec<Value>) -> Box<dyn Source>;

fn json(content: Content, open: FromValues) -> Result<Holds, SourceError> {
    let name = content.name.clone();
    let values = Value::from_json(&name, &content.into_bytes()?)?;
    requests(Ok(open(&name, values)))
}

fn message_pack(content: Content, open: FromValues) -> Result<Holds, SourceError> {
    let name = content.name.clone();
    let values = Value::from_message_pack(&name, &content.into_bytes()?)?;
    requests(Ok(open(&name, values)))
}
