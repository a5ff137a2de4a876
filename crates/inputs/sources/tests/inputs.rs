//! Every format, by small examples that all tell the same story (see `fixtures/make.py`), and by the real
//! ones where present.

use ftio_core::detect::{Analysis, Options, detect};
use sources::Layer;
use sources::content::Content;
use sources::formats;
use sources::request::{Batch, Class, Mode, Request};
use sources::{
    BandwidthPiece, Folder, Input, Job, Merged, OpenOptions, Opened, Pattern, Source, SourceError, Span,
    folder, open, open_content,
};
use std::io::Write;
use std::path::{Path, PathBuf};

const TOTAL: u64 = 24 << 20;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(fixtures().join(name)).unwrap()
}

fn options(name: &str) -> OpenOptions {
    let pattern = (name == "log.txt")
        .then(|| Pattern::parse("log.toml", &String::from_utf8(bytes("log.toml")).unwrap()).unwrap());
    OpenOptions { pattern, ..OpenOptions::default() }
}

fn one(mut opened: Vec<Opened>) -> Opened {
    assert_eq!(opened.len(), 1);
    opened.remove(0)
}

/// As an input of that name, by its content alone.
fn open_bytes(name: &str, bytes: Vec<u8>) -> Result<Vec<Opened>, SourceError> {
    open_content(Content::from_bytes(name, bytes)?, &options(name))
}

fn analyse(opened: Opened, mode: Option<Mode>) -> Result<Analysis, SourceError> {
    detect(&opened.name.clone(), opened.into_source()?, &Options { mode, ..Options::default() })
}

/// Files and what they hold: ranks, and whether it is bytes.
const FIXTURES: [(&str, &str, u32, bool); 25] = [
    ("tmio.json", "tmio-json", 2, true),
    ("tmio.jsonl", "tmio-json", 2, true),
    ("tmio.msgpack", "tmio-msgpack", 2, true),
    ("custom.json", "tmio-json", 0, true),
    ("flat.json", "tmio-json", 0, true),
    ("application.json", "tmio-json", 0, true),
    ("gekkofs_write.json", "gekkofs-json", 1, true),
    ("gekkofs_write.msgpack", "gekkofs-msgpack", 1, true),
    ("gekkofs.txt", "gekkofs-text", 0, true),
    ("proxy.json", "proxy-json", 0, false),
    ("proxy.msgpack", "proxy-msgpack", 0, false),
    ("samples.csv", "csv", 0, false),
    ("requests.csv", "csv", 2, true),
    ("recorder.txt", "recorder-text", 1, true),
    ("dftracer.pfw", "trace-events", 2, true),
    ("chrome.json", "trace-events", 2, true),
    ("log.txt", "text", 2, true),
    ("dftracer2.pfw", "trace-events", 2, true),
    ("tau.trace", "trace-events", 2, true),
    ("dated.csv", "csv", 2, true),
    ("counter.json", "pairs-json", 0, false),
    ("prometheus.json", "prometheus-json", 0, false),
    ("exposition.prom", "prometheus-text", 0, false),
    ("esnet.json", "esnet-json", 0, false),
    ("lmt.csv", "csv", 0, false),
];

#[test]
fn every_format_tells_the_same_story() {
    for (name, format, ranks, is_bytes) in FIXTURES {
        if name != "log.txt" {
            assert_eq!(formats::recognise(&bytes(name)).map(|row| row.name), Some(format), "{name}");
        }
        let found = analyse(one(open(&Input::Path(fixtures().join(name)), &options(name)).unwrap()), None);
        let found = found.unwrap().detection;
        let period = found.period.unwrap_or_else(|| panic!("{name}: {found:?}"));
        assert!((period - 10.0).abs() < 0.1, "{name}: {period}");
        assert_eq!(found.ranks, Some(ranks).filter(|ranks| *ranks > 0), "{name}");
        // 120 s at 0.25, and 24 s at 0.5 more.
        assert_eq!(found.total_bytes, if is_bytes { TOTAL } else { 42 }, "{name}");
        assert!(found.complete, "{name}: {:?}", found.notes);
    }
}

