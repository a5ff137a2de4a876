//! What `--json` prints is what `ftio schema` says.

use crate::support::{Script, assert_snapshot, ftio, stderr, stdout};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// All that `ftio schema` lists.
static SCHEMAS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    let printed = |args: &[&str]| {
        let output = ftio(Path::new("."), &[&["schema"], args].concat());
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
        stdout(&output)
    };
    let list = printed(&[]);
    let names = list.lines().filter_map(|line| line.split_whitespace().next());
    names.map(|name| (name.to_owned(), serde_json::from_str(&printed(&[name])).unwrap())).collect()
});

/// Every line is an object of the schema that it names.
pub(crate) fn valid(text: &str, name: &str) {
    let schema = jsonschema::validator_for(&SCHEMAS[name]).unwrap();
    assert!(!text.trim().is_empty(), "{name}: nothing was printed");
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["schema"], name);
        if let Err(problem) = schema.validate(&value) {
            panic!("{name}: {}: {problem}\n{line}", problem.instance_path());
        }
    }
}

fn a_log(path: &Path) {
    let mut record = darshan_log::PosixRecord::new(1, -1);
    record[darshan_log::PosixCounter::BytesWritten] = 1_000_000_000;
    record[darshan_log::PosixCounter::Writes] = 100;
    record[darshan_log::PosixTime::WriteStartTimestamp] = 1.0;
    record[darshan_log::PosixTime::WriteEndTimestamp] = 20.0;
    let mut job = darshan_log::Job { nprocs: 4, ..Default::default() };
    job.command = "/bin/app".into();
    (job.start.seconds, job.end.seconds) = (1_600_000_000, 1_600_001_000);
    let log = darshan_log::write::LogWriter::new(darshan_log::Format::V3_41, job).records(4, &[record]);
    std::fs::write(path, log.to_bytes().unwrap()).unwrap();
}

#[test]
fn every_json_is_as_its_schema_says() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(4, 12).write(&dir.path().join("a.msgpack"));
    Script::bursts(2, 5).write(&dir.path().join("b.msgpack"));
    Script::bursts(8, 1).write(&dir.path().join("one.msgpack"));
    a_log(&dir.path().join("job.darshan"));
    std::fs::write(dir.path().join("load.csv"), "time,load\n0,1\n1,0\n2,1\n3,0\n4,1\n5,0\n6,1\n7,0\n")
        .unwrap();
    let model: String = [2, 4, 8, 16, 32]
        .iter()
        .map(|p| {
            format!(
                "{{\"params\":{{\"p\":{p}}},\"callpath\":\"a\",\"metric\":\"time\",\"value\":{}}}\n",
                3 * p
            )
        })
        .collect();
    std::fs::write(dir.path().join("scale.jsonl"), model).unwrap();
    std::fs::create_dir(dir.path().join("spools")).unwrap();
    std::fs::create_dir(dir.path().join("bb")).unwrap();
    std::fs::write(dir.path().join("bb/file"), "content").unwrap();
    std::fs::create_dir(dir.path().join("storage")).unwrap();
    let cases: [(&str, &[&str]); 24] = [
        ("ftio.detection/1", &["--json", "a.msgpack", "b.msgpack", "one.msgpack"]),
        ("ftio.detection/1", &["--json", "-c", "-n", "2", "--over-time", "--reconstruct", "3", "a.msgpack"]),
        ("ftio.detection/1", &["--json", "--per-rank", "a.msgpack"]),
        ("ftio.detection/1", &["--json", "--per-file", "a.msgpack"]),
        ("ftio.detection/1", &["--json", "--compat", "a.msgpack"]),
        ("ftio.detection/1", &["--json", "load.csv"]),
        ("ftio.info/1", &["info", "--json", "a.msgpack", "job.darshan", "load.csv"]),
        ("ftio.clean/1", &["recover", "--json", "--host", "spools"]),
        ("ftio.prediction/1", &["predict", "--json", "--until-complete", "a.msgpack"]),
        ("ftio.advice/1", &["advise", "--json", "--mtbf", "1d", "a.msgpack", "job.darshan", "load.csv"]),
        ("ftio.report/1", &["report", "--json", "a.msgpack"]),
        ("ftio.report/1", &["report", "--json", "job.darshan"]),
        ("ftio.report/1", &["report", "--json", "load.csv"]),
        ("ftio.diff/1", &["diff", "--json", "--threshold-change", "1", "a.msgpack", "a.msgpack"]),
        ("ftio.category/1", &["categorize", "--json", "job.darshan"]),
        ("ftio.model/1", &["model", "--json", "scale.jsonl"]),
        ("ftio.model/1", &["model", "--json", "--evaluate", "64", "scale.jsonl"]),
        ("ftio.rank/1", &["model", "--json", "--rank", "64", "scale.jsonl"]),
        ("ftio.model-options/1", &["model", "--json", "--set", "help"]),
        ("ftio.stage/1", &["stage", "--json", "a.msgpack", "--from", "bb", "--to", "storage"]),
        (
            "ftio.stage/1",
            &["stage", "--json", "a.msgpack", "--from", "bb", "--to", "storage", "--dry-run", "--rate", "1M"],
        ),
        ("ftio.stage-simulate/1", &["simulate", "staging", "--json", "a.msgpack", "--rate", "1M"]),
        (
            "ftio.set10/1",
            &[
                "simulate",
                "turns",
                "--json",
                "--applications",
                "2",
                "--repetitions",
                "1",
                "--policies",
                "fair_share,fcfs",
            ],
        ),
        ("ftio.categorize.summary/1", &["categorize", "job.darshan", "--json", "--summary", "summary.json"]),
    ];
    for (name, args) in cases {
        let output = ftio(dir.path(), args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
        if name == "ftio.categorize.summary/1" {
            valid(&std::fs::read_to_string(dir.path().join("summary.json")).unwrap(), name);
        } else {
            valid(&stdout(&output), name);
        }
    }
}

