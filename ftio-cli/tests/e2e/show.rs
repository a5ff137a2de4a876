//! Pictures, conversions, recovery, and what the command says about itself.

use crate::support::{SECOND, Script, ftio, nonblocking, stderr, stdout};
use serde_json::Value;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{AsyncTimes, ClockSample, RankInfo, Trace};

fn code(dir: &Path, args: &[&str]) -> Option<i32> {
    ftio(dir, args).status.code()
}

#[test]
fn pictures_of_several_traces() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(2, 10).write(&dir.path().join("a"));
    Script::bursts(3, 8).write(&dir.path().join("b"));
    for name in ["p.svg", "p.html", "p.png"] {
        let output = ftio(dir.path(), &["plot", "-o", name, "a", "b"]);
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()), "{name}");
        let bytes = std::fs::read(dir.path().join(name)).unwrap();
        match name {
            "p.png" => {
                assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
                // Two beside each other, at twice the size.
                assert_eq!(u32::from_be_bytes(bytes[16..20].try_into().unwrap()), 2560);
            }
            _ => assert!(!String::from_utf8(bytes).unwrap().contains("NaN")),
        }
    }
    assert_eq!(code(dir.path(), &["plot", "a", "missing"]), Some(1));
    assert!(dir.path().join("ftio.html").is_file(), "what can be read is drawn");
    assert_eq!(code(dir.path(), &["plot", "-o", "x.gif", "a"]), Some(2));
    assert_eq!(code(dir.path(), &["plot", "-m", "read", "a"]), Some(1));
}

#[test]
fn the_page_needs_no_network_and_little_code() {
    let code = [
        include_str!("../../src/plot/page.html"),
        include_str!("../../src/plot/page.css"),
        include_str!("../../src/plot/chart.js"),
        include_str!("../../src/plot/page.js"),
    ];
    assert!(code.iter().map(|part| part.len()).sum::<usize>() < 100 << 10);
    for forbidden in ["http:", "https:", "src=", "import ", "@import", "url(", "fetch("] {
        assert!(!code.iter().any(|part| part.contains(forbidden)), "{forbidden}");
    }
}

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
    assert_eq!(code(dir.path(), &["convert", "t", "-o", "t.csv"]), Some(0));
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
    assert_eq!(code(dir.path(), &["convert", "t", "-o", "t.json", "--to", "chrome"]), Some(0));
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
        assert_eq!(code(dir.path(), &["convert", "t", "-o", "out", "--to", format]), Some(0), "{format}");
        let output = ftio(dir.path(), &["--json", "out"]);
        let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let period = found["period"].as_f64().unwrap();
        assert!((period - 10.0).abs() < 0.2, "{format}: {found}");
    }
    assert_eq!(code(dir.path(), &["convert", "t", "-o", "x.json"]), Some(2), "which JSON?");
    assert_eq!(code(dir.path(), &["convert", "missing", "-o", "x.csv"]), Some(1));
    assert!(!dir.path().join("x.csv").exists());
}

/// The parts of a job that was killed: as the finished trace, but no rank reached its end.
fn parts(dir: &Path, script: &Script) {
    let (bytes, ends) = script.frames();
    let parts = dir.join("out.msgpack.parts");
    std::fs::create_dir(&parts).unwrap();
    let ranks = script.ranks as usize;
    let mut part = bytes[..ends[0]].to_vec();
    for rank in 0..script.ranks {
        let clock = vec![ClockSample { local: 7 * SECOND, job: 0, real: 0, error: 250 }];
        let info =
            RankInfo { rank, host: "node".into(), boot_id: "other".into(), clock, ..RankInfo::default() };
        part.extend(frame::encode(FrameKind::Rank, &info).unwrap());
    }
    // The blocks, without the end.
    part.extend(&bytes[ends[ranks]..ends[ends.len() - 2]]);
    std::fs::write(parts.join("node"), part).unwrap();
}