#[test]
fn gzip_changes_nothing() {
    for (name, ..) in FIXTURES {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(&bytes(name)).unwrap();
        let packed = packed.finish().unwrap();
        let plain = analyse(one(open_bytes(name, bytes(name)).unwrap()), None).unwrap().detection;
        let same = analyse(one(open_bytes(name, packed.clone()).unwrap()), None).unwrap().detection;
        assert_eq!(plain, same, "{name}");
        // Cut off, it is an error or a warning.
        let cut = packed[..packed.len() / 2].to_vec();
        if let Ok(opened) = open_bytes(name, cut)
            && let Ok(found) = analyse(one(opened), None)
        {
            assert!(!found.detection.complete, "{name}");
        }
    }
}

#[test]
fn phases_are_those_of_the_file() {
    for name in ["tmio.json", "tmio.jsonl", "tmio.msgpack", "custom.json", "flat.json"] {
        let mut phases: Vec<BandwidthPiece> = Vec::new();
        let opened = one(open_bytes(name, bytes(name)).unwrap());
        opened
            .into_source()
            .unwrap()
            .read_pieces(Span::Actual, &mut |batch| phases.extend_from_slice(batch))
            .unwrap();
        assert_eq!(phases.len(), 24, "{name}");
        for (index, phase) in phases.iter().enumerate() {
            let start = 4.0 + 10.0 * (index % 12) as f64;
            assert_eq!((phase.start, phase.end, phase.bandwidth), (start, start + 2.0, 524288.0), "{name}");
        }
    }
}

/// Twelve writes of 1 MiB, 10 s apart, of which every other one took less than the clock can tell.
#[test]
fn phases_of_no_time_keep_their_bytes() {
    let mut builder = tmio_trace::tmio::PhaseBuilder::new();
    let write = |i: i64| {
        let start = 4_000_000_000 + 10_000_000_000 * i;
        let (end, nonblocking) = (start + 2_000_000_000 * (i % 2), None);
        let (kind, flags) = (tmio_trace::OpKind(0), tmio_trace::Flags(0));
        let (thread, file, offset, bytes) = (0, 1, 0, 1 << 20);
        tmio_trace::Operation { kind, flags, thread, file, offset, bytes, start, end, nonblocking }
    };
    builder.push(0, &(0..12).map(write).collect::<Vec<_>>()).unwrap();
    let phases = builder.finish();
    let io_time = tmio_trace::tmio::IoTime::default();
    let flush = tmio_trace::tmio::Flush { phases: &phases, io_time, processes: 1 };
    let mut file = Vec::new();
    tmio_trace::tmio::write_msgpack(&flush, &mut file).unwrap();
    let source = || one(open_bytes("x", file.clone()).unwrap()).into_source().unwrap();
    let (mut plain, mut detailed) = (0, 0);
    let job = source().read(Span::Actual, &mut |batch| plain += batch.iter().map(|r| r.bytes).sum::<u64>());
    assert!(job.unwrap().complete);
    let add = &mut |batch: Batch<'_>| {
        detailed += batch.requests.iter().map(|detail| detail.request.bytes).sum::<u64>();
    };
    source().read_detailed(Span::Actual, add).unwrap();
    assert_eq!((plain, detailed), (12 << 20, 12 << 20));
    let found = analyse(one(open_bytes("x", file).unwrap()), None).unwrap().detection;
    assert_eq!(found.total_bytes, 12 << 20);
}

#[test]
fn required_bandwidth_is_another_section() {
    let text = r#"{"write_async_t": {"bandwidth": {"b_rank_avr": [4], "t_rank_s": [1], "t_rank_e": [2]}},
                   "write_async_b": {"bandwidth": {"b_rank_avr": [2], "t_rank_s": [1], "t_rank_e": [3]}}}"#;
    let read = |span: Span| {
        let mut requests: Vec<Request> = Vec::new();
        let opened = one(open_bytes("x", text.into()).unwrap());
        opened.into_source().unwrap().read(span, &mut |batch| requests.extend_from_slice(batch)).unwrap();
        requests
    };
    let second = 1_000_000_000;
    assert_eq!(read(Span::Actual), [Request::new(second, 2 * second, 4, Class::WriteAsync)]);
    assert_eq!(read(Span::Required), [Request::new(second, 3 * second, 4, Class::WriteAsync)]);
}

#[test]
fn an_empty_mode_says_so() {
    for (name, ..) in FIXTURES {
        let opened = one(open_bytes(name, bytes(name)).unwrap());
        let found = analyse(opened, Some(Mode::WriteAsyncRequired)).unwrap().detection;
        assert_eq!((found.period, found.total_bytes), (None, 0), "{name}");
        let said = "no bytes were transferred in mode write_async_required";
        assert!(found.notes.iter().any(|note| note == said), "{name}: {:?}", found.notes);
    }
}

