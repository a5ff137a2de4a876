//! `ftio convert`: our trace in other formats.

use crate::support::{SECOND, Script, exit_code, ftio, nonblocking, stderr, stdout};
use serde_json::Value;
use std::path::Path;
use tmio_trace::AsyncTimes;

fn mixed() -> Script {
    let mut script = Script::bursts(2, 2);
    let times = AsyncTimes { issued: SECOND, deadline: 3 * SECOND, pending_until: SECOND, test_time: 0 };
    script
        .blocks
        .push((1, vec![nonblocking(0, 4 * SECOND, 8, times), nonblocking(SECOND, 5 * SECOND, 8, times)]));
    script
}

#[test]
fn csv_has_a_line_per_operation() {
    let dir = tempfile::tempdir().unwrap();
    mixed().write(&dir.path().join("t"));
    assert_eq!(exit_code(dir.path(), &["convert", "t", "-o", "t.csv"]), Some(0));
    let text = std::fs::read_to_string(dir.path().join("t.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.len(), lines[0]), (7, "rank,start,end,bytes,kind,file,offset"));
    assert_eq!(lines[1], "0,4.000000000,6.000000000,1048576,write_at,/scratch/out.dat,0");
    assert_eq!(lines[5], "1,0.000000000,4.000000000,8,iwrite_at,/scratch/out.dat,0");
    let printed = ftio(dir.path(), &["convert", "t", "-o", "-", "--to", "csv"]);
    assert_eq!(stdout(&printed), text);
}

#[test]
fn chrome_events_do_not_overlap_in_a_row() {
    let dir = tempfile::tempdir().unwrap();
    mixed().write(&dir.path().join("t"));
    assert_eq!(exit_code(dir.path(), &["convert", "t", "-o", "t.json", "--to", "chrome"]), Some(0));
    let text = std::fs::read_to_string(dir.path().join("t.json")).unwrap();
    let found: Value = serde_json::from_str(&text).unwrap();
    let events = found["traceEvents"].as_array().unwrap();
    let complete: Vec<&Value> = events.iter().filter(|event| event["ph"] == "X").collect();
    assert_eq!(complete.len(), 6);
    assert_eq!((&complete[0]["ts"], &complete[0]["dur"]), (&Value::from(4e6), &Value::from(2e6)));
    assert_eq!(complete[0]["args"]["file"], "/scratch/out.dat");
    assert_ne!(complete[4]["tid"], complete[5]["tid"], "two that overlap are in two rows");
    let named = events.iter().filter(|event| event["name"] == "process_name").count();
    assert_eq!(named, 2);
}

#[test]
fn formats_of_the_cpp_tmio_are_read_back() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(2, 10).write(&dir.path().join("t"));
    for format in ["tmio-json", "tmio-jsonl", "tmio-msgpack", "msgpack", "csv", "chrome"] {
        assert_eq!(
            exit_code(dir.path(), &["convert", "t", "-o", "out", "--to", format]),
            Some(0),
            "{format}"
        );
        let output = ftio(dir.path(), &["--json", "out"]);
        let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let period = found["period"].as_f64().unwrap();
        assert!((period - 10.0).abs() < 0.2, "{format}: {found}");
    }
    assert_eq!(exit_code(dir.path(), &["convert", "t", "-o", "x.json"]), Some(2), "which JSON?");
    assert_eq!(exit_code(dir.path(), &["convert", "missing", "-o", "x.csv"]), Some(1));
    assert!(!dir.path().join("x.csv").exists());
}

/// Every format that can be written, with the ending of its files.
const FORMATS: [&str; 7] = ["csv", "parquet", "chrome", "tmio-json", "tmio-jsonl", "tmio-msgpack", "msgpack"];

/// Inputs of every kind: what the tests of the readers have.
fn inputs() -> Vec<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/inputs/sources/tests/fixtures");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    // A program that makes the others, a pattern, and what a pattern is needed for.
    let others = ["make.py", "log.toml", "log.txt"];
    let mut found: Vec<_> =
        entries.filter(|path| !others.contains(&path.file_name().unwrap().to_str().unwrap())).collect();
    found.sort();
    assert!(found.len() > 20, "{found:?}");
    found
}

#[test]
fn every_input_to_every_output() {
    let dir = tempfile::tempdir().unwrap();
    for input in inputs() {
        let name = input.to_str().unwrap();
        let about = ftio(dir.path(), &["info", "--json", name]);
        let moves_data = stdout(&about).lines().any(|line| {
            let about: Value = serde_json::from_str(line).unwrap();
            ["write_sync", "read_sync", "write_async", "read_async"]
                .iter()
                .any(|class| about[class]["ops"] != 0)
        });
        let times = ftio(dir.path(), &["-q", name]);
        for format in FORMATS {
            let output = ftio(dir.path(), &["convert", name, "-o", "out", "--to", format]);
            let said = stderr(&output);
            let code = output.status.code();
            if moves_data && times.status.success() {
                assert_eq!(code, Some(0), "{name} to {format}: {said}");
                let bytes = std::fs::read(dir.path().join("out")).unwrap();
                assert!(!bytes.is_empty(), "{name} to {format}");
                std::fs::remove_file(dir.path().join("out")).unwrap();
            } else if code == Some(0) {
                // Samples make a table.
                assert!(["csv", "parquet"].contains(&format), "{name} to {format}");
            } else {
                let why = ["csv or parquet only", "expected samples over time", "does not tell when"];
                assert!(why.iter().any(|why| said.contains(why)), "{name} to {format}: {said}");
                assert_eq!(code, Some(1));
            }
        }
    }
}