/// Files that a command writes for itself, to go on with later: nobody else reads them.
const OWN_FILES: [&str; 4] =
    ["ftio.categorize.part/1", "ftio.signature-archive/1", "ftio.stage-journal/1", "ftio.stage-journal/2"];

/// All names of schemas in the sources, without tests.
fn names() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<PathBuf> =
        ["ftio-core/src", "ftio-cli/src", "crates"].map(|name| root.join(name)).into();
    let mut found = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("tests") && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(path).unwrap();
                let quoted = text.split('"').filter(|text| text.starts_with("ftio.") && text.contains('/'));
                found.extend(
                    quoted.filter(|text| text.ends_with(|c: char| c.is_ascii_digit())).map(str::to_owned),
                );
            }
        }
    }
    found
}

#[test]
fn every_name_has_a_schema_and_is_documented() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/json.md");
    let page = std::fs::read_to_string(page).unwrap();
    let names = names();
    assert!(names.contains("ftio.detection/1") && names.len() > 15, "{names:?}");
    for name in names.iter().filter(|name| !OWN_FILES.contains(&name.as_str())) {
        assert_eq!(SCHEMAS[name]["title"], **name);
        assert!(page.contains(&format!("| `{name}` |")), "docs/json.md lacks {name}");
    }
}

#[test]
fn a_name_that_is_not_known_is_told_what_there_is() {
    let output = ftio(Path::new("."), &["schema", "ftio.detection/2"]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(2), String::new()));
    let said = stderr(&output);
    assert!(said.contains("ftio.detection/2") && SCHEMAS.keys().all(|name| said.contains(name)), "{said}");
}