fn named(opened: Opened) -> (String, Box<dyn Source>) {
    (opened.name.clone(), opened.into_source().unwrap())
}

#[test]
fn several_parts_make_one_job() {
    let parts = || {
        (0..3).map(|_| one(open_bytes("gekkofs_write.json", bytes("gekkofs_write.json")).unwrap())).map(named)
    };
    let mut ranks = std::collections::BTreeSet::new();
    let merged: Box<dyn sources::Source> = Box::new(Merged(parts().collect()));
    merged
        .read(Span::Actual, &mut |batch| ranks.extend(batch.iter().filter_map(|request| request.rank)))
        .unwrap();
    assert_eq!(ranks.into_iter().collect::<Vec<_>>(), [0, 1, 2]);
    let found = detect("all", Merged(parts().collect()), &Options::default()).unwrap().detection;
    assert_eq!((found.ranks, found.total_bytes), (Some(3), 3 * TOTAL));
}

#[test]
fn a_folder_is_its_files() {
    let Folder::Of(files) = folder(&fixtures()).unwrap() else { panic!("no folder") };
    assert_eq!(files.len(), 28);
    assert!(files.is_sorted());
    assert_eq!(folder(&fixtures().join("tmio.json")).unwrap(), Folder::Input);
    assert_eq!(folder(Path::new("missing")).unwrap(), Folder::Input);
    let empty = tempfile::tempdir().unwrap();
    assert!(folder(empty.path()).unwrap_err().to_string().ends_with("is a directory with no trace in it"));
}

/// Whatever happens to a file: an answer or a message, never a panic.
#[test]
fn damage_is_survived() {
    for (name, ..) in FIXTURES {
        let whole = bytes(name);
        let try_it = |bytes: Vec<u8>| {
            for opened in open_bytes(name, bytes).into_iter().flatten() {
                let _ = opened.into_source().and_then(|source| source.read(Span::Actual, &mut |_| {}));
            }
        };
        for at in (0..whole.len()).step_by(5.max(whole.len() / 250)) {
            try_it(whole[..at].to_vec());
            for change in [0x01, 0xff] {
                let mut changed = whole.clone();
                changed[at] ^= change;
                try_it(changed);
            }
        }
    }
}

