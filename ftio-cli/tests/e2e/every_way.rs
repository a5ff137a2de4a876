//! Every command takes every format in every way (from a path, from standard input, compressed, from a
//! folder), and gives the same answer, but for the name of the input.

use crate::support::{Script, gzip, nonblocking};
use darshan_log::write::LogWriter;
use darshan_log::{
    DxtRecord, Format, HeatmapRecord, Job, Layer, ModuleId, PosixCounter, PosixRecord, PosixTime, Segment,
    Timestamp,
};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use tmio_trace::AsyncTimes;

const SECOND: i64 = crate::support::SECOND;

/// Formats by the names of their files. What is told besides the file: `log.txt` needs its pattern.
fn inputs(folder: &Path) -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/inputs/sources/tests/fixtures");
    let mut inputs: Vec<PathBuf> = std::fs::read_dir(fixtures)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.is_file() && !["py", "toml", "md"].map(|e| Some(e.as_ref())).contains(&path.extension())
        })
        .collect();
    let made = |name: &str| folder.join(name);
    let mut trace = Script::bursts(2, 12);
    let times = AsyncTimes { issued: 7 * SECOND, deadline: 8 * SECOND, ..AsyncTimes::default() };
    trace.blocks.push((0, vec![nonblocking(7 * SECOND, 9 * SECOND, 1 << 16, times)]));
    trace.write(&made("ours.msgpack"));
    std::fs::write(made("dxt.darshan"), log(true)).unwrap();
    std::fs::write(made("heatmap.darshan"), log(false)).unwrap();
    inputs.extend(["ours.msgpack", "dxt.darshan", "heatmap.darshan"].map(made));
    inputs.sort();
    assert!(inputs.len() >= 20, "{inputs:?}");
    inputs
}

/// A log whose only rank writes 1 MiB for 2 s, every 10 s, twelve times.
fn log(with_dxt: bool) -> Vec<u8> {
    let at = |seconds| Timestamp { seconds, nanoseconds: 0 };
    let job = Job {
        uid: 1,
        job_id: 2,
        nprocs: 1,
        start: at(1_700_000_000),
        end: at(1_700_000_120),
        metadata: vec![("lib_ver".into(), "3.4.6".into())],
        command: "./app".into(),
        mounts: Vec::new(),
        subsecond: true,
    };
    let mut writer = LogWriter::new(Format::V3_41, job).name(7, "/scratch/out");
    let mut posix = PosixRecord::new(7, 0);
    posix[PosixCounter::Writes] = 12;
    posix[PosixCounter::BytesWritten] = 12 << 20;
    posix[PosixTime::WriteStartTimestamp] = 4.0;
    posix[PosixTime::WriteEndTimestamp] = 116.0;
    posix[PosixTime::WriteTime] = 24.0;
    writer = writer.records(4, &[posix]);
    if with_dxt {
        let segment = |i: i32| Segment {
            offset: i64::from(i) << 20,
            length: 1 << 20,
            start: 10.0 * f64::from(i) + 4.0,
            end: 10.0 * f64::from(i) + 6.0,
            thread: None,
        };
        let record = DxtRecord {
            id: 7,
            rank: 0,
            hostname: "node".into(),
            shared: false,
            writes: (0..12).map(segment).collect(),
            reads: Vec::new(),
        };
        writer = writer.dxt(ModuleId::DXT_POSIX, 1, &[record]);
    } else {
        let record = HeatmapRecord {
            id: HeatmapRecord::id_of(Layer::Posix),
            rank: 0,
            bin_width: 1.0,
            write_bins: (0..120).map(|i| if (4..6).contains(&(i % 10)) { 1 << 19 } else { 0 }).collect(),
            read_bins: vec![0; 120],
        };
        writer = writer.heatmaps(&[record]);
    }
    writer.to_bytes().unwrap()
}

/// Ways in which an input may be given.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Path,
    Stdin,
    Gzip,
    Folder,
}