#[test]
fn samples_make_a_table_that_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut table = String::from("time;load;net\n");
    for t in 0..200 {
        let load = if t % 10 < 3 { "0,75" } else { "0,25" };
        table += &format!("{t};{load};{}\n", if t % 7 == 0 { 9 } else { 1 });
    }
    std::fs::write(dir.path().join("in.csv"), table).unwrap();
    assert_eq!(exit_code(dir.path(), &["convert", "in.csv", "-o", "out.csv"]), Some(0));
    let written = std::fs::read_to_string(dir.path().join("out.csv")).unwrap();
    assert!(written.starts_with("time,load,net\n0,0.75,9\n1,0.75,1\n"), "{written}");
    let before = stdout(&ftio(dir.path(), &["-q", "in.csv"]));
    let after = stdout(&ftio(dir.path(), &["-q", "out.csv"]));
    assert_eq!(before.replace("in.csv", "out.csv"), after);
    let refused = ftio(dir.path(), &["convert", "in.csv", "-o", "out.json", "--to", "chrome"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("csv or parquet only"), "{}", stderr(&refused));
    assert!(!dir.path().join("out.json").exists());
}

#[cfg(feature = "parquet")]
mod as_parquet {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    fn rows(path: &Path) -> (Vec<String>, Vec<Vec<Field>>) {
        let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
        let schema = reader.metadata().file_metadata().schema_descr().columns().to_vec();
        let names = schema.iter().map(|column| column.name().to_owned()).collect();
        let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap);
        (names, rows.map(|row| row.get_column_iter().map(|(_, field)| field.clone()).collect()).collect())
    }

    #[test]
    fn operations_are_rows() {
        let dir = tempfile::tempdir().unwrap();
        mixed().write(&dir.path().join("t"));
        assert_eq!(exit_code(dir.path(), &["convert", "t", "-o", "t.parquet"]), Some(0));
        let (names, rows) = rows(&dir.path().join("t.parquet"));
        let wanted = "rank thread start end bytes kind class file offset issued deadline";
        assert_eq!(names.join(" "), wanted);
        assert_eq!(rows.len(), 6);
        let text = |text: &str| Field::Str(text.into());
        assert_eq!(
            rows[0],
            [
                Field::UInt(0),
                Field::UInt(0),
                Field::Double(4.0),
                Field::Double(6.0),
                Field::ULong(1 << 20),
                text("write_at"),
                text("write_sync"),
                text("/scratch/out.dat"),
                Field::Long(0),
                Field::Null,
                Field::Null,
            ]
        );
        assert_eq!(rows[4][5..7], [text("iwrite_at"), text("write_async")]);
        assert_eq!(rows[4][9..], [Field::Double(1.0), Field::Double(3.0)]);
    }

    #[test]
    fn samples_are_rows() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("in.csv"), "time,load\n0,1\n1,0.5\n2,1\n3,0\n").unwrap();
        assert_eq!(exit_code(dir.path(), &["convert", "in.csv", "-o", "out.parquet"]), Some(0));
        let (names, rows) = rows(&dir.path().join("out.parquet"));
        assert_eq!(names.join(" "), "time load");
        assert_eq!(rows[1], [Field::Double(1.0), Field::Double(0.5)]);
        assert_eq!(rows.len(), 4);
    }

    /// What users open it with.
    #[test]
    fn pandas_and_polars_read_it() {
        let dir = tempfile::tempdir().unwrap();
        mixed().write(&dir.path().join("t"));
        assert_eq!(exit_code(dir.path(), &["convert", "t", "-o", "t.parquet"]), Some(0));
        for library in ["pandas", "polars"] {
            let program = format!(
                "import {library} as library\nframe = library.read_parquet('t.parquet')\n\
                 print(frame.shape, int(frame['bytes'].sum()), frame['kind'].to_list()[-1])"
            );
            let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
            let run =
                std::process::Command::new(python).args(["-c", &program]).current_dir(dir.path()).output();
            match run {
                Ok(run) if run.status.success() => {
                    assert_eq!(stdout(&run).trim(), format!("(6, 11) {} iwrite_at", (4 << 20) + 16));
                }
                Ok(run) if !stderr(&run).contains("No module named") => panic!("{}", stderr(&run)),
                _ => crate::support::skipped(&format!("{library} is not installed")),
            }
        }
    }
}
