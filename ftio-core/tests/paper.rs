//! `--paper` to the printed digit: the formulas on fixtures of our own, and the paper's traces where they are
//! at hand.
//!
//! `golden/paper.json` holds signals and what an independent implementation of the printed formulas makes of
//! them (`golden/make_paper.py`). The published traces are in the shared test data, where that is at hand.

use ftio_core::detect::detection::Detection;
use ftio_core::detect::{Method, Options, compat, detect};
use ftio_core::signal::step::Stretch;
use serde_json::Value;
use sources::request::Mode;
use sources::{Input, Job, Merged, OpenOptions, Source, open};
use std::path::{Path, PathBuf};

fn options() -> Options {
    Options { method: Method::Paper, autocorrelation: true, ..Options::default() }
}

fn close(what: &str, found: Option<f64>, expected: f64, digits: f64) {
    let found = found.unwrap_or(f64::NAN);
    assert!((found - expected).abs() <= digits, "{what}: {found} instead of {expected}");
}

#[test]
fn the_printed_formulas() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("golden/paper.json")).unwrap();
    assert_eq!(cases.len(), 3);
    for case in &cases {
        let name = case["name"].as_str().unwrap();
        let number = |value: &Value| value.as_f64().unwrap();
        let phase = |row: &Value| Stretch {
            start: number(&row[0]),
            end: number(&row[1]),
            bandwidth: number(&row[2]),
        };
        let phases: Vec<Stretch> = case["phases"].as_array().unwrap().iter().map(phase).collect();
        let found = compat::analyse(name, &phases, Mode::WriteSync, &Job::default(), &options()).detection;
        let expected = |key: &str| number(&case["expected"][key]);
        let acf = found.autocorrelation.as_ref().unwrap();
        assert_eq!(found.n_samples as f64, expected("samples"), "{name}");
        assert_eq!(found.harmonics.len() as f64, expected("harmonics"), "{name}");
        close(name, found.period, expected("period"), 1e-9);
        close(name, Some(found.confidence), expected("c_d"), 1e-9);
        close(name, Some(acf.period), expected("acf_period"), 1e-9);
        close(name, Some(acf.confidence), expected("c_a"), 1e-9);
        close(name, acf.similarity, expected("c_s"), 1e-9);
        close(name, found.refined_confidence, expected("refined"), 1e-9);
    }
}

/// What is found in the files of a folder that begin with `start`, taken together.
fn together(folder: &Path, start: &str) -> Detection {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.file_name().unwrap().to_string_lossy().starts_with(start)).collect();
    files.sort();
    let source = |file: &PathBuf| {
        open(&Input::Path(file.clone()), &OpenOptions::default()).unwrap().remove(0).into_source().unwrap()
    };
    let source: Box<dyn Source> = match files.as_slice() {
        [file] => source(file),
        files => {
            Box::new(Merged(files.iter().map(|file| (file.display().to_string(), source(file))).collect()))
        }
    };
    detect(start, source, &options()).unwrap().detection
}

#[test]
fn the_published_case_studies() {
    let test = "the_published_case_studies";
    let Some(lammps) = test_data::shared_or_skip(test, "traces/ftio/lammps_3072.json") else { return };
    let folder = lammps.parent().unwrap();
    // LAMMPS: 25.73 s, 55.0 %, refined 84.9 %; NEK5000 on GekkoFS: 50.0888 s, 51.64 %, refined 83.83 %.
    for (start, period, confidence, refined) in
        [("lammps_3072", 25.731, 0.5505, 0.8493), ("gekkofs_write", 50.0889, 0.5164, 0.8383)]
    {
        let found = together(folder, start);
        close(start, found.period, period, 0.0006);
        close(start, Some(found.confidence), confidence, 0.00006);
        close(start, found.refined_confidence, refined, 0.00006);
        close(start, found.autocorrelation.map(|acf| acf.confidence), 1.0, 1e-9);
    }
}