/// Run a command on an input, in a folder of its own. `{}` stands for the input among the arguments. Results
/// name the input: that name becomes INPUT.
fn answer(arguments: &[&str], input: &Path, way: Way) -> (Option<i32>, String, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let name = input.file_name().unwrap().to_str().unwrap();
    let whole = std::fs::read(input).unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    let (argument, shown) = match way {
        Way::Path => {
            write(name, &whole);
            (name.to_owned(), name.to_owned())
        }
        Way::Stdin => ("-".to_owned(), "standard input".to_owned()),
        Way::Gzip => {
            write(name, &whole);
            gzip(folder.path(), name);
            std::fs::remove_file(folder.path().join(name)).unwrap();
            (format!("{name}.gz"), format!("{name}.gz"))
        }
        Way::Folder => {
            std::fs::create_dir(folder.path().join("folder")).unwrap();
            write(&format!("folder/{name}"), &whole);
            ("folder".to_owned(), format!("folder/{name}"))
        }
    };
    let mut all: Vec<&str> =
        arguments.iter().map(|word| if *word == "{}" { argument.as_str() } else { *word }).collect();
    let pattern = input.with_extension("toml").display().to_string();
    if name == "log.txt" && arguments[0] != "categorize" {
        all.extend(["--pattern", &pattern]);
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_ftio"));
    command.args(all).current_dir(folder.path()).env("NO_COLOR", "1");
    match way {
        Way::Stdin => command.stdin(File::open(input).unwrap()),
        _ => command.stdin(Stdio::null()),
    };
    let output = if arguments[0] == "schedule" {
        running_job(folder.path());
        until_first_line(&mut command)
    } else {
        command.output().unwrap()
    };
    // A series without a name of its own is called after its file.
    let stem = input.file_stem().unwrap().to_str().unwrap();
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).replace(&shown, "INPUT");
        let text = text.replace(&format!("\\\"{stem}\\\""), "\\\"INPUT\\\"");
        let text = text.replace(&format!("time,{stem}\n"), "time,INPUT\n");
        if way == Way::Stdin { text.replace("\"-\"", "\"INPUT\"") } else { text }
    };
    let drawn = std::fs::read(folder.path().join("picture.svg")).unwrap_or_default();
    (output.status.code(), text(&output.stdout), text(&output.stderr), text(&drawn))
}

/// A job that has begun, on another node, and a folder for its priority.
fn running_job(folder: &Path) {
    std::fs::create_dir(folder.join("config")).unwrap();
    let (bytes, ends) = Script::bursts(1, 1).frames();
    let parts = folder.join("running.msgpack.parts");
    std::fs::create_dir(&parts).unwrap();
    std::fs::write(parts.join("node"), &bytes[..ends[ends.len() - 2]]).unwrap();
}

/// The first line of a command that would go on for ever; its own status if it ends without one.
fn until_first_line(command: &mut Command) -> Output {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = Vec::new();
    BufReader::new(child.stdout.take().unwrap()).read_until(b'\n', &mut first).unwrap();
    if first.is_empty() {
        return child.wait_with_output().unwrap();
    }
    child.kill().unwrap();
    Output { stdout: first, status: ExitStatus::from_raw(0), ..child.wait_with_output().unwrap() }
}

/// The same answer in every way. `fails` says which inputs a command has no answer for.
fn same(arguments: &[&str], ways: &[Way], fails: impl Fn(&str) -> bool) {
    let folder = tempfile::tempdir().unwrap();
    for input in inputs(folder.path()) {
        let name = input.file_name().unwrap().to_str().unwrap();
        let expected = answer(arguments, &input, Way::Path);
        let code = if fails(name) { Some(1) } else { Some(0) };
        assert_eq!(expected.0, code, "{arguments:?} {name}: {expected:?}");
        assert!(fails(name) || !expected.1.is_empty(), "{arguments:?} {name}: no answer");
        for way in ways {
            let found = answer(arguments, &input, *way);
            assert_eq!(found, expected, "{arguments:?} {name} {way:?}");
        }
    }
}

/// What counters came to has no times.
fn is_profile(name: &str) -> bool {
    name.ends_with(".profile")
}

const OTHERS: [Way; 3] = [Way::Stdin, Way::Gzip, Way::Folder];

/// A quantity other than bytes has no requests.
fn is_sampled(name: &str) -> bool {
    ["samples", "proxy", "prometheus", "counter", "pairs", "exposition", "esnet", "lmt"]
        .iter()
        .any(|sampled| name.starts_with(sampled))
}

#[test]
fn detect() {
    same(&["--json", "{}"], &OTHERS, is_profile);
}

#[test]
fn info() {
    same(&["info", "--json", "{}"], &OTHERS, |_| false);
}

#[test]
fn scale() {
    same(&["scale", "--param", "Processes=4", "--ragged", "{}"], &OTHERS, |_| false);
}

#[test]
fn convert() {
    same(&["convert", "--to", "csv", "-o", "-", "{}"], &OTHERS, is_profile);
}

#[test]
fn predict() {
    // A folder is not one input.
    same(
        &["predict", "--json", "--until-complete", "--timeout", "1", "{}"],
        &[Way::Stdin, Way::Gzip],
        is_profile,
    );
}

#[test]
fn categorize() {
    let fails = |name: &str| is_sampled(name) || is_profile(name) || name == "log.txt";
    same(&["categorize", "--json", "{}"], &[Way::Stdin, Way::Gzip], fails);
}

/// A running job has the period of earlier runs, in whatever way these are given, until it has one of its
/// own.
#[test]
fn schedule() {
    same(
        &["schedule", "--configfs", "config", "--json", "running.msgpack", "--history", "{}"],
        &OTHERS,
        is_profile,
    );
}

#[test]
fn advise() {
    same(&["advise", "--json", "{}"], &OTHERS, |_| false);
}

#[test]
fn plot() {
    same(&["plot", "-o", "picture.svg", "{}"], &OTHERS, is_profile);
}