#[test]
fn a_killed_job_is_recovered() {
    let dir = tempfile::tempdir().unwrap();
    parts(dir.path(), &Script::bursts(2, 10));
    let before = ftio(dir.path(), &["--json", "out.msgpack"]);
    let output = ftio(dir.path(), &["recover", "out.msgpack.parts"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let path = dir.path().join("out.msgpack");
    let outcome = Trace::open(&path).unwrap().read(|_| {}).unwrap();
    assert_eq!((outcome.complete, outcome.operations, outcome.warnings.len()), (false, 20, 1));
    assert!(outcome.warnings[0].contains("MPI_Finalize"), "{:?}", outcome.warnings);
    let after = ftio(dir.path(), &["--json", "out.msgpack"]);
    let find = |output, key: &str| serde_json::from_str::<Value>(&stdout(output)).unwrap()[key].clone();
    for key in ["period", "total_bytes", "complete", "t_end", "ranks"] {
        assert_eq!(find(&before, key), find(&after, key), "{key}");
    }
    assert_eq!(code(dir.path(), &["recover", "out.msgpack"]), Some(1), "it is there already");
    assert!(dir.path().join("out.msgpack.parts").is_dir());
}

#[test]
fn parts_go_only_when_asked_and_safe() {
    let dir = tempfile::tempdir().unwrap();
    parts(dir.path(), &Script::bursts(1, 3));
    let parts = dir.path().join("out.msgpack.parts");
    let output = ftio(dir.path(), &["recover", "--clean", "out.msgpack"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("other hosts") && parts.is_dir(), "{}", stderr(&output));
    assert_eq!(code(dir.path(), &["recover", "--clean", "--force", "-o", "b", "out.msgpack.parts"]), Some(0));
    assert!(!parts.exists() && dir.path().join("b").is_file());
}

#[test]
fn a_damaged_trace_does_not_become_complete() {
    let dir = tempfile::tempdir().unwrap();
    let (mut bytes, ends) = Script::bursts(2, 5).frames();
    bytes[ends[3] - 5] ^= 1;
    std::fs::write(dir.path().join("t"), bytes).unwrap();
    assert_eq!(code(dir.path(), &["recover", "t", "-o", "u"]), Some(0));
    let outcome = Trace::open(&dir.path().join("u")).unwrap().read(|_| {}).unwrap();
    assert_eq!((outcome.complete, outcome.operations), (false, 5));
}

#[test]
fn what_shells_and_man_want() {
    let dir = tempfile::tempdir().unwrap();
    let bash = stdout(&ftio(dir.path(), &["completions", "bash"]));
    assert!(bash.contains("complete -F _ftio") && bash.contains("recover"));
    let man = stdout(&ftio(dir.path(), &["man"]));
    assert!(man.contains(".TH ftio") && man.contains("Exit status"), "{man}");
    let man = stdout(&ftio(dir.path(), &["man", "recover"]));
    assert!(man.contains(".TH ftio-recover") && man.contains("\\-\\-clean"), "{man}");
    assert_eq!(code(dir.path(), &["man", "nothing"]), Some(1));
}

#[test]
fn other_names_are_subcommands() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(1, 10).write(&dir.path().join("t"));
    let called = |name: &str, args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ftio"));
        command.arg0(format!("/usr/bin/{name}")).args(args).current_dir(dir.path()).output().unwrap()
    };
    let output = called("ioplot", &["-o", "t.svg", "t"]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), "t.svg\n".into()));
    for (name, subcommand, args) in
        [("predictor", "predict", &["--until-complete", "t"][..]), ("ioparse", "scale", &["t"])]
    {
        let output = called(name, args);
        let there = stdout(&ftio(dir.path(), &["--help"])).contains(&format!("  {subcommand} "));
        if !there {
            assert_eq!(output.status.code(), Some(2), "{name}");
            assert!(stderr(&output).contains(subcommand) && stderr(&output).lines().count() == 1);
        }
    }
}

#[test]
fn colours_and_quiet() {
    let dir = tempfile::tempdir().unwrap();
    Script::bursts(1, 10).write(&dir.path().join("t"));
    let text = |args: &[&str]| stdout(&ftio(dir.path(), args));
    assert!(text(&["--color", "always", "t"]).contains("\x1b["));
    assert!(text(&["info", "--color=always", "t"]).contains("\x1b["));
    assert!(!text(&["--color", "never", "t"]).contains("\x1b["));
    let quiet = text(&["-q", "t", "t"]);
    assert!(quiet.lines().count() == 2 && quiet.starts_with("t: 10.00 s ("), "{quiet}");
    assert_eq!(code(dir.path(), &["-q", "-v", "t"]), Some(2));
}
