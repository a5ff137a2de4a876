//! What `--json` prints is what the files in `docs/schemas` say.

use crate::support::{Script, ftio, stderr, stdout};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schemas")
}

fn schema(name: &str) -> Value {
    let path = folder().join(format!("{}.json", name.replace('/', "-")));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// The part of JSON Schema that the files use. What it does not know is a failure of the test.
struct Validator<'a> {
    root: &'a Value,
}

impl Validator<'_> {
    fn check(&self, schema: &Value, value: &Value, place: &str) -> Result<(), String> {
        let Some(rules) = schema.as_object() else { return Ok(()) };
        for (rule, wanted) in rules {
            let good = match rule.as_str() {
                "$schema" | "$defs" | "title" | "description" | "format" => true,
                "$ref" => {
                    let name = wanted.as_str().and_then(|path| path.strip_prefix("#/$defs/")).unwrap();
                    let inner = &self.root["$defs"][name];
                    assert!(inner.is_object(), "{name} is not defined");
                    self.check(inner, value, place)?;
                    true
                }
                "anyOf" => {
                    let tried: Vec<_> =
                        wanted.as_array().unwrap().iter().map(|one| self.check(one, value, place)).collect();
                    if tried.iter().all(Result::is_err) {
                        return tried.into_iter().next().unwrap();
                    }
                    true
                }
                "const" => value == wanted,
                "enum" => wanted.as_array().unwrap().contains(value),
                "type" => {
                    let names = wanted.as_array().cloned().unwrap_or_else(|| vec![wanted.clone()]);
                    names.iter().any(|name| is_a(value, name.as_str().unwrap()))
                }
                "properties" => {
                    for (name, inner) in wanted.as_object().unwrap() {
                        if let Some(field) = value.get(name) {
                            self.check(inner, field, &format!("{place}.{name}"))?;
                        }
                    }
                    true
                }
                "required" => {
                    let missing = wanted
                        .as_array()
                        .unwrap()
                        .iter()
                        .find(|name| value.get(name.as_str().unwrap()).is_none());
                    if let Some(name) = missing.filter(|_| value.is_object()) {
                        return Err(format!("{place}: {name} is missing"));
                    }
                    true
                }
                "additionalProperties" => {
                    let known = rules.get("properties").and_then(Value::as_object);
                    let others = value.as_object().into_iter().flatten();
                    for (name, field) in
                        others.filter(|(name, _)| !known.is_some_and(|known| known.contains_key(*name)))
                    {
                        if wanted == &Value::Bool(false) {
                            return Err(format!("{place}: {name} is not in the schema"));
                        }
                        self.check(wanted, field, &format!("{place}.{name}"))?;
                    }
                    true
                }
                "items" => {
                    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(wanted, item, &format!("{place}[{i}]"))?;
                    }
                    true
                }
                "prefixItems" => {
                    for (inner, item) in
                        wanted.as_array().unwrap().iter().zip(value.as_array().into_iter().flatten())
                    {
                        self.check(inner, item, place)?;
                    }
                    true
                }
                "minItems" => {
                    value.as_array().is_none_or(|items| items.len() as u64 >= wanted.as_u64().unwrap())
                }
                "maxItems" => {
                    value.as_array().is_none_or(|items| items.len() as u64 <= wanted.as_u64().unwrap())
                }
                other => panic!("the validator does not know {other}"),
            };
            if !good {
                return Err(format!("{place}: expected {rule} {wanted}, found {value}"));
            }
        }
        Ok(())
    }
}

fn is_a(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("no type {other}"),
    }
}

/// Every line is an object of the schema that it names.
pub(crate) fn valid(text: &str, name: &str) {
    let schema = schema(name);
    assert!(!text.trim().is_empty(), "{name}: nothing was printed");
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["schema"], name);
        if let Err(problem) = (Validator { root: &schema }).check(&schema, &value, "$") {
            panic!("{name}: {problem}\n{line}");
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
fn every_name_has_a_file_and_is_documented() {
    let page = std::fs::read_to_string(folder().join("../json.md")).unwrap();
    let names = names();
    assert!(names.contains("ftio.detection/1") && names.len() > 15, "{names:?}");
    for name in names.iter().filter(|name| !OWN_FILES.contains(&name.as_str())) {
        assert_eq!(schema(name)["title"], **name);
        assert!(page.contains(&format!("[`{name}`]")), "docs/json.md lacks {name}");
    }
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
    for file in std::fs::read_dir(folder()).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let name = serde_json::from_str::<Value>(&text).unwrap()["title"].as_str().unwrap().to_owned();
        let compared =
            tests.contains(&format!(", \"{name}\")")) || tests.contains(&format!("(\"{name}\", &["));
        assert!(compared || tests.contains(&format!("\"{name}\",\n            &[")), "{name}");
    }
}

#[test]
fn the_files_are_as_the_script_makes_them() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/schemas");
    let Ok(output) = std::process::Command::new("python3").arg(script).arg("--check").output() else {
        return crate::support::skipped("python3 is not installed");
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_wrong_object_is_refused() {
    let schema = schema("ftio.advice/1");
    let good = serde_json::json!({"schema": "ftio.advice/1", "source": "a", "complete": true, "findings": [],
        "gaps": [], "thresholds": {}});
    let check = |value: &Value| (Validator { root: &schema }).check(&schema, value, "$");
    assert_eq!(check(&good), Ok(()));
    for (field, wrong) in [("source", Value::from(1)), ("findings", Value::from("x")), ("more", Value::Null)]
    {
        let mut bad = good.clone();
        bad[field] = wrong;
        assert!(check(&bad).is_err(), "{field}");
    }
}
