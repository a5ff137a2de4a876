//! `ftio model FILE`.

use crate::support::{assert_snapshot, ftio, stderr, stdout};
use serde::Deserialize;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::{TempDir, tempdir};

/// What is looked at here; the schema is checked with every line.
#[derive(Debug, Deserialize)]
struct Record {
    schema: String,
    callpath: String,
    constant: f64,
    terms: Vec<Term>,
    points: usize,
    noise: Option<Noise>,
    #[serde(default)]
    predictions: Vec<Prediction>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Term {
    coefficient: f64,
    factors: Vec<Factor>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Factor {
    parameter: String,
    exponent: String,
    log_exponent: f64,
}

#[derive(Debug, Deserialize)]
struct Noise {
    level: f64,
}

#[derive(Debug, Deserialize)]
struct Prediction {
    value: f64,
    interval: Option<Interval>,
    extrapolated: bool,
}

#[derive(Debug, Deserialize)]
struct Interval {
    low: f64,
    high: f64,
}

#[derive(Debug, Deserialize)]
struct Ranked {
    schema: String,
    point: Vec<f64>,
    rank: usize,
    callpath: String,
}

/// Bytes linear, time falling with noise, a logarithm, nothing at all; three repetitions at 2 to 64
/// processes.
fn measurements() -> TempDir {
    let directory = tempdir().unwrap();
    let mut text = String::new();
    for (i, p) in [2.0f64, 4.0, 8.0, 16.0, 32.0, 64.0].into_iter().enumerate() {
        let mut line = |callpath: &str, metric: &str, value: f64| {
            text += &format!(
                "{{\"params\":{{\"Processes\":{p}}},\"callpath\":\"{callpath}\",\"metric\":\"{metric}\",\
                 \"value\":{value}}}\n"
            );
        };
        line("write_sync->total_bytes", "Size (B)", 8_388_608.0 * p);
        line("read_sync->total_bytes", "Size (B)", 0.0);
        for repetition in 0..3 {
            let noise = 1.0 + 0.02 * ((7 * i + 5 * repetition) % 4) as f64;
            line("compute", "Time (s)", 2.0 + 500.0 / p * noise);
            line("write", "Time (s)", (1.0 + 0.5 * p.log2()) * noise);
        }
    }
    std::fs::write(directory.path().join("scale.jsonl"), text).unwrap();
    directory
}

fn records(output: &std::process::Output) -> Vec<Record> {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    crate::schemas::valid(&stdout(output), "ftio.model/1");
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    stdout(output).lines().map(parse).collect()
}

#[test]
fn the_table_is_as_recorded() {
    let directory = measurements();
    let output = ftio(directory.path(), &["model", "scale.jsonl", "--evaluate", "p=1024"]);
    assert_eq!(stderr(&output), "");
    assert_snapshot("model.txt", &stdout(&output));
}

#[test]
fn the_ranking_is_as_recorded() {
    let directory = measurements();
    for args in [
        &["model", "scale.jsonl", "--rank", "Processes=1024"][..],
        &["model", "scale.jsonl", "--evaluate", "1024", "--rank"],
        &["model", "--evaluate", "1024", "--rank", "scale.jsonl"],
    ] {
        let output = ftio(directory.path(), args);
        assert_eq!(stderr(&output), "", "{args:?}");
        assert_snapshot("model_rank.txt", &stdout(&output));
    }
    let output =
        ftio(directory.path(), &["model", "scale.jsonl", "--rank", "p=1024", "--json", "-m", "Time"]);
    crate::schemas::valid(&stdout(&output), "ftio.rank/1");
    let ranked: Vec<Ranked> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((ranked[0].callpath.as_str(), ranked[0].rank), ("write", 1));
    assert_eq!((ranked[0].schema.as_str(), ranked[0].point.as_slice()), ("ftio.rank/1", &[1024.0][..]));
}

#[test]
fn json_of_every_model() {
    let directory = measurements();
    let args = ["model", "scale.jsonl", "--json", "--evaluate", "Processes=1024", "--evaluate", "32"];
    let models = records(&ftio(directory.path(), &args));
    assert_eq!(models.len(), 4);
    let bytes = &models[0];
    assert_eq!((bytes.schema.as_str(), bytes.callpath.as_str()), ("ftio.model/1", "write_sync->total_bytes"));
    let linear = Factor { parameter: "Processes".into(), exponent: "1".into(), log_exponent: 0.0 };
    assert_eq!(bytes.terms, [Term { coefficient: 8_388_608.0, factors: vec![linear] }]);
    assert_eq!((bytes.constant, bytes.points), (0.0, 6));
    assert_eq!(bytes.predictions[0].value, 8_388_608.0 * 1024.0);
    let write = models.iter().find(|model| model.callpath == "write").unwrap();
    assert_eq!(
        (write.terms[0].factors[0].exponent.as_str(), write.terms[0].factors[0].log_exponent),
        ("0", 1.0)
    );
    let interval = write.predictions[0].interval.as_ref().unwrap();
    assert!(interval.low < 6.1 && 6.1 < interval.high, "{interval:?}");
    assert!(write.predictions[0].extrapolated && !write.predictions[1].extrapolated);
    let compute = models.iter().find(|model| model.callpath == "compute").unwrap();
    assert_eq!(compute.terms[0].factors[0].exponent, "-1");
    assert!(compute.noise.as_ref().unwrap().level < 0.05);
}

#[test]
fn print_writes_what_extra_p_prints() {
    let directory = measurements();
    let output =
        ftio(directory.path(), &["model", "scale.jsonl", "--compat", "--print", "all", "-c", "total"]);
    let text = stdout(&output);
    assert!(text.starts_with(
        "Callpath: write_sync->total_bytes\n\tMetric: Size (B)\n\t\tMeasurement point: (2.00E+00)"
    ));
    assert!(text.contains("\t\tModel: ") && text.contains("\t\tAdjusted R^2: "), "{text}");
    let args = ["model", "scale.jsonl", "--print", "{callpath}: {model:python}", "-c", "write_sync"];
    assert_eq!(stdout(&ftio(directory.path(), &args)), "write_sync->total_bytes: 8388608.0*Processes**(1)\n");
    let output = ftio(directory.path(), &["model", "scale.jsonl", "--print", "{nonsense}"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("expected the name of a placeholder, found `nonsense`"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn every_modeler_takes_every_measure() {
    let directory = measurements();
    for modeler in ["modeler=default", "modeler=refining", "modeler=segmented"] {
        for measure in ["measure=mean", "measure=median", "measure=minimum", "measure=max"] {
            let args = ["model", "scale.jsonl", "--set", modeler, "--set", measure, "--json"];
            assert_eq!(records(&ftio(directory.path(), &args)).len(), 4);
        }
    }
    let at = |measure: &str| {
        let args = ["model", "scale.jsonl", "--set", measure, "--json", "--callpath", "compute", "-e", "2"];
        records(&ftio(directory.path(), &args))[0].predictions[0].value
    };
    assert!(at("measure=minimum") < at("measure=median") && at("measure=median") < at("measure=maximum"));
}

#[test]
fn from_standard_input() {
    let directory = measurements();
    let text = std::fs::read(directory.path().join("scale.jsonl")).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_ftio"))
        .args(["model", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&text).unwrap();
    assert_eq!(records(&child.wait_with_output().unwrap()).len(), 4);
}

fn drawn(directory: &Path, name: &str, args: &[&str]) -> String {
    let mut all = vec!["model", "scale.jsonl", "--plot", name];
    all.extend(args);
    let output = ftio(directory, &all);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    std::fs::read_to_string(directory.join(name)).unwrap()
}

#[test]
fn models_are_drawn_as_page_and_drawing() {
    let directory = measurements();
    let svg = drawn(directory.path(), "models.svg", &["-e", "1024"]);
    assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
    // Three models that are not 0 everywhere, six points each.
    assert_eq!((svg.matches("stroke-width=\"2\"").count(), svg.matches("<circle").count()), (3, 18));
    assert_eq!(svg.matches("fill-opacity=\"0.14\"").count(), 3);
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    let html = drawn(directory.path(), "models.html", &[]);
    assert_eq!(html.matches("<figure").count(), 3);
    assert_eq!(html.matches("class=\"hint\"").count(), 18);
    let addresses =
        html.matches("://").count() - html.matches("xmlns=\"http://www.w3.org/2000/svg\"").count();
    assert!(!html.contains("{{") && addresses == 0, "a page that needs no network");
    let output = ftio(directory.path(), &["model", "scale.jsonl", "--plot", "models.png"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(std::fs::read(directory.path().join("models.png")).unwrap().starts_with(b"\x89PNG"));
    let output = ftio(directory.path(), &["model", "scale.jsonl", "--plot", "models.pdf"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn wrong_input_and_wrong_usage() {
    let directory = measurements();
    for (args, code, message) in [
        (&["model"][..], 2, "expected runs, or a file of measurements"),
        (&["model", "nowhere.jsonl"], 1, "nowhere.jsonl: cannot read"),
        (&["model", "bad.jsonl"], 1, "bad.jsonl:2: expected a JSON object such as"),
        (&["model", "scale.jsonl", "-e", "q=3"], 2, "expected Processes=NUMBER, found `q=3`"),
        (&["model", "scale.jsonl", "--metric", "nothing"], 1, "none of the 4 metrics"),
        (&["model", "scale.jsonl", "--print", "all", "--json"], 2, "cannot be used with"),
        (
            &["model", "two.jsonl", "--set", "modeler=refining"],
            1,
            "the refining modeler: expected one parameter, found 2",
        ),
    ] {
        std::fs::write(directory.path().join("bad.jsonl"), "{\"params\":{\"p\":1},\"value\":1}\n{\"par\n")
            .unwrap();
        std::fs::write(directory.path().join("two.jsonl"), "{\"params\":{\"p\":1,\"n\":2},\"value\":1}\n")
            .unwrap();
        let output = ftio(directory.path(), args);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(message), "{args:?}: {}", stderr(&output));
    }
}

/// What Extra-P has saved, and profiles of Cube: the fixtures of perf-model.
fn saved(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/studies/perf-model/tests/saved");
    folder.join(name).to_string_lossy().into_owned()
}

#[test]
fn experiments_of_extra_p_and_profiles_of_cube() {
    let directory = tempdir().unwrap();
    let models = |args: &[&str]| records(&ftio(directory.path(), &[&["model", "--json"], args].concat()));
    let two = models(&[&saved("values.extra-p")]);
    assert_eq!(two.iter().map(|one| one.callpath.as_str()).collect::<Vec<_>>(), ["main", "main->write"]);
    assert_eq!(two[0].points, 25);
    let strong = models(&[&saved("cube"), "--scaling", "strong", "--metric", "visits"]);
    let weak = models(&[&saved("cube"), "--metric", "visits"]);
    assert_eq!((strong.len(), weak.len()), (3, 3));
    // Three processes: the sum is three times the mean.
    let at = |models: &[Record]| models.iter().find(|one| one.callpath == "main").unwrap().constant;
    assert_eq!((at(&strong), at(&weak)), (3.0, 1.0));
    let none = ftio(directory.path(), &["model", "."]);
    assert_eq!(none.status.code(), Some(1));
    assert!(stderr(&none).contains("expected folders such as app.p4.n10.r1"), "{}", stderr(&none));
}

#[test]
fn options_are_listed_with_their_source_and_set() {
    let directory = measurements();
    let list = |args: &[&str]| {
        let output = ftio(directory.path(), &[&["model"], args].concat());
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
        stdout(&output)
    };
    let has = |text: &str, words: [&str; 3]| {
        let found = text.lines().any(|line| line.split_whitespace().take(3).eq(words));
        assert!(found, "{words:?} in\n{text}");
    };
    let text = list(&["--set", "help"]);
    has(&text, ["modeler", "default", "default"]);
    has(&text, ["allow_negative_exponents", "falling", "default"]);
    let text =
        list(&["--compat", "--set", "measure=median", "--set", "poly_exponents=1/2,1", "--set", "help"]);
    has(&text, ["measure", "median", "--set"]);
    has(&text, ["poly_exponents", "1/2,1", "--set"]);
    has(&text, ["allow_negative_exponents", "false", "--compat"]);
    // Only the power 3/2 is allowed, so it is found for what grows in proportion.
    let only = ["--set", "poly_exponents=3/2", "--callpath", "write_sync", "--metric", "Size", "--json"];
    let model = list(&[&["scale.jsonl"][..], &only].concat());
    let model: Record = serde_json::from_str(model.lines().next().unwrap()).unwrap();
    assert_eq!(model.terms[0].factors[0].exponent, "3/2");
    let wrong = ftio(directory.path(), &["model", "scale.jsonl", "--set", "poly_exponents=x"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("expected numbers or fractions"), "{}", stderr(&wrong));
}

#[test]
fn the_last_runs_only() {
    let directory = tempdir().unwrap();
    let mut text = String::new();
    // The application became twice as fast after its second run at each scale.
    for run in 0..4 {
        for p in [2.0f64, 4.0, 8.0, 16.0, 32.0] {
            let value = if run < 2 { 2.0 * p } else { p };
            text += &format!("{{\"params\":{{\"p\":{p}}},\"value\":{value}}}\n");
        }
    }
    std::fs::write(directory.path().join("runs.jsonl"), text).unwrap();
    let output = ftio(directory.path(), &["model", "runs.jsonl", "--json", "--last", "2"]);
    let model: Record = serde_json::from_str(stdout(&output).trim()).unwrap();
    assert_eq!(model.terms[0].factors[0].exponent, "1");
    assert!((model.terms[0].coefficient - 1.0).abs() < 1e-9, "{}", model.terms[0].coefficient);
}
