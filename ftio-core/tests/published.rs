//! `--compat` against the results of the Python FTIO 0.0.9.
//!
//! `reference/` has traces of our own and what FTIO says about them (`scripts/reference` asks it again). Its
//! results on its own example traces are compared as well where the folder of shared test data is there.

use ftio_core::detect::compat;
use ftio_core::detect::detection::Detection;
use ftio_core::detect::{Method, Options, Outlier, detect};
use ftio_core::signal::step::Stretch;
use ftio_core::spectral::spectrum::Measure;
use serde_json::Value;
use sources::{Input, Job, OpenOptions, open};
use std::path::{Path, PathBuf};

/// The records of the committed traces, and the folder of these.
fn committed() -> (Vec<Value>, PathBuf) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference");
    (records(&folder.join("ftio.json")), folder.join("traces"))
}

fn records(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

fn arguments(record: &Value) -> Vec<&str> {
    record["args"].as_array().unwrap().iter().map(|argument| argument.as_str().unwrap()).collect()
}

/// The phases of a mode, in the order of the file.
fn load(path: &Path, mode: &str) -> Vec<Stretch> {
    let bytes = std::fs::read(path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    if name.ends_with(".msgpack") {
        return load_msgpack(&bytes, mode.trim_end_matches("_t"));
    }
    let text = String::from_utf8(bytes).unwrap();
    let documents: Vec<&str> = if name.ends_with(".jsonl") { text.lines().collect() } else { vec![&text] };
    let mut out = Vec::new();
    for document in documents {
        let document: Value = serde_json::from_str(document).unwrap();
        let Some(bandwidth) = document.get(mode).and_then(|mode| mode.get("bandwidth")) else { continue };
        let list = |key: &str| -> Vec<f64> {
            let values = bandwidth[key].as_array();
            values.unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
        };
        let (b, s, e) = (list("b_rank_avr"), list("t_rank_s"), list("t_rank_e"));
        out.extend((0..b.len()).map(|i| Stretch { start: s[i], end: e[i], bandwidth: b[i] }));
    }
    out
}

/// Top-level arrays `[name, …, phases]`, a phase being
/// `[data, t_start, t_end_act, t_end_req, T_sum, T_avr, …]`.
fn load_msgpack(bytes: &[u8], mode: &str) -> Vec<Stretch> {
    let mut input = bytes;
    let mut out = Vec::new();
    while !input.is_empty() {
        let Value::Array(object) = msgpack(&mut input) else { panic!("an array was expected") };
        if object[0] == mode {
            for phase in object[13].as_array().unwrap() {
                let number = |i: usize| phase[i].as_f64().unwrap();
                out.push(Stretch { start: number(1), end: number(2), bandwidth: number(5) });
            }
        }
    }
    out
}

/// Just enough MessagePack for these files.
fn msgpack(input: &mut &[u8]) -> Value {
    fn take<const N: usize>(input: &mut &[u8]) -> [u8; N] {
        let (head, rest) = input.split_first_chunk::<N>().unwrap();
        *input = rest;
        *head
    }
    fn array(input: &mut &[u8], length: usize) -> Value {
        (0..length).map(|_| msgpack(input)).collect()
    }
    fn text(input: &mut &[u8], length: usize) -> Value {
        let (head, rest) = input.split_at(length);
        *input = rest;
        std::str::from_utf8(head).unwrap().into()
    }
    match take::<1>(input)[0] {
        byte @ 0x00..=0x7f => byte.into(),
        byte @ 0x90..=0x9f => array(input, usize::from(byte & 15)),
        byte @ 0xa0..=0xbf => text(input, usize::from(byte & 31)),
        0xc2 => false.into(),
        0xc3 => true.into(),
        0xca => f64::from(f32::from_be_bytes(take(input))).into(),
        0xcb => f64::from_be_bytes(take(input)).into(),
        0xcc => take::<1>(input)[0].into(),
        0xcd => u16::from_be_bytes(take(input)).into(),
        0xce => u32::from_be_bytes(take(input)).into(),
        0xcf => u64::from_be_bytes(take(input)).into(),
        0xdc => {
            let length = u16::from_be_bytes(take(input));
            array(input, usize::from(length))
        }
        0xdd => {
            let length = u32::from_be_bytes(take(input));
            array(input, length as usize)
        }
        other => panic!("unexpected byte {other:#x}"),
    }
}

/// The options that the arguments of a record stand for; `None` if they ask for something that `--compat` has
/// not.
fn options(args: &[&str]) -> Option<Options> {
    let mut options = Options { method: Method::Compat, ..Options::default() };
    let mut args = args.iter();
    while let Some(&flag) = args.next() {
        let mut number = || args.next()?.parse::<f64>().ok();
        match flag {
            "-f" => match number()? {
                -1.0 => options.automatic_frequency = true,
                hz => options.frequency = Some(hz),
            },
            "-t" => options.tolerance = number()?,
            "-ts" => options.from = number(),
            "-te" => options.to = number(),
            "-n" => options.top = number()? as usize,
            "-np" => options.measure = Measure::Amplitude,
            "-au" => options.autocorrelation = true,
            "-m" => options.mode = args.next()?.parse().ok(),
            "-o" => {
                options.outlier = match *args.next()? {
                    "z-score" => Outlier::ZScore,
                    "dbscan" => Outlier::Dbscan,
                    "lof" => Outlier::LocalOutlierFactor,
                    "peak" => Outlier::Peaks,
                    // Its random numbers differ from run to run.
                    "forest" => return None,
                    other => panic!("{other}"),
                }
            }
            _ => return None,
        }
    }
    Some(options)
}

fn check(name: &str, found: &Detection, record: &Value) {
    assert_eq!(Some(found.n_samples as u64), record["n_samples"].as_u64(), "{name}");
    let error = record["abstraction_error"].as_f64().unwrap();
    // The record has six digits.
    let difference = (found.abstraction_error - error).abs();
    assert!(difference <= 1e-5 * error.max(1e-3), "{name}: {}", found.abstraction_error);
    let Some(frequency) = record["freq"].as_f64() else {
        assert_eq!(found.frequency, None, "{name}");
        return;
    };
    let difference = (found.frequency.unwrap_or(f64::NAN) - frequency).abs();
    assert!(difference < 1e-12, "{name}: {:?} instead of {frequency}", found.frequency);
    let period = record["period"].as_f64().unwrap();
    assert!((found.period.unwrap() - period).abs() < 1e-9 * period, "{name}: {:?}", found.period);
    let confidence = record["confidence"].as_f64().unwrap();
    assert!((found.confidence - confidence).abs() < 1e-9, "{name}: {}", found.confidence);
    let number = |key: &str| record[key].as_f64().unwrap();
    assert!((found.t_start - number("t_start")).abs() < 1e-9 && (found.t_end - number("t_end")).abs() < 1e-9);
    assert_eq!(found.sampling_frequency.unwrap(), number("sampling_freq"), "{name}");
    if let Some(all) = record["top_freqs"]["freq"].as_array() {
        // The first of them is the constant part, which we do not count.
        let top = found.top_frequencies.iter().map(|top| top.frequency);
        let expected = all.iter().skip(1).map(|f| f.as_f64().unwrap());
        assert!(top.zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{name}: top frequencies");
    }
}

/// Compare our answer for one record, unless `--compat` cannot have it.
fn reproduced(record: &Value, trace: &Path) -> bool {
    let file = record["file"].as_str().unwrap();
    let args = arguments(record);
    let Some(options) = options(&args) else { return false };
    // In the longest records only a few digits are known, and they need gigabytes; the one of 11 million
    // samples takes minutes without optimisation.
    let most = if cfg!(debug_assertions) { 1_000_000 } else { 20_000_000 };
    if record["rc"] != 0 || record["n_samples"].as_u64() > Some(most) {
        return false;
    }
    let mode = compat::mode(options.mode);
    let in_file = if mode.name().ends_with("async") { format!("{mode}_t") } else { mode.to_string() };
    let found = compat::analyse(file, &load(trace, &in_file), mode, &Job::default(), &options).detection;
    let name = format!("{file} {args:?}");
    if record["n_samples"].is_null() {
        assert!(found.period.is_none() && found.notes[0].contains(mode.name()), "{name}");
    } else {
        check(&name, &found, record);
    }
    true
}

#[test]
fn the_python_ftio_gives_the_same_results_on_our_traces() {
    let (records, traces) = committed();
    let of_traces = records.iter().filter(|record| !record["file"].as_str().unwrap().ends_with(".darshan"));
    let checked =
        of_traces.filter(|record| reproduced(record, &traces.join(record["file"].as_str().unwrap()))).count();
    assert_eq!(checked, 116, "records that were compared");
}

#[test]
fn the_python_ftio_gives_the_same_results_on_its_examples() {
    let test = "the_python_ftio_gives_the_same_results_on_its_examples";
    let Some(path) = test_data::shared_or_skip(test, "reference/ftio_reference.json") else { return };
    let Some(traces) = test_data::shared_or_skip(test, "traces/ftio") else { return };
    // Traces with phases of ranks.
    let known = ["8.jsonl", "384.msgpack", "custom.json", "test.json"];
    let of_these = |file: &str| known.iter().any(|name| file.ends_with(name));
    let checked = records(&path)
        .iter()
        .filter(|record| {
            let file = record["file"].as_str().unwrap();
            of_these(file) && reproduced(record, &traces.join(Path::new(file).file_name().unwrap()))
        })
        .count();
    assert!(checked >= 35, "only {checked} records were compared");
}

/// Compare our answers for the logs of which a layer is named; how many.
fn reproduced_logs(records: &[Value], logs: &Path) -> usize {
    let mut checked = 0;
    for record in records.iter().filter(|record| record["file"].as_str().unwrap().ends_with(".darshan")) {
        let args = arguments(record);
        let Some(at) = args.iter().position(|arg| *arg == "-x") else { continue };
        let rest: Vec<&str> = [&args[..at], &args[at + 2..]].concat();
        let options = options(&rest).expect("known arguments");
        let name = Path::new(record["file"].as_str().unwrap()).file_name().unwrap();
        let reading = OpenOptions { layer: Some(sources::Layer::Posix), ..OpenOptions::default() };
        let opened = open(&Input::new(&logs.join(name)), &reading).unwrap().remove(0);
        let options = Options { method: Method::Compat, ..options };
        let found = detect("log", opened.into_source().unwrap(), &options).unwrap().detection;
        let number = |key: &str| record[key].as_f64().unwrap();
        let close = |a: f64, b: f64, what: &str| {
            assert!((a - b).abs() <= 1e-9 * b.abs(), "{name:?} {args:?}: {what}: {a} instead of {b}");
        };
        assert_eq!(found.n_samples as u64, record["n_samples"].as_u64().unwrap(), "{name:?} {args:?}");
        close(found.sampling_frequency.unwrap(), number("sampling_freq"), "sampling frequency");
        close(found.period.unwrap(), number("period"), "period");
        close(found.confidence, number("confidence"), "confidence");
        close(found.t_end, number("t_end"), "end");
        checked += 1;
    }
    checked
}

#[test]
fn the_python_ftio_gives_the_same_results_on_our_darshan_logs() {
    let (records, logs) = committed();
    assert_eq!(reproduced_logs(&records, &logs), 4);
}

#[test]
fn the_python_ftio_gives_the_same_results_on_real_darshan_logs() {
    let test = "the_python_ftio_gives_the_same_results_on_real_darshan_logs";
    let Some(path) = test_data::shared_or_skip(test, "reference/ftio_reference.json") else { return };
    let Some(logs) = test_data::shared_or_skip(test, "traces/darshan") else { return };
    assert_eq!(reproduced_logs(&records(&path), &logs), 4);
}
