//! The steps of the published tool, put together from our parts, against its results on its own example traces.
//!
//! Traces and results are not part of this repository. They are looked for in `FTIO_SHARED`, or in a folder `shared` in one
//! of the directories above; without them the test passes and says so.

use ftio_core::candidates::{HarmonicRule, Verdict};
use ftio_core::outlier::{OutlierMethod, ZScore};
use ftio_core::spectrum::{Measure, Spectrum};
use ftio_core::step::{StepFunction, Stretch};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn shared() -> Option<PathBuf> {
    let named = std::env::var_os("FTIO_SHARED").map(PathBuf::from);
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|dir| dir.join("shared"));
    named.into_iter().chain(above).find(|dir| dir.join("reference/ftio_reference.json").is_file())
}

/// The phases of a mode, in the order of the file.
fn load(path: &Path, mode: &str) -> Vec<Stretch> {
    let bytes = std::fs::read(path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    if name.ends_with(".msgpack") {
        return load_msgpack(&bytes, mode);
    }
    let text = String::from_utf8(bytes).unwrap();
    let documents: Vec<&str> = if name.ends_with(".jsonl") { text.lines().collect() } else { vec![&text] };
    let mut out = Vec::new();
    for document in documents {
        let document: Value = serde_json::from_str(document).unwrap();
        let Some(bandwidth) = document.get(mode).and_then(|mode| mode.get("bandwidth")) else { continue };
        let list = |key: &str| -> Vec<f64> {
            bandwidth[key].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
        };
        let (b, s, e) = (list("b_rank_avr"), list("t_rank_s"), list("t_rank_e"));
        out.extend((0..b.len()).map(|i| Stretch { start: s[i], end: e[i], bandwidth: b[i] }));
    }
    out
}

/// Top-level arrays `[name, …, phases]`, a phase being `[data, t_start, t_end_act, t_end_req, T_sum, T_avr, …]`.
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

struct Found {
    frequency: Option<f64>,
    confidence: f64,
    samples: usize,
    abstraction_error: f64,
}

/// Steps 2 to 11 of the published tool.
fn run(stretches: &[Stretch], args: &[&str]) -> Found {
    let value =
        |flag: &str| args.iter().position(|a| *a == flag).map(|i| args[i + 1].parse::<f64>().unwrap());
    let fs = value("-f").unwrap_or(10.0);
    let steps = StepFunction::overlap(stretches).window(value("-ts"), value("-te"));
    let (samples, abstraction_error) = steps.sample_and_hold(fs);
    let spectrum = Spectrum::of(&samples, samples.len() as f64 / fs);
    let measure = if args.contains(&"-np") { Measure::Amplitude } else { Measure::Power };
    let contributions = spectrum.contributions_as_published(measure);
    let method = ZScore { tolerance: value("-t").unwrap_or(0.8), as_published: true, ..ZScore::default() };
    let outliers = method.find(&contributions);
    let verdict = Verdict::of(
        &outliers,
        &contributions,
        &spectrum,
        HarmonicRule::AsPublished { sampling_frequency: fs },
    );
    Found {
        frequency: verdict.dominant.map(|k| fs * k as f64 / samples.len() as f64),
        confidence: verdict.dominant.map_or(0.0, |k| outliers.confidence(k, &verdict.harmonics)),
        samples: samples.len(),
        abstraction_error,
    }
}

#[test]
fn reproduces_published_results() {
    let Some(shared) = shared() else {
        eprintln!("skipped: no folder with reference/ftio_reference.json (set FTIO_SHARED)");
        return;
    };
    let reference = std::fs::read_to_string(shared.join("reference/ftio_reference.json")).unwrap();
    let records: Vec<Value> = serde_json::from_str(&reference).unwrap();
    let known = ["-f", "-t", "-np", "-m", "-ts", "-te"];
    let mut checked = 0;
    for record in &records {
        let args: Vec<&str> =
            record["args"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect();
        let file = record["file"].as_str().unwrap();
        let trace = shared.join("traces/ftio").join(Path::new(file).file_name().unwrap());
        let understood = args.iter().filter(|a| a.starts_with('-')).all(|a| known.contains(a));
        let rank_level = ["8.jsonl", "384.msgpack", "custom.json"].iter().any(|name| file.ends_with(name));
        let automatic = args.windows(2).any(|pair| pair == ["-f", "-1"]);
        if record["rc"] != 0 || record["n_samples"].is_null() || !understood || !rank_level || automatic {
            continue;
        }
        let mode = args.iter().position(|a| *a == "-m").map_or("write_sync", |i| args[i + 1]);
        let mode = if mode == "write" { "write_sync" } else { mode };
        let found = run(&load(&trace, mode), &args);
        let name = format!("{file} {args:?}");
        assert_eq!(Some(found.samples as u64), record["n_samples"].as_u64(), "{name}");
        let error = record["abstraction_error"].as_f64().unwrap();
        assert!(
            (found.abstraction_error - error).abs() <= 1e-5 * error.max(1e-3),
            "{name}: {}",
            found.abstraction_error
        );
        match record["freq"].as_f64() {
            None => assert_eq!(found.frequency, None, "{name}"),
            Some(frequency) => {
                assert!(
                    (found.frequency.unwrap() - frequency).abs() < 1e-12,
                    "{name}: {:?}",
                    found.frequency
                );
                let confidence = record["confidence"].as_f64().unwrap();
                assert!((found.confidence - confidence).abs() < 1e-9, "{name}: {}", found.confidence);
            }
        }
        checked += 1;
    }
    assert!(checked >= 14, "only {checked} records were checked");
    eprintln!("{checked} published results reproduced");
}