/// A schema that no test compares with what is printed may say anything.
#[test]
fn every_schema_is_compared_with_output_by_a_test() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e")];
    let mut tests = String::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                tests += &std::fs::read_to_string(path).unwrap();
            }
        }
    }
    for name in SCHEMAS.keys() {
        let compared =
            tests.contains(&format!(", \"{name}\")")) || tests.contains(&format!("(\"{name}\", &["));
        assert!(compared || tests.contains(&format!("\"{name}\",\n            &[")), "{name}");
    }
}

/// The objects of a schema: it and those inside of it that are written out or have a name.
fn objects<'a>(name: &str, schema: &'a Value) -> Vec<(String, &'a Value)> {
    let inside: Vec<(String, &Value)> = match schema {
        Value::Object(parts) => parts.iter().map(|(part, value)| (format!("{name}/{part}"), value)).collect(),
        Value::Array(parts) => parts.iter().map(|value| (name.to_owned(), value)).collect(),
        _ => Vec::new(),
    };
    let own = schema["properties"].is_object().then(|| (name.to_owned(), schema));
    own.into_iter().chain(inside.iter().flat_map(|(name, part)| objects(name, part))).collect()
}

/// What a field may be, shortly.
fn kind(field: &Value) -> String {
    let each = |list: &Value| list.as_array().unwrap().iter().map(kind).collect::<Vec<_>>().join("|");
    match (field, &field["type"]) {
        (Value::String(name), _) => name.clone(),
        (_, Value::String(name)) if name == "array" => {
            let of = if field["items"].is_object() { &field["items"] } else { &field["prefixItems"] };
            format!("[{}]", if of.is_array() { each(of) } else { kind(of) })
        }
        (_, Value::String(name)) if name == "object" => {
            format!("{{{}}}", kind(&field["additionalProperties"]))
        }
        (_, Value::String(_)) if field["enum"].is_array() => each(&field["enum"]),
        (_, Value::String(name)) => name.clone(),
        (_, kinds @ Value::Array(_)) => each(kinds),
        _ if field["$ref"].is_string() => field["$ref"].as_str().unwrap().replace("#/$defs/", ""),
        _ if field["const"].is_string() => kind(&field["const"]),
        _ => ["anyOf", "oneOf"]
            .iter()
            .find(|of| field[**of].is_array())
            .map_or("any".into(), |of| each(&field[*of])),
    }
}

/// Fields may be added; none is removed, renamed or gets another type (docs/stability.md). The schemas are
/// made of the structures, so that only this file notices it.
#[test]
fn fields_are_as_recorded() {
    let mut seen = BTreeSet::new();
    let mut text = String::new();
    for (name, schema) in SCHEMAS.iter() {
        for (place, object) in objects("", schema) {
            assert_eq!(object["additionalProperties"], false, "{name}{place}");
            let required = object["required"].as_array().unwrap();
            let fields: Vec<String> = object["properties"]
                .as_object()
                .unwrap()
                .iter()
                .filter(|(field, _)| *field != "schema")
                .map(|(field, of)| {
                    let optional = if required.iter().any(|one| one == field) { "" } else { "?" };
                    format!("{field}{optional}:{}", kind(of))
                })
                .collect();
            let line = format!("{} {}\n", place.replace("/$defs/", ""), fields.join(" "));
            // Several schemas have the same part.
            if place.is_empty() {
                text += &format!("{name}{line}");
            } else if seen.insert(line.clone()) {
                text += &format!("  {line}");
            }
        }
    }
    assert_snapshot("schemas.txt", &text);
}

#[test]
fn a_wrong_object_is_refused() {
    let good = serde_json::json!({"schema": "ftio.advice/1", "source": "a", "complete": true, "findings": [],
        "gaps": [], "thresholds": {}});
    let check = |value: &Value| jsonschema::is_valid(&SCHEMAS["ftio.advice/1"], value);
    assert!(check(&good));
    for (field, wrong) in [("source", Value::from(1)), ("findings", Value::from("x")), ("more", Value::Null)]
    {
        let mut bad = good.clone();
        bad[field] = wrong;
        assert!(!check(&bad), "{field}");
    }
}