#[test]
fn numbers_that_cannot_be_are_left_out_and_named() {
    let file = |b: &str, s: &str, e: &str| format!(r#"{{"b": [{b}], "ts": [{s}], "te": [{e}]}}"#);
    let read = |text: String| {
        let opened = one(open_bytes("x.json", text.into()).unwrap());
        let mut requests: Vec<Request> = Vec::new();
        let job =
            opened.into_source().unwrap().read(Span::Actual, &mut |batch| requests.extend_from_slice(batch));
        job.map(|job| (requests.len(), job.warnings))
    };
    for (b, s, e) in [
        ("NaN", "1", "2"),
        ("Infinity", "1", "2"),
        ("-5", "1", "2"),
        ("5", "NaN", "2"),
        ("5", "1", "Infinity"),
        ("5", "2", "1"),
        ("5", "-1e300", "1"),
        ("1e308", "1", "2"),
    ] {
        let error = read(file(b, s, e)).unwrap_err().to_string();
        assert!(
            error.starts_with("x.json: holds nothing usable; phase 1 of read_sync: expected finite"),
            "{error}"
        );
        let (count, warnings) =
            read(file(&format!("1, {b}"), &format!("1, {s}"), &format!("2, {e}"))).unwrap();
        assert_eq!((count, warnings.len()), (1, 1), "{b} {s} {e}");
        assert!(
            warnings[0].starts_with("x.json: 1 entry was left out; phase 2 of read_sync"),
            "{warnings:?}"
        );
    }
    assert_eq!(read(file("0", "1", "1")).unwrap(), (1, vec![]));
}

/// File, mode, ranks, bytes (to 1 %), period (to 5 %).
type Known = (&'static str, Option<Mode>, u32, f64, Option<f64>);

/// What the Python FTIO reads in the traces of `reference/` (`scripts/reference` asks it again).
#[test]
fn the_python_ftio_reads_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../ftio-core/tests/reference");
    let text = std::fs::read_to_string(folder.join("ftio.json")).unwrap();
    let records: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let mut compared = 0;
    for record in records {
        let file = record["file"].as_str().unwrap();
        let args: Vec<&str> =
            record["args"].as_array().unwrap().iter().filter_map(|arg| arg.as_str()).collect();
        let mode = match args[..] {
            [] => Some(Mode::WriteSync),
            ["-m", "write_async"] => Some(Mode::WriteAsync),
            _ => continue,
        };
        let path = folder.join("traces").join(file);
        let opened = one(open(&Input::Path(path), &OpenOptions::default()).unwrap());
        let found = analyse(opened, mode).unwrap().detection;
        let number = |key: &str| record[key].as_f64().unwrap();
        assert_eq!(found.ranks.map(u64::from), record["ranks"].as_u64(), "{file}");
        // TMIO's text formats have three digits of the volume.
        let share = found.total_bytes as f64 / number("total_bytes");
        assert!((share - 1.0).abs() < 0.005, "{file}: {share} of the bytes");
        assert!((found.t_start - number("t_start")).abs() < 1e-6, "{file}: {}", found.t_start);
        assert!((found.t_end - number("t_end")).abs() < 1e-6, "{file}: {}", found.t_end);
        compared += 1;
    }
    assert_eq!(compared, 9);
}

fn shared(test: &str, name: &str) -> Option<PathBuf> {
    test_data::shared_or_skip(test, &format!("traces/{name}"))
}

/// What is known of FTIO's examples.
#[test]
fn real_inputs() {
    let cases: [Known; 7] = [
        // First write to first write: 10.14 s on average.
        ("384.msgpack", None, 384, 8053063680.0 * 8.0, Some(10.14)),
        ("8.jsonl", None, 8, 0.0, None),
        ("test.json", Some(Mode::ReadSync), 1536, 0.0, None),
        // Gaps of the first starts: 2.86, 2.88, 2.67, 2.60, 2.49, 2.52, 2.66.
        ("custom.json", None, 4, 1.68e9, Some(2.67)),
        ("custom_app.json", None, 4, 0.0, None),
        // Bursts at 10, 30 and 50 ms.
        ("2.txt", None, 0, 0.0, None),
        ("gekkofs_write_2024-02-28_20-50-02_x0024_34250.json", None, 1, 1554714330.0, None),
    ];
    for (name, mode, ranks, total, period) in cases {
        let Some(path) = shared("real_inputs", &format!("ftio/{name}")) else { return };
        let found =
            analyse(one(open(&Input::Path(path), &OpenOptions::default()).unwrap()), mode).unwrap().detection;
        println!(
            "{name}: {} bytes, period {:?}, confidence {}, {:?}",
            found.total_bytes, found.period, found.confidence, found.notes
        );
        assert_eq!(found.ranks.unwrap_or(0), ranks, "{name}");
        if total > 0.0 {
            assert!((found.total_bytes as f64 / total - 1.0).abs() < 0.01, "{name}: {}", found.total_bytes);
        }
        if let Some(period) = period {
            let ours = found.period.unwrap_or_else(|| panic!("{name}: {found:?}"));
            assert!((ours / period - 1.0).abs() < 0.05, "{name}: {ours}");
        }
    }
}

#[test]
fn real_metrics_and_logs() {
    if let Some(path) = shared("real_metrics_and_logs", "ftio/trace_export.msgpack") {
        let found =
            analyse(one(open(&Input::Path(path), &OpenOptions::default()).unwrap()), None).unwrap().detection;
        // The mean load, over 58.8 s, is 15 %.
        assert!((800..=900).contains(&found.total_bytes), "{}", found.total_bytes);
    }
    let log = "darshan/e3sm_io_heatmap_only.darshan";
    let Some(path) = shared("real_metrics_and_logs", log) else { return };
    let found =
        analyse(one(open(&Input::Path(path), &OpenOptions::default()).unwrap()), None).unwrap().detection;
    println!("{found:?}");
    assert!((found.sampling_frequency.unwrap() - 1.0 / 6.4).abs() < 1e-9);
    assert_eq!(found.ranks, Some(512));
}

/// Requests, ranks, warnings and notes of a text under a name, of a layer.
fn requests(name: &str, text: &str, layer: Option<Layer>) -> Result<(Vec<Request>, Job), SourceError> {
    let content = Content::from_bytes(name, text.as_bytes().to_vec())?;
    let opened = one(open_content(content, &OpenOptions { layer, ..OpenOptions::default() })?);
    let mut requests: Vec<Request> = Vec::new();
    let job = opened.into_source()?.read(Span::Actual, &mut |batch| requests.extend_from_slice(batch))?;
    Ok((requests, job))
}

#[test]
fn recorder_takes_one_layer_of_many_functions() {
    let text = "\
0.1 0.2 open 0 0 ( /a 577 438 )
1.0 2.0 pwritev 0 0 ( /a 300 3 0 )
2.0 3.0 fwrite 0 0 ( 0x1 8 10 /b )
3.0 4.0 write 1 0 ( /a 0x1 70 )
3.0 4.0 MPI_File_write_all 0 2 ( fh 0x1 5 MPI_INT s )
5.0 6.0 MPI_File_iread_at 0 2 ( fh 0 0x1 6 mine s )
6.0 7.0 read 0 0 ( /a 0x1 9 )
";
    let of = |layer| {
        let (requests, job) = requests("0.txt", text, layer).unwrap();
        let bytes: Vec<(Class, u64)> = requests.iter().map(|r| (r.class, r.bytes)).collect();
        (bytes, job)
    };
    // A read of MPI-IO does not tell its bytes: POSIX tells all.
    let posix = vec![(Class::WriteSync, 300), (Class::WriteSync, 70), (Class::ReadSync, 9)];
    let (found, job) = of(None);
    assert_eq!((found, job.complete, job.end), (posix.clone(), true, Some(7_000_000_000)));
    assert!(job.notes[0].contains("POSIX"), "{:?}", job.notes);
    assert_eq!(of(Some(Layer::Posix)).0, posix);
    assert_eq!(of(Some(Layer::Stdio)).0, [(Class::WriteSync, 80)]);
    let (found, job) = of(Some(Layer::MpiIo));
    assert_eq!((found, job.complete), (vec![(Class::WriteSync, 20)], false));
    assert!(
        job.warnings[0]
            .contains("line 6: expected the bytes of MPI_File_iread_at, found the datatype \"mine\"")
    );
    let nothing = requests("0.txt", "0.1 0.2 open 0 0 ( /a 577 438 )\n", None).unwrap_err().to_string();
    assert!(nothing.contains("expected calls that read or write data, found none"), "{nothing}");
    let cut = requests("0.txt", &text[..text.len() - 12], None).unwrap().1;
    assert!(!cut.complete && cut.warnings[0].contains("line 7"), "{:?}", cut.warnings);
}

#[test]
fn trace_events_of_many_writers() {
    let one_of = |text: &str| {
        let (requests, job) = requests("x", text, None).unwrap();
        (requests.iter().map(|r| (r.start, r.end, r.bytes, r.class)).collect::<Vec<_>>(), job)
    };
    let second = 1_000_000_000;
    // A list with commas; streams count items; what is no data access is passed over.
    let list = r#"[{"name":"fread","cat":"STDIO","ph":"X","ts":1e6,"dur":2e6,"pid":1,"tid":1,
        "args":{"size":4,"ret":25}},
        {"name":"compute","cat":"app","ph":"X","ts":2e6,"dur":1e6,"pid":1,"tid":1},
        {"name":"process_name","ph":"M","pid":1,"args":{"name":"x"}}]"#;
    assert_eq!(one_of(list).0, [(second, 3 * second, 100, Class::ReadSync)]);
    // MOSAIC's: an object, metadata behind.
    let tef = r#"{"metadata":{"exe":"a"},"traceEvents":[{"name":"write","cat":"","pid":3,"tid":1,
        "ts":0,"dur":1000000,"ph":"X",
        "args":{"count":55,"file":"/a"}}],
        "other":[{"name":"write","ph":"X","ts":0,"dur":5,"args":{"bytes":1}}]}"#;
    assert_eq!(one_of(tef).0, [(0, second, 55, Class::WriteSync)]);
    // A killed dftracer leaves half a line.
    let cut = "[\n{\"name\":\"write\",\"cat\":\"POSIX\",\"ph\":\"X\",\"ts\":\"5\",\"dur\":\"5\",\
        \"pid\":\"1\",\"args\":{\"ret\":\"8\"}}\n{\"name\":\"wri";
    let (found, job) = one_of(cut);
    assert_eq!((found.len(), job.complete), (1, false));
    // Some versions do not tell sizes.
    let without = "[\n{\"name\":\"write\",\"cat\":\"POSIX\",\"ph\":\"X\",\"ts\":\"5\",\"dur\":\"5\",\
        \"pid\":\"1\",\"args\":{}}\n";
    let problem = requests("x.pfw", without, None).unwrap_err().to_string();
    assert!(problem.contains("event 1: expected the bytes of write, found none"), "{problem}");
}
